"""What commands read and print: JSON files, standard input and output, notes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from .. import jsontext
from ..loading import rulesources
from ..notes import Note, causes

OK, FAILED, USAGE, FORBIDDEN = 0, 1, 2, 3
ONE_VALUE = (
    "this command takes one: give it a line. `--unit session` takes a session file, "
    "`--unit stream` a stream, and `diff --replay` a log of payloads"
)

CHUNK_BYTES = 65_536  # that are read at once
EVENT_FIELDS = (b"data:", b"event:")  # how a server-sent event begins


class Stop(Exception):
    """Raised to end the command with a message on stderr and an exit status."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


def require_rule_files(*directories: str) -> None:
    """Raise Stop for a directory without rule files; a zip file, or no such path, is let pass."""
    for directory in directories:
        if Path(directory).is_dir() and not any(Path(directory).glob("*.yaml")):
            raise Stop(USAGE, f"`{directory}` is no directory that holds rule files (*.yaml)")


def progress_bar() -> Any:
    """Return the class `tqdm`; None where stderr is no terminal, or it is not installed."""
    if not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        print("a bar of progress needs `pip install 'wireglot[batch]'`", file=sys.stderr)
        return None
    return tqdm


def own_rules(directory: str | None) -> str | None:
    """Return a directory of the user's rule files; None where it is that of the packaged ones.

    Raises Stop.
    """
    if directory is None:
        return None
    require_rule_files(directory)
    packaged = rulesources.packaged_folder()
    same = os.path.isdir(directory) and os.path.samefile(directory, packaged)
    return None if same else directory


def read_json(file: str) -> Any:
    """Return the JSON value of a file; `-` is standard input. Raises Stop."""
    return parse_json(read_bytes(file), display_name(file))


def display_name(file: str) -> str:
    """Return what a message calls a file: `stdin` for `-`."""
    return "stdin" if file == "-" else file


def read_bytes(name: str) -> bytes:
    """Return the bytes of a file; `-` is standard input. Raises Stop."""
    return b"".join(read_chunks(name))


def read_text(name: str) -> str:
    """Return the text of a file; `-` is standard input. Raises Stop."""
    return decode(read_bytes(name), display_name(name))


def read_chunks(name: str) -> Iterator[bytes]:
    """Yield the bytes of a file as they come; `-` is standard input. Raises Stop."""
    if name == "-" and sys.stdin is None:
        raise Stop(USAGE, "stdin is closed; name a FILE")
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else open(name, "rb") as file:
            # `read1` gives what a pipe has by now, and does not wait for the rest of a chunk.
            read: Callable[[int], bytes] = getattr(file, "read1", file.read)
            while data := read(CHUNK_BYTES):
                yield data
    except OSError as error:
        raise Stop(USAGE, f"`{name}` cannot be read: {error.strerror}") from None


def decode(data: bytes, name: str) -> str:
    """Return the text of a JSON file that was read, without a byte order mark. Raises Stop."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Stop(FAILED, f"`{name}` is no JSON: byte {error.start} is no UTF-8") from None


def parse_json(data: bytes, name: str) -> Any:
    """Return the JSON value that bytes are; `name` is for the message. Raises Stop."""
    try:
        return jsontext.load(decode(data, name))
    except json.JSONDecodeError as error:
        message = f"line {error.lineno} column {error.colno}: {error.msg}"
        if not data.strip():
            message = "it is empty"
        elif error.msg == "Extra data" and (count := _count_json_lines(data)):
            message = f"it holds {count} JSON values, one a line; {ONE_VALUE}"
        elif data.lstrip().startswith(EVENT_FIELDS):
            message += "; events of a stream are read with `--unit stream`"
    except RecursionError:
        message = "it is nested too deeply"
    except ValueError as error:
        message = str(error)
    raise Stop(FAILED, f"`{name}` is no JSON: {message}")


def _count_json_lines(data: bytes) -> int:
    """Return how many JSON values stand one a line; 0 where any line is none."""
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


def write_all(out: BinaryIO, data: bytes) -> None:
    """Write all bytes to what is open, at once."""
    while data:  # unbuffered, a write may end early
        data = data[out.write(data) :]
    out.flush()


@contextmanager
def open_output(name: str | None) -> Iterator[BinaryIO]:
    """Open a file that is written, or give standard output, which stays open. Raises Stop."""
    if name is None:
        yield sys.stdout.buffer
        return
    try:
        with open(name, "wb") as out:
            yield out
    except OSError as error:
        raise Stop(USAGE, f"`{name}` cannot be written: {error.strerror}") from None


def write_bytes(data: bytes, name: str | None) -> None:
    """Write all bytes to a file, or to standard output. Raises Stop."""
    with open_output(name) as out:
        write_all(out, data)


def write_text(text: str, name: str | None = None) -> None:
    """Write a text as `write_bytes` does; half of a surrogate pair is escaped. Raises Stop."""
    write_bytes(text.encode("utf-8", "backslashreplace"), name)


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
