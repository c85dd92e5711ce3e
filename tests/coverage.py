"""Compare the rule files with the SDKs' types: which field paths does no picture name?

    python -m tests.coverage [--dialect D]... [--min PERCENT] [--quiet]

Every field path of the SDK's request and response types should be pictured, or stand in `drop:`
with a reason; so should every event of a stream, and every field path of it.  The rules say which
paths they know (`rules[d].pictured(unit)`, `rules[d].events()`, `rules[d].dropped(unit)`); nothing
else of the engine is asked.

That is what the rules say of themselves; the column `read` says what readings do: for so many of
the paths a body made from the SDK's types, holding that field, was read with nothing left over.
An event that is given up by its name is not read.

Paths are written `messages[].content[].text`.  A known path `a.b.*` (or `a.b` where the SDK's
path ends there) covers `a.b` and all that stands below it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from wireglot.authoring.drift import PathSet

from .oracles import leaves, samples, sdk

LEFT = {"unknown-frame", "unknown-key", "unfit"}  # the notes of what was not understood
UNITS: tuple[sdk.Unit, ...] = ("request", "response", "error")


class Share(NamedTuple):
    """What became of the field paths of one type."""

    total: int
    pictured: frozenset[str]
    dropped: frozenset[str]
    missing: frozenset[str]

    @property
    def percent(self) -> float:
        """Give the share that is pictured or dropped with a reason."""
        return 100.0 if not self.total else 100 * (1 - len(self.missing) / self.total)

    @property
    def dropped_percent(self) -> float:
        """Give the share that is dropped."""
        return 0.0 if not self.total else 100 * len(self.dropped) / self.total


def share(paths: Iterable[str], pictured: Iterable[str], dropped: Iterable[str]) -> Share:
    """Sort the SDK's paths by whether a picture or a drop names them."""
    known, given_up = PathSet(pictured), PathSet(dropped)
    every = set(paths)
    seen = frozenset(path for path in every if known.covers(path))
    gone = frozenset(path for path in every - seen if given_up.covers(path, below=True))
    return Share(len(every), seen, gone, frozenset(every - seen - gone))


def left_over(rules: Any, dialect: str, unit: sdk.Unit) -> set[str]:
    """Read a body for each field path; give the paths for which every reading left something."""
    results: dict[str, list[bool]] = {path: [] for path in sdk.field_paths(dialect, unit)}
    for path, body in samples.samples(dialect, unit):
        try:
            ir = rules.read(body, unit=unit, model="model", stream=False).ir
        except Exception:
            results[path].append(True)
        else:
            results[path].append(leaves.not_pictured(ir) > 0)
    return {path for path, found in results.items() if found and all(found)}


def told(rules: Any, dialect: str) -> dict[str, Share]:
    """Give what became of the field paths of each event of a stream."""
    known, gone = rules.events(), rules.dropped("stream")
    found = {}
    for name, shape in sdk.events(dialect).items():
        paths = sdk.event_paths(dialect, shape)
        if name in known:
            found[name] = share(paths, known[name] | known[""], gone)
        elif any(fnmatchcase(name, pattern) for pattern in gone):
            found[name] = Share(len(paths), frozenset(), frozenset(paths), frozenset())
        else:
            found[name] = Share(len(paths), frozenset(), frozenset(), frozenset(paths))
    return found


def unheard(rules: Any, dialect: str, name: str) -> set[str]:
    """Hear a frame for each field path of an event; give the paths that were always left."""
    results: dict[str, list[bool]] = {}
    for path, frame in samples.frames(dialect, sdk.events(dialect)[name]):
        translator = rules.translator(source=dialect, target=dialect)
        translator.feed(frame)
        translator.finish()
        codes = {note.code for note in translator.notes}
        results.setdefault(path, []).append(bool(codes & LEFT))
    return {path for path, found in results.items() if all(found)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the coverage of each dialect, unit and event, and the paths that nobody names."""
    parser = argparse.ArgumentParser(prog="python -m tests.coverage", description=__doc__)
    parser.add_argument("--dialect", action="append", help="only this dialect")
    parser.add_argument("--min", type=float, default=100.0, help="least percentage that passes")
    parser.add_argument("--max-dropped", type=float, default=100.0, help="most that may be dropped")
    parser.add_argument("--quiet", action="store_true", help="print no missing paths")
    options = parser.parse_args(arguments)
    import wireglot

    rules: Any = wireglot.load_rules()
    chosen = options.dialect or [name for name in sdk.DIALECTS if name in rules.dialects]
    failed = False

    def row(dialect: str, what: str, found: Share, left: set[str]) -> None:
        nonlocal failed
        failed |= found.percent < options.min
        counts = (found.total, len(found.pictured), len(found.dropped))
        tried = 100 * (1 - len(left) / found.total)
        line = f"{dialect:18}{what:42}" + "".join(f"{count:10}" for count in counts)
        print(f"{line}{found.percent:9.1f}%{tried:9.1f}%")
        for path in () if options.quiet else sorted(found.missing):
            print(f"    missing  {path}")
        for path in () if options.quiet else sorted(left & found.pictured):
            print(f"    said to be pictured, but left over when read  {path}")

    heads = "".join(f"{head:>10}" for head in ("paths", "pictured", "dropped", "covered", "read"))
    print(f"{'dialect':18}{'unit':42}{heads}")
    for dialect in chosen:
        for unit in UNITS:
            paths = sdk.field_paths(dialect, unit)
            if paths:
                found = share(paths, rules[dialect].pictured(unit), rules[dialect].dropped(unit))
                failed |= found.dropped_percent > options.max_dropped
                row(dialect, unit, found, left_over(rules[dialect], dialect, unit))
    print(f"\n{'dialect':18}{'event of a stream':42}{heads}")
    for dialect in chosen:
        for name, found in told(rules[dialect], dialect).items():
            left = unheard(rules, dialect, name) if found.pictured else set(found.dropped)
            row(dialect, name or "(every frame)", found, left)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
