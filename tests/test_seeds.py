"""The seeds' tables and scenarios, as tests with the seeds' own values.

The tables are data in `cases/seeds.yaml`; what needs a look at several values stands here.
`docs/seeds.md` names the tests of each row of the seeds.
"""

from __future__ import annotations

import copy
import fnmatch
import functools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import wireglot

from .tables import read_yaml

HERE = Path(__file__).parent
DIALECTS = ("openai-chat", "anthropic", "gemini")
TABLES = read_yaml((HERE / "cases/seeds.yaml").read_text("utf-8"))
CASES: list[dict[str, Any]] = TABLES["cases"]
BY_ID = {case["id"]: case for case in CASES}
MADE = re.compile(r"call_[0-9a-f]{12}")
MEMORY = frozenset(("spelled", "arguments_json", "value_json"))
PNG = "iVBORw0KGgo="

CHOICES: dict[str, dict[str, Any]] = {
    form: {d: BY_ID[f"000-choice-{form}-write-{d}"]["expected"] for d in DIALECTS}
    for form in ("auto", "none", "required", "name")
}
IR_CHOICES: dict[str, Any] = {form: form for form in CHOICES} | {"name": {"name": "get_weather"}}
WEATHER_TOOL: dict[str, Any] = {
    "name": "get_weather",
    "description": "指定都市の天気を取得",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}


@functools.cache
def rules() -> Any:
    return wireglot.packaged()


def text_of(value: object) -> str:
    """Return one text per JSON value: 1, 1.0 and true differ, key order does not count."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1)


def assert_same(found: object, wanted: object) -> None:
    assert found == wanted
    assert text_of(found) == text_of(wanted)


def without_memory(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_memory(v) for k, v in value.items() if k not in MEMORY}
    return [without_memory(v) for v in value] if isinstance(value, list) else value


def run(case: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return what a case gives, and its notes."""
    source, target, given = case["source"], case["target"], case["given"]
    more = {"unit": case["unit"], "options": case.get("options")}
    if target == "ir":
        reading = rules()[source].read(given, **more)
        return without_memory(reading.ir), reading.notes
    if source == "ir":
        out = rules()[target].write(given, **more)
    else:
        out = rules().convert(given, source=source, target=target, **more)
    return out.body, out.notes


def take_made(value: Any, pointer: str) -> None:
    *path, last = pointer[1:].split("/")
    for step in path:
        value = value[int(step) if isinstance(value, list) else step]
    found = value.pop(last)
    assert MADE.fullmatch(found), f"{pointer} is {found!r}, not `call_` and 12 hex digits"


def assert_notes(notes: Sequence[Any], wanted: Sequence[dict[str, Any]]) -> None:
    """Check that there are exactly the wanted notes; a wanted one names some of the fields."""
    rest = list(notes)
    for want in wanted:
        fit = [n for n in rest if all(getattr(n, k) == v for k, v in want.items())]
        assert fit, f"no note {want} among {[str(n) for n in notes]}"
        rest.remove(fit[0])
    assert not rest, f"more notes than {wanted}: {[str(n) for n in rest]}"


def convert(body: Any, source: str, target: str, unit: str, **more: Any) -> Any:
    return rules().convert(body, source=source, target=target, unit=unit, **more)


def effects(out: Any) -> set[str]:
    return {note.effect for note in out.notes}


def parts_of(messages: list[dict[str, Any]], key: str) -> Iterator[dict[str, Any]]:
    """Return what stands under a key in the parts of a conversation of Gemini, in order."""
    return (part[key] for message in messages for part in message["parts"] if key in part)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_cell_of_a_table_converts_as_the_seed_or_its_decision_says(case: dict[str, Any]) -> None:
    before = copy.deepcopy(case["given"])
    found, notes = run(case)
    assert_same(case["given"], before)
    found = copy.deepcopy(found)
    for pointer in case.get("made", ()):
        take_made(found, pointer)
    assert_same(found, case["expected"])
    if "notes" in case:
        assert_notes(notes, case["notes"])


WIRE = [c for c in CASES if c["source"] != "ir"]


@pytest.mark.parametrize("case", WIRE, ids=[case["id"] for case in WIRE])
def test_a_value_of_a_table_goes_through_its_own_dialect_unchanged(case: dict[str, Any]) -> None:
    dialect, unit = case["source"], case["unit"]
    assert_same(convert(case["given"], dialect, dialect, unit).body, case["given"])
    reading = rules()[dialect].read(case["given"], unit=unit)
    assert_same(rules()[dialect].write(reading.ir, unit=unit).body, case["given"])


