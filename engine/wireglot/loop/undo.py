"""Tools that a provider knows as something else: their calls, on the way back, are what they were.

A tool that has no picture goes down the ladder, and so do its calls. The row that a tool took is
remembered by its name; a call of it that comes in the form which the row gives is read backwards.
"""

from __future__ import annotations

from typing import Any

from ..conversion.hands import Writer
from ..jsontext import stringify
from ..language.held import Held
from ..language.ladder import Row, apply, undo_row
from ..notes import Draft
from ..trail import Trail
from .memory import Part
from .names import Names, declared


def learn_rows(names: Names, provider: Held, ir: dict[str, Any], writer: Writer) -> None:
    """Remember by which row each tool of a request went, if its calls go by one of that name."""
    paired = {row.name for row in provider.ladder.get("tool_call", ())}
    for tool in declared(ir):
        _, row = writer.rows.get(id(tool), (None, ""))
        if row in paired:
            names.of(provider.name, "row")[tool["name"]] = row
        else:
            names.rows(provider.name).pop(tool.get("name", ""), None)


def row_of(names: Names, provider: Held, name: Any) -> Row | None:
    """Return the row by which calls of a tool went to a provider."""
    name_of_row = names.rows(provider.name).get(name)
    rows = provider.ladder.get("tool_call", ())
    return next((row for row in rows if row.name == name_of_row), None)


def undone_call(row: Row, part: Part) -> tuple[Part, bool]:
    """Return a call as it was before a row, and whether it had the form that the row gives.

    Of a call that a model made in another form, the one field of the row is its `only_text`.
    """
    before = undo_row(row, part)
    text = part.get("arguments_json")
    if before is not None:
        again = apply(row, before, Trail())[0].get("arguments")
        if isinstance(text, str) and text != stringify(again):
            before["arguments_json"] = text  # the provider gets back what it said
        return before, True
    said = text if isinstance(text, str) else part.get("arguments_text")
    if said is None:
        said = stringify(part.get("arguments", {}))
    fields = {*row.after.names, "arguments_text"} - {"type"}
    rest = {key: value for key, value in part.items() if key not in fields}
    field = {next(iter(row.before.names)): only_text(part.get("arguments"), said)}
    return {**rest, **field, "arguments_json": said}, False


def only_text(arguments: Any, text: str) -> str:
    """Return the one text that arguments hold (models know some tools by another key), or all."""
    held = list(arguments.values()) if isinstance(arguments, dict) else []
    return held[0] if len(held) == 1 and isinstance(held[0], str) else text


def put_back(row: Row, part: Part, trail: Trail) -> Draft | None:
    """Change a call to what it was before a row; return what is to be said of it."""
    at = trail.find(part, "arguments") or trail.find(part)
    before, fits = undone_call(row, part)
    for key in before.keys() - part.keys():
        trail.put(part, key, at)
    part.clear()
    part.update(before)
    if fits:
        return None
    told = f"this is not as `{row.name}` gave the tool; what it says stands as text"
    return Draft(row.name, "changed", at, row.pos, told, None, part)
