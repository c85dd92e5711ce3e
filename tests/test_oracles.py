"""Test the oracles themselves: each must fail on a planted defect, and only there."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wireglot.authoring.sdktypes import Shape

from . import coverage, mutate, sweep, toy
from .coverage import share
from .oracles import identity, leaves, perturb, roundtrip, samples, sdk, shapes, wire
from .oracles.leaves import Steps

Json = Any

ANTHROPIC: Json = {
    "model": "claude",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "tu_1", "name": "w", "input": {"city": "Oslo"}}],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "tu_1",
                    "content": [{"type": "text", "text": "cold"}],
                    "is_error": False,
                }
            ],
        },
    ],
    "tools": [{"name": "w", "input_schema": {"type": "object", "anything": {"goes": 1}}}],
    "tool_choice": {"type": "auto"},
}
GEMINI: Json = {
    "contents": [
        {"role": "user", "parts": [{"text": "Weather?"}]},
        {
            "role": "model",
            "parts": [
                {
                    "functionCall": {"name": "w", "args": {"city": "Oslo"}},
                    "thoughtSignature": "QUJD",
                }
            ],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "w", "response": {"t": 1}}}]},
    ],
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "tools": [
        {
            "functionDeclarations": [
                {
                    "name": "w",
                    "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}},
                }
            ]
        }
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    "generationConfig": {"temperature": 0.5, "thinkingConfig": {"thinkingBudget": 100}},
    "safetySettings": [
        {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"},
    ],
}
OLLAMA: Json = {
    "model": "qwen3",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?", "images": ["QUJD"]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "Look.",
            "tool_calls": [{"function": {"name": "w", "arguments": {"city": "Oslo"}}}],
        },
        {"role": "tool", "tool_name": "w", "tool_call_id": "c1", "content": "cold"},
    ],
    "tools": [{"type": "function", "function": {"name": "w", "parameters": {"type": "object"}}}],
    "think": "low",
    "format": "json",
    "options": {"temperature": 0.5, "stop": ["END"], "num_ctx": 4096},
    "stream": False,
}
OPENAI: Json = json.loads(json.dumps(toy.REQUEST))
del OPENAI["messages"][1]["x_mood"]
RESPONSES: Json = {
    "model": "gpt-5",
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look."}]},
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "w",
            "arguments": '{"city": "Oslo"}',
        },
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [{"type": "input_text", "text": "cold"}],
        },
    ],
    "tools": [{"type": "function", "name": "w", "parameters": {"type": "object"}, "strict": False}],
    "tool_choice": {"type": "function", "name": "w"},
    "text": {"format": {"type": "text"}, "verbosity": "low"},
    "reasoning": {"effort": "low"},
}
REQUESTS = {
    "openai-chat": OPENAI,
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "vertex": GEMINI,
    "ollama": OLLAMA,
}

COMPLETION: Json = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-4o",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Hello", "refusal": None},
            "logprobs": None,
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
}


def changed(body: Json, steps: Steps, value: Json) -> Json:
    return leaves.replaced(body, {steps: value})


def without(body: Json, *steps: str | int) -> Json:
    body = copy.deepcopy(body)
    del leaves.value_at(body, steps[:-1])[steps[-1]]
    return body


def objects(dialect: str, body: Json) -> Iterator[Steps]:
    """Find every object of a request that is not the user's own data."""
    opaque = leaves.OPAQUE[dialect, "request"]
    stack: list[tuple[Steps, Json]] = [((), body)]
    while stack:
        steps, value = stack.pop()
        if leaves.opaque_root(opaque, steps):
            continue
        if isinstance(value, dict):
            yield steps
            stack.extend(((*steps, key), inner) for key, inner in value.items())
        elif isinstance(value, list):
            stack.extend(((*steps, n), inner) for n, inner in enumerate(value))


# The SDK oracle.


@pytest.mark.parametrize("dialect", sdk.DIALECTS)
def test_a_valid_request_has_no_problem(dialect: str) -> None:
    assert sdk.problems(dialect, "request", REQUESTS[dialect]) == []


