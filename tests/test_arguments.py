"""Arguments of a type that they do not have: UsageError, which says what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import wireglot

BODY: dict[str, Any] = {"contents": []}
RULES: Any = wireglot.packaged()
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
    "overlays": (lambda: wireglot.load_rules(overlays="x"), "`overlays` is a list"),
}


@pytest.mark.parametrize("name", CASES)
def test_an_argument_of_another_type_is_a_usage_error(name: str) -> None:
    call, message = CASES[name]
    with pytest.raises(wireglot.UsageError, match=message.replace("[", "\\[")):
        call()
