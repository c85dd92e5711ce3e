"""What only a provider can read, riding through its client and back: where, and in which form.

Under the keys that `carry` of a rule file names stands `{"wireglot": {DIALECT: [entry, ...]}}`,
beside what else the dialect has in that object; where the key is a place for a signature, which is
text, the base64 of that.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from ..errors import ConversionError
from ..interpreter import admission
from ..interpreter.citations import candidates_of
from ..ir import field_type
from ..language.model import Dialect, once
from ..language.picture import Fields, Hole, Picture, keyed, placed
from ..payload import check_json
from ..trail import At, pointer, value_at
from .memory import PAIRED, Entry, whole_part

MARK = "wireglot"
_HEAD = base64.b64encode(b'{"wireglot":').decode()  # how each sealed text begins
_FACTS: dict[str, Any] = {
    **dict.fromkeys(("name", "arguments_json", "signature", "call", "digest"), str),
    "id": (str, type(None)),
    "size": int,
    "of": int,  # how many thoughts of its turn are signed, or were when it rode in a frame
    "by": list,  # the names of the model that signed
    "home": dict,  # how a part of this kind stood on the provider's wire
}
_HOME = frozenset(("hole", "key", "case"))
_SAID, _OF_TEXT = frozenset(("type", "text")), frozenset(("size", "digest"))
_OF_CALL, _FINDS = frozenset(("call", "here")), frozenset(("here", "digest"))

Ride = dict[str, list[Entry]]


@once
def _pictures(dialect: Dialect, kind: str) -> tuple[Picture, ...]:
    """Return what the pictures of a kind have where state rides."""
    named = dialect.shapes.items()
    shapes = [s for name, s in named if kind in dialect.kinds_of(name) or kind in s.groups]
    keys = (key for shape in shapes for case in shape.cases for key in keyed(case.wire))
    return tuple(p for names, p in keys if dialect.carry.get(kind) in names)


@once
def _signatures(dialect: Dialect, kind: str) -> tuple[Hole, ...]:
    """Return the holes for signatures of the dialect's own that stand where state rides."""
    found = _pictures(dialect, kind)
    return tuple(p for p in found if isinstance(p, Hole) and p.path == "signature")


def _takes_object(hole: Hole) -> bool:
    plain = not hole.lenses and hole.mode is None and len(hole.paths) == 1
    return plain and field_type("", hole.path) in ("object", "any")


def is_open(dialect: Dialect, kind: str) -> bool:
    """Tell whether the place is an object that may hold keys that no picture names."""
    return all(
        _takes_object(p) if isinstance(p, Hole) else isinstance(p, Fields) and not p.closed
        for p in _pictures(dialect, kind)
    )


def is_text(dialect: Dialect, kind: str) -> bool:
    """Tell whether state rides in a text, because a signature of the dialect's own stands there."""
    return bool(_signatures(dialect, kind))


def must_ride(dialect: Dialect, kind: str) -> bool:
    """Tell whether an element of a kind cannot be without a signature."""
    found = _signatures(dialect, kind)
    return bool(found) and all(hole.mark is None for hole in found)


@once
def is_around(dialect: Dialect, kind: str) -> bool:
    """Tell whether the place is that of a run, around the elements of the kind."""
    return any(
        dialect.carry.get(kind) in case.wire.names
        for shape in dialect.shapes.values()
        for case in shape.cases
        if kind in shape.groups and isinstance(case.wire, Fields)
    )


def ride_wire(dialect: Dialect, kind: str, ride: Ride, there: Any = None) -> Any:
    """Return what stands in the place of `there` for what rides on an element of a kind."""
    if not is_text(dialect, kind):
        return {**(there if isinstance(there, dict) else {}), MARK: ride}
    text = json.dumps({MARK: ride}, ensure_ascii=True, separators=(",", ":"))
    return base64.b64encode(text.encode()).decode()


@once
def comes_back(dialect: Dialect, kind: str) -> bool:
    """Tell whether messages that a client sends have a place for what an answer tells of a part."""
    told, said = (
        {h.named for case in cases for h in case.lists.get("parts", ())}
        for cases in (candidates_of(dialect), dialect.message_cases)
    )
    if any(kind in dialect.kinds_of(name) for name in said):
        return True
    return not any(kind in dialect.kinds_of(name) for name in told)


def comes_in_pieces(dialect: Dialect) -> bool:
    """Tell whether a client of a dialect may hold one text of a stream as several."""
    text = dialect.stream.get("append", "text", "text") if dialect.stream is not None else None
    return text is not None and text.listed


def has_sealed_ride(part: dict[str, Any]) -> bool:
    """Tell whether something rides in the place of a part's signature."""
    state = part.get("signature")
    return isinstance(state, dict) and str(state.get("value")).startswith(_HEAD)


