"""Check wire bodies against the official SDKs' own types.

Requests are judged strictly: a key that the type lacks and a missing required key are problems.
Responses are judged as the SDK reads them: keys that the SDK does not know are tolerated.
"""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

from wireglot.authoring import drift, sdktypes
from wireglot.authoring.sdktypes import Field, Shape, Shapes

from . import bedrock, ollama, shapes
from .leaves import OPAQUE

Json = Any
Unit = Literal["request", "response", "error", "frame"]
DIALECTS = ("openai-chat", "openai-responses", "anthropic", "gemini", "vertex", "ollama")

# Those whose SDKs need not be there (`pip install -e '.[sdks]'`); without one nothing is judged.
FURTHER = {"mistral": "mistralai", "cohere": "cohere"}

# The two services of Google, and what the SDK calls them.
GOOGLE = {"gemini": "mldev", "vertex": "vertex"}

# What never stands on the wire, of any SDK.
_NOT_SENT = frozenset(name for one in drift.load_sdks().values() for name in one.not_sent)
# A part holds one of these; everything else stands beside it.
_GEMINI_PART_DATA = (
    "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
    "codeExecutionResult", "toolCall", "toolResponse",
)  # fmt: skip


def problems(dialect: str, unit: Unit, body: Json) -> list[str]:
    """List what the SDK's types have against a body, each as `pointer: what is wrong`."""
    judge = _JUDGES.get((dialect, unit))
    if judge is None:
        return []
    return list(judge(body))


def is_judged(dialect: str, unit: str) -> bool:
    """Say whether the SDK has types for this unit."""
    return (dialect, unit) in _JUDGES


def field_paths(dialect: str, unit: Unit) -> set[str]:
    """List every field path of the SDK's type, `*` standing for the inside of opaque values."""
    found: set[str] = set()
    for shape in _paths_of(dialect, unit):
        found |= _closed(shape, OPAQUE[dialect, unit])
    if dialect in GOOGLE:
        # The API takes text only here; the SDK reuses the type of any content.
        found = {path for path in found if not _is_no_system_text(path)}
    return found


def events(dialect: str) -> dict[str, Shape]:
    """Give the shapes of the frames of a stream, by the names of their events; one has no name."""
    shape = shape_of(dialect, "frame", {})
    return {} if shape is None else drift.events(shape, "type")


def event_paths(dialect: str, shape: Shape) -> set[str]:
    """List every field path of a frame."""
    return _closed(shape, OPAQUE.get((dialect, "frame"), frozenset()))


def _closed(shape: Shape, opaque: frozenset[str]) -> set[str]:
    """List the field paths of a type; all that stands within an opaque value is one."""
    return {
        next((f"{one}.*" for one in opaque if path.startswith((f"{one}.", f"{one}[]"))), path)
        for path in sdktypes.leaves(shape)
    }


def _is_no_system_text(path: str) -> bool:
    return path.startswith("systemInstruction.parts[].") and not path.endswith("parts[].text")


def shapes_at(
    dialect: str, unit: Unit, body: Json, steps: Sequence[str | int], *, other: bool = False
) -> list[Shape]:
    """Give the shapes that the SDK allows at one place of a body; none for a key it lacks.

    With `other`, also those that other variants of the object around it allow there.
    """
    shape = shape_of(dialect, unit, body)
    return shapes.at(shape, body, steps, other=other) if shape is not None else []


def shape_of(dialect: str, unit: Unit, body: Json) -> Shape | None:
    """Give the shape of a whole body."""
    streams = isinstance(body, dict) and body.get("stream") is True
    if unit == "frame" and dialect in _FRAMES:
        return _frame(dialect)
    if dialect == "openai-chat":
        return _openai(unit, streams)
    if dialect == "openai-responses":
        return _responses(unit, streams)
    if dialect == "anthropic":
        return _anthropic(unit, streams)
    if dialect in GOOGLE and unit != "error":  # frames are responses there
        return _gemini_request(dialect) if unit == "request" else _gemini_response(dialect)
    if dialect in FURTHER and unit != "error" and is_judged(dialect, unit):
        return _mistral(unit, streams) if dialect == "mistral" else _cohere(unit, streams)
    if dialect == "bedrock-converse":
        return bedrock.shape(unit)
    if dialect == "gemini-interactions" and unit != "error":
        return _interactions(unit)
    if dialect == "ollama" and unit != "error":
        return ollama.request() if unit == "request" else ollama.response()
    return None


