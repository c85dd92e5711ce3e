"""Reading lists: their elements by shapes and marks, and runs, elements that hold several parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..language.lenses import Misfit
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole, Literal, Text, keyed
from ..language.shape import Case, Shape
from ..tagged import Rest, Several
from ..trail import At, Trail, keys_of, pointer
from . import building
from .env import Env, show
from .jobs import ReadJob, Tries
from .views import memory_of

SILENT: tuple[Any, ...] = (None, [])  # what a key says that is no element


def read_rest(
    reader: ReadJob, h: Hole, wire: list[Any], start: int, at: At, rel: At, env: Env
) -> None:
    """Read the elements of a list behind those that have pictures of their own."""
    there: Any = wire[start:]
    if not there and h.mark is not None:
        there = ABSENT
    elif h.mode == "each":
        there = Rest(there)
        there.start = start
    elif there:
        at = Several.of([(*at, i) for i in range(start, len(wire))])
    reader.hole(h, there, at, rel, env)


def read_list(
    reader: ReadJob, h: Hole, wire: Any, at: At, rel: At, env: Env, alone: bool = False
) -> list[Any]:
    """Read a list, element by element; an element of no known kind is kept as it is.

    `alone` says that the one element stands where the list would.
    """
    if not isinstance(wire, list):
        raise Misfit(f"expected a list, got {show(wire)}", at, h.pos)
    if h.mark is not None and not wire:
        if h.mark != "default":
            env.spell(rel, wire, h.value if h.mark == "fill" else ABSENT)
    found: list[Any] = []
    last: Shape | None = None
    marks = reader.dialect.marks_of(h.named)
    for i, item in enumerate(wire, wire.start if isinstance(wire, Rest) else 0):
        here = at if alone else (*at, i)
        if marks and found and read_mark(reader, marks, found[-1], item, here):
            last = None
            continue
        if "by-key" in h.lenses:
            parts, shape = read_by_key(reader, h.named, item, here)
        else:
            parts, shape = read_element(reader, h.named, item, here)
        if shape is not None and shape is last and parts:
            reader.remember(parts[0], "../", "apart", True)
        last = shape
        found.extend(parts)
        if reader.recorder is not None:
            reader.recorder.item(found, here, len(parts))
    return found


def read_mark(reader: ReadJob, marks: dict[str, Shape], owner: Any, item: Any, at: At) -> bool:
    """Read an element that is a field of the one before it; False where it is none."""
    for field, shape in marks.items():
        if not isinstance(owner, dict) or field in owner or owner.get("type") == "unknown":
            continue
        for case in shape.cases:
            with Tries(reader):
                owner[field] = building.by_case(reader, shape, case, item, at, False)
                reader.trail.put(owner, field, at)
                return True
    return False


def remember_source(reader: ReadJob, h: Hole, parts: list[Any], env: Env, key: Any = None) -> None:
    """Remember the hole that elements were read by, where an earlier one could write them.

    `key` is the spelling of the key that it stood under, if that is not the first.
    """
    if key is not None and "again" in h.lenses:
        remember_key(reader, parts, key)
    both = rivalled(reader.dialect, env.case.lists.get(h.path, [h]), h)
    if both is not None:
        remember_shape(reader, parts, h.named, both)


def rivalled(dialect: Dialect, holes: list[Hole], h: Hole) -> bool | None:
    """Tell whether a hole before one could write its parts; None where none stands before it."""
    if h not in holes[1:] and not h.only_read:
        return None
    earlier = frozenset().union(*(dialect.kinds_of(o.named) for o in holes[: holes.index(h)]))
    return h.only_read or bool(earlier & dialect.kinds_of(h.named))


def remember_shape(reader: ReadJob, parts: list[Any], shape: str, both: bool) -> None:
    """Remember by which hole parts were read, where an earlier one could write them."""
    for part in parts:
        if both or part.get("type") == "unknown":
            reader.remember(part, "../", "hole", shape)


def remember_key(reader: ReadJob, parts: list[Any], key: str) -> None:
    """Remember the spelling of the key that parts stood under."""
    for part in parts:
        reader.remember(part, "../", "key", key)


def is_one_text(parts: list[Any]) -> bool:
    """Tell whether parts are one text and nothing else."""
    return (
        len(parts) == 1 and parts[0].get("type") == "text" and parts[0].keys() <= {"type", "text"}
    )


def read_element(
    reader: ReadJob, name: str, item: Any, at: At, modes: tuple[bool, ...] = (False, True)
) -> tuple[list[Any], Shape | None]:
    """Read one element of a list; a gathering shape gives several.

    `modes` says whether to be lenient; with one mode alone an unknown element is a misfit.
    """
    cases = reader.dialect.cases_of(name)
    for lenient in modes:
        try:
            parts, run = read_one(reader, cases, item, at, lenient)
            if run is None:
                return parts, None
            return remember_run(reader, name, run, parts, item, at)
        except Misfit as misfit:
            misfit.__traceback__ = None
            best = misfit
    if name not in reader.dialect.unions or len(modes) == 1:
        raise best
    return [unknown_part(reader, item, at)], None


def remember_run(
    reader: ReadJob, name: str, pair: tuple[Shape, Case], parts: list[Any], item: Any, at: At
) -> tuple[list[Any], Shape]:
    """Return the parts of a run with what was read beside it, and the shape of the last."""
    shape, case = pair
    if reader.probe or reader.home:
        rivals = reader.dialect.has_rivals(name, shape)
        for part in parts:
            # A case that is remembered would take the part to the member that has it.
            if rivals or "case" in memory_of(part, reader.dialect.name).get("", {}):
                reader.remember(part, "../", "run", shape.name)
    if "kept" not in parts[0]:
        return parts, shape
    more, other = read_beside(reader, parts[0], case, reader.dialect.cases_of(name), item, at)
    return parts + more, other or shape


def read_by_key(reader: ReadJob, name: str, item: Any, at: At) -> tuple[list[Any], Shape | None]:
    """Read an element of which several keys are elements by themselves; the first has the others.

    What stood in one element remembers it.
    """
    found: dict[str, tuple[list[Any], tuple[Shape, Case] | None]] = {}
    for key in item if has_several_keys(item) else ():
        mark = len(reader.notes)
        try:
            if item[key] not in SILENT:
                alone = {key: item[key]}
                read = read_one(reader, reader.dialect.cases_of(name), alone, at, False)
                # Kept is what neither its picture nor one around a run took.
                kept = read[0][0].get("kept", {}).get(reader.dialect.name, {})
                if _kept_key(key) not in kept and pointer((key,)) not in kept:
                    found[key] = read
                    continue
        except Misfit as misfit:
            misfit.__traceback__ = None
        del reader.notes[mark:]
    others = list(found)[1:]
    head = {key: value for key, value in item.items() if key not in others} if others else item
    parts, last = read_element(reader, name, head, at)
    if others and last is not None:  # no run before it goes on
        reader.remember(parts[0], "../", "apart", True)
    for key in others:
        more, run = found[key]
        if run is not None:
            more, last = remember_run(reader, name, run, more, {key: item[key]}, at)
        else:
            reader.trail.put(more[0], None, (*at, key))
        reader.remember(more[0], "../", "beside", True)
        parts = parts + more
    return parts, last


def has_several_keys(item: Any) -> bool:
    """Tell whether an element has several keys that say something."""
    if not isinstance(item, dict) or len(item) < 2:
        return False
    return sum(value not in SILENT for value in item.values()) > 1


def unknown_part(reader: ReadJob, item: Any, at: At) -> dict[str, Any]:
    """Return an element that no picture fits as a part of its own."""
    part = {"type": "unknown", "dialect": reader.dialect.name, "value": item}
    reader.trail.put(part, None, at)
    return part


def read_entries(reader: ReadJob, h: Hole, wire: Any, at: At, rel: At, env: Env) -> dict[str, Any]:
    """Read a list of entries as a map."""
    if not isinstance(wire, list):
        raise Misfit(f"expected a list, got {show(wire)}", at, h.pos)
    if not wire:
        env.spell(rel, wire, ABSENT)
    found, odd = entries_to_map(reader, partial(reader.as_home, h.named), wire, at, h.pos)
    if odd:
        usual = reader.writer()
        pairs = ({"key": key, "value": value} for key, value in found.items())
        env.spell(rel, wire, [usual.shape(h.named, pair) for pair in pairs])
    return found


def entries_to_map(
    reader: ReadJob, read: Callable[[Any, At], Any], wire: list[Any], at: At, pos: Any = None
) -> tuple[dict[str, Any], bool]:
    """Return entries as a map, and whether one of them is spelled in another way; or Misfit."""
    found: dict[str, Any] = {}
    odd = False
    for i, item in enumerate(wire):
        entry = read(item, (*at, i))
        fields = entry if isinstance(entry, dict) else {}
        odd = bool(fields.pop("spelled", None)) or odd
        key = fields.get("key")
        if not isinstance(key, str) or key in found or len(fields) != 2:
            raise Misfit("expected one entry of key and value each", (*at, i), pos)
        found[key] = fields.get("value")
    places = {key: (*at, i) for i, key in enumerate(found)}
    reader.trail.late.append((found, None, places, tuple(places)))
    return found, odd


# -- runs -----------------------------------------------------------------------------------------


def read_run(
    reader: ReadJob, shape: Shape, case: Case, item: Any, at: At, lenient: bool
) -> list[Any]:
    """Read an element that holds a run of parts."""
    env = reader.case(case, item, at, lenient)
    parts: list[Any] = env.fields.pop("run", ([], None))[0]
    if not parts:
        raise Misfit("an empty run", at, case.pos)
    _fill_texts(reader, case, env, parts)
    first = parts[0]
    for path, (value, place) in env.fields.items():
        # What stands beside the run is said of its first part; a new run begins with it.
        if path in first and not isinstance(first[path], dict):
            raise Misfit(f"`{path}` stands beside the run and in it", at, case.pos)
        building.put_path(reader, first, path, value, place)
    more = [place for _, place in env.fields.values() if place is not None]
    keep_beside_run(reader, first, env.kept, at, more)
    if more:
        trail_beside_run(first, more, None, reader.trail)
    remember_parts(reader, parts, shape.name, None if case is shape.cases[0] else case.name)
    for key, entry in env.spelled.items():
        reader.memory(first)[f"..{key}"] = entry
    reader.notes.extend(env.notes)
    return parts


def keep_beside_run(
    reader: ReadJob, made: dict[str, Any], kp: dict[str, Any], at: At, more: list[At]
) -> None:
    """Hang keys that stood beside a run on its first part."""
    for key, value in kp.items():
        kept = made.setdefault("kept", {}).setdefault(reader.dialect.name, {})
        kept[f"..{key}"] = value
        reader.trail.late.append((made, None, {f"..{key}": (*at, *keys_of(key))}, (f"..{key}",)))
        more.append((*at, *keys_of(key)))


def remember_parts(reader: ReadJob, parts: list[Any], shape: str, case: str | None) -> None:
    """Remember how the parts of a run stood together."""
    for part in parts:
        if case is not None:
            reader.remember(part, "../", "case", case)
        if part.get("type") == "unknown":
            reader.remember(part, "../", "run", shape)


def trail_beside_run(owner: Any, more: list[At], _: None, trail: Trail) -> None:
    """Say that a part came also from places beside its run."""
    here = trail.find(owner)
    places = more if here is None else [here, *more]
    if len(places) > 1:
        trail.put(owner, None, Several.of(places))


def _fill_texts(reader: ReadJob, case: Case, env: Env, parts: list[Any]) -> None:
    """Make the texts of parts of which a piece stands around the run, once for all of them."""
    for (field, *_), text in keyed(case.ir):
        if not isinstance(text, Text):
            continue  # what is tested, or stands in each part
        around = {name: env.fields.pop(name) for name in text.names if name in env.fields}
        for part in parts:
            pieces = tuple(around[n][0] if n in around else part.get(n) for n in text.names)
            whole = text.write(pieces) if all(isinstance(p, str) for p in pieces) else None
            if whole is None or field not in part:
                raise Misfit(
                    f"`{field}` of a part does not go with what is said around it", env.base
                )
            places = [reader.trail.find(part, field), *(place for _, place in around.values())]
            part[field] = whole
            reader.trail.put(part, field, Several.of([p for p in places if p is not None]))


def read_beside(
    reader: ReadJob, first: Any, run: Case, cases: list[tuple[Shape, Case]], item: Any, at: At
) -> tuple[list[Any], Shape | None]:
    """Read what stands beside a run as elements of their own or as other runs, where it is some."""
    kept = first.get("kept", {}).get(reader.dialect.name, {})
    keys = [key for key in item if _kept_key(key) in kept and item[key] is not None]
    fixed = {key: item[key] for key in _literal_keys(run) if key in item}
    found: list[Any] = []
    last: Shape | None = None
    for some in (keys, *([key] for key in keys if len(keys) > 1)):
        if not some or _kept_key(some[0]) not in kept:
            continue
        try:
            alone = {**fixed, **{key: item[key] for key in some}}
            parts, another = read_one(reader, cases, alone, at, False)
        except Misfit:
            continue
        if "kept" in parts[0]:
            continue
        for key in some:
            del kept[_kept_key(key)]
        reader.remember(parts[0], "../", "beside", True)
        if another is None:
            reader.trail.put(parts[0], None, Several.of([(*at, key) for key in some]))
        else:
            last = another[0]
        found += parts
    if found:  # whatever stands before it, this element is one
        reader.remember(first, "../", "apart", True)
    if found and not kept:
        del first["kept"][reader.dialect.name]
        if not first["kept"]:
            del first["kept"]
    return found, last


def _kept_key(key: str) -> str:
    """Return where a key beside a run is kept with its first part."""
    return f"..{pointer((key,))}"


def read_one(
    reader: ReadJob, cases: list[tuple[Shape, Case]], item: Any, at: At, lenient: bool
) -> tuple[list[Any], tuple[Shape, Case] | None]:
    """Read an element by the first case that fits, else by the first run: its parts, and that run.

    Raises the deepest Misfit.
    """
    tries = Tries(reader)
    with tries:
        return [reader.first(cases, item, at, lenient)], None
    for shape, case in [pair for pair in cases if pair[0].groups]:
        with tries:
            return read_run(reader, shape, case, item, at, lenient), (shape, case)
    raise tries.best or Misfit("nothing fits", at)


def _literal_keys(case: Case) -> set[str]:
    """Return the keys whose words tell the element around the run from others."""
    return {
        name
        for names, child in keyed(case.wire)
        for name in names
        if isinstance(child, Literal) and child.values[0] is not ABSENT
    }
