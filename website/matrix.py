"""The page of pairs: what goes from one dialect to another, and what does not."""

from __future__ import annotations

from wireglot.rulesets import RuleSet


def markdown(rules: RuleSet) -> str:
    """Return the page as Markdown: that of `wireglot audit` where there is one."""
    return "# The matrix of pairs\n"
