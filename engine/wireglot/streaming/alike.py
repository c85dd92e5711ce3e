"""Frames that are alike: what events a frame holds is looked for once for each form of frame.

Two frames are alike if they have the same keys, lists as long, and the same fixed values; then the
same events stand in both, and only the values of the holes differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ..errors import ConversionError
from ..language.events import Stream, guards
from ..language.picture import Fields, Hole, Items, Literal, Picture
from ..payload import check_json
from ..trail import At, path_of
from .sighting import Sight, Taken

DEEPEST = 20  # keys and numbers on the way to a value of a form
MOST = 128  # forms that are remembered of one dialect
Rest = tuple[At, Any]  # a leaf that no event claims
Found = tuple[list[Sight], list[tuple[int, Taken]], list[Rest], "Flow | None"]
Check = Callable[[Any, list[Any]], bool]


class Flow:
    """A form of frames that only let a part grow: which places differ, and the code for them."""

    __slots__ = ("codes", "free", "once")

    def __init__(self, free: dict[At, str], once: tuple[str, ...]) -> None:
        # The places of the `piece`, the `usage` and the `number` of a frame, and what is `said`: it
        # is noted once, or a field of the response (`once`), of which the first frame is right.
        self.free, self.once = free, once
        self.codes: dict[Any, Any] = {}


class Known(NamedTuple):
    """A form of frames, and where in it the holes stand."""

    check: Check
    size: int
    sights: tuple[tuple[Sight, tuple[tuple[str, int], ...], tuple[tuple[str, int], ...],
                        tuple[int, ...]], ...]  # fmt: skip
    common: tuple[tuple[int, Taken, int], ...]
    rest: tuple[tuple[At, int], ...]
    flow: Flow | None  # if that is all that such frames do


class Forms:
    """The forms of the frames of one dialect, as they were met."""

    def __init__(self, pictures: Iterable[Picture]) -> None:
        self._known: dict[tuple[str, ...], list[Known]] = {}
        self._count = 0
        given = tuple(pictures)
        self._fixed = frozenset(path for p in given for path in _fixed_in(p, ""))
        self._named = frozenset(path for p in given for path in _named_in(p, ""))

    def find(self, wire: Any) -> Found | None:
        """Return what a frame like one before holds, or None for one of another form."""
        if wire.__class__ is not dict:
            return None
        for known in self._known.get(tuple(wire), ()):
            values: list[Any] = [None] * known.size
            if known.check(wire, values):
                break
        else:
            return None
        found = []
        for before, at, holes, taken in known.sights:
            sight = Sight(before.event)
            sight.place, sight.ats, sight.places = before.place, before.ats, before.places
            for name, slot in at:
                sight.at[name] = values[slot]
            for path, slot in holes:
                sight.found[path] = values[slot]
            sight.taken = [
                (hole, values[slot], place)
                for (hole, _, place), slot in zip(before.taken, taken, strict=True)
            ]
            found.append(sight)
        common = [(nth, (t[0], values[slot], t[2])) for nth, t, slot in known.common]
        return found, common, [(at, values[slot]) for at, slot in known.rest], known.flow

    def learn(
        self, wire: Any, sights: list[Sight], common: list[tuple[int, Taken]], rest: list[At]
    ) -> None:
        """Remember the form of a frame; what it holds beside its events is noted once."""
        if wire.__class__ is not dict:
            return
        slots: dict[At, int] = {}

        def slot(at: At) -> int:
            return slots.setdefault(at, len(slots))

        kept = []
        for sight in sights:
            if any(h.shape and not self._apart(h, at, value) for h, value, at in sight.taken):
                return  # what stands in it may be another event's
            if any(isinstance(value, float) for value in sight.found.values()):
                return  # a type of its own decides whether it fits
            at = tuple((name, slot(sight.ats[name])) for name in sight.at)
            holes = tuple((path, slot(sight.places[path])) for path in sight.found)
            kept.append((sight, at, holes, tuple(slot(place) for _, _, place in sight.taken)))
        shared = tuple((nth, taken, slot(taken[2])) for nth, taken in common)
        left = tuple((at, slot(at)) for at in rest)
        if () in slots or any(path_of(at) in self._fixed for at in slots):
            return  # another value may be what another event is known by
        if any(at[:size] in slots for at in slots for size in range(len(at))):
            return  # one event takes as a whole what another looks into
        check = _check(wire, (), slots)
        if check is None:
            return
        flow = _flow(sights, common, rest)
        known = Known(check, len(slots), tuple(kept), shared, left, flow)
        if self._count >= MOST:  # what is usual is soon learned again
            self._known, self._count = {}, 0
        self._known.setdefault(tuple(wire), []).append(known)
        self._count += 1

    def _apart(self, hole: Hole, at: At, value: Any) -> bool:
        """Tell whether token counts stand where no other event looks for anything."""
        path = path_of(at)
        inner = (f"{path}.", f"{path}[")
        return (
            hole.path == "usage"
            and value.__class__ is dict
            and not any(name.startswith(inner) for name in self._named)
        )


def forms_of(stream: Stream) -> Forms:
    """Return the forms of a stream's frames, kept with it."""
    if stream.forms is None:
        read = [p for event in stream.events for p in event.reads]
        stream.forms = Forms(read if stream.frame is None else [stream.frame, *read])
    found: Forms = stream.forms
    return found


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
            if "frame" in sight.ats:  # every frame has another number
                free[sight.ats["frame"]] = "number"
        elif sight.found or (sight.taken and event.acts != {"usage"}):
            return None
        elif event.acts == {"usage"} and len(sight.taken) == 1 and "usage" not in free.values():
            free[sight.taken[0][2]] = "usage"
        elif not event.acts <= {"start", "keepalive"}:
            return None
    return Flow(free, tuple(once)) if "piece" in free.values() else None


