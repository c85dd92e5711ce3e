"""Sending: the steps of a relay with a client of HTTP, waiting or not.

A client that waits is of httpx or of httpx2, which have the same names; `library` is the module.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from ..errors import WireglotError
from .relay import Asked, Headers, Limits, Refused, Relay, Reply, Sent
from .turn import Turn, begin, gather

Library = Any  # the module httpx or httpx2
AGAIN = (408, 429)  # statuses below 500 after which another provider is asked
TIMEOUT = "timeout"  # of a request, among what httpx calls its extensions


class Came(NamedTuple):
    """An answer of a provider that begins to come; `close` leaves what is not read of it."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]
    close: Callable[[], Awaitable[None]]


class Client(Protocol):
    """Asks providers, while others run.

    Attributes:
        failures: What is raised where a provider fails, by it and by the rules.
        late: What of it says that the provider was not in time.
    """

    failures: tuple[type[Exception], ...]
    late: tuple[type[Exception], ...]

    async def send(self, sent: Sent, seconds: Any = None) -> Came:
        """Send a request; `seconds` are its own limits. Raises one of `failures`."""


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

    def __init__(self, turn: Turn, came: Came, failures: tuple[type[Exception], ...]) -> None:
        self._turn, self._came, self._failures = turn, came, failures
        self.ended = False  # whether the client has all of it

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield what goes to the client as soon as it came."""
        try:
            async for data in self._came.pieces:
                if new := self._turn.feed(data):
                    yield new
            yield self._turn.finish()
        except self._failures as error:
            yield self._turn.broken(told(error))
        self.ended = True

    async def aclose(self) -> None:
        """Close the connection to the provider."""
        await self._came.close()


class Answer(NamedTuple):
    """What the client is answered; the turn is None where no provider was asked."""

    status: int
    headers: Headers
    body: bytes | Flow | AsyncFlow
    turn: Turn | None
    failed: Refused | None = None  # why it went no further


def failures(library: Library) -> tuple[type[Exception], ...]:
    """Return what is raised where a provider fails, by a client of a library and by the rules."""
    return (library.HTTPError, library.StreamError, library.InvalidURL, WireglotError)


def told(error: Exception) -> str:
    """Say what went wrong with a provider."""
    if isinstance(error, WireglotError):
        return f"the provider's answer cannot be read: {error}"
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
                response = client.send(request(client, turn.sent, seconds), stream=True)
                if turn.streams(response.status_code):
                    flow = Flow(turn, response, library)
                    return Answer(200, turn.begun(response.headers), flow, turn)
                data = bytearray()
                try:
                    for piece in response.iter_bytes():
                        gather(data, piece)
                finally:
                    response.close()
            except failures(library) as error:
                turn = _unreached(turn, isinstance(error, library.TimeoutException), error)
                continue
            other = _elsewhere(turn, response.status_code)
            if other is None:
                return Answer(
                    *turn.whole(response.status_code, response.headers, bytes(data)), turn
                )
            turn = other
    except Refused as error:
        return Answer(*error.reply, turn, error)


async def asend(relay: Relay, client: Client, asked: Asked, seconds: Any = None) -> Answer:
    """Take a request to the provider, and its answer back, where others run meanwhile."""
    turn = None
    try:
        begun = begin(relay, asked)
        if isinstance(begun, Reply):
            return Answer(*begun, None)
        turn = begun
        while True:
            try:
                came = await client.send(turn.sent, seconds)
                if turn.streams(came.status):
                    flow = AsyncFlow(turn, came, client.failures)
                    return Answer(200, turn.begun(came.headers), flow, turn)
                data = bytearray()
                try:
                    async for piece in came.pieces:
                        gather(data, piece)
                finally:
                    await came.close()
            except client.failures as error:
                turn = _unreached(turn, isinstance(error, client.late), error)
                continue
            other = _elsewhere(turn, came.status)
            if other is None:
                return Answer(*turn.whole(came.status, came.headers, bytes(data)), turn)
            turn = other
    except Refused as error:
        return Answer(*error.reply, turn, error)


def request(client: Any, sent: Sent, seconds: Any) -> Any:
    """Return a request as a client of httpx wants it."""
    more = {} if seconds is None else {"extensions": {TIMEOUT: seconds}}
    return client.build_request(
        sent.method, sent.url, headers=sent.headers, content=sent.body, **more
    )


def _unreached(turn: Turn, late: bool, error: Exception) -> Turn:
    """Return the turn of another provider where one was not reached. Raises Refused."""
    other = turn.instead(told(error))
    if other is None:
        turn.refuse(504 if late else 502, told(error))
    return other


def _elsewhere(turn: Turn, status: int) -> Turn | None:
    """Return the turn of another provider where it may answer better than with this status."""
    return turn.instead(f"it answered {status}") if status in AGAIN or status >= 500 else None
