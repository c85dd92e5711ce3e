"""Rule files that were parsed by hand: checked and loaded, as those of a folder are."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from wireglot.rulesets import RuleSet


def _module(name: str) -> Any:
    return importlib.import_module(f"wireglot.{name}")


def from_nodes(
    own: Mapping[str, Any],
    nodes: Mapping[str, Any],
    findings: Any,
    module: Callable[[str], Any] = _module,
) -> RuleSet | None:
    """Check rule files, and load them beside `nodes`; None where they are wrong.

    `module` gives the modules of the engine by their names, of another one, too.
    """
    layers, layercheck = module("language.layers"), module("checks.layercheck")
    mine = layers.sort_files(own, findings.add_error)
    files = {**nodes, **mine.dialects}
    found = layercheck.flatten(files, mine.overlays.values(), findings)
    steps = layercheck.check_ladder(files, findings)
    layercheck.check(found, layercheck.touched(found, findings.texts), findings, steps)
    module("checks.crosscheck").check(mine.crossings, files, findings)
    if any(finding.severity == "error" for finding in findings):
        return None
    made: RuleSet = module("loading.load").rule_set(found.nodes)
    return made
