"""What all tests share: how often Python looks for garbage, and what takes long comes first."""

from __future__ import annotations

import functools
import gc
import os
import ssl
import sys

import pytest

from wireglot.audits import audit
from wireglot.conversion import writing
from wireglot.executor import code

# Where a shell says that no bytecode is kept, each process would compile the whole engine.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Little of what a test makes holds itself, and looking for that took a sixth of the suite's time.
gc.set_threshold(100_000, 50, 50)


# The suite loads more rules at once than a process that converts.
code._compiled = functools.lru_cache(None)(code._compiled.__wrapped__)

# Many tests ask for audits of the packaged rules, and not in a row.
audit._payloads = functools.lru_cache(64)(audit._payloads.__wrapped__)

# Each client of an SDK would read the certificates of all authorities, and none here speaks TLS.
pytest.MonkeyPatch().setattr(
    ssl, "create_default_context", functools.lru_cache(None)(ssl.create_default_context)
)

LONG = ("test_packaging.py", "test_readme.py", "test_checks.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let what takes long come first, so that no worker is left with it in the end."""
    items.sort(key=lambda item: item.path.name not in LONG)
    if not str(writing.__file__).endswith(".py"):
        for item in items:
            if item.get_closest_marker("inside"):
                item.add_marker(pytest.mark.skip(reason="the engine is compiled"))


def pytest_collection_finish() -> None:
    """Leave what was imported out of every later look."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure() -> None:
    """Let nobody look for garbage in what ends with the process: it takes seconds."""
    gc.freeze()
