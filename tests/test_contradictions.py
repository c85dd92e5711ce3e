"""What frames say twice and not the same: it is noted, whichever of them counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.test_items import FRAMES, MESSAGE, NAME, RULES, WHOLE, told, translated
from tests.test_streams import HEAD, call, calls, chunk
from wireglot.streaming.streams import Translator

Json = Any


def changed(kind: str, nth: int, path: str, new: Json, frames: list[Json] = FRAMES) -> list[Json]:
    """Return a stream in which one value of one frame is another."""
    made: list[Json] = json.loads(json.dumps(frames))  # in which nothing stands twice
    held = [f for f in made if f["type"] == f"response.{kind}"][nth]
    *keys, last = (int(key) if key.isdigit() else key for key in path.split("/"))
    for key in keys:
        held = held[key]
    held[last] = new
    return made


def said(t: Translator, *codes: str) -> list[tuple[str, str]]:
    """Return where notes of some codes point: the frame by its name, and the place in it."""
    found = []
    for note in t.notes:
        if note.code in (codes or ("inconsistent", "unfit")):
            _, number, *rest = (note.source_path or "/").split("/")
            found.append((FRAMES[int(number)]["type"].removeprefix("response."), "/".join(rest)))
    return found


@pytest.mark.parametrize("target", ["openai-chat", "agent-sdk"])
@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("result", [True, False])
def test_a_stream_that_is_right_contradicts_nothing(target: str, ends: bool, result: bool) -> None:
    t = RULES.translator(source=NAME, target=target, result=result)
    for frame in told(ends=ends):
        t.feed(frame)
    t.finish()
    assert said(t) == []


# What is changed, and where it is noted: in the frame that says it again, or in the changed one.
CASES: dict[str, tuple[str, int, str, Json, str, str]] = {
    "the number of a frame": (
        "output_text.delta", 1, "sequence_number", 99, "output_text.delta", "sequence_number",
    ),
    "a field of the first response": (
        "created", 0, "response/instructions", "Be long.", "in_progress", "response/instructions",
    ),
    "a field that the end does not have": (
        "in_progress", 0, "response/user", "x", "completed", "response",
    ),
    "a field within a field": (
        "in_progress", 0, "response/metadata", {"a": "b"}, "completed", "response/metadata",
    ),
    "a time that the end takes back": (
        "in_progress", 0, "response/created_at", 8, "completed", "response/created_at",
    ),
    "a model": ("created", 0, "response/model", "n", "in_progress", "response/model"),
    "a response that is no such one": (
        "in_progress", 0, "response/status", "failed", "in_progress", "response/status",
    ),
    "the phase of an item that begins": (
        "output_item.added", 1, "item/phase", "commentary", "output_item.done", "item/content/0",
    ),
    "an item that begins in another way": (
        "output_item.added", 1, "item/status", "incomplete", "output_item.done", "item",
    ),
    "the name of a call as it begins": (
        "output_item.added", 3, "item/name", "h", "output_item.done", "item/name",
    ),
    "the name of a call as it ends": (
        "output_item.done", 3, "item/name", "h", "output_item.done", "item/name",
    ),
    "the name of a call in the response": (
        "completed", 0, "response/output/3/name", "h", "completed", "response/output/3/name",
    ),
    "an id": ("output_text.delta", 0, "item_id", "msg_9", "output_text.delta", "item_id"),
    "a text at its end": ("output_text.done", 0, "text", "No.", "output_text.done", ""),
    "a text at the end of its part": (
        "content_part.done", 0, "part/text", "No.", "content_part.done", "part",
    ),
    "a note on a text": (
        "output_text.annotation.added", 0, "annotation/title", "U",
        "content_part.done", "part/annotations/0/title",
    ),
    "the number of a note": (
        "output_text.annotation.added", 0, "annotation_index", 1,
        "output_text.annotation.added", "annotation_index",
    ),
    "a text that goes on as a refusal": (
        "output_text.delta", 0, "type", "response.refusal.delta", "output_text.delta", "",
    ),
    "arguments that go on as free input": (
        "function_call_arguments.delta", 0, "type", "response.custom_tool_call_input.delta",
        "function_call_arguments.delta", "",
    ),
    "a part that ends as another kind": (
        "content_part.done", 0, "part/type", "reasoning_text", "content_part.done", "",
    ),
    "a part that is another one at its end": (
        "content_part.done", 1, "part/type", "summary_text", "content_part.done", "part",
    ),
    "the end of a part that did not begin": (
        "content_part.done", 0, "output_index", 9, "content_part.done", "",
    ),
    "a note on a part that did not begin": (
        "output_text.annotation.added", 0, "output_index", 9, "output_text.annotation.added", "",
    ),
    "an item that nothing follows": (
        "output_item.added", 1, "output_index", 9, "output_item.added", "",
    ),
    "a tool of the provider": (
        "output_item.added", 2, "item/action/query", "p", "output_item.done", "item/action/query",
    ),
    "a reason that the response does not give": (
        "completed", 0, "type", "response.incomplete", "completed", "type",
    ),
    "a response that lacks what came": (
        "completed", 0, "response/output", [MESSAGE], "completed", "response",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_a_frame_says_otherwise_is_noted(case: Any) -> None:
    *change, frame, place = case
    frames = changed(*change)
    if "created_at" in change[2]:  # the first frame does not know it yet
        frames[0]["response"]["created_at"] = 0
    _, t = translated(frames, NAME, "anthropic")
    assert (frame, place) in said(t)


# What is one thing first, and another one later.
MOVES: dict[str, tuple[str, int, str, Json, Json, str]] = {
    "a state": (
        "output_item.added", 2, "item/status", "searching", "completed", "output_item.done",
    ),
    "a tier": ("in_progress", 0, "response/service_tier", "auto", "default", "completed"),
    "a seal": (
        "output_item.added", 0, "item/encrypted_content", "bmV3", "c2ln", "output_item.done",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MOVES.values(), ids=MOVES)
def test_what_moves_on_while_frames_come_is_given_up_with_the_reason(case: Any) -> None:
    kind, nth, path, old, new, later = case
    frames = changed(kind, nth, path, old)
    frames = changed(later, nth, path, new, frames)
    _, t = translated(frames, NAME, "anthropic")
    assert said(t) == []
    assert any(f == later and p.startswith(path) for f, p in said(t, "dropped"))


def test_a_count_that_was_zero_and_what_was_not_said_is_news() -> None:
    frames = changed("in_progress", 0, "response/tool_usage", {"web_search": {"num_requests": 0}})
    frames[-1]["response"] |= {"tool_usage": {"web_search": {"num_requests": 1}}, "user": "u"}
    _, t = translated(frames, NAME, "anthropic")
    assert said(t) == []


def test_a_seal_of_an_item_is_another_one_in_the_response() -> None:
    frames = changed("output_item.done", 0, "item/encrypted_content", "bmV3")
    _, t = translated(frames, NAME, "anthropic")
    assert said(t) == []
    assert ("completed", "response/output/0/encrypted_content") in said(t, "dropped")


def test_a_reason_that_the_response_words_otherwise_is_the_same() -> None:
    whole = {**WHOLE, "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    _, t = translated(told(whole), NAME, "openai-chat")
    assert said(t) == []


def test_numbers_of_frames_are_heard_in_runs_too() -> None:
    delta = next(f for f in FRAMES if f["type"] == "response.output_text.delta")
    begun = FRAMES[: FRAMES.index(delta)]
    more = [{**delta, "delta": f"a{n}"} for n in range(20)]
    frames = [{**f, "sequence_number": n} for n, f in enumerate([*begun, *more])]
    frames[-5]["sequence_number"] += 1
    noted = [n.source_path for n in translated(frames, NAME, "openai-chat")[1].notes
             if n.code == "inconsistent"]  # fmt: skip
    assert noted == [f"/{len(frames) - 5}/sequence_number"]


def test_a_stream_may_begin_with_any_number() -> None:
    frames = [{**f, "sequence_number": n + 40} for n, f in enumerate(FRAMES)]
    assert said(translated(frames, NAME, "openai-chat")[1]) == []


def test_a_signature_of_a_block_that_thinks_nothing_is_noted() -> None:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    sign = {"type": "signature_delta", "signature": "c2ln"}
    frames: list[Json] = [
        {"type": "message_start", "message": {**message, "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "content_block_delta", "index": 0, "delta": sign},
        {"type": "content_block_delta", "index": 7, "delta": sign},
        {"type": "content_block_stop", "index": 8},
    ]
    _, t = translated(frames, "anthropic", "openai-chat")
    assert [n.source_path for n in t.notes if n.code == "inconsistent"] == ["/3", "/4", "/5"]


def test_what_a_tool_of_the_provider_is_called_with_is_said_once() -> None:
    block = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "p"}}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    piece = {"type": "input_json_delta", "partial_json": '{"query":"q"}'}
    frames: list[Json] = [
        {"type": "message_start", "message": {**message, "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": piece},
        {"type": "content_block_stop", "index": 0},
    ]
    _, t = translated(frames, "anthropic", "openai-chat")
    assert [n.source_path for n in t.notes if n.code == "inconsistent"] == ["/3"]


def test_free_input_of_a_call_with_arguments_is_noted() -> None:
    other = calls({"index": 0, "custom": {"input": "x"}})
    _, t = translated([HEAD, calls(call(0, "f", "a", "{")), other], "openai-chat", "anthropic")
    assert [n.source_path for n in t.notes if n.code == "inconsistent"] == ["/2"]


def test_an_answer_of_a_number_that_there_cannot_be_is_noted() -> None:
    _, t = translated([HEAD, chunk({"content": "a"}, nth=999)], "openai-chat", "anthropic")
    (path,) = {n.source_path for n in t.notes if n.code == "unfit"}
    assert path == "/1/choices/0/index"


@pytest.mark.parametrize("before", [0, 1])
def test_a_piece_of_a_call_that_nothing_began_is_noted(before: int) -> None:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    head: list[Json] = [{"type": "message_start", "message": {**message, "usage": {}}}]
    piece = {"type": "input_json_delta", "partial_json": '{"x":1}'}
    lone: list[Json] = [{"type": "content_block_delta", "index": 0, "delta": piece}]
    frames = [*head[:before], *lone, *head[before:]]
    _, t = translated(frames, "anthropic", "openai-chat")
    assert [n.source_path for n in t.notes if n.code == "inconsistent"] == [f"/{before}"]
    piece_of_chat = calls({"index": 0, "function": {"arguments": "{"}})
    _, t = translated([HEAD, piece_of_chat], "openai-chat", "anthropic")
    assert [n.source_path for n in t.notes if n.code == "inconsistent"] == ["/1"]
