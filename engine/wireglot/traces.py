"""What a conversion did with each value: where it comes from, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from .trail import within

Kind = Literal["carried", "changed", "moved", "lost", "repeated", "kept", "decided", "silent"]
Way = Literal[
    "read", "hole", "codec", "table", "ladder", "hook", "literal", "filled-in", "made",
    "default", "argument", "kept", "note",
]  # fmt: skip
OUTSIDE = "envelope:"  # before the pointers of what stands in the envelope


class Step(NamedTuple):
    """One step on the way of a value: what was done, with which word of the rules, and where."""

    way: Way
    what: str
    rule: str | None = None

    def __str__(self) -> str:
        return f"{self.way} {self.what}" + (f" ({self.rule})" if self.rule else "")


class Origin(NamedTuple):
    """Where a leaf of the output comes from.

    `sources` are pointers into the input; one to an object or list means all of it. There is none
    where the value comes from the rule alone or from an argument of the call: `steps` tell which.
    """

    sources: tuple[str, ...]
    rule: str | None
    steps: tuple[Step, ...]


class Fate(NamedTuple):
    """What became of a leaf of the input.

    | kind | means |
    |---|---|
    | `carried` | it stands in `targets` |
    | `changed`, `moved` | the same, and the note `code` says what is different |
    | `decided` | a word that says how to read what is around it; that stands in `targets` |
    | `lost` | the note `code` tells of it |
    | `kept` | it did not fit; the note `code` tells of it |
    | `silent` | it says nothing that the rest does not say: `code` says why |
    """

    kind: Kind
    targets: tuple[str, ...]
    code: str | None
    rule: str | None


class Trace:
    """Where each leaf of the output comes from, and what became of each leaf of the input.

    Leaves are texts, numbers, booleans, nulls and empty objects and lists, named by RFC 6901
    pointers; what stands in the envelope has `envelope:` before its pointer.

    Attributes:
        origins: For each leaf of the output, by pointer, what it comes from.
        fates: For each leaf of the input, by pointer, what became of it.
    """

    __slots__ = ("fates", "origins")

    def __init__(self, origins: Mapping[str, Origin], fates: Mapping[str, Fate]) -> None:
        self.origins: dict[str, Origin] = dict(origins)
        self.fates: dict[str, Fate] = dict(fates)

    def of_target(self, pointer: str) -> dict[str, Origin]:
        """Return the origins of a leaf of the output, or of all leaves below a pointer."""
        return {one: self.origins[one] for one in _below(self.origins, pointer)}

    def of_source(self, pointer: str) -> dict[str, Fate]:
        """Return the fates of a leaf of the input, or of all leaves below a pointer."""
        return {one: self.fates[one] for one in _below(self.fates, pointer)}

    def as_json(self) -> dict[str, Any]:
        """Return the trace as plain JSON."""
        origins = {
            at: {**o._asdict(), "sources": [*o.sources], "steps": [s._asdict() for s in o.steps]}
            for at, o in self.origins.items()
        }
        fates = {at: {**o._asdict(), "targets": list(o.targets)} for at, o in self.fates.items()}
        return {"origins": origins, "fates": fates}


def _below(pointers: Iterable[str], top: str) -> list[str]:
    return [one for one in pointers if within(top, one)]
