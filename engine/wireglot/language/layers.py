"""Layers: which file lies over which, by `extends` and `overlay`; `merge` does the laying."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast
from weakref import WeakValueDictionary

from ..errors import RuleError, UsageError
from . import apart, short, variants, version
from .known import Known, Later
from .merge import Laid, Place, like, merge, near, settled, without
from .source import LADDER, Node, Report, fingerprint, raised, sums_of, wrong
from .variants import Row

if TYPE_CHECKING:
    from .findings import Findings

# What a child does not take from its parent: who it is, and who vouches for it.
HEAD = ("wireglot", "dialect", "extends", "overlay", "see", "verified")


class Sorted(NamedTuple):
    """Rule files by what they are for: the ladder is under its own name among the dialects."""

    dialects: dict[str, Node]
    overlays: dict[str, Node]
    crossings: list[Node]  # files that show the wires of several dialects

    @classmethod
    def of(cls, dialects: dict[str, Node] | None = None) -> Sorted:
        """Return some dialects, or nothing yet."""
        return cls(dialects or {}, {}, [])


def by_name(files: Mapping[str, Node], report: Report = raised) -> Sorted:
    """Sort files, given by the stems of their names.

    Raises RuleError where one has no name, or two have the same; with `report`, that is handed
    over and such a file left out.
    """
    found = Sorted.of()
    shown = []
    for stem, node in files.items():
        try:
            if getattr(node.get("wireglot"), "value", None) == 1:
                _version(node)  # what else it says is not looked at
            if apart.crossings(node):
                _version(node)
                found.crossings.append(node)
                continue
            short.spelled_out(node)
            if apart.of(node) is not None:
                shown.append(node)
            elif stem == LADDER:
                found.dialects[LADDER] = node
            elif node.get("overlay") is not None:
                _check_overlay(node)
                found.overlays[stem] = node
            else:
                join(found, Sorted.of({_dialect(node): node}))
        except RuleError as error:
            report(error)
    for node in shown:
        try:
            apart.put(node, found.dialects)
        except RuleError as error:
            report(error)
    return found


def _dialect(node: Node) -> str:
    said = node.get("dialect")
    name = said.value if said is not None else None
    if isinstance(name, str) and name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        return name
    help = "write `dialect: NAME` at the top, or `overlay: NAME` to change a dialect in place"
    message, pos = "a rule file names its `dialect`", said.pos if said is not None else node.pos
    if name is not None:
        message = "this is no name of a `dialect`"
        help = "a name is a text of letters, digits, `-`, `_` and `.`"
    raise wrong(message, pos, help, rule="R026")


def join(one: Sorted, two: Sorted, report: Report = raised) -> None:
    """Add the files of `two` to `one`. Raises RuleError where both have a file of one name."""
    one.crossings.extend(two.crossings)
    for word, mine, theirs in (
        ("dialect", one.dialects, two.dialects),
        ("overlay", one.overlays, two.overlays),
    ):
        for name, node in theirs.items():
            if name in mine:
                other = mine[name].pos.file
                child = node.get("dialect") if name != LADDER else None
                message = f"the {word} `{name}` has two files: {other} and {node.pos.file}"
                help = "keep one of the two" + (f", or make one `overlay: {name}`" if child else "")
                report(wrong(message, (child or node).pos, help, rule="R031"))
            else:
                mine[name] = node


def _check_overlay(node: Node) -> None:
    _version(node)
    _name(node, "overlay")
    for word in ("dialect", "extends"):
        if word in node.value:
            pos = node.place(word)
            help = "it changes the dialect that it names, in place"
            raise wrong(f"an overlay has no `{word}`", pos, help, rule="R030")


def chosen(names: Iterable[str], there: Mapping[str, Node]) -> dict[str, Node]:
    """Return the overlays of these names, in their order. Raises UsageError for an unknown one."""
    found: dict[str, Node] = {}
    for name in names:
        if name not in there:
            raise UsageError(f"there is no overlay `{name}`; {near(name, there)}")
        if name in found:
            raise UsageError(f"the overlay `{name}` is named twice")
        found[name] = there[name]
    return found


def files(base: Known, own: Sorted) -> Mapping[str, Node]:
    """Return the dialects of `base` and the user's, by name.

    What extends a dialect that the user replaces lies over the one that it was written for.
    """
    held = Later(base.above(own.dialects), base.flat.__getitem__)
    return ChainMap(own.dialects, read_only(held), read_only(base.files))


def alone(base: Known, own: Iterable[str], overlays: Iterable[Node]) -> Mapping[str, Node]:
    """Return the dialects of `base` that no file of the user has a part in, without layers."""
    over = {str(node.value["overlay"].value) for node in overlays}
    met = {*own, *over, *base.above(over)}
    return Later([name for name in base.files if name not in met], base.flat.__getitem__)


def read_only(nodes: Mapping[str, Node]) -> MutableMapping[str, Node]:
    """Let a mapping stand below others in a chain, where nothing is ever written."""
    return cast("MutableMapping[str, Node]", nodes)


def flat(
    files: Mapping[str, Node],
    overlays: Iterable[Node] = (),
    known: Mapping[str, Node] | None = None,
    report: Report = raised,
) -> Mapping[str, Node]:
    """Return every dialect without layers: its parents laid under it, its overlays over it.

    A dialect that has no layers is the same node as before. Those that are `known` are not asked
    for. Raises RuleError; with `report`, that is handed over, and what is wrong left out.
    """
    over: dict[str, list[Node]] = {}
    for node in overlays:
        try:
            over.setdefault(_known(node, "overlay", files), []).append(node)
        except RuleError as error:
            report(error)
    done = ChainMap({}, read_only(known or {}))
    if LADDER in files and LADDER not in done:
        done[LADDER] = files[LADDER]
    failed = set[str]()
    for name in files:
        if name not in done:
            try:
                _flatten(name, files, over, done, (), report)
            except RuleError as error:
                if failed.isdisjoint(_below(name, files)):  # or it is told already
                    report(error)
                failed.add(name)
    return done


def _below(name: str, files: Mapping[str, Node]) -> set[str]:
    """Return the dialects that one lies over, as far as they are there."""
    found = set[str]()
    while (parent := named(files[name], "extends")) and parent in files and parent not in found:
        found.add(parent)
        name = parent
    return found


def named(node: Node, word: str) -> str | None:
    """Return the dialect that a file says it lies over, if it is a name."""
    child = node.get(word)
    return child.value if child is not None and isinstance(child.value, str) else None


def known(files: Mapping[str, Node]) -> Known:
    """Return some rule files as of which nothing else is known. Raises RuleError."""
    over, whole = parents(files), cache(lambda: flat(files))
    return Known(files, Later(files, lambda name: whole()[name]), over, {}, {}, {}, "")


def learned(files: Mapping[str, Node]) -> Known:
    """Return some rule files with what is to be known of them. Raises RuleError."""
    whole = flat(files)
    sums = sums_of(whole)
    rows = variants.light(varied(whole))
    return Known(files, whole, parents(files), rows, {}, sums, fingerprint({}, sums))


def one(name: str, files: Mapping[str, Node], parent: str | None, flat: Mapping[str, Node]) -> Node:
    """Return one dialect without layers, of which `flat` has the parent, or the ladder."""
    done = {} if parent is None else {parent: flat[parent]}
    return _flatten(name, files, {}, done, (), raised)


def parents(files: Mapping[str, Node]) -> dict[str, str]:
    """Return which dialect one extends, of those that extend one. Raises RuleError."""
    over = [name for name, node in files.items() if node.get("extends") is not None]
    return {name: _known(files[name], "extends", files) for name in over}


def _flatten(
    name: str,
    files: Mapping[str, Node],
    over: Mapping[str, list[Node]],
    done: MutableMapping[str, Node],
    chain: tuple[str, ...],
    report: Report,
) -> Node:
    if name in done:
        return done[name]
    node = lower = below = files[name]
    if node.get("extends") is not None:
        if (refused := version.refused(node)) is not None:
            report(refused)
        parent = _known(node, "extends", files)
        chain = (*chain, name)
        if parent in chain:
            way = " extends ".join(f"`{n}`" for n in (*chain[chain.index(parent) :], parent))
            help = f"to change `{parent}` in place, write a file with `overlay: {parent}`"
            raise wrong(f"{way}: that has no end", node.value["extends"].pos, help, rule="R030")
        below = _flatten(parent, files, over, done, chain, report)
        if name not in over:
            done[name] = _child(below, node, report)
            return done[name]
        lower = _over(below, node, report)
    for overlay in over.get(name, ()):
        lower = _laid(lower, without(overlay, ("wireglot", "overlay")), report)
    done[name] = lower if lower is node else settled(lower, below, report)
    return done[name]


# Children over their parents, as long as anybody has them: most sets share the packaged ones.
_children: WeakValueDictionary[tuple[Node, Node], Laid] = WeakValueDictionary()


def _child(below: Node, node: Node, report: Report) -> Laid:
    """Return a dialect laid over its parent, the same for the same two where nothing is wrong."""
    found = _children.get((below, node))
    if found is None:
        told: list[RuleError] = []
        found = settled(_over(below, node, told.append), below, told.append)
        for error in told:
            report(error)
        if not told:
            _children[below, node] = found
    return found


def _over(parent: Node, node: Node, report: Report) -> Node:
    """Lay the file of a dialect over its parent."""
    return _laid(_related(parent, node.value["extends"]), without(node, ("extends",)), report)


def _related(parent: Node, named: Node) -> Node:
    """Return what a child takes from its parent: all but the head, and of whose family it is."""
    whole = without(parent, HEAD)
    if "family" in whole.value:
        return whole
    return like(whole, {"family": named, **whole.value}, {**whole.keys, "family": named.pos})


def _laid(base: Node, over: Node, report: Report) -> Node:
    """Lay one file over another; the words of the head stand first."""
    whole = merge(base, _shown(base, _varied(base, over)), Place.FILE, report)
    first = [key for key in HEAD if key in whole.value]
    return like(whole, {key: whole.value[key] for key in (*first, *whole.value)})


def _varied(base: Node, over: Node) -> Node:
    """Return a layer with the variants of what it lies over before its own."""
    below, own = base.get(variants.WORD), over.get(variants.WORD)
    if below is None or own is None or not all(isinstance(n.value, list) for n in (below, own)):
        return over
    rows = Node([*below.value, *own.value], own.pos, own.keys)
    return like(over, {**over.value, variants.WORD: rows})


def _shown(base: Node, over: Node) -> Node:
    """Return a layer whose lists of examples at its end stand where those below it do."""
    top = over.get("examples")
    if top is None:
        return over
    for name, listed in top.entries.items():
        below, here = apart.owner(base, name), apart.owner(over, name)
        if below is None or below.get("examples") is None or (here and here.get("examples")):
            continue  # nothing to replace, or it is done
        pos = top.place(name)
        put = Node({"examples": listed}, pos, {"examples": pos})
        for word in reversed(apart.place(name)):
            put = Node({word: put}, pos, {word: pos})
        rest = without(over.value["examples"], (name,))
        over = merge(like(over, {**over.value, "examples": rest}), put, Place.FILE)
    return without(over, ("examples",)) if over.value["examples"].value == {} else over


def _version(node: Node) -> None:
    """Refuse a layer without the version of the language: merged, it would borrow another's."""
    wrong = version.refused(node)
    if wrong is not None:
        raise wrong


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
        help = near(name, [there for there in files if there != LADDER])
        message = f"`{word}: {name}` names no dialect that is loaded"
        raise wrong(message, node.value[word].pos, help, rule="R030")
    return name


def varied(nodes: Mapping[str, Node]) -> dict[str, tuple[Row, ...]]:
    """Return the variants of the dialects that have some. Raises RuleError."""
    there = {name: node for name, node in nodes.items() if name != LADDER and node.get("variants")}
    found = {name: variants.rows(node) for name, node in there.items()}
    return {name: rows for name, rows in found.items() if rows}  # a child may take all away


def replaced(base: Iterable[str], own: Sorted, findings: Findings) -> None:
    """Report what the files of the user replace whole: it may be meant, and is said."""
    for name, node in own.dialects.items():
        if name in base:
            what = "ladder" if name == LADDER else f"dialect `{name}`"
            help = "" if name == LADDER else f"`overlay: {name}` changes single things of it"
            message = f"this file replaces the packaged {what} whole"
            findings.info("R032", message, node.pos, help)
