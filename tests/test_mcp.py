"""MCP: what servers list, calls and results, to models and back; the protocol's types read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mcp_types
import pytest
from mcp_types import jsonrpc

import wireglot

RULES = wireglot.packaged()
EXAMPLES = Path(__file__).resolve().parents[2] / "shared" / "facts" / "wire-examples" / "mcp"
MODELS = ("anthropic", "openai-chat", "openai-responses", "gemini", "ollama")
PICTURE = "iVBORw0KGgo="
CONTENT: dict[str, Any] = {
    "text": {"content": [{"type": "text", "text": "12 degrees"}]},
    "error": {"content": [{"type": "text", "text": "timeout"}], "isError": True},
    "data": {
        "content": [{"type": "text", "text": '{"temp_c":12}'}],
        "structuredContent": {"temp_c": 12},
    },
    "media": {
        "content": [
            {"type": "text", "text": "a map"},
            {"type": "image", "data": PICTURE, "mimeType": "image/png"},
        ]
    },
    "texts": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
}
ANSWERED = [(model, kind) for model in MODELS for kind in CONTENT]


def judged(message: Any) -> None:
    """Hold a message against the types of the protocol; raises where it is none."""
    if "method" in message:
        jsonrpc.JSONRPCRequest.model_validate(message)
        mcp_types.CallToolRequestParams.model_validate(message["params"])
    elif "error" in message:
        jsonrpc.JSONRPCError.model_validate(message)
    else:
        jsonrpc.JSONRPCResponse.model_validate(message)
        kind = mcp_types.ListToolsResult if "tools" in message["result"] else None
        (kind or mcp_types.CallToolResult).model_validate(message["result"])


def talk(result: Any, id: str | int = 7) -> list[Any]:
    params = {"name": "get_weather", "arguments": {"city": "Paris", "days": 1.0}}
    call = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
    return [call, {"jsonrpc": "2.0", "id": id, "result": result}]


@pytest.mark.parametrize(("model", "kind"), ANSWERED)
def test_a_call_and_its_result_go_to_a_model_and_come_back(model: str, kind: str) -> None:
    said = talk(CONTENT[kind])
    there = RULES.convert(said, "mcp", model, unit="messages")
    back = RULES.convert(there.body, model, "mcp", unit="messages").body
    for message in back:
        judged(message)
    call, answer = back
    assert call["params"] == said[0]["params"]
    assert call["id"] == answer["id"]
    if kind == "text":
        assert answer["result"] == CONTENT[kind]
    if kind == "error" and model in ("anthropic", "gemini"):  # the others have no flag
        assert answer["result"] == CONTENT[kind]
    if kind == "data" and model == "gemini":
        assert answer["result"]["structuredContent"] == {"temp_c": 12}


@pytest.mark.parametrize("id", [0, 12, -3, "12", "abc", "007", "9" * 30])
def test_an_id_is_a_number_or_a_text_and_comes_home_as_it_was(id: str | int) -> None:
    said = talk(CONTENT["text"], id)
    assert RULES.convert(said, "mcp", "mcp", unit="messages").body == said
    heard = RULES.convert(said, "mcp", "openai-chat", unit="messages").body
    assert heard[0]["tool_calls"][0]["id"] == heard[1]["tool_call_id"] == str(id)


def test_an_error_of_the_protocol_is_what_the_model_hears() -> None:
    call = talk({})[0]
    said = [call, {"jsonrpc": "2.0", "id": 7, "error": {"code": -32602, "message": "Unknown tool"}}]
    heard = RULES.convert(said, "mcp", "anthropic", unit="messages").body[1]["content"][0]
    assert (heard["content"], heard["is_error"]) == ("Unknown tool", True)


@pytest.mark.parametrize("model", MODELS)
def test_what_a_server_lists_is_what_a_model_may_call(model: str) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = {"name": "get_weather", "description": "The weather.", "inputSchema": schema}
    listed = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool]}}
    there = RULES.convert(listed, "mcp", model).body
    back = RULES.convert(there, model, "mcp").body
    judged(back)
    assert back["result"]["tools"] == [tool]


def test_each_place_of_messages_that_are_lost_is_told() -> None:
    said = {"model": "m", "system": "Be kind.", "messages": [{"role": "user", "content": "hi"}]}
    out = RULES.convert(said, "anthropic", "mcp")
    lost = {note.source_path for note in out.notes if note.effect == "lost"}
    assert {"/messages", "/system"} <= lost


@pytest.mark.parametrize("trace", [False, True])
def test_of_a_talk_its_calls_and_results_are_said(trace: bool) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        {"role": "user", "content": "and?"},
    ]
    out = RULES.convert(said, "openai-chat", "mcp", unit="messages", trace=trace)
    assert [message["id"] for message in out.body] == ["c1", "c1"]
    lost = [(note.code, note.source_path) for note in out.notes if note.effect == "lost"]
    assert lost == [("no-place", "/0"), ("no-place", "/1"), ("no-place", "/4")]


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples of ../shared/facts are missing")
def test_the_examples_of_the_protocol_come_home_and_are_pictured() -> None:
    def read(name: str) -> Any:
        return json.loads((EXAMPLES / f"{name}.json").read_text("utf-8"))

    for unit, body in (
        ("request", read("tools_list")),
        ("error", read("error")),
        ("messages", [read("request"), read("response")]),
    ):
        home = RULES.convert(body, "mcp", "mcp", unit=unit)
        abroad = RULES.convert(body, "mcp", "anthropic", unit=unit)
        assert home.body == body
        assert not [note for note in abroad.notes if note.code in ("unknown-key", "unknown-part")]
