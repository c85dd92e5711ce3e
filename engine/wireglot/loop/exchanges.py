"""An exchange: a client of one dialect in front of a provider of another, turn after turn."""

from __future__ import annotations

import functools
import json
import marshal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import policy as policies
from ..conversion import reading, writing
from ..errors import UsageError, mistyped
from ..interpreter.resolver import Resolve, resolving
from ..interpreter.unpictured import kind_by_status, says_more
from ..language import variants
from ..language.lenses import same
from ..notes import Draft, Note
from ..patterns import later
from ..payload import check_call, check_text, known_options
from ..results import Conversion, Envelope, all_notes, concluded
from ..room import with_room
from ..seeds import digest
from ..trail import value_at
from . import carry, markers, memory, names, stored, undo
from .memory import Part
from .restored import Restored
from .riders import Riders
from .states import States, newest, opened_state
from .unseen import Turn, Unseen

if TYPE_CHECKING:
    from ..conversion.hands import Writer
    from ..language.held import Held, HeldSet
    from ..streaming.streams import Translator

_ESCAPED = later(r"\\(?:/|u00[2-7])")  # what may hide a word that is looked for in a text


class Exchange:
    """One conversation between a client and a provider; `rules.exchange(...)` makes it."""

    def __init__(
        self,
        rules: HeldSet,
        client: str,
        provider: str,
        model: str | None = None,
        options: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | States | None = None,
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
        self._policy = policies.of(policy)
        rows = {name: rules.rows(name) for name in (client, provider)}
        variants.check_version(self._options, rows)
        self._state_kept = state is not None  # somebody says that the state is kept
        self._store = state if isinstance(state, States) else None
        self._state = opened_state(None if isinstance(state, States) else state)
        self._next_place: list[str] | None = None  # of the turn that answers it
        self._names = names.Names(self._state["names"])
        self.notes: tuple[Note, ...] = ()  # all of the last request, told before or not
        self.streams = False  # whether the last request asked for a stream

    @property
    def state(self) -> dict[str, Any]:
        """Return what another exchange needs to go on, as JSON."""
        copy: dict[str, Any] = json.loads(json.dumps(self._state))
        return copy

    # -- the three directions ---------------------------------------------------------------------

    @with_room
    def request(
        self, body: Any, stream: bool | None = None, *, text: str | None = None
    ) -> Conversion:
        """Convert a request of the client for the provider.

        `model` of the exchange stands over that of the body. The notes are those that the request
        before did not have; `.notes` has all. `text` is the JSON text of the body, given by a
        caller who knows that all of it is JSON (`jsontext.looked_at`): nobody looks for that again.
        Raises ConversionError, PolicyError.
        """
        check_call(None, stream)
        if text is not None:
            check_text("text", text)
        asked = self._rules[self.client].model_in(body, "request")
        sent = self.model or asked
        one, two = self._dialect(self.client, asked), self._dialect(self.provider, sent)
        if asked is None and self.client == self.provider:
            one = two  # the model stands elsewhere than in the body
        sure = text is not None
        how, said = one.model.stored, functools.partial(_wire_messages, one)
        keeps = self._state_kept and stored.may_be_kept(how, body)
        given, (body, ahead, begun) = body, stored.recall(how, body, keeps, self._kept_items, said)
        text = text if body is given else None
        if text is None or ("\\" in text and _ESCAPED.search(text)):
            text = _json_text(body)
        this: dict[str, Any] = {
            "models": [asked, sent], "asked": _fingerprint(body), "keeps": keeps, "begun": begun,
            "ids": names.call_ids(text, one.model), "unasked": _unasked_events(one, body),
        }  # fmt: skip
        options = resolving(self._options, self._resolve)
        if self.client != self.provider:  # nothing that is read is written at home again
            options = {**options, "away": True}
        places = self._next_place = None
        rides = carry.may_ride(text)
        with stored.relocating_errors(how, ahead):
            read = reading.read(one, body, "request", None, stream, options, sure=sure)
            if self._store is not None:
                places = memory.TurnPlaces(messages_of(read), read.made)
                found = self._store.find(this["ids"], places.fingerprints)
                self._state["turns"], self._state["markers"] = found["turns"], found["markers"]
            self.streams = read.ir.get("stream") is True
            done = self._write_request(read, rides, places, (one, two, sent), options)
        self._state.update(this)
        self._next_place = places.next_place if places is not None else None
        notes = stored.relocate_notes(how, done.notes, ahead)
        return self._conclude_request(done.body, notes, done.envelope)

    def _write_request(
        self,
        read: reading.Read,
        rides: bool,
        places: memory.TurnPlaces | None,
        pair: tuple[Held, Held, str | None],
        options: dict[str, Any],
    ) -> Conversion:
        """Write a request that was read, with all that belongs to its history."""
        one, two, sent = pair
        same = self.client == self.provider
        messages, turns = messages_of(read), self._state["turns"]
        if self.model is not None:
            read.ir["model"] = self.model
        pieces = carry.comes_in_pieces(one.model) and not same
        memory.rejoin(messages, turns, carry.has_sealed_ride if pieces else None)
        markers.put_back(one.model, messages, self._state["markers"])
        riders = Riders(one, two, read.trail, read.made, self._shares)
        calls = self._put_back(messages, riders, places, rides, sent) if rides or turns else []
        # At home the client may say what this provider never said, or ask for another model.
        if same and options.get("repair", True) and (riders.foreign_messages or one is not two):
            riders.without_thoughts()
            # Where nobody asked for it by name the API may keep the calls of some results.
            options = {"unasked": "repair" not in options, **options, "repair": True}
        known, unsaid = names.readdress(messages, calls, read.made)
        held: list[Writer] = []

        def prepare(writer: Writer) -> None:
            held.append(writer)
            writer.unseen_ids = frozenset(unsaid)
            for name in known:
                writer.limits.remember("call_id", name, name)
            self._names.apply_to(writer.limits, self.provider)

        touched = rides or turns or pieces or self._state["markers"]
        made = read.made - {id(part) for part, _ in calls}
        odd, look = [*read.odd, *riders.drafts], None if touched else read.survey
        read = reading.Read(read.ir, read.trail, read.notes, made, odd, look)
        sure = not any("input" in part for part, _ in calls)  # texts of JSON mean what they did
        out, drafts, envelope = writing.write(two, read, "request", same, options, prepare, sure)
        if not same:
            new = markers.new_markers(two, messages, out)
            self._state["markers"] = markers.merged(self._state["markers"], new)
            if self._store is not None and new:
                self._store.remember(markers=new)
            self._names.learn_own(read.ir, one.model, self.provider)
        self._names.learn(held[0].limits, self.provider)
        self._names.set_properties(held[0].property_names, self.provider)
        undo.learn_rows(self._names, two, read.ir, held[0])
        return Conversion(out, tuple(all_notes(read.notes, drafts, out, same)), envelope)

    @with_room
    def response(self, body: Any) -> Conversion:
        """Convert a response of the provider for the client, and remember what it has no room for.

        Raises ConversionError, PolicyError.
        """
        one, two = self._ends()
        options, turn = dict(self._options), self._turn(one, two)
        if self.client != self.provider:
            options |= {"asked": self._state["asked"], "ids": turn.taken_ids()}
        read = reading.read(one, body, "response", None, None, options)
        if self.client == self.provider:
            out, drafts, _ = writing.write(two, read, "response", True, self._options)
            self._keep_items(two, out)
            return self._conclude_answer(out, all_notes(read.notes, drafts, out, True))
        reading.split_answer_texts(one, read, options)
        out, drafts = Unseen(turn).written(read)
        return self._conclude_answer(out, all_notes(read.notes, drafts, out, False))

    def translator(self) -> Translator:
        """Translate the stream of the provider's response for the client, frame by frame.

        When it is finished, what the client has no room for is in the state; what can, rides in
        its frames. Raises UsageError.
        """
        from .streamride import TurnStream

        said = self._state["asked"], self._state["unasked"]
        return TurnStream(self._turn(*self._ends()), self._policy, self._rules.hash, *said)

    @with_room
    def error(self, body: Any, http: int | None = None) -> Conversion:
        """Convert an error of the provider for the client. Raises ConversionError, PolicyError.

        `http` is the status that came with it: it says the kind where the body leaves that open.
        """
        if http is not None and not isinstance(http, int):
            raise mistyped("`http` is a number", http)
        one, two = self._ends()
        read = reading.read(one, body, "error", None, None, self._options)
        same = self.client == self.provider
        http = read.ir.get("http") if http is None else http
        said = read.ir.get("kind")
        kind = None if same else kind_by_status(http, said)
        if kind is not None:
            read.ir["kind"] = kind
        out, drafts, _ = writing.write(two, read, "error", same, self._options)
        at = read.trail.find(read.ir, "kind")
        told = any(draft.source == at for draft in drafts)
        if kind is not None and said is not None and not told:
            drafts.append(Draft("reworded", "changed", at, None, says_more(http, said)))
        return self._conclude_answer(out, all_notes(read.notes, drafts, out, same))

    def _conclude_request(
        self, out: Any, notes: Sequence[Note], envelope: Envelope | None
    ) -> Conversion:
        """Return a request for the provider, with those notes that the one before did not have."""
        pair = (self.client, self.provider)
        done = concluded(out, notes, envelope, self._policy, *pair, self._rules.hash)
        self.notes = done.notes
        told = [_note_digest(note.code, note.source_path, note.message) for note in done.notes]
        before = set(self._state["told"])
        self._state["told"] = told
        if before.isdisjoint(told):
            return done
        new = (note for note, mark in zip(done.notes, told, strict=True) if mark not in before)
        return done._replace(notes=tuple(new))

    def _conclude_answer(self, out: Any, notes: Sequence[Note]) -> Conversion:
        pair = (self.provider, self.client)
        return concluded(out, notes, None, self._policy, *pair, self._rules.hash)

    # -- what was remembered ----------------------------------------------------------------------

    def _dialect(self, name: str, model: str | None) -> Held:
        return self._rules.at(name, model, self._options)

    def _ends(self) -> tuple[Held, Held]:
        """Return the provider and the client of the answer to the last request."""
        asked, sent = self._state["models"]
        return self._dialect(self.provider, sent), self._dialect(self.client, asked)

    def _turn(self, provider: Held, client: Held) -> Turn:
        """Return what is known of an answer that is to come."""
        ids, entries = self._state["ids"], (e for t in self._state["turns"] for e in t["parts"])
        known = [entry["call"] for entry in entries if entry.get("call") is not None]
        kept = (self._options, self._state["models"][1], self._state_kept, self._carries)
        keep = functools.partial(self._keep_items, client)
        return Turn(provider, client, self._names, ids, known, *kept, self._remember_turns, keep)

    def _kept_items(self, ids: list[str]) -> stored.Items:
        """Return what was answered under these ids, if it was kept."""
        known = self._state if self._store is None else self._store.find(ids)
        items: stored.Items = known["items"]
        if self.client == self.provider:  # which knows what it has answered itself
            items = [item for item in items if item.get("by") != self.provider]
        return items

    def _keep_items(self, client: Held, answer: Any) -> None:
        """Keep what the client may name of an answer."""
        how, begun = client.model.stored, self._state["begun"]
        items = stored.answer_items(how, answer, begun) if self._state["keeps"] else []
        for item in items:
            # Of two of one id the newer one counts.
            item |= {"at": newest(self._state), "by": self.provider}
        if self._store is not None:
            self._store.remember(items=items)
        self._state["items"] += items

    def _remember_turns(self, turns: list[dict[str, Any]]) -> None:
        """Remember turns of the provider."""
        last = newest(self._state)
        for turn in turns:
            turn["at"] = last + 1
        if self._store is not None and turns:
            for turn in turns:
                turn["after"] = self._next_place or ["", ""]
            self._store.remember(turns)
        self._state["turns"] += turns

    def _put_back(
        self,
        messages: list[dict[str, Any]],
        riders: Riders,
        places: memory.TurnPlaces | None,
        rides: bool,
        model: str | None,
    ) -> list[tuple[Part, dict[str, Any]]]:
        """Put what was remembered back into the turns of a history; return their calls."""
        calls: list[tuple[Part, dict[str, Any]]] = []
        turns = self._state["turns"]
        known = memory.Turns(turns) if turns else None
        signatures = riders.provider.model.signatures
        reads = functools.partial(signatures.known, model)
        own = [message for message in messages if message.get("role") == "assistant"]
        ridden = [riders.take(message) if rides else [] for message in own]
        if known is not None:
            for message, rode in zip(own, ridden, strict=True):
                known.claim(message, [rider.entry for rider in rode])
        for message, rode in zip(own, ridden, strict=True):
            turn, by_order = known.match(message, riders.made, places) if known else (None, False)
            if turn is not None and self._shares(turn["origin"]):
                rode, entries = [], turn["parts"]
            else:
                entries = []
                riders.foreign_messages += [message] if turn is not None else []
            if not entries and not rode:
                continue
            back = Restored(message["parts"], riders.provider.model, riders.trail, reads)
            for entry in entries:
                back.put(entry, None, by_order)
            riders.put_back(rode, back)
            message["parts"] = back.parts()
            calls += back.calls
            for part in back.foreign:
                told = f"another model than {model} has signed this"
                at = riders.trail.find(part)
                riders.drafts.append(Draft("foreign-signature", "lost", at, None, told))
        return calls

    def _shares(self, name: str) -> bool:
        """Tell whether the provider reads what the dialect of a name, which a client says, made."""
        if name not in self._rules.dialects:
            return False
        one, two = (self._rules[of].model.origin["signature"] for of in (self.provider, name))
        return one == two


def messages_of(read: reading.Read) -> list[Any]:
    """Return the messages of a request that was read."""
    return read.ir.get("messages") or []


def _wire_messages(client: Held, body: Any) -> list[Any]:
    """Return the messages of a request of a client as the elements of a list, system text apart."""
    read = reading.read(client, body, "request", None, None, {})
    said = [one for one in messages_of(read) if one.get("role") != "system"]
    read = reading.unread(said, read.trail)
    found: list[Any] = writing.write(client, read, "messages", True, {})[0]
    return found


@functools.lru_cache(8192)  # a history says the same in each request
def _note_digest(code: str, at: str | None, message: str) -> str:
    """Return what a note is known by in the next request."""
    return digest(f"{code}\n{at}\n{message}")[:12]


def _fingerprint(body: Any) -> str:
    """Return what tells a request from others: the same for the same body in every process."""
    import hashlib

    try:
        data = marshal.dumps(body, 0)  # 0: by what it says alone
        return hashlib.blake2b(data, digest_size=32).hexdigest()
    except ValueError:  # a class that a caller derived
        return digest(_json_text(body))


def _json_text(body: Any) -> str:
    """Return a request as text, nothing for what is no JSON."""
    try:
        return json.dumps(body)
    except (TypeError, ValueError, RecursionError):
        return ""


def _unasked_events(client: Held, body: Any) -> list[str]:
    """Return the events of a stream that the client did not ask for."""
    stream = client.model.stream
    asks = stream.asks if stream is not None else {}
    return [
        act
        for act, found in asks.items()
        if any(not same(value_at(body, ask.keys), ask.value) for ask in found)
    ]
