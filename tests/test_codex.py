"""Responses as Codex speaks it: its tools go abroad as functions and come home as they were."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import wireglot


def test_a_note_names_no_other_dialect() -> None:
    """A family shares its fields under one name, which says nothing of who has them."""
    out = wireglot.convert(
        {"model": "m", "input": "hi", "store": False}, "openai-responses", "anthropic"
    )
    (told,) = (n.message for n in out.notes if n.source_path == "/store")
    assert "openai-chat" not in told


TRAFFIC = Path(__file__).parents[2] / "shared" / "traffic" / "agents.jsonl.gz"
AWAY = ("anthropic", "openai-chat", "gemini", "ollama")


def _function(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"a": {"type": "string"}}}
    return {"type": "function", "name": name, "parameters": parameters, "strict": False}


BODY: dict[str, Any] = {
    "model": "m",
    "store": False,
    "stream": True,
    "tools": [
        _function("exec"),
        {"type": "custom", "name": "patch", "description": "Writes."},
        {
            "type": "namespace",
            "name": "agents",
            "description": "Others.",
            "tools": [_function("exec"), {"type": "custom", "name": "patch"}],
        },
        {"type": "web_search"},
    ],
    "input": [
        {"type": "additional_tools", "role": "developer", "tools": [_function("late")]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
        {"type": "function_call", "call_id": "c1", "name": "exec", "arguments": '{"a": "1"}'},
        {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*** x"},
        {
            "type": "function_call",
            "call_id": "c3",
            "namespace": "agents",
            "name": "exec",
            "arguments": "{}",
        },
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "two"},
        {"type": "function_call_output", "call_id": "c3", "output": "three"},
    ],
}


def _said(body: Any, dialect: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the names of the tools, those of the calls, and what the results say."""
    ir = wireglot.packaged()[dialect].read(body).ir
    tools = [tool.get("name") for tool in ir["tools"] if tool.get("type") != "native"]
    parts = [part for message in ir["messages"] for part in message["parts"]]
    calls = [part["name"] for part in parts if part["type"] == "tool_call"]
    results = [part["value"] for part in parts if part["type"] == "tool_result"]
    return tools, calls, results


@pytest.mark.parametrize("away", AWAY)
def test_no_tool_and_no_call_is_lost_abroad(away: str) -> None:
    x = wireglot.exchange("openai-responses", away, model="m", state={})
    tools, calls, results = _said(x.request(BODY).body, away)
    assert len(set(tools)) == len(tools) == 5
    assert set(calls) < set(tools)
    assert len(calls) == 3
    assert results == ["one", "two", "three"]


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("away", AWAY)
def test_each_call_comes_home_in_the_form_of_its_tool(away: str, again: bool) -> None:
    """A provider calls each of the tools that it was given; `again` reads by the state."""
    x = wireglot.exchange("openai-responses", away, model="m", state={})
    tools, _, _ = _said(x.request(BODY).body, away)
    calls = [
        {"type": "tool_call", "id": f"t{i}", "name": name, "arguments": {"input": "P"}}
        for i, name in enumerate(tools)
    ]
    ir = {"id": "r", "model": "m", "candidates": [{"parts": calls, "stop_reason": "tool_use"}]}
    answer = wireglot.packaged()[away].write(ir, unit="response").body
    if again:
        x = wireglot.exchange("openai-responses", away, model="m", state=x.state)
    whole = x.response(answer).body["output"]
    told = [(i["type"], i.get("namespace"), i["name"], i.get("input")) for i in whole]
    custom = None if away == "openai-chat" else "P"  # Chat has freeform tools of its own
    if custom:
        assert told == [
            ("function_call", None, "exec", None),
            ("custom_tool_call", None, "patch", "P"),
            ("function_call", "agents", "exec", None),
            ("custom_tool_call", "agents", "patch", "P"),
            ("function_call", None, "late", None),
        ]
    assert [(t[1], t[2]) for t in told] == [
        (None, "exec"),
        (None, "patch"),
        ("agents", "exec"),
        ("agents", "patch"),
        (None, "late"),
    ]
    t = x.translator()
    frames = [new for f in wireglot.frames(answer, away) for new in t.feed(f)] + t.finish()
    done = [f["item"] for f in frames if f["type"] == "response.output_item.done"]
    assert [(i["type"], i.get("namespace"), i["name"], i.get("input")) for i in done] == told
    assert all(item["status"] == "completed" for item in [*whole, *done])


@pytest.mark.skipif(not TRAFFIC.exists(), reason="the recorded requests are not here")
@pytest.mark.parametrize("away", AWAY)
def test_recorded_requests_lose_no_tool_and_no_call(away: str) -> None:
    seen = 0
    with gzip.open(TRAFFIC, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    for body in (record["request"] for record in records if record.get("vendor") == "codex"):
        mine = _said(body, "openai-responses")
        out = wireglot.exchange("openai-responses", away, model="m", state={}).request(body).body
        theirs = _said(out, away)
        assert [len(one) for one in theirs] == [len(one) for one in mine]
        assert set(theirs[1]) <= set(theirs[0])
        seen += 1
    assert seen
