"""A whole response told as the frames of a stream, the frames as a whole response, or as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..conversion import reading
from ..conversion.hands import Writer
from ..errors import UsageError, foreseen
from ..ir import IR, owned
from ..language.held import Held, HeldSet
from ..language.model import Dialect
from ..notes import Note
from ..payload import check_frames, check_notes
from ..results import finished
from ..trail import At, Trail
from . import streams
from .fold import Fold
from .hearing import Listener
from .incoming import Candidate, Part
from .outcome import Outcome
from .unfold import Unfold


def frames(rules: HeldSet, response: Any, dialect: Any, notes: Any = None) -> Iterator[Any]:
    """Yield the frames of a response in its own dialect; `notes` are told what none can hold."""
    check_notes(notes)
    found = rules.at(dialect, rules[dialect].model_in(response, "response"), {})
    if found.model.stream is None:
        raise UsageError(f"{dialect} has no picture of a stream")
    with foreseen(found.model.pos):
        read = reading.read(found, response, "response", None, None, {})
        yield from unfolded(found, read.ir, True, read.made, notes, read.trail)


def unfolded(
    rules: Held,
    ir: IR,
    same: bool,
    made: set[int],
    notes: list[Note] | None = None,
    trail: Trail | None = None,
) -> Iterator[Any]:
    """Yield the frames of a response of the IR.

    `same` tells that it was read in this dialect, `made` are the parts whose ids were made then,
    and `notes` are told what no frame can hold, or says otherwise, `trail` whence that is.
    """
    writer = Writer(rules.model, same, trail or Trail(), {}, rules.ladder)
    writer.made, writer.anew = made, True
    unfold = Unfold(writer)
    told = WholeOutcome(rules.model, ir, writer.trail)
    unfold.begun(told)
    yield from unfold.frames.take()
    for part in told.parts():
        unfold.opened(part)
        unfold.closed(part)
        yield from unfold.frames.take()
    unfold.end(told, False)
    if notes is not None:
        found = finished([*unfold.notes, *writer.notes], None)
        notes += [note for note in found if note.effect not in ("added", "kept")]
    yield from unfold.frames.take()


def collect(rules: HeldSet, frames: Any, dialect: Any, notes: Any = None) -> Any:
    """Return the response that the frames of a dialect make; `notes` are told what it lacks."""
    check_notes(notes)
    check_frames(frames)
    made = streams.translator(rules, dialect, dialect)
    for frame in frames:
        made.feed(frame)
    made.finish()
    if notes is not None:
        notes += made.notes
    return made.result.body


class WholeOutcome(Outcome):
    """The outcome that a whole response is."""

    def __init__(self, dialect: Dialect, ir: IR, trail: Trail) -> None:
        super().__init__(dialect)
        self._trail = trail
        self._ir = self.whole_ir = self.first_frame = ir
        self.response = {k: v for k, v in ir.items() if k not in ("candidates", "usage")}

    def parts(self) -> Iterator[Part]:
        """Yield the parts, each whole."""
        for nth, one in enumerate(self._ir.get("candidates", ())):
            owner = self.candidate(nth)
            for ir in one.get("parts", ()):
                part = Part(str(ir.get("type")), "", nth, len(owner.parts))
                part.fields, part.whole, part.open = ir, True, False
                part.at = self._trail.find(ir) or ()
                owner.parts.append(part)
                yield part

    def place_of(self, path: str, owner: Candidate | None = None) -> At:
        """Return the place of a field of the response or an answer as it was told."""
        found = self._ir if owner is None else self.original(owner)
        return self._trail.find(found, owned(path, self.dialect.family)) or ()

    def original(self, owner: Candidate) -> IR | None:
        """Return the candidate as it was told."""
        if owner not in self.candidates:
            return None
        found: IR = self._ir["candidates"][self.candidates.index(owner)]
        return found


class TextStream(Listener):
    """The text of a stream, piece by piece; the rest is there when it is through."""

    def __init__(self, rules: HeldSet, frames: Iterable[Any], dialect: str) -> None:
        check_frames(frames)
        self._rules, self._frames = rules[dialect], frames
        self._pieces: list[str] = []
        self._fold = Fold(self._rules.model, self)
        self._ir: IR | None = None

    def __iter__(self) -> Iterator[str]:
        for frame in self._frames:
            self._fold.feed(frame)
            yield from self._taken()
        self._fold.close()
        yield from self._taken()
        self._ir = streams.Collected(self._rules, self._fold, {}).read().ir

    def _taken(self) -> list[str]:
        pieces, self._pieces = self._pieces, []
        return pieces

    @property
    def response(self) -> IR:
        """The whole response, as the IR has it."""
        if self._ir is None:
            raise UsageError("this is known when the text has been iterated to its end")
        return self._ir

    @property
    def tool_calls(self) -> list[IR]:
        """The calls of the first candidate, as the IR has them."""
        found = self.response["candidates"][:1]
        return [p for one in found for p in one["parts"] if p.get("type") == "tool_call"]

    @property
    def usage(self) -> IR | None:
        """The token counts, as the IR has them."""
        return self.response.get("usage")

    @property
    def stop_reason(self) -> str | None:
        """Why the first candidate stopped, in a word of the IR."""
        return next((one.get("stop_reason") for one in self.response["candidates"]), None)

    @property
    def error(self) -> IR | None:
        """The error that came within the stream."""
        return self._fold.error

    # -- what the fold tells ----------------------------------------------------------------------

    def opened(self, part: Part) -> None:
        """Hear of a part; one that is whole already has its text."""
        text = part.fields.get("text")
        if part.whole and part.kind == "text" and part.candidate == 0 and text:
            self._pieces.append(text)

    def grown(self, part: Part, piece: str) -> None:
        """Hear a piece of a part."""
        if part.kind == "text" and part.candidate == 0:
            self._pieces.append(piece)
