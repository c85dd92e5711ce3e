"""Sums on the wire: solved for the term that nothing else gives, or checked; and written."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..language import picture as pic
from ..language.lenses import Misfit, guard
from ..language.picture import ABSENT, Hole
from ..notes import NOWHERE
from ..trail import At, pointer
from .env import Env, show, spell_nothing
from .jobs import ReadJob, WriteJob

if TYPE_CHECKING:
    from ..language.shape import Case
    from .views import View


@lru_cache(1024)
def fields_alone(case: Case) -> frozenset[str]:
    """Return the fields that have a hole of their own, no terms of a sum."""
    return frozenset(hole.path for hole in pic.holes(case.wire) if len(hole.paths) == 1)


def solve_sum(reader: ReadJob, h: Hole, wire: Any, at: At, rel: At, env: Env) -> bool:
    """Bind the first term of a sum that nothing else binds; check the sum otherwise.

    Returns False when there is no number that could be solved.
    """
    if wire is ABSENT or wire is None or not guard("integer", wire):
        return False
    single = fields_alone(env.case)
    made: Any = 0
    unknown: list[str] = []
    for path in h.paths:
        value = env.fields.get(path, (ABSENT, None))[0]
        if value is not ABSENT and not guard("number", value):
            return False
        if value is not ABSENT:
            made += value
        elif path not in single and path not in env.settled:
            unknown.append(path)
    env.settled.update(h.paths)
    if reader.recorder is not None:
        places = (env.fields[path][1] for path in h.paths if path in env.fields)
        reader.recorder.also[at] = [place for place in places if place is not None]
        reader.recorder.reads[at] = h
        if not unknown:
            reader.recorder.mark_redundant(at, "it is the sum of others", h.pos)
    if unknown and wire >= made:
        env.put(unknown[0], wire - made, at)
        return True
    if unknown:
        env.put(unknown[0], 0, at)
    if wire != made:
        env.spell(rel, wire, made)
        reason = f"{wire} stands where the parts make {made}"
        env.notes.append(("inconsistent", "changed", at, h.pos, reason))
    return True


def remember_unsolved(h: Hole, wire: Any, at: At, rel: At, env: Env) -> None:
    """Remember what stands where writing would put the sum of the other terms."""
    absent = wire is ABSENT or wire is None
    whole = guard("integer", wire)
    reason = (
        "a term of this sum is no number" if whole else f"expected a whole number, got {show(wire)}"
    )
    if h.mark is None or not (absent or env.lenient):
        raise Misfit(reason, at, h.pos)
    found = [env.fields[path][0] for path in h.paths if path in env.fields]
    found = [value for value in found if guard("number", value)]
    written = sum(found) if found else h.value if h.mark in ("default", "fill") else ABSENT
    spell_nothing(env.spelled, pointer(rel), wire, written)
    if not absent:
        env.keep(at, wire)
        env.notes.append(("unfit", "kept", at, h.pos, reason))


def total(h: Hole, view: View) -> Any:
    """Return the sum of a hole's terms, or ABSENT when none is there. Raises Misfit."""
    values = [view.peek(path) for path in h.paths]
    present = [v for v in values if v is not ABSENT and v is not None]
    for odd in (v for v in present if not guard("number", v)):
        raise Misfit(f"{show(odd)} is no number and cannot be added", (), h.pos)
    return sum(present) if present else ABSENT


def note_joined_terms(writer: WriteJob, h: Hole, view: View, into: Any) -> None:
    """Note the terms of a sum that nothing else says: the first of them is read as all."""
    only = [path for path in h.paths if path not in fields_alone(view.case) | view.settled]
    view.settled.update(h.paths)
    there = {path for path in h.paths if view.peek(path) not in (ABSENT, None)}
    for path in only[1:]:
        # Nothing changes where a zero is added to what is there.
        if not writer.same and path in there and (view.peek(path) != 0 or len(there) == 1):
            at = writer.trail.find(view.obj, view.source(path))
            reason = f"the target counts `{path}` as `{only[0]}`"
            writer.note("joined", "changed", at, h.pos, reason, *(into or NOWHERE))
