"""What is told of wrong calls and of rare losses, word for word: each by an input of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import wireglot
from wireglot.serve import relay

Json = Any
RULES = wireglot.packaged()
F = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}
CALL = {"type": "tool_call", "id": "c", "name": "f", "arguments": {}}


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: RULES.convert({}, "openai-chat", "gemini", options={"repair": 5}),
         "the option `repair` is `true` or `false`"),
        (lambda: wireglot.Policy({1: "note"}),  # type: ignore[dict-item]
         "a key of the policy is a text, not int"),
        pytest.param(
            lambda: wireglot.States(scope=5),  # type: ignore[arg-type]
            "`scope` is a text, not int", marks=pytest.mark.inside),  # in C it is a TypeError
        (lambda: list(RULES.frames({}, "adp")), "adp has no picture of a stream"),
        (lambda: RULES.translator("openai-chat", "adp"), "adp has no picture of a stream"),
        (lambda: RULES.collect([], "adp"), "adp has no picture of a stream"),
        (lambda: RULES["gemini-cli-stream"].read([], unit="messages"),
         "gemini-cli-stream has no conversation"),
        (lambda: RULES["openai-chat"].write({"input": 1, "by": [1]}, unit="usage"),
         "`by` holds an object of counts for each bucket; docs/ir.md says what an IR holds, "
         "at /by"),
        (lambda: RULES["openai-chat"].write(
            {**CALL, "kept": {"openai-chat": {"x": 1}}}, unit="tool_call"),
         "what is kept stands under JSON pointers; docs/ir.md says what an IR holds, "
         "at /kept/openai-chat/x"),
        (lambda: relay.single(RULES, "openai-chat", "m", None, "a\nb", None),
         "the key of the provider has signs that no header holds"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_told_why(call: Callable[[], Any], told: str) -> None:
    with pytest.raises(wireglot.WireglotError) as raised:
        call()
    assert str(raised.value) == told


@pytest.mark.parametrize(
    ("again", "code", "effect", "told"),
    [
        (F, "lifted", "moved", "the target declares tools in one place"),
        ({**F, "description": "Another."}, "no-place", "lost",
         "another tool of this name is declared before"),
    ],
)  # fmt: skip
def test_a_tool_that_is_declared_twice_is_declared_once(
    again: Json, code: str, effect: str, told: str
) -> None:
    more = {"type": "additional_tools", "role": "developer", "tools": [again]}
    body = {"model": "m", "tools": [F], "input": [{"role": "user", "content": "Hi"}, more]}
    out = RULES.convert(body, "openai-responses", "openai-chat")
    assert [tool["function"]["name"] for tool in out.body["tools"]] == ["f"]
    (note,) = out.notes
    assert (note.code, note.effect, note.source_path) == (code, effect, "/input/1/tools/0")
    assert note.message == told


def test_a_result_has_the_name_of_its_call_where_repair_is_asked_for() -> None:
    contents: list[Json] = [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": "c", "name": "g", "response": {"output": "1"}}}]},
    ]  # fmt: skip
    out = RULES.repair({"contents": contents}, dialect="gemini")
    assert out.body["contents"][2]["parts"][0]["functionResponse"]["name"] == "f"
    (note,) = out.notes
    assert (note.code, note.effect) == ("renamed", "changed")
    assert note.source_path == "/contents/2/parts/0/functionResponse/name"
    assert note.message == "a result of the call `f` has another name"


def test_an_error_in_a_stream_to_a_dialect_without_errors_is_noted() -> None:
    t = RULES.translator("openai-chat", "agent-sdk")
    made = t.feed({"error": {"message": "no", "type": "server_error"}})
    assert [*made, *t.finish()] == []
    told = [(n.code, n.effect, n.source_path) for n in t.notes if "an error" in n.message]
    assert told == [("no-place", "lost", "/0")]


def test_a_call_is_noted_that_lacks_the_signature_which_nothing_stands_for(tmp_path: Any) -> None:
    text = """\
wireglot: 2
dialect: one
shapes:
  text: {wire: {say: $text}}
  tool_call: {wire: {call: $id, name: $name, with: $arguments, seal: $signature (optional)}}
  tool_result: {wire: {of: $tool_call_id, gave: $value}, by: kind, cases: {text: {}}}
unions: {part: [text, tool_call, tool_result]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {by: u}}, assistant: {wire: {by: a}}, tool: {wire: {by: t}}}
  enforce: {calls: [signed]}
