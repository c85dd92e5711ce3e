"""A page of audits: one self-contained HTML file, or the matrix of all pairs."""

from __future__ import annotations

from collections.abc import Sequence

from .audit import Audit, Cell


def page(audits: Sequence[Audit], cells: Sequence[Cell]) -> str:
    """Return audits or the cells of a matrix as HTML. Raises UsageError without jinja2."""
    raise NotImplementedError
