"""Generates what writes a hole of any kind: lists, sums, objects, and by `valuelines` one field.

`CaseLines` in `caselines` gives the function around it.
"""

from __future__ import annotations

from typing import Any

from ..interpreter.listforms import FORMS
from ..interpreter.sums import fields_alone
from ..ir import FULL
from ..language import picture as pic
from ..language.lenses import is_guard
from ..language.picture import Fields, Hole
from ..language.shape import holes_written_before
from .holetests import both, test_of
from .lines import Found, Lines, negated
from .valuelines import ValueLines


class HoleLines(ValueLines):
    """Writes the lines for one hole."""

    def write(self) -> None:
        """Add the lines that find the value, or what stands for none."""
        h, t, c = self.h, self.t, self.c
        if h.only_read and h.mode != "each" and h.path not in (".", "nth"):
            return  # it is read, and written to nobody else
        if "home" in h.lenses and not c.writes.home:
            if h.mark is None:
                t(f"return {c.no}", self.h.pos)
        elif h.path == "nth":
            self.put("x.nth")
        elif h.path == "run" and c.way == "part" and h.lenses in ((), ("listed",)):
            self.put("x.run_wires")
        elif h.path == ".":
            self.of_object()
        elif len(h.paths) > 1:
            self.sum()
        elif h.mode == "entries" and h.mark == "optional":
            found = self.c.look(h.path, False)
            with t.under(f"if {found.v} is not ABSENT:"):
                self.cold()
        elif h.mark == "copy" and c.way == "case" and not (c.home or self.varied):
            self.copied()
        elif (
            h.path == "run"
            or h.mark == "copy"
            or h.mode == "entries"
            or c.dialect.in_text(h) is not None
            or h.path[:6] == "result"
            or (h.shape == "conversation" and (c.home or c.way != "case"))
            or (c.home and holes_written_before(c.case).get(h))
        ):
            self.cold()
        elif h.shape == "conversation":
            self.talk()
        elif h.mode == "each":
            self.list()
        else:
            with t.where(self.there_at_all()):
                self.value()

    def there_at_all(self) -> str:
        """Return a test that a field is there without which nothing is written; "" for none."""
        h, c = self.h, self.c
        free = h.mark == "optional" and h.path not in c.names and h not in c.tested
        known = any((h.path, typed) in c.looked for typed in (True, False))
        return f"{h.path!r} in o" if free and not (known or "." in h.path) else ""

    @property
    def varied(self) -> bool:
        """Whether what is repeated is more than a value that another hole always writes."""
        others = [one for one in pic.holes(self.c.case.wire) if one.path == self.h.path]
        written = [one for one in others if not (one.repeats or one.only_read)]
        return self.h.mode is not None or not written or any(o.mark == "made" for o in written)

    def copied(self) -> None:
        """Add the lines for a value that stands elsewhere, too: its place is there."""
        found = self.c.look(self.h.path, self.kind != "any")
        w, test = self.quick(found)
        with self.t.under(f"if {test}:"):
            self.put(w)
        with self.t.under(f"elif {negated(found.none)}:"):
            self.cold()

    def shared(self) -> tuple[Any, str, str, Found]:
        """Add the line that gives each element to a hole, once for all that share the list."""
        h, c = self.h, self.c
        holes = c.case.lists.get(h.path, [h])
        holes = holes if h in holes else [h]
        listing = c.writes.known_listing(holes)
        found = c.look(h.path, True)
        key = tuple(holes)
        if key not in c.lists:
            shares = c.lists[key] = self.t.fresh("shares")
            c.first.append(f"    {shares} = None")
            inside = c.kind in FULL if c.kind is not None else "o.get('type') in FULL"
            made = f"deal_or_words(x, {listing}, {found.v}, {inside})"
            if c.request:
                made = f"deal_of_request(x, {listing}, {found.v})"
            self.t(f"if {found.v}.__class__ is list: {shares} = {made}")
        return holes, listing, c.lists[key], found

    def list(self) -> None:
        """Add the lines that write a list, element by element."""
        t, h, c = self.t, self.h, self.c
        if h in c.held:
            t("x.notes += held")
        holes, listing, shares, found = self.shared()
        number, form = holes.index(h), next((lens for lens in h.lenses if lens in FORMS), "")
        w = self.fresh()
        given = f"x, {form!r}, {listing}, {number}, {shares}[{number}], {found.v}, {self.into}"
        # What is empty has been looked at.
        plain = not form and h.mark != "default" and "filled" not in h.lenses
        made = f"[w for _, w in {shares}[{number}]]" if plain else f"form_shares({given})"
        if h.mark is None:
            t(f"if {shares} is None: return {c.no}", self.h.pos)
            t(f"{w} = {made}", self.h.pos)
            self.put(w)
            self.stands(found)
            c.taken(found)
            return
        t(f"{w} = ABSENT")
        c.missing = True
        t(f"if {shares} is None and {negated(found.none)}: miss = (*miss, {found.path!r})")
        c.taken(found)
        usual = h.mark == "default"
        with t.under(f"if {shares} is not None{'' if usual else f' and {shares}[{number}]'}:"):
            # Another hole may have taken the list.
            missed = [f"miss = (*miss, {found.path!r})"] if len(holes) == 1 else []
            with t.trial(*missed):
                t(f"{w} = {made}", self.h.pos)
        with t.under(f"if {w} is not ABSENT:"):
            self.put(w)
            self.stands(found)
        if h.mark in ("default", "fill"):
            with t.under("else:"):
                self.filled()

    def talk(self) -> None:
        """Add the lines that write a conversation."""
        t, h, c = self.t, self.h, self.c
        found, w = c.look(h.path, True), self.fresh()
        with t.under(f"if {found.v}.__class__ is list and {found.v}:"):
            t(f"{w} = write_talk(x, {self.hole}, {found.v}, False, {self.into})", self.h.pos)
            self.put(w)
            c.taken(found)
        if h.mark is None:
            t(f"elif {found.none}: return {c.no}", self.h.pos)
        with t.under("else:"):
            self.cold()

    def sum(self) -> None:
        """Add the lines for a number that is a sum of fields."""
        t, h, c = self.t, self.h, self.c
        terms = [c.look(path, True) for path in h.paths]
        total = t.fresh("number")
        t(f"{total} = total({', '.join(one.v for one in terms)})")
        only = [n for n, path in enumerate(h.paths) if path not in fields_alone(c.case) | c.settled]
        # The first of those that stand nowhere else is read as all of them.
        hidden = [f"not {terms[n].v}" for n in only[1:]]
        hidden += [f"{terms[0].v} is not None"] if hidden else []
        known = self.c.code.value(frozenset(c.settled))
        c.settled.update(h.paths)
        with t.under(f"if {' and '.join([f'{total} is not None', *hidden])}:"):
            self.put(total)
            for one in terms:
                c.taken(one)
        if h.mark is not None and not c.writes.home:
            with t.under(f"elif {both([one.none for one in terms])}:"):
                if h.mark in ("default", "fill"):
                    self.filled()
        with t.under("else:"):
            self.cold(known)

    def of_object(self) -> None:
        """Add the lines for a hole that is made of the object's own fields."""
        t, c = self.t, self.c
        w, claims = t.fresh("w"), t.fresh("claims")
        if c.names.keys() - {"run"}:  # it is written of what these name, too
            self.cold()
            return
        made = f"{c.writes.parts(self.h.named)}(x, o, {self.h.mark is not None}, {self.into})"
        none = f"{c.code.value(c.writes.heads(self.h.named))}.isdisjoint(o)" if self.h.mark else ""
        if none:  # only where it takes something
            made = f"(NO, ()) if {none} else {made}"
        t(f"{w}, {claims} = {made}", self.h.pos)
        with t.under(f"if {w} is not NO:"):
            c.took(claims)
            if c.writes.may_be_absent(self.h.named):  # said by no key
                with t.under(f"if {w} is not ABSENT:"):
                    self.put(w)
            else:
                self.put(w)
        other = "else"
        if self.h.mark == "optional":  # else nothing of it need stand there
            other = f"elif may_step(x, {self.h.shape!r}, o)"
            if c.writes.home:  # it may be a word that this dialect alone reads, and writes again
                other += f" or not {none}"
        elif self.h.mark in ("default", "fill") and c.writes.asks(self.h.named):
            with t.under(f"elif {none} and not may_step(x, {self.h.shape!r}, o):"):
                self.filled()
        with t.under(f"{other}:"):
            self.cold()


