"""Convert Anthropic and Gemini requests to Chat by hand, with every check."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from .careful_base import (
    DATA_STARTS,
    MISFIT,
    PLAIN_64,
    Converted,
    Dumps,
    Envelope,
    Json,
    Loads,
    Odd,
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
    dumps_json,
    fitted,
    is_data,
    json_text,
    loads_json,
    make_notes,
    note_unanswered,
    note_unknown,
    sound,
    tidy,
    wrong,
)
from .careful_from_chat import (
    USER_MESSAGE,
    fits_schema,
)

# Anthropic to Chat.

ANTHROPIC_BODY = frozenset(
    "model max_tokens messages system tools tool_choice stop_sequences stream".split()
)
ANTHROPIC_OWN = frozenset(
    "cache_control container diagnostics inference_geo service_tier speed mcp_servers "
    "context_management output_format anthropic_version anthropic_beta".split()
)
TEXT_BLOCK = frozenset("type text".split())
MARKED_TEXT = frozenset("type text cache_control".split())
USE_BLOCK = frozenset("type id name input".split())
RESULT_BLOCK = frozenset("type tool_use_id content is_error".split())
MEDIA_BLOCK = frozenset("type source title cache_control".split())
ANTHROPIC_TOOL = frozenset("name description input_schema strict type".split())
DOCUMENTED = frozenset(
    "cache_control citations caller toolset_name title context transformations input_examples "
    "defer_loading eager_input_streaming allowed_callers".split()
)


def audit_block(odd: list[Odd], node: Json, known: frozenset[str], *trail: Any) -> None:
    for key, value in node.items():
        if key not in known and value is not None:
            code = "own-field" if key in DOCUMENTED else "unknown-key"
            if key == "cache_control":
                code = "no-place"
            odd.append((code, "lost", (*trail, key), None))


def _marked(odd: list[Odd], block: Json, part: Json, *trail: Any) -> Json:
    mark = block.get("cache_control")
    if mark is not None:
        if mark.get("ttl") is not None:
            odd.append(("own-field", "lost", (*trail, "cache_control", "ttl"), None))
        part["prompt_cache_breakpoint"] = {"mode": "explicit"}
    return part


def _block_url(odd: list[Odd], block: Json, *trail: Any) -> Json | None:
    """Write an image or document block as a Chat part, None where Chat has no place."""
    source = block["source"]
    kind = source["type"]
    if len(block) != 2:
        audit_block(odd, block, MEDIA_BLOCK, *trail)
    title = block.get("title")
    named = {} if title is None else {"filename": as_string(title)}
    if kind == "base64":
        media_type, data = source["media_type"], source["data"]
        if media_type.__class__ is not str or data.__class__ is not str:
            raise wrong("a text", data)
        if len(source) != 3:
            note_unknown(odd, source, ("type", "media_type", "data"), *trail, "source")
        url = f"data:{media_type};base64,{data}"
    elif kind == "url":
        url = as_string(source["url"])
        if len(source) != 2:
            note_unknown(odd, source, ("type", "url"), *trail, "source")
        if block["type"] == "document":
            odd.append(("no-place", "lost", trail, None))
            return {"type": "text", "text": url}
    elif kind == "file":
        if block["type"] == "image":
            odd.append(("no-place", "lost", trail, None))
            return None
        file = {**named, "file_id": as_string(source["file_id"])}
        return _marked(odd, block, {"type": "file", "file": file}, *trail)
    elif kind == "text":
        odd.append(("document-as-text", "changed", trail, None))
        return {"type": "text", "text": as_string(source["data"])}
    else:
        raise ValueError(f"unknown source `{kind}`")
    if block["type"] == "document":
        return _marked(odd, block, {"type": "file", "file": {**named, "file_data": url}}, *trail)
    return _marked(odd, block, {"type": "image_url", "image_url": {"url": url}}, *trail)


def _chat_result(
    odd: list[Odd], block: Json, message: Json, loads: Loads, dumps: Dumps, beside: list[Json]
) -> Any:
    """Write what a result holds; its media go to `beside`."""
    content = block.get("content")
    trail = ("messages", message, "content", block)
    failed = block.get("is_error")
    if failed is not None and failed.__class__ is not bool:
        raise wrong("true or false", failed)
    seen = 2 + ("content" in block) + ("is_error" in block)
    if len(block) != seen:
        audit_block(odd, block, RESULT_BLOCK, *trail)
    if content is None:
        content = ""
        odd.append(("filled-in", "added", trail, None))
    if content.__class__ is str:
        content.isascii() or content.encode()
        if failed:
            odd.append(("error-as-text", "changed", (*trail, "is_error"), None))
            return dumps({"error": content})
        return content
    if content.__class__ is not list:
        raise wrong("a text or a list", content)
    texts: list[str] = []
    for item in content:
        if item["type"] == "text":
            texts.append(as_string(item["text"]))
            if len(item) != 2:
                audit_block(odd, item, TEXT_BLOCK, *trail, "content", item)
        elif item["type"] in ("image", "document"):
            part = _block_url(odd, item, *trail, "content", item)
            if part is not None:
                beside.append(part)
                odd.append(("blocks-beside", "moved", (*trail, "content", item), None))
        else:
            odd.append(("unknown-part", "lost", (*trail, "content", item), None))
    if failed:
        odd.append(("error-as-text", "changed", (*trail, "is_error"), None))
        return dumps({"error": "\n".join(texts)})
    if len(texts) == 1:
        if texts[0][:1] in DATA_STARTS and is_data(texts[0], loads):
            return texts[0]
    return as_blocks(texts)


def anthropic_to_chat(
    body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json
) -> Converted:
    odd: list[Odd] = []
    where: Trail
    messages: list[Json] = []
    waiting: dict[str, bool] = {}
    ids: list[str] = []
    names: dict[str, str] = {}
    trail: Trail = ()
    message: Json = {}
    parts: list[Json]
    try:
        model = body.get("model")
        if model is not None:
            as_string(model)
        system = body.get("system")
        if system is not None:
            trail = ("system",)
            if system.__class__ is not str:
                system = bare(_system_blocks(odd, system))
            messages.append({"role": "system", "content": system})
        given_messages = body["messages"]
        trail = ("messages",)
        if given_messages.__class__ is not list:
            raise wrong("a list", given_messages)
        for message in given_messages:
            role = message["role"]
            content = message["content"]
            if len(message) != 2:
                note_unknown(odd, message, USER_MESSAGE, "messages", message)
            if content.__class__ is str:
                if not content.isascii():
                    content.encode()
                if waiting:
                    note_unanswered(odd, waiting, message)
                if role != "user" and role != "assistant" and role != "system":
                    raise ValueError(f"unknown role `{role}`")
                messages.append({"role": role, "content": content})
                continue
            if content.__class__ is not list:
                raise wrong("a text or a list", content)
            parts = []
            if role == "assistant":
                if waiting:
                    note_unanswered(odd, waiting, message)
                calls: list[Json] = []
                for block in content:
                    kind = block["type"]
                    if kind == "tool_use":
                        identity = block["id"]
                        name = block["name"]
                        given = block["input"]
                        if identity.__class__ is not str or not (
                            identity.isascii() or identity.encode()
                        ):
                            raise wrong("a text", identity)
                        if given.__class__ is not dict:
                            raise wrong("an object", given)
                        if len(block) != 4:
                            where = ("messages", message, "content", block)
                            audit_block(odd, block, USE_BLOCK, *where)
                        written = names.get(name)
                        if written is None:
                            written = names[name] = fitted(name, PLAIN_64, 64, names.values())
                            if written != name:
                                where = ("messages", message, "content", block, "name")
                                odd.append(("renamed", "changed", where, None))
                        if len(given) == 1 and "_unparsed" in given:
                            text = _unwrapped(given, dumps)
                        else:
                            text = dumps(given)
                            if ".0" in text or "e+" in text:
                                text = tidy(text, given, dumps)
                            if not text.isascii():
                                text.encode()
                        if identity in waiting:
                            where = ("messages", message, "content", block)
                            odd.append(("duplicate-id", "kept", where, None))
                        waiting[identity] = True
                        ids.append(identity)
                        function = {"name": written, "arguments": text}
                        calls.append({"id": identity, "type": "function", "function": function})
                    elif kind == "text":
                        text = block["text"]
                        if text.__class__ is not str or not (text.isascii() or text.encode()):
                            raise wrong("a text", text)
                        if calls:
                            where = ("messages", message, "content", block)
                            odd.append(("reordered", "moved", where, None))
                        parts.append({"type": "text", "text": text})
                        if len(block) != 2:
                            where = ("messages", message, "content", block)
                            audit_block(odd, block, MARKED_TEXT, *where)
                            _marked(odd, block, parts[-1], *where)
                    else:
                        where = ("messages", message, "content", block)
                        code = "no-place" if kind.endswith("thinking") else "unknown-part"
                        odd.append((code, "lost", where, None))
                spoken: Any = bare(parts) if parts else None
                answer: Json = {"role": "assistant", "content": spoken}
                if calls:
                    answer["tool_calls"] = calls
                messages.append(answer)
            elif role == "user":
                beside: list[Json] = []
                for block in content:
                    kind = block["type"]
                    if kind == "tool_result":
                        identity = block["tool_use_id"]
                        value = block.get("content")
                        if len(block) != 3 or value.__class__ is not str:
                            value = _chat_result(odd, block, message, loads, dumps, beside)
                        elif not value.isascii():
                            value.encode()
                        if parts:
                            where = ("messages", message, "content", block)
                            odd.append(("reordered", "moved", where, None))
                        if waiting.pop(identity, None) is None:
                            where = ("messages", message, "content", block)
                            odd.append(("unpaired", "kept", where, None))
                            ids.append(as_string(identity))
                        messages.append(
                            {"role": "tool", "tool_call_id": identity, "content": value}
                        )
                    elif kind == "text":
                        text = block["text"]
                        if text.__class__ is not str or not (text.isascii() or text.encode()):
                            raise wrong("a text", text)
                        parts.append({"type": "text", "text": text})
                        if len(block) != 2:
                            where = ("messages", message, "content", block)
                            audit_block(odd, block, MARKED_TEXT, *where)
                            _marked(odd, block, parts[-1], *where)
                    elif kind == "image" or kind == "document":
                        where = ("messages", message, "content", block)
                        image = _block_url(odd, block, *where)
                        if image is not None:
                            parts.append(image)
                    else:
                        where = ("messages", message, "content", block)
                        odd.append(("unknown-part", "lost", where, None))
                if waiting:
                    note_unanswered(odd, waiting, message)
                parts = beside + parts
                if parts:
                    messages.append({"role": "user", "content": bare(parts)})
            elif role == "system":
                trail = ("messages", message, "content")
                texts = [as_string(block["text"]) for block in content]
                spoken = texts[0] if len(texts) == 1 else as_blocks(texts)
                messages.append({"role": "system", "content": spoken})
            else:
                raise ValueError(f"unknown role `{role}`")
        if waiting:
            note_unanswered(odd, waiting, None)
        message = {}

        out: Json = {} if model is None else {"model": model}
        out["messages"] = messages
        if ids:
            if max(map(len, ids)) > 64:
                _shorten_ids(odd, ids, messages)
        tools = body.get("tools")
        if tools is not None:
            trail = ("tools",)
            if tools.__class__ is not list:
                raise wrong("a list", tools)
            out["tools"] = written_tools = []
            for tool in tools:
                trail = ("tools", tool)
                if tool.get("type", "custom") != "custom":
                    odd.append(("unknown-part", "lost", trail, None))
                    continue
                name = tool["name"]
                parameters = tool["input_schema"]
                if parameters.__class__ is not dict:
                    raise wrong("an object", parameters)
                sound(parameters)
                written = names.get(name)
                if written is None:
                    written = names[name] = fitted(name, PLAIN_64, 64, names.values())
                    if written != name:
                        odd.append(("renamed", "changed", (*trail, "name"), None))
                made: Json = {"name": written}
                description = tool.get("description")
                if description is not None:
                    if description.__class__ is not str or not (
                        description.isascii() or description.encode()
                    ):
                        raise wrong("a text", description)
                    made["description"] = description
                made["parameters"] = parameters
                if len(tool) != len(made):
                    if tool.get("strict") is not None:
                        made["strict"] = as_boolean(tool["strict"])
                    audit_block(odd, tool, ANTHROPIC_TOOL, *trail)
                written_tools.append({"type": "function", "function": made})
            if tools and not written_tools:
                del out["tools"]
        choice = body.get("tool_choice")
        if choice is not None:
            trail = ("tool_choice",)
            kind = choice["type"]
            if kind == "auto" or kind == "none":
                out["tool_choice"] = kind
            elif kind == "any":
                out["tool_choice"] = "required"
            elif kind == "tool":
                name = as_string(choice["name"])
                named = {"name": names.get(name) or fitted(name, PLAIN_64, 64)}
                out["tool_choice"] = {"type": "function", "function": named}
            else:
                raise ValueError(f"unknown tool choice `{kind}`")
            if len(choice) != 1:
                _choice_switch(odd, choice, out)
        limit = body["max_tokens"]
        if limit.__class__ is not int:
            trail = ("max_tokens",)
            raise wrong("an integer", limit)
        out["max_completion_tokens"] = limit
        stop = body.get("stop_sequences")
        if stop is not None:
            trail = ("stop_sequences",)
            out["stop"] = as_strings(stop)
        stream = body.get("stream")
        if stream is not None:
            trail = ("stream",)
            out["stream"] = as_boolean(stream)
        if not ANTHROPIC_BODY.issuperset(body):
            trail = ()
            _chat_rest(odd, body, out)
    except MISFIT as problem:
        raise as_refused(body, ("messages", message) if message else trail, problem) from problem
    envelope = Envelope(None, None, "POST", "/v1/chat/completions", {})
    return Converted(out, make_notes(odd, body, out) if odd else (), envelope)


def _system_blocks(odd: list[Odd], system: Any) -> list[Json]:
    if system.__class__ is not list:
        raise wrong("a text or a list", system)
    blocks = []
    for block in system:
        if block["type"] != "text":
            raise ValueError(f"system text cannot hold `{block['type']}`")
        blocks.append({"type": "text", "text": as_string(block["text"])})
        if len(block) != 2:
            audit_block(odd, block, MARKED_TEXT, "system", block)
            _marked(odd, block, blocks[-1], "system", block)
    return blocks


def _unwrapped(given: Json, dumps: Dumps) -> str:
    text = given["_unparsed"]
    if text.__class__ is str:
        try:
            inside = loads_json(text)
        except (ValueError, RecursionError):
            inside = None
        if inside.__class__ is not dict:
            return str(text)
    return dumps(given)


def _shorten_ids(odd: list[Odd], ids: list[str], messages: list[Json]) -> None:
    renamed = {old: fitted(old, PLAIN_64, 64) for old in ids if len(old) > 64}
    for message in messages:
        if message["role"] == "tool":
            old = message["tool_call_id"]
            message["tool_call_id"] = renamed.get(old, old)
        for call in message.get("tool_calls") or ():
            call["id"] = renamed.get(call["id"], call["id"])
    odd.extend(("renamed", "changed", None, None) for _ in renamed)


def _choice_switch(odd: list[Odd], choice: Json, out: Json) -> None:
    off = choice.get("disable_parallel_tool_use")
    if off is not None:
        out["parallel_tool_calls"] = not as_boolean(off)
    known = ("type", "name", "disable_parallel_tool_use")
    note_unknown(odd, choice, known, "tool_choice")


def _chat_rest(odd: list[Odd], body: Json, out: Json) -> None:
    for key, value in body.items():
        if key in ANTHROPIC_BODY or value is None:
            continue
        if key == "metadata":
            if value.get("user_id") is not None:
                out["user"] = as_string(value["user_id"])
            note_unknown(odd, value, ("user_id",), "metadata")
        elif key == "output_config":
            if value.get("effort") is not None:
                out["reasoning_effort"] = as_string(value["effort"])
            form = value.get("format")
            if form is not None:
                schema = {"name": "answer", "schema": as_object(form["schema"])}
                out["response_format"] = {"type": "json_schema", "json_schema": schema}
                goal = ("response_format", "json_schema", "name")
                odd.append(("filled-in", "added", None, goal))
            note_unknown(odd, value, ("effort", "format"), "output_config")
        elif key == "thinking" and value["type"] == "disabled":
            out["reasoning_effort"] = "none"
        elif key == "temperature" or key == "top_p":
            out[key] = as_number(value)  # sent to older versions of the API
        elif key == "thinking" or key == "top_k":
            odd.append(("no-place", "lost", (key,), None))
        elif key in ANTHROPIC_OWN:
            odd.append(("own-field", "lost", (key,), None))
        else:
            odd.append(("unknown-key", "lost", (key,), None))


# Gemini to Chat.

GEMINI_BODY = frozenset("contents systemInstruction tools toolConfig generationConfig".split())
GEMINI_NO_PLACE = frozenset("safetySettings cachedContent serviceTier store labels".split())
CONTENT = frozenset("role parts".split())
PART_EXTRAS = frozenset(
    "thought thoughtSignature videoMetadata mediaResolution partMetadata".split()
)
FUNCTION_CALL = frozenset("id name args".split())
FUNCTION_RESPONSE = frozenset("id name response parts".split())
GENERATION = {
    "maxOutputTokens": ("max_completion_tokens", as_integer),
    "temperature": ("temperature", as_number),
    "topP": ("top_p", as_number),
    "stopSequences": ("stop", as_strings),
    "seed": ("seed", as_integer),
    "candidateCount": ("n", as_integer),
    "presencePenalty": ("presence_penalty", as_number),
    "frequencyPenalty": ("frequency_penalty", as_number),
    "responseLogprobs": ("logprobs", as_boolean),
    "logprobs": ("top_logprobs", as_integer),
}
GENERATION_NO_PLACE = frozenset("topK responseModalities mediaResolution speechConfig".split())
MODES = {"AUTO": "auto", "ANY": "required", "NONE": "none"}
MODALITIES = ("text", "inlineData", "fileData", "functionCall", "functionResponse")


def made_id(seed: str, place: str) -> str:
    return "call_" + hashlib.sha256(f"{seed}/{place}".encode()).hexdigest()[:12]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def answer_digest(body: Json) -> str:
    """What the id of an answer without one is made of: all that it says."""
    return _digest(_digest(json.dumps(body, sort_keys=True, separators=(",", ":"))))[:12]


def answer_call(body: Json, place: str, call: Json, state: Any) -> str:
    """Make the id of a call in an answer: of the answer's id, else of all that is said."""
    if body.get("responseId") is not None:
        return made_id(_digest(f"{_digest(body['responseId'])}/"), place)
    signature = None if state is None else {"origin": "gemini", "value": state}
    content = [call["name"], call.get("args") or {}, None, None, signature]
    texts = (json.dumps(v, sort_keys=True, separators=(",", ":")) for v in (body, content))
    return made_id(_digest(f"{_digest(next(texts))}/{next(texts)}"), place)


