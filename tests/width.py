"""How wide the suite goes: `make test` runs some of what `make test-wide` runs whole.

Some is enough where the rest repeats it: further dialects through the same lines, files of one
kind, more of what is drawn. Nothing is left out of both.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
WIDE = os.environ.get("WIREGLOT_TESTS") == "wide"
MAIN = ("openai-chat", "anthropic", "gemini")  # of all pairs, the suite has those with one of these


def some(items: Iterable[T], each: int) -> list[T]:
    """Return all where the suite goes wide, else each so-many-th, the first among them."""
    return list(items)[:: 1 if WIDE else each]


def dialects(names: Iterable[str], each: int) -> list[str]:
    """Return the names of dialects to go through: the main ones, and some of the others."""
    names = list(names)
    main = [name for name in names if name in MAIN]
    return main + some([name for name in names if name not in MAIN], each)


def targets(source: str, names: Sequence[str]) -> list[str]:
    """Return to which dialects one goes: to all where it is a main one, else to those and home."""
    everywhere = WIDE or source in MAIN
    return [name for name in names if everywhere or name in MAIN or name == source]


def times(wide: int, narrow: int) -> int:
    """Return how often something drawn is tried."""
    return wide if WIDE else narrow
