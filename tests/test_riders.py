"""What comes back to an exchange is input: riders, states and bodies of any form."""

from __future__ import annotations

from typing import Any

import pytest

import wireglot

CHAT = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
CLIENTS = ("anthropic", "gemini", "ollama", "openai-chat", "openai-responses", "vertex")


def beneath(frames: int, call: Any) -> Any:
    """Call something where the caller's stack is so deep."""
    return call() if frames == 0 else beneath(frames - 1, call)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("direction", ["request", "response", "error"])
def test_what_holds_itself_is_refused(client: str, direction: str) -> None:
    loop: dict[str, Any] = {"role": "user"}
    loop["content"] = [loop]
    provider = "openai-chat" if client != "openai-chat" else "gemini"
    keys = ("messages", "input", "contents", "output", "choices", "candidates", "error")
    for body in (loop, dict.fromkeys(keys, loop), {key: [loop] for key in keys}):
        x = wireglot.exchange(client, provider, "m", state={})
        before = x.state
        with pytest.raises(wireglot.ConversionError):
            getattr(x, direction)(body)
        assert x.state == before


@pytest.mark.parametrize("client", CLIENTS)
def test_arguments_of_any_depth_are_taken_or_refused(client: str) -> None:
    provider = "openai-chat" if client != "openai-chat" else "gemini"
    for depth in (50, 100, 150, 200, 400, 3000):
        deep: Any = 1
        for _ in range(depth):
            deep = {"a": [deep]}
        call = {"type": "tool_call", "id": "c", "name": "f", "arguments": deep}
        for frames in (0, 300, 600):
            x = wireglot.exchange(client, provider, "m", state={})
            part = {"functionCall": {"name": "f", "args": deep}}
            body = {"candidates": [{"content": {"role": "model", "parts": [part]}}]}
            if provider == "gemini":
                _refused_or_not(frames, lambda x=x, body=body: x.response(body))
            talk = {"messages": [{"role": "assistant", "parts": [call]}]}
            try:
                body = wireglot.packaged()[client].write(talk).body
            except wireglot.WireglotError:
                continue
            _refused_or_not(frames, lambda x=x, body=body: x.request(body))


def _refused_or_not(frames: int, call: Any) -> None:
    try:
        beneath(frames, call)
    except wireglot.ConversionError as error:
        assert "deep" in str(error)


def test_a_request_that_fails_leaves_the_state_as_it_was() -> None:
    x = wireglot.exchange("openai-chat", "gemini", state={})
    x.request(CHAT)
    before = x.state
    with pytest.raises(wireglot.ConversionError):
        x.request({"model": "other", "messages": 5})
    assert x.state == before
