"""Generates what tells whether an `ir` picture holds, and names the values within."""

from __future__ import annotations

from typing import Any

from ..ir import OPAQUE
from ..language.lenses import is_guard
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Test, Text
from .holetests import test_of
from .lines import Lines, negated, variable


class MatchLines(Lines):
    """Writes the lines for the `ir` picture of one case."""

    def match(self, p: Picture, v: str, path: str) -> None:
        """Add the lines that match a value: literals must stand, holes get names."""
        t = self.t
        if isinstance(p, Literal):
            said = " or ".join(self._equal(v, value) for value in p.values)
            t(f"if {negated(said)}: return {self.no}", p.pos)
            if path and p.values != (ABSENT,):
                if ABSENT in p.values and self.way == "part":
                    t(f"if {v} is not ABSENT: took = (*took, {path!r})")
                else:
                    self.claims.add(path)
        elif isinstance(p, Items):
            t(f"if {v} != []: return {self.no}", p.pos)
            self.claims.add(path)
        elif isinstance(p, Test):
            t(f"if not {self.code.value(p, 'P')}.met({v}): return {self.no}", p.pos)
        elif isinstance(p, Hole):
            guard = p.lenses[0] if p.lenses and is_guard(p.lenses[0]) else ""
            odd = [f"{v} is ABSENT"] if p.mark is None else []
            if guard:
                there = f"{v} is not ABSENT and " if p.mark is not None else ""
                odd.append(f"{there}{negated(test_of(guard, v))}")
            if odd:
                t(f"if {' or '.join(odd)}: return {self.no}", p.pos)
            self.names[p.path] = (v, path)
        elif isinstance(p, Text):
            found = t.fresh("found")
            says = f"{v}.__class__ is str"
            if sign := max(p.fixed, key=len):  # mostly it stands nowhere in a text
                says += f" and {sign!r} in {v}"
            t(f"{found} = {self.code.value(p, 'P')}.read({v}) if {says} else None")
            t(f"if {found} is None: return {self.no}", p.pos)
            for n, name in enumerate(p.names):
                self.names[name] = (f"{found}[{n}]", path)
        elif isinstance(p, Fields):
            if path:
                t(f"if {v}.__class__ is not dict: return {self.no}", p.pos)
                self.owners.setdefault(path, v)
            self._match_fields(p, v, path)

    def _match_fields(self, p: Fields, v: str, path: str) -> None:
        t, family = self.t, self.dialect.family
        for (name, *_), child in p.entries:
            inner = f"{path}.{name}" if path else name
            found = t.fresh(variable(name))
            if inner == "own":
                inner = f"own.{family}"
                empty = "EMPTY" if isinstance(child, Fields) else "ABSENT"
                t(f"{found} = own_of(o, {family!r}, {empty})")
            elif name in OPAQUE and not isinstance(child, Fields):
                whose = self.code.origin(self.dialect.origin[name])
                t(f"{found} = opened_or_no({v}.get({name!r}, ABSENT), {whose})")
                t(f"if {found} is NO: return {self.no}")
            else:
                t(f"{found} = {v}.get({name!r}, ABSENT)")
            self.match(child, found, inner)
        if p.closed:
            known = self.code.value(p.names | {"spelled", "kept"})
            t(f"if not {v}.keys() <= {known}: return NO", p.pos)
            if path:
                self.claims.add(path)

    def _equal(self, v: str, value: Any) -> str:
        if value is ABSENT:
            return f"{v} is ABSENT"
        if value is None or value is True or value is False:
            return f"{v} is {value}"
        if isinstance(value, str):
            return f"{v} == {value!r}"
        return f"same({self.code.value(value)}, {v})"
