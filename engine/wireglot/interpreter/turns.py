"""Turns as a dialect wants them: roles in turn, turns that must stand, tools that are sent."""

from __future__ import annotations

from collections import deque
from itertools import groupby, takewhile
from typing import Any

from ..jsontext import stringify
from ..language.picture import Hole
from ..language.talk import Turn
from ..notes import ONE_ROLE
from . import prefix, share
from .choice import chosen_names
from .copies import parts_of, with_parts
from .jobs import Message, WriteJob
from .placing import case_of, note_beside_parts, step_down
from .views import blank

CALLS = ("tool_call", "tool_result")


def order_turns(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Return messages in the order of turns that a dialect asks for."""
    messages = [_as_user(writer, message) for message in messages]
    if ("alternate", "") in writer.enforced:
        messages = join_neighbours(writer, messages)
    return add_turns(writer, messages)


def add_turns(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Return messages with the turns that a dialect wants at an end, or between two roles."""
    for turn in writer.dialect.talk.turns:
        if turn.at:
            # Messages alone may be a piece of a conversation.
            messages = add_turn_at_end(writer, turn, messages) if writer.whole else messages
        else:
            found: list[Message] = []
            for message in messages:
                if found and (found[-1].get("role"), message.get("role")) == turn.between:
                    found.append(filler_message(writer, turn))
                found.append(message)
            messages = found
    return messages


def with_some_message(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Let the user say something where all that was said fell out."""
    if messages or writer.filler is None:
        return messages
    turn = Turn("user", writer.filler, "start", ("", ""), writer.rule("some-message"))
    return [filler_message(writer, turn)]


def _as_user(writer: WriteJob, message: Message) -> Message:
    """Let a turn of tools in which no tool answers be the user's."""
    parts = message.get("parts")
    if message.get("role") != "tool" or not parts:
        return message
    answers = ("tool_result", "native") if writer.same else ("tool_result",)
    answered = any(part.get("type") in answers for part in parts)
    return message if answered else step_down(writer, message)


def join_neighbours(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Join neighbours of one role; results stay messages of their own."""
    out: list[Message] = []
    for message in messages:
        if out and out[-1].get("role") == message.get("role") in ("user", "assistant"):
            out[-1] = join_two(writer, out[-1], message)
        else:
            out.append(message)
    return out


def join_two(writer: WriteJob, one: Message, two: Message) -> Message:
    """Return one message of the parts of two, and note it."""
    first = next(iter(two.get("parts", ())), None)
    at, rule = writer.trail.find(two), writer.rule()
    writer.note("joined", "changed", at, rule, ONE_ROLE, None, first)
    if "id" in two and "id" not in one:  # the one that is known is that of both
        one, at = writer.trail.changed(one, id=two["id"]), writer.trail.find(two, "id")
        writer.trail.put(one, "id", at)
        two = writer.trail.without(two, "id")
    note_beside_parts(writer, two, rule)
    return with_parts(writer, one, [*one.get("parts", ()), *two.get("parts", ())])


def add_companions(
    writer: WriteJob, messages: list[Message], holes: list[Hole] | None = None
) -> list[Message]:
    """Let what the target asks for stand beside parts of a kind; what is filled in is noted.

    With `holes` nothing has to stand beside a part that none of them takes.
    """
    talk = writer.dialect.talk
    for one in talk.beside if writer.repair else ():
        if one.stands == "reasoning" and not writer.thinks:
            continue
        out: list[Message] = []
        # Neighbours of one role may be one message on the wire.
        turns = groupby(messages, lambda m: m.get("role") if talk.per == "run" else id(m))
        for found in [list(turn) for _, turn in turns]:
            parts = [(m, p) for m in found for p in m.get("parts", ())]
            kind = [(m, p) for m, p in parts if p.get("type") == one.kind]
            if holes is not None:
                kind = [(m, p) for m, p in kind if _has_place(writer, holes, p)]
            owner = kind[0][0] if kind else None
            # A sealed thought alone is none that can be told here.
            said = (
                p.get("type") == one.stands and "text" in p and not blank(writer, p, m.get("role"))
                for m, p in parts
            )
            if owner is not None and not any(said):
                part = {"type": one.stands, "text": one.text}
                reason = f"the target wants {one.stands} beside this, and none is there"
                writer.note_supplied(part, "text", one.pos, reason)
                fresh = with_parts(writer, owner, [part, *owner["parts"]])
                found = [fresh if m is owner else m for m in found]
            out += found
        messages = out
    return messages


def add_turn_at_end(writer: WriteJob, turn: Turn, messages: list[Message]) -> list[Message]:
    """Put a turn at one end where another role stands there; an open call stays the last word."""
    if not _needs_turn(writer, turn, messages):
        return messages
    place = _first_turn(messages) if turn.at == "start" else len(messages)
    return [*messages[:place], filler_message(writer, turn), *messages[place:]]


def _first_turn(messages: list[Message]) -> int:
    """Return the place of the first turn, behind what the system says."""
    roles = [message.get("role") for message in messages]
    return next((n for n, role in enumerate(roles) if role != "system"), len(roles))


def _needs_turn(writer: WriteJob, turn: Turn, messages: list[Message]) -> bool:
    """Tell whether another role stands where a turn must stand, and is none that is as good."""
    first, end = turn.at == "start", None
    for message in messages if first else reversed(messages):
        if message.get("role") != "system":
            end = message
            break
    if end is None:
        return False  # where nothing was said nothing goes on
    role = end.get("role")
    if role == turn.role or (turn.before and not _first_turn_holds(messages, turn.before)):
        return False
    if role == "tool" and not first and turn.role == "user":
        return False
    if role == "tool" and _shares_results(writer, turn.role):
        return False
    goes = end.get("prefix") and prefix.goes_on(writer.dialect)
    # Where it calls tools their results come next.
    waits = "tool_call" in writer.dialect.part_kinds and bool(parts_of([end], "tool_call"))
    return first or not (waits or goes)


def _shares_results(writer: WriteJob, role: str) -> bool:
    """Tell whether results stand in a kind of message in which a role stands, too."""
    talk, both = writer.dialect.talk, {"tool", role}
    return any(both <= {talk.role(case) for case in group.cases} for group in talk.groups)


def _first_turn_holds(messages: list[Message], kind: str) -> bool:
    """Tell whether the first turn holds a part of a kind; neighbours of one role are one turn."""
    talk = [message for message in messages if message.get("role") != "system"]
    turn = takewhile(lambda message: message.get("role") == talk[0].get("role"), talk)
    return any(part.get("type") == kind for part in parts_of(turn))


def filler_message(writer: WriteJob, turn: Turn) -> Message:
    """Return a message that nobody said, and note it."""
    part = {"type": "text", "text": turn.text}
    where = f"at the {turn.at}" if turn.at else f"between {' and '.join(turn.between)}"
    reason = f"the target wants a turn of the role `{turn.role}` {where}"
    message = {"role": turn.role, "parts": [part]}
    writer.note("turn-added", "added", None, turn.pos, reason, None, part)
    return message


def message_of_left(writer: WriteJob, blocks: list[Any]) -> Message:
    """Return a user's message of what left its message."""
    holes = _user_holes(writer)
    made = {"role": "user", "parts": _with_labels(writer, blocks, holes)}
    [left] = add_companions(writer, [made], holes)
    return left


def _with_labels(writer: WriteJob, blocks: list[Any], holes: list[Hole]) -> list[Any]:
    """Return parts that left, each text that says whose they are before some that have a place."""
    if not writer.labels:
        return blocks
    out: list[Any] = []
    label = None
    for block in blocks:
        if id(block) in writer.labels:
            label = block
            continue
        if label is not None and _has_place(writer, holes, block):
            out.append(label)
            pos = writer.labels[id(label)][1]
            writer.note_supplied(label, "text", pos, "this says whose the media behind it are")
            label = None
        out.append(block)
    return out


def _user_holes(writer: WriteJob) -> list[Hole]:
    """Return the holes that take what a user says."""
    case = case_of(writer, {"role": "user", "parts": []})[1]
    return [case.wire] if isinstance(case.wire, Hole) else case.lists.get("parts", [])


def _has_place(writer: WriteJob, holes: list[Hole], part: Any) -> bool:
    """Tell whether a part can be written; what is noted of it is noted then."""
    marks = writer.marks()
    role, writer.role = writer.role, "user"
    found = bool(holes) and bool(share.give(writer, holes, part))
    writer.role = role
    writer.roll_back(*marks)
    return found


def joins_aside(writer: WriteJob) -> bool:
    """Tell whether what left its message may stand in the run that it left."""
    return writer.dialect.talk.per == "run" and _bridge(writer) is None


def _bridge(writer: WriteJob) -> Turn | None:
    """Return the turn that must stand between results and what a user says, if one must."""
    turns = writer.dialect.talk.turns if writer.repair else ()
    return next((turn for turn in turns if turn.between == ("tool", "user")), None)


def queue_beside(writer: WriteJob, message: Message, waiting: deque[Message]) -> None:
    """Let what left its message be the next one, in the order of turns."""
    turn, bridge = _bridge(writer), None
    holes = _user_holes(writer) if turn is not None else []
    if turn is not None and any(_has_place(writer, holes, part) for part in message["parts"]):
        there = waiting and waiting[0].get("parts") == [{"type": "text", "text": turn.text}]
        bridge = waiting.popleft() if there else filler_message(writer, turn)
    if ("alternate", "") in writer.enforced and waiting and waiting[0].get("role") == "user":
        message = join_two(writer, message, waiting.popleft())
    waiting.appendleft(message)
    if bridge is not None:
        waiting.appendleft(bridge)


def narrow_tools(writer: WriteJob, ir: dict[str, Any], holes: list[Hole]) -> dict[str, Any]:
    """Say which tools may be called by sending only these, where `holes` take one of them."""
    choice, tools = ir.get("tool_choice"), ir.get("tools")
    said = parts_of(ir.get("messages") or ())
    if not isinstance(tools, list):
        return ir
    if isinstance(choice, dict):
        names = frozenset(chosen_names(ir) or ())
        mode = choice.get("mode", "required")
    elif choice == "none" and not any(part.get("type") in CALLS for part in said):
        names, mode = frozenset(), None
    else:
        return ir
    kept = [tool for tool in tools if tool.get("name") in names]
    goes = (tool.get("type") != "native" or _has_place(writer, holes, tool) for tool in kept)
    if mode is not None and not any(goes):
        return ir
    out = writer.trail.changed(ir, tools=kept, tool_choice=mode)
    if mode is None:
        del out["tools"]
    if mode in (None, "auto"):  # as where nothing is said
        del out["tool_choice"]
    at = writer.trail.find(ir, "tool_choice")
    reason = "which tools may be called is said by the tools that are sent"
    writer.note("narrowed", "changed", at, writer.rule(), reason)
    stay = set(map(id, kept))
    for tool in tools:
        if id(tool) not in stay:
            reason = "only tools that may be called are sent"
            writer.note_lost("narrowed", tool, reason, writer.rule())
    return out


def drop_hosted_tools(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Leave out tools that the provider runs where functions stand beside them.

    Who speaks a wire of the family knows what it asks for.
    """
    tools = ir.get("tools")
    if writer.same or writer.same_family or not isinstance(tools, list):
        return ir
    gone = [tool for tool in tools if tool.get("type") == "native"]
    if not gone or len(gone) == len(tools):
        return ir
    reason = "the target takes no such tool beside functions"
    for tool in gone:
        writer.note_lost("no-place", tool, reason, writer.rule("unmixed"), weight="grave")
    own = [tool for tool in tools if tool.get("type") != "native"]
    return writer.trail.changed(ir, tools=own)


def declare_called(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Declare the tools that the messages call, as the target wants."""
    tools = list(ir.get("tools") or ())
    known = {tool.get("name", tool.get("type")) for tool in tools}
    for part in parts_of(ir.get("messages") or (), "tool_call"):
        name = part.get("name")
        if not isinstance(name, str) or name in known:
            continue
        known.add(name)
        tools.append({"name": name, "parameters": {"type": "object"}})
        reason = f"the messages call `{name}`, and the target wants it declared"
        rule = writer.rule("declare-called")
        writer.note("filled-in", "added", None, rule, reason, None, tools[-1])
    if len(tools) == len(ir.get("tools") or ()):
        return ir
    return writer.trail.changed(ir, tools=tools)


def say_json(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Let the first message of the user say that JSON is asked for, as it is, if the target wants.

    A schema that the target does not take is said there, too. What comes later is not looked at:
    the same message is to be written the same in each turn.
    """
    messages, form = ir.get("messages"), ir.get("response_format")
    kind = form.get("type") if isinstance(form, dict) else None
    step = {"json": "say-json", "json_schema": "say-schema"}.get(str(kind), "")
    text = next(iter(writer.enforced_args(step)), None) if step else None
    if text is None or not isinstance(messages, list) or not messages:
        return ir
    if isinstance(form, dict) and step == "say-schema":
        if writer.same or "schema" not in form:
            return ir
        rule, reason = writer.rule(step), "the target takes no schema: it is said in words"
        outer, at = writer.trail.find(ir, "response_format"), writer.trail.find(form, "schema")
        writer.note("schema-as-words", "changed", outer, rule, reason)
        if at is not None and outer is not None and at[: len(outer)] != outer:  # beside its type
            writer.note("schema-as-words", "changed", at, rule, reason)
        for key in sorted(form.keys() - {"type", "schema", "spelled"}):
            writer.note_lost("no-place", form, f"what asks for JSON says no `{key}`", rule, key)
        text = text.replace("${schema}", stringify(form["schema"]))
        fresh = {"type": "json"}
        writer.trail.copy(form, fresh)
        ir = writer.trail.changed(ir, response_format=fresh)
    roles = [message.get("role") for message in messages]
    place = roles.index("user") if "user" in roles else len(messages)
    heard = messages[: place + 1]
    if any(t.at == "start" and _needs_turn(writer, t, messages) for t in writer.dialect.talk.turns):
        place, heard = len(messages), messages[: _first_turn(messages)]  # a user is put before all
    said = (part.get("text") for part in parts_of(heard))
    heard_of = any("json" in words.lower() for words in said if isinstance(words, str))
    if heard_of and step == "say-json":
        return ir
    pos = writer.rule(step)
    if place == len(messages):  # the first one to speak, before whom no other user is put
        place = _first_turn(messages)
        first = filler_message(writer, Turn("user", text, "start", ("", ""), pos))
        return writer.trail.changed(ir, messages=[*messages[:place], first, *messages[place:]])
    part = {"type": "text", "text": text}
    writer.note_supplied(part, "text", pos, "the target wants who asks for JSON to say so")
    first = with_parts(writer, messages[place], [*messages[place].get("parts", ()), part])
    return writer.trail.changed(ir, messages=[*messages[:place], first, *messages[place + 1 :]])


def whole_tool_names(writer: WriteJob, ir: dict[str, Any]) -> dict[str, Any]:
    """Let a choice name a tool within a group as the IR does, where it says its last piece alone.

    Where two groups have such a tool, nothing tells which is meant.
    """
    choice, tools = ir.get("tool_choice"), ir.get("tools")
    if writer.same or not isinstance(choice, dict) or not isinstance(tools, list):
        return ir
    names = [str(tool.get("name")) for tool in tools if isinstance(tool, dict)]
    ends: dict[str, list[str]] = {}  # by their last piece: of many tools none is asked for each
    for one in names:
        ends.setdefault(one.rpartition("/")[2], []).append(one)
    whole: dict[Any, str] = {}
    known = frozenset(names)
    for name in [one for one in dict.fromkeys(chosen_names(ir) or ()) if one not in known]:
        among = ends.get(name.rpartition("/")[2], ())
        found = [one for one in among if one.endswith(f"/{name}")]
        if len(found) == 1:
            whole[name] = found[0]
    if not whole:
        return ir
    writer.short_names = {name: piece for piece, name in whole.items()}
    if "allowed" in choice:
        allowed = [
            {**one, "name": whole.get(one.get("name"), one.get("name"))}
            if isinstance(one, dict)
            else whole.get(one, one)
            for one in choice["allowed"]
        ]
        made = writer.trail.changed(choice, allowed=allowed)
    else:
        made = writer.trail.changed(choice, name=whole[choice["name"]])
    return writer.trail.changed(ir, tool_choice=made)
