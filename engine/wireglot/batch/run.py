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
from .pieces import Made, Sum, Way, lined
from .pool import over

OFTEN = 0.5  # seconds after which what is done is written down again


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


NOTHING = Sum(Place(), 0, 0, 0, 0, {})


def run(
    converter: Converter,
    names: Sequence[str],
    files: Files,
    *,
    workers: int,
    aside: bool = False,
    resume: bool = False,
    force: bool = False,
    seen: Callable[[Sum], None] = lambda done: None,
) -> Sum:
    """Convert the lines of files into one, in their order.

    Args:
        converter: What converts a line.
        names: The files; `-` is standard input.
        files: Where it writes.
        workers: How many processes convert.
        aside: Whether a line with a note that the policy forbids is refused, instead of stopping.
        resume: Whether it goes on where a run with the same files and rules was stopped.
        force: Whether it writes over files that are there, and begins anew.
        seen: Is told what is done so far, again and again.

    Returns:
        What was done, by all runs together.

    Raises:
        Stopped: The policy forbids a note. What stands before is written, and a run can go on.
        tables.Broken: A file cannot be read to its end; the same holds.
        UsageError: A file is there, or a run cannot go on with what it is given.
    """
    way = Way(files.out or "", files.notes is not None, aside)
    with _Writing(converter, names, files, resume, force) as writing:
        pieces = lines.pieces(names, writing.done.after)
        for made in over(converter, functools.partial(lined, way), pieces, workers):
            if made.stop:
                raise Stopped(made.stop)
            seen(writing.add(made))
    return writing.done