def _paths_of(dialect: str, unit: Unit) -> Iterator[Shape]:
    for body in ({}, {"stream": True}):
        shape = shape_of(dialect, unit, body)
        if shape is not None:
            yield shape


# One dialect after another: its shapes.


@cache
def _shapes() -> Shapes:
    return Shapes(_NOT_SENT)


@cache
def _frame(dialect: str) -> Shape:
    return _shapes().of(_FRAMES[dialect]())


@cache
def _openai(unit: Unit, streams: bool) -> Shape | None:
    from openai.types.chat import ChatCompletion
    from openai.types.chat import completion_create_params as params
    from openai.types.shared import ErrorObject

    if unit == "response":
        return _shapes().of(ChatCompletion)
    if unit == "error":
        inner = _shapes().of(ErrorObject)
        return Shape("object", "Error", {"error": Field(inner, True, ("error",))})
    if streams:
        return _shapes().of(params.CompletionCreateParamsStreaming)
    return _shapes().of(params.CompletionCreateParamsNonStreaming)


@cache
def _responses(unit: Unit, streams: bool) -> Shape | None:
    from openai.types.responses import Response
    from openai.types.responses import response_create_params as params

    if unit == "response":
        return _shapes().of(Response)
    if unit == "error":
        return _openai(unit, streams)
    if streams:
        return _shapes().of(params.ResponseCreateParamsStreaming)
    return _shapes().of(params.ResponseCreateParamsNonStreaming)


@cache
def _mistral(unit: Unit, streams: bool) -> Shape:
    from mistralai.client import models

    build = Shapes(_NOT_SENT)
    if unit == "response":
        return build.of(models.ChatCompletionResponse)
    schema = build.of(models.JSONSchemaTypedDict).fields
    inner = schema.pop("schema_definition").shape  # what the SDK calls it beside the wire
    schema["schema"] = Field(inner, True, ("schema",))
    if streams:
        return build.of(models.ChatCompletionStreamRequestTypedDict)
    return build.of(models.ChatCompletionRequestTypedDict)


@cache
def _cohere(unit: Unit, streams: bool) -> Shape:
    """Assemble the body from the client's own arguments: the SDK has no type for the whole."""
    import cohere
    from cohere.v2 import client

    if unit == "response":
        return _shapes().of(cohere.V2ChatResponse)
    method = client.V2Client.chat_stream if streams else client.V2Client.chat
    request = _shapes().arguments(method)
    request.fields["stream"] = Field(Shape("boolean"), streams, ("stream",))
    return request


@cache
def _interactions(unit: Unit) -> Shape:
    from google.genai._gaos.types import interactions as types

    if unit == "request":
        build = Shapes(_NOT_SENT)
        named = {"schema": types.TextResponseFormatParam, "filter": types.RagRetrievalConfigParam}
        for name, one in named.items():
            fields = build.of(one).fields  # what the SDK calls it beside the wire
            fields[name] = Field(fields.pop(f"{name}_").shape, False, (name,))
        data = build.of(types.FunctionResultStepResultParam)  # a class without fields: any object
        data.kind, data.item = "map", Shape("any")
        request = build.of(types.CreateModelInteractionParam)
        # Open lists of words, as all are in the types: but these are lists of examples.
        open_ones = (types.AudioContentParam, types.DocumentContentParam, types.ImageContentParam)
        for one in (*open_ones, types.VideoContentParam):
            build.of(one).fields["mime_type"].shape = Shape("text")
        request.fields["model"].shape = Shape("text")
        return request
    return _shapes().of(types.Interaction if unit == "response" else types.InteractionSSEEvent)


