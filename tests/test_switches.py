"""Conversations of which each turn is another provider's, and the client's own among them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import wireglot

from .loop.server import Server
from .loops import serving
from .switches import CELLS
from .width import some

Json = Any
SIGNED = {"type": "thinking", "thinking": "Mine.", "signature": "c2ln"}
ASKS = {"role": "user", "content": "Hi"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as one:
        yield one


@pytest.mark.parametrize(
    ("name", "streamed", "stateful"),
    some([(n, s, k) for n in CELLS for s in (False, True) for k in (True, False)], 2),
)
def test_each_provider_takes_what_the_others_said(
    server: Server, name: str, streamed: bool, stateful: bool
) -> None:
    client = name.partition(",")[0]
    for seed in (0, 1):
        CELLS[name](server, client, seed, streamed, stateful)


def _answered_elsewhere(state: Json) -> tuple[Json, Json]:
    """Return what a client of Anthropic keeps of an answer of DeepSeek, and the state."""
    x = wireglot.exchange("anthropic", "deepseek", model="deepseek-v4-pro", state=state)
    x.request({"model": "any", "max_tokens": 9, "messages": [ASKS]})
    message = {"role": "assistant", "content": "Hello.", "reasoning_content": "Hm."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    back = x.response({"id": "c", "object": "chat.completion", "created": 1, "model": "m",
                       "choices": [choice], "usage": usage})  # fmt: skip
    return back.body["content"], x.state if state is not None else None


@pytest.mark.parametrize("kept", [True, False])
def test_at_home_a_thought_of_another_provider_is_left_out(kept: bool) -> None:
    """As behind a gateway that asked DeepSeek for once, while Anthropic was not there."""
    content, state = _answered_elsewhere({} if kept else None)
    own = {"role": "assistant", "content": [SIGNED, {"type": "text", "text": "Hi."}]}
    body = {"model": "claude-opus-4-5", "max_tokens": 9, "messages": [
        ASKS, own, ASKS, {"role": "assistant", "content": content}, ASKS]}  # fmt: skip
    before = json.dumps(body)
    out = wireglot.exchange("anthropic", "anthropic", state=state).request(body)
    assert json.dumps(body) == before
    assert out.body["messages"][1] == own
    assert out.body["messages"][3]["content"] == "Hello."
    assert [(note.code, note.source_path) for note in out.notes] == [
        ("foreign-signature", "/messages/3/content/0/signature"),
        ("no-place", "/messages/3/content/0"),
    ]


def test_at_home_without_another_provider_nothing_changes() -> None:
    unsigned = {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]}
    body = {"model": "claude-opus-4-5", "max_tokens": 9, "messages": [ASKS, unsigned, ASKS]}
    out = wireglot.exchange("anthropic", "anthropic", state={}).request(body)
    assert out.body == body and not out.notes


def test_who_wants_no_repair_is_given_none() -> None:
    content, state = _answered_elsewhere({})
    body = {"model": "claude-opus-4-5", "max_tokens": 9,
            "messages": [ASKS, {"role": "assistant", "content": content}, ASKS]}  # fmt: skip
    x = wireglot.exchange("anthropic", "anthropic", state=state, options={"repair": False})
    assert x.request(body).body["messages"][1]["content"][0] == {
        "type": "thinking",
        "thinking": "Hm.",
    }


@pytest.mark.parametrize("provider", ["vertex-anthropic", "bedrock-anthropic"])
def test_a_thought_that_the_client_holds_signed_comes_back_once(provider: str) -> None:
    thoughts = [SIGNED, {"type": "redacted_thinking", "data": "b3BhcXVl"}]
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
              "content": [*thoughts, call], "stop_reason": "tool_use", "stop_sequence": None,
              "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    asked: Json = {"model": "claude-opus-4-5", "max_tokens": 9, "tools": tools, "messages": [ASKS]}
    x = wireglot.exchange("anthropic", provider, model="claude-opus-4-5", state={})
    x.request(asked)
    kept = {"role": "assistant", "content": x.response(answer).body["content"]}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "one"}
    asked["messages"] += [kept, {"role": "user", "content": [result]}]
    assert x.request(asked).body["messages"][1]["content"] == [*thoughts, call]
    # One of another model there is not signed for the new one, and stands nowhere twice.
    y = wireglot.exchange("anthropic", provider, model="claude-opus-4-1", state=x.state)
    assert y.request(asked).body["messages"][1]["content"] in ([*thoughts, call], [call])


def test_at_home_a_request_for_another_model_is_repaired() -> None:
    body = {"model": "claude-opus-4-8", "max_tokens": 32000, "messages": [ASKS],
            "thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}  # fmt: skip
    out = wireglot.exchange("anthropic", "anthropic", model="claude-sonnet-4-5").request(body)
    assert out.body["thinking"] == {"type": "enabled", "budget_tokens": 24576}
    assert {note.code for note in out.notes} == {"effort-as-budget"}
    same = wireglot.exchange("anthropic", "anthropic", model="claude-opus-4-8").request(body)
    assert same.body == body and not same.notes


def test_at_home_a_request_that_names_no_model_goes_as_it_is() -> None:
    """Gemini's model stands in the path: the exchange says it."""
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    back = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}
    asks = {"role": "user", "parts": [{"text": "Hi"}]}
    body = {"contents": [asks, call, back], "tools": [{"functionDeclarations": [{"name": "f"}]}]}
    out = wireglot.exchange("gemini", "gemini", model="gemini-3-pro").request(body)
    assert {key: out.body[key] for key in body} == body and not out.notes


