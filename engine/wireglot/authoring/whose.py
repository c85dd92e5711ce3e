"""Of which dialect and unit a payload is, by all likelihood, where it is given as of another."""

from __future__ import annotations

from typing import Any

from ..rulesets import RuleSet
from .vocabulary import Vocabulary, nearest, nearness

CLEAR = 0.75  # the part of a payload from which on nobody is asked whether it is another's
HALF = 0.5  # the part from which on it is taken for another unit of the same dialect
MORE = 0.25  # how much more of it the other one must take
UNITS = ("request", "response", "error")


def hint(rules: RuleSet, body: Any, name: str, unit: str) -> str | None:
    """Say which unit or dialect a payload looks like, if it is another one; else None.

    A dialect looks like a payload by the part of its values that pictures take and the IR has
    fields for.
    """
    words = Vocabulary(rules[one].model for one in rules.dialects)
    sample = [(unit, body)]
    taken = nearness(rules, name, sample, words)
    if taken >= CLEAR:
        return None
    for other in UNITS if unit in UNITS else ():
        if nearness(rules, name, [(other, body)], words) >= max(HALF, taken + MORE):
            return f"this looks like the unit `{other}` of {name}: say `--unit {other}`"
    best, more = nearest(rules, sample, words)
    if best == name or more < taken + MORE:
        return None
    return (
        f"this looks like {best}, whose pictures take {more:.0%} of it; "
        f"those of {name} take {taken:.0%}"
    )
