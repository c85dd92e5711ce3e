"""One rich conversation, kept by eight formats: each goes to each other and comes home.

`cases/rich.yaml` has it as the program of each format would write it. What stands in a format is
found on its wire, in its own terms, so that nothing here relies on the reader that is tested.
"""

from __future__ import annotations

import copy
import itertools
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import wireglot

from . import width
from .oracles.homecoming import Homecoming
from .oracles.leaves import leaves, pointer_of
from .tables import read_yaml

Json = Any
RULES = wireglot.packaged()
BODIES: dict[str, Json] = read_yaml(
    Path(__file__).with_name("cases").joinpath("rich.yaml").read_text("utf-8")
)
SESSIONS = [name for name in BODIES if "session" in RULES[name].model.units]
REQUESTS = [name for name in BODIES if "request" in RULES[name].model.units]
WAYS = [
    *((*pair, "messages") for pair in itertools.permutations(BODIES, 2)),
    *((*pair, "session") for pair in itertools.permutations(SESSIONS, 2)),
    *((*pair, "request") for pair in itertools.permutations(REQUESTS, 2)),
]
FLAGLESS = {"modular-prompt-v1", "openai-responses", "codex"}  # an error is text there
THOUGHTLESS = {"modular-prompt", "modular-prompt-v1", "universal-tool", "openai-responses"}
THOUGHTLESS |= {"claude-code", "codex"}  # only what their own models signed
SIGNERS = {"claude-code": "a", "agent-sdk": "a", "codex": "o", "openai-responses": "o"}
REPEATED = {"sessionId", "cwd", "version", "gitBranch", "parentUuid"}
MODELLED = {"agent-sdk", "openai-responses"}  # their requests name a model
PICTURE = "AAA="
IDS = ["search_1", "search_2", "read_1", "shot_1", "rm_1", "ask_1", "mail_1"]


def messages_of(dialect: str, body: Json, unit: str = "session") -> list[Json]:
    """Return the messages of a file or a request."""
    if unit == "messages":
        return list(body)
    if unit == "request":
        return list(body["input" if dialect == "openai-responses" else "messages"])
    if dialect == "openclaw":
        return [line["message"] for line in body[1:]]
    if dialect == "opencode":
        return list(body["messages"])
    if dialect == "claude-code":
        return [{k: v for k, v in line.items() if k not in REPEATED} for line in body]
    if dialect == "codex":
        return [line["payload"] for line in body if line["type"] == "response_item"]
    if dialect == "gemini-cli":
        return list(body[1:])
    return list(body["history"]) if dialect == "gemini-cli-checkpoint" else list(body)


def given(dialect: str, unit: str) -> Json:
    """Return the conversation as a unit of a format."""
    body = copy.deepcopy(BODIES[dialect])
    if unit == "session":
        return body
    found = messages_of(dialect, body)
    if unit == "messages":
        return found
    key = "input" if dialect == "openai-responses" else "messages"
    return {**({"model": "m"} if dialect in MODELLED else {}), key: found}


@cache
def went(source: str, target: str, unit: str) -> Homecoming:
    """Take the conversation to another format and home again, both with traces."""
    model = "m" if unit == "request" else None
    body = given(source, unit)
    there = RULES.convert(body, source, target, unit=unit, model=model, trace=True)
    back = RULES.convert(there.body, target, source, unit=unit, model=model, trace=True)
    return Homecoming(body, there, back)


# -- what stands on a wire, in its own terms ------------------------------------------------------


class Answer(NamedTuple):
    """What a tool answered: whether the wire flags it as an error, what it says, its pictures."""

    flagged: bool
    value: Json
    pictures: int


class Found(NamedTuple):
    """What a conversation says."""

    calls: list[tuple[str, str, Json]]
    answers: dict[str, Answer]
    texts: list[tuple[str, str]]
    thoughts: str
    loose: int  # pictures that stand in no result


def found_in(dialect: str, messages: list[Json]) -> Found:
    """Find what a conversation says, by the keys of its format."""
    found = Found([], {}, [], "", 0)
    for message in messages:
        found = LOOKS[dialect](found, message)
    return found


def said(found: Found, role: str, content: Json) -> Found:
    """Take in the texts and pictures of a message."""
    blocks = [{"text": content}] if isinstance(content, str) else content or []
    texts = [block["text"] for block in blocks if "text" in block and not block.get("thought")]
    loose = json.dumps([block for block in blocks if "text" not in block]).count(PICTURE)
    told = [(role, text) for text in texts if text]
    return found._replace(texts=[*found.texts, *told], loose=found.loose + loose)