@cache
def _anthropic(unit: Unit, streams: bool) -> Shape | None:
    from anthropic.types import Message
    from anthropic.types import message_create_params as params
    from anthropic.types.shared import ErrorResponse

    if unit == "response":
        return _shapes().of(Message)
    if unit == "error":
        return _shapes().of(ErrorResponse)
    if streams:
        return _shapes().of(params.MessageCreateParamsStreaming)
    return _shapes().of(params.MessageCreateParamsNonStreaming)


@cache
def _gemini_request(dialect: str) -> Shape:
    """Assemble the REST body from the SDK's types: the SDK has no type for the whole of it."""
    from google.genai import types

    refused = _refused_by(GOOGLE[dialect])
    build = Shapes(_NOT_SENT | _fields(refused))
    request = Shape("object", "GenerateContentRequest")
    keys: tuple[tuple[str, str, object, bool], ...] = (
        ("contents", "contents", list[types.Content], True),
        ("systemInstruction", "system_instruction", types.Content | None, False),
        ("tools", "tools", list[types.Tool] | None, False),
        ("toolConfig", "tool_config", types.ToolConfig | None, False),
        ("generationConfig", "generation_config", types.GenerationConfig | None, False),
        ("safetySettings", "safety_settings", list[types.SafetySetting] | None, False),
        ("cachedContent", "cached_content", str | None, False),
        ("serviceTier", "service_tier", types.ServiceTier | None, False),
        ("labels", "labels", dict[str, str] | None, False),
        ("continuationToken", "continuation_token", str | None, False),
        ("modelArmorConfig", "model_armor_config", types.ModelArmorConfig | None, False),
        (
            "outputConfig",
            "generation_output_config",
            types.GenerationOutputConfig | None,
            False,
        ),
        ("store", "store", bool | None, False),
        ("model", "model", str | None, False),
    )
    for name, snake, annotation, required in keys:
        if snake not in refused["GenerateContentConfig"]:
            request.fields[name] = Field(build.of(annotation), required, (name, snake))
    # The SDK sends this inside generationConfig; its GenerationConfig class lacks it.
    config = build.of(types.GenerationConfig)
    image = build.of(types.ImageConfig)
    config.fields.setdefault("imageConfig", Field(image, False, ("imageConfig", "image_config")))
    if dialect == "vertex":
        # What its converters name in another way on the wire than the types.
        model = config.fields.pop("modelSelectionConfig")
        config.fields["modelConfig"] = Field(model.shape, False, ("modelConfig", "model_config"))
        for name in ("outputMimeType", "outputCompressionQuality"):
            del image.fields[name]
        server = next(iter(request.fields["tools"].shape.options)).item
        assert server is not None
        del server.fields["mcpServers"]  # it takes none of their fields
    return request


@cache
def _gemini_response(dialect: str) -> Shape:
    from google.genai import types

    if dialect == "gemini":
        return _shapes().of(types.GenerateContentResponse)
    # What the platform never answers: its requests have no such parts.
    build = Shapes(_NOT_SENT | _fields({"Part": _refused_by("vertex")["Part"]}))
    response = build.of(types.GenerateContentResponse)
    del response.fields["modelStatus"]  # its converter does not read this
    return response


@cache
def _refused_by(suffix: str) -> Mapping[str, frozenset[str]]:
    """Ask the SDK's own converters which fields only the other of the two services takes."""
    from google.genai import models, types

    refused: dict[str, frozenset[str]] = {}
    for name, convert in vars(models).items():
        cls = getattr(types, name[1 : -len(f"_to_{suffix}")], None)
        if not (name.endswith(f"_to_{suffix}") and inspect.isclass(cls)):
            continue
        if issubclass(cls, BaseModel):
            refused[cls.__name__] = frozenset(f for f in cls.model_fields if _refuses(convert, f))
    # The type of `generationConfig` has no converter for one; its fields go through the config's.
    refused.setdefault("GenerationConfig", refused["GenerateContentConfig"])
    return refused


def _fields(refused: Mapping[str, frozenset[str]]) -> set[str]:
    return {f"{name}.{field}" for name, fields in refused.items() for field in fields}


def _refuses(convert: Callable[..., object], field: str) -> bool:
    first = next(iter(inspect.signature(convert).parameters))
    before = [None] if first == "api_client" else []
    try:
        convert(*before, {field: object()}, {})
    except ValueError as error:
        return f"{field} parameter is only supported" in str(error)
    except Exception:
        return False  # the converter went on into the value: it takes the field
    return False


