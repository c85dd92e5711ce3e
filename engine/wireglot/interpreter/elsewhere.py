"""Which fields of an object another case of its shape has a place for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ir import owned
from ..language import picture as pic
from ..language.lenses import EXACT, is_guard
from ..language.model import Dialect, once
from ..language.picture import Hole, Literal, Picture
from ..language.shape import Case, Shape
from ..trail import value_at


@once
def elsewhere(dialect: Dialect, shape: Shape, case: Case) -> tuple[str, ...]:
    """Return the IR paths that other cases have a place for, and this one may have none for."""
    mine = set(_places(dialect, case))
    sure = {place[0] for place in mine if place[-1] is None and _whole(place)}
    written = (one for one in shape.cases if one is not case and not one.home)
    others = {place for one in written for place in _places(dialect, one)}
    return tuple(sorted({place[0] for place in others - mine if place[0] not in sure}))


def any_there(o: Any, paths: tuple[str, ...]) -> bool:
    """Tell whether something stands at one of some paths of an object."""
    return any(there(o, path) if "." in path else o.get(path) is not None for path in paths)


def there(o: Any, path: str) -> bool:
    """Tell whether something stands at a path: what nothing stood at was not taken."""
    return value_at(o, path.split(".")) is not None


def _whole(place: tuple[Any, ...]) -> bool:
    """Tell whether nothing of a value is lost where it is taken."""
    if place[1] == "ir":
        return True
    return place[2] is None and all(is_guard(one) or one in EXACT for one in place[1])


def _places(dialect: Dialect, case: Case) -> Iterator[tuple[Any, ...]]:
    """Yield the IR paths that a case has places for, with what it takes there and the mark."""
    within = {} if case.ir is None else dict(_within(case.ir))
    within = {name: owned(path, dialect.family) for name, path in within.items()}
    for path in within.values():
        yield path, "ir", None
    for hole in pic.holes(case.wire):
        if hole.path == ".":
            for _, inner in dialect.cases_of(hole.named):
                for place in _places(dialect, inner):
                    yield (*place[:-1], "")  # one case of several takes it
        for path in hole.paths if hole.path != "." else ():
            where = within.get(path) or owned(path, dialect.family)
            yield where, hole.lenses, hole.mode, hole.shape, hole.mark


def _within(picture: Picture) -> Iterator[tuple[str, str]]:
    """Yield what an `ir` picture names, or the path of a fixed word, with its path in the IR."""
    for at, p in pic.placed(picture):
        path = ".".join(at)
        if isinstance(p, Hole):
            yield p.path, path
        elif isinstance(p, pic.Text):
            yield from ((name, path) for name in p.names)
        elif isinstance(p, Literal):
            yield path, path
