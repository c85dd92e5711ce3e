"""What a provider refuses: one refusal, and the judge that gathers them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Json = Any
At = tuple[str | int, ...]
Rules = Mapping[str, tuple[str, str]]  # name: (error text, where it is known from)


class Refusal(NamedTuple):
    """One thing for which a provider answers 400."""

    path: str  # RFC 6901 pointer into the body
    text: str  # what the provider says
    rule: str  # its name here
    cite: str  # the fact, the bug, or the recorded exchange


class Judge:
    """Gathers refusals by the names of one provider's rules."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.found: list[Refusal] = []

    def tell(self, rule: str, at: At, **words: object) -> None:
        text, cite = self.rules[rule]
        words.setdefault("dotted", ".".join(map(str, at)))
        words.setdefault("bracketed", bracketed(at))
        self.found.append(Refusal(pointer(at), text.format(**words), rule, cite))


def pointer(at: At) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in at)


def bracketed(at: At) -> str:
    return "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in at).lstrip(".")


def each(value: Json) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a list with their places."""
    for i, one in enumerate(value if isinstance(value, list) else ()):
        if isinstance(one, dict):
            yield i, one


def fits(pattern: str, value: Json) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def twice(names: Sequence[tuple[Json, At]]) -> Iterator[tuple[Json, At]]:
    """Yield what stands in a list again."""
    seen: list[Json] = []
    for name, at in names:
        if name in seen:
            yield name, at
        seen.append(name)


def integer(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def like(model: str | None, *heads: str) -> bool:
    return model is not None and model.rsplit("/", 1)[-1].startswith(heads)


def subschemas(schema: Json, at: At) -> Iterator[tuple[Json, At]]:
    """Yield a schema and all schemas within it, where keywords say that one stands."""
    yield schema, at
    if not isinstance(schema, dict):
        return
    for key in ("properties", "$defs", "definitions", "defs", "patternProperties"):
        inner = schema.get(key)
        for name, one in inner.items() if isinstance(inner, dict) else ():
            yield from subschemas(one, (*at, key, name))
    for key in ("anyOf", "any_of", "oneOf", "allOf", "prefixItems"):
        inner = schema.get(key)
        for i, one in enumerate(inner if isinstance(inner, list) else ()):
            yield from subschemas(one, (*at, key, i))
    for key in ("items", "not", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from subschemas(schema[key], (*at, key))
