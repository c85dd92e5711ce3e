"""The JSON Schema of rule files and of the ladder, for editors; made of the models, and shipped."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ..checks.fields import OBJECTS
from ..ir import PARTS, TOOLS
from ..language.merge import REMOVED
from ..language.rulefile import LIMITS
from . import rulemodel
from .pictureschema import EITHER, Schema, pictures, ref

DRAFT = "http://json-schema.org/draft-07/schema#"
RULE_FILE, LADDER_FILE = "rule-file.schema.json", "ladder.schema.json"
UNITS = {
    **{unit: unit for unit in ("request", "response", "error", "session")},
    "envelope": "request",
}

OBJECT: Schema = {
    "type": ["object", "string"],
    "if": {"type": "string"},
    "then": {"const": REMOVED},
}


def _needs(*words: str) -> Schema:
    """Return what wants one of some words."""
    if len(words) == 1:
        return {"required": list(words)}
    return {"anyOf": [{"required": [word]} for word in words]}


def _each(schema: Schema) -> Schema:
    return {"additionalProperties": schema}


# What must stand in a file that lies over no other.
_WORDLESS = {"if": {"not": _needs("cases")}, "then": _needs("wire")}
_UNPICTURED = {
    "if": {"not": _needs("wire")},
    "then": {"properties": {"cases": _each(_needs("wire"))}},
}
_ONLY = dict.fromkeys(("write", "write-also", "otherwise"), False)
_SHAPE: Schema = {"allOf": [_WORDLESS, _UNPICTURED]}
WHOLE: Schema = {
    "dependencies": {"document": ["session"]},
    "properties": {
        "limits": {"properties": {name: _needs("chars") for name in LIMITS}},
        "tables": _each(
            {"if": _needs("only"), "then": {"properties": _ONLY}, "else": _needs("write")}
        ),
        "schemas": _each({"properties": {"rewrite": _each({"required": ["schema", "here"]})}}),
        "shapes": _each(_SHAPE),
        "stream": _needs("events"),
        "conversation": {**_needs("cases"), "properties": {"cases": {"minProperties": 1}}},
        **dict.fromkeys(UNITS, _SHAPE),
    },
}
OVER: Schema = _needs("extends", "overlay", "examples-of")
_ALONE = dict.fromkeys(("dialect", "extends", "variants"), False)


def rule_file() -> Schema:
    """Return the JSON Schema of a rule file."""
    made = _made(rulemodel.RuleFile)
    shapes = made["properties"]["shapes"]["anyOf"][0]
    shape = shapes["additionalProperties"]
    names = sorted(OBJECTS.keys() - {"part", "tool", "message", "request", "session"})
    shapes["properties"] = {n: {"allOf": [shape, _hints(n, n in PARTS | TOOLS)]} for n in names}
    shapes["additionalProperties"] = {"allOf": [shape, _hints(EITHER, False)]}
    for word in ("properties", "patternProperties"):
        for unit, what in UNITS.items():
            for variant in (made, made["definitions"]["Variant"]):
                key = unit if word == "properties" else f"^{unit}!$"
                said = variant[word][key]
                variant[word][key] = {"allOf": [said, _hints(what, True)]}
    made["allOf"] = [
        _needs("dialect", "overlay", "examples-of"),
        {"if": _needs("overlay"), "then": {"properties": _ALONE}},
        {"if": {"not": OVER}, "then": WHOLE},
    ]
    return _used(made)


def ladder_file() -> Schema:
    """Return the JSON Schema of the ladder's file."""
    return _used(_made(rulemodel.LadderFile))


def _hints(name: str, sure: bool) -> Schema:
    """Return what an editor completes in a shape; where it is sure, other fields are marked."""
    ir = {"allOf": [ref(f"ir.{name}"), OBJECT]} if sure else ref(f"fields.{name}")
    words = {"wire": ref(f"wire.{name}"), "ir": ir}
    case = {"properties": words}
    return {"properties": {**words, "cases": _each(case)}}


def _made(model: Any) -> Schema:
    made: Schema = _linked(model.model_json_schema(ref_template="#/definitions/{model}"))
    inner = made.pop("$defs", {})
    made.pop("title", None)
    definitions = {name: inner[name] for name in sorted(inner)}
    return {"$schema": DRAFT, **made, "definitions": {**definitions, **pictures()}}


def _used(made: Schema) -> Schema:
    """Leave out the definitions that nothing names."""
    while True:
        named = set(re.findall(r'"#/definitions/([^"]+)"', json.dumps(made)))
        there = made["definitions"]
        if named >= there.keys():
            return made
        made["definitions"] = {name: said for name, said in there.items() if name in named}


def _linked(value: Any) -> Any:
    """Turn names of definitions into references, and leave out the titles that pydantic adds."""
    if isinstance(value, list):
        return [_linked(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "definition" in value and isinstance(value["definition"], str):
        return {**ref(value["definition"]), **_linked(without(value, "definition"))}
    if isinstance(value.get("title"), str):
        value = without(value, "title")
    return {key: _linked(child) for key, child in value.items()}


def without(value: Schema, word: str) -> Schema:
    return {key: child for key, child in value.items() if key != word}


def text(schema: Schema) -> str:
    """Return a schema as it is shipped, a definition in each line."""
    lines = []
    for key, value in schema.items():
        if key in ("definitions", "properties"):
            inner = ",\n".join(f"  {_line(name)}: {_line(child)}" for name, child in value.items())
            lines.append(f" {_line(key)}: {{\n{inner}\n }}")
        else:
            lines.append(f" {_line(key)}: {_line(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def write(folder: Path) -> None:
    """Write both schemas into a folder."""
    for name, made in ((RULE_FILE, rule_file()), (LADDER_FILE, ladder_file())):
        (folder / name).write_text(text(made), "utf-8")


if __name__ == "__main__":
    write(Path(__file__).parents[3] / "rules")
