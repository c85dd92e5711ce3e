"""Holes that are made of the object's own fields: `$. as SHAPE`, read and written."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Any

from ..ir import DERIVED
from ..language.ladder import Row, apply, replaces
from ..language.lenses import Misfit, same
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture, keyed
from ..language.shape import Case, Shape
from ..notes import NOWHERE
from ..tagged import Several
from ..trail import At, pointer
from . import building, demands, readhole
from .env import Env
from .jobs import ReadJob, Tries, WriteJob
from .views import View, Written

# What remembers the case that was read: at a key, and of keys that stand among those of a case.
WORDS = ("case", "within")


def read(reader: ReadJob, h: Hole, wire: Any, at: At, rel: At, env: Env, spread: bool) -> None:
    """Read a hole that is made of the object's own fields."""
    tries = Tries(reader)
    for lenient in (False, True) if env.lenient else (False,):
        for shape, case in reader.dialect.cases_of(h.named):
            with tries:
                inner = reader.case(case, wire, at, lenient, env, rel)
                seen = {**env.fields, **inner.fields}
                _agree(case.ir, "", env)
                building.check_literals_within(case, inner)
                made: dict[str, Any] = {}
                shadow = Env(env.base, case, lenient)
                shadow.fields = inner.fields
                building.check_tests(case, seen, env)
                building.fill(reader, made, case.ir, shadow)
                env.join(inner)
                if case.doubles and not reader.probe:
                    if case_to_write(reader, shape, made, seen) is not case:
                        env.mark(rel, WORDS[spread], case.name)
                        building.note_case_read(reader, case, at)
                places = [(*at, key) for key in wire] if spread and isinstance(wire, dict) else []
                around = Several.of(places) if places else at
                take_over(reader, made, inner, env, around, objects_said(case))
                return
    best = tries.best or Misfit("nothing fits", at, h.pos)
    if not env.lenient or h.mark is None:
        raise best
    readhole.keep(h, wire, at, rel, env, best, spread)


def case_to_write(reader: ReadJob, shape: Shape, made: dict[str, Any], seen: dict[str, Any]) -> Any:
    """Return the case that writing would choose for what was read."""
    around = {path: value for path, (value, _) in seen.items() if "." not in path}
    around |= {key: value for key, value in made.items() if key != "own"}
    return building.case_to_write(reader, shape, around, None, first=True)


def _agree(ir: Picture | None, path: str, env: Env) -> None:
    """Check that no literal of the `ir` picture contradicts what a neighbour found."""
    for (name, *_), child in keyed(ir):
        here = f"{path}.{name}" if path else name
        if isinstance(child, Fields):
            _agree(child, here, env)
        elif isinstance(child, Literal) and here in env.fields:
            value = env.fields[here][0]
            if child.values[0] is ABSENT or not any(same(value, v) for v in child.values):
                raise Misfit(f"`{here}` says something else", env.base, child.pos)


@lru_cache(1024)
def objects_said(case: Case) -> dict[str, frozenset[str]]:
    """Return the objects of which a case says something itself, by its `ir` picture, and what."""
    pictures = ((names[0], keyed(child)) for names, child in keyed(case.ir))
    said = {name: frozenset(names[0] for names, _ in found) for name, found in pictures}
    return {name: names for name, names in said.items() if names}


def take_over(
    reader: ReadJob,
    made: dict[str, Any],
    inner: Env,
    env: Env,
    at: At,
    said: dict[str, frozenset[str]],
) -> None:
    """Hand on what the inner picture made to the object around it.

    Of some objects the picture has `said` more itself: they are from where all of it stands.
    """
    for key, value in made.items():
        if key == "own":
            for name, own in value.get(reader.dialect.family, {}).items():
                env.put(f"own.{name}", own, inner.fields.get(f"own.{name}", (0, at))[1])
            continue
        where = reader.trail.find(made, key) or inner.fields.get(key, (0, at))[1] or at
        if key in said and key in inner.fields and isinstance(value, dict):
            if reader.trail.find(value) is None:  # else it was read as a whole, and knows its place
                for name in value.keys() - said[key]:
                    reader.trail.put(value, name, where)
                where = at
        if reader.recorder is not None and (text := reader.recorder.made_of.get((id(made), key))):
            where = Several.of([where, *(one for one in text[1] if one != where)])
        old = env.fields.get(key, (0,))[0]
        if isinstance(value, dict) and isinstance(old, dict):
            building.merge(reader, old, value, where)
            continue
        env.put(key, value, where)


def write(writer: WriteJob, h: Hole, view: View, rel: At, into: Any) -> Any:
    """Write a hole that is made of the object's own fields."""
    tries = Tries(writer)
    refused: dict[str, Any] = {}  # what repair leaves out, unless a rung has a place for it
    for obj, row, path in rungs(writer, h.named, view, refused):
        found = writer.quick_fields(h, obj, into)
        if found is ABSENT or (found is None and h.mark is None):  # then the pictures say why
            found = _by_cases(writer, h, obj, view, rel, into, tries, refused)
        if found is None:
            continue
        wire, claims = found
        view.claims.update(claims)
        view.refused.update(refused)
        if row is not None:
            note_rung(writer, view, obj, row, path, note_target(wire, into))
        return wire
    if h.mark is not None:
        view.refused.update(refused)
        return ABSENT
    raise tries.best or Misfit("nothing fits", rel, h.pos)


