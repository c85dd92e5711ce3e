"""Conversations: wire messages to IR messages and back, and the order that a dialect asks for.

In the IR a message is a role and ordered parts, results stand in messages of role `tool`, and every
result has the id and the name of its call.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from .env import Env
from .ladder import step
from .lenses import Misfit
from .picture import Fields, Hole, Literal
from .reader import Reader
from .rulefile import Case, Conversation, Group, Shape
from .sight import View
from .source import Pos
from .trail import At
from .writer import Writer

MESSAGE = Shape("message", None, [], frozenset(), frozenset(), Pos("", 0, 0))

# -- reading ----------------------------------------------------------------------------------


def read_messages(reader: Reader, wire: Any, at: At) -> list[dict[str, Any]]:
    """Read the list of wire messages."""
    talk = reader.dialect.conversation
    assert talk is not None
    if not isinstance(wire, list):
        raise Misfit("expected a list of messages", at, talk.pos)
    messages: list[dict[str, Any]] = []
    before: Group | None = None
    for i, item in enumerate(wire):
        group, new = read_message(reader, item, (*at, i))
        if group.spliced and group is before:
            messages[-1]["parts"].extend(new[0]["parts"])
        else:
            if group is before and talk.per == "run":
                _remember(reader, new[0], "apart", True)
            messages.extend(new)
        before = group
    return messages


def read_message(reader: Reader, item: Any, at: At) -> tuple[Group, list[dict[str, Any]]]:
    """Read one wire message: its group, and the one or more IR messages that it holds."""
    talk = reader.dialect.conversation
    assert talk is not None
    best: Misfit | None = None
    said: list[str] = []
    for lenient in (False, True):
        for group in talk.groups:
            mark = len(reader.notes)
            try:
                return group, _read_group(reader, talk, group, item, at, lenient)
            except Misfit as misfit:
                del reader.notes[mark:]
                said.append(misfit.reason)
                if (
                    best is None
                    or len(misfit.at) > len(best.at)
                    or (len(misfit.at) == len(best.at) and not _by_role(misfit) and _by_role(best))
                ):
                    best = misfit
    assert best is not None
    if _by_role(best):
        roles = ", ".join(f"`{r}`" for r in _roles(talk))
        got = item.get("role") if isinstance(item, dict) else None
        raise Misfit(f"the role is {got!r}, expected one of {roles}", best.at, best.pos)
    raise best


def _before(talk: Conversation, group: Group) -> list[Group]:
    return talk.groups[: talk.groups.index(group)]


def _by_role(misfit: Misfit) -> bool:
    return bool(misfit.at) and misfit.at[-1] == "role"


def _roles(talk: Conversation) -> list[str]:
    found: list[str] = []
    for group in talk.groups:
        for case in group.cases:
            if isinstance(case.wire, Fields):
                for _, child in case.wire.entries:
                    if isinstance(child, Literal) and isinstance(child.values[0], str):
                        found.append(child.values[0])
    return list(dict.fromkeys(found))


def _read_group(
    reader: Reader, talk: Conversation, group: Group, item: Any, at: At, lenient: bool
) -> list[dict[str, Any]]:
    case = group.cases[0]
    if group.spliced:
        assert isinstance(case.wire, Hole) and case.wire.shape is not None
        part = reader.shape(case.wire.shape, item, at, lenient)
        message = {"role": talk.role(case), "parts": [part]}
        reader.trail.put(message, None, at)
        if any(talk.role(c) == message["role"] for g in _before(talk, group) for c in g.cases):
            _remember(reader, message, "case", case.name)
        return [message]
    env = reader.case(case, item, at, lenient)
    parts: list[Any] = env.fields.pop("parts", ([], None))[0]
    plain = next((c for c in group.cases if talk.role(c) != "tool"), case)
    tool = next((c for c in group.cases if talk.role(c) == "tool"), None)
    messages: list[dict[str, Any]] = []
    for part in parts if tool is not None else ():
        answer = part.get("type") == "tool_result"
        chosen = tool if answer and tool is not None else plain
        if not messages or messages[-1]["role"] != talk.role(chosen):
            messages.append({"role": talk.role(chosen), "parts": []})
        messages[-1]["parts"].append(part)
    if not messages:
        messages = [{"role": talk.role(plain), "parts": parts}]
    first = messages[0]
    _fields(reader, plain, env, first)
    for message in messages:
        reader.trail.put(message, None, at)
    return messages


def _fields(reader: Reader, case: Case, env: Env, message: dict[str, Any]) -> None:
    role = message["role"]
    reader.fill(message, case.ir, env)
    message["role"] = role if role == "tool" else message.get("role", role)
    reader.attach(message, env)


def _remember(reader: Reader, message: dict[str, Any], key: str, value: Any) -> None:
    memory = reader.memory(message)
    memory[""] = {**memory.get("", {}), key: value}


def pair(messages: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Give each result the name of its call, by id and occurrence.

    Returns what was odd: (`duplicate-id` | `unpaired`, part).
    """
    odd: list[tuple[str, dict[str, Any]]] = []
    open_calls: dict[str, deque[str]] = {}
    names: dict[str, str] = {}
    for message in messages:
        for part in message.get("parts", ()):
            if part.get("type") == "tool_call" and isinstance(part.get("id"), str):
                if open_calls.get(part["id"]):
                    odd.append(("duplicate-id", part))
                open_calls.setdefault(part["id"], deque()).append(part.get("name", ""))
                names[part["id"]] = part.get("name", "")
            elif part.get("type") == "tool_result":
                key = part.get("tool_call_id")
                waiting = open_calls.get(key) if isinstance(key, str) else None
                if not waiting:
                    odd.append(("unpaired", part))
                name = waiting.popleft() if waiting else names.get(key or "")
                if name is not None and "name" not in part:
                    part["name"] = name
    return odd


