"""Payloads that show what a dialect can hold: its examples, and some that its pictures make."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..dialects import DialectRules
from ..language.lenses import stringify
from ..language.picture import ABSENT, Hole
from ..trace import paths
from ..trail import leaves
from . import examples, wirefacts
from .generate import Generator

DRAWN, MOST = 60, 12  # payloads that are made, and how many of them are kept
SEED = "payloads"


class Least(Generator):
    """Makes payloads of nothing but what must be there."""

    def hole(self, h: Hole, state: Any) -> Any:
        return ABSENT if h.mark is not None else super().hole(h, state)

    def maybe(self, what: Any = None) -> bool:
        return False


def of(dialects: Iterable[DialectRules], unit: str) -> list[Any]:
    """Return payloads of a unit: examples first, then those that show what none before did."""
    found: dict[str, Any] = {}
    shown: set[Any] = set()
    for dialect in dialects:
        if unit not in dialect.model.units:
            continue
        model = dialect.model.of_unit(unit)
        words = set(wirefacts.fixed(model))
        pictured = paths.pictured(model, unit)
        for example in examples.find(dialect):
            wire = example.said.get("wire", example.said.get("reads"))
            if example.owner == unit and wire is not None:
                found[stringify(wire)] = wire
                shown |= _features(wire, pictured, words)
        kept = 0
        for n in range(DRAWN):
            if kept == MOST:
                break
            maker = Generator if n else Least
            payload = maker(model, f"{SEED}/{dialect.name}/{unit}/{n}", rare=0).unit(unit)
            features = _features(payload, pictured, words)
            if features - shown or not n:
                shown |= features
                found[stringify(payload)] = payload
                kept += 1
    return list(found.values())


def _features(payload: Any, pictured: set[str], words: set[str]) -> set[Any]:
    """Return which paths a payload has, with their words and the types of their values."""
    found: set[Any] = set()
    for at, value in leaves(payload):
        known = isinstance(value, bool) or (isinstance(value, str) and value in words)
        found.add((paths.general(at, pictured), value if known else type(value).__name__))
    return found
