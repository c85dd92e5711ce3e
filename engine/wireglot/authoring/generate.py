"""Random payloads, made from the pictures of a dialect; the same for the same seed.

A payload that its own pictures made must read; what the laws say of it is another matter. Values
are small and dull on purpose: a counterexample is for people.
"""

from __future__ import annotations

import random
from typing import Any

from ..ir import field_type
from ..language import picture as pic
from ..language.lenses import UNTYPED, is_guard, milliseconds_of, stringify
from ..language.model import Case, Dialect, Shape
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text
from ..language.schema import Schema

MAX_DEPTH = 7
WORDS = ("a", "Hi", "b c", "x-1", "Zoë", "1")
OBJECTS: tuple[Any, ...] = ({}, {"a": 1}, {"b": {"c": [True, None]}}, {"output": "x"}, {"d": "e"})
ANY: tuple[Any, ...] = ("x", "", 7, 0.5, True, [], {}, ["a", 1], {"k": None})
BY_TYPE: dict[str, tuple[Any, ...]] = {
    "string": WORDS,
    "integer": (1, 7, 40),  # 0 often means that nothing is asked for
    "number": (0, 0.5, 1, -2),
    "bool": (True, False),
    "list": ([], ["a"], ["a", "b"]),
    "object": OBJECTS,
    "null": (None,),
    "opaque": ("c2ln", "AA=="),
    "any": ANY,
}
TIMED = ("time", "start", "end")
TIMES = ("2026-01-31T12:00:00.000Z", "2026-01-31T12:00:01.250Z")
NOT_OBJECTS = ("{", "", "no", "[1]", '"x"')


