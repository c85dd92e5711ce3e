"""What of a response its client has no room for: it rides in extra keys, and is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..interpreter import reading, writing
from ..language.picture import holes
from ..notes import Draft
from ..trail import Places, Several, Trail
from . import carry, memory, undo
from .names import Names

if TYPE_CHECKING:
    from ..interpreter.hands import Writer
    from ..language.held import Held

Part = dict[str, Any]
Entry = dict[str, Any]


class Row(NamedTuple):
    """An element of the client's, the kind of it, and what may ride there of which parts."""

    wire: Any
    kind: str
    riders: list[tuple[Part, Entry]]
    rides: bool


class Remainder:
    """A response of one provider on its way to a client of another dialect."""

    def __init__(
        self,
        provider: Held,
        client: Held,
        names: Names,
        ids: set[str],
        options: dict[str, Any],
        model: str | None = None,
    ) -> None:
        """Begin with what was written for names before, and the `ids` of calls that there are."""
        self.rode: dict[str, str] = {}  # what rode in the frames of a stream, and under which key
        self._by = [model] if model is not None else []  # the names of the model that answered
        self.pieces = False  # whether the client may hold one text as several
        self.provider, self.client = provider, client
        self.turns: list[dict[str, Any]] = []
        self._names, self._ids, self._options = names, ids, options
        self._back = names.back(provider.name)
        self._told: dict[int, Any] = {}  # names as the provider gave them
        self._states: dict[int, tuple[str, Any]] = {}  # signatures, and where they stood
        self._wholes: list[Part] = []  # parts that the client does not see
        self._places: dict[int, tuple[Any, str]] = {}  # where what is said of a part rides
        self._was: dict[int, str] = {}  # ids that were another call's, or none
        self._odd: list[Draft] = []  # calls that are not as the row of their tool gave it
        self._kept: list[tuple[Part, Any]] = []  # ids that a client of this dialect may drop

    # -- before it is written ---------------------------------------------------------------------

    def taken(self, ir: Any, trail: Trail, made: set[int], carries: bool) -> None:
        """Give names back, and take out what only the provider can read."""
        self._was = trail.was
        answered = ir.get("model")
        if isinstance(answered, str) and answered not in self._by:
            self._by.append(answered)
        for part in _parts(ir):
            if part.get("type") == "tool_call":
                self._told[id(part)] = part["name"]
                part["name"] = self._back.get(part["name"], part["name"])
                row = undo.row_of(self._names, self.provider, part["name"])
                draft = undo.put_back(row, part, trail) if row is not None else None
                self._odd += [draft] if draft is not None else []
            state = part.get("signature")
            if isinstance(state, dict) and state.get("origin") == self.provider.name:
                self._states[id(part)] = (state["value"], trail.find(part, "signature"))
                del part["signature"]
            if part.get("type") == "reasoning" and carries and not part.get("redacted"):
                if carry.must_ride(self.client.model, "reasoning"):
                    # A place that must be filled; what rides there is known once all is written.
                    part["signature"] = {"value": carry.MARK, "origin": self.client.name}

    def written(
        self, ir: Any, trail: Trail, made: set[int], odd: list[Draft], carries: bool
    ) -> tuple[Any, list[Draft]]:
        """Write the response for the client, with what rides; `turns` is what is remembered."""
        held: list[Writer] = []

        def prepare(writer: Writer) -> None:
            held.append(writer)
            self._names.into(writer.limits, self.client.name)
            for name in self._ids:
                writer.limits.reserve("call_id", name)
            for name in self._back.values():  # the client's own names, whatever they are
                writer.limits.remember("tool_name", name, name)

        out, drafts, _ = writing.write(
            self.client,
            ir,
            "response",
            False,
            trail,
            self._options,
            made,
            [*odd, *self._odd],
            prepare,
        )
        (writer,) = held
        self._names.learn(writer.limits, self.client.name)
        seen = reading.read(self.client, out, "response", None, None, self._options).ir
        there = Places(out)
        for candidate, client_sees in zip(
            ir.get("candidates") or (), seen.get("candidates") or (), strict=False
        ):
            parts = client_sees.get("parts", [])
            entries = self._entries(candidate["parts"], parts, writer, made)
            thoughts = any(part.get("type") == "reasoning" for part, _, _ in entries)
            if entries and (self.pieces or thoughts or any(more for _, _, more in entries)):
                if carries:
                    self._ride(candidate, entries, writer, there)
                self.turns.append(
                    {
                        "origin": self.provider.name,
                        "says": memory.says(parts),
                        "parts": [entry for _, entry, _ in entries],
                    }
                )
        return out, drafts

    def _entries(
        self, parts: list[Part], seen: list[Part], writer: Writer, made: set[int]
    ) -> list[tuple[Part, Entry, bool]]:
        """Return each part, its entry, and whether that says more than the client sees."""
        gone = {id(part) for part in writer.gone}
        calls = [p for p in parts if p.get("type") == "tool_call" and id(p) not in gone]
        shown = [p for p in seen if p.get("type") == "tool_call"]
        sees = dict(zip(map(id, calls), shown if len(shown) == len(calls) else calls, strict=True))
        found = []
        for part in parts:
            entry, more = memory.of_whole(part), id(part) in gone
            thought = part.get("type") == "reasoning"
            if thought:
                entry = memory.of_thought(part, self.provider.name)
            if part.get("type") == "tool_call" and more:
                continue  # what the client never saw it cannot answer
            if part.get("type") == "tool_call":
                told = self._told[id(part)]
                one = sees[id(part)]
                entry, more = memory.of_call(part, one, told, id(part) in made, told in self._back)
                if id(part) in self._was:
                    entry["id"], more = self._was[id(part)], True
                if "id" not in entry and self._droppable():
                    entry["id"], more = part["id"], True
                    self._kept.append((part, "id"))
            elif part.get("type") == "text" and not more:
                entry = memory.of_text(part)
            elif more:
                self._wholes.append(part)
            elif not thought:
                entry = memory.of_alike(part)
            if id(part) in self._states:
                entry["signature"] = self._states[id(part)][0]
                if self._by:
                    entry["by"] = self._by
            more = more or "signature" in entry or "home" in entry
            found.append((part, entry, more))
        return found

    def _droppable(self) -> bool:
        """Tell whether clients need not keep the ids of calls, and have no room beside them."""
        model = self.client.model
        cases = model.shapes["tool_call"].cases if "tool_call" in model.shapes else []
        marks = {hole.mark for case in cases for hole in holes(case.wire) if hole.path == "id"}
        return "tool_call" not in model.carry and bool(marks & {"made", "refused", "read-only"})

    # -- riding -----------------------------------------------------------------------------------

    def _ride(
        self,
        candidate: Any,
        entries: list[tuple[Part, Entry, bool]],
        writer: Writer,
        there: Places,
    ) -> None:
        """Let entries ride on their elements, else on the next that has room, else on the last."""
        carries = self.client.model.carry
        unseen = {id(part) for part in self._wholes}
        # Where the client does not see something in the middle, the order of all must ride, too.
        whole = any(id(part) in unseen for part, _, _ in entries[1:])
        rows: list[Row] = []
        waiting: list[tuple[Part, Entry]] = []
        for part, entry, more in entries:
            wire = writer.written.get(id(part), (None, None))[1]
            if carry.is_around(self.client.model, part["type"]):
                wire = writer.around.get(id(part), (part, wire))[1]
            if part["type"] not in carries or there.find(wire) is None:
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
            wire = carry.place(self.client.model, writer.written[id(candidate)][1])
            rows = [Row(wire, "message", waiting, wire is not None)]
        for wire, kind, riders, rides in rows:
            if rides:
                said = {self.provider.name: [entry for _, entry in riders]}
                key = carries[kind]
                wire[key] = carry.form(self.client.model, kind, said, wire.get(key))
                self._places.update((id(part), (wire, key)) for part, _ in riders)

    # -- notes ------------------------------------------------------------------------------------

    def noted(self, drafts: list[Draft], trail: Trail, stays: bool) -> None:
        """Say of all that is kept aside where it is; what is nowhere is lost."""
        name = self.client.name
        gone = {id(part) for part in self._wholes}
        for part in self._wholes:
            at = trail.find(part)
            places = at.places if isinstance(at, Several) else [at]
            for draft in drafts:
                if draft.effect == "lost" and draft.source is not None and draft.source in places:
                    self._told_of(draft, part, stays, memory.mark(part))
        for key, (value, at) in self._states.items():
            if key not in gone:
                told = f"only {self.provider.name} can read this, and {name} has no place for it"
                draft = Draft("foreign-signature", "lost", at, None, told)
                self._told_of(draft, key, stays, f"signature {value}")
                drafts.append(draft)
        for part, field in self._kept:
            told = f"a client of {name} need not keep this id"
            draft = Draft("no-place", "lost", trail.find(part, field), None, told)
            self._told_of(draft, part, stays)
            drafts.append(draft)

    def _told_of(self, draft: Draft, part: Any, stays: bool, mark: str = "") -> None:
        place = self._places.get(part if isinstance(part, int) else id(part))
        if place is not None:
            draft.effect, (draft.owner, draft.place) = "kept", place
            draft.message += f"; it rides in `{place[1]}`"
        elif mark in self.rode:
            draft.effect = "kept"
            draft.message += f"; it rides in `{self.rode[mark]}` of a frame"
        elif stays:
            draft.effect = "kept"
            draft.message += "; the state keeps it"


def _parts(ir: Any) -> list[Part]:
    return [part for candidate in ir.get("candidates") or () for part in candidate["parts"]]


def _here(part: Part, entry: Entry) -> Entry:
    """Return the entry of a part as it rides on the very element that it tells of."""
    if part["type"] == "reasoning":
        said = memory.of_seen(part, entry)
    else:
        said = entry  # a call with its id: it may come back on another one
    return {**said, "here": True}
