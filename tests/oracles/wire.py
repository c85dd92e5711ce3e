"""Find calls, results and text on the wire, by the API pages alone and not by any rule file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from .leaves import pointer_of

Json = Any


@dataclass(slots=True, frozen=True)
class Item:
    """One call, result or piece of text, and where it stands."""

    kind: Literal["call", "result", "text"]
    pointer: str
    id: str | None
    name: str | None
    value: Json
    group: str = ""


def items(dialect: str, unit: str, body: Json) -> list[Item]:
    """List what a request or response says, in the order in which it says it."""
    known = "anthropic" if "anthropic" in dialect else dialect
    return list(_FINDERS.get(known, _openai)(unit, body))  # the others are vendors of Chat


def call_ids(found: list[Item]) -> list[Item]:
    """Keep the calls."""
    return [item for item in found if item.kind == "call"]


def _openai(unit: str, body: Json) -> Iterator[Item]:
    if unit == "request":
        for n, message in enumerate(_list(body, "messages")):
            yield from _openai_message(message, f"/messages/{n}")
    else:
        for n, choice in enumerate(_list(body, "choices")):
            message = choice.get("message") or {}
            yield from _openai_message(message, f"/choices/{n}/message")


def _openai_message(message: Json, at: str) -> Iterator[Item]:
    role = message.get("role")
    content = message.get("content")
    if role == "tool":
        yield Item("result", at, message.get("tool_call_id"), None, _parsed(_joined(content)))
        return
    group = "system" if role in ("system", "developer") else "talk"
    if isinstance(content, str):
        yield Item("text", f"{at}/content", None, None, content, group)
    elif isinstance(content, list):
        for n, part in enumerate(content):
            kind = part.get("type") if isinstance(part, dict) else None
            if kind in ("text", "refusal"):  # what the model said, in the one way or the other
                yield Item("text", f"{at}/content/{n}", None, None, part.get(kind), group)
    if isinstance(message.get("refusal"), str):
        yield Item("text", f"{at}/refusal", None, None, message["refusal"], group)
    for n, call in enumerate(_list(message, "tool_calls")):
        where = f"{at}/tool_calls/{n}"
        inner = call.get("function") or call.get("custom") or {}
        if "function" in call:
            value = _arguments(inner.get("arguments"))
        else:
            value = {"input": inner.get("input")}
        yield Item("call", where, call.get("id"), inner.get("name"), value)
    call = message.get("function_call")
    if isinstance(call, dict) and any(call.values()):  # some leave an empty one in every message
        value = _arguments(call.get("arguments"))
        yield Item("call", f"{at}/function_call", None, call.get("name"), value)


def _responses(unit: str, body: Json) -> Iterator[Item]:
    if unit == "response":
        for n, item in enumerate(_list(body, "output")):
            yield from _responses_item(item, f"/output/{n}")
        return
    if isinstance(body.get("instructions"), str):
        yield Item("text", "/instructions", None, None, body["instructions"], "system")
    if isinstance(body.get("input"), str):
        yield Item("text", "/input", None, None, body["input"], "talk")
    for n, item in enumerate(_list(body, "input")):
        yield from _responses_item(item, f"/input/{n}")


# Calls of tools that the API has words for and the client runs, and where their arguments stand.
RUN_BY_CLIENT = {
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
}


def _responses_item(item: Json, at: str) -> Iterator[Item]:
    kind, content = item.get("type"), item.get("content")
    if kind == "function_call":
        value = _arguments(item.get("arguments"))
        yield Item("call", at, item.get("call_id"), item.get("name"), value)
    elif kind == "custom_tool_call":
        yield Item("call", at, item.get("call_id"), item.get("name"), {"input": item.get("input")})
    elif kind in RUN_BY_CLIENT and (item.get("environment") or {}).get("type") in (None, "local"):
        given = dict(item.get(RUN_BY_CLIENT[kind]) or {})
        if kind == "local_shell_call":
            given.pop("type", None)
        yield Item("call", at, item.get("call_id"), f"builtin/{kind.removesuffix('_call')}", given)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        value = _parsed(_joined(item.get("output")))
        yield Item("result", at, item.get("call_id"), item.get("name"), value)
    elif kind in (None, "message"):
        group = "system" if item.get("role") in ("system", "developer") else "talk"
        if isinstance(content, str):
            yield Item("text", f"{at}/content", None, None, content, group)
        for n, part in enumerate(content if isinstance(content, list) else []):
            if isinstance(part, dict) and part.get("type") in ("input_text", "output_text"):
                yield Item("text", f"{at}/content/{n}", None, None, part.get("text"), group)
            elif isinstance(part, dict) and part.get("type") == "refusal":
                yield Item("text", f"{at}/content/{n}", None, None, part.get("refusal"), group)


def _anthropic(unit: str, body: Json) -> Iterator[Item]:
    if unit == "response":
        yield from _anthropic_content(body.get("content"), "/content", "talk")
        return
    yield from _anthropic_content(body.get("system"), "/system", "system")
    for n, message in enumerate(_list(body, "messages")):
        group = "system" if message.get("role") == "system" else "talk"
        yield from _anthropic_content(message.get("content"), f"/messages/{n}/content", group)


def _anthropic_content(content: Json, at: str, group: str) -> Iterator[Item]:
    if isinstance(content, str):
        yield Item("text", at, None, None, content, group)
        return
    for n, block in enumerate(content if isinstance(content, list) else []):
        where, kind = f"{at}/{n}", block.get("type")
        if kind == "text":
            yield Item("text", where, None, None, block.get("text"), group)
        elif kind == "tool_use":
            yield Item("call", where, block.get("id"), block.get("name"), block.get("input"))
        elif kind == "tool_result":
            value = _parsed(_joined(block.get("content")))
            yield Item("result", where, block.get("tool_use_id"), None, value)


def _gemini(unit: str, body: Json) -> Iterator[Item]:
    if unit == "response":
        for n, candidate in enumerate(_list(body, "candidates")):
            at = ("candidates", n, "content")
            yield from _gemini_content(candidate.get("content"), at, "talk")
        return
    for key in ("systemInstruction", "system_instruction"):
        yield from _gemini_content(body.get(key), (key,), "system")
    for n, content in enumerate(_list(body, "contents")):
        yield from _gemini_content(content, ("contents", n), "talk")


def _gemini_content(content: Json, at: tuple[str | int, ...], group: str) -> Iterator[Item]:
    parts: list[tuple[tuple[str | int, ...], Json]] = [
        ((*at, "parts", n), part) for n, part in enumerate(_list(content, "parts"))
    ]
    if isinstance(content, dict) and isinstance(content.get("parts"), dict):
        parts = [((*at, "parts"), content["parts"])]  # the API takes a lone part as it stands
    for steps, part in parts:
        where = pointer_of(steps)
        call = part.get("functionCall") or part.get("function_call")
        result = part.get("functionResponse") or part.get("function_response")
        if isinstance(call, dict):
            yield Item("call", where, call.get("id"), call.get("name"), call.get("args") or {})
        elif isinstance(result, dict):
            value = result.get("response")
            if isinstance(value, dict) and len(value) == 1:
                value = value.get("output", value.get("error", value))
            yield Item("result", where, result.get("id"), result.get("name"), _parsed(value))
        elif isinstance(part.get("text"), str) and not part.get("thought"):
            yield Item("text", where, None, None, part["text"], group)


def _ollama(unit: str, body: Json) -> Iterator[Item]:
    if unit == "response":
        yield from _ollama_message(body.get("message") or {}, "/message")
        return
    for n, message in enumerate(_list(body, "messages")):
        yield from _ollama_message(message, f"/messages/{n}")


def _ollama_message(message: Json, at: str) -> Iterator[Item]:
    content = message.get("content")
    if message.get("role") == "tool":
        key, name = message.get("tool_call_id"), message.get("tool_name")
        yield Item("result", at, key, name, _parsed(content))
        return
    group = "system" if message.get("role") == "system" else "talk"
    if isinstance(content, str):
        yield Item("text", f"{at}/content", None, None, content, group)
    for n, call in enumerate(_list(message, "tool_calls")):
        inner = call.get("function") or {}
        value = inner.get("arguments")
        yield Item("call", f"{at}/tool_calls/{n}", call.get("id"), inner.get("name"), value)


def _bedrock(unit: str, body: Json) -> Iterator[Item]:
    if unit == "response":
        message = (body.get("output") or {}).get("message")
        yield from _bedrock_content(message, "/output/message", "talk")
        return
    yield from _bedrock_content({"content": body.get("system")}, "", "system", "/system")
    for n, message in enumerate(_list(body, "messages")):
        group = "system" if message.get("role") == "system" else "talk"
        yield from _bedrock_content(message, f"/messages/{n}", group)


def _bedrock_content(message: Json, at: str, group: str, key: str = "/content") -> Iterator[Item]:
    for n, block in enumerate(_list(message, "content")):
        where = f"{at}{key}/{n}"
        call, result = block.get("toolUse"), block.get("toolResult")
        cited = (block.get("citationsContent") or {}).get("content") or [{}]
        guarded = (block.get("guardContent") or {}).get("text") or {}
        text = block.get("text") or guarded.get("text") or cited[0].get("text")
        if call is not None and call.get("type") != "server_tool_use":
            yield Item("call", where, call.get("toolUseId"), call.get("name"), call.get("input"))
        elif result is not None and "type" not in result:
            content = _list(result, "content")
            value = content[0]["json"] if content and "json" in content[0] else _joined(content)
            yield Item("result", where, result.get("toolUseId"), None, _parsed(value))
        elif text is not None:
            yield Item("text", where, None, None, text, group)


def _cohere(unit: str, body: Json) -> Iterator[Item]:
    if unit == "response":
        yield from _cohere_message(body.get("message") or {}, "/message")
        return
    for n, document in enumerate(_list(body, "documents")):
        text = (document.get("data") or {}).get("text")
        if isinstance(text, str):
            yield Item("text", f"/documents/{n}/data/text", None, None, text, "system")
    for n, message in enumerate(_list(body, "messages")):
        yield from _cohere_message(message, f"/messages/{n}")


def _cohere_message(message: Json, at: str) -> Iterator[Item]:
    """Find what a message says: its plan is text, which stands before its calls."""
    content = message.get("content")
    if message.get("role") == "tool":
        found = [b.get("document", {}).get("data") for b in _list(message, "content")]
        value = found[0] if len(found) == 1 and found[0] else _parsed(_joined(content))
        yield Item("result", at, message.get("tool_call_id"), None, value)
        return
    group = "system" if message.get("role") == "system" else "talk"
    if isinstance(content, str):
        yield Item("text", f"{at}/content", None, None, content, group)
    for n, part in enumerate(_list(message, "content")):
        if part.get("type") == "text":
            yield Item("text", f"{at}/content/{n}", None, None, part.get("text"), group)
    if isinstance(message.get("tool_plan"), str):
        yield Item("text", f"{at}/tool_plan", None, None, message["tool_plan"], group)
    for n, call in enumerate(_list(message, "tool_calls")):
        inner = call.get("function") or {}
        value = _arguments(inner.get("arguments"))
        yield Item("call", f"{at}/tool_calls/{n}", call.get("id"), inner.get("name"), value)


def _interactions(unit: str, body: Json) -> Iterator[Item]:
    if unit == "response":
        for n, step in enumerate(_list(body, "steps")):
            yield from _interactions_step(step, f"/steps/{n}")
        return
    if isinstance(body.get("system_instruction"), str):
        text = body["system_instruction"]
        yield Item("text", "/system_instruction", None, None, text, "system")
    if isinstance(body.get("input"), str):
        yield Item("text", "/input", None, None, body["input"], "talk")
    for n, step in enumerate(_list(body, "input")):
        yield from _interactions_step(step, f"/input/{n}")


def _interactions_step(step: Json, at: str) -> Iterator[Item]:
    """Find what a step says; content may stand without one around it."""
    kind = step.get("type")
    if kind == "function_call":
        yield Item("call", at, step.get("id"), step.get("name"), step.get("arguments"))
    elif kind == "function_result":
        value = _parsed(_joined(step.get("result")))
        yield Item("result", at, step.get("call_id"), step.get("name"), value)
    elif kind == "text":
        yield Item("text", at, None, None, step.get("text"), "talk")
    for n, block in enumerate(_list(step, "content") if kind != "thought" else ()):
        yield from _interactions_step(block, f"{at}/content/{n}")


_FINDERS = {
    "gemini-interactions": _interactions,
    "bedrock-converse": _bedrock,
    "cohere": _cohere,
    "openai-chat": _openai,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "vertex": _gemini,
    "ollama": _ollama,
}


def _list(body: Json, key: str) -> list[Json]:
    value = body.get(key) if isinstance(body, dict) else None
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def _joined(content: Json) -> Json:
    if not isinstance(content, list):
        return content
    return "".join(p.get("text") or "" for p in content if isinstance(p, dict))


def _arguments(text: Json) -> Json:
    """Read argument text; text that is no JSON object is what object-only dialects wrap."""
    if not isinstance(text, str) or not text.strip():
        return {}
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"_unparsed": text}


def _parsed(text: Json) -> Json:
    if isinstance(text, str) and text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text
