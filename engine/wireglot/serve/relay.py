"""A relay: what stands between clients and one provider, and how it refuses a request."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn
from urllib.parse import unquote

from .. import jsontext
from ..dialects import DialectRules
from ..errors import UsageError, WireglotError
from ..loaded import check_name
from ..loop.exchanges import kind_of
from ..loop.states import States
from ..rulesets import RuleSet
from . import wires
from .wires import Route, Wires

TYPE = "content-type"
JSON = "application/json"
STREAMS = {"sse": "text/event-stream", "lines": "application/x-ndjson"}  # by their framing
MASK = "***"
SECRET = 8  # characters of a key; what is shorter is none, but what a local server is given
ANY = {"model": "m", "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]}
Headers = dict[str, str]


class Asked(NamedTuple):
    """A request of a client; names of headers are in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Sent(NamedTuple):
    """A request for the provider."""

    method: str
    url: str
    headers: Headers
    body: bytes


class Reply(NamedTuple):
    """An answer for the client that is whole."""

    status: int
    headers: Headers
    body: bytes


class Refused(Exception):
    """Raised where a request goes no further; `reply` says so in the client's words."""

    def __init__(self, reply: Reply, why: str) -> None:
        super().__init__(why)
        self.reply = reply


@dataclass(frozen=True)
class Relay:
    """Stands before one provider, for all clients.

    Attributes:
        rules: The rules of all dialects.
        provider: The provider's dialect.
        model: The model that is asked for; None: the one that the client names.
        url: The address of the provider, without the path.
        key: The key of the provider; it stands in the headers, and in nothing that is said.
        states: What is remembered of conversations; None: nothing.
        wires: What is known of paths and headers.
    """

    rules: RuleSet
    provider: str
    model: str | None
    url: str
    key: str | None
    states: States | None
    wires: Wires

    def routed(self, method: str, path: str) -> tuple[Route, str | None]:
        """Return the route of a path, and the model that it names. Raises Refused."""
        for route in self.wires.routes:
            found = route.match(path)
            if found is not None:
                if route.method != method:
                    why = f"{route.path} takes {route.method}"
                    self.refuse(405, why, route.client, {"allow": route.method})
                named = found.groupdict().get("model")
                return route, unquote(named) if named is not None else None
        there = ", ".join(route.path for route in self.wires.routes)
        self.refuse(404, f"nothing is at {short(path)}; there are {there}")

    def refuse(
        self, status: int, why: str, client: str | None = None, headers: Headers | None = None
    ) -> NoReturn:
        """Raise Refused, in the words of a client's dialect."""
        client = client or self.wires.unknown
        raise Refused(whole(status, self.failed(client, status, why), headers), why)

    def failed(self, dialect: str, status: int, why: str) -> Any:
        """Return an error as a dialect words it."""
        error = {"kind": kind_of(status), "message": self.masked(why), "http": status}
        return self.rules[dialect].write(error, unit="error").body

    def masked(self, text: str) -> str:
        """Return a text without the key of the provider."""
        secret = self.key is not None and len(self.key) >= SECRET
        return text.replace(str(self.key), MASK) if secret else text


def relay(
    rules: RuleSet,
    to: str,
    model: str | None = None,
    url: str | None = None,
    key: str | None = None,
    states: States | None = None,
    known: Wires | None = None,
) -> Relay:
    """Make a relay before the provider whose dialect is `to`. Raises UsageError."""
    known = known or wires.packaged()
    check_name(to, rules.dialects)
    provider = known.provider(to)
    if provider.refused is not None:
        raise UsageError(f"{to} cannot be served: {provider.refused}")
    if rules[to].model.stream is None or not _asks(rules[to]):
        raise UsageError(f"{to} is no dialect of a provider: it asks no path, or has no streams")
    url = url or provider.url
    if url is None:
        raise UsageError(f"where {to} is, no file says; `url` (`--url`) says it")
    if not re.fullmatch(r"https?://[^\s?#]+", url):
        raise UsageError(f"`{url}` is no address: it begins with http:// or https://")
    if key is not None and not re.fullmatch(r"[\x21-\x7e]+", key):
        raise UsageError("the key of the provider has signs that no header holds")
    return Relay(rules, to, model, url.rstrip("/"), key, states, known)


def _asks(rules: DialectRules) -> bool:
    """Tell whether requests of a dialect go to a path."""
    with contextlib.suppress(WireglotError):
        envelope = rules.write(ANY).envelope
        return envelope is not None and bool(envelope.path)
    return False


def written(body: Any) -> bytes:
    """Return JSON as bytes; half of a surrogate pair is escaped."""
    return jsontext.stringify(body).encode()


def whole(status: int, body: Any, headers: Headers | None = None) -> Reply:
    """Return a whole answer."""
    return Reply(status, {TYPE: JSON, **(headers or {})}, written(body))


def short(text: str) -> str:
    """Return what a stranger sent as a message may show it."""
    return ascii(text[:100])
