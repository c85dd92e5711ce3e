"""Lists: which hole takes which part, and what goes down the ladder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..ir import FUNCTION, GRAVE, OPAQUE
from ..language.ladder import Row, apply, owner_text, rows_to_try
from ..language.lenses import Misfit, same
from ..language.model import Dialect, once
from ..language.picture import Hole
from ..language.shape import Shape, fixed_words
from ..notes import NO_WORD, Weight, foreign, no_place
from . import elements, gathering, leftover, media, readhole
from .jobs import Tries, WriteJob
from .views import Gathered, blank, list_memory, memory_of

SAID_AGAIN = "parts stand before it that are said again here: it is read as one of these"


def share(
    writer: WriteJob, holes: list[Hole], parts: list[Any], whole: bool = False
) -> dict[int, list[Any]]:
    """Give each part of a list to the hole that takes it, going down the ladder.

    `whole` says that no text or media may be left out: the part around them steps down first.
    """
    shares: dict[int, list[Any]] = {id(h): [] for h in holes}
    order: list[int] = []
    for number, part in enumerate(parts):
        if writer.recorder is not None:
            writer.recorder.word(parts, number)
        writer.hole_counts = {key: len(found) for key, found in shares.items()}
        for hole, new, wire in give(writer, holes, part, whole):
            shares[id(hole)].append((new, wire))
            order.append(holes.index(hole))
            if len(order) > 1 and order[-1] < order[-2] and not writer.same:
                reason = "the target holds this before what stood before it"
                writer.note("reordered", "moved", writer.trail.find(new), hole.pos, reason, wire)
    if whole and not order and not writer.same:
        raise Misfit("nothing of the list has a place", (), holes[0].pos)
    note_said_twice(writer, holes, [shares[id(hole)] for hole in holes])
    for hole in holes:
        shares[id(hole)] = gathering.close_runs(writer, shares[id(hole)])
    return shares


def note_said_twice(writer: WriteJob, holes: Sequence[Hole], shares: list[list[Any]]) -> None:
    """Note parts of a hole that is read as theirs only where holes before it say nothing."""
    for number, h in enumerate(holes):
        said = [part for one in shares[:number] for part, _ in one] if "again" in h.lenses else ()
        if said and shares[number] and readhole.text_of(said, writer.dialect.kinds_of(h.named)):
            for part, _ in shares[number]:
                writer.note_part("inconsistent", "changed", part, SAID_AGAIN, h.pos)


def give(
    writer: WriteJob,
    holes: list[Hole],
    part: Any,
    whole: bool = False,
    refused: bool = False,
    lower: frozenset[str] = frozenset(),
    lacks: tuple[Misfit, set[str]] | None = None,
) -> list[tuple[Hole, Any, Any]]:
    """Write one part by the first hole that takes it; a lost part is noted.

    `refused` says that the part as it is was tried: why it is not taken matters only where no row
    of the ladder takes it, and may be known, with the fields that are not there (`lacks`). `lower`
    are fields that rows take and no picture: these come first.
    """
    if isinstance(part, dict) and part.get("type") == "unknown":
        return _give_unknown(writer, holes, part)
    if blank(writer, part, writer.role):
        writer.note_lost("empty-text", part, NO_WORD, holes[0].pos)
        return []
    kind = part.get("type", default_kind(holes[0])) if isinstance(part, dict) else ""
    rows = [row for row in writer.ladder.get(str(kind), ()) if row.needs <= part.keys()]
    if rows and _no_row_helps(writer, holes, part):
        rows = []
    start, came = len(writer.notes), part
    for row in rows if lower else ():
        if lower & row.before.names and (given := give_lower(writer, holes, part, whole, row)):
            return given
    # A row that adds what the part lacks asks why it was refused, which its function does not say.
    asked = lacks is None and any(row.adds and row.adds.isdisjoint(part) for row in rows)
    refused = refused and not asked
    direct: list[tuple[Hole, Any, Any]] = []
    best: Misfit | None = None
    writer.missing, mark = set() if lacks is None else lacks[1], start
    try:
        part = media.normalize(writer, part, holes[0].pos)
        mark = len(writer.notes)
        if not refused:
            direct, best = give_as_is(writer, holes, part)
    except Misfit as misfit:
        misfit.__traceback__ = None
        best = misfit
    # What was written may have lost a field for which the ladder has a row: that comes before it,
    # and if no such row can be gone down, what was written stays, with what it told.
    lost = {path for owner, path in writer.lost_fields if direct and owner == id(part)}
    drafts = writer.notes[mark:]
    for row in rows_to_try(rows, lost if direct else None, writer.missing):
        del writer.notes[mark:]
        if given := give_lower(writer, holes, part, whole, row):
            return given
    if not direct or lost & {"source", "output_ref"}:  # the caller may know what it stands for
        del writer.notes[mark:]
        if given := media.give_resolved(writer, holes, part, whole):
            return given
    if direct:
        writer.notes[mark:] = drafts
        return direct
    if best is None and lacks is not None:
        best = lacks[0]
    elif best is None:  # only now is the reason wanted; the walk may take what no function does
        direct, best = give_as_is(writer, holes, part)
        if direct:
            return direct
    if whole and kind != "native":
        raise best
    del writer.notes[start:]
    _note_no_place(writer, holes, part, kind, best)
    writer.lost_parts += [came] if came is part else [came, part]
    return []


def default_kind(hole: Hole) -> str | None:
    """Return the type that an element of a list has which says none."""
    return FUNCTION if hole.path == "tools" else hole.shape


def _give_unknown(writer: WriteJob, holes: list[Hole], part: Any) -> list[tuple[Hole, Any, Any]]:
    """Write what no picture describes where it stood at home; anywhere else it is lost."""
    wide = next((h for h in holes if "joined" not in h.lenses), None)  # no text alone
    wide = holes[0] if wide is None and writer.same else wide
    if wide is not None and part.get("dialect") == writer.dialect.name:
        read_by = list_memory(part, writer.dialect.name).get("hole")
        hole = next((h for h in holes if h.shape == read_by), wide)
        return [(hole, part, gathering.write_unknown(writer, part))]
    reason = "no picture describes this, and the target has no place for it"
    writer.note_lost("unknown-part", part, reason, holes[0].pos)
    writer.lost_parts.append(part)
    return []


def _note_no_place(writer: WriteJob, holes: list[Hole], part: Any, kind: Any, best: Misfit) -> None:
    """Note a part that neither a picture nor a row of the ladder takes."""
    code, reason = "no-place", f"the target has no place for this {kind}: {best.reason}"
    weight: Weight = "grave" if holes[0].path == "tools" or kind in GRAVE else ""
    if kind == "native":
        name, shapes = part.get("name"), [s for h in holes for s in writer.dialect.members(h.named)]
        runs = [gathering.run_hole(case) for s in shapes if s.groups for case in s.cases]
        shapes += [s for h in runs for s in writer.dialect.members(h.named)]
        code, weight, reason = "own-field", *_weigh_native(writer, part)
        if name in fixed_words((case for shape in shapes for case in shape.cases), "/name"):
            code, reason = "no-place", f"the target has no `{name}` of which this can be said"
    for field, value in _opaque_fields(part):
        if value.get("origin") != writer.dialect.origin[field]:
            code, reason = OPAQUE[field], f"{foreign(value.get('origin'))} {field}"
    known = part if isinstance(part, dict) else None  # of a bare value no place is known
    writer.note_lost(code, known, reason, best.pos or holes[0].pos, weight=weight)


def _no_row_helps(writer: WriteJob, holes: list[Hole], part: Any) -> bool:
    """Tell whether no step down the ladder makes of a part what these holes take, by its type."""
    if any(members(writer.dialect, hole.named, part.get("type"), True) for hole in holes):
        return False
    kinds = [part.get("type")] if isinstance(part, dict) else []
    for kind in kinds:  # which grow
        for row in writer.ladder.get(str(kind), ()):
            if row.becomes is not None and row.becomes not in kinds:
                kinds.append(row.becomes)
    taken = frozenset[Any]().union(*(writer.dialect.taken_by(hole.named) for hole in holes))
    return None not in taken and all(isinstance(k, str) and k not in taken for k in kinds)


def _weigh_native(writer: WriteJob, part: dict[str, Any]) -> tuple[Weight, str]:
    """Weigh a part that no other dialect has, and name it: by name, its kind, or the key it has."""
    family, own = next(iter(part.get("own", {}).items()), ("", {}))
    weights = [leftover.weigh_own(writer, "native", family, k, v) for k, v in own.items()]
    if weights and "name" not in part and all(weight for weight, _ in weights):
        return weights[0]  # it is nothing but these
    source = writer.trail.source
    whose = source.name if source is not None and source.family == family else family
    kept = [key[1:] for one in part.get("kept", {}).values() for key in one]
    words = [part.get("name"), *own.values(), *own, *kept, "native"]
    word = next(word for word in words if isinstance(word, str))
    alone = whose and "/" not in word  # else others may have one of this name
    return "", f"`{word}` is of {whose} alone" if alone else f"the target has no `{word}`"


def _opaque_fields(part: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return what inside of a part only its origin can read."""
    inside = [v for v in part.values() if isinstance(v, dict)] if isinstance(part, dict) else []
    return [(k, v) for one in inside for k, v in one.items() if k in OPAQUE and isinstance(v, dict)]


