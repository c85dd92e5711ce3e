"""Binary event streams: botocore reads what is written, and bytes may be cut anywhere."""

from __future__ import annotations

from typing import Any

import pytest

import wireglot
from wireglot.streaming import eventstream

FRAMES: list[dict[str, Any]] = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Zoë \U0001f600"}}},
    {"throttlingException": {"message": "Too many."}},
]
BODY = b"".join(map(eventstream.as_bytes, FRAMES))


@pytest.mark.parametrize("size", [1, 7, 64, len(BODY)])
def test_frames_come_back_wherever_the_bytes_are_cut(size: int) -> None:
    chunks = [BODY[at : at + size] for at in range(0, len(BODY), size)]
    assert list(eventstream.frames(chunks)) == FRAMES


def test_an_error_is_an_exception_on_the_wire() -> None:
    assert b":exception-type" in eventstream.as_bytes(FRAMES[2])
    assert b":event-type" in eventstream.as_bytes(FRAMES[0])


def test_wrong_bytes_and_wrong_frames_are_refused() -> None:
    with pytest.raises(wireglot.ConversionError, match="these bytes are no event"):
        list(eventstream.frames([BODY[:-1] + b"x"]))
    with pytest.raises(ValueError, match="a frame is an object with one key"):
        eventstream.as_bytes({})
