"""The layout of rule files: one text for what a file says, comments and line breaks kept.

Indentation, spaces and quotes become the same everywhere. Where a `{...}` or `[...]` goes on in the
next line is left to the author; what goes on stands below the first entry.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..errors import RuleError
from ..language.source import Node, parse

HEAD = ("wireglot", "dialect", "examples-of", "overlay", "extends", "family", "see", "verified")
TAIL = ("variants", "examples")
STEP = 2
_LINES = re.compile(r"[\n\x85\u2028\u2029]")  # where YAML says that a line ends
_ODD = re.compile(r'["\\]')


class Comment(NamedTuple):
    """A comment; lines and columns count from 0, `alone` means that nothing stands before it."""

    line: int
    column: int
    text: str
    alone: bool


def formatted(text: str, file: str) -> str:
    """Return the text of a rule file in the one layout. Raises RuleError for what is no rule file.

    What it says does not change, nor does the order of keys but at the top: the head first, then
    everything else as it was, `variants` and `examples` last.
    """
    before = parse(text, file)
    made = _Writer(_ordered(text)).file()
    after = parse(made, file)
    if _said(before) != _said(after) or _texts(text) != _texts(made):
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


def _texts(text: str) -> Counter[str]:
    return Counter(comment.text for comment in _comments(text, composed(text)))


def composed(text: str) -> Any:
    """Return the nodes of a file as YAML has them, with their places in the text."""
    import yaml

    # The one that rule files are read with: the other takes `{ask: Who?}` otherwise.
    return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def leaves(node: Any) -> Iterator[Any]:
    """Yield the scalars of a composed node, keys among them."""
    stack = [node]
    while stack:
        one = stack.pop()
        if isinstance(one.value, str):
            yield one
        else:
            for child in one.value:
                stack.extend(child if isinstance(child, tuple) else (child,))


def _comments(text: str, root: Any) -> list[Comment]:
    """Return the comments of a file: what stands behind a `#` that is in no scalar."""
    lines = _LINES.split(text)
    covered: dict[int, list[tuple[int, int]]] = {}
    for leaf in leaves(root):
        one, two = leaf.start_mark, leaf.end_mark
        last = two.line if two.column else two.line - 1
        for number in range(one.line, last + 1):
            start = one.column if number == one.line else 0
            end = two.column if number == two.line else len(lines[number])
            if leaf.style in ("|", ">") and number == one.line:
                continue  # what follows the sign may be a comment
            covered.setdefault(number, []).append((start, end))
    found = []
    for number, line in enumerate(lines):
        for match in re.finditer(r"(?:^|(?<=\s))#", line):
            at = match.start()
            if not any(start <= at < end for start, end in covered.get(number, ())):
                found.append(Comment(number, at, line[at:].rstrip(), not line[:at].strip()))
                break
    return found


def _ordered(text: str) -> str:
    """Return the text with the keys of its top in their order, each with the comments above it."""
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff")).rstrip() + "\n"
    root = composed(text)
    if root.flow_style or not isinstance(root.value, list):
        return text
    names = [key.value for key, _ in root.value]
    wanted = sorted(names, key=_rank)
    if names == wanted:
        return text
    lines = _LINES.split(text)
    starts = [_above(lines, root.value[i][0].start_mark.line) for i in range(1, len(names))]
    first = root.value[0][0].start_mark.line
    end = _above(lines, len(lines) - 1)  # what stands below everything stays there
    bounds = [first, *starts, end]
    parts = {name: lines[bounds[i] : bounds[i + 1]] for i, name in enumerate(names)}
    moved = [line for name in wanted for line in parts[name]]
    return "\n".join([*lines[:first], *moved, *lines[end:]])


def _above(lines: list[str], number: int) -> int:
    """Return the line at which something begins, with the comments and blank lines before it."""
    while number > 0 and (not lines[number - 1].strip() or lines[number - 1].startswith("#")):
        number -= 1
    return number


def _rank(name: str) -> int:
    if name in HEAD:
        return HEAD.index(name)
    return len(HEAD) + 1 + TAIL.index(name) if name in TAIL else len(HEAD)


class _Writer:
    """Writes a composed file line by line, and each comment where it belongs."""

    def __init__(self, text: str) -> None:
        self.source = text
        self.lines = _LINES.split(text)
        self.root = composed(text)
        self.comments = _comments(text, self.root)
        self.done: list[str] = []
        self.line = ""
        self.at = -1  # the line of the source that was written last

    def file(self) -> str:
        """Return the whole file."""
        if self.root.flow_style or isinstance(self.root.value, str):
            self.before(self.root.start_mark.line, 0)
            self.value(self.root)
            self.end(self.root)
        else:
            self.block(self.root, 0)
        self.before(len(self.lines), 0)
        while self.done and not self.done[-1]:
            self.done.pop()
        return "\n".join(self.done) + "\n"

    # -- lines and comments -------------------------------------------------------------------

    def put(self, text: str) -> None:
        """Write something at the end of the line."""
        self.line += text

    def flush(self) -> None:
        """End the line, with the comment that stood at its end in the source."""
        if self.comments and not self.comments[0].alone and self.comments[0].line <= self.at:
            comment = self.comments.pop(0)
            column = max(comment.column, len(self.line.rstrip()) + 2)
            self.line = self.line.rstrip().ljust(column) + comment.text
        self.done.append(self.line.rstrip())
        self.line = ""

    def before(self, line: int, indent: int) -> None:
        """Write the comments that stand alone before a line of the source, and one blank line."""
        self.alone(line, indent)
        if line < len(self.lines):
            self.blank(line)

    def blank(self, line: int) -> None:
        """Write a blank line if the source has some before this line."""
        between = self.lines[self.at + 1 : line]
        if self.done and self.done[-1] and any(not text.strip() for text in between):
            self.done.append("")

    def end(self, node: Any) -> None:
        """End the line after a node."""
        self.at = max(self.at, _last(node))
        self.flush()

    # -- nodes --------------------------------------------------------------------------------

    def block(self, node: Any, indent: int, within: bool = False) -> None:
        """Write a mapping or list in lines of its own; `within` a dash its first line has begun."""
        column = node.start_mark.column
        for child in node.value:
            start = child[0] if isinstance(child, tuple) else child
            if not within:
                self.before(_dash(self.lines, start, column, child), indent)
                self.line = " " * indent
            within = False
            if isinstance(child, tuple):
                self.put(f"{self.scalar(child[0])}:")
                self.at = child[0].end_mark.line
                self.entry(child[1], indent + STEP)
            else:
                self.put("-")
                self.at = _dash(self.lines, start, column, child)
                self.entry(child, indent + STEP, dashed=True)
        if column:  # what stands as far in as the block is of its end
            self.alone(node.end_mark.line, indent, column)

    def alone(self, line: int, indent: int, column: int = 0) -> None:
        """Write comments that stand alone before a line, as long as they stand far enough in."""
        while self.comments and self.comments[0].line < line:
            comment = self.comments[0]
            if not comment.alone or comment.column < column:
                return
            self.comments.pop(0)
            self.blank(comment.line)
            self.done.append(" " * indent + comment.text)
            self.at = comment.line

    def entry(self, node: Any, indent: int, dashed: bool = False) -> None:
        """Write what stands behind a colon or a dash."""
        if isinstance(node.value, str) or node.flow_style or not node.value:
            if isinstance(node.value, list) and node.start_mark.line > self.at and not dashed:
                self.broken(node.start_mark.line, indent)
                self.value(node, indent)
            elif isinstance(node.value, list) or node.start_mark.index < node.end_mark.index:
                self.put(" ")
                self.value(node, indent)
            self.end(node)
        elif dashed and not self.commented(node.start_mark.line):
            self.put(" ")
            self.block(node, indent, within=True)
        else:
            self.flush()
            self.block(node, indent)

    def commented(self, line: int) -> bool:
        """Tell whether a comment stands between a dash and what it holds."""
        return bool(self.comments) and self.comments[0].line < line

    def value(self, node: Any, indent: int = 0) -> None:
        """Write a scalar, or a `{...}` or `[...]`."""
        if isinstance(node.value, str):
            self.put(self.scalar(node, indent))
            return
        mapping = bool(node.value) and isinstance(node.value[0], tuple)
        mapping = mapping or node.tag.endswith(":map")
        self.put("{" if mapping else "[")
        column, self.at = len(self.line), max(self.at, node.start_mark.line)
        for number, child in enumerate(node.value):
            start = child[0] if isinstance(child, tuple) else child
            if number:
                self.put(",")
                self.next(start.start_mark.line, column)
            elif start.start_mark.line > self.at:  # the author went on below: then not so far in
                column = len(self.line) - len(self.line.lstrip(" -")) + 2 * STEP
                self.broken(start.start_mark.line, column)
            if isinstance(child, tuple):
                self.pair(child[0], child[1], column)
            else:
                self.value(child)
            self.at = max(self.at, _last(child[1] if isinstance(child, tuple) else child))
        if self.commented(node.end_mark.line):
            self.broken(node.end_mark.line, column)
        self.put("}" if mapping else "]")

    def pair(self, key: Any, value: Any, column: int) -> None:
        """Write an entry of a `{...}`."""
        self.put(f"{self.scalar(key)}:")
        self.at = max(self.at, key.end_mark.line)
        if isinstance(value.value, list) and value.start_mark.line > self.at:
            self.broken(value.start_mark.line, column + STEP)
        elif isinstance(value.value, list) or value.start_mark.index < value.end_mark.index:
            self.put(" ")
        else:  # nothing stands there, and a comma may not stand right behind a colon
            self.put(" null")
        self.value(value)

    def next(self, line: int, column: int) -> None:
        """Go on with the next entry: in a new line where the author did so."""
        if line > self.at:
            self.broken(line, column)
        else:
            self.put(" ")

    def broken(self, line: int, column: int) -> None:
        """Go on in a new line, after the comments before it."""
        self.flush()
        while self.comments and self.comments[0].line < line:
            comment = self.comments.pop(0)
            self.done.append(" " * column + comment.text)
        self.line = " " * column

    def scalar(self, node: Any, indent: int = 0) -> str:
        """Return a scalar as text; quotes are double where that needs no backslash."""
        raw = self.source[node.start_mark.index : node.end_mark.index]
        if node.style in ("|", ">"):
            return self.literal(node, raw, indent)
        if "\n" in raw:
            return json.dumps(node.value, ensure_ascii=False)
        if node.style == "'" and not _ODD.search(node.value) and node.value.isprintable():
            return f'"{node.value}"'
        return raw

    def literal(self, node: Any, raw: str, indent: int) -> str:
        """Return a text of several lines, moved to where it stands now."""
        first, *rest = raw.rstrip().split("\n")
        head = re.sub(r"\s+#.*", "", first)
        depth = min((len(t) - len(t.lstrip()) for t in rest if t.strip()), default=0)
        if not re.fullmatch(r"[|>][+-]?", head) or head.endswith("+"):
            return json.dumps(node.value, ensure_ascii=False)
        moved = [" " * indent + t[depth:] if t.strip() else "" for t in rest]
        return "\n".join([head, *moved])


def _last(node: Any) -> int:
    """Return the last line that a node stands in."""
    number: int = node.end_mark.line
    if isinstance(node.value, str) and node.style in ("|", ">"):
        return number if node.end_mark.column else number - 1
    return number


def _dash(lines: list[str], start: Any, column: int, child: Any) -> int:
    """Return the line at which an entry begins: of a list that is the line of its dash."""
    number: int = start.start_mark.line
    if isinstance(child, tuple):
        return number
    while number > 0 and not lines[number].startswith("-", column):
        number -= 1
    return number
