"""Generated functions read what the interpreter reads, in all three modes."""

from __future__ import annotations

from typing import Any

import pytest

import wireglot
from wireglot.conversion.hands import Reader
from wireglot.executor import readers

from .executor_read import FILES, MODES, compare, some_of
from .test_requests import TRAFFIC


@pytest.mark.skipif(not TRAFFIC.is_dir(), reason="../shared/traffic is not here")
@pytest.mark.parametrize("dialect", FILES)
def test_functions_read_what_the_interpreter_reads(dialect: str) -> None:
    found = [
        f"{name} {mode}: {said}"
        for name, unit, body in some_of(dialect, 23, 1)
        for mode in MODES
        for said in compare(dialect, unit, body, mode)
    ]
    assert not found


ODD: dict[str, Any] = {
    "a key in two spellings": {"max_tokens": 5, "max_completion_tokens": 6},
    "a key in another spelling": {"max_tokens": 5},
    "a null": {"temperature": None},
    "an unknown key": {"no/such~key": {"a": 1}},
    "a number that is none": {"temperature": "hot"},
    "an unknown part": {"messages": [{"role": "user", "content": [{"type": "none"}]}]},
    "no role": {"messages": [{"content": "x"}]},
    "a part that is no object": {"messages": [{"role": "user", "content": [1]}]},
    "no list": {"messages": {}},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("odd", ODD)
def test_what_is_odd_is_read_as_before(odd: str, mode: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **ODD[odd]}
    assert list(compare("openai-chat", "request", body, mode)) == []


SCHEMA = {"type": "json_schema", "schema": {"type": "object", "additionalProperties": False}}
TWICE: dict[str, Any] = {
    "the second alone": {"output_format": SCHEMA},
    "both": {"output_format": SCHEMA, "output_config": {"format": SCHEMA}},
    "both, and they differ": {
        "output_format": SCHEMA,
        "output_config": {"format": {**SCHEMA, "schema": {"type": "string"}}},
    },
    "the second, and nothing": {"output_format": SCHEMA, "output_config": {"format": None}},
    "the second null": {"output_format": None},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("twice", TWICE)
def test_a_field_that_two_holes_hold_is_read_once_and_comes_back(twice: str, mode: str) -> None:
    body = {"max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], **TWICE[twice]}
    assert list(compare("anthropic", "request", body, mode)) == []
    rules = wireglot.packaged()["anthropic"]
    assert rules.write(rules.read(body).ir).body == body


def test_the_text_of_a_function_names_its_rules() -> None:
    dialect = wireglot.packaged()["anthropic"].model
    reader = Reader(dialect, {"away": True})
    block = {"type": "text", "text": "hi"}
    assert reader.shape("text", block, ()) == block
    text = readers.of(dialect, "away").code.texts["read_text"]
    assert "anthropic.yaml:" in text
    assert "text = w.get('text', ABSENT)" in text