def plain(content: Json) -> Json:
    """Return what a result says: data, if its text is that."""
    if isinstance(content, list):
        content = "".join(block.get("text", "") for block in content)
    if isinstance(content, str) and content[:1] in ("{", "["):
        try:
            content = json.loads(content)
        except ValueError:
            return content
    return content


def answer(name: str, flagged: Json, content: Json, beside: Json = None) -> dict[str, Answer]:
    value = plain(content)
    if isinstance(value, dict) and list(value) == ["error"]:
        value = plain(value["error"])
    return {name: Answer(bool(flagged), value, json.dumps([content, beside]).count(PICTURE))}


def openclaw(found: Found, message: Json) -> Found:
    role, content = message["role"], message["content"]
    if role == "toolResult":
        new = answer(message["toolCallId"], message["isError"], content)
        return found._replace(answers=found.answers | new)
    for block in content if isinstance(content, list) else ():
        if block["type"] == "toolCall":
            found.calls.append((block["id"], block["name"], block["arguments"]))
        found = found._replace(thoughts=found.thoughts + block.get("thinking", ""))
    return said(found, role, content)


def response(name: str, flagged: bool, given: Json) -> dict[str, Answer]:
    inner = given["response"]
    value = inner.get("error", inner.get("output", inner))
    return answer(name, flagged or "error" in inner, value, given.get("parts"))


def gemini_cli(found: Found, message: Json) -> Found:
    for record in message.get("toolCalls", ()):
        found.calls.append((record["id"], record["name"], record["args"]))
        states = ("success", "error", "cancelled")
        assert (record["status"] in states) == bool(record.get("result"))
        for part in record.get("result") or ():
            given = part["functionResponse"]
            # The program does not find a response of another id again.
            assert (given["id"], given["name"]) == (record["id"], record["name"])
            new = response(given["id"], record["status"] != "success", given)
            found = found._replace(answers=found.answers | new)
    thoughts = "".join(one["description"] for one in message.get("thoughts", ()))
    role = "assistant" if message["type"] == "gemini" else message["type"]
    return said(found._replace(thoughts=found.thoughts + thoughts), role, message["content"])


def checkpoint(found: Found, message: Json) -> Found:
    for part in message["parts"]:
        if call := part.get("functionCall"):
            found.calls.append((call["id"], call["name"], call["args"]))
        if given := part.get("functionResponse"):
            found = found._replace(answers=found.answers | response(given["id"], False, given))
        if part.get("thought"):
            found = found._replace(thoughts=found.thoughts + part["text"])
    rest = [part for part in message["parts"] if "functionResponse" not in part]
    return said(found, "assistant" if message["role"] == "model" else "user", rest)


def modular_prompt(found: Found, message: Json) -> Found:
    if message["role"] == "tool":
        new = answer(message["toolCallId"], message["kind"] == "error", message["value"])
        return found._replace(answers=found.answers | new)
    calls = [(c["id"], c["name"], c["arguments"]) for c in message.get("toolCalls", ())]
    return said(found._replace(calls=found.calls + calls), message["role"], message["content"])


def called(call: Json) -> tuple[str, str, Json]:
    assert call["type"] == "function"
    return call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])


def modular_prompt_v1(found: Found, message: Json) -> Found:
    if message["role"] == "tool":
        new = answer(message["toolCallId"], False, message["content"])
        return found._replace(answers=found.answers | new)
    calls = [called(call) for call in message.get("toolCalls", ())]
    return said(found._replace(calls=found.calls + calls), message["role"], message["content"])


def universal_tool(found: Found, message: Json) -> Found:
    for part in message["parts"]:
        if "arguments" in part:
            found.calls.append((part["id"], part["name"], part["arguments"]))
        if "result" in part:
            beside = part.get("multimodal_parts")
            new = answer(part["tool_call_id"], part["is_error"], part["result"], beside)
            found = found._replace(answers=found.answers | new)
    rest = [part for part in message["parts"] if "result" not in part]
    return said(found, message["role"], rest)


def agent_sdk(found: Found, message: Json) -> Found:
    if message["role"] == "tool":
        new = answer(message["tool_call_id"], message.get("is_error"), message["content"])
        return found._replace(answers=found.answers | new)
    if message["role"] == "reasoning":
        return found._replace(thoughts=found.thoughts + message["content"])
    calls = [called(call) for call in message.get("tool_calls", ())]
    return said(found._replace(calls=found.calls + calls), message["role"], message["content"])


