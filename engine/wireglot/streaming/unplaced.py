"""Frames that do not say which item they are of: some servers leave the numbers out, or err.

An id tells it, or else the item that began last is meant; what begins is the next one. Within an
item the part that began last goes on.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..language.model import Dialect, once
from ..trail import value_at
from .hearing import Address, Hearing
from .incoming import Candidate, Item, Part
from .recognising import EventMatch

_ONE = frozenset({"text", "reasoning"})  # kinds of which no two grow at a time


def number_event(fold: Hearing, match: EventMatch, owner: Candidate) -> None:
    """Give an event the numbers of its item, and of its part in it, that its frame does not say."""
    wanted, at = match.event.addresses, match.address
    if "item" in wanted:
        if "item" not in at:
            at["item"] = _item_number(fold, match, owner)
        elif _starts_item(match):  # what comes of it may have no number
            owner.items_by_id.update(dict.fromkeys(_item_ids(fold, match, True), at["item"]))
    if "inner" in wanted and "inner" not in at:
        item = owner.items.get(at["item"])
        there = [dict(part.address).get("inner", 0) for part in item.parts] if item else []
        at["inner"] = max(0, max(there, default=-1) + ("part_start" in match.event.acts))


def _item_number(fold: Hearing, match: EventMatch, owner: Candidate) -> int:
    """Return the number of the item that a frame is of, and remember it by the ids of the item."""
    last = max(owner.items, default=-1)
    begins, ends = _starts_item(match), "item_stop" in match.event.acts
    ids = set(_item_ids(fold, match, begins or ends))
    known = [owner.items_by_id[one] for one in ids if one in owner.items_by_id]
    if known:
        return known[0]
    # One that was not heard of and is over is told of by its end alone.
    ended = last >= 0 and (owner.items[last].ended or last in owner.items_by_id.values())
    if begins or last < 0 or (ends and ended):
        last += 1
        owner.items.setdefault(last, Item(fold.frames - 1))
        # The end of one may come last of all, and what comes now would wait for it.
        for part in [one for one in owner.parts if one.open and one.kind in _ONE]:
            fold.close_part(part)
    elif not ends and not ids and (owner.items[last].parts or owner.items[last].ended):
        kinds = {word.kind for word in match.event.words}
        alike = (n for n, item in owner.items.items() if any(p.kind in kinds for p in item.parts))
        last = max(alike, default=last)
    owner.items_by_id.update(dict.fromkeys(ids, last))
    return last


def _starts_item(match: EventMatch) -> bool:
    """Tell whether an item begins in an event."""
    acts, wanted = match.event.acts, match.event.addresses
    starts = "part_start" in acts and "inner" not in wanted
    return "item" in wanted and bool(acts & {"item_start", "part"} or starts)


def _item_ids(fold: Hearing, match: EventMatch, whole: bool) -> Iterator[str]:
    """Yield the ids of its item that a frame says; those of a `whole` one stand in what it is."""
    said = [fold.part_fields(match)] if whole else []
    for hole, wire, at in match.shaped if whole else ():
        if hole.path in ("part", "parts"):
            said += fold.read_elements(hole.named, wire, at)[0]
    for path in _id_paths(fold.dialect):
        found = [value_at(one, fold.outcome.keys_of(path)) for one in said]
        found.append(match.values.get(f"item.{path}"))
        yield from (one for one in found if isinstance(one, str) and one)


@once
def _id_paths(dialect: Dialect) -> list[str]:
    """Return the paths at which a stream may say an id of an item, the item's own one first."""
    holes = {hole for event in dialect.streamed.events for hole in event.holes}
    return ["id", *sorted(hole[5:] for hole in holes if hole.startswith("item."))]


def misnumbered_call(fold: Hearing, owner: Candidate, piece: str, address: Address) -> Part | None:
    """Return the call whose arguments go on under a number that nothing began."""
    part = next((p for p in reversed(owner.parts) if p.kind == "tool_call"), None)
    begins = piece.lstrip().startswith("{")
    if part is None or part.scan is None or part.complete or begins == bool(part.pieces):
        return None
    owner.by_address[address] = part
    message = "this is a piece of the call before, which has another number"
    fold.note_inconsistent(message, part.label)
    return part
