"""`enforce` of version 1, a list of steps, in the words of version 2, a mapping."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

# A step of version 1, and the word and value that say it now; a value in [ ] is one of a list.
STEPS = {
    "answer-next": ("results", "[next]"),
    "order-results-by-calls": ("results", "[in-order]"),
    "put-first": ("results", "[first]"),
    "no-blank": ("text", "not-blank"),
    "no-empty-text": ("text", "not-empty"),
    "narrow-tools": ("tools", "[narrowed]"),
    "lift": ("system", "lifted"),
    "leave": ("system", "lifted-from-others"),
    "this-turn": ("reasoning", "this-turn"),
    "thought-beside": ("beside", '{tool_call: {reasoning: ""}}'),
    "signed": ("calls", "[signed]"),
    "alternate": ("turns", "alternate: true"),
    "no-empty": None,  # goes without saying
}
TEXTS = {"pair": "unanswered", "some-message": "if-empty", "strict": "strict"}
PLACES = {"start": "first", "end": "last"}


def rewritten(
    talk: Any, text: str, whole: bool, inherited: Callable[[], set[str]]
) -> Iterator[tuple[int, int, str]]:
    """Yield what stands in a conversation instead of its lists: start, end and text.

    `whole`: the list replaces one that it lies over. `inherited` tells which words of an
    `enforce-also` of version 1 stand in what this lies over: another such list took them away.
    """
    found = {str(key.value): (key, value) for key, value in talk.value}
    lists = [found[word] for word in ("enforce", "enforce-also") if word in found]
    lists = [one for one in lists if isinstance(one[1], yaml.SequenceNode)]
    if not lists:
        return
    words: dict[str, list[str]] = {}
    comments: dict[str, str] = {}
    for said, comment in (item for _, node in lists for item in _items(node, text)):
        for word, value in _words(said, text):
            words.setdefault(word, []).append(value)
            comments[word] = comments.get(word, "") + comment
    if "enforce" in found and words.get("system") == ["lifted-from-others"]:
        del words["system"]  # without `lift` there was nothing to `leave`
    if "enforce-also" in found and "enforce" not in found:
        gone = inherited() - words.keys()
        words |= {word: ["$removed"] for word in sorted(gone)}
    key, node = lists[0]
    name = "enforce!" if whole and str(key.value) == "enforce" else "enforce"
    flow = node.flow_style and not any(comments.values())
    yield key.start_mark.index, _end(node), name + _mapping(words, comments, key, flow)
    for key, node in lists[1:]:
        start = text.rfind("\n", 0, key.start_mark.index)
        yield max(start, 0), _end(node), ""


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


def _words(said: dict[str, Any], text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of version 2 for one item, each with its value as text."""
    if "insert" in said:
        ((role, spoken),) = [(k.value, _source(v, text)) for k, v in said["insert"].value]
        if "between" in said:
            after, before = (one.value for one in said["between"].value)
            turn = f"between: {{{role}: {spoken}, after: {after}, before: {before}}}"
        else:
            beside = f", before: {said['before'].value}" if "before" in said else ""
            turn = f"{PLACES.get(said['at'].value, 'last')}: {{{role}: {spoken}{beside}}}"
        yield "turns", turn
        return
    for word, taken in said.items():
        if word in TEXTS:
            yield TEXTS[word], _source(taken, text)
        elif word == "user-only" and taken.value != "reasoning":
            yield "user-only", f"[{taken.value}]"
        elif word == "user-only":
            yield "reasoning", "never"
        elif (step := STEPS[word]) is not None:
            yield step


def _source(node: Any, text: str) -> str:
    return text[node.start_mark.index : node.end_mark.index].strip()


def _mapping(words: dict[str, list[str]], comments: dict[str, str], key: Any, flow: bool) -> str:
    said = {word: _value(word, values) for word, values in words.items()}
    if flow or not said:
        return ": {" + ", ".join(f"{word}: {value}" for word, value in said.items()) + "}"
    gap = "\n" + " " * (key.start_mark.column + 2)
    lines = (
        f"{w}: {v}" + (f"    {comments[w]}" if comments.get(w) else "") for w, v in said.items()
    )
    return ":" + "".join(gap + line for line in lines)


def _value(word: str, values: list[str]) -> str:
    if values == ["$removed"]:
        return "$removed"
    if word == "turns":
        return "{" + ", ".join(values) + "}"
    if values[0].startswith("[") and word in ("results", "calls", "tools", "user-only"):
        return "[" + ", ".join(value.strip("[]") for value in values) + "]"
    return values[-1]  # `lift` and `leave`
