"""Checks of what is missing: uses, kinds, fields, examples, and what other dialects ask for."""

from __future__ import annotations

from typing import Any

from ..ir import FUNCTION, MEDIA, PARTS
from ..language import picture as pic
from ..language.findings import Findings, hint
from ..language.ladder import Ladder
from ..language.model import Dialect
from ..language.picture import ABSENT, Fields, Literal
from ..language.shape import Case, Shape
from ..language.source import Node
from ..language.version import head_pos
from .casetrial import case_pos, case_title, read_by, writing_case
from .contexts import Contexts
from .fields import KINDS, OBJECTS

# Kinds that every conversation knows without a picture, those that only a provider has that runs
# tools of its own, and fields that stand elsewhere.
FREE = frozenset(("unknown", "native"))
SELDOM = frozenset(("search", "finding"))
ELSEWHERE = frozenset("type own kept spelled metadata cache signature messages system".split())
# What must be said of an object, each by one of these paths; and what a source of a type holds.
_CALL = (("name",), ("arguments", "input", "arguments_text"))
NEEDS: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(MEDIA, (("source.type",),)),
    **dict.fromkeys(("text", "refusal"), (("text",),)),
    "tool_call": _CALL,
    "tool_result": (("kind",), ("value",)),
    **dict.fromkeys((FUNCTION, "custom"), (("name",),)),
}
IDS = {"tool_call": "id", "tool_result": "tool_call_id"}
HELD = {"base64": "data", "url": "url", "file_id": "file", "text": "text", "blocks": "blocks"}
_HELP = {
    "source.type": "say it, as in `ir: {source: {type: url}}`, or write `by: source.type` and a "
    "case for each",
    "kind": "say it, as in `ir: {kind: text}`, or write `by: kind` and a case for each",
}


def check_unused(
    model: Dialect, clean: Node, raw: Node, contexts: Contexts, findings: Findings
) -> None:
    """Report what is defined and not used (R014)."""
    if not model.units:
        return
    pictures = [view.case.wire for view in contexts.all]
    pictures += model.stream.pictures() if model.stream else ()
    lenses = {lens for p in pictures for hole in pic.holes(p) for lens in hole.lenses}
    talk = model.conversation
    asked = talk.enforce if talk else []
    lenses.update(name for word, name in asked if word == "strict")
    also = {n.value for s in clean.under("shapes").values() if (n := s.get("also"))}
    used = {"shapes": {*contexts.objects_of, *also}, "unions": contexts.unions}
    if talk is not None and "request" in model.units:
        # A kind of part may be asked for alone; in messages it stands only where it is named.
        used["shapes"] -= PARTS - contexts.named
    used |= dict.fromkeys(("tables", "schemas", "lists"), lenses)
    talks = any(hole.shape == "conversation" for p in pictures for hole in pic.holes(p))
    talks = talks or "messages" in _request_fields(contexts) or "request" not in model.units
    if talk is not None and not talks and (said := raw.keys.get("conversation")):
        help = "name it in the request: `KEY: $messages as conversation`"
        findings.warn("R014", "the conversation is used nowhere", said, help)
    for word, names in used.items():
        for name in raw.under(word):
            used_here = name in names or (word == "schemas" and f"fits-{name}" in names)
            what = {"tables": "table", "schemas": "schema"}.get(word, word[:-1])
            message = f"the {what} `{name}` is used nowhere"
            pos, help = raw.value[word].key_pos(name), "take it out, or name it in a hole"
            findings.warn_unless(used_here, "R014", message, pos, help)


def check_places(
    model: Dialect, clean: Node, raw: Node, contexts: Contexts, ladder: Ladder, findings: Findings
) -> None:
    """Report kinds and fields of the IR that this dialect says nothing of (R002)."""
    if "request" not in model.units or model.conversation is None:
        return
    drop = clean.get("unsupported")
    dropped = {name: drop.key_pos(name) for name in drop.value} if drop else {}
    kinds = {k for v in contexts.all for k in v.objects if k in KINDS or k == FUNCTION}
    pictured = frozenset(kinds)
    grown = True
    while grown:
        more = {kind for kind, rows in ladder.items() for row in rows if _types_given(row) & kinds}
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
            findings.info("R002", message, head_pos(raw), help)
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
        pos = model.conversation.places.get("lift", talk.pos if talk else head_pos(raw))
        findings.warn("R014", message, pos, help)
    for name in dropped.keys() - every - fields - {"metadata"}:
        message = f"`unsupported` names `{name}`, which is no kind and no field of a request"
        findings.error("R024", message, dropped[name], hint(name, every | fields))


def _types_given(row: Any) -> frozenset[str]:
    """Return the types that a row of the ladder gives a value; none where it leaves it its own."""
    for (name, *_), child in row.after.entries:
        if name == "type" and isinstance(child, Literal):
            return frozenset(FUNCTION if v is ABSENT else str(v) for v in child.values)
    return frozenset()


def _request_fields(contexts: Contexts) -> frozenset[str]:
    """Return the fields of a request of which some picture says anything."""
    held: set[str] = set()
    for view in contexts.all:
        if "request" in view.objects:
            held |= {p.partition(".")[0] for h in pic.holes(view.case.wire) for p in h.paths}
            if isinstance(view.case.ir, Fields):
                held |= view.case.ir.names
    return frozenset(held)


