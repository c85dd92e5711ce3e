"""Where in the rules a place of a payload is pictured."""

from __future__ import annotations

from collections.abc import Iterator

from ..language.model import Dialect
from ..language.picture import Fields, Hole, Items, Picture, holes
from ..language.source import Pos
from ..trail import At


def rule_at(dialect: Dialect, place: str, at: At) -> Pos | None:
    """Return the place of the picture that names a path of the wire, as deep as one is found.

    `place` is a unit, `conversation`, or the name of a shape or union.
    """
    found = picture_at(dialect, place, at)
    return found.pos if found else None


def picture_at(dialect: Dialect, place: str, at: At) -> Picture | None:
    """Return the picture that names a path of the wire, as deep as one is found."""
    pictures = list(_of(dialect, place))
    deepest = pictures[0] if pictures else None
    for step in at:
        pictures = [inner for p in pictures for inner in _below(dialect, p, step)]
        if not pictures:
            break
        deepest = pictures[0]
    return deepest


def rule_of(dialect: Dialect, place: str, at: At) -> Pos | None:
    """Return the place of the hole that names a path of the IR, if one does."""
    words = [str(step) for step in at if not isinstance(step, int)]
    for end in range(len(words), 0, -1):
        for start in range(end):
            path = ".".join(words[start:end])
            for p in _of(dialect, place):
                for hole in holes(p):
                    if path in hole.paths:
                        return hole.pos
    return None


def _of(dialect: Dialect, place: str) -> Iterator[Picture]:
    if place in ("conversation", "messages") and dialect.conversation:
        for case in dialect.talks:
            yield from _opened(dialect, case.wire)
        return
    unit = dialect.units.get(place)
    names = dialect.unions.get(place, [place])
    shapes = [unit] if unit else [dialect.shapes[n] for n in names if n in dialect.shapes]
    for shape in shapes:
        yield from (case.wire for case in shape.cases)


def _opened(dialect: Dialect, p: Picture) -> Iterator[Picture]:
    """Yield a picture, and those of the shape that it names."""
    yield p
    if isinstance(p, Hole) and p.shape is not None:
        yield from _of(dialect, p.shape)


def _below(dialect: Dialect, p: Picture, step: object) -> Iterator[Picture]:
    if isinstance(p, Fields):
        for names, child in p.entries:
            if step in names:
                yield child
        for hole in p.spread:
            if hole.shape is not None:
                for inner in _of(dialect, hole.shape):
                    yield from _below(dialect, inner, step)
    elif isinstance(p, Items) and isinstance(step, int):
        if step < len(p.items):
            yield p.items[step]
        elif p.rest is not None:
            yield from _below(dialect, p.rest, step)
    elif isinstance(p, Hole) and p.shape is not None:
        inside = list(_of(dialect, p.shape))
        if isinstance(step, int):
            yield from inside
        else:
            for inner in inside:
                yield from _below(dialect, inner, step)
