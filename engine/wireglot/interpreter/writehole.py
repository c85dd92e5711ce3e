"""Writing holes: a value of the IR through shapes and lenses onto the wire."""

from __future__ import annotations

from typing import Any

from ..ir import CACHE, field_type
from ..jsontext import finite
from ..language.ladder import apply
from ..language.lenses import (
    TIMES,
    UNTYPED,
    WRITES,
    Misfit,
    guard,
    is_guard,
    is_rounded,
    same,
    stringify,
)
from ..language.picture import Hole
from ..language.schema import Schema
from ..language.schemawalk import SILENT
from ..notes import NOWHERE, Weight
from ..trail import At, pointer
from . import listforms, share, speaking
from .jobs import Tries, WriteJob
from .views import View, means


def write_value(writer: WriteJob, h: Hole, value: Any, view: View, rel: At, into: Any) -> Any:
    """Write a present value through shape and lenses; raises Misfit."""
    said = False
    wire = value
    if h.mode == "each":
        return listforms.write_list(writer, h, value, view, rel, into)
    if h.mode == "as":
        if h.shape == "conversation":
            memory = view.memory.get(pointer(rel), {})
            wire = speaking.write_talk(writer, h, value, bool(memory.get("list")), into)
            in_text = writer.dialect.in_text(h) is not None
            return listforms.as_json(h, wire, memory.get("text")) if in_text else wire
        # What the `ir` picture around it says of the object needs no place in it.
        said_around = {c[len(h.path) + 1 :] for c in view.claims if c.startswith(f"{h.path}.")}
        wire = write_by_ladder(writer, h, value, said_around)
        said = True
    elif h.mode == "entries":
        if not isinstance(value, dict):
            raise Misfit(f"`{h.path}` is no map", rel, h.pos)
        wire = []
        for key, item in value.items():
            pair = {"key": key, "value": item}
            writer.trail.put(pair, None, writer.trail.find(value, key))
            wire.append(writer.shape(h.named, pair))
        said = True
    for lens in h.lenses:
        if is_guard(lens):
            said = said or lens not in UNTYPED
            if not guard(lens, wire) or (lens == "home" and not writer.same):
                raise Misfit(f"`{h.path}` is no {lens.replace('+', ' or ')}", rel, h.pos)
        else:
            wire = write_codec(writer, lens, h, wire, view, rel, into)
            said = True
    kind = field_type(view.shape, h.path)
    kind = {"opaque": "string"}.get(kind, kind)
    if not said and not guard(kind, wire):
        raise Misfit(f"`{h.path}` is no {kind}", rel, h.pos)
    if isinstance(wire, float):
        if not finite(wire):
            raise Misfit(f"`{h.path}` is no JSON number", rel, h.pos)
        if wire.is_integer() and not writer.same and (kind == "integer" or "integer" in h.lenses):
            wire = int(wire)  # 40.0 is 40, and many parsers take no other
    return fitted(writer, h, wire, view.obj, view.source(h.path), into)


def write_by_ladder(writer: WriteJob, h: Hole, value: Any, around: set[str]) -> Any:
    """Write a value by a shape, or by a row of the ladder; some is said `around` it already."""
    tries = Tries(writer)
    if around:
        writer.claimed_outside[id(value)] = around
    try:
        with tries:
            return writer.shape(h.named, value)
        best = tries.best
        for row in writer.ladder.get(h.named, ()) if isinstance(value, dict) else ():
            with tries:
                new, beside, path = apply(row, value, writer.trail)
                if beside or not same(new, value):
                    share.put_beside(writer, row, value, beside)
                    wire = write_by_ladder(writer, h, new, around)
                    share.note_row(writer, row, value, path, new, beside, wire)
                    writer.stepped_down[id(value)] = value, new
                    return wire
        raise best or Misfit("nothing fits")
    finally:
        writer.claimed_outside.pop(id(value), None)


def fitted(
    writer: WriteJob, h: Hole, wire: Any, obj: Any, path: str, into: Any, known: str = ""
) -> Any:
    """Return a name or id as the limits of the dialect let it be written."""
    kind = known or writer.limits.kind(obj, path)
    if kind not in writer.limits.limits:
        return wire
    many = isinstance(wire, list)
    names = wire if many else [wire]
    if not all(isinstance(name, str) for name in names):
        return wire  # no name, whatever it is: the picture's own checks say so
    fitted = [writer.limits.fit(kind, name) for name in names]
    if fitted != names:
        writer.rewordings.update(zip(names, fitted, strict=True))
        if kind == "call_id" and id(obj) in writer.made:
            return fitted[0]  # nobody said this id, and that it is made is noted
        at = writer.trail.find(obj, path) or writer.trail.find(obj)
        reason = f"`{wire}` does not fit the limits of `{kind}` here"
        writer.note("renamed", "changed", at, h.pos, reason, *(into or NOWHERE))
    return fitted if many else fitted[0]


