"""Copies that are written instead of messages and parts: what was handed in never changes."""

from __future__ import annotations

from typing import Any

from .jobs import WriteJob


def with_parts(writer: WriteJob, message: dict[str, Any], parts: list[Any]) -> dict[str, Any]:
    """Return a message with other parts, from the same place."""
    return writer.trail.changed(message, parts=parts)


def instead(writer: WriteJob, part: dict[str, Any], fresh: dict[str, Any]) -> None:
    """Let a part be written instead of another: it comes from the same place."""
    writer.trail.copy(part, fresh)
    writer.instead[id(part)] = (part, fresh)
    if id(part) in writer.made:
        writer.made.add(id(fresh))
