"""The pydantic models of the IR: both spellings in, both spellings out, nothing lost between."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pydantic = pytest.importorskip("pydantic", reason="the `models` extra is not installed")

from wireglot import models  # noqa: E402

from . import width  # noqa: E402

WORDS = st.text(max_size=8)
KEYS = st.text(min_size=1, max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, JSON, max_size=3)
NUMBERS = st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False)


def shaped(
    required: dict[str, st.SearchStrategy[Any]],
    optional: dict[str, st.SearchStrategy[Any]] | None = None,
) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects of the IR, some of them with what any IR object may hold."""
    memory = {"own": st.dictionaries(st.just("gemini"), OBJECTS, max_size=1)} | dict.fromkeys(
        ("kept", "spelled"), st.dictionaries(st.just("anthropic"), OBJECTS, max_size=1)
    )
    return st.fixed_dictionaries(required, optional=(optional or {}) | memory)


def tagged(
    word: str,
    required: dict[str, st.SearchStrategy[Any]],
    optional: dict[str, st.SearchStrategy[Any]] | None = None,
) -> st.SearchStrategy[dict[str, Any]]:
    return shaped({"type": st.just(word)} | required, optional)


NATIVES = st.fixed_dictionaries(
    {"type": st.just("native"), "own": st.dictionaries(st.just("gemini"), OBJECTS, min_size=1)},
    optional={"name": WORDS},
)
SIGNATURES = st.fixed_dictionaries({"value": WORDS}, optional={"origin": st.just("gemini")})
SOURCES = st.one_of(
    tagged("base64", {"data": WORDS}, {"media_type": WORDS}),
    tagged("url", {"url": WORDS}, {"media_type": WORDS}),
    tagged("file_id", {"file": SIGNATURES}),
    tagged("text", {"text": WORDS}),
    tagged("blocks", {"blocks": st.lists(OBJECTS, max_size=2)}),
)
TEXTS = tagged("text", {"text": WORDS})
BLOCKS = st.one_of(
    TEXTS,
    *(
        tagged(kind, {"source": SOURCES}, {"filename": WORDS, "detail": WORDS})
        for kind in ("image", "audio", "video", "document", "file")
    ),
)
CALLS = st.one_of(
    tagged(
        "tool_call",
        {"id": WORDS, "name": WORDS, "arguments": OBJECTS},
        {"arguments_json": WORDS, "signature": SIGNATURES, "metadata": OBJECTS},
    ),
    *(
        tagged("tool_call", {"id": WORDS, "name": WORDS, way: WORDS})
        for way in ("input", "arguments_text")
    ),
)


def result(kind: str, value: st.SearchStrategy[Any], **more: Any) -> st.SearchStrategy[Any]:
    return tagged(
        "tool_result",
        {"tool_call_id": WORDS, "name": WORDS, "kind": st.just(kind), "value": value},
        more,
    )


PAGES = shaped({"url": WORDS}, {"title": WORDS, "signature": SIGNATURES})
RESULTS = st.one_of(
    result("text", WORDS, failed=st.booleans()),
    result("error", WORDS),
    result("data", JSON, failed=st.booleans(), value_json=WORDS),
    result("multimodal", st.lists(BLOCKS, max_size=2), failed=st.booleans()),
)
PARTS = st.one_of(
    BLOCKS,
    CALLS,
    RESULTS,
    tagged("reasoning", {}, {"text": WORDS, "signature": SIGNATURES, "redacted": st.booleans()}),
    tagged("refusal", {"text": WORDS}),
    tagged("search", {"id": WORDS, "arguments": OBJECTS}),
    tagged(
        "finding", {"search_id": WORDS}, {"error": WORDS, "results": st.lists(PAGES, max_size=2)}
    ),
    tagged("unknown", {"dialect": WORDS, "value": JSON}),
    NATIVES,
)
MESSAGES = shaped(
    {
        "role": st.sampled_from(("system", "user", "assistant", "tool")),
        "parts": st.lists(PARTS, max_size=2),
    },
    {"level": WORDS, "name": WORDS},
)
FUNCTIONS = shaped(
    {"name": WORDS},
    {"description": WORDS, "parameters": OBJECTS, "strict": st.booleans()},
)
TOOLS = st.one_of(
    FUNCTIONS,
    tagged("custom", {"name": WORDS}, {"description": WORDS, "format": OBJECTS}),
    NATIVES,
)
NAMED = st.fixed_dictionaries({"name": WORDS, "freeform": st.just(True)})
CHOICES = st.one_of(
    st.sampled_from(("auto", "none", "required")),
    st.fixed_dictionaries({"name": WORDS}),
    st.fixed_dictionaries(
        {
            "allowed": st.lists(WORDS | NAMED, max_size=2),
            "mode": st.sampled_from(("auto", "required")),
        }
    ),
)
REQUESTS = shaped(
    {"messages": st.lists(MESSAGES, max_size=2)},
    {
        "model": WORDS,
        "tools": st.lists(TOOLS, max_size=2),
        "tool_choice": CHOICES,
        "parallel_tool_calls": st.booleans(),
        "max_tokens": st.integers(),
        "temperature": NUMBERS,
        "top_p": NUMBERS,
        "stop": st.lists(WORDS, max_size=2),
        "reasoning": shaped({}, {"effort": WORDS, "budget": st.integers()}),
        "response_format": tagged("json_schema", {"schema": OBJECTS}, {"name": WORDS}),
        "metadata": OBJECTS,
        "stream": st.booleans(),
    },
)
COUNTS = st.integers(0, 9)
USAGES = shaped(
    {},
    dict.fromkeys(("input", "cache_read", "cache_write", "output", "reasoning"), COUNTS)
    | {"by": OBJECTS},
)
RESPONSES = shaped(
    {
        "candidates": st.lists(
            shaped(
                {"parts": st.lists(PARTS, max_size=2)}, {"stop_reason": WORDS, "cache": OBJECTS}
            ),
            max_size=2,
        )
    },
    {"id": WORDS, "model": WORDS, "created": st.integers(), "usage": USAGES},
)
KINDS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "call": (models.ToolCall, CALLS),
    "result": (models.ToolResult, RESULTS),
    "tool": (models.ToolDefinition, FUNCTIONS),
    "choice": (models.ToolChoice, CHOICES),
    "message": (models.Message, MESSAGES),
    "request": (models.Request, REQUESTS),
    "response": (models.Response, RESPONSES),
    "usage": (models.Usage, USAGES),
}


