"""Payloads that show what a dialect can say: those of its pictures, and talks that strain it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import paths, probes, straining
from .errors import ConversionError, UsageError
from .lenses import stringify
from .provenance import leaves
from .trail import At

if TYPE_CHECKING:
    from .dialects import DialectRules, Read

ANY_MODEL = "m"


class Probe:
    """One payload, with or without a stream asked for.

    `fresh` says that it shows a place that none before it has, `odd` that it is what no picture
    takes: a key that none names, a value of another type.
    """

    __slots__ = ("body", "fresh", "odd", "reads", "stream")

    def __init__(self, body: Any, odd: bool, stream: bool | None = None) -> None:
        self.body, self.odd, self.stream, self.fresh = body, odd, stream, False
        self.reads: dict[Any, Read] = {}  # by model, rows of variants and options


def payloads(dialect: DialectRules, unit: str) -> Iterator[Probe]:
    """Yield the payloads of a unit that read, each once; the same for the same rules."""
    model = dialect.model if unit != "session" else dialect.model.in_files
    seen: set[str] = set()
    places: set[str] = set()

    def calls(wanted: list[tuple[str, str]]) -> list[Any]:
        try:
            found = dialect.write(_home(straining.calls_of(wanted), dialect.name), "messages").body
        except (ConversionError, UsageError):
            return []
        return found if isinstance(found, list) else []

    def all_made() -> Iterator[tuple[Any, bool]]:
        yield from probes.explored(model, unit, calls)
        for value in straining.values(unit):
            try:
                yield dialect.write(_at_home(value, unit, dialect.name), unit).body, False
            except ConversionError:
                continue  # it cannot say that

    for body, odd in _with_dropped(all_made(), paths.dropped(model, unit)):
        text = stringify(body)
        if text in seen:
            continue
        seen.add(text)
        for stream in (None, True) if len(seen) == 1 and unit == "request" else (None,):
            try:
                read = dialect._read(body, unit, ANY_MODEL, stream, {})
            except ConversionError:
                continue  # such a payload cannot be converted to anything
            probe = Probe(body, odd, stream)
            probe.reads[ANY_MODEL, (), str({})] = read
            shown = {_abstract(at) for at, _ in leaves(body)}
            probe.fresh = not shown <= places
            places |= shown
            yield probe


def _with_dropped(made: Iterator[tuple[Any, bool]], given_up: Iterable[str]) -> Iterator[Any]:
    """Yield payloads, and behind them the smallest with each path in it that a dialect gives up."""
    waiting = {path: path.rpartition(".") for path in given_up}
    found = []
    for body, odd in made:
        yield body, odd
        for path, (above, _, key) in list(waiting.items()):
            copied = copy.deepcopy(body)
            for place in _held(copied, above.split(".") if above else []):
                if key not in place:
                    place[key] = "x"
                    found.append((copied, False))
                    del waiting[path]
                    break
    yield from found


def _held(value: Any, steps: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the objects that stand at a wire path."""
    if not steps:
        if isinstance(value, dict):
            yield value
        return
    key, *rest = steps
    name = key.rstrip("[]")
    inner = value.get(name) if name and isinstance(value, dict) else None if name else value
    if key.endswith("[]"):
        for one in inner if isinstance(inner, list) else ():
            yield from _held(one, rest)
    else:
        yield from _held(inner, rest)


def _at_home(value: dict[str, Any], unit: str, name: str) -> dict[str, Any]:
    said = {"model": ANY_MODEL, "max_tokens": 9} if unit == "request" else {}
    if unit == "response":
        said = {"id": "r", "model": ANY_MODEL, "created": 1}
    made = {**said, **value, "spelled": {name: {}}}
    return {key: one for key, one in made.items() if one is not None}


def _home(messages: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [{**message, "spelled": {name: {}}} for message in messages]


def _abstract(at: At) -> str:
    return "/".join("[]" if isinstance(step, int) else step for step in at)
