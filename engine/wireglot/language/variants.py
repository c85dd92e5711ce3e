"""Variants: rows of a rule file that apply to some models, versions or options only.

A row is laid over its dialect as an overlay is. Which rows apply to a call is decided by the name
of the model and by the options; their numbers stand for the dialect that they make.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import UsageError
from ..ir import WHOLES
from ..patterns import fits
from .source import Node, Pos, Report, raise_error, wrong

WORD = "variants"
MOST = 200  # sets of rows that are tried before any applies
NEVER = ("wireglot", "dialect", "overlay", "extends", WORD)  # words that no row has
Rows = tuple[int, ...]


class Row(NamedTuple):
    """One row: what must hold for it to apply, and what it lays over the dialect."""

    models: tuple[str, ...]
    version: str | None
    options: dict[str, Any]
    over: Node  # empty in what was prepared or kept: the files have it

    def applies(self, model: str | None, version: str | None, options: Mapping[str, Any]) -> bool:
        """Tell whether the row is for this model, version and these options."""
        return self.matches_model(model) and self.matches_options(version, options)

    def matches_model(self, model: str | None) -> bool:
        """Tell whether the row is for a model of this name."""
        return not self.models or any(fits(model or "", glob) for glob in self.models)

    def matches_options(self, version: str | None, options: Mapping[str, Any]) -> bool:
        """Tell whether the row is for this version and these options."""
        if self.version is not None and self.version != version:
            return False
        return all(options.get(name) == value for name, value in self.options.items())


def rows(node: Node) -> tuple[Row, ...]:
    """Return the variants of a flat rule file, whose form is right."""
    listed = node.get(WORD)
    return tuple(map(_row, listed.value)) if listed is not None else ()


def _row(node: Node) -> Row:
    when = node.value["for"].plain()
    models = when.get("model", ())
    over = {key: child for key, child in node.value.items() if key != "for"}
    laid = Node(over, node.pos, node.keys)
    models = (models,) if isinstance(models, str) else tuple(models)
    return Row(models, when.get("version"), when.get("option", {}), laid)


def without_layers(varied: Mapping[str, Sequence[Row]]) -> dict[str, tuple[Row, ...]]:
    """Return variants by dialect, without what they lay over it."""
    return {
        name: tuple(row._replace(over=Node({}, row.over.pos)) for row in found)
        for name, found in varied.items()
    }


def with_rows(node: Node, which: Rows) -> Node:
    """Return a flat rule file as it is with its rows of these numbers, and no others."""
    return lay_rows(node, rows(node), which) if node.get(WORD) else node


def lay_rows(node: Node, found: Sequence[Row], which: Rows, report: Report = raise_error) -> Node:
    """Return a flat rule file with the rows of these numbers laid over it, in their order."""
    from .merge import Place, merge, settle, without  # a prepared conversion lays nothing

    whole = without(node, (WORD,))
    # A child that took a unit away has still the rows of its parent that speak of it.
    gone = [unit for unit in WHOLES if unit not in whole.value]
    for number in which:
        over = merge(whole, without(found[number].over, gone), Place.FILE, report)
        whole = settle(over, whole, report)
    return whole


def applying_rows(
    found: Sequence[Row], name: str, model: str | None, options: Mapping[str, Any]
) -> Rows:
    """Return the numbers of the rows that apply."""
    version = options.get("version")
    if isinstance(version, Mapping):
        version = version.get(name)
    return tuple(i for i, row in enumerate(found) if row.applies(model, version, options))


def row_sets(rows: Sequence[Row], new: Sequence[bool] = ()) -> list[Rows]:
    """Return the sets of rows that apply at once: for each row, and for each two that can meet.

    Rows may build on each other, so a row is tried with those that apply where it applies. Of two
    that meet one is `new`, where this is said: the others were tried before. Raises RuleError for
    more than MOST sets, or names of models.
    """
    _limit_count(rows, len(sample_models(rows)))
    alike = tuple((row.models, row.version, tuple(row.options.items())) for row in rows)
    found = _row_sets(alike, tuple(new))  # children and overlays mostly have the rows of others
    _limit_count(rows, len(found))
    return list(found)


@functools.lru_cache(500)
def _row_sets(whens: tuple[tuple[Any, ...], ...], new: tuple[bool, ...]) -> tuple[Rows, ...]:
    """Return the sets of rows of which it is given when they apply; too many are not all told."""
    nowhere = Node({}, Pos("", 0, 0))
    rows = [Row(models, version, dict(options), nowhere) for models, version, options in whens]
    sets: dict[Rows, None] = {}

    @functools.cache  # names of globs come again and again
    def named(name: str) -> list[int]:
        return [i for i, row in enumerate(rows) if row.matches_model(name)]

    def applying(name: str, version: str | None, options: Mapping[str, Any]) -> set[int]:
        return {i for i in named(name) if rows[i].matches_options(version, options)}

    for i, one in enumerate(rows):
        for name in _samples(one):
            sets[tuple(sorted(applying(name, one.version, one.options) | {i}))] = None
    pairs = itertools.combinations(enumerate(rows), 2) if len(sets) <= MOST else ()
    for (i, one), (j, two) in pairs:
        if new and not (new[i] or new[j]):
            continue
        options = {**one.options, **two.options}
        version = one.version if two.version is None else two.version
        if one.matches_options(version, options) and two.matches_options(version, options):
            for name in _common_names(one, two):
                if one.matches_model(name) and two.matches_model(name):
                    sets[tuple(sorted(applying(name, version, options)))] = None
    return tuple(sets)


def _limit_count(found: Sequence[Row], count: int) -> None:
    """Raise RuleError at the first row for more than MOST names or sets."""
    if count > MOST:
        help = "give rows fewer models, and versions or models of their own, so that fewer meet"
        message = f"these variants make more than {MOST} sets of rows"
        raise wrong(message, found[0].over.pos, help, rule="R033")


def _samples(row: Row) -> list[str]:
    """Return a name for each kind of model that a row speaks of."""
    return [_sample_name(glob) for glob in row.models or ("",)]


def _sample_name(glob: str, text: str = "") -> str:
    """Return a name that a glob is for, with a text where it is open."""
    return glob.replace("*", text).replace("?", "x")


def _common_names(one: Row, two: Row) -> Iterator[str]:
    """Return names that may be of models of both rows: where one glob is open, the other's text."""
    for a, b in itertools.product(_distinct_globs(one), _distinct_globs(two)):
        for glob, other in ((a, b), (b, a)):
            yield _sample_name(glob, _sample_name(other))


