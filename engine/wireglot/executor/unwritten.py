"""Which cases no function reads: they are left to the interpreter as a whole, unless none fits."""

from __future__ import annotations

from ..language.picture import Fields, Hole, Literal, Test, holes, keyed
from ..language.shape import Case, spare
from .holetests import named
from .readtext import CaseText


def unwritten(t: CaseText) -> bool:
    """Tell whether a case is left to the interpreter."""
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
    rest = spare(t.case)
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
