"""Steps: what one speaker says in several messages is one wire message, with a mark before each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wireglot

from .test_words import HEAD

Json = Any
RULES = wireglot.packaged()
UI = "ai-sdk-ui"
MARK = {"type": "step-start"}
TEXT = {"type": "text", "text": "A"}
CALL = {"type": "tool-f", "toolCallId": "c1", "state": "output-available", "input": {},
        "output": "Sunny"}  # fmt: skip
MORE = {**MARK, "at": 5}


def said(*parts: Json) -> list[Json]:
    return [{"id": "m", "role": "assistant", "parts": list(parts)}]


FORMS: dict[str, tuple[list[Json], list[str]]] = {
    "two steps": ([MARK, TEXT, CALL, MARK, TEXT], ["text tool_call", "tool_result", "text"]),
    "no mark": ([CALL, TEXT], ["tool_call text", "tool_result"]),
    "no mark before the first": ([CALL, MARK, TEXT], ["tool_call", "tool_result", "text"]),
    "two marks": ([MARK, MARK, TEXT], ["", "text"]),
    "a mark at the end": ([MARK, CALL, MARK], ["tool_call", "tool_result", ""]),
    "a mark alone": ([MARK], [""]),
    "nothing": ([], [""]),
    "a mark with more": ([TEXT, MORE, CALL], ["text", "unknown tool_call", "tool_result"]),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_read_step_by_step_and_comes_home(form: str) -> None:
    parts, kinds = FORMS[form]
    body = [*said(*parts), *said(TEXT)]  # messages that stood apart stay so
    found = RULES[UI].read(body, unit="messages").ir
    assert [" ".join(p["type"] for p in m["parts"]) for m in found] == [*kinds, "text"]
    assert RULES[UI].write(found, unit="messages").body == body
    for trace in (False, True):
        assert RULES.convert(body, UI, UI, unit="messages", trace=trace).body == body


def test_a_mark_with_more_is_noted_where_it_has_no_place() -> None:
    out = RULES.convert(said(TEXT, MORE, CALL), UI, "ai-sdk", unit="messages")
    assert [m["role"] for m in out.body] == ["assistant", "assistant", "tool"]
    assert [(n.code, n.source_path) for n in out.notes if n.effect == "lost"] == [
        ("no-place", "/0/id"), ("unknown-part", "/0/parts/1")
    ]  # fmt: skip


def test_an_answer_is_one_message_in_steps() -> None:
    call = {"type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {}}
    text = {"type": "text", "text": "Sunny"}
    result = {**call, "type": "tool-result", "output": {"type": "text", "value": "Sunny"}}
    del result["input"]
    body = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [call]},
        {"role": "tool", "content": [result]},
        {"role": "assistant", "content": [text]},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": [text]},
    ]
    there = RULES.convert(body, "ai-sdk", UI, unit="messages", trace=True)
    assert [m["role"] for m in there.body] == ["user", "assistant", "user", "assistant"]
    assert there.body[1]["parts"] == [MARK, CALL, MARK, text]
    assert {n.code for n in there.notes} == {"made-id"}
    assert there.trace is not None
    origin = there.trace.origins["/1/parts/2/type"]
    assert origin.rule and "ai-sdk-ui.yaml" in origin.rule
    back = RULES.convert(there.body, UI, "ai-sdk", unit="messages", trace=True)
    assert back.body == body
    assert back.trace is not None
    assert back.trace.fates["/1/parts/2/type"].kind == "silent"


def test_steps_of_one_message_stay_steps_elsewhere() -> None:
    out = RULES.convert(said(MARK, TEXT, MARK, TEXT, MARK, TEXT), UI, "openclaw", unit="session")
    found = [line["message"]["role"] for line in out.body if line.get("type") == "message"]
    assert found == ["assistant"] * 3
    assert "joined" not in {n.code for n in out.notes}


def test_what_leaves_a_result_stands_behind_its_step() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "AA=="}
    picture = {"type": "image", "source": source}
    call = {"type": "tool_call", "id": "c1", "name": "f", "arguments": {}}
    result = {"type": "tool_result", "tool_call_id": "c1", "kind": "multimodal", "value": [picture]}
    messages = [
        {"role": "assistant", "parts": [call]},
        {"role": "tool", "parts": [result]},
        {"role": "assistant", "parts": [TEXT]},
        {"role": "assistant", "parts": [TEXT]},
    ]
    out = RULES[UI].write(messages, unit="messages")
    assert [(m["role"], [p["type"] for p in m["parts"]]) for m in out.body] == [
        ("assistant", ["step-start", "tool-f"]),
        ("user", ["text", "file"]),
        ("assistant", ["step-start", "text", "step-start", "text"]),
    ]
    assert [n.code for n in out.notes].count("blocks-beside") == 1  # of what was written again


def test_what_later_steps_say_beside_their_parts_is_noted() -> None:
    steps = [{"role": "assistant", "id": name, "parts": [TEXT]} for name in ("a", "b")]
    out = RULES[UI].write(steps, unit="messages")
    assert out.body == [{"id": "a", "role": "assistant", "parts": [MARK, TEXT, MARK, TEXT]}]
    assert [(n.code, n.effect) for n in out.notes] == [("no-place", "lost")]


ANY = """
shapes: {text: {wire: {text: $text}}}
unions: {part: [text]}
conversation:
  steps: {user: {kind: next, of: user}, assistant: {kind: next}}
  wire: {parts: $parts each part}
  cases: {user: {wire: {role: user}}, assistant: {wire: {role: bot}}}
request: {wire: {turns: $messages as conversation}}
"""


def test_each_role_that_speaks_may_have_steps_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "steps.yaml").write_text(HEAD.format(name="steps") + ANY)
    rules = wireglot.load_rules(tmp_path)
    one, two = {"text": "A"}, {"text": "B"}
    mine, its = {"kind": "next", "of": "user"}, {"kind": "next"}
    body = {"turns": [{"role": "user", "parts": [mine, one, mine, two]},
                      {"role": "bot", "parts": [its, one, its, two]}]}  # fmt: skip
    found = rules["steps"].read(body).ir
    assert [m["role"] for m in found["messages"]] == ["user", "user", "assistant", "assistant"]
    assert rules["steps"].write(found).body == body
    anew = {"messages": [{**m, "parts": [dict(p) for p in m["parts"]]} for m in found["messages"]]}
    for message in anew["messages"]:
        message.pop("spelled", None)
    assert rules["steps"].write(anew).body == body
