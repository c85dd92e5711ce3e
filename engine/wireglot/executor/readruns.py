"""Writes the functions that read elements which hold a run of several parts."""

from __future__ import annotations

from ..ir import OPAQUE
from ..language.picture import Picture, Text, keyed
from ..language.shape import Case, Shape
from .code import Functions, Unwritten
from .readend import WholeText
from .readtext import Slot


class RunText(WholeText):
    """Writes the function that reads an element by one case of a gathering shape."""

    runs, walk = True, "read_run"

    def __init__(self, reads: Functions, shape: Shape, case: Case, name: str) -> None:
        super().__init__(reads, shape, case, name)
        if any(isinstance(child, Text) for _, child in keyed(case.ir)):
            raise Unwritten  # a piece of each part stands around the run
        self.ir, self.bare, self.bound = None, False, set()

    def _waits(self, child: Picture) -> bool:
        return False

    def build(self) -> None:
        """Write how what stands beside the run is said of its first part."""
        if self.sums or self.copies or self.later or self.several:
            raise Unwritten
        [run] = [slot for slot in self.slots if slot.path == "run"]
        self.line(f"if {run.var} is ABSENT or not {run.var}: return {self.no}", self.case.pos)
        self.line(f"made, more = {run.var}[0], []")
        for slot in self.slots:
            if slot is not run:
                self._said(slot)
        self.line("if kp: keep_beside_run(x, made, kp, at, more)")
        if self.mode == "home":
            self.line("if sp: x.memory(made).update((f'..{k}', e) for k, e in sp.items())")
            case = self.case.name if self.case is not self.shape.cases[0] else None
            self.line(f"remember_parts(x, {run.var}, {self.shape.name!r}, {case!r})")
        self.line("if more: x.late((made, None, trail_beside_run, more))")
        self.line(f"return {run.var}")

    def _said(self, slot: Slot) -> None:
        """Write a field beside the run."""
        if slot.there or slot.rel is None:
            raise Unwritten
        keys = tuple(slot.path.split("."))
        if keys[0] == "own":
            keys = (keys[0], self.dialect.family, *keys[1:])
        value = slot.var
        if keys[-1] in OPAQUE and keys[0] != "own":
            origin = self.reads.code.origin(self.dialect.origin[keys[-1]])
            value = f"opaque({slot.var}, {origin})"
        at = self.at(slot.rel)
        with self.t.under(f"if {slot.var} is not ABSENT:"):
            if len(keys) == 1:
                self.line(f"if {keys[0]!r} in made: return {self.odd}")
                self.line(f"made[{keys[0]!r}] = {value}")
                self.line(f"x.late((made, None, {{{keys[0]!r}: {at}}}, {keys!r}))")
            else:
                self.line(f"if not put_deep(x, made, {keys!r}, {value}, {at}): return {self.odd}")
            self.line(f"more.append({at})")