def spread(c: Lines, h: Hole, p: Fields, out: str, rel: tuple[Any, ...], full: str) -> None:
    """Add the lines for a hole whose keys stand among the outer ones."""
    t = c.t
    if h.shape is None:
        if "home" in h.lenses and not c.writes.home:
            if h.mark is None:
                t(f"return {c.no}", h.pos)
            return
        found = c.look(h.path, False)
        names = c.code.value(p.names)
        tests = [f"{found.v}.__class__ is dict", f"{names}.isdisjoint({found.v})"]
        tests += [test_of(lens, found.v) for lens in h.lenses if is_guard(lens)]
        none = f"elif {found.v} is not ABSENT" if h.mark else "else"
        with t.under(f"if {both(tests)}:"):
            t(f"{out}.update({found.v})", h.pos)
            if full:
                t(f"{full} = True" if h.mark is None else f"if {found.v}: {full} = True")
            c.taken(found)
        t(f"{none}: return {c.no}")
        return
    mark = t.fresh("m")
    t(f"{mark} = len(x.notes)")

    def put(v: str) -> None:
        t(f"if not merge_keys(x, {out}, {v}, {mark}): return {c.no}", h.pos)
        if full:
            t(f"{full} = True")

    HoleLines(c, h, rel, (out, "None"), put).write()
