"""Regular expressions that are compiled when they are first used: a process needs few of them."""

from __future__ import annotations

import re
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