def only_read(dialect: Dialect, holes: list[Hole], h: Hole, kind: Any) -> bool:
    """Tell whether parts of a type that a hole writes remember that they stood there.

    So it is where its cases for them are only read, and another hole stands before it.
    """
    rivalled = elements.rivalled(dialect, holes, h)
    return bool(rivalled) and not members(dialect, h.named, kind, home=False)


def give_as_is(
    writer: WriteJob, holes: list[Hole], part: Any
) -> tuple[list[tuple[Hole, Any, Any]], Misfit]:
    """Write one part as it is by the first hole that takes it; else tell why none does."""
    best = Misfit("nothing takes it")
    tries = Tries(writer, best)
    writer.missing, places, nth = set(), writer.hole_counts, writer.nth
    read_by = None
    if (len(holes) > 1 or holes[0].only_read) and isinstance(part, dict):
        # What an exchange puts back among the parts of another dialect has its memory with it.
        if read_by := list_memory(part, writer.dialect.name).get("hole"):
            holes = sorted(holes, key=lambda hole: hole.shape != read_by)
        elif writer.same:  # what remembers nothing may be new here
            kind = part.get("type")
            holes = sorted(holes, key=lambda hole: only_read(writer.dialect, holes, hole, kind))
    for hole in holes:
        if hole.only_read and hole.shape != read_by:
            continue
        assert hole.shape is not None
        writer.lost_fields, writer.nth = [], places.get(id(hole), 0)
        marks = {} if writer.lone_element else writer.dialect.marks_of(hole.shape)
        wanted = [field for field in marks if isinstance(part, dict) and field in part]
        if wanted:
            writer.mark_fields[id(part)] = dict.fromkeys(wanted, False)
        try:
            with tries:
                found = [(hole, part, write_member(writer, hole.shape, part))]
                return found + give_marks(writer, hole, part, marks), best
        finally:
            writer.mark_fields.pop(id(part), None)
            writer.nth = nth
    return [], tries.best or best


