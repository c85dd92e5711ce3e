"""The compiled path equals the interpreter: bodies, notes, envelopes, on good and broken input."""

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
from wireglot.compiler.fast import Fast
from wireglot.compiler.state import State
from wireglot.notes import Note

from .mutate import inside_each_text, some

RULES = wireglot.packaged()
DIALECTS = ("openai-chat", "anthropic", "gemini", "vertex")
PAIRS = [(one, two) for one in DIALECTS for two in DIALECTS if one != two]
WEATHER = json.loads(
    (Path(__file__).parent.parent / "examples" / "weather" / "request.json").read_text("utf-8")
)
TRAFFIC = Path(__file__).parent.parent.parent / "shared" / "traffic"


def compiled(source: str, target: str) -> Fast:
    found = RULES._fast(source, target)
    assert found is not None, f"{source} to {target} was not compiled"
    return found


def same_json(one: Any, two: Any) -> bool:
    if isinstance(one, float) and isinstance(two, float) and math.isnan(one):
        return math.isnan(two)
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(same_json(one[k], two[k]) for k in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(same_json, one, two))
    return type(one) is type(two) and bool(one == two)


def counted(notes: Iterable[Note]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(map(str, note)) for note in notes)


def check(source: str, target: str, body: Any) -> int:
    """Assert that both ways agree; return the tier that was taken."""
    fast = compiled(source, target)
    try:
        meant: Any = RULES._interpreted(body, source, target, "request", "m", None, {})
    except wireglot.ConversionError as error:
        meant = error
    try:
        out, notes, envelope, *_ = fast.run(body, "m", None)
    except fast.leave:
        return 4
    assert not isinstance(meant, Exception), f"the interpreter refuses what was taken: {meant}"
    assert same_json(out, meant[0]), "the bodies differ"
    assert envelope == meant[2], "the envelopes differ"
    assert counted(notes) == counted(meant[1]), "the notes differ"
    return fast.tier(body)


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


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_clean_request_is_compiled_whole(source: str, target: str) -> None:
    assert check(source, target, weather(source)) == 1


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_broken_requests_convert_alike(source: str, target: str) -> None:
    body = weather(source)
    tiers = Counter(
        check(source, target, mutant) for mutant in some(body, 250, f"{source}{target}")
    )
    assert tiers[1] > 20 and tiers[3] > 5, f"the compiled path was not tried: {tiers}"