BACK = [
    c
    for c in CASES
    if c["source"] == "ir"
    and c["id"].startswith("000-")
    and "data-string" not in c["id"]
    # Text targets say `25`, `true` and `null` as text, and errors as data (decisions); the
    # Anthropic schema gets its `type`.
    and not re.search(r"data-(number|boolean|null)-write-(openai|anthropic)", c["id"])
    and c["id"]
    not in ("000-result-error-write-openai-chat", "000-tools-write-anthropic-type-object")
    and c["id"] != "000-tools-write-anthropic-no-parameters"
]


@pytest.mark.parametrize("case", BACK, ids=[case["id"] for case in BACK])
def test_a_written_value_reads_back_as_itself(case: dict[str, Any]) -> None:
    body, _ = run(case)
    back = without_memory(rules()[case["target"]].read(body, unit=case["unit"]).ir)
    wanted = copy.deepcopy(case["given"])
    if case["unit"] == "tool_result" and case["target"] != "gemini":
        del wanted["name"]  # it stands in the call, which is not in this unit
    assert_same(back, wanted)


# --- Tool choice ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("form", CHOICES)
def test_a_tool_choice_reads_back(form: str, dialect: str) -> None:
    reading = rules()[dialect].read(CHOICES[form][dialect], unit="tool_choice")
    assert_same(without_memory(reading.ir), IR_CHOICES[form])
    assert_notes(reading.notes, [])


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("source", DIALECTS)
@pytest.mark.parametrize("form", CHOICES)
def test_a_tool_choice_goes_from_each_dialect_to_each(form: str, source: str, target: str) -> None:
    out = convert(CHOICES[form][source], source, target, "tool_choice")
    assert_same(out.body, CHOICES[form][target])
    assert_notes(out.notes, [])


def request_of(dialect: str, **fields: Any) -> dict[str, Any]:
    """Return the smallest request of a dialect with one tool."""
    parameters = WEATHER_TOOL["parameters"]
    body: dict[str, Any]
    if dialect == "openai-chat":
        body = {
            "model": "m",
            "messages": [{"role": "user", "content": "Tokyo?"}],
            "tools": [
                {"type": "function", "function": {"name": "get_weather", "parameters": parameters}}
            ],
        }
    elif dialect == "anthropic":
        body = {
            "model": "m",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": "Tokyo?"}],
            "tools": [{"name": "get_weather", "input_schema": parameters}],
        }
    else:
        body = {
            "contents": [{"role": "user", "parts": [{"text": "Tokyo?"}]}],
            "tools": [
                {"functionDeclarations": [{"name": "get_weather", "parameters": parameters}]}
            ],
        }
    return body | fields


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("source", DIALECTS)
@pytest.mark.parametrize("form", CHOICES)
def test_a_tool_choice_stands_in_its_place_in_the_request(
    form: str, source: str, target: str
) -> None:
    def placed(dialect: str) -> dict[str, Any]:
        choice = CHOICES[form][dialect]
        if dialect == "gemini":
            return {"toolConfig": {"functionCallingConfig": choice}}
        return {"tool_choice": choice}

    out = convert(request_of(source, **placed(source)), source, target, "request", model="m")
    for key, value in placed(target).items():
        assert_same(out.body[key], value)


# --- Tool definitions -----------------------------------------------------------------------------


def folded(schema: Any) -> Any:
    """Return a schema with lower-case type words: Gemini's `Type` takes either case."""
    if isinstance(schema, dict):
        return {
            k: v.lower() if k == "type" and isinstance(v, str) else folded(v)
            for k, v in schema.items()
        }
    return [folded(v) for v in schema] if isinstance(schema, list) else schema


def test_a_tool_definition_is_wrapped_in_function_declarations_for_gemini() -> None:
    out = rules()["gemini"].write([WEATHER_TOOL], unit="tools")
    assert_same(folded(out.body), [{"functionDeclarations": [WEATHER_TOOL]}])
    assert_notes(out.notes, [])


def test_several_tool_definitions_share_one_list_of_declarations_in_gemini() -> None:
    tools = [WEATHER_TOOL, {"name": "now", "description": "時刻"}]
    out = rules()["gemini"].write(tools, unit="tools")
    assert_same(folded(out.body), [{"functionDeclarations": tools}])


