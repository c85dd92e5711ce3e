"""Placing messages: which picture takes one, and what stands beside its parts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..ir import DERIVED, GRAVE, MEDIA, ROLES
from ..language.ladder import apply
from ..language.lenses import Misfit
from ..language.picture import ABSENT, Fields, Literal, Test, keyed
from ..language.shape import Case
from ..language.talk import Conversation, Group
from ..notes import Weight
from .jobs import Message, Tries, WriteJob
from .leftover import leftover, note_emptied
from .views import View, list_memory, read_by

PLACED = (DERIVED - {"kept"}) | {"parts", "role", "level"}  # of a message, or follows from it

NEVER = "the target has what it says to its model from elsewhere"


def case_of(writer: WriteJob, message: Message) -> tuple[Group, Case, Message]:
    """Return the group and case that take a message, which may have gone down for it."""
    talk, name = writer.dialect.talk, None
    if writer.same and "spelled" in message:
        name = read_by(writer, message)
    # Mostly the role alone decides, and that is remembered; a level (developer) has cases of its
    # own, and at home the case by which a message was read comes first.
    if not name and "level" not in message:
        role = message.get("role")
        if role not in talk.usual:
            talk.usual[role] = _only_case(talk, role)
        if (found := talk.usual[role]) is not None:
            return found[0], found[1], message
    groups = talk.groups
    if name:
        groups = sorted(groups, key=lambda group: all(c.name != name for c in group.cases))
    for group in groups:
        for case in group.cases:
            if talk.role(case) != message.get("role"):
                continue
            there = case.name == name and (_holds if case.home else _was_read_there)(
                writer, case, message
            )
            if case.read_only and not there:
                continue
            if case.ir is None and "level" in message:
                continue
            try:
                told = _with_media_that_go(writer, case, message)
                View(message, "message", case, writer).match(case.ir, told)
            except Misfit:
                continue
            return group, case, message
    return case_of(writer, step_down(writer, message))


def _with_media_that_go(writer: WriteJob, case: Case, message: Message) -> Message:
    """Return a message as a case asks for it that takes media: without those that have no place.

    Of them text may be made, or nothing: then it is a message of texts alone.
    """
    tests = [child for names, child in keyed(case.ir) if names[0] == "parts"]
    if writer.same or not any(isinstance(one, Test) and one.kind == "media" for one in tests):
        return message
    parts, holes = message.get("parts", ()), case.lists.get("parts", [])
    media = [part for part in parts if part.get("type") in MEDIA]
    if not media or not holes:
        return message
    marks = writer.marks()
    writer.role = message.get("role")
    shares = writer.share(holes, media).values()
    go = [part for given in shares for part, _ in given]
    go += writer.beside[marks[2] :]  # what leaves a document may stand in this very message
    writer.roll_back(*marks)
    if any(part.get("type") in MEDIA for part in go):
        return message
    return {**message, "parts": [part for part in parts if part.get("type") not in MEDIA]}


def drop_roles(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Leave out messages of a role that the target does not have, in no form."""
    strange = writer.dialect.once("strange", lambda: _impossible_roles(writer))
    if not strange or writer.same:
        return messages
    for message in messages:
        if (why := strange.get(str(message.get("role")))) is not None:
            kinds = {part.get("type") for part in message.get("parts", ())}
            weight: Weight = "" if GRAVE.isdisjoint(kinds) else "grave"
            writer.note_lost("no-place", message, why, writer.rule(), weight=weight)
    return [message for message in messages if message.get("role") not in strange]


def _impossible_roles(writer: WriteJob) -> dict[str, str]:
    """Return the roles that no case takes, and none that the ladder makes of them, and why."""
    found, mark = {}, len(writer.notes)
    never = {role: NEVER for word, role in writer.dialect.talk.enforce if word == "never"}
    held = {"tool"} if writer.dialect.holds_results else set()  # results stand in their calls
    for role in sorted(set(ROLES) - never.keys() - held):
        try:
            case_of(writer, {"role": role, "parts": []})
        except Misfit as misfit:
            misfit.__traceback__ = None
            found[role] = misfit.reason
    del writer.notes[mark:]
    return found | never


def _only_case(talk: Conversation, role: Any) -> tuple[Group, Case] | None:
    """Return the group and case of all messages of a role that say no level, if these are one."""
    for group in talk.groups:
        for case in group.cases:
            asked = {names[0]: child for names, child in keyed(case.ir)}
            level = asked.get("level")
            levelled = isinstance(level, Literal) and ABSENT not in level.values
            if talk.role(case) != role or case.read_only or levelled:
                continue
            more = isinstance(case.ir, Fields) and case.ir.closed
            return (group, case) if asked.keys() <= {"role"} and not more else None
    return None