@pytest.mark.parametrize("named", [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}])
def test_at_home_a_result_whose_call_the_api_keeps_is_not_left_out(named: Json) -> None:
    result = {"type": "function_call_output", "call_id": "call_1", "output": "7"}
    body = {"model": "gpt-5.2", "input": [result], **named}
    x = wireglot.exchange("openai-responses", "openai-responses", model="gpt-4o")
    assert x.request(body).body == {**body, "model": "gpt-4o"}


def test_at_home_a_result_of_a_thread_is_not_left_out() -> None:
    """As the tool runner of Anthropic's SDK sends it, which lets the API hold the history."""
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "7"}
    body = {"model": "claude-opus-4-8", "max_tokens": 9, "thread": {"type": "id", "id": "thr_1"},
            "messages": [{"role": "user", "content": [result]}]}  # fmt: skip
    x = wireglot.exchange("anthropic", "anthropic", model="claude-sonnet-4-5")
    assert x.request(body).body == {**body, "model": "claude-sonnet-4-5"}
    # Who asks for repair by name says that the history is whole.
    named: Json = {"options": {"repair": True}}
    y = wireglot.exchange("anthropic", "anthropic", model="claude-sonnet-4-5", **named)
    assert "unpaired" in [note.code for note in y.request(body).notes]


@pytest.mark.parametrize("thought", [{}, {"signature": ""}])
def test_repair_leaves_out_a_thought_that_nobody_signed(thought: Json) -> None:
    unsigned = {"type": "thinking", "thinking": "Hm.", **thought}
    said = {"role": "assistant", "content": [unsigned, SIGNED, {"type": "text", "text": "Hi."}]}
    body = {"model": "claude-opus-4-5", "max_tokens": 9, "messages": [ASKS, said, ASKS]}
    rules = wireglot.packaged()
    (found,) = rules.diagnose(body, dialect="anthropic")
    assert (found.path, found.code, found.healed) == ("/messages/1/content/0", "no-place", True)
    healed = rules.repair(body, dialect="anthropic")
    assert healed.body["messages"][1]["content"] == said["content"][1:]
    assert rules.repair(healed.body, dialect="anthropic").notes == ()


@pytest.mark.parametrize("model", ["m", "n"])
def test_a_thought_that_another_model_signed_is_not_named_by_its_id_either(model: str) -> None:
    """The API keeps nothing where nobody wants that, and refuses an id that it does not know."""
    states, asked = wireglot.States(), {"model": "m", "store": False, "messages": [ASKS]}
    thought = {"type": "reasoning", "id": "rs_1", "encrypted_content": "enc",
               "summary": [{"type": "summary_text", "text": "Hm."}]}  # fmt: skip
    said = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Hi.", "annotations": []}]}  # fmt: skip
    answer = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m",
              "status": "completed", "output": [thought, said]}  # fmt: skip
    x = wireglot.exchange("openai-chat", "openai-responses", state=states)
    x.request(asked)
    message = x.response(answer).body["choices"][0]["message"]
    x = wireglot.exchange("openai-chat", "openai-responses", state=states)
    sent = x.request({**asked, "model": model, "messages": [ASKS, message, ASKS]}).body["input"]
    ids = [one["id"] for one in sent if one.get("type") == "reasoning"]
    assert ids == (["rs_1"] if model == "m" else [])
