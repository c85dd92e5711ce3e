"""The cases of `tests/cases/gaps.yaml`: what providers refuse, and what was once silent."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import wireglot

from .tables import read_yaml

CASES: list[dict[str, Any]] = read_yaml(
    Path(__file__).with_name("cases").joinpath("gaps.yaml").read_text("utf-8")
)["cases"]


def test_each_case_has_a_name_of_its_own() -> None:
    names = [case["id"] for case in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_case_converts_as_it_says(case: dict[str, Any], trace: bool) -> None:
    given = copy.deepcopy(case["given"])
    names = (case["source"], case["target"], case.get("unit", "request"), case.get("model"))
    out = wireglot.convert(given, *names, trace=trace)
    assert given == case["given"]
    assert out.body == case.get("expected", given)
    said = [[note.code, note.source_path, note.target_path, note.severity] for note in out.notes]
    # A case may leave out where the target has it, and how grave it is.
    asked = [[*note, None, None][:4] for note in case["notes"]]
    for note in asked:
        long = len(case["notes"][asked.index(note)])
        assert any(one[:long] == note[:long] for one in said), (note, said)
    assert len(said) == len(asked), said
