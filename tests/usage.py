"""Take the token counts of recorded responses to every other dialect and back, and print a table.

    python -m tests.usage [--folder ../shared/traffic]

A number of a recorded response comes back as it was, or a note names it; zero is as good as none.
A number may come back larger by others that were `joined` to it. What a response says in all, as
its own dialect counts, is what the other dialect says in all.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import sweep
from .oracles import leaves, sdk

Json = Any
TRAFFIC = Path(__file__).parents[2] / "shared" / "traffic"
RECORDED = {"vertex": "gemini"}  # the same exchanges are those of another dialect, too
PLACES = {
    "openai-chat": ("/usage",),
    "openai-responses": ("/usage",),
    "anthropic": ("/usage",),
    "gemini": ("/usageMetadata",),
    "vertex": ("/usageMetadata",),
    "ollama": ("/prompt_eval_count", "/eval_count"),
}
TOTALS: dict[str, tuple[str, ...]] = {
    "openai-chat": ("/usage/total_tokens",),
    "openai-responses": ("/usage/total_tokens",),
    "anthropic": (
        "/usage/input_tokens",
        "/usage/cache_read_input_tokens",
        "/usage/cache_creation_input_tokens",
        "/usage/output_tokens",
    ),
    "gemini": ("/usageMetadata/totalTokenCount",),
    "vertex": ("/usageMetadata/totalTokenCount",),
    "ollama": ("/prompt_eval_count", "/eval_count"),
}


class Fault(NamedTuple):
    """A number that is gone or other without a note."""

    exchange: str
    source: str
    target: str
    told: str


def numbers(dialect: str, body: Json) -> dict[str, Json]:
    """Return the counts of a response by pointer."""
    found = {leaves.pointer_of(steps): value for steps, value in leaves.leaves(body)}
    return {
        pointer: value
        for pointer, value in found.items()
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and any(pointer == p or pointer.startswith(f"{p}/") for p in PLACES[dialect])
    }


def by_name(body: Json, pointer: str) -> str:
    """Return what a count is called: in a list of counts by modality, by its modality."""
    head, _, last = pointer.rpartition("/")
    head, _, index = head.rpartition("/")
    if not index.isdecimal():
        return pointer
    steps = [int(s) if s.isdecimal() else s for s in pointer.split("/")[1:-1]]
    entry = leaves.value_at(body, steps)
    return f"{head}/{entry.get('modality')}/{last}"


def total(dialect: str, body: Json) -> int | None:
    """Return what a response says in all; None where it does not say so."""
    there = numbers(dialect, body)
    found = [there[pointer] for pointer in TOTALS[dialect] if pointer in there]
    return sum(found) if found else None


def judge(
    engine: sweep.Engine, unit: sweep.Unit, target: str, counts: Counter[str]
) -> Iterator[Fault]:
    """Name the counts of one response that one other dialect loses or changes in silence."""
    source = unit.dialect
    there = engine.convert(unit.body, source, target, "response")
    back = engine.convert(there.body, target, source, "response")
    before, after = numbers(source, unit.body), numbers(source, back.body)
    now = {by_name(back.body, pointer): value for pointer, value in after.items()}
    named = {note.source_path: note.code for note in there.notes if note.source_path is not None}
    joined = [before[path] for path, code in named.items() if code == "joined" and path in before]
    for pointer, value in before.items():
        counts["numbers"] += 1
        found = now.get(by_name(unit.body, pointer), 0)
        if leaves.same(found, value):
            counts["back"] += 1
        elif any(leaves.touches(path, pointer) for path in named):
            counts["noted"] += 1
        elif joined and found - value in {*joined, sum(joined)}:
            counts["joined"] += 1
        else:
            told = f"{pointer}: {value} came back as {found}"
            yield Fault(unit.exchange, source, target, told)
    one, two = total(source, unit.body), total(target, there.body)
    if one is not None and two is not None:
        counts["totals"] += 1
        if one != two and not any(code == "inconsistent" for code in named.values()):
            yield Fault(unit.exchange, source, target, f"the total {one} is {two}")


Table = dict[tuple[str, str], Counter[str]]


def run(folder: Path = TRAFFIC, limit: int | None = None) -> tuple[Table, list[Fault]]:
    """Judge every recorded response, to every other dialect."""
    engine = sweep.engine()
    counts: Table = {}
    faults: list[Fault] = []
    for dialect in sdk.DIALECTS:
        file = folder / f"{RECORDED.get(dialect, dialect)}.jsonl.gz"
        path = Path(f"{dialect}={file}") if dialect in RECORDED else file
        for line in sweep.exchanges([path], limit):
            for unit in sweep.units_of(json.loads(line), [dialect]):
                for target in sdk.DIALECTS:
                    if unit.unit == "response" and target != dialect:
                        cell = counts.setdefault((dialect, target), Counter())
                        cell["responses"] += 1
                        faults += judge(engine, unit, target, cell)
    return counts, faults


HEADS = ("responses", "numbers", "back", "noted", "joined", "totals")


def main() -> int:
    """Print the table and what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.usage", description=__doc__)
    parser.add_argument("--folder", type=Path, default=TRAFFIC)
    counts, faults = run(parser.parse_args().folder)
    print(f"{'source > target > source':30}" + "".join(f"{head:>11}" for head in HEADS))
    for (source, target), cell in counts.items():
        cells = "".join(f"{cell[head]:>11}" for head in HEADS)
        print(f"{source + ' > ' + target:30}{cells}")
    for fault in faults:
        print(*fault)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
