"""Writes how what stands at one place of the wire is read: literals, texts, lists and holes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text
from ..language.shape import holes_written_before, only_read_again
from .code import Unwritten
from .readholes import THERE, goes_through, kinds, other, taken
from .readtext import CaseText, Later, Rel, Slot


class HoleText(CaseText):
    """Writes how values of the wire are read."""

    fields: Callable[[Fields, str, Rel, bool], None]  # what `readobjects` writes

    # -- pictures -------------------------------------------------------------------------------

    def picture(self, p: Picture, v: str, rel: Rel) -> None:
        """Read a picture from a variable, in which ABSENT may stand for nothing."""
        below = bool(rel) or self.inner
        if isinstance(p, Literal):
            self.literal(p, v, rel)
        elif isinstance(p, Hole):
            self.hole(p, v, rel, below)
        elif isinstance(p, Text):
            self.text(p, v, rel)
        elif isinstance(p, Items):
            self.items(p, v, rel)
        elif isinstance(p, Fields):
            self.line(f"if {v}.__class__ is not dict: return {self.no}", p.pos)
            self.fields(p, v, rel, False)
        else:
            raise Unwritten

    def literal(self, p: Literal, v: str, rel: Rel) -> None:
        """Match a fixed value that stands in a variable."""
        usual = p.values[0]
        if len(p.values) == 1 and usual.__class__ is str:
            self.line(f"if {v} != {usual!r}: return {self.no}", p.pos)
            return
        if self.track:
            values = self.value(p.values)
            self.line(f"if {v + _unusual(usual)}:", p.pos)
            self.line(f"    sp_ = spell_literal(sp, {self.pointer(rel)}, {v}, {values})")
            self.line(f"    if sp_ is NO: return {self.no}")
            self.line("    sp = sp_")
        else:
            self.line(f"if {self.unlike(p, v)}: return {self.no}", p.pos)

    def unlike(self, p: Literal, v: str) -> str:
        """Return a test that what stands in a variable is none of some fixed values."""
        return f"{v + _unusual(p.values[0])} and not is_literal({v}, {self.value(p.values)})"

    def text(self, p: Text, v: str, rel: Rel) -> None:
        """Match a text with holes."""
        self.line(f"if {v}.__class__ is not str: return {self.no}", p.pos)
        self.line(f"found = {self.value(p)}.read({v})")
        self.line(f"if found is None: return {self.no}", p.pos)
        types = self.dialect.media_types
        if types:
            self.line(f"if {v} in {self.value(types)}: return {self.odd}")
        for i, name in enumerate(p.names):
            var = self.name(name)
            self.line(f"{var} = found[{i}]")
            if name == "media_type" and types:
                self.line(f"if {var} in {self.value(types)}: return {self.odd}")
            first = self.slot(name)
            if first is None:
                self.slots.append(Slot(name, var, rel, True))
            elif first.always:
                self.line(f"if {var} != {first.var}: return {self.no}", p.pos)
            else:
                raise Unwritten

    def items(self, p: Items, v: str, rel: Rel) -> None:
        """Match a list of so many elements."""
        if p.rest is not None:
            raise Unwritten
        self.line(
            f"if {v}.__class__ is not list or len({v}) != {len(p.items)}: return {self.no}", p.pos
        )
        for i, child in enumerate(p.items):
            var = self.name("item")
            self.line(f"{var} = {v}[{i}]")
            self.picture(child, var, (*rel, i))

    # -- holes ----------------------------------------------------------------------------------

    def hole(self, h: Hole, v: str, rel: Rel, below: bool) -> None:
        """Read a hole from a variable in which nothing is ABSENT."""
        if h.path == "nth":
            other = f"({v}.__class__ is not int or {v} != nth(at)) and not same({v}, nth(at))"
            if self.track:
                with self.t.under(f"if {v} is ABSENT or {v} is None:"):
                    self.line(f"sp = spell(sp, {self.pointer(rel)}, {v}, nth(at))")
                self.line(f"elif {other}: return {self.odd}", h.pos)
            else:
                there = f"{v} is not ABSENT and {v} is not None"
                self.line(f"if {there} and {other}: return {self.odd}", h.pos)
            return
        if h.repeats:
            if h.lenses or h.mode:
                raise Unwritten
            self.copies.append((h, v, rel))
            return
        if self.spare(h, v):
            return
        if len(h.paths) > 1:
            self.sums.append((h, v, rel))
            return
        null = h.null and self.kind(h) == "any"
        none = f"{v} is ABSENT" if null else f"{v} is ABSENT or {v} is None"
        if self.mode == "probe" and h.mark == "fill":
            none += f" or same({v}, {self.value(h.value)})"
        if h.path == ".":
            with self.t.under(f"if {none}:"):
                self._nothing(h, v, rel, "")
                self.line(f"{v} = ABSENT")
            self.later.append(Later(h, v, rel, False))
            return
        if self.stays(h):
            self._as_it_is(h, v, rel, below, none)
            return
        var = self.of(h, rel[-1]) if rel else self.name(h.path)
        with self.t.under(f"if {none}:"):
            self._nothing(h, v, rel, var)
        with self.t.under("else:"):
            self._there_is(h, v, var, rel, below)
        if h.mark == "default":
            if "." in h.path or h.path in self.bound:
                raise Unwritten
            there = f"{v} is not ABSENT and {v} is not None"
            self.slots.append(Slot(h.path, var, rel, True, there))
            return
        # A signature may say that there is none.
        self.slots.append(Slot(h.path, var, rel, h.mark is None and h.path != "signature"))

    def stays(self, h: Hole) -> bool:
        """Tell whether what stands there is the value of a hole, and no more is to be said of it.

        Where no spelling is remembered nothing is as good as null, whatever mark says so.
        """
        filled = h.mark == "default" or (self.mode == "probe" and h.mark == "fill")
        usual = h.mark in (None, "optional") or not (self.track or filled)
        odd = "again" in h.lenses or h.path == "signature" or holes_written_before(self.case).get(h)
        return usual and goes_through(h) and not odd

    def _as_it_is(self, h: Hole, v: str, rel: Rel, below: bool, none: str) -> None:
        """Read a value that no codec changes: the variable has it already."""
        looks = kinds(self, h)
        if h.mark is not None:
            with self.t.under(f"if {v} is None:"):
                self.remembers(f"spell(sp, {self.pointer(rel)}, None, ABSENT)")
                self.line(f"{v} = ABSENT")
        elif not any(THERE.issuperset(kind.split("+")) for kind in looks):
            self.line(f"if {none}: return {self.no}", h.pos)
        there = "" if h.mark is None else f"{v} is not ABSENT and "
        for kind in looks:
            self.unless(f"{there}{other(kind, v)}", h, below)
        self.slots.append(Slot(h.path, v, rel, h.mark is None))

    def spare(self, h: Hole, v: str) -> bool:
        """Leave it to the interpreter where a second spelling of a field is used, which is rare."""
        second = h in only_read_again(self.case)
        if second:
            self.line(f"if {v} is not ABSENT: return {self.odd}", h.pos)
        return second

    def _there_is(self, h: Hole, v: str, var: str, rel: Rel, below: bool) -> None:
        none = self.dialect.signatures.none
        if h.path != "signature" or not none:
            self._through(h, v, var, rel, below)
            return
        with self.t.under(f"if {v} in {none!r}:"):
            self.remembers(f"spell(sp, {self.pointer(rel)}, {v}, ABSENT)")
            self.line(f"{var} = ABSENT")
        with self.t.under("else:"):
            self._through(h, v, var, rel, below)

    def _through(self, h: Hole, v: str, var: str, rel: Rel, below: bool) -> None:
        if "again" in h.lenses:
            before = [one.var for one in self.slots if one.path == h.path]
            for one in before:
                self.line(f"if {one} is not ABSENT and {one}: return {self.odd}", h.pos)
        self._once(h, True)
        taken(self, h, v, var, rel, below)
        if h.only_read:
            self.remembers(f"marked(sp, {self.pointer(rel)}, 'old')")

    def _once(self, h: Hole, there: bool) -> None:
        """Leave it to the interpreter where another hole found the field already.

        At home it is odd, too, that the second one alone is `there`, or the first one alone.
        """
        if not holes_written_before(self.case).get(h):
            return
        if self.track and there:
            self.line(f"return {self.odd}", h.pos)
        elif there or (self.track and not h.only_read):
            before = [one.var for one in self.slots if one.path == h.path]
            for one in before:
                self.line(f"if {one} is not ABSENT: return {self.odd}", h.pos)

    def _nothing(self, h: Hole, v: str, rel: Rel, var: str) -> None:
        """Read absence or null by the mark of the hole."""
        place = self.pointer(rel)
        if h.mark is None:
            self.line(f"return {self.no}", h.pos)
            return
        self._once(h, False)
        if var and h.mark == "default" and h not in holes_written_before(self.case):
            if h.mode == "each" or h.value == []:
                self.line(f"{var} = []", h.pos)
            else:
                self.line(f"{var} = {{}}" if h.value == {} else f"{var} = {self.value(h.value)}")
        elif h.mark == "default":
            raise Unwritten
        elif var:
            self.line(f"{var} = ABSENT")
        if h.mark == "made":
            self.remembers(f"marked(sp, {place}, 'made', {h.path!r})")
            if self.track:
                self.line(f"if {v} is None: sp = marked(sp, {place}, 'as', None)")
            return
        if h.mark in ("default", "fill"):
            self.remembers(f"spell_nothing(sp, {place}, {v}, {self.value(h.value)})")
        elif self.track:
            self.line(f"if {v} is None: sp = spell(sp, {place}, None, ABSENT)")


def _unusual(usual: Any) -> str:
    """Return the end of a test that a variable has another value than the usual one."""
    if usual is ABSENT:
        return " is not ABSENT"
    if usual.__class__ is str:
        return f" != {usual!r}"
    fixed = usual is None or usual.__class__ is bool
    return f" is not {usual!r}" if fixed else ".__class__ is not None"
