"""What Gemini's generateContent refuses, at Google AI and on Vertex."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from .judge import At, Json, Judge, Refusal, each, fits, like, subschemas, twice

NAME = "[A-Za-z_][A-Za-z0-9_.:-]{0,127}"
DATA = ("text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
        "codeExecutionResult", "toolCall", "toolResponse")  # fmt: skip
CALL = ("id", "name", "args", "partialArgs", "willContinue")
RESPONSE = ("id", "name", "response", "parts", "willContinue", "scheduling")
TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
SCHEMA = (
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "default",
    "enum",
    "example",
    "items",
    "properties",
    "required",
    "propertyOrdering",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "pattern",
    "anyOf",
)
SENTINELS = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")

RULES = {
    "contents": ("* GenerateContentRequest.contents: contents is not specified", "bugs SY-03"),
    "role": ("Please use a valid role: user, model.", "facts 4a"),
    "no-parts": (
        "* GenerateContentRequest.{bracketed}: contents.parts must not be empty.",
        "facts 4a; bugs MM-09",
    ),
    "no-data": (
        "* GenerateContentRequest.{bracketed}.data: required oneof field 'data' must have one "
        "initialized field",
        "facts 4a",
    ),
    "two-data": (
        "Invalid value at '{bracketed}' (oneof), oneof field 'data' is already set.",
        "facts 4a",
    ),
    "text": ("Invalid value at '{bracketed}' (TYPE_STRING)", "facts 4a"),
    "call-role": ("Please ensure that function calls stand in turns of the model.", "facts 4d"),
    "response-role": (
        "Please ensure that function responses stand in turns of the user.",
        "facts 4e",
    ),
    "call-name": (
        "* GenerateContentRequest.{bracketed}: [FIELD_INVALID] Invalid function name. Must start "
        "with a letter or an underscore, up to 128 letters, digits, underscores, dots, colons "
        "and dashes.",
        "facts 4b",
    ),
    "call-args": (
        "Invalid value at '{bracketed}' (type.googleapis.com/google.protobuf.Struct)",
        "facts 4d; bugs AJ-03",
    ),
    "unknown": (
        "Unknown name \"{name}\" at '{bracketed}': Cannot find field.",
        "bugs RS-02, ID-20",
    ),
    "response-name": (
        "* GenerateContentRequest.{bracketed}: [REQUIRED_FIELD_MISSING] function_response Name "
        "cannot be empty",
        "bugs ID-21",
    ),
    "response-object": (
        "Invalid value at '{bracketed}' (type.googleapis.com/google.protobuf.Struct)",
        "facts 4e",
    ),
    "first-call": (
        "Please ensure that function call turn comes immediately after a user turn or after a "
        "function response turn.",
        "bugs OR-04",
    ),
    "orphan": (
        "Please ensure that function response turn comes immediately after a function call turn.",
        "bugs OR-05",
    ),
    "count": (
        "Please ensure that the number of function response parts is equal to the number of "
        "function call parts of the function call turn.",
        "bugs ID-04",
    ),
    "names": (
        "Please ensure that the function responses name the functions of the function call turn.",
        "facts 4e; bugs ID-21",
    ),
    "ids": (
        "Please ensure that the function responses have the ids of the function call turn.",
        "facts 4d, 4e; bugs ID-05",
    ),
    "same-id": (
        "Please ensure that the function calls of a turn have ids of their own.",
        "facts 4d; bugs ID-23",
    ),
    "media": ("* GenerateContentRequest.{bracketed}: mimeType and data are required", "facts 4a"),
    "signature": (
        "Function call is missing a thought_signature in functionCall parts. This is required "
        "for tools to work correctly, and missing thought_signature may lead to degraded model "
        "performance. Additional data, function call `{name}`, position {place}.",
        "bugs RS-01; facts 4d",
    ),
    "bytes": (
        "Invalid value at '{bracketed}' (TYPE_BYTES), Base64 decoding failed",
        "bugs RS-06",
    ),
    "foreign-signature": ("Thought signature is not valid at '{bracketed}'.", "bugs RS-06, RS-08"),
    "tool-name": (
        "* GenerateContentRequest.{bracketed}: [FIELD_INVALID] Invalid function name. Must start "
        "with a letter or an underscore, up to 128 letters, digits, underscores, dots, colons "
        "and dashes.",
        "facts 4b",
    ),
    "same-tool": ("Duplicate function declaration found: {name}", "facts 4b"),
    "both-schemas": (
        "Invalid value at '{bracketed}' (oneof): parameters and parametersJsonSchema are "
        "mutually exclusive",
        "facts 4b",
    ),
    "schema-root": (
        "* GenerateContentRequest.{bracketed}: functionDeclaration parameters schema should be "
        "of type OBJECT",
        "bugs SD-15",
    ),
    "schema-key": (
        "Unknown name \"{name}\" at '{bracketed}': Cannot find field.",
        "facts 4b; bugs SD-01, SD-03, SD-05, SD-06",
    ),
    "schema-list": (
        "Invalid value at '{bracketed}': Proto field is not repeating, cannot start list.",
        "bugs SD-07",
    ),
    "schema-type": (
        "Invalid value at '{bracketed}' (type.googleapis.com/google.ai.Type)",
        "facts 4b",
    ),
    "schema-enum": ("{bracketed}: only allowed for STRING type", "bugs SD-11"),
    "schema-any": (
        "{bracketed}: schema specified other fields alongside any_of. When using any_of, it must "
        "be the only field set.",
        "bugs SD-08",
    ),
    "config": (
        "Function calling config is set without function_declarations.",
        "bugs TC-10",
    ),
    "config-mode": ("Invalid value at '{bracketed}' (Mode)", "facts 4c"),
    "config-names": (
        "* GenerateContentRequest.{bracketed}: allowed_function_names should only be set when "
        "the mode is ANY or VALIDATED.",
        "bugs TC-06",
    ),
    "config-name": (
        "* GenerateContentRequest.{bracketed}: allowed_function_names must be names of "
        "function_declarations.",
        "facts 4c",
    ),
}


def refusals(
    body: Json,
    model: str | None = None,
    version: str | None = None,
    sent: Sequence[Json] | None = None,
    vertex: bool = False,
) -> list[Refusal]:
    """Return what the API refuses; `sent` are the responses that it gave, where they are known."""
    judge = Judge(RULES)
    body, names = _camel(body, ())
    if not isinstance(body, dict):
        judge.tell("contents", ())
        return judge.found
    contents = body.get("contents")
    contents = [contents] if isinstance(contents, dict) else contents
    if not isinstance(contents, list) or not contents:
        judge.tell("contents", ("contents",))
        contents = []
    model = model or body.get("model")
    bare = vertex and not like(model, "gemini-3", "gemini-4")  # ids: recorded as taken since then
    for i, content in enumerate(contents):
        _content(judge, content, ("contents", i), bare)
    turns = _turns(contents)
    _pairs(judge, turns)
    _signatures(judge, turns, model, sent)
    _tools(judge, body, vertex)
    return [one._replace(path=names.get(one.path, one.path)) for one in judge.found]


def _camel(value: Json, at: At) -> tuple[Json, dict[str, str]]:
    """Write the keys as the API names them; return the paths as they stand in the body."""
    names: dict[str, str] = {}

    def turned(value: Json, here: str, there: str, data: bool) -> Json:
        names[here] = there
        if isinstance(value, list):
            return [turned(v, f"{here}/{i}", f"{there}/{i}", data) for i, v in enumerate(value)]
        if not isinstance(value, dict):
            return value
        out = {}
        for key, inner in value.items():
            head, *rest = str(key).split("_")
            name = key if data else head + "".join(word[:1].upper() + word[1:] for word in rest)
            inside = data or name in ("args", "response", "parametersJsonSchema", "labels")
            inside = inside or here.endswith("/properties")
            escaped = [str(k).replace("~", "~0").replace("/", "~1") for k in (name, key)]
            out[name] = turned(inner, f"{here}/{escaped[0]}", f"{there}/{escaped[1]}", inside)
        return out

    return turned(value, "", "", False), {k: v for k, v in names.items() if k != v}


# -- contents ---------------------------------------------------------------------------------


def _content(judge: Judge, content: Json, at: At, bare: bool) -> None:
    role = content.get("role", "user") if isinstance(content, dict) else None
    if role not in ("user", "model", "function", None) or not isinstance(content, dict):
        judge.tell("role", (*at, "role"))
        return
    parts = content.get("parts")
    if not isinstance(parts, list) or not parts:
        judge.tell("no-parts", (*at, "parts"))
        return
    for j, part in enumerate(parts):
        _part(judge, part, role, (*at, "parts", j), bare)


def _part(judge: Judge, part: Json, role: str | None, at: At, bare: bool) -> None:
    data = [key for key in DATA if isinstance(part, dict) and part.get(key) is not None]
    if not data:
        thought = isinstance(part, dict) and part.get("thoughtSignature")
        if not thought:
            judge.tell("no-data", at)
        return
    if len(data) > 1:
        judge.tell("two-data", (*at, data[1]))
    kind, value = data[0], part[data[0]]
    if kind == "text":
        if not isinstance(value, str):
            judge.tell("text", (*at, kind))
    elif kind == "functionCall":
        if role != "model":
            judge.tell("call-role", (*at, kind))
        _known(judge, value, CALL, (*at, kind), bare)
        if not fits(NAME, value.get("name")) and not value.get("partialArgs"):
            judge.tell("call-name", (*at, kind, "name"))
        if not isinstance(value.get("args", {}), dict):
            judge.tell("call-args", (*at, kind, "args"))
    elif kind == "functionResponse":
        if role == "model":
            judge.tell("response-role", (*at, kind))
        _known(judge, value, RESPONSE, (*at, kind), bare)
        if not value.get("name"):
            judge.tell("response-name", (*at, kind, "name"))
        if not isinstance(value.get("response"), dict):
            judge.tell("response-object", (*at, kind, "response"))
    elif kind in ("inlineData", "fileData"):
        wanted = ("mimeType", "data") if kind == "inlineData" else ("fileUri",)
        if not all(isinstance(value.get(key), str) for key in wanted):
            judge.tell("media", (*at, kind))
    signature = part.get("thoughtSignature")
    if signature is not None and not _bytes(signature):
        judge.tell("bytes", (*at, "thoughtSignature"))


def _known(judge: Judge, value: Json, keys: Sequence[str], at: At, bare: bool) -> None:
    for key in value:
        if key not in keys or (bare and key == "id"):
            judge.tell("unknown", at, name=key)


def _alphabet(text: str) -> str:
    """Return base64 in the standard alphabet: Google's own SDK sends the URL-safe one."""
    return text.replace("-", "+").replace("_", "/").rstrip("=")


