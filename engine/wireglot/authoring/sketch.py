"""YAML as it is put down for people: short things in one line, questions behind `# ?`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

WIDTH = 96  # characters of what stands in one line
ASK = "# ?"  # before what only a person can say
# A text that needs no quotes begins so, holds nothing of the second, and is none of the third.
_PLAIN = re.compile(r"[\w$/.(+^<=;-].*")
_MARKED = re.compile(r": |:$| #|^-( |$)| $")
_OTHER = re.compile(r"true|false|null|-?\d+(\.\d+)?([eE][+-]?\d+)?")
Tree = dict[str, Any]  # of Say, lists of texts, and trees


class Say(NamedTuple):
    """A scalar of the draft, and what a person has to say of it."""

    text: str
    why: str = ""


def flow(value: Any) -> str | None:
    """Return a tree, or a JSON value, in one line; None for a tree in which something is asked."""
    if isinstance(value, Say):
        return None if value.why else value.text
    if isinstance(value, dict):
        texts = {scalar(key): flow(inner) for key, inner in value.items()}
        asked = None in texts.values()
        return None if asked else f"{{{', '.join(f'{key}: {texts[key]}' for key in texts)}}}"
    if isinstance(value, list):
        return f"[{', '.join(str(flow(one)) for one in value)}]"
    plain = isinstance(value, str) and value.isprintable() and not {"'", "\\"} & {*value}
    return f"'{value}'" if plain and '"' in value else scalar(value)


def listed(said: Any) -> Iterator[str]:
    """Yield the lines of one example."""
    first = "- "
    for line in block(said):
        yield first + line
        first = "  "


def block(value: Any) -> Iterator[str]:
    """Yield the lines of a tree, or of a JSON object or list: what is short stands in one line."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        item = not isinstance(value, dict)
        head, short = "-" if item else f"{scalar(key)}:", flow(inner)
        if isinstance(inner, Say):
            yield f"{head} {inner.text}" + (f"    {ASK} {inner.why}" if inner.why else "")
        elif short is not None and (
            len(head) + len(short) < WIDTH or not isinstance(inner, dict | list) or not inner
        ):
            yield f"{head} {short}"
        elif item:
            yield from listed(inner)
        else:
            yield head
            yield from (f"  {line}" for line in block(inner))


def scalar(value: Any, within: bool = True) -> str:
    """Return a scalar as YAML that reads back as it; `within` brackets, more signs are special."""
    if not isinstance(value, str):
        return json.dumps(value)
    plain = _PLAIN.fullmatch(value) and not _MARKED.search(value) and value.isprintable()
    if plain and within:
        plain = not re.search(r"[,\[\]{}]", value)
    if plain and not _OTHER.fullmatch(value):
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else _escaped(c) for c in quoted)


def _escaped(sign: str) -> str:
    number = ord(sign)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
