"""IR values that strain what dialects ask for: order, pairing, results, choices, counts.

Written at home, nothing of them is put in order, so they make payloads of any dialect that can say
them. A talk is a word here: each sign is a message.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

_IMAGE: dict[str, Any] = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "AA=="},
}
_SAFE = {**_IMAGE, "source": {**_IMAGE["source"], "data": "_w"}}  # in the alphabet of addresses
_FILE = {"type": "document", "source": {"type": "url", "url": "https://a.example/d.pdf"}}
_TEXT = {"type": "text", "text": "a"}
_THOUGHT = {"type": "reasoning", "text": "a"}
_SEARCH = {"type": "search", "id": "search_1", "arguments": {"query": "a"}}


def _call(number: int, **more: Any) -> dict[str, Any]:
    made = {"type": "tool_call", "id": f"call_{number}", "name": "f", "arguments": {"a": number}}
    return {**made, **more}


def _result(number: int, **more: Any) -> dict[str, Any]:
    made = {"type": "tool_result", "tool_call_id": f"call_{number}", "name": "f"}
    return {**made, "kind": "text", "value": "a", **more}


MESSAGES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "s": ("system", [_TEXT]),
    "u": ("user", [_TEXT]),
    "a": ("assistant", [_TEXT]),
    "c": ("assistant", [_call(1)]),
    "r": ("tool", [_result(1)]),
    "R": ("tool", [_result(2)]),
    "C": ("assistant", [_call(1), _call(2)]),
    "D": ("assistant", [_call(1), _call(1)]),
    "t": ("assistant", [_THOUGHT, _TEXT, _call(1), _TEXT]),
    "q": ("tool", [_result(2), _result(1)]),
    "b": ("user", [{"type": "text", "text": " "}]),
    "e": ("user", []),
    "E": ("assistant", []),
    "i": ("user", [_IMAGE]),
    "j": ("user", [_SAFE]),
    "I": ("assistant", [_TEXT, _IMAGE]),
    "x": ("user", [_TEXT, _IMAGE, _TEXT]),
    "O": ("assistant", [_call(1, name="g"), _call(2)]),
    "o": ("tool", [_result(2), _result(1, name="g")]),
}
_FREE = ("s", "u", "a", "c", "r", "i", "b", "e", "E")
_BEHIND = ("r", "R", "q", "u", "a", "s", "D")
WORDS: tuple[str, ...] = (
    *map("".join, product(_FREE, repeat=2)),
    *("u" + a + b for a, b in product(("c", "C", "D", "t", "I"), _BEHIND)),
    *("uC" + a + b for a, b in product(_BEHIND, repeat=2)),
    *("sus", "suas", "usa", "uaus", "ucrucr", "ucrcr", "ucrauc", "cr", "Cq", "uarR", "scr"),
    *("x", "uOo", "j"),
)
_VALUES: dict[str, tuple[Any, ...]] = {
    "text": ("a", "", "{}"),
    "data": ({"a": 1}, [1], "a", 1, None, {"error": "a"}, {"output": "a"}, {"$ref": "a"}),
    "error": ("a", ""),
    "multimodal": (
        [_TEXT],
        [_TEXT, _TEXT],
        [_TEXT, _IMAGE],
        [_IMAGE],
        [_SAFE],
        [_FILE],
        [_IMAGE, _TEXT, _FILE],
        [_TEXT, _IMAGE, _TEXT],
        [],
    ),
}


def values(unit: str) -> Iterator[dict[str, Any]]:
    """Yield values of a unit; a field that is None is not there."""
    if unit in ("request", "session"):
        yield from ({"messages": talk} for talk in _talks())
    if unit == "request":
        yield from _choices()
    if unit == "response":
        yield from _answers()
        yield from _counts()


def _talks() -> Iterator[list[dict[str, Any]]]:
    for word in WORDS:
        yield [{"role": role, "parts": parts} for role, parts in (MESSAGES[sign] for sign in word)]
    for result in _results():
        call = {"role": "assistant", "parts": [_call(1)]}
        yield [{"role": "user", "parts": [_TEXT]}, call, {"role": "tool", "parts": [result]}]


def _results() -> Iterator[dict[str, Any]]:
    for kind, values in _VALUES.items():
        for value in values:
            for said in ({}, {"failed": True}, {"failed": False}) if kind != "error" else ({},):
                yield _result(1, kind=kind, value=value, **said)
                if kind == "data":
                    yield _result(1, kind=kind, value=value, media=[_IMAGE], **said)


def calls_of(wanted: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the messages of calls that results ask for."""
    parts = [_call(1, id=id, name=name) for id, name in wanted]
    return [{"role": "assistant", "parts": parts}]


