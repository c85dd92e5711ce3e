"""Count the leaves of a wire body, and those of them that a reading has understood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

Json = Any
Steps = tuple[str | int, ...]

# What stands at these paths is the user's own data: its inside counts in neither number.  The
# inside of arguments that are JSON text is one string anyway.
_GEMINI_TOOL = frozenset(
    f"tools[].{functions}[].{name}"
    for functions in ("functionDeclarations", "function_declarations")
    for name in (
        "parameters", "parametersJsonSchema", "parameters_json_schema",
        "response", "responseJsonSchema", "response_json_schema",
    )
)  # fmt: skip
_GEMINI_CONFIG = frozenset(
    f"{config}.{name}"
    for config in ("generationConfig", "generation_config")
    for name in (
        "responseSchema", "response_schema", "responseJsonSchema", "response_json_schema",
        "_responseJsonSchema",
    )
)  # fmt: skip
_GEMINI_PART = (
    "functionCall.args", "functionResponse.response", "toolCall.args", "toolResponse.response",
    "function_call.args", "function_response.response",
)  # fmt: skip


def _below(prefix: str, names: Sequence[str]) -> frozenset[str]:
    return frozenset(f"{prefix}.{name}" for name in names)


_GEMINI: Mapping[str, frozenset[str]] = {
    "request": _GEMINI_TOOL | _GEMINI_CONFIG | _below("contents[].parts[]", _GEMINI_PART),
    "response": _below("candidates[].content.parts[]", _GEMINI_PART),
    "error": frozenset(),
    "frame": _below("candidates[].content.parts[]", _GEMINI_PART),
}

OPAQUE: Mapping[tuple[str, str], frozenset[str]] = {
    ("openai-chat", "request"): frozenset(
        {
            "tools[].function.parameters",
            "functions[].parameters",
            "response_format.json_schema.schema",
            "messages[].tool_calls[].function.arguments",
            "messages[].function_call.arguments",
        }
    ),
    ("openai-chat", "response"): frozenset(
        {
            "choices[].message.tool_calls[].function.arguments",
            "choices[].message.function_call.arguments",
        }
    ),
    ("openai-chat", "error"): frozenset(),
    ("mistral", "request"): frozenset(
        {
            "tools[].function.parameters",
            "response_format.json_schema.schema",
            "messages[].tool_calls[].function.arguments",
        }
    ),
    ("cohere", "request"): frozenset(
        {
            "tools[].function.parameters",
            "documents[].data",
            "messages[].content[].document.data",
            "messages[].tool_calls[].function.arguments",
            "response_format.json_schema",
            "response_format.schema",
        }
    ),
    ("cohere", "response"): frozenset({"message.tool_calls[].function.arguments"}),
    ("mistral", "response"): frozenset({"choices[].message.tool_calls[].function.arguments"}),
    ("openai-responses", "request"): frozenset(
        {
            "tools[].parameters",
            "tools[].output_schema",
            "tools[].tools[].parameters",
            "text.format.schema",
            "input[].arguments",
            "input[].tools[].parameters",
            "input[].tools[].output_schema",
            "input[].tools[].input_schema",
        }
    ),
    ("openai-responses", "response"): frozenset(
        {
            "output[].arguments",
            "tools[].parameters",
            "tools[].output_schema",
            "tools[].tools[].parameters",
            "text.format.schema",
            "output[].tools[].parameters",
            "output[].tools[].input_schema",
        }
    ),
    ("openai-responses", "error"): frozenset(),
    ("anthropic", "request"): frozenset(
        {
            "tools[].input_schema",
            "tools[].input_examples",
            "messages[].content[].input",
            "output_config.format.schema",
            "output_format.schema",
        }
    ),
    ("anthropic", "response"): frozenset({"content[].input"}),
    ("anthropic", "error"): frozenset(),
    **{("gemini", unit): found for unit, found in _GEMINI.items()},
    **{("vertex", unit): found for unit, found in _GEMINI.items()},
    ("ollama", "request"): frozenset(
        {"tools[].function.parameters", "messages[].tool_calls[].function.arguments", "format"}
    ),
    ("ollama", "response"): frozenset({"message.tool_calls[].function.arguments"}),
    ("ollama", "error"): frozenset(),
    ("bedrock-converse", "request"): frozenset(
        {
            "toolConfig.tools[].toolSpec.inputSchema.json",
            "messages[].content[].toolUse.input",
            "messages[].content[].toolResult.content[].json",
            "additionalModelRequestFields",
        }
    ),
    ("bedrock-converse", "response"): frozenset(
        {"output.message.content[].toolUse.input", "additionalModelResponseFields"}
    ),
    ("bedrock-converse", "error"): frozenset(),
    ("gemini-interactions", "request"): frozenset(
        {
            "tools[].parameters",
            "response_format.schema",
            "input[].arguments",
            "input[].result",
            "input[].content[].result",
        }
    ),
    ("gemini-interactions", "response"): frozenset({"steps[].arguments", "steps[].result"}),
    ("gemini-interactions", "error"): frozenset(),
    ("anthropic", "frame"): frozenset({"content_block.input", "message.content[].input"}),
    ("ollama", "frame"): frozenset({"message.tool_calls[].function.arguments"}),
}


def leaves(body: Json) -> Iterator[tuple[Steps, Json]]:
    """Walk a body to its leaves: scalars, nulls and empty containers."""
    stack: list[tuple[Steps, Json]] = [((), body)]
    while stack:
        steps, value = stack.pop()
        if isinstance(value, dict) and value:
            stack.extend(((*steps, key), value[key]) for key in reversed(value))
        elif isinstance(value, list) and value:
            stack.extend(((*steps, n), value[n]) for n in range(len(value) - 1, -1, -1))
        else:
            yield steps, value


def counted(dialect: str, unit: str, body: Json) -> list[Steps]:
    """List the leaves that coverage counts: an opaque region is one leaf, whatever it holds."""
    opaque = OPAQUE.get((dialect, unit), frozenset())
    found: dict[Steps, None] = {}
    for steps, _ in leaves(body):
        found[opaque_root(opaque, steps) or steps] = None
    return list(found)


def opaque_root(opaque: frozenset[str], steps: Steps) -> Steps | None:
    """Give the opaque region that a leaf stands in, if any."""
    for depth in range(1, len(steps) + 1):
        if path_of(steps[:depth]) in opaque:
            return steps[:depth]
    return None


def not_pictured(ir: Json) -> int:
    """Count the leaves that a reading only carries: unknown parts and everything under `kept`."""
    total = 0
    stack: list[Json] = [ir]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            if node.get("type") == "unknown" and "value" in node:
                total += sum(1 for _ in leaves(node["value"]))
                continue
            for key, value in node.items():
                if key == "kept" and isinstance(value, dict):
                    total += _carried(value)
                elif key not in _USER_DATA:
                    stack.append(value)
    return total


# Fields of the IR that hold the user's own JSON: a key `kept` in there means nothing.
_USER_DATA = frozenset({"arguments", "parameters", "schema", "spelled", "own"})


def _carried(kept: Mapping[str, Json]) -> int:
    return sum(
        sum(1 for _ in leaves(value))
        for by_pointer in kept.values()
        if isinstance(by_pointer, dict)
        for value in by_pointer.values()
    )


def pictured(dialect: str, unit: str, body: Json, ir: Json) -> tuple[int, int]:
    """Give the number of pictured leaves and of all leaves."""
    total = len(counted(dialect, unit, body))
    return max(0, total - not_pictured(ir)), total


# Pointers and paths.


def pointer_of(steps: Sequence[str | int]) -> str:
    """Write steps as an RFC 6901 pointer."""
    return "".join(f"/{str(s).replace('~', '~0').replace('/', '~1')}" for s in steps)


@lru_cache(maxsize=65536)
def path_of(steps: Steps) -> str:
    """Write steps as a field path, positions left out: `messages[].content[].text`."""
    out: list[str] = []
    for step in steps:
        out.append("[]" if isinstance(step, int) else f".{step}" if out else str(step))
    return "".join(out)


def value_at(body: Json, steps: Sequence[str | int]) -> Json:
    """Follow steps into a body."""
    for step in steps:
        body = body[step]
    return body


def replaced(body: Json, changes: Mapping[Steps, Json]) -> Json:
    """Copy a body with some leaves changed; what no change touches is shared."""
    if () in changes:
        return changes[()]
    below: dict[str | int, dict[Steps, Json]] = {}
    for steps, value in changes.items():
        below.setdefault(steps[0], {})[steps[1:]] = value
    copy: Json = dict(body) if isinstance(body, dict) else list(body)
    for step, inner in below.items():
        copy[step] = replaced(copy[step], inner)
    return copy


def names(pointer: str | None, leaf: str) -> bool:
    """Say whether a note's pointer names a leaf: it or what it stands in, never the whole body."""
    return bool(pointer) and (leaf == pointer or leaf.startswith(f"{pointer}/"))


