"""Frames that are alike: what events a frame holds is looked for once for each form of frame.

The form of a frame is all by which events are known: its keys, how long its lists are, the classes
of its values, which of its texts are the same, and the values that a picture has as fixed ones. In
two frames of one form the same events stand, and only the values of the holes differ. What a shape
reads may differ in all that no picture of an event looks for.
"""

from __future__ import annotations

from collections.abc import Iterator
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
Numbers = list[tuple[str, int]]  # by names, the numbers of values in a frame
Read = tuple[Hole, At, int, Numbers | None]  # what a shape or a lens reads: some keys, or all
Found = tuple[list[Sight], list[tuple[int, Taken]], list[At], "Flow | None"]


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
    """A form of frames, by one of them: what it holds, and the numbers of its values."""

    sights: list[tuple[Sight, Numbers, Numbers, list[Read]]]  # with its addresses and plain holes
    common: list[tuple[int, int | None, Hole, At, int]]  # its candidate may be a value
    told: list[int]  # all values that say something
    rest: list[At]
    flow: Flow | None  # if that is all that such frames do


class Forms:
    """The forms of the frames of one dialect, as they were met."""

    def __init__(self, dialect: Dialect, stream: Stream) -> None:
        self._known: dict[tuple[Any, ...], Known] = {}
        self._loose = False  # whether events are told by words that are known in part
        self._dialect, self._root, self._above = dialect, Look(_anything()), Look()
        self._above.inner[None] = self._root
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
                self._loose = self._loose or bool(table.globs)
            if p.shape is not None:
                _close(look)

    def find(self, wire: Any) -> Found | None:
        """Return what a frame like one before holds, or None for one of another form."""
        try:
            form, values = _form(wire, self._above)
            known = self._known.get(form)
            return None if known is None else _found(known, values)
        except (ConversionError, LookupError, TypeError):  # it is told elsewhere what is wrong
            return None

    def learn(
        self, wire: Any, sights: list[Sight], common: list[tuple[int, Taken]], rest: list[At]
    ) -> None:
        """Remember the form of a frame; what it holds beside its events is noted once."""
        places = {*rest, *(taken[2] for _, taken in common)}
        numbers = {at: nth for nth, at in enumerate(_places(wire, self._root, ()))}
        kept = []
        for sight in sights:
            read: list[Read] = []
            for hole, value, at in sight.taken:
                some = {(*at, key): key for key in value} if value_at(wire, at) is not value else {}
                places.update(some or [at])
                keys = [(key, numbers[place]) for place, key in some.items()]
                read.append((hole, at, numbers[at], keys or None))
            stand = sight.ats, sight.places
            places.update(*(one.values() for one in stand), (at for _, at in sight.again))
            ats, found = ([(k, numbers[at]) for k, at in one.items()] for one in stand)
            kept.append((sight, ats, found, read))
        if self._loose or not _says_all(wire, self._root, (), places):
            return
        owners = {sight.ats["candidate"] for sight in sights if "candidate" in sight.ats}

        def owner(place: At) -> int | None:
            """Return the number of what says of which candidate something is."""
            beside = (at for at in owners if at[:-1] == place[: len(at) - 1])
            return next((numbers[at] for at in beside), None)

        shared = [(nth, owner(at), hole, at, numbers[at]) for nth, (hole, _, at) in common]
        if len(self._known) >= MOST:  # what is usual is soon learned again
            self._known.clear()
        told = [numbers[at] for at in places]
        known = Known(kept, shared, told, rest, _flow(sights, common, rest))
        self._known[_form(wire, self._above)[0]] = known


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


def _form(wire: Any, look: Look) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the form of a frame, and its values. Raises TypeError for some that are no JSON."""
    signs: list[Any] = []
    values: list[Any] = []
    _sign([(None, wire)], look, signs, values, {})
    return tuple(signs), values


def _sign(
    pairs: Any, look: Look, signs: list[Any], values: list[Any], texts: dict[str, int]
) -> None:
    """Add the form of values under their keys; `texts` stand before them, each with its number."""
    inner, others = look.inner, look.others
    for key, one in pairs:
        kind, below = one.__class__, inner.get(key, others)
        values.append(one)
        signs.append(key)
        if below is None:
            signs.append(one == "" or kind)
        elif kind is str:  # what is said twice in a frame is said alike
            said = one == "" or one in below.words
            signs.append(one if said else texts.setdefault(one, len(texts)))
        else:
            signs.append(kind)
            if kind is dict:
                signs.append(len(one))
                _sign(one.items(), below, signs, values, texts)
            elif kind is list:
                signs.append(len(one))
                _sign([(None, item) for item in one], below, signs, values, texts)
            elif kind is float:
                signs.append(one.is_integer())
            elif one in below.words:
                signs.append(one)


def _places(value: Any, look: Look | None, at: At) -> Iterator[At]:
    """Yield the places of the values of a frame, in their order."""
    yield at
    if look is not None and value.__class__ in (dict, list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(one, look.under(key), (*at, key))


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


def _found(known: Known, values: list[Any]) -> Found:
    """Return what a frame of a known form holds.

    Raises ConversionError where a value is no JSON.
    """
    for number in known.told:
        value = values[number]
        if value.__class__ is not int and not (value.__class__ is str and value.isascii()):
            check_json(value)
    sights = []
    for before, ats, found, read in known.sights:
        sight = Sight(before.event)
        sight.ats, sight.places = before.ats, before.places
        for name, nth in ats:
            sight.at[name] = values[nth]
        for path, nth in found:
            sight.found[path] = values[nth]
        for hole, place, nth, keys in read:
            some = None if keys is None else {key: values[n] for key, n in keys}
            sight.taken.append((hole, values[nth] if some is None else some, place))
        sights.append(sight)
    common = [
        (nth if of is None else max(0, values[of]), (hole, values[number], place))
        for nth, of, hole, place, number in known.common
    ]
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
