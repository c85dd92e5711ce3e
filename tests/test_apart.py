"""Examples in a file of their own, and lists of the fields that one API alone has."""

from __future__ import annotations

from pathlib import Path

import pytest

import wireglot
from wireglot.authoring import examples, laws, trial
from wireglot.loading import checking

RULES = """
wireglot: 2
dialect: mini
see: https://example.com
verified: 2026-11-21
shapes:
  text: {wire: {type: text, text: $text, $own: [mood, tone]}}
unions: {part: [text]}
conversation:
  wire: {parts: $parts each part}
  cases: {user: {wire: {role: user}}, assistant: {wire: {role: assistant}}}
request: {wire: {turns: $messages as conversation, $own: [site]}}
"""
SHOWN = """
wireglot: 2
examples-of: mini
examples:
  text:
    - wire: {type: text, text: Hi, mood: good}
      ir: {type: text, text: Hi, own: {mini: {mood: good}}}
  request:
    - wire: {turns: [{role: user, parts: [{type: text, text: Hi}]}], site: s}
      ir: {messages: [{role: user, parts: [{type: text, text: Hi}]}], own: {mini: {site: s}}}
"""


def tried(folder: Path) -> trial.Trial:
    """Try a folder's rule files on their examples."""
    return trial.Trial(str(folder), runs=0).run(
        trial.load_with_examples([str(folder)], []), ["mini"]
    )


@pytest.mark.parametrize("within", ["examples/mini.yaml", "mini-examples.yaml"])
def test_examples_of_a_file_of_their_own_are_tried(tmp_path: Path, within: str) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "mini.yaml").write_text(RULES, "utf-8")
    (tmp_path / within).write_text(SHOWN, "utf-8")
    made = tried(tmp_path)
    assert (made.failures, len(made.examples)) == ([], 2)
    assert {finding.rule for finding in checking.check(str(tmp_path))} <= {"R002", "R024"}
    (tmp_path / within).write_text(SHOWN.replace("mood: good}}", "mood: bad}}"), "utf-8")
    (failure,) = tried(tmp_path).failures
    assert failure.startswith(f"{tmp_path / within}:6:7: mini/text[0] reads otherwise than it says")


def test_a_folder_that_is_called_rules_is_tried_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "mini.yaml").write_text(RULES, "utf-8")
    (tmp_path / "rules" / "mini-examples.yaml").write_text(SHOWN, "utf-8")
    monkeypatch.chdir(tmp_path)
    for folder in ("rules", "./rules/"):
        rules = trial.load_with_examples([folder], [])
        made = trial.Trial(folder, runs=0).run(rules, rules.dialects)
        assert (made.failures, len(made.examples), made.laws) == ([], 2, 0)
    monkeypatch.setattr(laws, "failures", lambda *_: [])  # that they are few is all that is asked
    assert 0 < trial.Trial("rules", runs=1).run(rules, rules.dialects).laws < 200


def test_a_list_of_own_fields_is_spelled_out_with_the_place_of_each_name() -> None:
    rules = wireglot.load_rules({"mini.yaml": RULES}, builtin=False)
    body = {"turns": [{"role": "user", "parts": [{"type": "text", "text": "Hi", "tone": 1}]}]}
    assert rules.convert(body, "mini", "mini").body == body
    read = rules["mini"].read(body).ir
    assert read["messages"][0]["parts"][0]["own"] == {"mini": {"tone": 1}}
    wire = rules["mini"].model.node.value["shapes"].value["text"].value["wire"]
    assert wire.value["tone"].value == "$own.tone (optional)"
    assert str(wire.value["tone"].pos) == "mini.yaml:7:55"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[mood, tone]", "{mood: tone}", "7:48: R022: `$own` is a list of names"),
        ("[mood, tone]", "[mood, mood]", "7:55: R022: `mood` stands here twice"),
        ("[mood, tone]", "[text]", "7:49: R022: `text` stands here twice"),
        ("text: $text, $own: [mood, tone]", "$own: [text], text: $text",
         "7:36: R022: `text` stands in a list here, too"),
        ("[mood, tone]", "[a b]", "7:49: R022: `$own` is a list of names"),
    ],
)  # fmt: skip
def test_a_wrong_list_is_refused(old: str, new: str, message: str) -> None:
    assert old in RULES
    with pytest.raises(wireglot.RuleError) as error:
        wireglot.load_rules({"mini.yaml": RULES.replace(old, new)}, builtin=False)
    assert str(error.value).startswith(f"mini.yaml:{message}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("examples-of: mini", "examples-of: maxi",
         "3:14: R026: there is no rule file of `maxi` here"),
        ("examples-of: mini", "examples-of: [mini]", "3:14: R026: this file shows no examples"),
        ("examples:", "example:", "3:14: R026: this file shows no examples"),
        ("examples:", "shapes: {}\nexamples:", "4:1: R026: a file of examples has no `shapes`"),
        ("  text:", "  txt:", "5:3: R026: `mini` has no `txt` to show"),
    ],
)  # fmt: skip
def test_a_wrong_file_of_examples_is_refused(old: str, new: str, message: str) -> None:
    files = {"mini.yaml": RULES, "shown.yaml": SHOWN.replace(f"{old}\n", f"{new}\n")}
    with pytest.raises(wireglot.RuleError) as error:
        wireglot.load_rules(files, builtin=False)
    assert str(error.value).startswith(f"shown.yaml:{message}")


@pytest.mark.parametrize("head", ["overlay: mini", "dialect: child\nextends: mini"])
def test_examples_at_the_end_of_a_layer_stand_for_those_below(tmp_path: Path, head: str) -> None:
    (tmp_path / "mini.yaml").write_text(RULES, "utf-8")
    (tmp_path / "mini-examples.yaml").write_text(SHOWN, "utf-8")
    layer = f"""
wireglot: 2
{head}
see: https://example.com
verified: 2026-11-21
shapes: {{text: {{wire: {{text: $removed, say: $text}}}}}}
examples:
  text:
    - {{wire: {{type: text, say: Hi}}, ir: {{type: text, text: Hi}}}}
  request:
    - {{wire: {{turns: []}}, ir: {{messages: []}}}}
"""
    (tmp_path / "over.yaml").write_text(layer, "utf-8")
    overlays = ["over"] if head.startswith("overlay") else []
    rules = trial.load_with_examples([str(tmp_path)], overlays)
    dialect = rules["mini" if overlays else "child"]
    shown = [one for one in examples.find(dialect) if one.owner != "conversation"]
    assert [(one.owner, Path(one.pos.file).name) for one in shown] == [
        ("shapes/text", "over.yaml"),
        ("request", "over.yaml"),
    ]
    assert [examples.check(rules, one, dialect) for one in shown] == [None, None]
    made = trial.Trial(str(tmp_path), runs=0).run(
        trial.load_with_examples([str(tmp_path)], []), ["mini"]
    )
    assert (made.failures, len(made.examples)) == ([], 2)
