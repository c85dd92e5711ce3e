"""Wrong input gives a `ConversionError` with a path, or a note; never anything else.

And: no input is ever changed, the same input gives the same outcome, and nothing goes unheard:
what was wrong is refused, or shows in the output, or is named by a note.
"""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wireglot

from . import width

DIALECTS = ("openai-chat", "anthropic", "gemini")
PNG = "iVBORw0KGgo="
DEEP = 600


@functools.cache
def rules() -> Any:
    return wireglot.packaged()


# --- Valid bodies, of which one node at a time is made wrong --------------------------------------

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}


def openai_chat() -> dict[str, Any]:
    tool = {
        "type": "function",
        "function": {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True},
    }
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"city":"x"}'}}
    result = {"role": "tool", "tool_call_id": "c1", "content": '{"t":1}'}
    messages = [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look."},
                {
                    "type": "image_url",
                    "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"},
                },
            ],
        },
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        result,
    ]
    usage = {
        "prompt_tokens": 12,
        "completion_tokens": 7,
        "total_tokens": 19,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    choice = {"type": "function", "function": {"name": "f"}}
    return {
        "request": {
            "model": "m",
            "messages": messages,
            "tools": [tool],
            "tool_choice": choice,
            "parallel_tool_calls": False,
            "max_completion_tokens": 100,
            "temperature": 0.5,
            "top_p": 0.9,
            "stop": ["END"],
            "seed": 7,
            "reasoning_effort": "low",
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "n", "schema": SCHEMA, "strict": True},
            },
            "stream": False,
        },
        "response": {
            "id": "r1",
            "object": "chat.completion",
            "created": 1771550000,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "I look.",
                        "refusal": None,
                        "tool_calls": [call],
                    },
                    "logprobs": None,
                    "finish_reason": "tool_calls",
                }
            ],
            "usage": usage,
        },
        "messages": messages,
        "message": messages[2],
        "tools": [tool],
        "tool": tool,
        "tool_choice": choice,
        "tool_call": call,
        "tool_result": result,
        "usage": usage,
        "error": {
            "error": {
                "message": "No.",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "bad",
            }
        },
    }


def anthropic() -> dict[str, Any]:
    tool = {"name": "f", "description": "d", "input_schema": SCHEMA, "strict": True}
    call = {"type": "tool_use", "id": "c1", "name": "f", "input": {"city": "x", "n": [1, {}]}}
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PNG},
    }
    result = {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": [{"type": "text", "text": "seen"}, image],
        "is_error": False,
    }
    assistant = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "text", "text": "I look."},
            call,
        ],
    }
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Look."}, image]},
        assistant,
        {"role": "user", "content": [result, {"type": "text", "text": "Well?"}]},
    ]
    usage = {
        "input_tokens": 12,
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 2,
        "output_tokens": 7,
    }
    choice = {"type": "tool", "name": "f", "disable_parallel_tool_use": True}
    return {
        "request": {
            "model": "m",
            "max_tokens": 100,
            "system": [{"type": "text", "text": "Be brief."}],
            "messages": messages,
            "tools": [tool],
            "tool_choice": choice,
            "stop_sequences": ["END"],
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "metadata": {"user_id": "u"},
            "stream": False,
        },
        "response": {
            "id": "r1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": assistant["content"],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": usage,
        },
        "messages": messages,
        "message": assistant,
        "tools": [tool],
        "tool": tool,
        "tool_choice": choice,
        "tool_call": call,
        "tool_result": result,
        "usage": usage,
        "error": {"type": "error", "error": {"type": "invalid_request_error", "message": "No."}},
    }


def gemini() -> dict[str, Any]:
    tool = {"functionDeclarations": [{"name": "f", "description": "d", "parameters": SCHEMA}]}
    call = {"functionCall": {"id": "c1", "name": "f", "args": {"city": "x", "n": [1, {}]}}}
    result = {"functionResponse": {"id": "c1", "name": "f", "response": {"t": 1}}}
    model = {
        "role": "model",
        "parts": [
            {"text": "Hm.", "thought": True},
            {"text": "I look."},
            call | {"thoughtSignature": "c2ln"},
        ],
    }
    contents = [
        {
            "role": "user",
            "parts": [{"text": "Look."}, {"inlineData": {"mimeType": "image/png", "data": PNG}}],
        },
        model,
        {"role": "user", "parts": [result]},
    ]
    usage = {
        "promptTokenCount": 12,
        "cachedContentTokenCount": 4,
        "candidatesTokenCount": 4,
        "thoughtsTokenCount": 3,
        "totalTokenCount": 19,
    }
    choice = {"mode": "ANY", "allowedFunctionNames": ["f"]}
    return {
        "request": {
            "contents": contents,
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [tool],
            "toolConfig": {"functionCallingConfig": choice},
            "generationConfig": {
                "maxOutputTokens": 100,
                "temperature": 0.5,
                "topP": 0.9,
                "topK": 3,
                "stopSequences": ["END"],
                "seed": 7,
                "thinkingConfig": {"thinkingBudget": 1024, "includeThoughts": True},
            },
        },
        "response": {
            "candidates": [{"index": 0, "content": model, "finishReason": "STOP"}],
            "usageMetadata": usage,
            "modelVersion": "m",
            "responseId": "r1",
        },
        "messages": contents,
        "message": model,
        "tools": [tool],
        "tool": tool,
        "tool_choice": choice,
        "tool_call": call,
        "tool_result": result,
        "usage": usage,
        "error": {"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT"}},
    }


