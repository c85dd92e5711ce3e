"""What a provider takes some of only: marks of what is cached, media, lists; texts told apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from ..ir import MEDIA
from ..language.model import Dialect, once
from ..notes import Weight
from .copies import is_unchanged, parts_of, replace_part, replace_parts, with_parts, without_field
from .jobs import Message, Part, ReadJob, WriteJob

OF_LISTS = ("count", "text", "unique")  # words of limits of a list
# Where parts and blocks stand, within what a request holds and within each other.
INSIDE = ("parts", "value", "media", "blocks", "source")
FLAT = frozenset((*INSIDE, "cache"))


def find_marks(writer: WriteJob, ir: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return what a request marks of its tools, its system text and its messages."""
    said = writer.survey is None or writer.survey.marked
    found: dict[str, list[dict[str, Any]]] = {}
    for key in ("tools", "system", "messages") if said else ("tools", "system"):
        value = ir.get(key)
        if value and not _has_no_marks(value):
            found[key] = [one for one in _walk_objects(value) if isinstance(one.get("cache"), dict)]
    return found if any(found.values()) else {}


def _has_no_marks(value: Any) -> bool:
    """Tell whether these are objects that hold no others that could be marked, and are not."""
    if not isinstance(value, list):
        return False
    for one in value:
        if one.__class__ is not dict or not FLAT.isdisjoint(one):
            return False
    return True


def limit_marks(
    writer: WriteJob, ir: dict[str, Any], found: dict[str, list[Any]], top: int, pos: Any
) -> None:
    """Leave out marks that were found beyond the number that the target takes; each is noted.

    The last of the tools and the last of the system text stay: what they hold is always the same.
    Then the latest stay, which stand nearest to what is new.
    """
    if sum(map(len, found.values())) <= top:
        return
    stay = [owner for key in ("tools", "system") for owner in found.get(key, [])[-1:]]
    stay = stay[max(0, len(stay) - top) :]
    rest = [owner for owners in found.values() for owner in owners]
    rest = [owner for owner in rest if not any(owner is one for one in stay)]
    gone = rest[: len(rest) - max(0, top - len(stay))]
    reason = f"the target takes {top} marks of what is cached at most"
    for owner in gone:
        writer.note_lost("no-place", owner, reason, pos, "cache", "slight")
    left = {id(one): {k: v for k, v in one.items() if k != "cache"} for one in gone}
    for key in found:
        ir[key] = _rebuild(writer, ir[key], set(), left)


def marks_to_parts(reader: ReadJob, messages: list[Message]) -> list[Message]:
    """Let the last part of a message have the mark that its dialect puts on the message."""
    for message in messages:
        mark, parts = message.get("cache"), message.get("parts")
        if mark is not None and parts and "cache" not in parts[-1]:
            reader.trail.put(parts[-1], "cache", reader.trail.find(message, "cache") or ())
            parts[-1]["cache"] = message.pop("cache")
    return messages


