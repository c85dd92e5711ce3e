"""Folding: the frames of a stream into parts, and these into the whole response.

`Fold.feed` hears the events of a frame and tells a listener of each step: parts that open, grow and
close. It knows no dialect: what it hears is what `recognising` finds by the pictures of a file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..conversion.hands import Reader
from ..ir import owned
from ..jsontext import alike
from ..language.events import LIVE, Word
from ..language.lenses import Misfit
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole
from ..notes import UNKNOWN_KEY
from ..payload import check_json
from ..trail import At, path_of
from . import additions, unplaced, wholes
from .frameforms import Flow, forms_of
from .hearing import ASIDE, Hearing, Listener
from .incoming import Candidate, Part, joined, merged, unrepeated, wires
from .outcome import MOST
from .recognising import OWNED, Failure, Frame, Sight, Taken, failing

SILENT = {"end", "keepalive"}  # what may come once more when all is over
QUIET = ("start", "append", "usage", "keepalive")  # what leaves all parts but one as they are


class Fold(Hearing):
    """The stream of one dialect as far as it has come."""

    def __init__(
        self, dialect: Dialect, listener: Listener | None = None, keep: bool = True
    ) -> None:
        """Begin a stream."""
        super().__init__(dialect, listener, keep)
        self._forms = forms_of(dialect)
        self.error: dict[str, Any] | None = None
        self.failed: list[At] = []  # where a whole response says it, too
        self.due: int | None = None  # the number that the next frame should have
        self.grew: Part | None = None  # the part that the last frame grew
        self.flow: Flow | None = None  # the form of that frame, if it did nothing else
        self._before: dict[tuple[int, str], Any] = {}  # what every frame says, as it was last said
        self._last_said: Any = None  # the response that a frame said last
        self._failure = dialect.once(Failure, lambda: Failure(dialect))

    # -- frames -----------------------------------------------------------------------------------

    def feed(self, wire: Any) -> None:
        """Hear one frame."""
        at = self.frames
        self.frames += 1
        self.frame = wire
        self.grew = self.flow = None
        if self.ended:
            sights = Frame(wire, self.dialect).sights(self.stream)
            if not sights or any(not SILENT.issuperset(one.event.acts) for one in sights):
                self.say("after-end", "lost", (at,), "this came after the end of the stream")
            return
        known = self._forms.find(wire)
        if known is not None:
            sights, common, rest, self.flow = known
            self._heard(sights, common)
            for place in rest:
                self._left(at, place)
            return
        self.stirred = True
        check_json(wire)
        frame = Frame(wire, self.dialect)
        sights = frame.sights(self.stream)
        if not self.begun and wholes.answered(self, wire, sights):
            return
        common = frame.common(self.stream.frame)
        error = self._failure.of(wire, frame)
        if error is None and not sights and self.stream.given_up(wire) is None:
            error = self._failure.foreign(wire, frame)
        self._heard(sights, common)
        if error is not None:
            self.fail(error)
        rest = self._unheard(frame, sights, error is not None, at)
        for place in frame.kept:
            self._left(at, place)
        if (sights or not rest) and error is None:
            self._forms.learn(wire, sights, common, rest)

    def _heard(self, sights: list[Sight], common: list[tuple[int, Taken]]) -> None:
        """Take what a frame says."""
        for nth, taken in common:
            key = (nth, taken[0].path)
            old = self._before.get(key, ABSENT)
            if old != taken[1]:
                self._before[key] = taken[1]
                # What is said of a field of the response that is known changes nothing.
                if not self.outcome.knows(taken[0].path.removeprefix("response.")):
                    self.stirred = True
                if ".own." in taken[0].path:
                    self.heard(taken[0].path, old, taken[1], taken[2])
                self._common(taken, nth)
        self._numbered(sights)
        if not self.begun and len(sights) > 1:  # what is counted by then may stand in a head
            sights = sorted(sights, key=lambda sight: sight.event.acts != {"usage"})
        for sight in sights:
            self._hear(sight)
        if self.error is not None:
            self.failed += failing(sights)

    def _numbered(self, sights: list[Sight]) -> None:
        """Hear the number of a frame: each one is the next."""
        due = self.due
        found = next((one for one in sights if "frame" in one.at), None)
        if found is not None:
            number = found.at["frame"]
            if due is not None and number != due:
                told = f"this frame has the number {number}, and {due} is the next"
                self.odd(told, "", found.ats["frame"])
            due = number
        self.due = None if due is None else due + 1

    def _unheard(self, frame: Frame, sights: list[Sight], failed: bool, at: int) -> list[At]:
        """Note what nothing has claimed of a frame, and return the places."""
        rest = frame.rest()
        given_up = None if sights or failed else self.stream.given_up(frame.wire)
        if given_up is not None:
            self.say("dropped", "lost", (at,), self.stream.drop[given_up], given_up)
            return rest
        for place in rest:
            if self.stream.gives_up(place) is None and not sights and not failed:
                keys = sorted(frame.wire) if isinstance(frame.wire, dict) else ()
                told = "no event of this dialect is like this frame"
                self.say("unknown-frame", "lost", (at,), told, repr(keys))
                break
            self._left(at, place)
        return rest

    def _left(self, at: int, place: At) -> None:
        """Note a leaf that no event has claimed."""
        if place not in self.unclaimed:
            self.unclaimed.add(place)
            key, told = self.stream.gives_up(place) or ("", UNKNOWN_KEY)
            code, once = ("dropped", key) if key else ("unknown-key", path_of(place))
            self.say(code, "lost", (at, *place), told, once)

    # -- what every frame says --------------------------------------------------------------------

    def _common(self, taken: Taken, nth: int) -> None:
        hole, wire, _ = taken
        owner, _, path = hole.path.partition(".")
        if owner == "response":
            self._last_said = None
            self.outcome.came.setdefault(path, self.frames - 1)
            self.outcome.say(path, hole, wire)
        elif owner == "candidate" and path == "citations":
            cited = self.outcome.of(nth)
            read = self.outcome.read(hole, wire)
            cited.listed[hole.named] = read if isinstance(read, list) else []
            cited.own[path] = unrepeated([one for found in cited.listed.values() for one in found])
        elif owner == "candidate":
            self.outcome.put(self.outcome.of(nth).own, path, hole, wire)

    # -- events -----------------------------------------------------------------------------------

    def fail(self, error: dict[str, Any]) -> None:
        """Take an error."""
        self.begin()
        self.error = error
        self.listener.failed(error, (self.frames - 1,))

    def _hear(self, sight: Sight) -> None:
        nth = sight.at.get("candidate", 0)
        if not 0 <= nth < MOST:
            at = (self.frames - 1, *sight.ats.get("candidate", ()))
            self.say("unfit", "lost", at, f"there are no {nth} answers", "candidate")
            nth = 0
        of_item = []
        for path, value in sight.found.items():
            if path.startswith("item."):
                of_item.append((path[5:], value))
            elif path.startswith(OWNED):
                self._common((self._plain(path), value, ()), nth)
        for hole, wire, at in sight.taken:
            if hole.path == "usage":
                self.outcome.count(wire, self.frames - 1)
            elif hole.path.startswith(OWNED):
                self._common((hole, wire, ()), nth)
            elif hole.path == "response":
                self._response(hole, wire, at, "finish" in sight.event.acts)
        if not self.stream.plain:  # there is an answer, even if nothing of it comes
            unplaced.number(self, sight, self.outcome.of(nth))
            wholes.checked(self, self.outcome.of(nth), sight, of_item)
        for word in sight.event.words:
            self._step(word, sight, nth)

    def _response(self, hole: Hole, wire: Any, at: At, whole: bool) -> None:
        """Take a response that stands in a frame: at the end it is the whole."""
        if not whole and alike(wire, self._last_said):
            return  # it says nothing new
        self._last_said = wire
        shape = self.dialect.units.get(hole.named)
        reader = Reader(self.dialect, self.outcome.options)
        try:
            if shape is not None:
                ir = reader.whole(shape, wire, at)
            else:
                ir = reader.shape(hole.named, wire, at, True)
        except Misfit as misfit:
            here = (self.frames - 1, *misfit.at)
            self.say("unfit", "lost", here, misfit.reason, path_of(misfit.at))
            return
        wholes.response(self, ir, reader.trail, at, whole)

    def _plain(self, path: str) -> Hole:
        return Hole((path,), None, None, (), None, None, self.stream.pos)

    def _step(self, word: Word, sight: Sight, nth: int) -> None:
        act = word.act
        if act not in QUIET:
            self.stirred = True
        if act == "start":
            self.begin()
        elif act == "end":
            self.ended = True
        elif act == "error":
            self.fail(self.fields(sight))
        elif word.kind == "candidate" and act != "part_stop":
            owner = self.outcome.of(nth)
            shaped = word.field == "citations"
            piece = additions.pieces(self, sight) if shaped else sight.found.get("piece")
            owner.flows[word.field] = joined(owner.flows.get(word.field), piece)
        elif act in HEARD:
            self.begin()
            HEARD[act](self, word, sight, self.outcome.of(nth))

    def finish(self, word: Word, sight: Sight, owner: Candidate) -> None:
        """Hear why a candidate stopped."""
        if sight.found.get("whole"):
            wholes.text(self, owner, str(sight.found["whole"]))
        aside = ("usage", "response", *OWNED)
        stops = [one for one in sight.taken if not one[0].path.startswith(aside)]
        for path, value in sight.found.items():
            if path != "whole" and not path.startswith(OWNED):
                stops.append((self._plain(path), value, ()))
        stops = [(hole, wire, (self.frames - 1, *at)) for hole, wire, at in stops]
        if stops or not _asks(sight.event.holes):
            before = wires(owner.stops)
            for key, wire in wires(stops).items():
                self.heard(key, before.get(key), wire)
            owner.stops = stops
            self.finished = True
            wholes.stop(self, owner)

    # -- parts ------------------------------------------------------------------------------------

    def part_start(self, word: Word, sight: Sight, owner: Candidate) -> None:
        address = self.address(sight)
        there = owner.places.get(address) if address else None
        said = self.fields(sight)
        piece = sight.found.get("piece") or ""
        name = str(said.get("id") or "")
        if there is None and name and sight.event.addresses:
            # The id says where it stands, or that the same call, while it is not whole, comes under
            # another number.
            alike = (p for p in owner.parts if p.given("id") == name and not (address and p.over))
            there = next(alike, None)
            if there is not None and address:
                owner.places[address] = there
        if there is not None and there.goes_on(name, said, piece):
            for key, value in said.items():
                there.said[key] = there.said.get(key) or value
                self.heard(key, there.given(key), value)
            if name and there.made:  # another id went out before it came
                there.was["id"], there.made = name, False
            self.go_on(there)
            if piece:
                self.grow(there, piece)
            wholes.told(self, there, word, sight)
            return
        if there is not None and there.open:
            self.shut(there)
        part = self.new(word.kind, word.field, owner, address)
        texts = word.field == "text" or word.field not in LIVE  # else a head says that it is empty
        part.textless = texts and "piece" not in sight.event.holes
        part.said.update((k, v) for k, v in said.items() if v != "" or k != "id")
        named = said.get("name")
        if there is not None and (named == "" or (piece and not named)):  # the same function
            part.said["name"] = there.said.get("name", "")
        self.open(part)
        if piece:
            self.grow(part, piece)

    def append(self, word: Word, sight: Sight, owner: Candidate) -> None:
        piece = sight.found.get("piece", "")
        address = self.address(sight)
        part = owner.places.get(address) if address else self._last(word, sight, owner)
        if isinstance(piece, list):
            if part is not None:
                part.add(self.outcome.keys_of(word.field), piece)
            return
        said = self.fields(sight)
        if part is None and address and word.kind == "tool_call":
            part = unplaced.astray(self, owner, piece, address)
        if part is not None and address:
            wholes.told(self, part, word, sight)
        if part is not None and not address:
            anew = "signature" in sight.event.holes and "signature" not in said
            signed = part.sealed or (anew and bool(part.said.get("signature")))
            if wholes.clash(part.said, said) or (piece and signed):
                part = None  # what is signed has ended
        if part is None or (address and not part.open):
            if not piece and not said:
                return
            part = self.new(word.kind, word.field, owner, address)
            part.key = sight.places.get("piece", (None,))[-1]
            part.said.update(said)
            if word.kind == "tool_call" and not said.get("name"):
                told = "this is a piece of a call that nothing began: it has no name"
                self.odd(told, f"head/{part.name}")
            self.open(part)
            self.stirred = True
        else:
            if part.whole and not part.field:
                part.field = self._flowing(part.kind, word)
                self.stirred = True
            if said and (wholes.clash(part.said, said) or said.keys() - part.said.keys()):
                self.stirred = True
            merged(part.said, said, over=True)
            self.go_on(part)
        if piece:
            self.grow(part, piece)
            self.grew = None if part.waits else part

    def _flowing(self, kind: str, word: Word) -> str:
        """Return the field of a part that came as a whole, into which more flows."""
        words = [word] if word.kind == kind else [w for w in self.stream.of if w.kind == kind]
        field = next((w.field for w in words if w.act == "append"), "")
        return owned(field, self.dialect.family)

    def _last(self, word: Word, sight: Sight, owner: Candidate) -> Part | None:
        """Return the part that goes on where nothing says which."""
        for part in reversed(owner.parts):
            if part.kind == word.kind and part.field == word.field:
                return part if part.open else None
            if not sight.event.addresses and self.stream.get("part", part.kind) is None:
                return None
        return None

    def part(self, word: Word, sight: Sight, owner: Candidate) -> None:
        """Hear a whole part: it stays open only where frames after it may address it."""
        found = next((one for one in sight.taken if one[0].path == "part"), None)
        if found is None:
            return
        hole, wire, at = found
        parts, _ = self.elements(hole.named, wire, at)
        address = self.address(sight)
        before = owner.places.get(address) if address else None
        if before is not None and before.open and all(ir["type"] == "unknown" for ir in parts):
            address = ()  # it may be a piece of that part, which goes on
        elif before is not None and before.open:
            self.shut(before)
        for ir in parts:
            part = self.whole(ir, owner, address)
            ends = self.stream.get("part_stop") or self.stream.get("item_stop")
            if not address or ends is None:
                self.shut(part)

    # -- the end ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Close what is open; nothing more comes. Whatever came, a stream has begun."""
        if self.frames:
            self.begin()
        for owner in self.outcome.candidates:
            owner.cite(self.dialect)
            for part in list(owner.parts):
                if part.open:
                    self.shut(part)
            wholes.closed(self, owner)


# What is heard of an answer, by what an event does.
HEARD: dict[str, Callable[[Any, Word, Sight, Candidate], None]] = {
    "set": additions.laid, "put": additions.put, "add": additions.added,
    "finish": Fold.finish, "part_start": Fold.part_start, "append": Fold.append, "part": Fold.part,
    "part_stop": wholes.stopped, "item_start": wholes.begun, "item_stop": wholes.item,
}  # fmt: skip


def _asks(holes: frozenset[str]) -> bool:
    """Tell whether a picture of the end says why."""
    aside = {*ASIDE, "whole", "piece"} - {"."}
    return any(h not in aside and not h.startswith((*OWNED, "at.")) for h in holes)
