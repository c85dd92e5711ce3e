"""Transports: what stands in a client of httpx where the network would, and converts."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from typing import Any, Self

from .relay import Asked, Sent
from .sending import TIMEOUT, Answer, AsyncFlow, Came, Flow, Library, asend, failures, request, send
from .setting import Setting


class Transport:
    """Takes what a client sends to the provider of a setting; `close` closes its connections."""

    def __init__(self, given: Setting, library: Library) -> None:
        self._relay, self._library = given.relay, library
        self._client = given.client(library)

    def handle_request(self, request: Any) -> Any:
        """Answer a request of the client."""
        asked = _asked(request, request.read())
        answer = send(self._relay, self._library, self._client, asked, _seconds(request))
        return _response(self._library, answer)

    def close(self) -> None:
        """Close all connections to the provider."""
        self._client.close()

    def __enter__(self) -> Self:
        """Begin a block, at whose end it is closed."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the block."""
        self.close()


class AsyncClient:
    """Asks providers with a client of a library, which any loop may run."""

    def __init__(self, given: Setting, library: Library) -> None:
        self._client = given.async_client(library)
        self.failures = failures(library)
        self.late: tuple[type[Exception], ...] = (library.TimeoutException,)

    async def send(self, sent: Sent, seconds: Any = None) -> Came:
        """Ask a provider, or the demo. Raises one of `failures`."""
        came = await self._client.send(request(self._client, sent, seconds), stream=True)
        return Came(came.status_code, came.headers, came.aiter_bytes(), came.aclose)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()


class AsyncTransport:
    """The same for a client that does not wait."""

    def __init__(self, given: Setting, library: Library) -> None:
        self._relay, self._library = given.relay, library
        self._client = AsyncClient(given, library)

    async def handle_async_request(self, request: Any) -> Any:
        """Answer a request of the client."""
        asked = _asked(request, await request.aread())
        answer = await asend(self._relay, self._client, asked, _seconds(request))
        return _response(self._library, answer)

    async def aclose(self) -> None:
        """Close all connections to the provider."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        """Begin a block, at whose end it is closed."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the block."""
        await self.aclose()


def _asked(request: Any, body: bytes) -> Asked:
    path = request.url.raw_path.partition(b"?")[0].decode("ascii")
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Asked(request.method, path, headers, body)


def _seconds(request: Any) -> Any:
    return request.extensions.get(TIMEOUT)


def _response(library: Library, answer: Answer) -> Any:
    body = answer.body
    if isinstance(body, bytes):
        return library.Response(answer.status, headers=answer.headers, content=body)
    kind = _streams(library)[isinstance(body, AsyncFlow)]
    return library.Response(answer.status, headers=answer.headers, stream=kind(body))


@functools.cache
def _streams(library: Library) -> tuple[Any, Any]:
    """Return how a library wants its streams, waiting and not."""

    class Stream(library.SyncByteStream):  # type: ignore[misc]
        def __init__(self, flow: Flow) -> None:
            self._flow = flow

        def __iter__(self) -> Iterator[bytes]:
            return iter(self._flow)

        def close(self) -> None:
            self._flow.close()

    class AsyncStream(library.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, flow: AsyncFlow) -> None:
            self._flow = flow

        def __aiter__(self) -> AsyncIterator[bytes]:
            return aiter(self._flow)

        async def aclose(self) -> None:
            await self._flow.aclose()

    return Stream, AsyncStream