def _distinct_globs(row: Row) -> list[str]:
    """Return the globs of a row, of `x*` and `*/x*` the first: a folder tells of no other model."""
    return [glob for glob in row.models if glob[:2] != "*/" or glob[2:] not in row.models] or ["*"]


def check_version(options: Mapping[str, Any], varied: Mapping[str, Sequence[Row]]) -> None:
    """Raise UsageError for a version that no variant is for: it would select nothing, silently."""
    version = options.get("version")
    if version is None:
        return
    known = {name: {row.version for row in found} - {None} for name, found in varied.items()}
    asked = version if isinstance(version, Mapping) else {}
    unknown = {n: v for n, v in asked.items() if n in known and v not in known[n]}
    if not isinstance(version, Mapping) and not any(version in known[name] for name in known):
        unknown = dict.fromkeys(sorted(known, key=lambda name: not known[name]), version)
    for name, said in unknown.items():
        versions = ", ".join(f"`{v}`" for v in sorted(map(str, known[name]))) or "none"
        raise UsageError(f"{name} has no variant for the version `{said}`; there are: {versions}")


def sample_models(*dialects: Sequence[Row]) -> list[str]:
    """Return a name for each kind of model that rows speak of."""
    return [name for found in dialects for row in found if row.models for name in _samples(row)]
