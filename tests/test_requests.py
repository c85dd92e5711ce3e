"""Requests between dialects by functions and by the walk: bodies, notes, envelopes, errors."""

from __future__ import annotations

import gzip
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import wireglot
from benchmarks import workloads
from wireglot.notes import Note

from . import width
from .mutate import inside_each_text, some

RULES = wireglot.packaged()
DIALECTS = ("openai-chat", "anthropic", "gemini", "vertex")
PAIRS = [(one, two) for one in DIALECTS for two in DIALECTS if one != two]
WEATHER = json.loads(
    (Path(__file__).parent.parent / "examples" / "weather" / "request.json").read_text("utf-8")
)
TRAFFIC = Path(__file__).parent.parent.parent / "shared" / "traffic"


def same_json(one: Any, two: Any) -> bool:
    if isinstance(one, float) and isinstance(two, float) and math.isnan(one):
        return math.isnan(two)
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(same_json(one[k], two[k]) for k in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(same_json, one, two))
    if {type(one), type(two)} <= {int, float}:
        return bool(one == two)  # JSON knows no difference
    return type(one) is type(two) and bool(one == two)


def counted(notes: Iterable[Note]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(map(str, note)) for note in notes)


def check(source: str, target: str, body: Any, unit: str = "request") -> bool:
    """Assert that functions convert as the walk does; tell whether the body was taken."""
    told: list[Any] = []
    for trace in (False, True):
        try:
            told.append(RULES.convert(body, source, target, unit=unit, model="m", trace=trace))
        except (wireglot.ConversionError, wireglot.UsageError) as error:
            told.append(str(error))
    found, meant = told
    if isinstance(found, str) or isinstance(meant, str):
        assert found == meant
        return False
    assert same_json(found.body, meant.body), "the bodies differ"
    assert found.envelope == meant.envelope, "the envelopes differ"
    assert counted(found.notes) == counted(meant.notes), "the notes differ"
    return True


def recorded(name: str) -> Iterator[Any]:
    file = TRAFFIC / f"{'gemini' if name == 'vertex' else name}.jsonl.gz"
    if not file.is_file():
        pytest.skip("../shared/traffic is not here")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        # The recordings of a dialect that shares another's are tried there, too.
        for line in itertools.islice(lines, 0, None, 3 if name == "vertex" else 1):
            body = json.loads(line)["request"]
            if isinstance(body, dict):
                yield body


def weather(dialect: str) -> Any:
    # An object with the one key `error` is ambiguous in some dialects, which is noted.
    text = json.dumps(WEATHER).replace('{\\"error\\":\\"', '{\\"problem\\":\\"')
    body = json.loads(text)
    if dialect == "openai-chat":
        return body
    if dialect == "vertex":
        dialect = "gemini"  # calls with ids, which this dialect reads too
    return wireglot.convert(body, source="openai-chat", target=dialect).body


def pictured(dialect: str) -> Any:
    """Return a request with calls, results and an image."""
    body = workloads.request("openai-chat", "W1", 2)
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    body["messages"][1]["content"] = [{"type": "text", "text": "What is this?"}, image]
    if dialect == "openai-chat":
        return body
    like = "gemini" if dialect == "vertex" else dialect
    return wireglot.convert(body, source="openai-chat", target=like).body


@pytest.mark.parametrize("target", ["agent-sdk", "bedrock-converse", "mistral"])
def test_a_tool_that_has_no_place_is_told_alike(target: str) -> None:
    for tool in list[Any](({"zzz": {}}, {"urlContext": {}})):
        said = [{"role": "user", "parts": [{"text": "Hi"}]}]
        assert check("gemini", target, {"contents": said, "tools": [tool]})


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_broken_requests_convert_alike(source: str, target: str) -> None:
    body = weather(source)
    assert check(source, target, body)
    taken = [
        check(source, target, mutant)
        for mutant in some(body, width.times(100, 40), f"{source}{target}")
    ]
    assert taken.count(True) > width.times(20, 8)


