"""Reading: a wire payload through the pictures of its dialect into the IR.

This is half of the interpreter, the executable meaning of the language. Reading never raises but
Misfit (inside) and ConversionError (to the caller).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ir import field_type
from ..language.lenses import Misfit, guard, is_guard, same
from ..language.measure import has_fixed_words, may_fit
from ..language.picture import (
    ABSENT,
    Fields,
    Hole,
    Items,
    Literal,
    Picture,
    Text,
    distinguishes,
    keyed,
)
from ..language.shape import Case, Shape, holes_written_before
from ..language.talk import Group
from ..native import mypyc_attr
from ..tagged import Several
from ..trail import At, path_of, pointer
from . import building, conversation, elements, readhole, selfholes, sums
from .env import Env, empty_of, literal_index, show, show_text
from .jobs import ReadJob, Tries


@mypyc_attr(native_class=False)
class PictureReader(ReadJob):
    """Reads one payload by its pictures."""

    # -- shapes -------------------------------------------------------------------------------

    def shape(self, name: str, wire: Any, at: At, lenient: bool = False) -> Any:
        """Read one node by the first case that fits; raises the deepest Misfit."""
        return self.first(self.dialect.cases_of(name), wire, at, lenient)

    def as_home(self, name: str, wire: Any, at: At) -> Any:
        """Read one node as if it might be written again, for it counts whether it could be."""
        home, self.home = self.home, not self.probe
        try:
            return self.shape(name, wire, at)
        finally:
            self.home = home

    def whole(self, shape: Shape, wire: Any, at: At) -> Any:
        """Read a node by the cases of a shape, strictly, or else with what does not fit kept."""
        cases = [(shape, case) for case in shape.cases]
        try:
            return self.first(cases, wire, at, False)
        except Misfit:
            return self.first(cases, wire, at, True)

    def first(self, cases: Iterable[tuple[Shape, Case]], wire: Any, at: At, lenient: bool) -> Any:
        """Read one node by the first of some cases that fits."""
        quick = wire.__class__ is dict
        found: list[Misfit | Case] = []  # why a case did not fit, or one that cannot
        for shape, case in cases:
            if shape.groups or shape.marks:
                continue
            if quick and not may_fit(case, wire):
                found.append(case)
                continue
            tries = Tries(self)
            with tries:
                return building.by_case(self, shape, case, wire, at, lenient)
            found.append(tries.best or case)
        # Nothing fits: what lies deepest says most, the first of those that lie equally deep.
        why = [o if isinstance(o, Misfit) else self._why(o, wire, at, lenient) for o in found]
        raise max(why, key=lambda misfit: len(misfit.at), default=Misfit("nothing fits", at))

    def _why(self, case: Case, wire: dict[str, Any], at: At, lenient: bool) -> Misfit:
        """Return why a case does not fit that lacks keys or fixed words."""
        tries = Tries(self)
        with tries:
            if not has_fixed_words(case, wire):
                self._unfit(case, wire, at)
            self.case(case, wire, at, lenient)
        return tries.best or Misfit("nothing fits", at)

    def _unfit(self, case: Case, wire: dict[str, Any], at: At) -> None:
        """Raise the Misfit of a case whose fixed words do not stand in an object."""
        for names, child in keyed(case.wire):
            if isinstance(child, Literal):
                key = next((name for name in names if name in wire), names[0])
                self.literal(child, wire.get(key, ABSENT), (*at, key), (), Env(at, case, False))

    def case(
        self, case: Case, wire: Any, at: At, lenient: bool, outer: Env | None = None, rel: At = ()
    ) -> Env:
        """Match one case's picture; `outer` shares its base, and `rel` is the place below it."""
        env = Env(outer.base if outer else at, case, lenient)
        self.picture(case.wire, wire, at, rel, env, top=True)
        self.finish(env)
        return env

    def finish(self, env: Env) -> None:
        """Solve the sums, then read the holes that need what their neighbours found."""
        unsolved = [s for s in env.sums if not sums.solve_sum(self, *s, env)]
        for hole, wire, at, rel in unsolved:
            sums.remember_unsolved(hole, wire, at, rel, env)
        for hole, wire, at, rel in env.copies:
            readhole.read_copy(self, hole, wire, at, rel, env)
        for hole, wire, at, rel, spread in env.later:
            selfholes.read(self, hole, wire, at, rel, env, spread)

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
                raise Misfit(f"expected a text like {show_text(p)}, got {show(wire)}", at, p.pos)
            found = self.usual(p, wire, found, at, rel, env)
            for name, value in zip(p.names, found, strict=True):
                said = env.fields.get(name, (value,))[0]
                if said != value:
                    raise Misfit(f"`${name}` is {show(said)} and {show(value)}", at, p.pos)
                env.put(name, value, at)
            if self.recorder is not None:
                self.recorder.reads[at] = p
        elif isinstance(p, Items):
            head = len(p.items)
            if not isinstance(wire, list) or len(wire) < head or (len(wire) > head and not p.rest):
                more = " or more" if p.rest is not None else ""
                raise Misfit(f"expected a list of {head}{more}", at, p.pos)
            if not wire:
                self.mark_redundant(at, "it is empty", p.pos)
            for i, (child, item) in enumerate(zip(p.items, wire, strict=False)):
                self.picture(child, item, (*at, i), (*rel, i), env)
            if p.rest is not None:
                elements.read_rest(self, p.rest, wire, head, at, (*rel, head), env)

    def usual(
        self, p: Text, wire: str, found: tuple[str, ...], at: At, rel: At, env: Env
    ) -> tuple[str, ...]:
        """Return what a text picture found, with the usual word for a media type."""
        types = self.dialect.media_types
        if "media_type" in p.names:
            pairs = zip(p.names, found, strict=True)
            usual = tuple(types.get(v, v) if name == "media_type" else v for name, v in pairs)
            written = p.write(usual)
        else:
            written = types.get(wire, wire)
            usual = p.read(written) or found
        if usual == found or written is None:
            return found
        env.spell(rel, wire, written)
        reason = f"the media type of {show(wire)} is said in another way"
        env.notes.append(("reworded", "changed", at, p.pos, reason))
        return usual

    def literal(self, p: Literal, wire: Any, at: At, rel: At, env: Env) -> None:
        """Match a fixed value and remember which spelling it was."""
        place = literal_index(p.values, wire)
        if place is None:
            said = " or ".join(show(v) for v in p.values)
            raise Misfit(f"expected {said}, got {show(wire)}", at, p.pos)
        if place or (wire is None and p.values[0] is ABSENT):
            env.spell(rel, wire, p.values[0])
        if self.recorder is not None and wire is not ABSENT:
            self.recorder.say(env, at, p)

    def fields(self, p: Fields, wire: Any, at: At, rel: At, env: Env, top: bool) -> None:
        """Match an object; one that may be missing may be null or have no keys."""
        there = isinstance(wire, dict)
        hollow = p.loose and not top and (wire is ABSENT or wire is None or wire == {})
        if not (there or hollow):
            raise Misfit(f"expected an object, got {show(wire)}", at, p.pos)
        if not hollow:
            self._entries(p, wire, at, rel, env)
            if not top and not _holds(p, wire):
                env.mark(rel, "there")
            return
        before = dict(env.spelled)
        try:
            self._entries(p, {}, at, rel, env)
        except Misfit:
            if there:
                raise
            raise Misfit(f"expected an object, got {show(wire)}", at, p.pos) from None
        # The object as a whole is remembered, not what its keys would have been.
        env.spelled = before
        env.sums = [found for found in env.sums if found[3][: len(rel)] != rel or not found[0].mark]
        empty = empty_of(p)
        if not (wire is ABSENT and empty is ABSENT):
            env.spell(rel, wire, empty)

    def _entries(self, p: Fields, wire: dict[str, Any], at: At, rel: At, env: Env) -> None:
        """Match the keys of an object, then holes for all others; what is left is kept."""
        used: set[str] = set()
        if not wire:
            self.mark_redundant(at, "it is empty", p.pos)
        for names, child in p.entries:
            key = names[0]
            if len(names) > 1 and (key := told_by(names, wire)) != names[0]:
                env.mark((*rel, names[0]), "key", key)
            value = wire.get(key, ABSENT)
            if len(names) > 1 and value is not ABSENT:
                self._twice(names, key, wire, at, (*rel, names[0]), env, used)
            if value is ABSENT:
                if child.idle:
                    continue
            else:
                used.add(key)
            self.picture(child, value, (*at, key), (*rel, names[0]), env)
        rest = {k: v for k, v in wire.items() if k not in used} if len(used) < len(wire) else {}
        for hole in p.spread:
            if hole.shape is None:
                taken, rest = rest, {}
                if not p.names.isdisjoint(taken):
                    raise Misfit("a key stands here under two spellings", at, hole.pos)
                if any(is_guard(lens) and not guard(lens, taken) for lens in hole.lenses):
                    raise Misfit(f"this is not {' and '.join(hole.lenses)}", at, hole.pos)
                if taken or hole.mark is None:
                    env.put(hole.path, taken, at)
                continue
            keys = self.dialect.keys_of(hole.shape)
            taken = {k: v for k, v in rest.items() if k in keys}
            rest = {k: v for k, v in rest.items() if k not in keys}
            if not taken and hole.mark is not None:
                continue
            self.hole(hole, taken, at, rel, env, spread=True)
        if rest and p.closed:
            raise Misfit(f"`{next(iter(rest))}` is not expected here", at, p.pos)
        for key, value in rest.items():
            here = (*at, key)
            env.keep(here, value)
            reason = self.drops.get(path_of(here)) if self.drops else None
            if reason is not None and value is not None:
                env.notes.append(("dropped", "lost", here, p.pos, reason))
            elif value is not None and key in p.names:
                known = (name for names, _ in p.entries if key in names for name in names)
                counts = next(name for name in known if name in used)
                reason = f"`{counts}` stands beside it, says something else, and counts"
                env.notes.append(("inconsistent", "changed", here, p.pos, reason))

    def _twice(
        self,
        names: tuple[str, ...],
        key: str,
        wire: dict[str, Any],
        at: At,
        rel: At,
        env: Env,
        used: set[str],
    ) -> None:
        """Remember other spellings of a key that say the same beside it, or nothing."""
        for name in names:
            if name == key or name not in wire:
                continue
            if (again := same(wire[name], wire[key])) or not distinguishes(wire[name]):
                entry = env.spelled.setdefault(pointer(rel), {})
                found = None if again else {"as": wire[name]}
                entry["twice"] = {**entry.get("twice", {}), name: found}
                used.add(name)
                self.mark_redundant((*at, name), "it repeats another value", env.case.pos)

    # -- holes --------------------------------------------------------------------------------

    def hole(self, h: Hole, wire: Any, at: At, rel: At, env: Env, spread: bool = False) -> None:
        """Match a hole: absence by its mark, then lenses and shape backwards."""
        if h.path == "nth":
            readhole.read_nth(self, h, wire, at, rel, env)
            return
        if len(h.paths) > 1 or h.repeats:
            (env.copies if h.repeats else env.sums).append((h, wire, at, rel))
            return
        none = wire is ABSENT or (
            wire is None and not (h.null and field_type(env.case.shape, h.path) == "any")
        )
        if none or (self.probe and h.mark == "fill" and same(wire, h.value)):
            readhole.read_nothing(self, h, wire, at, rel, env)
            return
        if h.path == "signature" and wire in self.dialect.signatures.none:
            env.spell(rel, wire, ABSENT)  # there is none, and home says so again
            self.mark_redundant(at, "it says that there is none", h.pos)
            return
        if "again" in h.lenses and readhole.read_repeated(self, h, wire, at, rel, env):
            return
        if (
            h.path in env.fields
            and h.mode != "each"
            and readhole.read_again(self, h, wire, at, rel, env)
        ):
            return
        if h.path == ".":
            env.later.append((h, wire, at, rel, spread))
            return
        # A conversation is never left out as a whole, and what is kept stands below something.
        may_keep = env.lenient and h.mark is not None and h.shape != "conversation"
        may_keep = may_keep and (spread or len(at) != len(env.base))
        before = dict(env.spelled) if may_keep else None
        try:
            value = readhole.read_value(self, h, wire, at, rel, env)
        except Misfit as misfit:
            misfit.__traceback__ = None
            if before is None:
                raise
            env.spelled = before
            readhole.keep(h, wire, at, rel, env, misfit, spread)
            return
        if h.only_read:
            env.mark(rel, "old")
        for other in holes_written_before(env.case).get(h, ()) if h.path not in env.fields else ():
            env.mark(other, "none")  # nothing stood there
        if spread and wire:
            at = Several.of([(*at, key) for key in wire])
        if self.recorder is not None:
            self.recorder.reads[at] = h
            if value == []:
                self.recorder.nothing(env, h.path, at)
        env.put(h.path, value, at)

    def element(
        self, name: str, item: Any, at: At, modes: tuple[bool, ...] = (False, True)
    ) -> tuple[list[Any], Shape | None]:
        """Read one element of a list; a gathering shape gives several."""
        return elements.read_element(self, name, item, at, modes)

    def message(self, item: Any, at: At) -> tuple[Group, list[dict[str, Any]]]:
        """Read one wire message: its group, and the IR messages that it holds."""
        return conversation.read_message(self, item, at)


def told_by(names: tuple[str, ...], wire: dict[str, Any]) -> str:
    """Return the spelling of a key under which an object says something, or that is there."""
    there = [name for name in names if name in wire]
    return next(
        (name for name in there if distinguishes(wire[name])), there[0] if there else names[0]
    )


def _holds(p: Fields, wire: dict[str, Any]) -> bool:
    """Tell whether an object holds more than fixed values: without that it would not be written."""
    if p.spread or p.firm:
        return True
    fixed = all(isinstance(child, Literal) for _, child in p.entries)
    return fixed or any(
        name in wire
        for names, child in p.entries
        if not isinstance(child, Literal)
        for name in names
    )
