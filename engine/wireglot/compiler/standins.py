"""Stand-ins: numbers and names that change nothing but themselves, taken out and put back.

What becomes of the fields around the messages is remembered by value. Most of what differs there
from request to request is a number or a name that goes where it goes, whatever it is; with
something else in its stead the memory serves all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from ..ir import field_type
from ..language.picture import Fields, Hole, Picture, holes
from ..payload import MAX_NUMBER

CLASSES = {"string": (str,), "integer": (int,), "number": (int, float)}
STANDS: dict[type, Any] = {int: 1, float: 0.5, str: "x"}
Path = tuple[str, ...]
Said = list[tuple["Path | None", Any]]  # where values are put back, and the values


class Spot(NamedTuple):
    """A value in whose stead something may stand.

    Attributes:
        classes: What it may be.
        goal: Where it goes in what is made; None where it goes nowhere.
        beside: Keys of the same object with which it does change more than itself.
    """

    classes: tuple[type, ...]
    goal: Path | None
    beside: frozenset[str] = frozenset()


Spots = dict[str, Any]  # by key: a Spot, or the Spots of an object


def classes_of(path: str) -> tuple[type, ...]:
    """Return the classes of a request field's value; none where it is no number and no text."""
    return CLASSES.get(field_type("request", path), tuple(STANDS) if path[:4] == "own." else ())


def swapped(owner: dict[str, Any], spots: Spots, said: Said) -> dict[str, Any]:
    """Return an object with stand-ins; `said` takes what they stand for.

    Raises ValueError for a text with half a surrogate pair.
    """
    out = owner
    for key, value in owner.items():
        spot = spots.get(key)
        if spot is None:
            continue
        kind = value.__class__
        if spot.__class__ is dict:
            new = swapped(value, spot, said) if kind is dict else value
            if new is value:
                continue
        else:
            if kind not in spot[0] or not spot[2].isdisjoint(owner):
                continue
            if kind is str:
                if not value or not (value.isascii() or value.encode()):
                    continue
            elif not -MAX_NUMBER < value < MAX_NUMBER:  # which no NaN is
                continue
            said.append((spot[1], value))
            new = STANDS[kind]
        if out is owner:
            out = owner.copy()
        out[key] = new
    return out


def put_back(out: Any, said: Said) -> bool:
    """Put values where their stand-ins went; tell whether each of these is there."""
    for goal, value in said:
        if goal is None:
            continue
        owner = out
        for key in goal[:-1]:
            owner = owner.get(key)
            if owner.__class__ is not dict:
                return False
        stand = owner.get(goal[-1])
        if stand.__class__ is not value.__class__ or stand != STANDS[stand.__class__]:
            return False
        owner[goal[-1]] = value
    return True


def spots_of(wire: Picture, spot: Callable[[Hole, Fields], Spot | None]) -> Spots:
    """Return the spots of a picture, and of the objects in it.

    `spot` is asked of plain holes, and gets the object in which they stand.
    """
    spots: Spots = {}
    if not isinstance(wire, Fields):
        return spots
    for names, child in wire.entries:
        found: Any = None
        if isinstance(child, Fields):
            found = spots_of(child, spot)
        elif isinstance(child, Hole) and plain(child):
            found = spot(child, wire)
        spots |= dict.fromkeys(names, found) if found else {}
    return spots


def read(wire: Picture, family: str) -> Spots:
    """Return the spots of a request that is read: holes that are the only ones of their field.

    `family` is under which the dialect's own fields stand.
    """
    held = Counter(hole.path for hole in holes(wire))

    def spot(hole: Hole, _: Fields) -> Spot | None:
        goal = hole.path.split(".")
        if goal[0] == "own":
            goal.insert(1, family)
        classes = classes_of(hole.path)
        return Spot(classes, tuple(goal)) if classes and held[hole.path] == 1 else None

    return spots_of(wire, spot)


def plain(hole: Hole) -> bool:
    """Tell whether a hole holds a field of the request as it is."""
    if hole.path in ("model", "stream") or len(hole.paths) > 1:
        return False
    if hole.shape or hole.mode or hole.lenses:
        return False
    usual = hole.mark == "fill" and hole.value not in STANDS.values()
    return usual or hole.mark in (None, "optional")
