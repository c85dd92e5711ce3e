"""Generates the functions that write: an IR object as a case of a shape, in another dialect.

    write_SHAPE_CASE(x, o)        writes the object `o`, or returns NO where the case takes it not
    inside_SHAPE_CASE(x, view)    writes what a view sees, whose names have been matched already
    part_SHAPE_CASE(x, o)         writes some fields of `o`: gives the value and what it took
    one_SHAPE(x, o)               writes by the first case that takes the object and reads back

`x` is the writer. What is rare in an object is left to the writer's own methods: a hole of a kind
that is written nowhere else, or the whole object. What they raise (Misfit) passes through.
"""

from __future__ import annotations

from typing import Any

from ..ir import FUNCTION, OPAQUE
from ..language import picture as pic
from ..language.lenses import is_guard
from ..language.measure import disjoint
from ..language.model import Case, Dialect, Shape
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Test
from ..language.picture import Text as TextPicture
from . import giving
from .code import Code, Text
from .holes import Found, HoleText, is_own, opaque, simple, spread, test_of

QUIET = frozenset(("type", "role", "spelled", "arguments_json", "value_json", "origin", "freeform"))


class Writes:
    """The functions that write one dialect abroad."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.code = Code(f"writing {dialect.name}", giving.NAMES)
        self.listings: dict[Any, giving.Listing] = {}

    def case(self, shape: Shape, case: Case) -> str:
        """Return the name of the function that writes by a case."""
        name = f"write_{shape.name}_{case.name}".rstrip("_")
        return self.code.function(
            ("case", id(case)), name, lambda name: CaseText(self, name, shape, case, "case").text()
        )

    def inside(self, case: Case) -> Any:
        """Return the function that writes what a view sees by a case."""
        name = f"inside_{case.shape}_{case.name}".rstrip("_")
        return self.code.function(
            ("inside", id(case)),
            name,
            lambda name: CaseText(self, name, None, case, "inside").text(),
        )

    def one(self, shape: Shape) -> str:
        """Return the name of the function that writes by the first case of a shape that fits."""
        return self.code.function(
            ("one", id(shape)), f"one_{shape.name}", lambda name: self._one(name, shape)
        )

    def _one(self, name: str, shape: Shape) -> str:
        t = Text(self.code, f"def {name}(x, o):")
        cases = [case for case in shape.cases if not case.home]
        if len(cases) == 1 and len(shape.cases) == 1:
            t(f"return {self.case(shape, cases[0])}(x, o)")
            return str(t)
        told = self.code.value(shape, "S")
        t("m, n, b = len(x.notes), len(x.lefts), len(x.beside)")
        for case in cases:
            with t.under("try:"):
                t(f"w = {self.case(shape, case)}(x, o)")
            with t.under("except Misfit as misfit:"):
                t("misfit.__traceback__ = None")
                t("w = NO")
            with t.under("if w is not NO:"):
                fits = "lossless(x, m)"
                if case.rivals and len(cases) > 1 and not self.exact(shape, case):
                    fits = f"{fits} and reads_back(x, {told}, w, o)"
                t(f"return w if {fits} else again(x, {told}, o, m, n, b)")
            t("undo(x, m, n, b)")
        t("return NO")
        return str(t)

    def any(self, name: str) -> str:
        """Return the name of the function that writes by a shape or any member of a union."""
        return self.code.function(("any", name), f"any_{name}", lambda fn: self._any(fn, name))

    def _any(self, fn: str, name: str) -> str:
        t = Text(self.code, f"def {fn}(x, o):")
        t("if o.__class__ is not dict: return NO")
        t("m = len(x.notes)")
        for shape in self.dialect.members(name):
            if shape.marks and shape.name != name:
                continue
            with t.under("try:"):
                t(f"w = {self.one(shape)}(x, o)")
                t("if w is not NO: return w")
            with t.under("except Misfit as misfit:"):
                t("misfit.__traceback__ = None")
            t("del x.notes[m:]")
        t("return NO")
        return str(t)

    def parts(self, name: str) -> str:
        """Return the name of the function that writes a shape of an object's own fields."""
        return self.code.function(
            ("parts", name), f"parts_{name}", lambda fn: self._parts(fn, name)
        )

    def _parts(self, fn: str, name: str) -> str:
        t = Text(self.code, f"def {fn}(x, o, marked, into):")
        t("m = len(x.notes)")
        for shape, case in self.dialect.cases_of(name):
            with t.under("try:"):
                t(f"w, took = {self.part(shape, case)}(x, o)")
                with t.under(
                    "if w is not NO and (took or not (marked or w is ABSENT or w == {})):"
                ):
                    if case.note is not None:
                        t(f"told_part(x, {self.code.value(case, 'C')}, o, w, took, into)")
                    t("return w, took")
            with t.under("except Misfit as misfit:"):
                t("misfit.__traceback__ = None")
            t("del x.notes[m:]")
        t("return NO, ()")
        return str(t)

    def part(self, shape: Shape, case: Case) -> str:
        """Return the name of the function that writes some fields of an object by a case."""
        return self.code.function(
            ("part", id(case)),
            f"part_{case.shape}_{case.name}".rstrip("_"),
            lambda name: CaseText(self, name, shape, case, "part").text(),
        )

    def exact(self, shape: Shape, case: Case) -> bool:
        """Tell whether what a case writes is always read as what was meant.

        That is so where no other case reads it before this one, and nothing in it but words,
        guards and JSON text stands for a value.
        """
        before = shape.cases[: shape.cases.index(case)]
        if not all(disjoint(one.sides[1], case.sides[1]) for one in before):
            return False
        told = [len(p.values) for p in _words(case.ir)] if case.ir is not None else []
        holes = list(pic.holes(case.wire))
        return (
            all(n == 1 for n in told)
            and not any(pic.texts(case.wire))
            and (case.ir is None or not any(pic.texts(case.ir)))
            and all(
                hole.mode is None
                and len(hole.paths) == 1
                and hole.mark in (None, "optional", "refused", "made")
                and all(is_guard(lens) or lens == "json" for lens in hole.lenses)
                for hole in holes
            )
        )

    def listing(self, holes: list[Hole]) -> giving.Listing:
        """Return what is known of the holes that share a list."""
        key = ("listing", *map(id, holes))
        if key not in self.listings:
            kinds: dict[Any, tuple[int, tuple[str, ...]] | None] = {}
            for number, hole in enumerate(holes):
                for kind, shapes in self.members(str(hole.shape)).items():
                    ones = None if shapes is None else tuple(map(self.one, shapes))
                    kinds.setdefault(kind, None if ones is None or hole.dated else (number, ones))
            self.listings[key] = giving.Listing(self.dialect, self.code.names, holes, kinds)
        return self.listings[key]

    def members(self, name: str) -> dict[Any, list[Shape] | None]:
        """Return by the type of an element which shapes may write it; None where runs do."""
        found: dict[Any, list[Shape] | None] = {}
        for shape in self.dialect.members(name):
            if shape.marks:
                continue
            kinds: set[Any] = set(shape.groups)
            for case in shape.cases if not shape.groups else ():
                said = case.sides[0].get("/type")
                kinds.update(said if isinstance(said, tuple) else (shape.kind,))
                kinds.update((shape.kind,) if shape.kind is not None else ())
            for kind in kinds:
                if shape.groups:
                    found.setdefault(kind, None)
                elif (there := found.setdefault(kind, [])) is not None:
                    there.append(shape)
        return found


