"""The stream of a turn: a provider's frames on their way to the client of an exchange."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..notes import Draft
from ..policy import Policy
from ..streaming.incoming import Part
from ..streaming.streams import Translator
from . import carry, undo
from .remainder import Remainder
from .streamride import Rides

if TYPE_CHECKING:
    from ..interpreter.reading import Read
    from ..language.held import Held
    from .names import Names


class TurnStream(Translator):
    """A translator that gives names back, and remembers what the client has no room for.

    The frames that tell the end come from `finish`, when what must come back is in the state of
    the exchange: a client asks again once it has them.
    """

    _eager = True  # what is remembered of a turn is known when it ends

    def __init__(
        self,
        provider: Held,
        client: Held,
        names: Names,
        taken: set[str],
        remember: Callable[[list[dict[str, Any]]], None],
        settings: tuple[dict[str, Any], Policy, str, bool, bool, str | None],
    ) -> None:
        """Begin a turn; `remember` gets what is remembered of it when it is finished."""
        options, policy, rules_hash, stays, carries, self._model = settings
        super().__init__(provider, client, options, policy, True, rules_hash)
        self._names, self._taken, self._remember, self._stays = names, taken, remember, stays
        self._back = names.back(provider.name)
        if self._unfold is not None:
            limits = self._unfold.writer.limits
            names.into(limits, client.name)
            for name in taken:
                limits.reserve("call_id", name)
            for name in self._back.values():
                limits.remember("tool_name", name, name)
            self._fold.met = self._met
            if carries and client.model.carry:
                frames = self._unfold.frames
                who = self._model, self._fold.outcome
                self._unfold.rides = Rides(provider, client, self._back, frames, who)

    def asked(self, digest: str, unasked: list[str]) -> None:
        """Take of the request that is answered the digest, and the events that it did not want.

        Ids are made of the digest.
        """
        self._fold.outcome.asked = digest
        if self._unfold is not None:
            self._unfold.unasked = frozenset(unasked)

    def _met(self, part: Part) -> None:
        """Give a call the name that the client knows it by."""
        name = part.said["name"]
        if name in self._back:
            part.was["name"], part.said["name"] = name, self._back[name]
        row = undo.row_of(self._names, self._source, part.said["name"])
        if row is not None:
            part.undone = lambda ir: undo.back(row, ir)[0]

    def _written(self, read: Read) -> tuple[Any, list[Draft]]:
        assert self._unfold is not None
        self._names.learn(self._unfold.writer.limits, self._target.name)
        rest = Remainder(
            self._source, self._target, self._names, self._taken, self._options, self._model
        )
        rest.pieces = carry.comes_in_pieces(self._target.model)
        rest.taken(read.ir, read.trail, read.made, False)
        out, drafts = rest.written(read.ir, read.trail, read.made, read.odd, False)
        rest.rode = self._unfold.rides.rode if self._unfold.rides is not None else {}
        rest.noted(drafts, read.trail, self._stays)
        self._remember(rest.turns)
        return out, drafts
