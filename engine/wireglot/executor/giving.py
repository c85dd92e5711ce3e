"""What generated functions that write call: lists, words, schemas, notes, and what is rare.

`x` is the writer, `o` the IR object that is written, `h` the hole.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..interpreter import choosing, itself, media, share
from ..interpreter.jobs import WriteJob
from ..interpreter.sight import Gathered, View, blank, means
from ..ir import DERIVED, FUNCTION, MEDIA, PARTS
from ..language.lenses import (
    Misfit,
    guard,
    milliseconds_of,
    not_an_object,
    same,
    stringify,
    time_of,
)
from ..language.model import Case, Dialect, Shape
from ..language.picture import ABSENT, Hole

NO: Any = type("No", (), {"__slots__": (), "__repr__": lambda self: "NO"})()
EMPTY: dict[str, Any] = {}
PLAIN = ({"type", "text"}, {"type", "text", "spelled"})


# -- choosing ----------------------------------------------------------------------------------


def lossless(x: WriteJob, mark: int) -> bool:
    """Tell whether nothing was lost since there were so many notes."""
    notes = x.notes
    return len(notes) == mark or all(note.effect != "lost" for note in notes[mark:])


def undo(x: WriteJob, notes: int, lefts: int, beside: int) -> None:
    """Forget what a case told that was not taken."""
    del x.notes[notes:], x.lefts[lefts:], x.beside[beside:]


def again(x: WriteJob, shape: Shape, o: Any, notes: int, lefts: int, beside: int) -> Any:
    """Write an object that the first case takes not whole: all cases are tried."""
    undo(x, notes, lefts, beside)
    return choosing.tried(x, shape, o)


def reads_back(x: WriteJob, shape: Shape, wire: Any, o: Any) -> bool:
    """Tell whether what was written is read as what was meant."""
    return choosing.reads_back(x, shape, wire, o)


def plain(x: Any, shape: Shape, case: Case, o: Any) -> Any:
    """Write an object by walking the pictures of a case."""
    return x.walked(shape, case, o)


# -- the object --------------------------------------------------------------------------------


def seen(
    x: Any, o: dict[str, Any], shape: Shape, case: Case, names: dict[str, Any] = EMPTY
) -> View:
    """Return an object as the writer's own methods see it."""
    view = View(o, shape.name, case, x)
    view.names = {name: found for name, found in names.items() if found[0] is not ABSENT}
    return view


def cold(
    x: Any, view: View, h: Hole, rel: Any, out: Any, key: str, settled: Any = frozenset()
) -> View:
    """Let the writer's own method write a hole whose value is no usual one."""
    view.settled |= settled
    wire = x.hole(h, view, rel, (out, key))
    missed(view, h)
    if wire is not ABSENT:
        out[key] = wire
    return view


def missed(view: View, h: Hole) -> None:
    """Say that the claims of a view tell which fields of a hole found a place."""
    view.missed.update(map(view.source, h.paths))


def leave(
    x: Any,
    shape: Shape,
    case: Case,
    o: dict[str, Any],
    wire: Any,
    claims: frozenset[str],
    took: tuple[str, ...],
    miss: tuple[str, ...],
    view: View | None,
) -> None:
    """Note what no picture took of an object."""
    if view is None:
        view = View(o, shape.name, case, x)
    found = claims.difference(miss, view.missed - view.claims)
    view.claims.update(path for path in found if "." not in path or _there(o, path))
    view.claims.update(took)
    x.leftover(view, wire)


def _there(o: Any, path: str) -> bool:
    """Tell whether something stands at a path: what nothing stood at was not taken."""
    for key in path.split("."):
        if not isinstance(o, dict) or key not in o:
            return False
        o = o[key]
    return True


def more(o: dict[str, Any], head: str, taken: dict[str, Any]) -> bool:
    """Tell whether an object within another one holds what no picture took."""
    value = o.get(head)
    if value is None:
        return False
    return value.__class__ is not dict or not value or _more(value, taken, head == "own")


