"""Three invented providers and the packaged ones: what is read is written, or named by a note."""

from __future__ import annotations

import copy
import itertools
from pathlib import Path
from typing import Any

import pytest

import wireglot

from .oracles.leaves import leaves, names, pointer_of, replaced
from .test_oracles import ANTHROPIC, GEMINI, OPENAI

FOLDER = Path(__file__).parent / "dialects"
PNG = "iVBORw0KGgo="


def _call(id_: str) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}


SAID = {"type": "output_text", "annotations": []}
BODIES: dict[str, Any] = {
    "blocks": {
        "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"text": "What is this?"},
                    {"cachePoint": {"type": "default"}},
                    {"image": {"format": "png", "source": {"bytes": PNG}}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "AAA"}}},
                    {"text": "I look."},
                    {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}},
                    {"toolUse": {"toolUseId": "t2", "name": "f", "input": {"a": 2}}},
                    {"toolUse": {"toolUseId": "t3", "name": "f", "input": {}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": "t1",
                            "content": [
                                {"text": "Seen."},
                                {"image": {"format": "png", "source": {"bytes": PNG}}},
                            ],
                            "status": "success",
                        }
                    },
                    {"toolResult": {"toolUseId": "t2", "content": [{"json": {"t": 22}}]}},
                    {
                        "toolResult": {
                            "toolUseId": "t3",
                            "content": [{"text": "Timeout."}],
                            "status": "error",
                        }
                    },
                    {"cachePoint": {"type": "default"}},
                    {"text": "Go on."},
                ],
            },
        ],
        "inferenceConfig": {"maxTokens": 100, "temperature": 0.5, "stopSequences": ["END"]},
        "toolConfig": {
            "tools": [
                {
                    "toolSpec": {
                        "name": "f",
                        "description": "Look.",
                        "inputSchema": {"json": {"type": "object"}},
                    }
                },
                {"cachePoint": {"type": "default"}},
            ],
            "toolChoice": {"any": {}},
        },
    },
    "items": {
        "model": "m",
        "input": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "What is this?"},
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": t} for t in ("One.", "Two.")],
                "encrypted_content": "AAA",
            },
            {
                "type": "message",
                "role": "assistant",
                "id": "msg_1",
                "status": "completed",
                "content": [SAID | {"text": "I look."}, SAID | {"text": "Closely."}],
            },
            {"role": "assistant", "content": "Still looking."},
            {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "BBB"},
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "c1",
                "name": "f",
                "arguments": '{"a": 1}',
            },
            {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "{"},
            {"type": "search_call", "id": "ws_1", "status": "completed"},
            {
                "type": "function_call_output",
                "call_id": "c1",
                "output": [
                    {"type": "input_text", "text": "Seen."},
                    {
                        "type": "input_image",
                        "detail": "auto",
                        "image_url": f"data:image/png;base64,{PNG}",
                    },
                ],
            },
            {"type": "function_call_output", "id": "o2", "call_id": "c2", "output": "Cold."},
            {"role": "user", "content": [{"type": "input_text", "text": "Go on."}]},
        ],
        "tools": [
            {
                "type": "function",
                "name": "f",
                "description": "Look.",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
        "tool_choice": {"type": "function", "name": "f"},
        "max_output_tokens": 100,
        "reasoning": {"effort": "low"},
    },
    "plans": {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "What is this?"}]},
            {
                "role": "assistant",
                "tool_plan": "I look.",
                "content": [{"type": "thinking", "thinking": "Hm."}],
                "tool_calls": [_call("c1"), _call("c2")],
                "citations": [{"start": 0, "end": 2}],
            },
            {
                "role": "tool",
                "tool_call_id": "c1",
                "content": [{"type": "document", "document": {"id": "1", "data": {"t": 22}}}],
            },
            {"role": "tool", "tool_call_id": "c2", "content": "Cold."},
            {"role": "assistant", "content": [{"type": "text", "text": "It is cold."}]},
            {"role": "user", "content": "Go on."},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "f", "description": "L", "parameters": {"type": "object"}},
            }
        ],
        "tool_choice": "REQUIRED",
        "p": 0.5,
        "stop_sequences": ["END"],
    },
    "openai-chat": OPENAI,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
}
RESPONSES: dict[str, Any] = {
    "blocks": {
        "output": {"message": BODIES["blocks"]["messages"][1]},
        "stopReason": "tool_use",
        "usage": {
            "inputTokens": 10,
            "outputTokens": 5,
            "totalTokens": 19,
            "cacheReadInputTokens": 4,
        },
        "metrics": {"latencyMs": 7},
    },
    "items": {
        "id": "resp_1",
        "object": "response",
        "created_at": 5,
        "model": "m",
        "output": BODIES["items"]["input"][2:4] + BODIES["items"]["input"][6:7],
        "status": "completed",
        "usage": {
            "input_tokens": 14,
            "input_tokens_details": {"cached_tokens": 4},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": 19,
        },
    },
    "plans": {
        "id": "p1",
        "finish_reason": "TOOL_CALL",
        "message": BODIES["plans"]["messages"][2],
        "usage": {
            "billed_units": {"input_tokens": 9},
            "tokens": {"input_tokens": 10, "output_tokens": 5},
            "cached_tokens": 4,
        },
    },
}
INVENTED = ("blocks", "items", "plans")
PAIRS = [pair for pair in itertools.permutations(BODIES, 2) if set(pair) & set(INVENTED)]


