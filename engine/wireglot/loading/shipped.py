"""What a wheel ships of the packaged rules: one file, read piece by piece.

It begins with an index. Behind it stand the rule file of each dialect without layers, and the plan
of each pair, so that a process reads those that it needs. `prepare` writes it.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Callable, Iterator, Mapping
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
        plans: The plans, by source, target and rows of variants; None for a pair without one.
        varied: The variants, without what they lay over their dialects.
        models: The keys under which requests and responses name their model, where that is known.
        hash: That of the rules.
    """

    nodes: dict[str, Span]
    plans: dict[Any, Span | None]
    varied: dict[str, tuple[Row, ...]]
    models: dict[tuple[str, str], tuple[str, ...] | None]
    hash: str


class Opened(NamedTuple):
    """A file whose index was read: its name, where its pieces begin, and what it was like."""

    name: str
    start: int
    stamp: tuple[int, int]


class Pieces(Mapping[Any, Any]):
    """Pieces of the file, each read when it is asked for.

    Raises RuleError where the file is another one by then, as after an upgrade.
    """

    def __init__(
        self, opened: Opened, spans: Mapping[Any, Span | None], made: Callable[[bytes], Any]
    ) -> None:
        self._opened, self._spans, self._made = opened, spans, made

    def __getitem__(self, key: Any) -> Any:
        span = self._spans[key]
        if span is None:
            return None
        name, start, stamp = self._opened
        with open(name, "rb") as file:
            if _stamp(file) != stamp:
                message = f"the packaged rules in {name} were replaced while they were in use"
                raise RuleError(message, help="start the process again")
            file.seek(start + span[0])
            return self._made(file.read(span[1]))

    def __contains__(self, key: object) -> bool:
        return key in self._spans

    def __iter__(self) -> Iterator[Any]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


def _stamp(file: IO[bytes]) -> tuple[int, int]:
    seen = os.fstat(file.fileno())
    return seen.st_mtime_ns, seen.st_size


def read(name: str) -> tuple[Index, Pieces, Pieces]:
    """Return the index of a file, the rule files and the plans."""
    with open(name, "rb") as file:
        size = int.from_bytes(file.read(_SIZE))
        index = Index(*marshal.loads(file.read(size)))
        opened = Opened(name, _SIZE + size, _stamp(file))
    varied = {name: tuple(_row(*row) for row in rows) for name, rows in index.varied.items()}
    nodes = Pieces(opened, index.nodes, lambda data: undump(marshal.loads(data)))
    return index._replace(varied=varied), nodes, Pieces(opened, index.plans, _plan)


def _row(models: Any, version: Any, options: Any, over: Any) -> Row:
    return Row(models, version, options, undump(over))


def _plan(data: bytes) -> Any:
    import pickle  # most conversions need no plan

    return pickle.loads(data)


def write(
    file: str,
    nodes: Mapping[str, Node],
    plans: Mapping[Any, Any],
    varied: dict[str, tuple[Row, ...]],
    models: dict[tuple[str, str], tuple[str, ...] | None],
    hash: str,
) -> None:
    """Write a file of rule files, plans and what else the index holds."""
    import pickle

    pieces: list[bytes] = []
    ends = [0]

    def kept(data: bytes) -> Span:
        pieces.append(data)
        ends.append(ends[-1] + len(data))
        return ends[-2], len(data)

    index: tuple[Any, ...] = (
        # In a form that every Python reads.
        {name: kept(marshal.dumps(node.dump(), 2)) for name, node in nodes.items()},
        {k: None if v is None else kept(pickle.dumps(v, protocol=5)) for k, v in plans.items()},
        {n: tuple((*row[:3], row.over.dump()) for row in rows) for n, rows in varied.items()},
        models,
        hash,
    )
    head = marshal.dumps(tuple(index), 2)
    with open(file, "wb") as opened:
        opened.write(b"".join([len(head).to_bytes(_SIZE), head, *pieces]))
