"""Generates the functions that write: an IR object as a case of a shape, in another dialect.

    write_SHAPE_CASE(x, o)        writes the object `o`, or returns NO where the case takes it not
    part_SHAPE_CASE(x, o)         writes some fields of `o`: gives the value and what it took
    frame_EVENT(x, o)             writes the frame of an event of a stream from what is said
    one_SHAPE(x, o)               writes by the first case that takes the object and reads back

`x` is the writer. What is rare in an object is left to the writer's own methods: a hole of a kind
that is written nowhere else, or the whole object. What they raise (Misfit) passes through.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..interpreter import share
from ..interpreter.choosing import elsewhere
from ..interpreter.limits import pattern_of
from ..language import picture as pic
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture
from ..language.shape import Case, Shape, frame_case
from . import modules
from .code import NAME, Code, Text
from .lists import Listing
from .places import Address, alone
from .runtime import WRITING
from .telling import Telling, asked_by, field_of, needed, word_of

if TYPE_CHECKING:
    from ..language.events import Event


class Writes:
    """The functions that write one dialect: abroad, or `home` where it was read from itself."""

    def __init__(self, dialect: Dialect, home: bool) -> None:
        self.dialect, self.home = dialect, home
        title = f"writing {dialect.name}{' at home' if home else ''}"
        brought = modules.brought(dialect, f"write_{'home' if home else 'away'}")
        self.code = Code(dialect, title, WRITING, self._made, brought)
        self.telling = Telling(dialect, home, self.code)
        self.listings: dict[tuple[Hole, ...], Listing] = {}
        self.patterns: dict[str, Any] = {}  # of limits

    # Functions are kept by what they are of: of the dialect alone, which holds it.

    @functools.cached_property
    def holes(self) -> frozenset[Hole]:
        """All holes of the dialect."""
        return frozenset(h for case in self.dialect.cases for h in pic.holes(case.wire))

    def case(self, shape: Shape, case: Case) -> str:
        """Return the name of the function that writes by a case."""
        words = "write", shape.name, case.name
        return self.code.function(("case", case), words, self._lines, shape, case, "case")

    def frame(self, event: Event, nth: int) -> str:
        """Return the name of the function that writes one of the frames of an event."""
        key = ("frame", event.name, nth)
        words = "frame", event.name
        return self.code.function(key, words, self._frame, event.writes[nth])

    def _frame(self, name: str, p: Picture) -> str:
        case = frame_case(p)
        shape = Shape("", None, [case], frozenset(), frozenset(), p.pos)
        return self._lines(name, shape, case, "frame")

    def message(self, case: Case) -> str | None:
        """Return the name of the function that writes a message by its case; None if none does."""
        if not isinstance(case.wire, Fields) or "parts" not in case.lists:
            return None
        return self.code.stubs.get(("case", case)) or self.case(alone(case), case)

    def _lines(self, name: str, shape: Shape, case: Case, way: str) -> str:
        from .caselines import CaseLines  # what writes functions is mostly not needed

        return CaseLines(self, name, shape, case, way).text()

    def one(self, shape: Shape) -> str:
        """Return the name of the function that writes by the first case of a shape that fits."""
        if len(shape.cases) == 1 and not shape.cases[0].home:
            return self.case(shape, shape.cases[0])
        return self.code.function(("one", shape), ("one", shape.name), self._one, shape)

    def _one(self, name: str, shape: Shape) -> str:
        """Write the trial of the cases of a shape, the one that loses least taken."""
        t = Text(self.code, f"def {name}(x, o):")
        cases = [case for case in shape.cases if not case.home]
        shape_name = self.code.value(shape, "S")
        t("m, n, b, g = x.marks()")
        if self.home:
            t(f"mem = memory_of(o, {NAME})")
            anew = f"write_anew(x, {shape_name}, o, m, n, b, g)"
            t(f"if mem and 'case' in mem.get('', EMPTY): return {anew}")
        t("poor = None  # what another case may have a place for")
        for case in cases:
            with t.where(word_of(case) or ("" if self.home else field_of(case, cases))):
                with t.trial("w = NO"):
                    t(f"w = {self.case(shape, case)}(x, o)")
                with t.under("if w is not NO:"):
                    ask = self.telling.ask(shape, case)
                    if ask:
                        ask = f"({ask})" if " or " in ask else ask
                        ask = "" if ask == "True" else f"{ask} and "
                        t(f"if {ask}not reads_back(x, {shape_name}, w, o):")
                        t(f"    return write_anew(x, {shape_name}, o, m, n, b, g)")
                    if case is cases[-1]:
                        t("if poor is None: return w")
                    else:
                        better = self.code.value(elsewhere(self.dialect, shape, case), "P")
                        t("if len(x.notes) == m: return w")
                        t(f"if poor is None and not any_there(o, {better}): return w")
                    t("if not (lost := loss(x, m)): return w")
                    t("poor = less_lossy(x, poor, lost, w, m, n, b, g)")
                t("x.roll_back(m, n, b, g)")
        t("return NO if poor is None else take(x, o, poor)")
        return str(t)

    def choice(self, shape: Shape) -> str:
        """Return the name of the function that tells which case of a shape writes an object."""
        return self.code.function(("choice", shape), ("choice", shape.name), self._choice, shape)

    def _choice(self, name: str, shape: Shape) -> str:
        t = Text(self.code, f"def {name}(x, o, read, first):")
        shape_name = self.code.value(shape, "S")
        t("m, n, b, g = x.marks()")
        for case in sorted(shape.cases, key=lambda one: one.home):
            known = self.code.value(case, "C")
            if not case.rivals and not case.home:
                t(f"if read is {known}: return {known}")  # none before it does
            with t.trial("w = NO"):
                t(f"w = {self.case(shape, case)}(x, o)")
            ask = self.telling.ask(shape, case)
            if ask:
                ask = "" if ask == "True" else f"not ({ask}) or "
                ask = f" and (first or {ask}reads_back(x, {shape_name}, w, o))"
            t(f"found = w is not NO{ask}")
            t("x.roll_back(m, n, b, g)")
            t(f"if found: return {known}")
        t("return None")
        return str(t)

    def any(self, name: str) -> str:
        """Return the name of the function that writes by a shape or any member of a union."""
        return self.code.function(("any", name), ("any", name), self._any, name)

    def _any(self, fn: str, name: str) -> str:
        t = Text(self.code, f"def {fn}(x, o):")
        t("if o.__class__ is not dict: return NO")
        t("m = len(x.notes)")
        for shape in self.dialect.members(name):
            if shape.marks and shape.name != name:
                continue
            with t.trial():
                t(f"w = {self.one(shape)}(x, o)")
                t("if w is not NO: return w")
            t("del x.notes[m:]")
        t("return NO")
        return str(t)

    def parts(self, name: str) -> str:
        """Return the name of the function that writes a shape of an object's own fields."""
        return self.code.function(("parts", name), ("parts", name), self._parts, name)

    def _parts(self, fn: str, name: str) -> str:
        t = Text(self.code, f"def {fn}(x, o, marked, into):")
        t("m = len(x.notes)")
        for shape, case in sorted(self.dialect.cases_of(name), key=lambda pair: pair[1].home):
            with t.where(word_of(case)):
                with t.trial():
                    t(f"w, took = {self.part(shape, case)}(x, o)")
                    marked = "(marked and x.same)" if case.tests else "marked"
                    with t.under(
                        f"if w is not NO and (took or not ({marked} or w is ABSENT or w == {{}})):"
                    ):
                        if case.note is not None and not self.home:
                            t(f"note_part_case(x, {self.code.value(case, 'C')}, o, w, took, into)")
                        t("if x.field_notes: x.place_field_notes(w, took, into)")
                        if isinstance(case.wire, Hole) and not self.home:
                            t("if len(x.notes) > m: place_word_notes(x, m, w, into)")
                        t("return w, took")
                t("del x.notes[m:]")
        t("return NO, ()")
        return str(t)

    def heads(self, name: str) -> frozenset[str]:
        """Return the fields of an object of which a shape takes one, or of which parts of one."""
        return self.dialect.fields_of(case for _, case in self.dialect.cases_of(name))

    def asks(self, name: str) -> bool:
        """Say whether a shape writes nothing where none of its fields is there; not so at home."""
        asked = [fields for shape in self.dialect.members(name) for _, fields in needed(shape)]
        return not self.home and all(asked)

    def may_be_absent(self, name: str) -> bool:
        """Say whether a case of a shape is written as nothing at all."""
        wires = (case.wire for _, case in self.dialect.cases_of(name))
        return any(isinstance(wire, Literal) and ABSENT in wire.values for wire in wires)

    def part(self, shape: Shape, case: Case) -> str:
        """Return the name of the function that writes some fields of an object by a case."""
        words = "part", case.shape, case.name
        return self.code.function(("part", case), words, self._lines, shape, case, "part")

    def listing(self, holes: Sequence[Hole]) -> Listing:
        """Return what is known of the holes that share a list."""
        key = tuple(holes)
        if key not in self.listings:
            kinds: dict[Any, tuple[int, tuple[Any, ...]]] = {}
            lone, usual = set(), share.default_kind(holes[0])
            for number, hole in enumerate(holes):
                # What a dated hole has read says so; nothing else is written there.
                for kind in () if hole.only_read else self._kinds(hole.named, usual):
                    if share.only_read(self.dialect, list(holes), hole, kind):
                        continue  # of what remembers that it stood here the walk knows
                    shapes = share.members(self.dialect, hole.named, kind, self.home)
                    if not shapes:
                        continue
                    ways = tuple(map(self._way, shapes))
                    if kind not in kinds and self.telling.wordy(hole, kind, shapes):
                        lone.add(kind)
                    kinds.setdefault(kind, (number, ways))
            names = self.code.names
            self.listings[key] = Listing(self.dialect, names, holes, kinds, frozenset(lone))
        return self.listings[key]

    def dealing(self, holes: Sequence[Hole]) -> Listing | None:
        """Return what is known of holes that functions write; None where one is of another kind."""
        found = self.listings.get(tuple(holes))
        if found is None and self.holes.issuperset(holes):
            return self.listing(holes)
        return found

    def _way(self, shape: Shape) -> tuple[Any, Any, frozenset[str], Any]:
        """Return what writes a part by a shape, with the fields and words that it asks for.

        The last is what each case needs, and says where that is not there; None of a run.
        """
        if shape.groups:
            return shape, (), frozenset(), None
        asked = asked_by(shape)
        return self.one(shape), asked, frozenset(field for field, _ in asked), needed(shape)

    def known_listing(self, holes: Sequence[Hole]) -> str:
        """Return the name of what is known of the holes that share a list."""
        found = [*map(self.code.places.address, holes)]
        at = None if None in found else ("listing", *found)  # the holes of frames have none
        return self.code.value(self.listing(holes), "L", at)

    def fits(self, kind: str) -> str:
        """Return the name of what tells whether a text is within a limit of a kind."""
        known = self.patterns.setdefault(kind, pattern_of(self.dialect.limits[kind]))
        return self.code.value(known, f"FITS_{kind}", ("limit", kind))

    def _made(self, address: Address) -> Any:
        """Return what a constant stands for that is none of the model."""
        if address[0] == "limit":
            return pattern_of(self.dialect.limits[address[1]])
        return self.listing([self.code.places.at(at) for at in address[1:]])

    def _kinds(self, name: str, usual: Any) -> set[Any]:
        """Return the types of elements that have a shape; one without a type is of the `usual`."""
        return {usual if kind is None else kind for kind in self.dialect.taken_by(name)}
