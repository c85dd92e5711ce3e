"""What commands read and print: JSON files, standard input and output, notes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from .. import jsontext
from ..loading import rulesources
from ..notes import Note, causes

OK, FAILED, USAGE, FORBIDDEN = 0, 1, 2, 3
LINES = (
    "this command takes one: give it a line. `--unit session` takes a session file, "
    "`--unit stream` a stream, and `diff --replay` a log of payloads"
)

SIZE = 65_536  # bytes that are read at once
EVENT = (b"data:", b"event:")  # how a server-sent event begins


class Stop(Exception):
    """Ends the command with a message and an exit status."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


def hold_rules(*directories: str) -> None:
    """Refuse directories that hold no rule files. Raises Stop."""
    for directory in directories:
        if Path(directory).is_dir() and not any(Path(directory).glob("*.yaml")):
            raise Stop(USAGE, f"`{directory}` is no directory that holds rule files (*.yaml)")


def bar() -> Any:
    """Return what makes a bar of progress, where a person looks and `tqdm` is installed."""
    if not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        print("a bar of progress needs `pip install 'wireglot[batch]'`", file=sys.stderr)
        return None
    return tqdm


def watched(dialects: Sequence[str]) -> Iterable[str]:
    """Return dialects that are gone through, which takes minutes, with a bar of progress."""
    made = bar() if len(dialects) > 1 else None
    return dialects if made is None else made(dialects, unit=" dialects", dynamic_ncols=True)


def own(directory: str | None) -> str | None:
    """Return a directory of the user's rule files; None where it is that of the packaged ones.

    Raises Stop.
    """
    if directory is None:
        return None
    hold_rules(directory)
    packaged = rulesources.packaged_folder()
    same = os.path.isdir(directory) and os.path.samefile(directory, packaged)
    return None if same else directory


def body(file: str) -> Any:
    """Return the JSON value of a file; `-` is standard input. Raises Stop."""
    return parsed(read(file), named(file))


def named(file: str) -> str:
    """Return what a message calls a file."""
    return "stdin" if file == "-" else file


def read(name: str) -> bytes:
    """Return the bytes of a file; `-` is standard input. Raises Stop."""
    return b"".join(chunks(name))


def said(name: str) -> str:
    """Return the text of a file; `-` is standard input. Raises Stop."""
    return text(read(name), named(name))


def chunks(name: str) -> Iterator[bytes]:
    """Yield the bytes of a file as they come; `-` is standard input. Raises Stop."""
    if name == "-" and sys.stdin is None:
        raise Stop(USAGE, "stdin is closed; name a FILE")
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as file:
            taken: Callable[[int], bytes] = getattr(file, "read1", file.read)
            while data := taken(SIZE):
                yield data
    except OSError as error:
        raise Stop(USAGE, f"`{name}` cannot be read: {error.strerror}") from None


def text(data: bytes, name: str) -> str:
    """Return bytes as text, a byte order mark left out. Raises Stop."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Stop(FAILED, f"`{name}` is no JSON: byte {error.start} is no UTF-8") from None


def parsed(data: bytes, name: str) -> Any:
    """Return the JSON value that bytes are. Raises Stop."""
    try:
        return jsontext.load(text(data, name))
    except json.JSONDecodeError as error:
        message = f"line {error.lineno} column {error.colno}: {error.msg}"
        if not data.strip():
            message = "it is empty"
        elif error.msg == "Extra data" and (count := _values(data)):
            message = f"it holds {count} JSON values, one a line; {LINES}"
        elif data.lstrip().startswith(EVENT):
            message += "; events of a stream are read with `--unit stream`"
    except RecursionError:
        message = "it is nested too deeply"
    except ValueError as error:
        message = str(error)
    raise Stop(FAILED, f"`{name}` is no JSON: {message}")


def _values(data: bytes) -> int:
    """Count the JSON values of which each line of some bytes is one; 0 where a line is none."""
    count = 0
    for line in data.decode("utf-8", "replace").split("\n"):
        if line.strip():
            try:
                json.loads(line)
            except (ValueError, RecursionError):
                return 0
            count += 1
    return count


def dump(body: object, indent: int | None) -> bytes:
    """Return a JSON value and a newline, as JSON.stringify writes it. Raises Stop."""
    separators = (",", ":") if indent is None else (",", ": ")
    try:
        text = json.dumps(
            body, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
        )
    except (ValueError, RecursionError) as error:
        raise Stop(FAILED, f"the result cannot be written as JSON: {error}") from None
    # A lone surrogate cannot stand in UTF-8; JSON.stringify escapes it in the same way.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def put(out: BinaryIO, data: bytes) -> None:
    """Write all bytes to what is open, at once."""
    while data:  # unbuffered, a write may end early
        data = data[out.write(data) :]
    out.flush()


@contextmanager
def opened(name: str | None) -> Iterator[BinaryIO]:
    """Open a file that is written, or give standard output, which stays open. Raises Stop."""
    if name is None:
        yield sys.stdout.buffer
        return
    try:
        with open(name, "wb") as out:
            yield out
    except OSError as error:
        raise Stop(USAGE, f"`{name}` cannot be written: {error.strerror}") from None


def write(data: bytes, name: str | None) -> None:
    """Write all bytes to a file, or to standard output. Raises Stop."""
    with opened(name) as out:
        put(out, data)


def say(text: str, name: str | None = None) -> None:
    """Write a text as `write` does its bytes; half of a surrogate pair is escaped."""
    write(text.encode("utf-8", "backslashreplace"), name)


def print_list(items: Sequence[Any]) -> None:
    """Print a JSON list with an item on each line."""
    lines = ",\n".join(map(json.dumps, items))
    print(f"[\n{lines}\n]" if lines else "[]")


def print_notes(notes: Sequence[Note], form: str) -> None:
    """Print notes to standard error, as `text` or as `json`."""
    if form == "json":
        print(json.dumps([note._asdict() for note in notes]), file=sys.stderr)
    elif form == "text":
        for cause in causes(notes):
            print(cause, file=sys.stderr)
