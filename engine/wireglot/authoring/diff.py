"""`wireglot diff`: two rule sets side by side, what they say and what they do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..loading.start import load_rules
from ..rulesets import RuleSet
from . import changes, crossing, replays, trial
from .changes import Change
from .crossing import Crossed
from .replays import Replayed


class Compared(NamedTuple):
    """What differs between two rule sets: what they say, and what becomes of payloads."""

    fields: list[Change]
    pairs: list[Crossed]

    @property
    def differs(self) -> bool:
        """Whether anything does."""
        return bool(self.fields or self.pairs)

    def lines(self) -> Iterator[str]:
        """Say it in words."""
        yield from map(str, self.fields)
        yield from map(str, self.pairs)
        if not self.differs:
            yield "no differences"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {
            "fields": [one.as_json() for one in self.fields],
            "pairs": [one.as_json() for one in self.pairs],
        }


class Told(NamedTuple):
    """Which records come out otherwise, and how many there are."""

    found: list[Replayed]
    total: int

    @property
    def differs(self) -> bool:
        """Whether any does."""
        return bool(self.found)

    def lines(self) -> Iterator[str]:
        """Say it in words."""
        yield from map(str, self.found)
        yield f"{self.total} payload{'s' * (self.total != 1)}, {len(self.found)} come out otherwise"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {"payloads": self.total, "otherwise": [one.as_json() for one in self.found]}


def loaded(sources: Sequence[str], overlays: Sequence[str]) -> RuleSet:
    """Load rule files with their examples, and check those of the user. Raises RuleError."""
    if sources or overlays:
        load_rules(*sources, overlays=overlays)
    return trial.loaded(sources, overlays)


def compared(old: RuleSet, new: RuleSet, converting: bool = True) -> Compared:
    """Compare what two sets say, and by payloads made from both what their pairs do."""
    fields = changes.all_of(old, new)
    pairs = crossing.pairs(old, new, fields) if converting else []
    return Compared(fields, pairs)


def replayed(
    old: RuleSet, new: RuleSet, text: str, name: str, source: str | None, target: str | None
) -> Told:
    """Convert recorded payloads by both sets. Raises UsageError."""
    results = list(replays.replay(old, new, replays.records(text, name, source, target)))
    return Told([one for one in results if one is not None], len(results))
