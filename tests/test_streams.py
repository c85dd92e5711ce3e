"""Streams: folding, unfolding, and what real streams have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wireglot
from tests import coverage, width
from tests.oracles import sdk
from tests.oracles.frames import perturb
from tests.streamsdk import accepted, blocks
from tests.streamsweep import meaning
from wireglot import cli
from wireglot.streaming.fold import Fold
from wireglot.streaming.hearing import Listener
from wireglot.streaming.responses import frames as framed
from wireglot.streaming.responses import unfolded
from wireglot.streaming.streams import Translator

RULES = wireglot.load_rules()
DIALECTS = ("openai-chat", "anthropic", "gemini", "vertex", "ollama")
PAIRS = [(one, two) for one in DIALECTS for two in DIALECTS if one != two]
Json = Any

# -- frames of each dialect -----------------------------------------------------------------------


def chunk(delta: Json, finish: str | None = None, nth: int = 0, **more: Json) -> Json:
    choices = [{"index": nth, "delta": delta, "finish_reason": finish}]
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m"}
    return {**head, "choices": choices, **more}


def call(nth: int | None, name: str = "", call_id: str | None = None, text: str = "") -> Json:
    """Return a piece of a call as a chunk; with a name, its head."""
    made: Json = {"function": {"arguments": text, **({"name": name} if name else {})}}
    if nth is not None:
        made["index"] = nth
    if call_id is not None:
        made |= {"id": call_id, "type": "function"}
    return made


def calls(*pieces: Json) -> Json:
    return chunk({"tool_calls": list(pieces)})


COUNTS = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
HEAD = chunk({"role": "assistant", "content": ""})
USAGE = {**HEAD, "choices": [], "usage": COUNTS}
STOP = chunk({}, "tool_calls")
INTERLEAVED = [
    HEAD,
    chunk({"content": "Hi"}),
    calls(call(0, "f", "a")),
    calls(call(1, "g", "b")),
    calls(call(0, text='{"x"')),
    calls(call(1, text='{"y"')),
    calls(call(0, text=":1}")),
    calls(call(1, text=":2}")),
    STOP,
    USAGE,
    "[DONE]",
]
SEQUENTIAL = [INTERLEAVED[i] for i in (0, 1, 2, 4, 6, 3, 5, 7, 8, 9, 10)]
TWO = [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]


def translated(frames: list[Json], source: str, target: str) -> tuple[list[Json], Translator]:
    before = json.dumps(frames)
    t = RULES.translator(source=source, target=target)
    out = [new for frame in frames for new in t.feed(frame)]
    out += t.finish()
    assert json.dumps(frames) == before
    return out, t


def folded(frames: list[Json], dialect: str) -> Json:
    """Return the IR of the response that frames make."""
    return RULES[dialect].read(RULES.collect(frames, dialect), unit="response").ir


def parts(frames: list[Json], dialect: str, nth: int = 0) -> list[Json]:
    return list(meaning(folded(frames, dialect))["candidates"][nth]["parts"])


def called(frames: list[Json], dialect: str) -> list[tuple[str, str, Json]]:
    found = [p for p in parts(frames, dialect) if p["type"] == "tool_call"]
    return [(p["id"], p["name"], p.get("arguments", p.get("arguments_text"))) for p in found]


def codes(t: Translator) -> set[str]:
    return {note.code for note in t.notes}


# -- parallel calls -------------------------------------------------------------------------------


def test_a_thought_goes_to_claude_on_converse_with_the_signature_that_comes_behind_it() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    said = {"type": "text", "text": "Hi"}
    whole: Json = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    whole |= {"content": [thought, said], "stop_reason": "end_turn", "stop_sequence": None}
    whole["usage"] = {"input_tokens": 1, "output_tokens": 1}
    out, t = translated(list(RULES.frames(whole, "anthropic")), "anthropic", "bedrock-converse")
    assert parts(out, "bedrock-converse") == parts(
        list(RULES.frames(t.result.body, "bedrock-converse")), "bedrock-converse"
    )
    assert [p["type"] for p in parts(out, "bedrock-converse")] == ["reasoning", "text"]


@pytest.mark.parametrize("target", ["llama-cpp", "deepseek", "anthropic"])
def test_a_call_that_waits_until_it_is_whole_lets_none_go_first(target: str) -> None:
    calls: list[Json] = [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}},
        {"id": "c2", "type": "custom", "custom": {"name": "p", "input": "text"}},
        {"id": "c3", "type": "function", "function": {"name": "f", "arguments": '{"x":2}'}},
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    body = {"id": "c", "model": "m", "choices": [{"index": 0, "message": message}]}
    sent = list(RULES.frames(body, "openai-chat"))
    out, t = translated(sent, "openai-chat", target)
    assert [call[0] for call in called(out, target)] == ["c1", "c2", "c3"]
    whole = list(RULES.frames(t.result.body, target))
    assert called(out, target) == called(whole, target)


@pytest.mark.parametrize("target", DIALECTS[1:])
@pytest.mark.parametrize("frames", [INTERLEAVED, SEQUENTIAL], ids=["interleaved", "sequential"])
def test_parallel_calls_stay_apart(frames: list[Json], target: str) -> None:
    out, t = translated(frames, "openai-chat", target)
    known = called(out, target)
    assert [c[1:] for c in known] == [c[1:] for c in TWO]
    if target != "vertex":  # which has no ids
        assert known == TWO
    assert accepted(out, t.result.body, target) == ""


def test_blocks_are_opened_and_closed_once_and_in_order() -> None:
    out, _ = translated(INTERLEAVED, "openai-chat", "anthropic")
    assert blocks(out) == ""
    kinds = [f["content_block"]["type"] for f in out if f["type"] == "content_block_start"]
    assert kinds == ["text", "tool_use", "tool_use"]
    assert sum(f["type"] == "content_block_stop" for f in out) == 3


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("source", DIALECTS[1:])
@pytest.mark.parametrize("frames", [INTERLEAVED, SEQUENTIAL], ids=["interleaved", "sequential"])
def test_the_probes_are_right_for_all_pairs(frames: list[Json], source: str, target: str) -> None:
    there, _ = translated(frames, "openai-chat", source)
    out, t = translated(there, source, target)
    assert [c[1:] for c in called(out, target)] == [c[1:] for c in TWO]
    assert accepted(out, t.result.body, target) == ""


@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "ollama"])
def test_no_empty_call_stands_beside_a_whole_one(source: str) -> None:
    there, _ = translated(INTERLEAVED, "openai-chat", source)
    for target in ("gemini", "vertex"):
        out, _ = translated(there, source, target)
        found = [p for f in out for p in f["candidates"][0]["content"]["parts"]]
        assert [p["functionCall"]["name"] for p in found if "functionCall" in p] == ["f", "g"]


@pytest.mark.parametrize("target", ["gemini", "vertex"])
def test_every_frame_has_parts_because_googles_chat_forgets_turns_with_one_without(
    target: str,
) -> None:
    for frames in (INTERLEAVED, SEQUENTIAL, [HEAD, chunk({"content": "a"}), *TAIL]):
        out, _ = translated(frames, "openai-chat", target)
        assert all(f["candidates"][0]["content"]["parts"] for f in out)


def opened(out: list[Json], target: str) -> list[str]:
    """Return the calls that frames open, in order, and hold how the stream begins and ends."""
    if target == "anthropic":
        assert blocks(out) == ""
        kinds = [f["type"] for f in out]
        assert kinds[0] == "message_start" and kinds[-2:] == ["message_delta", "message_stop"]
        assert len({*kinds}) == len(kinds) - sum(k[:13] == "content_block" for k in kinds) + 3
        starts = [f["content_block"] for f in out if f["type"] == "content_block_start"]
        return [one.get("name", "text") for one in starts]
    if target == "openai-chat":
        assert out[-1] == "[DONE]" and out.count("[DONE]") == 1
        choices = [c for f in out[:-1] for c in f["choices"]]
        assert [bool(c["finish_reason"]) for c in choices] == [False] * (len(choices) - 1) + [True]
        assert ["role" in c["delta"] for c in choices] == [True] + [False] * (len(choices) - 1)
        heads: list[str] = []
        for piece in (p for c in choices for p in c["delta"].get("tool_calls", ())):
            if "name" in piece["function"]:
                assert piece["index"] == len(heads) and piece["id"]
                heads.append(piece["function"]["name"])
            else:  # a piece is of a call that was opened
                assert piece["index"] < len(heads) and "id" not in piece
        return ["text", *heads]
    if target == "ollama":
        assert [f["done"] for f in out] == [False] * (len(out) - 1) + [True]
        asked = [c for f in out for c in f["message"].get("tool_calls", ())]
        return ["text", *(c["function"]["name"] for c in asked)]
    found = [f["candidates"][0] for f in out]
    assert ["finishReason" in c for c in found] == [False] * (len(out) - 1) + [True]
    made = [p for c in found for p in c["content"]["parts"] if p.get("text") != ""]
    return [p["functionCall"]["name"] if "functionCall" in p else "text" for p in made]


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("source", DIALECTS)
@pytest.mark.parametrize("frames", [INTERLEAVED, SEQUENTIAL], ids=["interleaved", "sequential"])
def test_each_part_is_opened_once_and_in_order(
    frames: list[Json], source: str, target: str
) -> None:
    there = frames if source == "openai-chat" else translated(frames, "openai-chat", source)[0]
    out, _ = translated(there, source, target)
    assert opened(out, target) == ["text", "f", "g"]


class Ears(Listener):
    """What a fold tells: the text, and the arguments of each call, as far as they came."""

    def __init__(self) -> None:
        self.text, self.calls = "", dict[str, str]()

    def opened(self, part: Any) -> None:
        if part.whole and part.kind == "text":
            self.text += part.fields["text"]
        elif part.whole and part.kind == "tool_call":
            self.calls[part.fields["name"]] = json.dumps(part.fields["arguments"])

    def grown(self, part: Any, piece: str) -> None:
        if part.kind == "text":
            self.text += piece
        elif part.kind == "tool_call":
            self.calls[part.fields["name"]] = self.calls.get(part.fields["name"], "") + piece

    def known(self) -> tuple[str, dict[str, str]]:
        return self.text, {k: "".join(v.split()) for k, v in self.calls.items() if v}


def heard(frames: list[Json], source: str, target: str) -> list[tuple[Any, Any]]:
    """Return after each frame what it told so far, and what was written so far tells."""
    one, two = Ears(), Ears()
    ins = Fold(RULES[source].model, one)
    outs = Fold(RULES[target].model, two)
    t = RULES.translator(source=source, target=target)
    made = []
    for frame in frames:
        ins.feed(frame)
        for new in t.feed(frame):
            outs.feed(new)
        made.append((one.known(), two.known()))
    for new in t.finish():
        outs.feed(new)
    assert two.known() == one.known()
    return made


WORDS = [HEAD, chunk({"content": "Hi"}), chunk({"content": " you"}), *INTERLEAVED[2:]]
IN_TURN = [WORDS[i] for i in (0, 1, 2, 3, 5, 7, 4, 6, 8, 9, 10, 11)]
WHOLES = ("gemini", "vertex", "ollama")  # they send calls whole


@pytest.mark.inside
@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("frames", [WORDS, IN_TURN], ids=["interleaved", "sequential"])
def test_what_a_frame_tells_is_written_at_once_except_what_the_docs_list(
    frames: list[Json], source: str, target: str
) -> None:
    there = frames if source == "openai-chat" else translated(frames, "openai-chat", source)[0]
    steps = heard(there, source, target)
    assert [told[0] for told, _ in steps] == [said[0] for _, said in steps]  # text never waits
    waited = False
    for (_, told), (_, said) in steps:
        over = [name for name, text in told.items() if text.endswith("}")]
        if target in WHOLES:
            # Whole calls: at the latest when the next one begins, or the stream ends.
            assert list(said) in (over, over[:-1]) and all(said[n] == told[n] for n in said)
        elif target == "anthropic" and "f" not in over:
            assert said == {n: t for n, t in told.items() if n == "f"}  # g waits for f alone
        else:
            assert said == told
        waited |= said != told
    whole = target in WHOLES and source in ("openai-chat", "anthropic")
    behind = frames is WORDS and (source, target) == ("openai-chat", "anthropic")
    assert waited == (whole or behind)


@pytest.mark.inside
def test_blanks_wait_for_a_word_and_what_has_no_place_for_its_end() -> None:
    spaces = [HEAD, chunk({"content": " "}), chunk({"content": "a"}), *TAIL]
    assert [said[0] for _, said in heard(spaces, "openai-chat", "ollama")] == [
        "",
        " ",
        " a",
        " a",
        " a",
    ]
    assert [said[0] for _, said in heard(spaces, "openai-chat", "anthropic")] == [
        "",
        "",
        " a",
        " a",
        " a",
    ]
    t = RULES.translator(source="openai-chat", target="anthropic")
    frames = [HEAD, chunk({"refusal": "N"}), chunk({"refusal": "o."}), chunk({}, "stop"), "[DONE]"]
    made = [json.dumps(t.feed(frame)) for frame in frames]
    assert ["No." in text for text in made] == [False] * 4 + [True]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_finish_and_the_counts_wait_for_the_end(source: str, target: str) -> None:
    frames = WORDS if source == "openai-chat" else translated(WORDS, "openai-chat", source)[0]
    t = RULES.translator(source=source, target=target)
    made = [t.feed(frame) for frame in frames]
    made.append(t.finish())
    told = [
        nth
        for nth, new in enumerate(made)
        for f in new
        if any(
            json.dumps(f).count(word) for word in ('"tool_calls"}', 'tool_use"', "STOP", '"stop"')
        )
        and "content_block" not in json.dumps(f)
    ]
    last = max(nth for nth, new in enumerate(made) if new)
    assert told and set(told) == {last}


def test_arguments_flow_and_only_those_behind_an_open_block_wait() -> None:
    t = RULES.translator(source="openai-chat", target="anthropic")
    kinds = [[f["type"] for f in t.feed(frame)] for frame in INTERLEAVED]
    begin, delta, stop = (f"content_block_{word}" for word in ("start", "delta", "stop"))
    assert kinds == [
        ["message_start"],
        [begin, delta],
        [stop, begin],
        [],  # the second call waits for the first
        [delta],
        [],
        [delta, stop, begin, delta],  # the first is a whole object, so it is over
        [delta],
        [],
        [],
        [stop, "message_delta", "message_stop"],
    ]


def test_arguments_flow_side_by_side_where_they_have_addresses() -> None:
    there, _ = translated(INTERLEAVED, "openai-chat", "anthropic")
    t = RULES.translator(source="anthropic", target="openai-chat")
    made = [len(t.feed(frame)) for frame in there]
    assert made[: len(there) - 2] == [
        {"message_start": 1, "content_block_start": 1, "content_block_delta": 1}.get(f["type"], 0)
        - (f.get("content_block", {}).get("type") == "text")
        for f in there[:-2]
    ]


# -- what real streams have -----------------------------------------------------------------------

TAIL = [STOP, "[DONE]"]
ODD = {
    "a head with arguments": [calls(call(0, "f", "a", '{"x"')), calls(call(0, text=":1}"))],
    "the id again in every piece": [
        calls(call(0, "f", "a", '{"x"')),
        calls(call(0, "f", "a", ":1}")),
    ],
    "empty ids and names in later pieces": [
        calls(call(0, "f", "a", '{"x"')),
        calls({"index": 0, "id": "", "function": {"name": "", "arguments": ":1}"}}),
    ],
    "nulls in later pieces": [
        calls(call(0, "f", "a", '{"x"')),
        calls(
            {"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": ":1}"}}
        ),
    ],
    "no index": [calls(call(None, "f", "a", '{"x"')), calls(call(None, text=":1}"))],
    "pieces between other words": [
        calls(call(0, "f", "a", '{"x"')),
        chunk({"content": ""}),
        calls(call(0, text=":1}")),
    ],
}


@pytest.mark.parametrize("name", ODD)
def test_one_call_is_one_call(name: str) -> None:
    assert called([HEAD, *ODD[name], *TAIL], "openai-chat") == TWO[:1]


SEVERAL = {
    "several calls in one delta": [
        calls(call(0, "f", "a", '{"x":1}'), call(1, "g", "b", '{"y":2}'))
    ],
    "pieces of several calls in one delta": [
        calls(call(0, "f", "a"), call(1, "g", "b")),
        calls(call(0, text='{"x":1}'), call(1, text='{"y":2}')),
    ],
    "a constant index": [calls(call(0, "f", "a", '{"x":1}')), calls(call(0, "g", "b", '{"y":2}'))],
    "no index and whole calls": [
        calls(call(None, "f", "a", '{"x":1}')),
        calls(call(None, "g", "b", '{"y":2}')),
    ],
    "indices from one": [calls(call(1, "f", "a", '{"x":1}')), calls(call(2, "g", "b", '{"y":2}'))],
}


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini", "ollama"])
def test_several_calls_are_several(name: str, target: str) -> None:
    out, _ = translated([HEAD, *SEVERAL[name], *TAIL], "openai-chat", target)
    assert called(out, target) == TWO


def head(nth: int, **said: Json) -> Json:
    """Return a piece of a call that says what is given, and nothing else."""
    of_call = {key: said.pop(key) for key in ("id", "type") if key in said}
    return {"index": nth, **of_call, **({"function": said} if said else {})}


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "openai-responses", "gemini"])
@pytest.mark.parametrize(
    "pieces",
    [
        [head(0, id="a", type="function"), head(0, name="f"), head(0, arguments='{"x":1}')],
        [head(0, id="a"), head(0, name="f", arguments='{"x":1}')],
        [head(0, id="a", name="", arguments=""), head(0, name="f"), head(0, arguments='{"x":1}')],
        [head(0, id="a", name=None, arguments='{"x"'), head(0, name="f", arguments=":1}")],
        [head(0, id="a", arguments='{"x"'), head(0, id="a", name="f", arguments=":1}")],
        [head(0, name="", arguments='{"x"'), head(0, id="a", name="f", arguments=":1}")],
    ],
)
def test_a_call_of_which_the_name_comes_by_itself_is_told_with_it(
    pieces: list[Json], target: str
) -> None:
    frames = [*(calls(piece) for piece in pieces), chunk({}, "tool_calls")]
    out, made = translated(frames, "openai-chat", target)
    want = [("a", "f", {"x": 1})]
    assert called(out, target) == want
    assert {note.code for note in made.notes if note.severity != "info"} <= set()


def test_calls_of_which_the_names_come_by_themselves_stay_apart() -> None:
    pieces = [head(0, id="a"), head(1, id="b"), head(0, name="f"), head(1, name="g")]
    pieces += [head(1, arguments="{}"), head(0, arguments='{"x":1}'), head(2, id="c")]
    frames = [*(calls(piece) for piece in pieces), chunk({}, "tool_calls")]
    out, made = translated(frames, "openai-chat", "openai-chat")
    assert out == frames
    out, made = translated(frames, "openai-chat", "anthropic")
    assert [one[0] for one in called(out, "anthropic")] == ["a", "b", "c"]
    assert called(out, "anthropic")[:2] == [("a", "f", {"x": 1}), ("b", "g", {})]
    assert "renamed" in codes(made)  # of the call that has none


def test_an_id_that_comes_behind_the_name_of_its_call_is_told() -> None:
    pieces = [head(0, name="f", arguments=""), head(0, id="a"), head(0, arguments='{"x":1}')]
    frames = [*(calls(piece) for piece in pieces), chunk({}, "tool_calls")]
    out, made = translated(frames, "openai-chat", "anthropic")
    assert [one[1:] for one in called(out, "anthropic")] == [("f", {"x": 1})]
    assert "inconsistent" in codes(made)
    whole = RULES.collect(frames, "openai-chat")
    assert [call["id"] for call in whole["choices"][0]["message"]["tool_calls"]] == ["a"]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini"])
def test_a_call_of_which_the_head_is_lost_has_the_name_that_its_item_says(target: str) -> None:
    item = {"id": "fc", "type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    kind, where = "response.function_call_arguments", {"item_id": "fc", "output_index": 0}
    whole = {"id": "r", "model": "m", "status": "completed", "output": [item]}
    frames: list[Json] = [
        {"type": f"{kind}.delta", **where, "delta": "{}"},
        {"type": f"{kind}.done", **where, "arguments": "{}"},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    out, made = translated(frames, "openai-responses", target)
    assert called(out, target) == [("a", "f", {})]
    assert "inconsistent" in codes(made)
    del item["call_id"]
    ((made_id, *told),) = called(translated(frames, "openai-responses", target)[0], target)
    assert made_id.startswith("call_") and told == ["f", {}]


def test_a_call_that_is_said_once_more_without_its_id_keeps_that() -> None:
    item = {"id": "fc", "type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    more = {key: value for key, value in item.items() if key != "call_id"}
    frames: list[Json] = [
        {"type": "response.output_item.done", "output_index": 0, "item": one}
        for one in (item, more)
    ]
    out, made = translated(frames, "openai-responses", "openai-chat")
    assert called(out, "openai-chat") == [("a", "f", {})]
    assert made.result.body["choices"][0]["message"]["tool_calls"][0]["id"] == "a"


@pytest.mark.parametrize("target", ["anthropic", "openai-responses", "gemini"])
def test_a_piece_of_a_call_that_was_whole_is_noted_where_its_end_was_written(target: str) -> None:
    pieces = [head(0, id="a", name="f", arguments="{}"), head(1, id="b", name="g", arguments="{")]
    pieces += [head(0, arguments="}"), head(1, arguments="}")]
    out, made = translated([*map(calls, pieces), STOP], "openai-chat", target)
    assert called(out, target) == [("a", "f", {}), ("b", "g", {})]
    assert ("no-place", "/0") in {(note.code, note.source_path) for note in made.notes}


@pytest.mark.parametrize("end", [[], [chunk({}, "stop")]])
def test_a_text_of_blanks_alone_ends_where_parts_have_addresses(end: list[Json]) -> None:
    frames = [chunk({"role": "assistant", "content": " "}), *end]
    out, made = translated(frames, "mistral", "cohere")
    assert "empty-text" in codes(made)
    assert [one["type"] for one in out] == ["message-start", *(["message-end"] if end else [])]


def test_a_whole_call_in_the_head_of_a_part_is_over_once() -> None:
    piece = head(1, id="b", name="g", arguments={"x": 1})
    frames = [calls(head(0, id="a", name="f", arguments="{}"), piece), STOP]
    out, _ = translated(frames, "mistral", "openai-chat")
    assert called(out, "openai-chat") == [("a", "f", {}), ("b", "g", {"x": 1})]


def test_whole_calls_with_a_constant_index_and_no_id_are_several() -> None:
    frames = [calls(call(0, "f", text='{"x":1}')), calls(call(0, "g", text='{"y":2}'))]
    found = called([HEAD, *frames, *TAIL], "openai-chat")
    assert [c[1:] for c in found] == [c[1:] for c in TWO]
    assert len({c[0] for c in found}) == 2


@pytest.mark.parametrize("again", [{"name": ""}, {"id": "a", "name": "f"}])
def test_whole_calls_at_one_place_are_several_of_one_function(again: Json) -> None:
    name = {k: v for k, v in again.items() if k != "id"}
    more = {"index": 0, **{k: v for k, v in again.items() if k == "id"}}
    pieces = [{**more, "function": {**name, "arguments": text}} for text in ('{"x":1}', '{"x":2}')]
    frames = [HEAD, calls(call(0, "f", "a")), *map(calls, pieces), *TAIL]
    found = called(translated(frames, "openai-chat", "anthropic")[0], "anthropic")
    assert [c[1:] for c in found] == [("f", {"x": 1}), ("f", {"x": 2})]
    assert len({c[0] for c in found}) == 2


def test_a_call_that_is_said_once_more_in_other_words_is_none_of_its_own() -> None:
    frames = [calls(call(0, "f", "a", text)) for text in ('{"x":1}', '{"x": 1}')]
    assert len(called([HEAD, *frames, *TAIL], "openai-chat")) == 1


def test_a_piece_of_a_call_that_says_nothing_is_not_noted() -> None:
    empty: list[Json] = [
        {"index": 0, "function": {"name": None, "arguments": None}},
        {"index": 0, "id": "", "type": "function", "function": {}},
    ]
    frames = [HEAD, calls(call(0, "f", "a", "{}")), *map(calls, empty), *TAIL]
    out, t = translated(frames, "openai-chat", "anthropic")
    assert called(out, "anthropic") == [("a", "f", {})]
    assert "unfit" not in codes(t)


@pytest.mark.parametrize("target", DIALECTS[1:])
def test_a_call_without_arguments_has_none(target: str) -> None:
    out, t = translated([HEAD, calls(call(0, "f", "a")), *TAIL], "openai-chat", target)
    assert [c[1:] for c in called(out, target)] == [("f", {})]
    assert accepted(out, t.result.body, target) == ""


def test_a_call_without_arguments_is_sent_as_an_empty_object_to_who_parses_text() -> None:
    there, _ = translated([HEAD, calls(call(0, "f", "a")), *TAIL], "openai-chat", "anthropic")
    empty = [f for f in there if f.get("delta", {}).get("partial_json") != "{}"]
    out, _ = translated(empty, "anthropic", "openai-chat")
    text = "".join(
        c["function"]["arguments"]
        for f in out[:-1]
        for choice in f["choices"]
        for c in choice["delta"].get("tool_calls", [])
    )
    assert text == "{}"


def test_a_piece_of_nothing_is_no_event_of_its_own() -> None:
    there, _ = translated([HEAD, calls(call(0, "f", "a", "{}")), *TAIL], "openai-chat", "anthropic")
    empty = {"type": "input_json_delta", "partial_json": ""}
    at = next(i for i, f in enumerate(there) if f["type"] == "content_block_delta")
    frames = [*there[:at], {**there[at], "delta": empty}, *there[at:]]
    t = RULES.translator(source="anthropic", target="openai-chat")
    made = [t.feed(frame) for frame in frames]
    assert made[at] == [] and "unknown-key" not in codes(t)


@pytest.mark.parametrize("target", DIALECTS[1:])
@pytest.mark.parametrize(
    "tail",
    [
        [STOP, USAGE, "[DONE]"],
        [USAGE, STOP, "[DONE]"],
        [chunk({}, "tool_calls", usage=COUNTS), "[DONE]"],
        [STOP, STOP, USAGE, "[DONE]"],
        [{**HEAD, "choices": []}, STOP, USAGE, "[DONE]"],
        [STOP, USAGE],
    ],
    ids=["after", "before", "together", "finished twice", "no choices", "no end mark"],
)
def test_usage_and_finish_come_in_any_order(tail: list[Json], target: str) -> None:
    out, t = translated([HEAD, calls(call(0, "f", "a", "{}")), *tail], "openai-chat", target)
    usage = folded(out, target)["usage"]
    assert (usage["input"], usage["output"]) == (3, 4)
    if tail[-1] != "[DONE]":
        assert "cut-short" in codes(t)
    assert (
        t.result.body
        == RULES.convert(
            RULES.collect([HEAD, calls(call(0, "f", "a", "{}")), *tail], "openai-chat"),
            "openai-chat",
            target,
            unit="response",
        ).body
    )


@pytest.mark.parametrize("target", ["gemini", "anthropic"])
def test_counts_are_written_of_a_stream_that_ends_without_a_reason(target: str) -> None:
    frames = [HEAD, calls(call(0, "f", "a", "{}")), USAGE, "[DONE]"]
    out, t = translated(frames, "openai-chat", target)
    assert folded(out, target)["usage"]["output"] == 4
    assert "cut-short" in codes(t)


def ending(dialect: str, word: Json) -> list[Json]:
    """Return a stream that stops for a reason of this word."""
    if dialect == "openai-chat":
        return [HEAD, chunk({"content": "a"}), chunk({}, word), "[DONE]"]
    if dialect == "gemini":
        return [gemini({"text": "a"}, finish=word)]
    if dialect == "ollama":
        said = {"model": "m", "message": {"role": "assistant", "content": "a"}}
        return [{**said, "done": True, "done_reason": word}]
    frames = [*ANTHROPIC]
    frames[-2] = {**frames[-2], "delta": {"stop_reason": word, "stop_sequence": None}}
    return frames


@pytest.mark.parametrize(
    ("dialect", "word"),
    [
        ("openai-chat", "function_call"),
        ("openai-chat", "new_word"),
        ("anthropic", "new_word"),
        ("gemini", "IMAGE_SAFETY"),
        ("gemini", "ESCALATION"),
        ("gemini", 1),
        ("ollama", "load"),
    ],
)
def test_a_stop_of_another_word_comes_home_as_it_was_and_is_noted_abroad(
    dialect: str, word: Json
) -> None:
    whole = RULES.collect(ending(dialect, word), dialect)
    owner = whole.get("choices", whole.get("candidates", [whole]))[0]
    assert word in owner.values()
    _, t = translated(ending(dialect, word), dialect, "openai-responses")
    noted = [n.source_path for n in t.notes if n.code == "reworded"]
    assert noted and all(path and "reason" in path.lower() for path in noted)


def test_words_after_the_finish_are_heard_and_the_finish_is_said_once() -> None:
    frames = [HEAD, chunk({"content": "a"}), chunk({}, "stop"), chunk({"content": "b"}), "[DONE]"]
    out, _ = translated(frames, "openai-chat", "anthropic")
    assert [f["type"] for f in out].count("message_delta") == 1
    assert parts(out, "anthropic") == [{"type": "text", "text": "ab"}]


def test_frames_after_the_end_are_left_out_and_noted() -> None:
    frames = [HEAD, chunk({"content": "a"}), chunk({}, "stop"), "[DONE]", chunk({"content": "b"})]
    out, t = translated(frames, "openai-chat", "anthropic")
    assert out[-1]["type"] == "message_stop"
    assert parts(out, "anthropic") == [{"type": "text", "text": "a"}]
    assert "after-end" in codes(t)


def test_nothing_follows_an_error_abroad_and_what_came_behind_it_is_noted() -> None:
    first, second = ({"error": {"message": word, "type": "server_error"}} for word in "ab")
    late = [calls(call(0, "f", "c", "{}")), chunk({}, "tool_calls"), "[DONE]"]
    out, t = translated(
        [HEAD, chunk({"content": "a"}), first, second, *late], "openai-chat", "anthropic"
    )
    assert out[-1]["type"] == "error"
    lost = [(n.source_path, n.message) for n in t.notes if n.code == "no-place"]
    assert ("/3", "an error ended the stream before this one came") in lost
    assert any("an error ended the stream before this part did" in told for _, told in lost)


def test_a_stream_that_breaks_off_is_told_and_what_came_is_kept() -> None:
    frames = [HEAD, chunk({"content": "a"}), calls(call(0, "f", "a", '{"x"'))]
    out, t = translated(frames, "openai-chat", "anthropic")
    assert "cut-short" in codes(t)
    assert {"message_delta", "message_stop"}.isdisjoint({f["type"] for f in out})
    assert blocks(out) == ""
    content = t.result.body["content"]
    assert content[0] == {"type": "text", "text": "a"}
    assert content[1]["input"] == {"_unparsed": '{"x"'}


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_error_in_the_middle_is_an_error_of_the_target(source: str, target: str) -> None:
    wrong = RULES[source].write({"kind": "server", "message": "No."}, unit="error").body
    there = [HEAD, chunk({"content": "a"})]
    frames = there if source == "openai-chat" else translated(there, "openai-chat", source)[0]
    out, t = translated([*frames, wrong], source, target)
    read = RULES[target].read(out[-1], unit="error").ir
    assert read["message"] == "No."
    assert t.error is not None and t.error["message"] == "No."
    assert "a" in json.dumps(t.result.body)


OTHER_FORMS: dict[str, Json] = {
    "as OpenAI": {"error": {"message": "No.", "type": "x", "code": 500}},
    "as Anthropic": {"type": "error", "error": {"type": "x", "message": "No."}},
    "a text": {"error": "No."},
    "called so": {"object": "error", "message": "No.", "code": 3},
    "several": {"errors": [{"message": "No."}]},
    "of a framework": {"detail": "No."},
}
STREAMED = [n for n in RULES.dialects if (m := RULES[n].model).stream and "error" in m.units]


@pytest.mark.parametrize("source", STREAMED)
def test_an_error_in_another_form_is_one_in_a_stream_too(source: str) -> None:
    """What stands beside its message is noted, and at home the frame comes back."""
    target = "gemini" if source == "anthropic" else "anthropic"
    for form, frame in OTHER_FORMS.items():
        t = RULES.translator(source, target)
        out = t.feed(frame) + t.finish()
        assert t.error is not None and t.error["message"] == "No.", form
        assert RULES[target].read(out[-1], unit="error").ir["message"] == "No."
        assert {"unknown-frame", "cut-short"}.isdisjoint(codes(t))
        home = RULES.translator(source, source)
        assert home.feed(frame) + home.finish() == [frame]
        assert home.error == t.error
    told = RULES.translator("mistral", target)
    told.feed(OTHER_FORMS["as OpenAI"])
    told.finish()
    assert {"/0/error/type", "/0/error/code"} <= {note.source_path for note in told.notes}


@pytest.mark.parametrize(("code", "kind"), [(0, None), (2056, "rate_limit"), (1, None)])
def test_a_status_that_is_none_of_success_is_an_error_of_minimax(
    code: int, kind: str | None
) -> None:
    t = RULES.translator("minimax", "anthropic")
    frame = {"id": "c", "choices": None, "base_resp": {"status_code": code, "status_msg": "No."}}
    t.feed(frame)
    assert t.error == (kind and {"kind": kind, "message": "No."})


@pytest.mark.parametrize(
    "frame", [{"zzz": 1}, {"message": {"a": 1}}, {"error": None}, {"reason": "a"}]
)
def test_a_frame_that_calls_nothing_an_error_is_none(frame: Json) -> None:
    t = RULES.translator("mistral", "anthropic")
    t.feed(frame)
    assert t.error is None


@pytest.mark.parametrize(
    "usage", [None, {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}]
)
def test_counts_that_no_frame_had_are_noted_where_a_whole_wants_them(usage: Json) -> None:
    last = {**chunk({}, "stop"), **({"usage": usage} if usage else {})}
    frames = [chunk({"role": "assistant", "content": "a"}), last, "[DONE]"]
    out, t = translated(frames, "mistral", "mistral")
    assert out == frames
    none = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    assert t.result.body["usage"] == usage or none
    told = [(note.code, note.target_path) for note in t.result.notes]
    assert told == ([] if usage else [("filled-in", "/usage")])


@pytest.mark.parametrize("target", ["bedrock-converse", "gemini", "anthropic"])
def test_what_a_whole_cannot_hold_is_noted_at_its_first_frame(target: str) -> None:
    thought = {"delta": {"reasoningContent": {"text": "Hm."}}, "contentBlockIndex": 0}
    frames = [{"messageStart": {"role": "assistant"}}, {"contentBlockDelta": thought}]
    t = RULES.translator(
        "bedrock-converse", target, model="anthropic.claude-sonnet-4-5-20250929-v1:0"
    )
    for frame in frames:
        t.feed(frame)
    t.finish()
    [lost] = [note for note in t.result.notes if note.code == "no-place"]
    assert (lost.effect, lost.source_path) == ("lost", "/1")


def test_pings_say_nothing() -> None:
    there, _ = translated(INTERLEAVED, "openai-chat", "anthropic")
    frames = [new for f in there for new in ({"type": "ping"}, f)]
    out, t = translated(frames, "anthropic", "openai-chat")
    assert out == translated(there, "anthropic", "openai-chat")[0]
    assert "unknown-frame" not in codes(t)


def test_several_candidates_stay_apart() -> None:
    frames = [
        HEAD,
        chunk({"content": "a"}),
        chunk({"content": "b"}, nth=1),
        chunk({"content": "A"}),
        chunk({"content": "B"}, nth=1),
        chunk({}, "stop", nth=1),
        chunk({}, "length"),
        "[DONE]",
    ]
    out, _ = translated(frames, "openai-chat", "gemini")
    ir = folded(out, "gemini")
    assert [c["parts"][0]["text"] for c in ir["candidates"]] == ["aA", "bB"]
    assert [c["stop_reason"] for c in ir["candidates"]] == ["max_tokens", "end_turn"]
    out, t = translated(frames, "openai-chat", "anthropic")
    assert parts(out, "anthropic") == [{"type": "text", "text": "aA"}]
    assert "no-place" in codes(t)


def test_a_refusal_becomes_text_where_there_is_none() -> None:
    frames = [HEAD, chunk({"refusal": "N"}), chunk({"refusal": "o."}), chunk({}, "stop"), "[DONE]"]
    assert parts(frames, "openai-chat") == [{"type": "refusal", "text": "No."}]
    out, t = translated(frames, "openai-chat", "anthropic")
    assert parts(out, "anthropic") == [{"type": "text", "text": "No."}]
    assert "refusal-as-text" in codes(t)


# -- Anthropic and Gemini -------------------------------------------------------------------------


def block(nth: int, start: Json, *deltas: Json) -> Iterator[Json]:
    yield {"type": "content_block_start", "index": nth, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": nth, "delta": delta}
    yield {"type": "content_block_stop", "index": nth}


MESSAGE: Json = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
    "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 1},
}  # fmt: skip
THINKING = block(
    0,
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "H"},
    {"type": "thinking_delta", "thinking": "m."},
    {"type": "signature_delta", "signature": "c2ln"},
)
CITATION = {
    "type": "char_location", "cited_text": "x", "document_index": 0, "document_title": None,
    "start_char_index": 0, "end_char_index": 1,
}  # fmt: skip
CITED = block(
    1,
    {"type": "text", "text": ""},
    {"type": "text_delta", "text": "Hi"},
    {"type": "citations_delta", "citation": CITATION},
)
SEARCH = block(
    2,
    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
    {"type": "input_json_delta", "partial_json": '{"q":'},
    {"type": "input_json_delta", "partial_json": '"x"}'},
)
REDACTED = block(3, {"type": "redacted_thinking", "data": "cmVk"})
ANTHROPIC = [
    {"type": "message_start", "message": MESSAGE},
    *THINKING,
    *CITED,
    *SEARCH,
    *REDACTED,
    {
        "type": "message_delta",
        "delta": {"stop_reason": "stop_sequence", "stop_sequence": "END"},
        "usage": {"output_tokens": 5},
    },
    {"type": "message_stop"},
]


def test_a_stream_of_anthropic_folds_to_what_the_whole_would_say() -> None:
    body = RULES.collect(ANTHROPIC, "anthropic")
    assert body["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "Hi", "citations": [CITATION]},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}},
        {"type": "redacted_thinking", "data": "cmVk"},
    ]
    assert (body["stop_reason"], body["stop_sequence"]) == ("stop_sequence", "END")
    assert body["usage"] == {"input_tokens": 9, "output_tokens": 5}


@pytest.mark.parametrize("target", ["openai-chat", "gemini", "ollama"])
def test_reasoning_flows_where_it_has_a_place_and_signatures_stay_at_home(target: str) -> None:
    out, t = translated(ANTHROPIC, "anthropic", target)
    shown = json.dumps(out)
    assert ("H" in shown and '"m."' in shown) == (target != "openai-chat")
    assert "c2ln" not in shown and "cmVk" not in shown
    assert (
        t.result.body
        == RULES.convert(
            RULES.collect(ANTHROPIC, "anthropic"), "anthropic", target, unit="response"
        ).body
    )


CANNOT = "no frame can say why it stopped"
SIGNED = {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "c2ln"}


def gemini(*made: Json, **more: Json) -> Json:
    candidate = {"index": 0, "content": {"role": "model", "parts": list(made)}}
    if "finish" in more:
        candidate["finishReason"] = more.pop("finish")
    return {"candidates": [candidate], "responseId": "r", "modelVersion": "m", **more}


def test_a_stream_of_gemini_folds_to_what_the_whole_would_say() -> None:
    frames = [
        gemini({"text": "H", "thought": True}, usageMetadata={"promptTokenCount": 9}),
        gemini({"text": "m.", "thought": True}),
        gemini({"text": "A"}, {"text": "B"}, SIGNED),
        gemini({"functionCall": {"name": "g", "args": {}}}, {"text": "C"}),
        gemini({"text": "", "thoughtSignature": "ZW5k"}, finish="STOP",
               usageMetadata={"promptTokenCount": 9, "candidatesTokenCount": 2,
                              "totalTokenCount": 11}),
    ]  # fmt: skip
    body = RULES.collect(frames, "gemini")
    assert body["candidates"][0]["content"]["parts"] == [
        {"text": "Hm.", "thought": True},
        {"text": "AB"},
        SIGNED,
        {"functionCall": {"name": "g", "args": {}}},
        {"text": "C", "thoughtSignature": "ZW5k"},
    ]
    assert body["usageMetadata"]["totalTokenCount"] == 11
    out, t = translated(frames, "gemini", "anthropic")
    ids = [
        f["content_block"]["id"]
        for f in out
        if f.get("content_block", {}).get("type") == "tool_use"
    ]
    assert ids == [b["id"] for b in t.result.body["content"] if b["type"] == "tool_use"]
    # They are the ids that a whole response gets.
    whole = RULES.convert(body, "gemini", "anthropic", unit="response").body
    assert ids == [b["id"] for b in whole["content"] if b["type"] == "tool_use"]


@pytest.mark.parametrize("more", [{}, {"thought": True}])
def test_what_comes_behind_a_signature_is_another_part(more: Json) -> None:
    said = [("A", None), ("B", "c2ln"), ("C", None), ("D", None), ("", "ZW5k")]
    frames = [
        gemini({"text": text, **more, **({"thoughtSignature": sig} if sig else {})})
        for text, sig in said
    ]
    body = RULES.collect(frames, "gemini")
    signed = [("AB", "c2ln"), ("CD", "ZW5k")]
    assert body["candidates"][0]["content"]["parts"] == [
        {"text": text, **more, "thoughtSignature": sig} for text, sig in signed
    ]
    assert translated(frames, "gemini", "gemini")[1].result.body == body
    out, t = translated(frames, "gemini", "anthropic")
    texts = [] if more else ["AB", "CD"]  # thoughts of Gemini are none of Claude's
    assert [block["text"] for block in t.result.body["content"]] == texts
    assert parts(out, "anthropic") == parts(
        list(RULES.frames(t.result.body, "anthropic")), "anthropic"
    )


def value(path: str, **said: Json) -> Json:
    return {"jsonPath": path, **said}


def test_arguments_come_value_by_value() -> None:
    head = {"functionCall": {"name": "f", "willContinue": True}, "thoughtSignature": "c2ln"}

    def more(*values: Json, **said: Json) -> Json:
        made = {"partialArgs": list(values), **said}
        return gemini({"functionCall": {k: v for k, v in made.items() if v is not None}})

    frames = [
        gemini(head),
        more(value("$.city", stringValue="Lis", willContinue=True), willContinue=True),
        more(
            value("$.city", stringValue="bon"),
            value("$.days[1].n", numberValue=2),
            willContinue=True,
        ),
        more(willContinue=True, partialArgs=None),
        more(value("$['a b']", boolValue=False), value("$.none", nullValue="NULL_VALUE")),
        gemini({"functionCall": {}}),
        gemini({"functionCall": {"name": "g", "args": {"x": 1}}}),
        gemini({"functionCall": {"name": "h", "willContinue": True}}),
        more(value("x", stringValue="?")),
        gemini(finish="STOP"),
    ]
    meant = {"city": "Lisbon", "days": [None, {"n": 2}], "a b": False, "none": None}
    assert [c[1:] for c in called(frames, "vertex")] == [("f", meant), ("g", {"x": 1}), ("h", {})]
    out, t = translated(frames, "vertex", "anthropic")
    assert [c[1:] for c in called(out, "anthropic")] == [("f", meant), ("g", {"x": 1}), ("h", {})]
    assert accepted(out, t.result.body, "anthropic") == ""
    assert [n.source_path for n in t.notes if n.code == "unfit"] == ["/8"]
    assert called(frames, "gemini") == called(frames, "vertex")


@pytest.mark.parametrize(("model", "known"), [("gemini-3-pro", True), ("gemini-2.5-pro", False)])
def test_the_model_that_the_first_frame_names_chooses_the_variants(model: str, known: bool) -> None:
    frames = [{**HEAD, "model": model}, calls(call(0, "f", "a", "{}")), *TAIL]
    out, t = translated(frames, "openai-chat", "vertex")
    made = out[0]["candidates"][0]["content"]["parts"][0]["functionCall"]
    assert ("id" in made) == known
    whole = RULES.collect(frames, "openai-chat")
    assert t.result.body == RULES.convert(whole, "openai-chat", "vertex", unit="response").body
    again = list(RULES.frames(t.result.body, "vertex"))
    assert ("id" in json.dumps(again[0]["candidates"])) == known


def test_ids_that_were_made_are_those_of_the_result_even_without_an_id_of_the_response() -> None:
    line = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": False}
    asked = {"function": {"name": "f", "arguments": {"x": 1}}}
    frames = [
        {**line, "message": {"role": "assistant", "content": "", "tool_calls": [asked, asked]}},
        {**line, "done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 4},
    ]
    out, t = translated(frames, "ollama", "openai-chat")
    made = called(out, "openai-chat")
    assert len({c[0] for c in made}) == 2
    known = t.result.body["choices"][0]["message"]["tool_calls"]
    assert [c[0] for c in made] == [c["id"] for c in known]
    assert "id" not in json.dumps(RULES.collect(frames, "ollama"))


# -- streams that broke other converters ---------------------------------------------------------

TABLE = yaml.safe_load((Path(__file__).parent / "cases" / "streams.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case["id"])
def test_a_stream_that_broke_others_is_right(case: dict[str, Json]) -> None:
    out, t = translated(case["frames"], case["source"], case["target"])
    plain = [{k: v for k, v in p.items() if k != "own"} for p in parts(out, case["target"])]
    assert plain == case["parts"]
    assert accepted(out, t.result.body, case["target"]) == ""
    usage = folded(out, case["target"]).get("usage", {})
    assert {key: usage.get(key) for key in case.get("usage", {})} == case.get("usage", {})
    assert out[-1] == case.get("last", out[-1])
    if "types" in case:
        assert [frame["type"] for frame in out] == case["types"]
        assert [frame["sequence_number"] for frame in out] == [*range(len(out))]
    if "finishes" in case:
        ends = [
            f for f in out if f != "[DONE]" and f["choices"] and f["choices"][0]["finish_reason"]
        ]
        assert len(ends) == case["finishes"]
    assert set(case.get("notes", ())) <= codes(t)
    counted = case.get("counted")
    found = [{k: f.get(k) for k in counted} for f in out if "usage" in f] if counted else [counted]
    assert found == [counted]


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize(
    "case", [case for case in TABLE["cases"] if "only" not in case], ids=lambda case: case["id"]
)
def test_a_stream_that_broke_others_is_right_for_every_target(
    case: dict[str, Json], target: str
) -> None:
    out, t = translated(case["frames"], case["source"], target)
    found, meant = (
        [{k: v for k, v in p.items() if k != "id" or target != "vertex"} for p in one]
        for one in (parts(out, target), case["parts"])
    )
    assert found == meant
    assert target == case["source"] or accepted(out, t.result.body, target) == ""


def test_each_text_that_lacks_a_piece_is_told_where_no_result_is_asked_for() -> None:
    shown = {"type": "output_text", "text": "", "annotations": []}
    frames: list[Json] = []
    for nth in range(6):
        at = {"item_id": f"m{nth}", "output_index": nth, "content_index": 0}
        item = {"id": f"m{nth}", "type": "message", "role": "assistant"}
        body = {"output_index": nth, "item": {**item, "status": "in_progress", "content": []}}
        done = {**item, "status": "completed", "content": [{**shown, "text": "lo"}]}
        frames += [
            {"type": "response.output_item.added", **body},
            {"type": "response.content_part.added", **at, "part": shown},
            {"type": "response.output_text.delta", **at, "delta": "lo"},
            {"type": "response.output_text.done", **at, "text": "Hello"},
            {"type": "response.output_item.done", "output_index": nth, "item": done},
        ]
    t = RULES.translator("openai-responses", "openai-chat", result=False)
    for number, frame in enumerate(frames):
        t.feed({**frame, "sequence_number": number})
    t.finish()
    told = [note.source_path for note in t.notes if note.code == "inconsistent"]
    assert told == [f"/{number}" for number in range(3, len(frames), 5)]


@pytest.mark.parametrize("reason", [["end_turn"], {"a": 1}])
def test_a_stop_of_another_type_is_kept_at_home_and_told_abroad(reason: Json) -> None:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    frames: list[Json] = [
        {"type": "message_start", "message": message},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    assert translated(frames, "anthropic", "anthropic")[0] == frames
    assert "unfit" in codes(translated(frames, "anthropic", "openai-chat")[1])


@pytest.mark.parametrize("target", ["gemini", "vertex", "gemini-interactions"])
def test_a_result_without_a_name_is_in_a_stream_what_it_is_as_a_whole(target: str) -> None:
    item = {"type": "function_call_output", "id": "i", "call_id": "c", "status": "completed"}
    body = {"id": "r", "model": "m", "status": "completed", "output": [{**item, "output": "{}"}]}
    out, t = translated(list(RULES.frames(body, "openai-responses")), "openai-responses", target)
    (found,) = (p for p in parts(out, target) if p["type"] == "tool_result")
    (whole,) = RULES[target].read(t.result.body, unit="response").ir["candidates"][0]["parts"]
    assert (found["kind"], found["value"]) == (whole["kind"], whole["value"]) == ("data", {})


def test_an_end_that_is_empty_takes_back_nothing_that_was_said() -> None:
    item = {"type": "function_call", "id": "i", "call_id": "c", "name": "f", "arguments": ""}
    said = {"type": "message", "id": "j", "role": "assistant", "status": "completed"}
    items = [{**item, "arguments": '{"x":1}'}, {**said, "content": [
        {"type": "output_text", "text": "Hi", "annotations": []}]}]  # fmt: skip
    body = {"id": "r", "created_at": 1, "model": "m", "status": "completed", "output": items}
    frames = list(RULES.frames(body, "openai-responses"))
    whole = RULES.collect(frames, "openai-responses")
    emptied = json.loads(json.dumps(frames))
    for frame in emptied:
        ends = [frame.get("item", {}), *frame.get("response", {}).get("output", ())]
        for one in ends if frame["type"].endswith((".done", ".completed")) else ():
            one |= {"name": "", "arguments": ""} if one.get("name") else {}
            for text in one.get("content", ()):
                text["text"] = ""
    assert RULES.collect(emptied, "openai-responses")["output"] == whole["output"]
    assert "inconsistent" in codes(translated(emptied, "openai-responses", "anthropic")[1])


def test_a_thought_of_which_nothing_but_its_signature_comes_is_there() -> None:
    detail = {"type": "reasoning.text", "signature": "s1", "format": "anthropic-claude-v1"}
    message = {"role": "assistant", "content": "Hi", "reasoning_details": [detail]}
    body = {"id": "c", "model": "m", "choices": [{"index": 0, "message": message}]}
    whole = RULES.collect(RULES.frames(body, "openrouter"), "openrouter")
    [found] = whole["choices"][0]["message"]["reasoning_details"]
    assert {k: v for k, v in found.items() if k != "text"} == detail


# -- laws -----------------------------------------------------------------------------------------

WHOLE: dict[str, Json] = {
    "openai-chat": {
        "id": "c1", "object": "chat.completion", "created": 7, "model": "m",
        "choices": [{"index": 0, "message": {
            "role": "assistant", "content": "Let me see.", "refusal": None,
            "tool_calls": [
                {"id": "a", "type": "function",
                 "function": {"name": "f", "arguments": '{"x": 1}'}},
                {"id": "b", "type": "function",
                 "function": {"name": "g", "arguments": '{"y":[{}]}'}},
            ]}, "logprobs": None, "finish_reason": "tool_calls"}],
        "usage": COUNTS, "service_tier": "default",
    },
    "anthropic": RULES.collect(ANTHROPIC, "anthropic"),
    "gemini": {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": [
            {"text": "Hm.", "thought": True}, {"text": "Let me see."},
            {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"id": "b", "name": "g", "args": {}}},
            {"executableCode": {"language": "PYTHON", "code": "1"}}]},
            "finishReason": "STOP", "safetyRatings": [{"category": "a", "probability": "b"}]}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7},
        "modelVersion": "m", "responseId": "r"},
    "ollama": {
        "model": "m", "created_at": "2026-11-21T00:00:00Z",
        "message": {"role": "assistant", "thinking": "Hm.", "content": "Let me see.",
                    "tool_calls": [
                        {"id": "a", "function": {"index": 0, "name": "f", "arguments": {"x": 1}}},
                        {"id": "b", "function": {"index": 1, "name": "g", "arguments": {}}}]},
        "done": True, "done_reason": "stop", "total_duration": 5, "prompt_eval_count": 3,
        "eval_count": 4},
}  # fmt: skip
WHOLE["vertex"] = json.loads(json.dumps(WHOLE["gemini"]))
del WHOLE["vertex"]["candidates"][0]["content"]["parts"][3]["functionCall"]["id"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_frames_of_a_response_fold_to_it(dialect: str) -> None:
    frames = list(RULES.frames(WHOLE[dialect], dialect))
    assert RULES.collect(frames, dialect) == WHOLE[dialect]
    assert len(frames) > 3
    assert accepted(frames, WHOLE[dialect], dialect) == ""


def test_what_no_frame_can_hold_of_a_whole_is_told() -> None:
    call = {"id": "c1", "type": "function", "index": 0, "function": {"name": "f", "arguments": ""}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    head = {"id": "c", "object": "chat.completion", "created": 7, "model": "m"}
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls"}
    notes: list[wireglot.Note] = []
    assert list(framed(RULES, {**head, "choices": [choice]}, "glm", notes))
    assert [(note.code, note.effect) for note in notes] == [("no-place", "lost")]


def test_fields_of_a_response_that_no_frame_holds_are_told() -> None:
    head = {"id": "c", "object": "chat.completion", "created": 7, "model": "m"}
    said = {"role": "assistant", "content": "Hi"}
    choice: Json = {"index": 0, "message": said, "finish_reason": "stop"}
    notes: list[wireglot.Note] = []
    whole = {**head, "choices": [choice], "metadata": {"a": "b"}}
    assert list(framed(RULES, whole, "openai-chat", notes))
    assert [(note.code, note.source_path) for note in notes] == [("no-place", "/metadata")]
    done = {**choice, "message": {**said, "executed_tools": [{"index": 0}]}}
    notes.clear()
    assert list(framed(RULES, {**head, "choices": [done]}, "groq", notes))
    assert [note.source_path for note in notes] == ["/choices/0/message/executed_tools"]


@pytest.mark.parametrize("result", [True, False])
def test_what_only_the_whole_response_of_an_agent_says_is_noted_of_its_frames(result: bool) -> None:
    frames = list(RULES.frames(WHOLE["anthropic"], "anthropic"))
    t = RULES.translator(source="anthropic", target="agent-sdk", result=result)
    out = [new for frame in frames for new in t.feed(frame)] + t.finish()
    assert out[-1] == {"type": "final", "content": "Hi"}
    told = {note.message: note.source_path for note in t.notes if note.code == "no-place"}
    last = f"/{len(frames) - 2}"  # the frame that counts, and says why it stopped
    assert told["no frame of the target can hold `model`; its whole response does"] == "/0"
    assert told["no frame of the target can hold `usage`; its whole response does"] == last
    worded = [note.source_path for note in t.notes if note.code == "reworded"]
    assert worded == [f"{last}/delta/stop_reason"]


def test_what_the_target_has_no_place_for_is_noted_where_no_result_is_asked_for() -> None:
    whole = json.loads(json.dumps(WHOLE["openai-chat"]))
    whole["choices"][0]["message"]["refusal"] = "No."
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    searched = {**WHOLE["anthropic"], "content": [found]}
    for body, source, target, codes in (
        (whole, "openai-chat", "anthropic", {"no-place", "refusal-as-text"}),
        (searched, "anthropic", "ollama", {"no-place"}),
    ):
        t = RULES.translator(source=source, target=target, result=False)
        for frame in RULES.frames(body, source):
            t.feed(frame)
        t.finish()
        lost = {(note.code, note.message) for note in t.notes if note.code in codes}
        assert {code for code, _ in lost} == codes
        if source == "anthropic":
            assert ("no-place", "the target has no place for this finding") in lost


@pytest.mark.parametrize(("target", "between"), [("ollama", "\n\n"), ("gemini", "")])
def test_a_refusal_is_a_paragraph_where_texts_become_one(target: str, between: str) -> None:
    said = [{"type": "output_text", "text": "So.", "annotations": []}]
    said += [{"type": "refusal", "refusal": "No."}]
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    body = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    body |= {"output": [{**item, "content": said}]}
    out, _ = translated(list(RULES.frames(body, "openai-responses")), "openai-responses", target)
    assert json.dumps(f"So.{between}No.") in json.dumps(RULES.collect(out, target))


@pytest.mark.parametrize("result", [True, False])
@pytest.mark.parametrize("ends", [True, False])
def test_what_the_last_frame_says_is_noted_where_that_does_not_come(
    result: bool, ends: bool
) -> None:
    """Interactions say the time of an answer at its end alone."""
    whole = {**WHOLE["openai-chat"], "created": 7}
    frames = [one for one in RULES.frames(whole, "openai-chat") if "[DONE]" not in one]
    t = RULES.translator(source="openai-chat", target="gemini-interactions", result=result)
    out = [new for frame in (frames if ends else frames[:2]) for new in t.feed(frame)]
    before = [note for note in t.notes if "created" in note.message]
    out += t.finish()
    lost = [note for note in t.notes if "created" in note.message]
    assert (before, ["created" in str(out[-2])]) == ([], [ends])
    assert [(note.source_path, note.severity) for note in lost] == [("/0", "info")] * (not ends)


@pytest.mark.parametrize(
    ("target", "told"), [("mistral", False), ("cohere", False), ("openai-chat", True)]
)
def test_counts_that_stand_beside_a_reason_are_noted_where_none_is_said(
    target: str, told: bool
) -> None:
    said = {"model": "m", "created_at": "2026-01-31T12:00:00Z"}
    frames = [
        {**said, "message": {"role": "assistant", "content": "Hi"}, "done": False},
        {**said, "message": {"content": ""}, "done": True, "prompt_eval_count": 7, "eval_count": 3},
    ]
    out, t = translated(frames, "ollama", target)
    lost = [note.source_path for note in t.notes if "counts" in note.message]
    assert ('": 7,' in json.dumps(out), lost) == (told, [] if told else ["/1"])


def test_fields_that_only_a_whole_interaction_says_are_noted_of_its_frames() -> None:
    said = {"type": "model_output", "content": [{"type": "text", "text": "Hi"}]}
    whole: dict[str, Any] = {"id": "v1_1", "model": "m", "status": "completed", "steps": [said]}
    whole |= {"environment": {"x": 1}, "updated": "now"}
    notes: list[wireglot.Note] = []
    frames = list(RULES.frames(whole, "gemini-interactions", notes))
    assert "updated" in str(frames)
    assert [(note.effect, note.source_path) for note in notes] == [("repeated", "/environment")]


def test_a_word_that_is_filled_in_where_nothing_is_said_is_heard_as_well() -> None:
    frames = [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "role": "assistant", "delta": "Hi"},
        {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"},
    ]
    out, t = translated(frames, "ag-ui", "anthropic")
    assert t.result.body["stop_reason"] == "end_turn"
    assert out[-2]["delta"]["stop_reason"] == "end_turn"


@pytest.mark.parametrize("error", ["no such file", "what was printed"])
def test_what_a_frame_says_otherwise_than_the_whole_is_told(error: str) -> None:
    failed = {"id": "m", "role": "tool", "toolCallId": "c", "content": "what was printed"}
    whole: Json = {"threadId": "t", "runId": "r", "type": "RUN_FINISHED"}
    whole |= {"messages": [{**failed, "error": error}]}
    ir = RULES["ag-ui"].read(whole, "response").ir
    for home in (True, False):
        notes: list[wireglot.Note] = []
        list(unfolded(RULES["ag-ui"], ir, home, set(), notes))
        found = {(note.code, note.effect, str(note.rule).partition(":")[0]) for note in notes}
        assert ("ambiguous", "changed", "rules/ag-ui.yaml") in found


def test_what_no_frame_can_hold_is_noted_where_the_whole_has_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = {"audio": {"format": "mp3", "source": {"bytes": "aGk="}}}
    message = {"role": "assistant", "content": [{"text": "Hear:"}, sound]}
    whole: Json = {"output": {"message": message}, "stopReason": "end_turn"}
    notes: list[wireglot.Note] = []
    made = list(RULES.frames(whole, "bedrock-converse", notes))
    told = [(note.code, note.effect, note.source_path) for note in notes]
    assert told == [("no-place", "lost", "/output/message/content/1")]
    assert made == list(RULES.frames(whole, "bedrock-converse"))
    (tmp_path / "whole.json").write_text(json.dumps(whole), "utf-8")
    said = ("frames", "--dialect", "bedrock-converse", str(tmp_path / "whole.json"))
    assert cli.main([*said, "-o", str(tmp_path / "frames")]) == 0
    assert "/output/message/content/1" in capsys.readouterr().err
    cut: list[wireglot.Note] = []
    RULES.collect(made[:3], "bedrock-converse", cut)
    assert "cut-short" in {note.code for note in cut}
    collected = ("collect", "--dialect", "bedrock-converse", str(tmp_path / "frames"))
    assert cli.main([*collected, "--notes", "json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["output"]["message"]["content"] == [{"text": "Hear:"}]
    assert {note["code"] for note in json.loads(err)} <= {"filled-in"}


def pieces(value: Json, cut: Any) -> Iterator[Json]:
    """Yield a frame in pieces: what flows in it, cut at some places."""
    found = list(_flowing(value, ()))
    if not found:
        yield value
        return
    path, text = found[0]
    ends = sorted({0, len(text), *(cut.draw(st.lists(st.integers(0, len(text)), max_size=4)))})
    for start, end in pairwise(ends):
        yield _with(value, path, text[start:end])


FLOWS = ("content", "refusal", "arguments", "text", "thinking", "partial_json")


def _flowing(value: Json, at: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, dict):
        single = "tool_calls" in value or "id" in value
        for key, inner in value.items():
            if (
                key in FLOWS
                and isinstance(inner, str)
                and inner
                and not ("name" in value or single)
            ):
                yield (*at, key), inner
            elif key != "content_block":
                yield from _flowing(inner, (*at, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _flowing(inner, (*at, i))


def _with(value: Json, path: tuple[Any, ...], text: str) -> Json:
    copy = json.loads(json.dumps(value))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = text
    return copy


@settings(max_examples=width.times(40, 20), deadline=None, suppress_health_check=list(HealthCheck))
@given(cut=st.data(), dialect=st.sampled_from(DIALECTS))
def test_folding_equals_reading_the_whole_for_every_split(cut: Any, dialect: str) -> None:
    frames = [new for f in RULES.frames(WHOLE[dialect], dialect) for new in pieces(f, cut)]
    assert RULES.collect(frames, dialect) == WHOLE[dialect]


@settings(max_examples=width.times(60, 30), deadline=None, suppress_health_check=list(HealthCheck))
@given(cut=st.data(), pair=st.sampled_from(PAIRS))
def test_translating_and_folding_is_folding_and_converting(cut: Any, pair: tuple[str, str]) -> None:
    source, target = pair
    frames = [new for f in RULES.frames(WHOLE[source], source) for new in pieces(f, cut)]
    out, t = translated(frames, source, target)
    body = RULES.convert(WHOLE[source], source, target, unit="response").body
    made = t.result.body
    if source == "ollama":  # gives no id: one is made of the first frame, or of the whole
        same = [re.sub(r"[0-9a-f]{12}", "0", json.dumps(one)) for one in (out, made, body)]
        out, made, body = map(json.loads, same)
    assert made == body
    assert meaning(folded(out, target)) == meaning(RULES[target].read(body, unit="response").ir)
    assert accepted(out, body, target) == ""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_at_home_every_frame_comes_out_as_it_went_in(dialect: str) -> None:
    frames = [*RULES.frames(WHOLE[dialect], dialect), {"odd": [1, None]}]
    out, t = translated(frames, dialect, dialect)
    assert out == frames
    assert t.result.body == WHOLE[dialect]


# -- what is noted --------------------------------------------------------------------------------


def test_what_no_picture_names_is_noted_once() -> None:
    frames = [HEAD, {**chunk({"content": "a", "mood": 1}), "odd": {"x": 1}}, {"odd": 1}, *TAIL]
    frames[1:1] = [frames[1]]
    _, t = translated(frames, "openai-chat", "anthropic")
    found = [(n.code, n.source_path) for n in t.notes if n.code.startswith("unknown")]
    assert found == [
        ("unknown-key", "/1/choices/0/delta/mood"),
        ("unknown-key", "/1/odd/x"),
        ("unknown-frame", "/3"),
    ]


@pytest.mark.parametrize("target", DIALECTS)
def test_a_call_may_come_whole_in_the_frame_that_begins_it(target: str) -> None:
    start = {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}
    counts = {"output_tokens": 2}
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": counts}
    frames = [{"type": "message_start", "message": MESSAGE}, *block(0, start), end]
    out, t = translated([*frames, {"type": "message_stop"}], "anthropic", target)
    assert [c[1:] for c in called(out, target)] == [("f", {"x": 1})]
    assert accepted(out, t.result.body, target) == ""


@pytest.mark.parametrize("content", [None, {}, {"parts": []}, {"parts": [{"text": ""}]}])
def test_the_finish_of_gemini_is_heard_whatever_parts_stand_beside_it(content: Json) -> None:
    last: Json = {"finishReason": "MAX_TOKENS"}
    if content is not None:
        last["content"] = content
    frames = [gemini({"text": "a"}), {"candidates": [last]}]
    out, t = translated(frames, "gemini", "anthropic")
    assert t.result.body["stop_reason"] == "max_tokens"
    assert parts(out, "anthropic") == [{"type": "text", "text": "a"}]
    assert {"cut-short", "unknown-key"}.isdisjoint(codes(t))


RATED = [{"category": "a", "probability": "LOW"}]


@pytest.mark.parametrize(
    ("source", "frames", "path"),
    [
        ("openai-chat", [HEAD, chunk({}, "length"), chunk({}, "stop"), "[DONE]"], "/2"),
        ("openai-chat", [HEAD, calls(call(0, "f", "a")), calls(call(0, "g", "a")), *TAIL], "/2"),
        ("gemini", [gemini({"text": "a"}), gemini({"text": "b"}, finish="STOP")], None),
        (
            "gemini",
            [
                {"candidates": [{"content": {"parts": [{"text": "a"}]}, "safetyRatings": RATED}]},
                {"candidates": [{"finishReason": "STOP", "safetyRatings": [*RATED, *RATED]}]},
            ],
            "/1/candidates/0/safetyRatings",
        ),
        (
            "anthropic",
            [
                {"type": "message_start", "message": MESSAGE},
                *block(
                    0,
                    {"type": "thinking", "thinking": "", "signature": "s1"},
                    {"type": "signature_delta", "signature": "s2"},
                ),
            ],
            "/2",
        ),
        (
            "anthropic",
            [
                {"type": "message_start", "message": MESSAGE},
                *block(
                    0,
                    {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
                    {"type": "input_json_delta", "partial_json": '{"x":2}'},
                ),
            ],
            "/3",
        ),
    ],
    ids=["a reason", "a name", "nothing", "of the candidate", "a signature", "arguments"],
)
def test_what_frames_say_twice_and_not_the_same_is_noted(
    source: str, frames: list[Json], path: str | None
) -> None:
    _, t = translated(frames, source, "ollama")
    found = [n.source_path for n in t.notes if n.code == "inconsistent"]
    assert found == ([path] if path else [])


@pytest.mark.parametrize("result", [True, False])
def test_a_stop_and_counts_of_another_form_are_noted(result: bool) -> None:
    frames = [
        gemini({"text": "a"}),
        gemini({"text": "b"}, finish={"x": 1}, usageMetadata=["many"]),
    ]
    t = RULES.translator(source="gemini", target="anthropic", result=result)
    for frame in frames:
        t.feed(frame)
    t.finish()
    found = {n.source_path for n in t.notes if n.code == "unfit"}
    assert "/1/candidates/0" in found and "/1" in found


def test_frames_stay_as_they_are_though_later_ones_lie_over_them() -> None:
    said: list[Json] = [{}, {"webSearchQueries": ["a"]}, {"retrievalMetadata": {"x": 1}}]
    frames = [gemini({"text": "a"}), gemini({"text": "b"}), gemini(finish="STOP")]
    for frame, one in zip(frames, said, strict=True):
        frame["candidates"][0]["groundingMetadata"] = one
    for _ in range(2):
        _, t = translated(frames, "gemini", "gemini")
        meant = {"webSearchQueries": ["a"], "retrievalMetadata": {"x": 1}}
        assert t.result.body["candidates"][0]["groundingMetadata"] == meant


def test_the_probabilities_of_the_tokens_of_each_frame_stand_one_after_another() -> None:
    def told(token: str, **more: Json) -> Json:
        probable = {"chosenCandidates": [{"token": token, "logProbability": -1}]}
        return gemini({"text": token}, **more) | {
            "candidates": [{**gemini({"text": token})["candidates"][0], "logprobsResult": probable}]
        }

    frames = [told("a"), told("b"), gemini(finish="STOP")]
    for target in ("gemini", "vertex"):
        out, t = translated(frames, "gemini", target)
        for body in (t.result.body, RULES.collect(out, target)):
            chosen = body["candidates"][0]["logprobsResult"]["chosenCandidates"]
            assert [one["token"] for one in chosen] == ["a", "b"]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_change_of_a_leaf_of_a_frame_is_heard(source: str, target: str) -> None:
    frames = list(RULES.frames(WHOLE[source], source))
    found = perturb(RULES, frames, source, target, 12, target)
    assert found.tried >= 8
    assert found.unheard == [] and found.crashes == []


def test_a_change_that_nothing_tells_is_found() -> None:
    class Deaf:
        def __init__(self) -> None:
            self.error, self.notes = None, ()

        def translator(self, source: str, target: str) -> Any:
            return self

        def feed(self, frame: Json) -> list[Json]:
            return [{"id": frame["id"], "model": "m"}]

        def finish(self) -> list[Json]:
            return []

        def collect(self, frames: list[Json], dialect: str) -> Json:
            return frames

    frames = [chunk({"content": "a"}), chunk({"content": "b"})]
    found = perturb(Deaf(), frames, "openai-chat", "ollama", None, "")
    assert {one.pointer.partition(" ")[0] for one in found.unheard} >= {
        "choices[].delta.content",
        "model",
    }
    assert not any(one.pointer.startswith("id") for one in found.unheard)


OLD_CALL = [
    HEAD,
    chunk({"function_call": {"name": "f", "arguments": ""}}),
    chunk({"function_call": {"arguments": '{"x"'}}),
    chunk({"function_call": {"arguments": ":1}"}}),
    chunk({}, "function_call"),
    "[DONE]",
]


@pytest.mark.parametrize("target", [name for name in DIALECTS if name != "openai-chat"])
def test_the_one_call_of_old_streams_flows_like_any_other(target: str) -> None:
    out, t = translated(OLD_CALL, "openai-chat", target)
    assert [(name, arguments) for _, name, arguments in called(out, target)] == [("f", {"x": 1})]
    assert "unknown-key" not in codes(t)


def test_what_a_rule_file_gives_up_is_noted_with_the_reason() -> None:
    frames = [HEAD, {**chunk({"content": "a"}), "obfuscation": "xx"}, *TAIL]
    _, t = translated(frames, "openai-chat", "anthropic")
    (note,) = [n for n in t.notes if n.code == "dropped"]
    assert "size" in note.message


def test_what_stands_in_something_that_is_given_up_is_given_up_with_it() -> None:
    padded = chunk({"content": "Hi"}, obfuscation={"signs": "abc"})
    _, t = translated([HEAD, padded, STOP, USAGE, "[DONE]"], "openai-chat", "anthropic")
    (note,) = [n for n in t.notes if n.code == "dropped"]
    assert note.source_path == "/1/obfuscation/signs"
    assert "size of the frame" in note.message


@pytest.mark.parametrize("dialect", sdk.DIALECTS)
def test_every_event_and_field_of_a_stream_is_pictured_or_given_up_with_a_reason(
    dialect: str,
) -> None:
    found = coverage.told(RULES[dialect], dialect)
    assert {name: one.missing for name, one in found.items() if one.missing} == {}
    least = {"openai-responses": 50, "anthropic": 6}
    assert len(found) >= least.get(dialect, 1)


def test_the_notes_are_those_of_the_whole_response() -> None:
    _, t = translated(ANTHROPIC, "anthropic", "openai-chat")
    whole = RULES.convert(
        RULES.collect(ANTHROPIC, "anthropic"), "anthropic", "openai-chat", unit="response"
    )
    assert [n for n in t.notes if n.code != "unknown-key"] == list(whole.notes)


def test_a_result_can_be_done_without() -> None:
    t = RULES.translator(source="openai-chat", target="anthropic", result=False)
    out = [new for frame in INTERLEAVED for new in t.feed(frame)] + t.finish()
    assert out == translated(INTERLEAVED, "openai-chat", "anthropic")[0]
    assert all(not owner.parts for owner in t._fold.outcome.candidates)
    with pytest.raises(wireglot.UsageError):
        t.result  # noqa: B018


def test_a_policy_may_forbid_what_a_stream_loses() -> None:
    t = RULES.translator(source="anthropic", target="openai-chat", policy={"effect:lost": "fail"})
    for frame in ANTHROPIC:
        t.feed(frame)
    with pytest.raises(wireglot.PolicyError):
        t.finish()


def test_what_is_no_json_and_what_comes_too_late_is_refused() -> None:
    t = RULES.translator(source="openai-chat", target="anthropic")
    with pytest.raises(wireglot.ConversionError):
        t.feed({"x": float("nan")})
    t.finish()
    with pytest.raises(wireglot.UsageError):
        t.feed(HEAD)
    with pytest.raises(wireglot.UsageError):
        RULES.translator(source="openai-chat", target="nowhere")


def test_a_frame_like_one_before_says_what_it_says_itself() -> None:
    for name in DIALECTS:
        frames = list(RULES.frames(WHOLE[name], name))
        first = translated(frames, name, DIALECTS[name == DIALECTS[0]])[0]
        assert translated(frames, name, DIALECTS[name == DIALECTS[0]])[0] == first
    frames = [HEAD, chunk({"content": "a"}), chunk({"content": "b"}), *TAIL]
    frames.insert(3, {**chunk({"content": "c"}), "odd": 1})
    frames.insert(4, chunk({"content": None}))
    frames.insert(5, chunk({"content": ""}))
    frames.insert(6, {**chunk({"content": "d"}), "service_tier": "x"})
    frames.insert(7, {**chunk({"content": "e"}), "service_tier": "y"})
    for _ in range(2):
        out, t = translated(frames, "openai-chat", "anthropic")
        assert parts(out, "anthropic") == [{"type": "text", "text": "abcde"}]
        assert [n.source_path for n in t.notes if n.code == "unknown-key"] == ["/3/odd"]
        assert RULES.collect(frames, "openai-chat")["service_tier"] == "y"
    with pytest.raises(wireglot.ConversionError):
        translated(
            [HEAD, chunk({"content": "a"}), chunk({"content": "\ud800"})], "openai-chat", "ollama"
        )


def test_what_is_of_another_type_than_its_hole_is_noted_and_raises_nothing() -> None:
    odd = {**chunk({"content": "a"}), "id": {"x": 1}, "service_tier": "x"}
    frames = [HEAD, odd, {**chunk({"content": "b"}, nth=-1), "service_tier": {"y": 1}}, *TAIL]
    out, t = translated(frames, "openai-chat", "anthropic")
    assert parts(out, "anthropic") == [{"type": "text", "text": "ab"}]
    assert "/1/id/x" in {n.source_path for n in t.notes if n.code == "unknown-key"}
    assert RULES.collect(frames, "openai-chat")["service_tier"] == {"y": 1}


# -- exchanges ------------------------------------------------------------------------------------


def turned(x: wireglot.Exchange, frames: list[Json]) -> list[Json]:
    t = x.translator()
    return [new for frame in frames for new in t.feed(frame)] + t.finish()


@pytest.mark.parametrize("client", ["openai-chat", "anthropic", "ollama"])
def test_a_signature_comes_back_after_a_stream(client: str) -> None:
    x = wireglot.exchange(client=client, provider="gemini", model="gemini-3-pro", state={})
    question: Json = {"role": "user", "content": "Is it warm?"}
    x.request({"model": "any", "max_tokens": 9, "messages": [question]})
    out = turned(x, [gemini(SIGNED), gemini(finish="STOP", usageMetadata={"promptTokenCount": 3})])
    message = RULES.collect(out, client)
    (made,) = called(out, client)
    assert made[1:] == ("f", {"x": 1})
    if client == "openai-chat":
        history = [
            message["choices"][0]["message"],
            {"role": "tool", "tool_call_id": made[0], "content": "22"},
        ]
    elif client == "ollama":
        history = [message["message"], {"role": "tool", "tool_name": "f", "content": "22"}]
    else:
        result = {"type": "tool_result", "tool_use_id": made[0], "content": "22"}
        history = [
            {"role": "assistant", "content": message["content"]},
            {"role": "user", "content": [result]},
        ]
    y = wireglot.exchange(client, "gemini", model="gemini-3-pro", state=x.state)
    sent = y.request({"model": "any", "max_tokens": 9, "messages": [question, *history]})
    assert sent.body["contents"][1]["parts"] == [SIGNED]


def test_names_come_back_as_the_client_gave_them() -> None:
    x = wireglot.exchange(client="gemini", provider="openai-chat", state={})
    function = {"name": "a.b", "parameters": {"type": "object"}}
    body = {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "tools": [{"functionDeclarations": [function]}],
    }
    name = x.request(body).body["tools"][0]["function"]["name"]
    assert name != "a.b"
    out = turned(x, [HEAD, calls(call(0, name, "a", "{}")), *TAIL])
    assert called(out, "gemini") == [("a", "a.b", {})]


def test_ids_that_are_made_in_two_turns_are_not_the_same() -> None:
    x = wireglot.exchange(client="openai-chat", provider="gemini", model="m", state={})
    question = {"role": "user", "content": "Is it warm?"}
    x.request({"messages": [question]})
    frames = [gemini(SIGNED), gemini(finish="STOP")]
    (first,) = called(turned(x, frames), "openai-chat")
    (again,) = called(turned(x, frames), "openai-chat")
    assert first[0] == again[0]  # the same answer to the same request
    x.request({"messages": [question, {"role": "assistant", "content": "Yes."}, question]})
    (second,) = called(turned(x, frames), "openai-chat")
    assert first[0] != second[0]


def test_within_one_dialect_the_frames_of_a_turn_stay_as_they_are() -> None:
    x = wireglot.exchange(client="anthropic", provider="anthropic", state={})
    x.request({"model": "m", "max_tokens": 9, "messages": []})
    assert turned(x, ANTHROPIC) == ANTHROPIC


FURTHER = """
wireglot: 2
dialect: one
shapes: {text: {wire: $text}, tool_call: {wire: {id: $id, name: $name, arguments: $arguments}}}
conversation: {wire: {parts: $parts each text}, cases: {user: {wire: {role: user}}}}
response: {wire: {id: $id}}
stream:
  framing: lines
  events:
    append.text: {text: $piece}
    part: {call: $part as tool_call}
  read-also:
    part_start.tool_call: {calls: [{id: $id, name: $name, text: $piece (default empty-text)}]}
    append.tool_call: {calls: [{text: $piece}]}
    append.refusal: {no: $piece}
    append.reasoning: {thought: $piece}