def json_text(writer: WriteJob, value: Any, came: Any) -> str:
    """Return a value as JSON text: as it came while it still means the value, to the byte.

    Blank text is no JSON: where it came from it is no arguments, others refuse it.
    """
    if isinstance(came, str) and (writer.unedited or means(came, value)):
        if writer.same or came.strip():
            return came
    return stringify(value)


def write_codec(
    writer: WriteJob, lens: str, h: Hole, value: Any, view: View, rel: At, into: Any
) -> Any:
    """Write through one lens."""
    if lens == "json":
        return json_text(writer, value, view.peek(f"{h.path}_json"))
    if lens == "plain":
        if not isinstance(value, str):
            raise Misfit(f"`{h.path}` is no text", rel, h.pos)
        if view.memory.get(pointer(rel), {}).get("list"):
            return [writer.shape("text", {"type": "text", "text": value})]
        return value
    if lens == "listed":
        return value
    if lens in TIMES:
        wire = WRITES[lens](value)
        if writer.remembered(view, rel, wire) is not wire:
            return wire  # memory has all of it
        return write_time(writer, lens, h, value, view.obj, view.source(h.path), into)
    if lens in WRITES:
        return WRITES[lens](value)
    if lens in writer.dialect.schemas:
        return write_schema(writer, lens, h, value, view, into)
    wire, exact = writer.dialect.tables[lens].write(value, writer.same)
    if not exact and writer.remembered(view, rel, wire) is wire:  # else memory has another word
        at = writer.trail.find(view.obj, view.source(h.path)) or writer.trail.find(view.obj)
        writer.rewordings.add((value, writer.dialect.tables[lens].read(wire)[0]))
        reason = f"`{value}` has no word of its own here and is written as `{wire}`"
        weight: Weight = "slight" if h.path in CACHE else ""
        owner: tuple[Any, Any] = into or NOWHERE
        writer.note("reworded", "changed", at, h.pos, reason, *owner, weight)
    return wire


def write_time(
    writer: WriteJob, lens: str, h: Hole, value: Any, obj: Any, path: str, into: Any
) -> Any:
    """Return a time as a codec writes it; what that says less exactly is noted. Raises Misfit."""
    wire = WRITES[lens](value)
    if is_rounded(lens, value):
        at, reason = writer.trail.find(obj, path), f"`{value}` is written as `{wire}`"
        writer.note("rounded", "changed", at, h.pos, reason, *(into or NOWHERE))
    return wire


def write_schema(
    writer: WriteJob, lens: str, h: Hole, value: Any, view: View, into: Any = None
) -> Any:
    """Write a JSON Schema as the dialect takes it, and note what had to change."""
    pair = writer.dialect.schemas[lens]
    # At home nothing is lost; a guard chooses between cases that reading did not choose.
    chosen = not pair.exact or view.memory.get("", {}).get("case", "") == view.case.name
    if writer.same and chosen and (pair.writes_unchanged or not writer.repair):
        return pair.spelled_here(value)
    return schema_abroad(writer, pair, h, value, view.obj, view.source(h.path), into)


def schema_abroad(
    writer: WriteJob, pair: Schema, h: Hole, value: Any, obj: Any, path: str, into: Any = None
) -> Any:
    """Return a JSON Schema of another dialect as this one takes it; raises Misfit.

    In a text nothing of it has a place: that is where it stands, `into` its owner.
    """
    wire, changes = pair.write(value, writer.options.get("tell_constraints") is True)
    at: Any = writer.trail.find(obj, path) if changes else None
    if changes:
        writer.mark_filled(obj, path)  # so it does not read back as it is: notes of its own say why
    for one in changes:
        place: Any = at if at is None else writer.trail.within(value, at, one.at)
        place = None if one.effect == "added" else place
        weight: Weight = "slight" if one.at[-1:] and one.at[-1] in SILENT else ""
        in_text = into is not None and "json" in h.lenses and one.effect != "lost"
        told_of = (*(into if in_text else (one.owner, one.key)), weight)
        writer.note(one.code, one.effect, place, h.pos, one.message, *told_of)
    return wire
