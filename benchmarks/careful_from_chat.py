"""Convert Chat requests to Anthropic and Gemini by hand, with every check."""

from __future__ import annotations

from typing import Any, NamedTuple

from .careful_base import (
    DATA_STARTS,
    DOTTED_128,
    MISFIT,
    PLAIN_128,
    Converted,
    Dumps,
    Envelope,
    Json,
    Loads,
    Odd,
    Refused,
    Trail,
    as_blocks,
    as_boolean,
    as_integer,
    as_number,
    as_object,
    as_refused,
    as_string,
    as_strings,
    bare,
    check_ids,
    dumps_json,
    fitted,
    loads_json,
    make_notes,
    note_unanswered,
    note_unknown,
    sound,
    wrong,
)

# What Chat requests hold.

CHAT_BODY = frozenset(
    "model messages tools tool_choice max_tokens max_completion_tokens temperature top_p stop "
    "stream".split()
)
# Documented fields beside those: read one by one, and only when one of them is there.
CHAT_SAMPLING = {
    "seed": ("seed", as_integer),
    "n": ("candidateCount", as_integer),
    "presence_penalty": ("presencePenalty", as_number),
    "frequency_penalty": ("frequencyPenalty", as_number),
    "logprobs": ("responseLogprobs", as_boolean),
    "top_logprobs": ("logprobs", as_integer),
}
CHAT_ELSEWHERE = frozenset(
    (
        "parallel_tool_calls",
        "reasoning_effort",
        "response_format",
        "user",
        *CHAT_SAMPLING,
    )
)
CHAT_OWN = frozenset(
    "logit_bias metadata modalities service_tier store verbosity audio prediction "
    "stream_options prompt_cache_key prompt_cache_options prompt_cache_retention "
    "safety_identifier web_search_options moderation functions function_call".split()
)
TOOL_MESSAGE = frozenset("role tool_call_id content".split())
USER_MESSAGE = frozenset("role content".split())
ASSISTANT_MESSAGE = frozenset("role content tool_calls".split())
CALL = frozenset("id type function".split())
CALL_FUNCTION = frozenset("name arguments".split())
TOOL = frozenset("type function".split())
FUNCTION = frozenset("name description parameters strict".split())
TEXT_PART = frozenset("type text".split())
REFUSAL_PART = frozenset("type refusal".split())
IMAGE_PART = frozenset("type image_url".split())
IMAGE_URL = frozenset("url detail".split())
AUDIO_PART = frozenset("type input_audio".split())
FILE_PART = frozenset("type file".split())
FORMATS = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def loose_arguments(odd: list[Odd], text: str, loads: Loads, *trail: Any) -> Json:
    # Reached by text that is no JSON object: blank text is no arguments at all.
    if text.__class__ is not str or not (text.isascii() or text.encode()):
        raise wrong("a text", text)
    if not text.strip():
        odd.append(("blank-arguments", "changed", trail, None))
        return {}
    odd.append(("unparsed", "changed", trail, None))
    return {"_unparsed": text}


def freeform(odd: list[Odd], call: Json, *trail: Any) -> tuple[str, Json]:
    custom = as_object(call["custom"])
    note_unknown(odd, call, ("id", "type", "custom"), *trail)
    note_unknown(odd, custom, ("name", "input"), *trail, "custom")
    odd.append(("freeform-wrapped", "changed", (*trail, "custom", "input"), None))
    return as_string(custom["name"]), {"input": as_string(custom["input"])}


class _Media(NamedTuple):
    kind: str
    media_type: str | None
    data: str | None
    url: str | None
    file_id: str | None


def _data_url(url: str) -> tuple[str, str] | None:
    if url[:5] != "data:":
        return None
    head, mark, data = url.partition(";base64,")
    return (head[5:], data) if mark else None


