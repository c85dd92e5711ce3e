"""The outcome of a stream: the response as far as it is known, and what the IR has of it."""

from __future__ import annotations

import contextlib
from typing import Any

from ..conversion.hands import Reader, Writer
from ..interpreter import building, selfholes
from ..interpreter.citations import candidates_of
from ..interpreter.env import Env
from ..ir import owned, put_at, without_memory
from ..language.lenses import Misfit
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole, holes, placed
from ..language.shape import Case
from ..seeds import Seed
from ..trail import At, Trail
from .incoming import Candidate, merged

MOST = 128  # candidates of one response, and ends of candidates that are remembered
SHORT = 500  # signs of an end that is remembered


class Places:
    """Where a dialect has what a stream says, as far as that is known before anything comes."""

    def __init__(self, dialect: Dialect) -> None:
        stream = dialect.streamed
        picture = stream.frame or stream.events[0].reads[0]
        self.case = Case("", "", picture, None, {}, None, stream.pos)
        # Where a whole response has what is said of a candidate, by path and shape of the hole.
        self.spots: dict[tuple[str, str | None], At] = {}
        # The holes that hold the parts of a candidate, and whether a call may have no id.
        self.lists: list[Hole] = []
        self.keys: dict[str, list[str | None]] = {}  # shapes of these, by keys that they are under
        for case in candidates_of(dialect):
            below = [pair for pair in placed(case.wire) if "[]" not in pair[0]]
            for at, hole in below:
                if isinstance(hole, Hole) and hole.path == "parts" and at:
                    self.keys.setdefault(str(at[-1]), []).append(hole.shape)
            found = {(p.path, p.shape): at for at, p in below if isinstance(p, Hole)}
            self.spots = {**found, **self.spots}
            self.lists += case.lists.get("parts", ())
        call = dialect.shapes.get("tool_call")
        ids = [h for c in call.cases for h in holes(c.wire) if h.path == "id"] if call else []
        self.free = any(hole.mark for hole in ids)
        self.stops: dict[str, dict[str, Any]] = {}  # why answers stopped, by what said it
        self.alike: set[str] = set()  # the same, as a whole and a frame beside it have said it


