"""The formats that the seeds describe: what they say, and how they go to the providers and back.

`cases/formats.yaml` holds conversions as data; a source or target `ir` is the intermediate
representation without its memory.
"""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

import wireglot

from . import test_wrong_input as wrong_input
from . import width
from .formats import BODIES
from .laid import rules
from .mutate import some
from .tables import read_yaml
from .test_overlays import without_memory
from .test_pairs import OF
from .test_seeds import CHOICES
from .test_wrong_input import NO_JSON, WRONG, faults_of, places, pointer_of, replaced

wrong_input.BODIES.update(BODIES)
CASES: list[dict[str, Any]] = read_yaml(
    Path(__file__).with_name("cases").joinpath("formats.yaml").read_text("utf-8")
)["cases"]
PROVIDERS = width.MAIN
FORMATS = tuple(BODIES)
PAIRS = [
    pair
    for one in FORMATS
    for other in (*PROVIDERS, *FORMATS)
    for pair in ((one, other), (other, one))
]
PAIRS = list(dict.fromkeys(PAIRS))
ABROAD = [pair for pair in PAIRS if pair[0] != pair[1]]


def units_of(source: str, target: str) -> list[str]:
    return [u for u in wrong_input.BODIES[source] if u in wrong_input.BODIES[target]]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_case_of_a_format_converts_as_it_says(case: dict[str, Any]) -> None:
    given, unit = copy.deepcopy(case["given"]), case["unit"]
    known = rules(*case.get("overlays", ()))
    notes: tuple[wireglot.Note, ...]
    if case["target"] == "ir":
        reading = known[case["source"]].read(given, unit=unit)
        body, notes = without_memory(reading.ir), reading.notes
    elif case["source"] == "ir":
        out = known[case["target"]].write(given, unit=unit)
        body, notes = out.body, out.notes
    else:
        model = "m" if unit == "request" else None
        out = known.convert(given, case["source"], case["target"], unit=unit, model=model)
        body, notes = out.body, out.notes
    assert given == case["given"]
    assert json.dumps(body, sort_keys=True) == json.dumps(case["expected"], sort_keys=True)
    assert sorted(note.code for note in notes) == sorted(case.get("notes", ()))


@pytest.mark.parametrize("dialect", FORMATS)
def test_every_unit_comes_home_and_all_of_it_is_understood(dialect: str) -> None:
    for unit, body in BODIES[dialect].items():
        reading = rules()[dialect].read(body, unit=unit)
        assert reading.notes == (), unit
        assert '"kept"' not in json.dumps(reading.ir), unit
        stored = json.loads(json.dumps(reading.ir))
        assert rules()[dialect].write(stored, unit=unit).body == body, unit
        for mutant in some(body, 30, f"{dialect} {unit}") if isinstance(body, dict) else ():
            try:
                out = rules().convert(mutant, dialect, dialect, unit=unit)
            except wireglot.ConversionError:
                continue
            assert out.body == mutant


@pytest.mark.parametrize(("source", "target"), ABROAD)
def test_every_unit_goes_abroad_and_functions_do_as_the_walk(source: str, target: str) -> None:
    for unit in units_of(source, target):
        body = wrong_input.BODIES[source][unit]
        assert not faults_of(body, source, target, unit), unit
    body = wrong_input.BODIES[source]["request"]
    for mutant in (body, *some(body, width.times(10, 4), f"{source} {target}")):
        found: list[Any] = []
        for trace in (False, True):
            try:
                out = rules().convert(mutant, source, target, model="m", trace=trace)
                found.append((out.body, sorted(map(repr, out.notes)), out.envelope))
            except wireglot.ConversionError as error:
                found.append(str(error))
        assert found[0] == found[1]


@pytest.mark.parametrize(("source", "target"), [(s, t) for s, t in ABROAD if s in FORMATS])
def test_a_wrong_value_of_a_format_is_refused_or_heard(source: str, target: str) -> None:
    faults: dict[str, list[str]] = {}
    for start, wrong in enumerate(WRONG):
        for unit in units_of(source, target):
            body = BODIES[source][unit]
            for turn, path in enumerate(places(body), start):
                if not path or turn % width.times(31, 62):
                    continue
                mutant = replaced(body, path, WRONG[wrong]())
                quiet = wrong == "null" or mutant == body
                found = faults_of(
                    mutant,
                    source,
                    target,
                    unit,
                    wrong_at=None if quiet else pointer_of(path),
                    json_value=wrong not in NO_JSON,
                    twice=False,
                )
                if found:
                    faults[f"{wrong} at {unit} {pointer_of(path)}"] = found
    wrong_input.report(faults)


