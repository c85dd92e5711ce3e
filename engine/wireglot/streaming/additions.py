"""Additions: what frames say of a part that began before: values, fields, elements of its lists."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from ..ir import TOKENS
from ..language.events import Word
from . import wholes
from .hearing import Hearing
from .incoming import Candidate, Part, joined
from .recognising import Sight


def _meant(fold: Hearing, word: Word, sight: Sight, owner: Candidate) -> Part | None:
    """Return the part at the address of a frame, or the last one of its kind."""
    address = fold.address(sight)
    part = owner.places.get(address) if address else None
    if part is not None:
        wholes.told(fold, part, word, sight)
        return part
    flow, begun = _flowing(fold, word), not address and word.kind in owner.kinds
    fresh = address not in owner.gone if address else word.act == "set" and not begun
    if flow is not None and fresh:
        part = fold.new(word.kind, flow.field, owner, address)
        fold.open(part)
        return part
    part = next((p for p in reversed(owner.parts) if p.kind == word.kind), None)
    if word.act != "put" and not begun and address not in owner.gone:
        fold.odd(f"this is said of a {word.kind} that did not begin")
    return part


def _flowing(fold: Hearing, word: Word) -> Word | None:
    """Return how a part flows that no head begins: with what is added or set it may begin, too."""
    of_it = [one for one in fold.stream.of if one.kind == word.kind]
    if word.act == "put" or any(one.act == "part_start" for one in of_it):
        return None
    return next((one for one in of_it if one.act == "append"), None)


def laid(fold: Hearing, word: Word, sight: Sight, owner: Candidate) -> None:
    """Take fields of a part that come later."""
    said = fold.fields(sight)
    part = _meant(fold, word, sight, owner)
    if part is not None and part.kind == "reasoning" and part.sealed and not fold.address(sight):
        if wholes.clash(part.said, said):  # another thought, of a signature alone
            part = fold.new(part.kind, part.field, owner, ())
            fold.open(part)
    if part is not None:
        was, now = _data(part.said), _data(said)
        if was and now:  # bytes go on behind those before
            data = {"data": _joined(was, now)}
            part.said["source"], said["source"] = part.said["source"] | data, said["source"] | data
        wholes.over(fold, part, said)
        part.sealed = part.sealed or bool(said.get("signature"))


def _data(part: dict[str, Any]) -> str | None:
    """Return the bytes of a medium that stand here."""
    source = part.get("source", {})
    return source.get("data") if source.get("type") == "base64" else None


def _joined(old: str, new: str) -> str:
    """Return base64 of all bytes; each piece may be filled up to fours."""
    if not old.endswith("="):
        return old + new
    try:
        return b64encode(b64decode(old) + b64decode(new)).decode()
    except ValueError:  # whoever reads it is told that it is no base64
        return old + new


def put(fold: Hearing, word: Word, sight: Sight, owner: Candidate) -> None:
    """Take a value of an object that comes value by value."""
    part = _meant(fold, word, sight, owner)
    path, value = str(sight.found["path"]), sight.found.get("piece")
    if part is None or not part.open or not part.put(path, value):
        told = f"nothing is at the place `{path[:40]}`"
        fold.say("unfit", "lost", (fold.frames - 1,), told, path)


def pieces(fold: Hearing, sight: Sight) -> list[Any]:
    """Return what is added: as it stands, or elements that a shape reads."""
    if "piece" in sight.found:
        return [sight.found["piece"]]
    found: list[Any] = []
    for hole, wire, at in sight.taken:
        if hole.path == "piece" and hole.shape is not None:
            many = hole.mode == "each" and isinstance(wire, list)
            for place, one in [((*at, n), w) for n, w in enumerate(wire)] if many else [(at, wire)]:
                found += fold.elements(hole.shape, one, place)[0]
    return found


def added(fold: Hearing, word: Word, sight: Sight, owner: Candidate) -> None:
    """Take elements of a list of a part."""
    if word.field == TOKENS and not (word.kind in owner.kinds or fold.address(sight)):
        owner.flows[TOKENS] = joined(owner.flows.get(TOKENS), pieces(fold, sight))  # of no text yet
        return
    part = _meant(fold, word, sight, owner)
    if part is None:
        return
    count = part.add(fold.outcome.keys_of(word.field), pieces(fold, sight))
    if sight.at.get("entry", count - 1) != count - 1:
        told = f"this is the element {count - 1} of its list, and says another number"
        fold.odd(told, "entry", sight.ats["entry"])
