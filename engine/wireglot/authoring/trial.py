"""`wireglot test`: every example of some rule files, and the laws on generated payloads."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Sequence

from ..dialects import DialectRules
from ..language import apart
from ..language.source import Node, Pos
from ..loading import load
from ..rulesets import RuleSet
from . import crossings, examples, laws


def load_with_examples(folders: Sequence[str], overlays: Sequence[str]) -> RuleSet:
    """Load rule files, the packaged ones from YAML: what a wheel prepares holds no examples."""
    return load.rule_set(
        load.flat_unchecked(load.from_yaml(load.packaged_name(folders)), folders, overlays)
    )


def load_crossings(folders: Sequence[str]) -> list[Node]:
    """Load the files that show the wires of several dialects, the packaged ones first."""
    return load.crossings(folders, load.packaged_name(folders))


class Trial:
    """Tries rule files: with a folder those in it, else all.

    A dialect is the folder's if any of its rules is. An example is tried once, with the layers of
    the file that it stands in.
    """

    def __init__(
        self,
        folder: str | None = None,
        runs: int = laws.RUNS,
        seed: str = "0",
        targets: Sequence[str] | None = None,
    ) -> None:
        """Try nothing yet; `targets` are the dialects that laws cross to, all if none are named."""
        self.folder = None if folder is None else os.path.normpath(folder)
        self.runs, self.seed, self.targets = runs, seed, targets
        self.examples: set[Pos] = set()
        self.laws = 0
        self.failures: list[str] = []
        self._concerned: dict[Node, bool] = {}
        self.more = 0  # laws that break like one that is among the failures

    def run(self, rules: RuleSet, names: Iterable[str]) -> Trial:
        """Try some dialects of a rule set. Raises RuleError for an example of no known form."""
        names = [name for name in names if self._concerns(rules._files[name])]
        for example, dialect in self._examples(rules, names):
            if example.pos in self.examples or not self._within(example.pos):
                continue
            self.examples.add(example.pos)
            message = examples.check(rules, example, dialect)
            if message:
                self.failures.append(f"{example.pos}: {message}")
        if self.runs:
            touched = [n for n in names if self._concerns(rules[n].model.node)]
            self.laws += sum(1 for name in touched for _ in laws.cases(rules, name, self.targets))
            for text, times in laws.failures(rules, touched, self.runs, self.seed, self.targets):
                self.failures.append(text)
                self.more += times - 1
        return self

    def cross(self, rules: RuleSet, files: Iterable[Node]) -> Trial:
        """Try the wires that files of crossings show, with what other files say of them."""
        for wire in crossings.find(files, self.failures):
            if self._within(wire.pos):
                self.examples.add(wire.pos)
                message = crossings.check(rules, wire)
                if message:
                    self.failures.append(f"{wire.pos}: {message}")
        return self

    def _examples(
        self, rules: RuleSet, names: list[str]
    ) -> Iterator[tuple[examples.Example, DialectRules | None]]:
        for example in examples.ladder_examples(rules.ladder):
            yield example, None
        files = rules._files
        # The file that names a dialect is its home.
        named = {name: files[name].get("dialect") or files[name] for name in rules.dialects}
        homes = {name: node.pos.file for name, node in named.items()}
        for name in names:
            others = {file for other, file in homes.items() if file != homes[name]}
            for dialect in (rules[name], *rules.variants(name)):
                for example in examples.find(dialect, self.examples):
                    if apart.rule_file_of(example.pos.file) not in others:
                        yield example, dialect

    def _within(self, pos: Pos) -> bool:
        return self.folder is None or _folder(pos.file) == self.folder

    def _concerns(self, node: Node) -> bool:
        """Tell whether any part of a rule file comes from the folder."""
        if node not in self._concerned:  # dialects share most of their nodes
            inner = node.value if isinstance(node.value, list) else node.entries.values()
            found = self._within(node.pos) or any(map(self._concerns, inner))
            self._concerned[node] = found
        return self._concerned[node]


@functools.lru_cache(1000)
def _folder(file: str) -> str:
    """Return the folder that a rule file is in, or that a file of examples is beside."""
    return os.path.dirname(apart.rule_file_of(file))
