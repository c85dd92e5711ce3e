"""Hold audits against recorded exchanges, and against the payloads that they were made of.

    python -m tests.audit FILES... [--every N] [--limit N]
    python -m tests.audit [FILES...] --lines [--from DIALECT...] [--to DIALECT...] [--unit UNIT...]

With files, each request, response, error and stream is converted to every dialect, or to those that
`--to` names: the code of each note must stand in the audit of that pair and unit, and mostly with
the wire path that the note names. A conversion that is refused counts as a note of the code
`refused`; a body that its own dialect does not read is counted as `unread`, and converts to
nothing. What a stream notes must stand in the audit of responses, or be said of frames.

With `--lines`, each line of the audits of all ordered pairs of dialects must be provoked by its own
payload, as `RuleSet.convert` takes it.

Exit code 1: a code is listed nowhere, or a line is not provoked.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import wireglot
from wireglot.audits.audit import Audit
from wireglot.audits.gather import Line
from wireglot.ir import WHOLES
from wireglot.trace.paths import Patterns

from . import sweep
from .family import heads
from .streamsweep import data as frame_of

# What is said of frames, besides the notes of the whole response (docs/streams.md).
OF_FRAMES = frozenset(
    "unknown-frame unknown-key dropped inconsistent unfit after-end cut-short".split()
)
Key = tuple[str, str, str]  # source, target, unit


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
        self.rules, self.dialects = rules, tuple(dialects) or heads(rules.dialects)
        self.counts: Counter[tuple[str, str]] = Counter()  # by source and what is counted
        self.seconds: dict[str, float] = {}  # of the processor, by source
        self.told: set[str] = set()  # sources whose counts were printed
        self.codes: dict[Unlisted, str] = {}  # with one exchange that shows it
        self.paths: dict[Unlisted, str] = {}
        self.pairs: dict[Key, Audit] = {}
        self.known: dict[Key, frozenset[Any]] = {}
        self.patterns: dict[tuple[str, str], Patterns] = {}

    def audit(self, source: str, target: str, unit: str) -> Audit:
        """Return an audit with its examples."""
        key = (source, target, unit)
        if key not in self.pairs:
            self.pairs[key] = self.rules.audit(*key, examples=True)
            self.known[key] = frozenset((x.code, x.source) for x in self.pairs[key].lines)
        return self.pairs[key]

    def hold(self, unit: sweep.Unit) -> None:
        """Hold the notes of a body, to every dialect, against the audits."""
        source = unit.dialect
        began = time.process_time()
        here = self.patterns.get((source, unit.unit))
        if here is None:
            model = self.rules[source].model
            here = self.patterns[source, unit.unit] = Patterns(model, unit.unit)
        for target in self.dialects:
            if target == source or unit.unit not in self.rules[target].model.units:
                continue
            found = self.audit(source, target, unit.unit)
            about = (unit.body, source, target, unit.unit, unit.model, unit.stream)
            try:
                notes = self.rules.convert(*about).notes
                said = [(note.code, here.of(note)) for note in notes]
            except wireglot.ConversionError as error:
                if self._unread(unit):
                    break
                said = [("refused", here.pattern(error.path) if error.path else None)]
            self._count(found, said, unit.exchange)
        self.counts[source, unit.unit] += 1
        self.seconds[source] = self.seconds.get(source, 0) + time.process_time() - began

    def _unread(self, unit: sweep.Unit) -> bool:
        """Tell whether a body is none of its dialect: that is no conversion to any other."""
        try:
            self.rules[unit.dialect].read(unit.body, unit.unit, unit.model, unit.stream)
        except wireglot.ConversionError:
            self.counts[unit.dialect, "unread"] += 1
            return True
        return False

    def hold_stream(self, source: str, frames: list[Any], exchange: str) -> None:
        """Hold the notes of a stream, to every dialect that has streams, against the audits."""
        began = time.process_time()
        for target in self.dialects if self.rules[source].model.stream else ():
            there = self.rules[target].model
            if target == source or not there.stream or "response" not in there.units:
                continue
            found = self.audit(source, target, "response")
            translator = self.rules.translator(source=source, target=target)
            for frame in frames:
                translator.feed(frame)
            translator.finish()
            codes = {note.code for note in translator.notes}
            self._count(found, [(code, None) for code in codes - OF_FRAMES], exchange, False)
        self.counts[source, "stream"] += 1
        self.seconds[source] = self.seconds.get(source, 0) + time.process_time() - began

    def _count(
        self, audit: Audit, said: list[tuple[str, str | None]], exchange: str, placed: bool = True
    ) -> None:
        """Count the codes and paths of one conversion that its audit does not list."""
        source = audit.source
        known = self.known[source, audit.target, audit.unit]
        self.counts[source, "conversions"] += 1
        for code, path in said:
            self.counts[source, "notes"] += 1
            what = Unlisted(source, audit.target, audit.unit, code, path)
            if code not in audit.codes:
                self.counts[source, "codes"] += 1
                self.codes.setdefault(what, exchange)
            elif placed and (code, path) not in known:
                self.counts[source, "paths"] += 1
                self.paths.setdefault(what, exchange)


def unprovoked(rules: Any, audits: Iterable[Audit]) -> Iterator[tuple[Audit, Line]]:
    """Yield the lines that their own payloads do not show."""
    for audit in audits:
        patterns = Patterns(rules[audit.source].model, audit.unit)
        shown: dict[Any, set[Any]] = {}
        for line in audit.lines:
            said = line.example
            traced = line.severity is None  # nothing is noted of it
            key = (id(said["body"]), said["model"], said["stream"], traced)
            if key not in shown:
                shown[key] = set(_shown(rules, audit, said, patterns, traced))
            path = None if line.effect == "refused" else line.source
            if (line.effect, line.code, path) not in shown[key]:
                yield audit, line


def _shown(
    rules: Any, audit: Audit, said: Any, patterns: Patterns, traced: bool
) -> Iterator[tuple[str, str | None, str | None]]:
    """Convert the payload of a line; yield the effects, codes and wire paths that it shows."""
    about = (said["body"], audit.source, audit.target, audit.unit, said["model"], said["stream"])
    try:
        done = rules.convert(*about, trace=traced)
    except wireglot.ConversionError:
        yield "refused", "refused", None
        return
    for note in done.notes:
        yield note.effect, note.code, patterns.of(note)
    for at, fate in done.trace.fates.items() if traced else ():
        code = fate.code if fate.kind == "silent" else None
        yield fate.kind, code, patterns.pattern(at)


def pairs(held: Held, sources: Iterable[str], units: Iterable[str]) -> Iterator[Key]:
    """Yield every ordered pair of dialects that have a unit; all of a source in a row."""
    rules = held.rules
    for source in sources:
        for unit in units:
            for target in held.dialects if unit in rules[source].model.units else ():
                if target != source and unit in rules[target].model.units:
                    yield source, target, unit


def hold(held: Held, files: Iterable[Path], every: int, limit: int | None) -> bool:
    """Hold recorded exchanges; print what was found, and return whether a code is not listed."""
    heads = "request response error stream unread conversions notes codes paths".split()
    print(f"{'from':17}" + "".join(f"{head:>12}" for head in (*heads, "seconds")))
    for file in files:
        for number, text in enumerate(sweep.exchanges([file], limit)):
            if number % every == 0:
                exchange = json.loads(text)
                for unit in sweep.units_of(exchange, held.rules.dialects):
                    held.hold(unit)
                if exchange.get("stream"):
                    frames = [frame_of(event) for event in exchange["stream"]]
                    held.hold_stream(exchange["format"], frames, exchange["id"])
        for name in [name for name in held.seconds if name not in held.told]:
            held.told.add(name)
            counts = "".join(f"{held.counts[name, head]:12}" for head in heads)
            print(f"{name:17}{counts}{held.seconds[name]:12.0f}")
            for what, found in (("code", held.codes), ("path", held.paths)):
                for unlisted, exchange in found.items():
                    if unlisted.source == name:
                        print(f"{what} not listed: {' '.join(map(str, unlisted))} ({exchange})")
            sys.stdout.flush()
    return bool(held.codes)


def provoke(held: Held, asked: Iterable[Key]) -> bool:
    """Provoke each line of some audits; print what was found, and return whether one is not."""
    heads = (*WHOLES, "lines", "not provoked")
    print(f"{'lines from':22}" + "".join(f"{head:>13}" for head in (*heads, "seconds")))
    failed = False
    for source, keys in groupby(asked, lambda key: key[0]):
        began = time.process_time()
        row: Counter[str] = Counter()
        for key in keys:
            audit = held.audit(*key)
            for _, line in unprovoked(held.rules, [audit]):
                row["not provoked"] += 1
                print(f"not provoked: {' '.join(key)} {line}"[:300], flush=True)
            row.update({key[2]: 1, "lines": len(audit.lines)})
        counts = "".join(f"{row[head]:13}" for head in heads)
        print(f"{source:22}{counts}{time.process_time() - began:13.0f}", flush=True)
        failed |= row["not provoked"] > 0
    return failed


def main(arguments: Sequence[str] | None = None) -> int:
    """Hold all that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only each N-th exchange")
    parser.add_argument("--limit", type=int, help="exchanges of a file")
    parser.add_argument("--lines", action="store_true", help="provoke each line of all pairs")
    parser.add_argument("--from", dest="sources", nargs="+", help="only lines of these sources")
    parser.add_argument("--to", dest="targets", nargs="+", default=(), help="only these targets")
    parser.add_argument("--unit", dest="units", nargs="+", choices=WHOLES, default=WHOLES)
    chosen = parser.parse_args(arguments)
    began = time.perf_counter()
    held = Held(sweep.engine().rules, chosen.targets)
    failed = False
    if chosen.files:
        failed = hold(held, chosen.files, chosen.every, chosen.limit)
    if chosen.lines:
        sources = chosen.sources or heads(held.rules.dialects)
        failed |= provoke(held, pairs(held, sources, chosen.units))
    print(f"{time.perf_counter() - began:.0f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
