"""`like`: a shape or a schema that says only how it differs from another one of its file."""

from __future__ import annotations

from typing import Any

import pytest

import wireglot

HEAD = "wireglot: 2\ndialect: mini\nsee: https://example.com\nverified: 2026-11-21\n"
RULES = (
    HEAD
    + """
schemas:
  rigid:
    root: object
    rewrite:
      word: {schema: {const: $v}, here: {enum: [$v]}}
      any: {schema: {oneOf: $o}, here: {anyOf: $o}}
  free: {like: rigid, root: $removed, rewrite: {word: $removed}}
shapes:
  text: {wire: {text: $text}}
  tool_call:
    wire: {call: $name, id: $id (optional), $own: [mood]}
    cases:
      object: {wire: {input: $arguments}}
      text: {read-only: true, wire: {input: $arguments | json}}
    examples: [{wire: {call: f, input: {}}, ir: {type: tool_call, name: f, arguments: {}}}]
  said_call:
    like: tool_call
    wire: {id: $id (made c_), mood: $removed}
    cases: {text: $removed}
    examples:
      - reads: {call: f, id: "1", input: {}}
        as: {type: tool_call, name: f, id: "1", arguments: {}}
  function:
    wire:
      name: $name
      takes: $parameters | rigid (optional)
      gives: $output_schema | free (optional)
  candidate: {wire: {parts: $parts each said}}
unions: {part: [text, tool_call], said: [text, said_call]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {role: user}}, assistant: {wire: {role: assistant}}}
request: {wire: {turns: $messages as conversation, tools: $tools each function (optional)}}
response: {wire: {...: $candidates each candidate | single}}
"""
)


def rules(text: str = RULES, **more: str) -> wireglot.RuleSet:
    files = {f"{name}.yaml": said for name, said in more.items()}
    return wireglot.load_rules({"mini.yaml": text, **files}, builtin=False)


def test_a_shape_that_is_like_a_part_is_of_its_type_and_says_the_rest_itself() -> None:
    mini = rules()["mini"]
    call: dict[str, Any] = {"type": "tool_call", "name": "f", "arguments": {}}
    said = mini.write({"candidates": [{"parts": [call]}]}, "response").body["parts"][0]
    assert said.pop("id").startswith("c_")
    assert said == {"call": "f", "input": {}}
    turn = {"messages": [{"role": "assistant", "parts": [call]}]}
    assert mini.write(turn, "request").body == {
        "turns": [{"role": "assistant", "parts": [{"call": "f", "input": {}}]}]
    }
    read = mini.read({"parts": [{"call": "f", "id": "1", "input": {}}]}, "response").ir
    assert read["candidates"][0]["parts"][0]["arguments"] == {}
    text = {"parts": [{"call": "f", "id": "1", "input": "{}"}]}  # that case is taken away
    assert "arguments_json" not in mini.read(text, "response").ir["candidates"][0]["parts"][0]


def test_a_schema_that_is_like_another_has_its_rows() -> None:
    schemas = rules()["mini"].model.schemas
    both = {"const": 1, "oneOf": [{}]}
    assert schemas["rigid"].spelled_here(both) == {"enum": [1], "anyOf": [{}]}
    assert schemas["free"].spelled_here(both) == {"const": 1, "anyOf": [{}]}
    assert schemas["free"].write({"oneOf": []})[0] == {"anyOf": []}


def test_a_child_changes_each_of_the_two_by_itself() -> None:
    child = (
        HEAD.replace("mini", "child")
        + "extends: mini\nshapes: {tool_call: {wire: {call: $name, of: child}}}\n"
    )
    shapes = rules(child=child)["child"].model.shapes
    assert "of" in shapes["tool_call"].keys
    assert "of" not in shapes["said_call"].keys


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("like: tool_call", "like: call", "R022: `like: call` names none of these"),
        ("like: tool_call", "like: [text]", "R022: `like: ['text']` names none of these"),
        ("like: tool_call", "like: said_call", "R022: `like: said_call` goes round"),
        ("like: rigid", "like: free", "R022: `like: free` goes round"),
        ("mood: $removed", "tone: $removed", "R007: `tone` is taken away"),
        ("response: {", "response: {like: request, ", "`like` is no word of a shape"),
    ],
)
def test_what_is_like_nothing_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(wireglot.RuleError) as error:
        rules(RULES.replace(old, new))
    assert message in str(error.value)
