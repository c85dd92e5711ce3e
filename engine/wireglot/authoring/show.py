"""Showing a dialect without its layers, and the functions that read and write its shapes.

It is YAML, with the place that each line came from beside it. Functions are shown as they are run,
with what their names mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..errors import UsageError
from ..executor import readers, writer
from ..executor.code import literal
from ..executor.lists import Listing
from ..executor.readinner import Inners
from ..language import picture as pic
from ..language.apart import SECTIONS
from ..language.model import Dialect
from ..language.shape import Case, Shape
from ..language.source import Node, Pos, without_examples
from .sketch import flow, scalar
from .wirefacts import spelt

WIDE = 76  # the comments stand in one column, except beside lines that are longer than this
LONG = 100
WORDS = ("ABSENT", "NO", "ODD", "EMPTY", "BARE", "KEPT", "Misfit")  # they mean what they say
HEAD = """\
# x: the reader or writer; w: a value of the wire, which stands at the place `at`; o: an IR object;
# L: lenient, what does not fit is kept where its hole has a mark; ABSENT: nothing stands there;
# NO: the case does not fit; NAME: what the dialect is called; odd, cold, plain: the walk of the
# pictures does what is rare.
"""


class Line(NamedTuple):
    """A line of YAML, and what its comment says."""

    text: str
    said: str


def flat_yaml(node: Node, only: str | None = None, examples: bool = True) -> str:
    """Return a flat rule file, or what stands under one name, as YAML with comments.

    Raises UsageError for a name that is not there.
    """
    node = node if examples else without_examples(node)
    found = list(lines(node if only is None else _select(node, only)))
    fits = [len(line.text) for line in found if line.said and len(line.text) <= WIDE]
    width = max(fits, default=0)
    shown = (f"{text:<{width}}  # {said}" if said else text for text, said in found)
    return "".join(f"{text}\n" for text in shown)


def _select(node: Node, name: str) -> Node:
    """Return the parts of a file that have a name, each within what it stands in."""
    if name in node.value:
        return Node({name: node.value[name]}, node.pos, node.keys)
    found = {}
    for key, child in node.value.items():
        inner = child.get(name)
        if inner is not None and key in (*SECTIONS, "limits", "unions", "examples"):
            found[key] = Node({name: inner}, child.pos, child.keys)
    if not found:
        there = [*node.under("shapes"), *node.value]
        raise UsageError(f"there is no `{name}` in it; there are: {', '.join(there)}")
    return Node(found, node.pos, node.keys)


def lines(node: Node, depth: int = 0, first: str = "") -> Iterator[Line]:
    """Yield the lines of a mapping as YAML, each with what its comment says."""
    indent = "  " * depth
    for key, child in node.value.items():
        pos = node.key_pos(key)
        head = f"{first or indent}{scalar(key, False)}:"
        first = ""
        yield from _entry(head, child, depth, pos)
    for gone in getattr(node, "removed", ()):
        was = _replaced(gone.was)
        yield Line(f"{indent}# no `{gone.key}`", f"{_file_line(gone.pos)}, was {was}")


def _entry(head: str, child: Node, depth: int, pos: Pos) -> Iterator[Line]:
    """Yield a key (or the dash of an item) with what stands under it."""
    was = getattr(child, "replaced", None)
    said = _file_line(pos) + (f", was {_replaced(was)}" if was is not None else "")
    if (short := _one_line(child, pos)) is not None:
        yield Line(f"{head} {short}", said)
    elif isinstance(child.value, dict):
        yield Line(head, said)
        yield from lines(child, depth + 1)
    else:
        yield Line(head, said)
        for item in child.value:
            dash = "  " * (depth + 1) + "-"
            if isinstance(item.value, dict) and _one_line(item, item.pos) is None:
                yield from lines(item, depth + 2, f"{dash} ")
            else:
                yield from _entry(dash, item, depth + 2, item.pos)


def _one_line(node: Node, pos: Pos) -> str | None:
    """Return a node in one line where all of it stands on the line of `pos`."""
    if not isinstance(node.value, dict | list):
        return scalar(node.value, False)
    here = all(p.file == pos.file and p.line == pos.line for p in _places(node))
    # Words are one thing, in however many lines they were written.
    words = isinstance(node.value, list) and not any(
        isinstance(i.value, dict | list) or getattr(i, "replaced", None) for i in node.value
    )
    return flow(node.plain()) if here or words or not node.value else None


def _places(node: Node) -> Iterator[Pos]:
    """Yield where the parts of a node stand; one that replaced another counts as elsewhere."""
    inner = node.value.values() if isinstance(node.value, dict) else node.value
    for child in inner if isinstance(node.value, dict | list) else ():
        yield child.pos
        if getattr(child, "replaced", None) or getattr(child, "removed", ()):
            yield Pos("", 0, 0)
        yield from _places(child)
    if getattr(node, "removed", ()):
        yield Pos("", 0, 0)


def _replaced(node: Node) -> str:
    """Say what was replaced, shortly, and where it stood."""
    text = str(flow(node.plain()))
    short = text if len(text) <= LONG else f"{text[: LONG - 4]} ..."
    before = getattr(node, "replaced", None)
    more = f", was {_replaced(before)}" if before is not None else ""
    return f"`{short}` at {_file_line(node.pos)}{more}"


def _file_line(pos: Pos) -> str:
    return f"{pos.file}:{pos.line}"


# -- functions ------------------------------------------------------------------------------------


def functions(dialect: Dialect, name: str | None, home: bool) -> str:
    """Return the functions of a shape, unit, union or `message`, of all of them if none is named.

    Raises UsageError for a name that is not there.
    """
    talk = {} if dialect.conversation is None else {"message": None}
    there = [*dialect.shapes, *dialect.unions, *dialect.units, *talk]
    if name is not None and name not in there:
        raise UsageError(f"there is no `{name}` in it; there are: {', '.join(there)}")
    shown = there if name is None else [name]
    said = [HEAD]
    for verb, of, code in (
        ("reads", _reads, readers.of(dialect, "home" if home else "away").code),
        ("writes", _writes, writer.writes_of(dialect, home).code),
    ):
        names = list(dict.fromkeys(one for each in shown for one in of(dialect, each, home)))
        said += [f"\n\n# -- what {verb} {dialect.name}, {'at home' if home else 'abroad'}\n"]
        said += [f"\n{code.text(one)}" for one in names]
        met = dict.fromkeys(one for each in names for one in code.known(each))
        told = [one for one in met if one[0].isupper() and one not in WORDS]
        said += ["\n", *(f"# {_constant_line(one, code.names[one])}\n" for one in told)]
    return "".join(said)


def _held_by(dialect: Dialect, name: str) -> set[str]:
    """Return how a shape is held: by an object's own fields (`.`), by `each`, by `as`."""
    around = {name, *(union for union, some in dialect.unions.items() if name in some)}
    some = (hole for case in dialect.cases for hole in pic.holes(case.wire))
    return {"." if h.path == "." else str(h.mode) for h in some if h.shape in around}


