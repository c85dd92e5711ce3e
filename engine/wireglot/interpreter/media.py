"""Media that go abroad: base64 as every wire takes it, and addresses that the target reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ir import MEDIA
from ..language.lenses import Misfit, standard
from . import copies

if TYPE_CHECKING:
    from .writer import Writer


def usual(writer: Writer, part: Any, pos: Any) -> Any:
    """Return a part with its base64 in the one alphabet; raises Misfit for what cannot be read."""
    source = part.get("source") if isinstance(part, dict) and part.get("type") in MEDIA else None
    if writer.same or not isinstance(source, dict):
        return part
    schemes = writer.dialect.bounds.get("url", {}).get("schemes")
    url, data = source.get("url"), source.get("data")
    if source.get("type") == "url" and schemes and isinstance(url, str):
        scheme, colon, _ = url.partition(":")
        if not colon or scheme.lower() not in schemes:
            raise Misfit(f"of addresses it reads those of {', '.join(schemes)} alone", (), pos)
    if source.get("type") != "base64" or not isinstance(data, str):
        return part
    plain = standard(data)
    if plain == data:
        return part
    new = {**part, "source": {**source, "data": plain}}
    writer.trail.copy(source, new["source"])
    copies.instead(writer, part, new)
    at = writer.trail.find(part, "source.data") or writer.trail.find(part)
    told = "base64 stands in its usual alphabet, filled up to fours"
    writer.note("re-encoded", "changed", at, pos, told, None, new)
    return new
