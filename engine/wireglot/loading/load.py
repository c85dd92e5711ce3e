"""Loading rule files: the packaged ones, and folders of the user's."""

from __future__ import annotations

import functools
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import RuleError, UsageError
from ..language.source import Node, parse, undump
from ..rulesets import RuleSet
from . import shelf
from .shelf import Source

if TYPE_CHECKING:
    from ..language.findings import Finding, Findings
    from ..language.layers import Sorted

MODEL, PREPARED = "packaged.json", "compiled.bin"
LADDER, OVERLAYS = "ladder", "overlays"


def packaged_folder() -> str:
    """Return the folder of the packaged rules. Raises RuleError where they are not there."""
    import importlib

    try:
        folder = str(importlib.import_module("wireglot.rules").__path__[0])
    except ModuleNotFoundError:
        folder = "rules"
    if not any(os.path.isfile(f"{folder}/{name}") for name in (f"{LADDER}.yaml", MODEL)):
        raise RuleError(
            f"the packaged rule files are not in {folder}",
            help="install wireglot again: `pip install --force-reinstall wireglot`",
        )
    return folder


def schema(name: str) -> bytes:
    """Return a JSON Schema that comes with the rules: of a `rule-file` or of the `ladder`."""
    with open(f"{packaged_folder()}/{name}.schema.json", "rb") as file:
        return file.read()


@functools.cache
def packaged_nodes() -> dict[str, Node]:
    """Return the packaged rule files by dialect, from the prepared model when it is there."""
    model = f"{packaged_folder()}/{MODEL}"
    if os.path.isfile(model):
        import json

        with open(model, encoding="utf-8") as file:
            data: dict[str, Any] = json.load(file)
        return {name: undump(node) for name, node in data.items()}
    return from_yaml()


@functools.cache
def from_yaml() -> dict[str, Node]:
    """Return the packaged rule files by dialect, from YAML: with examples, and places of keys."""
    from ..language import layers

    return layers.by_name(parsed(packaged_folder(), "rules")).dialects


def parsed(source: Source, shown: str | None, findings: Findings | None = None) -> dict[str, Node]:
    """Parse every rule file of a source; `shown` is its name in messages, if not its own.

    With `findings`, what is wrong goes there, and a file that cannot be read is left out.
    """
    return _parsed(shelf.files(source, shown), findings)


def _parsed(files: Iterable[shelf.File], findings: Findings | None) -> dict[str, Node]:
    found = {}
    for file in files:
        try:
            if findings is not None:
                findings.texts[file.name] = ""
            text = file.text()
            if findings is None:
                found[file.stem] = parse(text, file.name)
            else:
                findings.texts[file.name] = text
                found[file.stem] = parse(text, file.name, findings.take)
        except RuleError as error:
            if findings is None:
                raise
            findings.take(error)
    return found


@functools.cache
def packaged() -> RuleSet:
    """Return the packaged rule set, loaded once; what the wheel prepared is used as it is."""
    return load_rules()


def _prepared() -> RuleSet | None:
    """Return the packaged rule set as a wheel ships it; None in a checkout."""
    file = f"{packaged_folder()}/{PREPARED}"
    if not os.path.isfile(file):
        return None
    from . import shipped

    index, nodes, plans = shipped.read(file)
    return RuleSet(
        [name for name in nodes if name != LADDER],
        lambda: nodes,
        plans,
        varied=index.varied,
        models=index.models,
        hash=index.hash,
        again=load_rules,
    )


def load_rules(
    *sources: Source,
    builtin: bool = True,
    overlays: Sequence[str] = (),
    plugins: bool = False,
) -> RuleSet:
    """Load rule files: the packaged ones (unless `builtin` is false), then those of the sources.

    A file of a packaged dialect's name replaces it whole, and `findings` says so.

    Args:
        *sources: Folders, zip files, or mappings of file names to YAML text or parsed YAML.
        builtin: Whether the packaged dialects are there, too.
        overlays: Names of overlays, of the sources or packaged ones, laid over their dialects in
            this order.
        plugins: Whether installed packages that have an entry point in the group `wireglot.rules`
            bring theirs, which imports them; without it nothing is imported.

    Raises:
        RuleError: A rule file is wrong; it has file, line and column.
        UsageError: A source or overlay is not there.
    """
    if isinstance(overlays, str) or not isinstance(overlays, Sequence):
        raise UsageError(f"`overlays` is a list of names, not {type(overlays).__name__}")
    if builtin and not (sources or overlays or plugins) and (ready := _prepared()) is not None:
        return ready
    from ..language import layers

    base = packaged_nodes() if builtin else {LADDER: packaged_nodes()[LADDER]}
    found: list[Finding] = []
    touched: Collection[str] = ()
    if sources or plugins:
        nodes, findings = _checked(base, sources, overlays, plugins)
        found = findings.sorted()
    else:
        laid = _chosen(overlays, layers.Sorted({}, {})).values()
        nodes = layers.flat(base, laid)
        below = {node.value["overlay"].value for node in laid}
        touched = [*below, *layers.above(below, base)]
    names = [name for name in nodes if name != LADDER]
    rules = RuleSet(
        names,
        lambda: nodes,
        findings=found,
        varied=layers.varied(nodes),
        again=functools.partial(
            load_rules, *sources, builtin=builtin, overlays=tuple(overlays), plugins=plugins
        ),
        sources=sources,
    )
    for name in touched:
        rules[name]
        rules.variants(name)
    return rules


