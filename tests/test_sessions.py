"""Sessions: files of agents read, written, edited, and carried to each other and to requests."""

from __future__ import annotations

import contextlib
import copy
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import cli
from wireglot.authoring import lawcase
from wireglot.errors import ConversionError, UsageError
from wireglot.files import replay, tree
from wireglot.language import documents

CASES = Path(__file__).parent / "cases" / "sessions"
RULES = wireglot.packaged()
ID = "5f0c2b6e-0000-5000-8000-000000000001"
FILES = {path.name: path.read_text("utf-8") for path in sorted(CASES.iterdir())}
DIALECT = {name: name.partition(".")[0].removesuffix("-old") for name in FILES}
OTHER = {"openclaw": "gemini-cli", "gemini-cli": "openclaw"}


def body(name: str) -> Any:
    return RULES[DIALECT[name]].parse(FILES[name])


def read(name: str) -> Any:
    return RULES[DIALECT[name]].read(body(name), "session").ir


def said(messages: list[dict[str, Any]]) -> list[Any]:
    """Return what messages say: who speaks, texts, calls with their results, media."""
    results: dict[str, Any] = {
        p["tool_call_id"]: (p["kind"], p["name"], core(p["value"]))
        for m in messages
        for p in m["parts"]
        if p["type"] == "tool_result"
    }
    found: list[Any] = []
    for message in messages:
        for part in message["parts"]:
            if part["type"] == "tool_call":
                args = part.get("arguments", part.get("arguments_text"))
                found.append(("call", part["id"], part["name"], args, results.get(part["id"])))
            elif part["type"] != "tool_result":
                found.append((message["role"], part["type"], core(part.get("text", part))))
    return found


def core(value: Any) -> str:
    """Return a value as text, without what one dialect alone knows of it."""
    return json.dumps(lawcase.abroad(value), sort_keys=True)


# -- at home --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_a_file_comes_back(name: str) -> None:
    dialect, before = RULES[DIALECT[name]], body(name)
    given = copy.deepcopy(before)
    out = dialect.write(dialect.read(before, "session").ir, "session")
    assert out.body == given == before
    assert out.notes == ()
    assert RULES.convert(before, dialect.name, dialect.name, unit="session").body == given
    lines = FILES[name].splitlines() if name.endswith("jsonl") else [FILES[name]]
    back = dialect.text(out.body).splitlines()
    assert [json_of(line) for line in back] == [json_of(line) for line in lines]


def json_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def test_a_log_that_a_program_wrote_comes_back_byte_by_byte() -> None:
    dialect = RULES["gemini-cli"]
    assert (
        dialect.text(dialect.write(read("gemini-cli.jsonl"), "session").body)
        == (FILES["gemini-cli.jsonl"])
    )


def test_both_forms_of_a_session_say_the_same() -> None:
    log, whole = (lawcase.abroad(read(name)) for name in ("gemini-cli.jsonl", "gemini-cli.json"))
    assert log == whole
    assert log["end"] == "2026-11-21T20:29:58.500Z"


def test_a_memory_that_went_through_json_is_as_good() -> None:
    for name in FILES:
        ir = json.loads(json.dumps(read(name)))
        assert RULES[DIALECT[name]].write(ir, "session").body == body(name)


RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "R"}
SAID = {"type": "text", "text": "Go on."}


@pytest.mark.parametrize("unit", ["messages", "session"])
@pytest.mark.parametrize("blocks", [[RESULT, SAID], [SAID, RESULT, SAID], [RESULT, RESULT]])
def test_results_and_text_of_one_line_come_back_in_one(blocks: list[Any], unit: str) -> None:
    use = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    lines = [
        {"type": role, "uuid": str(i), "timestamp": "t", "message": {"role": role, "content": said}}
        for i, (role, said) in enumerate(
            [("user", "Hi"), ("assistant", [use]), ("user", blocks), ("user", "More.")]
        )
    ]
    dialect = RULES["claude-code"]
    assert dialect.write(dialect.read(lines, unit).ir, unit).body == lines


# -- what is read ---------------------------------------------------------------------------------


def test_every_spelling_of_calls_and_results_is_read() -> None:
    calls = [found for found in said(read("openclaw-old.jsonl")["messages"]) if found[0] == "call"]
    assert calls == [
        ("call", "a", "f", {"q": 1}, ("text", "f", '"A"')),
        ("call", "b", "f", {"q": 2}, ("error", "f", '"B"')),
        ("call", "c", "f", {"q": 3}, ("error", "f", '"C"')),
        ("call", "d", "f", "{", ("error", "f", '"D"')),
        ("call", "e", "f", "[", ("text", "f", '"E"')),
        ("call", "g", "f", {}, ("error", "f", '"G"')),
    ]


def test_the_path_from_the_last_line_is_read_and_the_rest_is_kept() -> None:
    ir = read("openclaw.jsonl")
    assert [m.get("id", "")[-1:] for m in ir["messages"]] == list("245678abc")
    assert sorted(ir["kept"]["openclaw"]) == ["../1", "../10", "../3", "../9"]
    assert ir["kept"]["openclaw"]["../10"] == "no JSON at all"


def test_a_log_is_replayed() -> None:
    ir = read("gemini-cli.jsonl")
    assert [m.get("id") for m in ir["messages"]] == ["m1", "m2", None, "m6"]
    calls = [found for found in said(ir["messages"]) if found[0] == "call"]
    assert [call[4] and call[4][0] for call in calls] == [
        "text", "text", "error", "multimodal", "error", None,
    ]  # fmt: skip
    assert ir["messages"][1]["usage"] == {
        "input": 90, "cache_read": 10, "output": 20, "reasoning": 5, "tool_input": 0,
    }  # fmt: skip


LOG = documents.Log("id", "$set", "$rewindTo")
REPLAYS: dict[str, tuple[list[Any], str, int]] = {
    "messages follow each other": ([{"h": 1}, {"id": "a"}, {"id": "b"}], "ab", 0),
    "one of a known id replaces it": ([{"h": 1}, {"id": "a"}, {"id": "b"}, {"id": "a"}], "ab", 0),
    "back to a message": ([{"h": 1}, {"id": "a"}, {"id": "b"}, {"$rewindTo": "b"}], "a", 1),
    "back to none that is there": ([{"h": 1}, {"id": "a"}, {"$rewindTo": "x"}], "", 1),
    "all messages set": ([{"h": 1}, {"id": "a"}, {"$set": {"m": [{"id": "c"}]}}], "c", 1),
    "a whole object in the first line": ([{"h": 1, "m": [{"id": "a"}]}, {"id": "b"}], "ab", 0),
    "what is no object": (["x", {"h": 1}, {"id": "a"}], "a", 0),
}


@pytest.mark.parametrize("name", REPLAYS)
def test_an_event_of_a_log(name: str) -> None:
    lines, ids, gone = REPLAYS[name]
    done = replay.Replay(LOG, lines, "m")
    assert "".join(message["id"] for message in done.messages) == ids
    assert len(done.taken_back) == gone
    assert done.head == {"h": 1}


TREES: dict[str, tuple[list[tuple[Any, Any]], list[int] | None]] = {
    "a line": ([("a", None), ("b", "a")], [0, 1]),
    "a branch": ([("a", None), ("b", "a"), ("c", "a")], [0, 2]),
    "a parent that is not there": ([("a", None), ("b", "x"), ("c", "b")], [1, 2]),
    "no ids": ([(None, None)], None),
    "a circle": ([("a", "b"), ("b", "a")], [0, 1]),
}


@pytest.mark.parametrize("name", TREES)
def test_a_path_of_a_tree(name: str) -> None:
    pairs, path = TREES[name]
    lines = [{"id": one, "up": two} for one, two in pairs]
    assert tree.path(documents.Tree("id", "up"), lines) == path


