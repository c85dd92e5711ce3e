"""An invented provider that was added with the tutorial alone, and what was hard or wrong then.

`tests/dialects/quill.yaml` is the file, as it came; each test is a difficulty that was mended.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot.authoring import lawcase, laws

FOLDER = Path(__file__).parent / "dialects"


@pytest.fixture(scope="module")
def rules() -> Any:
    return wireglot.load_rules(FOLDER)


def request(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "m", "max_completion_tokens": 5, "messages": list(messages), **fields}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def told(out: Any, *codes: str) -> list[tuple[str, str | None]]:
    return [(note.code, note.source_path) for note in out.notes if note.code in codes]


def test_neighbours_of_a_turn_that_is_left_out_become_one(rules: Any) -> None:
    empty = {"role": "assistant", "content": ""}
    out = rules.convert(request(user("x"), empty, user("y")), "openai-chat", "quill")
    assert [turn["speaker"] for turn in out.body["dialogue"]] == ["human"]
    assert told(out, "empty-message", "joined") == [
        ("empty-message", "/messages/1"),
        ("joined", "/messages/2"),
    ]


@pytest.mark.parametrize("trace", [False, True])
def test_a_choice_of_a_tool_that_was_cut_off_does_not_go(rules: Any, trace: bool) -> None:
    tools = [{"type": "function", "function": {"name": f"f{i}"}} for i in range(66)]
    for choice, pick in (
        ("required", "must"),
        ({"type": "function", "function": {"name": "f65"}}, 0),
    ):
        body = request(user("x"), tools=tools, tool_choice=choice)
        out = rules.convert(body, "openai-chat", "quill", trace=trace)
        assert len(out.body["functions"]) == 64
        assert out.body.get("pick", 0) == pick
        lost = told(out, "no-place", "no-tool")
        assert lost[:2] == [("no-place", "/tools/64"), ("no-place", "/tools/65")]
        assert lost[2:] == ([] if pick else [("no-tool", "/tool_choice")])


def test_results_at_the_start_are_a_turn_of_the_user(rules: Any) -> None:
    parts = [{"type": "tool_result", "kind": "text", "tool_call_id": "a", "value": "k"}]
    ir = {"model": "m", "max_tokens": 5, "messages": [{"role": "tool", "parts": parts}]}
    out = rules["quill"].write(ir)
    assert [turn["speaker"] for turn in out.body["dialogue"]] == ["human"]
    assert told(out, "turn-added") == []


def test_one_message_is_no_conversation_that_must_begin_with_a_user(rules: Any) -> None:
    said = {"role": "assistant", "content": "x"}
    out = rules.convert(said, "openai-chat", "quill", unit="message")
    assert out.body == {"speaker": "quill", "chunks": "x"}
    assert out.notes == ()


def test_a_number_is_brought_within_its_bounds(rules: Any) -> None:
    out = rules.convert(request(user("x"), temperature=1.5), "openai-chat", "quill")
    assert out.body["creativity"] == 1
    assert told(out, "clamped") == [("clamped", "/temperature")]
    out = rules.convert(request(user("x"), temperature=0.7), "openai-chat", "quill")
    assert (out.body["creativity"], told(out, "clamped")) == (0.7, [])


def test_bounds_that_nothing_meets_are_refused(tmp_path: Path) -> None:
    text = (FOLDER / "quill.yaml").read_text("utf-8").replace("{max: 1}", "{min: 2, max: 1.5}")
    (tmp_path / "quill.yaml").write_text(text, "utf-8")
    with pytest.raises(wireglot.RuleError, match="`min` is more than `max`"):
        wireglot.load_rules(tmp_path)


def test_nothing_is_said_to_be_filled_in_at_home(rules: Any) -> None:
    body = {"engine": "m", "dialogue": [{"speaker": "human", "chunks": "x"}]}
    out = rules.convert(body, "quill", "quill")
    assert (out.body, out.notes) == (body, ())


def test_the_text_of_arguments_may_come_back_without_its_spaces(rules: Any) -> None:
    case = lawcase.Case(rules, "quill", "request", "anthropic")
    call = {"t": "call", "ref": "a", "func": "f", "input": ' {"a":1}'}
    answer = {"t": "answer", "ref": "a", "ok": True, "output": "k"}
    turns = [("human", "x"), ("quill", [call]), ("human", [answer])]
    wire = {
        "engine": "m",
        "budget": {"words": 5},
        "dialogue": [{"speaker": who, "chunks": chunks} for who, chunks in turns],
    }
    assert laws.fault(laws.BETWEEN["Cross"], case, wire) is None
    call["input"] = '{"a":1,"a":2}'  # text that no object can hold
    assert laws.fault(laws.BETWEEN["Cross"], case, wire) is None


def test_the_file_of_the_stranger_has_no_mistakes(rules: Any) -> None:
    found = [f for f in rules.findings if f.file.endswith("quill.yaml")]
    assert found == []
    assert list(laws.failures(rules, ["quill"], 3, "1", None)) == []


# The second provider, added with the page of the language alone: what it left out.
PLAIN = """
wireglot: 2
dialect: plain
see: https://example.com
verified: 2026-11-24
shapes:
  text: {wire: {say: $text}}
  tool_call: {wire: {call: $id, tool: $name, with: $arguments}}
  tool_result: {by: kind, wire: {of: $tool_call_id, result: $value}, cases: {text: {}}}
