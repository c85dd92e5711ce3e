"""Failures: frames of a stream that are errors, and whatever else they say."""

from __future__ import annotations

from typing import Any

from ..interpreter import unpictured
from ..interpreter.hands import Reader
from ..language.lenses import Misfit
from ..language.model import Dialect
from ..language.picture import Fields, Hole, Literal, Picture, keyed
from ..trail import value_at
from .sighting import Frame


class Failure:
    """Knows an error of a dialect by the picture of the unit `error`."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._shape = dialect.units.get("error")
        found: list[frozenset[str]] = []  # the keys that each case cannot be without
        for case in self._shape.cases if self._shape else ():
            found.append(frozenset(names[0] for names, child in keyed(case.wire) if _stands(child)))
        shared = frozenset.intersection(*found) if found else frozenset()
        # Where the cases share none, each is heard by its own.
        self._needed = [shared] * len(found) if shared else found

    def of(self, wire: Any, frame: Frame) -> dict[str, Any] | None:
        """Return the error that a frame holds beside what events have claimed of it."""
        shape = self._shape
        if shape is None or not isinstance(wire, dict):
            return None
        said = {key for key in wire if wire[key] is not None and (key,) not in frame.claimed}
        pairs = zip(shape.cases, self._needed, strict=True)
        cases = [(shape, case) for case, needed in pairs if needed and needed <= said]
        if not cases:
            return None
        try:
            found = Reader(self._dialect, {}).first(cases, wire, (), True)
        except Misfit:
            return None
        frame.claimed.update((key,) for key in shape.keys)
        return {k: v for k, v in found.items() if k not in ("kept", "spelled")}

    def foreign(self, wire: Any, frame: Frame) -> dict[str, Any] | None:
        """Return the error of a frame that is none of the dialect's: a gateway may have said it.

        What stands beside its message is left.
        """
        if self._shape is None or not isinstance(wire, dict):
            return None
        at = unpictured.told(wire)
        if at is None:
            return None
        frame.claimed.update((at, *((key,) for key in wire if wire[key] == "error")))
        return {"message": value_at(wire, at)}


def _stands(p: Picture) -> bool:
    """Tell whether something must stand where a picture does."""
    if isinstance(p, Hole):
        return p.mark is None
    return not isinstance(p, Fields | Literal) or (isinstance(p, Fields) and not p.loose)
