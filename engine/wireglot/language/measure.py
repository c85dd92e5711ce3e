"""How narrow a picture is, and whether two pictures can fit the same value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ir import field_type
from . import picture as pic
from .lenses import GUARDS, UNTYPED, is_guard
from .picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text, keyed
from .shape import Case, Head


def measure(case: Case, kind: str | None) -> None:
    """Weigh a case by how little fits it, and note what tells it apart on both sides."""
    wire: dict[str, Any] = {}
    ir: dict[str, Any] = {} if kind is None else {"type": (kind,)}
    weight = _weigh(case.wire, "", wire, case.shape)
    if case.ir is not None:
        _weigh(case.ir, "", ir, case.shape)
    for hole in pic.holes(case.wire):
        for path in hole.paths:
            if path != "." and hole.mark is None and path not in ir:
                ir[path] = _ir_types(hole, case.shape)
        if hole.mode == "each" and hole.path != ".":
            case.lists.setdefault(hole.path, []).append(hole)
    case.weight, case.sides = weight, (ir, wire)
    note_needs(case)
    case.home = any("home" in hole.lenses for hole in pic.holes(case.wire))


def note_needs(case: Case) -> None:
    """Note what an object must hold for a case to fit."""
    case.heads, case.needs = tuple(_fixed_words(case.wire)), frozenset(_needs(case.wire))


def _fixed_words(p: Picture) -> Iterator[Head]:
    """Yield the words that an object must hold for a picture to fit."""
    for names, child in keyed(p):
        if isinstance(child, Literal):
            words = [value for value in child.values if value is not ABSENT]
            if words and all(isinstance(word, str) for word in words):
                yield names, frozenset(words), len(words) < len(child.values)


def _needs(p: Picture) -> Iterator[str]:
    """Yield the keys without which no object fits a picture, of those with one spelling."""
    for names, child in keyed(p):
        if len(names) == 1 and needed(child):
            yield names[0]


def needed(p: Picture) -> bool:
    """Tell whether a picture under a key fits only where something stands there."""
    if isinstance(p, Hole):
        return p.required and p.path != "nth"
    if isinstance(p, Literal):
        return ABSENT not in p.values
    if isinstance(p, Fields) and p.loose:
        return any(needed(child) for _, child in p.entries)
    return True


def may_fit(case: Case, wire: dict[str, Any]) -> bool:
    """Tell whether an object holds the keys and fixed words of a case: a quick look before it."""
    return case.needs <= wire.keys() and (not case.heads or has_fixed_words(case, wire))


def has_fixed_words(case: Case, wire: dict[str, Any]) -> bool:
    """Tell whether the fixed words of a case stand in an object."""
    for names, words, optional in case.heads:
        found = next((wire[name] for name in names if name in wire), None)
        if found is None:
            if not optional:
                return False
        elif not isinstance(found, str) or found not in words:
            return False
    return True


def _ir_types(hole: Hole, shape: str) -> frozenset[str]:
    guards = [lens for lens in hole.lenses if is_guard(lens) and lens not in UNTYPED]
    words = frozenset(guards[0].split("+")) if guards else frozenset()
    if not words and hole.mode == "each":
        words = frozenset(("list",))
    kind = field_type(shape, hole.path)
    return words or frozenset(("list" if kind == "list of text" else kind,))


def wire_types(hole: Hole, shape: str) -> frozenset[str]:
    """Return the types of what a hole takes on the wire, where something stands."""
    if "json" in hole.lenses:
        return frozenset(("string",))
    if hole.lenses[-1:] in (("bare",), ("blocks",), ("plain",)):
        return frozenset(("string", "list"))
    if not hole.lenses or is_guard(hole.lenses[-1]):
        return _ir_types(hole, shape)
    return frozenset(("any",))


def _weigh(p: Picture, path: str, side: dict[str, Any], shape: str) -> float:
    """Return how narrow a picture is, and put into `side` what it says of each place below `path`.

    That is a tuple of the values that may stand there, a frozenset of types, or a text picture.
    """
    if isinstance(p, Literal):
        side[path] = p.values
        return 3.0 if ABSENT in p.values else 10.0
    if isinstance(p, Text):
        side[path] = p
        return 9.0  # a fixed text is narrower than any guard
    if isinstance(p, Items):
        side[path] = frozenset(("list",))
        inner = sum(_weigh(c, f"{path}/{i}", side, shape) for i, c in enumerate(p.items))
        return inner + (1.5 if p.rest is not None else 2.0)  # so many and no more is narrower
    if isinstance(p, Fields):
        total = 2.0 if p.closed else 0.0
        for names, child in p.entries:
            total += _weigh(child, f"{path}/{names[0]}", side, shape)
        if any(h.path != "." for h in p.spread):
            total += 1.0
        return total
    if isinstance(p, Hole) and p.required:
        side[path] = wire_types(p, shape)
        told = sum(lens != "home" for lens in p.lenses)  # that says nothing of the value
        if p.repeats:
            return 9.0  # one value alone fits
        return 4.0 + 2 * told + (1.5 if p.mode else 0.0)
    return 0.0


def disjoint(one: dict[str, Any], two: dict[str, Any]) -> bool:
    """Tell whether no JSON (or no IR value) can fit two `Case.sides`."""
    for path in one.keys() | two.keys():
        a, b = one.get(path), two.get(path)
        if isinstance(a, tuple) and isinstance(b, tuple):
            if not set(map(repr, a)) & set(map(repr, b)):
                return True
        elif a is None or b is None:
            only, other = (a, two) if b is None else (b, one)
            if only == (ABSENT,) and any(k.startswith(f"{path}/") for k in other):
                return True
        elif isinstance(a, frozenset) and isinstance(b, frozenset):
            if not (a & b or "any" in a | b or (a | b) <= {"integer", "number"}):
                return True
        elif (a == (ABSENT,)) != (b == (ABSENT,)) and (a == (ABSENT,) or b == (ABSENT,)):
            return True
        elif isinstance(a, tuple) != isinstance(b, tuple):
            values, words = (a, b) if isinstance(a, tuple) else (b, a)
            if isinstance(words, frozenset) and "any" not in words:
                there = [value for value in values if value is not ABSENT]
                tests = [GUARDS.get(word) for word in words]
                if not any(test is None or test(value) for value in there for test in tests):
                    return True
    return False
