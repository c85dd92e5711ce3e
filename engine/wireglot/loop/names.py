"""Names, ids and tools of one conversation: how each was written where it was refused, and back.

A tool that has no picture goes down the ladder, and so do its calls. The row that a tool took is
remembered by its name; a call of it that comes in the form which the row gives is read backwards.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from ..conversion.hands import Writer
from ..interpreter import pairing
from ..interpreter.copies import parts_of
from ..interpreter.limits import Limits, pattern_of
from ..jsontext import stringify
from ..language.held import Held
from ..language.ladder import Row, apply, undo_row
from ..language.model import Dialect, once
from ..language.picture import Hole, keys
from ..notes import Draft
from ..trail import Trail
from .memory import Part

_OF = "properties of "  # before the name of a tool: a kind of names
_TEXT = r'"[^"\\]*(?:\\.[^"\\]*)*"'  # a text in JSON
Table = dict[str, dict[str, dict[str, str]]]  # dialect, kind of name: what it was, what was written


class Names:
    """What was written for names and ids, for each dialect."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def of(self, dialect: str, kind: str) -> dict[str, str]:
        """Return what was written for names of a kind, to which more is added."""
        return self.table.setdefault(dialect, {}).setdefault(kind, {})

    def apply_to(self, limits: Limits, dialect: str) -> None:
        """Let a writer of the dialect write names as they were written before."""
        for kind, known in self.table.get(dialect, {}).items():
            for name, written in known.items():
                if limits.fits(kind, written):
                    limits.remember(kind, name, written)

    def learn(self, limits: Limits, dialect: str) -> None:
        """Remember what a writer of the dialect wrote for names that did not fit."""
        for (kind, name), written in limits.renamed().items():
            self.of(dialect, kind)[name] = written

    def learn_own(self, ir: dict[str, Any], client: Dialect, provider: str) -> None:
        """Remember the tools of a request whose names the client's own API would refuse.

        The client knows them so, and a provider that takes such a name calls them by it.
        """
        if "tool_name" not in client.limits:
            return
        fits = pattern_of(client.limits["tool_name"])
        for name in (tool.get("name") for tool in declared(ir)):
            if isinstance(name, str) and not fits(name):
                self.of(provider, "tool_name").setdefault(name, name)

    def set_properties(self, properties: dict[Any, dict[str, str]], dialect: str) -> None:
        """Remember what was written for properties of the tools of a request, and of no other."""
        known = self.table.get(dialect, {})
        for kind in [kind for kind in known if kind.startswith(_OF)]:
            del known[kind]
        for tool, names in properties.items():
            self.of(dialect, f"{_OF}{tool}").update(names)

    def properties(self, dialect: str, tool: Any) -> dict[str, str]:
        """Return what the names of properties that were written for a tool were before."""
        return self.originals(dialect, f"{_OF}{tool}")

    def originals(self, dialect: str, kind: str = "tool_name") -> dict[str, str]:
        """Return what the names of a kind that were written for a dialect were before."""
        known = self.table.get(dialect, {}).get(kind, {})
        return {written: name for name, written in known.items()}

    def learn_rows(self, provider: Held, ir: dict[str, Any], writer: Writer) -> None:
        """Remember by which row each tool of a request went, if its calls go by one so named."""
        paired = {row.name for row in provider.ladder.get("tool_call", ())}
        for tool in declared(ir):
            _, row = writer.rows.get(id(tool), (None, ""))
            if row in paired:
                self.of(provider.name, "row")[tool["name"]] = row
            else:
                self.table.get(provider.name, {}).get("row", {}).pop(tool.get("name", ""), None)

    def row_of(self, provider: Held, name: Any) -> Row | None:
        """Return the row of the ladder by which calls of a tool went to a provider."""
        known = self.table.get(provider.name, {}).get("row", {}).get(name)
        rows = provider.ladder.get("tool_call", ())
        return next((row for row in rows if row.name == known), None)


