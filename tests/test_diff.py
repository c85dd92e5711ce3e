"""`wireglot diff`: what two rule sets say and do otherwise, and what recorded payloads show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wireglot import cli, load_rules
from wireglot.authoring import conversiondiff, diff, rulediff
from wireglot.rulesets import RuleSet

from .tables import read_yaml

EDITS = read_yaml((Path(__file__).parent / "cases" / "diff.yaml").read_text("utf-8"))
EXAMPLE = "{wire: {kind: text, body: a}, ir: {type: text, text: a}}"
SMALL = """\
wireglot: 2
dialect: small
see: https://small.example
verified: 2026-11-22
tables: {role: {write: {user: human, assistant: bot}}}
limits: {tool_name: {chars: "a-z", max: 9}}
shapes:
  text: {wire: {kind: text, body: $text}}
  image:
    cases:
      url: {ir: {source: {type: url, url: $url}}, wire: {kind: image, href: $url}}
unions: {item: [text, image]}
conversation:
  wire: {items: $parts each item}
  cases:
    user: {wire: {by: human}}
    assistant: {wire: {by: bot}}
request:
  wire:
    engine: $model
    heat: $temperature (optional)
    most: $max_tokens (fill 100)
    mood: $own.mood (optional)
    turns: $messages as conversation
