"""Conversations: wire messages to IR messages; `speaking` writes them.

In the IR a message is a role and ordered parts, results stand in messages of role `tool`, and every
result has the id and the name of its call.
"""

from __future__ import annotations

from typing import Any

from ..language.lenses import Misfit
from ..language.picture import ABSENT, Hole, Literal, keyed
from ..language.shape import Shape
from ..language.talk import Conversation, Group
from ..trail import At
from . import answers, building, elements, marks, steps
from .env import Env
from .jobs import Message, ReadJob

# A wire message: its group, the messages that it holds, and the run by which it was read, if any.
Heard = tuple[Group, list[Message], Shape | None]


def read_messages(reader: ReadJob, wire: Any, at: At) -> list[Message]:
    """Read the list of wire messages."""
    if not isinstance(wire, list):
        raise Misfit("expected a list of messages", at, reader.dialect.talk.pos)
    found: list[Heard] = []
    file = reader.file
    for i, item in enumerate(wire):
        where = (*at, i) if file is None else file.place(at, i)
        try:
            group, new = reader.message(item, where)
        except Misfit as misfit:
            misfit.__traceback__ = None
            if file is None:
                raise
            file.keep(reader, i, where, item, misfit)
            continue
        if file is not None:
            file.remember(reader, i, new[0])
        found.append((group, new, reader.run))
    return join_messages(reader, found)


def join_messages(reader: ReadJob, found: list[Heard]) -> list[Message]:
    """Return the messages that wire messages hold, and remember which of these stood apart."""
    talk, messages = reader.dialect.talk, list[Message]()
    before: Group | None = None
    last: Shape | None = None
    for group, new, run in found:
        if reader.dialect.document is not None and not group.spliced:
            for message in new:
                same = [c.name for c in group.cases if talk.role(c) == message["role"]]
                if same and _has_earlier(talk, group, message):  # none for what stood in a call
                    reader.remember(message, "", "case", same[0])
        if group.spliced and group is before and not _remembers_line(reader, new[0]):
            if run is not None and run is last:
                reader.remember(new[0]["parts"][0], "../", "apart", True)
            messages[-1]["parts"].extend(new[0]["parts"])
        else:
            role = new[0]["role"]
            if group is before and (
                talk.joins(role) or (messages[-1]["role"] != role and talk.splits(group))
            ):
                reader.remember(new[0], "", "apart", True)
            messages.extend(new)
        before, last = group, run
    if reader.dialect.holds_results and not reader.home:
        messages = answers.drop_repeated(reader, messages)
    return marks.marks_to_parts(reader, messages) if reader.dialect.marks_cache else messages


def _remembers_line(reader: ReadJob, message: Message) -> bool:
    """Tell whether a message remembers its line: something else stands right before it there."""
    home = message.get("spelled", {}).get(reader.dialect.name, {}) if reader.file else {}
    return "line" in home.get("", {})


def read_talk(reader: ReadJob, h: Hole, wire: Any, at: At, rel: At, env: Env) -> list[Any]:
    """Read a conversation; where its hole is `bare`, one plain text is what a user says.

    Where it is `listed`, one message may stand in the place of the list.
    """
    if "bare" in h.lenses and isinstance(wire, str):
        return user_says(reader, wire, at)
    if "listed" in h.lenses and isinstance(wire, dict):
        env.spell(rel, wire, [wire])
        messages = join_messages(reader, [(*reader.message(wire, at), reader.run)])
    else:
        messages = read_messages(reader, wire, at)
    if "bare" in h.lenses and is_user_text(messages):
        env.mark(rel, "list")
    return messages


def user_says(reader: ReadJob, text: str, at: At) -> list[Message]:
    """Return the conversation in which the user says one text."""
    part = {"type": "text", "text": text}
    message = {"role": "user", "parts": [part]}
    for owner, key in ((message, None), (part, None), (part, "text")):
        reader.trail.put(owner, key, at)
    return [message]


def is_user_text(messages: list[Message]) -> bool:
    """Tell whether a conversation is one plain text of the user."""
    if len(messages) != 1 or messages[0].get("role") != "user":
        return False
    plain = messages[0].keys() <= {"role", "parts", "spelled"}
    return plain and elements.is_one_text(messages[0].get("parts", ()))


