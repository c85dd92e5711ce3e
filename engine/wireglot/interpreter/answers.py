"""Calls that hold their results: on the wire one object is both, in the IR they are two parts."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable
from typing import Any

from ..ir import MEDIA
from ..language.model import Dialect
from ..language.picture import Hole, placed, ways
from ..language.shape import Case
from ..seeds import left_out
from ..trail import At, pointer
from .copies import parts_of, replace_part, with_parts
from .jobs import Message, Part, ReadJob, WriteJob
from .placing import note_beside_parts
from .views import recalled

RESULT = "result"  # the field of a call that holds its result, between the two
AGAIN = "it says a call or its result again"
UNCALLED = "a result whose call is not there is left out"


def lift_results(reader: ReadJob, messages: list[Message], at: At) -> list[Message]:
    """Take the results out of their calls, into a message of tools behind these."""
    out: list[Message] = []
    for message in messages:
        out.append(message)
        if message["role"] == "tool" and reader.home:
            reader.remember(message, "", "beside", True)
        again = _repeated_calls(message)
        if reader.home:
            for part in again:
                reader.remember(part, "", "again", True)
        else:
            _drop_parts(reader, message, {id(part) for part in again})
        results = [
            _lift_result(reader, part)
            for part in parts_of([message], "tool_call")
            if isinstance(part.get(RESULT), dict)
        ]
        if results:
            made = {"role": "tool", "parts": results}
            reader.trail.put(made, None, at)
            out.append(made)
    return out


def _repeated_calls(message: Message) -> list[Part]:
    """Return the calls without a result that say again what one with its result says."""
    calls = parts_of([message], "tool_call")
    held = {call["id"] for call in calls if RESULT in call and call.get("id") is not None}
    return [call for call in calls if RESULT not in call and call.get("id") in held]


def drop_repeated(reader: ReadJob, messages: list[Message]) -> list[Message]:
    """Leave out, abroad, results that stand behind their calls and in them, with their media."""
    repeated, out = repeated_results(messages), list[Message]()
    gone: At | None = None  # the line of a message that was left out
    for message in messages:
        parts = message.get("parts", [])
        results = [part for part in parts if part.get("type") == "tool_result"]
        again = {id(part) for part in results} & repeated
        media = {id(part) for part in parts if part["type"] in MEDIA}
        if again and len(again) == len(results):
            gone = reader.trail.find(message)
            again |= media
        elif media and not results and gone is not None and reader.trail.find(message) == gone:
            again = media
        kept = _drop_parts(reader, message, again)
        if kept or not again:
            out.append(message)
    return out


def repeated_results(messages: list[Message]) -> set[int]:
    """Return the ids of results whose call is there, and has one already."""
    waiting, known, again = Counter[Any](), set[Any](), set[int]()
    for message in messages:
        for part in parts_of([message], "tool_result"):
            name = part.get("tool_call_id")
            if name in known and not waiting[name]:
                again.add(id(part))
            waiting[name] -= waiting[name] > 0
        calls = [part.get("id") for part in parts_of([message], "tool_call")]
        waiting.update(calls)
        known.update(calls)
    return again


def _drop_parts(reader: ReadJob, message: Message, again: set[int]) -> list[Part]:
    """Take parts that say again what others said out of a message, and return the others."""
    parts: list[Part] = message.get("parts", [])
    kept = [part for part in parts if id(part) not in again]
    if again:
        at = reader.trail.find(message) or ()
        gone = [part for part in parts if id(part) in again] if kept else [message]
        places = [reader.trail.find(one) or at for one in gone]
        reader.notes += [("no-message", "lost", place, None, AGAIN) for place in places]
        message["parts"] = kept
    return kept


def _lift_result(reader: ReadJob, call: Part) -> Message:
    """Return the result that stood in a call; the call tells its name, and its id if it has one."""
    result: Part = call.pop(RESULT)
    result["type"] = "tool_result"
    dialect = reader.dialect
    if "id" not in call and result.get("tool_call_id") is not None:
        call["id"] = result["tool_call_id"]
        left_out(call, dialect.name, "id")
    for field, value in (("tool_call_id", call.get("id")), ("name", call.get("name"))):
        said = result.get(field)
        if value is None or said == value:
            continue
        result[field] = value
        if said is None:
            left_out(result, dialect.name, field)
            continue
        # Where a picture of the call says it, the call remembers.
        places = _result_place(dialect, field), _call_place(dialect, field)
        for owner, place in zip((result, call), places, strict=True):
            if place is not None:
                reader.memory(owner)[place] = {"as": said, "for": value}
        where = reader.trail.find(result, field) or ()
        reason = f"the call that holds this result has another `{field}`"
        reader.notes.append(("inconsistent", "changed", where, None, reason))
    return result


def _result_place(dialect: Dialect, field: str) -> str | None:
    """Return the place of a field in the pictures of results."""
    return _place_of(field, dialect.pictured("tool_result"))


def _call_place(dialect: Dialect, field: str) -> str | None:
    """Return the place of a field of results in the pictures of calls that name it."""
    for case in dialect.shape_cases:
        for at, p in placed(case.ir) if case.ir is not None else ():
            if at != (RESULT, field) or not isinstance(p, Hole):
                continue
            found = _place_of(p.path, [case])
            if found is not None:
                return found
    return None


def _place_of(path: str, cases: Iterable[Case]) -> str | None:
    """Return the place of a hole in the pictures of some cases, where a list has one element."""
    there = (way for case in cases for hole, way in ways(case.wire) if hole.path == path)
    found = next(there, None)
    return None if found is None else pointer(tuple(0 if key is None else key for key in found))


def results_into_calls(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Put each result into its call, by id and occurrence; one without a call is left out."""
    waiting: dict[Any, deque[Part]] = {}
    beside = [one for one in messages if writer.same and "beside" in recalled(writer, one)]
    there = {id(part) for part in parts_of(beside, "tool_result")}
    for part in parts_of(messages, "tool_result"):
        if id(part) in there:
            continue
        waiting.setdefault(part.get("tool_call_id"), deque()).append(part)
    out: list[Message] = []
    placed: list[Part] = []
    for message in messages:
        if message.get("role") == "assistant":
            message = _fill_calls(writer, message, waiting, placed)
        out.append(message)
    there = {id(part) for part in placed}
    stood = (part for part in parts_of(messages, "tool_result") if id(part) in there)
    note_reordered(writer, placed, stood)
    lost = {id(part) for left in waiting.values() for part in left}
    aside = {id(message) for message in beside}
    rests = (one if id(one) in aside else _without_results(writer, one, lost) for one in out)
    return [one for one in rests if one is not None]


