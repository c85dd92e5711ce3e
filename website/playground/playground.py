"""What the playground asks of wireglot; texts go in and come out, as JSON."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import wireglot
from wireglot.authoring import examples
from wireglot.loading import rulesources

UNITS = ("request", "response", "error", "session")
_CALL = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
_CALLS = [
    {"id": f"call_{n}", "type": "function", "function": call}
    for n, call in enumerate((_CALL, {**_CALL, "arguments": '{"city": "Bergen"}'}), 1)
]
_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
SAMPLES = {
    "request": {
        "model": "model",
        "messages": [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": "Is it warmer in Oslo or in Bergen?"},
            {"role": "assistant", "content": None, "tool_calls": _CALLS},
            {"role": "tool", "tool_call_id": "call_1", "content": '{"celsius": 4}'},
            {"role": "tool", "tool_call_id": "call_2", "content": "It cannot be reached."},
        ],
        "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": _SCHEMA}}],
        "tool_choice": "auto",
        "max_tokens": 500,
        "seed": 7,
    },
    "response": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "model",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "I ask.", "tool_calls": _CALLS},
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 80, "completion_tokens": 30, "total_tokens": 110},
    },
    "error": {"error": {"message": "Too many requests.", "type": "rate_limit_error"}},
}


def call(name: str, given: str) -> str:
    """Call a function of this module by its name, with a list of arguments as JSON."""
    known: dict[str, Callable[..., Any]] = {
        "dialects": dialects, "rule": rule, "sample": sample, "convert": convert,
    }  # fmt: skip
    return json.dumps(known[name](*json.loads(given)))


def dialects() -> list[dict[str, Any]]:
    """Return the names of all dialects, and which units they have."""
    rules = wireglot.packaged()
    has = {name: rules[name].model.units for name in rules.dialects}
    return [{"name": name, "units": [one for one in UNITS if one in has[name]]} for name in has]


@functools.cache
def _files() -> dict[str, str]:
    return {file.stem: file.text() for file in rulesources.files(rulesources.packaged_folder())}


def rule(name: str) -> str:
    """Return the text of a packaged rule file."""
    return _files()[name]


def sample(name: str, unit: str) -> str | None:
    """Return a payload of a dialect to begin with, or None where it has none of the unit."""
    rules = wireglot.packaged()
    if unit in SAMPLES:
        body = rules.convert(SAMPLES[unit], "openai-chat", name, unit, model="model").body
    else:
        found = (one.said for one in examples.find(rules[name]) if one.owner == unit)
        body = next((said["wire"] for said in found if "wire" in said), None)
    return None if body is None else json.dumps(body, indent=2, ensure_ascii=False)


@functools.lru_cache(4)
def _rules(edited: tuple[tuple[str, str], ...]) -> Any:
    return wireglot.load_rules(dict(edited)) if edited else wireglot.packaged()


def convert(text: str, source: str, target: str, unit: str, edited: dict[str, str]) -> Any:
    """Convert a payload with rule files of which some may be edited; say what became of it."""
    try:
        body = json.loads(text)
    except ValueError as error:
        return {"error": f"The payload is no JSON: {error}"}
    try:
        rules = _rules(tuple(sorted(edited.items())))
        done = rules.convert(body, source, target, unit, trace=True)
    except wireglot.WireglotError as error:
        return {"error": str(error)}
    assert done.trace is not None
    notes = [
        {
            "severity": note.severity, "code": note.code, "effect": note.effect,
            "source": note.source_path or "", "target": note.target_path or "",
            "why": note.message, "rule": note.rule or "",
        }
        for note in done.notes
    ]  # fmt: skip
    trace = [
        {"target": at, "sources": ", ".join(one.sources), "rule": one.rule or ""}
        for at, one in done.trace.origins.items()
    ]
    shown = json.dumps(done.body, indent=2, ensure_ascii=False)
    return {"body": shown, "notes": notes, "trace": trace}
