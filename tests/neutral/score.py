"""Hold what a converter makes to what a case wants, in one spelling (docs/cases.md)."""

from __future__ import annotations

import json
import re
from typing import Any

NOTHING: Any = object()
Case = dict[str, Any]
# Values under these keys are the caller's own: keys and nulls stay. The second are schemas of them.
DATA = {"args", "arguments", "input", "response", "output"}
SCHEMAS = {"parameters", "inputSchema", "schema", "responseSchema"}
SCHEMAS |= {"parametersJsonSchema", "responseJsonSchema"}
TEXTS = {"content", "system"}  # a text is one block of text there
# What providers take for absent; what is of the time it was made.
ABSENT: list[tuple[str, Any]] = [("description", ""), ("properties", {}), ("type", "custom")]
ABSENT += [("caller", {"type": "direct"}), ("toolChoice", "auto"), ("toolChoice", {"type": "auto"})]
MADE = {"created", "systemFingerprint"}


def holds(case: Case, body: Any) -> bool:
    """Tell whether a result is what a case wants, whatever spelling of it the API takes."""
    wanted, made = case["wanted"], plain(body)
    if "is" in wanted:
        return alike(*bodies(plain(wanted["is"]), made, case["given"]))
    has, lacks = wanted.get("has", {}), wanted.get("lacks", ())
    same = [[at(made, p) for p in pair] for pair in wanted.get("same", ())]
    differ = [[at(made, p) for p in pair] for pair in wanted.get("differ", ())]
    return (
        all(alike(spelled(p, value), at(made, p)) for p, value in has.items())
        and all(at(made, p) is NOTHING for p in lacks)
        and all(one is not NOTHING and alike(one, two) for one, two in same)
        and not any(alike(one, two) for one, two in differ)
    )


def bodies(whole: Any, made: Any, given: Any) -> list[Any]:
    """Return what is wanted and made without a model or a bound that the case does not give."""
    if not (isinstance(whole, dict) and isinstance(made, dict) and isinstance(given, dict)):
        return [whole, made]
    own = {"model"} if "model" not in whole or "model" not in made else set()
    # An API may need a bound: each converter has its own where the caller has none.
    own |= {"maxTokens"} & made.keys() if whole.get("maxTokens") not in given.values() else set()
    return [{k: v for k, v in body.items() if k not in own} for body in (whole, made)]


def spelled(pointer: str, value: Any) -> Any:
    """Return the value that is wanted at a pointer, spelled as it is there."""
    keys = [camel(step) for step in pointer.split("/")]
    inside = next((key for key in keys[:-1] if key in DATA | SCHEMAS), "")
    return value if inside in DATA else plain({keys[-1]: value}, inside).get(keys[-1], NOTHING)


def plain(value: Any, key: str = "") -> Any:
    """Return a value in one spelling; the key says what it is."""
    if key == "arguments" and isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    if key in DATA:
        return value
    if key in TEXTS and isinstance(value, str):
        return [{"type": "text", "text": value}]
    if isinstance(value, list):
        return [plain(item, key if key in SCHEMAS else "") for item in value]
    if not isinstance(value, dict):
        return value.lower() if key == "schemaType" and isinstance(value, str) else value
    if key in SCHEMAS:
        said = {k: plain(v, "schemaType" if k == "type" else key) for k, v in value.items()}
    else:
        said = {camel(k): plain(v, camel(k)) for k, v in value.items() if v is not None}
        said = {k: v for k, v in said.items() if k not in MADE}
    return {k: v for k, v in said.items() if (k, v) not in ABSENT}


def camel(key: str) -> str:
    """Return a key in the spelling that protobuf takes for the same."""
    return re.sub(r"(?<=.)_([a-z0-9])", lambda m: m[1].upper(), key)


def alike(one: Any, two: Any) -> bool:
    """Tell whether two values are the same JSON: 1 is 1.0, and true is not 1."""
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(alike(one[key], two[key]) for key in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(alike, one, two))
    return isinstance(one, bool) is isinstance(two, bool) and bool(one == two)


def at(body: Any, pointer: str) -> Any:
    """Return what stands at an RFC 6901 pointer, in either spelling of its keys, or NOTHING."""
    for key in pointer.split("/")[1:]:
        step = key.replace("~1", "/").replace("~0", "~")
        if isinstance(body, list) and step.isdecimal() and int(step) < len(body):
            body = body[int(step)]
        elif isinstance(body, dict) and (step in body or camel(step) in body):
            body = body[step] if step in body else body[camel(step)]
        else:
            return NOTHING
    return body
