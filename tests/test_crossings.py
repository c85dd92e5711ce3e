"""Examples that show the wires of several dialects: their form, and the packaged ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wireglot
from wireglot import cli
from wireglot.authoring import crossings, layout, trial
from wireglot.loading import load

from .oracles import sdk

MAIN = (
    "openai-chat openai-responses anthropic gemini ollama mistral cohere bedrock-converse".split()
)
RULES = trial.load_with_examples([], [])
# Where messages stand in a request, beside what else must.
AROUND: dict[str, tuple[str, dict[str, Any]]] = {
    **dict.fromkeys(MAIN, ("messages", {"model": "m"})),
    "openai-responses": ("input", {"model": "m"}),
    "anthropic": ("messages", {"model": "m", "max_tokens": 9}),
    "gemini": ("contents", {}),
    "bedrock-converse": (
        "messages",
        {"toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}]}},
    ),
}
ASKED = {"role": "user", "content": [{"text": "What?"}]}  # where a user must speak first
ACME = """
wireglot: 2
dialect: acme
see: https://example.com
verified: 2026-11-21
shapes:
  text: {wire: {text: $text}}
  tool_call: {wire: {call: $id, name: $name, with: $arguments | object}}
unions: {part: [text, tool_call]}
conversation:
  wire: {says: $parts each part}
  cases: {user: {wire: {by: user}}, assistant: {wire: {by: model}}}
"""
CALL = "[{by: model, says: [{call: call00001, name: f, with: {}}]}]"
JOINS = f"""
wireglot: 2
crossings:
  messages:
    a call without arguments:
      wires: {{acme: {CALL}}}
