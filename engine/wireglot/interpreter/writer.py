"""Writing: the IR through the pictures of a dialect into a wire payload.

The other half of the interpreter. What the pictures do not take goes down the ladder, and what is
left then is noted; nothing is silent.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..ir import FUNCTION, field_type
from ..language.lenses import Misfit, guard, is_guard, same
from ..language.picture import ABSENT, Fields, Hole, Items, Literal, Picture, Text
from ..language.shape import Case, Shape, frame_case
from ..native import mypyc_attr
from ..trail import At, pointer
from . import choosing, listforms, making, selfholes, sums, writehole
from . import share as lists
from .jobs import WriteJob
from .leftover import leftover
from .limits import requires_id
from .views import View, Written

if TYPE_CHECKING:
    from ..language.events import Event


@mypyc_attr(native_class=False)
class PictureWriter(WriteJob):
    """Writes one IR value by its pictures."""

    # -- shapes -------------------------------------------------------------------------------

    def shape(self, name: str, value: Any) -> Any:
        """Write a value by the first case that takes it and reads back; raises Misfit."""
        members = [one for one in self.dialect.members(name) if not one.marks or one.name == name]
        tries = (partial(self.one, shape, value) for shape in members)
        return self.first_of(tries, f"`{name}` has no member")

    def one(self, shape: Shape, value: Any) -> Any:
        """Write a value by one shape, case by case; raises Misfit."""
        return choosing.write_by_cases(self, shape, value)

    def choice(
        self, shape: Shape, value: Any, read: Case | None, first: bool = False
    ) -> Case | None:
        """Return the case that would write a value."""
        return choosing.case_that_writes(self, shape, value, read, first)

    def case(self, shape: Shape, case: Case, value: Any) -> Any:
        """Write a value by one case; raises Misfit."""
        if not isinstance(value, dict):
            view = View({"": value}, shape.name, case, self)
            if self.recorder is not None:
                self.trail.put(view.obj, None, self.recorder.place)
            view.match(case.ir, value)
            wire = self.picture(case.wire, view, ())
            if wire is ABSENT:
                raise Misfit("nothing is written", (), case.pos)
            if self.recorder is not None:
                self.recorder.bare(wire, Written(case.wire, view, ()))
            return wire
        kind = value.get("type")
        if shape.kind is not None and kind != shape.kind and kind not in case.kinds:
            raise Misfit(f"this is no {shape.kind}", (), case.pos)
        if case.home and not self.same:
            raise Misfit("this is only read here", (), case.pos)
        view = View(value, shape.name, case, self)
        view.match(case.ir, value)
        wire = self.picture(case.wire, view, (), top=True)
        if (
            shape.kind is None
            and value.get("type", FUNCTION) != FUNCTION
            and "type" not in view.claims
        ):
            raise Misfit(f"this is a {value['type']}", (), case.pos)
        if wire is ABSENT or (wire == {} and not self._may_be_empty(case, view)):
            raise Misfit("nothing is written", (), case.pos)
        leftover(self, view, wire)
        self.written[id(value)] = (value, wire)
        if self.recorder is not None:
            self.recorder.bare(wire, Written(case.wire, view, ()))
        if case.note is not None and not self.same:
            self.note_case(case, self.trail.find(value), wire)
        return wire

    def _may_be_empty(self, case: Case, view: View) -> bool:
        # A field may be an object with nothing in it, and a picture one that has no keys. At home
        # anything may have held nothing, or only keys that no picture names.
        wire = case.wire
        bare = wire.bare if isinstance(wire, Fields) else getattr(wire, "shape", "") is None
        if bare or any(path.startswith("own.") for path in view.claims):
            return True
        kept = view.obj.get("kept")
        return self.same and (
            view.memory.get("", {}).get("empty") is True
            or (isinstance(kept, dict) and bool(kept.get(self.dialect.name)))
        )

    # -- pictures -----------------------------------------------------------------------------

    def picture(self, p: Picture, view: View, rel: At, top: bool = False, into: Any = None) -> Any:
        """Write one picture; ABSENT when there is nothing to write."""
        if isinstance(p, Hole):
            return self.hole(p, view, rel, into)
        if isinstance(p, Fields):
            return self.fields(p, view, rel, top)
        if isinstance(p, Literal):
            return self.remembered(view, rel, p.values[0])
        if isinstance(p, Text):
            values = tuple([view.peek(name) for name in p.names])
            for name, value in zip(p.names, values, strict=True):
                if not isinstance(value, str):
                    raise Misfit(f"`{name}` is missing", (), p.pos)
            text = p.write(values)
            if text is None:
                raise Misfit("the text would read back as something else", (), p.pos)
            for name in p.names:
                view.claim(name)
            return self.remembered(view, rel, text)
        assert isinstance(p, Items)
        items = [
            self.remembered(view, (*rel, i), self.picture(child, view, (*rel, i)))
            for i, child in enumerate(p.items)
        ]
        if any(item is ABSENT for item in items):
            raise Misfit("an item of the list is missing", (), p.pos)
        if self.recorder is not None:
            for i, (child, item) in enumerate(zip(p.items, items, strict=True)):
                self.recorder.wrote(items, i, item, Written(child, view, (*rel, i)))
        if p.rest is not None:
            more = self.hole(p.rest, view, (*rel, len(items)), None)
            for item in () if more is ABSENT else more:
                if self.recorder is not None:
                    made = Written(p.rest, view, (*rel, len(p.items)))
                    self.recorder.wrote(items, len(items), item, made)
                items.append(item)
        return items

    def frame(self, event: Event, nth: int, said: dict[str, Any]) -> Any:
        """Write one of the frames of an event from what is said in it; raises Misfit."""
        p = event.writes[nth]
        view = View(said, "", frame_case(p), self)
        mark = len(self.notes)
        wire = self.picture(p, view, (), top=True)
        if wire is ABSENT:
            del self.notes[mark:]
            raise Misfit("nothing is written", (), p.pos)
        return wire

    def remembered(self, view: View, rel: At, written: Any) -> Any:
        """Return what stood here when the present value was read, or what is written now."""
        entry = view.memory.get(pointer(rel))
        if entry is None or not ("as" in entry or "for" in entry):
            return written
        return entry.get("as", ABSENT) if same(entry.get("for", ABSENT), written) else written

    def fields(self, p: Fields, view: View, rel: At, top: bool) -> Any:
        """Write an object; a nested one with nothing in it is not written."""
        out: dict[str, Any] = {}
        filled = has_hole = False
        for names, child in p.entries:
            found = self.entry(names, child, view, rel, out)
            has_hole, filled = has_hole or found[0], filled or found[1]
        for hole in p.spread:
            has_hole = True
            filled = self.spread(hole, p, view, rel, out) or filled
        if not top and has_hole and not filled and not p.firm:
            return out if view.memory.get(pointer(rel), {}).get("there") else ABSENT
        return out

    def entry(
        self, names: tuple[str, ...], child: Picture, view: View, rel: At, out: dict[str, Any]
    ) -> tuple[bool, bool]:
        """Write one key of an object; tell whether it is more than a word, and stands there."""
        key, here = names[0], (*rel, names[0])
        if len(names) > 1 and isinstance(child, Hole) and "again" in child.lenses:
            key = listforms.key_of_parts(self, view.peek(child.path), names)
        entry = view.memory.get(pointer(here), {})
        key = entry.get("key", key)
        mark = len(self.notes)
        value = self.picture(child, view, here, into=(out, key))
        if isinstance(child, Fields):
            found, value = value, self.remembered(view, here, value)
            if value is not found:  # nothing is filled in after all
                self.notes[mark:] = [d for d in self.notes[mark:] if d.code != "filled-in"]
        bare = isinstance(child, Literal)
        if value is ABSENT:
            nulls = [k for k, said in entry.get("twice", {}).items() if said == {"as": None}]
            out.update(dict.fromkeys(nulls))  # beside what no picture took, which is put back
            return not bare, False
        out[key] = value
        if self.recorder is not None and not (isinstance(child, Fields) and value):
            self.recorder.wrote(out, key, value, Written(child, view, here))
        for other, said in entry.get("twice", {}).items():
            out[other] = value if said is None else said["as"]
            if self.recorder is not None:
                self.recorder.wrote(out, other, value, Written(child, view, here))
        stood = isinstance(child, Literal) and child.values[0] is ABSENT  # it stood so at home
        return not bare, not bare or stood

    def spread(self, h: Hole, p: Fields, view: View, rel: At, out: dict[str, Any]) -> bool:
        """Write a hole whose keys stand among the outer ones."""
        if h.shape is None:
            value = view.peek(h.path)
            if value is ABSENT and h.mark:
                return False
            if not isinstance(value, dict):
                raise Misfit(f"`{h.path}` is no object", (), h.pos)
            if any(is_guard(lens) and not guard(lens, value) for lens in h.lenses):
                raise Misfit(f"`{h.path}` is not {' and '.join(h.lenses)}", (), h.pos)
            if "home" in h.lenses and not self.same:
                raise Misfit(f"`{h.path}` is only read here", (), h.pos)
            clash = p.names.intersection(value)
            if clash:
                raise Misfit(f"`{min(clash)}` means something else here", (), h.pos)
            out.update(value)
            view.claim(h.path)
            if self.recorder is not None:
                for key, inner in value.items():
                    self.recorder.wrote(out, key, inner, Written(h, view, (*rel, key)))
            return bool(value) or h.mark is None  # of no key left nothing is read
        mark = len(self.notes)
        wire = self.hole(h, view, rel, (out, None))
        if wire is ABSENT:
            return False
        if not isinstance(wire, dict):
            raise Misfit(f"`{h.path}` is no object", (), h.pos)
        for key in wire:
            if key in out:
                raise Misfit(f"`{key}` is written twice", (), h.pos)
        out.update(wire)
        if self.recorder is not None:
            self.recorder.copy(wire, out)
        self.place_spread_notes(wire, out, mark)
        return True

    # -- holes --------------------------------------------------------------------------------

    def hole(self, h: Hole, view: View, rel: At, into: Any) -> Any:
        """Write one hole: value, shape, lenses, then the mark and the memory."""
        if h.path == ".":
            made = selfholes.write(self, h, view, rel, into)
            if made is ABSENT and h.mark != "optional":
                made = self._mark(h, view, rel, into, view.memory.get(pointer(rel), {}))
            named = into is not None and into[1] is not None
            return self.remembered(view, rel, made) if named else made
        if h.path == "nth":
            return self.remembered(view, rel, self.nth)
        names = h.path in ("id", "tool_call_id")
        made = names and id(view.obj) in self.made
        needed = names and requires_id(self.limits.limits)
        if made and self.same and not needed:
            view.claim(h.path)
            return ABSENT  # home had no id, and needs none
        value = sums.total(h, view) if len(h.paths) > 1 else view.peek(h.path)
        if (
            names
            and not needed
            and h.mark in ("made", "refused", "read-only")
            and value in self.unseen_ids
        ):
            view.claim(h.path)
            value = ABSENT
        entry = {} if made else view.memory.get(pointer(rel), {})
        if entry.get("none"):  # another value stood there, and is kept
            return entry.get("as", ABSENT)
        if h.mark == "copy" and value is ABSENT and not view.memory:
            value = making.make_copied(self, h, view, into)
        if entry.get("again"):
            return listforms.repeat_text(self, h, view) or ABSENT
        if h.only_read and h.mode != "each":
            if not entry.get("old"):
                return self.remembered(view, rel, ABSENT) if entry else ABSENT
            if self.repair_asked and h.mark == "refused":
                view.refused[view.source(h.path)] = (h, rel)
                return ABSENT
        if value is None and field_type(view.shape, h.path) != "any":
            value = ABSENT
        wire: Any = ABSENT
        if value is not ABSENT:
            claims = set(view.claims) if h.mark is not None else None
            mark = len(self.notes)
            try:
                wire = writehole.write_value(self, h, value, view, rel, into)
            except Misfit:
                if claims is None:
                    raise
                del self.notes[mark:]
                view.claims = claims
            else:
                if h.value == "time" and h.mark == "made" and isinstance(value, str):
                    self.last_time = value
                for path in h.paths:
                    view.claim(path)
                    if into is not None:
                        self.place_part_note(view.obj, path, into)
                        self.place_field_note(view.source(path), into)
                if len(h.paths) > 1:
                    sums.note_joined_terms(self, h, view, into)
                if made:
                    making.by_hook(self, h, view.obj, into)
        if wire is ABSENT:
            wire = self._mark(h, view, rel, into, entry)
        if entry and not (into is not None and into[1] is None):
            return self.remembered(view, rel, wire)
        return wire

    def _mark(self, h: Hole, view: View, rel: At, into: Any, entry: dict[str, Any]) -> Any:
        """Return what a hole writes for nothing, by its mark; raises Misfit where it has none."""
        if h.mark in ("default", "fill"):
            return making.fill_value(self, h, view.obj, rel, into, "for" in entry)
        if h.mark == "made" and h.value is not None:
            if entry.get("made"):
                return ABSENT
            made = making.make_for_view(self, h, view, into)
            return writehole.write_value(self, h, made, view, rel, into)
        if h.mark is None:
            self.missing.add(h.path)
            raise Misfit(f"`{h.path}` is missing", rel, h.pos)
        return ABSENT

    # -- lists --------------------------------------------------------------------------------

    def share(
        self, holes: list[Hole], parts: list[Any], whole: bool = False
    ) -> dict[int, list[Any]]:
        """Give each part of a list to the hole that takes it."""
        return lists.share(self, holes, parts, whole)

    def give(self, *given: Any, **more: Any) -> list[tuple[Hole, Any, Any]]:
        """Write one part by the first hole that takes it; a lost part is noted."""
        return lists.give(self, *given, **more)

    def elements(self, hole: Hole, parts: list[Any]) -> list[Any]:
        """Write the elements that parts become where one hole takes them."""
        return [wire for _, wire in self.share([hole], parts)[id(hole)]]
