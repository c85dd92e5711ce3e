"""Writes how the IR value is made of what was found on the wire."""

from __future__ import annotations

from ..ir import OPAQUE
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Test, Text, keyed
from .code import Unwritten
from .readobjects import WireText
from .readtext import OWN, Slot, Table, plain


class IrText(WireText):
    """Writes how what was found becomes an IR value."""

    # -- values ---------------------------------------------------------------------------------

    def _bare(self) -> None:
        """Write a bare value: one that remembers nothing."""
        found = self.slot(self.ir.path) if isinstance(self.ir, Hole) else None
        if self.later or self.sums or found is None:
            raise Unwritten
        self.line(f"if kp or sp: return {self.no}", self.case.pos)
        self.line(f"return {found.var}", self.case.pos)

    def _lists(self) -> None:
        """Write the sum of what several holes of one list found."""
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
        for (name, *_), child in keyed(ir):
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
            slot = self.slot(p.path)
            if slot is None or slot.path in self.lists:
                raise Unwritten
            if len(path) == 1:
                self._came(slot, path[0], "made")
            if path[-1] in OPAQUE and not slot.always:
                raise Unwritten
            return self._opaque(path[-1], slot.var), slot.always
        if isinstance(p, Text):
            values = ""
            for slot in map(self.slot, p.names):
                if slot is None or slot.always:
                    values += "'', " if slot is None else f"{slot.var}, "
                else:
                    values += f"'' if {slot.var} is ABSENT else {slot.var}, "
            last = self._last(p)
            if last is not None and len(path) == 1:
                self._came(last, path[0], "made")
            return self._told(path, self._written(p, values)), True
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

    def _written(self, p: Text, values: str) -> str:
        """Write a text of its pieces, where each is one; return the name of it."""
        text = self.t.fresh("text")
        self.line(f"{text} = {self.value(p)}.write(({values}))")
        self.line(f"if {text} is None: return {self.no}", p.pos)
        return text

    def _last(self, p: Picture) -> Slot | None:
        """Return what says where a hole, or a text of pieces, is from: the last of these."""
        path = p.path if isinstance(p, Hole) else p.names[-1] if isinstance(p, Text) else None
        return None if path is None else self.slot(path)

    def _told(self, path: tuple[str, ...], value: str) -> str:
        """Return a value that is made here; of an opaque field with its origin."""
        origin = self.dialect.origin.get(path[-1])
        return f"opaque({value}, {self.reads.code.origin(origin)})" if origin is not None else value

    def _nested_places(self, p: Picture | None, owner: str) -> None:
        """Write where the fields of objects within came from."""
        for (name, *_), child in keyed(p):
            if not isinstance(child, Fields):
                continue
            inner = f"{owner}[{name!r}]"
            found: Table = {}
            for (key, *_), leaf in child.entries:
                slot = self._last(leaf)
                if slot is not None and slot.rel is not None:
                    found[key] = plain(slot.rel)
                    if slot.keys:
                        self._other_key(slot, key, inner)
            if found:
                table = self.reads.code.value(found, "P")
                self.line(f"x.late(({inner}, at, {table}, tuple({inner})))")
            self._nested_places(child, inner)

    def _opaque(self, path: str, value: str) -> str:
        if path in OPAQUE:
            origin = self.reads.code.origin(self.dialect.origin[path])
            return f"{{'value': {value}, 'origin': {origin}}}"
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
            late = f"x.late(({owner}, None, {place}, ({field!r},)))"
            self.overrides.append(f"if {slot.there}: {late}")
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
        if slot.path in self.lists and len(self.parts.get(slot.path, ())) > 1:
            self._total(slot)
            return
        if slot.path == OWN:
            some = f"{slot.var} is not ABSENT"
            new = f"made['own'] = {{{self.dialect.family!r}: (own := {slot.var})}}"
            if self.owning:
                self.line(f"if own is not None and {some}: own.update({slot.var})")
                some = f"own is None and {some}"
            self.line(f"if {some}: {new}")
            self.owning = True
            return
        keys, own = slot.path.split("."), slot.path.startswith("own.")
        value = slot.var if own else self._opaque(keys[-1], slot.var)
        with self.t.where("" if slot.always else f"{slot.var} is not ABSENT"):
            if len(keys) > 1 + own:
                path = (*keys[:own], *([self.dialect.family] if own else ()), *keys[own:])
                put = f"put_deep(x, made, {path!r}, {value}, {self.at(slot.rel or ())})"
                self.line(f"if not {put}: return {self.odd}")
                return
            if own:
                new = f"made['own'] = {{{self.dialect.family!r}: (own := {{}})}}"
                self.line(f"if own is None: {new}" if self.owning else new)
                self.owning = True
            self.line(f"{'own' if own else 'made'}[{keys[-1]!r}] = {value}")
        self._came(slot, keys[-1], "own" if own else "made")

    def _total(self, slot: Slot) -> None:
        total, found = self.totals[slot.path], self.parts[slot.path]
        first = self.slots.index(found[0])
        if self.slots[first : first + len(found)] == found:  # no other field stands between them
            if slot is found[0]:
                self.line(f"if {total} is not ABSENT: made[{slot.path!r}] = {total}")
        else:
            self.line(
                f"if {slot.var} is not ABSENT and {slot.path!r} not in made: "
                f"made[{slot.path!r}] = {total}"
            )
        if slot is not found[-1]:
            return
        tests = {one: f"{one.var} is not ABSENT" for one in found}
        tests |= {one: f"{test} and {one.there}" for one, test in tests.items() if one.there}
        if self.inner:
            self.table[slot.path] = plain(found[-1].rel or ())
            self.moved += [
                (tests[one], "made", slot.path, one.rel or ()) for one in reversed(found)
            ]
            return
        place = "None"  # that of the first that found something
        for one in reversed(found):
            place = f"{self.at(one.rel or ())} if {tests[one]} else {place}"
        self.overrides.append(f"place = {place}")
        late = f"x.late((made, None, {{{slot.path!r}: place}}, ({slot.path!r},)))"
        self.overrides.append(f"if place is not None: {late}")


def _word(p: Picture, depth: int) -> bool:
    """Tell whether a picture under `type` says a word; within an object it may be a property."""
    if isinstance(p, Literal):
        return p.values[0] is ABSENT or isinstance(p.values[0], str)
    return isinstance(p, Text | Test) or (isinstance(p, Fields) and depth > 1)
