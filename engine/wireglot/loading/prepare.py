"""Preparing the packaged rules for a wheel: no YAML is read and nothing generated to convert."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from ..executor import modules
from ..language import layers, variants
from ..language.known import Known
from ..language.source import LADDER, plain
from ..rulesets import RuleSet
from . import load, modelcode, shelf, shipped, written

MOST = 8  # processes at once: each holds all rules

_rules: RuleSet | None = None  # of a process of the pool


def main(target: Path) -> None:
    """Write the packaged rules into `target`/wireglot/rules, and what is made of them beside."""
    folder = Path(target) / "wireglot" / "rules"
    _modules(rules(folder), folder.parent / "made", folder)


def rules(folder: Path) -> RuleSet:
    """Write one file of the rule files of a folder into it; return their rules."""
    made, known = _read(folder)
    units = ("request", "response")
    models = {(n, unit): made[n].keys_of_model(unit) for n in made.dialects for unit in units}
    shipped.write(str(folder / shelf.PREPARED), known._replace(models=models))
    return made


def _read(folder: Path) -> tuple[RuleSet, Known]:
    """Return the rules of the rule files of a folder, and what is known of these."""
    files = layers.by_name(load.parsed(folder, "rules")).dialects
    nodes = {name: plain(node) for name, node in files.items()}
    names = [name for name in nodes if name != LADDER]
    known = layers.learned(nodes)
    return RuleSet(names, lambda: known.flat, varied=known.varied), known


def _modules(rules: RuleSet, folder: Path, files: Path | None = None) -> None:
    """Write the model and the functions of each dialect as modules, with variants of models.

    With a folder of rule `files`, several processes do so: it takes minutes of the processor.
    """
    global _rules
    _rules = rules  # a process that is forked has it already
    folder.mkdir()
    _put(folder, "ladder", modelcode.ladder(rules.ladder, modelcode.Makers()))
    # What has many variants takes long, and comes first.
    names = sorted(rules.dialects, key=lambda name: -len(rules.rows(name)))
    pool = None if files is None else _pool(files)
    if pool is None:
        for name in names:
            _dialect(folder, name)
    else:
        with pool:
            list(pool.map(partial(_dialect, folder), names))
    sizes = "".join(f"    {file!r}: {size},\n" for file, size in sorted(modules.makers().items()))
    head = f'"""Models and functions of the packaged dialects."""\n\nRULES = {rules.hash!r}\n'
    _put(folder, "__init__", f"{head}MAKERS = {{\n{sizes}}}\n")


def _pool(files: Path) -> ProcessPoolExecutor | None:
    """Return several processes; None where there is one processor, or no way to have them."""
    jobs = min(MOST, os.cpu_count() or 1)
    if jobs == 1:
        return None
    try:
        return ProcessPoolExecutor(jobs, initializer=_begin, initargs=(files,))
    except (ImportError, NotImplementedError, OSError):  # without semaphores, as in a sandbox
        return None


def _begin(files: Path) -> None:
    """Let a process have the rules."""
    global _rules
    _rules = _rules or _read(files)[0]


def _dialect(folder: Path, name: str) -> None:
    """Write the modules of a dialect and of its variants."""
    rules = _rules
    assert rules is not None, "a process of the pool begins with rules"
    rows = rules.rows(name)
    models = (None, *variants.models(rows))
    sets = sorted({variants.applying(rows, name, model, {}) for model in models})
    dialects = {modules.start(name, one): rules.with_rows(name, one).model for one in sets}
    first = next(iter(dialects))
    makers = modelcode.Makers()
    whole = modelcode.Written(dialects[first], makers)
    for start, dialect in dialects.items():
        other = modelcode.Written(dialect, makers, first, whole) if start != first else whole
        for file, text in other.texts.items():
            _put(folder, f"{start}_{file}", text)
    for file, text in written.modules(name, dialects):
        _put(folder, file, text)
    rules.forget()


def _put(folder: Path, file: str, text: str) -> None:
    (folder / f"{file}.py").write_text(text, "utf-8")