def _chat_media(odd: list[Odd], part: Json, *trail: Any) -> _Media:
    kind = part["type"]
    if kind == "image_url":
        image = part["image_url"]
        url = image["url"]
        if url.__class__ is not str or not (url.isascii() or url.encode()):
            raise wrong("a text", url)
        if len(part) != 2:
            note_unknown(odd, part, (*IMAGE_PART, "prompt_cache_breakpoint"), *trail)
        if len(image) != 1:
            note_unknown(odd, image, IMAGE_URL, *trail, "image_url")
            if image.get("detail") is not None:
                odd.append(("no-place", "lost", (*trail, "image_url", "detail"), None))
        pair = _data_url(url)
        if pair is None:
            return _Media("image", None, None, url, None)
        return _Media("image", pair[0], pair[1], None, None)
    if kind == "input_audio":
        audio = as_object(part["input_audio"])
        note_unknown(odd, part, (*AUDIO_PART, "prompt_cache_breakpoint"), *trail)
        note_unknown(odd, audio, ("data", "format"), *trail, "input_audio")
        return _Media("audio", FORMATS[audio["format"]], as_string(audio["data"]), None, None)
    if kind == "file":
        file = as_object(part["file"])
        note_unknown(odd, part, (*FILE_PART, "prompt_cache_breakpoint"), *trail)
        note_unknown(odd, file, ("file_data", "file_id", "filename"), *trail, "file")
        if file.get("file_id") is not None:
            return _Media("document", None, None, None, as_string(file["file_id"]))
        pair = _data_url(as_string(file["file_data"]))
        if pair is None:
            raise ValueError("`file_data` is no data URL")
        return _Media("document", pair[0], pair[1], None, None)
    raise ValueError(f"unknown part `{kind}`")


def plain_text(odd: list[Odd], part: Json, *trail: Any) -> str | None:
    """Return the text of a text or refusal part, None for any other part."""
    kind = part["type"]
    if kind == "text":
        text = part["text"]
        if len(part) != 2:
            note_unknown(odd, part, (*TEXT_PART, "prompt_cache_breakpoint"), *trail)
    elif kind == "refusal":
        text = part["refusal"]
        note_unknown(odd, part, REFUSAL_PART, *trail)
        odd.append(("refusal-as-text", "changed", (*trail, "refusal"), None))
    else:
        return None
    if text.__class__ is not str or not (text.isascii() or text.encode()):
        raise wrong("a text", text)
    return text


def _anthropic_blocks(odd: list[Odd], content: Any, message: Json) -> list[Json]:
    if content.__class__ is not list:
        raise wrong("a text or a list", content)
    blocks: list[Json] = []
    for part in content:
        trail = ("messages", message, "content", part)
        text = plain_text(odd, part, *trail)
        if text is not None:
            blocks.append({"type": "text", "text": text})
            if len(part) != 2:
                _cache_mark(odd, part, blocks[-1], *trail)
            continue
        media = _chat_media(odd, part, *trail)
        if media.kind == "audio":
            odd.append(("no-place", "lost", trail, None))
            continue
        if media.data is not None:
            source = {"type": "base64", "media_type": media.media_type, "data": media.data}
        elif media.url is not None:
            source = {"type": "url", "url": media.url}
        else:
            source = {"type": "file", "file_id": media.file_id}
        blocks.append({"type": media.kind, "source": source})
        if media.kind == "document" and part["file"].get("filename") is not None:
            blocks[-1]["title"] = as_string(part["file"]["filename"])
        if len(part) != 2:
            _cache_mark(odd, part, blocks[-1], *trail)
    return blocks


def _cache_mark(odd: list[Odd], part: Json, block: Json, *trail: Any) -> None:
    mark = part.get("prompt_cache_breakpoint")
    if mark is not None:
        if mark.get("ttl") is not None:
            where = (*trail, "prompt_cache_breakpoint", "ttl")
            odd.append(("own-field", "lost", where, None))
        block["cache_control"] = {"type": "ephemeral"}


def _listed(content: Any) -> list[Json]:
    if content.__class__ is str:
        return [{"type": "text", "text": content}]
    return list(content)


def _result_texts(odd: list[Odd], content: Any, message: Json) -> list[str]:
    # Chat results hold text parts only; one of another kind is refused with its path.
    if content.__class__ is not list:
        raise wrong("a text or a list", content)
    texts = []
    for part in content:
        text = plain_text(odd, part, "messages", message, "content", part)
        if text is None:
            raise ValueError(f"a result cannot hold `{part['type']}`")
        texts.append(text)
    return texts


