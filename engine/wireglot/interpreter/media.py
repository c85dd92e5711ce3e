"""Media that go abroad: base64 as every wire takes it, addresses, what the caller supplies."""

from __future__ import annotations

from typing import Any

from ..base64text import usual_base64
from ..ir import MEDIA
from ..language.lenses import Misfit
from ..language.picture import Hole
from . import copies
from .jobs import Tries, WriteJob


def normalize(writer: WriteJob, part: Any, pos: Any) -> Any:
    """Return a part with its base64 in the one alphabet; raises Misfit for what cannot be read."""
    source = part.get("source") if isinstance(part, dict) and part.get("type") in MEDIA else None
    if writer.same or not isinstance(source, dict):
        return part
    types, said = writer.dialect.bounds.get(part["type"], {}).get("types"), source.get("media_type")
    if types and isinstance(said, str) and said not in types:
        raise Misfit(f"of such media it reads {', '.join(types)} alone", (), pos)
    schemes = writer.dialect.bounds.get("url", {}).get("schemes")
    url, data = source.get("url"), source.get("data")
    if source.get("type") == "url" and schemes and isinstance(url, str):
        scheme, colon, _ = url.partition(":")
        if not colon or scheme.lower() not in schemes:
            raise Misfit(f"of addresses it reads those of {', '.join(schemes)} alone", (), pos)
    if source.get("type") != "base64" or not isinstance(data, str):
        return part
    plain = usual_base64(data)
    if plain is None:
        raise Misfit("this is no base64")
    if plain == data:
        return part
    new = copies.replace_part(writer, part, {**part, "source": {**source, "data": plain}})
    writer.trail.copy(source, new["source"])
    at = writer.trail.find(part, "source.data") or writer.trail.find(part)
    reason = "base64 stands in its usual alphabet, filled up to fours"
    writer.note("re-encoded", "changed", at, pos, reason, None, new)
    return new


def give_resolved(
    writer: WriteJob, holes: list[Hole], part: Any, whole: bool
) -> list[tuple[Hole, Any, Any]]:
    """Write a part with what the caller supplies for it; nothing if that fails."""
    if writer.resolver is None or writer.same or not isinstance(part, dict):
        return []
    if part.get("type") in MEDIA and not _holds_kind(writer, holes, part["type"]):
        return []  # no bytes would help
    new = writer.resolver.part(part)
    if new is None:
        return []
    writer.trail.copy(part, new)
    if id(part) in writer.made:
        writer.made.add(id(new))
    with Tries(writer):
        given = writer.give(holes, new, whole)
        if not given:
            raise Misfit("nothing takes it")
        wire = given[0][2]
        writer.written[id(part)] = (part, wire)
        field = "source" if part.get("type") in MEDIA else "output_ref"
        at = writer.trail.find(part, field) or writer.trail.find(part)
        if field == "source":
            writer.note("resolved", "moved", at, None, "the caller supplied the bytes", wire)
        else:
            reason = "the caller supplied the whole of an output that was cut"
            writer.note("expanded", "changed", at, None, reason, wire)
        return given
    return []


def _holds_kind(writer: WriteJob, holes: list[Hole], kind: str) -> bool:
    """Tell whether the target holds media of a kind here; a `file` may become another kind."""
    kinds = {kind for hole in holes for kind in writer.dialect.kinds_of(hole.named)}
    return None in kinds or kind in kinds or (kind == "file" and bool(kinds & MEDIA))
