"""What is Ollama's alone: its body among wrong ones, ids and names that are not there, pairs."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import wireglot

from . import test_wrong_input as wrong_input
from .oracles import sdk
from .test_wrong_input import BODIES, NO_JSON, WRONG, faults_of, places, pointer_of, replaced

OTHERS = ("openai-chat", "anthropic", "gemini")
EVERY = (*OTHERS, "ollama")
UNITS = tuple(BODIES["ollama"])
PAIRS = [("ollama", other) for other in EVERY] + [(other, "ollama") for other in OTHERS]
RULES = wireglot.packaged()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_unit_converts_to_what_the_sdk_takes(source: str, target: str) -> None:
    units: tuple[sdk.Unit, ...] = ("request", "response", "error")
    for unit in UNITS:
        body = BODIES[source][unit]
        assert not faults_of(body, source, target, unit), unit
        if unit in units:
            written = wrong_input.convert(body, source, target, unit).body
            assert sdk.problems(target, unit, written) == []


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_wrong_value_is_refused_or_heard(source: str, target: str) -> None:
    faults: dict[str, list[str]] = {}
    for start, wrong in enumerate(WRONG):
        for unit in UNITS:
            body = BODIES[source][unit]
            for turn, path in enumerate(places(body), start):
                if not path or turn % 13:
                    continue
                mutant = replaced(body, path, WRONG[wrong]())
                quiet = wrong == "null" or mutant == body
                old = wrong_input.found_at(body, path)
                quiet = quiet or (wrong == "empty-text" and old is None)
                at = None if quiet else pointer_of(path)
                json_value = wrong not in NO_JSON
                found = faults_of(
                    mutant, source, target, unit, wrong_at=at, json_value=json_value, twice=False
                )
                if found:
                    faults[f"{wrong} at {unit} {pointer_of(path)}"] = found
    wrong_input.report(faults)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_unknown_key_is_heard(source: str, target: str) -> None:
    faults: dict[str, list[str]] = {}
    for unit in UNITS:
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


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if len(set(pair)) == 2])
def test_functions_and_the_walk_agree(source: str, target: str) -> None:
    body = BODIES[source]["request"]
    out = RULES.convert(body, source, target, model="m")
    slow = RULES.convert(body, source, target, model="m", trace=True)
    assert out[:4] == slow[:4]


def dropped(body: Any, *names: str) -> Any:
    """Return a copy without some keys, wherever they stand."""
    body = copy.deepcopy(body)
    stack = [body]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            for name in names:
                node.pop(name, None)
        stack.extend(node.values() if isinstance(node, dict) else node)
        stack = [inner for inner in stack if isinstance(inner, dict | list)]
    return body


@pytest.mark.parametrize(
    "names",
    [
        ("id", "index"),
        ("id", "tool_call_id"),
        ("id", "tool_call_id", "tool_name", "index"),
        ("tool_name",),
        ("content",),
        ("done", "done_reason", "created_at"),
    ],
)
def test_what_older_servers_leave_out_stays_out_at_home(names: tuple[str, ...]) -> None:
    for unit in ("request", "response", "messages"):
        body = dropped(BODIES["ollama"][unit], *names)
        for way in ("convert", "store"):
            if way == "convert":
                back = RULES.convert(body, "ollama", "ollama", unit).body
            else:
                ir = json.loads(json.dumps(RULES["ollama"].read(body, unit=unit).ir))
                back = RULES["ollama"].write(ir, unit=unit).body
            assert back == body, (unit, way)


@pytest.mark.parametrize("target", OTHERS)
def test_an_exchange_without_ids_goes_there_and_back(target: str) -> None:
    body = dropped(BODIES["ollama"]["messages"], "id", "tool_call_id")
    there = RULES.convert(body, "ollama", target, "messages")
    back = RULES.convert(there.body, target, "ollama", "messages").body
    (call,) = next(m["tool_calls"] for m in back if "tool_calls" in m)
    result = back[-1]
    assert call["function"]["arguments"] == {"city": "x", "n": [1]}
    assert (result["tool_name"], json.loads(result["content"])) == ("f", {"t": 1})
    assert call["id"] == result["tool_call_id"]


def test_usage_adds_up_in_both_directions() -> None:
    usage = {"input": 5, "cache_read": 3, "cache_write": 2, "tool_input": 1}
    usage |= {"output": 4, "reasoning": 6}
    out = RULES["ollama"].write(usage, unit="usage")
    assert out.body == {"prompt_eval_count": 11, "eval_count": 10}
    assert [note.code for note in out.notes] == ["joined"] * 4
    back = RULES.convert(out.body, "ollama", "openai-chat", "usage").body
    assert (back["prompt_tokens"], back["completion_tokens"], back["total_tokens"]) == (11, 10, 21)


@pytest.mark.parametrize("trace", [False, True])
def test_a_whole_number_is_written_without_a_point(trace: bool) -> None:
    body = {"model": "m", "max_tokens": 9.0, "top_k": 40.0, "messages": []}
    for target, found in (("ollama", "{'top_k': 40, 'num_predict': 9}"), ("openai-chat", "9")):
        out = wireglot.convert(body, "anthropic", target, trace=trace)
        said = out.body.get("options", out.body.get("max_completion_tokens"))
        assert repr(said) == found
    out = wireglot.convert({**body, "top_k": 0.5}, "anthropic", "ollama", trace=trace)
    assert "top_k" not in out.body["options"]
    assert [n.source_path for n in out.notes if n.effect == "lost"] == ["/top_k"]
