"""Requests of the six wires as what they say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .talk import Asked, Call, Event, Json, Picture, Result, Text, Thought, Tool

THOUGHTS = ("reasoning_content", "reasoning", "thinking")  # keys of a message


def asked(dialect: str, body: Json, streams: bool) -> Asked:
    """Return what a request says."""
    tools, events = HEARD[dialect](body)
    return Asked(tools, events, streams)


def _keys(schema: Json) -> tuple[str, ...]:
    found = schema.get("properties") if isinstance(schema, dict) else None
    return tuple(found or ())


def _objects(value: Json) -> Iterator[dict[str, Any]]:
    yield from (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def _text(content: Json, *keys: str) -> str:
    if isinstance(content, str):
        return content
    found = (part.get(key) for part in _objects(content) for key in keys or ("text",))
    return "\n".join(one for one in found if isinstance(one, str))


def _pictures(content: Json, *kinds: str) -> int:
    return sum(part.get("type") in kinds for part in _objects(content))


def _parsed(text: Json) -> Json:
    """Return arguments as their object; a text that is none stays."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def _said(content: Json, *kinds: str) -> Iterator[Event]:
    """Yield what a user says: a text, and its pictures."""
    yield Text(_text(content), mine=False)
    yield from [Picture()] * _pictures(content, *kinds)


# -- Chat, Ollama ----------------------------------------------------------------------------------


def chat(body: Json) -> tuple[list[Tool], list[Event]]:
    tools, events = [], list[Event]()
    for tool in _objects(body.get("tools")):
        inner = tool[tool["type"]]
        freeform = tool["type"] == "custom"
        about = str(inner.get("description"))
        tools.append(Tool(inner["name"], _keys(inner.get("parameters")), freeform, about=about))
    for message in _objects(body["messages"]):
        events += _chat_message(message)
    return tools, events


def _chat_message(message: Json) -> Iterator[Event]:
    role, content = message["role"], message.get("content")
    if role == "user":
        yield from _said(content, "image_url")
        yield from [Picture()] * len(message.get("images") or ())
    elif role == "tool":
        found = len(message.get("images") or ()) + _pictures(content, "image_url")
        yield Result(message.get("tool_call_id"), _text(content), found)
    elif role == "assistant":
        thought = next(filter(None, map(message.get, THOUGHTS)), None)
        if thought:
            yield Thought(thought)
        if content:
            yield Text(_text(content), mine=True)
        for call in message.get("tool_calls") or ():
            inner = call.get("function") or call.get("custom")
            given = inner.get("arguments", inner.get("input"))
            yield Call(call.get("id"), inner["name"], _parsed(given))


# -- Responses -------------------------------------------------------------------------------------


def responses(body: Json) -> tuple[list[Tool], list[Event]]:
    events = list[Event]()
    tools = list(_items(body.get("tools"), None))
    given = body.get("input")
    if isinstance(given, str):
        return tools, [Text(given, mine=False)]
    for item in _objects(given):
        if item.get("type") == "additional_tools":
            tools += _items(item["tools"], None)
        events += _item(item)
    return tools, events


def _items(tools: Json, space: str | None) -> Iterator[Tool]:
    for tool in _objects(tools):
        kind = tool["type"]
        if kind == "namespace":
            yield from _items(tool["tools"], tool["name"])
        elif kind in ("function", "custom"):
            keys, about = _keys(tool.get("parameters")), str(tool.get("description"))
            yield Tool(tool["name"], keys, kind == "custom", space, about)


def _item(item: Json) -> Iterator[Event]:
    kind = item.get("type", "message")
    if kind == "message":
        if item["role"] == "assistant":
            yield Text(_text(item["content"]), mine=True)
        else:
            user = item["role"] == "user"
            yield from _said(item["content"], "input_image") if user else ()
    elif kind == "reasoning":
        yield Thought(_text(item.get("summary")), item.get("encrypted_content"))
    elif kind in ("function_call", "custom_tool_call"):
        given = item.get("arguments", item.get("input"))
        parsed = _parsed(given) if kind == "function_call" else given
        yield Call(item["call_id"], item["name"], parsed)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output = item["output"]
        yield Result(item["call_id"], _text(output), _pictures(output, "input_image"))


