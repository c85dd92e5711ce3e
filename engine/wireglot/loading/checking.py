"""Loading rule files that are to be checked: those of folders of the user, and of plug-ins."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..checks import crosscheck, layercheck
from ..language import layers
from ..language.findings import Findings
from ..language.known import Known
from ..language.ladder import Ladder
from ..language.layers import Sorted
from ..language.source import Node
from ..room import unswept
from ..rulesets import RuleSet
from . import load
from .rulesources import Source, packaged_folder


def loaded(
    sources: Sequence[Source],
    builtin: bool,
    overlays: Sequence[str],
    plugins: bool,
    again: Callable[[], RuleSet],
) -> RuleSet:
    """Load rule files that lie over the packaged ones. Raises RuleError, UsageError."""
    base, findings = load.packaged_below(builtin), Findings()
    own = load.of_sources(sources, findings, plugins)
    over = load.chosen(overlays, own, findings).values()
    found, _ = _checked(base, layers.files(base, own), own, over, findings)
    findings.raise_first()
    told = findings.sorted()
    return load.made(found.nodes, told, known=base, same=found.same, again=again, sources=sources)


def _checked(
    base: Known, files: Mapping[str, Node], own: Sorted, over: Iterable[Node], findings: Findings
) -> tuple[layercheck.Flat, Ladder]:
    """Check the dialects in which files of the user have a part; return all, and the ladder."""
    layers.replaced(base.files, own, findings)
    same = layers.alone(base, own.dialects, over)
    steps = layercheck.ladder(files, findings, same)
    found = layercheck.flat(files, over, findings, same)
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
    base = layers.known({})
    folders: list[Source] = [packaged_folder(), f"{packaged_folder()}/{load.OVERLAYS}"]
    if folder is not None:
        base, folders = load.packaged(), [folder]
    own = load.of_sources([s for s in folders if folder or os.path.isdir(str(s))], findings)
    files, laid = layers.files(base, own), load.chosen(overlays, own, findings)
    _, steps = _checked(base, files, own, laid.values(), findings)
    for name, node in own.overlays.items():
        if name not in laid:
            over = [*laid.values(), node]
            same = layers.alone(base, own.dialects, over)
            found = layercheck.flat(files, over, findings, same)
            names = layercheck.touched(found, {node.pos.file})
            layercheck.check(found, names, findings, steps, node.pos.file)
    return findings
