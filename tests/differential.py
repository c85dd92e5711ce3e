"""Compare the compiled path with the interpreter on mutated recorded requests.

    python -m tests.differential [--count N] [--seed TEXT] [--jobs 2]

Requests are read alone, too, and mutants of their IR written. Prints how many mutants took which
way, and each kind of difference once. Exits 1 on any difference.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from wireglot.errors import WireglotError

from .mutate import some
from .test_compiled import DIALECTS, PAIRS, RULES, TRAFFIC, check, recorded
from .test_halves import check_read, check_write

BATCH = 10
LARGEST = 6000  # characters of a body that is mutated


def run(task: tuple[str, int]) -> tuple[Counter[Any], Counter[str]]:
    """Compare `count` mutants drawn with a seed; return the tiers and the differences."""
    seed, count = task
    chance = random.Random(seed)
    bodies: dict[str, list[Any]] = {
        name: [b for b in recorded(name) if len(str(b)) < LARGEST] for name in DIALECTS
    }
    tiers: Counter[Any] = Counter()
    faults: Counter[str] = Counter()

    def held(told: str, compare: Callable[..., Any], *given: Any) -> None:
        try:
            tiers[told, compare(*given)] += 1
        except (AssertionError, WireglotError) as fault:
            faults[f"{told}: {(str(fault).splitlines() or ['?'])[0][:200]}"] += 1

    for _ in range(count // BATCH):
        source, target = chance.choice(PAIRS)
        body = chance.choice(bodies[source])
        for mutant in some(body, BATCH, chance.random().hex()):
            held(f"{source} to {target}", check, source, target, mutant)
            held(f"reading {source}", check_read, source, mutant)
        ir = RULES[source].read(body, model="m").ir
        for mutant in some(ir, BATCH // 2, chance.random().hex()):
            held(f"writing {target}", check_write, target, mutant)
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
    tiers: Counter[Any] = Counter()
    faults: Counter[str] = Counter()
    with multiprocessing.Pool(options.jobs) as pool:
        for some_tiers, some_faults in pool.imap_unordered(run, tasks):
            tiers += some_tiers
            faults += some_faults
    for word in ("to", "reading", "writing"):
        some = {key: n for key, n in tiers.items() if word in key[0].split()}
        ways = Counter[Any]()
        for (_, way), n in some.items():
            ways[way] += n
        if word == "to":
            told = f"whole {ways[1]}, recovered {ways[3]}, interpreter {ways[4]}"
        else:
            told = f"{word} alone: compiled {ways[True]}, interpreter {ways[False]}"
        print(f"{ways.total()} mutants: {told}")
    print(f"different {faults.total()}")
    for fault, count in faults.most_common():
        print(f"{count:6d}  {fault}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
