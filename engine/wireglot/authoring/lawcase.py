"""Where a law is tried, and what it has against a payload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from ..trail import At
from .jsondiff import Difference, differences


class Broken(Exception):
    """Raised with what does not hold, and the place in the rules if it is known."""

    def __init__(self, message: str, rule: object = None) -> None:
        super().__init__(message)
        self.rule = str(rule) if rule else None


def alike(
    what: str, meant: Any, found: Any, rule_at: Callable[[At], Pos | None] = lambda _: None
) -> None:
    """Raise Broken where a value is not what was meant, with the rule of the first place."""
    apart = differences(meant, found)
    if apart:
        raise Broken(f"{what} at {apart[0]}", rule_at(apart[0].at))


@dataclass(frozen=True, slots=True)
class Case:
    """Where a law is tried: a unit of a dialect, and for some another dialect."""

    rules: RuleSet
    dialect: str
    unit: str
    target: str = ""
    known: dict[int, tuple[Any, Any]] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """A name for people."""
        return f"{self.dialect}/{self.unit}" + (f" to {self.target}" if self.target else "")

    def once(self, wire: Any, make: Callable[[], Any]) -> Any:
        """Return what is made of a payload, which the law may have made for another dialect."""
        if id(wire) not in self.known:
            self.known[id(wire)] = (wire, make())
        return self.known[id(wire)][1]

    def read(self, wire: Any) -> Any:
        """Read a payload into the IR, memory and all."""
        return self.rules[self.dialect].read(wire, self.unit).ir

    def rule_at(self, at: At) -> Pos | None:
        """Return the place of the picture of a path of the wire."""
        return where.rule_at(self.rules[self.dialect].model, self.unit, at)

    def unsaid(self, ir: Any) -> list[str]:
        """Return the fields that the other dialect means by writing nothing: `wire: $absent`."""
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
        """Write an IR value in this dialect."""
        out = self.rules[self.dialect].write(ir, self.unit)
        return out.body, out.notes

    def convert(
        self, wire: Any, source: str, target: str, model: str | None = "m", stream: Any = None
    ) -> tuple[Any, list[Note], Any]:
        """Convert: body, notes and envelope."""
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


def same_json(apart: Difference) -> bool:
    """Tell whether two texts are the same JSON, or the second has more; blank text is `{}`."""
    meant, found = apart.meant, apart.found
    if not isinstance(meant, str) or not isinstance(found, str):
        return False
    if found[:1] not in ("{", "["):
        return False
    value = parse_json(found)
    if meant[:1] != found[:1] or means(meant, value):
        return means(meant, value)
    return all(one.meant is ABSENT for one in differences(parse_json(meant), value))


def longer(apart: Difference, most: int) -> bool:
    """Tell whether a list has so many more elements at most, behind those that it had or before.

    These may say more than they did. A text alone is a list of one, or a message of it, where more
    texts stand behind it.
    """
    meant, found = apart.meant, apart.found
    if isinstance(meant, str) and isinstance(found, list):
        one = found[0] if len(found) == 1 and isinstance(found[0], dict) else {}
        texts = next((value for value in one.values() if isinstance(value, list)), found)
        return len(texts) - 1 <= most and (_words(texts) or "").startswith(meant)
    if not isinstance(meant, list) or not isinstance(found, list) or not meant:
        return False
    more = len(found) - len(meant)
    return 0 <= more <= most and (_holds(meant, found) or _holds(meant, found[more:]))


def _holds(meant: list[Any], found: list[Any]) -> bool:
    """Tell whether elements say all that they did, and maybe more."""
    pairs = zip(meant, found, strict=False)
    return all(one.meant is ABSENT for was, now in pairs for one in differences(was, now))


def alone(apart: Difference) -> bool:
    """Tell whether a list of one plain text is that text now: many read both as the same."""
    meant = apart.meant
    return isinstance(meant, list) and len(meant) == 1 and _words(meant) == apart.found


def one_text(apart: Difference, within: Mapping[str, Marks]) -> bool:
    """Tell whether texts that stood apart are the same words in fewer texts.

    Marks of parts within a text, and the spaces around these, are of its form.
    """
    meant, found = (_bare(_words(one), within) for one in (apart.meant, apart.found))
    return meant is not None and meant == found


def _bare(words: str | None, within: Mapping[str, Marks]) -> str | None:
    """Return words without marks and spaces."""
    for mark in (mark for one in within.values() for mark in (one.opens, one.closes)):
        words = words and words.replace(mark, "")
    return words and "".join(words.split())


def _words(value: Any) -> str | None:
    """Return the words of a text or of a list of plain texts; None of anything else."""
    if not isinstance(value, list):
        return value if isinstance(value, str) else None
    plain = all(isinstance(one, dict) and one.keys() == {"type", "text"} for one in value)
    return "".join(str(one["text"]) for one in value) if plain else None
