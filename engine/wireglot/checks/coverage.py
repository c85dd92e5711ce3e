"""Checks of what nobody uses, and of what a dialect says nothing of."""

from __future__ import annotations

from typing import Any

from ..ir import FUNCTION, PARTS
from ..language import picture as pic
from ..language.findings import Findings, helped
from ..language.ladder import Ladder
from ..language.model import Dialect
from ..language.picture import Fields, Literal
from ..language.source import Node
from ..language.version import begins
from .contexts import Contexts
from .fields import KINDS, OBJECTS

# Kinds that every conversation knows without a picture, those that only a provider has that runs
# tools of its own, and fields that stand elsewhere.
FREE = frozenset(("unknown", "native"))
SELDOM = frozenset(("search", "finding"))
ELSEWHERE = frozenset("type own kept spelled metadata cache signature messages system".split())


def unused(model: Dialect, clean: Node, raw: Node, contexts: Contexts, findings: Findings) -> None:
    """Report what is defined and not used (R014)."""
    if not model.units:
        return
    lenses: set[str] = set()
    for view in contexts.all:
        for hole in pic.holes(view.case.wire):
            lenses.update(hole.lenses)
    for picture in model.stream.pictures() if model.stream else ():
        lenses.update(lens for hole in pic.holes(picture) for lens in hole.lenses)
    talk = model.conversation
    asked = talk.enforce if talk else []
    lenses.update(name for word, name in asked if word == "strict")
    also = {n.value for s in clean.under("shapes").values() if (n := s.get("also"))}
    used = {"shapes": {*contexts.of, *also}, "unions": contexts.unions}
    used |= dict.fromkeys(("tables", "schemas", "lists"), lenses)
    for word, names in used.items():
        for name in raw.under(word):
            used_here = name in names or (word == "schemas" and f"fits-{name}" in names)
            what = {"tables": "table", "schemas": "schema"}.get(word, word[:-1])
            message = f"the {what} `{name}` is used nowhere"
            pos, help = raw.value[word].place(name), "take it out, or name it in a hole"
            findings.doubt(used_here, "R014", message, pos, help)


def places(
    model: Dialect, clean: Node, raw: Node, contexts: Contexts, ladder: Ladder, findings: Findings
) -> None:
    """Report kinds and fields of the IR that this dialect says nothing of (R002)."""
    if "request" not in model.units or model.conversation is None:
        return
    drop = clean.get("unsupported")
    dropped = {name: drop.place(name) for name in drop.value} if drop else {}
    kinds = {k for v in contexts.all for k in v.objects if k in KINDS or k == FUNCTION}
    pictured = frozenset(kinds)
    grown = True
    while grown:
        more = {kind for kind, rows in ladder.items() for row in rows if _becomes(row) & kinds}
        grown = not more <= kinds
        kinds |= more
    every = (PARTS | {FUNCTION, "custom"}) - FREE
    fields = OBJECTS["request"].keys() - ELSEWHERE
    held = _request_fields(contexts)
    for what, missing, known in (
        ("kinds", every - kinds - dropped.keys() - SELDOM, every),
        ("fields of a request", fields - held - dropped.keys(), fields),
    ):
        if missing:
            message = f"this dialect says nothing of the {what} {', '.join(sorted(missing))}"
            help = (
                "they are lost, and noted, when a conversion meets them: picture them, or say "
                "why they have no place, as in `unsupported: {NAME: reason}` at the top"
            )
            findings.info("R002", message, begins(raw), help)
        for name in dropped.keys() & known & (pictured if what == "kinds" else held):
            if name in every - pictured or name in fields - held:
                continue  # a kind and a field of one name
            message = f"`unsupported` gives `{name}` up, and the file pictures it"
            help = f"take it out; what a parent pictures, `{name}: $removed` takes away"
            findings.warn("R002", message, dropped[name], help)
    talk = clean.get("conversation")
    if ("lift", "system") in model.conversation.enforce and "system" not in held:
        message = "`system` is lifted to `$system`, which the request does not picture"
        help = "picture it, as in `system: $system each text`, or take the word out"
        pos = model.conversation.places.get("lift", talk.pos if talk else begins(raw))
        findings.warn("R014", message, pos, help)
    for name in dropped.keys() - every - fields - {"metadata"}:
        message = f"`unsupported` names `{name}`, which is no kind and no field of a request"
        findings.error("R024", message, dropped[name], helped(name, every | fields))


def _becomes(row: Any) -> frozenset[str]:
    for (name, *_), child in row.after.entries:
        if name == "type" and isinstance(child, Literal):
            return frozenset(FUNCTION if v is pic.ABSENT else str(v) for v in child.values)
    return frozenset()


def _request_fields(contexts: Contexts) -> frozenset[str]:
    held: set[str] = set()
    for view in contexts.all:
        if "request" in view.objects:
            held |= {p.partition(".")[0] for h in pic.holes(view.case.wire) for p in h.paths}
            if isinstance(view.case.ir, Fields):
                held |= view.case.ir.names
    return frozenset(held)
