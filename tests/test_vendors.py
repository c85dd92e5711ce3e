"""Each vendor around Chat by its examples, its own recordings, and one pair."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import wireglot

from . import streamsweep, sweep, vendors, way
from .family import VENDORS

RULES = wireglot.packaged()
TO = "anthropic"  # what the suite crosses each vendor to; `python -m tests.vendors` takes more
OF_EACH = 12
RECORDED = (
    "kimi", "glm", "openrouter", "xai", "groq", "together", "azure-openai", "llama-cpp",
    "huggingface", "perplexity", "copilot", "gemini-openai", "ollama-openai", "snowflake",
    "databricks",
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


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_vendor_says_little_beside_what_all_have_in_common(vendor: str) -> None:
    assert vendors.lines(vendor) <= 28


def test_the_page_lists_each_vendor_and_what_is_recorded_of_it() -> None:
    text = (Path(vendors.ROOT) / "docs" / "vendors.md").read_text("utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    assert [row[1].strip(" `") for row in rows] == list(VENDORS)
    assert {r[1].strip(" `") for r in rows if r[-2].strip() != "none"} == set(RECORDED)


@pytest.mark.parametrize("vendor", VENDORS)
def test_calls_and_results_go_to_a_vendor_and_come_back(vendor: str) -> None:
    if vendor == "perplexity":
        pytest.skip("it is sent no tools")
    there = RULES.convert(way.REQUEST, "openai-chat", vendor)
    back = RULES.convert(there.body, vendor, "openai-chat")

    def calls(body: Any) -> list[Any]:
        said = [call for m in body["messages"] for call in m.get("tool_calls") or ()]
        found = [
            (c["id"], c["function"]["name"], json.loads(c["function"]["arguments"])) for c in said
        ]
        return found + [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]

    assert calls(back.body) == calls(way.REQUEST) != []


@needs_traffic
@pytest.mark.parametrize("vendor", RECORDED)
def test_recorded_bodies_come_home_and_cross_without_a_word_lost(vendor: str) -> None:
    found = exchanges(vendor)
    pairs = frozenset({(vendor, TO)})
    outcome = sweep.sweep(map(json.dumps, found), sweep.Settings(pairs, perturb=1))
    forgiven = sweep.exemptions(sweep.EXCEPTIONS.read_text(encoding="utf-8"))
    failures = [f for f in outcome.failures if sweep.class_of(f, forgiven) is None]
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