class Generator:
    """Makes wire payloads of one dialect."""

    def __init__(self, dialect: Dialect, seed: str) -> None:
        self.dialect, self.chance = dialect, random.Random(seed)
        self.depth = self.count = 0
        self.open: list[tuple[str, str]] = []  # calls that wait for a result

    def unit(self, name: str) -> Any:
        """Make a payload of a unit: request, response or error."""
        self.depth = self.count = 0
        self.open = []
        return self.shape(self.dialect.units[name])

    def named(self, name: str) -> Any:
        """Make a wire value of a shape or union."""
        members = self.dialect.unions.get(name, [name])
        return self.shape(self.dialect.shapes[self.chance.choice(members)])

    def shape(self, shape: Shape) -> Any:
        """Make a wire value of one shape by one of its cases."""
        self.depth += 1
        case = self.chance.choice(shape.cases)
        kind = shape.kind or next(iter(case.sides[0].get("/type", ())), None)
        made = self.picture(case.wire, _Made(case, str(kind)))
        self.depth -= 1
        return made

    # -- pictures -----------------------------------------------------------------------------

    def picture(self, p: Picture, made: _Made) -> Any:
        """Make a wire value of a picture; ABSENT where nothing stands."""
        if isinstance(p, Literal):
            return self.chance.choice(p.values) if self.rarely() else p.values[0]
        if isinstance(p, Text):
            return p.write(tuple(self.word() for _ in p.names)) or ABSENT
        if isinstance(p, Items):
            more = self.hole(p.rest, made) if p.rest is not None else None
            head = [self.picture(child, made) for child in p.items]
            return [*head, *(more if isinstance(more, list) else ())]
        if isinstance(p, Fields):
            return self.fields(p, made)
        assert isinstance(p, Hole)
        return self.hole(p, made)

    def fields(self, p: Fields, made: _Made) -> dict[str, Any]:
        """Make an object."""
        out: dict[str, Any] = {}
        for names, child in p.entries:
            if isinstance(child, Fields) and can_be_left_out(child) and not self.often():
                continue
            value = self.picture(child, made)
            if value is not ABSENT:
                out[self.chance.choice(names) if self.rarely() else names[0]] = value
        for hole in p.spread:
            if hole.mark is None or self.often():
                value = self.hole(hole, made)
                if isinstance(value, dict):
                    out.update({k: v for k, v in value.items() if k not in p.names})
        if not p.closed and not p.spread and self.rarely():
            out["zzz"] = self.chance.choice(ANY)
        return out

    def hole(self, h: Hole, made: _Made) -> Any:
        """Make a wire value of a hole."""
        if len(h.paths) > 1:
            return self.total(h, made)
        if h.mark is not None and not made.present(h, self):
            return None if self.rarely() and h.mark != "made" else ABSENT
        if h.path == "nth":
            return made.nth
        value = self.value(h, made)
        for lens in h.lenses:
            value = self.lens(lens, value, h)
        return value

    def total(self, h: Hole, made: _Made) -> Any:
        """Make a number that is the sum of what its terms are elsewhere."""
        terms = [made.number(path, self) for path in h.paths]
        there = [n for n in terms if n is not None]
        return sum(there) if there or h.mark is None else ABSENT

    def value(self, h: Hole, made: _Made) -> Any:
        """Make what stands at a hole before its lenses."""
        if h.shape == "conversation":
            return self.talk()
        if h.mode == "each" and h.shape is not None:
            most = 0 if self.depth > MAX_DEPTH else 3
            count = (
                1 if "single" in h.lenses else self.chance.randint(0 if h.mark else 1, max(1, most))
            )
            if "joined" in h.lenses:
                return self.word()
            return [self.element(h.shape, n) for n in range(count)]
        if h.mode == "entries" and h.shape is not None:
            listed = [self.named(h.shape) for _ in range(self.chance.randint(1, 3))]
            keyed = {
                stringify({k: v for k, v in e.items() if not isinstance(v, int)}): e for e in listed
            }
            return list(keyed.values())
        if h.shape is not None:
            if h.path == "result" and self.open:  # it is that of the call around it
                self.open.insert(0, self.open.pop())
            return self.named(h.shape)
        return self.scalar(h, made)

    def element(self, name: str, nth: int) -> Any:
        """Make one element of a list; it knows its place."""
        members = self.dialect.unions.get(name, [name])
        shape = self.dialect.shapes[self.chance.choice(members)]
        self.depth += 1
        case = self.chance.choice(shape.cases)
        kind = shape.kind or next(iter(case.sides[0].get("/type", ())), None)
        value = self.picture(case.wire, _Made(case, str(kind), nth))
        self.depth -= 1
        return value

    def scalar(self, h: Hole, made: _Made) -> Any:
        """Make a value of the type of a field; ids and names of results are those of calls."""
        if h.path == "id" and made.kind == "tool_call":
            self.count += 1
            made.said["id"] = f"call_{self.count}"
            self.open.append((made.said["id"], made.said.setdefault("name", self.name())))
            return made.said["id"]
        if h.path in ("tool_call_id", "name") and made.kind == "tool_result":
            if "tool_call_id" not in made.said:
                call = self.open.pop(0) if self.open else (f"call_{self.count}x", "f")
                made.said["tool_call_id"], made.said["name"] = call
            return made.said[h.path]
        if h.path == "id" and made.kind == "message":
            self.count += 1
            return f"m{self.count}"
        if h.path.rpartition(".")[2] in TIMED:
            return self.chance.choice(TIMES)
        if h.path == "name" and made.kind == "tool_call":
            return made.said.setdefault("name", self.name())
        for lens in h.lenses:
            if is_guard(lens) and (kinds := [w for w in lens.split("+") if w in BY_TYPE]):
                return self.chance.choice(BY_TYPE[self.chance.choice(kinds)])
        kind = field_type(made.case.shape, h.path)
        if h.path in made.summed:
            return made.number(h.path, self, there=True)
        if h.path == "name":
            return self.name()
        return self.chance.choice(BY_TYPE[kind])

    def lens(self, lens: str, value: Any, h: Hole) -> Any:
        """Put a value through a lens, from the IR to the wire."""
        table, schema = self.dialect.tables.get(lens), self.dialect.schemas.get(lens)
        if table is not None:
            known = [*table.to_ir, *table.read_also]
            return "new_word" if self.rarely() and not table.closed else self.chance.choice(known)
        if schema is not None:
            return self.schema(schema)
        if lens == "json":
            guards = [g for g in h.lenses if is_guard(g) and g not in UNTYPED]
            kinds = guards[0].split("+") if guards else ["object"]
            text = stringify(self.chance.choice(BY_TYPE[self.chance.choice(kinds)]))
            return f" {text}" if self.rarely() else text
        if lens == "not":
            return self.often()
        if lens == "not-an-object":
            return self.chance.choice(NOT_OBJECTS)
        if lens == "milliseconds":
            return milliseconds_of(value)
        if lens == "single":
            return value[0]
        if (lens in ("bare", "blocks") and self.often()) or (
            lens == "plain" and isinstance(value, list)
        ):
            return self.word()
        if lens == "listed" and len(value) == 1 and self.often():
            return value[0]
        return value

    def talk(self) -> list[Any]:
        """Make a list of wire messages: a talk, with calls and then their results."""
        talk = self.dialect.conversation
        assert talk is not None
        found: list[Any] = []
        cases = [case for group in talk.groups for case in group.cases]
        for _ in range(self.chance.randint(1, 4)):
            case = self.chance.choice(cases)
            wire = case.wire
            if isinstance(wire, Hole):
                assert wire.shape is not None
                found.append(self.element(wire.shape, 0))
            else:
                found.append(self.picture(wire, _Made(case, "message")))
        return found

    # -- small values -------------------------------------------------------------------------

    def schema(self, schema: Schema) -> Any:
        """Make a JSON Schema that a schema dialect takes."""
        kinds = sorted(schema.types) or ["string", "integer"]
        inner = {"a": {"type": self.chance.choice(kinds)}}
        made: dict[str, Any] = {"type": schema.root or "object"}
        return {**made, "properties": inner} if self.often() else made

    def word(self) -> str:
        """Make a short text."""
        return self.chance.choice(WORDS)

    def name(self) -> str:
        """Make the name of a tool."""
        return self.chance.choice(("f", "g", "get_weather"))

    def often(self) -> bool:
        """Say yes about every second time."""
        return self.chance.random() < (0.5 if self.depth < MAX_DEPTH else 0.1)

    def rarely(self) -> bool:
        """Say yes now and then."""
        return self.chance.random() < 0.04


