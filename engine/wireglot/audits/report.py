"""A report of one conversion: both bodies side by side in one HTML file that needs nothing else.

The page holds no data in its script: what it shows stands in the markup, escaped by jinja2.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import library
from ..notes import Note, nearest
from ..results import Conversion
from ..traces import OUTSIDE, Fate, Origin, Trace
from ..trail import At, pointer
from .explain import fate_lines, origin_lines

PAGE = Path(__file__).parent / "page"
LONG = 1500  # characters of a text that are shown
MARKS = ("lost", "repeated", "kept", "changed", "moved", "decided", "silent", "added", "fixed")


class Line(NamedTuple):
    """One line of a tree: punctuation, or a leaf with its links."""

    indent: str
    key: str
    text: str
    comma: str
    id: str = ""
    href: str = ""
    links: str = ""
    mark: str = ""
    say: str = ""


def page(body: Any, done: Conversion, source: str, target: str, unit: str) -> str:
    """Return the report of a conversion with a trace as HTML. Raises UsageError without jinja2."""
    assert done.trace is not None
    links = _TreeLines(body, done, done.trace)
    trees = [
        ("source", f"The input, {source}", list(links.source())),
        ("target", f"The output, {target}", list(links.target(done.body, ""))),
    ]
    if any(at.startswith(OUTSIDE) for at in done.trace.origins) and done.envelope is not None:
        outside = {k: v for k, v in done.envelope._asdict().items() if v not in (None, {}, "")}
        lines = list(links.target(outside, OUTSIDE))
        trees.append(("envelope", "The envelope of the output", lines))
    counts = Counter(line.mark for *_, lines in trees for line in lines)
    style, script = (page_text(f"report.{kind}") for kind in ("css", "js"))
    return fill_template(
        "a report",
        "report.html",
        style,
        title=f"A {unit} from {source} to {target}",
        script=script,
        trees=trees,
        counts=[(mark, counts[mark]) for mark in MARKS if counts[mark]],
        notes=list(map(str, done.notes)),
        rules_hash=done.rules_hash,
    )


def fill_template(what: str, name: str, style: str, script: str = "", **variables: Any) -> str:
    """Fill in a template, to show `what`. Raises UsageError without jinja2."""
    needs = f"{what} needs `pip install 'wireglot[report]'`"
    jinja = library("jinja2", needs)
    pages = jinja.Environment(autoescape=True, loader=jinja.FunctionLoader(page_text))
    template = pages.get_template(name)
    plain = library("markupsafe", needs).Markup
    hashes = {"style_hash": hash_of(style), "script_hash": hash_of(script)}
    made: str = template.render(**variables, **hashes, style=plain(style), script=plain(script))
    return made


def page_text(name: str) -> str:
    """Return a piece of the pages, as `report.css`."""
    return (PAGE / name).read_text("utf-8")


def hash_of(text: str) -> str:
    """Return what a Content-Security-Policy names a style or script by."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


class _TreeLines:
    """Makes the lines of both trees; each leaf has an id, by which the other tree links to it."""

    def __init__(self, body: Any, done: Conversion, trace: Trace) -> None:
        self.body, self.done, self.trace = body, done, trace
        self.sources = {at: f"s{i}" for i, at in enumerate(trace.fates)}
        self.targets = {at: f"t{i}" for i, at in enumerate(trace.origins)}

    def source(self) -> Iterator[Line]:
        for at, line in _lines(self.body, (), "", ""):
            fate = self.trace.fates.get(pointer(at)) if at is not None else None
            yield line if fate is None or at is None else self._fate(line, pointer(at), fate)

    def target(self, body: Any, before: str) -> Iterator[Line]:
        """Yield the lines of the output, or of the envelope."""
        for at, line in _lines(body, (), "", ""):
            here = before + pointer(at or ())
            origin = self.trace.origins.get(here) if at is not None else None
            yield line if origin is None else self._origin(line, here, origin)

    def _fate(self, line: Line, at: str, fate: Fate) -> Line:
        ends = [self.targets[to] for to in _leaves_at(fate.targets, self.targets)]
        mark = "" if fate.kind == "carried" else fate.kind
        note = nearest(self.done.notes, at, "source_path")
        lines = fate_lines(self.body, self.done, at, fate)
        return self._line(line, self.sources[at], ends, lines, mark, note)

    def _origin(self, line: Line, at: str, origin: Origin) -> Line:
        ends = [self.sources[one] for one in _leaves_at(origin.sources, self.sources)]
        literal = any(step.way == "literal" for step in origin.steps)
        mark = "" if origin.sources else "fixed" if literal else "added"
        note = nearest(self.done.notes, at, "target_path")
        lines = origin_lines(self.body, self.done, at, origin)
        return self._line(line, self.targets[at], ends, lines, mark, note)

    def _line(
        self, line: Line, name: str, ends: list[str], lines: Iterable[str], mark: str,
        note: Note | None,
    ) -> Line:  # fmt: skip
        """Return the line of a leaf: where it leads to, and what is said of it."""
        where = ends[0] if ends else "said" if note is None else f"n{self.done.notes.index(note)}"
        links, say = " ".join(ends), "\n".join(lines)
        return line._replace(id=name, href=where, links=links, mark=mark, say=say)


def _leaves_at(places: tuple[str, ...], known: dict[str, str]) -> Iterator[str]:
    """Yield the leaves at places, or below them."""
    for place in places:
        if place in known:
            yield place
        else:
            yield from (one for one in known if one.startswith(f"{place}/"))


def _lines(value: Any, at: At, key: str, comma: str) -> Iterator[tuple[At | None, Line]]:
    """Yield the lines of a JSON value, each leaf with its place."""
    indent = "  " * len(at)
    if isinstance(value, dict) and value:
        inner = [(name, f"{_text(name)}: ", child) for name, child in value.items()]
        ends = "{}"
    elif isinstance(value, list) and value:
        inner = [(i, "", child) for i, child in enumerate(value)]
        ends = "[]"
    else:
        yield at, Line(indent, key, _text(value), comma)
        return
    yield None, Line(indent, key, ends[0], "")
    for number, (name, label, child) in enumerate(inner, 1):
        yield from _lines(child, (*at, name), label, "," if number < len(inner) else "")
    yield None, Line(indent, "", ends[1], comma)


def _text(value: Any) -> str:
    """Return a leaf as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONG else f"{text[:LONG]}... ({len(text)} characters)"