def _bytes(value: Json) -> bool:
    if value in SENTINELS:
        return True
    if not isinstance(value, str):
        return False
    text = _alphabet(value)
    try:
        base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


Turn = tuple[bool, list[tuple[dict[str, Any], At]]]  # whether the model spoke, and its parts


def _turns(contents: list[Any]) -> list[Turn]:
    """Return the turns as the API sees them: neighbours of one role are one."""
    turns: list[Turn] = []
    for i, content in each(contents):
        spoke = content.get("role") == "model"
        parts: list[tuple[dict[str, Any], At]] = [
            (part, ("contents", i, "parts", j)) for j, part in each(content.get("parts"))
        ]
        if turns and turns[-1][0] == spoke:
            turns[-1][1].extend(parts)
        else:
            turns.append((spoke, parts))
    return turns


def _of(turn: Turn, kind: str) -> list[tuple[dict[str, Any], At]]:
    return [(p[kind], (*at, kind)) for p, at in turn[1] if isinstance(p.get(kind), dict)]


def _pairs(judge: Judge, turns: list[Turn]) -> None:
    for n, turn in enumerate(turns):
        if turn[0]:
            calls = _of(turn, "functionCall")
            if calls and n == 0:
                judge.tell("first-call", calls[0][1])
            for _, at in twice([(c["id"], at) for c, at in calls if c.get("id")]):
                judge.tell("same-id", (*at, "id"))
            answers = _of(turns[n + 1], "functionResponse") if n + 1 < len(turns) else []
            if calls and not answers:
                judge.tell("count", calls[0][1])
            continue
        answers = _of(turn, "functionResponse")
        calls = _of(turns[n - 1], "functionCall") if n else []
        if answers and not calls:
            judge.tell("orphan", answers[0][1])
        elif answers and len(calls) != len(answers):
            judge.tell("count", answers[0][1])
        elif answers:
            _matched(judge, calls, answers)