"""


def test_events_that_are_only_read_are_tried_in_the_order_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(FURTHER, encoding="utf-8")
    stream = wireglot.load_rules(tmp_path)["one"].model.stream
    assert stream is not None
    assert [event.name for event in stream.events if not event.writes] == [
        "part_start.tool_call",
        "append.tool_call",
        "append.refusal",
        "append.reasoning",
    ]


ENDS = """
wireglot: 2
dialect: one
tables: {why: {write: {end_turn: done}}}
shapes:
  text: {wire: $text | string}
  candidate: {wire: {says: $parts each text, why: $stop_reason | why (refused)}}
response: {wire: {answer: $candidates each candidate | single}}
stream:
  framing: lines
  events:
    append.text: {text: $piece}
    finish: {why: $stop_reason | why}
"""


@pytest.mark.parametrize(("word", "noted"), [("STOP", False), ("MAX_TOKENS", True)])
def test_why_a_stream_stopped_is_noted_where_no_frame_can_say_it(
    word: str, noted: bool, tmp_path: Path
) -> None:
    (tmp_path / "one.yaml").write_text(ENDS, encoding="utf-8")
    t = wireglot.load_rules(tmp_path).translator("gemini", "one")
    out = [frame for said in [gemini({"text": "a"}, finish=word)] for frame in t.feed(said)]
    assert [*out, *t.finish()] == [{"text": "a"}, *([] if noted else [{"why": "done"}])]
    told = [(n.effect, n.source_path) for n in t.notes if n.message == CANNOT]
    assert told == ([("lost", "/0/candidates/0")] if noted else [])


DEEPER = """
wireglot: 2
dialect: one
shapes:
  text: {wire: {text: $text, in: $own.lang (optional)}}
  candidate: {wire: {says: $parts each text, in: $own.lang (optional), why: $stop_reason}}
