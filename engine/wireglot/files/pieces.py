"""Pieces: what a model said at once, joined or cut into as many messages as a dialect has of it."""

from __future__ import annotations

from typing import Any

from ..interpreter import turns
from ..interpreter.copies import with_parts, without_field
from ..interpreter.jobs import WriteJob
from ..interpreter.marks import has_place
from ..interpreter.placing import PLACED
from ..interpreter.views import read_by
from ..notes import LEFT_OUT


def join_said_at_once(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Join what a model said at once and its home keeps in several messages: their ids are one."""
    talk, messages = writer.dialect.conversation, ir.get("messages")
    if talk is None or writer.same or not isinstance(messages, list):
        return ir
    if "assistant" in talk.alone():
        return ir  # what was said at once is several messages here, too
    source: Any = writer.trail.source
    known = (talk, source.conversation if source is not None else None)
    steps = any(one is not None and one.steps for one in known)  # what has no id is one of these
    tree = source.document.tree if source is not None and source.document is not None else None
    out: list[Any] = []
    joined: dict[str, Any] = {}  # the last one that was joined
    for message in messages:
        at = _place_before(out, message, tree is not None and bool(tree.turn))
        last = out[at] if out else {}
        said = "assistant" == message.get("role") == last.get("role")
        once = last.get("id") == message.get("id") and not (steps and "id" not in message)
        if not said or not once:
            out.append(message)
            continue
        more = {k: v for k, v in message.items() if k in PLACED or k not in last or last[k] != v}
        writer.trail.copy(message, more)
        reason = more.pop("stop_reason", None)
        if last is not joined:
            place, first = writer.trail.find(last), next(iter(last.get("parts", ())), None)
            told = "what was said at once is one message"
            writer.note("joined", "changed", place, talk.pos, told, None, first)
        joined = out[at] = turns.join_two(writer, last, more)
        if reason is not None:
            joined["stop_reason"] = reason
    if len(out) == len(messages):
        return ir
    return writer.trail.changed(ir, messages=out)


def _place_before(out: list[Any], message: dict[str, Any], turns_told: bool) -> int:
    """Return where the message stands that another one may belong to: the last.

    Where the source tells turns, results of calls of this very turn may stand between the two.
    """
    at = len(out) - 1
    if turns_told and message.get("id") is not None and message.get("role") == "assistant":
        while at > 0 and out[at].get("role") == "tool":
            at -= 1
    return at


def split_parts(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Cut messages into as many as the dialect has of them, where one holds one part."""
    talk, messages = writer.dialect.conversation, ir.get("messages")
    if talk is None or not isinstance(messages, list) or not (alone := talk.alone()):
        return ir
    others = {case.name for group in talk.groups if not group.alone for case in group.cases}
    out: list[Any] = []
    for message in messages:
        parts = message.get("parts", ())
        as_read = writer.same and read_by(writer, message) in others
        if message.get("role") not in alone or as_read:
            out.append(message)
            continue
        if not parts:
            at = writer.trail.find(message)
            writer.note("empty-message", "lost", at, talk.pos, LEFT_OUT)
            continue
        found = _elements(writer, parts)
        times = {part.get("time", message.get("time")) for part, *_ in found}
        if "time" in message and message["time"] not in times and not writer.same:
            at, told = writer.trail.find(message, "time"), "each of its parts has a time of its own"
            writer.note("no-place", "lost", at, talk.pos, told)
        for i, (part, *more) in enumerate(found):
            said = message if not i else {k: message[k] for k in ("role", "time") if k in message}
            if part.get("time", said.get("time")) != said.get("time") and not writer.same:
                said, part = _with_time(writer, said, part)
            if len(found) > 1 and not writer.same:
                told = "each stands in a message of its own"
                writer.note_part("moved", "moved", part, told, talk.pos)
            as_is = said is message and len(found) == 1
            out.append(said if as_is else with_parts(writer, said, [part, *more]))
    return writer.trail.changed(ir, messages=out)


def _with_time(
    writer: WriteJob, message: dict[str, Any], part: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Let a message of one part have its time, and the part where it has a place for one."""
    said = writer.trail.changed(message, time=part["time"])
    writer.trail.put(said, "time", writer.trail.find(part, "time"))
    if not has_place(writer, part, "time"):
        part = without_field(writer, part, "time")
    return said, part


def _elements(writer: WriteJob, parts: list[Any]) -> list[list[Any]]:
    """Return the parts that one element holds: at home those of one run, else one alone."""
    runs = [shape.groups for shape in writer.dialect.shapes.values() if shape.groups]
    found: list[list[Any]] = []
    for part in parts:
        kinds = {part.get("type"), found[-1][-1].get("type") if found else None}
        if found and writer.same and any(kinds <= groups for groups in runs):
            found[-1].append(part)
        else:
            found.append([part])
    return found