@pytest.mark.parametrize("dialect", sdk.DIALECTS)
def test_an_unknown_key_in_a_request_is_refused_at_every_level(dialect: str) -> None:
    body = REQUESTS[dialect]
    places = list(objects(dialect, body))
    assert len(places) > 8
    for steps in places:
        here = {**leaves.value_at(body, steps), "wireglot_unknown": 1}
        found = sdk.problems(dialect, "request", changed(body, steps, here))
        assert any("wireglot_unknown" in problem for problem in found), (steps, found)


@pytest.mark.parametrize(
    ("dialect", "steps"),
    [
        ("openai-chat", ("model",)),
        ("openai-chat", ("messages",)),
        ("openai-chat", ("messages", 0, "content")),
        ("openai-chat", ("messages", 2, "tool_calls", 0, "function", "arguments")),
        ("openai-chat", ("messages", 3, "tool_call_id")),
        ("openai-chat", ("tools", 0, "function", "name")),
        ("openai-responses", ("input", 2, "call_id")),
        ("openai-responses", ("input", 3, "output")),
        ("openai-responses", ("tools", 0, "strict")),
        ("anthropic", ("max_tokens",)),
        ("anthropic", ("messages", 1, "content", 0, "input")),
        ("anthropic", ("messages", 2, "content", 0, "tool_use_id")),
        ("anthropic", ("tools", 0, "input_schema")),
        ("gemini", ("contents",)),
        ("gemini", ("contents", 1, "parts", 0, "functionCall", "name")),
        ("gemini", ("contents", 2, "parts", 0, "functionResponse", "response")),
        ("gemini", ("tools", 0, "functionDeclarations", 0, "name")),
        ("ollama", ("messages",)),
        ("ollama", ("messages", 2, "tool_calls", 0, "function", "arguments")),
        ("ollama", ("tools", 0, "function", "name")),
    ],
)
def test_a_missing_required_key_is_a_problem(dialect: str, steps: Steps) -> None:
    found = sdk.problems(dialect, "request", without(REQUESTS[dialect], *steps))
    assert any("required" in problem.lower() for problem in found), found


@pytest.mark.parametrize(
    ("dialect", "steps", "value"),
    [
        ("openai-chat", ("messages",), {}),  # an iterable, but no list
        ("openai-chat", ("messages",), "text"),
        ("openai-chat", ("messages", 0, "role"), "bot"),
        ("openai-chat", ("temperature",), "0.5"),
        ("openai-chat", ("messages", 2, "tool_calls", 0, "function", "arguments"), {"city": 1}),
        ("openai-chat", ("tools", 0, "function", "strict"), 1),
        ("openai-responses", ("input",), {}),
        ("openai-responses", ("input", 0, "role"), "bot"),
        ("openai-responses", ("input", 2, "arguments"), {"city": "Oslo"}),
        ("openai-responses", ("reasoning", "effort"), "some"),
        ("anthropic", ("max_tokens",), 1.5),
        ("anthropic", ("messages", 1, "content", 0, "input"), "{}"),
        ("anthropic", ("tool_choice", "type"), "required"),
        ("gemini", ("contents", 1, "parts", 0, "functionCall", "args"), "{}"),
        ("gemini", ("contents", 1, "parts", 0, "thoughtSignature"), "no base64!"),
        ("gemini", ("toolConfig", "functionCallingConfig", "mode"), "REQUIRED"),
        ("gemini", ("safetySettings", 0, "threshold"), "NEVER"),
        ("gemini", ("contents", 2, "parts", 0, "functionResponse", "response"), "cold"),
        ("gemini", ("generationConfig", "temperature"), "warm"),
        ("ollama", ("messages", 0, "content"), [{"type": "text", "text": "Be brief."}]),
        ("ollama", ("messages", 1, "images", 0), "no base64!"),
        ("ollama", ("messages", 2, "tool_calls", 0, "function", "arguments"), "{}"),
        ("ollama", ("tools", 0, "function", "parameters", "type"), "string"),
        ("ollama", ("format",), "xml"),
        ("ollama", ("options", "stop"), "END"),
    ],
)
def test_a_value_of_another_kind_is_a_problem(dialect: str, steps: Steps, value: Json) -> None:
    body = copy.deepcopy(REQUESTS[dialect])
    leaves.value_at(body, steps[:-1])[steps[-1]] = value
    assert sdk.problems(dialect, "request", body)


def test_a_gemini_part_holds_one_kind_of_data() -> None:
    body = copy.deepcopy(GEMINI)
    body["contents"][1]["parts"][0]["text"] = "beside a call"
    assert sdk.problems("gemini", "request", body)


