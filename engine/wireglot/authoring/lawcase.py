"""Where a law is tried, and what it has against a payload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ..interpreter.views import means
from ..ir import unspelled
from ..language.intext import Marks
from ..language.lenses import parse_json
from ..language.nodes import match
from ..language.picture import ABSENT, Fields, Literal, holes
from ..language.source import Pos
from ..loaded import converted
from ..notes import Note
from ..rulesets import RuleSet
from ..trace import where
from ..trail import At, touch
from .jsondiff import Difference, differences


class Broken(Exception):
    """Raised with what does not hold, and the place in the rules if it is known."""

    def __init__(self, message: str, rule: object = None) -> None:
        super().__init__(message)
        self.rule = str(rule) if rule else None


def require_equal(
    what: str, expected: Any, actual: Any, rule_at: Callable[[At], Pos | None] = lambda _: None
) -> None:
    """Raise Broken where a value is not what was meant, with the rule of the first place."""
    different = differences(expected, actual)
    if different:
        raise Broken(f"{what} at {different[0]}", rule_at(different[0].at))


@dataclass(frozen=True, slots=True)
class Case:
    """Where a law is tried: a unit of a dialect, and for some another dialect."""

    rules: RuleSet
    dialect: str
    unit: str
    target: str = ""
    cache: dict[int, tuple[Any, Any]] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        return f"{self.dialect}/{self.unit}" + (f" to {self.target}" if self.target else "")

    def cached(self, wire: Any, compute: Callable[[], Any]) -> Any:
        """Return what `compute` gives for a payload, computed once for all targets of a law."""
        if id(wire) not in self.cache:
            self.cache[id(wire)] = (wire, compute())
        return self.cache[id(wire)][1]

    def read(self, wire: Any) -> Any:
        """Read a payload into the IR, memory and all."""
        return self.rules[self.dialect].read(wire, self.unit).ir

    def rule_at(self, at: At) -> Pos | None:
        """Return the place of the picture of a path of the wire."""
        return where.rule_at(self.rules[self.dialect].model, self.unit, at)

    def absent_fields(self, ir: Any) -> list[str]:
        """Return the fields that the target means by writing nothing: `wire: $absent`."""
        model = self.rules[self.target].model
        top = [case.wire for case in model.units[self.unit].cases]
        shapes = [h.shape for p in top for h in holes(p) if h.path == "." and h.shape]
        cases = [case for name in shapes for case in model.shapes[name].cases]
        return [
            name
            for case in cases
            if isinstance(case.wire, Literal) and case.wire.values == (ABSENT,)
            if isinstance(case.ir, Fields) and match(case.ir, ir, {}, ir)
            for (name, *_), _ in case.ir.entries
        ]

    def write(self, ir: Any) -> tuple[Any, tuple[Note, ...]]:
        out = self.rules[self.dialect].write(ir, self.unit)
        return out.body, out.notes

    def convert(
        self, wire: Any, source: str, target: str, model: str | None = "m", stream: Any = None
    ) -> tuple[Any, list[Note], Any]:
        """Convert a payload, and return body, notes and envelope."""
        ends = self.rules[source], self.rules[target]
        return converted(*ends, wire, self.unit, model, stream, {})


def abroad(ir: Any, more: tuple[str, ...] = ()) -> Any:
    """Return an IR value as another dialect sees it: no memory, no unknown keys, nor `more`."""
    return unspelled(ir, ("spelled", "kept", *more))


def results_apart(ir: dict[str, Any]) -> dict[str, Any]:
    """Return a request whose results stand in turns of tools, as most dialects read them."""
    messages = ir.get("messages")
    if not isinstance(messages, list):
        return ir
    apart: list[Any] = []
    for message in messages:
        pieces = groupby(message["parts"], lambda part: part["type"] == "tool_result")
        apart += [
            {**message, "role": "tool" if answers else message["role"], "parts": [*parts]}
            for answers, parts in pieces
        ] or [message]
    return {**ir, "messages": apart}


def is_told_of_target(
    case: Case, wire: Any, at: str, notes: Iterable[Note], notes_back: Iterable[Note]
) -> bool:
    """Tell whether notes speak of what a leaf became in the other dialect.

    The way back notes that as lost, or the way there that what the leaf decided (that a result
    failed, say) stands there in another form.
    """
    here, there = case.dialect, case.target
    trace = case.rules.convert(wire, here, there, case.unit, model="m", trace=True).trace
    lost = {note.source_path for note in notes_back if note.effect == "lost"}
    changed = [n.target_path for n in notes if n.effect == "changed" and n.target_path is not None]
    for fate in trace.of_source(at).values() if trace else ():
        if not lost.isdisjoint(fate.targets):
            return True
        for target in fate.targets if fate.kind == "decided" else ():
            if any(touch(place, target) for place in changed):
                return True
    return False


def is_harmless(difference: Difference, most: int, within: Mapping[str, Marks]) -> bool:
    """Tell whether two values say the same in another form, or the second only says more.

    `most` elements may have come into lists; `within` are the marks of parts within texts.
    """
    expected, actual = difference.expected, difference.actual
    if _is_same_json(expected, actual) or _only_grew(expected, actual, most):
        return True
    if isinstance(expected, list) and len(expected) == 1 and _joined_text(expected) == actual:
        return True  # many read a list of one plain text as that text
    # Texts that stood apart may be the same words in fewer texts: a thought heads any text there.
    words, now = (_without_marks(_joined_text(one), within) for one in (expected, actual))
    return bool(within) and words is not None and words == now


def _is_same_json(expected: Any, actual: Any) -> bool:
    """Tell whether two texts are the same JSON; blank text is `{}`."""
    texts = isinstance(expected, str) and isinstance(actual, str)
    return texts and actual[:1] in ("{", "[") and means(expected, parse_json(actual))


def _only_grew(expected: Any, actual: Any, most: int) -> bool:
    """Tell whether a list only has more elements, `most` of them, behind what it had or before.

    These may say more than they did. A text alone is a list of one, or a message of it, where more
    texts stand behind it.
    """
    if isinstance(expected, str) and isinstance(actual, list):
        only = actual[0] if len(actual) == 1 and isinstance(actual[0], dict) else {}
        texts = next((value for value in only.values() if isinstance(value, list)), actual)
        return len(texts) - 1 <= most and (_joined_text(texts) or "").startswith(expected)
    if not isinstance(expected, list) or not isinstance(actual, list) or not expected:
        return False
    more = len(actual) - len(expected)
    return 0 <= more <= most and (_contains(expected, actual) or _contains(expected, actual[more:]))


def _contains(expected: list[Any], actual: list[Any]) -> bool:
    """Tell whether each element says all that it did, and maybe more."""
    pairs = zip(expected, actual, strict=False)
    found = (one for before, after in pairs for one in differences(before, after))
    return all(one.expected is ABSENT for one in found)


def _without_marks(words: str | None, within: Mapping[str, Marks]) -> str | None:
    """Return words without the marks of parts within a text, and the spaces around these."""
    for mark in (mark for marks in within.values() for mark in (marks.opens, marks.closes)):
        words = words and words.replace(mark, "")
    return words and "".join(words.split())


def _joined_text(value: Any) -> str | None:
    """Return the words of a text or of a list of plain texts; None of anything else."""
    if not isinstance(value, list):
        return value if isinstance(value, str) else None
    plain = all(isinstance(block, dict) and block.keys() == {"type", "text"} for block in value)
    return "".join(str(block["text"]) for block in value) if plain else None