# -- edits ----------------------------------------------------------------------------------------


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"type": "text", "text": text}]}


def test_what_comes_behind_a_log_is_one_more_line() -> None:
    ir, before = read("gemini-cli.jsonl"), body("gemini-cli.jsonl")
    ir["messages"].append(user("More."))
    ir["end"] = "2026-11-22T00:00:00.000Z"
    out = RULES["gemini-cli"].write(ir, "session")
    assert out.body[: len(before)] == before
    assert out.body[len(before)]["content"] == [{"text": "More."}]
    assert out.body[-1] == {"$set": {"lastUpdated": "2026-11-22T00:00:00.000Z"}}
    assert said(RULES["gemini-cli"].read(out.body, "session").ir["messages"]) == said(
        ir["messages"]
    )


def test_an_edit_within_a_log_is_not_undone() -> None:
    ir = read("gemini-cli.jsonl")
    ir["messages"][0]["parts"][0]["text"] = "Other."
    out = RULES["gemini-cli"].write(ir, "session")
    assert said(RULES["gemini-cli"].read(out.body, "session").ir["messages"])[0][2] == '"Other."'
    assert [line.get("id") for line in out.body] == [None, "m1", "m2", "m3", "m6"]


def test_a_message_in_a_tree_is_linked_and_other_lines_stay() -> None:
    ir, before = read("openclaw.jsonl"), body("openclaw.jsonl")
    ir["messages"].insert(1, user("New."))
    out = RULES["openclaw"].write(ir, "session")
    new = next(i for i, line in enumerate(out.body) if line not in before)
    assert out.body[new]["message"]["content"] == "New."
    assert out.body[new]["parentId"] == "00000002"
    after = next(line for line in out.body if isinstance(line, dict) and line["id"] == "00000004")
    assert after["parentId"] == out.body[new]["id"]
    rest = [line for line in out.body if line not in (out.body[new], after)]
    assert rest == [x for x in before if not isinstance(x, dict) or x["id"] != "00000004"]


# -- to each other --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_a_session_says_the_same_in_another_program(name: str) -> None:
    source = DIALECT[name]
    target = OTHER[source]
    out = RULES.convert(body(name), source, target, unit="session")
    there = RULES[target].read(out.body, "session").ir
    meant = said(read(name)["messages"])
    assert said(there["messages"]) == meant
    back = RULES.convert(out.body, target, source, unit="session").body
    assert said(RULES[source].read(back, "session").ir["messages"]) == meant
    again = RULES.convert(body(name), source, target, unit="session")
    assert again.body == out.body
    assert not any(note.code in ("ambiguous", "unknown-part") for note in out.notes)


@pytest.mark.parametrize(
    ("between", "first", "moved"), [("user", True, 1), ("assistant", True, 1), ("user", False, 2)]
)
def test_a_result_that_comes_late_stands_behind_its_call_in_a_line_of_its_own(
    between: str, first: bool, moved: int
) -> None:
    calls, results = (
        [{"type": kind, key: one, "name": "f", **more} for one in "ab"]
        for kind, key, more in (
            ("tool_call", "id", {"arguments": {}}),
            ("tool_result", "tool_call_id", {"kind": "text", "value": "R"}),
        )
    )
    told = {"role": between, "parts": [{"type": "text", "text": "By the way."}]}
    answers = [
        {"role": "tool", "parts": [one], "id": one["tool_call_id"], "time": f"T{i}"}
        for i, one in enumerate(results)
    ]
    rest = [answers[0], told, answers[1]] if first else [told, *answers]
    messages = [user("Hi"), {"role": "assistant", "parts": calls}, *rest, user("Go on.")]
    out = RULES["claude-code"].write({"id": "s", "cwd": "/a", "messages": messages}, "session")
    there = RULES["claude-code"].read(out.body, "session").ir["messages"]
    assert [(m["role"], m["id"], m["time"]) for m in there[2:4]] == [
        ("tool", "a", "T0"), ("tool", "b", "T1"),
    ]  # fmt: skip
    assert [note.code for note in out.notes if note.effect == "moved"] == ["moved"] * moved
    assert not any(note.effect == "lost" for note in out.notes)


def test_each_difference_is_noted() -> None:
    out = RULES.convert(body("openclaw.jsonl"), "openclaw", "gemini-cli", unit="session")
    lost = {note.source_path: note.code for note in out.notes if note.effect == "lost"}
    assert {path: lost[path] for path in ("/0/cwd", "/1", "/3", "/9", "/10")} == {
        "/0/cwd": "no-place",
        "/1": "no-message",
        "/3": "no-message",
        "/9": "no-message",
        "/10": "no-message",
    }
    assert lost["/4/message/content/0/thinkingSignature"] == "foreign-signature"
    assert lost["/4/message/content/4/partialJson"] == "own-field"
    added = {note.target_path: note.code for note in out.notes if note.effect == "added"}
    assert added["/4/toolCalls/0/status"] == "filled-in"
    assert added["/2/thoughts/0/timestamp"] == "made-time"


def test_the_state_of_a_call_comes_back_at_home_and_is_noted_abroad() -> None:
    out = RULES.convert(body("gemini-cli.jsonl"), "gemini-cli", "openclaw", unit="session")
    lost = {n.source_path: n.code for n in out.notes if n.effect == "lost"}
    assert lost["/4/toolCalls/4/status"] == "own-field"
    assert lost["/6"] == lost["/7"] == "no-message"  # taken back
    assert lost["/5"] == "no-message"  # for the eyes of people


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini"])
@pytest.mark.parametrize("name", ["openclaw.jsonl", "gemini-cli.jsonl"])
def test_a_session_becomes_a_request_and_a_session_again(name: str, target: str) -> None:
    home, ir = RULES[DIALECT[name]], read(name)
    request = {"model": "m", "messages": ir["messages"]}
    out = RULES[target].write(request)
    there = RULES[target].read(out.body).ir["messages"]
    back = home.write({"messages": there}, "session").body
    found = home.read(back, "session").ir["messages"]
    calls = [call[:4] for call in said(found) if call[0] == "call"]
    assert calls == [call[:4] for call in said(ir["messages"]) if call[0] == "call"]
    meant = {call[1]: call[4] for call in said(ir["messages"]) if call[0] == "call"}
    results = {call[1]: call[4] for call in said(found) if call[0] == "call"}
    texts = [key for key in meant if meant[key] and meant[key][0] == "text"]
    assert len(texts) >= 2
    assert {key: results[key] for key in texts} == {key: meant[key] for key in texts}


# -- seed 003 -------------------------------------------------------------------------------------

SEED = [
    {"role": "user", "content": "宇都宮 イベントを検索して"},
    {
        "role": "assistant",
        "content": [
            {"type": "output_text", "text": "検索してみますね。"},
            {"type": "tool_use", "id": "c1", "name": "google_web_search", "input": {"query": "a"}},
            {"type": "tool_use", "id": "c2", "name": "google_web_search", "input": {"query": "b"}},
        ],
    },
    {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "c2", "content": "B"}]},
    {
        "role": "tool",
        "content": [{"type": "tool_result_error", "tool_use_id": "c1", "content": "A"}],
    },
]


