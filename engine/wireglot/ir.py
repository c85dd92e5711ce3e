"""The intermediate representation: which kinds there are, and the type of every field.

The IR is plain JSON in dicts (`docs/ir.md`). The TypedDicts say its shape to a type checker; the
tables say it to the engine, which guards a hole by the type of the field that it names.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from typing import Any, Literal, TypedDict

Unit = Literal[
    "request", "response", "messages", "message", "tools", "tool", "tool_choice", "tool_call",
    "tool_result", "usage", "error", "session",
]  # fmt: skip
UNITS: tuple[str, ...] = Unit.__args__  # type: ignore[attr-defined]
WHOLES = ("request", "response", "error", "session")  # units that stand by themselves

# Kinds of part and of tool: a shape of this name reads as {"type": NAME, ...}.
ROLES = ("assistant", "system", "tool", "user")
PARTS = frozenset(
    "text image audio video document file reasoning refusal tool_call tool_result search finding "
    "native unknown".split()
)
TOOLS = frozenset(("custom", "native"))
FUNCTION = "function"  # what a tool is that has no `type`
MEDIA = frozenset(("image", "audio", "video", "document", "file"))

# Kinds of part whose lists are what they say: nothing of these may be left out without a word.
FULL = PARTS - {"text"}
# What stands between thoughts of one answer, and around what was no text, in one text.
PARAGRAPH = "\n\n"

# Type of each field by its last name; a name that is not here takes any JSON.
# `opaque` is what its origin alone can read: {"value": text, "origin": dialect} in the IR, text on
# the wire.
FIELDS: dict[str, str] = {
    **dict.fromkeys(
        "model id name text role level filename detail description url media_type data verbosity "
        "service_tier user effort mode display stop_reason stop_sequence stop_message "
        "tool_call_id label authorization "
        "arguments_text title syntax definition type kind time ttl code message status "
        "start end cwd quote search_id error context found_at reason token".split(),
        "string",
    ),
    **dict.fromkeys(
        "max_tokens top_logprobs seed n budget index cache_read cache_write output "
        "tool_input http start_index end_index part_index document_index search_result_index "
        "start_char end_char start_page end_page start_block end_block".split(),
        "integer",
    ),
    **dict.fromkeys(
        "temperature top_p top_k presence_penalty frequency_penalty logprob created".split(),
        "number",
    ),
    **dict.fromkeys(
        "parallel_tool_calls stream store strict include failed redacted trimmed "
        "freeform recited retrieved prefix citable".split(),
        "bool",
    ),
    **dict.fromkeys(
        "messages tools parts candidates allowed system citations sources results logprobs bytes "
        "top likely".split(),
        "list",
    ),
    **dict.fromkeys("stop modalities".split(), "list of text"),
    **dict.fromkeys(
        "parameters output_schema arguments headers metadata logit_bias".split(), "object"
    ),
    "signature": "opaque",
    "file": "opaque",
}
TOKENS = "logprobs"  # of a text in the IR, and on some wires of an answer
LIKELY = "likely"  # what was in the place of each, where a wire has it in another list
# Opaque fields, and the code of the note where another dialect cannot read them.
OPAQUE = {"signature": "foreign-signature", "file": "foreign-file"}
# Fields of these are counts and bodies where the same names mean something else.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("usage", "input"): "integer",
    ("usage", "reasoning"): "integer",
    ("usage", "text"): "integer",
    ("usage", "cache_read"): "integer",
    ("tool_call", "input"): "string",
    ("request", "logprobs"): "bool",
}
# Fields that hold the user's own JSON, in which no word of the IR means anything.
USER_DATA = frozenset(
    "arguments headers parameters output_schema schema own kept spelled metadata".split()
)
# What is so where nothing is said: who says it asks for nothing.
USUAL: dict[str, Any] = {
    "n": 1, "logprobs": False, "parallel_tool_calls": True, "prefix": False, "stream": False,
    "strict": False, "tool_choice": "auto",
}  # fmt: skip
# Fields without which a model and an application see the same: names and times of an answer that a
# provider keeps for itself, which model was asked, for whom a request is made, by which tier,
# whether it is kept, whether thoughts are shown beside it, what a tool gives back, the status that
# HTTP says, how many of the tokens that are counted are text. So are marks of what is to be cached.
SLIGHT = frozenset(
    tuple(field.split(":"))
    for field in "response:id response:created response:model request:user "
    "request:service_tier request:store request:reasoning.include request:reasoning.display "
    "function:output_schema error:http "
    "usage:by.cache_write usage:by.input.text usage:by.cache_read.text usage:by.output.text "
    "usage:by.tool_input.text".split()
)
CACHE = frozenset(("cache", "ttl"))
GRAVE = frozenset(("tool_call", "tool_result"))  # parts whose loss changes what was done
# Never a loss when a picture does not take them: they follow from other fields.
DERIVED = frozenset(
    "type role kept spelled arguments_json value_json origin freeform recited retrieved".split()
)


IR = dict[str, Any]  # an object of the IR; the typed ones below are for callers


class ToolCall(TypedDict, total=False):
    """A call by the model: one of arguments, input, arguments_text."""

    type: Literal["tool_call"]
    id: str
    name: str
    arguments: dict[str, Any]
    arguments_json: str
    arguments_text: str
    input: str
    signature: dict[str, str]


class ToolResult(TypedDict, total=False):
    """The answer to a call; `value` is what `kind` says."""

    type: Literal["tool_result"]
    tool_call_id: str
    name: str
    kind: Literal["text", "data", "error", "multimodal"]
    value: Any
    failed: bool


class Message(TypedDict, total=False):
    """One turn: ordered parts under a role."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: list[dict[str, Any]]
    level: str
    prefix: bool
    name: str


