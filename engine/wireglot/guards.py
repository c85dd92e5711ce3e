"""Telling messages apart: which one calls tools, and which one answers calls.

Both take a message of the IR, or one on the wire that has calls in a list beside its content and
results under the role `tool`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict, TypeGuard, overload

from .ir import Message

BESIDE = ("toolCalls", "tool_calls")  # where calls stand that are no parts


class CallMessage(TypedDict):
    """A message of the IR in which the model calls tools."""

    role: Literal["assistant"]
    parts: list[dict[str, Any]]


class ResultMessage(TypedDict):
    """A message of the IR that holds results of tools."""

    role: Literal["tool"]
    parts: list[dict[str, Any]]


@overload
def has_tool_calls(message: Message) -> TypeGuard[CallMessage]: ...
@overload
def has_tool_calls(message: Mapping[str, Any]) -> TypeGuard[dict[str, Any]]: ...
def has_tool_calls(message: Message | Mapping[str, Any]) -> bool:
    """Tell whether a message of the assistant calls at least one tool."""
    if message.get("role") != "assistant":
        return False
    parts = message.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and part.get("type") == "tool_call":
            return True
    beside = [message.get(key) for key in BESIDE]
    return any(isinstance(calls, list) and calls for calls in beside)


@overload
def is_tool_result(message: Message) -> TypeGuard[ResultMessage]: ...
@overload
def is_tool_result(message: Mapping[str, Any]) -> TypeGuard[dict[str, Any]]: ...
def is_tool_result(message: Message | Mapping[str, Any]) -> bool:
    """Tell whether a message holds the result of a tool, or several."""
    return message.get("role") == "tool"
