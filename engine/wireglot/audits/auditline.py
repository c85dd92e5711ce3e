"""A line of an audit: what becomes of one field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..notes import Severity

Effect = Literal[
    "refused", "lost", "changed", "moved", "added", "kept", "repeated", "carried", "decided",
    "silent",
]  # fmt: skip
EFFECTS: tuple[Effect, ...] = get_args(Effect)  # the gravest first


@dataclass(frozen=True, slots=True)
class Line:
    """What becomes of one field, or what is filled in.

    `source` is a wire path such as `messages[].content`, where `[]` is any element and `(other)` a
    key that no picture names; None where nothing of the source is meant.
    `targets` are the paths where it goes. `code` is that of the note; where there is no note and
    the effect is `silent`, it says why. `reasons` are the sentences of the notes, `rules` the
    places that decide it, and `source_rule` pictures the field. `models` are those for which alone
    the line holds, if not for all. `example` is what shows it: `body`, `model` and `stream`.
    """

    effect: Effect
    code: str | None
    severity: Severity | None
    source: str | None
    targets: tuple[str, ...]
    reasons: tuple[str, ...]
    source_rule: str | None
    rules: tuple[str, ...]
    models: tuple[str, ...] = ()
    example: Any = None

    def as_json(self) -> dict[str, Any]:
        """Return the line as plain JSON, the example only where there is one."""
        made = {name: getattr(self, name) for name in self.__slots__}
        made = {k: list(v) if isinstance(v, tuple) else v for k, v in made.items()}
        if made["example"] is None:
            del made["example"]
        return made
