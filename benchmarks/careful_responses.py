"""Convert responses by hand, with every check."""

from __future__ import annotations

import datetime

from .careful_base import (
    DOTTED_128,
    MISFIT,
    PLAIN_64,
    PLAIN_128,
    Dumps,
    Fits,
    Json,
    Loads,
    Odd,
    Result,
    Trail,
    as_integer,
    as_refused,
    as_string,
    dumps_json,
    fitted,
    json_text,
    loads_json,
    make_notes,
    note_unknown,
    wrong,
)
from .careful_from_chat import (
    CALL,
    CALL_FUNCTION,
    freeform,
    loose_arguments,
)
from .careful_to_chat import (
    CONTENT,
    FUNCTION_CALL,
    TEXT_BLOCK,
    USE_BLOCK,
    answer_call,
    answer_digest,
    audit_block,
    note_extras,
)

# Responses to Chat.

CHAT_STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
    "pause_turn": "stop",
    "model_context_window_exceeded": "length",
}
CHAT_FINISHES = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "OTHER": "stop",
    "MALFORMED_FUNCTION_CALL": "stop",
}
ANTHROPIC_ANSWER = frozenset("id type role model content stop_reason stop_sequence usage".split())
ANTHROPIC_USAGE = frozenset(
    "input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens "
    "output_tokens_details".split()
)


def anthropic_response_to_chat(
    body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json
) -> Result:
    odd: list[Odd] = [("filled-in", "added", None, "/created")]
    texts: list[str] = []
    calls: list[Json] = []
    trail: Trail = ("content",)
    try:
        content = body["content"]
        if content.__class__ is not list:
            raise wrong("a list", content)
        for block in content:
            trail = ("content", block)
            kind = block["type"]
            if kind == "text":
                text = block["text"]
                if text.__class__ is not str:
                    raise wrong("a text", text)
                if len(block) != 2:
                    audit_block(odd, block, TEXT_BLOCK, *trail)
                if calls:
                    odd.append(("reordered", "moved", trail, None))
                texts.append(text)
            elif kind == "tool_use":
                identity, name, given = block["id"], block["name"], block["input"]
                if identity.__class__ is not str:
                    raise wrong("a text", identity)
                if given.__class__ is not dict:
                    raise wrong("an object", given)
                if len(block) != 4:
                    audit_block(odd, block, USE_BLOCK, *trail)
                if not PLAIN_64(name) or len(identity) > 64:
                    odd.append(("renamed", "changed", trail, None))
                    name = fitted(name, PLAIN_64, 64)
                    identity = fitted(identity, PLAIN_64, 64)
                function = {"name": name, "arguments": json_text(given, dumps)}
                calls.append({"id": identity, "type": "function", "function": function})
            else:
                code = "no-place" if kind.endswith("thinking") else "unknown-part"
                odd.append((code, "lost", trail, None))
        if len(texts) > 1:
            odd.append(("joined", "changed", ("content",), None))
        message: Json = {
            "role": "assistant",
            "content": "".join(texts) if texts else None,
            "refusal": None,
        }
        if calls:
            message["tool_calls"] = calls
        trail = ("stop_reason",)
        reason = body["stop_reason"]
        finish = CHAT_STOPS.get(reason)
        if finish is None:
            finish = "stop"
            odd.append(("reworded", "changed", ("stop_reason",), None))
        if body.get("stop_sequence") is not None:
            odd.append(("no-place", "lost", ("stop_sequence",), None))
        if not ANTHROPIC_ANSWER.issuperset(body):
            known = (*ANTHROPIC_ANSWER, "container", "diagnostics", "stop_details")
            note_unknown(odd, body, known)
            for key in known[len(ANTHROPIC_ANSWER) :]:
                if body.get(key) is not None:
                    odd.append(("no-place", "lost", (key,), None))
        trail = ("model",)
        identity, model = as_string(body["id"]), as_string(body["model"])
        if body["type"] != "message" or body["role"] != "assistant":
            raise ValueError("this is no message of the assistant")
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        out: Json = {
            "id": identity,
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [choice],
        }
        trail = ("usage",)
        usage = body.get("usage")
        if usage is not None:
            read, made = usage["input_tokens"], usage["output_tokens"]
            if read.__class__ is not int or made.__class__ is not int:
                raise wrong("an integer", read)
            out["usage"] = written = {
                "prompt_tokens": read,
                "completion_tokens": made,
                "total_tokens": read + made,
            }
            if len(usage) != 2:
                _chat_usage(odd, usage, written)
    except MISFIT as problem:
        raise as_refused(body, trail, problem) from problem
    return out, make_notes(odd, body, out)


