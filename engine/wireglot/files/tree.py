"""Trees: lines that name the line before them, and the path from the last of them to the root."""

from __future__ import annotations

from typing import Any

from ..language.documents import Tree


def path(tree: Tree, lines: list[Any]) -> list[int] | None:
    """Return which lines are on the path to the last line; None where no line has an id."""
    by_id = {
        line[tree.id]: i
        for i, line in enumerate(lines)
        if isinstance(line, dict) and isinstance(line.get(tree.id), str) and tree.parent in line
    }
    if not by_id:
        return None
    at: int | None = max(by_id.values())
    found: list[int] = []
    while at is not None and (not found or at < found[-1]):  # a parent stands before its children
        found.append(at)
        name = lines[at].get(tree.parent)
        at = by_id.get(name) if isinstance(name, str) else None
    return found[::-1]


def linked(tree: Tree, lines: list[dict[str, Any]], root: Any) -> None:
    """Let each line of a path name the one before it; the first names the `root`."""
    parent = root
    for line in lines:
        pairs = [(k, v) for k, v in line.items() if k != tree.parent]
        line.clear()
        for key, value in pairs:
            line[key] = value
            if key == tree.id:
                line[tree.parent] = parent
        line.setdefault(tree.parent, parent)
        parent = line.get(tree.id)
