"""Recorded payloads of an API, and what of them a dialect does not picture.

A file holds one JSON value, or one in each line. A value is a body; a list of frames of a stream;
or an exchange, `{"request": ..., "response": ..., "stream": [...], "status": 200}`. A file of
server-sent events is a stream.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .. import policy
from ..errors import ConversionError, UsageError, WireglotError
from ..rulesets import RuleSet
from ..streaming import framing
from ..streaming.streams import Translator, translate
from ..trail import At, leaves, place_of, value_at
from .crossings import MODEL
from .jsondiff import differences

STREAM = "stream"
UNNAMED = ("unknown-key", "unknown-part", "unfit")  # codes of what no picture takes


class Recorded(NamedTuple):
    """A payload, and of which unit it is; of a stream the frames."""

    unit: str
    body: Any


class Unknown(NamedTuple):
    """A key that no picture names: its path, and the value there; `whole` is what it stands in.

    `frame` says that it stands in a frame of a stream, as nothing of the response.
    """

    unit: str
    at: At
    value: Any
    whole: Any
    frame: bool = False


class Coverage(NamedTuple):
    """How much of some recordings a dialect takes."""

    unknown: list[Unknown]
    leaves: int
    lost: int  # leaves that no picture takes
    faults: list[str]  # what cannot be read, or does not come back at home

    @property
    def share(self) -> float:
        """The part of the leaves that pictures take."""
        return 1 - self.lost / self.leaves if self.leaves else 1.0


def read(text: str, rules: RuleSet, dialect: str, unit_of: Callable[[Any], str]) -> list[Recorded]:
    """Return the recordings of a file; `unit_of` tells what a bare body is. Raises UsageError."""
    try:
        values = [json.loads(text)]
    except ValueError:
        try:
            values = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            values = [_events(text, rules, dialect)]
            if not values[0]:
                told = f"recordings are JSON, or JSON in each line: {error}"
                raise UsageError(told) from None
    return [one for value in values for one in _recorded(value, unit_of)]


def _events(text: str, rules: RuleSet, dialect: str) -> list[Any]:
    """Return the frames of a stream as it goes over the wire; none where it is no stream."""
    stream = rules[dialect].model.stream
    try:
        return framing.read(text.encode(), stream) if stream is not None else []
    except ConversionError:
        return []


def _recorded(value: Any, unit_of: Callable[[Any], str]) -> Iterator[Recorded]:
    if isinstance(value, list):
        yield Recorded(STREAM, [_frame(one) for one in value])
        return
    if not isinstance(value, dict):
        raise UsageError("a recording is an object, or a list of the frames of a stream")
    request, response, frames = (value.get(word) for word in ("request", "response", STREAM))
    if not any(isinstance(one, dict | list) for one in (request, response, frames)):
        yield Recorded(unit_of(value), value)
        return
    if isinstance(request, dict):
        yield Recorded("request", request)
    if isinstance(response, dict):
        yield Recorded("response" if value.get("status", 200) == 200 else "error", response)
    if isinstance(frames, list) and frames:
        yield Recorded(STREAM, [_frame(one) for one in frames])


def _frame(value: Any) -> Any:
    """Return the frame of an event that was recorded with its name."""
    named = isinstance(value, dict) and value.keys() == {"event", "data"}
    return value["data"] if named else value


def coverage(rules: RuleSet, dialect: str, recordings: Iterable[Recorded]) -> Coverage:
    """Read recordings, at home and for another family, and return what a dialect lacks of them."""
    other = _other_family(rules, dialect)
    result = Coverage([], 0, 0, [])
    count = lost = 0
    for unit, body in recordings:
        count += sum(1 for _ in leaves(body))
        try:
            if unit == STREAM:
                _stream(rules, (dialect, other), body, result)
            else:
                _body(rules, (dialect, other), unit, body, result)
        except WireglotError as error:
            result.faults.append(f"{unit}: {error}")
            lost += sum(1 for _ in leaves(body))
    lost += sum(sum(1 for _ in leaves(one.value)) for one in result.unknown)
    return result._replace(leaves=count, lost=lost)


def _other_family(rules: RuleSet, dialect: str) -> str:
    """Return a dialect of another family that has all units: to it nothing is carried unread."""
    family = rules[dialect].model.family

    def whole(name: str) -> bool:
        model = rules[name].model
        units = {"request", "response", "error"} <= model.units.keys()
        return model.family != family and units and model.stream is not None

    return next(name for name in rules.dialects if whole(name))


def _body(rules: RuleSet, pair: tuple[str, str], unit: str, body: Any, found: Coverage) -> None:
    home = rules.convert(body, pair[0], pair[0], unit).body
    if different := differences(body, home):
        found.faults.append(f"{unit}: does not come back at home at {different[0]}")
    for note in rules.convert(body, *pair, unit, MODEL).notes:
        if note.code in UNNAMED and note.source_path:
            at = place_of(body, note.source_path)
            found.unknown.append(Unknown(unit, at, value_at(body, at), body))


def _stream(rules: RuleSet, pair: tuple[str, str], frames: list[Any], found: Coverage) -> None:
    home, out = (Translator(rules[pair[0]], rules[end], {}, policy.of(None)) for end in pair)
    if list(translate(home, frames)) != frames:
        found.faults.append("stream: does not come back at home")
    whole = home.result.body
    list(translate(out, frames))
    for note in out.notes:
        if note.code not in UNNAMED or not note.source_path:
            continue
        at = place_of(frames, note.source_path)
        if at and isinstance(at[0], int) and at[0] < len(frames):
            frame, inner = frames[at[0]], at[1:]
            found.unknown.append(Unknown("response", inner, value_at(frame, inner), frame, True))
        else:
            at = place_of(whole, note.source_path)
            found.unknown.append(Unknown("response", at, value_at(whole, at), whole))
