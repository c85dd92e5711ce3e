"""Loading rule files: the packaged ones, and folders of the user's."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import RuleError, UsageError
from .rulesets import RuleSet
from .source import Node, parse, undump

MODEL = "packaged.json"


def _folder() -> Path:
    from importlib.resources import files

    try:
        folder = Path(str(files("wireglot.rules")))
    except ModuleNotFoundError:
        folder = Path("rules")
    if not (folder / "ladder.yaml").is_file() and not (folder / MODEL).is_file():
        raise RuleError(
            f"the packaged rule files are not in {folder}",
            help="install wireglot again: `pip install --force-reinstall wireglot`",
        )
    return folder


@functools.cache
def packaged_nodes() -> dict[str, Node]:
    """Return the packaged rule files by stem, from the prepared model when it is there."""
    folder = _folder()
    model = folder / MODEL
    if model.is_file():
        import json

        data: dict[str, Any] = json.loads(model.read_text("utf-8"))
        return {name: undump(node) for name, node in data.items()}
    return parsed(folder, "rules")


def parsed(folder: Path, shown: str) -> dict[str, Node]:
    """Parse every rule file of a folder; `shown` is the folder's name in messages."""
    found = {}
    for file in sorted(folder.glob("*.yaml")):
        text = file.read_text("utf-8", errors="strict")
        found[file.stem] = parse(text, f"{shown}/{file.name}")
    return found


@functools.cache
def packaged() -> RuleSet:
    """Return the packaged rule set, loaded once."""
    return load_rules()


def load_rules(*folders: str | Path, builtin: bool = True, overlays: Sequence[str] = ()) -> RuleSet:
    """Load rule files: the packaged ones (unless `builtin` is false), then those of the folders.

    A file of a packaged dialect's name replaces it. Raises RuleError with file, line and column.
    """
    nodes = dict(packaged_nodes()) if builtin else {"ladder": packaged_nodes()["ladder"]}
    for folder in folders:
        path = Path(folder)
        if not path.is_dir():
            raise UsageError(f"there is no folder {path} of rule files")
        nodes.update(parsed(path, str(path)))
    if overlays:
        raise UsageError(f"there is no overlay `{overlays[0]}`")
    steps = nodes.pop("ladder")
    dialects: dict[str, Node] = {}
    for node in nodes.values():
        named = node.get("dialect")
        if named is None or not isinstance(named.value, str):
            raise RuleError("a rule file names its `dialect`", *node.pos)
        dialects[named.value] = node
    rules = RuleSet(dialects, steps)
    for folder in folders:
        for name, node in dialects.items():
            if node.pos.file.startswith(str(folder)):
                rules[name]
    return rules
