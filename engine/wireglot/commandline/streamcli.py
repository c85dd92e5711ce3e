"""The commands of streams: `convert --unit stream`, `collect` and `frames`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ..errors import ConversionError
from ..language.events import Stream
from ..notes import Note
from ..policy import Policy
from ..rulesets import RuleSet
from ..streaming import framing
from . import given, terminal
from .terminal import OK

BLANK = b"\xef\xbb\xbf \t\r\n"  # a byte order mark, and what may stand before JSON


def convert(rules: RuleSet, policy: Policy, arguments: argparse.Namespace) -> tuple[Note, ...]:
    """Translate the bytes of a stream as they come; what is written is flushed at once."""
    source, file = arguments.source, arguments.file
    ends = (source, arguments.target, arguments.model)
    made = rules.translator(*ends, given.options(arguments), policy).as_bytes()
    some = False
    with terminal.opened(arguments.output) as out:
        for data in _bytes(file, rules[source].model.stream):
            terminal.put(out, made.feed(data))
            some = some or bool(data.strip(BLANK))
        terminal.put(out, made.finish())
    _held(some, made.count, file, source)
    return made.notes


def collect(arguments: argparse.Namespace) -> int:
    rules = given.rules(arguments)
    stream = rules[arguments.dialect].model.streamed
    data, notes = b"".join(_bytes(arguments.file, stream)), list[Note]()
    frames = framing.read(data, stream)
    body = rules.collect(frames, arguments.dialect, notes)
    _held(bool(data.strip(BLANK)), len(frames), arguments.file, arguments.dialect)
    terminal.write(terminal.dump(body, arguments.indent), arguments.output)
    terminal.print_notes(notes, arguments.notes)
    return OK


def frames(arguments: argparse.Namespace) -> int:
    rules, body = given.rules(arguments), terminal.body(arguments.file)
    stream = rules[arguments.dialect].model.streamed
    notes: list[Note] = []
    with terminal.opened(arguments.output) as out:
        for frame in rules.frames(body, arguments.dialect, notes):
            terminal.put(out, framing.written([frame], stream))
    terminal.print_notes(notes, arguments.notes)
    return OK


def _held(some: bool, count: int, file: str, dialect: str) -> None:
    """Raise ConversionError where something was read, and no event stood in it."""
    if some and not count:
        raise ConversionError(f"`{terminal.named(file)}` holds no event of a stream of {dialect}")


def _bytes(file: str, stream: Stream | None) -> Iterator[bytes]:
    """Yield the bytes of a stream as they come; a JSON array is a stream of its elements.

    Raises Stop for what is neither, before anything is written.
    """
    chunks, begun = terminal.chunks(file), b""
    for data in chunks:
        begun += data
        if begun.strip():
            break
    if stream is None or begun.lstrip(BLANK)[:1] != b"[":
        yield begun
        yield from chunks
        return
    whole = terminal.parsed(b"".join((begun, *chunks)), terminal.named(file))
    yield framing.written(whole, stream)
