"""Frames that are alike: what events a frame holds is looked for once for each form of frame.

The form of a frame is all by which events are known: its keys, how long its lists are, the classes
of its values, which of its texts are the same, and the values that a picture has as fixed ones. In
two frames of one form the same events stand, and only the values of the holes differ. What a shape
reads may differ in all that no picture of an event looks for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..errors import ConversionError
from ..language.events import Stream, guards
from ..language.model import Dialect, once
from ..language.picture import Fields, Hole, Items, Literal, Picture
from ..payload import check_json
from ..trail import At, value_at
from .recognising import Sight, Taken

MOST = 128  # forms that are remembered of one dialect
DEEPEST = 20  # keys and numbers on the way to a value that no picture names
Found = tuple[list[Sight], list[tuple[int, Taken]], list[At], "Flow | None"]
Read = tuple[Hole, tuple[str, ...] | None, At]  # what a shape or a lens reads; some keys, or all


class Flow(NamedTuple):
    """A form of frames that only let a part grow: which places differ.

    These are the places of the `piece`, the `usage` and the `number` of a frame, and what is
    `said`: noted once, or a field of the response (`once`), of which the first frame is right.
    """

    free: dict[At, str]
    once: tuple[str, ...]


class Look:
    """What pictures look for at a place: words, and what stands in it; None in all of a list.

    `others` is what stands there under any other key, or None where a shape reads that.
    """

    def __init__(self, others: Look | None = None) -> None:
        self.words: set[Any] = set()
        self.inner: dict[str | None, Look] = {}
        self.others = others

    def under(self, key: Any) -> Look | None:
        """Return what is looked for under a key, or at a number."""
        return self.inner.get(None if key.__class__ is int else key, self.others)


class Known(NamedTuple):
    """A form of frames, by one of them: what it holds, and where."""

    sights: list[tuple[Sight, list[Read]]]
    common: list[tuple[int, At | None, Hole, At]]  # its candidate may stand at a place
    rest: list[At]
    flow: Flow | None  # if that is all that such frames do


class Forms:
    """The forms of the frames of one dialect, as they were met."""

    def __init__(self, dialect: Dialect, stream: Stream) -> None:
        self._known: dict[tuple[Any, ...], Known] = {}
        self._dialect, self._root = dialect, Look(_anything())
        for p in [stream.frame, *(p for event in stream.events for p in event.reads)]:
            if p is not None:
                self._look(p, self._root)
        if stream.named:
            named = self._root.inner.setdefault(stream.named, Look())
            named.words.update(*(names or () for one in stream.events for names in one.names))

    def _look(self, p: Picture, look: Look) -> None:
        """Learn what a picture looks for at a place."""
        if isinstance(p, Fields):
            for key, child in ((name, child) for names, child in p.entries for name in names):
                self._look(child, look.inner.setdefault(key, Look(look.others)))
            for hole in p.spread:
                for key in self._dialect.keys_of(hole.shape) if hole.shape is not None else ():
                    _close(look.inner.setdefault(key, Look()))
        elif isinstance(p, Items):
            for child in p.items:
                self._look(child, look.inner.setdefault(None, Look(look.others)))
        elif isinstance(p, Literal):
            look.words.update(filter(guards, p.values))
        elif isinstance(p, Hole):
            for table in filter(None, map(self._dialect.tables.get, p.lenses)):
                look.words.update(table.to_ir, table.read_also)
            if p.shape is not None:
                _close(look)

    def find(self, wire: Any) -> Found | None:
        """Return what a frame like one before holds, or None for one of another form."""
        try:
            known = self._known.get(_form(wire, self._root))
            return None if known is None else _found(known, wire)
        except (ConversionError, LookupError, TypeError):  # it is told elsewhere what is wrong
            return None

    def learn(
        self, wire: Any, sights: list[Sight], common: list[tuple[int, Taken]], rest: list[At]
    ) -> None:
        """Remember the form of a frame; what it holds beside its events is noted once."""
        places = {*rest, *(taken[2] for _, taken in common)}
        kept = []
        for sight in sights:
            read: list[Read] = []
            for hole, value, at in sight.taken:
                keys = None if value_at(wire, at) is value else tuple(value)
                read.append((hole, keys, at))
                places.update([at] if keys is None else ((*at, key) for key in keys))
            places.update(sight.ats.values(), sight.places.values(), (at for _, at in sight.again))
            kept.append((sight, read))
        if not _says_all(wire, self._root, (), places):
            return
        numbers = {sight.ats["candidate"] for sight in sights if "candidate" in sight.ats}

        def owner(place: At) -> At | None:
            """Return where it stands of which candidate something is."""
            beside = (at for at in numbers if at[:-1] == place[: len(at) - 1])
            return next(beside, None)

        shared = [(nth, owner(at), hole, at) for nth, (hole, _, at) in common]
        if len(self._known) >= MOST:  # what is usual is soon learned again
            self._known.clear()
        known = Known(kept, shared, rest, _flow(sights, common, rest))
        self._known[_form(wire, self._root)] = known


@once
def forms_of(dialect: Dialect) -> Forms:
    """Return the forms of the frames of a dialect, kept with it."""
    return Forms(dialect, dialect.streamed)


def _anything() -> Look | None:
    """Return what is looked for where no picture names anything: something may be said there."""
    look = None
    for _ in range(DEEPEST):
        look = Look(look)
    return look


def _close(look: Look) -> None:
    """Let a shape read what stands at a place."""
    look.others = None
    for one in look.inner.values():
        _close(one)


def _form(wire: Any, look: Look) -> tuple[Any, ...]:
    """Return the form of a value. Raises TypeError for some that are no JSON."""
    signs: list[Any] = []
    _sign(wire, look, signs, {})
    return tuple(signs)


def _sign(value: Any, look: Look, signs: list[Any], texts: dict[str, int]) -> None:
    """Add the form of a value; `texts` are those that stand before it, each with its number."""
    kind = value.__class__
    signs.append(kind)
    if kind is dict or kind is list:
        signs.append(len(value))
        inner, others = look.inner, look.others
        pairs: Any = value.items() if kind is dict else enumerate(value)
        for key, one in pairs:
            signs.append(key)
            below = inner.get(key if kind is dict else None, others)
            if below is None:
                signs.append(one == "" or one.__class__)
            else:
                _sign(one, below, signs, texts)
    elif kind is float:
        signs.append(value.is_integer())
    elif kind is str:  # what is said twice in a frame is said alike
        number = texts.setdefault(value, len(texts))
        signs.append(value if value == "" or value in look.words else number)
    elif value in look.words:
        signs.append(value)


def _says_all(wire: Any, look: Look | None, at: At, places: set[At]) -> bool:
    """Tell whether nothing is said in a frame but in its form and at some places."""
    if at in places:
        return True
    if wire.__class__ is dict or wire.__class__ is list:
        pairs = wire.items() if isinstance(wire, dict) else enumerate(wire)
        return look is not None and all(
            _says_all(one, look.under(key), (*at, key), places) for key, one in pairs
        )
    return wire is None or wire == "" or (look is not None and wire in look.words)


def _found(known: Known, wire: Any) -> Found:
    """Return what a frame of a known form holds.

    Raises ConversionError where a value is no JSON.
    """

    def at(place: At) -> Any:
        value = wire
        for key in place:
            value = value[key]
        if value.__class__ is not int and not (value.__class__ is str and value.isascii()):
            check_json(value)
        return value

    sights = []
    for before, read in known.sights:
        sight = Sight(before.event)
        sight.place, sight.ats, sight.places = before.place, before.ats, before.places
        sight.at = {name: at(place) for name, place in before.ats.items()}
        sight.found = {path: at(place) for path, place in before.places.items()}
        for hole, keys, place in read:
            value = at(place) if keys is None else {key: at((*place, key)) for key in keys}
            sight.taken.append((hole, value, place))
        sights.append(sight)
    common = [
        (nth if of is None else max(0, at(of)), (hole, at(place), place))
        for nth, of, hole, place in known.common
    ]
    for place in known.rest:
        at(place)
    return sights, common, known.rest, known.flow


def _flow(sights: list[Sight], common: list[tuple[int, Taken]], rest: list[At]) -> Flow | None:
    """Return what differs in frames that only let a part grow, if this is one of them."""
    free: dict[At, str] = dict.fromkeys(rest, "said")
    once = []
    for _, (hole, _, at) in common:
        if hole.path.startswith("response.") and not hole.path.startswith("response.own."):
            once.append(hole.path.removeprefix("response."))
            free[at] = "said"
    for sight in sights:
        event = sight.event
        if event.acts == {"append"} and len(event.words) == 1:
            own = any(path.startswith(("response.", "candidate.")) for path in sight.found)
            piece = sight.found.get("piece")
            if "piece" in free.values() or event.words[0].kind == "candidate" or own:
                return None
            if sight.taken or piece.__class__ is not str:
                return None
            free[sight.places["piece"]] = "piece"
            free.update((place, "piece") for path, place in sight.again if path == "piece")
            if "frame" in sight.ats:  # every frame has another number
                free[sight.ats["frame"]] = "number"
        elif sight.found or (sight.taken and event.acts != {"usage"}):
            return None
        elif event.acts == {"usage"} and len(sight.taken) == 1 and "usage" not in free.values():
            free[sight.taken[0][2]] = "usage"
        elif not event.acts <= {"start", "keepalive"}:
            return None
    return Flow(free, tuple(once)) if "piece" in free.values() else None
