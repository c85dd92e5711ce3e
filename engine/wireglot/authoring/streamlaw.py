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
_FLOW = ("text", "reasoning")  # neighbours of these may become one
_OWN = ("native", "unknown")  # what no other dialect says


def heard(case: Case, wire: Any) -> None:
    """Say that frames that are written are understood, and fold to the response that was meant."""
    rules = case.rules[case.dialect]
    stream = rules.model.streamed
    ir = abroad(case.read(wire), ("own", "signature"))  # what another dialect could say, too
    if not any(h.path == "at.candidate" for p in stream.pictures() for h in holes(p)):
        ir["candidates"] = ir["candidates"][:1]  # it has frames for one
    whole, noted = case.write(ir)
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
    if unplaced or any(note.effect in ("lost", "changed", "moved") for note in noted):
        return
    body = streams.Collected(rules, fold, {}).body
    meant, found = (list(_said(case.read(one))) for one in (whole, body))
    for apart in differences(meant, found):
        raise Broken(f"what was written in frames reads otherwise than the whole, at {apart}",
                     stream.pos)  # fmt: skip


def _said(ir: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield what the parts of each candidate say, neighbours that flow as one."""
    for candidate in ir["candidates"]:
        said: list[dict[str, Any]] = []
        for part in candidate["parts"]:
            one = {k: part[k] for k in _SAYS if k in part}
            if not one.pop("arguments_text", "x").strip():
                one["arguments"] = {}  # no text is no JSON: clients parse it
            if said and one["type"] in _FLOW and said[-1]["type"] == one["type"]:
                one["text"] = said.pop().get("text", "") + one.get("text", "")
            said.append(one)
        said = [p for p in said if p.get("text") or p["type"] not in (*_FLOW, *_OWN)]
        if said:
            yield said