def note_extras(odd: list[Odd], part: Json, main: str, *trail: Any) -> None:
    for key, value in part.items():
        if key == main or value is None or value is False:
            continue
        if key == "thoughtSignature":
            odd.append(("foreign-signature", "lost", (*trail, key), None))
        else:
            code = "no-place" if key in PART_EXTRAS else "unknown-key"
            odd.append((code, "lost", (*trail, key), None))


def _made_ids(body: Json) -> dict[int, str]:
    """Make an id for each part that lacks one, from what was said up to it."""
    seed = ""
    made: dict[int, str] = {}
    calls: list[tuple[str, str]] = []
    for content in body["contents"]:
        seed = _digest(f"{seed}/{json.dumps(content, sort_keys=True, separators=(',', ':'))}")
        count = 0
        for part in content["parts"]:
            if "functionCall" in part:
                call = part["functionCall"]
                identity = call.get("id")
                if identity is None:
                    identity = made[id(part)] = made_id(seed, str(count))
                    count += 1
                calls.append((identity, call["name"]))
            elif "functionResponse" in part:
                answer = part["functionResponse"]
                identity = answer.get("id")
                for pair in calls:
                    if identity == pair[0] or (identity is None and answer["name"] == pair[1]):
                        identity = pair[0]
                        calls.remove(pair)
                        break
                made[id(part)] = identity or made_id(seed, str(count))
                count += not identity
    return made


