"""Hold the generated functions that read against the interpreter, on recorded and mutated bodies.

    python -m tests.executor_read [--every N] [--mutants N] [--only anthropic,gemini]
    python -m tests.executor_read --rules N

IR, memory, notes, errors and the places of all fields are compared, in the three modes of reading.
With `--rules` each Nth of the changes that `tests.ruleeach` makes of small rule files reads the
bodies of its set.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

import wireglot
from wireglot.conversion import reading
from wireglot.conversion.hands import Reader
from wireglot.errors import WireglotError
from wireglot.language.findings import Findings
from wireglot.language.lenses import Misfit
from wireglot.language.model import Dialect
from wireglot.language.source import LADDER
from wireglot.rulesets import RuleSet
from wireglot.tagged import Several
from wireglot.trail import Trail, pointer

from . import byhand, ruleeach, sweep
from .mutate import some
from .rulefuzz import FILE, Fuzz, node_of
from .test_requests import TRAFFIC
from .walk import walked

FILES = {
    "openai-chat": "openai-chat", "openai-responses": "openai-responses", "anthropic": "anthropic",
    "gemini": "gemini", "vertex": "gemini", "ollama": "ollama", "deepseek": "deepseek",
    "chat-compatible": "openai-compat",
}  # fmt: skip
MODES: dict[str, tuple[dict[str, Any], bool]] = {
    "home": ({}, False), "away": ({"away": True}, False), "probe": ({}, True),
}  # fmt: skip
LONG = 30_000


@cache
def bodies(dialect: str) -> list[sweep.Unit]:
    """Return the recorded bodies of a dialect."""
    found = []
    with gzip.open(TRAFFIC / f"{FILES.get(dialect, dialect)}.jsonl.gz", "rt") as lines:
        for line in lines:
            exchange = {**json.loads(line), "format": dialect}
            found += list(sweep.units_of(exchange, (dialect,)))
    return found


def run(dialect: str | Dialect, unit: str, body: Any, mode: str) -> tuple[Any, Any]:
    """Read a body; what can be seen of it, and the reader."""
    options, probe = MODES[mode]
    model = dialect if isinstance(dialect, Dialect) else wireglot.packaged()[dialect].model
    reader = Reader(model.of_unit(unit), dict(options), probe)
    reader.drops = reader.dialect.dropped(unit)
    try:
        ir = reading._unit(reader, body, unit)
    except Misfit as misfit:
        return ("misfit", misfit.reason, misfit.at, misfit.pos), reader
    except RecursionError:
        return ("deep",), reader
    except WireglotError as error:
        return ("error", str(error)), reader
    return ir, reader


def compare(dialect: str | Dialect, unit: str, body: Any, mode: str) -> Iterator[str]:
    """Yield what differs."""
    with walked():
        one, first = run(dialect, unit, body, mode)
    two, second = run(dialect, unit, body, mode)
    if isinstance(one, tuple) or isinstance(two, tuple):
        if one != two and one != ("deep",):  # generated code may go deeper
            yield f"error: {str(one)[:200]} | {str(two)[:200]}"
        return
    with contextlib.suppress(RecursionError):  # of what compares them
        yield from _same(one, two, (), mode == "home", first.trail, second.trail)
    if first.notes != second.notes:
        yield f"notes: {first.notes[:3]} | {second.notes[:3]}"


def _same(
    one: Any, two: Any, at: tuple[Any, ...], spelled: bool, first: Trail, second: Trail
) -> Iterator[str]:
    where = pointer(tuple("#" if isinstance(k, int) else k for k in at))
    if one.__class__ is not two.__class__:
        yield f"{where}: {str(one)[:80]} | {str(two)[:80]}"
    elif isinstance(one, dict):
        if spelled and one.get("spelled") != two.get("spelled"):
            yield f"{where}/spelled: {one.get('spelled')} | {two.get('spelled')}"
        keys = [k for k in one if k != "spelled"]
        if keys != [k for k in two if k != "spelled"]:
            yield f"{where}: keys {keys} | {[k for k in two if k != 'spelled']}"
            return
        for key in (None, *keys):
            a, b = first.find(one, key), second.find(two, key)
            if a != b or getattr(a, "places", 0) != getattr(b, "places", 0):
                yield f"{where} {key}: place {_told(a)} | {_told(b)}"
            if key is not None and isinstance(one[key], dict) and isinstance(two[key], dict):
                for inner in list(one[key])[:2]:
                    if inner in two[key]:
                        left = first.within(one[key], (), (inner,))
                        if left != second.within(two[key], (), (inner,)):
                            yield f"{where}/{key}: within"
        for key in keys:
            yield from _same(one[key], two[key], (*at, key), spelled, first, second)
    elif isinstance(one, list):
        if len(one) != len(two):
            yield f"{where}: {len(one)} | {len(two)}"
            return
        for i, (a, b) in enumerate(zip(one, two, strict=True)):
            yield from _same(a, b, (*at, i), spelled, first, second)
    elif repr(one) != repr(two):  # of numbers that are none each is another
        yield f"{where}: {one!r:.80} | {two!r:.80}"


def _told(at: Any) -> str:
    return f"{at} {at.places}" if isinstance(at, Several) else str(at)


def some_of(dialect: str, every: int, mutants: int) -> Iterator[tuple[str, str, Any]]:
    """Yield names, units and bodies, recorded and mutated."""
    for one in bodies(dialect)[::every]:
        yield one.exchange, one.unit, one.body
        if mutants and len(str(one.body)) < LONG:
            for nth, body in enumerate(some(one.body, mutants, one.exchange)):
                yield f"{one.exchange}+{nth}", one.unit, body


def changed(every: int) -> Iterator[tuple[str, Dialect, str, Any]]:
    """Yield dialects of changed rule files, with what was changed, and bodies."""
    fuzz = Fuzz("")
    files = (
        (base, stem, said, new)
        for base in fuzz.bases
        for stem, plain in base.plain.items()
        if stem != LADDER
        for said, new in ruleeach.changes(plain)
    )
    for base, stem, said, new in islice(files, 0, None, every):
        nodes = {**base.nodes, stem: node_of(new)}
        rules = byhand.from_nodes(nodes, fuzz.around[base.other], Findings({FILE: ""}))
        if not isinstance(rules, RuleSet):
            continue
        for name in rules.dialects:
            for unit, body in base.bodies.items() if name != base.other else ():
                if unit in rules[name].model.units:
                    more = {**body, "zz": 1} if isinstance(body, dict) else body
                    for mutant in (more, *some(body, 2, said)):
                        yield f"{base.name} {said}", rules[name].model, unit, mutant


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.executor_read", description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=2)
    parser.add_argument("--only", default=",".join(FILES))
    parser.add_argument("--units", default="")
    parser.add_argument("--rules", type=int, default=0)
    options = parser.parse_args(arguments)
    found: Counter[str] = Counter()
    names: dict[str, str] = {}
    count = 0
    begun = time.monotonic()
    given: Iterator[tuple[str, str | Dialect, str, Any]] = (
        (name, dialect, unit, body)
        for dialect in options.only.split(",")
        for name, unit, body in some_of(dialect, options.every, options.mutants)
        if not options.units or unit in options.units.split(",")
    )
    for name, dialect, unit, body in changed(options.rules) if options.rules else given:
        for mode in MODES:
            count += 1
            for said in compare(dialect, unit, body, mode):
                told = dialect.name if isinstance(dialect, Dialect) else dialect
                key = f"{told} {unit} {mode} {said}"
                found[key] += 1
                names.setdefault(key, name)
    print(f"{count} compared in {time.monotonic() - begun:.0f} s, {found.total()} differences")
    for said, times in found.most_common(40):
        print(f"{times:6d}  {names[said]} {said}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
