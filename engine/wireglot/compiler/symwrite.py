"""Writing while compiling: symbols become the code of what a picture of the target puts there.

A case that never fits raises NoFit; one that only a run-time condition decides becomes an `if`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir import DERIVED, OPAQUE, field_type
from ..language.lenses import is_guard
from ..language.model import Case, Dialect, Shape
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture, Text
from ..language.source import Pos
from . import schemacode
from .symbols import CLASSES, Cannot, Code, Const, NoFit, Sym, Val, all_marked, needed


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
                if name in OPAQUE:
                    raise Cannot
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
            if "home" in hole.lenses:
                raise NoFit
            if "refless" in hole.lenses:
                text = (
                    f"('$ref' in {value.text} or '\\\\' in {value.text}) and " if value.text else ""
                )
                self.code(f"if {text}not refless({value.code}): raise ODD")
            if value.raw:
                self.code(f"clean({value.code})")
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
            if all_marked(p) and not any(self._there(c) for _, c in p.entries):
                return None
            return self.fields(p, path), None
        raise Cannot

    def _there(self, p: Picture) -> bool:
        if isinstance(p, Hole):
            return p.mark in ("default", "fill") or self.look(p.path) is not None
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
            if h.mark in ("optional", "refused", "read-only", "made", "copy"):
                return None
            if h.mark == "default":
                return repr(h.value), None
            raise NoFit if h.mark is None else Cannot
        if h.dated:
            return None
        if h.mark == "optional" and field_type(self.shape, h.path) == "opaque":
            return None  # another dialect cannot read it
        if h.mode is not None:
            raise Cannot
        if isinstance(value, Const):
            self.claim(h.path)
            self.wire[path] = value
            return repr(value.value), None
        if isinstance(value, dict):
            raise Cannot
        filled_in = h.mark == "fill" and h.value is not None  # which is noted
        if value.maybe and (h.mark is None or filled_in):
            self.code(f"if {value.code} is None: raise ODD")
            value = Val(value.code, value.cls, text=value.text, plain=value.plain, raw=value.raw)
        if value.maybe and h.mark in ("default", "fill"):
            if any(not is_guard(lens) for lens in h.lenses) or value.raw:
                raise Cannot
            filled = self.code.name()
            self.code(f"{filled} = {h.value!r} if {value.code} is None else {value.code}")
            value = Val(filled, value.cls, plain=value.plain)
        expression, cls = value.code, value.cls
        json_text, sure = False, None
        for lens in h.lenses:
            if is_guard(lens):
                wanted = {CLASSES.get(word, "any") for word in lens.split("+")}
                if cls not in wanted and not ("number" in wanted and cls == "int"):
                    if cls != "any":
                        raise NoFit
                    raise Cannot
            elif lens == "json" and not json_text:
                json_text = True
                expression = value.text or f"stringify({expression})"
                cls = "str"
            elif lens == "plain":
                if cls != "str":
                    raise NoFit
            elif lens in self.dialect.schemas:
                schema = self.code.const(self.dialect.schemas[lens], "SCHEMA")
                fits = f"{schema}.fits({expression})"
                takes = schemacode.taker(self.code, self.dialect.schemas[lens])
                if takes is not None:
                    sure = self.code.name("sure")
                    fits = f"(({sure} := {takes}({expression})) or {fits})"
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
        if value.raw and not json_text:
            unless = f"if {value.code} is not None: " if value.maybe else ""
            if sure is not None:
                unless = unless[:-2] + f" and not {sure}: " if unless else f"if not {sure}: "
            self.code(f"{unless}clean({value.code})")
        source = self.names[h.path][1] if h.path in self.names else h.path
        if expression != value.code and source in ("name", "id", "tool_call_id"):
            raise Cannot  # limits are for what is written
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
Lose = Callable[[Code, dict[str, Any], str, Val, Pos, dict[str, str]], None]


def write(
    code: Code,
    dialect: Dialect,
    name: str,
    obj: dict[str, Sym],
    limit: Limit,
    lose: Lose,
    done: Callable[[Code, str], None],
) -> None:
    """Write an IR object by a shape or union; `done` takes the expression.

    Cases that only a run-time condition tells apart become if and else. Raises Cannot.
    """
    for member in dialect.unions.get(name, [name]):
        shape = dialect.shapes[member]
        if shape.groups:
            continue
        if _kind(shape, obj) and _cases(code, dialect, shape, shape.cases, obj, limit, lose, done):
            return
    raise Cannot


def _kind(shape: Shape, obj: dict[str, Sym]) -> bool:
    kind = obj.get("type")
    value = kind.value if isinstance(kind, Const) else None
    if shape.kind is not None:
        return bool(shape.kind == value)
    types = [c.sides[0].get("/type") for c in shape.cases]
    return any(not isinstance(words, tuple) or value in words for words in types)


def _cases(
    code: Code,
    dialect: Dialect,
    shape: Shape,
    cases: list[Case],
    obj: dict[str, Sym],
    limit: Limit,
    lose: Lose,
    done: Callable[[Code, str], None],
) -> bool:
    for i, case in enumerate(cases):
        if case.home:
            continue
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
            line = f"if {condition}: raise ODD"
            if condition and "    " * piece.depth + line not in piece.lines:
                piece(line)
        _leftover(piece, obj, "", writing.claims, case, lose)
        for keys in obj["spare"].value if "spare" in obj else ():
            keys.belongs(case.pos, dialect.family)
        if not writing.needs:
            code.join(piece)
            done(code, expression)
            return True
        with code.block(f"if {' and '.join(writing.needs)}:"):
            code.lines.extend("    " + line for line in piece.lines)
            done(code, expression)
        with code.block("else:"):
            if not _cases(code, dialect, shape, cases[i + 1 :], obj, limit, lose, done):
                code("raise ODD")
        return True
    return False


def _leftover(
    code: Code, obj: dict[str, Sym], path: str, claims: set[str], case: Case, lose: Lose
) -> None:
    for key, value in obj.items():
        here = f"{path}.{key}" if path else key
        if here in claims or (key in (*DERIVED, "spare") and not path) or key == "type":
            continue
        if isinstance(value, dict):
            _leftover(code, value, here, claims, case, lose)
        elif isinstance(value, Val):
            if value.derived:
                continue
            if not value.maybe and here not in case.drop:
                raise Cannot
            lose(code, obj, here, value, case.pos, case.drop)
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
            if all_marked(p) and not p.closed:
                return False
            if isinstance(here, Val):
                if here.cls not in ("dict", "any"):
                    return True
                wanted = [n[0] for n, c in p.entries if needed(c)]
                if wanted:
                    size = f"len({here.code}) == {len(p.entries)} and " if p.closed else ""
                    found.append(f"{size}{wanted[0]!r} in {here.code}")
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