class Request(TypedDict, total=False):
    """A request; docs/ir.md lists every field."""

    model: str
    messages: list[Message]
    tools: list[dict[str, Any]]
    tool_choice: Any
    parallel_tool_calls: bool
    max_tokens: int
    stream: bool


class Response(TypedDict, total=False):
    """A response: candidates of parts, and usage in disjoint buckets."""

    id: str
    model: str
    created: float
    candidates: list[dict[str, Any]]
    usage: dict[str, Any]


@functools.lru_cache(1024)
def owned(path: str, family: str) -> str:
    """Return a path of the IR; one to a field of a dialect's own leads through its family."""
    return f"own.{family}.{path[4:]}" if path.startswith("own.") else path


def put_at(owner: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    """Put a value at a path of an object; objects on the way are copied, all else gives way."""
    for key in keys[:-1]:
        inner = owner.get(key)
        owner[key] = owner = dict(inner) if isinstance(inner, dict) else {}
    owner[keys[-1]] = value


def less(value: Any, keys: Sequence[str]) -> Any:
    """Return an object without what stands at a path of it; what has no such path as it is."""
    if not isinstance(value, dict) or keys[0] not in value:
        return value
    rest = {key: inner for key, inner in value.items() if key != keys[0]}
    return {**rest, keys[0]: less(value[keys[0]], keys[1:])} if keys[1:] else rest


def without_memory(value: dict[str, Any], *aside: str) -> dict[str, Any]:
    """Return the fields of an IR object without its memory, and without some others."""
    gone = ("spelled", "kept", *aside)
    return {key: inner for key, inner in value.items() if key not in gone}


def unspelled(
    value: Any, gone: Collection[str] = ("spelled",), data: Collection[str] = USER_DATA
) -> Any:
    """Return an IR value without its memory of spelling, or without some other fields.

    Fields of `data` stay as they are.
    """
    if isinstance(value, dict):
        return {
            key: inner if key in data else unspelled(inner, gone, data)
            for key, inner in value.items()
            if key not in gone
        }
    return [unspelled(item, gone, data) for item in value] if isinstance(value, list) else value


@functools.lru_cache(4096)
def field_type(shape: str, path: str) -> str:
    """Return the type of a field: a JSON type, `list of text`, `opaque` or `any`."""
    if path.startswith("own."):
        return "any"
    *around, name = path.split(".")
    owners = (EXCEPTIONS.get((owner, name)) for owner in (shape, *around))
    return next(filter(None, owners), None) or FIELDS.get(name, "any")


def wire_type(shape: str, path: str) -> str:
    """Return the `field_type` as a guard names it: an opaque value is a string."""
    kind = field_type(shape, path)
    return {"opaque": "string", "list of text": "list"}.get(kind, kind)
