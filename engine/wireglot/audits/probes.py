"""Payloads made from the pictures of a dialect: each choice that they leave is taken once.

`generate.py` draws at random; here each decision (a case, a member of a union, whether something is
there, a word of a table, a value of a type) is taken in every way, with all others as small as can
be. Beside the values that fit stand those that providers refuse: names out of bounds, empty texts,
numbers too large, schemas of odd keywords.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..authoring.generate import BY_TYPE, VALUES
from ..authoring.maker import CaseState, Maker
from ..ir import field_type
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole, Picture, holes
from ..language.shape import Case, Shape
from ..language.source import Pos
from ..loading.rulesources import beside

Label = tuple[Any, ...]  # the place of a decision, and what is decided
Chosen = dict[Label, int]  # which way is taken; the first where nothing is said
Ways = tuple[Pos | None, Sequence[Any]]  # of a decision: where its picture stands, and the ways
Calls = Callable[[list[tuple[str, str]]], list[Any]]  # the messages of calls: ids and names
Payload = tuple[Any, bool]  # and whether it holds what no picture takes
Met = dict[Label, tuple[str, Ways]]  # the shape of a decision, and its ways
MAX_DEPTH = 6
LABEL_STEPS = 6  # steps above a decision that tell its place from others
MAX_PAYLOADS = 6000  # payloads of one unit; only a file that means harm has so many
LONG = "9 long name" + "!" * 250  # fits no limits on names and ids
UNFIT: Any = {"unfit": [{}]}
TEXTS = ("a", "", " ")
EXPLORED = VALUES["explored"]
GUARDS = {**BY_TYPE, "list": [["a"], []]}
del GUARDS["any"]


@functools.cache
def schemas() -> tuple[dict[str, Any], ...]:
    """Return the JSON Schemas of `rules/audits/schemas.yaml`: with every keyword, one each."""
    file = beside("audits/schemas.yaml")
    wrapped: list[dict[str, Any]]
    wrapped = [{"type": "object", "properties": {"a": schema}} for schema in file["properties"]]
    for schema in wrapped:
        schema.update(file["defined"] if "$ref" in schema["properties"]["a"] else {})
    return (*file["roots"], *wrapped)


class Explored:
    """What was tried of a dialect: of its variants only what differs in them is tried again."""

    def __init__(self) -> None:
        self.met: dict[Label, list[Ways]] = {}
        self.led_to: dict[str, list[Chosen]] = {}  # by shape: how something of it was first met
        self.contents: dict[str, list[Any]] = {}  # of each shape

    def again(self, dialect: Dialect) -> list[Chosen]:
        """Return the choices that lead to shapes of which this variant says something new."""
        choices: dict[str, Chosen] = {}
        for shape in (*dialect.shapes.values(), *dialect.units.values()):
            content, known = _content_of(dialect, shape), self.contents.setdefault(shape.name, [])
            if content not in known:
                known.append(content)
                choices.update((str(one), one) for one in self.led_to.get(shape.name, ()))
        return list(choices.values())

    def keep(self, chosen: Chosen, met: Met) -> None:
        """Keep choices by which a decision of a shape was met for the first time."""
        for label, (shape, _) in met.items():
            if label not in self.met:
                self.met[label] = []
                self.led_to.setdefault(shape, []).append(chosen)


def _content_of(dialect: Dialect, shape: Shape) -> Any:
    """Return a shape, with the unions and tables that it names: equal where both say the same."""
    inner = [hole for case in shape.cases for hole in holes(case.wire)]
    tables = [dialect.tables[lens] for h in inner for lens in h.lenses if lens in dialect.tables]
    unions = [dialect.unions.get(h.named) for h in inner]
    return shape, unions, [(table.to_ir, table.read_also, table.closed) for table in tables]


def explore(dialect: Dialect, unit: str, calls: Calls, known: Explored) -> Iterator[Payload]:
    """Yield payloads of a unit in which each decision is taken in every way, the smallest first.

    `calls` gives the wire messages of calls that results answer; `known` is what was so yielded of
    the dialect without this variant.
    """
    met: set[Label] = set()
    waiting: list[Chosen] = [{}, *filter(None, known.again(dialect))]
    count = 0
    while waiting and count < MAX_PAYLOADS:
        current, waiting = waiting, []
        for chosen in current:
            maker = Prober(dialect, chosen, calls)
            payload = maker.unit(unit)
            yield payload, maker.odd
            count += 1
            known.keep(chosen, maker.met)
            for label, (_, ways) in maker.met.items():
                if label not in met and ways not in known.met[label]:
                    known.met[label].append(ways)
                    waiting += [{**chosen, label: way} for way in range(1, len(ways[1]))]
                met.add(label)


class Prober(Maker):
    """Makes one payload; what is not `chosen` is decided in the first way."""

    by_type, by_name, guards = EXPLORED["types"], EXPLORED["names"], GUARDS
    names, odd_ids = ("f", LONG), (LONG, "", "call_1")
    terms = (7, 0)

    def __init__(self, dialect: Dialect, chosen: Chosen, calls: Calls) -> None:
        super().__init__(dialect)
        self.chosen, self.calls = chosen, calls
        self.met: Met = {}
        self.at: Label = ()
        self.shape_name = ""  # the shape that is made
        self.pos: Pos | None = None  # where the picture stands
        self.odd = False  # whether something in it fits no picture

    def choose(self, what: Any, ways: Sequence[Any]) -> Any:
        """Decide something at this place."""
        whole = what in ("own", "all")  # that is decided for the whole object
        at = self.at[:-1] if whole else self.at
        label = (*at[-LABEL_STEPS:], what)
        if self.depth <= MAX_DEPTH and len(ways) > 1:
            self.met.setdefault(label, (self.shape_name, (self.pos, ways)))
        return ways[min(self.chosen.get(label, 0), len(ways) - 1)]

    mostly = choose

    def maybe(self, what: Any) -> bool:
        return bool(self.choose(what, (True, False) if what == "not" else (False, True)))

    # -- pictures -----------------------------------------------------------------------------

    def case(self, case: Case, kind: str | None, nth: int) -> Any:
        """Make a wire value of a case; the label of each decision in it names the case."""
        outer = self.at, self.shape_name
        # What a second element may hold is tried where it stands alone.
        steps = ("[]" if step == "two" else step for step in self.at)
        self.at, self.shape_name = (*steps, f"{case.shape}.{case.name}"), case.shape
        self.met.setdefault(self.at[-LABEL_STEPS:], (case.shape, (None, ("made",))))
        made = super().case(case, kind, nth)
        self.at, self.shape_name = outer
        return made

    def within(self, key: Any, child: Picture, state: CaseState) -> Any:
        outer = self.at, self.pos
        self.at, self.pos = (*self.at, key), getattr(child, "pos", None)
        found = super().within(key, child, state)
        self.at, self.pos = outer
        return found

    def key(self, names: tuple[str, ...]) -> str:
        """Choose a spelling that differs in more than how its words are joined."""
        found = {name.replace("_", "").lower(): name for name in reversed(names)}
        return str(self.choose(("key", names[0]), list(reversed(found.values()))))

    def unknown(self) -> Any:
        if not self.choose("zzz", (False, True)):
            return ABSENT
        self.odd = True
        return "x"

    def total(self, h: Hole, state: CaseState) -> Any:
        """Make a sum, or one that does not add up."""
        total = super().total(h, state)
        return total if total is ABSENT else self.choose("sum", (total, total + 1))

    def there(self, h: Hole, state: CaseState) -> Any:
        """Decide whether something stands at a marked hole; also what never fits there."""
        # Some are noted only beside others, so plain ones of an object stand together once, too.
        beside = h.shape is None and self.choose("all", (False, True))
        likely = h.mark == "made" or bool(beside)
        if h.shape == "conversation":
            return True
        if h.path == "parts" and state.kind == "message" and not state.full:
            state.full = likely = True  # of a message that holds nothing there is nothing to tell
        if h.path.startswith("own.") and h.shape is None and not h.lenses:
            # They go or stay as they are, each by itself, so one payload shows all of an object.
            return self.choose("own", (ABSENT, True))
        ways: list[Any] = [True, ABSENT] if likely else [ABSENT, True]
        if field_type(state.case.shape, h.path) != "any" or h.lenses or h.shape:
            ways.append(UNFIT)
        found = self.choose("there", ways)
        self.odd = self.odd or found is UNFIT
        return found

    # -- values -------------------------------------------------------------------------------

    def elements(self, h: Hole, name: str) -> Any:
        """Make a list: one element of each kind, each before and behind another, and two of it."""
        if "joined" in h.lenses:
            return self.choose("text", TEXTS)
        if self.depth > MAX_DEPTH:
            return [] if h.mark else [self.member(name)]
        ways = ("one",) if "single" in h.lenses else ("one", "none", "two", "twice")
        how_many = self.choose("many", ways)
        outer, self.at = self.at, (*self.at, how_many if how_many == "two" else "[]")
        if outer.count("[]") > 0:  # who speaks means nothing to what stands within a part
            self.at = tuple(step for step in self.at if not isinstance(step, Role))
        if how_many == "twice":
            elements = [self.member(name), self.member(name, 1, which=0)]
        else:
            elements = [self.member(name, n) for n in range({"none": 0, "two": 2}.get(how_many, 1))]
        self.at = outer
        return elements

    def scalar(self, h: Hole, state: CaseState) -> Any:
        if h.path.rpartition(".")[2] in ("parameters", "schema"):
            return self.schema(h.path)
        return super().scalar(h, state)

    def named(self, path: str, state: CaseState) -> Any:
        """Make a value for a field; one of a dialect's own goes or stays, whatever it is."""
        return "x" if path.startswith("own.") else super().named(path, state)

    def word(self, table: str) -> Any:
        words = self.dialect.tables[table]
        more = [] if words.closed else ["new_word"]
        return self.choose(table, [*words.to_ir, *words.read_also, *more])

    def schema(self, name: str) -> Any:
        return self.choose(name, schemas())

    def form(self, lens: str, value: Any) -> Any:
        """Choose between a list and what is written for it."""
        if not isinstance(value, list) or lens not in ("bare", "blocks", "plain", "listed"):
            return value
        if lens == "listed":
            return self.choose(lens, (value, value[0])) if len(value) == 1 else value
        text = self.choose((lens, "text"), TEXTS)
        return self.choose(lens, (value, text))

    # -- messages -----------------------------------------------------------------------------

    def turns(self, cases: list[Case]) -> Any:
        """Choose one message or two, in every order of their cases."""
        pairs = [(), *((one,) for one in cases), *((one, two) for one in cases for two in cases)]
        return self.choose("talk", pairs[1:] + pairs[:1])

    def messages(self, case: Case) -> list[Any]:
        """Make a message, after those of the calls that its results ask for."""
        outer, self.at = self.at, (*self.at, Role(case.name))
        messages = super().messages(case)
        self.at = outer
        if self.missing_calls:
            messages = [*self.calls(self.missing_calls), *messages]
            self.missing_calls = []
        return messages


class Role(str):
    """The case of a message, in the place of a decision."""
