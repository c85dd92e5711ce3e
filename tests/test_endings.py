"""How answers end: for each way and each ordered pair of wires, whole and streamed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jmespath
import pytest

import wireglot

Json = Any
RULES = wireglot.packaged()
WIRES = (
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "ollama",
    "mistral",
    "cohere",
    "bedrock-converse",
    "gemini-interactions",
)
CALL = {"type": "tool_call", "id": "call_1", "name": "f", "arguments": {"x": 1}}
TEXT = {"type": "text", "text": "Hi"}
# Ways of ending: what came, and why it stopped.
WAYS: dict[str, tuple[list[Json], str]] = {
    "over": ([TEXT], "end_turn"),
    "called": ([TEXT, CALL], "tool_use"),
    "called late": ([CALL], "end_turn"),
    "cut": ([TEXT], "max_tokens"),
    "full": ([TEXT], "context_full"),
    "filtered": ([TEXT], "content_filter"),
    "filtered at once": ([], "content_filter"),
    "refused": ([{"type": "refusal", "text": "No."}], "refusal"),
    "refused in text": ([TEXT], "refusal"),
    "paused": ([TEXT], "pause"),
    "miscalled": ([], "malformed_call"),
    "failed": ([TEXT], "error"),
}
# Wires that have no word for what was filtered or refused: it has failed there.
WORDLESS = {"mistral", "cohere", "gemini-interactions"}
# How a client may be told: the words of the IR that its wire reads as, by the way of ending.
CUT = {"max_tokens", "error", "malformed_call", "pause", "context_full"}
TOLD = {
    "over": {"end_turn"},
    "called": {"tool_use"},
    "called late": {"tool_use"},
    "cut": {"max_tokens"},
    "full": {"max_tokens", "context_full"},
    "filtered": {"content_filter", "refusal"},
    "filtered at once": {"content_filter", "refusal"},
    "refused": {"refusal", "content_filter"},
    "refused in text": {"refusal", "content_filter"},
    "paused": CUT,
    "miscalled": CUT,
    "failed": CUT,
}


UNSAID = {"filtered", "filtered at once", "refused", "refused in text"}


def answer(wire: str, way: str) -> Json:
    """Return a response of a wire that ends so."""
    parts, stop = WAYS[way]
    ir = {
        "id": "r1",
        "model": "m",
        "created": 7,
        "candidates": [{"parts": parts, "stop_reason": stop}],
        "usage": {"input": 3, "output": 2},
    }
    return RULES[wire].write(ir, "response").body


def reason(body: Json, wire: str) -> str | None:
    """Return why a response says that it ended."""
    found: str | None = RULES[wire].read(body, "response").ir["candidates"][0].get("stop_reason")
    return found


@pytest.mark.parametrize("source", WIRES)
@pytest.mark.parametrize("target", WIRES)
@pytest.mark.parametrize("way", WAYS)
def test_the_client_sees_how_an_answer_ended_and_whole_and_streamed_agree(
    source: str, target: str, way: str
) -> None:
    given = answer(source, way)
    whole = RULES.convert(given, source, target, "response").body
    wordless = WORDLESS.intersection((source, target))
    assert reason(whole, target) in (TOLD[way] | CUT if wordless and way in UNSAID else TOLD[way])
    t = RULES.translator(source=source, target=target)
    frames = [new for frame in RULES.frames(given, source) for new in t.feed(frame)] + t.finish()
    assert frames
    if source == "openai-responses" != target and way in ("failed", "miscalled"):
        assert t.error is not None  # a stream can say so: it is an error there
    else:
        assert reason(RULES.collect(frames, target), target) == reason(whole, target)
    assert reason(t.result.body, target) == reason(whole, target)


@pytest.mark.parametrize("source", WIRES)
@pytest.mark.parametrize("target", WIRES)
def test_a_stream_that_breaks_off_never_looks_finished(source: str, target: str) -> None:
    if source == target:
        return
    frames = list(RULES.frames(answer(source, "called"), source))
    # What tells the end stands in the last frames; without them it is cut.
    last = {"openai-chat": 3, "openai-responses": 1, "gemini": 1, "ollama": 1, "cohere": 1}.get(
        source, 2
    )
    t = RULES.translator(source=source, target=target)
    out = [new for frame in frames[:-last] for new in t.feed(frame)] + t.finish()
    assert "cut-short" in {note.code for note in t.notes}
    fold = RULES.translator(source=target, target=target)
    for frame in out:
        fold.feed(frame)
    fold.finish()
    assert "cut-short" in {note.code for note in fold.notes}


WORDS = """
SAFETY RECITATION OTHER BLOCKLIST PROHIBITED_CONTENT SPII MALFORMED_FUNCTION_CALL LANGUAGE
UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE MALFORMED_RESPONSE MAX_TOKENS
CONTINUATION IMAGE_SAFETY NO_IMAGE A_WORD_OF_TOMORROW
"""


@pytest.mark.parametrize("word", WORDS.split())
@pytest.mark.parametrize("target", [wire for wire in WIRES if wire != "gemini"])
def test_no_word_of_gemini_but_stop_is_an_answer_that_is_over(word: str, target: str) -> None:
    given = {
        "candidates": [
            {"index": 0, "content": {"role": "model", "parts": []}, "finishReason": word}
        ],
        "modelVersion": "g",
        "responseId": "r",
    }
    whole = RULES.convert(given, "gemini", target, "response").body
    assert reason(whole, target) not in ("end_turn", "tool_use", "stop_sequence", None)
    t = RULES.translator(source="gemini", target=target)
    out = t.feed(given) + t.finish()
    assert reason(RULES.collect(out, target), target) == reason(whole, target)


# -- frames that say little, and frames that are deep --------------------------------------------

MINI = """
wireglot: 2
dialect: mini
see: https://example.com
verified: 2026-11-23
shapes:
  text: {wire: {text: $text}}
  candidate: {wire: {content: $parts each text}}
