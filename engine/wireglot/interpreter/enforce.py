"""What a dialect asks of a message list: what may stand in it, results in their places."""

from __future__ import annotations

from collections import deque
from typing import Any

from ..language.picture import Hole
from ..notes import BEHIND_CALL, NO_WORD
from . import share, turns, within
from .answers import note_reordered
from .copies import leave_out, parts_of, with_parts
from .jobs import Message, Part, WriteJob
from .leftover import note_emptied
from .placing import case_of, note_beside_parts
from .views import blank, memory_of


def drop_user_parts(writer: WriteJob, role: Any, parts: list[Part]) -> list[Part]:
    """Leave out what only a user may say; each such part is noted."""
    if role != "assistant":
        return parts
    bars = writer.dialect.talk.bars
    gone = [part for part in parts if part.get("type") in bars]
    for part in gone:
        reason = f"in the target, a turn of the model holds no {part['type']}"
        writer.note_lost("no-place", part, reason, writer.rule())
    return [part for part in parts if part.get("type") not in bars] if gone else parts


def drop_at_end(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Leave out what a turn of the model may not end with; each such part is noted.

    Where parts stand under keys by their kinds, such a part ends the turn that holds nothing else.
    """
    kinds, gone, closed = writer.enforced_args("not-last"), list[Part](), False
    if not kinds:
        return messages
    group, case, _ = case_of(writer, {"role": "assistant", "parts": []})
    joins = group.spliced or writer.dialect.talk.joins("assistant")
    by_kind = not group.spliced and len(case.lists.get("parts", ())) > 1
    for message in reversed(messages):
        role = message.get("role")
        parts = [part for part in message.get("parts", ()) if not blank(writer, part, role)]
        if role == "assistant":  # what only a user may say goes, too
            parts = [part for part in parts if part.get("type") not in writer.dialect.talk.bars]
        others = [part for part in parts if part.get("type") not in kinds]
        closed = role == "assistant" and bool((closed and joins) or (by_kind and others))
        for part in reversed(parts) if role == "assistant" else ():
            closed = closed or part.get("type") not in kinds
            gone += [] if closed else [part]
    reason = "in the target, a turn of the model does not end with {}"
    return leave_out(writer, messages, gone[::-1], reason, "not-last")


def drop_past(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Leave out what the target takes in the present turn alone; each such part is noted."""
    kinds = writer.enforced_args("this-turn")
    if not kinds:
        return messages
    last = max((i for i, m in enumerate(messages) if m.get("role") == "user"), default=0)
    gone = [part for part in parts_of(messages[:last]) if part.get("type") in kinds]
    reason = "the target takes no {} of turns that are over"
    return leave_out(writer, messages, gone, reason, "this-turn")


def drop_half_searches(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Leave out searches without what they found and findings without a search, each noted."""
    if ("found", "search") not in writer.enforced:
        return messages
    parts = parts_of(messages)
    both = {part.get("id") for part in parts if part.get("type") == "search"}
    both &= {part["search_id"] for part in parts if _is_sealed(writer, part)}
    keys = {"search": "id", "finding": "search_id"}
    halves = [(part, keys[part["type"]]) for part in parts if part.get("type") in keys]
    gone = [part for part, key in halves if part.get(key) not in both]
    reason = "the target takes a search back with what it found: this {} is alone"
    return leave_out(writer, messages, gone, reason, "found")


def _is_sealed(writer: WriteJob, part: Part) -> bool:
    """Tell whether a part is what a search found, and the target itself has sealed it."""
    if part.get("type") != "finding" or "search_id" not in part:
        return False
    return all(map(writer.dialect.has_signature, part.get("results") or ()))


def drop_empty(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Leave out messages that hold nothing, before their neighbours are joined."""
    if ("no-empty", "") not in writer.enforced:
        return messages
    if writer.same and ("no-blank", "") not in writer.enforced:
        return messages  # what has nothing in it may yet be written
    out = []
    for message in messages:
        parts = [p for p in message.get("parts", ()) if not blank(writer, p, message.get("role"))]
        if parts and not _writes_nothing(writer, message, parts):
            out.append(message)
            continue
        for part in message.get("parts", ()) if not parts else ():
            writer.note_lost("empty-text", part, NO_WORD, writer.rule())
        note_emptied(writer, message)
    return out


# What is surely written somewhere, where a dialect has a picture of it.
SAID = frozenset(("text", "tool_call", "tool_result"))


def _writes_nothing(writer: WriteJob, message: Message, parts: list[Any]) -> bool:
    """Tell whether no part of a message has a place abroad; what becomes of them is noted then."""
    said = (
        SAID if writer.dialect.holds_results else SAID & writer.dialect.part_kinds
    )  # in their calls
    if writer.same or any(part.get("type") in said for part in parts):
        return False
    if message.get("role") == "assistant" and any(within.may_stand(writer, part) for part in parts):
        return False
    marks = writer.marks()
    writer.role = message.get("role")
    _, case, placed = case_of(writer, message)
    holes = [case.wire] if isinstance(case.wire, Hole) else case.lists.get("parts", [])
    stay = drop_user_parts(writer, placed.get("role"), parts)
    found = [part for part in stay if holes and share.give(writer, holes, part)]
    if not found and not writer.beside:
        return True
    writer.roll_back(*marks)
    return False


def order_results(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Put results right after their calls, in the order of the calls where that is asked for."""
    talk, by_calls = writer.dialect.talk, ("order-results-by-calls", "") in writer.enforced
    if by_calls and writer.same:
        by_calls = _pair_by_order(writer, messages)  # else their order says nothing
    if not by_calls and ("answer-next", "") not in writer.enforced:
        return messages
    out: list[Message] = []
    calls: list[Any] = []
    heads: list[Message] = []  # earlier messages of the same calls
    later = LaterResults(writer, messages, by_calls)
    moved = later.moved
    for i, message in enumerate(messages):
        if moved:  # a result may stand in the turn of anybody
            parts = [p for p in message.get("parts", ()) if id(p) not in moved]
            if len(parts) != len(message.get("parts", ())):
                if not parts:
                    if id(message) not in moved:
                        note_beside_parts(writer, message, talk.pos)
                    continue
                message = with_parts(writer, message, parts)
        out.append(message)
        if message.get("role") != "assistant":
            continue
        calls += parts_of([message], "tool_call")
        after = messages[i + 1] if i + 1 < len(messages) else {}
        # What the model says in several messages may be one turn, answered behind the last of them.
        if after.get("role") == "assistant":
            if writer.same and talk.per == "run":
                continue  # they are one turn
            if not writer.same and calls and parts_of([after], "tool_call"):
                if talk.per == "message":
                    heads.append(out.pop())
                continue  # called at once, and answered together
        while heads:
            out[-1] = turns.join_two(writer, heads.pop(), out[-1])
        out += later.behind(i, calls)
        calls = []
    return out


def one_call_a_turn(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Let a turn of the model call one tool: the next call stands behind the result of this one."""
    if ("one-call", "tool_call") not in writer.enforced:
        return messages
    reason = "the target takes one call in a turn: this one stands in a turn of its own"
    out: list[Message] = []
    waiting = deque(messages)
    while waiting:
        message = waiting.popleft()
        answers: list[Message] = []
        while message.get("role") == "assistant" and waiting and waiting[0].get("role") == "tool":
            answers.append(waiting.popleft())
        parts: list[Part] = []
        for part in message.get("parts", ()):
            calls = [p.get("id") for p in (*parts, part) if p.get("type") == "tool_call"]
            if len(calls) > 1 and part.get("type") == "tool_call":
                own, others = _part_answers(writer, answers, calls[:-1])
                if own:
                    out += [with_parts(writer, message, parts), *own]
                    writer.note_part("moved", "moved", part, reason, writer.rule("one-call"))
                    parts, answers = [], others
            parts.append(part)
        out += [with_parts(writer, message, parts), *answers]
    return out


def _part_answers(
    writer: WriteJob, answers: list[Message], calls: list[Any]
) -> tuple[list[Message], list[Message]]:
    """Return the results of some calls, and the others, each in its message."""
    found: tuple[list[Message], list[Message]] = ([], [])
    for answer in answers:
        parts = answer.get("parts", [])
        for mine, halves in zip((True, False), found, strict=True):
            stay = [part for part in parts if (part.get("tool_call_id") in calls) is mine]
            halves += [with_parts(writer, answer, stay)] if stay else []
    return found


def _pair_by_order(writer: WriteJob, messages: list[Message]) -> bool:
    """Tell whether results have neither ids nor names of their own at home: then order tells."""
    for message in messages:
        names = [
            part.get("name")
            for part in message.get("parts", ())
            if "tool_call_id" in part
            # Nothing stood where the id would be written.
            for entry in memory_of(part, writer.dialect.name).values()
            if ("as" not in entry and entry.get("for") == part["tool_call_id"])
            or (writer.repair_asked and "old" in entry)  # or what stood there is left out
        ]
        if len(set(names)) < len(names):
            return True
    return False


class LaterResults:
    """Where the results of calls stand, and which turn ends before them; each is looked at once.

    `by_calls` says that results stand in the order of their calls.
    """

    def __init__(self, writer: WriteJob, messages: list[Message], by_calls: bool) -> None:
        self._writer, self._messages, self._by_calls = writer, messages, by_calls
        self.moved: set[int] = set()  # results, and whole messages of them, that stand elsewhere
        # By id, in their order: a place with a result, or with None for a call that takes the rest.
        self._by_id: dict[Any, deque[tuple[int, int, Any]]] = {}
        for i, message in enumerate(messages):
            for j, part in enumerate(message.get("parts", ())):
                if part.get("type") == "tool_call":
                    self._by_id.setdefault(part.get("id"), deque()).append((i, j, None))
                elif part.get("type") == "tool_result":
                    self._by_id.setdefault(part.get("tool_call_id"), deque()).append((i, j, part))
        # At home what a user says in the same turn may stand before the results.
        per_run = writer.same and writer.dialect.talk.per == "run"
        beside = ("tool", "user") if per_run else ("tool",)
        turn = len(messages)
        self._turns: list[int] = []  # the next message, from each on, that ends the turn
        for i in range(len(messages) - 1, -1, -1):
            self._turns.append(turn)
            said = {part.get("type") for part in messages[i].get("parts", ())}
            alone = bool(said) and "tool_result" not in said  # the user says it
            if messages[i].get("role") not in beside or (alone and not writer.same):
                turn = i
        self._turns.reverse()

    def _results(self, i: int, ids: list[Any]) -> list[tuple[int, Any]]:
        """Return the results behind message `i` for calls of these ids, with their places."""
        found = []
        for key in ids:
            waiting = self._by_id.get(key) or deque()
            while waiting and waiting[0][0] <= i:
                waiting.popleft()
            if waiting and waiting[0][2] is not None:
                found.append(waiting.popleft())
        return [(place, part) for place, _, part in sorted(found, key=lambda one: one[:2])]

    def behind(self, i: int, calls: list[Any]) -> list[Message]:
        """Return the answers of some calls of message `i` that are to stand right behind it."""
        writer, ids = self._writer, [c.get("id") for c in calls]
        found = self._results(i, ids)
        far = [part for place, part in found if self._turns[i] < place]
        ordered = answers = [part for _, part in found]
        if self._by_calls or not writer.unseen_ids.isdisjoint(ids):
            nth = {key: len(ids) - at for at, key in enumerate(reversed(ids), 1)}
            ordered = sorted(answers, key=lambda p: nth[p["tool_call_id"]])
        if not far and ordered == answers:
            return []
        gone = {id(part) for part in far}
        for part in far:
            writer.note_part("moved", "moved", part, BEHIND_CALL, writer.rule())
        there = [part for part in ordered if id(part) not in writer.made_results]
        before = [part for part in answers if id(part) not in writer.made_results]
        note_reordered(writer, there, before, gone)
        stands = {id(part): self._messages[place] for place, part in found}
        self.moved.update(stands)
        alone = "tool" in writer.dialect.once("alone", writer.dialect.talk.alone)
        out: list[Message] = []
        for parts in [[part] for part in ordered] if alone else [ordered]:
            whole = stands[id(parts[0])]
            same = sorted(map(id, whole["parts"])) == sorted(map(id, parts))
            if same and whole.get("role") == "tool":
                self.moved.add(id(whole))  # it stands here as a whole
                out.append(with_parts(writer, whole, parts))
            else:
                out.append({"role": "tool", "parts": parts})
        return out


def lead_with(writer: WriteJob, kind: str, parts: list[Any]) -> list[Any]:
    """Let parts of a kind lead their message, and note which moved; no result leads its call."""
    kinds = [part.get("type") for part in parts]
    number = kinds.count(kind)
    if kinds[:number].count(kind) == number and "tool_call" not in kinds:
        return parts  # mostly they do
    calls = {p.get("id") for p in parts if p.get("type") == "tool_call"} - {None}
    leads = [p.get("type") == kind and p.get("tool_call_id") not in calls for p in parts]
    head = [part for part, first in zip(parts, leads, strict=True) if first]
    if all(leads[: len(head)]):
        return parts
    seen = False
    for part, first in zip(parts, leads, strict=True):
        if not first:
            seen = True
        elif seen:
            reason = f"a {kind} stands first in its message in the target"
            writer.note_part("reordered", "moved", part, reason, writer.rule())
    return head + [part for part, first in zip(parts, leads, strict=True) if not first]


def texts_before_calls(writer: WriteJob, parts: list[Any]) -> list[Any]:
    """Let texts of a flat list stand before the calls of their turn: results follow these."""
    kinds = [part.get("type") for part in parts]
    first = kinds.index("tool_call") if "tool_call" in kinds else len(parts)
    late = [part for part in parts[first:] if part.get("type") in ("text", "refusal")]
    if not late:
        return parts  # mostly none stands behind one
    for part in late:
        reason = "results follow their calls here; what is said between stands before these"
        writer.note_part("reordered", "moved", part, reason, writer.rule())
    rest = [part for part in parts[first:] if part.get("type") not in ("text", "refusal")]
    return parts[:first] + late + rest
