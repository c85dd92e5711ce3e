"""Generates the lines of one case: the `ir` picture that must hold, then the wire picture.

`writes` says which functions there are, `lines` writes what the `ir` picture asks, `holelines` what
stands in a hole.
"""

from __future__ import annotations

from typing import Any

from ..ir import FUNCTION
from ..language import picture as pic
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture
from ..language.picture import Text as TextPicture
from .code import NAME
from .holelines import HoleLines, spread
from .holetests import is_own, simple, wanted
from .lines import Lines, variable

QUIET = frozenset(("type", "role", "spelled", "arguments_json", "value_json", "origin", "freeform"))


class CaseLines(Lines):
    """Writes the text of the function for one case."""

    # -- the whole ----------------------------------------------------------------------------

    def text(self) -> str:
        """Return the text of the function."""
        t, case = self.t, self.case
        if case.home and not self.writes.home:
            t(f"return {self.no}  # it is only read")
            return str(t)
        if self.way == "case":
            self._kind()
        if self.home:
            t(f"if respelled(o, {NAME}): return {self.plainly()}")
        if case.ir is not None:
            self.match(case.ir, "o", "")
        self.matched = set(self.claims)
        for hole in pic.holes(case.wire):
            if simple(hole) and hole.path not in self.names:
                HoleLines(self, hole).test()
        for hole in pic.holes(case.wire) if not self.home else ():
            if wanted(hole) and hole.path not in self.names:
                HoleLines(self, hole).there()
        several = self.way == "case" and len(self.shape.cases) > 1
        for hole in case.lists.get("candidates", ()) if several else ():
            if hole.mark is None and isinstance(case.wire, Fields) and hole not in case.wire.spread:
                # Of several forms of an answer the elements tell first; notes keep their order.
                t("held = len(x.notes)")
                HoleLines(self, hole).shared()
                t("x.notes[held:], held = [], x.notes[held:]")
                self.held.add(hole)
        if isinstance(case.wire, Fields):
            self._fields(case.wire, "wire", ())
        else:
            t("wire = ABSENT")
            self._value(case.wire, (), lambda v: t(f"wire = {v}"), None)
        self._end()
        self.first += ["    miss = ()"] if self.missing else []
        self.first += ["    took = ()"] if self.dynamic or self.way == "part" else []
        self.first += ["    view = None"] if self.viewed else []
        t.lines[1:1] = self.first
        return str(t)

    def _kind(self) -> None:
        """Write the test that an object is of the type of the shape."""
        shape, t = self.shape, self.t
        fixed = self.case.sides[0].get("/type")
        if shape.kind is not None:
            words = {shape.kind, *(fixed if isinstance(fixed, tuple) else ())}
            words = {word for word in words if isinstance(word, str)}
            known = repr(shape.kind) if len(words) == 1 else self.code.value(frozenset(words))
            sign = "!=" if len(words) == 1 else "not in"
            t(f"if o.get('type') {sign} {known}: return NO")
        elif not isinstance(fixed, tuple):
            t(f"if o.get('type', {FUNCTION!r}) != {FUNCTION!r}: return NO")

    def _end(self) -> None:
        """Write what notes the fields that found no place, and what is returned."""
        t, case = self.t, self.case
        pos = self.code.value(case, "C")
        if self.way == "frame":  # nobody asks what a frame left
            t("return wire")
            return
        if self.way == "part":
            claims = "".join(f", {path!r}" for path in sorted(self.claims))
            more = ", *(view.claims if view is not None else ())" if self.viewed else ""
            t(f"return wire, (*took{more}{claims},)")
            return
        shape = self.code.value(self.shape, "S")
        empty = self._empty()
        if empty and not self.request:
            t(f"if {empty}: return {self.plainly()}")
        taken = {c for c in self.claims if "." not in c}
        inner = sorted({c.partition(".")[0] for c in self.claims if "." in c} - taken)
        named = self.kind == "tool_result" and "name" not in taken
        if named:  # it mostly follows from its call
            inner = [one for one in inner if one != "name"]
        quiet = self.code.value(frozenset({*taken, *QUIET, *inner, *(["name"] if named else [])}))
        within: dict[str, tuple[tuple[str, ...], ...]] = {}  # paths, and the keys below the first
        for path in sorted(path for path in self.claims if "." in path):
            head, *keys = path.split(".")
            within[head] = (*within.get(head, ()), (path, *keys))
        claims = f"{self.code.value(frozenset(taken))}, {self.code.value(within, 'W')}"
        odd = ["miss"] if self.missing else []
        odd += ["view is not None"] if self.viewed else []
        outside = ", x.envelope_fields" if self.request else ""  # these stand in the envelope
        rest = f"not {quiet}.issuperset(o)"
        if self.dynamic or outside:
            took = ", took" if self.dynamic else ""
            rest += f" and {{*o}}.difference({quiet}{took}{outside})"
        odd.append(rest)
        odd += [f"{one!r} in o and holds_more(o, {one!r}, {self._inner(one)})" for one in inner]
        odd += ["misnamed(x, o)"] if named else []
        view = "view" if self.viewed else "None"
        miss = "miss" if self.missing else "()"
        with t.under(f"if {' or '.join(odd)}:"):
            took = "took" if self.dynamic else "()"
            t(f"leave(x, {shape}, {pos}, o, wire, {claims}, {took}, {miss}, {view})")
        spoken = any(one is case for one in self.dialect.message_cases)
        if not self.request and not spoken:  # notes of a message point to its parts
            t("x.written[id(o)] = (o, wire)")
        if case.note is not None and not self.home:
            t(f"x.note_case({pos}, x.trail.find(o), wire)")
        t("return wire")

    def _empty(self) -> str:
        """Return a test that nothing was written; "" where something always is."""
        wire = self.case.wire
        if not isinstance(wire, Fields):
            return "wire is ABSENT or not wire and wire == {}"
        if wire.bare:
            return ""
        child = wire.entries[0][1] if wire.entries and not self.home else None
        sure = isinstance(child, Literal) and child.values[0] is not ABSENT
        return "" if sure else "not wire"

    def _inner(self, head: str) -> str:
        paths = {c[len(head) + 1 :] for c in self.claims if c.startswith(f"{head}.")}
        tree: dict[str, Any] = {}
        for path in sorted(paths):
            node = tree
            for key in path.split("."):
                node = node.setdefault(key, {})
        return self.code.value(tree)

    # -- objects and lists --------------------------------------------------------------------

    def _fields(self, p: Fields, out: str, rel: tuple[Any, ...], full: str = "") -> None:
        """Write an object into the variable `out`; `full` tells whether anything stands in it."""
        t = self.t
        first: list[str] = []
        rest = list(p.entries)
        while rest and isinstance(rest[0][1], Literal):
            (name, *_), child = rest.pop(0)
            assert isinstance(child, Literal)
            if child.values[0] is not ABSENT:
                first.append(f"{name!r}: {self.code.value(child.values[0])}")
        t(f"{out} = {{{', '.join(first)}}}")
        if full:
            t(f"{full} = False")
        while rest:
            many = 1
            while many < len(rest) and is_own(rest[0][1]) and is_own(rest[many][1]):
                many += 1
            these, rest = rest[:many], rest[many:]
            self._entry(these, out, rel, full)
        for hole in p.spread:
            spread(self, hole, p, out, rel, full)

    def _entry(self, entries: Any, out: str, rel: tuple[Any, ...], full: str) -> None:
        """Write one key of an object, or some of fields that one family alone has."""
        t = self.t
        if is_own(entries[0][1]):
            self._own(entries, out, full)
            return
        [(names, child)] = entries
        name = names[0]
        key = repr(name)
        if len(names) > 1 and isinstance(child, Hole) and "again" in child.lenses:
            key = t.fresh("key")
            t(f"{key} = key_of_parts(x, {self.look(child.path, True).v}, {names!r})")

        def put(v: str) -> None:
            t(f"{out}[{key}] = {v}")
            if full and not isinstance(child, Literal):
                t(f"{full} = True")

        if isinstance(child, Fields):
            inner, some = t.fresh(variable(name)), t.fresh("full")
            there = child.firm or not _holding(child)
            self._fields(child, inner, (*rel, name), "" if there else some)
            if there:
                put(inner)
            else:
                with t.under(f"if {some}:"):
                    put(inner)
        else:
            self._value(child, (*rel, name), put, (out, key), full)

    def _own(self, entries: Any, out: str, full: str) -> None:
        """Write fields that one family alone has."""
        table = [(h.path[4:], names[0], self.path_of(h.path)) for names, h in entries]
        fields = self._owner(f"own.{self.dialect.family}")
        known = self.code.value(tuple(table), "OWN")
        with self.t.under(f"if {fields}:"):
            took = self.t.fresh("took") if full or self.way == "part" else ""
            given = f"{took} = " if took else ""
            self.t(f"{given}own_fields({fields}, {out}, {known})")
            if full:
                self.t(f"{full} = {full} or bool({took})")
            if self.way == "part":
                self.took(took)
            else:
                self.claims.update(path for _, _, path in table)

    def _value(self, p: Picture, rel: tuple[Any, ...], put: Any, into: Any, full: str = "") -> None:
        """Write a picture that is no object, and `put` what comes of it."""
        t = self.t
        if isinstance(p, Literal):
            if p.values[0] is not ABSENT:
                put(self.code.value(p.values[0]))
        elif isinstance(p, Hole):
            HoleLines(self, p, rel, into, put, full).write()
        elif isinstance(p, TextPicture):
            values = [self.look(name, True) for name in p.names]
            for one in values:
                t(f"if {one.v}.__class__ is not str: return {self.no}")
            text = t.fresh("text")
            given = "".join(f"{one.v}, " for one in values)
            t(f"{text} = {self.code.value(p, 'P')}.write(({given}))", p.pos)
            t(f"if {text} is None: return {self.no}")
            for one in values:
                self.taken(one)
            put(text)
        elif isinstance(p, Items):
            found = t.fresh("items")
            t(f"{found} = []")
            for n, child in enumerate(p.items):
                size = t.fresh("n")
                t(f"{size} = len({found})")

                def add(v: str) -> None:
                    t(f"{found}.append({v})")

                if isinstance(child, Fields):
                    inner, some = t.fresh("item"), t.fresh("full")
                    there = child.firm or not _holding(child)
                    self._fields(child, inner, (*rel, n), "" if there else some)
                    if not there:
                        t(f"if not {some}: return {self.no}")
                    add(inner)
                else:
                    self._value(child, (*rel, n), add, None)
                    t(f"if len({found}) == {size}: return {self.no}")
            if p.rest is not None:
                place = (*rel, len(p.items))
                HoleLines(self, p.rest, place, None, lambda v: t(f"{found}.extend({v})")).write()
            put(found)
        else:  # an object as an element, or the whole
            raise TypeError(f"{type(p).__name__} is no picture of the wire")


def _holding(p: Fields) -> bool:
    """Tell whether an object holds more than fixed words."""
    return bool(p.spread) or any(not isinstance(child, Literal) for _, child in p.entries)