def _chat_usage(odd: list[Odd], usage: Json, written: Json) -> None:
    known = usage.get("cache_read_input_tokens")
    made = usage.get("cache_creation_input_tokens")
    details: Json = {}
    if known is not None:
        details["cached_tokens"] = as_integer(known)
    if made is not None:
        details["cache_write_tokens"] = as_integer(made)
    more = sum(details.values())
    written["prompt_tokens"] += more
    written["total_tokens"] += more
    if details:
        written["prompt_tokens_details"] = details
    thoughts = usage.get("output_tokens_details")
    if thoughts is not None:
        count = as_integer(thoughts["thinking_tokens"])
        written["completion_tokens_details"] = {"reasoning_tokens": count}
    note_unknown(odd, usage, ANTHROPIC_USAGE, "usage")


GEMINI_ANSWER = frozenset("candidates usageMetadata modelVersion responseId createTime".split())
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
CANDIDATE = frozenset("content finishReason index".split())
MODALITIES = {"AUDIO": "audio_tokens", "IMAGE": "image_tokens", "TEXT": "text_tokens"}


def _by_modality(odd: list[Odd], usage: Json, written: Json) -> None:
    for key, name in (
        ("promptTokensDetails", "prompt_tokens_details"),
        ("candidatesTokensDetails", "completion_tokens_details"),
    ):
        for item in usage.get(key) or ():
            word = MODALITIES.get(item["modality"])
            if word is None or (word == "image_tokens" and name == "completion_tokens_details"):
                odd.append(("no-place", "lost", ("usageMetadata", key, item), None))
            else:
                written.setdefault(name, {})[word] = as_integer(item["tokenCount"])


GEMINI_USAGE = frozenset(
    "promptTokenCount candidatesTokenCount totalTokenCount cachedContentTokenCount "
    "thoughtsTokenCount toolUsePromptTokenCount promptTokensDetails candidatesTokensDetails".split()
)


