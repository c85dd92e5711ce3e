"""Contradictions: what frames say of one thing, and do not say the same.

What says nothing (null, what is empty, zero) is contradicted by nothing, nor is saying more than
before. Of a path that `drop` names the value moves on while frames come: its reason is noted then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..language.events import guards
from ..language.lenses import same
from ..trail import At, Trail, keys_of, value_at
from .hearing import Hearing

_MEMORY = ("spelled", "arguments_json", "value_json")  # other texts of the same


def compared(
    fold: Hearing, was: dict[str, Any], now: dict[str, Any], trail: Trail, at: At = ()
) -> None:
    """Note what an object of the IR lacks of what was said of it before.

    The trail knows where in the frame its fields stand; the frame has the object at `at`.
    """
    for path in _differing(was, now, ()):
        quiet = ("own", "value", fold.dialect.family)
        name = ".".join(key for key in path if isinstance(key, str) and key not in quiet)
        fold.noted(_place(fold, now, path, trail, at), name)


def _differing(was: Any, now: Any, path: At) -> Iterator[At]:
    """Yield the paths of what was said and is not said again."""
    if isinstance(was, dict) and isinstance(now, dict | None):
        for key, old in was.items():
            if key not in _MEMORY:
                yield from _differing(old, (now or {}).get(key), (*path, key))
    elif isinstance(was, list) and isinstance(now, list):
        for nth, old in enumerate(was):
            yield from _differing(old, now[nth] if nth < len(now) else None, (*path, nth))
    elif _says(was) and not same(was, now):
        yield path


def _says(value: Any) -> bool:
    """Tell whether a value says anything."""
    if isinstance(value, dict | list):
        return any(map(_says, value.values() if isinstance(value, dict) else value))
    return guards(value) and (isinstance(value, bool) or value != 0)


def _place(fold: Hearing, owner: Any, path: At, trail: Trail, at: At) -> At:
    """Return where a frame has what stands at a path of the IR, as near as that is known."""
    found = (trail.find(owner) if isinstance(owner, dict) else None) or at
    for key in path:
        before = trail.find(owner, str(key)) if isinstance(owner, dict) else None
        inside = keys_of(key) if isinstance(key, str) and key[:1] == "/" else (key,)
        further = (*found, *inside)
        found = before or (found if value_at(fold.frame, further) is None else further)
        owner = value_at(owner, (key,))
        found = (trail.find(owner) if isinstance(owner, dict) else None) or found
    return tuple(found)
