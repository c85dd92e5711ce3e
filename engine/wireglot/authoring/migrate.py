"""Rule files of version 1 of the language in the words of version 2.

Each change is made where it stands in the text, so comments, line breaks and quotes stay as they
are. A file that a YAML library writes anew loses where its `{...}` go on in the next line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from ..errors import RuleError
from ..language.source import parse
from ..language.version import VERSION

UNITS = ("conversation", "envelope", "request", "response", "error", "session")
# Words that have another name now, by what they stand in.
KEYS = {
    "file": {"drop": "unsupported"},
    "limit": {"rest": "chars", "unless": "not-with"},
    "shape": {"gathers": "groups"},
    "example": {"abroad": "crossing"},
}
# What stands in a hole, in this order.
HOLES = (
    (re.compile(r"\(old\s+taken\)"), "(read-only)"),
    (re.compile(r"(\s(?:each|entries)\s[^()]*)\(old\)"), r"\1(read-only)"),
    (re.compile(r"\(old\)"), "(refused)"),
    (re.compile(r"\(else(?=\s)"), "(fill"),
    (re.compile(r"\|\s*lone\b"), "| single"),
    (re.compile(r"\s*\|\s*home\b"), ""),  # the case says so: `read-only: true`
)
# What stands under a word, and `*` under all others.
INNER: dict[str, dict[str, str]] = {
    "file": {
        **dict.fromkeys(UNITS, "shape"), "limits": "limits", "shapes": "shapes", "stream": "stream",
        "variants": "file", "examples": "shown", "ladder": "picture", "document": "picture",
        "*": "",
    },
    "limits": {"*": "limit"},
    "shapes": {"*": "shape"},
    "shape": {"wire": "picture", "ir": "picture", "message": "picture", "cases": "shapes",
              "examples": "example", "*": ""},
    "stream": {"frame": "picture", "events": "picture", "read-also": "picture",
               "examples": "example", "*": ""},
    "picture": {"examples": "", "*": "picture"},
    "shown": {"*": "example"},
}  # fmt: skip


class Edit(NamedTuple):
    """A piece of the text, and what stands there instead."""

    start: int
    end: int
    text: str


def migrated(text: str, file: str) -> str:
    """Return a rule file in the words of the present version; as it is, if it has them.

    Raises RuleError for what is no rule file of version 1 or 2.
    """
    said = parse(text, file).get("wireglot")
    if said is not None and said.value == VERSION and not isinstance(said.value, bool):
        return text
    if said is None or said.value != 1 or isinstance(said.value, bool):
        help = "only files of version 1 are rewritten"
        pos = said.pos if said is not None else parse(text, file).pos
        raise RuleError("this is no rule file of version 1", file, pos.line, pos.column, help=help)
    made = text
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    for edit in sorted(_edits(root, "file", text), reverse=True):
        made = made[: edit.start] + edit.text + made[edit.end :]
    return made


def _edits(node: Any, place: str, text: str) -> Iterator[Edit]:
    """Yield what is written otherwise in a node and all that it holds."""
    if isinstance(node, yaml.MappingNode):
        inner = INNER.get(place, {})
        for key, child in node.value:
            name = str(key.value)
            bare = name.rstrip("!")
            at = key.start_mark.index, key.end_mark.index
            new = KEYS.get(place, {}).get(bare)
            if new is not None and text[slice(*at)] == name:
                yield Edit(*at, new + name[len(bare) :])
            if place == "shape" and bare == "wire" and _at_home(child):
                gap = ", " if node.flow_style else "\n" + " " * key.start_mark.column
                yield Edit(at[0], at[0], f"read-only: true{gap}")
            if place == "file" and bare == "wireglot":
                yield Edit(child.start_mark.index, child.end_mark.index, str(VERSION))
            yield from _edits(child, inner.get(bare, inner.get("*", "")), text)
    elif isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield from _edits(child, place, text)
    elif place == "picture" and isinstance(node.value, str) and node.value.startswith("$"):
        start, end = node.start_mark.index, node.end_mark.index
        hole = text[start:end]
        for old, new in HOLES:
            hole = old.sub(new, hole)
        if hole != text[start:end]:
            yield Edit(start, end, hole)


def _at_home(node: Any) -> bool:
    """Tell whether a hole of a picture says that it is written only where it was read."""
    if isinstance(node, yaml.MappingNode):
        return any(_at_home(child) for _, child in node.value)
    if isinstance(node, yaml.SequenceNode):
        return any(map(_at_home, node.value))
    return re.fullmatch(r"\$.*\|\s*home\b.*", str(node.value)) is not None
