"""Further whole wires by their own recordings: home, across to one other, and from one."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import wireglot

from . import streamsweep, sweep, way, width
from .family import WIRES

ROOT = Path(__file__).resolve().parent.parent
TRAFFIC = ROOT.parent / "shared" / "traffic"
RULES = wireglot.packaged()
TO = "anthropic"  # what the suite crosses each to; `make sweep` takes all
OF_EACH = width.times(16, 10)
needs_traffic = pytest.mark.skipif(
    not TRAFFIC.is_dir(), reason="the recorded exchanges of ../shared/traffic are missing"
)


@cache
def lines(file: str) -> list[str]:
    """Return some recorded exchanges, always the same."""
    found = list(sweep.exchanges([TRAFFIC / f"{file}.jsonl.gz"]))
    return found[:: max(1, len(found) // OF_EACH)]


@pytest.mark.parametrize("wire", WIRES)
def test_a_whole_wire_is_no_longer_than_a_page_or_two(wire: str) -> None:
    text = (ROOT / "rules" / f"{wire}.yaml").read_text("utf-8")
    bare = re.sub(r"^( +)examples:\n(?:\1 .*\n)+", "", text, flags=re.MULTILINE)  # of variants
    assert 150 < len(bare.splitlines()) <= 350


@pytest.mark.parametrize("wire", WIRES)
def test_calls_and_results_go_there_and_come_back(wire: str) -> None:
    there = RULES.convert(way.REQUEST, "openai-chat", wire)
    back = RULES.convert(there.body, wire, "openai-chat")

    def calls(body: Any) -> list[Any]:
        """Name calls by their number: an id may be another one there."""
        said = [call for m in body["messages"] for call in m.get("tool_calls") or ()]
        ids = [call["id"] for call in said]
        made = [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in said]
        results = [m for m in body["messages"] if m["role"] == "tool"]
        return made + [(ids.index(m["tool_call_id"]), m["content"]) for m in results]

    assert calls(back.body) == calls(way.REQUEST) != []


@needs_traffic
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("there", [True, False])
def test_recorded_bodies_come_home_and_cross(wire: str, there: bool) -> None:
    file, pair = (wire, (wire, TO)) if there else (TO, (TO, wire))
    outcome = sweep.sweep(lines(file), sweep.Settings(frozenset({pair}), perturb=1))
    failures = sweep.unforgiven(outcome)
    assert not failures, "\n".join(["", *sweep.groups(failures)])
    for unit in ("request", "response") if there else ():
        seen, total = (outcome.counts[wire, wire, unit, n] for n in ("pictured", "leaves"))
        assert seen >= 0.97 * total > 0, f"{unit}: {seen} of {total} leaves are pictured"


@needs_traffic
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("there", [True, False])
def test_recorded_streams_come_home_and_fold_to_the_same_answer(wire: str, there: bool) -> None:
    source, targets = (wire, (wire, TO)) if there else (TO, (wire,))
    streams = list(streamsweep.recorded(str(TRAFFIC / f"{source}.jsonl.gz")))
    short = [one for one in streams if len(one[1]) < 40]
    for name, frames in short[:: max(1, len(short) // 4)]:
        for target in targets:
            counts, failures = streamsweep.judged(RULES, frames, source, target, name, 2)
            assert (counts["failed"], failures) == (0, [])


# -- what these wires ask of the engine -----------------------------------------------------------

ASKED: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [
        {
            "type": "function",
            "function": {"name": "f", "parameters": {"type": "object", "properties": {}}},
        }
    ],
}
NOTED = {"start": 6, "end": 11, "text": "sunny", "type": "TEXT_CONTENT"}
SAID = {
    "id": "c",
    "finish_reason": "COMPLETE",
    "message": {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm."},
            {"type": "text", "text": "It is sunny and warm."},
        ],
        "citations": [
            {
                "content_index": 1,
                **NOTED,
                "sources": [{"type": "document", "id": "d", "document": {"title": "T"}}],
            },
            {
                "content_index": 1,
                "start": 16,
                "end": 20,
                "text": "warm",
                "type": "TEXT_CONTENT",
                "sources": [{"type": "tool", "id": "a:0", "tool_output": {"t": 20}}],
            },
        ],
    },
}


@pytest.mark.parametrize("trace", [False, True])
def test_a_choice_that_is_said_by_no_key_leaves_none(trace: bool) -> None:
    out = RULES.convert({**ASKED, "tool_choice": "auto"}, "openai-chat", "cohere", trace=trace)
    assert (out.body, out.notes) == (ASKED, ())


@pytest.mark.parametrize("trace", [False, True])
def test_other_keys_of_an_object_are_none_where_there_are_none(trace: bool) -> None:
    body = {**ASKED, "documents": [{"data": {"text": "Ruby is old."}}]}
    out = RULES.convert(body, "cohere", "openai-chat", trace=trace)
    assert [note.code for note in out.notes] == ["document-as-text"]


def test_a_citation_has_a_frame_of_its_own_and_says_its_content() -> None:
    read = RULES["cohere"].read(SAID, unit="response")
    cited = read.ir["candidates"][0]["parts"][1]["citations"]
    assert [{key: one[key] for key in one if key != "spelled"} for one in cited] == [
        {
            "start_index": 6, "end_index": 11, "retrieved": True, "title": "T",
            "own": {"cohere": {"source": "document", "id": "d"}},
        },
        {
            "start_index": 16, "end_index": 20, "retrieved": True,
            "own": {"cohere": {"source": "tool", "id": "a:0", "data": {"t": 20}}},
        },
    ]  # fmt: skip
    frames = list(RULES.frames(SAID, "cohere"))
    said = [frame for frame in frames if frame["type"] == "citation-start"]
    assert [frame["index"] for frame in said] == [0, 1]
    assert [f["delta"]["message"]["citations"] for f in said] == SAID["message"]["citations"]  # type: ignore[index]
    assert RULES.collect(frames, "cohere")["message"] == SAID["message"]


def test_an_end_that_is_said_once_more_is_no_frame_after_the_end() -> None:
    frames = [*RULES.frames(SAID, "cohere"), "[DONE]"]
    translator = RULES.translator(source="cohere", target="openai-chat")
    for frame in [*frames, frames[1]]:
        translator.feed(frame)
    translator.finish()
    late = [note.source_path for note in translator.notes if note.code == "after-end"]
    assert late == [f"/{len(frames)}"]


def test_the_text_beside_calls_is_the_plan_there_and_text_again() -> None:
    there = RULES.convert(way.REQUEST, "openai-chat", "cohere").body
    calling = [m for m in there["messages"] if m.get("tool_calls")]
    assert calling
    assert not any("content" in message for message in calling)


# -- steps ----------------------------------------------------------------------------------------

STEPS = "gemini-interactions"


def stepped(*steps: Any, status: str = "completed") -> list[Any]:
    """Return the frames of an interaction: of each step its head, what is said later, its end."""
    frames: list[Any] = [
        {
            "event_type": "interaction.created",
            "interaction": {"id": "v1_1", "status": "in_progress"},
        }
    ]
    for nth, (head, *deltas) in enumerate(steps):
        frames.append({"event_type": "step.start", "index": nth, "step": head})
        frames += [{"event_type": "step.delta", "index": nth, "delta": one} for one in deltas]
        frames.append({"event_type": "step.stop", "index": nth})
    over = {"id": "v1_1", "status": status}
    return [*frames, {"event_type": "interaction.completed", "interaction": over}]


def test_own_fields_that_come_later_are_laid_over_those_before() -> None:
    asked = {"queries": ["q"]}
    frames = stepped(
        (
            {"type": "google_search_call", "id": "s", "arguments": {}},
            {"type": "google_search_call", "arguments": asked, "signature": "c2ln"},
        )
    )
    translator = RULES.translator(source=STEPS, target=STEPS)
    assert [out for frame in frames for out in translator.feed(frame)] == frames
    translator.finish()
    [step] = translator.result.body["steps"]
    want = {"type": "google_search_call", "id": "s", "arguments": asked, "signature": "c2ln"}
    assert (step, translator.notes) == (want, ())


def test_two_arguments_of_one_call_are_a_contradiction() -> None:
    one, other = ({"type": "google_search_call", "arguments": {"queries": [q]}} for q in "ab")
    frames = stepped(({"type": "google_search_call", "id": "s"}, one, other))
    translator = RULES.translator(source=STEPS, target="openai-chat")
    for frame in frames:
        translator.feed(frame)
    translator.finish()
    noted = [n.source_path for n in translator.notes if n.code == "inconsistent"]
    assert noted == ["/3"]


def test_a_thought_of_a_signature_alone_has_no_text() -> None:
    frames = stepped(
        ({"type": "thought"}, {"type": "thought_signature", "signature": "c2ln"}),
        ({"type": "model_output"}, {"type": "text", "text": "Hi"}),
    )
    whole = RULES.collect(frames, STEPS)
    assert whole["steps"][0] == {"type": "thought", "signature": "c2ln"}
    again = list(RULES.frames(whole, STEPS))
    assert RULES.collect(again, STEPS) == whole
    out = list(wireglot.translate(frames, source=STEPS, target="openai-responses"))
    kinds = [f["item"]["type"] for f in out if f["type"] == "response.output_item.added"]
    assert kinds == ["message"]


def test_what_is_filled_in_for_a_whole_conversation_has_its_place() -> None:
    result = {"type": "function_result", "call_id": "c", "name": "f", "result": "Sunny"}
    body = {"model": "m", "previous_interaction_id": "v1_0", "input": [result]}
    for target in ("openai-responses", STEPS):
        there = RULES.convert(
            body
            if target != STEPS
            else {"model": "m", "messages": [{"role": "system", "content": ""}]},
            STEPS if target != STEPS else "openai-chat",
            target,
        )
        assert there.body["input"] == "(nothing was said)"
        added = [note.target_path for note in there.notes if note.code == "turn-added"]
        assert added == ["/input"]


def test_results_in_the_content_of_a_user_are_results() -> None:
    result = {"type": "function_result", "call_id": "c", "name": "f", "result": "Sunny"}
    call = {"type": "function_call", "id": "c", "name": "f", "arguments": {}}
    asked = {"type": "user_input", "content": [{"type": "text", "text": "Hi"}]}
    body = {"model": "m", "input": [asked, call, {"type": "user_input", "content": [result]}]}
    there = RULES.convert(body, STEPS, "openai-chat").body["messages"]
    assert there[-1] == {"role": "tool", "tool_call_id": "c", "content": "Sunny"}
    ir = RULES[STEPS].read(body, unit="request").ir
    assert RULES[STEPS].write(ir, unit="request").body == body