def gemini_response_to_chat(
    body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json
) -> Result:
    odd: list[Odd] = []
    choices: list[Json] = []
    trail: Trail = ("candidates",)
    try:
        identity = body.get("responseId")
        if identity is None:
            identity = f"chatcmpl-{answer_digest(body)}"
            odd.append(("made-id", "added", None, "/id"))
        elif identity.__class__ is not str:
            raise wrong("a text", identity)
        for number, candidate in enumerate(body["candidates"]):
            texts: list[str] = []
            calls: list[Json] = []
            content = candidate["content"]
            if len(content) != 2:
                where = ("candidates", candidate, "content")
                note_unknown(odd, content, CONTENT, *where)
            for position, part in enumerate(content["parts"]):
                trail = ("candidates", candidate, "content", "parts", part)
                if "text" in part:
                    text = part["text"]
                    if text.__class__ is not str:
                        raise wrong("a text", text)
                    if len(part) != 1:
                        if part.get("thought") is True:
                            odd.append(("no-place", "lost", trail, None))
                            continue
                        note_extras(odd, part, "text", *trail)
                    if calls:
                        odd.append(("reordered", "moved", trail, None))
                    texts.append(text)
                elif "functionCall" in part:
                    call = part["functionCall"]
                    name, given, call_id = call["name"], call.get("args"), call.get("id")
                    if len(part) != 1:
                        note_extras(odd, part, "functionCall", *trail)
                    if call_id is None:
                        place = f"{number}/{len(calls)}"
                        call_id = answer_call(body, place, call, part.get("thoughtSignature"))
                        path = f"/candidates/{number}/content/parts/{position}"
                        odd.append(("made-id", "added", path, None))
                    elif call_id.__class__ is not str:
                        raise wrong("a text", call_id)
                    if given is None:
                        given = {}
                    elif given.__class__ is not dict:
                        raise wrong("an object", given)
                    if not FUNCTION_CALL.issuperset(call):
                        note_unknown(odd, call, FUNCTION_CALL, *trail, "functionCall")
                    if not PLAIN_64(name):
                        odd.append(("renamed", "changed", trail, None))
                        name = fitted(name, PLAIN_64, 64)
                    function = {"name": name, "arguments": json_text(given, dumps)}
                    calls.append({"id": call_id, "type": "function", "function": function})
                else:
                    odd.append(("no-place", "lost", trail, None))
            if len(texts) > 1:
                odd.append(("joined", "changed", ("candidates", candidate, "content"), None))
            message: Json = {
                "role": "assistant",
                "content": "".join(texts) if texts else None,
                "refusal": None,
            }
            if calls:
                message["tool_calls"] = calls
            trail = ("candidates", candidate)
            reason = candidate["finishReason"]
            finish = CHAT_FINISHES.get(reason)
            if finish is None:
                finish = "stop"
                odd.append(("reworded", "changed", (*trail, "finishReason"), None))
            if calls and reason == "STOP":
                finish = "tool_calls"
            if not CANDIDATE.issuperset(candidate):
                for key, value in candidate.items():
                    if key not in CANDIDATE and value is not None:
                        odd.append(("own-field", "lost", f"/candidates/{number}/{key}", None))
            index = candidate.get("index", 0)
            if index.__class__ is not int:
                raise wrong("an integer", index)
            choices.append(
                {"index": index, "message": message, "logprobs": None, "finish_reason": finish}
            )
        created, time = 0, body.get("createTime")
        if time is not None:
            try:
                created = int(datetime.datetime.fromisoformat(time).timestamp())
            except (TypeError, ValueError):
                odd.append(("unfit", "lost", ("createTime",), None))
        if not created:
            odd.append(("filled-in", "added", None, "/created"))
        trail = ("modelVersion",)
        out: Json = {
            "id": identity,
            "object": "chat.completion",
            "created": created,
            "model": as_string(body["modelVersion"]),
            "choices": choices,
        }
        trail = ("usageMetadata",)
        usage = body.get("usageMetadata")
        if usage is not None:
            read = usage["promptTokenCount"]
            made = usage.get("candidatesTokenCount") or 0
            total = usage["totalTokenCount"]
            if read.__class__ is not int or made.__class__ is not int:
                raise wrong("an integer", read)
            if "toolUsePromptTokenCount" in usage:
                read += as_integer(usage["toolUsePromptTokenCount"] or 0)
            written: Json = {"prompt_tokens": read, "completion_tokens": made}
            out["usage"] = written
            thoughts = usage.get("thoughtsTokenCount")
            if thoughts is not None:
                written["completion_tokens"] = made = made + as_integer(thoughts)
                written["completion_tokens_details"] = {"reasoning_tokens": thoughts}
            cached = usage.get("cachedContentTokenCount")
            if cached is not None:
                written["prompt_tokens_details"] = {"cached_tokens": as_integer(cached)}
            if "promptTokensDetails" in usage or "candidatesTokensDetails" in usage:
                _by_modality(odd, usage, written)
            written["total_tokens"] = read + made
            if total != read + made:
                odd.append(("inconsistent", "changed", ("usageMetadata", "totalTokenCount"), None))
            if not GEMINI_USAGE.issuperset(usage):
                note_unknown(odd, usage, GEMINI_USAGE, "usageMetadata")
        if not GEMINI_ANSWER.issuperset(body):
            note_unknown(odd, body, GEMINI_ANSWER)
    except MISFIT as problem:
        raise as_refused(body, trail, problem) from problem
    return out, make_notes(odd, body, out)


# Chat responses to the others.

STOPS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
FINISHES = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "tool_calls": "STOP",
    "function_call": "STOP",
    "content_filter": "SAFETY",
}
CHAT_ANSWER = frozenset("id object created model choices usage".split())
CHAT_ANSWER_OWN = frozenset("service_tier system_fingerprint moderation metadata".split())
CHOICE = frozenset("index message logprobs finish_reason".split())
ANSWER_MESSAGE = frozenset("role content refusal tool_calls".split())
CHAT_USAGE = frozenset(
    "prompt_tokens completion_tokens total_tokens prompt_tokens_details "
    "completion_tokens_details".split()
)


def _answer_audit(odd: list[Odd], body: Json) -> None:
    for key, value in body.items():
        if key not in CHAT_ANSWER and value is not None:
            code = "own-field" if key in CHAT_ANSWER_OWN else "unknown-key"
            odd.append((code, "lost", (key,), None))


