"""Converse: its recordings, what is written for it before the service's rules, and its streams."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import pytest

import wireglot

from . import bedrock, streamsweep, sweep
from .oracles import bedrock as service
from .oracles.leaves import difference

RULES = wireglot.packaged()
NAME = bedrock.NAME
FILE = bedrock.TRAFFIC / f"{NAME}.jsonl.gz"
TO = "anthropic"  # what the suite crosses to; `make sweep` takes the others
needs_shared = pytest.mark.skipif(
    not FILE.is_file() or not service.TOOL.is_file(), reason="../shared is missing"
)


@needs_shared
def test_recorded_bodies_come_home_and_cross_without_a_word_lost() -> None:
    lines = list(sweep.exchanges([FILE]))[::2]
    outcome = sweep.sweep(lines, sweep.Settings(frozenset({(NAME, TO)}), perturb=2))
    failures = sweep.unforgiven(outcome)
    assert not failures, "\n".join(["", *sweep.groups(failures)])
    for unit in ("request", "response"):
        seen, total = (outcome.counts[NAME, NAME, unit, n] for n in ("pictured", "leaves"))
        assert seen >= 0.995 * total > 100


@needs_shared
def test_recorded_bodies_of_others_cross_and_come_back() -> None:
    lines = list(sweep.exchanges([bedrock.TRAFFIC / f"{TO}.jsonl.gz"]))[::20]
    outcome = sweep.sweep(lines, sweep.Settings(frozenset({(TO, NAME)}), perturb=2))
    failures = sweep.unforgiven(outcome)
    assert not failures, "\n".join(["", *sweep.groups(failures)])


@needs_shared
@pytest.mark.parametrize("source", bedrock.SOURCES)
@pytest.mark.parametrize("model", bedrock.MODELS)
def test_the_service_takes_what_is_written(source: str, model: str) -> None:
    bodies = [*bedrock.recorded(source, 20), *bedrock.made(source, 8)]
    told = {name: bedrock.refused(source, body, model) for name, body in bodies}
    assert len(told) > 8
    assert {name: one for name, one in told.items() if one} == {}


@needs_shared
def test_recorded_streams_come_home_and_fold_to_the_same_answer() -> None:
    streams = [one for one in streamsweep.recorded(str(FILE)) if len(one[1]) < 60]
    assert len(streams) > 8
    for name, frames in streams:
        assert service.heard(frames) == [], name
        for target in (NAME, TO, "openai-chat"):
            counts, failures = streamsweep.judged(RULES, frames, NAME, target, name, 0)
            assert counts["failed"] == 0, failures


@needs_shared
@pytest.mark.parametrize("source", bedrock.SOURCES)
def test_streams_that_are_written_are_read_by_the_parser_of_the_provider(source: str) -> None:
    found = streamsweep.recorded(str(bedrock.TRAFFIC / f"{source}.jsonl.gz"))
    for name, frames in islice((one for one in found if len(one[1]) < 40), 3):
        counts, failures = streamsweep.judged(RULES, frames, source, NAME, name, 0)
        assert counts["failed"] == 0, failures


def frames(text: str) -> list[Any]:
    """Read lines of `INDEX DELTA`, and put what begins and ends a stream around them."""
    made: list[Any] = [{"messageStart": {"role": "assistant"}}]
    for line in text.split("\n"):
        at, _, delta = line.strip().partition(" ")
        data = {"contentBlockIndex": int(at)}
        made.append(
            {"contentBlockDelta": {**data, "delta": json.loads(delta)}}
            if delta
            else {"contentBlockStop": data}
        )
    counts = {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}
    end = {"metadata": {"usage": counts, "metrics": {"latencyMs": 1}}}
    return [*made, {"messageStop": {"stopReason": "end_turn"}}, end]


CITED = """0 {"text": "Yes."}
0
1 {"citation": {"location": {"web": {"url": "https://a.b"}}}}
1
2 {"citation": {"title": "T", "location": {"web": {"url": "https://c.d"}}}}
2 {"text": " No."}
2"""


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini", "vertex"])
def test_a_citation_before_its_text_or_alone_is_said_in_frames_as_in_the_whole(target: str) -> None:
    t = RULES.translator(source=NAME, target=target)
    out = [new for frame in frames(CITED) for new in t.feed(frame)] + t.finish()
    reads = [
        RULES[target].read(body, "response").ir["candidates"][0]["parts"]
        for body in (RULES.collect(out, target), t.result.body)
    ]
    made, meant = (
        [one["url"] for part in parts for one in part.get("citations", ())] for parts in reads
    )
    assert made == meant == ["https://a.b", "https://c.d"]


def test_text_without_a_word_is_in_no_frame() -> None:
    call = {"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}
    said = {"role": "assistant", "tool_calls": [call]}
    deltas = [{"content": " "}, said, {"content": "\n"}]
    t = RULES.translator(source="openai-chat", target=NAME)
    out = [new for d in deltas for new in t.feed({"choices": [{"index": 0, "delta": d}]})]
    out += t.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    out += t.finish()
    assert not any("text" in frame.get("contentBlockDelta", {}).get("delta", {}) for frame in out)
    assert [next(iter(frame)) for frame in out[-2:]] == ["messageStop", "metadata"]


def test_a_document_of_what_is_no_block_is_noted() -> None:
    source = {"type": "content", "content": ["a"]}
    content = [{"type": "document", "source": source}]
    body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": content}]}
    for target, code in ((NAME, "no-place"), ("openai-chat", "unknown-part")):
        assert code in {n.code for n in RULES.convert(body, TO, target).notes}


def test_an_unknown_element_of_the_system_text_stays_there_at_home() -> None:
    body = {"system": [{"x": 1}], "messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    ir = RULES[NAME].read(body, "request").ir
    assert difference(body, RULES[NAME].write(ir, "request").body) is None
