"""Policies: what is done about which notes, as a mapping and as a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot.notes import Note
from wireglot.policy import Policy

FILE = """\
policy: 1
otherwise: note
rules:
  - {code: unknown-key, path: /metadata, do: ignore}
  - {path: /messages/*/name, target: gemini, do: ignore}
  - {source: openai-chat, target: gemini, effect: lost, do: fail}
  - {severity: info, do: ignore}
"""


def note(code: str, effect: Any, severity: Any, source: str | None, target: str | None) -> Note:
    return Note(code, effect, severity, source, target, None, "text")


def stored(folder: Path, text: str) -> Path:
    file = folder / "policy.yaml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("source", "target", "one", "word"),
    [
        ("a", "b", note("unknown-key", "lost", "warning", "/metadata", None), "ignore"),
        ("a", "b", note("unknown-key", "lost", "warning", "/metadata/x/y", None), "ignore"),
        ("a", "b", note("unknown-key", "lost", "warning", "/metadatum", None), "note"),
        ("a", "b", note("no-place", "lost", "warning", "/metadata", None), "note"),
        ("a", "gemini", note("no-place", "lost", "warning", "/messages/3/name", None), "ignore"),
        ("a", "b", note("no-place", "lost", "warning", "/messages/3/name", None), "note"),
        ("openai-chat", "gemini", note("no-place", "lost", "warning", "/seed", None), "fail"),
        ("openai-chat", "anthropic", note("no-place", "lost", "warning", "/seed", None), "note"),
        ("a", "b", note("filled-in", "added", "info", None, "/max_tokens"), "ignore"),
    ],
)
def test_the_first_row_that_fits_says_what_is_done(
    tmp_path: Path, source: str, target: str, one: Note, word: str
) -> None:
    policy = wireglot.load_policy(stored(tmp_path, FILE))
    assert policy.word(one, source, target) == word


def test_a_policy_file_decides_about_a_conversion(tmp_path: Path) -> None:
    policy = wireglot.load_policy(stored(tmp_path, FILE))
    body = {
        "model": "m",
        "seed": 3,
        "messages": [{"role": "user", "content": "Hi"}],
        "metadata": {"a": "b"},
    }
    with pytest.raises(wireglot.PolicyError) as caught:
        wireglot.convert(body, "openai-chat", "gemini", policy=policy)
    assert caught.value.note is not None and caught.value.note.source_path == "/metadata"
    out = wireglot.convert(body, "openai-chat", "anthropic", policy=policy)
    assert {n.code for n in out.notes} == {"own-field", "no-place"}  # not `filled-in`
    everything = wireglot.convert(body, "openai-chat", "anthropic")
    assert {n.code for n in everything.notes} == {"own-field", "no-place", "filled-in"}
    back = wireglot.exchange("openai-chat", "gemini", policy=policy)
    with pytest.raises(wireglot.PolicyError):
        back.request(body)


def test_a_policy_file_may_be_the_mapping_itself(tmp_path: Path) -> None:
    policy = wireglot.load_policy(stored(tmp_path, '{"effect:lost": "fail", "own-field": "note"}'))
    assert policy.table == {"effect:lost": "fail", "own-field": "note"}


def test_otherwise_is_for_what_no_row_names(tmp_path: Path) -> None:
    text = "policy: 1\notherwise: fail\nrules: [{code: filled-in, do: ignore}]\n"
    policy = wireglot.load_policy(stored(tmp_path, text))
    assert policy.word(note("no-place", "lost", "warning", "/x", None)) == "fail"
    assert policy.word(note("filled-in", "added", "info", None, "/x")) == "ignore"
    assert Policy(None, (), "fail").apply([note("x", "lost", "info", None, None)])[1] is not None


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("- 1\n", "a policy file is a mapping", 1),
        ("rules: []\n", "a policy file begins with `policy: 1`", 1),
        ("policy: 2\n", "a policy file begins with `policy: 1`", 1),
        ("policy: 1\nrule: []\n", "`rule` is no word of a policy", 2),
        ("policy: 1\notherwise: stop\n", "`otherwise` is `ignore`, `note` or `fail`", 2),
        ("policy: 1\nrules: {do: fail}\n", "`rules` is a list of rows", 2),
        ("policy: 1\nrules:\n  - fail\n", "a row of a policy is a mapping", 3),
        ("policy: 1\nrules:\n  - {code: lost, do: fail}\n", "`lost` is no code", 3),
        ("policy: 1\nrules:\n  - {effect: gone, do: fail}\n", "`gone` is no effect", 3),
        ("policy: 1\nrules:\n  - {severity: bad, do: fail}\n", "`bad` is no severity", 3),
        ("policy: 1\nrules:\n  - {do: stop}\n", "`stop` is no do", 3),
        ("policy: 1\nrules:\n  - {path: seed, do: fail}\n", "a path begins with `/`", 3),
        ("policy: 1\nrules:\n  - {path: 3, do: fail}\n", "`path` is a text", 3),
        ("policy: 1\nrules:\n  - {to: gemini, do: fail}\n", "`to` is no word of a row", 3),
        ("policy: 1\nrules:\n  - {code: no-place}\n", "a row says what to `do`", 3),
        ("policy: 1\nrules:\n  - {where: 3, do: fail}\n", "`where` is a text", 3),
        ("no-such-code: fail\n", "which is no code of docs/notes.md", 1),
        ("policy: 1\npolicy: 1\n", "stands here twice", 2),
    ],
)
def test_a_policy_file_that_is_none_is_refused_with_its_place(
    tmp_path: Path, text: str, message: str, line: int
) -> None:
    with pytest.raises(wireglot.RuleError) as caught:
        wireglot.load_policy(stored(tmp_path, text))
    assert message in str(caught.value)
    assert caught.value.line == line and caught.value.file.endswith("policy.yaml")


def test_a_policy_file_that_is_not_there_or_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(wireglot.UsageError, match="cannot be read"):
        wireglot.load_policy(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(wireglot.RuleError, match="no UTF-8"):
        wireglot.load_policy(tmp_path / "bad.yaml")


@pytest.mark.parametrize(
    ("expression", "one", "word"),
    [
        ("code == 'no-place'", note("no-place", "lost", "warning", "/x", None), "fail"),
        ("code == 'no-place'", note("unfit", "lost", "warning", "/x", None), "note"),
        ("target != 'b'", note("unfit", "lost", "warning", "/x", None), "note"),
        ("source == 'a'", note("unfit", "lost", "warning", "/x", None), "fail"),
        ("source_path", note("unfit", "added", "info", None, "/x"), "note"),
        ("source_path", note("unfit", "added", "info", "", "/x"), "note"),
        ("contains(target_path || '', '/x')", note("unfit", "added", "info", None, "/x"), "fail"),
        ("`0`", note("unfit", "lost", "info", None, "/x"), "fail"),  # as jmespath has it
        ("`false`", note("unfit", "lost", "info", None, "/x"), "note"),
        ("`{}`", note("unfit", "lost", "info", None, "/x"), "note"),
    ],
)
def test_where_is_an_expression_over_the_note_and_the_dialects(
    tmp_path: Path, expression: str, one: Note, word: str
) -> None:
    text = f'policy: 1\nrules:\n  - {{where: "{expression}", do: fail}}\n'
    assert wireglot.load_policy(stored(tmp_path, text)).word(one, "a", "b") == word


def test_where_and_what_else_a_row_asks_for_must_hold(tmp_path: Path) -> None:
    text = "policy: 1\nrules:\n  - {path: /x, where: code != 'unfit', do: fail}\n"
    policy = wireglot.load_policy(stored(tmp_path, text))
    assert policy.word(note("no-place", "lost", "warning", "/x/y", None)) == "fail"
    assert policy.word(note("no-place", "lost", "warning", "/y", None)) == "note"
    assert policy.word(note("unfit", "lost", "warning", "/x/y", None)) == "note"


THERE = "code, effect, severity, source_path, target_path, rule, message, source, target"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "`` is no jmespath expression: it is empty"),
        ("code ==", "`code ==` is no jmespath expression: column 8: it ends here"),
        ("code = 'x'", "`code = 'x'` is no jmespath expression: column 6: Unknown token '='"),
        ("code 'x'", "`code 'x'` is no jmespath expression: column 6: Unexpected token: x"),
        ("'x", "`'x` is no jmespath expression: column 1: Unclosed ' delimiter"),
        ("path", f"`path` asks for `path`; there are: {THERE}"),
        ("code && !like(rule)", "`code && !like(rule)` calls `like`, which is no function"),
        (
            "length(code, rule)",
            "`length(code, rule)` cannot be evaluated: "
            "Expected 1 argument for function length(), received 2",
        ),
        (
            "contains(rule, 'x')",
            "`contains(rule, 'x')` cannot be evaluated: In function contains(), invalid type for "
            "value: None, expected one of: ['array', 'string'], received: \"null\"",
        ),
    ],
)
def test_a_where_that_cannot_be_asked_is_refused_with_its_place(
    tmp_path: Path, expression: str, message: str
) -> None:
    file = stored(tmp_path, f'policy: 1\nrules:\n  - {{do: fail, where: "{expression}"}}\n')
    with pytest.raises(wireglot.RuleError) as caught:
        wireglot.load_policy(file)
    error = caught.value
    assert (error.reason, error.line, error.column) == (message, 3, 23)
    help = "paths, `rule`, `source` and `target` may be null: `source_path || ''` is a text"
    assert error.help == (help if "evaluated" in message else "")


def test_without_jmespath_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jmespath", None)
    file = stored(tmp_path, "policy: 1\nrules:\n  - {where: code, do: fail}\n")
    with pytest.raises(wireglot.RuleError) as caught:
        wireglot.load_policy(file)
    message = "an expression that selects needs `pip install 'wireglot[select]'`"
    assert caught.value.reason == message
    wireglot.load_policy(stored(tmp_path, FILE))  # which has none
