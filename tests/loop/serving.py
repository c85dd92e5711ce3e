"""`wireglot serve`, run in a thread for the length of a block."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple
from unittest import mock

from uvicorn import server

import wireglot
from wireglot.serve import command, relay
from wireglot.serve.relay import LIMITS, Limits, Relay


class _Sooner:
    """What `uvicorn` knows as asyncio: it looks ten times as often whether it is to end."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    @staticmethod
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds / 10)


class Served(NamedTuple):
    """A server that runs: its address, and the lines of its log."""

    url: str
    log: list[str]


class _Lines(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def served(
    to: str,
    model: str | None = None,
    url: str | None = None,
    key: str | None = None,
    *,
    states: wireglot.States | None = None,
    client_key: str | None = None,
    limits: Limits = LIMITS,
    folder: str | None = None,
    tells: bool = False,
) -> AbstractContextManager[Served]:
    """Run a server before a provider until the end of the block."""
    given = relay.single(wireglot.packaged(), to, model, url, key, states, limits)
    return running(given, client_key, folder, tells)


@contextmanager
def running(
    given: Relay, client_key: str | None = None, folder: str | None = None, tells: bool = False
) -> Iterator[Served]:
    """Run a server of a relay until the end of the block."""
    lines: list[str] = []
    log = logging.Logger("served")
    log.addHandler(_Lines(lines))
    sooner = mock.patch.object(server, "asyncio", _Sooner())
    with sooner, command.serving(given, client_key, log, folder, tells) as url:
        yield Served(url, lines)
