"""Hold the present engine, with its rules, against the engine and the rules of before.

    python -m tests.against [--only convert,fuzz] [--every N] [--jobs 2] [--mutants 100000]

The engine of before is that of `tests.old` (`make old` builds it). Bodies, notes, errors, streams,
exchanges and sessions of both are compared, on recorded and made payloads; what `check` and `test`
say of the packaged rules; and what both make of small rule files that are changed. Each difference
is told once for its cause, with a count and an example. What a line of `tests/against.txt` explains
is counted apart. Exit code 1: something is not explained.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import wireglot

from . import beside, old, rulesides
from .sides import EXPLAINED, Difference, Line, Side, differences, explained

SECTIONS = {**beside.SECTIONS, **rulesides.SECTIONS}
NONE: Mapping[str, int] = MappingProxyType({})
COUNTED = ("mutants", "cuts", "fuzz")  # what is made: as many as one likes
SHOWN = 3  # places of each cause


@dataclass(slots=True)
class Tally:
    """What was compared, and what differed."""

    compared: Counter[str] = field(default_factory=Counter)
    found: list[Difference] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take in another tally."""
        self.compared.update(other.compared)
        self.found += other.found


class Task(NamedTuple):
    """The part of a section that one process does."""

    section: str
    every: int
    part: int
    parts: int
    made: int = 0  # of what is made, where not the usual


def run(task: Task) -> Tally:
    """Compare the engines on a part of a section."""
    tally = Tally()
    before = Side(old.engine(), old.engine().packaged())
    now = Side(wireglot, wireglot.packaged())
    count = (task.made,) if task.made else ()
    for nth, case in enumerate(SECTIONS[task.section](task.every, *count)):
        if nth % task.parts == task.part:
            tally.compared[case.section] += 1
            tally.found += differences(case, case.run(before), case.run(now))
    return tally


def report(tally: Tally, lines: Sequence[Line]) -> Iterator[str]:
    """Yield what is printed of all that was compared."""
    open_: dict[tuple[str, str], list[Difference]] = {}
    excused: Counter[str] = Counter()
    for one in tally.found:
        line = next((line for line in lines if line.covers(one)), None)
        if line is None:
            open_.setdefault((one.section, one.what), []).append(one)
        else:
            line.used += 1
            excused[one.section] += 1
    yield f"{'section':12}{'compared':>10}{'explained':>10}{'different':>10}"
    for section, count in tally.compared.items():
        differ = sum(len(found) for key, found in open_.items() if key[0] == section)
        yield f"{section:12}{count:10}{excused[section] or '-':>10}{differ or '-':>10}"
    if any(line.used for line in lines):
        yield "\nexplained:"
    for line in lines:
        if line.used:
            yield f"{line.used:6}  {line.section} {line.where}: {line.reason}"
    if open_:
        yield "\ndifferent, each cause once:"
    for (section, what), found in sorted(open_.items(), key=lambda e: -len(e[1])):
        wheres = Counter(one.where for one in found)
        places = ", ".join(where for where, _ in wheres.most_common(SHOWN))
        more = f" and {len(wheres) - SHOWN} more" if len(wheres) > SHOWN else ""
        yield f"{len(found):6}  {section}: {what}"
        yield f"{'':8}in {places}{more}; e.g. {found[0].name}  {found[0].example[:240]}"


def compare(
    sections: Iterable[str], every: int = 1, jobs: int = 1, counts: Mapping[str, int] = NONE
) -> Tally:
    """Compare the engines in some sections."""
    total = Tally()
    tasks = [
        Task(section, every, part, jobs, counts.get(section, 0))
        for section in sections
        for part in range(jobs)
    ]
    if jobs == 1:
        for task in tasks:
            total.add(run(task))
    else:
        with multiprocessing.get_context("fork").Pool(jobs) as pool:
            for tally in pool.imap(run, tasks, chunksize=1):
                total.add(tally)
    return total


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.against", description=__doc__)
    every = list(SECTIONS)
    parser.add_argument("--only", default=",".join(every), help=f"some of {', '.join(every)}")
    for section in COUNTED:
        parser.add_argument(f"--{section}", type=int, default=0, help="how many are made")
    parser.add_argument("--every", type=int, default=1, help="only each Nth payload")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    sections = options.only.split(",")
    if unknown := set(sections) - set(every):
        parser.error(f"there is no section {', '.join(sorted(unknown))}")
    started = time.monotonic()
    try:
        old.engine()
    except old.Missing as error:
        print(error, file=sys.stderr)
        return 1
    if not beside.TRAFFIC.is_dir():
        print(f"skipped, for ../shared/traffic is not here: {', '.join(beside.SECTIONS)}")
        sections = [name for name in sections if name in rulesides.SECTIONS]
    counts = {section: getattr(options, section) for section in COUNTED}
    tally = compare(sections, options.every, options.jobs, counts)
    lines = explained(EXPLAINED.read_text("utf-8"))
    print(*report(tally, lines), sep="\n")
    if options.every == 1 and sections == every:
        for line in lines:
            if not line.used:
                print(f"tests/{EXPLAINED.name}:{line.number} explains nothing")
    rest = [one for one in tally.found if not any(line.covers(one) for line in lines)]
    print(f"\n{len(rest)} differences are not explained ({time.monotonic() - started:.0f} s)")
    return int(bool(rest))


if __name__ == "__main__":
    sys.exit(main())
