"""Crossings: examples that show the wires of several dialects beside each other.

    crossings:
      request:
        two calls:
          from: acme
          wires: {acme: {...}, other: {...}}
          notes: {other: [renamed]}
          model: small            # whom to ask, where the rules tell models apart

What stands for `acme` is converted to each of the others, and at home it comes back; with `ir` in
the place of `from` that value is written as each. Every wire is read by its own dialect, too, and
comes back there. `notes` lists the codes of each (none unless said). Files meet by the names of
their crossings, so a file of one dialect may add its wires to what another file has the source of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import ConversionError, UsageError
from ..language.apart import CROSSINGS
from ..language.source import Node, Pos
from ..rulesets import RuleSet
from ..trace import where
from ..trail import At
from .difference import differences

LISTS = {"messages": "conversation", "tools": "tool"}  # units that are lists, and of what
MODEL = "m"  # what is asked for where a body does not say


@dataclass(frozen=True, slots=True)
class Wire:
    """One wire of a crossing: what a dialect makes of its source."""

    pos: Pos
    unit: str
    name: str
    source: str | None  # the dialect of which `given` is the wire; None where it is of the IR
    given: Any
    dialect: str
    meant: Any
    codes: tuple[str, ...]
    model: str


@dataclass(slots=True)
class _Crossing:
    """What the files say of one name, put together."""

    source: Node | None
    given: Node | None
    model: Node | None
    wires: list[tuple[str, Pos, Node, tuple[str, ...]]]


def find(files: Iterable[Node], failures: list[str]) -> Iterator[Wire]:
    """Yield the wires of some files; what does not come together is said in `failures`."""
    found: dict[tuple[str, str], _Crossing] = {}
    for file in files:
        for unit, named in file.value[CROSSINGS].value.items():
            for name, said in named.value.items():
                crossing = found.setdefault((unit, name), _Crossing(None, None, None, []))
                _add(crossing, name, said, failures)
    for (unit, name), crossing in found.items():
        if crossing.given is None:
            pos = crossing.wires[0][1]
            failures.append(f"{pos}: no file says of what the wires of `{name}` are made")
            continue
        source = crossing.source.value if crossing.source else None
        given, model = crossing.given.plain(), crossing.model.value if crossing.model else MODEL
        for dialect, pos, meant, codes in crossing.wires:
            yield Wire(pos, unit, name, source, given, dialect, meant.plain(), codes, model)


def _add(crossing: _Crossing, name: str, said: Node, failures: list[str]) -> None:
    """Add what a file says of a crossing."""
    source, wires, notes = said.get("from"), said.value["wires"], said.get("notes")
    given = wires.get(str(source.value)) if source is not None else said.get("ir")
    if given is not None:
        if crossing.given is not None:
            failures.append(f"{given.pos}: the source of `{name}` stands at {crossing.given.pos}")
        else:
            crossing.source, crossing.given, crossing.model = source, given, said.get("model")
    for dialect, wire in wires.value.items():
        listed = notes.get(dialect) if notes is not None else None
        codes = tuple(sorted({str(code.value) for code in listed.value} if listed else ()))
        crossing.wires.append((dialect, wires.keys.get(dialect, wire.pos), wire, codes))


def check(rules: RuleSet, wire: Wire) -> str | None:
    """Return what is wrong with a wire, or None."""
    model = rules.at(wire.dialect, wire.model, {}).model
    listed = LISTS.get(wire.unit)

    def rule_at(at: At) -> Pos | None:
        return where.rule_at(model, listed or wire.unit, at[1:] if listed else at)

    try:
        body, codes = _written(rules, wire)
        told = _apart("is written otherwise", wire.meant, body, rule_at)
        back = rules.convert(wire.meant, wire.dialect, wire.dialect, wire.unit, wire.model).body
        told = told or _apart("does not come back at home", wire.meant, back, rule_at)
    except (ConversionError, UsageError) as error:
        told = f": {error}"
    else:
        if not told and codes != wire.codes:
            told = f" makes the notes {list(codes)}, not {list(wire.codes)}"
    return f"`{wire.name}` as {wire.dialect}{told}" if told else None


def _written(rules: RuleSet, wire: Wire) -> tuple[Any, tuple[str, ...]]:
    if wire.source is None:
        out: Any = rules.at(wire.dialect, wire.model, {}).write(wire.given, wire.unit)
    else:
        out = rules.convert(wire.given, wire.source, wire.dialect, wire.unit, wire.model)
    return out.body, tuple(sorted({note.code for note in out.notes}))


def _apart(what: str, meant: Any, found: Any, rule_at: Callable[[At], Pos | None]) -> str:
    apart = differences(meant, found)
    if not apart:
        return ""
    rule = rule_at(apart[0].at)
    return f" {what} at {apart[0]}" + (f" (rule {rule})" if rule else "")
