"""What a shape says with all that it names: where two dialects say the same, one trial is enough.

A child mostly has the shapes of its parent, and a variant those of its dialect.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from ..ir import PARTS, TOOLS
from ..language.findings import Findings
from ..language.source import Node, Pos
from ..language.words import UNITS

Said = tuple[str, Pos | None, Node]  # what stands under a name, and where that is
_WORDS = re.compile(r"[\w-]+")
# What stands under names, and is reached where a text has its name; units are such names, too.
NAMED = ("shapes", "unions", "tables")
# No trial asks for these.
ASIDE = frozenset(
    ("dialect", "see", "verified", "family", "unsupported", "variants", "stream", "examples")
)
# Reading and writing ask for these without a name.
ALWAYS = frozenset((*PARTS, *TOOLS, "response", "conversation"))


class Reach:
    """What each name of a flat rule file reaches, as a text that is the same for the same."""

    def __init__(self, node: Node, findings: Findings) -> None:
        """Walk what is always asked for; `findings` knows what each node says."""
        self._findings = findings
        self._named: dict[str, list[Said]] = {}
        others = []
        for word, child in node.value.items():
            if word in NAMED:
                for name, one in child.value.items():
                    self._named.setdefault(name, []).append((name, child.keys.get(name), one))
            elif word in UNITS or word == "conversation":
                self._named.setdefault(word, []).append((word, None, child))
            elif word not in ASIDE:
                others.append((word, node.keys.get(word), child))
        self._names = frozenset(self._named)
        self._apart = node.under("examples")
        self._said: dict[str, tuple[int, set[str]]] = {}
        odd = {name for name in self._named if not _WORDS.fullmatch(name)}
        rest, said = self._look("", others)
        self._always = self._closed(odd | said | ALWAYS.intersection(self._named), set())
        self._base = hash((rest, self._sums(self._always)))

    def of(self, name: str) -> int:
        """Return a number for all that a name reaches; where it differs, another says more."""
        found = self._closed([name], self._always) - self._always
        return hash((name, self._base, self._sums(found), self._examples(name)))

    def _closed(self, names: Iterable[str], known: set[str]) -> set[str]:
        """Return some names and those that are known, with all that they name."""
        found, waiting = set(known), list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self._look(name, self._named.get(name, []))[1]
        return found

    def _sums(self, names: Iterable[str]) -> tuple[tuple[str, int], ...]:
        return tuple((name, self._said[name][0]) for name in sorted(names))

    def _look(self, name: str, nodes: list[Said]) -> tuple[int, set[str]]:
        """Return the sum of what a name stands for, and the names in it."""
        if name not in self._said:
            # Most nodes stand in many dialects and variants.
            once = self._findings.once
            found = [once((_told, one), functools.partial(_told, one)) for *_, one in nodes]
            there = set().union(*(words & self._names for _, words in found))
            told = tuple((*node[:2], sums) for node, (sums, _) in zip(nodes, found, strict=True))
            self._said[name] = hash(told), there
        return self._said[name]

    def _examples(self, name: str) -> int:
        told: list[object] = []
        for place in (name, f"shapes/{name}"):
            if place in self._apart:
                _tell(self._apart[place], told)
        return hash(tuple(told))


def _told(node: Node) -> tuple[int, frozenset[str]]:
    """Return the sum of what a node says, and the words in it."""
    told: list[object] = []
    _tell(node, told)
    texts = {one for one in told if one.__class__ is str}
    return hash(tuple(told)), frozenset(word for one in texts for word in _WORDS.findall(one))


def _tell(node: Node, told: list[object]) -> None:
    """Add what a node says, with places."""
    value = node.value
    told.append(node.pos)
    if value.__class__ is dict:
        for key, child in value.items():
            told += (key, node.keys.get(key))
            _tell(child, told)
    elif value.__class__ is list:
        told.append(len(value))
        for child in value:
            _tell(child, told)
    else:
        told += (value.__class__.__name__, value)
