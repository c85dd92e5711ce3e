"""Calls held against the schemas of their tools: the option `check_arguments`."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ..errors import UsageError
from ..notes import Draft
from ..trail import At, Trail, pointer
from .copies import parts_of

MOST = 20  # violations of one call that are told
LOOKED_AT = 1000  # those that are found before the first are told
LONGEST = 200  # characters of what the validator says of one
FOLLOWED = 10_000  # references, for one call: definitions may double at each step
SURE = 20  # signs of a text that any pattern is soon done with
WAYS = 10**9  # to match a text: so many are tried within a second
REPEATS = ("MAX_REPEAT", "MIN_REPEAT")  # as Python parses them
PATTERNS = ("pattern", "patternProperties")
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def check_arguments(request: dict[str, Any], trail: Trail) -> list[Draft]:
    """Return notes on calls whose arguments their tool's schema refuses.

    Raises UsageError where the package that checks is not there.
    """
    try:
        import jsonschema
        import referencing
    except ImportError:
        raise UsageError(
            "the option `check_arguments` needs the package jsonschema: pip install wireglot[check]"
        ) from None
    notes: list[Draft] = []
    known: dict[str, Any] = {}
    steps, kinds = _Steps(), dict[Any, Any]()
    for tool in request.get("tools") or ():
        schema = tool.get("parameters")
        if "type" in tool or not isinstance(schema, dict):
            continue
        kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
        try:
            kind.check_schema(schema)
            kinds[kind] = kinds.get(kind) or steps.counted(kind)
            # A registry of its own: no reference is ever fetched.
            known[tool.get("name")] = kinds[kind](schema, registry=referencing.Registry())
        except Exception as error:  # whatever a schema may do to a library
            notes.append(_bad_schema(error, trail.find(tool, "parameters"), tool))
    for part in parts_of(request.get("messages") or (), "tool_call"):
        if part.get("name") in known:
            steps.left = FOLLOWED
            notes += _violations(part, known[part["name"]], trail)
    return notes


class _Steps:
    """How many references may be followed yet."""

    left = FOLLOWED

    def counted(self, kind: Any) -> Any:
        """Return a kind of validator that counts the references that it follows."""
        from jsonschema import validators as made

        def counting(follow: Any) -> Any:
            def followed(*given: Any) -> Any:
                self.left -= 1
                if self.left < 0:
                    raise ValueError(f"more than {FOLLOWED} references are to be followed")
                return follow(*given)

            return followed

        validators: Any = made
        known = kind.VALIDATORS
        words = {word: counting(known[word]) for word in REFERENCES if word in known}
        words |= {word: _bounded(known[word]) for word in PATTERNS if word in known}
        return validators.extend(kind, words)


def _bounded(match: Any) -> Any:
    """Return what holds a value against patterns, but for those that may take for ever."""

    def matched(validator: Any, said: Any, value: Any, schema: Any) -> Any:
        texts = [value] if isinstance(value, str) else value if isinstance(value, dict) else ()
        size = max(map(len, texts), default=0)
        for pattern in [said] if isinstance(said, str) else said:
            if size > SURE and (_repeats_nested(pattern) or _match_ways(pattern, size) > WAYS):
                reason = f"the pattern {_short(pattern)!r} may take for ever, of {size} signs"
                raise ValueError(reason)
        return match(validator, said, value, schema)

    return matched


def _repeats_nested(pattern: str) -> bool:
    """Tell whether a repeat of any number, or a choice, stands within a repeat.

    A text may then be tried in any number of ways. Raises re.error for what is no pattern.
    """
    return any(
        within
        and ((what in REPEATS and said[0] < said[1]) or (what == "BRANCH" and _unclear(said[1])))
        for what, said, within in _parts(pattern)
    )


def _match_ways(pattern: str, size: int) -> int:
    """Return in how many ways a text of so many signs may be tried, at most.

    A match may begin anywhere, unless the pattern says where, and each repeat may end in several
    places. Raises re.error for what is no pattern.
    """
    parts = _parts(pattern)
    ends = [said[1] - said[0] + 1 for what, said, _ in parts if what in REPEATS]
    begins = 1 if parts and str(parts[0][1]).startswith("AT_BEGINNING") else size
    return begins * math.prod(min(one, size) for one in ends)


@functools.lru_cache(1024)
def _parts(pattern: str) -> tuple[tuple[str, Any, bool], ...]:
    """Return the parts of a pattern, what each says, and whether it stands within a repeat."""
    parsed: Any = importlib.import_module("re._parser").parse(pattern)

    def parts(value: Any, within: bool) -> Iterator[tuple[str, Any, bool]]:
        if isinstance(value, list | tuple) or hasattr(value, "data"):
            items = [*getattr(value, "data", value)]
            what = str(items[0]) if len(items) == 2 else ""
            if what.isupper():
                yield what, items[1], within
            repeats = what in REPEATS and items[1][1] > 1
            for one in items:
                yield from parts(one, within or repeats)

    return tuple(parts(parsed, False))


def _unclear(choice: list[Any]) -> bool:
    """Tell whether the first sign of a text may not say which of several patterns is meant."""
    heads = [next(iter(one), None) for one in choice]
    signs = {head[1] for head in heads if head is not None and str(head[0]) == "LITERAL"}
    return len(signs) < len(heads)


def _violations(call: dict[str, Any], validator: Any, trail: Trail) -> Iterator[Draft]:
    """Yield a note for each thing that is wrong with the arguments of a call."""
    if "arguments" not in call:
        at = trail.find(call, "arguments_text" if "arguments_text" in call else "input")
        reason = f"the arguments of `{call['name']}` are no JSON object"
        yield Draft("bad-arguments", "kept", at or trail.find(call), None, reason, None, call)
        return
    at = trail.find(call, "arguments") or trail.find(call) or ()
    try:
        found = list(islice(validator.iter_errors(call["arguments"]), LOOKED_AT))
        found.sort(key=lambda error: ([str(key) for key in error.absolute_path], error.message))
        for error in found[:MOST]:
            inside = tuple(error.absolute_path)
            where = pointer(inside) or "the arguments"
            reason = f"`{call['name']}` refuses {where}: {_short(error.message)}"
            # Arguments that are JSON text have no places of their own.
            place = at if "arguments_json" in call else (*at, *inside)
            yield Draft("bad-arguments", "kept", place, None, reason, None, call)
    except Exception as error:  # a reference that leads nowhere, a pattern that is none
        yield _bad_schema(error, at, call)


def _bad_schema(error: Exception, at: At | None, owner: dict[str, Any]) -> Draft:
    said = _short(str(getattr(error, "message", error)) or type(error).__name__)
    reason = f"the schema of `{owner['name']}` cannot be checked against: {said}"
    return Draft("bad-schema", "kept", at, None, reason, None, owner)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
