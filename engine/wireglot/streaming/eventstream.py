"""Binary event streams, as `application/vnd.amazon.eventstream` sends them, and frames of JSON.

A frame is an object with one key, the name of its event: what a dialect with `framing: lines`
reads and writes, and what the client of the provider gives. This codec stands beside the engine,
for who has the bytes of a response or must send some. Reading goes through botocore, which an
extra of the package brings, and which checks lengths and sums.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import ConversionError

TYPE = "application/vnd.amazon.eventstream"  # of a body
FAILED = "Exception"  # names of events that say what went wrong end so
_TEXT = 7  # the type of a header that is a text


class Decoder:
    """The frames of one body, as its bytes come."""

    def __init__(self) -> None:
        """Begin. Raises ModuleNotFoundError without botocore."""
        from botocore.eventstream import EventStreamBuffer, ParserError

        self._buffer, self._wrong = EventStreamBuffer(), ParserError

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Return the frames that end in these bytes. Raises ConversionError for wrong ones."""
        self._buffer.add_data(data)
        try:
            return [_frame(event.headers, event.payload) for event in self._buffer]
        except (self._wrong, ValueError) as error:
            raise ConversionError(f"these bytes are no event: {error}") from error


def _frame(headers: Any, payload: bytes) -> dict[str, Any]:
    named = headers.get(":exception-type") or headers.get(":event-type")
    return {str(named): json.loads(payload or b"{}")}


def frames(chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the frames of a body, whose bytes may be cut anywhere.

    Raises ConversionError where bytes are wrong, and ModuleNotFoundError without botocore.
    """
    decoder = Decoder()
    for chunk in chunks:
        yield from decoder.feed(chunk)


def as_bytes(frame: dict[str, Any]) -> bytes:
    """Return the message of a frame, an object with one key. Raises ValueError for any other."""
    if len(frame) != 1:
        raise ValueError("a frame is an object with one key, the name of its event")
    ((name, data),) = frame.items()
    kind = "exception" if name.endswith(FAILED) else "event"
    said = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    headers = b"".join(map(_header, said, said.values()))
    payload = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    made = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return made + struct.pack(">I", zlib.crc32(made))


def _header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return struct.pack(">B", len(key)) + key + struct.pack(">BH", _TEXT, len(text)) + text