class _Writing:
    """The files that a run writes, and its journal."""

    def __init__(
        self, converter: Converter, names: Sequence[str], files: Files, resume: bool, force: bool
    ) -> None:
        self.files, self.done, self.saved = files, NOTHING, 0.0
        self.key = _key(converter, names, files)
        self.open: list[IO[bytes] | None] = []
        self._stack = contextlib.ExitStack()
        self.resumes = resume and os.path.exists(files.journal)
        if self._table:
            tables.parquet()  # what it needs is missed before the work
        if resume and STDIN in names:
            raise UsageError("standard input cannot be read again: a run over it cannot go on")
        self._are_files()
        if self.resumes:
            self._goes_on()
        elif not force and not (resume and os.path.exists(files.part)):  # killed as it began
            self._is_new()

    @property
    def _table(self) -> bool:
        """Whether lines become a table when all of them are there."""
        return str(self.files.out).endswith(tables.PARQUET)

    def _are_files(self) -> None:
        """Refuse what is there and no file: nothing of it can be cut off, and it may not go away.

        Beside standard output a pipe is as good.
        """
        for name in filter(None, self.files) if self.files.out is not None else ():
            if os.path.exists(name) and not os.path.isfile(name):
                raise UsageError(f"`{name}` is a folder or a device; name a file")

    def _is_new(self) -> None:
        files = self.files
        if files.out is not None and os.path.exists(files.part):
            raise UsageError(
                f"`{files.part}` is there, of a run that was stopped: `--resume` goes on, "
                "`--force` begins anew"
            )
        for name in filter(None, (files.out, files.refused, files.notes)):
            if os.path.isfile(name):
                raise UsageError(f"`{name}` is there; `--force` writes over it")

    def _goes_on(self) -> None:
        try:
            with open(self.files.journal, encoding="utf-8") as file:
                told = json.load(file)
            apart = [name for name, value in self.key.items() if told["key"].get(name) != value]
            self.done = Sum.of(told["done"])
        except (ValueError, LookupError, TypeError):
            raise UsageError(f"`{self.files.journal}` is no journal of a run") from None
        if apart:
            raise UsageError(
                f"the run that was stopped had other {', '.join(apart)}: `--force` begins anew"
            )

    def __enter__(self) -> _Writing:
        names = (self.files.part if self.files.out else None, *self.files[1:])
        fresh = [name for name in names if name is not None and not os.path.exists(name)]
        try:
            self.open = [None if name is None else self._opened(name) for name in names]
        except BaseException:
            self._stack.close()
            for new in fresh if not self.resumes else ():
                with contextlib.suppress(OSError):
                    os.remove(new)
            raise
        if self.files.out is not None:
            for file, name, size in zip(self.open, names, self.done.sizes, strict=True):
                if file is not None:
                    self._cut(file, str(name), size)
            self.save()
        return self

    def _opened(self, name: str) -> IO[bytes]:
        """Open a file as it is, and hold it. Raises UsageError, where another run does, too."""
        there = os.path.exists(name) or self.resumes
        mode = "wb" if self.files.out is None else "r+b" if there else "xb"
        try:
            file: IO[bytes] = self._stack.enter_context(open(name, mode))  # noqa: SIM115
            _held(file)
        except BlockingIOError:
            raise UsageError(f"`{name}` is written by another run") from None
        except OSError as error:
            raise UsageError(f"`{name}` cannot be written: {error.strerror}") from None
        return file

    @staticmethod
    def _cut(file: IO[bytes], name: str, size: int) -> None:
        """Leave out what was written behind the last place that the journal knows."""
        if file.seek(0, os.SEEK_END) < size:
            raise UsageError(f"`{name}` is shorter than it was: `--force` begins anew")
        file.truncate(size)
        file.seek(size)

    def add(self, made: Made) -> Sum:
        """Write what was made of a piece. Raises Broken where a file takes no more."""
        others = (sys.stdout.buffer, sys.stderr.buffer, None)  # for what no file is named for
        with self._saying():
            for file, other, text in zip(self.open, others, made.texts, strict=True):
                if (into := file or other) is not None:
                    into.write(text)
            self.done = self.done.plus(made.done)
            if time.monotonic() - self.saved > OFTEN:
                self.save()
        return self.done

    @contextlib.contextmanager
    def _saying(self) -> Iterator[None]:
        """Say which file cannot be written; of standard output others say it."""
        try:
            yield
        except OSError as error:
            if self.files.out is None:
                raise
            told = f"`{self.files.part}` cannot be written: {error.strerror}"
            raise tables.Broken(told) from None

    def save(self) -> None:
        """Write down what is done; what a file has beyond that is written again by who goes on."""
        if self.files.out is None:
            return
        for file in filter(None, self.open):
            file.flush()
        told = {"key": self.key, "done": self.done.as_json()}
        with open(f"{self.files.journal}.new", "w", encoding="utf-8") as journal:
            json.dump(told, journal)
        os.replace(f"{self.files.journal}.new", self.files.journal)
        self.saved = time.monotonic()

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is not None:
            with contextlib.suppress(OSError):  # what cannot be written is said already
                self.save()
            with contextlib.suppress(OSError):
                self._stack.close()
            return
        with self._saying():
            self._stack.close()
        if self.files.out is not None:
            made = self.files.part
            if self._table:
                tables.written(self.files.part, made := f"{self.files.out}.new")
            os.replace(made, self.files.out)
            for name in (self.files.journal, self.files.part):  # as long as the one, the other
                with contextlib.suppress(FileNotFoundError):
                    os.remove(name)
        if self.files.refused is not None and not self.done.bad:
            if os.path.isfile(self.files.refused):
                os.remove(self.files.refused)


def _held(file: IO[bytes]) -> None:
    """Hold a file until it is closed or the process ends. Raises BlockingIOError if another does.

    Where a system or a disk knows no locks, nothing is held.
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


def _key(converter: Converter, names: Sequence[str], files: Files) -> dict[str, Any]:
    """Return what a run must have in common with one that goes on; the policy may be another."""
    job = converter.job
    said = job._asdict()
    told = {
        name: said[name] for name in ("source", "target", "unit", "model", "options", "at", "text")
    }
    inputs = [(n, *_stat(n)) for n in names]
    whole = {**told, "rules": converter.rules.hash, "files": inputs, "outputs": files[1:]}
    found: dict[str, Any] = json.loads(json.dumps(whole))
    return found


def _stat(name: str) -> tuple[int | str, ...]:
    if name == STDIN:
        return 0, 0
    if name.startswith(tables.NAMED):
        return (tables.version(name),)
    found = os.stat(name)
    return found.st_size, found.st_mtime_ns