# One dialect after another: its judges.


def _strictly(find: Callable[[Json], Shape | None]) -> Callable[[Json], Iterator[str]]:
    def judge(body: Json) -> Iterator[str]:
        shape = find(body)
        assert shape is not None
        try:
            _strict(shape).validate_python(body)
        except ValidationError as error:
            yield from _told(error)

    return judge


@cache
def _strict(shape: Shape) -> SchemaValidator:
    return shapes.validator(shape, unknown="refuse")


@cache
def _tolerant(shape: Shape) -> SchemaValidator:
    return shapes.validator(shape, unknown="drop")


@cache
def _adapter(load: Callable[[], Any]) -> TypeAdapter[Any]:
    return TypeAdapter(load())


def _as_model(load: Callable[[], Any], body: Json, *, strict: bool = True) -> Iterator[str]:
    try:
        text = json.dumps(body)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _adapter(load).validate_json(text, strict=strict)
    except ValidationError as error:
        yield from _told(error)


def _openai_chunk() -> Any:
    from openai.types.chat import ChatCompletionChunk

    return ChatCompletionChunk


def _responses_event() -> Any:
    from openai.types.responses import ResponseStreamEvent

    return ResponseStreamEvent


def _anthropic_event() -> Any:
    from anthropic.types import RawMessageStreamEvent

    return RawMessageStreamEvent


_FRAMES: Mapping[str, Callable[[], Any]] = {
    "openai-chat": _openai_chunk,
    "openai-responses": _responses_event,
    "anthropic": _anthropic_event,
}


def _openai_completion() -> Any:
    from openai.types.chat import ChatCompletion

    return ChatCompletion


def _openai_response() -> Any:
    from openai.types.responses import Response

    return Response


def _anthropic_message() -> Any:
    from anthropic.types import Message

    return Message


def _anthropic_error() -> Any:
    from anthropic.types.shared import ErrorResponse

    return ErrorResponse


def _openai_error() -> Any:
    from openai.types.shared import ErrorObject

    return ErrorObject


def _mistral_completion() -> Any:
    from mistralai.client.models import ChatCompletionResponse

    return ChatCompletionResponse


def _cohere_completion() -> Any:
    from cohere import V2ChatResponse

    return V2ChatResponse


def _gemini_completion() -> Any:
    from google.genai import types

    return types.GenerateContentResponse


def _openai_error_problems(body: Json) -> Iterator[str]:
    if not isinstance(body, dict) or set(body) != {"error"}:
        yield ": an error body is an object whose only key is `error`"
        return
    yield from _as_model(_openai_error, body["error"])


def _interaction() -> Any:
    from google.genai._gaos.types.interactions import Interaction

    return Interaction


def _interaction_event() -> Any:
    from google.genai._gaos.types.interactions import InteractionSSEEvent

    return InteractionSSEEvent


def _gemini_error_problems(body: Json) -> Iterator[str]:
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        yield ": an error body is an object with the key `error`"
        return
    for key, kind in (("code", int), ("message", str), ("status", str)):
        if not isinstance(error.get(key), kind):
            yield f"/error/{key}: this should be of type {kind.__name__}"


def _gemini_response_problems(dialect: str, body: Json) -> Iterator[str]:
    try:
        known = _tolerant(_gemini_response(dialect)).validate_python(body)
    except ValidationError as error:
        yield from _told(error)
        return
    # The kinds are checked; strictly, the SDK's own class refuses dates that are JSON text.
    yield from _as_model(_gemini_completion, known, strict=False)


def _gemini_request_problems(dialect: str, body: Json) -> Iterator[str]:
    found = list(_strictly(lambda _: _gemini_request(dialect))(body))
    yield from found
    if found:
        return
    yield from _gemini_facts(body)
    yield from _gemini_converted(dialect, body)