def _reads(dialect: Dialect, name: str, home: bool) -> Iterator[str]:
    reads, uses = readers.of(dialect, "home" if home else "away"), _held_by(dialect, name)
    if name == "message":
        yield from (name, *(f for f in reads.code.known(name) if f.startswith("message_")))
        return
    if uses != {"."}:
        yield reads.choice(name)
    if "each" in uses:
        yield reads.each(name)
    for shape, case in dialect.cases_of(name) if name not in dialect.unions else ():
        if "." in uses:
            yield reads.inner(shape, case)
        elif shape.groups:
            yield reads.run(shape, case)
        else:
            yield reads.case(shape, case)


def _writes(dialect: Dialect, name: str, home: bool) -> Iterator[str]:
    writes, uses = writer.writes_of(dialect, home), _held_by(dialect, name)
    if name == "message":
        yield from filter(None, map(writes.message, dialect.message_cases))
        return
    if "as" in uses:
        yield writes.any(name)
    if "." in uses:
        yield writes.parts(name)
    for shape in dialect.members(name) if name not in dialect.unions else ():
        cases = [case for case in shape.cases if home or not case.home]
        if "." in uses:
            yield from (writes.part(shape, case) for case in cases)
        elif not shape.groups:  # a run is walked
            yield from (writes.one(shape), *(writes.case(shape, case) for case in cases))


def _constant_line(name: str, value: Any) -> str:
    """Say what stands for a value that a function knows by a name."""
    if isinstance(value, pic.Hole):
        said = f"{spelt(value)}  # {value.pos.file}:{value.pos.line}"
    elif isinstance(value, Shape | Case):
        said = f"the {type(value).__name__.lower()} `{value.name or value.pos}`"
    elif isinstance(value, frozenset):
        said = f"{{{', '.join(sorted(map(repr, value)))}}}"
    elif isinstance(value, dict | tuple | str | float):
        said = literal(value) or repr(value)
    elif isinstance(value, Listing):
        said = "a list for " + "; ".join(map(spelt, value.holes))
    elif isinstance(value, Inners):
        said = "the cases " + ", ".join(one.name for one in value.all)
    elif isinstance(value, pic.Text):
        said = spelt(value)
    else:
        said = f"a {type(value).__name__.lower()}"
    return f"{name}: {said}"
