"""The packaged rule files of a checkout as they were read last, kept beside Python's bytecode.

What is kept is of the very files, and of the modules that read them: the sum of all of these stands
at its end, and is taken anew in each process. Where Python keeps no bytecode nothing is kept. A
wheel has more than this (`shipped`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import tempfile
from _thread import RLock
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..language import apart, layers, variants
from ..language.layers import Sorted
from ..language.source import Node, fingerprint
from ..language.variants import Row

FOLDER, FILE = "__pycache__", "packaged.kept"
READERS = ("language", "loading")  # the rooms by which files are read


class Later(Mapping[str, Node]):
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


class Kept(NamedTuple):
    """The packaged files: by dialect, those that show crossings, and what a rule set asks first.

    Attributes:
        files: The files as they stand.
        flat: The dialects without layers.
        varied: The variants, without what they lay over their dialects.
        hash: That of the rules.
    """

    files: Mapping[str, Node]
    crossings: Callable[[], list[Node]]
    flat: Mapping[str, Node]
    varied: dict[str, tuple[Row, ...]]
    hash: str


def packaged(folder: str, read: Callable[[], Sorted]) -> Kept:
    """Return the packaged files of a folder as they were kept, else read and kept for the next."""
    file, total = os.path.join(folder, FOLDER, FILE), _sum(folder)
    data = b""
    with contextlib.suppress(OSError), open(file, "rb") as opened:
        data = opened.read()
    if not data.endswith(total):
        data = _written(read()) + total
        if not sys.dont_write_bytecode:
            _put(file, data)
    varied, hash, pieces, crossings = pickle.loads(data)
    files = Later(pieces, lambda name: _node(pieces[name]))
    flat = Later(pieces, lambda name: layers.one(name, files))
    return Kept(files, lambda: _nodes(crossings), flat, varied, hash)


def _node(data: bytes) -> Node:
    found: Node = pickle.loads(data)
    return found


def _nodes(data: bytes) -> list[Node]:
    found: list[Node] = pickle.loads(data)
    return found


def _sum(folder: str) -> bytes:
    """Return the sum of the rule files of a folder, and of the modules that read them."""
    top = os.path.dirname(os.path.dirname(__file__))
    places = [(folder, ".yaml"), (f"{folder}/{apart.FOLDER}", ".yaml")]
    found = hashlib.sha256()
    for place, ending in (*places, *((f"{top}/{room}", ".py") for room in READERS)):
        names = os.listdir(place) if os.path.isdir(place) else ()
        for name in sorted(name for name in names if name.endswith(ending)):
            with open(f"{place}/{name}", "rb") as file:
                data = file.read()
            found.update(f"{name} {len(data)}\n".encode())
            found.update(data)
    return found.digest()


def _written(read: Sorted) -> bytes:
    flat = layers.flat(read.dialects)
    varied = variants.light(layers.varied(flat))
    pieces = {name: pickle.dumps(node) for name, node in read.dialects.items()}
    return pickle.dumps((varied, fingerprint(flat), pieces, pickle.dumps(read.crossings)))


def _put(file: str, data: bytes) -> None:
    """Put a file in its place at once; where it cannot be, the next process reads YAML again."""
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(file), exist_ok=True)
        number, name = tempfile.mkstemp(dir=os.path.dirname(file))
        try:
            with open(number, "wb") as opened:
                opened.write(data)
            os.replace(name, file)
        except OSError:
            os.unlink(name)
