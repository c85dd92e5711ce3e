"""Rule files that were parsed by hand: checked and loaded, as those of a folder are."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from wireglot.rulesets import RuleSet


def _module(name: str) -> Any:
    return importlib.import_module(f"wireglot.{name}")


def either(owner: Any, *names: str) -> Any:
    """Return what an object has under one of some names: as it is called, and as it was."""
    return next(getattr(owner, name) for name in names if hasattr(owner, name))


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
    # An engine of before calls some of these otherwise.
    refuse = either(findings, "add_error", "take")
    mine = either(layers, "sort_files", "by_name")(own, refuse)
    files = {**nodes, **mine.dialects}
    found = either(layercheck, "flatten", "flat")(files, mine.overlays.values(), findings)
    steps = either(layercheck, "check_ladder", "ladder")(files, findings)
    layercheck.check(found, layercheck.touched(found, findings.texts), findings, steps)
    module("checks.crosscheck").check(mine.crossings, files, findings)
    if any(finding.severity == "error" for finding in findings):
        return None
    made: RuleSet = either(module("loading.load"), "rule_set", "made")(found.nodes)
    return made
