"""Further whole wires by their own recordings: home, across to one other, and from one."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import wireglot

from . import streamsweep, sweep, way
from .family import WIRES

ROOT = Path(__file__).resolve().parent.parent
TRAFFIC = ROOT.parent / "shared" / "traffic"
RULES = wireglot.packaged()
TO = "anthropic"  # what the suite crosses each to; `make sweep` takes all
OF_EACH = 16
needs_traffic = pytest.mark.skipif(
    not TRAFFIC.is_dir(), reason="the recorded exchanges of ../shared/traffic are missing"
)


@cache
def lines(file: str) -> list[str]:
    """Return some recorded exchanges, always the same."""
    found = list(sweep.exchanges([TRAFFIC / f"{file}.jsonl.gz"]))
    return found[:: max(1, len(found) // OF_EACH)]


@pytest.mark.parametrize("wire", WIRES)
def test_a_whole_wire_is_no_longer_than_a_page_or_two(wire: str) -> None:
    assert len((ROOT / "rules" / f"{wire}.yaml").read_text("utf-8").splitlines()) <= 350


@pytest.mark.parametrize("wire", WIRES)
def test_calls_and_results_go_there_and_come_back(wire: str) -> None:
    there = RULES.convert(way.REQUEST, "openai-chat", wire)
    back = RULES.convert(there.body, wire, "openai-chat")

    def calls(body: Any) -> list[Any]:
        """Name calls by their number: an id may be another one there."""
        said = [call for m in body["messages"] for call in m.get("tool_calls") or ()]
        ids = [call["id"] for call in said]
        made = [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in said]
        results = [m for m in body["messages"] if m["role"] == "tool"]
        return made + [(ids.index(m["tool_call_id"]), m["content"]) for m in results]

    assert calls(back.body) == calls(way.REQUEST) != []


@needs_traffic
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("there", [True, False])
def test_recorded_bodies_come_home_and_cross(wire: str, there: bool) -> None:
    file, pair = (wire, (wire, TO)) if there else (TO, (TO, wire))
    outcome = sweep.sweep(lines(file), sweep.Settings(frozenset({pair}), perturb=1))
    forgiven = sweep.exemptions(sweep.EXCEPTIONS.read_text(encoding="utf-8"))
    failures = [f for f in outcome.failures if sweep.class_of(f, forgiven) is None]
    assert not failures, "\n".join(["", *sweep.groups(failures)])
    for unit in ("request", "response") if there else ():
        seen, total = (outcome.counts[wire, wire, unit, n] for n in ("pictured", "leaves"))
        assert seen >= 0.97 * total > 0, f"{unit}: {seen} of {total} leaves are pictured"


@needs_traffic
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("there", [True, False])
def test_recorded_streams_come_home_and_fold_to_the_same_answer(wire: str, there: bool) -> None:
    source, targets = (wire, (wire, TO)) if there else (TO, (wire,))
    streams = list(streamsweep.recorded(str(TRAFFIC / f"{source}.jsonl.gz")))
    short = [one for one in streams if len(one[1]) < 40]
    for name, frames in short[:: max(1, len(short) // 4)]:
        for target in targets:
            counts, failures = streamsweep.judged(RULES, frames, source, target, name, 2)
            assert (counts["failed"], failures) == (0, [])
