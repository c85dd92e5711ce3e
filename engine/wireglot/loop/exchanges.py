"""An exchange: a client of one dialect in front of a provider of another, turn after turn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import policy as policies
from ..errors import UsageError
from ..interpreter import reading, writing
from ..language import variants
from ..notes import Draft, Note, quiet
from ..payload import check_call, known_options, resolving
from ..results import Conversion, Envelope, all_notes, concluded
from ..trail import Trail
from . import carry, markers, memory, names
from .remainder import Remainder

if TYPE_CHECKING:
    from ..dialects import DialectRules
    from ..interpreter.resolver import Resolve
    from ..interpreter.writer import Writer
    from ..rulesets import RuleSet
    from ..streaming.streams import Translator

VERSION = 1  # of the form of a state
_MARKER = ("dialect", "call", "digest", "was")
_KINDS = {
    401: "authentication", 403: "permission", 404: "not_found", 408: "timeout",
    429: "rate_limit", 503: "overloaded", 504: "timeout", 529: "overloaded",
}  # fmt: skip
Part = dict[str, Any]


class Exchange:
    """One conversation between a client and a provider; `rules.exchange(...)` makes it."""

    def __init__(
        self,
        rules: RuleSet,
        client: str,
        provider: str,
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
        policy: Mapping[str, str] | policies.Policy | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        check_call(model, None, client=client, provider=provider)
        given = dict(options) if isinstance(options, Mapping) else options
        self._carries = given.pop("carry", True) if isinstance(given, dict) else True
        if not isinstance(self._carries, bool):
            raise UsageError("the option `carry` is `true` or `false`")
        self._rules, self.client, self.provider, self.model = rules, client, provider, model
        self._options, self._resolve = known_options(given), resolve
        resolving({}, resolve)  # which says at once what is no function
        self._judge = policies.of(policy)
        rows = {name: rules.rows(name) for name in (client, provider)}
        variants.check_version(self._options, rows)
        self._stays = state is not None  # somebody says that the state is kept
        self._state = opened(state)
        self._names = names.Names(self._state["names"])

    @property
    def state(self) -> dict[str, Any]:
        """Return what another exchange needs to go on, as JSON."""
        copy: dict[str, Any] = json.loads(json.dumps(self._state))
        return copy

    # -- the three directions ---------------------------------------------------------------------

    def request(self, body: Any, stream: bool | None = None) -> Conversion:
        """Convert a request of the client for the provider.

        `model` of the exchange stands over that of the body. Raises ConversionError, PolicyError.
        """
        check_call(None, stream)
        asked = self._rules[self.client].model_in(body, "request")
        sent = self.model or asked
        self._state["models"] = [asked, sent]
        one, two = self._at(self.client, asked), self._at(self.provider, sent)
        self._state["ids"] = names.ids(body, one.model)
        done = self._at_once(body, one, two, stream)
        if done is not None:
            return self._sent(done.body, done.notes, done.envelope)
        options = resolving(self._options, self._resolve)
        read = reading.read(one, body, "request", None, stream, options)
        if self.model is not None:
            read.ir["model"] = self.model
        same = self.client == self.provider
        drafts: list[Draft] = list(read.odd)
        messages = read.ir.get("messages") or []
        markers.put_back(one.model, messages, self._state["markers"])
        calls = self._put_back(one, messages, read.trail, read.made, drafts)
        known, unsaid = names.readdressed(messages, calls)
        held: list[Writer] = []

        def prepare(writer: Writer) -> None:
            held.append(writer)
            writer.unsaid = frozenset(unsaid)
            for name in known:
                writer.limits.remember("call_id", name, name)
            self._names.into(writer.limits, self.provider)

        made = read.made - {id(part) for part, entry in calls}
        out, found, envelope = writing.write(
            two, read.ir, "request", same, read.trail, options, made, drafts, prepare
        )
        self._names.learn(held[0].limits, self.provider)
        if not same:
            for marker in markers.written(two, messages, out):
                if marker not in self._state["markers"]:
                    self._state["markers"].append(marker)
        return self._sent(out, all_notes(read.notes, found, out, same), envelope)

    def response(self, body: Any) -> Conversion:
        """Convert a response of the provider for the client, and remember what it has no room for.

        Raises ConversionError, PolicyError.
        """
        asked, sent = self._state["models"]
        one, two = self._at(self.provider, sent), self._at(self.client, asked)
        read = reading.read(one, body, "response", None, None, self._options)
        if self.client == self.provider:
            out, drafts, _ = writing.write(
                two, read.ir, "response", True, read.trail, self._options, read.made, read.odd
            )
            return self._given(out, all_notes(read.notes, drafts, out, True))
        rest = Remainder(one, two, self._names, self._taken(), self._options)
        rest.taken(read.ir, read.trail, read.made, self._carries)
        out, drafts = rest.written(read.ir, read.trail, read.made, read.odd, self._carries)
        rest.noted(drafts, read.trail, self._stays)
        self._state["turns"] += rest.turns
        return self._given(out, all_notes(read.notes, drafts, out, False))

    def translator(self) -> Translator:
        """Translate the stream of the provider's response for the client, frame by frame.

        When it is finished, what the client has no room for is in the state; nothing rides in
        frames. Raises UsageError.
        """
        from .turnstream import TurnStream

        asked, sent = self._state["models"]
        one, two = self._at(self.provider, sent), self._at(self.client, asked)
        settings = (self._options, self._judge, self._rules.hash, self._stays)
        turns = self._state["turns"]
        return TurnStream(one, two, self._names, self._taken(), turns, settings)

    def error(self, body: Any, http: int | None = None) -> Conversion:
        """Convert an error of the provider for the client. Raises ConversionError, PolicyError.

        `http` is the status that came with it: it says the kind where the body leaves that open.
        """
        if http is not None and not isinstance(http, int):
            raise UsageError(f"`http` is a number, not {type(http).__name__}")
        asked, sent = self._state["models"]
        one, two = self._at(self.provider, sent), self._at(self.client, asked)
        read = reading.read(one, body, "error", None, None, self._options)
        same = self.client == self.provider
        said, kind = read.ir.get("kind"), kind_of(http)
        known = kind is not None and not same and said != kind and open_kind(said)
        if known:
            read.ir["kind"] = kind
        out, drafts, _ = writing.write(
            two, read.ir, "error", same, read.trail, self._options, read.made, read.odd
        )
        at = read.trail.find(read.ir, "kind")
        if known and said is not None and not any(draft.source == at for draft in drafts):
            told = f"the status {http} says more than `{said.removeprefix('other:')}`"
            drafts.append(Draft("reworded", "changed", at, None, told))
        return self._given(out, all_notes(read.notes, drafts, out, same))

    def _sent(self, out: Any, notes: Sequence[Note], envelope: Envelope | None) -> Conversion:
        pair = (self.client, self.provider)
        return concluded(out, notes, envelope, self._judge, *pair, self._rules.hash)

    def _given(self, out: Any, notes: Sequence[Note]) -> Conversion:
        pair = (self.provider, self.client)
        return concluded(out, notes, None, self._judge, *pair, self._rules.hash)

    # -- what was remembered ----------------------------------------------------------------------

    def _at(self, name: str, model: str | None) -> DialectRules:
        return self._rules.at(name, model, self._options)

    def _at_once(
        self, body: Any, one: DialectRules, two: DialectRules, stream: bool | None
    ) -> Conversion | None:
        """Convert a request by generated code, where there is some and nothing to put back."""
        if (
            self._state["turns"]
            or self.client == self.provider
            or body.__class__ is not dict
            or markers.concern(one.model, two.model, self._state["markers"])
            or carry.may_ride(body)
        ):
            return None
        keys = one.model_keys
        named = next((key for key in keys or () if key in body), None)
        if self.model is not None and (named is not None or keys is None):
            if named is None:
                return None
            body = {**body, named: self.model}
        done = self._rules.compiled(
            body, self.client, self.provider, self._state["models"], stream, self._options
        )
        telling = {"renamed", *markers.codes(two)}
        if done is None or any(n.code in telling for n in done.notes):
            return None
        return done if self._resolve is None or quiet(done.notes) else None

    def _taken(self) -> set[str]:
        """Return the ids of calls that the client has."""
        known = (entry.get("call") for turn in self._state["turns"] for entry in turn["parts"])
        return {*self._state["ids"], *(name for name in known if name is not None)}

    def _put_back(
        self,
        client: DialectRules,
        messages: list[dict[str, Any]],
        trail: Trail,
        made: set[int],
        drafts: list[Draft],
    ) -> list[tuple[Part, dict[str, Any]]]:
        """Put what was remembered back into the turns of a history; return their calls."""
        calls: list[tuple[Part, dict[str, Any]]] = []
        left = list(self._state["turns"])
        memory.rejoin(messages, left)
        for message in messages:
            if message.get("role") != "assistant":
                continue
            rode = self._rides(client, message, trail, drafts)
            turn, by_order = matching(left, message["parts"], made)
            if turn is not None:
                left = [other for other in left if other is not turn]
            if turn is not None and turn["origin"] == self.provider:
                rode, entries = [], turn["parts"]
            else:
                entries = []
            if not entries and not rode:
                continue
            back = memory.Restored(message["parts"], self.provider, trail)
            for entry in entries:
                back.put(entry, None, by_order)
            for entry, element in rode:
                back.put(entry, element)
            message["parts"] = back.parts()
            calls += back.calls
        return calls

    def _rides(
        self,
        client: DialectRules,
        message: dict[str, Any],
        trail: Trail,
        drafts: list[Draft],
    ) -> list[tuple[dict[str, Any], Part | None]]:
        """Take what rides out of a message; return what is this provider's, with its elements."""
        found: list[tuple[dict[str, Any], Part | None]] = []
        for owner in (message, *message["parts"]):
            kind = "message" if owner is message else str(owner.get("type"))
            for origin, entries in carry.take(client.model, owner, kind).items():
                if origin != self.provider:
                    told = f"only {origin} can read what rides here"
                    at = trail.find(owner)
                    drafts.append(Draft("foreign-signature", "lost", at, None, told))
                    continue
                for entry in entries:
                    here = owner is not message and entry.get("here") is True
                    found.append((entry, owner if here else None))
        return found


