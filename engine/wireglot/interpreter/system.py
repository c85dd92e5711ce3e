"""System text as a dialect wants it: apart from the messages, or among them in its own form."""

from __future__ import annotations

from typing import Any

from ..language.talk import LATER
from ..notes import NO_WORD
from .copies import parts_of, replace_part
from .jobs import Message, Part, WriteJob
from .placing import note_beside_parts, step_down
from .views import blank, recalled

PLAIN = frozenset(("role", "parts", "spelled"))


def lift(writer: WriteJob, messages: list[Message]) -> tuple[list[Any], list[Any]]:
    """Take system text out of the messages where the dialect wants it apart.

    Where it does not, what stood apart at home stands apart there again.
    """
    talk = writer.dialect.talk
    lifts = ("lift", "system") in talk.enforce
    if writer.filler is not None and _only_system(messages):
        if lifts or any(turn.at and turn.role == "user" for turn in talk.turns):
            return [], [_as_user(writer, message) for message in messages]
    form, stays = _later_form(writer), _stays(writer) or not lifts
    parts: list[Any] = []
    rest: list[Any] = []
    heads = 0
    for message in messages:
        if message.get("role") != "system":
            rest.append(message)
            continue
        head = recalled(writer, message).get("head") and _fits_head(writer, message)
        if (stays and (rest or heads or not head)) or (rest and form is not None):
            rest.append(message)  # where it does not stay `reword_later` writes it
            continue
        heads += 1
        if rest:
            reason = "system text stands apart in the target, before the conversation"
            at = writer.trail.find(message)
            first = next(iter(message.get("parts", ())), None)
            writer.note("lifted", "moved", at, talk.pos, reason, None, first)
        if writer.repair and not message.get("parts"):
            writer.note_emptied(message)
        while "level" in message:
            message = step_down(writer, message)
        for part in message.get("parts", ()):
            if blank(writer, part, "system"):
                writer.note_lost("empty-text", part, NO_WORD, talk.pos)
            else:
                parts.append(part)
        if not message.keys() <= PLAIN:
            note_beside_parts(writer, message, talk.pos)
    return parts, rest


def _only_system(messages: list[Message]) -> bool:
    """Tell whether nobody but the system speaks: what has no parts is left out."""
    for message in messages:
        if message.get("role") != "system" and message.get("parts"):
            return False
    return bool(messages)


def _fits_head(writer: WriteJob, message: Message) -> bool:
    """Tell whether all parts of a system message can stand in `$system` of the request."""
    cases = writer.dialect.pictured("request")
    shapes = [hole.shape for case in cases for hole in case.lists.get("system", ())]
    kinds = frozenset(("unknown",))  # which came from there
    kinds = kinds.union(*(writer.dialect.kinds_of(shape or "") for shape in shapes))
    return not shapes or all(part.get("type") in kinds for part in message.get("parts", ()))


def _as_user(writer: WriteJob, message: Message) -> Message:
    """Let system text that stands alone be a message of the user; of nothing none is made."""
    if message.get("role") == "system" and all(
        blank(writer, part, "user") for part in message.get("parts", ())
    ):
        said = writer.trail.without(message, "level")
        said["role"] = "user"
        return said
    while message.get("role") == "system":
        message = step_down(writer, message)
    return message


def _stays(writer: WriteJob) -> bool:
    """Tell whether system text stays where its own dialect had it."""
    return writer.same and (not writer.repair or ("leave", "system") in writer.enforced)


def _later_form(writer: WriteJob) -> str | None:
    """Return the form of what comes later, or None where it has none or the caller wants none."""
    if writer.options.get("system") == "lift":
        return None
    return writer.dialect.talk.later


def reword_later(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Let system text behind the first turn be text of the user, where it stands.

    It says whose it is by its form. So what comes later changes nothing of what went before, and
    a prompt that a provider has cached still begins the next one.
    """
    form = _later_form(writer)
    if form is None or _stays(writer):
        return messages
    turns = ("turn", "system") in writer.dialect.talk.enforce
    between = _between_turns(writer, messages) if turns else frozenset[int]()
    out, begun = [], False
    for message in messages:
        system = message.get("role") == "system"
        begun = begun or not system
        stays = not system or not begun or id(message) in between
        out.append(message if stays else _as_user_text(writer, message, form))
    return out


def _between_turns(writer: WriteJob, messages: list[Message]) -> frozenset[int]:
    """Return the ids of messages behind one of a user and before one of the model, or at the end.

    A message that will be left out, as a result whose call is not there, is none.
    """
    calls = {part.get("id") for part in parts_of(messages, "tool_call")}
    there = [
        message
        for message in messages
        if (message.get("role") == "system" and message.get("own"))
        or any(_is_said(writer, message, part, calls) for part in message.get("parts", ()))
    ]
    roles = ["system", *(message.get("role") for message in there), "assistant"]
    return frozenset(
        id(message)
        for i, message in enumerate(there)
        if roles[i] in ("user", "tool") and roles[i + 2] == "assistant"
    )


def _is_said(writer: WriteJob, message: Message, part: Part, calls: set[Any]) -> bool:
    """Tell whether a part lets its message stand: thoughts alone do not."""
    if part.get("type") == "tool_result":
        return part.get("tool_call_id") in calls
    return part.get("type") != "reasoning" and not blank(writer, part, message.get("role"))


def _as_user_text(writer: WriteJob, message: Message, form: str) -> Message:
    """Return system text as text of the user, noted."""
    while "level" in message:
        message = step_down(writer, message)
    parts = []
    for part in message.get("parts", ()):
        if part.get("type") == "text" and str(part.get("text", "")).strip():
            text = form.replace("${text}", part["text"])
            part = replace_part(writer, part, {**part, "text": text})
        parts.append(part)
    new = writer.trail.changed(message, role="user", parts=parts)
    if parts:
        said = "system text stays where it stands, as text of the user that says what it is"
        rule = writer.rule(LATER)
        writer.note_part("system-as-user", "changed", message, said, rule, now=parts[0])
    return new
