"""`wireglot show --code`: the functions as they run, what their names mean, and tracebacks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import wireglot
from wireglot import cli
from wireglot.authoring.show import functions
from wireglot.authoring.wirefacts import spelt
from wireglot.checks.overlap import say_same
from wireglot.executor import readers, writer
from wireglot.executor.code import Code
from wireglot.language import drawn
from wireglot.language import picture as pic
from wireglot.language.source import Node

from . import width

ANSWER = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
    "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}],
    "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


def shown(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert cli.main(["show", *argv, "--code"]) == 0
    return capsys.readouterr().out


def unnumbered(text: str) -> str:
    """Return a text without the numbers of names: they tell which function was made first."""
    return re.sub(r"(\b[A-Z]\w*?)\d+\b", r"\1", text)


def test_the_functions_of_a_shape_are_shown_as_they_run(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "anthropic", "tool_call")
    heads = re.findall(r"^def (\w+)", text, re.M)
    assert heads[0] == "choose_tool_call"
    assert {"read_tool_call_object", "one_tool_call", "write_tool_call_object"} <= {*heads}
    assert "write_tool_call_none" not in heads  # at home alone
    rules = wireglot.packaged()
    rules.convert(ANSWER, "anthropic", "openai-chat", "response")
    dialect = rules["anthropic"].model
    run = readers.of(dialect, "away").code.texts["read_tool_call_object"]
    shape, writes = dialect.shapes["tool_call"], writer.writes_of(dialect, False)
    [case] = (case for case in shape.cases if case.name == "object")
    written = writes.code.text(writes.case(shape, case))
    assert unnumbered(run) in unnumbered(text)
    assert unnumbered(written) in unnumbered(text)


def test_what_the_names_mean_stands_below(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "anthropic", "tool_call", "--home")
    assert "def write_tool_call_none" in text
    told = set(re.findall(r"^# ([A-Z]\w*): ", text, re.M))
    used = set(re.findall(r"\b[A-Z]\w*", re.sub(r"#.*|'[^']*'", "", text)))
    known = {"ABSENT", "EMPTY", "KEPT", "L", "Misfit", "NO", "None", "True", "False"}
    assert used - known <= told
    assert re.search(r"^# H_\w+: \$cache as cache_mark \(optional\)  # rules/anthropic", text, re.M)


def test_a_hole_is_shown_as_a_rule_file_says_it() -> None:
    rules = wireglot.packaged()
    for model in (rules[name].model for name in rules.dialects):
        for hole in (hole for case in model.cases for hole in pic.holes(case.wire)):
            assert say_same(drawn.parse(Node(spelt(hole), hole.pos)), hole), hole.pos


def test_each_line_of_a_rule_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "anthropic", "tool_call")
    assert re.search(r"if w_type != 'tool_use': return NO  # rules/anthropic.yaml:\d+", text)


@pytest.mark.parametrize("name", width.dialects(wireglot.packaged().dialects, 20))
def test_all_functions_of_a_dialect_are_shown(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ([], ["--home"]):
        compile(shown(capsys, name, *more), name, "exec")


@pytest.mark.parametrize("shape", ["message", "part", "finish", "error"])
def test_messages_unions_and_own_fields_are_shown(
    shape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "anthropic" if shape == "part" else "openai-chat"
    union = next(iter(wireglot.packaged()[name].model.unions)) if shape == "part" else shape
    assert "def " in shown(capsys, name, union)


def test_what_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", "gemini", "nothing", "--code"]) == 2
    assert "there is no `nothing` in it; there are: " in capsys.readouterr().err
    assert cli.main(["show", "nobody", "--code"]) == 2
    assert "there is no dialect `nobody`; `wireglot dialects` lists them" in capsys.readouterr().err
    assert cli.main(["show", "gemini", "--home"]) == 2
    assert "`--home` goes with `--code`" in capsys.readouterr().err


def test_a_traceback_shows_the_line_of_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = wireglot.load_rules()
    rules.convert(ANSWER, "anthropic", "openai-chat", "response")
    names: dict[str, Any] = readers.of(rules["anthropic"].model, "away").code.names
    monkeypatch.setitem(names, "read_tool_call_object", None)  # a fault in what is called
    with pytest.raises(wireglot.RuleError) as error:
        rules.convert(ANSWER, "anthropic", "openai-chat", "response")
    told = "".join(traceback.format_exception(error.value))
    assert 'File "<anthropic read away: choose_' in told
    assert "made = read_tool_call_object(x, w, at, L)" in told


def test_a_function_that_cannot_be_made_is_asked_for_again() -> None:
    model = wireglot.packaged()["anthropic"].model
    code, texts = (
        Code(model, "test", {}, lambda _: None),
        iter(["def f(:", "def f(x):\n    return x + 1\n"]),
    )
    code.function(("f",), ("f",), lambda name: next(texts))
    with pytest.raises(SyntaxError):
        code.text("f")
    assert code.names["f"](1) == 2


PAGE = (Path(__file__).parent.parent / "docs" / "one-call.md").read_text("utf-8")


@pytest.mark.inside
def test_the_page_on_one_call_names_the_way_in_its_order() -> None:
    [drawing] = re.findall(r"^```text\n(loaded.*?)^```", PAGE, re.M | re.S)
    said = re.findall(r"[\w/]+\.py|\b(?:read|each|choose|one|write)_\w+", drawing)
    body = json.loads(re.findall(r"^```json response.json\n(.*?)^```", PAGE, re.M | re.S)[0])
    met: list[str] = []

    def entered(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call":
            generated = code.co_filename.startswith("<")
            met.append(code.co_name if generated else code.co_filename.rpartition("wireglot/")[2])

    wireglot.convert(body, "openai-chat", "anthropic", "response")
    before = sys.getprofile()
    sys.setprofile(entered)
    try:
        wireglot.convert(body, "openai-chat", "anthropic", "response")
    finally:
        sys.setprofile(before)
    steps = iter(met)
    assert len(said) > 20
    assert [one for one in said if one not in steps] == []


def test_functions_and_names_are_the_same_in_every_process() -> None:
    """What a wheel brings has these names, whatever order sets have in the process that made it."""
    asked = (["anthropic"], ["ollama"], ["gemini", "candidate", "--home"])  # the last: many lists
    show = f"[cli.main(['show', *one, '--code']) for one in {asked}]"
    said = {
        subprocess.run(
            [sys.executable, "-c", f"from wireglot import cli; {show}"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in width.some(("1", "2", "3", "4"), 2)
    }
    assert len(said) == 1 and len(max(said)) > 10_000


# Rows of training data say their tools in a text of a message, and two holes read that one.
# Attributes of spans hold their lists as JSON text, which the walk reads.
WALKED = {
    ("hermes", "request"), ("sharegpt", "request"),
    ("otel-genai", "request"), ("otel-genai", "response"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(wireglot.load_rules().dialects))
def test_no_body_is_left_to_the_walk_as_a_whole(name: str) -> None:
    model = wireglot.load_rules()[name].model
    for unit in ("request", "response"):
        for home in (False, True) if unit in model.units else ():
            made = functions(model, unit, home)
            begun = rf"^def read_{unit}\w*\(x, w, at, L\):\n(?:    if .*: return NO.*\n)?(.*)"
            found = re.findall(begun, made, re.MULTILINE)
            left = [line for line in found if line.startswith("    return odd(")]
            assert found
            assert bool(left) == ((name, unit) in WALKED), unit
