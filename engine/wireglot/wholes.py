"""Wholes: what a stream says once more when it is over, of a part, an item, or the response.

A whole counts more than the pieces before it: what they lack flows after them, and a whole that
says another thing is noted, for what flowed before cannot be taken back.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from . import units
from .incoming import Candidate, Item, Part, merged, text_of
from .lenses import Misfit, same
from .reader import Reader
from .sighting import Sight
from .trail import Trail
from .writer import Writer

if TYPE_CHECKING:
    from .fold import Fold

_MEMORY = ("spelled", "kept")


def entered(fold: Fold, part: Part) -> None:
    """Put a part that begins into its item; the first one has what is said of the item."""
    place = dict(part.address).get("item")
    if place is None:
        return
    owner = fold.outcome.candidates[part.candidate]
    item = owner.items.setdefault(place, Item())
    if not item.parts:
        merged(part.said, item.said)
    item.parts.append(part)


def checked(fold: Fold, owner: Candidate, sight: Sight) -> None:
    """Note a frame that says something of its item that is not so."""
    said = [(path[5:], value) for path, value in sight.found.items() if path[:5] == "item."]
    item = owner.items.get(sight.at.get("item", -1)) if said else None
    first = (item.parts[0].said if item.parts else item.said) if item else {}
    for path, value in said if item else ():
        held: Any = first
        for key in fold.outcome.keys_of(path):
            held = held.get(key) if isinstance(held, dict) else None
        if held is not None and not same(held, value):
            _odd(fold, f"`{path}` is of another item than the frame", path)


def part(fold: Fold, part: Part, sight: Sight) -> None:
    """Hear the end of a part, with what it is as a whole."""
    merged(part.said, fold.fields(sight), over=True)
    whole = sight.found.get("whole")
    if isinstance(whole, str):
        _rest(fold, part, whole)
    for hole, wire, at in sight.taken:
        if hole.path == "part" and hole.shape is not None:
            found = fold.elements(hole.shape, wire, at)
            if len(found) == 1 and found[0].get("type") == part.kind:
                _settled(fold, part, found[0])


def item(fold: Fold, owner: Candidate, sight: Sight) -> None:
    """Hear the end of an item: its parts are over, and some may not have been told of before."""
    place = sight.at.get("item")
    item = owner.items.setdefault(place, Item()) if place is not None else Item()
    for hole, wire, at in sight.taken:
        if hole.path != "parts" or hole.shape is None:
            continue
        found = fold.elements(hole.shape, wire, at)
        _all(fold, owner, item.parts, found, (("item", place),))
        if len(item.parts) == len(found):
            for part, ir in zip(item.parts, found, strict=True):
                part.closing = ir
    for one in item.parts:
        if one.open:
            fold.shut(one)


def response(fold: Fold, ir: dict[str, Any]) -> None:
    """Hear the whole response: what was not told before is told now."""
    short = False
    for nth, one in enumerate(ir.get("candidates", ())):
        owner = fold.outcome.of(nth)
        gone = owner.total - len(owner.parts)  # of which nothing is kept
        found = one.get("parts", [])
        if len(found) >= owner.total:
            _all(fold, owner, owner.parts, found[gone:], ())
        elif fold.keep:
            one["parts"], short = [part.ir() for part in owner.parts], True
    if short:
        _anew(fold, ir)
    for key in ("id", "model", "created"):
        was, now = fold.outcome.response.get(key), ir.get(key)
        if was is not None and now is not None and not same(was, now):
            _odd(fold, f"`{key}` is another one at the end of the stream", key)
    fold.outcome.response = {k: v for k, v in ir.items() if k not in ("candidates", "usage")}


def _anew(fold: Fold, ir: dict[str, Any]) -> None:
    """Read a response once more that held fewer parts than came: they may tell why it stopped."""
    shape = fold.dialect.units["response"]
    with contextlib.suppress(Misfit):
        wire = units.stepped(Writer(fold.dialect, True, Trail(), {}), shape, ir)
        read: dict[str, Any] = units.whole(Reader(fold.dialect, {}), shape, wire)
        for one, again in zip(ir["candidates"], read["candidates"], strict=True):
            one.update({k: v for k, v in again.items() if k not in ("parts", "spelled", "kept")})


def text(fold: Fold, owner: Candidate, whole: str) -> None:
    """Hear the last text once more; another one than that is a text of its own."""
    if owner.last is None or text_of(owner.last.ir()) != whole:
        part = fold.new("text", "", owner, ())
        part.said, part.whole = {"type": "text", "text": whole}, True
        fold.open(part)
        fold.shut(part)


def _all(
    fold: Fold, owner: Candidate, known: list[Part], found: list[Any], address: tuple[Any, ...]
) -> None:
    """Compare parts with those that were told, and tell of the others."""
    for part, ir in zip(known, found, strict=False):
        if part.kind == ir.get("type"):
            _settled(fold, part, ir)
        else:
            _odd(fold, f"a {part.kind} was told, and is a {ir.get('type')} at the end", part.kind)
    for ir in found[len(known) :]:
        new = fold.new(str(ir.get("type")), "", owner, address)
        new.said, new.whole = ir, True
        fold.open(new)
        fold.shut(new)


def _settled(fold: Fold, part: Part, ir: dict[str, Any]) -> None:
    """Take what a part is as a whole."""
    if part.whole:
        part.said = ir  # what came at first was not the end of it
        return
    text = text_of(ir)
    if text is not None:
        _rest(fold, part, text)
    flows = {"type", part.field, f"{part.field}_json", f"{part.field}_text", *_MEMORY}
    if part.field == "arguments":
        flows.add("arguments_text")
    merged(part.said, {k: v for k, v in ir.items() if k not in flows}, over=True)


def _rest(fold: Fold, part: Part, whole: str) -> None:
    """Let flow what the pieces lack of a whole text."""
    sofar = "".join(part.pieces)
    if whole == sofar or (part.scan is not None and not sofar.strip() and whole.strip() == "{}"):
        return
    if part.open and whole.startswith(sofar):
        fold.grow(part, whole[len(sofar) :])
    else:
        _odd(fold, f"a {part.kind} is at its end not what its pieces say", f"{id(part)}")


def _odd(fold: Fold, told: str, once: str) -> None:
    fold.say("inconsistent", "changed", (fold.frames - 1,), told, f"whole/{once}")
