"""What is remembered of a turn that a provider took, and how it is put back into the history.

A turn is its provider (`origin`), what the client sees of it (`says`, `calls`), and one entry for
each part, in the order in which the provider sent them. An entry names an element that the client
has (a call by its id, a text by size and digest) with what the element lacks, or is the whole part.
"""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

from ..jsontext import stringify
from ..trail import Trail

Part = dict[str, Any]
Entry = dict[str, Any]

_BARE = {"role", "parts", "spelled"}  # the keys of a message that holds nothing but parts
_APART = ("spelled", "kept", "signature")


def digest(text: str) -> str:
    """Return a short fingerprint of a text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def says(parts: list[Part]) -> str:
    """Return the fingerprint of what a client sees of a turn; empty where it sees nothing."""
    text = "".join(p["text"] for p in parts if p.get("type") == "text")
    calls = [
        [p.get("name"), p.get("arguments", p.get("input", p.get("arguments_text")))]
        for p in parts
        if p.get("type") == "tool_call"
    ]
    return digest(stringify([text, _sorted(calls)])) if text or calls else ""


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


# -- making -----------------------------------------------------------------------------------


def of_call(part: Part, seen: Part, told: Any, made: bool, renamed: bool) -> tuple[Entry, bool]:
    """Return the entry of a call, and whether it says more than the client's own does.

    `seen` is the call as the client sees it, `told` the name that the provider gave; `made` says
    that the provider gave no id, `renamed` that the request will rename the client's name.
    """
    entry: Entry = {"type": "tool_call", "call": seen["id"]}
    if made:
        entry["id"] = None
    elif seen["id"] != part["id"]:
        entry["id"] = part["id"]
    if seen.get("name") != told and not renamed:
        entry["name"] = told
    text = part.get("arguments_json")
    if isinstance(text, str) and "arguments" in seen:
        if text != seen.get("arguments_json", stringify(seen["arguments"])):
            entry["arguments_json"] = text
    return entry, len(entry) > 2


def of_text(part: Part) -> Entry:
    """Return the entry of a text that the client sees."""
    return {"type": "text", "size": len(part["text"]), "digest": digest(part["text"])}


def of_alike(part: Part) -> Entry:
    """Return the entry of a part of another kind that the client sees."""
    return {"type": part["type"], "digest": digest(content(part))}


def content(part: Part) -> str:
    """Return what a part says, as text by which it is told from others."""
    said = part.get("text", part.get("source", part.get("own")))
    return said if isinstance(said, str) else stringify(_sorted(said))


def of_whole(part: Part) -> Entry:
    """Return the entry of a part that the client sees in another form, or not at all."""
    return {key: value for key, value in part.items() if key not in _APART}


# -- putting back -----------------------------------------------------------------------------


def rejoin(messages: list[Any], turns: list[dict[str, Any]]) -> None:
    """Make one message of neighbours that are one turn: a client may keep frames, each as one."""
    known = {turn["says"] for turn in turns}
    out: list[Any] = []
    for own, run in itertools.groupby(messages, lambda m: m.get("role") == "assistant"):
        found = list(run)
        plain = own and len(found) > 1 and all(m.keys() <= _BARE for m in found)
        parts = [part for message in found for part in message["parts"]] if plain else []
        if plain and says(parts) in known:
            out.append({**found[0], "parts": parts})
        else:
            out += found
    messages[:] = out


def _is_plain(part: Part) -> bool:
    """Tell whether a part is a text and nothing else."""
    return part.get("type") == "text" and part.keys() <= {"type", "text", "spelled"}


class Restored:
    """The parts of one turn with what was remembered of them."""

    def __init__(self, parts: list[Part], origin: str, trail: Trail) -> None:
        self._pool: list[tuple[int, Part]] = list(enumerate(parts))
        self._origin, self._trail = origin, trail
        self._found: list[tuple[Part, int | None]] = []
        self.calls: list[tuple[Part, Entry]] = []  # calls, and what they were for the provider

    def put(self, entry: Entry, element: Part | None = None, by_order: bool = False) -> None:
        """Put back what an entry says; `element` is the part that it rode on, if it did.

        `by_order` says that calls have no ids by which they could be told apart.
        """
        kind = entry["type"]
        if element is not None:
            self._take(element)
        elif kind == "tool_call":
            element = self._call(entry, by_order)
        elif kind == "text" and "digest" in entry:
            element = self._text(entry)
        elif "digest" in entry:
            element = self._alike(entry)
        else:
            element = self._whole(entry)
        if element is None:
            return
        if kind == "tool_call":
            self._says(element, entry)
            self.calls.append((element, entry))
        elif "digest" not in entry or digest(content(element)) == entry["digest"]:
            self._says(element, entry)

    def parts(self) -> list[Part]:
        """Return all parts: those put back, and between them those that nothing is known of."""
        out = list(self._found)
        for index, part in self._pool:
            if _is_plain(part) and not part["text"]:
                continue  # the last frame of a stream may hold a text of nothing
            before = [i for i, (_, at) in enumerate(out) if at is not None and at < index]
            after = [i for i, (_, at) in enumerate(out) if at is not None]
            out.insert(before[-1] + 1 if before else after[0] if after else len(out), (part, index))
        return [part for part, _ in out]

    def _says(self, element: Part, entry: Entry) -> None:
        if "signature" in entry:
            element["signature"] = {"value": entry["signature"], "origin": self._origin}
        for key in ("name", "arguments_json"):
            if key in entry:
                element[key] = entry[key]

    def _take(self, element: Part) -> Part:
        index = next(i for i, part in self._pool if part is element)
        self._pool = [pair for pair in self._pool if pair[1] is not element]
        self._found.append((element, index))
        return element

    def _call(self, entry: Entry, by_order: bool) -> Part | None:
        for _, part in self._pool:
            if part.get("type") == "tool_call" and (by_order or part.get("id") == entry["call"]):
                return self._take(part)
        return None

    def _alike(self, entry: Entry) -> Part | None:
        for _, part in self._pool:
            if part.get("type") == entry["type"] and digest(content(part)) == entry["digest"]:
                return self._take(part)
        return None

    def _text(self, entry: Entry) -> Part | None:
        size = entry["size"]
        for nth, (index, part) in enumerate(self._pool):
            if part.get("type") != "text":
                continue
            held = self._pieces(nth, size)
            text = "".join(str(piece["text"]) for piece in held)
            if digest(text[:size]) != entry["digest"]:
                continue
            if len(text) == size and len(held) == 1:
                return self._take(part)
            if size:
                # The client's format holds several texts as one, or its SDK one in pieces.
                first = {"type": "text", "text": text[:size]}
                self._trail.copy(part, first)
                gone = held if len(text) == size else held[:-1]
                held[-1]["text"] = text[size:]
                self._pool = [p for p in self._pool if not any(p[1] is one for one in gone)]
                self._found.append((first, index))
                return first
        if size:
            return None
        empty: Part = {"type": "text", "text": ""}
        self._found.append((empty, None))
        return empty

    def _pieces(self, nth: int, size: int) -> list[Part]:
        """Return a text, and those behind it that it goes on in, until they are so long."""
        held = [self._pool[nth][1]]
        length = len(str(held[0]["text"]))
        for _, part in self._pool[nth + 1 :]:
            if length >= size or not (_is_plain(held[0]) and _is_plain(part)):
                break
            held.append(part)
            length += len(part["text"])
        return held

    def _whole(self, entry: Entry) -> Part:
        whole = {k: v for k, v in entry.items() if k not in ("signature",)}
        place: int | None = None
        if entry["type"] == "reasoning":
            place = self._forget(str(entry.get("text", "")))
        self._found.append((whole, place))
        return whole

    def _forget(self, text: str) -> int | None:
        """Take out the client's own form of a thought, in one piece or in several.

        Returns the place of the first part that went.
        """
        held, left = [], text
        for _, part in self._pool:
            if part.get("type") != "reasoning" or "signature" in part or not left:
                continue
            own = str(part.get("text", ""))
            if own.startswith(left) or (own and left.startswith(own)):
                held.append(part)
                left = left[len(own) :]
            elif held:
                return None
        if held and not left:
            said = "".join(str(part["text"]) for part in held)
            held[-1]["text"] = said[len(text) :]
            gone = held if len(said) == len(text) else held[:-1]
            places = [p[0] for p in self._pool if any(p[1] is one for one in gone)]
            self._pool = [p for p in self._pool if not any(p[1] is one for one in gone)]
            return places[0] if places else None
        return None
