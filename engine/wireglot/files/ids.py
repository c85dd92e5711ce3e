"""Ids of a document: they sort as what they name stands, and stand in further places once more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..interpreter.jobs import ReadJob, WriteJob
from ..language.documents import Ids
from ..seeds import LENGTH, digest
from ..trail import At, value_at

MADE = "the target wants an id here that sorts behind the one before; it is made from its place"
REPEATS = "it repeats another value"


class Place(NamedTuple):
    """A place of an id: the path there, the object, the key; the id, and where it first stands."""

    path: tuple[str, ...]
    at: At
    owner: dict[str, Any]
    name: Any = None
    of: Place | None = None

    @property
    def key(self) -> str:
        return self.path[-1]


def places_at(value: Any, path: tuple[str, ...], rest: tuple[str, ...], at: At) -> Iterator[Place]:
    """Yield the places that a path reaches; `[]` behind a key goes through a list."""
    if not rest or not isinstance(value, dict):
        return
    head, inner = rest[0], rest[1:]
    if not inner:
        yield Place(path, (*at, head), value)
    elif head.endswith("[]"):
        found = value.get(head[:-2])
        for i, one in enumerate(found if isinstance(found, list) else ()):
            yield from places_at(one, path, inner, (*at, head[:-2], i))
    else:
        yield from places_at(value.get(head), path, inner, (*at, head))


def _made(ids: dict[str, Ids], messages: list[Any], key: str) -> Iterator[tuple[Ids, list[Place]]]:
    """Yield the ids that are made, each with all its places in their order."""
    for said in ids.values():
        if said.made is not None:
            each = (places_at(m, said.at, said.at, (key, i)) for i, m in enumerate(messages))
            yield said, [place for places in each for place in places]


def _repeated_places(
    ids: dict[str, Ids], whole: dict[str, Any], messages: list[Any], key: str, roles: list[str]
) -> Iterator[Place]:
    """Yield the places in which an id stands once more, with that id."""
    last = {who: _place_of(whole, said) for who, said in ids.items() if who == "session"}
    for i, message in enumerate(messages):
        last["message"] = _place_of(message, ids["message"]) if "message" in ids else None
        for who, said in ids.items():
            for path in said.again if who != roles[i] else ():
                of = last.get(who)
                for place in places_at(message, path, path, (key, i)):
                    yield place._replace(name=of and of.owner.get(of.key), of=of)
        last[roles[i]] = last["message"]


def _place_of(value: Any, said: Ids) -> Place | None:
    """Return the place of an id, as far as its object is there."""
    return next(places_at(value, said.at, said.at, ()), None)


def _numbered(said: Ids, places: list[Place]) -> Iterator[Place]:
    """Yield the places of an id that is a number, with the number that counts them."""
    if isinstance(said.made, int):
        yield from (place._replace(name=n) for n, place in enumerate(places, said.made))


def take_repeats(
    reader: ReadJob, ids: dict[str, Ids], whole: dict[str, Any], key: str, roles: list[str]
) -> tuple[dict[str, Any], list[str]]:
    """Draw out of a document what says an id again.

    Returns the paths, too, in which not each place has its id: these stay as they are.
    """
    messages = whole[key]
    own: list[Place] = []
    places = list(_repeated_places(ids, whole, messages, key, roles))
    for made, found in _made(ids, messages, key):
        own += found
        places += _numbered(made, found)
    loose = {place.path for place in (*places, *own) if place.key not in place.owner}
    gone: set[tuple[int, str]] = set()
    for place in places:
        said = place.owner.get(place.key)
        again = said is not None and said == place.name and said.__class__ is place.name.__class__
        if again and place.path not in loose:
            gone.add((id(place.owner), place.key))
            reader.mark_redundant(place.at, REPEATS, None)
    return {**whole, key: _without(messages, gone)}, sorted(".".join(path) for path in loose)


def _without(value: Any, gone: set[tuple[int, str]]) -> Any:
    if isinstance(value, list):
        return [_without(one, gone) for one in value]
    if not isinstance(value, dict):
        return value
    return {k: _without(one, gone) for k, one in value.items() if (id(value), k) not in gone}


def give_ids(
    writer: WriteJob, ids: dict[str, Ids], whole: dict[str, Any], key: str,
    roles: list[str], loose: list[str],
) -> None:  # fmt: skip
    """Make the ids that lack, and say them where they stand once more."""
    messages, session, told = whole[key], ids.get("session"), writer.recorder
    seed = digest(value_at(whole, session.at) if session and session.at else "")[:LENGTH]
    for said, places in _made(ids, messages, key) if messages else ():
        for place in _numbered(said, places):
            if ".".join(place.path) not in loose and place.key not in place.owner:
                place.owner[place.key] = place.name
                if told is not None:
                    told.made(place.owner, place.key, "it counts its place", said.pos)
        before, count = f"{said.made}{seed}", 0
        for place in places:
            if place.key in place.owner:  # so do all numbers
                before, count = str(place.owner[place.key]), 0
            elif ".".join(place.path) not in loose:
                count += 1
                place.owner[place.key] = f"{before}{count:06}"
                writer.note("made-id", "added", None, said.pos, MADE, place.owner, place.key)
                if told is not None:
                    told.made(place.owner, place.key, MADE, said.pos)
    for place in _repeated_places(ids, whole, messages, key, roles):
        lacks = place.key not in place.owner and ".".join(place.path) not in loose
        if place.of is not None and place.name is not None and lacks:
            place.owner[place.key] = place.name
            if told is not None:
                told.repeat(place.of.owner, place.of.key, place.owner, place.key)
