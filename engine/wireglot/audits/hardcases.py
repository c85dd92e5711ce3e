"""IR values that strain what dialects ask for, of `rules/audits/hardcases.yaml`.

Written at home, nothing of them is put in order, so they make payloads of any dialect that can say
them. A talk is a word there: each sign is a message.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from ..loading.rulesources import beside

MULTIMODAL = "multimodal"  # results whose values are lists of parts


@functools.cache
def _said() -> dict[str, Any]:
    """Return what the file says, with parts in the place of their names."""
    said: dict[str, Any] = beside("audits/hardcases.yaml")

    def named(names: Iterable[str]) -> list[dict[str, Any]]:
        return [said["parts"][name] for name in names]

    for message in said["messages"].values():
        message["parts"] = named(message["parts"])
    said["answers"] = list(map(named, said["answers"]))
    said["results"][MULTIMODAL] = list(map(named, said["results"][MULTIMODAL]))
    return said


def _talk(word: Iterable[str]) -> list[dict[str, Any]]:
    return [_said()["messages"][sign] for sign in word]


def calls_of(wanted: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return the messages of calls that results ask for."""
    parts = [{**_said()["parts"]["call"], "id": id, "name": name} for id, name in wanted]
    return [{**message, "parts": parts} for message in _talk("c")]


def values(unit: str) -> Iterator[dict[str, Any]]:
    """Yield values of a unit; a field that is None is not there."""
    if unit in ("request", "session"):
        yield from ({"messages": talk} for talk in _talks())
    for made in (made for row in _said()["rows"].get(unit, ()) for made in _each(row)):
        yield {**made, "messages": _talk(made["messages"])} if "messages" in made else made
    if unit == "response":
        yield from _counts()


def _talks() -> Iterator[list[dict[str, Any]]]:
    for row in _said()["talks"]:
        yield from map(_talk, product(*row))
    (answer,) = _talk("r")
    for result in _results():
        yield [*_talk("uc"), {**answer, "parts": [result]}]


def _results() -> Iterator[dict[str, Any]]:
    parts = _said()["parts"]
    for kind, values in _said()["results"].items():
        for value in values:
            made = {**parts["result"], "kind": kind, "value": value}
            for said in ({}, {"failed": True}, {"failed": False}) if kind != "error" else ({},):
                yield {**made, **said}
                if kind == "data":
                    yield {**made, "media": [parts["image"]], **said}


# -- what holds between the fields of a request or of a response ----------------------------------


def _each(said: Any) -> Iterator[Any]:
    """Yield what a row says, with each of the values that `any` names in its place in turn."""
    if isinstance(said, dict) and said.keys() == {"any"}:
        named = said["any"]
        yield from _said()[named] if isinstance(named, str) else named
    elif isinstance(said, dict):
        for values in product(*map(_each, said.values())):
            yield dict(zip(said, values, strict=True))
    elif isinstance(said, list):
        yield from map(list, product(*map(_each, said)))
    else:
        yield said


def _counts() -> Iterator[dict[str, Any]]:
    buckets, plain = _said()["counts"], _said()["answers"][0]
    for numbers in product((7, None, 0), repeat=len(buckets)):
        if numbers.count(0) > 1:
            continue
        usage = {k: n for k, n in zip(buckets, numbers, strict=True) if n is not None}
        stopped = {"parts": plain, "stop_reason": _said()["stops"][0]}
        yield {"candidates": [stopped], "usage": usage}
