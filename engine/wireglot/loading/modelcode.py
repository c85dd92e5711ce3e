"""Writes the model of a dialect as Python that builds it, for a wheel: one function for each shape.

Objects are made with all that they hold, without what works it out of a rule file. What is one
object in the model is one object in what is built, and stands in one function alone.
"""

from __future__ import annotations

from typing import Any

from ..executor.code import plainly, spelled
from ..language.model import CACHED, LAZY, Dialect
from ..language.picture import Fields
from ..language.shape import Shape
from ..language.talk import Conversation

PLAIN = (str, int, bool, tuple)  # classes of what is as short as a call
# Attributes of a dialect that are not built with it: they have functions of their own, or are
# found when they are asked for.
SEPARATE = LAZY | {*"shapes units module_prefix _later cases_by_name cache in_files talk".split()}
# Attributes that are found when they are asked for, and what stands there before: nobody may have
# asked, or somebody for another dialect that has the very same shape.
EMPTY_CACHES: dict[type, dict[str, Any]] = {
    Conversation: {"usual": {}},
    Fields: dict.fromkeys(("_firm", "_holes", "_idle", "_loose")),
}


class Makers:
    """What makes objects of the classes that were met."""

    def __init__(self) -> None:
        self.fields: dict[type, list[str]] = {}
        self.written: dict[int, tuple[Any, str]] = {}  # what was written, and in which function

    def definition(self, kind: type) -> str:
        """Return the function that makes objects of a class, of all their attributes."""
        name, fields = kind.__name__, self.fields[kind]
        body = "".join(f"    o.{field} = {field}\n" for field in fields)
        head = f"def {name}({', '.join(fields)}):\n    o = new_{name}(class_{name})\n"
        return f"\n\nnew_{name} = class_{name}.__new__\n\n\n{head}{body}    return o\n"

    def attributes(self, value: Any) -> list[str]:
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
        self.calls: list[str] = []  # functions of its module that it calls
        self._names: dict[int, str] = {}
        self._lines: list[str] = []
        made = self.expression(value)
        self.text = "".join(
            f"{line}\n" for line in (f"def {name}():", *self._lines, f"    return {made}")
        )

    def __str__(self) -> str:
        return self.text

    def expression(self, value: Any) -> str:
        """Return an expression for a value; lines before it make the objects in it."""
        kind = value.__class__
        if isinstance(value, tuple) and kind is not tuple:
            self.kinds.add(kind)
            return f"{kind.__name__}({', '.join(map(self.expression, value))})"
        plain = plainly(value, self.expression)
        return self._object(value) if plain is None else plain

    def _object(self, value: Any) -> str:
        if id(value) not in self._names:
            _, where = self.makers.written.setdefault(id(value), (value, self.name))
            assert where == self.name, f"{value!r} stands in {where} and in {self.name}"
            held = {name: getattr(value, name) for name in self.makers.attributes(value)}
            held |= EMPTY_CACHES.get(type(value), {})
            given = ", ".join(map(self.expression, held.values()))
            self.kinds.add(type(value))
            name = f"{type(value).__name__.lower()}{len(self._names)}"
            self._lines.append(f"    {name} = {type(value).__name__}({given})")
            self._names[id(value)] = name
        return self._names[id(value)]


class DictFunction(Function):
    """The text of a function that gives what others do, by keys."""

    def __init__(
        self, makers: Makers, name: str, calls: dict[str, str], said: dict[str, Any]
    ) -> None:
        """Write what gives some values: of `calls` by functions, of `said` as they stand."""
        super().__init__(makers, name, None)
        found = {key: f"{one}()" for key, one in calls.items()}
        found |= {key: self.expression(one) for key, one in said.items()}
        lines = "".join(f"        {key!r}: {one},\n" for key, one in found.items())
        self.calls, self.text = [*calls.values()], f"def {name}():\n    return {{\n{lines}    }}\n"


class ShapeFunction(Function):
    """The text of the function that gives a shape, whose cases another one makes later."""

    def __init__(self, makers: Makers, name: str, cases: str, shape: Shape) -> None:
        """Write what gives a shape with the `cases` of a function."""
        super().__init__(makers, name, None)
        self.calls = [cases]
        self.kinds.add(Shape)
        rest = (shape.name, shape.kind, shape.groups, shape.keys, shape.pos, shape.marks)
        given = ", ".join([cases, *map(self.expression, rest)])
        self.text = f"def {name}():\n    return Shape.with_cases_later({given})\n"


def module_text(
    title: str,
    makers: Makers,
    found: dict[str, Function],
    base: str = "",
    below: dict[str, Function] | None = None,
) -> str:
    """Return the text of a module of functions; what is just so in the module `base` is from it."""
    below = below or {}

    def just_so(name: str) -> bool:
        one, there = found[name], below.get(name)
        return there is not None and there.text == one.text and all(map(just_so, one.calls))

    same = [name for name in found if just_so(name)]
    own = [one for name, one in found.items() if name not in same]
    lines = [f'"""{title}."""\n\n', "from wireglot.language.picture import ABSENT\n"]
    kinds = sorted({kind for one in own for kind in one.kinds}, key=lambda one: one.__name__)
    made = [kind for kind in kinds if kind in makers.fields]
    for kind in kinds:
        name = f"{kind.__name__} as class_{kind.__name__}" if kind in made else kind.__name__
        lines.append(f"from {kind.__module__} import {name}\n")
    if same:
        lines.append(f"from {base} import {', '.join(same)}\n")
    lines += map(makers.definition, made)
    return "".join(lines + [f"\n\n{one.text}" for one in own])


def functions(dialect: Dialect, makers: Makers) -> dict[str, dict[str, Function]]:
    """Return the functions of the model of a dialect by name, by the modules that they stand in."""
    makers.written.clear()
    names = [*dialect.shapes, *dialect.unions]
    known = {name: getattr(dialect, name) for name in sorted(CACHED - SEPARATE)}
    known["kinds_by_name"] = {name: dialect.kinds_of(name) for name in names}
    known["keys_by_name"] = {name: dialect.keys_of(name) for name in names}
    rest = {**{k: v for k, v in vars(dialect).items() if k not in SEPARATE}, **known}
    apart = {k: f"rest_{k}" for k, one in rest.items() if one and type(one) not in PLAIN}
    plain = {key: one for key, one in rest.items() if key not in apart}
    model = [Function(makers, name, rest[key]) for key, name in apart.items()]
    model.append(DictFunction(makers, "rest", apart, plain))
    for word in ("shape", "unit"):
        made: dict[str, str] = {}
        for name, shape in getattr(dialect, f"{word}s").items():
            cases, made[name] = f"{word}s_{spelled(name)}", f"{word}_{spelled(name)}"
            model.append(Function(makers, cases, shape.cases))
            model.append(ShapeFunction(makers, made[name], cases, shape))
        model.append(DictFunction(makers, f"{word}s", made, {}))
    found = {
        "model": {one.name: one for one in model},
        "stream": {"stream": Function(makers, "stream", dialect.stream)},
        "schemas": {"schemas": Function(makers, "schemas", dialect.schemas)},
    }
    makers.written.clear()
    return found


def ladder(rows: Any, makers: Makers) -> str:
    """Return the text of the module of the ladder."""
    makers.written.clear()
    return module_text("The ladder", makers, {"ladder": Function(makers, "ladder", rows)})
