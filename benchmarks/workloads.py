"""Generate the workloads: three request sizes and the responses, the same on every machine.

`W1` is one short exchange, `W2` a long session of 601 messages and 300 calls, `W3` 1000 messages
with 20 images. Each seed gives another payload of the same shape and about the same size.
"""

from __future__ import annotations

import base64
import json
import random
from typing import Any

from . import floor

Json = dict[str, Any]

WORKLOADS = ("W1", "W2", "W3")
PAYLOADS = {"W1": 200, "W2": 12, "W3": 5, "R": 200}
PICTURE_BYTES = 160_000
# What `convert` may take as a multiple of careful code by hand, and what is aimed at.
CONVERT = {"W1": (3.5, 2.5), "W2": (2.8, 2.0), "W3": (2.2, 1.5)}

_VOCABULARY = (
    "a train leaves the harbour before noon and every passenger carries one ticket; the forecast "
    "says light rain with wind from the west, so bring a coat, überprüfen déjà señor 天気 結果 "
    "queue worker batch socket record index replica shard commit branch header window budget"
).split()
_PLACES = ("Lisbon", "Zürich", "札幌")


def _prose(rng: random.Random, size: int) -> str:
    words: list[str] = []
    length = 0
    while length < size:
        word = rng.choice(_VOCABULARY)
        words.append(word)
        length += len(word) + 1
    return " ".join(words)[:size]


def _field(rng: random.Random, number: int) -> Json:
    match number % 4:
        case 0:
            return {"type": "string", "description": _prose(rng, 60)}
        case 1:
            return {
                "type": "integer",
                "minimum": 0,
                "maximum": 100,
                "description": _prose(rng, 30),
            }
        case 2:
            return {"type": "string", "enum": ["low", "mid", "top"]}
        case _:
            item = {
                "type": "object",
                "properties": {"x": {"type": "number"}, "y": {"type": "string"}},
            }
            return {"type": "array", "items": item}


def _tool(rng: random.Random, name: str, size: int) -> Json:
    properties: Json = {}
    required: list[str] = []
    schema = {"type": "object", "properties": properties, "required": required}
    function = {"name": name, "description": _prose(rng, 80), "parameters": schema}
    tool = {"type": "function", "function": function}
    number = 0
    while number == 0 or len(json.dumps(tool)) < size:
        key = f"field_{number}"
        properties[key] = _field(rng, number)
        if number % 2 == 0:
            required.append(key)
        number += 1
    return tool


def _arguments(rng: random.Random) -> Json:
    tags = [rng.choice(_VOCABULARY) for _ in range(3)]
    return {
        "city": rng.choice(_PLACES),
        "unit": "c",
        "days": rng.randint(1, 9),
        "opts": {"wind": True, "tags": tags},
    }


def _call(rng: random.Random, name: str, number: int) -> Json:
    text = json.dumps(_arguments(rng), ensure_ascii=False)
    return {
        "id": f"call_{number:08d}abcdefgh",
        "type": "function",
        "function": {"name": name, "arguments": text},
    }


