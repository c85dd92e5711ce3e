"""Replays: what the rules of now would make of requests that were recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..authoring.jsondiff import differences, shown
from ..errors import UsageError
from ..loop.states import States
from ..policy import Policy
from ..rulesets import RuleSet
from ..streaming import framing
from ..trail import pointer
from .record import FORM, as_bytes
from .relay import TYPE, ClientRequest, ModelRoute, Refused, Relay, Reply, upstream
from .turn import Turn, begin

NOWHERE = "http://127.0.0.1"  # nothing is sent
FEW = 20  # differences of one body that are said


class Replayed(NamedTuple):
    """A record, and what comes out otherwise, in lines: none where all is the same."""

    file: str
    ends: str
    apart: tuple[str, ...]


def replay(
    folder: str,
    rules: RuleSet,
    options: Mapping[str, Any] | None = None,
    policy: Policy | None = None,
) -> Iterator[Replayed]:
    """Yield what became of each record of a folder, in their order. Raises UsageError."""
    files = sorted(Path(folder).glob("*.json"))
    if not files:
        raise UsageError(f"`{folder}` holds no records")
    before = Relay(rules, (), States(), options, policy)
    for file in files:
        try:
            record = json.loads(file.read_text("utf-8"))
            if record["record"] != FORM:
                raise ValueError
            ends = f"{record['client']} -> {record['provider']}"
            found = tuple(_lines(before, record)) if record["provider"] else ()  # nobody was asked
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"`{file.name}` is no record of `--record`: {error!r}") from None
        yield Replayed(file.name, ends, found)


def _lines(relay: Relay, record: dict[str, Any]) -> Iterator[str]:
    """Yield what a record's request and its answer become otherwise."""
    if record["asked"] is None:
        yield "the request was too long to be recorded"
        return
    asked = ClientRequest("POST", record["path"], {}, as_bytes(record["asked"]))
    rules = relay.rules
    asks = upstream(rules, record["provider"], record["model"], NOWHERE)
    try:
        turn = begin(replace(relay, rows=(ModelRoute("*", (asks,)),)), asked)
        assert isinstance(turn, Turn)  # else nobody was asked
        yield from _shown_differences("sent", record["sent"], json.loads(turn.sent.body))
        if record["came"] in (None, "") or (record["streamed"] and record["failed"]):
            return  # what was cut off ends as it did, whatever the rules say
        now = _reply_of(turn, record)
    except Refused as error:
        now = error.reply
    if now.status != record["status"]:
        yield f"status: {now.status} now, was {record['status']}"
    if not record["streamed"]:
        yield from _shown_differences("given", record["given"], json.loads(now.body))
        return
    stream = rules[record["client"]].model.streamed
    old, new = (framing.read(data, stream) for data in (as_bytes(record["given"]), now.body))
    if len(old) != len(new):
        yield f"given: {len(new)} frames now, was {len(old)}"
    for nth, (one, two) in enumerate(zip(old, new, strict=False)):
        if one != two:
            yield from _shown_differences(f"given frame {nth}", one, two)
            return  # those behind it are mostly others, too


def _reply_of(turn: Turn, record: dict[str, Any]) -> Reply:
    came, headers = as_bytes(record["came"]), {TYPE: record["kind"]}
    if not record["streamed"]:
        return turn.whole_reply(record["answered"], headers, came)
    said = turn.begin_stream(headers)
    return Reply(200, said, turn.feed(came) + turn.finish())


def _shown_differences(what: str, old: Any, new: Any) -> Iterator[str]:
    found = differences(old, new) if old is not None else []
    for at, was, now in found[:FEW]:
        yield f"{what} {pointer(at)}: {shown(now)} now, was {shown(was)}"
    if len(found) > FEW:
        yield f"{what}: {len(found) - FEW} more differences"
