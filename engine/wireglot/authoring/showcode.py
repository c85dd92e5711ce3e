"""Showing the functions that read and write a shape, as they are run, and what their names mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import UsageError
from ..executor import readers, writer
from ..executor.code import literal
from ..executor.lists import Listing
from ..executor.readinner import Inners
from ..language import picture as pic
from ..language.model import Dialect
from ..language.shape import Case, Shape
from .wirefacts import spelt

WORDS = ("ABSENT", "NO", "ODD", "EMPTY", "BARE", "KEPT", "Misfit")
HEAD = """\
# x: the reader or writer; w: a value of the wire, which stands at the place `at`; o: an IR object;
# L: lenient, what does not fit is kept where its hole has a mark; ABSENT: nothing stands there;
# NO: the case does not fit; odd, cold, plain: the walk of the pictures does what is rare.
"""


def text(dialect: Dialect, name: str | None, home: bool) -> str:
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
        said += ["\n", *(f"# {_meaning(one, code.names[one])}\n" for one in told)]
    return "".join(said)


def _uses(dialect: Dialect, name: str) -> set[str]:
    """Return how a shape is held: by an object's own fields (`.`), by `each`, by `as`."""
    around = {name, *(union for union, some in dialect.unions.items() if name in some)}
    some = (hole for case in dialect.cases for hole in pic.holes(case.wire))
    return {"." if h.path == "." else str(h.mode) for h in some if h.shape in around}


def _reads(dialect: Dialect, name: str, home: bool) -> Iterator[str]:
    reads, uses = readers.of(dialect, "home" if home else "away"), _uses(dialect, name)
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
    writes, uses = writer.writes_of(dialect, home), _uses(dialect, name)
    if name == "message":
        yield from map(writes.inside, dialect.talks)
        return
    if "as" in uses:
        yield writes.any(name)
    if "." in uses:
        yield writes.parts(name)
    for shape in dialect.members(name) if name not in dialect.unions else ():
        cases = [case for case in shape.cases if home or not case.home]
        if "." in uses:
            yield from (writes.part(shape, case) for case in cases)
        elif shape.groups:
            yield from map(writes.inside, cases)
        else:
            yield from (writes.one(shape), *(writes.case(shape, case) for case in cases))


def _meaning(name: str, value: Any) -> str:
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
