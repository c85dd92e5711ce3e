"""Merging: one part of a rule file laid over another, and a case over its shape.

What lies on top keeps its own place; what it replaced or took away stays with it as `was` and
`gone`, so that `wireglot show` can say where every line came from.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from ..errors import RuleError
from .drawn import spellings
from .source import Node, Pos, Report, raise_error, wrong

REMOVED = "$removed"
PLAIN_SECTIONS = frozenset(
    "carry hooks limits lists repeated schemas slight spelling tables unions unsupported "
    "usual within-text".split()
)


class Laid(Node):
    """A node that lies over another."""

    __slots__ = ("removed", "replaced")

    def __init__(
        self,
        value: Any,
        pos: Pos,
        keys: dict[str, Pos] | None = None,
        was: Node | None = None,
        gone: tuple[RemovedKey, ...] = (),
    ) -> None:
        super().__init__(value, pos, keys)
        self.replaced, self.removed = was, gone


class RemovedKey(NamedTuple):
    """A key that was taken away: where that was said, and what stood there."""

    key: str
    pos: Pos
    was: Node


class Place(Enum):
    """What part of a rule file a node stands in; it decides how the node merges (`INNER`)."""

    FILE = "a rule file"
    SHAPES = "the shapes"
    SHAPE = "a shape or unit"
    CASES = "the cases"
    CASE = "a case"
    PICTURE = "a picture"
    LATER = "the picture of a case, which is laid over its shape's afterwards"
    STREAM = "the stream"
    EVENTS = "the events of the stream"
    PLAIN = "a mapping of words"
    DATA = "data, which is replaced whole"

    def inner(self, key: str) -> Place:
        """Return the place of what stands under a key."""
        named, others = INNER.get(self, ({}, self))
        return named.get(key, others)

    @property
    def pictured(self) -> bool:
        """Tell whether keys have spellings here, and lists merge item by item."""
        return self in (Place.PICTURE, Place.LATER)


_EXAMPLES = {"examples": Place.DATA}
_PICTURES = {**dict.fromkeys(("wire", "ir", "message"), Place.PICTURE), "cases": Place.CASES}
# The places of what stands in some: under some keys, and under all others.
INNER: dict[Place, tuple[dict[str, Place], Place]] = {
    Place.FILE: (
        {
            **dict.fromkeys(PLAIN_SECTIONS, Place.PLAIN),
            "shapes": Place.SHAPES,
            "stream": Place.STREAM,
            "variants": Place.DATA,  # its rows are layers themselves
        },
        Place.SHAPE,
    ),
    Place.SHAPES: ({}, Place.SHAPE),
    Place.SHAPE: (_PICTURES | _EXAMPLES, Place.PLAIN),
    Place.CASES: ({}, Place.CASE),
    Place.CASE: (dict.fromkeys(("wire", "ir", "message"), Place.LATER) | _EXAMPLES, Place.PLAIN),
    Place.STREAM: ({"frame": Place.PICTURE, "events": Place.EVENTS, **_EXAMPLES}, Place.PLAIN),
    Place.EVENTS: ({}, Place.PICTURE),
}


class _KeyParts(NamedTuple):
    name: str
    names: tuple[str, ...]
    whole: bool  # `key!`
    bare: str  # without the `!`


@functools.lru_cache(4096)
def _parse_key(key: str, pictured: bool) -> _KeyParts:
    """Take a key apart: `name!`, and in pictures `name (or alias)` and backquotes."""
    head, blank, rest = key.partition(" (or ") if pictured else (key, "", "")
    whole = len(head) > 1 and head.endswith("!")
    bare = (head[:-1] if whole else head) + blank + rest
    names = spellings(bare) if pictured else (bare,)
    return _KeyParts(names[0], names, whole, bare)


def merge(
    base: Node | None,
    over: Node | None,
    place: Place = Place.PICTURE,
    report: Report = raise_error,
) -> Node:
    """Lay one node over another. Raises RuleError (R007) where it takes away what never was there.

    Mappings merge by key, lists of equal length in pictures item by item, all else is replaced.
    `key!` replaces without merging, the value `$removed` takes the key away. With `report`, what is
    wrong is handed over, and left out.
    """
    if over is None:
        assert base is not None
        return base
    if base is None:
        return unlayered(over, place, report)
    if isinstance(base.value, dict) and isinstance(over.value, dict) and place is not Place.DATA:
        return _merged(base, over, place, report)
    if place.pictured and isinstance(base.value, list) and isinstance(over.value, list):
        if len(base.value) == len(over.value):
            pairs = zip(base.value, over.value, strict=True)
            return Laid([merge(b, o, place, report) for b, o in pairs], over.pos)
    over = unlayered(over, place, report)
    return Laid(over.value, over.pos, over.keys, base, over.removed)


def _merged(base: Node, over: Node, place: Place, report: Report) -> Node:
    """Merge two mappings; the order is that of the lower one, what is new follows."""
    merged, keys, pictured = dict(base.value), dict(base.keys), place.pictured
    _refuse_twice(over, pictured, report)
    keys_below = {_parse_key(k, pictured).name: k for k in merged}
    gone = list(base.removed)
    added: dict[str, Pos] = {}
    dropped: dict[str, str] = {}  # what this layer takes away: its key, until the end
    for key, child in over.value.items():
        parts, pos = _parse_key(key, pictured), over.key_pos(key)
        old, inner = keys_below.get(parts.name), place.inner(parts.name)
        below = None if old is None else merged[old]
        lost = next((each for each in gone if each.key == parts.name), None)
        removed = child.value == REMOVED
        if below is None and lost is None and place is not Place.LATER:
            if removed or parts.whole:
                report(_nothing_below(parts, pos, base, keys_below.values(), removed))
                if removed:
                    continue
                key, parts = parts.bare, _parse_key(parts.bare, pictured)
        if removed:
            if below is None and lost is not None:
                continue  # another layer took it away already
            if place is Place.LATER:  # whether the shape has such a key is seen later
                new, child = (key if old is None else old), Laid(REMOVED, pos, was=below)
                dropped[parts.name] = new
            else:
                assert old is not None and below is not None
                gone.append(RemovedKey(parts.name, pos, below))
                dropped[parts.name] = old
                del keys_below[parts.name]
                continue
        elif parts.whole:
            child = unlayered(child, inner, report)
            new = key if place is Place.LATER else parts.bare
            if lost is not None and below is None:
                gone.remove(lost)
                below = lost.was
            child = Laid(child.value, child.pos, child.keys, below)
        elif below is None or old is None:
            new, child = key, unlayered(child, inner, report)
            added[parts.name] = pos
            if lost is not None:  # taken away in between, and here again
                gone.remove(lost)
                child = Laid(child.value, child.pos, child.keys, lost.was)
        else:
            respelled = len(parts.names) > 1 and parts.names != _parse_key(old, pictured).names
            new, child = (key if respelled else old), merge(below, child, inner, report)
        if old is not None and old != new:
            merged = {new if k == old else k: v for k, v in merged.items()}
        merged[new], keys_below[parts.name] = child, new
        if not isinstance(child.value, dict) or child.replaced or new not in keys:
            keys[new] = pos
    if dropped:
        merged = _take_keys_away(merged, dropped, added if pictured else {})
    if pictured and added:
        merged = _refuse_shared(added, merged, report)
    return Laid(merged, base.pos, keys, gone=tuple(gone))


def _take_keys_away(
    merged: Mapping[str, Node], dropped: Mapping[str, str], added: Mapping[str, Pos]
) -> dict[str, Node]:
    """Take keys away; a new key that is spelled like one of them, too, stands in its place."""
    heirs: dict[str, str] = {}
    for key in merged if added else ():
        parts = _parse_key(key, True)
        if parts.name in added and not dropped.keys().isdisjoint(parts.names):
            heirs[next(dropped[name] for name in parts.names if name in dropped)] = key
    out: dict[str, Node] = {}
    for key, child in merged.items():
        if key in heirs:
            out[heirs[key]] = merged[heirs[key]]
        if key not in heirs.values() and (key not in dropped.values() or child.value == REMOVED):
            out[key] = child
    return out


def unlayered(node: Node, place: Place, report: Report = raise_error) -> Node:
    """Return a node below which nothing lies; raises RuleError for a `key!` or `$removed` in it.

    With `report`, these are handed over, and left out.
    """
    if place in (Place.DATA, Place.LATER):
        return node
    if isinstance(node.value, list) and place.pictured:
        items = [unlayered(child, place, report) for child in node.value]
        return node if all(map(operator.is_, items, node.value)) else with_value(node, items)
    made, keys = {}, node.keys
    _refuse_twice(node, place.pictured, report)
    for key, child in node.entries.items():
        parts, removed = _parse_key(key, place.pictured), child.value == REMOVED
        if removed or parts.whole:
            pos = node.key_pos(key)
            report(_nothing_below(parts, pos, None, (), removed))
            key, keys = parts.bare, {**keys, parts.bare: pos}
        if not removed:
            made[key] = unlayered(child, place.inner(parts.name), report)
    return node if _same_nodes(made, node.entries) else with_value(node, made, keys)


def _nothing_below(
    key: _KeyParts, pos: Pos, base: Node | None, there: Iterable[str], removed: bool
) -> RuleError:
    act = "is taken away" if removed else "is replaced whole"
    if base is None:
        help = "nothing lies below this; leave the " + ("key out" if removed else "`!` out")
        message = f"`{key.name}` {act}, and was never there"
        return wrong(message, pos, help, rule="R007")
    message = f"`{key.name}` {act}, and {base.pos} does not have it"
    below = [_parse_key(key, True) for key in there]
    also = next((one.name for one in below if key.name in one.names), None)
    meant = nearest(key.name, [one.name for one in below])
    help = f"it is a spelling of `{also}`; name that" if also else meant
    return wrong(message, pos, help, rule="R007")


def _refuse_twice(node: Node, pictured: bool, report: Report) -> None:
    """Refuse a key that stands in one mapping twice, as `key` and `key!` or in two spellings.

    One that is taken away may be a further spelling of the key that stands in its place.
    """
    owners: dict[str, str] = {}
    for key, child in sorted(node.entries.items(), key=lambda entry: entry[1].value == REMOVED):
        for name in _parse_key(key, pictured).names:
            other = owners.setdefault(name, key)
            heir = child.value == REMOVED and _parse_key(other, pictured).name != name
            if other != key and not heir:
                message = f"`{key}` and `{other}` are both the key `{name}`"
                help = f"the other one stands in line {node.key_pos(other).line}; keep one of them"
                report(wrong(message, node.key_pos(key), help, rule="R011"))


def _refuse_shared(
    added: Mapping[str, Pos], merged: dict[str, Node], report: Report
) -> dict[str, Node]:
    """Refuse a new key that shares a spelling with one that lies below."""
    owner: dict[str, str] = {}
    for key in [key for key, child in merged.items() if child.value != REMOVED]:
        parts = _parse_key(key, True)
        for name in parts.names:
            other = owner.setdefault(name, parts.name)
            if other != parts.name and {other, parts.name} & added.keys():
                new, old = (parts.name, other) if parts.name in added else (other, parts.name)
                message = f"`{new}` shares the spelling `{name}` with `{old}` below"
                help = f"name a key by its first spelling, `{old}`; `{old}!` spells it anew"
                report(wrong(message, added[new], help, rule="R007"))
                merged = {k: v for k, v in merged.items() if _parse_key(k, True).name != new}
    return merged


# -- a case over its shape ------------------------------------------------------------------------


def settle(top: Node, below: Node | None = None, report: Report = raise_error) -> Laid:
    """Settle what cases say of their shapes, once every file is laid over the others.

    What stands `below` as it is was settled there. With `report`, what is wrong is left out.
    """
    entries = {}
    for key, child in top.value.items():
        place, before = Place.FILE.inner(key), below and below.get(key)
        if child is before:
            pass
        elif place is Place.SHAPES and isinstance(child.value, dict):
            shapes = {
                name: shape if before and shape is before.get(name) else settle_cases(shape, report)
                for name, shape in child.value.items()
            }
            child = Laid(shapes, child.pos, child.keys, gone=child.removed)
        elif place is Place.SHAPE:
            child = settle_cases(child, report)
        entries[key] = child
    return Laid(entries, top.pos, top.keys, gone=top.removed)


def settle_cases(shape: Node, report: Report = raise_error) -> Node:
    """Settle what the cases of one shape say of it."""
    cases = shape.get("cases")
    if cases is None or not isinstance(cases.value, dict):
        return shape
    made = {}
    for name, case in cases.value.items():
        made[name] = case
        if isinstance(case.value, dict) and {"wire", "ir"} & case.value.keys():
            words = {
                word: _settled(shape.get(word), child, report) if word in ("wire", "ir") else child
                for word, child in case.value.items()
            }
            made[name] = case if _same_nodes(words, case.value) else with_value(case, words)
    if _same_nodes(made, cases.value):  # who has the same node is known to say the same
        return shape
    return with_value(shape, {**shape.value, "cases": with_value(cases, made)})


def _same_nodes(one: Mapping[str, Node], two: Mapping[str, Node]) -> bool:
    """Tell whether two mappings have the same keys, and the very same nodes under them."""
    return one.keys() == two.keys() and all(one[key] is two[key] for key in one)


def with_value(node: Node, value: Any, keys: dict[str, Pos] | None = None) -> Node:
    """Return a node with another value and the same past."""
    return Laid(value, node.pos, node.keys if keys is None else keys, node.replaced, node.removed)


def _settled(base: Node | None, over: Node, report: Report) -> Node:
    """Take off the marks that were meant for a lower file, and keep those meant for the shape."""
    if isinstance(over.value, list):
        items = base.value if base is not None and isinstance(base.value, list) else []
        under = items if len(items) == len(over.value) else [None] * len(over.value)
        listed = [_settled(b, o, report) for b, o in zip(under, over.value, strict=True)]
        return over if all(map(operator.is_, listed, over.value)) else with_value(over, listed)
    if not isinstance(over.value, dict):
        return over
    fields = base.entries if base is not None else {}
    shape_fields = {_parse_key(k, True).name: child for k, child in fields.items()}
    entries, keys, gone = {}, {}, list(over.removed)
    for key, child in over.value.items():
        parts, pos = _parse_key(key, True), over.key_pos(key)
        below, was = shape_fields.get(parts.name), child.replaced
        if (parts.whole or child.value == REMOVED) and below is None:
            if was is None:
                report(_nothing_below(parts, pos, base, fields, child.value == REMOVED))
            elif child.value == REMOVED:
                gone.append(RemovedKey(parts.name, pos, was))
            if child.value == REMOVED:
                continue
            key = parts.bare
        entries[key] = child if child.value == REMOVED else _settled(below, child, report)
        keys[key] = pos
    if _same_nodes(entries, over.value):
        return over
    return Laid(entries, over.pos, keys, over.replaced, tuple(gone))


def without(node: Node, words: Iterable[str]) -> Node:
    """Return a mapping without some of its keys."""
    return with_value(node, {k: v for k, v in node.value.items() if k not in words})


def nearest(name: str, there: Iterable[str]) -> str:
    """Return help for a name that is not there: the nearest one, or all of them."""
    from . import findings

    names = sorted(there)
    listed = f"there are: {', '.join(names)}" if names else "there are none"
    return findings.did_you_mean(name, names) or listed
