"""Likeness: what tells whether a frame is like one before, as far as events can tell.

The pictures of the events say where a frame must be as that one was: where their fixed values
stand, where it counts whether anything is said, and which keys they look for. All else that stands
in a hole may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from ..errors import ConversionError
from ..language.events import Stream, guards
from ..language.model import Dialect
from ..language.picture import Fields, Hole, Items, Literal, Picture, Way, ways
from ..payload import check_json
from ..trail import At, path_of, value_at
from .sighting import holds

DEEPEST = 20  # keys and numbers on the way to a value of a form
QUICK = (str, int)  # values of holes that are looked at at once
Check = Callable[[Any, list[Any]], bool]  # takes the values of the holes, too


class Slots:
    """Where in a frame the values stand that holes take."""

    def __init__(self) -> None:
        self.of: dict[At, int] = {}
        # What a shape reads, and its hole where it reads all that stands there.
        self.shaped: dict[At, Hole | None] = {}
        self.ordered: set[At] = set()  # objects of which a shape reads some keys, in their order

    def at(self, place: At) -> int:
        """Return the number of the slot for the value at a place."""
        return self.of.setdefault(place, len(self.of))


class Likeness:
    """What the pictures of one stream look for."""

    def __init__(self, dialect: Dialect, stream: Stream) -> None:
        self._dialect, self._named = dialect, stream.named
        self._fixed: set[str] = set()  # places of values that tell events apart
        self._empty: set[str] = set()  # places where it does that something, or nothing, is said
        self._holes: set[str] = set()
        self._doubles: set[tuple[Way, Way]] = set()  # places where a picture has the same hole
        self._keys: dict[str, set[str]] = {}  # keys that pictures look for, by the place
        self._whole: set[str] = set()  # places where all keys, or all elements, count
        for p in [stream.frame, *(p for event in stream.events for p in event.reads)]:
            self._look(p, "")
            found = list(ways(p)) if p is not None else []
            # Those that take a value as it is.
            plain = [(h.path, way) for h, way in found if h.shape is None and h.path[:3] != "at."]
            pairs = ((one, two) for n, one in enumerate(plain) for two in plain[:n])
            self._doubles |= {(one[1], two[1]) for one, two in pairs if one[0] == two[0]}

    def check(self, wire: Any, slots: Slots, twins: int) -> Check | None:
        """Return what tells whether a frame is like this one, which says so many things twice.

        None where other values in the slots might be what other events are known by.
        """
        places = [(path_of(at), value_at(wire, at)) for at in slots.of]
        if () in slots.of or any(p in self._fixed and p != self._named for p, _ in places):
            return None
        if any(value.__class__ is float and path in self._holes for path, value in places):
            return None  # whether it fits depends on whether it is a whole number
        double = (_there(wire, one) and _there(wire, two) for one, two in self._doubles)
        if sum(double) > twins:
            return None  # what could be said twice is not said alike, and elsewhere it may be
        if any(at[:size] in slots.of for at in slots.of for size in range(len(at))):
            return None  # one event takes as a whole what another looks into
        return self._alike(wire, (), slots)

    def _look(self, p: Picture | None, path: str) -> None:
        """Learn what a picture looks for at a place."""
        if isinstance(p, Fields):
            keys = self._keys.setdefault(path, set())
            for names, child in p.entries:
                for name in names:
                    keys.add(name)
                    self._look(child, f"{path}.{name}".lstrip("."))
            for hole in p.spread:
                keys |= self._dialect.keys_of(hole.shape) if hole.shape is not None else set()
            if p.closed:
                self._whole.add(path)
        elif isinstance(p, Items):
            self._whole.add(path)
            self._empty.add(path)
            for child in p.items:
                self._look(child, f"{path}[]")
        elif isinstance(p, Literal):
            known = self._fixed if any(map(guards, p.values)) else self._empty
            known.add(path)
        elif isinstance(p, Hole):
            self._holes.add(path)
            tables = (self._dialect.tables.get(lens) for lens in p.lenses)
            if any(t is not None and t.closed for t in tables):
                self._fixed.add(path)
            if "filled" in p.lenses:
                self._empty.add(path)

    def _alike(self, wire: Any, at: At, slots: Slots) -> Check | None:
        """Return what tells whether a value is alike; None for one that is nested too deep."""
        if at in slots.of:
            return _hole(wire.__class__, slots.of[at], self._more(wire, at, slots))
        if len(at) > DEEPEST:
            return None
        pairs = wire.items() if isinstance(wire, dict) else enumerate(wire)
        fixed, holes, inner = [], [], []
        for key, child in pairs:
            place, kind = (*at, key), child.__class__
            if place in slots.of and kind in QUICK and not self._more(child, place, slots):
                holes.append((key, kind, slots.of[place]))
            elif place not in slots.of and not isinstance(child, dict | list):
                fixed.append((key, kind, child))
            else:
                check = self._alike(child, place, slots)
                if check is None:
                    return None
                inner.append((key, check))
        order = tuple(wire) if at in slots.ordered else None
        return _container(wire.__class__, len(wire), inner, fixed, holes, order=order)

    def _more(self, wire: Any, at: At, slots: Slots) -> list[Check]:
        """Return what else must be of the value of a hole."""
        path = path_of(at)
        more = [_fixed(wire)] if path == self._named else []
        if at in slots.shaped:
            more.append(self._inside(wire, path))
            hole = slots.shaped[at]
            if hole is not None and hole.mode == "as" and wire.__class__ is dict:
                more.append(lambda value, values: holds(self._dialect, hole, value))
        elif path in self._empty:
            more.append(_saying(wire))
        return more

    def _inside(self, wire: Any, path: str) -> Check:
        """Return what tells whether what a shape reads is alike in all that events look for."""
        whole = path in self._whole
        if wire.__class__ is dict:
            keys = set(wire) if whole else self._keys.get(path, set())
            said = [(key, wire[key], f"{path}.{key}") for key in keys & wire.keys()]
            children = [(key, self._inside(value, at)) for key, value, at in said]
            return _container(
                dict, len(wire) if whole else None, children, absent=keys - wire.keys()
            )
        if wire.__class__ is list:
            items = [(n, self._inside(one, f"{path}[]")) for n, one in enumerate(wire) if whole]
            return _container(list, len(wire) if whole else None, items)
        if path in self._fixed:
            return _fixed(wire)
        if path in self._empty:
            return _saying(wire)
        kind = wire.__class__
        return lambda value, values: value.__class__ is kind


def _there(value: Any, way: Way) -> bool:
    """Tell whether something stands at a place; None is any element of a list."""
    if not way:
        return value is not None
    if way[0] is None:
        return isinstance(value, list) and any(_there(one, way[1:]) for one in value)
    return isinstance(value, dict) and way[0] in value and _there(value[way[0]], way[1:])


def _hole(kind: Any, slot: int, more: Sequence[Check]) -> Check:
    def check(value: Any, values: list[Any]) -> bool:
        if value.__class__ is not kind or not (kind is int or _sound(value)):
            return False
        values[slot] = value
        return not more or all(one(value, values) for one in more)

    return check


def _sound(value: Any) -> bool:
    """Tell whether a value is JSON; what is wrong with it is said elsewhere, with its place."""
    try:
        check_json(value)
    except ConversionError:
        return False
    return True


def _saying(like: Any) -> Check:
    """Check whether anything is said, as by a value like it."""
    kind, said = like.__class__, guards(like)
    return lambda value, values: value.__class__ is kind and guards(value) is said


def _container(
    kind: Any,
    size: int | None,
    inner: list[tuple[Any, Check]],
    fixed: Sequence[tuple[Any, Any, Any]] = (),
    holes: Sequence[tuple[Any, Any, int]] = (),
    absent: Set[str] = frozenset(),
    order: tuple[str, ...] | None = None,
) -> Check:
    """Check an object or a list by what stands in it; its size and order count if given.

    Values that are `fixed`, and texts and numbers of `holes`, come with their classes.
    """

    def check(value: Any, values: list[Any]) -> bool:
        if value.__class__ is not kind or (size is not None and len(value) != size):
            return False
        if absent and not absent.isdisjoint(value):
            return False
        if order is not None and tuple(value) != order:
            return False
        try:
            for key, like, meant in fixed:
                one = value[key]
                if one.__class__ is not like or one != meant:
                    return False
            for key, within in inner:
                if not within(value[key], values):
                    return False
            for key, like, slot in holes:
                one = values[slot] = value[key]
                if one.__class__ is not like:
                    return False
                if like is str and not one.isascii() and not _sound(one):
                    return False
        except KeyError:
            return False
        return True

    return check


def _fixed(meant: Any) -> Check:
    kind = meant.__class__

    def check(value: Any, values: list[Any]) -> bool:
        return bool(value.__class__ is kind and value == meant)

    return check
