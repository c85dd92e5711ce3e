"""What all tests share: how often Python looks for garbage."""

from __future__ import annotations

import gc

# Little of what a test makes holds itself, and looking for that took a sixth of the suite's time.
gc.set_threshold(100_000, 50, 50)


def pytest_collection_finish() -> None:
    """Leave what was imported out of every later look."""
    gc.collect()
    gc.freeze()
