"""An exchange: a client of one dialect in front of a provider of another, turn after turn."""

from __future__ import annotations

import functools
import json
import marshal
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import policy as policies
from ..conversion import reading, writing
from ..errors import UsageError, mistyped
from ..interpreter.resolver import Resolve, resolving
from ..interpreter.units import list_at
from ..interpreter.unpictured import kind_by_status, says_more
from ..language import variants
from ..language.lenses import same
from ..notes import Draft, Note
from ..patterns import later
from ..payload import check_call, check_text, known_options
from ..results import Conversion, all_notes, concluded
from ..room import with_room
from ..seeds import digest
from ..trail import value_at
from . import carry, markers, memory, names, stored
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
        self._rules = rules
        self.client: str = client
        self.provider: str = provider
        self.model: str | None = model
        self._home = client == provider
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
        self.streams: bool = False  # whether the last request asked for a stream

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
        model = self.model or asked
        client, provider = self._dialect(self.client, asked), self._dialect(self.provider, model)
        if asked is None and self._home:
            client = provider  # the model stands elsewhere than in the body
        is_json = text is not None
        keeps = self._state_kept and stored.may_be_kept(client.model.stored, body)
        whole, ahead, begun = stored.recall(client, body, keeps, self._kept_items)
        if text is None or whole is not body or ("\\" in text and _ESCAPED.search(text)):
            text = _json_text(whole)
        remembered: dict[str, Any] = {
            "models": [asked, model], "asked": _fingerprint(whole), "keeps": keeps, "begun": begun,
            "ids": names.call_ids(text, client.model), "unasked": _unasked_events(client, whole)
        }  # fmt: skip
        options = resolving(self._options, self._resolve)
        if not self._home:  # nothing that is read is written at home again
            options = {**options, "away": True}
        places = self._next_place = None
        rides = carry.may_ride(text)
        with stored.relocating_errors(client.model.stored, ahead):
            read = reading.read(client, whole, "request", None, stream, options, sure=is_json)
            if self._store is not None:
                places = memory.TurnPlaces(list_at(read.ir, "messages"), read.made)
                found = self._store.find(remembered["ids"], places.fingerprints)
                self._state["turns"], self._state["markers"] = found["turns"], found["markers"]
            self.streams = read.ir.get("stream") is True
            done = self._write_request(read, client, provider, model, options, rides, places)
        self._state.update(remembered)
        self._next_place = places.next_place if places is not None else None
        notes = stored.relocate_notes(client.model.stored, done.notes, ahead)
        return self._conclude_request(done._replace(notes=tuple(notes)))

    def _write_request(
        self, read: reading.Read, client: Held, provider: Held, model: str | None,
        options: dict[str, Any], rides: bool, places: memory.TurnPlaces | None,
    ) -> Conversion:  # fmt: skip
        """Write a request that was read, with what was remembered of its history put back.

        `model` is the one that the provider is asked for. `rides` tells whether something may ride
        in the request, `places` where its turns stand, if a store has the state.
        """
        messages, turns = list_at(read.ir, "messages"), self._state["turns"]
        if self.model is not None:
            read.ir["model"] = self.model
        pieces = carry.comes_in_pieces(client.model) and not self._home
        memory.rejoin(messages, turns, carry.has_sealed_ride if pieces else None)
        markers.put_back(client.model, messages, self._state["markers"])
        riders = Riders(client, provider, read.trail, read.made, self._shares)
        calls = self._put_back(messages, riders, places, rides, model) if rides or turns else []
        # At home the client may say what this provider never said, or ask for another model.
        other = bool(riders.foreign_messages) or client is not provider
        if self._home and other and options.get("repair", True):
            riders.without_thoughts()
            # Where nobody asked for it by name the API may keep the calls of some results.
            options = {"unasked": "repair" not in options, **options, "repair": True}
        known, unsaid = names.readdress(messages, calls, read.made)

        def prepare(writer: Writer) -> None:
            writer.unseen_ids = frozenset(unsaid)
            for name in known:
                writer.limits.remember("call_id", name, name)
            self._names.apply_to(writer.limits, self.provider)

        touched = rides or turns or pieces or self._state["markers"]
        made = read.made - {id(part) for part, _ in calls}
        odd, look = [*read.odd, *riders.drafts], None if touched else read.survey
        read = reading.Read(read.ir, read.trail, read.notes, made, odd, look)
        sure = not any("input" in part for part, _ in calls)  # texts of JSON mean what they did
        given = (provider, read, "request", self._home, options, prepare, sure)
        out, writer, envelope = writing.write(*given)
        self._learn(read, client, provider, out, writer)
        notes = all_notes(read.notes, writer.notes, out, self._home)
        return Conversion(out, tuple(notes), envelope)

    def _learn(
        self, read: reading.Read, client: Held, provider: Held, out: Any, writer: Writer
    ) -> None:
        """Remember what was written otherwise in a request: errors as texts, names, tools."""
        if not self._home:
            new = markers.new_markers(provider, list_at(read.ir, "messages"), out)
            self._state["markers"] = markers.merged(self._state["markers"], new)
            if self._store is not None and new:
                self._store.remember(markers=new)
            self._names.learn_own(read.ir, client.model, self.provider)
        self._names.learn(writer.limits, self.provider)
        self._names.set_properties(writer.property_names, self.provider)
        self._names.learn_rows(provider, read.ir, writer)

    @with_room
    def response(self, body: Any) -> Conversion:
        """Convert a response of the provider for the client, and remember what it has no room for.

        Raises ConversionError, PolicyError.
        """
        provider, client = self._ends()
        options, turn = dict(self._options), self._turn(provider, client)
        if not self._home:
            options |= {"asked": self._state["asked"], "ids": turn.taken_ids()}
        read = reading.read(provider, body, "response", None, None, options)
        if self._home:
            out, writer, _ = writing.write(client, read, "response", True, self._options)
            drafts = writer.notes
            self._keep_items(client, out)
        else:
            reading.split_answer_texts(provider, read, options)
            out, drafts = Unseen(turn).written(read)
        return self._conclude_answer(out, all_notes(read.notes, drafts, out, self._home))

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
        provider, client = self._ends()
        read = reading.read(provider, body, "error", None, None, self._options)
        http = read.ir.get("http") if http is None else http
        said = read.ir.get("kind")
        kind = None if self._home else kind_by_status(http, said)
        if kind is not None:
            read.ir["kind"] = kind
        out, writer, _ = writing.write(client, read, "error", self._home, self._options)
        at, drafts = read.trail.find(read.ir, "kind"), writer.notes
        if kind is not None and said is not None and all(draft.source != at for draft in drafts):
            drafts.append(Draft("reworded", "changed", at, None, says_more(http, said)))
        return self._conclude_answer(out, all_notes(read.notes, drafts, out, self._home))

    def _conclude_request(self, made: Conversion) -> Conversion:
        """Judge a request that is written; return it with the notes that the last one had not."""
        pair = (self.client, self.provider)
        done = concluded(*made[:3], self._policy, *pair, self._rules.hash)
        self.notes = done.notes
        digests = [_note_digest(note.code, note.source_path, note.message) for note in done.notes]
        known = set(self._state["told"])
        self._state["told"] = digests
        if known.isdisjoint(digests):
            return done
        pairs = zip(done.notes, digests, strict=True)
        return done._replace(notes=tuple(note for note, digest in pairs if digest not in known))

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
        if self._home:  # the provider knows what it has answered itself
            items = [item for item in items if item.get("by") != self.provider]
        return items

    def _keep_items(self, client: Held, answer: Any) -> None:
        """Keep what the client may name of an answer."""
        how, begun = client.model.stored, self._state["begun"]
        items = stored.answer_items(how, answer, begun) if self._state["keeps"] else []
        # Of two of one id the newer one counts; a store has them of many conversations.
        at = newest(self._state) if self._store is None else time.time_ns()
        for item in items:
            item |= {"at": at, "by": self.provider}
        if self._store is not None:
            self._store.remember(items=items)
        self._state["items"] += items

    def _remember_turns(self, turns: list[dict[str, Any]]) -> None:
        last = newest(self._state)
        for turn in turns:
            turn["at"] = last + 1
        if self._store is not None and turns:
            for turn in turns:
                turn["after"] = self._next_place or ["", ""]
            self._store.remember(turns)
        self._state["turns"] += turns

    def _put_back(
        self, messages: list[dict[str, Any]], riders: Riders, places: memory.TurnPlaces | None,
        rides: bool, model: str | None,
    ) -> list[tuple[Part, dict[str, Any]]]:  # fmt: skip
        """Put what was remembered back into the turns of a history; return their calls."""
        calls: list[tuple[Part, dict[str, Any]]] = []
        turns = self._state["turns"]
        known = memory.Turns(turns) if turns else None
        signatures = riders.provider.model.signatures
        may_read = functools.partial(signatures.can_read, model)
        own = [message for message in messages if message.get("role") == "assistant"]
        ridden = [riders.take(message) if rides else [] for message in own]
        if known is not None:
            for message, riding in zip(own, ridden, strict=True):
                known.claim(message, [rider.entry for rider in riding])
        for message, riding in zip(own, ridden, strict=True):
            turn, by_order = known.match(message, riders.made, places) if known else (None, False)
            if turn is not None and self._shares(turn["origin"]):
                riding, entries = [], turn["parts"]
            else:
                entries = []
                riders.foreign_messages += [message] if turn is not None else []
            if not entries and not riding:
                continue
            restored = Restored(message["parts"], riders.provider.model, riders.trail, may_read)
            for entry in entries:
                restored.put(entry, None, by_order)
            riders.put_back(riding, restored)
            message["parts"] = restored.parts()
            calls += restored.calls
            for part in restored.foreign:
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
