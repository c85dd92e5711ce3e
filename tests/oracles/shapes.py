"""Turn the types of an official SDK into one small graph of shapes.

The SDKs write their wire types three ways (typed dictionaries with annotations in strings, pydantic
models, enumerations).  A `Shape` says the same for all of them, so that one validator, one list of
field paths and one source of legal words serve every dialect.
"""

from __future__ import annotations

import collections.abc
import datetime
import enum
import inspect
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import typing_extensions
from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, SchemaValidator, core_schema

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


class Shapes:
    """Build shapes from types; each type is looked at once, so recursive types are cycles.

    `without` names, per class, the fields that never stand on the wire.
    """

    def __init__(self, without: Mapping[str, frozenset[str]] | None = None) -> None:
        self._seen: dict[object, Shape] = {}
        self._without = without or {}

    def of(self, annotation: Any) -> Shape:
        """Give the shape of a type, with its wrappers taken off."""
        origin, arguments = typing_extensions.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Annotated:
            return self.of(arguments[0])
        if origin in (typing_extensions.Required, typing_extensions.NotRequired):
            return self.of(arguments[0])
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
        if annotation in _LISTS or origin in _LISTS or _is_named(origin, "SequenceNotStr"):
            return Shape("list", item=self.of(arguments[0]) if arguments else Shape("any"))
        if annotation in _MAPS or origin in _MAPS:
            return Shape("map", item=self.of(arguments[1]) if arguments else Shape("any"))
        if typing_extensions.is_typeddict(annotation):
            return self._typed_dict(annotation)
        plain = origin or annotation
        if inspect.isclass(plain) and issubclass(plain, enum.Enum):
            return Shape("words", name=plain.__name__, words=_members(plain), loose=True)
        if inspect.isclass(plain) and issubclass(plain, BaseModel):
            return self._model(plain)
        raise TypeError(f"no shape is known for the type {annotation!r}")

    def _union(self, members: Sequence[Any]) -> Shape:
        wire = [member for member in members if not _is_python_only(member)]
        if any(typing_extensions.is_typeddict(member) for member in wire):
            # A response object may be handed back to the SDK as it is; on the wire it is a dict.
            wire = [m for m in wire if not (inspect.isclass(m) and issubclass(m, BaseModel))]
        options = list(_flattened(self.of(member) for member in wire))
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
            marks = set(_marks(hint))
            required = typing_extensions.Required in marks or (
                typing_extensions.NotRequired not in marks and key in annotation.__required_keys__
            )
            name = _alias(hint) or key
            shape.fields[name] = Field(self.of(hint), required, (name,))
        return shape

    def _model(self, model: type[BaseModel]) -> Shape:
        if model in self._seen:
            return self._seen[model]
        shape = self._seen[model] = Shape("object", model.__name__)
        camel = model.model_config.get("alias_generator") is not None
        model.model_rebuild()
        without = self._without.get(model.__name__, frozenset())
        for key, info in model.model_fields.items():
            name = info.alias or (to_camel(key) if camel else key)
            spellings = (name, key) if camel and name != key else (name,)
            if key not in without and not _is_python_only(info.annotation):
                inner = self.of(info.annotation)
                shape.fields[name] = Field(inner, info.is_required(), spellings)
        return shape