def test_function_declarations_read_as_tool_definitions() -> None:
    wire = [{"functionDeclarations": [WEATHER_TOOL, {"name": "now"}]}]
    reading = rules()["gemini"].read(wire, unit="tools")
    assert_same(without_memory(reading.ir), [WEATHER_TOOL, {"name": "now"}])
    upper = [
        {
            "functionDeclarations": [
                {
                    "name": "f",
                    "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
                }
            ]
        }
    ]
    reading = rules()["gemini"].read(upper, unit="tools")
    assert reading.ir[0]["parameters"] == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
    }
    assert_same(rules()["gemini"].write(reading.ir, unit="tools").body, upper)


@pytest.mark.parametrize("source", ("openai-chat", "anthropic"))
def test_strict_is_said_to_be_lost_where_the_target_has_no_such_field(source: str) -> None:
    body = rules()[source].write([WEATHER_TOOL | {"strict": True}], unit="tools").body
    out = convert(body, source, "gemini", "tools")
    pointer = "/0/function/strict" if source == "openai-chat" else "/0/strict"
    assert [(n.effect, n.source_path) for n in out.notes] == [("lost", pointer)]


@pytest.mark.parametrize(
    "schema",
    [
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"type": "string"}},
        },
        {"type": "object", "properties": {"a": {"const": 3}}},
        {"type": "object", "properties": {"a": {"type": ["string", "integer"]}}},
        {"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "null"}]}}},
        {"type": "object", "properties": {"a": {"enum": [1, 2]}}},
    ],
    ids=("ref", "const", "type-list", "one-of", "integer-enum"),
)
def test_a_schema_that_does_not_fit_gemini_parameters_goes_whole_into_the_other_field(
    schema: dict[str, Any],
) -> None:
    out = rules()["gemini"].write([{"name": "f", "parameters": schema}], unit="tools")
    wanted = [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": schema}]}]
    assert_same(out.body, wanted)
    assert_notes(out.notes, [])
    back = rules()["gemini"].read(out.body, unit="tools")
    assert_same(without_memory(back.ir), [{"name": "f", "parameters": schema}])


def test_properties_that_are_named_like_keywords_do_not_decide_the_field() -> None:
    schema = {
        "type": "object",
        "properties": {"$ref": {"type": "string"}, "const": {"type": "string"}},
    }
    out = rules()["gemini"].write([{"name": "f", "parameters": schema}], unit="tools")
    assert_same(folded(out.body), [{"functionDeclarations": [{"name": "f", "parameters": schema}]}])


@pytest.mark.parametrize("key", ("parameters", "parametersJsonSchema"))
def test_the_spelling_of_a_gemini_schema_is_remembered(key: str) -> None:
    wire = [{"functionDeclarations": [{"name": "f", key: {"type": "object", "properties": {}}}]}]
    assert_same(convert(wire, "gemini", "gemini", "tools").body, wire)
    read = rules()["gemini"].read(wire, unit="tools").ir
    assert_same(rules()["gemini"].write(read, unit="tools").body, wire)


# --- Multimodal results ---------------------------------------------------------------------------

SHOT_CALL = {"type": "tool_call", "id": "call_1", "name": "shot", "arguments": {}}
SHOT_RESULT: dict[str, Any] = {
    "type": "tool_result",
    "tool_call_id": "call_1",
    "name": "shot",
    "kind": "multimodal",
    "value": [
        {"type": "text", "text": "the page"},
        {"type": "text", "text": "top half"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    ],
}
SHOT = [
    {"role": "user", "parts": [{"type": "text", "text": "look"}]},
    {"role": "assistant", "parts": [SHOT_CALL]},
    {"role": "tool", "parts": [SHOT_RESULT]},
]


def test_the_image_of_a_result_follows_in_a_user_message_in_chat() -> None:
    out = rules()["openai-chat"].write(SHOT, unit="messages")
    *_, result, beside = out.body
    assert_same(
        result,
        {
            "role": "tool",
            "tool_call_id": "call_1",
            "content": [{"type": "text", "text": "the page"}, {"type": "text", "text": "top half"}],
        },
    )
    assert beside["role"] == "user"
    images = [part for part in beside["content"] if part["type"] == "image_url"]
    assert_same(
        images,
        [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}],
    )
    assert [n.code for n in out.notes if n.effect == "moved"] == ["moved"]
    assert "lost" not in effects(out)


def test_the_images_of_parallel_results_follow_after_the_last_result_in_chat() -> None:
    calls = [SHOT_CALL, SHOT_CALL | {"id": "call_2"}]
    results = [SHOT_RESULT, SHOT_RESULT | {"tool_call_id": "call_2"}]
    messages = [SHOT[0], {"role": "assistant", "parts": calls}, {"role": "tool", "parts": results}]
    out = rules()["openai-chat"].write(messages, unit="messages")
    roles = [message["role"] for message in out.body]
    assert roles[:4] == ["user", "assistant", "tool", "tool"]
    assert set(roles[4:]) == {"user"}
    assert json.dumps(out.body).count(PNG) == 2


def test_a_multimodal_result_is_blocks_in_anthropic() -> None:
    out = rules()["anthropic"].write(SHOT, unit="messages")
    assert_same(
        out.body[-1],
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "call_1",
                    "content": [
                        {"type": "text", "text": "the page"},
                        {"type": "text", "text": "top half"},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": PNG},
                        },
                    ],
                }
            ],
        },
    )
    assert_notes(out.notes, [])


