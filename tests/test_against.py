"""The oracle that holds this engine against that of before sees what differs, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

import wireglot

from . import against, beside, old, rulesides
from .sides import EXPLAINED, Case, Side, differences, explained

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
        ({"body": "a 1"}, {"body": "b 2"}, ["body : a # became b #"]),
        ({"notes": [note("a")]}, {"notes": [note("a")]}, []),
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
    explained(EXPLAINED.read_text("utf-8"))
    (line,) = explained("# head\nconvert | * | body* | a reason\n")
    (differs,) = differences(CASE, {"body": 1}, {"body": 2})
    assert line.covers(differs) and not line.covers(differs._replace(section="loop"))
    with pytest.raises(ValueError, match=r"against.txt:1: a line is"):
        explained("convert | * | no reason\n")


def test_changed_rule_files_are_loaded_and_used() -> None:
    side = Side(wireglot, wireglot.packaged())
    seen = [case.run(side) for case in (*rulesides.each(400), *rulesides.fuzzed(1, count=20))]
    assert sum(any(aspect.endswith(" body") for aspect in one) for one in seen) > 10
    assert sum(list(one) == ["findings"] for one in seen) > 5
    assert {one["error"][0] for one in seen if "error" in one} == {"RuleError"}


built = pytest.mark.skipif(not old.is_built(), reason="no engine of before (`make old`)")


@built
@pytest.mark.skipif(not beside.TRAFFIC.is_dir(), reason="../shared/traffic is not here")
def test_a_sample_is_as_before() -> None:
    tally = against.compare(["convert", "streams", "cuts"], every=100, counts={"cuts": 500})
    lines = explained(EXPLAINED.read_text("utf-8"))
    assert [one for one in tally.found if not any(line.covers(one) for line in lines)] == []
    assert tally.compared["convert"] > 100 and tally.compared["cuts"] == 5


@built
def test_a_sample_of_changed_rule_files_is_as_before() -> None:
    tally = against.compare(["each", "fuzz"], every=200)
    lines = explained(EXPLAINED.read_text("utf-8"))
    assert [one for one in tally.found if not any(line.covers(one) for line in lines)] == []
    assert tally.compared["each"] > 40 and tally.compared["fuzz"] == 100
