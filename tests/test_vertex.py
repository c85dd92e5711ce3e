"""Vertex and the Developer API of Gemini: one family, each sent only what it takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wireglot

from . import sweep
from .mocks import gemini
from .oracles import samples, sdk

EXAMPLES = Path(__file__).parents[2] / "shared" / "facts" / "wire-examples" / "vertex"
RULES = wireglot.packaged()
ASK = [{"role": "user", "parts": [{"text": "q"}]}]


@pytest.mark.parametrize("unit", ["request", "response", "error"])
def test_the_examples_of_the_wire_pass_every_oracle(unit: Any) -> None:
    file = EXAMPLES / f"{unit}.json"
    if not file.is_file():
        pytest.skip("../shared/facts is not here")
    body = json.loads(file.read_text("utf-8"))
    assert sdk.problems("vertex", unit, body) == []
    key = "request" if unit == "request" else "response"
    exchange = {"id": unit, "format": "vertex", "status": 400 if unit == "error" else 200}
    outcome = sweep.judge({**exchange, key: body}, sweep.Settings())
    assert outcome.failures == []
    assert outcome.counts["vertex", "vertex", unit, "conversions"] == 1


@pytest.mark.parametrize(("source", "target"), [("gemini", "vertex"), ("vertex", "gemini")])
@pytest.mark.parametrize("unit", ["request", "response"])
def test_what_the_other_service_refuses_is_not_sent_to_it_and_noted(
    source: str, target: str, unit: Any
) -> None:
    heard = 0
    for path, body in samples.samples(source, unit, 1):
        out = RULES.convert(body, source, target, unit, model="m")
        assert sdk.problems(target, unit, out.body) == [], path
        if unit == "request" and sdk.problems(target, unit, body):
            assert any(note.effect in ("lost", "changed") for note in out.notes), path
            heard += 1
    assert heard > 10 or unit == "response"


SHARED: list[dict[str, Any]] = [
    {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}]},
    {"tools": [{"googleSearch": {}}, {"codeExecution": {}}]},
    {"tools": [{"googleMaps": {"enableWidget": True}}]},
    {"generationConfig": {"imageConfig": {"aspectRatio": "1:1"}, "mediaResolution": "x"}},
    {"generationConfig": {"speechConfig": {"voiceConfig": {"voice": "v"}, "languageCode": "en"}}},
    {"cachedContent": "c", "labels": {"a": "b"}, "serviceTier": "flex", "continuationToken": "t"},
    {"toolConfig": {"retrievalConfig": {"languageCode": "en"}}},
]


@pytest.mark.parametrize(
    "fields", SHARED, ids=[next(iter(f)) + str(i) for i, f in enumerate(SHARED)]
)
@pytest.mark.parametrize(("source", "target"), [("gemini", "vertex"), ("vertex", "gemini")])
def test_fields_that_the_family_shares_stay_what_they_are(
    source: str, target: str, fields: dict[str, Any]
) -> None:
    body = {"contents": ASK, **fields}
    for trace in (False, True):
        out = RULES.convert(body, source, target, model="m", trace=trace)
        assert (out.body, out.notes) == (body, ())


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"safetySettings": [{"category": "c", "method": "SEVERITY"}]}, "/safetySettings/0/method"),
        (
            {"tools": [{"googleSearch": {"blockingConfidence": "BLOCK_ONLY_HIGH"}}]},
            "/tools/0/googleSearch/blockingConfidence",
        ),
        (
            {"generationConfig": {"imageConfig": {"personGeneration": "ALLOW_ALL"}}},
            "/generationConfig/imageConfig/personGeneration",
        ),
        ({"modelArmorConfig": {"promptTemplateName": "p"}}, "/modelArmorConfig"),
        (
            {"toolConfig": {"functionCallingConfig": {"streamFunctionCallArguments": True}}},
            "/toolConfig/functionCallingConfig/streamFunctionCallArguments",
        ),
    ],
)
def test_a_field_of_vertex_alone_is_noted_where_it_stands(
    fields: dict[str, Any], path: str
) -> None:
    out = RULES.convert({"contents": ASK, **fields}, "vertex", "gemini", model="m")
    (note,) = out.notes
    assert (note.code, note.source_path) == ("own-field", path)
    assert note.message == f"gemini has no `{path.rpartition('/')[2]}`"
    assert RULES.convert(fields | {"contents": ASK}, "vertex", "vertex").body["contents"] == ASK


def test_a_thought_signature_stays_with_the_service_that_made_it() -> None:
    turn = {"role": "model", "parts": [{"functionCall": {"name": "f"}, "thoughtSignature": "c2ln"}]}
    out = RULES.convert([turn], "vertex", "gemini", "messages")
    assert {(n.code, n.source_path) for n in out.notes if n.effect == "lost"} == {
        ("foreign-signature", "/0/parts/0/thoughtSignature")
    }
    assert "thoughtSignature" not in out.body[0]["parts"][0]
    assert RULES.convert([turn], "vertex", "vertex", "messages").body == [turn]


def test_citations_have_a_name_of_their_own_in_each_service() -> None:
    cited = [{"uri": "https://example.com", "startIndex": 1, "endIndex": 2}]
    candidate = {"content": {"role": "model", "parts": [{"text": "t"}]}, "finishReason": "STOP"}
    bodies = {
        "gemini": {"candidates": [{**candidate, "citationMetadata": {"citationSources": cited}}]},
        "vertex": {"candidates": [{**candidate, "citationMetadata": {"citations": cited}}]},
    }
    for source, target in (("gemini", "vertex"), ("vertex", "gemini")):
        out = RULES.convert(bodies[source], source, target, "response")
        assert out.body["candidates"][0] == {"index": 0, **bodies[target]["candidates"][0]}


PROJECT = "projects/p/locations/global/publishers/google/models/gemini-3-flash"


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize(
    ("model", "stream", "path"),
    [
        ("m", False, "/v1beta1/publishers/google/models/m:generateContent"),
        ("m", True, "/v1beta1/publishers/google/models/m:streamGenerateContent?alt=sse"),
        (PROJECT, False, f"/v1beta1/{PROJECT}:generateContent"),
        (PROJECT, True, f"/v1beta1/{PROJECT}:streamGenerateContent?alt=sse"),
        ("projects/p/locations/l/endpoints/1", False,
         "/v1beta1/projects/p/locations/l/endpoints/1:generateContent"),
        (None, False, ""),
    ],
)  # fmt: skip
def test_the_path_names_the_project_where_the_model_is_a_resource(
    trace: bool, model: str | None, stream: bool, path: str
) -> None:
    body = {"messages": [{"role": "user", "content": "q"}], "stream": stream}
    out = RULES.convert(body, "openai-chat", "vertex", model=model, trace=trace)
    assert out.envelope is not None
    assert (out.envelope.path, out.envelope.model) == (path, model)


def test_arguments_in_pieces_are_kept_at_home_and_not_sent_elsewhere() -> None:
    piece = {"jsonPath": "$.city", "stringValue": "Par", "willContinue": True}
    call = {"name": "f", "args": {}, "partialArgs": [piece], "willContinue": True}
    turns = [{"role": "model", "parts": [{"functionCall": call}]}]
    assert RULES.convert(turns, "vertex", "vertex", "messages").body == turns
    out = RULES.convert(turns, "vertex", "gemini", "messages")
    assert out.body[0]["parts"][0]["functionCall"].keys() == {"id", "name", "args"}
    assert {n.source_path for n in out.notes if n.effect == "lost"} == {
        "/0/parts/0/functionCall/partialArgs",
        "/0/parts/0/functionCall/willContinue",
    }


FILE = "wireglot: 2\ndialect: {name}\n{more}see: https://example.com\nverified: 2026-11-21\n"


def test_a_child_shares_the_fields_that_its_family_alone_has(tmp_path: Path) -> None:
    for name, more in (("kid", "extends: openai-chat\n"), ("kin", "extends: kid\n"),
                       ("far", "extends: openai-chat\nfamily: far\n")):  # fmt: skip
        (tmp_path / f"{name}.yaml").write_text(FILE.format(name=name, more=more), "utf-8")
    rules = wireglot.load_rules(tmp_path)
    body = {"model": "m", "messages": [{"role": "user", "content": "q"}], "logit_bias": {"1": 2}}
    for source, target in (("openai-chat", "kin"), ("kin", "kid"), ("kid", "openai-chat")):
        for trace in (False, True):
            out = rules.convert(body, source, target, trace=trace)
            assert (out.body, out.notes) == (body, ())
    out = rules.convert(body, "openai-chat", "far")
    assert [n.code for n in out.notes] == ["own-field"]
    (tmp_path / "far.yaml").write_text(FILE.format(name="far", more="family: [x]\n"), "utf-8")
    with pytest.raises(wireglot.RuleError, match="`family` names a dialect"):
        wireglot.load_rules(tmp_path)


@pytest.mark.parametrize(
    ("model", "there"),
    [("gemini-2.5-flash", False), ("gemini-3-flash-preview", True), (PROJECT, True)],
)
def test_ids_go_to_the_models_that_were_recorded_with_them(model: str, there: bool) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    body = {
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "x"},
        ]
    }
    out = wireglot.convert(body, "openai-chat", "vertex", model=model)
    called = out.body["contents"][1]["parts"][0]["functionCall"]
    answered = out.body["contents"][2]["parts"][0]["functionResponse"]
    assert [one.get("id") for one in (called, answered)] == (["c1", "c1"] if there else [None] * 2)
    assert ("dropped" in [note.code for note in out.notes]) is not there
    refused = gemini.refusals(out.body, model, vertex=True)
    assert not [one for one in refused if one.rule != "signature"]
    back = wireglot.convert(out.body, "vertex", "vertex", model=model)
    assert (back.body, back.notes) == (out.body, ())
