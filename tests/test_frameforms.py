"""Forms of frames: what is known of a frame like one before is what the pictures say of it."""

from __future__ import annotations

import random
from typing import Any

import pytest

import wireglot
from wireglot.errors import ConversionError
from wireglot.payload import check_json
from wireglot.streaming.frameforms import Forms
from wireglot.streaming.recognising import EventMatch, Frame

from .streamdiff import SOURCES, mutant, streams

Json = Any
RULES = wireglot.packaged()


def shown(sights: list[EventMatch]) -> list[Any]:
    return [
        (one.event.name, one.address, one.values, one.address_at, one.values_at,
         [(hole.path, value, at) for hole, value, at in one.shaped])
        for one in sights
    ]  # fmt: skip


def through(forms: Forms, dialect: str, frame: Json) -> bool:
    """Look at a frame by its form and by the pictures; tell whether the form was known."""
    model = RULES[dialect].model
    assert model.stream is not None
    known = forms.find(frame)
    try:
        check_json(frame)
    except ConversionError:
        assert known is None
        return False
    looked = Frame(frame, model)
    sights, common = looked.matches(model.stream), looked.common_values(model.stream.frame)
    failed = looked.error() is not None
    rest = looked.unclaimed_leaves()
    if known is None:
        if (sights or not rest) and not failed:
            forms.learn(frame, sights, common, rest)
        return False
    assert not failed
    assert repr(shown(known[0])) == repr(shown(sights))
    assert repr([(n, t[1:]) for n, t in known[1]]) == repr([(n, t[1:]) for n, t in common])
    assert known[2] == rest
    return True


def forms_of(dialect: str) -> Forms:
    model = RULES[dialect].model
    assert model.stream is not None
    return Forms(model)


@pytest.mark.parametrize("dialect", SOURCES)
def test_a_form_says_what_the_pictures_say(dialect: str) -> None:
    chance, forms, known = random.Random(dialect), forms_of(dialect), 0
    found = streams(dialect)
    for _ in range(120 if found else 0):
        for frame in mutant(chance.choice(found), chance):
            known += through(forms, dialect, frame)
    assert known or not found


def chunk(**delta: Json) -> Json:
    return {"id": "c1", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta}]}


def details(text: str, content: str) -> Json:
    said = {"type": "reasoning.text", "text": text, "format": None}
    return chunk(reasoning_content=content, reasoning_details=[said])


def logged(value: Json) -> Json:
    frame = {"type": "response.output_text.delta", "item_id": "i", "output_index": 0}
    return {**frame, "content_index": 0, "delta": "a", "logprobs": value}


def made(value: Json) -> Json:
    return {**chunk(content="a"), "created": value}


def filtered(nth: int) -> Json:
    frame = chunk(content="a")
    frame["choices"][0] |= {"index": nth, "content_filter_results": {}}
    return frame


def called(**call: Json) -> Json:
    return {"candidates": [{"index": 0, "content": {"parts": [{"functionCall": call}]}}]}


@pytest.mark.parametrize(
    ("dialect", "frames"),
    [
        ("openai-responses", [logged([{"token": "a"}]), logged([])]),
        ("openai-chat", [details("a", "b"), details("c", "c"), details("d", "d")]),
        ("openai-chat", [chunk(content="a"), chunk(content=""), chunk(content="b")]),
        ("openai-chat", [made(1.5), made(-0.0), made(2)]),
        ("openai-chat", ["[DONE]", "[DONE]", "other", "other"]),
        ("openai-chat", [filtered(0), filtered(1), filtered(-1), filtered(10**40)]),
    ],
)
def test_what_tells_events_apart_is_of_the_form(dialect: str, frames: list[Json]) -> None:
    forms = forms_of(dialect)
    for frame in frames:
        through(forms, dialect, frame)


@pytest.mark.parametrize(
    ("dialect", "one", "two"),
    [
        ("openai-chat", details("a", "a"), details("b", "b")),
        ("openai-chat", "[DONE]", "[DONE]"),
        ("gemini", called(name="f", args={"a": 1}), called(name="g", args={"b": [{}]})),
        (
            "ollama",
            {"model": "m", "message": {"content": ""}, "done": True, "done_reason": "stop",
             "eval_count": 3},
            {"model": "m", "message": {"content": ""}, "done": True, "done_reason": "length",
             "eval_count": 4},
        ),
    ],
)  # fmt: skip
def test_a_form_is_known_again(dialect: str, one: Json, two: Json) -> None:
    forms = forms_of(dialect)
    assert not through(forms, dialect, one)
    assert through(forms, dialect, two)
