"""Where two JSON values differ first, and how values are said: the smallest thing worth saying."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..language.lenses import same, stringify
from ..language.picture import ABSENT
from ..results import Conversion
from ..traces import OUTSIDE
from ..trail import At, place_of, pointer, value_at

WIDTH = 60


class Difference(NamedTuple):
    """A place where two values part, and what stands there in each (ABSENT for nothing)."""

    at: At
    meant: Any
    found: Any

    def __str__(self) -> str:
        where = pointer(self.at) or "the whole value"
        return f"{where}: expected {shown(self.meant)}, got {shown(self.found)}"


def differences(meant: Any, found: Any, at: At = ()) -> list[Difference]:
    """List every place where `found` is not what was meant, as deep down as it can be said."""
    if isinstance(meant, dict) and isinstance(found, dict):
        keys = [*meant, *(k for k in found if k not in meant)]
        inner = (
            differences(meant.get(k, ABSENT), found.get(k, ABSENT), (*at, k))
            for k in keys
            if k not in meant or k not in found or meant[k] is not found[k]
        )
        return [one for some in inner for one in some]
    if isinstance(meant, list) and isinstance(found, list) and len(meant) == len(found):
        pairs = zip(meant, found, strict=True)
        return [d for i, (a, b) in enumerate(pairs) for d in differences(a, b, (*at, i))]
    if meant is ABSENT or found is ABSENT:
        return [] if meant is found else [Difference(at, meant, found)]
    return [] if same(meant, found) else [Difference(at, meant, found)]


def shown(value: Any) -> str:
    """Show a value as JSON, shortened."""
    text = "nothing" if value is ABSENT else stringify(value)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."


def written(done: Conversion, at: str) -> str:
    """Return the beginning of what stands at a pointer into an output, or into its envelope."""
    if not at.startswith(OUTSIDE):
        return excerpt(done.body, at)
    envelope = done.envelope._asdict() if done.envelope is not None else {}
    return excerpt(envelope, at.removeprefix(OUTSIDE))


def standing(body: Any, at: str) -> Any:
    """Return what stands at a pointer, ABSENT for nothing."""
    return value_at(body, place_of(body, at), ABSENT)


def excerpt(body: Any, at: str) -> str:
    """Return the beginning of what stands at a pointer, as JSON."""
    return shown(standing(body, at))
