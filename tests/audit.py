"""Hold audits against recorded exchanges and against the payloads that they were made of.

    python -m tests.audit FILES... [--every N] [--limit N] [--lines]

Each request and response is converted to every dialect: the code of each note must stand in the
audit of that pair and unit, and mostly with the wire path that the note names. Then, with
`--lines`, each line of these audits must be provoked by its own payload.

Exit code 1: a code is listed nowhere, or a line is not provoked.
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

from wireglot.audit import Audit, Line
from wireglot.paths import Patterns

from . import sweep

NOTED = ("lost", "changed", "moved", "added", "kept")
INTERPRETED = {"engine": "interpreted"}


class Unlisted(NamedTuple):
    """A note of a recorded exchange that an audit does not list, or not with this path."""

    source: str
    target: str
    unit: str
    code: str
    path: str | None


class Held:
    """What recorded notes said that audits do not."""

    def __init__(self, rules: Any, dialects: Iterable[str] = ()) -> None:
        """Hold a rule set; `dialects` are those to convert to, all where none are named."""
        self.rules, self.dialects = rules, tuple(dialects) or rules.dialects
        self.counts: Counter[tuple[str, str]] = Counter()  # by source and what is counted
        self.codes: dict[Unlisted, str] = {}  # with one exchange that shows it
        self.paths: dict[Unlisted, str] = {}
        self.pairs: dict[tuple[str, str, str], Audit] = {}
        self.known: dict[tuple[str, str, str], frozenset[Any]] = {}

    def audit(self, source: str, target: str, unit: str) -> Audit:
        """Return an audit with its examples."""
        key = (source, target, unit)
        if key not in self.pairs:
            self.pairs[key] = self.rules.audit(*key, examples=True)
            self.known[key] = frozenset((x.code, x.source) for x in self.pairs[key].lines)
        return self.pairs[key]

    def hold(self, unit: sweep.Unit) -> None:
        """Hold the notes of a body, to every dialect, against the audits."""
        patterns = Patterns(self.rules[unit.dialect].model, unit.unit)
        for target in self.dialects:
            if target == unit.dialect or unit.unit not in self.rules[target].model.units:
                continue
            found = self.audit(unit.dialect, target, unit.unit)
            about = (unit.body, unit.dialect, target, unit.unit, unit.model, unit.stream)
            notes = self.rules.convert(*about).notes
            self.counts[unit.dialect, "conversions"] += 1
            for note in notes:
                self.counts[unit.dialect, "notes"] += 1
                path = patterns.of(note)
                what = Unlisted(unit.dialect, target, unit.unit, note.code, path)
                if note.code not in found.codes:
                    self.counts[unit.dialect, "codes"] += 1
                    self.codes.setdefault(what, unit.exchange)
                elif (note.code, path) not in self.known[unit.dialect, target, unit.unit]:
                    self.counts[unit.dialect, "paths"] += 1
                    self.paths.setdefault(what, unit.exchange)


def provoked(rules: Any, audit: Audit, line: Line) -> bool:
    """Tell whether converting the payload of a line shows it."""
    said = line.example
    about = (audit.source, audit.target, audit.unit, said["model"], said["stream"])
    patterns = Patterns(rules[audit.source].model, audit.unit)
    if line.effect == "refused":
        try:
            rules.convert(said["body"], *about)
        except rules_error():
            return True
        return False
    if line.effect in NOTED:
        notes = rules.convert(said["body"], *about, options=INTERPRETED).notes
        return any((n.effect, n.code, patterns.of(n)) == _key(line) for n in notes)
    trace = rules.convert(said["body"], *about, trace=True).trace
    return any(
        fate.kind == line.effect and patterns.pattern(at) == line.source
        for at, fate in trace.fates.items()
    )


def _key(line: Line) -> tuple[Any, ...]:
    return (line.effect, line.code, line.source)


def rules_error() -> type[Exception]:
    """Return what a refused conversion raises."""
    import wireglot

    return wireglot.ConversionError


def unprovoked(rules: Any, audits: Iterable[Audit]) -> Iterator[tuple[Audit, Line]]:
    """Yield the lines that their own payloads do not show."""
    for audit in audits:
        for line in audit.lines:
            if not provoked(rules, audit, line):
                yield audit, line


def main(arguments: Sequence[str] | None = None) -> int:
    """Hold all that is asked for and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only each N-th exchange")
    parser.add_argument("--limit", type=int, help="exchanges of a file")
    parser.add_argument("--lines", action="store_true", help="provoke each line, too")
    chosen = parser.parse_args(arguments)
    began = time.perf_counter()
    held = Held(sweep.engine().rules)
    for file in chosen.files:
        for number, text in enumerate(sweep.exchanges([file], chosen.limit)):
            if number % chosen.every == 0:
                for unit in sweep.units_of(json.loads(text), held.rules.dialects):
                    held.hold(unit)
    heads = ("conversions", "notes", "codes", "paths")
    print(f"{'from':20}" + "".join(f"{head:>13}" for head in heads))
    for name in sorted({source for source, _ in held.counts}):
        print(f"{name:20}" + "".join(f"{held.counts[name, head]:13}" for head in heads))
    for what, found in (("code", held.codes), ("path", held.paths)):
        for unlisted, exchange in sorted(found.items(), key=str):
            print(f"{what} not listed: {' '.join(map(str, unlisted))} ({exchange})")
    missing = 0
    if chosen.lines:
        lines = sum(len(audit.lines) for audit in held.pairs.values())
        for audit, line in unprovoked(held.rules, held.pairs.values()):
            missing += 1
            print(f"not provoked: {audit.source} {audit.target} {audit.unit} {line}"[:200])
        print(f"{lines} lines of {len(held.pairs)} audits, {missing} not provoked")
    print(f"{time.perf_counter() - began:.0f} s")
    return int(bool(held.codes) or missing > 0)


if __name__ == "__main__":
    sys.exit(main())
