"""What YAML's own errors mean in a rule file: a sentence, the place of the mistake, and help."""

from __future__ import annotations

import re
from typing import NamedTuple

QUOTE = "put the text in quotes"
SIGNS = "a text with `{`, `}`, `[`, `]` or `,` in it"
SPACE = "write a space after the colon of each key"
_BRACE = re.compile(r"(?<=[^\s\[{,:])[{\[]")
_COMMA = re.compile(r"[{,]\s*[\w.-]+:\s+[^\s,{}\[\]\"']+\s+([\w.-]+):\s")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")


class Advice(NamedTuple):
    """What is said of a YAML error; `line` and `column` count from 1."""

    message: str
    line: int
    column: int
    help: str


class Fault(NamedTuple):
    """What YAML says: the problem and its place, what it was reading, and since where."""

    problem: str
    reading: str
    place: tuple[int, int]
    start: tuple[int, int] = (0, 0)


def explain(fault: Fault, text: str) -> Advice:
    """Explain an error of YAML; places are line and column, from 1."""
    lines = re.split("\r\n|[\n\r\x85\u2028\u2029]", text)
    for advice in (check(fault, lines) for check in (_tab, _quote, _sign, _flow, _colon, _indent)):
        if advice is not None:
            return advice
    help = "docs/rule-language.md shows the form"
    return Advice(f"this is no YAML: {fault.problem}", *fault.place, help)


def _line(lines: list[str], number: int) -> str:
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _tab(fault: Fault, lines: list[str]) -> Advice | None:
    problem, line = fault.problem, fault.place[0]
    for number in (line, line - 1, line + 1):
        row = _line(lines, number)
        lead = row[: len(row) - len(row.lstrip())]
        if "\t" in lead and re.search("[\t]|\\\\t|expected|token|allowed|tab char", problem):
            help = "indent with spaces: YAML takes no tabs there"
            return Advice("a tab stands in the indentation", number, lead.index("\t") + 1, help)
    return None


def _quote(fault: Fault, lines: list[str]) -> Advice | None:
    problem, reading, start = fault.problem, fault.reading, fault.start
    if "quoted scalar" in reading and ("end of" in problem or "document" in problem):
        help = "close it, or, where the quote belongs to the text, put the text in the other quotes"
        return Advice("a quote is opened here and not closed", *start, help)
    if "quoted scalar" in reading and "escape" in problem:
        help = "put the text in single quotes, in which a backslash is a backslash"
        return Advice("this backslash begins no escape that YAML knows", *start, help)
    return None


def _sign(fault: Fault, lines: list[str]) -> Advice | None:
    problem, (line, column) = fault.problem, fault.place
    sign = _line(lines, line)[column - 1 : column]
    if "cannot start any token" in problem and sign in ("@", "`", "%"):
        return Advice(f"a text cannot begin with `{sign}` in YAML", line, column, QUOTE)
    if "not allowed" in problem and ("control" in problem or "special" in problem):
        return Advice("a control character stands in the file", line, column, "take it out")
    return None


def _flow(fault: Fault, lines: list[str]) -> Advice | None:
    problem, reading, (line, _), start = fault.problem, fault.reading, fault.place, fault.start
    if "flow" not in reading and "expected ',' or" not in problem and "']'" not in problem:
        return None
    for number in range(start[0] or line, min(line, len(lines)) + 1):
        row = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), lines[number - 1])
        if found := _BRACE.search(row):
            message = f"a `{found[0]}` stands in a text that has no quotes"
            help = (
                f'inside {{...}} and [...] {SIGNS} stands in quotes, for example "data:${{name}}"; '
                "`empty-list` and `empty-object` are the words for [] and {} in a mark"
            )
            return Advice(message, number, found.start() + 1, help)
        if found := _COMMA.search(row):
            help = f"write a comma between two entries, or {QUOTE} that holds a colon"
            message = f"a comma is missing before `{found[1]}:`"
            return Advice(message, number, found.start(1) + 1, help)
    if "node content" in problem or "end" in problem or not start[0]:
        start = _unclosed(lines) or start
    row = _line(lines, start[0])
    opened = row[start[1] - 1 : start[1]]
    if opened in ("{", "["):
        closing = "}" if opened == "{" else "]"
        help = (
            f"write the `{closing}` that is missing, or the comma between two entries; {SIGNS} "
            "stands in quotes inside {...} and [...]"
        )
        return Advice(f"this `{opened}` is not closed", *start, help)
    return None


def _unclosed(lines: list[str]) -> tuple[int, int] | None:
    """Return the place of the last bracket that nothing closes."""
    opened: list[tuple[int, int]] = []
    quote = ""
    for number, row in enumerate(lines, 1):
        for column, sign in enumerate(row, 1):
            if quote:
                quote = "" if sign == quote else quote
            elif sign in "'\"" and (column == 1 or row[column - 2] in " [{,:"):
                quote = sign
            elif sign == "#" and (column == 1 or row[column - 2] == " "):
                break
            elif sign in "[{":
                opened.append((number, column))
            elif sign in "]}" and opened:
                opened.pop()
    return opened[-1] if opened else None


def _colon(fault: Fault, lines: list[str]) -> Advice | None:
    problem, (line, column), start = fault.problem, fault.place, fault.start
    if "expected ':'" in problem:
        number, place = start if start[0] else (line, column)
        row = _line(lines, number)
        if found := re.search(r"^\s*(?:- )?([\w.-]+):(?=\S)", row):
            message = f"a space is missing after `{found[1]}:`"
            return Advice(message, number, found.end() + 1, SPACE)
        help = "write `key: value`; a text over several lines stands in quotes"
        return Advice("a key without `:` stands here", number, place, help)
    if "mapping values are not allowed" in problem:
        row = _line(lines, line)
        before, above = row[: column - 1], _line(lines, line - 1)
        if found := re.fullmatch(r"\s*(?:- )?([\w.-]+):[^\s:]\S*\s*", above):
            message = f"a space is missing after `{found[1]}:`"
            return Advice(message, line - 1, found.end(1) + 2, SPACE)
        if re.search(r":\s+\S", before):
            help = f"{QUOTE} that holds a colon"
            return Advice("a second `: ` stands in this line", line, column, help)
        message = "this line is indented more than the one that it belongs to"
        help = "indent it like its neighbours, or close the text in the line above"
        return Advice(message, line, len(row) - len(row.lstrip()) + 1, help)
    return None


def _indent(fault: Fault, lines: list[str]) -> Advice | None:
    problem, reading, (line, column) = fault.problem, fault.reading, fault.place
    if "expected" in problem and (
        "block" in reading or "document" in reading or "block" in problem
    ):
        row = _line(lines, line)
        if row[: column - 1].strip() and not row[: column - 1].strip().startswith("-"):
            help = f"{QUOTE} as a whole, quotes within it doubled"
            return Advice("something stands behind a value that has ended", line, column, help)
        message = "the indentation of this line fits none of the lines above"
        help = "indent keys of one mapping alike, and what belongs to a key deeper than the key"
        return Advice(message, line, column, help)
    if "sequence entries are not allowed" in problem:
        help = "write `-` on a line of its own, or [a, b]"
        return Advice("a list cannot begin here", line, column, help)
    return None
