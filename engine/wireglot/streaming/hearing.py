"""What the pieces of a fold (`wholes` and the like) ask of it."""

from __future__ import annotations

from typing import Any, Protocol

from ..language.events import Stream
from ..language.model import Dialect
from ..trail import At, Trail
from .incoming import Candidate, Part
from .outcome import Outcome
from .sighting import Sight


class Hearing(Protocol):
    """The stream of one dialect as far as it was heard; `fold.Fold` is one."""

    dialect: Dialect
    stream: Stream
    outcome: Outcome
    keep: bool
    frames: int
    frame: Any

    @property
    def cut(self) -> bool: ...
    def say(self, code: str, effect: str, at: At, told: str, once: str = "") -> None: ...
    def over(self, said: dict[str, Any], new: dict[str, Any]) -> None: ...
    def address(self, sight: Sight) -> tuple[Any, ...]: ...
    def fields(self, sight: Sight) -> dict[str, Any]: ...
    def elements(self, shape: str, wire: Any, place: At) -> tuple[list[Any], Trail]: ...
    def new(self, kind: str, field: str, owner: Candidate, address: tuple[Any, ...]) -> Part: ...
    def open(self, part: Part) -> None: ...
    def grow(self, part: Part, piece: str) -> None: ...
    def shut(self, part: Part) -> None: ...
