"""Writing by generated functions, held against the walk of pictures; how many there are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import wireglot
from wireglot.authoring.generate import Generator
from wireglot.conversion import reading, writing
from wireglot.errors import WireglotError
from wireglot.executor.writer import CodedWriter
from wireglot.interpreter import speaking
from wireglot.interpreter.views import Survey
from wireglot.ir import WHOLES

from . import width
from .beside import TRAFFIC, recorded
from .mutate import some

RULES = wireglot.packaged()
PROVIDERS = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama")
EVERY, MUTANTS = 40, 2

pytestmark = pytest.mark.skipif(not TRAFFIC.is_dir(), reason="../shared/traffic is not here")


def bodies(name: str) -> Iterator[tuple[str, Any]]:
    """Yield some recorded bodies of a provider with their units, and mutants of each."""
    for line in recorded(name)[::EVERY]:
        for unit in ("request", "response"):
            body = line.get(unit)
            if isinstance(body, dict) and len(json.dumps(body)) < 20_000:
                yield unit, body
                yield from ((unit, one) for one in some(body, MUTANTS, line["id"]))


def converted(*given: Any) -> tuple[str, Any]:
    """Convert a body by the generated functions of both halves, or tell why that cannot be."""
    body, source, target, unit = given
    try:
        done = RULES.convert(body, source, target, unit)
    except WireglotError as error:
        return type(error).__name__, str(error)
    return json.dumps(done.body), Counter(map(str, done.notes))


@pytest.mark.parametrize("source", PROVIDERS)
def test_functions_write_what_the_walk_writes(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    for unit, body in bodies(source):
        for target in PROVIDERS:
            found = converted(body, source, target, unit)
            with monkeypatch.context() as patch:
                patch.setattr(CodedWriter, "quick", property(lambda _: False))
                assert found == converted(body, source, target, unit), (target, unit, body)
            compared += 1
    assert compared > 10


UNPARSED = {
    "class_": "api_action",
    "function": "f",
    "tool_call_id": "c",
    "kwargs": {"_unparsed": ""},
}
CALLING = {"role": "assistant", "content": "b",
           "tool_calls": [{"function": {"name": "g", "arguments": "{}"}}]}  # fmt: skip
ODD = [
    ("adp-v1", "session", {"content": [UNPARSED]}),
    ("cohere", "request", {"messages": [CALLING]}),
    ("atif", "session", {"steps": [{"source": "agent", "extra": {"stop_reason": "n"}}]}),
]


def pictured() -> Iterator[tuple[str, str, Any]]:
    """Yield payloads that the pictures of each dialect make, and some that differed."""
    yield from ODD
    for name in width.dialects(RULES.dialects, 2):
        model = RULES[name].model
        for unit in (unit for unit in WHOLES if unit in model.units):
            for n in range(width.times(1, 10)):
                yield name, unit, Generator(model.of_unit(unit), f"{name}/{unit}/{n}").unit(unit)


def test_functions_write_at_home_what_the_walk_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, unit, body in pictured():
        ir = RULES[name].read(body, unit).ir
        found = RULES[name].write(ir, unit)
        assert found.body == body, (name, unit, body)
        with monkeypatch.context() as patch:
            patch.setattr(CodedWriter, "quick", property(lambda _: False))
            walked = RULES[name].write(ir, unit)
        assert (walked.body, walked.notes) == (found.body, found.notes), (name, unit, body)


class Unsure(Survey):
    """A survey that lets no step be left out."""

    def __init__(self, messages: Any) -> None:
        super().__init__(messages)
        self.paired = self.none_empty = False
        self.system = self.marked = True


@pytest.mark.inside
@pytest.mark.parametrize("source", PROVIDERS)
def test_what_is_in_order_is_what_the_steps_leave(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps that order messages change nothing where one look finds them in order."""
    without, orderly = Counter[bool](), speaking.orderly

    def told(*given: Any) -> bool:
        found = orderly(*given)
        without[found] += 1
        return found

    monkeypatch.setattr(speaking, "orderly", told)
    for unit, body in bodies(source):
        for target in PROVIDERS if unit == "request" else ():
            found = converted(body, source, target, unit)
            with monkeypatch.context() as patch:
                for module in (reading, writing, speaking):
                    patch.setattr(module, "Survey", Unsure)
                assert found == converted(body, source, target, unit), (target, body)
    assert without[True] > 10


def made() -> int:
    """Return how many functions there are."""
    coded = (RULES[name].model.cache for name in PROVIDERS)
    held = (one for kept in coded for one in kept.values() if hasattr(one, "code"))
    return sum(len(one.code.texts) for one in held)


SAID = {"role": "assistant", "content": "Hi"}
STREAM = [
    {"id": "1", "model": "m", "choices": [{"index": 0, "delta": SAID}]},
    {"id": "1", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]
CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.mark.parametrize(
    "call",
    [
        lambda: list(wireglot.translate(STREAM, "openai-chat", "anthropic")),
        lambda: RULES.convert(CHAT, "openai-chat", "ollama"),
        lambda: RULES["openai-chat"].write(RULES["openai-chat"].read(CHAT).ir),
    ],
)
def test_what_is_done_again_makes_no_more_functions(call: Callable[[], Any]) -> None:
    call()
    before = made()
    for _ in range(5):
        call()
    assert made() == before
