"""Halves of surrogate pairs: what a program of JavaScript writes where it cut a text in a sign.

JSON holds such a half as an escape, UTF-8 holds none, and providers refuse it. While a session is
read U+FFFD stands in its place; at home the text is put back as it was.
"""

from __future__ import annotations

import json
from typing import Any

from .. import jsontext
from ..errors import ConversionError
from ..interpreter.jobs import ReadJob, WriteJob
from ..interpreter.views import recalled
from ..payload import check_json
from ..trail import At, everywhere, value_at

HALVES = "halves"  # what a session remembers: places, each with the text as JSON
TOLD = "half of a surrogate pair stands alone in this text; U+FFFD stands in its place"
Cut = list[tuple[At, str]]  # texts that were cut in a sign, with their places


def checked(body: Any) -> tuple[Any, Cut]:
    """Return a body in which no text is cut in a sign, and the texts that were.

    Raises ConversionError for what else JSON cannot hold.
    """
    try:
        check_json(body)
    except ConversionError:
        body, cut = _with_whole_texts(body)
        check_json(body)
        return body, cut
    return body, []


def _with_whole_texts(body: Any) -> tuple[Any, Cut]:
    found: Cut = []
    for at, value in everywhere(body):
        deep = len(at) > jsontext.MAX_DEPTH  # which is refused for that
        if isinstance(value, str) and not deep and not jsontext.encodes(value):
            found.append((at, value))
    for at, text in found:
        body = _with(body, at, _whole(text))
    return body, found


def remember(reader: ReadJob, ir: Any, cut: Cut) -> None:
    """Note texts that were cut, and let the session remember them."""
    reader.notes += [("reworded", "changed", at, None, TOLD) for at, _ in cut]
    if cut and isinstance(ir, dict):
        reader.remember(ir, "", HALVES, [[[*at], json.dumps(text)] for at, text in cut])


def put_back(writer: WriteJob, ir: Any, wire: Any) -> Any:
    """Return what was written at home with the texts as they were, where they were not changed."""
    cut = recalled(writer, ir).get(HALVES) if writer.same and isinstance(ir, dict) else None
    for keys, told in cut or ():
        at, text = tuple(keys), json.loads(told)
        if value_at(wire, at) == _whole(text):
            wire = _with(wire, at, text)
    return wire


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _with(value: Any, at: At, leaf: Any) -> Any:
    """Return a value with another leaf; what holds it is copied."""
    if not at:
        return leaf
    new = value.copy()
    new[at[0]] = _with(value[at[0]], at[1:], leaf)
    return new
