"""What of a response its client has no room for: it rides in extra keys, and is remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..conversion import reading, writing
from ..conversion.hands import Writer
from ..conversion.reading import Read
from ..interpreter.properties import rename_arguments
from ..language.held import Held
from ..notes import Draft
from ..tagged import every
from ..trail import Places, Trail
from . import carry, memory, names
from .memory import Entry, Part
from .names import Names


class RideElement(NamedTuple):
    """An element of the client's, the kind of it, and what may ride there of which parts."""

    wire: Any
    kind: str
    riders: list[tuple[Part, Entry]]
    rides: bool


class Turn(NamedTuple):
    """An answer of a provider on its way to its client, and what the exchange knows of both.

    Attributes:
        ids: Those of the calls that the client has sent.
        remembered_ids: Those of the calls that are remembered.
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
    remembered_ids: list[str]
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

    def taken_ids(self) -> list[str]:
        """Return ids that no call of the answer may have: those the client takes once alone."""
        limit = self.client.model.limits.get("call_id", {})
        return self.ids if limit.get("unique", False) else []

    def prepare(self, writer: Writer) -> None:
        """Let a writer of the client's write names as before, and no id that a call has."""
        limits = writer.limits
        self.names.apply_to(limits, self.client.name)
        for name in (*self.ids, *self.remembered_ids):
            limits.reserve("call_id", name)
        for name in self.names.originals(self.provider.name).values():  # the client's own, whatever
            limits.remember("tool_name", name, name)


