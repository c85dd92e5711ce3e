"""Random payloads, made from the pictures of a dialect; the same for the same seed.

A payload that its own pictures made must read; what the laws say of it is another matter. Values
are small and dull on purpose: a counterexample is for people.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from ..ir import field_type
from ..language.lenses import UNTYPED, is_guard, stringify
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole
from ..language.shape import Case
from .maker import TIMED, TIMES, Made, Maker

MAX_DEPTH = 7
WORDS = ("a", "Hi", "b c", "x-1", "Zoë", "1")
OBJECTS: tuple[Any, ...] = ({}, {"a": 1}, {"b": {"c": [True, None]}}, {"output": "x"}, {"d": "e"})
ANY: tuple[Any, ...] = ("x", "", 7, 0.5, True, [], {}, ["a", 1], {"k": None})
# What dialects have a place for; another word of the same is lost in most.
MEDIA = {
    "media_type": ("image/png", "application/pdf", "audio/wav"),
    "url": ("https://a.b/c.png", "gs://a/c.pdf"),
    "data": ("AA==",),
}
BY_TYPE: dict[str, tuple[Any, ...]] = {
    "string": WORDS,
    "integer": (1, 7, 40),  # 0 often means that nothing is asked for
    "number": (0, 0.5, 1, -2),
    "bool": (True, False),
    "list": ([], ["a"], ["a", "b"]),
    "list of text": ([], ["a"], ["a", "b"]),
    "object": OBJECTS,
    "null": (None,),
    "opaque": ("c2ln", "AA=="),
    "any": ANY,
}


class Generator(Maker):
    """Makes wire payloads of one dialect by chance."""

    def __init__(self, dialect: Dialect, seed: str) -> None:
        super().__init__(dialect)
        self.chance = random.Random(seed)

    def rarely(self) -> bool:
        """Say yes now and then."""
        return self.chance.random() < 0.04

    def text(self) -> str:
        """Make a short text."""
        return self.chance.choice(WORDS)

    def name(self) -> str:
        """Make the name of a tool."""
        return self.chance.choice(("f", "g", "get_weather"))

    def choose(self, what: Any, ways: Sequence[Any]) -> Any:
        return self.chance.choice(ways)

    def mostly(self, what: Any, ways: Sequence[Any]) -> Any:
        return self.chance.choice(ways) if self.rarely() else ways[0]

    def maybe(self, what: Any = None) -> bool:
        """Say yes about every second time."""
        return self.chance.random() < (0.5 if self.depth < MAX_DEPTH else 0.1)

    # -- pictures -----------------------------------------------------------------------------

    def piece(self, name: str, made: Made) -> str:
        return self.chance.choice(MEDIA[name]) if name in MEDIA and self.maybe() else self.text()

    def rest(self, n: int, hole: Hole, made: Made) -> Any:
        return self.hole(hole, made) if hole.mark is None or self.maybe() else ABSENT

    def unknown(self) -> Any:
        return self.chance.choice(ANY) if self.rarely() else ABSENT

    def there(self, h: Hole, made: Made) -> Any:
        """Decide, once for each number, whether something stands at a marked hole."""
        if h.path in made.summed and h.shape is None:
            there = made.number(h.path, self) is not None
        else:
            there = h.mark in ("made", "fill", "default") or self.maybe()
        if there:
            return True
        return None if self.rarely() and h.mark != "made" else ABSENT

    def number(self, path: str, there: bool) -> int | None:
        out = not there and not self.maybe()
        return None if out else self.chance.choice((0, 1, 7, 40))

    # -- values -------------------------------------------------------------------------------

    def elements(self, h: Hole, name: str) -> Any:
        """Make a list of up to three."""
        least, most = 0 if h.mark else 1, 1 if self.depth > MAX_DEPTH else 3
        count = 1 if "single" in h.lenses else self.chance.randint(least, most)
        if "joined" in h.lenses:
            return self.text()
        return [self.member(name, n) for n in range(count)]

    def entries(self, name: str) -> list[Any]:
        """Make the list of a map; those that say the same but for numbers are one."""
        listed = [self.member(name) for _ in range(self.chance.randint(1, 3))]
        keyed = {
            stringify({k: v for k, v in e.items() if not isinstance(v, int)}): e for e in listed
        }
        return list(keyed.values())

    def scalar(self, h: Hole, made: Made) -> Any:
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
        last = h.path.rpartition(".")[2]
        if last in MEDIA and not h.path.startswith("own.") and self.maybe():
            return self.chance.choice(MEDIA[last])
        kind = field_type(made.case.shape, h.path)
        if h.path in made.summed:
            return made.number(h.path, self, there=True)
        if h.path == "name":
            return self.name()
        return self.chance.choice(BY_TYPE[kind])

    def word(self, table: str) -> Any:
        words = self.dialect.tables[table]
        known = [*words.to_ir, *words.read_also]
        return "new_word" if self.rarely() and not words.closed else self.chance.choice(known)

    def schema(self, name: str) -> Any:
        schema = self.dialect.schemas[name]
        kinds = sorted(schema.types) or ["string", "integer"]
        inner = {"a": {"type": self.chance.choice(kinds)}}
        made: dict[str, Any] = {"type": schema.root or "object"}
        return {**made, "properties": inner} if self.maybe() else made

    def json(self, h: Hole, value: Any) -> str:
        guards = [g for g in h.lenses if is_guard(g) and g not in UNTYPED]
        kinds = guards[0].split("+") if guards else ["object"]
        text = stringify(self.chance.choice(BY_TYPE[self.chance.choice(kinds)]))
        return f" {text}" if self.rarely() else text

    def form(self, lens: str, value: Any) -> Any:
        if lens == "by-key" and all(isinstance(one, dict) for one in value) and self.maybe():
            whole = {key: said for one in value for key, said in one.items()}
            return [whole] if whole else value
        if (lens in ("bare", "blocks") and self.maybe()) or (
            lens == "plain" and isinstance(value, list)
        ):
            return self.text()
        return value[0] if lens == "listed" and len(value) == 1 and self.maybe() else value

    def turns(self, cases: list[Case]) -> Iterator[Case]:
        for _ in range(self.chance.randint(1, 4)):
            yield self.chance.choice(cases)
