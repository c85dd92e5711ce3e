"""Searches that a provider ran: they go back to it with what they found, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import wireglot

Json = Any
RAN: dict[str, Json] = {
    "anthropic": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search",
             "input": {"query": "weather Ulm"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
                {"type": "web_search_result", "url": "https://example.com", "title": "T",
                 "encrypted_content": "sealed"}]},
            {"type": "text", "text": "It is 12 C."}],
        "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 5},
    },
    "openai-responses": {
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "m",
        "output": [
            {"type": "web_search_call", "id": "ws_1", "status": "completed",
             "action": {"type": "search", "query": "weather Ulm"}},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": "It is 12 C.", "annotations": []}]}],
        "usage": {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8},
    },
}  # fmt: skip
CLIENTS = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama")
PAIRS = [(c, p) for p in RAN for c in CLIENTS if c != p]


def asks(client: str, answer: Json = None) -> Json:
    """Return a request of a client, the second one with the answer that it got."""
    key = {"gemini": "contents", "openai-responses": "input"}.get(client, "messages")
    ask = {"role": "user", "parts": [{"text": "Hi"}]} if client == "gemini" else None
    ask = ask or {"role": "user", "content": "Hi"}
    said: list[Json] = []
    if answer is not None:
        heard: dict[str, Callable[[], list[Json]]] = {
            "openai-chat": lambda: [answer["choices"][0]["message"]],
            "openai-responses": lambda: answer["output"],
            "anthropic": lambda: [{"role": "assistant", "content": answer["content"]}],
            "gemini": lambda: [answer["candidates"][0]["content"]],
            "ollama": lambda: [answer["message"]],
        }
        said = [*heard[client](), ask]
    rest = {"max_tokens": 9} if client == "anthropic" else {}
    return {**({} if client == "gemini" else {"model": "m"}), **rest, key: [ask, *said]}


def searches(provider: str, body: Json) -> list[Json]:
    """Return what a request to a provider tells of searches."""
    if provider == "openai-responses":
        return [item for item in body["input"] if item.get("type") == "web_search_call"]
    blocks = [b for m in body["messages"] for b in m["content"] if not isinstance(b, str)]
    return [b for b in blocks if b["type"] in ("server_tool_use", "web_search_tool_result")]


def turn(client: str, provider: str, second: wireglot.Exchange | None = None) -> Json:
    """Return the second request as the provider gets it, by the same exchange or another."""
    one = wireglot.exchange(client, provider)
    one.request(asks(client))
    answer = one.response(RAN[provider]).body
    return (second or one).request(asks(client, answer)).body


@pytest.mark.parametrize(("client", "provider"), PAIRS)
def test_a_search_comes_back_to_who_ran_it(client: str, provider: str) -> None:
    ran = RAN[provider]
    told = ran["content"][:2] if provider == "anthropic" else ran["output"][:1]
    assert searches(provider, turn(client, provider)) == told


@pytest.mark.parametrize(("client", "provider"), PAIRS)
def test_without_a_state_no_half_of_it_comes_back(client: str, provider: str) -> None:
    body = turn(client, provider, wireglot.exchange(client, provider))
    found = searches(provider, body)
    if provider == "anthropic":
        assert len(found) in (0, 2)  # it may ride
        return
    assert all(one["id"] == "ws_1" for one in found)


@pytest.mark.parametrize(("source", "target"), [tuple(RAN), tuple(RAN)[::-1]])
def test_a_search_that_ran_elsewhere_is_left_out_and_noted(source: str, target: str) -> None:
    answer = wireglot.convert(RAN[source], source, "universal-tool", "response")
    assert answer.notes
    history = asks(source, RAN[source])
    out = wireglot.convert(history, source, target)
    assert not searches(target, out.body)
    lost = [note for note in out.notes if note.code == "no-place" and note.effect == "lost"]
    assert len(lost) >= len(RAN[source].get("content", RAN[source].get("output"))) - 1


def test_a_finding_that_lost_its_seal_goes_nowhere() -> None:
    body = asks("anthropic", RAN["anthropic"])
    read = wireglot.packaged()["anthropic"].read(body).ir
    finding = read["messages"][1]["parts"][1]
    finding["results"][0]["signature"]["origin"] = "another"
    out = wireglot.packaged()["anthropic"].write(read, options={"repair": True})
    assert not searches("anthropic", out.body)
    assert [n.code for n in out.notes if n.effect == "lost"].count("no-place") == 2
