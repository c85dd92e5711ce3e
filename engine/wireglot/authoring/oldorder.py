"""`enforce` of version 1, a list of steps, in the words of version 2, a mapping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml

from ..loading.rulesources import beside
from .sketch import Say, flow


@cache
def version_1() -> dict[str, Any]:
    """Return the words of version 1, and what says the same now."""
    said: dict[str, Any] = beside("migrate/words.yaml")
    return said


def rewritten(
    talk: Any, text: str, whole: bool, inherited: set[str]
) -> Iterator[tuple[int, int, str]]:
    """Yield what stands in a conversation instead of its lists: start, end and text.

    `whole`: the list replaces one that it lies over. `inherited` are the words of an
    `enforce-also` of version 1 in what this lies over: another such list took them away.
    """
    found = {str(key.value): (key, value) for key, value in talk.value}
    lists = [found[word] for word in ("enforce", "enforce-also") if word in found]
    lists = [one for one in lists if isinstance(one[1], yaml.SequenceNode)]
    if not lists:
        return
    words: dict[str, Any] = {}
    comments: dict[str, str] = {}
    items = [item for _, node in lists for item in _items(node, text)]
    for said, comment in items:
        for word, value in _words(said, text):
            words[word] = _both(words.get(word), value)
            comments[word] = comments.get(word, "") + comment
    if "enforce" in found and not any("lift" in said for said, _ in items):
        words.pop("system", None)  # there was nothing to `leave`
    if "enforce-also" in found and "enforce" not in found:
        words |= dict.fromkeys(sorted(inherited - words.keys()), "$removed")
    key, node = lists[0]
    name = "enforce!" if whole and str(key.value) == "enforce" else "enforce"
    if not words or (node.flow_style and not any(comments.values())):
        made = f" {flow(words)}"
    else:
        gap = "\n" + " " * (key.start_mark.column + 2)
        told = {word: f"    {comment}" for word, comment in comments.items() if comment}
        made = "".join(f"{gap}{w}: {flow(v)}{told.get(w, '')}" for w, v in words.items())
    yield key.start_mark.index, _end(node), f"{name}:{made}"
    for key, node in lists[1:]:
        start = text.rfind("\n", 0, key.start_mark.index)
        yield max(start, 0), _end(node), ""


def _both(one: Any, two: Any) -> Any:
    """Return what two steps say by one word: lists and mappings grow, else the last counts."""
    if isinstance(one, dict) and isinstance(two, dict):
        if one.keys() & two.keys():
            raise ValueError("what is said twice")
        return one | two
    return [*one, *two] if isinstance(one, list) else two


def _end(node: Any) -> int:
    """Return where a node ends: a block as YAML has it reaches to what follows it."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)


def _items(node: Any, text: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each step as it stands: its words with their nodes, and the comment beside it."""
    for item in node.value:
        if isinstance(item, yaml.MappingNode):
            said = {str(key.value): value for key, value in item.value}
        else:
            said = {str(item.value): None}
        rest = text[_end(item) : text.find("\n", _end(item)) + 1 or None]
        comment = "" if node.flow_style else re.sub(r"^[^#]*", "", rest).rstrip()
        yield said, comment


def _words(said: dict[str, Any], text: str) -> Iterator[tuple[str, Any]]:
    """Yield the words of version 2 for one item, each with its value."""
    if "insert" in said:
        ((role, spoken),) = [(k.value, _source(v, text)) for k, v in said["insert"].value]
        if "between" in said:
            after, before = (one.value for one in said["between"].value)
            yield "turns", {"between": {role: spoken, "after": after, "before": before}}
        else:
            more = {"before": said["before"].value} if "before" in said else {}
            place = version_1()["places"].get(said["at"].value, "last")
            yield "turns", {place: {role: spoken, **more}}
        return
    for word, taken in said.items():
        if word in version_1()["texts"]:
            yield version_1()["texts"][word], _source(taken, text)
        elif word == "user-only":
            only = taken.value
            yield ("reasoning", "never") if only == "reasoning" else ("user-only", [only])
        else:
            yield from version_1()["steps"][word].items()


def _source(node: Any, text: str) -> Say:
    """Return a value as it stands in the text."""
    return Say(text[node.start_mark.index : node.end_mark.index].strip())
