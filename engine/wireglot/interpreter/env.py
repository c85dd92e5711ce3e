"""What a picture found while it was read, and how values are shown in messages."""

from __future__ import annotations

from typing import Any

from ..language.lenses import same, stringify
from ..language.picture import ABSENT, Fields, Hole, Literal, Text
from ..language.shape import Case
from ..patterns import later
from ..trail import At, pointer

Memory = dict[str, Any] | None  # of spelling, or of kept keys; None while there is none


class Env:
    """What a picture found: IR fields, keys that nobody named, and memory of spelling."""

    def __init__(self, base: At, case: Case, lenient: bool) -> None:
        self.base, self.case, self.lenient = base, case, lenient
        self.fields: dict[str, tuple[Any, At | None]] = {}
        self.kept: dict[str, Any] = {}
        self.spelled: dict[str, Any] = {}
        self.notes: list[tuple[str, str, At, Any, str]] = []
        self.later: list[tuple[Hole, Any, At, At, bool]] = []
        self.copies: list[tuple[Hole, Any, At, At]] = []
        self.sums: list[tuple[Hole, Any, At, At]] = []
        self.settled: set[str] = set()  # terms of sums that an earlier sum has settled

    def put(self, path: str, value: Any, at: At | None) -> None:
        """Bind a field; several list holes of one path add up."""
        before = self.fields.get(path)
        if before is not None and isinstance(value, list) and isinstance(before[0], list):
            self.fields[path] = (before[0] + value, at if before[1] is None else before[1])
        else:
            self.fields[path] = (value, at)

    def spell(self, rel: At, was: Any, written: Any) -> None:
        """Remember that `was` stood where writing would put `written`."""
        spell(self.spelled, pointer(rel), was, written)

    def mark(self, rel: At, word: str, value: Any = True) -> None:
        """Remember a word about a place."""
        self.spelled.setdefault(pointer(rel), {})[word] = value

    def keep(self, at: At, value: Any) -> None:
        """Keep what stands at a place of the payload, for this dialect only."""
        self.kept[pointer(at[len(self.base) :])] = value

    def join(self, inner: Env) -> None:
        """Take over what an inner picture of the same object found."""
        self.kept.update(inner.kept)
        for key, entry in inner.spelled.items():
            self.spelled.setdefault(key, {}).update(entry)
        self.notes.extend(inner.notes)


def spell(sp: Memory, key: str, was: Any, written: Any) -> dict[str, Any]:
    """Remember that `was` stood where writing would put `written`."""
    sp = {} if sp is None else sp
    entry = sp.setdefault(key, {})
    if was is not ABSENT:
        entry["as"] = was
    if written is not ABSENT:
        entry["for"] = written
    return sp


def literal_index(values: tuple[Any, ...], w: Any) -> int | None:
    """Return which value of a literal stands there; for one that is absent null may, too."""
    for i, value in enumerate(values):
        if same(value, w) or (value is ABSENT and w is None):
            return i
    return None


def spell_nothing(sp: Memory, key: str, w: Any, written: Any) -> Memory:
    """Remember nothing or null, where writing would put something else."""
    if w is written or (w is not ABSENT and same(w, written)):
        return sp
    return spell(sp, key, w, written)


def empty_of(p: Fields) -> Any:
    """Return what writing puts for an object with nothing in it."""
    out: dict[str, Any] = {}
    forced = False
    for (name, *_), child in p.entries:
        if isinstance(child, Hole) and child.mark in ("default", "fill"):
            out[name], forced = child.value, True
        elif isinstance(child, Literal) and child.values[0] is not ABSENT:
            out[name] = child.values[0]
        elif isinstance(child, Fields) and (inner := empty_of(child)) is not ABSENT:
            out[name], forced = inner, True
    return out if forced else ABSENT


def show_text(p: Text) -> str:
    """Show a text picture in a message."""
    text = p.fixed[0] + "".join(f"<{n}>{f}" for n, f in zip(p.names, p.fixed[1:], strict=True))
    return f"`{text}`"


_SCALAR = later(r"-?\d+(\.\d+)?|true|false|null")  # what a text is not to be taken for


def show(value: Any) -> str:
    """Show a wire value in a message."""
    if value is ABSENT:
        return "nothing"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        said = f"`{value[:40]}{'...' if len(value) > 40 else ''}`"
        return f"the text {said}" if _SCALAR.fullmatch(value) else said
    return (
        stringify(value) if isinstance(value, int | float | bool | None) else type(value).__name__
    )
