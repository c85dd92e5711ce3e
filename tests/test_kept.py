"""The rule files of a checkout are read once, and again when they or the engine have changed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot.language import layers
from wireglot.language.source import Node, fingerprint
from wireglot.loading import kept, load

ROOT = Path(__file__).resolve().parent.parent
PLACES = ("", "examples/")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "rules"
    (made / "examples").mkdir(parents=True)
    few = [f"{place}{name}.yaml" for name in ("gemini", "vertex", "ollama") for place in PLACES]
    for name in ("ladder.yaml", "examples/crossings.yaml", *few):
        shutil.copy(ROOT / "rules" / name, made / name)
    return made


class Reads:
    """Reads a folder, and counts how often."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.times = folder, 0

    def __call__(self) -> layers.RuleFiles:
        self.times += 1
        return layers.sort_files(load.parse_source(self.folder, "rules"))

    def kept(self) -> kept.Kept:
        return kept.packaged(str(self.folder), self)


def all_of(node: Node) -> Iterator[Any]:
    """Yield what a node says, with all places."""
    yield node.pos
    for key, child in node.value.items() if isinstance(node.value, dict) else ():
        yield key, node.keys.get(key)
        yield from all_of(child)
    for child in node.value if isinstance(node.value, list) else ():
        yield from all_of(child)
    if not isinstance(node.value, dict | list):
        yield node.value


def test_what_is_kept_is_what_was_read(folder: Path) -> None:
    reads = Reads(folder)
    reads.kept()
    all_kept, files = reads.kept(), Reads(folder)()
    found = all_kept.known
    assert reads.times == 1
    assert [*found.files] == [*files.dialects] and "no-dialect" not in found.flat
    for name, node in files.dialects.items():
        assert [*all_of(found.files[name])] == [*all_of(node)], name
    for one, two in zip(all_kept.crossings(), files.crossings, strict=True):
        assert [*all_of(one)] == [*all_of(two)]
    flat = layers.flatten(files.dialects)
    for name, node in flat.items():
        assert [*all_of(found.flat[name])] == [*all_of(node)], name
    assert found.hash == fingerprint(flat) == fingerprint({}, found.sums)
    assert found.parents == {"vertex": "gemini"}
    rows = {name: [row[:3] for row in some] for name, some in found.varied.items()}
    assert rows == {
        n: [row[:3] for row in some] for n, some in layers.variants_by_dialect(flat).items()
    }
    with pytest.raises(KeyError):
        found.files["no-dialect"]


def test_a_changed_file_is_read_and_a_changed_engine_reads_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = Reads(folder)
    before = reads.kept().known.hash
    file = folder / "ollama.yaml"
    stat, text = file.stat(), file.read_text("utf-8")
    file.write_text(text.replace("verified: 2026", "verified: 2025"), "utf-8")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert reads.kept().known.hash != before
    assert reads.kept().known.files["ollama"].value["verified"].value.startswith("2025")
    assert reads.times == 2
    shown = folder / "examples" / "ollama.yaml"
    shown.write_text(shown.read_text("utf-8") + "\n", "utf-8")
    reads.kept()
    assert reads.times == 3
    engine = folder.parent / "engine"
    engine.mkdir()
    (engine / "reader.py").write_text("")
    top = Path(wireglot.__file__).parent
    monkeypatch.setattr(kept, "READERS", (os.path.relpath(engine, top),))
    reads.kept()
    assert reads.times == 4
    (engine / "reader.py").write_text("# otherwise")
    reads.kept()
    assert reads.times == 5


def test_a_file_that_was_cut_is_made_anew(folder: Path) -> None:
    reads = Reads(folder)
    reads.kept()
    file = folder / kept.FOLDER / kept.FILE
    file.write_bytes(file.read_bytes()[:-1])
    assert reads.kept().known.files["ollama"].value
    assert reads.times == 2
    assert [one.name for one in file.parent.iterdir()] == [kept.FILE]


def test_nothing_is_kept_where_nothing_can_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = Reads(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert reads.kept().known.flat["vertex"].value
    assert not (folder / kept.FOLDER).exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (folder / kept.FOLDER).write_text("a file in the place of the folder")
    assert reads.kept().known.flat["vertex"].value
    assert reads.times == 2
