"""Take one exchange between providers, each to each, and tell what became of its values."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wireglot

HOME = "anthropic"
PROVIDERS = (HOME, "openai-chat", "openai-responses", "gemini")
UNITS: tuple[Any, ...] = ("request", "response")
TOLD = ("lost", "changed", "moved", "kept")
ANSWERS = ("tool_use_id", "tool_call_id", "call_id", "functionResponse")  # keys that answer a call


def main() -> None:
    """Print a failed result as each provider has it, and the table of all pairs."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    bodies = {unit: dict(everywhere(unit)) for unit in UNITS}
    print("Of two calls of a tool one failed. So requests say it, converted from the first:\n")
    for name, body in bodies["request"].items():
        print(f"  {name:<18}{json.dumps(failure(body), ensure_ascii=False)}")
    print("\nRequest and answer, from each to each. What is told of values; all others arrive:\n")
    print(row("from", "values", *PROVIDERS))
    for one in PROVIDERS:
        fates = [of_pair(bodies, one, two) for two in PROVIDERS]
        print(row(one, str(fates[0].total()), *map(said, fates)))
    print(f"\nThe notes from {HOME}, each with the line of the rule:\n")
    for two in PROVIDERS[1:]:
        for note in (note for made in conversions(bodies, HOME, two) for note in made.notes):
            if note.effect in TOLD:
                print(f"  {two:<18}{note.effect:<9}{note.source_path}\n  {'':<27}{note.message}")
                print(f"  {'':<27}{note.rule}")


def row(name: str, values: str, *cells: str) -> str:
    """Return a line of the table."""
    return f"  {name:<18}{values:<9}{''.join(f'{cell:<18}' for cell in cells)}".rstrip()


def everywhere(unit: Any) -> Iterator[tuple[str, Any]]:
    """Yield a body of the exchange as each provider has it."""
    body = json.loads((Path(__file__).parent / "failed" / f"{unit}.json").read_text("utf-8"))
    for name in PROVIDERS:
        yield name, wireglot.convert(body, HOME, name, unit=unit).body


def conversions(bodies: dict[Any, Any], one: str, two: str) -> Iterator[wireglot.Conversion]:
    """Yield the conversions of request and answer from one provider to another, with traces."""
    for unit in UNITS:
        yield wireglot.convert(bodies[unit][one], one, two, unit=unit, trace=True)


def of_pair(bodies: dict[Any, Any], one: str, two: str) -> Counter[str]:
    """Count the fates of all values; each value has one."""
    traces = (made.trace for made in conversions(bodies, one, two))
    return Counter(fate.kind for trace in traces if trace for fate in trace.fates.values())


def said(fates: Counter[str]) -> str:
    """Say how many values are not as they were."""
    return ", ".join(f"{fates[kind]} {kind}" for kind in TOLD if fates[kind]) or "-"


def failure(body: Any) -> Any:
    """Return the last object of a request that answers a call."""
    if not isinstance(body, (dict, list)):
        return None
    if isinstance(body, dict) and any(key in body for key in ANSWERS):
        return body
    inner = body.values() if isinstance(body, dict) else body
    return next(filter(None, map(failure, reversed(list(inner)))), None)


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
