"""The check of `carry`: its keys mean nothing else."""

from __future__ import annotations

from ..language.findings import Findings
from ..language.model import Dialect
from ..language.picture import Fields
from ..language.shape import Case
from ..language.source import Node
from ..loop import carry


def check(model: Dialect, node: Node | None, findings: Findings) -> None:
    """Report keys that a picture already gives a meaning (R017)."""
    if node is None:
        return
    for kind, child in node.value.items():
        if any(child.value in names for names in _named(model, kind)):
            if not carry.is_text(model, kind) and not carry.is_open(model, kind):
                message = f"`{child.value}` of a {kind} means something else already"
                help = "state rides in an object, or in the place of a `$signature`"
                findings.error("R017", message, child.pos, help)


def _named(model: Dialect, kind: str) -> list[frozenset[str]]:
    """Return the keys at the top of each picture of a kind."""
    cases: list[Case] = []
    if kind == "message":
        cases = model.talks
    else:
        for name, shape in model.shapes.items():
            cases += shape.cases if kind in model.kinds_of(name) else ()
    return [case.wire.names for case in cases if isinstance(case.wire, Fields)]
