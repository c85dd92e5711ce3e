"""A client's history before a provider whose answers carry what the client has no room for."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

CLIENT = "openai-chat"
TOOL = {
    "name": "get_weather",
    "description": "Say what the weather is like in a place.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
SIGNED = "EqQBCkYIARgCKkD" + "0a1b2c3d4e5f" * 12


def _gemini(n: int) -> Any:
    call = {"name": "get_weather", "args": {"city": f"City {n}"}}
    parts = [{"text": f"I look at place {n}."}, {"functionCall": call, "thoughtSignature": SIGNED}]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return {"candidates": [candidate], "responseId": f"r{n}"}


def _anthropic(n: int) -> Any:
    content = [
        {"type": "thinking", "thinking": f"Place {n} is next.", "signature": SIGNED},
        {"type": "text", "text": f"I look at place {n}."},
        {"type": "tool_use", "id": f"toolu_{n:04}", "name": "get_weather",
         "input": {"city": f"City {n}"}},
    ]  # fmt: skip
    told = {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": "m"}
    usage = {"input_tokens": 10, "output_tokens": 20}
    return {**told, "content": content, "stop_reason": "tool_use", "usage": usage}


ANSWERS: dict[str, Callable[[int], Any]] = {"gemini": _gemini, "anthropic": _anthropic}


def history(rules: Any, provider: str, rounds: int, kept: bool) -> tuple[Any, Any]:
    """Return the request behind some rounds, as a client has it, and the state (or None)."""
    tool = {"type": "function", "function": TOOL}
    messages: list[Any] = [{"role": "user", "content": "How is the weather in all these places?"}]
    body = {"model": "m", "messages": messages, "tools": [tool]}
    state: Any = {} if kept else None
    for n in range(rounds):
        x = rules.exchange(CLIENT, provider, "m", state=state)
        x.request(body)
        (choice,) = x.response(ANSWERS[provider](n)).body["choices"]
        messages.append(choice["message"])
        for call in choice["message"]["tool_calls"]:
            said = {"role": "tool", "tool_call_id": call["id"], "content": '{"sky":"clear"}'}
            messages.append(said)
        state = json.loads(json.dumps(x.state)) if kept else None
    return body, state


def turn(rules: Any, provider: str, body: Any, state: Any) -> Callable[[], Any]:
    """Return the next request of a client, with a state of its own, ready to be timed."""
    x = rules.exchange(CLIENT, provider, "m", state=copy.deepcopy(state))
    return lambda: x.request(body)
