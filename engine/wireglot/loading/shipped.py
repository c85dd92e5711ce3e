"""What a wheel ships of the packaged rules: one file, read piece by piece.

It begins with an index. Behind it stands the rule file of each dialect, as it is and without
layers, so that a process reads those that it needs. `prepare` writes it.
"""

from __future__ import annotations

import functools
import marshal
import os
from collections.abc import Mapping
from typing import Any

from ..errors import RuleError
from ..language.known import Known, LazyMap
from ..language.source import Node, undump
from ..language.variants import Row

Span = tuple[int, int]  # from where, counted from the end of the index, and how many bytes
Stamp = tuple[int, int]  # when a file was written, in ns, and its bytes
_SIZE = 8  # bytes of the number at the start, that of the index's bytes


def read(name: str) -> Known:
    """Return the rule files that a file holds, and what is known of them.

    What is asked for later raises RuleError where the file is another one by then, as after an
    upgrade.
    """
    return _read(name, _stamp(os.stat(name)))


def _stamp(seen: os.stat_result) -> Stamp:
    return seen.st_mtime_ns, seen.st_size


@functools.lru_cache(1)  # sets of rules share what they have of it
def _read(name: str, stamp: Stamp) -> Known:
    with open(name, "rb") as file:
        size = int.from_bytes(file.read(_SIZE))
        own, flat, parents, varied, *rest = marshal.loads(file.read(size))

    def nodes(spans: Mapping[str, Span]) -> Mapping[str, Node]:
        return LazyMap(spans, lambda key: undump(_piece(name, stamp, _SIZE + size, spans[key])))

    layered, whole = nodes(own), nodes(flat)
    files = LazyMap(flat, lambda key: (layered if key in own else whole)[key])
    rows = {name: tuple(_row(*row) for row in some) for name, some in varied.items()}
    return Known(files, whole, parents, rows, *rest)


def _row(models: Any, version: Any, options: Any, over: Any) -> Row:
    return Row(models, version, options, undump(over))


def _piece(name: str, stamp: Stamp, start: int, span: Span) -> Any:
    with open(name, "rb") as file:
        if _stamp(os.fstat(file.fileno())) != stamp:
            message = f"the packaged rules in {name} were replaced while they were in use"
            raise RuleError(message, help="start the process again")
        file.seek(start + span[0])
        return marshal.loads(file.read(span[1]))


def write(file: str, known: Known) -> None:
    """Write a file of rule files and of what is known of them."""
    pieces: list[bytes] = []
    ends = [0]

    def kept(node: Node) -> Span:
        pieces.append(marshal.dumps(node.dump(), 2))  # in a form that every Python reads
        ends.append(ends[-1] + len(pieces[-1]))
        return ends[-2], len(pieces[-1])

    # Rule files of dialects that extend one, as they stand; all without layers; what else is known.
    index: tuple[Any, ...] = (
        {name: kept(known.files[name]) for name in known.parents},
        {name: kept(node) for name, node in known.flat.items()},
        known.parents,
        {n: tuple((*row[:3], row.over.dump()) for row in rows) for n, rows in known.varied.items()},
        *known[4:],
    )
    head = marshal.dumps(index, 2)
    with open(file, "wb") as opened:
        opened.write(b"".join([len(head).to_bytes(_SIZE), head, *pieces]))