@pytest.fixture(scope="module")
def rules() -> Any:
    return wireglot.load_rules(FOLDER)


@pytest.mark.parametrize("dialect", INVENTED)
def test_at_home_nothing_changes(rules: Any, dialect: str) -> None:
    body = BODIES[dialect]
    assert rules.convert(body, dialect, dialect)[:2] == (body, ())
    ir = rules[dialect].read(body).ir
    assert rules[dialect].write(copy.deepcopy(ir)).body == body


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}x" if isinstance(value, str) else "x"


def _converted(rules: Any, body: Any, pair: tuple[str, str], **more: str) -> Any:
    try:
        return rules.convert(body, *pair, **more)
    except wireglot.ConversionError:
        return None


def _unheard(rules: Any, body: Any, pair: tuple[str, str], **more: str) -> list[str]:
    """Return the leaves that can change without a change of the output or a note that names it."""
    base = rules.convert(body, *pair, **more)
    unheard = []
    for steps, value in leaves(body):
        run = _converted(rules, replaced(body, {steps: _other(value)}), pair, **more)
        if run is None or run[::2] != base[::2]:
            continue
        pointer = pointer_of(steps)
        if not any(names(n.source_path, pointer) for n in (*base.notes, *run.notes)):
            unheard.append(pointer)
    return unheard


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_each_leaf_is_written_or_named(rules: Any, pair: tuple[str, str]) -> None:
    assert _unheard(rules, BODIES[pair[0]], pair, model="m") == []


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_going_there_and_back_settles_after_one_round(rules: Any, pair: tuple[str, str]) -> None:
    def round_trip(body: Any) -> Any:
        there = rules.convert(body, *pair, model="m")
        return rules.convert(there.body, *reversed(pair), model="m").body

    once = round_trip(BODIES[pair[0]])
    assert round_trip(once) == once


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_calls_and_results_arrive_whole(rules: Any, pair: tuple[str, str]) -> None:
    one = rules[pair[0]].read(BODIES[pair[0]]).ir
    two = rules[pair[1]].read(rules.convert(BODIES[pair[0]], *pair, model="m").body).ir

    def found(ir: Any, kind: str) -> list[tuple[Any, ...]]:
        parts = [p for m in ir["messages"] for p in m["parts"] if p["type"] == kind]
        return [(p.get("id") or p.get("tool_call_id"), p["name"]) for p in parts]

    for kind in ("tool_call", "tool_result"):
        assert found(one, kind) == found(two, kind)
        assert len(found(one, kind)) > 0