def openai_responses(found: Found, item: Json) -> Found:
    kind = item.get("type", "message")
    if kind == "message":
        return said(found, item["role"], item["content"])
    if kind == "reasoning":
        return found._replace(thoughts=found.thoughts + item["summary"][0]["text"])
    if kind == "function_call":
        found.calls.append((item["call_id"], item["name"], json.loads(item["arguments"])))
        return found
    assert kind == "function_call_output"
    return found._replace(answers=found.answers | answer(item["call_id"], False, item["output"]))


def claude_code(found: Found, line: Json) -> Found:
    role, content = line["message"]["role"], line["message"]["content"]
    rest = []
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if block["type"] == "tool_use":
            found.calls.append((block["id"], block["name"], block["input"]))
        elif block["type"] == "tool_result":
            new = answer(block["tool_use_id"], block.get("is_error"), block["content"])
            found = found._replace(answers=found.answers | new)
        elif block["type"] == "thinking":
            found = found._replace(thoughts=found.thoughts + block["thinking"])
        else:
            rest.append(block)
    return said(found, role, rest)


def opencode(found: Found, message: Json) -> Found:
    kinds = {"text", "file"}
    for part in message["parts"]:
        if part["type"] == "tool":
            state = part["state"]
            found.calls.append((part["callID"], part["tool"], state["input"]))
            if state["status"] in ("completed", "error"):
                value = state.get("output", state.get("error"))
                new = answer(
                    part["callID"], state["status"] == "error", value, state.get("attachments")
                )
                found = found._replace(answers=found.answers | new)
        elif part["type"] == "reasoning":
            found = found._replace(thoughts=found.thoughts + part["text"])
    rest = [part for part in message["parts"] if part["type"] in kinds]
    return said(found, message["info"]["role"], rest)


LOOKS = {
    "opencode": opencode,
    "claude-code": claude_code,
    "codex": openai_responses,
    "openclaw": openclaw,
    "gemini-cli": gemini_cli,
    "gemini-cli-checkpoint": checkpoint,
    "modular-prompt": modular_prompt,
    "modular-prompt-v1": modular_prompt_v1,
    "universal-tool": universal_tool,
    "agent-sdk": agent_sdk,
    "openai-responses": openai_responses,
}


# -- the conversation itself ----------------------------------------------------------------------


@pytest.mark.parametrize("dialect", BODIES)
def test_each_format_has_all_of_it_and_understands_it(dialect: str) -> None:
    found = found_in(dialect, messages_of(dialect, BODIES[dialect]))
    assert [name for name, _, _ in found.calls] == IDS
    assert sorted(found.answers) == sorted(IDS[:5])
    for unit, names in (("messages", BODIES), ("session", SESSIONS), ("request", REQUESTS)):
        if dialect not in names:
            continue
        body = given(dialect, unit)
        reading = RULES[dialect].read(body, unit=unit)
        assert {note.code for note in reading.notes} <= {"unpaired"}
        assert '"kept"' not in json.dumps(reading.ir)
        stored = json.loads(json.dumps(reading.ir))
        assert RULES[dialect].write(stored, unit=unit).body == body


# -- to each other, and home ----------------------------------------------------------------------


