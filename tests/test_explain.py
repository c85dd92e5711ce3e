"""`wireglot explain` says where values come from and what became of others."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from wireglot import cli
from wireglot.audits import explain

BODY = {
    "model": "m",
    "messages": [{"role": "user", "content": "Weather?"}],
    "logprobs": True,
    "tool_choice": "required",
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
}
PAIR = ["--from", "openai-chat", "--to", "anthropic"]


@pytest.fixture
def body(tmp_path: Path) -> str:
    path = tmp_path / "body.json"
    path.write_text(json.dumps(BODY), "utf-8")
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    assert cli.main(["explain", *words]) == status
    found = capsys.readouterr()
    return found.err if status else found.out


@pytest.mark.parametrize("behind", [True, False])
def test_a_place_of_the_output_names_source_rule_and_steps(
    body: str, behind: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "/messages/0/content"
    said = run(capsys, body, *([*PAIR, path] if behind else [path, *PAIR])).splitlines()
    assert said[0] == '/messages/0/content = "Weather?"'
    assert said[1] == '  from /messages/0/content = "Weather?"'
    assert said[2].startswith("  rule rules/anthropic.yaml:")
    assert said[2].endswith("  wire: {content: $parts each part | text (or list)}")
    assert said[3].startswith("  step read $parts (rules/openai-chat.yaml:")


def test_a_place_of_the_input_names_its_fate_and_the_note(
    body: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run(capsys, body, *PAIR, "--input", "/logprobs")
    assert "lost: no-place" in said
    assert "note warning: no-place lost /logprobs" in said
    said = run(capsys, body, *PAIR, "--input", "/tool_choice")
    assert '  to /tool_choice/type = "any"' in said


def test_without_a_place_every_leaf_has_a_line(
    body: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run(capsys, body, *PAIR).splitlines()
    starts = [line.partition(" = ")[0] for line in said]
    assert starts[:2] == ["/model", "/max_tokens"]
    assert "envelope:/path" in starts
    assert any(line == "/logprobs = true lost: no-place" for line in said)
    assert len(starts) == len(set(starts) | {"/logprobs"})


def test_json_holds_the_trace_and_the_notes_that_name_it(
    body: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said: Any = json.loads(run(capsys, body, *PAIR, "--json", "/max_tokens"))
    assert said["origins"]["/max_tokens"]["sources"] == []
    assert [note["code"] for note in said["notes"]] == ["filled-in"]
    assert said["fates"] == {}


def test_an_expression_selects_from_this_json(
    body: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for expression, expected in (
        ("notes[?effect=='lost'].[code, source_path][]", ["no-place", "/logprobs"]),
        ('origins."/max_tokens".steps[0].way', "filled-in"),
        ("none", None),
    ):
        assert json.loads(run(capsys, body, *PAIR, "--select", expression)) == expected
    said = run(capsys, body, *PAIR, "/max_tokens", "--select", "keys(origins)")
    assert json.loads(said) == ["/max_tokens"]  # of the part that is asked for


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("notes[", "`notes[` is no jmespath expression: column 7: it ends here"),
        ("", "`` is no jmespath expression: it is empty"),
        ("size(notes)", "`size(notes)` calls `size`, which is no function"),
        (
            "abs(notes)",
            "`abs(notes)` cannot be evaluated: In function abs(), invalid type for value: "
            "[], expected one of: ['number'], received: \"array\"",
        ),
    ],
)
def test_an_expression_that_selects_nothing_is_told(
    body: str, expression: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run(capsys, body, *PAIR, "/model", "--select", expression, status=2)
    assert said == f"wireglot: {message}\n"


def test_selecting_needs_the_extra(
    body: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jmespath", None)
    said = run(capsys, body, *PAIR, "--select", "notes", status=2)
    assert said == "wireglot: an expression that selects needs `pip install 'wireglot[select]'`\n"
    run(capsys, body, *PAIR, "--json")


def test_a_place_where_nothing_stands_is_refused(
    body: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "nothing stands at `/no` in the output" in run(capsys, body, *PAIR, "/no", status=2)
    said = run(capsys, body, *PAIR, "--input", "/no", status=2)
    assert "nothing stands at `/no` in the input" in said


def test_words_that_no_command_takes_are_still_refused(body: str) -> None:
    for words in (["explain", body, *PAIR, "/a", "/b"], ["convert", body, *PAIR, "/a"]):
        with pytest.raises(SystemExit) as caught:
            cli.main(words)
        assert caught.value.code == 2


def test_the_line_of_a_rule_is_read_from_rules_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("one\n  two: $b\n", "utf-8")
    assert explain.rule_line(f"{tmp_path / 'a.yaml'}:2:3") == "two: $b"
    assert explain.rule_line(f"{tmp_path / 'none.yaml'}:2:3") is None
    assert explain.rule_line(f"{tmp_path / 'a.yaml'}:9:3") is None


def test_a_session_file_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = {"sessionId": "s1", "projectHash": "p", "startTime": "2026-11-22T10:00:00.000Z"}
    line = {"id": "a", "timestamp": "2026-11-22T10:00:01.000Z", "type": "user", "content": "Hi"}
    file = tmp_path / "session.jsonl"
    file.write_text(json.dumps(head) + "\n" + json.dumps(line) + "\n", "utf-8")
    pair = ["--from", "gemini-cli", "--to", "openclaw", "--unit", "session"]
    said = run(capsys, str(file), *pair, "/1/message/content").splitlines()
    assert said[:2] == ['/1/message/content = "Hi"', '  from /1/content = "Hi"']


def test_calls_are_checked_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    function = {"name": "f", "parameters": {"type": "object", "required": ["x"]}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [{"role": "assistant", "tool_calls": [call]}]
    tools = [{"type": "function", "function": function}]
    file = tmp_path / "body.json"
    file.write_text(json.dumps({"model": "m", "messages": messages, "tools": tools}), "utf-8")
    assert "bad-arguments" not in run(capsys, str(file), *PAIR)
    assert "bad-arguments" in run(capsys, str(file), *PAIR, "--check-arguments", "--json")


LINKED = {
    "model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [
        {"type": "document", "source": {"type": "url", "url": "https://a.b/c.pdf"}},
        {"type": "text", "text": "Read this."}]}],
}  # fmt: skip
DOCUMENTS = [
    "document pdf",
    "document base64",
    "document base64.pdf",
    "document none",
    "document file_id",
]


def test_the_cases_that_refuse_a_value_say_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tmp_path / "linked.json"
    given.write_text(json.dumps(LINKED))
    pair = ["--from", "anthropic", "--to", "openai-chat"]
    place = "/messages/0/content/0"
    assert cli.main(["explain", str(given), *pair, "--input", f"{place}/type"]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if " refuses it: " in line]
    assert [line.strip().partition(" refuses")[0] for line in told] == DOCUMENTS
    assert "`source.type` says something else (rules/openai-chat.yaml:" in told[0]
    assert cli.main(["explain", str(given), *pair, "--input", place, "--json"]) == 0
    refused = json.loads(capsys.readouterr().out)["refused"]
    assert [one["case"] for one in refused] == DOCUMENTS
    assert cli.main(["explain", str(given), *pair, "--input", "/messages/0/content/1"]) == 0
    assert "refuses" not in capsys.readouterr().out


def test_only_the_cases_of_the_version_are_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "wireglot: 2\nsee: https://acme.example/api\nverified: 2026-11-22\n"
    row = "{for: {version: two}, shapes: {document: {cases: {none: $removed}}}}"
    rules = f"{head}dialect: acme\nextends: openai-chat\nvariants: [{row}]\n"
    (tmp_path / "acme.yaml").write_text(rules, "utf-8")
    given = tmp_path / "linked.json"
    given.write_text(json.dumps(LINKED))
    words = ["--from", "anthropic", "--to", "acme", "--rules", str(tmp_path)]
    for options, cases in (
        ([], DOCUMENTS),
        (["--option", "version=two"], [*DOCUMENTS[:3], DOCUMENTS[4]]),
    ):
        told = run(capsys, str(given), *words, *options, "--input", "/messages/0/content/0/type")
        found = [line.strip() for line in told.splitlines() if " refuses it: " in line]
        assert [line.partition(" refuses")[0] for line in found] == cases