def test_two_turns_with_tools_are_in_the_session_file_and_in_the_next_request() -> None:
    first = RULES["openclaw"].read(SEED, "messages").ir
    assert RULES["openclaw"].write(first, "messages").body == SEED
    lines = RULES["gemini-cli"].write({"messages": first}, "session").body
    (records,) = [line["toolCalls"] for line in lines if "toolCalls" in line]
    answers = [record["result"][0]["functionResponse"] for record in records]
    assert [record["status"] for record in records] == ["error", "success"]
    assert [answer["response"] for answer in answers] == [{"error": "A"}, {"output": "B"}]
    # With another id the program would not find the two together again.
    assert [answer["id"] for answer in answers] == [record["id"] for record in records]
    second = RULES["gemini-cli"].read(lines, "session").ir["messages"]
    request = RULES["openclaw"].write([*second, user("もっと")], "messages").body
    assert [m["role"] for m in request] == [
        "user", "assistant", "toolResult", "toolResult", "user",
    ]  # fmt: skip
    assert [m["toolCallId"] for m in request if m["role"] == "toolResult"] == ["c1", "c2"]


@pytest.mark.parametrize("body", [-1, True, "", "{}", None, [], [3]])
def test_what_is_no_file_of_lines_is_refused_or_read(body: Any) -> None:
    for name in RULES.dialects:
        if RULES[name].model.document is not None:
            with contextlib.suppress(ConversionError):
                RULES[name].read(body, "session")


def test_messages_alone_are_no_session() -> None:
    with pytest.raises(
        ConversionError, match="these are messages alone; the unit `messages` takes"
    ):
        RULES["openclaw"].read(SEED, "session")
    assert RULES["openclaw"].parse(json.dumps(SEED, indent=1)) == SEED
    with pytest.raises(ConversionError, match="neither a message of gemini-cli nor the head of a"):
        RULES["gemini-cli"].read(SEED, "session")
    with pytest.raises(ConversionError, match="neither a message of gemini-cli nor the head of a"):
        RULES["gemini-cli"].read([{"kind": "request", "parts": []}], "session")
    head = body("openclaw.jsonl")[:1]
    assert RULES["openclaw"].read(head, "session").ir["messages"] == []
    assert RULES["openclaw"].read([], "session").ir["messages"] == []


def test_a_checkpoint_holds_the_history_that_the_program_makes_of_a_session() -> None:
    lines = body("gemini-cli.jsonl")
    out = RULES.convert(lines, "gemini-cli", "gemini-cli-checkpoint", unit="session").body
    assert [turn["role"] for turn in out["history"]] == ["user", "model", "user", "model"]
    thought, text, *calls = out["history"][1]["parts"]
    assert (thought["thought"], text) == (True, {"text": "Let me look."})
    ids = [call["functionCall"]["id"] for call in calls]
    assert ids[:-1] == [p["functionResponse"]["id"] for p in out["history"][2]["parts"]]
    assert ids == [record["id"] for record in lines[4]["toolCalls"]]
    bare = RULES["gemini-cli-checkpoint"]
    assert bare.write(bare.read(out["history"], "session").ir, "session").body == out["history"]


def test_a_response_without_an_id_stays_so_at_home_and_has_one_abroad() -> None:
    record = {
        "id": "f_1_0", "name": "f", "args": {}, "status": "success", "timestamp": "t",
        "result": [{"functionResponse": {"name": "f", "response": {"output": "R"}}}],
    }  # fmt: skip
    message = {"id": "m", "timestamp": "t", "type": "gemini", "content": "", "toolCalls": [record]}
    ir = RULES["gemini-cli"].read([message], "messages").ir
    assert ir[1]["parts"][0]["tool_call_id"] == "f_1_0"
    assert RULES["gemini-cli"].write(ir, "messages").body == [message]
    fresh = RULES["gemini-cli"].write(lawcase.abroad(ir), "messages").body
    assert fresh[0]["toolCalls"][0]["result"][0]["functionResponse"]["id"] == "f_1_0"


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith("jsonl")])
def test_a_line_that_was_not_written_to_its_end_is_noted(name: str) -> None:
    lines = RULES[DIALECT[name]].parse(FILES[name] + '{"type": "us')
    for target in ("claude-code", "codex"):
        out = RULES.convert(lines, DIALECT[name], target, unit="session")
        places = [n.source_path for n in out.notes if (n.code, n.effect) == ("no-message", "lost")]
        assert f"/{len(lines) - 1}" in places
    home = RULES.convert(lines, DIALECT[name], DIALECT[name], unit="session")
    assert home.body == lines and not any(n.effect == "lost" for n in home.notes)


# -- calls that hold their results ----------------------------------------------------------------


