"""Where in the rules a place of a payload is pictured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..language.measure import may_fit
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Items, Picture, holes
from ..language.shape import Case
from ..language.source import Pos
from ..trail import At


class Place(NamedTuple):
    """A picture, and the keys under which a rule file has it: `shapes`, `usage`, `wire`."""

    path: tuple[str, ...]
    picture: Picture


def rule_at(dialect: Dialect, place: str, at: At) -> Pos | None:
    """Return the place of the picture that names a path of the wire, as deep as one is found.

    `place` is a unit, `conversation`, or the name of a shape or union.
    """
    found = picture_at(dialect, place, at)
    return found.pos if found else None


def picture_at(dialect: Dialect, place: str, at: At) -> Picture | None:
    """Return the picture that names a path of the wire, as deep as one is found."""
    found = list(standing(dialect, place))
    deepest = found[0] if found else None
    for step in at:
        above, found = found, [two for one in found for two in below(dialect, one, step)]
        if not found:
            break
        deepest = found[0]
        if isinstance(step, int) and deepest in above:  # the hole of a list, at its elements
            deepest = next(opened(dialect, deepest), deepest)
    return deepest.picture if deepest else None


def places(dialect: Dialect, unit: str, body: Any, at: At) -> list[Place]:
    """Return the pictures by which the value at a path is read, each place once."""
    found = list(standing(dialect, unit))
    for step in at:
        found = [inner for one in found for inner in below(dialect, one, step, body)]
        body = body[step] if isinstance(body, dict | list) else None
    found = [two for one in found for two in opened(dialect, one, body)]
    return list({one.path: one for one in found}.values())


def rule_of(dialect: Dialect, place: str, at: At) -> Pos | None:
    """Return the place of the hole that names a path of the IR, if one does."""
    words = [str(step) for step in at if not isinstance(step, int)]
    for end in range(len(words), 0, -1):
        for start in range(end):
            path = ".".join(words[start:end])
            for one in standing(dialect, place):
                for two in (one, *opened(dialect, one)):
                    for hole in holes(two.picture):
                        if path in hole.paths:
                            return hole.pos
    return None


def standing(dialect: Dialect, name: str, value: Any = ABSENT) -> Iterator[Place]:
    """Yield the pictures of a unit, shape or union, or of messages, that a value may be of.

    Of a value that is absent nothing is known.
    """
    if name in ("conversation", "messages") and dialect.conversation:
        for case in dialect.message_cases:
            if _may_be(case, value):
                yield Place(("conversation", "cases", case.name, "wire"), case.wire)
        return
    for member in dialect.unions.get(name, [name]):
        unit = dialect.units.get(member)
        shape, path = unit or dialect.shapes.get(member), (member, "wire")
        for case in shape.cases if shape is not None else ():
            if _may_be(case, value):
                yield Place(path if unit else ("shapes", *path), case.wire)


def opened(dialect: Dialect, place: Place, value: Any = ABSENT) -> Iterator[Place]:
    """Yield a picture, or those of the shapes that a hole names and a value may be of."""
    p = place.picture
    if isinstance(p, Hole) and p.shape is not None and not isinstance(value, list):
        yield from standing(dialect, p.shape, value)
    else:
        yield place


def below(dialect: Dialect, place: Place, step: object, value: Any = ABSENT) -> Iterator[Place]:
    """Yield the pictures of what stands under a key, or at a place of a list."""
    p = place.picture
    if isinstance(step, int):
        if isinstance(p, Items):
            inner = p.items[step] if step < len(p.items) else p.rest
            if inner is not None:
                yield Place(place.path, inner)
        elif isinstance(p, Hole) and p.shape is not None:
            yield place  # it is opened with the element
        return
    for one in opened(dialect, place, value):
        if value is ABSENT and isinstance(one.picture, Hole) and one is not place:
            yield from below(dialect, one, step)  # of a payload no part is taken for a message
        if not isinstance(one.picture, Fields):
            continue
        for names, child in one.picture.entries:
            if step in names:
                yield Place((*one.path, names[0]), child)
        for hole in one.picture.spread:
            if hole.shape is not None:
                yield from below(dialect, Place(one.path, hole), step, value)


def _may_be(case: Case, value: Any) -> bool:
    """Tell whether a value holds the keys and fixed words of a case; one that is absent may."""
    if value is ABSENT or not isinstance(case.wire, Fields):
        return True
    return isinstance(value, dict) and may_fit(case, value)
