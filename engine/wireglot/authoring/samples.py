"""What samples of an unknown API show: where its messages, parts, tools and calls stand.

Names tell where a dialect that is known uses the same ones; else values tell: a text that names a
tool of the list is in a call, one that stands in a call and again elsewhere is its id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..ir import PARTS
from ..trail import everywhere, leaves, value_at
from .vocabulary import Vocabulary, tokens

NAME = re.compile(r"[\w.-]{1,80}")
Path = tuple[str, ...]


class Group(NamedTuple):
    """Elements of one kind: the word that tells them, and which part of the IR they seem to be."""

    word: str
    elements: list[dict[str, Any]]
    kind: str | None


class MessageList(NamedTuple):
    """A list of messages: the keys of role and content, and who says what."""

    path: Path
    role: str
    content: str
    roles: dict[str, str]
    guessed: frozenset[str]
    bare: bool  # content may be one text
    beside: tuple[str, ...]  # further keys of messages, for which the draft has no place


class Samples:
    """What the samples of one API have in common."""

    def __init__(self, words: Vocabulary, samples: Iterable[tuple[str, Any]]) -> None:
        self.words = words
        self.bodies: dict[str, list[dict[str, Any]]] = {}
        for unit, body in samples:
            if isinstance(body, dict):
                self.bodies.setdefault(unit, []).append(body)
        requests = self.bodies.get("request", [])
        self.tools = self._tools(requests)
        self.names = set(self._names())
        self.talk = self._talk(requests)
        self.parts_at = self._parts_place(self.bodies.get("response", []))
        elements = list(self._elements(requests))
        for body in self.bodies.get("response", []):
            elements += self._response_parts(body)
        self.kind_key = _kind_key(elements)
        self.groups = self._groups(elements)

    # -- tools --------------------------------------------------------------------------------

    def _tools(self, bodies: list[dict[str, Any]]) -> tuple[Path, list[dict[str, Any]]] | None:
        found: dict[Path, list[dict[str, Any]]] = {}
        for body in bodies:
            for path, listed in object_lists(body):
                if all(holds_schema(one) for one in listed):
                    found.setdefault(path, []).extend(listed)
        return max(found.items(), key=lambda pair: len(pair[1]), default=None)

    def _names(self) -> Iterator[str]:
        """Yield the names of tools: they are words, and mostly under a key that others have."""
        for tool in self.tools[1] if self.tools else ():
            words = [
                (at[-1], value)
                for at, value in leaves(tool)
                if isinstance(value, str) and NAME.fullmatch(value) and not _in_schema(tool, at)
            ]
            named = [v for key, v in words if self.words.field("function", str(key), v)]
            yield from named[:1] or [value for _, value in words[:1]]

    # -- messages -----------------------------------------------------------------------------

    def _talk(self, bodies: list[dict[str, Any]]) -> MessageList | None:
        found = [one for body in bodies for one in object_lists(body)]
        for path, _ in sorted(found, key=lambda one: -sum(1 for _ in leaves(one[1]))):
            if self.tools is None or path != self.tools[0]:
                talk = self._talk_of(path, [m for b in bodies for m in objects_at(b, path)])
                if talk is not None:
                    return talk
        return None

    def _talk_of(self, path: Path, messages: list[dict[str, Any]]) -> MessageList | None:
        texts = [k for k in common_keys(messages) if all(isinstance(m[k], str) for m in messages)]
        known = [k for k in texts if any(m[k] in self.words.roles for m in messages)]
        few = [k for k in texts if all(NAME.fullmatch(m[k]) for m in messages)]
        role = next(iter([*(k for k in texts if tokens(k) == ("role",)), *known, *few]), None)
        contents = [k for m in messages for k, v in m.items() if k != role and is_content(v)]
        if role is None or not contents:
            return None
        content = max(set(contents), key=lambda k: (contents.count(k), k))
        said = [m[content] for m in messages if content in m]
        words = dict.fromkeys(m[role] for m in messages)
        roles = {word: self.words.roles.get(word, "") for word in words}
        guessed = frozenset(word for word in words if not roles[word])
        for word in guessed:
            roles[word] = self._role(word, role, content, messages)
        beside = dict.fromkeys(k for m in messages for k in m if k not in (role, content))
        bare = any(isinstance(v, str) for v in said)
        return MessageList(path, role, content, roles, guessed, bare, tuple(beside))

    def _role(self, word: str, role: str, content: str, messages: list[dict[str, Any]]) -> str:
        """Guess who speaks: who calls a tool is the assistant, the others are users."""
        mine = [m.get(content) for m in messages if m[role] == word]
        calls = any(value in self.names for _, value in leaves(mine))
        human = word.lower() in ("human", "person", "customer", "client")
        first = messages[0][role] == word
        return "assistant" if calls or not (human or first) else "user"

    # -- parts --------------------------------------------------------------------------------

    def _elements(self, bodies: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        if self.talk is not None:
            for message in (one for body in bodies for one in objects_at(body, self.talk.path)):
                yield from objects_at(message, (self.talk.content,))

    def _parts_place(self, bodies: list[dict[str, Any]]) -> tuple[Path, str | None] | None:
        """Return where a response holds its parts: the path of the candidate, and the key."""
        for body in bodies:
            for path, listed in object_lists(body):
                inner = next((k for k, v in listed[0].items() if is_content(v)), None)
                whole = inner is None or isinstance(listed[0][inner], str)
                return path, None if whole else inner
        return None

    def _response_parts(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if self.parts_at is None:
            return
        path, inner = self.parts_at
        for one in objects_at(body, path):
            yield from [one] if inner is None else objects_at(one, (inner,))

    def _groups(self, elements: list[dict[str, Any]]) -> list[Group]:
        by_word: dict[str, list[dict[str, Any]]] = {}
        for element in elements:
            word = str(element[self.kind_key]) if self.kind_key else "_".join(element)
            by_word.setdefault(word, []).append(element)
        calls = {word for word, some in by_word.items() if self._is_call(word, some)}
        self.ids = set(self._ids(by_word, calls))
        taken: set[str] = set()
        groups = []
        for word, some in by_word.items():
            kind = "tool_call" if word in calls else self._kind(word, some)
            kind = None if kind in taken else kind
            taken |= {kind} if kind else set()
            groups.append(Group(word, some, kind))
        return groups

    def _is_call(self, word: str, elements: list[dict[str, Any]]) -> bool:
        values = [value for one in elements for _, value in leaves(one)]
        if self.words.kinds.get(word) == "tool_call":
            return True
        key = sole_key(elements)
        inner = elements if key is None else [one[key] for one in elements]
        return any(isinstance(v, str) and v in self.names for v in values) and any(
            is_arguments(v) for one in inner for v in one.values()
        )

    def _ids(self, groups: dict[str, list[dict[str, Any]]], calls: set[str]) -> Iterator[str]:
        def texts(some: Iterable[str]) -> set[str]:
            listed = (e for word in some for e in groups[word])
            found = (v for one in listed for _, v in leaves(one) if isinstance(v, str))
            return {v for v in found if NAME.fullmatch(v) and v not in self.names}

        yield from texts(calls) & texts(groups.keys() - calls)

    def _kind(self, word: str, elements: list[dict[str, Any]]) -> str | None:
        leaves_of = [(a, v) for one in elements for a, v in leaves(one) if a != (self.kind_key,)]
        if any(isinstance(v, str) and v in self.ids for _, v in leaves_of):
            return "tool_result"
        if word in self.words.kinds and self.words.kinds[word] in PARTS:
            return self.words.kinds[word]
        if any(isinstance(v, str) and re.match(r"image/\w", v) for _, v in leaves_of):
            return "image"
        texts = {a for a, v in leaves_of if isinstance(v, str)}
        return "text" if len(texts) == 1 else None


def object_lists(body: Any) -> Iterator[tuple[Path, list[Any]]]:
    """Yield the lists of objects that stand in an object, not those within lists."""
    for at, value in everywhere(body):
        listed = isinstance(value, list) and value and all(isinstance(e, dict) for e in value)
        if listed and all(isinstance(step, str) for step in at):
            yield at, value


def objects_at(body: Any, path: Path) -> list[dict[str, Any]]:
    """Return the objects of the list that stands at a path of keys, or none."""
    body = value_at(body, path)
    return [one for one in body if isinstance(one, dict)] if isinstance(body, list) else []


def common_keys(elements: list[dict[str, Any]]) -> list[str]:
    """Return the keys that all elements have."""
    return [key for key in elements[0] if all(key in one for one in elements)] if elements else []


def is_schema(value: Any) -> bool:
    """Tell whether a value is a JSON Schema of arguments."""
    return isinstance(value, dict) and (
        isinstance(value.get("properties"), dict) or value.get("type") == "object"
    )


def holds_schema(value: Any, depth: int = 4) -> bool:
    """Tell whether an object holds a schema, itself or a few steps further in."""
    inner = [v for v in value.values() if isinstance(v, dict)] if isinstance(value, dict) else []
    return depth > 0 and any(is_schema(one) or holds_schema(one, depth - 1) for one in inner)


def sole_key(elements: list[dict[str, Any]]) -> str | None:
    """Return the only key of some elements where an object stands in it: `{call: {...}}`."""
    keys = {key for one in elements for key in one}
    only = next(iter(keys)) if len(keys) == 1 else None
    inside = only is not None and all(isinstance(one.get(only), dict) for one in elements)
    return only if inside else None


def is_content(value: Any) -> bool:
    """Tell whether a value may be what a message says."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) for one in value)
    return isinstance(value, str) and (" " in value or len(value) > 80)


def is_arguments(value: Any) -> bool:
    """Tell whether a value may be the arguments of a call: an object, or the JSON of one.

    An object with a role is a message.
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return isinstance(json.loads(value), dict)
        except ValueError:
            return False
    return isinstance(value, dict) and "role" not in value and not is_schema(value)


def _in_schema(tool: dict[str, Any], place: tuple[Any, ...]) -> bool:
    """Tell whether a place lies in the schema of a tool."""
    return any(is_schema(value_at(tool, place[:n])) for n in range(1, len(place)))


def _kind_key(elements: list[dict[str, Any]]) -> str | None:
    """Return the key whose word tells the kinds of elements apart, if there is one."""
    keys = [
        key
        for key in common_keys(elements)
        if all(isinstance(e[key], str) and NAME.fullmatch(e[key]) for e in elements)
    ]
    named = [key for key in keys if tokens(key)[-1:] in (("type",), ("kind",))]
    return next(iter([*named, *keys]), None)
