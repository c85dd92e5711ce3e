"""Wires: what is known of the HTTP around the bodies, read from a file beside the rules.

Which path is whose, where providers are, where a key stands, which headers go through. The file
says it (`rules/serve/wires.yaml`); here stands its form alone.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..language.source import Node, parse, wrong
from ..loading.shelf import packaged_folder

FILE = "serve/wires.yaml"
KEY, TOKENS, MODEL = "$key", "$tokens", "$model"  # what stands for something in the file
_PATH = re.compile(r"/(?:[\w.:/-]|\{model\})*")
_HEADER = re.compile(r"[a-z0-9-]+")
_NAME = re.compile(r"[a-z0-9-]+\*?")


class Route(NamedTuple):
    """A path of clients.

    Attributes:
        path: As the file says it; `{model}` stands for a name without a slash.
        method: Of HTTP.
        client: The dialect that is spoken there.
        stream: Whether a stream is asked for, where the path says it.
        answer: What is answered without asking a provider, as JSON; None: a provider is asked.
    """

    path: str
    method: str
    client: str
    stream: bool | None
    answer: Any

    def match(self, path: str) -> re.Match[str] | None:
        """Find out whether a path is this one."""
        return _pattern(self.path).fullmatch(path)


class Provider(NamedTuple):
    """Where a provider is, the headers that hold its key, and why it cannot be served."""

    url: str | None
    headers: dict[str, str]
    refused: str | None


class Wires(NamedTuple):
    """What the file says."""

    routes: tuple[Route, ...]
    unknown: str
    key_headers: dict[str, str]
    key_query: tuple[str, ...]
    home: tuple[str, ...]
    back: tuple[str, ...]
    alike: tuple[str, ...]
    providers: dict[str, Provider]
    otherwise: dict[str, str]
    demo: tuple[str, str]

    def provider(self, name: str) -> Provider:
        """Return what is known of a provider; of one that is not named, how it mostly is."""
        return self.providers.get(name) or Provider(None, self.otherwise, None)


@functools.cache
def packaged() -> Wires:
    """Return what the packaged file says. Raises RuleError."""
    with open(f"{packaged_folder()}/{FILE}", encoding="utf-8") as file:
        return read(file.read(), f"rules/{FILE}")


def read(text: str, file: str) -> Wires:
    """Read such a file. Raises RuleError with the place of what is wrong."""
    root = parse(text, file)
    needed = "wires paths unknown keys headers providers otherwise demo"
    said = _mapping(root, needed, needed)
    if said["wires"].value != 1:
        raise wrong("a file of wires begins with `wires: 1`", said["wires"].pos, text=text)
    keys = _mapping(said["keys"], "headers query", "headers query")
    names = _mapping(said["headers"], "home back alike", "home back alike")
    otherwise = _headers(_mapping(said["otherwise"], "headers", "headers")["headers"])
    demo = _mapping(said["demo"], "dialect model", "dialect model")
    return Wires(
        tuple(_route(path, node, said["paths"]) for path, node in _entries(said["paths"])),
        _text(said["unknown"]),
        _headers(keys["headers"]),
        tuple(map(_text, _list(keys["query"]))),
        _names(names["home"]),
        _names(names["back"]),
        _names(names["alike"]),
        {name: _provider(node, otherwise) for name, node in _entries(said["providers"])},
        otherwise,
        (_text(demo["dialect"]), _text(demo["model"])),
    )


def _route(path: str, node: Node, paths: Node) -> Route:
    if not _PATH.fullmatch(path) or path.count("{") > 1:
        help = "it begins with `/`, and `{model}` stands in it at most once"
        raise wrong(f"`{path}` is no path", paths.keys.get(path, node.pos), help)
    said = _mapping(node, "client method stream answer", "client")
    method = said.get("method")
    if method is not None and method.value not in ("GET", "POST"):
        raise wrong("`method` is GET or POST", method.pos)
    stream = said.get("stream")
    if stream is not None and not isinstance(stream.value, bool):
        raise wrong("`stream` is true or false: whether the path asks for one", stream.pos)
    answer = said.get("answer")
    return Route(
        path,
        str(method.value) if method is not None else "POST",
        _text(said["client"]),
        stream.value if stream is not None else None,
        answer.plain() if answer is not None else None,
    )


def _provider(node: Node, otherwise: dict[str, str]) -> Provider:
    said = _mapping(node, "url headers refused")
    url = said.get("url")
    if url is not None and not re.fullmatch(r"https?://[^\s/]+", _text(url)):
        help = "the path comes from the rule file"
        raise wrong("`url` is `https://HOST`, without a path", url.pos, help)
    headers, refused = said.get("headers"), said.get("refused")
    return Provider(
        _text(url) if url is not None else None,
        _headers(headers) if headers is not None else otherwise,
        _text(refused) if refused is not None else None,
    )


@functools.cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.escape(path).replace(r"\{model\}", r"(?P<model>[^/]+)"))


# -- forms -----------------------------------------------------------------------------------------


def _entries(node: Node) -> list[tuple[str, Node]]:
    if not isinstance(node.value, dict) or not node.value:
        raise wrong("a mapping stands here, which is not empty", node.pos)
    return list(node.value.items())


def _mapping(node: Node, words: str, needed: str = "") -> dict[str, Node]:
    """Return a mapping of some words."""
    found = dict(_entries(node))
    for word, child in found.items():
        if word not in words.split():
            help = ", ".join(words.split())
            raise wrong(f"`{word}` is no word here", node.keys.get(word, child.pos), help)
    for word in needed.split():
        if word not in found:
            raise wrong(f"`{word}` is missing", node.pos)
    return found


def _list(node: Node) -> list[Node]:
    if not isinstance(node.value, list):
        raise wrong("a list stands here", node.pos)
    return node.value


def _text(node: Node) -> str:
    if not isinstance(node.value, str) or not node.value:
        raise wrong("a text stands here", node.pos)
    return node.value


def _names(node: Node) -> tuple[str, ...]:
    """Return names of headers."""
    for one in _list(node):
        if not _NAME.fullmatch(_text(one)):
            help = "in small letters; `*` at the end stands for anything"
            raise wrong(f"`{one.value}` is no name of a header", one.pos, help)
    return tuple(map(_text, _list(node)))


def _headers(node: Node) -> dict[str, str]:
    """Return headers that hold a key."""
    for name, child in _entries(node):
        if not _HEADER.fullmatch(name):
            raise wrong(f"`{name}` is no name of a header in small letters", node.keys[name])
        if _text(child).count(KEY) != 1:
            raise wrong(f"`{KEY}` stands once in a header that holds the key", child.pos)
    return {name: _text(child) for name, child in _entries(node)}


def filled(value: Any, held: Mapping[str, Any]) -> Any:
    """Return JSON in which each text that is a key of `held`, or has one in it, is filled in."""
    if isinstance(value, dict):
        return {key: filled(inner, held) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, held) for inner in value]
    if not isinstance(value, str):
        return value
    if value in held:
        return held[value]
    for name, what in held.items():
        value = value.replace(name, str(what))
    return value
