"""Preparing the packaged rules for a wheel: no YAML is read and nothing generated to convert."""

from __future__ import annotations

from pathlib import Path

from ..executor import modules
from ..language import layers, variants
from ..language.source import LADDER, plain
from ..rulesets import RuleSet
from . import load, modelcode, shelf, shipped, written


def main(target: Path) -> None:
    """Write the packaged rules into `target`/wireglot/rules, and what is made of them beside."""
    folder = Path(target) / "wireglot" / "rules"
    _modules(rules(folder), folder.parent / "made")


def rules(folder: Path) -> RuleSet:
    """Write one file of the rule files of a folder into it; return their rules."""
    files = layers.by_name(load.parsed(folder, "rules")).dialects
    nodes = {name: plain(node) for name, node in files.items()}
    names = [name for name in nodes if name != LADDER]
    known = layers.learned(nodes)
    made = RuleSet(names, lambda: known.flat, varied=known.varied)
    units = ("request", "response")
    models = {(name, unit): made[name].keys_of_model(unit) for name in names for unit in units}
    shipped.write(str(folder / shelf.PREPARED), known._replace(models=models))
    return made


def _modules(rules: RuleSet, folder: Path) -> None:
    """Write the model and the functions of each dialect as modules, with variants of models."""
    folder.mkdir()

    def put(file: str, text: str) -> None:
        (folder / f"{file}.py").write_text(text, "utf-8")

    makers = modelcode.Makers()
    put("ladder", modelcode.ladder(rules.ladder, makers))
    for name in rules.dialects:
        rows = rules.rows(name)
        models = (None, *variants.models(rows))
        sets = sorted({variants.applying(rows, name, model, {}) for model in models})
        dialects = {modules.start(name, one): rules.with_rows(name, one).model for one in sets}
        first = next(iter(dialects))
        whole = modelcode.Written(dialects[first], makers)
        for start, dialect in dialects.items():
            other = modelcode.Written(dialect, makers, first, whole) if start != first else whole
            for file, text in other.texts.items():
                put(f"{start}_{file}", text)
        for file, text in written.modules(name, dialects):
            put(file, text)
        rules.forget()
    sizes = "".join(f"    {file!r}: {size},\n" for file, size in sorted(modules.makers().items()))
    head = f'"""Models and functions of the packaged dialects."""\n\nRULES = {rules.hash!r}\n'
    put("__init__", f"{head}MAKERS = {{\n{sizes}}}\n")
