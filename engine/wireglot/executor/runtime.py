"""The names that generated functions know."""

from __future__ import annotations

from typing import Any

from ..language.lenses import Misfit, guard, same
from ..language.picture import ABSENT
from .lists import Listing, formed, shared
from .values import (
    EMPTY,
    NO,
    again,
    among,
    any_there,
    changed,
    cold,
    could_read,
    crossed,
    filled,
    fit,
    json_text,
    leave,
    loss,
    misnamed,
    missed,
    more,
    opened,
    own_fields,
    own_of,
    plain,
    poorer,
    put_back,
    reads_back,
    schema,
    seen,
    signed,
    through,
    told_part,
    total,
    undo,
)

__all__ = ["NAMES", "Listing"]

NAMES: dict[str, Any] = {
    "ABSENT": ABSENT, "EMPTY": EMPTY, "Misfit": Misfit, "NO": NO, "guard": guard, "same": same,
    **{
        f.__name__: f
        for f in (
            loss, poorer, put_back, undo, any_there, changed, could_read, again, reads_back, plain,
            seen, cold, missed, leave, more, misnamed, crossed, own_of, signed, opened,
            total, json_text, schema, through, fit, filled, told_part, among,
            own_fields, shared, formed,
        )
    },
}  # fmt: skip
