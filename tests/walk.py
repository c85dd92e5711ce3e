"""The walk of pictures alone, which functions are held against."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from unittest import mock

from wireglot.conversion.hands import Reader
from wireglot.executor.writer import CodedWriter
from wireglot.interpreter.reader import PictureReader

READS = ("first", "element", "as_home", "whole", "message")


@contextlib.contextmanager
def walked() -> Iterator[None]:
    """Let nothing be read or written by functions."""
    with contextlib.ExitStack() as stack:
        for name in READS:
            walk = getattr(PictureReader, name)
            stack.enter_context(mock.patch.object(Reader, name, walk))
        stack.enter_context(mock.patch.object(CodedWriter, "quick", property(lambda _: False)))
        yield
