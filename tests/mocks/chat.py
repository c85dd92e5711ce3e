"""What OpenAI's Chat Completions API refuses."""

from __future__ import annotations

from typing import Any

from .judge import At, Json, Judge, Refusal, each, fits, like, subschemas, twice

NAME = "[a-zA-Z0-9_-]{1,64}"
ROLES = ("system", "assistant", "user", "function", "tool", "developer")
PARTS = {
    "system": ("text",),
    "developer": ("text",),
    "tool": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
}

RULES = {
    "model": ("you must provide a model parameter", "facts 1a"),
    "messages": (
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an "
        "empty array instead.",
        "facts 1a",
    ),
    "message": ("Invalid type for '{bracketed}': expected an object.", "facts 1a"),
    "role": (
        "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', "
        "'function', 'tool', and 'developer'.",
        "facts 1a",
    ),
    "no-content": ("Missing required parameter: '{bracketed}'.", "facts 1a"),
    "null-content": (
        "Invalid value for 'content': expected a string, got null.",
        "bugs OR-18",
    ),
    "content": (
        "Invalid type for '{bracketed}': expected one of a string or array of objects.",
        "facts 1a",
    ),
    "empty-content": (
        "Invalid '{bracketed}': empty array. Expected an array with minimum length 1, but got an "
        "empty array instead.",
        "not confirmed",
    ),
    "part": (
        "Invalid value: '{kind}'. Supported values are: {kinds}.",
        "facts 1a; bugs OR-15, MM-11",
    ),
    "part-value": ("Missing required parameter: '{bracketed}'.", "facts 1a"),
    "audio": (
        "Invalid '{bracketed}'. Content blocks are expected to be either text or image_url type.",
        "traffic openai-chat/194487ca6472deb0",
    ),
    "calls": (
        "Invalid '{bracketed}': expected an array of 1 to 128 calls.",
        "facts 1i",
    ),
    "calls-role": ("Additional properties are not allowed ('tool_calls').", "facts 1a"),
    "call-kind": (
        "Invalid value: '{kind}'. Supported values are: 'function' and 'custom'.",
        "facts 1d",
    ),
    "call-id": ("Missing required parameter: '{bracketed}'.", "bugs ID-09"),
    "long-id": (
        "Invalid '{bracketed}': string too long. Expected a string with maximum length 64, but "
        "got a string with length {length} instead.",
        "bugs ID-14",
    ),
    "same-id": ("Duplicate value for '{bracketed}'.", "bugs ID-05, ID-23"),
    "call-name": (
        "Invalid '{bracketed}': string does not match pattern. Expected a string that matches "
        "the pattern '^[a-zA-Z0-9_-]+$'.",
        "facts 1i, 12f",
    ),
    "arguments": ("Invalid type for '{bracketed}': expected a string.", "facts 1d"),
    "unanswered": (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}",
        "bugs ID-08, ID-01",
    ),
    "orphan": (
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
        "with 'tool_calls'.",
        "facts 1e; bugs OR-19, ID-02",
    ),
    "answered-twice": (
        "Duplicate tool message for 'tool_call_id' {id}.",
        "bugs ID-05",
    ),
    "result-id": ("Missing required parameter: '{bracketed}'.", "facts 1e"),
    "tools": (
        "Invalid 'tools': expected an array of 1 to 128 tools.",
        "facts 1i",
    ),
    "tool-kind": (
        "Invalid value: '{kind}'. Supported values are: 'function' and 'custom'.",
        "facts 1b; bugs SD-24",
    ),
    "tool-name": (
        "Invalid '{bracketed}': string does not match pattern. Expected a string that matches "
        "the pattern '^[a-zA-Z0-9_-]+$'.",
        "facts 1i",
    ),
    "same-tool": ("Invalid '{bracketed}': tool names must be unique.", "facts 1b"),
    "schema-root": (
        "Invalid schema for function '{name}': schema must be a JSON Schema of 'type: "
        '"object"\', got \'type: "{kind}"\'.',
        "bugs SD-15",
    ),
    "schema-strict": (
        "Invalid schema for function '{name}': 'additionalProperties' is required to be supplied "
        "and to be false, and 'required' to name every property.",
        "facts 1b",
    ),
    "choice": (
        "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
        "specified.",
        "bugs TC-10",
    ),
    "choice-name": ("Tool choice '{name}' not found in 'tools' parameter.", "facts 1c"),
    "choice-word": (
        "Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'.",
        "facts 1c",
    ),
    "stop": (
        "Invalid 'stop': array too long. Expected an array with maximum length 4.",
        "facts 1a",
    ),
    "format": ("Invalid 'response_format': {why}.", "facts 1a, 1i"),
}


