"""Restricted YAML with positions: the only way in for a rule file.

One document; no tags, anchors, aliases or merge keys; duplicate keys refused; scalars are JSON's
(`yes`, `no`, `on` are text); size, depth and number of nodes are bounded before anything is built.
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from .errors import RuleError

MAX_BYTES, MAX_DEPTH, MAX_NODES = 1_000_000, 60, 60_000
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?(?:[eE][+-]?\d+)?")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}


class Pos(NamedTuple):
    """A place in a rule file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Node:
    """A YAML node: `value` is a dict of name to Node, a list of Node, or a JSON scalar."""

    __slots__ = ("keys", "pos", "value")

    def __init__(self, value: Any, pos: Pos, keys: dict[str, Pos] | None = None) -> None:
        self.value, self.pos, self.keys = value, pos, keys or {}

    def get(self, name: str) -> Node | None:
        """Return the entry `name` of a mapping, or None."""
        return self.value.get(name) if isinstance(self.value, dict) else None

    def plain(self) -> Any:
        """Return the node as plain JSON."""
        if isinstance(self.value, dict):
            return {k: v.plain() for k, v in self.value.items()}
        if isinstance(self.value, list):
            return [v.plain() for v in self.value]
        return self.value

    def dump(self) -> list[Any]:
        """Return a JSON form that `undump` takes back, positions included."""
        where = [self.pos.line, self.pos.column]
        if isinstance(self.value, dict):
            entries = [[k, v.dump()] for k, v in self.value.items()]
            return [where, self.pos.file, "map", entries]
        if isinstance(self.value, list):
            return [where, self.pos.file, "seq", [v.dump() for v in self.value]]
        return [where, self.pos.file, "lit", self.value]


def undump(data: list[Any]) -> Node:
    """Rebuild the Node that `Node.dump` wrote."""
    (line, column), file, kind, value = data
    pos = Pos(file, line, column)
    if kind == "map":
        return Node({k: undump(v) for k, v in value}, pos)
    if kind == "seq":
        return Node([undump(v) for v in value], pos)
    return Node(value, pos)


def wrong(message: str, pos: Pos, help: str = "", text: str = "", rule: str = "") -> RuleError:
    """Build the RuleError for a place in a rule file; the excerpt is of `text`, or of the file."""
    excerpt = ""
    if not text and os.path.isfile(pos.file):
        with open(pos.file, encoding="utf-8", errors="replace") as file:
            text = file.read(MAX_BYTES)
    lines = text.splitlines()
    if 0 < pos.line <= len(lines):
        excerpt = f"  {pos.line:4d} | {lines[pos.line - 1]}\n       | {' ' * (pos.column - 1)}^"
    place = (pos.file, pos.line, pos.column)
    return RuleError(message, *place, excerpt=excerpt, help=help, rule=rule)


def parse(text: str, file: str) -> Node:
    """Parse one rule file. Raises RuleError with the position of what is wrong."""
    import yaml

    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise RuleError(f"the file is larger than {MAX_BYTES} bytes", file, 1, 1)
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = list(_bounded(yaml, yaml.parse(text, Loader=loader), file, text))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        pos = Pos(file, mark.line + 1, mark.column + 1) if mark else Pos(file, 1, 1)
        problem = getattr(error, "problem", None) or "this is no YAML"
        raise wrong(
            problem,
            pos,
            "a text with `{`, `}`, `[`, `]` or `,` in it stands in quotes inside {...} and [...]; "
            "`empty-list` and `empty-object` are the words for [] and {} in a mark",
            text,
        ) from None
    except (ValueError, UnicodeError) as error:
        raise RuleError(f"this is no YAML text: {error}", file, 1, 1) from None
    if not events:
        raise RuleError("the file is empty", file, 1, 1)
    node, rest = _build(yaml, events, 0, file, text)
    if rest != len(events):
        raise RuleError("a rule file holds one document", file, 1, 1)
    return node


def _bounded(yaml: Any, events: Any, file: str, text: str) -> Any:
    depth = documents = 0
    for nodes, event in enumerate(events, 1):
        pos = Pos(file, event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise wrong("a rule file holds one document", pos, "", text)
            if event.tags or event.version:
                raise wrong("YAML directives are not used here", pos, "", text)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise wrong("anchors and aliases are not used here", pos, "write it out", text)
        if getattr(event, "tag", None) and event.tag != "!":
            raise wrong(f"the tag `{event.tag}` is not used here", pos, "leave it out", text)
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            depth += 1
        if isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            depth -= 1
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            raise wrong("the file is nested too deep or has too many nodes", pos, "", text)
        if isinstance(event, yaml.NodeEvent | yaml.MappingEndEvent | yaml.SequenceEndEvent):
            yield event


def _build(yaml: Any, events: list[Any], i: int, file: str, text: str) -> tuple[Node, int]:
    event = events[i]
    pos = Pos(file, event.start_mark.line + 1, event.start_mark.column + 1)
    if isinstance(event, yaml.ScalarEvent):
        return Node(_scalar(event, pos, text), pos), i + 1
    i += 1
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(events[i], yaml.SequenceEndEvent):
            item, i = _build(yaml, events, i, file, text)
            items.append(item)
        return Node(items, pos), i + 1
    entries: dict[str, Node] = {}
    keys: dict[str, Pos] = {}
    while not isinstance(events[i], yaml.MappingEndEvent):
        key = events[i]
        where = Pos(file, key.start_mark.line + 1, key.start_mark.column + 1)
        if not isinstance(key, yaml.ScalarEvent):
            raise wrong("a key is a text", where, "", text)
        if key.value == "<<":
            raise wrong("merge keys are not used here", where, "write it out", text)
        if key.value in entries:
            raise wrong(f"the key `{key.value}` stands here twice", where, "", text)
        keys[key.value] = where
        entries[key.value], i = _build(yaml, events, i + 1, file, text)
    return Node(entries, pos, keys), i + 1


def _scalar(event: Any, pos: Pos, text: str) -> Any:
    value: str = event.value
    if event.style:
        return value
    if value in _WORDS:
        return _WORDS[value]
    if number := _NUMBER.fullmatch(value):
        if len(value) > 40:
            raise wrong("this number has too many digits", pos, "write it as text", text)
        return float(value) if number[1] or "e" in value.lower() else int(value)
    return value
