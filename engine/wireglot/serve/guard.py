"""The guard: who may ask a server, and how much at once."""

from __future__ import annotations

import base64
import contextlib
import hmac
import ipaddress
from collections.abc import Iterator, Mapping

from . import wires
from .relay import MASK

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")  # names of this machine in an address
Headers = Mapping[str, str]


def is_loopback(host: str) -> bool:
    """Tell whether an address is one of this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """Knows the key that clients must have, if there is one, and which pages may ask."""

    def __init__(self, host: str, key: str | None) -> None:
        self._key = key
        self._hosts = {*LOOPBACK, f"[{host}]" if ":" in host else host}

    def masked(self, text: str) -> str:
        """Return a text without the key of clients."""
        return text.replace(self._key, MASK) if self._key else text

    def page_refused(self, headers: Headers, query: Headers, port: int, client: str) -> bool:
        """Tell whether the page of the server is not for whoever asks.

        It is for this machine, under a name of this machine: a page from elsewhere may have a name
        that leads here. A browser says a key as a password.
        """
        here = {f"{host}{end}" for host in self._hosts for end in ("", f":{port}")}
        if not is_loopback(client) or headers.get("host", "") not in here:
            return True
        kind, _, said = headers.get("authorization", "").partition(" ")
        if kind.lower() == "basic":
            with contextlib.suppress(ValueError):
                _, _, key = base64.b64decode(said).decode().partition(":")
                headers = {**headers, "authorization": f"Bearer {key}"}
        return self.refused(headers, query, port) is not None

    def refused(self, headers: Headers, query: Headers, port: int) -> tuple[int, str] | None:
        """Return the status and the reason where a request is not let in."""
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}:{port}" for host in self._hosts}:
            return 403, "a page of another origin may not ask this server"
        if self._key is None:
            return None
        # All are compared: how long it takes says nothing.
        known = self._key.encode()
        same = [hmac.compare_digest(one.encode(), known) for one in self._keys(headers, query)]
        return None if any(same) else (401, "the key of this server is missing, or another one")

    def _keys(self, headers: Headers, query: Headers) -> Iterator[str]:
        """Yield what a client may mean as its key."""
        known = wires.packaged()
        for name, form in known.key_headers.items():
            before, _, after = form.partition(wires.KEY)
            said = headers.get(name, "")
            if said[: len(before)].lower() == before.lower() and said.endswith(after):
                yield said[len(before) : len(said) - len(after)]
        for name in known.key_query:
            if name in query:
                yield query[name]
