"""`wireglot sessions` and `wireglot move`: what agents keep on this machine, and moving it."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator

from ..errors import UsageError
from ..moving import listing, places
from ..moving import move as moving
from ..notes import Note
from . import given, terminal
from .terminal import OK

LOUD = ("warning", "error")


def sessions(arguments: argparse.Namespace) -> int:
    all_sessions = listing.sessions(given.rules(arguments), os.environ)
    if arguments.json:
        rows = [{**session._asdict(), "path": str(session.path)} for session in all_sessions]
        for row in rows:
            del row["read"]
        _print(json.dumps(rows, indent=2, ensure_ascii=False))
        return OK
    for session in all_sessions:
        head = f"{session.date[:16]:16}  {session.agent:11}  {session.id}"
        _print(f"{head}  {session.cwd}")
        _print(f"    {session.wrong or f'{session.turns} turns: {session.words}'}")
    if not all_sessions:
        _print("No agent keeps a session here.")
    return OK


def move(arguments: argparse.Namespace) -> int:
    rules, env, session = given.rules(arguments), os.environ, arguments.session
    owner = places.agent(arguments.source) if arguments.source is not None else None
    source = listing.find_session(rules, session, env, owner)
    planned = moving.plan(rules, source, arguments.target, env, arguments.cwd, arguments.id)
    _print(f"{source.agent} to {arguments.target}: {source.path}")
    for line in (*summary(planned.notes), *(f"note: {warning}" for warning in planned.warnings)):
        _print(line)
    folder = f"cd {shlex.quote(planned.cwd)} && "
    register_command = f"{folder}{shlex.join(planned.register)}"
    if arguments.dry_run:
        _print(f"would write {planned.path}")
        if planned.register:
            _print(f"would run: {register_command}")
    else:
        written = moving.write(planned)
        _print(f"wrote {planned.path}")
        if planned.register:
            _print(f"runs: {register_command}")
            try:
                moving.register(planned, env)
            except UsageError:
                for path in moving.undo(written):
                    _print(f"removed again: {path}" if not path.exists() else f"as before: {path}")
                raise
    _print(f"resume: {folder}{shlex.join(planned.command)}")
    return OK


def summary(notes: Iterable[Note]) -> Iterator[str]:
    """Yield the losses and changes by cause; notes that weigh nothing are only counted."""
    loud = [note for note in notes if note.severity in LOUD and note.effect != "kept"]
    counts = Counter((note.effect, note.code, note.message) for note in loud)
    for (effect, code, message), count in sorted(counts.items(), key=lambda item: item[0]):
        yield f"{effect}: {message} ({code}{f', {count} times' if count > 1 else ''})"
    quiet = sum(1 for note in notes if note.severity not in LOUD)
    yield f"and {quiet} notes of what says nothing to a model" if quiet else "nothing else"


def _print(text: str) -> None:
    terminal.write_text(text + "\n")
