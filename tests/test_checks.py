"""The checks: each on a file that breaks it, with the whole message that is expected beside it."""

from __future__ import annotations

import datetime
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import cli
from wireglot.authoring import trial
from wireglot.language import layers
from wireglot.language.findings import Findings
from wireglot.loading import checking, load, rulesources

from . import width
from .tables import read_yaml

BROKEN = Path(__file__).parent / "broken"
DOCS = Path(__file__).parent.parent / "docs" / "checks.md"
CASES = sorted(p for p in BROKEN.iterdir() if re.match(r"R\d{3}-", p.name) and p.suffix != ".txt")
# Ids whose message is raised elsewhere, and tested there.
ELSEWHERE: set[str] = set()


def found(source: Path, folder: Path) -> Findings:
    """Check a copy of a broken file, or of a folder of them."""
    if source.is_dir():
        shutil.copytree(source, folder, dirs_exist_ok=True)
    else:
        shutil.copy(source, folder / "broken.yaml")
    return checking.check(folder)


def said(findings: Findings, folder: Path) -> str:
    """Return what `wireglot check` prints, with the folder left out."""
    text = "".join(f"{finding}\n" for finding in findings).replace(f"{folder}/", "")
    return re.sub(r" +$", "", text, flags=re.M)


@pytest.mark.parametrize("source", CASES, ids=lambda p: p.stem)
def test_a_broken_file_is_told_so_with_place_and_help(source: Path, tmp_path: Path) -> None:
    findings = found(source, tmp_path)
    expected = source.with_suffix(".txt").read_text(encoding="utf-8")
    assert said(findings, tmp_path) == expected
    assert source.name[:4] in {finding.rule for finding in findings}


