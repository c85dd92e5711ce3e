"""IR values that strain what dialects ask for, of `rules/audits/hardcases.yaml`.

Written at home, nothing of them is put in order, so they make payloads of any dialect that can say
them. A conversation is a word there: each sign is a message.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from ..loading.rulesources import beside

MULTIMODAL = "multimodal"  # results whose values are lists of parts


@functools.cache
def _file() -> dict[str, Any]:
    """Return the content of the file, with parts in the place of their names."""
    content: dict[str, Any] = beside("audits/hardcases.yaml")

    def parts_named(names: Iterable[str]) -> list[dict[str, Any]]:
        return [content["parts"][name] for name in names]

    for message in content["messages"].values():
        message["parts"] = parts_named(message["parts"])
    content["answers"] = list(map(parts_named, content["answers"]))
    content["results"][MULTIMODAL] = list(map(parts_named, content["results"][MULTIMODAL]))
    return content


def _messages_of(word: Iterable[str]) -> list[dict[str, Any]]:
    """Return the messages of a conversation that is written as a word, one for each sign."""
    return [_file()["messages"][sign] for sign in word]


def calls_of(wanted: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return messages with calls of these ids and names, for results that answer them."""
    parts = [{**_file()["parts"]["call"], "id": id, "name": name} for id, name in wanted]
    return [{**message, "parts": parts} for message in _messages_of("c")]


def values(unit: str) -> Iterator[dict[str, Any]]:
    """Yield IR values of a unit, in which None stands for a field that is not there."""
    if unit in ("request", "session"):
        yield from ({"messages": talk} for talk in _conversations())
    for made in (made for row in _file()["rows"].get(unit, ()) for made in _expanded(row)):
        yield {**made, "messages": _messages_of(made["messages"])} if "messages" in made else made
    if unit == "response":
        yield from _responses_with_usage()


def _conversations() -> Iterator[list[dict[str, Any]]]:
    for row in _file()["talks"]:
        yield from map(_messages_of, product(*row))
    (answer,) = _messages_of("r")
    for result in _tool_results():
        yield [*_messages_of("uc"), {**answer, "parts": [result]}]


def _tool_results() -> Iterator[dict[str, Any]]:
    parts = _file()["parts"]
    for kind, values in _file()["results"].items():
        for value in values:
            made = {**parts["result"], "kind": kind, "value": value}
            for said in ({}, {"failed": True}, {"failed": False}) if kind != "error" else ({},):
                yield {**made, **said}
                if kind == "data":
                    yield {**made, "media": [parts["image"]], **said}


# -- what holds between the fields of a request or of a response ----------------------------------


def _expanded(said: Any) -> Iterator[Any]:
    """Yield what a row says, with each of the values that `any` names in its place in turn."""
    if isinstance(said, dict) and said.keys() == {"any"}:
        named = said["any"]
        yield from _file()[named] if isinstance(named, str) else named
    elif isinstance(said, dict):
        for values in product(*map(_expanded, said.values())):
            yield dict(zip(said, values, strict=True))
    elif isinstance(said, list):
        yield from map(list, product(*map(_expanded, said)))
    else:
        yield said


def _responses_with_usage() -> Iterator[dict[str, Any]]:
    buckets, plain = _file()["counts"], _file()["answers"][0]
    for numbers in product((7, None, 0), repeat=len(buckets)):
        if numbers.count(0) > 1:
            continue
        usage = {k: n for k, n in zip(buckets, numbers, strict=True) if n is not None}
        stopped = {"parts": plain, "stop_reason": _file()["stops"][0]}
        yield {"candidates": [stopped], "usage": usage}
