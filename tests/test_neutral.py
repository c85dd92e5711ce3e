"""The language-neutral cases are what rules and tables say, and who passes them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from .neutral import __main__ as neutral
from .neutral import peers, score
from .tables import read_yaml

CASES = [json.loads(line) for line in neutral.FILE.read_text("utf-8").splitlines()]
JUDGED = read_yaml(neutral.VERDICTS.read_text("utf-8"))
DOCS = (neutral.ROOT / "docs/cases.md").read_text("utf-8")


def test_the_file_is_what_rules_and_tables_say() -> None:
    made = "".join(f"{neutral.line(case)}\n" for case in neutral.made())
    assert neutral.FILE.read_text("utf-8") == made, "run `python -m tests.neutral --write`"


def test_wireglot_passes() -> None:
    assert set(neutral.fates("wireglot", CASES).values()) == {"pass"}


@pytest.mark.parametrize(
    ("wanted", "good"),
    [
        ({"is": {"a": 1}}, True),
        ({"is": {"a": True}}, False),
        ({"has": {"/a": 1}, "lacks": ["/b"]}, True),
        ({"lacks": ["/a"]}, False),
        ({"same": [["/b", "/c"]]}, False),
        ({"differ": [["/a", "/a"]]}, False),
    ],
)
def test_what_is_wanted_is_told_from_what_is_not(wanted: score.Case, good: bool) -> None:
    assert score.holds({"given": {}, "wanted": wanted}, {"a": 1}) is good


@pytest.mark.parametrize(
    ("wanted", "made", "good"),
    [
        ({"content": "a"}, {"content": [{"type": "text", "text": "a"}], "b": None}, True),
        ({"content": "a"}, {"content": [{"type": "text", "text": "b"}]}, False),
        ({"toolConfig": {}}, {"tool_config": {}}, True),
        ({"arguments": '{"a_b":1}'}, {"arguments": '{"a_b": 1}'}, True),
        ({"args": {"a_b": 1}}, {"args": {"aB": 1}}, False),
        ({"args": {}}, {"args": {"a": None}}, False),
        ({"parameters": {"type": "object"}}, {"parameters": {"type": "OBJECT"}}, True),
        ({"parameters": {"enum": ["a"]}}, {"parameters": {"enum": ["A"]}}, False),
        ({"model": "m"}, {}, True),
        ({"model": "m"}, {"model": "n"}, False),
        ({"max_tokens": 9}, {"max_tokens": 8}, True),
        ({"max_tokens": 7}, {"max_tokens": 8}, False),
        ({"max_tokens": 9}, {}, False),
    ],
)
def test_one_spelling_is_as_good_as_another(wanted: Any, made: Any, good: bool) -> None:
    case = {"given": {"max_completion_tokens": 7}, "wanted": {"is": wanted}}
    assert score.holds(case, made) is good
    if not wanted.keys() & {"model", "max_tokens"}:  # looked at so in whole bodies alone
        has = {f"/{key}": value for key, value in wanted.items()}
        assert score.holds({"given": {}, "wanted": {"has": has}}, made) is good


@pytest.mark.parametrize("peer", neutral.PEERS)
def test_each_case_of_a_peer_has_one_verdict_with_a_reason(peer: str) -> None:
    said = JUDGED[peer]["verdicts"]
    cases = [case for one in said for case in one["cases"]]
    assert [case for case, count in Counter(cases).items() if count > 1] == []
    assert set(cases) <= {case["id"] for case in CASES if peers.asked(case)}
    assert {one["fate"] for one in said} <= set(neutral.FATES)
    assert all(one["why"] for one in said)


@pytest.mark.parametrize("peer", neutral.PEERS)
def test_the_docs_count_the_verdicts(peer: str) -> None:
    version = JUDGED[peer]["version"]
    seen = neutral.judged(peer, version)
    assert neutral.judged(peer, "another") == {}
    for kind in ("bugs", "crossings"):
        of_kind = [case for case in CASES if neutral.kind(case["id"]) == kind]
        counts = Counter(
            seen.get(case["id"], "pass") if peers.asked(case) else "out" for case in of_kind
        )
        assert neutral.row(f"{neutral.PEERS[peer]} {version}", kind, counts) in DOCS
