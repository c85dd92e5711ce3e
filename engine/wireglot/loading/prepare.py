"""Preparing the packaged rules for a wheel: no YAML is read and nothing generated to convert."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..executor import modules
from ..language import layers, variants
from ..language.known import Known
from ..language.source import without_examples
from ..rulesets import RuleSet
from . import load, modelcode, rulesources, shipped, written

MOST = 8  # processes at once: each holds all rules
KEPT = 8  # dialects that others extend, of which a process remembers what is written


class Family(NamedTuple):
    """Rules, and which dialect one extends, where it does."""

    rules: RuleSet
    parents: Mapping[str, str]


_family: Family | None = None  # of a process of the pool


def main(target: Path) -> None:
    """Write the packaged rules into `target`/wireglot/rules, and what is made of them beside."""
    folder = Path(target) / "wireglot" / "rules"
    _write_modules(write_rules(folder), folder.parent / "made", folder)


def write_rules(folder: Path) -> Family:
    """Write one file of the rule files of a folder into it; return their rules."""
    made, known = _read(folder)
    units = ("request", "response")
    models = {(n, unit): made[n].keys_of_model(unit) for n in made.dialects for unit in units}
    shipped.write(str(folder / rulesources.PREPARED), known._replace(models=models))
    return Family(made, known.parents)


def _read(folder: Path) -> tuple[RuleSet, Known]:
    """Return the rules of the rule files of a folder, and what is known of these."""
    files = layers.sort_files(load.parse_source(folder, "rules")).dialects
    nodes = {name: without_examples(node) for name, node in files.items()}
    known = layers.analysed(nodes)
    return RuleSet(known.flat, varied=known.varied), known


def _write_modules(family: Family, folder: Path, files: Path | None = None) -> None:
    """Write the model and the functions of each dialect as modules, with variants of models.

    With a folder of rule `files`, several processes do so: it takes minutes of the processor.
    """
    global _family
    _family, rules = family, family.rules  # a process that is forked has it already
    _whole.cache_clear()
    folder.mkdir()
    _write_module(folder, "ladder", modelcode.ladder(rules.ladder, modelcode.Makers()))
    # What has many variants takes long, and comes first.
    names = sorted(rules.dialects, key=lambda name: -len(rules.rows(name)))
    pool = None if files is None else _pool(files)
    if pool is None:
        for name in names:
            _write_dialect(folder, name)
    else:
        with pool:
            list(pool.map(partial(_write_dialect, folder), names))
    sizes = "".join(f"    {file!r}: {size},\n" for file, size in sorted(modules.makers().items()))
    head = f'"""Models and functions of the packaged dialects."""\n\nRULES = {rules.hash!r}\n'
    _write_module(folder, "__init__", f"{head}MAKERS = {{\n{sizes}}}\n")


def _pool(files: Path) -> ProcessPoolExecutor | None:
    """Return several processes; None where there is one processor, or no way to have them."""
    jobs = min(MOST, os.cpu_count() or 1)
    if jobs == 1:
        return None
    try:
        return ProcessPoolExecutor(jobs, initializer=_load_rules, initargs=(files,))
    except (ImportError, NotImplementedError, OSError):  # without semaphores, as in a sandbox
        return None


def _load_rules(files: Path) -> None:
    """Let a process have the rules."""
    global _family
    if _family is None:
        made, known = _read(files)
        _family = Family(made, known.parents)


def _write_dialect(folder: Path, name: str) -> None:
    """Write the modules of a dialect and of its variants."""
    assert _family is not None, "a process of the pool begins with rules"
    rules, parents = _family
    over, sets = parents.get(name, ""), _row_sets(name)
    parent = _whole(over) if over in rules.dialects and () in _row_sets(over) else None
    base = modules.start(over, ()) if parent is not None else ""
    dialects = {modules.start(name, one): rules.with_rows(name, one).model for one in sets}
    for file, text in written.modules(name, dialects, base, parent):
        _write_module(folder, file, text)
    rules.forget()


def _row_sets(name: str) -> list[tuple[int, ...]]:
    """Return the sets of a dialect's variants that models choose, that for no model among them."""
    assert _family is not None
    rows = _family.rules.rows(name)
    models = (None, *variants.sample_models(rows))
    return sorted({variants.applying_rows(rows, name, model, {}) for model in models})


@functools.lru_cache(KEPT)
def _whole(name: str) -> written.Pieces:
    """Return what is written of a dialect that others extend, without variants."""
    assert _family is not None
    return written.pieces(_family.rules.with_rows(name, ()).model, modelcode.Makers())


def _write_module(folder: Path, file: str, text: str) -> None:
    (folder / f"{file}.py").write_text(text, "utf-8")
