"""Sighting: which events a frame holds. Every leaf of it is claimed by one event at most.

What no event claims may be an error, and whatever else the frame says.
"""

from __future__ import annotations

import functools
from typing import Any

from ..conversion.hands import Reader
from ..interpreter import unpictured
from ..interpreter.reader import told_by
from ..ir import field_type, without_memory
from ..language.events import Event, Stream, guards
from ..language.lenses import UNTYPED, Misfit, guard, same
from ..language.model import Dialect, once
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, keyed, ways
from ..language.shape import Case
from ..trail import At, leaves, place_of, value_at

Taken = tuple[Hole, Any, At]
OWNED = ("response.", "candidate.", "item.")  # holes that are not of the part


class Sight:
    """One event in a frame: where it stands (`at`), and the wire values of its holes."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self.at: dict[str, Any] = {}
        self.found: dict[str, Any] = {}  # plain holes, by path
        self.taken: list[Taken] = []  # holes that a shape or a lens reads
        self.claims: list[At] = []
        self.ats: dict[str, At] = {}  # where the addresses stand; they alone say nothing
        self.places: dict[str, At] = {}  # where the plain holes stand
        self.again: list[tuple[str, At]] = []  # where they stand once more
        self.place: tuple[int, ...] = ()

    def copy(self) -> Sight:
        """Return a sight that goes on from here."""
        new = Sight(self.event)
        new.at, new.found = dict(self.at), dict(self.found)
        new.taken, new.claims, new.place = list(self.taken), list(self.claims), self.place
        new.ats, new.places, new.again = dict(self.ats), dict(self.places), list(self.again)
        return new


class Frame:
    """A frame in the course of being read: the leaves that are claimed."""

    def __init__(self, wire: Any, dialect: Dialect) -> None:
        self.wire, self.dialect = wire, dialect
        self.claimed: set[At] = set()
        self.kept: list[At] = []  # what stands in an error and no picture names

    def sights(self, stream: Stream) -> list[Sight]:
        """Return the events of this frame, in their order."""
        found: list[tuple[bool, tuple[int, ...], int, Sight]] = []
        word = self.wire.get(stream.named) if isinstance(self.wire, dict) else None
        for nth, event in enumerate(stream.events):
            for picture, names in zip(event.reads, event.names, strict=True):
                if names is not None and not (isinstance(word, str | None) and word in names):
                    continue
                for sight in self._match(picture, self.wire, (), Sight(event)):
                    if self._live(sight):
                        self.claimed.update(sight.claims)
                        self.claimed.update(sight.ats.values())
                        found.append((event.last, sight.place, nth, sight))
        if len(found) > 1:
            found.sort(key=lambda one: one[:3])
        return [one[3] for one in found]

    def _live(self, sight: Sight) -> bool:
        """Tell whether a sight says something that no event before it has said."""
        if not sight.found and not sight.taken:
            places = sight.claims  # or else the address of a part is all that it says
            places = places or [sight.ats[n] for n in sight.event.addresses if n in sight.ats]
            return any(at not in self.claimed for at in places)
        gone = [one for one in sight.taken if one[2] in self.claimed and one[2] in sight.claims]
        if not gone:
            return True
        # What a frame says once, the counts beside two finishes, the first of its kind has said.
        sight.taken = [one for one in sight.taken if one not in gone]
        return bool(sight.taken) and all(hole.mark is not None for hole, _, _ in gone)

    def _match(self, p: Picture, wire: Any, at: At, sight: Sight) -> list[Sight]:
        if isinstance(p, Fields):
            return self._fields(p, wire, at, sight)
        if isinstance(p, Hole):
            return [sight] if self._hole(p, wire, at, sight) else []
        if isinstance(p, Literal):
            return [sight] if _literal(p, wire, at, sight) else []
        if isinstance(p, Items):
            return self._items(p, wire, at, sight)
        return []

    def _items(self, p: Items, wire: Any, at: At, sight: Sight) -> list[Sight]:
        if not p.items:  # an empty list guards nothing
            if wire == []:
                sight.claims.append(at)
            return [sight]
        if idle(p):
            return [sight]
        if not isinstance(wire, list):
            return []
        found: list[Sight] = []
        for i, item in enumerate(wire):
            one = sight.copy()
            one.place = (*sight.place, i)
            found += self._match(p.items[0], item, (*at, i), one)
        return found

    def _fields(self, p: Fields, wire: Any, at: At, sight: Sight) -> list[Sight]:
        if not isinstance(wire, dict):
            return [sight] if wire is ABSENT and idle(p) else []
        found = [sight]
        used: set[str] = set()
        for names, child in p.entries:
            key = names[0] if len(names) == 1 else told_by(names, wire)
            used.add(key)
            value, here = wire.get(key, ABSENT), (*at, key)
            if len(names) > 1 and guards(value):
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
                sight.claims.append(at)  # that there is nothing says something
        for hole in p.spread:
            if hole.shape is None:
                continue
            keys = self.dialect.keys_of(hole.shape)
            rest = {k: v for k, v in wire.items() if k in keys and k not in used}
            used |= rest.keys()
            found = [one for one in found if self._spread(hole, rest, at, one)]
        return found

    def _spread(self, h: Hole, wire: dict[str, Any], at: At, sight: Sight) -> bool:
        """Take the keys of another shape that stand among the outer ones."""
        there = {k: v for k, v in wire.items() if (*at, k) not in self.claimed and v is not None}
        if not there:
            return h.mark is not None
        sight.taken.append((h, there, at))
        sight.claims += [(*at, key) for key in there]
        return True

    def _hole(self, h: Hole, wire: Any, at: At, sight: Sight) -> bool:
        if wire is ABSENT or wire is None or any(same(value, wire) for value in h.unsaid):
            return h.mark is not None
        path = h.path
        if path[:3] == "at.":
            if wire.__class__ is not int:
                return h.mark is not None
            sight.at[path[3:]] = wire
            sight.ats[path[3:]] = at
            return True
        if h.shape is None and UNTYPED.issuperset(h.lenses):
            if at in self.claimed or not all(guard(lens, wire) for lens in h.lenses):
                return h.mark is not None
            if not _fits(h, wire, sight.event.piece):
                # An object is no piece, but a whole, which another picture may take.
                whole = path == "piece" and isinstance(wire, dict) and wire != {}
                return h.mark is not None and not whole
            if path in sight.found and not same(sight.found[path], wire):
                return h.mark is not None  # what is said twice in a frame is said alike
            if path in sight.found:
                sight.again.append((path, sight.places[path]))
            sight.found[path], sight.places[path] = wire, at
            sight.claims.append(at)
            return True
        if not self._worded(h, wire):
            return h.mark is not None
        if h.shape is not None:
            size = len(at)
            if not holds(self.dialect, h, wire) or any(
                claim[:size] == at for claim in self.claimed
            ):
                return h.mark is not None
        elif at in self.claimed:
            return h.mark is not None
        sight.taken.append((h, wire, at))
        sight.claims.append(at)
        return True

    def _worded(self, h: Hole, wire: Any) -> bool:
        """Tell whether a value is a word of the tables of a hole that take no others."""
        found = (self.dialect.tables.get(lens) for lens in h.lenses)
        return all(
            isinstance(wire, str) and (wire in table.to_ir or wire in table.read_also)
            for table in found
            if table is not None and table.closed
        )

    def common(self, p: Picture | None) -> list[tuple[int, Taken]]:
        """Return what every frame holds, as far as it is there, each with its candidate."""
        found: list[tuple[int, Taken]] = []
        self._common(p, self.wire, (), 0, found)
        return found

    def _common(
        self, p: Picture | None, wire: Any, at: At, nth: int, found: list[tuple[int, Taken]]
    ) -> None:
        if isinstance(p, Fields) and isinstance(wire, dict):
            there = [(c, name) for names, c in p.entries for name in names if name in wire]
            for child, name in there:
                if isinstance(child, Hole) and child.path == "at.candidate":
                    nth = wire[name] if wire[name].__class__ is int and wire[name] >= 0 else nth
            for child, name in there:
                self._common(child, wire[name], (*at, name), nth, found)
        elif isinstance(p, Items) and isinstance(wire, list) and p.items:
            for i, item in enumerate(wire):
                self._common(p.items[0], item, (*at, i), nth, found)
        elif isinstance(p, Literal):
            if any(value is not ABSENT and same(value, wire) for value in p.values):
                self.claimed.add(at)
        elif isinstance(p, Hole) and wire is not None and _fits(p, wire):
            if p.path[:3] != "at." and at not in self.claimed:
                found.append((nth, (p, wire, at)))
            self.claimed.add(at)

    def rest(self) -> list[At]:
        """Return the leaves that nothing has claimed and that say something."""
        said = (at for at, one in leaves(self.wire) if at not in self.claimed and guards(one))
        return [at for at in said if self.claimed.isdisjoint(at[:n] for n in range(len(at)))]


def failing(sights: list[Sight]) -> list[At]:
    """Return where the whole response of a frame says what an error of the frame says, too."""
    wholes = [at for one in sights for hole, _, at in one.taken if hole.path == "response"]
    said = [
        (path, at)
        for one in sights
        if "error" in one.event.acts
        for path, at in (*one.places.items(), *((hole.path, at) for hole, _, at in one.taken))
    ]
    places = [at for path, at in said if not path.startswith("response")]
    return [at[len(base) :] for base in wholes for at in places if at[: len(base)] == base]


class Failure:
    """Knows an error of a dialect by the picture of the unit `error`."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._shape = dialect.units.get("error")
        cases = self._shape.cases if self._shape else ()
        self._needed = [  # the keys that each case cannot be without
            {names[0] for names, child in keyed(case.wire) if _stands(child)} for case in cases
        ]

    def of(self, wire: Any, frame: Frame) -> dict[str, Any] | None:
        """Return the error that a frame holds beside what events have claimed of it."""
        shape = self._shape
        if shape is None or not isinstance(wire, dict):
            return None
        said = {key for key in wire if wire[key] is not None and (key,) not in frame.claimed}
        pairs = zip(shape.cases, self._needed, strict=True)
        cases = [(shape, case) for case, needed in pairs if needed and needed <= said]
        if not cases:
            return None
        try:
            found = Reader(self._dialect, {}).first(cases, wire, (), True)
        except Misfit:
            return None
        frame.claimed.update((key,) for key in wire if key in shape.keys or wire[key] == "error")
        kept = (place_of(wire, at) for at in found.get("kept", {}).get(self._dialect.name, ()))
        frame.kept = [place for place in kept if place not in frame.claimed]
        return without_memory(found)

    def foreign(self, wire: Any, frame: Frame) -> dict[str, Any] | None:
        """Return the error of a frame that is none of the dialect's: a gateway may have said it.

        What stands beside its message is left.
        """
        if self._shape is None or not isinstance(wire, dict):
            return None
        at = unpictured.message_place(wire)
        if at is None:
            return None
        frame.claimed.update((at, *((key,) for key in wire if wire[key] == "error")))
        return {"message": value_at(wire, at)}


