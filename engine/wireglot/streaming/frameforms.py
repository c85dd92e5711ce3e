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
from ..language.model import Dialect
from ..language.picture import Fields, Hole, Items, Literal, Picture, distinguishes
from ..payload import check_json
from ..trail import At, value_at
from .recognising import Common, EventMatch

MOST = 128  # forms that are remembered of one dialect
DEEPEST = 20  # keys and numbers on the way to a value that no picture names
Numbers = list[tuple[str, int]]  # by names, the numbers of values in a frame
Read = tuple[Hole, At, int, Numbers | None]  # what a shape or a lens reads: some keys, or all
FrameContent = tuple[list[EventMatch], Common, list[At], "GrowthForm | None"]


class GrowthForm(NamedTuple):
    """A form of frames that only let a part grow.

    Attributes:
        varying: What differs between such frames, by place: the `piece`, the `usage`, the `number`
            of the frame, and what is `said` once: a leaf that was noted, a field of the response.
        response_fields: The fields of the response among these: the first frame is right.
    """

    varying: dict[At, str]
    response_fields: tuple[str, ...]


class Expected:
    """What pictures look for at a place: words, and what stands in it; None in all of a list.

    `other_keys` is what is looked for under any other key; None where a shape reads that.
    """

    def __init__(self, others: Expected | None = None) -> None:
        self.words: set[Any] = set()
        self.children: dict[str | None, Expected] = {}
        self.other_keys = others

    def added(self, key: str | None) -> Expected:
        """Return what is looked for under a key of a picture, or within a list, to learn more."""
        return self.children.setdefault(key, Expected(self.other_keys))

    def child(self, key: Any) -> Expected | None:
        """Return what is looked for under a key, or at a number."""
        return self.children.get(None if key.__class__ is int else key, self.other_keys)


class KnownForm(NamedTuple):
    """What frames of one form hold; a number stands for the value of a frame that it counts."""

    # Each event with the numbers of its addresses, of its plain holes, and what a shape reads.
    matches: list[tuple[EventMatch, Numbers, Numbers, list[Read]]]
    common: list[tuple[int, int | None, Hole, At, int]]  # its candidate may be a value
    to_check: list[int]  # all values that say something
    unclaimed: list[At]
    growth: GrowthForm | None  # if that is all that such frames do


class Forms:
    """The forms of the frames of one dialect, as they were met."""

    def __init__(self, dialect: Dialect) -> None:
        stream = dialect.streamed
        self._known: dict[tuple[Any, ...], KnownForm] = {}
        self._loose = False  # whether events are told by words that are known in part
        self._dialect, self._root, self._above = dialect, Expected(_expects_anything()), Expected()
        self._above.children[None] = self._root
        for p in [stream.frame, *(p for event in stream.events for p in event.reads)]:
            if p is not None:
                self._expect(p, self._root)
        if stream.named:
            named = self._root.children.setdefault(stream.named, Expected())
            named.words.update(*(names or () for one in stream.events for names in one.names))

    def _expect(self, p: Picture, expected: Expected) -> None:
        """Learn what a picture looks for at a place."""
        if isinstance(p, Fields):
            for key, child in ((name, child) for names, child in p.entries for name in names):
                self._expect(child, expected.added(key))
            for hole in p.spread:
                for key in self._dialect.keys_of(hole.shape) if hole.shape is not None else ():
                    _expect_nothing_else(expected.children.setdefault(key, Expected()))
        elif isinstance(p, Items):
            for child in p.items:
                self._expect(child, expected.added(None))
        elif isinstance(p, Literal):
            expected.words.update(filter(distinguishes, p.values))
        elif isinstance(p, Hole):
            for table in filter(None, map(self._dialect.tables.get, p.lenses)):
                expected.words.update(table.to_ir, table.read_also)
                self._loose = self._loose or bool(table.globs)
            if p.shape is not None:
                _expect_nothing_else(expected)

    def find(self, wire: Any) -> FrameContent | None:
        """Return what a frame like one before holds, or None for one of another form."""
        try:
            form, values = _form(wire, self._above)
            known = self._known.get(form)
            return None if known is None else _filled_in(known, values)
        except (ConversionError, LookupError, TypeError):  # it is told elsewhere what is wrong
            return None

    def learn(self, wire: Any, matches: list[EventMatch], common: Common, rest: list[At]) -> None:
        """Remember the form of a frame; what it holds beside its events is noted once."""
        places = {*rest, *(taken[2] for _, taken in common)}
        numbers = {at: nth for nth, at in enumerate(_places_of(wire, self._root, ()))}
        kept = []
        for match in matches:
            read: list[Read] = []
            for hole, value, at in match.shaped:
                some = {(*at, key): key for key in value} if value_at(wire, at) is not value else {}
                places.update(some or [at])
                keys = [(key, numbers[place]) for place, key in some.items()]
                read.append((hole, at, numbers[at], keys or None))
            stand = match.address_at, match.values_at
            places.update(*(one.values() for one in stand), (at for _, at in match.repeats))
            ats, found = ([(k, numbers[at]) for k, at in one.items()] for one in stand)
            kept.append((match, ats, found, read))
        if self._loose or not _is_covered(wire, self._root, (), places):
            return
        places_of = (match.address_at for match in matches)
        owners = {found["candidate"] for found in places_of if "candidate" in found}

        def owner(place: At) -> int | None:
            """Return the number of what says of which candidate something is."""
            beside = (at for at in owners if at[:-1] == place[: len(at) - 1])
            return next((numbers[at] for at in beside), None)

        shared = [(nth, owner(at), hole, at, numbers[at]) for nth, (hole, _, at) in common]
        if len(self._known) >= MOST:  # what is usual is soon learned again
            self._known.clear()
        told = [numbers[at] for at in places]
        known = KnownForm(kept, shared, told, rest, _growth_form(matches, common, rest))
        self._known[_form(wire, self._above)[0]] = known


