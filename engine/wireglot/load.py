"""Loading rule files: the packaged ones, and folders of the user's."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .errors import RuleError, UsageError
from .rulesets import RuleSet
from .source import MAX_BYTES, Node, parse, undump

if TYPE_CHECKING:
    from pathlib import Path

    from .findings import Findings

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


def parsed(folder: str | Path, shown: str, findings: Findings | None = None) -> dict[str, Node]:
    """Parse every rule file of a folder; `shown` is the folder's name in messages.

    With `findings`, what is wrong goes there, and a file that cannot be read is left out.
    """
    found = {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".yaml"):
            continue
        file = f"{shown}/{name}"
        try:
            found[name[: -len(".yaml")]] = _parsed(f"{folder}/{name}", file, findings)
        except RuleError as error:
            if findings is None:
                raise
            findings.take(error)
    return found


def _parsed(path: str, file: str, findings: Findings | None) -> Node:
    try:
        with open(path, encoding="utf-8-sig") as opened:
            text = opened.read(MAX_BYTES + 1)
    except (UnicodeDecodeError, OSError) as error:
        if findings is not None:
            findings.texts[file] = ""
        said = "is no UTF-8 text" if isinstance(error, ValueError) else "cannot be read"
        help = "save it as UTF-8" if isinstance(error, ValueError) else ""
        raise RuleError(f"the file {said}", file, 1, 1, help=help, rule="R020") from None
    if findings is None:
        return parse(text, file)
    findings.texts[file] = text
    return parse(text, file, findings.take)


def by_name(files: Mapping[str, Node], findings: Findings | None = None) -> dict[str, Node]:
    """Return rule files by the dialect that each names; the ladder keeps its name."""
    found: dict[str, Node] = {}
    for stem, node in files.items():
        if stem == LADDER:
            found[LADDER] = node
            continue
        named = node.get("dialect")
        name = named.value if named is not None else None
        help = "write `dialect: NAME` at the top"
        if not isinstance(name, str) or not _named(name):
            message = "a rule file names its `dialect`"
            pos = named.pos if named is not None else node.pos
            if name is not None:
                help = "a name is of letters, digits, `-`, `_` and `.`"
        elif name in found:
            message = f"two files name the dialect `{name}`"
            pos, help = (named or node).pos, f"the other one is {found[name].pos.file}"
        else:
            found[name] = node
            continue
        error = RuleError(message, *pos, help=help, rule="R026")
        if findings is None:
            raise error
        findings.take(error)
    return found


def _named(name: str) -> bool:
    return name.replace("-", "").replace("_", "").replace(".", "").isalnum()


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
    found: list[Any] = []
    if folders:
        findings = collected(nodes, folders)
        findings.raise_first()
        found = findings.sorted()
    return RuleSet([name for name in nodes if name != LADDER], lambda: nodes, findings=found)


def check(folder: str | Path | None = None) -> Findings:
    """Return all that is wrong with the rule files of a folder, or with the packaged ones.

    A folder is checked together with the packaged rules; only its own files are reported on.
    """
    return collected(dict(packaged_nodes()), [_folder() if folder is None else folder])


def collected(nodes: dict[str, Node], folders: Sequence[str | Path]) -> Findings:
    """Add the rule files of some folders to `nodes`, and return all that is wrong with them."""
    from .findings import Findings

    findings = Findings()
    for folder in folders:
        if not os.path.isdir(folder):
            raise UsageError(f"there is no folder {folder} of rule files")
        shown = os.path.normpath(folder)
        own = by_name(parsed(shown, shown, findings), findings)
        nodes.update(own)
    checked({n: nodes[n] for n in nodes if nodes[n].pos.file in findings.texts}, nodes, findings)
    return findings


def from_nodes(
    own: Mapping[str, Node], nodes: Mapping[str, Node], findings: Findings
) -> RuleSet | None:
    """Check rule files that were parsed by hand, and load them beside `nodes` if they are right."""
    mine = by_name(own, findings)
    every = {**nodes, **mine}
    checked(mine, every, findings)
    if any(finding.severity == "error" for finding in findings):
        return None
    return RuleSet([name for name in every if name != LADDER], lambda: every)


def checked(own: Mapping[str, Node], nodes: Mapping[str, Node], findings: Findings) -> None:
    """Check the rule files `own`, which stand among `nodes`."""
    if own:
        from . import rulecheck

        rulecheck.check(own, findings, nodes[LADDER])
