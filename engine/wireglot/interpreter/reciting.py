"""Writing of citations: texts have them in the IR, and the wire says them where it has them.

It puts those of all texts into one list where a picture of a candidate or a message has that, and
gives each its place as the target counts it; what was read so comes back as it was as long as it
still means what the texts say (see `citations`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..language.lenses import byte_offset, key_of, same
from ..trail import At, Trail
from . import copies, rating
from .citations import (
    SPAN,
    Citation,
    Form,
    Shares,
    candidates_of,
    citing_texts,
    form_of,
    holes_of,
    made_of,
    places_of,
)
from .jobs import WriteJob
from .units import list_at
from .views import memory_of

_SAYS_NOTHING = frozenset(("spelled", "retrieved"))


def gather_citations(writer: WriteJob, ir: Any, unit: str, cited: bool) -> Any:
    """Return a value whose citations stand as the dialect has them; the same one if they do."""
    if unit == "response":
        owners, of, key = list_at(ir, "candidates"), "candidate", "candidates"
    elif cited or (writer.same and unit in ("request", "messages", "message", "session")):
        owners = ir if isinstance(ir, list) else list_at(ir, "messages")
        of, key = "message", "messages"
    else:
        return ir
    answers = of == "candidate"
    said = [rating.gather_tokens(writer, one) for one in owners] if answers else owners
    made = [recite(writer, one, of) for one in said]
    if copies.is_unchanged(made, owners):
        return ir  # mostly nothing is cited
    if isinstance(ir, list):
        return made
    return writer.trail.changed(ir, **{key: made})


def recite(writer: WriteJob, owner: Any, of: str = "candidate") -> Any:
    """Return a candidate or message whose citations stand as the dialect has them."""
    texts = citing_texts(owner)
    form = form_of(writer.dialect, of) if texts or _remembered_lists(writer, owner) else None
    if form is None:
        return owner
    if not form.whole:
        swapped = {id(part): fit_places(writer, part, form) for part in texts}
        if copies.is_unchanged([*swapped.values()], texts):
            return owner
        return copies.with_replaced(writer, owner, swapped)
    made = _unchanged_lists(writer, owner, form)
    if made is None and (not texts or of == "message"):
        return owner  # a wire that has messages so is only read
    if made is None:
        built = Recited(writer, form)
        number = 0
        for part in list_at(owner, "parts"):
            built.take(part, number)
            number += built.takes(owner, part)
        made = built.said(owner.get("sources") or [])
    bare = {id(part): copies.without_field(writer, part, "citations") for part in texts}
    new = copies.with_replaced(writer, owner, bare, **made)
    if form.sourced and "sources" not in made:
        new.pop("sources", None)
    return new


def _remembered_lists(writer: WriteJob, owner: Any) -> dict[str, Any] | None:
    """Return what a dialect of the family has read; it means the same in all of them."""
    spelled = owner.get("spelled") if isinstance(owner, dict) else None
    for name in spelled if isinstance(spelled, dict) else ():
        found: dict[str, Any] | None = memory_of(owner, name).get("citations")
        if isinstance(found, dict) and found.get("family") == writer.dialect.family:
            return found
    return None


def _unchanged_lists(writer: WriteJob, owner: dict[str, Any], form: Form) -> dict[str, Any] | None:
    """Return what was read, if it still means what is said now."""
    memory = _remembered_lists(writer, owner)
    if memory is None:
        return None
    lists = [memory.get(key, []) for key in ("citations", "sources")]
    if not all(isinstance(one, list) for one in lists):
        return None
    cited = [one for one in lists[0] if isinstance(one, dict)]
    if not writer.same and any(form.spans == one.keys().isdisjoint(SPAN) for one in cited):
        return None  # of its family one says them of the whole answer, the other of pieces
    meant = Shares(owner, form, *lists)
    now = {id(p): p["citations"] for p in owner["parts"] if p.get("citations")}
    then = {id(part): found for part, found in meant.of}
    if now.keys() != then.keys() or not same(owner.get("sources", []), meant.left):
        return None
    if not all(same(now[key], then[key]) for key in now):
        return None
    return {key: memory[key] for key in ("citations", "sources") if key in memory}


def fit_places(writer: WriteJob, part: dict[str, Any], form: Form) -> dict[str, Any]:
    """Return a text whose citations say places if the dialect has them, and else none for all."""
    found = part["citations"]
    if writer.same or not isinstance(found, list):
        return part
    text = str(part.get("text", ""))
    made = [_fit_place(one, text, form.spans, writer.trail) for one in found]
    if copies.is_unchanged(made, found):
        return part
    trail = writer.trail
    for new, one in zip(made, found, strict=True):
        if new is one:
            continue
        trail.copy(one, new)
        for key in one.keys() - new.keys():  # the places that it lost say nothing more
            writer.mark_derived(one, key, writer.dialect.pos)
        for key in SPAN if form.spans else ():
            made_of(trail, new, key, places_of(trail, (part, "text")))
    return copies.replace_part(writer, part, {**part, "citations": made})


def _fit_place(one: Any, text: str, spans: bool, trail: Trail) -> Any:
    if not isinstance(one, dict) or one.get("type") == "unknown":
        return one
    start, end = (one.get(key) for key in SPAN)
    if spans and start is None and end is None:
        return {**one, "start_index": 0, "end_index": len(text)}
    if not spans and start == 0 and end == len(text):
        return {key: value for key, value in one.items() if key not in SPAN}
    if not spans and start == 0 and trail.find(one) and not trail.find(one, "start_index"):
        return {key: value for key, value in one.items() if key != "start_index"}  # nobody said it
    return one


class Recited:
    """The citations of texts that came one after another, as they stand in one list."""

    def __init__(self, writer: WriteJob, form: Form) -> None:
        self._writer, self._form = writer, form
        self._before = 0  # characters of the texts before
        self._places: list[At] = []  # where these stand
        self.citations: list[Any] = []
        self.sources: list[Any] = []
        self._numbers: dict[Any, int] = {}  # of the sources: of many, each is looked for at once

    def takes(self, owner: dict[str, Any], part: Any) -> int:
        """Return how many parts of the wire a part is; it matters where numbers name them."""
        if not self._form.parts or not any("citations" in p for p in owner["parts"]):
            return 1
        probe = self._writer.afresh()
        found = (c.lists["parts"] for c in candidates_of(probe.dialect) if c.lists.get("parts"))
        kinds = probe.dialect.kinds_of
        holes = [hole for hole in next(found, []) if "text" in kinds(hole.named)]
        return len(probe.give(holes, part)) if holes else 1

    def take(self, part: Any, number: int, before: tuple[int, int] | None = None) -> None:
        """Take a part, the number of which is known on the wire.

        `before` are the characters and bytes that stand before it in that part of the wire.
        """
        if not isinstance(part, dict) or part.get("type") != "text":
            return
        text = str(part.get("text", ""))
        found = part.get("citations")
        within = 0 if before is None else before[self._form.bytes]
        if before is not None and not self._form.parts:
            self._before = before[0]
        if self._writer.trail.recorder is not None:
            here = places_of(self._writer.trail, (part, "text"))
            self._places = here if self._form.parts else [*self._places, *here]
        for one in found if isinstance(found, list) else ():
            if not isinstance(one, dict) or one.get("type") == "unknown":
                self.citations.append(one)
            else:
                self._take(one, text, number, within)
        self._before += len(text)

    def _take(self, one: Citation, text: str, number: int, within: int) -> None:
        """Put one citation of a text into the list, placed as the target counts, and its source."""
        form, trail = self._form, self._writer.trail
        start = int(one.get("start_index") or 0)
        end = int(one.get("end_index", start if "start_index" in one else len(text)))
        apart = form.parts or form.bytes
        before = within if apart else self._before
        count = byte_offset if form.bytes else (lambda _, at: at)
        place: Citation = {"part_index": number} if form.parts and number else {}
        place["start_index"] = before + count(text, start)
        if apart or "start_index" not in one or "end_index" in one:
            place["end_index"] = before + count(text, end)
        if not form.spans and start == 0 and end == len(text):
            place = {}  # the whole text is meant, and that is what it says
        recited = one.get("recited")
        if form.text and not (form.sourced and recited):
            place["text"] = text[start:end]
        if not form.sourced or recited:
            kept = {k: v for k, v in one.items() if place or k not in SPAN}
            made = {**kept, **place}
            trail.copy(one, made)
            self._told(made, one)
            self.citations.append(made)
            return
        mine, source = self._apart(one)
        numbers = []
        if source.keys() - _SAYS_NOTHING:
            if (found := self._source(source, one)) is None:
                return
            numbers = [found]
        last = self.citations[-1] if self.citations and numbers and not mine else {}
        alike = all(last.get(key) == place.get(key) for key in (*SPAN, "part_index"))
        if alike and last.get("sources"):
            last["sources"] += [n for n in numbers if n not in last["sources"]]
            return
        made = {**mine, **place, "sources": numbers}
        for key in (None, *SPAN):
            trail.put(made, key, trail.find(one, key))
        if mine:
            trail.copy(one, made)
        self._told(made, one)
        self.citations.append(made)

    def _told(self, made: Citation, one: Citation) -> None:
        """Tell a trace what the place of a citation was made of."""
        trail = self._writer.trail
        if trail.recorder is None:
            return
        spans: list[At] = []
        for key in SPAN:
            known = trail.recorder.made_of.get((id(one), key))
            spans += known[1] if known is not None else places_of(trail, (one, key))
        for key in (*SPAN, "text", "part_index"):
            if key in made:
                made_of(trail, made, key, [*dict.fromkeys([*spans, *self._places])])
        if "sources" in made and (at := trail.find(one)) is not None:
            made_of(trail, made, "sources", [at])

    def _apart(self, one: Citation) -> tuple[Citation, Citation]:
        """Take what is own of the place from what is of the source."""
        source = {k: v for k, v in one.items() if k not in SPAN}
        family = self._writer.dialect.family
        own = one.get("own", {}).get(family, {})
        mine = {key: value for key, value in own.items() if key in self._form.own}
        if not mine:
            return {}, source
        rest = {key: value for key, value in own.items() if key not in mine}
        source["own"] = {**one["own"], family: rest}
        return {"own": {family: mine}}, source

    def _source(self, source: Citation, one: Citation) -> int | None:
        """Return the number of a source, which is put behind the others if it is new.

        None, and a note, where it has no place.
        """
        plain = key_of({k: v for k, v in source.items() if k != "spelled"})
        if plain in self._numbers:
            return self._numbers[plain]
        self._writer.trail.copy(one, source)
        holes = [h for h in holes_of(self._writer.dialect, "candidate") if h.path == "sources"][:1]
        if not self._writer.same and holes and not self._writer.afresh().give(holes, source):
            self._writer.give(holes, source)
            return None
        number = self._numbers[plain] = len(self.sources)
        self.sources.append(source)
        return number

    def said(self, more: Iterable[Any] = ()) -> dict[str, Any]:
        """Return the lists that say it, with sources that nothing cites."""
        out: dict[str, Any] = {}
        sources = [*self.sources, *more]
        if self.citations:
            out["citations"] = self.citations
        if sources and self._form.sourced:
            out["sources"] = sources
        return out