def marks_to_messages(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Let a message have the mark of its last part, where the pictures of parts have no place."""
    out = []
    for message in messages:
        last: Part = next(iter(message.get("parts", ())[-1:]), {})
        if "cache" in last and "cache" not in message and not has_place(writer, last, "cache"):
            at = writer.trail.find(last, "cache")
            parts = [*message["parts"][:-1], without_field(writer, last, "cache")]
            message = with_parts(writer, message, parts)
            message["cache"] = last["cache"]
            if at is not None:
                writer.trail.put(message, "cache", at)
        out.append(message)
    return out


def settle_result_marks(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Let a result and what it holds have one mark, where the target has a place for it.

    A dialect that marks results takes no mark within one; else the last that is within has it.
    """
    whole, within = _mark_places(writer.dialect)
    if not whole and not within:
        return messages
    move = _mark_result if whole else _mark_content
    found = ((part, move(writer, part)) for part in parts_of(messages, "tool_result"))
    fresh = {id(part): new for part, new in found if new is not part}
    return replace_parts(writer, messages, fresh)


@once
def _mark_places(dialect: Dialect) -> tuple[bool, bool]:
    """Tell whether results can be marked, and whether a text within one can."""
    found = dialect.own_holes("tool_result")
    whole = any("cache" in hole.paths for hole in found)
    beside = any(shape.marks == "cache" for shape in dialect.shapes.values())
    within = {hole.named for hole in found if hole.mode == "each" and "value" in hole.paths}
    inside = (hole for name in within for hole in dialect.own_holes(name))
    return whole or beside, any("cache" in hole.paths for hole in inside)


def _mark_result(writer: WriteJob, result: Part) -> Part:
    """Return a result that has the last mark of what it holds, which has none any more."""
    inside = result.get("value") if result.get("kind") == "multimodal" else None
    inside = inside if isinstance(inside, list) else []
    found = [one for one in inside if isinstance(one, dict) and "cache" in one]
    if not found:
        return result
    for one in found if "cache" in result else found[:-1]:
        reason = "the target marks results, and nothing within them"
        writer.note_lost("no-place", one, reason, writer.rule(), "cache", "slight")
    left = {id(one): without_field(writer, one, "cache") for one in found}
    said = {"value": [left.get(id(one), one) for one in inside]}
    new = writer.trail.changed(result, **{"cache": found[-1]["cache"], **result, **said})
    if "cache" not in result:
        writer.trail.put(new, "cache", writer.trail.find(found[-1], "cache") or ())
    return new


def _mark_content(writer: WriteJob, result: Part) -> Part:
    """Return a result whose mark the last of what it holds has; texts are what may have it."""
    mark, value = result.get("cache"), result.get("value")
    if mark is None or result.get("failed"):
        return result
    if result.get("kind") == "text" and isinstance(value, str) and value:
        value = [{"type": "text", "text": value}]
        writer.trail.put(value[0], "text", writer.trail.find(result, "value") or ())
    elif result.get("kind") != "multimodal" or not isinstance(value, list) or not value:
        return result
    last = value[-1]
    if "cache" in last or not has_place(writer, last, "cache"):
        return result
    said = writer.trail.changed(last, cache=mark)
    writer.trail.put(said, "cache", writer.trail.find(result, "cache") or ())
    unmarked = writer.trail.without(result, "cache")
    replace_part(writer, last, said)
    return writer.trail.changed(unmarked, kind="multimodal", value=[*value[:-1], said])


def has_place(writer: WriteJob, part: Part, field: str) -> bool:
    """Tell whether a picture of a part has a place for a field."""
    dialect = writer.dialect
    return field in dialect.fields_of(dialect.pictured(str(part.get("type"))))


def _walk_objects(value: Any) -> Iterator[Part]:
    """Yield messages or parts, in their order, each behind what it holds, as its mark stands."""
    for one in value if isinstance(value, list) else [value]:
        for key in _holding_keys(one):
            yield from _walk_objects(one[key])
        if isinstance(one, dict):
            yield one


def _holding_keys(owner: Any) -> list[str]:
    """Return under which keys of a message or part others stand; no word of data is one."""
    keys = INSIDE if isinstance(owner, dict) else ()
    multimodal = keys and owner.get("kind") == "multimodal"
    return [key for key in keys if key in owner and (key != "value" or multimodal)]


def limit_parts(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Leave out parts beyond the number that the target takes, and let no text come again.

    The latest stay, which stand nearest to what is new.
    """
    bounds, limits = writer.dialect.bounds, writer.dialect.limits
    counts = {
        kind: said["count"] for kind, said in bounds.items() if kind in MEDIA and "count" in said
    }
    unique = [name for name in limits if "." in name and limits[name].get("unique")]
    if not counts and not unique:
        return messages
    found = list(_walk_objects(messages))
    gone: set[int] = set()
    for kind, top in counts.items():
        these = [part for part in found if part.get("type") == kind]
        for part in these[: max(0, len(these) - top)]:
            reason = f"the target takes {top} of the kind {kind} at most"
            writer.note_lost("no-place", part, reason, writer.rule())
            gone.add(id(part))
    found = [part for part in found if id(part) not in gone]
    renamed = (pair for name in unique for pair in _rename_repeated(writer, name, found))
    named = {id(part): fresh for part, fresh in renamed}
    return _rebuild(writer, messages, gone, named) if gone or named else messages


def _rename_repeated(writer: WriteJob, name: str, parts: list[Part]) -> Iterator[tuple[Part, Part]]:
    """Yield each part whose text another one before it has, and the part with another text."""
    kind, _, field = name.partition(".")
    said = [p for p in parts if p.get("type") == kind and isinstance(p.get(field), str)]
    written = [writer.limits.fit(name, part[field]) for part in said]
    taken, seen = set(written), set[str]()
    numbers: dict[str, Iterator[int]] = {}
    for part, text in zip(said, written, strict=True):
        if text not in seen:
            seen.add(text)
            continue
        left = numbers.setdefault(text, count(2))
        new = next(
            new for n in left if (new := writer.limits.fit(name, f"{part[field]} {n}")) not in taken
        )
        taken.add(new)
        reason = f"another {kind} has the {field} `{text}`"
        shape, fresh = writer.dialect.shapes.get(kind), {**part, field: new}
        rule = shape.pos if shape else None
        writer.note_part("renamed", "changed", part, reason, rule, field, fresh)
        yield part, fresh


def _rebuild(writer: WriteJob, value: Any, gone: set[int], named: dict[int, Any]) -> Any:
    """Return a value without some parts, and others in the place of some; else itself."""
    if isinstance(value, list):
        new = [_rebuild(writer, one, gone, named) for one in value if id(one) not in gone]
        return value if is_unchanged(new, value) else new
    if not isinstance(value, dict):
        return value
    out = dict(named.get(id(value), value))
    for key in _holding_keys(out):
        out[key] = _rebuild(writer, out[key], gone, named)
    if id(value) not in named and all(out[key] is value[key] for key in value):
        return value
    fresh = named.get(id(value), out)
    fresh.update(out)
    return replace_part(writer, value, fresh)


@once
def wire_names(dialect: Dialect) -> dict[Any, Any]:
    """Return what tools that providers run are named on the wire, where a picture says a name."""
    sides = ([side.get("/name") for side in case.sides] for case in dialect.shape_cases)
    return {ir[0]: at[0] for ir, at in sides if isinstance(ir, tuple) and isinstance(at, tuple)}


def _wire_name(dialect: Dialect, tool: Any) -> Any:
    """Return the name that a tool has on the wire; of one without a name there what it reaches."""
    name = tool.get("name") if isinstance(tool, dict) else None
    native = name is not None and tool.get("type") == "native"
    return wire_names(dialect).get(name, (name, tool.get("url"))) if native else name


def limit_list(
    writer: WriteJob, ir: dict[str, Any], path: str, bound: dict[str, Any], pos: Any
) -> None:
    """Leave out those elements of a list that the target does not take."""
    found = ir.get(path)
    if not isinstance(found, list):
        return
    stay = list[Any]()
    top, wanted = bound.get("count", len(found)), bound.get("text")
    weight: Weight = "grave" if path == "tools" else ""
    names = set[Any]()
    for i, one in enumerate(found):
        said = one.strip() if isinstance(one, str) and wanted == "not-blank" else one
        blank = wanted is not None and said == ""
        name = _wire_name(writer.dialect, one) if bound.get("unique") else None
        again = name in names
        if not blank and not again and len(stay) < top:
            stay.append(one)
            if name is not None:
                names.add(name)
            continue
        reason = f"the target takes {top} of these at most"
        if blank:
            nothing = "empty text" if wanted == "not-empty" else "text of nothing but spaces"
            reason = f"the target takes no {nothing} here"
        elif again:
            reason = "the target takes one of a name, and another stands before"
        at = writer.trail.find(ir, path)
        here = writer.trail.find(one) or (at and writer.trail.within(found, at, (i,)))
        writer.note("no-place", "lost", here, pos, reason, weight=weight)
    if stay or not found:
        ir[path] = stay
    else:
        del ir[path]  # nothing is left to be said
