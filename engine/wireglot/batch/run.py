"""One run over files: it writes as it goes, and goes on where one that was killed has stopped."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NamedTuple

from ..errors import UsageError, WireglotError
from . import lines, tables
from .job import Converter
from .lines import STDIN, Place
from .pieces import Output, PieceResult, Tally, convert_piece
from .pool import map_pieces

SAVE_SECONDS = 0.5  # seconds after which what is done is written down again


class Stopped(WireglotError):
    """Raised when the policy forbids a note; a run can go on from there."""


class Files(NamedTuple):
    """Where a run writes: the result, the lines that were refused, and notes.

    `out` is None for standard output and `refused` for standard error; `notes` for nowhere.
    """

    out: str | None
    refused: str | None
    notes: str | None

    @property
    def part(self) -> str:
        """What has been written so far; it gets its name when it is whole."""
        return f"{self.out}.part"

    @property
    def journal(self) -> str:
        """What was done, for a run that goes on."""
        return f"{self.out}.resume"


NOTHING_DONE = Tally(Place(), 0, 0, 0, 0, {})


def run(
    converter: Converter,
    names: Sequence[str],
    files: Files,
    *,
    workers: int,
    aside: bool = False,
    resume: bool = False,
    force: bool = False,
    show: Callable[[Tally], None] = lambda done: None,
) -> Tally:
    """Convert the lines of files into one, in their order.

    Args:
        converter: What converts a line.
        names: The files; `-` is standard input.
        files: Where it writes.
        workers: How many processes convert.
        aside: Whether a line with a note that the policy forbids is refused, instead of stopping.
        resume: Whether it goes on where a run with the same files and rules was stopped.
        force: Whether it writes over files that are there, and begins anew.
        show: Called after each piece, with what is done so far.

    Returns:
        What was done, by all runs together.

    Raises:
        Stopped: The policy forbids a note. What stands before is written, and a run can go on.
        tables.Broken: A file cannot be read to its end; the same holds.
        UsageError: A file is there, or a run cannot go on with what it is given.
    """
    output = Output(files.out or "", files.notes is not None, aside)
    with _Outputs(converter, names, files, resume, force) as outputs:
        pieces = lines.pieces(names, outputs.done.after)
        work = functools.partial(convert_piece, output)
        for result in map_pieces(converter, work, pieces, workers):
            if result.stop:
                raise Stopped(result.stop)
            show(outputs.add(result))
    return outputs.done


class _Outputs:
    """The files that a run writes, and its journal: a context. Raises UsageError."""

    def __init__(
        self, converter: Converter, names: Sequence[str], files: Files, resume: bool, force: bool
    ) -> None:
        self.files, self.done, self.saved = files, NOTHING_DONE, 0.0
        self.key = _run_key(converter, names, files)
        self.open: list[IO[bytes] | None] = []
        self._stack = contextlib.ExitStack()
        self.resumes = resume and os.path.exists(files.journal)
        if self._is_table:
            tables.parquet()  # what it needs is missed before the work
        if resume and STDIN in names:
            raise UsageError("standard input cannot be read again: a run over it cannot go on")
        self._require_files()
        if self.resumes:
            self._load_journal()
        elif not force and not (resume and os.path.exists(files.part)):  # killed as it began
            self._require_new()

    @property
    def _is_table(self) -> bool:
        """Whether lines become a table when all of them are there."""
        return str(self.files.out).endswith(tables.PARQUET)

    def _require_files(self) -> None:
        """Raise UsageError for what is there and no file: it can be neither cut nor removed.

        Where results go to standard output, a pipe will do.
        """
        for name in filter(None, self.files) if self.files.out is not None else ():
            if os.path.exists(name) and not os.path.isfile(name):
                raise UsageError(f"`{name}` is a folder or a device; name a file")

    def _require_new(self) -> None:
        """Raise UsageError where a file is there that would be written over."""
        files = self.files
        if files.out is not None and os.path.exists(files.part):
            raise UsageError(
                f"`{files.part}` is there, of a run that was stopped: `--resume` goes on, "
                "`--force` begins anew"
            )
        for name in filter(None, (files.out, files.refused, files.notes)):
            if os.path.isfile(name):
                raise UsageError(f"`{name}` is there; `--force` writes over it")

    def _load_journal(self) -> None:
        """Take up what the stopped run had done. Raises UsageError where it was another one."""
        try:
            with open(self.files.journal, encoding="utf-8") as file:
                journal = json.load(file)
            key = journal["key"]
            changed = [name for name, value in self.key.items() if key.get(name) != value]
            self.done = Tally.from_json(journal["done"])
        except (ValueError, LookupError, TypeError):
            raise UsageError(f"`{self.files.journal}` is no journal of a run") from None
        if changed:
            raise UsageError(
                f"the run that was stopped had other {', '.join(changed)}: `--force` begins anew"
            )

    def __enter__(self) -> _Outputs:
        names = (self.files.part if self.files.out else None, *self.files[1:])
        fresh = [name for name in names if name is not None and not os.path.exists(name)]
        try:
            self.open = [None if name is None else self._open_locked(name) for name in names]
        except BaseException:
            self._stack.close()
            for new in fresh if not self.resumes else ():
                with contextlib.suppress(OSError):
                    os.remove(new)
            raise
        if self.files.out is not None:
            for file, name, size in zip(self.open, names, self.done.sizes, strict=True):
                if file is not None:
                    self._truncate(file, str(name), size)
            self.save()
        return self

    def _open_locked(self, name: str) -> IO[bytes]:
        """Open a file as it is, and lock it. Raises UsageError, where another run has it, too."""
        exists = os.path.exists(name) or self.resumes
        mode = "wb" if self.files.out is None else "r+b" if exists else "xb"
        try:
            file: IO[bytes] = self._stack.enter_context(open(name, mode))  # noqa: SIM115
            _lock(file)
        except BlockingIOError:
            raise UsageError(f"`{name}` is written by another run") from None
        except OSError as error:
            raise UsageError(f"`{name}` cannot be written: {error.strerror}") from None
        return file

    @staticmethod
    def _truncate(file: IO[bytes], name: str, size: int) -> None:
        """Cut a file at the size that the journal knows, and go to its end. Raises UsageError."""
        if file.seek(0, os.SEEK_END) < size:
            raise UsageError(f"`{name}` is shorter than it was: `--force` begins anew")
        file.truncate(size)
        file.seek(size)

    def add(self, result: PieceResult) -> Tally:
        """Write what was made of a piece. Raises Broken where a file takes no more."""
        standard = (sys.stdout.buffer, sys.stderr.buffer, None)  # for what no file is named for
        with self._broken_if_unwritable():
            for file, fallback, data in zip(self.open, standard, result.texts, strict=True):
                if (into := file or fallback) is not None:
                    into.write(data)
            self.done = self.done.plus(result.done)
            if time.monotonic() - self.saved > SAVE_SECONDS:
                self.save()
        return self.done

    @contextlib.contextmanager
    def _broken_if_unwritable(self) -> Iterator[None]:
        """Turn an OSError into a Broken that names the file; `cli` tells of standard output."""
        try:
            yield
        except OSError as error:
            if self.files.out is None:
                raise
            told = f"`{self.files.part}` cannot be written: {error.strerror}"
            raise tables.Broken(told) from None

    def save(self) -> None:
        """Write the journal; a run that goes on cuts off what files hold beyond it."""
        if self.files.out is None:
            return
        for file in filter(None, self.open):
            file.flush()
        state = {"key": self.key, "done": self.done.as_json()}
        with open(f"{self.files.journal}.new", "w", encoding="utf-8") as journal:
            json.dump(state, journal)
        os.replace(f"{self.files.journal}.new", self.files.journal)
        self.saved = time.monotonic()

    def __exit__(self, error: Any, *_: object) -> None:
        if error is not None:
            with contextlib.suppress(OSError):  # what cannot be written is said already
                self.save()
            with contextlib.suppress(OSError):
                self._stack.close()
            return
        with self._broken_if_unwritable():
            self._stack.close()
        if self.files.out is not None:
            whole = self.files.part
            if self._is_table:
                tables.write_table(self.files.part, whole := f"{self.files.out}.new")
            os.replace(whole, self.files.out)
            for name in (self.files.journal, self.files.part):  # as long as the one, the other
                with contextlib.suppress(FileNotFoundError):
                    os.remove(name)
        if self.files.refused is not None and not self.done.bad:
            if os.path.isfile(self.files.refused):
                os.remove(self.files.refused)


def _lock(file: IO[bytes]) -> None:
    """Lock a file until it is closed or the process ends. Raises BlockingIOError if another does.

    Where a system or a disk knows no locks, nothing is locked.
    """
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN):
            raise BlockingIOError from None


def _run_key(converter: Converter, names: Sequence[str], files: Files) -> dict[str, Any]:
    """Return what a run and one that goes on must have in common, as JSON; policies may differ."""
    job = converter.job
    words = ("source", "target", "unit", "model", "options", "at", "text")
    conversion = {word: getattr(job, word) for word in words}
    inputs = [(name, *_stat(name)) for name in names]
    key = {**conversion, "rules": converter.rules.hash, "files": inputs, "outputs": files[1:]}
    comparable: dict[str, Any] = json.loads(json.dumps(key))
    return comparable


def _stat(name: str) -> tuple[int | str, ...]:
    """Return what differs where an input is another one by now."""
    if name == STDIN:
        return 0, 0
    if name.startswith(tables.DATASET):
        return (tables.version(name),)
    found = os.stat(name)
    return found.st_size, found.st_mtime_ns