def call(key: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": key, "name": "f", "arguments": {}, **more}


def answer(key: str, text: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_call_id": key, "name": "f", "kind": "text", "value": text}


def test_calls_of_one_id_have_their_own_results() -> None:
    messages = [
        {"role": "assistant", "parts": [call("c")]},
        {"role": "tool", "parts": [answer("c", "one")]},
        {"role": "assistant", "parts": [call("c")]},
        {"role": "tool", "parts": [answer("c", "two")]},
    ]
    out = RULES["gemini-cli"].write(messages, "messages").body
    found = [m["toolCalls"][0]["result"][0]["functionResponse"]["response"] for m in out]
    assert found == [{"output": "one"}, {"output": "two"}]


def test_a_result_without_a_call_is_noted() -> None:
    messages = [user("Hi"), {"role": "tool", "parts": [answer("x", "one")]}]
    out = RULES["gemini-cli"].write(messages, "messages")
    assert [m["type"] for m in out.body] == ["user"]
    assert ("unpaired", "lost") in {(n.code, n.effect) for n in out.notes}


def test_a_result_of_another_id_belongs_to_the_call_around_it() -> None:
    record = {
        "id": "a", "name": "f", "args": {}, "status": "success", "timestamp": "t",
        "result": [{"functionResponse": {"id": "b", "name": "f", "response": {"output": "R"}}}],
    }  # fmt: skip
    message = {"id": "m", "timestamp": "t", "type": "gemini", "content": "", "toolCalls": [record]}
    reading = RULES["gemini-cli"].read([message], "messages")
    assert [note.code for note in reading.notes] == ["inconsistent"]
    assert reading.ir[1]["parts"][0]["tool_call_id"] == "a"
    assert RULES["gemini-cli"].write(reading.ir, "messages").body == [message]


# -- what is made ---------------------------------------------------------------------------------


def test_ids_and_times_are_made_the_same_way_or_by_a_clock() -> None:
    session = {"messages": [user("Hi"), user("Hi")]}
    one, two = (RULES["openclaw"].write(session, "session") for _ in range(2))
    assert one.body == two.body
    ids = [line["id"] for line in one.body]
    assert len(set(ids)) == 3
    assert [len(key) for key in ids] == [36, 8, 8]
    assert {line["timestamp"] for line in one.body} == {"1970-01-01T00:00:00.000Z"}
    ticks = iter(range(1_700_000_000, 1_800_000_000))
    timed = RULES["openclaw"].write(session, "session", clock=lambda: next(ticks) + 0.25)
    assert timed.body[0]["timestamp"] == "2023-11-14T22:13:20.250Z"
    assert timed.body[1]["timestamp"] < timed.body[2]["timestamp"]
    assert timed.body[1]["message"]["timestamp"] == 1_700_000_001_250
    assert Counter(n.code for n in timed.notes)["made-time"] == 3
    with pytest.raises(UsageError, match="clock"):
        wireglot.convert([], "openclaw", "gemini-cli", "session", clock=1)  # type: ignore[arg-type]


def test_lines_that_would_replace_each_other_get_ids_of_their_own() -> None:
    twice = {"messages": [{**user("a"), "id": "m"}, {**user("b"), "id": "m"}]}
    out = RULES["gemini-cli"].write(twice, "session")
    assert [line.get("id") for line in out.body] == [None, "m", "m_2"]
    assert ("renamed", "/2/id") in {(n.code, n.target_path) for n in out.notes}


# -- text -----------------------------------------------------------------------------------------

TEXTS: dict[str, tuple[str, Any]] = {
    "lines": ('{"a":1}\n{"b":2}\n', [{"a": 1}, {"b": 2}]),
    "no end of line": ('{"a":1}\n{"b":2}', [{"a": 1}, {"b": 2}]),
    "one line": ('{"a":1}\n', [{"a": 1}]),
    "one object that holds its messages": ('{"messages":[]}\n', {"messages": []}),
    "one object over several lines": ('{\n "messages": []\n}\n', {"messages": []}),
    "what is no JSON": ('{"a":1}\n{"b"\n\n"c"\n', [{"a": 1}, '{"b"', "", '"c"']),
    "ends of lines of another kind": ('{"a":1}\r\n{"b":2}\r\n', [{"a": 1}, {"b": 2}]),
    "nothing": ("", []),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_of_a_file(name: str) -> None:
    text, value = TEXTS[name]
    dialect = RULES["gemini-cli"]
    assert dialect.parse(text) == value
    assert dialect.parse(dialect.text(value)) == value


@pytest.mark.parametrize("text", ["no", "[1, 2]", '{"a": NaN}'])
def test_a_file_that_is_none(text: str) -> None:
    with pytest.raises(ConversionError):
        RULES["openclaw"].parse(text)


def test_the_command_reads_and_writes_files(tmp_path: Path) -> None:
    source, made = CASES / "gemini-cli.json", tmp_path / "made.jsonl"
    asked = ["--unit", "session", "--notes", "none"]
    pair = ["--from", "gemini-cli", "--to", "openclaw"]
    assert cli.main(["convert", str(source), *pair, *asked, "-o", str(made)]) == 0
    lines = [json.loads(line) for line in made.read_text("utf-8").splitlines()]
    assert lines[0]["type"] == "session"
    assert {line["type"] for line in lines[1:]} == {"message"}
    home = ["--from", "openclaw", "--to", "openclaw"]
    assert cli.main(["convert", str(made), *home, *asked, "-o", str(tmp_path / "two")]) == 0
    assert (tmp_path / "two").read_text("utf-8") == made.read_text("utf-8")


def test_what_has_no_sessions_says_so() -> None:
    assert RULES["openai-chat"].read([], "messages").ir == []
    with pytest.raises(UsageError, match="no picture of a session"):
        RULES["gemini-cli-stream"].read([], "session")


def test_time_grows_with_the_length_of_a_file_and_not_faster() -> None:
    """Counted in calls of one function: a clock would tell of the machine."""
    import sys

    def calls(n: int) -> int:
        session = {"messages": [user(f"{i}") for i in range(n)]}
        count = 0

        def count_up(frame: Any, event: str, arg: Any) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(count_up)
        try:
            lines = RULES["openclaw"].write(session, "session").body
            RULES.convert(lines, "openclaw", "gemini-cli", unit="session")
        finally:
            sys.setprofile(None)
        return count

    calls(10)
    assert calls(400) < 4.4 * calls(100)


@pytest.mark.parametrize(
    ("value", "code", "said"),
    [
        ([{"type": "text", "text": text} for text in "ab"], "blocks-as-text", "a\nb"),
        ({"a": 1}, "data-as-text", '{"a":1}'),
    ],
)
def test_a_result_in_its_call_goes_down_the_ladder_and_is_not_called_ambiguous(
    value: Any, code: str, said: str
) -> None:
    result = {"type": "tool_result", "tool_call_id": "c", "value": value}
    result["kind"] = "data" if isinstance(value, dict) else "multimodal"
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {}}
    talk = [{"role": "assistant", "parts": [call]}, {"role": "tool", "parts": [result]}]
    out = RULES["opencode"].write({"messages": talk}, "session")
    assert out.body["messages"][0]["parts"][0]["state"]["output"] == said
    codes = {note.code for note in out.notes}
    assert code in codes and not codes & {"ambiguous", "joined"}


# -- recorded files, forks, compactions ------------------------------------------------------------

SAMPLES = Path(__file__).parents[2] / "shared" / "facts" / "samples"
RECORDED = [
    *(("claude-code", path) for path in sorted(SAMPLES.glob("claude-code/*.jsonl"))),
    *(
        ("codex", path)
        for path in sorted(SAMPLES.glob("codex-rollout/*.jsonl"))
        if "session_meta" in path.read_text("utf-8")  # others are pieces of a file
    ),
]


@pytest.mark.skipif(not RECORDED, reason="the samples of ../shared/facts are missing")
@pytest.mark.parametrize(("dialect", "path"), RECORDED, ids=lambda one: getattr(one, "name", one))
def test_recorded_files_come_home_exactly(dialect: str, path: Path) -> None:
    rules = RULES[dialect]
    before = rules.parse(path.read_text("utf-8"))
    stored = json.loads(json.dumps(rules.read(before, "session").ir))
    assert rules.write(stored, "session").body == before


def line(name: str, up: str | None, text: Any, **more: Any) -> dict[str, Any]:
    """Return a line of Claude Code's: by the user, or where it has a `message` by the model."""
    made = {"type": "user", "message": {"role": "user", "content": text}, **more}
    return {"uuid": name, "parentUuid": up, "sessionId": "s", "cwd": "/a", **made}


def texts(lines: list[Any]) -> list[str]:
    ir = RULES["claude-code"].read(lines, "session").ir
    return [part["text"] for message in ir["messages"] for part in message["parts"]]


def test_what_stood_before_a_compaction_stays_at_home_and_is_noted() -> None:
    lines = [
        line("a", None, "Old."),
        line("b", None, "", type="system", subtype="compact_boundary", logicalParentUuid="a"),
        line("c", "b", "What was said.", isCompactSummary=True),
        line("d", "c", "Go on."),
        line("e", None, "Of a subagent.", isSidechain=True),
        {"type": "last-prompt", "leafUuid": "d"},
    ]
    assert texts(lines) == ["What was said.", "Go on."]
    out = RULES.convert(lines, "claude-code", "codex", unit="session")
    noted = {n.source_path for n in out.notes if n.code == "no-message" and n.effect == "lost"}
    assert noted >= {"/0", "/1", "/4", "/5"}
    assert RULES.convert(lines, "claude-code", "claude-code", unit="session").body == lines


def test_the_end_of_a_path_is_what_a_later_line_names() -> None:
    lines = [line("a", None, "One."), line("b", "a", "Two."), line("c", "a", "Three.")]
    assert texts(lines) == ["One.", "Three."]
    assert texts([*lines, {"type": "last-prompt", "leafUuid": "b"}]) == ["One.", "Two."]
    assert texts([{"type": "summary", "leafUuid": "b"}, *lines]) == ["One.", "Three."]
    assert texts([*lines, {"type": "last-prompt", "leafUuid": "x"}]) == ["One.", "Three."]
    assert texts([*lines, {"type": "summary", "leafUuid": "b"}]) == ["One.", "Three."]
    assert texts([*lines, {"type": "last-prompt", "leafUuid": "a"}]) == ["One.", "Three."]
    since = [line("d", "b", "Four.")]
    assert texts([*lines, {"type": "last-prompt", "leafUuid": "b"}, *since])[1:] == [
        "Two.",
        "Four.",
    ]
    back = {"type": "last-prompt", "leafUuid": "a", "explicit": True}
    assert texts([*lines, back]) == ["One."]
    assert texts([*lines, back, *since]) == ["One.", "Two.", "Four."]
    began = [line("e", None, "", type="system", subtype="compact_boundary"), line("f", "e", "Sum.")]
    assert texts([*lines, {"type": "last-prompt", "leafUuid": "c"}, *began]) == ["Sum."]


def test_what_a_summary_keeps_stands_behind_the_line_that_it_names() -> None:
    said = [line("a", None, "Old."), line("b", "a", "Kept."), line("c", "b", "Too.")]
    since = [line("e", "d", "Sum."), line("f", "e", "Go on.")]

    def boundary(**told: Any) -> dict[str, Any]:
        kind = {"type": "system", "subtype": "compact_boundary", "compactMetadata": told}
        return line("d", None, "", **kind)

    part = {"headUuid": "b", "anchorUuid": "e", "tailUuid": "c"}
    lines = [*said, boundary(preservedSegment=part), *since]
    assert texts(lines) == ["Sum.", "Kept.", "Too.", "Go on."]
    assert RULES.convert(lines, "claude-code", "claude-code", unit="session").body == lines
    early = {"uuids": ["a", "b"], "anchorUuid": "d"}
    lines = [*said, boundary(preservedMessages=early), *since]
    assert texts(lines) == ["Old.", "Kept.", "Sum.", "Go on."]
    assert RULES.convert(lines, "claude-code", "claude-code", unit="session").body == lines


def of_openclaw(*lines: dict[str, Any]) -> list[str]:
    """Return the texts of a session of three messages, and of these lines behind them."""
    head = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-02-21T14:37:00.000Z"}
    said = [entry("a", None, "One."), entry("b", "a", "Two."), entry("c", "b", "Three.")]
    body = [head, *said, *lines]
    assert RULES.convert(body, "openclaw", "openclaw", unit="session").body == body
    ir = RULES["openclaw"].read(body, "session").ir
    return [part["text"] for message in ir["messages"] for part in message["parts"]]


def test_a_line_of_openclaw_that_goes_to_another_branch_or_begins_anew() -> None:
    back = {"type": "leaf", "id": "l", "parentId": "c", "targetId": "a"}
    assert of_openclaw(back) == ["One."]
    assert of_openclaw(back, entry("d", "a", "Four.")) == ["One.", "Four."]
    assert of_openclaw(back, entry("d", "l", "Four.")) == ["One.", "Four."]
    assert of_openclaw({**back, "targetId": "gone"}) == ["One.", "Two.", "Three."]
    assert of_openclaw({**back, "type": "label"}) == ["One.", "Two.", "Three."]
    beside = entry("d", "c", "Beside.", appendMode="side")
    assert of_openclaw(beside) == ["One.", "Two.", "Three."]
    anew = {"type": "reset", "id": "r", "parentId": "c", "reason": "daily"}
    assert of_openclaw(anew, entry("d", "r", "Four.")) == ["Four."]
    kept = {**anew, "firstKeptEntryId": "c"}
    assert of_openclaw(kept, entry("d", "r", "Four.")) == ["Three.", "Four."]
    unsaid = entry("d", "c", "/status", message={"excludeFromContext": True})
    assert of_openclaw(unsaid, entry("e", "d", "Four.")) == ["One.", "Two.", "Three.", "Four."]


def of_user(said: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"type": "text", "text": said}]}


