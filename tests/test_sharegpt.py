"""Lists that are JSON text on the wire, and rows of data sets that hold calls so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from . import test_rich_session as rich

Json = Any
TOOLS = '[ {"parameters": {"type": "object", "x-a": 1e2}, "name": "f", "more": 1} ]'
ROWS: dict[str, Json] = {
    "a call alone, keys in another order": [
        {"from": "function_call", "value": '{"arguments": {"a": [1.0]},  "name": "f"}'}
    ],
    "a list of one": [{"from": "function_call", "value": '[{"name": "f", "arguments": {}}]'}],
    "two calls and a key of its own": [
        {
            "from": "function_call",
            "value": '[{"name": "f", "arguments": {}, "id": 7}, {"name": "g", "arguments": {}}]',
        }
    ],
    "a text that is no call": [{"from": "function_call", "value": "f(x=1)"}],
    "a call without a name": [{"from": "function_call", "value": '[{"arguments": {}}]'}],
    "an empty list of calls": [{"from": "function_call", "value": "[]"}],
    "a thought, then a call": [
        {"from": "function_call", "value": '<think>Hm.</think>\n{"name": "f", "arguments": {}}'}
    ],
    "a turn of text, then one of calls": [
        {"from": "gpt", "value": "So."},
        {"from": "function_call", "value": '{"name": "f", "arguments": {}}'},
    ],
    "a text before calls between marks": [
        {"from": "function_call", "value": 'So. <tool_call>\n[{"name": "f"}]\n</tool_call>'}
    ],
    "such a text of the model": [
        {"from": "gpt", "value": 'So. <tool_call>\n[{"name": "f"}]\n</tool_call>'}
    ],
    "a value within a text": [{"from": "observation", "value": '{ "n": 3 }'}],
}


@pytest.mark.parametrize("tools", [TOOLS, "", "[]", " ", "no JSON", "{}", "null"])
def test_a_row_comes_home_as_it_was(tools: str) -> None:
    for said, turns in ROWS.items():
        row = {"conversations": [{"from": "human", "value": "Hi"}, *turns], "tools": tools}
        found = rich.RULES.convert(row, "sharegpt", "sharegpt").body
        assert found == row, said
        ir = rich.RULES["sharegpt"].read(row).ir
        assert rich.RULES["sharegpt"].write(ir).body == row, said


def test_a_text_that_is_no_call_stays_text() -> None:
    for said in ("a text that is no call", "a call without a name", "an empty list of calls"):
        made = rich.RULES.convert({"conversations": ROWS[said]}, "sharegpt", "openai-chat")
        [turn] = ROWS[said]
        assert made.body["messages"] == [{"role": "assistant", "content": turn["value"]}], said


def test_an_edit_is_not_undone_by_the_text_that_was_read() -> None:
    dialect = rich.RULES["sharegpt"]
    row = {"conversations": [{"from": "human", "value": "Hi"}], "tools": TOOLS}
    ir = dialect.read(row).ir
    ir["tools"][0]["name"] = "g"
    assert json.loads(dialect.write(ir).body["tools"])[0]["name"] == "g"
    ir["tools"].clear()
    assert dialect.write(ir).body.get("tools", "[]") == "[]"


def test_what_is_said_in_a_text_has_the_place_of_the_text() -> None:
    turns = [{"from": "human", "value": "Hi"}, *ROWS["two calls and a key of its own"]]
    row = {"conversations": turns, "tools": TOOLS}
    made = rich.RULES.convert(row, "sharegpt", "anthropic")
    told = {note.source_path for note in made.notes if note.code == "unknown-key"}
    assert told == {"/conversations/1/value", "/tools"}


@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "gemini"])
def test_a_session_becomes_a_row_with_the_same_calls(source: str) -> None:
    body = rich.RULES.convert(rich.BODIES["claude-code"], "claude-code", source, unit="request")
    made = rich.RULES.convert(body.body, source, "sharegpt", unit="request")
    back = rich.RULES.convert(made.body, "sharegpt", source, unit="request")
    meant, found = (calls(rich.RULES[source].read(one).ir) for one in (body.body, back.body))
    assert meant and meant == found
    turns = made.body["conversations"]
    texts = [bare(one["value"]) for one in turns if one["from"] == "function_call"]
    assert [(one["name"], one["arguments"]) for some in texts for one in some] == meant
    assert alternate(turns)


def bare(text: str) -> Json:
    """Return the calls of a turn as LLaMA-Factory finds them: in marks, or behind a thought."""
    _, opened, behind = text.partition("<tool_call>")
    calls = behind.partition("</tool_call>")[0] if opened else text.rpartition("</think>")[2]
    return json.loads(calls)


def alternate(turns: list[Json]) -> bool:
    """Tell whether LLaMA-Factory takes these turns: it skips a row with others."""
    said = [turn["from"] for turn in turns if turn["from"] != "system"]
    asked = all(one in ("human", "observation") for one in said[::2])
    return (
        asked and all(one in ("gpt", "function_call") for one in said[1::2]) and len(said) % 2 == 0
    )


def calls(ir: Json) -> list[tuple[str, Json]]:
    parts = [part for message in ir["messages"] for part in message["parts"]]
    return [(p["name"], p.get("arguments")) for p in parts if p["type"] == "tool_call"]


def test_reasoning_of_spaces_is_noted_and_not_written_between_marks() -> None:
    body = [{"role": "assistant", "reasoning_content": " \n", "content": "Hi"}]
    made = rich.RULES.convert(body, "hf-chat", "sharegpt", unit="messages")
    assert made.body == [{"from": "gpt", "value": "Hi"}]
    assert any("reasoning_content" in str(note.source_path) for note in made.notes)