def ollama() -> dict[str, Any]:
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}}
    call = {"id": "c1", "function": {"index": 0, "name": "f", "arguments": {"city": "x", "n": [1]}}}
    result = {"role": "tool", "tool_name": "f", "tool_call_id": "c1", "content": '{"t":1}'}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look.", "images": [PNG]},
        {"role": "assistant", "content": "I look.", "thinking": "Hm.", "tool_calls": [call]},
        result,
    ]
    usage = {"prompt_eval_count": 12, "eval_count": 7}
    return {
        "request": {
            "model": "m",
            "messages": messages,
            "tools": [tool],
            "format": SCHEMA,
            "think": "low",
            "options": {"temperature": 0.5, "num_predict": 100, "stop": ["END"], "num_ctx": 4096},
            "keep_alive": "5m",
            "stream": False,
        },
        "response": {
            "model": "m",
            "created_at": "2026-02-20T01:13:20Z",
            "message": messages[2],
            "done": True,
            "done_reason": "stop",
            "total_duration": 5,
            **usage,
        },
        "messages": messages,
        "message": messages[2],
        "tools": [tool],
        "tool": tool,
        "tool_call": call,
        "tool_result": result,
        "usage": usage,
        "error": {"error": "No."},
    }


def openai_responses() -> dict[str, Any]:
    tool: dict[str, Any] = {
        "type": "function",
        "name": "f",
        "description": "d",
        "parameters": SCHEMA,
    }
    tool |= {"strict": True}
    choice = {"type": "function", "name": "f"}
    image = {"type": "input_image", "detail": "low", "image_url": f"data:image/png;base64,{PNG}"}
    said = {"type": "output_text", "text": "I look.", "annotations": [], "logprobs": []}
    items: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "input_text", "text": "Look."}, image]},
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Hm."}],
            "encrypted_content": "c2ln",
        },
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "phase": "commentary",
            "content": [said],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "c1",
            "name": "f",
            "arguments": '{"city":"x"}',
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": "c1", "output": '{"t":1}'},
    ]
    usage = {
        "input_tokens": 12,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 19,
    }
    return {
        "request": {
            "model": "m",
            "instructions": "Be kind.",
            "input": items,
            "tools": [tool],
            "tool_choice": choice,
            "parallel_tool_calls": False,
            "max_output_tokens": 100,
            "temperature": 0.5,
            "top_p": 0.9,
            "reasoning": {"effort": "low", "summary": "auto"},
            "text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}},
            "store": False,
            "stream": False,
        },
        "response": {
            "id": "r1",
            "object": "response",
            "created_at": 1771550000,
            "status": "completed",
            "model": "m",
            "output": items[2:5],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": usage,
        },
        "messages": items,
        "message": items[1],
        "tools": [tool],
        "tool": tool,
        "tool_choice": choice,
        "tool_call": items[4],
        "tool_result": items[5],
        "usage": usage,
        "error": {"error": {"message": "No.", "type": "server_error", "param": None, "code": None}},
    }


BODIES: dict[str, dict[str, Any]] = {
    "openai-chat": openai_chat(),
    "openai-responses": openai_responses(),
    "anthropic": anthropic(),
    "gemini": gemini(),
    "ollama": ollama(),
}
UNITS = tuple(BODIES["openai-chat"])
LISTS = ("messages", "tools")
# The bodies of two units are not objects, or not always.
OBJECT_UNITS = tuple(unit for unit in UNITS if unit not in (*LISTS, "tool_choice"))


# --- Wrong values ---------------------------------------------------------------------------------


def nested_list(depth: int = DEEP) -> Any:
    value: Any = "bottom"
    for _ in range(depth):
        value = [value]
    return value


def nested_object(depth: int = DEEP) -> Any:
    value: Any = "bottom"
    for _ in range(depth):
        value = {"k": value}
    return value


class Odd:
    """A value that no JSON has."""

    def __repr__(self) -> str:
        return "Odd()"


