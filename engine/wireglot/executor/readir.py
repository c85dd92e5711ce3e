"""Writes the second half of a function that reads: the IR value of what was found."""

from __future__ import annotations

from typing import Any

from ..ir import OPAQUE
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Test, Text, holes
from ..trail import At
from .reads import WireText
from .readtext import Rel, Slot, Unwritten, plain, spoken
from .readtime import Inner, Inners

Table = dict[Any, At]


class WholeText(WireText):
    """Writes the whole function of one case."""

    def whole(self) -> str:
        """Return the text of the function."""
        self.overrides: list[str] = []  # places that are other than the table says
        self.owned: Table = self.own_places
        self.moved: list[tuple[str, str, str, Rel]] = []  # of an inner picture
        self.several: list[tuple[str, str, str, Rel]] = []
        self.read()
        self.build()
        head, _, body = str(self.t).partition("\n")
        start = [f"    {' = '.join(('sp', 'kp', *(('own',) if self.owned else ())))} = None"]
        if self.absent:
            start.append(f"    {' = '.join(dict.fromkeys(self.absent))} = ABSENT")
        if "(x, m)" in body or ", m)" in body:
            start.append("    m = len(x.notes)")
        return "\n".join([head, *start, body])

    def build(self) -> None:
        """Write how the IR value is made, and what is returned."""
        self.table: Table = {} if self.inner else {None: (), "kept": ()}
        self.begun = False  # whether `made` stands
        self.order: list[str] = []
        if self.bare:
            self._bare()
            return
        self.totals: dict[str, str] = {}
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
        self._later()
        for path, _, var, rel in self.several:
            self.line(f"if {var} is not ABSENT: several(x, made, {path!r}, {self.at(rel)}, {var})")
        self._end()

    # -- values ---------------------------------------------------------------------------------

    def _bare(self) -> None:
        """Write a bare value: one that remembers nothing."""
        ir = self.ir
        if self.later or self.sums or self.tail:
            raise Unwritten
        self.line(f"if kp or sp: return {self.no}", self.case.pos)
        found = {slot.path: slot for slot in self.slots}
        if isinstance(ir, Literal):
            made = self.value(ir.values[0])
        elif isinstance(ir, Hole) and ir.path in found:
            made = found[ir.path].var
        elif isinstance(ir, Text) and all(n in found and found[n].always for n in ir.names):
            made = f"{self.value(ir)}.write(({''.join(found[n].var + ', ' for n in ir.names)}))"
        else:
            raise Unwritten
        self.line(f"return {made}", self.case.pos)

    def _lists(self) -> None:
        """Write the sum of what several holes of one list found."""
        self.parts: dict[str, list[Slot]] = {}
        for path in self.lists:
            found = [slot for slot in self.slots if slot.path == path]
            if not found:
                continue
            self.parts[path] = found
            if len(found) == 1:
                continue
            total = self.name(path)
            self.line(f"{total} = ABSENT")
            for slot in found:
                more = f"{slot.var} if {total} is ABSENT else {total} + {slot.var}"
                self.line(f"if {slot.var} is not ABSENT: {total} = {more}")
            self.totals[path] = total

    def _start(self) -> None:
        """Write the object with what is always there, as far as that comes first."""
        first = self._head()
        if not self.inner and self.shape.kind is not None:
            first.append(f"'type': {self.shape.kind!r}")
        ir = self.ir
        late: list[tuple[str, str]] = []
        if isinstance(ir, Fields):
            for (name, *_), child in ir.entries:
                if name == "own":
                    raise Unwritten
                made, sure = self._made(child, (name,))
                if made is None:
                    continue
                if sure and not late:
                    first.append(f"{name!r}: {made}")
                else:
                    late.append((name, made))
        # What is always there and stands next goes into the same display.
        if not late:
            for slot in list(self.pending):
                if slot.path in self.bound:
                    continue
                if not slot.always or "." in slot.path or slot.path in self.lists:
                    break
                if slot.path == "type" and first:
                    break
                first.append(f"{slot.path!r}: {self._opaque(slot.path, slot.var)}")
                self._came(slot, slot.path, "made")
                self.pending.remove(slot)
        self.line(f"made = {{{', '.join(first)}}}", self.case.pos)
        self.begun = True
        for name, made in late:
            self.line(f"if {made} is not ABSENT: made[{name!r}] = {made}")
        self._nested_places(ir, "made")

    def _head(self) -> list[str]:
        """Return what stands before all that was found."""
        return []

    def _made(self, p: Picture, path: tuple[str, ...]) -> tuple[str | None, bool]:
        """Return an expression for a picture of the IR, and whether it is surely there."""
        if path[-1] == "type" and not _word(p, len(path)):
            raise Unwritten
        if isinstance(p, Literal):
            if p.values[0] is ABSENT:
                return None, True
            return self._told(path, self.value(p.values[0])), True
        if isinstance(p, Test):
            return None, True
        if isinstance(p, Items):
            return "[]", True
        if isinstance(p, Hole):
            slot = next((s for s in self.slots if s.path == p.path), None)
            if slot is None or slot.path in self.lists:
                raise Unwritten
            if len(path) == 1:
                self._came(slot, path[0], "made")
            value = slot.var
            if path[-1] in OPAQUE:
                value = self._opaque(path[-1], value)
                if not slot.always:
                    value = f"opaque({slot.var}, {self.dialect.name!r})"
                    if len(path) == 1:
                        raise Unwritten
            if path[-1] == "type" or path[0] == "own":
                raise Unwritten
            return value, slot.always
        if isinstance(p, Text):
            slots = [next((s for s in self.slots if s.path == n), None) for n in p.names]
            values = ""
            for slot in slots:
                if slot is None or slot.always:
                    values += "'', " if slot is None else f"{slot.var}, "
                else:
                    values += f"'' if {slot.var} is ABSENT else {slot.var}, "
            return self._told(path, f"{self.value(p)}.write(({values}))"), True
        if isinstance(p, Fields):
            pieces, all_there = [], True
            for (name, *_), child in p.entries:
                if name == "own" or isinstance(child, Test):
                    raise Unwritten
                made, sure = self._made(child, (*path, name))
                if made is None:
                    continue
                all_there = all_there and sure
                pieces.append(f"{name!r}: {made}")
            display = f"{{{', '.join(pieces)}}}"
            return (display if all_there else f"present({display})"), True
        raise Unwritten

    def _told(self, path: tuple[str, ...], value: str) -> str:
        """Return a value that is made here; of an opaque field with its origin."""
        return f"opaque({value}, {self.dialect.name!r})" if path[-1] in OPAQUE else value

    def _nested_places(self, p: Picture | None, owner: str) -> None:
        """Write where the fields of objects within came from."""
        if not isinstance(p, Fields):
            return
        for (name, *_), child in p.entries:
            if not isinstance(child, Fields):
                continue
            inner = f"{owner}[{name!r}]"
            found: Table = {}
            for (key, *_), leaf in child.entries:
                slot = isinstance(leaf, Hole) and next(
                    (s for s in self.slots if s.path == leaf.path), None
                )
                if slot and slot.rel is not None:
                    found[key] = plain(slot.rel)
                    if slot.keys:
                        self._other_key(slot, key, inner)
            if found:
                self.reads.keep(found)
                table = self.reads.code.value(found, "P")
                self.line(f"x.late(({inner}, at, {table}, tuple({inner})))")
            self._nested_places(child, inner)

    def _opaque(self, path: str, value: str) -> str:
        if path in OPAQUE:
            return f"{{'value': {value}, 'origin': {self.dialect.name!r}}}"
        return value

    def _came(self, slot: Slot, field: str, owner: str) -> None:
        """Write where a field came from: into the table, if that is the same for all objects."""
        if slot.rel is None:
            return
        if slot.there and self.inner:
            self.moved.append((slot.there, owner, field, slot.rel))
            return
        if slot.there:
            place = f"{{{field!r}: {self.at(slot.rel)}}}"
            told = f"x.late(({owner}, None, {place}, ({field!r},)))"
            self.overrides.append(f"if {slot.there}: {told}")
            return
        table = self.owned if owner == "own" else self.table
        table[field] = plain(slot.rel)
        if slot.keys:
            self._other_key(slot, field, owner)

    def _other_key(self, slot: Slot, field: str, owner: str) -> None:
        """Write where a field came from whose key had another spelling."""
        tests = " or ".join(key.test for key in slot.keys)
        other = " or ".join(f"{key.test} and {key.var} != {str(key)!r}" for key in slot.keys)
        test = f"({tests}) and {slot.var} is not ABSENT and ({other})"
        if self.inner and owner in ("made", "own"):
            self.moved.append((test, owner, field, slot.rel or ()))
            return
        place = f"{{{field!r}: {self.at(slot.rel or ())}}}"
        self.overrides.append(f"if {test}: x.late(({owner}, None, {place}, ({field!r},)))")

    def place(self, slot: Slot) -> None:
        """Write how what a hole found is put into the IR object."""
        keys = slot.path.split(".")
        if slot.path in self.lists and len(self.parts.get(slot.path, ())) > 1:
            self._total(slot)
            return
        test = "" if slot.always else f"if {slot.var} is not ABSENT: "
        if keys[0] == "own":
            self._own(slot, keys, test)
            return
        if len(keys) > 1:
            value = self._opaque(keys[-1], slot.var)
            self._reach(slot, tuple(keys), value)
            return
        value = self._opaque(keys[0], slot.var)
        self.line(f"{test}made[{keys[0]!r}] = {value}")
        self._came(slot, keys[0], "made")

    def _reach(self, slot: Slot, keys: tuple[str, ...], value: str) -> None:
        rel = slot.rel if slot.rel is not None else ()
        at = self.at(rel)
        put = f"deep(x, made, {keys!r}, {value}, {at})"
        if slot.always:
            self.line(f"if not {put}: return {self.odd}")
        else:
            self.line(f"if {slot.var} is not ABSENT and not {put}: return {self.odd}")

    def _own(self, slot: Slot, keys: list[str], test: str) -> None:
        """Write a field that only the dialect's family has."""
        if len(keys) > 2:
            path = (keys[0], self.dialect.family, *keys[1:])
            self._reach(slot, path, slot.var)
            return
        if slot.always:
            head = ""
        else:
            head = f"if {slot.var} is not ABSENT: "
        with self.t.under(head.rstrip() or "if True:"):
            self.line("if own is None:")
            self.line(f"    own = made['own'] = {{{self.dialect.family!r}: {{}}}}")
            self.line(f"    own = own[{self.dialect.family!r}]")
            self.line(f"own[{keys[1]!r}] = {slot.var}")
        self._came(slot, keys[1], "own")

    def _total(self, slot: Slot) -> None:
        total = self.totals[slot.path]
        found = self.parts[slot.path]
        self.line(
            f"if {slot.var} is not ABSENT and {slot.path!r} not in made: "
            f"made[{slot.path!r}] = {total}"
        )
        if slot is not found[-1]:
            return
        place = "None"
        for one in reversed(found):
            at = self.at(one.rel or ())
            if one.there:
                at = f"({at} if {one.there} else None)"
            place = f"{at} if {one.var} is not ABSENT else {place}"
        self.overrides.append(f"place = {place}")
        told = f"x.late((made, None, {{{slot.path!r}: place}}, ({slot.path!r},)))"
        self.overrides.append(f"if place is not None: {told}")

    # -- sums -----------------------------------------------------------------------------------

    def _sums(self) -> None:
        """Write how sums are solved; what is not whole numbers that add up is odd."""
        if not self.sums:
            return
        by_path = {slot.path: slot for slot in self.slots}
        alone = {h.path for h in holes(self.case.wire) if len(h.paths) == 1}
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
                elif path in alone:
                    slot = by_path.get(path)
                    if slot is None:
                        raise Unwritten
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
        """Write what stands where a value is repeated; another one is odd."""
        for h, v, rel in self.copies:
            with self.t.under(f"if {v} is ABSENT or {v} is None:"):
                if self.track:
                    self.line(f"sp = marked(sp, {self.pointer(rel)}, 'none')")
                    self.line(f"if {v} is None: sp = marked(sp, {self.pointer(rel)}, 'as', None)")
                else:
                    self.line("pass")
            found = f"made.get({h.path!r}, ABSENT)"
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
        for h, v, rel, spread in self.later:
            inners = Inners(
                [
                    Inner(self.reads.inner(shape, case), shape, case)
                    for shape, case in self.dialect.cases_of(str(h.shape))
                ]
            )
            self.nested = True
            self.reads.keep(inners)
            self.reads.keep(tops)
            with self.t.under(f"if {v} is not ABSENT:"):
                given = (
                    f"x, {self.value(inners)}, {self.value(h)}, {v}, {self.at(rel)}, L, "
                    f"{self.pointer(rel)}, made, {self.value(tops)}, taken, {spread}, sp, kp"
                )
                self.line(f"got = within({given})", h.pos)
                self.line(f"if got is NO: return {self.no}")
                self.line(f"if got is ODD: return {self.odd}")
                self.line("sp, kp = got")
        self._inside()

    def _inside(self) -> None:
        """Write that no object that was handed on says another thing than the `ir` picture."""
        for (name, *_), child in self.case.ir.entries if isinstance(self.case.ir, Fields) else ():
            for (inner, *_), said in child.entries if isinstance(child, Fields) else ():
                if isinstance(said, Literal):
                    found = f"look(made, {(name, inner)!r})"
                    values = self.value(said.values)
                    self.line(f"found = {found}")
                    self.line(
                        f"if found is not ABSENT and not agrees(found, {values}): "
                        f"return {self.no}", said.pos
                    )  # fmt: skip

    # -- the end ----------------------------------------------------------------------------------

    def _end(self) -> None:
        """Write tests, memory and places, and what is returned."""
        case = self.case
        if isinstance(case.ir, Fields):
            for (name, *_), child in case.ir.entries:
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
                if slot.rel is not None and slot.path not in self.table:
                    self.table[slot.path] = plain(slot.rel)
            for name, rel in self.owned.items():
                self.table["own", name] = rel
            self.reads.keep(self.table)
            table = self.reads.code.value(self.table, "P")
            if self.moved:
                self.line(f"places = dict({table})")
                table = "places"
            for test, owner, field, rel in self.moved:
                key = field if owner == "made" else ("own", field)
                keys = "".join(f"{spoken(one)}, " for one in rel)
                self.line(f"if {test}: places[{key!r}] = ({keys})")
            self.line(f"return made, {table}, sp, kp")
            return
        name, there = self.dialect.name, "tuple(made)"
        if "parts" in case.lists and not any(s.path == "parts" and s.always for s in self.slots):
            there = "there"
            self.line("there = tuple(made)")
            self.line("if 'parts' not in made: made['parts'] = []")
            self.line("if kp: there = (*there, 'kept')")
        self.line(f"if kp: made['kept'] = {{{name!r}: kp}}")
        if self.mode == "home":
            self.line(f"if sp: made['spelled'] = {{{name!r}: sp}}")
            if case.doubles and case.name:
                self.line(f"if x.home: chosen(x, {self.one}, {self.two}, made, at)", case.pos)
            if isinstance(case.wire, Fields) and not case.needs:
                self.line("if not w: hollow(x, made)")
        if self.owned:
            self.reads.keep(self.owned)
            table = self.reads.code.value(self.owned, "P")
            self.line(f"if own is not None: x.late((own, at, {table}, tuple(own)))")
        self.reads.keep(self.table)
        table = self.reads.code.value(self.table, "P")
        self.line(f"x.late((made, at, {table}, {there}))")
        for line in self.overrides:
            self.line(line)
        self.line("return made")

    def _agree(self, ir: Picture | None, path: tuple[str, ...]) -> None:
        """Write that no literal of the `ir` picture contradicts what a neighbour found."""
        for (name, *_), child in ir.entries if isinstance(ir, Fields) else ():
            here = (*path, name)
            if isinstance(child, Fields):
                self._agree(child, here)
            elif isinstance(child, Literal):
                found = f"look(seen, {here!r})" if path else f"seen.get({name!r}, ABSENT)"
                self.line(f"before = {found}")
                if path:
                    self.line(f"if before is not ABSENT: return {self.odd}", child.pos)
                else:
                    test = (
                        f"before is not ABSENT and not agrees(before, {self.value(child.values)})"
                    )
                    self.line(f"if {test}: return {self.no}", child.pos)


def _word(p: Picture, depth: int) -> bool:
    """Tell whether a picture under `type` says a word; within an object it may be a property."""
    if isinstance(p, Literal):
        return p.values[0] is ABSENT or isinstance(p.values[0], str)
    return isinstance(p, Text | Test) or (isinstance(p, Fields) and depth > 1)
