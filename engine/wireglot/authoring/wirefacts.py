"""What the pictures of a dialect say of each path of the wire: who says it, and in which words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..language import picture as pic
from ..language.drawn import EMPTY
from ..language.lenses import SPELLING_OF, stringify
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Test, Text
from ..language.shape import Case, Shape, frame_case
from ..trace.paths import Inside, Walk

MARKED = {
    None: "required",
    "optional": "optional",
    "default": "optional (default {})",
    "fill": "filled in with {} where the source has none",
    "made": "made where the source has none",
    "copy": "a copy",
    "same": "required, the same as another",
    "refused": "read, and written to nobody else",
    "read-only": "read, and written to nobody else",
}


UNWRITTEN = frozenset(("", "given up", "forbidden", "read, not written", MARKED["refused"]))


class Fact(NamedTuple):
    """What one case says of a path: whether it is there, and what it holds.

    `owner` is the shape and case; two facts that differ only in it say the same of the wire.
    """

    owner: str
    presence: str
    holds: str
    rule: str
    picture: Picture
    written: bool  # to anybody, as the case is

    @property
    def said(self) -> tuple[str, str]:
        """What it says, whoever says it."""
        return self.presence, self.holds


Facts = dict[str, list[Fact]]  # by path, as `messages[].content[].text`


def facts(dialect: Dialect, unit: str) -> Facts:
    """Return what the pictures of a unit say of each path; one of the unit itself is empty."""
    found: Facts = {}
    walk = _Walk(dialect, found)
    for case in dialect.units[unit].cases:
        walk.case(dialect.units[unit], case, "", ())
    return {path.lstrip("."): said for path, said in found.items()}


def frames(dialect: Dialect) -> dict[str, Facts]:
    """Return the same of the frames of a stream, by their names; those without are under ''."""
    told: dict[str, Facts] = {"": {}}
    if (stream := dialect.stream) is None:
        return told
    for event in stream.events:
        for p in (*event.writes, *event.reads):
            found: Facts = {}
            case = frame_case(p)
            case.home = p not in event.writes
            _Walk(dialect, found).picture(p, "", case, ())
            said = [words(dialect, one.picture) for one in found.get(f".{stream.named}", ())]
            names = {name for known in said if known for name in known[0] if isinstance(name, str)}
            for name in names or {""}:
                there = told.setdefault(name, {})
                for path, facts in found.items():
                    there.setdefault(path.lstrip("."), []).extend(facts)
    return told


def words(dialect: Dialect, p: Picture) -> tuple[Sequence[Any], Sequence[Any]] | None:
    """Return the words that a picture reads, and those that it writes; None where all are taken."""
    if isinstance(p, Literal):
        return p.values, p.values[:1]
    if isinstance(p, Text):
        return None
    if not isinstance(p, Hole) or p.shape is not None:
        return (), ()  # what stands there says more
    table = next((dialect.tables[lens] for lens in p.lenses if lens in dialect.tables), None)
    if table is None:
        return None
    written = (*table.to_wire.values(), *table.write_also.values(), table.otherwise)
    return (*written, *table.read_also), written


def fixed(dialect: Dialect) -> Iterator[str]:
    """Yield the words that a dialect reads or writes as they are: of its pictures and tables."""
    for node in (node for p in _pictures(dialect) for node in pic.nodes(p)):
        if isinstance(node, Literal):
            yield from (value for value in node.values if isinstance(value, str))
    for table in dialect.tables.values():
        both = (*table.to_wire.values(), *table.read_also)
        yield from (word for word in both if isinstance(word, str))


def keys(dialect: Dialect) -> Iterator[str]:
    """Yield every key that a dialect names, in every spelling."""
    for p in _pictures(dialect):
        for names, _ in pic.keys(p):
            yield from names


def _pictures(dialect: Dialect) -> list[Picture]:
    found = [case.wire for case in dialect.cases]
    return [*found, *(dialect.stream.pictures() if dialect.stream is not None else ())]


class _Walk(Walk):
    def __init__(self, dialect: Dialect, found: Facts) -> None:
        super().__init__(dialect)
        self.found = found
        self.told = set[tuple[str, ...]]()  # what was noted, for much is said again and again

    def add(self, path: str, case: Case, presence: str, holds: str, p: Picture) -> None:
        owner = f"{case.shape}/{case.name}" if case.name else case.shape
        if (key := (path, owner, presence, holds)) not in self.told:
            self.told.add(key)
            written = presence not in UNWRITTEN and not case.home
            fact = Fact(owner, presence, holds, str(p.pos), p, written)
            self.found.setdefault(path, []).append(fact)

    def case(self, shape: Shape | None, case: Case, path: str, inside: Inside) -> None:
        """Walk one case: its picture, what it means in the IR, and what it gives up."""
        meant = [f"the IR's `{spelt(case.ir)}`"] if case.ir is not None else []
        meant += [f"the note `{case.note}`"] if case.note else []
        if shape is not None and shape.groups:
            meant.append(f"a run of {', '.join(sorted(shape.groups))}")
        if shape is not None and shape.marks:
            meant.append(f"the field `{shape.marks}` of the element before it")
        if meant:
            self.add(path, case, "", " and ".join(meant), case.wire)
        for name, reason in case.drop.items():
            self.add(f"{path}.{name}", case, "given up", reason, case.wire)
        super().case(shape, case, path, inside)

    def fields(self, p: Fields, path: str, case: Case, inside: Inside) -> None:
        if p.closed:
            self.add(path, case, "", "no other key", p)
        super().fields(p, path, case, inside)

    def respelled(self, p: Picture, path: str, case: Case, inside: Inside, usual: str) -> None:
        """Note another spelling of a key: the usual one says what stands there."""
        self.add(path, case, "read, not written", f"`{usual}` in another spelling", p)

    def at(self, path: str, p: Picture, case: Case) -> None:
        if isinstance(p, Hole):
            said = _hole_fact(p)
        elif isinstance(p, Fields):
            said = "optional" if p.loose else "required", "an object"
        elif isinstance(p, Items):
            more = " or more" if p.rest is not None else ""
            said = "required", f"a list of {len(p.items)}{more}"
        elif isinstance(p, Literal) and p.values == (ABSENT,):
            said = "forbidden", ""
        else:
            loose = isinstance(p, Literal) and ABSENT in p.values
            said = "optional" if loose else "required", f"`{spelt(p)}`"
        self.add(path, case, *said, p)


def _hole_fact(h: Hole) -> tuple[str, str]:
    """Say of a hole whether it must be there, and what it holds; its shape is told below it."""
    value = "" if h.value is None else f"`{_mark_value(h.value)}`"
    return MARKED[h.mark].format(value), f"`{_hole(h, shaped=False)}`"


def spelt(p: Picture) -> str:
    """Write a picture as a rule file does, in one line and without its spellings."""
    if isinstance(p, Fields):
        inner = [f"{names[0]}: {spelt(child)}" for names, child in p.entries]
        inner += [f"...: {spelt(hole)}" for hole in p.spread]
        return "{" + ", ".join([*inner, *(["...: $absent"] if p.closed else [])]) + "}"
    if isinstance(p, Items):
        rest = [f"...: {spelt(p.rest)}"] if p.rest is not None else []
        return "[" + ", ".join([*map(spelt, p.items), *rest]) + "]"
    if isinstance(p, Text):
        pairs = zip(p.names, p.fixed[1:], strict=True)
        return p.fixed[0] + "".join(f"${{{name}}}{fixed}" for name, fixed in pairs)
    if isinstance(p, Literal):
        first, *more = map(_word, p.values)
        return f"{first} (or {' '.join(more)})" if more else first
    if isinstance(p, Test):
        return f"${p.word} {p.kind}".strip()
    assert isinstance(p, Hole)
    valued = p.mark in ("default", "fill") or p.value is not None
    value = f" {_mark_value(p.value)}" if valued else ""
    return _hole(p) + (f" ({p.mark}{value})" if p.mark else "")


def _hole(h: Hole, shaped: bool = True) -> str:
    shape = f" {h.mode} {h.shape}" if h.shape and (shaped or h.mode != "as") else ""
    if shape and not shaped:
        shape = f" {h.mode}"
    return (
        " + ".join(f"${path}" for path in h.paths)
        + shape
        + "".join(f" | {SPELLING_OF.get(lens, lens)}" for lens in h.lenses)
    )


def _mark_value(value: object) -> str:
    word = _word(value)
    return EMPTY.get(word, word)


def _word(value: object) -> str:
    if value is ABSENT:
        return "$absent"
    return value if isinstance(value, str) else stringify(value)
