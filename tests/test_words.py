"""Words that two or three dialects need together, on invented providers in tests/dialects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wireglot

FOLDER = Path(__file__).parent / "dialects"
HEAD = "wireglot: 1\ndialect: {name}\nsee: https://example.com\nverified: 2026-11-21\n"


@pytest.fixture(scope="module")
def rules() -> Any:
    return wireglot.load_rules(FOLDER)


def loaded(folder: Path, **dialects: str) -> Any:
    """Load dialects from their texts, beside the ladder alone."""
    for name, text in dialects.items():
        (folder / f"{name}.yaml").write_text(HEAD.format(name=name) + text)
    return wireglot.load_rules(folder, builtin=False)


def told(conversion: Any) -> list[tuple[str, str, str | None]]:
    return sorted((n.code, n.effect, n.source_path) for n in conversion.notes)


# -- marks --------------------------------------------------------------------------------------

POINT = {"cachePoint": {"type": "default"}}
MARKED: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": [{"text": "a"}, POINT, {"text": "b"}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "t1", "content": [{"text": "r"}]}},
                POINT,
                {"text": "go on"},
            ],
        },
    ],
    "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
    "toolConfig": {
        "tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}, POINT]
    },
}


def test_an_element_that_marks_the_one_before_is_a_field_of_it(rules: Any) -> None:
    ir = rules["blocks"].read(MARKED).ir
    assert ir["messages"][1]["parts"] == [
        {"type": "text", "text": "a", "cache": {}},
        {"type": "text", "text": "b"},
    ]
    assert ir["messages"][0]["parts"][0]["cache"] == {"own": {"blocks": {"ttl": "1h"}}}
    assert ir["messages"][3]["parts"][0]["cache"] == {}
    assert ir["tools"][0]["cache"] == {}


def test_a_mark_becomes_a_property_and_an_element_again(rules: Any) -> None:
    out = rules.convert(MARKED, "blocks", "anthropic", model="m")
    assert told(out) == [
        ("filled-in", "added", None),
        ("own-field", "lost", "/system/1/cachePoint/ttl"),
    ]
    control = {"cache_control": {"type": "ephemeral"}}
    assert out.body["system"] == [{"type": "text", "text": "Be brief."} | control]
    assert out.body["messages"][0]["content"] == [
        {"type": "text", "text": "a"} | control,
        {"type": "text", "text": "b"},
    ]
    assert out.body["tools"][0]["cache_control"] == control["cache_control"]
    back = rules.convert(out.body, "anthropic", "blocks", model="m")
    expected = {**MARKED, "system": [{"text": "Be brief."}, POINT]}
    assert back.body == {**expected, "inferenceConfig": {"maxTokens": 4096}}
    assert back.notes == ()


def test_a_mark_without_a_place_is_noted_where_it_stood(rules: Any) -> None:
    out = rules.convert(MARKED, "blocks", "gemini", model="m")
    assert told(out) == [
        ("no-place", "lost", "/messages/0/content/1"),
        ("no-place", "lost", "/messages/2/content/1"),
        ("no-place", "lost", "/system/1"),
        ("no-place", "lost", "/toolConfig/tools/1"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        [POINT, {"text": "a"}],
        [{"text": "a"}, POINT, POINT],
        [{"alien": 1}, POINT, {"text": "a"}],
        [{"text": "a"}, {"cachePoint": {"type": "default", "zzz": [1]}}],
        [{"text": "a"}, {"cachePoint": {"type": "other"}}],
    ],
)
def test_a_mark_of_any_kind_and_place_stays_at_home(rules: Any, content: Any) -> None:
    body = {"messages": [{"role": "user", "content": content}]}
    assert rules.convert(body, "blocks", "blocks").body == body
    abroad = rules.convert(body, "blocks", "anthropic", model="m")
    assert {n.code for n in abroad.notes} <= {"filled-in", "unknown-part", "unknown-key"}
    assert len(abroad.notes) > 1


def test_a_single_element_takes_no_mark_beside_it(rules: Any) -> None:
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": "r",
        "cache_control": {"type": "ephemeral"},
    }
    out = rules.convert(result, "anthropic", "blocks", unit="tool_result")
    assert out.body == {"toolResult": {"toolUseId": "t1", "content": [{"text": "r"}]}}
    assert told(out) == [("no-place", "lost", "/cache_control")]


def test_a_mark_gathers_nothing(tmp_path: Path) -> None:
    text = "shapes: {text: {marks: cache, gathers: text, wire: {a: $run each text}}}\n"
    with pytest.raises(wireglot.RuleError, match="`marks` names one field"):
        loaded(tmp_path, one=text)


def test_a_dialect_with_words_that_are_not_compiled_is_interpreted(rules: Any) -> None:
    assert rules.plan("blocks", "anthropic") is None
    assert rules.plan("openai-chat", "blocks") is None


# -- flat lists of items ------------------------------------------------------------------------


def test_an_unknown_item_of_a_flat_list_is_a_part_and_a_broken_message_is_none(rules: Any) -> None:
    item = {"type": "search_call", "id": "ws_1"}
    body = {"input": [{"role": "user", "content": "Hi"}, item]}
    ir = rules["items"].read(body).ir
    assert ir["messages"][1] == {
        "role": "assistant",
        "parts": [{"type": "unknown", "dialect": "items", "value": item}],
    }
    assert rules.convert(body, "items", "items").body == body
    assert told(rules.convert(body, "items", "openai-chat")) == [
        ("empty-message", "lost", "/input/1"),
        ("unknown-part", "lost", "/input/1"),
    ]
    with pytest.raises(wireglot.ConversionError) as caught:
        rules.convert({"input": [{"role": "user", "content": 5}]}, "items", "openai-chat")
    assert caught.value.path == "/input/0/content"
    with pytest.raises(wireglot.ConversionError, match="the role is 'alien'"):
        rules.convert({"input": [{"role": "alien", "content": "Hi"}]}, "items", "openai-chat")


def test_no_item_holds_parts_of_two_messages(rules: Any) -> None:
    said = [{"role": "assistant", "content": text} for text in ("One.", "Two.")]
    out = rules.convert({"messages": said}, "openai-chat", "items")
    assert [[p["text"] for p in item["content"]] for item in out.body["input"]] == [
        ["One."],
        ["Two."],
    ]
    assert ("joined", "changed", "/messages/1") in told(out)


def test_what_stands_beside_a_run_is_said_once_and_begins_a_new_run(rules: Any) -> None:
    texts = [{"type": "summary_text", "text": text} for text in ("One.", "Two.")]
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": texts, "encrypted_content": "AAA"},
        {"type": "reasoning", "id": "rs_2", "summary": texts[:1]},
    ]
    parts = rules["items"].read({"input": items}).ir["messages"][0]["parts"]
    assert [part.get("own", {}).get("items") for part in parts] == [
        {"item": "rs_1"},
        None,
        {"item": "rs_2"},
    ]
    for part in parts:  # not by memory alone
        part.pop("spelled", None)
    message = {"role": "assistant", "parts": parts}
    written = rules["items"].write({"messages": [message]}, options={"repair": True})
    assert written.body == {"input": [*items[:1], items[1]]}
    abroad = rules.convert({"input": items}, "items", "gemini", model="m")
    assert told(abroad) == [
        ("foreign-signature", "lost", "/input/0/encrypted_content"),
        ("own-field", "lost", "/input/0/id"),
        ("own-field", "lost", "/input/1/id"),
    ]
    nowhere = rules.convert({"input": items}, "items", "openai-chat")
    assert ("no-place", "lost", "/input/0/encrypted_content") in told(nowhere)


# -- made ids -----------------------------------------------------------------------------------


def test_an_id_that_is_wanted_is_made_from_place_and_content(rules: Any) -> None:
    said = [{"role": "assistant", "content": "Same."}, {"role": "user", "content": "?"}]
    body = {"messages": said * 2}
    out = rules.convert(body, "openai-chat", "items")
    ids = [item["id"] for item in out.body["input"] if "id" in item]
    assert len(set(ids)) == 2
    assert all(id_.startswith("msg_") and len(id_) == 16 for id_ in ids)
    assert rules.convert(body, "openai-chat", "items").body == out.body
    made = [n for n in out.notes if n.code == "made-id"]
    assert [(n.effect, n.source_path, n.target_path) for n in made] == [
        ("added", None, "/input/0/id"),
        ("added", None, "/input/2/id"),
    ]


@pytest.mark.parametrize("body", [{}, {"id": None}, {"id": "resp_1"}])
def test_an_id_is_not_made_where_home_had_none(rules: Any, body: Any) -> None:
    rest = {
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [{"role": "assistant", "content": "Hi"}],
        "status": "completed",
    }
    whole = body | rest
    assert rules.convert(whole, "items", "items", unit="response")[:2] == (whole, ())
    abroad = rules.convert(whole, "items", "plans", unit="response")
    assert abroad.body["id"].startswith(body.get("id") or "plan_")


def test_a_bare_text_is_a_text_and_no_other_part(rules: Any) -> None:
    thought = {"type": "thinking", "thinking": "Hm."}
    body = {"messages": [{"role": "assistant", "content": [thought]}]}
    ir = rules["plans"].read(body).ir
    assert ir["messages"][0]["parts"] == [{"type": "reasoning", "text": "Hm."}]
    fresh = {"role": "assistant", "parts": [{"type": "reasoning", "text": "Hm."}]}
    assert rules["plans"].write({"messages": [fresh]}).body == body
