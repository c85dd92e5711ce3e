"""Hearing: parts that begin, grow and end as frames tell of them, and what is noted of that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..conversion.hands import Reader
from ..interpreter import pairing
from ..ir import TOKENS, without_memory
from ..language.events import guards
from ..language.lenses import Misfit, same, stringify
from ..language.model import Dialect
from ..language.picture import Hole
from ..trail import At, Trail, path_of, value_at
from ..waiting import Waiting
from .incoming import Candidate, Item, Part, merged
from .outcome import Outcome
from .outgoing import Running
from .recognising import OWNED, Sight

ASIDE = ("usage", "part", "parts", "piece", "response", ".")
Address = tuple[Any, ...]  # where a part stands, as frames say


class Listener:
    """Who is told of every step, in the frame that brought it; this one passes it over."""

    def begun(self, outcome: Outcome) -> None: ...
    def opened(self, part: Part) -> None: ...
    def grown(self, part: Part, piece: str) -> None: ...
    def closed(self, part: Part) -> None: ...
    def failed(self, error: dict[str, Any], at: At) -> None: ...
    def end(self, outcome: Outcome, cut: bool) -> None: ...

    def running(self, part: Part) -> Running | None:
        """Return what is written for each further piece of a part; `Unfold.running` says more."""
        return None, None, None


class Hearing:
    """What was heard of a stream, as far as it has come; `fold.Fold` hears its frames."""

    def __init__(self, dialect: Dialect, listener: Listener | None, keep: bool) -> None:
        """Begin a stream, of which the listener is told; nothing of it is to be kept or all."""
        self.dialect, self.stream, self.keep = dialect, dialect.streamed, keep
        self.listener, self.abroad = listener or Listener(), listener is not None
        # Nothing is written at home where nothing is kept.
        self.outcome = Outcome(dialect, {} if keep else {"away": True})
        self.begun = self.ended = self.finished = False
        self.frames = 0
        self.frame: Any = None  # the one that is heard
        self.patient = False  # whether a part waits for the end of its item, if that signs it
        self.stirred = True  # whether something but the next piece of a part was heard
        self.met: Callable[[Part], None] | None = None  # may give a call another name or id
        self.notes: list[tuple[str, str, At, Any, str]] = []
        self.unclaimed: set[At] = set()  # places of leaves that are noted
        self.calls: set[str] = set()  # the ids of calls
        self._waiting = Waiting()  # the calls that no result has answered, by their ids
        self._told: set[tuple[str, str]] = set()

    @property
    def cut(self) -> bool:
        """Tell whether the stream broke off: nothing said that it ended, or why it stopped."""
        return not self.ended and not self.finished

    def say(self, code: str, effect: str, at: At, told: str, once: str = "") -> None:
        """Note something, once of each place."""
        if (code, once) not in self._told:
            self._told.add((code, once))
            self.notes.append((code, effect, at, self.stream.pos, told))

    def odd(self, told: str, once: str | None = None, at: At = ()) -> None:
        """Note what the frame says that is not so."""
        here = (self.frames - 1, *at)
        self.say("inconsistent", "changed", here, told, told if once is None else once)

    def told_odd(self) -> None:
        """Note what could not be read at the end, where nothing else would say so."""
        for path, at in self.outcome.odd.items():
            what = "this stop" if path in (".", "stop_reason") else f"`{path}`"
            self.say("unfit", "lost", at, f"{what} is of another form than its picture", path)

    # -- what frames say of one thing, and not the same -------------------------------------------

    def heard(self, what: str, old: Any, new: Any, at: At = ()) -> None:
        """Note a value of a frame, if one before it had another."""
        if guards(old) and guards(new) and not same(old, new):
            self.noted(at, what)

    def noted(self, at: At, what: str) -> None:
        """Note that the frame says something else than those before it."""
        shown = path_of(at)
        if shown in self.stream.drop:
            here = (self.frames - 1, *at)
            self.say("dropped", "lost", here, self.stream.drop[shown], shown)
        else:
            told = f"frames say different things of `{what}`, and one of them counts"
            self.odd(told, f"{shown} {what}", at)

    # -- parts ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Hear that something comes."""
        if not self.begun:
            self.begun = self.stirred = True
            self.outcome.first = self.frame
            self.listener.begun(self.outcome)

    def address(self, sight: Sight) -> tuple[Any, ...]:
        """Return where a part stands, as the event of its frame says."""
        at, found = sight.at, sight.found
        names = [n for n in sorted(sight.event.addresses) if n in at or n in found]
        return tuple([(n, at[n] if n in at else found[n]) for n in names])

    def new(self, kind: str, field: str, owner: Candidate, address: Address) -> Part:
        """Begin a part; what nothing addresses ends where the next part begins in its place."""
        beside = self.stream.get("part", kind) is not None  # they have a place of their own
        for part in owner.parts[-4:]:
            if part.open and not (part.address or beside):
                self.shut(part)
        part = Part(kind, field, self.outcome.candidates.index(owner), len(owner.kinds))
        part.address, part.at = address, (self.frames - 1,)
        if kind == "text":
            owner.last = part
            if TOKENS in owner.flows:  # they came before its first word
                part.said[TOKENS] = owner.flows.pop(TOKENS)
        owner.kinds.append(kind)
        owner.parts.append(part)
        if address:
            owner.places[address] = part
        return part

    def whole(self, ir: dict[str, Any], owner: Candidate, address: Address = ()) -> Part:
        """Take a part that came whole, and tell of it."""
        part = self.new(str(ir.get("type")), "", owner, address)
        part.said, part.whole = ir, True
        self.open(part)
        return part

    def open(self, part: Part) -> None:
        """Hear that a part begins; a call of which the name may still come waits for that."""
        place = None if self.stream.plain else dict(part.address).get("item")
        if place is not None:  # the first part of an item has what is said of the item
            item = self.outcome.candidates[part.candidate].items.setdefault(place, Item())
            if not item.parts:
                merged(part.said, item.said)
            item.parts.append(part)
        part.waits = part.kind == "tool_call" and not (part.whole or part.said.get("name"))
        if not part.waits:
            self._tell(part)

    def go_on(self, part: Part, over: bool = False) -> None:
        """Tell of a call that waited for its name, once that is there, or the call is over."""
        if part.waits and (over or part.said.get("name")):
            part.waits = False
            part.said["name"] = part.said.get("name") or (part.closing or {}).get("name", "")
            self._tell(part)
            if part.closing is not None:
                part.closing = {"id": part.said["id"], **part.closing}

    def _tell(self, part: Part) -> None:
        """Tell of a part that begins; a call without an id gets the one that a hook would make."""
        if part.kind == "tool_call":
            self._identify(part)
            part.said.setdefault("name", "")
            made, name = part.said["id"], str(part.said["name"])
            self._waiting.add(made, ("id", made), ("name", name), ("", ""))
            if self.met is not None:
                self.met(part)
        elif part.kind == "tool_result":
            self._pair(part)
            owner = self.outcome.candidates[part.candidate]
            pairing.name_results([{"parts": [p.said for p in owner.parts]}], self.dialect.name)
        self.listener.opened(part)

    def _identify(self, part: Part) -> None:
        """Give a call an id of its own, where it has none or that of another call."""
        old = part.said.get("id")
        if old and old not in self.calls:
            self.calls.add(old)
            return
        kinds = self.outcome.candidates[part.candidate].kinds
        nth = kinds[: part.nth + 1].count("tool_call") - 1
        whole = part.said if part.whole and not old else None
        part.said["id"] = new = self.outcome.seed.call(part.candidate, nth, whole, self.calls)
        self.calls.add(new)
        if old:
            part.was["id"] = old
            told = f"another call has the id `{old}`"
            self.say("renamed", "changed", (self.frames - 1,), told, f"id/{part.name}")
        else:
            part.made = True

    def _pair(self, part: Part) -> None:
        """Give a result without an id that of its call, or of no call, as a hook would."""
        said, known, name = part.said, part.said.get("tool_call_id"), part.said.get("name")
        asked = ("name", name) if name is not None else ("", "")
        found = self._waiting.take(asked if known is None else ("id", known), 1)
        if known is not None or not self.dialect.hooks:
            return
        part.made = True
        if not found:
            owner, whole = self.outcome.candidates[part.candidate], said if part.whole else None
            found = [self.outcome.seed.call(part.candidate, owner.lone, whole, self.calls, True)]
            self.calls.add(found[0])
            owner.lone += 1
        said["tool_call_id"] = found[0]

    def grow(self, part: Part, piece: str) -> None:
        """Take a piece of a part that flows."""
        if part.repeats(piece):
            return  # the whole once more, at the end
        part.pieces.append(piece)
        if not part.waits:
            self.listener.grown(part, piece)

    def shut(self, part: Part) -> None:
        """Close a part."""
        self.go_on(part, True)
        if part.tree is not None:
            self.grow(part, stringify(part.tree))
        if part.pieces and part.whole:
            known, now = (value_at(ir, part.field.split(".")) for ir in (part.said, part.ir()))
            self.heard(part.field, known, now)
        part.open = False
        self.listener.closed(part)
        if not self.keep:
            owner = self.outcome.candidates[part.candidate]
            owner.parts.remove(part)
            owner.gone.update(k for k, p in owner.places.items() if p is part)
            owner.places = {k: p for k, p in owner.places.items() if p is not part}

    def fields(self, sight: Sight) -> dict[str, Any]:
        """Return what an event says of its part besides the piece."""
        said: dict[str, Any] = {}
        for path, value in sight.found.items():
            if path not in ("piece", "whole") and not path.startswith(OWNED):
                self.outcome.lay(said, path, value)
        for hole, wire, _ in sight.taken:
            if hole.path == "." and "finish" not in sight.event.acts:
                said.update(self.itself(hole, wire))
            elif hole.path not in ASIDE and not hole.path.startswith(OWNED):
                self.outcome.put(said, hole.path, hole, wire)
        return said

    def itself(self, hole: Hole, wire: Any) -> dict[str, Any]:
        """Read fields of a part that have a shape of their own; nothing where they do not fit."""
        try:
            made: dict[str, Any] = Reader(self.dialect, self.outcome.options).shape(
                hole.named, wire, (), False
            )
        except Misfit:
            return {}
        return without_memory(made)

    def elements(self, shape: str, wire: Any, at: At) -> tuple[list[Any], Trail]:
        """Read a whole part or item, and where it came from; what is none is noted."""
        reader = Reader(self.dialect, self.outcome.options)
        try:
            return reader.element(shape, wire, at)[0], reader.trail
        except Misfit as misfit:
            self.say("unfit", "lost", (self.frames - 1, *at), misfit.reason, misfit.reason)
            return [], reader.trail
