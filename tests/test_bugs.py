"""Every collected bug has a case of its name, or a reason (`tests/cases/bugs.yaml`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from .faults import collected
from .tables import read_yaml

FACTS = Path(__file__).parents[2] / "shared" / "facts" / "bugs.yaml"
BUGS = collected()
WITHOUT = [name for names, _ in BUGS.without for name in names]


def test_no_bug_has_both_a_case_and_a_reason() -> None:
    assert len(set(WITHOUT)) == len(WITHOUT)
    assert not set(BUGS.tried).intersection(WITHOUT)
    assert all(because for _, because in BUGS.without)


@pytest.mark.skipif(not FACTS.is_file(), reason="../shared/facts is not here")
def test_each_collected_bug_has_a_case_or_a_reason() -> None:
    known = {case["id"] for case in read_yaml(FACTS.read_text("utf-8"))["cases"]}
    assert set(BUGS.tried).union(WITHOUT) == known
    assert {name[:2] for name in known} == set(BUGS.groups)
