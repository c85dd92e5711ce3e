"""The checks: each on a file that breaks it, with the whole message that is expected beside it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import wireglot
from wireglot import cli, load
from wireglot.findings import Findings

BROKEN = Path(__file__).parent / "broken"
DOCS = Path(__file__).parent.parent / "docs" / "checks.md"
CASES = sorted(p for p in BROKEN.iterdir() if re.match(r"R\d{3}-", p.name) and p.suffix != ".txt")
# Ids whose message is raised elsewhere, and tested there.
ELSEWHERE = {"R007"}


def found(source: Path, folder: Path) -> Findings:
    """Check a copy of a broken file, or of a folder of them."""
    if source.is_dir():
        shutil.copytree(source, folder, dirs_exist_ok=True)
    else:
        shutil.copy(source, folder / "broken.yaml")
    return load.check(folder)


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
