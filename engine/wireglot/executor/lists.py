"""What generated functions that write call for lists: which hole takes which part, as what form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..interpreter import gathering, listforms, media, share
from ..interpreter.views import Gathered, View, blank
from ..ir import MEDIA
from ..language import picture as pic
from ..language.ladder import Ladder
from ..language.lenses import Misfit, deepest
from ..language.model import Dialect
from ..language.picture import ABSENT, Hole
from ..language.shape import Case
from .readtime import NO
from .values import EMPTY

NONE: frozenset[str] = frozenset()
SPOKEN = ("text", "reasoning")
NOTHING = (ABSENT, None)
PLAIN = ({"type", "text"}, {"type", "text", "spelled"})


class Listing:
    """What is known beforehand of the holes that share a list.

    `kinds` has by the type of a part the first hole that takes it, and by what it is written
    there: names of functions, or shapes of runs, each with the words that must be there, and their
    fields; `lone` those of which nothing but its words is written where it stands alone.
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
        self.usual = share.default_kind(holes[0])
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
        self.by_key = any("by-key" in hole.lenses for hole in holes)
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
        if ways and kind not in MEDIA and all(way[0].__class__ is str for way in ways):
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


def deal_of_request(x: Any, listing: Listing, parts: list[Any]) -> list[list[Any]]:
    """Give each part of a list of a request to a hole; some were: others depend on what went."""
    known = x.request_lists.get(listing.holes[0].path)
    if known is not None:
        return [known.get(id(h), []) for h in listing.holes]
    return deal_or_words(x, listing, parts, False)


def deal_or_words(x: Any, listing: Listing, parts: list[Any], whole: bool) -> list[list[Any]]:
    """Give each part to the hole that takes it; a lone text that needs no element is its words."""
    if len(parts) == 1 and listing.lone and not x.same:
        part = parts[0]
        kind = part.get("type") if part.__class__ is dict else None
        if kind in listing.lone and part.keys() == PLAIN[0]:
            text = part["text"]
            usual = text.__class__ is str and text and not text.isspace()
            if usual and not x.mark_fields and id(part) not in x.part_notes:
                lower = listing.known(kind, x.ladder)
                if not lower or lower.isdisjoint(part):
                    shares: list[list[Any]] = [[] for _ in listing.holes]
                    shares[listing.kinds[kind][0]].append((part, text))
                    return shares
    return deal(x, listing, parts, whole)


def deal(x: Any, listing: Listing, parts: list[Any], whole: bool) -> list[list[Any]]:
    """Give each part of a list to the hole that takes it: pairs of part and wire for each hole."""
    shares: list[list[Any]] = [[] for _ in listing.holes]
    outer = x.nth
    try:
        gathered = _deal_parts(x, listing, parts, whole, shares)
    finally:
        x.nth = outer
    if whole and not x.same and not any(shares):
        raise Misfit("nothing of the list has a place", (), listing.pos)
    if listing.again:
        share.note_said_twice(x, listing.holes, shares)
    if gathered:
        shares = [gathering.close_runs(x, found) for found in shares]
    return shares


def _deal_parts(x: Any, listing: Listing, parts: list[Any], whole: bool, shares: Any) -> bool:
    """Write each part in the ways of its type, or as the walk does; tell whether runs are there."""
    usual, usually, names, outer = listing.usual, listing.usually, listing.names, x.nth
    quickly = not (x.same or listing.marks)
    last, gathered = 0, x.same and listing.by_key  # what stood in one element stands there again
    # Three ways, from the usual to the rare: the type alone says which function writes a part; its
    # fields say it, too (`_usual_way`); or the walk tries holes and rows of the ladder (`_give`).
    for part in parts:
        kind = part.get("type", usual) if part.__class__ is dict else None
        way, wire, number, lower, refused = None, None, 0, NONE, None
        if quickly:
            way = usually[kind] if kind in usually else listing.usual_way(kind, x.ladder)
        if (
            way is None
            or "spelled" in part
            or not way[2].isdisjoint(part)
            or (kind in SPOKEN and not _worded(part))
        ):
            lower = NONE if x.same else listing.lower(kind, part, x.ladder)
            # Whatever takes such a part, a row of the ladder comes first.
            way = None if lower else _usual_way(x, listing, kind, part)
        if way is not None:
            number, m, b = way[0], len(x.notes), len(x.beside)
            x.nth, wire = len(shares[number]), NO
            if x.lost_fields:
                x.lost_fields = []
            for write, asked, fields, _ in way[1]:
                if asked and (fields.isdisjoint(part) or not _says_words(part, asked)):
                    continue
                try:
                    function = write.__class__ is str
                    wire = names[write](x, part) if function else _run_piece(x, write, part)
                except Misfit as misfit:
                    misfit.__traceback__ = None
                    wire = NO
                if wire is not NO:
                    break
                del x.notes[m:], x.beside[b:]
            if wire is NO:
                # The walk need not try it as it is, if no other hole might take it. At home a case
                # that is only read there may.
                refused = way[1] if len(shares) == 1 and not x.same else None
            elif x.lost_fields and _has_lower_row(x, kind, part):
                del x.notes[m:], x.beside[b:]
                wire = None  # it is written anew
        if wire is None or wire is NO:
            x.nth = outer
            given = _give(x, listing, part, shares, whole, refused, lower, len(parts))
        elif number < last or wire.__class__ is Gathered:
            given = [(number, part, wire)]
        else:
            last = number
            shares[last].append((part, wire))
            continue
        for number, new, wire in given:
            gathered = gathered or wire.__class__ is Gathered
            if number < last and not x.same:
                reason, pos = "the target holds this before what stood before it", listing.holes
                x.note("reordered", "moved", x.trail.find(new), pos[number].pos, reason, wire)
            shares[number].append((new, wire))
            last = number
    return gathered


