"""What the caller gets: bodies, notes, envelopes."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import WireglotError, short
from .notes import Cause, Draft, Note, causes, severity_of
from .policy import Policy
from .trail import Places, pointer

if TYPE_CHECKING:
    from .traces import Trace


class Envelope(NamedTuple):
    """What the target keeps outside the body of a request.

    Attributes:
        model: The model, where the target names it outside the body.
        stream: Whether a stream is asked for, where the target says it outside the body.
        method: The method of HTTP.
        path: The path of the address, with the model in it where that is so.
        headers: Headers that the target wants; keys to an API are none of them.
    """

    model: str | None
    stream: bool | None
    method: str
    path: str
    headers: dict[str, str]


class Conversion(NamedTuple):
    """A converted body, the notes, and for a request its envelope.

    Attributes:
        body: New JSON in the target's dialect.
        notes: What could not be carried exactly.
        envelope: What a request has outside its body; None for other units.
        rules_hash: The hash of the rule set that did it, as `RuleSet.hash`.
        trace: Where each value comes from and what became of each, where that was asked for.
    """

    body: Any
    notes: tuple[Note, ...]
    envelope: Envelope | None
    rules_hash: str = ""
    trace: Trace | None = None

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The notes, those of one rule that are made for one reason together."""
        return causes(self.notes)


class PolicyError(WireglotError):
    """Raised when the policy says `fail` for a note.

    Attributes:
        note: The first note that is forbidden.
        conversion: The whole conversion, done all the same.
    """

    def __init__(self, note: Note, conversion: Conversion | None = None) -> None:
        self.note: Note = note
        self.conversion: Conversion | None = conversion
        super().__init__(f"the policy forbids `{note.code}`: {note}")

    def __reduce__(self) -> tuple[type[PolicyError], tuple[Note, Conversion | None]]:
        """Let it go to another process as it was made."""
        return PolicyError, (self.note, self.conversion)


class Reading(NamedTuple):
    """An IR value and the notes of reading it.

    Attributes:
        ir: Plain JSON, as docs/ir.md describes it.
        notes: What the IR does not hold exactly.
    """

    ir: Any
    notes: tuple[Note, ...]


# What reading tells that is no change at home.
_ABROAD = frozenset("reworded ambiguous inconsistent retimed dropped no-message".split())


def read_notes(found: Iterable[tuple[str, str, Any, Any, str]], same: bool | None) -> list[Note]:
    """Make notes of what reading found; at home, what memory puts back is no change.

    None says that nothing is written: all is as reading says.
    """
    notes = []
    for code, effect, at, pos, text in found:
        if code in _ABROAD and same:
            continue
        kind: Any = "lost" if code == "unfit" and same is False else effect
        severity, rule = severity_of(kind, code), rule_of(pos)
        notes.append(Note(code, kind, severity, pointer(at), None, rule, short(text)))
    return notes


def all_notes(
    found: Iterable[tuple[str, str, Any, Any, str]], drafts: Sequence[Draft], body: Any, same: bool
) -> list[Note]:
    """Make all notes of a conversion; a kept value that reading told of is told once."""
    early = read_notes(found, same)
    if not early:
        return finished(drafts, body)
    once = ("unfit", "dropped", "inconsistent", "retimed")
    known = {n.source_path for n in early if n.code in once}
    late = finished(drafts, body)
    told = ("unknown-key", "no-message")
    return early + [n for n in late if n.code not in told or n.source_path not in known]


@functools.lru_cache(8192)
def rule_of(pos: Any) -> str | None:
    """Print the place of a rule, if it has one."""
    return None if pos is None or not pos.file else str(pos)


def finished(drafts: Sequence[Draft], body: Any) -> list[Note]:
    """Make notes of the drafts, now that the places in the body are known."""
    if not drafts:
        return []
    notes, made = list[Note](), tuple.__new__
    places: Places | None = None
    for d in drafts:
        target, effect, code = None, d.effect, d.code
        if effect != "lost":
            owner, key = (d.place, None) if d.owner is None else (d.owner, d.place)
            if owner is body and body.__class__ is dict:
                target = "" if key is None else pointer((key,))
            elif owner is not None:
                places = places or _places(drafts, body)
                target = places.find(owner, key)
        if d.weight == "repeated":
            effect = d.weight
        source = None if d.source is None else pointer(d.source)
        severity, rule = severity_of(effect, code, d.weight), rule_of(d.rule)
        notes.append(made(Note, (code, effect, severity, source, target, rule, short(d.message))))
    return notes


def _places(drafts: Sequence[Draft], body: Any) -> Places:
    """Look in a body for what notes point into: nothing else is looked for."""
    wanted = {id(d.place if d.owner is None else d.owner) for d in drafts if d.effect != "lost"}
    wanted -= {id(None), id(body)}
    return Places(body if isinstance(body, dict | list) else [], wanted)


def concluded(
    body: Any,
    notes: Sequence[Note],
    envelope: Envelope | None,
    policy: Policy,
    source: str | None,
    target: str,
    rules_hash: str,
    trace: Trace | None = None,
) -> Conversion:
    """Put a conversion together, and raise PolicyError when a note is forbidden."""
    if policy.lenient:
        said = body, tuple(notes), envelope, rules_hash, trace
        return tuple.__new__(Conversion, said)  # which is what calling it does, by way of Python
    stay, forbidden = policy.apply(notes, source, target)
    done = Conversion(body, stay, envelope, rules_hash, trace)
    if forbidden is not None:
        raise PolicyError(forbidden, done)
    return done
