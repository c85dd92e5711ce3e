"""`wireglot serve`, run in a thread for the length of a block."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import wireglot
from wireglot.serve import command, setting
from wireglot.serve.app import App
from wireglot.serve.guard import Guard
from wireglot.serve.setting import Setting


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


@contextmanager
def served(
    to: str,
    model: str | None = None,
    url: str | None = None,
    key: str | None = None,
    *,
    states: wireglot.States | None = None,
    client_key: str | None = None,
    most: int = 32_000_000,
) -> Iterator[Served]:
    """Run a server before a provider until the end of the block."""
    lines: list[str] = []
    log = logging.Logger("served")
    log.addHandler(_Lines(lines))
    given = Setting(wireglot.packaged(), to, model, url, key, states)
    guard = Guard(given.relay.wires, "127.0.0.1", client_key)
    app = App(given, guard, setting.library("httpx"), most, log)
    opened = command.bound("127.0.0.1", 0)
    server = command.server(app)
    thread = threading.Thread(
        target=asyncio.run, args=(command.running(server, app, opened),), daemon=True
    )
    thread.start()  # what comes before it runs waits in the socket
    try:
        yield Served(command.address(opened), lines)
    finally:
        server.should_exit = True
        thread.join()
