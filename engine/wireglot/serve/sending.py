"""Sending: the steps of a relay with a client of HTTP, waiting or not.

The client is of httpx or of httpx2, which have the same names; `library` is the module.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

from ..errors import WireglotError
from .relay import Asked, Headers, Limits, Refused, Relay, Reply
from .turn import Turn, begin

Library = Any  # the module httpx or httpx2
AGAIN = (408, 429)  # statuses below 500 after which another provider is asked
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


def settings(library: Library, limits: Limits) -> dict[str, Any]:
    """Return what a client that asks providers is made with."""
    held = library.Limits(max_connections=limits.requests, max_keepalive_connections=100)
    return {"limits": held, "timeout": library.Timeout(limits.silence, connect=limits.connect)}


def send(relay: Relay, library: Library, client: Any, asked: Asked, seconds: Any = None) -> Answer:
    """Take a request to the provider, and its answer back."""
    turn = None
    try:
        begun = begin(relay, asked)
        if isinstance(begun, Reply):
            return Answer(*begun, None)
        turn = begun
        while True:
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
                turn = _unreached(turn, library, error)
                continue
            other = _elsewhere(turn, response.status_code)
            if other is None:
                return Answer(*turn.whole(response.status_code, response.headers, data), turn)
            turn = other
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
        while True:
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
                turn = _unreached(turn, library, error)
                continue
            other = _elsewhere(turn, response.status_code)
            if other is None:
                return Answer(*turn.whole(response.status_code, response.headers, data), turn)
            turn = other
    except Refused as error:
        return Answer(*error.reply, turn, str(error))


def _request(client: Any, turn: Turn, seconds: Any) -> Any:
    sent = turn.sent
    more = {} if seconds is None else {"extensions": {TIMEOUT: seconds}}
    return client.build_request(
        sent.method, sent.url, headers=sent.headers, content=sent.body, **more
    )


def _unreached(turn: Turn, library: Library, error: Exception) -> Turn:
    """Return the turn of another provider where one was not reached. Raises Refused."""
    other = turn.instead(told(error))
    if other is None:
        turn.refuse(504 if isinstance(error, library.TimeoutException) else 502, told(error))
    return other


def _elsewhere(turn: Turn, status: int) -> Turn | None:
    """Return the turn of another provider where it may answer better than with this status."""
    return turn.instead(f"it answered {status}") if status in AGAIN or status >= 500 else None
