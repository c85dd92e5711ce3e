"""What a wheel ships: one file, read piece by piece."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import wireglot
from wireglot.language.source import fingerprint
from wireglot.language.variants import Row
from wireglot.loading import shipped

NODES = {name: node for name, node in wireglot.packaged()._files().items() if name != "vertex"}
PLANS = {("a", "b", ((), ())): {"text": "x" * 1000}, ("b", "a", ((), (0,))): None}
VARIED: dict[str, tuple[Row, ...]] = {"a": ()}
MODELS: dict[str, tuple[str, ...] | None] = {"a": ("model",), "b": None}


@pytest.fixture
def file(tmp_path: Path) -> str:
    name = str(tmp_path / "compiled.bin")
    shipped.write(name, NODES, PLANS, VARIED, MODELS, "hash")
    return name


def test_what_was_written_is_read_piece_by_piece(file: str) -> None:
    index, nodes, plans = shipped.read(file)
    assert index[2:] == (VARIED, MODELS, "hash")
    assert fingerprint(nodes) == fingerprint(NODES)
    assert dict(plans) == PLANS
    assert len(plans) == 2 and ("a", "a", ((), ())) not in plans
    with pytest.raises(KeyError):
        plans["a", "a", ((), ())]


def test_another_file_in_the_same_place_is_refused(file: str) -> None:
    _, nodes, _ = shipped.read(file)
    os.utime(file, ns=(1, 1))
    with pytest.raises(wireglot.RuleError) as caught:
        nodes["anthropic"]
    told = f"the packaged rules in {file} were replaced while they were in use"
    assert str(caught.value) == f"{told}\n  help: start the process again"