def chat_to_anthropic(
    body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json
) -> Converted:
    odd: list[Odd] = []
    where: Trail
    system: list[Json] = []
    messages: list[Json] = []
    results: list[Json] = []
    waiting: dict[str, bool] = {}
    ids: list[str] = []
    names: dict[str, str] = {}
    previous = ""
    trail: Trail = ()
    message: Json = {}
    try:
        model = body.get("model")
        if model is not None:
            as_string(model)
        given_messages = body["messages"]
        trail = ("messages",)
        if given_messages.__class__ is not list:
            raise wrong("a list", given_messages)
        for message in given_messages:
            role = message["role"]
            if role == "tool":
                content = message["content"]
                identity = message["tool_call_id"]
                if content.__class__ is not str:
                    texts = _result_texts(odd, content, message)
                    content = texts[0] if len(texts) == 1 else as_blocks(texts)
                elif not content.isascii():
                    content.encode()
                if len(message) != 3:
                    note_unknown(odd, message, TOOL_MESSAGE, "messages", message)
                if waiting.pop(identity, None) is None:
                    odd.append(("unpaired", "kept", ("messages", message), None))
                    ids.append(as_string(identity))
                block = {"type": "tool_result", "tool_use_id": identity, "content": content}
                if previous == "tool":
                    results.append(block)
                elif previous == "user":
                    results = _results_first(messages[-1], block)
                    odd.append(("reordered", "moved", ("messages", message), None))
                else:
                    results = [block]
                    messages.append({"role": "user", "content": results})
            elif role == "assistant":
                if waiting:
                    note_unanswered(odd, waiting, message)
                content = message.get("content")
                calls = message.get("tool_calls")
                if calls is None:
                    if content.__class__ is not str:
                        content = _spoken(odd, content, message)
                    elif not content.isascii():
                        content.encode()
                    if len(message) != 2:
                        _audit_assistant(odd, message)
                else:
                    if calls.__class__ is not list:
                        raise wrong("a list", calls)
                    if content.__class__ is str:
                        if not content.isascii():
                            content.encode()
                        blocks = [{"type": "text", "text": content}] if content else []
                    elif content is None:
                        blocks = []
                    else:
                        blocks = _anthropic_blocks(odd, content, message)
                    if len(message) != 3 or (content is None and "content" not in message):
                        _audit_assistant(odd, message)
                    for call in calls:
                        identity = call["id"]
                        if identity.__class__ is not str or not (
                            identity.isascii() or identity.encode()
                        ):
                            raise wrong("a text", identity)
                        if call["type"] == "function":
                            function = call["function"]
                            name = function["name"]
                            text = function["arguments"]
                            try:
                                given = loads(text)
                            except (ValueError, RecursionError):
                                given = None
                            if given.__class__ is not dict:
                                where = ("messages", message, "tool_calls", call, "function")
                                given = loose_arguments(odd, text, loads, *where, "arguments")
                            if len(call) != 3:
                                where = ("messages", message, "tool_calls", call)
                                note_unknown(odd, call, CALL, *where)
                            if len(function) != 2:
                                where = ("messages", message, "tool_calls", call, "function")
                                note_unknown(odd, function, CALL_FUNCTION, *where)
                        else:
                            where = ("messages", message, "tool_calls", call)
                            name, given = freeform(odd, call, *where)
                        written = names.get(name)
                        if written is None:
                            written = names[name] = fitted(name, PLAIN_128, 128, names.values())
                            if written != name:
                                where = ("messages", message, "tool_calls", call)
                                odd.append(("renamed", "changed", where, None))
                        if identity in waiting:
                            where = ("messages", message, "tool_calls", call)
                            odd.append(("duplicate-id", "kept", where, None))
                        waiting[identity] = True
                        ids.append(identity)
                        blocks.append(
                            {"type": "tool_use", "id": identity, "name": written, "input": given}
                        )
                    content = blocks
                if previous == "assistant":
                    last = messages[-1]
                    last["content"] = _listed(last["content"]) + _listed(content)
                    odd.append(("joined", "changed", ("messages", message), None))
                else:
                    messages.append({"role": "assistant", "content": content})
            elif role == "user":
                if waiting:
                    note_unanswered(odd, waiting, message)
                content = message["content"]
                if content.__class__ is not str:
                    content = bare(_anthropic_blocks(odd, content, message))
                elif not content.isascii():
                    content.encode()
                if len(message) != 2:
                    _audit_speaker(odd, message)
                if previous == "tool":
                    results += _listed(content)
                elif previous == "user":
                    last = messages[-1]
                    last["content"] = _listed(last["content"]) + _listed(content)
                    odd.append(("joined", "changed", ("messages", message), None))
                else:
                    messages.append({"role": "user", "content": content})
            elif role == "system" or role == "developer":
                content = message["content"]
                if content.__class__ is str:
                    content.isascii() or content.encode()
                    system.append({"type": "text", "text": content})
                else:
                    system += as_blocks(_result_texts(odd, content, message))
                if len(message) != 2:
                    _audit_speaker(odd, message)
                if role == "developer":
                    where = ("messages", message, "role")
                    odd.append(("developer-as-system", "changed", where, None))
                if previous:
                    odd.append(("lifted", "moved", ("messages", message), ("system",)))
                role = previous
            else:
                raise ValueError(f"unknown role `{role}`")
            previous = role
        if waiting:
            note_unanswered(odd, waiting, None)
        message = {}

        out: Json = {} if model is None else {"model": model}
        trail = ("max_tokens",)
        limit = body.get("max_completion_tokens")
        if limit is None:
            limit = body.get("max_tokens")
        elif body.get("max_tokens") is not None:
            odd.append(("no-place", "lost", ("max_tokens",), None))
        if limit is None:
            limit = 4096
            odd.append(("filled-in", "added", None, ("max_tokens",)))
        elif limit.__class__ is not int:
            raise wrong("an integer", limit)
        out["max_tokens"] = limit
        if system:
            out["system"] = system[0]["text"] if len(system) == 1 else system
        out["messages"] = messages
        if ids:
            check_ids(odd, ids, body, out)

        tools = body.get("tools")
        if tools is not None:
            trail = ("tools",)
            if tools.__class__ is not list:
                raise wrong("a list", tools)
            out["tools"] = written_tools = []
            for tool in tools:
                trail = ("tools", tool)
                if tool["type"] != "function":
                    written_tools.append(_freeform_tool(odd, tool, *trail))
                    continue
                function = tool["function"]
                name = function["name"]
                if len(tool) != 2:
                    note_unknown(odd, tool, TOOL, *trail)
                parameters = function.get("parameters")
                if parameters is None:
                    parameters = {"type": "object", "properties": {}}
                    odd.append(("filled-in", "added", None, ("tools",)))
                elif parameters.__class__ is not dict:
                    raise wrong("an object", parameters)
                else:
                    sound(parameters)
                    if "type" not in parameters:
                        parameters = {"type": "object", **parameters}
                written = names.get(name)
                if written is None:
                    written = names[name] = fitted(name, PLAIN_128, 128, names.values())
                    if written != name:
                        odd.append(("renamed", "changed", (*trail, "function", "name"), None))
                made: Json = {"name": written}
                description = function.get("description")
                if description is not None:
                    if description.__class__ is not str or not (
                        description.isascii() or description.encode()
                    ):
                        raise wrong("a text", description)
                    made["description"] = description
                made["input_schema"] = parameters
                if len(function) != len(made):
                    strict = function.get("strict")
                    if strict is not None:
                        made["strict"] = as_boolean(strict)
                    note_unknown(odd, function, FUNCTION, *trail, "function")
                written_tools.append(made)

        choice = body.get("tool_choice")
        if choice is not None:
            trail = ("tool_choice",)
            if choice == "auto":
                out["tool_choice"] = {"type": "auto"}
            else:
                _anthropic_choice(odd, choice, names, out)
        stop = body.get("stop")
        if stop is not None:
            trail = ("stop",)
            out["stop_sequences"] = [stop] if stop.__class__ is str else as_strings(stop)
        stream = body.get("stream")
        if stream is not None:
            trail = ("stream",)
            out["stream"] = as_boolean(stream)
        # The API of 2026-10-21 takes no sampling parameters.
        if body.get("temperature") is not None:
            trail = ("temperature",)
            as_number(body["temperature"])
            odd.append(("no-place", "lost", "/temperature", None))
        if body.get("top_p") is not None:
            trail = ("top_p",)
            as_number(body["top_p"])
            odd.append(("no-place", "lost", ("top_p",), None))
        if not CHAT_BODY.issuperset(body):
            trail = ()
            _anthropic_rest(odd, body, out)
    except MISFIT as problem:
        raise as_refused(body, ("messages", message) if message else trail, problem) from problem
    headers = {"anthropic-version": "2026-10-21"}
    envelope = Envelope(None, None, "POST", "/v1/messages", headers)
    return Converted(out, make_notes(odd, body, out) if odd else (), envelope)