def give_marks(
    writer: WriteJob, hole: Hole, part: Any, marks: dict[str, Shape]
) -> list[tuple[Hole, Any, Any]]:
    """Write the fields of a part that stand here as elements of their own, right after it."""
    found = []
    for field, free in writer.mark_fields.get(id(part), {}).items():
        if not free:  # a picture took it, or wanted nothing of it
            continue
        tries = Tries(writer)
        with tries:
            found.append((hole, part[field], writer.one(marks[field], part[field])))
        if (why := tries.best) is not None:
            reason = f"{no_place(field)}: {why.reason}"
            writer.note_lost("no-place", part, reason, why.pos or hole.pos, field)
    return found


def give_lower(
    writer: WriteJob, holes: list[Hole], part: Any, whole: bool, row: Row
) -> list[tuple[Hole, Any, Any]]:
    """Take one step down the ladder and write what comes of it; nothing if that fails."""
    with Tries(writer):
        new, beside, path = apply(row, part, writer.trail)
        if not beside and same(new, part):
            return []  # the row has nothing left to do; another step would be the same again
        if id(part) in writer.made:
            writer.made.add(id(new))
        put_beside(writer, row, part, beside)
        given = give(writer, holes, new, whole)
        if not given:
            raise Misfit("nothing takes it")
        writer.written[id(part)] = (part, given[0][2])
        writer.stepped_down[id(part)] = part, new
        if new.get("type") != part.get("type"):
            writer.became[id(new)] = new
        note_row(writer, row, part, path, new, beside, given[0][2])
        return given
    return []


