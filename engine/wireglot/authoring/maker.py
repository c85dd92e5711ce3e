"""Payloads made from the pictures of a dialect: the walk, which leaves each choice to others.

`generate.py` draws at random, and `audits/probes.py` takes each choice once in each way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..ir import field_type
from ..language import picture as pic
from ..language.lenses import UNTYPED, Misfit, is_guard, milliseconds_of, stringify
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text
from ..language.shape import Case, Shape

TIMED = ("time", "start", "end")
TIMES = ("2026-01-31T12:00:00.000Z", "2026-01-31T12:00:01.250Z")
NUMBERS = (1, 0, 70, -5)
NOT_OBJECTS = ("{", "", "no", "[1]", '"x"')


class CaseState:
    """What one case has made so far: ids, names and the terms of a sum are said once."""

    def __init__(self, case: Case, kind: str, nth: int = 0) -> None:
        self.case, self.kind, self.nth = case, kind, nth
        self.fields: dict[str, Any] = {}
        self.full = False  # whether it has a part
        self.numbers: dict[str, int | None] = {}
        sums = (h.paths for h in pic.holes(case.wire) if len(h.paths) > 1)
        self.summed = {path for paths in sums for path in paths}

    def number(self, path: str, maker: Maker, there: bool = False) -> int | None:
        """Return the number at a path that is part of a sum, or None where it is left out."""
        if path not in self.numbers or (there and self.numbers[path] is None):
            self.numbers[path] = maker.number(path, there)
        return self.numbers[path]


class Maker:
    """Makes wire payloads of one dialect. What a maker of its kind decides stands at the top."""

    by_type: Mapping[str, Sequence[Any]]  # values for a field of a type
    by_name: Mapping[str, Sequence[Any]]  # and for one of a name, whatever its type
    guards: Mapping[str, Sequence[Any]]  # and where a hole says a type
    names: Sequence[str]  # of tools
    odd_ids: Sequence[str] = ()  # of calls, beside one that no other has
    terms: Sequence[int]  # of sums

    choose: Callable[[Any, Sequence[Any]], Any]  # one of several ways, of what
    mostly: Callable[[Any, Sequence[Any]], Any]  # the same, where the first is the usual one
    maybe: Callable[[Any], bool]
    unknown: Callable[[], Any]  # the value of a key that no picture names, or ABSENT
    there: Callable[[Hole, CaseState], Any]  # True, or what stands for nothing at a marked hole
    elements: Callable[[Hole, str], Any]
    word: Callable[[str], Any]  # of a table
    schema: Callable[[str], Any]
    form: Callable[[str, Any], Any]  # of a list: itself, or what is written for it
    turns: Callable[[list[Case]], Iterable[Case]]

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.depth = self.count = 0
        self.open_calls: list[tuple[str, str]] = []  # calls that wait for a result
        self.missing_calls: list[
            tuple[str, str]
        ] = []  # calls that results ask for, and nobody made

    def unit(self, name: str) -> Any:
        """Make a payload of a unit: request, response or error."""
        return self.shape(self.dialect.units[name])

    def shape(self, shape: Shape, nth: int = 0) -> Any:
        """Make a wire value of one shape by one of its cases."""
        return self.case(self.choose(shape.name, shape.cases), shape.kind, nth)

    def member(self, name: str, nth: int = 0, which: int | None = None) -> Any:
        """Make a wire value of a shape, or of one member of a union; it knows its place."""
        members = self.dialect.unions.get(name, [name])
        what = ("member", nth if which is None else which)
        return self.shape(self.dialect.shapes[self.choose(what, members)], nth)

    def case(self, case: Case, kind: str | None, nth: int) -> Any:
        self.depth += 1
        kind = kind or next(iter(case.kinds), None)
        value = self.picture(case.wire, CaseState(case, str(kind), nth))
        self.depth -= 1
        return value

    # -- pictures -----------------------------------------------------------------------------

    def picture(self, p: Picture, state: CaseState) -> Any:
        """Make a wire value of a picture; ABSENT where nothing stands."""
        if isinstance(p, Literal):
            return self.mostly("literal", p.values)
        if isinstance(p, Text):
            drawn = tuple(str(self.named(name, state)) for name in p.names)
            return p.write(drawn) or p.write(("a",) * len(drawn)) or ABSENT  # others would part
        if isinstance(p, Items):
            head = [self.within(n, child, state) for n, child in enumerate(p.items)]
            more = self.within("rest", p.rest, state) if p.rest is not None else None
            return [*head, *(more if isinstance(more, list) else ())]
        if isinstance(p, Fields):
            return self.fields(p, state)
        assert isinstance(p, Hole)
        return self.hole(p, state)

    def within(self, key: Any, child: Picture, state: CaseState) -> Any:
        return self.picture(child, state)

    def fields(self, p: Fields, state: CaseState) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for names, child in p.entries:
            if isinstance(child, Fields) and can_be_left_out(child):
                if not self.maybe(("there", names[0])):
                    continue
            value = self.within(names[0], child, state)
            if value is not ABSENT:
                out[self.key(names)] = value
        for n, hole in enumerate(p.spread):
            value = self.within(("rest", n), hole, state)
            if isinstance(value, dict):
                out.update({k: v for k, v in value.items() if k not in p.names})
        if not p.closed and not p.spread and (more := self.unknown()) is not ABSENT:
            out["zzz"] = more
        return out

    def key(self, names: tuple[str, ...]) -> str:
        """Choose the spelling of a key."""
        return str(self.mostly(("key", names[0]), names))

    def hole(self, h: Hole, state: CaseState) -> Any:
        if len(h.paths) > 1:
            return self.total(h, state)
        if h.mark is not None:
            if h.path in state.summed and h.shape is None:
                there = state.number(h.path, self) is not None or ABSENT
            else:
                there = self.there(h, state)
            if there is not True:
                return there
        if h.path == "nth":
            return state.nth
        value = self.value(h, state)
        for lens in h.lenses:
            value = self.lens(lens, value, h)
        return value

    def total(self, h: Hole, state: CaseState) -> Any:
        """Make a number that is the sum of what its terms are elsewhere."""
        there = [n for path in h.paths if (n := state.number(path, self)) is not None]
        return sum(there) if there or h.mark is None else ABSENT

    def value(self, h: Hole, state: CaseState) -> Any:
        """Make what stands at a hole before its lenses."""
        if h.shape == "conversation":
            return self.talk()
        if h.shape is None:
            return self.scalar(h, state)
        if h.mode == "each":
            return self.elements(h, h.shape)
        if h.mode == "entries":
            return self.entries(h.shape)
        if h.path == "result" and self.open_calls:  # it is that of the call around it
            self.open_calls.insert(0, self.open_calls.pop())
        return self.member(h.shape)

    def entries(self, name: str) -> list[Any]:
        return [self.member(name)]

    def scalar(self, h: Hole, state: CaseState) -> Any:
        """Make a value of the type of a field; ids and names of results are those of calls."""
        if h.path == "id" and state.kind == "tool_call":
            self.count += 1
            if "id" not in state.fields:
                state.fields["id"] = self.choose("id", (f"call_{self.count}", *self.odd_ids))
                self.open_calls.append((state.fields["id"], self.name(state)))
            return state.fields["id"]
        if h.path in ("tool_call_id", "name") and state.kind == "tool_result":
            return self.answered(state)[h.path]
        for lens in h.lenses:
            if is_guard(lens) and (kinds := [w for w in lens.split("+") if w in self.guards]):
                return self.choose("guard", [v for kind in kinds for v in self.guards[kind]])
        if h.path in state.summed:
            return state.number(h.path, self, there=True)
        return self.named(h.path, state)

    def answered(self, state: CaseState) -> dict[str, str]:
        """Return the id and name of the call that a result answers."""
        if "tool_call_id" not in state.fields:
            if self.open_calls:
                call = self.open_calls.pop(0)
            else:
                self.count += 1
                call = (f"call_{self.count}", "f")
                self.missing_calls.append(call)
            state.fields["tool_call_id"], state.fields["name"] = call
        return state.fields

    def named(self, path: str, state: CaseState) -> Any:
        last = path.rpartition(".")[2]
        if last in TIMED:
            return self.choose(last, TIMES)
        if last == "name":
            return self.name(state)
        if last == "id":
            self.count += 1
            return f"{state.kind}_{self.count}"
        ways = self.by_name.get(last) or self.by_type[field_type(state.case.shape, path)]
        return self.choose(last, ways)

    def name(self, state: CaseState) -> str:
        """Choose the name of a tool, once for an object."""
        if "name" not in state.fields:
            state.fields["name"] = self.choose("name", self.names)
        return str(state.fields["name"])

    def number(self, path: str, there: bool) -> int | None:
        """Choose a term of a sum; None where it is left out, which it is not where it must be."""
        first, *more = self.terms
        found: int | None = self.choose(
            ("number", path), (first, *more) if there else (first, None, *more)
        )
        return found

    def json(self, h: Hole, value: Any) -> str:
        """Make JSON text, of any object where the hole names neither a type nor a shape."""
        guards = [g for g in h.lenses if is_guard(g) and g not in UNTYPED]
        said = bool(guards) or h.shape is not None
        return stringify(value if said else self.choose("json", self.by_type["object"]))

    def lens(self, lens: str, value: Any, h: Hole) -> Any:
        """Put a value through a lens, from the IR to the wire."""
        if lens in self.dialect.tables:
            return self.word(lens)
        if lens in self.dialect.schemas:
            return self.schema(lens)
        if lens == "json":
            return stringify(value) if h.mode == "each" else self.json(h, value)
        if lens in self.dialect.lists:
            try:
                return self.dialect.lists[lens].text(value)
            except Misfit:  # a list of nothing, or of what is no text
                return ""
        if lens == "not":
            return self.maybe("not")
        if lens == "not-an-object":
            return self.choose(lens, NOT_OBJECTS)
        if lens == "milliseconds":
            return milliseconds_of(value)
        if lens == "digits":
            return self.choose(lens, NUMBERS)
        if lens == "as-json":
            return {"said": value} if isinstance(value, str) else value  # which a guard chose
        return value[0] if lens == "single" else self.form(lens, value)

    def talk(self) -> list[Any]:
        """Make a list of wire messages: a talk, with calls and then their results."""
        turns = self.turns(self.dialect.message_cases)
        return [message for case in turns for message in self.messages(case)]

    def messages(self, case: Case) -> list[Any]:
        """Make the messages that a case of the conversation wants there."""
        if isinstance(case.wire, Hole):
            return [self.member(str(case.wire.shape))]
        return [self.picture(case.wire, CaseState(case, "message"))]


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
