"""Rule files of version 1 of the language in the words of version 2.

Each change is made where it stands in the text, so comments, line breaks and quotes stay as they
are. A YAML library that writes a file anew joins what goes on in the next line (docs/authoring.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import yaml

from ..errors import RuleError
from ..language.layers import flat
from ..language.source import parse
from ..language.version import VERSION
from ..loading import load
from .oldnames import renamed
from .oldorder import rewritten

UNITS = ("envelope", "request", "response", "error", "session")
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
    (re.compile(r"\|\s*(?:bare|plain)\b"), "| text (or list)"),
    (re.compile(r"\|\s*joined\b"), "| text"),
    (re.compile(r"\|\s*blocks\b"), "| list (or text)"),
    (re.compile(r"\|\s*listed\b"), "| list (or one)"),
    (re.compile(r"\s*\|\s*home\b"), ""),  # the case says so: `read-only: true`
    (re.compile(r"\s*\|\s*(?:\w+\+)*any(?:\+\w+)*(?![\w-])"), ""),  # all pass without it, too
)
# What stands under a word, and `*` under all others.
INNER: dict[str, dict[str, str]] = {
    "file": {
        **dict.fromkeys(UNITS, "shape"), "conversation": "talk", "limits": "limits",
        "schemas": "schemas",
        "shapes": "shapes", "stream": "stream",
        "variants": "file", "examples": "shown", "ladder": "picture", "document": "picture",
        "*": "",
    },
    "limits": {"*": "limit"},
    "schemas": {"*": "schema"},
    "shapes": {"*": "shape"},
    "shape": {"wire": "picture", "ir": "picture", "message": "picture", "cases": "shapes",
              "examples": "example", "*": ""},
    "talk": {"wire": "picture", "cases": "shapes", "examples": "example", "*": ""},
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
    root = composed(text)  # first the names: words are known by present ones
    text = _edited(text, (Edit(*edit) for edit in renamed(root, text)))
    root = composed(text)
    edits = [*_edits(root, "file", text), *_order(root, text, file), *_written(root)]
    return _edited(text, edits)


def composed(text: str) -> Any:
    """Return the nodes of a file as YAML has them, with their places in the text."""
    # The one that rule files are read with: the other takes `{ask: Who?}` otherwise.
    return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def leaves(node: Any) -> Iterator[Any]:
    """Yield the scalars of a composed node, keys among them."""
    stack = [node]
    while stack:
        one = stack.pop()
        if isinstance(one.value, str):
            yield one
        else:
            for child in one.value:
                stack.extend(child if isinstance(child, tuple) else (child,))


def _edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with pieces of it replaced."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _order(root: Any, text: str, shown: str) -> Iterator[Edit]:
    """Yield how `enforce` is said now, of a file and of its variants."""
    file = {str(key.value): value for key, value in root.value}
    below = file.get("extends") or file.get("overlay")

    def inherited() -> set[str]:
        return _inherited(str(below.value)) if below is not None else set()

    own = _also(file["conversation"]) if "conversation" in file else None
    rows = file["variants"].value if isinstance(file.get("variants"), yaml.SequenceNode) else []
    for said, whole in [(root, below is not None), *((row, True) for row in rows)]:
        for key, talk in said.value if isinstance(said, yaml.MappingNode) else ():
            if str(key.value).rstrip("!") == "conversation" and isinstance(talk, yaml.MappingNode):
                bang = str(key.value).endswith("!")
                taken = inherited if said is root or own is None else lambda: own or set()
                try:
                    yield from (Edit(*e) for e in rewritten(talk, text, whole and not bang, taken))
                except (AttributeError, LookupError, TypeError, ValueError):
                    at = talk.start_mark
                    message = "`enforce` says here what version 1 does not know"
                    raise RuleError(message, shown, at.line + 1, at.column + 1) from None


def _also(talk: Any) -> set[str] | None:
    """Return which words the `enforce-also` of a conversation says, if it has one."""
    said = {str(key.value): value for key, value in talk.value}.get("enforce-also")
    words = {str(key.value) for item in said.value for key, _ in item.value} if said else set()
    names = {"thought-beside": "beside", "signed": "calls", "this-turn": "reasoning"}
    return {names[word] for word in words & names.keys()} if said else None


def _written(root: Any) -> Iterator[Edit]:
    """Yield where a layer writes a packaged case that is only read: its holes replace others."""
    file = {str(key.value): value for key, value in root.value}
    named = file.get("extends") or file.get("overlay")
    lower = flat(load.from_yaml()).get(str(named.value)) if named is not None else None
    below = lower.get("shapes") if lower is not None else None
    stack = [(below, file.get("shapes"))]
    while stack:
        below, group = stack.pop()
        for key, shape in group.value if isinstance(group, yaml.MappingNode) else ():
            one = below.get(str(key.value)) if below is not None else None
            if one is None or not isinstance(shape, yaml.MappingNode):
                continue
            said = {str(word.value): (word, value) for word, value in shape.value}
            if "cases" in said:
                stack.append((one.get("cases"), said["cases"][1]))
            if one.get("read-only") is None or "wire" not in said or _at_home(said["wire"][1]):
                continue
            word, wire = said["wire"]
            if _replaces(wire, one.get("wire")):
                gap = ", " if shape.flow_style else "\n" + " " * word.start_mark.column
                at = word.start_mark.index
                yield Edit(at, at, f"read-only: $removed{gap}")


def _replaces(wire: Any, below: Any) -> bool:
    """Tell whether a picture that is laid over another has something else for one of its holes."""
    if not isinstance(wire, yaml.MappingNode) or below is None or not isinstance(below.value, dict):
        return True
    holes = {key for key, value in below.value.items() if str(value.value).startswith("$")}
    return any(str(key.value) in holes for key, _ in wire.value)


def _inherited(parent: str) -> set[str]:
    """Return which words of `enforce-also` a packaged dialect says in `enforce` now."""
    node = flat(load.from_yaml()).get(parent)
    talk = node.get("conversation") if node is not None else None
    return {"beside", "calls", "reasoning"} & set(talk.said("enforce", ()) if talk else ())


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
            gone = {"talk": "by", "schema": "numbered"}  # what goes without saying
            if gone.get(place) == bare:
                yield _without(node, key, child, text)
                continue
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


def _without(node: Any, key: Any, child: Any, text: str) -> Edit:
    """Return how a key and what stands there are taken out of a mapping."""
    start, end = key.start_mark.index, child.end_mark.index
    if not node.flow_style:
        line = text.rfind("\n", 0, start) + 1
        return Edit(line, (text.find("\n", end) + 1) or len(text), "")
    keys = [one for one, _ in node.value]
    i = keys.index(key)
    if i + 1 < len(keys):
        return Edit(start, keys[i + 1].start_mark.index, "")
    return Edit(node.value[i - 1][1].end_mark.index if i else start, end, "")


def _at_home(node: Any) -> bool:
    """Tell whether a hole of a picture says that it is written only where it was read."""
    return any(re.fullmatch(r"\$.*\|\s*home\b.*", str(one.value)) for one in leaves(node))
