"""What an API keeps of its answers: a client names it, and another provider is told it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import wireglot

Json = Any
HI = {"role": "user", "content": "Hi"}
MORE = {"role": "user", "content": "And now?"}
SAID = {"role": "assistant", "content": "Hello.", "reasoning_content": "Hm."}


def chunk(delta: Json, why: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": why}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice]}


FRAMES = [
    chunk({"role": "assistant", "reasoning_content": "Hm."}),
    chunk({"content": "Hello."}),
    chunk({}, "stop"),
]


def whole() -> Json:
    choice = {"index": 0, "message": SAID, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def exchange(state: Any, provider: str = "deepseek", **more: Any) -> wireglot.Exchange:
    return wireglot.exchange("openai-responses", provider, model="m", state=state, **more)


def answered(state: Any, streamed: bool, **asked: Any) -> tuple[list[str], Json]:
    """Return the ids of the items that a client is given, and the state."""
    x = exchange(state)
    x.request({"model": "any", "input": [HI], "stream": streamed, **asked})
    if not streamed:
        items = x.response(whole()).body["output"]
        return [item["id"] for item in items], x.state
    through = x.translator()
    frames = [new for frame in FRAMES for new in through.feed(frame)] + [*through.finish()]
    items = [f["item"] for f in frames if f["type"] == "response.output_item.done"]
    return [item["id"] for item in items], x.state


def named(ids: list[str]) -> Json:
    found = [{"type": "item_reference", "id": name} for name in ids]
    return {"model": "any", "input": [HI, *found, MORE]}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("store", [False, True])
def test_what_a_client_names_is_told_another_provider(streamed: bool, store: bool) -> None:
    """As the AI SDK does where nothing says `store: false`."""
    states: Any = wireglot.States() if store else {}
    ids, state = answered(states, streamed)
    body = named(ids)
    before = json.dumps(body)
    out = exchange(states if store else json.loads(json.dumps(state))).request(body)
    assert json.dumps(body) == before
    # What is thought stands behind the last message of the user alone.
    assert out.body["messages"] == [HI, {"role": "assistant", "content": "Hello."}, MORE] or (
        out.body["messages"] == [HI, SAID, MORE]
    )
    assert "empty-message" not in [note.code for note in out.notes]


def test_a_request_may_say_that_nothing_is_to_be_kept() -> None:
    ids, state = answered({}, False, store=False)
    assert state["items"] == []
    out = exchange(state).request(named(ids))
    assert [note.source_path for note in out.notes if note.code == "own-field"] == [
        "/input/1",
        "/input/2",
    ]


def test_nothing_is_kept_where_nobody_keeps_the_state() -> None:
    x = exchange(None)
    x.request({"model": "any", "input": [HI]})
    x.response(whole())
    assert x.state["items"] == []


def test_what_is_not_known_stays_as_it_is() -> None:
    ids, state = answered({}, False)
    body = named(["msg_of_another"])
    assert exchange(state, "openai-responses").request(body).body["input"] == body["input"]
    # An item that another provider gave is none that this API keeps.
    found = exchange(state, "openai-responses").request(named(ids)).body["input"]
    assert [item.get("type") for item in found] == [None, "message", None]
    odd = {"model": "any", "input": [HI, {"type": "item_reference", "id": ids[1], "more": 1}]}
    out = exchange(state).request(odd)
    assert not any(message["role"] == "assistant" for message in out.body["messages"])


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("store", [False, True])
def test_what_the_api_itself_answered_is_told_the_next_provider(
    streamed: bool, store: bool
) -> None:
    """As where another provider is asked because the API fails."""
    states: Any = wireglot.States() if store else {}
    said = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Hello.", "annotations": []}]}  # fmt: skip
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "error": None,
             "status": "completed", "incomplete_details": None, "output": [said]}  # fmt: skip
    x = exchange(states, "openai-responses")
    x.request({"model": "any", "input": [HI], "stream": streamed})
    if streamed:
        through = x.translator()
        begun = {**whole, "status": "in_progress", "output": []}
        frames: Json = [
            {"type": "response.created", "sequence_number": 0, "response": begun},
            {"type": "response.output_item.done", "sequence_number": 1, "output_index": 0,
             "item": said},
            {"type": "response.completed", "sequence_number": 2, "response": whole},
        ]  # fmt: skip
        assert [new for frame in frames for new in through.feed(frame)] == frames
        assert through.finish() == []
    else:
        assert x.response(whole).body == whole
    kept = states if store else x.state
    out = exchange(kept).request(named(["msg_1"]))
    assert out.body["messages"] == [HI, {"role": "assistant", "content": "Hello."}, MORE]
    # The API knows it, and is told its name.
    home = exchange(kept, "openai-responses").request(named(["msg_1"]))
    assert home.body == {**named(["msg_1"]), "model": "m"}


def test_of_two_items_of_one_id_the_newer_one_counts() -> None:
    states: list[Json] = []
    for text in ("Zwei.", "Eins."):
        _, state = answered(states[-1] if states else {}, False)
        item = {**state["items"][-1]["item"], "content": [{"type": "output_text", "text": text}]}
        state["items"] = [{**state["items"][-1], "id": "msg_1", "item": {**item, "id": "msg_1"}}]
        states.append(state)
    out = exchange(wireglot.merge_states(*states)).request(named(["msg_1"]))
    assert out.body["messages"][1]["content"] == "Eins."


def test_of_answers_of_one_id_a_store_knows_the_newest() -> None:
    states = wireglot.States()
    for said in ("one", "two", "three"):  # in no order of the alphabet
        x = exchange(states)
        x.request({"model": "any", "input": said})
        name = x.response(whole()).body["id"]
        after = {"model": "any", "input": [MORE], "previous_response_id": name}
        sent = exchange(states).request(after).body["messages"]
        assert [one["content"] for one in sent] == [said, "Hello.", "And now?"]


def test_nobody_finds_what_another_one_was_answered() -> None:
    states = wireglot.States()
    ids, _ = answered(states.of("a"), False)
    out = exchange(states.of("b")).request(named(ids))
    assert not any(message["role"] == "assistant" for message in out.body["messages"])


def test_states_that_are_merged_know_the_items_of_each() -> None:
    states = [answered({}, False, metadata={"nth": nth})[1] for nth in ("1", "2")]
    merged = wireglot.merge_states(*states)
    assert {one["id"] for one in merged["items"]} == {
        one["id"] for state in states for one in state["items"]
    }
    wrong = {**states[0], "items": [{"item": {}}]}
    with pytest.raises(wireglot.UsageError, match="not what an exchange left"):
        exchange(wrong)


# -- a request that goes on from an answer ---------------------------------------------------------

USED = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [USED]}
GIVEN = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}


def calls() -> Json:
    choice = {"index": 0, "message": CALLED, "finish_reason": "tool_calls"}
    return {**whole(), "id": "d", "choices": [choice]}


def turn(state: Any, given: Any, said: Json, streamed: bool = False, **more: Any) -> Any:
    """Return what is sent for a request, the id of its answer, and the state."""
    x = exchange(state, "openai-chat")
    sent = x.request({"model": "any", "input": given, "stream": streamed, **more})
    if not streamed:
        return sent.body["messages"], x.response(said).body["id"], x.state
    through = x.translator()
    for frame in FRAMES:
        through.feed(frame)
    through.finish()
    return sent.body["messages"], through.result.body["id"], x.state


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize("text", [False, True])
def test_what_a_request_goes_on_from_is_told_another_provider(
    streamed: bool, store: bool, text: bool
) -> None:
    """As agents do that send `previous_response_id` and what is new, results alone among it."""
    states: Any = wireglot.States() if store else {}
    _, one, state = turn(states, "Hi" if text else [HI], whole(), streamed)
    begun = [HI, SAID]  # with what the provider thought
    found, two, state = turn(
        states if store else state, [MORE], calls(), previous_response_id=one, instructions="Be."
    )
    # What was told to be is not: each request says it anew.
    assert found == [{"role": "system", "content": "Be."}, *begun, MORE]
    x = exchange(states if store else json.loads(json.dumps(state)), "openai-chat")
    out = x.request({"model": "any", "input": [RESULT], "previous_response_id": two})
    assert out.body["messages"] == [*begun, MORE, CALLED, GIVEN]
    assert {note.code for note in out.notes} <= {"own-field"}
    assert all(note.source_path == "/previous_response_id" for note in x.notes)


def test_what_it_goes_on_from_and_is_not_known_is_noted() -> None:
    _, one, state = turn({}, [HI], whole())
    _, two, state = turn(state, [MORE], calls(), previous_response_id=one)
    state["items"] = [item for item in state["items"] if item["id"] != one]
    x = exchange(state)
    out = x.request({"model": "any", "input": [RESULT], "previous_response_id": two})
    assert [message["role"] for message in out.body["messages"]] == ["user", "assistant", "tool"]
    assert ("own-field", "/previous_response_id") in [(n.code, n.source_path) for n in out.notes]
    other = exchange(state).request({"model": "any", "input": [MORE], "previous_response_id": "no"})
    assert other.body["messages"] == [MORE]


def test_notes_and_errors_point_into_what_the_client_sent() -> None:
    file = {"role": "user", "content": [{"type": "input_image", "file_id": "file_1"}]}
    _, one, state = turn({}, [HI, file], whole())
    x = exchange(state)
    x.request({"model": "any", "input": [HI, file], "previous_response_id": one})
    at = [note.source_path for note in x.notes if note.code == "foreign-file"]
    assert at == ["/previous_response_id", "/input/1/content/0"]
    odd = [HI, {"role": "user", "content": [{"type": "input_text", "text": {}}]}]
    for body in ({}, {"previous_response_id": one}):
        with pytest.raises(wireglot.ConversionError) as caught:
            exchange(state).request({"model": "any", "input": [*odd, {1}], **body})
        assert caught.value.path == "/input/2"


def test_the_api_knows_what_it_answered_and_is_told_what_others_did() -> None:
    said = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Hello.", "annotations": []}]}  # fmt: skip
    own = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "error": None,
           "status": "completed", "incomplete_details": None, "output": [said]}  # fmt: skip
    x = exchange({}, "openai-responses")
    x.request({"model": "any", "input": [HI]})
    x.response(own)
    # Another provider is asked for a turn, and the API itself again.
    found, two, state = turn(x.state, [MORE], whole(), previous_response_id="resp_1")
    assert found == [HI, {"role": "assistant", "content": "Hello."}, MORE]
    home = exchange(state, "openai-responses")
    out = home.request({"model": "any", "input": [HI], "previous_response_id": two}).body
    assert out["previous_response_id"] == "resp_1"
    assert [item.get("role") for item in out["input"]] == ["user", "assistant", "user"]
    assert out["input"][0] == MORE and out["input"][2] == HI


def test_of_a_client_that_sends_all_itself_no_request_is_kept() -> None:
    x = exchange({})
    x.request({"model": "any", "input": [HI]})
    items = x.response(whole()).body["output"]
    x.request({"model": "any", "input": [HI, *items, MORE]})
    assert x.state["begun"] is None
    x.response(whole())
    assert [one["item"][0] for one in x.state["items"] if "after" in one] == [HI]


def test_answers_that_go_on_from_each_other_end() -> None:
    _, one, state = turn({}, [HI], whole())
    for item in state["items"]:
        if "after" in item:
            item["after"] = one
    out = exchange(state).request({"model": "any", "input": [MORE], "previous_response_id": one})
    assert out.body["messages"][-1] == MORE
    wrongs: list[Json] = [{"after": 1}, {"item": {}}]
    for wrong in wrongs:
        broken = {**state, "items": [{**item, **wrong} for item in state["items"]]}
        broken["items"] = [one for one in broken["items"] if "after" in one]
        with pytest.raises(wireglot.UsageError, match="not what an exchange left"):
            exchange(broken)


@pytest.mark.parametrize(
    "given", ["Hi", [{"type": "user_input", "content": [{"type": "text", "text": "Hi"}]}]]
)
def test_interactions_go_on_from_each_other(given: Any) -> None:
    x = wireglot.exchange("gemini-interactions", "openai-chat", model="m", state={})
    x.request({"model": "any", "input": given})
    name = x.response(calls()).body["id"]
    result = {"type": "function_result", "call_id": "c1", "name": "f", "result": "ok"}
    body = {"model": "any", "input": [result], "previous_interaction_id": name}
    assert x.request(body).body["messages"] == [HI, CALLED, GIVEN]
    assert x.notes == ()
