"""The names that generated functions know: those that read, and those that write."""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from ..interpreter.building import by_case, remember_case
from ..interpreter.choosing import any_there, loss, reads_back
from ..interpreter.conversation import lone, one_text, read_group
from ..interpreter.elements import again, alone, aside, keyed
from ..interpreter.env import nulled, spell
from ..interpreter.listforms import spelling
from ..interpreter.making import by_hook, filled, made
from ..interpreter.runs import around, gathered, of_run, together
from ..interpreter.speaking import write_talk
from ..interpreter.views import memory_of, opened
from ..interpreter.writehole import abroad, fitted, json_text
from ..ir import FULL
from ..language.lenses import (
    READS,
    WRITES,
    Misfit,
    guard,
    parse_json,
    same,
    stringify,
)
from ..language.picture import ABSENT
from ..trail import pointer, value_at
from . import lists, readinner, readtime, values
from .readtime import BARE, KEPT, NO, ODD, tried
from .values import EMPTY

_MADE = (FunctionType, BuiltinFunctionType)  # the latter where the engine is compiled


def _functions(*modules: ModuleType) -> dict[str, Any]:
    """Return the functions that modules have themselves, by name."""
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, _MADE) and value.__module__ == module.__name__
    }


_READING: tuple[Callable[..., Any], ...] = (
    again, alone, around, aside, by_case, gathered, guard, keyed, lone, nulled,
    of_run, one_text, parse_json, pointer, read_group, remember_case, same, spell, stringify,
    together, value_at,
)  # fmt: skip
READING: dict[str, Any] = {
    **_functions(readtime, readinner),
    **{one.__name__: one for one in (*READS.values(), *_READING)},
    "ABSENT": ABSENT,
    "BARE": BARE,
    "KEPT": KEPT,
    "NO": NO,
    "ODD": ODD,
}
_WRITING: tuple[Callable[..., Any], ...] = (
    abroad, any_there, by_hook, filled, fitted, guard, json_text, loss, made, memory_of,
    opened, reads_back, same, spelling, tried, write_talk,
)  # fmt: skip
WRITING: dict[str, Any] = {
    **_functions(values, lists),
    **{one.__name__: one for one in (*WRITES.values(), *_WRITING)},
    "ABSENT": ABSENT,
    "EMPTY": EMPTY,
    "FULL": FULL,
    "Misfit": Misfit,
    "NO": NO,
}
