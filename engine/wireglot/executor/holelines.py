"""Generates what writes a hole: its value through guards, codecs and shapes, and its mark.

What a value mostly is gets lines of its own; for all else the writer's own method is called, which
knows every kind of hole. `CaseLines` in `caselines` gives the function around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..interpreter.limits import limit_of, needs
from ..ir import FULL, FUNCTION, OPAQUE, field_type
from ..language import picture as pic
from ..language.lenses import UNTYPED, WRITES, is_guard
from ..language.picture import Fields, Hole
from ..language.shape import Case
from .code import CLASSES
from .lines import Found, Lines, negated, variable

Put = Callable[[str], None]
FORMS = ("single", "bare", "blocks", "joined")
IDS = ("id", "tool_call_id")
DROPPED = ("made", "refused", "read-only")  # marks of what may be left out


def test_of(words: str, v: str, quick: bool = False) -> str:
    """Return an expression that tells whether the value of a variable passes a guard.

    A `quick` one may be false for what passes: a whole number that is written as a fraction.
    """
    said = []
    for word in words.split("+"):
        if word == "any":
            return "True"
        if word in CLASSES:
            said.append(f"{v}.__class__ is {CLASSES[word]}")
        elif word == "integer" and quick:
            said.append(f"{v}.__class__ is int")
        elif word == "null":
            said.append(f"{v} is None")
        elif word == "number" and quick:
            said.append(f"{v}.__class__ is int or {v}.__class__ is float")
        else:
            said.append(f"guard({word!r}, {v})")
    return " or ".join(said)


class HoleLines:
    """Writes the lines for one hole; `put` gives the lines that take a value."""

    def __init__(
        self,
        case: Lines,
        h: Hole,
        rel: tuple[Any, ...],
        into: tuple[str, str] | None,
        put: Put,
        full: str = "",
    ) -> None:
        self.c, self.t, self.h, self.rel, self.put = case, case.t, h, rel, put
        self.into = "None" if into is None else f"({into[0]}, {into[1]})"
        self.out, self.key = into or ("", "None")
        self.full = full
        self.kind = field_type(case.case.shape, h.path)
        self.hole = case.code.value(h, "H")
        self.where = f"  # {h.pos.file}:{h.pos.line}"

    def write(self) -> None:
        """Add the lines that find the value, or what stands for none."""
        h, t, c = self.h, self.t, self.c
        if h.dated and h.mode != "each" and h.path not in (".", "nth"):
            return  # it is read, and written to nobody else
        if "home" in h.lenses and not c.writes.home:
            if h.mark is None:
                t(f"return {c.no}{self.where}")
        elif h.path == "nth":
            self.put("x.nth")
        elif h.path == ".":
            self.of_object()
        elif len(h.paths) > 1:
            self.sum()
        elif h.mode == "entries" and h.mark == "optional":
            found = self.c.look(h.path, False)
            with t.under(f"if {found.v} is not ABSENT:"):
                self.cold()
        elif (
            h.path == "run"
            or h.mark == "copy"
            or h.mode == "entries"
            or c.dialect.in_text(h) is not None
            or h.path[:6] == "result"
            or (h.shape == "conversation" and (c.home or c.way != "case"))
        ):
            self.cold()
        elif h.shape == "conversation":
            self.talk()
        elif h.mode == "each":
            self.list()
        else:
            self.value()

    def cold(self, first: str = "") -> None:
        """Let the writer's own method write the hole."""
        t, c = self.t, self.c
        if c.way == "part" and c.writes.home:  # who is around it knows what it remembers
            t(f"return {c.no}")
            return
        if self.key != "None":
            if c.seen and first:
                t(f"view.settled |= {first}")
            given = f"{self.hole}, {self.rel!r}, {self.out}, {self.key}"
            if c.seen:
                t(f"cold(x, view, {given}){self.where}")
            else:
                c.viewed = True
                known = f", {first}" if first else ""
                t(f"view = cold(x, view or {c.sight()}, {given}{known}){self.where}")
            if self.full:
                t(f"{self.full} = {self.full} or {self.key} in {self.out}")
            return
        c.see()
        if first:
            t(f"view.settled |= {first}")
        v = t.fresh()
        t(f"{v} = x.hole({self.hole}, view, {self.rel!r}, {self.into}){self.where}")
        if not c.seen:
            t(f"missed(view, {self.hole})")
        with t.under(f"if {v} is not ABSENT:"):
            self.put(v)

    def fresh(self) -> str:
        """Return a variable for what is written here."""
        return self.t.fresh(f"w_{variable(str(self.rel[-1]) if self.rel else self.h.path)}")

    # -- one value ------------------------------------------------------------------------------

    def test(self) -> None:
        """Add the line that tells whether a value that must be there is: before all others."""
        found = self.c.look(self.h.path, self.kind != "any")
        test = self.quick(found, exact=True)[1]
        self.c.tested[id(self.h)] = found
        self.t(f"if {negated(test)}: return {self.c.no}{self.where}")

    def there(self) -> None:
        """Add the line that tells whether something stands where it must: before all others."""
        found = self.c.look(self.h.path, self.h.mode == "each" or self.kind != "any")
        self.t(f"if {found.none}: return {self.c.no}{self.where}")

    def value(self) -> None:
        """Add the lines for a hole that is one field."""
        t, h, c = self.t, self.h, self.c
        found = c.tested.get(id(h)) or c.look(h.path, self.kind != "any")
        if id(h) in c.tested:  # it has been looked at before all others
            self.done(found, self.whole(self.quick(found)[0]))
            return
        w, test = self.quick(found, exact=simple(h))
        # An id that this dialect never saw is left out, where it may be.
        unsaid = h.path in IDS and h.mark in DROPPED and not needs(c.dialect.limits, "call_id")
        if h.path in IDS:
            test = f"({test})" if " or " in test else test
            test += " and id(o) not in x.made" + (
                f" and {found.v} not in x.unsaid" if unsaid else ""
            )
        if simple(h):  # of names that are looked up when they are asked for
            t(f"if {negated(test)}: return {c.no}{self.where}")
            self.done(found, self.whole(w))
            return
        there = negated(found.none)
        with t.under(f"if {test}:"):
            self.done(found, w)
        if unsaid and h.mark == "made" and h.value is None and not c.writes.home:
            with t.under(f"elif {found.v}.__class__ is str and {found.v} in x.unsaid:"):
                t("pass")
                c.taken(found)
        if h.mark is None and h.mode is None and h.lenses and not c.writes.home:
            if all(lens in c.dialect.schemas for lens in h.lenses):
                t(f"else: return {c.no}{self.where}")  # what it refuses is refused there, too
                return
        if h.mark is None:
            t(f"elif {found.none}: return {c.no}{self.where}")
        elif h.mark in ("default", "fill"):
            with t.under("else:" if test == there else f"elif {found.none}:"):
                self.filled()
        elif h.mark != "made" or h.value is None:
            if test != there:
                with t.under(f"elif {there}:"):
                    self.cold()
            return
        if test != there or h.mark == "made":
            with t.under("else:"):
                self.cold()

    def done(self, found: Found, w: str) -> None:
        """Add the lines for a value that has its form on the wire."""
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
            made = f"fitted(x, {self.hole}, {w}, o, {place(found)}, {self.into}, {kind!r})"
            fits = (
                f"{w} if {w}.__class__ is str and {c.writes.fits(kind)}({w}) else " if kind else ""
            )
            t(f"{fitted} = {fits}{made}")
            w = fitted
        if self.h.mark == "made" and self.h.value == "time":
            t(f"x.now = {found.v}")  # the next that nobody has said is this one
        self.put(w)
        bounded = found.path == "tool_choice" or found.path in c.dialect.bounds
        if bounded and (c.request or c.way == "part") and self.into != "None":
            t(f"if x.watch: x.stood({found.path!r}, {self.into})")
        c.taken(found)

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
            self.put(f"filled(x, {self.hole}, o, {self.rel!r}, {self.into})")

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
            around = any(p.startswith(f"{found.path}.") for p in c.claims) or c.seen
            known = "" if around else f"{c.writes.any(h.named)}(x, {v})"
            t(f"{w} = NO if {found.none} else {known}{self.where}" if known else f"{w} = NO")
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
                t(f"{w} = {made} if {both(before)} else NO{self.where}")
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
            return f"json_text(x, {v}, o, {f'{self.h.path}_json'!r})"
        if lens in dialect.schemas:
            pair = c.code.value(dialect.schemas[lens], "P")
            if c.writes.home:
                exact = dialect.schemas[lens].exact and bool(c.case.name)
                return "NO" if exact else f"tried({pair}.home, {v})"
            return f"tried(abroad, x, {pair}, {self.hole}, {v}, o, {place(found)})"
        if lens == "not":
            return f"(not {v} if {v}.__class__ is bool else NO)"
        if lens == "not-an-object":
            return f"({v} if not_an_object({v}) else NO)"
        return f"tried({WRITES[lens].__name__}, {v})" if lens in WRITES else "NO"

    # -- lists ----------------------------------------------------------------------------------

    def shared(self) -> tuple[Any, str, str, Found]:
        """Add the line that gives each element to a hole, once for all that share the list."""
        h, c = self.h, self.c
        holes = c.case.lists.get(h.path, [h])
        holes = holes if h in holes else [h]
        listing = c.writes.known_listing(holes)
        found = c.look(h.path, True)
        key = tuple(map(id, holes))
        shares, again = c.lists.get(key), ""
        if shares is None:
            shares = c.lists[key] = self.t.fresh("shares")
            c.first.append(f"    {shares} = None")
        elif c.home:  # the line before may stand where keys are not remembered
            again = f"{shares} is None and "
        else:
            return holes, listing, shares, found
        view = "view" if c.seen or c.home else "None"
        made = f"shares_of(x, {listing}, {found.v}, o, {view})"
        if not (c.seen or c.home or c.request):
            inside = c.kind in FULL if c.kind is not None else "o.get('type') in FULL"
            made = f"shared(x, {listing}, {found.v}, {inside})"
        self.t(f"if {again}{found.v}.__class__ is list: {shares} = {made}")
        return holes, listing, shares, found

    def list(self) -> None:
        """Add the lines that write a list, element by element."""
        t, h, c = self.t, self.h, self.c
        if id(h) in c.held:
            t("x.notes += held")
        holes, listing, shares, found = self.shared()
        number, form = holes.index(h), next((lens for lens in h.lenses if lens in FORMS), "")
        w = self.fresh()
        given = f"x, {form!r}, {listing}, {number}, {shares}[{number}], {found.v}, {self.into}"
        plain = not form and h.mark != "default"  # what is empty has been looked at
        made = f"[w for _, w in {shares}[{number}]]" if plain else f"formed({given})"
        if h.mark is None:
            t(f"if {shares} is None: return {c.no}{self.where}")
            t(f"{w} = {made}{self.where}")
            self.put(w)
            c.taken(found)
            return
        t(f"{w} = ABSENT")
        if not c.seen:
            c.missing = True
            t(f"if {shares} is None and {negated(found.none)}: miss = (*miss, {found.path!r})")
        if not c.seen:
            c.taken(found)
        usual = h.mark == "default"
        with t.under(f"if {shares} is not None{'' if usual else f' and {shares}[{number}]'}:"):
            with t.under("try:"):
                t(f"{w} = {made}{self.where}")
                if c.seen:
                    c.taken(found)
            with t.under("except Misfit as misfit:"):
                t("misfit.__traceback__ = None")
                if len(holes) == 1 and not c.seen:  # else another hole has taken the list
                    t(f"miss = (*miss, {found.path!r})")
        if c.seen and not usual:
            with t.under(f"elif {shares} is not None:"):
                c.taken(found)
        with t.under(f"if {w} is not ABSENT:"):
            self.put(w)
        if h.mark in ("default", "fill"):
            with t.under("else:"):
                self.filled()

    def talk(self) -> None:
        """Add the lines that write a conversation."""
        t, h, c = self.t, self.h, self.c
        found, w = c.look(h.path, True), self.fresh()
        with t.under(f"if {found.v}.__class__ is list and {found.v}:"):
            t(f"{w} = write_talk(x, {self.hole}, {found.v}, False, {self.into}){self.where}")
            self.put(w)
            c.taken(found)
        if h.mark is None:
            t(f"elif {found.none}: return {c.no}{self.where}")
        with t.under("else:"):
            self.cold()

    # -- of several fields ------------------------------------------------------------------------

    def sum(self) -> None:
        """Add the lines for a number that is a sum of fields."""
        t, h, c = self.t, self.h, self.c
        terms = [c.look(path, True) for path in h.paths]
        total = t.fresh("total")
        t(f"{total} = total({', '.join(one.v for one in terms)})")
        alone = {hole.path for hole in pic.holes(c.case.wire) if len(hole.paths) == 1}
        only = [n for n, path in enumerate(h.paths) if path not in alone | c.settled]
        # The first of those that stand nowhere else is read as all of them.
        hidden = [f"not {terms[n].v}" for n in only[1:]]
        hidden += [f"{terms[0].v} is not None"] if hidden else []
        known = self.c.code.value(frozenset(c.settled))
        c.settled.update(h.paths)
        with t.under(f"if {' and '.join([f'{total} is not None', *hidden])}:"):
            self.put(total)
            for one in terms:
                c.taken(one)
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
        if self.h.mark is not None:  # only where it takes something
            heads = c.writes.heads(self.h.named)
            made = f"(NO, ()) if {c.code.value(heads)}.isdisjoint(o) else {made}"
        t(f"{w}, {claims} = {made}{self.where}")
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
        with t.under(f"{other}:"):
            self.cold()


