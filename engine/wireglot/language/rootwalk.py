"""The root of a schema: keywords that stand there, and that a dialect takes everywhere else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..jsontext import copied
from .lenses import same
from .nodes import DEFINITIONS, LISTS
from .schemawalk import Told

# What a branch may say for its properties to stand beside those of the other branches.
OBJECT = frozenset("type properties required title description additionalProperties".split())


def rooted(
    schema: dict[str, Any], without: Iterable[str], fills: dict[str, Any]
) -> tuple[dict[str, Any], list[Told]]:
    """Return a schema without these keywords at its root, and what is told of them.

    The branches of a union of objects are merged: their properties stand together, and what all of
    them require is required. What the root must say is filled in from `fills`.
    """
    gone = [word for word in without if word in schema]
    told: list[Told] = []
    if schema.get("properties") == []:  # what some languages make of an object without keys
        schema = {**schema, "properties": {}}
        message = "no properties are an object, not a list"
        told.append(Told("schema-reworded", "changed", ("properties",), message))
    if not gone:
        return filled(schema, fills, told), told
    out = {key: value for key, value in schema.items() if key not in gone}
    for word in sorted(gone, key=list(schema).index):
        branches = _objects(schema, word)
        if branches is None:
            message = f"the target takes no `{word}` at the root of a schema"
            told.append(Told("schema-keyword", "lost", (word,), message))
            continue
        _merge(out, branches, word == "allOf")
        message = f"the target takes no `{word}` at the root: the properties stand together"
        told.append(Told("schema-reworded", "changed", (word,), message))
    return filled(out, fills, told), told


def filled(schema: dict[str, Any], fills: dict[str, Any], told: list[Told]) -> dict[str, Any]:
    """Return a schema that says at its root what it must."""
    missing = {word: value for word, value in fills.items() if schema.get(word) is None}
    for word in missing:
        message = f"the target wants `{word}` at the root of a schema"
        told.append(Told("schema-added", "added", (), message, None, word))
    # Whoever is given the schema may change it: what the rule says is never given itself.
    return {**schema, **copied(missing)} if missing else schema


def _objects(schema: dict[str, Any], word: str) -> list[dict[str, Any]] | None:
    """Return the branches of a union if all of them are plain objects, references followed."""
    found = schema[word]
    if word not in LISTS or not isinstance(found, list) or not found:
        return None
    branches = [_named(schema, branch) for branch in found]
    plain = all(
        isinstance(branch, dict)
        and branch.keys() <= OBJECT
        and branch.get("type", "object") == "object"
        and isinstance(branch.get("properties", {}), dict)
        and isinstance(branch.get("required", []), list)
        for branch in branches
    )
    return branches if plain and any("properties" in branch for branch in branches) else None


def _named(schema: dict[str, Any], branch: Any) -> Any:
    """Return the definition that a branch refers to, if it says nothing else."""
    if not isinstance(branch, dict) or branch.keys() != {"$ref"}:
        return branch
    _, _, name = str(branch["$ref"]).rpartition("/")
    for word in DEFINITIONS:
        if branch["$ref"] == f"#/{word}/{name}" and isinstance(schema.get(word), dict):
            return schema[word].get(name, branch)
    return branch


def _merge(out: dict[str, Any], branches: list[dict[str, Any]], every: bool) -> None:
    """Put the properties of the branches into a schema; `every`: all of the branches hold."""
    properties = dict(out.get("properties") or {})
    known = set(properties)
    for branch in branches:
        for name, schema in branch.get("properties", {}).items():
            before = properties.get(name)
            if before is None or name in known:
                properties.setdefault(name, schema)
            elif not same(before, schema):
                union = "allOf" if every else "anyOf"
                listed = (
                    before[union] if isinstance(before, dict) and [*before] == [union] else None
                )
                properties[name] = {union: [*(listed or [before]), schema]}
    required = [dict.fromkeys(map(str, branch.get("required", []))) for branch in branches]
    wanted = dict.fromkeys(map(str, out.get("required") or []))
    for name in required[0] if not every else [name for names in required for name in names]:
        if every or all(name in names for names in required):
            wanted[name] = None
    out["properties"] = properties
    if wanted:
        out["required"] = [*wanted]
