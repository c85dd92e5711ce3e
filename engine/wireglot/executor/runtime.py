"""The names that generated functions know."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType
from typing import Any

from ..interpreter.choosing import reads_back
from ..interpreter.elsewhere import any_there
from ..interpreter.listforms import spelling
from ..interpreter.making import by_hook, filled, made
from ..interpreter.speaking import write_talk
from ..interpreter.views import opened
from ..interpreter.writehole import abroad, fitted
from ..ir import FULL
from ..language.lenses import WRITES, Misfit, guard, not_an_object, same
from ..language.picture import ABSENT
from . import lists, values
from .readtime import NO, tried
from .values import EMPTY

_MADE = (FunctionType, BuiltinFunctionType)  # the latter where the engine is compiled
_FUNCTIONS = (
    abroad, any_there, by_hook, filled, fitted, guard, made, not_an_object, opened, reads_back,
    same, spelling, tried, write_talk,
)  # fmt: skip
NAMES: dict[str, Any] = {
    **{
        name: value
        for module in (values, lists)
        for name, value in vars(module).items()
        if isinstance(value, _MADE) and value.__module__ == module.__name__
    },
    **{one.__name__: one for one in (*WRITES.values(), *_FUNCTIONS)},
    "ABSENT": ABSENT,
    "EMPTY": EMPTY,
    "FULL": FULL,
    "Misfit": Misfit,
    "NO": NO,
}
