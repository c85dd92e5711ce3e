"""The parts of a stream on their way out: each flows, or waits until it is whole.

What the target wants whole is held until the part closes, and what it wants one after another until
those before are written; nothing else waits.
"""

from __future__ import annotations

from typing import Any

from ..conversion.hands import Writer
from ..interpreter import media
from ..interpreter.rating import likely_of
from ..interpreter.views import blank
from ..ir import LIKELY, TOKENS, owned, without_memory
from ..language import ladder as ladders
from ..language.events import DEFAULT_FIELD, LIVE, Event
from ..language.lenses import Misfit, stringify
from ..notes import NO_WORD, Draft, Weight
from ..trail import At, value_at
from .brackets import Brackets
from .citing import Citing
from .hearing import Listener
from .incoming import Part, merged, text_of
from .outgoing import Frames, Growing, Outgoing, Rides
from .outlook import EventPair, Outlook

IR = dict[str, Any]
DEPTH = 8  # steps down the ladder
HELD = "no frame of the target can hold {}; its whole response does"


class Parts(Listener):
    """The parts of the stream of one dialect, written as they come."""

    def __init__(self, writer: Writer) -> None:
        self.writer, self.dialect, self.stream = writer, writer.dialect, writer.dialect.streamed
        self.same = writer.same
        self.failed_already = False
        self.frames_only = False  # no whole response is made, which would tell what it cannot hold
        self.parts_changed = True  # whether a part was begun or ended
        self._known = self.dialect.once(Outlook, lambda: Outlook(self.dialect))
        self.frames = Frames(writer, self._known.numbered)
        self._queues: dict[tuple[int, int], list[Outgoing]] = {}
        self._outgoing: dict[int, Outgoing] = {}
        self._kinds: dict[int, list[str]] = {}  # of the parts that are written, by candidate
        self._last_text: Part | None = None  # the last text
        self._brackets = Brackets(self.frames)  # of a plain stream none opens
        self.rides = Rides()  # what rides in the frames, in an exchange
        self.notes: list[Draft] = []  # what is in no frame
        self.citing = Citing(writer, self._known.slots, self._kinds)

    def _unplaced(self, at: At, message: str, code: str = "no-place", weight: Weight = "") -> None:
        """Note what no frame can hold, though a whole response might."""
        self.notes.append(Draft(code, "lost", at, self.stream.pos, message, weight=weight))

    # -- what flows, and in which order -----------------------------------------------------------

    def _target_holds(self, part: Part) -> bool:
        """Tell whether a whole response would hold such a part, as far as it is known."""
        said = without_memory(part.fields, "own")
        if self.rides.signs(part):
            said["signature"] = {"value": "x", "origin": self.dialect.origin["signature"]}
        said[part.field] = {} if part.field == "arguments" else "x"
        return self._known.fit(self.writer, said)[0] == set()

    def _queue(self, out: Outgoing) -> list[Outgoing]:
        slot = 0 if self._known.sequential else self._known.slots.get(out.part.kind, 0)
        return self._queues.setdefault((out.part.candidate, slot), [])

    def _flows_freely(self, out: Outgoing, queue: list[Outgoing]) -> bool:
        """Tell whether a part flows beside others: its address says where it belongs.

        One that is written when it is whole lets none behind it go first: their order holds.
        """
        if out.flow is None or not out.flow.append.addresses or self._known.sequential:
            return False
        before = queue[: queue.index(out)] if out in queue else queue
        return all(one.flow is not None for one in before)

    def _write_ready(self, part: Part) -> None:
        """Write what can be written of a part and of those that wait for it."""
        out = self._outgoing.get(id(part))
        if out is None or self.failed_already:
            return
        queue = self._queue(out)
        if self._flows_freely(out, queue):
            # Frames say of which part they are: nobody waits for the parts before.
            self._write_pieces(out)
            if not part.open and out in queue:  # one that was over when it began is out of it
                self._write_end(out)
                queue.remove(out)
            return
        while queue:
            head = queue[0]
            self._write_pieces(head)
            # Nobody may say that a call is over, but its arguments are whole, and another follows.
            if head.part.open and not (len(queue) > 1 and head.part.complete):
                return
            self._write_end(head)
            queue.pop(0)

    def growing(self, part: Part) -> Growing | None:
        """Return what becomes of each further piece of a part; None where one may do more."""
        out = self._outgoing.get(id(part))
        if out is None or self.failed_already or out.closed:
            return None
        queue = self._queue(out)
        free = self._flows_freely(out, queue)
        if not free and (queue[0] is not out or (out.flow is None and len(queue) == 1)):
            return Growing(out, None, None)
        if not (free or len(queue) == 1) or not (out.begun and out.has_text and out.fill):
            return None
        return Growing(out, out.fill, None) if out.sent == len(part.pieces) else None

    def flush(self) -> None:
        """Write all that waits; of what came behind an error nothing is written."""
        for queue in self._queues.values():
            for out in queue:
                if self.failed_already:
                    self._unplaced(out.part.at, "an error ended the stream before this part did")
                    continue
                self._write_pieces(out)
                self._write_end(out)
            queue.clear()
        self._brackets.close()

    # -- parts that flow --------------------------------------------------------------------------

    def _begin(self, out: Outgoing, kind: str, said: IR, event: Event | None) -> IR:
        """Give a part its numbers; return what is said of it, and of its item."""
        self.parts_changed = True
        kinds = self._kinds.setdefault(out.part.candidate, [])
        out.place.index, out.place.nth = len(kinds), kinds.count(kind)
        if not self.same:
            out.separator = self._known.separator(out.part, kind, kinds, self._last_text)
        self._last_text = out.part if kind == "text" else self._last_text
        kinds.append(kind)
        out.begun = True
        if self.stream.plain:
            shared = kind in self._known.grouped
            made, out.extra = self.frames.give_ids(out.place.candidate, kind, said, event, shared)
            return made
        made = self._brackets.enter(out.place, kind, said, event)
        out.extra = {key: made[key] for key in ("own", "item") if key in made}
        return made

    def _start(self, out: Outgoing, kind: str, said: IR, flow: EventPair) -> IR:
        """Write how a part begins, if that is written; return what is said of it, and its item."""
        made = self._begin(out, kind, said, flow.start or flow.append)
        if flow.start is not None:
            # What an event of its own says later is not said yet.
            later = self._known.later.get(kind, ())
            first = {k: v for k, v in made.items() if k not in later}
            if self.frames.write(flow.start, first, out.place):
                self._ride_on_head(out, said, flow.start)
        return made

    def _write_pieces(self, out: Outgoing) -> None:
        """Write what has come of a part, if it flows."""
        if out.flow is None:
            return
        start, append = out.flow
        part = out.part
        if not out.begun:
            if self._is_blank(part) or (not part.pieces and (start is None or part.textless)):
                return
            self._start(out, part.kind, part.fields, out.flow)
        pieces = part.pieces
        while out.sent < len(pieces):
            self._write_piece(out, append, pieces[out.sent])
            out.sent += 1

    def _write_piece(self, out: Outgoing, append: Event, piece: str) -> None:
        if not piece or out.closed:
            return
        piece, out.separator = out.separator + piece, ""
        out.has_text = out.has_text or not piece.isspace()
        if out.fill is None:
            said = {**out.part.fields, **out.extra}
            out.fill = self.frames.prepare(append, said, out.place)
        if out.fill is not None:
            self.frames.write_piece(out.fill, piece)
        else:
            said = {**out.part.fields, **out.extra, "piece": piece}
            self.frames.write(append, said, out.place)

    def _is_blank(self, part: Part) -> bool:
        """Tell whether this is a text without a word so far, and the dialect takes none."""
        return (
            part.kind == "text"
            and ("no-blank", "") in self.writer.enforced
            and not any(piece.strip() for piece in part.pieces)
        )

    def _is_signed(self, kind: str, said: IR) -> bool:
        """Tell whether a part is said without a text: a thought that is hidden has a signature."""
        events = (event for _, event in self._known.closing.get(kind, ()))
        return self.dialect.has_signature(said) and any("signature" in e.holes for e in events)

    def _write_end(self, out: Outgoing) -> None:
        """Write the end of a part that flowed, or all of one that waited for its end."""
        self.parts_changed = True
        if out.flow is not None:
            self._end_flow(out, out.flow)
        else:
            self._end_whole(out)
        out.closed = True

    def _end_whole(self, out: Outgoing) -> None:
        """Write a part that waited for its end, or note that it has no place."""
        part = out.part
        ir = part.ir() if part.rewrite is None else part.rewrite(part.ir())
        written = self._write_whole(out, self.citing.with_citations(part, ir), 0)
        self.citing.keep_text(part, out.place.index, ir)
        if written:
            return
        self.rides.part_over(part, ir, False)
        # A whole response tells of what it cannot hold itself. This tells of what only frames
        # cannot, or of all, where no whole response is made.
        if out.fits:
            self._unplaced(part.at, HELD.format(f"this {part.kind}"))
        elif self.frames_only and blank(self.writer, ir, None):
            self._unplaced(part.at, NO_WORD, "empty-text")
        elif self.frames_only:
            self._unplaced(part.at, f"the target has no place for this {part.kind}")

    def _end_flow(self, out: Outgoing, flow: EventPair) -> None:
        """Write the end of a part that flowed, with what is said of it only then."""
        part = out.part
        hollow = part.field == "arguments" and not out.has_text
        cited = part.fields.get("citations") and not self._is_blank(part)
        if not out.begun and (hollow or cited or self._is_signed(part.kind, part.fields)):
            self._begin(out, part.kind, part.fields, flow.start or flow.append)
        if hollow:
            self._write_piece(out, flow.append, "{}")  # no text is no JSON: clients parse it
            part.pieces[:] = ["{}"]
        if out.begun:
            said, ir = self._sealed_flow(out)
            self.citing.keep_text(part, out.place.index, ir)
            if (cited := self.citing.with_citations(part, ir)) is not ir:
                said = {k: v for k, v in said.items() if k != "citations"}
                said |= {k: v for k, v in cited.items() if k == "citations"}
            if self.stream.plain:
                said = merged(dict(said), out.extra)
            self._write_closing(out, part.kind, said, cited)
            if self.stream.plain and "own" in ir:
                self._note_unsaid(part, flow, ir)
        elif self.frames_only and part.pieces and self._is_blank(part):
            self._unplaced(part.at, NO_WORD, "empty-text")

    def _note_unsaid(self, part: Part, flow: EventPair, ir: IR) -> None:
        """Note own fields of a part that flowed which no event says, and a whole one does."""
        unsaid = self._known.unsaid(flow, ir, part.kind, part.field) & self._known.whole_fields
        for path in sorted(path for path in unsaid if path[:4] == "own."):
            self._unplaced(part.at, HELD.format(f"`{path}` of this {part.kind}"))

    def _write_closing(self, out: Outgoing, kind: str, said: IR, ir: IR) -> None:
        """Write what is said of a part when it is over, and its end."""
        for word, event in self._known.closing.get(kind, ()):
            if word.act == "set":
                self.frames.write(event, said, out.place)
            else:
                keys = owned(word.field, self.dialect.family).split(".")
                listed = value_at(said, keys)
                if word.field == LIKELY:
                    listed = likely_of(said.get(TOKENS, []), self.same)
                out.place.entry = 0
                for piece in listed if isinstance(listed, list) else ():
                    more = {**said, **out.extra, "piece": piece}
                    out.place.entry += self.frames.write(event, more, out.place)
        self._write_stop(out, kind, said, ir)

    def _write_stop(self, out: Outgoing, kind: str, said: IR, ir: IR) -> None:
        """Write the end of a part, with what it is as a whole where the dialect says that."""
        fields = [f for f in LIVE if f in ir or f"{f}_text" in ir]
        found = (self.stream.get("part_stop", kind, f) for f in (*fields, ""))
        stop = next(filter(None, found), None) or self.stream.get("part_stop")
        if stop is not None:
            made = said if self.stream.plain else {**ir, **out.extra}
            whole = {"part": ir, "whole": text_of(ir)}
            self.frames.write(stop, {**made, **whole}, out.place)
        self._brackets.close_part(out.place, ir, out.rider)

    # -- parts that are whole ---------------------------------------------------------------------

    def _write_whole(self, out: Outgoing, ir: IR, depth: int) -> bool:
        """Write a whole part as it is, or as what the ladder makes of it."""
        if not self.same and blank(self.writer, ir, None):
            return False
        kind = str(ir.get("type"))
        try:
            ir = media.normalize(self.writer, ir, None)
        except Misfit:
            return False  # which the whole response tells of, too
        lost, lacks = (set(), set()) if self.same else self._known.fit(self.writer, ir)
        out.fits = out.fits or lost is not None
        rows = ladders.rows_to_try(self.writer.ladder.get(kind, ()), lost, lacks)
        for row in rows if depth < DEPTH else ():
            try:
                new, beside, _ = ladders.apply(row, ir, self.writer.trail)
            except Misfit:
                continue
            if not beside and new != ir and self._write_whole(out, new, depth + 1):
                if self.frames_only:
                    at, message = out.part.at, row.message
                    self.notes.append(Draft(row.name, row.effect, at, row.pos, message))
                return True
        if lost is None:
            return False
        if self._write_as_flow(out, ir, kind) or self._write_as_one(out, ir, kind):
            return True
        # A hidden thought flows as one without a text, where nothing else says its signature.
        hidden = kind == "reasoning" and "text" not in ir and self._is_signed(kind, ir)
        return hidden and self._write_as_flow(out, {**ir, "text": ""}, kind)

    def _write_as_flow(self, out: Outgoing, ir: IR, kind: str) -> bool:
        """Write a whole part as one that flows at once, where all of it can be said so."""
        if ir.get("name") in self._known.named_calls:
            return False
        for field in (DEFAULT_FIELD.get(kind, "text"), *LIVE):
            flow = self._known.flow(kind, field)
            value = ir.get(field, ir.get(f"{field}_text"))
            if flow is None or value is None:
                continue
            # The end of an item may say all.
            if self.same and not self._brackets.whole and self._known.unsaid(flow, ir, kind, field):
                continue
            text = value if isinstance(value, str) else ir.get(f"{field}_json") or stringify(value)
            if not text and flow.start is None and not self._is_signed(kind, ir):
                return not self.same  # nothing would be said
            ir = self._with_ride(out, ir)
            said = self._start(out, kind, ir, flow)
            if text:
                self.frames.write(flow.append, {**said, "piece": out.separator + text}, out.place)
            self._write_closing(out, kind, said, ir)
            self.rides.part_over(out.part, ir, True)
            return True
        return False

    def _write_as_one(self, out: Outgoing, ir: IR, kind: str) -> bool:
        """Write a part by the event of whole parts."""
        event = self.stream.get("part", kind) or self.stream.get("part")
        if event is None:
            return False
        ir = self._with_ride(out, ir)
        said = self._begin(out, kind, ir, None)
        if not self.stream.plain:  # an id that was made stays
            ir = {**ir, **{key: said[key] for key in ("own", "id") if key in said}}
        if not self.frames.write(event, {**said, "part": ir}, out.place):
            self._kinds[out.part.candidate].pop()
            out.begun = False
            return False
        self._ride_on_head(out, ir, event)
        self.rides.part_over(out.part, ir, True)
        if self.stream.get("part_stop", kind) is None:  # else it is for those that come in pieces
            self._write_stop(out, kind, ir, ir)
        else:  # its item ends all the same
            self._brackets.close_part(out.place, ir, out.rider)
        return True

    # -- what rides -------------------------------------------------------------------------------

    def _ride_on_head(self, out: Outgoing, said: IR, event: Event) -> None:
        """Let what is known of a part ride in the frames that begin it."""
        if self.stream.plain:
            self.rides.ride_on_head(out.part, said, event)

    def _with_ride(self, out: Outgoing, ir: IR) -> IR:
        """Return a whole part with what rides in it, and learn what does beside it."""
        if not self.stream.plain:
            out.rider = self.rides.ride_of_item(out.part, ir)
        return self.rides.with_signature(out.part, ir)

    def _sealed_flow(self, out: Outgoing) -> tuple[IR, IR]:
        """Return what is said of a part that flowed, and all of it, with what rides in it."""
        assert out.flow is not None
        part, was = out.part, out.part.ir()
        ir, append = self._with_ride(out, was), out.flow.append
        said = part.fields if ir is was else {**part.fields, "signature": ir["signature"]}
        if ir is not was and "signature" in append.holes:  # it stands beside a piece
            self.frames.write(append, {**said, **out.extra, "piece": ""}, out.place)
        self.rides.part_over(part, was, True)
        return said, ir
