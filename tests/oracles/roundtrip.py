"""Go from one dialect to another and back: calls, arguments, results, ids and order stay.

What is compared was found on the wire (`wire.items`), so an engine that reads nothing and carries
everything does not pass: between the two conversions stands a body of the other dialect, and its
calls are compared as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from .leaves import same, touches, value_at
from .perturb import ConversionLike, NoteLike, steps_of
from .wire import Item, items

Json = Any


def losses(
    source: str, target: str, unit: str, body: Json, there: ConversionLike, back: ConversionLike
) -> list[str]:
    """Name every difference after going there and back that no note of the two names."""
    start = items(source, unit, body)
    middle = items(target, unit, there.body)
    # Where an item has a name of its own, that is made as well: it is not the id of the call.
    noted = [
        (note.target_path, _value(there.body, note.target_path))
        for note in there.notes
        if note.code == "made-id"
    ]
    made = {
        item.id
        for item in middle
        for path, value in noted
        if item.id and touches(path, item.pointer) and value in (item.id, None)
    }
    # An id that the first conversion made and noted is none to the dialect that had none.
    end = [
        replace(item, id=None) if item.id in made else item
        for item in items(source, unit, back.body)
    ]
    found: list[str] = []
    for kind in ("call", "result"):
        one, two, three = (_of(kind, some) for some in (start, middle, end))
        found.extend(f"there: {p}" for p in _misses(one, two, there.notes, (), kind == "call"))
        found.extend(f"back: {p}" for p in _missing(one, two, three, there.notes, back.notes))
    for group in ("system", "talk"):
        one, two, three = (_texts(group, some) for some in (start, middle, end))
        # Texts that became one stand in lines.
        lines = any(note.code == "joined" for note in there.notes)
        if _said(one, lines) != _said(three, lines):
            found.extend(f"back: {p}" for p in _missing(one, two, three, there.notes, back.notes))
    return found


def _said(found: Sequence[Item], lines: bool) -> str:
    """Return what texts say together; where they stand in `lines`, without their ends."""
    said = "".join(str(item.value) for item in found)
    return said.replace("\n", "") if lines else said


def _value(body: Json, pointer: str | None) -> Json:
    """Return the text that a note names in a body; None where it names none."""
    steps = None if pointer is None else steps_of(pointer, body)
    value = None if steps is None else value_at(body, steps)
    return value if isinstance(value, str) else None


def _of(kind: str, found: Sequence[Item]) -> list[Item]:
    return [item for item in found if item.kind == kind]


def _texts(group: str, found: Sequence[Item]) -> list[Item]:
    return [item for item in found if item.kind == "text" and item.group == group and item.value]


def _misses(
    left: Sequence[Item],
    right: Sequence[Item],
    notes: Sequence[NoteLike],
    more: Sequence[NoteLike],
    values: bool,
) -> Iterator[str]:
    """Compare the items of the two sides of one conversion."""
    if len(left) != len(right):
        named = [i for i in left if _named(i, None, None, notes, more)]
        # A call without a result is answered by the rule, and that is noted.
        answered = 0 if values else sum(note.code == "answered" for note in notes)
        if len(right) - answered not in (len(left), len(left) - len(named)):
            where = left[0].pointer if left else right[0].pointer
            yield f"{where}: {len(left)} {(left or right)[0].kind}s became {len(right)}"
        return
    for a, b in zip(left, right, strict=True):
        wrong = _wrong(a, b, values)
        if wrong and not _named(a, b, None, notes, more):
            yield f"{a.pointer}: the {wrong} of a {a.kind} differs at {b.pointer}"


def _wrong(a: Item, b: Item, values: bool) -> str | None:
    if a.id is not None and a.id != b.id:
        return "id"
    if a.name is not None and b.name is not None and a.name != b.name:
        return "name"
    return "value" if values and not same(a.value, b.value) else None


def _missing(
    start: Sequence[Item],
    middle: Sequence[Item],
    end: Sequence[Item],
    there: Sequence[NoteLike],
    back: Sequence[NoteLike],
) -> Iterator[str]:
    """Compare the items of a body with those that came back, aligned by what they say."""
    paired = len(start) == len(middle)
    keys = [_key(item) for item in start], [_key(item) for item in end]
    matcher = SequenceMatcher(None, *keys, autojunk=False)
    changed = [codes for codes in matcher.get_opcodes() if codes[0] != "equal"]
    gone = {keys[0][n]: n for _, a0, a1, _, _ in changed for n in range(a0, a1)}
    answered = sum(note.code == "answered" for note in there)  # by the rule, and noted
    for _, a0, a1, b0, b1 in changed:
        for offset in range(max(a1 - a0, b1 - b0)):
            a = start[a0 + offset] if a0 + offset < a1 else None
            c = end[b0 + offset] if b0 + offset < b1 else None
            # What came in here and went away there has moved.
            at = a0 + offset if a is not None else gone.get(keys[1][b0 + offset])
            b = middle[at] if at is not None and paired else None
            if b is None and a is None and c is not None:
                b = next((item for item in middle if _key(item) == _key(c)), None)
            if _named(a, b, c, there, back):
                continue
            if a is None:
                assert c is not None
                if c.kind == "result" and answered > 0:
                    answered -= 1
                    continue
                yield f"{c.pointer}: a {c.kind} came out of nowhere"
            elif c is None:
                yield f"{a.pointer}: a {a.kind} did not come back"
            else:
                wrong = _wrong(a, c, True) or "id"
                yield f"{a.pointer}: the {wrong} of a {a.kind} came back different"


def _key(item: Item) -> str:
    return repr((item.kind, item.id, item.name, _ordered(item.value)))


def _ordered(value: Json) -> Json:
    if isinstance(value, dict):
        return sorted((key, _ordered(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return [_ordered(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _named(
    a: Item | None,
    b: Item | None,
    c: Item | None,
    there: Sequence[NoteLike],
    back: Sequence[NoteLike],
) -> bool:
    """Say whether a note of either conversion names an item, on whichever side it can be named."""
    sides = ((a, there, "source_path"), (b, there, "target_path"),
             (b, back, "source_path"), (c, back, "target_path"))  # fmt: skip
    return any(
        item is not None and touches(getattr(note, side), item.pointer)
        for item, notes, side in sides
        for note in notes
    )
