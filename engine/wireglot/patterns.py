"""Patterns: regular expressions that are compiled when they are first used, and globs."""

from __future__ import annotations

import functools
import re
from fnmatch import fnmatchcase
from typing import Any

_CHOICE = frozenset("?[")  # what a glob may say beside `*`


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
    """Tell whether a name is one that a glob is for, by its pieces where these say it all.

    Else a process would compile a regular expression for each glob before its first conversion.
    """
    pieces = _pieces(glob)
    if pieces is None:
        start = glob[: next(i for i, sign in enumerate(glob) if sign in "*?[")]
        return name.startswith(start) and fnmatchcase(name, glob)
    if len(pieces) == 1:
        return name == glob
    start, *within, end = pieces
    at = len(start) if name.startswith(start) else -1
    for piece in within if at >= 0 else ():
        found = name.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return at >= 0 and len(name) - at >= len(end) and name.endswith(end)


@functools.lru_cache(4096)
def _pieces(glob: str) -> list[str] | None:
    """Return the texts between the stars of a glob; None where these do not say it all."""
    return glob.split("*") if _CHOICE.isdisjoint(glob) else None
