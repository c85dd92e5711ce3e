"""Repair within one dialect: what a provider would refuse in a request, found and healed.

All of it is said by the rule file: what it asks of messages, its limits, tables and schemas, and
the fields that must be there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import policy as policies
from .conversion import reading, writing
from .conversion.hands import Writer
from .dialects import DialectRules
from .errors import ConversionError
from .ir import FUNCTION
from .loaded import Loaded
from .notes import Note
from .payload import known_options
from .results import Conversion, concluded, finished, rule_of
from .trail import leaves, pointer

PASSES = 5  # a repair is stable after one, or after another that sees what the first one made
HEALS = "`repair` heals it: "
HELP = {
    "lost": "it is left out",
    "changed": "it is written otherwise",
    "moved": "it is put in its place",
    "added": "it is filled in",
}


# What goes on at home as it is, though the provider may refuse it, and what helps.
UNKNOWN_KEY = "no picture names this key"
HELP_KEY = "leave it out, unless the provider documents it"
UNKNOWN_PART = "no picture describes this element"
HELP_PICTURE = "write it as the rule pictures"
HELP_PART = "write it as the rules of this dialect picture it; is it another dialect's?"


class Diagnosis(NamedTuple):
    """One thing that a provider would refuse.

    Attributes:
        path: An RFC 6901 pointer into the body.
        code: That of a note, or `unreadable`.
        message: Why it is refused, a sentence for people.
        rule: `file:line:column` of the rule that says so, or None.
        help: What helps.
        healed: Whether `repair` heals it.
        severity: `error`, or `info` where providers vary in whether they refuse it.
    """

    path: str
    code: str
    message: str
    rule: str | None
    help: str
    healed: bool
    severity: str = "error"

    def __str__(self) -> str:
        """Print it as findings in rule files are printed."""
        place = f" ({self.rule})" if self.rule else ""
        return f"{self.path or '/'}: {self.code}: {self.message}{place}\n  help: {self.help}"


def repair(
    rules: Loaded,
    body: Any,
    dialect: str,
    model: str | None,
    options: Mapping[str, Any] | None,
    policy: Mapping[str, str] | policies.Policy | None,
) -> Conversion:
    """Heal a request; `RuleSet.repair` says more."""
    known = {**known_options(options), "repair": True}
    judge = policies.of(policy)
    out = rules.convert(body, dialect, dialect, model=model, options=known)
    notes = _new(out.notes, body, out.body)
    for _ in range(PASSES):
        if not out.notes:
            break
        before = out.body
        out = rules.convert(before, dialect, dialect, model=model, options=known)
        if out.body == before:
            break
        # Its places are those of what the pass before made.
        notes += [note._replace(source_path=None) for note in out.notes]
    return concluded(out.body, notes, out.envelope, judge, dialect, dialect, rules.hash)


def diagnose(
    rules: Loaded, body: Any, dialect: str, model: str | None, options: Mapping[str, Any] | None
) -> tuple[Diagnosis, ...]:
    """Return what a provider would refuse; `RuleSet.diagnose` says more."""
    known = {**known_options(options), "repair": True}
    named = model if model is not None else rules[dialect].model_in(body, "request")
    try:
        out = rules.convert(body, dialect, dialect, model=model, options=known)
        notes = _new(out.notes, body, out.body)
        found = [_of(note) for note in notes if _refused(note, out.notes)]
        found += _required(rules[dialect]._picked(named, known), body, model, known)
    except ConversionError as error:
        told = "the body must be mended by hand; `repair` cannot read it"
        return (Diagnosis(error.path or "", "unreadable", error.reason, error.rule, told, False),)
    once: dict[str, Diagnosis] = {}
    for one in found:
        once.setdefault(one.path, one)
    return tuple(once.values())


def _new(notes: Sequence[Note], body: Any, out: Any) -> list[Note]:
    """Return notes but those of what is filled in where a body says the same: the word for none."""
    filled = {id(note) for note in notes if note.code == "filled-in" and not note.source_path}
    if not filled:  # mostly
        return [*notes]
    given, made = ({pointer(at): leaf for at, leaf in leaves(one)} for one in (body, out))
    return [
        note
        for note in notes
        if id(note) not in filled
        or made.get(note.target_path or "", note) != given.get(note.target_path or "")
    ]


def _refused(note: Note, notes: tuple[Note, ...]) -> bool:
    """Tell whether a note is about the body, and not about what repair makes of it."""
    if note.source_path is None:
        return note.effect == "added"
    # Of calls with one id it is said, too, how they are told apart.
    inner = f"{note.source_path}/"
    told = note.code == "duplicate-id" and any(
        (other.source_path or "").startswith(inner) for other in notes
    )
    return note.code != "joined" and not told


def _of(note: Note) -> Diagnosis:
    """Make a diagnosis of what repair does."""
    path = note.target_path if note.source_path is None else note.source_path
    healed = note.effect != "kept"
    help = HEALS + HELP[note.effect] if healed else "nothing can be made up for it: say it again"
    if note.code == "unfit":
        help = "write a value of the type that the rule pictures"
    return Diagnosis(path or "", note.code, note.message, note.rule, help, healed)


def _required(
    picked: DialectRules, body: Any, model: str | None, options: dict[str, Any]
) -> list[Diagnosis]:
    """Return what could not be written had it come from elsewhere: missing fields, odd elements."""
    read = reading.read(picked, body, "request", model, None, options)
    if picked.model.stream is not None and picked.model.stream.asks:
        read.ir.pop("stream", None)  # what is asked for beside a stream is no need of the provider
    writer = Writer(picked.model, False, read.trail, options, picked.ladder)
    wire, _ = writing.write_with(writer, read, "request")
    found: list[Diagnosis] = []
    for note in _new(finished(writer.notes, wire), body, wire):
        if note.code == "filled-in" and note.source_path is None:
            help = "say it; a conversion from another dialect fills it in"
            where = note.target_path or ""
            found.append(Diagnosis(where, note.code, note.message, note.rule, help, False))
        elif note.code == "unknown-key" and note.source_path:
            where, told = note.source_path, UNKNOWN_KEY
            found.append(Diagnosis(where, note.code, told, note.rule, HELP_KEY, False, "info"))
    found += _unpictured(picked, read, writer)
    for part in _elements(read.ir):
        place = read.trail.find(part) if part.get("type") == "unknown" else None
        where = pointer(place or ())
        if place is not None and not any(one.path.startswith(where) for one in found):
            found.append(Diagnosis(where, "unknown-part", UNKNOWN_PART, None, HELP_PART, False))
    return found


def _unpictured(picked: DialectRules, read: reading.Read, writer: Writer) -> list[Diagnosis]:
    """Return the tools and parts that could not be written, and tools with a schema of odd root."""
    found: list[Diagnosis] = []
    lost = {id(part) for part in writer.lost_parts}
    whole = ""  # the shape of the element that a part before stands in, and is written
    for part in _elements(read.ir):
        memory = part.get("spelled", {}).get(picked.name, {}).get("../", {})
        run = memory.get("run") if not memory.get("apart") else None
        schema = _root(picked, part)
        if (id(part) not in lost and not schema) or (run is not None and run == whole):
            whole = memory.get("run", "")
            continue
        whole = ""
        at = read.trail.find(part)
        if at is None:
            continue
        said = next((d for d in writer.notes if d.source == at), None)
        place = read.trail.find(part, "parameters") if schema else None
        where = pointer((*place, "type") if place else at)
        told = schema or (said.message if said else "no picture takes it")
        rule = rule_of(said.rule) if said else None
        found.append(Diagnosis(where, "no-place", told, rule, HELP_PICTURE, False))
    return found


def _elements(ir: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tools and the parts of a request but those that a provider runs itself."""
    found = list(ir.get("tools") or ())
    found += [part for message in ir.get("messages", ()) for part in message.get("parts", ())]
    return [one for one in found if one.get("type") != "native"]


def _root(picked: DialectRules, tool: dict[str, Any]) -> str:
    """Say that the root of a tool's schema has not the type that is wanted, if so."""
    schema = tool.get("parameters") if tool.get("type", FUNCTION) == FUNCTION else None
    if not isinstance(schema, dict):
        return ""
    roots = {s.root for s in picked.model.schemas.values() if s.root is not None}
    said = schema.get("type", ())
    if not roots or isinstance(said, list | tuple) or said in roots:
        return ""  # one that may be null, too, or says no type, is taken by some
    return f"the root of a schema is an {' or '.join(sorted(map(str, roots)))} here"
