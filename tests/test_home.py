"""A dialect to itself: a body is given back as it was read, and all that is told of it stays.

`repair: false` asks for nothing, but with an option a body is written and not just given back.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot.errors import WireglotError

from . import sweep, way
from .beside import TRAFFIC, recorded
from .mutate import some

RULES = wireglot.packaged()
RECORDED = ("openai-chat", "openai-responses", "anthropic", "gemini", "vertex", "ollama")


def containers(value: Any) -> Iterator[int]:
    """Yield which objects and lists a value is made of."""
    if isinstance(value, dict | list):
        yield id(value)
        for inner in value.values() if isinstance(value, dict) else value:
            yield from containers(inner)


def found(body: Any, dialect: str, unit: str, **more: Any) -> Any:
    try:
        return RULES.convert(body, dialect, dialect, unit, **more)
    except WireglotError as error:
        return type(error), str(error)


def check(body: Any, dialect: str, unit: str, **more: Any) -> bool:
    """Assert that a body comes back, as if it had been written; tell whether it was taken."""
    short, long = (
        found(body, dialect, unit, **more),
        found(body, dialect, unit, **more, options={"repair": False}),
    )
    if len(long) == 2 or len(short) == 2:
        assert short == long
        return False
    assert short.body == long.body
    assert short.envelope == long.envelope
    more_notes = Counter(map(str, short.notes)) - Counter(map(str, long.notes))
    assert not more_notes
    # Writing tells of counts that add up to nothing pictured, though they stay where they are.
    missing = Counter(map(str, long.notes)) - Counter(map(str, short.notes))
    assert all("no-place lost /usageMetadata/" in note for note in missing), missing
    assert not set(containers(body)) & set(containers(short.body))
    return True


@pytest.mark.parametrize("unit", way.BODIES)
def test_it_is_given_back_as_it_was(unit: str) -> None:
    body = json.loads(json.dumps(way.BODIES[unit]))
    body["vendor"] = {"\u2028": [1e22, -0.5, None, "é"]}
    assert check(body, "openai-chat", unit)
    done = RULES.convert(body, "openai-chat", "openai-chat", unit)
    assert json.dumps(done.body) == json.dumps(body), "keys stand in their order"


def test_what_a_caller_derives_of_json_comes_back_as_json() -> None:
    class Text(str):
        pass

    class Keys(dict[str, Any]):
        pass

    body = Keys(way.REQUEST, model=Text("gpt-4o"))
    done = RULES.convert(body, "openai-chat", "openai-chat")
    assert done.body == way.REQUEST
    assert type(done.body) is dict
    assert type(done.body["model"]) is str


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(wireglot.ConversionError, match="expected a list"):
        RULES.convert({**way.REQUEST, "messages": 1}, "openai-chat", "openai-chat")


def test_what_the_call_says_goes_where_the_dialect_has_it() -> None:
    body = {key: value for key, value in way.REQUEST.items() if key != "model"}
    done = RULES.convert(body, "openai-chat", "openai-chat", model="gpt-5", stream=True)
    assert done.body == {**way.REQUEST, "model": "gpt-5", "stream": True}
    gemini = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    out = RULES.convert(gemini, "gemini", "gemini", model="gemini-3-pro", stream=True)
    assert out.body == gemini
    assert out.envelope is not None
    assert (out.envelope.model, out.envelope.stream) == ("gemini-3-pro", True)


@pytest.mark.skipif(not TRAFFIC.is_dir(), reason="../shared/traffic is not here")
@pytest.mark.parametrize("dialect", RECORDED)
def test_recorded_bodies_and_mutants_come_back(dialect: str) -> None:
    taken = Counter[bool]()
    for exchange in recorded(dialect)[::20]:
        for one in sweep.units_of({**exchange, "format": dialect}, RULES.dialects):
            given = {"model": one.model, "stream": one.stream}
            if len(str(one.body)) < 20_000:
                for body in (one.body, *some(one.body, 4, one.exchange)):
                    taken[check(body, one.dialect, one.unit, **given)] += 1
    assert taken[True] > 5


def test_what_the_model_began_is_no_more_than_a_turn_when_another_stands_behind_it() -> None:
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "It is"}]
    more = {"role": "user", "content": "And?"}
    for target in ("anthropic", "mistral", "openai-chat"):
        ir = RULES["anthropic"].read({"max_tokens": 9, "messages": said}).ir
        ir["messages"].append({"role": "user", "parts": [{"type": "text", "text": "And?"}]})
        out = RULES[target].write(ir)
        assert (out.body["messages"], out.notes) == ([*said, more], ())


def test_a_word_that_says_nothing_keeps_the_object_that_it_stands_in_alone() -> None:
    result = {"content": "Sunny", "extra": {"tool_result_is_error": False}}
    body = {"steps": [{"source": "agent", "observation": {"results": [result]}}]}
    reading = RULES["atif"].read(body, unit="session")
    assert RULES["atif"].write(reading.ir, unit="session").body == body
    assert check(body, "atif", "session")


RAN = {"threadId": "t", "runId": "r", "type": "RUN_FINISHED"}
SAID = [{"role": "assistant", "id": "a", "content": "Hi"}]
COUNTED = {"inputTokens": 2, "outputTokens": 3, "totalTokens": 5, "reasoningTokens": True}
# Odd payloads that once came back as others from what was read of them: dialect, unit, payload.
ODD: dict[str, tuple[str, str, Any]] = {
    "a model that says nothing, in a message without an id": (
        "ag-ui", "request", {"threadId": "t", "messages": [{"role": "assistant", "content": ""}]},
    ),
    "fixed words beside nothing but what does not fit": (
        "openai-chat", "response",
        {"id": "c", "choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": 1}}]},
    ),
    "a result without a name where ids have no place": (
        "hermes", "request",
        {"conversations": [
            {"from": "tool", "value": '<tool_response>\n{"content":"x"}\n</tool_response>'}]},
    ),
    "counts within a message of which one is a text": (
        "openclaw", "messages",
        [{"role": "assistant", "content": [{"type": "text", "text": "Hi"}], "api": "a",
          "provider": "p", "model": "m", "stopReason": "stop", "timestamp": 0,
          "usage": {"input": "", "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
                    "cost": {}}}],
    ),
    "an element of a list that is null": (
        "cohere", "response",
        {"id": "r", "message": {"role": "assistant", "content": [{"type": "text", "text": "Hi."}],
         "citations": [{"start": 0, "end": 2, "text": "Hi", "sources": [None]}]},
         "finish_reason": "COMPLETE"},
    ),
    "a count that is no number": (
        "ag-ui", "response", {**RAN, "usage": [COUNTED], "messages": SAID},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_what_was_read_of_it_is_written_as_it_was(name: str) -> None:
    dialect, unit, body = ODD[name]
    ir = json.loads(json.dumps(RULES[dialect].read(body, unit).ir))
    assert RULES[dialect].write(ir, unit).body == body


@pytest.mark.parametrize("dialect", ["atif", "adp"])
@pytest.mark.parametrize("key", ["tool_calls", "reasoning_content"])
@pytest.mark.parametrize("nothing", [None, [], ""])
def test_a_step_of_results_alone_keeps_what_says_nothing(
    dialect: str, key: str, nothing: Any
) -> None:
    results = [{"source_call_id": "none", "content": "A"}]
    step = {"source": "agent", "message": "", key: nothing, "observation": {"results": results}}
    assert check({"steps": [step]}, dialect, "session")


@pytest.mark.parametrize("more", [{}, {"content": ""}, {"content": None}, {"toolCalls": []},
                                  {"content": "", "toolCalls": []}])  # fmt: skip
def test_a_message_of_ag_ui_in_which_a_model_says_nothing(more: Any) -> None:
    body = [{"role": "assistant", "id": "a", **more}, {"role": "user", "id": "u", "content": "Hi"}]
    assert check(body, "ag-ui", "messages")
    assert RULES.convert(body, "ag-ui", "langchain", "messages").body[-1]["data"]["content"] == "Hi"


SPELLED = """
wireglot: 2
dialect: spelled
see: https://acme.example/api
verified: 2026-11-29
shapes:
  text: {wire: {type: text, text: $text}}
  function: {wire: {name: $name}}
  choice:
    cases:
      auto: {ir: {tool_choice: auto}, wire: auto}
      one: {ir: {tool_choice: {name: $name}}, wire: {type: function, name: $name}}
      old: {read-only: true, ir: {tool_choice: {name: $name}}, wire: {type: $absent, name: $name}}
