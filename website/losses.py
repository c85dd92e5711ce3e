"""What a picture may lose, change or add: the codes of the notes that its words give rise to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from wireglot import picture as pic
from wireglot.notes import CODES
from wireglot.picture import Hole
from wireglot.rulefile import Case, Dialect, Shape

MADE_TIME = "time"


class Loss(NamedTuple):
    """A note that a picture may give rise to: when, of which fields, and why."""

    code: str
    when: str
    fields: tuple[str, ...]
    why: str


ABROAD, READ, WRITTEN = "in another dialect", "read here", "written here"


def losses(dialect: Dialect, shape: Shape) -> list[Loss]:
    """Return the notes that the words of a shape can give rise to, each code once."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for case in shape.cases:
        for code, when, field, why in _of_case(dialect, case):
            found.setdefault((code, when, why), {})[field] = None
    return [
        Loss(code, when, tuple(field for field in fields if field), why)
        for (code, when, why), fields in found.items()
    ]


def _of_case(dialect: Dialect, case: Case) -> Iterator[tuple[str, str, str, str]]:
    for field, reason in case.drop.items():
        yield "dropped", WRITTEN if case.shape in dialect.shapes else ABROAD, field, reason
    if case.note:
        yield case.note, ABROAD, case.name, CODES.get(case.note, "")
    for hole in pic.holes(case.wire):
        for code, when in _of_hole(dialect, hole):
            yield code, when, hole.path, CODES[code]


def _of_hole(dialect: Dialect, hole: Hole) -> Iterator[tuple[str, str]]:
    first = hole.path.partition(".")[0]
    opaque = {"own": "own-field", "signature": "foreign-signature", "file": "foreign-file"}
    if first in opaque:
        yield opaque[first], ABROAD
    if len(hole.paths) > 1:
        yield "inconsistent", READ
        yield "joined", WRITTEN
    if hole.mark == "copy":
        yield "inconsistent", READ
    if hole.mark == "else" and hole.value is not None:
        yield "filled-in", WRITTEN
    if hole.mark == "made":
        yield "made-time" if hole.value == MADE_TIME else "made-id", WRITTEN
    if "joined" in hole.lenses:
        yield "joined", WRITTEN
    if "lone" in hole.lenses:
        yield "no-place", WRITTEN
    for lens in hole.lenses:
        table = dialect.tables.get(lens)
        if table is not None and table.read_also:
            yield "reworded", READ
        if table is not None and (table.write_also or table.otherwise is not None):
            yield "reworded", WRITTEN
