"""Findings: what is wrong with rule files, where, and what to do about it."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeVar

from ..errors import RuleError
from .source import Pos

T = TypeVar("T")
K = TypeVar("K")
Severity = Literal["error", "warning", "info"]
WIDTH = 120  # columns of a line that an excerpt shows
NEIGHBOURS = 200  # of so many known names, at most, a wrong one is taken for one


class Finding(NamedTuple):
    """One finding. `line` and `column` count from 1; `rule` has a section in docs/checks.md."""

    rule: str
    severity: Severity
    file: str
    line: int
    column: int
    message: str
    excerpt: str = ""
    help: str = ""

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}:{self.column}: {self.severity} {self.rule}: {self.message}"
        if self.excerpt:
            text += f"\n{self.excerpt}"
        return f"{text}\n  help: {self.help}" if self.help else text

    def as_json(self) -> dict[str, Any]:
        """Return the finding as a JSON object."""
        return self._asdict()

    def error(self) -> RuleError:
        """Return the exception that says the same."""
        place = (self.file, self.line, self.column)
        return RuleError(self.message, *place, excerpt=self.excerpt, help=self.help, rule=self.rule)


class Findings:
    """Collects findings, each once; `texts` holds the files that are reported on, by name.

    With `shows` a finding has an excerpt of its file.
    """

    def __init__(self, texts: Mapping[str, str] | None = None, shows: bool = True) -> None:
        self.texts, self.excerpts = dict(texts or {}), shows
        self.errors = 0  # how many, with those that were found before or elsewhere
        self._lines: dict[str, list[str]] = {}
        self._found: dict[tuple[str, Pos, str], Finding] = {}
        self._right_places: set[tuple[str, Pos]] = set()
        self._results: dict[Any, Any] = {}  # what each trial gave
        # Shapes are made once as long as somebody has them, which is here.
        self.keep_alive: set[Any] = set()
        # Where an error is told that stands in another file, over which this one lies.
        self.layer_pos: Pos | None = None

    def error(self, rule: str, message: str, pos: Pos, help: str = "", **more: Any) -> None:
        """Add an error: the file cannot be used as it is."""
        self._add(rule, "error", message, pos, help, **more)

    def warn(self, rule: str, message: str, pos: Pos, help: str = "", **more: Any) -> None:
        """Add a warning: the file can be used, and does probably not do what was meant."""
        self._add(rule, "warning", message, pos, help, **more)

    def info(self, rule: str, message: str, pos: Pos, help: str = "", **more: Any) -> None:
        """Add what is worth knowing."""
        self._add(rule, "info", message, pos, help, **more)

    def add_error(self, error: RuleError) -> None:
        """Add what an exception says."""
        pos = Pos(error.file, error.line, error.column)
        self._add(error.rule or "R023", "error", error.reason, pos, error.help)

    def warn_unless(self, right: bool, rule: str, message: str, pos: Pos, help: str = "") -> None:
        """Add a warning that holds unless the same place is right in another dialect or layer."""
        if right:
            self._right_places.add((rule, pos))
        else:
            self.warn(rule, message, pos, help)

    def reports_on(self, pos: Pos) -> bool:
        """Tell whether a place is in a file of `texts`: what is packaged was checked before."""
        return pos.file in self.texts

    def is_right(self, rule: str, pos: Pos) -> bool:
        """Tell whether no `warn_unless` of a place will be told: not of this file, or right."""
        return not self.reports_on(pos) or (rule, pos) in self._right_places

    def cached(self, key: Any, compute: Callable[[], T]) -> T:
        """Return what `compute` gave for a key, or gives now; kept where it reported no error.

        What it warns of is told by its place; an error may have to be told elsewhere, too.
        """
        if key in self._results:
            result: T = self._results[key]
            return result
        before, found = self.errors, compute()
        if self.errors == before:
            self._results[key] = found
        return found

    def once(self, compute: Callable[[K], T], what: K) -> T:
        """Return what `compute` gives for a shape or a picture: dialects share most of them."""
        return self.cached((compute, what), lambda: compute(what))

    def sorted(self) -> list[Finding]:
        """Return the findings by file and place."""
        found = (
            f
            for (rule, pos, _), f in self._found.items()
            if f.severity == "error" or (rule, pos) not in self._right_places
        )
        return sorted(found, key=lambda f: (f.file, f.line, f.column, f.rule))

    def raise_first(self) -> None:
        """Raise the RuleError of the first error, if there is one."""
        for finding in self.sorted():
            if finding.severity == "error":
                raise finding.error()

    def line(self, pos: Pos) -> str:
        """Return the line of a place, or nothing where the text is not known."""
        lines = self._lines.get(pos.file)
        if lines is None:
            # Lines end where YAML ends them.
            text = self.texts.get(pos.file, "")
            lines = self._lines[pos.file] = re.split("\r\n|[\n\r\x85\u2028\u2029]", text)
        return lines[pos.line - 1] if 0 < pos.line <= len(lines) else ""

    def word_from(self, pos: Pos, word: str) -> Pos:
        """Return the place of a word that stands on the line, from `pos` on."""
        found = self.line(pos).find(word, pos.column - 1) if word else -1
        return pos._replace(column=found + 1) if found >= 0 else pos

    def key_before(self, pos: Pos, key: str) -> Pos:
        """Return the place of a key whose value begins at `pos`."""
        for line in range(pos.line, max(0, pos.line - 3), -1):
            here = pos._replace(line=line, column=1)
            end = pos.column - 1 if line == pos.line else None
            found = self.line(here)[:end].rfind(f"{key}:")
            if found >= 0:
                return here._replace(column=found + 1)
        return pos

    def _add(
        self,
        rule: str,
        severity: Severity,
        message: str,
        pos: Pos,
        help: str,
        word: str = "",
        beside: tuple[Pos, str] | None = None,
    ) -> None:
        self.errors += severity == "error"
        if not self.reports_on(pos):
            # What stands in a packaged file was checked when it was packaged, without this layer.
            if severity != "error" or self.layer_pos is None:
                return
            message, word, beside = f"with this layer, {message} ({pos})", "", None
            pos = self.layer_pos
        pos = self.word_from(pos, word)
        whole = self.line(pos)[pos.column - 1 :].startswith(word) if word else False
        marks = [(pos, "^" * (len(word) if whole else 1), "")]
        if beside is not None and beside[0].file == pos.file and beside[0].line != pos.line:
            marks.append((beside[0], "-", f" {beside[1]}"))
        shown = sorted(marks) if self.excerpts else ()
        excerpt = "\n".join(self._excerpt(*mark) for mark in shown)
        message = _printable(message)
        finding = Finding(rule, severity, *pos, message, excerpt, _printable(help))
        self._found.setdefault((rule, pos, message), finding)

    def _excerpt(self, pos: Pos, mark: str, label: str) -> str:
        line = self.line(pos)
        start = max(0, pos.column - WIDTH) if len(line) > WIDTH else 0
        text = _printable(line[start : start + WIDTH])
        return f"  {pos.line:4d} | {text}\n       | {' ' * (pos.column - 1 - start)}{mark}{label}"

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.sorted())

    def __len__(self) -> int:
        return len(self.sorted())


@functools.lru_cache(16)
def _sorted_names(names: frozenset[object]) -> list[str]:
    return sorted(map(str, names))


def did_you_mean(name: str, known: Iterable[str], lead: str = "") -> str:
    """Return `did you mean ...?` for a name that is close to a known one, else nothing."""
    import difflib

    if not isinstance(name, str) or len(name) > 60:
        return ""
    names = _sorted_names(frozenset(known))
    if len(names) > NEIGHBOURS:  # comparing with all, for each wrong name, would take minutes
        place = bisect.bisect(names, name)
        names = names[max(0, place - NEIGHBOURS // 2) : place + NEIGHBOURS // 2]
    found = difflib.get_close_matches(name, names, 1, 0.6)
    if not found:
        bare = name.replace("_", "").replace("-", "").lower()
        found = [n for n in names if n.replace("_", "").replace("-", "").lower() == bare][:1]
    return f"did you mean `{lead}{found[0]}`?" if found else ""


def hint(name: str, known: Iterable[str], what: str = "there are", lead: str = "") -> str:
    """Return help for a name that is not known: the nearest one, and all when they are few."""
    names = _sorted_names(frozenset(known))
    nearest = did_you_mean(name, known, lead)
    if not names:
        return nearest or "there are none"
    listed = f"{what}: {', '.join(names)}" if len(names) <= 28 else ""
    return " ".join(filter(None, (nearest, listed)))


def _printable(text: str) -> str:
    """Return a text without control characters and lone surrogates, for a terminal."""
    if text.isprintable():
        return text
    text = text.replace("\t", " ")
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