ODD = Odd()
WRONG: dict[str, Callable[[], Any]] = {
    "null": lambda: None,
    "true": lambda: True,
    "zero": lambda: 0,
    "negative": lambda: -3,
    "float": lambda: 1.5,
    "nan": lambda: math.nan,
    "infinity": lambda: -math.inf,
    "huge": lambda: 10**5000,
    "empty-text": lambda: "",
    "text": lambda: "zzz",
    "surrogate": lambda: "x\ud800",
    "empty-list": list,
    "list-of-null": lambda: [None],
    "list-of-lists": lambda: [[["zzz"]]],
    "empty-object": dict,
    "object": lambda: {"zzz": {"yyy": 1}},
    "surrogate-key": lambda: {"\udc00": 1},
    "number-key": lambda: {1: "zzz"},
    "bytes": lambda: b"zzz",
    "set": lambda: {"zzz"},
    "tuple": lambda: ("zzz", 1),
    "odd": lambda: ODD,
    "deep-list": nested_list,
    "deep-object": nested_object,
}
NO_JSON = frozenset(("nan", "infinity", "number-key", "bytes", "set", "tuple", "odd"))


def fingerprint(value: Any) -> tuple[object, ...]:
    """Return what tells two values apart, types included; made without recursion."""
    out: list[object] = []
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is dict:
            if {*map(type, item)} <= {str}:
                keys = sorted(item)
                out.append((dict, *keys))
            else:
                keys = sorted(item, key=lambda key: (type(key).__name__, repr(key)))
                out.append((dict, tuple((type(key).__name__, key) for key in keys)))
            stack.extend(map(item.__getitem__, keys))
        elif kind in (list, tuple):
            out.append((kind, len(item)))
            stack.extend(item)
        elif kind is str or kind is int:
            out.append((kind, item))
        elif kind in (set, frozenset):
            out.append((kind.__name__, tuple(sorted(map(repr, item)))))
        else:
            out.append((kind, repr(item)))
    return tuple(out)


