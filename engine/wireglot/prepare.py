"""Preparing the packaged rules for a wheel, so that no YAML is read to convert with them."""

from __future__ import annotations

import json
from pathlib import Path

from . import load


def main(target: Path) -> None:
    """Write the model of the packaged rules into `target`/wireglot/rules."""
    folder = Path(target) / "wireglot" / "rules"
    nodes = {name: node.dump() for name, node in load.parsed(folder, "rules").items()}
    text = json.dumps(nodes, ensure_ascii=False, separators=(",", ":"))
    (folder / load.MODEL).write_text(text, "utf-8")
