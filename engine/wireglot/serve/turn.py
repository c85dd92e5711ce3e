"""Turns: one request on its way to the provider, and the answer on its way back.

Nothing is sent or received here: `begin` takes a request of a client and gives a turn, which has
the request for the provider; the answer goes through the turn, whole or piece by piece. Where a
provider does not answer, the next one of the route has a turn, before the client was told anything.
Who sends, and whether that waits, is a matter of `sending`: a server and clients' transports take
these steps.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from .. import jsontext
from ..errors import ConversionError, WireglotError
from ..interpreter.unpictured import status_of
from ..loop.exchanges import Exchange
from ..notes import Note
from ..results import PolicyError
from ..streaming import eventstream, framing, responses
from ..streaming.streams import Translator
from . import wires
from .record import KeptBody
from .relay import (
    JSON,
    STREAMS,
    TYPE,
    ClientRequest,
    Headers,
    ProviderRequest,
    Refused,
    Relay,
    Reply,
    Upstream,
    shown,
    whole_reply,
)
from .wires import Route

NOTES = "x-wireglot-notes"
FAILED = range(400, 600)  # statuses that HTTP has for errors; servers send no other
SHOWN = 500  # characters of an error that is no JSON
FRAME = 64_000_000  # bytes of a frame of a provider, or of an answer that is whole
# A name of a model stands in a path, and must not lead elsewhere.
_MODEL = re.compile(r"(?!.*\.\.)[\w.:@/+-]+")


def begin(relay: Relay, asked: ClientRequest) -> Turn | Reply:
    """Take a request; return its turn, or what is answered at once. Raises Refused."""
    route, named = relay.route_of(asked.method, asked.path)
    if route.answer is not None:
        # An estimate: most providers do not count.
        held = {wires.TOKENS: max(1, len(asked.body) // 4)}
        return whole_reply(200, wires.filled(route.answer, held, relay.models()))
    coding = asked.headers.get("content-encoding", "identity")
    if coding != "identity":
        told = f"a body that is coded as {shown(coding)} is not read here: send it plain"
        relay.refuse(415, told, route.client)
    try:
        text = asked.body.decode()
        body, sure = jsontext.looked_at(text)
    except ValueError as error:
        relay.refuse(400, f"the body is no JSON: {error}", route.client)
    except RecursionError:
        relay.refuse(400, "the body is nested too deep", route.client)
    model = named or relay.rules[route.client].model_in(body, "request")
    found = [one._replace(model=one.model or named) for one in relay.upstreams(model)]
    if not found:
        told = f"the model {shown(model)}" if model is not None else "a request without a model"
        relay.refuse(404, f"no route is for {told}", route.client)
    return Turn(relay, found[0], found[1:], route, asked.headers, body, text if sure else None)


def gather(held: bytearray, data: bytes) -> None:
    """Add a piece to an answer that is to be whole. Raises WireglotError where it has no end."""
    held += data
    if len(held) > FRAME:
        raise WireglotError(f"it has more than {FRAME} bytes")


class Turn:
    """One request on its way to a provider, and the answer on its way back.

    Attributes:
        upstream: The provider.
        route: The path that was asked.
        sent: The request for the provider.
        model: The model that it is asked for.
        tried: What became of the providers that were asked before this one.
        broke: Why the stream ended before its end.
        notes: Those of the request, and of the answer so far.
        answer_body: What the provider answers, where somebody wants it.
        answered: The status of its answer; `kind` is its type.
    """

    def __init__(
        self,
        relay: Relay,
        upstream: Upstream,
        others: Sequence[Upstream],
        route: Route,
        headers: Mapping[str, str],
        body: Any,
        text: str | None = None,
        tried: tuple[str, ...] = (),
    ) -> None:
        self._relay, self.upstream, self.route, self.tried = relay, upstream, route, tried
        self._others, self._asked = others, (headers, body, text)
        self.notes: list[Note] = []
        self.answer_body: KeptBody | None = None
        self.answered, self.kind = 0, ""
        self._client, self._rules = route.client, relay.rules
        self.exchange = Exchange(
            *(relay.rules, route.client, upstream.dialect, upstream.model, self._options(headers)),
            *(relay.states, relay.policy),
        )
        self.model = upstream.model or self._rules[route.client].model_in(body, "request")
        self.sent = self._convert(headers, body, text)
        self.broke: str | None = None
        self._streamed: Translator | None = None

    def next_turn(self, why: str) -> Turn | None:
        """Return the turn of the next provider that can take the request, if there is one.

        The request is converted anew from the client's own. `why` this provider did not answer it.
        """
        tried = (*self.tried, f"{self.upstream.name}: {why}")
        for nth, other in enumerate(self._others, 1):
            try:
                return Turn(
                    self._relay, other, self._others[nth:], self.route, *self._asked, tried=tried
                )
            except Refused as error:
                tried = (*tried, f"{other.name}: {error}")
        self.tried = tried
        return None

    def _options(self, given: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the options, with the version that a client names to its own dialect."""
        options = self._relay.options or {}
        if self._client != self.upstream.dialect or "version" in options:
            return options
        known = {row.version for row in self._rules.rows(self._client)} - {None}
        said = [given[name] for name in wires.packaged().home if given.get(name) in known]
        return {**options, "version": {self._client: said[0]}} if said else options

    def _convert(self, given: Mapping[str, str], body: Any, text: str | None) -> ProviderRequest:
        upstream = self.upstream
        try:
            done = self.exchange.request(body, self.route.stream, text=text)
        except (ConversionError, PolicyError) as error:
            self.refuse(400, str(error))
        except WireglotError as error:  # which the client can do nothing about
            self.refuse(500, str(error))
        self.notes += done.notes
        envelope = done.envelope
        if envelope is None or not envelope.path:
            self.refuse(400, "no model is named")
        if envelope.model is not None and not _MODEL.fullmatch(envelope.model):
            self.refuse(400, f"{shown(envelope.model)} is no name of a model")
        headers = {TYPE: JSON, **envelope.headers}
        if self._client == upstream.dialect:
            headers |= {name: given[name] for name in wires.packaged().home if name in given}
        url = upstream.url + envelope.path
        headers |= upstream.headers
        return ProviderRequest(envelope.method, url, headers, jsontext.utf8(done.body))

    def refuse(self, status: int, why: str) -> NoReturn:
        """Raise Refused, in the client's words."""
        try:
            self._relay.refuse(status, why, self._client)
        except Refused as error:
            error.upstream = self.upstream
            raise

    def note_counts(self) -> list[str]:
        """Return how often each code was noted, in words."""
        counts = Counter(note.code for note in self.notes)
        return [f"{code}={count}" for code, count in sorted(counts.items())]

    def answer_ir(self) -> dict[str, Any]:
        """Return what was answered, as the IR has it; nothing where there is no answer."""
        with contextlib.suppress(WireglotError):
            if self._streamed is not None:
                body, dialect = self._streamed.result.body, self._client
            elif self.answer_body is not None and 200 <= self.answered < 300:
                body, dialect = self.answer_body.as_json(), self.upstream.dialect
            else:
                return {}
            return dict(self._rules[dialect].read(body, unit="response").ir)
        return {}

    # -- an answer that is whole -------------------------------------------------------------------

    def whole_reply(self, status: int, headers: Mapping[str, str], body: bytes) -> Reply:
        """Return the provider's answer, be it an error, for the client. Raises Refused."""
        self.answer_body, self.answered, self.kind = KeptBody(body), status, headers.get(TYPE, "")
        good, text = 200 <= status < 300, body.decode("utf-8", "replace").strip()
        try:
            given = json.loads(body if good else self._relay.masked(text))
            try:
                back = self.exchange.response(given) if good else self.exchange.error(given, status)
            except ConversionError:
                if not good or (failed := self._hidden_status(given)) is None:
                    raise
                given, status = json.loads(self._relay.masked(text)), failed
                back, good = self.exchange.error(given, status), False
        except (ValueError, RecursionError, WireglotError) as error:
            if good:
                self.refuse(502, f"the provider's answer cannot be read: {error}")
            said = f"the provider answered {status}: {text[:SHOWN]}".rstrip(": ")
            status = status if status in FAILED else 502
            made = self._relay.error_body(self._client, status, said)
            return whole_reply(status, made, self._reply_headers(headers))
        self.notes += back.notes
        status = status if good or status in FAILED else 502
        return whole_reply(status, back.body, self._reply_headers(headers))

    def _hidden_status(self, given: Any) -> int | None:
        """Return the status of an error that came as if all were well; None where it is none."""
        if not isinstance(given, dict):
            return None
        if given.get("error"):  # some say the status in it
            code = given["error"].get("code") if isinstance(given["error"], dict) else None
            return code if type(code) is int and code in FAILED else 502
        kind = self._rules[self.upstream.dialect].read(given, unit="error").ir.get("kind")
        return None if kind is None else status_of(kind)

    def _reply_headers(self, headers: Mapping[str, str]) -> Headers:
        """Return the headers of an answer that go on, and the notes."""
        known = wires.packaged()
        named = {name.lower(): value for name, value in headers.items() if value.isascii()}
        kept = {
            name: self._relay.masked(value)
            for name, value in named.items()
            if any(fnmatch.fnmatchcase(name, form) for form in known.back)
        }
        said = next((named[name] for name in known.alike if name in named), None)
        kept |= dict.fromkeys(known.alike, self._relay.masked(said)) if said is not None else {}
        if self.notes:
            kept[NOTES] = ", ".join(self.note_counts())
        return kept

    # -- an answer that comes piece by piece -------------------------------------------------------

    def streams(self, status: int) -> bool:
        """Tell whether an answer of that status is a stream."""
        return self.exchange.streams and 200 <= status < 300

    def begin_stream(self, headers: Mapping[str, str]) -> Headers:
        """Begin a stream; return the headers for the client, with the notes so far."""
        self._others, self._asked = (), ({}, None, None)  # which nobody needs while it streams
        self._home, self._held = self._client == self.upstream.dialect, list[bytes]()
        self._streamed = self._translator = self.exchange.translator()
        self._bytes = self._translator.as_bytes()
        self._count, self._behind = 0, 0  # frames so far, and how many bytes came behind them
        self._stream = stream = self._rules[self._client].model.streamed
        self.kind = media_type = headers.get(TYPE, "")
        self._decoder = eventstream.Decoder() if media_type.startswith(eventstream.TYPE) else None
        self._pieces: list[bytes] | None = [] if media_type.startswith(JSON) else None
        client_type = STREAMS[stream.framing]
        return {TYPE: client_type, "cache-control": "no-cache", **self._reply_headers(headers)}

    def feed(self, data: bytes) -> bytes:
        """Take what the provider sent; return what it gives rise to. Raises WireglotError."""
        if self._behind > FRAME:  # not told at once: what ended in the piece before goes on first
            raise WireglotError(f"a frame has more than {FRAME} bytes")
        if self.answer_body is not None:
            self.answer_body.add(data)
        if self._pieces is not None:
            self._pieces.append(data)
            made = b""
        else:
            made = self._relay.masked_bytes(self._convert_bytes(data))
        before, self._count = self._count, self._bytes.count
        if before == self._count:
            self._behind += len(data)
        else:
            self._behind = len(data) - 1 - data.rfind(b"\n")
        return made

    def _stream_of_whole(self) -> bytes:
        """Take an answer that came whole, though a stream was asked for, as a stream that says it.

        What is no answer is taken as it came: a stream by another name, or an error at home.
        """
        data, dialect = b"".join(self._pieces or ()), self.upstream.dialect
        with contextlib.suppress(ValueError, RecursionError, WireglotError):
            frames = [json.loads(data)]  # which is heard abroad, and at home passed on
            if self._home:
                frames = list(responses.frames(self._rules, frames[0], dialect, self.notes))
            data = framing.written(frames, self._rules[dialect].model.streamed)
        return self._convert_bytes(data)

    def _convert_bytes(self, data: bytes) -> bytes:
        if self._decoder is not None:
            data = b"".join(jsontext.utf8(frame) + b"\n" for frame in self._decoder.feed(data))
        made = self._bytes.feed(data)
        if not self._home:
            return made
        # Where nothing is converted a line waits for its end: an error may come in its place.
        before, end, after = made.rpartition(b"\n")
        if not end:
            self._held.append(after)
            return b""
        made, self._held = b"".join((*self._held, before, end)), [after]
        return made

    def finish(self) -> bytes:
        """Return the end; of a stream that was cut off the error that says so."""
        rest = self._stream_of_whole() if self._pieces is not None else b""
        held, self._held = b"".join(self._held), []
        rest += held + self._bytes.rest()
        if self._translator.cut and self._translator.error is None:
            rest += self.broken("the provider's stream broke off")
        else:
            rest += self._bytes.finish()
            self.notes += self._translator.notes
        return self._relay.masked_bytes(rest)

    def broken(self, why: str) -> bytes:
        """Return the end of a stream that broke: an error, as the client's dialect streams it."""
        self.broke = self._relay.masked(why)
        ends = self._home and self._stream.framing == "sse" and not self._bytes.unsaid
        made = self._relay.masked_bytes(self._bytes.unsaid) + (b"\n" if ends else b"")
        try:
            error = self._relay.error_body(self.upstream.dialect, 502, self.broke)
            made += framing.written(self._translator.feed(error), self._stream)
            made += framing.written(self._translator.finish(), self._stream)
        except WireglotError:  # what came before it leaves no place for it
            error = self._relay.error_body(self._client, 502, self.broke)
            return made + framing.written([error], self._stream)
        self.notes += self._translator.notes
        return made
