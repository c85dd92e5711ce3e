"""The IR as pydantic models, for those who like attributes better than dicts (an extra).

Nothing here is imported to convert. A model takes the engine's snake_case dicts and seed 000's
camelCase JSON; `dump()` gives the first, `dump(by_alias=True)` the second. Keys that no model
names (`own`, `kept`, `spelled`) are kept as they are.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, RootModel, Tag

from .partmodels import *  # noqa: F403 - the parts are taken from here
from .partmodels import Citation, Model, Native, Part, Token, plain

Number = int | float


class Message(Model):
    """One turn: ordered parts under a role."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: list[Part]
    level: str | None = None
    prefix: bool | None = None
    name: str | None = None
    id: str | None = None


class ToolDefinition(Model):
    """A function that the model may call; its schemas are JSON Schema."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    strict: bool | None = None


class CustomTool(Model):
    """A tool that takes freeform text; `format` is its grammar."""

    type: Literal["custom"] = "custom"
    name: str
    description: str | None = None
    format: dict[str, Any] | None = None


class NativeTool(Native):
    """A tool that one provider runs by itself."""

    own: dict[str, Any]


def _tool_kind(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if kind in ("custom", "native") else "function"


Tool = Annotated[
    Annotated[ToolDefinition, Tag("function")]
    | Annotated[CustomTool, Tag("custom")]
    | Annotated[NativeTool, Tag("native")],
    Discriminator(_tool_kind),
]


class NamedChoice(Model):
    """This tool and no other; `freeform` where it takes freeform text."""

    name: str
    freeform: bool | None = None


class AllowedChoice(Model):
    """One of these tools, if any is called (`auto`) or because one must be (`required`)."""

    allowed: list[str | NamedChoice]
    mode: Literal["auto", "required"]


class ToolChoice(RootModel[Literal["auto", "none", "required"] | NamedChoice | AllowedChoice]):
    """Which tools the model may or must call."""

    model_config = ConfigDict(strict=True)

    def dump(self, *, by_alias: bool = False) -> Any:
        """Return the engine's value, which is seed 000's too."""
        return plain(self.root, by_alias)


class ReasoningOptions(Model):
    """How much the model should think, and what of it to show."""

    effort: str | None = None
    budget: int | None = None
    mode: str | None = None
    display: str | None = None
    include: bool | None = None


class ResponseFormat(Model):
    """The form of the answer; `schema` belongs to `json_schema`."""

    # `schema` would hide a method of pydantic's, so the attribute is called `json_schema`.
    type: Literal["text", "json", "json_schema"]
    name: str | None = None
    description: str | None = None
    json_schema: Any = Field(default=None, alias="schema")
    strict: bool | None = None

    def _dump(self, by_alias: bool) -> dict[str, Any]:
        out = super()._dump(by_alias)
        if "json_schema" in out:
            out["schema"] = out.pop("json_schema")
        return out


class Request(Model):
    """A request; system text stands among the messages, where it stood."""

    model: str | None = None
    messages: list[Message]
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    max_tokens: int | None = None
    temperature: Number | None = None
    top_p: Number | None = None
    top_k: Number | None = None
    presence_penalty: Number | None = None
    frequency_penalty: Number | None = None
    stop: list[str] | None = None
    seed: int | None = None
    n: int | None = None
    logit_bias: dict[str, Any] | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    reasoning: ReasoningOptions | None = None
    verbosity: str | None = None
    response_format: ResponseFormat | None = None
    modalities: list[str] | None = None
    metadata: dict[str, Any] | None = None
    service_tier: str | None = None
    user: str | None = None
    store: bool | None = None
    stream: bool | None = None


class Usage(Model):
    """Token counts in buckets that do not overlap."""

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    tool_input: int | None = None
    by: dict[str, Any] | None = None


class ErrorBody(Model):
    """What a provider answers instead of a response."""

    kind: str | None = None
    message: str | None = None
    http: int | None = None


class Candidate(Model):
    """One answer; its place in the list is its index."""

    parts: list[Part]
    stop_reason: str | None = None
    stop_message: str | None = None
    stop_sequence: str | None = None
    sources: list[Citation] | None = None
    logprobs: list[Token] | None = None


class Response(Model):
    """A response: candidates, and what they cost."""

    id: str | None = None
    model: str | None = None
    created: int | float | None = None
    candidates: list[Candidate]
    usage: Usage | None = None
