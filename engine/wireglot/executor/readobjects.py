"""Writes the functions that read: one for each case of a shape, from the wire to the IR.

`read_SHAPE_CASE(x, w, at, L)` reads the wire value `w` at the place `at` for the reader `x`; with
`L` it is lenient: what does not fit is kept where its hole is marked. It returns what was read, or
NO where the case does not fit. Whatever is odd about an object leaves it to the interpreter.
"""

from __future__ import annotations

from itertools import groupby

from ..interpreter.env import empty_of
from ..language.lenses import is_guard
from ..language.measure import needed
from ..language.picture import ABSENT, Fields, Hole, Literal, Picture, Test, holes, keyed
from ..language.shape import Case, holes_written_before, only_read_again
from .code import Unwritten
from .holetests import is_own, named
from .readholes import taken
from .reads import HoleText
from .readtext import OWN, CaseText, Key, Later, Rel, Slot

Entry = tuple[tuple[str, ...], Picture]


class WireText(HoleText):
    """Writes how the wire is read."""

    def read(self) -> None:
        """Write how the wire is read."""
        wire = self.case.wire
        if _left_to_walk(self):
            raise Unwritten
        if isinstance(wire, Fields):
            self.line("if w.__class__ is not dict: return NO", wire.pos)
            self.fields(wire, "w", (), True)
        else:
            self.picture(wire, "w", ())

    def fields(self, p: Fields, v: str, rel: Rel, top: bool) -> None:
        """Read the keys of an object."""
        respelled = self._aliases(p, v)
        if top and len(self.shape.cases) > 1:
            self._early(p.entries)
        for own, run in groupby(p.entries, self._is_own):
            some = list(run)
            if own and not any(isinstance(key, Key) for key in rel):
                self._own(some, v, rel)
                continue
            for names, child in some:
                self.entry(v, respelled, names, child, rel)
        self._others(p, v, rel)

    def _is_own(self, entry: Entry) -> bool:
        """Tell whether a field of one family stands under a key, alone and taken as it is."""
        names, h = entry
        if self.runs or self.bare or len(names) > 1 or not isinstance(h, Hole) or not is_own(h):
            return False
        return h.path not in self.bound and h not in holes_written_before(self.case)

    def _own(self, entries: list[Entry], v: str, rel: Rel) -> None:
        """Read such fields, which stand one after the other: mostly none of them is there."""
        table = {h.path[4:]: names[0] for names, h in entries if isinstance(h, Hole)}
        more, known = self.name("more"), self.value(table)
        self.line(f"{more} = ABSENT")
        with self.t.under(f"if not {self.value(frozenset(table.values()))}.isdisjoint({v}):"):
            if self.track:
                self.line(f"{more}, sp = find_own_at_home({v}, {known}, sp, {self.pointer(rel)})")
            else:
                self.line(f"{more} = find_own({v}, {known})")
        self.owned.update((name, (*rel, key)) for name, key in table.items())
        self.slots.append(Slot(OWN, more, None, False))

    def _early(self, entries: list[Entry]) -> None:
        """Look first for what tells other cases: fixed values, the keys of objects within."""
        costly = False
        for names, child in entries:
            costly = costly or (isinstance(child, Hole) and bool(child.lenses or child.mode))
            if isinstance(child, Literal) and len(names) == 1 and costly:
                self.line(f"found = w.get({names[0]!r}, ABSENT)")
                self.line(f"if {self.unlike(child, 'found')}: return NO", child.pos)
            if isinstance(child, Fields) and len(names) == 1 and not child.loose:
                keys = [n[0] for n, c in child.entries if len(n) == 1 and needed(c)]
                if keys:
                    self.line(f"inner = w.get({names[0]!r})")
                    test = " or ".join(f"{key!r} not in inner" for key in keys)
                    self.line(f"if inner.__class__ is not dict or {test}: return NO", child.pos)

    def _others(self, p: Fields, v: str, rel: Rel) -> None:
        """Read the keys that no entry names."""
        names = self.value(p.names)
        if p.spread:
            self._spread(p, v, rel)
            return
        if p.closed:
            self.line(f"if not {names}.issuperset({v}): return {self.no}", p.pos)
            return
        with self.t.under(f"if not {names}.issuperset({v}):"):
            self._kept(v, names, rel)

    def _kept(self, v: str, names: str, rel: Rel) -> None:
        self.line(f"if x.drops: return {self.odd}")
        self.line(f"kp = keep(kp, {v}, {names}, {self.kept(rel)})")

    def _spread(self, p: Fields, v: str, rel: Rel) -> None:
        """Read the keys that no entry names by the holes that stand for all others (`...:`)."""
        others = self.name("others")
        names, none = self.value(p.names), self.value(frozenset())
        if p.spread[0].shape is None:
            self.line(f"{others} = other_keys({v}, {names})", p.pos)
        for h in p.spread:
            var = self.name(h.path if h.path != "." else h.named)
            if h.shape is None:
                self.line(f"{var}, {others} = {others}, {{}}", h.pos)
                for lens in filter(is_guard, h.lenses):  # of all other keys nothing is a form
                    self.line(f"if not guard({lens!r}, {var}): return {self.no}", h.pos)
                if h.mark is not None:
                    self.line(f"if not {var}: {var} = ABSENT")
                self.slots.append(Slot(h.path, var, rel, h.mark is None))
                continue
            keys = self.value(self.dialect.keys_of(h.shape))
            source = f"{v}, {names}" if h is p.spread[0] else f"{others}, {none}"
            self.line(f"{var}, {others} = split_others({source}, {keys})", h.pos)
            if h.mark is not None:
                self.line(f"if not {var}: {var} = ABSENT")
            if h.path == ".":
                self.later.append(Later(h, var, rel, True))
                continue
            made = self.name(h.path)
            with self.t.where(f"{var} is not ABSENT" if h.mark is not None else ""):
                taken(self, h, var, made, rel, True)
            if h.mark is not None:
                self.absent.append(made)
            self.slots.append(Slot(h.path, made, None, h.mark is None))
            self.several.append((h.path, var, rel))
            if rel:
                self.absent.append(var)
        if p.closed:
            self.line(f"if {others}: return {self.no}", p.pos)
        else:
            with self.t.under(f"if {others}:"):
                self._kept(others, none, rel)

    def entry(
        self, owner: str, respelled: str, names: tuple[str, ...], child: Picture, rel: Rel
    ) -> None:
        """Read what stands under one key, in any of its spellings."""
        key = f"w_{names[0]}"
        v = self.name(child.path if isinstance(child, Hole) and self.stays(child) else key)
        here = self._get(owner, respelled, names, v, rel)
        if isinstance(child, Fields):
            self.object(child, v, here)
        else:
            self.picture(child, v, here)

    def _aliases(self, p: Fields, v: str) -> str:
        """Look once whether an object has any key in another spelling than the first."""
        groups = tuple(names for names, _ in p.entries if len(names) > 1)
        if not groups:
            return ""
        others = frozenset(name for names in groups for name in names[1:])
        respelled = self.name("respelled")
        self.respelled.append(respelled)
        self.line(f"{respelled} = not {self.value(others)}.isdisjoint({v})")
        # What stands twice is remembered at home, and may say two things anywhere.
        twice = "in_two_spellings" if self.track else "says_two_things"
        double = f"{respelled} and {twice}({v}, {self.value(groups)})"
        self.line(f"if {double}: return {self.odd}", p.pos)
        return respelled

    def _get(self, owner: str, respelled: str, names: tuple[str, ...], v: str, rel: Rel) -> Rel:
        """Get what stands under a key in any of its spellings; return the place of it."""
        usual = f"{owner}.get({names[0]!r}, ABSENT)"
        if len(names) == 1:
            self.line(f"{v} = {usual}")
            return (*rel, names[0])
        made = Key(names[0])
        made.var, made.test = self.name("key"), respelled
        other = f"find_spelling({owner}, {self.value(names)})"
        self.line(f"{made.var}, {v} = {other} if {respelled} else ({names[0]!r}, {usual})")
        if self.track:
            test = f"{respelled} and {made.var} != {names[0]!r}"
            self.line(
                f"if {test}: sp = marked(sp, {self.pointer((*rel, made))}, 'key', {made.var})"
            )
        return (*rel, made)

    def object(self, p: Fields, v: str, rel: Rel) -> None:
        """Read an object within the object."""
        if not p.loose or any(needed(child) for _, child in p.entries):
            self.line(f"if {v}.__class__ is not dict: return {self.no}", p.pos)
            self.fields(p, v, rel, False)
            return
        marks = len(self.slots), len(self.sums), len(self.later), len(self.copies)
        respelled = len(self.respelled)
        with self.t.under(f"if {v}.__class__ is dict and {v}:"):
            self.fields(p, v, rel, False)
            if self.track and not (p.spread or p.firm):
                self._there(p, v, rel)
        if any(h.mark == "default" for h in holes(p)):
            self.line(f"else: return {self.odd}")
        else:
            empty = empty_of(p)
            spelled = f"spell(sp, {self.pointer(rel)}, {v}, {self.value(empty)})"
            with self.t.under(f"elif {v} is not ABSENT:"):
                self.line(f"if {v} is not None and {v} != {{}}: return {self.no}", p.pos)
                self.remembers(spelled)
            if self.track and empty is not ABSENT:
                self.line(f"else: sp = {spelled}")
        # What was found within is not there where the object is not.
        self.absent += [one.var for one in self.slots[marks[0] :]]
        self.absent += [one[1] for one in self.sums[marks[1] :]]
        self.absent += [one.var for one in self.later[marks[2] :]] + self.respelled[respelled:]
        if len(self.copies) > marks[3]:
            raise Unwritten
        self.slots[marks[0] :] = [one._replace(always=False) for one in self.slots[marks[0] :]]

    def _there(self, p: Fields, v: str, rel: Rel) -> None:
        """Remember an object that holds nothing but fixed values: it is not written by itself."""
        keys = [n for names, child in p.entries if not isinstance(child, Literal) for n in names]
        if not keys:
            return
        some = " or ".join(f"{key!r} in {v}" for key in keys)
        self.line(f"if not ({some}): sp = marked(sp, {self.pointer(rel)}, 'there')")


