"""What an API keeps of its answers, for a client that names it and does not send it again.

Another provider keeps nothing: the exchange remembers what it answered, and puts that where a
request names it. Only who keeps the state of the exchange has this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..language.lenses import same
from ..language.model import Stored

Items = list[dict[str, Any]]  # each an `id`, and the `item` of the client's wire


def recalled(stored: Stored | None, body: Any, find: Callable[[list[str]], Items]) -> Any:
    """Return a request with what it names in its place; what is not known stays as it is.

    `find` gives what is kept under some ids.
    """
    there = list(_names(stored, body)) if stored is not None else []
    if stored is None or not there:
        return body
    known = {one["id"]: one["item"] for one in find([name for _, name in there])}
    listed = [*body[stored.within]]
    for at, name in there:
        listed[at] = known.get(name, listed[at])
    return {**body, stored.within: listed}


def kept(stored: Stored | None, answer: Any) -> Items:
    """Return what an answer holds that a request may name."""
    if stored is None:
        return []
    listed = answer.get(stored.of)
    return [
        {"id": one[stored.by], "item": one}
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and isinstance(one.get(stored.by), str)
    ]


def wanted(stored: Stored | None, body: Any) -> bool:
    """Tell whether a request lets its answer be kept, where requests may name one."""
    if stored is None or not isinstance(body, dict):
        return False
    return not any(k in body and same(body[k], value) for k, value in stored.unless.items())


def _names(stored: Stored, body: Any) -> Iterator[tuple[int, str]]:
    """Yield the places of what stands for something else, with its id."""
    listed = body.get(stored.within) if isinstance(body, dict) else None
    for at, one in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(one, dict) and isinstance(one.get(stored.by), str):
            if same({**one, stored.by: None}, {**stored.keys, stored.by: None}):
                yield at, one[stored.by]