def pointer_of(path: tuple[Any, ...]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the path of each node."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*path, index))


def found_at(value: Any, path: tuple[Any, ...]) -> Any:
    """Return the node at a path."""
    for step in path:
        value = value[step]
    return value


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return the value with another node at a path; what lies beside the path is shared."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def removed(value: Any, path: tuple[Any, ...]) -> Any:
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = removed(value[path[0]], path[1:])
    return copy


def reached(value: Any, pointer: str) -> bool:
    """Say whether a pointer leads to a node, or to where keys are missing from an object."""
    for step in [s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]:
        if isinstance(value, dict):
            if step not in value:
                return True
            value = value[step]
        elif isinstance(value, list | tuple) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return False
    return True


# --- One attempt ----------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What came of one attempt: a value and notes, or an error's path and text."""

    word: str
    value: Any
    notes: tuple[Any, ...]


def outcome_of(work: Callable[[], Any]) -> Outcome:
    """Return what came of an attempt; let every error but ConversionError through."""
    try:
        out = work()
    except wireglot.ConversionError as error:
        return Outcome("refused", error.path, (str(error),))
    return Outcome("done", (fingerprint(out.body), out.envelope), out.notes)


def convert(body: Any, source: str, target: str, unit: str) -> Any:
    # Gemini's model stands outside the body; its other requests bring their own.
    model = "m" if source == "gemini" != target and unit == "request" else None
    return rules().convert(body, source=source, target=target, unit=unit, model=model)


def named(notes: tuple[Any, ...], pointer: str) -> bool:
    """Say whether a note names a place: the place itself, or what it stands in."""
    paths = [note.source_path for note in notes if note.source_path]
    return any(pointer == path or pointer.startswith(f"{path}/") for path in paths)


def faults_of(
    body: Any,
    source: str,
    target: str,
    unit: str,
    *,
    wrong_at: str | None = None,
    json_value: bool = True,
    twice: bool = True,
) -> list[str]:
    """Convert and return what is wrong with how it went.

    `wrong_at` is the pointer of what must be heard: it is refused, or the outcome is not that of
    the valid body, or a note names it.
    """
    before = fingerprint(body)
    try:
        first = outcome_of(lambda: convert(body, source, target, unit))
        second = outcome_of(lambda: convert(body, source, target, unit)) if twice else first
    except Exception as error:
        text = str(error).encode("ascii", "replace").decode()[:120]
        return [f"{type(error).__name__} was raised: {text}"]
    faults = []
    if fingerprint(body) != before:
        faults.append("the input was changed")
    if first != second:
        faults.append("the second outcome differs from the first")
    if first.word == "refused":
        if not isinstance(first.value, str) or (first.value and not first.value.startswith("/")):
            faults.append(f"the path of the error is {first.value!r}, which is no pointer")
        elif not reached(body, first.value):
            faults.append(f"the path of the error is {first.value!r}, which is not in the input")
    elif source == target and json_value:
        if first.value[0] != before:
            faults.append("the same dialect gives another value")
    elif (
        wrong_at is not None
        and first == valid_outcome(source, target, unit)
        and not named(first.notes, wrong_at)
    ):
        faults.append("nothing was heard: output and notes are those of the valid body")
    return faults


def report(faults: dict[str, list[str]]) -> None:
    lines = [f"{where}: {fault}" for where, found in faults.items() for fault in found]
    if lines:
        more = f"\n... and {len(lines) - 12} more" if len(lines) > 12 else ""
        pytest.fail(f"{len(lines)} faults:\n" + "\n".join(lines[:12]) + more)


@functools.cache
def valid_outcome(source: str, target: str, unit: str) -> Outcome:
    return outcome_of(lambda: convert(BODIES[source][unit], source, target, unit))


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("source", DIALECTS)
def test_the_bodies_that_are_made_wrong_are_right_themselves(
    source: str, unit: str, target: str
) -> None:
    assert valid_outcome(source, target, unit).word == "done"
    assert not faults_of(BODIES[source][unit], source, target, unit)


# --- One wrong node -------------------------------------------------------------------------------


# Every place and value is tried in one of the dialects, in turn; with WIREGLOT_FULL set in each.
FULL = bool(os.environ.get("WIREGLOT_FULL"))


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("source", DIALECTS)
def test_a_wrong_value_at_any_place_is_refused_or_heard(source: str, unit: str, wrong: str) -> None:
    body = BODIES[source][unit]
    faults: dict[str, list[str]] = {}
    start = list(WRONG).index(wrong)
    for turn, path in enumerate(places(body), start):
        # What stands in several units is tried in the smallest, and here and there in the others.
        inside = unit in LISTS or (path and path[0] in ("messages", "contents", "tools"))
        if not path or (inside and turn % width.times(4, 12) and not FULL):
            continue
        mutant = replaced(body, path, WRONG[wrong]())
        # An empty text, or list of texts, where null stood says as little as null does.
        quiet = wrong == "null" or fingerprint(mutant) == fingerprint(body)
        empty = wrong in ("empty-text", "empty-list")
        quiet = quiet or (empty and found_at(body, path) is None)
        for target in DIALECTS if FULL else (DIALECTS[turn % 3],):
            found = faults_of(
                mutant,
                source,
                target,
                unit,
                wrong_at=None if quiet else pointer_of(path),
                json_value=wrong not in NO_JSON,
                twice=FULL or turn % 4 == 0,
            )
            if found:
                faults[f"{pointer_of(path)} to {target}"] = found
    report(faults)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("source", DIALECTS)
def test_a_missing_value_at_any_place_is_refused_or_does_no_harm(source: str, unit: str) -> None:
    body = BODIES[source][unit]
    faults: dict[str, list[str]] = {}
    for turn, path in enumerate(places(body)):
        if path:
            mutant = removed(body, path)
            for target in DIALECTS if FULL else (DIALECTS[turn % 3],):
                found = faults_of(mutant, source, target, unit, twice=FULL)
                if found:
                    faults[f"{pointer_of(path)} to {target}"] = found
    report(faults)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("source", DIALECTS)
def test_an_unknown_key_at_any_place_is_refused_or_heard(source: str, unit: str) -> None:
    body = BODIES[source][unit]
    faults: dict[str, list[str]] = {}
    for path in places(body):
        value = functools.reduce(lambda node, step: node[step], path, body)
        if not isinstance(value, dict):
            continue
        mutant = replaced(body, path, value | {"zz~z/": {"yyy": [1, None]}})
        at = pointer_of((*path, "zz~z/"))
        for target in DIALECTS:
            found = faults_of(mutant, source, target, unit, wrong_at=at, twice=FULL)
            if found:
                faults[f"{pointer_of(path)} to {target}"] = found
    report(faults)


# --- Bodies that are none -------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("source", DIALECTS)
def test_a_body_of_the_wrong_kind_is_refused_or_kept(source: str, wrong: str) -> None:
    faults = {}
    for unit in UNITS:
        for target in DIALECTS:
            found = faults_of(WRONG[wrong](), source, target, unit, json_value=wrong not in NO_JSON)
            if found:
                faults[f"{unit} to {target}"] = found
    report(faults)


@pytest.mark.parametrize("unit", OBJECT_UNITS)
@pytest.mark.parametrize("source", DIALECTS)
def test_a_body_that_is_no_object_is_refused_at_the_top(source: str, unit: str) -> None:
    for wrong in ("null", "true", "zero", "nan", "text", "empty-list", "bytes", "set", "odd"):
        if unit == "error" and wrong in ("text", "empty-list"):
            continue  # a gateway may have said it
        for target in DIALECTS:
            with pytest.raises(wireglot.ConversionError) as caught:
                convert(WRONG[wrong](), source, target, unit)
            assert caught.value.path == ""


@pytest.mark.parametrize("unit", LISTS)
@pytest.mark.parametrize("source", DIALECTS)
def test_a_body_that_is_no_list_is_refused_at_the_top(source: str, unit: str) -> None:
    for wrong in ("null", "true", "zero", "nan", "text", "empty-object", "bytes", "tuple", "odd"):
        for target in DIALECTS:
            with pytest.raises(wireglot.ConversionError) as caught:
                convert(WRONG[wrong](), source, target, unit)
            assert caught.value.path == ""


# --- Roles ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("role", ["narrator", "", "User", None, 1, ["user"]])
@pytest.mark.parametrize("source", DIALECTS)
def test_an_unknown_role_is_refused_or_named_by_a_note(source: str, role: Any, target: str) -> None:
    if source == "gemini" and role is None:
        pytest.skip("a null role is an absent one, which Gemini allows")
    body = BODIES[source]["messages"]
    mutant = replaced(body, (0, "role"), role)
    assert not faults_of(mutant, source, target, "messages")
    try:
        out = rules().convert(mutant, source=source, target=target, unit="messages")
    except wireglot.ConversionError as error:
        assert error.path in ("/0", "/0/role")
        return
    if source == target:
        assert fingerprint(out.body) == fingerprint(mutant)
    else:
        said = [n.source_path for n in out.notes if n.source_path is not None]
        assert any(path == "/0" or path.startswith("/0/role") for path in said)


# --- Depth ----------------------------------------------------------------------------------------

DEEP_PLACES: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "openai-chat schema": (
        "openai-chat",
        "tools",
        lambda deep: [{"type": "function", "function": {"name": "f", "parameters": {"k": deep}}}],
    ),
    "anthropic schema": (
        "anthropic",
        "tools",
        lambda deep: [{"name": "f", "input_schema": {"type": "object", "k": deep}}],
    ),
    "gemini schema": (
        "gemini",
        "tools",
        lambda deep: [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": deep}]}],
    ),
    "gemini restricted schema": (
        "gemini",
        "tools",
        lambda deep: [{"functionDeclarations": [{"name": "f", "parameters": {"items": deep}}]}],
    ),
    "anthropic arguments": (
        "anthropic",
        "tool_call",
        lambda deep: {"type": "tool_use", "id": "c", "name": "f", "input": {"k": deep}},
    ),
    "gemini arguments": (
        "gemini",
        "tool_call",
        lambda deep: {"functionCall": {"id": "c", "name": "f", "args": {"k": deep}}},
    ),
    "gemini result": (
        "gemini",
        "tool_result",
        lambda deep: {"functionResponse": {"id": "c", "name": "f", "response": {"k": deep}}},
    ),
    "openai-chat content": (
        "openai-chat",
        "messages",
        lambda deep: [{"role": "user", "content": deep}],
    ),
    "anthropic content": (
        "anthropic",
        "messages",
        lambda deep: [{"role": "user", "content": deep}],
    ),
    "gemini parts": ("gemini", "messages", lambda deep: [{"role": "user", "parts": deep}]),
    "openai-chat unknown part": (
        "openai-chat",
        "messages",
        lambda deep: [{"role": "user", "content": [{"type": "zzz", "zzz": deep}]}],
    ),
    "anthropic unknown part": (
        "anthropic",
        "messages",
        lambda deep: [{"role": "user", "content": [{"type": "zzz", "zzz": deep}]}],
    ),
    "gemini unknown part": (
        "gemini",
        "messages",
        lambda deep: [{"role": "user", "parts": [{"zzz": deep}]}],
    ),
    "openai-chat unknown key": (
        "openai-chat",
        "messages",
        lambda deep: [{"role": "user", "content": "x", "zzz": deep}],
    ),
    "openai-chat metadata": (
        "openai-chat",
        "request",
        lambda deep: BODIES["openai-chat"]["request"] | {"metadata": {"k": deep}},
    ),
}


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("nested", [nested_list, nested_object])
@pytest.mark.parametrize("place", DEEP_PLACES)
def test_six_hundred_levels_do_no_harm(place: str, nested: Callable[[], Any], target: str) -> None:
    source, unit, build = DEEP_PLACES[place]
    assert not faults_of(build(nested()), source, target, unit)


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("key", ["content", "source", "input"])
def test_results_within_results_do_no_harm(key: str, target: str) -> None:
    value: Any = "bottom"
    for _ in range(DEEP):
        value = [{"type": "tool_result", "tool_use_id": "c", key: value}]
    assert not faults_of([{"role": "user", "content": value}], "anthropic", target, "messages")


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("depth", [DEEP, width.times(100_000, 20_000)])
@pytest.mark.parametrize("shape", ["[{}]", "[]", '{"k":}'])
def test_deep_json_text_does_no_harm(shape: str, depth: int, target: str) -> None:
    opening, closing = {"[{}]": ('{"k":[', "]}"), "[]": ("[", "]"), '{"k":}': ('{"k":', "}")}[shape]
    text = opening * depth + "1" + closing * depth
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": text}}
    assert not faults_of(call, "openai-chat", target, "tool_call")
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": text},
    ]
    assert not faults_of(messages, "openai-chat", target, "messages")
    block = {"type": "tool_result", "tool_use_id": "c", "content": text}
    assert not faults_of(block, "anthropic", target, "tool_result")