def _matched(judge: Judge, calls: list[Any], answers: list[Any]) -> None:
    names = [call.get("name") for call, _ in calls]
    ids = [call.get("id") for call, _ in calls]
    for answer, at in answers:
        if answer.get("name") in names:
            names.remove(answer["name"])
        elif answer.get("name"):
            judge.tell("names", (*at, "name"))
        if answer.get("id") and all(ids) and answer["id"] not in ids:
            judge.tell("ids", (*at, "id"))
    for _, at in twice([(a["id"], at) for a, at in answers if a.get("id")]):
        judge.tell("ids", (*at, "id"))


def _signatures(
    judge: Judge, turns: list[Turn], model: str | None, sent: Sequence[Json] | None
) -> None:
    if like(model, "gemini-3", "gemini-4"):
        users = [
            n
            for n, (spoke, parts) in enumerate(turns)
            if not spoke
            and any(not isinstance(p.get("functionResponse"), dict) for p, _ in parts)
            # Media beside results belong to the results.
            and not any(isinstance(p.get("functionResponse"), dict) for p, _ in parts)
        ]
        for spoke, parts in turns[users[-1] if users else 0 :]:
            calls = [(p, at) for p, at in parts if isinstance(p.get("functionCall"), dict)]
            if spoke and calls and not calls[0][0].get("thoughtSignature"):
                part, at = calls[0]
                name = part["functionCall"].get("name")
                judge.tell("signature", at, name=name, place=int(at[1]) + 1)
    if sent is None:
        return
    known = {
        _alphabet(p["thoughtSignature"])
        for response in sent
        for _, c in each(response.get("candidates"))
        for _, p in each((c.get("content") or {}).get("parts"))
        if p.get("thoughtSignature")
    }
    for spoke, parts in turns:
        for part, at in parts if spoke else ():
            signature = part.get("thoughtSignature")
            if signature in SENTINELS or not signature:
                continue
            if not isinstance(signature, str) or _alphabet(signature) not in known:
                judge.tell("foreign-signature", (*at, "thoughtSignature"))