"""
LARGE = SMALL.replace("small", "large").replace("heat", "warmth").replace("most: $", "limit: $")
REQUEST: dict[str, Any] = {
    "engine": "m",
    "heat": 1,
    "turns": [{"by": "human", "items": [{"kind": "text", "body": "Hi"}]}],
}


def rules(small: str = SMALL, large: str = LARGE) -> RuleSet:
    return load_rules({"small": small, "large": large}, builtin=False)


def edited(*pairs: tuple[str, str]) -> str:
    text = SMALL
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def told(new: str, old: str = SMALL) -> list[str]:
    found = rulediff.all_of(rules(old), rules(new))
    return [str(one).rpartition(" (")[0] if one.rule else str(one) for one in found]


@pytest.mark.parametrize("case", EDITS, ids=lambda case: case["new"].strip())
def test_what_the_rules_say_otherwise_is_said_in_words(case: dict[str, str]) -> None:
    assert case["said"] in told(edited((case["old"], case["new"])))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("wireglot: 2\n", "# A comment.\nwireglot: 2\n"),
        ("2026-11-22", "2026-11-23"),
        ("{wire: {kind: text, body: $text}}", "\n    wire:\n      kind: text\n      body: $text"),
        ("body: $text}}", f"body: $text}}, examples: [{EXAMPLE}]}}"),
    ],
)  # fmt: skip
def test_formatting_comments_and_examples_are_no_difference(old: str, new: str) -> None:
    assert told(edited((old, new))) == []
    assert rulediff.changed(rules(), rules(edited((old, new)))) == []


def test_codecs_are_called_as_rule_files_call_them() -> None:
    new = edited(("$own.mood (optional)", "$system each text | text (optional)"))
    assert any("`$system each | text`" in line for line in told(new)), told(new)


def test_another_name_of_a_shape_is_no_field_of_the_wire_but_is_told() -> None:
    new = edited(
        ("unions: {item: [text, image]}", "unions: {thing: [text, image]}"),
        ("each item", "each thing"),
    )
    said = told(new)
    assert said and all("no field says otherwise" in one for one in said)


def test_dialects_that_come_and_go_are_told() -> None:
    one = load_rules({"small": SMALL}, builtin=False)
    assert [str(c).partition(" with")[0] for c in rulediff.all_of(one, rules())] == [
        "large: is new,"
    ]
    assert [str(c) for c in rulediff.all_of(rules(), one)] == ["large: is gone"]


def test_what_a_variant_says_is_told_with_its_name() -> None:
    row = "variants: [{for: {model: [old-*]}, request: {wire: {heat: $removed}}}]\n"
    assert told(SMALL + row) == ["small: `variants for model old-*` is new"]
    changed = row.replace("heat: $removed", "mood: $removed")
    said = told(SMALL + changed, SMALL + row)
    assert "small (model old-*) request: `heat` is new: optional, `$temperature`" in said
    assert "small (model old-*) request: `mood` is gone; it was optional, `$own.mood`" in said


def crossed(new: str, old: str = SMALL) -> list[str]:
    one, two = rules(old), rules(new)
    return [str(c) for c in conversiondiff.pairs(one, two, rulediff.all_of(one, two))]


def test_a_field_that_is_carried_now_is_told_for_the_pair() -> None:
    said = crossed(SMALL, edited(("    heat: $temperature (optional)\n", "")))
    assert "large -> small request: `warmth` is carried to `heat` now, was lost (no-place)" in said
    assert (
        "small -> large request: `heat` is carried to `warmth` now, was lost (unknown-key)" in said
    )


def test_what_is_filled_in_otherwise_or_refused_is_told() -> None:
    said = crossed(edited(("(fill 100)", "(fill 200)")))
    assert said == [
        "large -> small request: -> `most` is written now: `200`, was `100` (filled-in)"
    ]
    said = crossed(edited(("heat: $temperature (optional)", "heat: $temperature")))
    assert any(one.startswith("large -> small request: `(all)` is refused now") for one in said)


def test_only_what_a_change_reaches_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    third = {"third": SMALL.replace("small", "third")}
    one = load_rules({"small": SMALL, "large": LARGE, **third}, builtin=False)
    tried: list[tuple[str, str]] = []

    def noticed(_old: RuleSet, _new: RuleSet, ends: tuple[str, str], *_: Any) -> list[Any]:
        tried.append(ends)
        return []

    monkeypatch.setattr(conversiondiff, "_pair", noticed)
    conversiondiff.pairs(one, one, [])
    conversiondiff.pairs(one, one, [rulediff.Change("small", ("response",), ("id",), "is new")])
    assert tried == []
    conversiondiff.pairs(one, one, [rulediff.Change("small", ("request",), ("heat",), "is new")])
    assert len(tried) == 4 and all("small" in ends for ends in tried)
    conversiondiff.pairs(one, one, [rulediff.Change("ladder", (), ("ladder.x",), "is new")])
    assert len(tried) == 4 + 6


def stored(folder: Path, text: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "small.yaml").write_text(text, "utf-8")
    return str(folder)


def test_the_exit_status_says_whether_something_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = stored(tmp_path / "one", SMALL)
    two = stored(tmp_path / "two", edited(("max: 9", "max: 8")))
    assert cli.main(["diff", one, one]) == 0
    assert capsys.readouterr().out == "no differences\n"
    assert cli.main(["diff", one, two, "--rules-only"]) == 1
    assert capsys.readouterr().out == "small: `limits.tool_name.max` is `8` now, was `9`\n"
    assert cli.main(["diff", one, two, "--rules-only", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "fields": [
            {
                "dialect": "small",
                "units": [],
                "paths": ["limits.tool_name.max"],
                "said": "is `8` now, was `9`",
                "rule": None,
            }
        ],
        "pairs": [],
    }
    assert cli.main(["diff", str(tmp_path / "none")]) == 2
    broken = stored(tmp_path / "broken", SMALL.replace("$text", "$text | nolens"))
    assert cli.main(["diff", one, broken]) == 2


def test_an_overlay_is_compared_to_the_packaged_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["diff", "--overlay", "gemini-result-key", "--rules-only"]) == 1
    assert "functionResponse.response" in capsys.readouterr().out


def replayed(new: str, text: str, ends: tuple[str | None, str | None]) -> diff.Replay:
    return diff.replay(rules(), rules(new), text, "log", *ends)


def test_recorded_payloads_show_values_and_notes_that_change() -> None:
    text = json.dumps(REQUEST) + "\n\n" + json.dumps({**REQUEST, "heat": None}) + "\n"
    new = edited(("heat: $temperature (optional)", "temp: $temperature (optional)"))
    found = replayed(new, text, ("small", "large"))
    assert found.total == 2 and len(found.found) == 1
    (first,) = found.found
    assert (first.apart[0].at, first.apart[0].old) == ("/warmth", 1)
    assert [note.code for note in first.come] == ["unknown-key"]
    assert first.gone == ()
    lines = list(found.lines())
    assert lines[0].startswith("line 1: small -> large request\n  /warmth: nothing now, was 1\n")
    assert lines[-1] == "2 payloads, 1 come out otherwise"
    assert found.as_json()["otherwise"][0]["values"] == [{"at": "/warmth", "old": 1}]


def test_records_name_their_own_ends_and_errors_are_compared() -> None:
    line = json.dumps({"body": {"engine": "m"}, "source": "small", "target": "large"})
    assert replayed(SMALL, line, (None, None)).found == []  # refused by both, alike
    new = edited(("turns: $messages as conversation", "rounds: $messages as conversation"))
    record = {"body": REQUEST, "source": "small", "target": "large", "unit": "request"}
    (found,) = replayed(new, json.dumps(record), (None, None)).found
    assert found.errors[0] is None and "rounds" in str(found.errors[1])
    assert "refused now" in str(found)


@pytest.mark.parametrize("line", ["{", '{"engine": "m"}', "7"])
def test_a_line_that_is_no_record_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="`log` line 1 is no"):
        replayed(SMALL, line, (None, None))
