"""What a wheel ships of the packaged rules: one file, read piece by piece.

It begins with an index. Behind it stands the rule file of each dialect without layers, so that a
process reads those that it needs. `prepare` writes it.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Iterator, Mapping
from typing import IO, Any, NamedTuple

from ..errors import RuleError
from ..language.source import Node, undump
from ..language.variants import Row

Span = tuple[int, int]  # from where, counted from the end of the index, and how many bytes
_SIZE = 8  # bytes of the number at the start, that of the index's bytes


class Index(NamedTuple):
    """What stands in front, and where the rest stands.

    Attributes:
        nodes: The rule files, by dialect and `ladder`.
        varied: The variants, without what they lay over their dialects.
        models: The keys under which requests and responses name their model, where that is known.
        hash: That of the rules.
    """

    nodes: dict[str, Span]
    varied: dict[str, tuple[Row, ...]]
    models: dict[tuple[str, str], tuple[str, ...] | None]
    hash: str


class Opened(NamedTuple):
    """A file whose index was read: its name, where its pieces begin, and what it was like."""

    name: str
    start: int
    stamp: tuple[int, int]


class Pieces(Mapping[str, Node]):
    """The rule files in the file, each read when it is asked for.

    Raises RuleError where the file is another one by then, as after an upgrade.
    """

    def __init__(self, opened: Opened, spans: Mapping[str, Span]) -> None:
        self._opened, self._spans = opened, spans

    def __getitem__(self, key: str) -> Node:
        span = self._spans[key]
        name, start, stamp = self._opened
        with open(name, "rb") as file:
            if _stamp(file) != stamp:
                message = f"the packaged rules in {name} were replaced while they were in use"
                raise RuleError(message, help="start the process again")
            file.seek(start + span[0])
            return undump(marshal.loads(file.read(span[1])))

    def __contains__(self, key: object) -> bool:
        return key in self._spans

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


def _stamp(file: IO[bytes]) -> tuple[int, int]:
    seen = os.fstat(file.fileno())
    return seen.st_mtime_ns, seen.st_size


def read(name: str) -> tuple[Index, Pieces]:
    """Return the index of a file, and the rule files."""
    with open(name, "rb") as file:
        size = int.from_bytes(file.read(_SIZE))
        index = Index(*marshal.loads(file.read(size)))
        opened = Opened(name, _SIZE + size, _stamp(file))
    varied = {name: tuple(_row(*row) for row in rows) for name, rows in index.varied.items()}
    return index._replace(varied=varied), Pieces(opened, index.nodes)


def _row(models: Any, version: Any, options: Any, over: Any) -> Row:
    return Row(models, version, options, undump(over))


def write(
    file: str,
    nodes: Mapping[str, Node],
    varied: dict[str, tuple[Row, ...]],
    models: dict[tuple[str, str], tuple[str, ...] | None],
    hash: str,
) -> None:
    """Write a file of rule files and what else the index holds."""
    pieces: list[bytes] = []
    ends = [0]

    def kept(data: bytes) -> Span:
        pieces.append(data)
        ends.append(ends[-1] + len(data))
        return ends[-2], len(data)

    index: tuple[Any, ...] = (
        # In a form that every Python reads.
        {name: kept(marshal.dumps(node.dump(), 2)) for name, node in nodes.items()},
        {n: tuple((*row[:3], row.over.dump()) for row in rows) for n, rows in varied.items()},
        models,
        hash,
    )
    head = marshal.dumps(tuple(index), 2)
    with open(file, "wb") as opened:
        opened.write(b"".join([len(head).to_bytes(_SIZE), head, *pieces]))