# --- Numbers and texts that JSON does not have ----------------------------------------------------


def refuse_constant(word: str) -> None:
    raise AssertionError(f"{word} is not JSON")


def strict_json(text: str) -> Any:
    return json.loads(text, parse_constant=refuse_constant)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("source", ("anthropic", "gemini"))
def test_json_text_never_holds_a_number_that_json_does_not_have(source: str, value: float) -> None:
    call = {
        "anthropic": {"type": "tool_use", "id": "c", "name": "f", "input": {"k": [value]}},
        "gemini": {"functionCall": {"id": "c", "name": "f", "args": {"k": [value]}}},
    }[source]
    try:
        out = rules().convert(call, source=source, target="openai-chat", unit="tool_call")
    except wireglot.ConversionError as error:
        assert error.path
        return
    strict_json(out.body["function"]["arguments"])
    assert out.notes, "a number was changed and nothing was said"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_json_text_written_from_an_ir_is_json(value: float) -> None:
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {"k": [value]}}
    result = {"type": "tool_result", "tool_call_id": "c", "name": "f", "kind": "data"}
    for unit, ir in (("tool_call", call), ("tool_result", result | {"value": {"k": value}})):
        try:
            out = rules()["openai-chat"].write(ir, unit=unit)
        except wireglot.ConversionError:
            continue
        strict_json(
            out.body["content"] if unit == "tool_result" else out.body["function"]["arguments"]
        )
        assert out.notes, "a number was changed and nothing was said"