response: {wire: {answer: $candidates each candidate | single}}
stream:
  framing: lines
  events:
    append.text: {text: $piece, in: $OWN.lang (optional), of: $OWN.lang.of (optional)}
    finish: {why: $stop_reason}
"""


@pytest.mark.parametrize("owner", ["own", "candidate.own"])
@pytest.mark.parametrize("pieces", [1, 2])
def test_a_field_of_what_was_said_as_a_word_counts_as_what_comes_later(
    owner: str, pieces: int, tmp_path: Path
) -> None:
    (tmp_path / "one.yaml").write_text(DEEPER.replace("OWN", owner), encoding="utf-8")
    first, later = {"text": "a", "in": "de"}, {"text": "b", "of": "Bern"}
    frames = [first, later] if pieces == 2 else [{**first, **later}]
    body = wireglot.load_rules(tmp_path).collect([*frames, {"why": "end_turn"}], "one")
    (answer,) = body.values()
    said = answer["says"][-1] if owner == "own" else answer
    assert said["in"] == {"of": "Bern"}


def test_nothing_of_an_error_within_a_stream_is_lost_in_silence() -> None:
    """As of one that is whole: words that are reworded, keys of one family, keys of nobody."""
    t = RULES.translator("vllm", "anthropic")
    said = {"message": "Busy.", "type": "ServiceUnavailableError", "param": "p", "odd": 1}
    list(t.feed({"error": said}))
    list(t.finish())
    found = {(note.code, note.source_path) for note in t.notes if "/0" in (note.source_path or "")}
    assert {("unknown-key", "/0/error/odd"), ("own-field", "/0"), ("reworded", "/0")} <= found


def test_what_came_under_the_key_of_a_list_is_collected_there() -> None:
    def message(**said: Any) -> dict[str, Any]:
        return {"delta": {"message": said}}

    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    counts = {"tokens": {"input_tokens": 1, "output_tokens": 1}}
    frames = [
        {"type": "message-start", "id": "i", **message(role="assistant", tool_plan="")},
        {"type": "tool-plan-delta", **message(tool_plan="I will")},
        {"type": "tool-plan-delta", **message(tool_plan=" look.")},
        {"type": "tool-call-start", "index": 0, **message(tool_calls=call)},
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": counts}},
    ]
    made = wireglot.collect(frames, "cohere")
    assert made["message"]["tool_plan"] == "I will look."
    assert "content" not in made["message"]


def test_why_an_answer_ended_may_stand_where_the_whole_has_no_place_for_it() -> None:
    text = """