def _media_part(odd: list[Odd], part: Json, *trail: Any) -> Json | None:
    if "inlineData" in part:
        inline = part["inlineData"]
        media_type, data = inline["mimeType"], inline["data"]
        if media_type.__class__ is not str or data.__class__ is not str:
            raise wrong("a text", data)
        if len(inline) != 2:
            note_unknown(odd, inline, ("mimeType", "data", "displayName"), *trail, "inlineData")
            if inline.get("displayName") is not None:
                where = (*trail, "inlineData", "displayName")
                odd.append(("no-place", "lost", where, None))
        if len(part) != 1:
            note_extras(odd, part, "inlineData", *trail)
        if media_type.startswith("image/"):
            url = f"data:{media_type};base64,{data}"
            return {"type": "image_url", "image_url": {"url": url}}
        if media_type in ("audio/wav", "audio/mpeg", "audio/mp3"):
            form = "wav" if media_type == "audio/wav" else "mp3"
            return {"type": "input_audio", "input_audio": {"format": form, "data": data}}
        if media_type.startswith(("audio/", "video/")):
            odd.append(("no-place", "lost", trail, None))
            return None
        return {"type": "file", "file": {"file_data": f"data:{media_type};base64,{data}"}}
    if "fileData" in part:
        file = part["fileData"]
        note_unknown(odd, file, ("mimeType", "fileUri"), *trail, "fileData")
        if len(part) != 1:
            note_extras(odd, part, "fileData", *trail)
        if (file.get("mimeType") or "image/").startswith("image/"):
            return {"type": "image_url", "image_url": {"url": as_string(file["fileUri"])}}
        odd.append(("no-place", "lost", trail, None))
        return None
    odd.append(("unknown-part", "lost", trail, None))
    return None


