"""The JSON Schema of rule files and of the ladder, for editors: made of the words, and shipped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wireglot.checks import fields
from wireglot.checks.fields import KEPT, KINDS, OBJECTS
from wireglot.ir import FUNCTION, PARTS, TOOLS
from wireglot.language import forms
from wireglot.language.events import ACTS
from wireglot.language.forms import ANY_TEXT, TEXT, Form, Schema
from wireglot.language.merge import REMOVED
from wireglot.language.short import PICTURES
from wireglot.language.valuewords import NAMED
from wireglot.language.words import FILE, LADDER, LAYERS

from .pictureschema import ANY_HOLE, EITHER, NAMES, SPLICED, pictures, ref

DRAFT = "http://json-schema.org/draft-07/schema#"
STORE = "https://json.schemastore.org/"  # where editors look for schemas by the names of files
RULE_FILE, LADDER_FILE = "rule-file.schema.json", "ladder.schema.json"
UNITS = {
    **{unit: unit for unit in ("request", "response", "error", "session")},
    "envelope": "request",
}

# What an editor takes for the name of an event, and those that it completes.
_EVENT = rf"(?:{'|'.join(sorted(ACTS))})(?:\.[\w.-]+)?"
EVENT = rf"^(?:{_EVENT})(?:\+(?:{_EVENT}))*!?$"
EVENTS = (
    *("start", "append.text", "append.reasoning", "append.refusal", "part_start.tool_call"),
    *("append.tool_call", "set.reasoning", "part", "part_stop", "finish", "usage", "end"),
    *("finish+usage", "finish+usage+end", "keepalive", "item_stop", "error"),
)

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
_WORDLESS = {"if": {"not": _needs("cases", "like")}, "then": _needs("wire")}
_UNPICTURED = {
    "if": {"not": _needs("wire", "like")},
    "then": {"properties": {"cases": _each(_needs("wire"))}},
}
_ONLY = dict.fromkeys(("write", "write-also", "otherwise"), False)
_SHAPE: Schema = {"allOf": [_WORDLESS, _UNPICTURED]}
WHOLE: Schema = {
    "dependencies": {"document": ["session"]},
    "properties": {
        "limits": {"properties": {name: _needs("chars") for name in NAMED}},
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
OVER: Schema = _needs("extends", "overlay", "examples-of", "crossings")
_ALONE = dict.fromkeys(("dialect", "extends", "variants"), False)


REMOVAL: Schema = {"const": REMOVED}
GONE: Schema = {"enum": [REMOVED], "type": "string"}


def rule_file() -> Schema:
    """Return the JSON Schema of a rule file."""
    made = _made(FILE, "rule-file")
    shapes = made["properties"]["shapes"]["anyOf"][0]
    shape = shapes["additionalProperties"]
    names = sorted(OBJECTS.keys() - {"part", "tool", "message", "request", "session"})
    hinted = {n: {"allOf": [shape, _hints(n, n in PARTS | TOOLS)]} for n in names}
    shapes["properties"] = {**shapes["properties"], **hinted}
    shapes["additionalProperties"] = {"allOf": [shape, _hints(EITHER, False)]}
    given = dict.fromkeys(sorted({*KINDS, FUNCTION, *OBJECTS["request"]} - KEPT), TEXT)
    for variant in (made, made["definitions"]["Variant"]):
        variant["properties"]["unsupported"]["anyOf"][0]["properties"] = given
        variant["patternProperties"]["^unsupported!$"]["properties"] = given
        for word, key in (("properties", "{}"), ("patternProperties", "^{}!$")):
            for unit, what in UNITS.items():
                said = variant[word][key.format(unit)]
                variant[word][key.format(unit)] = {"allOf": [said, _hints(what, True)]}
    made["patternProperties"]["^variants!$"] = made["properties"]["variants"]
    made["allOf"] = [
        _needs("dialect", "overlay", "examples-of", "crossings"),
        {"if": _needs("overlay"), "then": {"properties": _ALONE}},
        {"if": {"not": OVER}, "then": WHOLE},
    ]
    return _used(made)


def ladder_file() -> Schema:
    """Return the JSON Schema of the ladder's file."""
    return _used(_made(LADDER, "ladder"))


def _hints(name: str, sure: bool) -> Schema:
    """Return what an editor completes in a shape; where it is sure, other fields are marked."""
    ir = {"allOf": [ref(f"ir.{name}"), OBJECT]} if sure else ref(f"fields.{name}")
    words = {"wire": ref(f"wire.{name}"), "ir": ir}
    case = {"properties": words}
    return {"properties": {**words, "cases": _each(case)}}


def _made(words: forms.Words, name: str) -> Schema:
    found = _Schemas()
    made = found.of(words, words.layered, False)
    head = {"$schema": DRAFT, "$id": f"{STORE}wireglot-{name}.json", "title": f"wireglot {name}"}
    return {**head, **made, "definitions": {**found.definitions, **pictures()}}


