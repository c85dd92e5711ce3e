"""Checks of layers: what a layer takes from where, and each dialect with its layers on."""

from __future__ import annotations

import functools
import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..errors import RuleError
from ..language import ladder as steps
from ..language import layers, merge, variants
from ..language.findings import Findings
from ..language.known import Later
from ..language.ladder import Ladder
from ..language.merge import REMOVED, Place
from ..language.source import LADDER, Node, Pos
from . import laddercheck, rulecheck
from .form import File

MOST = 50  # layers of a file that are mended one by one; a file with more mistakes is left out
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


def flat(
    files: Mapping[str, Node],
    overlays: Iterable[Node],
    findings: Findings,
    same: Mapping[str, Node] | None = None,
) -> Flat:
    """Return every dialect without layers; what is wrong in one is reported and left out.

    Of some it is known that they are the `same` as when they were checked: these are not asked for.
    """
    there = same or {}
    work = _Mending(files, there, list(overlays), findings)
    for name, node in list(work.own.items()):
        if name != LADDER and node.get("extends") is None and node.pos.file in findings.texts:
            work.fresh(name)
    while True:
        work.forget()
        try:
            nodes = layers.flat(work.files, work.overlays, there)
            return Flat(nodes, there, work.files, work.overlays, frozenset(work.hurt))
        except RuleError as error:
            work.mend(error)


class _Mending:
    """Takes what is wrong out of layers, one mistake at a time."""

    def __init__(
        self,
        files: Mapping[str, Node],
        same: Collection[str],
        overlays: list[Node],
        findings: Findings,
    ) -> None:
        self.own = {name: files[name] for name in files if name not in same}
        self.files = ChainMap(self.own, layers.read_only(Later(same, files.__getitem__)))
        self.overlays, self.findings = overlays, findings
        self.hurt: dict[str, int] = {}
        # Dialects that are there, in a file that cannot be read.
        self.lost = {n for text in findings.texts.values() for n in _NAMED.findall(text)}

    def fresh(self, name: str) -> None:
        """Take out what a file without a parent takes away or replaces."""
        while name in self.own:
            try:
                merge.fresh(self.own[name], Place.FILE)
                return
            except RuleError as error:
                self.mend(error)

    def forget(self) -> None:
        """Leave out layers of dialects that were left out; why is told already."""
        before = -1
        while before != len(self.own):
            before = len(self.own)
            for name, node in list(self.own.items()):
                if self._missing(node, "extends"):
                    del self.own[name]
                    self.lost.add(name)
        self.overlays = [n for n in self.overlays if not self._missing(n, "overlay")]

    def _missing(self, node: Node, word: str) -> bool:
        named = node.get(word)
        if named is None or not isinstance(named.value, str):
            return False
        return named.value not in self.files and named.value in self.lost

    def mend(self, error: RuleError) -> None:
        """Report a mistake, and take it out of its file, or the file out of the dialects."""
        found = self.hurt[error.file] = self.hurt.get(error.file, 0) + 1
        name = next((n for n, node in self.own.items() if node.pos.file == error.file), None)
        laid = [node.pos.file for node in self.overlays]
        if name is None and error.file not in laid:
            raise error
        node = self.files[name] if name is not None else self.overlays[laid.index(error.file)]
        below = name if name is not None else str(node.value["overlay"].value)
        self.findings.top = _top(below, self.files, self.overlays, self.findings)
        self.findings.take(error)
        self.findings.top = None
        at = Pos(error.file, error.line, error.column)
        mended = _mended(node, at, error.rule) if found < MOST else None
        if name is None:
            n = laid.index(error.file)
            self.overlays[n : n + 1] = [] if mended is None else [mended]
        elif mended is None:
            del self.own[name]
            self.lost.add(name)
        else:
            self.own[name] = mended


def _mended(node: Node, at: Pos, rule: str) -> Node | None:
    if rule == "R026" and isinstance(node.value, dict):
        return merge.like(node, {**node.value, "wireglot": Node(1, node.pos)})
    return _without(node, at) if rule == "R007" else None


