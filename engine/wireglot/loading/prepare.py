"""Preparing the packaged rules for a wheel: no YAML is read and nothing compiled to convert."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import marshal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..compiler.fast import Fast, file_of
from ..errors import WireglotError
from ..executor import modules
from ..language import layers, variants
from ..language.source import LADDER, Node, fingerprint, plain
from ..loaded import Both
from ..rulesets import RuleSet
from . import load, modelcode, shelf, shipped, written

if TYPE_CHECKING:
    from ..dialects import DialectRules

# A request, and what requests mostly say beside: a pair brings along what becomes of it. For the
# numbers others may stand.
HELLO: dict[str, Any] = {
    "model": "x",
    "messages": [{"role": "user", "parts": [{"type": "text", "text": "x"}]}],
    "tools": [{"type": "function", "name": "x", "parameters": {"type": "object"}}],
}
_CHOICES: list[dict[str, Any]] = [
    {"tool_choice": choice, **parallel}
    for choice in ("auto", "none", "required")
    for parallel in ({}, {"parallel_tool_calls": True}, {"parallel_tool_calls": False})
]
_NUMBERS: list[dict[str, Any]] = [
    {"max_tokens": 1},
    *(
        {**tokens, "temperature": number, **rest}  # numbers with and without a fraction
        for number in (0.5, 1)
        for tokens in ({}, {"max_tokens": 1})
        for rest in ({}, {"top_p": 0.5})
    ),
]
_EFFORTS: list[dict[str, Any]] = [{"reasoning": {"effort": e}} for e in ("low", "medium", "high")]
USUAL = [
    *_CHOICES,
    {"parallel_tool_calls": True},
    {"parallel_tool_calls": False},
    *_NUMBERS,
    *({**said, "tool_choice": "auto"} for said in _NUMBERS),
    *_EFFORTS,
]


def main(target: Path) -> None:
    """Write the model and the compiled pairs of the packaged rules into `target`/wireglot/rules."""
    folder = Path(target) / "wireglot" / "rules"
    files = layers.by_name(load.parsed(folder, "rules")).dialects
    nodes = {name: plain(node) for name, node in files.items()}
    dumped = {name: node.dump() for name, node in nodes.items()}
    text = json.dumps(dumped, ensure_ascii=False, separators=(",", ":"))
    (folder / shelf.MODEL).write_text(text, "utf-8")
    names = [name for name in nodes if name != LADDER]
    flat = layers.flat(nodes)
    varied = layers.varied(flat)
    _modules(RuleSet(names, lambda: flat, varied=varied), folder.parent / "made")
    rules = RuleSet(names, lambda: flat, varied=varied)
    plans: dict[tuple[str, str, Both], Any] = {}
    for source in names:
        for made in names:
            if source != made:
                there = {name: varied.get(name, ()) for name in (source, made)}
                for model in (None, *variants.models(*there.values())):
                    both = [variants.applying(there[n], n, model, {}) for n in (source, made)]
                    key = (source, made, (both[0], both[1]))
                    if key not in plans:
                        plans[key] = _plan(rules, *key)
    light = {
        name: tuple(row._replace(over=Node({}, row.over.pos)) for row in rows)
        for name, rows in varied.items()
    }
    units = ("request", "response")
    models = {(name, unit): rules[name].keys_of_model(unit) for name in names for unit in units}
    file = str(folder / shelf.PREPARED)
    shipped.write(file, flat, plans, light, models, fingerprint(flat))


def _modules(rules: RuleSet, folder: Path) -> None:
    """Write the model and the functions of each dialect as modules, with variants of models."""
    makers = modelcode.Makers()
    files = {"ladder.py": modelcode.ladder(rules._ladder, makers)}
    for name in rules.dialects:
        rows = rules.rows(name)
        models = (None, *variants.models(rows))
        sets = sorted({variants.applying(rows, name, model, {}) for model in models})
        dialects = {modules.start(name, one): rules._made(name, one).model for one in sets}
        first = next(iter(dialects))
        whole = modelcode.Written(dialects[first], makers)
        for start, dialect in dialects.items():
            other = modelcode.Written(dialect, makers, first, whole) if start != first else whole
            files |= {f"{start}_{file}.py": text for file, text in other.texts.items()}
        files |= {f"{file}.py": text for file, text in written.modules(name, dialects)}
    sizes = "".join(f"    {file!r}: {size},\n" for file, size in sorted(modules.makers().items()))
    head = f'"""Models and functions of the packaged dialects."""\n\nRULES = {rules.hash!r}\n'
    files["__init__.py"] = f"{head}MAKERS = {{\n{sizes}}}\n"
    folder.mkdir()
    for file, text in files.items():
        (folder / file).write_text(text, "utf-8")


def _plan(rules: RuleSet, source: str, target: str, both: Both) -> Any:
    """Return the plan of a pair with its code for this Python, and what it knows beforehand."""
    plan = rules.plan(source, target, both)
    if plan is None:
        return None
    plan["known"] = _known(rules[source], rules._ready(plan, source, target, both))
    code = marshal.dumps(compile(plan["text"], file_of(plan), "exec"))
    plan["code"] = {importlib.util.MAGIC_NUMBER: code}
    return plan


def _known(source: DialectRules, fast: Fast) -> Any:
    """Return what becomes of what requests mostly say."""
    for said in USUAL:
        body = source.write({**HELLO, **said}).body
        for spelled in (body, *_respelled(body, fast)):
            with contextlib.suppress(WireglotError, *fast.leave):
                fast.run(spelled, "x", None)
    return fast.memo


def _respelled(body: dict[str, Any], fast: Fast) -> Iterator[dict[str, Any]]:
    """Yield a request with another spelling of a key, for each that it has."""
    for key, entry in fast.keys.items():
        if entry[-1] is not None and key not in body:
            old = next((k for k in body if k in fast.keys and fast.keys[k][-1] == entry[-1]), None)
            if old is not None:
                yield {key if k == old else k: value for k, value in body.items()}