def test_the_image_of_a_result_stands_in_parts_in_gemini() -> None:
    out = rules()["gemini"].write(SHOT, unit="messages")
    (response,) = parts_of(out.body, "functionResponse")
    assert_same(response["parts"], [{"inlineData": {"mimeType": "image/png", "data": PNG}}])
    assert response["name"] == "shot"
    assert isinstance(response["response"], dict)
    assert "the page" in json.dumps(response["response"])
    assert "top half" in json.dumps(response["response"])
    assert "lost" not in effects(out)


def test_a_multimodal_result_in_gemini_reads_back_with_its_image() -> None:
    wire = [
        {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "shot", "args": {}}}]},
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "c",
                        "name": "shot",
                        "response": {"output": "the page"},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}],
                    }
                }
            ],
        },
    ]
    out = convert(wire, "gemini", "anthropic", "messages")
    (result,) = out.body[-1]["content"]
    assert {"type": "text", "text": "the page"} in result["content"]
    assert {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PNG},
    } in result["content"]
    assert_same(convert(wire, "gemini", "gemini", "messages").body, wire)


# --- Order, pairing, ids --------------------------------------------------------------------------


def chat_call(id_: str, name: str = "get_weather", arguments: str = "{}") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_results_stand_before_text_in_an_anthropic_user_message() -> None:
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [chat_call("c1"), chat_call("c2")]},
        {"role": "tool", "tool_call_id": "c1", "content": "a"},
        {"role": "tool", "tool_call_id": "c2", "content": "b"},
        {"role": "user", "content": "これが結果です"},
    ]
    out = convert(messages, "openai-chat", "anthropic", "messages")
    users = [message for message in out.body if message["role"] == "user"]
    # All results are in the message right after the calls, before any text.
    index = next(i for i, m in enumerate(out.body) if m["role"] == "assistant")
    after = out.body[index + 1]
    kinds = [block["type"] for block in after["content"]]
    assert kinds[:2] == ["tool_result", "tool_result"]
    assert "これが結果です" in json.dumps(users, ensure_ascii=False)


def test_text_that_stood_before_a_result_is_put_after_it_for_anthropic_and_noted() -> None:
    messages = [
        {"role": "assistant", "parts": [SHOT_CALL]},
        {"role": "user", "parts": [{"type": "text", "text": "これが結果です"}]},
        {"role": "tool", "parts": [SHOT_RESULT | {"kind": "text", "value": "ok"}]},
    ]
    out = rules()["anthropic"].write(messages, unit="messages", options={"repair": True})
    blocks = [b for m in out.body if m["role"] == "user" for b in m["content"]]
    assert [block["type"] for block in blocks] == ["tool_result", "text"]
    assert "moved" in effects(out)


def test_text_before_a_result_within_a_gemini_content_is_put_after_it_for_anthropic() -> None:
    contents = [
        {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {}}}]},
        {
            "role": "user",
            "parts": [
                {"text": "これが結果です"},
                {"functionResponse": {"id": "c", "name": "f", "response": {"output": "ok"}}},
            ],
        },
    ]
    out = convert(contents, "gemini", "anthropic", "messages")
    assert [block["type"] for block in out.body[1]["content"]] == ["tool_result", "text"]
    assert "moved" in effects(out)


def test_results_out_of_order_are_put_in_the_order_of_the_calls_for_gemini() -> None:
    messages = [
        {"role": "user", "content": "?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                chat_call("c1", "one"),
                chat_call("c2", "two"),
                chat_call("c3", "three"),
            ],
        },
        {"role": "tool", "tool_call_id": "c3", "content": "3rd"},
        {"role": "tool", "tool_call_id": "c1", "content": "1st"},
        {"role": "tool", "tool_call_id": "c2", "content": "2nd"},
    ]
    out = convert(messages, "openai-chat", "gemini", "messages")
    found = [(r["id"], r["name"], r["response"]) for r in parts_of(out.body, "functionResponse")]
    assert found == [
        ("c1", "one", {"output": "1st"}),
        ("c2", "two", {"output": "2nd"}),
        ("c3", "three", {"output": "3rd"}),
    ]
    assert "moved" in effects(out)


