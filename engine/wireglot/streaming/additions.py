"""Additions: what frames say of a part that began before: values, fields, elements of its lists."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from ..ir import IR, TOKENS
from ..language.events import Word
from . import wholes
from .hearing import Hearing
from .incoming import Candidate, Part, concatenated, path_steps, set_at
from .recognising import EventMatch


def _addressed_part(fold: Hearing, word: Word, match: EventMatch, owner: Candidate) -> Part | None:
    """Return the part at the address of a frame, or the last one of its kind."""
    address = fold.address(match)
    part = owner.by_address.get(address) if address else None
    if part is not None:
        wholes.check_kind(fold, part, word, match)
        return part
    flow, begun = _append_word(fold, word), not address and word.kind in owner.kinds
    fresh = address not in owner.forgotten if address else word.act == "set" and not begun
    if flow is not None and fresh:
        part = fold.new_part(word.kind, flow.field, owner, address)
        fold.open_part(part)
        return part
    part = next((p for p in reversed(owner.parts) if p.kind == word.kind), None)
    if word.act != "put" and not begun and address not in owner.forgotten:
        fold.note_inconsistent(f"this is said of a {word.kind} that did not begin")
    return part


def _append_word(fold: Hearing, word: Word) -> Word | None:
    """Return how a part flows that no head begins: with what is added or set it may begin, too."""
    of_it = [one for one in fold.stream.of if one.kind == word.kind]
    if word.act == "put" or any(one.act == "part_start" for one in of_it):
        return None
    return next((one for one in of_it if one.act == "append"), None)


def set_fields(fold: Hearing, word: Word, match: EventMatch, owner: Candidate) -> None:
    """Take fields of a part that come later."""
    said = fold.part_fields(match)
    part = _addressed_part(fold, word, match, owner)
    if part is None:
        return
    if part.kind == "reasoning" and part.signed_late and not fold.address(match):
        if wholes.contradicts(part.fields, said):  # another thought, of a signature alone
            part = fold.new_part(part.kind, part.field, owner, ())
            fold.open_part(part)
    was, now = _base64_of(part.fields), _base64_of(said)
    if was and now:  # bytes go on behind those before, and are no contradiction of them
        data = {"data": _joined_base64(was, now)}
        for fields in (part.fields, said):
            fields["source"] = fields["source"] | data
    wholes.overlay_fields(fold, part, said)
    part.signed_late = part.signed_late or bool(said.get("signature"))


def _base64_of(part: IR) -> str | None:
    """Return the bytes of a medium that stand here."""
    source = part.get("source", {})
    return source.get("data") if source.get("type") == "base64" else None


def _joined_base64(old: str, new: str) -> str:
    """Return base64 of all bytes; each piece may be filled up to fours."""
    if not old.endswith("="):
        return old + new
    try:
        return b64encode(b64decode(old) + b64decode(new)).decode()
    except ValueError:  # whoever reads it is told that it is no base64
        return old + new


def put_value(fold: Hearing, word: Word, match: EventMatch, owner: Candidate) -> None:
    """Take a value of an object that comes value by value."""
    part = _addressed_part(fold, word, match, owner)
    path, value = str(match.values["path"]), match.values.get("piece")
    steps = path_steps(path)
    if part is not None and part.open and steps is not None:
        part.tree = set_at(part.tree, steps, value)
    else:
        message = f"nothing is at the place `{path[:40]}`"
        fold.note("unfit", "lost", (fold.frames - 1,), message, path)


def elements_of(fold: Hearing, match: EventMatch) -> list[Any]:
    """Return what is added: as it stands, or elements that a shape reads."""
    if "piece" in match.values:
        return [match.values["piece"]]
    found: list[Any] = []
    for hole, wire, at in match.shaped:
        if hole.path == "piece" and hole.shape is not None:
            many = hole.mode == "each" and isinstance(wire, list)
            for place, one in [((*at, n), w) for n, w in enumerate(wire)] if many else [(at, wire)]:
                found += fold.read_elements(hole.shape, one, place)[0]
    return found


def add_elements(fold: Hearing, word: Word, match: EventMatch, owner: Candidate) -> None:
    """Take elements of a list of a part."""
    if word.field == TOKENS and not (word.kind in owner.kinds or fold.address(match)):
        more = elements_of(fold, match)  # of a text that is still to begin
        owner.flows[TOKENS] = concatenated(owner.flows.get(TOKENS), more)
        return
    part = _addressed_part(fold, word, match, owner)
    if part is None:
        return
    count = part.extend(fold.outcome.keys_of(word.field), elements_of(fold, match))
    if match.address.get("entry", count - 1) != count - 1:
        message = f"this is the element {count - 1} of its list, and says another number"
        fold.note_inconsistent(message, "entry", match.address_at["entry"])