def test_fields_of_the_enterprise_platform_are_refused_for_gemini() -> None:
    body = copy.deepcopy(GEMINI)
    body["toolConfig"]["functionCallingConfig"]["streamFunctionCallArguments"] = True
    body["generationConfig"]["audioTimestamp"] = True
    found = sdk.problems("gemini", "request", body)
    assert {problem.split(":")[0].split("/")[-1] for problem in found} == {
        "streamFunctionCallArguments",
        "audioTimestamp",
    }


def test_a_response_may_hold_unknown_keys_and_must_hold_the_required_ones() -> None:
    assert sdk.problems("openai-chat", "response", {**COMPLETION, "x_new": {"a": 1}}) == []
    assert sdk.problems("openai-chat", "response", without(COMPLETION, "choices", 0, "index"))
    odd = changed(COMPLETION, ("choices", 0, "finish_reason"), "tired")
    assert sdk.problems("openai-chat", "response", odd)
    assert sdk.problems("openai-chat", "response", {**COMPLETION, "created": "1"})
    gemini: Json = {"candidates": [{"content": {"parts": [{"text": "a", "new": 1}]}, "n": 1}]}
    assert sdk.problems("gemini", "response", gemini) == []
    gemini["candidates"][0]["finishReason"] = "stop_sequence"
    assert sdk.problems("gemini", "response", gemini)


def test_error_bodies_are_judged_where_the_sdk_types_them() -> None:
    wrong: Json = {"error": {"message": 1}}
    for dialect in sdk.DIALECTS:
        assert sdk.problems(dialect, "error", wrong)
    right: Json = {"type": "error", "error": {"type": "api_error", "message": "no"}}
    assert sdk.problems("anthropic", "error", right) == []


def test_a_problem_of_a_union_is_told_for_the_nearest_member() -> None:
    body = changed(ANTHROPIC, ("messages", 1, "content", 0, "name"), 1)
    (problem,) = sdk.problems("anthropic", "request", body)
    assert problem.startswith("/messages/1/content/0/name: ")


@pytest.mark.parametrize("dialect", sdk.DIALECTS)
def test_bodies_that_are_no_object_are_problems_and_no_crash(dialect: str) -> None:
    no_error: Json = {"error": {"text": "no"} if dialect == "ollama" else "no"}
    bodies: list[Json] = [None, [], "text", 1, {"contents": 1, "candidates": 1}, no_error]
    units: tuple[sdk.Unit, ...] = ("request", "response", "error")
    for unit in units:
        for body in bodies[:-1] if unit == "response" else bodies:
            assert sdk.problems(dialect, unit, body), (unit, body)


def test_field_paths_expand_unions_and_lists_and_cut_recursion() -> None:
    openai = sdk.field_paths("openai-chat", "request")
    assert {"messages[].content", "messages[].content[].text", "stop", "stop[]"} <= openai
    assert "messages[].content[].image_url.url" in openai
    assert "tools[].function.parameters.*" in openai
    anthropic = sdk.field_paths("anthropic", "request")
    assert "messages[].content[].content[].source.media_type" in anthropic
    gemini = sdk.field_paths("gemini", "request")
    assert "tools[].functionDeclarations[].parameters.*" in gemini
    assert not any("parameters.properties" in path for path in gemini)
    assert "generationConfig.thinkingConfig.thinkingBudget" in gemini
    assert sdk.field_paths("gemini", "error") == set()


def test_shapes_at_a_place_follow_the_variant_that_the_body_chose() -> None:
    steps = ("messages", 2, "content", 0, "content", 0, "type")
    (shape,) = sdk.shapes_at("anthropic", "request", ANTHROPIC, steps)
    assert shape.words == ("text",)
    assert sdk.shapes_at("anthropic", "request", ANTHROPIC, ("nowhere",)) == []


def test_words_of_an_enumeration_are_found_without_case() -> None:
    shape = Shape("words", words=("STRING",), loose=True)
    assert shapes.has_word(shape, "string")
    assert not shapes.has_word(Shape("words", words=("auto",)), "AUTO")
    assert not shapes.has_word(Shape("words", words=(1,)), True)


