"""What of a response its client has no room for: it rides in extra keys, and is remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..conversion import reading, writing
from ..conversion.hands import Writer
from ..conversion.reading import Read
from ..interpreter.limits import Limits
from ..interpreter.properties import rename_arguments
from ..language.held import Held
from ..language.picture import holes
from ..notes import Draft
from ..tagged import every
from ..trail import Places, Trail
from . import carry, memory, undo
from .memory import Entry, Part
from .names import Names


class Row(NamedTuple):
    """An element of the client's, the kind of it, and what may ride there of which parts."""

    wire: Any
    kind: str
    riders: list[tuple[Part, Entry]]
    rides: bool


class Turn(NamedTuple):
    """An answer of a provider on its way to its client, and what the exchange knows of both.

    Attributes:
        ids: Those of the calls that the client has sent.
        known: Those of the calls that are remembered.
        model: The one that was asked.
        stays: Whether somebody keeps the state.
        carries: Whether anything may ride.
        remember: Takes what is remembered of the answer.
        keep: Takes the answer as the client has it.
    """

    provider: Held
    client: Held
    names: Names
    ids: list[str]
    known: list[str]
    options: dict[str, Any]
    model: str | None
    stays: bool
    carries: bool
    remember: Callable[[list[dict[str, Any]]], None]
    keep: Callable[[Any], None]

    def signers(self, answered: Any) -> list[str]:
        """Return the names of the model that signs: as it was asked, and as it answered."""
        names = (name for name in (self.model, answered) if isinstance(name, str))
        return list(dict.fromkeys(names))

    def apart(self) -> list[str]:
        """Return ids that no call of the answer may have: those the client takes once alone."""
        limit = self.client.model.limits.get("call_id", {})
        return self.ids if limit.get("unique", False) else []

    def prepare(self, limits: Limits) -> None:
        """Let a writer of the client's write names as before, and no id that a call has."""
        self.names.into(limits, self.client.name)
        for name in (*self.ids, *self.known):
            limits.reserve("call_id", name)
        for name in self.names.back(self.provider.name).values():  # the client's own, whatever
            limits.remember("tool_name", name, name)


