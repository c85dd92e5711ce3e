"""What an API keeps of its answers, for a client that names it and does not send it again.

Another provider keeps nothing: the exchange remembers what it answered, and what was asked before
it, and puts that where a request names it. Only who keeps the state of the exchange has this.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..conversion import reading, writing
from ..errors import ConversionError
from ..language.held import Held
from ..language.lenses import same
from ..language.model import Stored
from ..notes import Note
from ..trail import keys_of, pointer

# Each an `id`, and the `item` of the client's wire; or, of an answer as a whole, which one it goes
# on from (`after`), and as its `item` the elements of what was asked and answered.
Items = list[dict[str, Any]]
Find = Callable[[list[str]], Items]  # gives what is kept under some ids


class Recalled(NamedTuple):
    """A request with what it names in its place.

    Attributes:
        body: The request.
        ahead: How many elements stand before those of the client.
        begun: What is kept of it once it is answered; None where nothing is wanted, or the client
            keeps it itself.
    """

    body: Any
    ahead: int = 0
    begun: dict[str, Any] | None = None


def recall(client: Held, body: Any, keeps: bool, find: Find) -> Recalled:
    """Put what a client's request names in its place; what is not known stays as it is.

    `keeps` says that the answer is kept, and so is what was asked.
    """
    stored = client.model.stored
    if stored is None or not isinstance(body, dict):
        return Recalled(body)
    given = body.get(stored.within)
    expanded = _with_references(stored, given, find) if isinstance(given, list) else given
    if expanded is not given:
        body = {**body, stored.within: expanded}
    name = body.get(stored.after)
    name = name if isinstance(name, str) else None
    before, first = _history_of(name, find)
    keeps = keeps and stored.after is not None
    keeps = keeps and (name is not None or not _client_resends(stored, expanded, find))
    if not before and not keeps:
        return Recalled(body)
    said = [] if expanded is None else expanded  # which an API may take in a short form, too
    listed = said if isinstance(said, list) else _wire_messages(client, {stored.within: said})
    if before:
        body = {**body, stored.within: [*before, *listed], stored.after: first}
        if first is None:
            del body[stored.after]
    return Recalled(body, len(before), {"after": name, "said": listed} if keeps else None)


def _wire_messages(client: Held, body: Any) -> list[Any]:
    """Return the messages of a request of a client as the elements of a list, system text apart."""
    read = reading.read(client, body, "request", None, None, {})
    said = [one for one in read.ir.get("messages") or [] if one.get("role") != "system"]
    read = reading.unread(said, read.trail)
    found: list[Any] = writing.write(client, read, "messages", True, {})[0]
    return found


def answer_items(stored: Stored | None, answer: Any, begun: dict[str, Any] | None) -> Items:
    """Return what an answer holds that a request may name, and the answer as a whole."""
    if stored is None:
        return []
    given = answer.get(stored.of)
    listed = given if isinstance(given, list) else []
    items: Items = []
    name = answer.get(stored.by)
    if begun is not None and isinstance(name, str):
        items.append({"id": name, "after": begun["after"], "item": [*begun["said"], *listed]})
    for one in listed:
        if isinstance(one, dict) and isinstance(one.get(stored.by), str):
            items.append({"id": one[stored.by], "item": one})
    return items


def may_be_kept(stored: Stored | None, body: Any) -> bool:
    """Tell whether a request lets its answer be kept, where requests may name one."""
    if stored is None or not isinstance(body, dict):
        return False
    return not any(k in body and same(body[k], value) for k, value in stored.unless.items())


def relocate_notes(stored: Stored | None, notes: Sequence[Note], ahead: int) -> Sequence[Note]:
    """Let notes say where in the request of the client something stands, or is named."""
    if not ahead:
        return notes
    return [note._replace(source_path=_own_path(stored, note.source_path, ahead)) for note in notes]


@contextlib.contextmanager
def relocating_errors(stored: Stored | None, ahead: int) -> Iterator[None]:
    """Let an error say where in the request of the client something stands, or is named."""
    try:
        yield
    except ConversionError as error:
        if not ahead:
            raise
        path = _own_path(stored, error.path, ahead) or ""
        raise ConversionError(error.reason, path, error.rule) from None


def _own_path(stored: Stored | None, path: str | None, ahead: int) -> str | None:
    keys = keys_of(path) if path else ()
    if stored is None or len(keys) < 2 or keys[0] != stored.within:
        return path
    nth = int(keys[1]) - ahead
    return pointer((stored.within, nth, *keys[2:]) if nth >= 0 else (stored.after,))


def _with_references(stored: Stored, listed: list[Any], find: Find) -> list[Any]:
    """Return a list with what its elements stand for in their place."""
    there = [(at, one[stored.by]) for at, one in enumerate(listed) if _refers(stored, one)]
    if not there:
        return listed
    found = find([name for _, name in there])
    known = {one["id"]: one["item"] for one in found if "after" not in one}
    told = [*listed]
    for at, name in there:
        told[at] = known.get(name, told[at])
    return told


def _refers(stored: Stored, one: Any) -> bool:
    """Tell whether an element stands for another one, which its id names."""
    if not stored.keys or not isinstance(one, dict) or not isinstance(one.get(stored.by), str):
        return False
    return same({**one, stored.by: None}, {**stored.keys, stored.by: None})


def _history_of(name: str | None, find: Find) -> tuple[list[Any], str | None]:
    """Return what was said up to an answer, and the name of the one before that is not known."""
    turns: list[list[Any]] = []
    known: dict[str, Items] = {}
    while name is not None:
        if name not in known:  # of one conversation all that is kept may be found at once
            new = [one for one in find([name]) if "after" in one and one["id"] not in known]
            for one in new:
                known.setdefault(one["id"], []).append(one)
        if not known.setdefault(name, []):
            break
        last = known[name].pop()  # a provider may give several answers one id
        turns.append(last["item"])
        name = last["after"]
    return [one for turn in reversed(turns) for one in turn], name


def _client_resends(stored: Stored, listed: Any, find: Find) -> bool:
    """Tell whether a client sends what it was answered, and so keeps the history itself."""
    ids = [one.get(stored.by) for one in listed if isinstance(one, dict)] if listed else []
    names = {name for name in ids if isinstance(name, str)}
    return bool(names) and any(one["id"] in names for one in find(sorted(names)))
