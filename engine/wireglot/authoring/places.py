"""Where in a rule file the picture stands that a place of a payload is read by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture
from ..language.shape import Case
from ..trail import At


class Place(NamedTuple):
    """A picture, and the keys under which a rule file has it: `shapes`, `usage`, `wire`."""

    path: tuple[str, ...]
    picture: Picture


def places(dialect: Dialect, unit: str, body: Any, at: At) -> list[Place]:
    """Return the pictures by which the value at a path is read, each place once."""
    found = [Place((unit, "wire"), case.wire) for case in dialect.units[unit].cases]
    for step in at:
        found = [next_ for one in found for next_ in _below(dialect, one, body, step)]
        body = body[step] if isinstance(body, dict | list) else None
    found = [opened for one in found for opened in _opened(dialect, one, body)]
    return list({one.path: one for one in found}.values())


def objects(dialect: Dialect, unit: str, body: Any) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield each object of a payload with each picture of an object that it may be read by."""
    start = [Place((unit, "wire"), case.wire) for case in dialect.units[unit].cases]
    stack: list[tuple[list[Place], Any]] = [(start, body)]
    while stack:
        found, value = stack.pop()
        steps: Any = value if isinstance(value, dict) else range(len(value))
        for step in steps:
            if isinstance(value[step], dict | list):
                inner = [below for one in found for below in _below(dialect, one, value, step)]
                if inner:
                    stack.append((inner, value[step]))
        if isinstance(value, dict):
            opened = [two for one in found for two in _opened(dialect, one, value)]
            for one in {one.path: one for one in opened}.values():
                if isinstance(one.picture, Fields):
                    yield one, value


def _opened(dialect: Dialect, place: Place, value: Any) -> Iterator[Place]:
    """Yield a picture, or those of the shapes that a hole names and a value may be of."""
    p = place.picture
    if not isinstance(p, Hole) or p.shape is None or isinstance(value, list):
        yield place
        return
    if p.shape == "conversation":
        for case in dialect.talks:
            if may_be(case, value):
                yield Place(("conversation", "cases", case.name, "wire"), case.wire)
        return
    for name in dialect.unions.get(p.shape, [p.shape]):
        for case in dialect.shapes[name].cases if name in dialect.shapes else ():
            if may_be(case, value):
                yield Place(("shapes", name, "wire"), case.wire)


def _below(dialect: Dialect, place: Place, value: Any, step: object) -> Iterator[Place]:
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
    for one in _opened(dialect, place, value):
        if not isinstance(one.picture, Fields):
            continue
        for names, child in one.picture.entries:
            if step in names:
                yield Place((*one.path, names[0]), child)
        for hole in one.picture.spread:
            if hole.shape is not None:
                yield from _below(dialect, Place(one.path, hole), value, step)


def may_be(case: Case, value: Any) -> bool:
    """Tell whether the words that a case wants stand in a value."""
    if not isinstance(case.wire, Fields) or not isinstance(value, dict):
        return not isinstance(case.wire, Fields)
    for names, child in case.wire.entries:
        if isinstance(child, Literal):
            said = next((value[name] for name in names if name in value), ABSENT)
            if said not in child.values and ABSENT not in child.values:
                return False
    return True
