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
from .source import Node, Pos, Report, raised, wrong

REMOVED = "$removed"
LISTS = frozenset(
    "carry hooks limits lists repeated schemas slight spelling tables unions unsupported "
    "within-text".split()
)


class Laid(Node):
    """A node that lies over another."""

    __slots__ = ("gone", "was")

    def __init__(
        self,
        value: Any,
        pos: Pos,
        keys: dict[str, Pos] | None = None,
        was: Node | None = None,
        gone: tuple[Gone, ...] = (),
    ) -> None:
        super().__init__(value, pos, keys)
        self.was, self.gone = was, gone


class Gone(NamedTuple):
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


_SAID = {"examples": Place.DATA}
_OWN = {**dict.fromkeys(("wire", "ir", "message"), Place.PICTURE), "cases": Place.CASES}
# The places of what stands in some: under some keys, and under all others.
INNER: dict[Place, tuple[dict[str, Place], Place]] = {
    Place.FILE: (
        {
            **dict.fromkeys(LISTS, Place.PLAIN),
            "shapes": Place.SHAPES,
            "stream": Place.STREAM,
            "variants": Place.DATA,  # its rows are layers themselves
        },
        Place.SHAPE,
    ),
    Place.SHAPES: ({}, Place.SHAPE),
    Place.SHAPE: (_OWN | _SAID, Place.PLAIN),
    Place.CASES: ({}, Place.CASE),
    Place.CASE: (dict.fromkeys(("wire", "ir", "message"), Place.LATER) | _SAID, Place.PLAIN),
    Place.STREAM: ({"frame": Place.PICTURE, "events": Place.EVENTS, **_SAID}, Place.PLAIN),
    Place.EVENTS: ({}, Place.PICTURE),
}


class _Key(NamedTuple):
    name: str
    names: tuple[str, ...]
    whole: bool  # `key!`
    bare: str  # without the `!`


@functools.lru_cache(4096)
def _key(key: str, pictured: bool) -> _Key:
    """Take a key apart: `name!`, and in pictures `name (or alias)` and backquotes."""
    head, blank, rest = key.partition(" (or ") if pictured else (key, "", "")
    whole = len(head) > 1 and head.endswith("!")
    bare = (head[:-1] if whole else head) + blank + rest
    names = spellings(bare) if pictured else (bare,)
    return _Key(names[0], names, whole, bare)


