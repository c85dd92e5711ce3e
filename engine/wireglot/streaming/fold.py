"""Folding: the frames of a stream into parts, and these into the whole response.

`Fold.feed` hears the events of a frame and tells a listener of each step: parts that open, grow and
close. It knows no dialect: what it hears is what `recognising` finds by the pictures of a file.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ..conversion.hands import Reader
from ..ir import IR, owned
from ..jsontext import alike
from ..language.events import LIVE, Word
from ..language.lenses import Misfit
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole
from ..payload import check_json
from ..trail import At, path_of
from . import additions, recognising, unplaced, wholes
from .frameforms import Forms, GrowthForm
from .hearing import NOT_PLAIN_FIELDS, Address, Hearing, Listener
from .incoming import Candidate, Part, concatenated, merged, stop_values, without_repeats
from .outcome import MOST
from .recognising import NOT_OF_PART, Common, EventMatch, Frame, HoleMatch

AFTER_END = {"end", "keepalive"}  # what may come once more when all is over
STEADY = ("start", "append", "usage", "keepalive")  # what leaves all parts but one as they are


class Fold(Hearing):
    """The stream of one dialect as far as it has come."""

    def __init__(
        self, dialect: Dialect, listener: Listener | None = None, keep: bool = True
    ) -> None:
        """Begin a stream."""
        super().__init__(dialect, listener, keep)
        self._forms = dialect.once(Forms, lambda: Forms(dialect))
        self.error: IR | None = None
        self.error_places: list[At] = []  # where a whole response says it, too
        self.next_number: int | None = None  # the number that the next frame should have
        self.grew: Part | None = None  # the part that the last frame grew
        self.growth: GrowthForm | None = None  # the form of that frame, if it did nothing else
        # What every frame says, as it was last said, by candidate and path.
        self._last_common: dict[tuple[int, str], Any] = {}
        self._last_response: Any = None  # the response that a frame said last

    # -- frames -----------------------------------------------------------------------------------

    def feed(self, wire: Any) -> None:
        """Hear one frame."""
        at = self.frames
        self.frames += 1
        self.frame = wire
        self.grew = self.growth = None
        if self.ended:
            matches = Frame(wire, self.dialect).matches(self.stream)
            if not matches or any(not AFTER_END.issuperset(one.event.acts) for one in matches):
                self.note("after-end", "lost", (at,), "this came after the end of the stream")
            return
        known = self._forms.find(wire)
        if known is not None:
            matches, common, rest, self.growth = known
            self._take_content(matches, common)
            for place in rest:
                self.note_leaf(at, place)
            return
        self.changed = True
        check_json(wire)
        frame = Frame(wire, self.dialect)
        matches = frame.matches(self.stream)
        if not self.begun and wholes.take_unstreamed(self, wire, matches):
            return
        common = frame.common_values(self.stream.frame)
        error = frame.error()
        if error is None and not matches and self.stream.dropped_frame(wire) is None:
            error = frame.foreign_error()
        self._take_content(matches, common)
        if error is not None:
            self.fail(error)
        rest = self.note_unclaimed(frame, bool(matches) or error is not None, at)
        for place in frame.unpictured:
            self.note_leaf(at, place)
        if (matches or not rest) and error is None:
            self._forms.learn(wire, matches, common, rest)

    def _take_content(self, matches: list[EventMatch], common: Common) -> None:
        for nth, taken in common:
            key = (nth, taken[0].path)
            old = self._last_common.get(key, ABSENT)
            if old != taken[1]:
                self._last_common[key] = taken[1]
                # What is said of a field of the response that is known changes nothing.
                if not self.outcome.is_settled(taken[0].path.removeprefix("response.")):
                    self.changed = True
                if ".own." in taken[0].path:
                    self.note_if_differs(taken[0].path, old, taken[1], taken[2])
                self._take_common(taken, nth)
        self._check_number(matches)
        if not self.begun and len(matches) > 1:  # what is counted by then may stand in a head
            matches = sorted(matches, key=lambda match: match.event.acts != {"usage"})
        for match in matches:
            self._take_event(match)
        if self.error is not None:
            self.error_places += recognising.failed_in_response(matches)

    def _check_number(self, matches: list[EventMatch]) -> None:
        """Hear the number of a frame: each one is the next."""
        due = self.next_number
        found = next((one for one in matches if "frame" in one.address), None)
        if found is not None:
            number = found.address["frame"]
            if due is not None and number != due:
                message = f"this frame has the number {number}, and {due} is the next"
                self.note_inconsistent(message, "", found.address_at["frame"])
            due = number
        self.next_number = None if due is None else due + 1

    # -- what every frame says --------------------------------------------------------------------

    def _take_common(self, taken: HoleMatch, nth: int) -> None:
        hole, wire, at = taken
        scope, _, path = hole.path.partition(".")
        if scope == "response":
            self._last_response = None
            self.outcome.first_said.setdefault(path, self.frames - 1)
            self.outcome.set_response_field(path, hole, wire, (self.frames - 1, *at))
        elif scope == "candidate" and path == "citations":
            owner, read = self.outcome.candidate(nth), self.outcome.read_hole(hole, wire)
            owner.cited_by_shape[hole.named] = read if isinstance(read, list) else []
            cited = itertools.chain.from_iterable(owner.cited_by_shape.values())
            owner.own[path] = without_repeats(list(cited))
        elif scope == "candidate":
            self.outcome.set_from_wire(self.outcome.candidate(nth).own, path, hole, wire)

    # -- events -----------------------------------------------------------------------------------

    def fail(self, error: IR) -> None:
        """Take an error."""
        self.begin()
        for owner in self.outcome.candidates:  # nothing more is said of what texts cite
            for part in [one for one in owner.parts if one.open and one.may_cite]:
                self.close_part(part)
        self.error = error
        self.listener.failed(error, (self.frames - 1,))

    def _take_event(self, match: EventMatch) -> None:
        nth = match.address.get("candidate", 0)
        if not 0 <= nth < MOST:
            at = (self.frames - 1, *match.address_at.get("candidate", ()))
            self.note("unfit", "lost", at, f"there are no {nth} answers", "candidate")
            nth = 0
        of_item = []
        for path, value in match.values.items():
            if path.startswith("item."):
                of_item.append((path[5:], value))
            elif path.startswith(NOT_OF_PART):
                self._take_common((self._plain_hole(path), value, ()), nth)
        for hole, wire, at in match.shaped:
            if hole.path == "usage":
                self.outcome.count(wire, self.frames - 1)
            elif hole.path.startswith(NOT_OF_PART):
                self._take_common((hole, wire, ()), nth)
            elif hole.path == "response":
                self._take_response(hole, wire, at, "finish" in match.event.acts)
        if not self.stream.plain:  # there is an answer, even if nothing of it comes
            unplaced.number_event(self, match, self.outcome.candidate(nth))
            wholes.check_item_fields(self, self.outcome.candidate(nth), match, of_item)
        for word in match.event.words:
            self._act(word, match, nth)

    def _take_response(self, hole: Hole, wire: Any, at: At, whole: bool) -> None:
        """Take a response that stands in a frame: at the end it is the whole."""
        if not whole and alike(wire, self._last_response):
            return  # it says nothing new
        self._last_response = wire
        shape = self.dialect.units.get(hole.named)
        reader = Reader(self.dialect, self.outcome.options)
        try:
            if shape is not None:
                ir = reader.whole(shape, wire, at)
            else:
                ir = reader.shape(hole.named, wire, at, True)
        except Misfit as misfit:
            here = (self.frames - 1, *misfit.at)
            self.note("unfit", "lost", here, misfit.reason, path_of(misfit.at))
            return
        wholes.take_response(self, ir, reader.trail, at, whole)

    def _plain_hole(self, path: str) -> Hole:
        return Hole((path,), None, None, (), None, None, self.stream.pos)

    def _act(self, word: Word, match: EventMatch, nth: int) -> None:
        act = word.act
        if act not in STEADY:
            self.changed = True
        if act == "start":
            self.begin()
        elif act == "end":
            self.ended = True
        elif act == "error":
            self.fail(self.part_fields(match))
        elif word.kind == "candidate" and act != "part_stop":
            owner = self.outcome.candidate(nth)
            shaped = word.field == "citations"
            piece = additions.elements_of(self, match) if shaped else match.values.get("piece")
            owner.flows[word.field] = concatenated(owner.flows.get(word.field), piece)
        elif act in ACTIONS:
            self.begin()
            ACTIONS[act](self, word, match, self.outcome.candidate(nth))

    def finish(self, word: Word, match: EventMatch, owner: Candidate) -> None:
        """Hear why a candidate stopped."""
        if match.values.get("whole"):
            wholes.take_last_text(self, owner, str(match.values["whole"]))
        aside = ("usage", "response", *NOT_OF_PART)
        stops = [one for one in match.shaped if not one[0].path.startswith(aside)]
        for path, value in match.values.items():
            if path != "whole" and not path.startswith(NOT_OF_PART):
                stops.append((self._plain_hole(path), value, ()))
        stops = [(hole, wire, (self.frames - 1, *at)) for hole, wire, at in stops]
        silent = {*NOT_PLAIN_FIELDS, "whole", "piece"} - {"."}
        asked = (h for h in match.event.holes if not h.startswith((*NOT_OF_PART, "at.")))
        if stops or silent.issuperset(asked):  # else the frame could say why, and does not
            before = stop_values(owner.stops)
            for key, wire in stop_values(stops).items():
                self.note_if_differs(key, before.get(key), wire)
            owner.stops = stops
            self.finished = True
            wholes.check_stop(self, owner)

    # -- parts ------------------------------------------------------------------------------------

    def part_start(self, word: Word, match: EventMatch, owner: Candidate) -> None:
        """Hear the head of a part: of a new one, or of one that was begun, once more."""
        address, said = self.address(match), self.part_fields(match)
        piece = match.values.get("piece") or ""
        begun = self._begun_part(match, owner, address, str(said.get("id") or ""))
        if begun is not None and begun.continues_with(str(said.get("id") or ""), said, piece):
            self._head_again(begun, said, piece)
            wholes.check_kind(self, begun, word, match)
            return
        if begun is not None and begun.open:
            self.close_part(begun)
        part = self.new_part(word.kind, word.field, owner, address)
        texts = word.field == "text" or word.field not in LIVE  # else a head says that it is empty
        part.textless = texts and "piece" not in match.event.holes
        part.fields.update((k, v) for k, v in said.items() if v != "" or k != "id")
        name = said.get("name")
        if begun is not None and (name == "" or (piece and not name)):  # the same function
            part.fields["name"] = begun.fields.get("name", "")
        self.open_part(part)
        if piece:
            self.grow_part(part, piece)

    def _begun_part(
        self, match: EventMatch, owner: Candidate, address: Address, call_id: str
    ) -> Part | None:
        """Return the part that a head may be of: the one at its address, or with its id."""
        found = owner.by_address.get(address) if address else None
        if found is None and call_id and match.event.addresses:
            # The same call may come under another number, while it is not whole.
            same = (part for part in owner.parts if part.source_value("id") == call_id)
            found = next((part for part in same if not (address and part.complete)), None)
            if found is not None and address:
                owner.by_address[address] = found
        return found

    def _head_again(self, part: Part, said: IR, piece: str) -> None:
        """Take what a further head says of a part: what it lacks, and the next piece."""
        for key, value in said.items():
            part.fields[key] = part.fields.get(key) or value
            self.note_if_differs(key, part.source_value(key), value)
        if said.get("id") and part.id_made:  # another id went out before it came
            part.originals["id"], part.id_made = str(said["id"]), False
        self.announce_if_named(part)
        if piece:
            self.grow_part(part, piece)

    def append(self, word: Word, match: EventMatch, owner: Candidate) -> None:
        """Hear a piece of a part; where none is open that it could be of, a part begins with it."""
        piece = match.values.get("piece", "")
        address = self.address(match)
        part = owner.by_address.get(address) if address else self._open_tail(word, match, owner)
        if isinstance(piece, list):
            if part is not None:
                part.extend(self.outcome.keys_of(word.field), piece)
            return
        said = self.part_fields(match)
        if part is None and address and word.kind == "tool_call":
            part = unplaced.misnumbered_call(self, owner, piece, address)
        if part is not None and address:
            wholes.check_kind(self, part, word, match)
        if part is not None and not address:
            anew = "signature" in match.event.holes and "signature" not in said
            signed = part.signed_late or (anew and bool(part.fields.get("signature")))
            if wholes.contradicts(part.fields, said) or (piece and signed):
                part = None  # what is signed has ended
        if part is None or (address and not part.open):
            if not piece and not said:
                return
            part = self.new_part(word.kind, word.field, owner, address)
            part.piece_key = match.values_at.get("piece", (None,))[-1]
            part.fields.update(said)
            if word.kind == "tool_call" and not said.get("name"):
                message = "this is a piece of a call that nothing began: it has no name"
                self.note_inconsistent(message, f"head/{part.label}")
            self.open_part(part)
            self.changed = True
        else:
            if part.whole and not part.field:
                part.field = self._append_field(part.kind, word)
                self.changed = True
            if said and (wholes.contradicts(part.fields, said) or said.keys() - part.fields.keys()):
                self.changed = True
            merged(part.fields, said, over=True)
            self.announce_if_named(part)
        if piece:
            self.grow_part(part, piece)
            self.grew = None if part.unannounced else part

    def _append_field(self, kind: str, word: Word) -> str:
        """Return the field of a part that came as a whole, into which more flows."""
        words = [word] if word.kind == kind else [w for w in self.stream.of if w.kind == kind]
        field = next((w.field for w in words if w.act == "append"), "")
        return owned(field, self.dialect.family)

    def _open_tail(self, word: Word, match: EventMatch, owner: Candidate) -> Part | None:
        """Return the part that goes on where nothing says which."""
        for part in reversed(owner.parts):
            if part.kind == word.kind and part.field == word.field:
                return part if part.open else None
            if not match.event.addresses and self.stream.get("part", part.kind) is None:
                return None
        return None

    def part(self, word: Word, match: EventMatch, owner: Candidate) -> None:
        """Hear a whole part: it stays open only where frames after it may address it."""
        found = next((one for one in match.shaped if one[0].path == "part"), None)
        if found is None:
            return
        hole, wire, at = found
        parts, _ = self.read_elements(hole.named, wire, at)
        address = self.address(match)
        before = owner.by_address.get(address) if address else None
        if before is not None and before.open and all(ir["type"] == "unknown" for ir in parts):
            address = ()  # it may be a piece of that part, which goes on
        elif before is not None and before.open:
            self.close_part(before)
        for ir in parts:
            part = self.take_whole_part(ir, owner, address)
            ends = self.stream.get("part_stop") or self.stream.get("item_stop")
            if not address or ends is None:
                self.close_part(part)

    # -- the end ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Close what is open; nothing more comes. Whatever came, a stream has begun."""
        if self.frames:
            self.begin()
        for owner in self.outcome.candidates:
            owner.share_citations(self.dialect)
            for part in list(owner.parts):
                if part.open:
                    self.close_part(part)
            wholes.note_empty_items(self, owner)


# What is heard of an answer, by what an event does.
ACTIONS: dict[str, Callable[[Any, Word, EventMatch, Candidate], None]] = {
    "set": additions.set_fields, "put": additions.put_value, "add": additions.add_elements,
    "finish": Fold.finish, "part_start": Fold.part_start, "append": Fold.append, "part": Fold.part,
    "part_stop": wholes.stop_part, "item_start": wholes.start_item, "item_stop": wholes.stop_item,
}  # fmt: skip