def of_model(said: str) -> dict[str, Any]:
    return {**of_user(said), "role": "assistant"}


def edited(dialect: str, lines: list[Any], edit: Callable[[list[Any]], Any]) -> tuple[Any, Any]:
    """Return the texts of a session after an edit, and those that its file has then."""
    rules = RULES[dialect]
    ir = json.loads(json.dumps(rules.read(lines, "session").ir))
    edit(ir["messages"])
    again = rules.read(rules.write(ir, "session").body, "session").ir
    two = [
        [part["text"] for message in one["messages"] for part in message["parts"]]
        for one in (ir, again)
    ]
    return two[0], two[1]


def entry(name: str, up: str | None, text: str, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": text, **more.pop("message", {})}
    return {"type": "message", "id": name, "parentId": up, "message": message, **more}


EDITS: list[Callable[[list[Any]], Any]] = [
    lambda talk: talk.extend([of_user("New."), of_model("Newer.")]),
    lambda talk: talk.insert(1, of_model("New.")),
    lambda talk: talk.insert(2, of_model("New.")),
    lambda talk: talk.pop(),
    lambda talk: talk.pop(0),
    lambda talk: talk.pop(1),
    lambda talk: talk.pop(2),
    lambda talk: talk.__delitem__(slice(1, None)),
]
SUMMED = [
    line("a", None, "Old."),
    line("b", "a", "Kept."),
    line("c", "b", "", type="assistant", message=of_model("Too.") | {"content": "Kept, too."}),
    line(
        "d", None, "", type="system", subtype="compact_boundary",
        compactMetadata={"preservedMessages": {"uuids": ["b", "c"]}},
    ),
    line("e", "d", "Sum."),
    line("f", "e", "Go on."),
]  # fmt: skip
FORKED = [
    line("a", None, "One."),
    line("b", "a", "Two."),
    line("c", "b", "Aside."),
    line("d", "c", "Aside, too."),
    line("e", "b", "Three."),
    line("f", "e", "Four."),
]


def item(role: str, text: str) -> dict[str, Any]:
    said = {"type": "input_text" if role == "user" else "output_text", "text": text}
    payload = {"type": "message", "role": role, "content": [said]}
    return {"timestamp": "2026-02-21T14:37:00.000Z", "type": "response_item", "payload": payload}


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {**item("user", ""), "type": "event_msg", "payload": {"type": kind, **more}}


HEAD = {**item("user", ""), "type": "session_meta", "payload": {"id": "s", "cwd": "/"}}
GONE = [item("user", "<environment_context>Late."), item("user", "Gone."), item("assistant", "So.")]
BACK = event("thread_rolled_back", num_turns=1)


def exchanged(name: str, role: str, text: str, **more: Any) -> dict[str, Any]:
    info = {"id": name, "sessionID": "ses_1", "role": role, "time": {"created": 1}, **more}
    part = {
        "id": f"prt_{name}",
        "sessionID": "ses_1",
        "messageID": name,
        "type": "text",
        "text": text,
    }
    return {"info": info, "parts": [part]}


SESSIONS: dict[str, tuple[str, Any]] = {
    "a turn is taken back": (
        "codex",
        [HEAD, item("user", "One."), item("assistant", "Two."), *GONE, BACK,
         item("user", "Three."), item("assistant", "Four.")],
    ),
    "the last turn is taken back": (
        "codex",
        [HEAD, *map(item, ("user", "assistant", "user"), ("One.", "Two.", "Three.")), *GONE, BACK],
    ),
    "the end is taken back": (
        "opencode",
        {
            "info": {"id": "ses_1", "time": {"created": 1}, "revert": {"messageID": "msg_4"}},
            "messages": [
                exchanged("msg_1", "user", "One."),
                exchanged("msg_2", "assistant", "Two."),
                exchanged("msg_3", "user", "Three."),
                exchanged("msg_4", "user", "Gone."),
            ],
        },
    ),
    "summed up": ("claude-code", SUMMED),
    "summed up, and its end is named": (
        "claude-code",
        [*SUMMED, {"type": "last-prompt", "leafUuid": "f"}],
    ),
    "forked": ("claude-code", FORKED),
    "forked, and the end of a branch is named": (
        "claude-code",
        [*FORKED, {"type": "last-prompt", "leafUuid": "d"}],
    ),
    "forked, and the end of before is named": (
        "claude-code",
        [*FORKED[:5], {"type": "last-prompt", "leafUuid": "e"}, FORKED[5]],
    ),
    "forked, and an end before is named": (
        "claude-code",
        [*FORKED, {"type": "last-prompt", "leafUuid": "e", "explicit": True}],
    ),
    "aside": ("claude-code", [{**one, "isSidechain": True} for one in FORKED]),
    "another branch": (
        "openclaw",
        [
            {"type": "session", "version": 3, "id": "s", "timestamp": "2026-02-21T14:37:00.000Z"},
            *(entry("a", None, "One."), entry("b", "a", "Two."), entry("c", "b", "Three.")),
            {"type": "leaf", "id": "l", "parentId": "c", "targetId": "b"},
            *(entry("d", "l", "Four."), entry("e", "d", "Five.")),
        ],
    ),
    "a summary that is a message": (
        "openclaw",
        [
            {"type": "session", "version": 3, "id": "s", "timestamp": "2026-02-21T14:37:00.000Z"},
            *(
                {"type": "message", "id": name, "parentId": up, "message": said}
                for name, up, said in [
                    ("a", None, {"role": "user", "content": "Old."}),
                    ("b", "a", {"role": "user", "content": "Kept."}),
                    ("c", "b", {"role": "user", "content": "Kept, too."}),
                ]
            ),
            {"type": "compaction", "id": "d", "parentId": "c", "summary": "Sum.",
             "firstKeptEntryId": "b"},
            {"type": "message", "id": "e", "parentId": "d",
             "message": {"role": "user", "content": "Go on."}},
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_that_is_edited_at_home_has_what_it_says_in_its_file(
    name: str, edit: Callable[[list[Any]], Any]
) -> None:
    said, found = edited(*SESSIONS[name], edit)
    assert found == said


def test_what_stands_before_a_summary_comes_behind_it_and_another_end_is_told() -> None:
    dialect, lines = SESSIONS["a summary that is a message"]
    ir = json.loads(json.dumps(RULES[dialect].read(lines, "session").ir))
    ir["messages"].insert(0, of_user("New."))
    out = RULES[dialect].write(ir, "session")
    assert "reordered" in {note.code for note in out.notes}
    again = RULES[dialect].read(out.body, "session").ir["messages"]
    assert [one["parts"][0]["text"] for one in again][1:] == [
        "New.",
        "Kept.",
        "Kept, too.",
        "Go on.",
    ]
    dialect, lines = SESSIONS["summed up, and its end is named"]
    lines = [*lines[:-1], {**lines[-1], "explicit": True}]
    ir = json.loads(json.dumps(RULES[dialect].read(lines, "session").ir))
    ir["messages"] += [of_model("New.")]
    out = RULES[dialect].write(ir, "session")
    assert out.body[-1]["leafUuid"] == out.body[-2]["uuid"]
    assert [note.target_path for note in out.notes if note.code == "reworded"] == ["/7/leafUuid"]


def test_what_a_summary_keeps_is_a_line_of_the_tree() -> None:
    lines = [{**SUMMED[0]}, *SUMMED[1:]]
    lines[1] = {key: value for key, value in lines[1].items() if key != "parentUuid"}
    assert texts(lines) == ["Sum.", "Kept, too.", "Go on."]
    assert RULES.convert(lines, "claude-code", "claude-code", unit="session").body == lines


def test_what_is_kept_on_the_path_names_at_home_what_it_named() -> None:
    lines = [*SUMMED[:3], {**SUMMED[3], "parentUuid": "gone"}, *SUMMED[4:]]
    seen = line("g", "a", "", type="attachment", attachment={"type": "date"})
    names = {"preservedMessages": {"uuids": ["b", "g", "c"]}}
    lines = [*lines[:2], seen, lines[2], {**lines[3], "compactMetadata": names}, *lines[4:]]
    assert RULES.convert(lines, "claude-code", "claude-code", unit="session").body == lines
    assert texts(lines) == ["Sum.", "Kept.", "Kept, too.", "Go on."]
    said, found = edited("claude-code", lines, lambda talk: talk.pop(1))
    assert found == said


def test_calls_of_one_answer_are_one_turn_abroad_where_results_stand_between_them() -> None:
    """Tools run while the model still says calls; only its first piece may hold its thoughts."""

    def said(name: str, after: str, block: Any) -> Any:
        answer = {"id": "m", "role": "assistant", "content": [block], "usage": {"output_tokens": 7}}
        return {**line(name, after, ""), "type": "assistant", "message": answer}

    def result(name: str, after: str, call: str) -> Any:
        return line(name, after, [{"type": "tool_result", "tool_use_id": call, "content": call}])

    calls = [{"type": "tool_use", "id": f"t{n}", "name": "f", "input": {}} for n in (1, 2)]
    lines = [
        line("a", None, "Go."),
        said("b", "a", calls[0]),
        result("c", "b", "t1"),
        said("d", "c", calls[1]),
    ]
    lines.append(result("e", "d", "t2"))
    asked = RULES.convert(lines, "claude-code", "anthropic", "request", "claude-opus-4-5").body
    assert [message["role"] for message in asked["messages"]] == ["user", "assistant", "user"]
    assert asked["messages"][1]["content"] == calls
    there = RULES.convert(lines, "claude-code", "openclaw", "session").body
    assert [
        one["message"]["usage"]["output"] for one in there if "usage" in one.get("message", ())
    ] == [7]
    back = RULES.convert(there, "openclaw", "claude-code", "session").body
    assert [one["type"] for one in back] == ["user", "assistant", "user", "user"]


def test_what_a_subagent_said_last_is_not_the_end_of_a_path() -> None:
    main = [line("a", None, "One."), line("b", "a", "Two.")]
    aside = [
        line("c", "b", "Do it.", isSidechain=True),
        line("d", "c", "Did it.", isSidechain=True),
    ]
    assert texts([*main, *aside]) == ["One.", "Two."]
    assert texts([*main, line("e", None, "Of its own.", isSidechain=True)]) == ["One.", "Two."]
    assert texts(aside) == ["Do it.", "Did it."]
    assert RULES.convert([*main, *aside], "claude-code", "claude-code", unit="session").body == [
        *main, *aside,
    ]  # fmt: skip


def test_what_ends_aside_is_aside_as_a_whole_where_no_line_names_the_end() -> None:
    odd = [
        line("a", None, "One.", isSidechain=False),
        line("b", "a", "Two."),
        line("c", "b", "Three.", isSidechain="x"),
    ]
    end = {"type": "last-prompt", "leafUuid": "c", "sessionId": "s"}
    assert texts([*odd, end]) == ["One.", "Two.", "Three."]
    talk = RULES["claude-code"].read([*odd, end], "session").ir
    del talk["spelled"], talk["kept"]  # nothing is remembered, no line names the end
    written = RULES["claude-code"].write(talk, "session")
    assert texts(written.body) == ["One.", "Two.", "Three."]
    assert [one["isSidechain"] for one in written.body] == ["x"] * 3
    assert {note.code: note.target_path for note in written.notes} == {
        "reworded": "/0/isSidechain",
        "filled-in": "/1/isSidechain",
    }


def test_a_line_whose_parent_is_not_there_comes_home() -> None:
    def of_model(name: str, up: Any) -> dict[str, Any]:
        said = {"role": "assistant", "id": "m", "content": [{"type": "text", "text": name}]}
        return line(name, up, "", type="assistant", message=said)

    for up in ("gone", None, 5, "f"):  # or stands behind it, or is what no message is
        lines = [
            line("a", None, "Hi."),
            of_model("b", "a"),
            of_model("c", up),
            {"type": "attachment", "uuid": "d", "parentUuid": "c", "attachment": {}},
            of_model("e", "d"),
            line("f", "d", "Go on."),
        ]
        ir = RULES["claude-code"].read(lines, "session").ir
        assert RULES["claude-code"].write(ir, "session").body == lines
        abroad = RULES["claude-code"].write(lawcase.abroad(ir), "session").body
        ids = [one["uuid"] for one in abroad]
        assert [one["parentUuid"] for one in abroad] == [None, *ids[:-1]]


def test_lines_that_do_not_repeat_the_head_as_the_others_do_come_home() -> None:
    lines = [line("a", None, "One."), line("b", "a", "Two."), line("c", "b", "Three.")]
    del lines[1]["cwd"]
    lines[2] |= {"cwd": "/b"}
    ir = RULES["claude-code"].read(lines, "session").ir
    assert (ir["id"], ir["cwd"]) == ("s", "/a")
    assert RULES["claude-code"].write(ir, "session").body == lines
    ir["cwd"] = "/c"
    assert [one.get("cwd") for one in RULES["claude-code"].write(ir, "session").body] == [
        "/c", None, "/b",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ({"content": "R", "success": True}, "text"),
        ({"content": "R", "success": False}, "error"),
        ({"content": "R"}, "text"),
    ],
)
def test_a_result_of_an_old_codex_is_read(output: Any, kind: str) -> None:
    head = {"id": ID, "timestamp": "t", "cwd": "/a", "originator": "o", "cli_version": "1"}
    call = {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"}
    result = {"type": "function_call_output", "call_id": "c", "output": output}
    lines = [
        {"timestamp": "t", "type": "session_meta", "payload": {**head, "source": "cli"}},
        *({"timestamp": "t", "type": "response_item", "payload": one} for one in (call, result)),
    ]
    ir = RULES["codex"].read(lines, "session").ir
    part = ir["messages"][1]["parts"][0]
    assert (part["kind"], part["value"]) == (kind, "R")
    assert RULES["codex"].write(ir, "session").body == lines
    written = RULES["codex"].write(lawcase.abroad(ir), "session").body
    assert isinstance(written[2]["payload"]["output"], str)


def test_a_text_is_said_again_abroad_alone() -> None:
    session = {"cwd": "/a", "messages": [user("Hi"), user("Ho")]}
    out = RULES["codex"].write(session, "session")
    events = [one["payload"]["message"] for one in out.body if one["type"] == "event_msg"]
    assert events == ["Hi", "Ho"]
    ir = RULES["codex"].read(out.body, "session").ir
    assert [one["parts"][0]["text"] for one in ir["messages"]] == ["Hi", "Ho"]
    assert RULES["codex"].write(ir, "session").body == out.body


def test_a_line_that_says_a_text_again_knows_the_text_and_its_time(tmp_path: Path) -> None:
    text = (Path(wireglot.__file__).parents[2] / "rules" / "codex.yaml").read_text("utf-8")
    (tmp_path / "codex.yaml").write_text(text.replace("message: $text}", "message: $txt}"))
    with pytest.raises(wireglot.RuleError, match="of the assistant again holds `\\$txt`"):
        wireglot.load_rules(tmp_path)


def opencode() -> dict[str, Any]:
    talk = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}
    made = RULES.convert(talk, "openai-chat", "opencode", "session", clock=lambda: 1.7e9).body
    assert made["messages"][1]["info"]["parentID"] == made["messages"][0]["info"]["id"]
    return dict(made)


@pytest.mark.parametrize("odd", [None, [], 5])
def test_ids_come_home_around_a_message_that_is_none(odd: Any) -> None:
    file = opencode()
    file["messages"][0]["info"]["model"] = odd
    ir = RULES["opencode"].read(file, "session").ir
    before = copy.deepcopy(ir)
    assert RULES["opencode"].write(ir, "session").body == file
    assert ir == before


def test_a_line_whose_id_is_no_text_is_on_no_path() -> None:
    told = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "w"}]}
    lines: list[Any] = [
        {"type": "user", "message": {"role": "user", "content": text}, **ids}
        for text, ids in (
            ("x", {"uuid": "a", "parentUuid": None}),
            ("y", {"uuid": [], "parentUuid": "a"}),
            ("z", {"uuid": "a"}),
            ("v", {"uuid": "b", "parentUuid": "a"}),
        )
    ]
    lines += [{"type": "assistant", "uuid": "c", "parentUuid": "b", "message": told}]
    ir = RULES["claude-code"].read(lines, "session").ir
    texts = [part["text"] for message in ir["messages"] for part in message["parts"]]
    assert texts == ["x", "v", "w"]
    assert RULES["claude-code"].write(ir, "session").body == lines


