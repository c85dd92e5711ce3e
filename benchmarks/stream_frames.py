"""Generate workload W4: the frames of one long answer as three providers stream it.

About 2000 frames: a text of 1200 pieces, then four calls of about 200 pieces each (Gemini sends
calls whole, and as many pieces of text in their place).
"""

from __future__ import annotations

import json
import random
from typing import Any

from .workloads import _VOCABULARY, Json, _prose

TEXTS, CALLS, PIECES = 1200, 4, 198


def _calls(rng: random.Random) -> list[tuple[str, str, Json]]:
    made = []
    for number in range(CALLS):
        items = [{"key": rng.choice(_VOCABULARY)} for _ in range(10)]
        given = {"query": _prose(rng, 900), "number": number, "items": items}
        made.append((f"{number:08d}abcdefgh", f"tool_{number}", given))
    return made


def _pieces(given: Json, count: int) -> list[str]:
    text = json.dumps(given, ensure_ascii=False)
    step = max(1, len(text) // count)
    return [text[at : at + step] for at in range(0, len(text), step)]


def frames(dialect: str, seed: int = 0, *, small: bool = False) -> list[Any]:
    """Make the frames of one stream; `small` keeps the shape and shortens it for tests."""
    rng = random.Random(f"W4/{seed}")
    count, pieces = (12, 9) if small else (TEXTS, PIECES)
    texts = [rng.choice(_VOCABULARY) + " " for _ in range(count)]
    calls = _calls(rng)
    if dialect == "openai-chat":
        return _chat(texts, calls, pieces, seed)
    if dialect == "anthropic":
        return _anthropic(texts, calls, pieces, seed)
    more = [rng.choice(_VOCABULARY) + " " for _ in range(CALLS * pieces)]
    return _gemini([*texts, *more], calls, seed)


def _chat(texts: list[str], calls: Any, pieces: int, seed: int) -> list[Any]:
    base = {
        "id": f"chatcmpl-{seed}",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "gpt-4o-2024-08-06",
        "system_fingerprint": "fp_1",
    }

    def chunk(delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**base, "choices": [choice]}

    made: list[Any] = [chunk({"role": "assistant", "content": "", "refusal": None})]
    made += [chunk({"content": text}) for text in texts]
    for index, (identity, name, given) in enumerate(calls):
        head = {"id": f"call_{identity}", "type": "function"}
        function = {"name": name, "arguments": ""}
        made.append(chunk({"tool_calls": [{"index": index, **head, "function": function}]}))
        for piece in _pieces(given, pieces):
            call = {"index": index, "function": {"arguments": piece}}
            made.append(chunk({"tool_calls": [call]}))
    made.append(chunk({}, "tool_calls"))
    usage = {"prompt_tokens": 100, "completion_tokens": 2000, "total_tokens": 2100}
    return [*made, {**base, "choices": [], "usage": usage}, "[DONE]"]


def _anthropic(texts: list[str], calls: Any, pieces: int, seed: int) -> list[Any]:
    made: list[Any] = []

    def delta(index: int, kind: str, key: str, piece: str) -> None:
        inner = {"type": kind, key: piece}
        made.append({"type": "content_block_delta", "index": index, "delta": inner})

    def start(index: int, block: Json) -> None:
        made.append({"type": "content_block_start", "index": index, "content_block": block})

    message: Json = {
        "id": f"msg_{seed}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 1},
    }
    made.append({"type": "message_start", "message": message})
    start(0, {"type": "text", "text": ""})
    for text in texts:
        delta(0, "text_delta", "text", text)
    made.append({"type": "content_block_stop", "index": 0})
    for index, (identity, name, given) in enumerate(calls, 1):
        start(index, {"type": "tool_use", "id": f"toolu_{identity}", "name": name, "input": {}})
        for piece in _pieces(given, pieces):
            delta(index, "input_json_delta", "partial_json", piece)
        made.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": "tool_use", "stop_sequence": None}
    usage = {"input_tokens": 100, "output_tokens": 2000}
    made.append({"type": "message_delta", "delta": stop, "usage": usage})
    return [*made, {"type": "message_stop"}]


def _gemini(texts: list[str], calls: Any, seed: int) -> list[Any]:
    def chunk(part: Json, count: int, **more: Json | str) -> Json:
        usage = {"promptTokenCount": 100, "candidatesTokenCount": count}
        return {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0, **more}],
            "usageMetadata": {**usage, "totalTokenCount": 100 + count},
            "modelVersion": "gemini-2.5-flash",
            "responseId": f"r{seed}",
        }

    made = [chunk({"text": text}, count) for count, text in enumerate(texts)]
    for number, (_, name, given) in enumerate(calls):
        more: Any = {"finishReason": "STOP"} if number == len(calls) - 1 else {}
        made.append(chunk({"functionCall": {"name": name, "args": given}}, 2000, **more))
    return made


def as_bytes(dialect: str, made: list[Any]) -> list[bytes]:
    """Return frames as the bytes of Server-Sent Events, one piece for each."""
    pieces = []
    for frame in made:
        text = frame if isinstance(frame, str) else json.dumps(frame, ensure_ascii=False)
        name = f"event: {frame['type']}\n" if dialect == "anthropic" else ""
        pieces.append(f"{name}data: {text}\n\n".encode())
    return pieces
