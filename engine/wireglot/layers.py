"""Layers: one file laid over another by `extends` and `overlay`, and a case over its shape.

All of it is one `merge`. What lies on top keeps its own place; what it replaced or took away stays
with it as `was` and `gone`, so that `wireglot show` can say where every line came from.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import RuleError, UsageError
from .picture import spellings
from .source import Node, Pos, wrong

if TYPE_CHECKING:
    from .findings import Finding

REMOVED = "$removed"
LADDER = "ladder"
# What a child does not take from its parent: who it is, and who vouches for it.
HEAD = ("wireglot", "dialect", "extends", "overlay", "see", "verified")
LISTS = frozenset(("hooks", "limits", "schemas", "spelling", "tables", "unions"))


class Laid(Node):
    """A node that lies over another: `was` is what it replaced, `gone` what it took away."""

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
    """What part of a rule file a node stands in; it decides how the node merges."""

    FILE = "a rule file"
    SHAPES = "the shapes"
    SHAPE = "a shape or unit"
    CASES = "the cases"
    CASE = "a case"
    PICTURE = "a picture"
    LATER = "the picture of a case, which is laid over its shape's afterwards"
    PLAIN = "a mapping of words"
    DATA = "data, which is replaced whole"

    def inner(self, key: str) -> Place:
        """Return the place of what stands under a key."""
        if self is Place.FILE:
            if key == "shapes":
                return Place.SHAPES
            if key == "variants":  # its rows are layers themselves
                return Place.DATA
            return Place.PLAIN if key in LISTS else Place.SHAPE
        if self in (Place.SHAPES, Place.CASES):
            return Place.SHAPE if self is Place.SHAPES else Place.CASE
        if self in (Place.SHAPE, Place.CASE):
            if key in ("wire", "ir"):
                return Place.PICTURE if self is Place.SHAPE else Place.LATER
            if key == "examples":
                return Place.DATA
            return Place.CASES if key == "cases" and self is Place.SHAPE else Place.PLAIN
        return self

    @property
    def pictured(self) -> bool:
        """Tell whether keys have spellings here, and lists merge item by item."""
        return self in (Place.PICTURE, Place.LATER)


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


def merge(base: Node | None, over: Node | None, place: Place = Place.PICTURE) -> Node:
    """Lay one node over another. Raises RuleError (R007) where it takes away what is not there.

    Mappings merge by key, lists of equal length in pictures item by item, all else is replaced.
    `key!` replaces without merging, the value `$removed` takes the key away.
    """
    if over is None:
        assert base is not None
        return base
    if base is None:
        return fresh(over, place)
    if isinstance(base.value, dict) and isinstance(over.value, dict) and place is not Place.DATA:
        return _merged(base, over, place)
    if place.pictured and isinstance(base.value, list) and isinstance(over.value, list):
        if len(base.value) == len(over.value):
            pairs = zip(base.value, over.value, strict=True)
            return Laid([merge(b, o, place) for b, o in pairs], over.pos)
    fresh(over, place)
    return Laid(over.value, over.pos, over.keys, base, getattr(over, "gone", ()))


def _merged(base: Node, over: Node, place: Place) -> Node:
    """Merge two mappings; the order is that of the lower one, what is new follows."""
    merged, keys, pictured = dict(base.value), dict(base.keys), place.pictured
    there = {_key(k, pictured).name: k for k in merged}
    gone = list(getattr(base, "gone", ()))
    added: dict[str, Pos] = {}
    for key, child in over.value.items():
        said, pos = _key(key, pictured), over.keys.get(key, child.pos)
        old, inner = there.get(said.name), place.inner(said.name)
        below = None if old is None else merged[old]
        if child.value == REMOVED:
            if below is None and place is not Place.LATER:
                raise _missing(said, pos, base, there, True)
            if place is Place.LATER:  # whether the shape has such a key is seen later
                new, child = (key if old is None else old), Laid(REMOVED, pos, was=below)
            else:
                assert old is not None and below is not None
                gone.append(Gone(said.name, pos, below))
                del merged[old], there[said.name]
                continue
        elif said.whole:
            if below is None and place is not Place.LATER:
                raise _missing(said, pos, base, there, False)
            fresh(child, inner)
            new = key if place is Place.LATER else said.bare
            child = Laid(child.value, child.pos, child.keys, below)
        elif below is None or old is None:
            new, child = key, fresh(child, inner)
            added[said.name] = pos
        else:
            respelled = len(said.names) > 1 and said.names != _key(old, pictured).names
            new, child = (key if respelled else old), merge(below, child, inner)
        if old is not None and old != new:
            merged = {new if k == old else k: v for k, v in merged.items()}
        merged[new], there[said.name] = child, new
        if not isinstance(child.value, dict) or getattr(child, "was", None) or new not in keys:
            keys[new] = pos
    if pictured and added:
        _alone(added, merged)
    return Laid(merged, base.pos, keys, gone=tuple(gone))


def fresh(node: Node, place: Place) -> Node:
    """Return a node below which nothing lies; raises RuleError for a `key!` or `$removed` in it."""
    if place in (Place.DATA, Place.LATER):
        return node
    if isinstance(node.value, dict):
        pictured = place.pictured
        for key, child in node.value.items():
            said = _key(key, pictured)
            if said.whole or child.value == REMOVED:
                pos = node.keys.get(key, child.pos)
                raise _missing(said, pos, None, {}, child.value == REMOVED)
            fresh(child, place.inner(said.name))
    elif isinstance(node.value, list) and place.pictured:
        for child in node.value:
            fresh(child, place)
    return node


def _missing(
    said: _Key, pos: Pos, base: Node | None, there: Iterable[str], removed: bool
) -> RuleError:
    told = "is taken away" if removed else "is replaced whole"
    if base is None:
        help = "nothing lies below this; leave the " + ("key out" if removed else "`!` out")
        message = f"`{said.name}` {told}, and was never there"
        return wrong(message, pos, help, rule="R007")
    message = f"`{said.name}` {told}, and {base.pos} does not have it"
    return wrong(message, pos, _near(said.name, there), rule="R007")


def _alone(added: Mapping[str, Pos], merged: Iterable[str]) -> None:
    """Refuse a new key that shares a spelling with one that lies below."""
    owner: dict[str, str] = {}
    for said in (_key(key, True) for key in merged):
        for name in said.names:
            other = owner.setdefault(name, said.name)
            if other != said.name and {other, said.name} & added.keys():
                new, old = (said.name, other) if said.name in added else (other, said.name)
                raise wrong(
                    f"`{name}` is a spelling of `{old}`, which lies below",
                    added[new],
                    f"name a key by its first spelling, `{old}`; `{old}!` spells it anew",
                    rule="R007",
                )


# -- a case over its shape ------------------------------------------------------------------------


def settled(top: Node) -> Node:
    """Settle what cases say of their shapes, once every file is laid over the others."""
    entries = {}
    for key, child in top.value.items():
        place = Place.FILE.inner(key)
        if place is Place.SHAPES and isinstance(child.value, dict):
            shapes = {name: _cases(shape) for name, shape in child.value.items()}
            child = Laid(shapes, child.pos, child.keys, gone=getattr(child, "gone", ()))
        elif place is Place.SHAPE:
            child = _cases(child)
        entries[key] = child
    return Laid(entries, top.pos, top.keys, gone=getattr(top, "gone", ()))


def _cases(shape: Node) -> Node:
    cases = shape.get("cases")
    if cases is None or not isinstance(cases.value, dict):
        return shape
    made = {}
    for name, case in cases.value.items():
        made[name] = case
        if isinstance(case.value, dict) and {"wire", "ir"} & case.value.keys():
            words = {
                word: _settle(shape.get(word), child) if word in ("wire", "ir") else child
                for word, child in case.value.items()
            }
            made[name] = _like(case, words)
    return _like(shape, {**shape.value, "cases": _like(cases, made)})


def _like(node: Node, value: Any, keys: dict[str, Pos] | None = None) -> Node:
    """Return a node with another value and the same past."""
    return Laid(
        value,
        node.pos,
        node.keys if keys is None else keys,
        getattr(node, "was", None),
        getattr(node, "gone", ()),
    )


def _settle(base: Node | None, over: Node) -> Node:
    """Take off the marks that were meant for a lower file, and keep those meant for the shape."""
    if isinstance(over.value, list):
        items = base.value if base is not None and isinstance(base.value, list) else []
        under = items if len(items) == len(over.value) else [None] * len(over.value)
        return _like(over, [_settle(b, o) for b, o in zip(under, over.value, strict=True)])
    if not isinstance(over.value, dict):
        return over
    fields = base.value if base is not None and isinstance(base.value, dict) else {}
    there = {_key(k, True).name: child for k, child in fields.items()}
    entries, keys, gone = {}, {}, list(getattr(over, "gone", ()))
    for key, child in over.value.items():
        said, pos = _key(key, True), over.keys.get(key, child.pos)
        below, was = there.get(said.name), getattr(child, "was", None)
        if (said.whole or child.value == REMOVED) and below is None:
            if was is None:
                raise _missing(said, pos, base, there, child.value == REMOVED)
            if child.value == REMOVED:
                gone.append(Gone(said.name, pos, was))
                continue
            key = said.bare
        entries[key] = child if child.value == REMOVED else _settle(below, child)
        keys[key] = pos
    return _like(Laid(entries, over.pos, keys, getattr(over, "was", None), tuple(gone)), entries)


# -- files ----------------------------------------------------------------------------------------


class Sorted(NamedTuple):
    """Rule files by what they are for: the ladder is under its own name among the dialects."""

    dialects: dict[str, Node]
    overlays: dict[str, Node]


def by_name(files: Mapping[str, Node]) -> Sorted:
    """Sort files, given by the stems of their names. Raises RuleError where two have one name."""
    found = Sorted({}, {})
    for stem, node in files.items():
        if stem == LADDER:
            found.dialects[LADDER] = node
        elif node.get("overlay") is not None:
            _check_overlay(node)
            found.overlays[stem] = node
        else:
            named = node.get("dialect")
            if named is None or not isinstance(named.value, str) or not named.value:
                pos = named.pos if named else node.pos
                help = "a file that changes a dialect in place has `overlay: NAME` there"
                raise wrong("a rule file names its `dialect`", pos, help, rule="R030")
            join(found, Sorted({named.value: node}, {}))
    return found


def join(one: Sorted, two: Sorted) -> None:
    """Add the files of `two` to `one`. Raises RuleError where both have a file of one name."""
    for word, mine, theirs in (
        ("dialect", one.dialects, two.dialects),
        ("overlay", one.overlays, two.overlays),
    ):
        for name, node in theirs.items():
            if name in mine:
                other = mine[name].pos.file
                child = node.get("dialect") if name != LADDER else None
                raise wrong(
                    f"the {word} `{name}` has two files: {other} and {node.pos.file}",
                    child.pos if child else node.pos,
                    "keep one of the two" + (f", or make one `overlay: {name}`" if child else ""),
                    rule="R031",
                )
            mine[name] = node


def _check_overlay(node: Node) -> None:
    _version(node)
    _name(node, "overlay")
    for word in ("dialect", "extends", "variants"):
        if word in node.value:
            pos = node.keys.get(word, node.value[word].pos)
            help = "it changes the dialect that it names, in place"
            raise wrong(f"an overlay has no `{word}`", pos, help, rule="R030")


def chosen(names: Iterable[str], there: Mapping[str, Node]) -> dict[str, Node]:
    """Return the overlays of these names, in their order. Raises UsageError for an unknown one."""
    found: dict[str, Node] = {}
    for name in names:
        if name not in there:
            raise UsageError(f"there is no overlay `{name}`; {_near(name, there)}")
        if name in found:
            raise UsageError(f"the overlay `{name}` is named twice")
        found[name] = there[name]
    return found


def flat(files: Mapping[str, Node], overlays: Iterable[Node] = ()) -> dict[str, Node]:
    """Return every dialect without layers: its parents laid under it, its overlays over it.

    A dialect that has no layers is the same node as before. Raises RuleError.
    """
    over: dict[str, list[Node]] = {}
    for node in overlays:
        over.setdefault(_known(node, "overlay", files), []).append(node)
    done = {LADDER: files[LADDER]} if LADDER in files else {}
    for name in files:
        _flatten(name, files, over, done, ())
    return {name: done[name] for name in files}


def _flatten(
    name: str,
    files: Mapping[str, Node],
    over: Mapping[str, list[Node]],
    done: dict[str, Node],
    chain: tuple[str, ...],
) -> Node:
    if name in done:
        return done[name]
    node = lower = files[name]
    if node.get("extends") is not None:
        _version(node)
        parent = _known(node, "extends", files)
        chain = (*chain, name)
        if parent in chain:
            way = " extends ".join(f"`{n}`" for n in (*chain[chain.index(parent) :], parent))
            help = f"to change `{parent}` in place, write a file with `overlay: {parent}`"
            raise wrong(f"{way}: that has no end", node.value["extends"].pos, help, rule="R030")
        below = _flatten(parent, files, over, done, chain)
        lower = _laid(without(below, HEAD), without(node, ("extends",)))
    for overlay in over.get(name, ()):
        lower = _laid(lower, without(overlay, ("wireglot", "overlay")))
    done[name] = lower if lower is node else settled(lower)
    return done[name]


def _laid(base: Node, over: Node) -> Node:
    """Lay one file over another; the words of the head stand first."""
    whole = merge(base, over, Place.FILE)
    first = [key for key in HEAD if key in whole.value]
    return _like(whole, {key: whole.value[key] for key in (*first, *whole.value)})


def without(node: Node, words: Iterable[str]) -> Node:
    """Return a mapping without some of its keys."""
    return _like(node, {k: v for k, v in node.value.items() if k not in words})


def _version(node: Node) -> None:
    """Refuse a layer without the version of the language: merged, it would borrow another's."""
    version = node.get("wireglot")
    if version is None or version.value != 1 or isinstance(version.value, bool):
        pos = version.pos if version else node.pos
        raise wrong("a rule file begins with the language version", pos, "write `wireglot: 1`")


