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

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import ConversionError, UsageError
from ..language.apart import CROSSINGS
from ..language.source import Node, Pos
from ..rulesets import RuleSet
from ..trace import where
from ..trail import At
from .lawcase import Broken, require_equal

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


def find(files: Iterable[Node], failures: list[str]) -> Iterator[Wire]:
    """Yield the wires of crossings; `failures` gets which of them have no source, or two."""
    by_name: dict[tuple[str, str], list[Node]] = {}  # what the files say of one name
    for file in files:
        for unit, named in file.value[CROSSINGS].value.items():
            for name, entry in named.value.items():
                by_name.setdefault((unit, name), []).append(entry)
    for (unit, name), listed in by_name.items():
        sources = [entry for entry in listed if _source_of(entry) is not None]
        first, *others = map(_source_of, sources) if sources else [None]
        if first is None:
            wires = listed[0].value["wires"]
            pos = wires.key_pos(next(iter(wires.value)))
            failures.append(f"{pos}: no file says of what the wires of `{name}` are made")
            continue
        failures += (
            f"{one.pos}: the source of `{name}` stands at {first.pos}" for one in others if one
        )
        source, model = sources[0].json_of("from"), sources[0].json_of("model", MODEL)
        for entry in listed:
            for dialect, wire in entry.under("wires").items():
                codes = tuple(sorted(set(entry.json_of("notes", {}).get(dialect, ()))))
                pos, meant = entry.value["wires"].key_pos(dialect), wire.plain()
                yield Wire(pos, unit, name, source, first.plain(), dialect, meant, codes, model)


def _source_of(said: Node) -> Node | None:
    """Return the value of `ir`, or the wire that `from` names; None where the file has neither."""
    source = said.get("from")
    return said.get("ir") if source is None else said.value["wires"].get(str(source.value))


def check(rules: RuleSet, wire: Wire) -> str | None:
    """Return what is wrong with a wire, or None."""
    model = rules.at(wire.dialect, wire.model, {}).model
    listed = LISTS.get(wire.unit)

    def rule_at(at: At) -> Pos | None:
        return where.rule_at(model, listed or wire.unit, at[1:] if listed else at)

    try:
        body, codes = _written(rules, wire)
        back = rules.convert(wire.meant, wire.dialect, wire.dialect, wire.unit, wire.model).body
        require_equal("is written otherwise", wire.meant, body, rule_at)
        require_equal("does not come back at home", wire.meant, back, rule_at)
        if codes != wire.codes:
            raise Broken(f"makes the notes {list(codes)}, not {list(wire.codes)}")
    except (ConversionError, UsageError) as error:
        told = f": {error}"
    except Broken as fault:
        told = f" {fault}" + (f" (rule {fault.rule})" if fault.rule else "")
    else:
        return None
    return f"`{wire.name}` as {wire.dialect}{told}"


def _written(rules: RuleSet, wire: Wire) -> tuple[Any, tuple[str, ...]]:
    """Return what the source becomes in the dialect of a wire, and the codes of the notes."""
    if wire.source is None:
        out: Any = rules.at(wire.dialect, wire.model, {}).write(wire.given, wire.unit)
    else:
        out = rules.convert(wire.given, wire.source, wire.dialect, wire.unit, wire.model)
    return out.body, tuple(sorted({note.code for note in out.notes}))
