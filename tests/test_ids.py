"""Ids that are made: no two things have one, and the same payload always has the same."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wireglot
from wireglot.ir import Unit

from . import growth, width

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


# -- calls ----------------------------------------------------------------------------------------

LAW = settings(
    max_examples=width.times(25, 12), deadline=None, suppress_health_check=list(HealthCheck)
)
names = st.sampled_from(["f", "g"])
arguments = st.dictionaries(st.sampled_from("ab"), st.integers(0, 2), max_size=2)
calls = st.lists(st.tuples(names, arguments), min_size=1, max_size=3)
histories = st.lists(calls, min_size=1, max_size=4)


def called(made: list[tuple[str, Json]], state: str = "") -> list[Json]:
    """The parts of a turn of Gemini that calls tools, without ids."""
    extra = {"thoughtSignature": state} if state else {}
    return [{"functionCall": {"name": name, "args": args}, **extra} for name, args in made]


@LAW
@given(answered=st.lists(st.tuples(st.booleans(), names), min_size=1, max_size=6))
def test_results_of_a_stream_have_the_ids_of_their_calls(answered: list[tuple[bool, str]]) -> None:
    # An answer that holds calls and results, neither with an id: those are results of these.
    parts = [
        {"functionResponse": {"name": name, "response": {}}}
        if result
        else {"functionCall": {"name": name, "args": {}}}
        for result, name in answered
    ]
    bodies = [
        {"candidates": [{"content": {"role": "model", "parts": some}}], "responseId": "r"}
        for some in (parts, *([part] for part in parts))
    ]
    t = wireglot.packaged().translator(source="gemini", target="openai-responses")
    frames = [new for body in bodies[1:] for new in t.feed(body)] + t.finish()
    done = [one["item"] for one in frames if one["type"] == "response.output_item.done"]
    whole = wireglot.convert(bodies[0], "gemini", "openai-responses", "response").body["output"]
    ids = [item["call_id"] for item in whole]
    assert ids == [item["call_id"] for item in done]
    assert ids == [item["call_id"] for item in t.result.body["output"]]
    waiting: list[tuple[str, str]] = []
    for (result, name), made in zip(answered, ids, strict=True):
        call = next((one for one in waiting if result and one[0] == name), None)
        if call is not None:
            waiting.remove(call)
        assert (call is None) or made == call[1]
        if not result:
            waiting.append((name, made))


def test_results_without_calls_are_numbered_in_their_answer() -> None:
    def answer(index: int, *parts: Json) -> Json:
        content = {"role": "model", "parts": [*parts]}
        return {"index": index, "content": content, "finishReason": "STOP"}

    first, second = ({"functionResponse": {"name": name, "response": {}}} for name in "fh")
    call = {"functionCall": {"name": "g", "args": {}}}
    # A target of one answer takes the one that calls a tool.
    body = {"candidates": [answer(0, first), answer(1, call, second)], "responseId": "r"}
    t = wireglot.packaged().translator(source="gemini", target="openai-responses")
    t.feed(body)
    t.finish()
    whole = wireglot.convert(body, "gemini", "openai-responses", "response").body["output"]
    assert [item["type"] for item in whole] == ["function_call", "function_call_output"]
    streamed = t.result.body["output"]
    assert [item["call_id"] for item in whole] == [item["call_id"] for item in streamed]


def history(turns: list[list[tuple[str, Json]]]) -> Json:
    """A request of Gemini in which no call has an id."""
    contents: list[Json] = [{"role": "user", "parts": [{"text": "Hi"}]}]
    for made in turns:
        contents.append({"role": "model", "parts": called(made)})
        answers = [{"functionResponse": {"name": n, "response": {"output": 1}}} for n, _ in made]
        contents.append({"role": "user", "parts": answers})
    return {"contents": contents}


def ids_of(body: Json, trace: bool = False) -> list[str]:
    """The ids of the calls of a request of Gemini, as Chat sees them."""
    out = wireglot.convert(body, "gemini", "openai-chat", model="m", trace=trace).body
    made = [c["id"] for m in out["messages"] for c in m.get("tool_calls", ())]
    assert sorted(made) == sorted(m["tool_call_id"] for m in out["messages"] if m["role"] == "tool")
    return made


@LAW
@given(histories, calls)
def test_ids_of_a_history_stay_when_it_grows_and_no_two_calls_share_one(
    turns: list[list[tuple[str, Json]]], more: list[tuple[str, Json]]
) -> None:
    before, after = ids_of(history(turns)), ids_of(history([*turns, more]))
    assert after[: len(before)] == before
    assert len(set(after)) == len(after)
    assert after == ids_of(history([*turns, more]), trace=True)


def test_an_id_does_not_depend_on_what_a_tool_of_one_provider_remembers() -> None:
    body = {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "tools": [{"googleMaps": {}}],
    }
    plain, traced = (wireglot.convert(body, "gemini", "ag-ui", trace=t).body for t in (False, True))
    assert plain == traced


@LAW
@given(histories, calls, calls)
def test_ids_of_other_histories_are_others(
    turns: list[list[tuple[str, Json]]], one: list[tuple[str, Json]], two: list[tuple[str, Json]]
) -> None:
    first, other = (ids_of(history([*turns, last])) for last in (one, two))
    count = len(ids_of(history(turns)))
    assert first[:count] == other[:count]
    assert (set(first[count:]) & set(other[count:]) == set()) is (one != two)


def heard(
    client: str, request: Json, parts: list[Json], name: str | None, stream: bool
) -> tuple[str, list[str]]:
    """Return the id of an answer of Gemini and those of its calls, as a client gets them."""
    x = wireglot.exchange(client, "gemini", "m", state={})
    x.request(request, stream=stream)
    said: Json = {"modelVersion": "m", **({"responseId": name} if name else {})}
    end = {"index": 0, "finishReason": "STOP"}
    if not stream:
        one = {**end, "content": {"role": "model", "parts": parts}}
        body = x.response({"candidates": [one], **said}).body
    else:
        t = x.translator()
        for part in parts:
            content = {"role": "model", "parts": [part]}
            t.feed({"candidates": [{"index": 0, "content": content}], **said})
        t.feed({"candidates": [{**end, "content": {"role": "model", "parts": []}}], **said})
        t.finish()
        body = t.result.body
    if client == "anthropic":
        return body["id"], [block["id"] for block in body["content"]]
    if client == "openai-chat":
        return body["id"], [one["id"] for one in body["choices"][0]["message"]["tool_calls"]]
    return body["id"], [item["call_id"] for item in body["output"]]


@LAW
@given(calls, calls, st.sampled_from([None, "r1"]), st.sampled_from(CLIENTS))
def test_calls_of_an_answer_have_ids_of_their_own(
    one: list[tuple[str, Json]], two: list[tuple[str, Json]], name: str | None, client: str
) -> None:
    request = ask(client, "Hi")
    first = heard(client, request, called(one), name, False)
    assert first == heard(client, request, called(one), name, False)  # asked again
    assert first == heard(client, request, called(one), name, True)
    assert len(set(first[1])) == len(one)
    later = heard(client, ask(client, "Hi", "A", "Hi"), called(one), name, False)
    assert first[0] != later[0] or name
    assert not set(first[1]) & set(later[1])
    if name is None:  # two requests at once may be equal; what the answers say is not
        at_once = heard(client, request, called(two), None, False)
        same = [n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a == b]
        shared = set(first[1]) & set(at_once[1])
        assert shared == {first[1][n] for n in same}
        signed = heard(client, request, called(one, "c2ln"), None, False)
        assert not set(first[1]) & set(signed[1])


CHAT = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}


def twice(name: str) -> Json:
    """An answer of Chat with two calls of one id."""
    made = [
        {"id": name, "type": "function", "function": {"name": "f", "arguments": args}}
        for args in ('{"a":1}', '{"a":2}')
    ]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return {**CHAT, "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


def frames_of(answer: Json) -> list[Json]:
    """An answer of Chat in frames."""
    head = {**CHAT, "object": "chat.completion.chunk"}
    found = [
        {"tool_calls": [{"index": n, **call}]}
        for n, call in enumerate(answer["choices"][0]["message"]["tool_calls"])
    ]
    deltas = [({"role": "assistant", "content": None}, None), *((d, None) for d in found)]
    return [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
        for delta, end in [*deltas, ({}, "tool_calls")]
    ]


def test_two_calls_of_one_id_are_two_where_nothing_is_kept() -> None:
    told = []
    for result in (True, False):
        t = wireglot.load_rules().translator("anthropic", "openai-chat", result=result)
        made = []
        for frame in growth.frames(2, calls=2):
            if "content_block" in frame:
                frame["content_block"]["id"] = "toolu_1"
            made += t.feed(frame)
        whole = [new for new in made if isinstance(new, dict)]
        choices = [choice for new in whole for choice in new["choices"]]
        calls = [c for choice in choices for c in choice["delta"].get("tool_calls", ())]
        told.append([call["id"] for call in calls if "id" in call])
        assert "renamed" in [note.code for note in t.notes]
    assert told[0] == told[1]
    assert len(set(told[0])) == 2


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ["functions.f:0", "call_1", ""])
def test_two_calls_of_one_id_are_two_to_the_client(name: str, stream: bool) -> None:
    x = wireglot.exchange("anthropic", "openai-chat", model="m", state={})
    x.request(ask("anthropic", "Hi"))
    if stream:
        t = x.translator()
        for frame in frames_of(twice(name)):
            t.feed(frame)
        t.finish()
        content = t.result.body["content"]
    else:
        content = x.response(twice(name)).body["content"]
    made = [block["id"] for block in content]
    assert len(set(made)) == 2 and "" not in made
    assert [block["input"] for block in content] == [{"a": 1}, {"a": 2}]
    results = [{"type": "tool_result", "tool_use_id": i, "content": i} for i in reversed(made)]
    later = ask("anthropic", "Hi")
    later["messages"] += [
        {"role": "assistant", "content": content},
        {"role": "user", "content": results},
    ]
    out = x.request(later).body["messages"][1:]
    given = [call["id"] for call in out[0]["tool_calls"]]
    assert name == "" or given[0] == name
    assert sorted(m["tool_call_id"] for m in out[1:]) == sorted(given)
    if len(set(given)) == 1:  # only their order tells the results apart
        assert [m["content"] for m in out[1:]] == made
    else:
        assert {m["tool_call_id"]: m["content"] for m in out[1:]} == dict(
            zip(given, made, strict=True)
        )


def test_notes_and_errors_do_not_carry_long_ids() -> None:
    long = "a" * 200_000
    body = ask("openai-chat", "Hi")
    call = {"id": long, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    body["messages"] += [
        {"role": "assistant", "content": None, "tool_calls": [call, call]},
        {"role": "tool", "tool_call_id": long, "content": "1"},
    ]
    out = wireglot.convert(body, "openai-chat", "anthropic")
    told = [str(note) for note in out.notes if note.code in ("renamed", "duplicate-id")]
    assert told and max(map(len, told)) < 2000
    with pytest.raises(wireglot.ConversionError) as found:
        wireglot.convert(
            ask("openai-chat") | {"messages": [{"role": long}]}, "openai-chat", "gemini"
        )
    assert len(str(found.value)) < 2000


# -- calls that came without an id -----------------------------------------------------------------

UNNAMED: list[Json] = [{}, {"id": None}]


def unnamed(dialect: str, none: Json) -> tuple[Json, Json]:
    """A response with two calls without ids, and the request in which they are answered."""
    texts = ("{}", '{"x":1}')
    if dialect == "anthropic":
        blocks = [
            {"type": "tool_use", **none, "name": "f", "input": json.loads(text)} for text in texts
        ]
        said = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": blocks}
        end = {"stop_reason": "tool_use", "stop_sequence": None}
        usage = {"usage": {"input_tokens": 1, "output_tokens": 1}}
        name = {"tool_use_id": None} if none else {}
        results = [{"type": "tool_result", **name, "content": text} for text in "ab"]
        turns = [("user", "Hi"), ("assistant", blocks), ("user", results)]
        talk = [{"role": role, "content": content} for role, content in turns]
        return {**said, **end, **usage}, {"model": "m", "max_tokens": 9, "messages": talk}
    name = {"call_id": None} if none else {}
    if dialect == "openai-responses":
        items = [
            {
                "type": "function_call",
                "id": f"fc_{n}",
                **name,
                "name": "f",
                "arguments": text,
                "status": "completed",
            }
            for n, text in enumerate(texts)
        ]
        whole = {"id": "r1", "object": "response", "created_at": 1, "status": "completed"}
        results = [{"type": "function_call_output", **name, "output": text} for text in "ab"]
        asked = [{"role": "user", "content": "Hi"}, *items, *results]
        return {**whole, "model": "m", "output": items}, {"model": "m", "input": asked}
    calls = [
        {**none, "type": "function", "function": {"name": "f", "arguments": text}} for text in texts
    ]
    message: Json = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    whole = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m"}
    name = {"tool_call_id": None} if none else {}
    results = [{"role": "tool", **name, "content": text} for text in "ab"]
    asked = [{"role": "user", "content": "Hi"}, message, *results]
    return {**whole, "choices": [choice]}, {"model": "m", "messages": asked}


def calls_in(ir: Json) -> list[Json]:
    """The calls of a response or request."""
    owners = ir.get("candidates") or ir["messages"]
    return [part for one in owners for part in one["parts"] if part["type"] == "tool_call"]


@pytest.mark.parametrize("none", UNNAMED, ids=["absent", "null"])
@pytest.mark.parametrize(
    "dialect", ["openai-chat", "chat-compatible", "deepseek", "anthropic", "openai-responses"]
)
def test_calls_without_ids_come_out_as_calls(dialect: str, none: Json) -> None:
    rules = wireglot.packaged()
    units: tuple[Unit, ...] = ("response", "request")
    for unit, body in zip(units, unnamed(dialect, none), strict=True):
        home = wireglot.convert(body, dialect, dialect, unit=unit)
        assert home.body == body and not home.notes
        made = [one["id"] for one in calls_in(rules[dialect].read(body, unit=unit).ir)]
        assert len(set(made)) == 2 and all(made)
        for target in ("openai-chat", "anthropic", "gemini", "openai-responses", "ollama"):
            if target == dialect:
                continue
            out = wireglot.convert(body, dialect, target, unit=unit, model="m")
            codes = [note.code for note in out.notes]
            assert "unknown-part" not in codes and codes.count("made-id") >= 2
            there = rules[target].read(out.body, unit=unit).ir
            assert [(one["id"], one["arguments"]) for one in calls_in(there)] == [
                (made[0], {}),
                (made[1], {"x": 1}),
            ]
            if unit == "request":
                parts = [part for message in there["messages"] for part in message["parts"]]
                results = [part for part in parts if part["type"] == "tool_result"]
                assert [(one["tool_call_id"], one["value"]) for one in results] == [
                    (made[0], "a"),
                    (made[1], "b"),
                ]


def without(value: Any, none: Json) -> Any:
    """Take the ids that were made for calls out of a frame."""
    if isinstance(value, list):
        return [without(one, none) for one in value]
    if not isinstance(value, dict):
        return value
    out: Json = {}
    for key, one in value.items():
        if not (isinstance(one, str) and re.fullmatch("call_[0-9a-f]{12}", one)):
            out[key] = without(one, none)
        elif none:
            out[key] = None
    return out


@pytest.mark.parametrize("none", UNNAMED, ids=["absent", "null"])
@pytest.mark.parametrize("dialect", ["openai-chat", "deepseek", "anthropic", "openai-responses"])
def test_calls_without_ids_come_out_of_streams(dialect: str, none: Json) -> None:
    rules = wireglot.packaged()
    body, _ = unnamed(dialect, {})
    frames = [without(frame, none) for frame in rules.frames(body, dialect)]
    assert frames != list(rules.frames(body, dialect))
    for target in ("openai-chat", "anthropic", "openai-responses", "ollama"):
        t = rules.translator(source=dialect, target=target)
        out = [new for frame in frames for new in t.feed(frame)] + t.finish()
        if target == dialect:
            assert out == frames
            continue
        assert [note.code for note in t.notes].count("made-id") >= 1
        made = calls_in(rules[target].read(t.result.body, unit="response").ir)
        assert [one["arguments"] for one in made] == [{}, {"x": 1}]
        assert made[0]["id"] != made[1]["id"]
        assert all(one["id"] in str(out) for one in made)


# -- whole and streamed ---------------------------------------------------------------------------

RULES = wireglot.packaged()
STREAMED = [
    name
    for name in RULES.dialects
    if RULES[name].model.stream is not None
    and {"request", "response"} <= {*RULES[name].model.units}
]
SAID: Json = {
    "id": "r1",
    "created": 7,
    "model": "m",
    "candidates": [
        {
            "parts": [
                {"type": "reasoning", "text": "Hm."},
                {"type": "text", "text": "Hi"},
                {"type": "tool_call", "id": "a.1", "name": "f", "arguments": {}},
                {"type": "tool_call", "id": "a:1", "name": "f", "arguments": {"x": 1}},
                {"type": "tool_call", "id": "a:1", "name": "g", "arguments": {"x": 1}},
                {"type": "reasoning", "text": "So."},
                {"type": "text", "text": "Ho"},
            ],
            "stop_reason": "tool_use",
        }
    ],
    "usage": {"input": 3, "output": 2},
}
NAMELESS = {"bedrock-converse"}  # its answers say neither id nor time: the request names them
LATE = {"gemini-interactions": "created"}  # the time stands at the end of its stream
NAMED = ("id", "item_id", "call_id", "tool_call_id", "tool_use_id", "tool_id", "responseId",
         "runId", "threadId", "messageId", "toolCallId", "parentMessageId")  # fmt: skip


def names_in(value: Any, key: str = "") -> list[str]:
    """The ids in a payload, but for what rides there."""
    if isinstance(value, dict):
        return [n for k, one in value.items() if k != "wireglot" for n in names_in(one, k)]
    if isinstance(value, list):
        return [n for one in value for n in names_in(one, key)]
    return [value] if isinstance(value, str) and key in NAMED else []


def unsaid(value: Any, kept: tuple[str, ...]) -> Any:
    """Leave out the ids of a payload, but some."""
    if isinstance(value, list):
        return [unsaid(one, kept) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: unsaid(one, kept)
        for key, one in value.items()
        if key not in NAMED or not isinstance(one, str) or one in kept
    }


@pytest.mark.parametrize("kept", [("r1", "a.1", "a:1"), ("r1",), ()], ids=["all", "head", "none"])
@pytest.mark.parametrize("source", width.dialects(sorted({*STREAMED} - {"agent-sdk", "ag-ui"}), 6))
def test_whole_and_streamed_answers_have_the_same_ids(source: str, kept: tuple[str, ...]) -> None:
    """The stream of an agent says neither id nor time of an answer, by which it is known.

    In that of AG-UI ids tell parts apart: none is left out.
    """
    whole = RULES[source].write(SAID, unit="response").body
    frames = [unsaid(frame, kept) for frame in RULES.frames(whole, source)]
    whole = unsaid(whole, kept)
    if not kept:
        whole.pop(LATE.get(source), None)
    turn = sorted(STREAMED).index(source)
    for nth, target in enumerate(width.targets(source, STREAMED), turn):
        if target == source or (nth % 2 and not width.WIDE):
            continue
        for exchanged in (True, False) if kept and source not in NAMELESS else (True,):

            def begun() -> wireglot.Exchange:
                x = wireglot.exchange(target, source, "m", state={})  # noqa: B023
                talk = [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]
                asked = {"model": "m", "max_tokens": 9, "messages": talk}
                x.request(RULES[target].write(asked).body, stream=True)  # noqa: B023
                return x

            if exchanged:
                body = begun().response(whole).body
                t: wireglot.Translator = begun().translator()
            else:
                body = wireglot.convert(whole, source, target, unit="response").body
                t = RULES.translator(source=source, target=target)
            out = [new for frame in frames for new in t.feed(frame)] + t.finish()
            ids = sorted(names_in(body))
            assert sorted(names_in(RULES.collect(out, target))) == ids, target
            assert sorted(names_in(t.result.body)) == ids, target
            assert set(names_in(out)) == set(ids), target
