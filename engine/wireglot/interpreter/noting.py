"""Notes on what is written: drafts, and the places of the output to which they point at last.

What is written may still move, so a draft holds objects: the owner and a key, or an IR object of
which it is only known later what was written of it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ..language.model import Dialect
from ..native import mypyc_attr
from ..notes import CODES, LEFT_OUT, Draft, Effect, Weight
from ..tagged import every
from ..trail import At, Trail

if TYPE_CHECKING:
    from ..language.ladder import Row
    from ..language.shape import Case
    from ..language.source import Pos
    from .recorder import Recorder

MARKED = "what it marks as cached is left out"


@mypyc_attr(native_class=False)
class Noting:
    """Drafts notes while one IR value is written.

    Maps by identity hold the object, too: so no other one gets its identity meanwhile.
    """

    def __init__(self, dialect: Dialect, trail: Trail) -> None:
        self.dialect, self.trail = dialect, trail
        listener: Any = trail.recorder
        self.recorder: Recorder | None = listener
        self.notes: list[Draft] = []
        self.field_notes: dict[str, Draft] = {}  # of request fields not yet written, by path
        self.part_notes: dict[int, dict[str, Draft]] = {}  # of fields of parts not yet written
        self.written: dict[int, tuple[Any, Any]] = {}  # by id of an IR object: it, and its wire
        self.replaced: dict[int, tuple[Any, Any]] = {}  # by id of a part: it, and its successor
        self.run_elements: dict[int, tuple[Any, Any]] = {}  # by id of a part: it, its run's element
        # By id of a wire value that was joined to another one: it, its owner now, and the key.
        self.relocated: dict[int, tuple[Any, Any, Any]] = {}
        self.line_messages: dict[int, dict[str, Any]] = {}  # by id of a line of a file: its message
        self.lost_parts: list[Any] = []  # parts and tools that found no place

    def note(
        self,
        code: str,
        effect: Effect,
        source: At | None,
        rule: Any,
        message: str,
        owner: Any = None,
        place: Any = None,
        weight: Weight = "",
    ) -> None:
        """Draft a note."""
        self.notes.append(Draft(code, effect, source, rule, message, owner, place, weight))

    def note_step(self, row: Row, value: Any, field: str, owner: Any, place: Any = None) -> None:
        """Note a step down the ladder, about a field of the value or, for "", all of it."""
        at = self.trail.find(value, field or None) or self.trail.find(value)
        self.note(row.name, row.effect, at, row.pos, row.note_text(value), owner, place)

    def rule(self, step: str = "") -> Pos:
        """Return where messages are asked to go through a step, or are pictured at all."""
        talk = self.dialect.talk
        return talk.places.get(step, talk.pos)

    def mark_derived(self, owner: Any, key: str, rule: Pos | None) -> None:
        """Tell a trace, if there is one, that a field says nothing that others do not say."""
        at = self.trail.find(owner, key) if self.recorder is not None else None
        if self.recorder is not None and at is not None:
            self.recorder.mark_redundant(at, "it follows from another value", rule)

    def note_part(
        self,
        code: str,
        effect: Effect,
        part: Any,
        reason: str,
        rule: Pos | None,
        field: str | None = None,
        now: Any = None,
    ) -> None:
        """Note what becomes of a part, or of a field of it, from where it stood to what it is now.

        `now` is the object that is written instead of the part, if another one is.
        """
        at = self.trail.find(part, field)
        self.note(code, effect, at, rule, reason, None, part if now is None else now)

    def note_lost(
        self,
        code: str,
        part: Any,
        reason: str,
        rule: Pos | None,
        path: str | None = None,
        weight: Weight = "",
    ) -> None:
        """Note that something that was said, or one field of it, is left out, at all its places."""
        here = self.trail.find(part, path)
        for place in every(here):
            self.note(code, "lost", place, rule, reason, weight=weight)
        # A mark may be an element of its own behind what it stands for.
        mark = self.trail.find(part, "cache") if path is None and here is not None else None
        if mark is not None and here is not None and mark[: len(here)] != here:
            self.note("no-place", "lost", mark, rule, MARKED, weight="slight")

    def note_emptied(self, message: Any) -> None:
        """Note that a message is left out; of one that says nothing it is little loss."""
        if self.trail.source is not None and self.trail.find(message) is None:
            return  # a piece of one: what becomes of it is told of its part
        weight: Weight = "" if message.get("parts") or message.get("kept") else "slight"
        self.note_lost("empty-message", message, LEFT_OUT, self.rule(), weight=weight)

    def note_case(self, case: Case, at: At | None, owner: Any, place: Any = None) -> None:
        """Note the code that a case gives itself (`note:`), if any, at the owner and its key."""
        if case.note is not None:
            reason = CODES.get(case.note) or f"written as `{case.name}`"
            self.note(case.note, "changed", at, case.pos, reason, owner, place)

    def note_supplied(self, part: Any, path: str, pos: Any, reason: str) -> None:
        """Note a field of a part that nobody said, at the place where it will stand."""
        self.note("filled-in", "added", None, pos, reason, None, part)
        self.part_notes.setdefault(id(part), {})[path] = self.notes[-1]

    def note_field(
        self, path: str, code: str, effect: Effect, source: At | None, rule: Pos, reason: str
    ) -> None:
        """Note what becomes of a field of a request, at the place where it will stand."""
        self.note(code, effect, source, rule, reason)
        self.field_notes[path] = self.notes[-1]

    def place_part_note(self, part: Any, path: str, into: Any) -> None:
        """Let the note of a field that was supplied point to where it stands: owner and key."""
        if (draft := self.part_notes.get(id(part), {}).get(path)) is not None:
            draft.owner, draft.place = into

    def wire_of(self, part: Any) -> Any:
        """Return what was written of an IR object or its last successor; None where nothing was."""
        found = None
        while part is not None:
            known = self.written.get(id(part))
            found = known[1] if known is not None and known[0] is part else found
            part = self.replaced.get(id(part), (part, None))[1]
        return found

    def place_text_notes(self, part: Any, into: Any) -> None:
        """Let notes about a part point to where its words stand.

        By the part, since many texts are one object: what says the same need not stand there.
        """
        self.written[id(part)] = (part, part)
        self.relocated[id(part)] = (part, *into)

    def place_field_note(self, path: str, into: tuple[Any, Any]) -> None:
        """Let the note that waits for a field, if one does, point to where that is written."""
        if (draft := self.field_notes.get(path)) is not None:
            draft.owner, draft.place = into

    def place_field_notes(
        self, wire: Any, claims: Collection[str], into: tuple[Any, Any] | None
    ) -> None:
        """Let notes of claimed fields point to the wire, or `into` its owner where it is a word."""
        for path, draft in self.field_notes.items():
            if not any(one == path or one.startswith(f"{path}.") for one in claims):
                continue  # neither the field nor one within it
            if draft.owner is None and isinstance(wire, dict):
                # Among other keys the one that says it is the place.
                among = into is not None and into[1] is None and len(wire) == 1
                draft.owner, draft.place = wire, next(iter(wire)) if among else None
            elif draft.owner is None and into is not None:
                draft.owner, draft.place = into

    def place_spread_notes(self, wire: Any, out: dict[str, Any], mark: int) -> None:
        """Let notes since `mark` that point to `wire` point to `out`, which holds its keys now."""
        self.relocated[id(wire)] = (wire, out, None)
        for draft in (*self.notes[mark:], *self.field_notes.values()):
            if draft.owner is wire:
                draft.owner = out

    def place_notes(self) -> None:
        """Let notes about IR objects point to what was written of these; none to what was lost."""
        lost = {id(part) for part in self.lost_parts}
        if lost:
            self.notes = [
                d
                for d in self.notes
                if d.effect != "moved" or d.owner is not None or id(d.place) not in lost
            ]
        changed = [d for d in self.field_notes.values() if d.effect == "changed"]
        unwritten = [d for d in changed if d.owner is None]
        if unwritten:  # what became of a field that found no place after all is no news
            left = {d.source for d in self.notes if d.effect == "lost"}
            gone = {id(d) for d in unwritten if d.source in left}
            self.notes = [d for d in self.notes if id(d) not in gone]
        for draft in self.notes:
            if draft.owner is None and draft.place is not None:
                wire = self.wire_of(draft.place)
                if wire is not None:
                    draft.owner, draft.place = wire, None
            while id(draft.owner) in self.relocated:  # a text may stand for what holds it, too
                _, draft.owner, place = self.relocated[id(draft.owner)]
                draft.place = draft.place if place is None else place
