"""The way of one conversion: the modules that a call of `wireglot.convert` enters, in their order.

A stay is a run of calls within one module. A climb is a call back up: into a room of a higher
floor (`tests.house`), or into a module that imports the one that calls. The call is the second of
its kind, so nothing is imported or generated on the way. Generated code counts as one module of
the executor, unless it was shipped as modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import wireglot

BARS = (14, 5)  # modules, climbs
GENERATED, ROOM = "generated code", "executor"
LIBRARY = ("<string>", "<frozen", "<attrs")  # what named tuples and dataclasses generate
REQUEST: dict[str, Any] = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How is the weather in Lisbon?"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_1", "type": "function",
             "function": {"name": "get_weather", "arguments": '{"city":"Lisbon"}'}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": '{"sky":"clear"}'},
    ],
    "tools": [{"type": "function", "function": {
        "name": "get_weather", "parameters": {"type": "object", "properties": {}}}}],
    "max_tokens": 100,
}  # fmt: skip
RESPONSE: dict[str, Any] = {
    "id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-4o",
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "I look.", "tool_calls": [
            {"id": "call_1", "type": "function",
             "function": {"name": "get_weather", "arguments": '{"city":"Lisbon"}'}}]}}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11},
}  # fmt: skip
BODIES = {"request": REQUEST, "response": RESPONSE}


class Way(NamedTuple):
    """The stays, each in a module, and the climbs as pairs of modules."""

    stays: list[str]
    climbs: list[tuple[str, str]]

    @property
    def modules(self) -> list[str]:
        return list(dict.fromkeys(self.stays))


def of(unit: str, up: Callable[[str, str], bool], target: str = "anthropic") -> Way:
    """Return the way of a small Chat body; `up` tells whether a call leads up."""

    convert: Any = wireglot.convert
    call = partial(convert, BODIES[unit], source="openai-chat", target=target, unit=unit)
    call()
    return traced(call, up)


def traced(call: Callable[[], object], up: Callable[[str, str], bool]) -> Way:
    """Follow a call through the engine."""
    way = Way([], [])
    within: list[str] = []  # the modules of the frames that run

    def follow(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            before = next((name for name in reversed(within) if name), "")
            within.append(name := _module(frame, bool(before)))
            if name and name != before:
                way.stays.append(name)
                if before and up(before, name):
                    way.climbs.append((before, name))
        elif event == "return" and within:
            left = within.pop()
            back = next((name for name in reversed(within) if name), "")
            if left and back and left != back:
                way.stays.append(back)

    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
    return way


def _module(frame: FrameType, inside: bool) -> str:
    """Return the engine's module of a frame, or an empty text."""
    name = frame.f_globals.get("__name__", "")
    file = frame.f_code.co_filename
    if file.startswith("<") and not file.startswith(LIBRARY):
        return GENERATED if inside else ""
    return name if name.partition(".")[0] == "wireglot" else ""
