"""Setting up: a relay and its client of HTTP, before providers or before the demo."""

from __future__ import annotations

import contextlib
import importlib
import os
from typing import NamedTuple

from ..errors import UsageError
from ..loop.states import States
from ..rulesets import RuleSet
from . import relay, wires
from .demo import URL, Demo
from .relay import Limits, Relay, Row, Upstream
from .sending import Library

DEMO = "demo"  # the provider that is none
LIMITS = Limits()


def library(name: str | None = None) -> Library:
    """Return the module httpx or httpx2; without a name the newer one that is installed.

    Raises UsageError where it is not.
    """
    for one in (name,) if name is not None else ("httpx2", "httpx"):
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(one)
    told = f"{name or 'httpx'} is not installed"
    raise UsageError(f"{told}: `pip install 'wireglot[serve]'` has httpx")


class Setting(NamedTuple):
    """A relay, and the limits of its clients of HTTP."""

    relay: Relay
    limits: Limits = LIMITS

    def demo(self) -> Demo:
        """Return what plays the demo."""
        return Demo(self.relay.rules, *self.relay.wires.demo)


def key_of(variable: str, word: str) -> str:
    """Return the key that an environment variable holds.

    Raises UsageError, which does not say the name: who takes it for the key's place writes the key.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"the environment variable that `{word}` names holds no key")
    return key


def upstream(
    rules: RuleSet, to: str, model: str | None, url: str | None, key: str | None
) -> Upstream:
    """Return the provider whose dialect is `to`, or the demo. Raises UsageError."""
    if to != DEMO or to in rules.dialects:
        return relay.upstream(rules, to, model, url, key)
    if url is not None or key is not None:
        raise UsageError("the demo has neither an address nor a key")
    dialect, played = wires.packaged().demo
    return Upstream(DEMO, dialect, model or played, URL, {}, None)


def single(
    rules: RuleSet, to: str, model: str | None, url: str | None, key: str | None,
    states: States | None, limits: Limits = LIMITS,
) -> Setting:  # fmt: skip
    """Return what stands before one provider, for all models. Raises UsageError."""
    row = Row("*", (upstream(rules, to, model, url, key),))
    return Setting(Relay(rules, (row,), states, wires.packaged()), limits)