def _gemini_result(
    odd: list[Odd], answer: Json, dumps: Dumps, beside: list[Json], *trail: Any
) -> str:
    known = 2 + ("id" in answer)
    if len(answer) != known:
        note_unknown(odd, answer, FUNCTION_RESPONSE, *trail)
        for item in answer.get("parts") or ():
            written = _media_part(odd, item, *trail, "parts", item)
            if written is not None:
                beside.append(written)
                odd.append(("blocks-beside", "moved", (*trail, "parts", item), None))
    value = answer["response"]
    if value.__class__ is not dict:
        raise wrong("an object", value)
    if len(value) == 1:
        if "output" in value:
            value = value["output"]
            if value.__class__ is str:
                return str(value)
        elif "error" in value and value["error"].__class__ is str:
            odd.append(("error-as-text", "changed", (*trail, "response", "error"), None))
    return json_text(value, dumps)


def gemini_to_chat(
    body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json, model: str = "gpt-4o"
) -> Converted:
    odd: list[Odd] = []
    where: Trail
    messages: list[Json] = []
    waiting: dict[str, str] = {}
    ids: list[str] = []
    names: dict[str, str] = {}
    trail: Trail = ()
    content: Json = {}
    made: dict[int, str] = {}
    texts: list[str]
    try:
        system = body.get("systemInstruction")
        if system is not None:
            trail = ("systemInstruction",)
            if len(system) != 1:
                note_unknown(odd, system, CONTENT, "systemInstruction")
                if system.get("role") is not None:
                    odd.append(("own-field", "lost", "/systemInstruction/role", None))
            texts = []
            for part in system["parts"]:
                texts.append(as_string(part["text"]))
                if len(part) != 1:
                    note_extras(odd, part, "text", "systemInstruction", "parts", part)
            spoken: Any = texts[0] if len(texts) == 1 else as_blocks(texts)
            messages.append({"role": "system", "content": spoken})
        given_contents = body["contents"]
        trail = ("contents",)
        if given_contents.__class__ is not list:
            raise wrong("a list", given_contents)
        for content in given_contents:
            given_parts = content["parts"]
            if given_parts.__class__ is not list:
                raise wrong("a list", given_parts)
            role = content.get("role", "user")
            if len(content) != 2:
                note_unknown(odd, content, CONTENT, "contents", content)
            parts: list[Json] = []
            if role == "model":
                if waiting:
                    note_unanswered(odd, waiting, None)
                calls: list[Json] = []
                for part in given_parts:
                    if "functionCall" in part:
                        call = part["functionCall"]
                        name = call["name"]
                        given = call.get("args")
                        identity = call.get("id")
                        if len(part) != 1:
                            note_extras(
                                odd, part, "functionCall", "contents", content, "parts", part
                            )
                        if len(call) != 3:
                            where = ("contents", content, "parts", part, "functionCall")
                            note_unknown(odd, call, FUNCTION_CALL, *where)
                        if identity.__class__ is not str:
                            if identity is not None:
                                raise wrong("a text", identity)
                            made = made or _made_ids(body)
                            identity = made[id(part)]
                            where = ("contents", content, "parts", part)
                            odd.append(("made-id", "added", where, None))
                        if given.__class__ is not dict:
                            if given is not None:
                                raise wrong("an object", given)
                            given = {}
                        written = names.get(name)
                        if written is None:
                            written = names[name] = fitted(name, PLAIN_64, 64, names.values())
                            if written != name:
                                where = ("contents", content, "parts", part, "functionCall")
                                odd.append(("renamed", "changed", (*where, "name"), None))
                        if len(given) == 1 and "_unparsed" in given:
                            text = _unwrapped(given, dumps)
                        else:
                            text = dumps(given)
                            if ".0" in text or "e+" in text:
                                text = tidy(text, given, dumps)
                            if not text.isascii():
                                text.encode()
                        if identity in waiting:
                            where = ("contents", content, "parts", part)
                            odd.append(("duplicate-id", "kept", where, None))
                        waiting[identity] = name
                        ids.append(identity)
                        function = {"name": written, "arguments": text}
                        calls.append({"id": identity, "type": "function", "function": function})
                    elif "text" in part:
                        text = part["text"]
                        if text.__class__ is not str or not (text.isascii() or text.encode()):
                            raise wrong("a text", text)
                        if len(part) != 1:
                            where = ("contents", content, "parts", part)
                            if part.get("thought") is True:
                                odd.append(("no-place", "lost", where, None))
                                continue
                            note_extras(odd, part, "text", *where)
                        if calls:
                            where = ("contents", content, "parts", part)
                            odd.append(("reordered", "moved", where, None))
                        parts.append({"type": "text", "text": text})
                    else:
                        where = ("contents", content, "parts", part)
                        odd.append(("no-place", "lost", where, None))
                spoken = None
                if parts:
                    spoken = parts[0]["text"] if len(parts) == 1 else parts
                message: Json = {"role": "assistant", "content": spoken}
                if calls:
                    message["tool_calls"] = calls
                messages.append(message)
            elif role == "user" or role == "function" or role is None:
                beside: list[Json] = []
                for part in given_parts:
                    if "text" in part:
                        text = part["text"]
                        if text.__class__ is not str or not (text.isascii() or text.encode()):
                            raise wrong("a text", text)
                        if len(part) != 1:
                            note_extras(odd, part, "text", "contents", content, "parts", part)
                        parts.append({"type": "text", "text": text})
                    elif "functionResponse" in part:
                        answer = part["functionResponse"]
                        value = answer["response"]
                        identity = answer.get("id")
                        if len(part) != 1:
                            where = ("contents", content, "parts", part)
                            note_extras(odd, part, "functionResponse", *where)
                        if identity.__class__ is str:
                            if waiting.pop(identity, None) is None:
                                where = ("contents", content, "parts", part)
                                odd.append(("unpaired", "kept", where, None))
                                ids.append(identity)
                        else:
                            made = made or _made_ids(body)
                            identity = made[id(part)]
                            where = ("contents", content, "parts", part)
                            odd.append(("made-id", "added", where, None))
                            if waiting.pop(identity, None) is None:
                                odd.append(("unpaired", "kept", where, None))
                        if len(answer) == 3 and value.__class__ is dict and len(value) != 1:
                            value = dumps(value)
                            if ".0" in value or "e+" in value:
                                value = tidy(value, answer["response"], dumps)
                            if not value.isascii():
                                value.encode()
                        elif len(answer) != 3 or (text := value.get("output")).__class__ is not str:
                            where = ("contents", content, "parts", part, "functionResponse")
                            value = _gemini_result(odd, answer, dumps, beside, *where)
                        else:
                            value = text
                            if not text.isascii():
                                text.encode()
                        messages.append(
                            {"role": "tool", "tool_call_id": identity, "content": value}
                        )
                    else:
                        written_part = _media_part(odd, part, "contents", content, "parts", part)
                        if written_part is not None:
                            parts.append(written_part)
                if waiting:
                    note_unanswered(odd, waiting, None)
                parts = beside + parts
                if parts:
                    messages.append({"role": "user", "content": bare(parts)})
            else:
                raise ValueError(f"unknown role `{role}`")
        if waiting:
            note_unanswered(odd, waiting, None)
        content = {}

        out: Json = {"model": model, "messages": messages}
        if ids:
            if max(map(len, ids)) > 64:
                _shorten_ids(odd, ids, messages)
        groups = body.get("tools")
        if groups is not None:
            trail = ("tools",)
            if groups.__class__ is not list:
                raise wrong("a list", groups)
            out["tools"] = written_tools = []
            for group in groups:
                if "functionDeclarations" not in group:
                    odd.append(("unknown-part", "lost", ("tools", group), None))
                    continue
                if len(group) != 1:
                    note_unknown(odd, group, ("functionDeclarations",), "tools", group)
                for declaration in group["functionDeclarations"]:
                    trail = ("tools", group, "functionDeclarations", declaration)
                    written_tools.append(_chat_tool(odd, declaration, names, *trail))
            if not written_tools:
                del out["tools"]
        config = body.get("toolConfig")
        if config is not None:
            trail = ("toolConfig",)
            choice = config.get("functionCallingConfig") or {}
            mode = choice.get("mode")
            if len(config) != 1:
                note_unknown(odd, config, ("functionCallingConfig",), "toolConfig")
            if len(choice) == 1 and mode in MODES:
                out["tool_choice"] = MODES[mode]
            elif choice:
                out["tool_choice"] = _chat_choice(odd, choice, names)
        sampling = body.get("generationConfig")
        if sampling is not None:
            trail = ("generationConfig",)
            for key, value in sampling.items():
                pair = GENERATION.get(key)
                if pair is None:
                    _generation_rest(odd, key, value, sampling, out)
                elif value is not None:
                    out[pair[0]] = pair[1](value)
        if not GEMINI_BODY.issuperset(body):
            for key in body:
                if key not in GEMINI_BODY and body[key] is not None:
                    code = "no-place" if key in GEMINI_NO_PLACE else "unknown-key"
                    odd.append((code, "lost", (key,), None))
    except MISFIT as problem:
        raise as_refused(body, ("contents", content) if content else trail, problem) from problem
    envelope = Envelope(None, None, "POST", "/v1/chat/completions", {})
    return Converted(out, make_notes(odd, body, out) if odd else (), envelope)


