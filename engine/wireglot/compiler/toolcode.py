"""Code that converts tool definitions, and system text that stands apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.model import Case, Dialect, Shape
from ..language.picture import Fields, Hole, holes
from . import commits, elements, schemacode
from .looks import find, gathering, unlensed
from .symbols import Cannot, Code, NoFit, Val
from .target import PairJob, Target

if TYPE_CHECKING:
    from .symread import Reading


def system(pair: PairJob) -> None:
    code = pair.code
    with code.block("def system(v, state):"):
        piece = code.fork()
        try:
            system_body(pair, piece)
            code.join(piece)
        except (Cannot, NoFit):
            code("raise ODD")


def system_body(pair: PairJob, code: Code) -> None:
    wire = pair.source.units["request"].cases[0].wire
    assert isinstance(wire, Fields)
    hole = find(wire, "system")
    if hole is None:
        raise Cannot
    for _, child in wire.entries:
        if isinstance(child, Fields) and find(child, "system") is hole:
            key = next((n[0] for n, c in child.entries if c is hole), None)
            if key is None:
                raise Cannot
            code("if v.__class__ is not dict or len(v) != 1: raise ODD")
            code(f"v = v[{key!r}]")
    code("okname = set(); ids = []; w = []; new = {}")
    if pair.lifts:
        there = find(pair.target.units["request"].cases[0].wire, "system")
        if there is None:
            raise Cannot
        elements.listed(
            pair, code, hole, "v", "system", Target(pair, None, None, [there]), ["w"], None, False
        )
        code("if not w: raise ODD")
        code("return w")
        return
    target = pair.aim(code, "system")
    elements.listed(pair, code, hole, "v", "system", target, ["w"], None, target.bare)
    code("if not w: raise ODD")
    code("out = []")
    assert target.case is not None and isinstance(target.case.wire, Fields)
    commits.whole(pair, code, target.case.wire, target, ["w"], {})
    code("return out")


def tools(pair: PairJob) -> None:
    code = pair.code
    with code.block("def tools(wire, state):"):
        piece = code.fork()
        try:
            tools_body(pair, piece)
            code.join(piece)
        except (Cannot, NoFit):
            code("raise ODD")


def tools_body(pair: PairJob, code: Code) -> None:
    code("okname = set(); ids = []; lost = []")
    place = "nth"
    code("if wire.__class__ is not list: raise ODD")
    gathered = gathering(pair.source)
    if gathered is not None:
        key, inner = gathered
        code("if len(wire) != 1 or wire[0].__class__ is not dict: raise ODD")
        code("if len(wire[0]) != 1: raise ODD")
        code(f"wire = wire[0][{key!r}]")
        place = f"0, {key!r}, {place}"
        code("if wire.__class__ is not list or not wire: raise ODD")
    else:
        inner = "function"
    code("found = []")
    with code.block("for nth, e in enumerate(wire):"):
        code("if e.__class__ is not dict: raise ODD")
        shape = pair.source.shapes.get(inner)
        if shape is None or not _takes(pair.target):
            raise Cannot
        function_cases(pair, code, shape, place)
    pair.check(code)
    code(f"if lost: state.lose(lost, {pair.tools_key!r})")
    code("state.names = okname")
    gathered = gathering(pair.target)
    code("return found" if gathered is None else f"return [{{{gathered[0]!r}: found}}]")


def _takes(target: Dialect) -> bool:
    """Tell whether a dialect's list of tools takes plain functions."""
    hole = find(target.units["request"].cases[0].wire, "tools")
    if hole is None or hole.shape is None or hole.mode != "each" or hole.dated:
        return False
    if set(hole.lenses) - {"listed"}:
        return False
    members = target.unions.get(hole.shape, [hole.shape])
    gathered = gathering(target)
    return "function" in (members if gathered is None else [gathered[1]])


def function_cases(pair: PairJob, code: Code, shape: Shape, place: str) -> None:
    head = "if"
    for case in shape.cases:
        assert isinstance(case.wire, Fields)
        tests = [
            f"{n[0]!r} in e"
            for n, c in case.wire.entries
            if isinstance(c, Hole) and c.path == "parameters" and len(shape.cases) > 1
        ]
        piece = code.fork()
        piece.depth += 1
        try:
            reading = pair.reading(piece, case, place=place)
            plain = Case(
                case.name,
                case.shape,
                unlensed(case.wire, pair.source),
                case.ir,
                {},
                None,
                case.pos,
            )
            reading.case = plain
            assert isinstance(plain.wire, Fields)
            reading.fields(plain.wire, "e", checked=True)
            _schema(pair, piece, case, reading)
            pair.tool(piece, reading.build(shape))
        except (Cannot, NoFit):
            continue
        code(f"{head} {' and '.join(tests) or 'True'}:")
        code.join(piece)
        head = "elif"
    if head == "if":
        raise Cannot
    with code.block("else:"):
        code("raise ODD")


def _schema(pair: PairJob, code: Code, case: Case, reading: Reading) -> None:
    """Write the tests of a tool's schema: tools come again and again."""
    value = reading.env.get("parameters")
    if not isinstance(value, Val):
        return
    tests = []
    assert isinstance(case.wire, Fields)
    for lens in lenses(pair, case.wire):
        respelling = pair.source.schemas[lens]
        schema = code.const(respelling, "SCHEMA")
        if respelling.types or respelling.two_way:
            tests.append(f"{schema}.plain({value.code})")
        if reading.strict and case.doubles:
            takes = schemacode.taker(code, respelling)
            fits = f"{schema}.fits({value.code})"
            tests.append(fits if takes is None else f"({takes}({value.code}) or {fits})")
    if not tests and not (reading.strict and value.raw):
        return
    with code.block(f"if {value.code} is not None:"), code.once(value.code):
        for test in tests:
            code(f"if not {test}: raise ODD")
        if reading.strict and value.raw:
            code(f"clean({value.code})")
            value.raw = False


def lenses(pair: PairJob, wire: Fields) -> list[str]:
    return [
        lens
        for hole in holes(wire)
        if hole.path == "parameters"
        for lens in hole.lenses
        if lens in pair.source.schemas
    ]
