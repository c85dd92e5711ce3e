"""`wireglot diff`: two rule sets side by side, what they say and what they do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..errors import ConversionError, UsageError
from ..language.picture import ABSENT
from ..loading.start import load_rules
from ..notes import Note
from ..rulesets import RuleSet
from . import conversiondiff, rulediff, trial
from .conversiondiff import Outcome, PairChange, ResultDifference
from .jsondiff import shown
from .rulediff import Change

WORDS = frozenset(("body", "source", "target", "unit", "model"))  # of a line that is replayed


class Compared(NamedTuple):
    """What differs between two rule sets: what they say, and what becomes of payloads."""

    fields: list[Change]
    pairs: list[PairChange]

    @property
    def differs(self) -> bool:
        return bool(self.fields or self.pairs)

    def lines(self) -> Iterator[str]:
        yield from map(str, self.fields)
        yield from map(str, self.pairs)
        if not self.differs:
            yield "no differences"

    def as_json(self) -> dict[str, Any]:
        return {
            "fields": [one._asdict() for one in self.fields],
            "pairs": [one._asdict() for one in self.pairs],
        }


class Record(NamedTuple):
    """A payload, and what it is to become; `line` counts from 1."""

    line: int
    body: Any
    source: str
    target: str
    unit: str
    model: str | None


class Replayed(NamedTuple):
    """A record that comes out otherwise: values, notes that come and go, or an error."""

    record: Record
    apart: tuple[ResultDifference, ...]
    gone: tuple[Note, ...]
    come: tuple[Note, ...]
    errors: tuple[str | None, str | None]

    def __str__(self) -> str:
        made = self.record
        lines = [f"line {made.line}: {made.source} -> {made.target} {made.unit}"]
        for at, old, new in self.apart:
            lines.append(f"  {at or '(all)'}: {shown(new)} now, was {shown(old)}")
        lines += [f"  note gone: {note}" for note in self.gone]
        lines += [f"  note new: {note}" for note in self.come]
        old, new = self.errors
        if new is not None:
            lines.append(f"  refused now: {new}" + (f" (before: {old})" if old else ""))
        elif old is not None:
            lines.append(f"  no longer refused; it was: {old}")
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON; a side where nothing stands is left out."""
        made = self.record._asdict()
        del made["body"]
        values = [{k: v for k, v in one._asdict().items() if v is not ABSENT} for one in self.apart]
        notes = {
            "notes_gone": [note._asdict() for note in self.gone],
            "notes_new": [note._asdict() for note in self.come],
        }
        return {**made, "values": values, **notes, "refused": list(self.errors)}


class Replay(NamedTuple):
    """Which records come out otherwise, and how many there are."""

    found: list[Replayed]
    total: int

    @property
    def differs(self) -> bool:
        return bool(self.found)

    def lines(self) -> Iterator[str]:
        yield from map(str, self.found)
        yield f"{self.total} payload{'s' * (self.total != 1)}, {len(self.found)} come out otherwise"

    def as_json(self) -> dict[str, Any]:
        return {"payloads": self.total, "otherwise": [one.as_json() for one in self.found]}


def load_checked(sources: Sequence[str], overlays: Sequence[str]) -> RuleSet:
    """Load rule files with their examples, and check those of the user. Raises RuleError."""
    if sources or overlays:
        load_rules(*sources, overlays=overlays)
    return trial.load_with_examples(sources, overlays)


def compare(old: RuleSet, new: RuleSet, converting: bool = True) -> Compared:
    """Compare what two sets say, and by payloads made from both what their pairs do."""
    fields = rulediff.all_of(old, new)
    pairs = conversiondiff.pairs(old, new, fields) if converting else []
    return Compared(fields, pairs)


def replay(
    old: RuleSet, new: RuleSet, text: str, name: str, source: str | None, target: str | None
) -> Replay:
    """Convert recorded payloads by both sets. Raises UsageError."""
    found, total = [], 0
    for one in records(text, name, source, target):
        total += 1
        asked = (one.body, (one.source, one.target), one.unit, one.model)
        before, after = (conversiondiff.convert_or_error(rules, *asked) for rules in (old, new))
        if not conversiondiff.same_result(before, after):
            found.append(_compare_record(one, before, after))
    return Replay(found, total)


def records(text: str, name: str, source: str | None, target: str | None) -> Iterator[Record]:
    """Yield the records of JSON lines; where the ends are given, each line is a payload.

    Otherwise a line is `{"body": ..., "source": ..., "target": ...}`, and perhaps `unit`, `model`.
    Raises UsageError for another line.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            said = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"`{name}` line {number} is no JSON: {error}") from None
        if source is not None and target is not None:
            said = {"body": said, "source": source, "target": target}
        if not isinstance(said, dict) or not {"body", "source", "target"} <= said.keys() <= WORDS:
            raise UsageError(
                f"`{name}` line {number} is no record: say --from and --to where lines are "
                f"payloads, or write {{body, source, target}} and perhaps `unit`, `model`"
            )
        unit, model = said.get("unit", "request"), said.get("model")
        yield Record(number, said["body"], said["source"], said["target"], unit, model)


def _compare_record(record: Record, before: Outcome, after: Outcome) -> Replayed:
    if isinstance(before, ConversionError) or isinstance(after, ConversionError):
        old, new = (str(e) if isinstance(e, ConversionError) else None for e in (before, after))
        return Replayed(record, (), (), (), (old, new))
    values = tuple(conversiondiff.result_differences(before, after))
    gone, come = conversiondiff.notes_apart(before, after)
    return Replayed(record, values, gone, come, (None, None))
