"""Recognising: which events a frame holds. Every leaf of it is claimed by one event at most.

What no event claims may be an error, and whatever else the frame says.
"""

from __future__ import annotations

import functools
from typing import Any

from ..conversion.hands import Reader
from ..interpreter import unpictured
from ..interpreter.reader import told_by
from ..ir import field_type, without_memory
from ..language.events import Event, Stream
from ..language.lenses import UNTYPED, Misfit, guard, same
from ..language.measure import needed
from ..language.model import Dialect, once
from ..language.picture import (
    ABSENT,
    Fields,
    Hole,
    Items,
    Literal,
    Picture,
    distinguishes,
    keyed,
    ways,
)
from ..language.shape import Case
from ..trail import At, leaves, place_of, value_at

HoleMatch = tuple[Hole, Any, At]  # a hole, the wire value that stands there, its place
Common = list[tuple[int, HoleMatch]]  # what any frame may say, each with the number of its answer
NOT_OF_PART = ("response.", "candidate.", "item.")  # holes that are not of the part


class EventMatch:
    """One event in a frame: its address there, and the wire values of its holes."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self.address: dict[str, Any] = {}
        self.values: dict[str, Any] = {}  # plain holes, by path
        self.shaped: list[HoleMatch] = []  # holes that a shape or a lens reads
        self.claims: list[At] = []
        self.address_at: dict[str, At] = {}  # where the addresses stand; they alone say nothing
        self.values_at: dict[str, At] = {}  # where the plain holes stand
        self.repeats: list[tuple[str, At]] = []  # where they stand once more
        self.order: tuple[int, ...] = ()

    def copy(self) -> EventMatch:
        """Return a match that goes on from here, and leaves this one as it is."""
        new = EventMatch(self.event)
        new.address, new.values = dict(self.address), dict(self.values)
        new.shaped, new.claims, new.order = list(self.shaped), list(self.claims), self.order
        new.address_at, new.values_at = dict(self.address_at), dict(self.values_at)
        new.repeats = list(self.repeats)
        return new


class Frame:
    """A frame in the course of being read: the leaves that are claimed."""

    def __init__(self, wire: Any, dialect: Dialect) -> None:
        self.wire, self.dialect = wire, dialect
        self.claimed: set[At] = set()
        self.unpictured: list[At] = []  # what stands in an error and no picture names

    def matches(self, stream: Stream) -> list[EventMatch]:
        """Return the events of this frame, in their order."""
        found: list[tuple[bool, tuple[int, ...], int, EventMatch]] = []
        word = self.wire.get(stream.named) if isinstance(self.wire, dict) else None
        for nth, event in enumerate(stream.events):
            for picture, names in zip(event.reads, event.names, strict=True):
                if names is not None and not (isinstance(word, str | None) and word in names):
                    continue
                for match in self._match(picture, self.wire, (), EventMatch(event)):
                    if self._says_news(match):
                        self.claimed.update(match.claims)
                        self.claimed.update(match.address_at.values())
                        found.append((event.last, match.order, nth, match))
        if len(found) > 1:
            found.sort(key=lambda one: one[:3])
        return [one[3] for one in found]

    def _says_news(self, match: EventMatch) -> bool:
        """Tell whether an event says something that none before it in the frame has said."""
        if not match.values and not match.shaped:
            addresses, at = match.event.addresses, match.address_at
            # Without a claim the address of a part is all that it says.
            places = match.claims or [at[name] for name in addresses if name in at]
            return any(place not in self.claimed for place in places)
        gone = [one for one in match.shaped if one[2] in self.claimed and one[2] in match.claims]
        if not gone:
            return True
        # What a frame says once, the counts beside two finishes, the first of its kind has said.
        match.shaped = [one for one in match.shaped if one not in gone]
        return bool(match.shaped) and all(hole.mark is not None for hole, _, _ in gone)

    def _match(self, p: Picture, wire: Any, at: At, match: EventMatch) -> list[EventMatch]:
        if isinstance(p, Fields):
            return self._match_fields(p, wire, at, match)
        if isinstance(p, Hole):
            return [match] if self._match_hole(p, wire, at, match) else []
        if isinstance(p, Literal):
            return [match] if _match_literal(p, wire, at, match) else []
        if isinstance(p, Items):
            return self._match_items(p, wire, at, match)
        return []

    def _match_items(self, p: Items, wire: Any, at: At, match: EventMatch) -> list[EventMatch]:
        if not p.items:  # an empty list guards nothing
            if wire == []:
                match.claims.append(at)
            return [match]
        if is_inert(p):
            return [match]
        if not isinstance(wire, list):
            return []
        found: list[EventMatch] = []
        for i, item in enumerate(wire):
            one = match.copy()
            one.order = (*match.order, i)
            found += self._match(p.items[0], item, (*at, i), one)
        return found

    def _match_fields(self, p: Fields, wire: Any, at: At, match: EventMatch) -> list[EventMatch]:
        if not isinstance(wire, dict):
            return [match] if wire is ABSENT and is_inert(p) else []
        found = [match]
        used: set[str] = set()
        for names, child in p.entries:
            key = names[0] if len(names) == 1 else told_by(names, wire)
            used.add(key)
            value, here = wire.get(key, ABSENT), (*at, key)
            if len(names) > 1 and distinguishes(value):
                twice = [n for n in names if n != key and n in wire and same(wire[n], value)]
                for one in found if twice else ():
                    one.claims += [(*at, name) for name in twice]
                used.update(twice)
            found = [new for one in found for new in self._match(child, value, here, one)]
            if not found:
                return found
        if p.closed:
            if wire.keys() - used:
                return []
            if not used:
                match.claims.append(at)  # that there is nothing says something
        for hole in p.spread:
            if hole.shape is None:
                continue
            keys = self.dialect.keys_of(hole.shape)
            rest = {k: v for k, v in wire.items() if k in keys and k not in used}
            used |= rest.keys()
            found = [one for one in found if self._match_spread(hole, rest, at, one)]
        return found

    def _match_spread(self, h: Hole, wire: dict[str, Any], at: At, match: EventMatch) -> bool:
        """Take the keys of another shape that stand among the outer ones."""
        said = {key: value for key, value in wire.items() if value is not None}
        unclaimed = {key: said[key] for key in said if (*at, key) not in self.claimed}
        if not unclaimed:
            return h.mark is not None
        match.shaped.append((h, unclaimed, at))
        match.claims += [(*at, key) for key in unclaimed]
        return True

    def _match_hole(self, h: Hole, wire: Any, at: At, match: EventMatch) -> bool:
        if wire is ABSENT or wire is None or any(same(value, wire) for value in h.in_every_frame):
            return h.mark is not None
        path = h.path
        if path[:3] == "at.":
            if wire.__class__ is not int:
                return h.mark is not None
            match.address[path[3:]] = wire
            match.address_at[path[3:]] = at
            return True
        if h.shape is None and UNTYPED.issuperset(h.lenses):
            if at in self.claimed or not all(guard(lens, wire) for lens in h.lenses):
                return h.mark is not None
            if not _is_of_type(h, wire, match.event.piece):
                # An object is no piece, but a whole, which another picture may take.
                whole = path == "piece" and isinstance(wire, dict) and wire != {}
                return h.mark is not None and not whole
            if path in match.values and not same(match.values[path], wire):
                return h.mark is not None  # what is said twice in a frame is said alike
            if path in match.values:
                match.repeats.append((path, match.values_at[path]))
            match.values[path], match.values_at[path] = wire, at
            match.claims.append(at)
            return True
        if not self._is_table_word(h, wire):
            return h.mark is not None
        if h.shape is not None:
            size = len(at)
            if not has_required_keys(self.dialect, h, wire) or any(
                claim[:size] == at for claim in self.claimed
            ):
                return h.mark is not None
        elif at in self.claimed:
            return h.mark is not None
        match.shaped.append((h, wire, at))
        match.claims.append(at)
        return True

    def _is_table_word(self, h: Hole, wire: Any) -> bool:
        """Tell whether a value is a word of the tables of a hole that take no others."""
        found = (self.dialect.tables.get(lens) for lens in h.lenses)
        return all(
            isinstance(wire, str) and (wire in table.to_ir or wire in table.read_also)
            for table in found
            if table is not None and table.closed
        )

    def common_values(self, p: Picture | None) -> Common:
        """Return what every frame holds by the picture of all frames, as far as it is there."""
        found: Common = []
        self._find_common(p, self.wire, (), 0, found)
        return found

    def _find_common(self, p: Picture | None, wire: Any, at: At, nth: int, found: Common) -> None:
        if isinstance(p, Fields) and isinstance(wire, dict):
            there = [(c, name) for names, c in p.entries for name in names if name in wire]
            for child, name in there:
                if isinstance(child, Hole) and child.path == "at.candidate":
                    nth = wire[name] if wire[name].__class__ is int and wire[name] >= 0 else nth
            for child, name in there:
                self._find_common(child, wire[name], (*at, name), nth, found)
        elif isinstance(p, Items) and isinstance(wire, list) and p.items:
            for i, item in enumerate(wire):
                self._find_common(p.items[0], item, (*at, i), nth, found)
        elif isinstance(p, Literal):
            if any(value is not ABSENT and same(value, wire) for value in p.values):
                self.claimed.add(at)
        elif isinstance(p, Hole) and wire is not None and _is_of_type(p, wire):
            if p.path[:3] != "at." and at not in self.claimed:
                found.append((nth, (p, wire, at)))
            self.claimed.add(at)

    def unclaimed_leaves(self) -> list[At]:
        """Return the leaves that nothing has claimed and that say something."""
        said = (
            at for at, one in leaves(self.wire) if at not in self.claimed and distinguishes(one)
        )
        return [at for at in said if self.claimed.isdisjoint(at[:n] for n in range(len(at)))]

    def error(self) -> dict[str, Any] | None:
        """Return the error that it holds beside what events have claimed, by its unit's picture."""
        shape, wire = self.dialect.units.get("error"), self.wire
        if shape is None or not isinstance(wire, dict):
            return None
        said = {key for key in wire if wire[key] is not None and (key,) not in self.claimed}
        found = [case for case in shape.cases if required_keys(case) and _may_read(case, said)]
        cases = [(shape, case) for case in found]
        if not cases:
            return None
        try:
            ir = Reader(self.dialect, {}).first(cases, wire, (), True)
        except Misfit:
            return None
        self.claimed.update((key,) for key in wire if key in shape.keys or wire[key] == "error")
        kept = (place_of(wire, at) for at in ir.get("kept", {}).get(self.dialect.name, ()))
        self.unpictured = [place for place in kept if place not in self.claimed]
        return without_memory(ir)

    def foreign_error(self) -> dict[str, Any] | None:
        """Return the error that it is, though none of the dialect's: a gateway may have said it.

        What stands beside its message is left.
        """
        wire = self.wire
        if "error" not in self.dialect.units or not isinstance(wire, dict):
            return None
        at = unpictured.message_place(wire)
        if at is None:
            return None
        self.claimed.update((at, *((key,) for key in wire if wire[key] == "error")))
        return {"message": value_at(wire, at)}


