"""Older drafts of JSON Schema: what they say otherwise than 2020-12, said in its words.

There `items` is one schema, bounds are numbers and `required` lists names; no keyword that says
something is null (https://json-schema.org/draft/2020-12/schema).
"""

from __future__ import annotations

from typing import Any

from .nodes import PLACES, TYPES

BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
# What is null in these says nothing; in others (`default`, `const`) it is a value.
EMPTY_IF_NULL = PLACES | frozenset(
    "type enum required title description format pattern minimum maximum exclusiveMinimum "
    "exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems minContains "
    "maxContains minProperties maxProperties dependentRequired $ref $schema $id $comment".split()
)


def _has_duplicates(names: list[Any]) -> bool:
    """Tell whether a list names something twice, which `required` may not."""
    texts = all(name.__class__ is str for name in names)
    return texts and len(set(names)) < len(names)


def _lowercase_type(word: Any) -> Any:
    """Return a word of a type in small letters, as JSON Schema has it; others as they are."""
    small = word.lower() if isinstance(word, str) else word
    return small if small != word and small in TYPES else word


def _required_names(properties: dict[str, Any]) -> list[str]:
    """Return the properties that say themselves that they must be there."""
    wanted = properties.items()
    return [name for name, one in wanted if one.__class__ is dict and one.get("required") is True]


def renew(node: dict[str, Any]) -> tuple[dict[str, Any], dict[str, tuple[str, str]]]:
    """Return a node in the words of 2020-12; for each keyword that goes, what says it, and why."""
    out, changes = dict(node), dict[str, tuple[str, str]]()
    for key in [key for key, value in node.items() if value is None and key in EMPTY_IF_NULL]:
        del out[key]
        changes[key] = "", f"`{key}` is null here, which says nothing: it is left out"
    word = out.get("type")
    if (lowercase := _lowercase_type(word)) is not word:
        out["type"] = lowercase
        changes["type"] = "type", f"the type `{word}` stands in small letters"
    if isinstance(out.get("required"), list) and _has_duplicates(out["required"]):
        out["required"] = [*dict.fromkeys(out["required"])]
        changes["required"] = "required", "`required` names each property once"
    if isinstance(out.get("items"), list):
        out["prefixItems"] = out.pop("items")
        changes["items"] = "prefixItems", "the elements of a tuple stand under `prefixItems`"
        if "additionalItems" in out:
            out["items"] = out.pop("additionalItems")
            changes["additionalItems"] = "items", "what follows a tuple stands under `items`"
    for key, bound in BOUNDS.items():
        switch = out.get(key)
        if not isinstance(switch, bool):
            continue
        del out[key]
        changes[key] = "", f"`{key}` is no number here: it is left out"
        if switch and bound in out:
            out[key] = out.pop(bound)
            changes[key] = key, f"`{key}` is the number itself, not a switch beside `{bound}`"
            changes[bound] = changes[key]
    if isinstance(out.get("required"), bool):
        del out["required"]
        changes["required"] = "", "the object around it says which properties are required"
    properties = out.get("properties")
    listed = out.get("required", [])
    for name in _required_names(properties) if isinstance(properties, dict) else ():
        if isinstance(listed, list) and name not in listed:
            out["required"] = listed = [*listed, name]
    return out, changes