def _more(value: dict[str, Any], taken: dict[str, Any], own: bool) -> bool:
    for key, inner in value.items():
        known = taken.get(key)
        if known is None:
            if inner is not None and (own or key not in DERIVED):
                return True
        elif known and (inner.__class__ is not dict or not inner or _more(inner, known, own)):
            return True
    return False


def misnamed(x: Any, o: dict[str, Any]) -> bool:
    """Tell whether a result says another name than its call."""
    name = o.get("name")
    return name is not None and x.calls.get(o.get("tool_call_id", "")) != name


def crossed(x: Any, case: Case, o: Any, wire: Any) -> None:
    """Note that a value was written by a case that says so."""
    assert case.note is not None
    x.note(case.note, "changed", x.trail.find(o), case.pos, f"written as `{case.name}`", wire)


def own_of(o: dict[str, Any], family: str, empty: Any) -> Any:
    """Return the fields of an object that one family alone has."""
    own = o.get("own")
    return own.get(family, empty) if isinstance(own, dict) else empty


def signed(value: Any, dialect: str) -> Any:
    """Return what only its origin can read, or NO where that is another dialect."""
    if not isinstance(value, dict):
        return value
    return value.get("value", ABSENT) if value.get("origin") == dialect else NO


def opened(value: dict[str, Any], dialect: str) -> Any:
    """Return what only its origin can read; ABSENT where that is another dialect."""
    return value.get("value", ABSENT) if value.get("origin") == dialect else ABSENT


# -- values ------------------------------------------------------------------------------------


def total(*terms: Any) -> int | None:
    """Return the sum of the terms that are there; None where none is, or one is no plain number."""
    found = None
    for term in terms:
        if term.__class__ is int:
            found = term + (found or 0)
        elif term is not None:
            return None
    return found


def json_text(x: Any, value: Any, o: dict[str, Any], text: str) -> str:
    """Return a value as JSON text: as it came while it still means the value."""
    said = o.get(text)
    if said.__class__ is str and (x.trusts or means(said, value)):
        return said
    return stringify(value)


def own_fields(fields: dict[str, Any], out: dict[str, Any], table: Any) -> list[str]:
    """Write fields that one family alone has; return the paths of those that were there."""
    took = []
    for name, key, path in table:
        value = fields.get(name, ABSENT)
        if value is not ABSENT:
            out[key] = value
            took.append(path)
    return took


def schema(x: Any, pair: Any, h: Hole, value: Any, o: Any, path: str) -> Any:
    """Return a JSON Schema as the dialect takes it, and note what had to change; NO for none."""
    try:
        wire, told = pair.write(value, x.options.get("tell_constraints") is True)
    except Misfit as misfit:
        misfit.__traceback__ = None
        return NO
    at = x.trail.find(o, path) if told else None
    for one in told:
        place = at if at is None else x.trail.within(value, at, one.at)
        place = None if one.effect == "added" else place
        x.note(one.code, one.effect, place, h.pos, one.message, one.owner, one.key)
    return wire


def through(x: Any, lens: str, h: Hole, value: Any, rel: Any) -> Any:
    """Return a value through a codec that is no more than a function; NO where it takes none."""
    try:
        if lens == "not":
            return not value if isinstance(value, bool) else NO
        if lens == "not-an-object":
            return value if not_an_object(value) else NO
        return time_of(value) if lens == "timestamp" else milliseconds_of(value)
    except Misfit as misfit:
        misfit.__traceback__ = None
        return NO


def fit(x: Any, h: Hole, value: Any, o: Any, path: str, into: Any, known: str = "") -> Any:
    """Return a name or id as the limits of the dialect let it be written."""
    kind = known or x.limits.kind(o, path)
    if kind is None or (value.__class__ is str and x.limits.fits(kind, value)):
        return value
    found = [value] if not isinstance(value, list) else value
    if not all(isinstance(one, str) for one in found):
        return value  # no name, whatever it is: the picture's own checks say so
    fitted = [x.limits.fit(kind, one) for one in found]
    if fitted != found:
        x.respelt.update(zip(found, fitted, strict=True))
        owner, key = into if into is not None else (None, None)
        told = f"`{value}` does not fit the limits of `{kind}` here"
        x.note("renamed", "changed", x.trail.find(o, path), h.pos, told, owner, key)
    return fitted if isinstance(value, list) else fitted[0]