def _results_first(last: Json, block: Json) -> list[Json]:
    blocks = _listed(last["content"])
    last["content"] = blocks
    count = sum(1 for item in blocks if item["type"] == "tool_result")
    blocks.insert(count, block)
    return blocks


def _spoken(odd: list[Odd], content: Any, message: Json) -> Any:
    if content is None:
        odd.append(("no-place", "lost", ("messages", message), None))
        return ""
    return bare(_anthropic_blocks(odd, content, message))


def _audit_assistant(odd: list[Odd], message: Json) -> None:
    for key, value in message.items():
        if key in ASSISTANT_MESSAGE or value is None:
            continue
        code = "no-place" if key == "name" else "unknown-key"
        if key in ("audio", "refusal", "function_call", "annotations", "reasoning_content"):
            code = "own-field"
        odd.append((code, "lost", ("messages", message, key), None))


def _audit_speaker(odd: list[Odd], message: Json) -> None:
    for key, value in message.items():
        if key not in USER_MESSAGE and value is not None:
            code = "no-place" if key == "name" else "unknown-key"
            odd.append((code, "lost", ("messages", message, key), None))


def _freeform_tool(odd: list[Odd], tool: Json, *trail: Any) -> Json:
    if tool["type"] != "custom":
        raise ValueError(f"unknown tool `{tool['type']}`")
    custom = as_object(tool["custom"])
    note_unknown(odd, tool, ("type", "custom"), *trail)
    note_unknown(odd, custom, ("name", "description", "format"), *trail, "custom")
    odd.append(("freeform-wrapped", "changed", (*trail, "custom"), None))
    if custom.get("format") is not None:
        odd.append(("no-place", "lost", (*trail, "custom", "format"), None))
    made: Json = {"name": fitted(as_string(custom["name"]), PLAIN_128, 128)}
    if custom.get("description") is not None:
        made["description"] = as_string(custom["description"])
    properties = {"input": {"type": "string"}}
    made["input_schema"] = {"type": "object", "properties": properties, "required": ["input"]}
    return made


