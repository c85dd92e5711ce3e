"""Preparing the packaged rules for a wheel: no YAML is read and nothing compiled to convert."""

from __future__ import annotations

import importlib.util
import json
import marshal
import pickle
from pathlib import Path

from . import layers, load
from .rulesets import RuleSet
from .source import Node


def plain(node: Node) -> Node:
    """Return a rule file without its examples, which no conversion asks for."""
    if not isinstance(node.value, dict):
        return node
    kept = {
        # Within a picture, `examples` is a key like any other.
        k: v if k in ("wire", "ir", "from", "to") else plain(v)
        for k, v in node.value.items()
        if k != "examples"
    }
    return Node(kept, node.pos, node.keys)


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
    plans = {}
    for source in names:
        for made in names:
            if source == made:
                continue
            plan = plans[source, made] = rules.plan(source, made)
            if plan is not None:
                file = f"<wireglot {source} to {made}>"
                code = marshal.dumps(compile(plan["text"], file, "exec"))
                plan["code"] = {importlib.util.MAGIC_NUMBER: code}
    (folder / load.PLANS).write_bytes(pickle.dumps((names, plans, varied), protocol=5))
