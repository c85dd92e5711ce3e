"""What a rule file says of one thing, as data: a shape, and the cases in which it is written."""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from . import picture as pic
from .picture import Hole, Picture
from .source import Pos

BUILDING = RLock()
Head = tuple[tuple[str, ...], frozenset[str], bool]  # spellings, words, whether none may stand


class Case:
    """One way to write a shape: a picture of the IR side (or none) and one of the wire side."""

    __slots__ = (
        "doubles", "drop", "heads", "home", "ir", "lists", "name", "needs", "note",
        "pos", "refused", "rivals", "shape", "sides", "weight", "wire",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        shape: str,
        wire: Picture,
        ir: Picture | None,
        drop: dict[str, str],
        note: str | None,
        pos: Pos,
    ) -> None:
        self.name, self.shape, self.wire, self.ir = name, shape, wire, ir
        self.drop, self.note, self.pos = drop, note, pos
        self.weight = 0.0
        self.sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        self.lists: dict[str, list[Hole]] = {}
        self.rivals = False  # whether another case may read what this one writes
        self.doubles = False  # whether another case may write what this one reads
        self.heads: tuple[Head, ...] = ()  # words that must stand under keys of the wire
        self.needs: frozenset[str] = frozenset()  # keys of the wire that must be there
        self.home = False  # written only at home, where nothing else is
        self.refused = False  # nor there, where repair is asked for

    def may_be(self, kind: Any) -> bool:
        """Tell whether it may write a part of a kind, by what it says of it."""
        return not self.kinds or kind in self.kinds

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types of parts that its `ir` picture says it is for; none where it says none."""
        said = self.sides[0].get("/type")
        return said if isinstance(said, tuple) else ()

    @property
    def tests(self) -> bool:
        """Whether it is for an object of which something is only looked at: `$has KIND`."""
        return any(isinstance(child, pic.Test) for _, child in pic.keyed(self.ir))

    @property
    def read_only(self) -> bool:
        """Whether messages of this case are written nowhere but where they were read."""
        holes = self.lists.get("parts", [])
        return self.home or (bool(holes) and all(hole.only_read for hole in holes))


def fixed_words(cases: Iterable[Case], field: str) -> frozenset[Any]:
    """Return the words that the pictures of some cases say of a field of the IR, as `/name`."""
    said = (case.sides[0].get(field) for case in cases)
    return frozenset(word for words in said if isinstance(words, tuple) for word in words)


@lru_cache(4096)
def holes_written_before(case: Case) -> dict[Hole, list[tuple[str, ...]]]:
    """Return the holes of fields that several hold, none a list: where those before it stand."""
    found: dict[str, dict[Hole, tuple[str, ...]]] = {}
    for at, hole in pic.placed(case.wire):
        if isinstance(hole, Hole) and hole.mode != "each" and not hole.repeats:
            found.setdefault("+".join(hole.paths), {})[hole] = at
    several = [holes for holes in found.values() if len(holes) > 1]
    return {one: [*holes.values()][:nth] for holes in several for nth, one in enumerate(holes)}


def only_read_again(case: Case) -> list[Hole]:
    """Return the holes that are only read, of fields that one before them writes."""
    several = holes_written_before(case).items()
    fields = case.lists.keys() | {".", "nth"}
    return [h for h, before in several if before and h.only_read and fields.isdisjoint(h.paths)]


def frame_case(p: Picture) -> Case:
    """Return the case by which a frame of a stream is written."""
    case = Case("", "", p, None, {}, None, p.pos)
    for hole in pic.holes(p):
        if hole.mode == "each":
            case.lists.setdefault(hole.path, []).append(hole)
    return case


class Shape:
    """A named picture; `kind` is the IR type it reads as, `keys` the wire keys it names.

    `groups` are the kinds of a run that it holds, `marks` the field of the element before it.
    """

    __slots__ = (
        "__weakref__", "_make", "cases", "groups", "keys", "kind", "marks", "name", "pos",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        kind: str | None,
        cases: list[Case],
        groups: frozenset[str],
        keys: frozenset[str],
        pos: Pos,
        marks: str = "",
    ) -> None:
        self.name, self.kind, self.groups = name, kind, groups
        self.keys, self.pos, self.marks = keys, pos, marks
        self._make: Callable[[], list[Case]] | None = None
        self.cases = cases

    @classmethod
    def with_cases_later(cls, make: Callable[[], list[Case]], *rest: Any) -> Shape:
        """Return a shape of what it holds but its cases, which are made when they are needed."""
        made = cls.__new__(cls)
        made.name, made.kind, made.groups, made.keys, made.pos, made.marks = rest
        made._make = make
        return made

    def __getattr__(self, name: str) -> Any:
        if name != "cases":
            raise AttributeError(name)
        with BUILDING:  # one case is one object, whoever asks first
            if self._make is not None:
                self.cases, self._make = self._make(), None
        return self.cases

    @property
    def is_built(self) -> bool:
        """Whether its cases are there, and not only the function that makes them."""
        return self._make is None
