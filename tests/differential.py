"""Compare the compiled path with the interpreter on mutated recorded requests.

    python -m tests.differential [--count N] [--seed TEXT] [--jobs 2]

Prints how many mutants took which way, and each kind of difference once. Exits 1 on any difference.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from .mutate import some
from .test_compiled import DIALECTS, PAIRS, TRAFFIC, check, recorded

BATCH = 10
LARGEST = 6000  # characters of a body that is mutated


def run(task: tuple[str, int]) -> tuple[Counter[int], Counter[str]]:
    """Compare `count` mutants drawn with a seed; return the tiers and the differences."""
    seed, count = task
    chance = random.Random(seed)
    bodies: dict[str, list[Any]] = {
        name: [b for b in recorded(name) if len(str(b)) < LARGEST] for name in DIALECTS
    }
    tiers: Counter[int] = Counter()
    faults: Counter[str] = Counter()
    for _ in range(count // BATCH):
        source, target = chance.choice(PAIRS)
        for mutant in some(chance.choice(bodies[source]), BATCH, chance.random().hex()):
            try:
                tiers[check(source, target, mutant)] += 1
            except AssertionError as fault:
                faults[f"{source} to {target}: {str(fault).splitlines()[0][:200]}"] += 1
    return tiers, faults


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
    tiers: Counter[int] = Counter()
    faults: Counter[str] = Counter()
    with multiprocessing.Pool(options.jobs) as pool:
        for some_tiers, some_faults in pool.imap_unordered(run, tasks):
            tiers += some_tiers
            faults += some_faults
    print(
        f"{tiers.total() + faults.total()} mutants: whole {tiers[1]}, recovered {tiers[3]}, ",
        end="",
    )
    print(f"interpreter {tiers[4]}, different {faults.total()}")
    for fault, count in faults.most_common():
        print(f"{count:6d}  {fault}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
