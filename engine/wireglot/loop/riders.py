"""What comes back of what rides: it is input, and held against the message that it came with.

Whoever speaks to a gateway can move, double, cut and forge it. So an entry is used where it names,
or stands on, a part of its own message that nothing else was said of; an id must be one that the
provider takes and no other call has, a name one that the client's dialect spells as the client did,
and a part that stands there whole must be one of a turn of the model. All else is `ignored`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import islice
from typing import Any

from ..conversion import reading, writing
from ..errors import ConversionError
from ..interpreter.limits import Limits
from ..ir import unspelled, without_memory
from ..language.held import Held
from ..notes import Draft
from ..tagged import every
from ..trail import At, Trail
from . import carry
from .memory import Entry, Part, content, digest, is_signed
from .restored import Restored

NOT_THERE = "the part that this tells of is not in its message, or was told of before"
NOTHING: tuple[carry.Ride, At] = ({}, ())
_MEMORY = ("spelled", "kept")  # of which none rides
_WIRE = frozenset(("value",))  # what holds JSON of the wire
_TEXT = frozenset(("type", "size", "digest"))  # all that tells which text it is
_WHERE = frozenset(("type", "here", "call", "size", "digest"))  # all that only finds the part
_FREE = frozenset(("native", "unknown"))  # parts that are what they are on the wire


class Rider:
    """An entry that rode in a message, the part that it stood on, and its place in `owner`."""

    def __init__(self, entry: Entry, element: Part | None, owner: Part, at: At) -> None:
        self.entry, self.element, self.owner, self.at = entry, element, owner, at


class Riders:
    """What rides in the messages of one request."""

    def __init__(
        self, client: Held, provider: Held, trail: Trail, made: set[int],
        shares: Callable[[str], bool],
    ) -> None:  # fmt: skip
        """Begin; `made` are the calls that came without an id.

        `shares` tells whether the provider reads what the dialect of a name made.
        """
        self._shares = shares
        self._client, self.provider, self.trail, self.made = client, provider, trail, made
        self._limits, self._seats = Limits(provider.model.limits), carry.seats(client.model)
        self._named_calls: set[int] = set()  # calls of which something was said
        self.drafts: list[Draft] = []
        self.foreign_messages: list[Part] = []  # those that another provider is known to have said

    def take(self, message: Part) -> list[Rider]:
        """Take what rides out of a message; return what of it is this provider's, and fits."""
        found: list[Rider] = []
        for owner in (message, *message["parts"]):
            seat = self._seats.get("message" if owner is message else owner.get("type"))
            ride, at = seat.take(owner) if seat is not None else NOTHING
            if not ride:
                continue
            for origin, entries in ride.items():
                if not self._shares(origin):
                    reason = f"only {origin[:64]} can read what rides here"
                    self._note("foreign-signature", owner, at, reason)
                    self.foreign_messages.append(message)
                    # How a client holds a text has nothing of its provider.
                    entries = [{k: one[k] for k in _TEXT} for one in entries if one.keys() >= _TEXT]
                found += [Rider(one, self._stands_on(one, owner), owner, at) for one in entries]
        if not found:
            return found
        calls = {p.get("id"): p for p in message["parts"] if p.get("type") == "tool_call"}
        ids = set(calls)
        return self._complete_turns([rider for rider in found if self._check(rider, calls, ids)])

    def _complete_turns(self, riders: list[Rider]) -> list[Rider]:
        """Leave out the thoughts of a turn of which not all came back: none goes back alone."""
        signed = [rider for rider in riders if is_signed(rider.entry)]
        if all(rider.entry.get("of", 0) <= len(signed) for rider in signed):
            return riders
        for rider in signed:
            self._ignored(rider, "a thought that was signed with this one did not come back")
        return [rider for rider in riders if not is_signed(rider.entry)]

    def put_back(self, riders: list[Rider], back: Restored) -> None:
        """Put back what rode, and say of what found nothing."""
        for rider in riders:
            at = self._place(rider.owner, rider.at)
            put = back.put(rider.entry, rider.element, at=at)
            if not put and rider.entry.keys() - _WHERE:
                self._ignored(rider, NOT_THERE)

    def without_thoughts(self) -> None:
        """Leave out what other providers thought, where this one takes no thought but its own.

        At home that would go on as it came, with an id, say, that this API never gave.
        """
        bare: Part = {"type": "reasoning", "text": "Hm."}
        takes = functools.partial(self._provider_takes, bare)
        if not self.foreign_messages or self.provider.model.once("thoughts of others", takes):
            return
        for message in self.foreign_messages:
            reason = f"{self.provider.name} takes no reasoning that it did not sign"
            for part in (p for p in message["parts"] if p.get("type") == "reasoning"):
                for at in every(self.trail.find(part)):
                    self.drafts.append(Draft("no-place", "lost", at, None, reason))
            message["parts"] = [p for p in message["parts"] if p.get("type") != "reasoning"]

    def _ignored(self, rider: Rider, reason: str) -> None:
        self._note("ignored", rider.owner, rider.at, reason)

    def _note(self, code: str, owner: Part, at: At, reason: str) -> None:
        self.drafts.append(Draft(code, "lost", self._place(owner, at), None, reason))

    def _place(self, owner: Part, at: At) -> At:
        """Return where in the body something rides, of its place in its owner."""
        return (*(self.trail.find(owner) or ()), *at)

    def _stands_on(self, entry: Entry, owner: Part) -> Part | None:
        """Return the part that an entry tells of, if it is the one that it stands on."""
        if entry.get("here") is not True or owner.get("type") != entry["type"]:
            return None
        if "digest" in entry and digest(content(owner)) != entry["digest"]:
            return None
        moved = entry.get("call", owner.get("id")) != owner.get("id")
        return None if moved and id(owner) not in self.made else owner

    def _check(self, rider: Rider, calls: dict[Any, Part], ids: set[Any]) -> bool:
        """Tell whether an entry may be used, as far as it may."""
        entry = rider.entry
        if entry["type"] == "tool_call":
            call = calls.get(entry.get("call")) if rider.element is None else rider.element
            if call is None or id(call) in self._named_calls:
                self._ignored(rider, NOT_THERE)
                return False
            self._named_calls.add(id(call))
            rider.element = call
            if id(call) in self.made and "id" not in entry and "call" in entry:
                # The client dropped the id: what it was is checked as what a provider gave.
                name = entry["call"]
                rider.entry = {**{k: v for k, v in entry.items() if k != "call"}, "id": name}
            self._check_name(rider, call)
            self._check_id(rider, ids)
        elif not entry.keys() & {"here", "digest"}:
            rider.entry = unspelled(entry, _MEMORY) | {k: entry[k] for k in _WIRE if k in entry}
            if not self._may_stand_whole(rider.entry):
                self._ignored(rider, "no turn of the model holds such a part")
                return False
        elif rider.element is None and "digest" not in entry:
            self._ignored(rider, NOT_THERE)
            return False
        elif self._is_foreign(entry.get("own")):
            self._drop_field(rider, "own", "these are fields of another dialect")
        return True

    def _is_foreign(self, own: Any) -> bool:
        """Tell whether these are no fields of the provider's own."""
        family = self.provider.model.family
        return own is not None and (not isinstance(own, dict) or own.keys() - {family} != set())

    def _check_id(self, rider: Rider, ids: set[Any]) -> None:
        """Leave out an id that the provider would not take, or that another call has."""
        name = rider.entry.get("id")
        if name is None:
            return
        if name in ids or not name or not self._limits.fits("call_id", name):
            self._drop_field(rider, "id", "this is no id that the provider gave to this call")
        else:
            ids.add(name)

    def _check_name(self, rider: Rider, call: Part) -> None:
        """Leave out a name that the client did not know by the one that it says."""
        name, seen = rider.entry.get("name"), call.get("name")
        if name is None:
            return
        limits = Limits(self._client.model.limits)
        if "tool_name" not in limits.limits:
            self._drop_field(rider, "name", "the client's name of this tool is the provider's")
            return
        # The second one stands where another tool has the first.
        if seen == name or seen not in set(islice(limits.forms("tool_name", name), 2)):
            self._drop_field(rider, "name", "the client knows no tool of this name by its own")

    def _drop_field(self, rider: Rider, key: str, reason: str) -> None:
        rider.entry = {k: v for k, v in rider.entry.items() if k != key}
        self._ignored(rider, reason)

    def _may_stand_whole(self, part: Part) -> bool:
        """Tell whether a part may stand in a turn of the model, and makes no other turn."""
        if part.get("dialect", self.provider.name) != self.provider.name:
            return False
        if self._is_foreign(part.get("own")):
            return False
        if part["type"] not in _FREE:
            return True
        return self._provider_takes(without_memory(part, "signature"))

    def _provider_takes(self, part: Part) -> bool:
        """Tell whether the provider takes a part of another one, in a turn of the model."""
        talk = [{"role": "assistant", "parts": [part]}]
        try:
            said = reading.unread(talk, Trail())
            out, _, _ = writing.write(self.provider, said, "messages", False, {})
            read = reading.read(self.provider, out, "messages", None, None, {}).ir
        except ConversionError:
            return False
        # In a history it may be of another type: what ran at the provider is a call there.
        return [(m["role"], len(m["parts"])) for m in read] == [("assistant", 1)]
