"""Put the engine of before beside the present one, as `wireglot_old`, for tests that compare both.

    python -m tests.old                    # make old
    OLD=6f01e174 python -m tests.old       # make old OLD=6f01e174: that of another commit

Exports the commit named here into `.old/` (which git ignores) and renames the package and its
imports; needs the history of a full clone, and no network.
"""

from __future__ import annotations

import functools
import importlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

# Behaviour is held to this one; it moves on when all that came since is explained in `against.txt`.
COMMIT = os.environ.get("OLD") or "a6e7d5e3665c9eff2aca5a0d67b912b7dc9bbc5e"
NAME = "wireglot_old"
ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".old"
STAMP = FOLDER / "commit"
TAKEN = ("engine", "rules")
WORDS = (
    (re.compile(r"^(\s*)from wireglot\b", re.M), rf"\1from {NAME}"),
    (re.compile(r"^(\s+)import wireglot$", re.M), rf"\1import {NAME} as wireglot"),
    (re.compile(r"^(\s+)import wireglot\.", re.M), rf"\1import {NAME}."),  # in docstrings
    # The packaged rules, and the entry points of packages that bring some.
    (re.compile(r'"wireglot\.rules"'), f'"{NAME}.rules"'),
)
LEFT = re.compile(r"^\s*(?:from|import) wireglot\b(?!_)(?!$)|import_module\([\"']wireglot\b", re.M)


class Missing(Exception):
    """Raised with one line that says why the engine of before cannot be had."""


def build() -> None:
    """Export the commit and rename what it holds. Raises Missing."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(_archive())) as tar:
        if hasattr(tarfile, "data_filter"):  # not before 3.11.4
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(FOLDER)
    shutil.move(FOLDER / "engine" / "wireglot", FOLDER / NAME)
    shutil.move(FOLDER / "rules", FOLDER / NAME / "rules")
    shutil.rmtree(FOLDER / "engine")
    for file in (FOLDER / NAME).rglob("*.py"):
        text = file.read_text("utf-8")
        for old, new in WORDS:
            text = old.sub(new, text)
        if (left := LEFT.search(text)) is not None:
            raise Missing(f"{file.name} imports in a way that is not renamed: {left.group()!r}")
        file.write_text(text, "utf-8")
    STAMP.write_text(COMMIT, "utf-8")


def _archive() -> bytes:
    command = ["git", "-C", str(ROOT), "archive", "--format=tar", COMMIT, *TAKEN]
    try:
        return subprocess.run(command, check=True, capture_output=True).stdout
    except FileNotFoundError:
        raise Missing("git is not there, which exports the engine of before") from None
    except subprocess.CalledProcessError:
        text = f"the commit {COMMIT[:7]} is not there: run `git fetch --unshallow` (a full clone)"
        raise Missing(text) from None


def is_built() -> bool:
    """Tell whether the engine of this commit is there."""
    return STAMP.is_file() and STAMP.read_text("utf-8") == COMMIT


@functools.cache
def engine() -> Any:
    """Import the engine of before. Raises Missing where it is not built."""
    if not is_built():
        raise Missing("the engine of before is not built: run `make old`")
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    found = importlib.import_module(NAME)
    # The first compiled requests of some pairs; its interpreter, which did all, is what is held to.
    if (FOLDER / NAME / "compiler").is_dir():
        loaded: Any = importlib.import_module(f"{NAME}.loaded")
        halves: Any = importlib.import_module(f"{NAME}.compiler.halves")
        loaded.Loaded._fast = lambda *given: None
        halves.reads = halves.writes = lambda *given: None
    return found


def main() -> int:
    """Build it, if it is not there."""
    try:
        if not is_built() or os.environ.get("OLD"):  # whose name may mean another one now
            build()
        found = len(engine().packaged().dialects)
    except Missing as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{NAME}: {COMMIT[:7]}, {found} dialects, in {FOLDER.name}/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
