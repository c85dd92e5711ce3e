"""The types of an official SDK as one small graph of shapes.

SDKs write their wire types in several ways (typed dictionaries with annotations in strings,
pydantic models, enumerations, the arguments of a method). A `Shape` says the same for all of them:
`drift` holds rule files against it, and the tests judge bodies by it.
"""

from __future__ import annotations

import collections.abc
import datetime
import enum
import inspect
import sys
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import typing_extensions
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

Kind = Literal[
    "object", "list", "map", "union", "words", "text", "base64", "integer", "number", "boolean",
    "null", "any",
]  # fmt: skip


@dataclass(slots=True, eq=False)
class Field:
    """One key of an object; `spellings` are all the names it may have, the usual one first."""

    shape: Shape
    required: bool
    spellings: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Shape:
    """A set of JSON values.  `loose` words are compared without case."""

    kind: Kind
    name: str = ""
    fields: dict[str, Field] = field(default_factory=dict)
    item: Shape | None = None
    options: tuple[Shape, ...] = ()
    words: tuple[Any, ...] = ()
    loose: bool = False


_SCALARS: Mapping[object, Kind] = {
    str: "text", int: "integer", float: "number", bool: "boolean", bytes: "base64",
    type(None): "null", None: "null", object: "any", Any: "any", typing_extensions.Any: "any",
    datetime.datetime: "text", datetime.date: "text",
}  # fmt: skip
_LISTS = (list, collections.abc.Iterable, collections.abc.Sequence, tuple)
_MAPS = (dict, collections.abc.Mapping)
_WRAPPERS = (typing.Annotated, typing_extensions.Required, typing_extensions.NotRequired)


class Shapes:
    """Build shapes from types; each type is looked at once, so recursive types are cycles.

    `not_sent` names what never stands on the wire: types, and fields as `Type.field`.
    """

    def __init__(self, not_sent: Collection[str] = ()) -> None:
        self._seen: dict[object, Shape] = {}
        self._not_sent = frozenset(not_sent) | _PYTHON_ONLY

    def of(self, annotation: Any) -> Shape:
        """Give the shape of a type, with its wrappers taken off."""
        annotation, _ = _unwrapped(annotation)
        origin, arguments = typing_extensions.get_origin(annotation), typing.get_args(annotation)
        if isinstance(annotation, typing.TypeVar):
            return Shape("any")
        if type(annotation).__name__ == "TypeAliasType":
            return self.of(annotation.__value__)
        if type(origin).__name__ == "TypeAliasType":
            return self.of(origin.__value__[arguments])
        if origin is typing.Literal:
            return Shape("words", words=arguments)
        if origin is typing.Union or origin is types.UnionType:
            return self._union(arguments)
        if annotation in _SCALARS:
            return Shape(_SCALARS[annotation])
        if annotation in _LISTS or origin in _LISTS or _name(origin) == "SequenceNotStr":
            return Shape("list", item=self.of(arguments[0]) if arguments else Shape("any"))
        if annotation in _MAPS or origin in _MAPS:
            return Shape("map", item=self.of(arguments[1]) if arguments else Shape("any"))
        if typing_extensions.is_typeddict(annotation):
            return self._typed_dict(annotation)
        plain = origin or annotation
        if inspect.isclass(plain) and issubclass(plain, enum.Enum):
            return Shape(
                "words", name=plain.__name__, words=tuple(one.value for one in plain), loose=True
            )
        if inspect.isclass(plain) and issubclass(plain, BaseModel):
            return self._model(plain)
        raise TypeError(f"no shape is known for the type {annotation!r}")

    def _union(self, members: Sequence[Any]) -> Shape:
        wire = [member for member in members if not self._is_python_only(member)]
        if any(typing_extensions.is_typeddict(member) for member in wire):
            # A response object may be handed back to the SDK as it is; on the wire it is a dict.
            wire = [m for m in wire if not (inspect.isclass(m) and issubclass(m, BaseModel))]
        shapes = map(self.of, wire)
        options = [o for one in shapes for o in (one.options if one.kind == "union" else (one,))]
        if len(options) == 1:
            return options[0]
        return Shape("union", options=tuple(options))

    def _typed_dict(self, annotation: Any) -> Shape:
        if annotation in self._seen:
            return self._seen[annotation]
        shape = self._seen[annotation] = Shape("object", annotation.__name__)
        hints = typing_extensions.get_type_hints(annotation, include_extras=True)
        for key, hint in hints.items():
            # Annotations that are strings hide `Required` from `__required_keys__`.
            _, said = _unwrapped(hint)
            required = typing_extensions.Required in said or (
                typing_extensions.NotRequired not in said and key in annotation.__required_keys__
            )
            aliases = (getattr(one, "alias", None) for one in said)
            name = next((alias for alias in aliases if isinstance(alias, str)), key)
            if self._is_sent(shape, key, hint):
                shape.fields[name] = Field(self.of(hint), required, (name,))
        return shape

    def arguments(self, method: Any) -> Shape:
        """Give the shape of a body that a method takes as its arguments, one for each key."""
        shape = Shape("object", method.__name__)
        hints = typing.get_type_hints(method, vars(sys.modules[method.__module__]))
        for key, one in inspect.signature(method).parameters.items():
            if key in hints and self._is_sent(shape, key, hints[key]):
                required = one.default is inspect.Parameter.empty
                shape.fields[key] = Field(self.of(hints[key]), required, (key,))
        return shape

    def _model(self, model: type[BaseModel]) -> Shape:
        if model in self._seen:
            return self._seen[model]
        shape = self._seen[model] = Shape("object", model.__name__)
        camel = model.model_config.get("alias_generator") is not None
        model.model_rebuild()
        for key, info in model.model_fields.items():
            name = info.alias or (to_camel(key) if camel else key)
            spellings = (name, key) if camel and name != key else (name,)
            if self._is_sent(shape, key, info.annotation):
                inner = self.of(info.annotation)
                shape.fields[name] = Field(inner, info.is_required(), spellings)
        return shape

    def _is_sent(self, shape: Shape, key: str, annotation: Any) -> bool:
        named = f"{shape.name}.{key}" in self._not_sent
        return not named and not self._is_python_only(annotation)

    def _is_python_only(self, member: Any) -> bool:
        """Say whether a type can never stand on the wire: file handles, callables, sessions."""
        member, _ = _unwrapped(member)
        origin = typing_extensions.get_origin(member)
        if origin is typing.Union or origin is types.UnionType:
            inner = [m for m in typing.get_args(member) if m is not type(None)]
            return all(map(self._is_python_only, inner))
        if origin in (type, collections.abc.Callable):
            return True
        plain = origin or member
        return plain is type or _name(plain) in self._not_sent