def touches(pointer: str | None, node: str) -> bool:
    """Say whether a note's pointer names a node, what it stands in, or anything inside it."""
    return bool(pointer) and (
        names(pointer, node) or (pointer is not None and pointer.startswith(f"{node}/"))
    )


def same(left: Json, right: Json) -> bool:
    """Compare as JSON: 1 equals 1.0, true does not equal 1, the order of keys means nothing."""
    stack = [(left, right)]
    while stack:
        a, b = stack.pop()
        if isinstance(a, dict):
            if not isinstance(b, dict) or a.keys() != b.keys():
                return False
            stack.extend((a[key], b[key]) for key in a)
        elif isinstance(a, list):
            if not isinstance(b, list) or len(a) != len(b):
                return False
            stack.extend(zip(a, b, strict=True))
        elif isinstance(a, bool) or isinstance(b, bool):
            if a is not b:
                return False
        elif a != b and not (a != a and b != b):  # NaN equals itself here
            return False
    return True


def difference(left: Json, right: Json) -> str | None:
    """Say where two JSON values differ first, or give None."""
    stack: list[tuple[Steps, Json, Json]] = [((), left, right)]
    while stack:
        steps, a, b = stack.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            for key in [*a, *(k for k in b if k not in a)]:
                if key not in b:
                    return f"{pointer_of((*steps, key))}: lost {_short(a[key])}"
                if key not in a:
                    return f"{pointer_of((*steps, key))}: added {_short(b[key])}"
                stack.append(((*steps, key), a[key], b[key]))
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return f"{pointer_of(steps)}: {len(a)} elements became {len(b)}"
            stack.extend(((*steps, n), x, y) for n, (x, y) in enumerate(zip(a, b, strict=True)))
        elif not same(a, b):
            return f"{pointer_of(steps)}: {_short(a)} became {_short(b)}"
    return None


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def grouped(text: str) -> str:
    """Take out of a message what differs from one body to the next: positions and values."""
    return re.sub(r"(?<=/)\d+(?=[/:`,\s]|$)", "#", text)
