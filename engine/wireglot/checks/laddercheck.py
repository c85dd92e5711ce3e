"""Checks of the ladder: that its rows can be read, say why, and never go round in a circle."""

from __future__ import annotations

import graphlib
import itertools
from collections.abc import Collection
from typing import Any

from ..errors import RuleError
from ..ir import FUNCTION
from ..language import drawn, version
from ..language import ladder as steps
from ..language import picture as pic
from ..language.findings import Findings, hint
from ..language.ladder import Ladder
from ..language.lenses import GUARDS, SPELLING_OF
from ..language.picture import ABSENT, Fields, Literal
from ..language.source import Node
from ..language.words import KINDS, LADDER, OTHERS
from .form import Forms

TESTS = ("empty", "texts", *GUARDS)


def load(node: Node, findings: Findings, shapes: Collection[str] = ()) -> Ladder:
    """Check the ladder and return the rows that are right; `shapes` have rows by their names."""
    checked = Forms(findings).check(LADDER, node, LADDER.what)
    given = node.get("ladder")
    if checked is None or given is None:
        if checked is not None:
            message = "the ladder's file holds `ladder:`, a mapping of kinds"
            findings.error("R022", message, node.pos)
        return {}
    wrong, top = version.version_error(node), checked.get("ladder")
    if wrong is not None:
        findings.add_error(wrong)
    if top is None:
        return {}
    scales = checked.under("scales")
    clean: dict[str, Node] = {}
    known = {*KINDS, *OTHERS}
    for kind, rows in top.value.items():
        if kind not in known and kind not in shapes:
            message = f"`{kind}` is no kind of the IR and no shape"
            findings.error("R024", message, top.key_pos(kind), hint(kind, known))
        lacking = _incomplete(given.value[kind], findings)
        named = rows.value.items()
        right = {n: r for n, r in named if _check_holes(r, findings, scales) and n not in lacking}
        clean[kind] = Node(right, rows.pos, rows.keys)
    made = Node({"ladder": Node(clean, top.pos, top.keys)}, node.pos, node.keys)
    if scales:
        made.value["scales"] = Node(scales, node.pos)
    try:
        ladder = steps.load(made)
    except RuleError as error:
        findings.add_error(error)
        return {}
    _check_cycles(ladder, findings, top)
    return ladder


def _incomplete(rows: Node, findings: Findings) -> set[str]:
    """Report rows that lack pictures or do not say why; return their names."""
    lacking = set()
    for name, row in rows.value.items():
        pos, note = rows.key_pos(name), row.get("note")
        if not isinstance(row.value, dict):
            continue  # that is told
        if not {"from", "to"} <= row.value.keys():
            findings.error("R022", f"the row `{name}` has `from` and `to`, both objects", pos)
            lacking.add(name)
        elif note is None or not isinstance(note.value, str) or not note.value:
            help = "write `note:` and a sentence: it is what the reader of a note is told"
            findings.error("R006", f"the row `{name}` goes one way and does not say why", pos, help)
            lacking.add(name)
    return lacking


def _check_holes(row: Node, findings: Findings, scales: Collection[str]) -> bool:
    """Report names and lenses that the row cannot use."""
    before, after, beside = (row.get(word) for word in ("from", "to", "beside"))
    if before is None or after is None:
        return False
    hits = findings.errors
    first, *others = [drawn.parse(one) for one in (before, after, beside) if one]
    given = {name for name, _ in pic.named(first)}
    for hole in pic.holes(first):
        for lens in hole.lenses:
            if lens not in scales and not all(word in TESTS for word in lens.split("+")):
                help = hint(lens, (*TESTS, *scales), "the tests are")
                findings.error("R014", f"`{lens}` is no test of a row", hole.pos, help, word=lens)
    for picture in others:
        for name, pos in pic.named(picture):
            if name not in given:
                message = f"`${name}` has no value: `from` does not name it"
                findings.error("R014", message, pos, hint(name, given, "it names", "$"))
        for hole in pic.holes(picture):
            for lens in hole.lenses:
                if lens not in steps.LENSES and lens not in scales:
                    said = [SPELLING_OF.get(name, name) for name in (*steps.LENSES, *scales)]
                    message = f"`{lens.rstrip('!')}` is no codec of a row"
                    name = SPELLING_OF.get(lens.rstrip("!"), lens)  # what is said otherwise now
                    findings.error("R014", message, hole.pos, hint(name, said, "the codecs are"))
    return findings.errors == hits


def _check_cycles(ladder: Ladder, findings: Findings, top: Node) -> None:
    """Report rows that lead back to where they began (R006)."""
    steps: dict[State, dict[State, tuple[str, str]]] = {}  # from where to where, by which row
    for kind, rows in ladder.items():
        for row in rows:
            if (after := _state_after(kind, row)) is not None:
                steps.setdefault(_demanded(kind, row.before), {})[after] = (row.name, kind)
    try:
        graphlib.TopologicalSorter(steps).prepare()
    except graphlib.CycleError as error:
        way = [steps[one][two] for two, one in itertools.pairwise(error.args[1])][::-1]
        first = way.index(min(way))
        names = [name for name, _ in (*way[first:], *way[: first + 1])]
        message = f"the row `{names[0]}` leads back to where it began: {' -> '.join(names)}"
        pos = top.value[way[first][1]].key_pos(names[0])
        findings.error("R006", message, pos, "take out the row that goes up again", word=names[0])


State = tuple[str, tuple[tuple[str, str], ...]]


def _demanded(kind: str, p: Fields) -> State:
    """Return what a row demands, as far as it is fixed."""
    fixed = {n[0]: repr(c.values[0]) for n, c in p.entries if isinstance(c, Literal)}
    fixed.pop("type", None)
    return kind, tuple(sorted(fixed.items()))


def _state_after(kind: str, row: Any) -> State | None:
    """Return the state that a row leads to; None where it changes more than what is fixed."""
    changes = {n[0]: c for n, c in row.after.entries}
    said = changes.pop("type", None)
    if isinstance(said, Literal):
        kind = FUNCTION if said.values[0] is ABSENT else str(said.values[0])
    fixed = dict(_demanded(kind, row.before)[1])
    for name, child in changes.items():
        if isinstance(child, Literal):
            fixed[name] = repr(child.values[0])
        elif name in fixed:
            del fixed[name]
    shaped = any(not isinstance(child, Literal) for child in changes.values())
    if said is None and (row.beside is not None or shaped):
        return None  # another value than before, not the same one again
    return kind, tuple(sorted(fixed.items()))
