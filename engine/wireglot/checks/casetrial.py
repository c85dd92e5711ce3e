"""A case that is tried: its name and place, values that its picture makes, what it reads."""

from __future__ import annotations

from typing import Any

from ..conversion.hands import Reader, Writer
from ..errors import ConversionError
from ..interpreter import building
from ..ir import field_type
from ..language.lenses import Misfit, is_guard, stringify
from ..language.measure import may_fit
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text
from ..language.shape import Case, Shape
from ..language.source import Pos
from ..trail import Trail

Pair = tuple[Shape, Case]
DEPTH = 12
_VALUES: dict[str, Any] = {  # of a type; "x" of any other
    "integer": 1,
    "number": 0.5,
    "bool": True,
    "list": [],
    "list of text": [],
    "object": {},
    "null": None,
}


def case_pos(dialect: Dialect, shape: Shape, case: Case) -> Pos:
    """Return where a case is named, or its shape."""
    listed = dialect.node.get("shapes")
    node = listed.get(shape.name) if listed else None
    if case.name and node is not None and (cases := node.get("cases")) is not None:
        return cases.keys.get(case.name, case.pos)
    return listed.keys.get(shape.name, shape.pos) if listed else shape.pos


def case_title(shape: Shape, case: Case) -> str:
    """Return what findings call a case."""
    return f"the case `{case.name}` of `{shape.name}`" if case.name else f"the shape `{shape.name}`"


def read_by(dialect: Dialect, pair: Pair, wire: Any) -> Any:
    """Read a value by one case; ABSENT where it does not fit."""
    shape, case = pair
    fits = may_fit(case, wire) if isinstance(wire, dict) else not case.heads
    if not fits:
        return ABSENT
    reader = Reader(dialect, {}, probe=True)
    reader.walks = True  # to make functions for one value takes longer
    try:
        return building.build(reader, shape, case, reader.case(case, wire, (), False), ())
    except (Misfit, ConversionError) as error:
        error.__traceback__ = None
        return ABSENT


def writing_case(dialect: Dialect, shape: Shape, ir: Any) -> str | None:
    """Return the name of the first case that writes a value."""
    writer = Writer(dialect, False, Trail(), {"repair": False})
    writer.walks = True
    for case in shape.cases:
        try:
            writer.case(shape, case, ir)
        except Misfit:
            continue
        return case.name
    return None


def sample(dialect: Dialect, p: Picture, shape: str, full: bool, depth: int = 0) -> Any:
    """Make a value that a picture fits: with all that is marked, or with none of it."""
    if isinstance(p, Literal):
        return p.values[0]
    if isinstance(p, Text):
        return p.write(tuple("x" for _ in p.names))
    if isinstance(p, Items):
        head = [sample(dialect, item, shape, full, depth + 1) for item in p.items]
        more = _sample_hole(dialect, p.rest, shape, full, depth) if p.rest is not None else ABSENT
        return [*head, *(more if isinstance(more, list) else ())]
    if isinstance(p, Hole):
        return _sample_hole(dialect, p, shape, full, depth)
    made = {}
    if isinstance(p, Fields):
        for (name, *_), child in p.entries:
            value = sample(dialect, child, shape, full, depth + 1)
            if value is not ABSENT:
                made[name] = value
        for hole in p.spread:
            if hole.shape is None:
                made.update({"x-any": 1} if full else {})
            elif full or hole.mark is None:
                inner = _sample_hole(dialect, hole, shape, full, depth)
                made.update(inner if isinstance(inner, dict) else {})
    return made


def _sample_hole(dialect: Dialect, h: Hole, shape: str, full: bool, depth: int) -> Any:
    if not (h.required or full) or depth > DEPTH or h.only_read:
        return "x" if h.required else ABSENT
    if h.path == "nth":
        return 0
    if len(h.paths) > 1:
        return 1
    guards = [lens for lens in h.lenses if is_guard(lens)]
    lens = h.lenses[-1] if h.lenses else ""
    if h.shape is not None and h.shape != "conversation":
        inner = ABSENT
        for _, case in dialect.cases_of(h.shape)[:1]:
            inner = sample(dialect, case.wire, case.shape, full, depth + 1)
        if h.mode == "as" or lens == "single":
            return inner
        if lens in dialect.lists:
            return dialect.lists[lens].text([inner])
        made = "x" if lens in ("bare", "joined") else [inner]
        return stringify(made) if lens == "json" else made
    if h.shape is not None:
        return []
    if lens in dialect.tables:
        words = list(dialect.tables[lens].to_ir)
        return words[-1] if words else "x"
    if lens in dialect.schemas:
        return {"type": dialect.schemas[lens].root or "object"}
    word = guards[0].split("+")[-1 if full else 0] if guards else field_type(shape, h.path)
    value = {"x-any": 1} if full and word == "object" else _VALUES.get(word, "x")
    return stringify(value) if "json" in h.lenses else value
