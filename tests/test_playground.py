"""What the playground runs, without a browser: `make look ONLY=playground` uses it in one."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import wireglot
from website.playground import __main__ as builder
from website.playground import playground

FILES = sorted((Path(__file__).resolve().parents[1] / "rules").rglob("*.yaml"))
UNITS = {one["name"]: one["units"] for one in playground.dialects()}


def called(name: str, *given: Any) -> Any:
    return json.loads(playground.call(name, json.dumps(given)))


def test_there_is_a_payload_to_begin_with_for_each_unit() -> None:
    assert list(UNITS) == list(wireglot.packaged().dialects)
    for name, units in UNITS.items():
        for unit in units:
            text = called("sample", name, unit)
            if text is not None:
                told = called("convert", text, name, name, unit, {})
                assert json.loads(told["body"]) == json.loads(text)
            assert text is not None or unit == "session", f"{name} {unit}"


def test_a_conversion_tells_notes_and_origins() -> None:
    told = called("convert", called("sample", "openai-chat", "request"), "openai-chat",
                  "anthropic", "request", {})  # fmt: skip
    assert json.loads(told["body"])["messages"][1]["content"][0]["type"] == "tool_use"
    assert "no-place" in {note["code"] for note in told["notes"]}
    assert all(note["rule"].startswith("rules/anthropic.yaml:") for note in told["notes"])
    origin = next(one for one in told["trace"] if one["target"] == "/messages/1/content/0/id")
    assert origin["sources"] == "/messages/2/tool_calls/0/id"


def test_an_edited_rule_is_used() -> None:
    text = called("rule", "anthropic")
    edited = text.replace("type: tool_use\n", "type: use\n")
    sample = called("sample", "openai-chat", "request")
    told = called("convert", sample, "openai-chat", "anthropic", "request", {"anthropic": edited})
    assert '"type": "use"' in told["body"]


@pytest.mark.parametrize(
    ("text", "edited", "told"),
    [
        ("{", {}, "The payload is no JSON: "),
        ("[]", {}, "expected an object, got a list, at the top of the payload"),
        ("{}", {"anthropic": "dialect: [1"}, "anthropic.yaml:1:10: R020"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(text: str, edited: dict[str, str], told: str) -> None:
    assert told in called("convert", text, "openai-chat", "anthropic", "request", edited)["error"]


def test_the_archive_holds_what_a_page_needs_and_no_more(tmp_path: Path) -> None:
    builder.archive(tmp_path / "one.zip")
    with zipfile.ZipFile(tmp_path / "one.zip") as file:
        names = file.namelist()
    assert {"playground.py", "yaml/loader.py", "wireglot/rules/packaged.bin"} <= set(names)
    assert not [name for name in names if name.startswith(("wireglot/serve/", "wireglot/batch/"))]


def test_the_page_writes_text_and_no_markup() -> None:
    page = (builder.HERE / "page.js").read_text("utf-8")
    assert "textContent" in page
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in page


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_rules_are_the_same_where_yaml_is_read_by_python(file: Path) -> None:
    text = file.read_text("utf-8")  # PyYAML for Pyodide, and where it is built without libyaml

    def events(loader: Any) -> list[Any]:
        return [(type(e), getattr(e, "value", None)) for e in yaml.parse(text, Loader=loader)]

    assert events(yaml.SafeLoader) == events(getattr(yaml, "CSafeLoader", yaml.SafeLoader))
