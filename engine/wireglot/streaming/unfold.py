"""Unfolding: the steps of a stream written as frames of a dialect.

It hears what a fold tells (a head, parts that open, grow and close, an end) and writes what the
target's pictures say of each step.
"""

from __future__ import annotations

import copy
from typing import Any

from ..conversion.hands import Writer
from ..interpreter import making, units
from ..interpreter.unpictured import kind_by_status, says_more
from ..ir import IR, SLIGHT, owned, put_at
from ..language.events import Event
from ..language.lenses import Misfit
from ..notes import Draft, Weight, no_place
from ..trail import At, value_at
from .incoming import Candidate, Part, text_of
from .outcome import Outcome
from .outgoing import Outgoing, Place
from .parts import HELD, Parts

UNSAID = "{} would stand at the end, which did not come; the whole response has that"


def _weight(path: str) -> Weight:
    """Return what the loss of a field of a response weighs."""
    return "slight" if ("response", path) in SLIGHT else ""


class Unfold(Parts):
    """The stream of one dialect, written as it comes."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer)
        self._aside: list[Part] = []  # parts of answers that the target has no place for
        self._counts_written: Any = None  # the counts that the head said
        self._headed = {0}  # the candidates whose head is written
        self.unasked: frozenset[str] = frozenset()  # what events do that the client did not ask for

    # -- what a fold tells ------------------------------------------------------------------------

    def begun(self, outcome: Outcome) -> None:
        """Write the head of the stream."""
        self.frames.head, self.frames.outcome = outcome.response, outcome
        self._make_ids(outcome)
        event = self.stream.get("start")
        if event is not None:
            self._counts_written = outcome.counts() if "usage" in event.holes else None
            notes = self.writer.notes
            mark = len(notes)
            self.frames.write(event, {"usage": self._counts_written or {}})
            # What a head has no place for may stand at the end, which tells what has none.
            notes[mark:] = [draft for draft in notes[mark:] if draft.effect != "lost"]

    def _head(self, nth: int) -> None:
        """Write the head of a further candidate, where heads say of which one they are."""
        event = self.stream.get("start")
        if nth in self._headed or event is None or "at.candidate" not in event.holes:
            return
        self._headed.add(nth)
        self.frames.write(event, {"usage": {}}, Place(nth))

    def _make_ids(self, outcome: Outcome) -> None:
        """Make the ids of the response that the target wants and the source lacks."""
        for path, hole in self._known.made_ids.items():
            keys = owned(path, self.dialect.family).split(".")
            if not value_at(outcome.response, keys):
                put_at(self.frames.added, keys, making.answer_id(str(hole.value), outcome.seed))
                self.writer.note("made-id", "added", None, hole.pos, making.TOLD)

    def opened(self, part: Part) -> None:
        """Take a part that begins."""
        if part.candidate and not self._known.many_answers:
            return
        self._head(part.candidate)
        out = Outgoing(part)
        named = part.fields.get("name") in self._known.named_calls
        flows = not (part.whole or named or part.rewrite is not None)
        if flows and self._target_holds(part):
            out.flow = self._known.flow(part.kind, part.field)
        self._outgoing[id(part)] = out
        self._queue(out).append(out)
        self._write_ready(part)

    def grown(self, part: Part, piece: str) -> None:
        """Take a piece of a part."""
        out = self._outgoing.get(id(part))
        if out is not None and out.closed and piece.strip():
            message = f"a piece of a {part.kind} came when it was whole, and its end was written"
            if not any(one.message == message and one.source == part.at for one in self.notes):
                self._unplaced(part.at, message)
        self._write_ready(part)

    def closed(self, part: Part) -> None:
        """Take the end of a part; one of another answer waits for the end, which says who acts."""
        if part.candidate and not self._known.many_answers:
            self._aside.append(part)
        self._write_ready(part)
        self._outgoing.pop(id(part), None)

    def failed(self, error: IR, at: At) -> None:
        """Write an error, which a frame said; nothing follows it."""
        if self.failed_already:
            self._unplaced(at, "an error ended the stream before this one came")
            return
        self.flush()
        mark = len(self.writer.notes)
        said = error.get("kind")
        kind = kind_by_status(error.get("http"), said)
        if kind is not None:
            if said is not None:
                message = says_more(error["http"], said)
                self.notes.append(Draft("reworded", "changed", at, self.stream.pos, message))
            error = {**error, "kind": kind}  # what is written; what was heard stays as it is
        shape, event = self.dialect.units.get("error"), self.stream.get("error")
        try:
            if event is not None:
                self.frames.put_error(event, error)
            elif shape is not None:
                self.frames.add([units.write_stepping(self.writer, shape, error)])
            else:
                self._unplaced(at, "the target has no form for an error")
        except Misfit as misfit:
            self._unplaced(at, f"the target has no form for this error: {misfit.reason}")
        for draft in self.writer.notes[mark:]:
            if draft.effect in ("lost", "changed"):
                told = draft.code, draft.effect, at, draft.rule, draft.message
                self.notes.append(Draft(*told, weight=draft.weight))
        del self.writer.notes[mark:]
        self.failed_already = True

    def end(self, outcome: Outcome, cut: bool) -> None:
        """Write why it stopped, the counts and the end; of a stream that was cut, what there is."""
        # A target that holds one answer has written the first so far; of several the one that calls
        # a tool is the answer, and follows now.
        one = not (self._known.many_answers or cut)
        acting = units.acting_answer([owner.kinds for owner in outcome.candidates]) if one else 0
        self.flush()
        if acting and not self.failed_already:
            self._write_acting(acting)
        if self.failed_already:
            self._note_unheld(outcome, outcome.counts())
            self._note_unsaid_end(outcome)
            return
        self._write_left_rides(outcome, cut)
        counts = outcome.counts()
        self._note_unheld(outcome, counts)
        for at, late in self.citing.late_notes(outcome):
            self._unplaced(at, late)
        self.frames.head = outcome.response
        finish = self._known.finish
        # They stand where the last answer ends, if a frame of that has a place for them, else in a
        # frame of their own.
        told = False  # whether the counts are written
        if finish and not cut:
            owners = outcome.candidates or [Candidate()]
            owners = owners if self._known.many_answers else owners[acting : acting + 1]
            for nth, owner in enumerate(owners):
                self._head(nth)
                last = nth == len(owners) - 1
                for beside, piece in self._flows_of(outcome, owner):
                    self.frames.write(beside, {"piece": piece}, Place(nth))
                self.citing.write(self.frames, outcome, owner, nth)
                for event, free in finish:  # the first that can say it
                    usage = counts if last else None
                    usage = {} if usage is None and not free else usage
                    if self._finish(event, outcome, owner, nth, usage):
                        told = last and "usage" in event.acts
                        break
                else:
                    if owner.stops:
                        self._unplaced(owner.stops[0][2], "no frame can say why it stopped")
        apart = self._known.usage
        if apart is not None and counts is not None and not told and "usage" not in self.unasked:
            self.frames.write(apart, {"usage": counts})
            self._counts_written = counts
        end = self.stream.get("end")
        if cut:
            self._note_unsaid_end(outcome)
        elif end is not None and "finish" not in end.acts:
            self.frames.write(end, {"usage": counts or {}} if "usage" in end.acts else {})
            told = told or "usage" in end.acts
        elsewhere = apart is not None or "usage" in {*self._known.unheld, *self.unasked}
        if counts and not (told or cut or elsewhere or counts == self._counts_written):
            self._unplaced(outcome.usage_place, HELD.format("these counts"))  # beside no reason

    def _note_unheld(self, outcome: Outcome, counts: IR | None) -> None:
        """Note what is said of the response that no event says, though a whole response does."""
        known, family = self._known, self.dialect.family
        said = {**outcome.response, "usage": counts}
        found: list[Any] = [(known.unheld, said, None)]
        for owner in outcome.candidates if known.unheld_of_one else ():
            own = {family: self._own_fields(outcome, owner)}
            one = {**owner.flows, **outcome.stop_fields(owner), "own": own}
            found.append((known.unheld_of_one, one, owner))
        for unheld, fields, answer in found:
            for path, keys in unheld.items():
                value = value_at(fields, keys) if keys[0] in fields else None
                is_own = keys[0] == "own"
                if value in (None, "") or (value in ([], {}) and not is_own):
                    continue
                at, message = outcome.place_of(path, answer), HELD.format(f"`{path}`")
                if is_own and answer is None and keys[-1] in outcome.dialect.weights.repeated:
                    self.notes.append(Draft("own-field", "repeated", at, self.stream.pos, message))
                else:
                    self._unplaced(at, message, weight=_weight(path if answer is None else ""))
        for path in outcome.response if self.frames_only else ():
            if path != "own" and path not in known.unheld and not known.tells("response", path):
                at = outcome.place_of(path)
                self._unplaced(at, no_place(path), weight=_weight(path))

    def _note_unsaid_end(self, outcome: Outcome) -> None:
        """Note what is written with the end alone, of a stream that has none."""
        counts = outcome.counts()
        if counts is not None and counts != self._counts_written and "usage" not in self.unasked:
            self._unplaced(outcome.usage_place, UNSAID.format("these counts"))
        for path, keys in self._known.said_last.items():
            if value_at(outcome.response, keys):
                at = outcome.place_of(path)
                self._unplaced(at, UNSAID.format(f"`{path}`"), weight=_weight(path))
        for nth, owner in enumerate(
            outcome.candidates if self._known.many_answers else outcome.candidates[:1]
        ):
            if self.citing.citations_of(outcome, owner, nth).get("citations"):
                self._unplaced((), UNSAID.format("what the texts cite"))
            if self._flows_of(outcome, owner):
                self._unplaced((), UNSAID.format("what came beside the parts"))

    def _write_acting(self, nth: int) -> None:
        """Write the parts of the answer that acts behind what was written of the first one."""
        for part in self._aside:
            if part.candidate == nth:
                first = copy.copy(part)
                first.candidate = 0
                self.opened(first)
                self.closed(first)
        self.flush()

    def _finish(
        self, event: Event, outcome: Outcome, owner: Candidate, nth: int, usage: IR | None
    ) -> bool:
        """Write why an answer stopped by an event; tell whether the event can say it.

        `nth` is the number of the answer at the target, `usage` what is said of the counts, if
        anything: an empty object where a frame must say that there are none.
        """
        stop = outcome.stop_fields(owner)
        own = self._own_fields(outcome, owner)
        answered = {"tool_result"}.intersection(owner.kinds)
        kinds = [{"type": kind} for kind in (*self._kinds.get(nth, ()), *answered)]
        said: IR = {**stop, "parts": kinds, "candidate": {"own": own}}
        if "candidate.citations" in event.holes:
            said["candidate"].update(self.citing.citations_of(outcome, owner, nth))
        if self._last_text is not None and "whole" in event.holes:
            said["whole"] = text_of(self._last_text.ir())
        if not self.stream.plain:
            one = {**stop, "parts": self._brackets.parts(nth)}
            self.frames.whole_fields = {"candidates": [one], **({"usage": usage} if usage else {})}
        if usage is not None:
            said["usage"] = usage
        mark = len(self.writer.notes)
        done = self.frames.write(event, said, Place(nth))
        if owner.stops and not event.holes & {"response", "."}:  # which say more than a word
            at, drafts = owner.stops[0][2], self.writer.notes[mark:]
            self.writer.notes[mark:] = [one for one in drafts if one.code != "reworded"]
            for draft in drafts:
                if draft.code == "reworded":
                    told = draft.code, draft.effect, at, draft.rule, draft.message
                    self.notes.append(Draft(*told))
        self._brackets.write_rides(nth)
        return done

    def _flows_of(self, outcome: Outcome, owner: Candidate) -> list[tuple[Event, Any]]:
        """Return what flows into a candidate besides parts, each with the event that says it.

        Its fields are those of one family.
        """
        if outcome.dialect.family != self.dialect.family:
            return []
        own = self._own_fields(outcome, owner)
        found = [
            (event, own.get(word.field.removeprefix("own."), owner.flows.get(word.field)))
            for word, event in self.stream.of.items()
            if word.act == "append" and word.kind == "candidate" and word.field != "citations"
        ]
        return [(event, piece) for event, piece in found if piece is not None]

    def _own_fields(self, outcome: Outcome, owner: Candidate) -> IR:
        """Return the own fields of a candidate that this dialect knows."""
        said = {**owner.own.get("own", {}), **outcome.stop_fields(owner).get("own", {})}
        found: IR = said.get(self.dialect.family, {})
        return found

    def _write_left_rides(self, outcome: Outcome, cut: bool) -> None:
        """Let what is left ride beside a piece without a text."""
        event = self.stream.get("append", "text", "text")
        if event is None or cut:
            return
        for nth in range(max(1, len(outcome.candidates))):
            if self.rides.has_left(nth) and self.frames.write(event, {"piece": ""}, Place(nth)):
                self.rides.ride_on_piece(nth, event)
