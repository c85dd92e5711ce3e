"""What botocore's own model says of Converse, as shapes, and what the service refuses besides.

The second is `../shared/tools/validate_bedrock.py`; without it only the shapes are asked.
"""

from __future__ import annotations

import base64
import importlib.util
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from wireglot.authoring.sdktypes import Field, Shape
from wireglot.streaming import eventstream

from .leaves import difference

Json = Any
TOOL = Path(__file__).parents[3] / "shared" / "tools" / "validate_bedrock.py"
MODEL = "anthropic.claude-opus-4-6-v1"  # in the path; it thinks by a budget or as it likes
_SCALARS: dict[str, Any] = {
    "string": "text", "blob": "base64", "integer": "integer", "long": "integer",
    "float": "number", "double": "number", "boolean": "boolean", "timestamp": "text",
}  # fmt: skip


@cache
def service() -> Any:
    """Return botocore's model of the service."""
    import botocore.session

    return botocore.session.get_session().get_service_model("bedrock-runtime")


@cache
def shape(unit: str) -> Shape:
    """Return the shape of a request, a response, an error or a frame."""
    whole = service().operation_model("Converse")
    if unit == "error":
        return Shape("object", "Error", {"message": Field(Shape("text"), True, ("message",))})
    if unit == "frame":
        streamed = service().operation_model("ConverseStream").output_shape
        return _of(streamed.members["stream"], {})
    made = _of(whole.input_shape if unit == "request" else whole.output_shape, {})
    if unit == "request":
        del made.fields["modelId"]
    return made


def _of(given: Any, seen: dict[str, Shape]) -> Shape:
    kind = given.type_name
    if kind == "structure":
        if getattr(given, "is_document_type", False):
            return Shape("any")
        if given.name not in seen:
            made = seen[given.name] = Shape("object", given.name)
            for key, inner in given.members.items():
                required = key in given.required_members
                made.fields[key] = Field(_of(inner, seen), required, (key,))
        return seen[given.name]
    if kind == "list":
        return Shape("list", item=_of(given.member, seen))
    if kind == "map":
        return Shape("map", item=_of(given.value, seen))
    words = given.metadata.get("enum")
    return Shape("words", words=tuple(words)) if words else Shape(_SCALARS[kind])


@cache
def tool() -> ModuleType | None:
    """Return the validator of `../shared`, where that is."""
    spec = importlib.util.spec_from_file_location("validate_bedrock", TOOL)
    if not TOOL.is_file() or spec is None or spec.loader is None:
        return None
    made = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(made)
    return made


def refused(body: Json) -> Iterator[str]:
    """Say what the service has against a request that has the right shape."""
    found = tool()
    if found is not None:
        yield from found.check({"modelId": MODEL, **body})


def heard(frames: list[Json]) -> list[str]:
    """Send frames as botocore gets them, binary; say where its parser gives other events."""
    from botocore.eventstream import EventStream
    from botocore.parsers import EventStreamJSONParser

    events = [frame for frame in frames if isinstance(frame, dict)]
    output = service().operation_model("ConverseStream").output_shape.members["stream"]
    raw = SimpleNamespace(stream=lambda: iter([b"".join(map(eventstream.as_bytes, events))]))
    read = iter(EventStream(raw, output, EventStreamJSONParser(), "ConverseStream"))
    told: list[str] = []
    for event in events:
        given = next(read, None)
        known = _known(event, shape("frame"))
        problem = "nothing came" if given is None else difference(known, given)
        told += [f"{next(iter(event))}: {problem}"] if problem else []
    return told


def _known(value: Json, of: Shape | None) -> Json:
    """Leave out keys that botocore's model does not know, and give bytes, as its parser does."""
    if of is not None and of.kind == "base64" and isinstance(value, str):
        return base64.b64decode(value)
    if of is None or of.kind not in ("object", "list"):
        return value
    if isinstance(value, dict):
        inner = {key: field.shape for key, field in of.fields.items()}
        return {key: _known(v, inner[key]) for key, v in value.items() if key in inner}
    return [_known(v, of.item) for v in value] if isinstance(value, list) else value