def spoken(texts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out what says whose media it is that left a result."""
    return [one for one in texts if one != ("user", "Returned by shot (shot_1):")]


@pytest.mark.parametrize(("source", "target", "unit"), width.some(WAYS, 3))
def test_each_format_says_it_in_its_own_terms(source: str, target: str, unit: str) -> None:
    trip = went(source, target, unit)
    start = found_in(source, messages_of(source, trip.body, unit))
    there = found_in(target, messages_of(target, trip.there.body, unit))
    home = found_in(source, messages_of(source, trip.back.body, unit))
    assert there.calls == home.calls == start.calls
    assert spoken(there.texts) == spoken(home.texts) == spoken(start.texts)
    signed = SIGNERS.get(source, "s") == SIGNERS.get(target, "t")
    held = bool(start.thoughts) and (target not in THOUGHTLESS or signed)
    assert ("I should search." in there.thoughts) == held
    assert ("I should search." in home.thoughts) == (held and (source not in THOUGHTLESS or signed))
    # A request answers what nobody answered where its API would refuse it otherwise.
    made = [n.target_path for n in trip.there.notes if n.code == "answered"]
    assert bool(made) == (unit == "request" and target == "openai-responses")
    assert set(there.answers) - {"ask_1"} == set(start.answers)
    assert ("ask_1" in there.answers) == bool(made)
    for name, meant in start.answers.items():
        told, back = there.answers[name], home.answers[name]
        assert told.value == back.value == meant.value, name
        if not {source, target} & FLAGLESS:
            assert told.flagged == back.flagged == meant.flagged, name
    pictures = start.answers["shot_1"].pictures
    kept = there.answers["shot_1"].pictures
    if target == "modular-prompt-v1":
        assert kept == 0 and "no-place" in {n.code for n in trip.there.notes}
    elif target == "modular-prompt":
        assert (kept, there.loose) == (0, pictures)  # right behind the results
    else:
        assert (kept, there.loose) == (pictures, 0)


@pytest.mark.parametrize(("source", "target", "unit"), WAYS)
def test_notes_explain_all_that_comes_home_otherwise(source: str, target: str, unit: str) -> None:
    unexplained = went(source, target, unit).unexplained()
    assert not unexplained, "\n".join(["", *map(str, unexplained)])


@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(SESSIONS, 2)))
def test_every_leaf_of_a_session_has_a_fate_and_an_origin(source: str, target: str) -> None:
    trip = went(source, target, "session")
    for way, body in ((trip.there, trip.body), (trip.back, trip.there.body)):
        assert [p for p, _ in leaves(body) if pointer_of(p) not in way.trace.fates] == []
        assert [p for p, _ in leaves(way.body) if pointer_of(p) not in way.trace.origins] == []


def test_the_order_of_results_that_a_file_of_records_does_not_keep_is_noted() -> None:
    trip = went("openclaw", "gemini-cli", "session")
    found = [(n.source_path, n.target_path) for n in trip.there.notes if n.code == "reordered"]
    assert found == [
        ("/4/message", "/2/toolCalls/0/result/0"),
        ("/3/message", "/2/toolCalls/1/result/0"),
    ]
    assert "reordered" not in {
        n.code for n in went("gemini-cli", "openclaw", "session").there.notes
    }


def test_a_file_from_abroad_has_what_its_program_does_not_load_it_without() -> None:
    for source in ("openclaw", "gemini-cli-checkpoint"):
        head, *lines = RULES.convert(BODIES[source], source, "gemini-cli", unit="session").body
        assert head["sessionId"] and head["projectHash"]
        assert all(line["id"] and line["timestamp"] and line["type"] for line in lines)


# -- the check itself -----------------------------------------------------------------------------


class Silent(NamedTuple):
    """A conversion whose notes were taken away."""

    body: Json
    trace: Any
    notes: tuple[Any, ...] = ()


def test_a_difference_without_its_note_is_told() -> None:
    quiet = set()
    for source, target in itertools.permutations(BODIES, 2):
        trip = went(source, target, "messages")
        two = [Silent(way.body, way.trace) for way in (trip.there, trip.back)]
        if not Homecoming(trip.body, *two).unexplained():
            quiet.add((source, target))
    # Between these it comes home as it went, but for the spaces in a text of JSON.
    apart = {"modular-prompt-v1", "gemini-cli", "gemini-cli-checkpoint", "opencode"}
    spelled = set(BODIES) - apart
    assert quiet == {
        *(("modular-prompt-v1", target) for target in spelled),
        ("gemini-cli-checkpoint", "agent-sdk"),  # which says whose a signature is
    }


def test_a_change_that_nobody_noted_is_told() -> None:
    trip = went("openclaw", "agent-sdk", "messages")
    text = json.dumps(trip.back.body)
    for old, new in (
        ('"Sunny."', '"Rain."'),
        ('"search_1"', '"search_9"'),
        ('"isError": true', '"isError": false'),
        ('"q": "events"', '"q": "events", "n": 1'),
    ):
        assert old in text
        changed = Silent(json.loads(text.replace(old, new)), trip.back.trace, trip.back.notes)
        assert Homecoming(trip.body, trip.there, changed).unexplained(), old
    turned = json.loads(text)
    turned[2:4] = turned[3:1:-1]
    moved = Silent(turned, trip.back.trace, trip.back.notes)
    assert Homecoming(trip.body, trip.there, moved).unexplained()
