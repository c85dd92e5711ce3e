"""Parts within the texts of a stream, between two marks, told to a listener as parts of their own.

It stands between a fold and what writes its steps: what a mark may still begin or end waits, all
else goes on as it comes. A text that no mark begins is handed on as it is, where marks stand at its
head alone. What comes of it is what a whole response of these frames would be read as
(`interpreter.within`).
"""

from __future__ import annotations

import copy
from typing import Any

from ..conversion.hands import Reader
from ..interpreter.within import (
    CALL,
    THOUGHT,
    calls_reader,
    find_calls,
    has_fields,
    mark_begun,
    share_citations,
    skip_space,
)
from ..ir import IR
from ..language.model import Dialect
from ..trail import At
from .hearing import Listener
from .incoming import Part
from .outcome import Outcome
from .outgoing import Growing
from .unfold import Unfold


class Split:
    """A text that comes: what waits of it, and what is told of it."""

    def __init__(self) -> None:
        self.held = ""  # what a mark may still be
        self.unread: list[str] = []  # pieces behind it that nobody has looked at
        self.at = 0  # where what is held begins in the text
        # The mark that a call waits for; an empty one where it waits to the end of the text.
        self.awaited: str | None = None
        self.tail = ""  # the last signs that came: a mark may begin in them
        self.past_head = False  # whether the head is over, in which a thought may stand
        self.after_mark = False  # whether a mark stands before what is held: spaces are of the form
        self.thought: Part | None = None  # a thought that is not closed
        self.text: Part | None = None  # the text that goes on
        self.texts: list[tuple[Part, int]] = []  # those that are left, and where each begins

    def add(self, piece: str) -> bool:
        """Take a piece; tell whether it may bring something, so that one must look."""
        self.unread.append(piece)
        before, mark = self.tail, self.awaited
        self.tail = (before + piece)[-max(1, len(mark or "") - 1) :]
        if mark is None:
            return not (piece.isspace() and before.isspace())  # spaces wait for what follows
        return bool(mark) and mark in before + piece

    def read(self) -> str:
        """Return all that is held."""
        self.held = "".join((self.held, *self.unread))
        self.unread = []
        return self.held

    def drop(self, count: int) -> None:
        """Let the first signs of what is held go."""
        self.held = self.held[count:]
        self.at += count


