"""The packaged overlays: each writes what its case says, mostly the letter of a seed."""

from __future__ import annotations

import copy
import functools
import json
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot.authoring import trial

from . import width
from .laid import rules
from .mutate import some
from .tables import read_yaml

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = read_yaml((HERE / "cases/overlays.yaml").read_text("utf-8"))["cases"]
OVERLAYS = sorted(path.stem for path in (HERE.parent / "rules" / "overlays").glob("*.yaml"))
DIALECTS = ("openai-chat", "anthropic", "gemini")
PAIRS = [(one, two) for one in DIALECTS for two in DIALECTS if one != two]
WEATHER = json.loads((HERE.parent / "examples/weather/request.json").read_text("utf-8"))
FAILED = wireglot.convert(WEATHER, source="openai-chat", target="anthropic").body
for result in (b for m in FAILED["messages"] for b in m["content"] if isinstance(b, dict)):
    if "error" in result.get("content", ""):
        result |= {"content": "no disk", "is_error": True}
assert "no disk" in json.dumps(FAILED)
MEMORY = frozenset(("spelled", "arguments_json", "value_json"))


def written(case: dict[str, Any], *overlays: str) -> wireglot.Conversion:
    given, unit = case["given"], case["unit"]
    if "source" in case:
        return rules(*overlays).convert(given, case["source"], case["target"], unit=unit)
    return rules(*overlays)[case["target"]].write(given, unit=unit)


def without_memory(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_memory(v) for k, v in value.items() if k not in MEMORY}
    return [without_memory(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_an_overlay_writes_the_seed_to_the_letter(case: dict[str, Any]) -> None:
    before = copy.deepcopy(case["given"])
    out = written(case, *case["overlays"])
    assert json.dumps(out.body) == json.dumps(case["expected"])
    assert json.dumps(written(case).body) == json.dumps(case["default"])
    assert case["given"] == before


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_letter_of_a_seed_reads_back(case: dict[str, Any]) -> None:
    dialect = rules(*case["overlays"])[case["target"]]
    reading = dialect.read(case["expected"], unit=case["unit"])
    assert dialect.write(reading.ir, unit=case["unit"]).body == case["expected"]
    wanted = case["given"]
    if "source" in case:
        wanted = rules()[case["source"]].read(wanted, unit=case["unit"]).ir
    found = without_memory(reading.ir)
    if case["target"] != "gemini" and case["unit"] == "tool_result":
        found["name"] = wanted.get("name")  # it stands in the call, which is not in this unit
        wanted = {"name": None, **wanted}
    if "back" in case:
        assert found != without_memory(wanted), case["back"]
    else:
        assert found == without_memory(wanted)


@functools.cache
def below() -> frozenset[Any]:
    """Return the places of the examples below the overlays, which `test_cli` tries."""
    tried = trial.Trial(runs=0)
    for example, _ in tried._examples(rules(), list(DIALECTS)):
        tried.examples.add(example.pos)
    assert len(tried.examples) > 300
    return frozenset(tried.examples)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_overlay_is_tried_by_a_case_and_its_examples_hold(overlay: str) -> None:
    assert any(overlay in case["overlays"] for case in CASES)
    tried = trial.Trial(runs=0)
    tried.examples |= below()
    tried.run(rules(overlay), DIALECTS)
    over = read_yaml((HERE.parent / f"rules/overlays/{overlay}.yaml").read_text("utf-8"))["overlay"]
    tried.runs, tried.targets = width.times(3, 1), width.MAIN
    assert tried.run(rules(overlay), [over]).failures == []


@pytest.mark.parametrize(
    ("overlay", "source", "target"),
    width.some([(one, *pair) for one in [*OVERLAYS, "all"] for pair in PAIRS], 5),
)
def test_with_an_overlay_functions_and_the_walk_say_the_same(
    overlay: str, source: str, target: str
) -> None:
    laid = rules(*(OVERLAYS if overlay == "all" else [overlay]))
    body = laid.convert(FAILED, "anthropic", source).body if source != "anthropic" else FAILED
    for mutant in (body, *some(body, width.times(15, 5), f"{overlay}{source}{target}")):
        found: list[Any] = []
        for trace in (False, True):
            try:
                out = laid.convert(mutant, source, target, model="m", trace=trace)
                text = json.dumps(out.body, sort_keys=True)
                found.append((text, sorted(map(repr, out.notes)), out.envelope))
            except wireglot.ConversionError as error:
                found.append(str(error))
        assert found[0] == found[1]


def test_overlays_are_read_only_when_one_is_asked_for() -> None:
    script = (
        "import builtins, io, wireglot\n"
        "opened, real = [], builtins.open\n"
        "def watched(name, *a, **k):\n"
        "    opened.append(str(name))\n"
        "    return real(name, *a, **k)\n"
        "builtins.open = io.open = watched\n"
        "body = {'model': 'm', 'messages': [{'role': 'user', 'content': 'Hi'}]}\n"
        "wireglot.convert(body, source='openai-chat', target='anthropic')\n"
        "wireglot.load_rules()\n"
        "assert not [n for n in opened if 'overlays' in n], opened\n"
        "wireglot.load_rules(overlays=['chat-error-prefix'])\n"
        "assert [n for n in opened if n.endswith('overlays/chat-error-prefix.yaml')]\n"
    )
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
