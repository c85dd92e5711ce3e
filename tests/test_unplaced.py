"""Streams of which the frames do not say the numbers of their items."""

from __future__ import annotations

from typing import Any

import pytest

import wireglot

RULES = wireglot.load_rules()
Json = Any
NUMBERS = {
    "openai-responses": {"output_index", "content_index", "summary_index", "sequence_number"},
    "gemini-interactions": {"index"},
}
WHOLE: Json = {
    "id": "c", "object": "chat.completion", "created": 7, "model": "m",
    "choices": [{"index": 0, "message": {
        "role": "assistant", "content": "Let me see.", "refusal": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
            {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
        ]}, "logprobs": None, "finish_reason": "tool_calls"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
}  # fmt: skip
REASONING = {"id": "rs", "type": "reasoning", "summary": [], "encrypted_content": ""}


def frames(dialect: str) -> list[Json]:
    """Return a stream as the dialect writes it."""
    whole = RULES.convert(WHOLE, "openai-chat", dialect, unit="response").body
    return list(RULES.frames(whole, dialect))


def without(stream: list[Json], keys: set[str]) -> list[Json]:
    """Return frames without some keys at their top."""
    return [{k: v for k, v in f.items() if k not in keys} for f in stream if isinstance(f, dict)]


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini", "bedrock-converse"])
@pytest.mark.parametrize("dialect", NUMBERS)
@pytest.mark.parametrize("ids", [True, False])
def test_numbers_that_nothing_says_are_those_of_the_order(
    dialect: str, target: str, ids: bool
) -> None:
    numbered = frames(dialect)
    bare = without(numbered, NUMBERS[dialect] | (set() if ids else {"item_id"}))
    assert bare != numbered
    made = [RULES.translator(dialect, target) for _ in range(2)]
    for translator, stream in zip(made, (numbered, bare), strict=True):
        for frame in stream:
            translator.feed(frame)
        translator.finish()
    assert made[0].result.body == made[1].result.body
    said = [[(n.code, n.source_path, n.message) for n in one.notes] for one in made]
    assert said[0] == said[1]


@pytest.mark.parametrize("result", [True, False])
def test_what_comes_does_not_wait_for_the_end_of_a_thought_before_it(result: bool) -> None:
    """One server says all ends at the end of the stream."""
    begun = {"type": "response.created", "response": {"id": "r", "status": "in_progress"}}
    thought = {"type": "response.reasoning_text.delta", "item_id": "rs", "delta": "Hm."}
    message = {"id": "m", "type": "message", "role": "assistant", "content": []}
    part = {"type": "output_text", "text": ""}
    translator = RULES.translator("openai-responses", "anthropic", result=result)
    for frame in (
        begun,
        {"type": "response.output_item.added", "item": REASONING},
        thought,
        {"type": "response.output_item.added", "item": message},
        {"type": "response.content_part.added", "item_id": "m", "part": part},
    ):
        translator.feed(frame)
    out = translator.feed({"type": "response.output_text.delta", "item_id": "m", "delta": "Hi"})
    assert [one["delta"]["text"] for one in out if "delta" in one] == ["Hi"]
    ends = [
        {**REASONING, "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {**message, "content": [{**part, "text": "Hi"}]},
    ]
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    last = [
        {"type": "response.output_item.added", "item": call},
        {"type": "response.output_item.done", "item": ends[0]},
        {"type": "response.output_text.done", "item_id": "m", "text": "Hi"},
        *({"type": "response.output_item.done", "item": one} for one in (ends[1], call)),
        {"type": "response.completed", "response": {"id": "r", "status": "completed"}},
    ]
    said = [one for frame in last for one in translator.feed(frame)] + translator.finish()
    assert [one["delta"]["text"] for one in said if "text" in one.get("delta", {})] == []
    assert not {"inconsistent", "unknown-frame"} & {note.code for note in translator.notes}
    if not result:
        return
    assert translator.result.body["content"] == [
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "a", "name": "f", "input": {}},
    ]
    assert translator.result.body["stop_reason"] == "tool_use"


def test_an_item_of_which_only_the_end_comes_is_one() -> None:
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x": 1}'}
    stream = [
        {"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
        {"type": "response.output_item.done", "item": call},
        {"type": "response.output_item.done", "item": {**call, "call_id": "b", "name": "g"}},
        {"type": "response.completed", "response": {"id": "r", "status": "completed"}},
    ]
    translator = RULES.translator("openai-responses", "anthropic")
    for frame in stream:
        translator.feed(frame)
    translator.finish()
    assert [one["name"] for one in translator.result.body["content"]] == ["f", "g"]
    assert translator.result.body["stop_reason"] == "tool_use"


def test_a_text_that_ends_behind_a_call_is_found_by_what_it_is() -> None:
    stream = frames("openai-responses")
    ends = [f for f in stream if f["type"] in ("response.output_text.done",)]
    late = [f for f in stream if f not in ends]
    late[-1:-1] = ends
    bare = without(late, NUMBERS["openai-responses"] | {"item_id"})
    translator = RULES.translator("openai-responses", "openai-chat")
    for frame in bare:
        translator.feed(frame)
    translator.finish()
    assert translator.result.body["choices"][0]["message"]["content"] == "Let me see."
    assert not {"unknown-frame", "inconsistent"} & {note.code for note in translator.notes}


@pytest.mark.parametrize("result", [True, False])
def test_two_texts_without_numbers_and_ids_are_two(result: bool) -> None:
    stream: list[Json] = [{"type": "response.created", "response": {"id": "r"}}]
    for name, text in (("m1", "A"), ("m2", "B")):
        item = {"type": "message", "id": name, "role": "assistant", "content": []}
        part = {"type": "output_text", "text": ""}
        whole = {**item, "content": [{**part, "text": text, "annotations": []}]}
        stream += [
            {"type": "response.output_item.added", "item": item},
            {"type": "response.content_part.added", "part": part},
            {"type": "response.output_text.delta", "delta": text},
            {"type": "response.output_item.done", "item": whole},
        ]
    translator = RULES.translator("openai-responses", "anthropic", result=result)
    out = [one for frame in stream for one in translator.feed(frame)] + translator.finish()
    assert [one["delta"]["text"] for one in out if "text" in one.get("delta", {})] == ["A", "B"]


@pytest.mark.parametrize("numbered", [1, 2])
def test_calls_by_turns_that_are_numbered_where_they_begin_are_told_by_ids(numbered: int) -> None:
    items = [
        {"type": "function_call", "id": f"f{n}", "call_id": c, "name": c, "arguments": ""}
        for n, c in enumerate("ab")
    ]
    added: list[Json] = [{"type": "response.output_item.added", "item": item} for item in items]
    for n in range(numbered):
        added[n]["output_index"] = n
    kind = "response.function_call_arguments.delta"
    deltas = [("f0", '{"x"'), ("f1", '{"y"'), ("f0", ": 1}"), ("f1", ": 2}")]
    stream = [
        {"type": "response.created", "response": {"id": "r"}},
        *added,
        *({"type": kind, "item_id": name, "delta": piece} for name, piece in deltas),
        {"type": "response.completed", "response": {"id": "r", "status": "completed"}},
    ]
    translator = RULES.translator("openai-responses", "anthropic")
    for frame in stream:
        translator.feed(frame)
    translator.finish()
    said = [(one["name"], one["input"]) for one in translator.result.body["content"]]
    assert said == [("a", {"x": 1}), ("b", {"y": 2})]
