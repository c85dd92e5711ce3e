"""Parts within the texts of a stream, between two marks, told to a listener as parts of their own.

It stands between a fold and what writes its steps: what a mark may still begin or end waits, all
else goes on as it comes. A text that no mark begins is handed on as it is, where marks stand at its
head alone. What comes of it is what a whole response of these frames would be read as
(`interpreter.within`).
"""

from __future__ import annotations

import copy
from typing import Any

from ..interpreter.hands import Reader
from ..interpreter.within import CALL, THOUGHT, begun, called, calling, calls_of, says_more, shared
from ..language.model import Dialect
from .incoming import Part
from .outcome import Outcome
from .parts import Running
from .unfold import Unfold


class Split:
    """A text that comes: what waits of it, and what is told of it."""

    __slots__ = ("fresh", "headed", "held", "inner", "rest", "texts")

    def __init__(self) -> None:
        self.held = ""  # what a mark may still be
        self.headed = False  # whether the head is over, in which a thought may stand
        self.fresh = False  # whether a mark stands before what is held: spaces are of the form
        self.inner: Part | None = None  # a thought that is not closed
        self.rest: Part | None = None  # the text that goes on
        self.texts: list[tuple[Part, int]] = []  # those that are left, and where each begins

    def take(self, count: int) -> str:
        """Take the first signs of what is held."""
        text, self.held = self.held[:count], self.held[count:]
        return text


