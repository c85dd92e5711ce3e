"""Time functions against each other in one process, fairly.

Every round runs each function once over all payloads, in a shuffled order. The payloads' memory is
read before each of them, or one function pays for the caches that another left cold. Ratios are
medians of ratios within a round, so that a slow moment of the machine hits both sides. Time is
that of the processor.
"""

from __future__ import annotations

import gc
import itertools
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Run = Callable[[Any], object]
LEAST_ROUNDS = 5


class Bar(NamedTuple):
    """A figure that must not be above (or below) a limit."""

    name: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        word = "pass" if self.met else "FAIL"
        sign = ">=" if self.at_least else "<="
        return f"{word}  {self.name}: {self.value:.2f} {sign} {self.limit:.2f}"


class Times(NamedTuple):
    """Seconds per payload of every function in every round."""

    seconds: dict[str, list[float]]

    def micros(self, name: str) -> float:
        """Return the median time of one payload in microseconds."""
        return statistics.median(self.seconds[name]) * 1e6

    def ratio(self, name: str, base: str) -> float:
        """Return the median of the ratios within a round."""
        pairs = zip(self.seconds[name], self.seconds[base], strict=True)
        return statistics.median(mine / theirs for mine, theirs in pairs)


def touch(value: Any) -> int:
    """Read all of a JSON value's memory."""
    if isinstance(value, str):
        return value.count("\0")
    if isinstance(value, dict):
        return sum(map(touch, value.values()))
    if isinstance(value, list):
        return sum(map(touch, value))
    return 0


def race(
    runs: dict[str, tuple[Run, Sequence[Any]]],
    rounds: int,
    seed: int = 0,
    budget: float = 20.0,
    anew: Callable[[Any, int], Any] | None = None,
) -> Times:
    """Time every run over its payloads; all payload lists should be of one length.

    After `budget` seconds it ends, but never before the fifth round. `anew` makes another payload
    of each before it is used, by a number that it is given once.
    """
    serial = itertools.count()
    rng = random.Random(seed)
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for run, payloads in runs.values():
        run(payloads[0])
    gc.collect()
    gc.freeze()
    end = time.perf_counter() + budget
    try:
        for number in range(rounds):
            if number >= LEAST_ROUNDS and time.perf_counter() > end:
                break
            order = list(runs)
            rng.shuffle(order)
            for name in order:
                run, payloads = runs[name]
                if anew is not None:
                    payloads = [anew(payload, next(serial)) for payload in payloads]
                touch(list(payloads))
                start = time.process_time()
                for payload in payloads:
                    run(payload)
                seconds[name].append((time.process_time() - start) / len(payloads))
    finally:
        gc.unfreeze()
    return Times(seconds)
