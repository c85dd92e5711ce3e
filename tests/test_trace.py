"""A trace names where each leaf of an output comes from, and what became of each of an input."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot.traces import Fate, Origin, Step

from . import sweep, traces, width
from .family import heads
from .oracles import sdk
from .oracles.leaves import leaves, pointer_of
from .test_traffic import FILES, sample

ROOT = Path(__file__).resolve().parents[1]
RULES = wireglot.packaged()
TARGETS = [name for name in heads(RULES.dialects) if "request" in RULES[name].model.units]
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Oslo", "days": [1, 2]}'},
}
TALK = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Sunny"},
    ],
    "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {}}}],
    "tool_choice": "required",
    "max_tokens": None,
    "logprobs": True,
    "x_odd": 1,
}


def traced(target: str, body: Any = TALK, **more: Any) -> wireglot.Trace:
    found = RULES.convert(body, "openai-chat", target, trace=True, **more).trace
    assert found is not None
    return found


def ways(origin: Origin) -> list[str]:
    return [step.way for step in origin.steps]


def sources(trace: wireglot.Trace, target: str) -> tuple[str, ...]:
    return trace.origins[target].sources


def test_a_value_names_its_source_and_the_rule_that_wrote_it() -> None:
    origin = traced("anthropic").origins["/messages/0/content"]
    assert origin.sources == ("/messages/1/content",)
    assert origin.rule is not None
    file, line, column = origin.rule.rsplit(":", 2)
    text = (ROOT / file).read_text("utf-8").splitlines()[int(line) - 1]
    assert text[int(column) - 1 :].startswith("$parts each part | text (or list)")
    assert ways(origin) == ["read", "codec", "hole", "codec"]


def test_json_text_is_the_source_of_each_leaf_that_it_holds() -> None:
    found = traced("anthropic")
    below = found.of_target("/messages/1/content/0/input")
    assert {at[-5:] for at in below} == {"/city", "ays/0", "ays/1"}
    source = "/messages/2/tool_calls/0/function/arguments"
    assert all(origin.sources == (source,) for origin in below.values())
    assert found.fates[source] == Fate("carried", tuple(below), None, None)
    assert (
        Step("codec", "json", below[next(iter(below))].steps[0].rule)
        in next(iter(below.values())).steps
    )


def test_a_leaf_within_data_names_the_very_leaf() -> None:
    body = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
    request = {"model": "m", "messages": [], "tools": [{"type": "function", "function": body}]}
    found = traced("gemini", request)
    target = "/tools/0/functionDeclarations/0/parameters/properties/a/type"
    assert sources(found, target) == ("/tools/0/function/parameters/properties/a/type",)


def test_fixed_words_name_what_chose_them() -> None:
    found = traced("anthropic")
    assert sources(found, "/messages/1/role") == ("/messages/2/role",)
    assert sources(found, "/tool_choice/type") == ("/tool_choice",)
    assert found.fates["/tool_choice"] == Fate("decided", ("/tool_choice/type",), None, None)
    assert found.fates["/messages/0/role"].kind == "decided"
    assert found.fates["/messages/0/role"].targets == ("/system",)


def test_a_word_within_a_field_that_chose_a_case_has_a_fate() -> None:
    said = [{"role": "user", "content": "Hi"}]
    body = {"model": "m", "messages": said, "response_format": {"type": "json_object"}}
    done = RULES.convert(body, "openai-chat", "gemini-interactions", trace=True)
    assert done.trace is not None
    assert sources(done.trace, "/response_format/mime_type") == ("/response_format/type",)
    assert done.trace.fates["/response_format/type"].kind == "decided"


def test_names_that_are_made_are_the_same_with_a_trace() -> None:
    said = {"type": "content", "content": [{"type": "text", "text": "A"}]}
    user = {"role": "user", "content": [{"type": "document", "source": said}]}
    body = {"model": "m", "max_tokens": 3, "messages": [user]}
    plain = RULES.convert(body, "anthropic", "bedrock-converse")
    assert RULES.convert(body, "anthropic", "bedrock-converse", trace=True).body == plain.body


def test_a_word_that_two_fields_chose_names_both() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    head = {"id": "r", "object": "response", "created_at": 7, "model": "m"}
    body = {**head, "incomplete_details": None, "status": "completed", "output": [call]}
    done = RULES.convert(body, "openai-responses", "gemini", unit="response", trace=True)
    assert done.trace is not None
    assert done.body["candidates"][0]["finishReason"] == "STOP"
    chosen = sources(done.trace, "/candidates/0/finishReason")
    assert set(chosen) == {"/status", "/incomplete_details", "/output"}


def test_what_the_rule_fills_in_has_no_source_but_the_null_that_stood_there() -> None:
    found = traced("anthropic")
    assert ways(found.origins["/max_tokens"]) == ["filled-in"]
    assert sources(found, "/max_tokens") == ("/max_tokens",)
    body = {key: value for key, value in TALK.items() if key != "max_tokens"}
    assert sources(traced("anthropic", body), "/max_tokens") == ()


def test_calls_and_results_in_a_text_are_all_its_sources() -> None:
    calls = [{**CALL, "id": one, "function": {"name": one, "arguments": "{}"}} for one in "ab"]
    results = [{"role": "tool", "tool_call_id": one, "content": "1"} for one in "ab"]
    said = {"role": "assistant", "content": None, "tool_calls": calls}
    found = traced("hermes", {"messages": [USER, said, *results]})
    for nth in (0, 1):
        assert f"/messages/1/tool_calls/{nth}/function/name" in found.fates
        at = f"/messages/1/tool_calls/{nth}/function/name"
        assert at in sources(found, "/conversations/1/value")
        assert at in sources(found, "/conversations/2/value")


def test_a_word_without_a_form_is_lost_and_what_stands_for_it_filled_in() -> None:
    body: Any = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    body |= {"stop_reason": "no such word", "usage": {"input_tokens": 1, "output_tokens": 1}}
    found = RULES.convert(body, "anthropic", "otel-genai", unit="response", trace=True).trace
    assert found is not None
    assert ways(found.origins["/gen_ai.output.messages/0/finish_reason"]) == ["filled-in"]
    assert found.fates["/stop_reason"].kind == "lost"


def test_a_trace_takes_the_case_that_holds_most() -> None:
    counts: Any = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    counts["prompt_tokens_details"] = {"audio_tokens": 1, "video_tokens": 1}
    message = {"role": "assistant", "content": "Hi"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body: Any = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    body |= {"choices": [choice], "usage": counts}
    for trace in (False, True):
        out = RULES.convert(body, "openrouter", "ag-ui", unit="response", trace=trace)
        assert out.body["usage"][0]["inputTokens"] == 3


def test_losses_have_the_code_and_the_rule_of_their_note() -> None:
    out = RULES.convert(TALK, "openai-chat", "anthropic", trace=True)
    assert out.trace is not None
    for note in out.notes:
        if note.effect == "lost":
            assert out.trace.fates[note.source_path or ""] == Fate("lost", (), note.code, note.rule)
    assert out.trace.fates["/x_odd"].code == "unknown-key"


def test_a_place_that_is_the_whole_text_says_nothing_where_citations_have_none() -> None:
    cited = {"start_index": 0, "end_index": 2, "url": "https://example.com", "title": "t"}
    message: Any = {"role": "assistant", "content": "Hi"}
    message |= {"annotations": [{"type": "url_citation", "url_citation": cited}]}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    out = RULES.convert(
        {"id": "c", "choices": [choice]}, "openai-chat", "anthropic", "response", trace=True
    )
    assert out.trace is not None
    at = "/choices/0/message/annotations/0/url_citation"
    found = {key: out.trace.fates[f"{at}/{key}"].kind for key in cited}
    assert found == {
        "start_index": "silent",
        "end_index": "silent",
        "url": "carried",
        "title": "carried",
    }


def test_nulls_copies_and_sums_say_nothing_themselves() -> None:
    fates = traced("anthropic").fates
    assert fates["/messages/2/content"].kind == "silent"
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    out = RULES.convert(usage, "openai-chat", "anthropic", "usage", trace=True)
    assert out.trace is not None
    assert out.trace.fates["/total_tokens"].code == "it is the sum of others"
    assert out.trace.fates["/prompt_tokens"].targets == ("/input_tokens",)


def test_a_term_that_was_solved_names_all_that_it_was_solved_with() -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 3}}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, **details}
    out = RULES.convert(usage, "openai-chat", "anthropic", "usage", trace=True)
    assert out.trace is not None
    both = {"/prompt_tokens", "/prompt_tokens_details/cached_tokens"}
    assert set(sources(out.trace, "/input_tokens")) == both


def test_the_name_of_a_result_comes_from_its_call() -> None:
    found = traced("gemini")
    name = "/messages/2/tool_calls/0/function/name"
    assert sources(found, "/contents/2/parts/0/functionResponse/name") == (name,)
    assert len(found.fates[name].targets) == 2


def test_a_name_within_a_group_comes_from_both() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "n", "namespace": "g"}
    body = {"model": "m", "input": [{**call, "arguments": "{}"}]}
    trace = RULES.convert(body, "openai-responses", "anthropic", trace=True).trace
    assert trace is not None
    target = "/messages/1/content/0/name"
    assert sources(trace, target) == ("/input/0/name", "/input/0/namespace")
    assert trace.fates["/input/0/namespace"].targets == (target,)


def test_the_type_of_media_has_a_fate_where_its_base64_is_written_anew() -> None:
    said = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgoAA_AA"}}
    body = {"contents": [{"role": "user", "parts": [said]}]}
    trace = RULES.convert(body, "gemini", "ollama", model="m", trace=True).trace
    assert trace is not None
    fates = {path.rpartition("/")[2]: (fate.kind, fate.code) for path, fate in trace.fates.items()}
    assert fates["mimeType"] == ("decided", None)
    assert fates["data"] == ("changed", "re-encoded")


def test_a_fixed_word_within_a_text_names_what_chose_it() -> None:
    """The type of a document stands in the picture of its case; the data alone is filled in."""
    document = {"document": {"format": "pdf", "name": "d", "source": {"bytes": "aGk="}}}
    body = {"messages": [{"role": "user", "content": [document]}]}
    found = RULES.convert(body, "bedrock-converse", "openai-responses", trace=True).trace
    assert found is not None
    at = "/messages/0/content/0/document"
    data = found.origins["/input/0/content/0/file_data"]
    assert data.sources == (f"{at}/source/bytes", f"{at}/format")


def test_the_envelope_has_places_too() -> None:
    found = traced("gemini")
    assert sources(found, "envelope:/model") == ("/model",)
    assert found.fates["/model"].targets == ("envelope:/model", "envelope:/path")
    body = {key: value for key, value in TALK.items() if key != "model"}
    assert ways(traced("gemini", body, model="m").origins["envelope:/model"])[0] == "argument"


def test_words_of_tables_name_their_row() -> None:
    choice = {"index": 0, "finish_reason": "length", "message": {"role": "assistant"}}
    body = {"object": "chat.completion", "id": "a", "model": "m", "created": 1, "choices": [choice]}
    out = RULES.convert(body, "openai-chat", "anthropic", "response", trace=True)
    assert out.trace is not None
    steps = [step for step in out.trace.origins["/stop_reason"].steps if step.way == "table"]
    assert [step.what for step in steps] == [
        "finish_reason: length -> max_tokens",
        "stop_reason: max_tokens -> max_tokens",
    ]
    assert len({step.rule for step in steps}) == 2


def test_rows_of_the_ladder_and_hooks_are_steps() -> None:
    body = {"functionCall": {"name": "f", "args": {}}}
    talk = {"contents": [{"role": "model", "parts": [body]}]}
    out = RULES.convert(talk, "gemini", "openai-chat", model="m", trace=True)
    assert out.trace is not None
    made = out.trace.origins["/messages/0/tool_calls/0/id"]
    assert made.sources == ()
    assert ways(made)[0] == "hook"
    refusal = {"role": "assistant", "refusal": "No."}
    request = {"model": "m", "messages": [{"role": "user", "content": "a"}, refusal]}
    text = traced("anthropic", request)
    below = text.of_target("/messages/1/content")
    assert any("ladder" in ways(origin) for origin in below.values())
    assert text.fates["/messages/1/refusal"].targets


def test_an_object_where_a_list_may_stand_has_no_place_in_a_list() -> None:
    tools = {"functionDeclarations": [{"name": "f", "x_odd": 1}]}
    body = {"contents": [{"role": "user", "parts": [{"text": "a"}]}], "tools": tools}
    out = RULES.convert(body, "gemini", "openai-chat", model="m", trace=True)
    assert out.trace is not None
    name = "/tools/functionDeclarations/0/name"
    assert sources(out.trace, "/tools/0/function/name") == (name,)
    lost = [note.source_path for note in out.notes if note.code == "unknown-key"]
    assert lost == ["/tools/functionDeclarations/0/x_odd"]


def test_bare_texts_beside_a_picture_have_places() -> None:
    text, link = {"type": "text", "text": "Look:"}, "https://a.example/b.png"
    said = [text, {"type": "image_url", "image_url": {"url": link}}]
    body = {"messages": [{"role": "user", "content": said}]}
    found = traced("pydantic-ai", body, unit="session")
    assert found.fates.keys() >= {pointer_of(steps) for steps, _ in leaves(body)}
    assert sources(found, "/0/parts/0/content/0") == ("/messages/0/content/0/text",)


LOG = [
    {"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z",
     "lastUpdated": "2026-01-01T00:00:00Z"},
    {"id": "a", "timestamp": "2026-01-01T00:00:01Z", "type": "user", "content": "Hi"},
    {"$set": {"lastUpdated": "2026-01-01T00:00:02Z", "summary": "S"}},
    {"id": "b", "timestamp": "2026-01-01T00:00:02Z", "type": "gemini", "content": "Hel"},
    {"id": "b", "timestamp": "2026-01-01T00:00:03Z", "type": "gemini", "content": "Hello"},
    {"id": "c", "timestamp": "2026-01-01T00:00:04Z", "type": "user", "content": "No"},
    {"$rewindTo": "c"},
    {"$set": {"summary": "T"}},
]  # fmt: skip


def test_equal_texts_that_are_one_object_have_each_its_place() -> None:
    said = "a"  # Python has one object for all texts of one sign
    message = {"role": "assistant", "reasoning_content": said, "content": said}
    body = {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    found = RULES.convert(body, "xai", "lm-studio", "response", trace=True).trace
    assert found is not None
    for key in ("reasoning_content", "content"):
        place = f"/choices/0/message/{key}"
        assert sources(found, place) == (place,)
        assert found.fates[place].kind == "carried"


def test_each_leaf_of_a_log_has_a_fate_and_the_head_its_place() -> None:
    out = RULES.convert(LOG, "gemini-cli", "openclaw", "session", trace=True)
    assert out.trace is not None
    found = out.trace.fates
    assert found.keys() == {pointer_of(steps) for steps, _ in leaves(LOG)}
    anew = ("/0/lastUpdated", "/2/$set/summary", "/3/id", "/3/content", "/6/$rewindTo")
    assert {found[at].kind for at in anew} == {"silent"}
    assert (found["/5/content"].code, found["/7/$set/summary"].code) == ("no-message", "own-field")
    told = {note.source_path for note in out.notes if note.source_path}
    assert told == {"/5", "/0/projectHash", "/2/$set/lastUpdated", "/7/$set/summary"}
    plain = RULES.convert(LOG, "gemini-cli", "openclaw", "session").notes
    assert list(map(str, plain)) == list(map(str, out.notes))


@pytest.mark.parametrize(
    ("target", "made", "again", "of"),
    [
        ("opencode", "/messages/0/info/id", "/messages/1/info/parentID", None),
        ("opencode", None, "/messages/1/info/sessionID", "/info/id"),
        ("atif", "/steps/1/step_id", None, None),
        ("openclaw", None, "/2/parentId", "/1/id"),
    ],
)
def test_an_id_that_a_document_makes_or_says_again_has_an_origin(
    target: str, made: str | None, again: str | None, of: str | None
) -> None:
    out = RULES.convert(LOG, "gemini-cli", target, "session", trace=True)
    assert out.trace is not None
    assert [at for at, origin in out.trace.origins.items() if not origin.steps] == []
    found = out.trace.origins
    for at in filter(None, (made, again if of is None else None)):
        assert [step.way for step in found[at].steps] == ["made"] and not found[at].sources
        assert str(found[at].rule).startswith(f"rules/{target}.yaml:")
    if again is not None and of is not None:
        assert found[again] == found[of]


def test_what_stood_beside_a_result_that_is_left_out_is_told() -> None:
    """A line of Claude Code alone: the call that it answers is not there."""
    result = {"type": "tool_result", "tool_use_id": "t", "content": "out"}
    line = {"type": "user", "uuid": "u", "sessionId": "s", "cwd": "/w", "isSidechain": False,
            "timestamp": "2026-01-01T00:00:02.000Z", "toolUseResult": {"stdout": "x" * 1000},
            "message": {"role": "user", "content": [result]}}  # fmt: skip
    out = RULES.convert([line], "claude-code", "openai-chat", "request", trace=True)
    assert out.trace is not None
    assert out.trace.fates.keys() == {pointer_of(steps) for steps, _ in leaves([line])}
    assert out.trace.fates["/0/toolUseResult/stdout"].code == "own-field"


def test_at_home_every_leaf_comes_from_itself() -> None:
    found = traced("openai-chat")
    inside = [at for at in found.origins if not at.startswith("envelope:")]
    assert all(sources(found, at) == (at,) for at in inside)
    assert all(fate.kind == "carried" and at in fate.targets for at, fate in found.fates.items())


def test_a_trace_changes_nothing_else_and_is_there_only_when_asked_for() -> None:
    for target in TARGETS:
        plain = RULES.convert(TALK, "openai-chat", target)
        with_trace = RULES.convert(TALK, "openai-chat", target, trace=True)
        assert plain.trace is None
        assert with_trace.body == plain.body
        assert Counter(with_trace.notes) == Counter(plain.notes)
        assert with_trace.envelope == plain.envelope


def resumed(response: Any) -> list[Any]:
    """Return a session that the Gemini CLI took up again, in which a result shows a picture."""
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAA="}}
    result = {
        "functionResponse": {"id": "c", "name": "f", "response": response, "parts": [picture]}
    }
    said = {"id": "b", "name": "f", "args": {}, "status": "executing"}
    lines: list[Any] = [
        {"type": "gemini", "content": [{"functionCall": {"id": "c", "name": "f", "args": {}}}]},
        {"type": "user", "content": [result]},
        {"type": "user", "content": [result, {"text": "Again."}]},
        {"type": "gemini", "content": "", "toolCalls": [said]},
        {"type": "user", "content": "Stop."},
    ]
    times = [{"id": str(n), "timestamp": "2026-01-01T00:00:00.000Z"} for n in range(len(lines))]
    head = {"sessionId": "s", "projectHash": "p", "startTime": "2026-01-01T00:00:00.000Z"}
    return [head, *({**time, **line} for time, line in zip(times, lines, strict=True))]


@pytest.mark.parametrize("response", [{"output": "x"}, {"output": ""}, {"output": None}, {}])
@pytest.mark.parametrize("target", ["gemini-cli", "otel-genai", "openclaw", "sharegpt"])
def test_notes_of_a_session_have_the_same_places_with_a_trace(target: str, response: Any) -> None:
    body = resumed(response)
    plain = RULES.convert(body, "gemini-cli", target, "session")
    with_trace = RULES.convert(body, "gemini-cli", target, "session", trace=True)
    assert with_trace.body == plain.body
    assert Counter(with_trace.notes) == Counter(plain.notes)
    unpaired = {note.source_path for note in plain.notes if note.code == "unpaired"}
    assert unpaired <= {"/4/toolCalls/0"}  # no result that is said again


USER = {"role": "user", "content": "?"}
UNREAD = {**CALL, "type": [1, 2]}  # no call of this wire
RUN = {"threadId": "t", "runId": "r", "type": "RUN_FINISHED"}
SAYS = {"role": "assistant", "content": ""}
TWO = [
    {"index": 0, "finish_reason": "stop", "message": SAYS},
    {"index": 1, "finish_reason": "tool_calls", "message": {**SAYS, "tool_calls": [CALL]}},
]
COUNTS = {"inputTokens": 2, "outputTokens": 3, "totalTokens": 5, "reasoningTokens": {}}
# Payloads of which functions once said other things than a walk: source, target, unit, payload.
ODD: dict[str, tuple[str, str, str, Any]] = {
    "an id beside a part that nobody knows": (
        "deepseek", "ai-sdk-ui", "messages",
        [USER, {"role": "assistant", "content": "So.", "tool_calls": [UNREAD]},
         {"role": "tool", "tool_call_id": "call_1", "content": "1"}],
    ),
    "an id of what is written anew": (
        "gemini-cli-checkpoint", "ag-ui", "messages",
        [{"role": "user", "parts": [{"text": "?"}]}, {"role": "model", "parts": [{}]},
         {"role": "user", "parts": [{"functionResponse": {
             "id": "t1", "name": "f", "response": {"output": "France"}}}]}],
    ),
    "a count that is null": (
        "gemini-interactions", "openai-chat", "response",
        {"id": "i", "object": "interaction", "model": "m", "status": "completed", "steps": [],
         "usage": {"total_output_tokens": 1, "total_tokens": 1, "output_tokens_by_modality": [
             {"modality": "audio", "tokens": None}]}},
    ),
    "a list that is empty in every request of a dialect": (
        "mcp", "mcp", "request", {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}},
    ),
    "a response of which a part is lost": (
        "openai-chat", "agent-sdk", "response", {"id": "c", "choices": [
            {"index": 0, "finish_reason": "tool_calls",
             "message": {"role": "assistant", "content": None, "tool_calls": [UNREAD]}}]},
    ),
    "a type of media that is said twice and fits one place": (
        "gemini-interactions", "atif", "messages",
        [{"type": "user_input", "content": [
            {"type": "image", "mime_type": "image/pn:g", "data": "iVBORw0KGgo="}]}],
    ),
    "a format that is null": (
        "gemini", "anthropic", "request",
        {"contents": [{"role": "user", "parts": [{"text": "?"}]}],
         "generationConfig": {"responseMimeType": None}},
    ),
    "a term of a sum that is no number": (
        "ag-ui", "modular-prompt-v1", "response",
        {**RUN, "usage": [COUNTS], "messages": [{"role": "assistant", "id": "a", "content": "."}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_functions_say_what_a_walk_says(name: str) -> None:
    source, target, unit, body = ODD[name]
    plain, walked = (RULES.convert(body, source, target, unit=unit, trace=t) for t in (False, True))
    assert plain.body == walked.body
    assert Counter(plain.notes) == Counter(walked.notes)


@pytest.mark.parametrize("trace", [False, True])
def test_a_unit_that_a_dialect_lacks_is_no_fault_of_its_rules(trace: bool) -> None:
    for source, unit, body in (
        ("codex", "request", [{"type": "session_meta", "payload": {}}]),
        ("openai-chat", "response", {"id": "c", "choices": TWO}),
    ):
        with pytest.raises(wireglot.UsageError, match=f"codex has no picture of a {unit}"):
            RULES.convert(body, source, "codex", unit=unit, trace=trace)


def test_a_trace_can_be_stored() -> None:
    found = traced("anthropic")
    stored = json.loads(json.dumps(found.as_json()))
    assert stored["origins"]["/model"]["sources"] == ["/model"]
    assert stored["fates"]["/x_odd"]["code"] == "unknown-key"
    assert found.of_source("/tools") == {
        at: fate for at, fate in found.fates.items() if at.startswith("/tools/")
    }


def test_a_forbidden_conversion_has_its_trace() -> None:
    with pytest.raises(wireglot.PolicyError) as caught:
        RULES.convert(TALK, "openai-chat", "anthropic", policy={"unknown-key": "fail"}, trace=True)
    assert caught.value.conversion is not None
    assert caught.value.conversion.trace is not None


@pytest.mark.parametrize("unit", ["tool_choice", "tools", "messages"])
@pytest.mark.parametrize("target", [name for name in sdk.DIALECTS if name != "ollama"])
def test_units_below_a_request_are_traced(unit: str, target: str) -> None:
    body = TALK[unit]
    out = RULES.convert(body, "openai-chat", target, unit, trace=True)
    assert out.trace is not None
    assert {pointer_of(s) for s, _ in leaves(out.body)} == out.trace.origins.keys()
    assert {pointer_of(s) for s, _ in leaves(body)} == out.trace.fates.keys()
    assert all(origin.steps for origin in out.trace.origins.values())


def test_what_a_text_is_made_of_is_told_in_its_order() -> None:
    function = {"name": "f", "arguments": '{"a":1}'}
    call = {"id": "c", "type": "function", "function": function}
    said = [{"role": "assistant", "content": "Hi", "tool_calls": [call]}]
    out = RULES.convert(said, "openai-chat", "hermes", "messages", trace=True)
    assert out.trace is not None
    (text,) = (origin for at, origin in out.trace.origins.items() if at.endswith("/value"))
    places = [one.rpartition("/")[2] for one in text.sources]
    assert places == ["content", "id", "name", "arguments"]


@pytest.mark.skipif(
    not all(path.is_file() for path in FILES.values()),
    reason="the recorded exchanges of ../shared/traffic are missing",
)
@pytest.mark.parametrize("dialect", sdk.DIALECTS)
def test_recorded_exchanges_are_traced_to_the_last_leaf(dialect: str) -> None:
    counts: Counter[str] = Counter()
    faults: list[traces.Fault] = []
    for number, line in enumerate(sample(dialect)):
        for unit in sweep.units_of(json.loads(line), RULES.dialects):
            for target in width.dialects(heads(RULES.dialects), 12):
                faults += traces.faults_of(unit, target, 3 if number % 4 == 0 else 0, counts)
    assert not faults, "\n".join(["", *traces.groups(faults)])
    assert counts["conversions"] > width.times(50, 25)
