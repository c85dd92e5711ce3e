"""Symbolic execution of pictures: the code that reads one shape and writes another, fused.

A picture of the source is read not into values but into symbols: pieces of Python that give them.
The pictures of the target are then written out of these symbols. What cannot be decided here, or
would make a note, raises ODD when it runs: the interpreter takes that element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .ir import DERIVED, field_type
from .lenses import is_guard
from .picture import ABSENT, Fields, Hole, Literal, Picture, Text
from .picture import Test as Condition
from .rulefile import Case, Dialect, Shape

CLASSES = {
    "string": "str",
    "object": "dict",
    "list": "list",
    "bool": "bool",
    "integer": "int",
    "opaque": "str",
    "number": "number",
    "null": "NoneType",
}


class Cannot(Exception):
    """Raised while compiling: this is left to the interpreter."""


class NoFit(Exception):
    """Raised while compiling: this case never fits these symbols."""


class Const:
    """A value that is known while compiling."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Val:
    """A value that a piece of code gives.

    `maybe`: it can be None, which means absent. `text`: code of the JSON text that it came from.
    `plain`: it is text known to be no JSON of an object or array. `derived`: never a loss.
    """

    __slots__ = ("cls", "code", "derived", "maybe", "plain", "text")

    def __init__(
        self,
        code: str,
        cls: str,
        maybe: bool = False,
        text: str | None = None,
        plain: bool = False,
        derived: bool = False,
    ) -> None:
        self.code, self.cls, self.maybe = code, cls, maybe
        self.text, self.plain, self.derived = text, plain, derived


Sym = Any  # Const | Val | dict[str, Sym]


