"""Payloads that show what a dialect can say: those of its pictures, and talks that strain it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..conversion import reading
from ..dialects import DialectRules
from ..errors import ConversionError, UsageError
from ..files import ids
from ..language.lenses import stringify
from ..trail import leaves, path_of, value_at
from . import hardcases, probes

ANY_MODEL = "m"
Made = tuple[Any, bool, bool]  # a body; whether it is odd, and varied, as a Probe says


@dataclass(slots=True, eq=False)
class Probe:
    """One payload, with or without a stream asked for.

    `fresh` says that it shows a place that none before it has, `odd` that it is what no picture
    takes: a key that none names, a value of another type. `varied` says that only a variant
    pictures it.
    """

    body: Any
    odd: bool
    stream: bool | None
    varied: bool
    fresh: bool = False


def payloads(
    dialect: DialectRules, unit: str, varied: Sequence[DialectRules] = ()
) -> Iterator[Probe]:
    """Yield the payloads of a unit that read, each once; the same for the same rules.

    `varied` is the dialect with its variants: what only these picture is made, too.
    """
    models = [one.model.of_unit(unit) for one in (dialect, *varied)]
    seen: set[str] = set()
    places: set[tuple[str, bool]] = set()

    def calls(wanted: list[tuple[str, str]]) -> list[Any]:
        try:
            ir = [_home_ir(one, "messages", dialect.name) for one in hardcases.calls_of(wanted)]
            body = dialect.write(ir, "messages").body
        except (ConversionError, UsageError):
            return []
        return body if isinstance(body, list) else []

    def all_made() -> Iterator[Made]:
        explored = probes.Explored()
        for model in models:
            for body, odd in probes.explore(model, unit, calls, explored):
                yield body, odd, model is not models[0]
        for value in hardcases.values(unit):
            try:
                yield dialect.write(_home_ir(value, unit, dialect.name), unit).body, False, False
            except ConversionError:
                continue  # it cannot say that

    given_up = dict.fromkeys(path for model in models for path in model.dropped(unit))
    for body, odd, other in _with_dropped(all_made(), given_up):
        text = stringify(body)
        if text in seen:
            continue
        seen.add(text)
        for stream in (None, True) if len(seen) == 1 and unit == "request" else (None,):
            probe = Probe(body, odd, stream, other)
            if not any(_reads(one, body, unit, stream) for one in (dialect, *varied)):
                continue  # such a payload cannot be converted to anything
            # Nothing is carried of what is empty: the same place is another one where it says more.
            shown = {(path_of(at), bool(value)) for at, value in leaves(body)}
            probe.fresh = not shown <= places
            places |= shown
            yield probe


def _reads(dialect: DialectRules, body: Any, unit: str, stream: bool | None) -> bool:
    """Tell whether a dialect reads a payload."""
    try:
        reading.read(dialect, body, unit, ANY_MODEL, stream, {})
    except ConversionError:
        return False
    return True


def _with_dropped(made: Iterator[Made], given_up: Iterable[str]) -> Iterator[Made]:
    """Yield payloads, and behind them the smallest with each path in it that a dialect gives up."""
    waiting = {path: tuple(path.split(".")) for path in given_up}
    found: list[Made] = []
    for body, odd, varied in made:
        yield body, odd, varied
        for path, steps in list(waiting.items()):
            lacking = (p for p in ids.places_at(body, steps, steps, ()) if p.key not in p.owner)
            if (place := next(lacking, None)) is not None:
                copied = copy.deepcopy(body)
                value_at(copied, place.at[:-1])[place.key] = "x"
                found.append((copied, False, False))
                del waiting[path]
    yield from found


def _home_ir(value: dict[str, Any], unit: str, name: str) -> dict[str, Any]:
    """Return a hard case as if the dialect `name` had read it, with what a unit always needs."""
    required = {"model": ANY_MODEL, "max_tokens": 9} if unit == "request" else {}
    if unit == "response":
        required = {"id": "r", "model": ANY_MODEL, "created": 1}
    whole = {**required, **value, "spelled": {name: {}}}
    return {key: field for key, field in whole.items() if field is not None}