@pytest.mark.parametrize("odd", ["5", {}, [1], True, 0.5])
def test_a_count_that_is_no_number_is_no_fault_of_the_rules(odd: Any) -> None:
    session = copy.deepcopy(body("gemini-cli.json"))
    session["messages"][1]["tokens"]["thoughts"] = odd
    out = RULES.convert(session, "gemini-cli", "anthropic", "request", "m")
    assert ("unfit", "/messages/1/tokens/thoughts") in [(n.code, n.source_path) for n in out.notes]
    assert RULES.convert(session, "gemini-cli", "gemini-cli", "session").body == session


@pytest.mark.parametrize("said", [{"id": None}, {}])
def test_a_call_without_an_id_has_that_of_the_result_in_it(said: Any) -> None:
    answer = {"id": "f-1", "name": "f", "response": {"output": "x"}}
    call = {"name": "f", "args": {}, "status": "success", "result": [{"functionResponse": answer}]}
    session = copy.deepcopy(body("gemini-cli.json"))
    when = session["messages"][1]["timestamp"]
    session["messages"][1]["toolCalls"] = [{**call, "timestamp": when, **said}]
    ir = RULES["gemini-cli"].read(session, "session").ir
    assert RULES["gemini-cli"].write(ir, "session").body == session
    abroad = RULES.convert(session, "gemini-cli", "openai-chat", "request", "m").body["messages"]
    told = [(m["tool_calls"][0]["id"], m["content"]) for m in abroad if m.get("tool_calls")]
    assert [id for id, _ in told] == [m["tool_call_id"] for m in abroad if m["role"] == "tool"]
    assert told[0][0] == "f-1"