@pytest.mark.parametrize("text", ['{"k":NaN}', '{"k":[-Infinity]}', '{"k":1e400}', "{'k':1}"])
@pytest.mark.parametrize("target", ("anthropic", "gemini"))
def test_text_that_no_json_value_stands_for_is_carried_as_text(target: str, text: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": text}}
    out = rules().convert(call, source="openai-chat", target=target, unit="tool_call")
    arguments = out.body["input"] if target == "anthropic" else out.body["functionCall"]["args"]
    assert arguments == {"_unparsed": text}
    assert [note.effect for note in out.notes] == ["changed"]
    back = rules().convert(out.body, source=target, target="openai-chat", unit="tool_call")
    assert back.body == call


@pytest.mark.parametrize("text", ['{"k":NaN}', '{"k":1e400}', '["\\ud800"'])
def test_result_text_that_no_json_value_stands_for_stays_text(text: str) -> None:
    result = {"role": "tool", "tool_call_id": "c", "content": text}
    ir = rules()["openai-chat"].read(result, unit="tool_result").ir
    assert (ir["kind"], ir["value"]) == ("text", text)


@pytest.mark.parametrize("value", ["\ud800", "a\udfffb", "\udc00\ud800"])
@pytest.mark.parametrize("place", ["key", "value"])
def test_a_lone_surrogate_is_refused_or_escaped_in_json_text(place: str, value: str) -> None:
    given = {value: 1} if place == "key" else {"k": [value]}
    call = {"type": "tool_use", "id": "c", "name": "f", "input": given}
    try:
        out = rules().convert(call, source="anthropic", target="openai-chat", unit="tool_call")
    except wireglot.ConversionError as error:
        assert error.path.startswith("/input")
        return
    text = out.body["function"]["arguments"]
    text.encode()
    assert json.loads(text) == given
    back = rules().convert(out.body, source="openai-chat", target="anthropic", unit="tool_call")
    assert back.body == call


def test_an_escaped_lone_surrogate_in_json_text_does_no_harm() -> None:
    for target in DIALECTS:
        call = {
            "id": "c",
            "type": "function",
            "function": {"name": "f", "arguments": '{"k":"\\ud800"}'},
        }
        assert not faults_of(call, "openai-chat", target, "tool_call")


def test_a_lone_surrogate_of_an_ir_is_refused_or_escaped_in_json_text() -> None:
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {"k\udc00": "\ud800"}}
    try:
        text = rules()["openai-chat"].write(call, unit="tool_call").body["function"]["arguments"]
    except wireglot.ConversionError:
        return
    text.encode()
    assert json.loads(text) == call["arguments"]


@pytest.mark.parametrize("digits", [30, 400, 4000])
def test_large_whole_numbers_stay_exact(digits: int) -> None:
    number = 10**digits + 7
    call = {"functionCall": {"id": "c", "name": "f", "args": {"k": number}}}
    out = rules().convert(call, source="gemini", target="openai-chat", unit="tool_call")
    assert out.body["function"]["arguments"] == f'{{"k":{number}}}'
    back = rules().convert(out.body, source="openai-chat", target="gemini", unit="tool_call")
    assert back.body == call


