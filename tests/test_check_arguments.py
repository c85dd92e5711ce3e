"""The option `check_arguments`: calls held against the schemas of their tools."""

from __future__ import annotations

import copy
import sys
import warnings
from typing import Any

import pytest

import wireglot
from wireglot import Conversion, PolicyError, UsageError

CHECK = {"check_arguments": True}
SCHEMA = {
    "type": "object",
    "required": ["city"],
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "array", "items": {"type": "integer", "minimum": 1}},
    },
    "additionalProperties": False,
}
CITY = ("a/b", "c~d")


def request(arguments: Any, schema: Any = SCHEMA, name: str = "f") -> dict[str, Any]:
    return {
        "max_tokens": 9,
        "tools": [{"name": "f", "input_schema": schema}],
        "messages": [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c", "name": name, "input": arguments}],
            },
        ],
    }


def told(out: Conversion) -> list[tuple[str, str | None]]:
    return [(n.code, n.source_path) for n in out.notes if n.code.startswith("bad-")]


@pytest.mark.parametrize("target", ["gemini", "openai-chat", "anthropic"])
def test_each_violation_is_noted_at_its_place(target: str) -> None:
    body = request({"days": [1, 0, "x"], "odd": 1})
    out = wireglot.convert(body, "anthropic", target, options=CHECK)
    base = "/messages/1/content/0/input"
    assert sorted(told(out), key=str) == [
        ("bad-arguments", base),
        ("bad-arguments", base),
        ("bad-arguments", f"{base}/days/1"),
        ("bad-arguments", f"{base}/days/2"),
    ]
    notes = [note for note in out.notes if note.code == "bad-arguments"]
    assert {(n.effect, n.severity) for n in notes} == {("kept", "warning")}
    # What is carried is what comes without the option.
    without = wireglot.convert(body, "anthropic", target)
    assert out.body == without.body
    assert [n for n in out.notes if n.code != "bad-arguments"] == list(without.notes)


def test_right_arguments_are_not_noted() -> None:
    body = request({"city": "Oslo", "days": [1]})
    assert told(wireglot.convert(body, "anthropic", "gemini", options=CHECK)) == []


def test_a_place_in_the_target_is_named() -> None:
    out = wireglot.convert(request({"city": 5}), "anthropic", "gemini", options=CHECK)
    (note,) = [note for note in out.notes if note.code == "bad-arguments"]
    assert note.target_path == "/contents/1/parts/0"


def test_keys_of_arguments_are_escaped_in_places() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "string"}}
    body = request(dict.fromkeys(CITY, 1), schema)
    out = wireglot.convert(body, "anthropic", "gemini", options=CHECK)
    assert [at.rpartition("input/")[2] for _, at in told(out) if at] == ["a~1b", "c~0d"]


def test_arguments_that_are_text_are_noted_as_a_whole() -> None:
    calls = [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"city":5}'}},
        {"id": "d", "type": "function", "function": {"name": "f", "arguments": '{"city":'}},
    ]
    body = {
        "tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}],
        "messages": [{"role": "assistant", "content": None, "tool_calls": calls}],
    }
    out = wireglot.convert(body, "openai-chat", "anthropic", options=CHECK)
    base = "/messages/0/tool_calls/{}/function/arguments"
    assert told(out) == [("bad-arguments", base.format(0)), ("bad-arguments", base.format(1))]


