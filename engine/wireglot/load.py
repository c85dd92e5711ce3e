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

    from .findings import Finding

MODEL, PLANS = "packaged.json", "compiled.bin"
LADDER, OVERLAYS = "ladder", "overlays"


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
    return from_yaml()


def from_yaml() -> dict[str, Node]:
    """Read the packaged rule files by dialect."""
    from . import layers

    return layers.by_name(parsed(_folder(), "rules")).dialects


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


@functools.cache
def packaged() -> RuleSet:
    """Return the packaged rule set, loaded once; what the wheel prepared is used as it is."""
    prepared = f"{_folder()}/{PLANS}"
    if os.path.isfile(prepared):
        import pickle

        # Made by `wireglot.prepare` and shipped with the code beside it.
        with open(prepared, "rb") as file:
            names, plans, varied = pickle.load(file)
        return RuleSet(names, _flat_packaged, plans, varied=varied)
    return load_rules()


def _flat_packaged() -> dict[str, Node]:
    from . import layers

    return layers.flat(packaged_nodes())


def load_rules(*folders: str | Path, builtin: bool = True, overlays: Sequence[str] = ()) -> RuleSet:
    """Load rule files: the packaged ones (unless `builtin` is false), then those of the folders.

    A file of a packaged dialect's name replaces it whole, and `findings` says so. `overlays` are
    laid over their dialects in the order that is given, those of the folders or packaged ones.
    Raises RuleError with file, line and column, UsageError for a folder or overlay that is not
    there.
    """
    from . import layers

    if isinstance(overlays, str) or not isinstance(overlays, Sequence):
        raise UsageError(f"`overlays` is a list of names, not {type(overlays).__name__}")
    base = packaged_nodes() if builtin else {LADDER: packaged_nodes()[LADDER]}
    nodes, findings = gathered(base, folders, overlays)
    names = [name for name in nodes if name != LADDER]
    varied = layers.varied(nodes)
    rules = RuleSet(names, lambda: nodes, findings=findings, varied=varied)
    for name in names:
        if nodes[name] is not base.get(name):
            rules[name]
            rules.variants(name)
    return rules


def gathered(
    base: Mapping[str, Node], folders: Sequence[str | Path], overlays: Sequence[str]
) -> tuple[dict[str, Node], list[Finding]]:
    """Return the dialects of `base` and the folders, flat, and what to say of them."""
    from . import layers, merge

    own = layers.Sorted({}, {})
    for folder in dict.fromkeys(map(os.path.normpath, folders)):
        if not os.path.isdir(folder):
            raise UsageError(f"there is no folder {folder} of rule files")
        layers.join(own, layers.by_name(parsed(folder, folder)))
    for name, node in own.dialects.items():
        if name != LADDER and node.get("extends") is None:
            merge.fresh(node, merge.Place.FILE)  # nothing lies below it
    there = own.overlays
    if any(name not in there for name in overlays):
        there = {**_packaged_overlays(), **there}
    laid = layers.chosen(overlays, there)
    nodes = layers.flat({**base, **own.dialects}, laid.values())
    return nodes, layers.replaced(base, own)


def overlays_of(*folders: str | Path) -> dict[str, str]:
    """Return the overlays of the folders, or without folders the packaged ones, and their dialects.

    Raises RuleError.
    """
    from . import layers

    found = layers.Sorted({}, {})
    for folder in folders:
        layers.join(found, layers.by_name(parsed(folder, os.path.normpath(folder))))
    overlays = found.overlays if folders else _packaged_overlays()
    return {name: str(node.value["overlay"].value) for name, node in overlays.items()}


def _packaged_overlays() -> dict[str, Node]:
    """Read the packaged overlays, which nothing else needs."""
    from . import layers

    folder = f"{_folder()}/{OVERLAYS}"
    if not os.path.isdir(folder):
        return {}
    return layers.by_name(parsed(folder, f"rules/{OVERLAYS}")).overlays
