"""Choosing: which case of a shape writes a value, so that it reads back as what was meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..ir import less, owned
from ..language import picture as pic
from ..language.lenses import EXACT, Misfit, deepest, is_guard
from ..language.measure import disjoint
from ..language.model import Dialect, once
from ..language.picture import ABSENT, Hole, Literal, Picture
from ..language.shape import Case, Shape
from ..notes import Draft
from ..trail import value_at
from .jobs import WriteJob
from .views import alike, memory_of, read_by

HOLDING = ("result", "value")  # of a call, and of a result


class Attempt(NamedTuple):
    """What one case wrote, what that loses, and all that was noted meanwhile."""

    wire: Any
    loss: int
    notes: list[Draft]
    lost_fields: list[tuple[int, str]]
    beside: list[Any]
    lost_parts: list[Any]


def write_by_cases(writer: WriteJob, shape: Shape, value: Any) -> Any:
    """Write a value by the best case of a shape; raises the deepest Misfit where none takes it.

    A case that loses nothing and reads back as what was meant is taken at once. Else it is the one
    that loses least (`lossy`), or at last the first that would be read otherwise (`misread`).
    """
    best: Misfit | None = None
    misread: tuple[Case, Attempt] | None = None
    lossy: Attempt | None = None
    marks = writer.marks()
    cases, loose, dated = _order(writer, shape, value)
    for case in cases:
        try:
            wire = writer.case(shape, case, value)
        except Misfit as misfit:
            writer.roll_back(*marks)
            best = deepest(best, misfit)
            continue
        if dated and loose is None:
            loose = case  # by which it was read, but for what may not be written
        if _rivals(writer, shape, case) and not reads_back(writer, shape, wire, value):
            misread = misread or (case, less_lossy(writer, None, 0, wire, *marks))
            writer.roll_back(*marks)
            continue
        lost = loss(writer, marks[0])
        if not lost or (lossy is None and _holds_most(writer, shape, case, value)):
            if loose is not None and case is not loose:
                reason = f"this is only read as `{loose.name}`, and written as `{case.name}`"
                at = writer.trail.find(value)
                writer.note("reworded", "changed", at, case.pos, reason, wire)
            return wire
        # Another case may have a place for what this lost.
        lossy = less_lossy(writer, lossy, lost, wire, *marks)
        writer.roll_back(*marks)
    if lossy is not None:
        return take(writer, value, lossy)
    if misread is None:
        raise best or Misfit(f"`{shape.name}` has no case")
    return _take_misread(writer, shape, value, *misread)


def less_lossy(
    writer: WriteJob, before: Attempt | None, lost: int, wire: Any, *marks: int
) -> Attempt:
    """Return of two attempts the one that loses less: that `before`, and what was written now."""
    if before is not None and before.loss <= lost:
        return before
    notes, fields, beside, parts = marks
    noted = writer.notes[notes:], writer.lost_fields[fields:]
    return Attempt(wire, lost, *noted, writer.beside[beside:], writer.lost_parts[parts:])


def take(writer: WriteJob, value: Any, attempt: Attempt) -> Any:
    """Return what a case wrote that was taken back, and say after all what it noted."""
    writer.written[id(value)] = (value, attempt.wire)  # another case may have been tried last
    writer.notes += attempt.notes
    writer.lost_fields += attempt.lost_fields
    writer.beside += attempt.beside
    writer.lost_parts += attempt.lost_parts
    return attempt.wire


def _take_misread(writer: WriteJob, shape: Shape, value: Any, case: Case, attempt: Attempt) -> Any:
    """Return what a case wrote that the target reads as something else, and note that."""
    # What the case itself says of it is less than what is found out here.
    known = [draft for draft in attempt.notes if draft.code != "ambiguous"]
    wire = take(writer, value, attempt._replace(notes=known))
    if writer.same and not (writer.repair or writer.anew):
        return wire
    read = _read_back(writer, shape, wire)
    moved = any(draft.code == "reordered" for draft in attempt.notes)
    if not _differs_as_noted(writer, read, value, moved):
        reason = f"the target reads this as {_describe(read, value)}"
        at = writer.trail.find(value) if isinstance(value, dict) else None
        writer.note("ambiguous", "changed", at, case.pos, reason, wire)
    return wire


def _holds_most(writer: WriteJob, shape: Shape, case: Case, value: Any) -> bool:
    """Tell whether no other case has a place for anything that this one may have none for."""
    if not isinstance(value, dict):
        return len(shape.cases) == 1
    return not any_there(value, elsewhere(writer.dialect, shape, case))


@once
def elsewhere(dialect: Dialect, shape: Shape, case: Case) -> tuple[str, ...]:
    """Return the IR paths that other cases have a place for, and this one may have none for."""
    mine = set(_places(dialect, case))
    sure = {place[0] for place in mine if place[-1] is None and _takes_whole(place)}
    written = (one for one in shape.cases if one is not case and not one.home)
    others = {place for one in written for place in _places(dialect, one)}
    return tuple(sorted({place[0] for place in others - mine if place[0] not in sure}))


def any_there(o: Any, paths: tuple[str, ...]) -> bool:
    """Tell whether something stands at one of some paths of an object."""
    return any(is_there(o, path) if "." in path else o.get(path) is not None for path in paths)


def is_there(o: Any, path: str) -> bool:
    """Tell whether something stands at a path: what nothing stood at was not taken."""
    return value_at(o, path.split(".")) is not None


def _takes_whole(place: tuple[Any, ...]) -> bool:
    """Tell whether nothing of a value is lost where it is taken."""
    if place[1] == "ir":
        return True
    return place[2] is None and all(is_guard(one) or one in EXACT for one in place[1])


def _places(dialect: Dialect, case: Case) -> Iterator[tuple[Any, ...]]:
    """Yield the IR paths that a case has places for, with what it takes there and the mark."""
    within = {} if case.ir is None else dict(_named_within(case.ir))
    within = {name: owned(path, dialect.family) for name, path in within.items()}
    for path in within.values():
        yield path, "ir", None
    for hole in pic.holes(case.wire):
        if hole.path == ".":
            for _, inner in dialect.cases_of(hole.named):
                for place in _places(dialect, inner):
                    yield (*place[:-1], "")  # one case of several takes it
        for path in hole.paths if hole.path != "." else ():
            where = within.get(path) or owned(path, dialect.family)
            yield where, hole.lenses, hole.mode, hole.shape, hole.mark


def _named_within(picture: Picture) -> Iterator[tuple[str, str]]:
    """Yield what an `ir` picture names, or the path of a fixed word, with its path in the IR."""
    for at, p in pic.placed(picture):
        path = ".".join(at)
        if isinstance(p, Hole):
            yield p.path, path
        elif isinstance(p, pic.Text):
            yield from ((name, path) for name in p.names)
        elif isinstance(p, Literal):
            yield path, path


def _rivals(writer: WriteJob, shape: Shape, case: Case) -> bool:
    """Tell whether another case might read what this one writes; abroad none that is only read."""
    if not case.rivals or not (writer.same or sum(not one.home for one in shape.cases) > 1):
        return False
    # What stands in a whole is read back by itself.
    return shape.name not in writer.dialect.units or bool(earlier_rivals(shape, case))


def earlier_rivals(shape: Shape, case: Case) -> list[Case]:
    """Return the cases that stand before one and could read what it writes."""
    earlier = shape.cases[: shape.cases.index(case)]
    return [one for one in earlier if not disjoint(one.sides[1], case.sides[1])]


def _order(writer: WriteJob, shape: Shape, value: Any) -> tuple[list[Case], Case | None, bool]:
    """Return the cases in the order in which they are tried: at home the remembered one first.

    With them, where repair is asked for, the case that is only read by which the value was read: it
    comes last then, for repair writes the usual form. And whether there is a field that may not be
    written, for the dialect only reads it: nor may another case that is only read.
    """
    cases = [case for case in shape.cases if not (case.refused and writer.repair_asked)]
    if not (writer.same and isinstance(value, dict)):
        return cases, None, False
    name, loose = read_by(writer, value), None
    if writer.repair:
        loose = next((case for case in shape.cases if case.home and case.name == name), None)
    memory = memory_of(value, writer.dialect.name) if writer.repair_asked else {}
    dated = any("old" in entry for entry in memory.values())
    cases = [case for case in cases if not (dated and case.home and case is not loose)]
    return sorted(cases, key=lambda c: (loose is None and c.name != name, c.home)), loose, dated


def case_that_writes(
    writer: WriteJob, shape: Shape, value: Any, read: Case | None, first: bool = False
) -> Case | None:
    """Return the case that would write a value; a whole one that was `read` needs no trial.

    Of the fields of an object around it (`$. as SHAPE`) the `first` that fits is written.
    """
    for case in sorted(shape.cases, key=lambda c: c.home):
        if case is read and not case.rivals and not case.home:
            return case  # none before it does
        mark = len(writer.notes)
        try:
            wire = writer.case(shape, case, value)
            if first or not case.rivals or reads_back(writer, shape, wire, value):
                return case
        except Misfit:
            pass  # the next one may
        finally:
            del writer.notes[mark:]
    return None


def reads_back(writer: WriteJob, shape: Shape, wire: Any, value: Any) -> bool:
    """Tell whether a written value is read as what was meant."""
    read = _read_back(writer, shape, wire)
    for path in writer.filled_fields.get(id(value), (value, ()))[1]:
        read = less(read, path.split("."))
    known = writer.rewordings
    return alike(read, value, known) or alike(read, _as_limited(writer, value), known)


def _as_limited(writer: WriteJob, value: Any) -> Any:
    """Return a value with its name and ids as the limits let them be written.

    What it holds, a result or blocks, is as the ladder let it be: this has notes of its own.
    """
    if not isinstance(value, dict) or not (writer.limits.limits or writer.stepped_down):
        return value
    fitted = dict(value)
    if writer.stepped_down:
        fitted.update((key, _stepped(writer, fitted[key])) for key in HOLDING if key in fitted)
    for key in ("name", "id", "tool_call_id"):
        if key in value and (kind := writer.limits.kind(value, key)):
            fitted[key] = writer.limits.fit(kind, value[key])
    return fitted


def _stepped(writer: WriteJob, value: Any) -> Any:
    """Return a result, or a list of blocks, as rows of the ladder made it."""
    if isinstance(value, list):
        return [_stepped(writer, one) for one in value]
    while id(value) in writer.stepped_down:
        value = writer.stepped_down[id(value)][1]
    return value


def _read_back(writer: WriteJob, shape: Shape, wire: Any) -> Any:
    """Return what a written value is read as; ABSENT where it is read as nothing."""
    cases = [(shape, c) for c in shape.cases]
    # What was kept because it fits nothing stands there again.
    for lenient in (False, True) if writer.same else (False,):
        try:
            return writer.reader().first(cases, wire, (), lenient)
        except Misfit:
            continue
    return ABSENT


def _describe(found: Any, value: Any) -> str:
    """Say what a written value reads as, where that is not what was meant."""
    if found is ABSENT:
        return "nothing that it knows"
    if isinstance(found, dict) and isinstance(value, dict):
        for key in ("kind", "type"):
            if key in found and found[key] != value.get(key):
                return f"`{found[key]}`, not `{value.get(key)}`"
    return "something else"


def _differs_as_noted(writer: WriteJob, read: Any, value: Any, moved: bool) -> bool:
    """Tell whether only made ids, lost parts and the order of parts that were `moved` differ.

    These have notes of their own.
    """
    read, value = (_comparable(writer, one, moved) for one in (read, value))
    return alike(read, value, writer.rewordings)


def _comparable(writer: WriteJob, value: Any, moved: bool) -> Any:
    """Return a value without made ids and lost parts; parts of one type stand together if moved."""
    if isinstance(value, dict):
        rest = {k: _comparable(writer, v, moved) for k, v in value.items()}
        return {k: v for k, v in rest.items() if not (isinstance(v, str) and v in writer.made_ids)}
    if isinstance(value, list):
        gone = {id(part) for part in writer.lost_parts}
        inner = [_comparable(writer, one, moved) for one in value if id(one) not in gone]
        if moved and all(isinstance(one, dict) for one in inner):
            inner.sort(key=lambda one: str(one.get("type")))
        return inner
    return value


def loss(writer: WriteJob, mark: int) -> int:
    """Return how much was lost since there were so many notes."""
    return sum(map(weight, writer.notes[mark:]))


def weight(draft: Draft) -> int:
    """Weigh a loss: what two dialects could share is worse to lose than what one alone has."""
    if draft.effect != "lost":
        return 0
    return 1 if draft.code in ("own-field", "unknown-key", "foreign-signature") else 100