# -- tools ------------------------------------------------------------------------------------


def _tools(judge: Judge, body: dict[str, Any], vertex: bool) -> None:
    tools = body.get("tools")
    listed = isinstance(tools, list)
    names: list[tuple[Json, At]] = []
    for i, tool in each(tools if listed else [tools]):
        base: At = ("tools", i) if listed else ("tools",)
        for j, function in each(tool.get("functionDeclarations")):
            at: At = (*base, "functionDeclarations", j)
            if not fits(NAME, function.get("name")):
                judge.tell("tool-name", (*at, "name"))
            names.append((function.get("name"), (*at, "name")))
            schema = function.get("parameters")
            if schema is None:
                continue
            if function.get("parametersJsonSchema") is not None:
                judge.tell("both-schemas", (*at, "parameters"))
            kind = schema.get("type") if isinstance(schema, dict) else None
            if kind != 6 and (not isinstance(kind, str) or kind.lower() != "object"):
                judge.tell("schema-root", (*at, "parameters"))
            for node, place in subschemas(schema, (*at, "parameters")):
                _schema(judge, node, place, vertex)
    for name, place in twice(names):
        judge.tell("same-tool", place, name=name)
    config = (body.get("toolConfig") or {}).get("functionCallingConfig")
    if isinstance(config, dict):
        serverside = bool(body["toolConfig"].get("includeServerSideToolInvocations"))
        _config(judge, config, [name for name, _ in names], serverside)


def _schema(judge: Judge, node: Json, at: At, vertex: bool) -> None:
    if not isinstance(node, dict):
        judge.tell("schema-type", at)
        return
    for key in node:
        if key not in SCHEMA:
            judge.tell("schema-key", (*at, key), name=key)
    kind = node.get("type")
    if isinstance(kind, list):
        judge.tell("schema-list", (*at, "type"))
    elif isinstance(kind, int) and 1 <= kind <= 7:
        pass  # the number of the word
    elif kind is not None and (not isinstance(kind, str) or kind.lower() not in TYPES):
        judge.tell("schema-type", (*at, "type"))
    enum = node.get("enum")
    if isinstance(enum, list) and not all(isinstance(word, str) for word in enum):
        judge.tell("schema-enum", (*at, "enum"))
    if vertex and "anyOf" in node and len(node) > 1:
        judge.tell("schema-any", at)


def _config(judge: Judge, config: dict[str, Any], names: list[Json], serverside: bool) -> None:
    at: At = ("toolConfig", "functionCallingConfig")
    mode, allowed = config.get("mode", "AUTO"), config.get("allowedFunctionNames")
    mode = mode.upper() if isinstance(mode, str) else mode  # the API reads words in any case
    if mode not in ("AUTO", "ANY", "NONE", "VALIDATED", "MODE_UNSPECIFIED"):
        judge.tell("config-mode", (*at, "mode"))
    if not names and not serverside:
        judge.tell("config", at)
        return
    if allowed and mode not in ("ANY", "VALIDATED"):
        judge.tell("config-names", (*at, "allowedFunctionNames"))
    for i, name in enumerate(allowed or ()):
        if name not in names:
            judge.tell("config-name", (*at, "allowedFunctionNames", i))


def body_of(refusal: Refusal) -> Json:
    """Return the error body that the API answers with."""
    return {"error": {"code": 400, "message": refusal.text, "status": "INVALID_ARGUMENT"}}


__all__ = ["RULES", "body_of", "refusals"]
