"""Checks that what a case reads holds what every other dialect asks of such an object."""

from __future__ import annotations

from typing import Any

from ..ir import FUNCTION, MEDIA
from ..language import picture as pic
from ..language.findings import Findings
from ..language.model import Dialect
from ..language.shape import Case, Shape
from .casetrial import named, place
from .contexts import Contexts

# What must be said of an object, each by one of these paths; and what a source of a type holds.
_CALL = (("name",), ("arguments", "input", "arguments_text"))
NEEDS: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(MEDIA, (("source.type",),)),
    **dict.fromkeys(("text", "refusal"), (("text",),)),
    "tool_call": _CALL,
    "tool_result": (("kind",), ("value",)),
    **dict.fromkeys((FUNCTION, "custom"), (("name",),)),
}
HELD = {"base64": "data", "url": "url", "file_id": "file", "text": "text", "blocks": "blocks"}
_HELP = {
    "source.type": "say it, as in `ir: {source: {type: url}}`, or write `by: source.type` and a "
    "case for each",
    "kind": "say it, as in `ir: {kind: text}`, or write `by: kind` and a case for each",
}


def check(dialect: Dialect, contexts: Contexts, findings: Findings) -> None:
    """Report cases that never say what others rely on, and texts that may be no JSON (R035)."""
    views = contexts.all
    itself = [h.named for v in views for h in pic.holes(v.case.wire) if h.path == "." and h.shape]
    within = {member for name in itself for member in dialect.unions.get(name, [name])}
    for view in views:
        shape = view.shape
        if shape is None or shape.name not in contexts.of or shape.groups or shape.marks:
            continue
        rows = [NEEDS.get(what, ()) for what in view.objects] if shape.name not in within else []
        needs = [paths for paths in rows[0] if all(paths in row for row in rows)] if rows else []
        needs += [(f"source.{HELD[word]}",) for word in _type(view.case) if word in HELD]
        for paths in needs:
            _needs(dialect, view.case, shape, paths, findings)
    taken = {p for v in views for h in pic.holes(v.case.wire) for p in h.paths}
    for view in views if "arguments_text" not in taken else ():
        for hole in pic.holes(view.case.wire) if view.objects == {"tool_call"} else ():
            if hole.path == "arguments" and "json" in hole.lenses:
                message = "arguments that are no JSON are read by no case"
                help = "give them one, as in `broken: {wire: {KEY: $arguments_text}}`; else such a "
                help += "call is lost to others, and its result with it"
                findings.warn("R035", message, hole.pos, help, word=f"${hole.path}")


def _type(case: Case) -> tuple[Any, ...]:
    """Return the type that a case says of its source, if it is one."""
    said = case.sides[0].get("/source/type")
    return said if isinstance(said, tuple) and len(said) == 1 else ()


def _needs(
    dialect: Dialect, case: Case, shape: Shape, paths: tuple[str, ...], findings: Findings
) -> None:
    """Report a field that a case never says, be it under one of several names."""
    if not _says(dialect, case, paths):
        message = f"{named(shape, case)} never says `{paths[0]}`, and others rely on it"
        help = _HELP.get(paths[0], f"give `${paths[0]}` a place in `wire`, or say it in `ir`")
        findings.warn("R035", message, place(dialect, shape, case), help)


def _says(dialect: Dialect, case: Case, paths: tuple[str, ...]) -> bool:
    """Tell whether a case says one of some fields, or that there is none, or a shape within."""
    meant = pic.placed(case.ir) if case.ir is not None else ()
    said = [".".join(at) for at, p in meant if not pic.keyed(p) and "[]" not in at]
    if any(path == one or path.startswith(f"{one}.") for path in paths for one in said):
        return True
    for hole in pic.holes(case.wire):
        inside, below = paths, f"{hole.path}."
        if hole.path != ".":
            inside = tuple(path.removeprefix(below) for path in paths if path.startswith(below))
            if any(path in paths for path in hole.paths) or (inside and hole.shape is None):
                return True
        if inside and (hole.shape in dialect.shapes or hole.shape in dialect.unions):
            if all(_says(dialect, one, inside) for _, one in dialect.cases_of(hole.named)):
                return True
    return any(path in text.names for path in paths for text in pic.texts(case.wire))
