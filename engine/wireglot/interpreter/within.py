"""Parts of another kind within a text, between two marks, as `within-text` of a rule file has them.

Reading for another dialect, what stands so at the beginning of what the model said is a part of its
own, and white space around the marks is of the form. Writing, a part of such a kind that no picture
of the dialect takes in a turn of the model stands so before the text of the turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..language.model import Dialect
from ..trail import Trail
from .citations import PLACE, SPAN, made_of, places_of
from .copies import instead, with_parts
from .jobs import WriteJob

Part = dict[str, Any]


class Marks(NamedTuple):
    """What stands before and behind a part in a text: as it is written, and without spaces."""

    kind: str
    before: str
    behind: str
    opens: str
    closes: str

    def parted(self, text: str) -> tuple[str, str] | None:
        """Return what stands between the marks and the text behind; None where no mark begins it.

        What is not closed goes to the end: the model was cut off in it.
        """
        text = text.lstrip()
        if not text.startswith(self.opens):
            return None
        inner, _, rest = text[len(self.opens) :].partition(self.closes)
        return inner.strip(), rest.lstrip()


def marks_of(dialect: Dialect) -> Marks | None:
    """Return the marks that a dialect has within texts."""
    found: Marks | None = dialect.once("within", lambda: (next(_marks(dialect), None),))[0]
    return found


def _marks(dialect: Dialect) -> Iterator[Marks]:
    for kind, said in dialect.within.items():
        before, _, behind = said.partition("${text}")
        yield Marks(kind, before, behind, before.strip(), behind.strip())


# -- reading ----------------------------------------------------------------------------------


def parted(dialect: Dialect, owners: list[Any], trail: Trail) -> bool:
    """Let what stands within the texts of answers or messages be parts; tell whether any does."""
    marks, found = marks_of(dialect), False
    if marks is None:
        return False
    for owner in owners:
        if owner.get("role", "assistant") != "assistant":
            continue
        made = [_parted(marks, part, trail) for part in owner.get("parts", ())]
        if any(one is not None for one in made):
            found = True
            # What the answer said of the places in all its texts holds no more.
            owner.get("spelled", {}).get(dialect.name, {}).pop("citations", None)
            pairs = zip(made, owner["parts"], strict=True)
            owner["parts"] = [p for new, old in pairs for p in ([old] if new is None else new)]
    return found


def _parted(marks: Marks, part: Part, trail: Trail) -> list[Part] | None:
    """Return the parts that a text holds; None of one that no mark begins."""
    text = part.get("text") if part.get("type") == "text" else None
    told = marks.parted(text) if isinstance(text, str) else None
    if told is None:
        return None
    inner, rest = told
    out = [{"type": marks.kind, "text": inner}] if inner else []
    for made in out:
        trail.copy(part, made)
    part.update(moved(part, str(text), rest), text=rest)
    return [*out, part] if rest or says_more(part) else out


def says_more(text: Part) -> bool:
    """Tell whether a text says anything beside its words."""
    return bool(text.keys() - {"type", "text", "spelled"})


def moved(part: Part, text: str, now: str) -> Part:
    """Return a text with its citations where their places are when its beginning is gone or new.

    One of what is gone has no place any more: all of the text is meant.
    """
    cited, by = part.get("citations"), len(now) - len(text)
    return {**part, "citations": [_moved(one, by) for one in cited]} if cited else part


def _moved(citation: Part, by: int) -> Part:
    if (end := citation.get("end_index")) is not None and end + by <= 0:
        return {key: value for key, value in citation.items() if key not in PLACE}
    places = {key: max(0, citation[key] + by) for key in SPAN if key in citation}
    return {**citation, **places}


# -- writing ----------------------------------------------------------------------------------


def gathered(writer: WriteJob, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages in which parts that have no other place stand within the texts."""
    marks = None if writer.same else to_write(writer.dialect)
    if marks is None:
        return messages
    out = []
    for message in messages:
        parts = message.get("parts", []) if message.get("role") == "assistant" else []
        if any(_stands(marks, part) for part in parts):
            message = with_parts(writer, message, list(_joined(writer, marks, parts)))
        out.append(message)
    return out


def to_write(dialect: Dialect) -> Marks | None:
    """Return the marks of parts that no picture of a turn of the model takes, if there are any."""
    found: Marks | None = dialect.once("within texts", lambda: (_unpictured(dialect),))[0]
    return found


def _unpictured(dialect: Dialect) -> Marks | None:
    marks, talk = marks_of(dialect), dialect.conversation
    if marks is None or talk is None or marks.kind not in dialect.shapes:
        return None
    spoken = [case for case in talk.cases if talk.role(case) == "assistant"]
    holes = [hole for case in spoken for hole in case.lists.get("parts", ()) if not hole.dated]
    names = [n for hole in holes for n in dialect.unions.get(hole.named, [hole.named])]
    taken = [dialect.kinds_of(name) | dialect.shapes[name].groups for name in names]
    return None if any(marks.kind in kinds for kinds in taken) else marks


def _stands(marks: Marks, part: Part) -> bool:
    """Tell whether a part may stand in a text: it would be read back as it is."""
    said = str(part.get("text") or "")
    return part.get("type") == marks.kind and bool(said.strip()) and marks.closes not in said


def _joined(writer: WriteJob, marks: Marks, parts: list[Part]) -> Iterator[Part]:
    """Yield parts with those between the marks at the head of the texts behind them."""
    waiting: list[Part] = []
    for part in parts:
        if _stands(marks, part):
            waiting.append(part)
            continue
        text = part if part.get("type") == "text" else None
        if waiting:
            yield _behind(writer, marks, waiting, text)
        if text is None or not waiting:
            yield part
        waiting = []
    if waiting:
        yield _behind(writer, marks, waiting, None)


def _behind(writer: WriteJob, marks: Marks, inner: list[Part], text: Part | None) -> Part:
    """Return a text that says parts between the marks first; what it has no place for is noted."""
    trail, whole = writer.trail, {"text": "", **(text or {"type": "text"})}
    said = [f"{marks.before}{writer.shape(marks.kind, part)}{marks.behind}" for part in inner]
    now = "".join((*said, whole["text"]))
    fresh = {**moved(whole, whole["text"], now), "text": now}
    instead(writer, text or inner[0], fresh)
    places = places_of(trail, *((one, "text") for one in (*inner, text or {})))
    made_of(trail, fresh, "text", places)
    return fresh
