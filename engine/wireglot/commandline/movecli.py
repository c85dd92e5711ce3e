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
    found = listing.sessions(given.rules(arguments), os.environ)
    if arguments.json:
        said = [{**one._asdict(), "path": str(one.path)} for one in found]
        for row in said:
            del row["read"]
        _print(json.dumps(said, indent=2, ensure_ascii=False))
        return OK
    for one in found:
        head = f"{one.date[:16]:16}  {one.agent:11}  {one.id}"
        _print(f"{head}  {one.cwd}\n    {one.wrong or f'{one.turns} turns: {one.words}'}")
    if not found:
        _print("No agent keeps a session here.")
    return OK


def move(arguments: argparse.Namespace) -> int:
    rules, env, name = given.rules(arguments), os.environ, arguments.session
    whose = places.agent(arguments.source) if arguments.source is not None else None
    source = listing.found(rules, name, env, whose)
    ready = moving.plan(rules, source, arguments.target, env, arguments.cwd, arguments.id)
    _print(f"{source.agent} to {arguments.target}: {source.path}")
    for line in (*summary(ready.notes), *(f"note: {one}" for one in ready.said)):
        _print(line)
    folder = f"cd {shlex.quote(ready.cwd)} && "
    taken = f"{folder}{shlex.join(ready.register)}"
    if arguments.dry_run:
        _print(f"would write {ready.path}")
        if ready.register:
            _print(f"would run: {taken}")
    else:
        wrote = moving.write(ready)
        _print(f"wrote {ready.path}")
        if ready.register:
            _print(f"runs: {taken}")
            try:
                moving.register(ready, env)
            except UsageError:
                for path in moving.undo(wrote):
                    _print(f"removed again: {path}" if not path.exists() else f"as before: {path}")
                raise
    _print(f"resume: {folder}{shlex.join(ready.command)}")
    return OK


def summary(notes: Iterable[Note]) -> Iterator[str]:
    """Yield what is lost or changed, by causes; what weighs nothing is counted."""
    loud = [note for note in notes if note.severity in LOUD and note.effect != "kept"]
    counts = Counter((note.effect, note.code, note.message) for note in loud)
    for (effect, code, message), count in sorted(counts.items(), key=lambda item: item[0]):
        yield f"{effect}: {message} ({code}{f', {count} times' if count > 1 else ''})"
    quiet = sum(1 for note in notes if note.severity not in LOUD)
    yield f"and {quiet} notes of what says nothing to a model" if quiet else "nothing else"


def _print(text: str) -> None:
    terminal.say(text + "\n")