def _left_to_walk(t: CaseText) -> bool:
    """Tell whether a case is left to the interpreter as a whole, unless none fits."""
    found, entries = list(holes(t.case.wire)), keyed(t.case.ir)
    if any(_first(h) == "result" or (h.path == "run" and not t.runs) for h in found):
        return True
    said = {names[0] for names, child in entries if not isinstance(child, Test)}
    said |= {"type"} if t.shape.kind is not None else set()
    within = {names[0] for names, child in entries if isinstance(child, Fields)}
    within |= {_first(h) for h in found if "." in h.path}
    if ({h.path for h in found} - t.bound) & (said | within | {"kept"}):
        return True  # two say one field, or one a field and the other what is within
    if any(h.path == "." and _mixed(t, h, said) for h in found):
        return True
    if t.inner and any(len(h.paths) > 1 for h in found):
        return True
    rest = only_read_again(t.case)
    once = [h.path for h in found if len(h.paths) == 1 and not h.repeats and h not in rest]
    several = {path for path in once if once.count(path) > 1} - {".", "nth"}
    if not several <= t.case.lists.keys():
        return True
    return bool(t.lists.keys() - {"parts"}) and any("." in path for path in t.lists)


def _first(h: Hole) -> str:
    return h.path.partition(".")[0]


def _mixed(t: CaseText, h: Hole, said: set[str]) -> bool:
    """Tell whether what an inner picture says depends on more than the fields."""
    for _, case in t.dialect.cases_of(h.named):
        entries = keyed(case.ir)
        fixed = {names[0] for names, child in entries if isinstance(child, Literal)}
        makes = {names[0] for names, _ in entries} | {_first(one) for one in holes(case.wire)}
        if fixed & said or makes & t.bound:
            return True
        if t.inner and not _grouped(case):
            return True  # what is no object has no place of its own two pictures further
    return False


def _grouped(case: Case) -> bool:
    """Tell whether all that a case makes are objects."""
    taken = named(case.ir)
    made = [child for names, child in keyed(case.ir) if names[0] != "own"]
    return all(isinstance(child, Fields) for child in made) and all(
        h.path in taken for h in holes(case.wire)
    )