@pytest.mark.parametrize("dialect", sdk.DIALECTS)
@pytest.mark.parametrize("unit", ["request", "response"])
def test_there_is_a_valid_body_for_every_field_path(dialect: str, unit: sdk.Unit) -> None:
    paths = sdk.field_paths(dialect, unit)
    found: set[str] = set()
    for path, body in samples.samples(dialect, unit, most=1):
        assert sdk.problems(dialect, unit, body) == []
        held = {leaves.path_of(steps) for steps, _ in leaves.leaves(body)}
        root = path.removesuffix(".*")
        assert any(p in (path, root) or p.startswith((f"{root}.", f"{root}[")) for p in held)
        found.add(path)
    assert paths - found == set()


def test_coverage_believes_readings_and_not_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    class Boasting:
        def read(self, body: Json, **_: Any) -> Any:
            return Reading({"kept": {"gemini": {f"/{key}": body[key] for key in body}}})

    class Reading:
        def __init__(self, ir: Json) -> None:
            self.ir = ir

    left = coverage.left_over(Boasting(), "anthropic", "response")
    assert left == sdk.field_paths("anthropic", "response")


# Leaves and coverage.


def test_the_inside_of_opaque_regions_counts_in_neither_number() -> None:
    body = copy.deepcopy(ANTHROPIC)
    before = len(leaves.counted("anthropic", "request", body))
    body["messages"][1]["content"][0]["input"] = {"a": {"b": [1, 2, 3]}}
    body["tools"][0]["input_schema"]["properties"] = {"c": {"type": "string"}}
    assert len(leaves.counted("anthropic", "request", body)) == before


def test_unknown_parts_and_kept_keys_are_not_pictured() -> None:
    unknown = {"type": "unknown", "dialect": "x", "value": {"a": 1, "b": [2, 3]}}
    ir = {
        "messages": [{"role": "user", "parts": [unknown], "kept": {"x": {"/c": {"d": 1}}}}],
        "kept": {"x": {"/e": None}},
        "spelled": {"x": {"kept": {"x": {"/f": 1}}}},
    }
    assert leaves.not_pictured(ir) == 5
    assert leaves.not_pictured({"arguments": {"kept": {"x": {"/f": 1}}}}) == 0


def test_an_engine_that_only_carries_pictures_nothing() -> None:
    ir = {"kept": {"openai-chat": {f"/{key}": value for key, value in OPENAI.items()}}}
    assert leaves.pictured("openai-chat", "request", OPENAI, ir)[0] == 0
    part = {"type": "unknown", "value": OPENAI}
    assert leaves.pictured("openai-chat", "request", OPENAI, part)[0] == 0


def test_coverage_sorts_paths_by_what_names_them() -> None:
    paths = {"a", "b[]", "c.d", "c.e", "f.*", "g.h.i", "j.*", "k"}
    found = share(paths, {"a", "b", "c.d", "f", "g.*", "x"}, {"c.e": "no", "j": "no"})
    assert found.pictured == {"a", "b[]", "c.d", "f.*", "g.h.i"}
    assert found.dropped == {"c.e", "j.*"}
    assert found.missing == {"k"}


def test_an_event_that_nothing_names_is_missing_with_all_its_fields() -> None:
    class Few:
        def events(self) -> dict[str, set[str]]:
            return {"": {"index"}, "content_block_stop": {"type"}, "message_delta": {"type"}}

        def dropped(self, _: str) -> dict[str, str]:
            return {"content_block_d*": "A reason.", "delta.container": "Another."}

    found = coverage.told(Few(), "anthropic")
    assert found["message_stop"].missing == {"type"}
    assert found["content_block_stop"].pictured == {"type", "index"}
    assert len(found["content_block_delta"].dropped) == found["content_block_delta"].total
    assert found["message_delta"].missing > {"delta.stop_reason", "usage.input_tokens"}
    assert all(path.startswith("delta.container.") for path in found["message_delta"].dropped)
    assert found["message_delta"].dropped


def test_naming_a_parent_pictures_none_of_its_children() -> None:
    found = share({"a[].b", "a[].c.d"}, {"a", "a[]", "a[].c"}, ())
    assert found.missing == {"a[].b", "a[].c.d"}


