"""Variants: which rows of a dialect apply to a call, and that nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import cli

from .mutate import some

HERE = Path(__file__).parent
WEATHER = json.loads((HERE.parent / "examples/weather/request.json").read_text("utf-8"))
HEAD = "wireglot: 2\nsee: https://example.com\nverified: 2026-11-21\n"
ACME = """dialect: acme
extends: openai-chat
variants:
  - for: {model: [acme-1*, old-*]}
    request: {wire: {max_completion_tokens: $removed, max_tokens: $max_tokens (optional)}}
  - for: {version: "2024"}
    request: {wire: {seed: $removed, random_seed: $seed (optional)}}
  - for: {model: acme-1-mini, option: {json_results: text}}
    request: {wire: {max_tokens: $removed, limit: $max_tokens (optional)}}
"""


@pytest.fixture(scope="module")
def rules() -> wireglot.RuleSet:
    return wireglot.load_rules({"acme": HEAD + ACME})


BODY = {"messages": [{"role": "user", "content": "Hi"}], "max_completion_tokens": 5, "seed": 7}
PLAIN = {"max_completion_tokens": 5, "seed": 7}


@pytest.mark.parametrize(
    ("body_model", "model", "options", "keys"),
    [
        ("m", None, None, PLAIN),
        (None, None, None, PLAIN),
        ("acme-1", None, None, {"max_tokens": 5, "seed": 7}),
        ("m", "old-x", None, {"max_tokens": 5, "seed": 7}),
        ("acme-1", "m", None, PLAIN),
        (None, "acme-1", {}, {"max_tokens": 5, "seed": 7}),
        ("m", None, {"version": "2024"}, {"max_completion_tokens": 5, "random_seed": 7}),
        ("m", None, {"version": {"acme": "2024"}}, {"max_completion_tokens": 5, "random_seed": 7}),
        ("acme-12", None, {"version": "2024"}, {"max_tokens": 5, "random_seed": 7}),
        ("acme-1-mini", None, None, {"max_tokens": 5, "seed": 7}),
        ("acme-1-mini", None, {"json_results": "text"}, {"limit": 5, "seed": 7}),
        ("acme-1-mini", None, {"json_results": "data"}, {"max_tokens": 5, "seed": 7}),
        (
            "acme-1-mini",
            None,
            {"json_results": "text", "version": "2024"},
            {"limit": 5, "random_seed": 7},
        ),
    ],
)
def test_the_rows_that_apply_are_laid_over_the_dialect(
    rules: wireglot.RuleSet, body_model: str | None, model: str | None, options: Any, keys: Any
) -> None:
    body = BODY | ({"model": body_model} if body_model else {})
    for trace in (False, True):
        out = rules.convert(
            body, "openai-chat", "acme", model=model, options=options, trace=trace
        ).body
        there = {k: v for k, v in out.items() if k not in ("messages", "model")}
        assert there == keys
        assert out["messages"] == BODY["messages"]
    given = {**BODY, **out}
    del given["max_completion_tokens"], given["seed"]
    given |= keys
    back = rules.convert(given, "acme", "openai-chat", model=model, options=options)
    assert {k: v for k, v in back.body.items() if k != "model"} == BODY
    assert rules.convert(given, "acme", "acme", model=model, options=options).body == given


def test_reading_and_writing_alone_take_the_rows_too(rules: wireglot.RuleSet) -> None:
    acme = rules["acme"]
    reading = acme.read({"model": "acme-1", "messages": [], "max_tokens": 5})
    assert reading.ir["max_tokens"] == 5
    assert acme.write(reading.ir).body["max_tokens"] == 5
    old = {"messages": [], "random_seed": 1}
    assert "seed" not in acme.read(old).ir
    assert acme.read(old, options={"version": "2024"}).ir["seed"] == 1
    new = {"messages": [], "max_completion_tokens": 5}
    assert acme.read(new).ir["max_tokens"] == 5
    assert "max_tokens" not in acme.read(new, model="acme-1").ir
    ir = {"messages": [], "model": "m", "seed": 1}
    assert acme.write(ir, options={"version": "2024"}).body["random_seed"] == 1


@pytest.mark.parametrize(("source", "target"), [("acme", "anthropic"), ("gemini", "acme")])
def test_each_set_of_rows_has_functions_of_its_own(
    rules: wireglot.RuleSet, source: str, target: str
) -> None:
    body = rules.convert(WEATHER, "openai-chat", source, model="m").body
    for model in ("m", "acme-1", "m"):
        for mutant in (body, *some(body, 40, f"{source}{target}{model}")):
            found: list[Any] = []
            for trace in (False, True):
                try:
                    out = rules.convert(mutant, source, target, model=model, trace=trace)
                    text = json.dumps(out.body, sort_keys=True)
                    found.append((text, sorted(map(repr, out.notes)), out.envelope))
                except wireglot.ConversionError as error:
                    found.append(str(error))
            assert found[0] == found[1]


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("2025", "acme has no variant for the version `2025`; there are: `2024`"),
        ({"acme": "1"}, "acme has no variant for the version `1`; there are: `2024`"),
        ({"gemini": "1"}, "gemini has no variant for the version `1`; there are: none"),
        (2024, "the option `version` is a text, or one for each dialect"),
    ],
)
def test_a_version_that_selects_nothing_is_refused(
    rules: wireglot.RuleSet, version: Any, message: str
) -> None:
    with pytest.raises(wireglot.UsageError, match=message.replace("?", r"\?")):
        rules.convert({**BODY, "model": "m"}, "acme", "gemini", options={"version": version})


def test_a_version_is_refused_where_there_are_no_variants() -> None:
    for use in (
        lambda: wireglot.convert(BODY, "openai-chat", "gemini", options={"version": "1"}),
        lambda: wireglot.packaged()["gemini"].read({}, options={"version": "1"}),
        lambda: wireglot.packaged()["gemini"].write({}, options={"version": "1"}),
    ):
        with pytest.raises(wireglot.UsageError, match="has no variant for the version `1`"):
            use()


def test_children_and_overlays_have_the_variants_of_the_dialect(tmp_path: Path) -> None:
    (tmp_path / "acme.yaml").write_text(HEAD + ACME, "utf-8")
    (tmp_path / "kid.yaml").write_text(HEAD + "dialect: kid\nextends: acme\n", "utf-8")
    over = "wireglot: 2\noverlay: acme\nrequest: {wire: {user: $removed, who: $user (optional)}}\n"
    (tmp_path / "over.yaml").write_text(over, "utf-8")
    rules = wireglot.load_rules(tmp_path, overlays=["over"])
    body = {**BODY, "model": "acme-1", "user": "u"}
    for name in ("acme", "kid"):
        out = rules.convert(body, "openai-chat", name).body
        assert (out["max_tokens"], out["who"]) == (5, "u")


KID = """dialect: kid
extends: acme
variants:
  - for: {model: acme-1*}
    request: {wire: {user: $removed, who: $user (optional)}}
  - for: {model: acme-1-mini}
    request: {wire: {max_tokens: $removed, tokens: $max_tokens (optional)}}
