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
    """A place where two values differ, and what stands there in each (ABSENT for nothing)."""

    at: At
    expected: Any
    actual: Any

    def __str__(self) -> str:
        where = pointer(self.at) or "the whole value"
        return f"{where}: expected {shown(self.expected)}, got {shown(self.actual)}"


def differences(expected: Any, actual: Any, at: At = ()) -> list[Difference]:
    """List every place where two JSON values differ, each as deep within them as can be."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        keys = [*expected, *(k for k in actual if k not in expected)]
        inner = (
            differences(expected.get(k, ABSENT), actual.get(k, ABSENT), (*at, k))
            for k in keys
            if k not in expected or k not in actual or expected[k] is not actual[k]
        )
        return [one for some in inner for one in some]
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        pairs = zip(expected, actual, strict=True)
        return [d for i, (a, b) in enumerate(pairs) for d in differences(a, b, (*at, i))]
    if expected is ABSENT or actual is ABSENT:
        return [] if expected is actual else [Difference(at, expected, actual)]
    return [] if same(expected, actual) else [Difference(at, expected, actual)]


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