class Unseen:
    """A response of one provider on its way to a client of another dialect."""

    def __init__(self, turn: Turn, rode: dict[str, str] | None = None) -> None:
        """Begin; of a stream `rode` is what rode in the frames, and under which key."""
        self._turn, self._rode, self._streamed = turn, rode or {}, rode is not None
        self._carries = turn.carries and rode is None
        self._provider, self._client = turn.provider, turn.client
        self._signers: list[str] = []  # the names of who answered
        self._back = turn.names.originals(turn.provider.name)
        self._given_names: dict[int, Any] = {}  # names as the provider gave them
        self._signatures: dict[int, tuple[str, Any]] = {}  # signatures, and where they stood
        self._wholes: list[Part] = []  # parts that the client does not see
        self._places: dict[int, tuple[Any, str]] = {}  # where what is said of a part rides
        self._given_ids: dict[int, str] = {}  # ids that were another call's, or none
        self._droppable_ids: list[Part] = []  # calls whose ids a client of this dialect may drop

    def written(self, read: Read) -> tuple[Any, list[Draft]]:
        """Write a response that was read for the client, with what rides, and remember the rest."""
        told = read._replace(odd=[*read.odd, *self._prepare(read)])
        given = (self._client, told, "response", False, self._turn.options)
        out, writer, _ = writing.write(*given, self._turn.prepare)
        self._turn.names.learn(writer.limits, self._client.name)
        self._turn.remember(self._ride_and_list(read, out, writer))
        self._turn.keep(out)
        self._add_notes(writer.notes, read.trail)
        return out, writer.notes

    # -- before it is written ---------------------------------------------------------------------

    def _prepare(self, read: Read) -> list[Draft]:
        """Give names back, and take out what only the provider can read.

        Returns notes of calls that are not as the row of their tool gave it.
        """
        odd = []
        ir, trail, self._given_ids = read.ir, read.trail, read.trail.was
        self._signers = self._turn.signers(ir.get("model"))
        must = self._carries and carry.must_ride(self._client.model, "reasoning")
        for part in (part for one in ir.get("candidates") or () for part in one["parts"]):
            if part.get("type") == "tool_call":
                self._given_names[id(part)] = part["name"]
                part["name"] = self._back.get(part["name"], part["name"])
                given = self._turn.names.properties(self._provider.name, part["name"])
                if (again := rename_arguments(part, given, trail)) is not None:
                    part.pop("arguments_json", None)
                    part.update(again)
                row = self._turn.names.row_of(self._provider, part["name"])
                draft = names.put_call_back(row, part, trail) if row is not None else None
                odd += [draft] if draft is not None else []
            if self._client.model.has_signature(part):
                continue  # the client has its place
            if self._provider.model.has_signature(part):
                at = trail.find(part, "signature")
                self._signatures[id(part)] = (part.pop("signature")["value"], at)
            if must and part.get("type") == "reasoning" and not part.get("redacted"):
                # A place that must be filled; what rides there is known once all is written.
                origin = self._client.model.origin["signature"]
                part["signature"] = {"value": carry.MARK, "origin": origin}
        return odd

    # -- once it is written -----------------------------------------------------------------------

    def _ride_and_list(self, read: Read, out: Any, writer: Writer) -> list[dict[str, Any]]:
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
            loose = "reasoning" in kinds or ("tool_call" in kinds and self._drops_ids())
            moved = _comes_apart(_order_of(entry for _, entry, _ in entries), _order_of(parts))
            if entries and (pieces or loose or moved or any(more for _, _, more in entries)):
                if self._carries:
                    self._ride(candidate, entries, writer, there, moved)
                said = [entry for _, entry, _ in entries]
                origin = self._provider.name
                turns.append({"origin": origin, "says": memory.fingerprint(parts), "parts": said})
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
            says_more = id(part) in gone or not carry.comes_back(self._client.model, str(kind))
            if says_more and kind in memory.PAIRED:
                continue  # what the client never saw it cannot answer
            if kind == "tool_call":
                entry, says_more = self._call_entry(part, sees[id(part)], made)
            elif kind == "reasoning":
                entry = memory.thought_entry(part, self._provider.name)
            elif says_more:
                entry = memory.whole_entry(part)
            else:
                entry = memory.seen_entry(part)
            if says_more and kind != "tool_call":
                self._wholes.append(part)
            own = self._client_signs(part)
            if own or id(part) in self._signatures:
                entry["signature"] = (
                    part["signature"]["value"] if own else self._signatures[id(part)][0]
                )
                if self._signers:
                    entry["by"] = self._signers
            says_more = says_more or id(part) in self._signatures or "home" in entry
            found.append((part, entry, says_more))
        return found

    def _call_entry(self, part: Part, seen: Part, made: set[int]) -> tuple[Entry, bool]:
        """Return the entry of a call as the client sees it, and whether that says less."""
        name, id_made = self._given_names[id(part)], id(part) in made
        renamed = name in self._back
        entry, more = memory.call_entry(part, seen, name, id_made=id_made, renamed=renamed)
        if id(part) in self._given_ids:
            entry["id"], more = self._given_ids[id(part)], True
        if "id" not in entry and self._drops_ids() and "tool_call" not in self._client.model.carry:
            entry["id"], more = part["id"], True
            self._droppable_ids.append(part)
        return entry, more

    def _client_signs(self, part: Part) -> bool:
        """Tell whether a part has a signature that the client reads without any exchange."""
        signed = self._client.model.has_signature(part)
        return signed and part["signature"]["value"] != carry.MARK

    def _drops_ids(self) -> bool:
        """Tell whether clients need not keep the ids of calls."""
        ids = (hole for hole in self._client.model.holes_in("tool_call") if hole.path == "id")
        return any(hole.mark in ("made", "refused", "read-only") for hole in ids)

    # -- riding -----------------------------------------------------------------------------------

    def _ride(
        self, candidate: Any, entries: list[tuple[Part, Entry, bool]], writer: Writer,
        there: Places, whole: bool,
    ) -> None:  # fmt: skip
        """Let entries ride on their elements, else on the next that has room, else on the last.

        `whole`: all of them, for their order is not that of what the client sees.
        """
        carries = self._client.model.carry
        unseen = {id(part) for part in self._wholes}
        # So is it where the client does not see something in the middle.
        whole = whole or any(id(part) in unseen for part, _, _ in entries[1:])
        rows: list[RideElement] = []
        waiting: list[tuple[Part, Entry]] = []
        for part, entry, more in entries:
            wire = writer.wire_of(part)
            if carry.is_around(self._client.model, part["type"]):
                wire = writer.run_elements.get(id(part), (part, wire))[1]
            full = self._client_signs(part) and carry.is_text(self._client.model, part["type"])
            if full or part["type"] not in carries or there.find(wire) is None:
                waiting += [(part, entry)] if more or whole else []
                continue
            rides = more or whole or bool(waiting) or "signature" in part
            if rows and rows[-1].wire is wire:  # a run has one place for all of it
                riders = [*rows[-1].riders, *waiting, (part, entry)]
                rows[-1] = rows[-1]._replace(riders=riders, rides=rows[-1].rides or rides)
                waiting = []
                continue
            riders = [*waiting, (part, _entry_here(part, entry))]
            rows.append(RideElement(wire, part["type"], riders, rides))
            waiting = []
        if waiting and rows:
            rows[-1] = rows[-1]._replace(riders=[*rows[-1].riders, *waiting], rides=True)
        elif waiting and "message" in carries:
            wire = carry.message_object(self._client.model, writer.wire_of(candidate))
            rows = [RideElement(wire, "message", waiting, wire is not None)]
        rows = [row for row in rows if row.rides]
        thoughts = [sum(memory.is_signed(entry) for _, entry in row.riders) for row in rows]
        apart = max(thoughts, default=0) < sum(thoughts)  # a client may drop some of them
        of = {"of": sum(thoughts)} if apart else {}
        for wire, kind, riders, _ in rows:
            told = [{**e, **of} if memory.is_signed(e) else e for _, e in riders]
            key = carries[kind]
            said = {self._provider.name: told}
            wire[key] = carry.ride_wire(self._client.model, kind, said, wire.get(key))
            self._places.update((id(part), (wire, key)) for part, _ in riders)

    # -- notes ------------------------------------------------------------------------------------

    def _add_notes(self, drafts: list[Draft], trail: Trail) -> None:
        """Say of all that is kept aside where it is; what is nowhere is lost."""
        name = self._client.name
        gone = {id(part) for part in self._wholes}
        for part in self._wholes:
            places = every(trail.find(part))
            for draft in drafts:
                if draft.effect == "lost" and draft.source is not None and draft.source in places:
                    self._mark_kept(draft, id(part), memory.whole_mark(part))
        for key, (value, at) in self._signatures.items():
            if key not in gone:
                told = f"only {self._provider.name} can read this, and {name} has no place for it"
                draft = Draft("foreign-signature", "lost", at, None, told)
                self._mark_kept(draft, key, f"signature {value}")
                drafts.append(draft)
        for part in self._droppable_ids:
            told = f"a client of {name} need not keep this id"
            draft = Draft("no-place", "lost", trail.find(part, "id"), None, told)
            self._mark_kept(draft, id(part))
            drafts.append(draft)

    def _mark_kept(self, draft: Draft, part: int, mark: str = "") -> None:
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


def _order_of(parts: Iterable[Part]) -> list[str]:
    """Return in which order texts and calls stand among parts, or among entries of parts."""
    kinds = ("text", "tool_call")
    found = ((part.get("type"), part.get("text") or part.get("size")) for part in parts)
    return [kind for kind, says in found if kind in kinds and (says or kind != "text")]


def _comes_apart(said: list[str], seen: list[str]) -> bool:
    """Tell whether what is said of each part puts texts back where the provider had them.

    Those that are one for the client come apart, and those before a call go behind it.
    """
    return said.count("text") > max(seen.count("text"), 1) or (
        said != seen and sorted(said) == sorted(seen)
    )


def _entry_here(part: Part, entry: Entry) -> Entry:
    """Return the entry of a part as it rides on the very element that it tells of."""
    if part["type"] == "reasoning":
        said = memory.shown_thought(part, entry)
    else:
        said = entry  # a call with its id: it may come back on another one
    return {**said, "here": True}
