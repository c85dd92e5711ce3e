"""What the generated pages share: templates, the table of contents, JSON and YAML as HTML.

All text goes through jinja2 with autoescape or through pygments, which escapes it: a rule file may
come from anybody.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from wireglot.authoring.show import Line

WIDE = 46  # a JSON value that fits stands in one line
PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)(?::\d+)?")
Link = Callable[[str], str]  # from a place `file:line` to the address of that line, or ""


class Heading(NamedTuple):
    """A heading of a page, for the table of contents; its name is HTML."""

    level: int
    id: str
    name: Markup


def heading(level: int, id: str, text: str) -> Heading:
    """Return a heading of this text."""
    return Heading(level, id, escape(text))


class Page(NamedTuple):
    """The HTML of a page, and its headings."""

    html: str
    headings: tuple[Heading, ...]


class Shown(NamedTuple):
    """A line of YAML as HTML, with the place that it came from and what else is said of it."""

    html: Markup
    place: str
    href: str
    said: str


ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
LEXER = functools.cache(functools.partial(get_lexer_by_name, stripnl=False, ensurenl=True))
FORMATTER = HtmlFormatter(nowrap=True)


def render(name: str, **values: Any) -> str:
    """Return a template of this folder, filled in."""
    return ENVIRONMENT.get_template(name).render(**values)


def slug(*words: str) -> str:
    """Return words as an id: only letters, digits, `_`, `-` and `.` stay what they are."""
    joined = "-".join(words)
    return re.sub(r"[^\w.-]", lambda sign: f"-{ord(sign[0]):x}-", joined)


def coloured(text: str, language: str) -> list[Markup]:
    """Return the lines of a text as HTML, its words marked as pygments has them."""
    html = highlight(text, LEXER(language), FORMATTER)
    return [Markup(line) for line in html.rstrip("\n").split("\n")]


def shown(lines: Iterable[Line], link: Link, own: str) -> list[Shown]:
    """Return lines of a rule file as HTML, each with a link to its place; `own` goes unnamed."""
    listed = list(lines)
    html = coloured("\n".join(line.text for line in listed), "yaml") if listed else []
    return [_shown(h, line.said, link, own) for h, line in zip(html, listed, strict=True)]


def _shown(html: Markup, said: str, link: Link, own: str) -> Shown:
    place, _, more = said.partition(", was ")
    match = PLACE.fullmatch(place)
    if match is None:
        return Shown(html, said, "", "")
    other = "" if match["file"] == own else f"{Path(match['file']).name}:"
    short = f"{other}{match['line']}"
    return Shown(html, short, link(place), f"was {more}" if more else "")


def as_json(value: Any) -> Markup:
    """Return JSON as HTML, a value in one line where it fits."""
    return Markup("\n").join(coloured(pretty(value), "json"))


def pretty(value: Any, depth: int = 0) -> str:
    """Return JSON text for people."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + 2 * depth <= WIDE or not value or not isinstance(value, dict | list):
        return flat
    inner, ends = "  " * (depth + 1), "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, dict):
        rows = [f"{json.dumps(k, ensure_ascii=False)}: " + pretty(v, depth + 1)
                for k, v in value.items()]  # fmt: skip
    else:
        rows = [pretty(item, depth + 1) for item in value]
    listed = ",\n".join(f"{inner}{row}" for row in rows)
    return f"{ends[0]}\n{listed}\n{'  ' * depth}{ends[1]}"
