"""Layers: which file lies over which, by `extends` and `overlay`; `merge` does the laying."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast
from weakref import WeakValueDictionary

from ..errors import RuleError, UsageError
from . import apart, short, variants, version
from .known import Known, LazyMap
from .merge import Laid, Place, merge, nearest, settle, with_value, without
from .source import LADDER, Node, Report, fingerprint, raise_error, sums_of, wrong
from .variants import Row

if TYPE_CHECKING:
    from .findings import Findings

# What a child does not take from its parent: who it is, and who vouches for it.
HEAD = ("wireglot", "dialect", "extends", "overlay", "see", "verified")


class RuleFiles(NamedTuple):
    """Rule files by what they are for: the ladder is under its own name among the dialects."""

    dialects: dict[str, Node]
    overlays: dict[str, Node]
    crossings: list[Node]  # files that show the wires of several dialects

    @classmethod
    def with_dialects(cls, dialects: dict[str, Node] | None = None) -> RuleFiles:
        """Return some dialects, or nothing yet."""
        return cls(dialects or {}, {}, [])


def sort_files(files: Mapping[str, Node], report: Report = raise_error) -> RuleFiles:
    """Sort files, given by the stems of their names.

    Raises RuleError where one has no name, or two have the same; with `report`, that is handed
    over and such a file left out.
    """
    sorted_files = RuleFiles.with_dialects()
    example_files = []
    for stem, node in files.items():
        try:
            if getattr(node.get("wireglot"), "value", None) == 1:
                _require_version(node)  # what else it says is not looked at
            if apart.is_crossings(node):
                _require_version(node)
                sorted_files.crossings.append(node)
                continue
            short.expand(node)
            if apart.dialect_shown(node) is not None:
                example_files.append(node)
            elif stem == LADDER:
                sorted_files.dialects[LADDER] = node
            elif node.get("overlay") is not None:
                _check_overlay(node)
                sorted_files.overlays[stem] = node
            else:
                add_files(sorted_files, RuleFiles.with_dialects({_dialect_name(node): node}))
        except RuleError as error:
            report(error)
    for node in example_files:
        try:
            apart.put_back(node, sorted_files.dialects)
        except RuleError as error:
            report(error)
    return sorted_files


def _dialect_name(node: Node) -> str:
    """Return the name that a file gives its dialect. Raises RuleError."""
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


def add_files(one: RuleFiles, two: RuleFiles, report: Report = raise_error) -> None:
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
    _require_version(node)
    _require_name(node, "overlay")
    for word in ("dialect", "extends"):
        if word in node.value:
            pos = node.key_pos(word)
            help = "it changes the dialect that it names, in place"
            raise wrong(f"an overlay has no `{word}`", pos, help, rule="R030")


def picked(names: Iterable[str], overlays: Mapping[str, Node]) -> dict[str, Node]:
    """Return the overlays of these names, in their order. Raises UsageError for an unknown one."""
    picked: dict[str, Node] = {}
    for name in names:
        if name not in overlays:
            raise UsageError(f"there is no overlay `{name}`; {nearest(name, overlays)}")
        if name in picked:
            raise UsageError(f"the overlay `{name}` is named twice")
        picked[name] = overlays[name]
    return picked


def combined(base: Known, own: RuleFiles) -> Mapping[str, Node]:
    """Return the dialects of `base` and the user's, by name.

    What extends a dialect that the user replaces lies over the one that it was written for.
    """
    held = LazyMap(base.dialects_over(own.dialects), base.flat.__getitem__)
    return ChainMap(own.dialects, as_mutable(held), as_mutable(base.files))


def untouched(base: Known, own: Iterable[str], overlays: Iterable[Node]) -> Mapping[str, Node]:
    """Return the dialects of `base` that no file of the user has a part in, without layers."""
    over = {str(node.value["overlay"].value) for node in overlays}
    met = {*own, *over, *base.dialects_over(over)}
    return LazyMap([name for name in base.files if name not in met], base.flat.__getitem__)


def as_mutable(nodes: Mapping[str, Node]) -> MutableMapping[str, Node]:
    """Return a mapping as ChainMap wants those below its first, to which it writes nothing."""
    return cast("MutableMapping[str, Node]", nodes)


def flatten(
    files: Mapping[str, Node],
    overlays: Iterable[Node] = (),
    known: Mapping[str, Node] | None = None,
    report: Report = raise_error,
) -> Mapping[str, Node]:
    """Return every dialect without layers: its parents laid under it, its overlays over it.

    A dialect that has no layers is the same node as before. Those that are `known` are not asked
    for. Raises RuleError; with `report`, that is handed over, and what is wrong left out.
    """
    over: dict[str, list[Node]] = {}
    for node in overlays:
        try:
            over.setdefault(_require_loaded(node, "overlay", files), []).append(node)
        except RuleError as error:
            report(error)
    done = ChainMap({}, as_mutable(known or {}))
    if LADDER in files and LADDER not in done:
        done[LADDER] = files[LADDER]
    failed = set[str]()
    for name in files:
        if name not in done:
            try:
                _flatten_onto(name, files, over, done, (), report)
            except RuleError as error:
                if failed.isdisjoint(_ancestors(name, files)):  # or it is told already
                    report(error)
                failed.add(name)
    return done


def _ancestors(name: str, files: Mapping[str, Node]) -> set[str]:
    """Return the dialects that one lies over, as far as they are there."""
    above = set[str]()
    while (parent := target_of(files[name], "extends")) and parent in files and parent not in above:
        above.add(parent)
        name = parent
    return above


def target_of(node: Node, word: str) -> str | None:
    """Return the dialect that a file says it lies over, if it is a name."""
    child = node.get(word)
    return child.value if child is not None and isinstance(child.value, str) else None


def unanalysed(files: Mapping[str, Node]) -> Known:
    """Return rule files of which only the parents are known now. Raises RuleError."""
    over, whole = parents(files), cache(lambda: flatten(files))
    return Known(files, LazyMap(files, lambda name: whole()[name]), over, {}, {}, {}, "")


def analysed(files: Mapping[str, Node]) -> Known:
    """Return rule files with all that `Known` says of them but for models. Raises RuleError."""
    whole = flatten(files)
    sums = sums_of(whole)
    rows = variants.without_layers(variants_by_dialect(whole))
    return Known(files, whole, parents(files), rows, {}, sums, fingerprint({}, sums))


def lay_one(
    name: str, files: Mapping[str, Node], parent: str | None, flat: Mapping[str, Node]
) -> Node:
    """Return one dialect without layers, of which `flat` has the parent, or the ladder."""
    done = {} if parent is None else {parent: flat[parent]}
    return _flatten_onto(name, files, {}, done, (), raise_error)


def parents(files: Mapping[str, Node]) -> dict[str, str]:
    """Return which dialect one extends, of those that extend one. Raises RuleError."""
    over = [name for name, node in files.items() if node.get("extends") is not None]
    return {name: _require_loaded(files[name], "extends", files) for name in over}


def _flatten_onto(
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
        if (refused := version.version_error(node)) is not None:
            report(refused)
        parent = _require_loaded(node, "extends", files)
        chain = (*chain, name)
        if parent in chain:
            way = " extends ".join(f"`{n}`" for n in (*chain[chain.index(parent) :], parent))
            help = f"to change `{parent}` in place, write a file with `overlay: {parent}`"
            raise wrong(f"{way}: that has no end", node.value["extends"].pos, help, rule="R030")
        below = _flatten_onto(parent, files, over, done, chain, report)
        if name not in over:
            done[name] = _child_over_parent(below, node, report)
            return done[name]
        lower = _lay_over_parent(below, node, report)
    for overlay in over.get(name, ()):
        lower = _lay_file(lower, without(overlay, ("wireglot", "overlay")), report)
    done[name] = lower if lower is node else settle(lower, below, report)
    return done[name]


# Children over their parents, as long as anybody has them: most sets share the packaged ones.
_children: WeakValueDictionary[tuple[Node, Node], Laid] = WeakValueDictionary()


def _child_over_parent(below: Node, node: Node, report: Report) -> Laid:
    """Return a dialect laid over its parent, the same for the same two where nothing is wrong."""
    laid = _children.get((below, node))
    if laid is None:
        errors: list[RuleError] = []
        laid = settle(_lay_over_parent(below, node, errors.append), below, errors.append)
        for error in errors:
            report(error)
        if not errors:
            _children[below, node] = laid
    return laid


def _lay_over_parent(parent: Node, node: Node, report: Report) -> Node:
    """Lay the file of a dialect over its parent."""
    return _lay_file(_inherited(parent, node.value["extends"]), without(node, ("extends",)), report)


def _inherited(parent: Node, named: Node) -> Node:
    """Return what a child takes from its parent: all but the head, and of whose family it is."""
    whole = without(parent, HEAD)
    if "family" in whole.value:
        return whole
    return with_value(whole, {"family": named, **whole.value}, {**whole.keys, "family": named.pos})


def _lay_file(base: Node, over: Node, report: Report) -> Node:
    """Lay one file over another; the words of the head stand first."""
    whole = merge(base, _place_examples(base, _add_variants(base, over)), Place.FILE, report)
    first = [key for key in HEAD if key in whole.value]
    return with_value(whole, {key: whole.value[key] for key in (*first, *whole.value)})


def _add_variants(base: Node, over: Node) -> Node:
    """Return a layer with the variants of what it lies over before its own."""
    below, own = base.get(variants.WORD), over.get(variants.WORD)
    if below is None or own is None or not all(isinstance(n.value, list) for n in (below, own)):
        return over
    rows = Node([*below.value, *own.value], own.pos, own.keys)
    return with_value(over, {**over.value, variants.WORD: rows})


def _place_examples(base: Node, over: Node) -> Node:
    """Return a layer whose lists of examples at its end stand where those below it do."""
    top = over.get("examples")
    if top is None:
        return over
    for name, listed in top.entries.items():
        below, here = apart.owner_of(base, name), apart.owner_of(over, name)
        if below is None or below.get("examples") is None or (here and here.get("examples")):
            continue  # nothing to replace, or it is done
        pos = top.key_pos(name)
        put = Node({"examples": listed}, pos, {"examples": pos})
        for word in reversed(apart.path_of(name)):
            put = Node({word: put}, pos, {word: pos})
        rest = without(over.value["examples"], (name,))
        over = merge(with_value(over, {**over.value, "examples": rest}), put, Place.FILE)
    return without(over, ("examples",)) if over.value["examples"].value == {} else over


def _require_version(node: Node) -> None:
    """Refuse a layer without the version of the language: merged, it would borrow another's."""
    wrong = version.version_error(node)
    if wrong is not None:
        raise wrong