# -- what a dialect asks of a message list -----------------------------------------------------


def lift(writer: Writer, messages: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    """Take system text out of the messages where the dialect wants it apart."""
    talk = writer.dialect.conversation
    if talk is None or ("lift", "system") not in talk.enforce:
        return [], messages
    parts: list[Any] = []
    rest: list[Any] = []
    heads = 0
    for message in messages:
        memory = message.get("spelled", {}).get(writer.dialect.name, {}).get("", {})
        home = writer.same and not writer.repair
        taken = message.get("role") == "system" and not (
            home and (rest or heads or not memory.get("head"))
        )
        if not taken:
            rest.append(message)
            continue
        heads += 1
        if rest:
            told = "system text stands apart in the target, before the conversation"
            writer.note("lifted", "moved", writer.trail.find(message), talk.pos, told)
        while "level" in message:
            message = _down(writer, message, talk)
        parts.extend(message.get("parts", ()))
        _unplaced(writer, message, talk.pos)
    return parts, rest


def _down(writer: Writer, message: dict[str, Any], talk: Conversation) -> dict[str, Any]:
    for row in writer.ladder.get("message", ()):
        try:
            new, _, path = step(row, message, writer.trail)
        except Misfit:
            continue
        at = writer.trail.find(message, path or None) or writer.trail.find(message)
        where = next(iter(message.get("parts", ())), None)
        writer.note(row.name, row.effect, at, row.pos, row.message, None, where)
        return new
    at = writer.trail.find(message)
    raise Misfit(
        f"the target has no message for the role `{message.get('role')}`", at or (), talk.pos
    )


def _unplaced(writer: Writer, message: dict[str, Any], pos: Any) -> None:
    dummy = Case("", "message", Literal((None,), pos), None, {}, None, pos)
    view = View(message, "message", dummy, writer)
    view.claims |= {"parts", "role", "level"}
    writer.leftover(view, {})


def order(writer: Writer, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put results right after their calls, in the order of the calls where that is asked for."""
    talk = writer.dialect.conversation
    asked = {word for word, _ in talk.enforce} if talk else set()
    if not asked & {"answer-next", "order-results-by-calls"}:
        return messages
    out: list[dict[str, Any]] = []
    moved: set[int] = set()
    for i, message in enumerate(messages):
        if message.get("role") == "tool":
            parts = [p for p in message["parts"] if id(p) not in moved]
            if len(parts) != len(message["parts"]):
                message = _with(writer, message, parts)
            if not message["parts"]:
                continue
        out.append(message)
        calls = [p for p in message.get("parts", ()) if p.get("type") == "tool_call"]
        if calls and message.get("role") == "assistant":
            _answer(writer, messages, i, calls, asked, moved, out)
    return out


def _answer(
    writer: Writer,
    messages: list[dict[str, Any]],
    i: int,
    calls: list[Any],
    asked: set[str],
    moved: set[int],
    out: list[dict[str, Any]],
) -> None:
    talk = writer.dialect.conversation
    assert talk is not None
    wanted = [c.get("id") for c in calls]
    near: list[Any] = []
    far: list[Any] = []
    apart = False
    for message in messages[i + 1 :]:
        for part in message.get("parts", ()):
            if part.get("type") == "tool_call" and part.get("id") in wanted:
                wanted = [w for w in wanted if w != part.get("id")]
            if part.get("type") != "tool_result" or id(part) in moved:
                continue
            if part.get("tool_call_id") in wanted:
                wanted.remove(part["tool_call_id"])
                (far if apart else near).append(part)
        apart = apart or message.get("role") != "tool"
        if not wanted:
            break
    answers = near + far
    ids = [c.get("id") for c in calls]
    ordered = answers
    if "order-results-by-calls" in asked:
        ordered = sorted(answers, key=lambda p: ids.index(p["tool_call_id"]))
    if not far and ordered == answers:
        return
    for part in far:
        told = "a result stands right after its call in the target"
        writer.note("moved", "moved", writer.trail.find(part), talk.pos, told, None, part)
    for one, two in zip(ordered, answers, strict=True):
        if one is not two and not any(one is f for f in far):
            told = "results stand in the order of their calls in the target"
            writer.note("reordered", "moved", writer.trail.find(one), talk.pos, told, None, one)
    moved.update(id(p) for p in answers)
    out.append({"role": "tool", "parts": ordered})


def _with(writer: Writer, message: dict[str, Any], parts: list[Any]) -> dict[str, Any]:
    new = {**message, "parts": parts}
    writer.trail.copy(message, new)
    return new


# -- writing ----------------------------------------------------------------------------------


def write_messages(writer: Writer, messages: Any) -> list[Any]:
    """Write IR messages as the list of wire messages."""
    talk = writer.dialect.conversation
    assert talk is not None
    if not isinstance(messages, list):
        raise Misfit("`messages` is no list", (), talk.pos)
    if writer.repair:
        messages = order(writer, messages)
    out: list[Any] = []
    run: list[tuple[Case, dict[str, Any]]] = []
    group: Group | None = None

    def flush() -> None:
        nonlocal group
        if run and group is not None:
            out.extend(_write_run(writer, talk, group, run))
        run.clear()
        if writer.beside:
            blocks, writer.beside = writer.beside, []
            aside = {"role": "user", "parts": blocks}
            place, case, message = _place(writer, talk, aside)
            out.extend(_write_run(writer, talk, place, [(case, message)]))
        group = None

    for original in messages:
        place, case, message = _place(writer, talk, original)
        memory = message.get("spelled", {}).get(writer.dialect.name, {}).get("", {})
        apart = writer.same and memory.get("apart")
        joins = place.spliced or (talk.per == "run" and not apart)
        if place is not group or not joins:
            flush()
        elif not place.spliced and writer.repair:
            _merged(writer, talk, run[-1][1], message)
        group = place
        run.append((case, message))
    flush()
    return out


def _merged(
    writer: Writer, talk: Conversation, before: dict[str, Any], message: dict[str, Any]
) -> None:
    if before.get("role") == message.get("role") != "tool":
        at = writer.trail.find(message)
        told = "two messages of one role become one"
        first = next(iter(message.get("parts", ())), None)
        writer.note("joined", "changed", at, talk.pos, told, None, first)


def _place(
    writer: Writer, talk: Conversation, message: dict[str, Any]
) -> tuple[Group, Case, dict[str, Any]]:
    memory = message.get("spelled", {}).get(writer.dialect.name, {}) if writer.same else {}
    read_by = memory.get("", {}).get("case")
    groups = talk.groups
    if read_by:
        groups = sorted(groups, key=lambda group: all(c.name != read_by for c in group.cases))
    for group in groups:
        for case in group.cases:
            if talk.role(case) != message.get("role"):
                continue
            view = View(message, "message", case, writer)
            try:
                if case.ir is not None:
                    writer.match(case.ir, message, "", view)
                elif "level" in message:
                    continue
            except Misfit:
                continue
            return group, case, message
    return _place(writer, talk, _down(writer, message, talk))


def _write_run(
    writer: Writer, talk: Conversation, group: Group, run: list[tuple[Case, dict[str, Any]]]
) -> list[Any]:
    case, first = run[0]
    parts = [part for _, message in run for part in message.get("parts", ())]
    if group.spliced:
        hole = case.wire
        assert isinstance(hole, Hole)
        shares = writer.share([hole], parts)
        for _, message in run:
            _unplaced(writer, message, talk.pos)
        return [wire for _, wire in shares[id(hole)]]
    if writer.repair:
        for word, kind in talk.enforce:
            if word == "put-first":
                parts = _put_first(writer, talk, kind, parts)
    whole = (
        dict(first) if len(run) == 1 and parts == first.get("parts") else {**first, "parts": parts}
    )
    writer.trail.copy(first, whole)
    for other_case, _ in run:
        if talk.role(other_case) != "tool":
            case = other_case
            break
    view = View(whole, "message", case, writer)
    if case.ir is not None:
        # The first message of the run may be a tool message: match for the claims alone.
        try:
            writer.match(case.ir, whole, "", view)
        except Misfit:
            view.claims.add("role")
    wire = writer.picture(case.wire, view, (), top=True)
    if (
        writer.repair
        and ("no-empty", "") in talk.enforce
        and not any(view.lists.get("parts", {}).values())
    ):
        at = writer.trail.find(first)
        told = "a message of which nothing can be written is left out"
        writer.note("empty-message", "lost", at, talk.pos, told)
        return []
    view.case = run[0][0]
    writer.leftover(view, wire)
    for other, message in run[1:]:
        _unplaced(writer, message, other.pos)
    return [wire]


def _put_first(writer: Writer, talk: Conversation, kind: str, parts: list[Any]) -> list[Any]:
    head = [p for p in parts if p.get("type") == kind]
    if head == parts[: len(head)]:
        return parts
    seen = False
    for part in parts:
        if part.get("type") != kind:
            seen = True
        elif seen:
            told = f"a {kind} stands first in its message in the target"
            writer.note("reordered", "moved", writer.trail.find(part), talk.pos, told, None, part)
    return head + [p for p in parts if p.get("type") != kind]
