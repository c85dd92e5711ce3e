"""Token counts of recorded responses, to every dialect and back; see tests/usage.py."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from . import sweep, usage
from .oracles import sdk

pytestmark = pytest.mark.skipif(
    not usage.TRAFFIC.is_dir(), reason="the recorded exchanges of ../shared/traffic are missing"
)


def test_each_count_comes_back_or_is_noted_and_totals_are_the_same() -> None:
    counts, faults = usage.run(limit=60)
    assert faults == []
    assert len(counts) == len(sdk.DIALECTS) * (len(sdk.DIALECTS) - 1)
    assert all(cell["numbers"] > 30 and cell["totals"] > 10 for cell in counts.values())


class Deaf:
    """An engine that says nothing of what it does."""

    def convert(self, *given: Any) -> Any:
        out = sweep.engine().convert(*given)
        return out._replace(notes=())


def test_a_count_that_goes_in_silence_is_heard() -> None:
    said = {"promptTokenCount": 5, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}
    said |= {"toolUsePromptTokenCount": 4, "totalTokenCount": 14}
    body = {"candidates": [], "usageMetadata": said}
    unit = sweep.Unit("gemini", "response", body, "made")
    engine: Any = Deaf()
    faults = list(usage.judge(engine, unit, "anthropic", Counter()))
    assert [fault.told for fault in faults] == [
        "/usageMetadata/promptTokenCount: 5 came back as 9",
        "/usageMetadata/toolUsePromptTokenCount: 4 came back as 0",
    ]
    assert list(usage.judge(sweep.engine(), unit, "anthropic", Counter())) == []
