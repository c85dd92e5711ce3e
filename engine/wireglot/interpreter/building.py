"""Building the IR: the value of a case out of what its picture found on the wire."""

from __future__ import annotations

from typing import Any

from ..ir import OPAQUE
from ..language import picture as pic
from ..language.lenses import Misfit, same
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text, keyed
from ..language.shape import Case, Shape
from ..trail import At
from .env import Env
from .jobs import ReadJob
from .views import memory_of


def by_case(reader: ReadJob, shape: Shape, case: Case, wire: Any, at: At, lenient: bool) -> Any:
    """Read a node by one case; raises Misfit."""
    made = build(reader, shape, case, reader.case(case, wire, at, lenient), at)
    if wire == {} and isinstance(made, dict) and not reader.probe:
        reader.remember(made, "", "empty", True)
    return made


def build(reader: ReadJob, shape: Shape, case: Case, env: Env, at: At) -> Any:
    """Make the IR value of a case out of what its picture found."""
    made: Any = {} if shape.kind is None else {"type": shape.kind}
    check_tests(case, env.fields, env)
    check_literals_within(case, env)
    fill(reader, made, case.ir, env)
    if isinstance(made.get(""), tuple):
        if env.kept or env.spelled:
            # A bare value remembers nothing; another case may hold it all.
            raise Misfit("it says more than can be read here", at, case.pos)
        return made[""][0]
    if "parts" in case.lists:
        made.setdefault("parts", [])
    attach(reader, made, env)
    if case.doubles and case.name and reader.home:
        remember_case(reader, shape, case, made, at)
    reader.trail.put(made, None, at)
    return made


def remember_case(reader: ReadJob, shape: Shape, case: Case, made: dict[str, Any], at: At) -> None:
    """Remember the case that was read, where another one would be written."""
    # One that is only read is not taken again but by its name.
    if case.home or case_to_write(reader, shape, made, case) is not case:
        reader.remember(made, "", "case", case.name)
        note_case_read(reader, case, at)


def note_case_read(reader: ReadJob, case: Case, at: At) -> None:
    """Note that a case was read for which another one is written, where its rule says so."""
    if case.note is not None:
        said = f"read as `{case.name}`, which is written in another way"
        reader.notes.append((case.note, "changed", at, case.pos, said))


def case_to_write(
    reader: ReadJob, shape: Shape, made: Any, case: Case | None, first: bool = False
) -> Case | None:
    """Return the case that would write an IR object, which was read by `case` and is whole."""

    probe = reader.prober
    del probe.notes[:], probe.lost_parts[:]
    value = {k: v for k, v in made.items() if k != "spelled"}
    for entry in memory_of(made, reader.dialect.name).values():
        if isinstance(entry.get("made"), str):
            value.setdefault(entry["made"], "made")  # it will be there when this is written
    try:
        return probe.choice(shape, value, case, first)
    except Misfit:
        return None


def fill(reader: ReadJob, made: dict[str, Any], ir: Picture | None, env: Env) -> None:
    """Put the fields that were found into an IR object, through its `ir` picture if any."""
    fields = dict(env.fields)
    if isinstance(ir, Fields):
        _fill_object(reader, made, ir, fields, env)
        if reader.recorder is not None:
            reader.recorder.fill(ir, env)
    elif ir is not None:
        made[""] = (_made_value(ir, fields, env),)
        return
    for path, (value, at) in fields.items():
        put_path(reader, made, path, value, at)


def _fill_object(
    reader: ReadJob, made: dict[str, Any], ir: Fields, fields: dict[str, Any], env: Env
) -> None:
    """Put what an `ir` picture says of an object into one; fields that it takes are taken out."""
    for (name, *_), child in ir.entries:
        at, value = None, ABSENT
        if isinstance(child, Fields):
            value = {}
            _fill_object(reader, value, child, fields, env)
        elif not isinstance(child, pic.Test):
            if isinstance(child, Hole | Text):  # a text is from where its last piece is
                last = child.path if isinstance(child, Hole) else child.names[-1]
                at = fields.get(last, (None, None))[1]
            value = _made_value(child, fields, env)
        schema = isinstance(child, Fields) and env.case.ir is not ir  # a property of that name
        if name == "type" and value is not ABSENT and not isinstance(value, str) and not schema:
            raise Misfit("the type of an object is a word", env.base, child.pos)
        if value is not ABSENT:
            put_path(reader, made, name, value, at)
    if reader.recorder is not None:
        reader.recorder.texts(ir, made, env.fields)


