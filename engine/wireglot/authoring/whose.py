"""Of which dialect a payload is, by all likelihood, where it is given as one of another."""

from __future__ import annotations

from typing import Any

from ..rulesets import RuleSet
from .vocabulary import Vocabulary, nearest, nearness

CLEAR = 0.75  # the part of a payload from which on nobody is asked whether it is another's
MORE = 0.25  # how much more of it the other one must take


def hint(rules: RuleSet, body: Any, name: str, unit: str) -> str | None:
    """Say which dialect a payload looks like, if it is another one than `name`; else None.

    A dialect looks like a payload by the part of its values that pictures take and the IR has
    fields for.
    """
    words = Vocabulary(rules[one].model for one in rules.dialects)
    sample = [(unit, body)]
    taken = nearness(rules, name, sample, words)
    if taken >= CLEAR:
        return None
    best, more = nearest(rules, sample, words)
    if best == name or more < taken + MORE:
        return None
    return (
        f"this looks like {best}, whose pictures take {more:.0%} of it; "
        f"those of {name} take {taken:.0%}"
    )
