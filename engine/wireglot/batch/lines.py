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
from .tables import NAMED, PARQUET, Broken

ENDINGS = (".jsonl", ".ndjson", ".json", PARQUET)
PACKED = (".gz", ".zst")
LINES, BYTES = 256, 1 << 20  # of a piece: it ends with the first of the two that is reached
BUFFER = 1 << 18
STDIN = "-"
# What knows zstd: the standard library, or what brings it to an older one.
ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


class Place(NamedTuple):
    """Where the next line stands: the number of the file, the lines and the bytes before it."""

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
    """Return what names stand for: files, folders and what is in them, globs, data sets, `-`.

    Those of a folder or glob are sorted. Raises UsageError where nothing is there.
    """
    found: list[str] = []
    for name in names or (STDIN,):
        if not _lies(name) or os.path.isfile(name):
            found.append(name)
            continue
        whole = f"{glob.escape(name)}/**" if os.path.isdir(name) else name
        inside = [one for one in sorted(glob.glob(whole, recursive=True)) if os.path.isfile(one)]
        if os.path.isdir(name):
            inside = [one for one in inside if ending(one)]
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
    return sum(map(_size, names)) if all(map(_lies, names)) else None


def _lies(name: str) -> bool:
    """Tell whether a name is that of a file, and not of standard input or a data set."""
    return name != STDIN and not name.startswith(NAMED)


def _size(name: str) -> int:
    return os.path.getsize(name) if _lies(name) else 0


def pieces(names: Sequence[str], begin: Place) -> Iterator[Piece]:
    """Yield the lines of files from a place on.

    Where a piece ends follows from where it begins, so that a run that goes on makes the same ones.
    Raises Broken, and UsageError for a library that is missing.
    """
    before = sum(map(_size, names[: begin.file]))
    for number, name in enumerate(names[begin.file :], begin.file):
        at = begin if number == begin.file else Place(number)
        with _reading(name, at) as (lines, told):
            seen, offset = at.lines, at.bytes
            while True:
                taken, length = _some(lines)
                if not taken:
                    break
                first, seen, offset = seen + 1, seen + len(taken), offset + length
                yield Piece(name, first, taken, Place(number, seen, offset), before + told())
        before += _size(name)


def _some(lines: Iterator[bytes]) -> tuple[list[bytes], int]:
    taken: list[bytes] = []
    length = 0
    for line in lines:
        taken.append(line)
        length += len(line)
        if len(taken) == LINES or length >= BYTES:
            break
    return taken, length


@contextmanager
def _reading(name: str, at: Place) -> Iterator[tuple[Iterator[bytes], Any]]:
    """Open a file at a line; give its lines, and what tells how many of its bytes were read."""
    raw: IO[bytes] | None = None
    try:
        if name == STDIN:
            if sys.stdin is None:
                raise UsageError("stdin is closed; name a file")
            yield iter(sys.stdin.buffer), lambda: 0
            return
        if name.startswith(NAMED):
            yield tables.stored(name, at.lines), lambda: 0
            return
        raw = open(name, "rb")  # noqa: SIM115
        lines = _opened(raw, name, at)
        yield lines, raw.tell
    except _broken(name) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Broken(f"`{name}` cannot be read to its end: {reason}") from None
    finally:
        if raw is not None:
            raw.close()


def _opened(raw: IO[bytes], name: str, at: Place) -> Iterator[bytes]:
    if name.endswith(PARQUET):
        return tables.rows(raw, at.lines, LINES)
    if not (name.endswith(PACKED) and _size(name)):  # in an empty file nothing is packed
        raw.seek(at.bytes)
        return iter(raw)
    inside: Any = gzip.GzipFile(fileobj=raw) if name.endswith(".gz") else _zstd().ZstdFile(raw)
    stream = io.BufferedReader(inside, BUFFER)
    left = at.bytes
    while left:  # what was done is read once more: only the beginning of such a file is known
        got = len(stream.read(min(left, BUFFER)))
        left = left - got if got else 0
    return iter(stream)


def _zstd() -> Any:
    return library(ZSTD, "what zstd has packed needs `pip install 'wireglot[batch]'`")


def _broken(name: str) -> tuple[type[Exception], ...]:
    """Return what is raised where a file of this name cannot be read to its end."""
    found = (OSError, EOFError, zlib.error)
    return (*found, _zstd().ZstdError) if name.endswith(".zst") else found


def unzstd(data: bytes) -> bytes:
    """Return what zstd has packed. Raises UsageError where it is broken or nothing reads it."""
    try:
        found: bytes = _zstd().decompress(data)
    except _broken(".zst") as error:
        raise UsageError(f"what zstd has packed is broken: {error}") from None
    return found


def packed(data: bytes, name: str) -> bytes:
    """Return bytes as a file of this name has them; what was packed one by one stands together."""
    if not data or not name.endswith(PACKED):
        return data
    if name.endswith(".gz"):
        return gzip.compress(data, 6, mtime=0)
    made: bytes = _zstd().compress(data)
    return made
