"""The cases of `tests/cases/engine.yaml`: what the engine once did wrong."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import wireglot

from .tables import read_yaml

CASES = read_yaml(Path(__file__).with_name("cases").joinpath("engine.yaml").read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_case_converts_as_it_says(case: dict[str, Any]) -> None:
    given = copy.deepcopy(case["given"])
    out = wireglot.convert(
        given, case["source"], case["target"], case["unit"], options=case.get("options")
    )
    assert given == case["given"]
    assert out.body == case.get("expected", given)
    if "expected" in case:
        assert [[note.code, note.source_path] for note in out.notes] == case["notes"]