@functools.lru_cache(maxsize=4096)
def idle(p: Picture) -> bool:
    """Tell whether a picture holds nothing but fixed values that say nothing."""
    if isinstance(p, Literal):
        return p.values[0] is not ABSENT and not guards(p.values[0])
    if isinstance(p, Items):
        return bool(p.items) and all(idle(item) for item in p.items)
    if not isinstance(p, Fields) or p.closed or p.spread:
        return False
    return all(idle(child) for _, child in p.entries)


def holds(dialect: Dialect, h: Hole, wire: Any) -> bool:
    """Tell whether an object holds what one case of the shape of a hole cannot do without."""
    shape = dialect.shapes.get(h.named) if h.mode == "as" else None
    if shape is None or not isinstance(wire, dict) or h.lenses:
        return True
    return any(
        all(any(wire.get(n) is not None for n in names) for names in required(case))
        for case in shape.cases
    )


@functools.lru_cache(maxsize=4096)
def required(case: Case) -> tuple[tuple[str, ...], ...]:
    """Return the keys, each in its spellings, without which a case does not read an object."""
    return tuple(names for names, p in keyed(case.wire) if isinstance(p, Hole) and p.mark is None)


def _literal(p: Literal, wire: Any, at: At, sight: Sight) -> bool:
    for value in p.values:
        if value is ABSENT:
            if wire is ABSENT or not guards(wire):
                return True
        elif wire is not ABSENT and same(value, wire):
            sight.claims.append(at)
            return True
    return not guards(p.values[0]) and p.values[0] is not ABSENT


def _fits(h: Hole, wire: Any, piece: str = "any") -> bool:
    """Tell whether a value is of the type of a hole that takes it as it is."""
    if h.shape is not None or not UNTYPED.issuperset(h.lenses) or "own" in h.path.split("."):
        return True
    kind = piece if h.path == "piece" else field_type("", h.path)
    return kind == "any" or guard("string" if kind == "opaque" else kind, wire)


def _stands(p: Picture) -> bool:
    """Tell whether something must stand where a picture does."""
    if isinstance(p, Hole):
        return p.mark is None
    return not isinstance(p, Fields | Literal) or (isinstance(p, Fields) and not p.loose)


def model_in(dialect: Dialect, frame: Any) -> str | None:
    """Return the name of the model that a frame says."""
    found = (value_at(frame, path) for path in _of_model(dialect))
    return next((name for name in found if isinstance(name, str)), None)


@once
def _of_model(dialect: Dialect) -> list[At]:
    """Return the places at which frames may say the name of the model."""
    there = (pair for p in dialect.streamed.pictures() for pair in ways(p))
    found = (way for hole, way in there if hole.path == "response.model" and None not in way)
    return list(dict.fromkeys(found))
