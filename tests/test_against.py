"""The oracle that holds this engine against that of before sees what differs, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from . import against, beside, old, oldfiles
from .sides import EXPLAINED, Case, differences, explained

CASE = Case("convert", "one>two request", "x", lambda side: {})


def said(before: Any, now: Any) -> list[str]:
    return [found.what for found in differences(CASE, before, now)]


def note(message: str, path: str = "/a/0") -> list[Any]:
    return ["lost", "lost", "warning", path, None, message]


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ({"body": {"a": [1]}}, {"body": {"a": [1]}}, []),
        ({"body": {"a": [1]}}, {"body": {"a": [1.0]}}, ["body /a/#: # became #.#"]),
        ({"body": {"a": 1}}, {"body": {"a": True}}, ["body /a: # became True"]),
        ({"body": {"a": 1, "b": 2}}, {"body": {"b": 2, "a": 1}}, ["body: order of keys"]),
        ({"body": {"a": 1}}, {"body": {}}, ["body /a: # became nothing"]),
        ({"body": "a lens"}, {"body": "a codec"}, ["body : a lens became a codec"]),
        ({"notes": [note("the lens")]}, {"notes": [note("the codec")]}, []),
        ({"notes": [note("a"), note("b")]}, {"notes": [note("b"), note("a")]},
         ["notes: order of notes"]),
        ({"notes": [note("a")]}, {"notes": []}, ["notes, gone: lost lost /a/# -> : a"]),
        ({"error": ["E", "no", ""]}, {"error": ["E", "no", "/a"]}, ["error /#:  became /a"]),
        ({"body": {}}, {"error": ["E", "no", ""]}, ["error: None became [E, no, ]"]),
    ],
)  # fmt: skip
def test_a_difference_is_told_with_its_cause(before: Any, now: Any, found: list[str]) -> None:
    assert said(before, now) == found


def test_each_line_that_explains_has_a_reason() -> None:
    assert explained(EXPLAINED.read_text("utf-8"))
    with pytest.raises(ValueError, match=r"against.txt:1: a line is"):
        explained("convert | * | no reason\n")


def test_a_rule_file_is_found_in_code() -> None:
    code = 'A = "shapes: {text: {wire: $text}}"\nB = "Some text."\nC = "wireglot: 1\\ndrop: {}"\n'
    assert list(oldfiles._said(code)) == [
        f"{oldfiles.HEAD}shapes: {{text: {{wire: $text}}}}", "wireglot: 1\ndrop: {}",
    ]  # fmt: skip


@pytest.mark.skipif(not old.is_built(), reason="the engine of before is not built (`make old`)")
@pytest.mark.skipif(not beside.TRAFFIC.is_dir(), reason="../shared/traffic is not here")
def test_a_sample_is_as_before() -> None:
    tally = against.compare(["convert", "streams"], every=100)
    lines = explained(EXPLAINED.read_text("utf-8"))
    assert [one for one in tally.found if not any(line.covers(one) for line in lines)] == []
    assert tally.compared["convert"] > 100
