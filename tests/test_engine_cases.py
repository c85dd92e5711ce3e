"""The cases of `tests/cases/engine.yaml`: what the engine once did wrong."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import wireglot

from .tables import read_yaml

CASES = read_yaml(Path(__file__).with_name("cases").joinpath("engine.yaml").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_case_converts_as_it_says(case: dict[str, Any]) -> None:
    given = copy.deepcopy(case["given"])
    out = wireglot.convert(
        given, case["source"], case["target"], case["unit"], options=case.get("options")
    )
    assert given == case["given"]
    assert out.body == case.get("expected", given)
    if "expected" in case:
        assert [[note.code, note.source_path] for note in out.notes] == case["notes"]


def test_a_call_that_was_added_to_a_session_is_written_as_its_own_dialect_does() -> None:
    """Parts that remember nothing go where new ones stand, not where some were only read."""
    rules = wireglot.packaged()["gemini-cli"]
    time = "2026-01-01T00:00:00.000Z"
    head = {"sessionId": "s", "projectHash": "x", "startTime": time, "lastUpdated": time}
    said = {"id": "1", "timestamp": time, "type": "user", "content": [{"text": "Hi"}]}
    ir = rules.read([head, said], "session").ir
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {}}
    told = {"type": "tool_result", "tool_call_id": "c", "name": "f", "kind": "text", "value": "R"}
    ir["messages"] += [{"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [told]}]
    out = rules.write(ir, "session")
    assert [note.effect for note in out.notes] == ["added"] * 3
    (record,) = out.body[2]["toolCalls"]
    assert record["result"][0]["functionResponse"]["response"] == {"output": "R"}
