"""What a file holds besides its messages: found when it is read, put back when it is written."""

from __future__ import annotations

from typing import Any

from ..interpreter.jobs import ReadJob, WriteJob
from ..interpreter.views import recalled
from ..language.lenses import Misfit, same
from ..language.model import Dialect
from ..language.picture import ABSENT
from ..language.shape import Case
from ..trail import At, keys_of, value_at
from . import replay, tree


class File:
    """What reading a file found besides its messages."""

    def __init__(self, dialect: Dialect) -> None:
        self.cases = dialect.message_cases  # pictures of messages
        self.none = dialect.conversation.unsaid if dialect.conversation is not None else []
        self.places: list[At] | None = None  # of the messages; None where they have no lines
        self.numbers: list[int] = []
        self.late: set[int] = set()  # messages of lines that stand behind those of later ones
        self.kept: dict[int, tuple[At, Any]] = {}  # what is no message
        self.told: dict[int, dict[str, Any]] = {}  # what a message does otherwise than the others
        self.head = 0  # the message of which the head was taken
        self.drawn: dict[int, dict[str, Any]] = {}  # what was drawn out of a message
        self.log: replay.Replay | None = None
        self.instead: int | None = None  # the line that says messages instead of those before it

    def place(self, at: At, i: int) -> At:
        """Return where a message stands in the file."""
        return self.places[i] if self.places is not None else (*at, i)

    def number(self, i: int) -> int:
        """Return the number that tells what stands before a message, and what behind it."""
        return self.numbers[i] if self.numbers else i

    def keep(self, reader: ReadJob, i: int, place: At, item: Any, misfit: Misfit) -> None:
        """Keep what is no message; one that looks like a message is noted."""
        whole = {**item, **self.drawn[i]} if i in self.drawn else item
        self.kept[self.number(i)] = (place, whole)
        if self.like(item):
            reader.notes.append(("unfit", "kept", place, misfit.pos, misfit.reason))

    def like(self, item: Any) -> bool:
        """Tell whether all fixed words of a message stand in a line."""
        return self.role(item) != ""

    def fits(self, item: Any) -> bool:
        """Tell whether a line looks like a message, and has no key that this must not have."""
        return any(like(case, item) and not barred(case, item) for case in self.cases)

    def role(self, item: Any, cases: list[Case] | None = None) -> str:
        """Return the role of a message by its fixed words; empty where it looks like none."""
        known = self.cases if cases is None else cases
        found = (case.name for case in known if like(case, item))
        return next(found, "").partition(".")[0]

    def remember(self, reader: ReadJob, i: int, message: dict[str, Any]) -> None:
        """Let a message remember its number, where something was kept right before it.

        And what it does otherwise than the others: the line before it, what it says of the head.
        """
        told = self.told.get(i, {})
        if self.late or self.instead is not None or self.number(i) - 1 in self.kept:
            told = {**told, "line": self.number(i)}
        if i in self.late:
            told["late"] = True
        for word, value in told.items():
            reader.remember(message, "", word, value)


def like(case: Case, item: Any) -> bool:
    """Tell whether all fixed words of a case stand in a line."""
    found = False
    for path, words in case.sides[1].items():
        if not isinstance(words, tuple) or ABSENT in words:
            continue
        value, found = value_at(item, keys_of(path), ABSENT), True
        if not any(value is not ABSENT and same(word, value) for word in words):
            return False
    return found


def barred(case: Case, item: Any) -> bool:
    """Tell whether a key stands in a line that must not stand in a case."""
    gone = (path for path, words in case.sides[1].items() if words == (ABSENT,))
    return any(value_at(item, keys_of(path)) is not None for path in gone)


def between(
    writer: WriteJob, wires: list[Any], asides: dict[int, Any], off: set[int]
) -> list[tuple[Any, bool]]:
    """Put what was kept back between the messages; say of each line whether it is on the path."""
    found: list[tuple[Any, bool]] = []
    waiting = sorted(asides)
    told = [told_of(writer, wire) for wire in wires]
    tree.move_summary_back(wires, told)

    def put_back(number: int | None) -> None:
        while waiting and (number is None or waiting[0] < number):
            item, on = asides[waiting[0]], waiting.pop(0) not in off
            found.append((dict(item) if isinstance(item, dict) else item, on))

    for wire, memory in zip(wires, told, strict=True):
        if "line" in memory:
            put_back(memory["line"])
        found.append((wire, True))
    put_back(None)
    return found


def told_of(writer: WriteJob, line: Any) -> dict[str, Any]:
    """Return what the message of a line remembers of it at home."""
    message = writer.line_messages.get(id(line), {})
    known = writer.same and "spelled" in message
    return recalled(writer, message) if known else {}