def _chat_tool(odd: list[Odd], declaration: Json, names: dict[str, str], *trail: Any) -> Json:
    name = declaration["name"]
    written = names.get(name)
    if written is None:
        written = names[name] = fitted(name, PLAIN_64, 64, names.values())
        if written != name:
            odd.append(("renamed", "changed", (*trail, "name"), None))
    made: Json = {"name": written}
    description = declaration.get("description")
    if description is not None:
        made["description"] = as_string(description)
    parameters = declaration.get("parameters")
    if parameters is None:
        parameters = declaration.get("parametersJsonSchema")
    elif not fits_schema(parameters):
        parameters = _json_schema(parameters)
    if parameters is not None:
        sound(as_object(parameters))
        made["parameters"] = parameters
    if len(declaration) != len(made):
        known = ("name", "description", "parameters", "parametersJsonSchema")
        note_unknown(odd, declaration, known, *trail)
    return {"type": "function", "function": made}


def _json_schema(schema: Any) -> Any:
    if schema.__class__ is not dict:
        raise wrong("an object", schema)
    written = dict(schema)
    kind = schema.get("type")
    if kind.__class__ is str:
        written["type"] = kind.lower()
    if "properties" in schema:
        written["properties"] = {k: _json_schema(v) for k, v in schema["properties"].items()}
    if "items" in schema:
        written["items"] = _json_schema(schema["items"])
    if "anyOf" in schema:
        written["anyOf"] = [_json_schema(item) for item in schema["anyOf"]]
    return written


