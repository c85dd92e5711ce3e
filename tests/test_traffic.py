"""Take a sample of recorded traffic through every oracle; `make sweep` takes all of it."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import wireglot

from . import streamsweep, sweep, width
from .oracles import leaves, sdk

Json = Any
TRAFFIC = Path(__file__).parents[2] / "shared" / "traffic"
RECORDED = {"vertex": "gemini"}  # the same exchanges are those of another dialect, too
FILES = {name: TRAFFIC / f"{RECORDED.get(name, name)}.jsonl.gz" for name in sdk.DIALECTS}
OF_EACH = width.times(20, 9)  # exchanges of each

pytestmark = pytest.mark.skipif(
    not all(path.is_file() for path in FILES.values()),
    reason="the recorded exchanges of ../shared/traffic are missing",
)


def file_of(dialect: str) -> Path:
    path = FILES[dialect]
    return Path(f"{dialect}={path}") if dialect in RECORDED else path


@cache
def sample(dialect: str) -> list[str]:
    """Choose exchanges, always the same; rare features before common ones."""
    lines = list(sweep.exchanges([file_of(dialect)]))
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


@pytest.mark.parametrize("dialect", sdk.DIALECTS)
def test_recorded_exchanges_pass_every_oracle(dialect: str) -> None:
    outcome = sweep.sweep(sample(dialect), sweep.Settings(perturb=3))
    failures = sweep.unforgiven(outcome)
    assert not failures, "\n".join(["", *sweep.groups(failures)])
    for unit in ("request", "response"):
        seen, total = (outcome.counts[dialect, dialect, unit, n] for n in ("pictured", "leaves"))
        assert total > width.times(100, 30)
        assert seen >= 0.9 * total, f"{unit}: {seen} of {total} leaves are pictured"


@pytest.mark.parametrize("dialect", streamsweep.TARGETS)
def test_recorded_streams_are_right_in_every_dialect_and_changes_of_frames_are_heard(
    dialect: str,
) -> None:
    rules = wireglot.packaged()
    lines = sweep.exemptions(sweep.EXCEPTIONS.read_text(encoding="utf-8"))
    streams = list(streamsweep.recorded(str(FILES[dialect])))
    short = [one for one in streams if len(one[1]) < 40] or streams[:1]
    changes = 0
    for name, frames in short[:: max(1, len(short) // 3)]:
        for target in streamsweep.TARGETS:
            counts, failures = streamsweep.judged(rules, frames, dialect, target, name, 6)
            assert [f for f in failures if sweep.class_of(f, lines) is None] == []
            changes += counts["changes"]
    assert changes > 20


UNKNOWN = "wireglot_unknown"


def with_unknown_keys(dialect: str, unit: str, body: Json) -> tuple[Json, list[str]]:
    """Put an unknown key into every object that is not the user's own data."""
    opaque = leaves.OPAQUE[dialect, unit]
    where: list[str] = []

    def grown(value: Json, steps: leaves.Steps) -> Json:
        if leaves.opaque_root(opaque, steps) or leaves.path_of(steps) in FREE:
            return value
        if isinstance(value, list):
            return [grown(inner, (*steps, n)) for n, inner in enumerate(value)]
        if isinstance(value, dict):
            copy = {key: grown(inner, (*steps, key)) for key, inner in value.items()}
            where.append(leaves.pointer_of((*steps, UNKNOWN)))
            return copy | {UNKNOWN: f"here {len(where)}"}
        return value

    return grown(body, ()), where


# Maps whose keys the user chooses: no key is unknown there.
FREE = frozenset(("metadata", "logit_bias", "labels"))


@pytest.mark.parametrize("dialect", sdk.DIALECTS)
def test_unknown_keys_at_every_level_are_kept_at_home_and_noted_abroad(dialect: str) -> None:
    engine = sweep.engine()
    for unit in sampled_units(dialect):
        body, where = with_unknown_keys(dialect, unit.unit, unit.body)
        home = engine.convert(body, dialect, dialect, unit.unit, unit.model, unit.stream)
        assert leaves.difference(body, home.body) is None, unit.exchange
        for target in set(engine.targets) - {dialect}:
            if unit.unit not in engine.rules[target].model.units:
                continue
            out = engine.convert(body, dialect, target, unit.unit, unit.model, unit.stream)
            # What a family shares may hold any key, and so do arguments, which may be a text.
            carried = json.dumps(out.body).replace('\\"', '"').replace('": "', '":"')
            for number, pointer in enumerate(where, 1):
                told = any(leaves.names(note.source_path, pointer) for note in out.notes)
                told = told or f'"{UNKNOWN}":"here {number}"' in carried
                assert told, f"{unit.exchange} {unit.unit} to {target}: {pointer}"


@pytest.mark.parametrize("dialect", sdk.DIALECTS)
def test_unknown_keys_at_every_level_are_not_pictured(dialect: str) -> None:
    """Guard against an engine that calls everything its own: recordings hold few unknown keys.

    A field that is taken whole, whatever it holds, takes the unknown keys inside with it.
    """
    engine = sweep.engine()
    planted = counted = 0
    for unit in sampled_units(dialect):
        body, where = with_unknown_keys(dialect, unit.unit, unit.body)
        before = leaves.not_pictured(engine.read(unit))
        planted += len(where)
        counted += leaves.not_pictured(engine.read(replace(unit, body=body))) - before
    assert planted > width.times(50, 18)
    # A response of one API says its request again, which is taken whole.
    least = 0.6 if dialect == "openai-responses" else 0.75
    assert counted >= least * planted, f"{counted} of {planted}"


def sampled_units(dialect: str) -> list[sweep.Unit]:
    return [
        unit
        for line in sample(dialect)[::2]
        for unit in sweep.units_of(json.loads(line), [dialect])
        if unit.unit != "error"
    ]


def test_most_recordings_are_valid_for_their_own_sdk() -> None:
    """Guard against a validator that refuses everything, which would excuse every failure."""
    for dialect in FILES:
        judged = [
            not sdk.problems(unit.dialect, unit.unit, unit.body)
            for line in sweep.exchanges([file_of(dialect)])
            for unit in sweep.units_of(json.loads(line), sdk.DIALECTS)
        ]
        assert len(judged) > (30 if dialect == "ollama" else 250)  # there are few of these
        # Of one API most recordings are older than two keys that its SDK requires.
        least = 0.55 if dialect == "openai-responses" else 0.85
        assert sum(judged) > least * len(judged), f"{dialect}: {sum(judged)} of {len(judged)}"
