"""What the SDKs' own types say about the rules, apart from what the pictures say of themselves.

For every field path of the SDK's request and response types there are small bodies that hold it
(`oracles.samples`), and for every word that a type enumerates another. Of each must hold:

    known    it is read, and nothing is left over
    home     it comes back exactly
    worded   every word that the types enumerate is understood
    named    what this dialect alone has is called as it is on the wire
    written  written by the dialect of another SDK, it is a body of that SDK's types
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import wireglot
from wireglot.authoring.jsondiff import differences
from wireglot.authoring.lawcase import abroad
from wireglot.ir import USER_DATA

from .oracles import leaves, samples, sdk

Json = Any
UNITS: tuple[sdk.Unit, ...] = ("request", "response", "error")
# Words whose meaning the API's pages do not say, so that no table can.
UNCLEAR = frozenset("ESCALATION IMAGE_OTHER LANGUAGE NO_IMAGE PUP_LIMITED_DISABLED text".split())
# Words that stand for "nothing was said" or that no payload of an answer holds.
UNSAID = ("UNSPECIFIED",)
# Own fields that hold what has no key of its own, or whose key says something else elsewhere.
UNNAMED = frozenset(
    "block settings systemRole item tier cache_mode modelSelectionConfig about reference"
    " search_version code_version fetch_version client_version transport refusal_logprobs"
    " reasoning_logprobs".split()
)
# Bodies that the types allow and the API does not send or take, each with the reason.
EXCUSED = {
    (
        "ollama",
        "request",
        "top_k",
    ): "the type is shared with other numbers; the server wants an int",
    ("ollama", "response", "tool_call_id"): "one type serves both directions; answers hold none",
    ("ollama", "response", "tool_name"): "one type serves both directions; answers hold none",
}


@cache
def bodies(dialect: str, unit: sdk.Unit) -> tuple[Json, ...]:
    """Give small bodies of the SDK's types, each once: for each field path, and for each word."""
    found: dict[str, Json] = {}
    said: set[tuple[str, str]] = set()
    for _, body in samples.samples(dialect, unit):
        found.setdefault(repr(body), body)
        for other in _worded(dialect, unit, body, said):
            found.setdefault(repr(other), other)
    return tuple(found.values())


def _worded(dialect: str, unit: sdk.Unit, body: Json, said: set[tuple[str, str]]) -> Iterator[Json]:
    """Give a body for each word that has not been said at its path."""
    for steps, value in leaves.leaves(body):
        if not isinstance(value, str):
            continue
        allowed = sdk.shapes_at(dialect, unit, body, steps)
        words = {word for shape in allowed for word in shape.words if shape.kind == "words"}
        for word in sorted(map(str, words - {value})):
            place = (leaves.path_of(steps), word)
            if place not in said and not any(sign in word for sign in UNSAID):
                other = leaves.replaced(body, {steps: word})
                if not sdk.problems(dialect, unit, other):
                    said.add(place)
                    yield other


def broken(rules: Any, dialect: str, each: int = 1) -> Iterator[str]:
    """Say what each so-manieth of the SDK's bodies of one dialect has against its rules."""
    own = rules[dialect]
    for unit in UNITS if dialect in sdk.DIALECTS else ():  # the others have no SDK
        for body in bodies(dialect, unit)[::each]:
            if any((dialect, unit, key) in EXCUSED for key in _keys(body)):
                continue
            if "model" in body:  # which fields a model refuses, the types do not say
                body = {**body, "model": "m"}
            try:
                ir = own.read(body, unit).ir
                home = own.write(ir, unit).body
            except wireglot.ConversionError as error:
                yield f"{dialect}/{unit}: {error}: {body}"
                continue
            if leaves.not_pictured(ir):
                yield f"{dialect}/{unit}: something is not known: {body}"
            if apart := differences(body, home):
                yield f"{dialect}/{unit}: at home {apart[0]}: {body}"
            for fault in _odd(ir, own.model.family, frozenset(_keys(body))):
                yield f"{dialect}/{unit}: {fault}: {body}"


def _odd(ir: Json, family: str, keys: frozenset[str]) -> Iterator[str]:
    if isinstance(ir, list):
        for item in ir:
            yield from _odd(item, family, keys)
    elif isinstance(ir, dict):
        for name in ir.get("own", {}).get(family, {}):
            if not {name, f"_{name}"} & keys and name not in UNNAMED:
                yield f"`own.{name}` is called as nothing on the wire"
        for key, value in ir.items():
            if isinstance(value, str) and value.startswith("other:") and value[6:] not in UNCLEAR:
                yield f"the word {value[6:]} is not understood"
            elif key not in USER_DATA:
                yield from _odd(value, family, keys)


def _keys(body: Json) -> Iterator[str]:
    if isinstance(body, dict):
        for key, value in body.items():
            yield key
            yield from _keys(value)
    elif isinstance(body, list):
        for value in body:
            yield from _keys(value)


@cache
def meanings(dialect: str, unit: sdk.Unit) -> tuple[Json, ...]:
    """Give the bodies of an SDK as the packaged rules read them."""
    own = wireglot.packaged()[dialect]
    read = (own.read(body, unit, model="m").ir for body in bodies(dialect, unit))
    return tuple({repr(ir): ir for ir in map(abroad, read)}.values())


def unwritten(rules: Any, source: str, target: str, each: int = 1) -> Iterator[str]:
    """Say what the SDK of one dialect has against what is written of each so-manieth other body."""
    for unit in UNITS if {source, target} <= {*sdk.DIALECTS} else ():
        for ir in meanings(source, unit)[::each]:
            try:
                wire = rules[target].write(ir, unit).body
            except wireglot.ConversionError as error:
                yield f"{source} to {target}/{unit}: {error}: {ir}"
                continue
            for problem in _problems(target, unit, json.dumps(wire)):
                yield f"{source} to {target}/{unit}: {problem}: {ir}"


@cache
def _problems(dialect: str, unit: sdk.Unit, text: str) -> tuple[str, ...]:
    return tuple(sdk.problems(dialect, unit, json.loads(text)))
