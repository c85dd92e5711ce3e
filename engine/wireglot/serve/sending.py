"""Sending: the steps of a relay with a client of HTTP.

They are written once, for clients beside which others run; of one that blocks nothing is waited
for, and `run_now` takes the same steps.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from ..errors import WireglotError
from .relay import ClientRequest, Headers, ProviderRequest, Refused, Relay, Reply
from .turn import Turn, begin, gather

RETRIED = (408, 429)  # statuses below 500 after which another provider is asked
Made = TypeVar("Made")


class ProviderAnswer(NamedTuple):
    """An answer of a provider that begins to come; `close` leaves what is not read of it."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]
    close: Callable[[], Awaitable[None]]


class Client(Protocol):
    """Asks providers.

    Attributes:
        failures: What is raised where a provider fails, by it and by the rules.
        late: What of it says that the provider was not in time.
    """

    failures: tuple[type[Exception], ...]
    late: tuple[type[Exception], ...]

    async def send(self, sent: ProviderRequest, seconds: Any = None) -> ProviderAnswer:
        """Send a request; `seconds` are its own limits. Raises one of `failures`."""


class Flow:
    """What a provider streams, for a client; `aclose` leaves it."""

    def __init__(self, turn: Turn, answer: ProviderAnswer, client: Client) -> None:
        self._turn, self._answer, self._failures = turn, answer, client.failures
        self.ended = False  # whether the client has all of it

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield what goes to the client as soon as it came."""
        try:
            async for data in self._answer.pieces:
                if new := self._turn.feed(data):
                    yield new
            yield self._turn.finish()
        except self._failures as error:
            yield self._turn.broken(failure_text(error))
        self.ended = True

    async def aclose(self) -> None:
        """Close the connection to the provider."""
        await self._answer.close()


class Answer(NamedTuple):
    """What the client is answered; the turn is None where no provider was asked."""

    status: int
    headers: Headers
    body: bytes | Flow
    turn: Turn | None
    failed: Refused | None = None  # why it went no further


def failure_text(error: Exception) -> str:
    """Say what went wrong with a provider."""
    if isinstance(error, WireglotError):
        return f"the provider's answer cannot be read: {error}"
    return f"the provider cannot be reached: {type(error).__name__}: {error}".rstrip(": ")


async def send(relay: Relay, client: Client, asked: ClientRequest, seconds: Any = None) -> Answer:
    """Take a request to the provider, and its answer back."""
    turn = None
    try:
        begun = begin(relay, asked)
        if isinstance(begun, Reply):
            return Answer(*begun, None)
        turn = begun
        while True:
            try:
                answer = await client.send(turn.sent, seconds)
                if turn.streams(answer.status):
                    flow = Flow(turn, answer, client)
                    return Answer(200, turn.begin_stream(answer.headers), flow, turn)
                data = bytearray()
                try:
                    async for piece in answer.pieces:
                        gather(data, piece)
                finally:
                    await answer.close()
            except client.failures as error:
                other = turn.next_turn(failure_text(error))
                if other is None:
                    turn.refuse(504 if isinstance(error, client.late) else 502, failure_text(error))
            else:
                again = answer.status in RETRIED or answer.status >= 500
                other = turn.next_turn(f"it answered {answer.status}") if again else None
                if other is None:
                    reply = turn.whole_reply(answer.status, answer.headers, bytes(data))
                    return Answer(*reply, turn)
            turn = other
    except Refused as error:
        return Answer(*error.reply, turn, error)


def run_now(steps: Awaitable[Made]) -> Made:
    """Return what comes of steps that wait for nothing: a client that blocks gave what they ask."""
    try:
        steps.__await__().send(None)
    except StopIteration as done:
        made: Made = done.value
        return made
    raise RuntimeError("a step waits, and nothing else runs meanwhile")