def _expects_anything() -> Expected | None:
    """Return what is looked for where no picture names anything: something may be said there."""
    expected = None
    for _ in range(DEEPEST):
        expected = Expected(expected)
    return expected


def _expect_nothing_else(expected: Expected) -> None:
    """Let a shape read what stands at a place."""
    expected.other_keys = None
    for one in expected.children.values():
        _expect_nothing_else(one)


def _form(wire: Any, expected: Expected) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the form of a frame, and its values. Raises TypeError for some that are no JSON."""
    signs: list[Any] = []
    values: list[Any] = []
    _add_signs([(None, wire)], expected, signs, values, {})
    return tuple(signs), values


def _add_signs(
    pairs: Any, expected: Expected, signs: list[Any], values: list[Any], texts: dict[str, int]
) -> None:
    """Add the form of values under their keys; `texts` stand before them, each with its number."""
    inner, others = expected.children, expected.other_keys
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
                _add_signs(one.items(), below, signs, values, texts)
            elif kind is list:
                signs.append(len(one))
                _add_signs([(None, item) for item in one], below, signs, values, texts)
            elif kind is float:
                signs.append(one.is_integer())
            elif one in below.words:
                signs.append(one)


def _places_of(value: Any, expected: Expected | None, at: At) -> Iterator[At]:
    """Yield the places of the values of a frame, in their order."""
    yield at
    if expected is not None and value.__class__ in (dict, list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places_of(one, expected.child(key), (*at, key))


def _is_covered(wire: Any, expected: Expected | None, at: At, places: set[At]) -> bool:
    """Tell whether nothing is said in a frame but in its form and at some places."""
    if at in places:
        return True
    if wire.__class__ is dict or wire.__class__ is list:
        pairs = wire.items() if isinstance(wire, dict) else enumerate(wire)
        return expected is not None and all(
            _is_covered(one, expected.child(key), (*at, key), places) for key, one in pairs
        )
    return wire is None or wire == "" or (expected is not None and wire in expected.words)


def _filled_in(known: KnownForm, values: list[Any]) -> FrameContent:
    """Return what a frame of a known form holds.

    Raises ConversionError where a value is no JSON.
    """
    for number in known.to_check:
        value = values[number]
        if value.__class__ is not int and not (value.__class__ is str and value.isascii()):
            check_json(value)
    matches = []
    for before, ats, found, read in known.matches:
        match = EventMatch(before.event)
        match.address_at, match.values_at = before.address_at, before.values_at
        for name, nth in ats:
            match.address[name] = values[nth]
        for path, nth in found:
            match.values[path] = values[nth]
        for hole, place, nth, keys in read:
            some = None if keys is None else {key: values[n] for key, n in keys}
            match.shaped.append((hole, values[nth] if some is None else some, place))
        matches.append(match)
    common = [
        (nth if of is None else max(0, values[of]), (hole, values[number], place))
        for nth, of, hole, place, number in known.common
    ]
    return matches, common, known.unclaimed, known.growth


def _growth_form(matches: list[EventMatch], common: Common, rest: list[At]) -> GrowthForm | None:
    """Return what differs in frames that only let a part grow, if this is one of them."""
    free: dict[At, str] = dict.fromkeys(rest, "said")
    once = []
    for _, (hole, _, at) in common:
        if hole.path.startswith("response.") and not hole.path.startswith("response.own."):
            once.append(hole.path.removeprefix("response."))
            free[at] = "said"
    for match in matches:
        event = match.event
        if event.acts == {"append"} and len(event.words) == 1:
            own = any(path.startswith(("response.", "candidate.")) for path in match.values)
            piece = match.values.get("piece")
            if "piece" in free.values() or event.words[0].kind == "candidate" or own:
                return None
            if match.shaped or piece.__class__ is not str:
                return None
            free[match.values_at["piece"]] = "piece"
            free.update((place, "piece") for path, place in match.repeats if path == "piece")
            if "frame" in match.address_at:  # every frame has another number
                free[match.address_at["frame"]] = "number"
        elif match.values or (match.shaped and event.acts != {"usage"}):
            return None
        elif event.acts == {"usage"} and len(match.shaped) == 1 and "usage" not in free.values():
            free[match.shaped[0][2]] = "usage"
        elif not event.acts <= {"start", "keepalive"}:
            return None
    return GrowthForm(free, tuple(once)) if "piece" in free.values() else None
