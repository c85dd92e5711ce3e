"""The words that known dialects use, and how near a dialect is to payloads that nobody pictured."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from ..errors import ConversionError
from ..interpreter.unpictured import SAYS
from ..ir import PARTS, field_type
from ..language import picture
from ..language.lenses import guard
from ..language.model import Dialect
from ..language.picture import Hole, Literal
from ..rulesets import RuleSet
from ..trace import paths
from ..trail import everywhere, leaves

SIMILAR = 0.8
SHAPED = ("system", "usage")  # fields that a key names well, and that are pictured by a shape
LIMIT = frozenset("max tokens".split())
LOOSE = frozenset("the of max min num number tokens token count".split())  # they tell little
CLEAR = 0.75  # the part of a payload from which on nobody is asked whether it is another's
HALF = 0.5  # the part from which on it is taken for another unit of the same dialect
MORE = 0.25  # how much more of it the other one must take
MEMORY = frozenset(("kept", "spelled"))  # what the IR remembers, and does not say
UNITS = ("request", "response", "error")  # that a payload may be taken for


def tokens(key: str) -> tuple[str, ...]:
    """Return the words of a key: `maxOutputTokens` and `max_output_tokens` are the same."""
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", key)
    return tuple(word.lower() for word in found)


def fits(kind: str, value: Any) -> bool:
    """Tell whether a value may stand in a field of a type; one text may be a list of it."""
    if kind in ("any", "opaque") or value is None:
        return True
    return guard(kind, value) or (kind in ("list", "list of text") and isinstance(value, str))


class Vocabulary:
    """By which keys dialects name fields of the IR, and their words for roles, kinds and ends."""

    def __init__(self, rules: RuleSet) -> None:
        self.keys: dict[str, dict[tuple[str, ...], Counter[str]]] = {}
        self.roles: dict[str, str] = {role: role for role in ("user", "assistant", "system")}
        self.stops: dict[str, str] = {}
        self.usual = ""  # why a response ends, for a dialect that has no word for it
        self.tops: dict[str, Counter[tuple[str, ...]]] = {}  # keys of whole payloads, by dialects
        self.kinds: dict[str, str] = {kind: kind for kind in PARTS}
        for dialect in (rules[name].model for name in rules.dialects):
            if "request" in dialect.units:  # files of agents have words of their own
                self._learn(dialect)

    def _learn(self, dialect: Dialect) -> None:
        for case in dialect.cases:
            for names, child in picture.keys(case.wire):
                self._learn_key(dialect, case.shape, names[0], child)
        for unit in dialect.units:
            tops = (path.partition(".")[0] for path in paths.pictured(dialect, unit))
            named = {tokens(top.removesuffix("[]")) for top in tops}
            self.tops.setdefault(unit, Counter()).update(named)
        for shape in dialect.shapes.values():
            if shape.kind is not None:
                for case in shape.cases:
                    for word in case.heads[:1]:
                        self.kinds.update(dict.fromkeys(word[1], shape.kind))
        for case in dialect.message_cases:
            for names, child in picture.keys(case.wire):
                if isinstance(child, Literal) and tokens(names[0]) == ("role",):
                    for word in filter(None, child.values):
                        self.roles.setdefault(str(word), dialect.talk.role(case))

    def _learn_key(self, dialect: Dialect, shape: str, name: str, child: Any) -> None:
        if not isinstance(child, Hole) or child.repeats:
            return
        plain = child.shape is None or child.path in SHAPED
        if plain and child.path not in (".", "nth") and not child.path.startswith("own."):
            known = self.keys.setdefault(shape, {}).setdefault(tokens(name), Counter())
            known[child.path] += 1
        if child.path == "stop_reason":
            for lens in child.lenses:
                if lens in dialect.tables:
                    usual = dialect.tables[lens].otherwise
                    self.usual = self.usual or dialect.tables[lens].to_ir.get(usual, "")
                    for word, meant in dialect.tables[lens].to_ir.items():
                        self.stops.setdefault(str(word).lower(), meant)

    def unit_of(self, body: Any) -> str:
        """Tell of which unit a payload is, by the keys that more dialects have in one of them."""
        if not isinstance(body, dict):
            return "request"
        faulty = set(map(tokens, body)) <= {*self.tops["error"], *map(tokens, SAYS)} or any(
            isinstance(one, dict) and not one.keys().isdisjoint(SAYS)
            for listed in map(body.get, SAYS)
            for one in (listed if isinstance(listed, list) else ())
        )
        values = (one for _, one in everywhere(body) if isinstance(one, list))
        lists = (any(isinstance(element, dict) for element in one) for one in values)
        if len(body) <= 3 and (faulty or (len(body) == 1 and not any(lists))):
            return "error"
        while len(body) == 1 and isinstance(inner := next(iter(body.values())), dict):
            body = inner  # all of it stands under one key
        asked, answered = self.tops["request"], self.tops["response"]
        keys = map(tokens, body)
        more = sum((answered[key] > asked[key]) - (answered[key] < asked[key]) for key in keys)
        return "response" if more > 0 else "request"

    def field(self, shape: str, key: str, value: Any) -> tuple[str, bool] | None:
        """Return the field of the IR that a key names by all likelihood, and if it is certain."""
        known = self.keys.get(shape, {})
        words = tokens(key)
        best, found = SIMILAR, None
        for name, counted in known.items():
            likeness = 1.0 if name == words else _similarity(name, words)
            field = counted.most_common(1)[0][0]
            if likeness >= best and fits(field_type(shape, field), value):
                if found is None or likeness > best:
                    best, found = likeness, field
        return None if found is None else (found, best == 1.0)


def _similarity(one: tuple[str, ...], two: tuple[str, ...]) -> float:
    """Return how alike two keys are, 0 to 1: by their words, or letter by letter."""
    import difflib

    if set(one) == set(two) or set(one) & set(two) >= LIMIT:
        return 0.95
    first, second = set(one) - LOOSE, set(two) - LOOSE
    small, large = sorted((first, second), key=len)
    if small and small <= large and len(large) <= 2 * len(small):
        return 0.9 if first == second else 0.85
    return difflib.SequenceMatcher(None, "".join(one), "".join(two)).ratio() * 0.98


def nearness(rules: RuleSet, name: str, samples: Iterable[tuple[str, Any]]) -> float:
    """Return which part of the values of some payloads the pictures of a dialect take, 0 to 1.

    What only this dialect has a field for counts half.
    """
    taken, total = 0.0, 0
    for unit, body in samples:
        count = sum(1 for _ in leaves(body))
        total += count
        model = rules[name].model
        if unit not in model.units:
            continue
        known = paths.pictured(model, unit)
        named = sum(paths.general(at, known) in known for at, _ in leaves(body))
        try:
            ir = rules[name].read(body, unit).ir
        except ConversionError:
            taken += named / 2  # it looks alike, and cannot be read
        else:
            left = sum(1 for _ in unknown(ir))
            own = sum("own" in at[:-1] and MEMORY.isdisjoint(at) for at, _ in leaves(ir))
            taken += max(0, min(named, count - left) - own / 2)
    return taken / total if total else 0.0


def unknown(ir: Any) -> Iterator[str]:
    """Yield what reading could only keep: the pointer of an unknown key for each of its leaves."""
    for at, value in everywhere(ir):
        if not isinstance(value, dict) or not MEMORY.isdisjoint(at):
            continue
        kept = [one for one in (value.get("kept") or {}).values() if isinstance(one, dict)]
        found = [(place, inner) for one in kept for place, inner in one.items()]
        found += [("", value.get("value"))] if value.get("type") == "unknown" else []
        yield from (place for place, inner in found for _ in leaves(inner))


def nearest(rules: RuleSet, samples: list[tuple[str, Any]]) -> tuple[str, float]:
    """Return the dialect that takes most of some payloads, and which part of them."""
    found = {name: nearness(rules, name, samples) for name in rules.dialects}

    def rank(name: str) -> tuple[float, int]:
        """Prefer, of two that take as much, the one that others are made of."""
        model = rules[name].model
        return found[name], sum(rules[other].model.family == model.name for other in found)

    best = max(found, key=rank)
    return best, found[best]


def words_of(rules: RuleSet) -> Vocabulary:
    """Return the words of the dialects of a rule set, which are looked for once."""
    found = _known.get(rules)
    if found is None:
        found = _known[rules] = Vocabulary(rules)
    return found


_known: WeakKeyDictionary[RuleSet, Vocabulary] = WeakKeyDictionary()


def hint(rules: RuleSet, body: Any, name: str, unit: str) -> str | None:
    """Say which unit or dialect a payload looks like, if it is another one; else None.

    A dialect looks like a payload by the part of its values that pictures take and the IR has
    fields for.
    """
    sample = [(unit, body)]
    taken = nearness(rules, name, sample)
    if taken >= CLEAR:
        return None
    for other in UNITS if unit in UNITS else ():
        if nearness(rules, name, [(other, body)]) >= max(HALF, taken + MORE):
            return f"this looks like the unit `{other}` of {name}: say `--unit {other}`"
    best, more = nearest(rules, sample)
    if best == name or more < taken + MORE:
        return None
    return (
        f"this looks like {best}, whose pictures take {more:.0%} of it; "
        f"those of {name} take {taken:.0%}"
    )
