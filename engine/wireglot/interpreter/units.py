"""Units: what a whole value of each is, where it is read and written, and how it goes down."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from ..ir import USER_DATA
from ..jsontext import copied
from ..language import ladder
from ..language.lenses import Misfit
from ..language.model import Dialect, once
from ..language.picture import Hole, holes
from ..language.shape import Case, Shape
from ..language.talk import Conversation
from ..notes import UNKNOWN_KEY
from ..trail import At, Trail, keys_of
from .copies import parts_of
from .jobs import ReadJob, Tries, WriteJob
from .views import recalled

OWNED = "candidate."  # in the picture of a response: a field of its one answer


def write_alone(writer: WriteJob, kind: str, ir: Any) -> Any:
    """Write one part or counts by themselves, going down the ladder."""
    if kind == "usage":
        return writer.shape(kind, ir)
    found = [w for _, _, w in writer.give([hole_of_kind(writer.dialect, kind)], ir)]
    if len(found) != 1:
        raise Misfit("no picture takes it")
    return found[0]


def hole_of_kind(dialect: Dialect, kind: str) -> Hole:
    """Return the hole of messages that holds a call or a result, or one of its shape alone."""
    if (talk := dialect.conversation) is not None:
        role = "tool" if kind == "tool_result" else "assistant"
        lists = [case.lists.get("parts", []) for case in talk.cases if talk.role(case) == role]
        for hole in (hole for found in lists for hole in found):
            if kind in dialect.kinds_of(hole.named) and not hole.only_read:
                return hole
    return Hole(("part",), "each", kind, (), None, None, dialect.pos)


def write_stepping(writer: WriteJob, shape: Shape, ir: Any) -> Any:
    """Write a whole payload, going down the ladder of its unit."""
    tries = Tries(writer)
    writer.missing = set()
    with tries:
        if shape.name == "response" and not writer.same and ir.get("candidates") == []:
            raise Misfit("`candidates` is empty", (), shape.pos)
        return writer.one(shape, ir)
    best, missing = tries.best, writer.missing
    # A row that adds what nobody asked for is none.
    for row in [row for row in writer.ladder.get(shape.name, ()) if row.adds <= missing]:
        with tries:
            new, _, path = ladder.apply(row, ir, writer.trail)
            wire = write_stepping(writer, shape, new)
            made = (writer.written.get(id(new.get(key))) for key in row.after.names)
            place = next((found[1] for found in made if found), wire)
            writer.note_step(row, ir, path, place)
            return wire
    raise best or Misfit("nothing fits")


def acting_answer(kinds: list[list[Any]]) -> int:
    """Return which of several answers acts, by the kinds of their parts: it calls, or has parts."""
    calls = (nth for nth, found in enumerate(kinds) if "tool_call" in found)
    parts = (nth for nth, found in enumerate(kinds) if found)
    return next(calls, next(parts, 0))


def answer_holes(dialect: Dialect) -> list[Hole]:
    """Return the holes of the answers of a response."""
    return [hole for hole in dialect.holes_in("response") if hole.path == "candidates"]


@once
def fields_of_answer(dialect: Dialect) -> frozenset[str]:
    """Return the fields of its one answer that a response says in its own picture."""
    paths = (hole.path for hole in dialect.holes_in("response"))
    return frozenset(path[len(OWNED) :] for path in paths if path.startswith(OWNED))


def hand_to_answer(reader: ReadJob, ir: dict[str, Any]) -> None:
    """Give the one answer what its response says of it: lists follow those that it has."""
    owners = list_at(ir, "candidates")
    said = ir.pop("candidate", {}) if owners else {}
    for key, value in said.items():
        owners[0][key] = [*owners[0].get(key, []), *value] if isinstance(value, list) else value
        reader.trail.put(owners[0], key, reader.trail.find(said, key))


def hand_to_response(writer: WriteJob, ir: Any) -> Any:
    """Let a response say of its one answer what it says in its own picture."""
    first: dict[str, Any] = next(iter(list_at(ir, "candidates")), {})
    said = {key: first[key] for key in sorted(fields_of_answer(writer.dialect)) if key in first}
    if not said:
        return ir
    rest = writer.trail.without(first, *said)
    writer.trail.copy(first, said)
    return writer.trail.changed(ir, candidate=said, candidates=[rest, *ir["candidates"][1:]])


def join_pieces(reader: ReadJob, ir: dict[str, Any]) -> None:
    """Let an answer that comes in several be one, where a dialect says that they are its pieces.

    Where two of them say something they are answers, each by itself.
    """
    owners = ir.get("candidates") or ()
    if len(owners) < 2:
        return
    hole = next((h for h in answer_holes(reader.dialect) if "pieces" in h.lenses), None)
    kinds = [[part.get("type") for part in one.get("parts", ())] for one in owners]
    if hole is None or sum("text" in found for found in kinds) > 1:
        return
    whole: dict[str, Any] = {}
    for one in owners:
        at = reader.trail.find(one, "kept") or ()
        kept = one.pop("kept", {}).get(reader.dialect.name, {})
        for key in (key for key, said in kept.items() if said is not None):  # each at its place
            there = (*at, *keys_of(key))
            reader.notes.append(("unknown-key", "lost", there, hole.pos, UNKNOWN_KEY))
        whole = _join(whole, one, reader.trail)
    # Why it ended says the one that acts.
    ends = owners[acting_answer(kinds)]
    whole.update({key: said for key, said in ends.items() if not isinstance(said, dict | list)})
    reader.trail.copy(ends, whole)
    for one in owners[1:]:
        at = reader.trail.find(one) or ()
        reader.notes.append(("joined", "changed", at, hole.pos, "it is a piece of one answer"))
    ir["candidates"] = [whole]


def _join(one: Any, two: Any, trail: Trail) -> Any:
    """Return what two pieces say: all that stands in either, and the second where it is a word."""
    if isinstance(one, dict) and isinstance(two, dict):
        made = {**one, **{key: _join(one.get(key), said, trail) for key, said in two.items()}}
        trail.copy(one, made)
        trail.copy(two, made)
        return made
    return [*one, *two] if isinstance(one, list) and isinstance(two, list) else two


def had_system(writer: WriteJob, ir: dict[str, Any]) -> bool:
    """Tell whether system text stood apart from the messages at home."""
    return writer.same and any(recalled(writer, m).get("head") for m in ir["messages"][:1])


def at_home(ir: Any, name: str) -> bool:
    """Tell whether an IR value remembers this dialect."""
    stack = [ir]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if any(name in value[k] for k in ("spelled", "kept") if isinstance(value.get(k), dict)):
                return True
            stack.extend(
                v for k, v in value.items() if k not in USER_DATA and isinstance(v, dict | list)
            )
        elif isinstance(value, list):
            stack.extend(v for v in value if isinstance(v, dict | list))
    return False


def available_unit(dialect: Dialect, unit: str) -> str:
    """Return the unit that a payload is of where some unit is wanted: it, or what is there of it.

    What was said is in a request and in a session: a dialect that has no picture of the one
    gives the other.
    """
    if unit in dialect.units:
        return unit
    other = {"request": "session", "session": "request"}.get(unit)
    return other if other in dialect.units else unit


def messages_of(ir: Any, unit: str) -> list[dict[str, Any]] | None:
    """Return the list of messages in a unit's value, None where there is none."""
    if unit in ("request", "session"):
        found = ir.get("messages") if isinstance(ir, dict) else None
        return found if isinstance(found, list) else None
    return ir if unit in ("messages", "message") else None


