"""Writing parts of another kind within a text, between two marks: `within` reads them there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from ..language.intext import Marks
from ..language.ladder import apply
from . import share
from .citations import made_of, places_of
from .copies import replace_part, with_parts
from .jobs import Message, Part, Tries, WriteJob
from .within import CALL, THOUGHT, marks_in_items, marks_to_write, may_stand, shift_citation


def weave(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Return messages in which parts that have no other place stand within the texts."""
    marks = {} if writer.same else marks_to_write(writer.dialect)
    items = {} if writer.same else marks_in_items(writer.dialect)
    if not marks and not items:
        return messages
    out = []
    for message in messages:
        parts = message.get("parts", []) if message.get("role") == "assistant" else []
        kinds = {part.get("type") for part in parts}
        if items and len(parts) > 1 and kinds & {THOUGHT, "text"}:
            message = with_parts(writer, message, _weave_turn(writer, items, parts))
        elif not kinds.isdisjoint(marks):
            message = with_parts(writer, message, list(_join(writer, marks, parts)))
        out.append(message)
    return out


def _inner_text(writer: WriteJob, marks: Marks, part: Part) -> str | None:
    """Return what a part says in a text, down the ladder; None where it does not stand there."""
    if not may_stand(writer, part):
        return None
    for row in (None, *writer.ladder.get(marks.kind, ())):
        with Tries(writer):
            new, path = part, ""
            if row is not None:
                new, _, path = apply(row, part, writer.trail)
            said = marks.text(writer.shape(marks.shape or marks.kind, new))
            if row is not None:
                share.note_row(writer, row, part, path, new, [], None)
            return said
    return None


def _weave_turn(writer: WriteJob, marks: Mapping[str, Marks], parts: list[Part]) -> list[Part]:
    """Return the parts of a turn as one text: thoughts, what is said, and calls."""
    order = {THOUGHT: 0, "text": 1, CALL: 2}
    found = [
        (p, _inner_text(writer, marks[p["type"]], p) if p["type"] in marks else None) for p in parts
    ]
    spoken = [(part, said) for part, said in found if said is not None or part["type"] == "text"]
    rest = [part for part, said in found if said is None and part["type"] != "text"]
    if any(one["type"] == CALL for one in rest) or all(one["type"] == CALL for one, _ in spoken):
        return parts
    last = 0
    for part, _ in spoken:
        if order[part["type"]] < last:
            text = "what is said in one turn stands before its calls, and what is thought before it"
            writer.note_part("reordered", "moved", part, text, marks[CALL].pos)
        last = max(last, order[part["type"]])
    return [*rest, *_woven(writer, marks, sorted(spoken, key=lambda one: order[one[0]["type"]]))]


def _join(writer: WriteJob, marks: dict[str, Marks], parts: list[Part]) -> Iterator[Part]:
    """Yield parts with those between marks in texts: thoughts at the head, calls behind."""
    waiting: list[tuple[Part, str | None]] = []
    for part in parts:
        kind = part.get("type")
        said = _inner_text(writer, marks[kind], part) if kind in marks else None
        if said is None and kind != "text":
            yield from _woven(writer, marks, waiting)
            yield part
            waiting = []
            continue
        # A thought heads its text, and stands behind no other one.
        heads = () if kind == THOUGHT else (THOUGHT,)
        if kind != CALL and any(one["type"] not in heads for one, _ in waiting):
            yield from _woven(writer, marks, waiting)
            waiting = []
        waiting.append((part, said))
    yield from _woven(writer, marks, waiting)


def _woven(
    writer: WriteJob, marks: Mapping[str, Marks], parts: list[tuple[Part, str | None]]
) -> Iterable[Part]:
    """Return parts that stand in one text as that text."""
    if not parts or (len(parts) == 1 and parts[0][1] is None):
        return [part for part, _ in parts]
    now, cited = "", list[Part]()
    text = next((part for part, said in parts if said is None), None)
    kinds = ["", *(part["type"] for part, _ in parts), ""]
    for n, (part, said) in enumerate(parts, 1):
        if said is None:
            cited += [shift_citation(one, len(now)) for one in part.get("citations", ())]
            now += part["text"]
            continue
        one = marks[kinds[n]]
        many = one.many or kinds[n] == THOUGHT  # such neighbours stand between marks together
        if many and kinds[n - 1] == kinds[n]:
            now += "," if one.many else "\n\n"
        else:  # what parts it from words parts it from no mark
            before = f"{one.before}{'[' * one.many}"
            now += before.lstrip() if kinds[n - 1] in ("", THOUGHT) else before
        now += said
        if not (many and kinds[n + 1] == kinds[n]):
            now += f"{']' * one.many}{one.behind}"
    whole = text or {"type": "text"}
    fresh = {**whole, "text": now}
    if cited:
        fresh["citations"] = cited
    replace_part(writer, text or parts[0][0], fresh)
    for (one_before, _), (part, _) in pairwise(parts):
        if part["type"] == one_before["type"] != CALL:
            writer.replaced[id(part)] = (part, fresh)
            reason = f"two parts of the kind `{part['type']}` become one"
            rule = next(iter(marks.values())).pos
            writer.note_part("joined", "changed", part, reason, rule, now=fresh)
    fields = ((part, key) for part, _ in parts for key in part if key not in ("type", "spelled"))
    made_of(writer.trail, fresh, "text", places_of(writer.trail, *fields))
    return [fresh]