def _named_in(p: Picture, path: str) -> Iterator[str]:
    """Yield the places of all that a picture names."""
    yield path
    if isinstance(p, Fields):
        for names, child in p.entries:
            for name in names:
                yield from _named_in(child, f"{path}.{name}".lstrip("."))
    elif isinstance(p, Items):
        for child in p.items:
            yield from _named_in(child, f"{path}[]")


def _fixed_in(p: Picture, path: str) -> Iterator[str]:
    """Yield the places of fixed values that tell events apart."""
    if isinstance(p, Fields):
        for names, child in p.entries:
            for name in names:
                yield from _fixed_in(child, f"{path}.{name}".lstrip("."))
    elif isinstance(p, Items):
        for child in p.items:
            yield from _fixed_in(child, f"{path}[]")
    elif isinstance(p, Literal) and any(map(guards, p.values)):
        yield path


def _check(wire: Any, at: At, slots: dict[At, int]) -> Check | None:
    """Return what tells whether a value is alike, and takes the values of its holes.

    None for one that is nested deeper than frames are.
    """
    if at in slots:
        return _hole(wire.__class__, slots[at])
    if not isinstance(wire, dict | list):
        return _fixed(wire)
    if len(at) > DEEPEST:
        return None
    pairs = wire.items() if isinstance(wire, dict) else enumerate(wire)
    children = []
    for key, child in pairs:
        check = _check(child, (*at, key), slots)
        if check is None:
            return None
        children.append((key, check))
    return _object(children) if isinstance(wire, dict) else _list([one for _, one in children])


def _hole(kind: Any, slot: int) -> Check:
    def check(value: Any, values: list[Any]) -> bool:
        if value.__class__ is not kind:
            return False
        if not (kind is int or (kind is str and value.isascii())):
            try:
                check_json(value)
            except ConversionError:
                return False  # what is wrong is said with its place
        values[slot] = value
        return True

    return check


def _object(children: list[tuple[Any, Check]]) -> Check:
    size = len(children)

    def check(value: Any, values: list[Any]) -> bool:
        if value.__class__ is not dict or len(value) != size:
            return False
        for key, inner in children:
            if key not in value or not inner(value[key], values):
                return False
        return True

    return check


def _list(children: list[Check]) -> Check:
    size = len(children)

    def check(value: Any, values: list[Any]) -> bool:
        if value.__class__ is not list or len(value) != size:
            return False
        return all(inner(item, values) for inner, item in zip(children, value, strict=True))

    return check


def _fixed(meant: Any) -> Check:
    kind = meant.__class__

    def check(value: Any, values: list[Any]) -> bool:
        return bool(value.__class__ is kind and value == meant)

    return check