def _name(node: Node, word: str) -> str:
    child = node.get(word)
    if child is None or not isinstance(child.value, str) or not child.value:
        pos = node.pos if child is None else child.pos
        help = "a dialect has one parent" if word == "extends" else f"write `{word}: NAME`"
        raise wrong(f"`{word}` names one dialect", pos, help, rule="R030")
    return child.value


def _known(node: Node, word: str, files: Mapping[str, Node]) -> str:
    """Return the dialect that a head names. Raises RuleError where it is not there."""
    name = _name(node, word)
    if name not in files or name == LADDER:
        help = _near(name, [there for there in files if there != LADDER])
        message = f"`{word}: {name}` names no dialect that is loaded"
        raise wrong(message, node.value[word].pos, help, rule="R030")
    return name


def _near(name: str, there: Iterable[str]) -> str:
    import difflib

    names = sorted(there)
    near = difflib.get_close_matches(name, names, 1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"there are: {', '.join(names)}" if names else "there are none"


def varied(nodes: Mapping[str, Node]) -> list[str]:
    """Return the dialects that have variants."""
    return [name for name, node in nodes.items() if name != LADDER and node.get("variants")]


def replaced(base: Mapping[str, Node], own: Sorted) -> list[Finding]:
    """Return what the files of the user replace whole: it may be meant, and is said."""
    from .findings import Finding

    found = []
    for name, node in own.dialects.items():
        if name in base:
            what = "ladder" if name == LADDER else f"dialect `{name}`"
            help = "" if name == LADDER else f"`overlay: {name}` changes single things of it"
            message = f"this file replaces the packaged {what} whole"
            found.append(Finding("R032", "info", *node.pos, message, "", help))
    return found
