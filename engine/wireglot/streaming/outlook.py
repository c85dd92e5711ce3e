"""The outlook of a stream that is written: what is known of its dialect before anything comes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any, NamedTuple

from ..conversion.hands import Writer
from ..interpreter import citations, share
from ..ir import IR, OPAQUE, PARAGRAPH, owned
from ..language.events import DEFAULT_FIELD, Event, Word
from ..language.model import Dialect
from ..language.picture import Hole, Picture, holes
from ..language.shape import Case, fixed_words
from ..trail import Trail
from .incoming import Part

MOST = 256  # parts that were written on trial, and are remembered
# Parts of which no value but a name says what is lost.
PLAIN = ("text", "reasoning", "tool_call", "native")
INNER = frozenset(("candidates", "parts", "nth"))  # fields that are told of by themselves


class EventPair(NamedTuple):
    """How a part starts, where an event of its own says that, and how it goes on."""

    start: Event | None
    append: Event


class Outlook:
    """What is known of the streams of a dialect before anything comes."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect, self.stream = dialect, dialect.streamed
        answers = list(citations.candidates_of(dialect))
        self.lists = [h for case in answers for h in holes(case.wire) if h.path == "parts"]
        pairs = [pair for h in self.lists for pair in dialect.cases_of(h.named)]
        kinds = [(h, dialect.kinds_of(h.named)) for h in self.lists if not h.only_read]
        first = next((h for h, held in kinds if held == {"reasoning"}), None)
        self.joins_thoughts = first is not None and "joined" in first.lenses  # into one text
        texts = next((h for h, held in kinds if "text" in held), None)
        self.joins_texts = texts is not None and "joined" in texts.lenses
        self.grouped = {str(kind) for shape, _ in pairs for kind in shape.groups}  # in one element
        self.made_ids = _identities(dialect)
        # What a whole response says of its parts.
        self.whole_fields = frozenset(h.path for _, case in pairs for h in holes(case.wire))
        # Calls that have a picture by their name: no event begins one of them.
        calls = (case for _, case in pairs if "tool_call" in case.kinds)
        self.named_calls = fixed_words(calls, "/name")
        self.slots: dict[str, int] = {}  # the list that each kind stands in: within it is order
        for nth, hole in enumerate(self.lists):
            for kind in dialect.kinds_of(hole.named):
                self.slots.setdefault(str(kind), nth)
        paths = {hole.path for p in self.stream.pictures() for hole in holes(p)}
        self.many_answers, self.numbered = "at.candidate" in paths, "at.frame" in paths
        # Whether parts come one after another.
        ends = any(word.act == "part_stop" for word in self.stream.of)
        self.sequential = ends or not self.stream.plain
        # What is lost of parts, and what they lack, by their fields.
        self._fits: dict[tuple[Any, ...], tuple[Set[str] | None, Set[str]]] = {}
        # What is said of a part of each kind when it is over, and the fields that are said there.
        self.closing: dict[str, list[tuple[Word, Event]]] = {}
        self.later: dict[str, frozenset[str]] = {}
        for word, event in self.stream.of.items():
            if word.act in ("set", "add"):
                self.closing.setdefault(word.kind, []).append((word, event))
            if word.act == "set":  # what no head can be without is said there
                head = self.stream.get(
                    "part_start", word.kind, DEFAULT_FIELD.get(word.kind, "text")
                )
                there = [hole for p in (head.writes if head else ()) for hole in holes(p)]
                later = event.holes - {hole.path for hole in there if hole.mark is None}
                self.later[word.kind] = self.later.get(word.kind, frozenset()) | later
        # How a candidate ends: each way, and whether it says counts that may be missing.
        events = self.stream.events
        self.finish = [
            (e, any(h.path == "usage" and h.mark for p in e.writes for h in holes(p)))
            for e in events
            if "finish" in e.acts and e.writes
        ]
        self.usage = next((e for e in events if e.acts == {"usage"}), None)
        told = [(e, path) for e in events for p in e.writes for path in _paths_of(dialect, p)]
        self.event_fields = {path for _, path in told}
        # Fields of the response that nothing says but how it ends.
        last = {path for event, path in told if "finish" in event.acts}
        last -= {path for event, path in told if "finish" not in event.acts}
        self.said_last = self._keys_of(p[9:] for p in last if p.startswith("response."))
        self.event_fields |= {word.field for word in self.stream.of if word.kind == "candidate"}
        # Fields of a response, and of a candidate, that a whole says and no event does.
        self.unheld = self._unheld("response", dialect.pictured("response"))
        self.unheld_of_one = self._unheld("candidate", answers)

    def tells(self, owner: str, path: str) -> bool:
        """Tell whether an event says a field of the response, or of a candidate."""
        return not self.event_fields.isdisjoint((path, f"{owner}.{path}", "response"))

    def _unheld(self, owner: str, cases: Iterable[Case]) -> dict[str, list[str]]:
        """Return the keys of the fields that no event says, by their paths."""
        found = {path for case in cases for path in _paths_of(self.dialect, case.wire)}
        return self._keys_of(p for p in found - INNER if not self.tells(owner, p))

    def _keys_of(self, paths: Iterable[str]) -> dict[str, list[str]]:
        """Return the keys of fields by their paths."""
        return {path: owned(path, self.dialect.family).split(".") for path in sorted(paths)}

    def flow(self, kind: str, field: str) -> EventPair | None:
        """Return how parts of a kind flow, if they do."""
        append = self.stream.get("append", kind, field)
        if append is None or field.startswith("own."):
            return None
        return EventPair(self.stream.get("part_start", kind, field), append)

    def separator(self, part: Part, kind: str, before: list[str], text: Part | None) -> str:
        """Return what stands between a part, written as a kind, and the last text or thought."""
        if kind == "reasoning":
            return PARAGRAPH if self.joins_thoughts and kind in before else ""
        if kind != "text" or text is None or {part.kind, text.kind} == {kind}:
            return ""
        listed = [one for one in before if self.slots.get(one) == self.slots.get(kind)]
        return PARAGRAPH if self.joins_texts and listed[-1:] == [kind] else ""  # of a refusal

    def unsaid(self, flow: EventPair, ir: IR, kind: str, field: str) -> set[str]:
        """Return the fields of a part that no event of its kind says."""
        known = set(self.later.get(kind, ()))
        for event in flow:
            known |= event.holes if event is not None else set()
        known |= {w.field for w, _ in self.closing.get(kind, ()) if w.act == "add"}
        said = {"type", field, f"{field}_json", f"{field}_text", "spelled"}
        fields = {k for k in ir if k not in said and k != "own"}
        fields |= {f"own.{k}" for k in ir.get("own", {}).get(self.dialect.family, {})}
        return fields - known

    def fit(self, writer: Writer, ir: IR) -> tuple[Set[str] | None, Set[str]]:
        """Return the fields of a part that a whole response has no place for, and those it lacks.

        None for the first: nor for the part. It is written on trial, once for all parts that hold
        the same fields.
        """
        key = None if writer.options else self._fit_key(ir, bool(writer.ladder))
        if key is None:
            return self._fit_on_trial(writer, ir)
        if key in self._fits:
            return self._fits[key]
        found = self._fit_on_trial(writer, ir)
        if len(self._fits) >= MOST:
            self._fits.clear()
        self._fits[key] = found
        return found

    def _fit_key(self, ir: IR, stepping: bool) -> tuple[Any, ...] | None:
        """Return what tells parts apart of which other fields may be lost; None if values do."""
        kind, own = ir.get("type"), ir.get("own", {})
        if kind not in PLAIN or self.dialect.family in own or ir.get("name") in self.named_calls:
            return None
        opaque = [ir[key] for key in OPAQUE if isinstance(ir.get(key), dict)]
        # One that has not come yet is empty.
        origins = [(one.get("origin"), bool(one.get("value"))) for one in opaque]
        blank = [not value.strip() for value in (ir.get("text"),) if isinstance(value, str)]
        said = frozenset(zip(ir, map(type, ir.values()), strict=True))
        name = ir.get("name") if kind == "native" else None
        return kind, str(name), said, *origins, *blank, stepping

    def _fit_on_trial(self, writer: Writer, ir: IR) -> tuple[Set[str] | None, Set[str]]:
        probe = Writer(self.dialect, False, Trail(), writer.options)
        if not share.give_as_is(probe, self.lists, ir)[0]:
            return None, probe.missing
        lost = {path for owner, path in probe.lost_fields if owner == id(ir)}
        rows = writer.ladder.get(str(ir.get("type")), ())
        return {path for path in lost if any(path in row.before.names for row in rows)}, set()


def _paths_of(dialect: Dialect, picture: Picture, above: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the paths of what a picture says, with those of shapes that stand for its object."""
    for hole in holes(picture):
        # A response by another shape than its own says what stands in that.
        of_response = hole.path == "response" and hole.shape not in (None, "response")
        if not of_response and (hole.path != "." or not hole.shape):
            yield hole.path
            continue
        for shape, case in dialect.cases_of(hole.named):
            if shape.name not in above:
                inner = _paths_of(dialect, case.wire, (*above, shape.name))
                yield from (f"response.{path}" for path in inner) if of_response else inner


def _identities(dialect: Dialect) -> dict[str, Hole]:
    """Return the holes for ids of a response that are made where there are none, by their paths."""
    found = [hole for hole in dialect.holes_in("response") if hole.path == "id"]
    there = (h for p in dialect.streamed.pictures() for h in holes(p))
    found += [h for h in there if h.path.startswith("response.")]
    made = (h for h in found if h.mark == "made" and h.value not in (None, "time"))
    return {h.path.removeprefix("response."): h for h in made}
