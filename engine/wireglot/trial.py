"""`wireglot test`: every example of some rule files, and the laws on generated payloads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from . import examples, laws, load
from .rulesets import RuleSet
from .source import Node


@dataclass(slots=True)
class Outcome:
    """What came of a trial: how many examples and laws were tried, and what does not hold."""

    examples: int = 0
    laws: int = 0
    failures: list[str] = field(default_factory=list)


def run(
    rules: RuleSet, folder: str | None = None, runs: int = laws.RUNS, seed: str = "0"
) -> Outcome:
    """Try the files of a folder, or with None all; a dialect is the folder's if any rule of it is.

    Raises RuleError for an example of a form that there is not.
    """
    outcome = Outcome()
    for example in _examples(rules):
        if folder is None or _within(example.pos.file, folder):
            outcome.examples += 1
            message = examples.check(rules, example)
            if message:
                outcome.failures.append(f"{example.where}: {message}")
    named = [n for n in rules.dialects if folder is None or _touched(rules[n].model.node, folder)]
    outcome.laws = sum(1 for name in named for _ in laws.cases(rules, name)) if runs else 0
    outcome.failures.extend(map(str, laws.run(rules, named, runs, seed)))
    return outcome


def packaged() -> RuleSet:
    """Load the packaged rule files with their examples, which a wheel's prepared form lacks."""
    nodes = load.by_name(load.parsed(load._folder(), "rules"))
    return RuleSet([name for name in nodes if name != load.LADDER], lambda: nodes)


def _examples(rules: RuleSet) -> Iterator[examples.Example]:
    yield from examples.rows(rules._ladder)
    for name in rules.dialects:
        yield from examples.find(rules[name])


def _within(file: str, folder: str) -> bool:
    return os.path.dirname(file) == os.path.normpath(folder)


def _touched(node: Node, folder: str) -> bool:
    """Tell whether any part of a rule file comes from a folder."""
    if _within(node.pos.file, folder):
        return True
    inner = node.value.values() if isinstance(node.value, dict) else node.value
    return isinstance(node.value, dict | list) and any(_touched(n, folder) for n in inner)
