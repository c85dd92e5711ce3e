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
    """Translate bytes as they come, flushed at once. Raises ConversionError for no event."""
    source, file = arguments.source, arguments.file
    asked = (source, arguments.target, arguments.model, given.options(arguments), policy)
    translator = rules.translator(*asked).as_bytes()
    has_content = False
    with terminal.open_output(arguments.output) as out:
        for data in _stream_bytes(file, rules[source].model.stream):
            terminal.write_all(out, translator.feed(data))
            has_content = has_content or bool(data.strip(BLANK))
        terminal.write_all(out, translator.finish())
    _require_events(has_content, translator.count, file, source)
    return translator.notes


def collect(arguments: argparse.Namespace) -> int:
    rules = given.rules(arguments)
    stream = rules[arguments.dialect].model.streamed
    data, notes = b"".join(_stream_bytes(arguments.file, stream)), list[Note]()
    frames = framing.read(data, stream)
    body = rules.collect(frames, arguments.dialect, notes)
    _require_events(bool(data.strip(BLANK)), len(frames), arguments.file, arguments.dialect)
    terminal.write_bytes(terminal.dump(body, arguments.indent), arguments.output)
    terminal.print_notes(notes, arguments.notes)
    return OK


def frames(arguments: argparse.Namespace) -> int:
    rules, body = given.rules(arguments), terminal.read_json(arguments.file)
    stream = rules[arguments.dialect].model.streamed
    notes: list[Note] = []
    with terminal.open_output(arguments.output) as out:
        for frame in rules.frames(body, arguments.dialect, notes):
            terminal.write_all(out, framing.written([frame], stream))
    terminal.print_notes(notes, arguments.notes)
    return OK


def _require_events(has_content: bool, count: int, file: str, dialect: str) -> None:
    """Raise ConversionError where a stream has content, and no event: `count` is 0."""
    if has_content and not count:
        name = terminal.display_name(file)
        raise ConversionError(f"`{name}` holds no event of a stream of {dialect}")


def _stream_bytes(file: str, stream: Stream | None) -> Iterator[bytes]:
    """Yield the bytes of a stream as they come; a JSON array is a stream of its elements.

    Raises Stop for what is neither, before anything is written.
    """
    chunks, head = terminal.read_chunks(file), b""
    for data in chunks:
        head += data
        if head.strip():
            break
    if stream is None or head.lstrip(BLANK)[:1] != b"[":
        yield head
        yield from chunks
        return
    whole = terminal.parse_json(b"".join((head, *chunks)), terminal.display_name(file))
    yield framing.written(whole, stream)