def merge(
    base: Node | None,
    over: Node | None,
    place: Place = Place.PICTURE,
    report: Report = raised,
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
        return fresh(over, place, report)
    if isinstance(base.value, dict) and isinstance(over.value, dict) and place is not Place.DATA:
        return _merged(base, over, place, report)
    if place.pictured and isinstance(base.value, list) and isinstance(over.value, list):
        if len(base.value) == len(over.value):
            pairs = zip(base.value, over.value, strict=True)
            return Laid([merge(b, o, place, report) for b, o in pairs], over.pos)
    over = fresh(over, place, report)
    return Laid(over.value, over.pos, over.keys, base, over.gone)


def _merged(base: Node, over: Node, place: Place, report: Report) -> Node:
    """Merge two mappings; the order is that of the lower one, what is new follows."""
    merged, keys, pictured = dict(base.value), dict(base.keys), place.pictured
    there = {_key(k, pictured).name: k for k in merged}
    gone = list(base.gone)
    added: dict[str, Pos] = {}
    taken: dict[str, str] = {}  # what this layer takes away: its key, until the end
    for key, child in over.value.items():
        said, pos = _key(key, pictured), over.place(key)
        old, inner = there.get(said.name), place.inner(said.name)
        below = None if old is None else merged[old]
        lost = next((each for each in gone if each.key == said.name), None)
        removed = child.value == REMOVED
        if below is None and lost is None and place is not Place.LATER:
            if removed or said.whole:
                report(_missing(said, pos, base, there.values(), removed))
                if removed:
                    continue
                key, said = said.bare, _key(said.bare, pictured)
        if removed:
            if below is None and lost is not None:
                continue  # another layer took it away already
            if place is Place.LATER:  # whether the shape has such a key is seen later
                new, child = (key if old is None else old), Laid(REMOVED, pos, was=below)
                taken[said.name] = new
            else:
                assert old is not None and below is not None
                gone.append(Gone(said.name, pos, below))
                taken[said.name] = old
                del there[said.name]
                continue
        elif said.whole:
            child = fresh(child, inner, report)
            new = key if place is Place.LATER else said.bare
            if lost is not None and below is None:
                gone.remove(lost)
                below = lost.was
            child = Laid(child.value, child.pos, child.keys, below)
        elif below is None or old is None:
            new, child = key, fresh(child, inner, report)
            added[said.name] = pos
            if lost is not None:  # taken away in between, and here again
                gone.remove(lost)
                child = Laid(child.value, child.pos, child.keys, lost.was)
        else:
            respelled = len(said.names) > 1 and said.names != _key(old, pictured).names
            new, child = (key if respelled else old), merge(below, child, inner, report)
        if old is not None and old != new:
            merged = {new if k == old else k: v for k, v in merged.items()}
        merged[new], there[said.name] = child, new
        if not isinstance(child.value, dict) or child.was or new not in keys:
            keys[new] = pos
    if taken:
        merged = _respelt(merged, taken, added if pictured else {})
    if pictured and added:
        merged = _alone(added, merged, report)
    return Laid(merged, base.pos, keys, gone=tuple(gone))


def _respelt(
    merged: Mapping[str, Node], taken: Mapping[str, str], added: Mapping[str, Pos]
) -> dict[str, Node]:
    """Take keys away; a new key that is spelled like one of them, too, stands in its place."""
    heirs: dict[str, str] = {}
    for key in merged if added else ():
        said = _key(key, True)
        if said.name in added and not taken.keys().isdisjoint(said.names):
            heirs[next(taken[name] for name in said.names if name in taken)] = key
    out: dict[str, Node] = {}
    for key, child in merged.items():
        if key in heirs:
            out[heirs[key]] = merged[heirs[key]]
        if key not in heirs.values() and (key not in taken.values() or child.value == REMOVED):
            out[key] = child
    return out


def fresh(node: Node, place: Place, report: Report = raised) -> Node:
    """Return a node below which nothing lies; raises RuleError for a `key!` or `$removed` in it.

    With `report`, these are handed over, and left out.
    """
    if place in (Place.DATA, Place.LATER):
        return node
    if isinstance(node.value, list) and place.pictured:
        items = [fresh(child, place, report) for child in node.value]
        return node if all(map(operator.is_, items, node.value)) else like(node, items)
    made, keys = {}, node.keys
    for key, child in node.entries.items():
        said, removed = _key(key, place.pictured), child.value == REMOVED
        if removed or said.whole:
            pos = node.place(key)
            report(_missing(said, pos, None, (), removed))
            key, keys = said.bare, {**keys, said.bare: pos}
        if not removed:
            made[key] = fresh(child, place.inner(said.name), report)
    return node if _same(made, node.entries) else like(node, made, keys)


def _missing(
    said: _Key, pos: Pos, base: Node | None, there: Iterable[str], removed: bool
) -> RuleError:
    told = "is taken away" if removed else "is replaced whole"
    if base is None:
        help = "nothing lies below this; leave the " + ("key out" if removed else "`!` out")
        message = f"`{said.name}` {told}, and was never there"
        return wrong(message, pos, help, rule="R007")
    message = f"`{said.name}` {told}, and {base.pos} does not have it"
    below = [_key(key, True) for key in there]
    also = next((one.name for one in below if said.name in one.names), None)
    meant = near(said.name, [one.name for one in below])
    help = f"it is a spelling of `{also}`; name that" if also else meant
    return wrong(message, pos, help, rule="R007")


def _alone(added: Mapping[str, Pos], merged: dict[str, Node], report: Report) -> dict[str, Node]:
    """Refuse a new key that shares a spelling with one that lies below."""
    owner: dict[str, str] = {}
    for key in [key for key, child in merged.items() if child.value != REMOVED]:
        said = _key(key, True)
        for name in said.names:
            other = owner.setdefault(name, said.name)
            if other != said.name and {other, said.name} & added.keys():
                new, old = (said.name, other) if said.name in added else (other, said.name)
                told = wrong(
                    f"`{new}` shares the spelling `{name}` with `{old}` below",
                    added[new],
                    f"name a key by its first spelling, `{old}`; `{old}!` spells it anew",
                    rule="R007",
                )
                report(told)
                merged = {k: v for k, v in merged.items() if _key(k, True).name != new}
    return merged


# -- a case over its shape ------------------------------------------------------------------------


def settled(top: Node, below: Node | None = None, report: Report = raised) -> Laid:
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
                name: shape if before and shape is before.get(name) else cased(shape, report)
                for name, shape in child.value.items()
            }
            child = Laid(shapes, child.pos, child.keys, gone=child.gone)
        elif place is Place.SHAPE:
            child = cased(child, report)
        entries[key] = child
    return Laid(entries, top.pos, top.keys, gone=top.gone)


