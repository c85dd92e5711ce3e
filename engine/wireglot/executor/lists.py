"""What generated functions that write call for lists: which hole takes which part, as what form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..interpreter import gathering, listforms, media, share
from ..interpreter.sight import Gathered, View, blank
from ..ir import FULL, FUNCTION, MEDIA
from ..language import picture as pic
from ..language.ladder import Ladder
from ..language.lenses import Misfit
from ..language.model import Dialect
from ..language.picture import Hole
from ..language.shape import Case
from .readtime import NO
from .values import EMPTY

NONE: frozenset[str] = frozenset()
SPOKEN = ("text", "reasoning")
PLAIN = ({"type", "text"}, {"type", "text", "spelled"})


class Listing:
    """What is known beforehand of the holes that share a list.

    `kinds` has by the type of a part the first hole that takes it, and by what it is written
    there: names of functions, or shapes of runs, each with the words that must be there; `lone`
    those of which nothing but its words is written where it stands alone.
    """

    def __init__(
        self,
        dialect: Dialect,
        names: dict[str, Any],
        holes: Sequence[Hole],
        kinds: dict[Any, tuple[int, tuple[Any, ...]]],
        lone: frozenset[Any],
    ) -> None:
        self.names, self.holes, self.kinds, self.lone = names, holes, kinds, lone
        self.pos, self.dialect = holes[0].pos, dialect.name
        self.usual = usual_of(holes[0])
        one, shape = holes[0], dialect.shapes.get(str(holes[0].shape))
        # One element that must be there, of a kind that no row of the ladder knows.
        self.alone = (
            len(holes) == 1
            and one.lenses == ("single",)
            and one.mark is None
            and one.path == "candidates"
            and shape is not None
        )
        self.again = any("again" in hole.lenses for hole in holes)
        self.marks = frozenset(f for hole in holes for f in dialect.marks_of(hole.named))
        # A text that is no more than its words, where nothing is made for it.
        self.plain = [dialect.plain_kind(hole.named) for hole in holes]
        self.making = [
            _makes(dialect, h.named, kind) for h, kind in zip(holes, self.plain, strict=True)
        ]
        self._members = [shape for hole in holes for shape in dialect.members(hole.named)]
        self._lower: dict[Any, frozenset[str]] = {}
        # By the type of a part what writes it, where nothing but its type has to be looked at: the
        # hole, the functions, and the fields with which a row of the ladder comes first.
        self.usually: dict[Any, tuple[int, tuple[Any, ...], frozenset[str]] | None] = {}

    def usual_way(self, kind: Any, ladder: Ladder) -> Any:
        """Find what writes parts of a type, if nothing but that has to be looked at."""
        number, ways = self.kinds.get(kind, (0, ()))
        found = None
        if ways and kind not in MEDIA and all(way.__class__ is str for way, _ in ways):
            found = number, ways, self.known(kind, ladder)
        self.usually[kind] = found
        return found

    def lower(self, kind: Any, part: Any, ladder: Ladder) -> frozenset[str]:
        """Return the fields of a part that rows of the ladder know and no picture here takes."""
        found = self.known(kind, ladder)
        return found.intersection(part) if found and not found.isdisjoint(part) else NONE

    def known(self, kind: Any, ladder: Ladder) -> frozenset[str]:
        """Return the fields of a type that rows of the ladder know and no picture here takes."""
        found = self._lower.get(kind)
        if found is None:
            if kind not in ladder:
                return NONE
            known = {field for row in ladder[kind] for field in row.needs}
            shapes = [s for s in self._members if s.kind in (kind, None)]
            cases = [case for shape in shapes for case in shape.cases if case.may_be(kind)]
            if any(kind in shape.groups for shape in self._members):
                known = set()  # the shape of its run may take it
            found = frozenset(f for f in known if not any(_takes(case, f) for case in cases))
            self._lower[kind] = found
        return found


def _makes(dialect: Dialect, name: str, kind: str) -> bool:
    """Tell whether anything is made for a text, of a shape or the members of a union."""
    return any(
        hole.mark == "made"
        for shape in dialect.members(name)
        if shape.kind in (kind, None)
        for case in shape.cases
        for hole in pic.holes(case.wire)
    )


def _takes(case: Case, field: str) -> bool:
    """Tell whether the pictures of a case may take a field of a part."""
    return (
        field in case.drop
        or (case.ir is not None and any(field in names for names, _ in pic.keys(case.ir)))
        or any(hole.path.partition(".")[0] in (field, "") for hole in pic.holes(case.wire))
    )


def usual_of(hole: Hole) -> str | None:
    """Return the type that an element of a list has which says none."""
    return FUNCTION if hole.path == "tools" else hole.shape


def shares_of(x: Any, listing: Listing, parts: list[Any], o: Any, view: View | None) -> Any:
    """Give each part of a list of an object to a hole, once for all holes that share it."""
    path = listing.holes[0].path
    known = (view.lists if view is not None else x.went).get(path)
    if known is not None:  # they were written before: others depend on what went
        return [known.get(id(h), []) for h in listing.holes]
    whole = o.get("type") in FULL
    if view is None:
        return shared(x, listing, parts, whole)
    shares = dealt(x, listing, parts, whole)
    view.lists[path] = {id(h): found for h, found in zip(listing.holes, shares, strict=True)}
    return shares


def shared(x: Any, listing: Listing, parts: list[Any], whole: bool) -> list[list[Any]]:
    """Give each part to the hole that takes it; a lone text that needs no element is its words."""
    if len(parts) == 1 and listing.lone and not x.same:
        part = parts[0]
        kind = part.get("type") if part.__class__ is dict else None
        if kind in listing.lone and part.keys() == PLAIN[0]:
            text = part["text"]
            usual = text.__class__ is str and text and not text.isspace()
            if usual and not x.marking and id(part) not in x.watched:
                lower = listing.known(kind, x.ladder)
                if not lower or lower.isdisjoint(part):
                    shares: list[list[Any]] = [[] for _ in listing.holes]
                    shares[listing.kinds[kind][0]].append((part, text))
                    return shares
    return dealt(x, listing, parts, whole)


def dealt(x: Any, listing: Listing, parts: list[Any], whole: bool) -> list[list[Any]]:
    """Give each part of a list to the hole that takes it: pairs of part and wire for each hole."""
    holes, usual = listing.holes, listing.usual
    shares: list[list[Any]] = [[] for _ in holes]
    last, gathered = 0, False
    usually = None if x.same or listing.marks else listing.usually
    for part in parts:
        kind = part.get("type", usual) if part.__class__ is dict else None
        way = None
        if usually is not None:
            way = usually[kind] if kind in usually else listing.usual_way(kind, x.ladder)
        lower = NONE
        if (
            way is not None
            and "spelled" not in part
            and way[2].isdisjoint(part)
            and (kind not in SPOKEN or _worded(part))
        ):
            number = way[0]
            wire = _written(x, listing, kind, part, way[1], shares)
        else:
            number = listing.kinds[kind][0] if kind in listing.kinds else 0
            lower = NONE if x.same else listing.lower(kind, part, x.ladder)
            # Whatever takes such a part, a row of the ladder comes first.
            wire = None if lower else _quick(x, listing, kind, part, shares)
        if wire is None or wire is NO:
            if listing.alone and len(parts) == 1 and x.resolver is None:
                raise Misfit(f"`{holes[0].path}` is empty", (), listing.pos)
            x.places = {id(h): len(found) for h, found in zip(holes, shares, strict=True)}
            found = x.give(holes, part, whole, wire is NO, lower)
            given = [(holes.index(hole), new, wire) for hole, new, wire in found]
        elif number < last or wire.__class__ is Gathered:
            given = [(number, part, wire)]
        else:
            last = number
            shares[last].append((part, wire))
            continue
        for number, new, wire in given:
            if wire.__class__ is Gathered:
                gathered = True
            if number < last and not x.same:
                told = "the target holds this before what stood before it"
                x.note("reordered", "moved", x.trail.find(new), holes[number].pos, told, wire)
            shares[number].append((new, wire))
            last = number
    if whole and not x.same and not any(shares):
        raise Misfit("nothing of the list has a place", (), listing.pos)
    if listing.again:
        share.unread(x, holes, shares)
    if gathered:
        shares = [gathering.gather(x, found) for found in shares]
    return shares


def _quick(x: Any, listing: Listing, kind: Any, part: Any, shares: list[list[Any]]) -> Any:
    """Write a part by the hole that is known to take its kind.

    NO where that one refuses it, None where it is an unusual part.
    """
    known = listing.kinds.get(kind) if part.__class__ is dict else None
    if known is None or (listing.marks and not listing.marks.isdisjoint(part)):
        return None
    if kind in SPOKEN and x.asked and not _worded(part) and blank(x, part, x.role):
        return None
    if "spelled" in part:
        memory = part["spelled"].get(listing.dialect, NONE)
        if "../" in memory or ("" in memory and x.same and len(known[1]) > 1):
            return None  # it says where it stood, or by which case of several shapes it was read
    if kind in MEDIA and _unusual(x, part, listing):
        return None
    return _written(x, listing, kind, part, known[1], shares)


def _worded(part: dict[str, Any]) -> bool:
    """Tell whether a text or a thought has a word."""
    text = part.get("text")
    return text.__class__ is str and text != "" and not text.isspace()


def _written(
    x: Any, listing: Listing, kind: Any, part: Any, ways: Any, shares: list[list[Any]]
) -> Any:
    """Write a part in the ways of its type; what it returns is that of `_quick`."""
    m, b, i = len(x.notes), len(x.beside), len(x.ids)
    if x.lefts:
        x.lefts = []
    for way, asked in ways:
        if asked and not _says(part, asked):
            continue
        coded = way.__class__ is str
        if not coded and len(way.cases) == 1 and gathering.unread(way.cases[0], part):
            continue
        outer, x.nth = x.nth, len(shares[listing.kinds[kind][0]])
        try:
            wire = listing.names[way](x, part) if coded else gathering.piece(x, way, part)
        except Misfit as misfit:
            misfit.__traceback__ = None
            wire = NO
        x.nth = outer
        if wire is not NO:
            if not x.lefts or not _lower(x, kind, part):
                return wire
            del x.notes[m:], x.beside[b:]
            x.unmake(i)  # it is written anew
            return None
        del x.notes[m:], x.beside[b:]
    # At home a case that is only read there may still take it.
    return NO if len(shares) == 1 and not x.same else None


def _says(part: dict[str, Any], asked: Any) -> bool:
    """Tell whether the fields are there that a way asks for, with one of its words."""
    for field, words in asked:
        said = part.get(field)
        if said is None or (words is not None and (said.__class__ is not str or said not in words)):
            return False
    return True


def _lower(x: Any, kind: Any, part: Any) -> bool:
    """Tell whether a field that found no place has a row of the ladder of its own."""
    lost = {path for owner, path in x.lefts if owner == id(part)}
    if lost & {"source", "output_ref"}:
        return True
    rows = x.ladder.get(str(kind), ())  # one that adds a field is for what refuses the part
    return any(lost & row.before.names and not row.adds for row in rows)


def _unusual(x: Any, part: dict[str, Any], listing: Listing) -> bool:
    mark = len(x.notes)
    try:
        if media.usual(x, part, listing.pos) is part:
            return False
    except Misfit as misfit:
        misfit.__traceback__ = None
    del x.notes[mark:]
    return True


def formed(
    x: Any, form: str, listing: Listing, number: int, pairs: Any, value: Any, into: Any
) -> Any:
    """Return a list as its hole forms it: its one element, one text, or as it is."""
    if form == "bare" or form == "joined":
        if len(pairs) == 1 and not listing.making[number]:
            part, wire = pairs[0]
            kind = part.get("type") if part.__class__ is dict else None
            if wire.__class__ is str and not x.same and kind in listing.lone:
                if into is not None:  # notes of the part point to where its words stand
                    x.words_at(part, into)
                return wire
            if kind == listing.plain[number]:
                text = _one_text(x, listing, part, wire, pairs, into)
                if text is not None:
                    return text
            elif form == "bare":
                return [wire]
        elif form == "bare" and len(pairs) > 1:
            return [wire for _, wire in pairs]
    elif form == "single" and len(pairs) == 1:
        return pairs[0][1]
    h, wires = listing.holes[number], [wire for _, wire in pairs]
    if pairs and not form:
        return wires
    return listforms.formed(x, form, h, pairs, wires, value, EMPTY, into)


def _one_text(
    x: Any, listing: Listing, part: dict[str, Any], wire: Any, pairs: Any, into: Any
) -> str | None:
    """Return the text of one element that has nothing but its text."""
    if id(part) in x.watched:
        return None
    if part.keys() not in PLAIN or part["text"].__class__ is not str:
        return None
    if x.same and part.get("spelled", EMPTY).get(listing.dialect):
        return None  # it says more than its text
    if len(x.notes) > x.since:
        listforms.forget(x, pairs)
    if into is not None:
        x.stands[id(wire)] = (wire, *into)
    return str(part["text"])