# JSON.


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (0, False, False),
        (None, False, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
        ("1", 1, False),
        ({"a": None}, {}, False),
        ([], {}, False),
        (float("nan"), float("nan"), True),
    ],
)
def test_values_are_compared_as_json(left: Json, right: Json, equal: bool) -> None:
    assert leaves.same(left, right) is equal
    assert leaves.same({"x": [left]}, {"x": [right]}) is equal
    assert (leaves.difference(left, right) is None) is equal


def test_a_pointer_names_what_stands_below_it_and_never_everything() -> None:
    assert leaves.names("/a", "/a/b")
    assert leaves.names("/a/b", "/a/b")
    assert not leaves.names("/a/b", "/a")
    assert not leaves.names("/a", "/ab")
    assert not leaves.names("", "/a")
    assert not leaves.names(None, "/a")


# Perturbation.


def probe(defect: str, limit: int | None = None) -> perturb.Result:
    return perturb.perturb(
        toy.converter(defect),
        toy.REQUEST,
        source="openai-chat",
        target="anthropic",
        unit="request",
        error=toy.ToyError,
        limit=limit,
    )


def test_an_honest_converter_hears_everything() -> None:
    result = probe("")
    assert result.tried > 15
    assert result.unheard == result.unexplained == []
    assert result.crashes == []


@pytest.mark.parametrize(
    ("defect", "pointers"),
    [
        ("says nothing", {"/temperature", "/messages/1/x_mood"}),
        ("ignores unknown keys", {"/messages/1/x_mood"}),
        ("drops a description", {"/tools/0/function/description"}),
        ("drops the system text", {"/messages/0/content"}),
        (
            "loses arguments",
            {f"/messages/2/tool_calls/{n}/function/arguments" for n in (0, 1)},
        ),
        ("writes a constant", {"/tools/0/function/description"}),
    ],
)
def test_a_leaf_that_is_dropped_silently_is_unheard(defect: str, pointers: set[str]) -> None:
    assert pointers <= {finding.pointer for finding in probe(defect).unheard}


def test_a_note_on_the_whole_body_excuses_nothing() -> None:
    assert {"/temperature", "/messages/1/x_mood"} <= {
        finding.pointer for finding in probe("blames everything").unheard
    }


def test_an_id_made_from_the_whole_input_hides_no_loss() -> None:
    def convert(body: Json) -> toy.Conversion:
        made = toy.converter("says nothing")(body)
        digest = perturb.hashed(json.dumps(body))
        made.body["messages"][1]["content"][0]["id"] = f"call_{digest}"
        made.body["messages"][2]["content"][0]["tool_use_id"] = f"call_{digest}"
        note = toy.Note("made-id", "added", None, "/messages/1/content/0/id")
        return toy.Conversion(made.body, (*made.notes, note))

    result = perturb.perturb(
        convert, toy.REQUEST, source="openai-chat", target="anthropic", unit="request",
        error=toy.ToyError,
    )  # fmt: skip
    assert "/temperature" in {finding.pointer for finding in result.unheard}


@pytest.mark.parametrize(
    ("defect", "pointer"),
    [
        ("invents silently", "/max_tokens"),
        ("writes a constant", "/tools/0/description"),
        ("writes an unknown key", "/messages/1/content/0/index"),
    ],
)
def test_an_output_leaf_that_nothing_explains_is_found(defect: str, pointer: str) -> None:
    found = {finding.pointer for finding in probe(defect).unexplained}
    assert (pointer in found) is (defect != "writes an unknown key")


def test_a_sum_is_explained_beside_a_long_list_of_numbers() -> None:
    tokens = [{"token": "x", "logprob": -1.5, "bytes": [120], "top_logprobs": []}] * 90
    body = {
        "id": "r", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "logprobs": {"content": tokens},
                     "message": {"role": "assistant", "content": "x"}}],
        "usage": {"completion_tokens": 9, "prompt_tokens": 7, "total_tokens": 16},
    }  # fmt: skip

    def convert(body: Json) -> toy.Conversion:
        usage = body["usage"]
        total = usage["prompt_tokens"] + usage["completion_tokens"]
        return toy.Conversion({"usage": {"total_tokens": total}}, ())

    result = perturb.perturb(
        convert, body, source="openai-chat", target="openai-responses", unit="response",
        error=toy.ToyError, limit=2,
    )  # fmt: skip
    assert result.unexplained == []


