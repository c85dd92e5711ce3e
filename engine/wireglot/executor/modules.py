"""Functions that a wheel brings as modules: `wireglot.made`, written by `loading.written`.

A module has the functions of one dialect that go one way, with some of its variants applied or
none; what another module has just so is taken from there. They are of use to the rules and the
engine that they were made of, and to no others.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Sequence
from typing import Any

from ..language.model import Dialect
from ..language.source import Node
from .code import Brought

PACKAGE = "wireglot.made"
MAKERS = ("executor", "language")  # the rooms by which functions are made


def start(dialect: str, rows: Sequence[int]) -> str:
    """Return how modules of a dialect begin, with some of its variants applied."""
    return "_".join([dialect.replace("-", "_"), *map(str, rows)])


def makers() -> dict[str, int]:
    """Return the modules by which functions are made, with their sizes.

    Where they are no files nothing is known of them.
    """
    top = os.path.dirname(os.path.dirname(__file__))
    try:
        return {
            f"{room}/{file.name}": file.stat().st_size
            for room in MAKERS
            for file in os.scandir(f"{top}/{room}")
            if file.name.endswith(".py")
        }
    except OSError:
        return {}


@functools.cache
def fit(rules: str) -> bool:
    """Tell whether there are modules, made of the rules of this hash by this engine.

    Where Python keeps no bytecode they are of no use: to compile them takes longer than to make
    the few functions that a process needs.
    """
    try:
        made: Any = importlib.import_module(PACKAGE)
    except ModuleNotFoundError:
        return False
    kept = os.path.isfile(getattr(made, "__cached__", None) or "")
    return bool(kept and rules == made.RULES and makers() == made.MAKERS)


def model(dialect: str, rows: Sequence[int], node: Callable[[], Node]) -> Dialect | None:
    """Return a model that a wheel brings, whose rule file `node` gives; None where it has none."""
    begin = start(dialect, rows)
    try:
        module: Any = importlib.import_module(f"{PACKAGE}.{begin}_model")
    except ModuleNotFoundError:
        return None
    parts = {
        **module.rest(),
        "shapes": module.shapes(),
        "units": module.units(),
        "module_prefix": begin,
    }

    def later(word: str) -> Any:
        if word == "node":
            return node()
        return getattr(importlib.import_module(f"{PACKAGE}.{begin}_{word}"), word)()

    return Dialect.built(parts, later)


def ladder() -> Any:
    """Return the ladder that a wheel brings."""
    module: Any = importlib.import_module(f"{PACKAGE}.ladder")
    return module.ladder()


def brought(dialect: Dialect, way: str) -> Brought | None:
    """Return what a wheel brings of a dialect, one way; None where it brings nothing."""
    return _gathered(f"{dialect.module_prefix}_{way}") if dialect.module_prefix else None


@functools.cache
def _gathered(name: str) -> Brought | None:
    try:
        module: Any = importlib.import_module(f"{PACKAGE}.{name}")
    except ModuleNotFoundError:
        return None
    own = vars(module)
    functions = {one: own[one] for one in module.KEYS.values()}
    found = Brought(functions, module.KEYS, module.PLACES, module.DATA)
    base = _gathered(module.BASE) if module.BASE else None
    if base is None:
        return found
    kept = {name: one for name, one in base.functions.items() if name not in module.GONE}
    keys = {key: name for key, name in base.keys.items() if name not in module.GONE}
    return Brought(
        {**kept, **functions},
        {**keys, **found.keys},
        {**base.places, **found.places},
        {**base.data, **found.data},
    )
