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
    if unit == "request":
        yield from _choices()
    if unit == "response":
        yield from _answers()
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


def _choices() -> Iterator[dict[str, Any]]:
    tooled, talk = _said()["tools"], _talk("u")
    for tools, choice, parallel in product(tooled, _said()["chosen"], (None, True, False)):
        made = {"messages": talk, "tools": tools, "tool_choice": choice}
        yield {**made, "parallel_tool_calls": parallel}
    for budget, most in product((1, 2048, 1_000_000), (None, 100, 4096)):
        said = {"max_tokens": most, "reasoning": {"budget": budget}}
        yield {"messages": talk, **said}
        if budget == 2048:
            yield {"messages": _talk("ucr"), **said}
            yield {"messages": talk, **said, "tools": tooled[0], "tool_choice": {"name": "f"}}
            yield {"messages": talk, **said, "reasoning": {"budget": budget, "effort": "high"}}


def _answers() -> Iterator[dict[str, Any]]:
    stops, answers = _said()["stops"], _said()["answers"]
    for stop, parts in product(stops, answers):
        said = {} if stop is None else {"stop_reason": stop}
        yield {"candidates": [{"parts": parts, **said}], "usage": {"input": 1, "output": 1}}
    for parts in answers:  # with as little beside it as can be
        said = {"candidates": [{"parts": parts, "stop_reason": stops[0]}], "model": None}
        yield {**said, "id": None, "created": None}
        yield {**said, "id": None, "created": None, "usage": {"input": 1, "output": 1}}
    yield {"candidates": []}
    yield {"candidates": [{"parts": answers[0], "stop_reason": stops[0]}] * 2}


def _counts() -> Iterator[dict[str, Any]]:
    buckets, plain = _said()["counts"], _said()["answers"][0]
    for numbers in product((7, None, 0), repeat=len(buckets)):
        if numbers.count(0) > 1:
            continue
        usage = {k: n for k, n in zip(buckets, numbers, strict=True) if n is not None}
        stopped = {"parts": plain, "stop_reason": _said()["stops"][0]}
        yield {"candidates": [stopped], "usage": usage}