def text_of(value: object) -> str:
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=width.times(40, 20), deadline=None)
@given(data=st.data())
def test_a_dict_becomes_a_model_and_the_same_dict_again(kind: str, data: st.DataObject) -> None:
    model, values = KINDS[kind]
    value = data.draw(values)
    before = copy.deepcopy(value)
    dumped = model.model_validate(value).dump()
    assert dumped == before
    assert text_of(dumped) == text_of(before)
    assert text_of(value) == text_of(before), "the input was changed"


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=width.times(40, 20), deadline=None)
@given(data=st.data())
def test_camel_case_json_reads_back_as_the_same_dict(kind: str, data: st.DataObject) -> None:
    model, values = KINDS[kind]
    value = data.draw(values)
    camel = model.model_validate(value).dump(by_alias=True)
    assert text_of(model.model_validate(camel).dump()) == text_of(value)


def test_seed_000_json_is_what_the_aliases_give() -> None:
    call = models.ToolCall(id="call_123", name="get_weather", arguments={"some_key": 1})
    assert call.dump() == {
        "type": "tool_call",
        "id": "call_123",
        "name": "get_weather",
        "arguments": {"some_key": 1},
    }
    assert call.dump(by_alias=True) == {
        "id": "call_123",
        "name": "get_weather",
        "arguments": {"some_key": 1},
    }
    answer = models.ToolResult.model_validate(
        {"toolCallId": "call_123", "name": "get_weather", "kind": "text", "value": "sunny"}
    )
    assert answer.dump() == {
        "type": "tool_result",
        "tool_call_id": "call_123",
        "name": "get_weather",
        "kind": "text",
        "value": "sunny",
    }
    assert answer.dump(by_alias=True) == {
        "toolCallId": "call_123",
        "name": "get_weather",
        "kind": "text",
        "value": "sunny",
    }
    tool = {"name": "f", "description": "d", "parameters": {"type": "object"}, "strict": True}
    assert models.ToolDefinition.model_validate(tool).dump(by_alias=True) == tool


def test_seed_000_metadata_is_kept_in_both_spellings() -> None:
    seed = {"id": "c", "name": "f", "arguments": {}, "metadata": {"thoughtSignature": "abc"}}
    call = models.ToolCall.model_validate(seed)
    assert call.metadata == {"thoughtSignature": "abc"}
    assert call.dump(by_alias=True) == seed
    assert call.dump() == {"type": "tool_call"} | seed


@pytest.mark.parametrize("choice", ["auto", "none", "required", {"name": "get_weather"}])
def test_the_four_tool_choices_of_seed_000_are_taken(choice: Any) -> None:
    assert models.ToolChoice.model_validate(choice).dump() == choice
    assert models.ToolChoice(choice).dump(by_alias=True) == choice


def test_parts_keep_their_type_in_both_spellings() -> None:
    message = models.Message.model_validate(
        {
            "role": "tool",
            "parts": [
                {"type": "tool_result", "toolCallId": "c", "name": "f", "kind": "data", "value": 1}
            ],
        }
    )
    assert isinstance(message.parts[0], models.ToolResult)
    assert message.dump(by_alias=True)["parts"][0]["type"] == "tool_result"
    assert message.dump()["parts"][0]["tool_call_id"] == "c"


