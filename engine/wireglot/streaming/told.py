"""A whole response told as the frames of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import Foreseen, UsageError
from ..interpreter import reading
from ..interpreter.hands import Writer
from ..language.model import Dialect
from ..notes import Note
from ..results import all_notes
from ..trail import Trail
from .incoming import Candidate, Part
from .outcome import Outcome
from .unfold import Unfold

if TYPE_CHECKING:
    from ..language.held import Held, HeldSet


def frames(
    rules: HeldSet, response: Any, dialect: str, unplaced: list[Note] | None = None
) -> Iterator[Any]:
    """Yield the frames of a response in its own dialect; `unplaced` is told what none can hold."""
    found = rules.at(dialect, rules[dialect].model_in(response, "response"), {})
    if found.model.stream is None:
        raise UsageError(f"{dialect} has no picture of a stream")
    with Foreseen(found.model.pos):
        read = reading.read(found, response, "response", None, None, {})
        yield from unfolded(found, read.ir, True, read.made, unplaced)


def unfolded(
    rules: Held,
    ir: dict[str, Any],
    same: bool,
    made: set[int],
    unplaced: list[Note] | None = None,
) -> Iterator[Any]:
    """Yield the frames of a response of the IR.

    `same` tells that it was read in this dialect, `made` are the parts whose ids were made then,
    and `unplaced` is told what no frame can hold, or says otherwise.
    """
    writer = Writer(rules.model, same, Trail(), {}, rules.ladder)
    writer.made, writer.anew = made, True
    unfold = Unfold(writer)
    told = Told(rules.model, ir)
    unfold.begun(told)
    yield from unfold.frames.take()
    for part in told.parts():
        unfold.opened(part)
        unfold.closed(part)
        yield from unfold.frames.take()
    unfold.end(told, False)
    if unplaced is not None:
        notes = all_notes(unfold.notes, writer.notes, None, False)
        unplaced += [note for note in notes if note.effect in ("lost", "changed", "moved")]
    yield from unfold.frames.take()


class Told(Outcome):
    """The outcome that a whole response is."""

    def __init__(self, dialect: Dialect, ir: dict[str, Any]) -> None:
        super().__init__(dialect)
        self._ir = self.first = ir
        self.response = {k: v for k, v in ir.items() if k not in ("candidates", "usage")}

    def parts(self) -> Iterator[Part]:
        """Yield the parts, each whole."""
        for nth, one in enumerate(self._ir.get("candidates", ())):
            owner = self.of(nth)
            for ir in one.get("parts", ()):
                part = Part(str(ir.get("type")), "", nth, len(owner.parts))
                part.said, part.whole, part.open = ir, True, False
                owner.parts.append(part)
                yield part

    def stop(self, owner: Candidate) -> dict[str, Any]:
        """Return why a candidate stopped, and what else is said of it."""
        if owner not in self.candidates:
            return {}
        one = self._ir["candidates"][self.candidates.index(owner)]
        return {k: v for k, v in one.items() if k not in ("parts", "spelled", "kept")}

    def one(self, owner: Candidate) -> dict[str, Any] | None:
        """Return the candidate as it was told."""
        if owner not in self.candidates:
            return None
        found: dict[str, Any] = self._ir["candidates"][self.candidates.index(owner)]
        return found

    def counts(self) -> dict[str, Any] | None:
        """Return the token counts."""
        return self._ir.get("usage")
