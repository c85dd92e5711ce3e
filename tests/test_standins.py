"""Stand-ins: what was remembered of one number or name is right for every other one."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import pytest

import wireglot
from benchmarks import workloads
from wireglot.compiler.standins import STANDS, Spot, put_back, swapped

from .test_compiled import check, compiled
from .test_halves import RULES, check_read, check_write

Json = Any
VALUES: dict[type, list[Any]] = {
    int: [7, 1, 0, -3, 2**40, 10**30],
    float: [0.25, 0.5, 0.0, -0.0, 1e300, float("inf")],
    str: ["é", "x", "", " ", "auto", "none", "\ud800"],
}
DIALECTS = ["openai-chat", "anthropic", "gemini"]
PAIRS = list(itertools.permutations(DIALECTS, 2))


def places(spots: Json, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Spot]]:
    # The first of the names of a key is enough.
    for key, spot in {id(spot): (key, spot) for key, spot in reversed(spots.items())}.values():
        if isinstance(spot, Spot):
            yield (*at, key), spot
        else:
            yield from places(spot, (*at, key))


def request(source: str) -> Json:
    """Return a small request with tools and a choice."""
    body = copy.deepcopy(workloads.request(source, "W1", 1))
    talk = "contents" if source == "gemini" else "messages"
    return {**body, talk: [m for m in body[talk] if m["role"] == "user"][:1]}


def bodies(source: str, spots: Json) -> Iterator[Json]:
    """Yield requests with one value after another in each spot, the memory of which is used."""
    for at, spot in places(spots):
        for kind in spot.classes:
            for value in VALUES[kind]:
                body = request(source)
                owner = body
                for key in at[:-1]:
                    owner = owner.setdefault(key, {})
                owner[at[-1]] = value
                yield body


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_any_value_in_a_spot_is_converted_as_the_interpreter_does(source: str, target: str) -> None:
    spots = compiled(source, target).spots
    assert len(list(places(spots))) > 2
    tiers = [check(source, target, body) for body in bodies(source, spots)]
    assert tiers.count(1) > len(tiers) / 2


@pytest.mark.parametrize("source", DIALECTS)
def test_any_value_in_a_spot_is_read_as_the_interpreter_does(source: str) -> None:
    reads = RULES[source]._reads
    assert reads is not None
    taken = [check_read(source, body) for body in bodies(source, reads.spots)]
    assert taken.count(True) > len(taken) / 2


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_any_value_in_a_spot_is_written_as_the_interpreter_does(source: str, target: str) -> None:
    ir = RULES[source].read(request(source), model="m").ir
    writes = RULES[target]._writes
    assert writes is not None
    for beside in ({}, {"reasoning": {"budget": 2000}}):
        for at, spot in places(writes.spots):
            for value in [v for kind in spot.classes for v in VALUES[kind]]:
                check_write(target, {**ir, **beside, at[-1]: value})


@pytest.mark.parametrize(
    ("target", "key"), [("openai-chat", "max_completion_tokens"), ("anthropic", "max_tokens")]
)
def test_a_request_that_differs_in_numbers_alone_asks_the_interpreter_once(
    target: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = wireglot.load_rules()
    body = workloads.request("gemini", "W1", 1)
    rules.convert(body, "gemini", target, model="m")
    both = rules._both(body, "gemini", target, "request", "m", {})
    fast = rules._fast("gemini", target, both)
    assert fast is not None
    monkeypatch.setattr(fast, "_more", None)
    for value in (11, 12, 13):
        body["generationConfig"]["maxOutputTokens"] = value
        assert rules.convert(body, "gemini", target, model="m").body[key] == value


LIMITS = [9, 1023, 1024, 2048, 2049, 5000]


@pytest.mark.parametrize("limit", LIMITS)
def test_what_must_stay_below_a_limit_is_held_to_it_wherever_it_stands(limit: int) -> None:
    tall = {"maxOutputTokens": limit, "thinkingConfig": {"thinkingBudget": 2048}}
    asked = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "generationConfig": tall}
    assert check("gemini", "anthropic", asked) == 1
    rules = wireglot.load_rules({"own.yaml": "wireglot: 2\ndialect: own\nextends: anthropic\n"})
    thinking = {"type": "enabled", "budget_tokens": 2048}
    talk = [{"role": "user", "content": "Hi"}]
    for number in (5000, limit):  # the second after the first was remembered
        body = {"model": "m", "max_tokens": number, "messages": talk, "thinking": thinking}
        out = rules.convert(body, "own", "anthropic").body
        assert rules.tier(body, "own", "anthropic") == 1
        budget = min(2048, number - 1)
        kept = {**thinking, "budget_tokens": budget} if budget >= 1024 else None
        assert out.get("thinking") == kept


def test_values_are_put_back_where_their_stand_ins_went() -> None:
    spots = {"a": Spot((int, float), ("x", "y")), "b": {"c": Spot((str,), None)}}
    body = {"a": 4, "b": {"c": "name", "d": True}, "e": 5}
    said: Json = []
    assert swapped(body, spots, said) == {"a": 1, "b": {"c": "x", "d": True}, "e": 5}
    assert body["a"] == 4
    made = {"x": {"y": STANDS[int]}}
    assert put_back(made, said)
    assert made == {"x": {"y": 4}}
    assert not put_back({"x": {"y": 2}}, said)  # something was done with it
    assert not put_back({"x": []}, said)
    assert not put_back({}, said)


def test_nothing_stands_in_beside_what_goes_with_it_or_for_what_is_odd() -> None:
    spots = {"a": Spot((int, float, str), ("a",), frozenset({"b"}))}
    for body in ({"a": 4, "b": 1}, {"a": True}, {"a": float("nan")}, {"a": 10**5000}, {"a": ""}):
        said: Json = []
        assert swapped(body, spots, said) is body
        assert said == []
