"""Reading: a wire payload through the pictures of its dialect into the IR.

This is half of the interpreter, the executable meaning of the language. Reading never raises but
Misfit (inside) and ConversionError (to the caller).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import picture as pic
from .errors import ConversionError
from .ir import field_type
from .lenses import Misfit, guard, is_guard, not_an_object, parse_json, same, stringify
from .picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text
from .rulefile import Case, Dialect, Shape
from .trail import At, Trail, path_of, pointer

MAX_DEPTH = 200


class Env:
    """What a picture found: IR fields, keys that nobody named, and memory of spelling."""

    __slots__ = (
        "base",
        "case",
        "fields",
        "kept",
        "lenient",
        "later",
        "notes",
        "settled",
        "spelled",
        "sums",
    )

    def __init__(self, base: At, case: Case, lenient: bool) -> None:
        self.base, self.case, self.lenient = base, case, lenient
        self.fields: dict[str, tuple[Any, At | None]] = {}
        self.kept: dict[str, Any] = {}
        self.spelled: dict[str, Any] = {}
        self.notes: list[tuple[str, str, At, Any, str]] = []
        self.later: list[tuple[Hole, Any, At, At, bool]] = []
        self.sums: list[tuple[Hole, Any, At, At]] = []
        self.settled: set[str] = set()  # terms of sums that an earlier sum has settled

    def put(self, path: str, value: Any, at: At | None) -> None:
        """Bind a field; several list holes of one path add up."""
        if path in self.fields and isinstance(value, list):
            self.fields[path] = (self.fields[path][0] + value, self.fields[path][1])
        else:
            self.fields[path] = (value, at)

    def spell(self, rel: At, was: Any, written: Any) -> None:
        """Remember that `was` stood where writing would put `written`."""
        entry = self.spelled.setdefault(pointer(rel), {})
        if was is not ABSENT:
            entry["as"] = was
        if written is not ABSENT:
            entry["for"] = written

    def join(self, inner: Env) -> None:
        """Take over what an inner picture of the same object found."""
        self.kept.update(inner.kept)
        for key, entry in inner.spelled.items():
            self.spelled.setdefault(key, {}).update(entry)
        self.notes.extend(inner.notes)


class Reader:
    """Reads one payload. `notes` collects (code, effect, at, rule, message)."""

    def __init__(self, dialect: Dialect, options: dict[str, Any], probe: bool = False) -> None:
        self.dialect, self.options = dialect, options
        self.probe = probe  # reads only to see what a written value means: no memory
        self.trail = Trail()
        self.notes: list[tuple[str, str, At, Any, str]] = []
        self.depth = 0
        self.drops: dict[str, str] = {}  # paths on the wire that the unit gives up, and why

    # -- shapes -------------------------------------------------------------------------------

    def shape(self, name: str, wire: Any, at: At, lenient: bool = False) -> Any:
        """Read one node by the first case that fits; raises the deepest Misfit."""
        return self.first(self.dialect.cases_of(name), wire, at, lenient)

    def first(self, cases: Iterable[tuple[Shape, Case]], wire: Any, at: At, lenient: bool) -> Any:
        """Read one node by the first of some cases that fits."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.depth = 0
            raise ConversionError("the payload is nested too deep", pointer(at))
        best: Misfit | None = None
        mark = len(self.notes)
        for shape, case in cases:
            if shape.gathers:
                continue
            try:
                env = self.case(case, wire, at, lenient)
                value = self.build(shape, case, env, at)
                if wire == {} and isinstance(value, dict) and not self.probe:
                    memory = self.memory(value)
                    memory[""] = {**memory.get("", {}), "empty": True}
                self.depth -= 1
                return value
            except Misfit as misfit:
                del self.notes[mark:]
                if best is None or len(misfit.at) > len(best.at):
                    best = misfit
        self.depth -= 1
        raise best or Misfit("nothing fits", at)

    def case(self, case: Case, wire: Any, at: At, lenient: bool, outer: Env | None = None) -> Env:
        """Match one case's picture; `outer` shares its base when the object is the same."""
        env = Env(outer.base if outer else at, case, lenient)
        rel = at[len(env.base) :]
        self.picture(case.wire, wire, at, rel, env, top=True)
        self.finish(env)
        return env

    def finish(self, env: Env) -> None:
        """Solve the sums, then read the holes that need what their neighbours found."""
        unsolved = [s for s in env.sums if not self.solve(*s, env)]
        for hole, wire, at, rel in unsolved:
            self._no_sum(hole, wire, at, rel, env)
        for hole, wire, at, rel, spread in env.later:
            self.itself(hole, wire, at, rel, env, spread)

    def build(self, shape: Shape, case: Case, env: Env, at: At) -> Any:
        """Make the IR value of a case out of what its picture found."""
        made: Any = {} if shape.kind is None else {"type": shape.kind}
        self._tests(case, env.fields, env)
        self.fill(made, case.ir, env)
        if isinstance(made.get(""), tuple):
            return made[""][0]
        if "parts" in case.lists:
            made.setdefault("parts", [])
        self.attach(made, env)
        if case.doubles and case.name and not self.probe and self._chosen(shape, made) is not case:
            self.memory(made)[""] = {**self.memory(made).get("", {}), "case": case.name}
        self.trail.put(made, None, at)
        return made

    def _chosen(self, shape: Shape, made: Any) -> Case | None:
        from .writer import Writer

        probe = Writer(self.dialect, False, Trail(), self.options)
        try:
            return probe.choose(shape, {k: v for k, v in made.items() if k != "spelled"})
        except Misfit:
            return None

    def fill(self, made: dict[str, Any], ir: Picture | None, env: Env) -> None:
        """Put the fields that were found into an IR object, through its `ir` picture if any."""
        fields = dict(env.fields)
        if ir is not None:
            value = self._made(ir, fields, env)
            if not isinstance(ir, Fields):
                made[""] = (value,)
                return
            for key, (inner, at) in value.items():
                self.place(made, key, inner, at)
        for path, (value, at) in fields.items():
            self.place(made, path, value, at)

    def _made(self, ir: Picture, fields: dict[str, Any], env: Env) -> Any:
        if isinstance(ir, Literal):
            return ir.values[0]
        if isinstance(ir, Hole):
            return fields.pop(ir.path, (ABSENT, None))[0]
        if isinstance(ir, Text):
            values = [fields.pop(n, ("", None))[0] for n in ir.names]
            return ir.write(tuple(values))
        assert isinstance(ir, Fields)
        out: dict[str, Any] = {}
        for (name, *_), child in ir.entries:
            at = None
            if isinstance(child, pic.Test):
                continue
            if isinstance(child, Hole):
                at = fields.get(child.path, (None, None))[1]
            elif isinstance(child, Literal) and child.values[0] is ABSENT:
                continue
            value = self._made(child, fields, env)
            if isinstance(child, Fields):
                inner: dict[str, Any] = {}
                for key, (leaf, leaf_at) in value.items():
                    self.place(inner, key, leaf, leaf_at)
                value = inner
            if value is not ABSENT:
                out[name] = (value, at)
        return out

    def _test(self, test: pic.Test, name: str, seen: dict[str, Any], env: Env) -> None:
        value = seen.get(name, (ABSENT, None))[0]
        if test.word == "present" and value is ABSENT:
            raise Misfit(f"`{name}` is missing", env.base, test.pos)
        if test.word == "has" and not any(
            isinstance(p, dict) and p.get("type") == test.kind
            for p in (value if isinstance(value, list) else ())
        ):
            raise Misfit(f"`{name}` holds no {test.kind}", env.base, test.pos)

    def place(self, made: dict[str, Any], path: str, value: Any, at: At | None) -> None:
        """Put a value at a dotted path of an IR object and remember where it came from."""
        keys = path.split(".")
        if keys[0] == "own":
            keys.insert(1, self.dialect.name)
        if keys[-1] == "signature" and isinstance(value, str):
            value = {"value": value, "origin": self.dialect.name}
        owner = made
        for key in keys[:-1]:
            owner = owner.setdefault(key, {})
        old = owner.get(keys[-1])
        if isinstance(old, dict) and isinstance(value, dict):
            # Two places of the wire make one object of the IR.
            old.update(value)
            self.trail.copy(value, old)
            return
        owner[keys[-1]] = value
        self.trail.put(owner, keys[-1], at)

    def memory(self, made: dict[str, Any]) -> dict[str, Any]:
        """Return the memory of spelling of an IR object, made when it is not there."""
        memory: dict[str, Any] = made.setdefault("spelled", {}).setdefault(self.dialect.name, {})
        return memory

    def attach(self, made: dict[str, Any], env: Env) -> None:
        """Hang kept keys and memory on an IR object, and hand on the notes."""
        if env.kept:
            made.setdefault("kept", {}).setdefault(self.dialect.name, {}).update(env.kept)
            self.trail.put(made, "kept", env.base)
        if env.spelled:
            memory = self.memory(made)
            for key, entry in env.spelled.items():
                memory.setdefault(key, {}).update(entry)
        self.notes.extend(env.notes)

    # -- pictures -----------------------------------------------------------------------------

    def picture(self, p: Picture, wire: Any, at: At, rel: At, env: Env, top: bool = False) -> None:
        """Match one picture against a wire value (ABSENT where nothing stands)."""
        if isinstance(p, Hole):
            self.hole(p, wire, at, rel, env)
        elif isinstance(p, Fields):
            self.fields(p, wire, at, rel, env, top)
        elif isinstance(p, Literal):
            self.literal(p, wire, at, rel, env)
        elif isinstance(p, Text):
            found = p.read(wire) if isinstance(wire, str) else None
            if found is None:
                raise Misfit(f"expected a text like {_like(p)}, got {_show(wire)}", at, p.pos)
            for name, value in zip(p.names, found, strict=True):
                env.put(name, value, at)
        elif isinstance(p, Items):
            if not isinstance(wire, list) or len(wire) != len(p.items):
                raise Misfit(f"expected a list of {len(p.items)}", at, p.pos)
            for i, (child, item) in enumerate(zip(p.items, wire, strict=True)):
                self.picture(child, item, (*at, i), (*rel, i), env)

    def literal(self, p: Literal, wire: Any, at: At, rel: At, env: Env) -> None:
        """Match a fixed value and remember which spelling it was."""
        values = p.values
        for i, value in enumerate(values):
            if value is ABSENT:
                hit = wire is ABSENT or wire is None
            else:
                hit = wire is not ABSENT and same(value, wire)
            if hit:
                if i or (value is ABSENT and wire is None):
                    env.spell(rel, wire, values[0])
                return
        said = " or ".join(_show(v) for v in values)
        raise Misfit(f"expected {said}, got {_show(wire)}", at, p.pos)

    def fields(self, p: Fields, wire: Any, at: At, rel: At, env: Env, top: bool) -> None:
        """Match an object."""
        if not isinstance(wire, dict):
            if top or not (wire is ABSENT or wire is None) or not _may_be_absent(p):
                raise Misfit(f"expected an object, got {_show(wire)}", at, p.pos)
            before = dict(env.spelled)
            try:
                self._entries(p, {}, at, rel, env)
            except Misfit:
                raise Misfit(f"expected an object, got {_show(wire)}", at, p.pos) from None
            self._hollow(p, wire, rel, env, before)
        elif wire or top or not _may_be_absent(p):
            self._entries(p, wire, at, rel, env)
        else:
            before = dict(env.spelled)
            self._entries(p, wire, at, rel, env)
            self._hollow(p, wire, rel, env, before)

    def _hollow(self, p: Fields, wire: Any, rel: At, env: Env, before: dict[str, Any]) -> None:
        # The object as a whole is remembered, not what its keys would have been.
        env.spelled = before
        empty = _empty(p)
        if not (wire is ABSENT and empty is ABSENT):
            env.spell(rel, wire, empty)

    def _entries(self, p: Fields, wire: dict[str, Any], at: At, rel: At, env: Env) -> None:
        used: set[str] = set()
        for names, child in p.entries:
            key = names[0]
            for i, name in enumerate(names):
                if name in wire:
                    key = name
                    if i:
                        env.spelled.setdefault(pointer((*rel, names[0])), {})["key"] = name
                    break
            value = wire.get(key, ABSENT)
            used.add(key)
            self.picture(child, value, (*at, key), (*rel, names[0]), env)
        rest = {k: v for k, v in wire.items() if k not in used}
        for hole in p.spread:
            if hole.shape is None:
                taken, rest = rest, {}
                if p.names & taken.keys():
                    raise Misfit("a key stands here under two spellings", at, hole.pos)
                env.put(hole.path, taken, at)
                continue
            keys = self.keys_of(hole.shape)
            taken = {k: v for k, v in rest.items() if k in keys}
            rest = {k: v for k, v in rest.items() if k not in keys}
            if not taken and hole.mark is not None:
                continue
            self.hole(hole, taken, at, rel, env, spread=True)
        if rest and p.closed:
            raise Misfit(f"`{next(iter(rest))}` is not expected here", at, p.pos)
        for key, value in rest.items():
            here = (*at, key)
            env.kept[pointer(here[len(env.base) :])] = value
            reason = self.drops.get(path_of(here)) if self.drops else None
            if reason is not None and value is not None:
                env.notes.append(("dropped", "lost", here, p.pos, reason))

    def keys_of(self, name: str) -> frozenset[str]:
        """Return the wire keys that a shape or union names."""
        members = self.dialect.unions.get(name, [name])
        keys: set[str] = set()
        for member in members:
            shape = self.dialect.shapes[member]
            keys |= shape.keys
            for case in shape.cases:
                if isinstance(case.wire, Fields):
                    for hole in case.wire.spread:
                        if hole.shape:
                            keys |= self.keys_of(hole.shape)
        return frozenset(keys)

    # -- holes --------------------------------------------------------------------------------

    def hole(self, h: Hole, wire: Any, at: At, rel: At, env: Env, spread: bool = False) -> None:
        """Match a hole: absence by its mark, then lenses and shape backwards."""
        kind = field_type(env.case.shape, h.path)
        if h.path == "nth":
            self._nth(h, wire, at, rel, env)
            return
        takes_null = (
            kind == "any"
            and not h.mark
            and (not h.lenses or any("null" in lens.split("+") for lens in h.lenses))
        )
        if len(h.paths) > 1:
            env.sums.append((h, wire, at, rel))
            return
        if wire is ABSENT or (wire is None and not takes_null):
            self._nothing(h, wire, at, rel, env)
            return
        if h.path == ".":
            env.later.append((h, wire, at, rel, spread))
            return
        before = dict(env.spelled)
        try:
            value = self.value(h, wire, at, rel, env)
        except Misfit as misfit:
            if not env.lenient or h.mark is None:
                raise
            env.spelled = before
            self._keep(h, wire, at, rel, env, misfit, spread)
            return
        if h.mark == "old":
            env.spelled.setdefault(pointer(rel), {})["old"] = True
        env.put(h.path, value, at)

    def _keep(
        self, h: Hole, wire: Any, at: At, rel: At, env: Env, misfit: Misfit, spread: bool
    ) -> None:
        """Keep a value that its picture does not take, for this dialect only."""
        if spread:
            for key, value in wire.items():
                env.kept[pointer((*at, key)[len(env.base) :])] = value
                env.notes.append(("unfit", "kept", (*at, key), misfit.pos or h.pos, misfit.reason))
            return
        env.kept[pointer(at[len(env.base) :])] = wire
        if h.mark in ("default", "else"):
            env.spell(rel, wire, h.value)
        elif h.mark == "made":
            env.spelled[pointer(rel)] = {"made": True, "as": wire}
        env.notes.append(("unfit", "kept", at, misfit.pos or h.pos, misfit.reason))

    def _nth(self, h: Hole, wire: Any, at: At, rel: At, env: Env) -> None:
        # `$nth` is the place of the object in its list: nothing to carry while it is right.
        place = next((k for k in reversed(env.base) if isinstance(k, int)), 0)
        if wire is ABSENT or wire is None or not same(wire, place):
            env.spell(rel, wire, place)
            if wire is not ABSENT and wire is not None:
                told = f"{_show(wire)} stands at place {place}"
                env.notes.append(("reworded", "changed", at, h.pos, told))

    def _nothing(self, h: Hole, wire: Any, at: At, rel: At, env: Env) -> None:
        if h.mark is None:
            said = "is missing" if wire is ABSENT else "is null"
            raise Misfit(f"`{at[-1] if at else 'the value'}` {said}", at, h.pos)
        written = h.value if h.mark in ("default", "else") else ABSENT
        if h.mark == "default":
            empty = [] if h.mode == "each" or written == [] else {} if written == {} else written
            env.put(h.path, empty, None)
        if h.mark == "made":
            entry = env.spelled.setdefault(pointer(rel), {})
            entry["made"] = True
            if wire is None:
                entry["as"] = None
        elif wire is not written and not (wire is not ABSENT and same(wire, written)):
            env.spell(rel, wire, written)

    def value(self, h: Hole, wire: Any, at: At, rel: At, env: Env) -> Any:
        """Read a present wire value back through lenses and shape; raises Misfit."""
        value, said = wire, False
        for lens in reversed(h.lenses):
            if is_guard(lens):
                said = True
                if not guard(lens, value):
                    raise Misfit(
                        f"expected {lens.replace('+', ' or ')}, got {_show(value)}", at, h.pos
                    )
            else:
                value, done = self.lens(lens, h, value, at, rel, env)
                if done:
                    return value
        if h.mode == "each":
            if "lone" in h.lenses:
                assert h.shape is not None
                return [self.shape(h.shape, value[0], at, env.lenient)]
            return self.each(h, value, at, env)
        if h.mode == "as":
            if h.shape == "conversation":
                from .conversation import read_messages

                return read_messages(self, value, at)
            assert h.shape is not None
            try:
                return self.shape(h.shape, value, at)
            except Misfit:
                return self.shape(h.shape, value, at, lenient=True)
        if h.mode == "entries":
            return self.entries(h, value, at, rel, env)
        kind = field_type(env.case.shape, h.path)
        expected = {"opaque": "string"}.get(kind, kind)
        if not said and not guard(expected, value):
            raise Misfit(f"expected {expected}, got {_show(value)}", at, h.pos)
        return value

    def lens(self, lens: str, h: Hole, value: Any, at: At, rel: At, env: Env) -> tuple[Any, bool]:
        """Read through one lens; True says that the value is the IR's own already."""
        here = pointer(rel)
        if lens == "json":
            if not isinstance(value, str):
                raise Misfit(f"expected JSON text, got {_show(value)}", at, h.pos)
            if h.path.endswith("arguments"):
                env.put(f"{h.path}_json", value, None)
                return (parse_json(value) if value.strip() else {}), False
            if self.options.get("json_results") == "text":
                raise Misfit("JSON text is kept as text", at, h.pos)
            parsed = parse_json(value)
            if any(is_guard(g) and not guard(g, parsed) for g in h.lenses):
                raise Misfit("the text is JSON of another type", at, h.pos)
            env.put(f"{h.path}_json", value, None)
            return parsed, False
        if lens in ("bare", "joined"):
            return self.texts(lens, h, value, at, rel, env)
        if lens == "plain":
            if isinstance(value, list):
                if len(value) != 1 or not self._plain(value[0]):
                    raise Misfit("expected one plain text", at, h.pos)
                env.spelled.setdefault(here, {})["list"] = True
                return value[0]["text"], False
            return value, False
        if lens == "lone":
            return [value], False
        if lens == "listed":
            if isinstance(value, list):
                return value, False
            env.spell(rel, value, [value])
            return [value], False
        if lens == "not":
            if not isinstance(value, bool):
                raise Misfit(f"expected true or false, got {_show(value)}", at, h.pos)
            return not value, False
        if lens == "not-an-object":
            if not not_an_object(value):
                raise Misfit("expected text that is the JSON of no object", at, h.pos)
            return value, False
        return self.word(lens, h, value, at, rel, env), False

    def _plain(self, item: Any) -> bool:
        # The dialect's own picture of a text that needs nothing but its text.
        try:
            part = self.shape("text", item, ())
        except (Misfit, KeyError):
            return False
        return isinstance(part, dict) and part.keys() == {"type", "text"}

    def word(self, lens: str, h: Hole, value: Any, at: At, rel: At, env: Env) -> Any:
        """Read through a table or a schema dialect."""
        pair: Any = self.dialect.tables.get(lens) or self.dialect.schemas.get(lens)
        try:
            read, exact = pair.read(value)
            if lens in self.dialect.tables:
                written = pair.write(read)[0]
                if not same(written, value):
                    env.spell(rel, value, written)
                if not exact:
                    told = f"`{value}` is read as `{read}`"
                    env.notes.append(("reworded", "changed", at, h.pos, told))
            elif not exact:
                env.spell(rel, value, read)
        except Misfit as misfit:
            raise Misfit(misfit.reason, at, h.pos) from None
        return read

    def texts(self, lens: str, h: Hole, value: Any, at: At, rel: At, env: Env) -> tuple[Any, bool]:
        """Read `bare` or `joined`: a text that stands for a list of one text block."""
        empty = h.value if h.mark in ("else", "default") else "" if h.mark is None else ABSENT
        if isinstance(value, str):
            if not value:
                if empty is ABSENT or not same(empty, value):
                    env.spell(rel, value, empty)
                return [], True
            part = {"type": "text", "text": value}
            if h.shape in self.dialect.shapes and self.dialect.shapes[h.shape].kind:
                part["type"] = str(self.dialect.shapes[h.shape].kind)
            self.trail.put(part, None, at)
            self.trail.put(part, "text", at)
            return [part], True
        if lens == "joined" or not isinstance(value, list):
            raise Misfit(f"expected a text, got {_show(value)}", at, h.pos)
        if not value:
            env.spell(rel, value, empty)
            return [], True
        parts = self.each(h, value, at, env)
        if (
            len(parts) == 1
            and parts[0].get("type") == "text"
            and parts[0].keys() <= {"type", "text"}
        ):
            env.spelled.setdefault(pointer(rel), {})["list"] = True
        return parts, True

    def each(self, h: Hole, wire: Any, at: At, env: Env) -> list[Any]:
        """Read a list, element by element; an element of no known kind is kept as it is."""
        if not isinstance(wire, list):
            raise Misfit(f"expected a list, got {_show(wire)}", at, h.pos)
        if h.mark is not None and not wire:
            if h.mark != "default":
                env.spell(at[len(env.base) :], wire, h.value if h.mark == "else" else ABSENT)
        found: list[Any] = []
        assert h.shape is not None
        last: Shape | None = None
        for i, item in enumerate(wire):
            parts, shape = self.element(h.shape, item, (*at, i))
            if shape is not None and shape is last and parts:
                memory = self.memory(parts[0])
                memory["../"] = {**memory.get("../", {}), "apart": True}
            last = shape
            found.extend(parts)
        return found

    def element(self, name: str, item: Any, at: At) -> tuple[list[Any], Shape | None]:
        """Read one element of a list; a gathering shape gives several."""
        cases = self.dialect.cases_of(name)
        for lenient in (False, True):
            try:
                return [self.first(cases, item, at, lenient)], None
            except Misfit as misfit:
                best = misfit
            for shape, case in cases:
                if shape.gathers:
                    mark = len(self.notes)
                    try:
                        return self.run(shape, case, item, at, lenient), shape
                    except Misfit as misfit:
                        del self.notes[mark:]
                        best = max(best, misfit, key=lambda m: len(m.at))
        if name not in self.dialect.unions:
            raise best
        part = {"type": "unknown", "dialect": self.dialect.name, "value": item}
        self.trail.put(part, None, at)
        return [part], None

    def run(self, shape: Shape, case: Case, item: Any, at: At, lenient: bool) -> list[Any]:
        """Read an element that holds a run of parts."""
        env = self.case(case, item, at, lenient)
        parts: list[Any] = env.fields.pop("run", ([], None))[0]
        if not parts:
            raise Misfit("an empty run", at, case.pos)
        first = parts[0]
        for key, value in env.kept.items():
            kept = first.setdefault("kept", {}).setdefault(self.dialect.name, {})
            kept[f"..{key}"] = value
            self.trail.put(first, f"..{key}", (*at, key[1:]))
        for key, entry in env.spelled.items():
            self.memory(first)[f"..{key}"] = entry
        self.notes.extend(env.notes)
        return parts

    def entries(self, h: Hole, wire: Any, at: At, rel: At, env: Env) -> dict[str, Any]:
        """Read a list of entries as a map."""
        if not isinstance(wire, list):
            raise Misfit(f"expected a list, got {_show(wire)}", at, h.pos)
        found: dict[str, Any] = {}
        odd = False
        for i, item in enumerate(wire):
            assert h.shape is not None
            entry = self.shape(h.shape, item, (*at, i))
            odd = bool(entry.pop("spelled", None)) or odd
            key, value = entry.get("key"), entry.get("value")
            if not isinstance(key, str) or key in found or len(entry) != 2:
                raise Misfit("expected one entry of key and value each", (*at, i), h.pos)
            found[key] = value
            self.trail.put(found, key, (*at, i))
        if odd:
            from .writer import Writer

            usual = Writer(self.dialect, False, Trail(), self.options)
            pairs = ({"key": key, "value": value} for key, value in found.items())
            env.spell(rel, wire, [usual.shape(h.shape or "", pair) for pair in pairs])
        return found

    # -- sums and the object itself -----------------------------------------------------------

    def solve(self, h: Hole, wire: Any, at: At, rel: At, env: Env) -> bool:
        """Bind the first term of a sum that nothing else binds; check the sum otherwise.

        Returns False when there is no number that could be solved.
        """
        if wire is ABSENT or wire is None or not guard("integer", wire):
            return False
        alone = {x.path for x in pic.holes(env.case.wire) if len(x.paths) == 1}
        total, unknown = 0, []
        for path in h.paths:
            value = env.fields.get(path, (ABSENT, None))[0]
            if value is not ABSENT:
                total += value
            elif path not in alone and path not in env.settled:
                unknown.append(path)
        env.settled.update(h.paths)
        if unknown and wire >= total:
            env.put(unknown[0], wire - total, at)
            return True
        if unknown:
            env.put(unknown[0], 0, at)
        if wire != total:
            env.spell(rel, wire, total)
            told = f"{wire} stands where the parts make {total}"
            env.notes.append(("inconsistent", "changed", at, h.pos, told))
        return True

    def _no_sum(self, h: Hole, wire: Any, at: At, rel: At, env: Env) -> None:
        # Writing puts the sum of the terms that other places have given.
        absent = wire is ABSENT or wire is None
        if h.mark is None or not (absent or env.lenient):
            raise Misfit(f"expected a whole number, got {_show(wire)}", at, h.pos)
        found = [env.fields[path][0] for path in h.paths if path in env.fields]
        written = sum(found) if found else h.value if h.mark in ("default", "else") else ABSENT
        if wire is not written and not (wire is not ABSENT and same(wire, written)):
            env.spell(rel, wire, written)
        if not absent:
            env.kept[pointer(at[len(env.base) :])] = wire
            told = f"expected a whole number, got {_show(wire)}"
            env.notes.append(("unfit", "kept", at, h.pos, told))

    def itself(self, h: Hole, wire: Any, at: At, rel: At, env: Env, spread: bool) -> None:
        """Read a hole that is made of the object's own fields."""
        assert h.shape is not None
        best: Misfit | None = None
        for lenient in (False, True) if env.lenient else (False,):
            for shape, case in self.dialect.cases_of(h.shape):
                mark = len(self.notes)
                try:
                    inner = self.case(case, wire, at, lenient, outer=env)
                    seen = {**env.fields, **inner.fields}
                    self._agree(case, env)
                    made: dict[str, Any] = {}
                    shadow = Env(env.base, case, lenient)
                    shadow.fields = inner.fields
                    self._tests(case, seen, env)
                    self.fill(made, case.ir, shadow)
                except Misfit as misfit:
                    del self.notes[mark:]
                    if best is None or len(misfit.at) > len(best.at):
                        best = misfit
                    continue
                env.join(inner)
                if (
                    case.doubles
                    and not self.probe
                    and self._chosen_itself(shape, made, seen) is not case
                ):
                    env.spelled.setdefault(pointer(rel), {})["case"] = case.name
                self._take(made, inner, env, at)
                return
        if env.lenient and h.mark is not None and best is not None:
            self._keep(h, wire, at, rel, env, best, spread)
            return
        raise best or Misfit("nothing fits", at, h.pos)

    def _chosen_itself(self, shape: Shape, made: dict[str, Any], seen: dict[str, Any]) -> Any:
        around: dict[str, Any] = {}
        for path, (value, _) in seen.items():
            if "." not in path:
                around[path] = value
        around.update({k: v for k, v in made.items() if k not in ("own",)})
        return self._chosen(shape, around)

    def _agree(self, case: Case, env: Env) -> None:
        # A literal of the `ir` picture must not contradict what a neighbour found.
        if isinstance(case.ir, Fields):
            for (name, *_), child in case.ir.entries:
                if isinstance(child, Literal) and name in env.fields:
                    value = env.fields[name][0]
                    if child.values[0] is ABSENT or not any(same(value, v) for v in child.values):
                        raise Misfit(f"`{name}` says something else", env.base, child.pos)

    def _tests(self, case: Case, seen: dict[str, Any], env: Env) -> None:
        if isinstance(case.ir, Fields):
            for (name, *_), child in case.ir.entries:
                if isinstance(child, pic.Test):
                    self._test(child, name, seen, env)

    def _take(self, made: dict[str, Any], inner: Env, env: Env, at: At) -> None:
        for key, value in made.items():
            if key == "own":
                for name, own in value.get(self.dialect.name, {}).items():
                    env.put(f"own.{name}", own, inner.fields.get(f"own.{name}", (0, at))[1])
                continue
            where = self.trail.find(made, key) or inner.fields.get(key, (0, at))[1] or at
            if isinstance(value, dict) and isinstance(env.fields.get(key, (0,))[0], dict):
                env.fields[key][0].update(value)
                self.trail.copy(value, env.fields[key][0])
                continue
            env.put(key, value, where)


def _may_be_absent(p: Fields) -> bool:
    found = list(pic.holes(p))
    return bool(found) and all(h.mark is not None for h in found)


def _empty(p: Fields) -> Any:
    """Return what writing puts for an object with nothing in it."""
    out: dict[str, Any] = {}
    forced = False
    for (name, *_), child in p.entries:
        if isinstance(child, Hole) and child.mark in ("default", "else"):
            out[name], forced = child.value, True
        elif isinstance(child, Literal) and child.values[0] is not ABSENT:
            out[name] = child.values[0]
        elif isinstance(child, Fields) and (inner := _empty(child)) is not ABSENT:
            out[name], forced = inner, True
    return out if forced else ABSENT


def _like(p: Text) -> str:
    text = p.fixed[0] + "".join(f"<{n}>{f}" for n, f in zip(p.names, p.fixed[1:], strict=True))
    return f"`{text}`"


def _show(value: Any) -> str:
    if value is ABSENT:
        return "nothing"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return f"`{value[:40]}{'...' if len(value) > 40 else ''}`"
    return (
        stringify(value) if isinstance(value, int | float | bool | None) else type(value).__name__
    )
