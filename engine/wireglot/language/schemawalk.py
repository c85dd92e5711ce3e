"""Writing a schema node by node: references, rewrites, and keywords that are not taken."""

from __future__ import annotations

import graphlib
from typing import Any, NamedTuple, Protocol

from ..notes import Effect
from ..trail import At, everywhere, place_of, value_at
from .drafts import renew
from .lenses import Misfit, same, stringify
from .nodes import DEFINITIONS, LISTS, MAPS, PLACES, SINGLES, Row, keywords, mapped, nodes, rewrite
from .picture import ABSENT

MAX_NODES, MAX_DEPTH = 20_000, 100
# Of what references stand for, so many nodes are written for each that the schema has itself.
AT_LEAST, FOR_EACH = 2000, 50
MAX_WRITTEN = 1_000_000  # characters of what references stand for, wherever it is written out
TOO_LARGE = "the schema is too large when its references are written out"
SILENT = frozenset(("$schema", "$id", "$comment"))  # keywords that say nothing to a model
# Keywords that say nothing of which values are right.
ASIDE = frozenset("$schema $id $ref $anchor $comment title description default examples".split())


class Takes(Protocol):
    """What a schema dialect takes; `schema.Schema` is one."""

    keep: frozenset[str] | None
    whole: frozenset[str]
    rootless: frozenset[str]
    types: frozenset[str]
    enum: str
    inlines: bool
    fills: bool  # whether a schema that says nothing is not taken as it is
    draft: str | None
    rows: list[Row]


class Change(NamedTuple):
    """What became of one keyword: a note in the making, with its path within the schema."""

    code: str
    effect: Effect
    at: At
    message: str
    owner: Any = None
    key: Any = None


class WireNode:
    """A node in the making: its keywords, where each came from, what is told of each."""

    def __init__(self, schema: dict[str, Any], at: At) -> None:
        self.words = dict(schema)
        self.places: dict[str, At] = {key: (*at, key) for key in schema}
        self.told: dict[str, list[Change]] = {}
        self.used: dict[str, set[At]] = {}
        self.out: dict[str, Any] = {}

    def tell(self, key: str, told: Change) -> None:
        """Tell something of a keyword; forgotten when the keyword is lost as a whole."""
        self.told.setdefault(key, []).append(told)


def _referred(root: Any, ref: Any) -> tuple[dict[str, Any] | None, At]:
    """Return what a reference of a schema stands for, and where that is."""
    if not isinstance(ref, str) or not ref.startswith("#"):
        return None, ()
    at = place_of(root, ref[1:])
    value = value_at(root, at)
    return (value, at) if isinstance(value, dict) else (None, ())


def resolved(root: Any, node: Any) -> tuple[Any, At]:
    """Return what a schema stands for that is a reference and nothing else, and where that is.

    Any other one stands for itself, and is nowhere else.
    """
    alone = isinstance(node, dict) and node.keys() == {"$ref"}
    found, at = _referred(root, node["$ref"]) if alone else (None, ())
    return (found, at) if at else (node, ())


def is_endless(root: dict[str, Any]) -> bool:
    """Tell whether a reference leads back to what it stands in, or out of the schema."""
    waiting = [one["$ref"] for one in nodes(root) if "$ref" in one]
    leads: dict[Any, list[Any]] = {}
    while waiting:
        ref = waiting.pop()
        target, _ = _referred(root, ref)
        if target is None:
            return True
        if ref not in leads:
            leads[ref] = [one["$ref"] for one in nodes(target) if "$ref" in one]
            waiting += leads[ref]
    try:
        graphlib.TopologicalSorter(leads).prepare()
    except graphlib.CycleError:
        return True
    return False


