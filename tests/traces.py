"""Trace recorded exchanges over every pair of dialects, and print what is not told or told wrongly.

    python -m tests.traces FILES... [--pairs all|A>B,C>D] [--limit N] [--every N] [--change N]

Each leaf of an input must have a fate, and each leaf of an output an origin whose sources are
there. Then single leaves are changed, at most N of each body, as `tests.sweep` does it:

- `deaf`: an origin names a leaf alone; the leaf changes, the output does not, and no note names it;
- `untold`: an output leaf changes; neither its origin nor a note names the leaf that was changed.

Exit code 1: something was found.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import sweep
from .oracles import perturb
from .oracles.leaves import grouped, leaves, pointer_of, replaced, same

Json = Any
# A word that says what the things around it are; what changes with it is more than one place.
LABELS = ("type", "role")


class Fault(NamedTuple):
    """One leaf of which nothing, or something wrong, was told."""

    what: str
    source: str
    target: str
    unit: str
    exchange: str
    message: str


def traced(unit: sweep.Unit, target: str, body: Json = None) -> Any:
    """Convert one body with a trace."""
    return sweep.engine().rules.convert(
        unit.body if body is None else body,
        unit.dialect,
        target,
        unit.unit,
        unit.model,
        unit.stream,
        trace=True,
    )


def faults_of(unit: sweep.Unit, target: str, change: int, counts: Counter[str]) -> Iterator[Fault]:
    """Yield what is wrong with the trace of one conversion."""

    def fault(what: str, message: str) -> Fault:
        return Fault(what, unit.dialect, target, unit.unit, unit.exchange, message)

    if unit.unit not in sweep.engine().rules[target].model.units:
        return
    try:
        out = traced(unit, target)
    except sweep.engine().error:  # the target has no place for it
        return
    counts["conversions"] += 1
    for what, body, told in (
        ("no fate", unit.body, out.trace.fates),
        ("no origin", out.body, out.trace.origins),
    ):
        there = {pointer_of(steps): value for steps, value in leaves(body)}
        counts["leaves"] += len(there)
        for at, value in there.items():
            if at not in told or (what == "no origin" and not told[at].steps):
                yield fault(what, f"{at}: {json.dumps(value)[:60]}")
        for at in told.keys() - there.keys():
            if not at.startswith("envelope:"):
                yield fault(what, f"{at}: it is not there")
    for place in {source for origin in out.trace.origins.values() for source in origin.sources}:
        if place and perturb.steps_of(place, unit.body) is None:
            yield fault("no source", f"{place}: an origin names it, and it is not there")
    for what, message in changed(unit, target, out, change, counts) if change else ():
        yield fault(what, message)


def changed(
    unit: sweep.Unit, target: str, out: Any, number: int, counts: Counter[str]
) -> Iterator[tuple[str, str]]:
    """Change single leaves and hold what changes in the output against the trace."""
    result = perturb.Result()
    error = sweep.engine().error

    def convert(body: Json) -> Any:
        return traced(unit, target, body)

    probe = perturb._Probe(convert, unit.body, unit.dialect, unit.unit, error, "", result)
    before = {pointer_of(steps): value for steps, value in leaves(out.body)}
    tried = 0
    for steps, value in perturb._spread(leaves(unit.body), unit.exchange):
        if tried >= number:
            return
        for changes in probe.alternatives(steps, value, 1):
            try:
                other = convert(replaced(unit.body, changes))
            except error:
                continue
            tried += 1
            counts["changes"] += 1
            after = {pointer_of(s): v for s, v in leaves(other.body)}
            named = [pointer_of(s) for s in changes]
            yield from compared(named, before, after, out, other)


def compared(
    named: Sequence[str], before: dict[str, Json], after: dict[str, Json], out: Any, other: Any
) -> Iterator[tuple[str, str]]:
    """Hold one change against the trace."""
    moved = [at for at in before if at not in after or not same(before[at], after[at])]
    for source in named:
        fate = out.trace.fates.get(source)
        if fate is None or fate.kind != "carried" or fate.targets[0].startswith("envelope:"):
            continue
        # A number stays that stands for a name which was changed wherever it is borne.
        many = len(named) > 1
        heard = [to for to in fate.targets if not (many and isinstance(before.get(to), int))]
        alone = [to for to in heard if len(out.trace.origins[to].sources) == 1]
        noted = any(_covers(n.source_path, source) for o in (out, other) for n in o.notes)
        if alone and not noted and not any(to in moved for to in alone):
            yield "deaf", f"{source} -> {', '.join(fate.targets[:3])}"
    if before.keys() != after.keys() or any(s.rpartition("/")[2] in LABELS for s in named):
        return
    notes = [n for o in (out, other) for n in o.notes]
    for at in moved:
        origin = out.trace.origins[at]
        made = any(step.way in ("made", "hook") for step in origin.steps)
        told = any(_covers(one, s) for one in origin.sources for s in named)
        noted = any(_covers(n.source_path, s) for n in notes for s in named) or any(
            _covers(n.target_path, at) for n in notes
        )
        # Where nothing was said, what is said instead has nothing to be told of.
        new = all(out.trace.fates[s].kind == "silent" for s in named if s in out.trace.fates)
        if not (made or told or noted or new):
            yield "untold", f"{named[0]} changes {at}, which comes from {', '.join(origin.sources)}"


def _covers(place: str | None, leaf: str) -> bool:
    return place is not None and (leaf == place or leaf.startswith(f"{place}/"))


def groups(faults: Iterable[Fault]) -> Iterator[str]:
    """Write each distinct fault once, the most frequent first."""
    found: dict[tuple[str, ...], list[Fault]] = {}
    for one in faults:
        place = grouped(one.message.partition(": ")[0])
        found.setdefault((one.what, one.source, one.target, one.unit, place), []).append(one)
    for key, ones in sorted(found.items(), key=lambda item: -len(item[1])):
        what, source, target, unit, _ = key
        first = f"{ones[0].exchange} {ones[0].message}"
        yield f"{len(ones):6}  {what:10}{source}>{target} {unit}  {first}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.traces", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--pairs", default="all", help="`all`, or `A>B,C>D`")
    parser.add_argument("--limit", type=int, help="only so many exchanges of each file")
    parser.add_argument("--every", type=int, default=1, help="only each N-th exchange")
    parser.add_argument("--change", type=int, default=0, help="leaves changed of each body")
    options = parser.parse_args(arguments)
    pairs = None if options.pairs == "all" else set(map(sweep._pair, options.pairs.split(",")))
    started = time.monotonic()
    counts: Counter[str] = Counter()
    faults: list[Fault] = []
    table: Counter[tuple[str, str, str]] = Counter()
    for number, line in enumerate(sweep.exchanges(options.files, options.limit)):
        if number % options.every:
            continue
        for unit in sweep.units_of(json.loads(line), sweep.engine().dialects):
            for target in sweep.engine().targets:
                if pairs is None or (unit.dialect, target) in pairs:
                    found = list(faults_of(unit, target, options.change, counts))
                    table[unit.dialect, target, unit.unit] += 1
                    faults += found
    failed = Counter((f.source, f.target, f.unit) for f in faults)
    for (source, target, kind), done in sorted(table.items()):
        pair = f"{source} > {target}"
        print(f"{pair:36}{kind:10}{done:6} traced {failed[source, target, kind] or '-':>6} wrong")
    print(*groups(faults), sep="\n")
    print(", ".join(f"{n} {word}" for word, n in counts.items()))
    print(dict(Counter(f.what for f in faults)) or "nothing wrong")
    print(f"{time.monotonic() - started:.0f} s")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
