"""Writes the model of a dialect as Python that builds it, for a wheel: one function for each shape.

Objects are made with all that they hold, without what works it out of a rule file. What is one
object in the model is one object in what is built, and stands in one function alone.
"""

from __future__ import annotations

from typing import Any

from ..executor.code import plainly, spelled
from ..language.model import FOUND, LATER, Dialect
from ..language.shape import Shape

# Attributes of a dialect that are not built with it: they have functions of their own, or are
# found when they are asked for.
APART = {"shapes", "units", "made", "_later", "candidates", "coded", "in_files", "talk", *LATER}


class Makers:
    """What makes objects of the classes that were met."""

    def __init__(self) -> None:
        self.fields: dict[type, list[str]] = {}
        self.held: dict[int, tuple[Any, str]] = {}  # what was written, and in which function

    def text(self, kind: type) -> str:
        """Return the function that makes objects of a class, of all their attributes."""
        name, fields = kind.__name__, self.fields[kind]
        body = "".join(f"    o.{field} = {field}\n" for field in fields)
        head = f"def {name}({', '.join(fields)}):\n    o = new_{name}(class_{name})\n"
        return f"\n\nnew_{name} = class_{name}.__new__\n\n\n{head}{body}    return o\n"

    def of(self, value: Any) -> list[str]:
        """Return the attributes of an object, all of them."""
        kind = type(value)
        slots = [one for base in kind.__mro__[::-1] for one in getattr(base, "__slots__", ())]
        fields = [one for one in slots if one != "__weakref__"] or sorted(vars(value))
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
        if isinstance(value, tuple) and kind is not tuple:
            self.kinds.add(kind)
            return f"{kind.__name__}({', '.join(map(self.of, value))})"
        plain = plainly(value, self.of)
        return self._object(value) if plain is None else plain

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


class Built(Function):
    """The text of the function that gives all shapes, or all units: their cases are made later."""

    def __init__(self, makers: Makers, name: str, shapes: dict[str, Shape]) -> None:
        """Write what gives some shapes."""
        super().__init__(makers, name, None)
        self.kinds.add(Shape)
        said = [f"def {name}():", "    return {"]
        for key, one in shapes.items():
            rest = map(self.of, (one.name, one.kind, one.groups, one.keys, one.pos, one.marks))
            said.append(f"        {key!r}: Shape.built({name}_{spelled(key)}, {', '.join(rest)}),")
        self.text = "".join(f"{line}\n" for line in (*said, "    }"))


def module(
    said: str, makers: Makers, found: list[Function], base: str, there: dict[str, str]
) -> str:
    """Return the text of a module of functions; what is just so in the module `base` is from it."""
    # What names functions of its own module is of that module alone.
    some = [one for one in found if not isinstance(one, Built)]
    same = [one for one in some if there.get(one.name) == one.text]
    own = [one for one in found if one not in same]
    lines = [f'"""{said}."""\n\n', "from wireglot.language.picture import ABSENT\n"]
    kinds = sorted({kind for one in own for kind in one.kinds}, key=lambda one: one.__name__)
    made = [kind for kind in kinds if kind in makers.fields]
    for kind in kinds:
        name = f"{kind.__name__} as class_{kind.__name__}" if kind in made else kind.__name__
        lines.append(f"from {kind.__module__} import {name}\n")
    if same:
        lines.append(f"from {base} import {', '.join(one.name for one in same)}\n")
    lines += map(makers.text, made)
    return "".join(lines + [f"\n\n{one.text}" for one in own])


class Written:
    """The modules of one dialect, and the functions in them by module."""

    def __init__(
        self, dialect: Dialect, makers: Makers, base: str = "", there: Written | None = None
    ) -> None:
        """Write a dialect; what is just so in the modules that begin with `base` is from there."""
        makers.held.clear()
        names = [*dialect.shapes, *dialect.unions]
        known = {name: getattr(dialect, name) for name in sorted(FOUND - APART)}
        known["kinds"] = {name: dialect.kinds_of(name) for name in names}
        known["named"] = {name: dialect.keys_of(name) for name in names}
        rest = {**{k: v for k, v in vars(dialect).items() if k not in APART}, **known}
        found = {
            "model": [Function(makers, "rest", rest)],
            "stream": [Function(makers, "stream", dialect.stream)],
            "schemas": [Function(makers, "schemas", dialect.schemas)],
        }
        for word in ("shapes", "units"):
            shapes = getattr(dialect, word)
            for name, shape in shapes.items():
                found["model"].append(Function(makers, f"{word}_{spelled(name)}", shape.cases))
            found["model"].append(Built(makers, word, shapes))
        self.functions = {file: {o.name: o.text for o in some} for file, some in found.items()}
        self.texts: dict[str, str] = {}
        for file, some in found.items():
            said, below = f"The {file} of {dialect.name}", f"wireglot.made.{base}_{file}"
            known = there.functions[file] if there is not None else {}
            self.texts[file] = module(said, makers, some, below, known)


def ladder(rows: Any, makers: Makers) -> str:
    """Return the text of the module of the ladder."""
    makers.held.clear()
    return module("The ladder", makers, [Function(makers, "ladder", rows)], "", {})
