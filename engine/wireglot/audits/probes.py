"""Payloads made from the pictures of a dialect: each choice that they leave is taken once.

`generate.py` draws at random; here each decision (a case, a member of a union, whether something is
there, a word of a table, a value of a type) is taken in every way, with all others as small as can
be. Beside the values that fit stand those that providers refuse: names out of bounds, empty texts,
numbers too large, schemas of odd keywords.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..authoring.generate import BY_TYPE, NOT_OBJECTS, TIMED, TIMES, can_be_left_out
from ..ir import field_type
from ..language import picture as pic
from ..language.lenses import UNTYPED, is_guard, milliseconds_of, stringify
from ..language.model import Case, Dialect, Shape
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text
from .schemaprobes import SCHEMAS

Label = tuple[Any, ...]  # the place of a decision, and what is decided
MAX_DEPTH = 6
NEAR = 6  # steps above a decision that tell its place from others
MOST = 6000  # payloads of one unit; only a file that means harm has so many
LONG = "9 long name" + "!" * 250  # fits no limits on names and ids
UNFIT: Any = {"unfit": [{}]}
VALUES: dict[str, tuple[Any, ...]] = {
    "string": ("a",),
    "integer": (1, 0, 1_000_000),
    "number": (0.5, 0, 3, -3),
    "bool": (True, False),
    "list": (["a"], [], [f"w{n}" for n in range(9)]),
    "object": ({"a": 1}, {}, {"b": {"c": [True, None]}}),
    "null": (None,),
    "opaque": ("c2ln",),
    "any": ("x", "", 7, True, [], {}, {"a": 1}),
}
TEXTS = ("a", "", " ")
BY_NAME: dict[str, tuple[Any, ...]] = {
    "text": TEXTS,
    "url": ("https://a.example/b.png",),
    "data": ("SGk=",),
    "effort": ("low", "none", "minimal", "medium", "high", "xhigh", "max"),
}
MEDIA_TYPES = ("image/png", "text/plain", "application/pdf", "audio/wav", "video/mp4", "x/odd")
GUARDS = {"list": (["a"], []), **{k: v for k, v in BY_TYPE.items() if k not in ("list", "any")}}


def explored(dialect: Dialect, unit: str, calls: Any = None) -> Iterator[tuple[Any, bool]]:
    """Yield payloads of a unit in which each decision is taken in every way, the smallest first.

    With each comes whether it holds what no picture takes. `calls` gives the wire messages of calls
    that results answer.
    """
    known: set[Label] = set()
    waiting: list[dict[Label, int]] = [{}]
    made = 0
    while waiting and made < MOST:
        rounds, waiting = waiting, []
        for chosen in rounds:
            maker = Maker(dialect, chosen, calls)
            payload = maker.unit(unit)
            yield payload, maker.odd
            made += 1
            for label, ways in maker.met.items():
                if label not in known:
                    known.add(label)
                    waiting += [{**chosen, label: way} for way in range(1, ways)]


class Maker:
    """Makes one payload; what is not `chosen` is decided in the first way."""

    def __init__(self, dialect: Dialect, chosen: dict[Label, int], calls: Any = None) -> None:
        self.dialect, self.chosen, self.calls = dialect, chosen, calls
        self.met: dict[Label, int] = {}
        self.at: Label = ()
        self.depth = self.count = 0
        self.odd = False  # whether something in it fits no picture
        self.open: list[tuple[str, str]] = []  # calls that wait for a result
        self.wanted: list[tuple[str, str]] = []  # calls that results ask for

    def pick(self, what: Any, ways: Sequence[Any]) -> Any:
        """Decide something at this place."""
        at = self.at[:-1] if what == "own" else self.at  # that is decided for the whole object
        label = (*at[-NEAR:], what)
        if self.depth <= MAX_DEPTH and len(ways) > 1:
            self.met.setdefault(label, len(ways))
        return ways[min(self.chosen.get(label, 0), len(ways) - 1)]

    def unit(self, name: str) -> Any:
        """Make a payload of a unit."""
        return self.shape(self.dialect.units[name])

    def shape(self, shape: Shape) -> Any:
        """Make a wire value of a shape."""
        case = self.pick(shape.name, shape.cases)
        return self.case(case, shape.kind)

    def case(self, case: Case, kind: str | None, nth: int = 0) -> Any:
        """Make a wire value of a case."""
        self.depth += 1
        outer, self.at = self.at, (*self.at, f"{case.shape}.{case.name}")
        said = kind or next(iter(case.sides[0].get("/type", ())), None)
        made = self.picture(case.wire, _Said(case, str(said), nth))
        self.at = outer
        self.depth -= 1
        return made

    # -- pictures -----------------------------------------------------------------------------

    def picture(self, p: Picture, said: _Said) -> Any:
        """Make a wire value of a picture; ABSENT where nothing stands."""
        if isinstance(p, Literal):
            return self.pick("literal", p.values)
        if isinstance(p, Text):
            return p.write(tuple(str(self.named(name, said)) for name in p.names)) or ABSENT
        if isinstance(p, Items):
            found = [self.within(n, child, said) for n, child in enumerate(p.items)]
            more = self.within("rest", p.rest, said) if p.rest is not None else None
            return [*found, *(more if isinstance(more, list) else ())]
        if isinstance(p, Fields):
            return self.fields(p, said)
        assert isinstance(p, Hole)
        return self.hole(p, said)

    def within(self, key: Any, child: Picture, said: _Said) -> Any:
        """Make what stands below a key."""
        outer, self.at = self.at, (*self.at, key)
        found = self.picture(child, said)
        self.at = outer
        return found

    def fields(self, p: Fields, said: _Said) -> dict[str, Any]:
        """Make an object."""
        out: dict[str, Any] = {}
        for names, child in p.entries:
            if isinstance(child, Fields) and can_be_left_out(child):
                if not self.pick(("there", names[0]), (False, True)):
                    continue
            value = self.within(names[0], child, said)
            if value is not ABSENT:
                out[self.pick(("key", names[0]), _spellings(names))] = value
        for n, hole in enumerate(p.spread):
            value = self.within(("rest", n), hole, said)
            if isinstance(value, dict):
                out.update({k: v for k, v in value.items() if k not in p.names})
        if not p.closed and not p.spread and self.pick("zzz", (False, True)):
            out["zzz"], self.odd = "x", True
        return out

    def hole(self, h: Hole, said: _Said) -> Any:
        """Make a wire value of a hole."""
        if len(h.paths) > 1:
            there = [n for path in h.paths if (n := said.number(path, self)) is not None]
            total = sum(there) if there or h.mark is None else ABSENT
            return total if total is ABSENT else self.pick("sum", (total, total + 1))
        if h.mark is not None:
            there = self._there(h, said)
            if there is not True:
                return there
        if h.path == "nth":
            return said.nth
        value = self.value(h, said)
        for lens in h.lenses:
            value = self.lens(lens, value, h)
        return value

    def _there(self, h: Hole, said: _Said) -> Any:
        """Decide whether something stands at a marked hole; also what never fits there."""
        if h.path in said.summed and h.shape is None:
            return said.number(h.path, self) is not None or ABSENT
        likely = h.mark == "made"
        if h.shape == "conversation":
            return True
        if h.path == "parts" and said.kind == "message" and not said.full:
            said.full = likely = True  # of a message that holds nothing there is nothing to tell
        if h.path.startswith("own.") and h.shape is None and not h.lenses:
            # They go or stay as they are, each by itself, so one payload shows all of an object.
            return self.pick("own", (ABSENT, True))
        ways: list[Any] = [True, ABSENT] if likely else [ABSENT, True]
        if field_type(said.case.shape, h.path) != "any" or h.lenses or h.shape:
            ways.append(UNFIT)
        found = self.pick("there", ways)
        self.odd = self.odd or found is UNFIT
        return found

    # -- values -------------------------------------------------------------------------------

    def value(self, h: Hole, said: _Said) -> Any:
        """Make what stands at a hole before its lenses."""
        if h.shape == "conversation":
            return self.talk()
        if h.mode == "each" and h.shape is not None:
            if "joined" in h.lenses:
                return self.pick("text", TEXTS)
            return self.elements(h, h.shape)
        if h.mode == "entries" and h.shape is not None:
            return [self.member(h.shape, 0)]
        if h.shape is not None:
            if h.path == "result" and self.open:  # it is that of the call around it
                self.open.insert(0, self.open.pop())
            return self.member(h.shape, 0)
        return self.scalar(h, said)

    def elements(self, h: Hole, name: str) -> list[Any]:
        """Make a list: one element of each kind, each before and behind another, and two of it."""
        if self.depth > MAX_DEPTH:
            return [] if h.mark else [self.member(name, 0)]
        ways = ("one",) if "single" in h.lenses else ("one", "none", "two", "twice")
        many = self.pick("many", ways)
        outer, self.at = self.at, (*self.at, many if many == "two" else "[]")
        if outer.count("[]") > 0:  # who speaks means nothing to what stands within a part
            self.at = tuple(step for step in self.at if not isinstance(step, Role))
        if many == "twice":
            found = [self.member(name, 0), self.member(name, 0, 1)]
        else:
            found = [self.member(name, n) for n in range({"none": 0, "two": 2}.get(many, 1))]
        self.at = outer
        return found

    def member(self, name: str, which: int, nth: int | None = None) -> Any:
        """Make a wire value of a shape or of one member of a union."""
        members = self.dialect.unions.get(name, [name])
        shape = self.dialect.shapes[self.pick(("member", which), members)]
        case = self.pick(shape.name, shape.cases)
        # What a second element may hold is tried where it stands alone.
        outer = self.at
        self.at = tuple("[]" if step == "two" else step for step in outer)
        found = self.case(case, shape.kind, which if nth is None else nth)
        self.at = outer
        return found

    def scalar(self, h: Hole, said: _Said) -> Any:
        """Make a value of the type of a field."""
        if h.path == "id" and said.kind == "tool_call":
            self.count += 1
            ways = (f"call_{self.count}", LONG, "", "call_1")
            if "id" not in said.said:
                said.said["id"] = self.pick("id", ways)
                self.open.append((said.said["id"], self.name(said)))
            return said.said["id"]
        if h.path in ("tool_call_id", "name") and said.kind == "tool_result":
            return self._answered(said)[h.path]
        for lens in h.lenses:
            if is_guard(lens) and (kinds := [w for w in lens.split("+") if w in GUARDS]):
                return self.pick("guard", [v for kind in kinds for v in GUARDS[kind]])
        if h.path in said.summed:
            return said.number(h.path, self, there=True)
        return self.named(h.path, said)

    def _answered(self, said: _Said) -> dict[str, str]:
        if "tool_call_id" not in said.said:
            if self.open:
                call = self.open.pop(0)
            else:
                self.count += 1
                call = (f"call_{self.count}", "f")
                self.wanted.append(call)
            said.said["tool_call_id"], said.said["name"] = call
        return said.said

    def named(self, path: str, said: _Said) -> Any:
        """Make a value for a field of the IR."""
        last = path.rpartition(".")[2]
        if path.startswith("own."):
            return "x"  # whatever it is, it goes or stays as it is
        if last in TIMED:
            return self.pick(last, TIMES)
        if last == "name":
            return self.name(said)
        if last == "id":
            self.count += 1
            return f"{said.kind}_{self.count}"
        if last == "media_type":
            return self.pick(last, MEDIA_TYPES)
        ways = BY_NAME.get(last) or VALUES[field_type(said.case.shape, path)]
        return self.pick(last, ways)

    def name(self, said: _Said) -> str:
        """Make a name, the same wherever one object says it."""
        if "name" not in said.said:
            said.said["name"] = self.pick("name", ("f", LONG))
        return said.said["name"]

    def lens(self, lens: str, value: Any, h: Hole) -> Any:
        """Put a value through a lens, from the IR to the wire."""
        table, schema = self.dialect.tables.get(lens), self.dialect.schemas.get(lens)
        if table is not None:
            more = [] if table.closed else ["new_word"]
            return self.pick(lens, [*table.to_ir, *table.read_also, *more])
        if schema is not None:
            return self.pick(lens, SCHEMAS)
        if lens == "json":
            guards = [g for g in h.lenses if is_guard(g) and g not in UNTYPED]
            return stringify(value if guards else self.pick(lens, VALUES["object"]))
        if lens == "not":
            return self.pick(lens, (True, False))
        if lens == "not-an-object":
            return self.pick(lens, NOT_OBJECTS)
        if lens == "milliseconds":
            return milliseconds_of(value)
        if lens == "single":
            return value[0]
        if lens in ("bare", "blocks", "plain", "listed") and isinstance(value, list):
            return self._form(lens, value)
        return value

    def _form(self, lens: str, value: list[Any]) -> Any:
        if lens == "listed":
            return self.pick(lens, (value, value[0])) if len(value) == 1 else value
        text = self.pick((lens, "text"), TEXTS)
        return self.pick(lens, (value, text))

    # -- messages -----------------------------------------------------------------------------

    def talk(self) -> list[Any]:
        """Make a list of wire messages: one or two, in every order of their cases."""
        talk = self.dialect.conversation
        assert talk is not None
        cases = [case for group in talk.groups for case in group.cases]
        ways = [(), *((one,) for one in cases), *((one, two) for one in cases for two in cases)]
        found: list[Any] = []
        for case in self.pick("talk", ways[1:] + ways[:1]):
            outer, self.at = self.at, (*self.at, Role(case.name))
            wire = case.wire
            if isinstance(wire, Hole):
                found.append(self.member(str(wire.shape), 0))
            else:
                found.append(self.picture(wire, _Said(case, "message", 0)))
            self.at = outer
            if self.wanted and self.calls is not None:
                found[-1:] = [*self.calls(self.wanted), found[-1]]
                self.wanted = []
        return found


class Role(str):
    """The case of a message, in the place of a decision."""


class _Said:
    """What one case has said so far: ids and names are the same wherever it says them."""

    def __init__(self, case: Case, kind: str, nth: int) -> None:
        self.case, self.kind, self.nth = case, kind, nth
        self.said: dict[str, str] = {}
        self.full = False  # whether it has a part
        self.numbers: dict[str, int | None] = {}
        sums = (h.paths for h in pic.holes(case.wire) if len(h.paths) > 1)
        self.summed = {path for paths in sums for path in paths}

    def number(self, path: str, maker: Maker, there: bool = False) -> int | None:
        """Return the number at a path that is part of a sum, or None where it is left out."""
        if path not in self.numbers or (there and self.numbers[path] is None):
            ways: tuple[int | None, ...] = (7, 0) if there else (7, None, 0)
            self.numbers[path] = maker.pick(("number", path), ways)
        return self.numbers[path]


def _spellings(names: tuple[str, ...]) -> list[str]:
    """Return the spellings of a key that differ in more than how its words are joined."""
    found = {name.replace("_", "").lower(): name for name in reversed(names)}
    return list(reversed(found.values()))
