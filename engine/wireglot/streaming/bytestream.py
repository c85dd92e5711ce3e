"""A translator of bytes: they come cut anywhere, and go as whole events."""

from __future__ import annotations

from typing import Any, Protocol

from ..language.held import Held
from ..notes import Note
from ..results import Conversion
from . import framing
from .bytelane import Run, opened
from .lanes import Lanes


class Translating(Protocol):
    """A translator of frames; `streams.Translator` is one."""

    _source: Held
    _target: Held
    _home: bool
    _lanes: Lanes

    def feed(self, frame: Any) -> list[Any]: ...
    def finish(self) -> list[Any]: ...
    @property
    def result(self) -> Conversion: ...
    @property
    def notes(self) -> tuple[Note, ...]: ...


class Bytes:
    """A translator of bytes: `feed(bytes)` and `finish()` return bytes.

    Within one dialect the bytes come out as they went in.
    """

    def __init__(self, translator: Translating) -> None:
        source, target = translator._source.model.stream, translator._target.model.stream
        assert source is not None and target is not None
        self._translator, self._source, self._target = translator, source, target
        self._splitter = framing.Splitter(source)
        self._run: Run | None = None  # what takes events of the lane in front
        self._take: Any = None  # that lane

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; return those that they give rise to. Raises ConversionError."""
        made = self._short(data)
        return self._apart(data) if made is None else made

    def finish(self) -> bytes:
        """Return the bytes that are left; nothing more comes. Raises PolicyError."""
        made = self._through(self._splitter.finish(), b"")
        return made + framing.written(self._translator.finish(), self._target)

    def _short(self, data: bytes) -> bytes | None:
        """Take an event like the one before without parsing it; None where it is another."""
        lanes = self._translator._lanes
        if self._run is None or self._take is not lanes.take or not self._splitter.idle():
            return None
        made = self._run(data)
        if made is not None:
            self._splitter.count += 1
        return made

    def _apart(self, data: bytes) -> bytes:
        """Take bytes event by event."""
        end = b"\n"
        if self._source.framing == "sse":
            end = b"\r\n\r\n" if b"\r" in data else b"\n\n"
        made: list[bytes] = []
        start, size = 0, len(data)
        while start < size:
            stop = data.find(end, start) + len(end)
            stop = stop if stop >= len(end) else size
            one = data[start:stop]
            new = self._short(one) if start or stop < size else None
            made.append(self._parsed(one) if new is None else new)
            start = stop
        return b"".join(made)

    def _parsed(self, data: bytes) -> bytes:
        """Take bytes of one event at most."""
        whole = self._splitter.idle()
        frames = self._splitter.feed(data)
        made = self._through(frames, data)
        lane = self._translator._lanes.front
        if lane is not None and lane.take is not self._take and len(frames) == 1:
            if whole and self._splitter.idle() and lane.fits(frames[0]):
                self._run = opened(data, frames[0], lane, self._source, self._target)
                self._take = lane.take
        return made

    def _through(self, frames: list[Any], data: bytes) -> bytes:
        made = [new for frame in frames for new in self._translator.feed(frame)]
        return data if self._translator._home else framing.written(made, self._target)

    @property
    def result(self) -> Conversion:
        """The whole response in the target, as far as it came."""
        return self._translator.result

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was not carried exactly, as far as it is known."""
        return self._translator.notes
