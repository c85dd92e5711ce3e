"""Seeds: what ids are made of where nobody gave any.

An id that is made names one thing: nothing else of the history has it, nor of another history, and
whoever converts the same payload again makes it again. So it is a digest of what tells its payload
from all others: for an answer, the request that it answers (an exchange knows it, and each turn has
another) with the id or the time that its provider gave; else all that was said. For a history it is
a chain over its messages, so the ids of its beginning stay when it grows.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable
from typing import Any

from .trail import At, Ids, value_at

LENGTH = 12  # of the digest in an id


def digest(*facts: Any) -> str:
    """Return a digest of JSON values."""
    import hashlib  # most processes make no id

    text = "/".join([fact if isinstance(fact, str) else _text(fact) for fact in facts])
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)


class Seed:
    """The seed of one answer; it is worked out when the first id is made."""

    def __init__(
        self, asked: str | None, name: Any, time: Any, said: Any, pieces: bool = False
    ) -> None:
        """Take the digest of the request, the id and the time of the answer, and what it says.

        `pieces` tells that frames of this dialect say what a call is piece by piece.
        """
        self._content = not name and not pieces  # whether ids are made of what calls say, too
        self._facts = (asked, name or None, None if name else time, said)
        self._text: str | None = None

    def text(self) -> str:
        """Return the seed."""
        if self._text is None:
            *known, said = self._facts
            facts = [fact for fact in known if fact]
            self._text = digest(*facts) if facts else digest(said)
        return self._text

    def call(
        self, candidate: int, nth: int, part: dict[str, Any] | None, taken: set[str],
        result: bool = False,
    ) -> str:  # fmt: skip
        """Return an id for a call by its number, and by what it says where that is known.

        A `result` that answers no call has one, too: it is numbered among those of its answer.
        """
        says = ("name", "arguments", "arguments_text", "input", "signature")
        content = [part.get(k) for k in says] if part is not None and self._content else ""
        place = f"{candidate}/result {nth}" if result else f"{candidate}/{nth}"
        return call_id(digest(self.text(), content), place, taken)


class Chain:
    """The seeds of a history: that of a message is made of it and of all that stood before."""

    def __init__(self, body: Any) -> None:
        self._body = body
        self._known: dict[At, list[str]] = {}  # by the list in which messages stand

    def at(self, at: At) -> str:
        """Return the seed of what stands at a place of the body."""
        depth = next((i for i, key in enumerate(at) if isinstance(key, int)), None)
        if depth is None:
            return digest(self._body)
        nth = int(at[depth])
        known = self._known.setdefault(at[:depth], [""])
        for item in value_at(self._body, at[:depth], [])[len(known) - 1 : nth + 1]:
            known.append(digest(known[-1], item))
        return known[min(nth + 1, len(known) - 1)]


def call_id(seed: str, place: str, taken: Container[str]) -> str:
    """Return an id for the call at a place, which no other call has."""
    turn = ""
    while (made := f"call_{digest(seed, place + turn)[:LENGTH]}") in taken:
        turn += "'"
    return made


def apart(
    candidates: list[dict[str, Any]], seed: Ids, before: Iterable[str] = ()
) -> list[tuple[dict[str, Any], str]]:
    """Give calls of an answer that have no id, or that of another call, ids of their own.

    `before` are the ids of earlier calls. Returns these calls, each with the id that it had.
    """
    found: list[tuple[dict[str, Any], str]] = []
    taken = set(before)
    for candidate, one in enumerate(candidates):
        nth = 0
        for part in one.get("parts", ()):
            if part.get("type") == "tool_call":
                old = part.get("id")
                if old == "" or old in taken:
                    found.append((part, old))
                    part["id"] = seed.call(candidate, nth, None, taken)
                taken.add(part.get("id", ""))
                nth += 1
    return found


def left_out(part: dict[str, Any], dialect: str, field: str) -> None:
    """Let a field that was made be left out again where the part came from."""
    for entry in part.get("spelled", {}).get(dialect, {}).values():
        if entry.get("made") == field:
            del entry["made"]
            entry["for"] = part[field]


def made_anew(part: dict[str, Any], dialect: str, field: str, value: str) -> None:
    """Give a field that was made, and is left out where the part came from, another value."""
    for entry in part.get("spelled", {}).get(dialect, {}).values():
        if entry.get("for") == part[field]:
            entry["for"] = value
    part[field] = value