class Code:
    """Lines of Python in the making; forks share their counter and constants."""

    def __init__(self, depth: int = 1, root: Code | None = None) -> None:
        self.lines: list[str] = []
        self.depth = depth
        self.root = root or self
        if root is None:
            self.count = 0
            self.consts: dict[str, Any] = {}

    def __call__(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def name(self, hint: str = "v") -> str:
        """Return a fresh variable name."""
        self.root.count += 1
        return f"{hint}{self.root.count}"

    def const(self, value: Any, hint: str = "K") -> str:
        """Return the name of a constant of the generated module."""
        for name, known in self.root.consts.items():
            if known is value:
                return name
        name = self.name(hint)
        self.root.consts[name] = value
        return name

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Indent what is written inside under a head line."""
        self(head)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self("pass")
        self.depth -= 1

    def fork(self) -> Code:
        """Return an empty piece of code at the same depth."""
        return Code(self.depth, self.root)

    def join(self, other: Code) -> None:
        """Append another piece's lines."""
        self.lines.extend(other.lines)


def odd_unless(code: Code, cls: str, var: str) -> None:
    """Write the check of a value's class."""
    if cls == "any":
        return
    if cls == "number":
        code(f"if {var}.__class__ is not float and {var}.__class__ is not int: raise ODD")
    elif cls == "str":
        # Half of a surrogate pair has no UTF-8: ValueError, which is unusual too.
        code(f"if {var}.__class__ is not str or not ({var}.isascii() or {var}.encode()): raise ODD")
    else:
        code(f"if {var}.__class__ is not {cls}: raise ODD")


# -- reading --------------------------------------------------------------------------------------


class Reading:
    """Reads one case's picture into symbols."""

    def __init__(
        self, code: Code, case: Case, dialect: Dialect, known: str | None = None
    ) -> None:
        self.code, self.case, self.dialect, self.known = code, case, dialect, known
        self.own: dict[str, Sym] = {}  # what `$.` holes found
        self.env: dict[str, Sym] = {}
        self.lists: list[tuple[Hole, str]] = []

    def fields(self, p: Fields, var: str, checked: bool = False) -> None:
        """Read an object: required keys by subscript, the rest only if its size says so."""
        code = self.code
        if not checked:
            code(f"if {var}.__class__ is not dict: raise ODD")
        if p.spread:
            if len(p.spread) > 1 or p.spread[0].shape is not None or p.entries or p.closed:
                raise Cannot
            code(f"clean({var})")
            self.env[p.spread[0].path] = Val(var, "dict")
            return
        need: list[tuple[str, Picture]] = []
        may: list[tuple[str, Hole]] = []
        for (key, *_), child in p.entries:
            if isinstance(child, Literal):
                if child.values[0] is not ABSENT:
                    need.append((key, child))
            elif isinstance(child, Hole):
                if child.mark in (None, "made", "default"):
                    need.append((key, child))
                elif not child.path.startswith("own.") and child.mode != "as":
                    may.append((key, child))
            elif isinstance(child, Fields) and _all_marked(child):
                continue
            else:
                need.append((key, child))
        names = {key: code.name() for key, _ in may}
        count = str(len(need))
        if may:
            lists = any(h.mode == "each" for _, h in may)
            full = "".join(
                f" + ({key!r} in {var})" if h.mark == "else" else f" + ({names[key]} is not None)"
                for key, h in may
            )
            if lists:
                for key, _ in may:
                    code(f"{names[key]} = {var}.get({key!r})")
                code(f"if len({var}) != {count}{full}: raise ODD")
            else:
                code(" = ".join(names.values()) + " = None")
                with code.block(f"if len({var}) != {count}:"):
                    for key, _ in may:
                        code(f"{names[key]} = {var}.get({key!r})")
                    code(f"if len({var}) != {count}{full}: raise ODD")
        else:
            code(f"if len({var}) != {count}: raise ODD")
        for key, child in need:
            if key == self.known and isinstance(child, Literal):
                continue
            if isinstance(child, Literal):
                value = child.values[0]
                if not isinstance(value, str):
                    raise Cannot
                code(f"if {var}[{key!r}] != {value!r}: raise ODD")
                continue
            inner = code.name()
            code(f"{inner} = {var}[{key!r}]")
            self.picture(child, inner)
        for key, hole in may:
            self.hole(hole, names[key], maybe=True)

    def picture(self, p: Picture, var: str) -> None:
        """Read one required picture."""
        if isinstance(p, Hole):
            self.hole(p, var)
        elif isinstance(p, Fields):
            self.fields(p, var)
        elif isinstance(p, Text):
            self.code(f"if {var}.__class__ is not str: raise ODD")
            found = self.code.name()
            self.code(f"{found} = {self.code.const(p, 'SAID')}.read({var})")
            self.code(f"if {found} is None: raise ODD")
            for i, name in enumerate(p.names):
                self.env[name] = Val(f"{found}[{i}]", "str")
        else:
            raise Cannot

    def hole(self, h: Hole, var: str, maybe: bool = False) -> None:
        """Read one hole."""
        code = self.code
        if h.path == "." and h.shape is not None and not maybe:
            self.itself(h, var)
            return
        if len(h.paths) > 1 or h.path in (".", "nth") or h.mode in ("as", "entries"):
            raise Cannot
        if h.path.startswith("own."):
            raise Cannot
        if h.mode == "each":
            self.lists.append((h, var))
            return
        lenses = [lens for lens in h.lenses if lens != "plain"]
        if "json" in lenses:
            if not h.path.endswith("arguments") or maybe:
                raise Cannot
            code(f"if {var}.__class__ is not str: raise ODD")
            value = code.name()
            code(f"{value} = loads({var})")
            code(f"if {value}.__class__ is not dict: raise ODD")
            self.env[h.path] = Val(value, "dict", text=var)
            return
        tables = [lens for lens in lenses if lens in self.dialect.tables]
        if tables and len(lenses) == 1 and not maybe:
            code(f"if {var}.__class__ is not str: raise ODD")
            word = code.name()
            code(f"{word} = {code.const(self.dialect.tables[tables[0]].to_ir, 'WORDS')}[{var}]")
            self.env[h.path] = Val(word, "str")
            return
        if any(not is_guard(lens) for lens in lenses):
            raise Cannot
        words = lenses[0].split("+") if lenses else [field_type(self.case.shape, h.path)]
        if "plain" in h.lenses:
            words = ["string"]
        if len(words) > 1:
            raise Cannot
        cls = CLASSES.get(words[0], "any")
        if maybe:
            with code.block(f"if {var} is not None:"):
                odd_unless(code, cls, var)
                code(f"clean({var})" if cls == "dict" else "pass")
        else:
            odd_unless(code, cls, var)
            if cls == "any":
                code(f"if {var} is None: raise ODD")
            if cls == "dict":
                code(f"clean({var})")
        self.env[h.path] = Val(var, cls, maybe)

    def itself(self, h: Hole, var: str) -> None:
        """Read a hole that is made of the object's own fields, by its usual case."""
        case = self.dialect.cases_of(h.shape or "")[0][1]
        inner = Reading(self.code, case, self.dialect)
        if not isinstance(case.wire, Fields):
            raise Cannot
        inner.fields(case.wire, var)
        if inner.lists:
            raise Cannot
        self.own.update(inner.build(None))

    def build(self, shape: Shape | None) -> dict[str, Sym]:
        """Return the IR object of what was read."""
        obj: dict[str, Sym] = {}
        if shape is not None and shape.kind is not None:
            obj["type"] = Const(shape.kind)
        env = dict(self.env)
        if self.case.ir is not None:
            made = _made(self.case.ir, env)
            if not isinstance(made, dict):
                raise Cannot
            obj.update(made)
        for path, value in env.items():
            if "." in path:
                raise Cannot
            obj[path] = value
        obj.update(self.own)
        return obj


def _all_marked(p: Fields) -> bool:
    if p.spread:
        return all(h.mark for h in p.spread)
    return all(
        (isinstance(c, Hole) and c.mark not in (None, "made"))
        or (isinstance(c, Fields) and _all_marked(c))
        or isinstance(c, Literal)
        for _, c in p.entries
    ) and not all(isinstance(c, Literal) for _, c in p.entries)


def _made(ir: Picture, env: dict[str, Sym]) -> Sym:
    if isinstance(ir, Literal):
        return Const(ir.values[0])
    if isinstance(ir, Hole):
        if ir.path not in env:
            raise Cannot
        return env.pop(ir.path)
    if isinstance(ir, Text):
        pieces = [repr(ir.fixed[0])] if ir.fixed[0] else []
        for name, fixed in zip(ir.names, ir.fixed[1:], strict=True):
            pieces.append(env.pop(name).code)
            if fixed:
                pieces.append(repr(fixed))
        return Val("(" + " + ".join(pieces) + ")", "str")
    if isinstance(ir, Fields):
        found = {}
        for (name, *_), child in ir.entries:
            if isinstance(child, Condition):
                raise Cannot
            made = _made(child, env)
            if not (isinstance(made, Const) and made.value is ABSENT):
                found[name] = made
        return found
    raise Cannot


# -- writing --------------------------------------------------------------------------------------


class Writing:
    """Writes one case's picture out of symbols: an expression, and code before it."""

    def __init__(
        self, code: Code, dialect: Dialect, shape: str, obj: dict[str, Sym], limit: Limit
    ) -> None:
        self.code, self.dialect, self.shape, self.obj = code, dialect, shape, obj
        self.limit = limit
        self.names: dict[str, tuple[Sym, str]] = {}
        self.claims: set[str] = set()
        self.needs: list[str] = []  # conditions for this case to be the one
        self.wire: dict[str, Sym] = {}  # what stands at each wire path

    def look(self, path: str) -> Sym:
        """Return the symbol at a path, or None."""
        if path in self.names:
            return self.names[path][0]
        value: Sym = self.obj
        for key in path.split("."):
            if not isinstance(value, dict) or key not in value:
                return None
            value = value[key]
        return value

    def claim(self, path: str) -> None:
        """Say that the picture took a path."""
        self.claims.add(self.names[path][1] if path in self.names else path)

    def match(self, ir: Picture, value: Sym, path: str) -> None:
        """Match the `ir` picture; raises NoFit when it never fits."""
        if isinstance(ir, Literal):
            if ir.values[0] is ABSENT:
                if value is not None:
                    if isinstance(value, Val) and value.maybe:
                        self.needs.append(f"{value.code} is None")
                        return
                    raise NoFit
                return
            if isinstance(value, Const):
                if value.value not in ir.values:
                    raise NoFit
                self.claims.add(path)
            elif value is None:
                raise NoFit
            else:
                if len(ir.values) != 1 or not isinstance(ir.values[0], str):
                    raise Cannot
                self.needs.append(f"{value.code} == {ir.values[0]!r}")
                self.claims.add(path)
        elif isinstance(ir, Hole):
            if value is None:
                if ir.mark is None:
                    raise NoFit
                return
            self.names[ir.path] = (value, path)
        elif isinstance(ir, Text):
            if not isinstance(value, Val) or value.cls != "str" or value.maybe:
                raise Cannot
            if len(ir.names) != 1 or ir.fixed[1]:
                raise Cannot
            self.needs.append(f"{value.code}.startswith({ir.fixed[0]!r})")
            cut = f"{value.code}[{len(ir.fixed[0])}:]"
            self.names[ir.names[0]] = (Val(cut, "str"), path)
        elif isinstance(ir, Fields):
            if not isinstance(value, dict):
                raise NoFit
            for (name, *_), child in ir.entries:
                self.match(child, value.get(name), f"{path}.{name}" if path else name)
        else:
            raise Cannot

    def fields(self, p: Fields, path: str = "") -> str:
        """Write an object; returns the expression or the variable that holds it."""
        items: list[str] = []
        later: list[tuple[str, str, str]] = []
        for (key, *_), child in p.entries:
            here = f"{path}/{key}"
            found = self.picture(child, here)
            if found is None:
                continue
            expression, unless = found
            if unless is None:
                items.append(f"{key!r}: {expression}")
                self.wire.setdefault(here, Const(None))
            else:
                later.append((key, expression, unless))
        for hole in p.spread:
            if hole.shape is not None or p.entries or later:
                raise Cannot
            value = self.look(hole.path)
            if not isinstance(value, Val) or value.cls != "dict" or value.maybe:
                raise NoFit
            self.claim(hole.path)
            self.wire[path] = value
            return value.code
        body = "{" + ", ".join(items) + "}"
        if not later:
            return body
        out = self.code.name("w")
        self.code(f"{out} = {body}")
        for key, expression, unless in later:
            self.code(f"if {unless} is not None: {out}[{key!r}] = {expression}")
        return out

    def picture(self, p: Picture, path: str) -> tuple[str, str | None] | None:
        """Write a picture: (expression, variable that may be None), or None for nothing."""
        if isinstance(p, Literal):
            if p.values[0] is ABSENT:
                return None
            self.wire[path] = Const(p.values[0])
            return repr(p.values[0]), None
        if isinstance(p, Text):
            return self.text(p, path), None
        if isinstance(p, Hole):
            return self.hole(p, path)
        if isinstance(p, Fields):
            if _all_marked(p) and not any(self._there(c) for _, c in p.entries):
                return None
            return self.fields(p, path), None
        raise Cannot

    def _there(self, p: Picture) -> bool:
        if isinstance(p, Hole):
            return self.look(p.path) is not None
        if isinstance(p, Fields):
            return any(self._there(c) for _, c in p.entries)
        return False

    def text(self, p: Text, path: str) -> str:
        """Write a text picture and the check that it reads back as the same."""
        values = [self.look(name) for name in p.names]
        if not all(isinstance(v, Val) and v.cls == "str" and not v.maybe for v in values):
            raise NoFit
        pieces = [repr(p.fixed[0])] if p.fixed[0] else []
        for i, (value, fixed) in enumerate(zip(values, p.fixed[1:], strict=True)):
            pieces.append(value.code)
            if fixed:
                pieces.append(repr(fixed))
            if fixed and i < len(values) - 1:
                mark = repr(fixed)
                self.code(
                    f"if ({value.code} + {mark}).find({mark}) != len({value.code}): raise ODD"
                )
        for name in p.names:
            self.claim(name)
        self.wire[path] = Const(p)
        return " + ".join(pieces)

    def hole(self, h: Hole, path: str) -> tuple[str, str | None] | None:
        """Write one hole."""
        if h.path == "." and h.shape is not None and h.mark is None:
            return self.itself(h, path), None
        if len(h.paths) > 1 or h.path in (".", "nth"):
            raise Cannot
        value = None if h.path.startswith("own.") else self.look(h.path)
        if value is None:
            if h.mark in ("optional", "old", "made", "copy"):
                return None
            if h.mark == "default":
                return repr(h.value), None
            raise NoFit if h.mark is None else Cannot
        if h.mark == "old":
            return None
        if h.mode is not None:
            raise Cannot
        if isinstance(value, Const):
            self.claim(h.path)
            self.wire[path] = value
            return repr(value.value), None
        if isinstance(value, dict):
            raise Cannot
        if value.maybe and h.mark is None:
            self.code(f"if {value.code} is None: raise ODD")
            value = Val(value.code, value.cls, text=value.text, plain=value.plain)
        expression, cls = value.code, value.cls
        json_text = False
        for lens in h.lenses:
            if is_guard(lens):
                wanted = {CLASSES.get(word, "any") for word in lens.split("+")}
                if cls not in wanted and not ("number" in wanted and cls == "int"):
                    if cls != "any":
                        raise NoFit
                    raise Cannot
            elif lens == "json":
                json_text = True
                expression = value.text or f"stringify({expression})"
                cls = "str"
            elif lens == "plain":
                if cls != "str":
                    raise NoFit
            elif lens in self.dialect.schemas:
                schema = self.code.const(self.dialect.schemas[lens], "SCHEMA")
                fits = f"{schema}.fits({expression})"
                self.needs.append(f"({expression} is None or {fits})" if value.maybe else fits)
            elif lens in self.dialect.tables and cls == "str" and not value.maybe:
                table = self.code.const(self.dialect.tables[lens].to_wire, "WORDS")
                word = self.code.name()
                self.code(f"{word} = {table}[{expression}]")
                expression = word
            else:
                raise Cannot
        if not h.lenses:
            wanted_cls = CLASSES.get(field_type(self.shape, h.path), "any")
            if wanted_cls not in (cls, "any") and not (wanted_cls == "number" and cls == "int"):
                if cls != "any":
                    raise NoFit
                raise Cannot
        if field_type(self.shape, h.path) == "opaque":
            raise Cannot
        source = self.names[h.path][1] if h.path in self.names else h.path
        self.limit(self.code, self.obj, source, value)
        self.claim(h.path)
        self.wire[path] = Val(expression, cls, value.maybe, plain=value.plain or json_text)
        return expression, value.code if value.maybe else None


    def itself(self, h: Hole, path: str) -> str:
        """Write a hole that is made of the object's own fields."""
        for _, case in self.dialect.cases_of(h.shape or ""):
            inner = Writing(self.code, self.dialect, self.shape, self.obj, self.limit)
            try:
                if case.ir is not None:
                    inner.match(case.ir, self.obj, "")
                if not isinstance(case.wire, Fields):
                    raise Cannot
                if inner.needs:
                    self.code(f"if not ({' and '.join(inner.needs)}): raise ODD")
                expression = inner.fields(case.wire, path)
            except NoFit:
                continue
            self.claims |= inner.claims
            self.wire.update(inner.wire)
            return expression
        raise NoFit


Limit = Callable[[Code, dict[str, Any], str, Val], None]


def write(
    code: Code,
    dialect: Dialect,
    name: str,
    obj: dict[str, Sym],
    limit: Limit,
    done: Callable[[Code, str], None],
) -> None:
    """Write an IR object by a shape or union; `done` takes the expression.

    Cases that only a run-time condition tells apart become if and else. Raises Cannot.
    """
    for member in dialect.unions.get(name, [name]):
        shape = dialect.shapes[member]
        if shape.gathers:
            continue
        if _kind(shape, obj) and _cases(code, dialect, shape, shape.cases, obj, limit, done):
            return
    raise Cannot


def _kind(shape: Shape, obj: dict[str, Sym]) -> bool:
    kind = obj.get("type")
    value = kind.value if isinstance(kind, Const) else None
    if shape.kind is not None:
        return bool(shape.kind == value)
    return not any(
        isinstance(c.sides[0].get("/type"), tuple) and value not in c.sides[0]["/type"]
        for c in shape.cases
    )


def _cases(
    code: Code,
    dialect: Dialect,
    shape: Shape,
    cases: list[Case],
    obj: dict[str, Sym],
    limit: Limit,
    done: Callable[[Code, str], None],
) -> bool:
    for i, case in enumerate(cases):
        piece = code.fork()
        writing = Writing(piece, dialect, shape.name, obj, limit)
        try:
            if case.ir is not None:
                writing.match(case.ir, obj, "")
            elif shape.kind is None and "type" in obj:
                continue
            if not isinstance(case.wire, Fields):
                raise Cannot
            if case.note is not None:
                raise NoFit
            expression = writing.fields(case.wire)
        except NoFit:
            continue
        for rival in shape.cases:
            if rival is case:
                break
            condition = _rival(rival.wire, "", writing.wire)
            if condition is None:
                raise Cannot
            if condition:
                piece(f"if {condition}: raise ODD")
        _leftover(piece, obj, "", writing.claims)
        if not writing.needs:
            code.join(piece)
            done(code, expression)
            return True
        with code.block(f"if {' and '.join(writing.needs)}:"):
            code.lines.extend("    " + line for line in piece.lines)
            done(code, expression)
        with code.block("else:"):
            if not _cases(code, dialect, shape, cases[i + 1 :], obj, limit, done):
                code("raise ODD")
        return True
    return False


def _leftover(code: Code, obj: dict[str, Sym], path: str, claims: set[str]) -> None:
    for key, value in obj.items():
        here = f"{path}.{key}" if path else key
        if here in claims or (key in DERIVED and not path) or key == "type":
            continue
        if isinstance(value, dict):
            _leftover(code, value, here, claims)
        elif isinstance(value, Val):
            if value.derived:
                continue
            if not value.maybe:
                raise Cannot
            code(f"if {value.code} is not None: raise ODD")
        elif value.value is not ABSENT:
            raise Cannot


def _rival(p: Picture, path: str, wire: dict[str, Sym]) -> str | None:
    """Return a condition without which a rival cannot read what is written.

    "" says that it never can, None that nothing is known.
    """
    found: list[str] = []

    def walk(p: Picture, path: str) -> bool:
        """Return True when the rival is ruled out."""
        here = wire.get(path)
        inside = any(k.startswith(f"{path}/") for k in wire)
        if isinstance(p, Literal):
            if p.values == (ABSENT,):
                return (here is not None or inside) and not (isinstance(here, Val) and here.maybe)
            if here is None:
                return ABSENT not in p.values
            if isinstance(here, Const) and not isinstance(here.value, Text):
                return here.value not in p.values
            if isinstance(here, Val) and isinstance(p.values[0], str) and len(p.values) == 1:
                found.append(f"{here.code} == {p.values[0]!r}")
            return False
        if isinstance(p, Text):
            if isinstance(here, Val) and here.cls == "str":
                found.append(f"{here.code}.startswith({p.fixed[0]!r})")
            return here is None
        if isinstance(p, Fields):
            if _all_marked(p) and not p.closed:
                return False
            if isinstance(here, Val):
                if here.cls not in ("dict", "any"):
                    return True
                needed = [n[0] for n, c in p.entries if _needed(c)]
                if needed:
                    size = f"len({here.code}) == {len(p.entries)} and " if p.closed else ""
                    found.append(f"{size}{needed[0]!r} in {here.code}")
                return False
            if here is None and not inside:
                return True
            return any(walk(c, f"{path}/{names[0]}") for names, c in p.entries)
        if isinstance(p, Hole) and p.mark is None and p.path not in (".", "nth"):
            if here is None:
                return not inside
            if isinstance(here, Val):
                words = {
                    CLASSES.get(w, "any") for g in p.lenses if is_guard(g) for w in g.split("+")
                }
                if "json" in p.lenses:
                    if here.cls != "str" or here.plain:
                        return True
                    found.append(f"{here.code}.lstrip()[:1] in JSON_STARTS")
                elif p.mode == "each":
                    return here.cls != "list"
                elif words and here.cls not in words and here.cls != "any":
                    return True
        return False

    if walk(p, path):
        return ""
    return " and ".join(found) if found else None


def _needed(p: Picture) -> bool:
    if isinstance(p, Literal):
        return ABSENT not in p.values
    if isinstance(p, Hole):
        return p.mark is None
    return isinstance(p, Text) or (isinstance(p, Fields) and not _all_marked(p))