def test_results_out_of_order_keep_their_ids_where_ids_pair_them() -> None:
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [chat_call("c1"), chat_call("c2")]},
        {"role": "tool", "tool_call_id": "c2", "content": "2nd"},
        {"role": "tool", "tool_call_id": "c1", "content": "1st"},
    ]
    out = convert(messages, "openai-chat", "anthropic", "messages")
    found = {block["tool_use_id"]: block["content"] for block in out.body[-1]["content"]}
    assert found == {"c1": "1st", "c2": "2nd"}


TWO_TURNS: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": "?"}]},
    {
        "role": "model",
        "parts": [
            {"functionCall": {"name": "get_weather", "args": {"city": "Tokyo"}}},
            {"functionCall": {"name": "get_weather", "args": {"city": "Osaka"}}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "get_weather", "response": {"output": "sun"}}},
            {"functionResponse": {"name": "get_weather", "response": {"output": "rain"}}},
        ],
    },
    {
        "role": "model",
        "parts": [{"functionCall": {"name": "get_weather", "args": {"city": "Tokyo"}}}],
    },
    {
        "role": "user",
        "parts": [{"functionResponse": {"name": "get_weather", "response": {"output": "wind"}}}],
    },
]


@pytest.mark.parametrize("target", ("openai-chat", "anthropic"))
def test_parallel_calls_of_gemini_without_ids_pair_with_their_results_in_order(target: str) -> None:
    out = convert(TWO_TURNS, "gemini", target, "messages")
    calls: list[tuple[str, str]] = []
    results: list[tuple[str, str]] = []
    for message in out.body:
        if target == "openai-chat":
            for call in message.get("tool_calls", ()):
                calls.append((call["id"], json.loads(call["function"]["arguments"])["city"]))
            if message["role"] == "tool":
                results.append((message["tool_call_id"], message["content"]))
        elif isinstance(message["content"], list):
            for block in message["content"]:
                if block["type"] == "tool_use":
                    calls.append((block["id"], block["input"]["city"]))
                elif block["type"] == "tool_result":
                    results.append((block["tool_use_id"], block["content"]))
    assert [city for _, city in calls] == ["Tokyo", "Osaka", "Tokyo"]
    assert [text for _, text in results] == ["sun", "rain", "wind"]
    ids = [id_ for id_, _ in calls]
    assert ids == [id_ for id_, _ in results]
    assert len(set(ids)) == 3, "an id is repeated"
    assert all(MADE.fullmatch(id_) for id_ in ids)


def test_made_ids_are_the_same_each_time_and_stay_away_from_gemini() -> None:
    first = convert(TWO_TURNS, "gemini", "openai-chat", "messages").body
    assert first == convert(copy.deepcopy(TWO_TURNS), "gemini", "openai-chat", "messages").body
    read = rules()["gemini"].read(TWO_TURNS, unit="messages").ir
    assert_same(rules()["gemini"].write(read, unit="messages").body, TWO_TURNS)


def test_each_made_id_is_noted_as_added() -> None:
    out = convert(TWO_TURNS, "gemini", "openai-chat", "messages")
    added = [n for n in out.notes if n.effect == "added" and n.code == "made-id"]
    assert {n.target_path for n in added} >= {
        "/1/tool_calls/0/id",
        "/1/tool_calls/1/id",
        "/4/tool_calls/0/id",
    }


def test_a_made_id_depends_on_the_response_it_came_in() -> None:
    def id_in(**fields: Any) -> Any:
        body = {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [{"functionCall": {"name": "f", "args": {}}}],
                    },
                    "finishReason": "STOP",
                    "index": 0,
                }
            ],
            "modelVersion": "gemini-3-pro",
        }
        out = convert(body | fields, "gemini", "openai-chat", "response")
        return out.body["choices"][0]["message"]["tool_calls"][0]["id"]

    ids = [id_in(responseId="a"), id_in(responseId="b"), id_in()]
    assert len(set(ids)) == 3
    assert all(MADE.fullmatch(id_) for id_ in ids)


def test_a_made_id_is_not_recognised_by_its_prefix() -> None:
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [chat_call("call_0123456789ab")]},
        {"role": "tool", "tool_call_id": "call_0123456789ab", "content": "x"},
    ]
    out = convert(messages, "openai-chat", "gemini", "messages")
    assert [c["id"] for c in parts_of(out.body, "functionCall")] == ["call_0123456789ab"]
    assert [r["id"] for r in parts_of(out.body, "functionResponse")] == ["call_0123456789ab"]