def refusals(body: Json, model: str | None = None) -> list[Refusal]:
    """Return what the API refuses in a request."""
    judge = Judge(RULES)
    if not isinstance(body, dict):
        judge.tell("message", ())
        return judge.found
    model = body.get("model", model)
    if not isinstance(model, str) or not model:
        judge.tell("model", ("model",))
        model = None
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        judge.tell("messages", ("messages",))
        messages = []
    for i, message in enumerate(messages):
        _message(judge, message, ("messages", i), model)
    _pairs(judge, messages)
    _tools(judge, body)
    stop = body.get("stop")
    if isinstance(stop, list) and len(stop) > 4:
        judge.tell("stop", ("stop",))
    form = body.get("response_format")
    if isinstance(form, dict) and form.get("type") == "json_schema":
        named = form.get("json_schema")
        if not isinstance(named, dict) or not fits(NAME, named.get("name")):
            judge.tell("format", ("response_format",), why="a name of letters and digits is needed")
    return judge.found


def _message(judge: Judge, message: Json, at: At, model: str | None) -> None:
    if not isinstance(message, dict):
        judge.tell("message", at)
        return
    role = message.get("role")
    if role not in ROLES:
        judge.tell("role", (*at, "role"), role=role)
        return
    content = message.get("content")
    calls = message.get("tool_calls")
    if calls is not None and role != "assistant":
        judge.tell("calls-role", (*at, "tool_calls"))
    if content is None:
        instead = ("tool_calls", "function_call", "audio", "refusal")
        if role not in ("assistant", "function"):
            judge.tell("no-content", (*at, "content"))
        elif role == "assistant" and not any(message.get(key) for key in instead):
            judge.tell("null-content", (*at, "content"))
    elif isinstance(content, list):
        if not content:
            judge.tell("empty-content", (*at, "content"))
        for j, part in enumerate(content):
            _part(judge, part, role, (*at, "content", j), model)
    elif not isinstance(content, str):
        judge.tell("content", (*at, "content"))
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        judge.tell("result-id", (*at, "tool_call_id"))
    if role == "assistant" and calls is not None:
        _calls(judge, calls, (*at, "tool_calls"))


def _part(judge: Judge, part: Json, role: str, at: At, model: str | None) -> None:
    kinds = PARTS.get(role, ("text",))
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in kinds:
        judge.tell("part", at, kind=kind, kinds=", ".join(f"'{k}'" for k in kinds))
        return
    value: Any = part.get(kind)
    texts = kind in ("text", "refusal")
    if not isinstance(value, str) if texts else not isinstance(value, dict):
        judge.tell("part-value", (*at, kind))
    elif kind == "image_url" and not isinstance(value.get("url"), str):
        judge.tell("part-value", (*at, kind, "url"))
    elif kind == "input_audio" and like(model, "gpt-5"):
        judge.tell("audio", at[:2])


def _calls(judge: Judge, calls: Json, at: At) -> None:
    if not isinstance(calls, list) or not 1 <= len(calls) <= 128:
        judge.tell("calls", at)
        return
    ids = []
    for k, call in enumerate(calls):
        kind = call.get("type") if isinstance(call, dict) else None
        if kind not in ("function", "custom"):
            judge.tell("call-kind", (*at, k, "type"), kind=kind)
            continue
        found = call.get("id")
        if not isinstance(found, str) or not found.strip():
            judge.tell("call-id", (*at, k, "id"))
        elif len(found) > 64:
            judge.tell("long-id", (*at, k, "id"), length=len(found))
        ids.append((found, (*at, k, "id")))
        inner = call.get(kind)
        inner = inner if isinstance(inner, dict) else {}
        if not fits(NAME, inner.get("name")):
            judge.tell("call-name", (*at, k, kind, "name"))
        words = "arguments" if kind == "function" else "input"
        if not isinstance(inner.get(words), str):
            judge.tell("arguments", (*at, k, kind, words))
    for _, place in twice(ids):
        judge.tell("same-id", place)


