"""Wire paths that the pictures of a dialect name: what an audit or a coverage report counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Test
from ..language.shape import Case, Shape, frame_case
from ..notes import Note
from ..traces import OUTSIDE
from ..trail import At, keys_of, path_of
from . import where

MAX_LENGTH = 400
Inside = tuple[str, ...]  # the shapes that something stands in
Standing = tuple[Shape | None, Case, str, Inside]  # a case of a shape, or of the conversation
OTHER = "(other)"  # a key that no picture names


class Walk:
    """Walks all that the pictures of a dialect name, with the path at which each stands.

    What becomes of them its heirs say.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def at(self, path: str, p: Picture, case: Case) -> None:
        """Take a picture; a hole that takes all other keys stands at `path.*`."""
        raise NotImplementedError

    def case(self, shape: Shape | None, case: Case, path: str, inside: Inside) -> None:
        """Walk one case of a shape, or of the conversation."""
        if isinstance(case.wire, Fields):  # whether it is there at all, what stands above says
            self.fields(case.wire, path, case, inside)
        else:
            self.picture(case.wire, path, case, inside)

    def picture(self, p: Picture, path: str, case: Case, inside: Inside) -> None:
        """Walk one picture, and what stands in it."""
        self.at(path, p, case)
        if isinstance(p, Fields):
            self.fields(p, path, case, inside)
        elif isinstance(p, Items):
            for child in p.items:
                self.picture(child, f"{path}[]", case, inside)
            if p.rest is not None:
                self.picture(p.rest, path, case, inside)
        elif isinstance(p, Hole):
            for found in cases_in(self.dialect, p, path, inside):
                self.case(*found)

    def fields(self, p: Fields, path: str, case: Case, inside: Inside) -> None:
        """Walk the keys of an object."""
        for names, child in p.entries:
            self.picture(child, f"{path}.{names[0]}", case, inside)
            for name in names[1:]:
                self.respelled(child, f"{path}.{name}", case, inside, names[0])
        for hole in p.spread:
            if hole.shape is None:
                self.at(f"{path}.*", hole, case)
            else:
                for found in cases_of(self.dialect, hole.shape, path, inside):
                    self.case(*found)

    def respelled(self, p: Picture, path: str, case: Case, inside: Inside, usual: str) -> None:
        """Walk what stands under another spelling of a key."""
        self.picture(p, path, case, inside)


class _Paths(Walk):
    """Collects the paths."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self.found: set[str] = set()

    def at(self, path: str, p: Picture, case: Case) -> None:
        if isinstance(p, Items | Test) or (isinstance(p, Literal) and p.values == (ABSENT,)):
            return  # of a list its elements are named
        self.found.add(path)
        if isinstance(p, Hole) and p.shape is None:
            self.found.add(f"{path.removesuffix('.*')}.*")
        elif isinstance(p, Hole) and (is_many(p) or p.shape == "conversation"):
            self.found.add(f"{path}[]")


def pictured(dialect: Dialect, unit: str) -> set[str]:
    """Return the wire paths (`messages[].content[].text`) that a unit's pictures name.

    `path.*` stands for everything below a value that is carried whole.
    """
    shape = dialect.units.get(unit) or dialect.shapes.get(unit)
    return _paths_of(dialect, shape.cases if shape is not None else [])


def events(dialect: Dialect) -> dict[str, set[str]]:
    """Return the wire paths that the pictures of a stream name, by the names of its frames.

    Frames that have no name, and what may stand in any frame, are under an empty one.
    """
    found: dict[str, set[str]] = {"": set()}
    if (stream := dialect.stream) is None:
        return found
    if stream.frame is not None:
        found[""] = _paths_of(dialect, [frame_case(stream.frame)])
    for event in stream.events:
        paths = _paths_of(dialect, map(frame_case, (*event.reads, *event.writes)))
        for name in {name for known in event.names for name in known or ("",)}:
            found.setdefault(str(name or ""), set()).update(paths)
    return found


def _paths_of(dialect: Dialect, cases: Iterable[Case]) -> set[str]:
    walk = _Paths(dialect)
    for case in cases:
        walk.case(None, case, "", ())
    return {path.lstrip(".") for path in walk.found if path}


def is_many(h: Hole) -> bool:
    """Tell whether a hole holds a list, or a map, of what it names."""
    return h.mode in ("each", "entries") and "single" not in h.lenses


def cases_in(dialect: Dialect, h: Hole, path: str, inside: Inside) -> Iterator[Standing]:
    """Yield the cases that stand in a hole at a path, each with its own path."""
    if h.shape == "conversation":
        for case in dialect.message_cases:
            if isinstance(case.wire, Hole) and case.wire.shape:
                yield from cases_of(dialect, case.wire.shape, f"{path}[]", inside)
            else:
                yield None, case, f"{path}[]", inside
    elif h.shape is not None:
        yield from cases_of(dialect, h.shape, f"{path}[]" if is_many(h) else path, inside)


def cases_of(dialect: Dialect, name: str, path: str, inside: Inside) -> Iterator[Standing]:
    """Yield the cases of a shape or union; one that holds itself comes twice."""
    if inside.count(name) > 1 or len(path) > MAX_LENGTH:
        return
    for shape in dialect.members(name):
        for case in shape.cases:
            yield shape, case, path, (*inside, name)


def general(at: At, pictured: set[str]) -> str:
    """Return a place as a wire path; what stands in a value that is carried whole is that value."""
    for end in range(1, len(at)):
        head = path_of(at[:end])
        if f"{head}.*" in pictured and path_of(at[: end + 1]) not in pictured:
            return head
    return path_of(at)


class Patterns:
    """Turns places of payloads into wire paths, as the pictures of a unit name them."""

    def __init__(self, dialect: Dialect, unit: str) -> None:
        self.model = dialect.of_unit(unit)
        self.unit = unit
        self.pictured = pictured(self.model, unit)
        self.known: dict[str, str] = {}
        self.places: dict[str, At] = {}

    def of(self, note: Note) -> str | None:
        """Return the wire path that a note speaks of, None where it names nothing of the source."""
        if note.source_path is None:
            return None
        if note.code != "unknown-key":
            return self.pattern(note.source_path)
        above = self.pattern(note.source_path).rpartition(".")[0]
        return f"{above}.{OTHER}" if above else OTHER

    def pattern(self, place: str) -> str:
        """Return the wire path of a pointer; what is carried whole has one path."""
        found = self.known.get(place)
        if found is None:
            found = self.known[place] = self._pattern(place)
        return found

    def _pattern(self, place: str) -> str:
        outside = OUTSIDE if place.startswith(OUTSIDE) else ""
        keys = keys_of(place.removeprefix(OUTSIDE))
        at = tuple(int(key) if key.isdecimal() else key for key in keys)
        path = self._usual(path_of(at) if outside else general(at, self.pictured))
        self.places.setdefault(path, at)
        return f"{outside}{path}" or "(all)"

    def _usual(self, path: str) -> str:
        """Return a path of snake_case in camelCase, where the pictures have both."""
        camel = re.sub(r"(?<=[a-z0-9])_([a-z])", lambda m: m[1].upper(), path)
        return camel if camel in self.pictured else path

    def rule(self, path: str) -> str | None:
        """Return the place of the picture of a wire path."""
        at = self.places.get(path.removesuffix(OTHER).rstrip("."), self.places.get(path))
        found = where.rule_at(self.model, self.unit, at) if at is not None else None
        return str(found) if found is not None and found.file else None