def test_results_that_were_shuffled_are_sorted_and_lose_the_made_ids_for_gemini() -> None:
    ir = rules()["gemini"].read(TWO_TURNS[:3], unit="messages").ir
    tools = [m for m in ir if m["role"] == "tool"]
    if len(tools) == 1:
        tools[0]["parts"].reverse()
    else:
        ir = [m for m in ir if m["role"] != "tool"] + tools[::-1]
    out = rules()["gemini"].write(ir, unit="messages", options={"repair": True})
    found = [r["response"]["output"] for r in parts_of(out.body, "functionResponse")]
    assert found == ["sun", "rain"]
    assert not any("id" in r for r in parts_of(out.body, "functionResponse"))
    assert not any("id" in c for c in parts_of(out.body, "functionCall"))


# --- What must reach the next turn ----------------------------------------------------------------

SIGNED = {
    "role": "model",
    "parts": [
        {
            "functionCall": {"id": "c", "name": "get_weather", "args": {"city": "Tokyo"}},
            "thoughtSignature": "c2lnbmF0dXJl",
        }
    ],
}


def test_a_thought_signature_is_kept_with_the_call_and_returns_to_gemini() -> None:
    reading = rules()["gemini"].read([SIGNED], unit="messages")
    (message,) = reading.ir
    assert "c2lnbmF0dXJl" in json.dumps(message["parts"][0])
    assert_same(rules()["gemini"].write(reading.ir, unit="messages").body, [SIGNED])


@pytest.mark.parametrize("target", ("openai-chat", "anthropic"))
def test_a_thought_signature_that_the_target_cannot_hold_is_noted(target: str) -> None:
    out = convert([SIGNED], "gemini", target, "messages")
    assert ("lost", "/0/parts/0/thoughtSignature") in [(n.effect, n.source_path) for n in out.notes]
    assert "c2lnbmF0dXJl" not in json.dumps(out.body)


# --- Seed 001: the three phases -------------------------------------------------------------------


