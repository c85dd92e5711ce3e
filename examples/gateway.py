"""A gateway: programs written for one provider talk to another, streamed or not.

    python examples/gateway.py anthropic claude-opus-4-8 https://api.anthropic.com "x-api-key: $KEY"

The path of a request says whose SDK asks. A program says no more than
`OpenAI(base_url="http://127.0.0.1:8080/v1")`, an agent `ANTHROPIC_BASE_URL=http://127.0.0.1:8080`;
docs/agents.md has the settings of others.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from socketserver import ThreadingMixIn
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from wsgiref.simple_server import WSGIServer, make_server

import wireglot

CLIENTS = {
    r"/chat/completions$": "openai-chat",
    r"/responses$": "openai-responses",
    r"/messages$": "anthropic",
    r"/messages/count_tokens$": "anthropic",
    r"/models/(?P<model>[^/]+):(generateContent|streamGenerateContent|countTokens)$": "gemini",
    r"/api/chat$": "ollama",
}
COUNTED = {"anthropic": "input_tokens", "gemini": "totalTokens"}
TO_HOME = ("anthropic-beta",)  # headers of a client for a provider of its own dialect
BACK = ("retry-after", "retry-after-ms", "x-should-retry")  # of a provider for any client
TYPES = {"ollama": "application/x-ndjson"}  # of a stream, where it is not Server-Sent Events
SECONDS = 600  # without a word of the provider
BROKEN = (OSError, HTTPException)
Headers = dict[str, str]
Answer = tuple[int, Headers, Iterable[bytes]]


@dataclass
class Gateway:
    """An application for any WSGI server; `headers` are those with the key of the provider."""

    provider: str
    model: str
    url: str
    headers: Headers
    notes: list[wireglot.Note] = field(default_factory=list)  # what was lost, as it comes
    # What no client keeps is found again by the ids that return, and by what was said.
    states: wireglot.States = field(default_factory=wireglot.States)

    def __call__(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        client = next((name for form, name in CLIENTS.items() if re.search(form, path)), None)
        if client is None:
            status, headers, data = whole(404, {"error": {"message": f"nothing is at {path}"}})
        else:
            text = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            asked = {key[5:].replace("_", "-").lower(): environ[key]
                     for key in environ if key.startswith("HTTP_")}  # fmt: skip
            status, headers, data = self.answer(client, path, asked, text)
        start(f"{status} ", list(headers.items()))
        return data

    def answer(self, client: str, path: str, headers: Headers, text: bytes) -> Answer:
        """Take a request to the provider, and its answer back."""
        if "ount" in path.rpartition("/")[2] and client in COUNTED:
            return whole(200, {COUNTED[client]: len(text) // 4})  # an estimate: others do not count
        x = wireglot.exchange(client, self.provider, self.model, state=self.states)
        try:
            body = json.loads(text)
            streams = "streamGenerateContent" in path if client == "gemini" else None
            out = x.request(body, stream=streams)
        except (ValueError, wireglot.ConversionError) as error:
            return failed(client, 400, error)
        self.tell(out.notes)
        home = {key: headers[key] for key in TO_HOME if key in headers and client == self.provider}
        if client == "ollama":
            streams = body.get("stream", True)
        try:
            got = self.asked(out.body, out.envelope, home)
            if got.status == 200 and (body.get("stream") if streams is None else streams):
                kind = TYPES.get(client, "text/event-stream")
                return 200, {"Content-Type": kind}, self.streamed(x, got)
            with got:
                given = json.load(got)
            back = x.response(given) if got.status == 200 else x.error(given, got.status)
        except (*BROKEN, ValueError, wireglot.ConversionError) as error:
            return failed(client, 502, error)
        self.tell(back.notes)
        kept = {key: got.headers[key] for key in BACK if key in got.headers}
        return whole(got.status, back.body, kept)

    def asked(self, body: Any, envelope: Any, headers: Headers) -> HTTPResponse:
        """Send a converted request; return what comes back, be it an error."""
        said = {"Content-Type": "application/json", **envelope.headers, **headers, **self.headers}
        sent = Request(self.url + envelope.path, json.dumps(body).encode(), said)
        try:
            return urlopen(sent, timeout=SECONDS)  # type: ignore[no-any-return]
        except HTTPError as got:
            return got  # type: ignore[return-value]  # which is read as an answer is

    def streamed(self, x: wireglot.Exchange, got: HTTPResponse) -> Iterator[bytes]:
        """Yield each frame for the client as soon as the provider's came."""
        translator = x.translator()
        through = translator.as_bytes()
        with got:
            try:
                while data := got.read1(65536):
                    yield through.feed(data)
            except BROKEN as error:
                print(f"the stream broke off: {error}", file=sys.stderr)
        yield through.finish()
        self.tell(translator.notes)

    def tell(self, notes: Iterable[wireglot.Note]) -> None:
        self.notes += [note for note in notes if note.effect == "lost"]


def whole(status: int, body: Any, headers: Headers | None = None) -> Answer:
    """Return an answer that comes at once."""
    return (
        status,
        {"Content-Type": "application/json", **(headers or {})},
        [json.dumps(body).encode()],
    )


def failed(client: str, status: int, why: object) -> Answer:
    """Return an error of the gateway's own, as the client's SDK reads it."""
    error = {"kind": "invalid_request" if status == 400 else "server", "message": str(why)}
    return whole(status, wireglot.packaged()[client].write(error, unit="error").body)


class Server(ThreadingMixIn, WSGIServer):
    """Answers several requests at once: agents ask beside themselves."""

    daemon_threads = True


if __name__ == "__main__":
    provider, model, url, header = sys.argv[1:]
    gateway = Gateway(provider, model, url, dict([header.split(": ", 1)]))
    make_server("127.0.0.1", 8080, gateway, Server).serve_forever()
