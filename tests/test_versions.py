"""The versions of Anthropic's API and what its models take: the caller's choice, and data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wireglot

from .mutate import some

RULES = wireglot.packaged()
OLD, NEW = "2023-06-01", "2026-10-21"
SAMPLING = {"temperature": 0.5, "top_p": 0.9}
ASK = {"messages": [{"role": "user", "content": "q"}], "max_tokens": 9, **SAMPLING}
WEATHER = json.loads(
    (Path(__file__).parent.parent / "examples" / "weather" / "request.json").read_text("utf-8")
)
OLDER, NEWER = "claude-sonnet-4-5", "claude-opus-4-7"


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize(
    ("version", "model", "sampled"),
    [
        (None, OLDER, []),
        (NEW, OLDER, []),
        (OLD, "claude-sonnet-4-0", ["temperature", "top_p"]),
        (OLD, OLDER, ["temperature"]),
        ({"anthropic": OLD}, OLDER, ["temperature"]),
        (OLD, NEWER, []),
        (OLD, "claude-haiku-4-5-20251001", ["temperature"]),
        (OLD, "claude-fable-5-1", []),
        (NEW, NEWER, []),
    ],
)
def test_sampling_goes_to_the_versions_and_models_that_take_it(
    trace: bool, version: Any, model: str, sampled: list[str]
) -> None:
    options = {"version": version} if version else {}
    out = RULES.convert(
        {**ASK, "model": model}, "openai-chat", "anthropic", options=options, trace=trace
    )
    assert {k: out.body[k] for k in SAMPLING if k in out.body} == {k: SAMPLING[k] for k in sampled}
    lost = [str(n.source_path) for n in out.notes if n.effect == "lost"]
    assert sorted(lost) == [f"/{k}" for k in SAMPLING if k not in sampled]
    assert out.envelope is not None
    said = version.get("anthropic") if isinstance(version, dict) else version
    assert out.envelope.headers == {"anthropic-version": said or NEW}


@pytest.mark.parametrize(
    ("model", "budget", "thinking", "codes"),
    [
        (OLDER, 2048, {"type": "enabled", "budget_tokens": 2048}, []),
        (NEWER, 2048, {"type": "adaptive"}, ["budget-as-switch"]),
        (NEWER, 0, {"type": "disabled"}, []),
        ("claude-fable-5", -1, {"type": "adaptive"}, []),
        ("claude-fable-5", 0, None, ["no-place"]),
    ],
)
def test_a_budget_of_thinking_becomes_what_the_model_takes(
    model: str, budget: int, thinking: Any, codes: list[str]
) -> None:
    config = {"maxOutputTokens": 5000, "thinkingConfig": {"thinkingBudget": budget}}
    body = {"contents": [{"role": "user", "parts": [{"text": "q"}]}], "generationConfig": config}
    out = RULES.convert(body, "gemini", "anthropic", model=model)
    assert out.body.get("thinking") == thinking
    assert [n.code for n in out.notes] == codes


def test_what_stands_beside_a_budget_that_goes_is_noted() -> None:
    config = {"maxOutputTokens": 5000}
    config |= {"thinkingConfig": {"thinkingBudget": 2048, "includeThoughts": True}}  # type: ignore[dict-item]
    body = {"contents": [{"role": "user", "parts": [{"text": "q"}]}], "generationConfig": config}
    out = RULES.convert(body, "gemini", "anthropic", model=NEWER)
    assert {(n.code, n.source_path) for n in out.notes} == {
        ("budget-as-switch", "/generationConfig/thinkingConfig/thinkingBudget"),
    }
    assert out.body["thinking"] == {"type": "adaptive", "display": "summarized"}


@pytest.mark.parametrize("version", [None, OLD, NEW])
@pytest.mark.parametrize("model", [OLDER, NEWER])
def test_a_body_comes_back_as_it_was_in_every_version(version: str | None, model: str) -> None:
    thinking = {"type": "enabled", "budget_tokens": 2048}
    body = {**ASK, "model": model, "thinking": thinking, "top_k": 5}
    options = {"version": version} if version else None
    assert RULES.convert(body, "anthropic", "anthropic", options=options).body == body
    out = RULES.convert(body, "anthropic", "gemini", options=options)
    assert out.body["generationConfig"]["topK"] == 5


def test_a_body_of_the_older_version_is_written_for_the_newer() -> None:
    anthropic = RULES["anthropic"]
    body = {**ASK, "model": OLDER}
    ir = anthropic.read(body, options={"version": OLD}).ir
    assert anthropic.write(ir, options={"version": OLD}).body == body
    out = anthropic.write(ir)
    assert out.body == {k: v for k, v in body.items() if k not in SAMPLING}
    assert [n.code for n in out.notes] == ["no-place", "no-place"]


def test_a_version_that_does_not_exist_is_refused_with_those_that_do() -> None:
    there = f"there are: `{OLD}`, `{NEW}`"
    with pytest.raises(wireglot.UsageError, match=f"no variant for the version `2024`; {there}"):
        RULES.convert(
            {**ASK, "model": "m"}, "openai-chat", "anthropic", options={"version": "2024"}
        )


@pytest.mark.parametrize("model", [OLDER, NEWER, "claude-fable-5"])
@pytest.mark.parametrize("version", [None, OLD])
@pytest.mark.parametrize(
    ("source", "target"), [("openai-chat", "anthropic"), ("anthropic", "vertex")]
)
def test_functions_convert_each_version_and_model_as_the_walk_does(
    source: str, target: str, version: str | None, model: str
) -> None:
    options = {"version": version} if version else {}
    weather = RULES.convert(WEATHER, "openai-chat", "anthropic").body
    body = {**(WEATHER if source == "openai-chat" else weather), **SAMPLING, "model": model}
    for mutant in (body, *some(body, 25, f"{source}{target}{version}{model}")):
        found = []
        for trace in (False, True):
            try:
                out = RULES.convert(
                    mutant, source, target, model=model, options=options, trace=trace
                )
                text = json.dumps(out.body, sort_keys=True)
                found.append((text, sorted(map(repr, out.notes)), out.envelope))
            except wireglot.ConversionError as error:
                found.append(("error", [str(error)], None))
        assert found[0] == found[1]
