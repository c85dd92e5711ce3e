"""Loading rule files: the packaged ones, and folders of the user's."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .errors import RuleError, UsageError
from .rulesets import RuleSet
from .source import Node, parse, undump

if TYPE_CHECKING:
    from pathlib import Path

MODEL, PLANS = "packaged.json", "compiled.bin"
LADDER = "ladder"


def _folder() -> str:
    import importlib

    try:
        folder = str(importlib.import_module("wireglot.rules").__path__[0])
    except ModuleNotFoundError:
        folder = "rules"
    if not any(os.path.isfile(f"{folder}/{name}") for name in (f"{LADDER}.yaml", MODEL)):
        raise RuleError(
            f"the packaged rule files are not in {folder}",
            help="install wireglot again: `pip install --force-reinstall wireglot`",
        )
    return folder


@functools.cache
def packaged_nodes() -> dict[str, Node]:
    """Return the packaged rule files by dialect, from the prepared model when it is there."""
    model = f"{_folder()}/{MODEL}"
    if os.path.isfile(model):
        import json

        with open(model, encoding="utf-8") as file:
            data: dict[str, Any] = json.load(file)
        return {name: undump(node) for name, node in data.items()}
    return by_name(parsed(_folder(), "rules"))


def parsed(folder: str | Path, shown: str) -> dict[str, Node]:
    """Parse every rule file of a folder; `shown` is the folder's name in messages."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".yaml"):
            continue
        try:
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                text = file.read()
        except UnicodeDecodeError:
            raise RuleError("the file is no UTF-8 text", f"{shown}/{name}", 1, 1) from None
        found[name[: -len(".yaml")]] = parse(text, f"{shown}/{name}")
    return found


def by_name(files: Mapping[str, Node]) -> dict[str, Node]:
    """Return rule files by the dialect that each names; the ladder keeps its name."""
    found: dict[str, Node] = {}
    for stem, node in files.items():
        if stem == LADDER:
            found[LADDER] = node
            continue
        named = node.get("dialect")
        if named is None or not isinstance(named.value, str):
            raise RuleError("a rule file names its `dialect`", *node.pos)
        found[named.value] = node
    return found


@functools.cache
def packaged() -> RuleSet:
    """Return the packaged rule set, loaded once; what the wheel prepared is used as it is."""
    prepared = f"{_folder()}/{PLANS}"
    if os.path.isfile(prepared):
        import pickle

        # Made by `wireglot.prepare` and shipped with the code beside it.
        with open(prepared, "rb") as file:
            names, plans = pickle.load(file)
        return RuleSet(names, packaged_nodes, plans)
    return load_rules()


def load_rules(*folders: str | Path, builtin: bool = True, overlays: Sequence[str] = ()) -> RuleSet:
    """Load rule files: the packaged ones (unless `builtin` is false), then those of the folders.

    A file of a packaged dialect's name replaces it. Raises RuleError with file, line and column.
    """
    nodes = dict(packaged_nodes()) if builtin else {LADDER: packaged_nodes()[LADDER]}
    if overlays:
        raise UsageError(f"there is no overlay `{overlays[0]}`")
    own: dict[str, Node] = {}
    for folder in folders:
        if not os.path.isdir(folder):
            raise UsageError(f"there is no folder {folder} of rule files")
        shown = os.path.normpath(folder)
        own.update(by_name(parsed(shown, shown)))
    nodes.update(own)
    rules = RuleSet([name for name in nodes if name != LADDER], lambda: nodes)
    for name in own:
        if name != LADDER:
            rules[name]
    return rules