@pytest.mark.parametrize("data", ["AAAA", "A A AA"])
def test_a_message_of_media_without_a_place_is_left_out_however_they_are_spelled(data: str) -> None:
    url = f"data:audio/wav;base64,{data}"
    parts = [{"type": "text", "text": "Hi"}, {"type": "file", "mediaType": "audio/wav", "url": url}]
    said = [{"id": "m", "role": "assistant", "parts": parts}]
    out = RULES.convert(said, "ai-sdk-ui", "codex", "session")
    codes = {note.code for note in out.notes}
    assert "no-place" in codes and "empty-message" not in codes  # the text beside it is there
    assert "Hi" in json.dumps(out.body)
    assert RULES.convert(said, "ai-sdk-ui", "ai-sdk-ui", "session").body == said


@pytest.mark.parametrize(
    ("source", "line", "paths"),
    [
        ("codex", {"type": "session_meta", "payload": {"id": "i", "cwd": "/x"}},
         ["/0/payload/id", "/0/payload/cwd"]),
        ("openclaw", {"type": "session", "version": 3, "id": "s", "cwd": "/x"},
         ["/0/id", "/0/cwd"]),
    ],
)  # fmt: skip
def test_what_each_line_would_say_is_noted_where_there_is_none(
    source: str, line: Any, paths: list[str]
) -> None:
    """A session without a message: Claude Code has a folder and an id in each line alone."""
    out = wireglot.convert([line], source, "claude-code", unit="session")
    lost = [note for note in out.notes if note.message.endswith("none is there")]
    assert (out.body, [note.source_path for note in lost]) == ([], paths)
    assert {note.code for note in out.notes} <= {"no-place", "own-field"}


