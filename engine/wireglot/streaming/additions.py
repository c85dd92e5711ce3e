"""Additions: what frames say of a part that began before: values, fields, elements of its lists."""

from __future__ import annotations

from collections.abc import Callable

from ..language.events import Word
from . import wholes
from .hearing import Hearing
from .incoming import Candidate, Part
from .sighting import Sight

Addition = Callable[[Hearing, Word, Sight, Candidate], None]


def _meant(fold: Hearing, word: Word, sight: Sight, owner: Candidate) -> Part | None:
    """Return the part at the address of a frame, or the last one of its kind."""
    address = fold.address(sight)
    part = owner.places.get(address) if address else None
    if part is not None:
        wholes.told(fold, part, word, sight)
        return part
    part = next((p for p in reversed(owner.parts) if p.kind == word.kind), None)
    begun = not address and word.kind in owner.kinds
    if word.act != "put" and not begun and address not in owner.gone:
        told = f"this is said of a {word.kind} that did not begin"
        fold.say("inconsistent", "changed", (fold.frames - 1,), told, told)
    return part


def _set(fold: Hearing, word: Word, sight: Sight, owner: Candidate) -> None:
    said = fold.fields(sight)
    part = _meant(fold, word, sight, owner)
    if part is not None:
        fold.over(part.said, said)


def _put(fold: Hearing, word: Word, sight: Sight, owner: Candidate) -> None:
    """Take a value of an object that comes value by value."""
    part = _meant(fold, word, sight, owner)
    path, value = str(sight.found["path"]), sight.found.get("piece")
    if part is None or not part.open or not part.put(path, value):
        told = f"nothing is at the place `{path[:40]}`"
        fold.say("unfit", "lost", (fold.frames - 1,), told, path)


def _add(fold: Hearing, word: Word, sight: Sight, owner: Candidate) -> None:
    part = _meant(fold, word, sight, owner)
    if part is None:
        return
    count = part.add(fold.outcome.keys_of(word.field), [sight.found.get("piece")])
    if sight.at.get("entry", count - 1) != count - 1:
        told = f"this is the element {count - 1} of its list, and says another number"
        fold.say("inconsistent", "changed", (fold.frames - 1, *sight.ats["entry"]), told, "entry")


ACTS: dict[str, Addition] = {"set": _set, "put": _put, "add": _add}
