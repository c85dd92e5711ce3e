"""The vendors around Chat and Messages: whose recordings are whose, and how each fares with them.

python -m tests.vendors
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wireglot

from . import streamsweep, sweep
from .family import ENDPOINTS, VENDORS

Json = Any
ROOT = Path(__file__).resolve().parent.parent
TRAFFIC = ROOT.parent / "shared" / "traffic"
FILES = (
    "openai-compat", "openai-chat", "xai-chat", "groq", "openrouter", "huggingface",
    "ollama-openai", "anthropic", "bedrock-invoke-anthropic",
)  # fmt: skip
TARGETS = ("openai-chat", "anthropic", "gemini")


def lines(vendor: str) -> int:
    """Count the lines of a rule file that say what the vendor does.

    Its head, comments, examples, lists of own fields and keys that stand alone are none of them.
    """
    text = (ROOT / "rules" / f"{vendor}.yaml").read_text("utf-8")
    head = r"(wireglot|dialect|extends|see|verified):.*"
    none = rf"#.*|{head}|examples: \[.*|\$[\w.]*own:.*|[\w.!-]+:(\s+#.*)?|"
    return sum(not re.fullmatch(none, line.strip()) for line in text.splitlines())


def recorded() -> Iterator[Json]:
    """Yield the exchanges of vendors, `format` being the dialect."""
    for file in FILES:
        with gzip.open(TRAFFIC / f"{file}.jsonl.gz", "rt", encoding="utf-8") as found:
            for line in found:
                exchange = json.loads(line)
                if file == "openai-chat" and exchange["vendor"] not in sweep.SAID:
                    continue
                kind = "openai-compat" if file == "openai-chat" else exchange["format"]
                dialect = sweep.dialect_of({**exchange, "format": kind}, VENDORS + ENDPOINTS)
                if dialect is not None:
                    yield {**exchange, "format": dialect}


def frames(exchange: Json) -> list[Any]:
    """Return the frames of a recorded stream."""
    return [streamsweep.data(event) for event in exchange.get("stream") or ()]


def main() -> int:
    """Print the table; return whether something failed."""
    rules = wireglot.packaged()
    exchanges = list(recorded())
    pairs = frozenset((vendor, target) for vendor in VENDORS + ENDPOINTS for target in TARGETS)
    print(
        f"{'vendor':21}{'lines':>6}{'recorded':>9}{'pictured':>10}{'failed':>7}{'streams':>8}{'failed':>7}"
    )
    missed = 0
    for vendor in VENDORS + ENDPOINTS:
        own = [exchange for exchange in exchanges if exchange["format"] == vendor]
        outcome = sweep.sweep(map(json.dumps, own), sweep.Settings(pairs, 4))
        failures = sweep.unforgiven(outcome)
        total = dict.fromkeys(("pictured", "leaves"), 0)
        for (*_, what), number in outcome.counts.items():
            if what in total:
                total[what] += number
        streams, wrong = 0, []
        for exchange in own:
            for target in (vendor, *streamsweep.TARGETS) if exchange.get("stream") else ():
                streams += 1
                counts, _ = streamsweep.judged(rules, frames(exchange), vendor, target, "", 0)
                wrong += [target] * counts["failed"]
        share = f"{100 * total['pictured'] / total['leaves']:.2f} %" if total["leaves"] else "-"
        print(
            f"{vendor:21}{lines(vendor):6}{len(own):9}{share:>10}{len(failures):7}{streams:8}{len(wrong):7}"
        )
        print(
            *(f"    {line}" for line in sweep.groups(failures)),
            sep="\n",
            end="\n" if failures else "",
        )
        missed += len(failures) + len(wrong)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
