"""What Ollama's chat API refuses: it pairs nothing, but its fields have types."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from .judge import At, Json, Judge, Refusal, each, integer

ROLES = ("system", "user", "assistant", "tool")

RULES = {
    "model": ("model is required", "facts 7a"),
    "messages": (
        "json: cannot unmarshal {kind} into Go struct field ChatRequest.messages of type "
        "[]api.Message",
        "facts 7a",
    ),
    "role": ("invalid role: {role}, must be one of [system, user, assistant, or tool]", "facts 7a"),
    "content": (
        "json: cannot unmarshal {kind} into Go struct field ChatRequest.messages.content of "
        "type string",
        "facts 7a",
    ),
    "thinking": (
        "json: cannot unmarshal {kind} into Go struct field ChatRequest.messages.thinking of "
        "type string",
        "facts 7d",
    ),
    "images": ("illegal base64 data at input byte 0", "facts 7a"),
    "calls": (
        "json: cannot unmarshal {kind} into Go struct field ChatRequest.messages.tool_calls of "
        "type []api.ToolCall",
        "facts 7d",
    ),
    "call-name": (
        "json: cannot unmarshal {kind} into Go struct field "
        "ChatRequest.messages.tool_calls.function.name of type string",
        "facts 7d",
    ),
    "arguments": (
        "json: cannot unmarshal {kind} into Go struct field "
        "ChatRequest.messages.tool_calls.function.arguments of type "
        "api.ToolCallFunctionArguments",
        "bugs AJ-03",
    ),
    "result-id": (
        "json: cannot unmarshal {kind} into Go struct field ChatRequest.messages.{key} of type "
        "string",
        "facts 7e",
    ),
    "tool": (
        "json: cannot unmarshal {kind} into Go struct field ChatRequest.tools of type api.Tool",
        "facts 7b; bugs SD-24",
    ),
    "properties": (
        "json: cannot unmarshal {kind} into Go struct field "
        "ChatRequest.tools.function.parameters.properties of type map[string]api.ToolProperty",
        "bugs SD-16",
    ),
    "think": (
        'invalid think value: {value} (must be "high", "medium", "low", true, or false)',
        "facts 7a",
    ),
    "format": (
        'invalid format: {value}; expected "json" or a valid JSON Schema object',
        "facts 7a",
    ),
    "options": ('option "{key}" must be of type {kind}', "facts 7a"),
}


def refusals(body: Json) -> list[Refusal]:
    """Return what the API refuses in a request."""
    judge = Judge(RULES)
    if not isinstance(body, dict):
        judge.tell("messages", (), kind=_kind(body))
        return judge.found
    if not isinstance(body.get("model"), str) or not body["model"]:
        judge.tell("model", ("model",))
    messages = body.get("messages", [])
    if not isinstance(messages, list):
        judge.tell("messages", ("messages",), kind=_kind(messages))
    for i, message in each(messages):
        _message(judge, message, ("messages", i))
    for i, tool in enumerate(body.get("tools") or ()):
        _tool(judge, tool, ("tools", i))
    think = body.get("think")
    if not (think is None or isinstance(think, bool) or think in ("low", "medium", "high", "max")):
        judge.tell("think", ("think",), value=think)
    form = body.get("format")
    if not (form is None or form in ("", "json") or isinstance(form, dict)):
        judge.tell("format", ("format",), value=form)
    options = body.get("options")
    for key in ("num_predict", "seed", "top_k", "num_ctx"):
        value = options.get(key) if isinstance(options, dict) else None
        if value is not None and not integer(value):
            judge.tell("options", ("options", key), key=key, kind="integer")
    return judge.found


def _kind(value: Json) -> str:
    kinds = {dict: "object", list: "array", str: "string", bool: "bool", int: "number"}
    return kinds.get(type(value), "number" if isinstance(value, float) else "null")


def _message(judge: Judge, message: dict[str, Any], at: At) -> None:
    if message.get("role") not in ROLES:
        judge.tell("role", (*at, "role"), role=message.get("role"))
    for key, rule in (("content", "content"), ("thinking", "thinking")):
        value = message.get(key)
        if value is not None and not isinstance(value, str):
            judge.tell(rule, (*at, key), kind=_kind(value))
    for key in ("tool_call_id", "tool_name"):
        value = message.get(key)
        if value is not None and not isinstance(value, str):
            judge.tell("result-id", (*at, key), kind=_kind(value), key=key)
    for i, image in enumerate(message.get("images") or ()):
        try:
            assert isinstance(image, str)
            base64.b64decode(image, validate=True)
        except (AssertionError, binascii.Error, ValueError):
            judge.tell("images", (*at, "images", i))
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        judge.tell("calls", (*at, "tool_calls"), kind=_kind(calls))
    for k, call in each(calls):
        inner = call.get("function")
        inner = inner if isinstance(inner, dict) else {}
        place: At = (*at, "tool_calls", k, "function")
        if not isinstance(inner.get("name"), str):
            judge.tell("call-name", (*place, "name"), kind=_kind(inner.get("name")))
        arguments = inner.get("arguments")
        if arguments is not None and not isinstance(arguments, dict):
            judge.tell("arguments", (*place, "arguments"), kind=_kind(arguments))


def _tool(judge: Judge, tool: Json, at: At) -> None:
    inner = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(inner, dict) or tool.get("type", "function") != "function":
        judge.tell("tool", at, kind=_kind(tool))
        return
    schema = inner.get("parameters")
    if schema is not None and not isinstance(schema, dict):
        judge.tell("properties", (*at, "function", "parameters"), kind=_kind(schema))
        return
    found = (schema or {}).get("properties")
    if found is not None and not isinstance(found, dict):
        judge.tell("properties", (*at, "function", "parameters", "properties"), kind=_kind(found))


def body_of(refusal: Refusal) -> Json:
    """Return the error body that the API answers with."""
    return {"error": refusal.text}
