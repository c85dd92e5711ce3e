"""Writes the function of one case as a whole: reading, the IR value, sums, memory and places."""

from __future__ import annotations

from ..interpreter.sums import fields_alone
from ..ir import field_type
from ..language.picture import Fields, Literal, Picture, Test, keyed
from .code import NAME, Unwritten
from .readir import IrText
from .readtext import plain, spoken


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
        if self.tail:
            self.rest()
        self._sums()
        self._copies()
        self._places()
        self._later()
        for path, var, rel in self.several:
            self.line(
                f"if {var} is not ABSENT: trail_keys(x, made, {path!r}, {self.at(rel)}, {var})"
            )
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
        with self.t.under("if kp:"):
            self.line(f"made['kept'] = {{{NAME}: kp}}")
            self.line("x.late((made, at, KEPT, ('kept',)))")
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
