"""Convert by hand and trust the input: the bare floor that nothing careful can reach.

No key is looked for that is not used, no type is tested, nothing is noted. `REQUESTS` and
`RESPONSES` hold the converters by (source, target); each takes the body and the
two JSON functions.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Loads = Callable[[str], Any]
Dumps = Callable[[Any], str]

loads_json: Loads = json.loads
dumps_json: Dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

CHAT_STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
    "pause_turn": "stop",
}
CHAT_FINISHES = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "OTHER": "stop",
}
STOPS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}
FINISHES = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "tool_calls": "STOP",
    "content_filter": "SAFETY",
}


# Chat requests to the others.


def _block(part: Json) -> Json:
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    url = part["image_url"]["url"]
    if url[:5] != "data:":
        return {"type": "image", "source": {"type": "url", "url": url}}
    head, _, data = url.partition(";base64,")
    return {"type": "image", "source": {"type": "base64", "media_type": head[5:], "data": data}}


def chat_to_anthropic(body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json) -> Json:
    system: list[Json] = []
    messages: list[Json] = []
    results: list[Json] = []
    previous = ""
    for message in body["messages"]:
        role = message["role"]
        if role == "tool":
            if previous != "tool":
                results = []
                messages.append({"role": "user", "content": results})
            identity = message["tool_call_id"]
            results.append(
                {"type": "tool_result", "tool_use_id": identity, "content": message["content"]}
            )
        elif role == "assistant":
            content = message.get("content")
            calls = message.get("tool_calls")
            if calls:
                blocks = [{"type": "text", "text": content}] if content else []
                for call in calls:
                    function = call["function"]
                    given = loads(function["arguments"])
                    blocks.append(
                        {
                            "type": "tool_use",
                            "id": call["id"],
                            "name": function["name"],
                            "input": given,
                        }
                    )
                content = blocks
            messages.append({"role": "assistant", "content": content})
        elif role == "user":
            content = message["content"]
            if content.__class__ is list:
                content = [_block(part) for part in content]
            if previous == "tool":
                results += (
                    [{"type": "text", "text": content}] if content.__class__ is str else content
                )
            else:
                messages.append({"role": "user", "content": content})
        else:
            system.append({"type": "text", "text": message["content"]})
        previous = role
    out: Json = {
        "model": body["model"],
        "max_tokens": body.get("max_completion_tokens") or body.get("max_tokens") or 4096,
    }
    if system:
        out["system"] = system[0]["text"] if len(system) == 1 else system
    out["messages"] = messages
    tools = body.get("tools")
    if tools:
        written = []
        for tool in tools:
            function = tool["function"]
            written.append(
                {
                    "name": function["name"],
                    "description": function["description"],
                    "input_schema": function["parameters"],
                }
            )
        out["tools"] = written
    choice = body.get("tool_choice")
    if choice is not None:
        if choice.__class__ is str:
            out["tool_choice"] = {"type": "any" if choice == "required" else choice}
        else:
            out["tool_choice"] = {"type": "tool", "name": choice["function"]["name"]}
    stop = body.get("stop")
    if stop:
        out["stop_sequences"] = [stop] if stop.__class__ is str else stop
    return out


def _part(part: Json) -> Json:
    if part["type"] == "text":
        return {"text": part["text"]}
    url = part["image_url"]["url"]
    if url[:5] != "data:":
        return {"fileData": {"fileUri": url}}
    head, _, data = url.partition(";base64,")
    return {"inlineData": {"mimeType": head[5:], "data": data}}


def chat_to_gemini(body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json) -> Json:
    system: list[Json] = []
    contents: list[Json] = []
    names: dict[str, str] = {}
    results: list[Json] = []
    previous = ""
    for message in body["messages"]:
        role = message["role"]
        if role == "tool":
            if previous != "tool":
                results = []
                contents.append({"role": "user", "parts": results})
            identity = message["tool_call_id"]
            text = message["content"]
            if text[:1] == "{":
                value = loads(text)
            elif text[:1] == "[":
                value = {"output": loads(text)}
            else:
                value = {"output": text}
            answer = {"id": identity, "name": names[identity], "response": value}
            results.append({"functionResponse": answer})
        elif role == "assistant":
            content = message.get("content")
            parts: list[Json] = [{"text": content}] if content else []
            for call in message.get("tool_calls") or ():
                function = call["function"]
                name = names[call["id"]] = function["name"]
                given = loads(function["arguments"])
                parts.append({"functionCall": {"id": call["id"], "name": name, "args": given}})
            contents.append({"role": "model", "parts": parts})
        elif role == "user":
            content = message["content"]
            if content.__class__ is str:
                parts = [{"text": content}]
            else:
                parts = [_part(part) for part in content]
            if previous == "tool":
                results += parts
            else:
                contents.append({"role": "user", "parts": parts})
        else:
            system.append({"text": message["content"]})
        previous = role
    out: Json = {}
    if system:
        out["systemInstruction"] = {"parts": system}
    out["contents"] = contents
    tools = body.get("tools")
    if tools:
        written = []
        for tool in tools:
            function = tool["function"]
            written.append(
                {
                    "name": function["name"],
                    "description": function["description"],
                    "parameters": function["parameters"],
                }
            )
        out["tools"] = [{"functionDeclarations": written}]
    choice = body.get("tool_choice")
    if choice is not None:
        if choice.__class__ is str:
            config: Json = {"mode": "ANY" if choice == "required" else choice.upper()}
        else:
            config = {"mode": "ANY", "allowedFunctionNames": [choice["function"]["name"]]}
        out["toolConfig"] = {"functionCallingConfig": config}
    sampling: Json = {}
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    if limit:
        sampling["maxOutputTokens"] = limit
    for key, name in (("temperature", "temperature"), ("top_p", "topP"), ("seed", "seed")):
        value = body.get(key)
        if value is not None:
            sampling[name] = value
    stop = body.get("stop")
    if stop:
        sampling["stopSequences"] = [stop] if stop.__class__ is str else stop
    if sampling:
        out["generationConfig"] = sampling
    return out


# Requests of the others to Chat.


def anthropic_to_chat(body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json) -> Json:
    messages: list[Json] = []
    system = body.get("system")
    if system is not None:
        messages.append({"role": "system", "content": system})
    for message in body["messages"]:
        role = message["role"]
        content = message["content"]
        if content.__class__ is str:
            messages.append({"role": role, "content": content})
            continue
        parts: list[Json] = []
        calls: list[Json] = []
        for block in content:
            kind = block["type"]
            if kind == "text":
                parts.append({"type": "text", "text": block["text"]})
            elif kind == "tool_use":
                function = {"name": block["name"], "arguments": dumps(block["input"])}
                calls.append({"id": block["id"], "type": "function", "function": function})
            elif kind == "tool_result":
                identity = block["tool_use_id"]
                messages.append(
                    {"role": "tool", "tool_call_id": identity, "content": block["content"]}
                )
            else:
                source = block["source"]
                if source["type"] == "url":
                    url = source["url"]
                else:
                    url = f"data:{source['media_type']};base64,{source['data']}"
                parts.append({"type": "image_url", "image_url": {"url": url}})
        if role == "assistant":
            text = parts[0]["text"] if len(parts) == 1 else parts or None
            written: Json = {"role": "assistant", "content": text}
            if calls:
                written["tool_calls"] = calls
            messages.append(written)
        elif parts:
            messages.append({"role": role, "content": parts})
    out: Json = {"model": body["model"], "messages": messages}
    tools = body.get("tools")
    if tools:
        written_tools = []
        for tool in tools:
            function = {
                "name": tool["name"],
                "description": tool["description"],
                "parameters": tool["input_schema"],
            }
            written_tools.append({"type": "function", "function": function})
        out["tools"] = written_tools
    choice = body.get("tool_choice")
    if choice is not None:
        kind = choice["type"]
        if kind == "tool":
            out["tool_choice"] = {"type": "function", "function": {"name": choice["name"]}}
        else:
            out["tool_choice"] = "required" if kind == "any" else kind
    out["max_completion_tokens"] = body["max_tokens"]
    stop = body.get("stop_sequences")
    if stop:
        out["stop"] = stop
    return out


def gemini_to_chat(
    body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json, model: str = "gpt-4o"
) -> Json:
    messages: list[Json] = []
    system = body.get("systemInstruction")
    if system is not None:
        messages.append({"role": "system", "content": system["parts"][0]["text"]})
    for content in body["contents"]:
        parts: list[Json] = []
        calls: list[Json] = []
        for part in content["parts"]:
            if "text" in part:
                parts.append({"type": "text", "text": part["text"]})
            elif "functionCall" in part:
                call = part["functionCall"]
                function = {"name": call["name"], "arguments": dumps(call["args"])}
                calls.append({"id": call["id"], "type": "function", "function": function})
            elif "functionResponse" in part:
                answer = part["functionResponse"]
                value = answer["response"]
                if len(value) == 1 and "output" in value:
                    value = value["output"]
                text = value if value.__class__ is str else dumps(value)
                messages.append({"role": "tool", "tool_call_id": answer["id"], "content": text})
            else:
                data = part["inlineData"]
                url = f"data:{data['mimeType']};base64,{data['data']}"
                parts.append({"type": "image_url", "image_url": {"url": url}})
        spoken: Any = parts or None
        if len(parts) == 1 and "text" in parts[0]:
            spoken = parts[0]["text"]
        if content["role"] == "model":
            written: Json = {"role": "assistant", "content": spoken}
            if calls:
                written["tool_calls"] = calls
            messages.append(written)
        elif spoken:
            messages.append({"role": "user", "content": spoken})
    out: Json = {"model": model, "messages": messages}
    tools = body.get("tools")
    if tools:
        out["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": function["name"],
                    "description": function["description"],
                    "parameters": function["parameters"],
                },
            }
            for function in tools[0]["functionDeclarations"]
        ]
    choice = body.get("toolConfig")
    if choice is not None:
        config = choice["functionCallingConfig"]
        names = config.get("allowedFunctionNames")
        if names:
            out["tool_choice"] = {"type": "function", "function": {"name": names[0]}}
        else:
            mode = config["mode"]
            out["tool_choice"] = "required" if mode == "ANY" else mode.lower()
    sampling = body.get("generationConfig")
    if sampling is not None:
        for key, name in (
            ("maxOutputTokens", "max_completion_tokens"),
            ("temperature", "temperature"),
            ("topP", "top_p"),
            ("stopSequences", "stop"),
            ("seed", "seed"),
        ):
            value = sampling.get(key)
            if value is not None:
                out[name] = value
    return out


# Responses.


def anthropic_response_to_chat(
    body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json
) -> Json:
    texts: list[str] = []
    calls: list[Json] = []
    for block in body["content"]:
        if block["type"] == "text":
            texts.append(block["text"])
        else:
            function = {"name": block["name"], "arguments": dumps(block["input"])}
            calls.append({"id": block["id"], "type": "function", "function": function})
    message: Json = {"role": "assistant", "content": "".join(texts) if texts else None}
    message["refusal"] = None
    if calls:
        message["tool_calls"] = calls
    usage = body["usage"]
    read = usage["input_tokens"]
    made = usage["output_tokens"]
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": CHAT_STOPS[body["stop_reason"]],
    }
    return {
        "id": body["id"],
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [choice],
        "usage": {"prompt_tokens": read, "completion_tokens": made, "total_tokens": read + made},
    }


def gemini_response_to_chat(
    body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json
) -> Json:
    choices: list[Json] = []
    for candidate in body["candidates"]:
        texts: list[str] = []
        calls: list[Json] = []
        for part in candidate["content"]["parts"]:
            if "text" in part:
                texts.append(part["text"])
            else:
                call = part["functionCall"]
                function = {"name": call["name"], "arguments": dumps(call["args"])}
                identity = call.get("id") or f"call_{len(calls)}"
                calls.append({"id": identity, "type": "function", "function": function})
        message: Json = {"role": "assistant", "content": "".join(texts) if texts else None}
        message["refusal"] = None
        if calls:
            message["tool_calls"] = calls
        choices.append(
            {
                "index": candidate["index"],
                "message": message,
                "logprobs": None,
                "finish_reason": "tool_calls"
                if calls
                else CHAT_FINISHES[candidate["finishReason"]],
            }
        )
    usage = body["usageMetadata"]
    return {
        "id": body["responseId"],
        "object": "chat.completion",
        "created": 0,
        "model": body["modelVersion"],
        "choices": choices,
        "usage": {
            "prompt_tokens": usage["promptTokenCount"],
            "completion_tokens": usage["candidatesTokenCount"],
            "total_tokens": usage["totalTokenCount"],
        },
    }


def chat_response_to_anthropic(
    body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json
) -> Json:
    choice = body["choices"][0]
    message = choice["message"]
    text = message["content"]
    blocks: list[Json] = [{"type": "text", "text": text}] if text else []
    for call in message.get("tool_calls") or ():
        function = call["function"]
        given = loads(function["arguments"])
        use = {"type": "tool_use", "id": call["id"], "name": function["name"], "input": given}
        blocks.append(use)
    usage = body["usage"]
    return {
        "id": body["id"],
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": blocks,
        "stop_reason": STOPS[choice["finish_reason"]],
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage["prompt_tokens"],
            "output_tokens": usage["completion_tokens"],
        },
    }


def chat_response_to_gemini(
    body: Json, loads: Loads = loads_json, dumps: Dumps = dumps_json
) -> Json:
    candidates: list[Json] = []
    for choice in body["choices"]:
        message = choice["message"]
        text = message["content"]
        parts: list[Json] = [{"text": text}] if text else []
        for call in message.get("tool_calls") or ():
            function = call["function"]
            given = loads(function["arguments"])
            made = {"id": call["id"], "name": function["name"], "args": given}
            parts.append({"functionCall": made})
        candidates.append(
            {
                "index": choice["index"],
                "content": {"role": "model", "parts": parts},
                "finishReason": FINISHES[choice["finish_reason"]],
            }
        )
    usage = body["usage"]
    return {
        "candidates": candidates,
        "usageMetadata": {
            "promptTokenCount": usage["prompt_tokens"],
            "candidatesTokenCount": usage["completion_tokens"],
            "totalTokenCount": usage["total_tokens"],
        },
        "modelVersion": body["model"],
        "responseId": body["id"],
        "createTime": datetime.datetime.fromtimestamp(body["created"], datetime.UTC).strftime(
            "%Y-%m-%dT%H:%M:%SZ"
        ),
    }


REQUESTS: dict[tuple[str, str], Callable[..., Json]] = {
    ("openai-chat", "anthropic"): chat_to_anthropic,
    ("openai-chat", "gemini"): chat_to_gemini,
    ("anthropic", "openai-chat"): anthropic_to_chat,
    ("gemini", "openai-chat"): gemini_to_chat,
}
RESPONSES: dict[tuple[str, str], Callable[..., Json]] = {
    ("anthropic", "openai-chat"): anthropic_response_to_chat,
    ("gemini", "openai-chat"): gemini_response_to_chat,
    ("openai-chat", "anthropic"): chat_response_to_anthropic,
    ("openai-chat", "gemini"): chat_response_to_gemini,
}