def _require_name(node: Node, word: str) -> str:
    """Return the dialect that stands under a word. Raises RuleError where no name does."""
    child = node.get(word)
    if child is None or not isinstance(child.value, str) or not child.value:
        pos = node.pos if child is None else child.pos
        help = "a dialect has one parent" if word == "extends" else f"write `{word}: NAME`"
        raise wrong(f"`{word}` names one dialect", pos, help, rule="R030")
    return child.value


def _require_loaded(node: Node, word: str, files: Mapping[str, Node]) -> str:
    """Return the dialect that a head names. Raises RuleError where it is not there."""
    name = _require_name(node, word)
    if name not in files or name == LADDER:
        help = nearest(name, [there for there in files if there != LADDER])
        message = f"`{word}: {name}` names no dialect that is loaded"
        raise wrong(message, node.value[word].pos, help, rule="R030")
    return name


def variants_by_dialect(nodes: Mapping[str, Node]) -> dict[str, tuple[Row, ...]]:
    """Return the variants of the dialects that have some. Raises RuleError."""
    there = {name: node for name, node in nodes.items() if name != LADDER and node.get("variants")}
    found = {name: variants.rows(node) for name, node in there.items()}
    return {name: rows for name, rows in found.items() if rows}  # a child may take all away


def report_replaced(base: Iterable[str], own: RuleFiles, findings: Findings) -> None:
    """Report what the files of the user replace whole: it may be meant, and is said."""
    for name, node in own.dialects.items():
        if name in base:
            what = "ladder" if name == LADDER else f"dialect `{name}`"
            help = "" if name == LADDER else f"`overlay: {name}` changes single things of it"
            message = f"this file replaces the packaged {what} whole"
            findings.info("R032", message, node.pos, help)
