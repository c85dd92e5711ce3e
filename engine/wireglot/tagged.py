"""Lists and places that know one thing more; apart, for no class of C can be made of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Several(tuple[Any, ...]):
    """The first of the places that a value came from together; `places` are all of them."""

    places: list[tuple[Any, ...]]

    @classmethod
    def of(cls, places: list[tuple[Any, ...]]) -> Several:
        """Make one of at least one place."""
        made = cls(places[0])
        made.places = places
        return made


def every(at: tuple[Any, ...] | None) -> Sequence[Any]:
    """Return all places that a value came from together, mostly the one; None stands for none."""
    return at.places if isinstance(at, Several) else [at]


class Rest(list[Any]):
    """The elements of a list behind its `start`."""

    start = 0
