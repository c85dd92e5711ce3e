"""Trial rule files load, have no error, and their examples hold."""

from __future__ import annotations

from pathlib import Path

import pytest

import wireglot
from wireglot.authoring import examples

FOLDER = Path(__file__).parent / "trials"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.fixture(scope="module")
def rules() -> wireglot.RuleSet:
    return wireglot.load_rules(FOLDER)


@pytest.mark.parametrize("name", NAMES)
def test_a_trial_file_says_what_it_lacks(name: str, rules: wireglot.RuleSet) -> None:
    assert name in rules.dialects
    assert "# Lacks:" in (FOLDER / f"{name}.yaml").read_text("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_trial_file_hold(name: str, rules: wireglot.RuleSet) -> None:
    found = [one for one in examples.find(rules[name]) if Path(one.pos.file).stem == name]
    assert found
    told = [examples.check(rules, one, rules[name]) for one in found]
    assert [text for text in told if text] == []
