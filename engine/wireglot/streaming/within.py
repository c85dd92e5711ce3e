"""Parts within the texts of a stream, between two marks, told to a listener as parts of their own.

It stands between a fold and what writes its steps: what a mark may still begin or end waits, all
else goes on as it comes. A text that no mark begins is handed on as it is. What a whole response
of these frames would be read as (`interpreter.within`) comes of it.
"""

from __future__ import annotations

import copy
from typing import Any

from ..interpreter.within import Marks, moved, says_more
from .incoming import Part
from .outcome import Outcome
from .parts import Running
from .unfold import Unfold


class Split:
    """A text that comes: the part within it where a mark has begun one, and the text behind."""

    __slots__ = ("held", "inner", "rest")

    def __init__(self) -> None:
        self.held = ""  # what a mark may still be
        self.inner: Part | None = None
        self.rest: Part | None = None


class Within:
    """Tells an unfold what a fold tells, and of the parts that stand within texts as of others."""

    def __init__(self, unfold: Unfold, marks: Marks) -> None:
        self._unfold, self._marks = unfold, marks
        self._of: dict[int, Split] = {}
        self._over: list[tuple[Part, Part]] = []  # texts, and what stood behind a mark in each
        self.begun = unfold.begun

    # -- what a fold tells ------------------------------------------------------------------------

    def opened(self, part: Part) -> None:
        """Take a part that begins; of a text nothing is told before its first words."""
        if part.kind == "text" and part.field == ("" if part.whole else "text"):
            split = self._of[id(part)] = Split()
            if part.whole:
                split.held = str(part.said.get("text", ""))
                self._look(part, split)
        else:
            self._unfold.opened(part)

    def grown(self, part: Part, piece: str) -> None:
        """Take a piece of a part."""
        split = self._of.get(id(part))
        if split is None:
            self._unfold.grown(part, piece)
        elif split.rest is not None:
            self._grow(split.rest, piece)
        else:
            split.held += piece
            self._look(part, split)

    def closed(self, part: Part) -> None:
        """Take the end of a part; what waits of it is what it seemed to be."""
        split = self._of.pop(id(part), None)
        if split is None:
            self._unfold.closed(part)
        elif split.inner is None:
            self._unfold.opened(part)
            self._unfold.closed(part)
        else:
            self._end(part, split)

    def failed(self, error: dict[str, Any]) -> None:
        """Take an error; nothing follows it, so what waits is told of first."""
        for split in self._of.values():
            if split.inner is not None and split.rest is None:
                self._grow(split.inner, split.held.rstrip())
        self._unfold.failed(error)

    def end(self, outcome: Outcome, cut: bool) -> None:
        """Take the end of all; what is said by now of texts that were over before, is known."""
        for part, rest in self._over:
            rest.cited = _cited(part, rest)
        self._unfold.end(outcome, cut)

    def running(self, part: Part) -> Running | None:
        """Return what is written for each further piece of a part; `Unfold.running` says more.

        Within the marks that is for pieces which begin no mark, and end in no space.
        """
        split = self._of.get(id(part))
        told = part if split is None else split.rest or split.inner
        found = None if told is None else self._unfold.running(told)
        if found is None or split is None or split.rest is not None:
            return found
        sign = self._marks.closes[0]
        return *found[:2], lambda piece: not (split.held or sign in piece or piece[-1].isspace())

    # -- what stands within -----------------------------------------------------------------------

    def _look(self, part: Part, split: Split) -> None:
        """Look for the next mark in what waits, and tell of what is surely none."""
        marks = self._marks
        if split.inner is None:
            text = split.held.lstrip()
            if not text.startswith(marks.opens):
                if not marks.opens.startswith(text):
                    del self._of[id(part)]
                    self._unfold.opened(part)  # with all that has come of it
                return
            self._unfold.citing.parted = True
            split.inner = Part(marks.kind, "text", part.candidate, part.nth)
            split.held = text[len(marks.opens) :]
        inner, closed, rest = split.held.partition(marks.closes)
        begun = (n for n in range(len(marks.closes) - 1, 0, -1) if inner.endswith(marks.closes[:n]))
        sure = inner if closed else inner[: len(inner) - next(begun, 0)]
        self._grow(split.inner, sure := sure.rstrip())
        split.held = inner[len(sure) :]
        if closed:
            self._close(split.inner)
            split.rest = _behind(part)
            self._grow(split.rest, rest)

    def _grow(self, part: Part, piece: str) -> None:
        """Tell of a piece of a part that was made here; the part begins with its first word."""
        if not part.pieces:
            piece = piece.lstrip()
            if piece:
                self._unfold.opened(part)
        if piece:
            part.grow(piece)
            self._unfold.grown(part, piece)

    def _close(self, part: Part) -> None:
        part.open = False
        if part.pieces:
            self._unfold.closed(part)

    def _end(self, part: Part, split: Split) -> None:
        """Tell of the end of a text that a mark began."""
        assert split.inner is not None
        if split.rest is None:
            self._grow(split.inner, split.held.rstrip())
            self._close(split.inner)
        rest = split.rest or _behind(part)
        rest.said = moved(_behind(part).said, *_texts(part, rest))
        rest.cited = _cited(part, rest)
        self._over.append((part, rest))
        if not rest.pieces and says_more(rest.said):
            self._unfold.opened(rest)
            rest.open = False
            self._unfold.closed(rest)
        else:
            self._close(rest)


def _behind(text: Part) -> Part:
    """Return what stands behind a mark in a text: a text that flows."""
    rest = copy.copy(text)
    rest.pieces, rest.field, rest.whole, rest.closing = [], "text", False, None
    rest.said = {key: value for key, value in text.said.items() if key != "text"}
    return rest


def _texts(text: Part, rest: Part) -> tuple[str, str]:
    """Return the words of a text, and those of what stands behind a mark in it."""
    return str(text.ir().get("text", "")), "".join(rest.pieces)


def _cited(text: Part, rest: Part) -> list[Any] | None:
    """Return the citations of a text as those of what stands behind a mark in it."""
    if not text.cited:
        return text.cited
    found: list[Any] = moved({"citations": text.cited}, *_texts(text, rest))["citations"]
    return found