@pytest.mark.parametrize(("source", "target"), [(s, t) for s, t in ABROAD if s in FORMATS])
def test_an_unknown_key_of_a_format_is_heard(source: str, target: str) -> None:
    faults: dict[str, list[str]] = {}
    for unit in units_of(source, target):
        body = BODIES[source][unit]
        for path in places(body):
            value = wrong_input.found_at(body, path)
            if isinstance(value, dict):
                mutant = replaced(body, path, value | {"zz": {"yyy": [1, None]}})
                at = pointer_of((*path, "zz"))
                found = faults_of(mutant, source, target, unit, wrong_at=at, twice=False)
                if found:
                    faults[f"{unit} {pointer_of(path)}"] = found
    wrong_input.report(faults)


# --- Seeds 000 and 002 ----------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["modular-prompt", "modular-prompt-v1"])
@pytest.mark.parametrize("form", ["auto", "none", "required", "name"])
def test_each_tool_choice_of_modular_prompt_goes_to_each_provider_and_back(
    form: str, dialect: str
) -> None:
    named = {"name": "get_weather"}
    nested = {"type": "function", "function": named}
    wire = (named if dialect == "modular-prompt" else nested) if form == "name" else form
    for provider in PROVIDERS:
        given = CHOICES[form][provider]
        assert rules().convert(wire, dialect, provider, unit="tool_choice").body == given
        back = rules().convert(given, provider, dialect, unit="tool_choice")
        assert (back.body, back.notes) == (wire, ())


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("end_turn", "stop"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("error", "error"),
        ("stop_sequence", "stop"),
        ("content_filter", "error"),
        ("other:odd", "stop"),
    ],
)
@pytest.mark.parametrize("dialect", ["modular-prompt", "modular-prompt-v1"])
def test_a_finish_reason_is_one_of_four(stop: str, finish: str, dialect: str) -> None:
    ir = {"candidates": [{"parts": [{"type": "text", "text": "Hi"}], "stop_reason": stop}]}
    out = rules()[dialect].write(ir, unit="response")
    assert out.body == {"content": "Hi", "finishReason": finish}
    exact = stop in ("end_turn", "tool_use", "max_tokens", "error")
    assert [note.code for note in out.notes] == ([] if exact else ["reworded"])
    if exact:
        back = rules()[dialect].read(out.body, unit="response").ir
        assert back["candidates"][0]["stop_reason"] == stop


def test_what_a_model_of_the_ir_gives_by_alias_is_modular_prompt() -> None:
    models = pytest.importorskip("wireglot.models")
    call = models.ToolCall(id="c1", name="f", arguments={"x": 1}, metadata={"step": 1})
    result = models.ToolResult(tool_call_id="c1", name="f", kind="error", value="Timeout")
    tool = models.ToolDefinition(name="f", parameters={"type": "object"}, strict=True)
    own = rules()["modular-prompt"]
    for model, unit in ((call, "tool_call"), (result, "tool_result"), (tool, "tool")):
        wire = model.dump(by_alias=True)
        assert without_memory(own.read(wire, unit=unit).ir) == model.dump()
    written = own.write(result.dump(), unit="tool_result").body
    assert written == {"type": "message", "role": "tool"} | result.dump(by_alias=True)


def exchanged(client: str, provider: str, answer: Any, history: Any) -> tuple[Any, Any]:
    """Take a provider's answer to a client, and the client's next request back to the provider."""
    asked = (
        rules()
        .convert(
            {"model": "m", "messages": [{"role": "user", "content": "q"}]}, "openai-chat", client
        )
        .body
    )
    first = rules().exchange(client, provider, model="m")
    first.request(asked)
    said = first.response(answer).body
    asked = asked | {"messages": [*asked["messages"], *history(said)]}
    second = rules().exchange(client, provider, model="m")  # nothing but what rode is known
    return said, second.request(json.loads(json.dumps(asked))).body


GEMINI_TURN = {
    "role": "model",
    "parts": [
        {"text": "I look."},
        {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "f", "args": {}}},
    ],
}
CLAUDE_TURN = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}},
    ],
}
CLAUDE_ANSWER = {
    "id": "m1",
    "type": "message",
    "model": "m",
    **CLAUDE_TURN,
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 1, "output_tokens": 2},
}


