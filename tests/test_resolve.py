"""`resolve=`: what the caller supplies where the target cannot name it."""

from __future__ import annotations

import base64
import copy
from typing import Any

import pytest

import wireglot
from wireglot import UsageError

PNG = b"\x89PNG\r\n\x1a\n"
TEXT = base64.b64encode(PNG).decode()
URL = {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}
CUT = {
    "type": "tool_result",
    "tool_call_id": "c",
    "name": "f",
    "kind": "text",
    "value": "abc...",
    "trimmed": True,
    "output_ref": {"id": "o1", "byte_size": 9},
}


class Asked:
    """A function to ask that remembers the questions."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.sources = answer, list[Any]()

    def __call__(self, source: dict[str, Any]) -> Any:
        self.sources.append(copy.deepcopy(source))
        source.clear()  # what it does with its argument is its own affair
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def request(*parts: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": list(parts)}]}


def codes(out: wireglot.Conversion) -> list[str]:
    return [note.code for note in out.notes if note.code != "filled-in"]


@pytest.mark.parametrize("data", [PNG, TEXT], ids=["bytes", "base64"])
def test_bytes_stand_for_a_url_where_only_bytes_are_taken(data: Any) -> None:
    asked = Asked({"media_type": "image/png", "data": data})
    body = request(URL)
    given = copy.deepcopy(body)
    out = wireglot.convert(body, "openai-chat", "ollama", resolve=asked)
    assert body == given
    assert out.body["messages"] == [{"role": "user", "content": "", "images": [TEXT]}]
    assert asked.sources == [{"type": "url", "url": "https://a.example/b.png"}]
    (note,) = [n for n in out.notes if n.code == "resolved"]
    assert (note.effect, note.severity, note.source_path) == (
        "moved",
        "info",
        "/messages/0/content/0",
    )


@pytest.mark.parametrize("target", ["anthropic", "openai-responses", "gemini"])
def test_an_address_that_the_target_does_not_read_is_asked_for(target: str) -> None:
    asked = Asked({"media_type": "image/png", "data": PNG})
    body = request({"type": "image_url", "image_url": {"url": "s3://b/x.png"}})
    out = wireglot.convert(body, "openai-chat", target, model="m", resolve=asked)
    assert asked.sources == [{"type": "url", "url": "s3://b/x.png"}]
    assert codes(out) == ["resolved"] and TEXT in repr(out.body)
    assert "no-place" in codes(wireglot.convert(body, "openai-chat", target, model="m"))


def test_bytes_stand_for_a_file_that_another_provider_holds() -> None:
    asked = Asked({"media_type": "application/pdf", "data": b"%PDF-"})
    source = {"type": "file", "file_id": "file_1"}
    body = {**request({"type": "document", "source": source}), "max_tokens": 9}
    out = wireglot.convert(body, "anthropic", "gemini", resolve=asked)
    inline = {"mimeType": "application/pdf", "data": base64.b64encode(b"%PDF-").decode()}
    assert out.body["contents"][0]["parts"] == [{"inlineData": inline}]
    assert asked.sources == [
        {"type": "file_id", "file": {"value": "file_1", "origin": "anthropic"}}
    ]
    assert "resolved" in codes(out)
    assert "foreign-file" not in codes(out)


def test_media_in_a_result_are_supplied_too() -> None:
    asked = Asked({"media_type": "image/png", "data": PNG})
    result = {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}}
    call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "c"}
    body = {
        "max_tokens": 9,
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [{**answer, "content": [result]}]},
        ],
    }
    out = wireglot.convert(body, "anthropic", "ollama", resolve=asked)
    assert out.body["messages"][-1]["images"] == [TEXT]
    assert "resolved" in codes(out)


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_nobody_is_asked_for_what_the_target_can_name(target: str) -> None:
    asked = Asked({"data": PNG})
    wireglot.convert(request(URL), "openai-chat", target, resolve=asked)
    assert asked.sources == []


def test_nobody_is_asked_for_what_the_target_could_not_hold() -> None:
    asked = Asked({"media_type": "video/mp4", "data": b"\0"})
    video = {"fileData": {"mimeType": "video/mp4", "fileUri": "https://a.example/b.mp4"}}
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}, video]}]}
    out = wireglot.convert(body, "gemini", "openai-chat", resolve=asked)
    assert asked.sources == []
    assert "no-place" in codes(out)


def test_one_source_is_asked_for_once() -> None:
    asked = Asked(None)
    out = wireglot.convert(request(URL, {"type": "text", "text": "a"}), "openai-chat", "ollama",
                           resolve=asked)  # fmt: skip
    assert len(asked.sources) == 1
    without = wireglot.convert(request(URL, {"type": "text", "text": "a"}), "openai-chat", "ollama")
    assert (out.body, out.notes) == (without.body, without.notes)


def test_an_exchange_asks_for_requests() -> None:
    asked = Asked({"media_type": "image/png", "data": PNG})
    talk = wireglot.exchange("openai-chat", "ollama", resolve=asked)
    for _ in range(2):
        out = talk.request(request(URL))
        assert out.body["messages"][0]["images"] == [TEXT]
    assert len(asked.sources) == 2


def test_a_result_that_was_cut_is_written_whole() -> None:
    asked = Asked({"data": b"abcdefghi"})
    out = wireglot.packaged()["openai-chat"].write(CUT, "tool_result", resolve=asked)
    assert out.body == {"role": "tool", "tool_call_id": "c", "content": "abcdefghi"}
    assert codes(out) == ["expanded"]
    assert asked.sources == [{"type": "output_ref", "output_ref": CUT["output_ref"]}]


def test_data_that_were_cut_are_data() -> None:
    cut = {**CUT, "kind": "data", "value": {"a": 1}}
    gemini = wireglot.packaged()["gemini"]
    out = gemini.write(cut, "tool_result", resolve=Asked({"data": b'{"a":1,"b":2}'}))
    assert out.body["functionResponse"]["response"] == {"a": 1, "b": 2}
    out = gemini.write(cut, "tool_result", resolve=Asked({"data": b'{"a":'}))
    assert out.body["functionResponse"]["response"] == {"a": 1}
    assert codes(out) == ["no-place", "no-place"]


def test_media_of_a_result_that_was_cut_stay() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": TEXT}}
    cut = {**CUT, "kind": "multimodal", "value": [{"type": "text", "text": "ab"}, image]}
    out = wireglot.packaged()["anthropic"].write(
        cut, "tool_result", resolve=Asked({"data": b"abc"})
    )
    assert [block["type"] for block in out.body["content"]] == ["text", "image"]
    assert out.body["content"][0]["text"] == "abc"


def test_a_result_that_is_whole_is_not_asked_for() -> None:
    asked = Asked({"data": b"abcdefghi"})
    whole = {k: v for k, v in CUT.items() if k != "trimmed"}
    out = wireglot.packaged()["openai-chat"].write(whole, "tool_result", resolve=asked)
    assert asked.sources == []
    assert codes(out) == ["no-place"]


def test_what_the_function_raises_is_raised() -> None:
    failure = ConnectionError("no network")
    with pytest.raises(ConnectionError) as raised:
        wireglot.convert(request(URL), "openai-chat", "ollama", resolve=Asked(failure))
    assert raised.value is failure


@pytest.mark.parametrize(
    "answer",
    [
        b"bytes",
        {},
        {"data": 1},
        {"data": "no base64!"},
        {"data": "aA/A="},
        {"data": b"", "media_type": 1},
    ],
    ids=["bytes", "no-data", "number", "no-base64", "too-long", "media-type"],
)
def test_what_the_function_returns_is_checked(answer: Any) -> None:
    with pytest.raises(UsageError, match="`resolve` returns"):
        wireglot.convert(request(URL), "openai-chat", "ollama", resolve=Asked(answer))


def test_resolve_is_a_function() -> None:
    wrong: Any = {"https://a.example/b.png": PNG}
    with pytest.raises(UsageError, match="`resolve` is a function"):
        wireglot.convert(request(URL), "openai-chat", "ollama", resolve=wrong)
    with pytest.raises(UsageError, match="`resolve` is a function"):
        wireglot.exchange("openai-chat", "ollama", resolve=wrong)
    with pytest.raises(UsageError, match="`resolve` is a function"):
        wireglot.packaged()["ollama"].write(CUT, "tool_result", resolve=wrong)
