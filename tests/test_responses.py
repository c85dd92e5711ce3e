"""OpenAI Responses: items and messages, ids, thoughts, calls, wrong bodies, pairs with others."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import wireglot

from . import sweep, width
from . import test_wrong_input as wrong_input
from .oracles import sdk
from .test_wrong_input import BODIES, NO_JSON, PNG, WRONG, faults_of, places, pointer_of, replaced

Json = Any
NAME = "openai-responses"
EXAMPLES = Path(__file__).parents[2] / "shared" / "facts" / "wire-examples" / NAME
OTHERS = ("openai-chat", "anthropic", "gemini", "ollama")
PAIRS = [(NAME, NAME)] + [pair for other in OTHERS for pair in ((NAME, other), (other, NAME))]
RULES = wireglot.packaged()
IMAGE = {"type": "input_image", "detail": "low", "image_url": f"data:image/png;base64,{PNG}"}


def text(said: str) -> Json:
    return {"type": "output_text", "text": said, "annotations": [], "logprobs": []}


def message(*parts: Json, **more: Json) -> Json:
    head = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    return {**head, "content": list(parts), **more}


def thought(**more: Json) -> Json:
    shown = [{"type": "summary_text", "text": "Hm."}]
    return {"type": "reasoning", "id": "rs_1", "summary": shown, "encrypted_content": "c2ln"} | more


def call(key: str = "c1", name: str = "f", arguments: str = '{"city":"x"}') -> Json:
    head = {"type": "function_call", "id": f"fc_{key}", "call_id": key, "status": "completed"}
    return {**head, "name": name, "arguments": arguments}


def result(key: str = "c1", output: Json = '{"t":1}') -> Json:
    return {"type": "function_call_output", "call_id": key, "output": output}


def user(*parts: Json) -> Json:
    return {"role": "user", "content": list(parts)}


def units(source: str, target: str) -> list[str]:
    return [unit for unit in BODIES[source] if unit in BODIES[target]]


def read(items: Json) -> list[Json]:
    messages: list[Json] = RULES[NAME].read({"input": items}).ir["messages"]
    return messages


def crossed(body: Json, target: str, source: str = NAME, unit: Any = "request") -> Any:
    out = RULES.convert(body, source, target, unit, model="m")
    assert sdk.problems(target, unit, out.body) == []
    return out


def codes(out: Any) -> set[str]:
    return {note.code for note in out.notes}


# -- bodies, right and wrong ----------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["request", "response", "error"])
def test_the_examples_of_the_wire_pass_every_oracle(unit: Any) -> None:
    file = EXAMPLES / f"{unit}.json"
    if not file.is_file():
        pytest.skip("../shared/facts is not here")
    body = json.loads(file.read_text("utf-8"))
    assert sdk.problems(NAME, unit, body) == []
    key = "request" if unit == "request" else "response"
    exchange = {"id": unit, "format": NAME, "status": 400 if unit == "error" else 200}
    outcome = sweep.judge({**exchange, key: body}, sweep.Settings())
    assert outcome.failures == []
    assert outcome.counts[NAME, NAME, unit, "conversions"] == 1


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_unit_converts_to_what_the_sdk_takes(source: str, target: str) -> None:
    judged: tuple[sdk.Unit, ...] = ("request", "response", "error")
    for unit in units(source, target):
        body = BODIES[source][unit]
        assert not faults_of(body, source, target, unit), unit
        if unit in judged:
            written = wrong_input.convert(body, source, target, unit).body
            assert sdk.problems(target, unit, written) == []


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_wrong_value_is_refused_or_heard(source: str, target: str) -> None:
    faults: dict[str, list[str]] = {}
    for start, wrong in enumerate(WRONG):
        for unit in units(source, target):
            body = BODIES[source][unit]
            for turn, path in enumerate(places(body), start):
                if not path or turn % width.times(13, 26):
                    continue
                mutant = replaced(body, path, WRONG[wrong]())
                old = wrong_input.found_at(body, path)
                quiet = wrong == "null" or mutant == body
                quiet = quiet or (wrong == "empty-text" and old is None)
                at = None if quiet else pointer_of(path)
                found = faults_of(
                    mutant, source, target, unit,
                    wrong_at=at, json_value=wrong not in NO_JSON, twice=False,
                )  # fmt: skip
                if found:
                    faults[f"{wrong} at {unit} {pointer_of(path)}"] = found
    wrong_input.report(faults)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_unknown_key_is_heard(source: str, target: str) -> None:
    faults: dict[str, list[str]] = {}
    for unit in units(source, target):
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


# -- items and messages ---------------------------------------------------------------------------


def test_items_of_one_side_are_one_message_in_their_order() -> None:
    items = [
        thought(),
        message(text("a")),
        call("c1"),
        thought(id="rs_2"),
        call("c2", "g"),
        result("c1"),
        result("c2", "b"),
        {"role": "assistant", "content": "c"},
    ]
    said = [(m["role"], [p["type"] for p in m["parts"]]) for m in read(items)]
    assert said == [
        ("assistant", ["reasoning", "text", "tool_call", "reasoning", "tool_call"]),
        ("tool", ["tool_result", "tool_result"]),
        ("assistant", ["text"]),
    ]
    out = crossed({"model": "m", "input": items}, "anthropic")
    filler, said = out.body["messages"][:2]  # the user comes first there
    assert filler == {"role": "user", "content": "Continue."}
    blocks = [b["type"] for b in said["content"]]
    assert blocks == ["text", "tool_use", "tool_use"]
    assert [n.source_path for n in out.notes if n.code == "no-place"] == ["/input/0", "/input/3"]


@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "gemini", "ollama"])
def test_what_others_say_becomes_items_that_the_api_takes(source: str) -> None:
    out = crossed(BODIES[source]["request"], NAME, source)
    kinds = [item.get("type", item.get("role")) for item in out.body["input"]]
    assert kinds[:5] == ["system", "user", "assistant", "function_call", "function_call_output"]
    assert not any("id" in item for item in out.body["input"])


def test_texts_of_one_turn_stay_apart_and_before_its_calls() -> None:
    content = [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
        {"type": "text", "text": "c"},
    ]
    answer = [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [
            {"role": "assistant", "content": content},
            {"role": "user", "content": answer},
        ],
    }
    out = crossed(body, NAME, "anthropic")
    assert [item.get("content", item.get("type")) for item in out.body["input"]] == [
        "a",
        "b",
        "c",
        "function_call",
        "function_call_output",
    ]
    back = crossed(out.body, "anthropic")
    assert (
        back.body["messages"]
        == [
            {"role": "user", "content": "Continue."},  # who comes first there
            {"role": "assistant", "content": [*content[:2], content[3], content[2]]},
            {"role": "user", "content": answer},
        ]
    )


def test_input_may_be_a_plain_text_and_instructions_are_system_text() -> None:
    body = {"model": "m", "instructions": "Be brief.", "input": "Hi"}
    assert RULES.convert(body, NAME, NAME).body == body
    out = crossed(body, "openai-chat")
    assert out.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
    ]
    back = crossed(out.body, NAME, "openai-chat")
    assert (back.body["input"], back.notes) == (out.body["messages"], ())
    assert crossed({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}, NAME,
                   "openai-chat").body["input"] == "Hi"  # fmt: skip


def test_system_text_in_the_middle_and_its_level_stay() -> None:
    talk = [
        {"role": "developer", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "system", "content": "c"},
        {"role": "user", "content": "d"},
    ]
    out = crossed({"model": "m", "input": talk}, "openai-chat")
    assert (out.body["messages"], out.notes) == (talk, ())
    assert "system-as-user" in codes(crossed({"model": "m", "input": talk}, "anthropic"))


# -- ids, thoughts, natives -----------------------------------------------------------------------


def test_the_id_that_pairs_is_not_the_id_of_the_item() -> None:
    (turn, answer) = read([call(), result() | {"id": "fco_1"}])
    assert turn["parts"][0]["id"] == answer["parts"][0]["tool_call_id"] == "c1"
    out = crossed({"model": "m", "input": [call(), result()]}, "openai-chat")
    assert out.body["messages"][0]["tool_calls"][0]["id"] == "c1"
    assert [n.source_path for n in out.notes if n.code == "own-field"] == [
        "/input/0/id",
        "/input/0/status",
    ]


def test_ids_and_names_that_are_too_long_are_fitted_alike() -> None:
    key, name = "k" * 70, "n" * 140
    function = {"name": name, "arguments": "{}"}
    talk = [
        {
            "role": "assistant",
            "tool_calls": [{"id": key, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": key, "content": "x"},
    ]
    tools = [{"type": "function", "function": {"name": name}}]
    out = crossed({"model": "m", "messages": talk, "tools": tools}, NAME, "openai-chat")
    (one, two) = out.body["input"]
    assert one["call_id"] == two["call_id"] and len(one["call_id"]) <= 64
    assert one["name"] == out.body["tools"][0]["name"] and len(one["name"]) <= 128


@pytest.mark.parametrize(
    "item",
    [
        thought(),
        thought(summary=[]),
        thought(summary=[], content=[]),
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "reasoning", "summary": [], "encrypted_content": "c2ln"},
        thought(summary=[{"type": "summary_text", "text": t} for t in "ab"]),
        thought(summary=[], content=[{"type": "reasoning_text", "text": "a"}]),
        thought(content=[{"type": "reasoning_text", "text": "a"}]),
        thought(encrypted_content=None, status="completed"),
    ],
)
def test_each_form_of_a_thought_returns_and_is_not_kept_as_unknown(item: Json) -> None:
    body = {"input": [user({"type": "input_text", "text": "a"}), item, message(text("b"))]}
    ir = json.loads(json.dumps(RULES[NAME].read(body).ir))
    assert RULES[NAME].write(ir).body == body
    kinds = {part["type"] for part in ir["messages"][1]["parts"]}
    assert kinds == {"reasoning", "text"}
    assert not any("kept" in part for part in ir["messages"][1]["parts"])


def test_thoughts_of_others_are_not_sent_and_those_from_here_return_with_their_state() -> None:
    part = {"type": "reasoning", "text": "Hm."}
    ours = part | {"signature": {"value": "c2ln", "origin": NAME}}
    sealed = {"type": "reasoning", "redacted": True, "signature": ours["signature"]}
    theirs = part | {"signature": {"value": "c2ln", "origin": "anthropic"}}
    said = {"type": "text", "text": "b"}
    ir = {"messages": [{"role": "assistant", "parts": [theirs, ours, sealed, part, said]}]}
    out = RULES[NAME].write(ir)
    shown = [{"type": "summary_text", "text": "Hm."}]
    assert out.body["input"] == [
        {"type": "reasoning", "summary": shown, "encrypted_content": "c2ln"},
        {"type": "reasoning", "summary": [], "encrypted_content": "c2ln"},
        {"role": "assistant", "content": "b"},
    ]
    assert [n.effect for n in out.notes] == ["lost", "lost"]


def test_a_thought_in_a_response_is_shown_to_the_client() -> None:
    said = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    body = copy.deepcopy(BODIES["anthropic"]["response"])
    body["content"] = [said, {"type": "text", "text": "Hi"}]
    out = crossed(body, NAME, "anthropic", "response")
    (first, second) = out.body["output"]
    assert first["summary"] == [{"type": "summary_text", "text": "Hm."}]
    assert first["id"].startswith("rs_") and second["id"].startswith("msg_")
    assert {"made-id", "foreign-signature"} <= codes(out)


NATIVE = [
    {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["a"]},
    {"type": "additional_tools", "role": "developer", "tools": []},
    {"type": "mcp_call", "id": "m", "server_label": "s", "name": "f", "arguments": "{}"},
    {"type": "computer_call_output", "call_id": "c9", "output": {}},
    {"type": "item_reference", "id": "msg_1"},
    {"id": "msg_1"},
    {"type": "something_new", "id": "x", "name": "f", "arguments": "{}"},
]


@pytest.mark.parametrize("item", NATIVE)
@pytest.mark.parametrize("target", OTHERS)
def test_what_the_provider_runs_stays_at_home_and_is_no_function(item: Json, target: str) -> None:
    body = {"model": "m", "input": [user({"type": "input_text", "text": "a"}), item]}
    assert RULES.convert(body, NAME, NAME).body == body
    (_, turn) = read(body["input"])
    known = item.get("type") != "something_new"
    assert [part["type"] for part in turn["parts"]] == ["native" if known else "unknown"]
    out = crossed(body, target)
    wanted = "own-field" if known else "unknown-part"
    assert [n.source_path for n in out.notes if n.code == wanted] == ["/input/1"]
    assert not set(map(json.dumps, ("tool_calls", "tool_use", "functionCall"))) & set(
        json.dumps(out.body).replace(":", " ").split()
    )


# -- calls and results ----------------------------------------------------------------------------


@pytest.mark.parametrize("target", OTHERS)
def test_broken_arguments_are_kept(target: str) -> None:
    items = [call(arguments='{"city":'), result(output="x")]
    out = crossed({"model": "m", "input": items}, target)
    assert '{\\"city\\":' in json.dumps(out.body)
    back = crossed(out.body, NAME, target)
    (said,) = [item for item in back.body["input"] if item.get("type") == "function_call"]
    assert said["arguments"] == '{"city":' or '{"city":' in json.loads(said["arguments"]).values()


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini", "ollama"])
def test_images_and_files_in_results(target: str) -> None:
    pdf = {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0AAAA="}
    output = [{"type": "input_text", "text": "a"}, IMAGE, pdf | {"filename": "a.pdf"}]
    items = [call(), result(output=output)]
    part = read(items)[1]["parts"][0]
    assert [block["type"] for block in part["value"]] == ["text", "image", "document"]
    out = crossed({"model": "m", "input": items}, target)
    assert PNG in json.dumps(out.body)
    assert ("blocks-beside" in codes(out)) == (target in ("openai-chat", "ollama"))


def test_a_result_of_a_custom_tool_is_its_kind_of_item() -> None:
    free = {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    usual = {"id": "c2", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    talk = [
        {"role": "assistant", "content": None, "tool_calls": [free, usual]},
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "tool", "tool_call_id": "c2", "content": "2"},
    ]
    out = crossed({"model": "m", "messages": talk}, NAME, "openai-chat")
    assert [item["type"] for item in out.body["input"]] == [
        "custom_tool_call",
        "function_call",
        "custom_tool_call_output",
        "function_call_output",
    ]
    back = crossed(out.body, "openai-chat")
    assert (back.body["messages"], back.notes) == (talk, ())
    assert read(out.body["input"])[1]["parts"][0]["freeform"] is True


def test_an_error_is_told_as_text_where_there_is_no_flag() -> None:
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "No disk", "is_error": True}
    used = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    talk = [{"role": "assistant", "content": [used]}, {"role": "user", "content": [answer]}]
    out = crossed({"model": "m", "max_tokens": 9, "messages": talk}, NAME, "anthropic")
    assert out.body["input"][1]["output"] == '{"error":"No disk"}'
    assert "error-as-text" in codes(out)


def test_results_without_a_call_are_kept_at_home_and_left_out_abroad() -> None:
    body = {"model": "m", "previous_response_id": "resp_1", "input": [result()]}
    assert RULES.convert(body, NAME, NAME).body == body
    out = crossed(body, "anthropic")
    assert {("unpaired", "lost"), ("own-field", "lost")} <= {(n.code, n.effect) for n in out.notes}


@pytest.mark.parametrize(
    "more, before",
    [
        ({"previous_response_id": "resp_1"}, []),
        ({"conversation": {"id": "conv_1"}}, []),
        ({}, [{"type": "item_reference", "id": "fc_1"}]),
    ],
)
def test_a_result_whose_call_the_api_keeps_is_whole_at_home(more: Json, before: Json) -> None:
    body = {"model": "m", "input": [*before, result()], **more}
    for options in ({}, {"repair": True}):
        out = RULES.convert(body, NAME, NAME, options=options)
        assert (out.body, out.notes) == (body, ())
    (note,) = (n for n in crossed(body, "anthropic").notes if n.code == "unpaired")
    assert (note.effect, note.source_path) == ("lost", f"/input/{len(before)}")


def test_what_a_shell_of_the_providers_gave_answers_its_call() -> None:
    where = {"type": "container_reference", "container_id": "cntr_1"}
    call = {"type": "shell_call", "id": "sh_1", "call_id": "call_1", "status": "completed"}
    said = {"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
    items = [
        {"role": "user", "content": "Hi"},
        {**call, "action": {"commands": ["ls"]}, "environment": where},
        {"type": "shell_call_output", "id": "sho_1", "call_id": "call_1", "output": [said]},
    ]
    body = {"model": "m", "input": items}
    for options in ({}, {"repair": True}):
        out = RULES.convert(body, NAME, NAME, options=options)
        assert (out.body, out.notes) == (body, ())
    out = crossed(body, "anthropic")
    assert [one["role"] for one in out.body["messages"]] == ["user", "assistant", "user"]
    assert "unpaired" not in codes(out)


def test_effort_stays_where_no_tool_goes_with_it() -> None:
    body = {"model": "gpt-5.6", "input": "a", "reasoning": {"effort": "low"}}
    tools = [{"type": "image_generation"}, {"type": "file_search", "vector_store_ids": ["v"]}]
    out = crossed({**body, "tools": tools}, "openai-chat")
    assert out.body["reasoning_effort"] == "low"
    assert {n.code for n in out.notes} == {"own-field"}


def test_a_number_of_tokens_that_nothing_asks_for_stays_at_home() -> None:
    out = crossed({"model": "m", "input": "a", "top_logprobs": 2}, "openai-chat")
    assert "top_logprobs" not in out.body  # which wants `logprobs` beside it
    assert [(n.code, n.severity, n.source_path) for n in out.notes] == [
        ("own-field", "info", "/top_logprobs")
    ]


# -- the rest of requests and responses -----------------------------------------------------------


@pytest.mark.parametrize(
    "choice",
    ["auto", "none", "required", {"name": "f"}, {"allowed": ["f"], "mode": "required"}],
)
def test_each_form_of_tool_choice_crosses_to_the_other_api(choice: Json) -> None:
    tools = [{"name": "f", "strict": False, "parameters": {"type": "object"}}]
    ir = {"model": "m", "messages": [], "tools": tools, "tool_choice": choice}
    body = RULES[NAME].write(ir).body
    out = crossed(body, "openai-chat")
    assert out.notes == ()
    assert crossed(out.body, NAME, "openai-chat").body == body


def test_a_choice_of_a_tool_of_the_provider_stays_at_home_and_is_noted() -> None:
    for choice in (
        {"type": "mcp", "server_label": "s"},
        {"type": "web_search_preview"},
        {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "image_generation"}]},
    ):
        body: Json = {"model": "m", "input": "a", "tools": [{"type": "image_generation"}]}
        body["tool_choice"] = choice
        assert RULES.convert(body, NAME, NAME).body == body
        paths = {n.source_path for n in crossed(body, "anthropic").notes}
        assert any(path and path.startswith("/tool_choice") for path in paths)
        assert any(path and path.startswith("/tools/0") for path in paths)


SHARED = {
    "store": False,
    "metadata": {"a": "b"},
    "service_tier": "flex",
    "safety_identifier": "x",
    "prompt_cache_key": "k",
    "prompt_cache_retention": "24h",
    "moderation": {"model": "m"},
    "user": "u",
}
ASKED = {"include": ["message.output_text.logprobs"], "top_logprobs": 3}


def test_fields_that_both_apis_have_cross_as_they_are() -> None:
    body = {"model": "m", "input": "a", "text": {"verbosity": "low"}, **SHARED, **ASKED}
    out = crossed(body, "openai-chat")
    assert (out.body["logprobs"], out.body["top_logprobs"]) == (True, 3)
    assert {key: out.body[key] for key in SHARED} == SHARED
    assert (out.body["verbosity"], out.notes) == ("low", ())
    assert crossed(out.body, NAME, "openai-chat").body == body


@pytest.mark.parametrize(
    ("status", "details", "stop"),
    [
        ("completed", None, "end_turn"),
        ("incomplete", {"reason": "max_output_tokens"}, "max_tokens"),
        ("incomplete", {"reason": "content_filter"}, "content_filter"),
        ("incomplete", {"reason": "steered"}, "pause"),
        ("incomplete", {"reason": "max_messages"}, "pause"),
        ("incomplete", None, "pause"),
        ("failed", None, "error"),
        ("queued", None, "pause"),
        ("in_progress", None, "pause"),
        ("cancelled", None, "error"),
    ],
)
def test_how_a_response_ended(status: str, details: Json, stop: str) -> None:
    body = copy.deepcopy(BODIES[NAME]["response"]) | {
        "status": status,
        "incomplete_details": details,
    }
    body["output"] = [message(text("a"))]
    ir = RULES[NAME].read(body, "response").ir
    assert ir["candidates"][0]["stop_reason"] == stop
    assert RULES[NAME].write(ir, "response").body == body
    out = crossed(body, "anthropic", unit="response")
    words = {"pause": "pause_turn", "error": "max_tokens", "content_filter": "refusal"}
    assert out.body["stop_reason"] == words.get(stop, stop)


def test_calls_end_a_turn_for_others_and_a_failure_is_told() -> None:
    out = crossed(copy.deepcopy(BODIES[NAME]["response"]), "openai-chat", unit="response")
    assert out.body["choices"][0]["finish_reason"] == "tool_calls"
    back = crossed(out.body, NAME, "openai-chat", "response")
    assert back.body["status"] == "completed"
    assert back.body["output"][-1]["call_id"] == "c1"
    failed = copy.deepcopy(BODIES[NAME]["response"]) | {"status": "failed", "output": []}
    failed["error"] = {"code": "server_error", "message": "No."}
    told = {(n.code, n.source_path) for n in crossed(failed, "anthropic", unit="response").notes}
    assert {
        ("own-field", "/error/code"),
        ("no-place", "/error/message"),
        ("reworded", "/status"),
    } <= told


def test_usage_stands_in_disjoint_buckets_and_adds_up() -> None:
    usage = BODIES[NAME]["usage"]
    ir = RULES[NAME].read(usage, "usage").ir
    counts = {key: ir[key] for key in ("input", "cache_read", "output", "reasoning")}
    assert counts == {"input": 8, "cache_read": 4, "output": 4, "reasoning": 3}
    for target in ("openai-chat", "anthropic", "gemini"):
        there = RULES.convert(usage, NAME, target, "usage").body
        assert RULES.convert(there, target, NAME, "usage").body == usage, target


def test_citations_and_tokens_cross() -> None:
    cited = {"url": "u", "title": "t", "start_index": 0, "end_index": 1}
    token = {"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}
    part = {**text("a"), "logprobs": [token], "annotations": [{"type": "url_citation", **cited}]}
    body = copy.deepcopy(BODIES[NAME]["response"]) | {"output": [message(part)]}
    assert RULES.convert(body, NAME, NAME, "response").body == body
    out = crossed(body, "openai-chat", unit="response")
    assert out.body["choices"][0]["message"]["annotations"] == [
        {"type": "url_citation", "url_citation": cited}
    ]
    assert out.body["choices"][0]["logprobs"] == {"content": [token], "refusal": None}


LABELS = ("object", "type", "role", "status", "index", "created", "created_at", "done")


@pytest.mark.parametrize("name", [n for n in RULES.dialects if "response" in RULES[n].model.units])
def test_an_answer_without_a_label_is_read(name: str) -> None:
    node = RULES[name].model.node.get("examples")
    shown = node.get("response") if node is not None else None
    tried = 0
    for example in shown.plain() if shown is not None else ():
        body = example.get("wire") or example.get("reads")
        for at in places(body) if body is not None else ():
            if at and at[-1] in LABELS:
                less = copy.deepcopy(body)
                owner = less
                for step in at[:-1]:
                    owner = owner[step]
                del owner[at[-1]]
                read = RULES[name].read(less, unit="response")
                assert RULES[name].write(read.ir, unit="response").body == less
                tried += 1
    if not tried:
        pytest.skip("its answers have no labels")


@pytest.mark.parametrize("name", [n for n in RULES.dialects if "response" in RULES[n].model.units])
def test_counts_that_are_written_add_up(name: str) -> None:
    counts = {"input": 1, "output": 10, "cache_read": 100, "cache_write": 1000}
    counts |= {"reasoning": 10000, "tool_input": 100000}
    parts = [{"type": "text", "text": "Hi"}]
    ir = {"id": "i", "model": "m", "created": 1, "usage": counts}
    ir["candidates"] = [{"parts": parts, "stop_reason": "end_turn"}]
    written = RULES[name].write(ir, "response")
    read = RULES[name].read(written.body, "response")
    assert "inconsistent" not in {note.code for note in read.notes}
    said = read.ir.get("usage")
    if said is None:
        assert "no-place" in {note.code for note in written.notes}
    else:
        assert sum(said.get(field, 0) for field in counts) == sum(counts.values())