def _pairs(judge: Judge, messages: list[Any]) -> None:
    """Every call is answered at once, every answer has its call."""
    waiting: dict[Any, At] = {}
    answered: set[Any] = set()
    for i, message in enumerate(messages):
        if not isinstance(message, dict):
            continue
        if message.get("role") == "tool":
            key = message.get("tool_call_id")
            if not isinstance(key, str):
                continue
            if key in waiting:
                del waiting[key]
                answered.add(key)
            elif key in answered:
                judge.tell("answered-twice", ("messages", i, "tool_call_id"), id=key)
            else:
                judge.tell("orphan", ("messages", i, "tool_call_id"))
            continue
        _unanswered(judge, waiting)
        answered = set()
        calls = message.get("tool_calls")
        waiting = {
            call.get("id"): ("messages", i, "tool_calls", k)
            for k, call in each(calls)
            if isinstance(call.get("id"), str)
        }
    _unanswered(judge, waiting)


def _unanswered(judge: Judge, waiting: dict[Any, At]) -> None:
    for key, at in waiting.items():
        judge.tell("unanswered", at, ids=key)


def _tools(judge: Judge, body: dict[str, Any]) -> None:
    tools = body.get("tools")
    names: list[tuple[Json, At]] = []
    if tools is not None and (not isinstance(tools, list) or not 1 <= len(tools) <= 128):
        judge.tell("tools", ("tools",))
    for i, tool in each(tools):
        kind = tool.get("type")
        if kind not in ("function", "custom"):
            judge.tell("tool-kind", ("tools", i, "type"), kind=kind)
            continue
        inner = tool.get(kind)
        inner = inner if isinstance(inner, dict) else {}
        name = inner.get("name")
        at: At = ("tools", i, kind)
        if not fits(NAME, name):
            judge.tell("tool-name", (*at, "name"))
        names.append((name, (*at, "name")))
        schema = inner.get("parameters")
        if schema is None:
            continue
        if not isinstance(schema, dict) or schema.get("type") != "object":
            found = schema.get("type") if isinstance(schema, dict) else None
            if schema != {}:
                judge.tell("schema-root", (*at, "parameters"), name=name, kind=found)
        if inner.get("strict") is True:
            _strict(judge, schema, (*at, "parameters"), name)
    for _, place in twice(names):
        judge.tell("same-tool", place)
    _choice(judge, body, [name for name, _ in names], bool(tools or body.get("functions")))


def _strict(judge: Judge, schema: Json, at: At, name: Json) -> None:
    for node, place in subschemas(schema, at):
        if isinstance(node, dict) and node.get("type") == "object":
            missing = set(node.get("properties") or ()) - set(node.get("required") or ())
            if node.get("additionalProperties") is not False or missing:
                judge.tell("schema-strict", place, name=name)


def _choice(judge: Judge, body: dict[str, Any], names: list[Json], tools: bool) -> None:
    choice = body.get("tool_choice")
    if body.get("parallel_tool_calls") is not None and not tools:
        judge.tell("choice", ("parallel_tool_calls",))
    if choice is None:
        return
    if not tools:
        judge.tell("choice", ("tool_choice",))
        return
    if isinstance(choice, str):
        if choice not in ("none", "auto", "required"):
            judge.tell("choice-word", ("tool_choice",), choice=choice)
        return
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind in ("function", "custom"):
        name = (choice.get(kind) or {}).get("name")
        if name not in names:
            judge.tell("choice-name", ("tool_choice", kind, "name"), name=name)
    elif kind == "allowed_tools":
        allowed = choice.get("allowed_tools")
        for i, one in each((allowed or {}).get("tools")):
            name = (one.get("function") or one.get("custom") or {}).get("name")
            if name not in names:
                at: At = ("tool_choice", "allowed_tools", "tools", i)
                judge.tell("choice-name", at, name=name)
    else:
        judge.tell("choice-word", ("tool_choice",), choice=choice)


def body_of(refusal: Refusal) -> Json:
    """Return the error body that the API answers with."""
    param = refusal.path.lstrip("/").replace("/", ".")
    return {
        "error": {
            "message": refusal.text,
            "type": "invalid_request_error",
            "param": param or None,
            "code": None,
        }
    }


__all__ = ["RULES", "body_of", "refusals"]
