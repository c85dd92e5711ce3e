"""Make small valid bodies out of the SDKs' types, at least one for every field path.

Recorded traffic shows what people use; these show the rest.  They are judged like recordings: an
SDK field that a reading only carries is not pictured, whatever the rules say about themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from wireglot.authoring.sdktypes import Shape

from . import sdk

Json = Any


def samples(dialect: str, unit: sdk.Unit, most: int = 2) -> Iterator[tuple[str, Json]]:
    """Give, for each field path, up to `most` bodies that hold it."""
    for path in sorted(sdk.field_paths(dialect, unit)):
        yield from ((path, body) for body in islice(_bodies(dialect, unit, path), most))


def frames(dialect: str, shape: Shape, most: int = 2) -> Iterator[tuple[str, Json]]:
    """Give the same of the frames of one event; what a whole response holds, that one shows."""
    for path in sorted(sdk.event_paths(dialect, shape)):
        if not path.startswith("response."):
            found = _made_right(dialect, "frame", path, shape)
            yield from ((path, _last(dialect, frame)) for frame in islice(found, most))


def _last(dialect: str, frame: Json) -> Json:
    """Say who speaks in a frame, and that it is the last one where only that has all fields."""
    if dialect == "ollama":
        return {**frame, "message": {**frame["message"], "role": "assistant"}, "done": True}
    for choice in frame["choices"] if dialect == "openai-chat" else ():
        choice["delta"].update({"role": "assistant"} if "role" in choice["delta"] else {})
    return frame


def _bodies(dialect: str, unit: sdk.Unit, path: str) -> Iterator[Json]:
    shape = sdk.shape_of(dialect, unit, {"stream": path.startswith("stream")})
    if shape is not None:
        yield from _made_right(dialect, unit, path, shape)


def _made_right(dialect: str, unit: sdk.Unit, path: str, shape: Shape) -> Iterator[Json]:
    seen: list[Json] = []
    for body in islice(_made(shape, _route(path)), 200):
        if body not in seen and not sdk.problems(dialect, unit, body):
            seen.append(body)
            yield body


def _route(path: str) -> list[str]:
    return re.findall(r"\[\]|[^.\[\]]+", path)


def _made(shape: Shape, route: Sequence[str]) -> Iterator[Json]:
    """Build values of a shape that hold the field at the end of a route."""
    if shape.kind == "union":
        for option in shape.options:
            yield from _made(option, route)
    elif not route or route == ["*"]:
        if shape.kind != "null":
            yield least(shape)
    elif shape.kind == "list" and shape.item and route[0] == "[]":
        yield from ([value] for value in _made(shape.item, route[1:]))
    elif shape.kind == "object" and route[0] in shape.fields:
        key = route[0]
        for value in _made(shape.fields[key].shape, route[1:]):
            yield _completed(shape, {**_required(shape), key: _named_value(key, value)}, key)


def _named_value(key: str, value: Json) -> Json:
    if key == "index" and value == _VALUES["integer"]:
        return 0
    if key in _TIMES and value == _VALUES["number"]:
        return 1767323045  # whole seconds, whatever the type says
    return _TEXTS.get(key, value) if value == "text" else value


def least(shape: Shape) -> Json:
    """Build the smallest value of a shape that means something."""
    if shape.kind == "object":
        return _completed(shape, _required(shape), None)
    if shape.kind == "list":
        return [least(shape.item)] if shape.item else []
    if shape.kind in ("map", "any"):
        return {"key": least(shape.item) if shape.item and shape.item.kind != "any" else "text"}
    if shape.kind == "union":
        return least(next((o for o in shape.options if o.kind != "null"), shape.options[0]))
    if shape.kind == "words":
        return next((w for w in shape.words if "UNSPECIFIED" not in str(w).upper()), None)
    return _VALUES[shape.kind]


_VALUES: Mapping[str, Json] = {
    "text": "text", "base64": "QUJD", "integer": 3, "number": 0.5, "boolean": True, "null": None,
}  # fmt: skip
_TIMES = ("created_at", "completed_at")
_TEXTS: Mapping[str, str] = {
    "role": "user",
    "data": "QUJD",
    "url": "https://example.com/a.png",
    "fileUri": "https://example.com/a.png",
    "mimeType": "image/png",
    "media_type": "image/png",
    "arguments": '{"a":1}',
    "file_data": "data:application/pdf;base64,QUJD",
    "createTime": "2026-01-02T03:04:05Z",
    "retirementTime": "2026-01-02T03:04:05Z",
    "startTime": "2026-01-02T03:04:05Z",
    "endTime": "2026-01-02T03:04:05Z",
    "startOffset": "1s",
    "endOffset": "2s",
    "expires_at": "2026-01-02T03:04:05Z",
    "created_at": "2026-01-02T03:04:05Z",
    "done_reason": "stop",
    "think": "low",
}


def _required(shape: Shape) -> dict[str, Json]:
    return {
        name: _named_value(name, least(field.shape))
        for name, field in shape.fields.items()
        if field.required
    }


# What the API needs in an object whose type requires nothing.
_NEEDED: dict[str, Mapping[str, Json]] = {
    "Content": {"role": "user", "parts": [{"text": "text"}]},
    "Part": {"text": "text"},
    "FunctionCall": {"name": "weather", "args": {"a": 1}},
    "FunctionResponse": {"name": "weather", "response": {"a": 1}},
    "FunctionDeclaration": {"name": "weather"},
    "Blob": {"mimeType": "image/png", "data": "QUJD"},
    "FunctionResponseBlob": {"mimeType": "image/png", "data": "QUJD"},
    "FileData": {"mimeType": "image/png", "fileUri": "https://example.com/a.png"},
    "FunctionResponseFileData": {
        "mimeType": "image/png",
        "fileUri": "https://example.com/a.png",
    },
    "FunctionResponsePart": {"inlineData": {"mimeType": "image/png", "data": "QUJD"}},
    "Candidate": {"content": {"role": "model", "parts": [{"text": "text"}]}},
    "GenerateContentResponse": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "text"}]}}]
    },
}
for _name in ("File", "FileContent", "Image", "ImageContent"):
    _URL = "file_url" if _name.startswith("File") else "image_url"
    _SOURCE = {_URL: "https://example.com/a.png"}
    _NEEDED |= {f"ResponseInput{_name}{end}": _SOURCE for end in ("", "Param")}
# Who may say a field, where one class stands for all messages.
_ROLES: Mapping[tuple[str, str | None], str] = {
    ("Message", "thinking"): "assistant",
    ("Message", "tool_calls"): "assistant",
    ("Message", "tool_name"): "tool",
    ("Message", "tool_call_id"): "tool",
}
_MEDIA = frozenset(("file_data", "file_id", "file_url", "image_url"))
_PART_DATA = frozenset(
    (
        "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
        "codeExecutionResult", "toolCall", "toolResponse",
    )
)  # fmt: skip


def _completed(shape: Shape, value: dict[str, Json], key: str | None) -> dict[str, Json]:
    """Add what the API needs beside a field; a part holds one kind of data only."""
    needed = {k: v for k, v in _NEEDED.get(shape.name, {}).items() if k in shape.fields}
    if key in _PART_DATA and shape.name in ("Part", "FunctionResponsePart"):
        needed = {}
    if key in _MEDIA and shape.name.startswith("ResponseInput"):
        needed = {}
    role = _ROLES.get((shape.name, key)) if "tool_name" in shape.fields else None
    if role and shape.fields["role"].shape.kind == "text":
        value = {**value, "role": role}
    if shape.name == "Candidate" and key == "content":
        value = {**value, "content": {"role": "model", **value["content"]}}
        value["content"]["role"] = "model"
    return {**needed, **value}