def both(tests: list[str]) -> str:
    """Return a test that all of some hold."""
    return " and ".join(f"({test})" if " or " in test else test for test in tests)


def spread(c: Lines, h: Hole, p: Fields, out: str, rel: tuple[Any, ...], full: str) -> None:
    """Add the lines for a hole whose keys stand among the outer ones."""
    t = c.t
    where = f"  # {h.pos.file}:{h.pos.line}"
    if h.shape is None:
        if "home" in h.lenses and not c.writes.home:
            if h.mark is None:
                t(f"return {c.no}{where}")
            return
        found = c.look(h.path, False)
        names = c.code.value(p.names)
        tests = [f"{found.v}.__class__ is dict", f"{names}.isdisjoint({found.v})"]
        tests += [test_of(lens, found.v) for lens in h.lenses if is_guard(lens)]
        none = f"elif {found.v} is not ABSENT" if h.mark else "else"
        with t.under(f"if {both(tests)}:"):
            t(f"{out}.update({found.v}){where}")
            if full:
                t(f"{full} = True")
            c.taken(found)
        t(f"{none}: return {c.no}")
        return
    mark = t.fresh("m")
    t(f"{mark} = len(x.notes)")

    def put(v: str) -> None:
        t(f"if not among(x, {out}, {v}, {mark}): return {c.no}{where}")
        if full:
            t(f"{full} = True")

    HoleLines(c, h, rel, (out, "None"), put).write()