def test_what_may_be_null_in_gemini_may_be_null() -> None:
    parameters = {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}}
    given = {"c": None, "d": 2}
    calls = [{"functionCall": {"id": i, "name": "f", "args": {"a": a}}} for i, a in given.items()]
    body = {
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": parameters}]}],
        "contents": [{"role": "model", "parts": calls}],
    }
    out = wireglot.convert(body, "gemini", "gemini", options=CHECK)
    assert told(out) == [("bad-arguments", "/contents/0/parts/1/functionCall/args/a")]
    assert out.body == body


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"city": {"type": "no type"}}},
        {"type": "object", "properties": {"city": {"$ref": "#/$defs/none"}}},
        {"type": "object", "properties": {"city": {"$ref": "https://a.example/schema.json"}}},
        {"type": "object", "properties": {"city": {"pattern": "("}}},
        {"type": "object", "allOf": [{"$ref": "#"}]},
    ],
    ids=["type", "reference", "remote", "pattern", "loop"],
)
def test_a_schema_that_is_none_is_noted_and_nothing_is_fetched(
    schema: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetched(*_: Any, **__: Any) -> Any:
        raise AssertionError("something was fetched")

    monkeypatch.setattr("urllib.request.urlopen", fetched)
    body = request({"city": "Oslo"}, schema)
    given = copy.deepcopy(body)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = wireglot.convert(body, "anthropic", "anthropic", options=CHECK)
    assert [code for code, _ in told(out)] == ["bad-schema"]
    assert out.body == body == given


def test_calls_of_other_tools_are_left_alone() -> None:
    body = request({"city": 5}, name="g")
    assert told(wireglot.convert(body, "anthropic", "anthropic", options=CHECK)) == []


def test_a_policy_may_forbid_it() -> None:
    with pytest.raises(PolicyError):
        wireglot.convert(
            request({}), "anthropic", "gemini", options=CHECK, policy={"bad-arguments": "fail"}
        )


def test_an_exchange_and_read_check_too() -> None:
    talk = wireglot.exchange("anthropic", "gemini", options=CHECK)
    assert [code for code, _ in told(talk.request(request({})))] == ["bad-arguments"]
    read = wireglot.packaged()["anthropic"].read(request({}), options=CHECK)
    assert "bad-arguments" in [note.code for note in read.notes]


@pytest.mark.inside
def test_without_the_package_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(UsageError, match=r"wireglot\[check\]"):
        wireglot.convert(request({}), "anthropic", "gemini", options=CHECK)
    wireglot.convert(request({}), "anthropic", "gemini")


def test_long_words_of_a_violation_are_cut() -> None:
    out = wireglot.convert(request({"city": ["x" * 999]}), "anthropic", "gemini", options=CHECK)
    assert all(len(note.message) < 300 for note in out.notes)


@pytest.mark.parametrize(
    ("said", "arguments", "code"),
    [
        ({"properties": {"a": {"pattern": "^(a+)+$"}}}, {"a": "a" * 99 + "!"}, "bad-schema"),
        ({"patternProperties": {"(?:a|a*)*b": {}}}, {"a" * 99: 1}, "bad-schema"),
        ({"properties": {"a": {"pattern": "^(a|a)*$"}}}, {"a": "a" * 99 + "!"}, "bad-schema"),
        ({"properties": {"a": {"pattern": "^(a?){40}a{40}$"}}}, {"a": "a" * 39}, "bad-schema"),
        (
            {"properties": {"a": {"pattern": "^(foo|bar)*$"}}},
            {"a": "foo" * 9 + "!"},
            "bad-arguments",
        ),
        ({"properties": {"a": {"pattern": "^(a+)+$"}}}, {"a": "aaa!"}, "bad-arguments"),
        ({"properties": {"a": {"pattern": "^(a+)+$"}}}, {"a": 7}, None),
        ({"properties": {"a": {"pattern": "^a+$"}}}, {"a": "a" * 99 + "!"}, "bad-arguments"),
        ({"properties": {"a": {"pattern": "a*a*a*b"}}}, {"a": "a" * 9999}, "bad-schema"),
        ({"properties": {"a": {"pattern": "a*a*a*b"}}}, {"a": "a" * 99}, "bad-arguments"),
        ({"properties": {"a": {"pattern": "\\ba*b"}}}, {"a": "a" * 99_999}, "bad-schema"),
        ({"properties": {"a": {"pattern": "^[^@]+@[^@]+$"}}}, {"a": "a" * 9999}, "bad-arguments"),
        ({"properties": {"a": {"pattern": "^(\\d{4}-){9}$"}}}, {"a": "a" * 9999}, "bad-arguments"),
    ],
)
def test_no_pattern_takes_for_ever(said: dict[str, Any], arguments: Any, code: str | None) -> None:
    body = request(arguments)
    body["tools"][0]["input_schema"] = {"type": "object", **said}
    notes = told(wireglot.convert(body, "anthropic", "anthropic", options=CHECK))
    assert [one for one, _ in notes] == [code] * (code is not None)
