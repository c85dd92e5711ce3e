"""Ids that are made: no two things have one, and the same payload always has the same."""

from __future__ import annotations

from typing import Any

import pytest

import wireglot

Json = dict[str, Any]
TIME = "2026-11-23T05:00:00.123456Z"
PREFIX = {"anthropic": "msg_", "openai-chat": "chatcmpl-", "openai-responses": "resp_"}
CLIENTS = sorted(PREFIX)


def said(text: str, time: str = TIME) -> Json:
    """An answer of Ollama, which has no id."""
    message = {"role": "assistant", "content": text}
    return {
        "model": "q",
        "created_at": time,
        "message": message,
        "done": True,
        "done_reason": "stop",
    }


def told(text: str, time: str = TIME) -> list[Json]:
    """The same answer in frames; each has a time of its own."""
    half = len(text) // 2
    frames = [
        {
            "model": "q",
            "created_at": at,
            "message": {"role": "assistant", "content": piece},
            "done": False,
        }
        for at, piece in ((time, text[:half]), ("2026-11-23T05:00:01.9Z", text[half:]))
    ]
    return [*frames, said("", "2026-11-23T05:00:02.5Z")]


def ask(client: str, *texts: str) -> Json:
    """A request of a client that has said and heard these texts by turns."""
    roles = ("user", "assistant")
    turns = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    if client == "openai-responses":
        return {"model": "m", "input": turns}
    return {"model": "m", "max_tokens": 9, "messages": turns}


def answered(client: str, request: Json, answer: Json) -> str:
    """Return the id under which an answer of Ollama reaches a client."""
    x = wireglot.exchange(client, "ollama", "q", state={})
    x.request(request)
    out = x.response(answer)
    assert [n.code for n in out.notes].count("made-id") >= 1
    return str(out.body["id"])


def streamed(client: str, request: Json, frames: list[Json]) -> tuple[str, Json]:
    """Return the id of a streamed answer, and the whole that was made of it."""
    x = wireglot.exchange(client, "ollama", "q", state={})
    x.request(request, stream=True)
    t = x.translator()
    out = [new for frame in frames for new in t.feed(frame)] + t.finish()
    heads = [one.get("message") or one.get("response") or one for one in out if one != "[DONE]"]
    (name,) = {head["id"] for head in heads if isinstance(head, dict) and "id" in head}
    return name, t.result.body


@pytest.mark.parametrize("client", CLIENTS)
def test_answers_without_ids_get_ids_of_their_own(client: str) -> None:
    first = answered(client, ask(client, "Hi"), said("A"))
    assert first.startswith(PREFIX[client])
    assert first == answered(client, ask(client, "Hi"), said("A"))  # asked again
    second = answered(client, ask(client, "Hi", "A", "Hi"), said("A"))
    other = answered(client, ask(client, "Hi"), said("A", TIME.replace("123456", "123457")))
    plain = wireglot.convert(said("A"), "ollama", client, unit="response").body["id"]
    assert len({first, second, other, plain}) == 4


@pytest.mark.parametrize("client", CLIENTS)
def test_a_stream_has_the_id_of_the_whole_answer(client: str) -> None:
    request = ask(client, "Hi")
    name, whole = streamed(client, request, told("Hello"))
    assert name == whole["id"] == answered(client, request, said("Hello"))
    t = wireglot.packaged().translator(source="ollama", target=client)
    frames = [new for frame in told("Hello") for new in t.feed(frame)] + t.finish()
    heads = [one.get("message") or one.get("response") or one for one in frames[:1]]
    assert heads[0]["id"] == t.result.body["id"] != name
