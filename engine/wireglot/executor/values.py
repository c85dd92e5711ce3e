"""What generated functions that write call: words, schemas, notes, and what is rare.

`x` is the writer, `o` the IR object that is written, `h` the hole.
"""

from __future__ import annotations

from typing import Any

from ..interpreter import choosing, selfholes
from ..interpreter.choosing import is_there
from ..interpreter.jobs import WriteJob
from ..interpreter.leftover import leftover
from ..interpreter.views import View, memory_of
from ..ir import DERIVED, field_type
from ..language.lenses import GUARDS, same
from ..language.picture import ABSENT, Hole
from ..language.shape import Case, Shape
from ..trail import value_at
from .readtime import NO

EMPTY: dict[str, Any] = {}
WHOLE = frozenset(("", "../"))  # where memory is of an object, and not of its keys
AMONG_KEYS = frozenset(("unsaid", "within"))  # but for these words
FILLED = frozenset(("filled-in", "made-id", "made-time"))


# -- choosing ----------------------------------------------------------------------------------


def write_anew(x: WriteJob, shape: Shape, o: Any, *marks: int) -> Any:
    """Write an object anew: all cases are tried."""
    x.roll_back(*marks)
    return choosing.write_by_cases(x, shape, o)


def noted_more(x: WriteJob, mark: int, gone: int) -> bool:
    """Tell whether more was noted than lost fields: what is read may differ from what was meant."""
    if len(x.lost_parts) == gone and len(x.notes) == mark:
        return False
    return len(x.lost_parts) != gone or any(
        note.effect != "lost" and note.code not in FILLED for note in x.notes[mark:]
    )


def could_read(wire: Any, sides: Any) -> bool:
    """Tell whether a case may read what was written, by what must stand where for it."""
    for side in sides:
        for keys, what in side:
            found = wire
            for key in keys:
                if isinstance(found, dict):
                    found = found.get(key, ABSENT)
                elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                    found = found[int(key)]
                else:
                    found = ABSENT
            if not _fits(found, what):
                break
        else:
            return True
    return False


def _fits(wire: Any, what: Any) -> bool:
    if isinstance(what, tuple):
        if wire is ABSENT or wire.__class__ is str:
            return wire in what
        return any(same(one, wire) for one in what)
    if wire is ABSENT:
        return False
    if isinstance(what, str):  # JSON text that begins with one of these
        return isinstance(wire, str) and wire.lstrip()[:1] in what
    if isinstance(what, frozenset):
        return any(word not in GUARDS or GUARDS[word](wire) for word in what)
    return True  # a text picture


# -- the object --------------------------------------------------------------------------------


def view_of(
    x: Any,
    o: dict[str, Any],
    shape: Shape,
    case: Case,
    names: dict[str, Any] = EMPTY,
    matched: frozenset[str] = frozenset(),
) -> View:
    """Return an object as the writer's own methods see it."""
    view = View(o, shape.name, case, x)
    if shape.name == "request":
        view.lists.update(x.request_lists)
    view.names = {name: found for name, found in names.items() if found[0] is not ABSENT}
    view.claims.update(path for path in matched if is_there(o, path))
    return view


def respelled(o: dict[str, Any], dialect: str) -> bool:
    """Tell whether an object remembers how keys of it were spelled: then it is walked."""
    memory = memory_of(o, dialect) if "spelled" in o else EMPTY
    whole = memory.get("", EMPTY)
    return not (memory.keys() <= WHOLE and AMONG_KEYS.isdisjoint(whole))


def write_cold(
    x: Any, view: View, h: Hole, rel: Any, out: Any, key: str, settled: Any = frozenset()
) -> View:
    """Let the writer's own method write a hole whose value is no usual one."""
    view.settled |= settled
    wire = x.hole(h, view, rel, (out, key))
    claim_by_view(view, h)
    if wire is not ABSENT:
        out[key] = wire
    return view


def claim_by_view(view: View, h: Hole) -> None:
    """Say that the claims of a view tell which fields of a hole found a place.

    What a hole only repeats has its place in another one.
    """
    if not h.repeats:
        view.missed.update(map(view.source, h.paths))


