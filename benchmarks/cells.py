"""One cell of the table of bars, body by body: `python -m benchmarks cells SOURCE TARGET UNIT`.

A cell is a source, a target and a unit; its figure is the time that its bodies take, as a multiple
of `json.loads` and `json.dumps` of the same bodies, the least of some rounds in one process.
Time is that of the processor, so that others who work on the machine count less.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from . import recorded
from .recorded import Body

Converted = Callable[[Body, Any], Any]  # a body that was recorded, and what its JSON says


class Measured(NamedTuple):
    """The least seconds of each body, and of its JSON; what failed is not among them."""

    bodies: list[Body]
    seconds: list[float]
    yard: list[float]
    failed: list[str]

    @property
    def ratio(self) -> float:
        return sum(self.seconds) / sum(self.yard) if self.bodies else float("nan")

    def each(self) -> list[float]:
        """Return the figure of each body."""
        return [one / two for one, two in zip(self.seconds, self.yard, strict=True)]


@contextmanager
def frozen() -> Iterator[None]:
    """Keep what is there out of the collector's sight."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def measured(convert: Converted, bodies: Sequence[Body], rounds: int) -> Measured:
    """Time the conversions of bodies, each beside its JSON."""
    good, failed = [], []
    for one in bodies:
        try:
            convert(one, json.loads(one.text))
            good.append(one)
        except Exception as error:
            failed.append(f"{one.name}: {type(error).__name__}: {str(error)[:80]}")
    seconds, yard = [[float("inf")] * len(good) for _ in range(2)]
    clock, loads, dumps = time.process_time, json.loads, json.dumps
    cost = min(-(clock() - clock()) for _ in range(100))  # of asking for the time
    for _ in range(rounds):
        for nth, one in enumerate(good):
            began = clock()
            body = loads(one.text)
            dumps(body)
            between = clock()
            convert(one, body)
            ended = clock()
            yard[nth] = min(yard[nth], between - began - cost)
            seconds[nth] = min(seconds[nth], ended - between - cost)
    return Measured(good, seconds, yard, failed)


def engine(target: str) -> Converted:
    """Return what converts bodies to a target, with notes."""
    import wireglot

    convert = wireglot.packaged().convert
    return lambda one, body: convert(body, one.source, target, one.unit, model=one.model)


def main(arguments: Sequence[str]) -> int:
    """Print one cell."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks cells", description=__doc__)
    parser.add_argument("source", choices=recorded.FILES | recorded.FURTHER)
    parser.add_argument("target", choices=recorded.FILES | recorded.FURTHER)
    parser.add_argument("unit", choices=recorded.UNITS)
    parser.add_argument("--bodies", type=int, default=12, help="how many, from small to large")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--agents", action="store_true", help="large requests of coding agents")
    parser.add_argument("--show", type=int, metavar="N", help="print this body and what it becomes")
    options = parser.parse_args(arguments)
    if not recorded.there():
        print("skipped: ../shared/traffic is not here")
        return 0
    found = (
        recorded.agents(options.source)
        if options.agents
        else recorded.small(options.source, options.unit)
    )
    convert = engine(options.target)
    with frozen():
        cell = measured(convert, recorded.spread(found, options.bodies), options.rounds)
    print(f"{'':4}{'bytes':>8}{'us':>10}{'us of JSON':>12}{'x':>8}{'notes':>7}")
    for nth, one in enumerate(cell.bodies):
        micros, yard = cell.seconds[nth] * 1e6, cell.yard[nth] * 1e6
        notes = len(convert(one, one.body).notes)
        print(
            f"{nth:4}{len(one.text):8}{micros:10.1f}{yard:12.1f}{micros / yard:8.2f}{notes:7}  "
            f"{one.name}"
        )
    print(f"{options.source}>{options.target} {options.unit}: {cell.ratio:.2f} x json")
    print(*cell.failed, sep="\n", end="\n" if cell.failed else "")
    if options.show is not None:
        _show(cell.bodies[options.show], convert)
    return 0


def _show(one: Body, convert: Converted) -> None:
    out = convert(one, one.body)
    print(f"\n{json.dumps(one.body, indent=1)}\n\nbecame\n\n{json.dumps(out.body, indent=1)}\n")
    for note in out.notes:
        print(note.code, note.effect, note.source_path, note.rule)
