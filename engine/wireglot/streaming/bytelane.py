"""A lane of bytes: events whose bytes differ in nothing but the piece are not parsed as JSON.

What stands around the texts that may differ is compared as it is. So an event says all that the one
before it said, and the lane of its frame may take it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from ..errors import ConversionError
from ..language.events import Stream
from ..trail import At
from . import framing
from .lanes import Lane
from .outgoing import MARK, NUMBER

Run = Callable[[bytes], "bytes | None"]
Span = tuple[int, int]
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_OTHER = "\0another\0"
_encode = json.encoder.encode_basestring
_scan: Any = vars(json.decoder)["scanstring"]


def opened(data: bytes, frame: Any, lane: Lane, source: Stream, target: Stream) -> Run | None:
    """Return what takes events like this one, whose frame a lane takes; None where nothing may."""
    free = lane.flow.free
    if "usage" in free.values() or "number" in free.values():
        return None  # they are others in every event
    text = data.decode()
    spans: list[tuple[Span, bool]] = []
    for at, what in free.items():
        if _look(frame, at).__class__ is str:
            span = _span(text, frame, at, source)
            if span is None:
                return None
            spans.append((span, what == "piece"))
    written = None
    if lane.template is not None:
        whole = framing.written(lane.template, target).decode()
        written = whole.split(_encode(MARK))
        if len(written) != _marks(lane.template, MARK) + 1 or _marks(lane.template, NUMBER):
            return None
    spans.sort()
    # The quote that opens a text is the last sign of what stands before it.
    ends = [begin + 1 for (begin, _), _ in spans[1:]] + [len(text)]
    pairs = zip(spans, ends, strict=True)
    steps = [(piece, text[end:stop]) for ((_, end), piece), stop in pairs]
    return _run(text[: spans[0][0][0] + 1], steps, written, lane)


def _run(start: str, steps: list[tuple[bool, str]], written: list[str] | None, lane: Lane) -> Run:
    begin, after = len(start), [(piece, rest, len(rest)) for piece, rest in steps]
    grow, first = lane.part.pieces.append, lane.first or None

    def run(data: bytes) -> bytes | None:
        piece = ""
        try:
            text = data.decode()
            if not text.startswith(start):
                return None
            at = begin
            for mark, rest, size in after:
                value, at = _scan(text, at, True)
                if not value.isascii():
                    value.encode()
                if mark:
                    piece = value
                if not text.startswith(rest, at):
                    return None
                at += size
        except ValueError:
            return None
        if at != len(text) or not piece or (first is not None and piece.startswith(first)):
            return None
        grow(piece)
        return data if written is None else _encode(piece).join(written).encode()

    return run


def _look(frame: Any, at: At) -> Any:
    for step in at:
        frame = frame[step]
    return frame


def _span(text: str, frame: Any, at: At, source: Stream) -> Span | None:
    """Return where the text at a place of a frame stands in the event, quotes and all."""
    value = _look(frame, at)
    for found in _STRING.finditer(text):
        begin, end = found.span()
        try:
            if _scan(text, begin + 1, True)[0] != value:
                continue
            other = text[:begin] + _encode(_OTHER) + text[end:]
            frames = framing.Splitter(source).feed(other.encode())
            if len(frames) == 1 and _look(frames[0], at) == _OTHER:
                return begin, end
        except (ValueError, LookupError, TypeError, ConversionError):
            continue
    return None


def _marks(value: Any, mark: str) -> int:
    """Count the places of a mark."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return sum(_marks(item, mark) for item in inner)
    return value is mark
