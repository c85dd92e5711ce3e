"""JSON Schema of pictures: patterns of the texts in them, and the names of the IR to complete.

The patterns are those of `picture`, in the regular expressions that editors know.
"""

from __future__ import annotations

import re
from typing import Literal

from wireglot.checks.fields import ANY, EVERY, KEPT, KINDS, OBJECTS
from wireglot.ir import FUNCTION, PARTS, TOOLS
from wireglot.language.drawn import HOLE, HOLE_FORM, MARKS, OR, VAR
from wireglot.language.forms import Schema
from wireglot.language.lenses import GUARDS
from wireglot.language.nodes import LENSES as NODE_LENSES
from wireglot.language.short import LIST

# What stands in the parentheses of a mark: nothing, a value, or perhaps one.
TAKES = {
    **dict.fromkeys(MARKS, ""),
    **dict.fromkeys(("default", "fill"), r"\s+[^()]*"),
    "made": r"(?:\s+[^()]*)?",
}
EITHER = "any"  # where the name of a shape does not say what it pictures


def plain(pattern: str) -> str:
    """Return a pattern of Python as one of JavaScript: groups have no names, `.` takes no line."""
    return re.sub(r"\(\?P<\w+>", "(?:", pattern).replace(".*?", r"[\s\S]*?")


_mark = HOLE.pattern.index(r"\((?P<mark>")
_BARE = plain(HOLE.pattern[:_mark]).removesuffix(r"(?:\s+")
_MARKED = "|".join(mark + value for mark, value in TAKES.items())
ANY_HOLE = rf"{_BARE}(?:\s+\((?:{_MARKED})\))?\s*"
_NAME = r"\$[a-zA-Z_][\w.]*"
_SUM = r"(?:\s*\+\s*\$[a-zA-Z_][\w.]*)*"
assert _SUM in ANY_HOLE
_OTHERS = r"(?:(?!\$\{)[\s\S])"
# A literal that names spellings names them as it should.
# A hole with a codec that says `(or ...)` is none.
_CODED = r"(?!\$[^${][^(]* \| )"
_LITERAL = rf"(?![\s\S]*\S\(or\s){_CODED}(?:\$\$[\s\S]*|{plain(OR.pattern)}|(?!\$){_OTHERS}*)"
_FILLED = rf"(?!\$[^{{]){_OTHERS}*(?:{plain(VAR.pattern)}(?!\$\{{){_OTHERS}*)+"
_HAS = rf"\$has\s+(?:{'|'.join(sorted({*KINDS, FUNCTION, 'media'}))})\s*"
_NODE = (
    rf"(?:\s*\|\s*(?:{'|'.join([*sorted(NODE_LENSES), *sorted(GUARDS)])}|[\w]+(?:\+[\w]+)+))*\s*"
)


NAMES: Schema = {"type": "array", "items": {"type": "string", "pattern": r"^[A-Za-z_]\w*$"}}
SPLICED: Schema = {
    "type": "string",
    "pattern": r"^\s*\$parts\s+each\s+[\w.-]+\s*$",
    "examples": ["$parts each "],
}
NAMED = "a hole of an `ir` picture is only a name"


def _whole(*patterns: str) -> str:
    return f"^(?:{'|'.join(patterns)})$"


WIRE = _whole(rf"(?!\$present$|\$nth\s+(?:as|each|entries)\s){ANY_HOLE}", _LITERAL, _FILLED)
SIMPLE = _whole(rf"{_NAME}\s*")
IR = _whole(rf"{_NAME}\s*", _HAS, _LITERAL, _FILLED)
ROW = _whole(ANY_HOLE, r"\$has [\s\S]*", _LITERAL, _FILLED)
NODE = _whole(rf"(?:\$\.|{_NAME}){_NODE}", _LITERAL, _FILLED)
REST = _whole(ANY_HOLE.replace(_SUM, ""))
OWN = rf"^{plain(LIST.pattern)}$"
KEY = r"^(?:`[\s\S]+`!?|(?!\$(?!\$))(?![\s\S]*\(or)[\s\S]*|(?!\$(?!\$))[\s\S]*?\s+\(or\s+[^()]*\))$"
OWN_KEY = f"{KEY}|{OWN}"


