"""The rich conversation in the messages of frameworks and data sets: to each other, and home.

It is `cases/rich.yaml` as one agent keeps it, written for each framework; what their own libraries
make of that is for `make loaders`.
"""

from __future__ import annotations

import functools
import itertools
import json
from typing import Any

import pytest

from . import test_rich_session as rich
from . import width
from .oracles.homecoming import Difference, Homecoming
from .oracles.leaves import leaves

FRAMEWORKS = ("openai-finetune", "hf-chat", "langchain", "ai-sdk", "ai-sdk-ui", "pydantic-ai",
              "openai-agents", "otel-genai", "ag-ui", "atif", "adp", "adp-v1")  # fmt: skip
PROVIDERS = width.MAIN
PAIRS = [
    pair
    for pair in itertools.permutations((*FRAMEWORKS, *PROVIDERS), 2)
    if not set(pair) <= set(PROVIDERS)
]
ROWS = ("openai-finetune", "hf-chat")  # to learn from
SAID = {**dict.fromkeys(ROWS, "messages"), "otel-genai": "gen_ai.input.messages",
        "atif": "steps", "adp": "steps", "adp-v1": "content"}  # in an object  # fmt: skip


@functools.cache
def body_of(dialect: str) -> Any:
    """Return the conversation as a list of messages of a framework or a provider."""
    found = rich.RULES.convert(rich.messages_of("openclaw", rich.BODIES["openclaw"]), "openclaw",
                               dialect, unit="messages").body  # fmt: skip
    return found


