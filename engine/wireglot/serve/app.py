"""The server's application: requests in, answers out, and one line of the log for each."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from ..errors import UsageError
from . import page, wires
from .asking import Client
from .guard import Guard
from .record import KeptBody, Record, Recorder
from .relay import ClientRequest, Refused, Relay, shown
from .sending import Answer, Flow, send
from .telemetry import Telemetry

LOG = logging.getLogger("wireglot.serve")


class App:
    """An application for any server that speaks ASGI.

    Attributes:
        relay: What requests go through that come from now on; another may be put in its place.
    """

    def __init__(
        self,
        relay: Relay,
        host: str,
        key: str | None,
        log: logging.Logger = LOG,
        folder: str | None = None,
        tells: bool = False,
    ) -> None:
        """Begin, for clients of a key; `folder` is for records, `tells` for OpenTelemetry.

        Raises UsageError.
        """
        self._guard = guard = Guard(host, key)
        try:
            self._recorder = Recorder(lambda text: guard.masked(self.relay.masked(text)), folder)
        except OSError as error:
            raise UsageError(f"nothing can be recorded in `{folder}`: {error}") from None
        self._telemetry = Telemetry(wires.packaged().telemetry) if tells else None
        self.relay, self._limits, self._running = relay, relay.limits, 0
        self._client, self._line = Client(relay), log.info

    async def close(self) -> None:
        """Close all connections to the provider."""
        await self._client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        self._running += 1
        try:
            await self._answer(scope, receive, send)
        finally:
            self._running -= 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, begun = Request(scope, receive), time.perf_counter()
        if request.url.path == page.PATH or request.url.path.startswith(f"{page.PATH}/"):
            await self._page(request)(scope, receive, send)
            return
        try:
            asked, answer = await self._pass_on(request)
        except ClientDisconnect:
            self._line("%s left before its request was whole", request.method)
            return
        body = answer.body
        if not isinstance(body, Flow):
            assert isinstance(body, bytes)
            self._record(request, asked, answer, begun, KeptBody(body))
            await Response(body, answer.status, answer.headers)(scope, receive, send)
            return
        assert answer.turn is not None
        answer.turn.answer_body, given = KeptBody(), KeptBody()
        try:
            flowing = _kept_as_it_flows(body, given)
            await StreamingResponse(flowing, answer.status, answer.headers)(scope, receive, send)
        finally:  # also where the client has left, or the server ends
            with anyio.CancelScope(shield=True):
                await body.aclose()
            left = "" if body.ended else "the client left"
            self._record(request, asked, answer, begun, given, left)

    def _page(self, request: Request) -> Response:
        here, server = request.client, request.scope.get("server") or ("", 0)
        address = here.host if here is not None else ""
        if self._guard.page_refused(request.headers, request.query_params, server[1], address):
            again = {"www-authenticate": 'Basic realm="wireglot"'}
            return Response("This page is not for you.", 401, again, "text/plain")
        if request.method != "GET":
            return Response("This page is read.", 405, {"allow": "GET"}, "text/plain")
        status, shown = page.page(self._recorder, self.relay.rules, request.url.path)
        return Response(shown, status, page.HEADERS)

    async def _pass_on(self, request: Request) -> tuple[ClientRequest | None, Answer]:
        """Let a request in, and take it to the provider."""
        try:
            asked = await self._let_in(request)
        except Refused as error:
            return None, Answer(*error.reply, None, error)
        return asked, await send(self.relay, self._client, asked)

    async def _let_in(self, request: Request) -> ClientRequest:
        """Return a request that is let in, whole. Raises Refused."""
        relay, most = self.relay, self._limits.body
        path = request.scope.get("raw_path", b"").decode("ascii", "replace")
        client = relay.client(path)
        port = (request.scope.get("server") or ("", 0))[1]
        refused = self._guard.refused(request.headers, request.query_params, port)
        if refused is not None:
            relay.refuse(*refused, client)
        relay.route_of(request.method, path)  # what is nowhere is said to whom may know
        if self._running > self._limits.requests:
            told = f"{self._limits.requests} requests run already"
            relay.refuse(503, told, client, {"retry-after": "1"})
        if "content-length" in request.headers and "transfer-encoding" in request.headers:
            told = "a request says its length once"  # or two readers may find two ends
            relay.refuse(400, told, client, {"connection": "close"})
        try:
            async with asyncio.timeout(self._limits.arrival):
                body = await _read_body(request, most)
        except TimeoutError:
            relay.refuse(408, "the request did not come to its end", client)
        if body is None:
            relay.refuse(413, f"a request has at most {most} bytes here", client)
        return ClientRequest(request.method, path, dict(request.headers), body)

    def _record(
        self, request: Request, asked: ClientRequest | None, answer: Answer, begun: float,
        given: KeptBody, left: str = ""
    ) -> None:  # fmt: skip
        """Record what became of a request, and say it."""
        turn, took = answer.turn, time.perf_counter() - begun
        last = str(answer.failed or "") or (turn.broke if turn else None) or left
        why = "; ".join(filter(None, (*(turn.tried if turn else ()), last)))
        why = self.relay.masked(why)
        self._log(request, answer, took, " ".join(why.split()))
        if self._telemetry is not None and turn is not None:
            bad = why if last or answer.status >= 400 else ""
            self._telemetry.record(request.headers, turn, answer, took, bad)
        if asked is None or (turn is None and answer.failed is None):
            return  # nobody was to be asked
        route = turn.route if turn is not None else self.relay.route_of(asked.method, asked.path)[0]
        named = turn.upstream if turn is not None else getattr(answer.failed, "upstream", None)
        ends = (named.dialect, named.model) if named is not None else ("", None)
        seen = Record(asked.path, route.client, *ends, KeptBody(asked.body))
        if turn is not None:
            seen.notes = tuple(turn.notes)
            seen.sent, seen.came = KeptBody(turn.sent.body), turn.answer_body or KeptBody()
            seen.kind, seen.answered = turn.kind, turn.answered or None
        seen.given, seen.status, seen.failed, seen.seconds = given, answer.status, why, took
        seen.streamed = isinstance(answer.body, Flow)
        try:
            self._recorder.keep(seen)
        except OSError as error:
            self._line("this request could not be recorded: %s", error)

    def _log(self, request: Request, answer: Answer, took: float, why: str) -> None:
        """Say what became of a request: no header and no query, for keys stand there."""
        turn = answer.turn
        route = shown(request.scope["path"]) if turn is None else f"{turn.route.client} -> "
        route += turn.upstream.name if turn is not None else ""
        notes = ",".join(turn.note_counts()) if turn is not None else ""
        tail = f" notes: {notes}" if notes else ""
        tail += f" ({why})" if why else ""
        self._line("%s %s %d %.2fs%s", request.method, route, answer.status, took, tail)


async def _kept_as_it_flows(flow: Flow, given: KeptBody) -> AsyncIterator[bytes]:
    async for data in flow:
        given.add(data)
        yield data


async def _read_body(request: Request, most: int) -> bytes | None:
    """Return the body of a request; None if it is too long. As much again is read and forgotten."""
    pieces: list[bytes] = []
    size = 0
    async for data in request.stream():
        size += len(data)
        if size <= most:
            pieces.append(data)
        elif size > 2 * most:
            break
    return b"".join(pieces) if size <= most else None
