"""The cases of `tests/cases/hard.yaml` and others of its form: what other converters get wrong."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import wireglot

from .tables import read_yaml

CASES: list[dict[str, Any]] = [
    case
    for name in ("hard", "ollama", "vertex", "bugs", "wires")
    for case in read_yaml(
        Path(__file__).with_name("cases").joinpath(f"{name}.yaml").read_text("utf-8")
    )["cases"]
]
MISSING = object()


def at(body: Any, pointer: str) -> Any:
    """Return what stands at the pointer, or MISSING."""
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(body, list) and int(step) < len(body):
            body = body[int(step)]
        elif isinstance(body, dict) and step in body:
            body = body[step]
        else:
            return MISSING
    return body


def test_each_case_has_a_name_of_its_own() -> None:
    names = [case["id"] for case in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_hard_case_converts_as_it_says(case: dict[str, Any]) -> None:
    given = copy.deepcopy(case["given"])
    model = "m" if case["unit"] == "request" and "model" not in given else None
    pair, options = (case["source"], case["target"]), case.get("options")
    out = wireglot.convert(given, *pair, case["unit"], model=model, options=options)
    assert given == case["given"]
    for pointer, value in case["expected"].items():
        assert at(out.body, pointer) == value, pointer
    for one, other in case.get("same", ()):
        assert at(out.body, one) == at(out.body, other) != MISSING
    for one, other in case.get("differ", ()):
        assert MISSING not in (at(out.body, one), at(out.body, other))
        assert at(out.body, one) != at(out.body, other)
    for pointer in case.get("absent", ()):
        assert at(out.body, pointer) is MISSING, pointer
    expected = sorted((code for code, _ in case["notes"]))
    assert sorted(note.code for note in out.notes) == expected
    said = {(note.code, note.source_path) for note in out.notes}
    for code, path in case["notes"]:
        assert path is None or (code, path) in said
