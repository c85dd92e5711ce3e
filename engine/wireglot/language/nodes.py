"""Nodes of JSON Schema: where schemas stand in schemas, and pictures of nodes.

Keywords are keywords only where a schema stands: a property may be called `type` or `$ref`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any, NamedTuple

from ..trail import At
from . import drawn
from . import picture as pic
from .lenses import Misfit, guard, is_guard, same
from .picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text
from .source import Node, wrong

# One schema; true says that `true` and `false` are usual there.
SINGLES = {
    **dict.fromkeys(("items", "not", "contains", "propertyNames", "if", "then", "else"), False),
    "contentSchema": False,
    **dict.fromkeys(("additionalProperties", "additionalItems"), True),
    **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems"), True),
}
LISTS = frozenset(("anyOf", "oneOf", "allOf", "prefixItems"))
MAPS = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))
PLACES = frozenset((*SINGLES, *LISTS, *MAPS))
TYPES = frozenset("string number integer boolean array object null".split())
DEEPEST = 150  # keys and indices; what lies deeper is not looked at
DEFINITIONS = ("$defs", "definitions")
LENSES = frozenset(("keys", "some-keys"))


def subschemas(key: str, value: Any) -> list[tuple[At, Any]]:
    """Return what stands in the places of schemas under a keyword, each with its way from there."""
    if key in MAPS and isinstance(value, dict):
        return [((name,), child) for name, child in value.items()]
    if isinstance(value, list) and (key in LISTS or key == "items"):
        return [((i,), child) for i, child in enumerate(value)]
    return [((), value)] if key in SINGLES else []


def mapped(key: str, value: Any, change: Callable[[Any, At], Any]) -> Any:
    """Return what stands under a keyword with its schemas changed; an absent one falls out."""
    if key in MAPS and isinstance(value, dict):
        named = {name: change(child, (name,)) for name, child in value.items()}
        return {name: child for name, child in named.items() if child is not ABSENT}
    if isinstance(value, list) and (key in LISTS or key == "items"):
        listed = [change(child, (i,)) for i, child in enumerate(value)]
        return [child for child in listed if child is not ABSENT]
    return change(value, ()) if key in SINGLES else value


def children(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the schemas right below a node."""
    for key, value in node.items():
        for _, child in subschemas(key, value) if key in PLACES else ():
            if isinstance(child, dict):
                yield child


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and all that stand in it."""
    if isinstance(schema, dict):
        yield schema
        for child in children(schema):
            yield from nodes(child)


def invalid_at(node: dict[str, Any], at: At = ()) -> At | None:
    """Return the first place that no JSON Schema has: a word that is no type, what is no schema."""
    word = node.get("type")
    for one in word if isinstance(word, list) else () if word is None else (word,):
        if one.__class__ is not str or one.lower() not in TYPES:
            return (*at, "type")
    for key, value in node.items():
        if key not in PLACES or value is None or len(at) > DEEPEST:
            continue
        children: Any = ((None, value),)
        if key in MAPS and value != []:
            children = value.items() if isinstance(value, dict) else children
        elif key in LISTS or isinstance(value, list):
            children = enumerate(value) if isinstance(value, list) else children
        for name, child in children:
            place = (*at, key) if name is None else (*at, key, name)
            if child.__class__ is dict and (name is not None or key in SINGLES):
                if (found := invalid_at(child, place)) is not None:
                    return found
            elif child.__class__ is not bool or (name is None and key not in SINGLES):
                return place
    return None


def map_children(node: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a node whose inner schemas are changed."""
    return {key: mapped(key, value, lambda child, _: change(child)) for key, value in node.items()}


class Row(NamedTuple):
    """Two pictures of a part of a node; with a `note` it is for writing only."""

    name: str
    schema: Fields
    here: Fields
    note: str | None

    @staticmethod
    def load(name: str, node: Node) -> Row:
        """Build a row. Raises RuleError."""
        before, after = _node_picture(node, "schema", name), _node_picture(node, "here", name)
        note = node.get("note")
        known, named = ([path for path, _ in pic.named(p)] for p in (before, after))
        for path in named:
            if path not in known:
                raise wrong(f"nothing gives `${path}` in the rewrite `{name}`", after.pos)
        if note is None and (set(named) != set(known) or before.spread or after.spread):
            help = "both sides name the same holes, or a `note` says what is lost"
            raise wrong(f"the rewrite `{name}` cannot be read back", node.pos, help)
        return Row(name, before, after, None if note is None else str(note.value))


class Rule(NamedTuple):
    """What a node must have (`has`), where a picture of it (`where`) fits.

    `keyword` is the first of that picture, empty where nothing has to stand under it, and `value`
    the one value that has to, None where any may (`fixed` tells whether there is one).
    """

    where: Fields
    has: Fields
    keyword: str
    fixed: bool
    value: Any

    @staticmethod
    def load(node: Node) -> Rule:
        """Build a rule. Raises RuleError."""
        where, has = _node_picture(node, "where", "must"), _node_picture(node, "has", "must")
        for names, child in where.entries[:1]:
            if isinstance(child, Literal) and len(child.values) == 1:
                return Rule(where, has, names[0], True, child.values[0])
            if not isinstance(child, Literal):
                return Rule(where, has, names[0], False, None)
        return Rule(where, has, "", False, None)

    def check(self, node: dict[str, Any]) -> None:
        """Raise Misfit when a node lacks what it must have."""
        if match(self.where, node, {}, node) and not match(self.has, node, {}, node):
            wanted = ", ".join(f"`{names[0]}`" for names, _ in self.has.entries)
            raise Misfit(f"a node of the schema lacks what it must have here: {wanted}")