class Outcome:
    """What the frames of a dialect have said so far of their response."""

    def __init__(self, dialect: Dialect, options: dict[str, Any] | None = None) -> None:
        """Begin; `options` are those of its readers."""
        self.dialect, self.options = dialect, options or {}
        self.response: dict[str, Any] = {}
        self.candidates: list[Candidate] = []
        self._seed: Seed | None = None
        self.usage: Any = None  # as it is on the wire
        # The response, where the stream says it at the end.
        self.whole: dict[str, Any] | None = None
        self.counted: At = ()  # the frame that counted last
        self.odd: dict[str, At] = {}  # what could not be read, by the hole that wanted it
        self.asked: str | None = None  # a digest of the request that it answers
        self.first: Any = None  # the frame in which it began
        self.time: Any = None  # the first one that a frame says, as it stands there
        self.came: dict[str, int] = {}  # the frames that said fields of the response first
        self._reader = Reader(dialect, self.options)
        self._known = dialect.once(Places, lambda: Places(dialect))
        self.case, self.alike = self._known.case, self._known.alike

    def of(self, nth: int) -> Candidate:
        """Return a candidate by its number."""
        while len(self.candidates) <= nth and len(self.candidates) <= MOST:
            self.candidates.append(Candidate())
        return self.candidates[nth if nth < MOST else MOST]

    @property
    def seed(self) -> Seed:
        """The seed of the ids that are made for it: what was known when the first was made."""
        if self._seed is None:
            named = self.response.get("id")
            self._seed = Seed(self.asked, named, self.time, self.first, self.dialect.pieces)
        return self._seed

    def count(self, wire: Any, frame: int) -> None:
        """Take the token counts of a frame; they lie over earlier ones."""
        known = isinstance(self.usage, dict) and isinstance(wire, dict)
        self.usage = merged(dict(self.usage), wire, over=True) if known else wire
        self.counted = (frame,)

    # -- values -----------------------------------------------------------------------------------

    def knows(self, path: str) -> bool:
        """Tell whether a field of the response is said for good."""
        return bool(self.response.get(path)) and not path.startswith("own.")

    def say(self, path: str, hole: Hole, wire: Any) -> None:
        """Take a field of the response: the first frame that says it is right."""
        if self.knows(path) or (not wire and path in self.response and not path.startswith("own.")):
            return
        if path == "created":
            self.time = wire
        self.put(self.response, path, hole, wire)

    def place(self, path: str, owner: Candidate | None = None) -> At:
        """Return the place of a field of the response or an answer: the frame that said it."""
        if owner is not None:
            return owner.stops[0][2][:1] if owner.stops else ()
        return self.counted if path == "usage" else (self.came.get(path, 0),)

    def put(self, owner: dict[str, Any], path: str, hole: Hole, wire: Any) -> None:
        """Put the value of a hole at a path of an IR object."""
        value = self.read(hole, wire) if hole.lenses or hole.shape else wire
        if value is not ABSENT:
            self.lay(owner, path, value)

    def lay(self, owner: dict[str, Any], path: str, value: Any) -> None:
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

    def read(self, hole: Hole, wire: Any) -> Any:
        """Read a value by the lenses or the shape of its hole."""
        env = Env((), self.case, True)
        try:
            Reader(self.dialect, self.options).hole(hole, wire, (), (), env)
        except Misfit:
            return ABSENT
        return env.fields.get(hole.path, (ABSENT, None))[0]

    # -- the whole --------------------------------------------------------------------------------

    def stop(self, owner: Candidate) -> dict[str, Any]:
        """Return why a candidate stopped, as fields of the IR without memory."""
        if self.whole is not None:
            return without_memory(self._of_whole(owner), "parts")
        known = owner.stopped
        if known is None or known[0] is not owner.stops or known[1] != len(owner.kinds):
            known = owner.stopped = owner.stops, len(owner.kinds), self._stopped(owner)
        return known[2]

    def beside(self, owner: Candidate) -> None:
        """Let a whole response that does not say why it stopped say what its frame does."""
        one = self._of_whole(owner)
        reason = self._stopped(owner).get("stop_reason") if one.get("stop_reason") is None else None
        if reason is not None:
            one["stop_reason"] = reason

    def _of_whole(self, owner: Candidate) -> dict[str, Any]:
        """Return what the whole response says of a candidate; nothing where it has none."""
        owners = self.whole.get("candidates", ()) if self.whole is not None else ()
        nth = self.candidates.index(owner) if owner in self.candidates else 0
        return owners[nth] if nth < len(owners) else {}

    def _stopped(self, owner: Candidate) -> dict[str, Any]:
        """Read why a candidate stopped; what is short is read once for all streams."""
        stops = [(hole.path, hole.shape, hole.lenses, wire) for hole, wire, _ in owner.stops]
        key = repr((owner.kinds, stops))
        found = self._known.stops.get(key)
        if found is None:
            odd = len(self.odd)
            made = self._stop(owner, True)
            found = without_memory(made)
            if len(self.odd) == odd and len(key) < SHORT:
                if len(self._known.stops) >= MOST:
                    self._known.stops.clear()
                self._known.stops[key] = found
        return found

    def _stop(self, owner: Candidate, away: bool = False) -> dict[str, Any]:
        """Return why a candidate stopped, and how its frames spelled that, but for one `away`."""
        env = Env((), self.case, True)
        reader = Reader(self.dialect, {**self.options, "away": True} if away else self.options)
        env.fields["parts"] = ([{"type": kind} for kind in owner.kinds], None)
        # What stands beside a word may say more than it.
        for hole, wire, at in sorted(owner.stops, key=lambda stop: not isinstance(stop[1], dict)):
            rel = self._known.spots.get((hole.path, hole.shape), ())
            spread = rel == () and isinstance(wire, dict)  # else it stands under a key
            env.lenient = spread or rel != ()  # no key of the whole would hold it
            try:
                if hole.path == ".":
                    selfholes.read(reader, hole, wire, rel, rel, env, spread)
                else:
                    reader.hole(hole, wire, rel, rel, env)
            except Misfit:
                self.odd[hole.path] = at
        del env.fields["parts"]
        found: dict[str, Any] = {}
        for path, (value, _) in env.fields.items():
            building.put_path(reader, found, path, value, None)
        building.attach(reader, found, env)
        return found

    def one(self, owner: Candidate) -> dict[str, Any] | None:
        """Return a candidate as it was told; None where it came in frames."""
        return None

    def counts(self) -> dict[str, Any] | None:
        """Return the token counts as far as they are known, as the IR has them."""
        if self.whole is not None:
            return self.whole.get("usage")
        if self.usage is None:
            return None
        try:
            found: dict[str, Any] = Reader(self.dialect, self.options).shape(
                "usage", self.usage, (), True
            )
        except Misfit:
            self.odd["usage"] = self.counted
            return None
        return found

    def draft(self, trail: Trail) -> dict[str, Any]:
        """Return the response that the frames make, as the IR has it.

        Ids that were made here are left out where this dialect's own calls may have none. A part
        comes from the frame in which it began.
        """
        if self.whole is not None:
            return self.whole
        made = {**self.response, "candidates": []}
        free = self._known.free
        for owner in self.candidates:
            parts = [part.ir() for part in owner.parts]
            for part, ir in zip(owner.parts, parts, strict=True):
                ir.update(part.was)
                trail.put(ir, None, part.at)
                if part.made and (free or part.kind == "tool_result"):
                    ir.pop(part.named, None)
                self.homed(ir, part.key)
            one: dict[str, Any] = {"parts": parts}
            one.update(self._stop(owner))
            for path, value in owner.flows.items():
                self.lay(one, path, value)
            made["candidates"].append(merged(one, owner.own, over=True))
        counts = self.counts()
        if counts is not None:
            made["usage"] = counts
        return made

    def failing(self, ir: dict[str, Any]) -> bool:
        """Let answers that say no reason have ended by an error; tell whether there are some."""
        owners = zip(self.candidates, ir.get("candidates", ()), strict=False)
        found = [one for owner, one in owners if not owner.stops] if self.whole is None else []
        for one in found:
            one["stop_reason"] = "error"
        return bool(found)

    def homed(self, ir: dict[str, Any], key: Any) -> None:
        """Let a part remember where it was read, if it stands there at home alone, or whole."""
        lists, kind = reversed(self._known.lists), ir.get("type")  # the most general stands last
        takers = [hole for hole in lists if kind in self.dialect.kinds_of(hole.named)]
        if not any(hole.dated for hole in takers):
            return
        # What came under the key of a list is of that list; else first those for any part.
        known, general = self._known.keys.get(key, ()), [one for one in takers if not one.dated][:1]
        probe = Writer(self.dialect, True, Trail(), {})
        least: tuple[int, Hole, Any] | None = None
        for hole in sorted(takers, key=lambda one: (one.shape not in known, one.dated)):
            probe.notes = []
            with contextlib.suppress(Misfit):
                wire = probe.shape(hole.named, ir)
                lost = sum(draft.effect == "lost" for draft in probe.notes)
                least = (lost, hole, wire) if least is None or lost < least[0] else least
            if least is not None and least[0] == 0:
                break
        told = [one for one in takers if one.dated or (one.shape in known and one not in general)]
        if least is not None and least[1] in told:
            _, hole, wire = least
            again = Reader(self.dialect, self.options).shape(hole.named, wire, ())
            memory = ir.setdefault("spelled", {}).setdefault(self.dialect.name, {})
            memory.update(again.get("spelled", {}).get(self.dialect.name, {}))
            memory["../"] = {"hole": hole.shape, **({} if key is None else {"key": key})}
