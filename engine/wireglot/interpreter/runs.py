"""Runs on the wire: elements that hold several parts, and what stands beside these."""

from __future__ import annotations

from typing import Any

from ..language.lenses import Misfit
from ..language.picture import ABSENT, Literal, Text, keyed
from ..language.shape import Case, Shape
from ..tagged import Several
from ..trail import At, Trail, keys_of, pointer
from . import building
from .env import Env
from .jobs import ReadJob, Tries


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
            parts, another = read(reader, cases, alone, at, False)
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


def is_left_over(reader: ReadJob, part: Any, key: str) -> bool:
    """Tell whether no picture of an element, or of one around a run, took a key of it."""
    kept = part.get("kept", {}).get(reader.dialect.name, {})
    return _kept_key(key) in kept or pointer((key,)) in kept


def _kept_key(key: str) -> str:
    """Return where a key beside a run is kept with its first part."""
    return f"..{pointer((key,))}"


def read(
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