def _give(
    x: Any, listing: Listing, part: Any, shares: Any, whole: bool, no: Any, lower: Any, count: int
) -> list[Any]:
    """Give a part to the hole that takes it as the walk does; `no` are the ways that refused it."""
    holes = listing.holes
    if listing.alone and count == 1 and x.resolver is None:
        raise Misfit(f"`{holes[0].path}` is empty", (), listing.pos)
    x.hole_counts = {id(h): len(found) for h, found in zip(holes, shares, strict=True)}
    lacks = None if no is None else _lacks(x, part, no)
    found = x.give(holes, part, whole, no is not None, lower, lacks)
    return [(holes.index(hole), new, wire) for hole, new, wire in found]


def _lacks(x: Any, part: dict[str, Any], ways: tuple[Any, ...]) -> Any:
    """Return why no case takes a part, and the fields, if each asks for one that is not there."""
    best, missing = Misfit("nothing takes it"), set[str]()
    if any(needed is None for *_, needed in ways):
        return None  # a run says why itself
    for case, fields in (one for *_, needed in ways for one in needed):
        view = View(part, case.shape, case, x)
        lacking = next((one for one in fields if view.peek(one[0]) in NOTHING), None)
        if lacking is None:
            return None
        try:
            view.match(case.ir, part)
            missing.add(lacking[0])
            best = deepest(best, Misfit(*lacking[1]))
        except Misfit as misfit:
            best = deepest(best, misfit)
    return best, missing


def _usual_way(x: Any, listing: Listing, kind: Any, part: Any) -> Any:
    """Return the hole that is known to take a type, and in which ways; None for an odd part."""
    known = listing.kinds.get(kind) if part.__class__ is dict else None
    if known is None or (listing.marks and not listing.marks.isdisjoint(part)):
        return None
    if kind in SPOKEN and x.enforced and not _worded(part) and blank(x, part, x.role):
        return None
    if "spelled" in part:
        memory = part["spelled"].get(listing.dialect, NONE)
        if "../" in memory or ("" in memory and x.same and len(known[1]) > 1):
            return None  # it says where it stood, or by which case of several shapes it was read
    return None if kind in MEDIA and _is_unusual_media(x, part, listing) else known


def _worded(part: dict[str, Any]) -> bool:
    """Tell whether a text or a thought has a word."""
    text = part.get("text")
    return text.__class__ is str and text != "" and not text.isspace()


def _run_piece(x: Any, run: Any, part: Any) -> Any:
    """Write a part as a piece of a run; NO where its text is not as the run says."""
    if len(run.cases) == 1 and gathering.text_misfits(run.cases[0], part):
        return NO
    return gathering.write_piece(x, run, part)


def _says_words(part: dict[str, Any], asked: Any) -> bool:
    """Tell whether the fields are there that a way asks for, with one of its words."""
    for field, words in asked:
        said = part.get(field)
        if said is None or (words is not None and (said.__class__ is not str or said not in words)):
            return False
    return True


def _has_lower_row(x: Any, kind: Any, part: Any) -> bool:
    """Tell whether a field that found no place has a row of the ladder of its own."""
    lost = {path for owner, path in x.lost_fields if owner == id(part)}
    if lost & {"source", "output_ref"}:
        return True
    rows = x.ladder.get(str(kind), ())  # one that adds a field is for what refuses the part
    return any(lost & row.before.names and not row.adds for row in rows)


def _is_unusual_media(x: Any, part: dict[str, Any], listing: Listing) -> bool:
    mark = len(x.notes)
    try:
        if media.normalize(x, part, listing.pos) is part:
            return False
    except Misfit as misfit:
        misfit.__traceback__ = None
    del x.notes[mark:]
    return True


def form_shares(
    x: Any, form: str, listing: Listing, number: int, pairs: Any, value: Any, into: Any
) -> Any:
    """Return a list as its hole forms it: its one element, one text, or as it is."""
    if form == "bare" or form == "joined":
        if len(pairs) == 1 and not listing.making[number]:
            part, wire = pairs[0]
            kind = part.get("type") if part.__class__ is dict else None
            if wire.__class__ is str and not x.same and kind in listing.lone:
                if into is not None:  # notes of the part point to where its words stand
                    x.place_text_notes(part, into)
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
    return listforms.form_list(x, form, h, pairs, wires, value, EMPTY, into)


def _one_text(
    x: Any, listing: Listing, part: dict[str, Any], wire: Any, pairs: Any, into: Any
) -> str | None:
    """Return the text of one element that has nothing but its text."""
    if id(part) in x.part_notes:
        return None
    if part.keys() not in PLAIN or part["text"].__class__ is not str:
        return None
    if x.same and part.get("spelled", EMPTY).get(listing.dialect):
        return None  # it says more than its text
    if len(x.notes) > x.message_mark:
        listforms.forget_added(x, pairs)
    if into is not None:
        x.relocated[id(wire)] = (wire, *into)
    return str(part["text"])
