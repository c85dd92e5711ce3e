"""Reading by generated functions; what is cold or odd is read by the interpreter."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from ..interpreter import conversation, elements, readhole
from ..interpreter.env import Env
from ..interpreter.reader import PictureReader
from ..language.measure import may_fit
from ..language.model import Dialect, once
from ..language.picture import Hole
from ..language.shape import Case, Shape
from ..language.source import Pos
from ..language.talk import Group
from ..native import mypyc_attr
from ..trail import At
from . import readers
from .readtime import NO, attempt


@mypyc_attr(native_class=False)
class CodedReader(PictureReader):
    """Reads one payload by the functions of its dialect."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.away = not self.probe and not self.home
        mode = "probe" if self.probe else "home" if self.home else "away"
        known = self.dialect.cache.get(("read", mode))
        self.code: readers.Reads = known or readers.of(self.dialect, mode)
        self.late = self.trail.late.append
        self.walks = self.recorder is not None  # a trace is told of each step of the walk

    def first(self, cases: Iterable[tuple[Shape, Case]], wire: Any, at: At, lenient: bool) -> Any:
        if not self.walks:
            made = self.coded(cases, wire, at, lenient)
            if made is not NO:
                return made
        return super().first(cases, wire, at, lenient)

    def whole(self, shape: Shape, wire: Any, at: At) -> Any:
        """Read a node by the cases of a shape, strictly, or else with what does not fit kept."""
        for lenient in () if self.walks else (False, True):
            made = self.code.names[self.code.choice(shape)](self, wire, at, lenient)
            if made is not NO:
                return made
        return super().whole(shape, wire, at)

    def coded(self, cases: Iterable[tuple[Shape, Case]], wire: Any, at: At, lenient: bool) -> Any:
        """Read one node by generated code; NO where no case fits."""
        names = self.code.names
        if isinstance(cases, list):
            name = self.code.of_list(cases)
            if name is not None:
                return names[name](self, wire, at, lenient)
        quick = wire.__class__ is dict
        for shape, case in cases:
            if shape.groups or shape.marks or (quick and not may_fit(case, wire)):
                continue
            made = names[self.code.case(shape, case)](self, wire, at, lenient)
            if made is not NO:
                return made
        return NO

    def as_home(self, name: str, wire: Any, at: At) -> Any:
        """Read one node as if it might be written again, for it counts whether it could be."""
        if not self.away:
            return super().as_home(name, wire, at)
        with self._at_home():
            return super().as_home(name, wire, at)

    def plain(self, item: Any) -> Any:
        """Return the text of an element that is the dialect's own text alone, or None."""
        texts = self.dialect.cases_of("text") if item.__class__ is dict else ()
        if texts and not any(may_fit(case, item) for _, case in texts):
            return None  # an element of another kind, mostly
        with self._at_home():
            return readhole.plain_text(self, item)

    @contextlib.contextmanager
    def _at_home(self) -> Iterator[None]:
        code, away = self.code, self.away
        self.code, self.away = readers.of(self.dialect, "home"), False
        try:
            yield
        finally:
            self.code, self.away = code, away

    def element(
        self, name: str, item: Any, at: At, modes: tuple[bool, ...] = (False, True)
    ) -> tuple[list[Any], Shape | None]:
        """Read one element of a list; a gathering shape gives several."""
        found = NO if self.walks else self.elements(name, item, at, modes)
        return super().element(name, item, at, modes) if found is NO else found

    def elements(
        self, name: str, item: Any, at: At, modes: tuple[bool, ...], tried: bool = False
    ) -> Any:
        """Read one element by the cases and runs that fit, strictly `tried` or not; NO if none."""
        cases = self.dialect.cases_of(name)
        for lenient in modes:
            made = NO if tried and not lenient else self.coded(cases, item, at, lenient)
            if made is not NO:
                return [made], None
            found = self.gathered(name, item, at, lenient)
            if found is not NO:
                return found
        return NO

    def gathered(self, name: str, item: Any, at: At, lenient: bool) -> Any:
        """Read one element as the first of a run; NO where no run begins with it."""
        for shape, case in _runs(self.dialect, name):
            if item.__class__ is not dict or may_fit(case, item):
                parts = self.code.names[self.code.run(shape, case)](self, item, at, lenient)
                if parts is not NO:
                    return elements.remember_run(self, name, (shape, case), parts, item, at)
        return NO

    def message(self, item: Any, at: At) -> tuple[Group, list[dict[str, Any]]]:
        """Read one wire message: its group, and the IR messages that it holds."""
        if not self.walks:
            read = self.code.names["message"]
            for lenient in MODES:
                self.run = None
                found = read(self, item, at, lenient)
                if found is not NO:
                    return found  # type: ignore[no-any-return]
        return super().message(item, at)

    def unusual(self, name: str, item: Any, at: At) -> Any:
        """Read an element that no case takes as it is; NO where nothing takes it."""
        return attempt(self, self._unusual, name, item, at)

    def _unusual(self, name: str, item: Any, at: At) -> Any:
        found = self.elements(name, item, at, (False, True), tried=True)
        return super().element(name, item, at) if found is NO else found

    def listed(self, name: str, wire: list[Any], at: At) -> Any:
        """Read a list in which elements may be fields of those before them."""
        hole = Hole(("parts",), "each", name, (), None, None, _POS)
        return attempt(self, elements.read_list, self, hole, wire, at, (), Env(at, _NONE, False))

    def messages(self, wire: Any, at: At) -> Any:
        """Read a conversation; NO where something in it is wrong."""
        if self.walks or self.file is not None or wire.__class__ is not list:
            return attempt(self, conversation.read_messages, self, wire, at)
        return attempt(self, self._heard, wire, at)

    def _heard(self, wire: list[Any], at: At) -> list[dict[str, Any]]:
        """Read the messages of no file."""
        found = [(*self.message(item, (*at, i)), self.run) for i, item in enumerate(wire)]
        return conversation.join_messages(self, found)


@once
def _runs(dialect: Dialect, name: str) -> list[tuple[Shape, Case]]:
    """Return the cases of a shape or union by which several elements are read together."""
    return [pair for pair in dialect.cases_of(name) if pair[0].groups]


MODES = (False, True)  # strictly, and with what does not fit kept
_POS = Pos("", 0, 0)  # of what no rule file says
_NONE: Any = Case("", "", Hole(("it",), None, None, (), None, None, _POS), None, {}, None, _POS)
