"""Writes the model and the functions of a dialect as modules, for `executor.modules` in a wheel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..executor import readers, writer
from ..executor.code import Code, Key
from ..executor.places import Address
from ..language.model import Dialect
from . import modelcode
from .modelcode import Makers

# The ways of conversions, each with the one whose functions are mostly just so, and what is said
# of it. Those at home are for an IR that a caller changes: they would be two fifths of a wheel, and
# such a process makes the few that it needs.
WAYS = {
    "read_away": ("", "read abroad"),
    "read_probe": ("read_away", "what was written, read back"),
    "write_away": ("", "written abroad"),
}


class Function(NamedTuple):
    """A function: its text, the key that it is asked for by, and its constants."""

    text: str
    key: Key
    constants: dict[str, Address | str]  # addresses in the model, or texts of data

    def __str__(self) -> str:
        return self.text


def functions(dialect: Dialect, way: str) -> dict[str, Function]:
    """Return all functions of a dialect that go one way, by name."""
    word, mode = way.split("_")
    code = _reads(dialect, mode) if word == "read" else _writes(dialect)
    names, keys = code.all(), code.keys()
    found = {}
    for name in names:
        constant_names = [one for one in code.known(name) if one in code.meant]
        constants = {one: meant for one in constant_names if (meant := code.meant[one]) is not None}
        if len(constants) == len(constant_names):  # else it is made where it is asked for
            found[name] = Function(code.text(name), keys[name], constants)
    return found


def _reads(dialect: Dialect, mode: str) -> Code:
    reads = readers.of(dialect, mode)
    for name in (*dialect.shapes, *dialect.unions):
        reads.choice(name)
        reads.each(name)
    for shape in (*dialect.shapes.values(), *dialect.units.values()):
        reads.choice(shape)
        for case in shape.cases:
            (reads.run if shape.groups else reads.case)(shape, case)
    return reads.code


def _writes(dialect: Dialect) -> Code:
    writes = writer.writes_of(dialect, False)
    for name in (*dialect.shapes, *dialect.unions):
        writes.any(name)
    for shape in (*dialect.shapes.values(), *dialect.units.values()):
        if shape.groups:
            for case in shape.cases:
                writes.part(shape, case)
            continue
        writes.one(shape)
        writes.choice(shape)
        for case in shape.cases:
            writes.case(shape, case)
    for case in dialect.message_cases:
        writes.message(case)
    return writes.code


def module_text(
    title: str, found: dict[str, Function], base: str = "", below: dict[str, Function] | None = None
) -> str:
    """Return the text of a module of functions; those that are just so in `base` stand there."""
    below = below or {}
    own = {name: one for name, one in found.items() if below.get(name) != one}
    constants = {name: of for one in own.values() for name, of in one.constants.items()}
    places = {name: of for name, of in constants.items() if not isinstance(of, str)}
    data = {name: of for name, of in constants.items() if isinstance(of, str)}
    gone = sorted(name for name in below if name not in found)
    return "".join(
        [
            f'"""{title}: functions that were made when the wheel was."""\n\n',
            "from wireglot.language.picture import ABSENT, Text\n",
            "from wireglot.language.source import Pos\n\n",
            f"BASE = {base!r}  # the module of the functions that are not here\n",
            f"GONE = {gone!r}  # those of them that are not there\n",
            *(f"\n\n{one.text}" for one in own.values()),
            "\n\n# What the constants are.\nDATA = {\n",
            *(f"    {name!r}: {text},\n" for name, text in sorted(data.items())),
            "}\n# Where others stand in the model.\nPLACES = {\n",
            *(f"    {name!r}: {at!r},\n" for name, at in sorted(places.items())),
            "}\n# What each function is of.\nKEYS = {\n",
            *(f"    {one.key!r}: {name!r},\n" for name, one in own.items()),
            "}\n",
        ]
    )


Pieces = dict[str, dict[str, Any]]  # the functions of modules by name, by how the modules end


def pieces(dialect: Dialect, makers: Makers) -> Pieces:
    """Return the functions of a dialect: those of its model, and those that go each way."""
    return {
        **modelcode.functions(dialect, makers),
        **{way: functions(dialect, way) for way in WAYS},
    }


def modules(
    name: str, dialects: dict[str, Dialect], over: str = "", parent: Pieces | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the modules of a dialect and its variants, with their texts.

    `dialects` has them by how their modules begin, the one without variants first. What that one
    has just so from its `parent`, whose modules begin with `over`, stands there.
    """
    first, makers = next(iter(dialects)), Makers()
    known = {f"{over}_{end}": found for end, found in (parent or {}).items()}
    near: dict[str, list[str]] = {}  # the modules of each end that those of variants may be over
    for start, dialect in dialects.items():
        for end, found in pieces(dialect, makers).items():
            title, above = f"{start}_{end}", [f"{over}_{end}"] if over else []
            like, said = WAYS.get(end, ("", ""))
            if start != first:
                above = near[end]
            elif like:
                above.append(f"{start}_{like}")
            base = _most_alike(found, {one: known[one] for one in above}) if above else ""
            below = known.get(base)
            if end in WAYS:
                yield title, module_text(f"{name}, {said}", found, base, below)
            else:
                said, there = f"The {end} of {name}", f"wireglot.made.{base}"
                yield title, modelcode.module_text(said, makers, found, there, below)
            if start == first or base == f"{first}_{end}":
                known[title] = found
                near.setdefault(end, []).append(title)


def _most_alike(found: dict[str, Any], known: Pieces) -> str:
    """Return which of some modules has most of some functions just so, the first of equal ones."""

    def shared(title: str) -> int:
        there = known[title]
        same = (text for name, one in found.items() if (text := str(one)) == str(there.get(name)))
        return sum(map(len, same))

    return max(known, key=shared)
