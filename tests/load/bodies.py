"""What a client asks under load, and what a provider without latency answers."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
MODEL = "m"
WORDS = "read the file and see which test fails then mend the cause: für señor 天気 path".split()
PIECES = 150  # of the text of a stream


def _prose(rng: random.Random, size: int) -> str:
    text = ""
    while len(text) < size:
        text += rng.choice(WORDS) + " "
    return text[:size]


def _tool(rng: random.Random, number: int) -> Json:
    fields = {f"field_{n}": {"type": "string", "description": _prose(rng, 40)} for n in range(4)}
    schema = {"type": "object", "properties": fields, "required": ["field_0"]}
    return {"name": f"tool_{number}", "description": _prose(rng, 150), "input_schema": schema}


def _round(rng: random.Random) -> Iterator[Json]:
    name = f"toolu_{rng.getrandbits(64):016x}"
    given = {"field_0": _prose(rng, 40), "field_1": _prose(rng, 10)}
    call = {"type": "tool_use", "id": name, "name": f"tool_{rng.randrange(4)}", "input": given}
    yield {"role": "assistant", "content": [{"type": "text", "text": _prose(rng, 40)}, call]}
    result = {"type": "tool_result", "tool_use_id": name, "content": _prose(rng, 100)}
    yield {"role": "user", "content": [result]}


def request(rounds: int, stream: bool, seed: int) -> bytes:
    """Return what an agent sends after some rounds: 15 kB after 20 of them."""
    rng = random.Random(seed)
    messages: list[Json] = [{"role": "user", "content": _prose(rng, 200)}]
    for _ in range(rounds):
        messages += _round(rng)
    body = {
        "model": MODEL,
        "max_tokens": 8192,
        "system": [{"type": "text", "text": _prose(rng, 2200)}],
        "tools": [_tool(rng, number) for number in range(4)],
        "messages": messages,
        "stream": stream,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def answer(path: str) -> Json:
    """Return a whole answer: a text and a call."""
    text, given = _prose(random.Random(1), 600), {"field_0": "src/main.py"}
    if path == "/v1/messages":
        call: Json = {"type": "tool_use", "id": "toolu_1", "name": "tool_1", "input": given}
        content = [{"type": "text", "text": text}, call]
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL}
        usage = {"input_tokens": 4000, "output_tokens": 170}
        return {**head, "content": content, "stop_reason": "tool_use", "usage": usage}
    function = {"name": "tool_1", "arguments": json.dumps(given, separators=(",", ":"))}
    call = {"id": "call_1", "type": "function", "function": function}
    message = {"role": "assistant", "content": text, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 4000, "completion_tokens": 170, "total_tokens": 4170}
    told: Json = {"id": "c", "object": "chat.completion", "created": 1, "model": MODEL}
    return {**told, "choices": [choice], "usage": usage}


def events(path: str) -> list[bytes]:
    """Return the frames of a streamed answer."""
    rng = random.Random(1)
    pieces = [_prose(rng, 6) for _ in range(PIECES)]
    return list(_anthropic(pieces) if path == "/v1/messages" else _chat(pieces))


def _chat(pieces: list[str]) -> Iterator[bytes]:
    def frame(delta: Json, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": more.pop("ends", None)}
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
        return b"data: " + json.dumps({**head, "choices": [choice], **more}).encode() + b"\n\n"

    yield frame({"role": "assistant", "content": ""})
    for piece in pieces:
        yield frame({"content": piece})
    function = {"name": "tool_1", "arguments": ""}
    yield frame(
        {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}
    )
    for piece in ('{"field_0"', ':"src/', 'main.py"}'):
        yield frame({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    usage = {"prompt_tokens": 4000, "completion_tokens": 170, "total_tokens": 4170}
    yield frame({}, ends="tool_calls", usage=usage)
    yield b"data: [DONE]\n\n"


def _anthropic(pieces: list[str]) -> Iterator[bytes]:
    def frame(kind: str, **more: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()

    def delta(index: int, **more: Any) -> bytes:
        return frame("content_block_delta", index=index, delta=more)

    message = {**answer("/v1/messages"), "content": [], "stop_reason": None}
    yield frame("message_start", message=message)
    yield frame("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for piece in pieces:
        yield delta(0, type="text_delta", text=piece)
    yield frame("content_block_stop", index=0)
    call = {"type": "tool_use", "id": "toolu_1", "name": "tool_1", "input": {}}
    yield frame("content_block_start", index=1, content_block=call)
    for piece in ('{"field_0"', ':"src/', 'main.py"}'):
        yield delta(1, type="input_json_delta", partial_json=piece)
    yield frame("content_block_stop", index=1)
    ends = {"stop_reason": "tool_use", "stop_sequence": None}
    yield frame("message_delta", delta=ends, usage={"output_tokens": 170})
    yield frame("message_stop")