def _fill_calls(
    writer: WriteJob, message: Message, waiting: dict[Any, deque[Part]], placed: list[Part]
) -> Message:
    """Return a message whose calls hold their results; these join the ones that are `placed`."""
    parts = []
    for part in message.get("parts", ()):
        repeated = writer.same and "again" in recalled(writer, part)  # another one has the result
        call = part.get("type") == "tool_call" and not repeated
        results = waiting.get(part.get("id")) if call else None
        if results:
            placed.append(results.popleft())
            part = replace_part(writer, part, {**part, RESULT: placed[-1]})
        parts.append(part)
    return with_parts(writer, message, parts)


def note_reordered(
    writer: WriteJob, now: Iterable[Part], before: Iterable[Part], noted: Collection[int] = ()
) -> None:
    """Note the results that stood in another order than they do now, unless it is `noted`."""
    for one, two in zip(now, before, strict=True):
        if one is not two and id(one) not in noted:
            why = "results stand in the order of their calls in the target"
            writer.note_part("reordered", "moved", one, why, writer.rule())


def _without_results(writer: WriteJob, message: Message, lost: set[int]) -> Message | None:
    """Return what is left of a message without its results; None where that is nothing."""
    parts = message.get("parts", ())
    rest = [part for part in parts if part.get("type") != "tool_result"]
    if len(rest) == len(parts):
        return message
    for part in parts:
        if id(part) in lost:
            writer.note_lost("unpaired", part, UNCALLED, writer.rule())
            writer.lost_parts.append(part)
    if rest:
        role = "user" if message.get("role") == "tool" else message.get("role")
        return {**with_parts(writer, message, rest), "role": role}
    note_beside_parts(writer, message, writer.rule())
    return None
