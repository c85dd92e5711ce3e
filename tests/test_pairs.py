"""Each note on calls and results between the six dialects stands in docs/pairs.md."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot.notes import CODES

from . import sweep, width
from .oracles import sdk
from .tables import read_yaml
from .usage import RECORDED, TRAFFIC

ROOT = Path(__file__).parents[1]
TABLES = ("hard", "ollama", "vertex", "bugs", "gaps")
FIELDS = {
    "id": ("made-id", "dropped"),
    "name": ("made-name", "missing-name"),
    "arguments": ("unparsed", "freeform-wrapped", "blank-arguments"),
    "result": (
        "error-as-text", "failed-as-error", "failed-beside", "data-as-text", "blocks-as-text",
        "blocks-beside", "media-beside",
    ),
    "pairing": ("unpaired", "duplicate-id"),
    "order": ("moved", "reordered", "lifted", "turn-added"),
}  # fmt: skip
OF = {code: field for field, codes in FIELDS.items() for code in codes}
Seen = Counter[tuple[str, str, str, str]]  # source, target, field, code


def listed() -> list[tuple[tuple[str, str, str], tuple[str, ...]]]:
    """Return the lines of the list: pair and field, and the codes."""
    found = []
    for line in (ROOT / "docs" / "pairs.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 5 or cells[0] in ("from", "---"):
            continue
        assert "](https://" in cells[4], line
        codes = tuple(re.findall(r"`([a-z-]+)`", cells[3]))
        left, right = ([*sdk.DIALECTS] if c == "*" else c.split(", ") for c in cells[:2])
        found += [((s, t, cells[2]), codes) for s in left for t in right if s != t]
    return found


LISTED = dict(listed())


def of_calls(source: str, target: str, notes: Any) -> Seen:
    """Count the notes on calls and results."""
    seen: Seen = Counter()
    for note in notes:
        field = OF.get(note.code)
        if note.code == "renamed":
            field = "id" if re.search(r"id$", note.source_path or "") else "name"
        if field is not None:
            seen[source, target, field, note.code] += 1
    return seen


def cases() -> Iterator[dict[str, Any]]:
    for name in TABLES:
        text = (ROOT / "tests" / "cases" / f"{name}.yaml").read_text("utf-8")
        yield from read_yaml(text)["cases"]


def test_each_pair_and_field_has_one_line_of_known_codes() -> None:
    lines = [key for key, _ in listed()]
    assert [key for key, number in Counter(lines).items() if number > 1] == []
    for (source, target, field), codes in LISTED.items():
        assert {source, target} <= set(sdk.DIALECTS)
        assert codes and set(codes) <= {*FIELDS[field], "renamed"} & set(CODES)
        assert "renamed" not in codes or field in ("id", "name")


def test_no_other_note_appears_in_the_tables_of_cases() -> None:
    seen: Seen = Counter()
    for case in cases():
        source, target, unit = case["source"], case["target"], case.get("unit", "request")
        if source != target and {source, target} <= set(sdk.DIALECTS):
            given, options = case["given"], case.get("options")
            out = wireglot.convert(given, source, target, unit, model="m", options=options)
            seen += of_calls(source, target, out.notes)
    assert [key for key in seen if key[3] not in LISTED.get(key[:3], ())] == []
    assert len(seen) > 30


@pytest.mark.skipif(not TRAFFIC.is_dir(), reason="../shared/traffic is not here")
def test_no_other_note_appears_in_recorded_exchanges() -> None:
    seen: Seen = Counter()
    engine = sweep.engine()
    for dialect in sdk.DIALECTS:
        file = TRAFFIC / f"{RECORDED.get(dialect, dialect)}.jsonl.gz"
        path = Path(f"{dialect}={file}") if dialect in RECORDED else file
        for line in sweep.exchanges([path], width.times(80, 40)):
            for unit in sweep.units_of(json.loads(line), [dialect]):
                for target in sdk.DIALECTS if unit.unit != "error" else ():
                    if target != dialect:
                        body, about = unit.body, (unit.model, unit.stream)
                        out = engine.convert(body, dialect, target, unit.unit, *about)
                        seen += of_calls(dialect, target, out.notes)
    assert [key for key in seen if key[3] not in LISTED.get(key[:3], ())] == []
    assert len(seen) > 30
