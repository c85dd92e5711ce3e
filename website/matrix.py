"""The page of the matrix: what `wireglot audit` says of all pairs of packaged dialects."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from wireglot import cli
from wireglot.commandline.parser import parser

from . import commandline

TITLE = "# The matrix of pairs\n\n"
AUDIT = ("audit", "--format", "json")
WITHOUT = """\
[What pairs note](pairs.md) lists the notes on calls and results between the dialects, each with
what is on the wire that leaves no other way. The [dialects](dialects/index.md) have a page each,
with what may be noted of each picture.
"""
HEAD = """\
What converting does with the fields of each source, found from the rules alone: from the dialect of
the row to that of the column. A cell counts the fields that are refused or lost; the darker, the
more. It leads to what becomes of the others, and to the gravest codes;
`wireglot audit --from D --to D` has each field with its reason and rules. Dialects that lie over
another differ little from it and are left out: `wireglot audit --from D` has their pairs.
"""
SHADES = 4


def markdown() -> str:
    """Return the page as Markdown: what the command finds, where there is this command."""
    known = {command.name for command in commandline.commands(parser())}
    if AUDIT[0] not in known:
        return TITLE + WITHOUT
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "matrix.json"
        status = cli.main([*AUDIT, "-o", str(file)])
        if status:
            raise RuntimeError(f"`wireglot {' '.join(AUDIT)}` ended with {status}")
        cells = json.loads(file.read_text("utf-8"))
    units = dict.fromkeys(cell["unit"] for cell in cells)
    return "\n".join([TITLE + HEAD, *(part for unit in units for part in _unit(unit, cells))])


def _unit(unit: str, cells: list[Any]) -> Iterator[str]:
    """Yield the matrix of a unit, and below it a row for each pair."""
    found = {(one["source"], one["target"]): one for one in cells if one["unit"] == unit}
    names = list(dict.fromkeys(source for source, _ in found))
    most = max(map(_lost, found.values()), default=0)
    yield f"## {unit.capitalize()}s\n"
    yield '<table class="matrix"><thead><tr><th scope="col">from, to</th>'
    yield "".join(f'<th scope="col"><span>{escape(name)}</span></th>' for name in names)
    yield "</tr></thead><tbody>"
    for source in names:
        row = "".join(_cell(unit, found.get((source, target)), most) for target in names)
        yield f'<tr><th scope="row">{escape(source)}</th>{row}</tr>'
    yield "</tbody></table>\n"
    effects = list(dict.fromkeys(effect for one in found.values() for effect in one["counts"]))
    yield '<table class="pairs"><thead><tr>'
    yield "".join(f'<th scope="col">{word}</th>' for word in ("from", "to", *effects, "gravest"))
    yield "</tr></thead><tbody>"
    for (source, target), one in found.items():
        words = (source, target, *(str(one["counts"].get(effect, 0)) for effect in effects))
        row = "".join(f"<td>{escape(word)}</td>" for word in (*words, " ".join(one["worst"])))
        yield f'<tr id="{_id(unit, one)}">{row}</tr>'
    yield "</tbody></table>\n"


def _lost(cell: Any) -> int:
    return sum(cell["counts"].get(effect, 0) for effect in ("refused", "lost"))


def _id(unit: str, cell: Any) -> str:
    return escape(f"{unit}-{cell['source']}-to-{cell['target']}")


def _cell(unit: str, cell: Any, most: int) -> str:
    if cell is None:
        return "<td></td>"
    lost = _lost(cell)
    shade = 0 if not lost else 1 + (SHADES - 1) * lost // (most or 1)
    said = ", ".join(f"{count} {effect}" for effect, count in cell["counts"].items())
    link = f'<a href="#{_id(unit, cell)}" title="{escape(said)}">{lost}</a>'
    return f'<td class="shade-{shade}">{link}</td>'