conversation: {wire: {content: $parts each text}, cases: {user: {wire: {role: user}}}}
request: {wire: {messages: $messages as conversation}}
response: {wire: {...: $candidates each candidate | single}}
"""
# A stream whose parts end by an address alone.
ENDED = """stream:
  framing: lines
  events:
    append.text: {delta: {index: $at.index, text: $piece}}
    part_stop: {stop: {index: $at.index}}
    end: {over: true}
"""


def test_a_part_ends_by_its_address_alone(tmp_path: Path) -> None:
    (tmp_path / "mini.yaml").write_text(MINI + ENDED, "utf-8")
    t = wireglot.load_rules(tmp_path).translator(source="mini", target="anthropic")
    t.feed({"delta": {"index": 0, "text": "Hi"}})
    assert [frame["type"] for frame in t.feed({"stop": {"index": 0}})] == ["content_block_stop"]
    assert "unknown-frame" not in {note.code for note in t.notes}


# A word in every frame that says that nothing ended.
WORDED = """stream:
  framing: lines
  frame: {piece: "", stop: going}
  events:
    append.text: {piece: $piece}
    finish: {stop: $stop_reason}
"""


def test_a_word_that_every_frame_holds_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "mini.yaml").write_text(MINI + WORDED, "utf-8")
    rules = wireglot.load_rules(tmp_path)
    frames = [{"piece": "Hi", "stop": "going"}, {"piece": "!", "stop": "end_turn"}]
    t = rules.translator(source="mini", target="anthropic")
    first = [frame["type"] for frame in t.feed(frames[0])]
    assert first == ["message_start", "content_block_start", "content_block_delta"]
    told = t.feed(frames[1]) + t.finish()
    assert [f["delta"]["stop_reason"] for f in told if f["type"] == "message_delta"] == ["end_turn"]
    assert not {"unknown-key", "unknown-frame", "contradiction"} & {note.code for note in t.notes}
    assert t.result is not None and t.result.body["content"] == [{"type": "text", "text": "Hi!"}]
    cut = rules.translator(source="mini", target="anthropic")
    cut.feed(frames[0])
    cut.finish()
    assert cut.result is not None and cut.result.body["stop_reason"] is None
    assert "cut-short" in {note.code for note in cut.notes}
    home = rules.translator(source="mini", target="mini")
    assert [f for frame in frames for f in home.feed(frame)] + home.finish() == frames


def below(frames: int, call: Callable[[], Any]) -> Any:
    """Call something from so many frames further down."""
    return below(frames - 1, call) if frames else call()


@pytest.mark.parametrize("target", WIRES)
@pytest.mark.parametrize("depth", [150, 320, 900])
def test_arguments_nested_deep_raise_errors_of_the_family(target: str, depth: int) -> None:
    text = '{"a":' * depth + "1" + "}" * depth
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    call = {
        "index": 0,
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": text},
    }
    choice = {"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}}
    stop = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    frames = [{**head, "choices": [choice]}, {**head, "choices": [stop]}, "[DONE]"]

    def run() -> None:
        t = RULES.translator(source="openai-chat", target=target)
        for frame in frames:
            t.feed(frame)
        t.finish()
        assert t.result is not None

    for frames_of_caller in (0, min(600, sys.getrecursionlimit() - 350)):
        try:
            below(frames_of_caller, run)
        except wireglot.ConversionError as error:
            assert "nested too deep" in str(error)


BROKEN_OFF: list[Any] = [
    {
        "type": "message_start",
        "message": {
            "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
            "usage": {"input_tokens": 7, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
    {
        "type": "content_block_delta", "index": 0,
        "delta": {
            "type": "citations_delta",
            "citation": {
                "type": "web_search_result_location", "cited_text": "q", "url": "http://x",
                "title": "t", "encrypted_index": "e",
            },
        },
    },
]  # fmt: skip
ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@pytest.mark.parametrize(
    ("target", "unsaid"),
    [
        ("openai-chat", ["cite"]),
        ("gemini", ["cite"]),
        ("mistral", ["counts"]),
        ("bedrock-converse", ["counts"]),
        ("cohere", ["counts", "cite"]),
        ("vertex-anthropic", []),
    ],
)
@pytest.mark.parametrize("failed", [False, True])
def test_what_stands_at_the_end_alone_is_noted_of_a_stream_without_one(
    target: str, unsaid: list[str], failed: bool
) -> None:
    t = wireglot.packaged().translator("anthropic", target)
    for frame in [*BROKEN_OFF, ERROR] if failed else BROKEN_OFF:
        t.feed(frame)
    t.finish()
    told = [note for note in t.notes if "would stand at the end" in note.message]
    if failed and target in ("openai-chat", "gemini"):  # the counts have a frame of their own
        unsaid = ["counts", *unsaid]
    assert [any(word in note.message for word in unsaid) for note in told] == [True] * len(unsaid)


@pytest.mark.parametrize(
    ("target", "path", "word"),
    [
        ("openai-chat", "choices[0].finish_reason", "length"),
        ("anthropic", "stop_reason", "max_tokens"),
        ("gemini", "candidates[0].finishReason", "OTHER"),
        ("openai-responses", "status", "failed"),
        ("ollama", "done_reason", "error"),
        ("bedrock-converse", "stopReason", "malformed_model_output"),
    ],
)
def test_an_answer_that_an_error_ends_is_not_said_to_be_over(
    target: str, path: str, word: str
) -> None:
    """Its result said `stop`, `completed` and the like, as if all were well."""
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    piece = {"index": 0, "delta": {"role": "assistant", "content": "a"}, "finish_reason": None}
    t = RULES.translator("openai-chat", target)
    t.feed({**head, "choices": [piece]})
    t.feed({"error": {"message": "Boom", "type": "server_error", "code": None, "param": None}})
    t.finish()
    assert t.error is not None and jmespath.search(path, t.result.body) == word
    assert "cut-short" in {note.code for note in t.notes}


def test_at_home_an_answer_that_an_error_ends_says_no_reason_where_none_need_stand() -> None:
    head = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": []}
    frames = [
        {"type": "message_start", "message": {**head, "usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ]
    assert wireglot.collect(frames, "anthropic")["stop_reason"] is None
