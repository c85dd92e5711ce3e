"""What comes back to an exchange is input: riders, states and bodies of any form."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

import wireglot
from wireglot.loop import carry

CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
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


@pytest.mark.parametrize("own", [{"openai-chat": {"format": "x"}}, {"anthropic": {}}, []])
def test_fields_that_ride_on_a_thought_are_of_the_provider_s_dialect(own: Any) -> None:
    detail = {"type": "reasoning.text", "text": "Hm.", "signature": "s", "format": "f", "index": 0}
    said = {"role": "assistant", "content": "Hi", "reasoning_details": [detail]}
    answer = {"choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}
    asked: dict[str, Any] = {
        "model": "any",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "x"}],
    }
    x = wireglot.exchange("anthropic", "openrouter", "m")
    x.request(asked)
    content = x.response(answer).body["content"]
    ride = carry.unsealed(content[0]["signature"])
    (entry,) = ride["openrouter"]
    assert entry["own"] == {"openai-chat": {"format": "f", "index": 0}}
    entry["own"] = own
    sealed = base64.b64encode(json.dumps({carry.MARK: ride}).replace(" ", "").encode()).decode()
    content[0]["signature"] = sealed
    asked["messages"] = [*CHAT["messages"], {"role": "assistant", "content": content}]
    out = wireglot.exchange("anthropic", "openrouter", "m").request(asked)
    (back,) = out.body["messages"][1]["reasoning_details"]
    forged = own != {"openai-chat": {"format": "x"}}
    assert ("ignored" in {note.code for note in out.notes}) == forged
    assert back == {k: v for k, v in {**detail, "format": "x"}.items() if k != "index"} or forged
    assert forged == ("format" not in back)


def _slashed(text: str) -> str:
    return text.replace("/", "\\/")


def _escaped(text: str) -> str:
    return text.replace('"wire', '"\\u0077ire').replace("eyJ", "\\u0065yJ")


def _spaced(text: str) -> str:
    return json.dumps(json.loads(text), indent=2, ensure_ascii=False).replace('":', '" :')


@pytest.mark.parametrize("client", ["anthropic", "openai-chat", "openai-responses"])
@pytest.mark.parametrize("spelled", [str, _slashed, _escaped, _spaced])
def test_what_rides_is_found_in_a_text_however_it_is_spelled(client: str, spelled: Any) -> None:
    call = {"functionCall": {"name": "f", "args": {"n": "é/ü"}}, "thoughtSignature": "c2ln/+=="}
    thought = {"text": "Hm.", "thought": True, "thoughtSignature": "dGhpbms/"}
    content = {"role": "model", "parts": [thought, call]}
    rules = wireglot.packaged()
    x = wireglot.exchange(client, "gemini", "m")
    x.request(rules[client].write({"model": "m", "messages": [_USER]}).body)
    body = x.response({"candidates": [{"content": content, "finishReason": "STOP"}]}).body
    [said] = rules[client].read(body, unit="response").ir["candidates"]
    [made] = [part["id"] for part in said["parts"] if part["type"] == "tool_call"]
    result = {"type": "tool_result", "tool_call_id": made, "kind": "text", "value": "18"}
    messages = [_USER, {"role": "assistant", "parts": said["parts"]}]
    messages += [{"role": "tool", "parts": [result]}]
    again = rules[client].write({"model": "m", "messages": messages}).body
    one, two = (wireglot.exchange(client, "gemini", "m") for _ in range(2))
    sent = one.request(again)
    assert "c2ln/+==" in json.dumps(sent.body)
    assert two.request(again, text=spelled(json.dumps(again))) == sent
    assert two.state == one.state


_USER = {"role": "user", "parts": [{"type": "text", "text": "Is it warm?"}]}


THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
SEALED = {"type": "redacted_thinking", "data": "cmVk"}
CALL = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
# What each client holds of an answer, and which of it is a thought.
HELD: dict[str, tuple[str, Any, Any]] = {
    "openai-responses": (
        "input",
        lambda body: body["output"],
        lambda item: item["type"] == "reasoning",
    ),
    "gemini": (
        "contents",
        lambda body: body["candidates"][0]["content"]["parts"],
        lambda part: "thought" in part,
    ),
}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("client", HELD)
def test_thoughts_of_one_turn_go_back_all_or_none(client: str, streamed: bool) -> None:
    key, held, thinks = HELD[client]
    answer = {"id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
              "content": [THOUGHT, SEALED, CALL], "stop_reason": "tool_use",
              "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 2}}  # fmt: skip
    x = wireglot.exchange(client, "anthropic", "claude-haiku-4-5")
    if streamed:
        t = x.translator()
        frames = [one for f in wireglot.packaged().frames(answer, "anthropic") for one in t.feed(f)]
        body = wireglot.packaged().collect([*frames, *t.finish()], client)
    else:
        body = x.response(answer).body
    for dropped in (False, True):
        said = [one for one in held(body) if not (dropped and thinks(one))]
        if client == "gemini":
            result: Any = {"functionResponse": {"id": "c", "name": "f", "response": {}}}
            said = [{"role": "model", "parts": said}, {"role": "user", "parts": [result]}]
        else:
            said += [{"type": "function_call_output", "call_id": "c", "output": "one"}]
        y = wireglot.exchange(client, "anthropic", "claude-haiku-4-5")
        out = y.request({"model": "m", key: said})
        (turn,) = (m for m in out.body["messages"] if m["role"] == "assistant")
        assert turn["content"] == ([CALL] if dropped else [THOUGHT, SEALED, CALL])
        assert [note.code for note in out.notes if note.code == "ignored"] == ["ignored"] * dropped
