"""What the list of dialects says of each, made of the rules and of the head of its file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

from ..rulesets import RuleSet
from . import rulesources

UNCONFIRMED = re.compile(r"Not confirmed: (.*?)\.(?: |$)")


class Listed(NamedTuple):
    """A dialect: what it lies over, of what it has pictures, and what stands in its file."""

    name: str
    parent: str  # empty where it lies over none
    units: tuple[str, ...]
    stream: bool
    lines: int  # of its file, examples apart
    verified: str  # the day on which it was compared with `see`
    see: str
    unconfirmed: str  # what its head says to be so, in words for people

    def row(self) -> tuple[str, ...]:
        """Return what stands in a row of a table, but for what is not confirmed."""
        flows = "yes" if self.stream else ""
        cells = (self.name, self.parent, " ".join(self.units), flows, str(self.lines))
        return (*cells, self.verified, self.see)


def listed(
    rules: RuleSet, folders: Iterable[rulesources.Source] = (), plugins: bool = False
) -> list[Listed]:
    """Return what is to be said of each dialect of a rule set. Raises RuleError, UsageError."""
    texts = dict(_texts([rulesources.packaged_folder(), *folders], plugins))
    found = []
    for name in rules.dialects:
        model, text = rules[name].model, texts.get(name, "")
        parent = re.search(r"^extends: *(\S+)", text, re.MULTILINE)
        comments = takewhile(lambda line: line.startswith("#"), text.splitlines())
        head = " ".join(line.lstrip("# ") for line in comments)
        unconfirmed = UNCONFIRMED.search(head)
        extends, open_ = (match[1] if match else "" for match in (parent, unconfirmed))
        units = tuple(unit for unit in model.units if unit != "envelope")
        what = (units, model.stream is not None, len(text.splitlines()))
        found.append(Listed(name, extends, *what, model.verified or "", model.see or "", open_))
    return found


def _texts(folders: Iterable[rulesources.Source], plugins: bool) -> Iterator[tuple[str, str]]:
    """Yield the dialects of rule files with the text of each."""
    sources = [rulesources.files(folder) for folder in folders]
    sources += map(rulesources.plugin_files, rulesources.plugins()) if plugins else ()
    for files in sources:
        for file in files:
            text = file.text()
            if named := re.search(r"^dialect: *(\S+)", text, re.MULTILINE):
                yield named[1], text
