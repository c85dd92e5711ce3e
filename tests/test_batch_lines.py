"""Lines of providers' batch files: each becomes a line of each other's, and nothing is silent."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import wireglot
from wireglot import batch, cli
from wireglot.batch import batchlines
from wireglot.batch.job import Converted

CASES = yaml.safe_load((Path(__file__).parent / "cases" / "batch.yaml").read_text("utf-8"))
REQUESTS = CASES["requests"]


def converted(line: Any, source: str, target: str, **more: Any) -> Converted:
    (one,) = batch.convert([line], source, target, **more)
    return one


def told(one: Converted) -> list[str]:
    return [
        f"{n.code} {n.effect} {n.source_path if n.source_path is not None else n.target_path}"
        for n in one.notes
    ]


@pytest.mark.parametrize(("source", "target"), list(itertools.product(REQUESTS, REQUESTS)))
def test_a_request_of_each_is_one_of_each_other(source: str, target: str) -> None:
    one = converted(REQUESTS[source], source, target)
    assert one.error is None
    # What a provider reads is the same: the lists of parts and the texts that stand for them.
    back = converted(one.value, target, "openai-chat")
    assert back.value == REQUESTS["openai-chat"]
    assert set(one.value) == set(REQUESTS[target])


@pytest.mark.parametrize("source", CASES["home"])
def test_a_line_comes_back_at_home(source: str) -> None:
    for line in [*CASES["home"][source], *([REQUESTS[source]] if source in REQUESTS else [])]:
        one = converted(line, source, source)
        assert (one.value, one.notes, one.error) == (line, (), None)


@pytest.mark.parametrize("case", CASES["answers"], ids=lambda c: f"{c['from']}-{c['to']}")
def test_answers_errors_and_ends(case: Any) -> None:
    one = converted(case["line"], case["from"], case["to"])
    assert one.error is None and one.value == case["gives"]
    assert [text.rstrip() for text in told(one)] == case["notes"]
    assert all(note.rule or note.code in ("reworded", "unknown-key", "no-place")
               for note in one.notes)  # fmt: skip


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda c: f"{c['from']}{c['at']}")
def test_a_line_that_fits_no_picture_is_refused(case: Any) -> None:
    error = converted(case["line"], case["from"], "anthropic").error
    assert isinstance(error, wireglot.ConversionError)
    assert error.path == case["at"] and error.rule is not None
    assert error.reason == case.get("says", error.reason)


def test_pointers_are_of_the_line_though_one_place_of_it_is_converted() -> None:
    pair = ("openai-chat", "anthropic")
    line = {"mine": {"body": {"messages": [{"role": "user", "content": "Hi"}], "seed": 1}}}
    one = converted(line, *pair, at="/mine/body")
    assert one.error is None
    assert {n.source_path for n in one.notes} >= {"/mine/body/seed"}
    error = converted({"mine": {"body": {"messages": 5}}}, *pair, at="/mine/body").error
    assert isinstance(error, wireglot.ConversionError) and error.path == "/mine/body/messages"
    stopped = converted(line, *pair, at="/mine/body", policy={"path:/mine/body/seed": "fail"}).error
    assert isinstance(stopped, wireglot.PolicyError)


def test_all_forms_are_shown_and_all_their_dialects_are_there() -> None:
    known = batchlines.packaged().of
    assert set(known) <= set(wireglot.load_rules().dialects)
    assert {known[name].name for name in REQUESTS} == {form.name for form in known.values()}


def test_a_policy_sees_what_stands_around_a_body() -> None:
    (case,) = (c for c in CASES["answers"] if "unknown-key lost /mine" in c["notes"])
    error = converted(case["line"], case["from"], case["to"], policy={"path:/mine": "fail"}).error
    assert isinstance(error, wireglot.PolicyError) and error.note.code == "unknown-key"
    (case,) = (c for c in CASES["answers"] if "no-place lost /body/user" in c["notes"])
    rule = {"path:/body": "fail"}
    error = converted(case["line"], case["from"], case["to"], policy=rule).error
    assert isinstance(error, wireglot.PolicyError) and error.note.source_path == "/body/user"


def test_where_no_form_is_known_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text(json.dumps(REQUESTS["anthropic"]))
    command = ["batch", "in.jsonl", "--from", "anthropic", "--workers", "1", "-o", "out.jsonl"]
    assert cli.main([*command, "--to", "ollama"]) == 2
    assert "no form of batch files is known of `ollama`; `--at` " in capsys.readouterr().err
    assert cli.main([*command, "--to", "ollama", "--at", "/params", "--force"]) == 0
    assert json.loads(Path("out.jsonl").read_text())["custom_id"] == "r1"
