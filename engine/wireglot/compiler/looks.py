"""What cases look like: small questions about pictures that the compiler asks."""

from __future__ import annotations

from ..language.lenses import is_guard
from ..language.model import Case, Dialect, Shape
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture, holes
from .symbols import Cannot


def entries(dialect: Dialect) -> list[tuple[tuple[str, ...], Picture]]:
    """Return the keys of a dialect's request and what stands there."""
    wire = dialect.units["request"].cases[0].wire
    return wire.entries if isinstance(wire, Fields) else []


def find(p: Picture, path: str) -> Hole | None:
    return next((h for h in holes(p) if h.path == path), None)


def tag(cases: list[tuple[Shape, Case]]) -> str | None:
    """Return the key whose literals tell the cases of a union apart."""
    count: dict[str, int] = {}
    for _, case in cases:
        if isinstance(case.wire, Fields):
            for (name, *_), child in case.wire.entries:
                if isinstance(child, Literal) and isinstance(child.values[0], str):
                    count[name] = count.get(name, 0) + 1
    best = max(count, key=lambda k: count[k], default=None)
    return best


def literal(p: Fields, key: str | None) -> str | None:
    for (name, *_), child in p.entries:
        if name == key and isinstance(child, Literal) and isinstance(child.values[0], str):
            return child.values[0]
    return None


def usual(case: Case) -> bool:
    """Tell whether a case is the usual one of its shape: it takes no unusual form."""
    return case.note is None and not any(
        h.path in ("arguments_text", "input") for h in _required(case.wire)
    )


def _required(p: Picture) -> list[Hole]:
    return [h for h in holes(p) if h.mark is None]


def result_kind(case: Case) -> str | None:
    kind = case.sides[0].get("/kind")
    return str(kind[0]) if isinstance(kind, tuple) else None


def spreads(p: Picture) -> bool:
    """Tell whether `$value` is a whole object of the picture, with nothing beside it."""
    if isinstance(p, Fields):
        if any(h.path == "value" for h in p.spread) and not p.entries:
            return True
        return any(spreads(c) for _, c in p.entries if not _has_list(p))
    return False


def _has_list(p: Fields) -> bool:
    return any(isinstance(c, Hole) and c.mode == "each" for _, c in p.entries)


def closed_key(p: Picture) -> str | None:
    """Return the one key of a closed object that holds `$value`."""
    if isinstance(p, Fields):
        if p.closed and len(p.entries) == 1:
            (name, *_), child = p.entries[0]
            if isinstance(child, Hole) and child.path == "value":
                return name
        for _, child in p.entries:
            found = closed_key(child)
            if found is not None:
                return found
    return None


def gathering(dialect: Dialect) -> tuple[str, str] | None:
    hole = find(dialect.units["request"].cases[0].wire, "tools")
    for member in dialect.unions.get(hole.shape or "", []) if hole else []:
        shape = dialect.shapes[member]
        if shape.groups and isinstance(shape.cases[0].wire, Fields):
            (name, *_), child = shape.cases[0].wire.entries[0]
            if isinstance(child, Hole) and child.shape is not None:
                return name, child.shape
    return None


def unlensed(p: Fields, dialect: Dialect) -> Fields:
    """Return a picture without its schema lenses, which the caller checks."""
    entries: list[tuple[tuple[str, ...], Picture]] = []
    for names, child in p.entries:
        if isinstance(child, Hole) and set(child.lenses) & set(dialect.schemas):
            child = Hole(
                child.paths, child.mode, child.shape, (), child.mark, child.value, child.pos
            )
        elif isinstance(child, Fields):
            child = unlensed(child, dialect)
        entries.append((names, child))
    return Fields(entries, p.spread, p.closed, p.pos)


def plain_test(fixed: list[tuple[str, str]], var: str) -> str:
    """Return the code that tells whether an object is a plain text block and nothing more."""
    tests = [f"len({var}) == {len(fixed) + 1}", *(f"{var}.get({k!r}) == {v!r}" for k, v in fixed)]
    return " and ".join(tests)


def plain_block(dialect: Dialect, name: str | None = None) -> tuple[list[tuple[str, str]], str]:
    """Return the literals and the text key of a dialect's plain text block."""
    members = dialect.cases_of(name) if name else dialect.cases_of("text")
    for shape, case in members:
        if shape.kind == "text" and isinstance(case.wire, Fields):
            fixed = [
                (n[0], str(c.values[0]))
                for n, c in case.wire.entries
                if isinstance(c, Literal) and isinstance(c.values[0], str)
            ]
            for names, child in case.wire.entries:
                if isinstance(child, Hole) and child.path == "text":
                    rest = (c for _, c in case.wire.entries if c is not child)
                    said = not child.dated and all(map(is_guard, child.lenses))
                    if not said or not all(map(silent, rest)):
                        raise Cannot  # the block always holds more, or not its text as it is
                    return fixed, names[0]
    raise Cannot


def silent(p: Picture) -> bool:
    """Tell whether a picture writes nothing but words where no field stands."""
    if isinstance(p, Hole):
        return p.idle
    if isinstance(p, Literal):
        return p.values[0] is ABSENT or isinstance(p.values[0], str)
    return isinstance(p, Fields) and p.loose and all(silent(c) for _, c in p.entries)
