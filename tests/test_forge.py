"""What a forge is given: workflows, forms, hooks, an action and an image say what is there."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import wireglot
from wireglot.commandline.parser import parser

from .test_readme import targets

ROOT = Path(__file__).parent.parent
FILES = [*sorted((ROOT / ".github").rglob("*.yml")), ROOT / "action.yml"]
# What a field of an issue form may say, by its type.
ASKED = {"label", "description", "placeholder", "value"}
FORM = {"input": ASKED, "textarea": ASKED | {"render"}, "dropdown": ASKED | {"options"}}
HOOKS = ROOT / ".pre-commit-hooks.yaml"


def commands(value: Any) -> list[str]:
    """Return what the steps of a workflow or an action run, line by line."""
    if isinstance(value, list):
        return [one for inner in value for one in commands(inner)]
    if not isinstance(value, dict):
        return []
    here = value["run"].splitlines() if isinstance(value.get("run"), str) else []
    return here + [one for inner in value.values() for one in commands(inner)]


def known(words: list[str]) -> bool:
    """Tell whether a command line is one that `wireglot` takes."""
    return parser().parse_known_args(words) is not None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_steps_run_what_is_there(file: Path) -> None:
    for line in commands(yaml.safe_load(file.read_text("utf-8"))):
        for words in map(shlex.split, re.split(r" && ", line)):
            if words[0] == "make":
                assert {w for w in words[1:] if "=" not in w} <= targets(), line
            elif words[0].rpartition("/")[2] == "wireglot":
                assert known(words[1:]), line


def test_hooks_are_commands() -> None:
    for hook in yaml.safe_load(HOOKS.read_text("utf-8")):
        words = shlex.split(hook["entry"])
        assert words[0] == "wireglot" and known([*words[1:], "rules"])


def test_the_image_starts_a_server() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    entry = yaml.safe_load(re.findall(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)[0])
    assert entry[0] == "wireglot" and known([*entry[1:], "--to", "demo"])


def test_every_python_that_is_supported_is_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    tested = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))
    versions = tested["jobs"]["test"]["strategy"]["matrix"]["python"]
    said = [word.rpartition(" ")[2] for word in project["classifiers"]]
    assert {word for word in said if re.fullmatch(r"3\.\d+", word)} <= set(versions)
    assert project["version"] == wireglot.__version__
    assert project["requires-python"] == f">={versions[0]}"


@pytest.mark.parametrize("name", ["fault", "provider"])
def test_forms_have_only_what_a_forge_knows(name: str) -> None:
    form = yaml.safe_load((ROOT / f".github/ISSUE_TEMPLATE/{name}.yml").read_text("utf-8"))
    for one in form["body"]:
        # A comma in a text without quotes makes a key of what follows.
        assert one["attributes"].keys() <= FORM[one["type"]], one["id"]
        assert one.keys() <= {"type", "id", "attributes", "validations"}


def test_forms_ask_for_what_a_fault_needs() -> None:
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/fault.yml").read_text("utf-8"))
    asked = {one["id"] for one in form["body"] if one.get("validations", {}).get("required")}
    assert {"pair", "unit", "case", "version"} <= asked
