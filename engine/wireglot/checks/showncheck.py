"""Checks that an example shows each case (R008)."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..language.findings import Findings
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Literal
from ..language.shape import Shape
from .casetrial import named, place, read, written
from .contexts import Contexts
from .reach import Reach


def check(dialect: Dialect, contexts: Contexts, reach: Reach, findings: Findings) -> None:
    """Report cases that no example shows."""
    for name, shape in dialect.shapes.items():
        known = (findings.right("R008", place(dialect, shape, case)) for case in shape.cases)
        if name in contexts.of and not all(known):
            shown = partial(_shown, dialect, shape, findings)
            findings.once((_shown, reach.of(name)), shown)


def _shown(dialect: Dialect, shape: Shape, findings: Findings) -> None:
    node = dialect.node.under("shapes").get(shape.name)
    if node is None:
        return
    shown: set[str] = set()
    apart = dialect.node.under("examples")
    there = [apart[at] for at in (shape.name, f"shapes/{shape.name}") if at in apart]
    examples = [*_examples(node), *(one for listed in there for one in listed.value)]
    for case_name, inner in node.under("cases").items():
        found = _examples(inner)
        if found:
            shown.add(case_name)
        examples += found
    shown |= {name for ir in _values(examples, "writes") if (name := written(dialect, shape, ir))}
    wires = _values(examples, "wire") + _values(examples, "reads")
    pairs = [(shape, case) for case in shape.cases]
    for wire in wires:
        for pair in pairs:
            if read(dialect, pair, wire) is not ABSENT:
                shown.add(pair[1].name)
                break
    help = "write one: `examples: [{wire: ..., ir: ...}]`; `wireglot test` runs it both ways"
    for case in shape.cases:
        # What asks for a neighbour, or is no key, only examples of the shape around can show.
        beside = bool(shape.marks or (shape.groups and examples)) or case.tests
        beside |= isinstance(case.wire, Literal) and ABSENT in case.wire.values
        if isinstance(case.wire, Fields) and not case.wire.entries and not case.ir:
            beside |= all(hole.shape for hole in case.wire.spread)  # another shape's examples do
        right = beside or case.name in shown
        message = f"no example shows {named(shape, case)}"
        findings.doubt(right, "R008", message, place(dialect, shape, case), help)


def _examples(node: Any) -> list[Any]:
    listed = node.get("examples")
    return list(listed.value) if listed else []


def _values(examples: list[Any], word: str) -> list[Any]:
    """Return what some examples have under a word."""
    return [value.plain() for example in examples if (value := example.get(word))]
