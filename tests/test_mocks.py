"""The strict providers: each rule refuses and takes as it should, as do recorded exchanges."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from . import mocks
from .tables import read_yaml

Json = Any
SHARED = Path(__file__).parents[2] / "shared"
TEXT = Path(__file__).with_name("cases").joinpath("mocks.yaml").read_text("utf-8")
CASES: dict[str, Json] = read_yaml(TEXT)
NAMED = [(dialect, rule) for dialect, group in CASES.items() for rule in group["rules"]]
OF = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "ollama": "ollama",
}
# Recorded as taken, and not what the API of the dialect itself takes.
OTHERWISE = {
    # Azure has the model in the path.
    ("00d47f957f315c27", "model"),
    ("36483b4489126a2e", "model"),
    ("34c18c5c6e2515ac", "model"),
    # Copilot and DeepSeek give items ids of their own form.
    ("09cc689f973a2ce5", "item-id"),
    ("25371d143efd05bb", "item-id"),
    ("399e203e28c335ba", "item-id"),
}
# Recorded answers 400 that are about something else than tools, ids, roles, order and schemas.
ELSEWHERE = {
    "1dfad8fbf0df979e": "an image that could not be fetched",
    "2a979e716b978452": "an API key",
    "1079e99ac3e5c064": "where the user is",
    "22930a23cc8a0089": "the type of a file",
    "3a84d968f45f4ae7": "the type of a file",
}
PATHS = {
    "358b006d77630729": "/tools/0/input_schema/properties/value",
    "130ae6e4e4b8dd9f": "/tools/0/input_schema/type",
    "194487ca6472deb0": "/messages/3",
    "38ef8ed52285f30a": "/messages/3",
}
recorded = pytest.mark.skipif(
    not (SHARED / "traffic").is_dir(), reason="the recorded exchanges of ../shared are missing"
)


def over(base: Json, upper: Json) -> Json:
    return {k: v for k, v in {**base, **upper}.items() if v is not None}


def judged(dialect: str, case: Json, which: str) -> list[mocks.Refusal]:
    body = over(CASES[dialect]["base"], case.get(which, {}))
    return mocks.refusals(dialect, body, case.get("model"), sent=case.get("sent"))


@pytest.mark.parametrize(("dialect", "rule"), NAMED, ids=[f"{d}-{r}" for d, r in NAMED])
def test_a_rule_refuses_and_takes(dialect: str, rule: str) -> None:
    case = CASES[dialect]["rules"][rule]
    found = judged(dialect, case, "refused")
    assert (rule, case["path"]) in [(one.rule, one.path) for one in found], found
    assert not judged(dialect, case, "taken")


def test_every_rule_has_a_case() -> None:
    for dialect in mocks.DIALECTS:
        shown = set(CASES[dialect]["rules"]) | set(
            CASES["gemini" if dialect == "vertex" else dialect]["rules"]
        )
        shown |= set(CASES["vertex"]["rules"]) if dialect == "gemini" else set()
        assert shown == set(mocks.MODULES[dialect].RULES), dialect


def exchanges(name: str) -> list[Json]:
    with gzip.open(SHARED / "traffic" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [e for line in lines if isinstance((e := json.loads(line))["request"], dict)]


def model_of(exchange: Json) -> str | None:
    """Return the model; where the path held it, the response tells."""
    response = exchange["response"]
    told = response.get("modelVersion") if isinstance(response, dict) else None
    return exchange["request"].get("model") or told


@recorded
@pytest.mark.parametrize("dialect", mocks.DIALECTS)
def test_what_was_answered_200_is_taken(dialect: str) -> None:
    count = 0
    for exchange in exchanges(OF.get(dialect, "gemini")):
        if exchange["status"] != 200 or (dialect == "vertex") > (exchange["vendor"] == "vertex"):
            continue
        count += 1
        body, model = exchange["request"], model_of(exchange)
        for one in mocks.refusals(dialect, body, model, version="2023-06-01"):
            assert (exchange["id"], one.rule) in OTHERWISE, (exchange["id"], one)
    assert count > 15


@recorded
@pytest.mark.parametrize("dialect", sorted(OF))
def test_what_was_answered_400_is_refused(dialect: str) -> None:
    for exchange in exchanges(OF[dialect]):
        if exchange["status"] != 400:
            continue
        found = mocks.refusals(dialect, exchange["request"], model_of(exchange), "2023-06-01")
        if exchange["id"] in ELSEWHERE:
            continue
        (one,) = found
        assert one.path == PATHS[exchange["id"]]
        assert one.text == exchange["response"]["error"]["message"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is missing")
def test_every_rule_says_where_it_is_known_from() -> None:
    bugs = (SHARED / "facts" / "bugs.yaml").read_text("utf-8")
    known = set(re.findall(r"^- id: (\S+)", bugs, re.MULTILINE))
    for dialect in mocks.DIALECTS:
        for rule, (_, cite) in mocks.MODULES[dialect].RULES.items():
            assert cite, rule
            for bug in re.findall(r"\b[A-Z]{2}-\d{2}\b", cite):
                assert bug in known, (dialect, rule, bug)


def test_a_provider_sees_what_came_back_changed() -> None:
    provider = mocks.Provider("gemini", model="gemini-3-pro")
    call = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "AAAA"}
    turns = [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "model", "parts": [call]}]
    turns.append({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]})
    provider.answers({"candidates": [{"content": {"parts": [call]}}]})
    assert not provider.refusals({"contents": turns})
    changed = {**call, "thoughtSignature": "BBBB"}
    turns[1] = {"role": "model", "parts": [changed]}
    (refused,) = provider.refusals({"contents": turns})
    assert refused.path == "/contents/1/parts/0/thoughtSignature"
    assert provider.error(refused)["error"]["status"] == "INVALID_ARGUMENT"