def _choice_names(odd: list[Odd], choice: Any) -> tuple[str, list[str]]:
    """Return (mode, names): `named`, `allowed/auto`, `allowed/required` or a plain word."""
    if choice.__class__ is str:
        if choice not in ("auto", "none", "required"):
            raise ValueError(f"unknown tool choice `{choice}`")
        return choice, []
    kind = choice["type"]
    note_unknown(odd, choice, ("type", kind), "tool_choice")
    inner = as_object(choice[kind])
    if kind in ("function", "custom"):
        note_unknown(odd, inner, ("name",), "tool_choice", kind)
        return "named", [as_string(inner["name"])]
    if kind != "allowed_tools":
        raise ValueError(f"unknown tool choice `{kind}`")
    note_unknown(odd, inner, ("mode", "tools"), "tool_choice", kind)
    return f"allowed/{inner['mode']}", [as_string(t["function"]["name"]) for t in inner["tools"]]


def _anthropic_choice(odd: list[Odd], choice: Any, names: dict[str, str], out: Json) -> None:
    mode, chosen = _choice_names(odd, choice)
    if mode == "named":
        name = names.get(chosen[0]) or fitted(chosen[0], PLAIN_128, 128)
        out["tool_choice"] = {"type": "tool", "name": name}
        return
    if mode.startswith("allowed/"):
        odd.append(("allowed-as-mode", "changed", ("tool_choice",), ("tools",)))
        wanted = {names.get(name, name) for name in chosen}
        out["tools"] = [tool for tool in out.get("tools", ()) if tool["name"] in wanted]
        mode = mode[8:]
    out["tool_choice"] = {"type": "any" if mode == "required" else mode}


def _anthropic_rest(odd: list[Odd], body: Json, out: Json) -> None:
    for key, value in body.items():
        if key in CHAT_BODY or value is None:
            continue
        if key == "parallel_tool_calls":
            choice = out.setdefault("tool_choice", {"type": "auto"})
            if choice["type"] == "none":
                odd.append(("no-place", "lost", (key,), None))
            else:
                choice["disable_parallel_tool_use"] = not as_boolean(value)
        elif key == "reasoning_effort":
            if value in ("low", "medium", "high", "xhigh", "max"):
                out.setdefault("output_config", {})["effort"] = value
            elif value == "none":
                out["thinking"] = {"type": "disabled"}
            else:
                out.setdefault("output_config", {})["effort"] = "low"
                odd.append(("reworded", "changed", (key,), ("output_config", "effort")))
        elif key == "response_format":
            _anthropic_format(odd, as_object(value), out)
        elif key == "user":
            out["metadata"] = {"user_id": as_string(value)}
        elif key in CHAT_OWN:
            odd.append(("own-field", "lost", (key,), None))
        elif key in CHAT_SAMPLING:
            odd.append(("no-place", "lost", (key,), None))
        else:
            odd.append(("unknown-key", "lost", (key,), None))


def _anthropic_format(odd: list[Odd], form: Json, out: Json) -> None:
    if form["type"] == "json_schema":
        schema = as_object(form["json_schema"])
        written = {"type": "json_schema", "schema": as_object(schema["schema"])}
        out.setdefault("output_config", {})["format"] = written
        for key in schema:
            if key != "schema" and schema[key] is not None:
                where = ("response_format", "json_schema", key)
                odd.append(("no-place", "lost", where, None))
    else:
        odd.append(("no-place", "lost", ("response_format",), None))


# Chat to Gemini.