wireglot: 2
dialect: acme
see: https://acme.example/docs/api
verified: 2026-11-21
tables: {stop: {write: {end_turn: done, max_tokens: cut}}}
shapes:
  text: {wire: {say: $text}}
  candidate: {wire: {said: $parts each text, because: $stop_reason | stop (optional)}}
  why: {wire: {reason: $stop_reason | stop}}
unions: {part: [text]}
conversation: {wire: {parts: $parts each part}, cases: {user: {wire: {from: u}}}}
request:
  wire: {turns: $messages as conversation}
  cases: {listed: {}, text: {read-only: true, wire: {turns: $messages as conversation | json}}}
response: {wire: {...: $candidates each candidate | single}}
stream:
  framing: lines
  events: {append.text: {say: $piece}, finish: {ended: true, why: $. as why (optional)}}
"""
    rules = wireglot.load_rules({"acme.yaml": text})
    for why, because in (({"reason": "cut"}, "cut"), ("cut", None), ([1], None)):
        t = rules.translator("acme", "acme")
        frames = [{"say": "Hi"}, {"ended": True, "why": why}]
        assert [f for frame in frames for f in t.feed(frame)] + t.finish() == frames
        assert t.result.body.get("because") == because
        assert [note.code for note in t.notes] == ([] if because else ["unfit"])
    # Of a request, too, the case that is only read is written where it was read alone.
    turns = [{"parts": [{"say": "Hi"}], "from": "u"}]
    for said in (turns, json.dumps(turns)):
        read = rules["acme"].read({"turns": said})
        assert rules["acme"].write(read.ir).body == {"turns": said}
        assert rules.convert({"turns": said}, "acme", "acme", trace=True).body == {"turns": said}
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    assert rules.convert(asked, "openai-chat", "acme").body == {"turns": turns}