@pytest.mark.parametrize("target", DIALECTS)
def test_numbers_beyond_what_python_prints_do_no_harm(target: str) -> None:
    text = '{"k":' + "9" * 5000 + "}"
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": text}}
    assert not faults_of(call, "openai-chat", target, "tool_call")
    result = {"role": "tool", "tool_call_id": "c", "content": text}
    assert not faults_of(result, "openai-chat", "openai-chat", "tool_result")


# --- Ids and order --------------------------------------------------------------------------------


def chat_call(id_: Any, name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def chat_result(id_: Any, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": text}


def chat_turn(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


ASK = {"role": "user", "content": "?"}
HISTORIES: dict[str, list[dict[str, Any]]] = {
    "one id twice in a turn": [
        ASK,
        chat_turn(chat_call("c", "one"), chat_call("c", "two")),
        chat_result("c", "first"),
        chat_result("c", "second"),
    ],
    "one id in two turns": [
        ASK,
        chat_turn(chat_call("c", "one")),
        chat_result("c", "first"),
        chat_turn(chat_call("c", "two")),
        chat_result("c", "second"),
    ],
    "two results for one call": [
        ASK,
        chat_turn(chat_call("c", "one")),
        chat_result("c", "first"),
        chat_result("c", "second"),
    ],
    "empty ids": [
        ASK,
        chat_turn(chat_call("", "one"), chat_call("", "two")),
        chat_result("", "first"),
        chat_result("", "second"),
    ],
    "a result before its call": [
        ASK,
        chat_result("c", "first"),
        chat_turn(chat_call("c", "one")),
    ],
    "a result without a call": [ASK, chat_result("c", "first")],
    "a call without a result": [ASK, chat_turn(chat_call("c", "one")), ASK],
    "a result for another id": [ASK, chat_turn(chat_call("c", "one")), chat_result("d", "first")],
    "a result after other text": [
        ASK,
        chat_turn(chat_call("c", "one")),
        {"role": "user", "content": "and?"},
        chat_result("c", "first"),
    ],
    "a long id": [ASK, chat_turn(chat_call("c" * 500, "one")), chat_result("c" * 500, "first")],
    "an id of odd characters": [
        ASK,
        chat_turn(chat_call("c d/~é\ud800", "one")),
        chat_result("c d/~é\ud800", "first"),
    ],
    "an empty name": [ASK, chat_turn(chat_call("c", "")), chat_result("c", "first")],
}


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("history", HISTORIES)
def test_broken_pairing_does_no_harm(history: str, target: str) -> None:
    assert not faults_of(HISTORIES[history], "openai-chat", target, "messages")


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("target", ("anthropic", "gemini"))
@pytest.mark.parametrize("history", HISTORIES)
def test_broken_pairing_keeps_each_result_or_says_what_became_of_it(
    history: str, target: str, repair: bool
) -> None:
    messages = HISTORIES[history]
    try:
        out = rules().convert(
            messages,
            source="openai-chat",
            target=target,
            unit="messages",
            options={"repair": repair},
        )
    except wireglot.ConversionError as error:
        assert error.path.startswith("/")
        return
    text = json.dumps(out.body)
    said = [note.source_path for note in out.notes if note.source_path is not None]
    for index, message in enumerate(messages):
        if message["role"] == "tool" and f'"{message["content"]}"' not in text:
            assert any(path.startswith(f"/{index}") for path in said), "a result went unheard"


@pytest.mark.parametrize("target", ("anthropic", "gemini"))
@pytest.mark.parametrize("history", ["one id twice in a turn", "one id in two turns"])
def test_results_of_one_id_pair_by_occurrence(history: str, target: str) -> None:
    out = rules().convert(HISTORIES[history], source="openai-chat", target=target, unit="messages")
    if target == "gemini":
        found = [
            (part["functionResponse"]["name"], part["functionResponse"]["response"]["output"])
            for content in out.body
            for part in content["parts"]
            if "functionResponse" in part
        ]
        assert found == [("one", "first"), ("two", "second")]
        return
    blocks = [b for m in out.body if isinstance(m["content"], list) for b in m["content"]]
    results = [b["content"] for b in blocks if b["type"] == "tool_result"]
    assert results == ["first", "second"]


@pytest.mark.parametrize("target", ("anthropic", "gemini"))
@pytest.mark.parametrize(
    "history",
    [
        "one id twice in a turn",
        "two results for one call",
        "a result before its call",
        "a result without a call",
        "a result for another id",
    ],
)
def test_broken_pairing_is_refused_or_noted(history: str, target: str) -> None:
    messages = HISTORIES[history]
    try:
        out = rules().convert(messages, source="openai-chat", target=target, unit="messages")
    except wireglot.ConversionError as error:
        assert error.path.startswith("/")
        return
    assert out.notes


# --- The other half: writing an IR that is wrong --------------------------------------------------


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_writing_a_wrong_ir_raises_nothing_but_conversion_errors(dialect: str, wrong: str) -> None:
    faults: dict[str, list[str]] = {}
    start = list(WRONG).index(wrong)
    for unit in UNITS if FULL else [unit for unit in UNITS if unit not in LISTS]:
        ir = rules()[dialect].read(BODIES[dialect][unit], unit=unit, model="m").ir
        for turn, path in enumerate(places(ir), start):
            if turn % width.times(3, 9) and not FULL:
                continue
            mutant = replaced(ir, path, WRONG[wrong]())
            before = fingerprint(mutant)

            def work(mutant: Any = mutant, unit: str = unit) -> Any:
                return rules()[dialect].write(mutant, unit=unit)

            try:
                first = outcome_of(work)
                same = first == (outcome_of(work) if FULL or turn % 4 == 0 else first)
            except Exception as error:
                text = str(error).encode("ascii", "replace").decode()[:120]
                fault = f"{type(error).__name__} was raised: {text}"
                faults[f"{unit} {pointer_of(path)}"] = [fault]
                continue
            if fingerprint(mutant) != before:
                faults[f"{unit} {pointer_of(path)}"] = ["the input was changed"]
            elif not same:
                faults[f"{unit} {pointer_of(path)}"] = ["the second outcome differs"]
    report(faults)


@pytest.mark.parametrize("unit", ["request", "session", "messages"])
def test_one_object_that_stands_twice_in_an_ir_is_written_as_two(unit: str) -> None:
    text = {"type": "text", "text": "a"}
    call = {"type": "tool_call", "id": "c1", "name": "f", "arguments": {}}
    result = {"type": "tool_result", "tool_call_id": "c1", "kind": "text", "value": "a"}
    said = {"role": "user", "parts": [text]}
    talk = [said, {"role": "assistant", "parts": [call]}]
    talk += [{"role": "tool", "parts": [result]}, {"role": "tool", "parts": [result]}, said]
    ir: Any = talk if unit == "messages" else {"messages": talk}
    for name in rules().dialects:
        if unit == "messages" or unit in rules()[name].model.units:
            talks = rules()[name].model.conversation
            roles = (
                {talks.role(one) for group in talks.groups for one in group.cases} if talks else ()
            )
            if unit == "messages" and "user" not in roles:
                continue  # `mcp` has calls and results alone
            one, two = (
                rules()[name].write(value, unit=unit) for value in (ir, json.loads(json.dumps(ir)))
            )
            assert (one.body, one.notes) == (two.body, two.notes), name


# --- Anything at all ------------------------------------------------------------------------------

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=5)
    | st.sampled_from(("user", "assistant", "tool", "model", "text", "function", "tool_use", "c1"))
    | st.binary(max_size=3)
)
WORDS = st.sampled_from(
    (
        "role content parts text type id name input args function functionCall functionResponse "
        "tool_calls tool_call_id tool_use_id response arguments messages contents model tools "
        "usage choices message candidates source image_url url data finish_reason zzz"
    ).split()
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


def is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


@pytest.mark.parametrize("source", DIALECTS)
@settings(max_examples=width.times(150, 75), deadline=None)
@given(data=st.data())
def test_anything_at_any_place_does_no_harm(source: str, data: st.DataObject) -> None:
    unit = data.draw(st.sampled_from(UNITS))
    target = data.draw(st.sampled_from(DIALECTS))
    body = BODIES[source][unit]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(places(body))))
        body = replaced(body, path, data.draw(ANYTHING))
    faults = faults_of(body, source, target, unit, json_value=is_json(body))
    assert not faults, faults


def test_blocks_stay_where_they_are_at_home_beside_a_field_that_does_not_fit() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    block = {
        "type": "tool_result",
        "tool_use_id": "c",
        "content": [{"type": "text", "text": "No."}, image],
        "is_error": True,
        "cache_control": 5,
    }
    out = rules().convert(block, source="anthropic", target="anthropic", unit="tool_result")
    assert out.body == block
    assert [note.code for note in out.notes] == ["unfit"]


def test_a_count_that_is_a_text_is_told_to_be_one() -> None:
    body = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]}}],
        "usageMetadata": {"promptTokenCount": "12", "candidatesTokenCount": 3},
    }
    assert rules().convert(body, "gemini", "gemini", unit="response").body == body
    out = rules().convert(body, "gemini", "openai-chat", unit="response")
    assert [(note.code, note.source_path, note.message) for note in out.notes[:1]] == [
        ("unfit", "/usageMetadata/promptTokenCount", "expected a whole number, got the text `12`")
    ]
