"""Read and write by hand: what the two halves cost somebody who writes them for these workloads.

They give what the engine gives: the same IR and the same bodies, result texts parsed and remembered
as the IR wants it, memories believed only where they still hold. They know what the workloads hold
and nothing else: for any other part, key or order they raise, and of notes they have one. So they
are a floor that an engine can only come near to, and the limit for what a bar can ask of it.

JSON text is read and written by the engine's own functions, which are the quickest at hand, and
schemas that passed are remembered as the engine remembers them. What comes with every part (the
checks of texts) stands where it is used: a call for each would slow the floor down.
"""

from __future__ import annotations

import json
import marshal
import re
from collections.abc import Callable
from typing import Any

from wireglot.interpreter import views
from wireglot.jsontext import load, stringify
from wireglot.payload import check_json as clean

from .careful_base import Converted, Envelope, Json, Note

Reader = Callable[[Any], tuple[Json, tuple[Note, ...]]]
Writer = Callable[[Any], Converted]

_BEGINS = ("{", "[")
_IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
_AUTO = {"type": "auto"}
_name = re.compile(r"[a-zA-Z0-9_-]{1,64}").fullmatch
_ids = re.compile(r"(?:[a-zA-Z0-9_-]{1,64}\n)*").fullmatch
_mark = marshal.dumps
_spaced = json.JSONEncoder(ensure_ascii=False).encode
_seen: set[bytes] = set()


class Unknown(ValueError):
    """Raised for what the workloads do not hold."""


def _tool(tool: Any, key: str) -> tuple[str, str, Any]:
    name, told, schema = tool["name"], tool["description"], tool[key]
    if len(tool) != 3 or name.__class__ is not str or told.__class__ is not str:
        raise Unknown
    if not (name.isascii() or name.encode()) or not (told.isascii() or told.encode()):
        raise Unknown
    _schema(schema)
    return name, told, schema


def _schema(value: Any) -> None:
    if value.__class__ is not dict:
        raise Unknown
    mark = _mark(value, 2)
    if mark not in _seen:
        clean(value)
        _seen.add(mark)


def _result(text: Any, ref: Any, name: str) -> Json:
    if text.__class__ is not str or not (text.isascii() or text.encode()):
        raise Unknown
    data = None
    if text.lstrip()[:1] in _BEGINS:
        try:
            data = load(text)
        except ValueError:
            data = None
    if data.__class__ is dict or data.__class__ is list:
        return {
            "type": "tool_result",
            "kind": "data",
            "tool_call_id": ref,
            "value_json": text,
            "value": data,
            "name": name,
        }
    return {
        "type": "tool_result",
        "kind": "text",
        "tool_call_id": ref,
        "value": text,
        "name": name,
    }


def _written(part: Any, name: str) -> str:
    value = part["value"]
    if part["name"] != name:
        raise Unknown
    if part["kind"] == "data":
        text = part["value_json"]
        if len(part) != 6 or text.__class__ is not str or value.__class__ not in (dict, list):
            raise Unknown
        # Text stands for a value surely where it is what writes it.
        if (_spaced if '": ' in text else stringify)(value) != text:
            if not views.means(text, value):
                raise Unknown
        return text
    if len(part) != 5 or value.__class__ is not str or not (value.isascii() or value.encode()):
        raise Unknown
    if value.lstrip()[:1] in _BEGINS:
        raise Unknown
    return value


def _image(part: Any) -> tuple[str, str]:
    source = part["source"]
    if source.__class__ is not dict or len(part) != 2 or len(source) != 3:
        raise Unknown
    media, data = source["media_type"], source["data"]
    if media not in _IMAGES or source["type"] != "base64":
        raise Unknown
    if data.__class__ is not str or not (data.isascii() or data.encode()):
        raise Unknown
    return media, data


def _head(value: Any) -> tuple[str, int]:
    model, limit = value["model"], value["max_tokens"]
    if model.__class__ is not str or limit.__class__ is not int:
        raise Unknown
    return model, limit


