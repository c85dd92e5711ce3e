"""JSON Schema of `enforce`: its words, what each makes sure of, and what it takes."""

from __future__ import annotations

from ..checks.fields import KINDS
from ..ir import PARTS
from ..language.order import ENFORCE, ROLES, STAND, TURNS, Said, Words
from .pictureschema import Schema

TURN = "in a request, the first turn"
USERS = "a turn of the model holds no such part"
BESIDE = "a message with such a part holds this"


def enforced() -> dict[str, tuple[Schema, str]]:
    """Return the schema of what each word of `enforce` takes, and what the word says."""
    words: dict[str, tuple[Schema, str]] = {}
    for word, form in ENFORCE.items():
        if isinstance(form, Said):
            words[word] = {"type": "string", "minLength": 1}, form.meaning
        elif isinstance(form, Words):
            told = [meaning for _, meaning in form.values.values()]
            one = {"enum": list(form.values), "enumDescriptions": told}
            words[word] = ({"type": "array", "items": one} if form.many else one), ""
    words["user-only"] = {"type": "array", "items": {"enum": sorted(KINDS)}}, USERS
    stands = {
        "type": "object",
        "properties": {word: {"type": "string"} for word in STAND},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
    kinds = {
        "type": "object",
        "properties": dict.fromkeys(sorted(PARTS), stands),
        "additionalProperties": False,
        "minProperties": 1,
    }
    words["beside"] = kinds, BESIDE
    turns = {"alternate": {"const": True}, **{word: _turn(word) for word in TURNS}}
    words["turns"] = (
        {
            "type": "object",
            "properties": turns,
            "additionalProperties": False,
            "minProperties": 1,
        },
        TURN,
    )
    return words


def _turn(word: str) -> Schema:
    text = {"type": "string"}
    between = word == "between"
    beside = {"enum": sorted(ROLES if between else KINDS)}
    return {
        "type": "object",
        "properties": {"user": text, "assistant": text, **dict.fromkeys(TURNS[word], beside)},
        "additionalProperties": False,
        "anyOf": [{"required": ["user"]}, {"required": ["assistant"]}],
        **({"required": list(TURNS[word])} if between else {}),
    }
