"""What messages are made of, as pydantic models, and what all models do."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel


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
                out[key] = plain(getattr(self, name), by_alias)
        return out | (self.__pydantic_extra__ or {})


def plain(value: Any, by_alias: bool) -> Any:
    """Return what a field holds as plain JSON."""
    if isinstance(value, Model):
        return value._dump(by_alias)
    if isinstance(value, RootModel):
        return plain(value.root, by_alias)
    if isinstance(value, list) and any(isinstance(item, Model) for item in value):
        return [plain(item, by_alias) for item in value]
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
    Base64Source | UrlSource | FileSource | TextSource | BlocksSource, Field(discriminator="type")
]


class Citation(Model):
    """What a text, or a piece of it, rests on."""

    start_index: int | None = None
    end_index: int | None = None
    url: str | None = None
    title: str | None = None
    found_at: str | None = None
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


class Token(Model):
    """How likely a token was, and the likeliest ones in its place."""

    token: str
    logprob: float | int | None = None
    bytes: list[int] | None = None
    top: list[Token] | None = None


class Text(Model):
    """Plain text."""

    type: Literal["text"] = "text"
    text: str
    citations: list[Citation] | None = None
    logprobs: list[Token] | None = None
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
    context: str | None = None
    citable: bool | None = None
    found_at: str | None = None


class File(Media):
    """A file whose kind is not said."""

    type: Literal["file"] = "file"


_Blocks = Text | Image | Audio | Video | Document | File
Block = Annotated[_Blocks, Field(discriminator="type")]
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
    tools: list[Any] | None = None
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
    words: dict[type, str] = {
        dict: "an object", list: "a list", bool: "a boolean", int: "a number", float: "a number",
        str: "a string", type(None): "null",
    }  # fmt: skip
    return words.get(type(value)) or f"a {type(value).__name__}"


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
    _Blocks | Reasoning | Refusal | ToolCall | ToolResult | Search | Finding | Native | Unknown,
    Field(discriminator="type"),
]