def differences(found: Any, wanted: Any, at: str = "") -> set[str]:
    """Return the pointers at which two JSON values differ."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return set().union(
            *(
                differences(found[k], wanted[k], f"{at}/{k}")
                if k in found and k in wanted
                else {f"{at}/{k}"}
                for k in found.keys() | wanted.keys()
            )
        )
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        return set().union(
            *(
                differences(f, w, f"{at}/{i}")
                for i, (f, w) in enumerate(zip(found, wanted, strict=True))
            )
        )
    return set() if text_of(found) == text_of(wanted) else {at}


def test_the_scenario_equals_the_seed_but_for_two_keys() -> None:
    # Phase 1: received from OpenAI and normalised.
    payload = {
        "id": "call_123",
        "function": {"name": "get_weather", "arguments": '{"location":"Tokyo"}'},
    }
    call = without_memory(rules()["openai-chat"].read(payload, unit="tool_call").ir)
    assert call.pop("type") == "tool_call"
    assert_same(call, {"id": "call_123", "name": "get_weather", "arguments": {"location": "Tokyo"}})

    # Phase 2: the application runs the function.
    result = {
        "type": "tool_result",
        "tool_call_id": call["id"],
        "name": call["name"],
        "kind": "data",
        "value": {"temp": 22, "condition": "sunny"},
    }

    # Phase 3: back to each provider. The seed's own JSON:
    seed: dict[str, Any] = {
        "openai-chat": {
            "role": "tool",
            "tool_call_id": "call_123",
            "content": '{"temp":22,"condition":"sunny"}',
        },
        "gemini": {
            "functionResponse": {
                "name": "get_weather",
                "response": {"temp": 22, "condition": "sunny"},
            }
        },
        "anthropic": {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "call_123",
                    "content": '{"temp":22,"condition":"sunny"}',
                    "is_error": False,
                }
            ],
        },
    }
    found = {
        "openai-chat": rules()["openai-chat"].write(result, unit="tool_result").body,
        "gemini": rules()["gemini"].write(result, unit="tool_result").body,
        "anthropic": rules()["anthropic"]
        .write(
            [
                {"role": "assistant", "parts": [{"type": "tool_call"} | call]},
                {"role": "tool", "parts": [result]},
            ],
            unit="messages",
        )
        .body[-1],
    }
    assert differences(found["openai-chat"], seed["openai-chat"]) == set()
    assert differences(found["gemini"], seed["gemini"]) == {"/functionResponse/id"}
    assert differences(found["anthropic"], seed["anthropic"]) == {"/content/0/is_error"}
    assert found["gemini"]["functionResponse"]["id"] == "call_123"
    assert "is_error" not in found["anthropic"]["content"][0]


def test_a_result_takes_its_name_from_its_call() -> None:
    messages = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [chat_call("c1", "one"), chat_call("c2", "two")],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "b"},
        {"role": "tool", "tool_call_id": "c1", "content": "a"},
    ]
    read = rules()["openai-chat"].read(messages, unit="messages").ir
    results = [p for m in read for p in m["parts"] if p["type"] == "tool_result"]
    assert [(r["tool_call_id"], r["name"]) for r in results] == [("c2", "two"), ("c1", "one")]


@pytest.mark.parametrize("content", (None, "調べてみます。"))
def test_an_assistant_message_holds_text_or_null_beside_calls(content: str | None) -> None:
    message = {"role": "assistant", "content": content, "tool_calls": [chat_call("c1")]}
    out = convert([message], "openai-chat", "anthropic", "messages", options={"repair": False})
    blocks: list[dict[str, Any]] = [{"type": "text", "text": content}] if content else []
    blocks.append({"type": "tool_use", "id": "c1", "name": "get_weather", "input": {}})
    assert_same(out.body, [{"role": "assistant", "content": blocks}])
    assert_same(convert([message], "openai-chat", "openai-chat", "messages").body, [message])


def test_a_result_text_list_of_chat_is_read() -> None:
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [chat_call("c1", "f")]},
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
        },
    ]
    out = convert(messages, "openai-chat", "anthropic", "messages")
    (result,) = out.body[-1]["content"]
    assert_same(
        result["content"], [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    )


def test_an_anthropic_result_without_content_is_read() -> None:
    messages = [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
    ]
    out = convert(messages, "anthropic", "openai-chat", "messages")
    assert out.body[-1]["role"] == "tool"
    assert out.body[-1]["content"] in ("", [])
    assert_same(convert(messages, "anthropic", "anthropic", "messages").body, messages)


# --- Responses ------------------------------------------------------------------------------------


def response_of(dialect: str, stop: str) -> dict[str, Any]:
    """Return a response of a dialect with text and a call, or with text alone."""
    called = stop == "tool_use"
    if dialect == "openai-chat":
        message: dict[str, Any] = {"role": "assistant", "content": "調べます。", "refusal": None}
        if called:
            message["tool_calls"] = [chat_call("c1", arguments='{"city":"tokyo"}')]
        words = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length"}
        return {
            "id": "r1",
            "object": "chat.completion",
            "created": 1771550000,
            "model": "m",
            "choices": [
                {"index": 0, "message": message, "logprobs": None, "finish_reason": words[stop]}
            ],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }
    if dialect == "anthropic":
        content: list[dict[str, Any]] = [{"type": "text", "text": "調べます。"}]
        if called:
            content.append(
                {"type": "tool_use", "id": "c1", "name": "get_weather", "input": {"city": "tokyo"}}
            )
        return {
            "id": "r1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 11, "output_tokens": 7},
        }
    parts: list[dict[str, Any]] = [{"text": "調べます。"}]
    if called:
        parts.append(
            {"functionCall": {"id": "c1", "name": "get_weather", "args": {"city": "tokyo"}}}
        )
    return {
        "responseId": "r1",
        "modelVersion": "m",
        "candidates": [
            {
                "index": 0,
                "content": {"role": "model", "parts": parts},
                "finishReason": "MAX_TOKENS" if stop == "max_tokens" else "STOP",
            }
        ],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18},
    }


def said(dialect: str, body: dict[str, Any]) -> tuple[Any, ...]:
    """Return the text, the call, the stop word and the token counts of a response."""
    if dialect == "openai-chat":
        (choice,) = body["choices"]
        calls = [
            (c["id"], c["function"]["name"], json.loads(c["function"]["arguments"]))
            for c in choice["message"].get("tool_calls") or ()
        ]
        usage = body["usage"]
        counts = (usage["prompt_tokens"], usage["completion_tokens"])
        return choice["message"]["content"], calls, choice["finish_reason"], counts
    if dialect == "anthropic":
        text = "".join(b["text"] for b in body["content"] if b["type"] == "text")
        calls = [
            (b["id"], b["name"], b["input"]) for b in body["content"] if b["type"] == "tool_use"
        ]
        usage = body["usage"]
        return text, calls, body["stop_reason"], (usage["input_tokens"], usage["output_tokens"])
    (candidate,) = body["candidates"]
    parts = candidate["content"]["parts"]
    calls = [
        (p["functionCall"]["id"], p["functionCall"]["name"], p["functionCall"]["args"])
        for p in parts
        if "functionCall" in p
    ]
    usage = body["usageMetadata"]
    counts = (usage["promptTokenCount"], usage["candidatesTokenCount"])
    return "".join(p.get("text", "") for p in parts), calls, candidate["finishReason"], counts


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("source", DIALECTS)
@pytest.mark.parametrize("stop", ("end_turn", "tool_use", "max_tokens"))
def test_a_response_with_a_call_goes_from_each_dialect_to_each(
    stop: str, source: str, target: str
) -> None:
    out = convert(response_of(source, stop), source, target, "response")
    assert said(target, out.body) == said(target, response_of(target, stop))


# --- Seed 002: the example of the loop ------------------------------------------------------------


@pytest.mark.parametrize("target", DIALECTS)
def test_the_three_steps_of_the_loop_run_for_every_provider(target: str) -> None:
    tools = [{"type": "function", "function": WEATHER_TOOL}]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "簡潔に。"},
        {"role": "user", "content": "東京の天気は?"},
    ]
    first = convert(
        {"model": "m", "messages": messages, "tools": tools}, "openai-chat", target, "request"
    )
    assert (first.envelope.model if target == "gemini" else first.body["model"]) == "m"

    answer = convert(response_of(target, "tool_use"), target, "openai-chat", "response").body
    message = answer["choices"][0]["message"]
    (call,) = message["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"city": "tokyo"}

    result = {"role": "tool", "tool_call_id": call["id"], "content": '{"temperature":22}'}
    second = convert(
        {"model": "m", "messages": [*messages, message, result], "tools": tools},
        "openai-chat",
        target,
        "request",
    ).body
    if target == "openai-chat":
        assert second["messages"][-1] == result
        assert second["messages"][-2]["tool_calls"] == [call]
    elif target == "anthropic":
        assert_same(
            second["messages"][-2:],
            [
                {"role": "assistant", "content": response_of("anthropic", "tool_use")["content"]},
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "c1",
                            "content": '{"temperature":22}',
                        }
                    ],
                },
            ],
        )
        assert second["tools"][0]["input_schema"] == WEATHER_TOOL["parameters"]
    else:
        assert_same(
            second["contents"][-2:],
            [
                response_of("gemini", "tool_use")["candidates"][0]["content"],
                {
                    "role": "user",
                    "parts": [
                        {
                            "functionResponse": {
                                "id": "c1",
                                "name": "get_weather",
                                "response": {"temperature": 22},
                            }
                        }
                    ],
                },
            ],
        )
        assert_same(folded(second["tools"]), [{"functionDeclarations": [WEATHER_TOOL]}])


CLEAN = [
    case
    for case in CASES
    if case["unit"] == "messages" and "error-anthropic-to-openai" not in case["id"]
]


@pytest.mark.parametrize("case", CLEAN, ids=[case["id"] for case in CLEAN])
def test_a_conversation_that_the_target_can_hold_is_not_noted_as_lost(case: dict[str, Any]) -> None:
    out = convert(case["given"], case["source"], case["target"], "messages")
    assert "lost" not in effects(out), [str(n) for n in out.notes]


# --- The page -------------------------------------------------------------------------------------


def test_each_test_that_the_seeds_page_names_exists_and_each_case_is_named() -> None:
    page = (HERE.parent / "docs/seeds.md").read_text("utf-8")
    named = set(re.findall(r"`((?:test_|\d{3}-|decision-|overlay-)[\w*-]+)`", page))
    files = "".join(path.read_text("utf-8") for path in HERE.glob("test_*.py"))
    overlays = read_yaml((HERE / "cases/overlays.yaml").read_text("utf-8"))["cases"]
    formats = read_yaml((HERE / "cases/formats.yaml").read_text("utf-8"))["cases"]
    cases = BY_ID.keys() | {case["id"] for case in overlays}
    known = set(re.findall(r"^def (test_\w+)", files, re.M)) | cases
    known |= {case["id"] for case in formats}
    known |= {path.stem for path in HERE.glob("test_*.py")}
    for name in sorted(named):
        assert fnmatch.filter(known, name), f"docs/seeds.md names `{name}`, which is no test"
    covered = {case for name in named for case in fnmatch.filter(cases, name)}
    assert not cases - covered
    shipped = {path.stem for path in (HERE.parent / "rules/overlays").glob("*.yaml")}
    assert shipped == set(re.findall(r"^\| `([\w-]+)` \|.*`overlay-", page, re.M))
