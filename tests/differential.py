"""Compare functions with the walk, on mutated payloads of every dialect.

    python -m tests.differential [--count N] [--seed TEXT] [--jobs 2] [--save FOLDER]

Payloads are recorded requests and responses, as they are and as each dialect has them. Prints how
many mutants were taken, and each kind of difference once; saves the first payload of each. Exits 1
on any difference.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import multiprocessing
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from wireglot.errors import WireglotError

from .mutate import some
from .test_requests import RULES, TRAFFIC, check

BATCH = 10
LARGEST = 6000  # characters of a body that is mutated
SAMPLE = 12  # payloads that are converted into each dialect
RECORDED = (
    "openai-chat anthropic gemini openai-responses ollama mistral cohere bedrock-converse "
    "gemini-interactions deepseek openrouter groq"
).split()
HEADS = RECORDED[:4]
Payload = tuple[str, str, Any]  # a dialect, a unit, a body
Fault = tuple[str, str, str, Any]  # what differs, the target, and the payload


def recorded(dialect: str) -> Iterator[Payload]:
    """Yield recorded requests and responses of a dialect that are not too long."""
    with gzip.open(TRAFFIC / f"{dialect}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line, unit in itertools.product(lines, ("request", "response")):
            body = json.loads(line).get(unit)
            if isinstance(body, dict) and len(str(body)) < LARGEST:
                yield dialect, unit, body


def payloads(chance: random.Random) -> dict[tuple[str, str], list[Any]]:
    """Return bodies by dialect and unit: recorded ones, and some of these in each dialect."""
    found: dict[tuple[str, str], list[Any]] = defaultdict(list)
    known = {name: list(recorded(name)) for name in RECORDED}
    for dialect, unit, body in itertools.chain(*known.values()):
        found[dialect, unit].append(body)
    for dialect in sorted(RULES.dialects):
        for source, unit, body in chance.sample([p for one in HEADS for p in known[one]], SAMPLE):
            for wanted in ("request", "messages") if unit == "request" else ("response",):
                try:
                    if wanted == "messages":
                        said = RULES[source].read(body, unit).ir["messages"]
                        made = RULES[dialect].write(said, wanted).body
                    else:
                        made = RULES.convert(body, source, dialect, unit=unit).body
                except WireglotError:
                    continue
                found[dialect, wanted].append(made)
    return found


def run(task: tuple[str, int]) -> tuple[Counter[bool], Counter[str], dict[str, Fault]]:
    """Compare `count` mutants drawn with a seed; return outcomes, differences, one of each kind."""
    seed, count = task
    chance = random.Random(seed)
    bodies = payloads(chance)
    kinds = sorted(bodies)
    taken: Counter[bool] = Counter()
    faults: Counter[str] = Counter()
    first: dict[str, Fault] = {}
    for _ in range(count // BATCH):
        source, unit = chance.choice(kinds)
        target = chance.choice([source, *(name for name, known in kinds if known == unit)])
        for mutant in some(chance.choice(bodies[source, unit]), BATCH, chance.random().hex()):
            try:
                taken[check(source, target, mutant, unit)] += 1
            except Exception as fault:  # whatever is raised is told
                told = (str(fault) or repr(fault)).splitlines()[0][:200]
                what = f"{unit}, {source} to {target}: {told}"
                faults[what] += 1
                first.setdefault(what, (source, target, unit, mutant))
    return taken, faults, first


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison in some processes and print the sums."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args(arguments)
    if not TRAFFIC.is_dir():
        print("skipped: ../shared/traffic is not here")
        return 0
    tasks = [(f"{options.seed}/{n}", options.count // options.jobs) for n in range(options.jobs)]
    taken: Counter[bool] = Counter()
    faults: Counter[str] = Counter()
    first: dict[str, Fault] = {}
    with multiprocessing.Pool(options.jobs) as pool:
        for some_taken, some_faults, some_first in pool.imap_unordered(run, tasks):
            taken += some_taken
            faults += some_faults
            first = some_first | first
    print(f"{taken.total()} mutants: taken {taken[True]}, refused {taken[False]}")
    print(f"different {faults.total()}")
    for fault, count in faults.most_common():
        print(f"{count:6d}  {fault}")
    for nth, found in enumerate(first.values()) if options.save is not None else ():
        options.save.mkdir(parents=True, exist_ok=True)
        (options.save / f"{nth}.json").write_text(json.dumps(found), "utf-8")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
