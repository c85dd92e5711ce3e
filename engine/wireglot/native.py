"""What mypyc is told of a class, where the engine is compiled (`setup.py`); Python does not ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr
else:

    def mypyc_attr(**said: Any) -> Callable[[T], T]:
        """Leave a class as it is."""
        return lambda made: made
