"""Where in a rule file the picture stands that a place of a payload is read by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..language.model import Dialect
from ..language.picture import Fields
from ..trace.where import Place, below, opened, standing
from ..trail import At


def places(dialect: Dialect, unit: str, body: Any, at: At) -> list[Place]:
    """Return the pictures by which the value at a path is read, each place once."""
    found = list(standing(dialect, unit))
    for step in at:
        found = [inner for one in found for inner in below(dialect, one, step, body)]
        body = body[step] if isinstance(body, dict | list) else None
    found = [two for one in found for two in opened(dialect, one, body)]
    return list({one.path: one for one in found}.values())


def objects(dialect: Dialect, unit: str, body: Any) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield each object of a payload with each picture of an object that it may be read by."""
    start = list(standing(dialect, unit))
    stack: list[tuple[list[Place], Any]] = [(start, body)]
    while stack:
        found, value = stack.pop()
        steps: Any = value if isinstance(value, dict) else range(len(value))
        for step in steps:
            if isinstance(value[step], dict | list):
                inner = [two for one in found for two in below(dialect, one, step, value)]
                if inner:
                    stack.append((inner, value[step]))
        if isinstance(value, dict):
            there = [two for one in found for two in opened(dialect, one, value)]
            for one in {one.path: one for one in there}.values():
                if isinstance(one.picture, Fields):
                    yield one, value
