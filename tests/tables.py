"""The YAML of tests: tables of cases, and rule files that are looked at as plain data."""

from __future__ import annotations

from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str) -> Any:
    """Return the value of a YAML text, read by the parser in C where that is there."""
    return yaml.load(text, Loader=_LOADER)