def test_state_rides_in_metadata_and_returns_to_gemini() -> None:
    def history(said: Any) -> list[Any]:
        calls = [call | {"metadata": call["metadata"] | {"step": 1}} for call in said["toolCalls"]]
        turn = {"role": "assistant", "content": said["content"], "toolCalls": calls}
        result = {"role": "tool", "name": "f", "kind": "text", "value": "ok"}
        return [turn, *({**result, "toolCallId": call["id"]} for call in calls)]

    answer = {"candidates": [{"content": GEMINI_TURN, "finishReason": "STOP"}]}
    said, asked = exchanged("modular-prompt", "gemini", answer, history)
    assert list(said["toolCalls"][0]["metadata"]) == ["wireglot"]
    assert asked["contents"][1] == GEMINI_TURN
    assert "wireglot" not in json.dumps(asked)


def test_state_rides_in_metadata_and_returns_to_anthropic() -> None:
    def history(said: Any) -> list[Any]:
        (call,) = said["toolCalls"]
        turn = {"role": "assistant", "content": said["content"], "toolCalls": [call]}
        result = {"role": "tool", "name": "f", "kind": "text", "value": "ok"}
        return [turn, result | {"toolCallId": call["id"]}]

    _, asked = exchanged("modular-prompt", "anthropic", CLAUDE_ANSWER, history)
    assert asked["messages"][1] == CLAUDE_TURN


@pytest.mark.parametrize("provider", ["gemini", "anthropic"])
def test_state_rides_in_raw_context_and_returns(provider: str) -> None:
    def history(said: Any) -> list[Any]:
        calls = [part for part in said["parts"] if "arguments" in part]
        result = {"name": "f", "result": "ok", "is_error": False}
        results = [{**result, "tool_call_id": call["id"]} for call in calls]
        return [said, {"role": "tool", "parts": results}]

    answer: Any = {"candidates": [{"content": GEMINI_TURN, "finishReason": "STOP"}]}
    answer = answer if provider == "gemini" else CLAUDE_ANSWER
    said, asked = exchanged("universal-tool", provider, answer, history)
    call = next(part for part in said["parts"] if "raw_context" in part)
    assert list(call["raw_context"]) == ["wireglot"]
    turn = asked["contents" if provider == "gemini" else "messages"][1]
    assert turn == (GEMINI_TURN if provider == "gemini" else CLAUDE_TURN)
    assert "wireglot" not in json.dumps(asked)


@pytest.mark.parametrize("dialect", [*PROVIDERS, *FORMATS])
def test_messages_that_call_and_messages_that_answer_are_told_apart(dialect: str) -> None:
    messages = rules()[dialect].read(wrong_input.BODIES[dialect]["messages"], unit="messages").ir
    for message in messages:
        kinds = {part["type"] for part in message["parts"]}
        assert wireglot.has_tool_calls(message) == ("tool_call" in kinds)
        assert wireglot.is_tool_result(message) == ("tool_result" in kinds)


def test_messages_on_the_wire_are_told_apart() -> None:
    calls = [{"id": "c1", "name": "f", "arguments": {}}]
    assert wireglot.has_tool_calls({"role": "assistant", "content": "", "toolCalls": calls})
    assert wireglot.has_tool_calls({"role": "assistant", "content": None, "tool_calls": calls})
    assert not wireglot.has_tool_calls({"role": "assistant", "content": "", "toolCalls": []})
    assert not wireglot.has_tool_calls({"role": "assistant", "content": ""})
    assert not wireglot.has_tool_calls({"role": "user", "content": "", "toolCalls": calls})
    assert wireglot.is_tool_result({"role": "tool", "toolCallId": "c1", "content": "ok"})
    assert not wireglot.is_tool_result({"role": "user", "content": "ok"})


# --- Seed 004 -------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["auto", "none", "required"])
def test_a_tool_that_is_called_like_a_word_of_the_choice_is_not_named(word: str) -> None:
    own = rules()["agent-sdk"]
    out = own.write({"name": word}, unit="tool_choice")
    assert (out.body, [note.code for note in out.notes]) == ("required", ["ambiguous"])
    assert own.read(word, unit="tool_choice").ir == word
    assert own.read("get_weather", unit="tool_choice").ir["name"] == "get_weather"
    for provider in PROVIDERS:
        given = CHOICES["name"][provider]
        there = rules().convert("get_weather", "agent-sdk", provider, unit="tool_choice")
        assert (there.body, there.notes) == (given, ())
        assert rules().convert(given, provider, "agent-sdk", unit="tool_choice").body == (
            "get_weather"
        )