class Unseen:
    """A response of one provider on its way to a client of another dialect."""

    def __init__(self, turn: Turn, rode: dict[str, str] | None = None) -> None:
        """Begin; of a stream `rode` is what rode in the frames, and under which key."""
        self._turn, self._rode, self._streamed = turn, rode or {}, rode is not None
        self._carries = turn.carries and rode is None
        self._provider, self._client = turn.provider, turn.client
        self._by: list[str] = []  # the names of who answered
        self._back = turn.names.back(turn.provider.name)
        self._told: dict[int, Any] = {}  # names as the provider gave them
        self._states: dict[int, tuple[str, Any]] = {}  # signatures, and where they stood
        self._wholes: list[Part] = []  # parts that the client does not see
        self._places: dict[int, tuple[Any, str]] = {}  # where what is said of a part rides
        self._was: dict[int, str] = {}  # ids that were another call's, or none
        self._kept: list[tuple[Part, Any]] = []  # ids that a client of this dialect may drop

    def written(self, read: Read) -> tuple[Any, list[Draft]]:
        """Write a response that was read for the client, with what rides, and remember the rest."""
        odd = self._taken(read)
        held: list[Writer] = []

        def prepare(writer: Writer) -> None:
            held.append(writer)
            self._turn.prepare(writer.limits)

        told = read._replace(odd=[*read.odd, *odd])
        given = (self._client, told, "response", False, self._turn.options)
        out, drafts, _ = writing.write(*given, prepare)
        (writer,) = held
        self._turn.names.learn(writer.limits, self._client.name)
        self._turn.remember(self._turns(read, out, writer))
        self._turn.keep(out)
        self._noted(drafts, read.trail)
        return out, drafts

    # -- before it is written ---------------------------------------------------------------------

    def _taken(self, read: Read) -> list[Draft]:
        """Give names back, and take out what only the provider can read.

        Returns notes of calls that are not as the row of their tool gave it.
        """
        odd = []
        ir, trail, self._was = read.ir, read.trail, read.trail.was
        self._by = self._turn.signers(ir.get("model"))
        must = self._carries and carry.must_ride(self._client.model, "reasoning")
        for part in (part for one in ir.get("candidates") or () for part in one["parts"]):
            if part.get("type") == "tool_call":
                self._told[id(part)] = part["name"]
                part["name"] = self._back.get(part["name"], part["name"])
                given = self._turn.names.properties(self._provider.name, part["name"])
                if (again := rename_arguments(part, given, trail)) is not None:
                    part.pop("arguments_json", None)
                    part.update(again)
                row = undo.row_of(self._turn.names, self._provider, part["name"])
                draft = undo.put_back(row, part, trail) if row is not None else None
                odd += [draft] if draft is not None else []
            if carry.signed(self._client.model, part):
                continue  # the client has its place
            if carry.signed(self._provider.model, part):
                at = trail.find(part, "signature")
                self._states[id(part)] = (part.pop("signature")["value"], at)
            if must and part.get("type") == "reasoning" and not part.get("redacted"):
                # A place that must be filled; what rides there is known once all is written.
                origin = self._client.model.origin["signature"]
                part["signature"] = {"value": carry.MARK, "origin": origin}
        return odd

    # -- once it is written -----------------------------------------------------------------------

    def _turns(self, read: Read, out: Any, writer: Writer) -> list[dict[str, Any]]:
        """Return what is remembered of each answer; what can, rides."""
        given = (self._client, out, "response", None, None, self._turn.options)
        seen = reading.read(*given, sure=True).ir
        there, turns = Places(out), []
        pieces = self._streamed and carry.comes_in_pieces(self._client.model)
        for candidate, client_sees in zip(
            read.ir.get("candidates") or (), seen.get("candidates") or (), strict=False
        ):
            parts = client_sees.get("parts", [])
            entries = self._entries(candidate["parts"], parts, writer, read.made)
            kinds = {part.get("type") for part, _, _ in entries}
            # These may come back without what tells them from others.
            loose = "reasoning" in kinds or ("tool_call" in kinds and self._droppable())
            moved = _moved(_order(entry for _, entry, _ in entries), _order(parts))
            if entries and (pieces or loose or moved or any(more for _, _, more in entries)):
                if self._carries:
                    self._ride(candidate, entries, writer, there, moved)
                said = [entry for _, entry, _ in entries]
                origin = self._provider.name
                turns.append({"origin": origin, "says": memory.says(parts), "parts": said})
        return turns

    def _entries(
        self, parts: list[Part], seen: list[Part], writer: Writer, made: set[int]
    ) -> list[tuple[Part, Entry, bool]]:
        """Return each part, its entry, and whether that says more than the client sees."""
        gone = {id(part) for part in writer.lost_parts}
        calls = [p for p in parts if p.get("type") == "tool_call" and id(p) not in gone]
        shown = [p for p in seen if p.get("type") == "tool_call"]
        sees = dict(zip(map(id, calls), shown if len(shown) == len(calls) else calls, strict=True))
        found = []
        for part in parts:
            kind = part.get("type")
            more = id(part) in gone or not carry.comes_back(self._client.model, str(kind))
            if more and kind in memory.PAIRED:
                continue  # what the client never saw it cannot answer
            if kind == "tool_call":
                entry, more = self._call(part, sees[id(part)], made)
            elif kind == "reasoning":
                entry = memory.of_thought(part, self._provider.name)
            elif more:
                entry = memory.of_whole(part)
            else:
                entry = memory.of_seen(part)
            if more and kind != "tool_call":
                self._wholes.append(part)
            own = self._has_its_own(part)
            if own or id(part) in self._states:
                entry["signature"] = (
                    part["signature"]["value"] if own else self._states[id(part)][0]
                )
                if self._by:
                    entry["by"] = self._by
            more = more or id(part) in self._states or "home" in entry
            found.append((part, entry, more))
        return found

    def _call(self, part: Part, seen: Part, made: set[int]) -> tuple[Entry, bool]:
        """Return the entry of a call as the client sees it, and whether that says less."""
        told = self._told[id(part)]
        entry, more = memory.of_call(part, seen, told, id(part) in made, told in self._back)
        if id(part) in self._was:
            entry["id"], more = self._was[id(part)], True
        if "id" not in entry and self._droppable() and "tool_call" not in self._client.model.carry:
            entry["id"], more = part["id"], True
            self._kept.append((part, "id"))
        return entry, more

    def _has_its_own(self, part: Part) -> bool:
        """Tell whether a part has a signature that the client reads without any exchange."""
        signed = carry.signed(self._client.model, part)
        return signed and part["signature"]["value"] != carry.MARK

    def _droppable(self) -> bool:
        """Tell whether clients need not keep the ids of calls."""
        model = self._client.model
        cases = model.shapes["tool_call"].cases if "tool_call" in model.shapes else []
        marks = {hole.mark for case in cases for hole in holes(case.wire) if hole.path == "id"}
        return bool(marks & {"made", "refused", "read-only"})

    # -- riding -----------------------------------------------------------------------------------

    def _ride(
        self,
        candidate: Any,
        entries: list[tuple[Part, Entry, bool]],
        writer: Writer,
        there: Places,
        whole: bool,
    ) -> None:
        """Let entries ride on their elements, else on the next that has room, else on the last.

        `whole`: all of them, for their order is not that of what the client sees.
        """
        carries = self._client.model.carry
        unseen = {id(part) for part in self._wholes}
        # So is it where the client does not see something in the middle.
        whole = whole or any(id(part) in unseen for part, _, _ in entries[1:])
        rows: list[Row] = []
        waiting: list[tuple[Part, Entry]] = []
        for part, entry, more in entries:
            wire = writer.wire_of(part)
            if carry.is_around(self._client.model, part["type"]):
                wire = writer.run_elements.get(id(part), (part, wire))[1]
            full = self._has_its_own(part) and carry.is_text(self._client.model, part["type"])
            if full or part["type"] not in carries or there.find(wire) is None:
                waiting += [(part, entry)] if more or whole else []
                continue
            rides = more or whole or bool(waiting) or "signature" in part
            if rows and rows[-1].wire is wire:  # a run has one place for all of it
                riders = [*rows[-1].riders, *waiting, (part, entry)]
                rows[-1] = rows[-1]._replace(riders=riders, rides=rows[-1].rides or rides)
                waiting = []
                continue
            riders = [*waiting, (part, _here(part, entry))]
            rows.append(Row(wire, part["type"], riders, rides))
            waiting = []
        if waiting and rows:
            rows[-1] = rows[-1]._replace(riders=[*rows[-1].riders, *waiting], rides=True)
        elif waiting and "message" in carries:
            wire = carry.place(self._client.model, writer.wire_of(candidate))
            rows = [Row(wire, "message", waiting, wire is not None)]
        rows = [row for row in rows if row.rides]
        thoughts = [sum(memory.is_signed(entry) for _, entry in row.riders) for row in rows]
        apart = max(thoughts, default=0) < sum(thoughts)  # a client may drop some of them
        of = {"of": sum(thoughts)} if apart else {}
        for wire, kind, riders, _ in rows:
            told = [{**e, **of} if memory.is_signed(e) else e for _, e in riders]
            key = carries[kind]
            said = {self._provider.name: told}
            wire[key] = carry.form(self._client.model, kind, said, wire.get(key))
            self._places.update((id(part), (wire, key)) for part, _ in riders)

    # -- notes ------------------------------------------------------------------------------------

    def _noted(self, drafts: list[Draft], trail: Trail) -> None:
        """Say of all that is kept aside where it is; what is nowhere is lost."""
        name = self._client.name
        gone = {id(part) for part in self._wholes}
        for part in self._wholes:
            places = every(trail.find(part))
            for draft in drafts:
                if draft.effect == "lost" and draft.source is not None and draft.source in places:
                    self._told_of(draft, id(part), memory.mark(part))
        for key, (value, at) in self._states.items():
            if key not in gone:
                told = f"only {self._provider.name} can read this, and {name} has no place for it"
                draft = Draft("foreign-signature", "lost", at, None, told)
                self._told_of(draft, key, f"signature {value}")
                drafts.append(draft)
        for part, field in self._kept:
            told = f"a client of {name} need not keep this id"
            draft = Draft("no-place", "lost", trail.find(part, field), None, told)
            self._told_of(draft, id(part))
            drafts.append(draft)

    def _told_of(self, draft: Draft, part: int, mark: str = "") -> None:
        place = self._places.get(part)
        if place is not None:
            draft.effect, (draft.owner, draft.place) = "kept", place
            draft.message += f"; it rides in `{place[1]}`"
        elif mark in self._rode:
            draft.effect = "kept"
            draft.message += f"; it rides in `{self._rode[mark]}` of a frame"
        elif self._turn.stays:
            draft.effect = "kept"
            draft.message += "; the state keeps it"


def _order(parts: Iterable[Part]) -> list[str]:
    """Return in which order texts and calls stand among parts, or among entries of parts."""
    kinds = ("text", "tool_call")
    found = ((part.get("type"), part.get("text") or part.get("size")) for part in parts)
    return [kind for kind, says in found if kind in kinds and (says or kind != "text")]


def _moved(said: list[str], seen: list[str]) -> bool:
    """Tell whether what is said of each part puts texts back where the provider had them.

    Those that are one for the client come apart, and those before a call go behind it.
    """
    return said.count("text") > max(seen.count("text"), 1) or (
        said != seen and sorted(said) == sorted(seen)
    )


def _here(part: Part, entry: Entry) -> Entry:
    """Return the entry of a part as it rides on the very element that it tells of."""
    if part["type"] == "reasoning":
        said = memory.of_shown(part, entry)
    else:
        said = entry  # a call with its id: it may come back on another one
    return {**said, "here": True}