def failed_in_response(matches: list[EventMatch]) -> list[At]:
    """Return where the whole response of a frame says what an error of the frame says, too."""
    wholes = [at for one in matches for hole, _, at in one.shaped if hole.path == "response"]
    said = [
        (path, at)
        for one in matches
        if "error" in one.event.acts
        for path, at in (*one.values_at.items(), *((hole.path, at) for hole, _, at in one.shaped))
    ]
    places = [at for path, at in said if not path.startswith("response")]
    return [at[len(base) :] for base in wholes for at in places if at[: len(base)] == base]


@functools.lru_cache(maxsize=4096)
def is_inert(p: Picture) -> bool:
    """Tell whether a picture holds nothing but fixed values that say nothing."""
    if isinstance(p, Literal):
        return p.values[0] is not ABSENT and not distinguishes(p.values[0])
    if isinstance(p, Items):
        return bool(p.items) and all(is_inert(item) for item in p.items)
    if not isinstance(p, Fields) or p.closed or p.spread:
        return False
    return all(is_inert(child) for _, child in p.entries)


def has_required_keys(dialect: Dialect, h: Hole, wire: Any) -> bool:
    """Tell whether an object holds what one case of the shape of a hole cannot do without."""
    shape = dialect.shapes.get(h.named) if h.mode == "as" else None
    if shape is None or not isinstance(wire, dict) or h.lenses:
        return True
    said = {key for key, value in wire.items() if value is not None}
    return any(_may_read(case, said) for case in shape.cases)