class _Made:
    """What one case has made so far: what stands in a sum is one number."""

    def __init__(self, case: Case, kind: str, nth: int = 0) -> None:
        self.case, self.kind, self.nth = case, kind, nth
        self.said: dict[str, Any] = {}
        self.numbers: dict[str, int | None] = {}
        sums = (h.paths for h in pic.holes(case.wire) if len(h.paths) > 1)
        self.summed = {path for paths in sums for path in paths}

    def present(self, h: Hole, maker: Generator) -> bool:
        """Decide, once for each number, whether something stands at a hole."""
        if h.path in self.summed and h.shape is None:
            return self.number(h.path, maker) is not None
        return h.mark in ("made", "fill", "default") or maker.often()

    def number(self, path: str, maker: Generator, there: bool = False) -> int | None:
        """Return the number at a path, or None where it is left out."""
        if path not in self.numbers or (there and self.numbers[path] is None):
            out = not there and not maker.often()
            self.numbers[path] = None if out else maker.chance.choice((0, 1, 7, 40))
        return self.numbers[path]


def can_be_left_out(p: Fields) -> bool:
    """Tell whether nothing of an object must be there."""
    for _, child in p.entries:
        if isinstance(child, Fields):
            free = can_be_left_out(child)
        elif isinstance(child, Hole):
            free = child.mark is not None
        else:
            free = isinstance(child, Literal) and ABSENT in child.values
        if not free:
            return False
    return all(hole.mark is not None for hole in p.spread)
