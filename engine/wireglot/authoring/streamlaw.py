"""The law of streams: what is written is heard, and means what the whole response means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..language.lenses import stringify
from ..language.picture import holes
from ..notes import Note
from ..streaming import responses, streams
from ..streaming.fold import Fold
from ..streaming.recognising import Frame
from ..trail import pointer
from .jsondiff import differences
from .lawcase import Broken, Case, abroad

# What a part says in any stream that has it; what else is said of it may have no frame.
_SAYS = ("type", "name", "text", "arguments", "arguments_text", "input", "kind", "value")
_MERGED = ("text", "reasoning")  # neighbours of these may become one
_DIALECT_ONLY = ("native", "unknown")  # what no other dialect says


def heard(case: Case, wire: Any) -> None:
    """Say that frames that are written are understood, and fold to the response that was meant."""
    rules = case.rules[case.dialect]
    stream = rules.model.streamed
    ir = abroad(case.read(wire), ("own", "signature"))  # what another dialect could say, too
    if not any(h.path == "at.candidate" for p in stream.pictures() for h in holes(p)):
        ir["candidates"] = ir["candidates"][:1]  # it has frames for one
    whole, notes = case.write(ir)
    unplaced: list[Note] = []
    frames = list(responses.unfolded(rules, ir, False, set(), unplaced))
    fold = Fold(rules.model)
    for nth, frame in enumerate(frames):
        fold.feed(frame)
        for code, _, at, rule, message in fold.notes:
            if code != "dropped":
                raise Broken(f"the frame {stringify(frame)} is not heard as it is written:"
                             f" {code} at {pointer(at)}, {message}", rule)  # fmt: skip
        if fold.error is None and not Frame(frame, rules.model).matches(stream):
            raise Broken(f"nothing hears the frame {nth}, {stringify(frame)}", stream.pos)
    fold.close()
    if unplaced or any(note.effect in ("lost", "changed", "moved") for note in notes):
        return
    body = streams.Collected(rules, fold, {}).body
    expected, actual = (list(_candidate_parts(case.read(one))) for one in (whole, body))
    for difference in differences(expected, actual):
        raise Broken(f"what was written in frames reads otherwise than the whole, at {difference}",
                     stream.pos)  # fmt: skip


def _candidate_parts(ir: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield what the parts of each candidate say, neighbours that flow as one."""
    for candidate in ir["candidates"]:
        parts: list[dict[str, Any]] = []
        for whole in candidate["parts"]:
            part = {k: whole[k] for k in _SAYS if k in whole}
            if parts and part["type"] in _MERGED and parts[-1]["type"] == part["type"]:
                part["text"] = parts.pop().get("text", "") + part.get("text", "")
            parts.append(part)
        parts = [p for p in parts if p.get("text") or p["type"] not in (*_MERGED, *_DIALECT_ONLY)]
        if parts:
            yield parts
