"""What came home otherwise than it went, and whether a note says so.

A body goes to another dialect and comes back. The traces of the two conversions tell which element
of a list became which, so that a message that was left out shifts nothing; what then differs is a
pair of places. A note explains it if it names one of them, or what stood between them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from .leaves import leaves, pointer_of, same
from .perturb import NoteLike

Json = Any
At = tuple[str | int, ...]
NOTHING = object()
GONE = "null is not there"  # what every format but for data takes for nothing
LABELS = ("type", "role")  # words that say what the things around them are


class Difference(NamedTuple):
    """Where a value stood, and where it stands now; None where there is none."""

    before: str | None
    after: str | None
    told: str

    def __str__(self) -> str:
        return f"{self.before or 'nothing'} > {self.after or 'nothing'}: {self.told}"


class Homecoming:
    """A body, what it became abroad, and what came home: two conversions with their traces."""

    def __init__(self, body: Json, there: Any, back: Any) -> None:
        self.there, self.back, self.body = there, back, body
        self.links = {pointer_of(path): set(self._ends(path)) for path, _ in leaves(body)}

    def _ends(self, path: At) -> Iterator[str]:
        """Yield where at home a leaf ends up."""
        for middle in self._abroad(pointer_of(path)):
            for fate in self.back.trace.of_source(middle).values():
                yield from fate.targets

    def _abroad(self, before: str) -> list[str]:
        return [t for fate in self.there.trace.of_source(before).values() for t in fate.targets]

    def unexplained(self) -> list[Difference]:
        """Return each difference that neither a note nor a trace explains."""
        found = list(self.differences(self.body, self.back.body, (), ()))
        named = [self.explained(one) for one in found]
        # A fixed word, or a repetition, comes and goes with what its object holds.
        about = {_object(one) for one, is_named in zip(found, named, strict=True) if is_named}
        return [
            one
            for one, is_named in zip(found, named, strict=True)
            if not is_named and not (self.follows(one) and _within(_object(one), about))
        ]

    def differences(self, one: Json, two: Json, here: At, home: At) -> Iterator[Difference]:
        """Yield what differs between a place before and the place that it has become."""
        if isinstance(one, dict) and isinstance(two, dict) and one and two:
            for key in [*one, *(key for key in two if key not in one)]:
                yield from self.differences(
                    one.get(key, NOTHING), two.get(key, NOTHING), (*here, key), (*home, key)
                )
        elif isinstance(one, list) and isinstance(two, list) and one and two:
            yield from self._of_lists(one, two, here, home)
        elif isinstance(one, list) and isinstance(two, str):
            yield from self._of_text(one, two, here, home)
        elif isinstance(one, str) and isinstance(two, list):
            yield from self._of_text(two, one, home, here, turned=True)
        elif one is NOTHING or two is NOTHING or not _alike(one, two):
            yield from _whole(one, two, here, home)

    def _of_text(
        self, parts: list[Json], text: str, here: At, home: At, turned: bool = False
    ) -> Iterator[Difference]:
        """Yield what differs between a list of one text and that text alone."""
        said = [path for path, leaf in leaves(parts) if leaf == text]
        if len(parts) != 1 or len(said) != 1:
            sides = (text, parts, home, here) if turned else (parts, text, here, home)
            yield from _whole(*sides)
            return
        for path, leaf in leaves(parts):
            if path != said[0] and path[-1] not in LABELS:
                place, told = pointer_of((*here, *path)), f"{json.dumps(leaf)} stands on one side"
                yield Difference(None, place, told) if turned else Difference(place, None, told)

    def _of_lists(
        self, one: list[Json], two: list[Json], here: At, home: At
    ) -> Iterator[Difference]:
        pairs = self._aligned(one, two, here, home)
        last = -1
        for i, item in enumerate(one):
            j = pairs.get(i)
            if j is None:
                yield from _whole(item, NOTHING, (*here, i), home)
                continue
            if j < last:
                told = "it stands before what stood before it"
                yield Difference(pointer_of((*here, i)), pointer_of((*home, j)), told)
            last = max(j, last)
            yield from self.differences(item, two[j], (*here, i), (*home, j))
        for j in set(range(len(two))) - set(pairs.values()):
            yield from _whole(NOTHING, two[j], here, (*home, j))

    def _aligned(self, one: list[Json], two: list[Json], here: At, home: At) -> dict[int, int]:
        """Pair elements, those first that most leaves link."""
        votes: Counter[tuple[int, int]] = Counter()
        start, end = pointer_of(here), pointer_of(home)
        for before, afters in self.links.items():
            i = _index(before, start)
            for j in {_index(after, end) for after in afters} if i is not None else ():
                if i is not None and j is not None:
                    votes[i, j] += 1
        pairs: dict[int, int] = {}
        order = sorted(votes, key=lambda pair: (-votes[pair], abs(pair[0] - pair[1]), pair))
        for i, j in order:
            if i not in pairs and j not in pairs.values() and isinstance(two[j], type(one[i])):
                pairs[i] = j
        rest = [j for j in range(len(two)) if j not in pairs.values()]
        for i, item in enumerate(one):  # fixed words alone, which nothing links
            j = next((j for j in rest if same(item, two[j])), -1) if i not in pairs else -1
            if j >= 0:
                pairs[i] = j
                rest.remove(j)
        return pairs

    def explained(self, one: Difference) -> bool:
        """Tell whether a note of either way names a difference, or what stood between."""
        fate = self.there.trace.fates.get(one.before)
        if fate is not None and (
            fate.kind == "silent" or (one.told == GONE and fate.kind == "kept")
        ):
            return True  # it says nothing that the rest does not say
        if one.before is None or one.after is None:
            return self._named(one.before, one.after)
        if one.after in self.links.get(one.before, ()):
            return self._named(one.before, one.after)
        # What stands there now is another thing: both what went and what came are named, or what
        # came is a fixed word.
        came = self._named(None, one.after) or self._is_word(one.after)
        return came and self._named(one.before, None)

    def _named(self, before: str | None, after: str | None) -> bool:
        """Tell whether a note names one of the places, or what stood between."""
        between = set(self._abroad(before)) if before is not None else set()
        if after is not None:
            between |= self._sources(after)
        there, back = (_speaking(way.notes) for way in (self.there, self.back))
        return (
            _names([n.source_path for n in there], [before])
            or _names([n.target_path for n in back], [after])
            or _names([n.target_path for n in there], between)
            or _names([n.source_path for n in back], between)
        )

    def follows(self, one: Difference) -> bool:
        """Tell whether what came or went is a fixed word, or repeats what stands elsewhere."""
        if one.before is not None and one.after is None:
            fate = self.there.trace.fates.get(one.before)
            if fate is None:
                return False
            origins = (self.there.trace.origins.get(target) for target in fate.targets)
            alone = any(origin and one.before in origin.sources for origin in origins)
            return bool(fate.kind == "decided" or not alone)
        if one.before is not None or one.after is None:
            return False
        if self._is_word(one.after):
            return True
        origin = self.back.trace.origins.get(one.after)
        if origin is None:
            return False
        fates = [self.back.trace.fates.get(source) for source in origin.sources]
        return bool(fates) and all(fate and len(fate.targets) > 1 for fate in fates)

    def _is_word(self, after: str) -> bool:
        """Tell whether a fixed word of a picture stands there."""
        origin = self.back.trace.origins.get(after)
        return bool(origin and origin.steps and origin.steps[-1].way == "literal")

    def _sources(self, after: str) -> set[str]:
        return {s for o in self.back.trace.of_target(after).values() for s in o.sources}


def _object(one: Difference) -> tuple[bool, str]:
    """Return the object that holds the leaf of a difference, and on which side it stands."""
    place = one.before if one.before is not None else one.after or ""
    return one.before is None, place.rpartition("/")[0]


def _within(place: tuple[bool, str], others: Iterable[tuple[bool, str]]) -> bool:
    """Tell whether one of the other objects is an object, or stands in it."""
    side, top = place
    return any(side == s and (o == top or o.startswith(f"{top}/")) for s, o in others)


def _speaking(notes: Sequence[NoteLike]) -> list[NoteLike]:
    """Return the notes that say of something that it is another one than before."""
    return [note for note in notes if note.effect != "kept"]


def _names(paths: Iterable[str | None], places: Iterable[str | None]) -> bool:
    """Tell whether a path is one of the places, or stands around it."""
    named = {path for path in paths if path}
    return any(
        place == path or place.startswith(f"{path}/")
        for place in places
        if place is not None
        for path in named
    )


def _index(pointer: str, above: str) -> int | None:
    """Return the number of the element of a list in which a place stands."""
    if not pointer.startswith(f"{above}/"):
        return None
    return int(pointer[len(above) + 1 :].partition("/")[0])


def _whole(one: Json, two: Json, here: At, home: At) -> Iterator[Difference]:
    """Yield all leaves of a value that is not there on the other side, or is of another kind."""
    sides = [value for value in (one, two) if value is not NOTHING]
    if len(sides) == 2 and not any(isinstance(value, dict | list) and value for value in sides):
        told = f"{json.dumps(one)} became {json.dumps(two)}"
        yield Difference(pointer_of(here), pointer_of(home), told)
        return
    for path, leaf in leaves(one) if one is not NOTHING else ():
        yield Difference(pointer_of((*here, *path)), None, f"{json.dumps(leaf)} is not there")
    for path, leaf in leaves(two) if two is not NOTHING else ():
        yield Difference(None, pointer_of((*home, *path)), f"{json.dumps(leaf)} came in")


def _alike(one: Json, two: Json) -> bool:
    """Tell whether two leaves say the same; text of JSON may be spelled otherwise."""
    if isinstance(one, str) and isinstance(two, str) and one[:1] in ("{", "["):
        try:
            return same(json.loads(one), json.loads(two))
        except ValueError:
            return one == two
    return same(one, two)