class _Schemas:
    """Makes the JSON Schema of each form; those with names of their own are made once.

    `layered`: the form stands in a file that may lie over another. `short`: a list of names beneath
    `$removed` is spelled out there.
    """

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def of(self, form: Form, layered: bool, short: bool) -> Schema:
        """Return the schema of a form."""
        name = getattr(form, "name", "")
        if name and name not in self.definitions:
            self.definitions[name] = {}  # its place, should it hold itself
            self.definitions[name] = self._made(form, layered, short)
        return ref(name) if name else self._made(form, layered, short)

    def _made(self, form: Form, layered: bool, short: bool) -> Schema:
        make: Callable[..., Schema] = getattr(self, f"_{type(form).__name__.lower()}")
        return make(form, layered, short)

    def _words(self, form: forms.Words, layered: bool, short: bool) -> Schema:
        """Return the schema of a mapping of words."""
        layered = layered and form.layered
        properties, whole = {}, {}
        for word, (inner, told) in form.words.items():
            made = self.of(inner, layered, short or word in PICTURES)
            about = {"description": told} if told else {}
            properties[word] = {**about, **made}
            if layered and word not in (*form.needed, *LAYERS):
                whole[f"^{word}!$"] = properties[word]
                if not _loose(inner):
                    properties[word] = {**about, "anyOf": [made, REMOVAL]}
        if layered and short:
            properties[REMOVED] = NAMES
        return {
            "type": "object",
            "properties": properties,
            **({"required": [*form.needed]} if form.needed else {}),
            **({"patternProperties": whole} if whole else {}),
            **({"minProperties": form.least} if form.least else {}),
            **({"anyOf": _sets(form)} if form.sets else {}),
            "additionalProperties": False,
        }

    def _map(self, form: forms.Map, layered: bool, short: bool) -> Schema:
        of = self.of(form.of, layered, short)
        removable = {"anyOf": [of, GONE]} if layered else of
        named = removable if form.keys else ANY_TEXT if of.get("type") == "string" else of
        offered = dict.fromkeys(sorted(form.offered or form.keys), named)
        made: Schema = {
            "type": "object",
            **({"properties": offered} if offered else {}),
            **({"propertyNames": form.named.schema} if form.named else {}),
            "additionalProperties": False if form.keys else removable,
            **({"minProperties": form.least} if form.least else {}),
        }
        if layered and short and not form.keys:
            made["properties"] = {REMOVED: NAMES, **offered}
        return {"anyOf": [made, {"type": "array", "items": ANY_TEXT}]} if form.listed else made

    def _listed(self, form: forms.Listed, layered: bool, short: bool) -> Schema:
        least = {"minItems": form.least} if form.least else {}
        of = self.of(form.of, layered, short)
        made: Schema = {"type": "array", "items": of, **least}
        return {"anyOf": [of, made]} if form.alone else made

    def _leaf(self, form: forms.Leaf, layered: bool, short: bool) -> Schema:
        return {**form.schema}

    def _picture(self, form: forms.Picture, layered: bool, short: bool) -> Schema:
        if form.of == "hole":
            return {"type": "string", "pattern": f"^{ANY_HOLE}$"}
        of = ref("wire" if form.of == "line" else form.of)
        made = {"allOf": [of], "type": "object"} if form.whole else of
        return {"anyOf": [made, {**SPLICED}]} if form.spliced else made

    def _special(self, form: forms.Special, layered: bool, short: bool) -> Schema:
        if form.of == "limits":
            known = {name: (bounds, "") for name, bounds in fields.limits().items()}
            return self.of(forms.Words("", known, "Limits"), layered, short)
        frames = {"type": "array", "items": ref("wire"), "minItems": 1}
        event = {"anyOf": [ref("wire"), frames]}
        return {
            "type": "object",
            "additionalProperties": event,
            "propertyNames": {"pattern": EVENT},
            "properties": dict.fromkeys(EVENTS, event),
        }


def _sets(form: forms.Words) -> list[Schema]:
    """Return what says that the words of one set stand, and no others of sets."""
    more = [word for word in form.words if word not in sum(form.sets, ())]
    return [{"required": [*s], "propertyNames": {"enum": [*s, *more]}} for s in form.sets]


def _loose(form: Form) -> bool:
    """Tell whether a form takes `$removed` anyhow: a picture takes any text like a hole."""
    return isinstance(form, forms.Picture) and not form.whole


def _used(made: Schema) -> Schema:
    """Leave out the definitions that nothing names."""
    while True:
        named = set(re.findall(r'"#/definitions/([^"]+)"', json.dumps(made)))
        there = made["definitions"]
        if named >= there.keys():
            return made
        made["definitions"] = {name: said for name, said in there.items() if name in named}


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
    write(Path(__file__).parents[1] / "rules")
