"""Rule files of folders put together: the packaged ones, and those of the user."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import RuleError, UsageError
from ..language import layers, merge
from ..language.findings import Finding, Findings
from ..language.known import Known
from ..language.layers import RuleFiles
from ..language.source import LADDER, Node, parse, raise_error
from ..rulesets import RuleSet
from . import rulesources
from .rulesources import PREPARED, Source, packaged_folder

if TYPE_CHECKING:
    from .kept import Kept

OVERLAYS = "overlays"
PACKAGED = "rules"  # how the packaged folder is called in messages


def packaged() -> Known:
    """Return the packaged rule files, as a wheel has prepared or a checkout has kept them."""
    return rulesources.prepared() or _kept().known


def from_yaml(shown: str = PACKAGED) -> dict[str, Node]:
    """Return the packaged rule files by dialect, from YAML: with examples, and places of keys."""
    return _packaged(shown).dialects


@functools.cache
def _packaged(shown: str) -> RuleFiles:
    folder = packaged_folder()
    if shown != PACKAGED or os.path.isfile(f"{folder}/{PREPARED}"):
        return layers.sort_files(parse_source(folder, shown))
    found = _kept()
    return RuleFiles(dict(found.known.files), {}, found.crossings())


@functools.cache
def _kept() -> Kept:
    """Return the packaged files of a checkout, read now or before."""
    from . import kept  # a wheel has what is prepared

    folder = packaged_folder()
    return kept.packaged(folder, lambda: layers.sort_files(parse_source(folder, PACKAGED)))


def crossings(folders: Sequence[Source], shown: str = PACKAGED) -> list[Node]:
    """Return the files of crossings, packaged ones before those of folders. Raises RuleError."""
    own, packaged = read_sources(folders).crossings, os.path.realpath(packaged_folder())
    paths = [os.path.realpath(f) for f in folders if not isinstance(f, Mapping)]
    return own if packaged in paths else [*_packaged(shown).crossings, *own]


def packaged_name(folders: Iterable[Source]) -> str:
    """Return how the packaged folder is called, unless another folder has that very name."""
    named = [f for f in folders if not isinstance(f, Mapping) and os.path.normpath(f) == PACKAGED]
    same = all(os.path.realpath(f) == os.path.realpath(packaged_folder()) for f in named)
    return PACKAGED if same else packaged_folder()


def parse_source(source: Source, shown: str | None) -> dict[str, Node]:
    """Parse every rule file of a source; `shown` is its name in messages, if not its own."""
    return _parse_files(rulesources.files(source, shown), None)


def _parse_files(files: Iterable[rulesources.File], findings: Findings | None) -> dict[str, Node]:
    """Parse files; with `findings` what is wrong goes there, and a file with it is left out."""
    found: dict[str, Node] = {}
    texts, report = ({}, raise_error) if findings is None else (findings.texts, findings.add_error)
    for file in files:
        texts[file.name] = ""
        try:
            texts[file.name] = file.text()
            found[file.stem] = parse(texts[file.name], file.name, report)
        except RuleError as error:
            report(error)
    return found


def packaged_below(builtin: bool) -> Known:
    """Return the packaged files below those of the user; without them the ladder alone."""
    return packaged() if builtin else packaged().subset([LADDER])


def with_overlays(overlays: Sequence[str], builtin: bool, again: Callable[[], RuleSet]) -> RuleSet:
    """Load the packaged rules with overlays over them. Raises RuleError, UsageError."""
    base = packaged_below(builtin)
    over = picked(overlays, RuleFiles.with_dialects()).values()
    same = layers.untouched(base, (), over)
    return rule_set(layers.flatten(base.files, over, same), again=again, known=base, same=same)


def rule_set(
    nodes: Mapping[str, Node],
    found: Sequence[Finding] = (),
    *,
    known: Known | None = None,
    same: Collection[str] = (),
    **more: Any,
) -> RuleSet:
    """Return the rule set of flat files, of which some are the `same` as known ones."""
    varied = layers.variants_by_dialect({name: nodes[name] for name in nodes if name not in same})
    if known is not None:
        varied |= {name: rows for name, rows in known.varied.items() if name in same}
    return RuleSet(nodes, findings=found, varied=varied, known=known, same=same, **more)


def flat_unchecked(
    base: Mapping[str, Node],
    folders: Sequence[Source],
    overlays: Sequence[str],
    plugins: bool = False,
) -> Mapping[str, Node]:
    """Return the dialects of `base` and the sources, flat and not checked. Raises RuleError."""
    own = read_sources(folders, plugins=plugins)
    for name, node in own.dialects.items():
        if name != LADDER and node.get("extends") is None:
            merge.unlayered(node, merge.Place.FILE)  # nothing lies below it
    files = layers.combined(layers.unanalysed(base), own)
    return layers.flatten(files, picked(overlays, own).values())


def overlays_of(*folders: Source) -> dict[str, str]:
    """Return the dialect of each overlay of folders, else of packaged ones. Raises RuleError."""
    overlays = read_sources(folders).overlays if folders else _packaged_overlays()
    return {name: str(node.value["overlay"].value) for name, node in overlays.items()}


def read_sources(
    sources: Sequence[Source], findings: Findings | None = None, plugins: bool = False
) -> RuleFiles:
    """Read the rule files of some sources; with `findings`, what is wrong goes there."""
    report = raise_error if findings is None else findings.add_error
    own = layers.RuleFiles.with_dialects()
    paths = list(map(_normal_source, sources))
    found = [rulesources.files(s) for n, s in enumerate(paths) if s not in paths[:n]]
    found += map(rulesources.plugin_files, rulesources.plugins()) if plugins else ()
    for files in found:
        layers.add_files(own, layers.sort_files(_parse_files(files, findings), report), report)
    return own


def _normal_source(source: Source) -> Source:
    """Return a source by which the same folder is told. Raises UsageError for what is none."""
    if isinstance(source, str | os.PathLike):
        return os.path.normpath(source)
    if isinstance(source, Mapping):
        return source
    kind = type(source).__name__
    raise UsageError(f"rule files come from a folder, a zip file or a mapping, not {kind}")


def picked(
    names: Sequence[str], own: RuleFiles, findings: Findings | None = None
) -> dict[str, Node]:
    """Return the overlays of these names, of the user or packaged; raises UsageError."""
    overlays_found = own.overlays
    if any(name not in overlays_found for name in names):
        overlays_found = {**_packaged_overlays(), **overlays_found}
    if findings is not None:  # a file that cannot be read is there, and told
        stems = {os.path.basename(file)[: -len(".yaml")] for file in findings.texts}
        names = [name for name in names if name in overlays_found or name not in stems]
    return layers.picked(names, overlays_found)


def _packaged_overlays() -> dict[str, Node]:
    """Read the packaged overlays, which nothing else needs."""
    folder = f"{packaged_folder()}/{OVERLAYS}"
    if not os.path.isdir(folder):
        return {}
    return layers.sort_files(parse_source(folder, f"rules/{OVERLAYS}")).overlays
