"""Shelves: where the records of a store of states lie, in memory or elsewhere."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Protocol

SIZE = 64 * 1024 * 1024  # characters that a store holds in memory
SHARED = 16  # records under one key


class Shelf(Protocol):
    """Where the records of a store lie; a database can be one. A record lies under several keys."""

    def add(self, keys: Sequence[str], record: str) -> None:
        """Lay a record under keys, beside others that lie there."""

    def get(self, keys: Sequence[str]) -> Iterable[str]:
        """Return the records that lie under any of some keys."""


class Memory:
    """A shelf in the memory of a process, safe with threads.

    It holds so many characters; the record that nobody asked for longest goes first.
    """

    def __init__(self, size: int = SIZE) -> None:
        self._lock, self._left = threading.Lock(), size
        self._records: OrderedDict[str, set[str]] = OrderedDict()  # and the keys of each
        self._under: dict[str, OrderedDict[str, None]] = {}

    def add(self, keys: Sequence[str], record: str) -> None:
        """Lay a record under keys, beside the newest that lie there."""
        with self._lock:
            if record not in self._records:
                self._records[record] = set()
                self._left -= len(record)
            self._records.move_to_end(record)
            for key in keys:
                under = self._under.setdefault(key, OrderedDict())
                under[record] = None
                self._records[record].add(key)
                if len(under) > SHARED:
                    self._detach(key, next(iter(under)))
            while self._left < 0:
                oldest = next(iter(self._records))
                for key in tuple(self._records[oldest]):
                    self._detach(key, oldest)

    def get(self, keys: Sequence[str]) -> list[str]:
        """Return the records that lie under any of some keys."""
        with self._lock:
            found = {record: None for key in keys for record in self._under.get(key, ())}
            for record in found:
                self._records.move_to_end(record)
            return list(found)

    def _detach(self, key: str, record: str) -> None:
        """Take a record away from a key; one without a key is gone."""
        del self._under[key][record]
        if not self._under[key]:
            del self._under[key]
        self._records[record].discard(key)
        if not self._records[record]:
            del self._records[record]
            self._left += len(record)
