"""What becomes of some lines: JSON lines of what came out, of what was refused, and of notes."""

from __future__ import annotations

import base64
import codecs
import operator
from collections.abc import Iterable
from typing import Any, NamedTuple

from .. import jsontext
from ..notes import Note
from ..results import PolicyError
from . import tables
from .job import Converter
from .lines import Piece, Place, packed

Key = tuple[str, str, str]  # severity, code and effect of notes


class Count(NamedTuple):
    """How often something was noted: how many notes, on how many lines, and where first."""

    notes: int
    lines: int
    first: str

    def plus(self, other: Count) -> Count:
        """Return both together; this one came first."""
        return Count(self.notes + other.notes, self.lines + other.lines, self.first)


class Way(NamedTuple):
    """How lines are written: the name of the file, whether notes are, what stops."""

    name: str
    told: bool = False
    aside: bool = False  # a line with a note that the policy forbids is refused, and does not stop


class Sum(NamedTuple):
    """What was done, with a piece or so far; `sizes` are those of the bytes that were made."""

    after: Place
    read: int
    good: int
    bad: int
    blank: int
    counts: dict[Key, Count]
    sizes: tuple[int, ...] = (0, 0, 0)

    def plus(self, other: Sum) -> Sum:
        """Return both together; this one came first."""
        counts = dict(self.counts)
        for key, count in other.counts.items():
            counts[key] = counts[key].plus(count) if key in counts else count
        done = (self.good + other.good, self.bad + other.bad, self.blank + other.blank)
        sizes = tuple(map(operator.add, self.sizes, other.sizes))
        return Sum(other.after, other.read, *done, counts, sizes)

    def as_json(self) -> Any:
        """Return what a journal has of it."""
        counts = [[*key, *count] for key, count in self.counts.items()]
        return {**self._asdict(), "counts": counts}

    @classmethod
    def of(cls, told: Any) -> Sum:
        """Return what a journal tells of."""
        counts = {tuple(one[:3]): Count(*one[3:]) for one in told["counts"]}
        return cls(**{**told, "after": Place(*told["after"]), "counts": counts})


class Made(NamedTuple):
    """What was made of a piece: the bytes for the result, of what was refused, and of notes.

    With `stop`, why nothing may follow, nothing of it counts.
    """

    texts: tuple[bytes, bytes, bytes]
    done: Sum
    stop: str = ""


def lined(way: Way, converter: Converter, piece: Piece) -> Made:
    """Convert the lines of a piece."""
    out: list[str] = []
    refused: list[str] = []
    notes: list[str] = []
    counts: dict[Key, Count] = {}
    blank, stop, table = 0, "", way.name.endswith(tables.PARQUET)
    for number, line in enumerate(piece.lines, piece.first):
        if line.isspace():
            blank += 1
            continue
        bare = line.rstrip(b"\r\n")
        done = converter.text(bare.removeprefix(codecs.BOM_UTF8) if number == 1 else bare)
        if done.error is None:
            out.append(tables.row(done) if table else jsontext.stringify(done.value))
            _count(counts, done.notes, f"{piece.file}:{number}")
            if way.told:
                notes += _told(done.notes, piece.file, number)
        elif isinstance(done.error, PolicyError) and not way.aside:
            stop = f"{piece.file}:{number}: {done.error}"
            break
        else:
            refused.append(_refused(piece.file, number, str(done.error), bare))
    texts = (packed(_bytes(out), way.name), _bytes(refused), _bytes(notes))
    count, sizes = (len(out), len(refused), blank), tuple(map(len, texts))
    return Made(texts, Sum(piece.after, piece.read, *count, counts, sizes), stop)


def _refused(file: str, number: int, reason: str, line: bytes) -> str:
    """Return the line of a value that was refused: where it stood, why, and what it was."""
    try:
        what = {"text": line.decode()}
    except UnicodeDecodeError:
        what = {"base64": base64.b64encode(line).decode()}
    return jsontext.stringify({"file": file, "line": number, "reason": reason, **what})


def _told(notes: Iterable[Note], file: str, number: int) -> list[str]:
    where = {"file": file, "line": number}
    return [jsontext.stringify({**where, **note._asdict()}) for note in notes]


def _count(counts: dict[Key, Count], notes: Iterable[Note], where: str) -> None:
    here: dict[Key, int] = {}
    for note in notes:
        key: Key = (note.severity, note.code, note.effect)
        here[key] = here.get(key, 0) + 1
    for key, many in here.items():
        counts[key] = counts.get(key, Count(0, 0, where)).plus(Count(many, 1, where))


def _bytes(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
