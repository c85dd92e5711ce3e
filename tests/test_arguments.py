"""Arguments of a type that they do not have: UsageError, which says what to write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import wireglot

BODY: dict[str, Any] = {"contents": []}
ANSWER: dict[str, Any] = {"candidates": [{"content": {"parts": [{"text": "x"}]}}]}
SAID: dict[str, Any] = {"messages": [{"role": "user", "parts": [{"type": "text", "text": "x"}]}]}
ANY: Any = None
NUMBER: Any = 1
RULES: Any = wireglot.packaged()


async def taken(frames: Any) -> list[Any]:
    return [frame async for frame in wireglot.atranslate(frames, "gemini", "gemini")]


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "source": (lambda: RULES.convert(BODY, 3, "gemini"), "`source` is the name of a dialect"),
    "target": (lambda: RULES.convert(BODY, "gemini", ["x"]), "`target` is the name of a dialect"),
    "unit": (lambda: RULES.convert(BODY, "gemini", "gemini", unit=[]), "there is no unit"),
    "model": (lambda: RULES.convert(BODY, "gemini", "anthropic", model=5), "`model` is a text"),
    "stream": (lambda: RULES.convert(BODY, "gemini", "gemini", stream="x"), "true or false"),
    "options": (lambda: RULES.convert(BODY, "gemini", "anthropic", options=5), "`options` is a"),
    "no options": (lambda: RULES.convert(BODY, "gemini", "anthropic", options=[]), "`options` is"),
    "policy": (lambda: RULES.convert(BODY, "gemini", "anthropic", policy=[]), "`policy` is a"),
    "text": (lambda: RULES.convert(BODY, "gemini", "anthropic", policy="x"), "`policy` is a"),
    "key": (lambda: RULES.convert(BODY, "gemini", "gemini", policy={3: "fail"}), "is a text"),
    "read": (lambda: RULES["gemini"].read(BODY, options=3), "`options` is a mapping"),
    "read model": (lambda: RULES["gemini"].read(BODY, model=3), "`model` is a text"),
    "write": (lambda: RULES["gemini"].write({"messages": []}, policy=3), "`policy` is a mapping"),
    "dialect": (lambda: RULES[[]], "`dialect` is the name of a dialect, not list"),
    "variants": (lambda: RULES.variants({}), "`dialect` is the name of a dialect, not dict"),
    "frames": (lambda: list(RULES.frames(ANSWER, "gemini", 3)), "`notes` is a list"),
    "frames of": (lambda: list(RULES.frames(ANSWER, ["gemini"])), "the name of a dialect"),
    "collect": (lambda: RULES.collect([], "gemini", {}), "`notes` is a list"),
    "collect of": (lambda: RULES.collect(3, "gemini"), "`frames` is a list"),
    "translate": (lambda: list(wireglot.translate(ANY, "gemini", "gemini")), "`frames` is a list"),
    "atranslate": (lambda: asyncio.run(taken([])), "`frames` is an asynchronous iterable"),
    "text stream": (lambda: wireglot.text_stream(ANY, "gemini"), "`frames` is a list"),
    "bytes": (lambda: RULES.translator("gemini", "anthropic").as_bytes().feed("x"), "takes bytes"),
    "diagnose": (lambda: RULES.diagnose(BODY, []), "`dialect` is the name of a dialect"),
    "exchange": (lambda: RULES.exchange("gemini", "gemini").request(BODY, text=b""), "`text` is a"),
    "parse": (lambda: RULES["codex"].parse(b"{}"), "`text` is a text, not bytes"),
    "indent": (lambda: RULES["codex"].text([], indent="x"), "`indent` is a number"),
    "pictured": (lambda: RULES["gemini"].pictured([]), "there is no unit"),
    "dropped": (lambda: RULES["gemini"].dropped("x"), "there is no unit"),
    "keys": (lambda: RULES["gemini"].keys_of_model([]), "there is no unit"),
    "clock": (lambda: RULES["codex"].write(SAID, "session", clock=lambda: "x"), "`clock` gives"),
    "rows": (lambda: wireglot.Policy(rows=[ANY]), "`rows` of a policy"),
    "otherwise": (lambda: wireglot.Policy(otherwise="x"), "`otherwise` of a policy"),
    "policy file": (lambda: wireglot.load_policy(NUMBER), "a file is named by a path"),
    "states": (lambda: wireglot.States.of_file(NUMBER), "a file is named by a path"),
    "watch": (lambda: RULES.watch(3, start=False), "`on_change` is a function"),
    "overlay": (lambda: wireglot.load_rules(overlays=[ANY]), "`overlay` is a text"),
    "overlays": (lambda: wireglot.load_rules(overlays="x"), "`overlays` is a list"),
}


@pytest.mark.parametrize("name", CASES)
def test_an_argument_of_another_type_is_a_usage_error(name: str) -> None:
    call, message = CASES[name]
    with pytest.raises(wireglot.UsageError, match=message.replace("[", "\\[")):
        call()


def test_a_body_that_is_no_json_has_no_text() -> None:
    for body in (b"x", [float("nan")]):
        with pytest.raises(wireglot.ConversionError):
            RULES["codex"].text(body)


def test_rows_of_a_policy_come_in_any_iterable() -> None:
    row = wireglot.policy.Row("fail", effect="lost")
    assert wireglot.Policy(rows=(one for one in [row])).rows == (row,)


def test_the_paths_of_an_envelope_are_told() -> None:
    assert {"model", "stream", "path"} <= RULES["gemini"].pictured("envelope")