def read_anthropic(body: Any) -> tuple[Json, tuple[Note, ...]]:
    """Read a request of Anthropic Messages into the IR."""
    if body.__class__ is not dict:
        raise Unknown
    known = 3
    model, limit = _head(body)
    out: list[Any] = []
    ir = {"model": model, "max_tokens": limit, "messages": out, "spelled": {"anthropic": {}}}
    text = body.get("system")
    if text is not None:
        if text.__class__ is not str or not text or not (text.isascii() or text.encode()):
            raise Unknown
        head = {"anthropic": {"": {"head": True}}}
        out.append({"role": "system", "parts": [{"type": "text", "text": text}], "spelled": head})
        known += 1
    calls: dict[str, str] = {}
    waiting: dict[str, str] = {}
    last = ""
    for message in body["messages"]:
        if message.__class__ is not dict or len(message) != 2:
            raise Unknown
        role, content = message["role"], message["content"]
        if role == last or (role != "user" and role != "assistant"):
            raise Unknown
        last = role
        if content.__class__ is str:
            if waiting or not content or not (content.isascii() or content.encode()):
                raise Unknown
            out.append({"role": role, "parts": [{"type": "text", "text": content}]})
            continue
        if content.__class__ is not list or not content:
            raise Unknown
        parts: list[Any] = []
        for block in content:
            if block.__class__ is not dict:
                raise Unknown
            kind = block["type"]
            if kind == "tool_result":
                ref = block["tool_use_id"]
                name = waiting.pop(ref, None)
                if name is None or len(block) != 3 or role != "user":
                    raise Unknown
                parts.append(_result(block["content"], ref, name))
            elif kind == "tool_use":
                ref, name, value = block["id"], block["name"], block["input"]
                if ref.__class__ is not str or not (ref.isascii() or ref.encode()):
                    raise Unknown
                if name.__class__ is not str or not (name.isascii() or name.encode()):
                    raise Unknown
                if value.__class__ is not dict or "_unparsed" in value or len(block) != 4:
                    raise Unknown
                if ref in calls or role != "assistant":
                    raise Unknown
                calls[ref] = waiting[ref] = name
                clean(value)
                parts.append({"type": "tool_call", "id": ref, "name": name, "arguments": value})
            elif kind == "text":
                text = block["text"]
                if text.__class__ is not str or not (text.isascii() or text.encode()):
                    raise Unknown
                if len(block) != 2:
                    raise Unknown
                parts.append({"type": "text", "text": text})
            elif kind == "image":
                media, data = _image(block)
                given = {"type": "base64", "media_type": media, "data": data}
                parts.append({"type": "image", "source": given})
            else:
                raise Unknown
        if role == "user":
            if waiting:
                raise Unknown
            if parts[0]["type"] == "tool_result":
                role = "tool"
            for part in parts:
                if (part["type"] == "tool_result") is not (role == "tool"):
                    raise Unknown
        out.append({"role": role, "parts": parts})
    if last == "assistant" and not waiting:
        out[-1]["prefix"] = True
    choice = body.get("tool_choice")
    if choice is not None:
        if choice != _AUTO:
            raise Unknown
        ir["tool_choice"] = "auto"
        known += 1
    tools = body.get("tools")
    if tools is not None:
        found: list[Any] = []
        for tool in tools:
            name, told, schema = _tool(tool, "input_schema")
            found.append({"name": name, "parameters": schema, "description": told})
        ir["tools"] = found
        known += 1
    if len(body) != known:
        raise Unknown
    return ir, ()


def write_chat(ir: Any) -> Converted:
    """Write the IR of a request as one of OpenAI Chat."""
    if ir.__class__ is not dict or ir["spelled"] != {"anthropic": {}}:
        raise Unknown
    known = 4
    model, limit = _head(ir)
    out: list[Any] = []
    body: Json = {"model": model, "messages": out}
    calls: dict[str, str] = {}
    waiting: dict[str, str] = {}
    names = set()
    for message in ir["messages"]:
        if message.__class__ is not dict:
            raise Unknown
        role, parts = message["role"], message["parts"]
        if parts.__class__ is not list or not parts:
            raise Unknown
        goes_on = message is ir["messages"][-1] and message.get("prefix") is True
        head = role == "system" and message["spelled"] == {"anthropic": {"": {"head": True}}}
        if len(message) != 2 and not (goes_on or head):
            raise Unknown
        if role == "tool":
            for part in parts:
                if part.__class__ is not dict or part["type"] != "tool_result":
                    raise Unknown
                ref = part["tool_call_id"]
                text = _written(part, waiting.pop(ref))
                out.append({"role": "tool", "tool_call_id": ref, "content": text})
            continue
        if waiting:
            raise Unknown
        content: list[Any] = []
        made: list[Any] = []
        for part in parts:
            if part.__class__ is not dict:
                raise Unknown
            kind = part["type"]
            if kind == "text":
                text = part["text"]
                if text.__class__ is not str or not (text.isascii() or text.encode()):
                    raise Unknown
                if len(part) != 2 or made:
                    raise Unknown
                content.append({"type": "text", "text": text})
            elif kind == "tool_call":
                ref, name, value = part["id"], part["name"], part["arguments"]
                if ref.__class__ is not str or not (ref.isascii() or ref.encode()):
                    raise Unknown
                if name.__class__ is not str or value.__class__ is not dict or len(part) != 4:
                    raise Unknown
                if ref in calls or role != "assistant":
                    raise Unknown
                calls[ref] = waiting[ref] = name
                names.add(name)
                said = {"name": name, "arguments": stringify(value)}
                made.append({"id": ref, "type": "function", "function": said})
            elif kind == "image" and role == "user":
                media, data = _image(part)
                url = f"data:{media};base64,{data}"
                content.append({"type": "image_url", "image_url": {"url": url}})
            else:
                raise Unknown
        if len(content) == 1 and content[0]["type"] == "text":
            wire: Json = {"role": role, "content": content[0]["text"]}
        else:
            wire = {"role": role, "content": content or None}
        if made:
            wire["tool_calls"] = made
        out.append(wire)
    tools = ir.get("tools")
    if tools is not None:
        found: list[Any] = []
        for tool in tools:
            name, told, schema = _tool(tool, "parameters")
            names.add(name)
            given = {"name": name, "description": told, "parameters": schema}
            found.append({"type": "function", "function": given})
        body["tools"] = found
        known += 1
    if not all(map(_name, names)):
        raise Unknown
    if "tool_choice" in ir:
        if ir["tool_choice"] != "auto":
            raise Unknown
        body["tool_choice"] = "auto"
        known += 1
    body["max_completion_tokens"] = limit
    if len(ir) != known:
        raise Unknown
    notes = (Note("no-place", "lost", None, None),) if goes_on else ()
    return Converted(body, notes, Envelope(None, None, "POST", "/v1/chat/completions", {}))