def leave(
    x: Any,
    shape: Shape,
    case: Case,
    o: dict[str, Any],
    wire: Any,
    claims: frozenset[str],
    inner: dict[str, tuple[tuple[str, ...], ...]],
    took: tuple[str, ...],
    miss: tuple[str, ...],
    view: View | None,
) -> None:
    """Note what no picture took of an object."""
    if view is None:
        view = View(o, shape.name, case, x)
    missed = view.missed - view.claims if view.missed else ()
    view.claims |= claims.difference(miss, missed) if miss or missed else claims
    for head, paths in inner.items():
        value = o.get(head)
        if isinstance(value, dict) and (head != "own" or view.family in value):
            for path, *keys in paths:
                if path in miss or path in missed:
                    continue
                found = value_at(value, keys, ABSENT)
                # A null is written where a field may be anything, and is none elsewhere.
                if found is None and field_type(shape.name, path) != "any":
                    continue
                if found is not ABSENT:
                    view.claims.add(path)
    view.claims.update(took)
    if shape.name == "request":
        view.claims.update(x.envelope_fields)
    leftover(x, view, wire)


def holds_more(o: dict[str, Any], head: str, taken: dict[str, Any]) -> bool:
    """Tell whether an object within another one holds what no picture took."""
    value = o.get(head)
    if value is None:
        return False
    return value.__class__ is not dict or not value or _more(value, taken, head == "own")


def _more(value: dict[str, Any], taken: dict[str, Any], own: bool) -> bool:
    if all(inner is None for inner in value.values()):
        return True
    for key, inner in value.items():
        known = taken.get(key)
        if known is None:
            if inner is not None and (own or key == "kept" or key not in DERIVED):
                return True
        elif known and (inner.__class__ is not dict or not inner or _more(inner, known, own)):
            return True
    return False


def misnamed(x: Any, o: dict[str, Any]) -> bool:
    """Tell whether a result says another name than its call."""
    name = o.get("name")
    return name is not None and x.call_names.get(o.get("tool_call_id", "")) != name


def own_of(o: dict[str, Any], family: str, empty: Any) -> Any:
    """Return the fields of an object that one family alone has."""
    own = o.get("own")
    return own.get(family, empty) if isinstance(own, dict) else empty


def opened_or_no(value: Any, dialect: str) -> Any:
    """Return what only its origin can read, or NO where that is another dialect."""
    if not isinstance(value, dict):
        return value
    return value.get("value", ABSENT) if value.get("origin") == dialect else NO


# -- values ------------------------------------------------------------------------------------


def total(*terms: Any) -> int | None:
    """Return the sum of the terms that are there; None where none is, or one is no plain number."""
    found = None
    for term in terms:
        if term.__class__ is int:
            found = term + (found or 0)
        elif term is not None:
            return None
    return found


def own_fields(fields: dict[str, Any], out: dict[str, Any], table: Any) -> list[str]:
    """Write fields that one family alone has; return the paths of those that were there."""
    took = []
    for name, key, path in table:
        value = fields.get(name, ABSENT)
        if value is not ABSENT:
            out[key] = value
            took.append(path)
    return took


def may_step(x: Any, name: str, o: dict[str, Any]) -> bool:
    """Tell whether a row of the ladder may say some fields of an object in another way."""
    for row in x.ladder.get(name, ()):
        if not row.needs or not (row.needs.isdisjoint(o) or row.needs.difference(o)):
            return True
    return False


def note_part_case(x: Any, case: Case, o: Any, wire: Any, claims: Any, into: Any) -> None:
    """Note that some fields of an object were written by a case that says so."""
    x.note_case(case, selfholes.first_place(x, o, claims), *selfholes.note_target(wire, into))


def merge_keys(x: Any, out: dict[str, Any], wire: Any, mark: int) -> bool:
    """Put the keys of one object among those of another; False where that cannot be."""
    if not isinstance(wire, dict) or not out.keys().isdisjoint(wire):
        return False
    out.update(wire)
    x.place_spread_notes(wire, out, mark)
    return True
