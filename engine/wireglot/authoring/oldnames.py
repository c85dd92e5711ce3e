"""Names that shapes, unions, tables and cases of packaged dialects had in version 1.

`rules/migrate/names.yaml` says which they are. A file that lies over such a dialect uses them, and
one that stands in its place has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml

from ..loading import load
from ..loading.shelf import beside

Names = dict[str, str]
SHAPES = ("shapes", "unions")
BEHIND = r"\b(?:as|each|entries)\s+"


@cache
def _told() -> dict[str, Any]:
    told: dict[str, Any] = beside("migrate/names.yaml")
    return told


def _below(name: str | None) -> Iterator[str]:
    """Yield a dialect and its parents."""
    there = load.from_yaml()
    while name is not None:
        yield name
        over = there[name].get("extends") if name in there else None
        name = str(over.value) if over is not None else None


def renamed(root: Any, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the places of old names in a composed rule file, each with the present name."""
    file = {str(key.value): value for key, value in root.value}
    # A file that has the name of a packaged dialect stands in its place, below the others.
    named = file.get("dialect") or file.get("overlay")
    over = file.get("extends")
    chain = [str(named.value)] if named is not None else []
    chain += _below(str(over.value) if over is not None else chain[0] if chain else None)
    shapes: Names = {}
    tables: Names = {}
    cases: dict[str, Names] = {}
    for dialect in chain:
        told = _told().get(dialect, {})
        shapes = {**told.get("shapes", {}), **shapes}
        tables = {**told.get("tables", {}), **tables}
        cases = {**told.get("cases", {}), **cases}
    if shapes or tables:
        yield from _File(text, shapes, tables, cases).file(root)


class _File:
    """One file, with what is called otherwise now."""

    def __init__(self, text: str, shapes: Names, tables: Names, cases: dict[str, Names]) -> None:
        self.text, self.shapes, self.tables, self.cases = text, shapes, tables, cases

    def file(self, node: Any) -> Iterator[tuple[int, int, str]]:
        """Yield the names in a file, or in a row of its variants."""
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            word = str(key.value).rstrip("!")
            if word == "variants" and isinstance(value, yaml.SequenceNode):
                for row in value.value:
                    yield from self.file(row)
                continue
            if word == "examples":
                yield from self.keys(value, self.shapes)
                continue
            if word in SHAPES:
                yield from self.keys(value, self.shapes)
            if word == "tables":
                yield from self.keys(value, self.tables)
            if word == "shapes":
                yield from self.all_cases(value)
            yield from self.lent(value)  # of a unit
            if word == "stream":
                yield from self.events(value)
            if word == "unions":
                for _, members in value.value if isinstance(value, yaml.MappingNode) else ():
                    for one in members.value if isinstance(members, yaml.SequenceNode) else ():
                        yield from self.name(one, self.shapes)
            yield from self.holes(value)

    def name(self, node: Any, names: Names) -> Iterator[tuple[int, int, str]]:
        """Yield a name that is another now; of a key `NAME!` the sign stays."""
        bare = str(node.value).rstrip("!")
        start = node.start_mark.index
        if bare in names and self.text.startswith(bare, start):
            yield start, start + len(bare), names[bare]

    def keys(self, node: Any, names: Names) -> Iterator[tuple[int, int, str]]:
        """Yield keys of a mapping that are others now."""
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            yield from self.name(key, names)

    def events(self, node: Any) -> Iterator[tuple[int, int, str]]:
        """Yield the names of shapes in events, `item_start.SHAPE`."""
        for _, listed in node.value if isinstance(node, yaml.MappingNode) else ():
            for key, _ in listed.value if isinstance(listed, yaml.MappingNode) else ():
                act, _, shape = str(key.value).rstrip("!").partition(".")
                if act == "item_start" and shape in self.shapes:
                    start = key.start_mark.index + len(act) + 1
                    yield start, start + len(shape), self.shapes[shape]

    def all_cases(self, node: Any) -> Iterator[tuple[int, int, str]]:
        """Yield the names of cases, which are known by the present name of their shape."""
        for key, shape in node.value if isinstance(node, yaml.MappingNode) else ():
            bare = str(key.value).rstrip("!")
            names = self.cases.get(self.shapes.get(bare, bare), {})
            for word, value in shape.value if isinstance(shape, yaml.MappingNode) else ():
                if str(word.value).rstrip("!") == "cases":
                    yield from self.keys(value, names)
            yield from self.lent(shape)

    def lent(self, shape: Any) -> Iterator[tuple[int, int, str]]:
        """Yield the name of the shape whose keys a shape or unit has, too."""
        for word, value in shape.value if isinstance(shape, yaml.MappingNode) else ():
            if str(word.value).rstrip("!") == "also":
                yield from self.name(value, self.shapes)

    def holes(self, node: Any) -> Iterator[tuple[int, int, str]]:
        """Yield names in holes: of shapes behind `as` and `each`, of tables behind `|`."""
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if str(key.value) != "examples":
                    yield from self.holes(value)
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                yield from self.holes(value)
        elif str(node.value).startswith("$"):
            start, end = node.start_mark.index, node.end_mark.index
            for names, before in ((self.shapes, BEHIND), (self.tables, r"\|\s*")):
                for found in re.finditer(rf"(?:{before})([\w.-]+)", self.text[start:end]):
                    if found[1] in names:
                        yield start + found.start(1), start + found.end(1), names[found[1]]
