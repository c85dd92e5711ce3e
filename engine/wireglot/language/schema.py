"""Schema dialects: which JSON Schema a provider takes, and how it says what it takes; a lens.

`NAME` writes every schema and tells what it had to change; `fits-NAME` takes only what can be
written without telling anything.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from typing import Any

from ..native import mypyc_attr
from ..trail import At, Trail, everywhere, value_at
from .lenses import Misfit, same
from .nodes import (
    PLACES,
    SINGLES,
    TYPES,
    Row,
    Rule,
    invalid_at,
    keywords,
    map_children,
    nodes,
    rewrite,
    subschemas,
)
from .picture import ABSENT
from .rootwalk import fill_root, unmerged, write_root
from .schemawalk import Change, Walk, is_endless
from .source import Node

DIGEST = 32  # bytes of the sum that stands for a large schema
REMEMBERED = 512  # schemas of which is known what becomes of them
COUNTED = ("Items", "Length", "Properties")
COUNTS = frozenset(f"{end}{what}" for end in ("min", "max") for what in COUNTED)
LARGEST = 4096  # bytes of one of which all is remembered; of others: that they are refused, or stay


@mypyc_attr(native_class=False)
class Schema:
    """A schema dialect; `exact` is the form of it that loses and rewords nothing."""

    def __init__(self, plain: dict[str, Any], rows: list[Row], rules: list[Rule], exact: bool):
        self.keep = frozenset(plain["keep"]) if "keep" in plain else None
        self.whole = frozenset(plain.get("whole", ()))
        self.root = plain.get("root")
        self.rootless = frozenset(plain.get("root-without", ()))
        self.rooted: dict[str, Any] = plain.get("root-with", {})
        self.draft: str | None = plain.get("draft")
        self.numbers: list[str] = plain.get("types", [])  # some clients send their numbers
        self.types = frozenset(self.numbers)
        self.enum = plain.get("enum", "any")
        self.inlines, self.finite = (plain.get("refs") == word for word in ("inline", "finite"))
        self.rows, self.rules, self.exact = rows, rules, exact
        self.second: dict[str, str] = {}  # keywords by their second spelling
        self.fills = any(rewrite({}, row.schema, row.here) for row in rows)
        self._written_cache: dict[bytes, Any] = {}
        self._read_cache: dict[bytes, bytes | None] = {}
        self.two_way = [row for row in rows if row.note is None]
        self.touched = {k for r in self.two_way for k in keywords(r.here) + keywords(r.schema)}
        # Whether a schema that no row fits is written as it is, or not at all.
        taken = exact or self.keep is None
        self.writes_unchanged = taken and not self.inlines and not (rows and self.whole)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_written_cache": {}, "_read_cache": {}}

    def respell(self, second: Callable[[str], str]) -> None:
        """Let keywords be read in a second spelling, too, where it is said which are taken."""
        words = {*self.keep, *PLACES} if self.keep is not None else ()
        self.second = {also: word for word in words if (also := second(word)) != word}

    # -- reading ------------------------------------------------------------------------------

    def read(self, schema: Any) -> tuple[Any, bool]:
        """Return the schema in the words of JSON Schema, and whether nothing was respelled."""
        key = _cache_key(schema, False)
        if key is not None and key in self._read_cache:
            known = self._read_cache[key]
            return (schema, True) if known is None else (marshal.loads(known), False)
        found = self._read(schema)
        exact = found == schema and same(found, schema)
        if key is not None:
            _remember(self._read_cache, key, None if exact else marshal.dumps(found, 2))
        return (schema, True) if exact else (found, False)

    def _read(self, node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        node = map_children(self._respelled(node), self._read)
        word = self._type_word(node.get("type"))
        if word is not node.get("type"):
            node = {**node, "type": word}
        if not COUNTS.isdisjoint(node):
            node = {key: _number(v) if key in COUNTS else v for key, v in node.items()}
        for row in reversed(self.two_way):
            found = rewrite(node, row.here, row.schema)
            node = node if found is None else found
        return node

    def _respelled(self, node: dict[str, Any]) -> dict[str, Any]:
        """Return a node with its keywords in their first spelling."""
        if self.second.keys().isdisjoint(node):
            return node
        return {first: node[word] for first, word in self._spellings(node).items()}

    def _spellings(self, node: dict[str, Any]) -> dict[str, str]:
        """Return the keywords of a node by their first spelling, if that does not stand there."""
        words = {word: self.second.get(word, word) for word in node}
        return {word if first in node else first: word for word, first in words.items()}

    def _type_word(self, word: Any) -> Any:
        """Return a word of a type as JSON Schema has it."""
        if isinstance(word, str) and word not in TYPES and word.lower() in (self.types or TYPES):
            return word.lower()
        if isinstance(word, str) and "," in word:  # several in one text, as some SDKs write them
            several = [one.strip().lower() for one in word.split(",")]
            return several if TYPES.issuperset(several) else word
        if word.__class__ is int and 0 < word <= len(self.numbers):
            return self.numbers[word - 1]
        return word

    def trace(self, came: Any, read: Any, at: At, trail: Trail) -> None:
        """Put where the nodes of a schema came from, that reading respelled."""
        if not isinstance(read, dict) or not (self.two_way or self.second):
            return
        words: dict[str, str] = {}  # how keywords came that came in their second spelling
        if isinstance(came, dict) and not self.second.keys().isdisjoint(came):
            words, came = self._spellings(came), self._respelled(came)
        moved = not isinstance(came, dict) or came.keys() != read.keys()
        for key, value in read.items():
            there = isinstance(came, dict) and key in came
            here = (words.get(key, key),) if there else self._origin(key, came, read, words)
            place = (*at, *here)
            trail.put_inside(read, key, place)
            # What stands below a keyword that was put there came from the whole node.
            if not there or (moved and key in self.touched):
                for node in nodes(value if key in SINGLES else {key: value}):
                    for word in node:
                        trail.put_inside(node, word, place)
            else:
                for way, child in subschemas(key, value):
                    self.trace(value_at(came[key], way), child, (*place, *way), trail)

    def _origin(self, key: str, came: Any, read: dict[str, Any], words: dict[str, str]) -> At:
        """Return the one keyword that a keyword was read from, if it is one."""
        for row in self.two_way if isinstance(came, dict) else ():
            gone = [word for word in keywords(row.here) if word in came and word not in read]
            if key in keywords(row.schema) and len(gone) == 1:
                return (words.get(gone[0], gone[0]),)
        return ()

    def spelled_here(self, schema: Any) -> Any:
        """Return a schema as this dialect spells it, whether it takes it or not."""
        if not isinstance(schema, dict):
            return schema
        node = map_children(schema, self.spelled_here)
        for row in self.two_way:
            found = rewrite(node, row.schema, row.here)
            node = node if found is None else found
        return node

    # -- writing ------------------------------------------------------------------------------

    def write(self, schema: Any, tells: bool = False) -> tuple[Any, list[Change]]:
        """Return the schema as this dialect takes it, and what had to change.

        `tells` puts constraints that are not taken into the description of their node.

        Raises Misfit when it refuses the schema.
        """
        key = _cache_key(schema, tells)
        if key is None or key not in self._written_cache:
            return self._write_new(key, schema, tells)
        known = self._written_cache[key]
        if known.__class__ is tuple:
            raise Misfit(*known)
        made, changes = known
        wire = schema if made is None else marshal.loads(made)
        owned = [(one, one.owner) for one in changes]
        return wire, [t if at is None else t._replace(owner=value_at(wire, at)) for t, at in owned]

    def _write_new(self, key: bytes | None, schema: Any, tells: bool) -> tuple[Any, list[Change]]:
        """Write a schema, and remember what became of it: tools come again and again."""
        try:
            wire, changes = self._write(schema, tells)
        except Misfit as misfit:
            if key is not None:
                _remember(self._written_cache, key, (misfit.reason, misfit.at, misfit.pos))
            raise
        if key is not None and (len(key) != DIGEST or wire is schema):
            # What is told points into what is written: remembered is where.
            whole = everywhere(wire) if changes else ()
            places: dict[int, At | None] = {id(one): at for at, one in whole}
            places[id(None)] = None
            if all(id(one.owner) in places for one in changes):
                made = None if wire is schema else marshal.dumps(wire, 2)
                placed = [one._replace(owner=places[id(one.owner)]) for one in changes]
                _remember(self._written_cache, key, [made, placed])
        return wire, changes

    def _write(self, schema: Any, tells: bool) -> tuple[Any, list[Change]]:
        if not isinstance(schema, dict):
            raise Misfit("a schema is an object")
        if self.root is not None and schema.get("type") != self.root:
            if not (self.inlines and "$ref" in schema):
                raise Misfit(f"the root of a schema is an {self.root} here")
        if self.finite and is_endless(schema):
            raise Misfit("a reference leads back to what it stands in, or out of the schema")
        late = self.inlines and "$ref" in schema  # what it refers to may say what the root must
        schema, changes, moved = write_root(schema, self.rootless, {} if late else self.rooted)
        wire, more = Walk(self, schema, tells).write()
        if (at := invalid_at(wire)) is not None:
            what = "this is no JSON Schema, and the target may refuse it"
            more.append(Change("bad-schema", "kept", invalid_at(schema) or at, what))
        changes += [one._replace(at=unmerged(moved, one.at)) for one in more] if moved else more
        if not changes and same(wire, schema):
            wire = schema
        if late:
            wire = fill_root(wire, self.rooted, changes)
        # What was filled in at the root stands in what is written.
        changes = [c._replace(owner=wire) if c.key and c.owner is None else c for c in changes]
        if self.exact and changes:
            raise Misfit(changes[0].message)
        if self.root is not None and wire.get("type") != self.root:
            raise Misfit(f"the root of a schema is an {self.root} here")
        asked = [(rule, *rule[2:]) for rule in self.rules]
        for node in nodes(wire) if asked else ():
            for rule, word, fixed, value in asked:  # most are about other nodes
                if node.get(word, ABSENT) == value if fixed else not word or word in node:
                    rule.check(node)
        return wire, changes


def _cache_key(schema: Any, tells: bool) -> bytes | None:
    """Return what tells a schema from all others; None where nothing does."""
    try:
        found = marshal.dumps(schema, 2)
    except ValueError:  # it is too deep, or no JSON
        return None
    found += b"1" if tells else b"0"
    if len(found) <= LARGEST:
        return found
    import hashlib  # most schemas are small

    return hashlib.sha256(found).digest()


def _remember(known: dict[bytes, Any], mark: bytes, what: Any) -> None:
    if len(known) >= REMEMBERED:
        known.clear()
    known[mark] = what


def load(name: str, node: Node) -> dict[str, Schema]:
    """Build a schema dialect in both its forms. Raises RuleError."""
    rewrite, must = node.get("rewrite"), node.get("must")
    rows = [Row.load(k, v) for k, v in rewrite.value.items()] if rewrite else []
    rules = [Rule.load(v) for v in must.value] if must else []
    plain = node.plain()
    return {
        name: Schema(plain, rows, rules, False),
        f"fits-{name}": Schema(plain, rows, rules, True),
    }


def _number(count: Any) -> Any:
    """Return a count as a number: some JSON writes those of 64 bits as texts."""
    whole = isinstance(count, str) and count.isascii() and count.isdigit() and len(count) < 20
    return int(count) if whole else count
