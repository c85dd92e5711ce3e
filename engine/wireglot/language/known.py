"""Rule files of which much is known before one is read: a wheel or a checkout has kept it."""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from .source import Node
from .variants import Row


class LazyMap(Mapping[str, "Node"]):
    """Rule files by name, each made when it is first asked for."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Node]) -> None:
        self._names, self._make = dict.fromkeys(names), make
        self._made: dict[str, Node] = {}
        self._lock = RLock()  # threads that come at once want one node

    def __getitem__(self, key: str) -> Node:
        if key not in self._made:
            with self._lock:
                if key not in self._made:
                    if key not in self._names:
                        raise KeyError(key)
                    self._made[key] = self._make(key)
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Known(NamedTuple):
    """Rule files of dialects and the ladder, and what is known of them.

    Attributes:
        files: The files as they stand.
        flat: The same without layers.
        parents: Which dialect one extends, where it does.
        varied: The variants, without what they lay over their dialects.
        models: The keys under which requests and responses name their model, by dialect and unit,
            where that is known.
        sums: The SHA-256 of what each file without layers says, in hex digits.
        hash: That of all of them.
    """

    files: Mapping[str, Node]
    flat: Mapping[str, Node]
    parents: Mapping[str, str]
    varied: Mapping[str, tuple[Row, ...]]
    models: Mapping[tuple[str, str], tuple[str, ...] | None]
    sums: Mapping[str, str]
    hash: str

    def dialects_over(self, names: Collection[str]) -> list[str]:
        """Return the dialects that lie over some."""

        def lies(name: str) -> bool:
            parent = self.parents.get(name)
            return parent is not None and (parent in names or lies(parent))

        return [name for name in self.files if lies(name)]

    def subset(self, names: Collection[str]) -> Known:
        """Return what is known of some of them, of which none extends another."""
        files, flat = (LazyMap(names, some.__getitem__) for some in (self.files, self.flat))
        return self._replace(files=files, flat=flat, parents={}, varied={}, models={})