MISTAKES = read_yaml((BROKEN / "planted" / "mistakes.yaml").read_text(encoding="utf-8"))
GOOD = (BROKEN / "good.yaml").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the days of the files stay as long ago as they are."""

    class Day(datetime.date):
        @classmethod
        def today(cls) -> Day:
            return cls(2026, 12, 1)

    monkeypatch.setattr(datetime, "date", Day)


def of_text(text: str, folder: Path, name: str = "good") -> Findings:
    """Check one file of a text; another than `good` lies over that one."""
    (folder / "good.yaml").write_text(GOOD, encoding="utf-8")
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return checking.check(folder)


def test_the_good_file_has_no_findings(tmp_path: Path) -> None:
    findings = of_text(GOOD, tmp_path)
    assert said(findings, tmp_path) == ""
    assert (
        trial.Trial(str(tmp_path), runs=0).run(wireglot.load_rules(tmp_path), ["good"]).failures
        == []
    )


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: f"{m['kind']}-{m['to'].strip()[:30]}")
def test_the_help_for_a_planted_mistake_leads_out_of_it(
    mistake: dict[str, str], tmp_path: Path
) -> None:
    name = mistake.get("in", "good")
    good = GOOD if name == "good" else (BROKEN / "planted" / f"{name}.yaml").read_text("utf-8")
    assert good.count(mistake["from"]) == 1
    text = good.replace(mistake["from"], mistake["to"])
    told = [f for f in of_text(text, tmp_path, name) if f.rule == mistake["rule"]]
    matching = [f for f in told if mistake["told"] in f.message and mistake["help"] in f.help]
    assert matching, said(checking.check(tmp_path), tmp_path)
    line = good[: good.index(mistake["from"])].count("\n") + 1
    if mistake["to"]:
        lines = range(line, line + mistake["to"].count("\n") + 1)
        assert any(f" {n} | " in matching[0].excerpt for n in lines)
    mended = text.replace(mistake["to"], mistake["from"], 1) if mistake["to"] else good
    assert said(of_text(mended, tmp_path, name), tmp_path) == ""


def test_mistakes_of_every_kind_are_planted() -> None:
    kinds = Counter(mistake["kind"] for mistake in MISTAKES)
    assert len(MISTAKES) >= 20
    assert set(kinds) == {"yaml", "name", "type", "overlap", "absence", "layering"}
    assert min(kinds.values()) >= 2


def test_the_packaged_rules_have_no_findings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not width.WIDE:  # an overlay is checked with each dialect above it: of each, one is
        gathered = load.read_sources

        def few(*given: Any) -> layers.RuleFiles:
            own = gathered(*given)
            first = {str(node.value["overlay"].value): name for name, node in own.overlays.items()}
            return own._replace(overlays={n: own.overlays[n] for n in sorted(first.values())})

        monkeypatch.setattr(load, "read_sources", few)
    shown = len(list((Path(rulesources.packaged_folder()) / "examples").glob("*.yaml")))
    files = len(load.packaged().files) + len(load.overlays_of()) + shown
    assert cli.main(["check"]) == 0, capsys.readouterr().out
    assert capsys.readouterr().out == f"{files} files, no findings\n"


def test_every_check_has_a_broken_file_and_a_section_in_the_docs() -> None:
    text = DOCS.read_text(encoding="utf-8")
    titles = re.findall(r"^### (R\d{3}): ", text, flags=re.M)
    assert len(titles) == len(set(titles))
    assert {path.name[:4] for path in CASES} | ELSEWHERE == set(titles)
    engine = Path(load.__file__).parent
    named = {
        i for p in engine.rglob("*.py") for i in re.findall(r'"(R0\d\d)"', p.read_text("utf-8"))
    }
    assert named <= set(titles)
    sections = re.split(r"^### ", text, flags=re.M)[1:]
    for section in sections:
        for word in ("**Avoid**", "**Prefer**", "**Why**"):
            assert word in section, section[:40]


def test_all_files_are_told_at_once_and_in_order(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("wireglot: [1\n")
    (tmp_path / "a.yaml").write_text("\twireglot: 2\n")
    (tmp_path / "c.yaml").write_text(GOOD.replace("$model", "$modle"))
    findings = list(checking.check(tmp_path))
    assert [(Path(f.file).name, f.rule) for f in findings] == [
        ("a.yaml", "R020"), ("b.yaml", "R020"), *[("c.yaml", "R001")] * 2,
    ]  # fmt: skip
    with pytest.raises(wireglot.RuleError) as caught:
        wireglot.load_rules(tmp_path)
    error = caught.value
    assert (error.rule, error.line, error.file) == ("R020", 1, findings[0].file)
    assert str(error).startswith(f"{error.file}:1:1: R020: a tab stands in the indentation\n")
    assert error.excerpt and error.help


def test_what_an_overlay_breaks_below_is_told_where_it_names_its_dialect(tmp_path: Path) -> None:
    text = "wireglot: 2\noverlay: gemini\nshapes: {function: $removed}\n"
    (tmp_path / "proxy.yaml").write_text(text)
    found = [f for f in checking.check(tmp_path) if f.severity == "error"]
    assert {(f.rule, f.line, f.column) for f in found} == {("R014", 2, 10)}
    assert found[0].message.startswith("with this layer, ")
    assert re.search(r"`function`.*\(rules/gemini.yaml:\d+:\d+\)$", found[0].message)
    assert checking.check(tmp_path, ["gemini-no-ids"]).errors
    wireglot.load_rules(tmp_path)  # it is not switched on
    with pytest.raises(wireglot.RuleError, match="with this layer"):
        wireglot.load_rules(tmp_path, overlays=["proxy"])


def test_a_child_of_a_broken_file_is_not_told_to_lack_its_parent(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(GOOD.replace("dialect: good", "dialect: good\n\tx: 1"))
    shutil.copy(BROKEN / "planted" / "family.yaml", tmp_path)
    shutil.copy(BROKEN / "planted" / "proxy.yaml", tmp_path)
    assert {f.rule for f in checking.check(tmp_path, ["proxy"])} == {"R020"}


def test_what_is_used_in_one_layer_alone_is_used(tmp_path: Path) -> None:
    unused = "  spare: {wire: {kind: spare, text: $text}}\n  text:\n"
    text = GOOD.replace("  text:\n", unused, 1)
    assert {f.rule for f in of_text(text, tmp_path)} == {"R014"}
    head = "wireglot: 2\noverlay: good\n"
    (tmp_path / "over.yaml").write_text(f"{head}unions: {{said: [spare, reasoning, tool_call]}}\n")
    assert [str(f) for f in checking.check(tmp_path) if f.rule == "R014"] == []


def test_warnings_do_not_stop_loading_and_are_kept(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(GOOD.replace("verified: 2026-11-21\n", ""))
    rules = wireglot.load_rules(tmp_path)
    assert [(f.rule, f.severity) for f in rules.findings] == [("R009", "warning")]


def test_check_prints_json_for_editors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.yaml").write_text(GOOD.replace("$temperature", "$temprature"))
    assert cli.main(["check", "--json", str(tmp_path)]) == 1
    (finding,) = [f for f in json.loads(capsys.readouterr().out) if f["severity"] == "error"]
    assert set(finding) == {
        "rule", "severity", "file", "line", "column", "message", "excerpt", "help",
    }  # fmt: skip
    assert (finding["rule"], finding["line"]) == (
        "R001",
        GOOD[: GOOD.index("$temp")].count("\n") + 1,
    )
    assert "did you mean `$temperature`?" in finding["help"]


def test_check_says_that_all_is_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.yaml").write_text(GOOD)
    assert cli.main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 file, no findings\n"
    (tmp_path / "two.yaml").write_text("wireglot: 2\ndialect: two\n")
    assert cli.main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith("\n2 files, 2 warnings\n")
