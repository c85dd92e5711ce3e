"""`wireglot new --like`: a rule file over a dialect, with what recordings of a vendor have.

What would not load, or lets a recording come home otherwise, is left out, and said to be decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..errors import WireglotError
from ..loading import checking
from ..loading.start import load_rules
from ..rulesets import RuleSet
from . import layout, starter
from .recordings import Coverage, Recorded, coverage
from .sketch import Tree
from .starter import Wanted
from .vendorentries import Entry, Lacking

DECIDE = "to decide:"
ROUNDS = 3  # what is pictured may show what lies within
UNSEEN = (
    "what is refused, limits, models that differ, the path of requests: nothing of it is recorded"
)


class Proposal(NamedTuple):
    """A rule file over a dialect, and how much of the recordings both take."""

    text: str
    before: Coverage
    after: Coverage
    decide: list[str]

    def summary(self, like: str, count: int) -> list[str]:
        """Return how much of so many recordings is taken, and what is wrong with the rest."""
        share, before = (_percent(one.share) for one in (self.after, self.before))
        many = f"{count} recording{'s' * (count != 1)}"
        head = f"it takes {share} of the leaves of {many}, where {like} takes {before}"
        return [head, *self.after.faults, *(f"{DECIDE} {one}" for one in self.decide)]


class _Draft:
    """A rule file that grows by the entries that load and take more of the recordings."""

    def __init__(self, rules: RuleSet, sources: Sequence[str], wanted: Wanted, like: str) -> None:
        self.rules, self.sources, self.wanted, self.like = rules, sources, wanted, like
        self.entries: list[Entry] = []
        self.dialect = like

    def text(self, entries: Iterable[Entry], decide: Iterable[str] = ()) -> str:
        """Return the text of the file with some entries, and with what is to decide as comments."""
        first, *rest = starter.text(self.wanted, _tree(entries), [], self.like).split("\n")
        lines = [first, *(f"# {DECIDE} {one}" for one in decide), *rest]
        return layout.formatted("\n".join(lines), f"{self.wanted.name}.yaml")

    def keep(self, new: Sequence[Entry], recorded: Sequence[Recorded], now: Coverage) -> Coverage:
        """Keep entries if they load and make nothing worse; return the coverage then."""
        files = {self.wanted.name: self.text([*self.entries, *new])}
        if not new or any(found.severity == "error" for found in checking.check(files)):
            return now
        try:
            rules = load_rules(files, *self.sources)
            found = coverage(rules, self.wanted.name, recorded)
        except WireglotError:
            return now
        if len(found.faults) > len(now.faults) or found.lost > now.lost:
            return now
        self.rules, self.dialect = rules, self.wanted.name
        self.entries += new
        return found


def proposed(
    rules: RuleSet, sources: Sequence[str], wanted: Wanted, recordings: Sequence[Recorded]
) -> Proposal:
    """Propose a rule file over `wanted.parent`. Raises UsageError."""
    like = str(wanted.parent)
    at_first = now = coverage(rules, like, recordings)
    draft = _Draft(rules, sources, wanted, like)
    for _ in range(ROUNDS):
        lacking = Lacking(rules, like, draft.rules[draft.dialect].model)
        found, questions = lacking.entries(recordings, now.unknown), lacking.questions
        new = [entry for entry in found if entry not in draft.entries]
        before, now = now, draft.keep(new, recordings, now)
        if now is before:  # some of them will not do
            for entry in new:
                now = draft.keep([entry], recordings, now)
                if entry not in draft.entries:
                    said = getattr(entry.said, "text", entry.said)
                    questions.append(f"{'.'.join(entry.path)}: {said} does not do")
        if now is before:
            break
    questions += [f"{'.'.join(entry.path)}: {entry.why}" for entry in draft.entries if entry.why]
    decide = [*dict.fromkeys(questions), UNSEEN]
    return Proposal(draft.text(draft.entries, decide), at_first, now, decide)


def _percent(share: float) -> str:
    """Return a part of a whole; what is not all is never shown as all."""
    return "100%" if share == 1 else f"{min(share, 0.999):.1%}"


# -- the tree -------------------------------------------------------------------------------------


def _tree(entries: Iterable[Entry]) -> Tree:
    """Put entries into one tree; lists of own fields grow."""
    tree: Tree = {}
    for path, said, _ in entries:
        _merge(starter.subtree(tree, path[:-1]), path[-1], said)
    return tree


def _merge(tree: Tree, key: str, said: Any) -> None:
    there = tree.get(key)
    if isinstance(there, dict) and isinstance(said, dict):
        for name, value in said.items():
            _merge(there, name, value)
    elif isinstance(there, list) and isinstance(said, list):
        both = [*there, *said]
        if all(isinstance(one, dict) for one in both):
            tree[key] = [{}]
            for one in both:
                for name, value in one.items():
                    _merge(tree[key][0], name, value)
        else:
            tree[key] = list(dict.fromkeys(both))
    else:
        tree[key] = said
