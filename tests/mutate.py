"""Make broken and odd payloads out of good ones, always the same for the same seed.

The inputs are never changed: a mutant shares with its origin whatever it did not mutate, and the
containers on the way to a mutation are copies.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

Json = Any
Steps = tuple[str | int, ...]

BIG = 10**40
_LITERALS = (
    "user", "assistant", "system", "developer", "tool", "model", "function", "text", "image_url",
    "image", "tool_use", "tool_result", "thinking", "auto", "none", "any", "required", "stop",
    "tool_calls", "STOP", "MAX_TOKENS", "end_turn", "AUTO", "ANY", "object", "no such word",
)  # fmt: skip
_TEXTS = (
    "", " ", "\udfff", "é\u2028🎉", "{", "{}", "[1, 2]", '{"a": 1, "a": 2}', "null", "1e400", "-1",
    "true", '{"error": "no"}', '{"output": 1}', '{"_unparsed": "x"}', "x" * 300, "../a b/日本",
)  # fmt: skip
_KEYS = ("wireglot_unknown", "type", "role", "content", "id", "name", "parts", "text", "", "a/b~c")


def mutants(body: Json, seed: int | str = 0) -> Iterator[Json]:
    """Yield mutated bodies without end: one mutation mostly, two or three now and then."""
    chance = random.Random(f"wireglot {seed}")
    while True:
        mutant = body
        for _ in range(chance.choice((1, 1, 1, 1, 2, 3))):
            mutant = mutate(mutant, chance)
        yield mutant


def some(body: Json, count: int, seed: int | str = 0) -> Iterator[Json]:
    """Yield a number of mutants."""
    return islice(mutants(body, seed), count)


def mutate(body: Json, chance: random.Random) -> Json:
    """Apply one mutation at one place."""
    steps = chance.choice(list(_places(body)))
    where = body
    for step in steps:
        where = where[step]
    fitting = [change for change, kinds in _CHANGES if isinstance(where, kinds)]
    return _put(body, steps, chance.choice(fitting)(where, chance))


class _Gone:
    """Mark a value that is to be taken out of its container."""


_GONE = _Gone()


def _places(body: Json) -> Iterator[Steps]:
    stack: list[tuple[Steps, Json]] = [((), body)]
    while stack:
        steps, value = stack.pop()
        yield steps
        if len(steps) > 40:
            continue
        if isinstance(value, dict):
            stack.extend(((*steps, key), inner) for key, inner in value.items())
        elif isinstance(value, list):
            stack.extend(((*steps, n), inner) for n, inner in enumerate(value))


def _put(body: Json, steps: Steps, value: Json) -> Json:
    """Copy a body with the value at one place replaced, or taken out."""
    if not steps:
        return {} if value is _GONE else value
    step, rest = steps[0], steps[1:]
    copy: Json = dict(body) if isinstance(body, dict) else list(body)
    if not rest and value is _GONE:
        del copy[step]
    else:
        copy[step] = _put(copy[step], rest, value)
    return copy


def _delete(value: Json, chance: random.Random) -> Json:
    return _GONE


def _null(value: Json, chance: random.Random) -> Json:
    return None


def _other_type(value: Json, chance: random.Random) -> Json:
    kinds: tuple[Json, ...] = ("text", "", 0, 7, -1, 1.5, True, False, None, {}, [], [None])
    return chance.choice([k for k in kinds if type(k) is not type(value)])


def _nested(value: Json, chance: random.Random) -> Json:
    return chance.choice(([value], {"value": value}, [[value]], {"type": "text", "text": value}))


def _deep(value: Json, chance: random.Random) -> Json:
    """Bury a value, rarely deeper than the recursion limit of most parsers."""
    for _ in range(chance.choice((5, 30, 600))):
        value = [value] if chance.random() < 0.5 else {"a": value}
    return value


def _unknown_key(value: Json, chance: random.Random) -> Json:
    extra: Json = chance.choice((None, 1, "text", {}, {"a": [1, None]}, [1, 2], True))
    return {**value, chance.choice(_KEYS): extra}


def _renamed_key(value: Json, chance: random.Random) -> Json:
    if not value:
        return {"wireglot_unknown": None}
    old = chance.choice(list(value))
    return {(f"{old}_" if key == old else key): inner for key, inner in value.items()}


def _reordered_keys(value: Json, chance: random.Random) -> Json:
    keys = list(value)
    chance.shuffle(keys)
    return {key: value[key] for key in keys}


def _duplicate(value: Json, chance: random.Random) -> Json:
    if not value:
        return [{}]
    n = chance.randrange(len(value))
    return [*value[: n + 1], *value[n:]]


def _swap(value: Json, chance: random.Random) -> Json:
    if len(value) < 2:
        return []
    a, b = chance.sample(range(len(value)), 2)
    copy = list(value)
    copy[a], copy[b] = copy[b], copy[a]
    return copy


def _insert(value: Json, chance: random.Random) -> Json:
    n = chance.randrange(len(value) + 1)
    extra: Json = chance.choice((None, "text", 1, {}, [], {"type": "no_such_type"}))
    return [*value[:n], extra, *value[n:]]


def _odd_text(value: Json, chance: random.Random) -> Json:
    made = (f"{value} ", f"\n{value}", f"{value}\ud800", f"{value}\x00", value * 2, value[:1])
    return chance.choice(made + _TEXTS)


def inside_each_text(value: Json, sign: str) -> Iterator[Json]:
    """Yield copies of a value, each with a sign in one text or key: at its end, or inside.

    JSON text stays JSON text: inside, the sign stands in its first key, or its first text.
    """
    if isinstance(value, str):
        yield value[:2] + sign + value[2:]
        yield value + sign
    for key in value if isinstance(value, dict) else ():
        yield from ({**value, key: made} for made in inside_each_text(value[key], sign))
        yield {(one + sign if one == key else one): value[one] for one in value}
    for at in range(len(value)) if isinstance(value, list) else ():
        made_items = inside_each_text(value[at], sign)
        yield from ([*value[:at], made, *value[at + 1 :]] for made in made_items)


def _odd_inside(value: Json, chance: random.Random) -> Json:
    """Put a sign somewhere into a text, which may be JSON and stay so."""
    at = chance.randrange(len(value) + 1)
    sign = chance.choice(("\ud800", "\\", '"', " ", "\x00", "1", ":", ".0", "e5", ",", "é"))
    return value[:at] + sign + value[at:]


def _literal(value: Json, chance: random.Random) -> Json:
    return chance.choice(_LITERALS)


def _odd_number(value: Json, chance: random.Random) -> Json:
    return chance.choice(
        (0, -1, -0.0, 1.0, BIG, -BIG, 2**53 + 1, 1e308, 5e-324, float("nan"), float("inf"),
         float("-inf"), value + 1, float(value), str(value))
    )  # fmt: skip


def _flip(value: Json, chance: random.Random) -> Json:
    return not value


_ANY = (dict, list, str, int, float, type(None))
_CHANGES: tuple[tuple[Callable[[Json, random.Random], Json], tuple[type, ...]], ...] = (
    (_delete, _ANY), (_null, _ANY), (_other_type, _ANY), (_nested, _ANY), (_deep, _ANY),
    (_unknown_key, (dict,)), (_unknown_key, (dict,)), (_renamed_key, (dict,)),
    (_reordered_keys, (dict,)), (_duplicate, (list,)), (_swap, (list,)), (_insert, (list,)),
    (_odd_text, (str,)), (_odd_inside, (str,)), (_literal, (str,)), (_odd_number, (int, float)),
    (_flip, (bool,)),
)  # fmt: skip
