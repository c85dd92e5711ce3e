"""Checks of layers: what a layer takes from where, and each dialect with its layers on."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..errors import RuleError
from ..language import ladder as steps
from ..language import layers, merge, variants
from ..language.findings import Findings
from ..language.known import LazyMap
from ..language.ladder import Ladder
from ..language.merge import Place
from ..language.source import LADDER, Node, Pos
from . import laddercheck, rulecheck
from .form import File

_NAMED = re.compile(r"^dialect:[ \t]*['\"]?([\w.-]+)", re.M)


class Flat(NamedTuple):
    """Dialects without layers, those that could be made.

    Attributes:
        nodes: The dialects, and the ladder.
        same: Those of them in which no file that is checked has a part.
        files: The files of all, as they stand.
        overlays: What lies over some.
        hurt: The names of files whose layers are wrong.
    """

    nodes: Mapping[str, Node]
    same: Mapping[str, Node]
    files: Mapping[str, Node]
    overlays: list[Node]
    hurt: frozenset[str]


def flatten(
    files: Mapping[str, Node],
    overlays: Iterable[Node],
    findings: Findings,
    same: Mapping[str, Node] | None = None,
) -> Flat:
    """Return every dialect without layers; what is wrong in one is reported and left out.

    Of some it is known that they are the `same` as when they were checked: these are not asked for.
    """
    there = same or {}
    own = {name: files[name] for name in files if name not in there}
    whole = ChainMap(own, layers.as_mutable(LazyMap(there, files.__getitem__)))
    over, hurt = list(overlays), set[str]()

    def report(error: RuleError) -> None:
        laid = {node.pos.file: str(node.value["overlay"].value) for node in over}
        homes = laid | {node.pos.file: name for name, node in own.items()}
        if error.file not in homes:
            raise error
        hurt.add(error.file)
        findings.layer_pos = _reported_layer(homes[error.file], whole, over, findings)
        findings.add_error(error)
        findings.layer_pos = None

    for name, node in own.items():
        if name != LADDER and node.get("extends") is None and node.pos.file in findings.texts:
            own[name] = merge.unlayered(node, Place.FILE, report)
    # What lies over a dialect of a file that cannot be read is left out, too: why is told already.
    lost = {n for text in findings.texts.values() for n in _NAMED.findall(text)} - whole.keys()
    while gone := [name for name, node in own.items() if layers.target_of(node, "extends") in lost]:
        lost.update(gone)
        for name in gone:
            del own[name]
    over = [node for node in over if layers.target_of(node, "overlay") not in lost]
    nodes = layers.flatten(whole, over, there, report)
    return Flat(nodes, there, whole, over, frozenset(hurt))


def _layers_of(
    name: str, files: Mapping[str, Node], overlays: Iterable[Node]
) -> Iterator[tuple[Node, Node]]:
    """Yield the layers of a dialect, the upper ones first, each with what says its place."""
    over = list(overlays)[::-1]
    seen: set[str] = set()
    while name in files and name not in seen:
        seen.add(name)
        for node in over:
            if node.value["overlay"].value == name:
                yield node, node.value["overlay"]
        node = files[name]
        parent = node.get("extends")
        yield node, parent or node.get("dialect") or node
        name = str(parent.value) if parent is not None else ""


def _reported_layer(
    name: str, files: Mapping[str, Node], overlays: Iterable[Node], findings: Findings
) -> Pos | None:
    """Return where the uppermost layer that is reported on says what it lies over."""
    stack = _layers_of(name, files, overlays)
    return next((said.pos for node, said in stack if node.pos.file in findings.texts), None)


def touched(found: Flat, own: Collection[str]) -> list[str]:
    """Return the dialects in which one of some files has a part."""
    return [
        name
        for name in found.nodes
        if name != LADDER
        and name not in found.same
        and any(n.pos.file in own for n, _ in _layers_of(name, found.files, found.overlays))
    ]


def check(
    found: Flat, names: Iterable[str], findings: Findings, ladder: Ladder, over: str = ""
) -> None:
    """Check dialects with their layers on, and with each set of variants that may apply.

    Where an overlay lies `over` what was checked, this is its file.
    """
    for name in names:
        findings.layer_pos = _reported_layer(name, found.files, found.overlays, findings)
        stack = _layers_of(name, found.files, found.overlays)
        whole = not any(node.pos.file in found.hurt for node, _ in stack)
        _check_dialect(found.nodes[name], findings, ladder, whole, over)
    findings.layer_pos = None


def check_ladder(
    files: Mapping[str, Node], findings: Findings, same: Collection[str] = ()
) -> Ladder:
    """Check the ladder of some files and return the rows that are right."""
    if LADDER in same:
        return steps.load(files[LADDER])
    lists = [node.get(variants.WORD) for node in files.values()]
    varied = [row for rows in lists if rows and isinstance(rows.value, list) for row in rows.value]
    shapes = {name for node in (*files.values(), *varied) for name in node.under("shapes")}
    return laddercheck.load(files[LADDER], findings, shapes)


def _check_dialect(node: Node, findings: Findings, ladder: Ladder, whole: bool, over: str) -> None:
    before = findings.errors
    rows = list(variants.rows(File(findings).variants(node)))
    whole = whole and findings.errors == before
    alone = merge.without(node, (variants.WORD,)) if node.get(variants.WORD) else node
    rulecheck.check(alone, findings, ladder, whole, not over)
    try:
        files = (over,) if over else findings.texts
        new = [row.over.pos.file in files for row in rows]
        sets = variants.row_sets(rows, new)
    except RuleError as error:
        findings.add_error(error)
        return
    for which in sets:
        hits = findings.errors
        laid = variants.lay_rows(node, rows, which, findings.add_error)
        whole = whole and findings.errors == hits
        rulecheck.check(laid, findings, ladder, whole, False)
