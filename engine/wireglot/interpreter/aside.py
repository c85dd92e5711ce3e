"""Media that left a result on another wire come home to it by the text that says whose they are.

A row of the ladder writes that text (`whose`). Right behind the results, word for word and with
media after it, it says nothing else, where results hold none; any other text stays what a user
says.
"""

from __future__ import annotations

from typing import Any

from ..ir import MEDIA
from ..language.ladder import owner_text
from ..language.model import Dialect, once
from .copies import parts_of, replace_parts, with_parts
from .jobs import Message, Part, WriteJob
from .system import PLAIN


def media_to_results(writer: WriteJob, messages: list[Message]) -> list[Message]:
    """Put media into the results that returned them, where a text before them says so."""
    rows = [row for row in writer.ladder.get("tool_result", ()) if row.whose is not None]
    source: Any = writer.trail.source
    if not rows or source is None:
        return messages
    if _results_hold_media(source) or not _results_hold_media(writer.dialect):
        return messages
    out: list[Message] = []
    start = 0  # where the results begin that stand right before
    for message in messages:
        role = message.get("role")
        if role == "user" and start < len(out):
            labels: dict[str | None, list[Part]] = {}
            for part in parts_of(out[start:], "tool_result"):
                for text in {owner_text(row, part, part.get) for row in rows}:
                    labels.setdefault(text, []).append(part)
            home, rest = _sort_media(writer, message.get("parts", ()), labels)
            if home:
                results = parts_of(out[start:], "tool_result")
                owners = [part for part in results if id(part) in home]
                fresh = {id(part): _with_media(writer, part, home[id(part)]) for part in owners}
                out[start:] = replace_parts(writer, out[start:], fresh)
                if not rest and message.keys() <= PLAIN:
                    start = len(out)
                    continue
                message = with_parts(writer, message, rest)
        out.append(message)
        start = start if role == "tool" else len(out)
    return out


@once
def _results_hold_media(dialect: Dialect) -> bool:
    """Tell whether the results of a dialect hold media."""
    holes = dialect.own_holes("tool_result")
    lists = [hole.named for hole in holes if hole.mode == "each" and hole.shape]
    return any(not MEDIA.isdisjoint(dialect.kinds_of(name)) for name in lists)


def _sort_media(
    writer: WriteJob, parts: Any, labels: dict[str | None, list[Part]]
) -> tuple[dict[int, list[Part]], list[Part]]:
    """Return the media of each result, by its identity, and what is left; noted."""
    home: dict[int, list[Part]] = {}
    rest: list[Part] = []
    result: Part | None = None
    for i, part in enumerate(parts):
        if part.get("type") in MEDIA and result is not None:
            home.setdefault(id(result), []).append(part)
            reason = "a text before this says which result returned it, and there it stands"
            writer.note_part("moved", "moved", part, reason, writer.rule())
            continue
        owners = labels.get(part.get("text"), ()) if part.get("type") == "text" else ()
        after = parts[i + 1].get("type") if i + 1 < len(parts) else None
        result = owners[0] if len(owners) == 1 and after in MEDIA else None
        if result is None:
            rest.append(part)
            continue
        reason = "the place of the media behind this says the same"
        writer.note_lost("no-place", part, reason, writer.rule(), weight="slight")
    return home, rest


def _with_media(writer: WriteJob, result: Part, media: list[Part]) -> Part:
    """Return a result that holds media besides what it says."""
    kind, value = result.get("kind"), result.get("value")
    new = dict(result)
    if kind == "data":
        new["media"] = [*result.get("media", ()), *media]
    else:
        said = value if isinstance(value, list) else []
        if isinstance(value, str) and value:
            block = {"type": "text", "text": value}
            writer.trail.put(block, "text", writer.trail.find(result, "value"))
            said = [block]
        new |= {"kind": "multimodal", "value": [*said, *media]}
        if kind == "error":
            new["failed"] = True
    return new
