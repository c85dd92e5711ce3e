"""What fell short in the field (`tests/cases/faults/`), case by case, and the page of them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from . import faults

CASES = [(stem, case) for stem, _, cases in faults.themes() for case in cases]
RUN = [(stem, case) for stem, case in CASES if "test" not in case]


@pytest.mark.parametrize("case", [c for _, c in RUN], ids=[f"{s}-{c['name']}" for s, c in RUN])
def test_a_fault_is_mended(case: dict[str, Any]) -> None:
    faults.run(case)


@pytest.mark.parametrize("case", [c for _, c in CASES], ids=[f"{s}-{c['name']}" for s, c in CASES])
def test_a_case_says_what_it_asks_for(case: dict[str, Any]) -> None:
    assert all(case[key] for key in ("fault", "before", "after"))
    assert sum(key in case for key in faults.RUNS) == 1
    if "test" in case:
        path, name = re.sub(r"\[.*", "", case["test"]).split("::")
        assert f"def {name}(" in (faults.ROOT / path).read_text("utf-8")
    else:
        steps = case.get("steps", [case])
        assert any(key in step for step in steps for key in faults.CHECKS)


def test_each_case_has_a_name_of_its_own() -> None:
    names = [(stem, case["name"]) for stem, case in CASES]
    assert len(set(names)) == len(names)


def test_the_page_is_made_of_the_cases() -> None:
    assert faults.PAGE.read_text("utf-8") == faults.page()
