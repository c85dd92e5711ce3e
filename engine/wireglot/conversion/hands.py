"""The two hands of a conversion: each tries what the other makes of its work."""

from __future__ import annotations

import copy

from ..executor.reading import CodedReader
from ..executor.writer import CodedWriter, writes_of
from ..language.model import Dialect
from ..native import mypyc_attr
from ..trail import Trail


@mypyc_attr(native_class=False)
class Reader(CodedReader):
    """Reads one payload."""

    def of(self, dialect: Dialect) -> Reader:
        """Return a reader of another dialect, which tells what it finds where this one does."""
        found = Reader(dialect, self.options, self.probe, self.recorder)
        found.trail, found.notes, found.late = self.trail, self.notes, self.trail.late.append
        return found

    def writer(self) -> Writer:
        return Writer(self.dialect, True, Trail(), self.options)


@mypyc_attr(native_class=False)
class Writer(CodedWriter):
    """Writes one IR value."""

    def of(self, dialect: Dialect) -> Writer:
        """Return this writer as one of another dialect."""
        found = copy.copy(self)
        found.dialect, found.writes = dialect, writes_of(dialect, self.same)
        return found

    def afresh(self, same: bool = False) -> Writer:
        return Writer(self.dialect, same, Trail(), {"repair": False})

    def reader(self) -> Reader:
        return Reader(self.dialect, {}, probe=True)
