"""A model without a key or a network: scripted, and played through the wire of a provider.

It reasons, calls a tool of the client (one that runs a command, or the first), and says what came
of it. It stands where the network would: what it is asked and what it answers are bodies of that
wire, so all is converted as ever.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import time
from collections.abc import AsyncIterator
from typing import Any

from ..jsontext import utf8
from ..rulesets import RuleSet
from ..streaming import framing
from ..trail import everywhere, value_at
from . import wires
from .relay import JSON, STREAMS, TYPE
from .sending import ProviderAnswer

PAUSE = 0.02  # seconds between the pieces of a stream
SHOWN = 300  # characters of a result
HELLO = "Hello! I am the demo of wireglot: a script and no model. Give me a tool, and I call it."
AGAIN = "I have called a tool before. A script has no more to say."
THOUGHT = "There is a tool. I call it before I answer."
ABOUT = {"integer": 1, "number": 1.5, "boolean": True, "null": None}
HARMLESS = {"command": "ls", "input": '"demo"'}  # texts for arguments that are run
DEPTH = 20  # of a schema, which may hold itself
Part = dict[str, Any]


class Demo:
    """Answers requests of one wire, where a client would ask a network."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._dialect, self._model = wires.packaged().demo

    def answer(self, body: bytes, blocks: bool = False) -> ProviderAnswer:
        """Answer a request as a provider does; `blocks` where nothing else runs meanwhile."""
        dialect = self._rules[self._dialect]
        request = dialect.read(json.loads(body)).ir
        mark = hashlib.sha256(body).hexdigest()[:12]
        parts = next_parts(request, self._dialect, mark)
        calls = any(part["type"] == "tool_call" for part in parts)
        stop = "tool_use" if calls else "end_turn"
        answer = {
            "id": f"demo_{mark}",
            "model": request.get("model") or self._model,
            "candidates": [{"parts": parts, "stop_reason": stop}],
            "usage": {"input": max(1, len(body) // 4), "output": len(json.dumps(parts)) // 4},
        }
        whole = dialect.write(answer, unit="response").body
        stream = dialect.model.stream
        if not request.get("stream") or stream is None:
            return ProviderAnswer(200, {TYPE: JSON}, _paced([utf8(whole)], blocks), _close_nothing)
        texts = {part["text"] for part in parts if len(part.get("text", "")) > 1}
        frames = self._rules.frames(whole, self._dialect)
        made = [framing.written([piece], stream) for one in frames for piece in split(one, texts)]
        kind = STREAMS[stream.framing]
        return ProviderAnswer(200, {TYPE: kind}, _paced(made, blocks), _close_nothing)


async def _paced(pieces: list[bytes], blocks: bool) -> AsyncIterator[bytes]:
    """Yield pieces one after another, as a model would."""
    for piece in pieces:
        if blocks:
            time.sleep(PAUSE)
        else:
            await asyncio.sleep(PAUSE)
        yield piece


async def _close_nothing() -> None:
    """Close what holds nothing."""


def next_parts(request: dict[str, Any], dialect: str, mark: str) -> list[Part]:
    """Return the parts of the next turn; `mark` is new with each request."""
    results: list[Part] = []  # of the last turn of the model
    called = False
    for message in request.get("messages", ()):
        if message.get("role") == "assistant":
            results = []
            called |= any(part.get("type") == "tool_call" for part in message["parts"])
        results += [part for part in message["parts"] if part.get("type") == "tool_result"]
    if results:
        return [{"type": "text", "text": f"The tool said: {_result_text(results[-1])[:SHOWN]}"}]
    if called:  # or an agent whose tools are agents would never come to an end
        return [{"type": "text", "text": AGAIN}]
    tools = [one for one in request.get("tools", ()) if one.get("type") is None]
    if not tools:
        return [{"type": "text", "text": HELLO}]
    # The first tool of an agent may start more agents; a command shows a result at once.
    tool = next((one for one in tools if "command" in _required(one)), tools[0])
    name, schema = tool["name"], tool.get("parameters") or {}
    arguments = example(schema, schema, 0)
    signature = {"value": base64.b64encode(mark.encode()).decode(), "origin": dialect}
    return [
        {"type": "reasoning", "text": THOUGHT, "signature": signature},
        {"type": "text", "text": f"I call {name}."},
        {"type": "tool_call", "id": f"demo_{mark}", "name": name, "arguments": arguments},
    ]


def _required(tool: Part) -> list[str]:
    """Return the names of the arguments that a tool must have."""
    schema = tool.get("parameters")
    return schema.get("required") or [] if isinstance(schema, dict) else []


def _result_text(result: Part) -> str:
    value = result["value"]
    if result["kind"] == "multimodal":
        value = " ".join(part["text"] for part in value if part.get("type") == "text")
    return value if isinstance(value, str) else json.dumps(value)


def example(schema: Any, root: Any, depth: int) -> Any:
    """Return a value that a JSON Schema takes: of an object what it requires."""
    if not isinstance(schema, dict) or depth > DEPTH:
        return {}
    at = schema.get("$ref")
    if isinstance(at, str) and at.startswith("#/"):
        return example(value_at(root, tuple(at.split("/")[1:])), root, depth + 1)
    for word in ("const", "default"):
        if word in schema:
            return schema[word]
    for word in ("anyOf", "oneOf", "allOf"):
        if schema.get(word):
            return example(schema[word][0], root, depth + 1)
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type") or ("object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        known = schema.get("properties") or {}
        made = {key: example(known.get(key), root, depth + 1) for key in schema.get("required", ())}
        return {k: HARMLESS.get(k, "demo") if v == "demo" else v for k, v in made.items()}
    if kind == "array":
        return [example(schema.get("items"), root, depth + 1)] * schema.get("minItems", 0)
    return schema.get("minimum", ABOUT[kind]) if kind in ABOUT else "demo"


def split(frame: Any, texts: set[str]) -> list[Any]:
    """Return a frame that says a whole text as several that say it word by word."""
    held = (at for at, one in everywhere(frame) if isinstance(one, str) and one in texts)
    if not (at := next(held, ())):
        return [frame]
    owner, key = value_at(frame, at[:-1]), at[-1]
    whole: str = owner[key]
    made: list[Any] = []
    for word in whole.split(" "):
        owner[key] = word if not made else f" {word}"
        made.append(json.loads(json.dumps(frame)))
    return made
