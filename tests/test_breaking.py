"""`wireglot breaking`: what a change of rule files means for users, against git or a folder."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from wireglot import cli
from wireglot.authoring.breaking import Graded

from .tables import read_yaml
from .test_diff import LARGE, SMALL

ROOT = Path(__file__).parent.parent
CASES = read_yaml((Path(__file__).parent / "cases" / "breaking.yaml").read_text("utf-8"))
MORE = {
    "examples/small.yaml": "wireglot: 2\nexamples-of: small\nexamples: {text: []}\n",
    "overlays/calm.yaml": "wireglot: 2\noverlay: small\nsee: https://small.example\n",
}


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of rule files in a repository, and beside it `before`, a copy."""
    folder = tmp_path / "rules"
    for name, text in {"small.yaml": SMALL, "large.yaml": LARGE, **MORE}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    shutil.copy(ROOT / "rules" / "ladder.yaml", folder)
    shutil.copytree(folder, tmp_path / "before")
    monkeypatch.chdir(tmp_path)
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (["init", "-q"], ["add", "rules"], [*who, "commit", "-qm", "Rules"]):
        subprocess.run(["git", *words], check=True)
    return folder


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = cli.main(["breaking", "rules", *words])
    out = capsys.readouterr()
    return status, out.out + out.err


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["new"].strip()[:30])
def test_a_change_has_its_grade_and_its_place(
    rules: Path, capsys: pytest.CaptureFixture[str], case: dict[str, Any]
) -> None:
    assert case["old"] in SMALL
    (rules / "small.yaml").write_text(SMALL.replace(case["old"], case["new"]))
    status, told = run(capsys, "--against", "HEAD")
    assert case["said"] in told.splitlines()
    found = {line.partition(":")[0] for line in told.splitlines()[:-1]}
    assert found == set(case["grades"]), told
    assert status == ("wire" in found)
    assert run(capsys, "--against", "before")[1].replace("before", "HEAD") == told
    for limit, least in (("notes", {"wire", "notes"}), ("prose", found), ("never", set())):
        asked = ("--against", "HEAD", "--rules-only", "--fail-on", limit)
        assert run(capsys, *asked)[0] == bool(found & least)


def test_files_that_no_dialect_is_made_of_are_told_of(
    rules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in MORE.items():
        (rules / name).write_text(f"# A comment.\n{text}")
    assert run(capsys, "--against", "HEAD")[1].splitlines() == [
        "prose: examples/small.yaml: other examples (rules/examples/small.yaml)",
        "prose: overlays/calm.yaml: other comments, layout, examples or `see` "
        "(rules/overlays/calm.yaml)",
        "against HEAD: 0 wire, 0 notes, 2 prose",
    ]
    (rules / "overlays" / "calm.yaml").unlink()
    assert (
        "wire: overlays/calm.yaml is gone; what it does is not tried"
        in (run(capsys, "--against", "HEAD")[1])
    )


def test_dialects_that_come_and_go_are_on_the_wire(
    rules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (rules / "large.yaml").rename(rules / "wide.yaml")
    (rules / "wide.yaml").write_text(LARGE.replace("dialect: large", "dialect: wide"))
    status, told = run(capsys, "--against", "HEAD", "--rules-only")
    assert status == 1 and "wire: large: is gone\n" in told and "wire: wide: is new" in told


def test_machines_are_told_the_same(rules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "small.yaml").write_text(SMALL.replace("heat: $temperature (opt", "heat: $seed (opt"))
    words = ("--against", "HEAD", "--rules-only", "--format")
    made = json.loads(run(capsys, *words, "json")[1])
    (one,) = made["found"]
    assert (made["wire"], made["notes"], one["grade"]) == (1, 0, "wire")
    assert run(capsys, *words, "github")[1] == (
        f"::error file=rules/small.yaml,line=21,col=11::wire: {one['said']}\n"
    )


def test_signs_that_mean_something_to_a_workflow_are_escaped() -> None:
    """In a property a comma begins the next one, and a colon may end the command."""
    found = Graded("wire", "50% of\r\na: b, c", "odd:1,2%/a.yaml:3:4")
    assert found.annotation("odd:1,2%") == (
        "::error file=odd%3A1%2C2%25/a.yaml,line=3,col=4::wire: 50%25 of%0D%0Aa: b, c"
    )
    assert Graded("prose", "x", "f/b.yaml").annotation("f") == (
        "::notice file=f/b.yaml,line=1,col=1::prose: x"
    )


@pytest.mark.parametrize("ref", ["", "gone", "--output=x", "HEAD:nowhere"])
def test_what_is_no_revision_is_a_usage_error(
    rules: Path, capsys: pytest.CaptureFixture[str], ref: str
) -> None:
    status, told = run(capsys, f"--against={ref}")
    assert status == 2 and f"`{ref}` is no folder, and git says" in told
    assert not (rules / "x").exists()
