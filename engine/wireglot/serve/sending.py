"""Sending: the steps of a relay with a client of HTTP, waiting or not.

The client is of httpx or of httpx2, which have the same names; `library` is the module.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

from ..errors import WireglotError
from .relay import Asked, Headers, Refused, Relay, Reply
from .turn import Turn, begin

Library = Any  # the module httpx or httpx2
CONNECT, SILENCE = 15.0, 600.0  # seconds until a provider answers the call, and without a word
OPEN = 1000  # connections at once
TIMEOUT = "timeout"  # of a request, among what httpx calls its extensions


class Flow:
    """What a provider streams, for a client; `close` leaves it."""

    def __init__(self, turn: Turn, response: Any, library: Library) -> None:
        self._turn, self._response, self._failures = turn, response, failures(library)

    def __iter__(self) -> Iterator[bytes]:
        """Yield what goes to the client as soon as it came."""
        try:
            for data in self._response.iter_bytes():
                if new := self._turn.feed(data):
                    yield new
            yield self._turn.finish()
        except self._failures as error:
            yield self._turn.broken(told(error))

    def close(self) -> None:
        """Close the connection to the provider."""
        self._response.close()


class AsyncFlow:
    """The same, where others run meanwhile."""

    def __init__(self, turn: Turn, response: Any, library: Library) -> None:
        self._turn, self._response, self._failures = turn, response, failures(library)
        self.ended = False  # whether the client has all of it

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield what goes to the client as soon as it came."""
        try:
            async for data in self._response.aiter_bytes():
                if new := self._turn.feed(data):
                    yield new
            yield self._turn.finish()
        except self._failures as error:
            yield self._turn.broken(told(error))
        self.ended = True

    async def aclose(self) -> None:
        """Close the connection to the provider."""
        await self._response.aclose()


class Answer(NamedTuple):
    """What the client is answered; the turn is None where no provider was asked."""

    status: int
    headers: Headers
    body: bytes | Flow | AsyncFlow
    turn: Turn | None
    failed: str | None = None  # what went no further, and why


def failures(library: Library) -> tuple[type[Exception], ...]:
    """Return what may go wrong with a provider."""
    return (library.HTTPError, library.StreamError, library.InvalidURL, WireglotError)


def told(error: Exception) -> str:
    """Say what went wrong with a provider."""
    if isinstance(error, WireglotError):
        return f"the provider's stream cannot be read: {error}"
    return f"the provider cannot be reached: {type(error).__name__}: {error}".rstrip(": ")


def client(library: Library, transport: Any = None) -> Any:
    """Return a client that asks providers."""
    return library.Client(**_settings(library, transport))


def async_client(library: Library, transport: Any = None) -> Any:
    """Return a client that asks providers, where others run meanwhile."""
    return library.AsyncClient(**_settings(library, transport))


def _settings(library: Library, transport: Any) -> dict[str, Any]:
    limits = library.Limits(max_connections=OPEN, max_keepalive_connections=100)
    seconds = library.Timeout(SILENCE, connect=CONNECT)
    return {"transport": transport, "limits": limits, "timeout": seconds}


def send(relay: Relay, library: Library, client: Any, asked: Asked, seconds: Any = None) -> Answer:
    """Take a request to the provider, and its answer back."""
    turn = None
    try:
        begun = begin(relay, asked)
        if isinstance(begun, Reply):
            return Answer(*begun, None)
        turn = begun
        try:
            response = client.send(_request(client, turn, seconds), stream=True)
            if turn.streams(response.status_code):
                flow = Flow(turn, response, library)
                return Answer(200, turn.begun(response.headers), flow, turn)
            try:
                data = response.read()
            finally:
                response.close()
        except failures(library) as error:
            turn.refuse(_status(library, error), told(error))
        return Answer(*turn.whole(response.status_code, response.headers, data), turn)
    except Refused as error:
        return Answer(*error.reply, turn, str(error))


async def asend(
    relay: Relay, library: Library, client: Any, asked: Asked, seconds: Any = None
) -> Answer:
    """Take a request to the provider, and its answer back, where others run meanwhile."""
    turn = None
    try:
        begun = begin(relay, asked)
        if isinstance(begun, Reply):
            return Answer(*begun, None)
        turn = begun
        try:
            response = await client.send(_request(client, turn, seconds), stream=True)
            if turn.streams(response.status_code):
                flow = AsyncFlow(turn, response, library)
                return Answer(200, turn.begun(response.headers), flow, turn)
            try:
                data = await response.aread()
            finally:
                await response.aclose()
        except failures(library) as error:
            turn.refuse(_status(library, error), told(error))
        return Answer(*turn.whole(response.status_code, response.headers, data), turn)
    except Refused as error:
        return Answer(*error.reply, turn, str(error))


def _request(client: Any, turn: Turn, seconds: Any) -> Any:
    sent = turn.sent
    more = {} if seconds is None else {"extensions": {TIMEOUT: seconds}}
    return client.build_request(
        sent.method, sent.url, headers=sent.headers, content=sent.body, **more
    )


def _status(library: Library, error: Exception) -> int:
    return 504 if isinstance(error, library.TimeoutException) else 502
