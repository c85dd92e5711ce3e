"""What OpenAI's Responses API refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .chat import body_of
from .judge import At, Json, Judge, Refusal, each, fits, subschemas, twice

NAME = "[a-zA-Z0-9_-]{1,128}"
ROLES = ("user", "assistant", "system", "developer")
SAID = ("output_text", "refusal")
GIVEN = ("input_text", "input_image", "input_file")
VALUES = {"output_text": "text", "input_text": "text", "refusal": "refusal"}
MEDIA = {
    "input_image": ("image_url", "file_id"),
    "input_file": ("file_data", "file_url", "file_id"),
}
SHARED = frozenset(("type", "id", "status", "name", "namespace", "caller", "call_id", "async"))
# The keys of each kind of item; of other kinds the API knows more than stands here.
KEYS = {
    "message": frozenset(("type", "id", "status", "role", "content", "phase")),
    "reasoning": frozenset(("type", "id", "status", "summary", "content", "encrypted_content")),
    "function_call": SHARED | {"arguments"},
    "custom_tool_call": SHARED | {"input"},
    "function_call_output": SHARED | {"output"},
    "custom_tool_call_output": SHARED | {"output"},
}
PREFIX = {
    "message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc",
}  # fmt: skip
CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
RESULTS = ("function_call_output", "custom_tool_call_output")

RULES = {
    "model": ("Missing required parameter: 'model'.", "facts 2a"),
    "input": (
        "Missing required parameter: 'input'.",
        "facts 2a; it may stand in a prompt or a conversation of the provider",
    ),
    "item": ("Invalid type for '{bracketed}': expected an object.", "facts 2a"),
    "key": ("Unknown parameter: '{bracketed}'.", "facts 2a, 2d, 2e"),
    "role": (
        "Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and "
        "'user'.",
        "facts 2a",
    ),
    "content": (
        "Invalid type for '{bracketed}': expected one of an array of objects or string.",
        "facts 2a",
    ),
    "part": ("Invalid value: '{kind}'. Supported values are: {kinds}.", "facts 2a"),
    "part-value": ("Missing required parameter: '{bracketed}'.", "facts 2a"),
    "item-id": (
        "Invalid '{bracketed}': '{id}'. Expected an ID that begins with '{prefix}'.",
        "not confirmed",
    ),
    "same-item": ("Duplicate item found with id {id}.", "not confirmed"),
    "call-id": ("Missing required parameter: '{bracketed}'.", "facts 2d"),
    "long-id": (
        "Invalid '{bracketed}': string too long. Expected a string with maximum length 64, but "
        "got a string with length {length} instead.",
        "facts 2i; bugs ID-14",
    ),
    "call-name": (
        "Invalid '{bracketed}': string does not match pattern. Expected a string that matches "
        "the pattern '^[a-zA-Z0-9_-]+$'.",
        "facts 2i",
    ),
    "arguments": ("Invalid type for '{bracketed}': expected a string.", "facts 2d"),
    "output": (
        "Invalid type for '{bracketed}': expected one of a string or array of objects.",
        "facts 2e; bugs RE-05",
    ),
    "unanswered": ("No tool output found for function call {id}.", "facts 2e; bugs ID-18"),
    "orphan": (
        "No tool call found for function call output with call_id {id}.",
        "bugs ID-06",
    ),
    "same-call": ("Duplicate function call with call_id {id}.", "bugs ID-05, ID-23"),
    "answered-twice": ("Duplicate output for function call {id}.", "not confirmed"),
    "summary": ("Missing required parameter: '{bracketed}'.", "facts 2a"),
    "alone": (
        "Item '{id}' of type 'reasoning' was provided without its required following item.",
        "facts 2d; bugs RS-13",
    ),
    "unthought": (
        "Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: "
        "'{thought}'.",
        "facts 2d; bugs RS-13",
    ),
    "signature": ("The encrypted content for item {id} could not be verified.", "facts 2d"),
    "tool-kind": ("Invalid value: '{kind}'.", "facts 2b"),
    "tool-name": (
        "Invalid '{bracketed}': string does not match pattern. Expected a string that matches "
        "the pattern '^[a-zA-Z0-9_-]+$'.",
        "facts 2i",
    ),
    "same-tool": ("Invalid '{bracketed}': tool names must be unique.", "not confirmed"),
    "schema-root": (
        "Invalid schema for function '{name}': schema must be a JSON Schema of 'type: "
        '"object"\', got \'type: "{kind}"\'.',
        "bugs SD-15",
    ),
    "schema-strict": (
        "Invalid schema for function '{name}': 'additionalProperties' is required to be supplied "
        "and to be false, and 'required' to name every property.",
        "facts 1b, 2b",
    ),
    "choice": ("Tool choices other than 'auto' need 'tools'.", "bugs TC-10"),
    "choice-name": ("Tool choice '{name}' not found in 'tools' parameter.", "facts 2c"),
    "format": ("Missing required parameter: '{bracketed}'.", "facts 2a"),
    "few-tokens": (
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.",
        "facts 2a",
    ),
}
HOSTED = frozenset(
    "apply_patch code_interpreter computer computer_use_preview file_search image_generation "
    "local_shell mcp namespace programmatic_tool_calling shell tool_search web_search "
    "web_search_2025_08_26 web_search_preview web_search_preview_2025_03_11".split()
)


def refusals(body: Json, sent: Sequence[Json] | None = None) -> list[Refusal]:
    """Return what the API refuses in a request."""
    judge = Judge(RULES)
    if not isinstance(body, dict):
        judge.tell("item", ())
        return judge.found
    if not isinstance(body.get("model"), str) and "prompt" not in body:
        judge.tell("model", ("model",))
    held = any(body.get(key) is not None for key in ("previous_response_id", "conversation"))
    given = body.get("input")
    if given is None and not held and "prompt" not in body:
        judge.tell("input", ("input",))
    items = given if isinstance(given, list) else []
    for i, item in enumerate(items):
        _item(judge, item, ("input", i))
    ids = [(item["id"], ("input", i)) for i, item in each(items) if _is_new(item)]
    for name, at in twice(ids):
        judge.tell("same-item", (*at, "id"), id=name)
    if not held:
        _pairs(judge, items)
    _thoughts(judge, items, sent)
    _tools(judge, body)
    tokens = body.get("max_output_tokens")
    if isinstance(tokens, int) and tokens < 16:
        judge.tell("few-tokens", ("max_output_tokens",))
    form = (body.get("text") or {}).get("format") or {}
    if form.get("type") == "json_schema":
        for key in ("name", "schema"):
            if not form.get(key):
                judge.tell("format", ("text", "format", key))
    return judge.found


def _kind(item: dict[str, Any]) -> str:
    return str(item.get("type") or ("message" if "role" in item else "item_reference"))


def _is_new(item: dict[str, Any]) -> bool:
    return isinstance(item.get("id"), str) and _kind(item) in KEYS


def _item(judge: Judge, item: Json, at: At) -> None:
    if not isinstance(item, dict):
        judge.tell("item", at)
        return
    kind = _kind(item)
    for key in item if kind in KEYS else ():
        if key not in KEYS[kind]:
            judge.tell("key", (*at, key))
    name, prefix = item.get("id"), PREFIX.get(kind)
    if prefix and name is not None and not str(name).startswith(prefix):
        judge.tell("item-id", (*at, "id"), id=name, prefix=prefix)
    if kind == "message":
        _message(judge, item, at)
    elif kind in CALLS:
        _call_id(judge, item, at)
        if not fits(NAME, item.get("name")):
            judge.tell("call-name", (*at, "name"))
        if not isinstance(item.get(CALLS[kind]), str):
            judge.tell("arguments", (*at, CALLS[kind]))
    elif kind in RESULTS:
        if "name" not in item:
            _call_id(judge, item, at)
        _content(judge, item.get("output"), GIVEN, (*at, "output"), "output")
    elif kind == "reasoning" and not isinstance(item.get("summary"), list):
        judge.tell("summary", (*at, "summary"))


def _call_id(judge: Judge, item: dict[str, Any], at: At) -> None:
    name = item.get("call_id")
    if not isinstance(name, str) or not name:
        judge.tell("call-id", (*at, "call_id"))
    elif len(name) > 64:
        judge.tell("long-id", (*at, "call_id"), length=len(name))


def _message(judge: Judge, item: dict[str, Any], at: At) -> None:
    role = item.get("role")
    if role not in ROLES:
        judge.tell("role", (*at, "role"), role=role)
        return
    kinds = SAID if role == "assistant" else GIVEN
    _content(judge, item.get("content"), kinds, (*at, "content"), "content")


def _content(judge: Judge, content: Json, kinds: tuple[str, ...], at: At, rule: str) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        judge.tell(rule, at)
        return
    for i, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in kinds:
            judge.tell("part", (*at, i), kind=kind, kinds=", ".join(f"'{k}'" for k in kinds))
        elif kind in VALUES and not isinstance(part.get(VALUES[kind]), str):
            judge.tell("part-value", (*at, i, VALUES[kind]))
        elif kind in MEDIA and not any(part.get(key) for key in MEDIA[kind]):
            judge.tell("part-value", (*at, i, MEDIA[kind][0]))


def _pairs(judge: Judge, items: list[Any]) -> None:
    """Every call has its output somewhere behind it, every output its call before it."""
    waiting: dict[Any, At] = {}
    answered: set[Any] = set()
    for i, item in each(items):
        kind, name = _kind(item), item.get("call_id")
        if kind in CALLS:
            if name in waiting:
                judge.tell("same-call", ("input", i, "call_id"), id=name)
            waiting[name] = ("input", i)
        elif kind in RESULTS and name is not None:
            if name in waiting:
                del waiting[name]
                answered.add(name)
            else:
                rule = "answered-twice" if name in answered else "orphan"
                judge.tell(rule, ("input", i, "call_id"), id=name)
    for name, at in waiting.items():
        judge.tell("unanswered", at, id=name)


def _thoughts(judge: Judge, items: list[Any], sent: Sequence[Json] | None) -> None:
    """A thought that the API said stands before what it led to, with its state as it was."""
    kinds = [_kind(item) if isinstance(item, dict) else "" for item in items]
    for i, item in each(items):
        if kinds[i] != "reasoning" or item.get("id") is None:
            continue
        after = kinds[i + 1] if i + 1 < len(items) else ""
        if after in ("", *RESULTS) or (after == "message" and items[i + 1]["role"] != "assistant"):
            judge.tell("alone", ("input", i), id=item["id"])
    if sent is None:
        return
    known = {item["id"]: item for body in sent for item in body["output"] if "id" in item}
    for i, item in each(items):
        if kinds[i] == "reasoning" and item.get("encrypted_content") is not None:
            state, first = item["encrypted_content"], known.get(item.get("id"))
            states = [one.get("encrypted_content") for one in [first] if one] or [
                one.get("encrypted_content") for one in known.values()
            ]
            if state not in states:
                judge.tell("signature", ("input", i, "encrypted_content"), id=item.get("id"))
    led = {
        two["id"]: one["id"]
        for body in sent
        for one, two in zip(body["output"], body["output"][1:], strict=False)
        if one["type"] == "reasoning"
    }
    there = {item.get("id") for _, item in each(items)}
    for i, item in each(items):
        thought = led.get(item.get("id"))
        if thought is not None and thought not in there:
            judge.tell("unthought", ("input", i), id=item["id"], kind=kinds[i], thought=thought)


def _tools(judge: Judge, body: dict[str, Any]) -> None:
    names: list[tuple[Json, At]] = []
    tools = body.get("tools")
    for i, tool in each(tools):
        kind, at = tool.get("type"), ("tools", i)
        if kind in HOSTED:
            continue
        if kind not in ("function", "custom"):
            judge.tell("tool-kind", (*at, "type"), kind=kind)
            continue
        name = tool.get("name")
        names.append((name, (*at, "name")))
        if not fits(NAME, name):
            judge.tell("tool-name", (*at, "name"))
        schema = tool.get("parameters")
        root = schema.get("type") if isinstance(schema, dict) else None
        if schema not in (None, {}) and root != "object":
            judge.tell("schema-root", (*at, "parameters"), name=name, kind=root)
        if tool.get("strict") is True:
            _strict(judge, schema, (*at, "parameters"), name)
    for _, place in twice(names):
        judge.tell("same-tool", place)
    choice = body.get("tool_choice")
    if choice not in (None, "auto", "none") and not tools:
        judge.tell("choice", ("tool_choice",))
    elif isinstance(choice, dict) and choice.get("type") in ("function", "custom"):
        if choice.get("name") not in [name for name, _ in names]:
            judge.tell("choice-name", ("tool_choice", "name"), name=choice.get("name"))


def _strict(judge: Judge, schema: Json, at: At, name: Json) -> None:
    for node, place in subschemas(schema, at):
        if isinstance(node, dict) and node.get("type") == "object":
            missing = set(node.get("properties") or ()) - set(node.get("required") or ())
            if node.get("additionalProperties") is not False or missing:
                judge.tell("schema-strict", place, name=name)


__all__ = ["RULES", "body_of", "refusals"]