def _made_value(ir: Picture, fields: dict[str, Any], env: Env) -> Any:
    """Return what an `ir` picture makes of the fields that were found, which it takes out."""
    if isinstance(ir, Literal):
        return ir.values[0]
    if isinstance(ir, Hole):
        return fields.pop(ir.path, (ABSENT, None))[0]
    if isinstance(ir, Text):
        text = ir.write(tuple([fields.pop(n, ("", None))[0] for n in ir.names]))
        if text is None:
            raise Misfit("what stands in a text is none", env.base, ir.pos)
        return text
    assert isinstance(ir, Items)
    return []  # a list that is empty


def put_path(reader: ReadJob, made: dict[str, Any], path: str, value: Any, at: At | None) -> None:
    """Put a value at a dotted path of an IR object and remember where it came from."""
    keys = path.split(".")
    if keys[0] == "own":
        keys.insert(1, reader.dialect.family)
    if keys[-1] in OPAQUE and keys[0] != "own" and isinstance(value, str):
        value = {"value": value, "origin": reader.dialect.origin[keys[-1]]}
    owner: Any = made
    for key in keys[:-1]:
        owner = owner.setdefault(key, {})
        if not isinstance(owner, dict):
            raise Misfit(f"`{path}` stands in what is no object", at or ())
    old = owner.get(keys[-1])
    if isinstance(old, dict) and isinstance(value, dict):
        merge(reader, old, value, at)
        return
    if isinstance(old, dict):
        raise Misfit(f"`{path}` is no object, and fields of it stand elsewhere", at or ())
    owner[keys[-1]] = value
    reader.trail.put(owner, keys[-1], at)


def merge(reader: ReadJob, old: dict[str, Any], value: dict[str, Any], at: At | None) -> None:
    """Let two places of the wire make one object of the IR; each field came from its own."""
    old.update(value)
    for key in value:
        reader.trail.put(old, key, at)
    reader.trail.copy(value, old)


def attach(reader: ReadJob, made: dict[str, Any], env: Env) -> None:
    """Hang kept keys and memory on an IR object, and hand on the notes."""
    if env.kept:
        made.setdefault("kept", {}).setdefault(reader.dialect.name, {}).update(env.kept)
        reader.trail.put(made, "kept", env.base)
    if env.spelled:
        memory = reader.memory(made)
        for key, entry in env.spelled.items():
            memory.setdefault(key, {}).update(entry)
    reader.notes.extend(env.notes)


def check_tests(case: Case, seen: dict[str, Any], env: Env) -> None:
    """Raise Misfit where the `ir` picture of a case asks for what was not found."""
    for (name, *_), child in keyed(case.ir):
        if isinstance(child, pic.Test) and not child.holds(seen.get(name, (ABSENT,))[0]):
            lacks = "is missing" if child.word == "present" else f"holds no {child.kind}"
            raise Misfit(f"`{name}` {lacks}", env.base, child.pos)


def check_literals_within(case: Case, env: Env) -> None:
    """Check that no object that a hole found says another thing than the `ir` picture."""
    for (name, *_), child in keyed(case.ir):
        found = env.fields.get(name, (None,))[0]
        if not isinstance(child, Fields) or not isinstance(found, dict):
            continue
        for (inner, *_), said in child.entries:
            if isinstance(said, Literal) and inner in found:
                if not any(same(found[inner], v) for v in said.values):
                    raise Misfit(f"`{name}.{inner}` says something else", env.base, said.pos)
