"""What the model goes on from: the text that it ends with, and the message that says so."""

from __future__ import annotations

from itertools import groupby

from ..language.model import Dialect, once
from .copies import parts_of, replace_part, with_parts
from .jobs import Message, WriteJob
from .views import blank

TRIMMED = ("trim-end", "")  # asked for where the model goes on from the text at the end


@once
def goes_on(dialect: Dialect) -> bool:
    """Tell whether a dialect can say that the model goes on from what it says at the end."""
    return "prefix" in dialect.fields_of(dialect.message_cases)


def read_end(dialect: Dialect, messages: list[Message]) -> None:
    """Say of the last message of a request what its place says, if the model goes on from it."""
    if dialect.conversation is None or TRIMMED not in dialect.talk.enforce or not messages:
        return
    last = messages[-1]
    if last.get("role") == "assistant" and not parts_of([last], "tool_call"):
        last["prefix"] = True


def write_end(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Say of the last message alone that the model goes on from it: by its place, where that can.

    What the place of another one said when it was read, no wire says: others stand behind it since.
    """
    by_place = TRIMMED in writer.dialect.talk.enforce
    said = writer.same and goes_on(writer.dialect)
    for n in [n for n, message in enumerate(messages) if message.get("prefix") is True]:
        message, is_last = messages[n], n == len(messages) - 1
        if by_place if is_last else not (said or writer.trail.find(message, "prefix")):
            writer.mark_derived(message, "prefix", writer.rule())
            messages = [*messages[:n], writer.trail.without(message, "prefix"), *messages[n + 1 :]]
    return messages


def trim_end(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Let the text with which the model ends the messages, and goes on from, end in no space."""
    last = messages[-1] if messages else {}
    parts = last.get("parts", [])
    n = len(parts) - 1
    while n > 0 and blank(writer, parts[n], "assistant"):
        n -= 1  # it is left out
    end = parts[n] if parts else {}
    # A refusal that no picture takes is written as text.
    texts = ("text",) if "refusal" in writer.dialect.part_kinds else ("text", "refusal")
    said = end.get("text")
    if last.get("role") != "assistant" or end.get("type") not in texts:
        return messages
    if not isinstance(said, str) or said.rstrip() in ("", said):
        return messages
    fresh = replace_part(writer, end, {**end, "text": said.rstrip()})
    reason = "the target takes no space at the end of what the model is to go on from"
    writer.note_part("reworded", "changed", end, reason, writer.rule("trim-end"), "text", fresh)
    return [*messages[:-1], with_parts(writer, last, [*parts[:n], fresh, *parts[n + 1 :]])]


def first_goes_on(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Let the first of neighbours that become one say whether the model goes on from the last."""
    out: list[Message] = []
    for role, found in groupby(messages, lambda message: message.get("role")):
        first, *others = found
        if role == "assistant" and others and any("prefix" in m for m in (first, others[-1])):
            last, fresh = others[-1], writer.trail.without(first, "prefix")
            others[-1] = writer.trail.without(last, "prefix")
            if "prefix" in first:
                reason = "the model says more behind this"
                writer.note_lost("no-place", first, reason, writer.rule(), "prefix")
            if "prefix" in last:
                fresh["prefix"] = last["prefix"]
                writer.trail.put(fresh, "prefix", writer.trail.find(last, "prefix"))
            first = fresh
        out += [first, *others]
    return out