def _without(node: Node, at: Pos) -> Node | None:
    """Return a node without the key at a place, or with the key without its `!`."""
    inner = node.entries.items()
    for key, child in inner:
        if node.place(key) == at:
            bare = "" if child.value == REMOVED else re.sub(r"!( \(or |$)", r"\1", key)
            entries = {bare if k == key else k: v for k, v in inner if k != key or bare != key}
            entries.pop("", None)
            keys = {bare if k == key else k: pos for k, pos in node.keys.items()}
            return merge.like(node, entries, keys)
    for key, child in inner:
        if (found := _without(child, at)) is not None:
            return merge.like(node, {k: found if k == key else v for k, v in inner})
    for n, child in enumerate(node.value) if isinstance(node.value, list) else ():
        if (found := _without(child, at)) is not None:
            return merge.like(node, [*node.value[:n], found, *node.value[n + 1 :]])
    return None


def _stack(
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


def _top(
    name: str, files: Mapping[str, Node], overlays: Iterable[Node], findings: Findings
) -> Pos | None:
    """Return where the uppermost layer that is reported on says what it lies over."""
    stack = _stack(name, files, overlays)
    return next((said.pos for node, said in stack if node.pos.file in findings.texts), None)


def touched(found: Flat, own: Collection[str]) -> list[str]:
    """Return the dialects in which one of some files has a part."""
    return [
        name
        for name in found.nodes
        if name != LADDER
        and name not in found.same
        and any(n.pos.file in own for n, _ in _stack(name, found.files, found.overlays))
    ]


def check(
    found: Flat, names: Iterable[str], findings: Findings, ladder: Ladder, over: str = ""
) -> None:
    """Check dialects with their layers on, and with each set of variants that may apply.

    Where an overlay lies `over` what was checked, this is its file.
    """
    for name in names:
        findings.top = _top(name, found.files, found.overlays, findings)
        stack = _stack(name, found.files, found.overlays)
        whole = not any(node.pos.file in found.hurt for node, _ in stack)
        _dialect(found.nodes[name], findings, ladder, whole, over)
    findings.top = None


def ladder(files: Mapping[str, Node], findings: Findings, same: Collection[str] = ()) -> Ladder:
    """Check the ladder of some files and return the rows that are right."""
    if LADDER in same:
        return steps.load(files[LADDER])
    rows = (node.get("variants") for node in files.values())
    varied = [
        row for listed in rows if listed and isinstance(listed.value, list) for row in listed.value
    ]
    shapes = {name for node in (*files.values(), *varied) for name in node.under("shapes")}
    return laddercheck.load(files[LADDER], findings, shapes)


def _dialect(node: Node, findings: Findings, ladder: Ladder, whole: bool, over: str) -> None:
    before = findings.hits
    rows = list(variants.rows(File(findings).variants(node)))
    whole = whole and findings.hits == before
    alone = merge.without(node, (variants.WORD,)) if node.get(variants.WORD) else node
    rulecheck.check(alone, findings, ladder, whole, not over)
    try:
        files = (over,) if over else findings.texts
        new = [row.over.pos.file in files for row in rows]
        for_what = (*new, *((row.models, row.version, str(row.options)) for row in rows))
        look = functools.partial(variants.samples, rows, new)
        sets = findings.once((_dialect, for_what), look)
    except RuleError as error:
        findings.take(error)
        return
    for which in sets:
        while True:
            try:
                laid = variants.laid(node, rows, which)
            except RuleError as error:
                findings.take(error)
                whole = False
                at = Pos(error.file, error.line, error.column)
                mended = [_without(row.over, at) for row in rows]
                if mended == [None] * len(rows):
                    break
                rows = [r._replace(over=m or r.over) for r, m in zip(rows, mended, strict=True)]
            else:
                rulecheck.check(laid, findings, ladder, whole, False)
                break