def read_chat(body: Any) -> tuple[Json, tuple[Note, ...]]:
    """Read a request of OpenAI Chat into the IR."""
    if body.__class__ is not dict:
        raise Unknown
    known = 3
    model, limit = _head(body)
    out: list[Any] = []
    memory = {"openai-chat": {"/max_completion_tokens": {"key": "max_tokens"}}}
    ir = {"model": model, "max_tokens": limit, "messages": out, "spelled": memory}
    calls: dict[str, str] = {}
    waiting: dict[str, str] = {}
    results: list[Any] | None = None
    for message in body["messages"]:
        if message.__class__ is not dict:
            raise Unknown
        role, content = message["role"], message["content"]
        if role == "tool":
            if len(message) != 3:
                raise Unknown
            ref = message["tool_call_id"]
            part = _result(content, ref, waiting.pop(ref))
            if results is None:
                results = [part]
                out.append({"role": "tool", "parts": results})
            else:
                results.append(part)
            continue
        results = None
        if waiting:
            raise Unknown
        if content.__class__ is str and len(message) == 2:
            if not content or not (content.isascii() or content.encode()):
                raise Unknown
            if role != "user" and role != "assistant" and role != "system":
                raise Unknown
            out.append({"role": role, "parts": [{"type": "text", "text": content}]})
            continue
        parts: list[Any] = []
        if role == "assistant":
            if content is not None:
                if content.__class__ is not str or not (content.isascii() or content.encode()):
                    raise Unknown
                parts.append({"type": "text", "text": content})
            for call in message["tool_calls"]:
                if call.__class__ is not dict or len(call) != 3 or call["type"] != "function":
                    raise Unknown
                ref, said = call["id"], call["function"]
                if said.__class__ is not dict or len(said) != 2 or ref in calls:
                    raise Unknown
                name, text = said["name"], said["arguments"]
                if ref.__class__ is not str or not (ref.isascii() or ref.encode()):
                    raise Unknown
                if name.__class__ is not str or not (name.isascii() or name.encode()):
                    raise Unknown
                if text.__class__ is not str or not (text.isascii() or text.encode()):
                    raise Unknown
                value = load(text)
                if value.__class__ is not dict or "_unparsed" in value:
                    raise Unknown
                calls[ref] = waiting[ref] = name
                parts.append(
                    {
                        "type": "tool_call",
                        "id": ref,
                        "name": name,
                        "arguments_json": text,
                        "arguments": value,
                    }
                )
            if len(message) != 3:
                raise Unknown
        elif role == "user" and content.__class__ is list and len(message) == 2:
            for part in content:
                if part.__class__ is not dict or len(part) != 2:
                    raise Unknown
                if part["type"] == "text":
                    text = part["text"]
                    if text.__class__ is not str or not (text.isascii() or text.encode()):
                        raise Unknown
                    parts.append({"type": "text", "text": text})
                elif part["type"] == "image_url":
                    held = part["image_url"]
                    if held.__class__ is not dict or len(held) != 1:
                        raise Unknown
                    start, sign, data = held["url"].partition(";base64,")
                    if start[:5] != "data:" or start[5:] not in _IMAGES or not sign:
                        raise Unknown
                    if not (data.isascii() or data.encode()):
                        raise Unknown
                    given = {"type": "base64", "media_type": start[5:], "data": data}
                    parts.append({"type": "image", "source": given})
                else:
                    raise Unknown
        else:
            raise Unknown
        out.append({"role": role, "parts": parts})
    if waiting:
        raise Unknown
    if "temperature" in body:
        warmth = body["temperature"]
        if warmth.__class__ is not float or warmth - warmth != 0:
            raise Unknown
        ir["temperature"] = warmth
        known += 1
    choice = body.get("tool_choice")
    if choice is not None:
        if choice != "auto":
            raise Unknown
        ir["tool_choice"] = "auto"
        known += 1
    tools = body.get("tools")
    if tools is not None:
        found: list[Any] = []
        for tool in tools:
            given = tool["function"]
            if len(tool) != 2 or tool["type"] != "function":
                raise Unknown
            name, told, schema = _tool(given, "parameters")
            found.append({"name": name, "description": told, "parameters": schema})
        ir["tools"] = found
        known += 1
    if len(body) != known:
        raise Unknown
    return ir, ()