def filled(x: Any, h: Hole, o: Any, rel: Any, into: Any) -> Any:
    """Return what stands where nothing is, as the mark of a hole says."""
    value = x.fill.get(h.path, h.value) if x.fill else h.value
    if h.mode == "as" and value == {}:
        mark = len(x.notes)
        value = x.shape(h.shape, {})
        del x.notes[mark:]
    if h.mark == "fill" and h.value is not None:
        told = f"`{rel[-1]}` is required here and was not there"
        if h.path in x.fill and value != h.value:
            told += f"; {value} leaves room for what the source asks for"
        owner, key = into if into is not None else (None, None)
        x.note("filled-in", "added", None, h.pos, told, owner, key)
        x.fills(o, h.path)
    return [] if value == [] else {} if value == {} else value


def told_part(x: Any, case: Case, o: Any, wire: Any, claims: Any, into: Any) -> None:
    """Note that some fields of an object were written by a case that says so."""
    assert case.note is not None
    at = x.trail.find(o, next(iter(claims), ""))
    place = itself.spot(wire, into)
    x.note(case.note, "changed", at, case.pos, f"written as `{case.name}`", *place)


def among(x: Any, out: dict[str, Any], wire: Any, mark: int) -> bool:
    """Put the keys of one object among those of another; False where that cannot be."""
    if not isinstance(wire, dict) or not out.keys().isdisjoint(wire):
        return False
    out.update(wire)
    for draft in x.notes[mark:]:
        if draft.owner is wire:
            draft.owner = out
    return True


# -- lists -------------------------------------------------------------------------------------


class Listing:
    """What is known beforehand of the holes that share a list.

    `kinds` has by the type of a part the first hole that takes it and the functions that write
    it there, or None where that is to be found out.
    """

    def __init__(
        self,
        dialect: Dialect,
        names: dict[str, Any],
        holes: list[Hole],
        kinds: dict[Any, tuple[int, tuple[str, ...]] | None],
    ) -> None:
        self.names, self.holes, self.kinds = names, holes, kinds
        self.pos, self.dialect = holes[0].pos, dialect.name
        self.usual = FUNCTION if holes[0].path == "tools" else holes[0].shape
        if self.usual not in kinds and None in kinds:
            kinds[self.usual] = kinds[None]
        self.marks = frozenset(f for hole in holes for f in dialect.marks_of(str(hole.shape)))
        # A text that is no more than its words, where nothing is made for it.
        self.plain = [dialect.plain_kind(str(hole.shape)) for hole in holes]
        made = {
            h.mark
            for case in dialect.cases
            if case.shape in _members(dialect, holes)
            for h in _holes(case)
        }
        self.making = "made" in made


def _members(dialect: Dialect, holes: list[Hole]) -> set[str]:
    names = {str(hole.shape) for hole in holes}
    return names | {member for name in names for member in dialect.unions.get(name, ())}


def _holes(case: Case) -> Iterable[Hole]:
    from ..language.picture import holes

    return holes(case.wire)


def shared(x: Any, listing: Listing, parts: list[Any], o: Any, view: View | None) -> Any:
    """Give each part of a list to the hole that takes it: pairs of part and wire for each hole."""
    holes = listing.holes
    known = view.lists.get(holes[0].path) if view is not None else None
    if known is not None:  # they were written before: others depend on what went
        return [known.get(id(h), []) for h in holes]
    whole = o.get("type") in PARTS
    shares: list[list[Any]] = [[] for _ in holes]
    last, gathered, some = 0, False, False
    for part in parts:
        quick = _quick(x, listing, part, shares)
        if quick is None:
            x.places = {id(h): len(found) for h, found in zip(holes, shares, strict=True)}
            given = [(holes.index(h), new, w) for h, new, w in x.give(holes, part, whole)]
        else:
            given = [quick]
        for number, new, wire in given:
            some = True
            gathered = gathered or wire.__class__ is Gathered
            shares[number].append((new, wire))
            if number < last:
                told = "the target holds this before what stood before it"
                at = x.trail.find(new)
                x.note("reordered", "moved", at, holes[number].pos, told, wire)
            last = number
    if whole and not some:
        raise Misfit("nothing of the list has a place", (), listing.pos)
    if gathered:
        shares = [share.gather(x, h, found) for h, found in zip(holes, shares, strict=True)]
    if view is not None:
        view.lists[holes[0].path] = {id(h): found for h, found in zip(holes, shares, strict=True)}
    return shares


