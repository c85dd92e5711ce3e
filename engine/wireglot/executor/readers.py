"""Which function reads what: shapes and unions by a static choice, lists, and single cases."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from ..ir import wire_type
from ..language.lenses import UNTYPED
from ..language.measure import needed
from ..language.model import Dialect
from ..language.picture import Fields, Hole, Items, Picture, Text, keyed
from ..language.shape import Case, Shape
from . import code, modules
from .code import Unwritten
from .readinner import Inner, Inners
from .runtime import READING

Pair = tuple[Shape, Case]
Wants = dict[tuple[str, ...], str]  # keys that must be there, with the class of what stands there


class Reads:
    """The functions of a dialect that read in one mode, made as they are called for."""

    def __init__(self, dialect: Dialect, mode: str) -> None:
        self.dialect, self.mode = dialect, mode
        brought = modules.brought(dialect, f"read_{mode}")
        title = f"{dialect.name} read {mode}"
        # What a constant stands for that is none of the model: cases with functions.
        self.code = code.Code(dialect, title, READING, lambda at: self._inners(at[1]), brought)
        self.names = self.code.names
        self._choices: dict[str | Shape, str] = {}
        if dialect.conversation is not None:
            self.code.function(("message",), ("message",), self._message)

    # -- single cases -----------------------------------------------------------------------------

    def case(self, shape: Shape, case: Case) -> str:
        """Return the name of the function that reads one case."""
        return self._known("read", shape, case)

    def inner(self, shape: Shape, case: Case) -> str:
        """Return the name of the function that reads one case of the object's own fields."""
        return self._known("inner", shape, case)

    def inners(self, name: str) -> str:
        """Return the name of the cases of the object's own fields, and of their functions."""
        return self.code.value(self._inners(name), "I", ("inners", name))

    def _inners(self, name: str) -> Inners:
        pairs = self.dialect.cases_of(name)
        return Inners([Inner(self.inner(shape, case), shape, case) for shape, case in pairs])

    def run(self, shape: Shape, case: Case) -> str:
        """Return the name of the function that reads an element by one case of a run."""
        return self._known("run", shape, case)

    def _message(self, title: str) -> str:
        from .readtalk import message  # what writes functions is mostly not needed

        return message(self, title)

    def _known(self, word: str, shape: Shape, case: Case) -> str:
        words = word, shape.name, case.name
        return self.code.function((word, shape, case), words, self._text, word, shape, case)

    def _text(self, name: str, word: str, shape: Shape, case: Case) -> str:
        from . import readend  # what writes functions is mostly not needed

        kinds = {"read": readend.WholeText, "inner": readend.InnerText, "run": readend.RunText}
        try:
            return kinds[word](self, shape, case, name).whole()
        except Unwritten:
            if word == "inner":
                return f"def {name}(x, w, at, L, rel, seen):\n    return ODD\n"
            one, two = self.code.value(shape, "S"), self.code.value(case, "C")
            walked = f"odd(x, len(x.notes), {kinds[word].walk}, {one}, {two}, w, at, L)"
            return f"def {name}(x, w, at, L):\n    return {walked}\n"

    # -- choices ----------------------------------------------------------------------------------

    def choice(self, of: str | Shape) -> str:
        """Return the name of the function that reads by the first case that fits.

        The cases are `of` a shape or union, the narrowest first, or of a unit, in their order.
        """
        found = self._choices.get(of)
        if found is None:
            if isinstance(of, Shape):
                found = self._of_cases([(of, case) for case in of.cases], of.name)
            else:
                found = self._of_cases(self.dialect.cases_of(of), of)
            self._choices[of] = found
        return found

    def of_list(self, cases: Any) -> str | None:
        """Return the name of the function for a list of cases that the dialect holds."""
        lists = self.dialect.cases_by_name.items()
        name = next((name for name, held in lists if held is cases), None)
        return None if name is None else self.choice(name)

    def _of_cases(self, cases: Iterable[Pair], name: str) -> str:
        pairs = [(shape, case) for shape, case in cases if not shape.groups and not shape.marks]
        if len(pairs) == 1:
            return self.case(*pairs[0])
        key = ("choice", *(case for _, case in pairs))
        return self.code.function(key, ("choose", name), self._choice, pairs)

    def _choice(self, title: str, pairs: list[Pair]) -> str:
        """Write a choice by the word that tells most cases apart, then one after the other."""
        t = code.Text(self.code, f"def {title}(x, w, at, L):")
        said: dict[str, dict[int, tuple[frozenset[str], bool]]] = {}
        for i, (_, case) in enumerate(pairs):
            for names, words, optional in case.heads:
                if len(names) == 1:
                    said.setdefault(names[0], {})[i] = (words, optional)
        key = max(said, key=lambda k: len(said[k]), default="")
        heads = said.get(key, {})
        if len(heads) < 2:
            heads = {}
        every = range(len(pairs))
        with t.under("if w.__class__ is dict:"):
            if heads:
                t(f"word = w.get({key!r})")
            groups: dict[tuple[int, ...], list[str]] = {}
            for one in dict.fromkeys(w for i in heads for w in sorted(heads[i][0])):
                fit = tuple(i for i in every if i not in heads or one in heads[i][0])
                groups.setdefault(fit, []).append(one)
            for fit, some in groups.items():
                test = f"word == {some[0]!r}" if len(some) == 1 else f"word in {tuple(some)!r}"
                with t.under(f"if {test}:"):
                    self._each_of(t, pairs, fit, True)
            none = [i for i in every if i not in heads or heads[i][1]]
            rest = [i for i in every if i not in heads]
            if none != rest:
                with t.under("if word is None:"):
                    self._each_of(t, pairs, none, True)
            self._each_of(t, pairs, rest, True)
        self._each_of(t, pairs, [i for i in every if not isinstance(pairs[i][1].wire, Fields)])
        return str(t)

    def _each_of(
        self, t: code.Text, pairs: list[Pair], some: Iterable[int], objects: bool = False
    ) -> None:
        """Write the trial of some cases, one after the other."""
        chosen = [pairs[i] for i in some]
        wants = [_wants(case) if objects else {} for _, case in chosen]
        asked = [(_asked(wanted, wants), pair) for wanted, pair in zip(wants, chosen, strict=True)]
        for test, run in groupby(asked[:-1], key=lambda one: one[0]):
            with t.where(test):
                for _, pair in run:
                    t(f"made = {self.case(*pair)}(x, w, at, L)")
                    t("if made is not NO: return made")
        t(f"return {self.case(*chosen[-1])}(x, w, at, L)" if chosen else "return NO")

    # -- lists ------------------------------------------------------------------------------------

    def each(self, name: str) -> str:
        """Return the name of the function that reads a list, element by element."""
        return self.code.function(("each", name), ("each", name), self._each, name)

    def _each(self, title: str, name: str) -> str:
        t = code.Text(self.code, f"def {title}(x, w, at):")
        shapes = self.dialect.members(name)
        if any(shape.marks for shape in shapes):
            t(f"return x.listed({name!r}, w, at)")
            return str(t)
        runs = any(shape.groups for shape in shapes)
        t("made = []")
        if runs:
            t("last = None")
        with t.under("for i, item in enumerate(w):"):
            t(f"one = {self.choice(name)}(x, item, (*at, i), False)")
            with t.under("if one is NO:"):
                t(f"found = x.unusual({name!r}, item, (*at, i))")
                t("if found is NO: return NO")
                t("parts, run = found")
                if runs:
                    t("if run is not None and run is last and parts:")
                    t("    x.remember(parts[0], '../', 'apart', True)")
                    t("last = run")
                t("made += parts")
            with t.under("else:"):
                t("made.append(one)")
                if runs:
                    t("last = None")
        t("return made")
        return str(t)


