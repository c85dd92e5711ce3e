"""Compare functions with the walk on mutated recorded requests.

    python -m tests.differential [--count N] [--seed TEXT] [--jobs 2]

Prints how many mutants were taken, and each kind of difference once. Exits 1 on any difference.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from wireglot.errors import WireglotError

from .mutate import some
from .test_requests import DIALECTS, PAIRS, TRAFFIC, check, recorded

BATCH = 10
LARGEST = 6000  # characters of a body that is mutated


def run(task: tuple[str, int]) -> tuple[Counter[bool], Counter[str]]:
    """Compare `count` mutants drawn with a seed; return the outcomes and the differences."""
    seed, count = task
    chance = random.Random(seed)
    bodies: dict[str, list[Any]] = {
        name: [b for b in recorded(name) if len(str(b)) < LARGEST] for name in DIALECTS
    }
    taken: Counter[bool] = Counter()
    faults: Counter[str] = Counter()

    for _ in range(count // BATCH):
        source, target = chance.choice(PAIRS)
        body = chance.choice(bodies[source])
        for mutant in some(body, BATCH, chance.random().hex()):
            try:
                taken[check(source, target, mutant)] += 1
            except (AssertionError, WireglotError) as fault:
                told = (str(fault).splitlines() or ["?"])[0][:200]
                faults[f"{source} to {target}: {told}"] += 1
    return taken, faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison in some processes and print the sums."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    if not TRAFFIC.is_dir():
        print("skipped: ../shared/traffic is not here")
        return 0
    tasks = [(f"{options.seed}/{n}", options.count // options.jobs) for n in range(options.jobs)]
    taken: Counter[bool] = Counter()
    faults: Counter[str] = Counter()
    with multiprocessing.Pool(options.jobs) as pool:
        for some_taken, some_faults in pool.imap_unordered(run, tasks):
            taken += some_taken
            faults += some_faults
    print(f"{taken.total()} mutants: taken {taken[True]}, refused {taken[False]}")
    print(f"different {faults.total()}")
    for fault, count in faults.most_common():
        print(f"{count:6d}  {fault}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
