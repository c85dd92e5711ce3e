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
from .recordings import Heard, Recorded, heard
from .sketch import Tree
from .starter import Wanted
from .vendorentries import Change, changes

DECIDE = "to decide:"
ROUNDS = 3  # what is pictured may show what lies within
UNSEEN = (
    "what is refused, limits, models that differ, the path of requests: nothing of it is recorded"
)


class Proposal(NamedTuple):
    """A rule file over a dialect, and how much of the recordings both take."""

    text: str
    before: Heard
    after: Heard
    decide: list[str]

    def told(self, like: str, count: int) -> list[str]:
        """Return how much of so many recordings is taken, and what is wrong with the rest."""
        share, before = (_percent(one.share) for one in (self.after, self.before))
        many = f"{count} recording{'s' * (count != 1)}"
        head = f"it takes {share} of the leaves of {many}, where {like} takes {before}"
        return [head, *self.after.faults, *(f"{DECIDE} {one}" for one in self.decide)]


class _Trial:
    """A rule file that grows: which changes load and take more of the recordings."""

    def __init__(self, rules: RuleSet, sources: Sequence[str], wanted: Wanted, like: str) -> None:
        self.rules, self.sources, self.wanted, self.like = rules, sources, wanted, like
        self.kept: list[Change] = []
        self.called = like

    def text(self, kept: Iterable[Change], decide: Iterable[str] = ()) -> str:
        """Return the file with some changes, and with what is to decide."""
        first, *rest = starter.text(self.wanted, _tree(kept), [], self.like).split("\n")
        lines = [first, *(f"# {DECIDE} {one}" for one in decide), *rest]
        return layout.formatted("\n".join(lines), f"{self.wanted.name}.yaml")

    def keeps(self, new: Sequence[Change], recordings: Sequence[Recorded], now: Heard) -> Heard:
        """Keep new changes if they load and make nothing worse, and return what is heard then."""
        files = {self.wanted.name: self.text([*self.kept, *new])}
        if not new or any(found.severity == "error" for found in checking.check(files)):
            return now
        try:
            rules = load_rules(files, *self.sources)
            found = heard(rules, self.wanted.name, recordings)
        except WireglotError:
            return now
        if len(found.faults) > len(now.faults) or found.lost > now.lost:
            return now
        self.rules, self.called = rules, self.wanted.name
        self.kept += new
        return found


def proposed(
    rules: RuleSet, sources: Sequence[str], wanted: Wanted, recordings: Sequence[Recorded]
) -> Proposal:
    """Propose a rule file over `wanted.parent`. Raises UsageError."""
    like = str(wanted.parent)
    first = now = heard(rules, like, recordings)
    trial = _Trial(rules, sources, wanted, like)
    for _ in range(ROUNDS):
        asked: list[str] = []
        model = trial.rules[trial.called].model
        found = changes(rules, like, model, recordings, now, asked)
        new = [change for change in found if change not in trial.kept]
        before, now = now, trial.keeps(new, recordings, now)
        if now is before:  # some of them will not do
            for change in new:
                now = trial.keeps([change], recordings, now)
                if change not in trial.kept:
                    said = getattr(change.said, "text", change.said)
                    asked.append(f"{'.'.join(change.path)}: {said} does not do")
        if now is before:
            break
    asked += [f"{'.'.join(change.path)}: {change.why}" for change in trial.kept if change.why]
    decide = [*dict.fromkeys(asked), UNSEEN]
    return Proposal(trial.text(trial.kept, decide), first, now, decide)


def _percent(share: float) -> str:
    """Return a part of a whole; what is not all is never shown as all."""
    return "100%" if share == 1 else f"{min(share, 0.999):.1%}"


# -- the tree -------------------------------------------------------------------------------------


def _tree(kept: Iterable[Change]) -> Tree:
    """Put changes into one tree; lists of own fields grow."""
    tree: Tree = {}
    for path, said, _ in kept:
        _merge(starter.within(tree, path[:-1]), path[-1], said)
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