"""


def packaged() -> list[crossings.Wire]:
    """Give the wires of the packaged crossings."""
    failures: list[str] = []
    found = list(crossings.find(load.crossings([]), failures))
    assert failures == []
    return found


WIRES = packaged()


def test_the_main_dialects_stand_beside_each_other() -> None:
    named = Counter(wire.dialect for wire in WIRES)
    cases = {(wire.unit, wire.name) for wire in WIRES}
    assert set(named) == set(MAIN) and len(cases) >= 30
    assert all(named[name] >= 30 for name in MAIN), named
    assert {wire.source for wire in WIRES} >= {"openai-chat", "anthropic", "gemini"}


@pytest.mark.parametrize("dialect", MAIN)
def test_the_packaged_crossings_hold(dialect: str) -> None:
    told = [crossings.check(RULES, wire) for wire in WIRES if wire.dialect == dialect]
    assert [message for message in told if message] == []


def judged() -> Iterator[tuple[str, sdk.Unit, Any]]:
    """Give whole payloads of the wires, messages within a request."""
    for wire in WIRES:
        if wire.unit == "messages":
            key, beside = AROUND[wire.dialect]
            said = wire.dialect == "bedrock-converse" and wire.meant[0]["role"] == "assistant"
            first = [ASKED] if said else []
            yield wire.dialect, "request", {**beside, key: [*first, *wire.meant]}
        elif wire.unit in ("request", "response"):
            yield wire.dialect, wire.unit, wire.meant  # type: ignore[misc]


def test_the_types_of_the_sdks_take_the_wires() -> None:
    found = [
        f"{dialect} {unit}: {problem} in {json.dumps(body)}"
        for dialect, unit, body in judged()
        if sdk.is_judged(dialect, unit)
        for problem in sdk.problems(dialect, unit, body)
    ]
    assert found == []


def test_a_wire_that_is_written_otherwise_is_told_with_dialect_path_and_both_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acme.yaml").write_text(ACME, "utf-8")
    shown = tmp_path / "joins.yaml"
    shown.write_text(JOINS, "utf-8")
    assert cli.main(["check", str(tmp_path)]) == 0
    assert cli.main(["test", str(tmp_path), "--runs", "0"]) == 0
    assert "1 examples," in capsys.readouterr().out
    for old, new, told in (
        ("name: f", "name: g", 'is written otherwise at /0/says/0/name: expected "g", got "f"'
                               " (rule {0}/acme.yaml:8:39)"),
        ("with: {}", "with: 5", "is written otherwise at /0/says/0/with: expected 5, got {{}}"
                                " (rule {0}/acme.yaml:8:52)"),
        (f"{CALL}}}", f"{CALL}}}\n      notes: {{acme: [renamed]}}",
         "makes the notes [], not ['renamed']"),
    ):  # fmt: skip
        shown.write_text(JOINS.replace(old, new), "utf-8")
        assert cli.main(["test", str(tmp_path), "--runs", "0"]) == 1
        line = capsys.readouterr().out.splitlines()[0]
        said = f"{shown}:6:15: `a call without arguments` as acme {told}"
        assert line == said.format(tmp_path)


def test_a_wire_that_does_not_come_back_at_home_is_told() -> None:
    source = {"from": "openai-chat", "wires": {"openai-chat": [{"role": "nobody"}]}}
    files = {"x.yaml": {"wireglot": 2, "crossings": {"messages": {"odd": source}}}}
    (wire,) = crossings.find(load.read_sources([files]).crossings, [])
    told = crossings.check(RULES, wire)
    assert told is not None and told.startswith("`odd` as openai-chat: ") and "nobody" in told


def test_an_ir_may_be_the_source() -> None:
    text = (
        "wireglot: 2\ncrossings:\n  message:\n    hello:\n"
        "      ir: {role: user, parts: [{type: text, text: Hi}]}\n"
        "      wires: {anthropic: {role: user, content: Hi},\n"
        "              gemini: {role: user, parts: [{text: Ho}]}}\n"
    )
    found = list(crossings.find(load.read_sources([{"x.yaml": text}]).crossings, []))
    told = [crossings.check(RULES, wire) for wire in found]
    assert told[0] is None
    assert told[1] is not None and 'expected "Ho", got "Hi"' in told[1]


def test_a_model_chooses_the_rules() -> None:
    (wire,) = [w for w in WIRES if w.model == "gemini-3-pro" and w.dialect == "gemini"]
    assert crossings.check(RULES, wire) is None
    other = crossings.Wire(**{s: getattr(wire, s) for s in wire.__slots__} | {"model": "gemini-1"})
    assert "thoughtSignature" in str(crossings.check(RULES, other))


def test_sources_that_do_not_come_together_are_told(tmp_path: Path) -> None:
    failures: list[str] = []
    lost = JOINS.replace("a call without arguments", "a call of nobody")
    twice = JOINS.replace("wires:", "ir: []\n      wires:")
    files = load.read_sources([{"lost.yaml": lost, "twice.yaml": twice}]).crossings
    list(crossings.find([*load.crossings([]), *files], failures))
    twice, lost = failures
    told = "twice.yaml:6:11: the source of `a call without arguments` stands at rules/examples/"
    assert twice.startswith(f"{told}crossings.yaml:")
    assert lost == "lost.yaml:6:15: no file says of what the wires of `a call of nobody` are made"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("crossings:", "dialect: acme\ncrossings:",
         "3:1: R026: a file of crossings has no `dialect`"),
        ("wireglot: 2", "wireglot: 3", "2:11: R026: there is no version `3` of the language"),
        ("wireglot: 2", 'wireglot: "2"', "2:11: R026: the version is the number 2, and a text"),
        ("  messages:", "  mesages:", "4:3: R024: there is no unit `mesages`"),
        ("acme: [", "acne: [", "6:15: R025: there is no dialect `acne`"),
        ("wires:", "wire:", "6:7: R025: `wire` is no word of an example"),
        (f"{{acme: {CALL}}}", "[]", "6:14: R022: `wires` is a mapping of dialects"),
        ("      wires", "      from: acne\n      wires",
         "6:13: R025: `wires` has no `acne`, of which it is read"),
        ("      wires", "      from: [acme]\n      wires",
         "6:13: R025: `from` is the name of a dialect"),
        ("      wires", "      from: acme\n      ir: []\n      wires",
         "6:7: R025: `from` and `ir` and `wires` do not stand together in an example"),
        ("      wires", "      notes: {acme: [renmed]}\n      wires",
         "6:22: R025: there is no code `renmed`"),
        ("      wires", "      notes: {gemini: []}\n      wires",
         "6:15: R025: `wires` has no `gemini`, whose notes these are"),
        ("      wires", "      notes: [renamed]\n      wires",
         "6:14: R022: `notes` is a mapping of dialects"),
        ("      wires", "      model: 3\n      wires",
         "6:14: R025: `model` is the name of a model"),
    ],
)  # fmt: skip
def test_a_wrong_file_of_crossings_is_refused(old: str, new: str, message: str) -> None:
    assert JOINS.count(old) == 1
    files = {"acme.yaml": ACME, "joins.yaml": JOINS.replace(old, new)}
    with pytest.raises(wireglot.RuleError) as error:
        wireglot.load_rules(files)
    assert str(error.value).startswith(f"joins.yaml:{message}")


def test_the_packaged_file_is_laid_out() -> None:
    file = Path("rules/examples/crossings.yaml")
    assert layout.formatted(file.read_text("utf-8"), str(file)) == file.read_text("utf-8")
