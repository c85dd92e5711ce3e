"""What the caller hands in: only JSON, and only units and options that there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import jsontext
from .errors import ConversionError, UsageError, mistyped
from .ir import UNITS
from .trail import everywhere, pointer

Clock = Callable[[], float]  # seconds since 1970

SMALL = 2**63  # beyond it a number is looked at by itself
MAX_NUMBER = pow(10, 4300)  # Python parses and prints no more digits
# The words that an option takes; `version` is checked where the dialects are known.
OPTIONS: dict[str, tuple[Any, ...]] = {
    "repair": (True, False),
    "json_results": ("data", "text"),
    "check_arguments": (True, False),
    "tell_constraints": (True, False),
    "system": ("stay", "lift"),
    "version": (),
}


def check_unit(unit: Any) -> None:
    """Raise UsageError for a unit that does not exist."""
    if unit not in UNITS:
        raise UsageError(f"there is no unit `{unit}`; there are: {', '.join(UNITS)}")


def known_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options as a dict; raises UsageError for what is none."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise mistyped("`options` is a mapping such as {'repair': True}", options)
    known = dict(options)
    for key in known:
        if key not in OPTIONS:
            raise UsageError(f"there is no option `{key}`; there are: {', '.join(sorted(OPTIONS))}")
        if key == "version":
            asked = known[key].values() if isinstance(known[key], dict) else (known[key],)
            if not all(isinstance(version, str) for version in asked):
                raise UsageError("the option `version` is a text, or one for each dialect")
        elif not any(
            known[key] is word or (isinstance(word, str) and known[key] == word)
            for word in OPTIONS[key]
        ):
            words = " or ".join(f"`{str(word).lower()}`" for word in OPTIONS[key])
            raise UsageError(f"the option `{key}` is {words}")
    return known


def check_call(model: Any, stream: Any, **dialects: Any) -> None:
    """Raise UsageError for an argument of another type than it has."""
    for name, given in dialects.items():
        if not isinstance(given, str):
            raise mistyped(f"`{name}` is the name of a dialect", given)
    if model is not None:
        check_text("model", model)
    if stream is not None and not isinstance(stream, bool):
        raise mistyped("`stream` is true or false", stream)


def check_text(name: str, given: Any) -> None:
    """Raise UsageError for an argument that is to be a text and is none."""
    if not isinstance(given, str):
        raise mistyped(f"`{name}` is a text", given)


def check_path(file: Any) -> None:
    """Raise UsageError for what names no file: a number would be an open one of the caller."""
    if not isinstance(file, str | os.PathLike):
        raise UsageError(f"a file is named by a path, not by {type(file).__name__}")


def check_notes(notes: Any) -> None:
    """Raise UsageError for what no notes can be added to."""
    if notes is not None and not isinstance(notes, list):
        raise mistyped("`notes` is a list, to which notes are added", notes)


def check_frames(frames: Any, kind: type = Iterable) -> None:
    """Raise UsageError for frames that cannot be taken one after another."""
    if not isinstance(frames, kind):
        said = "an asynchronous iterable" if kind is not Iterable else "a list or another iterable"
        raise mistyped(f"`frames` is {said}", frames)


def text_under(keys: Iterable[str], body: dict[str, Any]) -> str | None:
    """Return the first text that stands under one of some keys at the top."""
    for key in keys:
        found = body.get(key)
        if isinstance(found, str):
            return found
    return None


def check_json(body: Any) -> None:
    """Raise ConversionError for what JSON cannot hold, at its path."""
    if not _plain(body):
        _find(body)


def _plain(body: Any) -> bool:
    """Tell whether a value is JSON without anything that needs a closer look: mostly it is."""
    level: list[Any] = [{"": body}]
    left = jsontext.MAX_DEPTH
    while level and left:
        deeper: list[Any] = []
        for holder in level:
            if holder.__class__ is dict:
                try:
                    if not "".join(holder).isascii():
                        return False
                except TypeError:  # a key is no text
                    return False
                values: Any = holder.values()
            else:
                values = holder
            for value in values:
                kind = value.__class__
                if kind is str:
                    if not value.isascii() and not jsontext.encodes(value):
                        return False
                elif kind is dict or kind is list:
                    deeper.append(value)
                elif kind is int:
                    if not -SMALL < value < SMALL:
                        return False
                elif not (value is None or kind is bool or (kind is float and value - value == 0)):
                    return False
        level, left = deeper, left - 1
    return not level


def _find(body: Any) -> None:
    """Raise ConversionError at the path of what JSON cannot hold, if there is any."""
    for at, value in everywhere(body):
        if isinstance(value, dict | list):
            if len(at) > jsontext.MAX_DEPTH:
                raise ConversionError("the payload is nested too deep", pointer(at[:12]))
            for key in value if isinstance(value, dict) else ():
                if not isinstance(key, str):
                    raise ConversionError(f"a key is {type(key).__name__}, not text", pointer(at))
                _utf8(key, at)
        elif isinstance(value, float):
            if not jsontext.finite(value):
                raise ConversionError(f"{value} is no JSON number", pointer(at))
        elif isinstance(value, str):
            _utf8(value, at)
        elif isinstance(value, int):
            if not -MAX_NUMBER < value < MAX_NUMBER:
                raise ConversionError(
                    "this number has more digits than can be written", pointer(at)
                )
        elif value is not None:
            raise ConversionError(f"{type(value).__name__} is no JSON value", pointer(at))


def with_clock(known: dict[str, Any], clock: Clock | None) -> dict[str, Any]:
    """Return the options with the caller's clock; raises UsageError for what is no function."""
    if clock is None:
        return known
    if not callable(clock):
        raise mistyped("`clock` is a function such as time.time", clock)
    return {**known, "clock": clock}


def _utf8(text: str, at: tuple[Any, ...]) -> None:
    if not jsontext.encodes(text):
        raise ConversionError("half of a surrogate pair stands alone in this text", pointer(at))
