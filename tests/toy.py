"""Convert a few requests by hand: a stand-in for the engine on which the oracles are tested.

It does what the oracles want, notes included, unless it is told to have a defect.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

Json = Any

REQUEST: Json = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is the weather in Oslo and Bergen?", "x_mood": "calm"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
                },
                {
                    "id": "call_2",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city":"Bergen"}'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "cold"},
        {"role": "tool", "tool_call_id": "call_2", "content": "wet"},
        {"role": "user", "content": "And tomorrow?"},
    ],
    "temperature": 0.5,
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "Tell the weather.",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        }
    ],
}


class ToyError(Exception):
    """Stand for `ConversionError`."""


class Note(NamedTuple):
    """Stand for the engine's note."""

    code: str
    effect: str
    source_path: str | None
    target_path: str | None


@dataclass(slots=True)
class Conversion:
    """Stand for the engine's conversion."""

    body: Json
    notes: tuple[Note, ...] = ()
    envelope: object = None


def converter(defect: str = "") -> Callable[[Json], Conversion]:
    """Give a converter from OpenAI Chat to Anthropic with one defect, or none."""
    if defect == "understands nothing":
        return _carry
    return lambda body: _Forth(defect).convert(body)


def _carry(body: Json) -> Conversion:
    """Put the whole input into one text: every change is heard, and nothing is understood."""
    text = json.dumps(body)
    return Conversion(
        {
            "model": body.get("model", ""),
            "max_tokens": 4096,
            "messages": [{"role": "user", "content": text}],
        },
        (Note("filled-in", "added", None, "/max_tokens"),),
    )


class _Forth:
    def __init__(self, defect: str) -> None:
        self.defect = defect
        self.notes: list[Note] = []

    def lost(self, pointer: str) -> None:
        if self.defect != "says nothing":
            self.notes.append(Note("no-place", "lost", pointer, None))

    def convert(self, body: Json) -> Conversion:
        out: Json = {"model": body["model"], "max_tokens": 4096, "messages": []}
        if self.defect != "invents silently":
            self.notes.append(Note("filled-in", "added", None, "/max_tokens"))
        for key in body:
            if key not in ("model", "messages", "tools"):
                self.lost(f"/{key}")
        system = [m for m in body["messages"] if m["role"] in ("system", "developer")]
        if system and self.defect != "drops the system text":
            out["system"] = "".join(m["content"] for m in system)
        for n, message in enumerate(body["messages"]):
            self.message(message, f"/messages/{n}", out["messages"])
        if "tools" in body:
            out["tools"] = [self.tool(tool["function"]) for tool in body["tools"]]
        if self.defect == "blames everything":
            self.notes = [Note("no-place", "lost", "", None), *self.notes[:1]]
        return Conversion(out, tuple(self.notes))

    def message(self, message: Json, at: str, out: list[Json]) -> None:
        role = message["role"]
        for key in message:
            if key not in ("role", "content", "tool_calls", "tool_call_id"):
                if self.defect != "ignores unknown keys":
                    self.lost(f"{at}/{key}")
        if role in ("system", "developer"):
            if role == "developer":
                self.notes.append(Note("developer-as-system", "changed", f"{at}/role", None))
            return
        blocks: list[Json] = []
        if role == "tool":
            blocks.append(
                {
                    "type": "tool_result",
                    "tool_use_id": message["tool_call_id"],
                    "content": message["content"],
                }
            )
        elif message.get("content"):
            blocks.append({"type": "text", "text": message["content"]})
        for call in message.get("tool_calls", ()):
            blocks.append(self.call(call))
        wire = "user" if role == "tool" else role
        if out and out[-1]["role"] == wire and role == "tool":
            if self.defect == "swaps results":
                out[-1]["content"] = blocks + out[-1]["content"]
            else:
                out[-1]["content"] += blocks
        else:
            out.append({"role": wire, "content": blocks})

    def call(self, call: Json) -> Json:
        name, text = call["function"]["name"], call["function"]["arguments"]
        try:
            arguments = json.loads(text)
        except ValueError as error:
            raise ToyError("the arguments are no JSON") from error
        block: Json = {"type": "tool_use", "id": call["id"], "name": name, "input": arguments}
        if self.defect == "writes text for an object":
            block["input"] = text
        if self.defect == "renames ids":
            block["id"] = f"tu_{call['id']}"
        if self.defect == "hashes ids":
            block["id"] = "tu_" + str(abs(hash(repr(call))))
        if self.defect == "writes an unknown key":
            block["index"] = 0
        if self.defect == "loses arguments":
            block["input"] = {}
        return block

    def tool(self, function: Json) -> Json:
        tool: Json = {"name": function["name"], "input_schema": function["parameters"]}
        if "description" in function:
            tool["description"] = function["description"]
        if self.defect == "drops a description":
            tool.pop("description", None)
        if self.defect == "writes a constant":
            tool["description"] = "A tool."
        if self.defect == "forgets a required key":
            del tool["input_schema"]
        return tool


def back(body: Json) -> Conversion:
    """Convert an Anthropic request to OpenAI Chat."""
    messages: list[Json] = []
    if "system" in body:
        messages.append({"role": "system", "content": body["system"]})
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        calls = [
            {
                "id": block["id"],
                "type": "function",
                "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
            }
            for block in blocks
            if block["type"] == "tool_use"
        ]
        messages.extend(
            {"role": "tool", "tool_call_id": b["tool_use_id"], "content": b["content"]}
            for b in blocks
            if b["type"] == "tool_result"
        )
        if text or calls:
            out: Json = {"role": message["role"], "content": text or None}
            messages.append(out | ({"tool_calls": calls} if calls else {}))
    return Conversion({"model": body["model"], "messages": messages})