SCHEMA_WORDS = frozenset(
    "type format title description nullable default enum example items properties required "
    "propertyOrdering minItems maxItems minLength maxLength minProperties maxProperties "
    "minimum maximum pattern anyOf".split()
)
SCHEMA_TYPES = frozenset("string number integer boolean array object null".split())


def fits_schema(schema: Any) -> bool:
    if schema.__class__ is not dict or not SCHEMA_WORDS.issuperset(schema):
        return False
    for key, value in schema.items():
        if key == "type":
            if value.__class__ is not str or value not in SCHEMA_TYPES:
                return False
        elif key == "properties":
            if value.__class__ is not dict:
                return False
            for inner in value.values():
                if not fits_schema(inner):
                    return False
        elif key == "items":
            if not fits_schema(value):
                return False
        elif key == "anyOf":
            if value.__class__ is not list or not all(map(fits_schema, value)):
                return False
        elif key == "enum" or key == "required" or key == "propertyOrdering":
            if value.__class__ is not list:
                return False
            for item in value:
                if item.__class__ is not str:
                    return False
    return True


def _gemini_parts(odd: list[Odd], content: Any, message: Json) -> list[Json]:
    if content.__class__ is not list:
        raise wrong("a text or a list", content)
    parts: list[Json] = []
    for part in content:
        trail = ("messages", message, "content", part)
        text = plain_text(odd, part, *trail)
        if text is not None:
            parts.append({"text": text})
            continue
        media = _chat_media(odd, part, *trail)
        if media.data is not None:
            inline = {"mimeType": media.media_type, "data": media.data}
            if media.kind == "document" and part["file"].get("filename") is not None:
                inline["displayName"] = as_string(part["file"]["filename"])
            parts.append({"inlineData": inline})
        else:
            parts.append({"fileData": {"fileUri": media.url or media.file_id}})
    return parts


