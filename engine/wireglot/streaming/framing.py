"""Framing: bytes into the frames of a stream, and frames into bytes; both may be cut anywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ..errors import ConversionError
from ..language.events import Stream

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
BOM = b"\xef\xbb\xbf"
# Ends of lines to many clients, which take a body apart by Unicode's; JSON may escape all.
_ENDS = re.compile("[\x85\u2028\u2029]")


class Splitter:
    """Takes the bytes of a stream apart, as they come."""

    def __init__(self, stream: Stream) -> None:
        self._sse = stream.framing == "sse"
        self._held: list[bytes] = []  # a line that is not whole yet
        self._data: list[str] = []
        self._bare = False  # whether these lines are a body that is no event
        self._begun = False
        self.count = 0  # frames so far

    def feed(self, data: bytes) -> Iterator[Any]:
        """Yield the frames that are whole with these bytes. Raises ConversionError."""
        self._held.append(data)
        if self._begun and b"\n" not in data and b"\r" not in data:
            return
        held = b"".join(self._held)
        if not self._begun:
            if BOM.startswith(held):
                return
            held, self._begun = held.removeprefix(BOM), True
        lines = held.splitlines(keepends=True)
        # The end of the last line may be only the first half of one.
        self._held = [] if lines[-1].endswith(b"\n") else [lines.pop()]
        for line in lines:
            yield from self._line(line.rstrip(b"\r\n"))

    def finish(self) -> list[Any]:
        """Return the frame that the stream ends with, if nothing closed it."""
        rest, self._held = b"".join(self._held).removeprefix(BOM).rstrip(b"\r\n"), []
        found = self._line(rest) if rest else []
        return found + self._closed()

    def _line(self, line: bytes) -> list[Any]:
        if not line:
            return self._closed()
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise ConversionError(f"frame {self.count} is no UTF-8 text") from None
        if not self._sse:
            self._data.append(text)
            return self._closed()
        name, _, value = text.partition(":")
        if self._bare or text[0] in "{[":  # an error may come so, and who streams none answers so
            self._bare = self._bare or not self._data
            self._data.append(text)
        elif name == "data":
            self._data.append(value.removeprefix(" "))
        return []

    def _closed(self) -> list[Any]:
        if not self._data:
            return []
        text, bare, self._data, self._bare = "\n".join(self._data), self._bare, [], False
        if not text.strip():
            return []
        self.count += 1
        try:
            found = json.loads(text)
            return found if bare and isinstance(found, list) else [found]
        except RecursionError:
            raise ConversionError(f"frame {self.count - 1} is nested too deep") from None
        except ValueError:
            if text.lstrip()[:1] in '{"' or not self._sse:
                told = f"frame {self.count - 1} is no JSON: {text[:40]!r}"
                raise ConversionError(told) from None
            return [text]  # the mark of an end


def read(data: bytes, stream: Stream) -> list[Any]:
    """Return the frames of a stream that is whole."""
    splitter = Splitter(stream)
    frames = list(splitter.feed(data))  # before the end is asked for
    return frames + splitter.finish()


def written(frames: list[Any], stream: Stream) -> bytes:
    """Return frames as bytes."""
    made = []
    for frame in frames:
        text = frame if isinstance(frame, str) else _encode(frame)
        if stream.framing == "sse":
            name = frame.get(stream.named) if stream.named and isinstance(frame, dict) else None
            head = f"event: {name}\n" if isinstance(name, str) else ""
            made.append(f"{head}data: {text}\n\n")
        else:
            made.append(f"{text}\n")
    return _ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", "".join(made)).encode()
