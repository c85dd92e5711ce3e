"""Trees: lines that name the line before them, and the path from the last of them to the root."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Set
from itertools import accumulate
from typing import Any

from ..interpreter.jobs import WriteJob
from ..language.documents import Tree
from ..language.picture import ABSENT
from ..notes import Effect
from ..trail import value_at

ALIKE: tuple[str, Effect] = ("reworded", "changed")
FILLED: tuple[str, Effect] = ("filled-in", "added")
Seen = Callable[[list[Any], list[int]], list[int]]  # lines and a path: what a model sees of it


def path(tree: Tree, lines: list[Any]) -> list[int] | None:
    """Return which lines are on the path to the last line; None where no line has an id."""
    by_id: dict[str, list[int]] = {}
    for i, line in enumerate(lines):
        if _linkable(tree, line):
            by_id.setdefault(line[tree.id], []).append(i)
    if not by_id:
        return None
    return sorted(_path_to(tree, lines, by_id, _leaf(tree, lines, by_id)))


def _path_to(tree: Tree, lines: list[Any], by_id: dict[str, list[int]], end: int) -> set[int]:
    """Return the lines on the path to one, with those that belong to them."""
    at: int | None = end
    on: set[int] = set()
    while at is not None:
        on.add(at)
        at = _line_before(by_id, lines[at].get(_parent_key(tree, lines[at], by_id)), at)
    turns = {_turn(tree, lines[i]) for i in on} - {None} if tree.turn else set()
    for i in sorted(at for places in by_id.values() for at in places) if turns else ():
        line = lines[i]
        if i not in on:
            hangs = tree.beside in line and _line_before(by_id, line[tree.parent], i) in on
            if hangs or _turn(tree, line) in turns:
                on.add(i)
    return on


def _parent_key(tree: Tree, line: Any, by_id: dict[str, list[int]]) -> str:
    """Return the key under which a line names the one before it: one that names an end, that."""
    known = _names_end(tree, line) and (line[tree.leaf] is None or _text(line[tree.leaf]) in by_id)
    return str(tree.leaf) if known else tree.parent


def _names_end(tree: Tree, line: Any) -> bool:
    there = isinstance(line, dict) and tree.leaf is not None and tree.leaf in line
    return there and (not tree.says or says(tree.says, line))


def says(words: tuple[tuple[str, Any], ...], line: Any) -> bool:
    """Tell whether some words, of which there are any, stand in a line."""
    there = bool(words) and isinstance(line, dict)
    return there and all(line.get(key, ABSENT) == value for key, value in words)


def _linkable(tree: Tree, line: Any) -> bool:
    return isinstance(line, dict) and isinstance(line.get(tree.id), str) and tree.parent in line


def _line_before(by_id: dict[str, list[int]], name: Any, at: int) -> int | None:
    """Return the place of a line by its name: a parent stands before its children."""
    places = by_id.get(_text(name), [])
    i = bisect_left(places, at)
    return places[i - 1] if i else None


def _leaf(tree: Tree, lines: list[Any], by_id: dict[str, list[int]]) -> int:
    """Return the end of the path: the last line with an id, or another one that a later line names.

    The last line is it all the same where it goes on from that one, or began anew since. What went
    on aside ends the path only where nothing else is there.
    """
    ends = [i for places in by_id.values() for i in places]
    last = max([i for i in ends if not _aside(tree, lines[i])] or ends)
    for i in range(len(lines) - 1, -1, -1) if tree.leaf is not None else ():
        line = lines[i]
        if not _names_end(tree, line) or tree.id in line:
            continue
        named = _line_before(by_id, line[tree.leaf], i)
        if named is not None:
            there = _path_to(tree, lines, by_id, last)
            firm = last < i and line.get(tree.firm) is True
            return last if (named in there and not firm) or min(there) > i else named
    return last


def _aside(tree: Tree, line: Any) -> bool:
    return bool(line.get(tree.aside)) and not _names_end(tree, line)


def _turn(tree: Tree, line: Any) -> str | None:
    turn = value_at(line, tree.turn)
    return turn if isinstance(turn, str) else None


def _text(name: Any) -> str:
    return name if isinstance(name, str) else ""


def since_summary(
    tree: Tree, lines: list[Any], there: list[int], like: Callable[[Any], bool]
) -> list[int]:
    """Return the path as the model sees it: the last summary, what it keeps, what came since.

    It names the first line that it keeps (in old files by a number), or each, and where they stand:
    behind itself or, where it is no message, behind another line. Older summaries are not kept.
    """
    sums = {i: said for i in there if (said := _kept_by(tree, lines[i])) is not None}
    if not sums:
        return there
    last, said = max(sums.items())
    names = [line.get(tree.id) if _linkable(tree, line) else None for line in lines]
    since = [i for i in there if i > last]
    if isinstance(said, list):
        some = {name for name in said if isinstance(name, str)}
        kept = [i for i in range(last) if isinstance(names[i], str) and names[i] in some]
    else:
        first = said if isinstance(said, int) else names.index(said) if said in names else last
        way = there if there[0] < last else path(tree, lines[:last]) or []  # it begins anew
        kept = [i for i in way if first <= i < last and i not in sums]
    after = [*filter(None, (_text(value_at(lines[last], keys)) for keys in tree.after))]
    behind = [names[i] for i in (last, *since)]
    head = behind.index(after[0]) if after and after[0] in behind else int(bool(tree.after))
    head = 0 if like(lines[last]) else head
    return [last, *since[:head], *kept, *since[head:]]


def _kept_by(tree: Tree, line: Any) -> str | int | list[Any] | None:
    for path in tree.keeps:
        found: Any = value_at(line, path)
        if isinstance(found, str | int | list):
            return found
    return None


def early_lines(numbers: list[int]) -> set[int]:
    """Return which of some lines, by their place here, come before one that the file has first."""
    least = [*accumulate(reversed(numbers), min)][::-1]
    return {i for i, number in enumerate(numbers) if number > least[i]}


def move_summary_back(wires: list[Any], told: list[dict[str, Any]]) -> None:
    """Put a summary, and what is told of it, back behind the lines that it keeps."""
    here = next((i for i, one in enumerate(told) if "late" in one), len(told))
    line = told[here].get("line", 0) if told[here:] else 0
    at = [i for i, one in enumerate(told[here:], here) if one.get("line", line) < line]
    end = next((i for i, one in enumerate(told[here:], here) if "late" not in one), len(told))
    for one in (wires, told) if at else ():
        one[here : at[-1] + 1] = [*one[end : at[-1] + 1], *one[here:end]]


class Written:
    """The lines of a tree as they are written, each with whether it is on the path.

    `said` are those of messages, and `told` is what lines remember of the one that they hung on, by
    their addresses; `memory` is that of the file.
    """

    def __init__(
        self, writer: WriteJob, tree: Tree, rows: list[tuple[Any, bool]], said: list[Any],
        told: dict[int, dict[str, Any]], memory: dict[str, Any],
    ) -> None:  # fmt: skip
        self._writer, self._tree, self._rows = writer, tree, rows
        self._said, self._told = said, told
        self._linear, self._root = bool(memory.get("linear")), memory.get("root")

    def link_path(self, kept: Set[int]) -> None:
        """Let each line of the path name another: one that it hung on, or the one before it.

        Lines that were `kept` name what they did.
        """
        if self._linear:
            return
        parent = self._tree.parent
        on_path = [line for line, on in self._rows if on and isinstance(line, dict)]
        stray = set()
        for line in on_path:
            memory = self._told.get(id(line), {})
            if "parent" in memory:
                line[parent] = memory["parent"]
                stray.update([id(line)] if "stray" in memory else [])
            elif line.get(parent, ABSENT) is None or (id(line) in kept and parent in line):
                stray.add(id(line))  # with it the talk began anew
        self._link(on_path, self._root, stray)

    def lines(self, head: list[Any], seen: Seen) -> list[Any]:
        """Return the lines of a file that is read as it says, also where what is said was edited.

        If need be, the line that names the end names another one; else the path is written anew.
        """
        if not self._reads_as_said(head, seen):
            self._name_end()
        if not self._reads_as_said(head, seen):
            self._rewrite_path()
            self._name_end()
        if self._said and not self._reads_as_said(head, seen):
            self._leave_out()
        return [line for line, _ in self._rows]

    def _reads_as_said(self, head: list[Any], seen: Seen) -> bool:
        """Tell whether what is said is read in this order, and nothing that is not on the path."""
        tree, rows, said = self._tree, self._rows, [*map(id, self._said)]
        lines, start = [*head, *(line for line, _ in rows)], len(head)
        told = {id(line) for line, on in rows if not on and (self._linear or _linkable(tree, line))}
        told |= {*said}
        found = None if self._linear else path(tree, lines[start:])
        steps = range(len(rows)) if found is None else found
        order = seen(lines, [start + i for i in steps])
        return [one for i in order if (one := id(lines[i])) in told] == said

    def _name_end(self) -> None:
        """Let the line that names the end of the path name the present one."""
        tree, rows = self._tree, self._rows
        there = {line[tree.id] for line, _ in rows if _linkable(tree, line)}
        last = [line[tree.id] for line, on in rows if on and _linkable(tree, line)]
        ends = [line for line, _ in rows if _names_end(tree, line) and tree.id not in line]
        ends = [line for line in ends if _text(line[tree.leaf]) in there]
        if ends and last and ends[-1][tree.leaf] != last[-1]:
            ends[-1][tree.leaf] = last[-1]
            told = "the talk ends with another line, which this one names"
            self._writer.note("reworded", "changed", None, tree.pos, told, ends[-1], tree.leaf)

    def _rewrite_path(self) -> None:
        """Put the path behind what is not on it, a summary first; each line names the last."""
        writer, tree, rows, there = self._writer, self._tree, self._rows, {*map(id, self._said)}
        off = [row for row in rows if not row[1] and _linkable(tree, row[0])]
        if self._linear:
            off = [row for row in rows if id(row[0]) not in there]
        apart = {id(line) for line, _ in off}
        on = [row for row in rows if id(row[0]) not in apart]
        sums = [row for row in on if _kept_by(tree, row[0]) is not None]
        first = {id(line) for line, _ in sums}
        for line in self._said[1:]:
            if id(line) in first:
                at = writer.trail.find(writer.line_messages.get(id(line), {}))
                told = "what stands before a summary is summed up; it stands first"
                writer.note("reordered", "moved", at, tree.pos, told, line)
        order = (line for line in self._said if id(line) not in first)
        rest = [row for row in on if id(row[0]) not in first]
        on = [*sums, *((next(order), True) if id(row[0]) in there else row for row in rest)]
        path = [line for line, is_on in on if is_on and isinstance(line, dict)]
        aside = bool(path) and _aside(tree, path[-1])  # the end of what went on aside
        for line in () if self._linear else path:
            line.pop(tree.parent, None)
            if aside and not line.get(tree.aside):
                self._set_aside(line, path[-1][str(tree.aside)])
        if not self._linear:
            self._link(path, None, set())
        self._rows = [*off, *on]

    def _leave_out(self) -> None:
        """Leave out the lines that are not said: nothing can keep them from being read."""
        for _, on in self._rows:
            if not on:
                told = "what was summed up, or stood aside, would be read as said"
                self._writer.note("no-message", "lost", None, self._tree.pos, told)
        self._rows = [row for row in self._rows if row[1]]

    def _set_aside(self, line: dict[str, Any], value: Any) -> None:
        """Let a line stand aside as the end of its path does: else that would not be the end."""
        key = str(self._tree.aside)
        code, effect = ALIKE if key in line else FILLED
        line[key] = value
        told = "what ends aside is aside as a whole: else another line would be the end"
        self._writer.note(code, effect, None, self._tree.pos, told, line, key)

    def _link(self, lines: list[dict[str, Any]], root: Any, stray: set[int]) -> None:
        """Let each line of a path name the one before it; the first names the `root`.

        A line that names another line of the path keeps that, and so does one that is `stray`.
        """
        tree, recorder = self._tree, self._writer.recorder
        parent, before = root, None
        there = {_text(line.get(tree.id)) for line in lines} - {""}
        for line in lines:
            turns = before is not None and _text(line.get(str(tree.leaf))) in there
            turns = turns and _names_end(tree, line)
            if turns:  # it goes on from another line than it hangs on
                line[str(tree.leaf)] = parent
            if turns or id(line) in stray or _text(line.get(tree.parent)) in there:
                parent, before = line.get(tree.id), line
                continue
            pairs = [(k, v) for k, v in line.items() if k != tree.parent]
            line.clear()
            for key, value in pairs:
                line[key] = value
                if key == tree.id:
                    line[tree.parent] = parent
            line.setdefault(tree.parent, parent)
            if recorder is not None and before is None:
                recorder.made(line, tree.parent, "nothing stands before it", tree.pos)
            elif recorder is not None:
                recorder.repeat(before, tree.id, line, tree.parent)
            parent, before = line.get(tree.id), line
