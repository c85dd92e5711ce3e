"""Placing messages: which picture takes one, and what stands beside its parts."""

from __future__ import annotations

from typing import Any

from ..language.ladder import step
from ..language.lenses import Misfit
from ..language.model import Case, Conversation, Group
from ..language.picture import Literal
from .jobs import WriteJob
from .sight import View


def case_of(
    writer: WriteJob, talk: Conversation, message: dict[str, Any]
) -> tuple[Group, Case, dict[str, Any]]:
    """Return the group and case that take a message, which may have gone down for it."""
    memory = message.get("spelled", {}).get(writer.dialect.name, {}) if writer.same else {}
    read_by = memory.get("", {}).get("case")
    groups = talk.groups
    if read_by:
        groups = sorted(groups, key=lambda group: all(c.name != read_by for c in group.cases))
    for group in groups:
        for case in group.cases:
            if talk.role(case) != message.get("role"):
                continue
            if case.read_only and not (case.name == read_by and _read_there(writer, message)):
                continue
            view = View(message, "message", case, writer)
            try:
                if case.ir is not None:
                    writer.match(case.ir, message, "", view)
                elif "level" in message:
                    continue
            except Misfit:
                continue
            return group, case, message
    return case_of(writer, talk, down(writer, message, talk))


def _read_there(writer: WriteJob, message: dict[str, Any]) -> bool:
    """Tell whether a `(read-only)` hole, which takes no others, read all parts of a message."""
    parts = message.get("parts", ())
    found = (p.get("spelled", {}).get(writer.dialect.name, {}).get("../", {}) for p in parts)
    return all("hole" in memory for memory in found)


def down(writer: WriteJob, message: dict[str, Any], talk: Conversation) -> dict[str, Any]:
    """Take a message one rung down the ladder; raises Misfit where there is none."""
    for row in writer.ladder.get("message", ()):
        try:
            new, _, path = step(row, message, writer.trail)
        except Misfit:
            continue
        at = writer.trail.find(message, path or None) or writer.trail.find(message)
        where = next(iter(message.get("parts", ())), None)
        writer.note(row.name, row.effect, at, row.pos, row.says(message), None, where)
        return new
    at = writer.trail.find(message)
    raise Misfit(
        f"the target has no message for the role `{message.get('role')}`", at or (), talk.pos
    )


def unplaced(writer: WriteJob, message: dict[str, Any], pos: Any) -> None:
    """Note what a message holds beside its parts, which go elsewhere."""
    dummy = Case("", "message", Literal((None,), pos), None, {}, None, pos)
    view = View(message, "message", dummy, writer)
    view.claims |= {"parts", "role", "level"}
    writer.leftover(view, {})
