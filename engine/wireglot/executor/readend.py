"""Writes the function of one case as a whole: reading, the IR value, sums, memory and places."""

from __future__ import annotations

from ..interpreter.sums import fields_alone
from ..ir import OPAQUE, field_type
from ..language.picture import Fields, Literal, Picture, Test, Text, keyed
from ..language.shape import Case, Shape
from .code import NAME, Functions, Unwritten
from .readir import IrText
from .readtext import Slot, plain, spoken


class WholeText(IrText):
    """Writes the whole function of one case."""

    def whole(self) -> str:
        """Return the text of the function."""
        self.read()
        self.build()
        head, _, body = str(self.t).partition("\n")
        start = [f"    {' = '.join(('sp', 'kp', *(('own',) if self.owned else ())))} = None"]
        if self.absent:
            start.append(f"    {' = '.join(dict.fromkeys(self.absent))} = ABSENT")
        if self.nested:
            start.append("    m = len(x.notes)")
        return "\n".join([head, *start, body])

    def build(self) -> None:
        """Write how the IR value is made, and what is returned."""
        if self.bare:
            self._bare()
            return
        self.pending = list(self.slots)
        self._lists()
        self._start()
        for slot in self.pending:
            if slot.path not in self.bound:
                self.place(slot)
        self._sums()
        self._copies()
        self._places()
        self._later()
        for path, var, rel in self.several:
            came = f"trail_keys(x, made, {path!r}, {self.at(rel)}, {var})"
            self.line(f"if {var} is not ABSENT: {came}")
        self._end()

    # -- sums -----------------------------------------------------------------------------------

    def _sums(self) -> None:
        """Write how sums are solved; what is not whole numbers that add up is odd."""
        if not self.sums:
            return
        by_path = {slot.path: slot for slot in self.slots}
        settled: set[str] = set()
        solved: dict[str, str] = {}
        if any("." in p or p in self.bound for h, _, _ in self.sums for p in h.paths):
            raise Unwritten
        for h, v, rel in self.sums:
            self.line(f"if {v}.__class__ is not int: return {self.odd}", h.pos)
            terms = []
            unknown = []
            for path in h.paths:
                if path in solved:
                    terms.append(solved[path])
                elif path in fields_alone(self.case):
                    slot = by_path.get(path)
                    if slot is None:
                        raise Unwritten
                    if field_type(self.case.shape, path) not in ("integer", "number"):
                        odd = f"{slot.var} is not ABSENT and not guard('number', {slot.var})"
                        self.line(f"if {odd}: return {self.odd}", h.pos)
                    terms.append(f"(0 if {slot.var} is ABSENT else {slot.var})")
                elif path not in settled:
                    unknown.append(path)
            settled.update(h.paths)
            total = " + ".join(terms) or "0"
            if unknown:
                var = self.name(unknown[0])
                self.line(f"{var} = {v} - ({total})" if terms else f"{var} = {v}")
                self.line(f"if {var} < 0: return {self.odd}")
                self.line(f"made[{unknown[0]!r}] = {var}")
                self.table[unknown[0]] = plain(rel)
                solved[unknown[0]] = var
            else:
                self.line(f"if {v} != {total}: return {self.odd}")

    def _copies(self) -> None:
        """Write what stands where a value is repeated; another one is odd, or does not fit."""
        inside = {s.path: s.var for s in self.slots if s.path in self.bound or "." in s.path}
        for h, v, rel in self.copies:
            found = inside.get(h.path, f"made.get({h.path!r}, ABSENT)")
            if h.mark == "same":
                self.line(f"if not same({v}, {found}): return {self.no}", h.pos)
                continue
            with self.t.under(f"if {v} is ABSENT or {v} is None:"):
                if self.track:
                    self.line(f"sp = marked(sp, {self.pointer(rel)}, 'none')")
                    self.line(f"if {v} is None: sp = marked(sp, {self.pointer(rel)}, 'as', None)")
                else:
                    self.line("pass")
            self.line(f"elif not same({v}, {found}): return {self.odd}", h.pos)

    # -- inner pictures ---------------------------------------------------------------------------

    def _later(self) -> None:
        """Write the holes that are made of the object's own fields."""
        if not self.later:
            return
        tops = tuple(
            dict.fromkeys(s.path for s in self.slots if "." not in s.path and s.path != "own")
        )
        tops += tuple(p for h, _, _ in self.sums for p in h.paths)
        self.line("taken = set()")
        if self.inner:
            self.line("handed = {}")
        for h, v, rel, spread in self.later:
            inners = self.reads.inners(h.named)
            self.nested = True
            with self.t.under(f"if {v} is not ABSENT:"):
                given = (
                    f"x, {inners}, {self.value(h)}, {v}, {self.at(rel)}, L, "
                    f"{self.pointer(rel)}, made, {self.value(tops)}, taken, {spread}, sp, kp"
                    f"{', handed' if self.inner else ''}"
                )
                self.line(f"got = within({given})", h.pos)
                self.line(f"if got is NO: return {self.no}")
                self.line(f"if got is ODD: return {self.odd}")
                self.line("sp, kp = got")
        self._inside()

    def _inside(self) -> None:
        """Write that no object that was handed on says another thing than the `ir` picture."""
        for (name, *_), child in keyed(self.case.ir):
            for (inner, *_), said in keyed(child):
                if isinstance(said, Literal):
                    given = f"value_at(made, {(name, inner)!r}, ABSENT), {self.value(said.values)}"
                    self.line(f"if not agrees({given}): return {self.no}", said.pos)

    # -- the end ----------------------------------------------------------------------------------

    def _end(self) -> None:
        """Write tests, memory and places, and what is returned."""
        case = self.case
        for (name, *_), child in keyed(case.ir):
            if isinstance(child, Test):
                seen = f"made.get({name!r}, ABSENT)"
                if self.inner:
                    seen = f"made.get({name!r}, seen.get({name!r}, ABSENT))"
                self.tested(child, seen)
        if self.inner:
            self._agree(case.ir, ())
            for line in self.overrides:
                self.line(line)
            for slot in self.slots:  # also those that a text is made of
                if slot.rel is not None and not slot.there and slot.path not in self.table:
                    self.table[slot.path] = plain(slot.rel)
            for name, rel in self.owned.items():
                self.table["own", name] = rel
            table = self.reads.code.value(self.table, "P")
            if self.moved:
                self.line(f"places = dict({table})")
                table = "places"
            for test, owner, field, rel in self.moved:
                key = field if owner == "made" else ("own", field)
                keys = "".join(f"{spoken(one)}, " for one in rel)
                self.line(f"if {test}: places[{key!r}] = ({keys})")
            self.line(f"return made, {table}, sp, kp{', handed' if self.later else ''}")
            return
        if "parts" in case.lists and not any(s.path == "parts" and s.always for s in self.slots):
            self.line("if 'parts' not in made: made['parts'] = []")
        self._memory()
        if self.mode == "home":
            if case.doubles and case.name:
                self.line(f"if x.home: remember_case(x, {self.walked}, made, at)", case.pos)
            if isinstance(case.wire, Fields) and not case.needs:
                self.line("if not w: x.remember(made, '', 'empty', True)")
        self.line("return made")

    def _memory(self) -> None:
        """Write how kept keys and the memory of spelling are hung on the IR value."""
        self.line(f"if kp: hang_kept(x, made, at, {NAME}, kp)")
        if self.mode == "home":
            self.line(f"if sp: made['spelled'] = {{{NAME}: sp}}")

    def _places(self) -> None:
        """Write where what was found came from, before more is added to it."""
        if self.inner:
            return
        if self.owned:
            table = self.reads.code.value(self.owned, "P")
            self.line(f"if own is not None: x.late((own, at, {table}, tuple(own)))")
        table = self.reads.code.value(self.table, "P")
        self.line(f"x.late((made, at, {table}, tuple(made)))")
        for line in self.overrides:
            self.line(line)

    def _agree(self, ir: Picture | None, path: tuple[str, ...]) -> None:
        """Write that no literal of the `ir` picture contradicts what a neighbour found."""
        for (name, *_), child in keyed(ir):
            here = (*path, name)
            if isinstance(child, Fields):
                self._agree(child, here)
            elif isinstance(child, Literal):
                before = f"value_at(seen, {here!r}, ABSENT)"
                if path:
                    self.line(f"if {before} is not ABSENT: return {self.odd}", child.pos)
                else:
                    given = f"{before}, {self.value(child.values)}"
                    self.line(f"if not agrees({given}): return {self.no}", child.pos)


class InnerText(WholeText):
    """Writes the function of one case of the object's own fields."""

    inner = True


class RunText(WholeText):
    """Writes the function that reads an element by one case of a gathering shape."""

    runs, walk = True, "read_run"

    def __init__(self, reads: Functions, shape: Shape, case: Case, name: str) -> None:
        super().__init__(reads, shape, case, name)
        if any(isinstance(child, Text) for _, child in keyed(case.ir)):
            raise Unwritten  # a piece of each part stands around the run
        self.ir, self.bare, self.bound = None, False, set()

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
