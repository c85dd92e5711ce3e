"""Room on the stack: what is too deep does not depend on how deep the caller stands.

And no look for garbage while much is made that stays.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .errors import ConversionError
from .jsontext import MAX_DEPTH
from .trail import At, pointer

P = ParamSpec("P")
R = TypeVar("R")


class TooDeep(ConversionError):
    """Raised where the stack ended; with another stack the same may pass."""


def with_room(work: Callable[P, R]) -> Callable[P, R]:
    """Let a method whose first argument is a payload run again with a whole stack, if it needs it.

    A conversion changes nothing that it was given, so it may begin again. What does not pass on the
    stack of a new thread is refused: ConversionError, with the path of what is nested deepest.
    """

    @functools.wraps(work)
    def worked(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return work(*arguments, **named)
        except (TooDeep, RecursionError):
            pass
        return _apart(functools.partial(work, *arguments, **named), *arguments[1:2], **named)

    return worked


def unswept(work: Callable[P, R]) -> Callable[P, R]:
    """Let Python not look for garbage while something makes much that stays, as a load does.

    To look took half of the time of a load. Where the caller has turned it off it stays off.
    """

    @functools.wraps(work)
    def worked(*arguments: P.args, **named: P.kwargs) -> R:
        if not gc.isenabled():
            return work(*arguments, **named)
        gc.disable()
        try:
            return work(*arguments, **named)
        finally:
            gc.enable()

    return worked


def _apart(work: Callable[[], R], body: Any = None, /, **named: Any) -> R:
    """Do something on the stack of a new thread."""
    import threading

    done: list[R] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except (TooDeep, RecursionError):
            path = pointer(deepest(named.get("body", named.get("ir", body)))[:12])
            failed.append(ConversionError("the payload is nested too deep", path))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


def deepest(body: Any) -> At:
    """Return the path of what is nested deepest; the levels of JSON in a text count."""
    found, most = (), -1
    stack: list[tuple[Any, At]] = [(body, ())]
    while stack:
        value, at = stack.pop()
        depth = len(at)
        if isinstance(value, str):
            depth += max(value.count("{"), value.count("["))
        elif isinstance(value, dict | list) and depth <= MAX_DEPTH:
            pairs: Any = value.items() if isinstance(value, dict) else enumerate(value)
            stack.extend((inner, (*at, key)) for key, inner in pairs)
        if depth > most:
            found, most = at, depth
    return found