def kind_of(http: int | None) -> str | None:
    """Return the kind of error that a status of HTTP means, if it means one."""
    if http is None or http < 400:
        return None
    return _KINDS.get(http, "invalid_request" if http < 500 else "server")


def open_kind(kind: str | None) -> bool:
    """Tell whether a body leaves the kind of its error open: it says none, or a general one."""
    return kind is None or kind in ("invalid_request", "server") or kind.startswith("other:")


def matching(
    turns: list[dict[str, Any]], parts: list[Part], made: set[int]
) -> tuple[dict[str, Any] | None, bool]:
    """Return the remembered turn that a message of the history is, and whether its ids are lost."""
    calls = [part for part in parts if part.get("type") == "tool_call"]
    ids = {part.get("id") for part in calls if id(part) not in made}
    said = memory.says(parts)
    if ids:
        turns = [t for t in turns if any(e.get("call") in ids for e in t["parts"])]
        alike = [t for t in turns if t["says"] == said]
        return next(iter(alike or turns), None), False
    return next((t for t in turns if said and t["says"] == said), None), True


def opened(state: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a state to go on with; raises UsageError for what is none."""
    fresh: dict[str, Any] = {
        "version": VERSION, "models": [None, None], "ids": [], "names": {}, "turns": [],
        "markers": [],
    }  # fmt: skip
    if state is None:
        return fresh
    if not isinstance(state, Mapping):
        raise UsageError(
            f"`state` is what an exchange left in `.state`, not {type(state).__name__}"
        )
    if state and state.get("version") != VERSION:
        raise UsageError(
            f"this state is of version {state.get('version')!r}, and version {VERSION} is known; "
            "begin with `state={}`"
        )
    try:
        kept = json.loads(json.dumps({**fresh, **state}))
        asked, sent = kept["models"]
        right = (
            all(isinstance(name, str | None) for name in (asked, sent))
            and all(isinstance(name, str) for name in kept["ids"])
            and all(carry.entries_valid(turn["parts"]) for turn in kept["turns"])
            and all(isinstance(t[key], str) for t in kept["turns"] for key in ("origin", "says"))
            and all(
                isinstance(text, str)
                for kinds in kept["names"].values()
                for known in kinds.values()
                for text in known.values()
            )
            and all(isinstance(m[k], str) for m in kept["markers"] for k in _MARKER)
        )
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        right = False
    if not right:
        raise UsageError("`state` is not what an exchange left in `.state`; begin with `state={}`")
    return dict(kept)
