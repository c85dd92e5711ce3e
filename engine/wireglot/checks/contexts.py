"""Which object of the IR each shape of a dialect pictures, found by following its holes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

from ..ir import FUNCTION, PARTS
from ..language import picture as pic
from ..language.events import Event, Stream
from ..language.findings import Findings
from ..language.model import Dialect
from ..language.picture import Fields, Hole, Literal, Picture
from ..language.shape import Case, Shape
from .fields import ANY, KINDS, held_by

Objects = frozenset[str]
NOTHING: Objects = frozenset()
OF_UNITS = {"envelope": "request"}  # the objects of units, where they are not of that name
# Shapes that a unit of a conversion names by itself, whether a hole names them or not.
NAMED = {"tool_call": "part", "tool_result": "part", "usage": "usage", "text": "part"}
# What the holes of a stream hold, where they are not of that name.
IN_FRAMES = {".": "candidate", "parts": "part"}


class View(NamedTuple):
    """A case, the objects that it pictures, and what the names of its `ir` picture hold."""

    case: Case
    shape: Shape | None
    objects: Objects
    bound: dict[str, Objects]

    def holds(self, path: str) -> Objects | None:
        """Return what a path of a hole holds; None where no field has that name."""
        first, _, rest = path.partition(".")
        if first in self.bound:
            return held_by(self.bound[first], rest) if rest else self.bound[first]
        return held_by(self.objects, path)


def _holes_of(stream: Stream | None, asked: Callable[[Event], bool]) -> list[pic.Hole]:
    """Return the holes of some events of a stream."""
    events = [e for e in stream.events if asked(e)] if stream is not None else []
    return [h for e in events for p in (*e.reads, *e.writes) for h in pic.holes(p)]


class Contexts:
    """The objects of every shape that is used, and the shapes that no hole reaches."""

    def __init__(self, dialect: Dialect, findings: Findings) -> None:
        self.dialect, self.findings = dialect, findings
        self.objects_of: dict[str, set[str]] = {}
        self.unions: set[str] = set()
        self.named: set[str] = set()  # by a hole, or a union of one
        self._queue: list[str] = []
        for name, what in NAMED.items():
            if name in dialect.shapes:
                self._reach(name, {what})
        self.named.clear()  # what is always asked for
        self._named: list[View] = []
        for unit, shape in dialect.units.items():
            self._named += [
                self._view(case, shape, {OF_UNITS.get(unit, unit)}) for case in shape.cases
            ]
        talk = dialect.file_talk or dialect.conversation
        self._named += [self._view(c, None, {"message"}) for c in (talk.cases if talk else ())]
        for view in self._named:
            self._follow(view)
        for marks in dialect.within.values():
            self._reach(marks.shape or marks.kind, {"part"})
        stream = dialect.stream
        failed = _holes_of(stream, lambda event: "error" in event.acts)
        of_parts = _holes_of(stream, lambda event: any(w.kind in PARTS for w in event.words))
        for picture in stream.pictures() if stream is not None else ():
            for hole in pic.holes(picture):
                if hole.shape is not None:
                    itself = hole.path
                    if itself == "." and hole in failed:
                        itself = "error"
                    elif itself == "." and hole in of_parts:
                        itself = "part"
                    self._reach(hole.shape, {IN_FRAMES.get(itself, itself)})
        while self._queue:
            name = self._queue.pop()
            shape = dialect.shapes[name]
            for view in self.views(shape):
                self._follow(view)

    def views(self, shape: Shape) -> list[View]:
        """Return the cases of a shape with what they picture."""
        around = self.objects_of.get(shape.name, set())
        return [self._view(case, shape, self._objects(shape, case, around)) for case in shape.cases]

    @cached_property
    def all(self) -> list[View]:
        """Every case of the dialect with what it pictures; made once, all is reached now."""
        shapes = self.dialect.shapes.values()
        return [*(view for shape in shapes for view in self.views(shape)), *self._named]

    def _view(self, case: Case, shape: Shape | None, objects: Iterable[str]) -> View:
        """Return the view of a case, made once: sets of variants share most of their cases."""
        of = case, shape, frozenset(objects)
        return self.findings.cached((view_of, *of), lambda: view_of(*of))

    def _objects(self, shape: Shape, case: Case, around: set[str]) -> set[str]:
        if shape.marks:
            found = held_by(frozenset(("part", "tool")), shape.marks) or ()
            return {word.strip("[]") or ANY for word in found}
        if shape.kind is not None:
            return {shape.kind}
        if around <= {"part", "tool"}:
            if kinds := {kind for kind in case.kinds if kind in KINDS}:
                return kinds
            if shape.name == FUNCTION or around == {"tool"}:
                return {FUNCTION}
        return set(around)

    def _reach(self, name: str, objects: set[str]) -> None:
        if name in self.dialect.unions:
            self.unions.add(name)
        for member in self.dialect.unions.get(name, [name]):
            if member not in self.dialect.shapes:
                continue
            self.named.add(member)
            known = self.objects_of.get(member)
            if known is None or not objects <= known:
                self.objects_of[member] = (known or set()) | objects
                self._queue.append(member)

    def _follow(self, view: View) -> None:
        """Reach the shapes that the holes of a case name."""
        for hole in pic.holes(view.case.wire):
            if hole.shape is None or hole.shape == "conversation":
                continue
            if hole.path == ".":
                found: set[str] = set(view.objects)
            elif hole.path == "run":
                gathered = view.shape.groups if view.shape is not None else NOTHING
                found = {FUNCTION if kind == FUNCTION else "tool" for kind in gathered}
            elif hole.mode == "entries":
                found = {"entry"}
            else:
                found = {w.strip("[]") or ANY for w in view.holds(hole.path) or (ANY,)}
            self._reach(hole.shape, found)


def view_of(case: Case, shape: Shape | None, objects: Objects) -> View:
    """Return a case with the objects that it pictures, and what its `ir` picture names."""
    view = View(case, shape, objects, {})
    bind(view, case.ir, objects)
    return view


def bind(view: View, ir: Picture | None, objects: Objects) -> None:
    """Give the names of an `ir` picture what they hold."""
    if isinstance(ir, Hole):
        view.bound[ir.path] = view.bound.get(ir.path, NOTHING) | frozenset((ANY,))
    elif isinstance(ir, pic.Text):
        for name in ir.names:
            view.bound[name] = frozenset(("",))
    elif isinstance(ir, Fields):
        for (name, *_), child in ir.entries:
            below = held_by(objects, name)
            if isinstance(child, Hole):
                view.bound[child.path] = below or frozenset((ANY,))
            elif not isinstance(child, Literal):
                bind(view, child, frozenset(below or (ANY,)))
