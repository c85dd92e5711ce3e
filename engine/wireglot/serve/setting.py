"""Setting up: a relay and its client of HTTP, before a provider or before the demo."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

from ..errors import UsageError
from ..loop.states import States
from ..rulesets import RuleSet
from . import sending, wires
from .demo import Demo
from .relay import Relay, relay
from .sending import Library

DEMO = "demo"  # the provider that is none


def library(name: str | None = None) -> Library:
    """Return the module httpx or httpx2; without a name the newer one that is installed.

    Raises UsageError where it is not.
    """
    for one in (name,) if name is not None else ("httpx2", "httpx"):
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(one)
    told = f"{name or 'httpx'} is not installed"
    raise UsageError(f"{told}: `pip install 'wireglot[serve]'` has httpx")


class Setting:
    """A relay before the provider `to`, and what its clients of HTTP are made of.

    Raises UsageError for what does not exist.
    """

    def __init__(
        self,
        rules: RuleSet,
        to: str,
        model: str | None = None,
        url: str | None = None,
        key: str | None = None,
        states: States | None = None,
    ) -> None:
        self._demo: Demo | None = None
        if to == DEMO and to not in rules.dialects:
            if url is not None or key is not None:
                raise UsageError("the demo has neither an address nor a key")
            to, played = wires.packaged().demo
            self._demo, model = Demo(rules, to, model or played), model or played
        self.relay: Relay = relay(rules, to, model, url, key, states)

    def client(self, library: Library) -> Any:
        """Return a client that asks the provider."""
        transport = self._demo.transport(library) if self._demo is not None else None
        return sending.client(library, transport)

    def async_client(self, library: Library) -> Any:
        """Return a client that asks the provider, where others run meanwhile."""
        transport = self._demo.async_transport(library) if self._demo is not None else None
        return sending.async_client(library, transport)
