"""Citations: of a text in the IR; of a whole answer, and counted otherwise, on some wires.

In the IR a citation stands in the list `citations` of the text that it is of, with its place there
in characters. A picture of a candidate or a message may have `$citations`, too: all of its texts
together, and `$sources`, the list that they name by number. Then the places are those of all texts,
one after another, or those of one part where the picture has `$part_index`; and bytes of its UTF-8
where it says `| bytes`. `spread_citations` gives each text its own; `reciting` puts them together
again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..language import picture as pic
from ..language.lenses import character_offset
from ..language.model import Dialect, once
from ..language.shape import Case
from ..tagged import Several
from ..trail import At, Trail, pointer
from .jobs import ReadJob
from .units import OWNED, answer_holes, list_at, owners_of_parts

Citation = dict[str, Any]
SPAN = ("start_index", "end_index")
PLACE = (*SPAN, "text")
_SAID = (*SPAN, "part_index", "text", "spelled")  # of a place, not of what stands there
ASIDE = frozenset(("spelled", "kept", "own"))
OUTSIDE = "this place lies outside of the text, or between two characters; all of it is meant"
NOWHERE = "there is no source of this number"
MOVED = "this is not the text at that place; where it stands once is meant"
OTHER = "this is not the text at that place, and the place counts"


class Form(NamedTuple):
    """How a dialect says citations: of all texts of an object, or of each."""

    whole: bool  # in a list of the candidate or message
    sourced: bool  # which names its sources by number
    parts: bool  # and the part
    bytes: bool
    text: bool  # it repeats the text at the place
    spans: bool  # it says places at all
    own: frozenset[str]  # own fields of the place, not of the source


@once
def form_of(dialect: Dialect, of: str) -> Form | None:
    """Return how a dialect says the citations of a `candidate` or a `message`; None if not."""
    holes = holes_of(dialect, of)
    around = dialect.holes_in("response") if of == "candidate" else []
    whole = [hole for hole in holes if hole.path == "citations"]
    whole += [hole for hole in around if hole.path == f"{OWNED}citations"]
    if whole:
        return _form(dialect, whole, any(hole.path == "sources" for hole in holes))
    names = {hole.named for hole in holes if hole.path in ("parts", "run") and hole.shape}
    inner = [hole for name in names for hole in dialect.own_holes(name)]
    found = [hole for hole in inner if hole.path == "citations"]
    return _form(dialect, found, False)._replace(whole=False) if found else None


def candidates_of(dialect: Dialect) -> Iterator[Case]:
    """Yield the cases of the candidates of a response."""
    for name in dict.fromkeys(hole.named for hole in answer_holes(dialect)):
        yield from (case for _, case in dialect.cases_of(name))


@once
def holes_of(dialect: Dialect, of: str) -> list[pic.Hole]:
    """Return the holes of a `candidate` or a `message`."""
    cases = candidates_of(dialect) if of == "candidate" else dialect.message_cases
    return [hole for case in cases for hole in pic.holes(case.wire)]


def _form(dialect: Dialect, lists: list[pic.Hole], sourced: bool) -> Form:
    cases = [case for hole in lists for _, case in dialect.cases_of(hole.named)]
    holes = [hole for case in cases for hole in pic.holes(case.wire)]
    paths = {hole.path for hole in holes}
    own = frozenset(path[4:] for path in paths if path.startswith("own."))
    counted = any("bytes" in hole.lenses for hole in holes)
    placed = "part_index" in paths
    return Form(True, sourced, placed, counted, "text" in paths, "end_index" in paths, own)


def spread_citations(reader: ReadJob, ir: Any, messages: list[Any] | None) -> None:
    """Give each text of what was read the citations of it: of `messages`, or of candidates."""
    of = "candidate" if messages is None else "message"
    for owner in owners_of_parts(ir, messages):
        together, texts = "citations" in owner or "sources" in owner, citing_texts(owner)
        form = form_of(reader.dialect, of) if together or texts else None  # mostly nothing is cited
        if form is None:
            continue
        if form.whole and together:
            _spread_whole(reader, owner, form, of)
        for part in texts if not form.whole else ():
            if part["citations"] == []:  # it says nothing, and what stood there is remembered
                del part["citations"]


def citing_texts(owner: Any) -> list[dict[str, Any]]:
    """Return the texts that say what they rest on, also those that say that it is nothing."""
    parts = list_at(owner, "parts")
    return [part for part in parts if isinstance(part, dict) and "citations" in part]


def _spread_whole(reader: ReadJob, owner: dict[str, Any], form: Form, of: str) -> None:
    """Give each text what the lists of an answer or message cite of it; these go into memory."""
    cited, sources = owner.get("citations", []), owner.get("sources", [])
    shares = Shares(owner, form, cited, sources)
    if not shares.of and not shares.left and (cited or sources):
        return  # there is no text
    said = {key: owner[key] for key in ("citations", "sources") if owner.get(key)}
    if said:
        reader.memory(owner)["citations"] = {**said, "family": reader.dialect.family}
    trail = reader.trail
    at = trail.find(owner, "citations")
    owner.pop("citations", None)
    owner.pop("sources", None)
    if shares.left:
        owner["sources"] = shares.left
        trail.put(owner, "sources", _places(trail, shares.left))
    for one in cited if form.sourced else ():
        _keep_unknown(reader, owner, one)
    for part, found in shares.of:
        part["citations"] = found
        places = []
        for made, one, source in zip(found, *shares.whence[id(part)], strict=True):
            _trail_citation(trail, made, one, source, part)
            places += [where for of in (one, source) if of and (where := trail.find(of))]
        trail.put(part, "citations", Several.of([*dict.fromkeys(places)]) if places else at)
    told_again = {id(one) for _, one, _ in shares.odd}
    for one in cited if form.text else ():
        if id(one) not in told_again and (spot := trail.find(one, "text")) and "text" in one:
            reader.mark_redundant(spot, "it repeats the text", None)
    holes = holes_of(reader.dialect, of) if shares.odd else []
    rule = next((hole.pos for hole in holes if hole.path == "citations"), reader.dialect.pos)
    for reason, one, keys in shares.odd:
        spots = [spot for key in keys if key in one and (spot := trail.find(one, key))]
        found_at = _common_place(spots) or at or ()
        reader.notes.append(("inconsistent", "changed", found_at, rule, reason))


def _keep_unknown(reader: ReadJob, owner: dict[str, Any], one: Any) -> None:
    """Let the object around keep what no picture names beside a place: sources are all cites."""
    kept = one.get("kept", {}).get(reader.dialect.name) if isinstance(one, dict) else None
    base, at = reader.trail.find(owner), reader.trail.find(one) if kept else None
    if kept and at is not None and base is not None and at[: len(base)] == base:
        here = owner.setdefault("kept", {}).setdefault(reader.dialect.name, {})
        here.update({pointer(at[len(base) :]) + key: value for key, value in kept.items()})
        reader.trail.put(owner, "kept", base)


def _common_place(places: list[At]) -> At | None:
    """Return the place in which some places lie."""
    size = len(places[0]) if places else 0
    for at in places:
        while at[:size] != places[0][:size]:
            size -= 1
    return places[0][:size] if places else None


def _places(trail: Trail, found: list[Any]) -> At | None:
    places = [at for one in found if isinstance(one, dict) and (at := trail.find(one))]
    return Several.of(places) if places else None


def _trail_citation(trail: Trail, made: Citation, one: Any, source: Any, part: Any) -> None:
    """Say where the fields of a citation came from: its place in a text, and its source."""
    if not isinstance(made, dict) or not isinstance(one, dict):
        return
    for of in (one, source):
        if isinstance(of, dict):
            trail.copy(of, made)
    at = trail.find(source) if isinstance(source, dict) else None
    if at is not None:
        trail.put(made, None, at)
        for key in SPAN:
            if key in made:
                trail.put(made, key, trail.find(one, key))
    if trail.recorder is None:
        return
    numbers, cited = trail.find(one, "sources"), len(one.get("sources") or [])
    spans = places_of(trail, *((one, key) for key in (*SPAN, "text", "part_index")))
    for key in made:
        if key in SPAN:
            made_of(trail, made, key, [*spans, *places_of(trail, (part, "text"))])
        elif at is not None and numbers is not None and key not in ASIDE:
            places = [*places_of(trail, (source, key)), *((*numbers, n) for n in range(cited))]
            made_of(trail, made, key, places)


def places_of(trail: Trail, *fields: tuple[Any, str]) -> list[At]:
    """Return where some fields came from, as far as they came from anywhere."""
    found = (trail.find(owner, key) for owner, key in fields if key in owner)
    return [at for at in found if at is not None]


def made_of(trail: Trail, owner: Any, key: str, places: list[At]) -> None:
    """Tell a trace of which places a field was made."""
    if trail.recorder is not None:
        trail.recorder.made_of[id(owner), key] = (owner, places)


class Shares:
    """What citations of all texts of an object are of each.

    Attributes:
        of: The texts that are cited, each with its citations.
        left: The sources that no citation names.
        odd: What does not fit, each with what is told of it.
        whence: By the identity of a text: what was said of each place, and the source of each.
    """

    def __init__(
        self, owner: dict[str, Any], form: Form, cited: list[Any], sources: list[Any]
    ) -> None:
        parts = owner.get("parts") or []
        self._form, self._parts = form, parts
        self._texts = [p for p in parts if isinstance(p, dict) and p.get("type") == "text"]
        found: dict[int, list[Any]] = {}
        self.whence: dict[int, tuple[list[Any], list[Any]]] = {}
        self.odd: list[tuple[str, Any, tuple[str, ...]]] = []
        named: set[int] = set()
        for one in cited if self._texts else ():
            part, span = self._place(one)
            if not span and form.spans:
                span = {"start_index": 0, "end_index": len(str(part.get("text", "")))}
            for made, source in self._each(one, span, sources, named):
                found.setdefault(id(part), []).append(made)
                ones, of = self.whence.setdefault(id(part), ([], []))
                ones.append(one)
                of.append(source)
        self.of = [(part, found[id(part)]) for part in self._texts if id(part) in found]
        self.left = [s for n, s in enumerate(sources) if n not in named] if self._texts else []

    def _each(
        self, one: Any, span: dict[str, int], sources: list[Any], named: set[int]
    ) -> Iterator[tuple[Citation, Any]]:
        """Yield a citation of one place for each of its sources."""
        if not isinstance(one, dict) or one.get("type") == "unknown":
            yield one, None
            return
        said = {k: v for k, v in one.items() if k not in _SAID}
        if not self._form.sourced or one.get("recited"):
            yield {**said, **span}, None
            return
        for key in ("kept", "sources"):
            said.pop(key, None)
        numbers = one.get("sources") or []
        known = [n for n in numbers if n.__class__ is int and 0 <= n < len(sources)]
        if len(known) < len(numbers):
            self.odd.append((NOWHERE, one, ("sources",)))
        for number in known:
            source = sources[number]
            named.add(number)
            made = {k: v for k, v in source.items() if k != "spelled"}
            yield made if "type" in made else _merge(made, said) | span, source
            said = {}  # once is enough
        if not known:
            yield said | span, None

    def _place(self, one: Any) -> tuple[dict[str, Any], dict[str, int]]:
        """Return the text that a citation is of, and the place in it."""
        if not isinstance(one, dict):
            return self._texts[0], {}
        start, end = (one.get(key) for key in SPAN)
        if start is None and end is None:
            return self._part(one) or self._texts[0], {}
        if self._form.parts or self._form.bytes:
            return self._counted(one, int(start or 0), end)
        first, last = int(start or 0), None if end is None else int(end)
        before = 0
        for part in self._texts:
            size = len(str(part.get("text", "")))
            inside = first < before + size or part is self._texts[-1]
            if inside and first >= before and (last or first) <= before + size:
                found = {"start_index": first - before} if start is not None else {}
                return part, found if last is None else {**found, "end_index": last - before}
            before += size
        self.odd.append((OUTSIDE, one, PLACE))
        return self._texts[0], {}

    def _part(self, one: Citation) -> dict[str, Any] | None:
        """Return the text that a number names."""
        number = int(one.get("part_index") or 0)
        part = self._parts[number] if 0 <= number < len(self._parts) else None
        return part if isinstance(part, dict) and part.get("type") == "text" else None

    def _counted(
        self, one: Citation, start: int, end: Any
    ) -> tuple[dict[str, Any], dict[str, int]]:
        """Return the text and the place that numbers of a part mean.

        Often nothing says which part, though a thought stands before the text: the text that is
        repeated tells.
        """
        named, said = self._part(one), one.get("text")
        repeated = said if isinstance(said, str) else ""
        rest = [part for part in self._texts if part is not named]
        likely = [named, *rest] if named is not None else rest
        fits: tuple[dict[str, Any], dict[str, int]] | None = None  # the first that it may lie in
        for part in likely:
            if (span := self._span(part, start, end)) is None:
                continue
            text = str(part.get("text", ""))
            piece = text[span["start_index"] : span.get("end_index", len(text))]
            if not repeated or piece == repeated:
                return part, span
            fits = fits or (part, span)
        there = [p for p in likely if repeated and str(p.get("text", "")).count(repeated) == 1]
        if len(there) == 1:
            self.odd.append((MOVED, one, PLACE))
            at = str(there[0]["text"]).find(repeated)
            return there[0], {"start_index": at, "end_index": at + len(repeated)}
        self.odd.append((OUTSIDE if fits is None else OTHER, one, PLACE))
        return fits or (likely[0], {})

    def _span(self, part: dict[str, Any], start: int, end: Any) -> dict[str, int] | None:
        text = str(part.get("text", ""))
        count = character_offset if self._form.bytes else _character
        first = count(text, start)
        last = None if end is None else count(text, int(end))
        if first is None or (end is not None and (last is None or last < first)):
            return None
        return {"start_index": first, **({} if last is None else {"end_index": last})}


def _character(text: str, place: int) -> int | None:
    return place if place <= len(text) else None


def _merge(made: Citation, more: Citation) -> Citation:
    """Return an object with the fields of another, what is own of both together."""
    out = {**more, **made}
    both = [one["own"] for one in (made, more) if isinstance(one.get("own"), dict)]
    if len(both) == 2:
        names = dict.fromkeys((*both[0], *both[1]))
        out["own"] = {n: {**both[0].get(n, {}), **both[1].get(n, {})} for n in names}
    return out
