"""The code of a lane: a function that takes a frame as the one before and says what is written.

It is compiled from two values: a frame that was read, with the places in it that may differ, and
the frames that were written for it, with a mark for the piece. All else of a frame is compared,
class by class, so that nothing but the piece (and token counts) can differ unseen. The code of a
form of frames is kept, and serves every part and every stream: what it compares with is given to
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..trail import At
from .alike import DEEPEST, Flow
from .outgoing import MARK, NUMBER

MOST = 80  # values that are compared, or written
KEPT = 24  # codes of one form
Take = Callable[[Any], "list[Any] | None"]
_ERRORS = "KeyError, UnicodeEncodeError"


class Unfit(Exception):
    """A frame for which no code is worth while."""


def known(flow: Flow, wire: Any, made: list[Any] | None, guarded: bool) -> Any:
    """Return what makes the function of a lane, if its code was compiled before."""
    return flow.codes.get((_shape(wire), _shape(made), guarded))


def compiled(flow: Flow, wire: Any, made: list[Any] | None, guarded: bool) -> Any:
    """Compile what makes the function of a lane. Raises Unfit.

    It takes the frame `w`, the frames `t` that are written with a mark for the piece (`made`; None
    where it is the frame itself), what takes the piece, the text with which a piece may not begin
    (if it is `guarded`), a list that holds the last token counts, what counts the frames that are
    written, and a list that holds the number that the next frame has.
    """
    if len(flow.codes) >= KEPT:
        raise Unfit
    code = _Code(flow.free)
    code.alike(wire, (), "w", "w")
    result = "[w]"
    if made is not None:
        frames = [code.made(frame, f"t[{nth}]", nth) for nth, frame in enumerate(made)]
        result = f"[{', '.join(frames)}]"
    lines = [
        "def make(w, t, grow, first, held, frames, order):",
        *(f" {line}" for line in code.given),
        " def take(w):",
        "  try:",
        *(f"   {line}" for line in code.tests),
        "   if not p.isascii(): p.encode()",
        f"  except ({_ERRORS}):",
        "   return None",
        *(["  if p.startswith(first): return None"] if guarded else ()),
        "  grow(p)",
        *(["  held[0] = u"] if "usage" in flow.free.values() else ()),
        *(["  order[0] = o + 1"] if "number" in flow.free.values() else ()),
        *([f"  n = frames.count; frames.count = n + {len(made or ())}"] if code.numbered else ()),
        f"  return {result}",
        " return take",
    ]
    space: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<lane>", "exec"), space)  # of names and literals alone
    make = flow.codes[_shape(wire), _shape(made), guarded] = space["make"]
    return make


def _shape(value: Any, depth: int = 0) -> Any:
    """Return what code depends on: keys, lengths, classes, and the values that stand in it."""
    kind = value.__class__
    if depth > DEEPEST:
        return kind  # for which there is no code
    if kind is dict:
        return tuple([(key, _shape(item, depth + 1)) for key, item in value.items()])
    if kind is list:
        return (list, *[_shape(item, depth + 1) for item in value])
    if value is None or kind is bool or value is MARK or value is NUMBER:
        return value
    return kind


class _Code:
    """Lines of code: what they compare with, and the comparisons."""

    def __init__(self, free: dict[At, str]) -> None:
        self.free = free
        self.given: list[str] = []
        self.tests: list[str] = []
        self.numbered = False
        self._names = 0

    def value(self, there: str) -> str:
        """Return the name of a value that is given; it is known where it stands."""
        if len(self.given) >= MOST:
            raise Unfit
        self.given.append(f"c{len(self.given)} = {there}")
        return f"c{len(self.given) - 1}"

    def test(self, condition: str) -> None:
        """Give up where a condition holds."""
        self.tests.append(f"if {condition}: return None")

    # -- what came --------------------------------------------------------------------------------

    def alike(self, wire: Any, at: At, here: str, there: str, counted: bool = False) -> None:
        """Compare what stands `here`; whole numbers among token counts may differ."""
        what = self.free.get(at)
        kind = wire.__class__
        if what == "piece":
            self.tests.append(f"p = {here}")
            self.test("p.__class__ is not str or not p")
        elif what == "number" and kind is int:
            self.tests.append(f"o = {here}")
            self.test("o.__class__ is not int or o != order[0]")
        elif what == "said" and (kind is str or kind is int):
            name = self._held(here)
            self.test(f"{name}.__class__ is not {kind.__name__}")
            if kind is str:
                self.tests.append(f"if not {name}.isascii(): {name}.encode()")
        elif kind is dict or kind is list:
            if what == "usage":
                self.tests.append(f"u = {here}")
                here, counted = "u", True
            self._container(wire, at, (here, there), counted)
        elif wire is None or kind is bool:
            if counted:
                raise Unfit  # a count that says nothing does not lie over another
            self.test(f"{here} is not {wire!r}")
        elif kind is str:
            self.test(f"{here} != {self.value(there)}")
        elif kind is int and counted:
            self.test(f"{here}.__class__ is not int")
        elif kind is int or kind is float:
            name = self._held(here)
            self.test(f"{name}.__class__ is not {kind.__name__} or {name} != {self.value(there)}")
        else:
            raise Unfit

    def _container(self, wire: Any, at: At, places: tuple[str, str], counted: bool) -> None:
        if len(at) >= DEEPEST:
            raise Unfit
        here, there = places
        name = self._held(here) if "[" in here else here
        kind = wire.__class__.__name__
        self.test(f"{name}.__class__ is not {kind} or len({name}) != {len(wire)}")
        for key, child in wire.items() if kind == "dict" else enumerate(wire):
            self.alike(child, (*at, key), f"{name}[{key!r}]", f"{there}[{key!r}]", counted)

    def _held(self, here: str) -> str:
        """Give a name to what stands somewhere."""
        self._names += 1
        self.tests.append(f"v{self._names} = {here}")
        return f"v{self._names}"

    # -- what is written --------------------------------------------------------------------------

    def made(self, value: Any, there: str, nth: int) -> str:
        """Return an expression that makes a value anew, with the piece and the frame's number."""
        if value is MARK:
            return "p"
        if value is NUMBER:
            self.numbered = True
            return f"n + {nth}"
        if value is None or value.__class__ is bool:
            return repr(value)
        if value.__class__ is dict:
            pairs = ((key, f"{there}[{key!r}]", item) for key, item in value.items())
            inner = (f"{key!r}: {self.made(item, here, nth)}" for key, here, item in pairs)
            return "{" + ", ".join(inner) + "}"
        if value.__class__ is list:
            inner = (self.made(item, f"{there}[{i}]", nth) for i, item in enumerate(value))
            return f"[{', '.join(inner)}]"
        return self.value(there)
