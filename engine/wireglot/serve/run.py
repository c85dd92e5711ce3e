"""What `wireglot run` does: an agent before a server, which ends with it."""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..language.findings import hint
from ..rulesets import RuleSet
from . import agents, command
from .relay import Relay

FORWARDED = (signal.SIGTERM, signal.SIGHUP)  # signals that the agent gets from us alone


def main(arguments: argparse.Namespace, rules: Callable[[], RuleSet]) -> int:
    """Run an agent to its end, and return its status. Raises RuleError, UsageError."""
    name, known = arguments.starts, agents.packaged()
    if name not in known:
        raise UsageError(f"`{name}` is no agent; {hint(name, known)}")
    program, agent = shutil.which(name), known[name]
    if program is None:
        raise UsageError(f"`{name}` is not installed: `{agent.install}`")
    relay = command.relay_of(arguments, rules, command.states_of(arguments.state))
    key, model = secrets.token_urlsafe(24), next(iter(relay.models()), None)
    if model is None and agents.MODEL in str(agent):
        raise UsageError(f"`{name}` wants the name of a model: `--model` says it")
    if arguments.log is not None:
        command.log_to(_file(arguments.log))
    with (
        command.serving(relay, key, folder=arguments.record, tells=arguments.otel) as url,
        tempfile.TemporaryDirectory() as folder,
    ):
        held = {agents.URL: url, agents.KEY: key, agents.MODEL: str(model)}
        ready = agent.ready(held, Path(folder))
        words = [program, *ready.arguments, *arguments.passed]
        return run_program(words, environment(ready.env, relay))


def environment(more: Mapping[str, str | None], relay: Relay) -> dict[str, str]:
    """Return the environment of an agent, without the keys of providers."""
    keys = {one.key for row in relay.rows for one in row.upstreams}
    known = {name: text for name, text in os.environ.items() if text.strip() not in keys}
    here = ",".join(filter(None, (known.get("NO_PROXY"), command.HOST)))
    return {
        name: text
        for name, text in {**known, "NO_PROXY": here, "no_proxy": here, **more}.items()
        if text is not None
    }


def run_program(words: list[str], env: Mapping[str, str]) -> int:
    """Run a program in our place at the terminal, and return its status as a shell tells it."""
    with _signals_left_to() as begun, subprocess.Popen(words, env=dict(env)) as process:
        begun(process)
        status = process.wait()
    return status if status >= 0 else 128 - status


@contextmanager
def _signals_left_to() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Leave signals to a program: the terminal sends it one of its own where a user ends it.

    That holds before the program is there, for it may be asked to end as soon as it is; what is
    yielded takes it, and hands on what came before.
    """
    there: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def leave(number: int, frame: Any) -> None:
        if number in FORWARDED:
            early.append(number)
        for process in there:
            while early:
                process.send_signal(early.pop(0))

    def begun(process: subprocess.Popen[bytes]) -> None:
        there.append(process)
        leave(0, None)

    before = {number: signal.signal(number, leave) for number in (signal.SIGINT, *FORWARDED)}
    try:
        yield begun
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _file(name: str) -> logging.Handler:
    try:
        return logging.FileHandler(name, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"`{name}` cannot be written: {error.strerror}") from None
