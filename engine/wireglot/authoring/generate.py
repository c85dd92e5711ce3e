"""Random payloads, made from the pictures of a dialect; the same for the same seed.

A payload that its own pictures made must read; what the laws say of it is another matter. Values
are small and dull on purpose: a counterexample is for people.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from ..language.lenses import stringify
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole
from ..language.shape import Case
from ..loading.rulesources import beside
from .maker import CaseState, Maker

MAX_DEPTH = 7
VALUES: dict[str, dict[str, Any]] = beside("audits/values.yaml")  # by who makes payloads of them
BY_TYPE: dict[str, list[Any]] = VALUES["drawn"]["types"]
WORDS, ANY = BY_TYPE["string"], BY_TYPE["any"]


class Generator(Maker):
    """Makes wire payloads of one dialect by chance."""

    by_type = guards = BY_TYPE
    by_name = VALUES["drawn"]["names"]
    names = ("f", "g", "get_weather")
    terms = (7, 0, 1, 40)

    def __init__(self, dialect: Dialect, seed: str, rare: float = 0.04) -> None:
        """Begin; so `rare` are unknown keys and words, nulls, other spellings."""
        super().__init__(dialect)
        self.chance, self.rare = random.Random(seed), rare

    def rarely(self) -> bool:
        """Say yes now and then."""
        return self.chance.random() < self.rare

    def choose(self, what: Any, ways: Sequence[Any]) -> Any:
        return self.chance.choice(ways)

    def mostly(self, what: Any, ways: Sequence[Any]) -> Any:
        return self.chance.choice(ways) if self.rarely() else ways[0]

    def maybe(self, what: Any = None) -> bool:
        """Say yes about every second time."""
        return self.chance.random() < (0.5 if self.depth < MAX_DEPTH else 0.1)

    def unknown(self) -> Any:
        return self.chance.choice(ANY) if self.rarely() else ABSENT

    def there(self, h: Hole, state: CaseState) -> Any:
        """Decide whether something stands at a marked hole."""
        if h.mark in ("made", "fill", "default") or self.maybe():
            return True
        return None if self.rarely() else ABSENT

    def elements(self, h: Hole, name: str) -> Any:
        """Make a list of up to three."""
        least, most = 0 if h.mark else 1, 1 if self.depth > MAX_DEPTH else 3
        count = 1 if "single" in h.lenses else self.chance.randint(least, most)
        if "joined" in h.lenses:
            return self.chance.choice(WORDS)
        return [self.member(name, n) for n in range(count)]

    def entries(self, name: str) -> list[Any]:
        """Make the list of a map; those that say the same but for numbers are one."""
        listed = [self.member(name) for _ in range(self.chance.randint(1, 3))]
        keyed = {
            stringify({k: v for k, v in e.items() if not isinstance(v, int)}): e for e in listed
        }
        return list(keyed.values())

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
        text = super().json(h, value)
        return f" {text}" if self.rarely() else text

    def form(self, lens: str, value: Any) -> Any:
        if lens == "by-key" and all(isinstance(one, dict) for one in value) and self.maybe():
            whole = {key: said for one in value for key, said in one.items()}
            return [whole] if whole else value
        if (lens in ("bare", "blocks") and self.maybe()) or (
            lens == "plain" and isinstance(value, list)
        ):
            return self.chance.choice(WORDS)
        return value[0] if lens == "listed" and len(value) == 1 and self.maybe() else value

    def turns(self, cases: list[Case]) -> Iterator[Case]:
        for _ in range(self.chance.randint(1, 4)):
            yield self.chance.choice(cases)
