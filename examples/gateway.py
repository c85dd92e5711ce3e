"""A gateway that keeps nothing: programs written for OpenAI's SDK talk to another provider.

    python examples/gateway.py anthropic claude-opus-4-5 https://api.anthropic.com "x-api-key: $KEY"

The program says `OpenAI(base_url="http://127.0.0.1:8080/v1", api_key="any")`, and no more.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from wsgiref.simple_server import make_server

import wireglot

CLIENT = "openai-chat"
Answer = tuple[int, Any]  # a status and a body


@dataclass(frozen=True)
class Gateway:
    """An application for any WSGI server; `headers` are those with the key of the provider."""

    provider: str
    model: str
    url: str
    headers: dict[str, str]

    def __call__(self, environ: dict[str, Any], start: Any) -> list[bytes]:
        body = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        status, answer = self.answer(body)
        start(f"{status} ", [("Content-Type", "application/json")])
        return [json.dumps(answer).encode()]

    def answer(self, body: Any) -> Answer:
        """Take a request to the provider, and its answer back."""
        # What the provider must see again rides in the answer: the exchange may be forgotten.
        x = wireglot.exchange(CLIENT, self.provider, self.model)
        try:
            out = x.request(body)
        except wireglot.ConversionError as error:
            return failed(400, error)
        if body.get("stream"):
            return failed(400, "this gateway does not stream")
        try:
            status, given = self.asked(out.body, out.envelope)
            back = x.response(given) if status == 200 else x.error(given, status)
        except (OSError, ValueError, wireglot.ConversionError) as error:
            return failed(502, error)
        for note in (*out.notes, *back.notes):
            if note.effect == "lost":
                print(note, file=sys.stderr)
        return status, back.body

    def asked(self, body: Any, envelope: Any) -> Answer:
        """Send a converted request; return what comes back, be it an error."""
        headers = {"Content-Type": "application/json", **envelope.headers, **self.headers}
        sent = Request(self.url + envelope.path, json.dumps(body).encode(), headers)
        try:
            with urlopen(sent) as got:
                return got.status, json.load(got)
        except HTTPError as got:
            return got.code, json.load(got)


def failed(status: int, why: object) -> Answer:
    """Return an error of the gateway's own, as the client's SDK reads it."""
    error = {"kind": "invalid_request" if status == 400 else "server", "message": str(why)}
    return status, wireglot.packaged()[CLIENT].write(error, unit="error").body


if __name__ == "__main__":
    provider, model, url, header = sys.argv[1:]
    gateway = Gateway(provider, model, url, dict([header.split(": ", 1)]))
    make_server("127.0.0.1", 8080, gateway).serve_forever()
