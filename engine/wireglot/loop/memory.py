"""What is remembered of a turn that a provider took, and how the turn is found in a history.

A turn is its provider (`origin`), what the client sees of it (`says`, `calls`), and one entry for
each part, in the order in which the provider sent them. An entry names an element that the client
has (a call by its id, a text by size and digest) with what the element lacks, or is the whole part.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from .. import seeds
from ..ir import without_memory
from ..jsontext import stringify

Part = dict[str, Any]
Entry = dict[str, Any]

PAIRED = ("tool_call", "tool_result")  # parts that no turn takes back whole
_BARE = {"role", "parts", "spelled"}  # the keys of a message that holds nothing but parts


def digest(text: str, size: int = 16) -> str:
    """Return a short fingerprint of a text."""
    return seeds.digest(text)[:size]


def fingerprint(parts: list[Part]) -> str:
    """Return the fingerprint of what a client sees of a turn; empty where it sees nothing."""
    text = "".join(p["text"] for p in parts if p.get("type") == "text")
    calls = [
        [p.get("name"), p.get("arguments", p.get("input", p.get("arguments_text")))]
        for p in parts
        if p.get("type") == "tool_call"
    ]
    return digest(stringify([text, _sorted(calls)])) if text or calls else ""


def store_keys(said: str, place: Sequence[str]) -> tuple[str, ...]:
    """Return what a turn is found by that says something: this alone, and this in its place."""
    return (said, f"{said} {place[0]}") if said else ()


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


# -- making -----------------------------------------------------------------------------------


def call_entry(
    part: Part, seen: Part, name: Any, *, id_made: bool, renamed: bool
) -> tuple[Entry, bool]:
    """Return the entry of a call, and whether it says more than the client's own does.

    `seen` is the call as the client sees it, `name` the one that the provider gave; `id_made` says
    that the provider gave no id, `renamed` that the request will rename the client's name.
    """
    entry: Entry = {"type": "tool_call", "call": seen["id"]}
    if id_made:
        entry["id"] = None
    elif seen["id"] != part["id"]:
        entry["id"] = part["id"]
    if seen.get("name") != name and not renamed:
        entry["name"] = name
    text = part.get("arguments_json")
    if isinstance(text, str) and "input" in seen:
        entry["arguments_json"] = text  # a row of the ladder would write another
    elif isinstance(text, str) and "arguments" in seen:
        if text != seen.get("arguments_json", stringify(seen["arguments"])):
            entry["arguments_json"] = text
    return entry, len(entry) > 2


def seen_entry(part: Part) -> Entry:
    """Return the entry of a part that the client sees: no call, and no thought."""
    if part["type"] == "text":
        return {"type": "text", "size": len(part["text"]), "digest": digest(part["text"])}
    return {"type": part["type"], "digest": digest(content(part))}


def content(part: Part) -> str:
    """Return what a part says, as text by which it is told from others."""
    said = next((part[key] for key in ("text", "source", "arguments", "own") if key in part), None)
    return said if isinstance(said, str) else stringify(_sorted(said))


def whole_mark(part: Part) -> str:
    """Return what tells a part that rode whole again."""
    return f"{part['type']} {content(part)}"


def whole_entry(part: Part) -> Entry:
    """Return the entry of a part that the client sees in another form, or not at all.

    Of a text it says which one that was: nobody takes a whole one back.
    """
    if part["type"] == "text":
        return seen_entry(part)
    return without_memory(part, "signature")


def whole_part(entry: Entry) -> Part:
    """Return the part that an entry is as a whole, without what it says beside."""
    beside = ("signature", "by", "home", "of")
    return {key: value for key, value in entry.items() if key not in beside}


def thought_entry(part: Part, dialect: str) -> Entry:
    """Return the entry of reasoning, with how it stood on its wire."""
    memory = part.get("spelled", {}).get(dialect, {})
    around = memory.get("../", {})
    told = {key: around.get(key) for key in ("hole", "key")}
    told["case"] = memory.get("", {}).get("case")
    home = {key: word for key, word in told.items() if isinstance(word, str)}
    return {**whole_entry(part), **({"home": home} if home else {})}


def is_signed(entry: Entry) -> bool:
    """Tell whether an entry is of a thought that goes back with all of its turn, or not at all."""
    return entry["type"] == "reasoning" and "signature" in entry


def shown_thought(part: Part, entry: Entry) -> Entry:
    """Return the entry of a thought that the client sees, with what it lacks."""
    said: Entry = {key: entry[key] for key in ("signature", "by", "home", "own") if key in entry}
    return {"type": "reasoning", "digest": digest(str(part.get("text", ""))), **said}


# -- putting back -----------------------------------------------------------------------------


def rejoin(
    messages: list[Any], turns: list[dict[str, Any]], has_ride: Callable[[Part], bool] | None = None
) -> None:
    """Make one message of neighbours that are one turn: a client may keep frames, each as one.

    `rides` tells where something rides that was said of the whole turn.
    """
    if not turns and has_ride is None:
        return
    known = {turn["says"] for turn in turns}
    out: list[Any] = []
    for own, run in itertools.groupby(messages, lambda m: m.get("role") == "assistant"):
        run_messages = list(run)
        plain = own and len(run_messages) > 1 and all(m.keys() <= _BARE for m in run_messages)
        parts = [part for message in run_messages for part in message["parts"]] if plain else []
        ridden = has_ride is not None and any(map(has_ride, parts))
        # What stood between two turns may have been taken out.
        ridden = ridden and not any(fingerprint(m["parts"]) in known for m in run_messages)
        if plain and (ridden or fingerprint(parts) in known):
            run_messages[0]["parts"] = parts
            del run_messages[1:]
        out += run_messages
    messages[:] = out


def is_plain_text(part: Part, kinds: tuple[str, ...] = ("text",)) -> bool:
    """Tell whether a part is a text and nothing else."""
    return part.get("type") in kinds and part.keys() <= {"type", "text", "spelled"}


class TurnPlaces:
    """Where each turn of a history stands: what tells it from one that says the same elsewhere.

    A place is two fingerprints: of all since the last calls that have ids, with these; and of what
    stands between the turn and the one before, with what that says. `next_place` is that of the
    turn to come. Turns that have ids are found by these; `fingerprints` has the others, each alone
    and in its place.
    """

    def __init__(self, messages: list[Any], made: set[int]) -> None:
        """Go through a history; `made` are the calls that came without an id."""
        self._made = made
        self._of: dict[int, tuple[list[str], list[Part], str]] = {}  # and what each says
        self.fingerprints: set[str] = set()
        since, before, between = list[str](), list[Part](), list[Any]()
        for own, run in itertools.groupby(messages, lambda m: m.get("role") == "assistant"):
            found = list(run)
            if not own:
                between = found
                continue
            parts = [part for message in found for part in message["parts"]]
            ids, said = self._ids(parts), fingerprint(parts)
            place = _place_behind(since, before, between)
            if not ids:
                self.fingerprints.update(store_keys(said, place))
            for message in found:
                alone = said if len(found) == 1 else fingerprint(message["parts"])
                self._of[id(message)] = place, message["parts"], alone
                if not self._ids(message["parts"]):
                    self.fingerprints.update(store_keys(alone, place))
            since = ids or [place[0], said]
            before, between = parts, []
        self.next_place = _place_behind(since, before, between)

    def _ids(self, parts: list[Part]) -> list[str]:
        """Return the ids of calls that came with one."""
        calls = (p for p in parts if p.get("type") == "tool_call" and id(p) not in self._made)
        return sorted(str(part.get("id")) for part in calls)

    def place_of(self, message: Any) -> tuple[list[str], str]:
        """Return the place of a turn, and what it says."""
        place, parts, said = self._of[id(message)]
        return place, said if parts is message["parts"] else fingerprint(message["parts"])


def _place_behind(since: list[str], before: list[Part], between: list[Any]) -> list[str]:
    """Return a place: behind what its chain begins with, a turn, and messages of others."""
    chain, link = _hash_of(stringify(since) if since else ""), _hash_of(fingerprint(before))
    if between:
        others = (message for message in between if message.get("role") != "system")
        content = [_stable_content(part) for message in others for part in message["parts"]]
        text = stringify(content).encode("utf-8", "replace")
        chain.update(text)
        link.update(text)
    return [chain.hexdigest()[:16], link.hexdigest()[:16]]


def _hash_of(text: str) -> Any:
    """Return the fingerprint of a text, to which more is added."""
    import hashlib  # most processes remember nothing

    return hashlib.sha256(text.encode("utf-8", "replace"))


def _stable_content(part: Part) -> Any:
    """Return of a part of the user's or a tool's what does not depend on how it was read."""
    value = part.get("value", part.get("text"))
    if isinstance(value, list):
        value = [block.get("text") if isinstance(block, dict) else block for block in value]
    return [part.get("type"), part.get("kind"), _sorted(value)]


class Turns:
    """The turns that are remembered, found by the ids of their calls or by what they say."""

    def __init__(self, turns: list[dict[str, Any]]) -> None:
        self._turns = turns
        # By the id of a call with the fingerprint of the turn, and by each of these alone.
        self._by_key: dict[Any, deque[int]] = {}
        self._used: set[int | None] = set()
        self._claimed: dict[int, int] = {}  # by messages that say themselves which turn they are
        self._by_signature: dict[str, set[int]] = {}  # by their signatures
        self._fingerprints: dict[int, str] = {}  # what messages say, before anything is put back
        for nth, turn in enumerate(turns):
            keys: dict[Any, None] = {("", turn["says"]): None}
            for entry in turn["parts"]:
                if "call" in entry:
                    keys[entry["call"], turn["says"]] = keys[(entry["call"],)] = None
                if isinstance(name := entry.get("signature"), str):
                    keys["signature", name, turn["says"]] = None
                    self._by_signature.setdefault(name, set()).add(nth)
            for key in keys:
                self._by_key.setdefault(key, deque()).append(nth)

    def claim(self, message: Any, rode: list[Entry]) -> None:
        """Let no other message be the turn of which something rides in this one."""
        for entry in rode:
            name = entry.get("signature")
            turns = self._by_signature.get(name, ()) if isinstance(name, str) else ()
            nth = next(iter(turns), None)
            if len(turns) > 1:  # it is one that says the same
                nth = self._oldest(("signature", name, self._fingerprint(message)))
            if nth is not None and nth not in self._used:
                self._used.add(nth)
                self._claimed[id(message)] = nth
                return

    def match(
        self, message: Any, made: set[int], places: TurnPlaces | None = None
    ) -> tuple[dict[str, Any] | None, bool]:
        """Return the turn that a message is, no message before was, and whether its ids are lost.

        `made` are calls that came without an id. With places, the turns are those of any
        conversation: they must stand there, or say the same and have the ids.
        """
        calls = [part for part in message["parts"] if part.get("type") == "tool_call"]
        ids = [part.get("id") for part in calls if id(part) not in made]
        own = self._claimed.get(id(message))
        if own is not None and self._turns[own]["says"] == self._fingerprint(message):
            return self._turns[own], not ids
        self._used -= {own}  # it is edited
        if places is not None:
            place, said = places.place_of(message)
            found = self._best_in_place(ids, said, place)
        else:
            found = self._first_by_ids(ids, message)
        self._used |= {own} - {None}
        if found is None:
            return None, not ids
        self._used.add(found)
        return self._turns[found], not ids

    def _best_in_place(self, ids: list[Any], said: str, place: list[str]) -> int | None:
        """Return the turn that stands in a place, or else is alike, and the only one."""
        keys: list[Any] = [(name,) for name in ids] or [("", said)] if ids or said else []
        ranks: dict[int, list[int]] = {}
        for nth in sorted({nth for key in keys for nth in self._by_key.get(key, ())} - self._used):
            turn = self._turns[nth]
            chain, link = (a == b for a, b in zip(turn.get("after", ("", "")), place, strict=False))
            alike = turn["says"] == said
            rank = 8 * chain + 4 * (link and alike) + 2 * link + (alike and bool(ids))
            if rank:
                ranks.setdefault(rank, []).append(nth)
        best = ranks[max(ranks)] if ranks else []
        one = max(ranks, default=0) >= 8 or len({str(self._turns[n]["parts"]) for n in best}) == 1
        return best[0] if one else None

    def _fingerprint(self, message: Any) -> str:
        """Return what a message says, by which turns are found."""
        if id(message) not in self._fingerprints:
            self._fingerprints[id(message)] = fingerprint(message["parts"])
        return self._fingerprints[id(message)]

    def _first_by_ids(self, ids: list[Any], message: Any) -> int | None:
        """Return the first turn that has one of some ids, and says the same if one does; or that
        says the same where there are none."""
        named = [nth for name in ids if (nth := self._oldest((name,))) is not None]
        if ids and (not named or len(self._by_key.get((ids[0],), ())) == len(ids) == 1):
            return named[0] if named else None  # whatever it says
        said = self._fingerprint(message)
        keys = [(name, said) for name in ids] or ([("", said)] if said else [])
        same = [nth for key in keys if (nth := self._oldest(key)) is not None]
        return min(same or named, default=None)

    def _oldest(self, key: Any) -> int | None:
        """Return the first turn under a key that is not used yet."""
        known = self._by_key.get(key, ())
        while known and known[0] in self._used:
            known.popleft()
        return known[0] if known else None
