"""Repair and diagnosis: broken histories are healed, judged by the strict providers."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wireglot
from wireglot.trail import place_of, value_at

from . import mocks, width
from .test_mocks import ELSEWHERE, OF, PATHS, SHARED, exchanges, model_of, recorded

Json = Any
RULES = wireglot.packaged()
HEALED = {"repair": True}
MODEL = "claude-sonnet-4-5"  # one that may be asked to go on from its own words
# Recorded answers 400 about media that a model does not take, and what is told of them.
MEDIA = {"194487ca6472deb0", "38ef8ed52285f30a"}


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def calls(*ids: str, name: str = "f") -> Json:
    made = {"name": name, "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": i, "type": "function", "function": made} for i in ids],
    }


def result(key: str, text: str = "x") -> Json:
    return {"role": "tool", "tool_call_id": key, "content": text}


BROKEN = {
    "a result without a call": [user("q"), result("z"), user("p")],
    "a call without a result": [user("q"), calls("a", "b"), result("b"), user("p")],
    "a call that nobody answered yet": [user("q"), calls("a")],
    "a result before its call": [user("q"), result("a"), calls("a"), user("p")],
    "two results of one call": [user("q"), calls("a"), result("a"), result("a", "y"), user("p")],
    "two calls of one id": [user("q"), calls("a", "a"), result("a"), result("a", "y")],
    "a result after another turn": [user("q"), calls("a"), user("p"), result("a")],
    "results in another order": [user("q"), calls("a", "b"), result("b"), result("a")],
    "calls first": [calls("a"), result("a"), user("p")],
    "ids and names of other signs": [user("q"), calls("a:0", name="f.g"), result("a:0")],
    "an empty id": [user("q"), calls("", ""), result(""), result("")],
}


@pytest.mark.parametrize("dialect", mocks.DIALECTS)
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_history_is_healed_for_every_dialect(name: str, dialect: str) -> None:
    body = {"model": "m", "messages": BROKEN[name]}
    given = copy.deepcopy(body)
    out = RULES.convert(body, "openai-chat", dialect, options=HEALED)
    assert body == given
    assert mocks.refusals(dialect, out.body, "m") == []
    again = RULES.repair(out.body, dialect, model="m")
    assert (again.body, again.notes) == (out.body, ())


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_diagnosed_where_the_provider_refuses_it(name: str) -> None:
    body = {"model": "m", "messages": BROKEN[name]}
    refused = mocks.refusals("openai-chat", body)
    found = RULES.diagnose(body, "openai-chat")
    assert bool(found) == bool(refused)
    near = [(d, one) for d in found for one in refused if one.path.startswith(d.path)]
    near += [(d, one) for d in found for one in refused if d.path.startswith(one.path)]
    assert bool(near) == bool(refused)
    assert all(d.rule and d.help for d in found)


@pytest.mark.parametrize("dialect", mocks.DIALECTS)
def test_the_pass_is_on_between_dialects_and_off_within_one(dialect: str) -> None:
    body = {"model": "m", "messages": BROKEN["a call without a result"]}
    at_home = RULES.convert(body, "openai-chat", "openai-chat")
    assert at_home.body == body
    if dialect == "openai-chat":
        return
    abroad = RULES.convert(body, "openai-chat", dialect)
    assert "answered" in [note.code for note in abroad.notes]
    assert mocks.refusals(dialect, abroad.body, "m", version="2023-06-01") == []
    off = RULES.convert(body, "openai-chat", dialect, options={"repair": False})
    assert "answered" not in [note.code for note in off.notes]


def test_the_calls_of_the_last_turn_wait_unless_repair_is_asked_for() -> None:
    body = {"model": "m", "messages": BROKEN["a call that nobody answered yet"]}
    waiting = RULES.convert(body, "openai-chat", "anthropic")
    assert [m["role"] for m in waiting.body["messages"]] == ["user", "assistant"]
    healed = RULES.convert(body, "openai-chat", "anthropic", options=HEALED)
    (answer,) = healed.body["messages"][2]["content"]
    assert answer["is_error"] is True
    (note,) = (note for note in healed.notes if note.code == "answered")
    assert (note.source_path, note.severity) == ("/messages/1/tool_calls/0", "info")


def test_a_choice_among_tools_keeps_those_that_the_provider_runs() -> None:
    named = [{"type": "mcp", "server_label": "s"}, {"type": "image_generation"}]
    named.append({"type": "web_search"})
    named.append({"type": "shell"})
    tools: list[Any] = [{"type": "function", "name": "f", "parameters": {"type": "object"}}, *named]
    named.insert(1, {"type": "function", "name": "f"})
    choice = {"type": "allowed_tools", "mode": "auto", "tools": named}
    body = {"model": "m", "input": "Hi", "tools": tools, "tool_choice": choice}
    out = RULES.repair(body, "openai-responses")
    assert (out.body["tool_choice"], out.notes) == (choice, ())


def test_a_lost_result_is_noted_with_its_place() -> None:
    body = {"model": "m", "messages": BROKEN["a result without a call"]}
    out = RULES.convert(body, "openai-chat", "gemini")
    (note,) = (note for note in out.notes if note.code == "unpaired")
    assert (note.effect, note.severity, note.source_path) == ("lost", "error", "/messages/1")
    assert note.rule is not None and "gemini.yaml:" in note.rule


def test_the_last_word_is_the_users_where_a_model_wants_it() -> None:
    talk = [user("q"), {"role": "assistant", "content": "So"}]
    for model, last in (("claude-sonnet-4-5", "assistant"), ("claude-opus-5", "user")):
        body = {"model": model, "max_tokens": 9, "messages": talk}
        out = RULES.repair(body, "anthropic")
        assert out.body["messages"][-1]["role"] == last
        assert mocks.refusals("anthropic", out.body) == []


def test_a_call_without_its_signature_gets_the_word_for_none() -> None:
    turns = [
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
    ]
    (found,) = RULES.diagnose({"contents": turns}, "gemini", model="gemini-3-pro")
    at = "/contents/1/parts/0/thoughtSignature"
    assert (found.code, found.path, found.healed) == ("filled-in", at, True)
    out = RULES.repair({"contents": turns}, "gemini", model="gemini-3-pro").body["contents"]
    assert out[1]["parts"][0].pop("thoughtSignature") == "skip_thought_signature_validator"
    assert out == turns
    assert RULES.diagnose({"contents": turns}, "gemini", model="gemini-2.5-pro") == ()
    healed = RULES.repair({"contents": turns}, "gemini", model="gemini-3-pro").body
    assert RULES.diagnose(healed, "gemini", model="gemini-3-pro") == ()


def test_several_summaries_of_one_thought_are_what_the_api_wrote() -> None:
    several = [{"type": "summary_text", "text": text} for text in ("one", "two")]
    thought = {"type": "reasoning", "summary": several}
    signed = {**thought, "id": "rs_1", "encrypted_content": "AAAA"}
    ask = {"role": "user", "content": "q"}
    said = {"role": "assistant", "content": "a"}  # no turn ends with a thought
    assert RULES.diagnose({"model": "m", "input": [ask, signed, said]}, "openai-responses") == ()
    talk = [ask, signed, thought, said]
    found = RULES.diagnose({"model": "m", "input": talk}, "openai-responses")
    assert {one.path for one in found} == {"/input/2/summary/0", "/input/2/summary/1"}


def test_an_empty_thought_beside_a_call_is_said_once() -> None:
    talk = [user("q"), calls("a"), result("a"), user("p")]
    healed = RULES.repair({"model": "deepseek-v4-pro", "messages": talk}, "deepseek")
    assert healed.body["messages"][1]["reasoning_content"] == ""
    assert [note.code for note in healed.notes] == ["filled-in"]
    assert RULES.repair(healed.body, "deepseek").notes == ()
    assert RULES.diagnose(healed.body, "deepseek") == ()


def test_what_must_be_said_is_diagnosed() -> None:
    (found,) = RULES.diagnose({"model": "m", "messages": [user("q")]}, "anthropic")
    assert (found.path, found.code, found.healed) == ("/max_tokens", "filled-in", False)


def test_a_body_that_cannot_be_read_is_diagnosed_where_that_is() -> None:
    body = {"model": "m", "messages": [{"role": "human", "content": "q"}]}
    (found,) = RULES.diagnose(body, "openai-chat")
    assert (found.path, found.code) == ("/messages/0/role", "unreadable")


# -- recorded exchanges -----------------------------------------------------------------------


def options_of(dialect: str) -> Json:
    return {"version": "2023-06-01"} if dialect == "anthropic" else None


# The types of OpenAI's Responses ask for `strict` of tools and `detail` of pictures, and so does
# its diagnosis; the API itself does without, and holds calls that a request does not repeat.
@recorded
@pytest.mark.parametrize("dialect", [d for d in mocks.DIALECTS if d != "openai-responses"])
def test_what_was_answered_200_needs_no_repair(dialect: str) -> None:
    for exchange in width.some(exchanges(OF.get(dialect, "gemini")), 3):
        if exchange["id"] == "4cb7dfeb40bf428c":  # types of schemas as numbers; no page has them
            continue
        if exchange["status"] != 200 or (dialect == "vertex") > (exchange["vendor"] == "vertex"):
            continue
        body, model = exchange["request"], model_of(exchange)
        out = RULES.repair(body, dialect, model, options_of(dialect))
        assert (out.body, out.notes) == (body, ()), exchange["id"]
        found = RULES.diagnose(body, dialect, model, options_of(dialect))
        found = tuple(one for one in found if one.severity == "error")
        assert found == (), (exchange["id"], *map(str, found))


@recorded
@pytest.mark.parametrize("dialect", sorted(OF))
def test_what_was_answered_400_is_diagnosed_with_its_path(dialect: str) -> None:
    for exchange in exchanges(OF[dialect]):
        key = exchange["id"]
        if exchange["status"] != 400 or key in ELSEWHERE or key in MEDIA:
            continue
        body, model = exchange["request"], model_of(exchange)
        found = RULES.diagnose(body, dialect, model, options_of(dialect))
        assert [one.path for one in found] == [PATHS[key]]


def test_the_recorded_400s_are_all_accounted_for() -> None:
    folder = SHARED / "traffic"
    if not folder.is_dir():
        pytest.skip("the recorded exchanges of ../shared are missing")
    seen = set()
    for name in OF.values():
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            seen |= {e["id"] for e in map(json.loads, lines) if e["status"] == 400}
    assert seen == {*PATHS, *ELSEWHERE}


# -- histories broken at random ---------------------------------------------------------------

IDS = st.sampled_from(["a", "b", "c", "d:1", "e.2", ""])
NAMES = st.sampled_from(["f", "g", "h.1", "1x"])
TEXTS = st.sampled_from(["x", "so", "Well."])


@st.composite
def histories(draw: st.DrawFn) -> list[Json]:
    """Draw a conversation that pairs and alternates as it should."""
    out = [user(draw(TEXTS))]
    number = 0
    for _ in range(draw(st.integers(0, 3))):
        ids = [f"call_{number + i}" for i in range(draw(st.integers(1, 3)))]
        number += len(ids)
        turn = calls(*ids, name=draw(st.sampled_from(["f", "g"])))
        if draw(st.booleans()):
            turn["content"] = draw(TEXTS)
        out.append(turn)
        out += [result(key, draw(TEXTS)) for key in ids]
        if draw(st.booleans()):
            out += [{"role": "assistant", "content": draw(TEXTS)}, user(draw(TEXTS))]
    return out


@st.composite
def broken(draw: st.DrawFn) -> list[Json]:
    """Draw a conversation, and break it somewhere."""
    out = copy.deepcopy(draw(histories()))
    for _ in range(draw(st.integers(0, 4))):
        if not out:
            break
        i = draw(st.integers(0, len(out) - 1))
        j = draw(st.integers(0, len(out) - 1))
        how = draw(st.sampled_from("drop twice swap move id call name blank empty".split()))
        message = out[i]
        if how == "drop":
            del out[i]
        elif how == "twice":
            out.insert(j, copy.deepcopy(message))
        elif how == "swap":
            out[i], out[j] = out[j], out[i]
        elif how == "move":
            out.insert(j, out.pop(i))
        elif how == "id" and message["role"] == "tool":
            message["tool_call_id"] = draw(IDS)
        elif how == "id" and message.get("tool_calls"):
            message["tool_calls"][0]["id"] = draw(IDS)
        elif how == "call" and len(message.get("tool_calls", ())) > 1:
            message["tool_calls"].pop()
        elif how == "name" and message.get("tool_calls"):
            message["tool_calls"][-1]["function"]["name"] = draw(NAMES)
        elif how == "blank" and message["role"] == "user":
            message["content"] = draw(st.sampled_from(["", " "]))
        elif how == "empty" and message["role"] == "user":
            message["content"] = []
    return out or [user("q")]


def request(messages: list[Json]) -> Json:
    return {"model": MODEL, "messages": messages}


MANY = settings(
    deadline=None,
    max_examples=width.times(25, 15),
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.mark.parametrize("dialect", mocks.DIALECTS)
@MANY
@given(messages=broken())
def test_a_history_broken_at_random_is_healed_on_the_way_to_another_dialect(
    dialect: str, messages: list[Json]
) -> None:
    out = RULES.convert(request(messages), "openai-chat", dialect, options=HEALED)
    assert _judged(dialect, out.body) == []
    again = RULES.repair(out.body, dialect, MODEL)
    if any(out.body.get(key) for key in ("messages", "contents")):  # else nothing was said
        assert again.body == out.body, again.notes


@pytest.mark.parametrize("dialect", mocks.DIALECTS)
@MANY
@given(messages=broken())
def test_a_history_broken_at_random_is_healed_at_home(dialect: str, messages: list[Json]) -> None:
    # Nothing is repaired on the way, so that it arrives broken.
    way = {"repair": False}
    first = request(messages)
    body = RULES.convert(first, "openai-chat", dialect, options=way).body
    # These take calls and results in any order; what pairs elsewhere is right here.
    anyhow = dialect in ("ollama", "openai-responses")
    refused = _judged(dialect, body) or (anyhow and _judged("openai-chat", first))
    out = RULES.repair(body, dialect, MODEL)
    assert _judged(dialect, out.body) == []
    assert RULES.repair(out.body, dialect, MODEL).body == out.body
    if not refused:
        assert out.body == body, out.notes


def _judged(dialect: str, body: Json) -> list[mocks.Refusal]:
    """Judge a request; one in which nothing was said cannot be healed."""
    found = mocks.refusals(dialect, body, MODEL)
    return [one for one in found if one.rule not in ("messages", "contents")]


@pytest.mark.parametrize("dialect", mocks.DIALECTS[1:])
@MANY
@given(messages=broken())
def test_functions_repair_as_the_walk_does_on_the_way(dialect: str, messages: list[Json]) -> None:
    body = request(messages)
    fast = RULES.convert(body, "openai-chat", dialect)
    slow = RULES.convert(body, "openai-chat", dialect, trace=True)
    assert fast.body == slow.body
    assert sorted(map(str, fast.notes)) == sorted(map(str, slow.notes))


def test_a_message_joins_the_one_before_it_however_many_say_the_same() -> None:
    messages = [
        {
            "role": "assistant",
            "content": "a",
            "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        }
        for id in ("c1", "c2", "c3")
    ]
    messages.append({"role": "tool", "tool_call_id": "c1", "content": "a"})
    for trace in (False, True):
        out = RULES.convert(request(messages), "openai-chat", "ollama", trace=trace)
        joined = [note.target_path for note in out.notes if note.code == "joined"]
        assert joined[0] == "/messages/0/content"


@pytest.mark.parametrize("dialect", mocks.DIALECTS)
@MANY
@given(messages=histories())
def test_a_right_history_is_left_as_it_is(dialect: str, messages: list[Json]) -> None:
    body = RULES.convert(request(messages), "openai-chat", dialect).body
    assert mocks.refusals(dialect, body, MODEL) == []
    out = RULES.repair(body, dialect, MODEL)
    assert (out.body, out.notes) == (body, ())
    assert RULES.diagnose(body, dialect, MODEL) == ()


# -- the command line -------------------------------------------------------------------------


def test_the_command_diagnoses_and_repairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from wireglot.cli import main

    given, healed = tmp_path / "given.json", tmp_path / "healed.json"
    given.write_text(json.dumps({"model": "m", "messages": BROKEN["a call without a result"]}))
    asked = ["--dialect", "openai-chat"]
    assert main(["diagnose", str(given), *asked]) == 1
    told = capsys.readouterr().out
    assert told.startswith("/messages/1/tool_calls/0: answered: ")
    assert "openai-chat.yaml:" in told and "1 found, of which `repair` heals 1" in told
    assert main(["diagnose", str(given), "--json", *asked]) == 1
    (one,) = json.loads(capsys.readouterr().out)
    assert one["path"] == "/messages/1/tool_calls/0" and one["healed"] is True
    assert main(["repair", str(given), *asked, "-o", str(healed), "--notes", "none"]) == 0
    assert main(["diagnose", str(healed), *asked]) == 0
    assert capsys.readouterr().out == "nothing found\n"
    assert main(["repair", str(given), *asked, "--policy", "answered=fail"]) == 3


@pytest.mark.parametrize(
    ("dialect", "tools", "choice"),
    [
        (
            "anthropic",
            [{"type": "web_search_20250305", "name": "web_search"}],
            {"type": "tool", "name": "web_search"},
        ),
        ("openai-responses", [{"type": "web_search"}], {"type": "web_search_preview"}),
        (
            "openai-responses",
            [{"type": "web_search", "external_web_access": False}],
            {"type": "web_search"},
        ),
        (
            "openai-responses",
            [
                {
                    "type": "namespace", "name": "clock", "description": "d",
                    "tools": [{"type": "function", "name": "read", "parameters": {}}],
                }
            ],
            {"type": "function", "name": "read"},
        ),
    ],
)  # fmt: skip
def test_a_choice_of_a_tool_that_is_there_stays(dialect: str, tools: Json, choice: Json) -> None:
    said: Json = {"input": "q"} if dialect == "openai-responses" else {"max_tokens": 9}
    if dialect == "anthropic":
        said["messages"] = [{"role": "user", "content": "q"}]
    body = {"model": "m", **said, "tools": tools, "tool_choice": choice}
    assert RULES.repair(body, dialect).body["tool_choice"] == choice
    assert not [d for d in RULES.diagnose(body, dialect) if d.code == "no-tool"]


@pytest.mark.parametrize(
    ("dialect", "tools", "choice"),
    [
        ("openai-responses", [{"type": "mcp", "server_label": "s"}], {"type": "function"}),
        ("openai-responses", [{"type": "code_interpreter", "container": "c"}], {"type": "custom"}),
        ("anthropic", [{"type": "mcp_toolset", "mcp_server_name": "s"}], {"type": "tool"}),
        ("anthropic", [{"type": "bash_20250124", "name": "bash"}], {"type": "tool"}),
    ],
)
def test_a_choice_of_a_tool_that_is_not_there_goes_also_beside_one_without_a_name(
    dialect: str, tools: Json, choice: Json
) -> None:
    said: Json = {"input": "q"} if dialect == "openai-responses" else {"max_tokens": 9}
    if dialect == "anthropic":
        said["messages"] = [{"role": "user", "content": "q"}]
    body = {"model": "m", **said, "tools": tools, "tool_choice": {**choice, "name": "gone"}}
    assert "tool_choice" not in RULES.repair(body, dialect).body
    assert [d for d in RULES.diagnose(body, dialect) if d.code == "no-tool"]
    if tools[0].get("name"):
        body["tool_choice"]["name"] = tools[0]["name"]
        assert RULES.repair(body, dialect).body["tool_choice"] == body["tool_choice"]


SHOT = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}
SHOWN = [
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "shot", "input": {}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": [
            {"type": "text", "text": "Here."}, SHOT]},
        {"type": "text", "text": "And?"}]},
]  # fmt: skip
# A text before a picture; a thought beside a call; both; a turn between tools and the user.
ADDED = {"adp-v1": 1, "openai-chat": 1, "deepseek-anthropic": 1, "deepseek": 2, "mistral": 1}
TALKING = [name for name in sorted(RULES.dialects) if RULES[name].model.conversation is not None]


@pytest.mark.parametrize("target", TALKING)
def test_what_is_added_stands_where_its_note_says(target: str) -> None:
    """A text that says whose a picture is, a thought that is wanted beside a call, ids, times."""
    out = RULES.convert(SHOWN, "anthropic", target, "messages")
    added = [note for note in out.notes if note.effect == "added"]
    assert len(added) == ADDED.get(target, len(added))
    for note in added:
        assert note.target_path is not None, note
        at = place_of(out.body, note.target_path)
        assert value_at(out.body, at, missing=None) is not None, note