def put_beside(writer: WriteJob, row: Row, part: Any, beside: list[Any]) -> None:
    """Let parts leave what holds them, behind a text that says whose they are."""

    def fit(field: str) -> Any:
        kind, said = writer.limits.kind(part, field), part.get(field)
        return said if kind is None else writer.limits.fit(kind, said)

    text = owner_text(row, part, fit) if beside else None
    if row.whose is not None and text is not None:
        label = {"type": "text", "text": text}
        writer.labels[id(label)] = (label, row.whose.pos)
        writer.beside.append(label)
    writer.beside.extend(beside)


def note_row(
    writer: WriteJob, row: Row, part: Any, path: str, new: Any, beside: list[Any], wire: Any
) -> None:
    """Note a step of the ladder, and what it left behind."""
    writer.note_step(row, part, path, wire.wire if isinstance(wire, Gathered) else wire)
    _, last = writer.rows.get(id(new), (new, row.name))  # another row may have followed this one
    writer.rows[id(part)] = (part, last)
    for block in _blocks_lost(part, new, beside):
        kind = block.get("type")
        code = {"native": "own-field", "unknown": "unknown-part"}.get(str(kind), "no-place")
        why = f"the target has no place for this {kind}"
        weight: Weight = "grave" if kind in GRAVE else ""
        writer.note_lost(code, block, why, row.pos, weight=weight)
    for block in beside:
        if writer.lone_element:
            why = "media have no place in a result here, and nothing stands beside a single one"
            writer.note_lost("no-place", block, why, row.pos)
            continue
        why = "what holds it has no media here: it stands in a user's message"
        writer.note_part("moved", "moved", block, why, row.pos)


def _blocks_lost(old: Any, new: Any, beside: list[Any]) -> list[dict[str, Any]]:
    """Return the blocks that a step of the ladder left behind; text may have been joined.

    A block whose own object is there now, such as the source of a picture, is not left, and
    objects in a list of data are no blocks.
    """
    kept = {id(block) for block in beside}
    found = []
    for key, value in old.items():
        if key == "value" and old.get("kind") == "data":
            continue
        now = new.get(key)
        if isinstance(value, dict) and isinstance(now, dict):
            found += _blocks_lost(value, now, beside)
        if not isinstance(value, list) or not all(isinstance(b, dict) for b in value):
            continue
        kept.update(id(block) for block in (now if isinstance(now, list) else ()))
        joined = isinstance(now, str)
        found += [
            block
            for block in value
            if id(block) not in kept
            and not (joined and block.get("type") == "text")
            and not any(one is new for one in block.values())
        ]
    return found if found and any(new.get(k) is not v for k, v in old.items()) else []


def write_member(writer: WriteJob, name: str, part: Any) -> Any:
    """Write one element of a list by a shape, union or gathering member."""
    if not isinstance(part, dict):
        return writer.shape(name, part)
    kind = part.get("type")
    shapes = members(writer.dialect, name, kind if isinstance(kind, str) else None, writer.same)
    if writer.same:  # first those by which it may have been read; repair leaves what is only read
        memory, asked = memory_of(part, writer.dialect.name), writer.repair_asked
        run, read = memory.get("../", {}).get("run"), memory.get("", {}).get("case")

        def unlike(shape: Shape) -> tuple[bool, bool]:
            here = any(case.name == read and not (asked and case.home) for case in shape.cases)
            return shape.name != run, not here

        shapes = sorted(shapes, key=unlike)
    tries = (
        partial(gathering.write_piece, writer, shape, part)
        if shape.groups
        else partial(writer.one, shape, part)
        for shape in shapes
    )
    return writer.first_of(tries, f"`{name}` has no member")


@once
def members(dialect: Dialect, name: str, kind: Any, home: bool) -> list[Shape]:
    """Return the members that write parts of a type; one that is only read does so at home."""
    found = []
    # What is of no type is a function, and is tried for types that no member is of, too.
    kinds = {kind} if kind != FUNCTION and kind in dialect.taken_by(name) else {kind, None}
    for shape in dialect.members(name):
        if shape.groups and (kind is None or kind in shape.groups):
            inner = (gathering.run_hole(case).named for case in shape.cases)
            writes = home or any(members(dialect, one, kind, home) for one in inner)
        else:
            cases = [c for c in shape.cases if not kinds.isdisjoint(c.kinds or (shape.kind,))]
            writes = not shape.groups and any(home or not c.home for c in cases)
        if writes and not shape.marks:
            found.append(shape)
    return found
