"""A relay: what stands between clients and providers, and how it refuses a request."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn
from urllib.parse import unquote

from .. import jsontext
from ..dialects import DialectRules
from ..errors import UsageError, WireglotError
from ..interpreter.unpictured import kind_of
from ..loaded import check_name
from ..loop.states import States
from ..patterns import fits
from ..policy import Policy
from ..rulesets import RuleSet
from . import wires
from .wires import Route

TYPE = "content-type"
JSON = "application/json"
STREAMS = {"sse": "text/event-stream", "lines": "application/x-ndjson"}  # by their framing
MASK = "***"
SECRET = 8  # characters of a key; what is shorter is none, but what a local server is given
MINIMAL = {"model": "m", "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]}
Headers = dict[str, str]
GLOB = frozenset("*?[")
ADDRESS = r"https?://[^\s?#@]+"  # of a provider; no key is in it
DEMO = "demo"  # the provider that is none
DEMO_URL = "http://demo.wireglot.invalid"  # which no network knows


class Limits(NamedTuple):
    """What is borne: bytes of a request, requests at once, and seconds of waiting.

    `arrival` is for a request to be whole, `connect` for a provider to be there, `silence` for a
    word of it.
    """

    body: int = 32_000_000
    requests: int = 1000
    arrival: float = 60.0
    connect: float = 15.0
    silence: float = 600.0


LIMITS = Limits()


class ClientRequest(NamedTuple):
    """A request of a client; names of headers are in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class ProviderRequest(NamedTuple):
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
    """Raised where a request goes no further; `reply` says so in the client's words.

    `upstream` is the provider that was to take it, where it came so far.
    """

    def __init__(self, reply: Reply, why: str) -> None:
        super().__init__(why)
        self.reply = reply
        self.upstream: Upstream | None = None


class Upstream(NamedTuple):
    """A provider, as it is asked.

    Attributes:
        name: What it is called in what is said of it.
        dialect: Its dialect.
        model: The model that is asked for; None: the one that the client names.
        url: Its address, without the path.
        headers: Those that each request has, with the key in them.
        key: The key, which nothing says that goes elsewhere.
    """

    name: str
    dialect: str
    model: str | None
    url: str
    headers: Headers
    key: str | None


class ModelRoute(NamedTuple):
    """The upstreams for the models of a glob, in the order in which they are asked."""

    models: str
    upstreams: tuple[Upstream, ...]


@dataclass(frozen=True)
class Relay:
    """Stands before providers, for all clients.

    Attributes:
        rules: The rules of all dialects.
        rows: Which providers are for which models; the first row that fits.
        states: What is remembered of conversations; None: nothing.
        options: As of an exchange.
        policy: The same.
        limits: What is borne of clients and of providers.
    """

    rules: RuleSet
    rows: tuple[ModelRoute, ...]
    states: States | None
    options: Mapping[str, Any] | None = None
    policy: Policy | None = None
    limits: Limits = LIMITS

    def upstreams(self, model: str | None) -> tuple[Upstream, ...]:
        """Return the providers for a model, in the order in which they are asked, or none."""
        fit = (row.upstreams for row in self.rows if fits(model or "", row.models))
        return next(fit, ())

    def models(self) -> list[str]:
        """Return the models that may be asked for and are named."""
        found: dict[str, None] = {}
        for models, upstreams in self.rows:
            name = models if GLOB.isdisjoint(models) else upstreams[0].model
            if name and fits(name, models):
                found[name] = None
        return list(found)

    def route_of(self, method: str, path: str) -> tuple[Route, str | None]:
        """Return the route of a path, and the model that it names. Raises Refused."""
        routes = wires.packaged().routes
        for route in routes:
            found = route.match(path)
            if found is not None:
                if route.method != method:
                    why = f"{route.path} takes {route.method}"
                    self.refuse(405, why, route.client, {"allow": route.method})
                named = found.groupdict().get("model")
                return route, unquote(named) if named is not None else None
        there = ", ".join(route.path for route in routes)
        self.refuse(404, f"nothing is at {shown(path)}; there are {there}", self.client(path))

    def client(self, path: str) -> str:
        """Return the dialect of who asks a path: that of the route which goes along furthest."""
        return max(wires.packaged().routes, key=lambda route: route.along(path)).client

    def refuse(
        self, status: int, why: str, client: str, headers: Headers | None = None
    ) -> NoReturn:
        """Raise Refused, in the words of a client's dialect."""
        raise Refused(whole_reply(status, self.error_body(client, status, why), headers), why)

    def error_body(self, dialect: str, status: int, why: str) -> Any:
        """Return an error as a dialect words it."""
        error = {"kind": kind_of(status), "message": self.masked(why), "http": status}
        return self.rules[dialect].write(error, unit="error").body

    def masked(self, text: str) -> str:
        """Return a text without the keys of providers."""
        for key in self._keys():
            text = text.replace(key, MASK)
        return text

    def masked_bytes(self, data: bytes) -> bytes:
        """Return bytes without the keys of providers."""
        for key in self._keys():
            data = data.replace(key.encode(), MASK.encode())
        return data

    def _keys(self) -> list[str]:
        keys = (one.key for row in self.rows for one in row.upstreams)
        return [key for key in keys if key is not None and len(key) >= SECRET]


