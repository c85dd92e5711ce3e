"""Frames of a stream as they are written: the pictures of an event, filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..interpreter.hands import Writer
from ..interpreter.sight import View
from ..language.events import Event
from ..language.lenses import Misfit
from ..language.model import Case
from ..language.picture import ABSENT
from .incoming import Part

if TYPE_CHECKING:
    from .outcome import Outcome

MARK, NUMBER = "\0piece\0", "\0number\0"
_PLAIN = (str, int, float, bool, type(None))


class Place:
    """Where a frame belongs: the candidate, and the part by its numbers."""

    __slots__ = ("candidate", "entry", "index", "inner", "item", "nth")

    def __init__(self, candidate: int = 0, index: int = 0, nth: int = 0) -> None:
        self.candidate, self.index, self.nth = candidate, index, nth
        self.item = self.inner = self.entry = 0


class Frames:
    """The frames that are written for a stream."""

    def __init__(self, writer: Writer, numbered: bool) -> None:
        assert writer.dialect.stream is not None
        self.writer, self.stream = writer, writer.dialect.stream
        self.family = writer.dialect.family
        self.head: dict[str, Any] = {}  # fields of the response
        self.outcome: Outcome | None = None
        self.made: dict[str, Any] = {}  # fields of it that were made here
        self.whole: dict[str, Any] = {}  # the others, when it is over
        self.count = 0
        self._made: list[Any] = []
        self.recent: list[Any] = []  # those of the last event
        self._case = Case("", "", self.stream.events[0].writes[0], None, {}, None, self.stream.pos)
        self._numbered = numbered  # whether frames have numbers

    def take(self) -> list[Any]:
        """Return the frames that were written since the last time."""
        made, self._made = self._made, []
        return made

    def add(self, frame: Any) -> None:
        """Take a frame that stands by itself."""
        self._made.append(frame)
        self.count += 1

    def put(self, event: Event, said: dict[str, Any], place: Place | None = None) -> None:
        """Write the frames of an event; raises Misfit where it lacks what it must say."""
        made = self._written(event, said, place or Place())
        self._made += made
        self.recent = made
        self.count += len(made)

    def write(self, event: Event, said: dict[str, Any], place: Place | None = None) -> bool:
        """Write the frames of an event; one that lacks what it must say is not written."""
        try:
            self.put(event, said, place)
        except Misfit:
            return False
        return True

    def template(self, event: Event, said: dict[str, Any], place: Place) -> list[Any]:
        """Return the frames of an event with a place for its piece."""
        try:
            number = NUMBER if self._numbered else None
            return self._written(event, {**said, "piece": MARK}, place, number)
        except Misfit:
            return []

    def fill(self, template: list[Any], piece: str) -> None:
        """Write the frames of a template with a piece in its place."""
        for frame in template:
            made = _filled(frame, piece)
            if self._numbered:
                made = _numbered(made, self.count)
            self._made.append(made)
            self.count += 1

    def _written(
        self, event: Event, said: dict[str, Any], place: Place, number: str | None = None
    ) -> list[Any]:
        writer = self.writer
        writer.nth = place.nth
        mark = len(writer.notes)
        at: dict[str, Any] = {name: getattr(place, name) for name in Place.__slots__}
        obj = {**said, "response": self._response(event), "at": at}
        made: list[Any] = []
        for picture in event.writes:
            at["frame"] = self.count + len(made) if number is None else number
            wire = writer.picture(picture, View(obj, "", self._case, writer), (), top=True)
            if wire is ABSENT:
                del writer.notes[mark:]
                raise Misfit("nothing is written", (), event.pos)
            made.append(wire)
        return made

    def _response(self, event: Event) -> dict[str, Any]:
        """Return what is said of the response; the fields of another family stay away."""
        own = self.head.get("own", {}).get(self.family, {})
        if "response" in event.holes:  # it stands there by a shape
            said = {**self.head, **self.made, **self.whole}
            said.pop("own", None)
            return {**said, "own": {self.family: own}} if own else said
        return {**self.head, **self.made, "own": own}


def _numbered(frame: Any, number: int) -> Any:
    """Put the number of a frame in its place; the frame is a copy."""
    for key, value in frame.items() if isinstance(frame, dict) else ():
        if value is NUMBER:
            frame[key] = number
        elif isinstance(value, dict):
            _numbered(value, number)
    return frame


def _filled(frame: Any, piece: str) -> Any:
    """Copy a frame with a piece in its place."""
    if frame.__class__ is dict:
        return {
            key: piece
            if value is MARK
            else value
            if value.__class__ in _PLAIN
            else _filled(value, piece)
            for key, value in frame.items()
        }
    if frame.__class__ is list:
        return [_filled(item, piece) for item in frame]
    return piece if frame is MARK else frame


class Rides(Protocol):
    """What rides in the frames of an exchange; `loop.streamride` has it."""

    rode: dict[str, str]

    def fills(self, part: Part) -> bool: ...
    def sealed(self, part: Part, ir: dict[str, Any]) -> dict[str, Any]: ...
    def begun(self, part: Part, ir: dict[str, Any], event: Event) -> None: ...
    def of_item(self, part: Part, ir: dict[str, Any]) -> tuple[str, Any] | None: ...
    def over(self, part: Part, ir: dict[str, Any], seen: bool) -> None: ...
    def left(self, candidate: int, event: Event) -> None: ...
    def waits(self, candidate: int) -> bool: ...
