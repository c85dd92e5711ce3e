"""Columns: a table as text, each column as wide as what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def columns(rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table, of at least one row; numbers stand right."""
    widths = [max(len(str(one)) for one in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            str(one).rjust(wide) if isinstance(one, int) else str(one).ljust(wide)
            for one, wide in zip(row, widths, strict=True)
        )
        yield "  ".join(cells).rstrip()