def validator(shape: Shape, *, unknown: Literal["refuse", "drop"]) -> SchemaValidator:
    """Compile a shape; kinds are strict, though a whole number is a number too."""
    definitions: dict[int, CoreSchema] = {}
    names: dict[int, str] = {}

    def build(node: Shape) -> CoreSchema:
        if node.kind == "object":
            return build_object(node)
        if node.kind == "list":
            assert node.item is not None
            return core_schema.list_schema(build(node.item), strict=True)
        if node.kind == "map":
            assert node.item is not None
            return core_schema.dict_schema(
                core_schema.str_schema(strict=True), build(node.item), strict=True
            )
        if node.kind == "union":
            return build_union(node)
        return _scalar(node)

    def build_object(node: Shape) -> CoreSchema:
        key = id(node)
        if key not in names:
            names[key] = f"{node.name}-{len(names)}"
            fields = {
                key_name: core_schema.typed_dict_field(
                    build(entry.shape),
                    required=entry.required,
                    validation_alias=[list[str | int]([name]) for name in entry.spellings],
                )
                for key_name, entry in node.fields.items()
            }
            definitions[key] = core_schema.typed_dict_schema(
                fields,
                extra_behavior="forbid" if unknown == "refuse" else "ignore",
                strict=True,
                ref=names[key],
            )
        return core_schema.definition_reference_schema(names[key])

    def build_union(node: Shape) -> CoreSchema:
        objects = [option for option in node.options if option.kind == "object"]
        others = [option for option in node.options if option.kind != "object"]
        schemas = [build(option) for option in others]
        if len(objects) > 1:
            schemas.append(build_choice(objects))
        else:
            schemas.extend(build(option) for option in objects)
        if len(schemas) == 1:
            return schemas[0]
        return core_schema.union_schema(
            [(schema, f"|{number}") for number, schema in enumerate(schemas)]
        )

    def build_choice(objects: Sequence[Shape]) -> CoreSchema:
        choices: dict[Any, CoreSchema] = {
            f"|{number}": build(option) for number, option in enumerate(objects)
        }
        choices["|any"] = core_schema.union_schema(
            [(build(option), f"|{number}") for number, option in enumerate(objects)]
        )

        def choose(value: Any) -> str:
            fitting = [n for n, option in enumerate(objects) if could_be(option, value)]
            return f"|{fitting[0]}" if len(fitting) == 1 else "|any"

        return core_schema.tagged_union_schema(choices, choose)

    top = build(shape)
    return SchemaValidator(core_schema.definitions_schema(top, list(definitions.values())))


def could_be(shape: Shape, value: object) -> bool:
    """Say whether a value agrees with a shape as far as kinds and literal keys tell."""
    if shape.kind == "union":
        return any(could_be(option, value) for option in shape.options)
    if shape.kind == "object":
        return isinstance(value, dict) and all(
            could_be(entry.shape, value[name])
            for name, entry in shape.fields.items()
            if name in value and _tells_apart(entry.shape)
        )
    if shape.kind == "words":
        return has_word(shape, value)
    expected: Mapping[str, tuple[type, ...]] = {
        "list": (list,), "map": (dict,), "text": (str,), "base64": (str,), "null": (type(None),),
        "integer": (int,), "number": (int, float), "boolean": (bool,),
    }  # fmt: skip
    if isinstance(value, bool):
        return shape.kind in ("boolean", "any")
    return shape.kind == "any" or isinstance(value, expected[shape.kind])


def _tells_apart(shape: Shape) -> bool:
    """Say whether a key of this shape chooses among the members of a union."""
    if shape.kind == "union":
        return all(o.kind == "null" or _tells_apart(o) for o in shape.options)
    return shape.kind == "words" and len(shape.words) < 4


def has_word(shape: Shape, value: object) -> bool:
    """Say whether a value is one of a shape's words."""
    if shape.loose and isinstance(value, str):
        return value.upper() in {str(word).upper() for word in shape.words}
    return any(type(word) is type(value) and word == value for word in shape.words)


def at(
    shape: Shape, body: object, steps: Sequence[str | int], *, other: bool = False
) -> list[Shape]:
    """Give every shape that the value at `steps` may have, unions resolved by the body.

    With `other`, what the value and its neighbours could be instead is given as well.
    """
    if shape.kind == "union":
        free = other and len(steps) < 2
        return [
            found
            for option in shape.options
            if free or could_be(option, body)
            for found in at(option, body, steps, other=other)
        ]
    if not steps:
        return [shape]
    step, rest = steps[0], steps[1:]
    if isinstance(body, list) and isinstance(step, int) and shape.kind == "list" and shape.item:
        return at(shape.item, body[step], rest, other=other)
    if isinstance(body, dict) and isinstance(step, str):
        if shape.kind == "map" and shape.item:
            return at(shape.item, body[step], rest, other=other)
        for entry in shape.fields.values():
            if step in entry.spellings:
                return at(entry.shape, body[step], rest, other=other)
    return []


