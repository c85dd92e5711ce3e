"""Runs: frames that bring nothing but the next piece of a part go a short way.

A run begins with a frame that did no more than to let a part grow, where it is clear what becomes
of its pieces: they are written at once, or held, or the frame goes out as it came. It takes the
frames that equal that one but for the piece and what may differ in its form (`GrowthForm`);
every other frame goes the general way. As soon as something but a piece is heard or written all
runs end: they only ever do again what the general way did.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from ..jsontext import copied
from ..trail import everywhere, leaves
from .fold import Fold
from .frameforms import GrowthForm
from .incoming import Part
from .outgoing import Growing
from .unfold import Unfold

MOST = 6  # runs that are open at once
Take = Callable[[Any], "list[Any] | None"]


class Run(NamedTuple):
    """One run; `take` returns what is written for a frame, or None for one that is another."""

    flow: GrowthForm
    part: Part
    take: Take


def _taker(first: Any, fold: Fold, flow: GrowthForm, part: Part, growing: Growing) -> Take:
    """Return what takes the frames that equal the first but for the piece and what may vary."""
    out, fill, takes = growing
    template = copied(first)  # what a frame must be, with its own piece
    piece_at = next(at for at, what in flow.varying.items() if what == "piece")
    *path, last = piece_at
    piece_owner = reduce(getitem, path, template)
    pairs = [(at[:-1], at[-1], what) for at, what in flow.varying.items() if at != piece_at]
    varying = [(path, key, what, reduce(getitem, path, template)) for path, key, what in pairs]
    checks_varying = any(what != "said" for _, _, what in pairs)  # what is said may be the same
    # Texts that are equal are of one class; numbers need not be.
    classes = [
        (at, one.__class__)
        for at, one in everywhere(first)
        if one.__class__ in (int, float, bool) and at not in flow.varying
    ]
    append, is_call = part.pieces.append, part.scan is not None
    append_out = None if out is None or out.part is part else out.part.pieces.append

    def take(frame: Any) -> list[Any] | None:
        nonlocal checks_varying
        counts = None
        try:
            owner = frame
            for key in path:
                owner = owner[key]
            piece = owner[last]
            if piece.__class__ is not str or not piece:
                return None
            if not piece.isascii():
                piece.encode()  # half a sign is an error, which is told with its place
            piece_owner[last] = piece
            if checks_varying or frame != template:
                checks_varying = True
                counts = _take_varying(frame, varying, piece, fold.next_number)
                if frame != template:
                    return None
            for at, kind in classes:
                value = frame
                for key in at:
                    value = value[key]
                if value.__class__ is not kind:
                    return None
        except (LookupError, TypeError, UnicodeEncodeError):
            return None
        if (is_call and part.repeats(piece)) or (takes is not None and not takes(piece)):
            return None
        fold.frames += 1
        if fold.next_number is not None:
            fold.next_number += 1
        if counts is not None:
            fold.outcome.count(counts, fold.frames - 1)
        append(piece)
        if out is None:
            return [frame]
        if append_out is not None:
            append_out(piece)
        if fill is None:
            return []  # it waits
        out.sent += 1
        return fill(piece)

    return take


def _take_varying(frame: Any, varying: list[Any], piece: str, next_number: int | None) -> Any:
    """Let what may differ be as it is in a frame; return the token counts in it.

    Raises LookupError where it is of another form.
    """
    counts = None
    for path, key, what, template in varying:
        owner = reduce(getitem, path, frame) if path else frame
        value, old = owner[key], template[key]
        if what == "usage":
            if _form_of_counts(old) != _form_of_counts(value):
                raise LookupError
            counts = value
        elif what == "piece":
            template[key] = piece  # once more
            continue
        elif value.__class__ is str and old.__class__ is str:
            if not value.isascii():
                value.encode()
        elif (value.__class__, old.__class__) != (int, int):
            raise LookupError
        if what == "number" and value != next_number:
            raise LookupError
        template[key] = value
    return counts


class Runs:
    """The runs of one translator."""

    def __init__(self, fold: Fold, unfold: Unfold | None) -> None:
        self._fold, self._unfold = fold, unfold
        self._open: list[Run] = []  # the last one that took a frame stands first
        self.take: Take | None = None  # of that one

    def take_by_other(self, frame: Any) -> list[Any] | None:
        """Take a frame by a run that does not stand first; None where none does."""
        for run in self._open[1:]:
            made = run.take(frame)
            if made is not None:
                self._put_first(run)
                return made
        return None

    def _put_first(self, run: Run) -> None:
        self._open = [run, *(one for one in self._open if one is not run)][:MOST]
        self.take = run.take

    def close(self) -> None:
        """End all runs."""
        self._open, self.take = [], None

    def learn(self, frame: Any) -> None:
        """Begin a run with a frame that was heard, if it only let a part grow."""
        fold, unfold = self._fold, self._unfold
        if fold.changed or (unfold is not None and unfold.parts_changed):
            fold.changed = False
            if unfold is not None:
                unfold.parts_changed = False
            self.close()
        flow, part = fold.growth, fold.grew
        if flow is None or part is None or part.tree is not None or not part.open:
            return
        if not all(map(fold.outcome.is_settled, flow.response_fields)):
            return
        growing = fold.listener.growing(part)
        if growing is not None:
            self._open = [o for o in self._open if o.flow is not flow or o.part is not part]
            self._put_first(Run(flow, part, _taker(frame, fold, flow, part, growing)))


def _form_of_counts(counts: Any) -> list[Any]:
    """Return what is alike in token counts of one form: whole numbers may differ."""
    return [(at, one.__class__, one.__class__ is int or one) for at, one in leaves(counts)]