def _chat_choice(odd: list[Odd], choice: Json, names: dict[str, str]) -> Any:
    mode = choice["mode"]
    known = ("mode", "allowedFunctionNames")
    note_unknown(odd, choice, known, "toolConfig", "functionCallingConfig")
    allowed = choice.get("allowedFunctionNames")
    if allowed is None:
        if mode != "VALIDATED":
            return MODES[mode]
        where = ("toolConfig", "functionCallingConfig", "mode")
        odd.append(("reworded", "changed", where, ("tool_choice",)))
        return "auto"
    written = [names.get(name) or fitted(name, PLAIN_64, 64) for name in as_strings(allowed)]
    if mode == "ANY" and len(written) == 1:
        return {"type": "function", "function": {"name": written[0]}}
    tools = [{"type": "function", "function": {"name": name}} for name in written]
    word = "required" if mode == "ANY" else "auto"
    return {"type": "allowed_tools", "allowed_tools": {"mode": word, "tools": tools}}


def _thinking(odd: list[Odd], config: Json, out: Json) -> None:
    level = config.get("thinkingLevel")
    if level is not None:
        out["reasoning_effort"] = as_string(level).lower()
    elif config.get("thinkingBudget") == 0:
        out["reasoning_effort"] = "none"
    elif config.get("thinkingBudget") is not None:
        odd.append(("no-place", "lost", "/generationConfig/thinkingConfig/thinkingBudget", None))
    if config.get("includeThoughts") is not None:
        odd.append(("no-place", "lost", "/generationConfig/thinkingConfig/includeThoughts", None))
    known = ("thinkingLevel", "thinkingBudget", "includeThoughts")
    note_unknown(odd, config, known, "generationConfig", "thinkingConfig")


def _generation_rest(odd: list[Odd], key: str, value: Any, sampling: Json, out: Json) -> None:
    if value is None:
        return
    where = ("generationConfig", key)
    if key == "responseMimeType":
        if value == "text/plain":
            out["response_format"] = {"type": "text"}
        elif "responseJsonSchema" not in sampling and "responseSchema" not in sampling:
            out["response_format"] = {"type": "json_object"}
    elif key == "responseJsonSchema" or key == "responseSchema":
        schema = {"name": "answer", "schema": _json_schema(value)}
        out["response_format"] = {"type": "json_schema", "json_schema": schema}
        goal = ("response_format", "json_schema", "name")
        odd.append(("filled-in", "added", None, goal))
    elif key == "thinkingConfig":
        _thinking(odd, as_object(value), out)
    elif key in GENERATION_NO_PLACE:
        odd.append(("no-place", "lost", where, None))
    else:
        odd.append(("unknown-key", "lost", where, None))
