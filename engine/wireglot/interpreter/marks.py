"""Marks of what is to be cached: a provider takes some of them only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .copies import instead
from .jobs import WriteJob

# Where parts and blocks stand, within what a request holds and within each other.
INSIDE = ("parts", "value", "media", "blocks", "source")


def fewer(writer: WriteJob, ir: dict[str, Any], top: int, pos: Any) -> None:
    """Leave out marks beyond the number that the target takes; each is noted.

    The last of the tools and the last of the system text stay: what they hold is always the same.
    Then the latest stay, which stand nearest to what is new.
    """
    found = {key: list(_marked(ir.get(key))) for key in ("tools", "system", "messages")}
    if sum(map(len, found.values())) <= top:
        return
    stay = [owner for key in ("tools", "system") for owner in found[key][-1:]]
    rest = [owner for owners in found.values() for owner in owners]
    rest = [owner for owner in rest if not any(owner is one for one in stay)]
    gone = {id(owner) for owner in rest[: len(rest) - max(0, top - len(stay))]}
    told = f"the target takes {top} marks of what is cached at most"
    for owner in rest:
        if id(owner) in gone:
            writer.note("no-place", "lost", writer.trail.find(owner, "cache"), pos, told)
    for key in found:
        if key in ir:
            ir[key] = _without(writer, ir[key], gone)


def _marked(value: Any) -> Iterator[dict[str, Any]]:
    """Yield what is marked, in its order; a mark stands behind what it holds."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            for key in INSIDE:
                yield from _marked(one.get(key))
            if isinstance(one.get("cache"), dict):
                yield one


def _without(writer: WriteJob, value: Any, gone: set[int]) -> Any:
    """Return a value without some marks; what has none of them is itself."""
    if isinstance(value, list):
        new = [_without(writer, one, gone) for one in value]
        return value if all(one is two for one, two in zip(value, new, strict=True)) else new
    if not isinstance(value, dict):
        return value
    out = {k: _without(writer, v, gone) if k in INSIDE else v for k, v in value.items()}
    if id(value) in gone:
        del out["cache"]
    elif all(out[key] is value[key] for key in value):
        return value
    instead(writer, value, out)
    return out