def _node_picture(node: Node, word: str, name: str) -> Fields:
    """Return the picture of a schema node under a word of a rule. Raises RuleError."""
    said = node.get(word)
    found = None if said is None else drawn.parse(said)
    if not isinstance(found, Fields):
        raise wrong(f"`{name}` has `{word}`, a picture of a node", node.pos)
    if any(hole.mode for hole in pic.holes(found)):
        raise wrong(f"`{word}` pictures whole lists, and no rest of one", node.pos)
    for hole in pic.holes(found):
        for lens in hole.lenses:
            if lens not in LENSES and not is_guard(lens):
                raise wrong(f"`{lens}` is no codec of a schema node", hole.pos)
        if hole.mark or hole.mode:
            raise wrong("a hole of a schema node has no mark and no shape", hole.pos)
    return found


def match(p: Picture, value: Any, found: dict[str, Any], node: Any) -> bool:
    """Tell whether a value fits a picture; what its holes hold is put into `found`.

    A hole `$NAME | keys` is no place for a value: it says the keys of that keyword of the node,
    and `$NAME | some-keys` any of them.
    """
    if isinstance(p, Literal):
        return any(
            value is ABSENT if v is ABSENT else value is not ABSENT and same(v, value)
            for v in p.values
        )
    if isinstance(p, Hole) and not LENSES.isdisjoint(p.lenses):
        keys = node.get(p.path)
        names = set(keys) if isinstance(keys, dict) else set()
        listed = [] if value is ABSENT else value
        said = set(map(str, listed)) if isinstance(listed, list) else None
        return said is not None and (said == names if "keys" in p.lenses else said <= names)
    if value is ABSENT:
        return False
    if isinstance(p, Hole):
        if any(is_guard(lens) and not guard(lens, value) for lens in p.lenses):
            return False
        if p.path in found:
            return same(found[p.path], value)
        found[p.path] = value
        return True
    if isinstance(p, Fields):
        if not isinstance(value, dict) or (p.closed and not value.keys() <= p.names):
            return False
        others = {key: child for key, child in value.items() if key not in p.names}
        return all(
            _match_type_words(child, value.get(names[0], ABSENT), found, value)
            if names[0] == "type" and isinstance(child, Items)
            else match(child, value.get(names[0], ABSENT), found, value)
            for names, child in p.entries
        ) and all(match(hole, others, found, value) for hole in p.spread)
    if isinstance(p, Items):
        more = len(value) - len(p.items) if isinstance(value, list) else -1
        if more < 0 or (more and p.rest is None):
            return False
        head, behind = value[: len(p.items)], value[len(p.items) :]
        return (p.rest is None or match(p.rest, behind, found, node)) and all(
            match(c, v, found, node) for c, v in zip(p.items, head, strict=True)
        )
    return isinstance(p, pic.Test) and p.word == "present"


def _match_type_words(p: Items, value: Any, found: dict[str, Any], node: Any) -> bool:
    """Match a list of type words, which is a set: in any order."""
    if not isinstance(value, list) or len(value) != len(p.items) or len(value) > 4:
        return False
    for order in permutations(value):
        tried = dict(found)
        if match(p, list(order), tried, node):
            found.update(tried)
            return True
    return False


def make(p: Picture, found: dict[str, Any]) -> Any:
    """Fill a picture of a node."""
    if isinstance(p, Literal):
        return p.values[0]
    if isinstance(p, Hole):
        return found[p.path]
    if isinstance(p, Items):
        return [*(make(child, found) for child in p.items), *(found[p.rest.path] if p.rest else ())]
    if isinstance(p, Text):
        return p.write(tuple(str(found[name]) for name in p.names))
    assert isinstance(p, Fields)
    out: dict[str, Any] = {}
    for hole in p.spread:
        value = found[hole.path]
        if not isinstance(value, dict):
            raise Misfit("only the keys of a schema can stand among others")
        out.update(value)
    out.update((names[0], make(child, found)) for names, child in p.entries)
    return {key: value for key, value in out.items() if value is not ABSENT}


def rewrite(node: dict[str, Any], before: Fields, after: Fields) -> dict[str, Any] | None:
    """Return a node with one part of it in other words, or None where the row does not fit."""
    found: dict[str, Any] = {}
    if not match(before, node, found, node):
        return None
    try:
        new = make(after, found)
    except Misfit:
        return None
    gone = keywords(before)
    if any(key in node and key not in gone and not same(node[key], new[key]) for key in new):
        return None
    out: dict[str, Any] = {}
    for key, value in node.items():
        if key in gone:
            out.update(new)
        else:
            out.setdefault(key, value)
    return {**out, **new}


def keywords(before: Fields) -> list[str]:
    """Return the keywords that a picture takes out of a node."""
    return [
        names[0]
        for names, child in before.entries
        if not (isinstance(child, Literal) and child.values == (ABSENT,))
    ]