class CaseText:
    """Writes the text of the function for one case."""

    def __init__(
        self, writes: Writes, name: str, shape: Shape | None, case: Case, way: str
    ) -> None:
        self.writes, self.shape, self.case, self.way = writes, shape, case, way
        self.seen = seen = way == "inside"
        self.dialect, self.code = writes.dialect, writes.code
        self.kind = shape.kind if shape is not None else None
        self.t = Text(writes.code, f"def {name}(x, {'view' if seen else 'o'}):")
        self.names: dict[str, tuple[str, str]] = {}  # of the `ir` picture: variable, IR path
        self.claims: set[str] = set()  # IR paths that are taken where something stands
        self.owners: dict[str, str] = {"": "o"}  # variables of the objects within
        self.lists: dict[str, str] = {}  # variables of lists that holes share
        self.missing = self.viewed = self.dynamic = False
        self.tested: dict[int, Found] = {}  # holes whose values have been looked at
        self.settled: set[str] = set()  # terms of sums that were written
        self.first: list[str] = []  # lines that stand before all others
        self.no = "NO, ()" if way == "part" else "NO"

    # -- the whole ----------------------------------------------------------------------------

    def text(self) -> str:
        """Return the text of the function."""
        t, case = self.t, self.case
        if self.seen:
            t("o = view.obj")
            names = {h for p in [case.ir] if p is not None for h in _named(p)} | {"run"}
            self.names = {name: ("", name) for name in names}
        else:
            if self.way == "case":
                self._kind()
            if case.ir is not None:
                self._match(case.ir, "o", "")
        for hole in pic.holes(case.wire):
            if simple(hole) and hole.path not in self.names:
                HoleText(self, hole, (), None, lambda v: None).test()
        if isinstance(case.wire, Fields):
            self._fields(case.wire, "wire", ())
        else:
            t("wire = ABSENT")
            self._value(case.wire, (), lambda v: t(f"wire = {v}"), None)
        self._end()
        if not self.seen:
            self.first += ["    miss = ()"] if self.missing else []
            self.first += ["    took = ()"] if self.dynamic or self.way == "part" else []
            self.first += ["    view = None"] if self.viewed else []
        t.lines[1:1] = self.first
        return str(t)

    def _kind(self) -> None:
        shape, t = self.shape, self.t
        assert shape is not None
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
        t, case = self.t, self.case
        pos = self.code.value(case, "C")
        if self.seen:
            t("return wire")
            return
        if self.way == "part":
            claims = "".join(f", {path!r}" for path in sorted(self.claims))
            more = ", *(view.claims if view is not None else ())" if self.viewed else ""
            t(f"return wire, (*took{more}{claims},)")
            return
        shape = self.code.value(self.shape, "S")
        t(f"if wire is ABSENT or not wire and wire == {{}}: return plain(x, {shape}, {pos}, o)")
        taken = {c for c in self.claims if "." not in c}
        inner = sorted({c.partition(".")[0] for c in self.claims if "." in c} - taken)
        named = self.kind == "tool_result" and "name" not in taken
        if named:  # it mostly follows from its call
            inner = [one for one in inner if one != "name"]
        quiet = self.code.value(
            frozenset(taken | QUIET | set(inner) | ({"name"} if named else set()))
        )
        claims = self.code.value(frozenset(self.claims))
        odd = ["miss"] if self.missing else []
        odd += ["view is not None"] if self.viewed else []
        rest = f"{{*o}}.difference({quiet}, took)" if self.dynamic else f"not o.keys() <= {quiet}"
        odd += [rest, "x.shared"]
        odd += ["misnamed(x, o)"] if named else []
        odd += [f"more(o, {one!r}, {self._inner(one)})" for one in inner]
        view = "view" if self.viewed else "None"
        miss = "miss" if self.missing else "()"
        with t.under(f"if {' or '.join(odd)}:"):
            took = "took" if self.dynamic else "()"
            t(f"leave(x, {shape}, {pos}, o, wire, {claims}, {took}, {miss}, {view})")
        t("x.written[id(o)] = (o, wire)")
        if case.note is not None:
            t(f"crossed(x, {pos}, o, wire)")
        t("return wire")

    def _inner(self, head: str) -> str:
        paths = {c[len(head) + 1 :] for c in self.claims if c.startswith(f"{head}.")}
        tree: dict[str, Any] = {}
        for path in paths:
            node = tree
            for key in path.split("."):
                node = node.setdefault(key, {})
        return self.code.value(tree)

    # -- the `ir` picture ---------------------------------------------------------------------

    def _match(self, p: Picture, v: str, path: str) -> None:
        """Match the value of a variable: literals must stand, holes get names."""
        t = self.t
        where = f"  # {p.pos.file}:{p.pos.line}"
        if isinstance(p, Literal):
            said = " or ".join(self._equal(v, value) for value in p.values)
            t(f"if not ({said}): return {self.no}{where}")
            if path and p.values != (ABSENT,):
                if ABSENT in p.values and self.way == "part":
                    t(f"if {v} is not ABSENT: took = (*took, {path!r})")
                else:
                    self.claims.add(path)
        elif isinstance(p, Items):
            t(f"if {v} != []: return {self.no}{where}")
            self.claims.add(path)
        elif isinstance(p, Test):
            held = f" or not {self.code.value(p, 'P')}.holds({v})" if p.word == "has" else ""
            t(f"if {v} is ABSENT{held}: return {self.no}{where}")
        elif isinstance(p, Hole):
            guard = p.lenses[0] if p.lenses and is_guard(p.lenses[0]) else ""
            odd = [f"{v} is ABSENT"] if p.mark is None else []
            if guard:
                there = f"{v} is not ABSENT and " if p.mark is not None else ""
                odd.append(f"{there}not ({test_of(guard, v)})")
            if odd:
                t(f"if {' or '.join(odd)}: return {self.no}{where}")
            self.names[p.path] = (v, path)
        elif isinstance(p, TextPicture):
            found = t.fresh("found")
            t(f"{found} = {self.code.value(p, 'P')}.read({v}) if {v}.__class__ is str else None")
            t(f"if {found} is None: return {self.no}{where}")
            for n, name in enumerate(p.names):
                self.names[name] = (f"{found}[{n}]", path)
        elif isinstance(p, Fields):
            if path:
                t(f"if {v}.__class__ is not dict: return {self.no}{where}")
                self.owners.setdefault(path, v)
            self._match_fields(p, v, path)

    def _match_fields(self, p: Fields, v: str, path: str) -> None:
        t, family = self.t, self.dialect.family
        for (name, *_), child in p.entries:
            inner = f"{path}.{name}" if path else name
            found = t.fresh(_variable(name))
            if inner == "own":
                inner = f"own.{family}"
                empty = "EMPTY" if isinstance(child, Fields) else "ABSENT"
                t(f"{found} = own_of(o, {family!r}, {empty})")
            elif name in OPAQUE and not isinstance(child, Fields):
                t(f"{found} = signed({v}.get({name!r}, ABSENT), {self.dialect.name!r})")
                t(f"if {found} is NO: return {self.no}")
            else:
                t(f"{found} = {v}.get({name!r}, ABSENT)")
            self._match(child, found, inner)
        if p.closed:
            known = self.code.value(p.names | {"spelled", "kept"})
            t(f"if not {v}.keys() <= {known}: return NO  # {p.pos.file}:{p.pos.line}")
            if path:
                self.claims.add(path)

    def _equal(self, v: str, value: Any) -> str:
        if value is ABSENT:
            return f"{v} is ABSENT"
        if value is None or value is True or value is False:
            return f"{v} is {value}"
        if isinstance(value, str):
            return f"{v} == {value!r}"
        return f"{v} is not ABSENT and same({self.code.value(value)}, {v})"

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
                first.append(f"{name!r}: {self._literal(child.values[0])}")
        t(f"{out} = {{{', '.join(first)}}}")
        if full:
            t(f"{full} = False")
        while rest:
            if is_own(rest[0][1]):
                rest = self._own(rest, out, full)
                continue
            (name, *_), child = rest.pop(0)

            def put(v: str, name: str = name, fills: bool = not isinstance(child, Literal)) -> None:
                t(f"{out}[{name!r}] = {v}")
                if full and fills:
                    t(f"{full} = True")

            if isinstance(child, Fields):
                inner, some = t.fresh(_variable(name)), t.fresh("full")
                there = child.firm or not _holding(child)
                self._fields(child, inner, (*rel, name), "" if there else some)
                if there:
                    put(inner)
                else:
                    with t.under(f"if {some}:"):
                        put(inner)
            else:
                self._value(child, (*rel, name), put, (out, name), full)
        for hole in p.spread:
            spread(self, hole, p, out, rel, full)

    def _own(self, entries: Any, out: str, full: str) -> Any:
        """Write the fields of one family alone that stand at the front; return the others."""
        table = []
        while entries and is_own(entries[0][1]):
            (key, *_), hole = entries.pop(0)
            table.append((hole.path[4:], key, self.path_of(hole.path)))
        fields = self._owner(f"own.{self.dialect.family}")
        known = self.code.value(tuple(table), "OWN")
        with self.t.under(f"if {fields}:"):
            took = self.t.fresh("took")
            self.t(f"{took} = own_fields({fields}, {out}, {known})")
            if full:
                self.t(f"{full} = {full} or bool({took})")
            if self.way == "case":
                self.claims.update(path for _, _, path in table)
            else:
                self.took(took)
        return entries

    def _literal(self, value: Any) -> str:
        return self.code.value(value)

    def _value(self, p: Picture, rel: tuple[Any, ...], put: Any, into: Any, full: str = "") -> None:
        """Write a picture that is no object, and `put` what comes of it."""
        t = self.t
        if isinstance(p, Literal):
            if p.values[0] is not ABSENT:
                put(self._literal(p.values[0]))
        elif isinstance(p, Hole):
            HoleText(self, p, rel, into, put, full).write()
        elif isinstance(p, TextPicture):
            values = [self.look(name, True) for name in p.names]
            for one in values:
                t(f"if {one.v}.__class__ is not str: return {self.no}")
            text = t.fresh("text")
            given = "".join(f"{one.v}, " for one in values)
            t(f"{text} = {self.code.value(p, 'P')}.write(({given}))  # {p.pos.file}:{p.pos.line}")
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
                self._hole(p.rest, (*rel, len(p.items)), lambda v: t(f"{found}.extend({v})"), None)
            put(found)
        else:  # an object as an element, or the whole
            raise TypeError(f"{type(p).__name__} is no picture of the wire")

    def see(self) -> None:
        """Let the writer's own methods see the object."""
        if self.seen:
            return
        self.viewed = True
        self.t(f"view = view or {self.sight()}")

    def sight(self) -> str:
        """Return the expression that lets the writer's own methods see the object."""
        known = [f"{name!r}: ({v}, {path!r})" for name, (v, path) in self.names.items()]
        names = f", {{{', '.join(known)}}}" if known else ""
        shape, case = self.code.value(self.shape, "S"), self.code.value(self.case, "C")
        return f"seen(x, o, {shape}, {case}{names})"

    # -- fields -------------------------------------------------------------------------------

    def _owner(self, path: str) -> str:
        """Return a variable of the object at an IR path; an empty one where there is none."""
        if path not in self.owners:
            head, _, last = path.rpartition(".")
            found = self.t.fresh(_variable(last))
            self.t(f"{found} = {self._owner(head)}.get({last!r}, EMPTY)")
            self.t(f"if {found}.__class__ is not dict: {found} = EMPTY")
            self.owners[path] = found
        return self.owners[path]

    def look(self, path: str, typed: bool) -> Found:
        """Add the line that looks for a field; one of a `typed` one null is as good as nothing."""
        t = self.t
        if path in self.names:
            v, source = self.names[path]
            if not v:
                v, source = t.fresh(_variable(path)), f"named:{path}"
                t(f"{v} = view.look({path!r})")
            return Found(v, f"{v} is ABSENT" + (f" or {v} is None" if typed else ""), source)
        keys = self.path_of(path).split(".")
        v, none = t.fresh(_variable(keys[-1])), "None" if typed else "ABSENT"
        default = "" if typed else ", ABSENT"
        t(f"{v} = {self._owner('.'.join(keys[:-1]))}.get({keys[-1]!r}{default})")
        if opaque(".".join(keys)):
            t(f"if {v}.__class__ is dict: {v} = opened({v}, {self.dialect.name!r})")
        return Found(v, f"{v} is {none}", ".".join(keys))

    def path_of(self, path: str) -> str:
        """Return the path in the IR that a hole names."""
        if path in self.names:
            return self.names[path][1]
        return f"own.{self.dialect.family}.{path[4:]}" if path.startswith("own.") else path

    def took(self, paths: str) -> None:
        """Add the line that says that the values of some fields found a place."""
        self.dynamic = True
        self.t(f"view.claims.update({paths})" if self.seen else f"took = (*took, *{paths})")

    def taken(self, found: Found) -> None:
        """Add the line that says that the value of a field found a place."""
        if found.path.startswith("named:"):
            self.t(f"view.claim({found.path[6:]!r})")
        elif self.seen:
            self.t(f"view.claims.add({found.path!r})")
        elif opaque(found.path) or self.way == "part":
            self.dynamic = True
            self.t(f"took = (*took, {found.path!r})")
        else:
            self.claims.add(found.path)


def _named(p: Picture) -> set[str]:
    """Return the names that an `ir` picture gives to holes of the wire."""
    if isinstance(p, Hole):
        return {p.path}
    if isinstance(p, TextPicture):
        return set(p.names)
    if isinstance(p, Fields):
        return set().union(*(_named(child) for _, child in p.entries))
    return set()


def _words(p: Picture) -> list[Literal]:
    """Return the fixed words of a picture."""
    if isinstance(p, Fields):
        return [word for _, child in p.entries for word in _words(child)]
    return [p] if isinstance(p, Literal) else []


def _holding(p: Fields) -> bool:
    """Tell whether an object holds more than fixed words."""
    return bool(p.spread) or any(not isinstance(child, Literal) for _, child in p.entries)


def _variable(name: str) -> str:
    """Return the last name of a path as the name of a variable."""
    found = "".join(c if c.isalnum() else "_" for c in name.rpartition(".")[2])
    return f"{found}_" if found else "v"
