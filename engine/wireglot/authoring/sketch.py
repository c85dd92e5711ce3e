"""YAML as it is put down for people: short things in one line, questions behind `# ?`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .show import scalar

WIDTH = 96
SHORT = 84  # characters of a value of an example in one line
ASK = "# ?"  # before what only a person can say
Tree = dict[str, Any]  # of Say, lists of texts, and trees


class Say(NamedTuple):
    """A scalar of the draft, and what a person has to say of it."""

    text: str
    why: str = ""


def emit(tree: Tree, depth: int = 0) -> Iterator[str]:
    """Yield the lines of a tree as YAML."""
    indent = "  " * depth
    for key, value in tree.items():
        head = f"{indent}{scalar(key)}:"
        if isinstance(value, dict) and value:
            short = flow(value) if depth else None
            if short is not None and len(head) + len(short) < WIDTH:
                yield f"{head} {short}"
                continue
            yield head
            yield from emit(value, depth + 1)
        elif isinstance(value, dict):
            yield f"{head} {{}}"
        elif isinstance(value, list):
            yield f"{head} {flow(value)}"
        else:
            why = f"    {ASK} {value.why}" if value.why else ""
            yield f"{head} {value.text}{why}"


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
    """Yield the lines of an object or list: what is short stands in one line."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        item = not isinstance(value, dict)
        head, short = "-" if item else f"{scalar(key)}:", str(flow(inner))
        if len(head) + len(short) < SHORT or not isinstance(inner, dict | list) or not inner:
            yield f"{head} {short}"
        elif item:
            yield from listed(inner)
        else:
            yield head
            yield from (f"  {line}" for line in block(inner))
