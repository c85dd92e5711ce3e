"""Turns: one request on its way to the provider, and the answer on its way back.

Nothing is sent or received here: `begin` takes a request of a client and gives a turn, which has
the request for the provider; the answer goes through the turn, whole or piece by piece. Who sends,
and whether that waits, is a matter of `sending`: a server and clients' transports take these steps.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NoReturn

from .. import jsontext
from ..errors import WireglotError
from ..loop.exchanges import Exchange
from ..notes import Note
from ..streaming import eventstream, framing
from . import wires
from .relay import JSON, STREAMS, TYPE, Asked, Headers, Relay, Reply, Sent, short, whole, written
from .wires import Route

NOTES = "x-wireglot-notes"
SHOWN = 500  # characters of an error that is no JSON
# A name of a model stands in a path, and must not lead elsewhere.
_MODEL = re.compile(r"(?!.*\.\.)[\w.:@/+-]+")


def begin(relay: Relay, asked: Asked) -> Turn | Reply:
    """Take a request; return its turn, or what is answered at once. Raises Refused."""
    route, model = relay.routed(asked.method, asked.path)
    if route.answer is None:
        return Turn(relay, route, model, asked)
    model = relay.model or model
    if model is None and wires.MODEL in json.dumps(route.answer):
        relay.refuse(404, "no model is named; `--model` names one", route.client)
    # An estimate: most providers do not count.
    held = {wires.TOKENS: max(1, len(asked.body) // 4), wires.MODEL: model}
    return whole(200, wires.filled(route.answer, held))


class Turn:
    """One request on its way to the provider, and the answer on its way back."""

    def __init__(self, relay: Relay, route: Route, model: str | None, asked: Asked) -> None:
        self._relay, self.route, self.notes = relay, route, Counter[str]()
        self._client, self._rules = route.client, relay.rules
        self.exchange = Exchange(
            relay.rules, route.client, relay.provider, relay.model or model, state=relay.states
        )
        self.sent = self._sent(asked)
        self.broke: str | None = None  # why the stream ended before its end

    def _sent(self, asked: Asked) -> Sent:
        relay = self._relay
        try:
            body = jsontext.load(asked.body.decode())
        except ValueError as error:
            self.refuse(400, f"the body is no JSON: {error}")
        try:
            out = self.exchange.request(body, stream=self.route.stream)
        except WireglotError as error:
            self.refuse(400, str(error))
        self.tell(out.notes)
        envelope = out.envelope
        if envelope is None or not envelope.path:
            self.refuse(400, "no model is named")
        if envelope.model is not None and not _MODEL.fullmatch(envelope.model):
            self.refuse(400, f"{short(envelope.model)} is no name of a model")
        headers = {TYPE: JSON, **envelope.headers}
        if self._client == relay.provider:
            home = relay.wires.home
            headers |= {name: asked.headers[name] for name in home if name in asked.headers}
        if relay.key is not None:
            places = relay.wires.provider(relay.provider).headers
            headers |= {name: text.replace(wires.KEY, relay.key) for name, text in places.items()}
        return Sent(envelope.method, relay.url + envelope.path, headers, written(out.body))

    def refuse(self, status: int, why: str) -> NoReturn:
        """Raise Refused, in the client's words."""
        self._relay.refuse(status, why, self._client)

    def tell(self, notes: Iterable[Note]) -> None:
        """Count notes."""
        self.notes.update(note.code for note in notes)

    # -- an answer that is whole -------------------------------------------------------------------

    def whole(self, status: int, headers: Mapping[str, str], body: bytes) -> Reply:
        """Return the provider's answer, be it an error, for the client. Raises Refused."""
        good, text = 200 <= status < 300, body.decode("utf-8", "replace").strip()
        try:
            given = json.loads(body if good else self._relay.masked(text))
            back = self.exchange.response(given) if good else self.exchange.error(given, status)
        except (ValueError, RecursionError, WireglotError) as error:
            if good:
                self.refuse(502, f"the provider's answer cannot be read: {error}")
            said = f"the provider answered {status}: {text[:SHOWN]}".rstrip(": ")
            status = status if status >= 400 else 502
            made = self._relay.failed(self._client, status, said)
            return whole(status, made, self._passed(headers))
        self.tell(back.notes)
        return whole(status if good or status >= 400 else 502, back.body, self._passed(headers))

    def _passed(self, headers: Mapping[str, str]) -> Headers:
        """Return the headers of an answer that go on, and the notes."""
        known = self._relay.wires
        named = {name.lower(): value for name, value in headers.items()}
        kept = {
            name: self._relay.masked(value)
            for name, value in named.items()
            if any(fnmatch.fnmatchcase(name, form) for form in known.back)
        }
        told = next((named[name] for name in known.alike if name in named), None)
        kept |= dict.fromkeys(known.alike, told) if told is not None else {}
        if self.notes:
            kept[NOTES] = ", ".join(f"{code}={n}" for code, n in sorted(self.notes.items()))
        return kept

    # -- an answer that comes piece by piece -------------------------------------------------------

    def streams(self, status: int) -> bool:
        """Tell whether an answer of that status is a stream."""
        return self.exchange.streams and 200 <= status < 300

    def begun(self, headers: Mapping[str, str]) -> Headers:
        """Begin a stream; return the headers for the client, with the notes so far."""
        self._home, self._held = self._client == self._relay.provider, b""
        self._translator = self.exchange.translator()
        self._bytes = self._translator.as_bytes()
        stream = self._rules[self._client].model.stream
        assert stream is not None  # which the translator has looked at
        self._stream = stream
        binary = headers.get(TYPE, "").startswith(eventstream.TYPE)
        self._decoder = eventstream.Decoder() if binary else None
        kind = STREAMS[stream.framing]
        return {TYPE: kind, "cache-control": "no-cache", **self._passed(headers)}

    def feed(self, data: bytes) -> bytes:
        """Take what the provider sent; return what it gives rise to. Raises WireglotError."""
        if self._decoder is not None:
            data = b"".join(written(frame) + b"\n" for frame in self._decoder.feed(data))
        made = self._held + self._bytes.feed(data)
        if not self._home:
            return made
        # Where nothing is converted a line waits for its end: an error may come in its place.
        end = made.rfind(b"\n") + 1
        self._held = made[end:]
        return made[:end]

    def finish(self) -> bytes:
        """Return the end; of a stream that was cut off the error that says so."""
        held, self._held = self._held, b""
        rest = held + self._bytes.rest()
        if self._translator.cut and self._translator.error is None:
            return rest + self.broken("the provider's stream broke off")
        rest += self._bytes.finish()
        self.tell(self._translator.notes)
        return rest

    def broken(self, why: str) -> bytes:
        """Return the end of a stream that broke: an error, as the client's dialect streams it."""
        self.broke = self._relay.masked(why)
        made = b"\n" if self._home and self._stream.framing == "sse" else b""  # ends a frame
        try:
            error = self._relay.failed(self._relay.provider, 502, self.broke)
            made += framing.written(self._translator.feed(error), self._stream)
            made += framing.written(self._translator.finish(), self._stream)
        except WireglotError:  # what came before it leaves no place for it
            error = self._relay.failed(self._client, 502, self.broke)
            return made + framing.written([error], self._stream)
        self.tell(self._translator.notes)
        return made
