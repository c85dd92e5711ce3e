"""The stream of a turn, and what rides in its frames: where the client's own protocol puts it.

A part that rides in the place of a signature has it when it ends; what rides in an object stands
beside what the frame that begins the part says of it, and so is what is known by then, or in the
end of its item; and what finds no part any more stands beside a last piece without a text, where
the dialect has a place for it in the message. All that reads it back is what reads it back of a
whole response.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..conversion.reading import Read
from ..interpreter.properties import rename_arguments
from ..ir import IR
from ..language.events import Event
from ..notes import Draft
from ..policy import Policy
from ..results import Conversion
from ..streaming.incoming import Part
from ..streaming.outcome import Outcome
from ..streaming.outgoing import Frames, Rides
from ..streaming.streams import Translator
from . import carry, memory, names
from .carry import Ride
from .memory import Entry
from .unseen import Turn, Unseen


class FrameRides(Rides):
    """What rides in the frames for one client, as an unfold writes them."""

    def __init__(self, turn: Turn, frames: Frames, outcome: Outcome) -> None:
        """Begin a stream; `outcome` has what it says of the model that answers."""
        super().__init__()
        self._client = client = turn.client.model
        self._turn, self._outcome, self._frames = turn, outcome, frames
        self._back = turn.names.originals(turn.provider.name)
        self._left: dict[int, list[Entry]] = {}  # of each candidate: what has no place yet
        self._thoughts: dict[int, int] = {}  # of each candidate: how many signed ones rode
        self._done: set[int] = set()  # parts beside which something stands already
        said = client.holes_in("tool_call")
        self._ids = any(hole.path == "id" and not hole.only_read for hole in said)
        # Whether the client holds the text of arguments.
        found = [h.lenses for h in said if h.path == "arguments" and "home" not in h.lenses]
        self._texts = any("json" in lenses for lenses in found)
        self._pieces = carry.comes_in_pieces(client)

    # -- what an unfold asks ----------------------------------------------------------------------

    def signs(self, part: Part) -> bool:
        """Tell whether something must stand in the place of a part's signature."""
        return not part.fields.get("redacted") and carry.must_ride(self._client, part.kind)

    def with_signature(self, part: Part, ir: IR) -> IR:
        """Return a part that is over with what rides in the place of its signature."""
        kind = str(ir.get("type"))
        key = self._key(part, kind, text=True)
        if key is None or self._client.has_signature(ir):
            return ir  # the client has its own signature there
        # What comes in pieces says which text they are.
        must = carry.must_ride(self._client, kind) or (self._pieces and kind != "tool_call")
        ride = self._ride_of(part, ir, must)
        if ride is None:
            return ir
        self._done.add(id(part))
        self.rode[memory.whole_mark(ir)] = key
        value = carry.ride_wire(self._client, kind, ride)
        return {**ir, "signature": {"value": value, "origin": self._client.origin["signature"]}}

    def ride_on_head(self, part: Part, ir: IR, event: Event) -> None:
        """Let what is known of a part stand beside what was just written of it."""
        kind = str(ir.get("type"))
        key = self._key(part, kind, text=False)
        if key is None:
            return
        path = "id" if kind == "tool_call" else "piece"
        at = self._frames.writer.written.get(id(ir), (None, None))[1]
        if "part" not in event.holes:
            at = carry.object_beside(event.writes[0], self._frames.recent[0], path)
        known = kind != "text" or "text" in ir  # else it flows, and is known when it is over
        ride = self._ride_of(part, ir if known else None) if isinstance(at, dict) else None
        if ride is not None and isinstance(at, dict):
            at[key] = carry.ride_wire(self._client, kind, ride, at.get(key))
            if known:
                self._done.add(id(part))

    def ride_of_item(self, part: Part, ir: IR) -> tuple[str, Any] | None:
        """Return what rides beside a part in the end of its item, and the key."""
        kind = str(ir.get("type"))
        key = self._key(part, kind, text=False)
        if key is None:
            return None
        ride = self._ride_of(part, ir)
        self._done.add(id(part))
        return None if ride is None else (key, carry.ride_wire(self._client, kind, ride))

    def part_over(self, part: Part, ir: IR, seen: bool) -> None:
        """Take a part that is over: what has not ridden yet, waits. `seen` by the client or not."""
        if id(part) in self._done:
            return
        if seen:
            entry, more = self._entry(part, ir)
            if more or self._left.get(part.candidate):  # the order of them all is said, too
                self._left.setdefault(part.candidate, []).append(entry)
        elif ir.get("type") not in memory.PAIRED:  # what the client never saw it cannot answer
            entry = memory.whole_entry(ir)
            self._sign(entry, ir, seen=False)
            self._left.setdefault(part.candidate, []).append(entry)

    def ride_on_piece(self, candidate: int, event: Event) -> None:
        """Let what is left stand beside a piece without a text, which was just written."""
        key = self._client.carry["message"]
        at = carry.object_beside(event.writes[0], self._frames.recent[0], "piece")
        waits = self._left.pop(candidate)
        if at is not None:
            ride = self._sent(candidate, waits, key)
            at[key] = carry.ride_wire(self._client, "message", ride, at.get(key))

    def has_left(self, candidate: int) -> bool:
        """Tell whether something is left that a message has a place for."""
        waits = self._left.get(candidate, [])
        return "message" in self._client.carry and any(map(_says_more, waits))

    # -- entries ----------------------------------------------------------------------------------

    def _key(self, part: Part, kind: str, text: bool) -> str | None:
        """Return the key under which it rides, as text or not, on a part that kept its kind."""
        key = self._client.carry.get(kind) if kind == part.kind else None
        return key if key is not None and carry.is_text(self._client, kind) == text else None

    def _ride_of(self, part: Part, ir: IR | None, must: bool = False) -> Ride | None:
        """Return what rides on a part: what waited, and what is said of it, if it is known."""
        waits = self._left.get(part.candidate, [])
        entries, more = list(waits), any(map(_says_more, waits))
        kind = part.kind
        if ir is not None:
            entry, news = self._entry(part, ir)
            more = more or news or must
            entries.append(
                entry if kind == "reasoning" and self._pieces else {**entry, "here": True}
            )
        if not more:
            return None
        self._left.pop(part.candidate, None)
        return self._sent(part.candidate, entries, self._client.carry[kind])

    def _sent(self, candidate: int, entries: list[Entry], key: str) -> Ride:
        signed, before = list(filter(memory.is_signed, entries)), self._thoughts.get(candidate, 0)
        self._thoughts[candidate] = before + len(signed)
        for entry in signed if before else ():  # those before may be dropped
            entry["of"] = self._thoughts[candidate]
        for entry in entries:
            self.rode.update((mark, key) for mark in marks(entry))
        return {self._turn.provider.name: entries}

    def _entry(self, part: Part, ir: IR) -> tuple[Entry, bool]:
        """Return the entry of a part that the client sees, and whether it says more than that."""
        kind = str(ir.get("type"))
        if kind == "tool_call":
            told = part.originals.get("name", ir.get("name"))
            call = {"id": ir.get("id", ""), "arguments_json": ir.get("arguments_json")}
            # A client that is sent no id has none that could be the provider's.
            seen = {"id": self._fitting("call_id", call["id"]) if self._ids else ""}
            seen["name"] = self._fitting("tool_name", ir.get("name"))
            if "arguments" in ir and not self._texts:
                seen["arguments"] = ir["arguments"]
            entry, more = memory.call_entry(
                call, seen, told, id_made=part.id_made, renamed=told in self._back
            )
            if "id" in part.originals:
                entry["id"], more = part.originals["id"], True
        elif kind == "reasoning":
            thought = {**ir, "spelled": {}}
            self._outcome.remember_home(thought, part.piece_key)
            entry = memory.thought_entry(thought, self._turn.provider.name)
            more = self._sign(entry, ir) or "home" in entry
            return entry if self._pieces else memory.shown_thought(ir, entry), more
        else:
            entry, more = memory.seen_entry(ir), False
        return entry, self._sign(entry, ir) or more

    def _sign(self, entry: Entry, ir: IR, seen: bool = True) -> bool:
        """Let an entry say how a part is signed, unless the client sees a signature of its own."""
        own = seen and self._client.has_signature(ir)
        signed = self._turn.provider.model.has_signature(ir) and not own
        if signed:
            by = self._turn.signers(self._outcome.response.get("model"))
            entry["signature"] = ir["signature"]["value"]
            if by:
                entry["by"] = by
        return signed

    def _fitting(self, kind: str, name: Any) -> Any:
        limits = self._frames.writer.limits
        return limits.fit(kind, name) if kind in limits.limits else name