request: {wire: {turns: $messages as conversation}}
"""
    (tmp_path / "one.yaml").write_text(text, "utf-8")
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages: list[Json] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
    ]
    out = wireglot.load_rules(tmp_path).convert({"messages": messages}, "openai-chat", "one")
    (note,) = out.notes
    assert (note.code, note.effect) == ("unsigned", "kept")
    assert note.source_path == "/messages/1/tool_calls/0"
    told = "the target wants the signature that came with this call, and none is there"
    assert note.message == told


@pytest.mark.parametrize("tier", ["auto", "default", "flex", "priority"])
def test_a_tier_is_told_and_no_warning_where_there_is_none(tier: str) -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "service_tier": tier}
    out = RULES.convert(asked, "openai-chat", "cohere")
    assert [(n.code, n.source_path, n.severity) for n in out.notes] == [
        ("no-place", "/service_tier", "info")
    ]


@pytest.mark.parametrize(
    ("source", "body"),
    [
        ("openai-chat", {"messages": [{"role": "user", "content": "Hi"}]}),
        ("openai-responses", {"input": "Hi"}),
        ("gemini-interactions", {"input": "Hi"}),
    ],
)
def test_that_nothing_is_to_be_kept_arrives_or_is_told(source: str, body: Json) -> None:
    asked = {"model": "m", "store": False, **body}
    for target in ("openai-chat", "openai-responses", "gemini", "gemini-interactions"):
        assert RULES.convert(asked, source, target).body["store"] is False
        assert "store" not in RULES.convert({"model": "m", **body}, source, target).body
    for target in ("anthropic", "vertex", "bedrock-converse", "chat-compatible", "ollama"):
        out = RULES.convert(asked, source, target)
        assert "store" not in out.body
        kept = [n for n in out.notes if n.source_path == "/store"]
        assert [(n.effect, n.severity) for n in kept] == [("lost", "info")]


@pytest.mark.parametrize(
    ("kinds", "severity"), [(["TEXT"], "info"), (["TEXT", "IMAGE"], "warning")]
)
def test_counts_of_text_alone_are_no_warning_where_there_is_no_place(
    kinds: list[str], severity: str
) -> None:
    details = [{"modality": kind, "tokenCount": 2} for kind in kinds]
    usage = {"promptTokenCount": 4, "totalTokenCount": 4, "promptTokensDetails": details}
    said = {"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP"}
    answer = {"candidates": [said], "usageMetadata": usage, "modelVersion": "m"}
    out = RULES.convert(answer, "gemini", "bedrock-converse", unit="response")
    told = {n.source_path: n.severity for n in out.notes}
    assert told["/usageMetadata/promptTokensDetails"] == severity
    assert told["/modelVersion"] == "info"


DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}}
ANSWER = {
    "type": "json_schema",
    "json_schema": {"name": "a", "schema": {"type": "object", "properties": {}}},
}
JSON = "application/json"
CUSTOM = {"type": "custom", "custom": {"name": "k"}}


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize(
    ("source", "target", "asked", "code", "place"),
    [
        ("anthropic", "openai-chat", {"messages": [{"role": "user", "content": [DOCUMENT]}]},
         "document-as-text", "/messages/0/content"),  # the only text, which stands alone
        ("gemini", "openai-responses",
         {"contents": [{"parts": []}], "generationConfig": {"responseMimeType": JSON}},
         "filled-in", "/input"),
        ("anthropic", "openai-responses", {"model": "o3", "output_config": {"effort": "max"}},
         "reworded", "/reasoning/effort"),  # a word that is all that its shape says
        ("anthropic", "mistral", {"thinking": {"type": "enabled", "budget_tokens": 2000}},
         "budget-as-effort", "/reasoning_effort"),  # among the keys of the request
        ("openai-chat", "bedrock-converse", {"response_format": ANSWER},
         "schema-added", "/outputConfig/textFormat/structure/jsonSchema/schema"),  # in a text
        ("openai-chat", "gemini", {"tools": [F, CUSTOM]},
         "freeform-wrapped", "/tools/0/functionDeclarations/1"),  # in a run of tools
    ],
)  # fmt: skip
def test_a_note_says_where_what_was_changed_stands_now(
    source: str, target: str, asked: Json, code: str, place: str, trace: bool
) -> None:
    said = {"messages": [{"role": "user", "content": "Hi"}]} if "contents" not in asked else {}
    out = RULES.convert({**said, **asked}, source, target, trace=trace)
    assert [n.target_path for n in out.notes if n.code == code] == [place]
