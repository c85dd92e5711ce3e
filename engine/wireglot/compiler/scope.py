"""Which rule files the compiler knows the words of; the others are interpreted."""

from __future__ import annotations

from ..ir import MEDIA
from ..language import picture as pic
from ..language.model import Case, Dialect
from ..language.picture import Fields, Hole, Items, Picture

ENFORCED = frozenset(
    "lift put-first answer-next order-results-by-calls no-empty no-blank no-empty-text "
    "some-message user-only pair strict insert".split()
)
# Generated code sees these at the top of a request alone.
APART = frozenset(("messages", "tools", "system"))
BEYOND = frozenset(("blocks", "milliseconds"))  # lenses


def interpreted(dialect: Dialect) -> bool:
    """Tell whether a dialect holds a word that only the interpreter knows."""
    for shape in dialect.shapes.values():
        named = {h.path for c in shape.cases for h in pic.holes(c.wire)}
        if shape.marks or (shape.groups and (len(shape.cases) > 1 or named - {"run"})):
            return True
        if not named.isdisjoint(APART):
            return True
    request = dialect.units["request"].cases
    if len(request) > 1 or request[0].ir is not None:
        return True
    if any("else" in bound for bound in dialect.bounds.values()):
        return True
    if not MEDIA.isdisjoint(dialect.bounds) or any("." in name for name in dialect.limits):
        return True
    talk = dialect.conversation
    if talk is not None and not {word for word, _ in talk.enforce} <= ENFORCED:
        return True
    if talk is not None and any(not turn.at for turn in talk.turns):
        return True
    for group in talk.groups if talk else ():
        wire = group.cases[0].wire
        if isinstance(wire, Hole) and wire.shape in dialect.unions:
            return True
    if dialect.answered or any(c.read_only for g in (talk.groups if talk else ()) for c in g.cases):
        return True
    apart = {id(c) for name in ("response", "error") for c in _cases(dialect, name)}
    for case in dialect.cases:
        for hole in pic.holes(case.wire) if id(case) not in apart else ():
            if hole.mark == "copy" or (hole.mark == "made" and hole.value is not None):
                return True
            if not BEYOND.isdisjoint(hole.lenses):
                return True
            found = [dialect.schemas[x] for x in hole.lenses if x in dialect.schemas]
            if hole.path == "parameters" and not all(schema.simple for schema in found):
                return True
        if _beyond(case.wire) or (isinstance(case.ir, Fields) and "own" in case.ir.names):
            return True
    return False


def _cases(dialect: Dialect, unit: str) -> list[Case]:
    return dialect.units[unit].cases if unit in dialect.units else []


def _beyond(p: Picture, top: bool = True) -> bool:
    """Tell whether a picture holds an object of literals and marked holes that must stand."""
    if isinstance(p, Fields):
        holes = list(pic.holes(p))
        marked = bool(holes) and all(hole.mark for hole in holes)
        if not top and p.firm and marked and not any(h.mark in ("fill", "default") for h in holes):
            return True
        return any(_beyond(child, False) for _, child in p.entries)
    if isinstance(p, Items):
        return p.rest is not None or any(_beyond(child, False) for child in p.items)
    return False


def told_by_text(model: Dialect) -> bool:
    """Tell whether a text decides which result it is: generated code looks at types and keys."""
    results = model.shapes.get("tool_result")
    cases = results.cases if results else ()
    return any("value" in text.names for case in cases for text in pic.texts(case.wire))