def chat_to_gemini(body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json) -> Converted:
    odd: list[Odd] = []
    where: Trail
    system: list[Json] = []
    contents: list[Json] = []
    parts: list[Json] = []
    waiting: dict[str, str] = {}
    names: dict[str, str] = {}
    previous = ""
    trail: Trail = ()
    message: Json = {}
    try:
        model = body.get("model")
        if model is not None:
            as_string(model)
        given_messages = body["messages"]
        trail = ("messages",)
        if given_messages.__class__ is not list:
            raise wrong("a list", given_messages)
        for message in given_messages:
            role = message["role"]
            if role == "tool":
                text = message["content"]
                identity = message["tool_call_id"]
                if text.__class__ is not str:
                    texts = _result_texts(odd, text, message)
                    if len(texts) > 1:
                        where = ("messages", message, "content")
                        odd.append(("blocks-as-text", "changed", where, None))
                    text = "\n".join(texts)
                elif not text.isascii():
                    text.encode()
                first = text[:1]
                if first == "{" or first == "[":
                    try:
                        value = loads(text)
                    except (ValueError, RecursionError):
                        value = {"output": text}
                    else:
                        if value.__class__ is not dict:
                            value = {"output": value}
                        elif len(value) == 1 and ("output" in value or "error" in value):
                            where = ("messages", message, "content")
                            odd.append(("ambiguous", "changed", where, None))
                elif first in DATA_STARTS:
                    value = _indented(text, loads)
                else:
                    value = {"output": text}
                if len(message) != 3:
                    note_unknown(odd, message, TOOL_MESSAGE, "messages", message)
                name = waiting.pop(identity, None)
                if name is None:
                    odd.append(("unpaired", "kept", ("messages", message), None))
                    odd.append(("missing-name", "added", ("messages", message), None))
                    name = fitted(as_string(identity), DOTTED_128, 128)
                answer = {"id": identity, "name": name, "response": value}
                if previous == "tool":
                    parts.append({"functionResponse": answer})
                elif previous == "user":
                    count = sum(1 for part in parts if "functionResponse" in part)
                    parts.insert(count, {"functionResponse": answer})
                    odd.append(("reordered", "moved", ("messages", message), None))
                else:
                    parts = [{"functionResponse": answer}]
                    contents.append({"role": "user", "parts": parts})
            elif role == "assistant":
                if waiting:
                    note_unanswered(odd, waiting, message)
                content = message.get("content")
                calls = message.get("tool_calls")
                if previous == "assistant":
                    odd.append(("joined", "changed", ("messages", message), None))
                else:
                    parts = []
                    contents.append({"role": "model", "parts": parts})
                if content.__class__ is str:
                    if not content.isascii():
                        content.encode()
                    if content or calls is None:
                        parts.append({"text": content})
                elif content is not None:
                    parts += _gemini_parts(odd, content, message)
                elif calls is None:
                    parts.append({"text": _spoken(odd, None, message)})
                if calls is None:
                    if len(message) != 2:
                        _audit_assistant(odd, message)
                else:
                    if calls.__class__ is not list:
                        raise wrong("a list", calls)
                    if len(message) != 3 or (content is None and "content" not in message):
                        _audit_assistant(odd, message)
                    for call in calls:
                        identity = call["id"]
                        if identity.__class__ is not str or not (
                            identity.isascii() or identity.encode()
                        ):
                            raise wrong("a text", identity)
                        if call["type"] == "function":
                            function = call["function"]
                            name = function["name"]
                            text = function["arguments"]
                            try:
                                given = loads(text)
                            except (ValueError, RecursionError):
                                given = None
                            if given.__class__ is not dict:
                                where = ("messages", message, "tool_calls", call, "function")
                                given = loose_arguments(odd, text, loads, *where, "arguments")
                            if len(call) != 3:
                                where = ("messages", message, "tool_calls", call)
                                note_unknown(odd, call, CALL, *where)
                            if len(function) != 2:
                                where = ("messages", message, "tool_calls", call, "function")
                                note_unknown(odd, function, CALL_FUNCTION, *where)
                        else:
                            where = ("messages", message, "tool_calls", call)
                            name, given = freeform(odd, call, *where)
                        written = names.get(name)
                        if written is None:
                            written = names[name] = fitted(name, DOTTED_128, 128, names.values())
                            if written != name:
                                where = ("messages", message, "tool_calls", call)
                                odd.append(("renamed", "changed", where, None))
                        if identity in waiting:
                            where = ("messages", message, "tool_calls", call)
                            odd.append(("duplicate-id", "kept", where, None))
                        waiting[identity] = written
                        made = {"id": identity, "name": written, "args": given}
                        parts.append({"functionCall": made})
            elif role == "user":
                if waiting:
                    note_unanswered(odd, waiting, message)
                content = message["content"]
                if previous == "user":
                    odd.append(("joined", "changed", ("messages", message), None))
                elif previous != "tool":
                    parts = []
                    contents.append({"role": "user", "parts": parts})
                if content.__class__ is str:
                    if not content.isascii():
                        content.encode()
                    parts.append({"text": content})
                else:
                    parts += _gemini_parts(odd, content, message)
                if len(message) != 2:
                    _audit_speaker(odd, message)
            elif role == "system" or role == "developer":
                content = message["content"]
                if content.__class__ is str:
                    content.isascii() or content.encode()
                    system.append({"text": content})
                else:
                    system += [{"text": t} for t in _result_texts(odd, content, message)]
                if len(message) != 2:
                    _audit_speaker(odd, message)
                if role == "developer":
                    where = ("messages", message, "role")
                    odd.append(("developer-as-system", "changed", where, None))
                if previous:
                    where = ("systemInstruction",)
                    odd.append(("lifted", "moved", ("messages", message), where))
                role = previous
            else:
                raise ValueError(f"unknown role `{role}`")
            previous = role
        if waiting:
            note_unanswered(odd, waiting, None)
        message = {}

        out: Json = {}
        if system:
            out["systemInstruction"] = {"parts": system}
        out["contents"] = contents
        tools = body.get("tools")
        if tools is not None:
            trail = ("tools",)
            if tools.__class__ is not list:
                raise wrong("a list", tools)
            written_tools: list[Json] = []
            out["tools"] = [{"functionDeclarations": written_tools}]
            for tool in tools:
                trail = ("tools", tool)
                if tool["type"] != "function":
                    wrapped = _freeform_tool(odd, tool, *trail)
                    wrapped["parameters"] = wrapped.pop("input_schema")
                    written_tools.append(wrapped)
                    continue
                function = tool["function"]
                name = function["name"]
                if len(tool) != 2:
                    note_unknown(odd, tool, TOOL, *trail)
                written = names.get(name)
                if written is None:
                    written = names[name] = fitted(name, DOTTED_128, 128, names.values())
                    if written != name:
                        odd.append(("renamed", "changed", (*trail, "function", "name"), None))
                declaration: Json = {"name": written}
                description = function.get("description")
                if description is not None:
                    if description.__class__ is not str or not (
                        description.isascii() or description.encode()
                    ):
                        raise wrong("a text", description)
                    declaration["description"] = description
                parameters = function.get("parameters")
                if parameters is not None:
                    if parameters.__class__ is not dict:
                        raise wrong("an object", parameters)
                    sound(parameters)
                    if fits_schema(parameters):
                        declaration["parameters"] = parameters
                    else:
                        declaration["parametersJsonSchema"] = parameters
                if len(function) != len(declaration):
                    if function.get("strict") is not None:
                        where = (*trail, "function", "strict")
                        odd.append(("no-place", "lost", where, None))
                    note_unknown(odd, function, FUNCTION, *trail, "function")
                written_tools.append(declaration)
        choice = body.get("tool_choice")
        if choice is not None:
            trail = ("tool_choice",)
            if choice == "auto":
                config: Json = {"mode": "AUTO"}
            else:
                config = _gemini_choice(odd, choice, names)
            out["toolConfig"] = {"functionCallingConfig": config}

        sampling: Json = {}
        trail = ("max_tokens",)
        limit = body.get("max_completion_tokens")
        if limit is None:
            limit = body.get("max_tokens")
        elif body.get("max_tokens") is not None:
            odd.append(("no-place", "lost", ("max_tokens",), None))
        if limit is not None:
            if limit.__class__ is not int:
                raise wrong("an integer", limit)
            sampling["maxOutputTokens"] = limit
        heat = body.get("temperature")
        if heat is not None:
            trail = ("temperature",)
            sampling["temperature"] = as_number(heat)
        share = body.get("top_p")
        if share is not None:
            trail = ("top_p",)
            sampling["topP"] = as_number(share)
        stop = body.get("stop")
        if stop is not None:
            trail = ("stop",)
            sampling["stopSequences"] = [stop] if stop.__class__ is str else as_strings(stop)
        if not CHAT_BODY.issuperset(body):
            trail = ()
            _gemini_rest(odd, body, sampling)
        if sampling:
            out["generationConfig"] = sampling
    except MISFIT as problem:
        raise as_refused(body, ("messages", message) if message else trail, problem) from problem
    return Converted(out, make_notes(odd, body, out) if odd else (), _address(body, model))


