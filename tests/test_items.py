"""Streams of items that bracket parts: what is read of them, and what a strict client takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wireglot
from tests import width
from tests.streamsdk import accepted, brackets
from tests.streamsweep import meaning, unnamed
from tests.test_streams import (
    DIALECTS,
    HEAD,
    INTERLEAVED,
    ODD,
    SEQUENTIAL,
    SEVERAL,
    TAIL,
    TWO,
    called,
    pieces,
)
from tests.test_streams import WHOLE as OTHERS
from wireglot.streaming.responses import unfolded
from wireglot.streaming.streams import Translator

RULES = wireglot.load_rules()
NAME = "openai-responses"
Json = Any

# -- a stream as the provider sends it ------------------------------------------------------------

REASONING: Json = {
    "id": "rs_1", "type": "reasoning", "status": "completed", "encrypted_content": "c2ln",
    "summary": [{"type": "summary_text", "text": "Two look-ups."},
                {"type": "summary_text", "text": "At once."}],
}  # fmt: skip
NOTE = {
    "type": "url_citation",
    "url": "https://a.b",
    "title": "T",
    "start_index": 0,
    "end_index": 2,
}
MESSAGE: Json = {
    "id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
    "content": [
        {"type": "output_text", "text": "Let me see.", "annotations": [NOTE], "logprobs": []},
        {"type": "refusal", "refusal": "No more."},
    ],
}  # fmt: skip
CALLS: list[Json] = [
    {"id": f"fc_{nth}", "type": "function_call", "status": "completed", "call_id": call,
     "name": name, "arguments": text}
    for nth, (call, name, text) in enumerate(
        [("call_a", "f", '{"x": 1}'), ("call_b", "g", '{"y":[{}]}')])
]  # fmt: skip
FREE: Json = {
    "id": "ctc_1", "type": "custom_tool_call", "call_id": "call_c", "name": "sql",
    "input": "SELECT 1", "status": "completed",
}  # fmt: skip
SEARCH: Json = {
    "id": "ws_1", "type": "web_search_call", "status": "completed",
    "action": {"type": "search", "query": "q"},
}  # fmt: skip
WHOLE: Json = {
    "id": "resp_1", "object": "response", "created_at": 7, "model": "m", "status": "completed",
    "error": None, "incomplete_details": None, "instructions": "Be brief.", "metadata": {},
    "output": [REASONING, MESSAGE, SEARCH, *CALLS, FREE], "parallel_tool_calls": True,
    "tool_choice": "auto", "tools": [], "temperature": 1.0,
    "usage": {"input_tokens": 3,
              "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
              "output_tokens": 4, "output_tokens_details": {"reasoning_tokens": 1},
              "total_tokens": 7},
}  # fmt: skip


def told(whole: Json = WHOLE, ends: bool = True) -> list[Json]:
    """Return the frames of a response as the provider sends them; `ends`: with what is repeated."""
    kind = {"incomplete": "incomplete", "failed": "failed"}.get(whole["status"], "completed")
    head = {**whole, "status": "in_progress", "output": [], "usage": None}
    head |= {"incomplete_details": None, "error": None}
    made = [{"type": "response.created", "response": head},
            {"type": "response.in_progress", "response": head}]  # fmt: skip
    for nth, item in enumerate(whole["output"]):
        at = {"item_id": item["id"], "output_index": nth}
        made += _item(item, at, ends)
    made.append({"type": f"response.{kind}", "response": whole})
    return [{**frame, "sequence_number": n} for n, frame in enumerate(made)]


BRACKETS: dict[str, tuple[str, Json]] = {"message": ("content", []), "reasoning": ("summary", [])}
FLOWS = {
    "output_text": ("output_text", "text", "content_part", "content_index"),
    "refusal": ("refusal", "refusal", "content_part", "content_index"),
    "summary_text": (
        "reasoning_summary_text", "text", "reasoning_summary_part", "summary_index",
    ),
    "function_call": ("function_call_arguments", "arguments", "", ""),
    "custom_tool_call": ("custom_tool_call_input", "input", "", ""),
}  # fmt: skip


def _item(item: Json, at: Json, ends: bool) -> Iterator[Json]:
    begun = {**item, "status": "in_progress"}
    begun.pop("encrypted_content", None)
    flowing = FLOWS.get(item["type"])
    inner, empty = BRACKETS.get(item["type"], ("", None))
    if flowing:
        begun[flowing[1]] = ""
    if inner:
        begun[inner] = empty
    yield {"type": "response.output_item.added", "output_index": at["output_index"], "item": begun}
    if not flowing and not inner:
        word = f"response.{item['type']}.searching"
        yield {"type": word, **at}
    if flowing:
        yield from _flow(item, flowing, at, ends)
    for n, part in enumerate(item[inner] if inner else ()):
        name, key, bracket, number = FLOWS[part["type"]]
        place = {**at, number: n}
        bare = {**part, key: "", **({"annotations": []} if "annotations" in part else {})}
        yield {"type": f"response.{bracket}.added", **place, "part": bare}
        yield from _flow(part, (name, key, bracket, number), place, ends)
        if ends:
            yield {"type": f"response.{bracket}.done", **place, "part": part}
    if ends:
        done = "response.output_item.done"
        yield {"type": done, "output_index": at["output_index"], "item": item}


def _flow(part: Json, flowing: tuple[str, ...], at: Json, ends: bool) -> Iterator[Json]:
    name, key, *_ = flowing
    more: Json = {"logprobs": []} if name == "output_text" else {}
    for piece in (part[key][:3], part[key][3:]):
        yield {"type": f"response.{name}.delta", **at, "delta": piece, **more}
    for i, note in enumerate(part.get("annotations", ())):
        added = "response.output_text.annotation.added"
        yield {"type": added, **at, "annotation_index": i, "annotation": note}
    if ends:
        yield {"type": f"response.{name}.done", **at, key: part[key], **more}


FRAMES = told()
PARTS = RULES[NAME].read(WHOLE, unit="response").ir["candidates"][0]["parts"]


def translated(frames: list[Json], source: str, target: str) -> tuple[list[Json], Translator]:
    t = RULES.translator(source=source, target=target)
    out = [new for frame in frames for new in t.feed(frame)]
    return out + t.finish(), t


def codes(t: Translator) -> set[str]:
    return {note.code for note in t.notes}


# -- reading --------------------------------------------------------------------------------------


def test_a_stream_of_items_folds_to_the_response_that_it_ends_with() -> None:
    out, t = translated(FRAMES, NAME, NAME)
    assert out == FRAMES
    assert t.result.body == WHOLE
    assert [n.code for n in t.notes] == []


def bare(parts: list[Json]) -> list[Json]:
    """Return parts without memory."""
    return [{k: v for k, v in p.items() if k not in ("spelled", "kept")} for p in parts]


@pytest.mark.parametrize("without", ["the end", "what is repeated", "both"])
def test_what_is_repeated_is_not_needed(without: str) -> None:
    frames = told(ends=without == "the end")
    if without != "what is repeated":
        frames[-1]["response"] = {**WHOLE, "output": []}
    body = RULES.collect(frames, NAME)
    found = RULES[NAME].read(body, unit="response").ir["candidates"][0]["parts"]
    if without != "both":
        assert bare(found) == bare(PARTS)
        return
    said = [(p["type"], p.get("text", p.get("arguments", p.get("input")))) for p in found]
    assert said == [(p["type"], p.get("text", p.get("arguments", p.get("input")))) for p in PARTS]


@pytest.mark.parametrize("only", ["response.completed", "response.output_item.done"])
@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini"])
def test_what_comes_only_whole_is_told_of_when_it_comes(only: str, target: str) -> None:
    few = [f for f in FRAMES if f["type"] in ("response.created", only, "response.completed")]
    out, t = translated(few, NAME, target)
    whole, known = translated(FRAMES, NAME, target)
    assert t.result.body == known.result.body
    assert RULES.collect(out, target) == RULES.collect(whole, target)


def test_deltas_flow_as_they_come() -> None:
    t = RULES.translator(source=NAME, target="openai-chat")
    made = [len(t.feed(frame)) for frame in FRAMES]
    flows = ("output_text", "refusal", "function_call_arguments", "custom_tool_call_input")
    for n, frame in zip(made, FRAMES, strict=True):
        word = frame["type"].removeprefix("response.")
        assert n == (word.removesuffix(".delta") in flows and word.endswith(".delta")) or (
            word in ("created", "output_item.added", "completed")
        ), word


@pytest.mark.parametrize("change", ["done", "item", "response", "id"])
def test_a_whole_that_says_something_else_is_noted_and_counts(change: str) -> None:
    frames = json.loads(json.dumps(FRAMES))
    if change == "done":
        frame = next(f for f in frames if f["type"] == "response.output_text.done")
        frame["text"] = "Something else."
    elif change == "item":
        at = [f for f in frames if f["type"] == "response.output_item.done"]
        at[1]["item"]["content"][0]["text"] = "Something else."
    elif change == "response":
        frames[-1]["response"]["output"][1]["content"][0]["text"] = "Something else."
    else:
        frame = next(f for f in frames if f["type"] == "response.output_text.delta")
        frame["item_id"] = "msg_9"
    _, t = translated(frames, NAME, "openai-chat")
    assert "inconsistent" in codes(t)
    said = t.result.body["choices"][0]["message"]["content"]
    assert said == ("Something else." if change == "response" else "Let me see.")


def test_thoughts_as_they_were_are_read_like_those_that_are_summed_up() -> None:
    item = {"id": "rs_1", "type": "reasoning", "summary": [],
            "content": [{"type": "reasoning_text", "text": "Hm."}]}  # fmt: skip
    at = {"item_id": "rs_1", "output_index": 0, "content_index": 0}
    whole = {**WHOLE, "output": [item]}
    begun = {**item, "content": []}
    frames = [
        FRAMES[0],
        {"type": "response.output_item.added", "output_index": 0, "item": begun},
        {"type": "response.reasoning_text.delta", **at, "delta": "H"},
        {"type": "response.reasoning_text.delta", **at, "delta": "m."},
        {"type": "response.reasoning_text.done", **at, "text": "Hm."},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    assert RULES.collect(frames, NAME) == whole
    out, _ = translated(frames, NAME, "gemini")
    texts = [f["candidates"][0]["content"].get("parts", [{}])[0].get("text") for f in out]
    assert texts[:2] == ["H", "m."]


def test_frames_of_the_tools_of_the_provider_are_given_up_by_name_with_a_reason() -> None:
    _, t = translated(FRAMES, NAME, "anthropic")
    notes = [n for n in t.notes if n.code == "dropped"]  # frames of a search are pictured
    done = [n for n, f in enumerate(FRAMES) if f.get("item") is SEARCH]
    # It was going on, and is completed.
    assert [n.source_path for n in notes] == [f"/{done[0]}/item/status"]
    other = {"type": "response.mcp_call.in_progress", "output_index": 2, "item_id": "x"}
    _, t = translated([*FRAMES[:3], other, *FRAMES[3:]], NAME, "anthropic")
    notes = [n for n in t.notes if n.code == "dropped"]
    assert ["tool of the provider" in n.message for n in notes] == [True, False]
    odd = {"type": "response.new_thing", "x": 1}
    _, t = translated([FRAMES[0], odd, *FRAMES[1:]], NAME, "anthropic")
    assert "unknown-frame" in codes(t)


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini", "ollama"])
def test_an_error_in_a_stream_of_items_is_an_error_of_the_target(target: str) -> None:
    wrong = {"type": "error", "code": "x", "message": "No.", "param": None, "sequence_number": 9}
    out, t = translated([*FRAMES[:9], wrong], NAME, target)
    assert t.error == {"message": "No.", "own": {"openai-chat": {"code": "x"}}}
    assert RULES[target].read(out[-1], unit="error").ir["message"] == "No."


@pytest.mark.parametrize(
    ("status", "reason", "meant"),
    [("incomplete", {"reason": "max_output_tokens"}, "length"), ("failed", None, "length")],
)
def test_the_end_says_why(status: str, reason: Json, meant: str) -> None:
    whole = {**WHOLE, "output": [MESSAGE], "status": status, "incomplete_details": reason}
    out, t = translated(told(whole), NAME, "openai-chat")
    assert out[-1] == "[DONE]" and "cut-short" not in codes(t)
    assert out[-3]["choices"][0]["finish_reason"] == meant


# -- laws -----------------------------------------------------------------------------------------


def split(frame: Json, cut: Any) -> Iterator[Json]:
    """Yield a delta in pieces."""
    text = frame.get("delta")
    if not isinstance(text, str):
        yield frame
        return
    ends = sorted({0, len(text), *cut.draw(st.lists(st.integers(0, len(text)), max_size=3))})
    for start, end in pairwise(ends):
        yield {**frame, "delta": text[start:end]}


@settings(max_examples=width.times(25, 12), deadline=None, suppress_health_check=list(HealthCheck))
@given(cut=st.data(), ends=st.booleans())
def test_folding_equals_reading_the_whole_for_every_split(cut: Any, ends: bool) -> None:
    frames = [new for f in told(ends=ends) for new in split(f, cut)]
    assert RULES.collect(frames, NAME) == WHOLE


# -- writing --------------------------------------------------------------------------------------


def test_the_frames_of_a_response_fold_to_it_and_the_sdk_takes_them() -> None:
    frames = list(RULES.frames(WHOLE, NAME))
    assert RULES.collect(frames, NAME) == WHOLE
    assert accepted(frames, WHOLE, NAME) == ""
    aside = (".delta", "_call.in_progress", ".searching", "search_call.completed")
    kinds = [f["type"] for f in FRAMES if not f["type"].endswith(aside)]
    assert [f["type"] for f in frames if not f["type"].endswith(aside)] == kinds
    states = [f["type"].rsplit(".")[-1] for f in frames if ".web_search_call." in f["type"]]
    assert states == ["in_progress", "searching", "completed"]


def test_an_item_that_comes_whole_ends_though_others_of_its_kind_flow() -> None:
    sealed = {"id": "rs_0", "type": "reasoning", "summary": [], "encrypted_content": "c2ln"}
    whole = {**WHOLE, "output": [sealed, MESSAGE]}
    frames = list(RULES.frames(whole, NAME))
    there = [f["type"].rsplit(".")[-1] for f in frames if f.get("output_index") == 0]
    assert there == ["added", "done"]
    assert RULES.collect(frames, NAME) == whole
    assert accepted(frames, whole, NAME) == ""


@pytest.mark.parametrize("source", DIALECTS)
@pytest.mark.parametrize("frames", [INTERLEAVED, SEQUENTIAL], ids=["interleaved", "sequential"])
def test_the_probes_become_items_one_after_another(frames: list[Json], source: str) -> None:
    there = frames if source == "openai-chat" else translated(frames, "openai-chat", source)[0]
    out, t = translated(there, source, NAME)
    assert [c[1:] for c in called(out, NAME)] == [c[1:] for c in TWO]
    assert accepted(out, t.result.body, NAME) == ""


@pytest.mark.parametrize("name", [*ODD, *SEVERAL])
def test_what_real_streams_have_becomes_items(name: str) -> None:
    odd = {**ODD, **SEVERAL}[name]
    out, t = translated([HEAD, *odd, *TAIL], "openai-chat", NAME)
    assert called(out, NAME) == (TWO if name in SEVERAL else TWO[:1])
    assert accepted(out, t.result.body, NAME) == ""


@settings(max_examples=width.times(30, 15), deadline=None, suppress_health_check=list(HealthCheck))
@given(cut=st.data(), source=st.sampled_from(DIALECTS))
def test_translating_and_folding_is_folding_and_converting(cut: Any, source: str) -> None:
    whole = OTHERS[source]
    frames = [new for f in RULES.frames(whole, source) for new in pieces(f, cut)]
    out, t = translated(frames, source, NAME)
    body = RULES.convert(whole, source, NAME, unit="response").body
    assert t.result.body == body
    assert accepted(out, body, NAME) == ""
    made, meant = (RULES[NAME].read(one, unit="response").ir
                   for one in (RULES.collect(out, NAME), body))  # fmt: skip
    assert unnamed(meaning(made)) == unnamed(meaning(meant))


@settings(max_examples=width.times(30, 15), deadline=None, suppress_health_check=list(HealthCheck))
@given(cut=st.data(), target=st.sampled_from(DIALECTS), ends=st.booleans())
def test_items_become_what_the_whole_response_becomes(cut: Any, target: str, ends: bool) -> None:
    whole = WHOLE
    if target == "openai-chat":  # whose SDK knows no freeform call in a stream
        whole = {**WHOLE, "output": [item for item in WHOLE["output"] if item is not FREE]}
    frames = [new for f in told(whole, ends) for new in split(f, cut)]
    out, t = translated(frames, NAME, target)
    body = RULES.convert(whole, NAME, target, unit="response").body
    assert t.result.body == body
    assert accepted(out, body, target) == ""
    made, meant = (RULES[target].read(one, unit="response").ir
                   for one in (RULES.collect(out, target), body))  # fmt: skip
    if target == "openai-chat":
        made.pop("own", None), meant.pop("own")  # frames hold fewer of the fields that both have
    for part in (*_calls(made), *_calls(meant)) if target == "vertex" else ():
        del part["id"]  # made of the place, and that is another with joined texts
    assert meaning(made) == meaning(meant)


def _calls(ir: Json) -> list[Json]:
    parts = ir["candidates"][0]["parts"]
    return [part for part in parts if part["type"] == "tool_call"]


def test_an_item_stays_open_for_what_stands_in_it_and_no_longer() -> None:
    t = RULES.translator(source="openai-chat", target=NAME)
    kinds = [[f["type"].removeprefix("response.") for f in t.feed(frame)] for frame in INTERLEAVED]
    call = ["function_call_arguments.done", "output_item.done"]
    assert kinds == [
        ["created", "in_progress"],
        ["output_item.added", "content_part.added", "output_text.delta"],
        ["output_text.done", "content_part.done", "output_item.done", "output_item.added"],
        [],  # the second call waits for the first
        ["function_call_arguments.delta"],
        [],
        ["function_call_arguments.delta", *call, "output_item.added",
         "function_call_arguments.delta"],
        ["function_call_arguments.delta"],
        [],
        [],
        [*call, "completed"],
    ]  # fmt: skip


def test_a_stream_that_ends_without_a_reason_has_an_end_with_its_counts() -> None:
    out, t = translated([HEAD, *INTERLEAVED[1:5], INTERLEAVED[-2], "[DONE]"], "openai-chat", NAME)
    assert "cut-short" in codes(t)
    assert out[-1]["type"] == "response.incomplete"
    assert out[-1]["response"]["usage"]["total_tokens"] == 7


def test_what_breaks_off_is_closed_and_has_no_end() -> None:
    out, t = translated(INTERLEAVED[:5], "openai-chat", NAME)
    assert brackets(out) == ""
    assert "cut-short" in codes(t)
    assert out[-1]["type"] == "response.output_item.done"
    wrong = {"error": {"message": "No.", "type": "server_error", "param": None, "code": "c"}}
    out, t = translated([*INTERLEAVED[:5], wrong], "openai-chat", NAME)
    assert out[-2] == {"type": "error", "code": "server_error", "message": "No.", "param": None,
                       "sequence_number": len(out) - 2}  # fmt: skip
    assert out[-1]["type"] == "response.failed" and out[-1]["sequence_number"] == len(out) - 1
    assert brackets(out) == ""


def test_made_ids_stay_the_same_in_all_frames_of_an_item() -> None:
    out, _ = translated(INTERLEAVED, "openai-chat", NAME)
    again, _ = translated(INTERLEAVED, "openai-chat", NAME)
    assert out == again
    ids = {f["item"]["id"] for f in out if "item" in f}
    assert len(ids) == 3
    assert {f["item_id"] for f in out if "item_id" in f} == ids
    assert {item["id"] for item in out[-1]["response"]["output"]} == ids


def test_a_whole_item_keeps_the_id_that_was_made_for_it() -> None:
    sealed = {"type": "reasoning", "redacted": True}
    parts = [{**sealed, "signature": {"value": text, "origin": NAME}} for text in ("c2ln", "c2lo")]
    ir = {"id": "r", "candidates": [{"parts": parts, "stop_reason": "end_turn"}]}
    frames = list(unfolded(RULES[NAME], ir, False, set()))
    ids: dict[int, set[str]] = {}
    for frame in frames:
        items = {frame["output_index"]: frame["item"]} if "item" in frame else {}
        items.update(enumerate(frame.get("response", {}).get("output", ())))
        for nth, item in items.items():
            ids.setdefault(nth, set()).add(item["id"])
    assert [len(one) for one in ids.values()] == [1, 1]
    assert not ids[0] & ids[1]


def test_what_should_be_a_list_and_is_none_makes_no_citation() -> None:
    text = {"type": "text", "text": "Hi", "citations": True}
    body = {
        "id": "a",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [text],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    frames = list(wireglot.frames(body, dialect="anthropic"))
    assert "Hi" in json.dumps(frames)
    out, _ = translated(frames, "anthropic", "openai-chat")
    assert "Hi" in json.dumps(out) and "annotation" not in json.dumps(out)