def test_a_crash_is_no_way_of_hearing() -> None:
    def convert(body: Json) -> toy.Conversion:
        if body["temperature"] != toy.REQUEST["temperature"]:
            raise KeyError("temperature")
        return toy.converter()(body)

    result = perturb.perturb(
        convert, toy.REQUEST, source="openai-chat", target="anthropic", unit="request",
        error=toy.ToyError,
    )  # fmt: skip
    assert len(result.crashes) == 1
    assert "/temperature" in result.crashes[0]


def test_perturbations_are_legal_values_of_the_source() -> None:
    seen: Counter[str] = Counter()

    def convert(body: Json) -> toy.Conversion:
        assert sdk.problems("openai-chat", "request", body) == []
        seen[json.dumps(body)] += 1
        return toy.converter()(body)

    perturb.perturb(
        convert, OPENAI, source="openai-chat", target="anthropic", unit="request",
        error=toy.ToyError,
    )  # fmt: skip
    assert len(seen) > 15


def test_a_sample_of_leaves_is_the_same_every_time_and_spreads_over_paths() -> None:
    found = list(leaves.leaves(toy.REQUEST))
    some = perturb._spread(found, "seed")
    assert some == perturb._spread(found, "seed")
    assert some != perturb._spread(found, "another")
    assert len({leaves.path_of(steps) for steps, _ in some[:8]}) == 8
    assert len(some) == len(found)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("url", "data:image/png;base64,iVBO"),
        ("data", "QUJD"),
        ("mimeType", "image/png"),
        ("arguments", '{"a": {"b": 1}}'),
        ("arguments", "{}"),
        ("createTime", "2025-01-02T03:04:05Z"),
        ("text", ""),
        ("text", "{not json"),
    ],
)
def test_another_text_is_of_the_same_sort(key: str, value: str) -> None:
    other = next(perturb._other_texts(key, value, 7))
    assert other != value
    if key == "arguments":
        assert json.loads(other) != json.loads(value)
    if key == "url":
        assert other.startswith("data:image/png;base64,")
    if key == "mimeType":
        assert other.startswith("image/")


# Identity.


@pytest.mark.parametrize(
    "change",
    [
        lambda body: {k: v for k, v in body.items() if k != "temperature"},
        lambda body: {**body, "stop": None},
        lambda body: {**body, "temperature": True},
        lambda body: leaves.replaced(
            body,
            {("messages", 2, "tool_calls", 0, "function", "arguments"): '{"city":"Oslo"}'},
        ),
        lambda body: without(body, "messages", 2, "content"),
        lambda body: without(body, "messages", 1, "x_mood"),
    ],
)
def test_identity_fails_on_any_difference(change: Any) -> None:
    assert identity.changed(toy.REQUEST, lambda body: body) == []
    assert identity.changed(toy.REQUEST, change)


def test_identity_fails_when_the_input_is_changed() -> None:
    def convert(body: Json) -> Json:
        kept = copy.deepcopy(body)
        body["temperature"] = 1
        return kept

    assert any("input" in p for p in identity.changed(copy.deepcopy(toy.REQUEST), convert))


# Round trips.


def losses(defect: str, body: Json = toy.REQUEST) -> list[str]:
    there = toy.converter(defect)(body)
    back = toy.back(there.body)
    return roundtrip.losses("openai-chat", "anthropic", "request", body, there, back)


def test_an_honest_round_trip_loses_nothing() -> None:
    assert losses("") == []


@pytest.mark.parametrize(
    ("defect", "word"),
    [
        ("renames ids", "id"),
        ("hashes ids", "id"),
        ("swaps results", "result"),
        ("loses arguments", "value"),
        ("drops the system text", "text"),
    ],
)
def test_a_round_trip_that_loses_something_says_what(defect: str, word: str) -> None:
    assert any(word in loss for loss in losses(defect))


def test_an_engine_that_understands_nothing_does_not_pass() -> None:
    there = toy.converter("understands nothing")(toy.REQUEST)
    assert sdk.problems("anthropic", "request", there.body) == []
    assert probe("understands nothing").unheard == []
    back = toy.Conversion(json.loads(there.body["messages"][0]["content"]))
    assert back.body == toy.REQUEST
    assert roundtrip.losses(
        "openai-chat", "anthropic", "request", toy.REQUEST, there, back
    )  # it comes back whole, but in between there was not one call


