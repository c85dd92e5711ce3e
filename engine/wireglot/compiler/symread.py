"""Reading while compiling: a picture of the source becomes code, and symbols for what it finds.

What cannot be decided here raises Cannot; what is unusual raises ODD when the code runs.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..ir import field_type
from ..language.lenses import is_guard
from ..language.model import Case, Dialect, Shape
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture, Text, holes
from ..language.picture import Test as Condition
from .symbols import CLASSES, Cannot, Code, Const, Spare, Sym, Val, all_marked, odd_unless

WHOLE = frozenset((".", "nth", "run"))  # paths that bind no field
MADE = frozenset(("id", "tool_call_id"))  # a call or result without one is left to the hooks


class Reading:
    """Reads one case's picture into symbols."""

    def __init__(
        self,
        code: Code,
        case: Case,
        dialect: Dialect,
        known: str | None = None,
        place: str | None = None,
        strict: bool = False,
    ) -> None:
        """Begin with nothing read.

        `known` is the key that was looked at already, `place` the code of where the object stands.
        `strict` leaves what has another spelling than the dialect itself would write.
        """
        self.code, self.case, self.dialect, self.known = code, case, dialect, known
        self.place, self.strict = place, strict
        self.spares: list[Spare] = []
        self.own: dict[str, Sym] = {}  # what `$.` holes found
        self.env: dict[str, Sym] = {}
        self.lists: list[tuple[Hole, str]] = []
        self.keys: dict[Hole, str] = {}  # where the lists stand

    def fields(self, p: Fields, var: str, checked: bool = False, place: str | None = None) -> None:
        """Read an object: required keys by subscript, the rest only if its size says so."""
        code = self.code
        place = place or self.place
        if not checked:
            code(f"if {var}.__class__ is not dict: raise ODD")
        if p.spread:
            if len(p.spread) > 1 or p.spread[0].shape is not None or p.entries or p.closed:
                raise Cannot
            self.env[p.spread[0].path] = Val(var, "dict", raw=True)
            return
        need: list[tuple[str, Picture]] = []
        may: list[tuple[str, Hole]] = []
        for (key, *_), child in p.entries:
            if isinstance(child, Literal):
                if child.values[0] is not ABSENT:
                    need.append((key, child))
            elif isinstance(child, Hole):
                wanted = child.dated and child.path in MADE
                if child.mark in (None, "made", "default") or wanted:
                    need.append((key, child))
                elif (
                    not child.path.startswith("own.")
                    and child.mode != "as"
                    and not (child.mode == "each" and child.dated)
                ):
                    may.append((key, child))
                elif self.strict and child.mark not in ("optional", "refused", "read-only"):
                    raise Cannot  # that nothing stands there is remembered
            elif isinstance(child, Fields) and all_marked(child):
                if any(h.mark in ("default", "made") for h in holes(child)):
                    raise Cannot  # where nothing stands, there is a field
                if self.strict and any(h.mark == "fill" for h in holes(child)):
                    raise Cannot
                continue
            else:
                need.append((key, child))
        paths = Counter(c.path for _, c in p.entries if isinstance(c, Hole) and c.mode != "each")
        if any(times > 1 and path not in WHOLE for path, times in paths.items()):
            raise Cannot  # the last one counts, and `may` is read behind `need`
        names = {key: code.name() for key, _ in may}
        count = str(len(need))
        odd = self._spare(p, {k for k, _ in [*need, *may]}, var, place)
        if may:
            lists = any(h.mode == "each" for _, h in may)
            full = "".join(
                f" + ({key!r} in {var})" if h.mark == "fill" else f" + ({names[key]} is not None)"
                for key, h in may
            )
            for key, h in may if self.strict else ():
                if h.mark == "fill":
                    code(f"if {key!r} not in {var}: raise ODD")
            if lists:
                for key, _ in may:
                    code(f"{names[key]} = {var}.get({key!r})")
                code(f"if len({var}) != {count}{full}: {odd}")
            else:
                code(" = ".join(names.values()) + " = None")
                with code.block(f"if len({var}) != {count}:"):
                    for key, _ in may:
                        code(f"{names[key]} = {var}.get({key!r})")
                    code(f"if len({var}) != {count}{full}: {odd}")
        else:
            code(f"if len({var}) != {count}: {odd}")
        for key, child in need:
            if key == self.known and isinstance(child, Literal):
                continue
            if isinstance(child, Literal):
                value = child.values[0]
                if not isinstance(value, str):
                    raise Cannot
                code(f"if {var}[{key!r}] != {value!r}: raise ODD")
                continue
            found = code.name()
            code(f"{found} = {var}[{key!r}]")
            self.picture(child, found, place and f"{place}, {key!r}", key)
        for key, hole in may:
            self.hole(hole, names[key], maybe=True, place=place and f"{place}, {key!r}", key=key)

    def _spare(self, p: Fields, known: set[str], var: str, place: str | None) -> str:
        """Return the code for an object that holds more than its picture's usual keys."""
        if place is None or p.closed:
            return "raise ODD"
        keys = Spare(self.dialect.name, self.dialect.family, frozenset(known))
        own: set[str] = set()
        for (key, *_), child in p.entries:
            if isinstance(child, Literal) and ABSENT in child.values:
                keys.words[key] = tuple(v for v in child.values if v is not ABSENT)
            elif isinstance(child, Hole) and child.path == f"own.{key}" and not child.lenses:
                own.add(key)
        # A key that any picture names may be what tells another case, or stand for a field.
        keys.own = frozenset(own) - self.dialect.telling
        keys.named = self.dialect.keys - known - keys.own
        self.spares.append(keys)
        return f"lost += spare({var}, {self.code.const(keys, 'SPARE')}, {place})"

    def picture(self, p: Picture, var: str, place: str | None = None, key: str = "") -> None:
        """Read one required picture."""
        if isinstance(p, Hole):
            self.hole(p, var, place=place, key=key)
        elif isinstance(p, Fields):
            self.fields(p, var, place=place)
        elif isinstance(p, Text):
            odd_unless(self.code, "str", var)
            found = self.code.name()
            self.code(f"{found} = {self.code.const(p, 'SAID')}.read({var})")
            self.code(f"if {found} is None: raise ODD")
            said = f"{found}[{p.names.index('media_type')}]" if "media_type" in p.names else var
            if self.dialect.media_types:
                types = self.code.const(frozenset(self.dialect.media_types), "TYPES")
                self.code(f"if {said} in {types}: raise ODD")
            for i, name in enumerate(p.names):
                self.env[name] = Val(f"{found}[{i}]", "str")
        else:
            raise Cannot

    def hole(
        self, h: Hole, var: str, maybe: bool = False, place: str | None = None, key: str = ""
    ) -> None:
        """Read one hole, the value of `key`."""
        code = self.code
        if self.strict and not self._plainly(h, var, maybe):
            return
        if h.path == "." and h.shape is not None and not maybe:
            self.itself(h, var, place)
            return
        if len(h.paths) > 1 or h.path in (".", "nth") or h.mode in ("as", "entries"):
            raise Cannot
        if h.path.startswith("own."):
            raise Cannot
        if h.mode == "each":
            self.lists.append((h, var))
            self.keys[h] = key
            return
        lenses = [lens for lens in h.lenses if lens != "plain"]
        if "json" in lenses:
            others = [lens for lens in lenses if not is_guard(lens)]
            if not h.path.endswith("arguments") or maybe or others != ["json"]:
                raise Cannot
            odd_unless(code, "str", var)
            value = code.name()
            code(f"{value} = loads({var})")
            code(f"if {value}.__class__ is not dict: raise ODD")
            self.env[h.path] = Val(value, "dict", text=var)
            return
        tables = [lens for lens in lenses if lens in self.dialect.tables]
        if tables and len(lenses) == 1 and not maybe:
            code(f"if {var}.__class__ is not str: raise ODD")
            word = code.name()
            code(f"{word} = {code.const(self._words(tables[0]), 'WORDS')}[{var}]")
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
        stands = self.dialect.signatures.placeholder
        if stands is not None and h.path == "signature":
            code(f"if {var} == {code.const(stands, 'STANDS')}: raise ODD")
        if maybe:
            with code.block(f"if {var} is not None:"):
                odd_unless(code, cls, var)
                code("pass")
        else:
            # The id of a result is checked by looking its call up.
            if h.path != "tool_call_id":
                odd_unless(code, cls, var)
            if cls == "any":
                code(f"if {var} is None: raise ODD")
        self.env[h.path] = Val(var, cls, maybe, raw=cls == "dict", place=place)

    def _plainly(self, h: Hole, var: str, maybe: bool) -> bool:
        """Leave what a hole would remember; False where nothing of it can be read here."""
        if h.dated:
            if not maybe:
                raise Cannot
            self.code(f"if {var} is not None: raise ODD")
            return False
        if maybe and h.mark == "fill" and h.value is not None:
            self.code(f"if {var} is None: raise ODD")
        return True

    def _words(self, name: str) -> dict[str, Any]:
        """Return the words that are read through a table; of one table it is one constant."""
        table = self.dialect.tables[name]
        known: dict[str, Any] = table.to_ir
        if not self.strict:
            return known
        return {word: ir for word, ir in known.items() if table.to_wire.get(ir) == word}

    def itself(self, h: Hole, var: str, place: str | None) -> None:
        """Read a hole that is made of the object's own fields, by its usual case."""
        case = self.dialect.cases_of(h.shape or "")[0][1]
        inner = Reading(self.code, case, self.dialect, strict=self.strict)
        if not isinstance(case.wire, Fields):
            raise Cannot
        inner.fields(case.wire, var, place=place)
        self.spares += inner.spares
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
        if self.spares:
            obj["spare"] = Const(self.spares)
        return obj


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
