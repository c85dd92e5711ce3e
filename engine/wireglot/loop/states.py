"""States: what is remembered of a conversation, and of many at once.

A state is JSON. States merge; and a store of them finds a conversation again by what returns. There
a turn lies under the ids of its calls, as its client has them, and under what it says, in its place
and anywhere; the place in the conversation tells it from one that says the same in another. So
nobody has to know which conversation a request belongs to, and requests that run at once add to it
and take nothing away.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import ConversionError, UsageError, mistyped
from ..jsontext import stringify
from ..payload import check_json, check_path
from . import carry, memory
from .shelves import Memory, Shelf

VERSION = 1  # of the form of a state
LIMIT = 1000  # turns, markers and names that a merged state holds
_MARKER = ("dialect", "call", "digest", "was")
KEPT = ("turns", "markers", "items")
State = dict[str, Any]


def opened_state(state: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a state to go on with; raises UsageError for what is none."""
    fresh: dict[str, Any] = {
        "version": VERSION, "models": [None, None], "asked": "", "unasked": [], "ids": [],
        "names": {}, "turns": [], "markers": [], "told": [], "items": [], "keeps": False,
        "begun": None,
    }  # fmt: skip
    if state is None:
        return fresh
    if not isinstance(state, Mapping):
        raise mistyped("`state` is what an exchange left in `.state`", state)
    version = state.get("version")
    if state and version != VERSION:
        said = f"`{version[:20]}`" if isinstance(version, str) else "no number"
        if isinstance(version, int) and abs(version) < 10**6:
            said = str(version)
        raise UsageError(
            f"this state is of version {said}, and version {VERSION} is known; "
            "begin with `state={}`"
        )
    try:
        kept = json.loads(json.dumps({**fresh, **state}))
        check_json(kept)
        asked, sent = kept["models"]
        right = (
            all(isinstance(name, str | None) for name in (asked, sent))
            and isinstance(kept["asked"], str)
            and all(isinstance(act, str) for act in kept["unasked"])
            and all(isinstance(name, str) for key in ("ids", "told") for name in kept[key])
            and all(carry.entries_valid(turn["parts"], False) for turn in kept["turns"])
            and all(isinstance(t[key], str) for t in kept["turns"] for key in ("origin", "says"))
            and all(isinstance(t.get("at", 0), int) for t in kept["turns"])
            and all(isinstance(t.get("after", []), list) for t in kept["turns"])
            and all(
                isinstance(text, str)
                for kinds in kept["names"].values()
                for known in kinds.values()
                for text in known.values()
            )
            and all(isinstance(m[k], str) for m in kept["markers"] for k in _MARKER)
            and all(isinstance(one["id"], str) and "item" in one for one in kept["items"])
            and all(_is_link(one, "item") for one in kept["items"] if "after" in one)
            and (kept["begun"] is None or _is_link(kept["begun"], "said"))
        )
    except (AttributeError, ConversionError, KeyError, TypeError, ValueError, RecursionError):
        right = False
    if not right:
        raise UsageError("`state` is not what an exchange left in `.state`; begin with `state={}`")
    return dict(kept)


def _is_link(one: dict[str, Any], key: str) -> bool:
    """Tell whether something says which answer it goes on from, and what was said."""
    return isinstance(one["after"], str | None) and isinstance(one[key], list)


