"""Histories: the messages that a line of a file says instead of all that stands before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..interpreter import conversation, speaking
from ..interpreter.jobs import Message, ReadJob, WriteJob
from ..interpreter.views import recalled
from ..ir import put_at
from ..language.documents import Document, Summary, Undone
from ..patterns import fits
from ..trail import value_at
from . import ids, tree
from .file import File, between, told_of

Keys = tuple[str, ...]  # a path in a line
INSTEAD = "instead"  # what a message remembers that stands in such a line
SAYS = "says"  # and what one does that such a line is itself: it stands before the others


def seen_lines(
    document: Document, file: File, lines: list[Any], path: list[int]
) -> tuple[list[int], int | None]:
    """Return which lines of a path a model sees, and which of all says messages instead of others.

    That one is among them where it is a message itself.
    """
    keys = document.instead
    if document.undone is not None:
        path = lines_left(document.undone, file, lines, path)
    says = (n for n in reversed(path) if value_at(lines[n], keys).__class__ is list)
    here = next(says, None) if keys else None
    summed = tree.since_summary(document.tree, lines, path, file.like) if document.tree else path
    if here is None or (document.tree is not None and summed[0] > here):
        return summed, None
    itself = file.fits(lines[here])
    return [n for n in path if n > here or (itself and n == here)], here


def lines_left(said: Undone, file: File, lines: list[Any], path: list[int]) -> list[int]:
    """Return which lines of a path no later one takes back, or sums up."""
    left: list[int] = []
    for n in path:
        back: Any = value_at(lines[n], said.turns)
        if tree.says(said.says, lines[n]):
            left = [i for i in left if _begins(said, file, lines[i])]
        elif back.__class__ is int and back > 0:
            begins = [k for k, i in enumerate(left) if _begins(said, file, lines[i])]
            del left[begins[max(len(begins) - back, 0)] if begins else len(left) :]
        left.append(n)
    return left


def _begins(said: Undone, file: File, line: Any) -> bool:
    """Tell whether a turn of the user begins with a line: it is no text of the program."""
    texts = [str(one.owner.get(one.key)) for one in ids.places_at(line, said.of, said.of, ())]
    return file.role(line) == "user" and not any(fits(t, glob) for t in texts for glob in said.but)


def seen_messages(document: Document, file: File, whole: Any, messages: list[Any]) -> list[int]:
    """Return which messages of a file of JSON a model sees, in their order."""
    end, said = len(messages), (document.ids or {}).get("message")
    if document.undone is not None and document.undone.first and said is not None:
        names = [value_at(message, said.at) for message in messages]
        first = value_at(whole, document.undone.first)
        end = names.index(first) if first is not None and first in names else end
    order = since_summary(document.summary, messages[:end]) if document.summary else [*range(end)]
    return [n for n in order if not file.role(messages[n], file.none)]


def since_summary(said: Summary, messages: list[Any]) -> list[int]:
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
            for place in ids.places_at(message, said.keeps, said.keeps, ()):
                name = place.owner.get(place.key)
                first = names.index(name) if name is not None and name in names[:asked] else first
        return [*range(asked, last + 1), *range(first, asked), *range(last + 1, len(messages))]
    return [*range(len(messages))]


def messages_in(file: File, order: list[int], key: str, messages: list[Any]) -> list[Any]:
    """Return the messages in an `order`; what it leaves out is kept as what is no message is."""
    file.kept = {n: ((key, n), messages[n]) for n in {*range(len(messages))} - {*order}}
    file.numbers, file.places, file.late = order, [(key, n) for n in order], tree.early_lines(order)
    return [messages[n] for n in order]


def read_inside(reader: ReadJob, path: Keys, lines: list[Any], ir: dict[str, Any]) -> None:
    """Put the messages that a line holds at a path before those of the lines since, in the IR."""
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
    since = ir.get("messages", [])
    summary = [] if file.instead in file.kept else since[:1]
    for message in summary:
        reader.remember(message, "", SAYS, True)
    ir["messages"] = [*summary, *messages, *since[len(summary) :]]
    file.kept.update(within.kept)
    if not summary:
        place, line = file.kept[file.instead]
        file.kept[file.instead] = (place, _with_list(line, path, []))


def place_of(
    writer: WriteJob, memory: dict[str, Any], asides: dict[int, Any], ir: dict[str, Any]
) -> Sequence[int] | None:
    """Return the numbers of a line that says messages and of these; None where it is gone.

    What was kept between them is gone with it.
    """
    found: Sequence[int] | None = memory.get(INSTEAD)
    first: Message = next(iter(ir.get("messages", ())), {})
    if found is None or found[0] in asides or SAYS in recalled(writer, first):
        return found
    for number in [n for n in asides if n >= found[1]]:
        del asides[number]
    return None


def parted(writer: WriteJob, ir: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the messages that stand within a line, and a session of the others."""
    messages = ir.get("messages", ())
    first = 1 if messages and SAYS in recalled(writer, messages[0]) else 0
    inside = [INSTEAD in recalled(writer, message) for message in messages]
    n = len(inside) - inside[::-1].index(True) if True in inside else first
    rest = [*messages[:first], *messages[n:]]
    return messages[first:n], writer.trail.changed(ir, messages=rest)


def write_inside(
    writer: WriteJob, path: Keys, place: Sequence[int], messages: list[Any],
    asides: dict[int, Any], since: list[Any],
) -> list[tuple[Any, bool]]:  # fmt: skip
    """Return the lines up to the one that says the messages, with these in it.

    `place` is its number, and the first of the numbers of what stands in it. What was kept of these
    lines, and between the messages, is taken out of `asides`. Where it is a message itself, it is
    the first of those `since`, and all lines before it are of these.
    """
    bare, (at, first) = writer.dialect.bare, place
    assert bare is not None
    odd = {n: asides.pop(n) for n in [*asides] if n >= first}
    wires = speaking.write_messages(writer.of(bare), messages, whole=False)
    said = [line for line, _ in between(writer, wires, odd, set())]
    first_line = since[0] if since and SAYS in told_of(writer, since[0]) else None
    if first_line is not None:
        first_line.update(_with_list(first_line, path, said))
        return []
    before = {n: asides.pop(n) for n in [*asides] if n <= at}
    before[at] = _with_list(before.get(at), path, said)
    return between(writer, [], before, set())


def _with_list(line: Any, path: tuple[str, ...], said: list[Any]) -> Any:
    whole = {**(line or {})}
    put_at(whole, path, said)
    return whole
