"""Hearing: parts that begin, grow and end as frames tell of them, and what is noted of that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..conversion.hands import Reader
from ..interpreter import pairing
from ..ir import IR, TOKENS, without_memory
from ..language.lenses import Misfit, same, stringify
from ..language.model import Dialect
from ..language.picture import Hole, distinguishes
from ..notes import UNKNOWN_KEY
from ..trail import At, Trail, path_of, value_at
from ..waiting import Waiting
from .incoming import Candidate, Item, Part, merged
from .outcome import Outcome
from .outgoing import Growing
from .recognising import NOT_OF_PART, EventMatch, Frame

NOT_PLAIN_FIELDS = ("usage", "part", "parts", "piece", "response", ".")
Address = tuple[Any, ...]  # where a part stands, as frames say


class Listener:
    """Who is told of every step of a stream, in the frame that brought it.

    This one does nothing. `begun` comes first, `end` last; a part is `opened`, `grown` by each of
    its pieces, and `closed`. `failed` has an error as the IR says it, and the place of its frame.
    """

    def begun(self, outcome: Outcome) -> None: ...
    def opened(self, part: Part) -> None: ...
    def grown(self, part: Part, piece: str) -> None: ...
    def closed(self, part: Part) -> None: ...
    def failed(self, error: IR, at: At) -> None: ...
    def end(self, outcome: Outcome, cut: bool) -> None: ...

    def growing(self, part: Part) -> Growing | None:
        """Return what becomes of each further piece of a part; None where one may do more."""
        return Growing(None, None, None)


class Hearing:
    """The state of a stream that comes in, and the steps by which it changes.

    `fold.Fold` reads the frames and takes these steps; `wholes`, `additions` and `unplaced` help.
    """

    def __init__(self, dialect: Dialect, listener: Listener | None, keep: bool) -> None:
        """Begin a stream, of which the listener is told.

        With `keep` all that came can be asked for at the end; else parts are let go when they end.
        """
        self.dialect, self.stream, self.keep = dialect, dialect.streamed, keep
        self.listener, self.abroad = listener or Listener(), listener is not None
        # Nothing is written at home where nothing is kept.
        self.outcome = Outcome(dialect, {} if keep else {"away": True})
        self.begun = self.ended = self.finished = False
        self.frames = 0
        self.frame: Any = None  # the one that is heard
        self.awaits_signature = False  # whether a part is open until its item, which signs it, ends
        self.changed = True  # whether something but the next piece of a part was heard
        self.on_call: Callable[[Part], None] | None = None  # may give a call another name or id
        self.notes: list[tuple[str, str, At, Any, str]] = []
        self.call_ids: set[str] = set()  # the ids of calls
        self._waiting = Waiting()  # the calls that no result has answered, by their ids
        self._noted: set[tuple[str, str]] = set()

    @property
    def cut(self) -> bool:
        """Tell whether the stream broke off: nothing said that it ended, or why it stopped."""
        return not self.ended and not self.finished

    def note(self, code: str, effect: str, at: At, message: str, once: str = "") -> None:
        """Note something: of one code and one word for `once` only the first time."""
        if (code, once) not in self._noted:
            self._noted.add((code, once))
            self.notes.append((code, effect, at, self.stream.pos, message))

    def note_inconsistent(self, message: str, once: str | None = None, at: At = ()) -> None:
        """Note that the frame contradicts the stream so far; the same `once`, or text, but once."""
        here = (self.frames - 1, *at)
        self.note("inconsistent", "changed", here, message, message if once is None else once)

    def note_unreadable(self) -> None:
        """Note what could not be read at the end, where nothing else would say so."""
        for path, at in self.outcome.unreadable.items():
            what = "this stop" if path in (".", "stop_reason") else f"`{path}`"
            self.note("unfit", "lost", at, f"{what} is of another form than its picture", path)

    def note_unclaimed(self, frame: Frame, known: bool, at: int) -> list[At]:
        """Note the leaves of a frame that nothing has claimed, and return their places.

        Of one that is not `known`, as an event or an error, no leaf is noted by itself.
        """
        rest = frame.unclaimed_leaves()
        given_up = None if known else self.stream.dropped_frame(frame.wire)
        if given_up is not None:
            self.note("dropped", "lost", (at,), self.stream.drop[given_up], given_up)
            return rest
        for place in rest:
            if self.stream.dropped_leaf(place) is None and not known:
                keys = sorted(frame.wire) if isinstance(frame.wire, dict) else ()
                message = "no event of this dialect is like this frame"
                self.note("unknown-frame", "lost", (at,), message, repr(keys))
                break
            self.note_leaf(at, place)
        return rest

    def note_leaf(self, at: int, place: At) -> None:
        """Note a leaf that no event has claimed."""
        key, message = self.stream.dropped_leaf(place) or ("", UNKNOWN_KEY)
        code, once = ("dropped", key) if key else ("unknown-key", path_of(place))
        self.note(code, "lost", (at, *place), message, once)

    # -- what frames say of one thing, and not the same -------------------------------------------

    def note_if_differs(self, what: str, old: Any, new: Any, at: At = ()) -> None:
        """Note a value of the frame where one before it says something, and another thing."""
        if distinguishes(old) and distinguishes(new) and not same(old, new):
            self.note_conflict(what, at)

    def note_conflict(self, what: str, at: At) -> None:
        """Note that the frame contradicts those before it; at a path of `drop` with the reason."""
        shown = path_of(at)
        if shown in self.stream.drop:
            here = (self.frames - 1, *at)
            self.note("dropped", "lost", here, self.stream.drop[shown], shown)
        else:
            message = f"frames say different things of `{what}`, and one of them counts"
            self.note_inconsistent(message, f"{shown} {what}", at)

    # -- parts ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Hear that something comes."""
        if not self.begun:
            self.begun = self.changed = True
            self.outcome.first_frame = self.frame
            self.listener.begun(self.outcome)

    def address(self, match: EventMatch) -> tuple[Any, ...]:
        """Return where a part stands, as the event of its frame says."""
        at, found = match.address, match.values
        names = [n for n in sorted(match.event.addresses) if n in at or n in found]
        return tuple([(n, at[n] if n in at else found[n]) for n in names])

    def new_part(self, kind: str, field: str, owner: Candidate, address: Address) -> Part:
        """Begin a part; what nothing addresses ends where the next part begins in its place."""
        beside = self.stream.get("part", kind) is not None  # they have a place of their own
        for part in owner.parts[-4:]:
            if part.open and (part.may_cite or not (part.address or beside)):
                self.close_part(part)
        part = Part(kind, field, self.outcome.candidates.index(owner), len(owner.kinds))
        part.address, part.at = address, (self.frames - 1,)
        if kind == "text":
            owner.last_text = part
            if TOKENS in owner.flows:  # they came before its first word
                part.fields[TOKENS] = owner.flows.pop(TOKENS)
        owner.kinds.append(kind)
        owner.parts.append(part)
        if address:
            owner.by_address[address] = part
        return part

    def take_whole_part(self, ir: dict[str, Any], owner: Candidate, address: Address = ()) -> Part:
        """Take a part that came whole, and tell of it."""
        part = self.new_part(str(ir.get("type")), "", owner, address)
        part.fields, part.whole = ir, True
        self.open_part(part)
        return part

    def open_part(self, part: Part) -> None:
        """Hear that a part begins; a call of which the name may still come waits for that."""
        place = None if self.stream.plain else dict(part.address).get("item")
        if place is not None:  # the first part of an item has what is said of the item
            item = self.outcome.candidates[part.candidate].items.setdefault(place, Item())
            if not item.parts:
                merged(part.fields, item.fields)
            item.parts.append(part)
        part.unannounced = part.kind == "tool_call" and not (part.whole or part.fields.get("name"))
        if not part.unannounced:
            self._announce(part)

    def announce_if_named(self, part: Part, over: bool = False) -> None:
        """Tell of a call that waited for its name, once that is there, or the call is over."""
        if part.unannounced and (over or part.fields.get("name")):
            part.unannounced = False
            part.fields["name"] = part.fields.get("name") or (part.final or {}).get("name", "")
            self._announce(part)
            if part.final is not None:
                part.final = {"id": part.fields["id"], **part.final}

    def _announce(self, part: Part) -> None:
        """Tell of a part that begins; a call without an id gets the one that a hook would make."""
        if part.kind == "tool_call":
            self._give_id(part)
            part.fields.setdefault("name", "")
            made, name = part.fields["id"], str(part.fields["name"])
            self._waiting.add(made, ("id", made), ("name", name), ("", ""))
            if self.on_call is not None:
                self.on_call(part)
        elif part.kind == "tool_result":
            self._pair_result(part)
            owner = self.outcome.candidates[part.candidate]
            pairing.name_results([{"parts": [p.fields for p in owner.parts]}], self.dialect.name)
        self.listener.opened(part)

    def _give_id(self, part: Part) -> None:
        """Give a call an id of its own, where it has none or that of another call."""
        old = part.fields.get("id")
        if old and old not in self.call_ids:
            self.call_ids.add(old)
            return
        kinds = self.outcome.candidates[part.candidate].kinds
        nth = kinds[: part.nth + 1].count("tool_call") - 1
        whole = part.fields if part.whole and not old else None
        part.fields["id"] = new = self.outcome.seed.call(part.candidate, nth, whole, self.call_ids)
        self.call_ids.add(new)
        if old:
            part.originals["id"] = old
            message = f"another call has the id `{old}`"
            self.note("renamed", "changed", (self.frames - 1,), message, f"id/{part.label}")
        else:
            part.id_made = True

    def _pair_result(self, part: Part) -> None:
        """Give a result without an id that of its call, or of no call, as a hook would."""
        said, known, name = part.fields, part.fields.get("tool_call_id"), part.fields.get("name")
        asked = ("name", name) if name is not None else ("", "")
        found = self._waiting.take(asked if known is None else ("id", known), 1)
        if known is not None or not self.dialect.hooks:
            return
        part.id_made = True
        if not found:
            owner, whole = self.outcome.candidates[part.candidate], said if part.whole else None
            nth, taken = owner.unpaired, self.call_ids
            found = [self.outcome.seed.call(part.candidate, nth, whole, taken, True)]
            taken.add(found[0])
            owner.unpaired += 1
        said["tool_call_id"] = found[0]

    def grow_part(self, part: Part, piece: str) -> None:
        """Take a piece of a part that flows."""
        if part.repeats(piece):
            return  # the whole once more, at the end
        part.pieces.append(piece)
        if not part.unannounced:
            self.listener.grown(part, piece)

    def close_part(self, part: Part) -> None:
        """Close a part."""
        self.announce_if_named(part, True)
        if part.tree is not None:
            self.grow_part(part, stringify(part.tree))
        if part.pieces and part.whole:
            known, now = (value_at(ir, part.field.split(".")) for ir in (part.fields, part.ir()))
            self.note_if_differs(part.field, known, now)
        part.open = False
        if part.may_cite:
            self.outcome.candidates[part.candidate].share_citations(self.dialect)
        self.listener.closed(part)
        if not self.keep:
            owner = self.outcome.candidates[part.candidate]
            owner.parts.remove(part)
            owner.forgotten.update(k for k, p in owner.by_address.items() if p is part)
            owner.by_address = {k: p for k, p in owner.by_address.items() if p is not part}

    def part_fields(self, match: EventMatch) -> IR:
        """Return the IR fields that an event says of its part: all but the piece and the whole."""
        said: IR = {}
        for path, value in match.values.items():
            if path not in ("piece", "whole") and not path.startswith(NOT_OF_PART):
                self.outcome.set_at(said, path, value)
        for hole, wire, _ in match.shaped:
            if hole.path == "." and "finish" not in match.event.acts:
                said.update(self.read_self_hole(hole, wire))
            elif hole.path not in NOT_PLAIN_FIELDS and not hole.path.startswith(NOT_OF_PART):
                self.outcome.set_from_wire(said, hole.path, hole, wire)
        return said

    def read_self_hole(self, hole: Hole, wire: Any) -> dict[str, Any]:
        """Return the fields of a part that a shape reads from it; none where it does not fit."""
        try:
            made: dict[str, Any] = Reader(self.dialect, self.outcome.options).shape(
                hole.named, wire, (), False
            )
        except Misfit:
            return {}
        return without_memory(made)

    def read_elements(self, shape: str, wire: Any, at: At) -> tuple[list[Any], Trail]:
        """Return the IR parts of a wire element, and the trail of their places.

        What the shape does not read gives no part, and a note.
        """
        reader = Reader(self.dialect, self.outcome.options)
        try:
            return reader.element(shape, wire, at)[0], reader.trail
        except Misfit as misfit:
            self.note("unfit", "lost", (self.frames - 1, *at), misfit.reason, misfit.reason)
            return [], reader.trail
