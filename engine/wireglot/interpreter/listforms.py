"""Lists as they are written once they are shared out: as they are, their one element, one text."""

from __future__ import annotations

import itertools
from typing import Any

from ..ir import FULL, PARAGRAPH
from ..language.intext import Listing
from ..language.lenses import Misfit, same, stringify
from ..language.picture import ABSENT, Hole
from ..notes import NOWHERE
from ..trail import At, pointer
from . import readhole, share
from .jobs import WriteJob
from .views import View, Written, list_memory, means

RETURNED = ("value", "result.value")  # where the list is what a tool returned
FORMS = ("single", "bare", "blocks", "joined")  # lenses by which it is no list


def write_list(writer: WriteJob, h: Hole, value: Any, view: View, rel: At, into: Any) -> Any:
    """Write a list hole: its share of the list, then the form of the list."""
    if not isinstance(value, list):
        raise Misfit(f"`{h.path}` is no list", rel, h.pos)
    if "home" in h.lenses and not writer.same:
        raise Misfit(f"`{h.path}` is no home", rel, h.pos)
    if h.path not in view.lists:
        holes = view.case.lists.get(h.path, [h])  # that of a stream's events has no lists
        inside = view.obj.get("type") in FULL
        view.lists[h.path] = share.share(writer, holes if h in holes else [h], value, inside)
    pairs = view.lists[h.path].get(id(h), [])
    wires = [wire for _, wire in pairs]
    if writer.recorder is not None:
        for i, (part, wire) in enumerate(pairs):
            if not isinstance(wire, dict | list):
                writer.recorder.element(wires, i, part, Written(h, view, rel))
    entry = view.memory.get(pointer(rel), {})
    lens = next((lens for lens in h.lenses if lens in FORMS), "")
    found = form_list(writer, lens, h, pairs, wires, value, entry, into)
    form = None if lens or found is ABSENT else writer.dialect.in_text(h)
    if form is None:
        return found
    if form == "json":
        return as_json(h, wires, entry.get("text"))
    return as_text(writer, h, writer.dialect.lists[form], pairs, entry.get("text"), into)


def form_list(
    writer: WriteJob,
    lens: str,
    h: Hole,
    pairs: list[Any],
    wires: list[Any],
    value: Any,
    entry: Any,
    into: Any,
) -> Any:
    """Return what a list becomes by its lens: its one element, one text, or the list as it is."""
    if lens == "single":
        if not pairs:
            raise Misfit(f"`{h.path}` is empty", (), h.pos)
        for part, _ in pairs[1:]:
            writer.note_lost("no-place", part, "the target holds one of these", h.pos)
        return pairs[0][1]
    if lens:
        if not pairs:
            return ("" if lens != "blocks" else []) if h.mark is None else ABSENT
        return join_texts(writer, lens, h, pairs, wires, entry, into)
    if not pairs and h.mark is not None and (value or h.mark != "default"):
        return ABSENT
    if not pairs and "filled" in h.lenses:
        raise Misfit(f"nothing of `{h.path}` has a place", (), h.pos)
    return wires


def as_text(
    writer: WriteJob, h: Hole, form: Listing, pairs: list[Any], came: Any, into: Any
) -> str:
    """Write a list of texts as one, with what stands between them."""
    wires = [wire for _, wire in pairs]
    if isinstance(came, str) and same(form.elements(came), wires):
        return came
    for part, wire in pairs:
        if isinstance(wire, str) and form.has_several(wire):
            reason = "it says what stands between two of a list, and reads as two"
            at = writer.trail.find(part)
            writer.note("ambiguous", "changed", at, h.pos, reason, *(into or NOWHERE))
    return form.text(wires)


def as_json(h: Hole, wires: list[Any], came: Any) -> str:
    """Write a list as JSON text: the text as it came while it still means the same."""
    for whole in (wires, wires[0]) if "listed" in h.lenses and len(wires) == 1 else (wires,):
        if isinstance(came, str) and means(came, whole):
            return came
    return stringify(wires)


def join_texts(
    writer: WriteJob, lens: str, h: Hole, pairs: list[Any], wires: list[Any], entry: Any, into: Any
) -> Any:
    """Write text blocks as one text: `plain_text` if it is one plain text, `joined` always."""
    listed = not entry.get("bare") if lens == "blocks" else entry.get("list")
    if listed or (lens != "joined" and len(pairs) > 1):
        return wires
    plain = [plain_text(writer, h, part, wire) for part, wire in pairs]
    if None in plain:
        if writer.same or lens != "joined":  # a list is read there, too
            return wires
        raise Misfit("only plain texts can be joined", (), h.pos)
    if len(plain) > 1:
        at = writer.trail.find(pairs[1][0])
        reason = f"{len(plain)} texts become one"
        writer.note("joined", "changed", at, h.pos, reason, *(into or NOWHERE))
    forget_added(writer, pairs)
    for part, wire in pairs if into is not None else ():
        if isinstance(wire, str):
            writer.place_text_notes(part, into)
        else:
            writer.relocated[id(wire)] = (wire, *into)
        writer.place_part_note(part, "text", into)
    # As where it goes down the ladder; only what the model says runs on from part to part.
    told = h.path == "system" or writer.role == "user" or writer.role == "system"
    lines = h.path in RETURNED or (told and not writer.same)
    if writer.role is None and not writer.same and all(p["type"] == "reasoning" for p, _ in pairs):
        # Somebody reads them; in a history they are as they were said. One may be hidden.
        return PARAGRAPH.join(str(text) for text in plain if text)
    if lines:
        return "\n".join(str(text) for text in plain)
    became = [id(part) in writer.became for part, _ in pairs]  # as a refusal, which says no more
    apart = [PARAGRAPH if one or other else "" for one, other in itertools.pairwise(became)]
    return "".join(f"{between}{text}" for between, text in zip(("", *apart), plain, strict=True))


def repeat_text(writer: WriteJob, h: Hole, view: View) -> str:
    """Return what holes before this one say of the list, once more, and what it says itself."""
    holes, shares = view.case.lists.get(h.path, [h]), view.lists.get(h.path, {})
    said = [shares.get(id(hole), []) for hole in holes[: holes.index(h) + 1]]
    kinds = writer.dialect.kinds_of(h.named)
    return readhole.text_of([part for one in said for part, _ in one], kinds)


def key_of_parts(writer: WriteJob, value: Any, names: tuple[str, ...]) -> str:
    """Return the key under which the parts of a hole were read, whatever message holds them now."""
    for part in value if isinstance(value, list) else ():
        if isinstance(part, dict) and "spelled" in part:
            key = list_memory(part, writer.dialect.name).get("key")
            if key in names:
                return str(key)
    return names[0]


def forget_added(writer: WriteJob, pairs: list[Any]) -> None:
    """Forget what was filled into elements that are written as their text alone."""
    gone = {id(wire) for _, wire in pairs if isinstance(wire, dict)}
    since = writer.message_mark
    writer.notes[since:] = [
        d
        for d in writer.notes[since:]
        if d.effect != "added" or d.source or id(d.owner) not in gone
    ]


def plain_text(writer: WriteJob, h: Hole, part: Any, wire: Any) -> str | None:
    """Return the text of a block that needs nothing but its text."""
    if not isinstance(part, dict) or not isinstance(part.get("text"), str):
        return None
    if part.get("type") != writer.dialect.plain_kind(h.named):
        return None
    try:
        alone = writer.afresh(writer.same).shape(
            h.named, {"type": part.get("type", "text"), "text": part["text"]}
        )
    except Misfit:
        return None
    return part["text"] if wire == alone else None