# -- Anthropic -------------------------------------------------------------------------------------


def anthropic(body: Json) -> tuple[list[Tool], list[Event]]:
    events = list[Event]()
    tools = [
        Tool(tool["name"], _keys(tool["input_schema"]), about=str(tool.get("description")))
        for tool in _objects(body.get("tools"))
        if "input_schema" in tool
    ]
    for message in _objects(body["messages"]):
        content = message["content"]
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for block in _objects(content) if message["role"] != "system" else ():
            events += _block(block, message["role"] == "assistant")
    return tools, events


def _block(block: Json, mine: bool) -> Iterator[Event]:
    kind = block["type"]
    if kind == "text":
        yield Text(block["text"], mine)
    elif kind == "image":
        yield Picture()
    elif kind == "thinking":
        yield Thought(block["thinking"], block.get("signature"))
    elif kind == "tool_use":
        yield Call(block["id"], block["name"], block["input"])
    elif kind == "tool_result":
        content = block.get("content")
        yield Result(block["tool_use_id"], _text(content), _pictures(content, "image", "document"))


# -- Gemini ----------------------------------------------------------------------------------------


def gemini(body: Json) -> tuple[list[Tool], list[Event]]:
    tools, events = [], list[Event]()
    for tool in _objects(body.get("tools")):
        for function in _objects(tool.get("functionDeclarations")):
            schema = function.get("parametersJsonSchema") or function.get("parameters")
            about = str(function.get("description"))
            tools.append(Tool(function["name"], _keys(schema), about=about))
    for content in _objects(body["contents"]):
        for part in _objects(content["parts"]):
            events += _part(part, content.get("role") == "model")
    return tools, events


def _part(part: Json, mine: bool) -> Iterator[Event]:
    signature = part.get("thoughtSignature")
    if "functionCall" in part:
        call = part["functionCall"]
        yield Call(call.get("id"), call["name"], call.get("args", {}), signature)
    elif "functionResponse" in part:
        given = part["functionResponse"]
        pictures = sum("inlineData" in inner for inner in _objects(given.get("parts")))
        text = "\n".join(_leaves(given["response"]))
        yield Result(given.get("id"), text, pictures)
    elif "inlineData" in part:
        yield Picture()
    elif part.get("thought"):
        yield Thought(part["text"], signature)
    elif "text" in part:
        yield Text(part["text"], mine)


# -- Bedrock's Converse ----------------------------------------------------------------------------


def converse(body: Json) -> tuple[list[Tool], list[Event]]:
    tools, events = [], list[Event]()
    for tool in _objects(body.get("toolConfig", {}).get("tools")):
        if "toolSpec" in tool:
            spec = tool["toolSpec"]
            keys, about = _keys(spec["inputSchema"]["json"]), str(spec.get("description"))
            tools.append(Tool(spec["name"], keys, about=about))
    for message in _objects(body["messages"]):
        for block in _objects(message["content"]):
            events += _converse_block(block, message["role"] == "assistant")
    return tools, events


def _converse_block(block: Json, mine: bool) -> Iterator[Event]:
    if "text" in block:
        yield Text(block["text"], mine)
    elif "image" in block:
        yield Picture()
    elif "reasoningContent" in block:
        told = block["reasoningContent"]["reasoningText"]
        yield Thought(told["text"], told.get("signature"))
    elif "toolUse" in block:
        call = block["toolUse"]
        yield Call(call["toolUseId"], call["name"], call["input"])
    elif "toolResult" in block:
        given = block["toolResult"]
        text = "\n".join(_leaves([_shown(one) for one in given["content"]]))
        pictures = sum("image" in one for one in _objects(given["content"]))
        yield Result(given["toolUseId"], text, pictures)


def _shown(block: Json) -> Json:
    return block.get("text", block.get("json"))


def _leaves(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from _leaves(inner)


HEARD = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock-converse": converse,
    "ollama": chat,
}