def merge_states(*states: Mapping[str, Any], limit: int = LIMIT) -> State:
    """Return one state that knows what each of some states knows, of `limit` turns the newest.

    The order of the states makes no difference, nor does it how often one is given, or whether
    some of them were merged before. Raises UsageError for what is no state.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise UsageError("`limit` is a number of turns, at least 1")
    return _merged([opened_state(state) for state in states], limit)


def _merged(known: list[State], limit: int) -> State:
    out = opened_state(None)
    for key in KEPT:
        one = {_text(item): item for state in known for item in state[key]}
        ages = sorted((item.get("at", 0), text) for text, item in one.items())
        out[key] = [one[text] for _, text in ages[-limit:]]
    # Of the last requests that of the state with the newest turn counts.
    keys = ("models", "ids", "asked", "unasked", "told", "keeps", "begun")
    asked = ([newest(state), *(_text(state[key]) for key in keys)] for state in known)
    last = max(asked, default=None)
    if last is not None:
        out.update((key, json.loads(str(text))) for key, text in zip(keys, last[1:], strict=True))
    out["names"] = _merged_names(known, limit)
    return out


def newest(state: Mapping[str, Any]) -> int:
    """Return the number of the newest turn of a state."""
    return max((turn.get("at", 0) for turn in state["turns"]), default=0)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _merged_names(known: list[State], limit: int) -> dict[str, Any]:
    """Return what was written for names: where states differ, the first of the alphabet."""
    rows: dict[tuple[str, str, str], str] = {}
    for state in known:
        for dialect, kinds in state["names"].items():
            for kind, table in kinds.items():
                for name, written in table.items():
                    key = (dialect, kind, name)
                    rows[key] = min(written, rows.get(key, written))
    out: dict[str, Any] = {}
    for (dialect, kind, name), written in sorted(rows.items())[:limit]:
        out.setdefault(dialect, {}).setdefault(kind, {})[name] = written
    return out


def _state_of(records: list[Any]) -> State:
    """Return the state of all records of a store; raises UsageError where one is none."""
    if any(record["version"] != VERSION for record in records):
        raise UsageError("a record is of another version")
    kinds = {k: [item for one in records for item in one.get(k, ())] for k in KEPT}
    return opened_state({"version": VERSION, **kinds})


class States:
    """A store of states; `wireglot.exchange(..., state=states)` finds there what it needs.

    Conversations of one `scope` may know of each other: give each user one of his own.
    """

    def __init__(self, shelf: Shelf | None = None, scope: str = "") -> None:
        """Begin with a shelf; without one the records lie in memory."""
        if not isinstance(scope, str):
            raise mistyped("`scope` is a text", scope)
        self._shelf, self._scope = Memory() if shelf is None else shelf, scope

    @classmethod
    def of_file(cls, file: str | os.PathLike[str]) -> States:
        """Return a store whose records are in a file, which a restart and other processes find.

        Raises UsageError where the file cannot be opened, or holds something else.
        """
        from .database import Database

        check_path(file)
        return cls(Database(file))

    def of(self, scope: str) -> States:
        """Return the part of this store that is of one user; nothing is found from another."""
        return States(self._shelf, scope)

    def find(self, ids: Iterable[str], says: Iterable[str] = ()) -> State:
        """Return what is known of calls of these ids, and of turns that say so, as one state."""
        keys = self._keys(ids, says)
        records = list(self._shelf.get(keys)) if keys else []
        if not records:
            return opened_state(None)
        try:
            found = [_state_of([json.loads(record) for record in records])]
        except (AttributeError, LookupError, TypeError, ValueError):
            found = []  # one of them is not ours: each by itself
            for record in records:
                with contextlib.suppress(ValueError):  # as if it were not there
                    found.append(opened_state(json.loads(record)))
        return _merged(found, max(LIMIT, len(records)))

    def remember(
        self, turns: Iterable[Any] = (), markers: Iterable[Any] = (), items: Iterable[Any] = ()
    ) -> None:
        """Keep turns, markers and items of answers that an exchange has made."""
        for turn in turns:
            calls = [entry["call"] for entry in turn["parts"] if "call" in entry]
            says = memory.store_keys(turn["says"], turn.get("after", [""]))
            self._add("turns", turn, calls, says)
        for marker in markers:
            self._add("markers", marker, [marker["call"]], [])
        for item in items:
            self._add("items", item, [item["id"]], [])

    def _add(self, kind: str, item: Any, ids: Iterable[str], says: Iterable[str]) -> None:
        keys = self._keys(ids, says)
        if keys:
            self._shelf.add(keys, _text({"version": VERSION, kind: [item]}))

    def _keys(self, ids: Iterable[str], says: Iterable[str]) -> list[str]:
        named = [_key(self._scope, "call", name) for name in ids]
        return [*named, *(_key(self._scope, "says", said) for said in says)]


@functools.lru_cache(1 << 14)  # each request of a conversation asks for those of the one before
def _key(scope: str, kind: str, name: str) -> str:
    return memory.digest(stringify([scope, kind, name]), 32)
