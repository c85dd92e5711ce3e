"""Setting up: a relay before one provider, the keys it is given, and its library of HTTP."""

from __future__ import annotations

import contextlib
import importlib
import os
from typing import Any

from ..errors import UsageError
from ..loop.states import States
from ..rulesets import RuleSet
from .relay import LIMITS, Limits, Relay, Row, upstream

Library = Any  # the module httpx or httpx2, which have the same names


def library(name: str | None = None) -> Library:
    """Return the module httpx or httpx2; without a name the newer one that is installed.

    Raises UsageError where it is not.
    """
    for one in (name,) if name is not None else ("httpx2", "httpx"):
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(one)
    told = f"{name or 'httpx'} is not installed"
    raise UsageError(f"{told}: `pip install 'wireglot[serve]'` has httpx")


def key_of(variable: str, word: str) -> str:
    """Return the key that an environment variable holds.

    Raises UsageError, which does not say the name: who takes it for the key's place writes the key.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"the environment variable that `{word}` names holds no key")
    return key


def single(
    rules: RuleSet, to: str, model: str | None, url: str | None, key: str | None,
    states: States | None, limits: Limits = LIMITS,
) -> Relay:  # fmt: skip
    """Return what stands before one provider, for all models. Raises UsageError."""
    row = Row("*", (upstream(rules, to, model, url, key),))
    return Relay(rules, (row,), states, limits=limits)