def test_a_loss_that_a_note_names_is_none() -> None:
    there = toy.converter("drops the system text")(toy.REQUEST)
    there.notes = (*there.notes, toy.Note("no-place", "lost", "/messages/0", None))
    back = toy.back(there.body)
    assert roundtrip.losses("openai-chat", "anthropic", "request", toy.REQUEST, there, back) == []


@pytest.mark.parametrize("dialect", sdk.DIALECTS)
def test_calls_and_results_are_found_on_the_wire(dialect: str) -> None:
    found = wire.items(dialect, "request", REQUESTS[dialect])
    kinds = Counter(item.kind for item in found)
    number = 2 if dialect == "openai-chat" else 1
    assert (kinds["call"], kinds["result"]) == (number, number)
    assert next(i.value for i in found if i.kind == "call") == {"city": "Oslo"}
    assert all(perturb.steps_of(i.pointer, REQUESTS[dialect]) for i in found)


# The sweep.


class ToyEngine(sweep.Engine):
    """Stand for the engine: one way only, and identity at home."""

    def __init__(self, defect: str = "") -> None:
        self.error = toy.ToyError
        self.defect = defect
        self.dialects = self.targets = ("openai-chat", "anthropic")

    def convert(self, body: Json, source: str, target: str, *_: Any) -> Any:
        if source == target:
            return toy.Conversion(body)
        return toy.converter(self.defect)(body) if target == "anthropic" else toy.back(body)

    def read(self, unit: sweep.Unit) -> Json:
        if self.defect == "reads nothing":
            return {"kept": {unit.dialect: {"": unit.body}}}
        return {"messages": unit.body["messages"]}

    def write(self, ir: Json, dialect: str, unit: str) -> Json:
        return REQUESTS[dialect]


def swept(monkeypatch: pytest.MonkeyPatch, defect: str, body: Json) -> sweep.Outcome:
    monkeypatch.setattr(sweep, "engine", lambda: ToyEngine(defect))
    exchange = {"id": "e1", "format": "openai-chat", "status": 200, "request": body}
    return sweep.sweep([json.dumps(exchange)], sweep.Settings(perturb=None))


def test_the_sweep_finds_nothing_wrong_with_an_honest_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome = swept(monkeypatch, "", OPENAI)
    assert outcome.failures == []
    assert list(sweep.bars(outcome, outcome.failures, Counter())) == []
    assert outcome.counts["openai-chat", "anthropic", "request", "perturbed"] > 15


@pytest.mark.parametrize(
    ("defect", "what"),
    [
        ("writes text for an object", "sdk"),
        ("writes an unknown key", "sdk"),
        ("forgets a required key", "sdk"),
        ("renames ids", "roundtrip"),
        ("drops the system text", "roundtrip"),
        ("invents silently", "unexplained"),
    ],
)
def test_the_sweep_reports_a_defect_and_misses_its_bar(
    monkeypatch: pytest.MonkeyPatch, defect: str, what: str
) -> None:
    outcome = swept(monkeypatch, defect, OPENAI)
    assert what in {failure.what for failure in outcome.failures}
    assert any(what in bar for bar in sweep.bars(outcome, outcome.failures, Counter()))
    assert any(what in line for line in sweep.groups(outcome.failures))


def test_the_sweep_misses_the_bar_of_pictures_when_nothing_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome = swept(monkeypatch, "reads nothing", OPENAI)
    assert any("pictured" in bar for bar in sweep.bars(outcome, [], Counter()))


def test_other_exceptions_than_the_recordings_own_are_errors_of_another_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome = swept(monkeypatch, "", without(OPENAI, "messages", 0, "role"))
    assert {failure.what for failure in outcome.failures} >= {"crash"}
    broken = changed(OPENAI, ("messages", 2, "tool_calls", 0, "function", "arguments"), "no json")
    outcome = swept(monkeypatch, "", broken)
    assert "error" in {failure.what for failure in outcome.failures}


def failure(**changes: Any) -> sweep.Failure:
    fields: Json = {
        "what": "sdk", "source": "openai-chat", "target": "gemini", "unit": "request",
        "exchange": "e1", "message": "/temperature: Extra inputs", "own_fault": False,
    }  # fmt: skip
    return sweep.Failure(**(fields | changes))


