"""Laws of what parts say: parts yield to edits, stay at home, and mean the same in frames."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..ir import PARTS, USER_DATA
from ..language.lenses import same, stringify
from ..language.picture import ABSENT, holes
from ..notes import Note
from ..streaming import responses, streams
from ..streaming.fold import Fold
from ..streaming.recognising import Frame
from ..trail import At, pointer, value_at
from .jsondiff import differences, shown
from .lawcase import Broken, Case, abroad

# What a caller changes in a part of each kind.
_FIELDS = {
    "text": ("text",),
    "reasoning": ("text",),
    "refusal": ("text",),
    "tool_call": ("arguments", "arguments_text", "input"),
    "tool_result": ("value",),
}
# What a part says in any stream that has it; what else is said of it may have no frame.
_SAYS = ("type", "name", "text", "arguments", "arguments_text", "input", "kind", "value")
_MERGED = ("text", "reasoning")  # neighbours of these may become one
_DIALECT_ONLY = ("native", "unknown")  # what no other dialect says


def edited(case: Case, wire: Any) -> None:
    """Say that a part edited after reading is written so: no memory of its form overrides it."""
    ir = case.read(wire)
    changed: list[tuple[At, Any]] = []
    for at, part in _parts(ir, ()):
        for name in _FIELDS.get(str(part.get("type")), ()):
            new = _edited_value(part.get(name))
            if new is not None:
                part[name] = new
                changed.append(((*at, name), new))
    if not changed:
        return
    written, notes = case.write(ir)
    if any(note.effect != "added" for note in notes):
        return
    read = case.read(written)
    for at, new in changed:
        actual = value_at(read, at, ABSENT)
        if not same(actual, new):
            where = f"at {pointer(at)} of the IR: expected {shown(new)}, got {shown(actual)}"
            raise Broken(f"an edit is not written at home, {where}")


def kept(case: Case, wire: Any) -> None:
    """Say that at home every part is written that has a form, whatever its owner remembers."""
    forgotten = {**abroad(case.read(wire)), "spelled": {case.rules[case.dialect].model.name: {}}}
    for ir in (forgotten, _swap_parts(case.read(wire))):
        written, notes = case.write(ir)
        effects = {note.effect for note in notes} - {"added"}
        if "lost" in effects and not any(n.effect == "lost" for n in case.write(abroad(ir))[1]):
            effects -= {"lost"}  # abroad it has a place
        if effects:
            continue
        expected, actual = map(_part_texts, (ir, case.read(written)))
        for part in expected:
            if part not in actual:
                raise Broken(f"a part is lost at home: {part}")
            actual.remove(part)


def heard(case: Case, wire: Any) -> None:
    """Say that frames that are written are understood, and fold to the response that was meant."""
    rules = case.rules[case.dialect]
    stream = rules.model.streamed
    ir = abroad(case.read(wire), ("own", "signature"))  # what another dialect could say, too
    if not any(h.path == "at.candidate" for p in stream.pictures() for h in holes(p)):
        ir["candidates"] = ir["candidates"][:1]  # it has frames for one
    whole, notes = case.write(ir)
    unplaced: list[Note] = []
    frames = list(responses.unfolded(rules, ir, False, set(), unplaced))
    fold = Fold(rules.model)
    for nth, frame in enumerate(frames):
        fold.feed(frame)
        for code, _, at, rule, message in fold.notes:
            if code != "dropped":
                raise Broken(f"the frame {stringify(frame)} is not heard as it is written:"
                             f" {code} at {pointer(at)}, {message}", rule)  # fmt: skip
        if fold.error is None and not Frame(frame, rules.model).matches(stream):
            raise Broken(f"nothing hears the frame {nth}, {stringify(frame)}", stream.pos)
    fold.close()
    if unplaced or any(note.effect in ("lost", "changed", "moved") for note in notes):
        return
    body = streams.Collected(rules, fold, {}).body
    expected, actual = (list(_candidate_parts(case.read(one))) for one in (whole, body))
    for difference in differences(expected, actual):
        raise Broken(f"what was written in frames reads otherwise than the whole, at {difference}",
                     stream.pos)  # fmt: skip


def _edited_value(value: Any) -> Any:
    """Return another value of the same type; None for one that is left alone."""
    if isinstance(value, str):
        return f"{value}~"
    return {**value, "edited": True} if isinstance(value, dict) else None


def _parts(value: Any, at: At) -> Iterator[tuple[At, dict[str, Any]]]:
    """Yield the parts of an IR value, those within results and documents, too."""
    if isinstance(value, dict):
        if value.get("type") in PARTS and at and isinstance(at[-1], int):
            yield at, value
        for key, inner in value.items():
            if key not in USER_DATA and not (key == "value" and value.get("kind") == "data"):
                yield from _parts(inner, (*at, key))
    elif isinstance(value, list):
        for nth, inner in enumerate(value):
            yield from _parts(inner, (*at, nth))


def _swap_parts(ir: Any) -> Any:
    """Return an IR value whose messages or candidates of one role have each other's parts."""
    owners: dict[Any, list[dict[str, Any]]] = {}
    for owner in ir.get("messages", ir.get("candidates", ())):
        owners.setdefault(owner.get("role"), []).append(owner)
    for same_role in owners.values():
        lists = [owner["parts"] for owner in same_role]
        for owner, parts in zip(same_role, [*lists[1:], *lists[:1]], strict=True):
            owner["parts"] = parts
    return ir


def _part_texts(ir: Any) -> list[str]:
    """Return what each part says as JSON, in the order of the parts."""
    out = []
    for at, part in _parts(ir, ()):
        kind = part["type"]
        if at[-2] == "parts" and kind != "unknown":
            blocks = part.get("value") if part.get("kind") == "multimodal" else None
            if isinstance(blocks, list):  # the name of a file may be made, and ids of its own
                blocks = [
                    {k: v for k, v in b.items() if k not in ("filename", "own")} for b in blocks
                ]
                part = {**part, "value": blocks}
            says = (k for k in (*_SAYS, "title") if k in part)
            fields = [k for k in says if (k, kind) != ("name", "tool_result")]
            said = _without_empty_citations({k: part[k] for k in fields})
            out.append(json.dumps(said, sort_keys=True))
    return out


def _without_empty_citations(value: Any) -> Any:
    """Return a value without memory, and lists of citations that are empty, which say nothing."""
    if isinstance(value, dict):
        said = ((k, v) for k, v in value.items() if k != "spelled" and (k, v) != ("citations", []))
        return {k: _without_empty_citations(v) for k, v in said}
    return [_without_empty_citations(one) for one in value] if isinstance(value, list) else value


def _candidate_parts(ir: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield what the parts of each candidate say, neighbours that flow as one."""
    for candidate in ir["candidates"]:
        parts: list[dict[str, Any]] = []
        for whole in candidate["parts"]:
            part = {k: whole[k] for k in _SAYS if k in whole}
            if parts and part["type"] in _MERGED and parts[-1]["type"] == part["type"]:
                part["text"] = parts.pop().get("text", "") + part.get("text", "")
            parts.append(part)
        parts = [p for p in parts if p.get("text") or p["type"] not in (*_MERGED, *_DIALECT_ONLY)]
        if parts:
            yield parts