def _gemini_facts(body: Json) -> Iterator[str]:
    """Check what the API's pages require and every field of the SDK's models leaves open."""
    contents = [(f"/contents/{n}", content) for n, content in enumerate(body["contents"])]
    for at, content in contents:
        for index, part in enumerate(content.get("parts") or []):
            data = [key for key in _GEMINI_PART_DATA if key in part]
            if len(data) > 1:
                yield f"{at}/parts/{index}: one part holds `{data[0]}` and `{data[1]}`"
            for key, required in (
                ("functionCall", ("name",)),
                ("functionResponse", ("name", "response")),
            ):
                for name in required if isinstance(part.get(key), dict) else ():
                    if name not in part[key]:
                        yield f"{at}/parts/{index}/{key}/{name}: Field required"
    for number, tool in enumerate(body.get("tools") or []):
        for index, function in enumerate(tool.get("functionDeclarations") or []):
            at = f"/tools/{number}/functionDeclarations/{index}"
            if "name" not in function:
                yield f"{at}/name: Field required"
            if "parameters" in function and "parametersJsonSchema" in function:
                yield f"{at}: `parameters` and `parametersJsonSchema` exclude each other"


def _ollama_request_problems(body: Json) -> Iterator[str]:
    found = list(_strictly(lambda _: ollama.request())(body))
    yield from found
    for number, tool in enumerate([] if found else body.get("tools") or []):
        # The inside of a schema is judged as the SDK reads it: unknown keywords are left out.
        for problem in _as_model(_ollama_tool, tool, strict=False):
            yield f"/tools/{number}{problem}"


def _ollama_response_problems(body: Json) -> Iterator[str]:
    try:
        _tolerant(ollama.response()).validate_python(body)
    except ValidationError as error:
        yield from _told(error)
        return
    yield from _as_model(_ollama_answer, body)


def _ollama_error_problems(body: Json) -> Iterator[str]:
    if not isinstance(body, dict) or not isinstance(body.get("error"), str):
        yield ": an error body is an object with the text `error`"


def _bedrock_request_problems(body: Json) -> Iterator[str]:
    found = list(_strictly(lambda _: bedrock.shape("request"))(body))
    yield from found or bedrock.refused(body)


def _bedrock_problems(unit: Unit, body: Json) -> Iterator[str]:
    try:
        _tolerant(bedrock.shape(unit)).validate_python(body)
    except ValidationError as error:
        yield from _told(error)


def _ollama_tool() -> Any:
    from ollama import Tool

    return Tool


def _ollama_answer() -> Any:
    from ollama import ChatResponse

    return ChatResponse


