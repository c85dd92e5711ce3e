"""The page of a dialect: each picture of its rule file beside its examples and its losses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from markupsafe import Markup

from wireglot.authoring import examples, show
from wireglot.authoring.examples import Example
from wireglot.language.model import Dialect
from wireglot.language.shape import Shape
from wireglot.language.source import Node, without_examples
from wireglot.loading import listing
from wireglot.rulesets import RuleSet

from .losses import Loss, losses
from .pages import Link, Page, Shown, as_json, heading, pretty, render, shown, slug

LONG = 30  # an example of more lines is folded
# The sections of a rule file in the order of the page, with what is said of each.
SECTIONS = {
    "shapes": "Shapes",
    "conversation": "Messages",
    "request": "Request",
    "response": "Response",
    "error": "Error",
    "envelope": "Envelope",
    "session": "Session",
    "document": "Document",
    "stream": "Stream",
    "tables": "Tables of words",
    "schemas": "Schemas of tools",
    "unions": "Unions",
    "limits": "Limits",
}
REST = "hooks carry signatures spelling media-types variants".split()


class Side(NamedTuple):
    """One side of an example: what it is, as JSON, and whether that is long."""

    title: str
    json: Markup
    long: bool


class Shot(NamedTuple):
    """An example as it is shown."""

    place: str
    href: str
    sides: tuple[Side, ...]
    notes: tuple[str, ...]
    abroad: tuple[tuple[str, str], ...]


class Entry(NamedTuple):
    """A picture with its heading, its lines, its examples and its losses."""

    id: str
    name: str
    about: str
    lines: list[Shown]
    shots: list[Shot]
    losses: list[Loss]


class Section(NamedTuple):
    """A section of a rule file."""

    id: str
    title: str
    entries: list[Entry]


class Row(NamedTuple):
    """What the list of dialects says of one."""

    name: str
    see: str
    verified: str
    files: tuple[str, ...]
    shapes: int
    examples: int


def page(rules: RuleSet, name: str, link: Link) -> Page:
    """Return the page of a dialect; `link` gives the address of a line of a rule file."""
    made = _Made(rules, name, link)
    sections = list(made.sections())
    drop = made.model.node.get("drop")
    given_up = [
        (path, child.plain(), *_place(child.pos, link))
        for path, child in (drop.value.items() if drop else ())
    ]
    html = render(
        "dialect.html",
        row=row(rules, name),
        files=[(file, link(f"{file}:1")) for file in _files(made.model.node)],
        family=made.model.family if made.model.family != name else "",
        given_up=given_up,
        sections=sections,
    )
    headings = [heading(2, "given-up", "What it has no place for")] if given_up else []
    for section in sections:
        headings.append(heading(2, section.id, section.title))
        headings += [heading(3, e.id, e.name) for e in section.entries if e.name]
    return Page(html, tuple(headings))


def row(rules: RuleSet, name: str) -> Row:
    """Return what the list of dialects says of one."""
    model = rules[name].model
    web = urlsplit(model.see).scheme in ("http", "https")
    files = tuple(_files(model.node))
    number = sum(1 for _ in examples.find(rules[name]))
    see = model.see if web else ""
    return Row(name, see, model.verified, files, len(model.shapes), number)


def listed(rules: RuleSet, overlays: dict[str, str], link: Link) -> Page:
    """Return the list of dialects, with the overlays by name and the dialect of each."""
    laid = [
        (name, dialect, link(f"rules/overlays/{name}.yaml:1"))
        for name, dialect in sorted(overlays.items())
    ]
    said = {one.name: one for one in listing.listed(rules)}
    rows = [row(rules, name)._asdict() | {"listed": said[name]} for name in rules.dialects]
    html = render("dialects.html", rows=rows, overlays=laid)
    headings = [heading(2, "overlays", "Overlays")] if laid else []
    return Page(html, tuple(headings))


class _Made:
    """Makes the sections of one page."""

    def __init__(self, rules: RuleSet, name: str, link: Link) -> None:
        self.model: Dialect = rules[name].model
        self.link = link
        self.shots: dict[str, list[Shot]] = {}
        for example in examples.find(rules[name]):
            self.shots.setdefault(example.owner, []).append(_shot(example, link))

    def sections(self) -> Iterator[Section]:
        """Yield the sections that the file has."""
        for word, title in SECTIONS.items():
            node = self.model.node.get(word)
            if node is None:
                continue
            if word in ("shapes", "tables", "schemas"):
                entries = [self.inner(word, node, name) for name in node.value]
            else:
                entries = [self.entry(word, "", word, _alone(self.model.node, word))]
            yield Section(slug(word), title, entries)
        rest = [
            self.entry(slug("rest", word), word, "", _alone(self.model.node, word))
            for word in REST
            if self.model.node.get(word) is not None
        ]
        if rest:
            yield Section("rest", "What else the file says", rest)

    def inner(self, word: str, section: Node, name: str) -> Entry:
        """Return a shape, table or schema."""
        return self.entry(slug(word, name), name, f"{word}/{name}", _alone(section, name))

    def entry(self, id: str, name: str, owner: str, node: Node) -> Entry:
        """Return an entry with the examples that stand under its owner."""
        section, _, named = owner.rpartition("/")
        about = _about(self.model.shapes[named]) if section == "shapes" else ""
        lines = shown(show.lines(node), self.link, _own(self.model.node))
        lost = losses(self.model, section, named)
        return Entry(id, name, about, lines, self.shots.get(owner, []), lost)


def _about(shape: Shape) -> str:
    """Say in a sentence what a shape is in the IR."""
    if shape.groups:
        return f"Holds a run of {' and '.join(sorted(shape.groups))}."
    if shape.marks:
        return f"Is the field {shape.marks} of the element before it."
    if shape.kind:
        return f"Is a part {shape.kind} of the IR."
    return ""


def _alone(node: Node, name: str) -> Node:
    """Return a mapping of one entry, without the examples, which stand beside it."""
    return Node({name: without_examples(node.value[name])}, node.pos, node.keys)


def _shot(example: Example, link: Link) -> Shot:
    said = example.said
    titles = {
        "wire": "On the wire",
        "ir": "In the IR",
        "reads": "Read from the wire",
        "writes": "Written from the IR",
        "as": "as in the IR" if "reads" in said else "as on the wire",
    }
    sides = tuple(_side(title, said[key]) for key, title in titles.items() if key in said)
    abroad = tuple(
        (name, ", ".join(f"{code} ({n})" if n > 1 else code for code, n in counts.items()))
        for name, counts in said.get("crossing", {}).items()
    )
    place, href = _place(example.pos, link)
    return Shot(place, href, sides, tuple(map(str, said.get("notes", ()))), abroad)


def _side(title: str, value: Any) -> Side:
    return Side(title, as_json(value), pretty(value).count("\n") >= LONG)


def _place(pos: Any, link: Link) -> tuple[str, str]:
    return f"{pos.file.rpartition('/')[2]}:{pos.line}", link(f"{pos.file}:{pos.line}")


def _own(node: Node) -> str:
    """Return the file that names the dialect; what lies below it may stand in others."""
    return str(node.value["dialect"].pos.file)


def _files(node: Node) -> dict[str, None]:
    """Return the files that a dialect is made of, its own first."""
    found: dict[str, None] = {_own(node): None}
    stack = [node]
    while stack:
        one = stack.pop()
        found.setdefault(one.pos.file)
        inner = one.value.values() if isinstance(one.value, dict) else one.value
        stack += inner if isinstance(one.value, dict | list) else ()
    return found
