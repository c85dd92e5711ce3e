"""Lanes: frames that bring nothing but the next piece of a part are taken by code made for them.

A lane is opened when a frame did no more than to let a part grow, and what becomes of the piece is
clear: it is written at once, or held, or the frame goes out as it came. It takes the frames that
equal that one but for the piece and the token counts; every other frame goes the general way. As
soon as something but a piece is heard or written all lanes are closed, so that a lane only ever
does again what the general way did.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from . import lanecode
from .alike import Flow
from .fold import Fold
from .incoming import Part
from .lanecode import Take
from .unfold import Outgoing, Unfold

MOST = 6  # lanes that are open at once


class Lane:
    """A lane, and how much of what it took is told to the fold and the unfold."""

    __slots__ = (
        "first",
        "flow",
        "frame",
        "held",
        "known",
        "make",
        "out",
        "part",
        "take",
        "template",
    )

    def __init__(
        self,
        frame: Any,
        flow: Flow,
        part: Part,
        written: tuple[Outgoing | None, list[Any] | None, Any],
        make: Any,
        order: list[int | None],
    ) -> None:
        """Open a lane for frames like this one, that `make` makes the code of."""
        out, template, frames = written
        self.frame, self.flow, self.part, self.out = frame, flow, part, out
        self.template, self.make = template, make
        # The whole of a call may come once more, which says nothing.
        self.first = "".join(part.pieces) if part.scan is not None else ""
        self.known = len(part.pieces)
        self.held: list[Any] = [None]  # the token counts that came last
        grow = part.pieces.append
        self.take: Take = make(frame, template, grow, self.first, self.held, frames, order)

    def fits(self, frame: Any) -> bool:
        """Tell whether a frame is as those of the lane, without taking it."""
        nowhere: list[str] = []
        count = SimpleNamespace(count=0)
        here = self.frame, self.template, nowhere.append
        take: Take = self.make(*here, "\0", [None], count, [None])
        return take(frame) is not None


class Lanes:
    """The lanes of one translator."""

    def __init__(self, fold: Fold, unfold: Unfold | None) -> None:
        self._fold, self._unfold = fold, unfold
        self._open: list[Lane] = []
        self._met: dict[tuple[int, int], Lane | None] = {}  # by form and part
        self.take: Take | None = None  # of the lane in front: the last one that took a frame

    def other(self, frame: Any) -> list[Any] | None:
        """Take a frame by a lane that is not in front; None where none does."""
        lanes = self._open
        if len(lanes) == 1 or lanes[0].held[0] is not None:  # counts are told in their order
            return None
        for nth in range(1, len(lanes)):
            made = lanes[nth].take(frame)
            if made is not None:
                lanes[0], lanes[nth] = lanes[nth], lanes[0]
                self.take = lanes[0].take
                return made
        return None

    @property
    def front(self) -> Lane | None:
        """The lane that took the last frame, or was opened for it."""
        return self._open[0] if self._open else None

    def settle(self) -> None:
        """Tell the fold and the unfold what the lanes took."""
        # A part may have two lanes, of frames of two forms; its pieces are told once.
        taken = {id(lane.part): len(lane.part.pieces) - lane.known for lane in self._open}
        self._fold.frames += sum(taken.values())
        for lane in self._open:
            lane.known = len(lane.part.pieces)
            if lane.out is not None:
                lane.out.sent = lane.known
            if lane.held[0] is not None:
                self._fold.outcome.count(lane.held[0])
                lane.held[0] = None

    def close(self) -> None:
        """Close all lanes; they must be settled."""
        self._open, self._met, self.take = [], {}, None

    def learn(self, frame: Any) -> None:
        """Open a lane for frames like one that was heard, if it only let a part grow."""
        fold, unfold = self._fold, self._unfold
        if fold.stirred or (unfold is not None and unfold.moved):
            fold.stirred = False
            if unfold is not None:
                unfold.moved = False
            self.close()
        for lane in self._open:
            lane.known = len(lane.part.pieces)
        flow, part = fold.flow, fold.grew
        if flow is None or part is None or part.tree is not None or not part.open:
            return
        if not all(map(fold.outcome.knows, flow.once)):
            return
        key = (id(flow), id(part))
        if self._met.get(key) is None and len(self._open) < MOST:
            self._met[key] = self._opened(frame, flow, part, key in self._met)

    def _opened(self, frame: Any, flow: Flow, part: Part, again: bool) -> Lane | None:
        """Open a lane; code is compiled for it where such a frame comes again."""
        out: Outgoing | None = None
        template: list[Any] | None = None
        frames = None
        if self._unfold is not None:
            running = self._unfold.running(part)
            if running is None:
                return None
            out, template = running
            frames = self._unfold.frames
        guarded = part.scan is not None
        make = lanecode.known(flow, frame, template, guarded)
        if make is None and again:
            try:
                make = lanecode.compiled(flow, frame, template, guarded)
            except lanecode.Unfit:
                return None
        if make is None:
            return None
        written = (out if template else None, template, frames)
        lane = Lane(frame, flow, part, written, make, self._fold.order)
        self._open.insert(0, lane)
        self.take = lane.take
        return lane
