"""Moving: a session of one agent, written where another one looks for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..conversion import reading, writing
from ..dialects import DialectRules
from ..errors import UsageError
from ..interpreter import pairing
from ..interpreter.jobs import START
from ..notes import Note
from ..results import all_notes
from ..room import with_room
from ..rulesets import RuleSet
from . import listing
from .places import Agent, agent

EXISTS = "{} is there already; --id gives the session another name"
CLOSED = "No result: the session moved to another agent before this call was answered."
RECENT = 10  # seconds in which a session that changed may be in use
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Move(NamedTuple):
    """What moving a session would do.

    Attributes:
        source: The session.
        path: The file to write.
        text: What it will say.
        beside: Further files with their text, as one that says whose the folder is.
        existing: Where the agent has a session of this name already.
        notes: What became of all that could not go as it was.
        warnings: What the user should know before.
        register: The command with which the agent takes the file in; empty where it looks itself.
        command: The command that takes the session up.
        cwd: The folder that the session is about, in which both run.
    """

    source: listing.Session
    path: Path
    text: str
    beside: list[tuple[Path, str]]
    existing: Path | None
    notes: tuple[Note, ...]
    warnings: list[str]
    register: list[str]
    command: list[str]
    cwd: str


class Written(NamedTuple):
    """A file that was written, and its text before, None where there was none."""

    path: Path
    text: str
    before: str | None = None


def plan(
    rules: RuleSet,
    source: listing.Session,
    target: str,
    env: Mapping[str, str],
    cwd: str | None = None,
    name: str | None = None,
) -> Move:
    """Convert a session for another agent; nothing is written.

    Args:
        rules: The rules to convert with.
        source: The session.
        target: The name of the agent that it goes to.
        env: Where the agents look for their folders.
        cwd: The folder that it shall be about (default: that of the session).
        name: What it shall be called (default: as it is called, if the target takes that).

    Raises:
        UsageError: No such agent, or it has no place for a session of this folder.
        ConversionError: The file is no session.
    """
    home, other = agent(source.agent), agent(target)
    same = other.dialect == home.dialect
    # A session that was listed is read for other dialects already.
    read = (None if same else source.read) or listing.read(rules, home, source.path, not same)
    folder = os.path.abspath(cwd) if cwd else str(read.ir.get("cwd") or "")
    if not folder:
        raise UsageError("the session does not say which folder it is about; say it (--cwd)")
    if "\0" in folder:
        raise UsageError(f"no folder is called {folder!r}; --cwd names another one")
    if name is not None and not _UUID.fullmatch(name):
        raise UsageError(f"`{name}` is no UUID in small letters, as each agent takes it (--id)")
    name = name or source.id
    if not _UUID.fullmatch(name):
        name = str(uuid.uuid5(uuid.NAMESPACE_URL, name))
    messages, unanswered = close_calls(read.ir["messages"])
    ir = {**read.ir, "id": name, "cwd": folder, "messages": messages}
    if other.owner is not None:
        del ir["cwd"]  # a file beside says it
    start = listing.start_of(ir) or START
    dialect = rules[other.dialect]
    body, notes = _write_body(dialect, ir, read, same)
    root = other.root(env)
    below, owner = other.owned(root, folder)
    path = root / other.file_of(below, name, start)
    existing = path if os.path.exists(path) else _existing(rules, other, root, below, name)
    beside = [] if owner is None else [(owner, folder)]
    beside += [] if other.naming is None else [other.naming.with_row(root, name)]
    return Move(
        source, path, dialect.text(body), beside, existing, notes,
        list(_warnings(source, other, folder, existing, unanswered)),
        other.command(other.register, folder, name, path),
        other.command(other.resume, folder, name, path), folder,
    )  # fmt: skip


def _existing(rules: RuleSet, other: Agent, root: Path, folder: str, name: str) -> Path | None:
    """Return where an agent has a session of an id, in a file or a database; None for nowhere."""
    for file in other.named(root, folder, name):
        if name in file.name or listing.session_of(rules, other, file).id == name:
            return file
    return next((place for place in other.kept(root) if place.name.endswith(name)), None)


@with_room
def _write_body(
    dialect: DialectRules, ir: dict[str, Any], read: reading.Read, same: bool
) -> tuple[Any, tuple[Note, ...]]:
    """Return the body and the notes of `ir`, a session `read` and changed; `same`: at home."""
    read.trail.copy(read.ir, ir)
    body, writer, _ = writing.write(dialect, read._replace(ir=ir, survey=None), "session", same, {})
    return body, tuple(all_notes(read.notes, writer.notes, body, same))


def close_calls(messages: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """Answer each call that has no result with an error, behind its turn; also count these."""
    answered = {id(call) for call in pairing.by_id(messages).values()}
    out: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    unanswered = 0
    for message in messages:
        done = message["role"] != "tool" and out and out[-1]["role"] in ("assistant", "tool")
        if waiting and done and not (message["role"] == out[-1]["role"] == "assistant"):
            out.append({"role": "tool", "parts": waiting})
            waiting = []
        out.append(message)
        for part in message["parts"]:
            if part["type"] == "tool_call" and id(part) not in answered:
                key = {"tool_call_id": part["id"], "name": part["name"]}
                waiting.append({"type": "tool_result", **key, "kind": "error", "value": CLOSED})
                unanswered += 1
    if waiting:
        out.append({"role": "tool", "parts": waiting})
    return out, unanswered


def _warnings(
    source: listing.Session, other: Agent, cwd: str, existing: Path | None, unanswered: int
) -> Iterator[str]:
    """Yield what the user should know before the move."""
    file = source.path if source.path.exists() else source.path.parent  # of a database
    log = file.with_name(f"{file.name}-wal")  # where SQLite has what was written last
    age = time.time() - max(one.stat().st_mtime for one in (file, log) if one.exists())
    if age < RECENT:
        yield f"the session changed {max(0, round(age))} seconds ago; it may be in use still"
    if not os.path.isdir(cwd):
        yield f"the folder {cwd} is not there; --cwd names another one"
    if shutil.which(other.resume[0]) is None:
        yield f"`{other.resume[0]}` is not installed: {other.install}"
    if existing is not None:
        yield EXISTS.format(existing)
    if unanswered:
        many = f"{unanswered} calls have" if unanswered > 1 else "a call has"
        yield f"{many} no result; an error stands there that says so"


def write(move: Move) -> list[Written]:
    """Write a session, and what goes beside it.

    Raises UsageError where a session of its name is there, or a file cannot be written: what was
    written before it is taken back, for no agent finds half a session.
    """
    if move.existing is not None:
        raise UsageError(EXISTS.format(move.existing))
    done: list[Written] = []
    try:
        _write_private(move.path, move.text, "x")
        done.append(Written(move.path, move.text))
        for path, text in move.beside:
            before = path.read_text("utf-8") if path.exists() else None
            _replace(path, text)
            done.append(Written(path, text, before))
    except (UsageError, OSError, ValueError) as error:
        undo(done)
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"`{path}` cannot be written: {error}") from None
    return done


def undo(done: list[Written]) -> list[Path]:
    """Take back what was written, but what another has changed since; return these files."""
    mine = [one for one in done if one.path.is_file() and one.path.read_text("utf-8") == one.text]
    for path, _, before in mine:
        if before is None:
            path.unlink()
        else:
            _replace(path, before)
    return [one.path for one in mine]


def _replace(path: Path, text: str) -> None:
    """Write a file that others read at any time: it is never there in part."""
    new = path.with_name(f"{path.name}.new")
    try:
        _write_private(new, text, "w")
        os.replace(new, path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _write_private(path: Path, text: str, mode: str) -> None:
    """Write a file for its owner alone. Raises UsageError; of a new one (`x`) nothing stays."""
    begun = False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, mode, encoding="utf-8", opener=_private) as file:
            begun = mode == "x"  # what is there now is nobody else's
            file.write(text)
    except (OSError, ValueError) as error:
        if begun:
            path.unlink(missing_ok=True)
        if isinstance(error, FileExistsError) and path.is_file():
            raise UsageError(EXISTS.format(path)) from None
        raise UsageError(f"`{path}` cannot be written: {error}") from None


def register(move: Move, env: Mapping[str, str]) -> None:
    """Let the agent take in what was written. Raises UsageError where it does not."""
    try:
        done = subprocess.run(
            move.register, cwd=move.cwd, env=dict(env), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise UsageError(f"`{move.register[0]}` does not run in {move.cwd}: {error}") from None
    if done.returncode:
        reason = (done.stderr or done.stdout).strip()
        raise UsageError(f"`{move.register[0]}` does not take {move.path} in: {reason}")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
