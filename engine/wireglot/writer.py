"""Writing: the IR through the pictures of a dialect into a wire payload.

The other half of the interpreter. What the pictures do not take goes down the ladder, and what is
left then is noted; nothing is silent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import picture as pic
from .ir import DERIVED, FUNCTION, PARTS, field_type
from .ladder import Ladder, step
from .lenses import Misfit, finite, guard, is_guard, not_an_object, parse_json, same, stringify
from .limits import Limits
from .notes import Effect
from .picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text
from .rulefile import Case, Dialect, Shape
from .trail import At, Trail, keys_of, pointer


class Draft:
    """A note in the making: its target is found once the body is finished."""

    __slots__ = ("code", "effect", "message", "owner", "place", "rule", "source")

    def __init__(
        self,
        code: str,
        effect: Effect,
        source: At | None,
        rule: Any,
        message: str,
        owner: Any = None,
        place: Any = None,
    ) -> None:
        self.code, self.effect, self.source = code, effect, source
        self.rule, self.message, self.owner, self.place = rule, message, owner, place


class View:
    """An IR object as a picture sees it: fields by path, names of its `ir` picture, claims."""

    __slots__ = ("case", "claims", "dialect", "lists", "memory", "names", "obj", "shape")

    def __init__(self, obj: dict[str, Any], shape: str, case: Case, writer: Writer) -> None:
        self.obj, self.shape, self.case, self.dialect = obj, shape, case, writer.dialect.name
        self.names: dict[str, tuple[Any, str]] = {}
        self.claims: set[str] = set()
        self.lists: dict[str, dict[int, list[Any]]] = {}
        self.memory: dict[str, Any] = (
            obj.get("spelled", {}).get(self.dialect, {}) if writer.same else {}
        )

    def look(self, path: str) -> Any:
        """Return the value at a path without claiming it, or ABSENT."""
        if path in self.names:
            return self.names[path][0]
        keys = path.split(".")
        if keys[0] == "own":
            keys.insert(1, self.dialect)
        value: Any = self.obj
        for key in keys:
            if not isinstance(value, dict) or key not in value:
                return ABSENT
            value = value[key]
        if keys[-1] == "signature" and isinstance(value, dict):
            return value.get("value", ABSENT) if value.get("origin") == self.dialect else ABSENT
        return value

    def claim(self, path: str) -> None:
        """Say that a picture took the value at a path."""
        if path in self.names:
            path = self.names[path][1]
        elif path.startswith("own."):
            path = f"own.{self.dialect}.{path[4:]}"
        self.claims.add(path)

    def source(self, path: str) -> str:
        """Return the dotted IR path that a name stands for."""
        if path in self.names:
            return self.names[path][1]
        return f"own.{self.dialect}.{path[4:]}" if path.startswith("own.") else path


class Writer:
    """Writes one IR value. `same` says that the IR was read from this very dialect."""

    def __init__(
        self,
        dialect: Dialect,
        same_dialect: bool,
        trail: Trail,
        options: dict[str, Any],
        ladder: Ladder | None = None,
    ) -> None:
        self.dialect, self.same, self.trail = dialect, same_dialect, trail
        self.options, self.ladder = options, ladder or {}
        self.repair = bool(options.get("repair", not same_dialect))
        self.limits = Limits(dialect.limits if self.repair else {})
        self.notes: list[Draft] = []
        self.beside: list[Any] = []
        self.made: set[int] = set()  # parts whose ids a hook has made
        self.written: dict[int, tuple[Any, Any]] = {}  # IR objects and what was made of them
        self.missing: set[str] = set()  # fields that a picture wanted and did not get
        self.lefts: list[tuple[int, str]] = []  # fields of IR objects that found no place
        self.nth = 0
        self.calls: dict[str, str] = {}

    def note(
        self,
        code: str,
        effect: Effect,
        source: At | None,
        rule: Any,
        message: str,
        owner: Any = None,
        place: Any = None,
    ) -> None:
        """Draft a note."""
        self.notes.append(Draft(code, effect, source, rule, message, owner, place))

    # -- shapes -------------------------------------------------------------------------------

    def shape(self, name: str, value: Any) -> Any:
        """Write a value by the first case that takes it and reads back; raises Misfit."""
        best: Misfit | None = None
        mark = len(self.notes)
        for shape in (self.dialect.shapes[m] for m in self.dialect.unions.get(name, [name])):
            try:
                return self.one(shape, value)
            except Misfit as misfit:
                del self.notes[mark:]
                if best is None or _tells(misfit, best):
                    best = misfit
        raise best or Misfit(f"`{name}` has no member")

    def one(self, shape: Shape, value: Any) -> Any:
        """Write a value by one shape."""
        best: Misfit | None = None
        spare: tuple[Any, list[Draft], Case] | None = None
        mark = len(self.notes)
        for case in self.order(shape, value):
            try:
                wire = self.case(shape, case, value)
            except Misfit as misfit:
                del self.notes[mark:]
                if best is None or _tells(misfit, best):
                    best = misfit
                continue
            if case.rivals and not self._reads_back(shape, wire, value):
                if spare is None:
                    spare = (wire, self.notes[mark:], case)
                del self.notes[mark:]
                continue
            return wire
        if spare is None:
            raise best or Misfit(f"`{shape.name}` has no case")
        wire, drafts, case = spare
        self.notes.extend(drafts)
        if not self.same or self.repair:
            told = "the target reads this as something else"
            at = self.trail.find(value) if isinstance(value, dict) else None
            self.note("ambiguous", "changed", at, case.pos, told, wire)
        return wire

    def order(self, shape: Shape, value: Any) -> list[Case]:
        """Return the cases in the order in which they are tried: the remembered one first."""
        if self.same and isinstance(value, dict):
            name = value.get("spelled", {}).get(self.dialect.name, {}).get("", {}).get("case", None)
            if name is not None:
                return sorted(shape.cases, key=lambda c: c.name != name)
        return shape.cases

    def choose(self, shape: Shape, value: Any) -> Case | None:
        """Return the case that would write a value."""
        for case in shape.cases:
            mark = len(self.notes)
            try:
                wire = self.case(shape, case, value)
                if not case.rivals or self._reads_back(shape, wire, value):
                    return case
            except Misfit:
                continue
            finally:
                del self.notes[mark:]
        return None

    def _reads_back(self, shape: Shape, wire: Any, value: Any) -> bool:
        from .reader import Reader

        try:
            probe = Reader(self.dialect, {}, probe=True)
            found = probe.first([(shape, c) for c in shape.cases], wire, (), False)
        except Misfit:
            return False
        return _alike(found, value)

    def case(self, shape: Shape, case: Case, value: Any) -> Any:
        """Write a value by one case; raises Misfit."""
        if not isinstance(value, dict):
            view = View({"": value}, shape.name, case, self)
            if case.ir is not None:
                self.match(case.ir, value, "", view)
            wire = self.picture(case.wire, view, ())
            if wire is ABSENT:
                raise Misfit("nothing is written", (), case.pos)
            return wire
        if shape.kind is not None and value.get("type") != shape.kind:
            fixed = case.sides[0].get("/type")
            if not (isinstance(fixed, tuple) and value.get("type") in fixed):
                raise Misfit(f"this is no {shape.kind}", (), case.pos)
        view = View(value, shape.name, case, self)
        if case.ir is not None:
            self.match(case.ir, value, "", view)
        elif shape.kind is None and value.get("type", FUNCTION) != FUNCTION:
            if shape.name not in ("response_format",):
                raise Misfit(f"this is a {value['type']}", (), case.pos)
        wire = self.picture(case.wire, view, (), top=True)
        if wire is ABSENT or (wire == {} and not self._was_empty(view)):
            raise Misfit("nothing is written", (), case.pos)
        self.leftover(view, wire)
        self.written[id(value)] = (value, wire)
        if case.note is not None and not self.same:
            at = self.trail.find(value)
            self.note(case.note, "changed", at, case.pos, f"written as `{case.name}`", wire)
        return wire

    def _was_empty(self, view: View) -> bool:
        # At home an object may have held nothing, or only keys that no picture names.
        kept = view.obj.get("kept")
        return self.same and (
            view.memory.get("", {}).get("empty") is True
            or (isinstance(kept, dict) and bool(kept.get(self.dialect.name)))
        )

    def match(self, ir: Picture, value: Any, path: str, view: View) -> None:
        """Match an IR value against an `ir` picture: literals must stand, holes get names."""
        if isinstance(ir, Literal):
            if not any(
                value is ABSENT if v is ABSENT else value is not ABSENT and same(v, value)
                for v in ir.values
            ):
                raise Misfit(f"`{path or 'the value'}` says something else", (), ir.pos)
            if path and value is not ABSENT:
                view.claims.add(path)
        elif isinstance(ir, pic.Test):
            held = value is not ABSENT and (
                ir.word == "present"
                or any(isinstance(p, dict) and p.get("type") == ir.kind for p in value)
            )
            if not held:
                raise Misfit(f"`{path}` fails a test", (), ir.pos)
        elif isinstance(ir, Hole):
            if value is ABSENT:
                if ir.mark is None:
                    raise Misfit(f"`{path}` is missing", (), ir.pos)
                return
            if ir.lenses and is_guard(ir.lenses[0]) and not guard(ir.lenses[0], value):
                raise Misfit(f"`{path}` is no {ir.lenses[0]}", (), ir.pos)
            view.names[ir.path] = (value, path)
        elif isinstance(ir, Text):
            found = ir.read(value) if isinstance(value, str) else None
            if found is None:
                raise Misfit(f"`{path}` says something else", (), ir.pos)
            for name, piece in zip(ir.names, found, strict=True):
                view.names[name] = (piece, path)
        elif isinstance(ir, Fields):
            if not isinstance(value, dict):
                raise Misfit(f"`{path or 'the value'}` is no object", (), ir.pos)
            for (name, *_), child in ir.entries:
                inner = f"{path}.{name}" if path else name
                self.match(child, value.get(name, ABSENT), inner, view)
            if ir.closed and not value.keys() <= ir.names | {"spelled", "kept"}:
                raise Misfit(f"`{path}` says more", (), ir.pos)

    # -- pictures -----------------------------------------------------------------------------

    def picture(self, p: Picture, view: View, rel: At, top: bool = False, into: Any = None) -> Any:
        """Write one picture; ABSENT when there is nothing to write."""
        if isinstance(p, Hole):
            return self.hole(p, view, rel, into)
        if isinstance(p, Fields):
            return self.fields(p, view, rel, top)
        if isinstance(p, Literal):
            value = p.values[0]
            return self.remembered(view, rel, value) if view.memory else value
        if isinstance(p, Text):
            values = [view.look(name) for name in p.names]
            if not all(isinstance(v, str) for v in values):
                missing = next(
                    n for n, v in zip(p.names, values, strict=True) if not isinstance(v, str)
                )
                raise Misfit(f"`{missing}` is missing", (), p.pos)
            text = p.write(tuple(values))
            if text is None:
                raise Misfit("the text would read back as something else", (), p.pos)
            for name in p.names:
                view.claim(name)
            return text
        assert isinstance(p, Items)
        items = [self.picture(child, view, (*rel, i)) for i, child in enumerate(p.items)]
        if any(item is ABSENT for item in items):
            raise Misfit("an item of the list is missing", (), p.pos)
        return items

    def remembered(self, view: View, rel: At, written: Any) -> Any:
        """Return what stood here when the present value was read, or what is written now."""
        entry = view.memory.get(pointer(rel))
        if entry is None or not ("as" in entry or "for" in entry):
            return written
        meant = entry.get("for", ABSENT)
        if meant is written or (
            meant is not ABSENT and written is not ABSENT and same(meant, written)
        ):
            return entry.get("as", ABSENT)
        return written

    def fields(self, p: Fields, view: View, rel: At, top: bool, into: Any = None) -> Any:
        """Write an object; a nested one with nothing in it is not written."""
        out: dict[str, Any] = {} if into is None else into
        filled = False
        has_hole = False
        for names, child in p.entries:
            key, here = names[0], (*rel, names[0])
            if view.memory:
                key = view.memory.get(pointer(here), {}).get("key", key)
            value = self.picture(child, view, here, into=(out, key))
            if isinstance(child, Fields) and view.memory:
                value = self.remembered(view, here, value)
            bare = isinstance(child, Literal)
            has_hole = has_hole or not bare
            if value is not ABSENT:
                out[key] = value
                filled = filled or not bare
        for hole in p.spread:
            has_hole = True
            filled = self.spread(hole, p, view, rel, out) or filled
        if not top and into is None and has_hole and not filled:
            return ABSENT
        return out

    def spread(self, h: Hole, p: Fields, view: View, rel: At, out: dict[str, Any]) -> bool:
        """Write a hole whose keys stand among the outer ones."""
        if h.shape is None:
            value = view.look(h.path)
            if value is ABSENT and h.mark:
                return False
            if not isinstance(value, dict):
                raise Misfit(f"`{h.path}` is no object", (), h.pos)
            clash = p.names & value.keys()
            if clash:
                raise Misfit(f"`{min(clash)}` means something else here", (), h.pos)
            out.update(value)
            view.claim(h.path)
            return True
        wire = self.hole(h, view, rel, (out, None))
        if wire is ABSENT:
            return False
        for key in wire:
            if key in out:
                raise Misfit(f"`{key}` is written twice", (), h.pos)
        out.update(wire)
        for draft in self.notes:
            if draft.owner is wire:
                draft.owner = out
        return True

    # -- holes --------------------------------------------------------------------------------

    def hole(self, h: Hole, view: View, rel: At, into: Any) -> Any:
        """Write one hole: value, shape, lenses, then the mark and the memory."""
        if h.path == ".":
            made = self.itself(h, view, rel, into)
            if made is ABSENT and view.memory and into is not None and into[1] is not None:
                return self.remembered(view, rel, made)
            return made
        if h.path == "nth":
            return self.remembered(view, rel, self.nth)
        value = self.total(h, view) if len(h.paths) > 1 else view.look(h.path)
        entry = view.memory.get(pointer(rel)) if view.memory else None
        if h.mark == "old" and not (entry and entry.get("old")):
            return ABSENT
        if value is None and field_type(view.shape, h.path) != "any":
            value = ABSENT
        wire: Any = ABSENT
        if value is not ABSENT:
            claims = set(view.claims)
            mark = len(self.notes)
            try:
                wire = self.value(h, value, view, rel, into)
            except Misfit:
                if h.mark is None:
                    raise
                del self.notes[mark:]
                view.claims = claims
            else:
                for path in h.paths:
                    view.claim(path)
                if id(view.obj) in self.made and h.path in ("id", "tool_call_id"):
                    owner, key = into if into is not None else (None, None)
                    told = "the source has no id here; it is made from place and content"
                    self.note(
                        "made-id", "added", self.trail.find(view.obj), h.pos, told, owner, key
                    )
        if wire is ABSENT:
            wire = self._mark(h, view, rel, into, entry)
        if entry and not (into is not None and into[1] is None):
            return self.remembered(view, rel, wire)
        return wire

    def _mark(self, h: Hole, view: View, rel: At, into: Any, entry: Any) -> Any:
        if h.mark in ("default", "else"):
            if h.mark == "else" and not (entry and "for" in entry) and h.value is not None:
                told = f"`{rel[-1]}` is required here and was not there"
                owner, key = into if into is not None else (None, None)
                self.note("filled-in", "added", None, h.pos, told, owner, key)
            return [] if h.value == [] else {} if h.value == {} else h.value
        if h.mark is None:
            self.missing.add(h.path)
            raise Misfit(f"`{h.path}` is missing", rel, h.pos)
        return ABSENT

    def total(self, h: Hole, view: View) -> Any:
        """Return the sum of a hole's terms, or ABSENT when none is there."""
        values = [view.look(path) for path in h.paths]
        present = [v for v in values if v is not ABSENT and v is not None]
        return sum(present) if present else ABSENT

    def value(self, h: Hole, value: Any, view: View, rel: At, into: Any) -> Any:
        """Write a present value through shape and lenses; raises Misfit."""
        said = False
        wire = value
        if h.mode == "each":
            return self.listed(h, value, view, rel, into)
        if h.mode == "as":
            assert h.shape is not None
            if h.shape == "conversation":
                from .conversation import write_messages

                return write_messages(self, value)
            wire = self.stepped(h, value)
            said = True
        elif h.mode == "entries":
            assert h.shape is not None
            if not isinstance(value, dict) or not value:
                raise Misfit(f"`{h.path}` is no map", rel, h.pos)
            wire = []
            for key, item in value.items():
                pair = {"key": key, "value": item}
                self.trail.put(pair, None, self.trail.find(value, key))
                wire.append(self.shape(h.shape, pair))
            said = True
        for lens in h.lenses:
            if is_guard(lens):
                said = True
                if not guard(lens, wire):
                    raise Misfit(f"`{h.path}` is no {lens.replace('+', ' or ')}", rel, h.pos)
            else:
                wire = self.lens(lens, h, wire, view, rel, into)
                said = True
        kind = field_type(view.shape, h.path)
        kind = {"opaque": "string"}.get(kind, kind)
        if not said and not guard(kind, wire):
            raise Misfit(f"`{h.path}` is no {kind}", rel, h.pos)
        if isinstance(wire, float) and not finite(wire):
            raise Misfit(f"`{h.path}` is no JSON number", rel, h.pos)
        return self.fitted(h, wire, view, into)

    def stepped(self, h: Hole, value: Any) -> Any:
        """Write a value by a shape, or what the ladder makes of it."""
        assert h.shape is not None
        mark = len(self.notes)
        try:
            return self.shape(h.shape, value)
        except Misfit as misfit:
            for row in self.ladder.get(h.shape, ()) if isinstance(value, dict) else ():
                del self.notes[mark:]
                try:
                    new, _, path = step(row, value, self.trail)
                    wire = self.stepped(h, new)
                except Misfit:
                    continue
                at = self.trail.find(value, path or None)
                self.note(row.name, row.effect, at, row.pos, row.message, wire)
                return wire
            raise misfit from None

    def fitted(self, h: Hole, wire: Any, view: View, into: Any) -> Any:
        """Rewrite names and ids to the dialect's limits."""
        kind = self.limits.kind(view.obj, view.source(h.path))
        if kind is None:
            return wire
        many = isinstance(wire, list)
        fitted = [self.limits.fit(kind, w) for w in (wire if many else [wire])]
        if fitted != (wire if many else [wire]):
            owner, key = into if into is not None else (None, None)
            at = self.trail.find(view.obj, view.source(h.path))
            told = f"`{wire}` does not fit the limits of `{kind}` here"
            self.note("renamed", "changed", at, h.pos, told, owner, key)
        return fitted if many else fitted[0]

    def lens(self, lens: str, h: Hole, value: Any, view: View, rel: At, into: Any) -> Any:
        """Write through one lens."""
        if lens == "json":
            # The text as it came, while it still means the value: no byte of it changes.
            text = view.look(f"{h.path}_json")
            if isinstance(text, str) and _means(text, value):
                return text
            return stringify(value)
        if lens == "not":
            if not isinstance(value, bool):
                raise Misfit(f"`{h.path}` is neither true nor false", rel, h.pos)
            return not value
        if lens == "plain":
            if not isinstance(value, str):
                raise Misfit(f"`{h.path}` is no text", rel, h.pos)
            if view.memory.get(pointer(rel), {}).get("list"):
                return [self.shape("text", {"type": "text", "text": value})]
            return value
        if lens == "listed":
            return value
        if lens == "not-an-object":
            if not not_an_object(value):
                raise Misfit(f"`{h.path}` is the JSON of an object", rel, h.pos)
            return value
        if lens in self.dialect.schemas:
            if self.same and view.memory.get("", {}).get("case", "") == view.case.name:
                return value
            return self.dialect.schemas[lens].write(value)
        wire, exact = self.dialect.tables[lens].write(value, self.same)
        if not exact and not self.remembers(view, rel, wire):
            owner, key = into if into is not None else (None, None)
            at = self.trail.find(view.obj, view.source(h.path))
            told = f"`{value}` has no word of its own here and is written as `{wire}`"
            self.note("reworded", "changed", at, h.pos, told, owner, key)
        return wire

    def remembers(self, view: View, rel: At, wire: Any) -> bool:
        """Tell whether the memory will put another spelling in place of `wire`."""
        return self.remembered(view, rel, wire) is not wire

    # -- lists --------------------------------------------------------------------------------

    def listed(self, h: Hole, value: Any, view: View, rel: At, into: Any) -> Any:
        """Write a list hole: its share of the list, then the form of the list."""
        if not isinstance(value, list):
            raise Misfit(f"`{h.path}` is no list", rel, h.pos)
        if h.path not in view.lists:
            holes = view.case.lists.get(h.path, [h])
            inside = view.obj.get("type") in PARTS
            view.lists[h.path] = self.share(holes if h in holes else [h], value, inside)
        pairs = view.lists[h.path].get(id(h), [])
        wires = [wire for _, wire in pairs]
        entry = view.memory.get(pointer(rel), {})
        for lens in h.lenses:
            if lens == "lone":
                if not wires:
                    raise Misfit(f"`{h.path}` is empty", rel, h.pos)
                for part, _ in pairs[1:]:
                    told = "the target holds one of these"
                    self.note("no-place", "lost", self.trail.find(part), h.pos, told)
                return wires[0]
            if lens in ("bare", "joined"):
                if not wires:
                    return "" if h.mark is None else ABSENT
                return self.texts(lens, h, pairs, entry, into)
        if not wires and h.mark is not None and (value or h.mark != "default"):
            return ABSENT
        return wires

    def texts(self, lens: str, h: Hole, pairs: list[Any], entry: Any, into: Any) -> Any:
        """Write text blocks as one text: `bare` if it is one plain text, `joined` always."""
        plain = [self._bare(h, part, wire) for part, wire in pairs]
        if lens == "bare":
            if len(plain) == 1 and plain[0] is not None and not entry.get("list"):
                return plain[0]
            return [wire for _, wire in pairs]
        if any(text is None for text in plain):
            raise Misfit("only plain texts can be joined", (), h.pos)
        if len(plain) > 1:
            owner, key = into if into is not None else (None, None)
            at = self.trail.find(pairs[1][0])
            self.note("joined", "changed", at, h.pos, f"{len(plain)} texts become one", owner, key)
        return "".join(str(text) for text in plain)

    def _bare(self, h: Hole, part: Any, wire: Any) -> str | None:
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            return None
        assert h.shape is not None
        try:
            bare = Writer(self.dialect, False, Trail(), {"repair": False}).shape(
                h.shape, {"type": part.get("type", "text"), "text": part["text"]}
            )
        except Misfit:
            return None
        return part["text"] if wire == bare else None

    def share(
        self, holes: list[Hole], parts: list[Any], whole: bool = False
    ) -> dict[int, list[Any]]:
        """Give each part of a list to the hole that takes it, going down the ladder.

        `whole` says that no text or media may be left out: the part around them steps down first.
        """
        if whole and not parts and not self.same:
            raise Misfit("an empty list", (), holes[0].pos)
        shares: dict[int, list[Any]] = {id(h): [] for h in holes}
        order: list[int] = []
        for nth, part in enumerate(parts):
            self.nth = nth
            for hole, new, wire in self.give(holes, part, whole):
                shares[id(hole)].append((new, wire))
                order.append(holes.index(hole))
                if len(order) > 1 and order[-1] < order[-2] and not self.same:
                    told = "the target holds this before what stood before it"
                    self.note("reordered", "moved", self.trail.find(new), hole.pos, told, wire)
        for hole in holes:
            shares[id(hole)] = self.gather(hole, shares[id(hole)])
        return shares

    def give(
        self, holes: list[Hole], part: Any, whole: bool = False
    ) -> list[tuple[Hole, Any, Any]]:
        """Write one part by the first hole that takes it; a lost part is noted."""
        if isinstance(part, dict) and part.get("type") == "unknown":
            if part.get("dialect") == self.dialect.name:
                return [(holes[0], part, part.get("value"))]
            told = "no picture describes this, and the target has no place for it"
            self.note("unknown-part", "lost", self.trail.find(part), holes[0].pos, told)
            return []
        best = Misfit("nothing takes it")
        mark, beside_mark = len(self.notes), len(self.beside)
        usual = FUNCTION if holes[0].path == "tools" else holes[0].shape
        kind = part.get("type", usual) if isinstance(part, dict) else ""
        rows = self.ladder.get(str(kind), [])
        direct: list[tuple[Hole, Any, Any]] = []
        self.missing = set()
        for hole in holes:
            assert hole.shape is not None
            try:
                self.lefts = []
                direct = [(hole, part, self.member(hole.shape, part))]
                break
            except Misfit as misfit:
                del self.notes[mark:]
                if _tells(misfit, best):
                    best = misfit
        if direct:
            # A field without a place may have a row of its own.
            lost = {path for owner, path in self.lefts if owner == id(part)}
            rows = [r for r in rows if lost & r.before.names] if lost else []
        else:
            # A row that adds a field is for the dialects that want it, and comes first there.
            missing = self.missing
            rows = [r for r in rows if r.adds <= missing]
            rows.sort(key=lambda row: not row.adds)
        drafts = self.notes[mark:]
        for row in rows:
            del self.notes[mark:]
            try:
                new, beside, path = step(row, part, self.trail)
            except Misfit:
                continue
            self.beside.extend(beside)
            try:
                given = self.give(holes, new, whole)
            except Misfit:
                given = []
            if not given:
                del self.notes[mark:], self.beside[beside_mark:]
                continue
            at = self.trail.find(part, path or None) or self.trail.find(part)
            self.note(row.name, row.effect, at, row.pos, row.message, given[0][2])
            for block in beside:
                told = "media of a tool result stand in a user message after it"
                self.note("moved", "moved", self.trail.find(block), row.pos, told, None, block)
            return given
        if direct:
            self.notes[mark:] = drafts
            return direct
        if whole and kind not in ("native", "unknown"):
            raise best
        at = self.trail.find(part) if isinstance(part, dict) else None
        code = "unknown-part" if kind == "unknown" else "no-place"
        if kind == "native":
            code = "own-field"
        self.note(
            code,
            "lost",
            at,
            best.pos or holes[0].pos,
            f"the target has no place for this {kind}: {best.reason}",
        )
        return []

    def member(self, name: str, part: Any) -> Any:
        """Write one element of a list by a shape, union or gathering member."""
        if not isinstance(part, dict):
            return self.shape(name, part)
        best = Misfit(f"`{name}` has no member")
        for member in self.dialect.unions.get(name, [name]):
            shape = self.dialect.shapes[member]
            mark = len(self.notes)
            try:
                if shape.gathers:
                    if part.get("type", FUNCTION) not in shape.gathers:
                        raise Misfit("another kind is gathered here")
                    inner = self.run_hole(shape)
                    assert inner.shape is not None
                    return Gathered(shape, self.shape(inner.shape, part))
                return self.one(shape, part)
            except Misfit as misfit:
                del self.notes[mark:]
                if _tells(misfit, best):
                    best = misfit
        raise best

    def run_hole(self, shape: Shape) -> Hole:
        """Return the hole of a gathering shape that holds the run."""
        return next(h for h in pic.holes(shape.cases[0].wire) if h.path == "run")

    def gather(self, hole: Hole, pairs: list[Any]) -> list[Any]:
        """Put neighbours of a gathering shape into one wire element."""
        found: list[Any] = []
        last: Gathered | None = None
        for part, wire in pairs:
            if not isinstance(wire, Gathered):
                last = None
                found.append((part, wire))
                continue
            memory = part.get("spelled", {}).get(self.dialect.name, {}) if self.same else {}
            apart = memory.get("../", {}).get("apart")
            if last is None or last.shape is not wire.shape or apart:
                last = Gathered(wire.shape, [])
                found.append((part, last))
            last.wire.append(wire.wire)
        return [(p, self._run(w, p) if isinstance(w, Gathered) else w) for p, w in found]

    def _run(self, run: Gathered, first: Any) -> Any:
        memory = first.get("spelled", {}).get(self.dialect.name, {}) if self.same else {}
        around = {k[2:]: v for k, v in memory.items() if k.startswith("../") and k != "../"}
        view = View({"spelled": {self.dialect.name: around}}, "", run.shape.cases[0], self)
        hole = self.run_hole(run.shape)
        view.names["run"] = (run.wire, "run")
        view.lists["run"] = {id(hole): [(None, w) for w in run.wire]}
        wire = self.picture(run.shape.cases[0].wire, view, (), top=True)
        if self.same:
            kept = first.get("kept", {}).get(self.dialect.name, {})
            self.put_back({k[2:]: v for k, v in kept.items() if k.startswith("../")}, wire)
        return wire

    # -- the object itself --------------------------------------------------------------------

    def itself(self, h: Hole, view: View, rel: At, into: Any) -> Any:
        """Write a hole that is made of the object's own fields."""
        assert h.shape is not None
        best: Misfit | None = None
        name = view.memory.get(pointer(rel), {}).get("case")
        cases = self.dialect.cases_of(h.shape)
        if name is not None:
            cases = sorted(cases, key=lambda pair: pair[1].name != name)
        for obj in self._rungs(h.shape, view):
            for shape, case in cases:
                inner = View(obj, shape.name, case, self)
                mark = len(self.notes)
                try:
                    if case.ir is not None:
                        self.match(case.ir, obj, "", inner)
                    wire = self.picture(case.wire, inner, rel, top=True)
                    if not inner.claims:
                        raise Misfit("nothing is written", rel, case.pos)
                    view.claims |= inner.claims
                    if obj is not view.obj:
                        self._said(view, obj, wire)
                    if case.note is not None and not self.same:
                        at = self.trail.find(obj, next(iter(inner.claims)))
                        told = f"written as `{case.name}`"
                        self.note(case.note, "changed", at, case.pos, told, wire)
                    return wire
                except Misfit as misfit:
                    del self.notes[mark:]
                    if best is None or _tells(misfit, best):
                        best = misfit
        if h.mark == "optional":
            return ABSENT
        raise best or Misfit("nothing fits", rel, h.pos)

    def _rungs(self, name: str, view: View) -> Iterable[dict[str, Any]]:
        yield view.obj
        self._row: Any = None
        for row in self.ladder.get(name, ()):
            try:
                new, _, path = step(row, view.obj, self.trail)
            except Misfit:
                continue
            self._row = (row, path)
            yield new

    def _said(self, view: View, obj: dict[str, Any], wire: Any) -> None:
        row, path = self._row
        at = self.trail.find(view.obj, path or None)
        self.note(row.name, row.effect, at, row.pos, row.message, wire)
        for key in view.obj:
            if key not in obj or obj[key] is not view.obj[key]:
                view.claims.add(key)

    # -- what is left -------------------------------------------------------------------------

    def leftover(self, view: View, wire: Any) -> None:
        """Put kept keys back at home; note everything that no picture took abroad."""
        obj = view.obj
        for name, kept in obj.get("kept", {}).items():
            if name == self.dialect.name and self.same:
                self.put_back({k: v for k, v in kept.items() if not k.startswith("..")}, wire)
                continue
            base = self.trail.find(obj, "kept")
            for key, value in kept.items():
                if value is None:
                    continue
                at = self.trail.find(obj, key) if key.startswith("..") else None
                if at is None and base is not None:
                    at = (*base, *keys_of(key))
                told = "no picture names this key, and the target has no place for it"
                self.note("unknown-key", "lost", at, view.case.pos, told)
        for key, value in obj.items():
            if key not in view.claims and not self._silent(key, value, obj):
                self._left(view, key, value)

    def _silent(self, key: str, value: Any, obj: dict[str, Any]) -> bool:
        if key in DERIVED or value is None:
            return True
        # The name of a result follows from its call.
        return (
            key == "name"
            and obj.get("type") == "tool_result"
            and (
                self.trail.find(obj, "name") is None
                or self.calls.get(obj.get("tool_call_id", "")) == value
            )
        )

    def _left(self, view: View, path: str, value: Any) -> None:
        obj = view.obj
        inside = [c for c in view.claims if c.startswith(f"{path}.")]
        if path == "own" or (inside and isinstance(value, dict)):
            for key, inner in value.items() if isinstance(value, dict) else ():
                deeper = f"{path}.{key}"
                if deeper in view.claims or inner is None:
                    continue
                if path == "own" and isinstance(inner, dict):
                    if key == self.dialect.name and self.same:
                        pass
                    for name, leaf in inner.items():
                        if f"{deeper}.{name}" not in view.claims and leaf is not None:
                            at = self.trail.find(inner, name) or self.trail.find(obj)
                            told = f"`{name}` is a field of {key} alone"
                            self.note("own-field", "lost", at, view.case.pos, told)
                elif key not in DERIVED:
                    self._left(view, deeper, inner)
            return
        if isinstance(value, dict) and self.trail.spread(value, self.trail.find(obj, path)):
            for key in value:
                self._left(view, f"{path}.{key}", value[key])
            return
        last = path.rpartition(".")[2]
        if last in ("spelled", "kept") or (last == "type" and "." in path):
            return
        at = self.trail.find(obj, path) or self.trail.find(obj)
        self.lefts.append((id(obj), path.partition(".")[0]))
        reason = view.case.drop.get(path)
        if reason:
            self.note("dropped", "lost", at, view.case.pos, reason)
        elif last == "signature" and isinstance(value, dict):
            told = f"only {value.get('origin')} can read this"
            self.note("foreign-signature", "lost", at, view.case.pos, told)
        else:
            told = f"the target has no place for `{path}`"
            self.note("no-place", "lost", at, view.case.pos, told)

    def put_back(self, kept: dict[str, Any], wire: Any) -> None:
        """Put kept keys back where they stood, if the place is still there."""
        for key, value in kept.items():
            owner, keys = wire, keys_of(key)
            for name in keys[:-1]:
                if isinstance(owner, list):
                    owner = (
                        owner[int(name)] if name.isdecimal() and int(name) < len(owner) else None
                    )
                elif isinstance(owner, dict):
                    owner = owner.setdefault(name, {})
                else:
                    owner = None
                if owner is None:
                    break
            if isinstance(owner, dict) and keys[-1] not in owner:
                owner[keys[-1]] = value


class Gathered:
    """A wire piece that waits for its neighbours."""

    __slots__ = ("shape", "wire")

    def __init__(self, shape: Shape, wire: Any) -> None:
        self.shape, self.wire = shape, wire


def _means(text: str, value: Any) -> bool:
    try:
        return same(parse_json(text), value) if text.strip() else value == {}
    except Misfit:
        return False


def _tells(one: Misfit, other: Misfit) -> bool:
    return len(one.at) > len(other.at)


def _alike(read: Any, meant: Any) -> bool:
    """Tell whether what was read back says nothing else than what was meant.

    Fields that the picture could not hold are missing; those have notes of their own.
    """
    if isinstance(read, dict) and isinstance(meant, dict):
        skip = ("spelled", "kept", "arguments_json", "value_json", "own")
        if read.get("kind") == "text" and meant.get("kind") == "multimodal":
            # One plain text block is that text.
            blocks = meant.get("value")
            return isinstance(blocks, list) and [b.get("text") for b in blocks] == [read["value"]]
        return all(k in meant and _alike(v, meant[k]) for k, v in read.items() if k not in skip)
    if isinstance(read, list) and isinstance(meant, list):
        return len(read) == len(meant) and all(map(_alike, read, meant))
    return same(read, meant)
