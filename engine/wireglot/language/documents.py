"""Documents: how a session is kept in a file, and its text as JSON values.

A document is one JSON value, or lines of JSON. In a list of lines a text stands for a line that is
no JSON object, as it is in the file, so that nothing of a file is lost.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from .. import jsontext
from ..errors import ConversionError
from .drawn import spellings
from .source import Node, Pos


class Log(NamedTuple):
    """A log of events: a line whose `by` was there replaces that line, and two keys with events."""

    by: str
    set: str
    rewind: str


class Tree(NamedTuple):
    """Lines that name the line before them: the keys of the id and of the parent's id.

    A line with `leaf`, in which the words of `says` stand, names the end of the path, if `firm` is
    true of it although others go on from there; else the last line is it. `turn` and `beside` are
    keys of lines that stand on it though no line of it names them; `aside` is said of lines that
    are not its end. `keeps` are paths to what a summary says of the lines before it that are kept,
    and `after` to the line behind which they stand.
    """

    id: str
    parent: str
    leaf: str | None = None
    turn: tuple[str, ...] = ()
    beside: str | None = None
    aside: str | None = None
    pos: Pos | None = None
    keeps: tuple[tuple[str, ...], ...] = ()
    after: tuple[tuple[str, ...], ...] = ()
    says: tuple[tuple[str, Any], ...] = ()
    firm: str | None = None


class Ids(NamedTuple):
    """Ids of a document: the path of keys to each, what an id that is made begins with.

    Where this is a number the ids are numbers, in the order of what they name, from it on.
    `again` are paths to places within a message where the id stands once more.
    """

    at: tuple[str, ...]
    made: str | int | None
    again: tuple[tuple[str, ...], ...]
    pos: Pos


class Summary(NamedTuple):
    """A message that sums up what stands before the one that asked for it: paths to what it says.

    It is `said` to be one, and `whole`; `of` names the other, and `keeps` the first one that stays.
    """

    said: tuple[str, ...]
    id: tuple[str, ...]
    of: tuple[str, ...]
    whole: tuple[str, ...]
    keeps: tuple[str, ...]


class Undone(NamedTuple):
    """What is no longer said: as many `turns` as a line takes back, or all else where it `says` so.

    A turn begins with a message of the user, if no text `of` it is one of some globs. `first` is
    the path to the id of the first message that is gone.
    """

    turns: tuple[str, ...]
    of: tuple[str, ...]
    but: tuple[str, ...]
    says: tuple[tuple[str, Any], ...]
    first: tuple[str, ...]


class Document(NamedTuple):
    """What a rule file says of session files. The first text is written, each is read."""

    texts: tuple[str, ...]
    log: Log | None
    tree: Tree | None
    line: Node | None  # the picture around a message, with `$message` in it
    in_each: bool = False  # the keys of the head stand in each message, and not in a line
    again: tuple[tuple[str, Node], ...] = ()  # roles, and the line that says their text again
    ids: dict[str, Ids] | None = None  # of the session, a message, a part; a role: its last message
    instead: tuple[str, ...] = ()  # path to the messages that a line says instead of all before it
    summary: Summary | None = None
    undone: Undone | None = None


def load(node: Node) -> Document:
    """Build the model of a `document`, whose form is right."""
    said = node.plain()
    log, tree, again = said.get("log"), said.get("tree"), node.get("again")
    sums = said.get("summary", {})
    sums = {"whole": sums["said"], **sums} if sums else {}
    return Document(
        spellings(said.get("text", "json")),
        Log(log["replace-by"], log["set"], log["rewind"]) if log else None,
        _tree(node.value["tree"]) if tree else None,
        node.get("message"),
        said.get("head") == "in-each",
        tuple(again.value.items()) if again is not None else (),
        {k: _ids(one) for k, one in node.value["ids"].value.items()} if "ids" in said else None,
        _path(said, "instead"),
        Summary(*(_path(sums, word) for word in Summary._fields)) if sums else None,
        _undone(said["undone"]) if "undone" in said else None,
    )


def _path(said: dict[str, Any], word: str) -> tuple[str, ...]:
    """Return the keys of a path that a word names."""
    return tuple(said[word].split(".")) if word in said else ()


def _undone(said: dict[str, Any]) -> Undone:
    turns, of, first = (_path(said, word) for word in ("turns", "of", "first"))
    return Undone(
        turns, of, spellings(said.get("but", "")), tuple(said.get("says", {}).items()), first
    )


def _ids(node: Node) -> Ids:
    said = node.plain()
    again = tuple(tuple(path.split(".")) for path in said.get("again", ()))
    return Ids(_path(said, "at"), said.get("made"), again, node.pos)


def _tree(node: Node) -> Tree:
    said = node.plain()
    named, turn = (said["id"], said["parent"], said.get("leaf")), _path(said, "turn")
    aside = (said.get("beside"), said.get("aside"))
    ends = (tuple(said.get("says", {}).items()), said.get("firm"))
    return Tree(*named, turn, *aside, node.pos, _paths(said, "keeps"), _paths(said, "after"), *ends)


def _paths(said: dict[str, Any], word: str) -> tuple[tuple[str, ...], ...]:
    """Return the paths that a word names, each in the place of the one before."""
    return tuple(tuple(path.split(".")) for path in spellings(said[word])) if word in said else ()


# -- text ---------------------------------------------------------------------------------------


def parse_file(text: str, document: Document | None, key: str) -> Any:
    """Return the value of a file: a list of its lines, or the value that it is as a whole.

    A whole object that holds messages under `key` is no line. Raises ConversionError for a file of
    no JSON.
    """
    forms = document.texts if document is not None else ("json",)
    try:
        whole = jsontext.parse(text)
    except ValueError as error:
        if "lines" not in forms:
            raise ConversionError(f"the file is no JSON: {error}") from None
    else:
        listed = isinstance(whole, list) and all(isinstance(one, dict) for one in whole)
        if "lines" not in forms or ("json" in forms and isinstance(whole, dict) and key in whole):
            return whole
        if whole and listed:  # its reader says what this is, if these are no lines
            return whole
    texts = text.removesuffix("\n").split("\n") if text.strip() else []
    lines = [_parse_line(line) for line in texts]
    if lines and not any(isinstance(line, dict) for line in lines):
        raise ConversionError("no line of the file is a JSON object")
    return lines


def _parse_line(text: str) -> Any:
    try:
        value = jsontext.parse(text)
    except ValueError:
        return text.removesuffix("\r")
    return value if isinstance(value, dict) else text.removesuffix("\r")


def file_text(body: Any, document: Document | None, indent: int | None = None) -> str:
    """Return the text of a file: a list of lines, or one JSON value."""
    if isinstance(body, list) and document is not None and "lines" in document.texts:
        lines = (line if isinstance(line, str) else jsontext.stringify(line) for line in body)
        return "".join(f"{line}\n" for line in lines)
    if indent is None:
        return jsontext.stringify(body) + "\n"
    return jsontext.with_escapes(json.dumps(body, ensure_ascii=False, indent=indent)) + "\n"
