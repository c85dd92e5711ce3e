"""Events of AG-UI runs: of the streams of providers, and folded into their responses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wireglot
from tests.loaders.events import faults, told_by
from tests.test_streams import HEAD, SEQUENTIAL
from wireglot.streaming.streams import Translator

RULES = wireglot.load_rules()
Json = Any
SAMPLE = Path("../shared/facts/samples/ag-ui/events.jsonl")
START = {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
END = {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"}


def translated(frames: list[Json], source: str, target: str) -> tuple[list[Json], Translator]:
    t = RULES.translator(source=source, target=target)
    return [new for frame in frames for new in t.feed(frame)] + t.finish(), t


def call(name: str, *pieces: str) -> list[Json]:
    """The events of a call, but its end."""
    begin = {"type": "TOOL_CALL_START", "toolCallId": name, "toolCallName": "f"}
    return [begin, *({"type": "TOOL_CALL_ARGS", "toolCallId": name, "delta": p} for p in pieces)]


def calls_in(frames: list[Json]) -> list[tuple[str, Json]]:
    body = RULES.collect(frames, "openai-chat")
    calls = body["choices"][0]["message"]["tool_calls"]
    return [(one["id"], json.loads(one["function"]["arguments"])) for one in calls]


def test_a_stream_becomes_events_that_fold_to_the_whole() -> None:
    out, t = translated(SEQUENTIAL, "openai-chat", "ag-ui")
    assert RULES.collect(out, "ag-ui") == t.result.body
    again = [*RULES.frames(t.result.body, "ag-ui")]
    assert RULES.collect(again, "ag-ui") == t.result.body
    assert not list(faults(out, told_by("openai-chat", RULES.collect(SEQUENTIAL, "openai-chat"))))


def test_calls_at_once_are_of_one_message_and_a_run_has_one_thread() -> None:
    out, _ = translated(SEQUENTIAL, "openai-chat", "ag-ui")
    starts = [one for one in out if one["type"] == "TOOL_CALL_START"]
    assert len(starts) > 1 and len({one["parentMessageId"] for one in starts}) == 1
    ends = [out[0], out[-1]]
    assert [one["type"] for one in ends] == ["RUN_STARTED", "RUN_FINISHED"]
    assert len({one["threadId"] for one in ends}) == len({one["runId"] for one in ends}) == 1


def test_pieces_of_calls_that_come_at_once_go_to_the_call_that_they_name() -> None:
    one, two = call("a", '{"x":', "1}"), call("b", '{"y":', "2}")
    mixed = [one[0], two[0], one[1], two[1], two[2], one[2]]
    out, t = translated([START, *mixed, END], "ag-ui", "openai-chat")
    assert calls_in(out) == [("a", {"x": 1}), ("b", {"y": 2})]
    assert not {note.code for note in t.notes} & {"renamed", "inconsistent", "unknown-frame"}


def test_what_seals_a_thought_is_heard_after_its_message_is_over() -> None:
    named = {"messageId": "m1"}
    frames = [
        START,
        {"type": "REASONING_START", **named},
        {"type": "REASONING_MESSAGE_START", **named, "role": "reasoning"},
        {"type": "REASONING_MESSAGE_CONTENT", **named, "delta": "Hm."},
        {"type": "REASONING_MESSAGE_END", **named},
        {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "m1",
         "encryptedValue": "s"},
        {"type": "REASONING_END", **named},
        END,
    ]  # fmt: skip
    message = {"id": "m1", "role": "reasoning", "content": "Hm.", "encryptedValue": "s"}
    assert RULES.collect(frames, "ag-ui")["messages"] == [message]


@pytest.mark.parametrize("answered", [True, False])
def test_a_run_whose_calls_are_answered_is_over(answered: bool) -> None:
    result = {"type": "TOOL_CALL_RESULT", "messageId": "m2", "toolCallId": "a", "content": "Sunny"}
    frames = [START, *call("a", "{}"), *[result] * answered, END]
    ir = RULES["ag-ui"].read(RULES.collect(frames, "ag-ui"), unit="response").ir
    assert ir["candidates"][0]["stop_reason"] == ("end_turn" if answered else "tool_use")


def test_an_error_is_the_end_of_a_run() -> None:
    out, _ = translated([HEAD, {"error": {"message": "Busy."}}], "openai-chat", "ag-ui")
    assert [one["type"] for one in out] == ["RUN_STARTED", "RUN_ERROR"]
    assert out[1]["message"] == "Busy."


def test_counts_of_several_models_are_noted_and_kept_at_home() -> None:
    counts = [{"inputTokens": 1, "outputTokens": 1}, {"inputTokens": 2, "outputTokens": 2}]
    frames = [START, {**END, "usage": counts}]
    out, t = translated(frames, "ag-ui", "openai-chat")
    assert "unfit" in {note.code for note in t.notes}
    assert "usage" not in RULES.collect(out, "openai-chat")
    assert translated(frames, "ag-ui", "ag-ui")[0] == frames


@pytest.mark.parametrize("kind", ["STEP_STARTED", "STATE_DELTA", "MESSAGES_SNAPSHOT", "CUSTOM"])
def test_what_says_nothing_to_a_model_is_given_up_with_a_reason(kind: str) -> None:
    frame = {"type": kind, "name": "n", "timestamp": 1}
    _, t = translated([START, frame, END], "ag-ui", "anthropic")
    assert "dropped" in {note.code for note in t.notes}
    assert not {note.code for note in t.notes} & {"unknown-frame", "unknown-key"}


@pytest.mark.skipif(not SAMPLE.is_file(), reason="../shared is not there")
def test_the_sample_reads() -> None:
    frames = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
    body = RULES.collect(frames, "ag-ui")
    assert [one["role"] for one in body["messages"]] == ["assistant", "assistant", "tool"]
    assert translated(frames, "ag-ui", "ag-ui")[0] == frames


def test_an_audit_says_what_a_run_becomes() -> None:
    said = wireglot.packaged().audit("ag-ui", "ollama", "response")
    assert any(line.source == "messages[].content" for line in said.lines)
