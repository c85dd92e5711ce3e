"""Additions: what frames say of a part that began before: values, fields, elements of its lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .events import Word
from .incoming import Candidate, Part
from .sighting import Sight

if TYPE_CHECKING:
    from .fold import Fold

Addition = Callable[["Fold", Word, Sight, Candidate], None]


def _meant(fold: Fold, word: Word, sight: Sight, owner: Candidate) -> Part | None:
    """Return the part at the address of a frame, or the last one of its kind."""
    address = fold.address(sight)
    part = owner.places.get(address) if address else None
    if part is None:
        part = next((p for p in reversed(owner.parts) if p.kind == word.kind), None)
    return part


def _set(fold: Fold, word: Word, sight: Sight, owner: Candidate) -> None:
    said = fold.fields(sight)
    part = _meant(fold, word, sight, owner)
    if part is not None:
        fold.over(part.said, said)


def _put(fold: Fold, word: Word, sight: Sight, owner: Candidate) -> None:
    """Take a value of an object that comes value by value."""
    part = _meant(fold, word, sight, owner)
    path, value = str(sight.found["path"]), sight.found.get("piece")
    if part is None or not part.open or not part.put(path, value):
        told = f"nothing is at the place `{path[:40]}`"
        fold.say("unfit", "lost", (fold.frames - 1,), told, path)


def _add(fold: Fold, word: Word, sight: Sight, owner: Candidate) -> None:
    part = _meant(fold, word, sight, owner)
    if part is not None:
        part.add(fold.outcome.keys_of(word.field), [sight.found.get("piece")])


ACTS: dict[str, Addition] = {"set": _set, "put": _put, "add": _add}
