"""Judge bodies by the shapes of an SDK's types (`wireglot.authoring.sdktypes` makes them)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic_core import CoreSchema, SchemaValidator, core_schema

from wireglot.authoring.sdktypes import Shape


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