def check_examples(dialect: Dialect, contexts: Contexts, findings: Findings) -> None:
    """Report cases that no example shows (R008)."""
    for name, shape in dialect.shapes.items():
        known = (findings.is_right("R008", case_pos(dialect, shape, case)) for case in shape.cases)
        if name in contexts.objects_of and not all(known):
            _check_shown(dialect, shape, findings)


def _check_shown(dialect: Dialect, shape: Shape, findings: Findings) -> None:
    """Report cases of a shape that no example is written or read by (R008)."""
    node = dialect.node.under("shapes")[shape.name]
    shown: set[str] = set()
    apart = dialect.node.under("examples")
    apart_lists = [apart[at] for at in (shape.name, f"shapes/{shape.name}") if at in apart]
    examples = [*_examples_of(node), *(one for listed in apart_lists for one in listed.value)]
    for case_name, inner in node.under("cases").items():
        found = _examples_of(inner)
        if found:
            shown.add(case_name)
        examples += found
    names = (writing_case(dialect, shape, ir) for ir in _values(examples, "writes"))
    shown.update(filter(None, names))
    wires = _values(examples, "wire") + _values(examples, "reads")
    pairs = [(shape, case) for case in shape.cases]
    for wire in wires:
        for pair in pairs:
            if read_by(dialect, pair, wire) is not ABSENT:
                shown.add(pair[1].name)
                break
    help = "write one: `examples: [{wire: ..., ir: ...}]`; `wireglot test` runs it both ways"
    for case in shape.cases:
        # What asks for a neighbour, or is no key, only examples of the shape around can show.
        beside = bool(shape.marks or (shape.groups and examples)) or case.tests
        beside |= isinstance(case.wire, Literal) and ABSENT in case.wire.values
        if isinstance(case.wire, Fields) and not case.wire.entries and not case.ir:
            beside |= all(hole.shape for hole in case.wire.spread)  # another shape's examples do
        right = beside or case.name in shown
        message = f"no example shows {case_title(shape, case)}"
        findings.warn_unless(right, "R008", message, case_pos(dialect, shape, case), help)


def _examples_of(node: Any) -> list[Any]:
    listed = node.get("examples")
    return list(listed.value) if listed else []


def _values(examples: list[Any], word: str) -> list[Any]:
    """Return what some examples have under a word."""
    return [value.plain() for example in examples if (value := example.get(word))]


def check_needs(dialect: Dialect, contexts: Contexts, findings: Findings) -> None:
    """Report cases that never say what others rely on, and texts that may be no JSON (R035)."""
    views = contexts.all
    itself = [h.named for v in views for h in pic.holes(v.case.wire) if h.path == "." and h.shape]
    within = {member for name in itself for member in dialect.unions.get(name, [name])}
    for view in views:
        shape = view.shape
        if shape is None or shape.name not in contexts.objects_of or shape.groups or shape.marks:
            continue
        rows = [NEEDS.get(what, ()) for what in view.objects] if shape.name not in within else []
        asked = [paths for paths in rows[0] if all(paths in row for row in rows)] if rows else []
        asked += [(f"source.{HELD[word]}",) for word in _source_type(view.case) if word in HELD]
        for paths in asked:
            _check_said(dialect, view.case, shape, paths, findings)
    taken = {p for v in views for h in pic.holes(v.case.wire) for p in h.paths}
    for kind, name in IDS.items() if "call-ids" not in dialect.hooks else ():
        mine = [(v.shape, v.case) for v in views if v.objects == {kind} and v.shape is not None]
        said = dialect.holds_results or any(_says(dialect, case, (name,)) for _, case in mine)
        if mine and not said:
            message = f"no case of `{kind}` says `{name}`, and no hook makes it"
            help = f"give `${name}` a place in `wire`, or write `hooks: [call-ids]` at the top"
            findings.warn("R035", message, case_pos(dialect, *mine[0]), help)
    for view in views if "arguments_text" not in taken else ():
        for hole in pic.holes(view.case.wire) if view.objects == {"tool_call"} else ():
            if hole.path == "arguments" and "json" in hole.lenses:
                message = "arguments that are no JSON are read by no case"
                help = "give them one, as in `broken: {wire: {KEY: $arguments_text}}`; else such a "
                help += "call is lost to others, and its result with it"
                findings.warn("R035", message, hole.pos, help, word=f"${hole.path}")


def _source_type(case: Case) -> tuple[Any, ...]:
    """Return the type that a case says of its source, if it is one."""
    said = case.sides[0].get("/source/type")
    return said if isinstance(said, tuple) and len(said) == 1 else ()


def _check_said(
    dialect: Dialect, case: Case, shape: Shape, paths: tuple[str, ...], findings: Findings
) -> None:
    """Report a field that a case never says, be it under one of several names."""
    if not _says(dialect, case, paths):
        message = f"{case_title(shape, case)} never says `{paths[0]}`, and others rely on it"
        help = _HELP.get(paths[0], f"give `${paths[0]}` a place in `wire`, or say it in `ir`")
        findings.warn("R035", message, case_pos(dialect, shape, case), help)


def _says(dialect: Dialect, case: Case, paths: tuple[str, ...]) -> bool:
    """Tell whether a case says one of some fields, or that there is none, or a shape within."""
    ir_pictures = pic.placed(case.ir) if case.ir is not None else ()
    ir_paths = [".".join(at) for at, p in ir_pictures if not pic.keyed(p) and "[]" not in at]
    if any(path == one or path.startswith(f"{one}.") for path in paths for one in ir_paths):
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