@pytest.mark.parametrize("key", ["meta", "seen_by", "provider_meta2"])
@pytest.mark.parametrize("unit", ["message", "messages", "response", "tool_result", "tool_call"])
def test_what_later_versions_add_comes_home(unit: str, key: str) -> None:
    def added(value: Any) -> Any:
        if isinstance(value, list):
            return [added(item) for item in value]
        if not isinstance(value, dict):
            return value
        more = {name: added(item) for name, item in value.items()}
        known = {"role", "function", "messages", "type"} & value.keys()
        return more | ({key: {"a": [1]}} if known and "signature" not in value else {})

    body = added(BODIES["agent-sdk"][unit])
    assert key in json.dumps(body)
    assert rules().convert(body, "agent-sdk", "agent-sdk", unit=unit).body == body
    ir = json.loads(json.dumps(rules()["agent-sdk"].read(body, unit=unit).ir))
    assert rules()["agent-sdk"].write(ir, unit=unit).body == body


@pytest.mark.parametrize("provider", ["gemini", "anthropic"])
def test_state_rides_in_provider_meta_and_in_raw_items_and_returns(provider: str) -> None:
    def history(said: Any) -> list[Any]:
        calls = [call for m in said["messages"] for call in m.get("tool_calls", ())]
        result = {"role": "tool", "tool_name": "f", "content": "ok"}
        return [*said["messages"], *({**result, "tool_call_id": c["id"]} for c in calls)]

    answer: Any = {"candidates": [{"content": GEMINI_TURN, "finishReason": "STOP"}]}
    answer = answer if provider == "gemini" else CLAUDE_ANSWER
    said, asked = exchanged("agent-sdk", provider, answer, history)
    assert "wireglot" in json.dumps(said)
    turn = asked["contents" if provider == "gemini" else "messages"][1]
    assert turn == (GEMINI_TURN if provider == "gemini" else CLAUDE_TURN)
    assert "wireglot" not in json.dumps(asked)


# --- All of them ----------------------------------------------------------------------------------

SESSION: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Is it warm?"},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {
                "id": f"c{n}",
                "type": "function",
                "function": {"name": "f", "arguments": f'{{"n":{n}}}'},
            }
            for n in range(4)
        ],
    },
    {"role": "tool", "tool_call_id": "c0", "content": "Sunny"},
    {"role": "tool", "tool_call_id": "c1", "content": '{"temp":22}'},
    {"role": "tool", "tool_call_id": "c2", "content": "[1,2]"},
    {"role": "tool", "tool_call_id": "c3", "content": "22"},
    {"role": "assistant", "content": "It is."},
    {"role": "user", "content": "And now?"},
]


@pytest.mark.parametrize(("one", "other"), [p for p in ABROAD if set(p) & set(FORMATS)])
def test_a_session_goes_there_and_back_and_keeps_all_of_its_calls(one: str, other: str) -> None:
    body: Any = {"model": "m", "messages": SESSION}
    for source, target in (("openai-chat", one), (one, other), (other, one), (one, "openai-chat")):
        out = rules().convert(body, source, target, model="m")
        lost = [str(note) for note in out.notes if note.effect == "lost"]
        assert not [text for text in lost if "/max_tokens" not in text]  # one API fills it in
        body = out.body
    assert body["messages"] == SESSION


PAGE = (Path(__file__).parents[1] / "docs" / "pairs.md").read_text("utf-8")
ROWS = {row[0]: row[1:3] for row in re.findall(r"^\| ([a-z0-9-]+) \|(.*)\|(.*)\|.*\|$", PAGE, re.M)}
OF_CALLS = {*OF, "renamed", "failed-data-as-error", "failed-text-as-error"} - {"lifted", "unpaired"}


@pytest.mark.parametrize("name", FORMATS)
def test_no_other_note_on_calls_and_results_comes_of_a_format(name: str) -> None:
    to, back = ({*re.findall(r"`([a-z-]+)`", cell)} for cell in ROWS[name])
    found: tuple[set[str], set[str]] = (set(), set())
    for provider in PROVIDERS:
        bodies = wrong_input.BODIES[provider]["request"], {"model": "m", "messages": SESSION}
        for body in (bodies[0], *([bodies[1]] if provider == "openai-chat" else ())):
            out = rules().convert(body, provider, name, model="m")
            found[0].update(note.code for note in out.notes)
        out = rules().convert(BODIES[name]["request"], name, provider, model="m")
        found[1].update(note.code for note in out.notes)
    for case in CASES:
        if {case["source"], case["target"]} & set(PROVIDERS) and not case.get("overlays"):
            for place, dialect in enumerate((case["target"], case["source"])):
                found[place].update(case.get("notes", ()) if dialect == name else ())
    assert found[0] & OF_CALLS <= to and found[1] & OF_CALLS <= back
    assert found[0] & OF_CALLS or found[1] & OF_CALLS
    assert (to | back) <= OF_CALLS
