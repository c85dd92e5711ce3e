"""Payloads that show what a dialect can say: those of its pictures, and talks that strain it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import probes, straining
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
        self.reads: dict[Any, Read] = {}  # by what may change how it is read


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

    for body, odd in all_made():
        text = stringify(body)
        if text in seen:
            continue
        seen.add(text)
        for stream in (None, True) if len(seen) == 1 and unit == "request" else (None,):
            try:
                dialect._read(body, unit, ANY_MODEL, stream, {})
            except ConversionError:
                continue  # such a payload cannot be converted to anything
            probe = Probe(body, odd, stream)
            shown = {_abstract(at) for at, _ in leaves(body)}
            probe.fresh = not shown <= places
            places |= shown
            yield probe


def _at_home(value: dict[str, Any], unit: str, name: str) -> dict[str, Any]:
    said = {"model": ANY_MODEL, "max_tokens": 9} if unit == "request" else {}
    if unit == "response":
        said = {"id": "r", "model": ANY_MODEL, "created": 1}
    return {**said, **value, "spelled": {name: {}}}


def _home(messages: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [{**message, "spelled": {name: {}}} for message in messages]


def _abstract(at: At) -> str:
    return "/".join("[]" if isinstance(step, int) else step for step in at)
