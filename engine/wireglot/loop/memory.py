"""What is remembered of a turn that a provider took, and how it is put back into the history.

A turn is its provider (`origin`), what the client sees of it (`says`, `calls`), and one entry for
each part, in the order in which the provider sent them. An entry names an element that the client
has (a call by its id, a text by size and digest) with what the element lacks, or is the whole part.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from typing import Any

from .. import seeds
from ..interpreter.sight import means
from ..jsontext import stringify
from ..language.lenses import Misfit, parse_json
from ..trail import Trail

Part = dict[str, Any]
Entry = dict[str, Any]

_BARE = {"role", "parts", "spelled"}  # the keys of a message that holds nothing but parts
_APART = ("spelled", "kept", "signature")
_TRIES = 32


def digest(text: str, size: int = 16) -> str:
    """Return a short fingerprint of a text."""
    return seeds.digest(text)[:size]


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
    if isinstance(text, str) and "input" in seen:
        entry["arguments_json"] = text  # a row of the ladder would write another
    elif isinstance(text, str) and "arguments" in seen:
        if text != seen.get("arguments_json", stringify(seen["arguments"])):
            entry["arguments_json"] = text
    return entry, len(entry) > 2


def of_seen(part: Part) -> Entry:
    """Return the entry of a part that the client sees: no call, and no thought."""
    if part["type"] == "text":
        return {"type": "text", "size": len(part["text"]), "digest": digest(part["text"])}
    return {"type": part["type"], "digest": digest(content(part))}


def content(part: Part) -> str:
    """Return what a part says, as text by which it is told from others."""
    said = part.get("text", part.get("source", part.get("own")))
    return said if isinstance(said, str) else stringify(_sorted(said))


def mark(part: Part) -> str:
    """Return what tells a part that rode whole again."""
    return f"{part['type']} {content(part)}"


def of_whole(part: Part) -> Entry:
    """Return the entry of a part that the client sees in another form, or not at all."""
    return {key: value for key, value in part.items() if key not in _APART}


def of_thought(part: Part, dialect: str) -> Entry:
    """Return the entry of reasoning, with how it stood on its wire."""
    memory = part.get("spelled", {}).get(dialect, {})
    around = memory.get("../", {})
    told = {
        **{key: around.get(key) for key in ("hole", "key")},
        "case": memory.get("", {}).get("case"),
    }
    home = {key: word for key, word in told.items() if isinstance(word, str)}
    return {**of_whole(part), **({"home": home} if home else {})}


def of_shown(part: Part, entry: Entry) -> Entry:
    """Return the entry of a thought that the client sees, with what it lacks."""
    told = ("signature", "by", "home", *(("own",) if "home" in entry else ()))
    said = {key: entry[key] for key in told if key in entry}
    return {"type": "reasoning", "digest": digest(str(part.get("text", ""))), **said}


# -- putting back -----------------------------------------------------------------------------


def rejoin(
    messages: list[Any], turns: list[dict[str, Any]], rides: Callable[[Part], bool] | None = None
) -> None:
    """Make one message of neighbours that are one turn: a client may keep frames, each as one.

    `rides` tells where something rides that was said of the whole turn.
    """
    if not turns and rides is None:
        return
    known = {turn["says"] for turn in turns}
    out: list[Any] = []
    for own, run in itertools.groupby(messages, lambda m: m.get("role") == "assistant"):
        found = list(run)
        plain = own and len(found) > 1 and all(m.keys() <= _BARE for m in found)
        parts = [part for message in found for part in message["parts"]] if plain else []
        if plain and (says(parts) in known or (rides is not None and any(map(rides, parts)))):
            found[0]["parts"] = parts
            del found[1:]
        out += found
    messages[:] = out


def without_blanks(messages: list[Any]) -> None:
    """Take out texts of nothing beside other parts: the last frame of a stream may hold one."""
    for message in messages:
        parts = message["parts"]
        if message.get("role") == "assistant" and len(parts) > 1:
            said = [p for p in parts if not _is_plain(p) or p["text"]] or parts[:1]
            message["parts"] = said if len(said) < len(parts) else parts


def _is_plain(part: Part, kinds: tuple[str, ...] = ("text",)) -> bool:
    """Tell whether a part is a text and nothing else."""
    return part.get("type") in kinds and part.keys() <= {"type", "text", "spelled"}


class Places:
    """Where each turn of a history stands: what tells it from one that says the same elsewhere.

    A place is two fingerprints: of all since the last calls that have ids, with these; and of what
    stands between the turn and the one before, with what that says. `end` is the place of the next.
    """

    def __init__(self, messages: list[Any], made: set[int]) -> None:
        """Go through a history; `made` are the calls that came without an id."""
        self._of: dict[int, tuple[list[str], list[Part], str]] = {}  # and what each says
        self.says: set[str] = set()  # what each turn says, by itself and with its neighbours
        chain = link = ""
        for own, run in itertools.groupby(messages, lambda m: m.get("role") == "assistant"):
            found = list(run)
            parts = [part for message in found for part in message["parts"]]
            if not own:
                told = [
                    _told(part) for m in found if m.get("role") != "system" for part in m["parts"]
                ]
                chain, link = digest(stringify([chain, told])), digest(stringify([link, told]))
                continue
            said = says(parts)
            self.says.add(said)
            for message in found:
                alone = said if len(found) == 1 else says(message["parts"])
                self._of[id(message)] = [chain, link], message["parts"], alone
                self.says.add(alone)
            calls = [p for p in parts if p.get("type") == "tool_call" and id(p) not in made]
            ids = sorted(str(part.get("id")) for part in calls)
            chain, link = digest(stringify(ids or [chain, said])), digest(said)
        self.end = [chain, link]

    def of(self, message: Any) -> tuple[list[str], str]:
        """Return the place of a turn, and what it says."""
        place, parts, said = self._of[id(message)]
        return place, said if parts is message["parts"] else says(message["parts"])


def _told(part: Part) -> Any:
    """Return of a part of the user's or a tool's what does not depend on how it was read."""
    value = part.get("value", part.get("text"))
    if isinstance(value, list):
        value = [block.get("text") if isinstance(block, dict) else block for block in value]
    return [part.get("type"), part.get("kind"), _sorted(value)]


class Turns:
    """The turns that are remembered, found by the ids of their calls or by what they say."""

    def __init__(self, turns: list[dict[str, Any]]) -> None:
        self._turns = turns
        self._of: dict[Any, deque[int]] = {}  # by id and what it says, by id alone, by that alone
        self._used: set[int] = set()
        for nth, turn in enumerate(turns):
            keys: dict[Any, None] = {("", turn["says"]): None}
            for entry in turn["parts"]:
                if "call" in entry:
                    keys[entry["call"], turn["says"]] = keys[(entry["call"],)] = None
            for key in keys:
                self._of.setdefault(key, deque()).append(nth)

    def match(
        self, message: Any, made: set[int], places: Places | None = None
    ) -> tuple[dict[str, Any] | None, bool]:
        """Return the turn that a message is, no message before was, and whether its ids are lost.

        `made` are calls that came without an id. With places, the turns are those of any
        conversation: they must stand there, or say the same and have the ids.
        """
        calls = [part for part in message["parts"] if part.get("type") == "tool_call"]
        ids = [part.get("id") for part in calls if id(part) not in made]
        if places is not None:
            place, said = places.of(message)
            found = self._best(ids, said, place)
        else:
            found = self._first(ids, message["parts"])
        if found is None:
            return None, not ids
        self._used.add(found)
        return self._turns[found], not ids

    def _best(self, ids: list[Any], said: str, place: list[str]) -> int | None:
        """Return the turn that stands in a place, or else is alike, and the only one."""
        keys: list[Any] = [(name,) for name in ids] or [("", said)] if ids or said else []
        ranks: dict[int, list[int]] = {}
        for nth in sorted({nth for key in keys for nth in self._of.get(key, ())} - self._used):
            turn = self._turns[nth]
            chain, link = (a == b for a, b in zip(turn.get("after", ("", "")), place, strict=False))
            alike = turn["says"] == said
            rank = 8 * chain + 4 * (link and alike) + 2 * link + (alike and bool(ids))
            if rank:
                ranks.setdefault(rank, []).append(nth)
        best = ranks[max(ranks)] if ranks else []
        one = max(ranks, default=0) >= 8 or len({str(self._turns[n]["parts"]) for n in best}) == 1
        return best[0] if one else None

    def _first(self, ids: list[Any], parts: list[Part]) -> int | None:
        """Return the first turn that has one of some ids, and says the same if one does; or that
        says the same where there are none."""
        named = [nth for name in ids if (nth := self._oldest((name,))) is not None]
        if ids and (not named or len(self._of.get((ids[0],), ())) == len(ids) == 1):
            return named[0] if named else None  # whatever it says
        said = says(parts)
        keys = [(name, said) for name in ids] or ([("", said)] if said else [])
        same = [nth for key in keys if (nth := self._oldest(key)) is not None]
        return min(same or named, default=None)

    def _oldest(self, key: Any) -> int | None:
        """Return the first turn under a key that is not used yet."""
        known = self._of.get(key, ())
        while known and known[0] in self._used:
            known.popleft()
        return known[0] if known else None


class Restored:
    """The parts of one turn with what was remembered of them."""

    def __init__(
        self, parts: list[Part], origin: str, trail: Trail, reads: Callable[[list[str]], bool]
    ) -> None:
        """Begin; `reads` tells whether the provider reads what models of these names signed."""
        self._parts, self._origin, self._trail, self._reads = parts, origin, trail, reads
        self.foreign: list[Part] = []  # parts whose signatures another model made
        self._pool = dict(enumerate(parts))  # those that nothing is put back into yet
        self._place = {id(part): index for index, part in enumerate(parts)}
        self._likes: dict[Any, deque[int]] | None = None
        self._calls: dict[Any, deque[int]] | None = None
        self._long: dict[str, dict[int, Part]] | None = None
        self._tries = 0
        self._found: list[tuple[Part, int | None]] = []
        self.calls: list[tuple[Part, Entry]] = []  # calls, and what they were for the provider

    def _of(self, kind: str) -> dict[int, Part]:
        """Return what is left of the texts, or of the thoughts, each by its place."""
        if self._long is None:
            self._long = {"text": {}, "reasoning": {}}
            for index, part in self._pool.items():
                if part.get("type") in self._long:
                    self._long[part["type"]][index] = part
                    # It may be looked at for many entries: all of them so often, and no more.
                    self._tries += _TRIES * (len(part.get("text", "")) + 1)
        return self._long[kind]

    def put(self, entry: Entry, element: Part | None = None, by_order: bool = False) -> bool:
        """Put back what an entry says, and tell whether there was something to put it into.

        `element` is the part that it rode on, if it did; `by_order` says that calls have no ids by
        which they could be told apart.
        """
        kind = entry["type"]
        by_text = element is None and kind == "text" and "digest" in entry
        if element is not None:
            if not self._take(element):
                return False
        elif kind == "tool_call":
            element = self._call(entry, by_order)
        elif by_text:
            element = self._text(entry)
        elif "digest" in entry:
            element = self._alike(entry)
        else:
            element = self._whole(entry)
        if element is None:
            return False
        if kind == "tool_call":
            self.calls.append((element, entry))
        elif not by_text and "digest" in entry and digest(content(element)) != entry["digest"]:
            return False
        self._says(element, entry)
        return True

    def parts(self) -> list[Part]:
        """Return all parts: those put back, and between them those that nothing is known of."""
        found = self._found
        known = sorted((at, nth) for nth, (_, at) in enumerate(found) if at is not None)
        first = min((nth for _, nth in known), default=len(found))
        places = [at for at, _ in known]
        last = [-1, *itertools.accumulate((nth for _, nth in known), max)]  # of so many of them
        out = [(nth, 0, part) for nth, (part, _) in enumerate(found)]
        for index, part in self._pool.items():
            if _is_plain(part, ("text", "reasoning")) and not part.get("text"):
                continue  # the last frame of a stream may hold a text of nothing
            behind = last[bisect_left(places, index)]
            out.append((first, -1, part) if behind < 0 else (behind, 1, part))
        return [part for _, _, part in sorted(out, key=lambda one: one[:2])]

    def _says(self, element: Part, entry: Entry) -> None:
        if "signature" in entry and self._reads(entry.get("by", [])):
            element["signature"] = {"value": entry["signature"], "origin": self._origin}
        elif "signature" in entry:
            self.foreign.append(element)
            if element.get("redacted"):  # it is nothing without it
                self._found = [one for one in self._found if one[0] is not element]
        home = entry.get("home", {})
        if home and element["type"] == entry["type"]:
            spelled = {**element.get("spelled", {})}
            around = {key: home[key] for key in ("hole", "key") if key in home}
            own = {"case": home["case"]} if "case" in home else {}
            spelled[self._origin] = {"../": around, **({"": own} if own else {})}
            element["spelled"] = spelled
        if home and isinstance(entry.get("own"), dict):
            element["own"] = {**element.get("own", {}), **entry["own"]}
        if "name" in entry:
            element["name"] = entry["name"]
        if "arguments_json" in entry:
            self._text_of(element, entry["arguments_json"])

    def _text_of(self, call: Part, text: str) -> None:
        """Give a call the text that its arguments came as, if it still means them."""
        call["arguments_json"] = text
        if "arguments" in call and not means(text, call["arguments"]):
            del call["arguments_json"]
        if call.get("input") == text:
            # A call in a form that its tool does not have: the text is all of what was said.
            del call["input"]
            try:
                value = parse_json(text)
            except Misfit:
                value = None
            if isinstance(value, dict):
                call["arguments"] = value
            else:
                call["arguments_text"] = call.pop("arguments_json")

    def _take(self, element: Part) -> Part | None:
        """Take a part out of the pool; None if it is not there any more."""
        index = self._place.get(id(element))
        if index not in self._pool:
            return None
        self._drop([element])
        self._found.append((element, index))
        return element

    def _next(self, known: deque[int] | None) -> Part | None:
        """Take the first of some parts that is left."""
        while known:
            part = self._take(self._parts[known.popleft()])
            if part is not None:
                return part
        return None

    def _call(self, entry: Entry, by_order: bool) -> Part | None:
        if self._calls is None:  # by id; under nothing, all of them
            self._calls = {}
            for index, part in enumerate(self._parts):
                if part.get("type") == "tool_call":
                    for key in ((), (part.get("id"),)):
                        self._calls.setdefault(key, deque()).append(index)
        return self._next(self._calls.get(() if by_order else (entry["call"],)))

    def _alike(self, entry: Entry) -> Part | None:
        if self._likes is None:
            self._likes = {}
            for index, part in self._pool.items():
                if part.get("type") not in ("text", "tool_call"):
                    key = (part.get("type"), digest(content(part)))
                    self._likes.setdefault(key, deque()).append(index)
        return self._next(self._likes.get((entry["type"], entry["digest"])))

    def _text(self, entry: Entry) -> Part | None:
        size = entry["size"]
        for index, part in self._of("text").items():
            held = [part] if len(part["text"]) == size else self._pieces(index, size)
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
                self._drop(held if len(text) == size else held[:-1])
                held[-1]["text"] = text[size:]
                self._found.append((first, index))
                return first
        if size or entry["digest"] != digest(""):
            return None
        empty: Part = {"type": "text", "text": ""}
        self._found.append((empty, None))
        return empty

    def _pieces(self, index: int, size: int) -> list[Part]:
        """Return a text, and those behind it that it goes on in, until they are so long."""
        held = [self._pool[index]]
        length = len(str(held[0]["text"]))
        for at in range(index + 1, len(self._parts)):
            part = self._pool.get(at)
            self._tries -= 1
            if part is None:
                continue
            if length >= size or not (_is_plain(held[0]) and _is_plain(part)):
                break
            held.append(part)
            length += len(part["text"])
        return held

    def _drop(self, gone: list[Part]) -> None:
        for part in gone:
            index = self._place[id(part)]
            self._pool.pop(index, None)
            if self._long is not None:
                self._long.get(part.get("type", ""), {}).pop(index, None)

    def _whole(self, entry: Entry) -> Part:
        whole = {k: v for k, v in entry.items() if k not in ("signature", "by", "home")}
        place: int | None = None
        if entry["type"] == "reasoning":
            place = self._forget(str(entry.get("text", "")))
        self._found.append((whole, place))
        return whole

    def _forget(self, text: str) -> int | None:
        """Take out the client's own form of a thought, in one piece or in several.

        Returns the place of the first part that went.
        """
        held: list[Part] = []
        left = text
        for part in self._of("reasoning").values():
            self._tries -= 1
            if self._tries < 0 or not left:
                break
            if "signature" in part:
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
            place = self._place[id(gone[0])] if gone else None
            self._drop(gone)
            self._likes = None
            return place
        return None
