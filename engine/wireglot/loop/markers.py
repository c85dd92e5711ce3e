"""Marks of an error in the text of results: read back only where the state knows them.

A dialect without a flag holds an error as text that says so. Whoever reads that cannot tell it from
what a tool says, so a state remembers each that we write: its dialect, its call, a digest of how it
reads, and what it was.
"""

from __future__ import annotations

from typing import Any

from ..conversion import reading
from ..interpreter.copies import parts_of
from ..jsontext import stringify
from ..language.held import Held
from ..language.model import Dialect
from ..language.picture import Text, texts
from .memory import Part, digest
from .names import result_pairs

Marker = dict[str, Any]


def new_markers(provider: Held, messages: list[Any], body: Any) -> list[Marker]:
    """Return a marker for each error that a request holds as text."""
    errors = {id(part) for part in parts_of(messages, "tool_result") if _is_error(part)}
    if not errors:
        return []
    read = reading.read(provider, body, "request", None, None, {}).ir["messages"]
    in_text = bool(_error_texts(provider.model))
    found = []
    for mine, theirs in zip(_results_of(messages), _results_of(read), strict=False):
        if mine is None or theirs is None or id(mine) not in errors:
            continue
        if in_text or not _is_error(theirs):
            value = mine["value"]
            if isinstance(value, list):
                value = "".join(block.get("text", "") for block in value)
            elif not isinstance(value, str):
                value = stringify(value)
            call, told = theirs["tool_call_id"], _digest_of(theirs)
            found.append({"dialect": provider.name, "call": call, "digest": told, "was": value})
    return found


def merged(known: list[Marker], more: list[Marker]) -> list[Marker]:
    """Return markers with those that are new among more."""
    one = {stringify([marker[key] for key in sorted(marker)]): marker for marker in (*known, *more)}
    return list(one.values())


def put_back(client: Dialect, messages: list[Any], known: list[Marker]) -> None:
    """Read results that are known as such as errors, and no others by their text alone."""
    marks = {(m["call"], m["digest"]): m["was"] for m in known if m["dialect"] == client.name}
    pictures = _error_texts(client)
    if not marks and not pictures:
        return
    for part in parts_of(messages, "tool_result"):
        was = marks.get((part.get("tool_call_id"), _digest_of(part)))
        if was is not None:
            part["kind"], part["value"] = "error", was
            part.pop("value_json", None)
        elif pictures and part.get("kind") == "error":
            whole = next((t.write((part["value"],)) for t in pictures), None)
            part["kind"], part["value"] = "text", whole or part["value"]


def _is_error(part: Part) -> bool:
    return bool(part.get("kind") == "error" or part.get("failed"))


def _digest_of(part: Part) -> str:
    return digest(stringify([part.get("kind"), part.get("value")]))


def _results_of(messages: list[Any]) -> list[Part | None]:
    """Return the result of each call, in the order of the calls."""
    results = {id(call): result for result, call in result_pairs(messages)}
    return [results.get(id(call)) for call in parts_of(messages, "tool_call")]


def _error_texts(dialect: Dialect) -> list[Text]:
    """Return the text pictures by which a dialect tells an error from what a tool says."""
    cases = (c for c in dialect.pictured("tool_result") if c.name.startswith("error"))
    return [text for case in cases for text in texts(case.wire) if text.names == ("value",)]