def leaves(shape: Shape) -> dict[str, list[Shape]]:
    """List what may stand at each field path, as `a.b[].c`; `a.*` where anything may follow.

    The walk stops where an object stands inside itself.
    """
    found: dict[str, list[Shape]] = {}

    def walk(node: Shape, path: str, above: tuple[Shape, ...]) -> None:
        if node.kind == "object" and node.fields:
            if node in above:
                found.setdefault(f"{path}.*", []).append(node)
                return
            for name, entry in node.fields.items():
                walk(entry.shape, f"{path}.{name}" if path else name, (*above, node))
        elif node.kind == "list":
            assert node.item is not None
            walk(node.item, f"{path}[]", above)
        elif node.kind == "union":
            for option in node.options:
                walk(option, path, above)
        elif node.kind != "null":
            free = node.kind in ("map", "any", "object")
            found.setdefault(f"{path}.*" if free else path, []).append(node)

    walk(shape, "", ())
    return found


def _unwrapped(annotation: Any) -> tuple[Any, list[Any]]:
    """Return a type without its wrappers, and what these say of it, the outermost first."""
    said: list[Any] = []
    while (origin := typing_extensions.get_origin(annotation)) in _WRAPPERS:
        said += [origin, *getattr(annotation, "__metadata__", ())]
        annotation = typing.get_args(annotation)[0]
    return annotation, said


def _name(kind: object) -> str:
    return getattr(kind, "__name__", "")


# What no SDK sends: file handles, callables, modules.
_PYTHON_ONLY = frozenset(
    "BufferedIOBase BufferedReader Callable GenericAlias IO ModuleType Path PathLike "
    "RawIOBase".split()
)
