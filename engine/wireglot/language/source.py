"""Restricted YAML with positions: the only way in for a rule file.

One document; no tags, anchors, aliases or merge keys; duplicate keys refused; scalars are JSON's
(`yes`, `no`, `on` are text); size, depth and number of nodes are bounded before anything is built.
"""

from __future__ import annotations

import copy
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..errors import RuleError
from ..patterns import later

LADDER = "ladder"  # the one file that is no dialect
MAX_BYTES, MAX_DEPTH, MAX_NODES = 1_000_000, 60, 60_000
_NUMBER = later(r"-?(?:0|[1-9]\d*)(\.\d+)?(?:[eE][+-]?\d+)?")
_DIGITS = frozenset("-0123456789")  # how a number may begin
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}


class Pos(NamedTuple):
    """A place in a rule file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Node:
    """A YAML node: `value` is a dict of name to Node, a list of Node, or a JSON scalar.

    `was` is what it replaced, and `gone` what it took away, where it lies over another.
    """

    __slots__ = ("__weakref__", "keys", "pos", "value")
    replaced: Node | None = None
    removed: tuple[Any, ...] = ()

    def __init__(self, value: Any, pos: Pos, keys: dict[str, Pos] | None = None) -> None:
        self.value, self.pos, self.keys = value, pos, keys or {}

    def get(self, name: str) -> Node | None:
        """Return the entry `name` of a mapping, or None."""
        return self.value.get(name) if isinstance(self.value, dict) else None

    @property
    def entries(self) -> dict[str, Node]:
        """The entries of a mapping; of anything else none."""
        return self.value if isinstance(self.value, dict) else {}

    def under(self, name: str) -> dict[str, Node]:
        """Return the entries of the mapping under a name, none where none stands there."""
        found = self.get(name)
        return {} if found is None else found.entries

    def key_pos(self, name: str) -> Pos:
        """Return where the key of an entry stands."""
        return self.keys.get(name) or self.entries[name].pos

    def json_of(self, name: str, otherwise: Any = None) -> Any:
        """Return the entry `name` of a mapping as plain JSON, or what is said otherwise."""
        found = self.get(name)
        return otherwise if found is None else found.plain()

    def plain(self) -> Any:
        """Return the node as plain JSON."""
        if isinstance(self.value, dict):
            return {k: v.plain() for k, v in self.value.items()}
        if isinstance(self.value, list):
            return [v.plain() for v in self.value]
        return self.value

    def dump(self) -> list[Any]:
        """Return a JSON form that `undump` takes back, positions included."""
        value = self.value
        if isinstance(value, dict):
            value = {k: v.dump() for k, v in value.items()}
        elif isinstance(value, list):
            value = [v.dump() for v in value]
        return [*self.pos, value]


def undump(data: list[Any]) -> Node:
    """Rebuild the Node that `Node.dump` wrote."""
    *pos, value = data
    if isinstance(value, dict):
        value = {k: undump(v) for k, v in value.items()}
    elif isinstance(value, list):
        value = [undump(v) for v in value]
    return Node(value, Pos(*pos))


_WHOLE = ("wire", "ir", "from", "to", "rewrite", "must")  # there `examples` is a key like any other
_SHOWN = ("examples", "examples!")
_NAMES = ("tables", "schemas", "shapes", "cases")  # and here it may be a name


def without_examples(node: Node, names: bool = False) -> Node:
    """Return a rule file without its examples, which no conversion asks for.

    The keys of a node are words, or `names`.
    """
    if not isinstance(node.value, dict):
        return node
    words = not names
    less = copy.copy(node)  # what it replaced stays known
    less.value = {
        key: child if words and key in _WHOLE else without_examples(child, words and key in _NAMES)
        for key, child in node.value.items()
        if names or key not in _SHOWN
    }
    return less


# The sum of what each file says, as long as anybody has it: most sets share most files.
_sums: WeakKeyDictionary[Node, str] = WeakKeyDictionary()


def fingerprint(files: Mapping[str, Node], sums: Mapping[str, str] | None = None) -> str:
    """Return the SHA-256 of what rule files say, in hex digits; of some the `sums` are known."""
    known = sums or {}
    whole = {**known, **sums_of({name: files[name] for name in files if name not in known})}
    return _sha256(json.dumps(dict(sorted(whole.items())), separators=(",", ":")))


def sums_of(files: Mapping[str, Node]) -> dict[str, str]:
    """Return the SHA-256 of what each of some rule files says, in hex digits."""
    return {name: _file_sum(node) for name, node in files.items()}


def _file_sum(node: Node) -> str:
    digest = _sums.get(node)
    if digest is None:
        content = dict(sorted(without_examples(node).plain().items()))
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        digest = _sums[node] = _sha256(text)
    return digest


def _sha256(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


Report = Callable[[RuleError], None]


def raise_error(error: RuleError) -> None:
    """Raise a mistake: the `Report` of whoever does not go on after one."""
    raise error


def wrong(message: str, pos: Pos, help: str = "", text: str = "", rule: str = "") -> RuleError:
    """Build the RuleError for a place in a rule file; the excerpt is of `text`, or of the file."""
    excerpt = ""
    if not text and os.path.isfile(pos.file):
        with open(pos.file, encoding="utf-8", errors="replace") as file:
            text = file.read(MAX_BYTES)
    lines = text.split("\n")
    if 0 < pos.line <= len(lines):
        excerpt = f"  {pos.line:4d} | {lines[pos.line - 1]}\n       | {' ' * (pos.column - 1)}^"
    place = (pos.file, pos.line, pos.column)
    return RuleError(message, *place, excerpt=excerpt, help=help, rule=rule)


def parse(text: str, file: str, report: Report = raise_error) -> Node:
    """Parse one rule file. Raises RuleError with the position of what is wrong.

    With `report`, mistakes after which reading can go on are handed to it and not raised.
    """
    import yaml

    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES} bytes"
        raise RuleError(message, file, 1, 1, rule="R011")
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reading = _Builder(yaml, file, text, report)
    try:
        events = list(reading.limited(yaml.parse(text, Loader=loader)))
    except yaml.YAMLError as error:
        raise _yaml_error(error, file, text) from None
    except (ValueError, UnicodeError) as error:
        message = f"this is no YAML text: {error}"
        raise RuleError(message, file, 1, 1, rule="R020") from None
    if not events:
        help = "a rule file begins with `wireglot: 2`"
        raise RuleError("the file is empty", file, 1, 1, help=help, rule="R026")
    return reading.build(iter(events))


def _yaml_error(error: Any, file: str, text: str) -> RuleError:
    from yaml import MarkedYAMLError

    from .yamlhelp import Fault, explain

    if isinstance(error, MarkedYAMLError):
        mark, begun = error.problem_mark or error.context_mark, error.context_mark
        fault = Fault(
            error.problem or error.context or "it cannot be read",
            error.context or "",
            (mark.line + 1, mark.column + 1) if mark else (1, 1),
            (begun.line + 1, begun.column + 1) if begun else (0, 0),
        )
    else:
        where = text[: getattr(error, "position", 0) or 0]
        line = where.count("\n")
        fault = Fault(str(error).splitlines()[0], "", (line + 1, len(where.split("\n")[-1]) + 1))
    advice = explain(fault, text)
    return wrong(advice.message, Pos(file, advice.line, advice.column), advice.help, text, "R020")


class _Builder:
    """Turns YAML's events into nodes and refuses what a rule file may not hold."""

    def __init__(self, yaml: Any, file: str, text: str, report: Report) -> None:
        self.yaml, self.file, self.text, self.report = yaml, file, text, report

    def refuse(self, message: str, pos: Pos, help: str = "") -> None:
        """Report what is forbidden and go on, or raise it."""
        self.report(wrong(message, pos, help, self.text, "R011"))

    def pos(self, event: Any) -> Pos:
        """Return where an event begins."""
        mark = event.start_mark
        return Pos(self.file, mark.line + 1, mark.column + 1)

    def limited(self, events: Any) -> Iterator[Any]:
        """Yield the events of nodes, and hold the file to its limits."""
        yaml = self.yaml
        scalar = yaml.ScalarEvent
        kept = (yaml.NodeEvent, yaml.CollectionEndEvent)
        depth = documents = 0
        for nodes, event in enumerate(events, 1):
            if event.__class__ is scalar and event.anchor is event.tag is None:
                if nodes <= MAX_NODES:  # most are such
                    yield event
                    continue
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    help = "put each dialect in a file of its own"
                    message = "a rule file holds one document"
                    raise wrong(message, self.pos(event), help, self.text, "R011")
                if event.tags or event.version:
                    message = "YAML directives are not used here"
                    self.refuse(message, self.pos(event), "leave it out")
            elif isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                help = "write it out; a text that begins with `&` or `*` stands in quotes"
                self.refuse("anchors and aliases are not used here", self.pos(event), help)
            if getattr(event, "tag", None) and event.tag != "!":
                help = "leave it out; a text that begins with `!` stands in quotes"
                self.refuse(f"the tag `{event.tag}` is not used here", self.pos(event), help)
            if depth > MAX_DEPTH or nodes > MAX_NODES:
                message = "the file is nested too deep or has too many nodes"
                help = f"at most {MAX_DEPTH} levels and {MAX_NODES} nodes"
                raise wrong(message, self.pos(event), help, self.text, "R011")
            if isinstance(event, kept):
                yield event

    def build(self, events: Iterator[Any]) -> Node:
        """Build the node with which the events begin."""
        return self._node(next(events), events)

    def _node(self, event: Any, events: Iterator[Any]) -> Node:
        yaml, pos = self.yaml, self.pos(event)
        if isinstance(event, yaml.ScalarEvent):
            return Node(self._scalar(event, pos), pos)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(item := next(events), yaml.SequenceEndEvent):
                items.append(self._node(item, events))
            return Node(items, pos)
        if not isinstance(event, yaml.MappingStartEvent):  # an alias, which was reported
            return Node(None, pos)
        entries: dict[str, Node] = {}
        keys: dict[str, Pos] = {}
        while not isinstance(key := next(events), yaml.MappingEndEvent):
            where = self.pos(key)
            if not isinstance(key, yaml.ScalarEvent):
                help = "a key that begins with `{` or `[` stands in quotes"
                if isinstance(key, yaml.SequenceStartEvent):
                    several = "several names before one reason stand as `a b: REASON`"
                    help = f"{several}, in `unsupported` and `drop` alone; {help}"
                raise wrong("a key is a text", where, help, self.text, "R011")
            value = self.build(events)
            if key.value == "<<" and not key.style:
                self.refuse("merge keys are not used here", where, "write it out")
            elif key.value in entries:
                help = f"it stands in line {keys[key.value].line} too; keep one of them"
                self.refuse(f"the key `{key.value}` stands here twice", where, help)
            else:
                keys[key.value], entries[key.value] = where, value
        return Node(entries, pos, keys)

    def _scalar(self, event: Any, pos: Pos) -> Any:
        value: str = event.value
        if event.style:
            return value
        if value in _WORDS:
            return _WORDS[value]
        if value[0] in _DIGITS and (number := _NUMBER.fullmatch(value)):
            if len(value) > 40:
                self.refuse("this number has too many digits", pos, "write it as text")
                return value
            found = float(value) if number[1] or "e" in value.lower() else int(value)
            if found in (math.inf, -math.inf):
                self.refuse("this number is larger than JSON's", pos, "write it as text")
                return value
            return found
        return value