def test_the_blocks_of_a_multimodal_result_are_models() -> None:
    value = [{"type": "image", "source": {"type": "base64", "mediaType": "image/png", "data": "x"}}]
    answer = models.ToolResult(tool_call_id="c", name="f", kind="multimodal", value=value)
    (block,) = answer.value
    assert isinstance(block, models.Image)
    assert isinstance(block.source, models.Base64Source)
    assert answer.dump()["value"][0]["source"]["media_type"] == "image/png"
    assert value[0]["source"] == {"type": "base64", "mediaType": "image/png", "data": "x"}


def test_data_is_never_turned_into_blocks_or_respelled() -> None:
    value = [{"type": "text", "text": "x", "some_key": {"other_key": 1}}]
    answer = models.ToolResult(tool_call_id="c", name="f", kind="data", value=value)
    assert answer.value == value
    assert answer.dump(by_alias=True)["value"] == value


@pytest.mark.parametrize(
    ("kind", "value", "advice"),
    [
        ("text", {"a": 1}, "is a string, and this one is an object: say kind `data`"),
        ("text", 25, "is a string, and this one is a number: say kind `data`"),
        ("error", None, "is a string, and this one is null: say kind `data`"),
        ("error", ["x"], "is a string, and this one is a list: say kind `data`"),
        ("multimodal", "x", "is a list of blocks, and this one is a string: put it into a list"),
        ("multimodal", [{"type": "zip"}], "and this one is not at `0`"),
        ("multimodal", [{"type": "image"}], "and this one is not at `0/image/source`"),
    ],
)
def test_a_value_that_is_not_what_its_kind_says_is_refused_with_advice(
    kind: str, value: Any, advice: str
) -> None:
    with pytest.raises(pydantic.ValidationError) as caught:
        models.ToolResult.model_validate(
            {"tool_call_id": "c", "name": "f", "kind": kind, "value": value}
        )
    assert advice in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "advice"),
    [
        ({}, "this one holds none of them: give one, `arguments: {}` for a call without"),
        ({"arguments": {}, "input": "x"}, "this one holds `arguments` and `input`: give one"),
        ({"input": "x", "argumentsText": "y"}, "this one holds `input` and `arguments_text`"),
    ],
)
def test_a_call_holds_exactly_one_of_three_and_the_message_says_so(
    fields: dict[str, Any], advice: str
) -> None:
    with pytest.raises(pydantic.ValidationError) as caught:
        models.ToolCall.model_validate({"id": "c", "name": "f"} | fields)
    assert advice in str(caught.value)


def test_an_error_does_not_say_twice_that_it_failed() -> None:
    with pytest.raises(pydantic.ValidationError, match="leave `failed` out"):
        models.ToolResult(tool_call_id="c", name="f", kind="error", value="x", failed=True)


def test_a_field_in_both_spellings_is_refused() -> None:
    both = {"tool_call_id": "a", "toolCallId": "b", "kind": "text", "value": "x"}
    with pytest.raises(pydantic.ValidationError, match="`tool_call_id` and `toolCallId` are one"):
        models.ToolResult.model_validate(both)


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_tokens", "5"), ("max_tokens", True), ("temperature", "1"), ("stream", 1)],
)
def test_types_are_not_guessed(field: str, value: Any) -> None:
    with pytest.raises(pydantic.ValidationError):
        models.Request.model_validate({"messages": [], field: value})


def test_whole_numbers_stay_whole() -> None:
    request = models.Request.model_validate({"messages": [], "temperature": 1, "topP": 1.0})
    assert text_of(request.dump()) == '{"messages": [], "temperature": 1, "top_p": 1.0}'


def test_deep_values_and_large_numbers_go_through() -> None:
    deep: Any = 10**400
    for _ in range(3000):
        deep = [deep]
    call = models.ToolCall(id="c", name="f", arguments={"deep": deep})
    arguments = call.dump()["arguments"]
    assert arguments["deep"] is deep


def test_what_the_engine_reads_is_taken_by_the_models() -> None:
    import wireglot

    rules = wireglot.load_rules()
    body = {
        "model": "m",
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Weather?"}], "x": 1},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{ }"}}
                ],
            },
            {"role": "tool", "tool_call_id": "c", "content": '{"t": 1}'},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "strict": True}}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "temperature": 1,
    }
    ir = rules["openai-chat"].read(body, unit="request").ir
    request = models.Request.model_validate(ir)
    assert request.dump() == ir
    assert rules["openai-chat"].write(request.dump(), unit="request").body == body
    assert models.Request.model_validate(request.dump(by_alias=True)).dump() == ir


def test_converting_does_not_import_pydantic() -> None:
    code = (
        "import sys, wireglot; "
        "wireglot.convert('auto', source='openai-chat', target='anthropic', unit='tool_choice'); "
        "sys.exit('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