def test_a_recording_that_fails_its_own_sdk_is_excepted_by_machine() -> None:
    assert sweep.class_of(failure(own_fault=True), []) == "recording"
    assert sweep.class_of(failure(own_fault=True, what="unheard"), []) is None
    assert sweep.class_of(failure(), []) is None


def test_a_line_of_the_exceptions_forgives_what_it_names_and_no_more() -> None:
    text = "# a remark\n\ngap | e* | openai-chat>* | request | sdk:*temperature* | why\n"
    lines = sweep.exemptions(text)
    assert sweep.class_of(failure(), lines) == "gap"
    for other in (
        {"exchange": "f1"}, {"source": "anthropic"}, {"unit": "response"}, {"what": "error"},
        {"message": "/top_p: Extra inputs"},
    ):  # fmt: skip
        assert sweep.class_of(failure(**other), lines) is None
    assert lines[0].used == 1


@pytest.mark.parametrize(
    "line", ["recording | * | * | * | * | why", "gap | * | * | *", "gap | * | * | * | * |"]
)
def test_a_wrong_line_of_the_exceptions_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"exceptions\.txt:1"):
        sweep.exemptions(line)


def test_the_exceptions_of_this_project_can_be_read() -> None:
    sweep.exemptions(sweep.EXCEPTIONS.read_text(encoding="utf-8"))


def test_more_than_one_percent_of_exceptions_miss_the_bar() -> None:
    outcome = sweep.Outcome()
    outcome.counts["a", "b", "request", "conversions"] = 100
    assert list(sweep.bars(outcome, [], Counter({"gap": 1, "recording": 50}))) == []
    assert list(sweep.bars(outcome, [], Counter({"gap": 2})))


def test_exchanges_come_from_plain_and_from_packed_files(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "a.jsonl").write_text('{"id": 1}\n\n{"id": 2}\n')
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as packed:
        packed.write('{"id": 3}\n')
    found = sweep.exchanges([tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"])
    assert [json.loads(line)["id"] for line in found] == [1, 2, 3]


def test_a_gemini_recording_gets_its_model_from_outside() -> None:
    exchange = {"id": "g", "format": "gemini", "status": 200, "request": GEMINI, "stream": [1]}
    (unit,) = sweep.units_of(exchange, sdk.DIALECTS)
    assert (unit.model, unit.stream) == (sweep.MODELS["gemini"], True)
    (unit,) = sweep.units_of({**exchange, "format": "x", "family": "anthropic"}, sdk.DIALECTS)
    assert (unit.model, unit.stream) == (None, None)
    failed = {"id": "g", "format": "gemini", "status": 400, "response": {"error": {}}}
    assert [unit.unit for unit in sweep.units_of(failed, sdk.DIALECTS)] == ["error"]


# Mutants.


def text_of(body: Json) -> str:
    """Write a body out; some are too deep for that."""
    try:
        return repr(body)
    except RecursionError:
        return "deep"


def test_mutants_are_the_same_for_the_same_seed() -> None:
    first = [text_of(m) for m in mutate.some(toy.REQUEST, 50, 1)]
    assert first == [text_of(m) for m in mutate.some(toy.REQUEST, 50, 1)]
    assert first != [text_of(m) for m in mutate.some(toy.REQUEST, 50, 2)]


def test_mutating_never_changes_the_input() -> None:
    for body in REQUESTS.values():
        before = repr(body)
        for _ in mutate.some(body, 300):
            pass
        assert repr(body) == before


def test_mutants_differ_from_their_origin_in_many_ways() -> None:
    bodies = [toy.REQUEST, GEMINI, COMPLETION]
    mutants = [text_of(m) for body in bodies for m in mutate.some(body, 1000)]
    assert len(set(mutants)) > 2000
    assert sum(m not in map(repr, bodies) for m in mutants) > 2800
    everything = "".join(mutants)
    for sign in ("nan", "inf", str(mutate.BIG), "\\ud800", "wireglot_unknown", "no such word"):
        assert sign in everything, sign


def test_any_json_can_be_mutated() -> None:
    bodies: list[Json] = [None, 1, "", [], {}, [[]], {"a": {}}, True, 1.5]
    for body in bodies:
        assert len(list(mutate.some(body, 200))) == 200
