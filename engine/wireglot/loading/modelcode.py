"""Writes the model of a dialect as Python that builds it, for a wheel: one function for each shape.

Objects are made with all that they hold, without what works it out of a rule file. What is one
object in the model is one object in what is built, and stands in one function alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..language.model import FOUND, Dialect
from ..language.picture import ABSENT

# Attributes of a dialect that are not built with it: they have functions of their own, or are
# found when they are asked for.
APART = FOUND | {"shapes", "units", "stream", "node", "made", "_later"}
APART |= {"candidates", "coded", "kinds", "named"}
HEAD = "from wireglot.language.picture import ABSENT\nfrom wireglot.made.makers import *\n"


class Makers:
    """The classes that were met, and what makes their objects."""

    def __init__(self) -> None:
        self.fields: dict[type, list[str]] = {}  # none of a named tuple, which is called itself
        self.held: dict[int, tuple[Any, str]] = {}  # what was written, and in which function

    def text(self) -> str:
        """Return the module that has what makes objects."""
        said = ['"""What makes the objects of models."""\n']
        for kind in sorted(self.fields, key=lambda one: one.__name__):
            said.append(f"from {kind.__module__} import {kind.__name__}")
        said.append("")
        for kind, fields in self.fields.items():
            if fields:
                name = kind.__name__
                said += [f"new_{name} = {name}.__new__\nclass_{name} = {name}\n\n"]
                said += [f"def {name}({', '.join(fields)}):", f"    o = new_{name}(class_{name})"]
                said += [*(f"    o.{field} = {field}" for field in fields), "    return o\n\n"]
        return "\n".join(said)

    def of(self, value: Any) -> list[str]:
        """Return the attributes of an object, all of them."""
        kind = type(value)
        slots = [one for base in kind.__mro__[::-1] for one in getattr(base, "__slots__", ())]
        fields = slots or sorted(vars(value))
        assert self.fields.setdefault(kind, fields) == fields, f"{kind} has no one form"
        return fields


class Function:
    """The text of one function that builds a part of a model."""

    def __init__(self, makers: Makers, name: str, value: Any) -> None:
        """Write what builds a value."""
        self.makers, self.name = makers, name
        self._names: dict[int, str] = {}
        self._lines: list[str] = []
        made = self.of(value)
        self.text = "".join(
            f"{line}\n" for line in (f"def {name}():", *self._lines, f"    return {made}")
        )

    def of(self, value: Any) -> str:
        """Return an expression for a value; lines before it make the objects in it."""
        kind = value.__class__
        if value is ABSENT:
            return "ABSENT"
        if value is None or kind in (str, int, bool, float):
            return repr(value)
        if kind is dict:
            return f"{{{', '.join(f'{self.of(k)}: {self.of(v)}' for k, v in value.items())}}}"
        if kind is list:
            return f"[{', '.join(map(self.of, value))}]"
        if kind is tuple:
            return f"({''.join(f'{self.of(one)}, ' for one in value)})"
        if kind in (set, frozenset):
            inner = "".join(f"{one}, " for one in sorted(map(self.of, value)))
            return f"{kind.__name__}(({inner}))"
        if isinstance(value, tuple):
            self.makers.fields.setdefault(kind, [])
            return f"{kind.__name__}({', '.join(map(self.of, value))})"
        return self._object(value)

    def _object(self, value: Any) -> str:
        if id(value) not in self._names:
            _, where = self.makers.held.setdefault(id(value), (value, self.name))
            assert where == self.name, f"{value!r} stands in {where} and in {self.name}"
            given = ", ".join(self.of(getattr(value, field)) for field in self.makers.of(value))
            name = f"{type(value).__name__.lower()}{len(self._names)}"
            self._lines.append(f"    {name} = {type(value).__name__}({given})")
            self._names[id(value)] = name
        return self._names[id(value)]


def functions(dialect: Dialect, makers: Makers) -> Iterator[Function]:
    """Yield the functions that build the parts of a dialect."""
    rest = {name: value for name, value in vars(dialect).items() if name not in APART}
    yield Function(makers, "rest", rest)
    yield Function(makers, "stream", dialect.stream)
    for word in ("shapes", "units"):
        for name, shape in getattr(dialect, word).items():
            yield Function(makers, f"{word}_{name.replace('-', '_').replace('.', '_')}", shape)


def module(dialect: Dialect, makers: Makers, base: str, there: dict[str, str]) -> tuple[str, Any]:
    """Return the text of a module and its functions; what is just so in `base` stands there."""
    makers.held.clear()
    found = {one.name: one.text for one in functions(dialect, makers)}
    same = [name for name, text in found.items() if there.get(name) == text]
    said = [f'"""The model of {dialect.name}."""\n\n{HEAD}']
    if same:
        said.append(f"from wireglot.made.{base}.model import {', '.join(same)}\n")
    said += [f"\n\n{text}" for name, text in found.items() if name not in same]
    for word in ("shapes", "units"):
        names = [name for name in found if name.startswith(f"{word}_")]
        pairs = zip(getattr(dialect, word), names, strict=True)
        listed = "".join(f"    {name!r}: {function},\n" for name, function in pairs)
        said.append(f"\n\n{word.upper()} = {{\n{listed}}}\n")
    return "".join(said), found
