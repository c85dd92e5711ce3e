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
from ..language.layers import Sorted
from ..language.source import LADDER, Node, parse, raised
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
def _packaged(shown: str) -> Sorted:
    folder = packaged_folder()
    if shown != PACKAGED or os.path.isfile(f"{folder}/{PREPARED}"):
        return layers.by_name(parsed(folder, shown))
    found = _kept()
    return Sorted(dict(found.known.files), {}, found.crossings())


@functools.cache
def _kept() -> Kept:
    """Return the packaged files of a checkout, read now or before."""
    from . import kept  # a wheel has what is prepared

    folder = packaged_folder()
    return kept.packaged(folder, lambda: layers.by_name(parsed(folder, PACKAGED)))


def crossings(folders: Sequence[Source], shown: str = PACKAGED) -> list[Node]:
    """Return the files that show the wires of several dialects: packaged ones, then the others'.

    Raises RuleError.
    """
    own, packaged = of_sources(folders).crossings, os.path.realpath(packaged_folder())
    paths = [os.path.realpath(f) for f in folders if not isinstance(f, Mapping)]
    return own if packaged in paths else [*_packaged(shown).crossings, *own]


def called(folders: Iterable[Source]) -> str:
    """Return how the packaged folder is called, unless another folder has that very name."""
    named = [f for f in folders if not isinstance(f, Mapping) and os.path.normpath(f) == PACKAGED]
    same = all(os.path.realpath(f) == os.path.realpath(packaged_folder()) for f in named)
    return PACKAGED if same else packaged_folder()


def parsed(source: Source, shown: str | None) -> dict[str, Node]:
    """Parse every rule file of a source; `shown` is its name in messages, if not its own."""
    return _parsed(rulesources.files(source, shown), None)


def _parsed(files: Iterable[rulesources.File], findings: Findings | None) -> dict[str, Node]:
    """Parse files; with `findings` what is wrong goes there, and a file with it is left out."""
    found: dict[str, Node] = {}
    texts, report = ({}, raised) if findings is None else (findings.texts, findings.take)
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
    return packaged() if builtin else packaged().only([LADDER])


def laid(overlays: Sequence[str], builtin: bool, again: Callable[[], RuleSet]) -> RuleSet:
    """Load the packaged rules with overlays over them. Raises RuleError, UsageError."""
    base = packaged_below(builtin)
    over = chosen(overlays, Sorted.of()).values()
    same = layers.alone(base, (), over)
    return made(layers.flat(base.files, over, same), again=again, known=base, same=same)


def made(
    nodes: Mapping[str, Node],
    found: Sequence[Finding] = (),
    *,
    known: Known | None = None,
    same: Collection[str] = (),
    **more: Any,
) -> RuleSet:
    """Return the rule set of flat files, of which some are the `same` as known ones."""
    varied = layers.varied({name: nodes[name] for name in nodes if name not in same})
    if known is not None:
        varied |= {name: rows for name, rows in known.varied.items() if name in same}
    return RuleSet(nodes, findings=found, varied=varied, known=known, same=same, **more)


def gathered(
    base: Mapping[str, Node],
    folders: Sequence[Source],
    overlays: Sequence[str],
    plugins: bool = False,
) -> Mapping[str, Node]:
    """Return the dialects of `base` and the sources, flat and not checked. Raises RuleError."""
    own = of_sources(folders, plugins=plugins)
    for name, node in own.dialects.items():
        if name != LADDER and node.get("extends") is None:
            merge.fresh(node, merge.Place.FILE)  # nothing lies below it
    return layers.flat(layers.files(layers.known(base), own), chosen(overlays, own).values())


def overlays_of(*folders: Source) -> dict[str, str]:
    """Return the overlays of the folders, or without folders the packaged ones, and their dialects.

    Raises RuleError.
    """
    overlays = of_sources(folders).overlays if folders else _packaged_overlays()
    return {name: str(node.value["overlay"].value) for name, node in overlays.items()}


def of_sources(
    sources: Sequence[Source], findings: Findings | None = None, plugins: bool = False
) -> Sorted:
    """Read the rule files of some sources; with `findings`, what is wrong goes there."""
    report = raised if findings is None else findings.take
    own = layers.Sorted.of()
    paths = [s if isinstance(s, Mapping) else os.path.normpath(s) for s in map(_source, sources)]
    found = [rulesources.files(s) for n, s in enumerate(paths) if s not in paths[:n]]
    found += map(rulesources.plugged, rulesources.installed()) if plugins else ()
    for files in found:
        layers.join(own, layers.by_name(_parsed(files, findings), report), report)
    return own


def _source(source: Source) -> Source:
    if isinstance(source, str | os.PathLike | Mapping):
        return source
    kind = type(source).__name__
    raise UsageError(f"rule files come from a folder, a zip file or a mapping, not {kind}")


def chosen(names: Sequence[str], own: Sorted, findings: Findings | None = None) -> dict[str, Node]:
    """Return the overlays of these names, of the user or packaged; raises UsageError."""
    there = own.overlays
    if any(name not in there for name in names):
        there = {**_packaged_overlays(), **there}
    if findings is not None:  # a file that cannot be read is there, and told
        stems = {os.path.basename(file)[: -len(".yaml")] for file in findings.texts}
        names = [name for name in names if name in there or name not in stems]
    return layers.chosen(names, there)


def _packaged_overlays() -> dict[str, Node]:
    """Read the packaged overlays, which nothing else needs."""
    folder = f"{packaged_folder()}/{OVERLAYS}"
    if not os.path.isdir(folder):
        return {}
    return layers.by_name(parsed(folder, f"rules/{OVERLAYS}")).overlays