def _asked(wanted: Wants, all_: list[Wants]) -> str:
    """Return a test of the key that fewest of some cases want, which tells most of this one."""
    rare = min(
        wanted,
        key=lambda names: sum(names in found and found[names] == wanted[names] for found in all_),
        default=(),
    )
    kind = wanted.get(rare, "")
    if kind:
        return f"w.get({rare[0]!r}).__class__ is {kind}"
    return " or ".join(f"{name!r} in w" for name in rare)


def _wants(case: Case) -> Wants:
    """Return the keys without which no object fits a case, and the class of what stands there."""
    return {
        names: _class(child, case.shape) if len(names) == 1 else ""
        for names, child in keyed(case.wire)
        if needed(child)
    }


def _class(p: Picture, shape: str) -> str:
    """Return the class of what a picture fits, if it is one."""
    if isinstance(p, Fields):
        return "dict"
    if isinstance(p, Items):
        return "list"
    if isinstance(p, Text):
        return "str"
    if not isinstance(p, Hole) or len(p.paths) > 1:
        return ""
    lenses = [lens for lens in p.lenses if lens not in UNTYPED]
    if lenses:
        return "str" if lenses[-1] == "json" else code.CLASSES.get(lenses[-1], "")
    kind = "list" if p.mode == "each" else "" if p.mode else wire_type(shape, p.path)
    return code.CLASSES.get(kind, "")


def of(dialect: Dialect, mode: str) -> Reads:
    """Return the functions of a dialect that read in one mode."""
    return dialect.once(("read", mode), lambda: Reads(dialect, mode))
