"""Streams of programs that run tools themselves: the Gemini CLI's events, and those of an agent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wireglot
from tests import width
from tests.streamsdk import brackets
from tests.test_streams import DIALECTS, INTERLEAVED, TWO, WHOLE, pieces
from wireglot.streaming.streams import Translator

RULES = wireglot.packaged()
Json = Any


def at(second: int, **said: Json) -> Json:
    return {**said, "timestamp": f"2026-11-21T20:29:{second:02}.578Z"}


def said(second: int, text: str) -> Json:
    return at(second, type="message", role="assistant", content=text, delta=True)


CLI = [
    at(1, type="init", session_id="s", model="gemini-3-pro"),
    at(1, type="message", role="user", content="Weather?"),
    said(2, "I "),
    said(3, "look."),
    at(4, type="tool_use", tool_name="f", tool_id="f_1_0", parameters={"x": 1}),
    at(4, type="tool_use", tool_name="g", tool_id="g_1_1", parameters={}),
    at(5, type="tool_result", tool_id="g_1_1", status="error",
       error={"type": "timeout", "message": "No."}),
    at(6, type="tool_result", tool_id="f_1_0", status="success", output="Sunny"),
    at(6, type="error", severity="warning", message="Slow."),
    said(7, "Sunny."),
    at(8, type="result", status="success", stats={
        "total_tokens": 4, "input_tokens": 1, "output_tokens": 2, "cached": 0, "input": 1,
        "duration_ms": 9, "tool_calls": 2}),
]  # fmt: skip
AGENT = [
    {"type": "hidden_user_message", "content": "Go on."},
    {"type": "reasoning", "content": "Hm.", "timestamp": 1771683377321},
    {"type": "text", "content": "I look.", "timestamp": 1771683377321},
    {"type": "step_start", "step_id": "c1", "title": "f", "step_number": 0},
    {"type": "tool_call", "tool": "f", "args": {"x": 1}, "tool_call_id": "c1"},
    {"type": "tool_result", "tool": "f", "result": "No.", "tool_call_id": "c1", "is_error": True},
    {"type": "step_complete", "step_id": "c1", "status": "error", "duration_ms": 0},
    {"type": "text", "content": "Sunny.", "timestamp": 1771683377321},
    {"type": "final", "content": "Sunny."},
]


def translated(frames: list[Json], source: str, target: str) -> tuple[list[Json], Translator]:
    t = RULES.translator(source=source, target=target)
    out = [new for frame in frames for new in t.feed(frame)]
    return out + t.finish(), t


def parts(t: Translator, target: str) -> list[tuple[str, Json]]:
    read = RULES[target].read(t.result.body, unit="response").ir["candidates"][0]["parts"]
    keys = ("text", "value", "name")
    return [(p["type"], next(p[key] for key in keys if key in p)) for p in read]


RUN = [("text", "I look."), ("tool_call", "f"), ("tool_call", "g"), ("tool_result", "No."),
       ("tool_result", "Sunny"), ("text", "Sunny.")]  # fmt: skip


def test_a_run_of_the_cli_becomes_items_of_responses_as_it_goes() -> None:
    out, t = translated(CLI, "gemini-cli-stream", "openai-responses")
    assert brackets(out) == ""
    items = [f["item"] for f in out if f["type"] == "response.output_item.done"]
    assert [item["type"] for item in items] == [
        "message", "function_call", "function_call", "function_call_output",
        "function_call_output", "message",
    ]  # fmt: skip
    assert [i["call_id"] for i in items[1:5]] == ["f_1_0", "g_1_1", "g_1_1", "f_1_0"]
    assert items[1]["arguments"] == '{"x":1}' and items[4]["output"] == "Sunny"
    assert out[-1]["type"] == "response.completed"
    assert out[-1]["response"]["output"] == items
    codes = {note.code for note in t.notes}
    assert {"dropped", "own-field", "error-as-text", "ambiguous"} <= codes
    # Each is told of in the frame that brought it.
    t = RULES.translator(source="gemini-cli-stream", target="openai-responses")
    made = [[f["type"].rpartition(".")[2] for f in t.feed(frame)] for frame in CLI]
    assert made[2] == ["added", "added", "delta"]
    assert made[7] == ["added", "done"]


@pytest.mark.parametrize("target", ["gemini-cli-stream", "agent-sdk", "openai-responses"])
def test_a_run_is_the_same_run_in_another_program(target: str) -> None:
    out, t = translated(CLI, "gemini-cli-stream", target)
    found = [(kind, "No." if value == {"error": "No."} else value) for kind, value in
             parts(t, target)]  # fmt: skip
    assert found == RUN
    body = RULES.collect(out, target)
    again = RULES[target].read(body, unit="response").ir["candidates"][0]["parts"]
    assert [p["type"] for p in again] == [kind for kind, _ in RUN]


def test_the_events_of_the_cli_are_one_object_and_come_from_it() -> None:
    body = RULES.collect(CLI, "gemini-cli-stream")
    assert [event["type"] for event in body["events"]] == [
        "message", "tool_use", "tool_use", "tool_result", "tool_result", "message",
    ]  # fmt: skip
    assert body["prompt"] == "Weather?" and body["status"] == "success"
    frames = list(RULES.frames(body, "gemini-cli-stream"))
    del body["prompt"]  # what the user said is in no frame that is written
    assert RULES.collect(frames, "gemini-cli-stream") == body


def test_a_run_that_fails_is_an_error() -> None:
    wrong = at(9, type="result", status="error", error={"type": "FatalError", "message": "No."})
    for last in (wrong, at(9, type="error", severity="error", message="No.")):
        out, t = translated([*CLI[:4], last], "gemini-cli-stream", "openai-responses")
        assert out[-2]["type"] == "error" and out[-2]["message"] == "No."
        assert out[-1]["type"] == "response.failed"
        assert t.error is not None
    out, _ = translated([*INTERLEAVED[:2], {"error": {"message": "No.", "type": "server_error"}}],
                        "openai-chat", "gemini-cli-stream")  # fmt: skip
    assert out[-1]["status"] == "error" and out[-1]["error"]["message"] == "No."


def test_every_event_of_an_agent_is_heard_or_given_up_with_a_reason() -> None:
    body = RULES.collect(AGENT, "agent-sdk")
    assert [m["role"] for m in body["messages"]] == [
        "reasoning", "assistant", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert body["messages"][-1]["content"] == "Sunny."
    out, t = translated(AGENT, "agent-sdk", "openai-responses")
    assert brackets(out) == ""
    notes = [n for n in t.notes if n.code.startswith("unknown")]
    assert notes == []
    (note,) = [n for n in t.notes if n.code == "dropped"]
    assert "said to the model" in note.message


def test_a_stream_becomes_events_of_an_agent() -> None:
    out, _ = translated(INTERLEAVED, "openai-chat", "agent-sdk")
    assert [f["type"] for f in out] == [
        "text", "step_start", "tool_call", "step_start", "tool_call", "final",
    ]  # fmt: skip
    calls = [f for f in out if f["type"] == "tool_call"]
    assert [(c["tool_call_id"], c["tool"], c["args"]) for c in calls] == TWO
    assert [f["step_number"] for f in out if f["type"] == "step_start"] == [0, 1]
    assert out[-1]["content"] == "Hi"
    # A run that the agent reports comes out as it went in.
    there, _ = translated(AGENT, "agent-sdk", "agent-sdk")
    assert there == AGENT


def test_a_thought_that_is_in_no_event_is_noted_where_it_began() -> None:
    frames = list(RULES.frames(WHOLE["anthropic"], "anthropic"))
    begun = [n for n, f in enumerate(frames)
             if f.get("content_block", {}).get("type") == "redacted_thinking"]  # fmt: skip
    for result in (True, False):
        t = RULES.translator(source="anthropic", target="agent-sdk", result=result)
        out = [new for frame in frames for new in t.feed(frame)] + t.finish()
        assert [f["type"] for f in out].count("reasoning") == 1
        noted = [n for n in t.notes if n.code == "no-place" and "frame" in n.message]
        aside = ["/0", f"/{len(frames) - 2}"]  # where the model and the counts are said
        assert [n.source_path for n in noted] == [*(f"/{n}" for n in begun), *aside]
    # What the whole response cannot hold either is noted once.
    _, t = translated(frames, "anthropic", "ollama")
    assert not [n for n in t.notes if "frame" in n.message]


def test_what_an_agent_says_only_at_the_end_is_said() -> None:
    out, _ = translated(AGENT[-1:], "agent-sdk", "openai-chat")
    assert [c["delta"].get("content") for f in out[:-1] for c in f["choices"]][1] == "Sunny."


TARGETS = (
    "openai-chat", "openai-responses", "anthropic", "gemini", "vertex", "ollama", "agent-sdk",
    "gemini-cli-stream",
)  # fmt: skip


def split(frame: Json, cut: Any) -> list[Json]:
    """Cut the text of a frame that is a piece anywhere."""
    if not frame.get("delta"):
        return [frame]
    text = frame["content"]
    ends = sorted(cut.draw(st.sets(st.integers(1, len(text) - 1)))) if len(text) > 1 else []
    return [
        {**frame, "content": text[one:two]}
        for one, two in zip([0, *ends], [*ends, len(text)], strict=True)
    ]


@settings(max_examples=width.times(40, 20), deadline=None, suppress_health_check=list(HealthCheck))
@given(cut=st.data(), target=st.sampled_from(TARGETS))
def test_a_run_folds_and_converts_alike_for_every_split(cut: Any, target: str) -> None:
    whole = RULES.collect(CLI, "gemini-cli-stream")
    frames = [new for frame in CLI for new in split(frame, cut)]
    assert RULES.collect(frames, "gemini-cli-stream") == whole
    out, t = translated(frames, "gemini-cli-stream", target)
    body = RULES.convert(whole, "gemini-cli-stream", target, unit="response").body
    assert t.result.body == body
    read, meant = (
        RULES[target].read(one, unit="response").ir["candidates"][0]["parts"]
        for one in (RULES.collect(out, target), body)
    )
    assert [p["type"] for p in read] == [p["type"] for p in meant]


@pytest.mark.parametrize("target", TARGETS)
def test_the_events_of_an_agent_fold_and_convert_alike(target: str) -> None:
    whole = RULES.collect(AGENT, "agent-sdk")
    assert RULES.collect(RULES.frames(whole, "agent-sdk"), "agent-sdk") == whole
    _, t = translated(AGENT, "agent-sdk", target)
    made = RULES.convert(whole, "agent-sdk", target, unit="response").body
    # The events say no id and no time, so ids are made of what each form says first.
    if "id" in made and target != "agent-sdk":
        assert t.result.body.pop("id") != made.pop("id")
        for one, other in zip(t.result.body.get("output", ()), made.get("output", ()), strict=True):
            assert one.pop("id") != other.pop("id")
    assert t.result.body == made


@settings(max_examples=width.times(40, 20), deadline=None, suppress_health_check=list(HealthCheck))
@given(cut=st.data(), source=st.sampled_from(DIALECTS), target=st.sampled_from(TARGETS[-2:]))
def test_a_response_becomes_a_run_alike_for_every_split(cut: Any, source: str, target: str) -> None:
    frames = [new for f in RULES.frames(WHOLE[source], source) for new in pieces(f, cut)]
    out, t = translated(frames, source, target)
    body = RULES.convert(WHOLE[source], source, target, unit="response").body
    assert t.result.body == body
    read, meant = (
        RULES[target].read(one, unit="response").ir["candidates"][0]["parts"]
        for one in (RULES.collect(out, target), body)
    )
    # A thought without a text is in no event; docs/streams.md says so of what a frame cannot hold.
    meant = [p for p in meant if p["type"] != "reasoning" or "text" in p]
    assert [p["type"] for p in read] == [p["type"] for p in meant]
