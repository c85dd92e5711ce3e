"""Making a JSON value smaller while it still shows the same fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

TRIES = 400


def shrink(value: Any, fails: Callable[[Any], bool], tries: int = TRIES) -> Any:
    """Return the smallest value found for which `fails` still holds."""
    found = True
    while found:
        found = False
        for smaller in _smaller(value):
            tries -= 1
            if tries < 0:
                return value
            if fails(smaller):
                value, found = smaller, True
                break
    return value


def _smaller(value: Any) -> Iterator[Any]:
    """Yield simpler values: big steps first."""
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
        for key, inner in value.items():
            yield from ({**value, key: small} for small in _smaller(inner))
    elif isinstance(value, list):
        if (half := len(value) // 2) > 1:
            yield from (value[half:], value[:half])
        for i in range(len(value)):
            yield value[:i] + value[i + 1 :]
        for i, inner in enumerate(value):
            yield from ([*value[:i], small, *value[i + 1 :]] for small in _smaller(inner))
    elif isinstance(value, str) and len(value) > 1:
        yield value[: len(value) // 2]
    elif isinstance(value, int | float) and not isinstance(value, bool) and value not in (0, 1):
        yield 1
