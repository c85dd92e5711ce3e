"""Loading rule files that are to be checked: those of folders of the user, and of plug-ins."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..checks import crosscheck, layercheck
from ..language import layers
from ..language.findings import Findings
from ..language.known import Known
from ..language.ladder import Ladder
from ..language.layers import RuleFiles
from ..language.source import Node
from ..room import unswept
from ..rulesets import RuleSet
from . import load
from .rulesources import Source, packaged_folder


def load_checked(
    sources: Sequence[Source],
    builtin: bool,
    overlays: Sequence[str],
    plugins: bool,
    again: Callable[[], RuleSet],
) -> RuleSet:
    """Load rule files that lie over the packaged ones. Raises RuleError, UsageError."""
    base, findings = load.packaged_below(builtin), Findings()
    own = load.read_sources(sources, findings, plugins)
    over = load.picked(overlays, own, findings).values()
    found, _ = _check_layers(base, layers.combined(base, own), own, over, findings)
    findings.raise_first()
    reports = findings.sorted()
    return load.rule_set(
        found.nodes, reports, known=base, same=found.same, again=again, sources=sources
    )


def _check_layers(
    base: Known, files: Mapping[str, Node], own: RuleFiles, over: Iterable[Node], findings: Findings
) -> tuple[layercheck.Flat, Ladder]:
    """Check the dialects in which files of the user have a part; return all, and the ladder."""
    layers.report_replaced(base.files, own, findings)
    same = layers.untouched(base, own.dialects, over)
    steps = layercheck.check_ladder(files, findings, same)
    found = layercheck.flatten(files, over, findings, same)
    layercheck.check(found, layercheck.touched(found, findings.texts), findings, steps)
    crosscheck.check(own.crossings, files, findings)
    return found, steps


@unswept
def check(folder: Source | None = None, overlays: Sequence[str] = ()) -> Findings:
    """Return all that is wrong with the rule files of a folder, or with the packaged ones.

    A folder is checked together with the packaged rules; only its own files are reported on. Each
    of its overlays is checked too, as if it were switched on after `overlays`.
    """
    findings = Findings()
    base = layers.unanalysed({})
    folders: list[Source] = [packaged_folder(), f"{packaged_folder()}/{load.OVERLAYS}"]
    if folder is not None:
        base, folders = load.packaged(), [folder]
    own = load.read_sources([s for s in folders if folder or os.path.isdir(str(s))], findings)
    files, laid = layers.combined(base, own), load.picked(overlays, own, findings)
    _, steps = _check_layers(base, files, own, laid.values(), findings)
    for name, node in own.overlays.items():
        if name not in laid:
            over = [*laid.values(), node]
            same = layers.untouched(base, own.dialects, over)
            found = layercheck.flatten(files, over, findings, same)
            names = layercheck.touched(found, {node.pos.file})
            layercheck.check(found, names, findings, steps, node.pos.file)
    return findings