# -- what holds between the fields of a request or of a response ----------------------------------

_TOOLS: tuple[list[dict[str, Any]], ...] = (
    [{"name": "f", "parameters": {"type": "object"}}],
    [{"name": "f", "parameters": {"type": "object"}}, {"name": "g"}],
    [{"type": "custom", "name": "f"}],
)
_CHOSEN: tuple[Any, ...] = (
    None,
    "auto",
    "none",
    "required",
    {"name": "f"},
    {"name": "none"},
    {"allowed": ["f"], "mode": "auto"},
    {"allowed": ["f"], "mode": "required"},
    {"allowed": [], "mode": "auto"},
    {"allowed": [{"name": "f", "freeform": True}], "mode": "auto"},
)
STOPS = (
    "end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "content_filter", "pause",
    "context_full", "malformed_call", "error",
)  # fmt: skip
_PARTS: tuple[list[dict[str, Any]], ...] = (
    [_TEXT],
    [_call(1)],
    [_THOUGHT, _TEXT, _call(1), _call(2)],
    [{"type": "refusal", "text": "a"}],
    [_SEARCH, _TEXT],
    [],
)
_BUCKETS = ("input", "cache_read", "cache_write", "output", "reasoning", "tool_input")


def _choices() -> Iterator[dict[str, Any]]:
    talk = [{"role": "user", "parts": [_TEXT]}]
    for tools, choice, parallel in product(_TOOLS, _CHOSEN, (None, True, False)):
        made = {"messages": talk, "tools": tools, "tool_choice": choice}
        yield {**made, "parallel_tool_calls": parallel}
    ends = [{"role": "assistant", "parts": [_call(1)]}, {"role": "tool", "parts": [_result(1)]}]
    for budget, most in product((1, 2048, 1_000_000), (None, 100, 4096)):
        said = {"max_tokens": most, "reasoning": {"budget": budget}}
        yield {"messages": talk, **said}
        if budget == 2048:
            yield {"messages": [*talk, *ends], **said}
            yield {"messages": talk, **said, "tools": _TOOLS[0], "tool_choice": {"name": "f"}}
            yield {"messages": talk, **said, "reasoning": {"budget": budget, "effort": "high"}}


def _answers() -> Iterator[dict[str, Any]]:
    for stop, parts in product((*STOPS, "other:odd", None), _PARTS):
        said = {} if stop is None else {"stop_reason": stop}
        yield {"candidates": [{"parts": parts, **said}], "usage": {"input": 1, "output": 1}}
    for parts in _PARTS:  # with as little beside it as can be
        said = {"candidates": [{"parts": parts, "stop_reason": "end_turn"}], "model": None}
        yield {**said, "id": None, "created": None}
        yield {**said, "id": None, "created": None, "usage": {"input": 1, "output": 1}}
    yield {"candidates": []}
    yield {"candidates": [{"parts": [_TEXT], "stop_reason": "end_turn"}] * 2}


def _counts() -> Iterator[dict[str, Any]]:
    for numbers in product((7, None, 0), repeat=len(_BUCKETS)):
        if numbers.count(0) > 1:
            continue
        usage = {k: n for k, n in zip(_BUCKETS, numbers, strict=True) if n is not None}
        yield {"candidates": [{"parts": [_TEXT], "stop_reason": "end_turn"}], "usage": usage}
