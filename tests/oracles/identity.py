"""Read and write in one dialect: the body comes back exactly."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .leaves import difference

Json = Any


def changed(body: Json, convert: Callable[[Json], Json]) -> list[str]:
    """Say where a body differs after it went through its own dialect.

    JSON in strings is compared as text, so that its spacing counts too.
    """
    before = json.dumps(body)
    found = difference(body, convert(body))
    problems = [found] if found else []
    if json.dumps(body) != before:
        problems.append(": the input itself was changed")
    return problems


def through_json(ir: Json) -> Json:
    """Send an IR through JSON text: what a reading remembers must survive being stored."""
    return json.loads(json.dumps(ir))
