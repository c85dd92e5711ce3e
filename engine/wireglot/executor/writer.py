"""The writer that runs generated functions, and walks pictures where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..interpreter.gathering import note_unsaid
from ..interpreter.views import Gathered
from ..interpreter.writer import PictureWriter
from ..language.lenses import Misfit
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole
from ..language.shape import Case, Shape
from ..native import mypyc_attr
from .lists import deal
from .readtime import NO
from .writes import Writes

if TYPE_CHECKING:
    from ..language.events import Event


def writes_of(dialect: Dialect, home: bool) -> Writes:
    """Return the functions that write a dialect, `home` where it was read from itself."""
    return dialect.once(("write", home), lambda: Writes(dialect, home))


@mypyc_attr(native_class=False)
class CodedWriter(PictureWriter):
    """Writes one IR value by generated functions."""

    def __init__(self, dialect: Dialect, same: bool, *given: Any) -> None:
        super().__init__(dialect, same, *given)
        self.writes = writes_of(dialect, same)

    @property
    def quick(self) -> bool:
        """Whether generated functions say all that is to be said."""
        if self.walks or self.mark_fields or self.recorder is not None:
            return False
        return not (self.same and self.repair)

    def _tried(self, name: str, value: Any) -> Any:
        """Return what a function writes; NO, and nothing told, where it takes the value not."""
        write = self.writes.code.names[name]
        marks = self.marks()
        try:
            found = write(self, value)
            if found is not NO:
                return found
        except Misfit as misfit:
            misfit.__traceback__ = None
        self.roll_back(*marks)
        return NO

    def shape(self, name: str, value: Any) -> Any:
        if value.__class__ is dict and self.quick:
            found = self._tried(self.writes.any(name), value)
            if found is not NO:
                return found
        return super().shape(name, value)

    def one(self, shape: Shape, value: Any) -> Any:
        if value.__class__ is dict and self.quick:
            found = self._tried(self.writes.one(shape), value)
            if found is not NO:
                return found
            before, self.refused = self.refused, value
            try:
                return super().one(shape, value)
            finally:
                self.refused = before
        return super().one(shape, value)

    def choice(
        self, shape: Shape, value: Any, read: Case | None, first: bool = False
    ) -> Case | None:
        if value.__class__ is not dict or not self.quick:
            return super().choice(shape, value, read, first)
        found: Case | None = self.writes.code.names[self.writes.choice(shape)](
            self, value, read, first
        )
        return found

    def case(self, shape: Shape, case: Case, value: Any) -> Any:
        coded = value.__class__ is dict and value is not self.refused
        if coded and (self.same or not case.home) and self.quick:
            found = self._tried(self.writes.case(shape, case), value)
            if found is not NO:
                return found
        return super().case(shape, case, value)

    def quick_request(self, case: Case, ir: dict[str, Any]) -> Any:
        if self.same or not self.quick or case.ir is not None:
            return ABSENT
        if ir.get("system") and "system" not in case.lists:
            return ABSENT  # what is lost of it came from several places
        wire = self._tried(self.writes.case(self.dialect.units["request"], case), ir)
        if wire is not NO:
            return wire
        self.line_messages = {}
        return ABSENT

    def quick_message(self, case: Case, message: dict[str, Any]) -> dict[str, Any] | None:
        name = self.writes.message(case)
        if name is None or not self.quick:
            return None
        marks = self.marks()
        mark, _, beside, gone = marks
        wire = self._tried(name, message)
        if isinstance(wire, dict):  # else it takes no such message
            silent = len(self.lost_parts) - gone
            if len(self.notes) > mark:
                silent += [note.code for note in self.notes[mark:]].count("empty-text")
            # Where nothing is left of it, the message itself may go.
            left = len(message["parts"]) - silent
            if not silent or (left > 0 and len(self.beside) == beside):
                return wire
        self.roll_back(*marks)
        return None

    def quick_fields(self, h: Hole, o: dict[str, Any], into: Any) -> Any:
        if self.same or not self.quick:
            return ABSENT
        write = self.writes.code.names[self.writes.parts(h.named)]
        wire, took = write(self, o, h.mark is not None, into)
        return None if wire is NO else (wire, took)

    def quick_run(self, run: Gathered, first: dict[str, Any]) -> Any:
        if self.same or not self.quick:
            return ABSENT
        self.run_wires = [wire for _, wire in run.wire]
        found = self._tried(self.writes.part(run.shape, run.case), first)
        if found is NO or found[0] is NO:
            return ABSENT
        wire, took = found
        note_unsaid(self, run, first, took)
        return wire

    def walked(self, shape: Shape, case: Case, value: Any) -> Any:
        """Write a value by walking the pictures of a case."""
        return super().case(shape, case, value)

    def share(
        self, holes: list[Hole], parts: list[Any], whole: bool = False
    ) -> dict[int, list[Any]]:
        listing = self.writes.dealing(holes) if self.quick else None
        if listing is None:
            return super().share(holes, parts, whole)
        return dict(zip(map(id, holes), deal(self, listing, parts, whole), strict=True))

    def frame(self, event: Event, nth: int, said: dict[str, Any]) -> Any:
        if self.quick and not self.same:
            marks = self.marks()
            # What it raises the walk would: something lacks, or fits nowhere.
            found = self.writes.code.names[self.writes.frame(event, nth)](self, said)
            if found is not NO:
                return found
            self.roll_back(*marks)
        return super().frame(event, nth, said)