def list_at(ir: Any, key: str) -> list[Any]:
    """Return a list that an IR value holds, an empty one where it holds none."""
    found = ir.get(key) if isinstance(ir, dict) else None
    return found if isinstance(found, list) else []


def owners_of_parts(ir: Any, messages: list[Any] | None) -> list[Any]:
    """Return what is said in a unit: its `messages`, or the answers of a response."""
    return list_at(ir, "candidates") if messages is None else messages


def call_name_places(messages: list[dict[str, Any]], trail: Trail) -> dict[str, At]:
    """Return where the names of calls stand, by the ids of these."""
    found: dict[str, At] = {}
    for part in parts_of(messages, "tool_call"):
        at = trail.find(part, "name")
        if at is not None and isinstance(part.get("id"), str):
            found.setdefault(part["id"], at)
    return found


def to_caller(ir: Any, unit: str) -> Any:
    """Return what the caller gets of a value that was read for a unit."""
    if unit == "tools":
        return ir.get("tools", [])
    if unit == "tool":
        return ir["tools"][0]
    if unit == "tool_choice":
        return ir.get("tool_choice", ir)
    if unit == "message":
        return ir[0] if len(ir) == 1 else ir
    return ir


def from_caller(ir: Any, unit: str) -> Any:
    """Return the value that is written for what the caller gives for a unit."""
    ir = _without_shared(ir)
    if unit == "tools":
        return {"tools": ir}
    if unit == "tool":
        return {"tools": [ir]}
    if unit == "tool_choice" and not (
        isinstance(ir, dict) and ("tool_choice" in ir or "parallel_tool_calls" in ir)
    ):
        return {"tool_choice": ir}
    if unit == "message":
        return ir if isinstance(ir, list) else [ir]
    return ir


def _without_shared(ir: Any) -> Any:
    """Let a message or part that stands twice be two: they are told apart by identity."""
    whole = ir if isinstance(ir, dict) else {"messages": ir}
    found = [*list_at(whole, "messages"), *list_at(whole, "candidates")]
    found += [part for one in found for part in list_at(one, "parts")]
    return ir if len(set(map(id, found))) == len(found) else copied(ir)


def unit_shape(dialect: Dialect, unit: str) -> Shape:
    """Return the picture of a unit; raises UsageError where there is none."""
    if unit not in dialect.units:
        raise UsageError(f"{dialect.name} has no picture of a {unit}")
    return dialect.units[unit]


def conversation_of(dialect: Dialect) -> Conversation:
    """Return how messages are written; raises UsageError where there are none."""
    if dialect.conversation is None:
        raise UsageError(f"{dialect.name} has no conversation")
    return dialect.conversation


def request_hole(dialect: Dialect, field: str) -> tuple[Hole, Case]:
    """Return the hole of a field of a request; raises UsageError where there is none."""
    case = unit_shape(dialect, "request").cases[0]
    for hole in holes(case.wire):
        if hole.path == field or (hole.path == "." and hole.shape == field):
            return hole, case
    raise UsageError(f"{dialect.name} has no place for `{field}`")
