"""The page of the matrix: what `wireglot audit` says of all pairs of packaged dialects."""

from __future__ import annotations

import tempfile
from pathlib import Path

from wireglot import cli

from . import commandline

TITLE = "# The matrix of pairs\n\n"
AUDIT = ("audit", "--format", "markdown")
WITHOUT = """\
[What pairs note](pairs.md) lists the notes on calls and results between the dialects, each with
what is on the wire that leaves no other way. The [dialects](dialects/index.md) have a page each,
with what may be noted of each picture.
"""


def markdown() -> str:
    """Return the page as Markdown: what the command prints, where there is this command."""
    known = {command.name for command in commandline.commands(cli._parser())}
    if AUDIT[0] not in known:
        return TITLE + WITHOUT
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "matrix.md"
        status = cli.main([*AUDIT, "-o", str(file)])
        if status:
            raise RuntimeError(f"`wireglot {' '.join(AUDIT)}` ended with {status}")
        text = file.read_text("utf-8")
    return text if text.startswith("# ") else TITLE + text
