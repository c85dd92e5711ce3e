"""Every collected bug has a case of its name, or a reason (`tests/cases/bugs.yaml`)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from .tables import read_yaml

CASES = Path(__file__).with_name("cases")
FACTS = Path(__file__).parents[2] / "shared" / "facts" / "bugs.yaml"
TABLES = ("bugs", "hard", "ollama", "vertex", "gaps", "streams")
ID = re.compile(r"\b[A-Z]{2}-\d{2}\b")


def table(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = read_yaml((CASES / f"{name}.yaml").read_text("utf-8"))
    return loaded


TRIED = {name for t in TABLES for case in table(t)["cases"] for name in ID.findall(case["id"])}
WITHOUT = [name for row in table("bugs")["without"] for name in row["ids"]]


def test_no_bug_has_both_a_case_and_a_reason() -> None:
    assert len(set(WITHOUT)) == len(WITHOUT)
    assert not TRIED.intersection(WITHOUT)
    assert all(row["because"] for row in table("bugs")["without"])


@pytest.mark.skipif(not FACTS.is_file(), reason="../shared/facts is not here")
def test_each_collected_bug_has_a_case_or_a_reason() -> None:
    known = {case["id"] for case in read_yaml(FACTS.read_text("utf-8"))["cases"]}
    assert TRIED.union(WITHOUT) == known
