"""What the rooms below the calls know of loaded rules: a dialect, and a set of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from .ladder import Ladder
from .model import Dialect
from .variants import Row


class Held(Protocol):
    """A dialect of a set; `dialects.DialectRules` is one."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> Dialect: ...
    @property
    def ladder(self) -> Ladder: ...
    def model_in(self, body: Any, unit: str) -> str | None: ...


class HeldSet(Protocol):
    """A set of dialects; `rulesets.RuleSet` is one."""

    @property
    def hash(self) -> str: ...
    @property
    def dialects(self) -> tuple[str, ...]: ...
    def __getitem__(self, name: str) -> Held: ...
    def at(self, name: str, model: str | None, options: Mapping[str, Any]) -> Held: ...
    def rows(self, name: str) -> tuple[Row, ...]: ...
