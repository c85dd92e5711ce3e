"""Notes: what a conversion could not carry over exactly, and what it did instead."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, get_args

from .errors import short
from .trail import At, within

Effect = Literal["lost", "changed", "moved", "added", "kept", "repeated"]
Severity = Literal["info", "warning", "error"]
EFFECTS: tuple[Effect, ...] = get_args(Effect)
# What a loss weighs: the usual, one of what was said before, of what says nothing, of what counts.
Weight = Literal["", "repeated", "slight", "grave"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)  # the gravest last

CODES: dict[str, str] = {
    "unknown-key": "A key that no picture names; the target has no place for it.",
    "unknown-part": "An element of a kind that no picture describes; the target cannot hold it.",
    "no-message": "What is no message of a session's conversation; it returns home only.",
    "unfit": "A value of a type that its picture does not take; kept for its own dialect only.",
    "own-field": "A documented field that only the source dialect has.",
    "no-place": "A value that the target dialect cannot hold.",
    "dropped": "A value that a rule file gives up, with the reason it gives.",
    "filled-in": "A required value that the source did not have, filled in from the rule.",
    "made-id": "An id that the source did not have, made from position and content.",
    "made-time": "A time that the source did not have: that of what stands before, or of a clock.",
    "made-name": "A name that the target requires and the source did not have.",
    "renamed": "A name or id that the target refuses, rewritten to fit its limits.",
    "reworded": "A word whose nearest word in the target means something wider or narrower.",
    "rounded": "A time, written as exactly as its place can say it.",
    "re-encoded": "Base64 in another alphabet, or not filled up, written in its usual form.",
    "ambiguous": "A value that the target cannot tell apart from another one.",
    "joined": "Several pieces that the target holds as one.",
    "reordered": "Parts that stand in another order in the target.",
    "moved": "A part that stands in another message in the target.",
    "turn-added": "A message that the target wants in the order of turns, filled in from the rule.",
    "narrowed": "A choice among tools, made by sending only these.",
    "empty-message": "A message without parts, left out where the target takes none.",
    "empty-text": "Text without a word, left out where the target takes none.",
    "clamped": "A number that the target does not take, brought within its bounds.",
    "no-tool": "A choice of a tool, or among tools, that is not there in the target.",
    "lifted": "System text or tools from the middle of a conversation, moved to its head.",
    "unparsed": "Arguments that are no JSON object, wrapped so that an object carries them.",
    "retimed": "A time that stands twice, a moment apart; the second is kept at home only.",
    "inconsistent": "Numbers that do not add up, a copy or frame that differs; kept at home only.",
    "unpaired": "A result without a call, or a call without a result.",
    "answered": "A call without a result, answered with the text of the rule.",
    "bad-arguments": "Arguments of a call that the schema of its tool refuses.",
    "bad-schema": "A schema that is none: nothing can be checked against it; it may be refused.",
    "unsigned": "A call without the reasoning state that the target wants beside it.",
    "loosened": "A strict tool whose schema cannot be kept strictly; it is strict no longer.",
    "duplicate-id": "Two calls with one id; results are paired in order.",
    "foreign-signature": "Opaque reasoning state, which only the dialect it came from can read.",
    "ignored": "What rode in a history and is not as it was given, or tells of nothing there.",
    "foreign-file": "A file that one provider holds; its name says nothing to another.",
    "silent-error": "An error result without a text, written with one that says that it failed.",
    "error-as-text": "An error result, written as JSON text with the one key `error`.",
    "failed-as-error": "A failed result of several text blocks, written as one error.",
    "failed-data-as-error": "Data of a failed result, written as the text of an error.",
    "failed-text-as-error": "The text of a failed result, written as an error.",
    "failed-beside": "A failed result with media: its text is an error, the media stand after it.",
    "data-as-text": "A data result, written as JSON text.",
    "between-as-switch": "Thinking between calls alone, written as thinking that is switched on.",
    "blocks-as-text": "A result of text blocks, written as one text.",
    "blocks-beside": "The media of a result, moved into a user message after it.",
    "media-beside": "Media beside the data of a result, moved into a user message after it.",
    "grammar-told": "The grammar of a freeform tool, written into its description.",
    "freeform-wrapped": "Freeform input or a freeform tool, wrapped as an object with key `input`.",
    "text-decoded": "A text document in base64, written as its text.",
    "picture-alone": "A document of one picture, written as the picture.",
    "texts-as-text": "A document of several texts, written as one text block.",
    "pictures-beside": "A document with pictures, written as its texts, the pictures beside.",
    "document-as-text": "A text document, written as a text block.",
    "file-as-document": "A file of unsaid kind, written as a document.",
    "refusal-as-text": "A refusal, written as text.",
    "resolved": "Media that the target cannot name, written with bytes that the caller supplied.",
    "expanded": "A result that was cut, written whole with what the caller supplied.",
    "assumed-type": "Media whose type nothing says, written with the most usual type.",
    "budget-as-switch": "A budget of thinking, written as thinking without a budget.",
    "budget-as-effort": "A budget of thinking, written as the word of effort nearest to it.",
    "switch-as-effort": "Thinking that is switched on, written as the usual word of effort.",
    "switch-as-budget": "Thinking that is switched on, written as the usual budget.",
    "effort-as-switch": "Effort, which does not switch thinking on by itself in the target; it is "
    "switched on.",
    "effort-as-budget": "A word of effort, written as the budget of thinking that it stands for.",
    "named-as-required": "A forced tool, written as `required`.",
    "allowed-as-none": "A choice among no tools, written as none.",
    "allowed-as-mode": "A subset of tools, written as its mode without the list.",
    "developer-as-system": "Developer text, written as system text.",
    "system-as-user": "System text, written as a user message.",
    "tool-as-user": "A turn of tools in which no tool answers, written as the user's.",
    "no-parameters": "A tool without a schema; the schema of no parameters is written.",
    "object-parameters": "A schema whose root takes more than objects; only `object` is written.",
    "untyped-parameters": "A schema without a root type; `object` is written.",
    "null-parameters": "A schema whose root type is null; `object` is written.",
    "schema-keyword": "A keyword of a schema that the target does not take.",
    "schema-told": "A constraint of a schema that the target does not take, told in a description.",
    "schema-reworded": "A keyword of a schema, written in words that mean something wider.",
    "schema-renewed": "A keyword of an older draft of JSON Schema, in the words of a later one.",
    "schema-added": "What a schema must have in the target, filled in from the rule.",
    "schema-as-words": "The schema of an answer, said in a message beside what asks for JSON.",
    "schema-inlined": "A reference of a schema, written out in its place.",
    "schema-cut": "A reference of a schema that leads back to itself or to nothing, left out.",
    "no-usage": "A response without token counts; zeros are written.",
    "empty-response": "A response without candidates; an empty one is written.",
    "unknown-frame": "A frame of a stream that no event describes.",
    "after-end": "A frame that came after the end of its stream.",
    "cut-short": "A stream that broke off, or ended without saying why; what came is kept.",
    "missing-name": "A result whose call is not there and so has no name; its id stands for it.",
}


class Note(NamedTuple):
    """One thing that a conversion could not carry exactly.

    Attributes:
        code: What happened; stable, and listed in docs/notes.md.
        effect: What it means for the value: lost, changed, moved, added, kept or repeated.
        severity: `info`, `warning` or `error`.
        source_path: An RFC 6901 pointer into the body that was given, or None.
        target_path: An RFC 6901 pointer into the body that came out, or None.
        rule: `file:line:column` of the rule that decided it, or None.
        message: A sentence for people.
    """

    code: str
    effect: Effect
    severity: Severity
    source_path: str | None
    target_path: str | None
    rule: str | None
    message: str

    def __str__(self) -> str:
        ends = [p for p in (self.source_path, self.target_path) if p is not None]
        where = " -> ".join(short(p) or "/" for p in ends)
        rule = f" ({self.rule})" if self.rule else ""
        return f"{self.severity}: {self.code} {self.effect} {where}: {self.message}{rule}"


class Cause(NamedTuple):
    """What one rule does to some places for one reason.

    Attributes:
        note: The note of the first place.
        also: Those of the others.
    """

    note: Note
    also: tuple[Note, ...]

    def __str__(self) -> str:
        more = f" (and {len(self.also)} more)" if self.also else ""
        return f"{self.note}{more}"


def nearest(notes: Iterable[Note], at: str, end: str) -> Note | None:
    """Return the note whose path names a place, or the nearest that it stands in.

    `end` is the path: `source_path` or `target_path`.
    """
    found = ((getattr(note, end), note) for note in notes)
    named = [(len(place), note) for place, note in found if place and within(place, at)]
    return max(named, key=lambda one: one[0])[1] if named else None


_TOGETHER = ("lost", "changed", "repeated")
# Whose messages differ by names or values alone.
_OF_VALUES = ("renamed", "inconsistent", "retimed")


def causes(notes: Iterable[Note]) -> tuple[Cause, ...]:
    """Put notes together that one rule makes for one reason; each error stands on its own."""
    found: dict[Any, list[Note]] = {}
    for note in notes:
        cause: Any = id(note)
        if note.effect in _TOGETHER and note.severity != "error":
            message = "" if note.code in _OF_VALUES else note.message
            cause = note.code, note.effect, note.severity, note.rule, message
        found.setdefault(cause, []).append(note)
    return tuple(Cause(first, tuple(also)) for first, *also in found.values())


# The severity of some codes.
_SEVERITY: dict[str, Severity] = {
    # With these, calls and results no longer pair, which providers refuse.
    **dict.fromkeys(("unpaired", "unsigned", "duplicate-id"), "error"),
    **dict.fromkeys(("bad-arguments", "bad-schema"), "warning"),  # carried as they are
    # It means the same.
    **dict.fromkeys(("re-encoded", "rounded", "retimed", "schema-renewed"), "info"),
}


def asked(key: str) -> str:
    """Say that something was added to a request for a stream."""
    return f"`{key}` asks for what a stream tells only then"


@functools.lru_cache(512)  # of few words
def severity_of(effect: Effect, code: str = "", weight: Weight = "") -> Severity:
    """Return the severity of a note: of its weight, its code, or the usual one of its effect."""
    if weight:
        return "error" if weight == "grave" else "info"
    return _SEVERITY.get(code) or ("warning" if effect in ("lost", "changed") else "info")


# What several places say of a loss.
UNKNOWN_KEY = "no picture names this key, and the target has no place for it"
NO_MESSAGE = "this is no message of the conversation, and the target has no place for it"
# What several places say of messages.
LEFT_OUT = "a message of which nothing can be written is left out"
NO_WORD = "text without a word is left out"
BEHIND_CALL = "a result stands right after its call in the target"
ONE_ROLE = "two messages of one role become one"


def no_place(field: str) -> str:
    """Say that the target has no place for a field."""
    return f"the target has no place for `{field}`"


def refused(key: str) -> str:
    """Say that a dialect reads a key, and that its present version or this model refuses it."""
    return f"the present version of the API, or this model, refuses `{key}`"


def own_field(field: str, source: str = "the source") -> str:
    """Say that only the source, and the dialects of its family, have a field."""
    return f"`{field}` is a field of {source} alone"


def foreign(origin: Any) -> str:
    """Say that a value is opaque to all but its origin."""
    return f"only {origin} can read this"


NOWHERE = (None, None)  # the owner and the key of a note that points to no place of the output


class Draft:
    """A note in the making: its target is found once the body is finished."""

    __slots__ = ("code", "effect", "message", "owner", "place", "rule", "source", "weight")

    def __init__(
        self,
        code: str,
        effect: Effect,
        source: At | None,
        rule: Any,
        message: str,
        owner: Any = None,
        place: Any = None,
        weight: Weight = "",
    ) -> None:
        self.weight = weight
        self.code, self.effect, self.source = code, effect, source
        self.rule, self.message, self.owner, self.place = rule, message, owner, place
