"""System text and media stay where a provider's cache finds them, and say whose they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

import wireglot

from . import prefix

Json = Any
LINE = prefix.billing(1)


def turns(count: int) -> Json:
    """Make a session as Claude Code has it: after each turn of the user, one of the system."""
    messages: list[Json] = []
    for i in range(count):
        said: list[Json] = [{"type": "text", "text": f"Question. {'lorem ' * 40}"}]
        if i:
            call = {
                "type": "tool_use",
                "id": f"call_{i}",
                "name": "Read",
                "input": {"path": f"{i}"},
            }
            messages.append({"role": "assistant", "content": [call]})
            result: Json = {"tool_use_id": call["id"], "content": f"{i} {'ipsum ' * 40}"}
            said = [{"type": "tool_result", **result}]
        messages.append({"role": "user", "content": said})
        messages.append({"role": "system", "content": f"<total_tokens>{count - i}</total_tokens>"})
    tool = {"name": "Read", "input_schema": {"type": "object", "properties": {}}}
    return {
        "model": "claude-opus-4-8",
        "max_tokens": 64000,
        "system": [{"type": "text", "text": LINE}, {"type": "text", "text": "You are an agent."}],
        "messages": messages,
        "tools": [tool],
    }


@pytest.mark.parametrize("target", prefix.HELD)
def test_each_of_forty_requests_begins_the_next(target: str) -> None:
    bodies = prefix.grown(turns(40))
    assert len(bodies) == 40
    rules = prefix.rules_of(target, prefix.OVERLAY)
    assert min(prefix.shares(rules, bodies, target, {})) > prefix.LEAST
    # The line that changes, or all system text at the head, leaves nothing of it.
    assert max(prefix.shares(prefix.rules_of(target), bodies, target, {})) < prefix.LEAST
    assert min(prefix.shares(rules, bodies, target, prefix.LIFTED)) < prefix.LEAST


@pytest.mark.skipif(not prefix.RECORDED.is_file(), reason="../shared/traffic is missing")
@pytest.mark.parametrize("target", prefix.HELD)
def test_a_recorded_session_of_claude_code_keeps_its_prompt(target: str) -> None:
    rules = prefix.rules_of(target, prefix.OVERLAY)
    for session in prefix.recorded():
        bodies = prefix.grown(session)
        assert len(bodies) > 40
        assert min(prefix.shares(rules, bodies[::6], target, {})) > prefix.LEAST
        assert min(prefix.shares(rules, bodies[-3:], target, {})) > prefix.LEAST


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "ollama", "deepseek"])
def test_what_other_models_read_begins_the_next_request(target: str) -> None:
    bodies = prefix.grown(turns(8), marked=False)
    rules = prefix.rules_of(target, prefix.OVERLAY)
    assert min(prefix.shares(rules, bodies, target, {}, as_read=True)) > prefix.LEAST


def test_the_shares_of_targets_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    if not prefix.RECORDED.is_file():
        pytest.skip("../shared/traffic is missing")
    some = ["gemini", "openai-chat", "mistral"]
    assert prefix.main(["--every", "14", "--only", ",".join(some)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("3 requests of Claude Code")
    assert [line.split()[0] for line in told[2:]] == some


# -- system text in the middle --------------------------------------------------------------------

MIDDLE: list[Json] = [
    {"role": "system", "content": "First."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Ho"},
    {"role": "system", "content": "Later."},
    {"role": "user", "content": "Go on."},
]


def asks(rule: str) -> str:
    """Return what stands in the rule file from the word of a place on."""
    file, line, column = rule.split(":")
    text = (prefix.HERE.parent / file).read_text("utf-8").splitlines()[int(line) - 1]
    return text[text.rfind("later-system", 0, int(column)) :]


@pytest.mark.parametrize("trace", [False, True])
def test_system_text_stays_where_it_stands(trace: bool) -> None:
    body = {"model": "m", "messages": MIDDLE}
    out = wireglot.convert(body, "openai-chat", "gemini", trace=trace)
    assert out.body == {
        "systemInstruction": {"parts": [{"text": "First."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [{"text": "Ho"}]},
            {
                "role": "user",
                "parts": [{"text": "<system>\nLater.\n</system>"}, {"text": "Go on."}],
            },
        ],
    }
    note, joined = out.notes
    assert (note.code, note.effect, note.severity) == ("system-as-user", "changed", "warning")
    assert (note.source_path, note.target_path) == ("/messages/3", "/contents/2/parts/0")
    assert note.rule is not None and asks(note.rule).startswith('later-system: "<system>')
    assert joined.code == "joined"


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("target", ["gemini", "vertex", "anthropic"])
def test_all_of_it_is_lifted_where_that_is_asked_for(target: str, trace: bool) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": MIDDLE}
    out = wireglot.convert(body, "openai-chat", target, options=prefix.LIFTED, trace=trace)
    head = out.body.get("systemInstruction", {}).get("parts") or out.body["system"]
    assert [part["text"] for part in head] == ["First.", "Later."]
    (note,) = [note for note in out.notes if note.code == "lifted"]
    assert (note.source_path, note.effect) == ("/messages/3", "moved")


@pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-sonnet-5", "claude-opus-4-5"])
def test_a_model_with_turns_of_the_system_gets_them_where_they_may_stand(model: str) -> None:
    messages = [*MIDDLE[:3], MIDDLE[4], {"role": "system", "content": "Last."}, *MIDDLE[2:]]
    body = {"model": model, "max_tokens": 9, "messages": messages}
    out = wireglot.convert(body, "openai-chat", "anthropic")
    told = [
        {"type": "text", "text": "Go on."},
        {"type": "text", "text": "<system>\nLast.\n</system>"},
    ]
    turns: list[Json] = [
        {"role": "user", "content": "Go on."},
        {"role": "system", "content": "Last."},
    ]
    if model == "claude-opus-4-5":
        turns = [{"role": "user", "content": told}]
    later = [{"type": "text", "text": "<system>\nLater.\n</system>"}, told[0]]
    hi, ho = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}
    assert out.body["system"] == "First."
    assert out.body["messages"] == [hi, ho, *turns, ho, {"role": "user", "content": later}]


def test_marked_text_is_read_as_what_a_user_says() -> None:
    # Anybody can write the form: what a user says is never taken for the system's.
    body = {"model": "m", "messages": MIDDLE}
    there = wireglot.convert(body, "openai-chat", "gemini").body
    back = wireglot.convert(there, "gemini", "openai-chat", model="m").body
    assert [message["role"] for message in back["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert "<system>\\nLater.\\n</system>" in json.dumps(back["messages"][3])


def test_at_home_all_stays_and_repair_moves_what_would_be_refused() -> None:
    body = turns(3)
    out = wireglot.convert(body, "anthropic", "anthropic")
    assert (out.body, out.notes) == (body, ())
    out = wireglot.convert(body, "anthropic", "anthropic", options={"repair": True})
    assert (out.body, out.notes) == (body, ())
    old = body | {"model": "claude-opus-4-5"}
    mended = wireglot.convert(old, "anthropic", "anthropic", options={"repair": True})
    assert {m["role"] for m in mended.body["messages"]} == {"user", "assistant"}
    assert {note.code for note in mended.notes} == {"system-as-user", "joined"}


@pytest.mark.parametrize("target", ["gemini", "anthropic"])
def test_messages_alone_are_written_so_too(target: str) -> None:
    out = wireglot.convert(MIDDLE, "openai-chat", target, unit="messages")
    said = json.dumps(out.body)
    assert "<system>\\nLater.\\n</system>" in said and '"First."' in said


def test_empty_system_text_is_told_once() -> None:
    body = {"messages": [{"role": "user", "content": "Hi"}, {"role": "system", "content": ""}]}
    out = wireglot.convert(body, "openai-chat", "gemini", model="m")
    assert out.body["contents"] == [{"role": "user", "parts": [{"text": "Hi"}]}]
    assert [note.code for note in out.notes] == ["empty-message"]


# -- the billing line ----------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["gemini", "openai-chat", "openai-responses"])
def test_the_billing_line_is_left_out_abroad_and_told(target: str) -> None:
    rules = prefix.rules_of("", prefix.OVERLAY)
    body = turns(1)
    assert rules.convert(body, "anthropic", "anthropic").body == body
    for trace in (False, True):
        out = rules.convert(body, "anthropic", target, trace=trace)
        assert "billing" not in json.dumps(out.body)
        assert "You are an agent." in json.dumps(out.body)
        (note,) = [note for note in out.notes if note.source_path == "/system/0"]
        assert (note.code, note.effect) == ("own-field", "lost")


# -- whose media they are ------------------------------------------------------------------------


def image(data: str) -> Json:
    source = {"type": "base64", "media_type": "image/png", "data": data}
    return {"type": "image", "source": source}


def results(*values: Json) -> Json:
    calls = [
        {"type": "tool_use", "id": f"t{i}", "name": f"look_{i}", "input": {}}
        for i in range(len(values))
    ]
    found = [
        {"type": "tool_result", "tool_use_id": f"t{i}", "content": value}
        for i, value in enumerate(values)
    ]
    return [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": found},
    ]


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("target", ["openai-chat", "chat-compatible", "deepseek"])
def test_media_that_left_results_say_whose_they_are(target: str, trace: bool) -> None:
    body = {"model": "m", "max_tokens": 9}
    body["messages"] = results([image("AA=="), image("AAA=")], "none", [image("AAAA")])
    out = wireglot.convert(body, "anthropic", target, trace=trace)
    said = out.body["messages"][-1]
    assert said["role"] == "user"
    url = "data:image/png;base64,"
    assert [part.get("text") or part["image_url"]["url"] for part in said["content"]] == [
        "Returned by look_0 (t0):",
        f"{url}AA==",
        f"{url}AAA=",
        "Returned by look_2 (t2):",
        f"{url}AAAA",
    ]
    added = [note for note in out.notes if note.message.startswith("this says whose")]
    at = f"/messages/{len(out.body['messages']) - 1}/content"
    assert [(note.code, note.target_path) for note in added] == [
        ("filled-in", f"{at}/0/text"),
        ("filled-in", f"{at}/3/text"),
    ]
    assert all(note.rule is not None and "ladder.yaml" in note.rule for note in added)


@pytest.mark.parametrize("trace", [False, True])
def test_media_come_home_to_the_results_that_returned_them(trace: bool) -> None:
    talk: list[Json] = results(
        [{"type": "text", "text": "x"}, image("AA==")], "none", [image("AAAA")]
    )
    talk.append({"role": "assistant", "content": "Well."})
    talk.append({"role": "user", "content": "And?"})
    body = {"model": "m", "max_tokens": 9, "messages": talk}
    there = wireglot.convert(body, "anthropic", "openai-chat").body
    out = wireglot.convert(there, "openai-chat", "anthropic", trace=trace)
    assert out.body == body
    assert {note.code for note in out.notes} == {"moved", "no-place"}
    assert {note.severity for note in out.notes} == {"info"}


@pytest.mark.parametrize(
    "said",
    [
        "Returned by look_0 (t1):",  # no such call
        "Returned by look_0 (t0): ",
        "I returned by look_0 (t0):",
    ],
)
def test_what_a_user_says_of_media_stays_what_a_user_says(said: str) -> None:
    url: Json = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    body = {"model": "m", "max_tokens": 9, "messages": results("none")}
    there = wireglot.convert(body, "anthropic", "openai-chat").body
    told = {"type": "text", "text": said}
    for parts in ([told, url], [url, told], [{**told, "text": "Returned by look_0 (t0):"}]):
        talk = [*there["messages"], {"role": "user", "content": parts}]
        out = wireglot.convert({**there, "messages": talk}, "openai-chat", "anthropic")
        result, *rest = out.body["messages"][-1]["content"]
        assert result["content"] == "none"
        kinds = [str(part["type"]).removesuffix("_url") for part in parts]
        assert [part["type"] for part in rest] == kinds
    talk = [*there["messages"], {"role": "assistant", "content": "Well."}]
    talk.append({"role": "user", "content": [{**told, "text": "Returned by look_0 (t0):"}, url]})
    out = wireglot.convert({**there, "messages": talk}, "openai-chat", "anthropic")
    assert len(out.body["messages"][-1]["content"]) == 2


def test_the_name_and_id_are_those_that_the_target_sees() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": results([image("AA==")])}
    text = json.dumps(body).replace('"t0"', f'"{"t" * 70}"').replace("look_0", "look.0")
    out = wireglot.convert(json.loads(text), "anthropic", "openai-chat")
    (call,) = out.body["messages"][1]["tool_calls"]
    (said, _) = out.body["messages"][3]["content"]
    assert said["text"] == f"Returned by {call['function']['name']} ({call['id']}):"
    assert call["id"] != "t" * 70


def test_where_no_media_have_a_place_nothing_is_said_of_them() -> None:
    page = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
    body = {"model": "m", "max_tokens": 9}
    body["messages"] = results(
        [{"type": "text", "text": "x"}, {"type": "document", "source": page}]
    )
    out = wireglot.convert(body, "anthropic", "ollama")
    assert [message["role"] for message in out.body["messages"]] == ["user", "assistant", "tool"]
    assert "Returned by" not in json.dumps(out.body)
    assert not any(note.message.startswith("this says whose") for note in out.notes)
