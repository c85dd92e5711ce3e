"""Holes that are made of the object's own fields, read by generated functions."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..interpreter import building, selfholes
from ..interpreter.env import Memory
from ..language.picture import Fields, Hole, Literal
from ..language.shape import Case, Shape
from ..tagged import Several
from ..trail import At, pointer
from .readtime import NO, ODD, is_literal, marked


class Inner(NamedTuple):
    """One case of the object's own fields: the name of its function, and whose it is."""

    name: str
    shape: Shape
    case: Case


class Inners:
    """The cases of a hole of the object's own fields, by the words that they want."""

    def __init__(self, cases: list[Inner]) -> None:
        """Sort the cases by the text that they are, or that stands under one key of them."""
        self.all = cases
        heads = [names[0] for one in cases for names, _, _ in one.case.heads if len(names) == 1]
        self.key = max(heads, key=heads.count, default=None)
        wires = [one.case.wire for one in cases]
        literals = [word for p in wires if isinstance(p, Literal) for word in p.values]
        keyed = [word for one in cases for word in self._heads(one.case) or ()]
        self._texts = self._whole(None)
        self._whole_words = {w: self._whole(w) for w in literals if isinstance(w, str)}
        self._others = self._under(None)
        self._words = {word: self._under(word) for word in keyed}

    def of(self, w: Any) -> list[Inner]:
        """Return the cases that a value may fit, as far as a word tells."""
        if w.__class__ is str:
            return self._whole_words.get(w, self._texts)
        word = w.get(self.key) if w.__class__ is dict and self.key else None
        return self._words.get(word, self._others) if word.__class__ is str else self.all

    def _whole(self, word: str | None) -> list[Inner]:
        """Return the cases of which a text may be the whole: a word of them, None for another."""
        found = [(one, one.case.wire) for one in self.all if not isinstance(one.case.wire, Fields)]
        return [
            one
            for one, p in found
            if not isinstance(p, Literal) or (word is not None and is_literal(word, p.values))
        ]

    def _under(self, word: str | None) -> list[Inner]:
        """Return the cases that take a word under the key, None for one that none of them names."""
        heads = [(one, self._heads(one.case)) for one in self.all]
        return [one for one, words in heads if words is None or word in words]

    def _heads(self, case: Case) -> frozenset[str] | None:
        """Return the words that a case wants under the key; None where it takes any."""
        said = [words for names, words, _ in case.heads if names == (self.key,)]
        return frozenset.intersection(*map(frozenset, said)) if said else None


NONE: dict[str, frozenset[str]] = {}
Handed = dict[str, At]  # where fields came from


def within(
    x: Any,
    inners: Inners,
    h: Hole,
    w: Any,
    at: At,
    lenient: bool,
    key: str,
    made: dict[str, Any],
    tops: tuple[str, ...],
    taken: set[str],
    spread: bool,
    sp: Memory,
    kp: Memory,
    handed: Handed | None = None,
) -> Any:
    """Read a hole that is made of the object's own fields: the memory then, NO, or ODD.

    `handed` is told where each field came from, where the object itself is made for one around it.
    """
    mark = len(x.notes)
    for loose in (False, True) if lenient else (False,):
        for name, shape, case in inners.of(w):
            got = x.code.names[name](x, w, at, loose, key, made)
            if got is NO:
                continue
            if got is ODD:
                return ODD
            fields, table, inner_sp, inner_kp, *deeper = got
            for place, entry in (inner_sp or {}).items():
                sp = {} if sp is None else sp
                sp.setdefault(place, {}).update(entry)
            if inner_kp:
                kp = {**(kp or {}), **_respelled(inner_kp, key, at)}
            if case.doubles and not x.probe and (case.note is not None or not x.away):
                seen = {top: (made[top], None) for top in (*tops, *taken) if top in made}
                seen.update((top, (fields[top], None)) for top in fields if top != "own")
                if selfholes.case_to_write(x, shape, fields, seen) is not case:
                    sp = marked(sp, key, selfholes.WORDS[spread], case.name)
                    building.note_case_read(x, case, at)
            whole = w if spread else None
            said = selfholes.objects_said(case) if deeper else NONE
            if not _take(x, made, fields, table, at, taken, whole, handed, said, *deeper):
                return ODD
            return sp, kp
    del x.notes[mark:]
    return ODD if lenient and h.mark is not None else NO


def _respelled(kept: dict[str, Any], key: str, at: At) -> dict[str, Any]:
    """Return what was kept under a key where it stands: memory has the first spelling of that."""
    there = pointer(at[len(at) - key.count("/") :])
    if there == key:
        return kept
    return {there + place[len(key) :]: value for place, value in kept.items()}


def _take(
    x: Any,
    made: dict[str, Any],
    fields: dict[str, Any],
    table: Any,
    at: At,
    taken: set[str],
    spread: Any,
    handed: Handed | None,
    said: dict[str, frozenset[str]],
    deeper: Handed | None = None,
) -> bool:
    """Hand on what an inner picture made to the object around it.

    Of some objects the picture has `said` more than what stands `deeper`.
    """
    if (
        deeper is None
        and handed is None
        and table.keys() >= fields.keys()
        and not ("own" in fields or not made.keys().isdisjoint(fields))
    ):  # mostly each is new, and has a place of its own
        made.update(fields)
        taken.update(fields)
        x.late((made, at, table, tuple(fields)))
        return True
    places = [(*at, key) for key in spread] if isinstance(spread, dict) else []
    around: At = Several.of(places) if places else at
    for key, value in fields.items():
        rel = table.get(key)
        where = around if rel is None else (*at, *rel)
        if deeper is not None and key in deeper:
            if key in said and isinstance(value, dict) and x.trail.find(value) is None:
                names = tuple([name for name in value if name not in said[key]])
                x.late((value, None, dict.fromkeys(names, deeper[key]), names))
            else:
                where = deeper[key]
        if handed is not None:
            handed[key] = where
        if key == "own":
            family = x.dialect.family
            own = made.setdefault("own", {}).setdefault(family, {})
            for name, one in value.get(family, {}).items():
                own[name] = one
                rel = table.get(("own", name))
                place = where if rel is None else (*at, *rel)
                x.late((own, None, {name: place}, (name,)))
            continue
        old = made.get(key)
        if isinstance(old, dict):
            if not isinstance(value, dict):
                return False
            old.update(value)
            x.late((old, None, dict.fromkeys(value, where), tuple(value)))
            x.trail.copy(value, old)
            continue
        made[key] = value
        x.late((made, None, {key: where}, (key,)))
        taken.add(key)
    return True
