"""Transports: what stands in a client of httpx where the network would, and converts."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from ..errors import UsageError, WireglotError
from .demo import Demo
from .relay import DEMO_URL, ClientRequest, ProviderRequest, Relay
from .sending import Flow, ProviderAnswer, run_now, send

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


class Client:
    """Asks providers with a client of a library, which any loop may run.

    One that `blocks` waits itself: what is asked for is there.
    """

    def __init__(self, relay: Relay, library: Library, blocks: bool) -> None:
        self.demo, self.blocks, most = Demo(relay.rules), blocks, relay.limits
        self.client = (library.Client if blocks else library.AsyncClient)(
            limits=library.Limits(max_connections=most.requests, max_keepalive_connections=100),
            timeout=library.Timeout(most.silence, connect=most.connect),
        )
        self.failures: tuple[type[Exception], ...] = (
            library.HTTPError, library.StreamError, library.InvalidURL, WireglotError
        )  # fmt: skip
        self.late: tuple[type[Exception], ...] = (library.TimeoutException,)

    async def send(self, sent: ProviderRequest, seconds: Any = None) -> ProviderAnswer:
        """Ask a provider, or the demo. Raises one of `failures`."""
        if sent.url.startswith(DEMO_URL):
            return self.demo.answer(sent.body, blocks=self.blocks)
        more = {} if seconds is None else {"extensions": {TIMEOUT: seconds}}
        request = self.client.build_request(
            sent.method, sent.url, headers=sent.headers, content=sent.body, **more
        )
        response = self.client.send(request, stream=True)
        if not self.blocks:
            response = await response
            head = response.status_code, response.headers
            return ProviderAnswer(*head, response.aiter_bytes(), response.aclose)

        async def pieces() -> AsyncIterator[bytes]:
            for piece in response.iter_bytes():
                yield piece

        async def close() -> None:
            response.close()

        return ProviderAnswer(response.status_code, response.headers, pieces(), close)


class Transport(
    contextlib.AbstractContextManager["Transport"],
    contextlib.AbstractAsyncContextManager["Transport"],
):
    """Takes what a client of a library sends to the provider of a relay.

    A client that `blocks` calls the methods that wait, one beside which others run the others.
    """

    def __init__(self, relay: Relay, library: Library, blocks: bool) -> None:
        self._relay, self._library = relay, library
        self._client = Client(relay, library, blocks)

    def handle_request(self, request: Any) -> Any:
        """Answer a request of the client."""
        return run_now(self._answered(request, request.read()))

    async def handle_async_request(self, request: Any) -> Any:
        """Answer a request of the client."""
        return await self._answered(request, await request.aread())

    async def _answered(self, request: Any, body: bytes) -> Any:
        path = request.url.raw_path.partition(b"?")[0].decode("ascii")
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = ClientRequest(request.method, path, headers, body)
        seconds = request.extensions.get(TIMEOUT)
        answer, made = await send(self._relay, self._client, asked, seconds), self._library
        if isinstance(answer.body, bytes):
            return made.Response(answer.status, headers=answer.headers, content=answer.body)
        stream = _streams(made)(answer.body)
        return made.Response(answer.status, headers=answer.headers, stream=stream)

    def close(self) -> None:
        """Close all connections to the provider."""
        self._client.client.close()

    async def aclose(self) -> None:
        """Close all connections to the provider."""
        await self._client.client.aclose()

    def __exit__(self, *_: object) -> None:
        """End a block."""
        self.close()

    async def __aexit__(self, *_: object) -> None:
        """End a block."""
        await self.aclose()


@functools.cache
def _streams(library: Library) -> Any:
    """Return how a library wants its streams, waiting or not."""

    class Stream(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, flow: Flow) -> None:
            self._flow = flow

        def __iter__(self) -> Iterator[bytes]:
            pieces = aiter(self._flow)
            with contextlib.suppress(StopAsyncIteration):
                while True:
                    yield run_now(anext(pieces))

        def close(self) -> None:
            run_now(self._flow.aclose())

        def __aiter__(self) -> AsyncIterator[bytes]:
            return aiter(self._flow)

        async def aclose(self) -> None:
            await self._flow.aclose()

    return Stream
