"""Reading and writing alone."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import wireglot
from benchmarks import workloads
from wireglot.interpreter import views

from .mutate import inside_each_text
from .test_requests import WEATHER, pictured

RULES = wireglot.packaged()
MODEL = "gpt-4o"


@pytest.mark.parametrize("workload", ["W1", "W2", "W3"])
@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "gemini"])
def test_what_is_read_and_written_is_what_is_converted(source: str, workload: str) -> None:
    body = workloads.request(source, workload, 1)
    before = copy.deepcopy(body)
    ir = RULES[source].read(body, model=MODEL).ir
    assert body == before
    before = copy.deepcopy(ir)
    for target in ("openai-chat", "anthropic", "gemini"):
        alone = RULES[target].write(ir)
        whole = RULES.convert(body, source, target, model=MODEL)
        assert (alone.body, alone.envelope) == (whole.body, whole.envelope)
        assert alone.rules_hash == whole.rules_hash
    assert ir == before


@pytest.mark.parametrize("sign", ["\ud800", "é"])
@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "gemini"])
def test_a_sign_inside_of_any_text_is_taken_or_refused(source: str, sign: str) -> None:
    body = pictured(source)
    ir = RULES[source].read(body, model=MODEL).ir

    def taken(run: Callable[..., Any], value: Any, **more: Any) -> bool:
        try:
            run(value, **more)
        except wireglot.ConversionError:
            return False
        return True

    read = [taken(RULES[source].read, made, model=MODEL) for made in inside_each_text(body, sign)]
    written = [
        taken(RULES[target].write, made)
        for target in ("openai-chat", "anthropic", "gemini")
        for made in inside_each_text(ir, sign)
    ]
    assert len(read) > 15 and len(written) > 30
    # Half of a surrogate pair has no place in UTF-8.
    assert any(read) == any(written) == (sign == "é")


def test_a_text_that_no_longer_means_its_value_is_not_written() -> None:
    ir = RULES["anthropic"].read(WEATHER_IN_ANTHROPIC).ir
    call = next(p for m in ir["messages"] for p in m["parts"] if p["type"] == "tool_call")
    call["arguments_json"] = '{"city": "Rome"}'
    sent = next(m for m in RULES["openai-chat"].write(ir).body["messages"] if "tool_calls" in m)
    assert "Rome" not in sent["tool_calls"][0]["function"]["arguments"]


WEATHER_IN_ANTHROPIC = wireglot.convert(WEATHER, "openai-chat", "anthropic").body


@pytest.mark.parametrize(
    ("text", "value", "right"),
    [
        ('{"a":1}', {"a": 1}, True),
        ('{"a": 1, "b": [true, null]}', {"a": 1, "b": [True, None]}, True),
        ('{"b": 2, "a": 1}', {"a": 1, "b": 2}, True),
        ('{"a":1}', {"a": True}, False),
        ('{"a":1,"a":1}', {"a": 1}, False),
        ('{"a": "\\u00e9"}', {"a": "é"}, True),
        ("no JSON", {}, False),
    ],
)
def test_a_text_means_a_value_or_does_not(text: str, value: Any, right: bool) -> None:
    assert views.means(text, value) is right


@pytest.mark.parametrize("ir", [None, [], "x", {}, {"model": True}, {"messages": 5, "model": "m"}])
def test_what_is_no_ir_is_refused(ir: Any) -> None:
    with pytest.raises(wireglot.ConversionError):
        RULES["anthropic"].write(ir)


def test_a_policy_holds_for_what_is_written() -> None:
    ir = (
        RULES["openai-chat"]
        .read({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
        .ir
    )
    with pytest.raises(wireglot.PolicyError):
        RULES["anthropic"].write(ir, policy={"filled-in": "fail"})


def test_a_memory_of_another_form_remembers_nothing() -> None:
    body = {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "tools": [{"googleMaps": {"enableWidget": True}}],
    }
    ir = RULES["gemini"].read(body).ir
    (settings,) = [v for v in ir["tools"][0]["own"]["gemini"].values() if isinstance(v, dict)]
    settings["spelled"] = "text"
    assert RULES["gemini"].write(ir).body["tools"] == [{"googleMaps": {"enableWidget": True}}]


def test_tools_under_two_keys_are_all_read() -> None:
    body = {
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "functions": [{"name": "g"}],
    }
    chat = wireglot.packaged()["openai-chat"]
    reading = chat.read(body)
    assert [tool["name"] for tool in reading.ir["tools"]] == ["f", "g"]
    assert chat.write(reading.ir).body == body
