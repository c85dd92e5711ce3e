"""Count the notes of recorded payloads, by severity and code: are they worth reading?

    python -m tests.signal [--every N] [--codes N] [--only agents]

Requests, responses and the requests of agents are converted to each of five providers. Prints, for
each kind, how many notes a conversion has (median, 95th percentile and most), how many of them are
warnings or errors, and which codes are most. Exits 1 where warnings and errors are more than the
bars: 5 at the median, 20 on any request of an agent.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import wireglot
from wireglot.notes import causes

from . import sweep
from .test_requests import TRAFFIC

PROVIDERS = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama")
FILES = (*PROVIDERS, "deepseek", "openai-compat", "agents")
MEDIAN, MOST = 5, 20  # warnings and errors of a conversion


class Counts(NamedTuple):
    """What conversions of one kind note."""

    notes: list[int]
    lines: list[int]  # one for each cause
    loud: list[int]  # notes that are warnings and errors
    grave: list[int]  # lines that are
    codes: Counter[tuple[str, str, str]]  # by code, effect and severity
    worst: list[tuple[int, str]]


def units(file: str) -> Iterator[tuple[str, sweep.Unit]]:
    """Yield the recorded bodies of a file, with what kind each is."""
    with gzip.open(TRAFFIC / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            exchange = json.loads(line)
            if file == "openai-compat":
                exchange["format"] = "chat-compatible"
            for unit in sweep.units_of(exchange, wireglot.packaged().dialects):
                if unit.unit != "error":
                    yield ("agents' request" if file == "agents" else unit.unit), unit


def count(every: int, only: str = "") -> dict[str, Counts]:
    """Convert each Nth body to each provider but its own, and count."""
    found: dict[str, Counts] = {}
    rules = wireglot.packaged()
    for file in [only] if only else FILES:
        for kind, unit in list(units(file))[::every]:
            for target in PROVIDERS:
                if target == unit.dialect:
                    continue
                try:
                    notes = rules.convert(
                        unit.body, unit.dialect, target, unit.unit, unit.model, unit.stream
                    ).notes
                except wireglot.ConversionError:
                    continue
                lines = causes(notes)
                one = found.setdefault(kind, Counts([], [], [], [], Counter(), []))
                grave = sum(line.note.severity != "info" for line in lines)
                one.notes.append(len(notes))
                one.lines.append(len(lines))
                one.loud.append(sum(note.severity != "info" for note in notes))
                one.grave.append(grave)
                one.codes.update((note.code, note.effect, note.severity) for note in notes)
                one.worst.append((grave, f"{unit.dialect}>{target} {unit.exchange}"))
    return found


def _spread(numbers: list[int]) -> str:
    numbers = sorted(numbers)
    at = [statistics.median(numbers), numbers[int(len(numbers) * 0.95)], numbers[-1]]
    return "".join(f"{number:9.0f}" for number in at)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.signal", description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--codes", type=int, default=12)
    parser.add_argument("--only", default="")
    asked = parser.parse_args(arguments)
    if not TRAFFIC.is_dir():
        print("skipped: ../shared/traffic is not here")
        return 0
    met = True
    for kind, one in count(asked.every, asked.only).items():
        print(f"\n{kind}: {len(one.notes)} conversions     median      95 %      most")
        for said, numbers in (
            ("notes", one.notes),
            ("warnings and errors of them", one.loud),
            ("causes: lines that are read", one.lines),
            ("warnings and errors of them", one.grave),
        ):
            print(f"{said:36}{_spread(numbers)}")
        for (code, effect, severity), n in one.codes.most_common(asked.codes):
            print(f"{n:9d}  {severity:8} {code} {effect}")
        print("most of all:", ", ".join(f"{n} {said}" for n, said in sorted(one.worst)[-3:]))
        met &= statistics.median(one.grave) <= MEDIAN
        met &= kind != "agents' request" or max(one.grave) <= MOST
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
