"""Frames that are alike: what events a frame holds is looked for once for each form of frame.

Two frames are alike if they have the same keys, lists as long, and the same fixed values; then the
same events stand in both, and only the values of the holes differ. What a shape reads may differ in
all that no picture of an event looks for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..language.events import Stream
from ..language.model import Dialect
from ..language.picture import Hole
from ..trail import At, value_at
from .likeness import Check, Likeness, Slots
from .sighting import Sight, Taken

MOST = 128  # forms that are remembered of one dialect
Rest = tuple[At, Any]  # a leaf that no event claims
Found = tuple[list[Sight], list[tuple[int, Taken]], list[Rest], "Flow | None"]
Named = tuple[tuple[str, int], ...]  # slots by names: a slot has the value of one place


class Flow(NamedTuple):
    """A form of frames that only let a part grow: which places differ.

    These are the places of the `piece`, the `usage` and the `number` of a frame, and what is
    `said`: noted once, or a field of the response (`once`), of which the first frame is right.
    """

    free: dict[At, str]
    once: tuple[str, ...]


class Known(NamedTuple):
    """A form of frames, and where in it the holes stand."""

    check: Check
    size: int
    sights: tuple[tuple[Sight, Named, Named, tuple[int | Named, ...]], ...]
    twins: tuple[tuple[int, int], ...]  # what is said twice
    common: tuple[tuple[int, int | None, Taken, int], ...]  # its candidate may stand in a slot
    rest: tuple[tuple[At, int], ...]
    flow: Flow | None  # if that is all that such frames do


class Forms:
    """The forms of the frames of one dialect, as they were met."""

    def __init__(self, dialect: Dialect, stream: Stream) -> None:
        self._known: dict[tuple[str, ...], list[Known]] = {}
        self._texts: dict[str, list[Sight]] = {}
        self._count = 0
        self._named, self._likeness = stream.named, Likeness(dialect, stream)

    def find(self, wire: Any) -> Found | None:
        """Return what a frame like one before holds, or None for one of another form."""
        if wire.__class__ is str:
            said = self._texts.get(wire)
            return None if said is None else (said, [], [], None)
        if wire.__class__ is not dict:
            return None
        key = self._key(wire)
        alike = self._known.get(key, [])
        for known in alike:
            values: list[Any] = [None] * known.size
            if known.check(wire, values) and all(values[a] == values[b] for a, b in known.twins):
                break
        else:
            return None
        if known is not alike[0]:  # the next frame is mostly like this one
            self._known[key] = [known, *(one for one in alike if one is not known)]
        found = []
        for before, at, holes, taken in known.sights:
            sight = before.again_with(
                {name: values[slot] for name, slot in at},
                {path: values[slot] for path, slot in holes},
            )
            for (hole, _, place), given in zip(before.taken, taken, strict=True) if taken else ():
                one = values[given] if isinstance(given, int) else {k: values[s] for k, s in given}
                sight.taken.append((hole, one, place))
            found.append(sight)
        common = [
            (nth if of is None else max(0, values[of]), (taken[0], values[slot], taken[2]))
            for nth, of, taken, slot in known.common
        ]
        return found, common, [(at, values[slot]) for at, slot in known.rest], known.flow

    def learn(
        self, wire: Any, sights: list[Sight], common: list[tuple[int, Taken]], rest: list[At]
    ) -> None:
        """Remember the form of a frame; what it holds beside its events is noted once."""
        if self._count >= MOST:  # what is usual is soon learned again
            self._known, self._texts, self._count = {}, {}, 0
        if wire.__class__ is str and not any(one.found or one.taken for one in sights):
            self._texts[wire] = sights
            self._count += 1
        if wire.__class__ is not dict:
            return
        slots = Slots()

        def given(hole: Hole, value: Any, place: At) -> int | Named:
            if hole.shape is not None and value_at(wire, place) is not value:  # some of its keys
                slots.ordered.add(place)
                slots.shaped.update(((*place, key), None) for key in value)
                return tuple((key, slots.at((*place, key))) for key in value)
            if hole.shape is not None:
                slots.shaped[place] = hole
            return slots.at(place)

        kept, twins = [], []
        for sight in sights:
            at = tuple((name, slots.at(place)) for name, place in sight.ats.items())
            holes = tuple((path, slots.at(sight.places[path])) for path in sight.found)
            twins += [(slots.at(sight.places[path]), slots.at(at)) for path, at in sight.again]
            kept.append((sight, at, holes, tuple(given(*one) for one in sight.taken)))
        numbers = {sight.ats["candidate"] for sight in sights if "candidate" in sight.ats}

        def owner(place: At) -> int | None:
            """Return the slot that says of which candidate something is."""
            beside = (at for at in numbers if at[:-1] == place[: len(at) - 1])
            return next(map(slots.at, beside), None)

        shared = tuple((nth, owner(t[2]), t, slots.at(t[2])) for nth, t in common)
        left = tuple((at, slots.at(at)) for at in rest)
        check = self._likeness.check(wire, slots, len(twins))
        if check is not None:
            flow = _flow(sights, common, rest)
            known = Known(check, len(slots.of), tuple(kept), tuple(twins), shared, left, flow)
            self._known.setdefault(self._key(wire), []).insert(0, known)
            self._count += 1

    def _key(self, wire: dict[str, Any]) -> tuple[str, ...]:
        """Return by what the forms of frames are found: the name of the event, and the keys."""
        word = wire.get(self._named)
        return (word if word.__class__ is str else "", *wire)


def forms_of(dialect: Dialect) -> Forms:
    """Return the forms of the frames of a dialect, kept with its stream."""
    stream = dialect.streamed
    return stream.once("forms", lambda: Forms(dialect, stream))


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
