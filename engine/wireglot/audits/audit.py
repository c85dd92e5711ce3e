"""Audits: what becomes of each field between two dialects, found from their rules alone.

The source's pictures make payloads in which each choice is taken once (`probes`), hard cases
of the IR strain order and pairing (`hardcases`). Each is converted (`gather`); what the notes say,
gathered by wire path, are the lines of the audit. So every line has a payload that shows it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import UsageError
from ..ir import WHOLES
from ..loaded import Loaded
from ..payload import check_call, known_options
from .gather import EFFECTS, Gatherer, Line
from .provoke import ANY_MODEL, Probe, payloads

IN_ALL_PAIRS = frozenset(("unknown-key", "unfit"))  # what becomes of them is the same in all pairs
SHOWN_CODES = 3  # codes of a cell


@dataclass(frozen=True, slots=True)
class Audit:
    """What a conversion from one dialect to another does to a unit; the gravest lines first."""

    source: str
    target: str
    unit: str
    lines: tuple[Line, ...]
    probes: int
    rules_hash: str

    @property
    def codes(self) -> frozenset[str]:
        """The codes of all notes that such a conversion makes."""
        return frozenset(
            line.code for line in self.lines if line.code is not None and line.severity is not None
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many lines of each effect there are, but for what is the same in all pairs."""
        counts = Counter(line.effect for line in self.lines if line.code not in IN_ALL_PAIRS)
        return {effect: counts[effect] for effect in EFFECTS if counts[effect]}

    def of(self, path: str) -> tuple[Line, ...]:
        """Return the lines of a wire path of the source, and of all that is below it."""
        below = (f"{path}.", f"{path}[]")
        return tuple(
            line
            for line in self.lines
            if line.source is not None and (line.source == path or line.source.startswith(below))
        )

    def as_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        return {**data, "counts": self.counts, "lines": [line.as_json() for line in self.lines]}


class Cell(NamedTuple):
    """One pair of a matrix: how many lines of each effect, and the gravest codes.

    A code that all pairs have is none of the gravest: it tells no pair from another.
    """

    source: str
    target: str
    unit: str
    counts: dict[str, int]
    worst: tuple[str, ...]


# -- making them ----------------------------------------------------------------------------------


def audit(
    rules: Loaded,
    source: str,
    target: str,
    unit: str = "request",
    model: str | None = None,
    options: Mapping[str, Any] | None = None,
    examples: bool = False,
) -> Audit:
    """Say what becomes of each field of a unit; `RuleSet.audit` says more."""
    check_call(model, None, source=source, target=target)
    known = known_options(options)
    _check_units(rules, (source, target), unit)
    probes = _payloads(rules, source, unit)
    gatherer = Gatherer(rules, source, target, unit, known)
    gatherer.add_notes(probes, [model] if model else gatherer.models())
    gatherer.add_traces(probes)
    lines = sorted(gatherer.lines(), key=_sort_key)
    if not examples:
        lines = [dataclasses.replace(line, example=None) for line in lines]
    return Audit(source, target, unit, tuple(lines), len(probes), rules.hash)


def matrix(
    rules: Loaded,
    units: Iterable[str],
    sources: Iterable[str],
    targets: Collection[str],
    model: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Cell, ...]:
    """Count what the conversions of all pairs note, for one kind of model.

    What becomes of unknown keys and of values of another type is the same everywhere, and is not
    counted.
    """
    cells = []
    for unit in units:
        for source in (name for name in sources if unit in rules[name].model.units):
            probes = [probe for probe in _payloads(rules, source, unit) if not probe.odd]
            for target in targets:
                if target != source and unit in rules[target].model.units:
                    gatherer = Gatherer(rules, source, target, unit, dict(options or {}))
                    gatherer.add_notes(probes, [model or ANY_MODEL])
                    cells.append(_cell(source, target, unit, gatherer.lines()))
    return tuple(_without_shared_codes(cells))


def _without_shared_codes(cells: list[Cell]) -> Iterator[Cell]:
    """Yield cells with the gravest of the codes that not every pair of their unit has."""
    common: dict[str, set[str]] = {}
    for cell in cells:
        common[cell.unit] = common.get(cell.unit, set(cell.worst)) & set(cell.worst)
    pairs = Counter(cell.unit for cell in cells)
    for cell in cells:
        shared = common[cell.unit] if pairs[cell.unit] > 1 else ()
        worst = [code for code in cell.worst if code not in shared]
        yield cell._replace(worst=tuple(worst[:SHOWN_CODES]))


def _cell(source: str, target: str, unit: str, lines: Iterable[Line]) -> Cell:
    """Count the lines of a pair; all codes of errors and warnings are in it, the gravest first."""
    notable = sorted((line for line in lines if line.code not in IN_ALL_PAIRS), key=_sort_key)
    effects = Counter(line.effect for line in notable)
    counts: dict[str, int] = {effect: effects[effect] for effect in EFFECTS if effects[effect]}
    grave = Counter(str(line.code) for line in notable if line.severity == "error")
    other = Counter(str(line.code) for line in notable if line.severity == "warning")
    worst = dict.fromkeys(code for codes in (grave, other) for code, _ in codes.most_common())
    return Cell(source, target, unit, counts, tuple(worst))


def _check_units(rules: Loaded, names: Iterable[str], unit: str) -> None:
    """Raise UsageError for no unit of an audit, or one that a dialect has no picture of."""
    if unit not in WHOLES:
        raise UsageError(f"an audit is of one of {', '.join(WHOLES)}, not of `{unit}`")
    for name in names:
        if unit not in rules[name].model.units:
            raise UsageError(f"{name} has no picture of a {unit}")


@functools.lru_cache(1)  # all targets of a dialect are asked for in a row
def _payloads(rules: Loaded, name: str, unit: str) -> tuple[Probe, ...]:
    """Return the payloads of a unit."""
    return tuple(payloads(rules[name], unit, rules.variants(name)))


def _sort_key(line: Line) -> tuple[Any, ...]:
    path = line.source
    return EFFECTS.index(line.effect), path is None, path or "", line.code or ""
