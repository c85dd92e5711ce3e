"""Patterns: regular expressions that are compiled when they are first used, and globs."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Any


class _Later:
    """Stands for a compiled pattern, whose methods it takes over as they are asked for."""

    def __init__(self, text: str, flags: re.RegexFlag | int) -> None:
        self._given = (text, flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)  # which `re` remembers
        setattr(self, name, found)
        return found


def later(text: str, flags: re.RegexFlag | int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when one of its methods is first called."""
    found: Any = _Later(text, flags)
    return found  # type: ignore[no-any-return]


def fits(name: str, glob: str) -> bool:
    """Tell whether a name is one that a glob is for; most globs are a beginning and `*`."""
    start, star, rest = glob.partition("*")
    if "?" in start or "[" in start:
        return fnmatchcase(name, glob)
    if not star:
        return name == glob
    return name.startswith(start) and (not rest or fnmatchcase(name, glob))