def _answer(rng: random.Random, number: int, size: int = 300) -> str:
    match number % 4:
        case 0:
            return _prose(rng, size)
        case 1:
            rows: list[Json] = []
            while len(json.dumps(rows)) < size:
                temperature = round(rng.uniform(-5, 30), 1)
                rows.append({"day": len(rows), "temp": temperature, "note": _prose(rng, 30)})
            return json.dumps({"rows": rows}, ensure_ascii=False)
        case 2:
            return "Error: the upstream service answered 503: " + _prose(rng, size // 4)
        case _:
            return json.dumps({"ok": True, "value": _prose(rng, size)}, ensure_ascii=False)


def _message(role: str, content: Any, **more: Any) -> Json:
    return {"role": role, "content": content, **more}


def _short(rng: random.Random) -> Json:
    call = _call(rng, "get_weather", 1)
    return {
        "model": "gpt-4o",
        "messages": [
            _message("system", _prose(rng, 200)),
            _message("user", _prose(rng, 120)),
            _message("assistant", None, tool_calls=[call]),
            _message("tool", _answer(rng, 1), tool_call_id=call["id"]),
            _message("assistant", _prose(rng, 120)),
        ],
        "tools": [_tool(rng, "get_weather", 400), _tool(rng, "get_time", 300)],
        "tool_choice": "auto",
        "max_tokens": 1024,
        "temperature": 0.2,
    }


def _session(rng: random.Random, turns: int) -> Json:
    names = [f"tool_{number}" for number in range(10)]
    messages = [_message("system", _prose(rng, 1500))]
    for turn in range(turns):
        messages.append(_message("user", _prose(rng, 150)))
        calls = [_call(rng, names[(turn + i) % 10], 3 * turn + i + 1) for i in range(3)]
        text = _prose(rng, 80) if turn % 2 else None
        messages.append(_message("assistant", text, tool_calls=calls))
        for i, call in enumerate(calls):
            messages.append(_message("tool", _answer(rng, turn + i), tool_call_id=call["id"]))
        messages.append(_message("assistant", _prose(rng, 200)))
    return {
        "model": "gpt-4o",
        "messages": messages,
        "tools": [_tool(rng, name, 1024) for name in names],
        "tool_choice": "auto",
        "max_tokens": 4096,
        "temperature": 0.2,
    }


def _gallery(rng: random.Random, count: int, pictures: int, picture_bytes: int) -> Json:
    messages = [_message("system", _prose(rng, 1000))]
    step = 0
    call: Json = {}
    while len(messages) < count:
        match step % 4:
            case 0 if step % 48 == 0 and pictures:
                pictures -= 1
                data = base64.b64encode(rng.randbytes(picture_bytes)).decode()
                image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + data}}
                messages.append(
                    _message("user", [{"type": "text", "text": _prose(rng, 200)}, image])
                )
            case 0:
                messages.append(_message("user", _prose(rng, 600)))
            case 1:
                call = _call(rng, "tool_0", step // 4 + 1)
                messages.append(_message("assistant", None, tool_calls=[call]))
            case 2:
                text = _answer(rng, step // 4, 800)
                messages.append(_message("tool", text, tool_call_id=call["id"]))
            case _:
                messages.append(_message("assistant", _prose(rng, 600)))
        step += 1
    return {
        "model": "gpt-4o",
        "messages": messages,
        "tools": [_tool(rng, "tool_0", 600), _tool(rng, "tool_1", 600)],
        "tool_choice": "auto",
        "max_tokens": 4096,
    }


def chat_request(workload: str, seed: int = 0, *, small: bool = False) -> Json:
    """Make one Chat request; `small` keeps the shape and shortens it for tests."""
    rng = random.Random(f"{workload}/{seed}")
    if workload == "W1":
        return _short(rng)
    if workload == "W2":
        return _session(rng, 4 if small else 100)
    if small:
        return _gallery(rng, 101, 2, 300)
    return _gallery(rng, 1000, 20, PICTURE_BYTES)


def request(dialect: str, workload: str, seed: int = 0, *, small: bool = False) -> Json:
    """Make one request in a dialect: the Chat request as that dialect's own clients send it."""
    body = chat_request(workload, seed, small=small)
    if dialect == "openai-chat":
        return body
    written = floor.REQUESTS["openai-chat", dialect](body)
    return dict(json.loads(json.dumps(written)))


def response(dialect: str, seed: int = 0) -> Json:
    """Make one response with a text of 1500 characters and three calls."""
    rng = random.Random(f"response/{dialect}/{seed}")
    text = _prose(rng, 1500)
    if dialect == "openai-chat":
        message = {
            "role": "assistant",
            "content": text,
            "refusal": None,
            "tool_calls": [_call(rng, "get_weather", number) for number in range(3)],
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
        return {
            "id": f"chatcmpl-{seed}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "gpt-4o",
            "choices": [choice],
            "usage": {"prompt_tokens": 100, "completion_tokens": 200, "total_tokens": 300},
        }
    if dialect == "anthropic":
        blocks: list[Json] = [{"type": "text", "text": text}]
        for number in range(3):
            use = {"type": "tool_use", "id": f"toolu_{number:08d}", "name": "get_weather"}
            blocks.append({**use, "input": _arguments(rng)})
        return {
            "id": f"msg_{seed}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": blocks,
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 200},
        }
    parts: list[Json] = [{"text": text}]
    for _ in range(3):
        parts.append({"functionCall": {"name": "get_weather", "args": _arguments(rng)}})
    content = {"role": "model", "parts": parts}
    return {
        "candidates": [
            {"content": content, "finishReason": "STOP", "index": 0, "avgLogprobs": -0.1}
        ],
        "usageMetadata": {
            "promptTokenCount": 100,
            "candidatesTokenCount": 200,
            "totalTokenCount": 300,
        },
        "modelVersion": "gemini-2.5-flash",
        "responseId": f"r{seed}",
    }


def with_unknown_keys(body: Json, *, everywhere: bool = False) -> Json:
    """Copy a request with a key that no API knows in one message, or in all of them."""
    field = "contents" if "contents" in body else "messages"
    items = list(body[field])
    chosen = range(len(items)) if everywhere else [len(items) // 2]
    for index in chosen:
        items[index] = {**items[index], "x_trace": index + 1}
    return {**body, field: items}


def never_seen(body: Json, serial: int) -> Json:
    """Copy a request whose tools and numbers no other copy has, so that no memory of them helps."""
    out: Json = json.loads(json.dumps(body))

    def change(value: Any) -> None:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if key == "description" and isinstance(inner, str):
                value[key] = f"{inner} {serial}"
            elif key in ("max_tokens", "maxOutputTokens"):
                value[key] = inner + serial
            elif key not in ("messages", "contents") and isinstance(inner, dict | list):
                change(inner)

    change(out)
    return out
