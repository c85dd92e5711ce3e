"""Parts of another kind within a text, between two marks, as `within-text` of a rule file has them.

Reading for another dialect, what stands so in what the model said is a part of its own: a thought
at the beginning, calls anywhere. White space around the marks is of the form. Writing, a part of
such a kind that no picture of the dialect takes in a turn of the model stands so in the text:
`weaving` puts it there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from ..language.intext import Marks
from ..language.model import Dialect, once
from ..notes import Draft
from ..patterns import later
from ..trail import IN_TEXT, At, Trail, everywhere
from .citations import PLACE, SPAN
from .jobs import Part, ReadJob, Tries, WriteJob

Span = tuple[int, int]  # where a text begins in another one, and where it ends
Parts = Callable[[str], list[Part]]  # what a text says between two marks; nothing where none
CALL, THOUGHT = "tool_call", "reasoning"
TRIES = 16  # marks in what a part says: so many that may close it, so many that open
_SOLID = later(r"\S")


def find_thought(marks: Marks, text: str) -> tuple[str, int] | None:
    """Return what stands at the head of a text between marks, and where the text goes on.

    None where no mark begins it. What is not closed goes to the end: the model was cut off in it.
    """
    head = skip_space(text, 0)
    if not text.startswith(marks.opens, head):
        return None
    inner, closed, _ = text[head + len(marks.opens) :].partition(marks.closes)
    behind = head + len(marks.opens) + len(inner) + len(closed)
    return inner.strip(), skip_space(text, behind)


def find_calls(
    marks: Marks, text: str, start: int, over: bool, parts: Parts
) -> tuple[int, int, list[Part]] | int:
    """Return where the next calls stand in a text, with their marks, and the calls.

    Where there are none, return the place behind which the text may still hold some: one that is
    `over` holds none. What stands between marks and is no call is text. Calls may say some marks,
    not any number, so that the time grows as the text does.
    """
    for at in _places(text, marks.opens, start, len(text)):
        inner = at + len(marks.opens)
        more = list(islice(_places(text, marks.opens, inner, len(text)), TRIES))
        end = len(text) if len(more) < TRIES else more[-1]
        tries = list(islice(_places(text, marks.closes, inner, end), TRIES)) if marks.closes else []
        for close in tries:
            if found := parts(text[inner:close].strip()):
                return at, close + len(marks.closes), found
        if end == len(text) and len(tries) < TRIES:
            if not over:
                return at
            if found := parts(text[inner:].strip()):
                return at, len(text), found
    return len(text) if over else len(text) - mark_begun(text, marks.opens)


def _places(text: str, mark: str, start: int, end: int) -> Iterator[int]:
    """Yield where a mark stands in a text."""
    while (at := text.find(mark, start, end)) >= 0:
        yield at
        start = at + 1


def skip_space(text: str, start: int) -> int:
    """Return where the first sign behind spaces stands, or the end of the text."""
    found = _SOLID.search(text, start)
    return len(text) if found is None else found.start()


def stop_with_calls(stop: Part) -> Part:
    """Return why an answer stopped in whose texts calls were found."""
    return {"stop_reason": "tool_use"} if stop.get("stop_reason") == "end_turn" else {}


def mark_begun(text: str, mark: str) -> int:
    """Return how many of the last signs of a text may begin a mark."""
    return next((n for n in range(len(mark) - 1, 0, -1) if text.endswith(mark[:n])), 0)


# -- reading ----------------------------------------------------------------------------------


def split_texts(reader: ReadJob, owners: list[Any]) -> frozenset[str]:
    """Let what stands within the texts of answers or messages be parts; return the kinds of them.

    Where the host has told calls as such, the text may say them again, and stays.
    """
    kinds: set[str] = set()
    for owner in owners if reader.dialect.within else ():
        if owner.get("role", "assistant") != "assistant":
            continue
        marks = reader.dialect.within
        if CALL in marks and any(part.get("type") == CALL for part in owner.get("parts", ())):
            marks = {kind: one for kind, one in marks.items() if kind != CALL}
        made = [_split_text(reader, marks, part) for part in owner.get("parts", ())]
        if any(one is not None for one in made):
            # What the answer said of the places in all its texts holds no more.
            owner.get("spelled", {}).get(reader.dialect.name, {}).pop("citations", None)
            pairs = zip(made, owner["parts"], strict=True)
            owner["parts"] = [p for new, old in pairs for p in ([old] if new is None else new)]
            found = {str(part.get("type")) for new in made for part in new or ()}
            kinds |= found
            owner.update(stop_with_calls(owner) if CALL in found else {})
    return frozenset(kinds)


def _split_text(reader: ReadJob, marks: Mapping[str, Marks], part: Part) -> list[Part] | None:
    """Return the parts that a text holds; None of one that holds nothing else."""
    text = part.get("text") if part.get("type") == "text" else None
    if not isinstance(text, str):
        return None
    place = reader.trail.find(part, "text") or reader.trail.find(part)
    parts = calls_reader(reader, marks.get(CALL), None if place is None else (*place, IN_TEXT))
    found = list(_pieces(marks, text, parts))
    if all(isinstance(one, tuple) for one in found):
        return None
    spans = [one for one in found if isinstance(one, tuple) and one[0] < one[1]]
    if not spans and has_fields(part):
        spans = [(len(text), len(text))]
        found.append(spans[0])
    cited = share_citations(part.get("citations"), spans, reader.trail)
    out: list[Part] = []
    nth = 0
    for one in found:
        if isinstance(one, list):
            for part_within in one:
                if part_within.get("type") == THOUGHT:
                    reader.trail.copy(part, part_within)
            out += one
        elif nth < len(spans) and one == spans[nth]:
            new: Part = part if nth == 0 else {"type": "text"}
            if nth:
                reader.trail.copy(part, new)
            new["text"] = text[one[0] : one[1]]
            if cited[nth] or "citations" in new:
                new["citations"] = cited[nth]
            out.append(new)
            nth += 1
    return out


def _pieces(marks: Mapping[str, Marks], text: str, parts: Parts) -> Iterator[list[Part] | Span]:
    """Yield what a text holds: parts, and the places of texts without the spaces around marks."""
    start = 0
    if THOUGHT in marks and (head := find_thought(marks[THOUGHT], text)) is not None:
        yield [{"type": THOUGHT, "text": head[0]}] if head[0] else []
        start = head[1]
    while CALL in marks:
        found = find_calls(marks[CALL], text, start, True, parts)
        if isinstance(found, int):
            break
        at, behind, calls = found
        yield start, start + len(text[start:at].rstrip())
        yield calls
        start = skip_space(text, behind)
    yield start, len(text)


def calls_reader(reader: ReadJob, marks: Marks | None, at: At | None) -> Parts:
    """Return what reads calls that stand between marks in the text at a place."""

    def parts(text: str) -> list[Part]:
        assert marks is not None
        with Tries(reader):
            said = marks.value(text)
            some = said if marks.many and isinstance(said, list) else [said]
            return [reader.shape(marks.shape, one, at or (IN_TEXT,)) for one in some]
        return []

    return parts


def has_fields(text: Part) -> bool:
    """Tell whether a text says anything beside its words."""
    return bool(text.keys() - {"type", "text", "spelled"})


def share_citations(
    citations: list[Part] | None, spans: list[Span], trail: Trail | None = None
) -> list[list[Part]]:
    """Return the citations of a text as those of the texts that are left of it.

    One of what is gone has no place any more: all of the first text is meant.
    """
    out: list[list[Part]] = [[] for _ in spans]
    ends = [end for _, end in spans]
    for one in citations or ():
        start, end = one.get("start_index", 0), one.get("end_index")
        nth = 0 if end is None else bisect_right(ends, start)
        if nth < len(spans) and (end is None or end > spans[nth][0]):
            new = shift_citation(one, -spans[nth][0])
        elif out:
            nth, new = 0, {key: value for key, value in one.items() if key not in PLACE}
        else:
            continue
        out[nth].append(new)
        if trail is not None:
            trail.copy(one, new)
    return out


def shift_citation(citation: Part, by: int) -> Part:
    """Return a citation whose place is so many signs further on."""
    return {**citation, **{key: max(0, citation[key] + by) for key in SPAN if key in citation}}


# -- writing ----------------------------------------------------------------------------------


@once
def marks_to_write(dialect: Dialect) -> dict[str, Marks]:
    """Return the marks of parts that no picture of a turn of the model takes, by their kinds."""
    talk = dialect.conversation
    if talk is None:
        return {}
    spoken = [case for case in talk.cases if talk.role(case) == "assistant"]
    holes = [hole for case in spoken for hole in case.lists.get("parts", ()) if not hole.only_read]
    taken = frozenset[Any]().union(*(dialect.taken_by(hole.named) for hole in holes))
    within = dialect.within.items()
    return {
        kind: one
        for kind, one in within
        # What has no closing mark would take the text behind it.
        if one.closes and kind not in taken and (one.shape or kind) in dialect.shapes
    }


@once
def marks_in_items(dialect: Dialect) -> Mapping[str, Marks]:
    """Return the marks where calls are items of a flat list, and stand in texts, too.

    There a turn in which something is said or thought is one text, with its calls.
    """
    talk, marks = dialect.conversation, dialect.within
    groups = talk.groups if talk is not None and CALL in marks and marks[CALL].closes else ()
    flat = any(one.spliced and talk and talk.role(one.cases[0]) == "assistant" for one in groups)
    return marks if flat else {}


def writes_calls(dialect: Dialect) -> bool:
    """Tell whether calls are written within texts, all of them or some."""
    return CALL in marks_to_write(dialect) or CALL in marks_in_items(dialect)


def may_stand(writer: WriteJob, part: Part) -> bool:
    """Tell whether a part may stand in a text: it would be read back as it is."""
    kind = part.get("type", "")
    marks = marks_to_write(writer.dialect).get(kind) or marks_in_items(writer.dialect).get(kind)
    said = str(part.get("text") or "")
    return marks is not None and bool(marks.shape or (said.strip() and marks.closes not in said))


def note_mistaken(writer: WriteJob, owners: list[Any]) -> None:
    """Note texts of answers or messages that are written, and would be read as other parts.

    Where texts became one, a mark may stand at its head no more: what was written is looked at.
    """
    all_marks, found = writer.dialect.within, []
    calls_in_texts = writes_calls(writer.dialect)
    for owner in owners:
        if owner.get("role", "assistant") != "assistant":
            continue
        parts = owner.get("parts", ())
        apart = not calls_in_texts and any(one["type"] == CALL for one in parts)
        marks = {kind: one for kind, one in all_marks.items() if kind != CALL or not apart}
        for part in parts:
            text = part.get("text") if part["type"] == "text" else None
            if isinstance(text, str) and (kind := _kind_read(writer, marks, text)) is not None:
                found.append((kind, part, text))
    if not found:
        return
    drafts = []
    for kind, part, text in found:
        why = f"it reads as `{kind}` there, for it says the marks of one"
        at = writer.trail.find(part, "text")
        draft = Draft("ambiguous", "changed", at, all_marks[kind].pos, why, None, part)
        drafts.append((draft, "" if kind == CALL else text.lstrip()))
    writer.notes += [draft for draft, _ in drafts]
    writer.place_notes()
    gone = {id(draft) for draft, head in drafts if not _begins_with(draft, head)}
    writer.notes = [draft for draft in writer.notes if id(draft) not in gone]


def _kind_read(writer: WriteJob, marks: Mapping[str, Marks], text: str) -> str | None:
    """Return the kind of the first part that a text holds between marks."""
    if THOUGHT in marks and find_thought(marks[THOUGHT], text) is not None:
        return THOUGHT
    if CALL in marks and marks[CALL].opens in text:
        parts = calls_reader(writer.reader(), marks[CALL], None)
        return None if isinstance(find_calls(marks[CALL], text, 0, True, parts), int) else CALL
    return None


def _begins_with(draft: Draft, head: str) -> bool:
    """Tell whether what was written of a note's part begins so."""
    whole = draft.owner if draft.place is None else draft.owner[draft.place]
    said = (value for _, value in everywhere(whole) if isinstance(value, str))
    return any(value.lstrip().startswith(head) for value in said)
