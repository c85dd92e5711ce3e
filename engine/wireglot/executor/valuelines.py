"""Generates what writes a hole that is one field: its value through guards and codecs, its mark.

What a value mostly is gets lines of its own; for all else the writer's own method is called, which
knows every kind of hole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..interpreter.limits import limit_of, requires_id
from ..ir import FUNCTION, field_type
from ..language import picture as pic
from ..language.lenses import TIMES, UNTYPED, WRITES, is_guard
from ..language.picture import Hole
from .holetests import IDS, both, simple, test_of
from .lines import Found, Lines, negated, variable

Put = Callable[[str], None]
MADE = ("tool_call", "tool_result")  # parts whose ids a hook may have made
# Fields of parts that steps of a conversation may put there, with a note that waits for the place.
SUPPLIED = {"text": ("text", "reasoning"), "signature": ("tool_call",)}
DROPPED = ("made", "refused", "read-only")  # marks of what may be left out


class ValueLines:
    """Writes the lines for a hole that is one field; `put` gives the lines that take a value."""

    def __init__(
        self,
        case: Lines,
        h: Hole,
        rel: tuple[Any, ...] = (),
        into: tuple[str, str] | None = None,
        put: Put = lambda _: None,
        full: str = "",
    ) -> None:
        self.c, self.t, self.h, self.rel, self.put = case, case.t, h, rel, put
        self.into = "None" if into is None else f"({into[0]}, {into[1]})"
        self.out, self.key = into or ("", "None")
        self.full = full
        self.kind = field_type(case.case.shape, h.path)
        self.hole = case.code.value(h, "H")

    def test(self) -> None:
        """Add the line that tells whether a value that must be there is: before all others."""
        found = self.c.look(self.h.path, self.kind != "any")
        test = self.quick(found, exact=True)[1]
        self.c.tested[self.h] = found
        self.t(f"if {negated(test)}: return {self.c.no}", self.h.pos)

    def there(self) -> None:
        """Add the line that tells whether something stands where it must: before all others."""
        found = self.c.look(self.h.path, self.h.mode == "each" or self.kind != "any")
        self.t(f"if {found.none}: return {self.c.no}", self.h.pos)

    def value(self) -> None:
        """Add the lines for a hole that is one field."""
        t, h, c = self.t, self.h, self.c
        found = c.tested.get(h) or c.look(h.path, self.kind != "any")
        if h in c.tested:  # it has been looked at before all others
            self.done(found, self.whole(self.quick(found)[0]))
            return
        w, test = self.quick(found, exact=simple(h))
        # An id that this dialect never saw is left out, where it may be.
        unsaid = h.path in IDS and h.mark in DROPPED and not requires_id(c.dialect.limits)
        if h.path in IDS:
            test = f"({test})" if " or " in test else test
            test += " and id(o) not in x.made" if c.writes.home else ""
            test += f" and {found.v} not in x.unseen_ids" if unsaid else ""
        if simple(h):  # of names that are looked up when they are asked for
            t(f"if {negated(test)}: return {c.no}", self.h.pos)
            self.done(found, self.whole(w))
            return
        there = negated(found.none)
        with t.under(f"if {test}:"):
            self.done(found, w)
        if unsaid and h.mark == "made" and h.value is None and not c.writes.home:
            with t.under(f"elif {found.v}.__class__ is str and {found.v} in x.unseen_ids:"):
                t("pass")
                c.taken(found)
        if h.mark is None and h.mode is None and h.lenses and not c.writes.home:
            if all(lens in c.dialect.schemas for lens in h.lenses):
                t(f"else: return {c.no}", self.h.pos)  # what it refuses is refused there, too
                return
        if h.mark is None:
            t(f"elif {found.none}: return {c.no}", self.h.pos)
        elif h.mark in ("default", "fill"):
            with t.under("else:" if test == there else f"elif {found.none}:"):
                self.filled()
        elif h.mark != "made" or h.value is None:
            if test != there:
                with t.under(f"elif {there}:"):
                    self.cold()
            return
        plainly = h.mark == "made" and not (h.lenses or h.mode or c.writes.home)
        if plainly and not any(other.repeats for other in pic.holes(c.case.wire)):
            with t.under(f"elif {found.none}:"):
                made = self.fresh()
                t(f"{made} = make_value(x, {self.hole}, o, {c.case.shape!r}, {self.into})", h.pos)
                self.put(self.fitted(found, made))
        if test != there or h.mark == "made":
            with t.under("else:"):
                self.cold()

    def done(self, found: Found, w: str) -> None:
        """Add the lines for a value that has its form on the wire."""
        w = self.fitted(found, w)
        if self.h.mark == "made" and self.h.value == "time":
            self.t(f"x.last_time = {found.v}")  # the next that nobody has said is this one
        self.put(w)
        if self.h.path in IDS and not self.c.writes.home and self.c.kind in (None, *MADE):
            self.t(f"if id(o) in x.made: by_hook(x, {self.hole}, o, {self.into})")
        self.stands(found)
        self.c.taken(found)

    def fitted(self, found: Found, w: str) -> str:
        """Add the lines that keep a name or id to the limits of the dialect; return its form."""
        t, c = self.t, self.c
        what = c.kind
        if what is None and c.case.shape == FUNCTION and "/type" not in c.case.sides[0]:
            what = FUNCTION
        kind = limit_of(c.dialect, what, found.path)
        if kind is not None:
            fitted = self.fresh()
            if not w.isidentifier():
                t(f"{fitted} = {w}")
                w = fitted
            made = f"fitted(x, {self.hole}, {w}, o, {found.path!r}, {self.into}, {kind!r})"
            fits = (
                f"{w} if {w}.__class__ is str and {c.writes.fits(kind)}({w}) else " if kind else ""
            )
            t(f"{fitted} = {fits}{made}")
            w = fitted
        return w

    def stands(self, found: Found) -> None:
        """Add the line that lets notes which wait for a field point to where it stands."""
        c = self.c
        supplied = found.path in SUPPLIED and c.kind in (None, *SUPPLIED[found.path])
        if c.way in ("case", "part") and supplied and self.into != "None":
            self.t(f"if x.part_notes: x.place_part_note(o, {found.path!r}, {self.into})")
        bounded = found.path.startswith("tool_choice") or found.path in c.dialect.bounds
        if bounded and (c.request or c.way == "part") and self.into != "None":
            self.t(f"if x.field_notes: x.place_field_note({found.path!r}, {self.into})")

    def filled(self) -> None:
        """Add the lines for what stands where nothing is."""
        h = self.h
        if not self.rel:
            # The object around it knows the key.
            self.t(f"return {self.c.plainly()}" if self.c.way == "case" else f"return {self.c.no}")
            return
        plain = h.value is None or (h.mark == "default" and not (h.mode == "as" and h.value == {}))
        if plain and not isinstance(h.value, float):
            known = h.value in ([], {}) if isinstance(h.value, list | dict) else True
            self.put(repr(h.value) if known else self.c.code.value(h.value))
        else:
            self.put(f"fill_value(x, {self.hole}, o, {self.rel!r}, {self.into})")

    def whole(self, w: str) -> str:
        """Add the line that writes 40.0 as 40 where a whole number stands; many take no other."""
        if not self.c.writes.home and (self.kind == "integer" or "integer" in self.h.lenses):
            made = self.fresh()
            self.t(f"{made} = int({w}) if {w}.__class__ is float and {w}.is_integer() else {w}")
            return made
        return w

    def quick(self, found: Found, exact: bool = False) -> tuple[str, str]:
        """Add the lines that make the usual value; return its form, and whether it is that.

        What must be there is to be told `exact`ly: else another case would be tried.
        """
        t, h, c = self.t, self.h, self.c
        v, tests, said = found.v, [], False
        w = v
        if h.mode == "as":
            w = self.fresh()
            around = any(p.startswith(f"{found.path}.") for p in c.claims)
            known = "" if around else f"{c.writes.any(h.named)}(x, {v})"
            t(f"{w} = NO if {found.none} else {known}" if known else f"{w} = NO", h.pos)
            tests, said = [f"{w} is not NO"], True
        for n, lens in enumerate(h.lenses):
            if is_guard(lens):
                said = said or lens not in UNTYPED
                if lens != "home":
                    tests.append(test_of(lens, w, not exact))
                continue
            if lens == "plain":  # one text; where it stood in a list is known at home alone
                tests += [f"{w}.__class__ is str"] if w.isidentifier() else []
                said = True
                continue
            made = self.through(lens, w, found)
            said = True
            if lens == "json":
                w = made
            elif lens in c.dialect.tables:
                words = c.code.value(c.dialect.tables[lens].to_wire, "T")
                tests.append(f"{w}.__class__ is str and {w} in {words}")
                w = f"{words}[{w}]"
            else:
                before = tests or [negated(found.none)]
                w = self.fresh()
                t(f"{w} = {made} if {both(before)} else NO", self.h.pos)
                tests = [f"{w} is not NO"]
            if h.lenses[n + 1 :] not in ((), ("plain",)) and not w.isidentifier():
                return w, "False"  # forms of forms are rare
        expected = {"opaque": "string"}.get(self.kind, self.kind)
        if not said and expected != "any":
            tests.append(test_of(expected, w, not exact))
        elif not said or not tests:
            tests.append(negated(found.none))
        return w, both(tests)

    def through(self, lens: str, v: str, found: Found) -> str:
        """Return the expression that writes a value through one codec."""
        c, dialect = self.c, self.c.dialect
        if lens == "json":
            return f"json_text(x, {v}, o.get({f'{self.h.path}_json'!r}))"
        if lens in dialect.schemas:
            pair = c.code.value(dialect.schemas[lens], "P")
            if c.writes.home:
                exact = dialect.schemas[lens].exact and bool(c.case.name)
                return "NO" if exact else f"tried({pair}.spelled_here, {v})"
            into = f", {self.into}" if "json" in self.h.lenses else ""  # nothing stands in a text
            return f"tried(schema_abroad, x, {pair}, {self.hole}, {v}, o, {found.path!r}{into})"
        if lens in TIMES:
            given = f"{self.hole}, {v}, o, {found.path!r}, {self.into}"
            return f"tried(write_time, x, {lens!r}, {given})"
        return f"tried({WRITES[lens].__name__}, {v})" if lens in WRITES else "NO"

    def cold(self, first: str = "") -> None:
        """Let the writer's own method write the hole."""
        t, c = self.t, self.c
        if c.way == "part" and c.writes.home:  # who is around it knows what it remembers
            t(f"return {c.no}")
            return
        c.viewed = True
        if self.key != "None":
            given = f"{self.hole}, {self.rel!r}, {self.out}, {self.key}"
            known = f", {first}" if first else ""
            t(f"view = write_cold(x, view or {c.sight()}, {given}{known})", self.h.pos)
            if self.full:
                t(f"{self.full} = {self.full} or {self.key} in {self.out}")
            return
        t(f"view = view or {c.sight()}")
        if first:
            t(f"view.settled |= {first}")
        v = t.fresh()
        t(f"{v} = x.hole({self.hole}, view, {self.rel!r}, {self.into})", self.h.pos)
        t(f"claim_by_view(view, {self.hole})")
        with t.under(f"if {v} is not ABSENT:"):
            self.put(v)

    def fresh(self) -> str:
        """Return a variable for what is written here."""
        return self.t.fresh(f"w_{variable(str(self.rel[-1]) if self.rel else self.h.path)}")
