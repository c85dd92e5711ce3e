"""Documents: how a session is kept in a file, and its text as JSON values.

A document is one JSON value, or lines of JSON. In a list of lines a text stands for a line that is
no JSON object, as it is in the file, so that nothing of a file is lost.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .. import jsontext
from ..errors import ConversionError
from .source import Node, wrong

WORDS = ("text", "log", "tree", "message")
TEXTS = ("lines", "json")
LOG = ("replace-by", "set", "rewind")
TREE = ("id", "parent")


@dataclass(frozen=True, slots=True)
class Log:
    """A log of events: a line whose `by` was there replaces that line, and two keys with events."""

    by: str
    set: str
    rewind: str


@dataclass(frozen=True, slots=True)
class Tree:
    """Lines that name the line before them: the keys of the id and of the parent's id."""

    id: str
    parent: str


@dataclass(frozen=True, slots=True)
class Document:
    """What a rule file says of session files. The first text is written, each is read."""

    texts: tuple[str, ...]
    log: Log | None
    tree: Tree | None
    line: Node | None  # the picture around a message, with `$message` in it


def load(node: Node) -> Document:
    """Build the model of a `document`. Raises RuleError."""
    words = node.value if isinstance(node.value, dict) else {}
    for key, child in words.items():
        if key not in WORDS:
            raise wrong(f"`{key}` is no word of a `document`", node.keys.get(key, child.pos))
    said = texts(words["text"]) if "text" in words else ("json",)
    lines = said[0] == "lines"
    if not lines and ("log" in words or "tree" in words):
        raise wrong("a log and a tree are of lines", node.pos, "write `text: lines`")
    return Document(
        said,
        Log(*keys(words["log"], LOG)) if "log" in words else None,
        Tree(*keys(words["tree"], TREE)) if "tree" in words else None,
        line(words["message"]) if "message" in words else None,
    )


def texts(node: Node) -> tuple[str, ...]:
    """Read `lines (or json)`. Raises RuleError."""
    said = str(node.value).replace(" (or ", " ").removesuffix(")").split(" ")
    if not set(said) <= set(TEXTS) or len(set(said)) < len(said):
        raise wrong("`text` is `lines` or `json`", node.pos, "or both, as in `lines (or json)`")
    return tuple(said)


def keys(node: Node, known: tuple[str, ...]) -> list[str]:
    """Read the keys that a log or a tree names. Raises RuleError."""
    words = node.value if isinstance(node.value, dict) else {}
    found = [words[word].value if word in words else None for word in known]
    if len(words) != len(known) or not all(isinstance(name, str) and name for name in found):
        raise wrong(f"here stand {', '.join(known)}, and each names a key", node.pos)
    return [str(name) for name in found]


def line(node: Node) -> Node:
    """Read the picture around a message. Raises RuleError."""
    if not isinstance(node.value, dict) or _places(node) != 1:
        told = "a line is an object, with `$message` in one place"
        raise wrong(told, node.pos, "write `$message` where the message stands")
    return node


def _places(node: Node) -> int:
    if isinstance(node.value, dict):
        return sum(_places(child) for child in node.value.values())
    return int(node.value == "$message")


# -- text ---------------------------------------------------------------------------------------


def parsed(text: str, document: Document | None, key: str) -> Any:
    """Return the value of a file: a list of its lines, or the value that it is as a whole.

    A whole object that holds messages under `key` is no line. Raises ConversionError for a file of
    no JSON.
    """
    said = document.texts if document is not None else ("json",)
    try:
        whole = _json(text)
    except ValueError as error:
        if "lines" not in said:
            raise ConversionError(f"the file is no JSON: {error}") from None
    else:
        if "lines" not in said or ("json" in said and isinstance(whole, dict) and key in whole):
            return whole
    lines = [_line(line) for line in text.removesuffix("\n").split("\n")] if text.strip() else []
    if lines and not any(isinstance(line, dict) for line in lines):
        raise ConversionError("no line of the file is a JSON object")
    return lines


def _line(text: str) -> Any:
    try:
        value = _json(text)
    except ValueError:
        return text.removesuffix("\r")
    return value if isinstance(value, dict) else text.removesuffix("\r")


def _json(text: str) -> Any:
    return jsontext.parse(text)


def printed(body: Any, document: Document | None, indent: int | None = None) -> str:
    """Return the text of a file: a list of lines, or one JSON value."""
    if isinstance(body, list) and document is not None and "lines" in document.texts:
        lines = (line if isinstance(line, str) else jsontext.stringify(line) for line in body)
        return "".join(f"{line}\n" for line in lines)
    if indent is None:
        return jsontext.stringify(body) + "\n"
    return json.dumps(body, ensure_ascii=False, indent=indent) + "\n"
