"""Brackets: the items that open and close around parts as these are written."""

from __future__ import annotations

from typing import Any

from ..interpreter import gathering
from ..ir import IR
from ..language import picture as pic
from ..language.events import Event
from ..language.model import Dialect
from ..language.picture import Hole
from ..language.shape import Shape, fixed_words
from .outgoing import Frames, Place, is_made


class Bracket:
    """An item that is open: the shape that gathers its parts, and those that are over."""

    def __init__(self, shape: Shape | None, place: Place, first: IR) -> None:
        self.shape, self.place, self.fields = shape, place, first
        self.count = 1
        self.parts: list[IR] = []


class Bracketing:
    """What is known of the items of a dialect before anything comes."""

    def __init__(self, dialect: Dialect) -> None:
        stream = dialect.streamed
        self.starts: dict[str, tuple[Shape, Event]] = {}
        for word, event in stream.of.items():
            if word.act == "item_start":
                shape = dialect.shapes[word.kind]
                self.starts.update({str(kind): (shape, event) for kind in shape.groups})
        self.wholes = {} if stream.plain else _ids_of_wholes(dialect, stream.get("part"))
        self.stop = stream.get("item_stop")
        self.whole = self.stop is not None and "parts" in self.stop.holes
        self.keeps_parts = any("finish" in e.acts and "response" in e.holes for e in stream.events)


class Brackets:
    """The items of a stream that is written, and what went out in them."""

    def __init__(self, frames: Frames) -> None:
        self._frames, dialect = frames, frames.writer.dialect
        self._known = dialect.once(Bracketing, lambda: Bracketing(dialect))
        self.whole = self._known.whole
        self._family = frames.family
        self._open: dict[int, Bracket] = {}
        self._count: dict[int, int] = {}
        self._written: dict[int, list[IR]] = {}
        self._riders: dict[int, dict[int, Any]] = {}  # what rides beside parts, by candidate

    def enter(self, place: Place, kind: str, said: IR, event: Event | None) -> IR:
        """Give a part its place, in the item that is open or in another; return what it says.

        `event` begins the part, or is None where it comes whole.
        """
        start = self._known.starts.get(kind) if event is not None else None
        last = self._open.get(place.candidate)
        if last is not None and start is not None and last.shape is start[0]:
            if not self._stands_apart(last.shape, said):
                place.item, place.inner = last.place.item, last.count
                last.count += 1
                return self._with_item(said, last.fields)
        self.close_item(place.candidate)
        place.item = self._count.get(place.candidate, 0)
        place.inner = 0
        self._count[place.candidate] = place.item + 1
        begins = start[1] if start else event
        wholes = self._known.wholes
        alone = wholes.get((kind, said.get("name")), wholes.get((kind, None), []))
        made = pic.holes(begins.writes[0]) if begins else alone
        first = self._frames.with_made_ids(said, made)
        self._open[place.candidate] = Bracket(start[0] if start else None, place, first)
        said = self._with_item(first, first)
        if start is not None:
            self._frames.write(start[1], said, place)
        return said

    def close_part(self, place: Place, ir: IR, rider: Any = None) -> None:
        """Take a part that is over; an item that gathers stays open for others.

        `rider` is a key, and what rides under it beside the part.
        """
        item = self._open.get(place.candidate)
        if item is None:
            return
        if not item.parts and self._family in item.fields.get("own", {}):
            own = {self._family: item.fields["own"][self._family]}
            ir = {**ir, "own": {**ir.get("own", {}), **own}}
        item.parts.append(ir)
        if rider is not None:
            self._riders.setdefault(place.candidate, {})[id(ir)] = (ir, *rider)
        if self._known.keeps_parts:
            self._written.setdefault(place.candidate, []).append(ir)
        if item.shape is None:
            self.close_item(place.candidate)

    def close_item(self, candidate: int) -> None:
        """Close the item that is open."""
        item = self._open.pop(candidate, None)
        if item is not None and self._known.stop is not None:
            said = {**self._with_item(item.fields, item.fields), "parts": item.parts}
            self._frames.write(self._known.stop, said, item.place)
            self.write_rides(candidate)

    def write_rides(self, candidate: int) -> None:
        """Let what rides stand beside the parts that were just written."""
        written = self._frames.writer.written
        for part, key, ride in self._riders.get(candidate, {}).values():
            wire = written.pop(id(part), (None, None))[1]
            if isinstance(wire, dict):
                wire[key] = {**(wire.get(key) or {}), **ride}

    def close(self) -> None:
        """Close all items."""
        for candidate in list(self._open):
            self.close_item(candidate)

    def parts(self, candidate: int) -> list[IR]:
        """Return the parts of a candidate that went out."""
        return self._written.get(candidate, [])

    def _stands_apart(self, shape: Shape, said: IR) -> bool:
        """Tell whether something is said of a part that stands beside the parts of its item."""
        writer = self._frames.writer
        memory = said.get("spelled", {}).get(writer.dialect.name, {}) if writer.same else {}
        if memory.get("../", {}).get("apart"):
            return True
        return any(gathering.claims_beside(writer, shape, case, said) for case in shape.cases)

    def _with_item(self, said: IR, first: IR) -> IR:
        """Return what a part says, with what its item does."""
        own = first.get("own", {}).get(self._family, {})
        return {**said, "item": {**first, "own": own}}


def _ids_of_wholes(dialect: Dialect, part: Event | None) -> dict[tuple[str, Any], list[Hole]]:
    """Return by kind, and name where pictures say one, the id of whole parts if these agree."""
    found: dict[tuple[str, Any], dict[tuple[str, Any], Hole]] = {}
    for hole in (h for p in (part.writes if part is not None else ()) for h in pic.holes(p)):
        for shape, case in dialect.cases_of(hole.named) if hole.path == "part" else ():
            made = {(h.path, h.value): h for h in pic.holes(case.wire) if is_made(h)}
            for kind in shape.groups or case.kinds or (shape.kind,):
                for name in fixed_words([case], "/name") or (None,):
                    found.setdefault((str(kind), name), {}).update(made)
    return {key: [*made.values()] for key, made in found.items() if len(made) == 1}