conversation:
  wire: {parts: $parts each text}
  cases: {user: {wire: {role: user}}, assistant: {wire: {role: bot}}}
request:
  wire:
    turns: $messages as conversation
    tools: $tools each function (optional)
    choice (or call): $. as choice (optional)
"""
CHOICES: list[Any] = [
    "auto", "odd", None, 5, {"name": "f"}, {"name": "f", "x": 1}, {"x": 1},
    {"type": "function", "name": "f", "x": {"y": 1}},
]  # fmt: skip


@pytest.mark.parametrize("choice", CHOICES, ids=map(str, range(len(CHOICES))))
@pytest.mark.parametrize("more", [{}, {"choice": None}, {"choice": "auto"}, {"choice": "odd"}])
@pytest.mark.parametrize("key", ["call", "choice"])
def test_what_stands_within_another_spelling_of_a_key_comes_home(
    tmp_path: Path, choice: Any, more: Any, key: str
) -> None:
    (tmp_path / "spelled.yaml").write_text(SPELLED)
    rules = wireglot.load_rules(tmp_path)
    turns = [{"role": "user", "parts": [{"type": "text", "text": "a"}]}]
    body = {"turns": turns, "tools": [{"name": "f"}], **more, key: choice}
    read = rules["spelled"].read(body, "request")
    assert rules["spelled"].write(json.loads(json.dumps(read.ir)), "request").body == body
    for trace in (False, True):
        assert rules.convert(body, "spelled", "spelled", "request", trace=trace).body == body
    notes = rules.convert(body, "spelled", "anthropic").notes
    odd = {note.source_path for note in notes if note.code == "unknown-key"}
    assert odd <= {f"/{key}/x", "/call"}