"""
OVER = """wireglot: 2
overlay: acme
variants: [{for: {model: acme-1}, request: {wire: {user: $removed, whose: $user (optional)}}}]
"""


def test_a_child_and_an_overlay_add_variants_to_those_below(tmp_path: Path) -> None:
    for stem, text in (("acme", HEAD + ACME), ("kid", HEAD + KID), ("over", OVER)):
        (tmp_path / f"{stem}.yaml").write_text(text, "utf-8")
    body = {**BODY, "user": "u"}
    plain, laid = (wireglot.load_rules(tmp_path, overlays=o) for o in ((), ("over",)))

    def out(name: str, model: str, *overlays: str) -> Any:
        rules = laid if overlays else plain
        return rules.convert({**body, "model": model}, "openai-chat", name).body

    assert (out("kid", "acme-1")["max_tokens"], out("kid", "acme-1")["who"]) == (5, "u")
    assert out("kid", "acme-1-mini")["tokens"] == 5  # laid over what a row of the parent made
    assert out("acme", "acme-1")["user"] == "u"
    assert out("acme", "acme-1", "over")["whose"] == "u"
    assert out("acme", "acme-1", "over")["max_tokens"] == 5
    assert out("kid", "old-1", "over")["max_tokens"] == 5


def test_variants_can_be_replaced_and_taken_away(tmp_path: Path) -> None:
    (tmp_path / "acme.yaml").write_text(HEAD + ACME, "utf-8")
    for stem, said in (
        ("kid", KID.replace("variants:", "variants!:")),
        ("none", "variants: $removed\n"),
    ):
        head = "" if stem == "kid" else "dialect: none\nextends: acme\n"
        (tmp_path / f"{stem}.yaml").write_text(HEAD + head + said, "utf-8")
    text = (
        (tmp_path / "kid.yaml")
        .read_text()
        .replace("max_tokens: $removed, tokens", "max_completion_tokens: $removed, tokens")
    )
    (tmp_path / "kid.yaml").write_text(text)
    rules = wireglot.load_rules(tmp_path)
    body = {**BODY, "model": "acme-1", "user": "u"}
    kid = rules.convert(body, "openai-chat", "kid").body
    assert (kid["max_completion_tokens"], kid["who"]) == (5, "u")
    assert rules.convert(body, "openai-chat", "none").body["max_completion_tokens"] == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("variants: {for: {model: x}}", "R033: `variants` is a list of rows"),
        ("variants: [{request: {}}]", "R033: a variant has a `for`"),
        ("variants: [{for: {}}]", "R033: a variant has a `for`"),
        ("variants: [{for: {modal: x}}]", "R033: `modal` selects no variant"),
        ("variants: [{for: {model: [1]}}]", "R033: `model` is the name of a model, or a list"),
        ("variants: [{for: {model: []}}]", "R033: `model` is the name of a model, or a list"),
        ("variants: [{for: {version: 2024}}]", "R033: `version` is a text"),
        ("variants: [{for: {option: {loud: true}}}]", "R033: `loud` is no such option"),
        ("variants: [{for: {option: {repair: maybe}}}]", "R033: `repair` is no such option"),
        ("variants: [{for: {model: x}, extends: gemini}]", "R033: a variant has no `extends`"),
        (
            "variants: [{for: {model: x}, request: {wire: {zzz: $removed}}}]",
            "acme.yaml:6:47: R007: `zzz` is taken away",
        ),
        (
            "variants: [{for: {model: x}, shapes: {text: {wire: {text: $text | loud}}}}]",
            "`loud` is no codec",
        ),
    ],
)
def test_a_row_that_says_nothing_of_sense_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    text = f"dialect: acme\nextends: openai-chat\n{text}\n"
    (tmp_path / "acme.yaml").write_text(HEAD + text, "utf-8")
    with pytest.raises(wireglot.RuleError) as caught:
        wireglot.load_rules(tmp_path)
    assert message in str(caught.value)


def test_the_examples_of_a_row_are_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "variants:\n  - for: {model: x}\n    shapes:\n      text:\n"
        "        wire: {text: $removed, words: $text}\n        examples:\n"
        "          - {wire: {type: text, words: WORDS}, ir: {type: text, text: Hi}}\n"
    )
    file = tmp_path / "acme.yaml"
    for words, status in (("Hi", 0), ("Ho", 1)):
        body = HEAD + "dialect: acme\nextends: openai-chat\n" + text.replace("WORDS", words)
        file.write_text(body, "utf-8")
        assert cli.main(["test", str(tmp_path), "--runs", "0"]) == status
    said = capsys.readouterr().out
    assert "acme.yaml:12:13: acme/text[0] reads otherwise than it says at /text" in said


def test_the_version_is_an_option_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acme.yaml").write_text(HEAD + ACME, "utf-8")
    (tmp_path / "body.json").write_text(json.dumps({**BODY, "model": "m"}), "utf-8")
    argv = ["convert", str(tmp_path / "body.json"), "--from", "openai-chat", "--to", "acme"]
    assert cli.main([*argv, "--rules", str(tmp_path), "--option", "version=2024x"]) == 2
    capsys.readouterr()
    assert cli.main([*argv, "--rules", str(tmp_path), "--option", 'version="2024"']) == 0
    assert json.loads(capsys.readouterr().out)["random_seed"] == 7


TWICE = """dialect: acme
extends: openai-chat
variants:
  - for: {model: acme-*}
    request: {wire: {seed: $removed}}
  - for: {model: "*-mini"}
    request: {wire: {seed: $removed, ONE}}
