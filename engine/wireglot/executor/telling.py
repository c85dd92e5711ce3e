"""What tells the cases of a shape apart when an object is written, and what could read them.

Of a case that another one might read, what was written is read back; what need not be is told
beforehand, from the pictures, and then by what stands in the object and on the wire.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..interpreter.choosing import earlier_rivals
from ..ir import OPAQUE
from ..language import picture as pic
from ..language.lenses import EXACT, is_guard
from ..language.measure import disjoint
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole, Literal, Picture
from ..language.shape import Case, Shape
from ..trail import keys_of
from .code import Code, begins
from .holetests import named, simple, wanted


class Telling:
    """What is known of the cases of one dialect: written abroad, or at `home`."""

    def __init__(self, dialect: Dialect, home: bool, code: Code) -> None:
        self.dialect, self.home, self.code = dialect, home, code

    def ask(self, shape: Shape, case: Case) -> str:
        """Return what to ask before what a case wrote is read back; "" where nothing need be read.

        Nothing need be where no case that stands before it could read what it wrote, and no more
        was lost than fields: nothing in the case but words, guards and JSON text stands for a
        value, or shapes of which the same holds.
        """
        if not case.rivals or not (self.home or sum(not one.home for one in shape.cases) > 1):
            return ""
        rivals = earlier_rivals(shape, case)
        if shape.name in self.dialect.units and not rivals:
            return ""  # what stands in it is read back by itself
        asked, more = self._asked(case), ""
        if asked is None:
            inner = self._asked_within(case)
            if not inner:
                return "True"
            asked, more = [], f" or {inner}"
        sides = tuple(_side(one, case) for one in rivals)
        # What is said where nothing was is read as if it had been there.
        usual = [h.path for h in pic.holes(case.wire) if h.mark == "default"]
        more += "".join(f" or o.get({path!r}) is None" for path in usual)
        more += "".join(f" or o.get({path!r}) is not None" for path in asked)
        more += f" or {self._could(sides)}" if rivals else ""
        return f"(len(x.notes) > m or len(x.lost_parts) != g) and noted_more(x, m, g){more}"

    def _could(self, sides: tuple[Any, ...]) -> str:
        """Return a test whether cases could read what was written, by what they ask for."""
        return f"could_read(w, {self.code.value(sides, 'R')})"

    def _asked(self, case: Case) -> list[str] | None:
        """Return the optional fields that may be read as something else; None where others may."""
        odd = [h for h in pic.holes(case.wire) if not self._exact(h, set())]
        free = all(h.mark == "optional" and "." not in h.path and h.path for h in odd)
        return [h.path for h in odd] if free and self._worded(case) else None

    def _asked_within(self, case: Case) -> str:
        """Return what to ask where all depends on the forms of one hole of the object's own fields.

        A form that a word of the object tells, and that holds it all, is read as what it is where
        no form before it could read it. "" where no form is so.
        """
        odd = [(at, h) for at, h in _at(case.wire) if not self._exact(h, set())]
        inexact = [h for h in pic.holes(case.wire) if not self._exact(h, set())]
        if len(odd) != 1 or len(inexact) != 1 or not self._worded(case):
            return ""
        [(at, hole)] = odd
        if hole.path != "." or hole.mark is not None:
            return ""
        forms, sure = [one for _, one in self.dialect.cases_of(hole.named)], []
        for n, form in enumerate(forms):
            usual = any(h.mark == "default" for h in pic.holes(form.wire))
            if not (word := word_of(form)) or usual or not self._faithful(form, set()):
                continue
            before = [one for one in forms[:n] if not disjoint(one.sides[1], form.sides[1])]
            could = self._could(tuple(_side(one, form, at) for one in before))
            sure.append(f"{word} and not {could}" if before else word)
        return f"len(x.notes) > m or not ({' or '.join(sure)})" if sure else ""

    def _faithful(self, case: Case, seen: set[str]) -> bool:
        """Tell whether a case is read as what it was written from, where nothing is noted."""
        exact = all(self._exact(hole, seen) for hole in pic.holes(case.wire))
        return exact and self._worded(case)

    def _worded(self, case: Case) -> bool:
        meant = pic.nodes(case.ir) if case.ir is not None else ()
        if any(isinstance(p, Literal) and len(p.values) > 1 for p in meant):
            return False
        # Other spellings of media types are read as the usual ones.
        return not (any(pic.texts(case.wire)) and self.dialect.media_types)

    def _exact(self, hole: Hole, seen: set[str]) -> bool:
        """Tell whether what a hole wrote reads as what it was written from."""
        return (
            len(hole.paths) == 1
            and (hole.mark != "default" or "." not in hole.path)
            and hole.mark != "copy"
            and hole.mode != "entries"
            and all(
                is_guard(lens) or lens in EXACT or lens in self.dialect.schemas
                for lens in hole.lenses
            )
            and (hole.mode is None or self._all_faithful(hole.named, seen))
        )

    def _all_faithful(self, name: str, seen: set[str]) -> bool:
        if name in seen or name == "conversation":
            return False
        shapes = self.dialect.members(name)
        return all(
            not shape.groups
            and not shape.marks
            and all(self._faithful(case, seen | {name}) for case in shape.cases)
            for shape in shapes
        )

    def wordy(self, hole: Hole, kind: Any, shapes: list[Shape]) -> bool:
        """Tell whether a part of a kind with nothing but words is surely written as these alone."""
        if hole.lenses not in (("bare",), ("joined",)) or any(one.groups for one in shapes):
            return False
        if kind != self.dialect.plain_kind(hole.named) or f"{kind}.text" in self.dialect.limits:
            return False
        cases = [(shape, case) for shape in shapes for case in shape.cases if not case.home]
        # The first case that asks for nothing more takes it.
        shape, case = next((one for one in cases if _asks_nothing(one[1])), (None, None))
        if shape is None or case is None or case.note or self.ask(shape, case):
            return False
        found = list(pic.holes(case.wire))
        said = [h for h in found if h.path == "text"]
        rest = [h for h in found if h.path != "text"]
        plain = len(said) == 1 and said[0].mark is None and said[0].lenses in ((), ("string",))
        return plain and not any(pic.texts(case.wire)) and all(h.mark == "optional" for h in rest)


def asked_by(shape: Shape) -> tuple[tuple[str, frozenset[str] | None], ...]:
    """Return the fields that each case of a shape asks for, with the words of which one is there.

    Of fields that are objects, or say other than words, it is only known that they are there.
    """
    cases = [_words_of(case) for case in shape.cases]
    found = {}
    for field in sorted(set(cases[0]).intersection(*cases)):
        words = [case[field] for case in cases]
        known = [one for one in words if one is not None]
        found[field] = frozenset().union(*known) if len(known) == len(words) else None
    return tuple(found.items())


def _words_of(case: Case) -> dict[str, frozenset[str] | None]:
    """Return the fields of which a case asks for a word, or for one within them."""
    found: dict[str, frozenset[str] | None] = {}
    for path, words in case.sides[0].items():
        there = isinstance(words, tuple) and not any(one is ABSENT or one is None for one in words)
        if path[:1] == "/" and there:
            head, *deeper = path[1:].split("/")
            plain = not deeper and all(isinstance(word, str) for word in words)
            found[head] = frozenset(words) if plain else None
    return {field: words for field, words in found.items() if field != "type"}


def _asks_nothing(case: Case) -> bool:
    """Tell whether a case asks for no field of an object but its type and its text."""
    sides = case.sides[0].items()
    lacks = {path for path, words in sides if isinstance(words, tuple) and ABSENT in words}
    return {"type", "text"}.issuperset(path.strip("/") for path, _ in sides if path not in lacks)


def word_of(case: Case) -> str:
    """Return a test that an object says a word that a case asks for; "" where it asks for none."""
    for path, words in case.sides[0].items():
        key = path[1:]
        worded = isinstance(words, tuple) and all(isinstance(word, str) for word in words)
        if worded and path[:1] == "/" and "/" not in key and key not in OPAQUE:
            return f"o.get({key!r}) " + (f"== {words[0]!r}" if len(words) == 1 else f"in {words!r}")
    return ""


def field_of(case: Case, cases: Sequence[Case]) -> str:
    """Return a test that a field is there that a case needs, and others do not; "" for none."""
    shared = set[str].intersection(*map(_needs, cases))
    alone = sorted(_needs(case) - shared)
    return f"{alone[0]!r} in o" if alone else ""


def needed(shape: Shape) -> list[tuple[Case, list[tuple[str, tuple[Any, ...]]]]]:
    """Return the fields without which each case of a shape writes nothing, and what it says."""
    return [
        (case, [(h.path, (f"`{h.path}` is missing", at, h.pos)) for at, h in _must(case)])
        for case in shape.cases
        if not case.home
    ]


def _needs(case: Case) -> set[str]:
    """Return the fields without which a case writes nothing."""
    return {hole.path for _, hole in _must(case) if "." not in hole.path}


def _must(case: Case) -> list[tuple[tuple[str, ...], Hole]]:
    """Return the holes without which a case writes nothing, with their places."""
    names = named(case.ir)
    return [
        (at, hole)
        for at, hole in pic.placed(case.wire)
        if isinstance(hole, Hole) and (simple(hole) or wanted(hole)) and hole.path not in names
    ]


def _side(case: Case, writes: Case, at: str = "") -> tuple[tuple[tuple[str, ...], Any], ...]:
    """Return what must stand where for a case to read an object: keys, and words or types.

    What stands in each object that the case `writes` is left out; `at` is where it stands.
    """
    texts = {path: begins(hole) for path, hole in _at(case.wire) if "json" in hole.lenses}
    there = writes.sides[1]
    return tuple(
        (tuple(keys_of(at + path)), texts.get(path) or what)
        for path, what in case.sides[1].items()
        if (at or path) and (path in texts or there.get(path) != what)
    )


def _at(p: Picture) -> list[tuple[str, Hole]]:
    """Return the holes of a picture that stand in no list, with their places."""
    there = (("".join(f"/{key}" for key in at), hole) for at, hole in pic.placed(p))
    return [(at, hole) for at, hole in there if isinstance(hole, Hole) and "/[]" not in at]
