"""What the caller supplies where the target cannot name it: bytes of media, outputs that were cut.

The engine fetches nothing. It asks the caller's function, each source once in a conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..base64text import is_base64
from ..errors import UsageError, mistyped
from ..ir import MEDIA
from ..jsontext import copied
from ..language.lenses import Misfit, parse_json

# Takes a source as the IR has it, or {"type": "output_ref", "output_ref": ...}.
Resolve = Callable[[dict[str, Any]], "Mapping[str, Any] | None"]
NAMED = ("url", "file_id")


class Supplied(NamedTuple):
    """What the caller's function gave: base64, and its media type if that is known."""

    data: str
    media_type: str | None


class Resolver:
    """Asks the caller's function during one conversion."""

    def __init__(self, ask: Resolve) -> None:
        """Hold the function. Raises UsageError for what is none."""
        if not callable(ask):
            form = "takes a source and returns {'media_type', 'data'} or None"
            raise mistyped(f"`resolve` is a function that {form}", ask)
        self._ask = ask
        self._held: dict[int, tuple[Any, Supplied | None]] = {}

    def part(self, part: dict[str, Any]) -> dict[str, Any] | None:
        """Return a part with what the caller supplies for it, or None."""
        source = part.get("source")
        if part.get("type") in MEDIA and isinstance(source, dict) and source.get("type") in NAMED:
            found = self._found(source, source)
            if found is None:
                return None
            media_type = found.media_type or source.get("media_type")
            inline = {"type": "base64", "data": found.data}
            kind = {"media_type": media_type} if media_type else {}
            return {**part, "source": {**inline, **kind}}
        if part.get("trimmed") and isinstance(part.get("output_ref"), dict):
            ref = part["output_ref"]
            found = self._found(ref, {"type": "output_ref", "output_ref": ref})
            return None if found is None else _whole(part, found)
        return None

    def _found(self, key: Any, source: dict[str, Any]) -> Supplied | None:
        if id(key) not in self._held:
            self._held[id(key)] = (key, _checked(self._ask(copied(source))))
        return self._held[id(key)][1]


def resolving(options: dict[str, Any], ask: Resolve | None) -> dict[str, Any]:
    """Return options with a resolver, if there is one; it remembers during one conversion."""
    return options if ask is None else {**options, "resolve": Resolver(ask)}


def _checked(given: Any) -> Supplied | None:
    """Return what the caller's function gave. Raises UsageError for what it may not give."""
    if given is None:
        return None
    data = given.get("data") if isinstance(given, Mapping) else None
    media_type = given.get("media_type") if isinstance(given, Mapping) else None
    if isinstance(data, bytes):
        import base64

        data = base64.b64encode(data).decode()
    if isinstance(data, str) and isinstance(media_type, str | None) and is_base64(data):
        return Supplied(data, media_type)
    raise UsageError(
        "`resolve` returns {'media_type': text, 'data': bytes or base64} or None, and what it "
        "returned is neither"
    )


def _whole(result: dict[str, Any], found: Supplied) -> dict[str, Any] | None:
    """Return a result that was cut with all of its output: text, or data if that was data."""
    import base64

    try:
        text = base64.b64decode(found.data).decode()
        value = parse_json(text) if result.get("kind") == "data" else text
    except (UnicodeDecodeError, Misfit):
        return None
    if result.get("kind") == "multimodal":
        media = [block for block in result["value"] if block.get("type") != "text"]
        value = [{"type": "text", "text": text}, *media]
    gone = ("trimmed", "output_ref", "value_json")
    return {**{k: v for k, v in result.items() if k not in gone}, "value": value}
