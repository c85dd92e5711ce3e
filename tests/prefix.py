"""How much of each request of a session begins the next one, and is found in a cache.

    python -m tests.prefix [--every N]

The session is one of Claude Code of 41 turns (`../shared/traffic/agents.jsonl.gz`, whose texts are
filler), cut after each turn; the mark of what is cached and the billing line change with each
request, as its own do. For each target: the least share of a request, byte for byte, with which
the next one begins. First of the body as it is written, with the overlay that leaves out the
billing line. Then of what a model reads: the messages last and without marks of what is cached,
with the overlay, without it, and with all system text lifted. Exits 1 where Gemini gets less than
90 % of the first.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import wireglot

Json = Any
HERE = Path(__file__).parent
RECORDED = HERE.parent.parent / "shared" / "traffic" / "agents.jsonl.gz"
OVERLAY = "anthropic-no-billing-line"
TARGETS = (
    "gemini", "vertex", "openai-chat", "openai-responses", "ollama", "deepseek", "mistral",
    "cohere", "bedrock-converse", "gemini-interactions",
)  # fmt: skip
TRIALS = ("perplexity",)
MESSAGES = ("messages", "contents", "input")
HELD, LEAST = ("gemini", "vertex"), 0.9
LIFTED = {"system": "lift"}


def recorded() -> Iterator[Json]:
    """Yield the last request of each session of Claude Code that is long."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        for exchange in map(json.loads, lines):
            if exchange["vendor"] == "claude" and exchange["flags"]["turn"] > 40:
                yield exchange["request"]


def grown(last: Json, marked: bool = True) -> list[Json]:
    """Return the requests of a session, of its last one: as it was after each turn of the user.

    `marked`: the last message of each is marked, so that the prompt up to there is cached.
    """
    ends = [i for i, m in enumerate(last["messages"], 1) if m["role"] == "system"]
    return [_asked(last, end, marked) for end in ends]


def _asked(last: Json, end: int, marked: bool) -> Json:
    body = copy.deepcopy({**last, "messages": last["messages"][:end]})
    body["system"][0]["text"] = billing(end)
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            block.pop("cache_control", None)
            if message["role"] == "system":  # it was the last one, which is marked
                message["content"] = block["text"]
    if marked:
        text = body["messages"][-1]["content"]
        block = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
        body["messages"][-1]["content"] = [block]
    return body


def billing(turn: int) -> str:
    """Return the line with which Claude Code begins a request; its digest is of the whole body."""
    digest = hashlib.sha256(str(turn).encode()).hexdigest()
    said = f"cc_version=2.1.330.{digest[:3]}; cc_entrypoint=cli; cch={digest[3:8]};"
    return f"x-anthropic-billing-header: {said}"


def common(one: str, two: str) -> float:
    """Return the share of a text with which another begins."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == two[:middle] else (low, middle - 1)
    return low / len(one)


def last(body: Json) -> Json:
    """Return a body with its messages last, behind the system text and the tools."""
    return {key: body[key] for key in sorted(body, key=lambda key: key in MESSAGES)}


def shares(
    rules: wireglot.RuleSet,
    bodies: Sequence[Json],
    target: str,
    options: Mapping[str, Any],
    as_read: bool = False,
) -> list[float]:
    """Return the share of each request that begins the next: as written, or as a model reads it."""
    written = [rules.convert(b, "anthropic", target, options=options).body for b in bodies]
    texts = [json.dumps(last(body) if as_read else body) for body in written]
    return [common(one, two) for one, two in pairwise(texts)]


@cache
def rules_of(target: str, *overlays: str) -> wireglot.RuleSet:
    """Return the packaged rules, or those that are tried."""
    folder = [HERE / "trials"] if target in TRIALS else []
    return wireglot.load_rules(*folder, overlays=overlays)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the shares of all targets."""
    parser = argparse.ArgumentParser(prog="python -m tests.prefix", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only each Nth turn")
    every_target = ",".join((*TARGETS, *TRIALS))
    parser.add_argument("--only", default=every_target, help="these targets")
    options = parser.parse_args(arguments)
    every, targets = options.every, options.only.split(",")
    if not RECORDED.is_file():
        print("skipped, for ../shared/traffic is not here")
        return 0
    session = next(recorded())
    bodies, plain = grown(session)[::every], grown(session, marked=False)[::every]
    print(f"{len(bodies)} requests of Claude Code; the least share that begins the next one, in %")
    print(f"{'target':24}{'written':>9}{'read':>9}{'billing line':>14}{'lifted':>9}")
    least = 1.0
    for target in targets:
        rules = rules_of(target, OVERLAY)
        found = [
            min(shares(rules, bodies, target, {})),
            min(shares(rules, plain, target, {}, as_read=True)),
            min(shares(rules_of(target), plain, target, {}, as_read=True)),
            min(shares(rules, plain, target, LIFTED, as_read=True)),
        ]
        cells = [f"{100 * share:.2f}" for share in found]
        print(f"{target:24}{cells[0]:>9}{cells[1]:>9}{cells[2]:>14}{cells[3]:>9}")
        least = min(least, found[0]) if target in HELD else least
    return int(least < LEAST)


if __name__ == "__main__":
    sys.exit(main())