def ref(name: str) -> Schema:
    """Return a reference to a definition."""
    return {"$ref": f"#/definitions/{name}"}


def _picture(name: str, texts: str, rest: str, help: str, lists: bool = True) -> Schema:
    key = "a key is literal, with spellings as in `first (or second)`, or stands in backquotes"
    last = {
        "type": ["string", "array"],
        "pattern": rest,
        "patternErrorMessage": "`...` takes a hole, a list of holes or $absent",
        "items": {"type": "string", "pattern": rest},
    }
    made: Schema = {
        "pattern": texts,
        "patternErrorMessage": help,
        "propertyNames": {"pattern": OWN_KEY if lists else KEY, "patternErrorMessage": key},
        "properties": {"...": last},
        **({"patternProperties": {OWN: NAMES}} if lists else {}),
        "additionalProperties": ref(name),
    }
    if lists:
        return {**made, "items": ref(name)}
    kinds = ["string", "number", "boolean", "null", "object", "array"]
    return {**made, "type": kinds, "maxItems": 0}  # `[]` is the only list


def pictures() -> dict[str, Schema]:
    """Return the definitions of pictures."""
    node = "a hole of a schema node has no mark and no shape"
    names, loose = sorted(OBJECTS), sorted(OBJECTS.keys() - PARTS - TOOLS)
    ir = _picture("ir", IR, SIMPLE, NAMED, lists=False)
    return {
        "wire": _picture("wire", WIRE, REST, HOLE_FORM),
        "ir": ir,
        "words": {**ir, "additionalProperties": True},
        "row": _picture("row", ROW, REST, HOLE_FORM),
        "node": _picture("node", NODE, NODE, node),
        **{f"ir.{name}": _ir(name) for name in names},
        **{f"fields.{name}": _ir(name, ref("ir")) for name in (*loose, EITHER)},
        **{f"wire.{name}": _wire(name) for name in (*names, EITHER)},
    }


def _fields(name: str) -> dict[str, set[str]]:
    """Return the fields of an object, each with what it may hold; of EITHER, those of all."""
    if name != EITHER:
        return {field: {held} for field, held in sorted(OBJECTS[name].items())}
    return {
        field: {fields[field] for fields in OBJECTS.values() if field in fields}
        for field in sorted(EVERY)
    }


def _ir(name: str, others: Schema | Literal[False] = False) -> Schema:
    """Return the picture of an object of the IR: an editor completes its fields."""
    inner: dict[str, Schema] = {}
    for field, holds in _fields(name).items():
        objects = {held.strip("[]") for held in holds}
        one = min(objects) if len(objects) == 1 else ANY
        inner[field] = ref(f"ir.{one}" if one in OBJECTS else "ir")
    return {
        "allOf": [ref("words")],
        "properties": {"...": {}, **inner},
        "patternProperties": {r"^`|\(or\s|!$": ref("ir")},
        "additionalProperties": others,
    }


def _wire(name: str) -> Schema:
    """Return what an editor completes in a picture of an object: holes of its fields."""
    said = ref(f"wire.{name}")
    return {"examples": holes(name), "additionalProperties": said, "items": said}


def holes(name: str) -> list[str]:
    """Return a hole for each field of an object, in the form that the field mostly takes."""
    found = []
    for field, holds in _fields(name).items():
        if field in KEPT:
            continue
        if len(holds) > 1 or holds & {"", ANY}:
            found.append(f"${field}")
            continue
        (held,) = holds
        inner = held.strip("[]")
        if field == "messages":
            found.append("$messages as conversation")
        elif held != inner:
            found.append(f"${field} each {inner}")
        else:
            found.append(f"${field} as {inner}")
            found += [f"${field}.{below}" for below in sorted(OBJECTS[inner].keys() - KEPT)]
    return [*found, "$own."]
