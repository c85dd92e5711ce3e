"""Transports: what stands in a client of httpx where the network would, and converts."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from ..errors import UsageError, WireglotError
from .demo import Demo
from .relay import DEMO_URL, Asked, Relay, Sent
from .sending import Answer, Came, Flow, now, send

Library = Any  # the module httpx or httpx2, which have the same names
TIMEOUT = "timeout"  # of a request, among what httpx calls its extensions


def library(name: str | None = None) -> Library:
    """Return the module httpx or httpx2; without a name the newer one that is installed.

    Raises UsageError where it is not.
    """
    for one in (name,) if name is not None else ("httpx2", "httpx"):
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(one)
    told = f"{name or 'httpx'} is not installed"
    raise UsageError(f"{told}: `pip install 'wireglot[serve]'` has httpx")


class AsyncClient:
    """Asks providers with a client of a library, which any loop may run."""

    kind, blocks = "AsyncClient", False  # of the library; whether nothing else runs meanwhile

    def __init__(self, relay: Relay, library: Library) -> None:
        self.demo, most = Demo(relay.rules), relay.limits
        self.client = getattr(library, self.kind)(
            limits=library.Limits(max_connections=most.requests, max_keepalive_connections=100),
            timeout=library.Timeout(most.silence, connect=most.connect),
        )
        self.failures: tuple[type[Exception], ...] = (
            library.HTTPError, library.StreamError, library.InvalidURL, WireglotError
        )  # fmt: skip
        self.late: tuple[type[Exception], ...] = (library.TimeoutException,)

    async def send(self, sent: Sent, seconds: Any = None) -> Came:
        """Ask a provider, or the demo. Raises one of `failures`."""
        if sent.url.startswith(DEMO_URL):
            return self.demo.came(sent.body, blocks=self.blocks)
        more = {} if seconds is None else {"extensions": {TIMEOUT: seconds}}
        return await self._came(
            self.client.build_request(
                sent.method, sent.url, headers=sent.headers, content=sent.body, **more
            )
        )

    async def _came(self, request: Any) -> Came:
        came = await self.client.send(request, stream=True)
        return Came(came.status_code, came.headers, came.aiter_bytes(), came.aclose)


class Client(AsyncClient):
    """The same with a client that blocks: what is asked for is there."""

    kind, blocks = "Client", True

    async def _came(self, request: Any) -> Came:
        came = self.client.send(request, stream=True)

        async def pieces() -> AsyncIterator[bytes]:
            for piece in came.iter_bytes():
                yield piece

        async def close() -> None:
            came.close()

        return Came(came.status_code, came.headers, pieces(), close)


class Transport(contextlib.AbstractContextManager["Transport"]):
    """Takes what a client sends to the provider of a relay; `close` closes its connections."""

    def __init__(self, relay: Relay, library: Library) -> None:
        self._relay, self._library = relay, library
        self._client = Client(relay, library)

    def handle_request(self, request: Any) -> Any:
        """Answer a request of the client."""
        asked = _asked(request, request.read())
        answer = now(send(self._relay, self._client, asked, _seconds(request)))
        return _response(self._library, answer, False)

    def close(self) -> None:
        """Close all connections to the provider."""
        self._client.client.close()

    def __exit__(self, *_: object) -> None:
        """End a block."""
        self.close()


class AsyncTransport(contextlib.AbstractAsyncContextManager["AsyncTransport"]):
    """The same for a client beside which others run."""

    def __init__(self, relay: Relay, library: Library) -> None:
        self._relay, self._library = relay, library
        self._client = AsyncClient(relay, library)

    async def handle_async_request(self, request: Any) -> Any:
        """Answer a request of the client."""
        asked = _asked(request, await request.aread())
        answer = await send(self._relay, self._client, asked, _seconds(request))
        return _response(self._library, answer, True)

    async def aclose(self) -> None:
        """Close all connections to the provider."""
        await self._client.client.aclose()

    async def __aexit__(self, *_: object) -> None:
        """End a block."""
        await self.aclose()


def _asked(request: Any, body: bytes) -> Asked:
    path = request.url.raw_path.partition(b"?")[0].decode("ascii")
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Asked(request.method, path, headers, body)


def _seconds(request: Any) -> Any:
    return request.extensions.get(TIMEOUT)


def _response(library: Library, answer: Answer, others: bool) -> Any:
    body = answer.body
    if isinstance(body, bytes):
        return library.Response(answer.status, headers=answer.headers, content=body)
    kind = _streams(library)[others]
    return library.Response(answer.status, headers=answer.headers, stream=kind(body))


@functools.cache
def _streams(library: Library) -> tuple[Any, Any]:
    """Return how a library wants its streams, waiting and not."""

    class Stream(library.SyncByteStream):  # type: ignore[misc]
        def __init__(self, flow: Flow) -> None:
            self._flow = flow

        def __iter__(self) -> Iterator[bytes]:
            pieces = aiter(self._flow)
            with contextlib.suppress(StopAsyncIteration):
                while True:
                    yield now(anext(pieces))

        def close(self) -> None:
            now(self._flow.aclose())

    class AsyncStream(library.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, flow: Flow) -> None:
            self._flow = flow

        def __aiter__(self) -> AsyncIterator[bytes]:
            return aiter(self._flow)

        async def aclose(self) -> None:
            await self._flow.aclose()

    return Stream, AsyncStream