def _by_cases(
    writer: WriteJob,
    h: Hole,
    obj: dict[str, Any],
    view: View,
    rel: At,
    into: Any,
    tries: Tries,
    refused: dict[str, Any],
) -> tuple[Any, set[str]] | None:
    """Write the fields of an object by the first case that fits, with what it took; None else."""
    spread = into is not None and into[1] is None
    cases = writer.dialect.cases_of(h.named)
    if writer.same:  # what is only read comes last, unless it was read
        name = view.memory.get(pointer(rel), {}).get(WORDS[spread])
        cases = [pair for pair in cases if not (pair[1].refused and writer.repair_asked)]
        cases.sort(key=lambda pair: (pair[1].name != name, pair[1].home))
    else:
        cases = [pair for pair in cases if not pair[1].home]
    for shape, case in cases:
        inner = View(obj, shape.name, case, writer)
        with tries:
            inner.match(case.ir, obj)
            mark = len(writer.notes)
            wire = writer.picture(case.wire, inner, rel, top=True)
            refused.update(inner.refused)
            empty = wire is ABSENT or (wire == {} and not (writer.same and h.mark is None))
            # What is there says something where a case is for it, though nothing is taken.
            says = case.tests and not writer.same
            marked = h.mark is not None and not says and not _is_remembered(view, rel, wire)
            if not inner.claims and (empty or marked):
                raise Misfit("nothing is written", rel, case.pos)
            if writer.recorder is not None:
                writer.recorder.bare(wire, Written(case.wire, inner, rel))
            writer.place_field_notes(wire, inner.claims, into)
            place_word_notes(writer, mark, wire, into)
            if case.note is not None and not writer.same:
                at = first_place(writer, obj, inner.claims)
                writer.note_case(case, at, *note_target(wire, into))
            return wire, inner.claims
    return None


def _is_remembered(view: View, rel: At, wire: Any) -> bool:
    """Tell whether some of what is written stands there from memory."""
    keys = wire if isinstance(wire, dict) and view.memory else ()
    return any(pointer((*rel, key)) in view.memory for key in keys)


def rungs(
    writer: WriteJob, name: str, view: View, refused: dict[str, Any]
) -> Iterable[tuple[dict[str, Any], Row | None, str]]:
    """Yield the object as it is, then one rung of the ladder down, with the row and its field.

    At home no row adds a field, but in place of one that is refused or that no picture took: what
    was not said need not be. The numbers that a row makes in a request have bounds, too.
    """
    yield view.obj, None, ""
    for row in writer.ladder.get(name, ()):
        if writer.same and row.wants and not refused and not replaces(row.before, view.obj):
            continue
        mark = len(writer.notes)
        try:
            new, _, path = apply(row, view.obj, writer.trail)
        except Misfit:
            continue
        if view.shape == "request":
            demands.bound_fields(writer, new, row.after.names, view)
        yield new, row, path
        del writer.notes[mark:]


def first_place(writer: WriteJob, obj: dict[str, Any], claims: Collection[str]) -> At | None:
    """Return where the first of the fields came from that pictures took; of some nobody said it."""
    found = (writer.trail.find(obj, path) for path in sorted(claims))
    return next((at for at in found if at is not None), None)


def note_target(wire: Any, into: Any) -> tuple[Any, Any]:
    """Return what a note about a written value points to: the value, or the place of a word.

    Among other keys the one that says it is the place.
    """
    owner, key = into or NOWHERE
    if not isinstance(wire, dict | list) and into is not None:
        return owner, key
    among = into is not None and key is None and isinstance(wire, dict) and len(wire) == 1
    return wire, next(iter(wire)) if among else None


def place_word_notes(writer: WriteJob, mark: int, wire: Any, into: Any) -> None:
    """Let notes since `mark` on a word that is the whole value point to where it stands."""
    if isinstance(wire, dict | list) or into is None:
        return
    for draft in writer.notes[mark:]:
        if draft.owner is None and draft.place is None and draft.effect != "lost":
            draft.owner, draft.place = into


def note_rung(
    writer: WriteJob, view: View, obj: dict[str, Any], row: Row, path: str, place: tuple[Any, Any]
) -> None:
    """Note the rung that was taken, and claim what it changed."""
    gone = [
        f"{key}.{k}"
        for key, old in view.obj.items()
        if isinstance(old, dict) and isinstance(obj.get(key), dict)
        for k in old
        if k not in obj[key] and k not in DERIVED
    ]
    # What it is about, and what else is said no longer.
    for one in dict.fromkeys([path, *gone]) if path or not gone else gone:
        writer.note_step(row, view.obj, one, *place)
    for key, old in view.obj.items():
        new = obj.get(key, ABSENT)
        if isinstance(old, dict) and isinstance(new, dict):
            # What the rung has left as it was, a picture must take.
            view.claims |= {f"{key}.{k}" for k in old if new.get(k, ABSENT) is not old[k]}
        elif new is not old:
            view.claims.add(key)