def write_anthropic(ir: Any) -> Converted:
    """Write the IR of a request as one of Anthropic Messages."""
    if ir.__class__ is not dict:
        raise Unknown
    if ir["spelled"] != {"openai-chat": {"/max_completion_tokens": {"key": "max_tokens"}}}:
        raise Unknown
    known = 4
    model, limit = _head(ir)
    out: list[Any] = []
    body: Json = {"model": model, "max_tokens": limit}
    calls: dict[str, str] = {}
    waiting: dict[str, str] = {}
    names = set()
    ids: list[str] = []
    last = ""
    for message in ir["messages"]:
        if message.__class__ is not dict or len(message) != 2:
            raise Unknown
        role, parts = message["role"], message["parts"]
        if parts.__class__ is not list or not parts or role == last:
            raise Unknown
        last = role
        content: list[Any] = []
        if role == "tool":
            for part in parts:
                if part.__class__ is not dict or part["type"] != "tool_result":
                    raise Unknown
                ref = part["tool_call_id"]
                text = _written(part, waiting.pop(ref))
                content.append({"type": "tool_result", "tool_use_id": ref, "content": text})
            if waiting:
                raise Unknown
            out.append({"role": "user", "content": content})
            continue
        for part in parts:
            if part.__class__ is not dict:
                raise Unknown
            kind = part["type"]
            if kind == "text":
                text = part["text"]
                if text.__class__ is not str or not (text.isascii() or text.encode()):
                    raise Unknown
                if len(part) != 2 or text.isspace():
                    raise Unknown
                content.append({"type": "text", "text": text})
            elif kind == "tool_call":
                ref, name, value = part["id"], part["name"], part["arguments"]
                if name.__class__ is not str or value.__class__ is not dict:
                    raise Unknown
                if ref in calls or role != "assistant":
                    raise Unknown
                if len(part) != 5 or part["arguments_json"].__class__ is not str:
                    raise Unknown
                clean(value)
                ids.append(ref)
                calls[ref] = waiting[ref] = name
                names.add(name)
                content.append({"type": "tool_use", "id": ref, "name": name, "input": value})
            elif kind == "image" and role == "user":
                media, data = _image(part)
                given = {"type": "base64", "media_type": media, "data": data}
                content.append({"type": "image", "source": given})
            else:
                raise Unknown
        if role == "system" and not out and "system" not in body and len(content) == 1:
            body["system"] = content[0]["text"]
        elif role != "user" and role != "assistant":
            raise Unknown
        elif len(content) == 1 and content[0]["type"] == "text":
            out.append({"role": role, "content": content[0]["text"]})
        else:
            out.append({"role": role, "content": content})
    body["messages"] = out
    if ids:
        text = "\n".join(ids) + "\n"
        if not _ids(text) or text.count("\n") != len(ids):
            raise Unknown
    tools = ir.get("tools")
    if tools is not None:
        found: list[Any] = []
        for tool in tools:
            name, told, schema = _tool(tool, "parameters")
            names.add(name)
            found.append({"name": name, "description": told, "input_schema": schema})
        body["tools"] = found
        known += 1
    if not all(map(_name, names)):
        raise Unknown
    if "tool_choice" in ir:
        if ir["tool_choice"] != "auto":
            raise Unknown
        body["tool_choice"] = {"type": "auto"}
        known += 1
    notes: tuple[Note, ...] = ()
    if "temperature" in ir:
        notes = (Note("no-place", "lost", None, None),)
        known += 1
    if len(ir) != known:
        raise Unknown
    headers = {"anthropic-version": "2026-10-21"}
    return Converted(body, notes, Envelope(None, None, "POST", "/v1/messages", headers))


# By (source, target): what reads, and what writes.
PAIRS: dict[tuple[str, str], tuple[Reader, Writer]] = {
    ("anthropic", "openai-chat"): (read_anthropic, write_chat),
    ("openai-chat", "anthropic"): (read_chat, write_anthropic),
}
