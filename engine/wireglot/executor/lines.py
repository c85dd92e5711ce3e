"""What the lines of one function know: variables of fields, what was taken, what is rare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from ..ir import OPAQUE, owned
from ..language import picture as pic
from ..language.lenses import is_guard
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Test
from ..language.picture import Text as TextPicture
from ..language.shape import Case, Shape
from .code import Code, Text, spelled
from .holetests import test_of


class Found(NamedTuple):
    """The value of a field: its variable, what that is where there is none, its IR path."""

    v: str
    none: str
    path: str


class Functions(Protocol):
    """The functions of a dialect; `writes.Writes` is it."""

    dialect: Dialect
    code: Code
    home: bool

    def any(self, name: str) -> str: ...
    def parts(self, name: str) -> str: ...
    def known_listing(self, holes: Sequence[Hole]) -> str: ...
    def heads(self, name: str) -> frozenset[str]: ...
    def asks(self, name: str) -> bool: ...
    def may_be_absent(self, name: str) -> bool: ...
    def fits(self, kind: str) -> str: ...


class Lines:
    """Writes the text of the function for one case."""

    def __init__(self, writes: Functions, name: str, shape: Shape, case: Case, way: str) -> None:
        self.writes, self.shape, self.case, self.way = writes, shape, case, way
        self.home = writes.home and way != "part"  # it may remember how it was spelled
        self.dialect, self.code = writes.dialect, writes.code
        self.kind = shape.kind
        # A whole request: what holds of it was seen to before.
        self.request = shape is writes.dialect.units.get("request")
        writes.code.places.address(case)  # constants are called after it
        self.t = Text(writes.code, f"def {name}(x, o):")
        self.names: dict[str, tuple[str, str]] = {}  # of the `ir` picture: variable, IR path
        self.claims: set[str] = set()  # IR paths that are taken where something stands
        self.matched: set[str] = set()  # those that the `ir` picture says
        self.owners: dict[str, str] = {"": "o"}  # variables of the objects within
        self.lists: dict[tuple[Hole, ...], str] = {}  # variables of lists that holes share
        self.missing = self.viewed = self.dynamic = False
        self.looked: dict[tuple[str, bool], Found] = {}
        self.tested: dict[Hole, Found] = {}  # holes whose values have been looked at
        self.held: set[Hole] = set()  # lists whose notes wait for their place
        self.settled: set[str] = set()  # terms of sums that were written
        self.first: list[str] = []  # lines that stand before all others
        named = Counter(self.path_of(path) for path in paths_of(case.wire))
        self.often = {path for path, number in named.items() if number > 1}
        self.no = "NO, ()" if way == "part" else "NO"

    def sight(self) -> str:
        """Return the expression that lets the writer's own methods see the object."""
        known = [f"{name!r}: ({v}, {path!r})" for name, (v, path) in self.names.items()]
        names = f", {{{', '.join(known)}}}" if known else ""
        matched = frozenset(path for path in self.matched if "." in path)
        if matched:
            names = f"{names or ', EMPTY'}, {self.code.value(matched)}"
        return f"view_of(x, o, {self.whose()}{names})"

    def whose(self) -> str:
        """Return the expressions of the shape and of the case."""
        return f"{self.code.value(self.shape, 'S')}, {self.code.value(self.case, 'C')}"

    def plainly(self) -> str:
        """Return the expression that writes the object by walking the pictures of the case."""
        return "NO" if self.request else f"x.walked({self.whose()}, o)"

    # -- fields -------------------------------------------------------------------------------

    def _owner(self, path: str) -> str:
        """Return a variable of the object at an IR path; an empty one where there is none."""
        if path in self.owners:
            return self.owners[path]
        head, _, last = path.rpartition(".")
        found = self.t.fresh(variable(last))
        if head == "own" and head not in self.owners:
            self.t(f"{found} = own_of(o, {last!r}, EMPTY) if 'own' in o else EMPTY")
        else:
            self.t(f"{found} = {self._owner(head)}.get({last!r}, EMPTY)")
        self.t(f"if {found}.__class__ is not dict: {found} = EMPTY")
        if self.t.depth == 1:  # else it is not there further down
            self.owners[path] = found
        return found

    def look(self, path: str, typed: bool) -> Found:
        """Add the line that looks for a field; one of a `typed` one null is as good as nothing."""
        t = self.t
        if path in self.names:
            v, source = self.names[path]
            return Found(v, f"{v} is ABSENT" + (f" or {v} is None" if typed else ""), source)
        if (path, typed) in self.looked:
            return self.looked[path, typed]
        keys = self.path_of(path).split(".")
        v, none = t.fresh(variable(keys[-1])), "None" if typed else "ABSENT"
        default = "" if typed else ", ABSENT"
        t(f"{v} = {self._owner('.'.join(keys[:-1]))}.get({keys[-1]!r}{default})")
        if opaque(".".join(keys)):
            origin = self.dialect.origin[keys[-1]]
            t(f"if {v}.__class__ is dict: {v} = opened({v}, {self.code.origin(origin)})")
        found = Found(v, f"{v} is {none}", ".".join(keys))
        if t.depth == 1:
            self.looked[path, typed] = found
        return found

    def path_of(self, path: str) -> str:
        """Return the path in the IR that a hole names."""
        return self.names[path][1] if path in self.names else owned(path, self.dialect.family)

    def took(self, paths: str) -> None:
        """Add the line that says that the values of some fields found a place."""
        if self.way == "frame":
            return
        self.dynamic = True
        self.t(f"took = (*took, *{paths})")

    def taken(self, found: Found) -> None:
        """Add the line that says that the value of a field found a place."""
        if self.way != "frame" and (
            opaque(found.path) or self.way == "part" or found.path in self.often
        ):
            self.dynamic = True
            self.t(f"took = (*took, {found.path!r})")
        else:
            self.claims.add(found.path)

    # -- the `ir` picture ---------------------------------------------------------------------

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
            t(f"if not {self.code.value(p, 'P')}.holds({v}): return {self.no}", p.pos)
        elif isinstance(p, Hole):
            guard = p.lenses[0] if p.lenses and is_guard(p.lenses[0]) else ""
            odd = [f"{v} is ABSENT"] if p.mark is None else []
            if guard:
                there = f"{v} is not ABSENT and " if p.mark is not None else ""
                odd.append(f"{there}{negated(test_of(guard, v))}")
            if odd:
                t(f"if {' or '.join(odd)}: return {self.no}", p.pos)
            self.names[p.path] = (v, path)
        elif isinstance(p, TextPicture):
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


def paths_of(p: Picture) -> Iterator[str]:
    """Yield the fields that the holes of a picture name, each as often as it is named."""
    for hole in pic.holes(p):
        if hole.mode != "each":
            yield from (path for path in hole.paths if path != ".")
    for text in pic.texts(p):
        yield from text.names


def variable(name: str) -> str:
    """Return the last name of a path as the name of a variable."""
    return spelled(name.rpartition(".")[2])


def negated(test: str) -> str:
    """Return the contrary of a test."""
    v, word, other = test.partition(" is not ") if " is not " in test else test.partition(" is ")
    if word and not re.search(r"\W", f"{v.replace('.', '')}{other}"):
        return f"{v} is {other}" if word == " is not " else f"{v} is not {other}"
    return f"not {test}" if re.fullmatch(r"\w+\([^()]*\)", test) else f"not ({test})"


def opaque(path: str) -> bool:
    """Tell whether only its origin can read a field."""
    return path.rpartition(".")[2] in OPAQUE and not path.startswith("own.")