def _gemini_converted(dialect: str, body: Json) -> Iterator[str]:
    """Let the SDK build its own request from the body, as its client would."""
    from google.genai import models, types

    # All that the converters ask their client: which of the two services it talks to.
    client: Any = SimpleNamespace(vertexai=dialect == "vertex", project="p", location="l")
    suffix = GOOGLE[dialect]

    plain = {_snake(key): value for key, value in body.items()}
    config = {_snake(k): v for k, v in (plain.pop("generation_config", None) or {}).items()}
    known = set(types.GenerateContentConfig.model_fields)
    contents = plain.pop("contents")
    plain.pop("model", None)
    if "model_config" in config:  # a field has this name in pydantic, and another in the SDK
        config["model_selection_config"] = config.pop("model_config")
    local = {key: value for key, value in (plain | config).items() if key in known}
    # The class admits any schema source here and would look for a Python type behind a dict.
    schema = local.pop("response_schema", None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if schema is not None:
                types.Schema.model_validate_json(json.dumps(schema))
            typed = types.GenerateContentConfig.model_validate_json(json.dumps(local))
            getattr(models, f"_GenerateContentConfig_to_{suffix}")(client, typed, {})
            for content in contents:
                item = types.Content.model_validate_json(json.dumps(content))
                getattr(models, f"_Content_to_{suffix}")(item, {})
    except ValidationError as error:
        yield from _told(error)
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        yield f": the SDK's own converter refuses this: {error}"


def _snake(key: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in key)


_JUDGES: dict[tuple[str, str], Callable[[Json], Iterator[str]]] = {
    ("openai-chat", "request"): _strictly(lambda body: shape_of("openai-chat", "request", body)),
    ("openai-chat", "response"): lambda body: _as_model(_openai_completion, body),
    ("openai-chat", "error"): _openai_error_problems,
    ("openai-responses", "request"): _strictly(
        lambda body: shape_of("openai-responses", "request", body)
    ),
    ("openai-responses", "response"): lambda body: _as_model(_openai_response, body),
    ("openai-responses", "error"): _openai_error_problems,
    ("anthropic", "request"): _strictly(lambda body: shape_of("anthropic", "request", body)),
    ("anthropic", "response"): lambda body: _as_model(_anthropic_message, body),
    ("anthropic", "error"): lambda body: _as_model(_anthropic_error, body),
    **{(name, "request"): partial(_gemini_request_problems, name) for name in GOOGLE},
    **{(name, "response"): partial(_gemini_response_problems, name) for name in GOOGLE},
    **{(name, "error"): _gemini_error_problems for name in GOOGLE},
    ("ollama", "request"): _ollama_request_problems,
    ("ollama", "response"): _ollama_response_problems,
    ("ollama", "error"): _ollama_error_problems,
    **{(name, "frame"): partial(_as_model, load) for name, load in _FRAMES.items()},
    **{(name, "frame"): partial(_gemini_response_problems, name) for name in GOOGLE},
    ("ollama", "frame"): _ollama_response_problems,
    ("gemini-interactions", "request"): _strictly(
        lambda body: shape_of("gemini-interactions", "request", body)
    ),
    ("gemini-interactions", "response"): lambda body: _as_model(_interaction, body, strict=False),
    ("gemini-interactions", "frame"): lambda body: _as_model(
        _interaction_event, body, strict=False
    ),
    ("bedrock-converse", "request"): _bedrock_request_problems,
    **{
        ("bedrock-converse", unit): partial(_bedrock_problems, unit)
        for unit in ("response", "error", "frame")
    },
}
if find_spec("cohere") is not None:
    _JUDGES |= {
        ("cohere", "request"): _strictly(lambda body: shape_of("cohere", "request", body)),
        ("cohere", "response"): lambda body: _as_model(_cohere_completion, body, strict=False),
    }
if find_spec("mistralai") is not None:
    _JUDGES |= {
        ("mistral", "request"): _strictly(lambda body: shape_of("mistral", "request", body)),
        ("mistral", "response"): lambda body: _as_model(_mistral_completion, body, strict=False),
    }


# Errors, told shortly: of a union only the member that comes nearest.


@dataclass(slots=True)
class _Problem:
    where: tuple[str | int, ...]
    text: str


def _told(error: ValidationError) -> Iterator[str]:
    found = [_Problem(entry["loc"], entry["msg"]) for entry in error.errors(include_url=False)]
    for problem in _nearest(found, 0):
        steps = [str(step) for step in problem.where if not _is_label(step)]
        pointer = "".join(f"/{s.replace('~', '~0').replace('/', '~1')}" for s in steps)
        yield f"{pointer}: {problem.text}"


def _nearest(found: list[_Problem], depth: int) -> list[_Problem]:
    """Keep, of the errors of a union's members, those of the member with the fewest."""
    groups: dict[str | int | None, list[_Problem]] = {}
    for problem in found:
        key = problem.where[depth] if depth < len(problem.where) else None
        groups.setdefault(key, []).append(problem)
    labels = [key for key in groups if _is_label(key)]
    if len(labels) > 1:
        best = min(labels, key=lambda label: _distance(groups[label], depth + 1))
        groups = {key: group for key, group in groups.items() if key == best or key not in labels}
    kept: list[_Problem] = []
    for key, group in groups.items():
        kept.extend(group if key is None else _nearest(group, depth + 1))
    return kept


def _distance(group: list[_Problem], depth: int) -> tuple[bool, int, int]:
    """Rank a union's member: a wrong kind of value or a wrong word is further off than a key."""
    outright = any(all(_is_label(step) for step in p.where[depth:]) for p in group)
    return outright, sum(p.text.startswith("Input should be") for p in group), len(group)


def _is_label(step: object) -> bool:
    # Our unions label their members; pydantic labels those of the SDK's models by class.
    return isinstance(step, str) and (step.startswith("|") or step[:1].isupper() or "[" in step)
