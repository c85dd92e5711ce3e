"""Fates: what became of each leaf of an input, from the origins of the output and the notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..interpreter.recorder import Recorder
from ..notes import Note, nearest
from ..results import rule_of
from ..traces import Fate, Kind, Origin
from ..trail import At, pointer

_KINDS: dict[str, Kind] = {
    "lost": "lost", "changed": "changed", "moved": "moved", "kept": "kept", "repeated": "repeated",
}  # fmt: skip


class Fates:
    """Tells what became of each leaf of an input."""

    def __init__(
        self, recorder: Recorder, notes: Iterable[Note], origins: Mapping[str, Origin],
        words: set[str], decided: Mapping[str, set[str]],
    ) -> None:  # fmt: skip
        self.recorder = recorder
        self.notes = [n for n in notes if n.effect in _KINDS and n.source_path]
        self.carried: dict[str, list[str]] = {}  # by the source that an origin names
        self.decided: dict[str, list[str]] = {at: sorted(to) for at, to in decided.items()}
        for target, origin in origins.items():
            table = self.decided if target in words else self.carried
            for source in origin.sources:
                table.setdefault(source, []).append(target)

    def all(self, leaves: Iterable[tuple[At, Any]]) -> dict[str, Fate]:
        """Return the fates of all leaves."""
        found = {pointer(at): self.of(at, value) for at, value in leaves}
        return {at: fate for at, fate in found.items() if fate is not None}

    def of(self, at: At, value: Any) -> Fate | None:
        """Return the fate of a leaf."""
        here = pointer(at)
        note = nearest(self.notes, here, "source_path")
        if targets := self.carried.get(here):
            return self._carried(here, targets, note)
        if at in self.recorder.silent:
            why, pos = self.recorder.silent[at]
            return Fate("silent", (), why, rule_of(pos))
        if note is not None:
            targets = [note.target_path] if note.target_path is not None else []
            return Fate(_KINDS[note.effect], tuple(targets), note.code, note.rule)
        if targets := next((t for up in _above(here) if (t := self.carried.get(up))), None):
            return Fate("carried", tuple(targets), None, None)
        if targets := self.decided.get(here):
            return Fate("decided", tuple(dict.fromkeys(targets)), None, None)
        for base, said in self.recorder.said.items():
            if at in said:
                return self._fate_of_word(at, base, rule_of(said[at]))
        if value is None or (value in ("", [], {}) and at in self.recorder.reads):
            return Fate("silent", (), "it is empty", None)
        for depth in range(len(at) - 1, 0, -1):
            if at[:depth] in self.recorder.silent:
                return Fate("silent", (), self.recorder.silent[at[:depth]][0], None)
        return None

    def _carried(self, here: str, targets: list[str], note: Note | None) -> Fate:
        exact = note is not None and note.source_path == here and note.effect != "kept"
        if note is not None and (exact or note.effect == "moved"):
            return Fate(_KINDS[note.effect], tuple(targets), note.code, note.rule)
        return Fate("carried", tuple(targets), None, None)

    def _fate_of_word(self, at: At, base: At, rule: str | None) -> Fate | None:
        """Return the fate of a fixed word: it goes where what is around it goes."""
        for depth in range(len(at) - 1, len(base) - 1, -1):
            around = f"{pointer(at[:depth])}/"
            targets = [t for s, to in self.carried.items() if s.startswith(around) for t in to]
            if targets:
                return Fate("decided", tuple(dict.fromkeys(targets)), None, rule)
            for note in self.notes:
                if note.source_path is not None and note.source_path.startswith(around):
                    return Fate(_KINDS[note.effect], (), note.code, note.rule)
        return None


def _above(here: str) -> Iterator[str]:
    while here.count("/") > 1:  # never the whole
        here = here.rpartition("/")[0]
        yield here