def _quick(x: Any, listing: Listing, part: Any, shares: list[list[Any]]) -> Any:
    """Write a part by the hole that is known to take its kind; None where that fails."""
    if part.__class__ is not dict:
        return None
    kind = part.get("type", listing.usual)
    known = listing.kinds.get(kind)
    if known is None or (listing.marks and not listing.marks.isdisjoint(part)):
        return None
    if (kind == "text" or kind == "reasoning") and x.asked and blank(x, part, x.role):
        return None
    if "spelled" in part and listing.dialect in part["spelled"]:
        return None  # an exchange has put it back: it says where it stood
    m, b = len(x.notes), len(x.beside)
    if kind in MEDIA and _unusual(x, part, listing):
        return None
    number, writers = known
    x.lefts, x.nth = [], len(shares[number])
    for name in writers:
        try:
            wire = listing.names[name](x, part)
        except Misfit as misfit:
            misfit.__traceback__ = None
            wire = NO
        if wire is not NO:
            if not x.lefts or not _lower(x, kind, part):
                return number, part, wire
            break
        del x.notes[m:], x.beside[b:]
    del x.notes[m:], x.beside[b:]
    return None


def _lower(x: Any, kind: Any, part: Any) -> bool:
    """Tell whether a field that found no place has a row of the ladder of its own."""
    lost = {path for owner, path in x.lefts if owner == id(part)}
    if lost & {"source", "output_ref"}:
        return True
    return any(lost & row.before.names for row in x.ladder.get(str(kind), ()))


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
    h = listing.holes[number]
    if form == "single":
        if not pairs:
            raise Misfit(f"`{h.path}` is empty", (), h.pos)
        for part, _ in pairs[1:]:
            told = "the target holds one of these"
            x.note("no-place", "lost", x.trail.find(part), h.pos, told)
        return pairs[0][1]
    if form:
        if not pairs:
            return ("" if form != "blocks" else []) if h.mark is None else ABSENT
        text = _one_text(x, form, listing, number, pairs, into)
        return share.texts(x, form, h, pairs, EMPTY, into) if text is None else text
    if not pairs and h.mark is not None and (value or h.mark != "default"):
        return ABSENT
    return [wire for _, wire in pairs]


def _one_text(
    x: Any, form: str, listing: Listing, number: int, pairs: Any, into: Any
) -> str | None:
    """Return the text of one element that has nothing but its text."""
    if len(pairs) != 1 or form == "blocks" or x.watched or listing.making:
        return None
    part, wire = pairs[0]
    if part.__class__ is not dict or part.get("type") != listing.plain[number]:
        return None
    if part.keys() not in PLAIN or part["text"].__class__ is not str:
        return None
    if len(x.notes) > x.since:
        share.forget(x, pairs)
    if into is not None:
        x.stands[id(wire)] = (wire, *into)
    return str(part["text"])


NAMES: dict[str, Any] = {
    "ABSENT": ABSENT, "EMPTY": EMPTY, "Misfit": Misfit, "NO": NO, "guard": guard, "same": same,
    **{
        f.__name__: f
        for f in (
            lossless, undo, again, reads_back, plain, seen, cold, missed, leave, more, misnamed,
            crossed, own_of, signed, opened, total, json_text, schema, through, fit, filled,
            told_part, among, own_fields, shared, formed,
        )
    },
}  # fmt: skip
