"""Lines of files, in pieces: JSON lines as they are or compressed, standard input, tables."""

from __future__ import annotations

import glob
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..errors import UsageError, library
from . import tables
from .tables import DATASET, PARQUET, Broken

ENDINGS = (".jsonl", ".ndjson", ".json", PARQUET)
PACKED = (".gz", ".zst")
PIECE_LINES, PIECE_BYTES = 256, 1 << 20  # a piece ends with the first of the two that is reached
BUFFER = 1 << 18
STDIN = "-"
# What knows zstd: the standard library, or what brings it to an older one.
ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


class Place(NamedTuple):
    """Where the next line stands: in which of the files, behind how many lines and bytes of it."""

    file: int = 0
    lines: int = 0
    bytes: int = 0


class Piece(NamedTuple):
    """Some lines of one file.

    Attributes:
        file: The name of the file.
        first: The number of the first line, from 1.
        lines: The lines, with what ends them.
        after: Where the next piece begins.
        read: The bytes of the files that were read so far, as they lie there.
    """

    file: str
    first: int
    lines: list[bytes]
    after: Place
    read: int


def files(names: Sequence[str]) -> list[str]:
    """Return the inputs that names stand for: files, those of folders and globs, data sets, `-`.

    No name is standard input. Raises UsageError where nothing is there.
    """
    found: list[str] = []
    for name in names or (STDIN,):
        if not _is_file(name) or os.path.isfile(name):
            found.append(name)
            continue
        whole = f"{glob.escape(name)}/**" if os.path.isdir(name) else name
        inside = [path for path in sorted(glob.glob(whole, recursive=True)) if os.path.isfile(path)]
        if os.path.isdir(name):
            inside = [path for path in inside if ending(path)]
        if not inside:
            kinds = ", ".join(ENDINGS)
            raise UsageError(f"there is no file `{name}`, and no folder of {kinds} files")
        found += inside
    return found


def ending(name: str) -> str:
    """Return the ending of a file of lines, without that of a compression; "" of any other."""
    path = Path(name)
    last = path.with_suffix("").suffix if path.suffix in PACKED else path.suffix
    return last if last in ENDINGS else ""


def size(names: Sequence[str]) -> int | None:
    """Return how many bytes files have together; None where that is not known."""
    return sum(map(_size, names)) if all(map(_is_file, names)) else None


def _is_file(name: str) -> bool:
    """Tell whether a name is that of a file, and not of standard input or a data set."""
    return name != STDIN and not name.startswith(DATASET)


def _size(name: str) -> int:
    """Return the bytes of a file; 0 of standard input and data sets, where nobody knows."""
    return os.path.getsize(name) if _is_file(name) else 0


def pieces(names: Sequence[str], start: Place) -> Iterator[Piece]:
    """Yield the lines of files from a place on.

    Where a piece ends follows from where it begins, so that a run that goes on makes the same ones.
    Raises Broken, and UsageError for a library that is missing.
    """
    bytes_before = sum(map(_size, names[: start.file]))
    for number, name in enumerate(names[start.file :], start.file):
        at = start if number == start.file else Place(number)
        with _open(name, at) as (lines, bytes_read):
            line_number, offset = at.lines, at.bytes
            while True:
                taken, length = _take(lines)
                if not taken:
                    break
                first = line_number + 1
                line_number, offset = line_number + len(taken), offset + length
                place = Place(number, line_number, offset)
                yield Piece(name, first, taken, place, bytes_before + bytes_read())
        bytes_before += _size(name)


def _take(lines: Iterator[bytes]) -> tuple[list[bytes], int]:
    """Take the lines of the next piece, none at the end; also how many bytes they have."""
    taken: list[bytes] = []
    length = 0
    for line in lines:
        taken.append(line)
        length += len(line)
        if len(taken) == PIECE_LINES or length >= PIECE_BYTES:
            break
    return taken, length


@contextmanager
def _open(name: str, at: Place) -> Iterator[tuple[Iterator[bytes], Any]]:
    """Give the lines from a place on, and what tells how many bytes were read. Raises Broken."""
    raw: IO[bytes] | None = None
    try:
        if name == STDIN:
            if sys.stdin is None:
                raise UsageError("stdin is closed; name a file")
            yield iter(sys.stdin.buffer), lambda: 0
            return
        if name.startswith(DATASET):
            yield tables.dataset_rows(name, at.lines), lambda: 0
            return
        raw = open(name, "rb")  # noqa: SIM115
        lines = _line_iterator(raw, name, at)
        yield lines, raw.tell
    except _read_errors(name) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Broken(f"`{name}` cannot be read to its end: {reason}") from None
    finally:
        if raw is not None:
            raw.close()


def _line_iterator(raw: IO[bytes], name: str, at: Place) -> Iterator[bytes]:
    """Return the lines of an open file from a place on, unpacked, or the rows of a table."""
    if name.endswith(PARQUET):
        return tables.rows(raw, at.lines, PIECE_LINES)
    if not (name.endswith(PACKED) and _size(name)):  # in an empty file nothing is packed
        raw.seek(at.bytes)
        return iter(raw)
    unpacked: Any = gzip.GzipFile(fileobj=raw) if name.endswith(".gz") else _zstd().ZstdFile(raw)
    stream = io.BufferedReader(unpacked, BUFFER)
    left = at.bytes
    while left:  # what was done is read once more: only the beginning of such a file is known
        length = len(stream.read(min(left, BUFFER)))
        left = left - length if length else 0
    return iter(stream)


def _zstd() -> Any:
    """Return the module that knows zstd. Raises UsageError where it is not installed."""
    return library(ZSTD, "what zstd has packed needs `pip install 'wireglot[batch]'`")


def _read_errors(name: str) -> tuple[type[Exception], ...]:
    """Return the exceptions that say that a file of this name cannot be read to its end."""
    found = (OSError, EOFError, zlib.error)
    return (*found, _zstd().ZstdError) if name.endswith(".zst") else found


def unzstd(data: bytes) -> bytes:
    """Return what zstd has packed. Raises UsageError where it is broken or nothing reads it."""
    try:
        found: bytes = _zstd().decompress(data)
    except _read_errors(".zst") as error:
        raise UsageError(f"what zstd has packed is broken: {error}") from None
    return found


def compressed(data: bytes, name: str) -> bytes:
    """Return bytes packed as the ending of a name wants; packed pieces may follow one another."""
    if not data or not name.endswith(PACKED):
        return data
    if name.endswith(".gz"):
        return gzip.compress(data, 6, mtime=0)
    data_out: bytes = _zstd().compress(data)
    return data_out
