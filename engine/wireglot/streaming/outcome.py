"""The outcome of a stream: the response as far as it is known, and what the IR has of it."""

from __future__ import annotations

import contextlib
from typing import Any

from ..conversion.hands import Reader, Writer
from ..interpreter import building, selfholes
from ..interpreter.citations import candidates_of
from ..interpreter.env import Env
from ..interpreter.within import stop_with_calls
from ..ir import IR, owned, put_at, without_memory
from ..language.lenses import Misfit
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole, placed
from ..language.shape import Case
from ..seeds import Seed
from ..trail import At, Trail
from .incoming import Candidate, merged

MOST = 128  # candidates of one response, and ends of candidates that are remembered
SHORT = 500  # signs of an end that is remembered


class ResponseLayout:
    """Where a dialect has what a stream says, as far as that is known before anything comes."""

    def __init__(self, dialect: Dialect) -> None:
        stream = dialect.streamed
        picture = stream.frame or stream.events[0].reads[0]
        self.case = Case("", "", picture, None, {}, None, stream.pos)
        # Where a whole response has what is said of a candidate, by path and shape of the hole.
        self.stop_places: dict[tuple[str, str | None], At] = {}
        # Where a whole response has what frames say of it in a form of their own.
        self.response_places: dict[str, At] = {
            hole.path: at
            for case in dialect.pictured("response")
            for at, hole in placed(case.wire)
            if isinstance(hole, Hole) and hole.lenses and not hole.shape
        }
        # The holes that hold the parts of a candidate, and whether a call may have no id.
        self.part_lists: list[Hole] = []
        # The shapes of these, by the keys that they stand under.
        self.shapes_by_key: dict[str, list[str | None]] = {}
        for case in candidates_of(dialect):
            below = [pair for pair in placed(case.wire) if "[]" not in pair[0]]
            for at, hole in below:
                if isinstance(hole, Hole) and hole.path == "parts" and at:
                    self.shapes_by_key.setdefault(str(at[-1]), []).append(hole.shape)
            found = {(p.path, p.shape): at for at, p in below if isinstance(p, Hole)}
            self.stop_places = {**found, **self.stop_places}
            self.part_lists += case.lists.get("parts", ())
        ids = (hole for hole in dialect.holes_in("tool_call") if hole.path == "id")
        self.ids_optional = any(hole.mark for hole in ids)
        self.stop_cache: dict[str, IR] = {}  # why answers stopped, by what said it


