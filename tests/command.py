"""Runs `wireglot` in this process: to start another takes longer than what most commands do."""

from __future__ import annotations

import contextlib
import io
from typing import Any, NamedTuple
from unittest import mock

from wireglot import cli


class Ran(NamedTuple):
    """What a command ended with, and what it printed."""

    returncode: Any
    stdout: bytes
    stderr: bytes


def run(*argv: str, stdin: bytes = b"", together: bool = False) -> Ran:
    """Run a command; with `together`, what it prints to both streams is in `stdout`."""
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = out if together else io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with (
        mock.patch("sys.stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            status: Any = cli.main(list(argv))
        except SystemExit as stop:
            status = stop.code
    printed = out.buffer, err.buffer
    assert all(isinstance(one, io.BytesIO) for one in printed)
    return Ran(status, *(one.getvalue() for one in printed if isinstance(one, io.BytesIO)))
