"""The text of a stream, piece by piece, for whoever wants nothing else until it is through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import UsageError
from ..ir import IR
from ..language.held import HeldSet
from ..payload import check_frames
from .fold import Fold
from .hearing import Listener
from .incoming import Part
from .streams import Collected


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
        self._ir = Collected(self._rules, self._fold, {}).read().ir

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
