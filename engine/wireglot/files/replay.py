"""Logs: a file of events replayed into the messages that are there at its end."""

from __future__ import annotations

from typing import Any

from ..jsontext import copied
from ..language.documents import Log
from ..language.lenses import same
from ..trail import At, value_at

Found = tuple[Any, At]  # a message, and where it stands in the file


class Replay:
    """What a log says in the end: its head, its messages, and what it took back."""

    def __init__(self, log: Log, lines: list[Any], key: str) -> None:
        """Replay all lines; the messages of the head, if any, stand under `key`."""
        self._log, self._key = log, key
        self.head: dict[str, Any] = {}
        self.taken_back: list[At] = []  # messages that a later line took back
        self.no_objects: list[At] = []  # lines that are none, as one that was cut while written
        self.superseded: list[At] = []  # what a later line says anew, and which took what back
        self.places_of: dict[str, At] = {}  # where the keys of the head stand
        self._found: dict[Any, Found] = {}
        for i, line in enumerate(lines):
            if isinstance(line, dict):
                self._take(line, i)
            else:
                self.no_objects.append((i,))
        self.messages = [message for message, _ in self._found.values()]
        self.places = [place for _, place in self._found.values()]

    def _take(self, line: dict[str, Any], i: int) -> None:
        log = self._log
        if log.rewind in line:
            self.superseded.append((i, log.rewind))
            self._rewind(line[log.rewind])
        elif isinstance(line.get(log.set), dict):
            self._merge(line[log.set], (i, log.set))
        elif log.by in line:
            self._put(line, (i,))
        else:
            self._merge(line, (i,))

    def _put(self, message: Any, place: At) -> None:
        name = message.get(self._log.by) if isinstance(message, dict) else None
        # A message without a name of its own is never replaced.
        key = name if isinstance(name, str) else place
        self.superseded += [self._found[key][1]] if key in self._found else []
        self._found[key] = (message, place)

    def _merge(self, said: dict[str, Any], place: At) -> None:
        listed = said.get(self._key)
        for k in said.keys() - {self._key}:
            self.superseded += [self.places_of[k]] if k in self.places_of else []
            self.places_of[k] = (*place, k)
        self.head.update((k, v) for k, v in said.items() if k != self._key)
        if isinstance(listed, list):
            self.taken_back += [at for _, at in self._found.values()]
            self._found = {}
            for i, message in enumerate(listed):
                self._put(message, (*place, self._key, i))

    def _rewind(self, name: Any) -> None:
        names = list(self._found)
        keep = names.index(name) if name in names else 0
        for key in names[keep:]:
            self.taken_back.append(self._found.pop(key)[1])


def log_of(log: Log, head: dict[str, Any], messages: list[Any], before: list[Any], key: str) -> Any:
    """Return the lines of a log: those `before`, as far as they still hold, and what came since."""
    was = Replay(log, before, key)
    kept = len(was.messages)
    if not before or not same(was.messages, messages[:kept]) or was.head.keys() - head.keys():
        return [head, *messages] if head else messages  # an empty file says nothing
    fresh = {k: v for k, v in head.items() if k not in was.head or not same(v, was.head[k])}
    lines = _with_messages(before, was.places, messages)
    return [*lines, *messages[kept:], *([{log.set: fresh}] if fresh else [])]


def _with_messages(lines: list[Any], places: list[At], messages: list[Any]) -> list[Any]:
    """Return lines with the messages that were written where they had equal ones.

    Notes know the place of what was written, and not of what was remembered.
    """
    lines = [*lines]
    for number in {place[0] for place in places if len(place) > 1}:
        lines[number] = copied(lines[number])
    for place, message in zip(places, messages, strict=False):
        owner = value_at(lines, place[:-1]) if len(place) > 1 else lines
        _order_like(message, owner[place[-1]])
        owner[place[-1]] = message
    return lines


def _order_like(value: Any, before: Any) -> None:
    """Put the keys of a value in the order of another one, which is equal."""
    if isinstance(value, list):
        for inner, was in zip(value, before, strict=True):
            _order_like(inner, was)
    elif isinstance(value, dict) and value is not before:
        found = {**value}
        value.clear()
        for key, was in before.items():
            value[key] = found[key]
            _order_like(found[key], was)
