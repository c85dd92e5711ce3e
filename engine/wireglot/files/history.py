"""Histories: the messages that a line of a file says instead of all that stands before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..interpreter import conversation, speaking
from ..interpreter.jobs import ReadJob, WriteJob
from ..interpreter.views import recalled
from ..language.documents import Summary
from ..trail import value_at
from . import ids, tree
from .file import File, between

INSTEAD = "instead"  # what a message remembers that stands in such a line


def last(path: tuple[str, ...], lines: list[Any]) -> int | None:
    """Return which line says the messages last, if one does."""
    found = (n for n in range(len(lines) - 1, -1, -1) if value_at(lines[n], path).__class__ is list)
    return next(found, None) if path else None


def summed(said: Summary, messages: list[Any]) -> list[int]:
    """Return which messages a model sees: the last summary, what it keeps, and what came since.

    The one that asked for it stands before it. Without such a summary it is all of them.
    """
    names = [value_at(message, said.id) for message in messages]
    for last in range(len(messages) - 1, -1, -1):
        of = value_at(messages[last], said.of)
        whole = value_at(messages[last], said.said) and value_at(messages[last], said.whole)
        if not whole or of is None or of not in names[:last]:
            continue
        first = asked = names.index(of)
        for message in (messages[asked], messages[last]):
            for place in ids.reached(message, said.keeps, said.keeps, ()):
                name = place.owner.get(place.key)
                first = names.index(name) if name is not None and name in names[:asked] else first
        return [*range(asked, last + 1), *range(first, asked), *range(last + 1, len(messages))]
    return [*range(len(messages))]


def left(file: File, order: list[int], key: str, messages: list[Any]) -> list[Any]:
    """Return the messages in an `order`; what it leaves out is kept as what is no message is."""
    file.kept = {n: ((key, n), messages[n]) for n in {*range(len(messages))} - {*order}}
    file.numbers, file.places, file.late = order, [(key, n) for n in order], tree.late(order)
    return [messages[n] for n in order]


def read(reader: ReadJob, path: tuple[str, ...], lines: list[Any], ir: dict[str, Any]) -> None:
    """Put the messages that a line says before those that came since."""
    file, bare = reader.file, reader.dialect.bare
    assert bare is not None
    here, inner = (file.instead, *path), reader.of(bare)
    said = value_at(lines[file.instead], path)
    inner.file = within = File(bare)
    within.places = [(*here, i) for i in range(len(said))]
    within.numbers = [len(lines) + i for i in range(len(said))]
    messages = conversation.read_messages(inner, said, here)
    for message in messages:
        inner.remember(message, "", INSTEAD, True)
    ir["messages"] = [*messages, *ir.get("messages", ())]
    file.kept.update(within.kept)
    place, line = file.kept[file.instead]
    file.kept[file.instead] = (place, _with(line, path, []))


def parted(writer: WriteJob, ir: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the messages that stand within a line, and a session of the others."""
    messages = ir.get("messages", ())
    inside = [INSTEAD in recalled(writer, message) for message in messages]
    n = len(inside) - inside[::-1].index(True) if True in inside else 0
    return messages[:n], writer.trail.changed(ir, messages=messages[n:])


def write(
    writer: WriteJob,
    path: tuple[str, ...],
    place: Sequence[int],
    messages: list[Any],
    asides: dict[int, Any],
) -> list[tuple[Any, bool]]:
    """Return the lines up to the one that says the messages, with these in it.

    `place` is its number, and the first of the numbers of what stands in it. What was kept of these
    lines, and between the messages, is taken out of `asides`.
    """
    bare, (at, first) = writer.dialect.bare, place
    assert bare is not None
    odd = {n: asides.pop(n) for n in [*asides] if n >= first}
    wires = speaking.write_messages(writer.of(bare), messages, whole=False)
    said = [line for line, _ in between(writer, wires, odd, set())]
    before = {n: asides.pop(n) for n in [*asides] if n <= at}
    before[at] = _with(before.get(at), path, said)
    return between(writer, [], before, set())


def _with(line: Any, path: tuple[str, ...], said: list[Any]) -> Any:
    """Return a line that says a list at a path."""
    key, *rest = path
    held = line.get(key) if isinstance(line, dict) else None
    return {**(line or {}), key: _with(held, tuple(rest), said) if rest else said}