@functools.lru_cache(maxsize=4096)
def required_keys(case: Case) -> tuple[tuple[str, ...], ...]:
    """Return the keys, each in its spellings, without which a case does not read an object."""
    return tuple(names for names, p in keyed(case.wire) if needed(p))


def _may_read(case: Case, said: set[str]) -> bool:
    """Tell whether no key is missing among some without which a case does not read them."""
    return not any(said.isdisjoint(names) for names in required_keys(case))


def _match_literal(p: Literal, wire: Any, at: At, match: EventMatch) -> bool:
    for value in p.values:
        if value is ABSENT:
            if wire is ABSENT or not distinguishes(wire):
                return True
        elif wire is not ABSENT and same(value, wire):
            match.claims.append(at)
            return True
    return not distinguishes(p.values[0]) and p.values[0] is not ABSENT


def _is_of_type(h: Hole, wire: Any, piece: str = "any") -> bool:
    """Tell whether a value is of the type of a hole that takes it as it is."""
    if h.shape is not None or not UNTYPED.issuperset(h.lenses) or "own" in h.path.split("."):
        return True
    kind = piece if h.path == "piece" else field_type("", h.path)
    return kind == "any" or guard("string" if kind == "opaque" else kind, wire)


def model_in(dialect: Dialect, frame: Any) -> str | None:
    """Return the name of the model that a frame says."""
    found = (value_at(frame, path) for path in _model_places(dialect))
    return next((name for name in found if isinstance(name, str)), None)


@once
def _model_places(dialect: Dialect) -> list[At]:
    """Return the places at which frames may say the name of the model."""
    there = (pair for p in dialect.streamed.pictures() for pair in ways(p))
    found = (way for hole, way in there if hole.path == "response.model" and None not in way)
    return list(dict.fromkeys(found))
