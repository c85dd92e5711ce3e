"""The language-neutral cases are what rules and tables say, and wireglot passes them."""

from __future__ import annotations

import json

import pytest

from .neutral import __main__ as neutral

CASES = [json.loads(line) for line in neutral.FILE.read_text("utf-8").splitlines()]
# Its own test asks for it without the model that a request is for.
OTHERWISE = ["gaps/system-text-in-the-middle"]


def test_the_file_is_what_rules_and_tables_say() -> None:
    made = "".join(f"{neutral.line(case)}\n" for case in neutral.made())
    assert neutral.FILE.read_text("utf-8") == made, "run `python -m tests.neutral --write`"


def test_wireglot_passes() -> None:
    assert neutral.scored("wireglot", CASES)[1] == OTHERWISE


@pytest.mark.parametrize(
    ("wanted", "good"),
    [
        ({"is": {"a": 1}}, True),
        ({"is": {"a": True}}, False),
        ({"has": {"/a": 1}, "lacks": ["/b"]}, True),
        ({"lacks": ["/a"]}, False),
        ({"differ": [["/a", "/a"]]}, False),
    ],
)
def test_what_is_wanted_is_told_from_what_is_not(wanted: neutral.Case, good: bool) -> None:
    assert neutral.holds(wanted, {"a": 1}) is good