def gathered(
    base: Mapping[str, Node],
    folders: Sequence[Source],
    overlays: Sequence[str],
    plugins: bool = False,
) -> dict[str, Node]:
    """Return the dialects of `base` and the sources, flat and not checked. Raises RuleError."""
    from ..language import layers, merge

    own = _sorted(folders, plugins=plugins)
    for name, node in own.dialects.items():
        if name != LADDER and node.get("extends") is None:
            merge.fresh(node, merge.Place.FILE)  # nothing lies below it
    return layers.flat(layers.files(base, own), _chosen(overlays, own).values())


def _checked(
    base: Mapping[str, Node],
    folders: Sequence[Source],
    overlays: Sequence[str],
    plugins: bool = False,
) -> tuple[dict[str, Node], Findings]:
    """Return what `gathered` does, with what there is to say of it; raises the first error."""
    from ..checks import layercheck
    from ..language import layers
    from ..language.findings import Findings

    findings = Findings()
    own = _sorted(folders, findings, plugins)
    files = layers.files(base, own)
    layers.replaced(base, own, findings)
    found = layercheck.flat(files, _chosen(overlays, own, findings).values(), findings)
    steps = layercheck.ladder(files, findings)
    layercheck.check(found, layercheck.touched(found, findings.texts), findings, steps)
    findings.raise_first()
    return found.nodes, findings


def check(folder: Source | None = None, overlays: Sequence[str] = ()) -> Findings:
    """Return all that is wrong with the rule files of a folder, or with the packaged ones.

    A folder is checked together with the packaged rules; only its own files are reported on. Each
    of its overlays is checked too, as if it were switched on after `overlays`.
    """
    from ..checks import layercheck
    from ..language import layers
    from ..language.findings import Findings

    findings = Findings()
    base: Mapping[str, Node] = {}
    folders: list[Source] = [packaged_folder(), f"{packaged_folder()}/{OVERLAYS}"]
    if folder is not None:
        base, folders = packaged_nodes(), [folder]
    own = _sorted([s for s in folders if folder or os.path.isdir(str(s))], findings)
    files = layers.files(base, own)
    layers.replaced(base, own, findings)
    laid = _chosen(overlays, own, findings)
    steps = layercheck.ladder(files, findings)
    found = layercheck.flat(files, laid.values(), findings)
    layercheck.check(found, layercheck.touched(found, findings.texts), findings, steps)
    for name, node in own.overlays.items():
        if name not in laid:
            found = layercheck.flat(files, [*laid.values(), node], findings)
            names = layercheck.touched(found, {node.pos.file})
            layercheck.check(found, names, findings, steps, plain=False)
    return findings


def from_nodes(
    own: Mapping[str, Node], nodes: Mapping[str, Node], findings: Findings
) -> RuleSet | None:
    """Check rule files that were parsed by hand, and load them beside `nodes` if they are right."""
    from ..checks import layercheck
    from ..language import layers

    mine = layers.by_name(own, findings.take)
    files = {**nodes, **mine.dialects}
    found = layercheck.flat(files, mine.overlays.values(), findings)
    steps = layercheck.ladder(files, findings)
    layercheck.check(found, layercheck.touched(found, findings.texts), findings, steps)
    if any(finding.severity == "error" for finding in findings):
        return None
    names = [name for name in found.nodes if name != LADDER]
    return RuleSet(names, lambda: found.nodes, varied=layers.varied(found.nodes))


def overlays_of(*folders: Source) -> dict[str, str]:
    """Return the overlays of the folders, or without folders the packaged ones, and their dialects.

    Raises RuleError.
    """
    overlays = _sorted(folders).overlays if folders else _packaged_overlays()
    return {name: str(node.value["overlay"].value) for name, node in overlays.items()}


def _sorted(
    sources: Sequence[Source], findings: Findings | None = None, plugins: bool = False
) -> Sorted:
    """Read the rule files of some sources; with `findings`, what is wrong goes there."""
    from ..language import layers

    report = None if findings is None else findings.take
    own = layers.Sorted({}, {})
    paths = [s if isinstance(s, Mapping) else os.path.normpath(s) for s in map(_source, sources)]
    found = [shelf.files(s) for n, s in enumerate(paths) if s not in paths[:n]]
    found += map(shelf.plugged, shelf.installed()) if plugins else ()
    for files in found:
        layers.join(own, layers.by_name(_parsed(files, findings), report), report)
    return own


def _source(source: Source) -> Source:
    if isinstance(source, str | os.PathLike | Mapping):
        return source
    kind = type(source).__name__
    raise UsageError(f"rule files come from a folder, a zip file or a mapping, not {kind}")


def _chosen(names: Sequence[str], own: Sorted, findings: Findings | None = None) -> dict[str, Node]:
    """Return the overlays of these names, of the user or packaged; raises UsageError."""
    from ..language import layers

    there = own.overlays
    if any(name not in there for name in names):
        there = {**_packaged_overlays(), **there}
    if findings is not None:  # a file that cannot be read is there, and told
        stems = {os.path.basename(file)[: -len(".yaml")] for file in findings.texts}
        names = [name for name in names if name in there or name not in stems]
    return layers.chosen(names, there)


def _packaged_overlays() -> dict[str, Node]:
    """Read the packaged overlays, which nothing else needs."""
    from ..language import layers

    folder = f"{packaged_folder()}/{OVERLAYS}"
    if not os.path.isdir(folder):
        return {}
    return layers.by_name(parsed(folder, f"rules/{OVERLAYS}")).overlays
