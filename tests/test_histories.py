"""Histories: what a line (Codex, pi), or a summary (opencode), says instead of all before it."""

from __future__ import annotations

import json
from typing import Any

import pytest

import wireglot

Json = Any
RULES = wireglot.packaged()
TIME = "2026-11-20T10:00:00.000Z"
HEAD = {"timestamp": TIME, "type": "session_meta", "payload": {"id": "s", "cwd": "/a"}}


def item(role: str, text: str) -> Json:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def line(payload: Json, kind: str = "response_item") -> Json:
    return {"timestamp": TIME, "type": kind, "payload": payload}


def summed(*items: Json) -> Json:
    return line({"message": "m", "replacement_history": [*items], "window": 1}, "compacted")


def texts(messages: list[Json]) -> list[tuple[str, str]]:
    return [(m["role"], p["text"]) for m in messages for p in m["parts"]]


TURN = line({"model": "m"}, "turn_context")
OLD = [line(item("user", "Old.")), TURN, line(item("assistant", "Oh."))]
SUM = [item("developer", "Rules."), item("user", "Sum.")]
NEW = [TURN, line(item("user", "New.")), line(item("assistant", "Ah."))]
BAD = {"type": "message", "role": "user", "content": 3}
ODD = [{"type": "ghost", "x": 1}, *SUM[:1], "no item", *SUM[1:], BAD]
FILES = {
    "what came since": [HEAD, *OLD, summed(*SUM), *NEW],
    "nothing since": [HEAD, *OLD, summed(*SUM)],
    "two, of which the last counts": [HEAD, *OLD, summed(*SUM), *NEW, summed(*SUM[1:]), *NEW],
    "what is no item": [HEAD, *OLD, summed(*ODD), *NEW],
    "of nothing": [HEAD, *OLD, summed(), *NEW],
    "without a list it says nothing": [HEAD, *OLD, line({"message": "m"}, "compacted"), *NEW],
    "calls and results": [
        HEAD,
        summed({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{ }"}),
        line({"type": "function_call_output", "call_id": "c", "output": "Done."}),
    ],
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_comes_home(name: str) -> None:
    file = FILES[name]
    stored = json.loads(json.dumps(RULES["codex"].read(file, "session").ir))
    assert RULES["codex"].write(stored, "session").body == file
    for trace in (False, True):
        assert RULES.convert(file, "codex", "codex", "session", trace=trace).body == file


def test_it_is_said_instead_of_all_before_it() -> None:
    ir = RULES["codex"].read(FILES["what came since"], "session").ir
    said = [("system", "Rules."), ("user", "Sum."), ("user", "New."), ("assistant", "Ah.")]
    assert texts(ir["messages"]) == said
    ir = RULES["codex"].read(FILES["two, of which the last counts"], "session").ir
    assert texts(ir["messages"]) == said[1:]


def test_abroad_what_stood_before_is_noted_and_what_it_says_is_not() -> None:
    out = RULES.convert(FILES["what is no item"], "codex", "openclaw", "session")
    lost = {n.source_path for n in out.notes if n.code in ("no-message", "unfit")}
    within = "/4/payload/replacement_history"
    assert lost == {"/1", "/2", "/3", "/4", f"{within}/0", f"{within}/2", f"{within}/4", "/5"}


def test_an_edit_stands_where_it_was_made() -> None:
    ir = RULES["codex"].read(FILES["what came since"], "session").ir
    fresh = [{"role": "user", "parts": [{"type": "text", "text": text}]} for text in "abc"]
    one, two, *rest = ir["messages"]
    one["parts"][0]["text"] = "Other rules."
    ir["messages"] = [one, fresh[0], two, fresh[1], *rest[1:], fresh[2]]
    lines = RULES["codex"].write(ir, "session").body
    within = lines[4]["payload"]["replacement_history"]
    assert [one["content"][0]["text"] for one in within] == ["Other rules.", "a", "Sum."]
    assert texts(RULES["codex"].read(lines, "session").ir["messages"]) == texts(ir["messages"])
    assert lines[:4] == FILES["what came since"][:4]
    assert [one for one in lines if one["type"] == "turn_context"] == [TURN, TURN]


def test_an_edit_where_nothing_came_since() -> None:
    ir = RULES["codex"].read(FILES["nothing since"], "session").ir
    ir["messages"] = [{"role": "user", "parts": [{"type": "text", "text": "a"}]}]
    *before, last = RULES["codex"].write(ir, "session").body
    assert before == [HEAD, *OLD, summed()]
    assert last["payload"] == item("user", "a")


def test_results_pair_with_calls_within_it() -> None:
    ir = RULES["codex"].read(FILES["calls and results"], "session").ir
    call, result = (message["parts"][0] for message in ir["messages"])
    assert (call["id"], result["tool_call_id"], result["name"]) == ("c", "c", "f")


def _entry(number: int, kind: str, **said: Any) -> dict[str, Any]:
    """Return an entry of pi, behind the one before it."""
    before = f"{number - 1:08x}" if number > 1 else None
    return {"type": kind, "id": f"{number:08x}", "parentId": before, "timestamp": TIME, **said}


def _pi(*entries: tuple[str, Any]) -> list[Json]:
    head = {"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/a"}
    lines = []
    for number, (kind, said) in enumerate(entries, 1):
        if isinstance(said, str):
            said = {"message": {"role": "user", "content": said, "timestamp": 1}}
        lines.append(_entry(number, kind, **said))
    return [head, *lines]


def _tail(summary: str, *said: Any, **more: Any) -> tuple[str, Json]:
    tail = [
        {"role": "user", "content": one, "timestamp": 1} if isinstance(one, str) else one
        for one in said
    ]
    return "compaction", {"summary": summary, "tokensBefore": 9, "retainedTail": tail, **more}


OLD_SUM = ("compaction", {"summary": "Sum.", "tokensBefore": 9, "firstKeptEntryId": "00000004"})
SAID = [("message", "a"), ("message", "b")]
TAILS = {
    "what stays": ([*SAID, _tail("Sum.", "c", "d"), ("message", "e")], ["Sum.", "c", "d", "e"]),
    "both": ([*SAID, _tail("Sum.", "c", firstKeptEntryId="00000002")], ["Sum.", "c"]),
    "nothing": ([*SAID, _tail("Sum."), ("message", "e")], ["Sum.", "e"]),
    "twice": ([*SAID, _tail("Old.", "c"), ("message", "e"), _tail("Sum.", "f")], ["Sum.", "f"]),
    "an older form later": ([*SAID, _tail("Old.", "c"), ("message", "e"), OLD_SUM], ["Sum.", "e"]),
    "what is no message": (
        [*SAID, _tail("Sum.", "c", {"x": 1}, "d"), ("label", {"label": "l"}), ("message", "e")],
        ["Sum.", "c", "d", "e"],
    ),
}


@pytest.mark.parametrize("name", TAILS)
def test_what_a_summary_says_that_stays_stands_behind_it(name: str) -> None:
    file, said = _pi(*TAILS[name][0]), TAILS[name][1]
    ir = RULES["openclaw"].read(file, "session").ir
    heard = [text for _, text in texts(ir["messages"])]
    assert [text.split("\n")[-2] if "<summary>" in text else text for text in heard] == said
    stored = json.loads(json.dumps(ir))
    assert RULES["openclaw"].write(stored, "session").body == file
    for trace in (False, True):
        assert RULES.convert(file, "openclaw", "openclaw", "session", trace=trace).body == file


@pytest.mark.parametrize("name", TAILS)
@pytest.mark.parametrize("gone", [0, 1])
def test_an_edit_of_what_a_summary_says(name: str, gone: int) -> None:
    ir = RULES["openclaw"].read(_pi(*TAILS[name][0]), "session").ir
    ir["messages"].insert(1, {"role": "user", "parts": [{"type": "text", "text": "New."}]})
    del ir["messages"][:gone]
    lines = RULES["openclaw"].write(ir, "session").body
    assert all(line["type"] and line["id"] for line in lines)
    assert texts(RULES["openclaw"].read(lines, "session").ir["messages"]) == texts(ir["messages"])


def _said(number: int, role: str, part: dict[str, Any], **info: Any) -> dict[str, Any]:
    """Return a message of opencode."""
    who: dict[str, Any] = {"agent": "build", "model": {"providerID": "p", "modelID": "m"}}
    if role == "assistant":
        used = {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        who = {"mode": "build", "agent": "build", "path": {"cwd": "/a", "root": "/"}, "cost": 0}
        who |= {"tokens": used, "modelID": "m", "providerID": "p", "finish": "stop"}
    place = {"id": f"prt_{number}", "sessionID": "ses_1", "messageID": f"msg_{number}"}
    head = {"id": f"msg_{number}", "sessionID": "ses_1", "role": role, "time": {"created": number}}
    return {"info": {**head, **who, **info}, "parts": [{**place, **part}]}


def _summed(tail: str | None, **info: Any) -> dict[str, Any]:
    """Return a session of opencode that was summed up; from `tail` on turns are kept."""
    kept = {} if tail is None else {"tail_start_id": tail}
    parts = [{"type": "text", "text": text} for text in ("old", "OLD", "late", "LATE", "S", "new")]
    messages = [
        _said(1, "user", parts[0]),
        _said(2, "assistant", parts[1], parentID="msg_1"),
        _said(3, "user", parts[2]),
        _said(4, "assistant", parts[3], parentID="msg_3"),
        _said(5, "user", {"type": "compaction", "auto": True, **kept}),
        _said(6, "assistant", parts[4], **{"parentID": "msg_5", "summary": True, **info}),
        _said(7, "user", parts[5]),
    ]
    head: dict[str, Any] = {
        "id": "ses_1",
        "slug": "s",
        "projectID": "global",
        "directory": "/a",
        "title": "A",
    }
    head |= {"version": "1", "time": {"created": 1, "updated": 2}}
    return {"info": head, "messages": messages}


WHAT = "What did we do so far?"  # opencode says so to the model for a compaction


@pytest.mark.parametrize(
    ("tail", "info", "said"),
    [
        (None, {}, [WHAT, "S", "new"]),
        ("msg_3", {}, [WHAT, "S", "late", "LATE", "new"]),
        ("msg_4", {}, [WHAT, "S", "LATE", "new"]),
        ("msg_9", {}, [WHAT, "S", "new"]),
        (None, {"finish": None}, ["old", "OLD", "late", "LATE", WHAT, "S", "new"]),
        (None, {"parentID": "msg_9"}, ["old", "OLD", "late", "LATE", WHAT, "S", "new"]),
    ],
)
def test_a_summary_stands_for_what_it_sums_up(
    tail: str | None, info: dict[str, Any], said: list[str]
) -> None:
    body = _summed(tail, **info)
    agent = wireglot.packaged()["opencode"]
    assert wireglot.convert(body, source="opencode", target="opencode", unit="session").body == body
    found = agent.read(body, unit="session").ir
    words = [part["text"] for one in found["messages"] for part in one["parts"] if "text" in part]
    assert words == said
    found["messages"].append({"role": "user", "parts": [{"type": "text", "text": "more"}]})
    written = agent.write(found, unit="session").body["messages"]
    assert written[:-1] == body["messages"]
    assert written[-1]["parts"][0]["text"] == "more"
    out = wireglot.convert(body, source="opencode", target="codex", unit="session")
    gone = {note.source_path for note in out.notes if note.code == "no-message"}
    assert len(gone) == 7 - len(said) and gone <= {f"/messages/{n}" for n in range(4)}


STEPS = [
    {"step_id": 1, "source": "user", "message": "List."},
    {"step_id": 2, "source": "agent", "message": "$ ls", "observation": {"results": []}},
    {"step_id": 3, "source": "agent", "message": "One file."},
]
SEEN: dict[str, tuple[list[Json], list[str]]] = {
    "a text": ([{"content": "a.txt"}], ["a.txt"]),
    "data": ([{"content": '{"a": 1}'}], ['{"a": 1}']),
    "an error": ([{"content": "No.", "extra": {"is_error": True}}], ["No."]),
    "two": ([{"content": "a"}, {"content": "b"}], ["a", "b"]),
    "with a picture": (
        [
            {
                "content": [
                    {"type": "text", "text": "x"},
                    {
                        "type": "image",
                        "source": {"media_type": "image/png", "path": "data:image/png;base64,AA=="},
                    },
                ]
            }
        ],
        ["x"],
    ),
}
TARGETS = [
    *(("session", name) for name in ("claude-code", "codex", "openclaw", "opencode", "gemini-cli")),
    *(("session", name) for name in ("hf-chat", "langchain", "ai-sdk-ui", "sharegpt")),
    *(("request", name) for name in ("openai-chat", "anthropic", "gemini", "openai-responses")),
]


def trajectory(results: list[Json]) -> Json:
    steps: Json = json.loads(json.dumps(STEPS))
    steps[1]["observation"]["results"] = results
    return {"schema_version": "ATIF-v1.8", "session_id": "s", "agent": {}, "steps": steps}


@pytest.mark.parametrize("unit,target", TARGETS)
@pytest.mark.parametrize("name", SEEN)
def test_what_a_tool_said_that_no_call_is_of_is_said_by_the_user(
    name: str, unit: str, target: str
) -> None:
    results, meant = SEEN[name]
    out = RULES.convert(trajectory(results), "atif", target, unit, trace=True)
    assert "unpaired" in {note.code for note in out.notes}
    found = RULES[target].read(out.body, unit).ir["messages"]
    said = [p["text"] for m in found for p in m["parts"] if p["type"] == "text"]
    assert {message["role"] for message in found} == {"user", "assistant"}
    assert said[0] == "List." and "\n".join(said[2:-1]) == "\n".join(meant)


def test_what_stands_before_a_piece_of_a_talk_is_not_known() -> None:
    piece = [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]}]
    out = RULES.convert(piece, "gemini", "openai-chat", "messages")
    assert [message["role"] for message in out.body] == ["tool"]


def test_a_result_of_no_call_names_none_in_a_trajectory() -> None:
    asked = [("user", {"type": "tool_result", "tool_use_id": "gone", "content": "Late."})]
    asked += [("assistant", {"type": "text", "text": "Well."})]
    body = [
        {"type": role, "uuid": str(n), "message": {"role": role, "content": [block]}}
        for n, (role, block) in enumerate(asked)
    ]
    out = RULES.convert(body, "claude-code", "atif", "session")
    assert out.body["steps"][0]["observation"] == {"results": [{"content": "Late."}]}
    (note,) = [n for n in out.notes if n.source_path == "/0/message/content/0/tool_use_id"]
    assert note.code == "no-place"


def test_what_is_put_into_a_message_of_another_form_stays() -> None:
    call = '[{"id": "c1", "name": "f", "arguments": {"x": 1}}]'
    rows = [{"role": "user", "content": "Go."}, {"role": "tool_call", "content": call}]
    ir = RULES["hf-chat"].read({"messages": rows}, "session").ir
    assert RULES["hf-chat"].write(ir, "session").body == {"messages": rows}
    ir["messages"][1]["parts"].insert(0, {"type": "text", "text": "I look."})
    out = RULES["hf-chat"].write(ir, "session")
    assert out.body["messages"][1]["content"] == "I look." and not out.notes
    assert out.body["messages"][1]["tool_calls"][0]["name"] == "f"


def test_what_was_summed_up_in_a_file_without_ids_stays_unsaid_after_an_edit() -> None:
    lines = [
        {"type": "session", "id": "s", "timestamp": "2025-12-09T00:53:29.825Z", "cwd": "/w"},
        {"type": "message", "message": {"role": "user", "content": "Old.", "timestamp": 1}},
        {"type": "compaction", "summary": "Sum.", "firstKeptEntryIndex": 3, "tokensBefore": 9},
        {"type": "message", "message": {"role": "user", "content": "New.", "timestamp": 2}},
    ]
    talk = RULES["openclaw"].read(lines, "session").ir
    assert len(talk["messages"]) == 2
    del talk["messages"][0]
    out = RULES["openclaw"].write(talk, "session")
    assert out.body == [lines[0], lines[3]]
    assert [note.code for note in out.notes] == ["no-message"]


def test_a_summary_in_other_words_than_its_program_says_is_what_the_user_says() -> None:
    said = {"role": "compactionSummary", "summary": "Sum.", "tokensBefore": 9, "timestamp": 1}
    lines = [
        {"type": "session", "id": "s", "timestamp": "2025-12-09T00:53:29.825Z", "cwd": "/w"},
        {"type": "message", "id": "a", "parentId": None, "message": said},
    ]
    for parts, content in (([], ""), ([{"type": "text", "text": "All."}], "All.")):
        talk = RULES["openclaw"].read(lines, "session").ir
        talk["messages"][0]["parts"] = parts
        message = RULES["openclaw"].write(talk, "session").body[1]["message"]
        assert (message["role"], message["content"]) == ("user", content)