class Within:
    """Tells an unfold what a fold tells, and of the parts that stand within texts as of others."""

    def __init__(self, unfold: Unfold, dialect: Dialect, options: dict[str, Any]) -> None:
        self._unfold, self._dialect = unfold, dialect
        self._head, self._calls = dialect.within.get(THOUGHT), dialect.within.get(CALL)
        self._read = calls_of(Reader(dialect, options), self._calls, None)
        self._of: dict[int, Split] = {}
        self._over: list[tuple[Part, Split]] = []
        self._outcome: Outcome | None = None
        self._ids: dict[int, set[str]] = {}  # of calls that stood in the texts of each candidate

    # -- what a fold tells ------------------------------------------------------------------------

    def begun(self, outcome: Outcome) -> None:
        """Take the head of the stream."""
        self._outcome = outcome
        self._unfold.begun(outcome)

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
        elif split.rest is not None and self._calls is None:
            self._grow(split.rest, piece)
        else:
            split.held += piece
            self._look(part, split)

    def closed(self, part: Part) -> None:
        """Take the end of a part; what waits of it is what it seemed to be."""
        split = self._of.get(id(part))
        if split is not None:
            self._end(part, split)
        if self._of.pop(id(part), None) is None:
            self._unfold.closed(part)

    def failed(self, error: dict[str, Any]) -> None:
        """Take an error; nothing follows it, so what waits is told of first."""
        for split in self._of.values():
            if (waits := split.inner or split.rest) is not None:
                self._grow(waits, split.held.rstrip())
        self._unfold.failed(error)

    def end(self, outcome: Outcome, cut: bool) -> None:
        """Take the end of all; what is said by now of texts that were over before, is known."""
        for part, split in self._over:
            _cite(part, split)
        for nth in self._ids:
            owner = outcome.candidates[nth]
            stop = outcome.stop(owner)
            owner.stopped = owner.stops, len(owner.kinds), {**stop, **calling(stop)}
        self._unfold.end(outcome, cut)

    def running(self, part: Part) -> Running | None:
        """Return what is written for each further piece of a part; `Unfold.running` says more.

        Where a mark may begin that is for pieces which begin none, and end in no space.
        """
        split = self._of.get(id(part))
        told = part if split is None else split.inner or split.rest
        found = None if told is None else self._unfold.running(told)
        if found is None or split is None:
            return found
        mark = (
            self._head.closes
            if split.inner is not None and self._head is not None
            else self._calls.opens
            if self._calls is not None
            else ""
        )
        if not mark:
            return found
        sign = mark[0]
        return *found[:2], lambda piece: not (split.held or sign in piece or piece[-1].isspace())

    # -- what stands within -----------------------------------------------------------------------

    def _look(self, part: Part, split: Split, over: bool = False) -> None:
        """Look for the next mark in what waits, and tell of what is surely none."""
        if not split.headed and not self._headed(part, split, over):
            return
        if split.inner is not None and not self._thought(split, over):
            return
        if self._calls is None:
            if split.fresh:  # no mark follows that its spaces could be of
                self._text(part, split, len(split.held), True)
            else:
                del self._of[id(part)]
                self._unfold.opened(part)  # with all that has come of it
            return
        while not isinstance(found := called(self._calls, split.held, 0, over, self._read), int):
            at, behind, calls = found
            split.take(behind - self._text(part, split, at, False))
            self._close(split)
            for call in calls:
                self._call(part, call)
        self._text(part, split, found, over)

    def _headed(self, part: Part, split: Split, over: bool) -> bool:
        """Tell whether it is known whether a thought stands at the head of a text."""
        text = split.held.lstrip()
        opens = "" if self._head is None else self._head.opens
        if not opens or not text.startswith(opens):
            split.headed = over or not (opens and opens.startswith(text))
            return split.headed
        self._unfold.citing.parted = split.headed = True
        split.inner = Part(THOUGHT, "text", part.candidate, part.nth)
        split.held = text[len(opens) :]
        return True

    def _thought(self, split: Split, over: bool) -> bool:
        """Tell of a thought; tell whether it is over."""
        assert self._head is not None and split.inner is not None
        inner, closed, rest = split.held.partition(self._head.closes)
        least = 0 if closed or over else begun(inner, self._head.closes)
        sure = inner[: len(inner) - least].rstrip()
        self._grow(split.inner, sure)
        split.held = rest if closed else inner[len(sure) :]
        if not closed and not over:
            return False
        split.held = rest
        split.inner.open = False
        if split.inner.pieces:
            self._unfold.closed(split.inner)
        split.inner, split.fresh = None, True
        return True

    def _text(self, part: Part, split: Split, count: int, over: bool) -> int:
        """Tell of the first signs of what is held as a text, but for spaces before a mark.

        Returns how many of them were taken.
        """
        spaces = 0
        if split.fresh and split.rest is None:
            spaces = len(split.held[:count]) - len(split.held[:count].lstrip())
            split.take(spaces)
            count -= spaces
        sure = count if over else len(split.held[:count].rstrip())
        if sure and split.rest is None and (split.fresh or split.held[:sure].strip()):
            said = len(str(part.said.get("text", ""))) if part.whole else 0
            start = said + sum(map(len, part.pieces)) - len(split.held)
            split.rest = _behind(part, not split.texts)
            split.texts.append((split.rest, start))
        if split.rest is None or not sure:
            return spaces
        self._grow(split.rest, split.take(sure))
        return spaces + sure

    def _call(self, text: Part, said: dict[str, Any]) -> None:
        """Tell of a call that stood in a text."""
        assert self._outcome is not None
        self._unfold.citing.parted = True
        call = Part(CALL, "", text.candidate, text.nth)
        call.whole, call.made, call.said, call.open = True, True, said, False
        ids = self._ids.setdefault(text.candidate, set())
        said["id"] = self._outcome.seed.call(text.candidate, len(ids), said, ids)
        ids.add(said["id"])
        self._unfold.opened(call)
        self._unfold.closed(call)

    def _grow(self, part: Part, piece: str) -> None:
        """Tell of a piece of a part that was made here; it begins with its first word."""
        if not part.pieces:
            piece = piece.lstrip() if part.kind == THOUGHT else piece
            if piece:
                self._unfold.opened(part)
        if piece:
            part.grow(piece)
            self._unfold.grown(part, piece)

    def _close(self, split: Split) -> None:
        """Tell that the text before a mark is over, if there is one."""
        if split.rest is not None:
            split.rest.open = False
            self._unfold.closed(split.rest)
        split.rest, split.fresh = None, True

    def _end(self, part: Part, split: Split) -> None:
        """Tell of the end of a text; one in which no mark stood may be handed on as it is."""
        self._look(part, split, True)
        if id(part) not in self._of or not (split.fresh or split.texts):
            if self._of.pop(id(part), None) is not None:
                self._unfold.opened(part)
            return
        if not split.texts and says_more(part.said):
            split.rest = _behind(part, True)
            split.texts.append((split.rest, len(str(part.ir().get("text", "")))))
            _cite(part, split)
            self._unfold.opened(split.rest)
        _cite(part, split)
        self._over.append((part, split))
        self._close(split)


def _behind(text: Part, first: bool) -> Part:
    """Return what goes on behind a mark in a text: a text that flows.

    What is said of the text beside its words is of the first one that is left of it.
    """
    rest = copy.copy(text)
    rest.pieces, rest.field, rest.whole, rest.closing, rest.open = [], "text", False, None, True
    rest.said = {"type": "text"}
    if first:
        rest.said |= {key: value for key, value in text.said.items() if key != "text"}
    return rest


def _cite(part: Part, split: Split) -> None:
    """Share out the citations of a text among the texts that are left of it."""
    spans = [(at, at + sum(map(len, rest.pieces))) for rest, at in split.texts]
    said = shared(part.said.get("citations"), spans)
    cited = None if part.cited is None else shared(part.cited, spans)
    for nth, (rest, _) in enumerate(split.texts):
        if said[nth] or "citations" in rest.said:
            rest.said["citations"] = said[nth]
        rest.cited = None if cited is None else cited[nth]
