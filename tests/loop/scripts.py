"""What each provider answers, turn by turn, and how that must stand in its requests.

A script is a list of turns: plain text; two calls of one tool at once; a call that will fail; a
thought, as far as the API has such, and a call; the last answer. `NAME` stands for the first tool
that the provider was sent.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

Json = Any
NAME = "NAME"
CITIES = ("Oslo", "Rome")


def _chat(message: Json, called: bool) -> Json:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": None, "refusal": None, **message},
        "logprobs": None,
        "finish_reason": "tool_calls" if called else "stop",
    }
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return {**head, "choices": [choice], "usage": usage}


def _chat_call(name: str, city: str) -> Json:
    # No text that a program would write: it must come back as it is.
    text = f'{{ "city":"{city}" ,"n": 1.0}}'
    return {"id": name, "type": "function", "function": {"name": NAME, "arguments": text}}


CHAT = [
    _chat({"content": "Hello."}, False),
    _chat({"tool_calls": [_chat_call("call:1/a", "Oslo"), _chat_call("call:1.a", "Rome")]}, True),
    _chat({"content": "Once more.", "tool_calls": [_chat_call("call_3", "Oslo")]}, True),
    _chat({"tool_calls": [_chat_call("call_4", "Rome")]}, True),
    _chat({"content": "It is warm."}, False),
]


def _responses(*items: Json) -> Json:
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "tools": []}
    rest = {"status": "completed", "parallel_tool_calls": True, "tool_choice": "auto"}
    none = {"error": None, "incomplete_details": None, "instructions": None}
    return {**head, **rest, **none, "output": list(items), "usage": usage}


def _message(name: str, text: str) -> Json:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    head = {"id": name, "type": "message", "status": "completed", "role": "assistant"}
    return {**head, "content": [part]}


def _item(name: str, call: str, city: str) -> Json:
    text = f'{{ "city":"{city}" ,"n": 1.0}}'
    head = {"id": name, "type": "function_call", "status": "completed", "call_id": call}
    return {**head, "name": NAME, "arguments": text}


def _thought(name: str, sealed: str, *texts: str) -> Json:
    summary = [{"type": "summary_text", "text": text} for text in texts]
    return {"id": name, "type": "reasoning", "summary": summary, "encrypted_content": sealed}


RESPONSES = [
    _responses(_message("msg_1", "Hello.")),
    _responses(
        _thought("rs_1", "signature+one/==", "Two cities."),
        _message("msg_2", "I look."),
        _item("fc_1", "call:1/a", "Oslo"),
        _item("fc_2", "call:1.a", "Rome"),
    ),
    _responses(_item("fc_3", "call_3", "Oslo")),
    _responses(_thought("rs_2", "signature-two"), _item("fc_4", "call_4", "Rome")),
    _responses(_thought("rs_3", "signature-3", "Enough."), _message("msg_3", "It is warm.")),
]


def _anthropic(*blocks: Json) -> Json:
    called = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(blocks),
        "stop_reason": "tool_use" if called else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _use(name: str, city: str) -> Json:
    return {"type": "tool_use", "id": name, "name": NAME, "input": {"city": city}}


ANTHROPIC = [
    _anthropic({"type": "text", "text": "Hello."}),
    _anthropic(
        {"type": "thinking", "thinking": "Two cities.", "signature": "sig+one/=="},
        {"type": "text", "text": "I look."},
        _use("toolu_1", "Oslo"),
        _use("toolu_2", "Rome"),
    ),
    _anthropic(_use("toolu_3", "Oslo")),
    _anthropic(
        {"type": "redacted_thinking", "data": "opaque=="},
        {"type": "thinking", "thinking": "A picture.", "signature": "sig-two"},
        _use("toolu_4", "Rome"),
    ),
    _anthropic(
        {"type": "thinking", "thinking": "Enough.", "signature": "sig-three"},
        {"type": "text", "text": "It is warm."},
    ),
]


def _gemini(*parts: Json) -> Json:
    candidate = {
        "content": {"role": "model", "parts": list(parts)},
        "finishReason": "STOP",
        "index": 0,
    }
    return {"candidates": [candidate], "modelVersion": "m", "responseId": "r"}


def _called(city: str, signature: str | None = None, name: str | None = None) -> Json:
    call: Json = {"name": NAME, "args": {"city": city}}
    if name is not None:
        call = {"id": name, **call}
    return {"functionCall": call, **({"thoughtSignature": signature} if signature else {})}


def _google(ids: bool) -> list[Json]:
    return [
        _gemini({"text": "Hello."}),
        _gemini({"text": "I look."}, _called("Oslo", "AAEC+/8="), _called("Rome")),
        _gemini(_called("Oslo", "BBEC", "gem 3!" if ids else None)),
        _gemini(
            {"text": "A picture.", "thought": True},
            _called("Rome", "CCEC", "gem4" if ids else None),
        ),
        _gemini({"text": "It is warm.", "thoughtSignature": "DDEC"}),
    ]


def _ollama(message: Json) -> Json:
    whole = {"role": "assistant", "content": "", **message}
    time = "2026-01-01T00:00:00Z"
    return {"model": "m", "created_at": time, "message": whole, "done": True, "done_reason": "stop"}


def _function(city: str, index: int = 0, name: str | None = None) -> Json:
    call: Json = {"function": {"index": index, "name": NAME, "arguments": {"city": city}}}
    return call if name is None else {"id": name, **call}


OLLAMA = [
    _ollama({"content": "Hello."}),
    _ollama({"tool_calls": [_function("Oslo", 0), _function("Rome", 1)]}),
    _ollama({"tool_calls": [_function("Oslo", 0, "call_abc")]}),
    _ollama({"thinking": "A picture.", "tool_calls": [_function("Rome")]}),
    _ollama({"content": "It is warm."}),
]

SCRIPTS = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": _google(True),
    "vertex": _google(False),
    "ollama": OLLAMA,
}
MODELS = {"gemini": "gemini-3-pro", "vertex": "gemini-3-pro", "anthropic": "claude-opus-4-5"}


def turns(dialect: str, tool: str) -> list[Json]:
    """Return the answers of a provider that calls a tool by its name."""
    script = json.loads(json.dumps(SCRIPTS[dialect]).replace(json.dumps(NAME), json.dumps(tool)))
    return list(script)


def tool(dialect: str, body: Json) -> str:
    """Return the name of the first tool that a provider was sent."""
    first = body["tools"][0]
    if dialect in ("gemini", "vertex"):
        return str(first["functionDeclarations"][0]["name"])
    flat = dialect in ("anthropic", "openai-responses")
    return str(first["name"] if flat else first["function"]["name"])


def said(dialect: str, body: Json) -> list[Json]:
    """Return what of an answer must come back as it is: its content, part by part."""
    if dialect == "openai-chat":
        message = body["choices"][0]["message"]
        return [message["content"], *message.get("tool_calls", ())]
    if dialect == "openai-responses":
        return [_core(item) for item in body["output"]]
    if dialect == "anthropic":
        return list(body["content"])
    if dialect == "ollama":
        message = body["message"]
        return [message["content"], message.get("thinking"), *message.get("tool_calls", ())]
    return list(body["candidates"][0]["content"]["parts"])


def _is_answer(item: Json) -> bool:
    """Tell whether an item of OpenAI's Responses is the model's."""
    return item.get("role") == "assistant" or item.get("type") in ("reasoning", "function_call")


def _core(item: Json) -> Json:
    """Return what of an item the API must get back: it may do without the names of items."""
    if item.get("role") == "assistant":
        content = item["content"]
        return content if isinstance(content, str) else "".join(p["text"] for p in content)
    return {key: value for key, value in item.items() if key not in ("id", "status")}


def history(dialect: str, body: Json) -> list[list[Json]]:
    """Return what stands of the provider's turns in a request."""
    if dialect in ("gemini", "vertex"):
        return [c["parts"] for c in body["contents"] if c["role"] == "model"]
    if dialect == "openai-responses":
        items = body["input"] if isinstance(body["input"], list) else []
        groups = itertools.groupby(items, key=_is_answer)
        return [[_core(item) for item in found] for theirs, found in groups if theirs]
    turns = [m for m in body["messages"] if m["role"] == "assistant"]
    if dialect == "anthropic":
        return [
            [{"type": "text", "text": m["content"]}] if isinstance(m["content"], str)
            else m["content"]
            for m in turns
        ]  # fmt: skip
    if dialect == "ollama":
        return [[m.get("content", ""), m.get("thinking"), *m.get("tool_calls", ())] for m in turns]
    return [[m["content"], *(m.get("tool_calls") or ())] for m in turns]