@pytest.mark.parametrize("sign", ["\ud800", "é"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_sign_inside_of_any_text_is_taken_alike(source: str, target: str, sign: str) -> None:
    tiers = Counter(check(source, target, body) for body in inside_each_text(weather(source), sign))
    assert tiers.total() > 20
    assert sign == "é" or tiers.keys() == {4}, "half of a surrogate pair was taken"


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_recorded_requests_convert_alike_and_mostly_compiled(source: str, target: str) -> None:
    tiers = Counter(check(source, target, body) for body in recorded(source))
    assert (tiers[1] + tiers[3]) / tiers.total() >= 0.9, tiers


def test_an_odd_message_is_recovered_alone() -> None:
    body = {**WEATHER, "messages": [dict(m) for m in WEATHER["messages"]]}
    body["messages"][0]["role"] = "developer"
    assert check("openai-chat", "anthropic", body) == 3
    notes = wireglot.convert(body, source="openai-chat", target="anthropic").notes
    assert "developer-as-system" in [note.code for note in notes]


@pytest.mark.parametrize("target", ["openai-chat", "gemini", "vertex"])
@pytest.mark.parametrize("told", [0, 1, 2])
def test_keys_beside_results_are_noted_where_the_interpreter_notes_them(
    target: str, told: int
) -> None:
    calls: list[Any] = [{"type": "tool_use", "id": i, "name": "f", "input": {}} for i in ("a", "b")]
    results: list[Any] = [
        {"type": "tool_result", "tool_use_id": i, "content": "r"} for i in ("a", "b")
    ]
    texts = [{"type": "text", "text": "t", "y": 2}] * (told == 1)
    talk: list[Any] = [{"role": "user", "content": "q"}, {"role": "assistant", "content": calls}]
    last = {"role": "user", "content": results + texts if told < 2 else "t", "x": {"a": 1}}
    messages = [*talk, last] if told < 2 else [talk[0], last]
    body = {"model": "m", "max_tokens": 9, "messages": messages}
    assert check("anthropic", target, body) == 1
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
NOTED = [  # what changes no course is noted by the compiled path itself
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
def test_what_changes_no_course_is_noted_by_the_compiled_path(
    source: str, target: str, turns: list[Any], path: str | None
) -> None:
    turns = [{"role": "user", "content": t} if isinstance(t, list) else t for t in turns]
    body = {"contents" if source == "gemini" else "messages": turns, "max_tokens": 9}
    if source == "gemini":
        del body["max_tokens"]
    assert check(source, target, body) == 1
    notes = wireglot.convert(body, source=source, target=target, model="m").notes
    assert [n.source_path for n in notes if n.effect == "lost"] == ([path] if path else [])


def test_a_field_of_a_tool_without_a_place_is_noted_by_the_compiled_path() -> None:
    tool = {**TOOL, "function": {**TOOL["function"], "strict": True}}
    body = {"messages": [{"role": "user", "content": "q"}], "tools": [TOOL, tool]}
    assert check("openai-chat", "gemini", body) == 1
    (note,) = wireglot.convert(body, source="openai-chat", target="gemini", model="m").notes
    assert (note.code, note.source_path) == ("no-place", "/tools/1/function/strict")


def test_one_object_that_stands_twice_is_left_to_the_interpreter() -> None:
    call = {**CHAT_CALL, "x": 1}
    turn = {"role": "assistant", "content": None, "tool_calls": [call, call]}
    assert check("openai-chat", "anthropic", {"messages": [turn]}) == 4


def test_a_result_in_a_turn_of_the_model_is_left_to_the_interpreter() -> None:
    call = {"functionCall": {"id": "c1", "name": "f", "args": {}}}
    result = {"functionResponse": {"id": "c1", "name": "f", "response": {"x": 1}}}
    turns = [{"role": "model", "parts": [call]}, {"role": "model", "parts": [result]}]
    body = {"contents": [{"role": "user", "parts": [{"text": "q"}]}, *turns]}
    assert check("gemini", "anthropic", body) == 4


def test_remembered_fields_are_not_shared_between_results() -> None:
    one = wireglot.convert(WEATHER, source="openai-chat", target="anthropic")
    one.body["tool_choice"]["type"] = "changed"
    two = wireglot.convert(WEATHER, source="openai-chat", target="anthropic")
    assert two.body["tool_choice"] == {"type": "auto"}
    assert one.envelope is not None and two.envelope is not None
    one.envelope.headers["changed"] = "yes"
    assert "changed" not in two.envelope.headers


def test_the_generated_code_shows_in_tracebacks() -> None:
    import linecache

    scope = compiled("openai-chat", "anthropic").request.__globals__
    file = "wireglot: openai-chat to anthropic"
    assert "def messages(" in linecache.getline(file, 1, scope)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (one, two)
        for one in ("anthropic", "gemini", "openai-chat")
        for two in ("anthropic", "gemini", "openai-chat")
        if one != two
    ],
)
def test_the_tools_of_a_plain_request_are_converted_by_generated_code(
    source: str, target: str
) -> None:
    # A request whose tools the interpreter converts each time is called compiled all the same.
    rules = wireglot.load_rules()
    body = workloads.request(source, "W1", 0)
    both = rules._both(body, source, target, "request", "m", {})
    fast = rules._fast(source, target, both)
    assert fast is not None
    assert fast.tools(body["tools"], State(fast, body))


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
        one, two = (
            RULES.convert(body, source, target, model="m", options=options)
            for options in ({}, {"engine": "interpreted"})
        )
        assert same_json(one.body, two.body)
        assert counted(one.notes) == counted(two.notes)


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


def test_a_request_that_generated_code_leaves_is_tried_once(monkeypatch: Any) -> None:
    message = {"role": "tool", "tool_call_id": "nobody", "content": "Hm."}
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}, message]}
    RULES.convert(weather("openai-chat"), "openai-chat", "anthropic")
    run, tried = Fast.run, []

    def counted_run(self: Fast, *given: Any) -> Any:
        tried.append(given)
        return run(self, *given)

    monkeypatch.setattr(Fast, "run", counted_run)
    for _ in range(2):
        tried.clear()
        RULES.convert(body, "openai-chat", "anthropic")
        assert len(tried) == 1
