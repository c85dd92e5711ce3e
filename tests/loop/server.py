"""A loopback server: a client's SDK before it, an exchange in it, a strict provider behind it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple, TypeVar

import wireglot

from .. import mocks
from . import scripts

Json = Any
Served = TypeVar("Served", "Talk", "Script")
Http = TypeVar("Http", bound=ThreadingHTTPServer)


class Streamed(NamedTuple):
    """An answer that comes piece by piece, as the streams of a dialect do."""

    dialect: str
    data: Iterator[bytes]

    @property
    def type(self) -> str:
        """The type of the content, as the API says it."""
        return "application/x-ndjson" if self.dialect == "ollama" else "text/event-stream"


class Extra(NamedTuple):
    """An answer with headers of its own; bytes go as they are."""

    body: Json
    headers: dict[str, str]


class Script:
    """A strict provider that plays its turns; one that is not `aware` forgets what it answered."""

    def __init__(self, dialect: str, aware: bool = True) -> None:
        self.dialect, self.aware = dialect, aware
        self.model = scripts.MODELS.get(dialect, "m")
        self.mock = mocks.Provider(dialect, self.model)
        self.failure: tuple[int, Json] | None = None  # what it answers instead
        self.paths: list[str] = []
        self.bodies: list[Json] = []  # requests as they came

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        """Answer a request with a refusal, or with the next turn."""
        self.paths.append(path)
        self.bodies.append(body)
        if self.failure is not None:
            return self.failure
        if self.aware:
            refused = self.mock.refusals(body)
        else:  # the client has no room for signatures
            told = mocks.refusals(self.dialect, body, self.model)
            refused = [one for one in told if one.rule != "signature"]
        if refused:
            return 400, self.mock.error(refused[0])
        turns = self.turns(body)
        return 200, self.mock.answers(turns[min(len(self.mock.sent), len(turns) - 1)])

    def turns(self, body: Json) -> list[Json]:
        """Return all answers, for the tools of a request."""
        return scripts.turns(self.dialect, scripts.tool(self.dialect, body))


class Talk:
    """A conversation of a client with a provider; `stateful` keeps what an exchange leaves.

    Then each request and each response is converted by an exchange of its own, as in another
    process. Else an exchange serves one request and its response, and is forgotten.
    """

    def __init__(self, client: str, script: Script, stateful: bool) -> None:
        self.client, self.script = client, script
        self.state: Json = {} if stateful else None
        self.paths: list[str] = []
        self.asked: list[Json] = []  # bodies as the client sent them
        self.answers: list[Json] = []  # bodies as the client got them
        self.notes: list[wireglot.Note] = []

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        """Answer a request of the client with a status and a body."""
        self.paths.append(path)
        self.asked.append(body)
        x = self._exchange()
        out = x.request(body)
        path = out.envelope.path if out.envelope is not None else ""
        status, answer = self.script.post(path, out.body)
        x = self._again(x)
        back = x.response(answer) if status == 200 else x.error(answer, status)
        self._again(x)
        self.notes += [*out.notes, *back.notes]
        self.answers.append(back.body)
        return status, back.body

    def _exchange(self) -> wireglot.Exchange:
        return wireglot.exchange(
            self.client, self.script.dialect, self.script.model, state=self.state
        )

    def _again(self, x: wireglot.Exchange) -> wireglot.Exchange:
        if self.state is None:
            return x
        self.state = json.loads(json.dumps(x.state))
        return self._exchange()


class Server(ThreadingHTTPServer):
    """Serves one talk after another, on a free port of this machine."""

    daemon_threads = True
    talk: Talk | Script

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.errors: list[str] = []  # what failed behind a connection
        self.headers: list[dict[str, str]] = []  # of each request, in small letters

    def serves(self, talk: Served) -> Served:
        """Begin another talk: requests are its requests from now on."""
        self.talk = talk
        return talk

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep what failed; a client may hang up."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError):
            self.errors.append(f"{type(error).__name__}: {error}")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open
    wbufsize = -1  # an answer leaves in one piece, or its body waits until its head is confirmed

    def do_POST(self) -> None:
        assert isinstance(self.server, Server)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.headers.append({name.lower(): text for name, text in self.headers.items()})
        try:
            status, answer = self.server.talk.post(self.path, body)
        except Exception as error:  # shown by the SDK, where a closed connection says nothing
            status, answer = 500, {"error": {"message": f"{type(error).__name__}: {error}"}}
        if isinstance(answer, Streamed):
            self._streams(answer)
            return
        answer, more = answer if isinstance(answer, Extra) else (answer, {})
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, text in more.items():
            self.send_header(name, text)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _streams(self, answer: Streamed) -> None:
        self.send_response(200)
        self.send_header("Content-Type", answer.type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for data in answer.data:
            if data:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
                self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def running() -> AbstractContextManager[Server]:
    """Run a server of talks until the end of the block."""
    return serving(Server())


@contextmanager
def serving(made: Http) -> Iterator[Http]:
    """Run any server until the end of the block."""
    with made as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
