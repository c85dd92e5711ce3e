"""What `wireglot run` does: an agent before a server, which ends with it.

How each agent is started stands in a file beside the rules.
"""

from __future__ import annotations

import argparse
import functools
import json
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
from typing import Any, NamedTuple

from ..errors import UsageError
from ..language.findings import hint
from ..loading.rulesources import beside
from ..rulesets import RuleSet
from . import command, wires
from .relay import Relay

# What stands for something in the file.
URL, KEY, MODEL, FOLDER = "$url", wires.KEY, wires.MODEL, "$folder"
FORWARDED = (signal.SIGTERM, signal.SIGHUP)  # signals that the agent gets from us alone


class Agent(NamedTuple):
    """How an agent is started.

    Attributes:
        install: How it is installed.
        env: What its environment has besides; None: what it must not have.
        arguments: Those before the user's own.
        files: What stands in a folder of its own, as text, or as JSON.
    """

    install: str
    env: dict[str, str | None]
    arguments: list[str]
    files: dict[str, Any]

    def ready(self, held: Mapping[str, str], folder: Path) -> Agent:
        """Return the agent with what is held in its place, and write its files into a folder."""
        env, arguments, files = wires.filled(list(self[1:]), {**held, FOLDER: str(folder)})
        for name, what in files.items():
            text = what if isinstance(what, str) else json.dumps(what)
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        return Agent(self.install, env, arguments, files)


@functools.cache
def packaged() -> dict[str, Agent]:
    """Return the agents of the packaged file, which is taken for checked."""
    return agents_of(beside("serve/agents.yaml"))


def agents_of(said: Any) -> dict[str, Agent]:
    """Return what a file says whose form is right."""
    usual: dict[str, Any] = {"env": {}, "arguments": [], "files": {}}
    return {name: Agent(**{**usual, **one}) for name, one in said["programs"].items()}


def main(arguments: argparse.Namespace, rules: Callable[[], RuleSet]) -> int:
    """Run an agent to its end, and return its status. Raises RuleError, UsageError."""
    name, known = arguments.starts, packaged()
    if name not in known:
        raise UsageError(f"`{name}` is no agent; {hint(name, known)}")
    program, agent = shutil.which(name), known[name]
    if program is None:
        raise UsageError(f"`{name}` is not installed: `{agent.install}`")
    relay = command.relay_of(arguments, rules, command.states_of(arguments.state))
    key, model = secrets.token_urlsafe(24), next(iter(relay.models()), None)
    if model is None and MODEL in str(agent):
        raise UsageError(f"`{name}` wants the name of a model: `--model` says it")
    if arguments.log is not None:
        command.log_to(_file(arguments.log))
    with (
        command.serving(relay, key, folder=arguments.record, tells=arguments.otel) as url,
        tempfile.TemporaryDirectory() as folder,
    ):
        held = {URL: url, KEY: key, MODEL: str(model)}
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
