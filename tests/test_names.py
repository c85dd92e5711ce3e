"""Names and ids that a target refuses: renamed, never confused, and given back as they were."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wireglot
from tests import width

Json = Any
STRICT = """
wireglot: 2
dialect: strict
extends: openai-chat
see: https://example.com
verified: 2026-11-21
limits:
  tool_name: {first: "a-zA-Z", chars: "a-zA-Z0-9", max: 12}
  call_id: {chars: "a-zA-Z0-9", min: 9, max: 9}
"""
NAMES = [
    "get_weather",
    "get-weather",
    "getweather",
    "get weather",
    "9lives",
    "x" * 70,
    "x" * 71,
    "ü",
]


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> wireglot.RuleSet:
    folder: Path = tmp_path_factory.mktemp("rules")
    (folder / "strict.yaml").write_text(STRICT)
    return wireglot.load_rules(folder)


def request(names: list[str], ids: list[str]) -> Json:
    """Return a request of a chat client with tools, and a history that has called them."""
    calls = [
        {"id": made, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for made, name in zip(ids, names, strict=False)
    ]
    return {
        "model": "m",
        "messages": [
            {"role": "user", "content": "Go."},
            *([{"role": "assistant", "content": None, "tool_calls": calls}] if calls else []),
            *({"role": "tool", "tool_call_id": c["id"], "content": c["id"]} for c in calls),
            {"role": "user", "content": "Go on."},
        ],
        "tools": [{"type": "function", "function": {"name": name}} for name in names],
        "tool_choice": {"type": "function", "function": {"name": names[0]}},
    }


def response(name: str, made: str) -> Json:
    call = {"id": made, "type": "function", "function": {"name": name, "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return {**head, "choices": [choice]}


def called(body: Json) -> Json:
    return body["choices"][0]["message"]["tool_calls"][0]


def check(rules: wireglot.RuleSet, names: list[str], ids: list[str]) -> None:
    """Send names and ids to the strict target, and each name back from it, elsewhere."""
    body = request(names, ids)
    x = rules.exchange("openai-chat", "strict", state={})
    sent = x.request(body).body
    tools = [tool["function"]["name"] for tool in sent["tools"]]
    assert all(re.fullmatch("[a-zA-Z][a-zA-Z0-9]{0,11}", name) for name in tools)
    assert len(set(tools)) == len(set(names))
    assert sent["tool_choice"]["function"]["name"] == tools[0]
    calls = [c for m in sent["messages"] for c in m.get("tool_calls", ())]
    assert [c["function"]["name"] for c in calls] == tools[: len(calls)]
    made = [c["id"] for c in calls]
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", name) for name in made)
    assert len(set(made)) == len(made) == len(ids)
    results = {m["tool_call_id"]: m["content"] for m in sent["messages"] if m["role"] == "tool"}
    assert [results[name] for name in made] == ids
    state = json.loads(json.dumps(x.state))
    for tool, name in zip(tools, names, strict=True):
        y = rules.exchange("openai-chat", "strict", state=state)
        assert called(y.response(response(tool, "abcdefghi")).body)["function"]["name"] == name
    # The same names, another time and in another order, are written as before.
    again = rules.exchange("openai-chat", "strict", state=state)
    later = again.request(request(names[::-1], [])).body
    assert [t["function"]["name"] for t in later["tools"]] == tools[::-1]


def test_names_that_a_target_refuses_are_renamed_and_come_back(rules: wireglot.RuleSet) -> None:
    check(rules, NAMES, [f"call_{i}" for i in range(len(NAMES))])


@given(
    names=st.lists(
        st.text("ab_-.1 ü", min_size=1, max_size=16), min_size=1, max_size=6, unique=True
    ),
    ids=st.lists(st.text("ab_-.1 ü", min_size=1, max_size=12), max_size=6, unique=True),
)
@settings(
    max_examples=width.times(60, 30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_two_names_or_ids_never_become_one(
    rules: wireglot.RuleSet, names: list[str], ids: list[str]
) -> None:
    check(rules, names, ids[: len(names)])


LONG = ["p" * 70 + end for end in "ab"]
CLASH = ["f.g", "f:g", "f_g", "ab" * 80, *LONG]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini", "openai-responses"])
def test_no_order_decides_what_a_name_or_an_id_becomes(target: str) -> None:

    def written(names: list[str]) -> tuple[Json, Json]:
        body = request(names, names)
        del body["tool_choice"]
        for message in body["messages"]:  # read as they are by a dialect that takes every id
            for call in message.get("tool_calls", ()):
                call["function"]["arguments"] = json.dumps({"of": call["id"]})
        read = wireglot.packaged()["openai-chat"].read(body).ir
        out = wireglot.packaged()[target].write(read)
        there = wireglot.packaged()[target].read(out.body).ir
        calls = [p for m in there["messages"] for p in m["parts"] if p["type"] == "tool_call"]
        tools = dict(zip(names, (tool["name"] for tool in there["tools"]), strict=True))
        assert [call["name"] for call in calls] == [tools[n] for n in names]
        made = {call["arguments"]["of"]: call["id"] for call in calls}
        results = [p for m in there["messages"] for p in m["parts"] if p["type"] == "tool_result"]
        assert {p["value"]: p["tool_call_id"] for p in results} == made
        assert len(set(tools.values())) == len(set(made.values())) == len(names)
        return tools, made

    first, again = written(CLASH), written(CLASH[::-1])
    assert first == again
    for name in [*LONG, "ab" * 80]:  # what else stands there says nothing
        alone = written([name])
        assert alone == tuple({name: found[name]} for found in first)


@pytest.mark.parametrize("client", ["anthropic", "gemini", "openai-responses"])
@pytest.mark.parametrize("carry", [True, False])
def test_ids_that_are_too_long_for_chat_come_home(client: str, carry: bool) -> None:
    options = {} if carry else {"carry": False}
    long = "toolu_" + "a" * 50
    x = wireglot.exchange("openai-chat", client, "m", state={}, options=options)
    x.request(request(["f"], []))
    read = {
        "candidates": [
            {
                "parts": [{"type": "tool_call", "id": long, "name": "f", "arguments": {}}],
                "stop_reason": "tool_use",
            }
        ]
    }
    home = wireglot.packaged()[client].write(read, unit="response").body
    message = x.response(home).body["choices"][0]["message"]
    short = message["tool_calls"][0]["id"]
    assert len(short) <= 40
    body = request(["f"], [])
    result = {"role": "tool", "tool_call_id": short, "content": "r"}
    body["messages"] += [message, result]
    sent = wireglot.packaged()[client].read(x.request(body).body).ir
    parts = [p for m in sent["messages"] for p in m["parts"]]
    assert [p["id"] for p in parts if p["type"] == "tool_call"] == [long]
    assert [p["tool_call_id"] for p in parts if p["type"] == "tool_result"] == [long]


def test_a_name_that_fits_is_not_taken_by_one_that_was_renamed_before(
    rules: wireglot.RuleSet,
) -> None:
    x = rules.exchange("openai-chat", "anthropic", state={})
    x.request({**request(["a.b"], []), "tool_choice": "auto"})
    sent = x.request({**request(["a_b", "a.b"], []), "tool_choice": "auto"}).body
    first, second = (tool["name"] for tool in sent["tools"])
    assert first == "a_b" and second != first


def test_an_id_of_a_later_turn_is_not_that_of_an_earlier_one(rules: wireglot.RuleSet) -> None:
    x = rules.exchange("anthropic", "openai-chat", state={})
    talk: list[Json] = [{"role": "user", "content": "Go."}]
    body = {"model": "m", "max_tokens": 9, "messages": talk, "tools": []}
    for made in ("call_1", "call.1", "call:1"):
        x.request(body)
        content = x.response(response("f", made)).body["content"]
        talk.append({"role": "assistant", "content": content})
        result = {"type": "tool_result", "tool_use_id": content[0]["id"], "content": made}
        talk.append({"role": "user", "content": [result]})
    ids = [turn["content"][0]["id"] for turn in talk if turn["role"] == "assistant"]
    assert len(set(ids)) == 3 and ids[0] == "call_1"
    sent = x.request(body).body["messages"]
    pairs = [(m["tool_call_id"], m["content"]) for m in sent if m["role"] == "tool"]
    assert pairs == [("call_1", "call_1"), ("call.1", "call.1"), ("call:1", "call:1")]


def test_an_id_that_each_turn_has_again_pairs_by_occurrence(rules: wireglot.RuleSet) -> None:
    x = rules.exchange("openai-chat", "gemini", state={}, options={"carry": False})
    talk: list[Json] = [{"role": "user", "content": "Go."}]
    for signature in ("AAAA", "BBBB", "CCCC"):
        x.request({"model": "m", "messages": talk})
        call = {"id": "call_0", "name": "f", "args": {}}
        parts = [{"functionCall": call, "thoughtSignature": signature}]
        answer = x.response({"candidates": [{"content": {"role": "model", "parts": parts}}]})
        talk.append(answer.body["choices"][0]["message"])
        talk.append({"role": "tool", "tool_call_id": "call_0", "content": signature})
    sent = x.request({"model": "m", "messages": talk}).body["contents"]
    turns = [
        content["parts"][0]["thoughtSignature"] for content in sent if content["role"] == "model"
    ]
    assert turns == ["AAAA", "BBBB", "CCCC"]


def test_a_name_that_the_provider_made_up_reaches_it_again(rules: wireglot.RuleSet) -> None:
    x = rules.exchange("openai-chat", "gemini", state={})
    x.request({"model": "m", "messages": [{"role": "user", "content": "Go."}]})
    part = {"functionCall": {"id": "c", "name": "no.such:tool", "args": {}}}
    answer = x.response({"candidates": [{"content": {"role": "model", "parts": [part]}}]})
    message = answer.body["choices"][0]["message"]
    assert message["tool_calls"][0]["function"]["name"] == "no_such_tool"
    result = {"role": "tool", "tool_call_id": "c", "content": "?"}
    talk = [{"role": "user", "content": "Go."}, message, result]
    sent = x.request({"model": "m", "messages": talk}).body["contents"]
    assert sent[1]["parts"] == [part]
    assert sent[2]["parts"][0]["functionResponse"]["name"] == "no.such:tool"


def test_a_limit_may_say_which_characters_it_does_not_take(rules: wireglot.RuleSet) -> None:
    """`chars: "^..."`: all but these, as between [ and ] of a pattern."""
    body = {"model": "m", "messages": [{"role": "user", "content": "Go."}]}
    fits = rules.convert({**body, "user": "an\U0001f600na é"}, "openai-chat", "openai-responses")
    assert fits.body["user"] == "an\U0001f600na é"
    assert fits.notes == ()
    odd = rules.convert({**body, "user": "an\nna\x00"}, "openai-chat", "openai-responses")
    assert odd.body["user"] == "an_na_"
    assert [note.code for note in odd.notes] == ["renamed"]
    wrong = STRICT.replace('chars: "a-zA-Z0-9", min', 'chars: "^", min')
    with pytest.raises(wireglot.RuleError, match="is no set of characters"):
        wireglot.load_rules({"strict.yaml": wrong})


def test_a_result_before_its_call_has_the_id_that_the_provider_gave(
    rules: wireglot.RuleSet,
) -> None:
    x = rules.exchange("anthropic", "openai-chat", "m", state={})
    ask = {"role": "user", "content": "q"}
    x.request({"model": "m", "max_tokens": 9, "messages": [ask]})
    called = {"id": "call:0", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [called]}
    answer = {"id": "r", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "finish_reason": "tool_calls", "message": message}]}  # fmt: skip
    content = x.response(answer).body["content"]
    told = {"type": "tool_result", "tool_use_id": content[0]["id"], "content": "v"}
    turns = [ask, {"role": "user", "content": [told]}, {"role": "assistant", "content": content}]
    out = x.request({"model": "m", "max_tokens": 9, "messages": [*turns, ask]})
    result = next(one for one in out.body["messages"] if one["role"] == "tool")
    assert result == {"role": "tool", "tool_call_id": "call:0", "content": "v"}
