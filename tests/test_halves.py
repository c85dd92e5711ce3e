"""Reading and writing alone: generated code gives what the interpreter gives, or leaves it."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

import wireglot
from benchmarks import workloads
from wireglot import jsontext
from wireglot.compiler import halves
from wireglot.compiler.state import Odd
from wireglot.compiler.writecode import FIELDS
from wireglot.dialects import DialectRules

from .mutate import inside_each_text, some
from .test_compiled import DIALECTS, WEATHER, counted, pictured, recorded, same_json, weather

RULES = wireglot.packaged()
SLOW = {"engine": "interpreted"}
MODEL = "gpt-4o"


def picked(name: str, model: Any = MODEL) -> DialectRules:
    return RULES[name]._picked(model if isinstance(model, str) else None, {})


def check_read(name: str, body: Any) -> bool:
    """Assert that generated code reads as the interpreter does; tell whether it took the body."""
    model = RULES[name].model_in(body, "request") or MODEL
    reads = picked(name, model)._reads
    assert reads is not None
    found = reads.run(body, model, None)
    if found is None:
        return False
    meant = RULES[name].read(body, model=model, options=SLOW)
    assert same_json(found.ir, meant.ir), "the IR differs"
    assert counted(found.notes) == counted(meant.notes), "the notes differ"
    return True


def check_write(name: str, ir: Any) -> bool:
    """Assert that generated code writes as the interpreter does; tell whether it took the IR."""
    writes = picked(name, ir.get("model") if isinstance(ir, dict) else None)._writes
    assert writes is not None
    try:
        found = writes.run(ir, None, None)
    except writes.leave:
        return False
    meant = RULES[name].write(ir, options=SLOW)
    assert same_json(found.body, meant.body), "the bodies differ"
    assert counted(found.notes) == counted(meant.notes), "the notes differ"
    assert found.envelope == meant.envelope, "the envelopes differ"
    assert found.rules_hash == meant.rules_hash
    return True


@pytest.mark.parametrize("workload", ["W1", "W2", "W3"])
@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "gemini"])
def test_both_halves_of_a_usual_request_are_compiled(source: str, workload: str) -> None:
    body = workloads.request(source, workload, 1)
    before = copy.deepcopy(body)
    assert check_read(source, body)
    ir = RULES[source].read(body, model=MODEL).ir
    assert body == before
    before = copy.deepcopy(ir)
    for target in ("openai-chat", "anthropic", "gemini"):
        # A request at home is put back as it was, which the interpreter does.
        assert check_write(target, ir) == (target != source)
    assert ir == before


@pytest.mark.parametrize("source", DIALECTS)
def test_mutants_are_read_alike_or_left(source: str) -> None:
    like = "gemini" if source == "vertex" else source
    bodies = [weather(source), workloads.request(like, "W1", 2)]
    taken = sum(check_read(source, m) for body in bodies for m in some(body, 90, "read"))
    assert taken >= 5 or source == "vertex"  # whose older models send calls without ids


@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "gemini"])
@pytest.mark.parametrize("target", DIALECTS)
def test_mutants_of_ir_are_written_alike_or_left(source: str, target: str) -> None:
    ir = RULES[source].read(workloads.request(source, "W1", 3), model=MODEL).ir
    for mutant in some(ir, 40, "write"):
        try:
            check_write(target, mutant)
        except wireglot.WireglotError:
            pytest.fail("the interpreter refuses what generated code took")


@pytest.mark.parametrize("sign", ["\ud800", "é"])
@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "gemini"])
def test_a_sign_inside_of_any_text_is_taken_alike(source: str, sign: str) -> None:
    body = pictured(source)
    read = [check_read(source, made) for made in inside_each_text(body, sign)]
    ir = RULES[source].read(body, model=MODEL).ir
    written = [
        check_write(target, made)
        for target in ("openai-chat", "anthropic", "gemini")
        if target != source
        for made in inside_each_text(ir, sign)
    ]
    assert len(read) > 15 and len(written) > 30
    # Half of a surrogate pair has no place in UTF-8.
    assert (any(read), any(written)) == ((sign == "é",) * 2)


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "gemini"])
def test_recorded_requests_are_read_and_written_alike(name: str) -> None:
    chance, taken = random.Random(name), 0
    bodies = [body for body in recorded(name) if len(str(body)) < 20_000]
    for body in chance.sample(bodies, 40):
        taken += check_read(name, body)
        ir = RULES[name].read(body, model=MODEL).ir
        for target in ("openai-chat", "anthropic", "gemini"):
            if target != name:
                taken += check_write(target, ir)
    assert taken >= 5


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
def test_a_text_means_a_value_or_is_odd(text: str, value: Any, right: bool) -> None:
    if right:
        halves.means(text, value)
    else:
        with pytest.raises(Odd):
            halves.means(text, value)


def test_half_of_a_surrogate_pair_beside_a_whole_number_is_no_text() -> None:
    with pytest.raises(ValueError):
        jsontext.utf8_text({"a": 1.0, "b": "\ud800"})
    assert jsontext.utf8_text({"a": 1.0, "b": "é"}) == '{"a":1,"b":"é"}'


@pytest.mark.parametrize("ir", [None, [], "x", {}, {"model": True}, {"messages": 5, "model": "m"}])
def test_what_is_no_ir_is_refused_as_ever(ir: Any) -> None:
    with pytest.raises(wireglot.WireglotError) as quick:
        RULES["anthropic"].write(ir)
    with pytest.raises(wireglot.WireglotError) as slow:
        RULES["anthropic"].write(ir, options=SLOW)
    assert str(quick.value) == str(slow.value)


def test_a_policy_holds_for_what_is_compiled() -> None:
    ir = (
        RULES["openai-chat"]
        .read({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
        .ir
    )
    assert check_write("anthropic", ir)
    with pytest.raises(wireglot.PolicyError):
        RULES["anthropic"].write(ir, policy={"filled-in": "fail"})


def test_a_memory_of_another_form_remembers_nothing() -> None:
    body = {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "tools": [{"googleSearch": {"timeRangeFilter": {}}}],
    }
    ir = RULES["gemini"].read(body).ir
    (settings,) = [v for v in ir["tools"][0]["own"]["gemini"].values() if isinstance(v, dict)]
    settings["spelled"] = "text"
    assert RULES["gemini"].write(ir).body["tools"] == [{"googleSearch": {"timeRangeFilter": {}}}]


ODD_VALUES: list[Any] = [1.5, True, [], {}, "x", [1], {"budget": 1}, {"a": None}]


@pytest.mark.parametrize("target", DIALECTS)
def test_fields_of_another_type_are_written_as_the_interpreter_does_or_refused(target: str) -> None:
    said: Any = {"role": "user", "parts": [{"type": "text", "text": "q"}]}
    base: dict[str, Any] = {"model": "m", "messages": [said]}
    thinks = {**base, "reasoning": {"budget": 2000}}
    fields = [(base, field) for field in (*FIELDS, "spelled")]
    for around, field in (*fields, (thinks, "messages"), (thinks, "tools")):
        for value in ODD_VALUES:
            ir = {**around, field: value}
            told: list[Any] = []
            for options in (None, SLOW):
                try:
                    out = RULES[target].write(ir, options=options)
                    told.append((jsontext.stringify(out.body), counted(out.notes)))
                except wireglot.ConversionError as error:
                    told.append(str(error))
            assert told[0] == told[1], (field, value)


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
