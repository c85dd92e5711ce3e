"""Files of crossings: their form, and whether the dialects that they name are there."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..language.apart import CROSSINGS
from ..language.findings import Findings, hint
from ..language.source import LADDER, Node
from ..language.words import LAYERS
from ..notes import CODES
from .form import Forms


def check(files: Iterable[Node], there: Collection[str], findings: Findings) -> None:
    """Report what is wrong with some files of crossings, of the dialects that are there."""
    form, forms = LAYERS[CROSSINGS][0], Forms(findings)
    dialects = [name for name in there if name != LADDER]
    for file in files:
        units = forms.check(form, file.value[CROSSINGS], f"`{CROSSINGS}`")
        for unit in units.entries.values() if units is not None else ():
            for crossing in unit.value.values():
                _check_crossing(crossing, dialects, findings)


def _check_crossing(crossing: Node, dialects: Collection[str], findings: Findings) -> None:
    """Report names of dialects and codes that are not there, and what stands beside no wire."""
    wires, source = crossing.value["wires"], crossing.get("from")
    notes = crossing.get("notes") or Node({}, crossing.pos)

    def wrong(node: Node, message: str, known: Collection[str]) -> None:
        findings.error("R025", message, node.pos, hint(str(node.value), known))

    for held in (wires, notes):
        for name in [name for name in held.value if name not in dialects]:
            wrong(Node(name, held.keys[name]), f"there is no dialect `{name}`", dialects)
    if source is not None and source.value not in wires.value:
        wrong(source, f"`wires` has no `{source.value}`, of which it is read", wires.value)
    for name, codes in notes.value.items():
        for code in [code for code in codes.value if code.value not in CODES]:
            wrong(code, f"there is no code `{code.value}`", CODES)
        if name in dialects and name not in wires.value:
            key = Node(name, notes.keys[name])
            wrong(key, f"`wires` has no `{name}`, whose notes these are", wires.value)
