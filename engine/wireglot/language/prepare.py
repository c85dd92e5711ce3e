"""Preparing the packaged rules for a wheel: no YAML is read and nothing compiled to convert."""

from __future__ import annotations

import importlib.util
import json
import marshal
import pickle
from pathlib import Path

from ..rulesets import Both, RuleSet
from . import layers, load, variants
from .source import Node, fingerprint, plain


def main(target: Path) -> None:
    """Write the model and the compiled pairs of the packaged rules into `target`/wireglot/rules."""
    folder = Path(target) / "wireglot" / "rules"
    files = layers.by_name(load.parsed(folder, "rules")).dialects
    nodes = {name: plain(node) for name, node in files.items()}
    dumped = {name: node.dump() for name, node in nodes.items()}
    text = json.dumps(dumped, ensure_ascii=False, separators=(",", ":"))
    (folder / load.MODEL).write_text(text, "utf-8")
    names = [name for name in nodes if name != load.LADDER]
    flat = layers.flat(nodes)
    varied = layers.varied(flat)
    rules = RuleSet(names, lambda: flat, varied=varied)
    plans: dict[tuple[str, str, Both], bytes | None] = {}
    for source in names:
        for made in names:
            if source != made:
                there = {name: varied.get(name, ()) for name in (source, made)}
                for model in (None, *variants.models(*there.values())):
                    both = [variants.applying(there[n], n, model, {}) for n in (source, made)]
                    plans[source, made, (both[0], both[1])] = None
    for key in plans:
        plan = rules.plan(*key)
        if plan is not None:
            file = f"<wireglot {key[0]} to {key[1]}>"
            code = marshal.dumps(compile(plan["text"], file, "exec"))
            plan["code"] = {importlib.util.MAGIC_NUMBER: code}
            plans[key] = pickle.dumps(plan, protocol=5)
    light = {
        name: tuple(row._replace(over=Node({}, row.over.pos)) for row in rows)
        for name, rows in varied.items()
    }
    models = {name: rules[name].model_keys for name in names}
    prepared = (names, plans, light, models, fingerprint(flat))
    (folder / load.PLANS).write_bytes(pickle.dumps(prepared, protocol=5))