def declared(ir: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the tools of a request, those that its messages bring among them."""
    yield from ir.get("tools") or ()
    for message in ir.get("messages") or ():
        yield from (tool for part in message["parts"] for tool in part.get("tools", ()))


@once
def _id_patterns(dialect: Dialect) -> list[re.Pattern[str]]:
    """Return the patterns of keys for ids of calls, with the texts under them."""
    named = (pair for case in dialect.pictured("tool_call") for pair in keys(case.wire))
    words = {k for names, p in named for k in names if isinstance(p, Hole) and p.path == "id"}
    return [re.compile(rf"{re.escape(json.dumps(word))}\s*:\s*({_TEXT})") for word in words]


def call_ids(body: str, dialect: Dialect) -> list[str]:
    """Return all texts that stand under a key for ids of calls in the JSON text of a request."""
    # Behind a `\` it would be the end of a key with a quote in it.
    found = (one for pattern in _id_patterns(dialect) for one in pattern.finditer(body))
    texts = {one[1] for one in found if body[one.start() - 1] != "\\"}
    return sorted(json.loads(one) if "\\" in one else one[1:-1] for one in texts)


def result_pairs(messages: list[dict[str, Any]]) -> list[tuple[Part, Part]]:
    """Return each result with its call, by id, also one that stands before it."""
    calls = pairing.by_id(messages)
    answered = {id(call) for call in calls.values()}
    waiting: dict[Any, deque[Part]] = {}
    for call in parts_of(messages, "tool_call"):
        if id(call) not in answered:
            waiting.setdefault(call.get("id"), deque()).append(call)
    found = []
    for part in parts_of(messages, "tool_result"):
        early = waiting.get(part.get("tool_call_id"))
        if id(part) in calls:
            found.append((part, calls[id(part)]))
        elif early:
            found.append((part, early.popleft()))
    return found


def readdress(
    messages: list[dict[str, Any]], calls: list[tuple[Part, dict[str, Any]]], made: set[int]
) -> tuple[set[str], set[str]]:
    """Give calls and their results the ids and names that the provider knows them by.

    `made` are calls that the client sent without an id: it may have had one and dropped it.
    Returns the ids that the provider gave, and those of calls that it gave none.
    """
    if not calls:
        return set(), set()
    pairs = result_pairs(messages)
    known, unsaid = set(), set()
    for part, entry in calls:
        if "id" not in entry:
            part["id"] = (entry.get("call") if id(part) in made else None) or part["id"]
            known.add(part["id"])
        elif entry["id"] is None:
            unsaid.add(part["id"])
        else:
            part["id"] = entry["id"]
            known.add(part["id"])
    restored = {id(part) for part, _ in calls}
    for result, call in pairs:
        if id(call) in restored:
            result["tool_call_id"] = call["id"]
            if "name" in result:
                result["name"] = call["name"]
    _reorder(messages, [pair for pair in pairs if id(pair[1]) in restored])
    return known, unsaid


def _reorder(messages: list[dict[str, Any]], pairs: list[tuple[Part, Part]]) -> None:
    """Put results of calls that the provider gave one id in the order of these calls.

    The client knows them by ids of their own; for the provider only their order tells them apart.
    """
    same: dict[str, list[tuple[Part, Part]]] = {}
    for result, call in pairs:
        same.setdefault(call["id"], []).append((result, call))
    many = [found for found in same.values() if len(found) > 1]
    if not many:
        return
    place = {id(part): n for n, part in enumerate(parts_of(messages))}
    fresh: dict[int, Part] = {}
    for found in many:
        there = sorted((result for result, _ in found), key=lambda part: place[id(part)])
        wanted = sorted(found, key=lambda pair: place[id(pair[1])])
        fresh |= {id(old): new for old, (new, _) in zip(there, wanted, strict=True)}
    for message in messages:
        if any(id(part) in fresh for part in message.get("parts", ())):
            message["parts"] = [fresh.get(id(part), part) for part in message["parts"]]


def undone_call(row: Row, part: Part) -> tuple[Part, bool]:
    """Return a call as it was before a row, and whether it had the form that the row gives.

    Of a call that a model made in another form, the one field of the row is its `only_text`.
    """
    before = undo_row(row, part)
    text = part.get("arguments_json")
    if before is not None:
        again = apply(row, before, Trail())[0].get("arguments")
        if isinstance(text, str) and text != stringify(again):
            before["arguments_json"] = text  # the provider gets back what it said
        return before, True
    said = text if isinstance(text, str) else part.get("arguments_text")
    if said is None:
        said = stringify(part.get("arguments", {}))
    fields = {*row.after.names, "arguments_text"} - {"type"}
    rest = {key: value for key, value in part.items() if key not in fields}
    field = {next(iter(row.before.names)): only_text(part.get("arguments"), said)}
    return {**rest, **field, "arguments_json": said}, False


def only_text(arguments: Any, text: str) -> str:
    """Return the one text that arguments hold (models know some tools by another key), or all."""
    held = list(arguments.values()) if isinstance(arguments, dict) else []
    return held[0] if len(held) == 1 and isinstance(held[0], str) else text


def put_call_back(row: Row, part: Part, trail: Trail) -> Draft | None:
    """Change a call to what it was before a row; return what is to be said of it."""
    at = trail.find(part, "arguments") or trail.find(part)
    before, fits = undone_call(row, part)
    for key in before.keys() - part.keys():
        trail.put(part, key, at)
    part.clear()
    part.update(before)
    if fits:
        return None
    told = f"this is not as `{row.name}` gave the tool; what it says stands as text"
    return Draft(row.name, "changed", at, row.pos, told, None, part)
