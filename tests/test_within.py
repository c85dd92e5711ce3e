"""Parts within a text: thoughts between two marks, whole, streamed, and sent back."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import wireglot

Json = Any
TEXTS = {
    "a thought and a text": "<think>Hm.</think>Hi there",
    "words behind a thought": "<think>Hm.</think>I t is a b c.",
    "spaces around the marks": " \n<think>\n a < b \n</think>\n\nHi\n",
    "marks that are none": "<think>a </thin </think\n</think>Hi <think>x</think>",
    "an empty thought": "<think>\n\n</think>\n\nHi",
    "nothing else": "<think>Hm.</think>\n\n",
    "a thought that breaks off": "<think>Hm </th",
    "a mark that breaks off": "<thi",
    "a mark behind a text": "Hi <think>Hm.</think>",
    "no mark": " \n Hi",
}
PARTS = {
    "a thought and a text": [("reasoning", "Hm."), ("text", "Hi there")],
    "words behind a thought": [("reasoning", "Hm."), ("text", "I t is a b c.")],
    "spaces around the marks": [("reasoning", "a < b"), ("text", "Hi\n")],
    "marks that are none": [("reasoning", "a </thin </think"), ("text", "Hi <think>x</think>")],
    "an empty thought": [("text", "Hi")],
    "nothing else": [("reasoning", "Hm.")],
    "a thought that breaks off": [("reasoning", "Hm </th")],
    "a mark that breaks off": [("text", "<thi")],
    "a mark behind a text": [("text", "Hi <think>Hm.</think>")],
    "no mark": [("text", " \n Hi")],
}
CALL = {"index": 0, "id": "k", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def whole(text: str, calls: bool = False, **more: Json) -> Json:
    said = {"role": "assistant", "content": text, **more}
    if calls:
        said["tool_calls"] = [CALL]
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": said}
    head = {"id": "c", "object": "chat.completion", "created": 7, "model": "m"}
    return {**head, "choices": [choice]}


def chunk(delta: Json, finish: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 7, "model": "m"}
    return {**head, "choices": [choice]}


def chunks(pieces: list[str], calls: bool = False) -> list[Json]:
    frames = [chunk({"role": "assistant", "content": ""})]
    frames += [chunk({"content": piece}) for piece in pieces]
    frames += [chunk({"tool_calls": [CALL]})] if calls else []
    return [*frames, chunk({}, "tool_calls" if calls else "stop"), "[DONE]"]


def cut(text: str, seed: int) -> list[str]:
    """Cut a text into pieces: into its signs, or by chance."""
    draw, out = random.Random(seed), list[str]()
    while text:
        size = draw.choice((1, 1, 2, 3, 5, 9)) if seed else 1
        out.append(text[:size])
        text = text[size:]
    return out


def parts(rules: Any, body: Json, dialect: str) -> list[tuple[str, str]]:
    [one] = rules[dialect].read(body, "response").ir["candidates"]
    return [(part["type"], part.get("text", "")) for part in one.get("parts", [])]


@pytest.fixture(scope="module")
def rules() -> Any:
    return wireglot.load_rules()


@pytest.mark.parametrize("name", TEXTS)
def test_a_thought_at_the_head_of_a_text_is_one(rules: Any, name: str) -> None:
    body = whole(TEXTS[name])
    made = rules.convert(body, "minimax", "gemini", "response")
    assert parts(rules, made.body, "gemini") == PARTS[name]
    assert rules.convert(body, "minimax", "minimax", "response").body == body
    ir = rules["minimax"].read(body, "response").ir
    assert rules["minimax"].write(ir, "response").body == body


@pytest.mark.parametrize("target", ["gemini", "openai-responses", "vllm", "ollama", "anthropic"])
@pytest.mark.parametrize("name", TEXTS)
def test_a_stream_says_what_its_whole_says(rules: Any, name: str, target: str) -> None:
    for seed, calls in [(n, n % 2 == 1) for n in range(6)]:
        translator = rules.translator("minimax", target)
        frames = chunks(cut(TEXTS[name], seed), calls)
        out = [new for frame in frames for new in translator.feed(frame)] + translator.finish()
        made = rules.convert(whole(TEXTS[name], calls), "minimax", target, "response")
        expected = parts(rules, made.body, target)
        assert parts(rules, rules.collect(out, target), target) == expected
        assert parts(rules, translator.result.body, target) == expected


def test_what_can_be_no_mark_goes_out_at_once_and_a_text_goes_the_short_way(rules: Any) -> None:
    def fed(*pieces: str) -> list[Json]:
        translator = rules.translator("minimax", "vllm")
        seen = []
        for piece in pieces:
            [*made] = translator.feed(chunk({"content": piece}))
            deltas = [one["choices"][0]["delta"] for one in made]
            said = [d.get("reasoning") or d.get("content") or "" for d in deltas]
            seen.append(("".join(said), translator._runs.take is not None))
        return seen

    fed("Hi")  # what a frame of this form means is known from its first one on
    assert fed("Hi", " the", "re") == [("Hi", True), (" the", True), ("re", True)]
    assert fed("<th", "ink>\nA", " b ", "</", "x", "</think>", "\n", "Hi", "!") == [
        ("", False), ("A", True), (" b", True), ("", True), (" </x", True), ("", False),
        ("", False), ("Hi", True), ("!", True),
    ]  # fmt: skip


def test_a_stream_that_breaks_off_says_what_waits(rules: Any) -> None:
    translator = rules.translator("minimax", "vllm")
    frames = [chunk({"content": "<think>Hm </th"}), {"error": {"message": "No.", "code": 500}}]
    out = [new for frame in frames for new in translator.feed(frame)] + translator.finish()
    said = [one["choices"][0]["delta"].get("reasoning") for one in out if "choices" in one]
    assert "".join(text for text in said if text) == "Hm </th"


def test_citations_keep_their_places(rules: Any) -> None:
    def cited(start: int, end: int) -> Json:
        where = {"start_index": start, "end_index": end, "url": "https://example.com", "title": "A"}
        return {"type": "url_citation", "url_citation": where}

    body = whole("<think>Hm.</think>Hi there", annotations=[cited(21, 26), cited(7, 10)])
    made = rules.convert(body, "minimax", "openai-responses", "response").body
    [text] = [part for item in made["output"] for part in item.get("content") or ()]
    assert text["text"] == "Hi there"
    assert [(c["start_index"], c["end_index"]) for c in text["annotations"]] == [(3, 8), (0, 8)]
    same = rules.convert(body, "minimax", "vllm", "response").body["choices"][0]["message"]
    assert same["annotations"][0]["url_citation"]["start_index"] == 3


def test_thoughts_go_back_in_the_text_where_nothing_else_takes_them(rules: Any) -> None:
    said = [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "Hi"},
    ]
    talk = [{"role": "user", "content": "a"}, {"role": "assistant", "content": said}]
    body = {"model": "m", "max_tokens": 9, "messages": [*talk, {"role": "user", "content": "b"}]}
    made = rules.convert(body, "anthropic", "minimax", trace=True)
    assert made.body["messages"][1]["content"] == "<think>\nHm.\n</think>\n\nHi"
    [note] = made.notes
    assert (note.code, note.source_path) == (
        "foreign-signature", "/messages/1/content/0/signature",
    )  # fmt: skip
    assert "reasoning_content" not in made.body["messages"][1]
    never = rules.convert(body, "anthropic", "perplexity").body
    assert never["messages"][1]["content"] == "Hi"
    back = rules.convert(made.body, "minimax", "gemini").body
    assert back["contents"][1]["parts"] == [{"thought": True, "text": "Hm."}, {"text": "Hi"}]


@pytest.mark.parametrize("provider", ["minimax", "perplexity"])
def test_an_answer_in_an_exchange_tells_its_thought_apart(rules: Any, provider: str) -> None:
    x = rules.exchange("anthropic", provider, "m", state={})
    ask = {"role": "user", "content": "a"}
    x.request({"model": "m", "max_tokens": 9, "messages": [ask]})
    text = "<think>\nHm.\n</think>\n\nHi"
    made = x.response(whole(text)).body["content"]
    assert [block["type"] for block in made] == ["thinking", "text"]
    talk = [ask, {"role": "assistant", "content": made}, ask]
    sent = x.request({"model": "m", "max_tokens": 9, "messages": talk}).body["messages"]
    assert sent[1]["content"] == (text if provider == "minimax" else "Hi")


def test_other_marks_are_data(rules: Any) -> None:
    body = whole("<thought>Hm.</thought>Hi")
    made = rules.convert(body, "gemini-openai", "gemini", "response").body
    assert parts(rules, made, "gemini") == [("reasoning", "Hm."), ("text", "Hi")]


def test_a_text_that_comes_whole_in_a_stream_holds_its_thought_too(rules: Any) -> None:
    streams = wireglot.load_rules(Path(__file__).parent / "fuzz" / "streams")
    for text, expected in (
        ("<why>So.</why> Hi", [("reasoning", "So."), ("text", "Hi")]),
        ("Hi", [("text", "Hi")]),
        ("<wh", [("text", "<wh")]),
    ):
        translator = streams.translator("streams", "gemini")
        frames = [
            {"kind": "start", "id": "r"},
            {"kind": "part", "at": 0, "part": {"text": text}},
            {"kind": "over", "at": 0},
            {"kind": "why", "why": "end_turn"},
            "[END]",
        ]
        out = [new for frame in frames for new in translator.feed(frame)] + translator.finish()
        assert parts(rules, rules.collect(out, "gemini"), "gemini") == expected
        assert parts(rules, translator.result.body, "gemini") == expected


@pytest.mark.parametrize("target", ["vllm", "openai-responses", "gemini"])
@pytest.mark.parametrize("late", [False, True])
def test_citations_keep_their_places_in_streams(rules: Any, target: str, late: bool) -> None:
    where = {"start_index": 21, "end_index": 26, "url": "https://example.com", "title": "A"}
    cited = [{"type": "url_citation", "url_citation": where}]
    frames = chunks(["<think>Hm.</thi", "nk>Hi", " there"], calls=late)
    frames.insert(-2, chunk({"annotations": cited}))
    translator = rules.translator("minimax", target)
    out = [new for frame in frames for new in translator.feed(frame)] + translator.finish()
    for body in (translator.result.body, rules.collect(out, target)):
        [one] = rules[target].read(body, "response").ir["candidates"]
        [text] = [part for part in one["parts"] if part["type"] == "text"]
        places = [(c["start_index"], c["end_index"]) for c in text.get("citations", ())]
        assert places == ([] if late and body is not translator.result.body else [(3, 8)])
    told = [note for note in translator.notes if "was over when it was said" in note.message]
    assert len(told) == late


SAID = {
    "<think>Hm.</think>Hi": "reasoning",
    " <think>Hm.": "reasoning",
    "Hi <think>Hm.</think>": "",
    'Hi <tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>': "tool_call",
    "Hi <tool_call>f()</tool_call>": "",
}


@pytest.mark.parametrize("target", ["groq", "vllm", "hermes"])
@pytest.mark.parametrize("text", SAID)
def test_a_text_that_reads_as_something_else_is_noted(rules: Any, text: str, target: str) -> None:
    """The host would tell it so, and the next conversion takes it apart."""
    told = SAID[text] if SAID[text] != "tool_call" or target != "groq" else ""
    for said in (text, [{"type": "text", "text": text}]):
        talk = [{"role": "user", "content": "a"}, {"role": "assistant", "content": said}]
        body = {"model": "m", "messages": [*talk, {"role": "user", "content": text}]}
        made = rules.convert(body, "anthropic", target)
        odd = [note for note in made.notes if note.code == "ambiguous"]
        assert [note.message.split("`")[1] for note in odd] == ([told] if told else [])
        for note in odd:
            where = "/messages/1/content" + "/0/text" * (said is not text)
            assert (note.source_path, note.effect) == (where, "changed")
            assert note.target_path is not None and note.target_path.startswith("/")
            assert note.rule is not None and ".yaml:" in note.rule
        again = rules.convert(made.body, target, target)
        assert again.body == made.body and not again.notes


def test_an_answer_that_reads_as_something_else_is_noted(rules: Any) -> None:
    text = "<think>Hm.</think>Hi"
    for target in ("groq", "huggingface"):
        made = rules.convert(whole(text), "openai-chat", target, "response")
        [note] = [note for note in made.notes if note.code == "ambiguous"]
        place = "/choices/0/message/content"
        assert (note.source_path, note.target_path) == (place, place)
    made = rules.convert(whole(text), "groq", "huggingface", "response")
    assert not [note for note in made.notes if note.code == "ambiguous"]
    for frames in (chunks(cut(text, 3)), chunks([text])):
        translator = rules.translator("openai-chat", "groq")
        made = [new for frame in frames for new in translator.feed(frame)] + translator.finish()
        assert "ambiguous" in [note.code for note in translator.result.notes]


def test_a_mark_behind_other_texts_is_none_where_these_are_one(rules: Any) -> None:
    said = [{"type": "text", "text": text} for text in ("Hi", "<think>Hm.</think>")]
    talk: Json = [{"role": "user", "content": "a"}, {"role": "assistant", "content": said}]
    for target, some in (("hermes", False), ("groq", True)):
        made = rules.convert({"model": "m", "messages": talk}, "anthropic", target)
        assert ("ambiguous" in [note.code for note in made.notes]) == some
    thinks = {"type": "thinking", "thinking": "So.", "signature": ""}
    talk[1]["content"] = [thinks, said[1]]
    made = rules.convert({"model": "m", "messages": talk}, "anthropic", "minimax")
    assert "ambiguous" not in [note.code for note in made.notes]
