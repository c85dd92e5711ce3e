"""Exchanges: the loop of a client of each dialect in front of a provider of each other one."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

import wireglot
from wireglot import seeds
from wireglot.loop import carry

from . import mocks, width
from .loop import scripts
from .loop.clients import CARRIES, CLIENTS, Call, Result
from .oracles import sdk

Json = Any
PAIRS = list(itertools.permutations(CLIENTS, 2))
RESULTS = [
    [],
    [Result("text", "12 degrees"), Result("text", "25 degrees")],
    [Result("error", "Timeout")],
    [Result("image", "A map")],
    [],
]


class Loop:
    """One loop; `keeps` says what of an exchange survives: `object`, `process` or `nothing`."""

    def __init__(self, client: str, provider: str, keeps: str) -> None:
        self.client, self.provider, self.keeps = CLIENTS[client](), provider, keeps
        self.rules = wireglot.packaged()
        self.state: Json = None if keeps == "nothing" else {}
        self.notes: list[Any] = []
        self.carried: set[str] = set()  # keys that something rides in
        self.model = scripts.MODELS.get(provider, "m")
        self.x = self._exchange()

    def _exchange(self) -> Any:
        return self.rules.exchange(
            self.client.dialect, self.provider, model=self.model, state=self.state
        )

    def _again(self, turn: bool = False) -> None:
        """Go on in another process; without a state nothing is left after a turn."""
        if self.keeps == "process":
            self.state = json.loads(json.dumps(self.x.state))
            self.x = self._exchange()
        elif self.keeps == "nothing" and turn:
            self.x = self._exchange()

    def request(self) -> Json:
        given = self.client.request()
        before = json.dumps(given)
        out = self.x.request(given)
        assert json.dumps(given) == before
        self.notes += out.notes
        self._again()
        return out.body

    def response(self, body: Json) -> list[Call]:
        out = self.x.response(body)
        assert sdk.problems(self.client.dialect, "response", out.body) == []
        self.carried |= set(strange(out.body))
        self.notes += out.notes
        self._again(turn=True)
        return self.client.takes(out.body)


# One object; another process, out of order; nothing; nothing, out of order.
KEPT = [("object", False), ("process", True), ("nothing", False), ("nothing", True)]


@pytest.mark.parametrize(
    ("client", "provider", "keeps", "shuffled"),
    width.some([(*pair, *kept) for pair in PAIRS for kept in KEPT], 3),
)
def test_a_loop_of_five_turns_returns_all_that_the_provider_sent(
    client: str, provider: str, keeps: str, shuffled: bool
) -> None:
    loop = Loop(client, provider, keeps)
    mock = mocks.Provider(provider, loop.model)
    sent: list[list[Json]] = []
    # What Ollama's client keeps of a call has no room for an id or a signature.
    blind = keeps == "nothing" and client == "ollama"
    for turn, results in enumerate(RESULTS):
        if turn < 2:
            loop.client.says(f"Question {turn}.")
        body = loop.request()
        if blind:
            refused = mocks.refusals(provider, body, loop.model)
            refused = [one for one in refused if one.rule != "signature"]
        else:
            refused = mock.refusals(body)
        assert refused == []
        if not blind:
            assert scripts.history(provider, body) == sent
        answer = mock.answers(scripts.turns(provider, scripts.tool(provider, body))[turn])
        sent.append(scripts.said(provider, answer))
        calls = loop.response(answer)
        assert [(c.name, c.arguments["city"]) for c in calls] == [
            (loop.client.names[0], city) for city in cities(results, turn)
        ]
        pairs = list(zip(calls, results, strict=True))
        if pairs:
            # Without ids, order is all that tells the results of one tool apart.
            ordered = pairs[::-1] if shuffled and all(c.id for c in calls) else pairs
            loop.client.answers(ordered)
    loop.client.says("Thanks.")
    body = loop.request()
    if not blind:
        assert mock.refusals(body) == []
        assert scripts.history(provider, body) == sent
        assert answered(provider, body) == ["12 degrees", "25 degrees", "Timeout", "A map"]
    lost = {note.code for note in loop.notes if note.effect == "lost"}
    signed = "ignature" in json.dumps(scripts.SCRIPTS[provider])
    assert ("foreign-signature" in lost) == (blind and signed)
    named = [n for n in loop.notes if "need not keep this id" in n.message and n.effect == "lost"]
    assert bool(named) == (blind and provider != "vertex")
    assert loop.carried <= set(CARRIES[client])


@pytest.mark.parametrize("keeps", ["process", "nothing"])
def test_thoughts_that_a_client_holds_in_one_come_back_apart(keeps: str) -> None:
    loop = Loop("openai-responses", "anthropic", keeps)
    loop.client.says("Question.")
    body = loop.request()
    answer = scripts.turns("anthropic", scripts.tool("anthropic", body))[1]
    more = {"type": "thinking", "thinking": "One more.", "signature": "sig+more/=="}
    answer["content"].insert(1, more)
    loop.response(answer)
    (item,) = [item for item in loop.client.talk if item.get("type") == "reasoning"]
    assert [part["text"] for part in item["summary"]] == ["Two cities.", "One more."]
    back = loop.request()["messages"][1]["content"]
    assert back[: len(answer["content"])] == answer["content"]


@pytest.mark.parametrize("provider", ["openai-chat", "anthropic", "ollama"])
def test_a_client_that_drops_ids_which_it_need_not_keep_has_them_back_from_a_state(
    provider: str,
) -> None:
    loop = Loop("gemini", provider, "process")
    loop.client.says("Question.")
    turn = scripts.turns(provider, scripts.tool(provider, loop.request()))[2]  # only a call
    (call,) = loop.response(turn)
    loop.client.answers([(call._replace(id=None), Result("text", "12 degrees"))])
    for part in loop.client.talk[1]["parts"]:
        part.get("functionCall", {}).pop("id", None)
    body = loop.request()
    assert scripts.history(provider, body) == [scripts.said(provider, turn)]
    assert answered(provider, body) == ["12 degrees"]


@pytest.mark.parametrize("keeps", ["process", "nothing"])
def test_all_places_of_what_comes_back_are_noted_as_kept(keeps: str) -> None:
    loop = Loop("openai-chat", "openai-responses", keeps)
    loop.client.says("Question.")
    body = loop.request()
    loop.response(scripts.turns("openai-responses", scripts.tool("openai-responses", body))[1])
    thought = [note for note in loop.notes if (note.source_path or "").startswith("/output/0/")]
    assert {note.source_path[10:]: note.effect for note in thought if note.source_path} == {
        "summary/0": "kept", "id": "kept", "encrypted_content": "kept",
    }  # fmt: skip


@pytest.mark.parametrize("client", ["openai-chat", "anthropic", "gemini"])
def test_a_summary_that_does_not_go_back_is_noted_where_it_rode(client: str) -> None:
    """Responses takes the first summary of a thought back alone; each further one is noted."""
    loop = Loop(client, "openai-responses", "nothing")
    loop.client.says("Question.")
    body = loop.request()
    answer = scripts.turns("openai-responses", scripts.tool("openai-responses", body))[1]
    [thought] = [item for item in answer["output"] if item["type"] == "reasoning"]
    thought["summary"].append({"type": "summary_text", "text": "One more."})
    loop.client.answers([(call, Result("text", "12 degrees")) for call in loop.response(answer)])
    before = len(loop.notes)
    back = [item for item in loop.request()["input"] if item.get("type") == "reasoning"]
    assert [item["summary"] for item in back] == [thought["summary"][:1]]
    told = [n for n in loop.notes[before:] if n.code == "no-place" and "reasoning" in n.message]
    where = {
        "openai-chat": "/tool_calls/0/extra_content/wireglot",
        "anthropic": "/content/1",
        "gemini": "/parts/1",
    }
    at = f"/{'contents' if client == 'gemini' else 'messages'}/1{where[client]}"
    assert [note.source_path for note in told] == [at]


def strange(body: Json) -> list[str]:
    """Return the keys of a response under which something rides."""
    found: list[str] = []
    for key, value in walk(body):
        rides = carry.MARK in value if isinstance(value, dict) else carry.unsealed(value)
        if rides:
            found.append(key)
    return found


def walk(value: Json) -> Iterator[tuple[str, Json]]:
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield key, inner
        yield from walk(inner)
    for inner in value if isinstance(value, list) else ():
        yield from walk(inner)


def cities(results: list[Result], turn: int) -> list[str]:
    return {1: ["Oslo", "Rome"], 2: ["Oslo"], 3: ["Rome"]}.get(turn, [])


def answered(provider: str, body: Json) -> list[str]:
    """Return the results in a request in the order of the calls that they answer."""
    found: list[str] = []
    places: list[Any] = []
    if provider in ("gemini", "vertex"):
        parts = [p for c in body["contents"] for p in c["parts"]]
        return [
            text_of(p["functionResponse"]["response"]) for p in parts if "functionResponse" in p
        ]
    if provider == "anthropic":
        blocks = [b for m in body["messages"] for b in m["content"] if isinstance(b, dict)]
        places = [b["id"] for b in blocks if b["type"] == "tool_use"]
        told = {b["tool_use_id"]: b["content"] for b in blocks if b["type"] == "tool_result"}
        return [text_of(told[place]) for place in places]
    if provider == "openai-responses":
        items = body["input"] if isinstance(body["input"], list) else []
        places = [i["call_id"] for i in items if i.get("type") == "function_call"]
        told = {i["call_id"]: i["output"] for i in items if "output" in i}
        return [text_of(told[place]) for place in places]
    if provider == "ollama":
        return [text_of(m["content"]) for m in body["messages"] if m["role"] == "tool"]
    for message in body["messages"]:
        places += [c["id"] for c in message.get("tool_calls") or ()]
    told = {m["tool_call_id"]: m["content"] for m in body["messages"] if m["role"] == "tool"}
    found = [text_of(told[place]) for place in places]
    return found


def text_of(value: Json) -> str:
    """Return the text of a result, whatever is around it."""
    if isinstance(value, str):
        return text_of(json.loads(value)) if value.startswith("{") else value
    if isinstance(value, list):
        return "".join(block.get("text", "") for block in value)
    return str(next(iter(value.values())))


# --- Seed 002: the example of the loop, as it is documented ---------------------------------------


@pytest.mark.parametrize("keeps", ["process", "nothing"])
@pytest.mark.parametrize("provider", CLIENTS)
def test_the_documented_example_of_the_loop_runs_for_every_provider(
    provider: str, keeps: str
) -> None:
    """The caller keeps the content and the calls of an answer, and nothing else of it."""
    model = scripts.MODELS.get(provider, "m")
    mock = mocks.Provider(provider, model)
    parameters = {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    }
    weather = {
        "name": "get_weather",
        "description": "指定都市の天気を取得",
        "parameters": parameters,
    }
    tools = [{"type": "function", "function": weather}]
    prompt = [{"role": "user", "content": "東京の天気は?"}]
    state: Json = {} if keeps == "process" else None

    def exchange() -> Any:
        return wireglot.exchange("openai-chat", provider, model, state=state)

    # 1. The first query, with definitions of tools.
    x = exchange()
    sent = x.request({"messages": prompt, "tools": tools}).body
    assert mock.refusals(sent) == []
    answer = mock.answers(scripts.turns(provider, "get_weather")[1])
    result1 = x.response(answer).body["choices"][0]["message"]

    # 2. The calls are run.
    results = [
        {
            "role": "tool",
            "content": json.dumps({"city": json.loads(tc["function"]["arguments"])["city"]}),
            "tool_call_id": tc["id"],
            "name": tc["function"]["name"],
        }
        for tc in result1["tool_calls"]
    ]

    # 3. The query again, with the results.
    state = json.loads(json.dumps(x.state)) if keeps == "process" else None
    call = {
        "role": "assistant",
        "content": result1["content"],
        "tool_calls": result1["tool_calls"],
    }
    out = exchange().request({"messages": [*prompt, call, *results], "tools": tools})
    assert mock.refusals(out.body) == []
    assert scripts.history(provider, out.body) == [scripts.said(provider, answer)]
    assert answered(provider, out.body) == ["Oslo", "Rome"]
    # The name beside a result says again what its call says.
    lost = [note.source_path for note in out.notes if note.effect == "lost"]
    assert lost in ([], ["/messages/2/name", "/messages/3/name"])


def test_ids_of_a_request_are_all_texts_under_a_key_for_ids_of_calls() -> None:
    odd = {"id": 'a"b\\', "deep": [{"id": "é\u2028"}], 'x"id': "no", "y": '"id": "no"', "id2": "no"}
    listed = ["id", {"id": 5}, {"id": ["no"]}, '{"id": "no"}']
    x = wireglot.exchange("openai-chat", "gemini", "m", state={})
    x.request({"messages": [{"role": "user", "content": "Hi"}], "metadata": odd, "z": listed})
    assert x.state["ids"] == ['a"b\\', "é\u2028"]


def test_a_text_of_nothing_is_put_back_only_where_its_entry_says_so() -> None:
    told = {"origin": "gemini", "says": "", "parts": []}
    for mark, parts in ((seeds.digest("")[:16], 2), ("0" * 16, 1)):
        entry = {"type": "text", "size": 0, "digest": mark, "signature": "c2ln"}
        call = {"type": "tool_call", "call": "c1", "id": None}
        state = {"version": 1, "turns": [{**told, "parts": [call, entry]}]}
        x = wireglot.exchange("openai-chat", "gemini", "m", state=state)
        tool = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        asked = {"role": "assistant", "content": None, "tool_calls": [tool]}
        result = {"role": "tool", "tool_call_id": "c1", "content": "x"}
        out = x.request({"messages": [{"role": "user", "content": "Hi"}, asked, result]})
        assert len(out.body["contents"][1]["parts"]) == parts


# --- What a request tells -------------------------------------------------------------------------


def test_a_request_tells_what_the_one_before_did_not() -> None:
    asks = {"role": "user", "content": "Hi", "a": 1}
    body: Json = {"model": "m", "messages": [asks], "seed": 7}
    x = wireglot.exchange("openai-chat", "anthropic", "m", state={})
    first = x.request(body)
    paths = {"/messages/0/a", "/seed"}
    assert paths <= {note.source_path for note in first.notes}
    assert x.notes == first.notes
    said = {"role": "assistant", "content": "Ho", "b": 1}
    more = {**body, "messages": [asks, said, {"role": "user", "content": "And?"}], "logprobs": True}
    again = wireglot.exchange("openai-chat", "anthropic", "m", state=x.state)
    second = again.request(more)
    assert {note.source_path for note in second.notes} == {"/messages/1/b", "/logprobs"}
    assert paths < {note.source_path for note in again.notes}
    assert again.request(more).notes == ()
    assert "/seed" in {note.source_path for note in again.notes}
    # What was gone in between is told again.
    again.request({**more, "seed": None})
    assert "/seed" in {note.source_path for note in again.request(more).notes}
    with pytest.raises(wireglot.PolicyError):  # a policy sees all of them
        wireglot.exchange(
            "openai-chat", "anthropic", "m", state=again.state, policy={"effect:lost": "fail"}
        ).request(more)