"""


def test_two_rows_may_take_away_the_same(tmp_path: Path) -> None:
    (tmp_path / "acme.yaml").write_text(HEAD + TWICE.replace(", ONE", ""), "utf-8")
    rules = wireglot.load_rules(tmp_path)
    for model, keys in (("acme-1", {}), ("b-mini", {}), ("acme-mini", {}), ("b", {"seed": 7})):
        body = {**BODY, "model": model}
        out = rules.convert(body, "openai-chat", "acme").body
        assert {k: v for k, v in out.items() if k == "seed"} == keys, model


def test_rows_that_can_meet_are_checked_together(tmp_path: Path) -> None:
    """Each row is right alone; over the first, the second takes a spelling that is there."""
    text = TWICE.replace("seed: $removed, ONE", "speed (or pace): $own.speed (optional)")
    text = text.replace("seed: $removed", "pace: $own.pace (optional)")
    (tmp_path / "acme.yaml").write_text(HEAD + text, "utf-8")
    with pytest.raises(wireglot.RuleError, match="`speed` shares the spelling `pace`") as caught:
        wireglot.load_rules(tmp_path)
    assert caught.value.line == 10


def test_variants_make_a_bounded_number_of_sets(tmp_path: Path) -> None:
    rows = "\n".join(f"  - for: {{model: '*{n}*'}}\n    see: https://e.com/{n}" for n in range(60))
    (tmp_path / "acme.yaml").write_text(
        f"{HEAD}dialect: acme\nextends: openai-chat\nvariants:\n{rows}\n", "utf-8"
    )
    with pytest.raises(wireglot.RuleError, match="more than 200 sets"):
        wireglot.load_rules(tmp_path)