def read_message(reader: ReadJob, item: Any, at: At) -> tuple[Group, list[Message]]:
    """Read one wire message: its group, and the one or more IR messages that it holds."""
    talk = reader.dialect.talk
    key = talk.speaker()
    best: Misfit | None = None
    for lenient in (False, True):
        for group in talk.groups:
            mark = len(reader.notes)
            try:
                return group, read_by_group(reader, group, item, at, lenient)
            except Misfit as misfit:
                misfit.__traceback__ = None
                del reader.notes[mark:]
                if best is None or len(misfit.at) > len(best.at):
                    best = misfit
                elif len(misfit.at) == len(best.at) and _is_of_role(best, key):
                    # Of items by many pictures none says more than that the role is unknown.
                    many = group.spliced and any(_is_item(reader, g) for g in talk.groups)
                    loose = many or not (group.spliced or key in _fixed_words(group))
                    best = best if _is_of_role(misfit, key) or loose else misfit
    assert best is not None
    flat = _item_group(reader, item)
    if flat is not None:
        case = flat.cases[0]
        message = {"role": talk.role(case), "parts": [elements.unknown_part(reader, item, at)]}
        reader.run = None
        reader.trail.put(message, None, at)
        return flat, [message]
    if _is_of_role(best, key) and len(best.at) == len(at) + 1:
        roles = _roles(talk, key)
        got = item.get(key) if isinstance(item, dict) else None
        if got not in roles:
            said = ", ".join(f"`{role}`" for role in roles)
            raise Misfit(f"the {key} is {got!r}, expected one of {said}", best.at, best.pos)
    raise best


def _item_group(reader: ReadJob, item: Any) -> Group | None:
    """Return the group that keeps an item of no known kind, where items are parts by themselves."""
    if not isinstance(item, dict):
        return None
    talk, found = reader.dialect.talk, None
    key = talk.speaker()
    for group in talk.groups:
        fixed = _fixed_words(group)
        if group.spliced:
            if _is_item(reader, group) and talk.role(group.cases[0]) != "tool":
                found = found or group
        # A message of no speaker is one by its words, not by their keys.
        elif any(name in item and (key in fixed or item[name] in fixed[name]) for name in fixed):
            return None  # a message of a kind that is known, with something wrong in it
    return found


def _is_item(reader: ReadJob, group: Group) -> bool:
    wire = group.cases[0].wire
    return isinstance(wire, Hole) and wire.shape in reader.dialect.unions


def _fixed_words(group: Group) -> dict[str, tuple[Any, ...]]:
    """Return the keys of a message whose words are fixed, with these."""
    side = group.cases[0].sides[1]
    # What may be absent tells nothing apart.
    return {
        path[1:]: value
        for path, value in side.items()
        if path.count("/") == 1 and isinstance(value, tuple) and ABSENT not in value
    }


def _has_earlier(talk: Conversation, group: Group, message: Message) -> bool:
    """Tell whether an earlier group has messages of this role, too."""
    before = talk.groups[: talk.groups.index(group)]
    return any(talk.role(case) == message["role"] for other in before for case in other.cases)


def _is_of_role(misfit: Misfit, key: str) -> bool:
    return bool(misfit.at) and misfit.at[-1] == key


def _roles(talk: Conversation, key: str) -> list[Any]:
    found: list[Any] = []
    for group in talk.groups:
        for case in group.cases:
            for names, child in keyed(case.wire):
                word = child.values[0] if isinstance(child, Literal) else None
                if names[0] == key and isinstance(word, str | int):
                    found.append(word)
            if group.spliced:
                found.append(talk.role(case))
    return list(dict.fromkeys(found))


def read_by_group(reader: ReadJob, group: Group, item: Any, at: At, lenient: bool) -> list[Message]:
    """Read one wire message by the cases of one group."""
    talk, case = reader.dialect.talk, group.cases[0]
    reader.run = None
    if group.spliced:
        assert isinstance(case.wire, Hole) and case.wire.shape is not None
        found, reader.run = reader.element(case.wire.shape, item, at, (lenient,))
        message = {"role": talk.role(case), "parts": found}
        reader.trail.put(message, None, at)
        if _has_earlier(talk, group, message):
            reader.remember(message, "", "case", case.name)
        return [message]
    env = reader.case(case, item, at, lenient)
    building.check_tests(case, env.fields, env)
    parts: list[Any] = env.fields.pop("parts", ([], None))[0]
    plain = next((c for c in group.cases if talk.role(c) != "tool"), case)
    messages: list[Message] = []
    if talk.several(group, reader.dialect.told_roles):
        messages = split_by_speaker(parts, talk.role(plain), talk.several(group))
    if not messages:
        messages = [{"role": talk.role(plain), "parts": parts}]
    first, role = messages[0], messages[0]["role"]
    building.fill(reader, first, plain.ir, env)
    if role == "tool":  # results stand in what somebody says
        first["role"] = role
    building.attach(reader, first, env)
    if case.read_only:
        reader.remember(first, "", "case", case.name)
    for message in messages:
        reader.trail.put(message, None, at)
    messages = steps.split_at_marks(reader, messages, at)
    return answers.lift_results(reader, messages, at) if reader.dialect.holds_results else messages


def split_by_speaker(parts: list[Any], role: str, results: bool) -> list[Message]:
    """Return the messages that one holds on the wire: what says its role apart, and `results`."""
    messages: list[Message] = []
    for part in parts:
        speaker = part.pop("role", role)
        speaker = "tool" if results and part.get("type") == "tool_result" else speaker
        if not messages or messages[-1]["role"] != speaker:
            messages.append({"role": speaker, "parts": []})
        messages[-1]["parts"].append(part)
    return messages
