"""Explaining one conversion in words: where a value comes from, and what became of another."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..authoring.jsondiff import excerpt, written
from ..conversion import reading
from ..conversion.hands import Writer
from ..errors import UsageError
from ..interpreter.units import messages_of
from ..interpreter.views import Survey
from ..ir import FUNCTION
from ..language.lenses import Misfit
from ..language.shape import Case, Shape
from ..loading.rulesources import packaged_folder
from ..notes import Note
from ..results import Conversion, rule_of
from ..rulesets import RuleSet
from ..selecting import Selection
from ..traces import OUTSIDE, Fate, Origin, Trace
from ..trail import At, Trail, everywhere, pointer, within

ASIDE = frozenset(("spelled", "kept", "own"))  # what stands in these came from no element
PACKAGED = "rules/"  # how the places of packaged rules begin


class Refusal(NamedTuple):
    """A case that refuses a value: its name, its rule, and what it says."""

    case: str
    rule: str | None
    reason: str

    def __str__(self) -> str:
        return f"{self.case} refuses it: {self.reason}" + (f" ({self.rule})" if self.rule else "")


def select_part(done: Conversion, path: str | None, source: str | None) -> Trace:
    """Return the part of a trace that is asked for: a place of the output, or of the input.

    Raises UsageError where nothing stands at that place.
    """
    trace = done.trace
    assert trace is not None
    if path is None and source is None:
        return trace
    origins = trace.of_target(_pointer(path)) if path is not None else {}
    fates = trace.of_source(_pointer(source)) if source is not None else {}
    for place, leaves, side in ((path, origins, "output"), (source, fates, "input")):
        if place is not None and not leaves:
            raise UsageError(f"nothing stands at `{place}` in the {side}")
    return Trace(origins, fates)


def as_json(
    done: Conversion, part: Trace, select: Selection | None = None, refusals: Sequence[Refusal] = ()
) -> Any:
    """Return a part of a trace as plain JSON, with the notes that name it, or what is selected."""
    notes = [note._asdict() for note in notes_of(done.notes, part)]
    data = {**part.as_json(), "notes": notes}
    if refusals:
        data["refused"] = [one._asdict() for one in refusals]
    return data if select is None else select.of(data)


def refusals(
    rules: RuleSet,
    body: Any,
    arguments: Mapping[str, Any],
    options: dict[str, Any],
    part: Trace,
    path: str | None,
) -> list[Refusal]:
    """Return which cases of the target refuse what stood at a place of the input and was lost.

    A conversion keeps no reasons of cases that were tried in vain: most are tried on the way to one
    that fits. So those of the value's kind are tried once more, each by itself. `arguments` are
    those of `convert`, by their names. Nothing is returned where no element of a
    list was read there, or where a case takes it.
    """
    if path is None or all(fate.kind != "lost" for fate in part.fates.values()):
        return []
    unit, model = arguments["unit"], arguments["model"]
    named = model if model is not None else rules[arguments["source"]].model_in(body, unit)
    source, target = (rules.at(arguments[end], named, options) for end in ("source", "target"))
    away = {**options, "away": True}
    read = reading.read(source, body, unit, model, arguments["stream"], away)
    element = _element(read.ir, read.trail, _pointer(path))
    if element is None:
        return []
    dialect = target.model.of_unit(unit)
    found: list[Refusal] = []
    for shape, case in _of_kind(dialect.shapes.values(), element.get("type", FUNCTION)):
        writer = Writer(dialect, False, read.trail, options, target.ladder)
        writer.call_names = Survey(messages_of(read.ir, unit) or []).names
        try:
            writer.case(shape, case, element)
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
            if kind in (case.kinds or (shape.kind,)) and not shape.groups and not case.home:
                yield shape, case


def _element(ir: Any, trail: Trail, path: str) -> dict[str, Any] | None:
    """Return the innermost element of a list that came from a place or from around it."""
    best: tuple[At, dict[str, Any] | None] = ((), None)
    for place, value in everywhere(ir):
        listed = place and isinstance(place[-1], int) and ASIDE.isdisjoint(place)
        if listed and isinstance(value, dict):
            at = trail.find(value)
            if at and within(pointer(at), path) and len(at) > len(best[0]):
                best = (at, value)
    return None if best[1] is None or "role" in best[1] else best[1]


def notes_of(notes: tuple[Note, ...], part: Trace) -> list[Note]:
    """Return the notes that name something of a part of a trace."""
    return [
        note
        for note in notes
        if any(_points_at(note.target_path, at) for at in part.origins)
        or any(_points_at(note.source_path, at) for at in part.fates)
    ]


def lines(body: Any, done: Conversion, part: Trace, briefly: bool) -> Iterator[str]:
    """Say where values come from and what became of others; `briefly` in one line each."""
    for at, origin in part.origins.items():
        yield from origin_lines(body, done, at, origin, briefly)
    for at, fate in part.fates.items():
        if not briefly:
            yield from fate_lines(body, done, at, fate)
        elif not fate.targets:
            yield f"{at or '(all)'} = {excerpt(body, at)} {fate_words(fate)}"


def origin_lines(
    body: Any, done: Conversion, at: str, origin: Origin, briefly: bool = False
) -> Iterator[str]:
    value = written(done, at)
    if briefly:
        sources = ", ".join(source or "(all)" for source in origin.sources) or origin_words(origin)
        yield f"{at or '(all)'} = {value} <- {sources}  {origin.rule or ''}".rstrip()
        return
    yield f"{at or '(all)'} = {value}"
    for source in origin.sources:
        yield f"  from {source or '(all)'} = {excerpt(body, source)}"
    if not origin.sources:
        yield f"  from nothing in the input: {origin_words(origin)}"
    yield from (f"  {one}" for one in rule_lines(origin.rule))
    for step in origin.steps:
        yield f"  step {step}"
    for note in done.notes:
        if _points_at(note.target_path, at):
            yield f"  note {note}"


def fate_lines(body: Any, done: Conversion, at: str, fate: Fate) -> Iterator[str]:
    yield f"{at or '(all)'} = {excerpt(body, at)}"
    yield f"  {fate_words(fate)}"
    for target in fate.targets:
        yield f"  to {target or '(all)'} = {written(done, target)}"
    yield from (f"  {one}" for one in rule_lines(fate.rule))
    for note in done.notes:
        if _points_at(note.source_path, at):
            yield f"  note {note}"


def origin_words(origin: Origin) -> str:
    """Say how a value came to be that stands nowhere in the input."""
    return f"{origin.steps[0].way} {origin.steps[0].what}" if origin.steps else "nothing tells"


def fate_words(fate: Fate) -> str:
    return fate.kind if fate.code is None else f"{fate.kind}: {fate.code}"


def rule_lines(rule: str | None) -> list[str]:
    """Return the place of a rule with its line, if there is one."""
    return [] if rule is None else [f"rule {rule}  {rule_line(rule) or ''}".rstrip()]


@functools.lru_cache(512)
def rule_line(rule: str) -> str | None:
    """Return the line of a rule file that `FILE:LINE:COLUMN` names, where it can be read."""
    file, line, _ = rule.rsplit(":", 2)
    name = file.removeprefix(PACKAGED)
    # A folder of one's own may have this very name, too.
    places = [Path(file), *([Path(packaged_folder()) / name] if name != file else [])]
    for path in reversed(places):
        try:
            texts = path.read_text("utf-8").splitlines()
        except (OSError, ValueError):
            continue
        if int(line) <= len(texts):
            return texts[int(line) - 1].strip()
    return None


def _pointer(path: str) -> str:
    return path if not path or path.startswith(("/", OUTSIDE)) else f"/{path}"


def _points_at(place: str | None, at: str) -> bool:
    return place is not None and within(place, at)