def paths(shape: Shape, opaque: frozenset[str] = frozenset()) -> set[str]:
    """List the field paths of a shape as `a.b[].c`; `a.*` where anything may follow.

    The walk stops at opaque paths and where an object stands inside itself.
    """
    found: set[str] = set()

    def walk(node: Shape, path: str, above: tuple[Shape, ...]) -> None:
        if path in opaque and node.kind not in ("text", "words", "null"):
            found.update([f"{path}.*"] if node.kind != "union" else [])
            for option in node.options:
                walk(option, path, above)
        elif node.kind == "object":
            if node in above:
                found.add(f"{path}.*")
                return
            for name, entry in node.fields.items():
                walk(entry.shape, f"{path}.{name}" if path else name, (*above, node))
        elif node.kind == "list":
            assert node.item is not None
            walk(node.item, f"{path}[]", above)
        elif node.kind == "union":
            for option in node.options:
                walk(option, path, above)
        elif node.kind in ("map", "any"):
            found.add(f"{path}.*")
        elif node.kind != "null":
            found.add(path)

    walk(shape, "", ())
    return found


def _scalar(shape: Shape) -> CoreSchema:
    if shape.kind == "text":
        return core_schema.str_schema(strict=True)
    if shape.kind == "base64":
        return core_schema.no_info_after_validator_function(
            _base64, core_schema.str_schema(strict=True)
        )
    if shape.kind == "integer":
        return core_schema.int_schema(strict=True)
    if shape.kind == "number":
        return core_schema.float_schema(strict=True)
    if shape.kind == "boolean":
        return core_schema.bool_schema(strict=True)
    if shape.kind == "null":
        return core_schema.none_schema()
    if shape.kind == "words":
        literal = core_schema.literal_schema(list(shape.words))
        if not shape.loose:
            return literal
        usual = {str(word).upper(): word for word in shape.words}
        return core_schema.no_info_before_validator_function(
            lambda value: usual.get(value.upper(), value) if isinstance(value, str) else value,
            literal,
        )
    return core_schema.any_schema()


def _base64(value: str) -> str:
    plain = value.rstrip("=")
    if not set(plain) <= _BASE64 or len(plain) % 4 == 1:
        raise ValueError("the text is no base64")
    return value


_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")


def _flattened(shapes: Iterator[Shape]) -> Iterator[Shape]:
    for shape in shapes:
        if shape.kind == "union":
            yield from shape.options
        else:
            yield shape


def _members(cls: type[enum.Enum]) -> tuple[object, ...]:
    return tuple(member.value for member in cls)


def _marks(annotation: Any) -> Iterator[object]:
    origin = typing_extensions.get_origin(annotation)
    if origin in (typing.Annotated, typing_extensions.Required, typing_extensions.NotRequired):
        yield origin
        yield from _marks(typing.get_args(annotation)[0])


def _alias(annotation: Any) -> str | None:
    origin = typing_extensions.get_origin(annotation)
    if origin is typing.Annotated:
        for extra in annotation.__metadata__:
            alias = getattr(extra, "alias", None)
            if isinstance(alias, str):
                return alias
        return _alias(annotation.__origin__)
    if origin in (typing_extensions.Required, typing_extensions.NotRequired):
        return _alias(typing.get_args(annotation)[0])
    return None


def _is_named(origin: object, name: str) -> bool:
    return getattr(origin, "__name__", "") == name


_PYTHON_ONLY = {
    "IO", "PathLike", "BufferedReader", "BufferedIOBase", "RawIOBase", "Base64FileInput", "Image",
    "Callable", "HttpResponse", "HttpOptions", "ModuleType", "ClientSession", "GenericAlias",
    "PIL_Image", "McpClientSession", "McpTool", "UnrecognizedStr", "UnrecognizedInt",
}  # fmt: skip


def _is_python_only(member: Any) -> bool:
    """Say whether a type can never stand on the wire: file handles, callables, sessions."""
    origin = typing_extensions.get_origin(member)
    if origin is typing.Union or origin is types.UnionType:
        inner = [m for m in typing.get_args(member) if m is not type(None)]
        return all(_is_python_only(m) for m in inner)
    if origin in (type, collections.abc.Callable):
        return True
    plain = origin or member
    return plain is type or getattr(plain, "__name__", "") in _PYTHON_ONLY