class Walk:
    """One schema on its way to the wire."""

    def __init__(self, dialect: Takes, schema: dict[str, Any], tells: bool = False) -> None:
        self.dialect, self.root = dialect, schema
        self.tells = tells and (dialect.keep is None or "description" in dialect.keep)
        self.count = self.depth = self.written = 0
        self.most = AT_LEAST  # until it is counted how many nodes the schema has
        self.within = 0  # within how many keywords that are taken whole this is
        self.open: list[At] = []

    def write(self) -> tuple[dict[str, Any], list[Change]]:
        """Return the schema as it is written, and what is told."""
        out, changes, seen = self.write_node(self.root, ())
        if self.dialect.inlines:
            changes += self._unused(seen)
        return out, changes

    def _unused(self, seen: set[At]) -> list[Change]:
        named = {at[:2] for at in seen}
        return [
            _lost((word, name), f"nothing refers to the definition `{name}`, and it is left out")
            for word in DEFINITIONS
            if isinstance(self.root.get(word), dict)
            for name in self.root[word]
            if (word, name) not in named
        ]

    def write_node(self, schema: Any, at: At) -> tuple[Any, list[Change], set[At]]:
        """Write one node: its reference, what is inside it, its rewrites, its keywords."""
        self.count += 1
        self.depth += 1
        if self.count > self.most and self.most == AT_LEAST:
            own = sum(isinstance(one, dict) for _, one in everywhere(self.root))
            self.most = min(MAX_NODES, max(AT_LEAST + 1, FOR_EACH * own))
        if self.count > self.most or self.depth > MAX_DEPTH:
            raise Misfit(TOO_LARGE)
        node = WireNode(schema, at)
        changes: list[Change] = []
        seen: set[At] = set()
        depth = len(self.open)
        if self.dialect.inlines:
            while "$ref" in node.words:
                self._inline(node, changes, seen)
            if self.open:
                self._limit_size(node)
            if not at:
                for word in DEFINITIONS:
                    node.words.pop(word, None)
        if self.dialect.draft is not None:
            self._renew(node)
        for key in list(node.words):
            self.within += key in self.dialect.whole
            self._write_children(node, key)
            self.within -= key in self.dialect.whole
        del self.open[depth:]
        for row in self.dialect.rows:
            self._apply_row(node, row)
        tells = self.tells and (at or "description" not in self.dialect.rootless)
        self._leave_out(node, changes, tells)
        for key in node.words:
            changes += node.told.get(key, ())
            seen |= node.used.get(key, set())
        node.out.update(node.words)
        self.depth -= 1
        return node.out, changes, seen

    def _renew(self, node: WireNode) -> None:
        """Say in the words of this draft what an older one says otherwise."""
        before = node.places
        node.words, told = renew(node.words)
        node.places = {key: before.get(key, ()) for key in node.words}
        for key, (new, message) in told.items():
            if new:
                node.places[new] = before[key]
            one = Change("schema-renewed", "changed", before[key], message, node.out, new or None)
            node.tell(new, one)

    # -- references ---------------------------------------------------------------------------

    def _inline(self, node: WireNode, changes: list[Change], seen: set[At]) -> None:
        """Write a reference out: the keywords beside it stand over those that it names."""
        ref, place = node.words.pop("$ref"), node.places.pop("$ref")
        target, where = _referred(self.root, ref)
        if target is None:
            changes.append(Change("schema-cut", "lost", place, f"`{ref}` is no schema of this one"))
            return
        if where in self.open or not where:
            said = f"`{ref}` leads back to itself; only its type stands here"
            changes.append(Change("schema-cut", "lost", place, said))
            if "type" in target:
                node.words.setdefault("type", target["type"])
                node.places.setdefault("type", place)
            return
        changes.append(Change("schema-inlined", "changed", place, f"`{ref}` is written out here"))
        seen.add(where)
        self.open.append(where)
        for key, value in target.items():
            if key not in node.words:
                node.words[key], node.places[key] = value, (*where, key)
            elif not same(node.words[key], value):
                changes.append(_lost((*where, key), f"`{key}` beside the reference says otherwise"))

    def _limit_size(self, node: WireNode) -> None:
        """Refuse what grows too large: a long text may be referred to a thousand times."""
        plain = (v for key, v in node.words.items() if key not in PLACES)
        self.written += sum(len(str(value)) for value in plain)
        if self.written > MAX_WRITTEN:
            raise Misfit(TOO_LARGE)

    # -- what is inside -----------------------------------------------------------------------

    def _write_children(self, node: WireNode, key: str) -> None:
        """Write the schemas below one keyword."""
        at = node.places[key]
        made = mapped(key, node.words[key], lambda c, way: self._child(node, key, c, (*at, *way)))
        if made is ABSENT:
            del node.words[key]
        else:
            node.words[key] = made

    def _child(self, node: WireNode, key: str, child: Any, at: At) -> Any:
        if isinstance(child, dict):
            out, told, seen = self.write_node(child, at)
            node.told.setdefault(key, []).extend(told)
            node.used.setdefault(key, set()).update(seen)
            return out
        takes = self.dialect.keep is None and not self.dialect.fills
        if takes or self.within or (SINGLES.get(key) and isinstance(child, bool)):
            return child
        if child is True:
            said = "`true` is written as the schema that says nothing"
            node.tell(key, Change("schema-reworded", "changed", at, said))
            return self._child(node, key, {}, at)
        if child is False:
            node.tell("", _lost(at, "no schema of nothing is taken"))
            return ABSENT
        if self.dialect.keep is None:
            return child  # told of the schema as a whole
        node.tell("", _lost(at, "this is no schema, which is an object"))
        return ABSENT

    # -- rewrites and keywords ----------------------------------------------------------------

    def _apply_row(self, node: WireNode, row: Any) -> None:
        new = rewrite(node.words, row.schema, row.here)
        if new is None:
            return
        old = node.words
        out = [k for k in keywords(row.schema) if k in old]
        gone = [k for k in out if k not in new or not same(new[k], old[k])]
        place = node.places.get(gone[0]) if gone else None
        fresh = [key for key in new if key not in old or key in gone]
        if not gone and not fresh:
            return  # it stands already as it is to be
        changes = [t for key in gone for t in node.told.pop(key, ())]
        seen = {at for key in gone for at in node.used.pop(key, set())}
        first = fresh[0] if fresh else None  # nothing stands for what is gone but its schema
        node.words = new
        for key in fresh:
            if place is not None:
                node.places[key] = place
        if row.note is not None and place is not None:
            changes.append(Change("schema-reworded", "changed", place, row.note, node.out, first))
        elif row.note is not None:
            changes.append(Change("schema-added", "added", (), row.note, node.out, first))
        node.told.setdefault(first or "", []).extend(changes)
        node.used.setdefault(first or "", set()).update(seen)

    def _leave_out(self, node: WireNode, changes: list[Change], tells: Any) -> None:
        """Leave out what is not taken, and tell it; `tells`: in the description, if it can be."""
        changes += node.told.pop("", ())
        constraints: list[str] = []
        for key in list(node.words) if not self.within else ():
            why = self._why_refused(node.words, key)
            if not why:
                continue
            value, place = node.words.pop(key), node.places.get(key, ())
            if tells and key not in ASIDE and key != "type" and not _holds_objects(value):
                constraints.append(f"{key}: {stringify(value)}")
                message = f"{why}; the description tells it"
                told = Change("schema-told", "changed", place, message, node.out, "description")
                changes.append(told)
            else:
                changes.append(_lost(place, why))
        if constraints:
            before = node.words.get("description")
            text = f"({', '.join(constraints)})"
            node.words["description"] = f"{before} {text}" if before else text

    def _why_refused(self, words: dict[str, Any], key: str) -> str:
        """Say why a keyword is not taken, or nothing."""
        dialect, value = self.dialect, words[key]
        if dialect.keep is not None:
            if key not in dialect.keep:
                return f"the schema keyword `{key}` is not taken"
            form = dict if key in MAPS else list if key in LISTS else object
            if not isinstance(value, form) or (key == "items" and isinstance(value, list)):
                return f"the schema keyword `{key}` is not taken in this form"
        if key == "type" and dialect.types:
            if not isinstance(value, str) or value.lower() not in dialect.types:
                return f"the type {value!r} is not taken"
        if key == "enum" and dialect.enum == "strings":
            kind = words.get("type", "string")
            texts = isinstance(value, list) and all(v and isinstance(v, str) for v in value)
            if not texts or not isinstance(kind, str) or kind.lower() != "string":
                return "only texts that say something can be chosen from with `enum`"
        return ""


def _holds_objects(value: Any) -> bool:
    """Tell whether a keyword holds objects, which are no words for a description."""
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_holds_objects, value)))


def _lost(at: At, message: str) -> Change:
    return Change("schema-keyword", "lost", at, message)
