"""Clients of HTTP for the official SDKs, which talk to another provider than they think.

    SDK(http_client=wireglot.httpx.client(to=DIALECT, model=MODEL, key=KEY))

No server is asked for; what the SDK sends is converted on its way. `pip install 'wireglot[serve]'`.
"""

from __future__ import annotations

from typing import Any

from .loading.start import packaged
from .loop.states import States
from .rulesets import RuleSet
from .serve import relay, transport

__all__ = ["async_client", "client"]


def client(
    to: str,
    model: str | None = None,
    url: str | None = None,
    key: str | None = None,
    *,
    state: bool = True,
    rules: RuleSet | None = None,
    library: str | None = None,
    **settings: Any,
) -> Any:
    """Return a client for an SDK, before the provider whose dialect is `to`.

    Args:
        to: The provider's dialect; `demo` is a script that needs no network.
        model: The model to ask for; without it the one that the SDK is given.
        url: Where the provider is, without the path of its API; most are known.
        key: The provider's key. The one that the SDK is given goes nowhere.
        state: Whether what an SDK cannot send back is remembered.
        rules: Rules of your own, as `wireglot.load_rules` gives them.
        library: `httpx` or `httpx2`, which the client is of; without it httpx2 where it is
            installed, for present SDKs want that.
        **settings: What the library's `Client` takes besides.

    Raises:
        UsageError: The dialect does not exist, or nobody knows where it is.
    """
    module = transport.library(library)
    given = relay.single(rules or packaged(), to, model, url, key, States() if state else None)
    return module.Client(transport=transport.Transport(given, module, blocks=True), **settings)


def async_client(
    to: str,
    model: str | None = None,
    url: str | None = None,
    key: str | None = None,
    *,
    state: bool = True,
    rules: RuleSet | None = None,
    library: str | None = None,
    **settings: Any,
) -> Any:
    """Return a client for an asynchronous SDK; all else is that of `client`."""
    module = transport.library(library)
    given = relay.single(rules or packaged(), to, model, url, key, States() if state else None)
    made = transport.Transport(given, module, blocks=False)
    return module.AsyncClient(transport=made, **settings)
