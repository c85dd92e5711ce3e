"""A loopback server: a client's SDK before it, an exchange in it, a strict provider behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import wireglot

from .. import mocks
from . import scripts

Json = Any


class Talk:
    """One conversation behind the server; `stateful` says that it keeps what an exchange leaves.

    Each request and each response is converted by an exchange of its own, as in another process;
    without a state one exchange serves a request and its response, and is forgotten.
    """

    def __init__(self, client: str, provider: str, stateful: bool, aware: bool = True) -> None:
        self.client, self.provider, self.aware = client, provider, aware
        self.state: Json = {} if stateful else None
        self.model = scripts.MODELS.get(provider, "m")
        self.mock = mocks.Provider(provider, self.model)
        self.failure: tuple[int, Json] | None = None  # what the provider answers instead
        self.paths: list[str] = []
        self.asked: list[Json] = []  # bodies as the client sent them
        self.bodies: list[Json] = []  # bodies as the provider got them
        self.answers: list[Json] = []  # bodies as the client got them
        self.notes: list[wireglot.Note] = []

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        """Answer a request of the client with a status and a body."""
        self.paths.append(path)
        self.asked.append(body)
        x = self._exchange()
        out = self._noted(x.request(body))
        self.bodies.append(out)
        status, answer = self._provider(out)
        if self.state is not None:
            self.state = json.loads(json.dumps(x.state))
            x = self._exchange()
        back = self._noted(x.response(answer) if status == 200 else x.error(answer, status))
        self.answers.append(back)
        if self.state is not None:
            self.state = json.loads(json.dumps(x.state))
        return status, back

    def _exchange(self) -> wireglot.Exchange:
        return wireglot.exchange(self.client, self.provider, self.model, state=self.state)

    def _noted(self, done: wireglot.Conversion) -> Json:
        self.notes += done.notes
        return done.body

    def _provider(self, body: Json) -> tuple[int, Json]:
        """Answer as the provider: a refusal, or the next turn of its script."""
        if self.failure is not None:
            return self.failure
        refused = self.mock.refusals(body) if self.aware else mocks.refusals(self.provider, body)
        if refused:
            return 400, self.mock.error(refused[0])
        turns = scripts.turns(self.provider, scripts.tool(self.provider, body))
        return 200, self.mock.answers(turns[min(len(self.mock.sent), len(turns) - 1)])


class Server(ThreadingHTTPServer):
    """Serves one talk after another, on a free port of this machine."""

    daemon_threads = True
    talk: Talk

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def serves(self, talk: Talk) -> Talk:
        """Begin another talk: requests are its requests from now on."""
        self.talk = talk
        return talk


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open
    wbufsize = -1  # an answer leaves in one piece, or its body waits until its head is confirmed

    def do_POST(self) -> None:
        assert isinstance(self.server, Server)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            status, answer = self.server.talk.post(self.path, body)
        except Exception as error:  # shown by the SDK, where a closed connection says nothing
            status, answer = 500, {"error": {"message": f"{type(error).__name__}: {error}"}}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def running() -> Iterator[Server]:
    """Run a server until the end of the block."""
    with Server() as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
