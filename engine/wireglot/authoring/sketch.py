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
            yield f"{head} {_list(value)}"
        else:
            why = f"    {ASK} {value.why}" if value.why else ""
            yield f"{head} {value.text}{why}"


def flow(tree: Tree) -> str | None:
    """Return a tree in one line, or None where something is asked in it."""
    texts = []
    for key, value in tree.items():
        if isinstance(value, dict):
            text = flow(value)
        elif isinstance(value, list):
            text = _list(value)
        else:
            text = None if value.why else value.text
        if text is None:
            return None
        texts.append(f"{scalar(key)}: {text}")
    return "{" + ", ".join(texts) + "}"


def _list(value: list[Any]) -> str:
    """Return a list of texts and of trees in which nothing is asked, in one line."""
    inner = (flow(one) if isinstance(one, dict) else scalar(one) for one in value)
    return f"[{', '.join(map(str, inner))}]"


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
        head, short = "-" if item else f"{scalar(key)}:", of_json(inner)
        if len(head) + len(short) < SHORT or not isinstance(inner, dict | list) or not inner:
            yield f"{head} {short}"
        elif item:
            yield from listed(inner)
        else:
            yield head
            yield from (f"  {line}" for line in block(inner))


def of_json(value: Any) -> str:
    """Return a JSON value in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(k)}: {of_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(of_json, value)) + "]"
    plain = isinstance(value, str) and value.isprintable() and not {"'", "\\"} & {*value}
    return f"'{value}'" if plain and '"' in value else scalar(value)