def _choice_audit(odd: list[Odd], choice: Json) -> None:
    message = choice["message"]
    trail = ("choices", choice)
    if choice.get("logprobs") is not None:
        odd.append(("no-place", "lost", (*trail, "logprobs"), None))
    if len(choice) != 4:
        note_unknown(odd, choice, CHOICE, *trail)
    if not ANSWER_MESSAGE.issuperset(message):
        for key, value in message.items():
            if key not in ANSWER_MESSAGE and value is not None:
                own = ("audio", "annotations", "function_call", "reasoning_content")
                code = "own-field" if key in own else "unknown-key"
                odd.append((code, "lost", (*trail, "message", key), None))


def _answer_calls(
    odd: list[Odd], choice: Json, loads: Loads, fits: Fits
) -> list[tuple[str, str, Json]]:
    made: list[tuple[str, str, Json]] = []
    for call in choice["message"].get("tool_calls") or ():
        trail = ("choices", choice, "message", "tool_calls", call)
        identity = call["id"]
        if identity.__class__ is not str:
            raise wrong("a text", identity)
        if call["type"] == "function":
            function = call["function"]
            name, text = function["name"], function["arguments"]
            try:
                given = loads(text)
            except (ValueError, RecursionError):
                given = None
            if given.__class__ is not dict:
                given = loose_arguments(odd, text, loads, *trail, "function", "arguments")
            if len(call) != 3:
                note_unknown(odd, call, CALL, *trail)
            if len(function) != 2:
                note_unknown(odd, function, CALL_FUNCTION, *trail, "function")
        else:
            name, given = freeform(odd, call, *trail)
        if not fits(name):
            odd.append(("renamed", "changed", trail, None))
            name = fitted(name, fits, 128)
        made.append((identity, name, given))
    return made


def chat_response_to_anthropic(
    body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json
) -> Result:
    odd: list[Odd] = []
    where: Trail
    trail: Trail = ("choices",)
    try:
        choice, *others = body["choices"]
        for other in others:
            odd.append(("no-place", "lost", ("choices", other), None))
        message = choice["message"]
        trail = ("choices", choice)
        _choice_audit(odd, choice)
        blocks: list[Json] = []
        text = message.get("content")
        if text is not None:
            if text.__class__ is not str:
                raise wrong("a text", text)
            blocks.append({"type": "text", "text": text})
        if message.get("refusal") is not None:
            blocks.append({"type": "text", "text": as_string(message["refusal"])})
            where = ("choices", choice, "message", "refusal")
            odd.append(("refusal-as-text", "changed", where, None))
        for identity, name, given in _answer_calls(odd, choice, loads, PLAIN_128):
            if not PLAIN_64(identity):
                odd.append(("renamed", "changed", trail, None))
                identity = fitted(identity, PLAIN_64, 64)
            blocks.append({"type": "tool_use", "id": identity, "name": name, "input": given})
        reason = STOPS.get(choice["finish_reason"])
        if reason is None:
            reason = "end_turn"
            odd.append(("reworded", "changed", (*trail, "finish_reason"), None))
        if body.get("created") is not None:
            odd.append(("no-place", "lost", ("created",), None))
        if not CHAT_ANSWER.issuperset(body):
            _answer_audit(odd, body)
        trail = ("model",)
        out: Json = {
            "id": as_string(body["id"]),
            "type": "message",
            "role": "assistant",
            "model": as_string(body["model"]),
            "content": blocks,
            "stop_reason": reason,
            "stop_sequence": None,
        }
        trail = ("usage",)
        usage = body.get("usage")
        if usage is not None:
            read, made = usage["prompt_tokens"], usage["completion_tokens"]
            if read.__class__ is not int or made.__class__ is not int:
                raise wrong("an integer", read)
            if usage["total_tokens"] != read + made:
                odd.append(("inconsistent", "changed", ("usage", "total_tokens"), None))
            out["usage"] = written = {"input_tokens": read, "output_tokens": made}
            if len(usage) != 3:
                _anthropic_usage(odd, usage, written)
    except MISFIT as problem:
        raise as_refused(body, trail, problem) from problem
    return out, make_notes(odd, body, out) if odd else ()


def _anthropic_usage(odd: list[Odd], usage: Json, written: Json) -> None:
    note_unknown(odd, usage, CHAT_USAGE, "usage")
    details = usage.get("prompt_tokens_details") or {}
    for key, name in (
        ("cached_tokens", "cache_read_input_tokens"),
        ("cache_write_tokens", "cache_creation_input_tokens"),
    ):
        count = details.get(key)
        if count is not None:
            written[name] = as_integer(count)
            written["input_tokens"] -= count
    known = ("cached_tokens", "cache_write_tokens")
    note_unknown(odd, details, known, "usage", "prompt_tokens_details")
    details = usage.get("completion_tokens_details") or {}
    count = details.get("reasoning_tokens")
    if count is not None:
        written["output_tokens_details"] = {"thinking_tokens": as_integer(count)}
    note_unknown(odd, details, ("reasoning_tokens",), "usage", "completion_tokens_details")


