"""What holes tell by themselves: the tests of their values, and which of them are plain."""

from __future__ import annotations

from typing import Any

from ..language import picture as pic
from ..language.lenses import is_guard
from ..language.picture import Hole
from .code import CLASSES

IDS = ("id", "tool_call_id")


def test_of(words: str, v: str, quick: bool = False) -> str:
    """Return an expression that tells whether the value of a variable passes a guard.

    A `quick` one may be false for what passes: a whole number that is written as a fraction.
    """
    said = []
    for word in words.split("+"):
        if word == "any":
            return "True"
        if word in CLASSES:
            said.append(f"{v}.__class__ is {CLASSES[word]}")
        elif word == "integer" and quick:
            said.append(f"{v}.__class__ is int")
        elif word == "null":
            said.append(f"{v} is None")
        elif word == "number" and quick:
            said.append(f"{v}.__class__ is int or {v}.__class__ is float")
        else:
            said.append(f"guard({word!r}, {v})")
    return " or ".join(said)


def both(tests: list[str]) -> str:
    """Return a test that all of some hold."""
    return " and ".join(f"({test})" if " or " in test else test for test in tests)


def simple(h: Hole) -> bool:
    """Tell whether a hole is one value that must be there, and that no more than guards look at."""
    codecs = [lens for lens in h.lenses if not is_guard(lens)]
    plain = h.mode is None and codecs in ([], ["json"]) and "home" not in h.lenses
    return (
        plain and h.mark is None and len(h.paths) == 1 and h.path not in (*IDS, ".", "nth", "run")
    )


def wanted(h: Hole) -> bool:
    """Tell whether nothing is written where a field of a hole is not there."""
    converted = h.mode in ("each", "as") or any(not is_guard(lens) for lens in h.lenses)
    alone = h.mark is None and len(h.paths) == 1 and h.path not in (*IDS, ".", "nth", "run")
    return converted and alone and not h.only_read and "home" not in h.lenses and not simple(h)


def named(p: pic.Picture | None) -> set[str]:
    """Return the names that an `ir` picture gives to holes of the wire."""
    return {name for name, _ in pic.named(p)} if p is not None else set()


def is_own(p: Any) -> bool:
    """Tell whether a picture is a field of one family alone that goes through as it is."""
    return (
        isinstance(p, Hole)
        and p.mark == "optional"
        and p.mode is None
        and not p.lenses
        and len(p.paths) == 1
        and p.path.startswith("own.")
        and p.path.count(".") == 1
    )