def test_every_note_points_at_what_is_there(rules: Any) -> None:
    for pair in PAIRS:
        out = rules.convert(BODIES[pair[0]], *pair, model="m")
        for note in out.notes:
            for path, body in ((note.source_path, BODIES[pair[0]]), (note.target_path, out.body)):
                value = body
                for key in (path or "").split("/")[1:]:
                    name = key.replace("~1", "/").replace("~0", "~")
                    value = value[int(name)] if isinstance(value, list) else value[name]


@pytest.mark.parametrize("source", INVENTED)
@pytest.mark.parametrize("target", BODIES)
def test_a_response_keeps_its_calls_its_stop_and_its_counts(
    rules: Any, source: str, target: str
) -> None:
    body = RESPONSES[source]
    out = rules.convert(body, source, target, unit="response")
    if source == target:
        assert out[:2] == (body, ())
    one = rules[source].read(body, unit="response").ir
    two = rules[target].read(out.body, unit="response").ir
    calls = [
        [(p["id"], p["name"], p["arguments"]) for p in ir["candidates"][0]["parts"] if "name" in p]
        for ir in (one, two)
    ]
    assert calls[0] == calls[1] != []
    assert one["candidates"][0]["stop_reason"] == two["candidates"][0]["stop_reason"] == "tool_use"
    counts = [(ir["usage"]["input"], ir["usage"]["cache_read"]) for ir in (one, two)]
    assert counts[0] == counts[1]
    assert _unheard(rules, body, (source, target), unit="response") == []


@pytest.mark.parametrize("options", [{}, {"seed": 7}, {"none": "such"}])
def test_what_a_stream_asks_for_is_not_put_into_the_body_that_was_given(options: Any) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    body |= {"stream_options": {"include_obfuscation": False}, **options}
    given = copy.deepcopy(body)
    for target in ("chat-compatible", "deepseek"):
        out = wireglot.convert(body, source="openai-chat", target=target)
        assert out.body["stream_options"] == {"include_obfuscation": False, "include_usage": True}
        assert [n.target_path for n in out.notes if n.code == "filled-in"] == [
            "/stream_options/include_usage"
        ]
        assert body == given


def test_a_note_keeps_its_place_beside_what_a_stream_asks_for() -> None:
    more = """extends: ollama
request: {wire: {o: {k: $n (fill 3)}}}
stream: {asks: {usage: {o: {all: true}}}}
"""
    head = "wireglot: 2\ndialect: one\nsee: https://example.com\nverified: 2026-11-21\n"
    rules = wireglot.load_rules({"one.yaml": head + more})
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    out = rules.convert(body, source="openai-chat", target="one")
    assert out.body["o"] == {"k": 3, "all": True}
    assert {n.target_path for n in out.notes if n.code == "filled-in"} == {"/o/k", "/o/all"}


WHO = """wireglot: 2
dialect: acme
extends: openai-chat
see: https://acme.example/api
verified: 2026-11-22
shapes:
  who:
    wire: {x-user: $user}
    examples: [{wire: {x-user: u}, ir: {user: u}}]
envelope: {wire: {method: POST, path: /v1/chat, headers: $. as who (optional)}}
request: {wire: {user: $removed}}
"""


def test_an_envelope_is_of_its_own_request(tmp_path: Path) -> None:
    """What is remembered of envelopes knows the fields that shapes in them take."""
    (tmp_path / "acme.yaml").write_text(WHO, "utf-8")
    rules = wireglot.load_rules(tmp_path)
    for user in ("one", "two", None, "one"):
        body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        body |= {} if user is None else {"user": user}
        envelope = rules.convert(body, "openai-chat", "acme").envelope
        assert envelope is not None
        assert envelope.headers == ({} if user is None else {"x-user": user})
