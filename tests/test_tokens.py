"""How likely tokens were: of each text, or of all that an answer says."""

import copy
from typing import Any

import pytest

import wireglot

Json = Any
RULES = wireglot.load_rules()
WIRES = ("openai-chat", "openai-responses", "gemini", "vertex", "ollama")


def token(said: str, *others: str, of: bytes | None = None) -> Json:
    top = [{"token": one, "logprob": -2.0, "bytes": [*one.encode()]} for one in others]
    said_bytes = [*(said.encode() if of is None else of)]
    return {"token": said, "logprob": -0.5, "bytes": said_bytes, "top_logprobs": top}


def answer(message: Json, tokens: list[Json]) -> Json:
    said = {"role": "assistant", "content": None, "refusal": None, **message}
    choice = {"index": 0, "message": said, "logprobs": {"content": tokens, "refusal": None}}
    reason = "tool_calls" if "tool_calls" in message else "stop"
    choices = [{**choice, "finish_reason": reason}]
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return {**head, "choices": choices}


HELLO = answer({"content": "Hello"}, [token("He", "He", "Ha"), token("llo")])
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def words(body: Json, name: str) -> list[str]:
    ir = RULES[name].read(body, "response").ir["candidates"][0]
    return [one["token"] for part in ir["parts"] for one in part.get("logprobs", ())]


@pytest.mark.parametrize("name", WIRES)
def test_tokens_cross_whole_and_streamed(name: str) -> None:
    there = RULES.convert(HELLO, "openai-chat", name, "response").body
    assert words(there, name) == ["He", "llo"]
    back = RULES.convert(there, name, "openai-chat", "response").body["choices"][0]["logprobs"]
    assert [one["token"] for one in back["content"]] == ["He", "llo"]
    assert [one["token"] for one in back["content"][0]["top_logprobs"]] == ["He", "Ha"]
    frames = list(RULES.frames(there, name))
    assert RULES.collect(frames, name) == there
    for target in WIRES:
        t = RULES.translator(name, target)
        out = [one for frame in frames for one in t.feed(frame)] + t.finish()
        assert RULES.collect(out, target) == t.result.body
        assert words(t.result.body, target) == ["He", "llo"], target


@pytest.mark.parametrize("name", WIRES)
def test_tokens_come_home(name: str) -> None:
    there = RULES.convert(HELLO, "openai-chat", name, "response").body
    kept = copy.deepcopy(there)
    read = RULES[name].read(there, "response")
    assert RULES[name].write(read.ir, "response").body == there == kept
    assert RULES.convert(there, name, name, "response", trace=True).body == there


def shared(second: str, tokens: list[Json]) -> Json:
    """Two texts of Responses, read of Gemini, which says the tokens of both in one list."""
    part = {"type": "output_text", "annotations": []}
    said = [{**part, "text": "a", "logprobs": [token("a")]}]
    said.append({**part, "text": second, "logprobs": tokens})
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    base = RULES.convert(HELLO, "openai-chat", "openai-responses", "response").body
    body = {**base, "output": [{**item, "content": said}]}
    there = RULES.convert(body, "openai-responses", "gemini", "response").body
    return RULES["gemini"].read(there, "response").ir["candidates"][0]


def test_each_text_has_the_tokens_that_spell_it() -> None:
    ir = shared("bc", [token("b"), token("c")])
    assert [len(one["logprobs"]) for one in ir["parts"]] == [1, 2]
    ir = shared("é", [token("?", of=b"\xc3"), token("?", of=b"\xa9")])  # Gemini says no bytes
    assert not any("logprobs" in one for one in ir["parts"]) and len(ir["logprobs"]) == 3


def test_tokens_of_no_text_stay_with_the_answer() -> None:
    body = answer({"tool_calls": [CALL]}, [token("f")])
    assert RULES.convert(body, "openai-chat", "openai-chat", "response", trace=True).body == body
    there = RULES.convert(body, "openai-chat", "gemini", "response").body
    assert len(there["candidates"][0]["logprobsResult"]["chosenCandidates"]) == 1
    out = RULES.convert(body, "openai-chat", "openai-responses", "response")
    assert "/choices/0/logprobs/content" in {note.source_path for note in out.notes}


def test_a_token_that_was_certain_and_at_last_is_not_is_told() -> None:
    certain = [{**token("He"), "logprob": 0.0}, token("llo")]
    there = RULES.convert(
        answer({"content": "Hello"}, certain), "openai-chat", "openai-responses", "response"
    )
    frames = [*RULES.frames(there.body, "openai-responses")]
    frames[-1] = copy.deepcopy(frames[-1])
    frames[-1]["response"]["output"][0]["content"][0]["logprobs"][0]["logprob"] = -0.25
    translator = RULES.translator("openai-responses", "ollama")
    for frame in frames:
        translator.feed(frame)
    translator.finish()
    path = f"/{len(frames) - 1}/response/output/0/content/0/logprobs/0/logprob"
    assert ("inconsistent", path) in {(note.code, note.source_path) for note in translator.notes}