def _address(body: Json, model: str | None) -> Envelope:
    """Gemini's model and stream stand in the path."""
    stream = body.get("stream")
    if stream is None:
        stream = False
    elif stream.__class__ is not bool:
        raise Refused("/stream", "expected true or false")
    if model is None:
        return Envelope(None, stream, "POST", "", {})
    ask = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return Envelope(model, stream, "POST", f"/v1beta/models/{model}:{ask}", {})


def _indented(text: str, loads: Loads) -> Json:
    if text.lstrip(" \t\n\r")[:1] not in ("{", "["):
        return {"output": text}
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return {"output": text}
    return value if value.__class__ is dict else {"output": value}


def _gemini_choice(odd: list[Odd], choice: Any, names: dict[str, str]) -> Json:
    mode, chosen = _choice_names(odd, choice)
    if not chosen and mode in ("auto", "none", "required"):
        return {"mode": "ANY" if mode == "required" else mode.upper()}
    allowed = [names.get(name) or fitted(name, DOTTED_128, 128) for name in chosen]
    word = "VALIDATED" if mode == "allowed/auto" else "ANY"
    return {"mode": word, "allowedFunctionNames": allowed}


def _gemini_rest(odd: list[Odd], body: Json, sampling: Json) -> None:
    for key, value in body.items():
        if key in CHAT_BODY or value is None:
            continue
        if key in CHAT_SAMPLING:
            name, check = CHAT_SAMPLING[key]
            sampling[name] = check(value)
        elif key == "reasoning_effort":
            levels = ("minimal", "low", "medium", "high", "xhigh")
            if value == "none":
                sampling["thinkingConfig"] = {"thinkingBudget": 0}
            elif value in levels:
                sampling["thinkingConfig"] = {"thinkingLevel": value.upper()}
            else:
                sampling["thinkingConfig"] = {"thinkingLevel": "XHIGH"}
                where = ("generationConfig", "thinkingConfig", "thinkingLevel")
                odd.append(("reworded", "changed", (key,), where))
        elif key == "response_format":
            if value["type"] == "text":
                sampling["responseMimeType"] = "text/plain"
            else:
                sampling["responseMimeType"] = "application/json"
            if value["type"] == "json_schema":
                named = value["json_schema"]
                sampling["responseJsonSchema"] = as_object(named["schema"])
                for name in named:
                    if name != "schema" and named[name] is not None:
                        where = ("response_format", "json_schema", name)
                        odd.append(("no-place", "lost", where, None))
        elif key in CHAT_OWN:
            odd.append(("own-field", "lost", (key,), None))
        elif key in CHAT_ELSEWHERE:
            odd.append(("no-place", "lost", (key,), None))
        else:
            odd.append(("unknown-key", "lost", (key,), None))
