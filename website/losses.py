"""What a picture may lose, change or add: the codes of the notes that its words give rise to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from wireglot.language import picture as pic
from wireglot.language.lenses import Table
from wireglot.language.model import Dialect
from wireglot.language.picture import Hole
from wireglot.language.shape import Case
from wireglot.language.talk import Conversation
from wireglot.notes import CODES

MADE_TIME = "time"


class Loss(NamedTuple):
    """A note that a picture may give rise to: when, of which fields, and why."""

    code: str
    when: str
    fields: tuple[str, ...]
    why: str


ABROAD, READ, WRITTEN = "in another dialect", "read here", "written here"


# The notes of the words of `enforce`; docs/rule-language.md says when.
ASKED: dict[str, tuple[str, ...]] = {
    "lift": ("lifted",),
    "leave": (),
    "turn": (),
    "later-system": ("system-as-user",),
    "answer-next": ("moved", "joined", "reordered"),
    "order-results-by-calls": ("reordered",),
    "put-first": ("reordered",),
    "free": ("no-place",),
    "no-empty": ("empty-message",),
    "alternate": ("joined",),
    "insert": ("turn-added",),
    "narrow-tools": ("narrowed",),
    "unmixed": ("no-place",),
    "no-blank": ("empty-text",),
    "no-empty-text": ("empty-text",),
    "trim-end": ("reworded",),
    "some-message": ("system-as-user", "turn-added"),
    "say-json": ("filled-in", "turn-added"),
    "say-schema": ("filled-in", "turn-added", "schema-as-words"),
    "user-only": ("no-place",),
    "not-last": ("no-place",),
    "never": ("no-place",),
    "this-turn": ("no-place",),
    "own-thought": ("no-place",),
    "found": ("no-place",),
    "beside": ("filled-in",),
    "declare-called": ("filled-in",),
    "pair": ("moved", "unpaired", "answered"),
    "one-call": ("moved",),
    "signed": ("filled-in", "unsigned"),
    "strict": ("schema-added", "loosened"),
}
SCHEMAS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("keep", "types", "enum"), ("schema-keyword", "schema-told")),
    "rewrite": ("schema-reworded", "schema-added"),
    "refs": ("schema-inlined", "schema-cut", "schema-keyword"),
    "root-without": ("schema-reworded", "schema-keyword"),
}
Told = tuple[str, str, str, str]  # code, when, field, why


def losses(dialect: Dialect, section: str, name: str) -> list[Loss]:
    """Return the notes that what stands in a rule file can give rise to, each code once."""
    if section == "shapes":
        return _once(
            told for case in dialect.shapes[name].cases for told in _of_case(dialect, case)
        )
    if section == "tables":
        return _once((c, when, name, CODES[c]) for c, when in _of_table(dialect.tables[name]))
    if section == "schemas":
        return _once(_of_schema(dialect, name))
    if name in dialect.units:
        return _once(told for case in dialect.units[name].cases for told in _of_case(dialect, case))
    if name == "conversation" and dialect.conversation is not None:
        return _once(_of_talk(dialect, dialect.conversation))
    if name == "limits":
        return _once(_of_limits(dialect))
    return []


def _once(told: Iterable[Told]) -> list[Loss]:
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for code, when, field, why in told:
        found.setdefault((code, when, why), {})[field] = None
    return [
        Loss(code, when, tuple(field for field in fields if field), why)
        for (code, when, why), fields in found.items()
    ]


def _of_limits(dialect: Dialect) -> Iterator[Told]:
    for field in dialect.limits:
        yield "renamed", WRITTEN, field, CODES["renamed"]
    for field, words in dialect.bounds.items():
        if words.keys() & {"min", "max", "below"}:
            yield "clamped", WRITTEN, field, CODES["clamped"]
        if words.keys() & {"count", "unique", "below"}:
            yield "no-place", WRITTEN, field, CODES["no-place"]


def _of_schema(dialect: Dialect, name: str) -> Iterator[Told]:
    node = dialect.node.value["schemas"].value[name]
    for word, said in node.value.items():
        silent = word == "refs" and said.value != "inline"
        for code in () if silent else SCHEMAS.get(word, ()):
            yield code, WRITTEN, word, CODES[code]


def _of_talk(dialect: Dialect, talk: Conversation) -> Iterator[Told]:
    for group in talk.groups:
        for case in group.cases:
            yield from _of_case(dialect, case)
    if talk.per == "run":
        yield "joined", WRITTEN, "per", CODES["joined"]
    for word, _ in talk.enforce:
        for code in ASKED[word]:
            yield code, WRITTEN, word, CODES[code]


def _of_case(dialect: Dialect, case: Case) -> Iterator[Told]:
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
    if hole.mark == "fill" and hole.value is not None:
        yield "filled-in", WRITTEN
    if hole.mark == "made":
        yield "made-time" if hole.value == MADE_TIME else "made-id", WRITTEN
    if "joined" in hole.lenses:
        yield "joined", WRITTEN
    if "single" in hole.lenses:
        yield "no-place", WRITTEN
    for lens in hole.lenses:
        if lens in dialect.tables:
            yield from _of_table(dialect.tables[lens])


def _of_table(table: Table) -> Iterator[tuple[str, str]]:
    if table.read_also:
        yield "reworded", READ
    if table.write_also or table.otherwise is not None:
        yield "reworded", WRITTEN
