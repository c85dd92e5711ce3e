"""The two hands of the interpreter: each tries what the other makes of its work."""

from __future__ import annotations

from ..executor.reading import CodedReader
from ..executor.writer import CodedWriter
from ..trail import Trail


class Reader(CodedReader):
    """Reads one payload."""

    def writer(self) -> Writer:
        return Writer(self.dialect, True, Trail(), self.options)


class Writer(CodedWriter):
    """Writes one IR value."""

    def afresh(self) -> Writer:
        return Writer(self.dialect, False, Trail(), {"repair": False})

    def reader(self) -> Reader:
        return Reader(self.dialect, {}, probe=True)