@pytest.mark.parametrize("sign", ["\ud800", "é"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_sign_inside_of_any_text_is_taken_alike(source: str, target: str, sign: str) -> None:
    bodies = width.some(inside_each_text(weather(source), sign), 3)
    taken = [check(source, target, body) for body in bodies]
    assert len(taken) > 20
    assert any(taken) == (sign == "é"), "half of a surrogate pair has no place in UTF-8"


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_recorded_requests_convert_alike(source: str, target: str) -> None:
    taken = [check(source, target, body) for body in itertools.islice(recorded(source), 0, None, 9)]
    assert taken.count(True) > 5


@pytest.mark.parametrize("target", ["openai-chat", "gemini", "vertex"])
@pytest.mark.parametrize("told", [0, 1, 2])
def test_keys_beside_results_are_noted_where_they_stand(target: str, told: int) -> None:
    calls: list[Any] = [{"type": "tool_use", "id": i, "name": "f", "input": {}} for i in ("a", "b")]
    results: list[Any] = [
        {"type": "tool_result", "tool_use_id": i, "content": "r"} for i in ("a", "b")
    ]
    texts = [{"type": "text", "text": "t", "y": 2}] * (told == 1)
    talk: list[Any] = [{"role": "user", "content": "q"}, {"role": "assistant", "content": calls}]
    last = {"role": "user", "content": results + texts if told < 2 else "t", "x": {"a": 1}}
    messages = [*talk, last] if told < 2 else [talk[0], last]
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    assert check("anthropic", target, body)
    notes = wireglot.convert(body, source="anthropic", target=target).notes
    at = len(messages) - 1
    assert f"/messages/{at}/x" in [n.source_path for n in notes if n.code == "unknown-key"]


CHAT_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALL = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "x", "is_error": False}
FUNCTION_CALL = {"functionCall": {"id": "c1", "name": "f", "args": {}}, "thoughtSignature": "s"}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "f", "parameters": {"type": "object"}},
}
ASKS: dict[str, Any] = {"role": "user", "content": "q"}
NOTED = [
    ("openai-chat", "anthropic", [{"role": "user", "content": "q", "x": 1}], "/messages/0/x"),
    ("openai-chat", "gemini", [{"role": "user", "content": "q", "name": "n"}], "/messages/0/name"),
    (
        "openai-chat",
        "anthropic",
        [ASKS, {"role": "assistant", "content": None, "tool_calls": [{**CHAT_CALL, "x": [1]}]}],
        "/messages/1/tool_calls/0/x",
    ),
    (
        "anthropic",
        "openai-chat",
        [{"role": "assistant", "content": [{**CALL, "x": 1}, {**CALL, "id": "c2", "y": None}]}],
        "/messages/0/content/0/x",
    ),
    ("anthropic", "gemini", [ASKS, {"role": "assistant", "content": [CALL]}, [RESULT]], None),
    (
        "gemini",
        "anthropic",
        [{"role": "user", "parts": [{"text": "q"}]}, {"role": "model", "parts": [FUNCTION_CALL]}],
        "/contents/1/parts/0/thoughtSignature",
    ),
    ("gemini", "openai-chat", [{"parts": [{"text": "q", "thought": False}], "role": "user"}], None),
]


@pytest.mark.parametrize(("source", "target", "turns", "path"), NOTED)
def test_what_has_no_place_is_noted_where_it_stood(
    source: str, target: str, turns: list[Any], path: str | None
) -> None:
    turns = [{"role": "user", "content": t} if isinstance(t, list) else t for t in turns]
    body = {"contents" if source == "gemini" else "messages": turns, "max_tokens": 9}
    if source == "gemini":
        del body["max_tokens"]
    assert check(source, target, body)
    notes = wireglot.convert(body, source=source, target=target, model="m").notes
    assert [n.source_path for n in notes if n.effect == "lost"] == ([path] if path else [])


