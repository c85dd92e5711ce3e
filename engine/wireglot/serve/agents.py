"""Agents: how each is started before a server, read from a file beside the rules."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..loading.rulesources import beside
from . import wires

FILE = "serve/agents.yaml"
# What stands for something in the file.
URL, KEY, MODEL, FOLDER = "$url", wires.KEY, wires.MODEL, "$folder"


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
    return agents_of(beside(FILE))


def agents_of(said: Any) -> dict[str, Agent]:
    """Return what a file says whose form is right."""
    usual: dict[str, Any] = {"env": {}, "arguments": [], "files": {}}
    return {name: Agent(**{**usual, **one}) for name, one in said["programs"].items()}
