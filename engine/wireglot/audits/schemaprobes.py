"""JSON Schemas with every keyword, one each: what a provider may refuse in the schema of a tool."""

from __future__ import annotations

from typing import Any

_NESTED = {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}
_OF_PROPERTY: tuple[dict[str, Any], ...] = (
    {"type": "string", "title": "T", "description": "D", "default": "a", "examples": ["a"]},
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "odd"},
    {"type": "string", "pattern": "^a$", "minLength": 1, "maxLength": 9},
    {"type": "string", "enum": ["a", "b"]},
    {"type": "integer", "enum": [1, 2]},
    {"enum": ["a", 1, None]},
    {"const": "a"},
    {"const": 1},
    {"const": None},
    {"type": ["string", "null"]},
    {"type": ["string", "null"], "enum": ["a", None]},
    {"type": ["string", "integer"]},
    {"type": "string", "nullable": True},
    {"type": "null"},
    {"type": "odd"},
    {},
    {"type": "number", "minimum": 0, "maximum": 9, "multipleOf": 0.5},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 9},
    {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
    {"type": "array"},
    {"type": "array", "uniqueItems": True, "contains": {"type": "string"}, "items": {}},
    {"type": "array", "prefixItems": [{"type": "string"}], "items": False},
    {"type": "object"},
    {**_NESTED, "additionalProperties": False},
    {"type": "object", "additionalProperties": True},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"type": "object", "patternProperties": {"^x": {"type": "string"}}},
    {"type": "object", "propertyNames": {"pattern": "^x"}, "minProperties": 1},
    {"type": "object", "dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": {}}},
    {"type": "object", "properties": {}, "required": ["none"]},
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
    {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "D"},
    {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    {"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]},
    {"allOf": [{"type": "string"}, {"minLength": 1}]},
    {"not": {"type": "string"}},
    {"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "null"}},
    {"type": "string", "deprecated": True, "readOnly": True, "writeOnly": False},
    {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"},
    {"type": "string", "$comment": "c", "x-odd": 1},
    {"$ref": "#/$defs/d"},
    {"$ref": "#/$defs/d", "description": "D"},
    {"$ref": "#/definitions/e"},
    {"$ref": "#/$defs/self"},
    {"$ref": "#/$defs/none"},
    {"$ref": "https://a.example/s.json"},
)
_DEFINED = {
    "$defs": {
        "d": {"type": "string"},
        "self": {"type": "object", "properties": {"again": {"$ref": "#/$defs/self"}}},
    },
    "definitions": {"e": {"type": "integer"}},
}


def _with(inner: dict[str, Any]) -> dict[str, Any]:
    made = {"type": "object", "properties": {"a": inner}}
    return {**made, **_DEFINED} if "$ref" in inner else made


_ROOTS: tuple[dict[str, Any], ...] = (
    {"type": "object", "properties": {}},
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    },
    {},
    {"type": "object"},
    {"properties": {"a": {"type": "string"}}},
    {"type": ["object", "null"], "properties": {}},
    {"type": "string"},
    {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "x", "type": "object"},
    {"title": "T", "description": "D", "type": "object", "properties": {}, "x-odd": 1},
    {"type": "object", "anyOf": [_NESTED, {"type": "object", "properties": {"c": {}}}]},
    {"oneOf": [_NESTED, {"type": "object", "properties": {"c": {"type": "string"}}}]},
    {"type": "object", "allOf": [_NESTED], "not": {"required": ["z"]}, "enum": [{}]},
    {"$ref": "#/$defs/d", "$defs": {"d": _NESTED}},
    {"type": "object", "properties": {"a": {"type": "string"}}, "$defs": {"d": _NESTED}},
)
SCHEMAS: tuple[dict[str, Any], ...] = (*_ROOTS, *map(_with, _OF_PROPERTY))
