"""Writes the model of a dialect as Python that builds it, for a wheel: one function for each shape.

Objects are made with all that they hold, without what works it out of a rule file. What is one
object in the model is one object in what is built, and stands in one function alone.
"""

from __future__ import annotations

from typing import Any

from ..executor.code import spelled
from ..language.model import FOUND, LATER, Dialect
from ..language.picture import ABSENT

# Attributes of a dialect that are not built with it: they have functions of their own, or are
# found when they are asked for.
APART = FOUND | {"shapes", "units", "made", "_later", *LATER}
APART |= {"candidates", "coded", "kinds", "named"}
MAKERS = "wireglot.made.makers"


class Makers:
    """The classes that were met, and what makes their objects."""

    def __init__(self) -> None:
        self.fields: dict[type, list[str]] = {}  # none of a named tuple, which is called itself
        self.held: dict[int, tuple[Any, str]] = {}  # what was written, and in which function

    def texts(self) -> dict[str, str]:
        """Return the modules that have what makes objects, for each module of their classes."""
        found: dict[str, str] = {}
        for kind, fields in self.fields.items():
            if fields:
                name, module = kind.__name__, kind.__module__
                body = "".join(f"    o.{field} = {field}\n" for field in fields)
                head = f'"""What makes objects of `{module}`."""\n\n'
                text = found.setdefault(module.rpartition(".")[2], head)
                found[module.rpartition(".")[2]] = (
                    f"{text}from {module} import {name} as class_{name}\n\n"
                    f"new_{name} = class_{name}.__new__\n\n\n"
                    f"def {name}({', '.join(fields)}):\n"
                    f"    o = new_{name}(class_{name})\n{body}    return o\n\n\n"
                )
        return found

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
        self.kinds: set[type] = set()  # classes of objects in it
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
            self.kinds.add(kind)
            return f"{kind.__name__}({', '.join(map(self.of, value))})"
        return self._object(value)

    def _object(self, value: Any) -> str:
        if id(value) not in self._names:
            _, where = self.makers.held.setdefault(id(value), (value, self.name))
            assert where == self.name, f"{value!r} stands in {where} and in {self.name}"
            given = ", ".join(self.of(getattr(value, field)) for field in self.makers.of(value))
            self.kinds.add(type(value))
            name = f"{type(value).__name__.lower()}{len(self._names)}"
            self._lines.append(f"    {name} = {type(value).__name__}({given})")
            self._names[id(value)] = name
        return self._names[id(value)]


def module(said: str, found: list[Function], base: str, there: dict[str, str]) -> str:
    """Return the text of a module of functions; what is just so in the module `base` is from it."""
    same = [one for one in found if there.get(one.name) == one.text]
    own = [one for one in found if one not in same]
    lines = [f'"""{said}."""\n\n', "from wireglot.language.picture import ABSENT\n"]
    imports: dict[str, list[str]] = {}
    for kind in sorted({kind for one in own for kind in one.kinds}, key=lambda one: one.__name__):
        whole = not issubclass(kind, tuple)
        place = f"{MAKERS}.{kind.__module__.rpartition('.')[2]}" if whole else kind.__module__
        imports.setdefault(place, []).append(kind.__name__)
    if same:
        imports[base] = [one.name for one in same]
    lines += [f"from {place} import {', '.join(names)}\n" for place, names in imports.items()]
    return "".join(lines + [f"\n\n{one.text}" for one in own])


class Written:
    """The modules of one dialect, and the functions in them by module."""

    def __init__(
        self, dialect: Dialect, makers: Makers, base: str = "", there: Written | None = None
    ) -> None:
        """Write a dialect; what is just so in those of the package `base` is from there."""
        makers.held.clear()
        rest = {name: value for name, value in vars(dialect).items() if name not in APART}
        found = {
            "model": [Function(makers, "rest", rest)],
            "stream": [Function(makers, "stream", dialect.stream)],
            "schemas": [Function(makers, "schemas", dialect.schemas)],
        }
        listed = ""
        for word in ("shapes", "units"):
            pairs = []
            for name, shape in getattr(dialect, word).items():
                found["model"].append(Function(makers, f"{word}_{spelled(name)}", shape))
                pairs.append(f"    {name!r}: {found['model'][-1].name},\n")
            listed += f"\n\n{word.upper()} = {{\n{''.join(pairs)}}}\n"
        self.functions = {
            file: {one.name: one.text for one in some} for file, some in found.items()
        }
        self.texts = {
            file: module(
                f"The {file} of {dialect.name}",
                some,
                f"wireglot.made.{base}.{file}",
                there.functions[file] if there is not None else {},
            )
            for file, some in found.items()
        }
        self.texts["model"] += listed


def ladder(rows: Any, makers: Makers) -> str:
    """Return the text of the module of the ladder."""
    makers.held.clear()
    return module("The ladder", [Function(makers, "ladder", rows)], "", {})
