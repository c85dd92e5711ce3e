"""Keeps what was compiled of functions, for the other workers and the next run of the suite.

To compile takes half of the time in which a function is made, and most are just so in each run.
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from types import CodeType

MOST = 200_000_000  # bytes of a file that is taken up; a larger one holds much that is no more
OFTEN = 100  # functions that are written at once
FIND = "SELECT made FROM code WHERE text = ?"
ADD = "INSERT OR IGNORE INTO code VALUES (?, ?)"
Compiles = Callable[[str], CodeType]


class Kept:
    """A file of compiled functions by their texts; where it cannot be used, they are compiled."""

    def __init__(self, folder: Path, compiles: Compiles) -> None:
        self._compiles, self._pid, self._lock = compiles, os.getpid(), Lock()
        self._new: dict[bytes, bytes] = {}
        self._file: sqlite3.Connection | None = None
        # Another Python has other code.
        name = folder / f"functions-{importlib.util.MAGIC_NUMBER.hex()}.db"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if name.is_file() and name.stat().st_size > MOST:
                name.unlink()
            self._file = sqlite3.connect(name, check_same_thread=False, isolation_level=None)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=OFF")
            self._file.execute("CREATE TABLE IF NOT EXISTS code (text BLOB PRIMARY KEY, made BLOB)")
        except (OSError, sqlite3.Error):
            self._file = None

    def __call__(self, text: str) -> CodeType:
        """Return the code of a text."""
        if self._file is None or os.getpid() != self._pid:  # a file is no child's
            return self._compiles(text)
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            try:
                found = self._file.execute(FIND, (key,)).fetchone()
                if found is not None:
                    code: CodeType = marshal.loads(found[0])
                    return code
            except sqlite3.Error:
                self._file = None
        made = self._compiles(text)
        with self._lock:
            self._new[key] = marshal.dumps(made)
            if len(self._new) >= OFTEN:
                self._write()
        return made

    def close(self) -> None:
        """Write what is not written yet, and let go of the file."""
        with self._lock:
            self._write()
            if self._file is not None and os.getpid() == self._pid:
                self._file.close()
            self._file = None

    def _write(self) -> None:
        try:
            if self._file is not None and os.getpid() == self._pid:
                self._file.execute("BEGIN IMMEDIATE")
                self._file.executemany(ADD, self._new.items())
                self._file.execute("COMMIT")
        except sqlite3.Error:
            self._file = None
        self._new.clear()
