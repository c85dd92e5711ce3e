"""The layout of rule files: one text for what a file says, comments and line breaks kept.

Indentation, spaces and quotes become the same everywhere. Where a `{...}` or `[...]` goes on in the
next line is left to the author; what goes on stands below the first entry.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from typing import Any, NamedTuple

import yaml

from ..errors import RuleError
from ..language.source import Node, parse

ORDER = "wireglot dialect examples-of overlay extends family see verified".split()
ORDER += ["", "variants", "examples"]  # all others stand before these
STEP = 2
_LINES = re.compile(r"[\n\x85\u2028\u2029]")  # where YAML says that a line ends
# What may stand between two values: ends of lines, comments, marks.
_BETWEEN = re.compile(rf"({_LINES.pattern})|(#[^{_LINES.pattern[1:]}*)|\S")
_ODD = re.compile(r'["\\]')


class Comment(NamedTuple):
    """A comment, or a blank line, which has no text; `beside` is one that something stands before.

    Columns count from 0.
    """

    text: str
    column: int = 0
    beside: bool = False


def formatted(text: str, file: str) -> str:
    """Return the text of a rule file in the one layout. Raises RuleError for what is no rule file.

    What it says does not change, nor does the order of keys but at the top: the head first, then
    everything else as it was, `variants` and `examples` last.
    """
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff")).rstrip() + "\n"
    before = parse(text, file)
    first = _Writer(_ordered(text, before))
    made = first.file()
    again = _Writer(made)
    again.file()
    if _said(before) != _said(parse(made, file)) or first.comments != again.comments:
        raise RuleError("this file cannot be formatted without changing it", file, 1, 1)
    return made


def difference(text: str, made: str, name: str) -> str:
    """Return what formatting changes, as a patch."""
    import difflib

    old, new = (one.splitlines(keepends=True) for one in (text, made))
    lines = difflib.unified_diff(old, new, name, f"{name} (formatted)")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _said(node: Node) -> str:
    """Return what a file says, in the order of its keys but for those at the top."""
    value = node.plain()
    if isinstance(value, dict):
        value = {key: value[key] for key in sorted(value)}
    return json.dumps(value)


def _ordered(text: str, root: Node) -> str:
    """Return the text with the keys of its top in their order, each with the comments above it."""
    wanted = sorted(root.keys, key=lambda key: ORDER.index(key if key in ORDER else ""))
    if [*root.keys] == wanted or root.keys[next(iter(root.keys))] != root.pos:  # or in one `{...}`
        return text
    lines = _LINES.split(text)
    first, *starts = (pos.line - 1 for pos in root.keys.values())
    end = _above(lines, len(lines) - 1)  # what stands below everything stays there
    bounds = [first, *(_above(lines, start) for start in starts), end]
    parts = {key: lines[bounds[i] : bounds[i + 1]] for i, key in enumerate(root.keys)}
    moved = [line for key in wanted for line in parts[key]]
    return "\n".join([*lines[:first], *moved, *lines[end:]])


def _above(lines: list[str], number: int) -> int:
    """Return the line at which something begins, with the comments and blank lines before it."""
    while number > 0 and (not lines[number - 1].strip() or lines[number - 1].startswith("#")):
        number -= 1
    return number


class _Writer:
    """Writes a file value by value; what stands between two of them are marks and comments."""

    def __init__(self, text: str) -> None:
        self.text = text
        # With the one that rule files are read with: the other takes `{ask: Who?}` otherwise.
        self.events: Iterator[Any] = yaml.parse(
            text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        )
        self.comments: Counter[str] = Counter()
        self.waiting: list[Comment] = []  # what stands before what is written next
        self.broke = False  # whether that begins a line in the source
        self.at = 0  # how much of the source is written
        self.done: list[str] = []
        self.line = ""

    def file(self) -> str:
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.take_between(_end(event))
            elif isinstance(event, yaml.CollectionStartEvent) and not event.flow_style:
                self.block(event, 0)
            elif isinstance(event, yaml.NodeEvent):
                self.take_between(_start(event))
                self.new_line(0)
                self.value(event)
        self.take_between(len(self.text))
        self.new_line(0)
        while self.done and not self.done[-1]:
            self.done.pop()
        return "\n".join(self.done) + "\n"

    # -- lines and comments -------------------------------------------------------------------

    def take_between(self, end: int) -> None:
        """Take what stands before something, and whether that begins a line."""
        self.broke, bare = False, self.at == 0
        for found in _BETWEEN.finditer(self.text, self.at, end):
            newline, comment = found.groups()
            if newline and bare and self.waiting[-1:] != [Comment("")]:
                self.waiting.append(Comment(""))
            elif comment:
                column = found.start() - self.text.rfind("\n", 0, found.start()) - 1
                self.waiting.append(Comment(comment.rstrip(), column, not bare))
                self.comments[comment.rstrip()] += 1
            self.broke, bare = self.broke or bool(newline), bool(newline)
        self.at = end

    def put(self, text: str) -> None:
        """Write something at the end of the line; no blank line stands within one."""
        self.line += text
        self.waiting = [one for one in self.waiting if one.text]

    def new_line(self, indent: int, blank: bool = True) -> None:
        """Begin a line after what waits, perhaps without blank ones."""
        self.end_line()
        self.waiting = [one for one in self.waiting if blank or one.text]
        self.write_comments(len(self.waiting), indent)
        self.line = " " * indent

    def end_line(self) -> None:
        """End the line, with the comment that stood at its end in the source."""
        line = self.line.rstrip()
        if line and self.waiting and self.waiting[0].beside:
            text, column, _ = self.waiting.pop(0)
            line = line.ljust(max(column, len(line) + 2)) + text
        self.done += [line] if line else []
        self.line = ""

    def write_comments(self, count: int, indent: int) -> None:
        """Write some of what waits."""
        for text, *_ in self.waiting[:count]:
            if text or (self.done and self.done[-1]):
                self.done.append(text and " " * indent + text)
        del self.waiting[:count]

    # -- values -------------------------------------------------------------------------------

    def children(self) -> Iterator[Any]:
        """Yield the first event of each thing in a list or mapping, and go to its end."""
        while not isinstance(event := next(self.events), yaml.CollectionEndEvent):
            yield event
        self.take_between(_start(event))
        self.at = _end(event)

    def block(self, event: Any, indent: int, within: bool = False) -> None:
        """Write a mapping or list in lines of its own; `within` a dash its first line has begun."""
        column, listed = event.start_mark.column, isinstance(event, yaml.SequenceStartEvent)
        for child in self.children():
            end = _start(child)
            between = _BETWEEN.finditer(self.text, self.at, end) if listed else ()
            self.take_between(next((one.start() for one in between if one[0] == "-"), end))
            if not within:
                self.new_line(indent)
            within = False
            if listed:
                self.at += 1
                self.put("-")
            else:
                self.put(f"{self.scalar(child)}:")
                child = next(self.events)
            self.take_between(_start(child))
            self.entry(child, indent + STEP, listed)
        self.end_line()  # and what stands as far in as the block is of its end
        inside = takewhile(lambda one: not one.text or 0 < column <= one.column, self.waiting)
        ends = [n for n, one in enumerate(inside, 1) if one.text]
        self.write_comments(ends[-1] if ends else 0, indent)

    def entry(self, event: Any, indent: int, dashed: bool) -> None:
        """Write what stands behind a colon or a dash of a block."""
        if _is_scalar(event) or event.flow_style:
            self.broke = self.broke and not dashed
            self.value_behind(event, indent)
        elif dashed and not any(one.text for one in self.waiting):
            self.put(" ")
            self.block(event, indent, within=True)
        else:
            self.block(event, indent)

    def value_behind(self, event: Any, indent: int) -> None:
        """Write a scalar, or a `{...}` or `[...]`, which may stand in a new line."""
        if self.broke and not _is_scalar(event):
            self.new_line(indent, blank=False)
        elif _start(event) < _end(event):
            self.put(" ")
        self.value(event, indent)

    def value(self, event: Any, indent: int = 0) -> None:
        """Write a scalar, or a `{...}` or `[...]`."""
        if _is_scalar(event):
            self.put(self.scalar(event, indent))
            return
        mapping = isinstance(event, yaml.MappingStartEvent)
        self.put("{" if mapping else "[")
        self.at, column = _end(event), len(self.line)
        for number, child in enumerate(self.children()):
            self.put("," if number else "")
            self.take_between(_start(child))
            if self.broke and not number:  # the author went on below: then not so far in
                column = len(self.line) - len(self.line.lstrip(" -")) + 2 * STEP
            if self.broke:
                self.new_line(column, blank=False)
            elif number:
                self.put(" ")
            if not mapping:
                self.value(child)
                continue
            self.put(f"{self.scalar(child)}:")
            inner = next(self.events)
            self.take_between(_start(inner))
            if _is_scalar(inner) and _start(inner) == _end(inner):
                self.put(" null")  # for a comma may not stand right behind a colon
            else:
                self.value_behind(inner, column + STEP)
        if any(one.text for one in self.waiting):
            self.new_line(column, blank=False)
        self.put("}" if mapping else "]")

    def scalar(self, event: Any, indent: int = 0) -> str:
        """Return a scalar as text; quotes are double where that needs no backslash."""
        raw = self.text[_start(event) : _end(event)]
        self.at = _end(event)
        if event.style in ("|", ">"):
            return self.literal(event, raw.rstrip(), indent)
        if "\n" in raw:
            return json.dumps(event.value, ensure_ascii=False)
        if event.style == "'" and not _ODD.search(event.value) and event.value.isprintable():
            return f'"{event.value}"'
        return raw

    def literal(self, event: Any, raw: str, indent: int) -> str:
        """Return a text of several lines, moved to where it stands now."""
        self.at = _start(event) + len(raw)
        first, *rest = raw.split("\n")
        head, sign, comment = first.partition("#")
        self.comments[sign + comment.rstrip()] += 1
        said = f"{head.strip()}  {sign}{comment}".rstrip()
        depth = min((len(t) - len(t.lstrip()) for t in rest if t.strip()), default=0)
        if not re.fullmatch(r"[|>]-?", head.strip()):
            return json.dumps(event.value, ensure_ascii=False) + said[len(head.strip()) :]
        moved = [" " * indent + t[depth:] if t.strip() else "" for t in rest]
        return "\n".join([said, *moved])


def _is_scalar(event: Any) -> bool:
    return isinstance(event, yaml.ScalarEvent)


def _start(event: Any) -> int:
    return int(event.start_mark.index)


def _end(event: Any) -> int:
    return int(event.end_mark.index)