def said(dialect: str, body: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return the calls, and what their results say, by name and id."""
    parts = [
        part
        for message in rich.RULES[dialect].read(body, unit="messages").ir
        for part in message["parts"]
    ]
    calls = [(p["id"], p["name"], p["arguments"]) for p in parts if p["type"] == "tool_call"]
    results = {p["tool_call_id"]: p for p in parts if p["type"] == "tool_result"}
    return calls, results


def form_alone(one: Difference, body: Any, home: Any) -> bool:
    """Tell whether a text only stands in a list now, or in none any more: it is still said."""
    before, after = ([v for _, v in leaves(json_) if v == "A shot." or v == "Let me look."]
                     for json_ in (body, home))  # fmt: skip
    says = any(word in one.told for word in ("A shot.", "Let me look.", '"text"', '"input_text"'))
    return says and sorted(before) == sorted(after)


@pytest.mark.parametrize(("source", "target"), width.some(PAIRS, 2))
def test_the_conversation_goes_to_each_other_and_home(source: str, target: str) -> None:
    body = body_of(source)
    there = rich.RULES.convert(body, source, target, unit="messages", trace=True)
    back = rich.RULES.convert(there.body, target, source, unit="messages", trace=True)
    unexplained = [
        one
        for one in Homecoming(body, there, back).unexplained()
        if not form_alone(one, body, back.body)
    ]
    assert not unexplained, "\n".join(["", *map(str, unexplained)])
    start, abroad, home = said(source, body), said(target, there.body), said(source, back.body)
    told = [(name, arguments) for _, name, arguments in start[0]]
    assert told == [(name, arguments) for _, name, arguments in abroad[0]]
    assert start[0] == home[0] or "gemini" in (source, target)  # which has ids of its own
    assert len(told) == 7 and len(start[1]) == len(abroad[1]) == len(home[1]) >= 5


@pytest.mark.parametrize("dialect", FRAMEWORKS)
def test_a_session_of_an_agent_becomes_one_of_a_framework(dialect: str) -> None:
    made = rich.RULES.convert(rich.BODIES["claude-code"], "claude-code", dialect, unit="session")
    whole = made.body if dialect not in SAID else made.body[SAID[dialect]]
    assert isinstance(whole, list)
    calls, results = said(dialect, whole)
    assert [name for name, _, _ in calls] == rich.IDS
    # A row to learn from is a request: what nobody answered, but for the last, is answered.
    assert ("ask_1" in results) == (dialect in ROWS)
    text = rich.RULES[dialect].text(made.body)
    assert rich.RULES[dialect].parse(text) == json.loads(text) == made.body


def test_steps_of_a_trajectory_are_counted_anew_after_an_edit() -> None:
    atif, made = (
        rich.RULES["atif"],
        rich.RULES.convert(rich.BODIES["claude-code"], "claude-code", "atif", unit="session").body,
    )
    ir = atif.read(made, unit="session").ir
    assert atif.write(ir, unit="session").body == made
    del ir["messages"][0]
    steps = atif.write(ir, unit="session").body["steps"]
    assert [step["step_id"] for step in steps] == list(range(1, len(made["steps"])))
    for step in steps:  # each result stands with its call, and each turn alone
        calls = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        assert {
            one["source_call_id"] for one in step.get("observation", {}).get("results", ())
        } <= calls
    assert sum("tool_calls" in step for step in steps) == sum(
        any(part["type"] == "tool_call" for part in message["parts"]) for message in ir["messages"]
    )


@pytest.mark.parametrize("text", ['{"x": ', '{"x": 1, "x": 2}', '{"x": NaN}', "[1]", '"x"'])
@pytest.mark.parametrize("dialect", [*FRAMEWORKS, "sharegpt", "hermes"])
def test_arguments_that_do_not_parse_come_home(dialect: str, text: str) -> None:
    function = {"name": "f", "arguments": text}
    body = [
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "Done."},
    ]
    there = rich.RULES.convert(body, "openai-chat", dialect, unit="messages").body
    back = rich.RULES.convert(there, dialect, "openai-chat", unit="messages").body
    (call,) = back[1]["tool_calls"]
    assert call["function"] == function
    assert back[2]["tool_call_id"] == call["id"]


@pytest.mark.parametrize("target", [one for one in FRAMEWORKS if one != "ag-ui"])
@pytest.mark.parametrize("source", [{"type": "data", "value": "AAA=", "mimeType": "image/png"},
                                    {"type": "url", "value": "https://a.b/c.png"}])  # fmt: skip
def test_a_key_within_the_source_of_a_picture_of_ag_ui_is_noted(source: Any, target: str) -> None:
    part = {"type": "image", "source": {**source, "odd": 1}}
    body = [{"role": "user", "id": "u", "content": [{"type": "text", "text": "See."}, part]}]
    notes = rich.RULES.convert(body, "ag-ui", target, unit="messages").notes
    lost = {note.source_path for note in notes if note.effect == "lost"}
    assert lost & {"/0/content/1/source/odd", "/0/content/1/source", "/0/content/1"}


@pytest.mark.parametrize("content", [{}, None, 1])
def test_code_of_adp_v1_that_is_no_text_is_no_input(content: Any) -> None:
    body = [{"class_": "code_action", "language": "python", "content": content}]
    found = rich.RULES.convert(body, "adp-v1", "langchain", unit="messages")
    paths = {note.source_path for note in found.notes if note.effect == "lost"}
    assert paths & {"/0", "/0/content"}
    ir = rich.RULES["adp-v1"].read(body, unit="messages").ir
    assert all(isinstance(part.get("input", ""), str) for one in ir for part in one["parts"])
    assert rich.RULES["adp-v1"].write(ir, unit="messages").body == body


@pytest.mark.parametrize("parts", [[], [{"type": "text", "text": "No."}]])
def test_a_message_of_an_early_form_from_which_its_calls_are_taken_is_written(parts: Any) -> None:
    call = {"type": "function", "id": "c", "function": {"name": "f", "arguments": "{}"}}
    data = {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [call], "x": 1}}
    talk = rich.RULES["langchain"].read([{"type": "ai", "data": data}], "session").ir
    talk["messages"][0]["parts"] = parts
    [message] = rich.RULES["langchain"].write(talk, "session").body
    assert message["data"]["content"] == "".join(part["text"] for part in parts)
    assert message["data"]["additional_kwargs"] == {"x": 1}
