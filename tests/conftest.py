"""What all tests share: how often Python looks for garbage."""

from __future__ import annotations

import gc

# Payloads and models hold no cycles, and looking for some took a sixth of the suite's time.
gc.set_threshold(100_000, 50, 50)


def pytest_collection_finish() -> None:
    """Leave what was imported out of every later look."""
    gc.collect()
    gc.freeze()
