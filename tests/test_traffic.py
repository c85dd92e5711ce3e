"""Take a sample of recorded traffic through every oracle; `make sweep` takes all of it."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from . import sweep
from .oracles import sdk

TRAFFIC = Path(__file__).parents[2] / "shared" / "traffic"
FILES = {name: TRAFFIC / f"{name}.jsonl.gz" for name in sdk.DIALECTS}
OF_EACH = 20

pytestmark = pytest.mark.skipif(
    not all(path.is_file() for path in FILES.values()),
    reason="the recorded exchanges of ../shared/traffic are missing",
)


@cache
def sample(dialect: str) -> list[str]:
    """Choose exchanges, always the same; rare features before common ones."""
    lines = list(sweep.exchanges([FILES[dialect]]))
    flags = [json.loads(line)["flags"] for line in lines]
    common = Counter(name for found in flags for name, value in found.items() if value)

    def rank(number: int) -> tuple[int, int]:
        counts = [common[name] for name, value in flags[number].items() if value]
        return min(counts, default=len(lines)), zlib.crc32(lines[number].encode())

    order = sorted(range(len(lines)), key=rank)
    # Half of them for what is rare in them, half from all over.
    half = OF_EACH // 2
    spread = order[half :: max(1, (len(order) - half) // (OF_EACH - half))]
    return [lines[n] for n in [*order[:half], *spread][:OF_EACH]]


@cache
def swept(dialect: str) -> sweep.Outcome:
    return sweep.sweep(sample(dialect), sweep.Settings(perturb=4))


@pytest.mark.parametrize("what", sweep.WHATS)
@pytest.mark.parametrize("dialect", sdk.DIALECTS)
def test_recorded_exchanges_pass_the_oracle(dialect: str, what: str) -> None:
    lines = sweep.exemptions(sweep.EXCEPTIONS.read_text(encoding="utf-8"))
    failures = [
        failure
        for failure in swept(dialect).failures
        if failure.what == what and sweep.class_of(failure, lines) is None
    ]
    assert not failures, "\n".join(sweep.groups(failures))


@pytest.mark.parametrize("dialect", sdk.DIALECTS)
def test_recorded_exchanges_are_pictured(dialect: str) -> None:
    counts = swept(dialect).counts
    for unit in ("request", "response"):
        seen, total = (counts[dialect, dialect, unit, name] for name in ("pictured", "leaves"))
        assert total > 100
        assert seen >= 0.9 * total, f"{unit}: {seen} of {total}"


def test_most_recordings_are_valid_for_their_own_sdk() -> None:
    """Guard against a validator that refuses everything, which would excuse every failure."""
    for dialect, path in FILES.items():
        judged = [
            not sdk.problems(unit.dialect, unit.unit, unit.body)
            for line in sweep.exchanges([path])
            for unit in sweep.units_of(json.loads(line), sdk.DIALECTS)
        ]
        assert len(judged) > 250
        assert sum(judged) > 0.85 * len(judged), f"{dialect}: {sum(judged)} of {len(judged)}"