def test_a_result_stays_in_its_call_where_calls_of_one_name_have_no_ids() -> None:
    """The first call was given up: what stands in the second one is not its result."""
    said = [{"functionResponse": {"name": "f", "response": {"output": "1"}}}]
    calls: list[dict[str, Any]] = [
        {"name": "f", "args": {"n": n}, "status": "success"} for n in (1, 2)
    ]
    calls[1]["result"] = said
    at = "2026-01-01T00:00:00Z"
    turn = {"id": "m", "timestamp": at, "type": "gemini", "content": "", "toolCalls": calls}
    whole = {"sessionId": "s", "projectHash": "p", "startTime": at, "lastUpdated": at}
    given = {**whole, "messages": [turn]}
    dialect = RULES["gemini-cli"]
    ir = dialect.read(given, "session").ir
    assistant, tool = ir["messages"]
    assert tool["parts"][0]["tool_call_id"] == assistant["parts"][1]["id"]
    assert dialect.write(ir, "session").body == given


def test_what_a_file_says_again_comes_home_and_goes_abroad_once() -> None:
    """The Gemini CLI says a call in its content, too, once written anew; results always."""
    time, picture = (
        "2026-11-28T12:13:00.000Z",
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
    )
    said = [
        {"functionResponse": {"id": name, "name": "f", "response": {"output": name.upper()}}}
        for name in ("c1", "c2")
    ]
    calls: list[Any] = [{"id": name, "name": "f", "args": {}} for name in ("c1", "c2")]
    held = [
        {**call, "status": "success", "timestamp": time, "result": result}
        for call, result in zip(calls, ([said[0], picture], [said[1]]), strict=True)
    ]
    heard = [{"text": "Hm.", "thought": True}, *({"functionCall": call} for call in calls)]
    lines: list[Any] = [
        {"sessionId": "s", "projectHash": "h", "startTime": time, "lastUpdated": time},
        {"id": "m1", "timestamp": time, "type": "user", "content": [{"text": "Hi"}]},
        {"id": "m2", "timestamp": time, "type": "gemini", "content": heard, "toolCalls": held},
        {"id": "m3", "timestamp": time, "type": "user", "content": [said[0], picture, said[1]]},
        {"id": "m4", "timestamp": time, "type": "gemini", "content": "Done."},
    ]
    cli = RULES["gemini-cli"]
    session = cli.read(lines, unit="session").ir
    session["messages"][0]["parts"][0]["text"] = "Hello"
    out = cli.write(session, unit="session")
    lines[1]["content"] = [{"text": "Hello"}]
    assert (out.body, out.notes) == (lines, ())
    for target in ("claude-code", "codex", "opencode", "openclaw", "atif"):
        made = RULES.convert(lines, "gemini-cli", target, unit="session")
        parts = [
            (part["type"], part.get("id", part.get("tool_call_id")))
            for message in RULES[target].read(made.body, unit="session").ir["messages"]
            for part in message["parts"]
            if part["type"] in ("tool_call", "tool_result")
        ]
        assert sorted(parts) == [(k, n) for k in ("tool_call", "tool_result") for n in ("c1", "c2")]
        assert {note.code for note in made.notes}.isdisjoint(("unknown-part", "unpaired"))


def test_a_time_of_a_message_whose_parts_have_others_is_noted_where_each_has_a_line() -> None:
    result = {"type": "tool_result", "tool_call_id": "c1", "kind": "text", "value": "x"}
    told = {"role": "tool", "parts": [{**result, "time": "2026-01-01T00:00:01.000Z"}]}
    told["time"] = "2026-01-01T00:00:05.000Z"
    asked = {"role": "user", "parts": [{"type": "text", "text": "q"}], "time": told["time"]}
    written = RULES["openclaw"].write({"messages": [asked, told]}, "session")
    assert written.body[-1]["timestamp"] == "2026-01-01T00:00:01.000Z"
    noted = [note for note in written.notes if note.effect == "lost"]
    assert [(n.code, n.message) for n in noted] == [
        ("no-place", "each of its parts has a time of its own")
    ]


@pytest.mark.parametrize("target", ["opencode", "openclaw", "codex", "atif"])
@pytest.mark.parametrize("odd", ["yesterday", "2026-11-20", ""])
def test_a_time_that_is_none_refuses_no_session(odd: str, target: str) -> None:
    line = {
        "type": "user",
        "uuid": "u",
        "parentUuid": None,
        "sessionId": "s",
        "timestamp": odd,
        "cwd": "/",
    }
    lines = [{**line, "message": {"role": "user", "content": "Hi"}}]
    out = RULES.convert(lines, "claude-code", target, unit="session")
    assert said(RULES[target].read(out.body, "session").ir["messages"]) == [
        ("user", "text", '"Hi"')
    ]


@pytest.mark.parametrize("trace", [False, True])
def test_a_text_that_was_cut_in_a_sign_refuses_no_session(trace: bool) -> None:
    call = {"name": "f", "id": "c", "args": {"a": "x\udc00"}}
    said = {"type": "ai", "data": {"content": "cut \ud83d", "tool_calls": [call]}}
    body = [said, {"type": "tool", "data": {"tool_call_id": "c", "content": "half \ud83d"}}]
    rules = wireglot.load_rules()
    home = rules.convert(body, "langchain", "langchain", unit="session", trace=trace)
    assert home.body == body and home.notes == ()
    out = rules.convert(body, "langchain", "hf-chat", unit="session", trace=trace)
    assert [note.source_path for note in out.notes if note.code == "reworded"] == [
        "/0/data/content",
        "/0/data/tool_calls/0/args/a",
        "/1/data/content",
    ]
    assert out.body["messages"][1]["content"] == "half \ufffd"
    json.dumps(out.body, ensure_ascii=False).encode()


def test_a_text_that_was_cut_in_a_sign_comes_back_where_it_was_not_changed() -> None:
    cut = {"type": "human", "data": {"content": "cut \ud83d"}}
    dialect = wireglot.load_rules()["langchain"]
    ir = json.loads(json.dumps(dialect.read([cut, cut], unit="session").ir))
    assert dialect.write(ir, unit="session").body == [cut, cut]
    for indent in (None, 2):
        text = dialect.text([cut], indent)
        assert "\\ud83d" in text and text.isascii() and dialect.parse(text) == [cut]
    ir["messages"][0]["parts"][0]["text"] = "new"
    assert dialect.write(ir, unit="session").body[0]["data"]["content"] == "new"
    assert dialect.write(ir, unit="session").body[1] == cut


def test_a_clock_that_was_read_twice_is_no_warning_nor_is_how_a_program_ran() -> None:
    at = ["2026-11-23T06:19:33.703Z", "2026-11-23T06:19:33.719Z", "2026-11-23T06:19:33.753Z"]
    asked = {"role": "user", "content": "Hi", "timestamp": 1795414773718}
    said = {"role": "assistant", "content": [{"type": "text", "text": "Ho"}],
            "api": "a", "provider": "p", "model": "m", "stopReason": "stop", "responseId": "r",
            "usage": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3,
                      "cost": {"total": 1}}, "timestamp": 1795414773720}  # fmt: skip
    session = [
        {"type": "session", "version": 3, "id": "s", "timestamp": at[0], "cwd": "/a"},
        {"type": "message", "id": "1", "parentId": None, "timestamp": at[1], "message": asked},
        {"type": "message", "id": "2", "parentId": "1", "timestamp": at[2], "message": said},
    ]
    out = RULES.convert(session, "openclaw", "claude-code", "session")
    assert [n.source_path for n in out.notes if n.severity != "info"] == ["/0/timestamp"]
    twice = [n.source_path for n in out.notes if n.code == "retimed"]
    assert twice == ["/1/message/timestamp", "/2/message/timestamp"]
    assert RULES.convert(session, "openclaw", "openclaw", "session").body == session