def place(found: Found) -> str:
    """Return the expression of the IR path of a field."""
    named = found.path.startswith("named:")
    return f"view.source({found.path[6:]!r})" if named else repr(found.path)


def simple(h: Hole) -> bool:
    """Tell whether a hole is one value that must be there, and that no more than guards look at."""
    codecs = [lens for lens in h.lenses if not is_guard(lens)]
    plain = h.mode is None and codecs in ([], ["json"]) and "home" not in h.lenses
    return (
        plain and h.mark is None and len(h.paths) == 1 and h.path not in (*IDS, ".", "nth", "run")
    )


def wanted(h: Hole) -> bool:
    """Tell whether nothing is written where a field of a hole is not there."""
    told = h.mode in ("each", "as") or any(not is_guard(lens) for lens in h.lenses)
    alone = h.mark is None and len(h.paths) == 1 and h.path not in (*IDS, ".", "nth", "run")
    return told and alone and not h.dated and "home" not in h.lenses and not simple(h)


def needed(case: Case) -> frozenset[str]:
    """Return the fields of an object without which a case surely writes nothing."""
    told = {*OPAQUE, *(named(case.ir) if case.ir is not None else ())}
    found = (h for h in pic.holes(case.wire) if simple(h) or wanted(h))
    typed = (h for h in found if field_type(case.shape, h.path) != "any")
    sure = (h.path for h in typed if not any("null" in lens for lens in h.lenses))
    return frozenset(path for path in sure if path.isidentifier() and path not in told)


def named(p: pic.Picture) -> set[str]:
    """Return the names that an `ir` picture gives to holes of the wire."""
    if isinstance(p, Hole):
        return {p.path}
    if isinstance(p, pic.Text):
        return set(p.names)
    if isinstance(p, Fields):
        return set().union(*(named(child) for _, child in p.entries))
    return set()


def is_own(p: Any) -> bool:
    """Tell whether a picture is a field of one family alone that goes through as it is."""
    return (
        isinstance(p, Hole)
        and p.mark == "optional"
        and p.mode is None
        and not p.lenses
        and len(p.paths) == 1
        and p.path.startswith("own.")
        and p.path.count(".") == 1
    )
