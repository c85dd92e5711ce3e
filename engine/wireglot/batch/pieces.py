"""What becomes of a piece of lines: lines of results, of what was refused, and of notes."""

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
from .lines import Piece, Place, compressed

Key = tuple[str, str, str]  # severity, code and effect of notes


class Count(NamedTuple):
    """How many notes there are of a key, on how many lines, and where the first, as `FILE:LINE`."""

    notes: int
    lines: int
    first: str

    def plus(self, other: Count) -> Count:
        """Return both together; this one came first."""
        return Count(self.notes + other.notes, self.lines + other.lines, self.first)


class Output(NamedTuple):
    """How results are written; the ending of `name` tells whether packed, or as a table."""

    name: str
    with_notes: bool = False  # notes are written, too
    aside: bool = False  # a line with a note that the policy forbids is refused, and does not stop


class Tally(NamedTuple):
    """What was done, with a piece or so far. The journal of a run has these names, too."""

    after: Place  # where the next piece begins
    read: int  # bytes of the files, as they lie there
    good: int  # lines that were converted
    bad: int  # lines that were refused
    blank: int
    counts: dict[Key, Count]  # of notes
    sizes: tuple[int, ...] = (0, 0, 0)  # in bytes, of results, refused lines and notes

    def plus(self, other: Tally) -> Tally:
        """Return both together; this one came first."""
        counts = dict(self.counts)
        for key, count in other.counts.items():
            counts[key] = counts[key].plus(count) if key in counts else count
        done = (self.good + other.good, self.bad + other.bad, self.blank + other.blank)
        sizes = tuple(map(operator.add, self.sizes, other.sizes))
        return Tally(other.after, other.read, *done, counts, sizes)

    def as_json(self) -> Any:
        """Return it as a journal has it."""
        counts = [[*key, *count] for key, count in self.counts.items()]
        return {**self._asdict(), "counts": counts}

    @classmethod
    def from_json(cls, journal: Any) -> Tally:
        """Return what a journal has; raises LookupError, TypeError for what is none."""
        counts = {tuple(one[:3]): Count(*one[3:]) for one in journal["counts"]}
        return cls(**{**journal, "after": Place(*journal["after"]), "counts": counts})


class PieceResult(NamedTuple):
    """What was made of a piece; where `stop` says why nothing may follow, nothing of it counts."""

    texts: tuple[bytes, bytes, bytes]  # to write: results, refused lines, notes
    done: Tally
    stop: str = ""


def convert_piece(output: Output, converter: Converter, piece: Piece) -> PieceResult:
    """Convert the lines of a piece, up to one that stops the run."""
    results: list[str] = []
    refused: list[str] = []
    notes: list[str] = []
    counts: dict[Key, Count] = {}
    blank, stop, table = 0, "", output.name.endswith(tables.PARQUET)
    for number, line in enumerate(piece.lines, piece.first):
        if line.isspace():
            blank += 1
            continue
        content = line.rstrip(b"\r\n")
        text = content.removeprefix(codecs.BOM_UTF8) if number == 1 else content
        converted = converter.text(text)
        if converted.error is None:
            value = converted.value
            results.append(tables.output_row(converted) if table else jsontext.stringify(value))
            _count(counts, converted.notes, f"{piece.file}:{number}")
            if output.with_notes:
                where = {"file": piece.file, "line": number}
                notes += [jsontext.stringify(where | note._asdict()) for note in converted.notes]
        elif isinstance(converted.error, PolicyError) and not output.aside:
            stop = f"{piece.file}:{number}: {converted.error}"
            break
        else:
            refused.append(_refused(piece.file, number, str(converted.error), content))
    texts = (compressed(_encode(results), output.name), _encode(refused), _encode(notes))
    count, sizes = (len(results), len(refused), blank), tuple(map(len, texts))
    return PieceResult(texts, Tally(piece.after, piece.read, *count, counts, sizes), stop)


def _refused(file: str, number: int, reason: str, line: bytes) -> str:
    """Return the JSON line of a refused one: where it stood, why, and what it was."""
    try:
        content = {"text": line.decode()}
    except UnicodeDecodeError:
        content = {"base64": base64.b64encode(line).decode()}
    return jsontext.stringify({"file": file, "line": number, "reason": reason, **content})


def _count(counts: dict[Key, Count], notes: Iterable[Note], place: str) -> None:
    in_line: dict[Key, int] = {}
    for note in notes:
        key: Key = (note.severity, note.code, note.effect)
        in_line[key] = in_line.get(key, 0) + 1
    for key, number in in_line.items():
        counts[key] = counts.get(key, Count(0, 0, place)).plus(Count(number, 1, place))


def _encode(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