def upstream(
    rules: RuleSet,
    to: str,
    model: str | None = None,
    url: str | None = None,
    key: str | None = None,
) -> Upstream:
    """Return the provider whose dialect is `to`, by that name, or the demo. Raises UsageError."""
    if to == DEMO and to not in rules.dialects:
        if url is not None or key is not None:
            raise UsageError("the demo has neither an address nor a key")
        dialect, played = wires.packaged().demo
        return Upstream(DEMO, dialect, model or played, DEMO_URL, {}, None)
    check_name(to, rules.dialects)
    provider = wires.packaged().provider(to)
    if provider.refused is not None:
        raise UsageError(f"{to} cannot be served: {provider.refused}")
    lacks = [word for word, there in (("an `envelope` with a `path`", _has_path(rules[to])),
                                      ("a `stream`", rules[to].model.stream is not None))
             if not there]  # fmt: skip
    if lacks:
        raise UsageError(f"{to} is no dialect of a provider: its rules lack {' and '.join(lacks)}")
    url = url or provider.url
    if url is None:
        raise UsageError(f"where {to} is, no file says; `url` (`--url`) says it")
    if not re.fullmatch(ADDRESS, url):
        raise UsageError(f"`{url}` is no address: it begins with http:// or https://")
    if key is not None and not re.fullmatch(r"[\x21-\x7e]+", key):
        raise UsageError("the key of the provider has signs that no header holds")
    places = provider.headers.items() if key is not None else ()
    headers = {name: text.replace(wires.KEY, str(key)) for name, text in places}
    return Upstream(to, to, model, url.rstrip("/"), headers, key)


def single(
    rules: RuleSet, to: str, model: str | None, url: str | None, key: str | None,
    states: States | None, limits: Limits = LIMITS,
) -> Relay:  # fmt: skip
    """Return what stands before one provider, for all models. Raises UsageError."""
    row = ModelRoute("*", (upstream(rules, to, model, url, key),))
    return Relay(rules, (row,), states, limits=limits)


def key_of(variable: str, word: str) -> str:
    """Return the key that an environment variable holds.

    Raises UsageError, which does not say the name: who takes it for the key's place writes the key.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"the environment variable that `{word}` names holds no key")
    return key


def _has_path(rules: DialectRules) -> bool:
    """Tell whether requests of a dialect go to a path."""
    with contextlib.suppress(WireglotError):
        envelope = rules.write(MINIMAL).envelope
        return envelope is not None and bool(envelope.path)
    return False


def whole_reply(status: int, body: Any, headers: Headers | None = None) -> Reply:
    """Return a whole answer."""
    return Reply(status, {TYPE: JSON, **(headers or {})}, jsontext.utf8(body))


def shown(text: str) -> str:
    """Return what a stranger sent as a message may show it."""
    return ascii(text[:100])
