"""Whether messages are in order already, by one look at them: then no step has anything to do."""

from __future__ import annotations

from typing import Any

from ..language.model import Dialect, once
from . import within
from .enforce import SAID
from .jobs import WriteJob
from .views import Look


def orderly(writer: WriteJob, look: Look) -> bool:
    """Tell whether no step that a dialect asks for has anything to do with these messages."""
    dialect = writer.dialect
    kinds, plain = _watched(dialect)
    if writer.repair_asked or not plain or not look.paired or not look.said:
        return False
    return kinds.isdisjoint(look.kinds) and not (look.freeform and dialect.tells_freeform)


@once
def _watched(dialect: Dialect) -> tuple[frozenset[Any], bool]:
    """Return the kinds of parts that a step looks at, and whether all else is told by one look."""
    talk = dialect.talk
    words = ("this-turn", "signed", "found", "one-call")
    kinds = {kind for word, kind in talk.enforce if word in words}
    kinds |= {one.kind for one in talk.beside}
    kinds |= within.marks_to_write(dialect).keys() | within.marks_in_items(dialect).keys()
    kinds |= {kind for kind, bound in dialect.bounds.items() if "count" in bound}
    unique = any("." in name and limit.get("unique") for name, limit in dialect.limits.items())
    alternate = ("alternate", "") in talk.enforce
    return frozenset(kinds), dialect.held >= SAID and not unique and not alternate
