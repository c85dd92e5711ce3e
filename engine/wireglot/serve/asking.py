"""Asking: the server's client of HTTP, of aiohttp.

It takes a fifth of the processor time that httpx takes for an answer, and gives what came of a
stream in one piece, however many chunks it came in.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from ..errors import WireglotError
from .demo import Demo
from .relay import DEMO_URL, ProviderRequest, Relay
from .sending import ProviderAnswer

LINE = 65536  # bytes of a line in the head of an answer


class Client:
    """Asks the providers of a relay; its connections belong to the loop that asks first."""

    failures: tuple[type[Exception], ...] = (aiohttp.ClientError, TimeoutError, WireglotError)
    late: tuple[type[Exception], ...] = (TimeoutError,)

    def __init__(self, relay: Relay) -> None:
        self._limits, self._demo = relay.limits, Demo(relay.rules)
        self._bodies: dict[Any, aiohttp.StreamReader] = {}  # by their connections

    async def send(self, sent: ProviderRequest, seconds: Any = None) -> ProviderAnswer:
        """Ask a provider, or the demo. Raises one of `failures`."""
        if sent.url.startswith(DEMO_URL):
            return self._demo.answer(sent.body)
        response = await self._session.request(
            *(sent.method, sent.url), data=sent.body, headers=sent.headers,
            proxy=_proxy(sent.url), allow_redirects=False,
        )  # fmt: skip

        self._watch(response)

        async def close() -> None:
            response.close()

        return ProviderAnswer(response.status, response.headers, _pieces_of(response), close)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()

    def _watch(self, response: aiohttp.ClientResponse) -> None:
        """Let who waits for a body know where its connection ends.

        After a chunk that is none aiohttp closes the connection, and tells nobody.
        """
        protocol = response.connection.protocol if response.connection is not None else None
        closed = protocol.closed if protocol is not None else None
        if protocol is None or closed is None:
            return
        if protocol not in self._bodies:
            closed.add_done_callback(functools.partial(self._cut, protocol))
        self._bodies[protocol] = response.content

    def _cut(self, protocol: Any, closed: asyncio.Future[None]) -> None:
        body = self._bodies.pop(protocol)
        why = None if closed.cancelled() else closed.exception()
        if not body.is_eof() and body.exception() is None:
            body.set_exception(aiohttp.ClientPayloadError(f"the answer ends: {why or 'no HTTP'}"))

    @functools.cached_property
    def _session(self) -> aiohttp.ClientSession:
        most, limits = self._limits.requests, self._limits
        waits = aiohttp.ClientTimeout(None, sock_connect=limits.connect, sock_read=limits.silence)
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=most, ssl=_trusted()),
            timeout=waits,
            cookie_jar=aiohttp.DummyCookieJar(),  # what one client is given is no other's
            max_line_size=LINE,
            max_field_size=LINE,
        )


async def _pieces_of(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for data in response.content.iter_any():
            yield data
            await asyncio.sleep(0)  # or nobody could end it where there is always more
    except RuntimeError as error:  # it reads on where a broken chunk has closed the connection
        raise aiohttp.ClientPayloadError(f"the answer ends: {error}") from None


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Return which authorities are trusted: those of `wireglot.httpx`, too."""
    import httpx

    return httpx.create_ssl_context()


def _proxy(url: str) -> str | None:
    """Return the proxy that the environment names for an address."""
    parts = urlsplit(url)
    return _proxy_of(parts.scheme, parts.hostname or "")


@functools.cache  # there are as many as upstreams
def _proxy_of(scheme: str, host: str) -> str | None:
    known = getproxies()
    return None if proxy_bypass(host) else known.get(scheme, known.get("all"))
