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
    # Each third of them; `make agents` and the sweep take all.
    said = [record["request"] for record in records if record.get("vendor") == "codex"]
    for body in said[::3]:
        mine = _said(body, "openai-responses")
        out = wireglot.exchange("openai-responses", away, model="m", state={}).request(body).body
        theirs = _said(out, away)
        assert [len(one) for one in theirs] == [len(one) for one in mine]
        assert set(theirs[1]) <= set(theirs[0])
        seen += 1
    assert seen


# -- tools that the API has words for, and the client runs ---------------------------------------

Json = dict[str, Any]
LOCAL: Json = {"command": ["ls", "-l"], "env": {}}
SHELL: Json = {"commands": ["ls"], "timeout_ms": 9}
PATCH: Json = {"type": "create_file", "path": "a", "diff": "+a"}
BuiltIn = tuple[Json, Json, Json, Json]  # a tool, what a model says, its item, the answer
BUILT_IN: list[BuiltIn] = [
    (
        {"type": "local_shell"},
        LOCAL,
        {"type": "local_shell_call", "action": {"type": "exec", **LOCAL}},
        {"type": "local_shell_call_output", "id": "c1", "output": "a.txt"},
    ),
    (
        {"type": "shell", "environment": {"type": "local"}},
        SHELL,
        {"type": "shell_call", "action": SHELL},
        {
            "type": "shell_call_output",
            "call_id": "c1",
            "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        },
    ),
    (
        {"type": "apply_patch"},
        PATCH,
        {"type": "apply_patch_call", "operation": PATCH},
        {"type": "apply_patch_call_output", "call_id": "c1", "status": "failed", "output": "No."},
    ),
]


@pytest.mark.parametrize("provider", ["openai-chat", "anthropic", "gemini", "ollama"])
@pytest.mark.parametrize("state", [True, False], ids=["state", "none"])
@pytest.mark.parametrize("built_in", BUILT_IN, ids=["local_shell", "shell", "apply_patch"])
def test_a_tool_of_the_api_is_a_function_abroad_and_itself_again(
    built_in: BuiltIn, state: bool, provider: str
) -> None:
    rules = wireglot.packaged()
    tool, said, item, output = built_in
    plain = {"type": "function", "name": "shell", "parameters": {"type": "object"}, "strict": False}
    talk: list[Json] = [{"role": "user", "content": "Hi"}]
    body: Json = {"model": "m", "input": talk, "tools": [tool, plain]}
    for stream in (False, True):
        x = wireglot.exchange("openai-responses", provider, "m", state={} if state else None)
        sent = rules[provider].read(x.request(body, stream=stream).body).ir
        name = sent["tools"][0]["name"]
        assert set(said) <= set(sent["tools"][0]["parameters"]["properties"])
        calls = [
            {"type": "tool_call", "id": "c1", "name": name, "arguments": said},
            {"type": "tool_call", "id": "c2", "name": "shell", "arguments": {}},
        ]
        candidate = {"parts": calls, "stop_reason": "tool_use"}
        answer = rules[provider].write({"id": "r", "candidates": [candidate]}, unit="response").body
        if stream:
            t = x.translator()
            frames = [new for f in rules.frames(answer, provider) for new in t.feed(f)] + t.finish()
            items = frames[-1]["response"]["output"]
            done = [f["item"] for f in frames if f["type"] == "response.output_item.done"]
            assert done == items
        else:
            items = x.response(answer).body["output"]
        first, second = items
        assert first["call_id"] == "c1" and first["status"] == "completed"
        assert {key: first[key] for key in item} == item
        assert second["type"] == "function_call" and second["name"] == "shell"
        after = {"type": "function_call_output", "call_id": "c2", "output": "b"}
        again: Json = {**body, "input": [*talk, *items, output, after]}
        assert wireglot.convert(again, "openai-responses", "openai-responses").body == again
        y = wireglot.exchange("openai-responses", provider, "m", state=x.state if state else None)
        back = rules[provider].read(y.request(again).body).ir
        parts = [part for message in back["messages"] for part in message["parts"]]
        called = [part for part in parts if part["type"] == "tool_call"]
        assert [(c["name"], c["arguments"]) for c in called] == [(name, said), ("shell", {})]
        results = [part for part in parts if part["type"] == "tool_result"]
        assert [r["tool_call_id"] for r in results] == ["c1", "c2"]


def test_a_shell_that_the_provider_runs_is_left_out_and_noted() -> None:
    hosted = {"type": "shell", "environment": {"type": "container_auto"}}
    body: Json = {"model": "m", "input": "Hi", "tools": [hosted]}
    assert wireglot.convert(body, "openai-responses", "openai-responses").body == body
    out = wireglot.convert(body, "openai-responses", "anthropic")
    assert "tools" not in out.body
    assert ("own-field", "/tools/0") in [(n.code, n.source_path) for n in out.notes]


@pytest.mark.parametrize(
    "environment", [{}, {"environment": None}, {"environment": {"type": "local"}}]
)
def test_a_call_of_a_shell_that_the_client_runs_is_a_call(environment: Json) -> None:
    body = ran({"action": SHELL, **environment})
    assert wireglot.convert(body, "openai-responses", "openai-responses", "response").body == body
    out = wireglot.convert(body, "openai-responses", "openai-chat", "response").body
    (call,) = out["choices"][0]["message"]["tool_calls"]
    assert (call["id"], json.loads(call["function"]["arguments"])) == ("c1", SHELL)


def test_a_call_of_a_shell_that_the_provider_ran_is_nobodys_to_answer() -> None:
    where = {"type": "container_reference", "container_id": "c"}
    body = ran({"action": SHELL, "environment": where})
    assert wireglot.convert(body, "openai-responses", "openai-responses", "response").body == body
    out = wireglot.convert(body, "openai-responses", "openai-chat", "response")
    assert "tool_calls" not in json.dumps(out.body)
    assert ("own-field", "/output/0") in [(n.code, n.source_path) for n in out.notes]


def ran(call: Json) -> Json:
    """A response that calls a shell."""
    item = {"type": "shell_call", "id": "sh_1", "call_id": "c1", "status": "completed", **call}
    said = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    return {**said, "output": [item]}


def test_the_head_of_a_session_is_not_later_than_its_first_line() -> None:
    said = [
        {"id": "1", "timestamp": f"2026-01-02T03:04:0{n}.000Z", "type": kind, "content": "Hi"}
        for n, kind in enumerate(("user", "gemini"))
    ]
    session = {"sessionId": "s", "startTime": said[0]["timestamp"], "messages": said}
    out = wireglot.convert(session, "gemini-cli", "codex", unit="session")
    times = [line["timestamp"] for line in out.body]
    assert times == sorted(times)
