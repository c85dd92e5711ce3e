"""The root of a schema: keywords that stand there, and that a dialect takes everywhere else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..jsontext import copied
from ..trail import At
from .lenses import same
from .nodes import DEFINITIONS, LISTS
from .schemawalk import Change, resolved

# What a branch may say for its properties to stand beside those of the other branches.
OBJECT = frozenset("type properties required title description additionalProperties".split())


def write_root(
    schema: dict[str, Any], without: Iterable[str], fills: dict[str, Any]
) -> tuple[dict[str, Any], list[Change], dict[At, At]]:
    """Return a schema without these keywords at its root, what is told of them, and what moved.

    The branches of a union of objects are merged: their properties stand together, and what all of
    them require is required. What the root must say is filled in from `fills`. What moved is where
    it stands now, and where it stood.
    """
    moved: dict[At, At] = {}
    refused = [word for word in without if word in schema]
    changes: list[Change] = []
    if schema.get("properties") == []:  # what some languages make of an object without keys
        schema = {**schema, "properties": {}}
        message = "no properties are an object, not a list"
        changes.append(Change("schema-reworded", "changed", ("properties",), message))
    if not refused:
        return fill_root(schema, fills, changes), changes, moved
    out = {key: value for key, value in schema.items() if key not in refused}
    for word in sorted(refused, key=list(schema).index):
        branches = _object_branches(schema, word)
        if branches is None:
            message = f"the target takes no `{word}` at the root of a schema"
            changes.append(Change("schema-keyword", "lost", (word,), message))
            continue
        for key in ("properties", "required"):
            if out.get(key) is None:
                moved[key,] = (word,)
        _merge_branches(out, branches, word == "allOf", moved)
        message = f"the target takes no `{word}` at the root: the properties stand together"
        changes.append(Change("schema-reworded", "changed", (word,), message))
    return fill_root(out, fills, changes), changes, moved


def fill_root(
    schema: dict[str, Any], fills: dict[str, Any], changes: list[Change]
) -> dict[str, Any]:
    """Return a schema that says at its root what it must."""
    missing = {word: value for word, value in fills.items() if schema.get(word) is None}
    for word in missing:
        message = f"the target wants `{word}` at the root of a schema"
        changes.append(Change("schema-added", "added", (), message, None, word))
    # Whoever is given the schema may change it: what the rule says is never given itself.
    return {**schema, **copied(missing)} if missing else schema


def unmerged(moved: dict[At, At], at: At) -> At:
    """Return where something stood before branches were merged."""
    for end in range(len(at), 0, -1):
        if at[:end] in moved:
            return (*moved[at[:end]], *at[end:])
    return at


def _object_branches(schema: dict[str, Any], word: str) -> list[tuple[At, dict[str, Any]]] | None:
    """Return the branches of a union if all are plain objects, each by its place."""
    found = schema[word]
    if word not in LISTS or not isinstance(found, list) or not found:
        return None
    named = [_resolve_definition(schema, branch, (word, i)) for i, branch in enumerate(found)]
    branches = [branch for _, branch in named]
    plain = all(
        isinstance(branch, dict)
        and branch.keys() <= OBJECT
        and branch.get("type", "object") == "object"
        and isinstance(branch.get("properties", {}), dict)
        and isinstance(branch.get("required", []), list)
        for branch in branches
    )
    if not plain or not any("properties" in branch for branch in branches):
        return None
    return named


def _resolve_definition(schema: dict[str, Any], branch: Any, at: At) -> tuple[At, Any]:
    """Return the definition that a branch refers to, if it says nothing else, and its place."""
    found, there = resolved(schema, branch)
    return (there, found) if len(there) == 2 and there[0] in DEFINITIONS else (at, branch)


def _merge_branches(
    out: dict[str, Any],
    branches: list[tuple[At, dict[str, Any]]],
    all_hold: bool,
    moved: dict[At, At],
) -> None:
    """Put the properties of the branches into a schema; `every`: all of the branches hold."""
    properties = dict(out.get("properties") or {})
    own = set(properties)
    union = "allOf" if all_hold else "anyOf"
    for at, branch in branches:
        for name, schema in branch.get("properties", {}).items():
            old = properties.get(name)
            here, there = ("properties", name), (*at, "properties", name)
            if old is None and name not in own:
                properties[name] = schema
                moved[here] = there
            elif name not in own and not same(old, schema):
                listed = old[union] if isinstance(old, dict) and [*old] == [union] else None
                if listed is None:
                    moved[(*here, union, 0)] = moved[here]
                properties[name] = {union: [*(listed or [old]), schema]}
                moved[(*here, union, len(properties[name][union]) - 1)] = there
    required = [dict.fromkeys(map(str, branch.get("required", []))) for _, branch in branches]
    wanted = dict.fromkeys(map(str, out.get("required") or []))
    for name in required[0] if not all_hold else [name for names in required for name in names]:
        if all_hold or all(name in names for names in required):
            wanted[name] = None
    out["properties"] = properties
    if wanted:
        out["required"] = [*wanted]
