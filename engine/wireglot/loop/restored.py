"""One turn of a history, and what was remembered of it, or rode with it, put back.

An entry finds its part by what it names (a call by its id, a text by size and digest), each part
once. A client may hold several texts as one, or one in pieces: these are taken apart, and together.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from typing import Any

from ..interpreter.views import means
from ..interpreter.within import share_citations
from ..ir import PARAGRAPH
from ..language.lenses import Misfit, parse_json
from ..language.model import Dialect
from ..trail import At, Trail
from . import names
from .memory import Entry, Part, content, digest, is_plain_text, whole_part

_TRIES = 32


class Restored:
    """The parts of one turn with what was remembered of them."""

    def __init__(
        self, parts: list[Part], provider: Dialect, trail: Trail, reads: Callable[[list[str]], bool]
    ) -> None:
        """Begin; `reads` tells whether the provider reads what models of these names signed."""
        self._parts, self._provider, self._trail, self._reads = parts, provider, trail, reads
        self.foreign: list[Part] = []  # parts whose signatures another model made
        self._pool = dict(enumerate(parts))  # those that nothing is put back into yet
        self._place = {id(part): index for index, part in enumerate(parts)}
        self._by_digest: dict[Any, deque[int]] | None = None
        self._calls: dict[Any, deque[int]] = {}  # by id; under nothing, all of them
        # What is left of the texts, and of the thoughts, each by its place.
        self._left: dict[str, dict[int, Part]] = {"text": {}, "reasoning": {}}
        self._tries = 0
        for index, part in enumerate(parts):
            kind = part.get("type", "")
            if kind == "tool_call":
                for key in ((), (part.get("id"),)):
                    self._calls.setdefault(key, deque()).append(index)
            elif kind in self._left:
                self._left[kind][index] = part
                # It may be looked at for many entries: all of them so often, and no more.
                self._tries += _TRIES * (len(part.get("text", "")) + 1)
        self._placed: list[tuple[Part, int | None]] = []
        self.calls: list[tuple[Part, Entry]] = []  # calls, and what they were for the provider

    def put(
        self, entry: Entry, element: Part | None = None, by_order: bool = False,
        at: At | None = None,
    ) -> bool:  # fmt: skip
        """Put back what an entry says, and tell whether there was something to put it into.

        `element` is the part that it rode on, if it did, and `at` where it rode; `by_order` says
        that calls have no ids by which they could be told apart.
        """
        kind = entry["type"]
        by_text = element is None and kind == "text"
        if element is not None:
            if not self._take(element):
                return False
        elif kind == "tool_call":
            element = self._take_first(self._calls.get(() if by_order else (entry["call"],)))
        elif by_text:
            element = self._take_text(entry)
        elif "digest" in entry:
            element = self._take_alike(entry)
        else:
            element = self._take_signed(entry) or self._add_whole(entry, at)
        if element is None:
            return False
        if kind == "tool_call":
            self.calls.append((element, entry))
        elif not by_text and "digest" in entry and digest(content(element)) != entry["digest"]:
            return False
        self._apply(element, entry)
        return True

    def parts(self) -> list[Part]:
        """Return all parts: those put back, and between them those that nothing is known of."""
        found = self._placed
        if not self._pool:
            return [part for part, _ in found]
        known = sorted((at, nth) for nth, (_, at) in enumerate(found) if at is not None)
        first = min((nth for _, nth in known), default=len(found))
        places = [at for at, _ in known]
        last = [-1, *itertools.accumulate((nth for _, nth in known), max)]  # of so many of them
        out = [(nth, 0, part) for nth, (part, _) in enumerate(found)]
        for index, part in self._pool.items():
            if is_plain_text(part, ("text", "reasoning")) and not part.get("text"):
                continue  # the last frame of a stream may hold a text of nothing
            behind = last[bisect_left(places, index)]
            out.append((first, -1, part) if behind < 0 else (behind, 1, part))
        return [part for _, _, part in sorted(out, key=lambda one: one[:2])]

    def _apply(self, element: Part, entry: Entry) -> None:
        read = "signature" not in entry or self._reads(entry.get("by", []))
        if "signature" in entry and read:
            origin = self._provider.origin["signature"]
            element["signature"] = {"value": entry["signature"], "origin": origin}
        elif not read:
            self.foreign.append(element)
            element.pop("signature", None)
            element.pop("own", None)  # with the id under which another model's is kept
            if element.get("redacted"):  # it is nothing without it
                self._placed = [one for one in self._placed if one[0] is not element]
        home = entry.get("home", {})
        if home and element["type"] == entry["type"]:
            spelled = {**element.get("spelled", {})}
            around = {key: home[key] for key in ("hole", "key") if key in home}
            own = {"case": home["case"]} if "case" in home else {}
            spelled[self._provider.name] = {"../": around, **({"": own} if own else {})}
            element["spelled"] = spelled
        if read and entry["type"] == "reasoning" and isinstance(entry.get("own"), dict):
            element["own"] = {**element.get("own", {}), **entry["own"]}
        if "name" in entry:
            element["name"] = entry["name"]
        if "arguments_json" in entry:
            self._set_arguments(element, entry["arguments_json"])

    def _set_arguments(self, call: Part, text: str) -> None:
        """Give a call the text that its arguments came as, if it still means them."""
        call["arguments_json"] = text
        if "arguments" in call and not means(text, call["arguments"]):
            del call["arguments_json"]
        if "input" not in call:
            return
        try:
            value = parse_json(text)
        except Misfit:
            value = None
        # A call in a form that its tool does not have: the input is all of what was said.
        if call["input"] == names.only_text(value, text):
            del call["input"]
            if isinstance(value, dict):
                call["arguments"] = value
            else:
                call["arguments_text"] = call.pop("arguments_json")

    def _take(self, element: Part) -> Part | None:
        """Take a part out of the pool; None if it is not there any more."""
        index = self._place.get(id(element))
        if index not in self._pool:
            return None
        self._remove([element])
        self._placed.append((element, index))
        return element

    def _take_first(self, known: deque[int] | None) -> Part | None:
        """Take the first of some parts that is left."""
        while known:
            part = self._take(self._parts[known.popleft()])
            if part is not None:
                return part
        return None

    def _take_alike(self, entry: Entry) -> Part | None:
        if self._by_digest is None:
            self._by_digest = {}
            for index, part in self._pool.items():
                if part.get("type") not in ("text", "tool_call"):
                    key = (part.get("type"), digest(content(part)))
                    self._by_digest.setdefault(key, deque()).append(index)
        return self._take_first(self._by_digest.get((entry["type"], entry["digest"])))

    def _take_text(self, entry: Entry) -> Part | None:
        size = entry["size"]
        for index, part in self._left["text"].items():
            held = [part] if len(part["text"]) == size else self._run_from(index, size)
            self._tries -= size + len(held)
            if self._tries < 0:
                return None
            text = "".join(str(piece["text"]) for piece in held)
            if digest(text[:size]) != entry["digest"]:
                continue
            if len(text) == size and len(held) == 1:
                return self._take(part)
            if size:
                # The client's format holds several texts as one, or its SDK one in pieces.
                first = {"type": "text", "text": text[:size]}
                self._trail.copy(part, first)
                self._remove(held if len(text) == size else held[:-1])
                self._split(held[-1], size, first)
                self._placed.append((first, index))
                return first
        if size or entry["digest"] != digest(""):
            return None
        empty: Part = {"type": "text", "text": ""}
        self._placed.append((empty, None))
        return empty

    def _split(self, text: Part, size: int, first: Part) -> None:
        """Leave of a text what goes on behind so many characters; what is cited goes with it."""
        said = text["text"]
        text["text"] = said[size:]
        spans = [(0, size), (size, len(said))]
        found = share_citations(text.pop("citations", None), spans, self._trail)
        for part, cited in zip((first, text), found, strict=True):
            part.update({"citations": cited} if cited else {})

    def _run_from(self, index: int, size: int) -> list[Part]:
        """Return a text, or a thought, and those behind it that it goes on in, until so long.

        A thought goes on behind a call: a provider that streams it there holds all of it as one.
        """
        held = [self._pool[index]]
        thought, length = held[0]["type"] == "reasoning", len(str(held[0].get("text", "")))
        goes_on = _unsigned if thought else is_plain_text
        for at in range(index + 1, len(self._parts)):
            part = self._pool.get(at)
            self._tries -= 1
            if part is None:
                continue
            if thought and part.get("type") != "reasoning":
                continue
            if length >= size or not (goes_on(held[0]) and goes_on(part)):
                break
            held.append(part)
            length += len(part["text"])
        return held

    def _remove(self, gone: list[Part]) -> None:
        for part in gone:
            index = self._place[id(part)]
            self._pool.pop(index, None)
            self._left.get(part.get("type", ""), {}).pop(index, None)

    def _take_signed(self, entry: Entry) -> Part | None:
        """Take the thought that the client holds with its signature, for it has a place for it."""
        sign = entry.get("signature")
        for part in self._left["reasoning"].values() if sign is not None else ():
            if (part.get("signature") or {}).get("value") == sign:
                return self._take(part)
        return None

    def _add_whole(self, entry: Entry, at: At | None) -> Part:
        part, place = whole_part(entry), None
        if at is not None:
            self._trail.put(part, None, at)
        if entry["type"] == "reasoning":
            place = self._drop_thought(str(entry.get("text", "")))
            if place is not None:
                self._trail.copy(self._parts[place], part)
        self._placed.append((part, place))
        return part

    def _drop_thought(self, text: str) -> int | None:
        """Take out the client's own form of a thought, in one piece or in several.

        Returns the place of the first part that went.
        """
        for index, part in self._left["reasoning"].items() if text else ():
            self._tries -= 1
            if self._tries < 0:
                return None
            own = str(part.get("text", ""))
            told = own.removeprefix(PARAGRAPH)  # of several that became one
            if not (_unsigned(part) and told and text.startswith(told[: len(text)])):
                continue
            size = len(own) - len(told)
            held = self._run_from(index, size + len(text))
            said = "".join(str(piece["text"]) for piece in held)[size:]
            if said.startswith(text):
                held[-1]["text"] = said[len(text) :]
                gone = held if len(said) == len(text) else held[:-1]
                self._remove(gone)
                self._by_digest = None
                return index if gone else None
        return None


def _unsigned(part: Part) -> bool:
    """Tell whether a part is a thought in words, which stands for nothing else."""
    signed = (part.get("signature") or {}).get("value") or "redacted" in part  # "" signs nothing
    return isinstance(part.get("text"), str) and not signed