class Within(Listener):
    """Tells an unfold what a fold tells, and of the parts that stand within texts as of others."""

    def __init__(self, unfold: Unfold, dialect: Dialect, options: dict[str, Any]) -> None:
        self._unfold = unfold
        self._head, self._calls = dialect.within.get(THOUGHT), dialect.within.get(CALL)
        self._read = calls_reader(Reader(dialect, options), self._calls, None)
        self._splits: dict[int, Split] = {}
        self._ended_splits: list[tuple[Part, Split]] = []
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
            split = self._splits[id(part)] = Split()
            if part.whole and split.add(str(part.fields.get("text", ""))):
                self._tell_held(part, split)
        else:
            self._unfold.opened(part)

    def grown(self, part: Part, piece: str) -> None:
        """Take a piece of a part."""
        split = self._splits.get(id(part))
        if split is None:
            self._unfold.grown(part, piece)
        elif split.text is not None and self._calls is None:
            self._tell_piece(split.text, piece)
        elif split.add(piece):
            self._tell_held(part, split)

    def closed(self, part: Part) -> None:
        """Take the end of a part; what waits of it is what it seemed to be."""
        split = self._splits.get(id(part))
        if split is None or not self._end_text(part, split):
            self._unfold.closed(part)

    def failed(self, error: IR, at: At) -> None:
        """Take an error, of a frame; nothing follows it, so what waits is told of first."""
        for split in self._splits.values():
            if (waits := split.thought or split.text) is not None:
                self._tell_piece(waits, split.read().rstrip())
        self._unfold.failed(error, at)

    def end(self, outcome: Outcome, cut: bool) -> None:
        """Take the end of all; what is said by now of texts that were over before, is known."""
        for part, split in self._ended_splits:
            _cite(part, split)
        self._unfold.end(outcome, cut)

    def growing(self, part: Part) -> Growing | None:
        """Return what becomes of each further piece of a part; None where one may do more.

        Where a mark may begin that is for pieces which begin none, and end in no space.
        """
        split = self._splits.get(id(part))
        told = part if split is None else split.thought or split.text
        found = None if told is None else self._unfold.growing(told)
        if found is None or split is None:
            return found
        marks = self._calls if split.thought is None else self._head
        mark = "" if marks is None else marks.opens if split.thought is None else marks.closes
        if not mark:
            return found

        def takes(piece: str) -> bool:
            return not (split.held or split.unread or mark[0] in piece or piece[-1].isspace())

        return found._replace(takes=takes)

    # -- what stands within -----------------------------------------------------------------------

    def _tell_held(self, part: Part, split: Split, over: bool = False) -> None:
        """Look for the next mark in what waits, and tell of what is surely none."""
        split.read()
        if not split.past_head and not self._read_head(part, split, over):
            return
        if split.thought is not None and not self._tell_thought(split, over):
            return
        text, at = split.held, 0
        if self._calls is None:
            if split.after_mark:  # no mark follows that its spaces could be of
                split.drop(self._tell_text(part, split, 0, len(text), True))
            else:
                del self._splits[id(part)]
                self._unfold.opened(part)  # with all that has come of it
            return
        while not isinstance(found := find_calls(self._calls, text, at, over, self._read), int):
            begin, behind, calls = found
            self._tell_text(part, split, at, begin, False)
            self._tell_end(split)
            for call in calls:
                self._tell_call(part, call)
            at = behind
        split.drop(self._tell_text(part, split, at, found, over))
        opened = split.held.startswith(self._calls.opens, skip_space(split.held, 0))
        split.awaited = self._calls.closes if opened else None

    def _read_head(self, part: Part, split: Split, over: bool) -> bool:
        """Tell whether it is known whether a thought stands at the head of a text."""
        start = skip_space(split.held, 0)
        opens = "" if self._head is None else self._head.opens
        if not opens or not split.held.startswith(opens, start):
            split.past_head = over or not (opens and opens.startswith(split.held[start:]))
            return split.past_head
        self._unfold.citing.texts_differ = split.past_head = True
        split.thought = Part(THOUGHT, "text", part.candidate, part.nth)
        split.drop(start + len(opens))
        return True

    def _tell_thought(self, split: Split, over: bool) -> bool:
        """Tell of a thought; tell whether it is over."""
        assert self._head is not None and split.thought is not None
        inner, closed, _ = split.held.partition(self._head.closes)
        least = 0 if closed or over else mark_begun(inner, self._head.closes)
        sure = inner[: len(inner) - least].rstrip()
        self._tell_piece(split.thought, sure)
        if not closed and not over:
            split.drop(len(sure))
            return False
        split.drop(len(inner) + len(closed))
        split.thought.open = False
        if split.thought.pieces:
            self._unfold.closed(split.thought)
        split.thought, split.after_mark = None, True
        return True

    def _tell_text(self, part: Part, split: Split, start: int, end: int, over: bool) -> int:
        """Tell of signs that are held as of a text, but for spaces at a mark; return what is left.

        Signs are counted from the first that is held.
        """
        if split.after_mark and split.text is None:
            start = min(skip_space(split.held, start), end)
        said = split.held[start:end]
        said = said if over else said.rstrip()
        if said and split.text is None and (split.after_mark or not said.isspace()):
            split.text = _text_behind(part, not split.texts)
            split.texts.append((split.text, split.at + start))
        if split.text is None:
            return start
        self._tell_piece(split.text, said)
        return start + len(said)

    def _tell_call(self, text: Part, said: IR) -> None:
        assert self._outcome is not None
        self._unfold.citing.texts_differ = True
        call = Part(CALL, "", text.candidate, text.nth)
        call.whole, call.id_made, call.fields, call.open = True, True, said, False
        self._outcome.candidates[text.candidate].calls_within = True
        ids = self._ids.setdefault(text.candidate, set())
        said["id"] = self._outcome.seed.call(text.candidate, len(ids), said, ids)
        ids.add(said["id"])
        self._unfold.opened(call)
        self._unfold.closed(call)

    def _tell_piece(self, part: Part, piece: str) -> None:
        """Tell of a piece of a part that was made here; it begins with its first word."""
        if not part.pieces:
            piece = piece.lstrip() if part.kind == THOUGHT else piece
            if piece:
                self._unfold.opened(part)
        if piece:
            part.pieces.append(piece)
            self._unfold.grown(part, piece)

    def _tell_end(self, split: Split) -> None:
        """Tell that the text before a mark is over, if there is one."""
        if split.text is not None:
            split.text.open = False
            self._unfold.closed(split.text)
        split.text, split.after_mark = None, True

    def _end_text(self, part: Part, split: Split) -> bool:
        """Tell of the end of a text; tell whether marks stood in it, else it goes on as it is."""
        self._tell_held(part, split, True)
        if self._splits.pop(id(part), None) is None:
            return False
        if not (split.after_mark or split.texts):
            self._unfold.opened(part)
            return False
        if not split.texts and has_fields(part.fields):
            split.text = _text_behind(part, True)
            split.texts.append((split.text, len(str(part.ir().get("text", "")))))
            _cite(part, split)
            self._unfold.opened(split.text)
        _cite(part, split)
        self._ended_splits.append((part, split))
        self._tell_end(split)
        return True


def _text_behind(text: Part, first: bool) -> Part:
    """Return what goes on behind a mark in a text: a text that flows.

    What is said of the text beside its words is of the first one that is left of it.
    """
    rest = copy.copy(text)
    rest.pieces, rest.field, rest.whole, rest.final, rest.open = [], "text", False, None, True
    rest.fields = {"type": "text"}
    if first:
        rest.fields |= {key: value for key, value in text.fields.items() if key != "text"}
    return rest


def _cite(part: Part, split: Split) -> None:
    """Share out the citations of a text among the texts that are left of it."""
    spans = [(at, at + sum(map(len, rest.pieces))) for rest, at in split.texts]
    said = share_citations(part.fields.get("citations"), spans)
    cited = None if part.cited is None else share_citations(part.cited, spans)
    for nth, (rest, _) in enumerate(split.texts):
        if said[nth] or "citations" in rest.fields:
            rest.fields["citations"] = said[nth]
        rest.cited = None if cited is None else cited[nth]