class Outcome:
    """What the frames of a dialect have said so far of their response."""

    def __init__(self, dialect: Dialect, options: dict[str, Any] | None = None) -> None:
        """Begin; `options` are those of its readers."""
        self.dialect, self.options = dialect, options or {}
        self.response: IR = {}
        self.candidates: list[Candidate] = []
        self._seed: Seed | None = None
        self.usage: Any = None  # as it is on the wire
        # The response, where the stream says it at the end.
        self.whole_ir: IR | None = None
        self.usage_place: At = ()  # the frame that counted last
        self.unreadable: dict[str, At] = {}  # what could not be read, by the hole that wanted it
        self.digest: str | None = None  # a digest of the request that it answers
        self.first_frame: Any = None  # the frame in which it began
        self.time: Any = None  # the first one that a frame says, as it stands there
        self.first_said: dict[str, int] = {}  # the frames that said fields of the response first
        self._reader = Reader(dialect, self.options)
        self._layout = dialect.once(ResponseLayout, lambda: ResponseLayout(dialect))
        self.case = self._layout.case

    def candidate(self, nth: int) -> Candidate:
        """Return a candidate by its number."""
        while len(self.candidates) <= nth and len(self.candidates) <= MOST:
            self.candidates.append(Candidate())
        return self.candidates[nth if nth < MOST else MOST]

    @property
    def seed(self) -> Seed:
        """The seed of the ids that are made for it: what was known when the first was made."""
        if self._seed is None:
            named = self.response.get("id")
            self._seed = Seed(self.digest, named, self.time, self.first_frame, self.dialect.pieces)
        return self._seed

    def count(self, wire: Any, frame: int) -> None:
        """Take the token counts of a frame; they lie over earlier ones."""
        known = isinstance(self.usage, dict) and isinstance(wire, dict)
        self.usage = merged(dict(self.usage), wire, over=True) if known else wire
        self.usage_place = (frame,)

    # -- values -----------------------------------------------------------------------------------

    def is_settled(self, path: str) -> bool:
        """Tell whether a field of the response is said for good."""
        return bool(self.response.get(path)) and not path.startswith("own.")

    def set_response_field(self, path: str, hole: Hole, wire: Any, at: At) -> None:
        """Take a field of the response, from `at`: the first frame that says it is right."""
        known = path in self.response and not path.startswith("own.")
        if known and (self.response[path] or not wire):
            return
        if path == "created":
            self.time = wire
        if not hole.lenses or hole.shape:
            self.set_from_wire(self.response, path, hole, wire)
            return
        env, there = Env((), self.case, True), self._layout.response_places.get(path, ())
        try:
            self._reader.hole(hole, wire, there, there, env)
        except Misfit:
            self.unreadable[path] = at
            return
        for value, _ in env.fields.values():
            self.set_at(self.response, path, value)
        if there:
            building.attach(self._reader, self.response, env)  # how it was spelled

    def place_of(self, path: str, owner: Candidate | None = None) -> At:
        """Return the place of a field of the response or an answer: the frame that said it."""
        if owner is not None:
            return owner.stops[0][2][:1] if owner.stops else ()
        return self.usage_place if path == "usage" else (self.first_said.get(path, 0),)

    def set_from_wire(self, owner: dict[str, Any], path: str, hole: Hole, wire: Any) -> None:
        """Put the value of a hole at a path of an IR object."""
        value = self.read_hole(hole, wire) if hole.lenses or hole.shape else wire
        if value is not ABSENT:
            self.set_at(owner, path, value)

    def set_at(self, owner: IR, path: str, value: Any) -> None:
        """Lay a value at a path of an IR object; what comes later counts."""
        value = dict(value) if isinstance(value, dict) else value  # more may be laid over it
        try:
            building.put_path(self._reader, owner, path, value, None)
            self._reader.trail.late.clear()  # nobody asks where it came from
        except Misfit:  # something of another type stood there: what comes later counts
            put_at(owner, self.keys_of(path), value)

    def keys_of(self, path: str) -> list[str]:
        """Return the keys of a path of the IR."""
        return owned(path, self.dialect.family).split(".")

    def read_hole(self, hole: Hole, wire: Any) -> Any:
        """Read a value by the lenses or the shape of its hole."""
        env = Env((), self.case, True)
        try:
            Reader(self.dialect, self.options).hole(hole, wire, (), (), env)
        except Misfit:
            return ABSENT
        return env.fields.get(hole.path, (ABSENT, None))[0]

    # -- the whole --------------------------------------------------------------------------------

    def stop_fields(self, owner: Candidate) -> IR:
        """Return why a candidate stopped, as fields of the IR without memory."""
        if self.whole_ir is not None:
            return without_memory(self._in_whole(owner), "parts")
        stop = self._stop_once(owner)
        return {**stop, **stop_with_calls(stop)} if owner.calls_within else stop

    def adopt_stop_reason(self, owner: Candidate) -> None:
        """Let a whole response that does not say why it stopped say what its frame does."""
        one = self._in_whole(owner)
        if one.get("stop_reason") is None:
            reason = self._stop_once(owner).get("stop_reason")
            one.update({} if reason is None else {"stop_reason": reason})

    def _in_whole(self, owner: Candidate) -> IR:
        """Return what the whole response says of a candidate; nothing where it has none."""
        owners = self.whole_ir.get("candidates", ()) if self.whole_ir is not None else ()
        nth = self.candidates.index(owner) if owner in self.candidates else 0
        return owners[nth] if nth < len(owners) else {}

    def _stop_once(self, owner: Candidate) -> IR:
        """Read why a candidate stopped; what is short is read once for all streams."""
        stops = [(hole.path, hole.shape, hole.lenses, wire) for hole, wire, _ in owner.stops]
        key = repr((owner.kinds, stops))
        found = self._layout.stop_cache.get(key)
        if found is None:
            known, self.unreadable = self.unreadable, {}
            found = without_memory(self._read_stop(owner, True))
            if not self.unreadable and len(key) < SHORT:
                if len(self._layout.stop_cache) >= MOST:
                    self._layout.stop_cache.clear()
                self._layout.stop_cache[key] = found
            self.unreadable = {**known, **self.unreadable}
        return found

    def _read_stop(self, owner: Candidate, away: bool = False) -> IR:
        """Return why a candidate stopped, and how its frames spelled that, but for one `away`."""
        env = Env((), self.case, True)
        reader = Reader(self.dialect, {**self.options, "away": True} if away else self.options)
        env.fields["parts"] = ([{"type": kind} for kind in owner.kinds], None)
        # What stands beside a word may say more than it.
        for hole, wire, at in sorted(owner.stops, key=lambda stop: not isinstance(stop[1], dict)):
            rel = self._layout.stop_places.get((hole.path, hole.shape), ())
            spread = rel == () and isinstance(wire, dict)  # else it stands under a key
            env.lenient = spread or rel != ()  # no key of the whole would hold it
            try:
                if hole.path == ".":
                    selfholes.read(reader, hole, wire, rel, rel, env, spread)
                else:
                    reader.hole(hole, wire, rel, rel, env)
            except Misfit:
                self.unreadable[hole.path] = at
        del env.fields["parts"]
        found: IR = {}
        for path, (value, _) in env.fields.items():
            building.put_path(reader, found, path, value, None)
        building.attach(reader, found, env)
        return found

    def original(self, owner: Candidate) -> IR | None:
        """Return a candidate as it was told; None where it came in frames."""
        return None

    def counts(self) -> IR | None:
        """Return the token counts as far as they are known, as the IR has them."""
        if self.whole_ir is not None:
            return self.whole_ir.get("usage")
        if self.usage is None:
            return None
        try:
            found: dict[str, Any] = Reader(self.dialect, self.options).shape(
                "usage", self.usage, (), True
            )
        except Misfit:
            self.unreadable["usage"] = self.usage_place
            return None
        return found

    def draft(self, trail: Trail) -> IR:
        """Return the response that the frames make, as the IR has it.

        Ids that were made here are left out where this dialect's own calls may have none. A part
        comes from the frame in which it began.
        """
        if self.whole_ir is not None:
            return self.whole_ir
        made = {**self.response, "candidates": []}
        free = self._layout.ids_optional
        for owner in self.candidates:
            parts = [part.ir() for part in owner.parts]
            for part, ir in zip(owner.parts, parts, strict=True):
                ir.update(part.originals)
                trail.put(ir, None, part.at)
                if part.id_made and (free or part.kind == "tool_result"):
                    ir.pop(part.id_field, None)
                self.remember_home(ir, part.piece_key)
            one: IR = {"parts": parts}
            one.update(self._read_stop(owner))
            for path, value in owner.flows.items():
                self.set_at(one, path, value)
            made["candidates"].append(merged(one, owner.own, over=True))
        counts = self.counts()
        if counts is not None:
            made["usage"] = counts
        return made

    def end_by_error(self, ir: IR) -> bool:
        """Let answers that say no reason have ended by an error; tell whether there are some."""
        owners = zip(self.candidates, ir.get("candidates", ()), strict=False)
        found = [one for owner, one in owners if not owner.stops] if self.whole_ir is None else []
        for one in found:
            one["stop_reason"] = "error"
        return bool(found)

    def remember_home(self, ir: IR, key: Any) -> None:
        """Let a part remember where it was read, if it stands there at home alone, or whole."""
        kind, lists = ir.get("type"), self._layout.part_lists  # the most general stands last
        takers = [hole for hole in lists[::-1] if kind in self.dialect.kinds_of(hole.named)]
        if not any(hole.only_read for hole in takers):
            return
        # What came under the key of a list is of that list; else first those for any part.
        known = self._layout.shapes_by_key.get(key, ())
        general = [one for one in takers if not one.only_read][:1]
        probe = Writer(self.dialect, True, Trail(), {})
        least: tuple[int, Hole, Any] | None = None
        for hole in sorted(takers, key=lambda one: (one.shape not in known, one.only_read)):
            probe.notes = []
            with contextlib.suppress(Misfit):
                wire = probe.shape(hole.named, ir)
                lost = sum(draft.effect == "lost" for draft in probe.notes)
                least = (lost, hole, wire) if least is None or lost < least[0] else least
            if least is not None and least[0] == 0:
                break
        told = [
            one for one in takers if one.only_read or (one.shape in known and one not in general)
        ]
        if least is not None and least[1] in told:
            _, hole, wire = least
            again = Reader(self.dialect, self.options).shape(hole.named, wire, ())
            memory = ir.setdefault("spelled", {}).setdefault(self.dialect.name, {})
            memory.update(again.get("spelled", {}).get(self.dialect.name, {}))
            memory["../"] = {"hole": hole.shape, **({} if key is None else {"key": key})}
