"""The names that generated functions know: those that read, and those that write."""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from ..interpreter.building import by_case, remember_case
from ..interpreter.choosing import any_there, loss, reads_back
from ..interpreter.conversation import is_user_text, read_by_group, user_says
from ..interpreter.elements import (
    has_several_keys,
    is_one_text,
    keep_beside_run,
    read_run,
    remember_key,
    remember_parts,
    remember_shape,
    trail_beside_run,
)
from ..interpreter.env import spell, spell_nothing
from ..interpreter.listforms import key_of_parts
from ..interpreter.making import by_hook, fill_value, make_value
from ..interpreter.speaking import write_talk
from ..interpreter.views import memory_of, opened
from ..interpreter.writehole import fitted, json_text, schema_abroad
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
    by_case, guard, has_several_keys, is_one_text, is_user_text, keep_beside_run, parse_json,
    pointer, read_by_group, read_run, remember_case, remember_key, remember_parts, remember_shape,
    same, spell, spell_nothing, stringify, trail_beside_run, user_says, value_at,
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
    any_there, by_hook, fill_value, fitted, guard, json_text, key_of_parts, loss, make_value,
    memory_of, opened, reads_back, same, schema_abroad, tried, write_talk,
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