def test_a_note_points_to_the_way_that_was_taken_of_several_that_lose_something() -> None:
    cached = {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": "1",
        "cache_control": {"type": "ephemeral"},
    }
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    turns = [("user", [cached]), ("user", "?"), ("assistant", [call])]
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": role, "content": said} for role, said in turns],
    }
    assert check("anthropic", "openai-chat", body)
    notes = RULES.convert(body, "anthropic", "openai-chat").notes
    assert [note.target_path for note in notes if note.code == "moved"] == ["/messages/2"]


def test_a_field_of_a_tool_without_a_place_is_noted() -> None:
    tool = {**TOOL, "function": {**TOOL["function"], "name": "g", "strict": True}}
    body = {"messages": [{"role": "user", "content": "q"}], "tools": [TOOL, tool]}
    assert check("openai-chat", "gemini", body)
    (note,) = wireglot.convert(body, source="openai-chat", target="gemini", model="m").notes
    assert (note.code, note.source_path) == ("no-place", "/tools/1/function/strict")


def test_one_object_may_stand_twice() -> None:
    call = {**CHAT_CALL, "x": 1}
    turn = {"role": "assistant", "content": None, "tool_calls": [call, call]}
    assert check("openai-chat", "anthropic", {"messages": [turn]})


def test_a_result_may_stand_in_a_turn_of_the_model() -> None:
    call = {"functionCall": {"id": "c1", "name": "f", "args": {}}}
    result = {"functionResponse": {"id": "c1", "name": "f", "response": {"x": 1}}}
    turns = [{"role": "model", "parts": [call]}, {"role": "model", "parts": [result]}]
    body = {"contents": [{"role": "user", "parts": [{"text": "q"}]}, *turns]}
    assert check("gemini", "anthropic", body)


def test_nothing_is_shared_between_results() -> None:
    one = wireglot.convert(WEATHER, source="openai-chat", target="anthropic")
    one.body["tool_choice"]["type"] = "changed"
    two = wireglot.convert(WEATHER, source="openai-chat", target="anthropic")
    assert two.body["tool_choice"] == {"type": "auto"}
    assert one.envelope is not None and two.envelope is not None
    one.envelope.headers["changed"] = "yes"
    assert "changed" not in two.envelope.headers


SAID_NOTHING: dict[str, list[dict[str, Any]]] = {
    "gemini": [{"role": "model", "parts": [{"text": ""}]}],
    "anthropic": [
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": [{"type": "text", "text": ""}]},
    ],
    "openai-chat": [
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": [{"type": "text", "text": ""}]},
    ],
    "ollama": [{"role": "assistant", "content": ""}],
}


@pytest.mark.parametrize("target", [*DIALECTS, "ollama"])
@pytest.mark.parametrize("source", SAID_NOTHING)
def test_a_text_of_nothing_is_the_same_text_in_both(source: str, target: str) -> None:
    key = "contents" if source == "gemini" else "messages"
    for message in SAID_NOTHING[source]:
        body = {"model": "m", "max_tokens": 9, key: [message]}
        assert check(source, target, body)


@pytest.mark.parametrize("target", ["anthropic", "gemini", "vertex"])
@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,SGk=", "detail": "low"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,SGk="}},
        {"type": "input_audio", "input_audio": {"data": "SGk=", "format": "wav"}},
    ],
    ids=["image", "file", "audio"],
)
@pytest.mark.parametrize("role", ["system", "developer"])
def test_what_is_no_text_in_a_system_message_is_lifted_alike(
    role: str, part: Any, target: str
) -> None:
    for parts in ([part], [{"type": "text", "text": "Be brief."}, part]):
        for more in ([], [{"role": "user", "content": "Hi"}]):
            body = {"model": "m", "messages": [{"role": role, "content": parts}, *more]}
            check("openai-chat", target, body)
