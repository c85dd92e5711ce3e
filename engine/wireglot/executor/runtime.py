"""The names that generated functions know: those that read, and those that write."""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from ..interpreter import (
    building,
    choosing,
    conversation,
    elements,
    env,
    listforms,
    making,
    selfholes,
    speaking,
    views,
    writehole,
)
from ..ir import FULL
from ..language import lenses
from ..language.picture import ABSENT
from ..trail import pointer, value_at
from . import lists, readinner, readtime, values

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
    building.by_case, building.remember_case, conversation.is_user_text,
    conversation.read_by_group, conversation.user_says, elements.has_several_keys,
    elements.is_one_text, elements.keep_beside_run, elements.read_run, elements.remember_key,
    elements.remember_parts, elements.remember_shape, elements.trail_beside_run, env.spell,
    env.spell_nothing, lenses.guard, lenses.parse_json, lenses.same, lenses.stringify, pointer,
    value_at,
)  # fmt: skip
READING: dict[str, Any] = {
    **_functions(readtime, readinner),
    **{one.__name__: one for one in (*lenses.READS.values(), *_READING)},
    "ABSENT": ABSENT,
    "BARE": readtime.BARE,
    "NO": readtime.NO,
    "ODD": readtime.ODD,
}
_WRITING: tuple[Callable[..., Any], ...] = (
    choosing.any_there, choosing.less_lossy, choosing.loss, choosing.reads_back, choosing.take,
    lenses.guard, lenses.same, listforms.key_of_parts, making.by_hook, making.fill_value,
    making.make_value, readtime.tried, selfholes.place_word_notes, speaking.write_talk,
    views.memory_of, views.opened, writehole.fitted, writehole.json_text, writehole.schema_abroad,
    writehole.write_time,
)  # fmt: skip
WRITING: dict[str, Any] = {
    **_functions(values, lists),
    **{one.__name__: one for one in (*lenses.WRITES.values(), *_WRITING)},
    "ABSENT": ABSENT,
    "EMPTY": values.EMPTY,
    "FULL": FULL,
    "Misfit": lenses.Misfit,
    "NO": readtime.NO,
}
