"""Which cases of a target refuse a value, and why: for a place of the input of which all was lost.

A conversion keeps no reasons of cases that were tried in vain: most are tried on the way to one
that fits. Here the cases that are of the value's kind are tried once more, each by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..interpreter import reading
from ..interpreter.hands import Writer
from ..interpreter.sight import Look
from ..interpreter.units import messages_of
from ..ir import FUNCTION
from ..language.lenses import Misfit
from ..language.shape import Case, Shape
from ..results import rule_of
from ..rulesets import RuleSet
from ..trail import At, Trail, keys_of, pointer


class Refusal(NamedTuple):
    """A case that refuses a value: its name, its rule, and what it says."""

    case: str
    rule: str | None
    reason: str

    def __str__(self) -> str:
        return f"{self.case} refuses it: {self.reason}" + (f" ({self.rule})" if self.rule else "")


def of(
    rules: RuleSet, body: Any, chosen: Mapping[str, Any], options: dict[str, Any], path: str
) -> list[Refusal]:
    """Return the cases of the target that refuse what was read of a place of the input.

    `chosen` has the arguments of `convert`: `source`, `target`, `unit`, `model`, `stream`. Nothing
    is returned where no element of a list was read there, or where a case takes it.
    """
    unit, model, name = chosen["unit"], chosen["model"], chosen["source"]
    said = model if model is not None else rules[name].model_in(body, unit)
    source, target = (rules.at(chosen[end], said, options) for end in ("source", "target"))
    away = {**options, "away": True}
    read = reading.read(source, body, unit, model, chosen["stream"], away)
    part = _element(read.ir, read.trail, path)
    if part is None:
        return []
    dialect = target.model.of_unit(unit)
    found: list[Refusal] = []
    for shape, case in _of_kind(dialect.shapes.values(), part.get("type", FUNCTION)):
        writer = Writer(dialect, False, read.trail, options, target.ladder)
        writer.calls = Look(messages_of(read.ir, unit) or []).names
        try:
            writer.case(shape, case, part)
        except Misfit as misfit:
            misfit.__traceback__ = None
            rule = rule_of(case.pos if misfit.pos is None else misfit.pos)
            found.append(Refusal(f"{shape.name} {case.name}".strip(), rule, misfit.reason))
        else:
            return []
    return found


def _of_kind(shapes: Any, kind: str) -> Iterator[tuple[Shape, Case]]:
    """Yield the cases that write an element of a kind."""
    for shape in shapes:
        for case in shape.cases:
            words = case.sides[0].get("/type")
            kinds = words if isinstance(words, tuple) else (shape.kind,)
            if kind in kinds and not shape.groups and not case.home:
                yield shape, case


def _element(ir: Any, trail: Trail, path: str) -> dict[str, Any] | None:
    """Return the innermost element of a list that came from a place or from around it."""
    best: tuple[int, dict[str, Any]] | None = None
    stack: list[tuple[Any, bool]] = [(ir, False)]
    while stack:
        value, listed = stack.pop()
        if isinstance(value, list):
            stack += [(inner, True) for inner in value]
        elif isinstance(value, dict):
            at: At | None = trail.find(value) if listed else None
            if at is not None and _around(pointer(at), path):
                if best is None or len(at) > best[0]:
                    best = (len(at), value)
            stack += [(v, False) for k, v in value.items() if k not in ("spelled", "kept", "own")]
    return None if best is None or "role" in best[1] else best[1]


def _around(outer: str, inner: str) -> bool:
    one, two = keys_of(outer), keys_of(inner)
    return bool(one) and two[: len(one)] == one
