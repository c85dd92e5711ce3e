"""Frames of a stream as they are written: the pictures of an event, filled in, and their parts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..conversion.hands import Writer
from ..interpreter import making
from ..interpreter.leftover import leftover
from ..interpreter.views import View
from ..ir import IR, owned, put_at
from ..language import picture as pic
from ..language.events import Event
from ..language.lenses import Misfit
from ..language.picture import Hole
from ..language.shape import frame_case
from ..trail import everywhere, value_at
from .incoming import Part, merged
from .outcome import Outcome
from .outlook import EventPair

Fill = Callable[[str], list[Any]]  # makes the frames of a piece
MARK, NUMBER = "\0piece\0", "\0number\0"


class Place:
    """Where a frame belongs, as `$at.NAME` says: the candidate, the part by its numbers."""

    def __init__(self, candidate: int = 0) -> None:
        self.candidate = candidate
        self.index = self.nth = self.item = self.inner = self.entry = 0

    def fields(self) -> dict[str, Any]:
        """Return what can be asked of it, by name."""
        return {
            "candidate": self.candidate, "index": self.index, "nth": self.nth,
            "item": self.item, "inner": self.inner, "entry": self.entry,
        }  # fmt: skip


class Outgoing:
    """A part on its way out: where its frames belong, and how much of it is written."""

    def __init__(self, part: Part) -> None:
        self.part, self.place = part, Place(part.candidate)
        self.flow: EventPair | None = None
        self.begun = self.closed = False
        self.sent = 0  # pieces that are written
        self.has_text = False  # whether some text was written
        self.separator = ""  # what stands before its first piece
        self.fits = False  # whether a whole response holds it, come as it may
        self.fill: Fill | None = None  # what makes its next frames
        self.extra: IR = {}  # what its item says, and ids that were made for it
        self.rider: Any = None  # what rides beside it at the end of its item


class Growing(NamedTuple):
    """What becomes of each further piece of a part, where it is the same for all of them.

    Attributes:
        out: What the piece goes to; None: its frame goes out as it came.
        fill: Makes the frames of the piece; None: it waits.
        takes: Tells which pieces go so; None: all do.
    """

    out: Outgoing | None
    fill: Fill | None
    takes: Callable[[str], bool] | None


class Frames:
    """The frames that are written for a stream."""

    def __init__(self, writer: Writer, numbered: bool) -> None:
        self.writer, self.stream = writer, writer.dialect.streamed
        self.family = writer.dialect.family
        self.head: IR = {}  # fields of the response
        self.outcome: Outcome | None = None
        self.added: IR = {}  # fields of it that were made here
        self.whole_fields: IR = {}  # the others, when it is over
        self.count = 0
        self._written: list[Any] = []
        self._ids: dict[str, int] = {}  # how many were made, by their forms
        self._beside: dict[int, tuple[str, IR]] = {}  # the part before, and its ids
        self.recent: list[Any] = []  # those of the last event
        self._numbered = numbered  # whether frames have numbers

    def give_ids(
        self, of: int, kind: str, said: IR, event: Event | None, shared: bool
    ) -> tuple[IR, IR]:
        """Make the ids that all frames of a part say; return what it says, and fields with these.

        `shared` says that neighbours of its kind stand in one element: what does not tell them
        apart is the same in both.
        """
        holes = [h for p in (event.writes if event is not None else ()) for h in pic.holes(p)]
        names = [h.path for h in holes if is_made(h)]
        before, known = self._beside.get(of, ("", {}))
        first = said
        if shared and before == kind and known and event and event.addresses.isdisjoint(names):
            first = merged(dict(said), {"own": {self.family: known}})
        made = self.with_made_ids(first, holes)
        more = {k: v for k, v in made.items() if k in ("own", "id") and v != said.get(k)}
        own = made.get("own", {}).get(self.family, {})
        self._beside[of] = kind, {k: v for k, v in own.items() if f"own.{k}" in names}
        return made, more

    def with_made_ids(self, said: IR, holes: Iterable[Hole]) -> IR:
        """Make the ids that nobody has said, of what begins: its content is to come."""
        made = dict(said)
        for hole in holes if not self.writer.same else ():
            keys = owned(hole.path, self.family).split(".")
            if is_made(hole) and not value_at(made, keys):
                assert self.outcome is not None
                form, nth = str(hole.value), self._ids.get(str(hole.value), 0)
                put_at(made, keys, making.answer_id(form, self.outcome.seed, form, str(nth)))
                self._ids[form] = nth + 1
        return made

    def take(self) -> list[Any]:
        """Return the frames that were written since the last time."""
        made, self._written = self._written, []
        return made

    def add(self, made: list[Any]) -> None:
        """Take frames that are written."""
        self._written += made
        self.recent = made
        self.count += len(made)

    def put_error(self, event: Event, said: IR) -> None:
        """Write the frames of an event that say an error; note what they leave out of it.

        Raises Misfit where the error lacks what they must say.
        """
        self.add(self._made_of(event, said, Place()))
        writer, mark = self.writer, len(self.writer.notes)
        obj = self._event_ir(event, said, {"frame": self.count})
        view = View(obj, "error", frame_case(event.writes[0]), writer)
        for p in event.writes:
            writer.picture(p, view, (), top=True)  # it tells what was taken
        del writer.notes[mark:]
        view.claims |= {"at", "response"}
        leftover(writer, view, self.recent)

    def write(self, event: Event, said: IR, place: Place | None = None) -> bool:
        """Write the frames of an event; one that lacks what it must say is not written."""
        try:
            self.add(self._made_of(event, said, place or Place()))
        except Misfit:
            return False
        return True

    def prepare(self, event: Event, said: IR, place: Place) -> Fill | None:
        """Return what makes the frame of an event for any piece, if that can be known."""
        try:
            number = NUMBER if self._numbered else None
            made = self._made_of(event, {**said, "piece": MARK}, place, number)
        except Misfit:
            return None
        return _piece_filler(self, made[0]) if len(made) == 1 else None

    def write_piece(self, ready: Fill, piece: str) -> None:
        """Write the frame that is ready for a piece."""
        self._written += ready(piece)

    def _made_of(
        self, event: Event, said: IR, place: Place, number: str | None = None
    ) -> list[Any]:
        writer = self.writer
        writer.nth = place.nth
        at = place.fields()
        obj = self._event_ir(event, said, at)
        made: list[Any] = []
        for nth in range(len(event.writes)):
            at["frame"] = self.count + len(made) if number is None else number
            made.append(writer.frame(event, nth, obj))
        return made

    def _event_ir(self, event: Event, said: IR, at: dict[str, Any]) -> IR:
        obj = {**said, "at": at}
        if "response" in event.heads:
            obj["response"] = self._response_ir(event)
        return obj

    def _response_ir(self, event: Event) -> IR:
        """Return what is said of the response; the fields of another family stay away."""
        said, made = (one.get("own", {}).get(self.family, {}) for one in (self.head, self.added))
        own = {**said, **made}
        if "response" in event.holes:  # it stands there by a shape
            said = {**self.head, **self.added, **self.whole_fields}
            said.pop("own", None)
            return {**said, "own": {self.family: own}} if own else said
        return {**self.head, **self.added, "own": own}


def is_made(hole: Hole) -> bool:
    """Tell whether a hole makes a value of a form where nobody has said it."""
    return hole.mark == "made" and bool(hole.value)


def _piece_filler(frames: Frames, frame: Any) -> Fill | None:
    """Return what makes a frame anew, with a piece and its number in their places."""
    there = [(at, one) for at, one in everywhere(frame) if one is MARK or one is NUMBER]
    marked, numbered = ([at for at, one in there if one is mark] for mark in (MARK, NUMBER))
    if len(marked) != 1 or not marked[0]:
        return None
    [(*path, last)] = marked
    first, others = frame.copy, []
    steps: list[tuple[Any, Callable[[], Any]]] = []  # what stands around the piece
    for depth, key in enumerate([*path, last]):
        beside = frame.items() if frame.__class__ is dict else enumerate(frame)
        others += [
            (*path[:depth], k) for k, v in beside if k != key and v.__class__ in (dict, list)
        ]
        frame = frame[key]
        if depth < len(path):
            steps.append((key, frame.copy))

    def filled(piece: str) -> list[Any]:
        number = frames.count
        frames.count = number + 1
        made = owner = first()
        for key, copied in steps:
            owner[key] = inner = copied()
            owner = inner
        owner[last] = piece
        for at in others:
            owner = value_at(made, at[:-1])
            owner[at[-1]] = copy.deepcopy(owner[at[-1]])
        for at in numbered:
            value_at(made, at[:-1])[at[-1]] = number
        return [made]

    return filled


class Rides:
    """What rides in the frames of an exchange: here nothing does; in `loop.streamride` it does."""

    def __init__(self) -> None:
        self.rode: dict[str, str] = {}  # what rode, and under which key

    def ride_on_head(self, part: Part, ir: IR, event: Event) -> None: ...
    def part_over(self, part: Part, ir: IR, seen: bool) -> None: ...
    def ride_on_piece(self, candidate: int, event: Event) -> None: ...

    def signs(self, part: Part) -> bool:
        return False

    def with_signature(self, part: Part, ir: IR) -> IR:
        return ir

    def ride_of_item(self, part: Part, ir: IR) -> tuple[str, Any] | None:
        return None

    def has_left(self, candidate: int) -> bool:
        return False
