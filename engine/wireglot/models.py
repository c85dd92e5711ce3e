"""The IR as pydantic models, for those who like attributes better than dicts (an extra).

Nothing here is imported to convert. A model takes the engine's snake_case dicts and seed 000's
camelCase JSON; `dump()` gives the first, `dump(by_alias=True)` the second. Keys that no model
names (`own`, `kept`, `spelled`) are kept as they are.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

Number = int | float


class Model(BaseModel):
    """An object of the IR: strict types, snake_case or camelCase keys, further keys kept."""

    model_config = ConfigDict(
        strict=True, extra="allow", alias_generator=to_camel, populate_by_name=True
    )

    # Seed 000's objects say what they are by where they stand, not by a `type`.
    bare: ClassVar[bool] = False

    @model_validator(mode="before")
    @classmethod
    def _one_spelling(cls, data: Any) -> Any:
        if isinstance(data, dict):
            for name, field in cls.model_fields.items():
                alias = field.alias
                if alias is not None and alias != name and alias in data and name in data:
                    raise ValueError(f"`{name}` and `{alias}` are one field: give one of them")
        return data

    def dump(self, *, by_alias: bool = False) -> dict[str, Any]:
        """Return the engine's dict, or seed 000's JSON; what was absent stays absent."""
        out = self._dump(by_alias)
        if by_alias and self.bare:
            out.pop("type", None)
        return out

    def _dump(self, by_alias: bool) -> dict[str, Any]:
        out: dict[str, Any] = {}
        fields = type(self).model_fields
        for name in sorted(fields, key=lambda name: name != "type"):
            field = fields[name]
            if name in self.model_fields_set or name == "type":
                key = field.alias if by_alias and field.alias is not None else name
                out[key] = _plain(getattr(self, name), by_alias)
        return out | (self.__pydantic_extra__ or {})


def _plain(value: Any, by_alias: bool) -> Any:
    if isinstance(value, Model):
        return value._dump(by_alias)
    if isinstance(value, ToolChoice):
        return value.dump(by_alias=by_alias)
    if isinstance(value, list) and any(isinstance(item, Model) for item in value):
        return [_plain(item, by_alias) for item in value]
    return value


class Signature(Model):
    """What only the dialect that it came from can read: reasoning state, the name of a file."""

    value: str
    origin: str | None = None


class Base64Source(Model):
    """Bytes in the message itself."""

    type: Literal["base64"] = "base64"
    media_type: str | None = None
    data: str


class UrlSource(Model):
    """An address."""

    type: Literal["url"] = "url"
    url: str
    media_type: str | None = None


class FileSource(Model):
    """A file that the provider holds."""

    type: Literal["file_id"] = "file_id"
    file: Signature
    media_type: str | None = None


class TextSource(Model):
    """A document that is text."""

    type: Literal["text"] = "text"
    text: str
    media_type: str | None = None


class BlocksSource(Model):
    """A document that is made of blocks, as the wire has them."""

    type: Literal["blocks"] = "blocks"
    blocks: list[Any]


Source = Annotated[
    Base64Source | UrlSource | FileSource | TextSource | BlocksSource,
    Field(discriminator="type"),
]


class Citation(Model):
    """What a text, or a piece of it, rests on."""

    start_index: int | None = None
    end_index: int | None = None
    url: str | None = None
    title: str | None = None
    quote: str | None = None
    retrieved: bool | None = None
    recited: bool | None = None
    file: Signature | None = None
    signature: Signature | None = None
    document_index: int | None = None
    search_result_index: int | None = None
    start_char: int | None = None
    end_char: int | None = None
    start_page: int | None = None
    end_page: int | None = None
    start_block: int | None = None
    end_block: int | None = None


class Text(Model):
    """Plain text."""

    type: Literal["text"] = "text"
    text: str
    citations: list[Citation] | None = None
    cache: dict[str, Any] | None = None


class Media(Model):
    """What image, audio, video, document and file share."""

    source: Source
    filename: str | None = None
    detail: str | None = None
    cache: dict[str, Any] | None = None


class Image(Media):
    """A picture."""

    type: Literal["image"] = "image"


class Audio(Media):
    """Sound."""

    type: Literal["audio"] = "audio"


class Video(Media):
    """Moving pictures."""

    type: Literal["video"] = "video"


class Document(Media):
    """A document, as a PDF file or a text."""

    type: Literal["document"] = "document"


class File(Media):
    """A file whose kind is not said."""

    type: Literal["file"] = "file"


Block = Annotated[Text | Image | Audio | Video | Document | File, Field(discriminator="type")]
_BLOCKS: TypeAdapter[list[Any]] = TypeAdapter(list[Block])


class Reasoning(Model):
    """What the model thought, and the state that lets it go on thinking."""

    type: Literal["reasoning"] = "reasoning"
    text: str | None = None
    title: str | None = None
    signature: Signature | None = None
    redacted: bool | None = None


class Refusal(Model):
    """Text by which the model refuses."""

    type: Literal["refusal"] = "refusal"
    text: str


class ToolCall(Model):
    """A call by the model: exactly one of `arguments`, `input`, `arguments_text`."""

    bare: ClassVar[bool] = True

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    arguments: dict[str, Any] | None = None
    arguments_json: str | None = None
    arguments_text: str | None = None
    input: str | None = None
    signature: Signature | None = None
    metadata: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one_of_three(self) -> Self:
        ways = ("arguments", "input", "arguments_text")
        given = [way for way in ways if getattr(self, way) is not None]
        if len(given) != 1:
            held = " and ".join(f"`{way}`" for way in given) or "none of them"
            raise ValueError(
                "a call holds exactly one of `arguments` (an object), `input` (freeform text) and "
                f"`arguments_text` (text that is no JSON object), and this one holds {held}: "
                "give one, `arguments: {}` for a call without arguments"
            )
        return self


class ToolResult(Model):
    """The answer to a call; `kind` says what `value` is.

    Seed 000 requires `name`. It is absent only where a result was read without its call from a
    dialect whose results carry no name.
    """

    bare: ClassVar[bool] = True

    type: Literal["tool_result"] = "tool_result"
    tool_call_id: str
    name: str | None = None
    kind: Literal["text", "data", "error", "multimodal"]
    value: Any
    value_json: str | None = None
    failed: bool | None = None
    freeform: bool | None = None
    output_ref: dict[str, Any] | None = None
    trimmed: bool | None = None
    media: list[Block] | None = None
    metadata: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _value_is_what_kind_says(self) -> Self:
        if self.kind in ("text", "error") and not isinstance(self.value, str):
            raise ValueError(
                f"the `value` of a result of kind `{self.kind}` is a string, and this one is "
                f"{_word(self.value)}: say kind `data`, or give the text"
            )
        if self.kind == "multimodal":
            if not isinstance(self.value, list):
                raise ValueError(
                    "the `value` of a result of kind `multimodal` is a list of blocks, and this "
                    f"one is {_word(self.value)}: put it into a list, or say kind `text` or `data`"
                )
            try:
                blocks = _BLOCKS.validate_python(self.value)
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                place = "/".join(str(step) for step in first["loc"])
                raise ValueError(
                    "the `value` of a result of kind `multimodal` is a list of blocks (text, "
                    f"image, audio, video, document, file), and this one is not at `{place}`: "
                    f"{first['msg']}"
                ) from None
            self.__dict__["value"] = blocks
        if self.kind == "error" and self.failed is not None:
            raise ValueError(
                "a result of kind `error` has failed already: leave `failed` out, or say kind "
                "`text` to keep both"
            )
        return self


def _word(value: object) -> str:
    words = {dict: "an object", list: "a list", bool: "a boolean", int: "a number"}
    return (
        words.get(type(value))
        or {float: "a number", str: "a string"}.get(type(value))
        or ("null" if value is None else f"a {type(value).__name__}")
    )


class Search(Model):
    """A search of the web that the provider ran."""

    type: Literal["search"] = "search"
    id: str | None = None
    arguments: dict[str, Any] | None = None
    arguments_json: str | None = None
    arguments_text: str | None = None


class Page(Model):
    """A page that a search found; only its origin can read what stands on it."""

    url: str
    title: str | None = None
    signature: Signature | None = None


class Finding(Model):
    """What a search found, or why it found nothing."""

    type: Literal["finding"] = "finding"
    search_id: str | None = None
    results: list[Page] | None = None
    error: str | None = None


class Native(Model):
    """What one provider runs by itself; `own` holds it as it is on the wire."""

    type: Literal["native"] = "native"
    name: str | None = None
    own: dict[str, Any] | None = None
    tools: list[Any] | None = None


class Unknown(Model):
    """A part that no picture describes: the wire value as it is."""

    type: Literal["unknown"] = "unknown"
    dialect: str
    value: Any


Part = Annotated[
    Text
    | Image
    | Audio
    | Video
    | Document
    | File
    | Reasoning
    | Refusal
    | ToolCall
    | ToolResult
    | Search
    | Finding
    | Native
    | Unknown,
    Field(discriminator="type"),
]


class Message(Model):
    """One turn: ordered parts under a role."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: list[Part]
    level: str | None = None
    name: str | None = None
    id: str | None = None


class ToolDefinition(Model):
    """A function that the model may call; `parameters` is a JSON Schema."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
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
    """This tool and no other."""

    name: str


class AllowedChoice(Model):
    """One of these tools, if any is called (`auto`) or because one must be (`required`)."""

    allowed: list[str]
    mode: Literal["auto", "required"]


class ToolChoice(RootModel[Literal["auto", "none", "required"] | NamedChoice | AllowedChoice]):
    """Which tools the model may or must call."""

    model_config = ConfigDict(strict=True)

    def dump(self, *, by_alias: bool = False) -> Any:
        """Return the engine's value, which is seed 000's too."""
        return _plain(self.root, by_alias)


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


class Response(Model):
    """A response: candidates, and what they cost."""

    id: str | None = None
    model: str | None = None
    created: int | None = None
    candidates: list[Candidate]
    usage: Usage | None = None