def chat_response_to_gemini(
    body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json
) -> Result:
    odd: list[Odd] = []
    where: Trail
    candidates: list[Json] = []
    trail: Trail = ("choices",)
    try:
        for choice in body["choices"]:
            message = choice["message"]
            trail = ("choices", choice)
            _choice_audit(odd, choice)
            parts: list[Json] = []
            text = message.get("content")
            if text is not None:
                if text.__class__ is not str:
                    raise wrong("a text", text)
                parts.append({"text": text})
            if message.get("refusal") is not None:
                parts.append({"text": as_string(message["refusal"])})
                where = ("choices", choice, "message", "refusal")
                odd.append(("refusal-as-text", "changed", where, None))
            for identity, name, given in _answer_calls(odd, choice, loads, DOTTED_128):
                call = {"id": identity, "name": name, "args": given}
                parts.append({"functionCall": call})
            reason = FINISHES.get(choice["finish_reason"])
            if reason is None:
                reason = "OTHER"
                odd.append(("reworded", "changed", (*trail, "finish_reason"), None))
            index = choice["index"]
            if index.__class__ is not int:
                raise wrong("an integer", index)
            candidates.append(
                {
                    "index": index,
                    "content": {"role": "model", "parts": parts},
                    "finishReason": reason,
                }
            )
        if not CHAT_ANSWER.issuperset(body):
            _answer_audit(odd, body)
        out: Json = {"candidates": candidates}
        trail = ("usage",)
        usage = body.get("usage")
        if usage is not None:
            read, made = usage["prompt_tokens"], usage["completion_tokens"]
            if read.__class__ is not int or made.__class__ is not int:
                raise wrong("an integer", read)
            if usage["total_tokens"] != read + made:
                odd.append(("inconsistent", "changed", ("usage", "total_tokens"), None))
            out["usageMetadata"] = written = {
                "promptTokenCount": read,
                "candidatesTokenCount": made,
                "totalTokenCount": read + made,
            }
            if len(usage) != 3:
                _gemini_usage(odd, usage, written)
        trail = ("model",)
        out["modelVersion"] = as_string(body["model"])
        out["responseId"] = as_string(body["id"])
        trail = ("created",)
        created = body.get("created")
        if created is not None:
            if as_integer(created):
                time = EPOCH + datetime.timedelta(seconds=created)
                out["createTime"] = time.strftime("%Y-%m-%dT%H:%M:%SZ")
            else:
                odd.append(("no-place", "lost", ("created",), None))
    except MISFIT as problem:
        raise as_refused(body, trail, problem) from problem
    return out, make_notes(odd, body, out) if odd else ()


def _gemini_usage(odd: list[Odd], usage: Json, written: Json) -> None:
    note_unknown(odd, usage, CHAT_USAGE, "usage")
    details = usage.get("prompt_tokens_details") or {}
    if details.get("cached_tokens") is not None:
        written["cachedContentTokenCount"] = as_integer(details["cached_tokens"])
    made = details.get("cache_write_tokens")
    if made is not None:
        odd.append(("joined", "changed", "/usage/prompt_tokens_details/cache_write_tokens", None))
    known = ("cached_tokens", "cache_write_tokens", *MODALITIES.values())
    note_unknown(odd, details, known, "usage", "prompt_tokens_details")
    found = _counts(details)
    if found:
        written["promptTokensDetails"] = found
    details = usage.get("completion_tokens_details") or {}
    count = details.get("reasoning_tokens")
    if count is not None:
        written["thoughtsTokenCount"] = as_integer(count)
        written["candidatesTokenCount"] -= count
    for key in ("accepted_prediction_tokens", "rejected_prediction_tokens"):
        if details.get(key) is not None:
            where = ("usage", "completion_tokens_details", key)
            odd.append(("own-field", "lost", where, None))
    found = _counts(details)
    if found:
        written["candidatesTokensDetails"] = found


def _counts(details: Json) -> list[Json]:
    return [
        {"modality": modality, "tokenCount": as_integer(details[key])}
        for modality, key in MODALITIES.items()
        if details.get(key) is not None
    ]