unions: {part: [text, tool_call, tool_result]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {from: human}}, assistant: {wire: {from: model}}, tool: {wire: {from: tool}}}
request: {wire: {turns: $messages as conversation}}
"""


@pytest.mark.parametrize("trace", [False, True])
def test_a_call_whose_arguments_are_no_json_goes_with_its_result(trace: bool) -> None:
    rules = wireglot.load_rules({"plain.yaml": PLAIN})
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x":'}}
    body = {
        "messages": [
            user("x"),
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "no"},
        ]
    }
    out = rules.convert(body, "openai-chat", "plain", trace=trace)
    made = {"call": "c", "tool": "f", "with": {"_unparsed": '{"x":'}}
    assert [turn["parts"] for turn in out.body["turns"][1:]] == [
        [made],
        [{"of": "c", "result": "no"}],
    ]
    assert [(note.code, note.effect, note.source_path) for note in out.notes] == [
        ("unparsed", "changed", "/messages/1/tool_calls/0/function/arguments")
    ]


OLD_RUN = """
wireglot: 2
dialect: runs
see: https://example.com
verified: 2026-11-24
shapes:
  function: {wire: {name: $name}}
  bundle:
    groups: function
    cases:
      old: {read-only: true, wire: {type: old, functions: $run each function}}
      new: {wire: {declared: $run each function}}
  said: {ir: {type: text}, read-only: true, wire: {note: $text}}
  notes: {groups: text, wire: {notes: $run each said}}
  text: {wire: {say: $text}}
unions: {part: [text, notes]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {from: human}}, assistant: {wire: {from: model}}}
request: {wire: {turns: $messages as conversation, tools: $tools each bundle (optional)}}
"""


def test_a_run_that_is_only_read_comes_home_and_others_are_written_otherwise() -> None:
    rules = wireglot.load_rules({"runs.yaml": OLD_RUN})
    old = {"type": "old", "functions": [{"name": "f"}, {"name": "g"}]}
    notes = {"notes": [{"note": "a"}, {"note": "b"}]}
    turn = {"from": "human", "parts": [notes, {"say": "c"}]}
    body = {"turns": [turn], "tools": [old, {"declared": [{"name": "h"}]}]}
    home = rules.convert(body, "runs", "runs")
    assert (home.body, home.notes) == (body, ())
    sent = rules.convert(body, "runs", "openai-chat").body
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["f", "g", "h"]
    back = rules.convert(sent, "openai-chat", "runs").body
    assert back["tools"] == [{"declared": [{"name": name} for name in "fgh"]}]
    assert back["turns"][0]["parts"] == [{"say": "a"}, {"say": "b"}, {"say": "c"}]
