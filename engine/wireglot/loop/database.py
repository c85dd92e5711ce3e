"""Records of a store in a file of SQLite, which a restart finds again, and other processes share.

A turn is one transaction, so what a process that is ended at any moment has kept is whole.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence

from ..errors import UsageError, WireglotError
from . import memory
from .shelves import SHARED

SIZE = 256 * 1024 * 1024  # bytes of the file that records take
DAYS = 30  # for which a record is kept that nobody asks for
BUSY = 10.0  # seconds in which other processes must be done
SWEEP = 100  # records that are added until what is old or too much goes
AT_ONCE = 500  # keys of one question
MARK, VERSION = 0x57474C54, 1  # in the head of the file
_TABLES = """
create table records (
    id integer primary key, mark text not null unique, record text not null, used real not null
);
create table keys (
    key text not null, id integer not null references records on delete cascade,
    primary key (key, id)
) without rowid;
create index records_by_use on records (used);
create index keys_by_record on keys (id);
"""


class Database:
    """A shelf in a file; safe with threads, and with other processes."""

    def __init__(self, file: str | os.PathLike[str], size: int = SIZE, days: float = DAYS) -> None:
        """Open a file, or begin it. Raises UsageError where it is another, or cannot be opened."""
        self._file, self._size, self._seconds = os.fspath(file), size, days * 86400
        self._lock, self._added = threading.Lock(), 0
        try:
            os.close(os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600))  # conversations are in it
            self._db = sqlite3.connect(
                self._file, timeout=BUSY, isolation_level=None, check_same_thread=False
            )
            self._log_ahead()
            for pragma in ("synchronous = normal", "foreign_keys = on"):
                self._db.execute(f"pragma {pragma}")
            with self._transaction():
                self._create_tables()
                self._sweep()
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"`{self._file}` cannot hold states: {error}") from None

    def _log_ahead(self) -> None:
        """Let the file have a log, for which SQLite itself does not wait: several may begin one."""
        until = time.monotonic() + BUSY
        while True:
            try:
                self._db.execute("pragma journal_mode = wal")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def _create_tables(self) -> None:
        """Make the tables of a new file. Raises UsageError for a file of somebody else."""
        head = [self._db.execute(f"pragma {word}").fetchone()[0] for word in _HEAD]
        if head == [0, 0] and not self._db.execute("select 1 from sqlite_master").fetchone():
            for statement in filter(str.strip, _TABLES.split(";")):
                self._db.execute(statement)
            for word, number in _HEAD.items():
                self._db.execute(f"pragma {word} = {number}")
        elif head != [*_HEAD.values()]:
            raise UsageError(f"`{self._file}` is no file of states, or one of another version")

    def add(self, keys: Sequence[str], record: str) -> None:
        """Lay a record under keys, beside the newest that lie there. Raises WireglotError."""
        with self._translating_errors(), self._lock, self._transaction():
            (row,) = self._db.execute(
                "insert into records (mark, record, used) values (?, ?, ?) "
                "on conflict (mark) do update set used = excluded.used returning id",
                (memory.digest(record, 32), record, time.time()),
            ).fetchone()
            for key in keys:
                self._db.execute("insert or ignore into keys values (?, ?)", (key, row))
                self._db.execute(
                    "delete from keys where key = ? and id <= "
                    "(select id from keys where key = ? order by id desc limit 1 offset ?)",
                    (key, key, SHARED),
                )
            self._added += 1
            if self._added % SWEEP == 0:
                self._sweep()

    def get(self, keys: Sequence[str]) -> Iterable[str]:
        """Return the records that lie under any of some keys. Raises WireglotError."""
        found: dict[int, str] = {}
        now, stale = time.time(), []
        with self._translating_errors(), self._lock:
            for first in range(0, len(keys), AT_ONCE):
                some = keys[first : first + AT_ONCE]
                marks = ", ".join("?" * len(some))
                for row, record, used in self._db.execute(
                    "select id, record, used from records where id in "
                    f"(select id from keys where key in ({marks}))",
                    tuple(some),
                ):
                    found[row] = record
                    if used < now - self._seconds / 100:  # most questions write nothing
                        stale.append((now, row))
            if stale:
                with self._transaction():
                    self._db.executemany("update records set used = ? where id = ?", stale)
        return [record for _, record in sorted(found.items())]

    def _sweep(self) -> None:
        """Let go what nobody asked for in time, or longest where it is too much."""
        self._db.execute("delete from records where used < ?", (time.time() - self._seconds,))
        self._db.execute("delete from records where id not in (select id from keys)")
        while self._bytes() > self._size:
            gone = self._db.execute(
                "delete from records where id in (select id from records order by used, id limit "
                "(select 1 + count(*) / 10 from records))"
            )
            if not gone.rowcount:
                break

    def _bytes(self) -> int:
        """Return how many bytes of the file hold something."""
        words = ("page_count", "freelist_count", "page_size")
        pages, free, size = (self._db.execute(f"pragma {word}").fetchone()[0] for word in words)
        return int((pages - free) * size)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Begin a transaction, and end it: all of it holds, or nothing."""
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    @contextlib.contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Say what fails as an error of wireglot: a turn that cannot be kept is no silent loss."""
        try:
            yield
        except sqlite3.Error as error:
            raise WireglotError(f"states cannot be kept in `{self._file}`: {error}") from error


_HEAD = {"application_id": MARK, "user_version": VERSION}