def _says_more(entry: Entry) -> bool:
    """Tell whether an entry says more than which part it is of."""
    return "digest" not in entry or bool(entry.keys() & {"signature", "home"})


def marks(entry: Entry) -> list[str]:
    """Return what tells again what rode: its signature, and the part that rode whole."""
    found = [f"signature {entry['signature']}"] if "signature" in entry else []
    whole = not entry.keys() & {"call", "digest"}
    return [*found, memory.whole_mark(entry)] if whole else found


class TurnStream(Translator):
    """A translator that gives names back, and remembers what the client has no room for.

    The frames that tell the end come from `finish`, when what must come back is in the state of
    the exchange: a client asks again once it has them.
    """

    _eager = True  # what is remembered of a turn is known when it ends

    def __init__(
        self, turn: Turn, policy: Policy, rules_hash: str, asked: str, unasked: Iterable[str]
    ) -> None:
        """Begin a turn: `asked` is the digest of its request, of which ids are made.

        `unasked` are the events that the request did not want.
        """
        super().__init__(turn.provider, turn.client, turn.options, policy, True, rules_hash)
        self._turn, self._back = turn, turn.names.originals(turn.provider.name)
        self._begin(None)  # a turn knows its model
        self._fold.outcome.digest = asked
        if self._unfold is not None:
            turn.prepare(self._unfold.writer)
            self._fold.call_ids.update(turn.taken_ids())
            self._unfold.unasked = frozenset(unasked)
            self._fold.on_call = self._restore_name
            if turn.carries and turn.client.model.carry:
                self._fold.awaits_signature = not turn.stays  # what is kept has the last signature
                self._unfold.rides = FrameRides(turn, self._unfold.frames, self._fold.outcome)

    def _restore_name(self, part: Part) -> None:
        """Give a call the name that the client knows it by."""
        name = part.fields["name"]
        if name in self._back:
            part.originals["name"], part.fields["name"] = name, self._back[name]
        row = self._turn.names.row_of(self._source, part.fields["name"])
        given = self._turn.names.properties(self._source.name, part.fields["name"])
        if row is not None:
            part.rewrite = lambda ir: names.undone_call(row, ir)[0]
        elif given:
            part.rewrite = lambda ir: rename_arguments(ir, given) or ir

    def _conclude(self) -> Conversion:
        done = super()._conclude()
        if self._unfold is None:  # at home another provider may be asked next
            self._turn.keep(done.body)
        return done

    def _write_whole(self, read: Read) -> tuple[Any, list[Draft]]:
        assert self._unfold is not None
        self._turn.names.learn(self._unfold.writer.limits, self._target.name)
        return Unseen(self._turn, self._unfold.rides.rode).written(read)
