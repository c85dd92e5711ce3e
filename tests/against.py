"""Hold the present engine, with its rules, against the engine and the rules of before.

    python -m tests.against [--only convert,migrate] [--every N] [--jobs 2]

The engine of before is that of `tests.old` (`make old` builds it). Bodies, notes, errors, streams,
exchanges and sessions of both are compared, on recorded and made payloads; what `check` and `test`
say of the packaged rules; and rule files of before, rewritten by `wireglot migrate`. Each
difference is told once for its cause, with a count and an example. What a line of
`tests/against.txt` explains is counted apart. Exit code 1: something is not explained.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import wireglot

from . import beside, old, oldrules
from .sides import EXPLAINED, Difference, Line, Side, differences, explained

SHOWN = 3  # places of each cause


@dataclass(slots=True)
class Tally:
    """What was compared, and what differed."""

    compared: Counter[str] = field(default_factory=Counter)
    found: list[Difference] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # more to print of a section

    def add(self, other: Tally) -> None:
        """Take in another tally."""
        self.compared.update(other.compared)
        self.found += other.found
        self.lines += other.lines


class Task(NamedTuple):
    """The part of a section that one process does."""

    section: str
    every: int
    part: int
    parts: int


def run(task: Task) -> Tally:
    """Compare the engines on a part of a section."""
    tally = Tally()
    if task.section in oldrules.SECTIONS:
        if task.part == 0:
            for section, count, found, lines in oldrules.SECTIONS[task.section](task.every):
                tally.compared[section] += count
                tally.found += found
                tally.lines += lines
        return tally
    before = Side(old.engine(), old.engine().packaged())
    now = Side(wireglot, wireglot.packaged())
    for nth, case in enumerate(beside.SECTIONS[task.section](task.every)):
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
    yield from tally.lines
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


def compare(sections: Iterable[str], every: int = 1, jobs: int = 1) -> Tally:
    """Compare the engines in some sections."""
    total = Tally()
    tasks = [Task(section, every, part, jobs) for section in sections for part in range(jobs)]
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
    every = [*beside.SECTIONS, *oldrules.SECTIONS]
    parser.add_argument("--only", default=",".join(every), help=f"some of {', '.join(every)}")
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
        sections = [name for name in sections if name in oldrules.SECTIONS]
    tally = compare(sections, options.every, options.jobs)
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
