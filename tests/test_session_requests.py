"""Requests become sessions, and sessions requests, on the way between dialects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import cli

from .oracles import sdk
from .oracles.leaves import leaves, pointer_of

RULES = wireglot.packaged()
PROVIDERS = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama")
SESSIONS = [
    name for name in RULES.dialects
    if "session" in RULES[name].model.units and "request" not in RULES[name].model.units
]  # fmt: skip
CALLS = [
    {"id": f"call_{n}", "type": "function", "function": {"name": "get_weather", "arguments": given}}
    for n, given in enumerate(('{"city":"Oslo"}', '{"city":"Rome"}'), 1)
]
TALK = {
    "model": "gpt-5",
    "messages": [
        {"role": "user", "content": "Is it warmer in Oslo or in Rome?"},
        {"role": "assistant", "content": "I look.", "tool_calls": CALLS},
        {"role": "tool", "tool_call_id": "call_1", "content": "4 degrees"},
        {"role": "tool", "tool_call_id": "call_2", "content": "22 degrees"},
        {"role": "assistant", "content": "In Rome."},
        {"role": "user", "content": "Thanks."},
    ],
}


def converted(body: Any, source: str, target: str, unit: str) -> wireglot.Conversion:
    return RULES.convert(body, source, target, unit, "model", clock=lambda: 1_700_000_000.0)


def said(ir: Any) -> Iterator[tuple[Any, ...]]:
    """Yield what was said, called and answered, in its order."""
    names: dict[str, str] = {}
    for message in ir["messages"]:
        for part in message["parts"]:
            if part["type"] == "text":
                yield message["role"], part["text"]
            elif part["type"] == "tool_call":
                names[part["id"]] = json.dumps(part["arguments"])
                yield "call", part["name"], names[part["id"]]
            elif part["type"] == "tool_result":
                yield "result", names[part["tool_call_id"]], part["value"]


MEANT = list(said(RULES["openai-chat"].read(TALK).ir))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("session", SESSIONS)
def test_a_request_becomes_a_session_and_that_a_request_of_each_provider(
    session: str, provider: str
) -> None:
    file = converted(TALK, "openai-chat", session, "session").body
    assert list(said(RULES[session].read(file, "session").ir)) == MEANT
    out = converted(file, session, provider, "request")
    assert list(said(RULES[provider].read(out.body).ir)) == MEANT
    if sdk.is_judged(provider, "request"):
        assert sdk.problems(provider, "request", out.body) == []


@pytest.mark.parametrize("session", SESSIONS)
def test_a_session_becomes_a_request_for_a_model_that_rules_tell_apart(session: str) -> None:
    file = converted(TALK, "openai-chat", session, "session").body
    for model in ("gpt-4o", "gpt-5", "gpt-5.6", "gemini-2.5-pro", "gemini-3-pro"):
        out = RULES.convert(file, session, "openai-chat", "request", model)
        assert list(said(RULES["openai-chat"].read(out.body).ir)) == MEANT


def test_no_model_gives_a_line_for_training_fields_of_a_request() -> None:
    asked = {**TALK, "model": "gpt-5.6", "reasoning_effort": "none", "temperature": 0.5}
    out = RULES.convert(asked, "openai-chat", "openai-finetune")
    assert list(out.body) == ["messages"]


@pytest.mark.parametrize("session", SESSIONS)
def test_each_leaf_of_a_session_has_a_fate_in_a_request(session: str) -> None:
    file = converted(TALK, "openai-chat", session, "session").body
    trace = RULES.convert(file, session, "anthropic", "request", "model", trace=True).trace
    assert trace is not None
    places = (pointer_of(at) for at, _ in leaves(file))
    assert not [at for at in places if at not in trace.fates]


def test_the_command_reads_a_file_of_an_agent_where_a_request_is_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = converted(TALK, "openai-chat", "claude-code", "session").body
    file = tmp_path / "session.jsonl"
    file.write_text(RULES["claude-code"].text(session), "utf-8")
    words = ["convert", str(file), "--from", "claude-code", "--to", "gemini", "--unit", "request"]
    assert cli.main([*words, "--model", "gemini-3-pro"]) == 0
    assert list(said(RULES["gemini"].read(json.loads(capsys.readouterr().out)).ir)) == MEANT


def test_a_target_without_the_unit_is_told() -> None:
    with pytest.raises(wireglot.UsageError, match="claude-code has no picture of a request"):
        converted(TALK, "openai-chat", "claude-code", "request")
