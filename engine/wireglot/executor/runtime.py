"""The names that generated functions know."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ..interpreter.conversation import write_talk
from ..interpreter.making import filled
from ..interpreter.outlet import fitted
from ..interpreter.share import spelling
from ..ir import FULL
from ..language.lenses import Misfit, guard, same
from ..language.picture import ABSENT
from . import lists, values
from .values import EMPTY, NO

NAMES: dict[str, Any] = {
    **{
        name: value
        for module in (values, lists)
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    },
    "ABSENT": ABSENT,
    "EMPTY": EMPTY,
    "FULL": FULL,
    "Misfit": Misfit,
    "NO": NO,
    "filled": filled,
    "fitted": fitted,
    "guard": guard,
    "same": same,
    "spelling": spelling,
    "write_talk": write_talk,
}
