"""Each vendor around Chat and Messages by its examples, its own recordings, and one pair."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import wireglot

from . import streamsweep, sweep, vendors, way, width
from .family import ENDPOINTS, VENDORS

RULES = wireglot.packaged()
TO = "anthropic"  # what the suite crosses each vendor to; `python -m tests.vendors` takes more
OF_EACH = width.times(12, 8)
RECORDED = (
    "kimi", "glm", "openrouter", "xai", "groq", "together", "azure-openai", "llama-cpp",
    "huggingface", "perplexity", "copilot", "gemini-openai", "ollama-openai", "snowflake",
    "databricks", "bedrock-anthropic", "vertex-anthropic",
)  # fmt: skip
needs_traffic = pytest.mark.skipif(
    not vendors.TRAFFIC.is_dir(), reason="the recorded exchanges of ../shared/traffic are missing"
)


@cache
def exchanges(vendor: str) -> list[Any]:
    found = [exchange for exchange in every() if exchange["format"] == vendor]
    return found[:: max(1, len(found) // OF_EACH)]


@cache
def every() -> list[Any]:
    return list(vendors.recorded())


@pytest.mark.parametrize("vendor", VENDORS + ENDPOINTS)
def test_a_vendor_says_little_beside_what_all_have_in_common(vendor: str) -> None:
    assert vendors.lines(vendor) <= 25


def test_the_page_lists_each_vendor_and_what_is_recorded_of_it() -> None:
    text = (Path(vendors.ROOT) / "docs" / "vendors.md").read_text("utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    assert [row[1].strip(" `") for row in rows] == [*VENDORS, *ENDPOINTS]
    assert {r[1].strip(" `") for r in rows if r[-2].strip() != "none"} == set(RECORDED)


@pytest.mark.parametrize("vendor", VENDORS + ENDPOINTS)
def test_calls_and_results_go_to_a_vendor_and_come_back(vendor: str) -> None:
    if vendor == "perplexity":
        pytest.skip("it is sent no tools")
    there = RULES.convert(way.REQUEST, "openai-chat", vendor)
    model = there.envelope.model if there.envelope is not None else None
    back = RULES.convert(there.body, vendor, "openai-chat", model=model)

    def calls(body: Any) -> list[Any]:
        said = [call for m in body["messages"] for call in m.get("tool_calls") or ()]
        found = [
            (c["id"], c["function"]["name"], json.loads(c["function"]["arguments"])) for c in said
        ]
        return found + [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]

    assert calls(back.body) == calls(way.REQUEST) != []


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("source", ["anthropic", "minimax-anthropic", "bedrock-anthropic"])
def test_no_endpoint_is_sent_the_signature_of_another(source: str, endpoint: str) -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}
    call = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "one"}
    said = [("user", "Hi"), ("assistant", [thought, call]), ("user", [result])]
    body = {"max_tokens": 9, "messages": [{"role": r, "content": c} for r, c in said]}
    out = RULES.convert(body, source, endpoint, model="claude-opus-4-6")
    signer = {name: RULES[name].model.origin["signature"] for name in (source, endpoint)}
    if source == endpoint:
        assert out.body["messages"] == body["messages"]
    elif signer[source] == signer[endpoint]:  # Claude's hosts
        assert "c2lnbmVk" in json.dumps(out.body)
    else:
        assert "c2lnbmVk" not in json.dumps(out.body)
        told = {"foreign-signature", "no-place"}
        assert any(n.code in told and "content/0" in (n.source_path or "") for n in out.notes)


@needs_traffic
@pytest.mark.parametrize("vendor", RECORDED)
def test_recorded_bodies_come_home_and_cross_without_a_word_lost(vendor: str) -> None:
    found = exchanges(vendor)
    pairs = frozenset({(vendor, TO)})
    outcome = sweep.sweep(map(json.dumps, found), sweep.Settings(pairs, perturb=1))
    failures = sweep.unforgiven(outcome)
    assert not failures, "\n".join(["", *sweep.groups(failures)])


@needs_traffic
@pytest.mark.parametrize("vendor", RECORDED)
def test_recorded_streams_come_home_and_fold_to_the_same_answer(vendor: str) -> None:
    streams = [e for e in exchanges(vendor) if e.get("stream") and len(e["stream"]) < 60][:4]
    for exchange in streams:
        for target in (vendor, TO):
            counts, failures = streamsweep.judged(
                RULES, vendors.frames(exchange), vendor, target, exchange["id"], 0
            )
            assert counts["failed"] == 0, failures
