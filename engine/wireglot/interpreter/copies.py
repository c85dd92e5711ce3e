"""Copies that are written instead of messages and parts: what was handed in never changes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .jobs import Message, Part, WriteJob


def parts_of(messages: Iterable[Message], kind: str | None = None) -> list[Part]:
    """Return the parts that messages have, or those of a kind."""
    parts = (part for message in messages for part in message.get("parts", ()))
    return [part for part in parts if kind is None or part.get("type") == kind]


def with_parts(writer: WriteJob, message: Message, parts: list[Any]) -> Message:
    """Return a message with other parts, from the same place; itself where they are its own."""
    if is_unchanged(parts, message.get("parts", ())):
        return message
    return writer.trail.changed(message, parts=parts)


def leave_out(
    writer: WriteJob, messages: list[Message], gone: list[Part], reason: str, step: str
) -> list[Message]:
    """Return messages without some of their parts, told by identity; each is noted, by its type."""
    for part in gone:
        writer.note_lost("no-place", part, reason.format(part["type"]), writer.rule(step))
    return replace_parts(writer, messages, {id(part): None for part in gone})


def replace_parts(
    writer: WriteJob, messages: list[Message], fresh: Mapping[int, Part | None]
) -> list[Message]:
    """Return the messages with other parts, or none, in place of some, told by identity."""
    if not fresh:
        return messages
    for part in parts_of(messages):
        if (new := fresh.get(id(part))) is not None:
            replace_part(writer, part, new)
    out = []
    for message in messages:
        parts = [fresh.get(id(part), part) for part in message.get("parts", ())]
        out.append(with_parts(writer, message, [part for part in parts if part is not None]))
    return out


def with_replaced(writer: WriteJob, owner: Part, fresh: Mapping[int, Part], **said: Any) -> Part:
    """Return an answer with other parts in place of some, and with what it says itself."""
    parts = [fresh.get(id(part), part) for part in owner["parts"]]
    return replace_part(writer, owner, {**owner, "parts": parts, **said})


def is_unchanged(new: Sequence[Any], old: Sequence[Any]) -> bool:
    """Tell whether a list holds what another one holds, and no copies of that."""
    return len(new) == len(old) and all(map(operator.is_, new, old))


def replace_part(writer: WriteJob, part: Part, fresh: Part) -> Part:
    """Let a part be written instead of another, from the same place; return it."""
    writer.trail.copy(part, fresh)
    writer.replaced[id(part)] = (part, fresh)
    if id(part) in writer.made:
        writer.made.add(id(fresh))
    return fresh


def without_field(writer: WriteJob, part: Part, field: str) -> Part:
    """Return a part without a field, which is written instead."""
    return replace_part(writer, part, {key: value for key, value in part.items() if key != field})
