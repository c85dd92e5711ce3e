"""Runs: the short way of a translator does what the general way does, and is taken."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wireglot
from benchmarks import stream_frames
from wireglot.streaming.fold import Fold

from . import streamdiff
from .streamdiff import difference, outcome

Json = Any
RULES = wireglot.packaged()
CHAT = stream_frames.frames("openai-chat", 0, small=True)
EVENTS = stream_frames.frames("anthropic", 0, small=True)
CHUNKS = stream_frames.frames("gemini", 0, small=True)
TO_CHAT, FROM_CHAT = ("anthropic", "openai-chat"), ("openai-chat", "anthropic")
AT = 7  # a frame with a piece of text, when the run has begun
CALL = 21  # a frame with a piece of arguments


def closed(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
    def refuse(*given: Any) -> None:
        raise AssertionError("this goes the general way")

    monkeypatch.setattr(owner, name, refuse)


# -- they are taken -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pair", "frames"),
    [
        (FROM_CHAT, CHAT),
        (TO_CHAT, EVENTS),
        (("gemini", "openai-chat"), CHUNKS),
        (("openai-chat", "openai-chat"), CHAT),
        (("openai-chat", "ollama"), CHAT),
    ],
    ids=lambda value: " to ".join(value) if isinstance(value, tuple) else "",
)
def test_pieces_are_not_read_by_the_pictures(
    pair: tuple[str, str], frames: list[Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    with streamdiff.plainly():
        meant = outcome(frames, pair)
    t = RULES.translator(source=pair[0], target=pair[1])
    for nth, frame in enumerate(frames[: AT - 2]):
        assert t.feed(frame) == meant[nth]
    closed(monkeypatch, Fold, "feed")
    for nth in range(AT - 2, AT + 3):
        assert t.feed(frames[nth]) == meant[nth]


def test_pieces_that_are_held_are_not_read_by_the_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome(CHAT, ("openai-chat", "gemini"))
    t = RULES.translator(source="openai-chat", target="gemini")
    for frame in CHAT[:CALL]:
        t.feed(frame)
    closed(monkeypatch, Fold, "feed")
    assert t.feed(CHAT[CALL]) == []


def test_calls_that_come_by_turns_each_have_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = EVENTS[:2]
    for nth in (1, 2):
        use = {"type": "tool_use", "id": f"t{nth}", "name": "f", "input": {}}
        frames.append({"type": "content_block_start", "index": nth, "content_block": use})
    deltas = [
        {
            "type": "content_block_delta",
            "index": nth % 2 + 1,
            # None begins as the first: that might be the whole call once more.
            "delta": {"type": "input_json_delta", "partial_json": f'"{nth:02}'},
        }
        for nth in range(20)
    ]
    assert difference([*frames, *deltas], TO_CHAT) == ""
    t = RULES.translator(source="anthropic", target="openai-chat")
    for frame in [*frames, *deltas[:6]]:
        t.feed(frame)
    closed(monkeypatch, Fold, "feed")
    for nth, frame in enumerate(deltas[6:], 6):
        (made,) = t.feed(frame)
        (call,) = made["choices"][0]["delta"]["tool_calls"]
        assert (call["index"], call["function"]["arguments"]) == (nth % 2, f'"{nth:02}')


# -- and do what the interpreter does -------------------------------------------------------------


def _choice(frame: Json) -> Json:
    return frame["choices"][0]


ODD: dict[str, Callable[[Json], Any]] = {
    "a number of another class": lambda f: _choice(f).update(index=False),
    "the same number as a float": lambda f: _choice(f).update(index=0.0),
    "another candidate": lambda f: _choice(f).update(index=1),
    "an unknown key": lambda f: f.update(x_trace="a"),
    "an unknown key within": lambda f: _choice(f)["delta"].update(x_trace=1),
    "a key less": lambda f: f.pop("model"),
    "another model": lambda f: f.update(model="other"),
    "another fingerprint": lambda f: f.update(system_fingerprint="fp_2"),
    "half of a pair in another text": lambda f: f.update(model="\udfff"),
    "a reason to stop": lambda f: _choice(f).update(finish_reason="length"),
    "another choice": lambda f: f["choices"].append(copy.deepcopy(_choice(f))),
    "no choice": lambda f: f["choices"].clear(),
    "counts": lambda f: f.update(usage={"prompt_tokens": 1, "completion_tokens": 2}),
    "a refusal beside it": lambda f: _choice(f)["delta"].update(refusal="No."),
    "no text": lambda f: _choice(f)["delta"].update(content=""),
    "null": lambda f: _choice(f)["delta"].update(content=None),
    "a number": lambda f: _choice(f)["delta"].update(content=3),
    "half of a pair": lambda f: _choice(f)["delta"].update(content="a\udfff"),
    "a blank": lambda f: _choice(f)["delta"].update(content=" "),
    "a long word": lambda f: _choice(f)["delta"].update(content="é日" * 5000),
}
MORE = {"another text": "x", "a text of its own": "y", "none": None, "no text at all": ""}


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-chat"])
@pytest.mark.parametrize("name", ODD)
def test_an_odd_frame_is_taken_as_the_interpreter_takes_it(name: str, target: str) -> None:
    frames = copy.deepcopy(CHAT)
    ODD[name](frames[AT])
    assert difference(frames, ("openai-chat", target)) == ""
    frames[AT + 1] = frames[AT + 2] = frames[AT]  # and it may have a run of its own
    assert difference(frames, ("openai-chat", target)) == ""


BLOCK = next(nth for nth, frame in enumerate(EVENTS) if frame.get("index") == 1)
STRAY: dict[str, Callable[[list[Json]], Any]] = {
    "an index that is no number": lambda f: f[BLOCK + 4].update(index=True),
    "an index that is no whole number": lambda f: f[BLOCK + 4].update(index=1.0),
    "a piece of another block": lambda f: f[BLOCK + 4].update(index=0),
    "a block that ended": lambda f: f.insert(BLOCK + 4, {**f[BLOCK - 1], "index": 1}),
    "a block that began anew": lambda f: f.insert(BLOCK + 4, f[BLOCK]),
    "a ping": lambda f: f.insert(BLOCK + 4, {"type": "ping"}),
    "an error": lambda f: f.insert(
        BLOCK + 4, {"type": "error", "error": {"type": "api_error", "message": "No."}}
    ),
    "the end": lambda f: f.insert(BLOCK + 4, f[-1]),
    "why it stopped": lambda f: f.insert(BLOCK + 4, f[-2]),
}


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini"])
@pytest.mark.parametrize("name", STRAY)
def test_what_comes_between_pieces_is_taken_as_the_interpreter_takes_it(
    name: str, target: str
) -> None:
    frames = copy.deepcopy(EVENTS)
    STRAY[name](frames)
    assert difference(frames, ("anthropic", target)) == ""
    assert difference(frames, ("anthropic", target), result=False) == ""


@pytest.mark.parametrize("depth", [3, 19, 21, 150, 390])
@pytest.mark.parametrize("key", ["x_trace", "service_tier", "usage"])
def test_deep_values_do_no_harm(key: str, depth: int) -> None:
    deep: Json = 1
    for _ in range(depth):
        deep = [deep]
    frames = copy.deepcopy(CHAT)
    for frame in frames[1 : AT + 3]:
        frame[key] = {"a": deep}
    assert difference(frames, FROM_CHAT) == ""
    assert difference(frames, ("openai-chat", "openai-chat")) == ""


@pytest.mark.parametrize("target", ["anthropic", "gemini", "ollama", "openai-chat"])
def test_a_call_lets_those_that_wait_go_on_when_it_is_whole(target: str) -> None:
    calls = [f for f in CHAT[:-1] for c in f["choices"] if c["delta"].get("tool_calls")]
    heads = [f for f in calls if "id" in _choice(f)["delta"]["tool_calls"][0]]
    pieces = [f for f in calls if f not in heads]
    tail = [f for f in CHAT[-3:] if f not in calls]
    assert difference([CHAT[0], *heads, *pieces, *tail], ("openai-chat", target)) == ""
    turns = sorted(range(len(pieces)), key=lambda nth: (nth % 10, nth))
    assert difference(
        [CHAT[0], *heads, *[pieces[n] for n in turns], *tail], ("openai-chat", target)
    ) == ""  # fmt: skip


@pytest.mark.parametrize("target", ["openai-chat", "gemini"])
def test_counts_of_candidates_that_come_by_turns_are_told_in_order(target: str) -> None:
    frames = copy.deepcopy(CHUNKS[:12]) + copy.deepcopy(CHUNKS[:12])
    for nth, frame in enumerate(frames):
        frame["candidates"][0]["index"] = nth % 2
        frame["usageMetadata"] = {"promptTokenCount": nth}
        if nth % 2:
            frame["usageMetadata"]["candidatesTokenCount"] = nth
    assert difference(frames, ("gemini", target)) == ""
    assert difference(frames[:-1], ("gemini", target)) == ""


def test_a_field_of_the_response_that_comes_late_is_heard() -> None:
    frames = copy.deepcopy(CHAT)
    for nth, frame in enumerate(frames[:-1]):
        frame["model"] = frame["model"] if nth == AT else ""
    assert difference(frames, FROM_CHAT) == ""
    assert outcome(frames, FROM_CHAT)[-1]["model"] == CHAT[AT]["model"]


def test_what_every_frame_says_is_what_the_last_one_said() -> None:
    frames = copy.deepcopy(CHAT)
    frames[3:3] = [copy.deepcopy(frames[3]) for _ in range(12)]
    for nth, frame in enumerate(frames[:-1]):
        frame.pop("system_fingerprint")
        if nth < 12:
            frame["system_fingerprint"] = "fp_2" if 4 <= nth < 8 else "fp_1"
    assert difference(frames, ("openai-chat", "openai-chat")) == ""
    made = outcome(frames, ("openai-chat", "openai-chat"))[-1]
    assert made["system_fingerprint"] == "fp_1"


def test_a_word_that_no_event_knows_is_not_taken_for_one_that_is_known() -> None:
    for role in ("user", "assistant", "user"):
        frames = copy.deepcopy(CHAT)
        for frame in frames[2 : AT + 3]:
            _choice(frame)["delta"]["role"] = role
        assert difference(frames, FROM_CHAT) == ""


@pytest.mark.parametrize("key", ["obfuscation", "x_trace"])
@pytest.mark.parametrize("name", MORE)
def test_what_is_noted_once_is_noted_in_every_stream(key: str, name: str) -> None:
    frames = copy.deepcopy(CHAT)
    for nth, frame in enumerate(frames[1:-1]):
        frame[key] = MORE[name] and f"{MORE[name]}{nth}"
    for _ in range(2):
        assert difference(frames, FROM_CHAT) == ""
        assert difference(stream_frames.as_bytes("openai-chat", frames), FROM_CHAT) == ""
    frames[1][key] = frames[2][key] = ""
    assert difference(frames, FROM_CHAT) == ""


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-chat"])
def test_a_whole_call_that_comes_once_more_says_nothing(target: str) -> None:
    pieces = ['{"a', '":{}', "}"]
    head = copy.deepcopy(CHAT[CALL])
    frames = [CHAT[0]]
    for nth, text in enumerate(["", *pieces, "".join(pieces), "".join(pieces)]):
        call: Json = {"index": 0, "function": {"arguments": text}}
        call |= {"id": "a", "type": "function"} if nth == 0 else {}
        call["function"] |= {"name": "f"} if nth == 0 else {}
        frames.append(copy.deepcopy(head))
        _choice(frames[-1])["delta"]["tool_calls"] = [call]
    assert difference([*frames, *CHAT[-3:]], ("openai-chat", target)) == ""
    made = outcome([*frames, *CHAT[-3:]], ("openai-chat", target))
    assert json.dumps(made[-1]).count("{}") == 1


@pytest.mark.parametrize(
    "usage",
    [
        {"promptTokenCount": 5, "candidatesTokenCount": 1},
        {"promptTokenCount": 5, "candidatesTokenCount": None},
        {"promptTokenCount": 5, "candidatesTokenCount": 1.5},
        {"promptTokenCount": 5, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 5}]},
        {"promptTokenCount": 5, "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 5}]},
        {},
        None,
    ],
)
@pytest.mark.parametrize("count", [1, 4])
def test_counts_of_other_forms_lie_over_each_other(usage: Json, count: int) -> None:
    frames = copy.deepcopy(CHUNKS[:12])
    for frame in frames[AT : AT + count]:
        frame["usageMetadata"] = usage
    for target in ("openai-chat", "anthropic", "gemini"):
        assert difference(frames, ("gemini", target)) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"content": "', b'"content": "\\"\\u00e9\\n'),
        (b'"content": "', b'"content": "\\udfff'),
        (b'"content": "', b'"content": "\x01'),
        (b'"content": "', b'"content": "\xff'),
        (b'"content": "', b'"content": 1, "x": "'),
        (b'"content": "', b'"content": "a", "content": "'),
        (b'"content":', b'"content" :'),
        (b"data: ", b"id: 7\ndata: "),
        (b"data: ", b": a comment\ndata: "),
        (b"data: ", b"data: {}\n\ndata: "),
        (b"\n\n", b"\n"),
        (b"\n\n", b""),
        (b"\n\n", b"\n\n\n"),
        (b"\n\n", b"\r\n\r\n"),
        (b'"model"', b'"other"'),
        (b"fp_1", b"fp_2"),
    ],
)
def test_odd_bytes_are_taken_as_the_interpreter_takes_them(old: bytes, new: bytes) -> None:
    pieces = stream_frames.as_bytes("openai-chat", CHAT)
    for nths in ([AT], [AT, AT + 1, AT + 2]):
        made = [p.replace(old, new) if n in nths else p for n, p in enumerate(pieces)]
        assert made != pieces
        assert difference(made, FROM_CHAT) == ""
        assert difference(made, ("openai-chat", "openai-chat")) == ""
        assert difference([b"".join(made)], FROM_CHAT) == ""


def test_frames_of_a_run_have_their_numbers() -> None:
    rules = wireglot.load_rules(Path(__file__).parent / "fuzz" / "streams")
    there = ("openai-chat", "streams")
    assert difference(CHAT, there, rules=rules) == ""
    pieces = stream_frames.as_bytes("openai-chat", CHAT)
    assert difference(pieces, there, rules=rules) == ""
    made = [new for frames in outcome(CHAT, there, rules=rules)[:-4] for new in frames]
    numbered = [frame for frame in made if frame != "[END]"]
    assert [frame["seq"] for frame in numbered] == list(range(len(numbered)))
    for target in ("openai-chat", "anthropic", "streams"):
        assert difference(made, ("streams", target), rules=rules) == ""
        lines = [f"{json.dumps(frame)}\n".encode() for frame in made]
        assert difference(lines, ("streams", target), rules=rules) == ""


def test_mutated_streams_are_taken_as_the_interpreter_takes_them() -> None:
    chance = random.Random(11)
    assert [found for found in (streamdiff.tried(chance) for _ in range(120)) if found[1]] == []


# -- the result -----------------------------------------------------------------------------------


def test_a_policy_still_refuses_at_the_end_of_the_stream() -> None:
    t = RULES.translator(source="openai-chat", target="anthropic", policy={"effect:lost": "fail"})
    for frame in CHAT:
        t.feed(frame)
    with pytest.raises(wireglot.PolicyError):
        t.finish()
    assert t.notes is not None


def test_the_result_is_the_same_whenever_it_is_asked_for() -> None:
    early = RULES.translator(source="openai-chat", target="anthropic", policy={"renamed": "note"})
    late = RULES.translator(source="openai-chat", target="anthropic")
    for t in (early, late):
        with pytest.raises(wireglot.UsageError):
            assert t.result
        for frame in CHAT:
            t.feed(frame)
        t.finish()
    assert early.result == late.result
    assert late.result is late.result


def test_asking_for_notes_does_not_choose_rules_for_a_model() -> None:
    frames = copy.deepcopy(EVENTS)
    frames[0]["message"]["model"] = "claude-opus-4-5"
    t = RULES.translator(source="anthropic", target="openai-chat")
    assert t.notes == () and t.error is None
    t.feed(frames[0])
    assert t._source.model is RULES.at("anthropic", "claude-opus-4-5", {}).model
    assert t._source.model is not RULES["anthropic"].model


def test_a_stream_of_items_that_only_began_has_not_failed() -> None:
    began = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "status": "in_progress",
        "output": [],
    }
    t = RULES.translator(source="openai-responses", target="openai-responses")
    t.feed({"type": "response.created", "response": began | {"output": []}, "sequence_number": 0})
    t.finish()
    assert t.result.body["error"] is None and "status" not in t.result.body
