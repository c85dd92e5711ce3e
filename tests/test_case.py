"""`wireglot case`: a payload that shows a fault becomes a small, redacted case that fails."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import cli
from wireglot.authoring.faultcase import Complaint
from wireglot.language.source import parse

from .tables import read_yaml
from .test_laws import RULES, loaded

TABLE = read_yaml((Path(__file__).parent / "cases" / "case.yaml").read_text("utf-8"))
PAYLOAD: dict[str, Any] = TABLE["payload"]
ENDS = ["--from", "openai-chat", "--to", "anthropic"]
KEYS = {"role", "type"}  # whose words are the dialect's, and stay


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "payload.json"
    path.write_text(json.dumps(PAYLOAD))
    return path


def texts(value: Any) -> Any:
    """Return a value with TEXT for each text that a redaction makes."""
    if isinstance(value, dict):
        return {k: texts(v) for k, v in value.items()}
    if isinstance(value, list):
        return list(map(texts, value))
    return "TEXT" if isinstance(value, str) else value


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: " ".join(case["asked"]))
def test_what_somebody_expects_becomes_a_case_that_fails(
    file: Path, capsys: pytest.CaptureFixture[str], case: dict[str, Any]
) -> None:
    cases = file.parent / "cases"
    cases.mkdir()
    made = str(cases / "case.yaml")
    assert cli.main(["case", str(file), *ENDS, *case["asked"], "-o", made]) == 0
    text = Path(made).read_text()
    # In the sum of the rules and in places any digits may stand.
    for word in ("Jane", "Hello", "weather", "Paris", "sunny", "call_1", "77"):
        assert word not in re.sub(r"rules [0-9a-f]{12}|\.yaml:[0-9:]+", "", text), word
    head = text[: text.index("wireglot: 2")]
    assert f"openai-chat to anthropic, request: {case['told']}" in head
    assert f"# rule: rules/{case['rule']}:" in head and case["fails"] in head
    ((name, said),) = parse(text, made).plain()["crossings"]["request"].items()
    assert name.startswith(case["told"])
    assert texts(said["wires"]["openai-chat"]) == texts(case["small"]), text
    assert cli.main(["test", str(cases), "--runs", "0"]) == 1
    assert case["fails"] in capsys.readouterr().out


def test_a_refusal_is_a_fault_of_itself(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(json.dumps({**PAYLOAD, "messages": [{"role": "user", "content": 5}]}))
    assert cli.main(["case", str(file), *ENDS, "--name", "a number"]) == 0
    text = capsys.readouterr().out
    assert "request: refused: " in text and "`wireglot test` fails on it" in text
    said = parse(text, "case.yaml").plain()["crossings"]["request"]["a number"]
    assert said["wires"]["anthropic"] == {} and len(str(said["wires"]["openai-chat"])) < 70


def test_without_a_fault_there_is_no_case(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for asked in ([], ["--note", "unpaired"], ["--expect", "/max_tokens=50"], ["--expect", "/x/y"],
                  ["--expect", "/messages/x=1"], ["--expect", "/messages/-1=1"]):  # fmt: skip
        assert cli.main(["case", str(file), *ENDS, *asked]) == 1
        assert "no fault was found; `--expect" in capsys.readouterr().err
    for asked in (["--expect", "model"], ["--expect", "/model={"], ["--unit", "no"]):
        assert cli.main(["case", str(file), *ENDS, *asked]) == 2


def test_the_place_of_what_is_expected_says_nothing_of_the_payload(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(
        json.dumps({**PAYLOAD, "metadata": {"Acme/Co": "quartz and tin", "other": "y"}})
    )
    ends = ["--from", "openai-chat", "--to", "openai-responses"]
    assert (
        cli.main(["case", str(file), *ends, "--expect", '/metadata/Acme~1Co="lead and zinc"']) == 0
    )
    text = capsys.readouterr().out
    assert "Acme" not in text and "is nothing" not in text


def test_a_fault_that_hangs_on_a_text_wants_it_kept(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    thought = "<think>no</think>yes"
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": thought}]
    file.write_text(json.dumps({"model": "m", "messages": [*said, said[0]]}))
    ends = ["--from", "chat-compatible", "--to", "anthropic"]
    words = ["case", str(file), *ends, "--note", "no-place"]
    assert cli.main(words) == 1
    assert "`--keep WORD`" in capsys.readouterr().err
    assert cli.main([*words, "--keep", thought]) == 0
    assert "think>" in capsys.readouterr().out


def asked(rules: wireglot.RuleSet, source: str, target: str) -> Complaint:
    return Complaint(rules, source, target, "request")


def test_laws_that_do_not_hold_are_faults(tmp_path: Path) -> None:
    text = RULES.replace("(fill 9)", "(fill 9), word: $user | filled (optional), name: 'n${user}'")
    one = asked(loaded(tmp_path, text), "one", "gemini")
    body = {
        "turns": [{"role": "user", "parts": [{"text": "Hi"}, {"text": "Ho"}]}],
        "name": "ny",
    }
    fault = one.fault(body)
    assert fault is not None and fault.message.startswith("GetPut of one/request: at home")
    assert fault.rule is not None and "one.yaml:" in fault.rule
    small = one.smallest(body, fault)
    assert len(str(small)) < 60
    told = one.test_failure(json.dumps(one.crossing(small, "two keys")))
    assert told is not None and told.startswith("one is written otherwise at /")


def test_leaves_without_a_fate_and_internal_errors_are_faults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = asked(wireglot.packaged(), "openai-chat", "anthropic")
    out = one.convert(PAYLOAD, one.target, trace=True)
    assert out.trace is not None
    del out.trace.fates["/messages/3/content"]
    monkeypatch.setattr(Complaint, "convert", lambda self, *_, **__: out)
    fault = one.fault(PAYLOAD)
    assert fault is not None and fault.message == (
        "/messages/3/content arrives nowhere, and no note says so"
    )

    def broken(self: Complaint, *_: Any, **__: Any) -> Any:
        raise KeyError("x")

    monkeypatch.setattr(Complaint, "convert", broken)
    fault = one.fault(PAYLOAD)
    assert fault is not None and fault.message == "internal error: KeyError('x')"
    assert one.crossing({}, "n")["crossings"]["request"]["n"]["wires"]["anthropic"] == {}