def _holds(writer: WriteJob, case: Case, message: Message) -> bool:
    """Tell whether a case has holes for all parts of a message, which may be edited: of each kind.

    Of a kind that stands in holes of one part alone there are no more than these, and of one whose
    list may not be empty there is one.
    """
    room = Counter[str]()
    parts = message.get("parts", ())
    there = Counter(part.get("type") for part in parts)
    unknown = [part for part in parts if part.get("type") == "unknown"]  # stands where it was read
    origins = {list_memory(part, writer.dialect.name).get("hole") for part in unknown}
    for hole in case.lists.get("parts", ()):
        kinds = writer.dialect.kinds_of(hole.named) if hole.shape is not None else frozenset()
        asks = "filled" in hole.lenses or ("single" in hole.lenses and hole.mark is None)
        lacks = there.keys().isdisjoint(kinds) and origins.isdisjoint({None, hole.shape})
        if kinds and asks and lacks:
            return False
        for kind in kinds:
            room[kind] += 1 if "single" in hole.lenses else len(parts)
    fits = not room or all(room[kind] >= n for kind, n in there.items() if kind != "unknown")
    return fits and (not case.home or _takes_single(writer, case, message))


def _takes_single(writer: WriteJob, case: Case, message: Message) -> bool:
    """Tell whether the one part of a message still fits the picture by which it was read."""
    parts, holes = message.get("parts", ()), case.lists.get("parts", [])
    if len(parts) != 1 or len(holes) != 1 or "single" not in holes[0].lenses:
        return True
    marks = writer.marks()
    found = writer.share(holes, parts)[id(holes[0])]
    writer.roll_back(*marks)
    return bool(found)


def _was_read_there(writer: WriteJob, case: Case, message: Message) -> bool:
    """Tell whether `(read-only)` holes of a case, which take no others, read all parts there."""
    parts, names = message.get("parts", ()), {h.shape for h in case.lists.get("parts", ())}
    found = (list_memory(p, writer.dialect.name) for p in parts)
    return all(memory.get("hole") in names for memory in found)


def step_down(writer: WriteJob, message: Message) -> Message:
    """Take a message one rung down the ladder; raises Misfit where there is none."""
    for row in writer.ladder.get("message", ()):
        with Tries(writer):
            new, _, path = apply(row, message, writer.trail)
            writer.note_step(row, message, path, None, next(iter(message.get("parts", ())), None))
            return new
    reason = f"the target has no message for the role `{message.get('role')}`"
    raise Misfit(reason, writer.trail.find(message) or (), writer.rule())


def note_beside_parts(writer: WriteJob, message: Message, pos: Any) -> None:
    """Note what a message holds beside its parts, which go elsewhere."""
    if message.keys() <= PLACED and not writer.mark_fields and writer.recorder is None:
        return
    dummy = Case("", "message", Literal((None,), pos), None, {}, None, pos)
    view = View(message, "message", dummy, writer)
    view.claims |= {"parts", "role", "level"}
    leftover(writer, view, {})


def _stays_empty(writer: WriteJob, message: Message, wire: Any) -> bool:
    """Tell whether a message without parts may stay at home: an empty text, or fields beside."""
    if (message.get("own") or {}).get(writer.dialect.family):
        return True
    return "" in wire.values() and ("no-blank", "") not in writer.enforced


def walk_run(
    writer: WriteJob, case: Case, run: list[tuple[Case, Message]], whole: Message, made: bool
) -> list[Any]:
    """Write a run of messages, which is a `whole` one, by walking the pictures of a case."""
    first, parts, mark = run[0][1], whole.get("parts", ()), len(writer.notes)
    view = View(whole, "message", case, writer)
    try:
        # The first message of the run may be a tool message: match for the claims alone.
        view.match(case.ir, whole)
    except Misfit:
        view.claims.add("role")
    try:
        wire = writer.picture(case.wire, view, (), top=True)
    except Misfit:
        gone = {id(part) for part in writer.lost_parts}
        if not parts or any(id(part) not in gone for part in parts):
            raise
        # Of one part that has no place nothing is left.
        _forget_added(writer, mark)
        note_emptied(writer, first)
        return []
    if (
        ("no-empty", "") in writer.enforced
        and not any(view.lists.get("parts", {}).values())
        and not (writer.same and _stays_empty(writer, first, wire))
    ):
        _forget_added(writer, mark)
        if not made:
            note_emptied(writer, first)
        return []
    view.case = run[0][0]
    leftover(writer, view, wire)
    for other, message in run[1:]:
        note_beside_parts(writer, message, other.pos)
    note_cases(writer, run, [wire])
    return [wire]


def _forget_added(writer: WriteJob, mark: int) -> None:
    """Forget what was added, as a time, to a message that is left out."""
    writer.notes[mark:] = [draft for draft in writer.notes[mark:] if draft.effect != "added"]


def note_cases(writer: WriteJob, run: list[tuple[Case, Message]], wires: list[Any]) -> None:
    """Note of the messages of a run what their cases say is noted."""
    for case, message in run if wires and not writer.same else ():
        if case.note is not None:
            writer.note_case(case, writer.trail.find(message), wires[0])
