"""Places: where agents keep their sessions, and under what names, of a file beside the rules."""

from __future__ import annotations

import contextlib
import functools
import glob
import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ..batch.lines import unzstd
from ..errors import UsageError
from ..loading.rulesources import beside
from ..serve.wires import filled

FILE = "sessions/agents.yaml"
SHORT_ID = 8  # characters of an id that stand in the name of each file


class Database(NamedTuple):
    """The SQLite databases of an agent: a pattern of files, queries for session names and texts."""

    file: str
    names: str
    session: str

    def ask(self, file: Path, query: str, *parameters: str) -> list[str]:
        """Return the texts of the first column; a blob is one packed by zstd. Raises UsageError."""
        import sqlite3  # most agents keep files

        try:
            with contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as base:
                values = [row[0] for row in base.execute(query, parameters)]
        except sqlite3.Error as error:
            raise UsageError(f"`{file}` cannot be read: {error}") from None
        return [unzstd(one).decode() if isinstance(one, bytes) else str(one) for one in values]


class Index(NamedTuple):
    """The JSON file in which an agent looks for its sessions, and what one adds to it."""

    file: str
    row: dict[str, Any]

    def with_row(self, root: Path, name: str) -> tuple[Path, str]:
        """Return the file, and its text with the row of a session. Raises UsageError."""
        path = root / self.file
        row = filled(self.row, {"$id": name, "$now": int(time.time() * 1000)})
        try:
            index = json.loads(path.read_text("utf-8")) if path.exists() else {}
            if index.keys() & row.keys():
                raise UsageError(f"`{path}` names a session {name}; --id gives it another name")
            return path, json.dumps(index | row, indent=2)
        except (OSError, ValueError, AttributeError) as error:
            raise UsageError(f"`{path}` is no index of sessions: {error}") from None


class Agent(NamedTuple):
    """An agent and its sessions.

    Attributes:
        name: What it is called here.
        dialect: The dialect of its files.
        install: How it is installed.
        home: Its folders, of which the first counts whose variable is set.
        files: Patterns of its files.
        name_of: The name of a file; empty where none is written.
        folder: Patterns of what a folder of the user is called there, and what stands for them.
        longest: The longest name of such a folder.
        owner: The file in such a folder that says whose it is.
        local: Whether times of names are local ones.
        resume: The command that takes a session up.
        register: The command with which the agent itself takes in a file that was written.
        database: Where it keeps sessions, if not in files alone.
        naming: The index that must name a file that is written.
    """

    name: str
    dialect: str
    install: str
    home: list[str]
    files: Sequence[str] = ()
    name_of: str = ""
    folder: Sequence[Sequence[str]] = ()
    longest: int | None = None
    owner: str | None = None
    local: bool = False
    resume: Sequence[str] = ()
    register: Sequence[str] = ()
    database: Database | None = None
    naming: Index | None = None

    def root(self, env: Mapping[str, str]) -> Path:
        """Return the folder of the agent, as its environment variables say, else below HOME."""
        for home in self.home:
            head, _, rest = home.partition("/")
            if not head.startswith("$"):
                return Path(env.get("HOME") or Path.home(), *home.split("/")[1:]).absolute()
            if env.get(head[1:]):
                return Path(env[head[1:]], rest).absolute()
        raise AssertionError("the last home names no variable")

    def folder_of(self, cwd: str) -> str:
        """Return what a folder of the user is called there. Raises UsageError."""
        # Patterns of JavaScript see two halves of what UTF-16 writes as a surrogate pair.
        name = re.sub("[\U00010000-\U0010ffff]", "\ufffd\ufffd", cwd)
        for pattern, by in self.folder:
            name = re.sub(pattern, by, name)
        name = name.lower() if self.owner is not None else name
        if self.longest is not None and len(name) > self.longest:
            raise UsageError(f"the path of the folder is too long for {self.name}: {cwd}")
        return name or "project"

    def owned(self, root: Path, cwd: str) -> tuple[str, Path | None]:
        """Return the name of a user's folder, and the file to write that says whose it is."""
        name = self.folder_of(cwd)
        if self.owner is None:
            return name, None
        above = root / self.name_of.partition("/$folder")[0]
        for file in sorted(above.glob(f"*/{self.owner}")):
            if owner_folder(file) == cwd:
                return file.parent.name, None
        new, number = name, 0
        while os.path.exists(above / new):  # False, too, of what is too long for a name
            number += 1
            new = f"{name}-{number}"
        return new, above / new / self.owner

    def file_of(self, folder: str, name: str, start: str) -> str:
        """Return the name of a file, below the folder of the agent. Raises UsageError."""
        try:
            moment = datetime.fromisoformat(start).astimezone(None if self.local else UTC)
        except (ValueError, OverflowError):
            raise UsageError(f"the session began at `{start}`, which is no time") from None
        return str(filled(moment.strftime(self.name_of), _name_parts(folder, name)))

    def named(self, root: Path, folder: str, name: str) -> Iterator[Path]:
        """Yield the files that have the name of a session, whenever it began."""
        held = {key: glob.escape(text) for key, text in _name_parts(folder, name).items()}
        pattern = filled(re.sub("%.", "*", self.name_of), held)
        yield from (root / file for file in sorted(glob.glob(pattern, root_dir=root)))

    def kept(self, root: Path) -> Iterator[Path]:
        """Yield the sessions in databases: each stands as if its database were a folder.

        A database that cannot be asked stands for itself: the others are there all the same.
        """
        if (base := self.database) is not None:
            for file in sorted(root.glob(base.file)):
                try:
                    yield from [file / name for name in base.ask(file, base.names)]
                except UsageError:
                    yield file

    def command(self, words: Sequence[str], cwd: str, name: str, file: Path) -> list[str]:
        """Fill in the words of `resume` or `register` for a session."""
        made: list[str] = filled(list(words), {"$id": name, "$file": str(file), "$cwd": cwd})
        return made


def owner_folder(owner: Path) -> str | None:
    """Return the folder that an owner's file names; None where it cannot be read."""
    try:
        return owner.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _name_parts(folder: str, name: str) -> dict[str, str]:
    """Return what the placeholders in the name of a file stand for."""
    return {"$folder": folder, "$id": name, "$short": name[:SHORT_ID]}


@functools.cache
def packaged() -> dict[str, Agent]:
    """Return the agents of the packaged file by their names; the form of the file is trusted."""
    agents = {}
    for name, words in beside(FILE)["agents"].items():
        fields = {word: value for word, value in words.items() if word in Agent._fields[1:]}
        fields |= {"name_of": words.get("name", "")}
        fields |= {"database": Database(**words["database"])} if "database" in words else {}
        fields |= {"naming": Index(**words["index"])} if "index" in words else {}
        agents[name] = Agent(name, local=words.get("clock") == "machine", **fields)
    return agents


def agent(name: str) -> Agent:
    """Return an agent by its name. Raises UsageError."""
    known = packaged()
    if name not in known:
        raise UsageError(f"no agent is called `{name}`; there are: {', '.join(known)}")
    return known[name]