class Seat:
    """Where state rides in one kind of what is read of a dialect: parts of a type, or messages."""

    def __init__(self, dialect: Dialect, kind: str, key: str) -> None:
        self._dialect, self._family, self._key = dialect.name, dialect.family, key
        self._signer = dialect.origin["signature"]
        self._is_signature = kind != "message" and is_text(dialect, kind)
        self._inner, self._outer = pointer((key, MARK)), pointer((key,))
        found = _pictures(dialect, kind)
        paths = (p.path for p in found if isinstance(p, Hole) and _takes_object(p))
        # Fields of the IR that hold the object in which it rides: of `own`, or of the element.
        self._fields = [(bool(group), f) for group, _, f in (p.rpartition(".") for p in paths)]

    def take(self, owner: dict[str, Any]) -> tuple[Ride, At]:
        """Take what rides out of a part or message, so that nobody is sent it.

        Returns it, and where it stood within the element.
        """
        if self._is_signature:
            state = owner.get("signature")
            if not isinstance(state, dict) or state.get("origin") != self._signer:
                return {}, ()
            ride = valid_ride(unsealed(state.get("value")))
            if ride:
                del owner["signature"]
            return ride, (self._key,)
        kept = owner.get("kept", {}).get(self._dialect, {})
        ride = valid_ride(kept.get(self._inner))
        if ride:  # a picture names keys of the object, and this was none of them
            del kept[self._inner]
        else:
            ride = _take_from(kept, self._outer)
        if ride and not kept:  # what keeps nothing more is as it was without
            del owner["kept"][self._dialect]
            if not owner["kept"]:
                del owner["kept"]
        for own, field in self._fields:
            if not ride:
                box = owner.get("own", {}).get(self._family, {}) if own else owner
                ride = _take_from(box, field)
        return (ride, (self._key, MARK)) if ride else ({}, ())


def _take_from(box: dict[str, Any], name: str) -> Ride:
    """Take what rides out of an object that stands under a name, which goes if it is empty."""
    value = box.get(name)
    if not isinstance(value, dict):
        return {}
    ride = valid_ride(value.get(MARK))
    if ride:
        box[name] = {k: v for k, v in value.items() if k != MARK}
        if not box[name]:
            del box[name]
    return ride


@once
def seats(dialect: Dialect) -> dict[Any, Seat]:
    """Return by kind where state rides in what is read of a dialect."""
    return {kind: Seat(dialect, kind, key) for kind, key in dialect.carry.items()}


def may_ride(text: str) -> bool:
    """Tell whether anything of a request looks as if it rode there; `text` is its JSON."""
    return f'"{MARK}"' in text or f'"{_HEAD}' in text


def unsealed(text: Any) -> Any:
    """Return what a text holds that rides in the place of a signature, or None."""
    if not isinstance(text, str) or not text.startswith(_HEAD):
        return None
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        found = json.loads(base64.b64decode(plain + "=" * (-len(plain) % 4)))[MARK]
        check_json(found)  # what does not ride in a text was looked at with the body
    except (binascii.Error, ValueError, RecursionError, KeyError, TypeError, ConversionError):
        return None
    return found


def valid_ride(ride: Any) -> Ride:
    """Return what rides if it is as it was written, else nothing: a client may say anything."""
    if not isinstance(ride, dict):
        return {}
    return ride if all(entries_valid(entries) for entries in ride.values()) else {}


def entries_valid(entries: Any, rides: bool = True) -> bool:
    """Tell whether entries are such as `memory` makes; only then are they used.

    Those that do not ride stand on nothing.
    """
    if not isinstance(entries, list) or not entries:
        return False
    return all(_entry_valid(entry, rides) for entry in entries)


def _entry_valid(entry: Any, rides: bool) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        return False
    for key, value in entry.items():
        if key in _FACTS and not isinstance(value, _FACTS[key]):
            return False
    keys = entry.keys()
    if entry.get("size", 0) < 0 or not all(isinstance(name, str) for name in entry.get("by", ())):
        return False
    home = entry.get("home")
    if home and (home.keys() - _HOME or not all(isinstance(word, str) for word in home.values())):
        return False
    if entry["type"] == "text" and not keys >= _OF_TEXT:
        return False
    if not rides and "here" in entry:
        return False
    if entry["type"] == "tool_call":
        return not keys.isdisjoint(_OF_CALL)
    return not keys.isdisjoint(_FINDS) or _whole_valid(entry)


def _whole_valid(entry: Entry) -> bool:
    """Tell whether an entry that names no part is one that may stand in a turn."""
    part = whole_part(entry)
    if part.keys() == _SAID and part["type"] == "reasoning" and isinstance(part["text"], str):
        return True  # most are
    try:
        admission.check([{"role": "assistant", "parts": [part]}], "messages")
    except ConversionError:
        return False
    return part["type"] not in PAIRED


def message_object(dialect: Dialect, wire: Any) -> Any:
    """Return the object of a written candidate in which its message stands, or None."""
    found = (object_beside(case.wire, wire, "parts") for case in candidates_of(dialect))
    return next((one for one in found if one is not None), None)


def object_beside(picture: Picture, wire: Any, path: str) -> dict[str, Any] | None:
    """Return the object of what a picture wrote in which the value of a path stands."""
    for at, p in placed(picture):
        if at and isinstance(p, Hole) and p.path == path:
            owner = value_at(wire, [0 if key == "[]" else key for key in at[:-1]])
            if isinstance(owner, dict) and at[-1] in owner:
                return owner
    return None