def cased(shape: Node, report: Report = raised) -> Node:
    """Settle what the cases of one shape say of it."""
    cases = shape.get("cases")
    if cases is None or not isinstance(cases.value, dict):
        return shape
    made = {}
    for name, case in cases.value.items():
        made[name] = case
        if isinstance(case.value, dict) and {"wire", "ir"} & case.value.keys():
            words = {
                word: _settle(shape.get(word), child, report) if word in ("wire", "ir") else child
                for word, child in case.value.items()
            }
            made[name] = case if _same(words, case.value) else like(case, words)
    if _same(made, cases.value):  # who has the same node is known to say the same
        return shape
    return like(shape, {**shape.value, "cases": like(cases, made)})


def _same(one: Mapping[str, Node], two: Mapping[str, Node]) -> bool:
    """Tell whether two mappings have the same keys, and the very same nodes under them."""
    return one.keys() == two.keys() and all(one[key] is two[key] for key in one)


def like(node: Node, value: Any, keys: dict[str, Pos] | None = None) -> Node:
    """Return a node with another value and the same past."""
    return Laid(value, node.pos, node.keys if keys is None else keys, node.was, node.gone)


def _settle(base: Node | None, over: Node, report: Report) -> Node:
    """Take off the marks that were meant for a lower file, and keep those meant for the shape."""
    if isinstance(over.value, list):
        items = base.value if base is not None and isinstance(base.value, list) else []
        under = items if len(items) == len(over.value) else [None] * len(over.value)
        listed = [_settle(b, o, report) for b, o in zip(under, over.value, strict=True)]
        return over if all(map(operator.is_, listed, over.value)) else like(over, listed)
    if not isinstance(over.value, dict):
        return over
    fields = base.entries if base is not None else {}
    there = {_key(k, True).name: child for k, child in fields.items()}
    entries, keys, gone = {}, {}, list(over.gone)
    for key, child in over.value.items():
        said, pos = _key(key, True), over.place(key)
        below, was = there.get(said.name), child.was
        if (said.whole or child.value == REMOVED) and below is None:
            if was is None:
                report(_missing(said, pos, base, fields, child.value == REMOVED))
            elif child.value == REMOVED:
                gone.append(Gone(said.name, pos, was))
            if child.value == REMOVED:
                continue
            key = said.bare
        entries[key] = child if child.value == REMOVED else _settle(below, child, report)
        keys[key] = pos
    if _same(entries, over.value):
        return over
    return Laid(entries, over.pos, keys, over.was, tuple(gone))


def without(node: Node, words: Iterable[str]) -> Node:
    """Return a mapping without some of its keys."""
    return like(node, {k: v for k, v in node.value.items() if k not in words})


def near(name: str, there: Iterable[str]) -> str:
    """Return help for a name that is not there: the nearest one, or all of them."""
    from . import findings

    names = sorted(there)
    listed = f"there are: {', '.join(names)}" if names else "there are none"
    return findings.near(name, names) or listed
