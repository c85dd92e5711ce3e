"""JSON Schema of `enforce`: its words, what each makes sure of, and what it takes."""

from __future__ import annotations

from ..ir import FUNCTION
from . import form
from .fields import KINDS, ROLES
from .pictureschema import Schema

ENFORCE = {
    "lift": "system text stands in `$system` of the request",
    "answer-next": "results follow their calls",
    "order-results-by-calls": "results stand in the order of their calls",
    "put-first": "parts of the kind lead their message",
    "no-empty": "a message of which nothing was written is left out",
    "alternate": "neighbours of the role user or assistant are one message",
    "insert": "the first or last turn is of this role: the text is filled in",
    "narrow-tools": "a choice that the dialect has no picture for (one tool, some tools, none) is "
    "made by sending only these tools",
    "no-blank": "text of nothing but spaces is left out",
    "no-empty-text": "text without a sign",
    "some-message": "system text that stands alone is a message of the user",
    "user-only": "a turn of the model holds no such part",
    "this-turn": "such parts stand behind the last message of the user alone",
    "thought-beside": "a turn of the model with such a part holds reasoning",
    "leave": "With `leave: system` it stays, at home",
    "pair": "in a request, results stand behind their calls",
    "signed": "the first such part of a step of the present turn has its signature",
    "strict": "the schema of a strict tool",
}


def enforced() -> Schema:
    """Return the schema of one word of `enforce`."""
    bare = sorted(word for word, takes in form.ENFORCE.items() if not takes)
    taken: Schema = {}
    for word, takes in form.ENFORCE.items():
        kinds = ["system"] if takes == "ROLE" else sorted({*KINDS, FUNCTION})
        if takes in ("ROLE", "KIND"):
            taken[word] = {"enum": kinds, "description": ENFORCE[word]}
        elif takes and word != "insert":
            taken[word] = {"type": "string", "minLength": 1, "description": ENFORCE[word]}
    text = {"type": "string"}
    turn = {
        "type": "object",
        "description": ENFORCE["insert"],
        "properties": {"user": text, "assistant": text},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
    pair = {"type": "array", "items": {"enum": sorted(ROLES)}, "minItems": 2, "maxItems": 2}
    places = {
        "insert": turn,
        "at": {"enum": ["start", "end"]},
        "between": pair,
        "before": {"enum": sorted(KINDS)},
    }
    inserts = {"required": ["insert"]}
    return {
        "type": ["string", "object"],
        "if": {"type": "string"},
        "then": {"enum": bare, "enumDescriptions": [ENFORCE[word] for word in bare]},
        "else": {
            "properties": {**taken, **places},
            "additionalProperties": False,
            "minProperties": 1,
            "if": inserts,
            "then": {
                "propertyNames": {"enum": sorted(places)},
                "minProperties": 2,
                "maxProperties": 3,
            },
            "else": {"propertyNames": {"enum": sorted(taken)}},
        },
    }
